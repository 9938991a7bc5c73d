//! Our client against the server's half of the conversation, in memory.

use rowferry_wire::{Core, Secret};
use rowferry_wire_pg::Format;
use rowferry_wire_pg::client::{Client, Event, Options, TlsPolicy};
use rowferry_wire_pg::frame::{FrameError, SMALL_MESSAGE_LIMIT, cut_backend};
use rowferry_wire_pg::messages::{
    Backend, Bind, CancelRequest, CopyFormats, CopyResponse, Execute, FieldDescription, Formats, Frontend,
    FunctionCall, Notice, Notification, Oids, PROTOCOL_3_0, PROTOCOL_3_2, Parse, ProtocolVersion, RowDescription,
    Severity, StartupMessage, StartupPacket, Target, TransactionStatus, Values,
};
use rowferry_wire_pg::scram::{DEFAULT_ITERATIONS, ScramError, Verifier};
use rowferry_wire_pg::server::{Inbox, Request, Server, Texts, Utf8, Violation};

const LIMIT: usize = 1 << 20;

fn options(password: Option<&str>) -> Options {
    Options {
        user: "ada".into(),
        password: password.map(Secret::new),
        database: "shop".into(),
        application_name: "pair".into(),
        tls: TlsPolicy::Never,
        secure_transport: true,
        nonce: "client-nonce-0123456789".into(),
    }
}

fn put(inbox: &mut Inbox, bytes: &[u8]) {
    inbox.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
    inbox.filled(bytes.len());
}

fn notice(sqlstate: &'static str, message: &'static str) -> Notice<'static> {
    Notice::new(Severity::Error, sqlstate, message)
}

/// A client and a server, with queues for a network.
struct Pair {
    client: Client,
    server: Server,
    inbox: Inbox,
    /// So many bytes are moved at a time.
    step: usize,
}

impl Pair {
    fn new(options: Options) -> Self {
        let (client, server) = (Client::new(options), Server::new(LIMIT, Utf8));
        Self { client, server, inbox: Inbox::with_step(64), step: usize::MAX }
    }

    /// Moves bytes until both are idle; `answer` plays the server's part. What the client saw comes back in words.
    fn drive(&mut self, mut answer: impl FnMut(&mut Server, Result<Request<'_>, Violation>)) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let said = self.client.output().to_vec();
            self.client.sent(said.len());
            for piece in said.chunks(self.step) {
                put(&mut self.inbox, piece);
                loop {
                    match self.server.poll(&mut self.inbox) {
                        Ok(None) => break,
                        Ok(Some(request)) => answer(&mut self.server, Ok(request)),
                        Err(violation) => answer(&mut self.server, Err(violation)),
                    }
                }
            }
            let answered = self.server.output().to_vec();
            self.server.sent(answered.len());
            for piece in answered.chunks(self.step) {
                self.client.receive_space(piece.len())[..piece.len()].copy_from_slice(piece);
                self.client.received(piece.len());
                loop {
                    seen.push(match self.client.poll() {
                        Ok(Event::Pending) => break,
                        Ok(Event::Columns(columns)) => format!("columns {}", columns.len()),
                        Ok(Event::Complete(tag)) => format!("complete {tag}"),
                        Ok(Event::CopyData(data)) => format!("data {}", String::from_utf8_lossy(data)),
                        Ok(Event::CopyIn) => "copy in".into(),
                        Ok(Event::Error(notice)) => format!("error {}", notice.sqlstate),
                        Ok(Event::Notice(notice)) => format!("notice {}", notice.message),
                        Ok(Event::Ready(status)) => format!("ready {}", char::from(status.0)),
                        Ok(Event::Row(row)) => format!("row of {}", row.len()),
                        Ok(Event::StartTls) => {
                            self.client.tls_started();
                            "tls".into()
                        }
                        Ok(Event::Suspended) => "suspended".into(),
                        Err(failure) => {
                            seen.push(format!("failure {failure}"));
                            return seen;
                        }
                    });
                }
            }
            if self.client.output().is_empty() && answered.is_empty() {
                return seen;
            }
        }
    }

    fn logged_in() -> Self {
        let mut pair = Self::new(options(None));
        assert_eq!(pair.drive(trusting), ["ready I"]);
        pair
    }
}

/// Lets everybody in.
fn trusting(server: &mut Server, request: Result<Request<'_>, Violation>) {
    let Ok(Request::Startup(message)) = request else { panic!("{request:?}") };
    assert_eq!((message.parameter("user"), message.parameter("database")), (Some(&b"ada"[..]), Some(&b"shop"[..])));
    server.accept();
    server.parameter_status("TimeZone", "UTC");
    server.key(7, b"abcd");
    server.ready(TransactionStatus::IDLE);
}

/// Lets in who proves this password.
fn by_scram(
    expected: &'static str,
    end_point: Option<&'static [u8]>,
) -> impl FnMut(&mut Server, Result<Request<'_>, Violation>) {
    move |server, request| match request {
        Ok(Request::Startup(_)) => server.ask_scram(end_point.map(<[u8]>::to_vec)),
        Ok(Request::Scram(first)) => {
            let verifier = Verifier::from_password(expected, b"0123456789abcdef", DEFAULT_ITERATIONS);
            server.challenge(first, verifier, "server-nonce-0123456789".into()).expect("our own client");
        }
        Ok(Request::Proof(Ok(()))) => {
            server.accept();
            server.ready(TransactionStatus::IDLE);
        }
        Ok(Request::Proof(Err(ScramError::WrongPassword))) => server.fatal(notice("28P01", "wrong")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_proves_its_password_without_telling_it() {
    for step in [1, 7, usize::MAX] {
        for end_point in [None, Some(&b"certificate"[..])] {
            for (given, outcome) in [("secret", "ready I"), ("wrong", "failure wrong (SQLSTATE 28P01)")] {
                let mut pair = Pair { step, ..Pair::new(options(Some(given))) };
                assert_eq!(pair.drive(by_scram("secret", end_point)), [outcome], "{given:?} {end_point:?}");
            }
        }
    }
}

#[test]
fn a_password_comes_as_it_is_when_asked_for() {
    let mut pair = Pair::new(options(Some("pass word")));
    let seen = pair.drive(|server, request| match request {
        Ok(Request::Startup(_)) => server.ask_password(),
        Ok(Request::Password(password)) => {
            assert_eq!(password, b"pass word");
            server.accept();
            server.ready(TransactionStatus::IDLE);
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(seen, ["ready I"]);
}

#[test]
fn tls_is_asked_for_once_and_alone() {
    for (offered, expected) in [(true, vec!["tls", "ready I"]), (false, vec!["ready I"])] {
        let mut pair = Pair::new(Options { tls: TlsPolicy::IfOffered, ..options(None) });
        let seen = pair.drive(|server, request| match request {
            Ok(Request::StartTls) if offered => {
                server.begin_tls();
                server.tls_started();
            }
            Ok(Request::StartTls) => server.refuse_tls(),
            request => trusting(server, request),
        });
        assert_eq!(seen, expected);
    }
    let packet = |packet: StartupPacket<'_>| {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        bytes
    };
    let (tls, gss) = (packet(StartupPacket::SslRequest), packet(StartupPacket::GssEncRequest));
    // Nothing is read until the wish was answered.
    let (mut server, mut inbox) = (Server::new(LIMIT, Utf8), Inbox::with_step(64));
    put(&mut inbox, &tls);
    assert_eq!(server.poll(&mut inbox), Ok(Some(Request::StartTls)));
    put(&mut inbox, &gss);
    assert_eq!(server.poll(&mut inbox), Ok(None));
    server.refuse_tls();
    assert_eq!(server.poll(&mut inbox), Ok(None));
    assert_eq!(server.output(), b"NN");
    put(&mut inbox, &tls);
    assert_eq!(server.poll(&mut inbox), Err(Violation::EncryptedTwice));
    assert_eq!(server.poll(&mut inbox), Ok(None), "nothing more is read");
    for wish in [tls, gss] {
        let (mut server, mut inbox) = (Server::new(LIMIT, Utf8), Inbox::with_step(64));
        put(&mut inbox, &[wish, vec![0]].concat());
        assert!(matches!(server.poll(&mut inbox), Err(Violation::Clear(_))));
    }
}

#[test]
fn a_cancel_request_is_all_that_is_read() {
    let (mut server, mut inbox) = (Server::new(LIMIT, Utf8), Inbox::with_step(64));
    let mut bytes = Vec::new();
    StartupPacket::Cancel(CancelRequest { process: 9, key: b"keys" }).encode(&mut bytes);
    StartupPacket::SslRequest.encode(&mut bytes);
    put(&mut inbox, &bytes);
    assert_eq!(server.poll(&mut inbox), Ok(Some(Request::Cancel(CancelRequest { process: 9, key: b"keys" }))));
    assert_eq!(server.poll(&mut inbox), Ok(None));
}

#[test]
fn a_version_is_agreed_on() {
    let told = |minor, unrecognized| {
        let mut server = Server::new(LIMIT, Utf8);
        server.negotiate(ProtocolVersion { major: 3, minor }, unrecognized);
        let output = server.output().to_vec();
        let frame = cut_backend(&output, LIMIT).unwrap()?;
        let Ok(Backend::NegotiateProtocolVersion(told)) = Backend::decode(frame.tag, frame.body) else {
            panic!("{output:?}");
        };
        Some((told.version, told.unrecognized.len()))
    };
    assert_eq!(told(PROTOCOL_3_0.minor, vec![]), None);
    assert_eq!(told(PROTOCOL_3_2.minor, vec![]), None);
    assert_eq!(told(1, vec![]), Some((0x3_0000, 0)));
    assert_eq!(told(9, vec!["_pq_.x"]), Some((0x3_0002, 1)));
}

const FIELD: FieldDescription<'static> = FieldDescription {
    name: "a",
    table: 0,
    column: 0,
    type_oid: 25,
    type_size: -1,
    type_modifier: -1,
    format: Format::TEXT,
};

fn row(server: &mut Server) {
    let mut row = server.row(1);
    row.value(b"x");
    assert!(row.finish());
}

#[test]
fn a_query_is_answered_before_the_next_is_read() {
    for step in [1, usize::MAX] {
        let mut pair = Pair { step, ..Pair::logged_in() };
        pair.client.query("select");
        let mut second = Vec::new();
        Frontend::Query(b"again").encode(&mut second);
        let seen = pair.drive(|server, request| {
            assert_eq!(request, Ok(Request::Query(b"select")));
            assert!(server.awaits_ready() && !server.is_at_rest());
            // What has come meanwhile waits.
            let mut inbox = Inbox::with_step(64);
            put(&mut inbox, &second);
            assert_eq!(server.poll(&mut inbox), Ok(None));
            server.notice(Notice::new(Severity::Notice, "00000", "hm"));
            let Ok(()) = server.row_description(RowDescription { fields: vec![FIELD] });
            row(server);
            // One that is given up leaves no trace.
            let mut lost = server.row(1);
            lost.value(b"lost");
            lost.abandon();
            server.command_complete("SELECT 1");
            server.ready(TransactionStatus::IDLE);
            assert!(server.is_at_rest());
        });
        assert_eq!(seen, ["notice hm", "columns 1", "row of 1", "complete SELECT 1", "ready I"]);
    }
}

#[test]
fn an_error_skips_the_rest_of_a_series() {
    for step in [1, usize::MAX] {
        let mut pair = Pair { step, ..Pair::logged_in() };
        pair.client.prepare("s", "select $1");
        pair.client.describe("s");
        pair.client.bind("p", "s", &[Some(b"x")], &[]);
        pair.client.run("p", 10);
        pair.client.close_portal("p");
        pair.client.sync();
        let mut asked = Vec::new();
        let seen = pair.drive(|server, request| {
            match request.expect("our own client") {
                Request::Parse(parse) => {
                    assert_eq!((parse.statement, parse.sql), (&b"s"[..], &b"select $1"[..]));
                    asked.push("parse");
                    server.parse_complete();
                }
                Request::Describe(target) => {
                    assert_eq!(target, Target::Statement(b"s"));
                    asked.push("describe");
                    server.parameter_description(Oids::from_wire(&25_u32.to_be_bytes()));
                    server.no_data();
                }
                Request::Bind(_) => {
                    asked.push("bind");
                    server.error(notice("22P02", "no"));
                }
                Request::Sync => {
                    asked.push("sync");
                    server.ready(TransactionStatus::FAILED);
                }
                other => panic!("{other:?}"),
            }
            assert!(!server.is_at_rest());
        });
        assert_eq!(seen, ["error 22P02", "ready E"]);
        assert_eq!(asked, ["parse", "describe", "bind", "sync"]);
    }
}

#[test]
fn the_last_of_a_series_is_known_as_such() {
    let mut pair = Pair::logged_in();
    for portal in ["p", "q"] {
        pair.client.bind(portal, "", &[], &[]);
        pair.client.run(portal, 1);
    }
    pair.client.sync();
    let mut lasts = Vec::new();
    let seen = pair.drive(|server, request| match request.expect("our own client") {
        Request::Bind(_) => server.bind_complete(),
        Request::Execute { execute, is_last } => {
            assert_eq!(execute.max_rows, 1);
            lasts.push(is_last);
            row(server);
            server.portal_suspended();
        }
        Request::Sync => server.ready(TransactionStatus::IN_TRANSACTION),
        other => panic!("{other:?}"),
    });
    assert_eq!(seen, ["row of 1", "suspended", "row of 1", "suspended", "ready T"]);
    assert_eq!(lasts, [false, true]);
}

fn copy_response() -> CopyResponse<'static> {
    CopyResponse { overall: Format::TEXT, columns: CopyFormats::from_wire(&[0, 0]) }
}

#[test]
fn the_data_of_a_copy_come_until_it_is_complete() {
    let mut pair = Pair::logged_in();
    pair.client.copy_in("copy t from stdin");
    let seen = pair.drive(|server, request| match request {
        Ok(Request::Query(_)) => server.copy_in(copy_response()),
        other => panic!("{other:?}"),
    });
    assert_eq!(seen, ["copy in"]);
    pair.client.put_copy_data(b"1\n");
    pair.client.put_copy_data(b"2\n");
    pair.client.end_copy();
    let mut data = Vec::new();
    let seen = pair.drive(|server, request| match request.expect("our own client") {
        Request::CopyData(piece) => data.extend_from_slice(piece),
        Request::CopyDone => {
            server.command_complete("COPY 2");
            assert!(server.awaits_ready());
            server.ready(TransactionStatus::IDLE);
        }
        other => panic!("{other:?}"),
    });
    assert_eq!((seen, data.as_slice()), (vec!["complete COPY 2".to_owned(), "ready I".into()], &b"1\n2\n"[..]));
    // A client that has none.
    pair.client.query("copy t from stdin");
    let seen = pair.drive(|server, request| match request.expect("our own client") {
        Request::Query(_) => server.copy_in(copy_response()),
        Request::CopyFail(_) => {
            server.error(notice("57014", "no data"));
            server.ready(TransactionStatus::IDLE);
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(seen, ["error 57014", "ready I"]);
}

#[test]
fn the_data_of_a_copy_go_before_anything_else_is_read() {
    let mut pair = Pair::logged_in();
    pair.client.execute("copy t to stdout", &[], 0);
    let seen = pair.drive(|server, request| match request.expect("our own client") {
        Request::Parse(_) => server.parse_complete(),
        Request::Bind(_) => server.bind_complete(),
        Request::Describe(_) => server.no_data(),
        Request::Execute { .. } => {
            server.copy_out(copy_response());
            let mut inbox = Inbox::with_step(64);
            put(&mut inbox, b"S\0\0\0\x04");
            assert_eq!(server.poll(&mut inbox), Ok(None));
            server.copy_data(b"1\n");
            server.copy_done();
            server.command_complete("COPY 1");
        }
        Request::Sync => server.ready(TransactionStatus::IDLE),
        other => panic!("{other:?}"),
    });
    assert_eq!(seen, ["data 1\n", "complete COPY 1", "ready I"]);
}

/// A server that has let somebody in, and the messages of a client that keeps to no rules.
struct Bare {
    server: Server,
    inbox: Inbox,
}

impl Bare {
    fn new() -> Self {
        let mut bare = Self { server: Server::new(LIMIT, Utf8), inbox: Inbox::with_step(64) };
        let mut bytes = Vec::new();
        let parameters = vec![(&b"user"[..], &b"ada"[..])];
        StartupPacket::Startup(StartupMessage { version: PROTOCOL_3_0, parameters }).encode(&mut bytes);
        put(&mut bare.inbox, &bytes);
        assert!(matches!(bare.poll(), Ok(Some(Request::Startup(_)))));
        bare.server.accept();
        bare.server.ready(TransactionStatus::IDLE);
        bare
    }

    fn say(&mut self, messages: &[Frontend<'_>]) {
        let mut bytes = Vec::new();
        for message in messages {
            message.encode(&mut bytes);
        }
        put(&mut self.inbox, &bytes);
    }

    fn poll(&mut self) -> Result<Option<Request<'_>>, Violation> {
        self.server.poll(&mut self.inbox)
    }
}

#[test]
fn what_a_broken_message_ends_depends_on_what_it_is() {
    // Those that end by themselves are told, and the client is told that the server is ready.
    for tag in [b'Q', b'F', b'S'] {
        let mut bare = Bare::new();
        put(&mut bare.inbox, &[tag, 0, 0, 0, 5, 9]);
        assert!(matches!(bare.poll(), Err(Violation::Malformed(_))), "{}", tag.escape_ascii());
        bare.server.error(notice("08P01", "no"));
        assert!(bare.server.awaits_ready());
    }
    // The others skip to Sync, which itself need not make sense to be one.
    for tag in [b'P', b'B', b'D', b'E', b'C', b'H', b'f'] {
        let mut bare = Bare::new();
        put(&mut bare.inbox, &[tag, 0, 0, 0, 5, 9]);
        bare.say(&[Frontend::Query(b"passed over"), Frontend::Flush]);
        put(&mut bare.inbox, b"S\0\0\0\x05\x09");
        bare.say(&[Frontend::Query(b"q")]);
        assert!(matches!(bare.poll(), Err(Violation::Malformed(_))), "{}", tag.escape_ascii());
        bare.server.error(notice("08P01", "no"));
        assert!(!bare.server.awaits_ready() && !bare.server.is_at_rest());
        assert!(matches!(bare.poll(), Err(Violation::Malformed(_))), "{}", tag.escape_ascii());
        bare.server.error(notice("08P01", "no"));
        bare.server.ready(TransactionStatus::IDLE);
        assert_eq!(bare.poll(), Ok(Some(Request::Query(b"q"))));
    }
    // A goodbye is one whatever stands in it.
    let mut bare = Bare::new();
    put(&mut bare.inbox, b"X\0\0\0\x05\x09");
    assert_eq!(bare.poll(), Ok(Some(Request::Terminate)));
    assert_eq!(bare.poll(), Ok(None));
}

#[test]
fn a_copy_fails_at_what_is_none_of_its_data() {
    for (message, tag) in [
        (Frontend::Query(b"q"), b'Q'),
        (Frontend::Execute(Execute { portal: b"", max_rows: 0 }), b'E'),
        (Frontend::Close(Target::Portal(b"")), b'C'),
    ] {
        let mut bare = Bare::new();
        bare.say(&[Frontend::Query(b"copy"), Frontend::Flush, Frontend::Sync, message]);
        assert_eq!(bare.poll(), Ok(Some(Request::Query(b"copy"))));
        bare.server.copy_in(copy_response());
        assert_eq!(bare.poll(), Err(Violation::AmidCopy { tag }));
        bare.server.error(notice("08P01", "no"));
        assert!(bare.server.awaits_ready(), "it was a simple query's");
    }
    // In a series the data that follow are passed over, and Sync ends it. What makes no sense is not looked at.
    let mut bare = Bare::new();
    let mut storage = Vec::new();
    let bind = Bind {
        portal: b"",
        statement: b"",
        parameter_formats: Formats::default(),
        parameters: Values::build(&mut storage, []),
        result_formats: Formats::default(),
    };
    bare.say(&[Frontend::Bind(bind), Frontend::Execute(Execute { portal: b"", max_rows: 0 })]);
    put(&mut bare.inbox, b"Q\0\0\0\x05\x09");
    bare.say(&[Frontend::CopyData(b"1\n"), Frontend::CopyDone, Frontend::Sync]);
    assert!(matches!(bare.poll(), Ok(Some(Request::Bind(_)))));
    assert!(matches!(bare.poll(), Ok(Some(Request::Execute { is_last: false, .. }))));
    bare.server.copy_in(copy_response());
    assert_eq!(bare.poll(), Err(Violation::AmidCopy { tag: b'Q' }));
    bare.server.error(notice("08P01", "no"));
    assert_eq!(bare.poll(), Ok(Some(Request::Sync)));
}

#[test]
fn what_ends_a_connection_ends_it() {
    let mut bare = Bare::new();
    bare.say(&[Frontend::Password(b"late"), Frontend::Sync]);
    assert_eq!(bare.poll(), Err(Violation::Message { tag: b'p' }));
    assert_eq!(bare.poll(), Ok(None));
    let mut bare = Bare::new();
    put(&mut bare.inbox, b"G");
    assert_eq!(bare.poll(), Err(Violation::Frame(FrameError::UnknownTag { tag: b'G' })));
    for (tag, limit) in [(b'Q', LIMIT), (b'E', SMALL_MESSAGE_LIMIT)] {
        for over in [0, 1] {
            let mut bare = Bare::new();
            let length = limit + over;
            put(&mut bare.inbox, &[&[tag][..], &(length as u32).to_be_bytes()].concat());
            let expected = match over {
                0 => Ok(None),
                _ => Err(Violation::Frame(FrameError::TooLong { tag, length, limit })),
            };
            assert_eq!(bare.poll(), expected);
        }
    }
    // Who is asked for a password says nothing else, but may go.
    for (message, expected) in
        [(Frontend::Sync, Err(Violation::Unproved { tag: b'S' })), (Frontend::Terminate, Ok(Some(Request::Terminate)))]
    {
        let (mut server, mut inbox) = (Server::new(LIMIT, Utf8), Inbox::with_step(64));
        let mut bytes = Vec::new();
        StartupPacket::Startup(StartupMessage { version: PROTOCOL_3_0, parameters: Vec::new() }).encode(&mut bytes);
        message.encode(&mut bytes);
        put(&mut inbox, &bytes);
        assert!(matches!(server.poll(&mut inbox), Ok(Some(Request::Startup(_)))));
        assert_eq!(server.poll(&mut inbox), Ok(None), "who it is is being judged");
        server.ask_password();
        assert_eq!(server.poll(&mut inbox), expected);
        assert_eq!(server.poll(&mut inbox), Ok(None));
    }
}

#[test]
fn a_function_is_called() {
    let mut bare = Bare::new();
    let mut storage = Vec::new();
    bare.say(&[Frontend::FunctionCall(FunctionCall {
        function: 953,
        argument_formats: Formats::default(),
        arguments: Values::build(&mut storage, [Some(&b"1"[..])]),
        result_format: Format::BINARY,
    })]);
    assert!(matches!(bare.poll(), Ok(Some(Request::FunctionCall(call))) if call.function == 953));
    bare.server.sent(usize::MAX);
    bare.server.function_result(Some(b"4"));
    assert_eq!(bare.server.output(), b"V\0\0\0\x09\0\0\0\x014");
    assert!(bare.server.awaits_ready());
}

/// An encoding that has no other letters than English ones.
#[derive(Debug)]
struct Ascii;

impl Texts for Ascii {
    type Error = ();

    fn are_utf8(&self) -> bool {
        false
    }

    fn put(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), ()> {
        out.extend_from_slice(text);
        if text.is_ascii() { Ok(()) } else { Err(()) }
    }

    fn told((): &(), severity: Severity) -> Notice<'static> {
        Notice::new(severity, "22P05", "unreadable")
    }
}

#[test]
fn what_a_client_cannot_read_is_told_otherwise() {
    let said = |say: &dyn Fn(&mut Server<Ascii>)| {
        let mut server = Server::new(LIMIT, Ascii);
        say(&mut server);
        String::from_utf8_lossy(server.output()).into_owned()
    };
    assert!(said(&|server| server.notice(notice("01000", "naïve"))).contains("unreadable"));
    assert!(said(&|server| server.error(notice("42P01", "plain"))).contains("plain"));
    assert!(said(&|server| server.parameter_status("TimeZone", "é")).contains("TimeZone\0??"));
    let notification = Notification { process: 1, channel: "c", payload: "é" };
    assert!(said(&|server| server.notification(notification)).contains("c\0??"));
    let description = RowDescription { fields: vec![FieldDescription { name: "é", ..FIELD }] };
    assert!(said(&|server| assert_eq!(server.row_description(description.clone()), Err(()))).is_empty());
}

#[test]
fn a_message_is_read_in_any_pieces() {
    let parse = Frontend::Parse(Parse { statement: b"s", sql: b"select 1", types: Oids::default() });
    let mut bytes = Vec::new();
    for message in [parse, Frontend::Flush, Frontend::Sync] {
        message.encode(&mut bytes);
    }
    for size in 1..=bytes.len() {
        let mut bare = Bare::new();
        let mut seen = Vec::new();
        for piece in bytes.chunks(size) {
            put(&mut bare.inbox, piece);
            while let Some(request) = bare.poll().expect("whole messages") {
                seen.push(format!("{request:?}"));
                if seen.len() == 3 {
                    bare.server.ready(TransactionStatus::IDLE);
                }
            }
            let missing = bare.server.missing(&bare.inbox);
            assert!((1..=bytes.len()).contains(&missing), "{missing}");
        }
        assert_eq!(seen.len(), 3, "pieces of {size}: {seen:?}");
        assert!(!bare.inbox.is_amid_message());
    }
}
