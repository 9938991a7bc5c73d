//! A server that answers whatever it is asked, in ways that what was asked chooses. The fuzz target plays it, too.

use rowferry_wire_sqli::Capabilities;
use rowferry_wire_sqli::login::LoginReply;
use rowferry_wire_sqli::messages::{ClientMessage, Done, FileRequest, Param, ServerError, ServerMessage};
use rowferry_wire_sqli::server::{Decoder, Request, Server};

/// Says the bytes, which come behind the login packet, in pieces; answers how many requests came of them.
pub fn play(bytes: &[u8], step: usize, asks: bool) -> u64 {
    let mut server = Server::new(Capabilities::server_15());
    let reply = LoginReply::accept(b"Informix", b"serial", b"here", 0);
    if asks { server.accept_and_ask(&reply) } else { server.accept(&reply) }.expect("a login reply fits");
    let mut decoder = Decoder::new();
    let mut asked = 0;
    for piece in bytes.chunks(step) {
        decoder.push(piece);
        loop {
            let message = match decoder.next() {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(_) => return asked,
            };
            match server.handle(message) {
                Ok(Some(Request::Protocols(active))) => decoder.activate(&active),
                Ok(Some(Request::Exit)) => {
                    server.exit(asked.is_multiple_of(2));
                    assert!(server.handle(ClientMessage::Eot).is_err(), "something was read behind the end");
                    return asked;
                }
                Ok(Some(request)) => {
                    asked += 1;
                    answer(&mut server, &request, asked);
                }
                Ok(None) => {}
                Err(violation) if violation.is_fatal() => {
                    assert!(server.handle(ClientMessage::Eot).is_err(), "something was read behind {violation}");
                    return asked;
                }
                Err(_) => fail(&mut server),
            }
            server.sent(server.output().len());
        }
    }
    asked
}

fn fail(server: &mut Server) {
    let error = ServerError { sqlcode: -201, isam: 0, offset: 0, token: b"no"[..].into() };
    server.error(error).expect("an error fits");
}

fn answer(server: &mut Server, request: &Request<'_>, asked: u64) {
    match request {
        Request::Question => server.ask(b"who?"),
        Request::Answer(answer) => match answer.len() % 3 {
            0 => server.ask(b"really?"),
            1 => server.refuse(),
            _ => server.accept_answer(),
        },
        Request::EndOfGroup => server.end_group(),
        Request::Turn { .. } => {
            let open = FileRequest::Open { name: b"a.txt", mode: 0, flags: 0, offset: 0 };
            server.ask_file(open, &[]).expect("a name fits");
        }
        Request::File(bytes) => match bytes.len() % 3 {
            0 => server.ask_file(FileRequest::Read { buffer: 4, amount: -1 }, &[]).expect("it fits"),
            1 => server.ask_file(FileRequest::Write, &[bytes]).expect("it fits"),
            _ => server.end_group(),
        },
        Request::Call { params, .. } => {
            server.put(&ServerMessage::Results(vec![Param::NULL; params.len() + 1])).expect("NULLs fit");
        }
        Request::Message(ClientMessage::Execute) if asked.is_multiple_of(2) => server.await_turn(),
        Request::Message(ClientMessage::Prepare(text) | ClientMessage::Command(text)) if text.sql.is_empty() => {
            fail(server);
        }
        Request::Value(value) if value.is_empty() => fail(server),
        Request::Message(_) | Request::Value(_) | Request::Write { .. } => {
            server.put(&ServerMessage::Done(Done::default())).expect("numbers fit");
        }
        Request::Exit | Request::Protocols(_) => {}
    }
}
