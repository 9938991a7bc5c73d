//! A server that answers whatever it is asked, in ways that what was asked chooses. The fuzz target plays it, too.

use rowferry_wire_pg::Format;
use rowferry_wire_pg::messages::{
    CopyFormats, CopyResponse, Notice, Oids, RowDescription, Severity, TransactionStatus,
};
use rowferry_wire_pg::scram::{DEFAULT_ITERATIONS, Verifier};
use rowferry_wire_pg::server::{Inbox, Request, Server, Violation};

/// Says the bytes to the server in pieces; answers how many requests came of them.
pub fn play(server: &mut Server, inbox: &mut Inbox, bytes: &[u8], step: usize) -> u64 {
    let mut asked = 0;
    for piece in bytes.chunks(step) {
        inbox.space(piece.len())[..piece.len()].copy_from_slice(piece);
        inbox.filled(piece.len());
        loop {
            match server.poll(inbox) {
                Ok(None) => break,
                Ok(Some(request)) => {
                    asked += 1;
                    let over = matches!(request, Request::Terminate | Request::Cancel(_));
                    answer(server, request);
                    if over {
                        assert_eq!(server.poll(inbox), Ok(None), "something was read behind the end");
                        return asked;
                    }
                }
                Err(violation) if violation.is_fatal() => {
                    server.fatal(told(&violation));
                    assert_eq!(server.poll(inbox), Ok(None), "something was read behind {violation}");
                    return asked;
                }
                Err(violation) => {
                    server.error(told(&violation));
                    if server.awaits_ready() {
                        server.ready(TransactionStatus::FAILED);
                    }
                }
            }
            server.sent(server.output().len());
        }
        assert!(server.missing(inbox) > 0);
    }
    asked
}

fn told(violation: &Violation) -> Notice<'static> {
    Notice::new(Severity::Error, "08P01", violation.to_string())
}

fn failed(server: &mut Server) {
    server.error(Notice::new(Severity::Error, "XX000", "no"));
}

fn answer(server: &mut Server, request: Request<'_>) {
    let copy = || CopyResponse { overall: Format::TEXT, columns: CopyFormats::from_wire(&[0, 0]) };
    match request {
        Request::StartTls => server.refuse_tls(),
        Request::Startup(message) => match message.parameter("user").map_or(0, <[u8]>::len) % 3 {
            0 => server.ask_password(),
            1 => server.ask_scram(None),
            _ => server.ask_scram(Some(b"end point".to_vec())),
        },
        Request::Password(_) | Request::Proof(Ok(())) => {
            server.accept();
            server.ready(TransactionStatus::IDLE);
        }
        Request::Scram(first) => {
            let verifier = Verifier::from_password("", b"salt", DEFAULT_ITERATIONS.min(1));
            if server.challenge(first, verifier, "nonce".into()).is_err() {
                failed(server);
            }
        }
        Request::Proof(Err(_)) => server.fatal(Notice::new(Severity::Fatal, "28P01", "no")),
        Request::Query(sql) => {
            match sql.first() {
                Some(b'c') => return server.copy_in(copy()),
                Some(b'o') => {
                    server.copy_out(copy());
                    server.copy_data(sql);
                    server.copy_done();
                }
                Some(_) => {
                    let Ok(()) = server.row_description(RowDescription { fields: Vec::new() });
                    assert!(server.row(0).finish());
                    server.command_complete("SELECT 1");
                }
                None => server.empty_query(),
            }
            server.ready(TransactionStatus::IDLE);
        }
        Request::FunctionCall(_) => {
            server.function_result(None);
            server.ready(TransactionStatus::IDLE);
        }
        Request::Sync => server.ready(TransactionStatus::IN_TRANSACTION),
        Request::Parse(parse) if parse.sql.is_empty() => failed(server),
        Request::Parse(_) => server.parse_complete(),
        Request::Bind(_) => server.bind_complete(),
        Request::Close(_) => server.close_complete(),
        Request::Describe(_) => {
            server.parameter_description(Oids::default());
            server.no_data();
        }
        Request::Execute { execute, .. } => match execute.max_rows.rem_euclid(4) {
            0 => server.copy_in(copy()),
            1 => failed(server),
            2 => server.portal_suspended(),
            _ => server.command_complete("SELECT 0"),
        },
        Request::CopyData([]) => end_copy(server, false),
        Request::CopyData(_) | Request::Flush | Request::Terminate | Request::Cancel(_) => {}
        Request::CopyDone => end_copy(server, true),
        Request::CopyFail(_) => end_copy(server, false),
    }
}

/// A COPY ends; a simple query ends with it.
fn end_copy(server: &mut Server, well: bool) {
    if well {
        server.command_complete("COPY 1");
    } else {
        failed(server);
    }
    if server.awaits_ready() {
        server.ready(TransactionStatus::IDLE);
    }
}
