//! The server's half of the conversation: our client against it in memory, and messages of clients that keep to no rules.
//! `client.rs` plays the client's conversations against the same half, answering from a script.

use rowferry_testkit::{Pair, Peer};
use rowferry_wire_sqli::client::{Client, Event, FileEvent, Options, Params};
use rowferry_wire_sqli::login::LoginReply;
use rowferry_wire_sqli::messages::{
    CallRoutine, ClientMessage, Done, FileRequest, LoAction, LoRequest, Param, ParamValue, ServerError, ServerMessage,
    StatementId,
};
use rowferry_wire_sqli::server::{Decoder, Request, Server, Violation};
use rowferry_wire_sqli::{Capabilities, TypeCode};

type Answer = Box<dyn FnMut(&mut Server, Request<'_>)>;

/// A server whose answers a test says.
struct Door {
    server: Server,
    decoder: Decoder,
    asks: bool,
    is_in: bool,
    answer: Answer,
}

impl Door {
    fn new(asks: bool, answer: impl FnMut(&mut Server, Request<'_>) + 'static) -> Self {
        let (server, decoder) = (Server::new(Capabilities::server_15()), Decoder::new());
        Self { server, decoder, asks, is_in: false, answer: Box::new(answer) }
    }
}

impl Peer for Door {
    fn feed(&mut self, bytes: &[u8]) {
        self.decoder.push(bytes);
        if !self.is_in {
            let Ok(Some(_)) = self.decoder.login_request() else { return };
            self.is_in = true;
            let reply = LoginReply::accept(b"Informix", b"serial", b"here", 0x0014);
            if self.asks { self.server.accept_and_ask(&reply) } else { self.server.accept(&reply) }.unwrap();
        }
        loop {
            let message = match self.decoder.next() {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(error) => panic!("{error}"),
            };
            match self.server.handle(message) {
                Ok(Some(Request::Protocols(active))) => self.decoder.activate(&active),
                Ok(Some(request)) => (self.answer)(&mut self.server, request),
                Ok(None) => {}
                Err(violation) => panic!("{violation}"),
            }
        }
    }

    fn take_output(&mut self) -> Vec<u8> {
        let output = self.server.output().to_vec();
        self.server.sent(output.len());
        output
    }
}

fn error(sqlcode: i16) -> ServerError<'static> {
    ServerError { sqlcode, isam: 0, offset: 0, token: b""[..].into() }
}

/// Polls until something comes; what it is, in words.
fn next(pair: &mut Pair<Client, Door>) -> String {
    loop {
        return match pair.client.poll() {
            Ok(Event::Pending) => {
                assert!(pair.advance(), "the conversation stalls");
                continue;
            }
            Ok(Event::Connected) => "connected".into(),
            Ok(Event::Challenge { text, .. }) => format!("asked {}", String::from_utf8_lossy(&text)),
            Ok(Event::Prepared(_)) => "prepared".into(),
            Ok(Event::Done(outcome)) => format!("done {}", outcome.rows),
            Ok(Event::Error(error)) => format!("error {}", error.sqlcode),
            Ok(Event::Returned(values)) => format!("returned {}", values.len()),
            Ok(Event::File(FileEvent::Open(name))) => format!("open {}", String::from_utf8_lossy(&name)),
            Ok(Event::File(FileEvent::Read(_))) => "read".into(),
            Ok(Event::File(FileEvent::Wanted(left))) => format!("wanted {left}"),
            Ok(Event::File(FileEvent::Write(bytes))) => format!("write {}", String::from_utf8_lossy(&bytes)),
            Ok(Event::File(FileEvent::Close)) => "close".into(),
            Ok(other) => panic!("not awaited: {other:?}"),
            Err(failure) => format!("failure {failure}"),
        };
    }
}

fn done(server: &mut Server, rows: i64) {
    server.put(&ServerMessage::Done(Done { rows, ..Done::default() })).unwrap();
}

/// What every client says when it has come in.
fn open_database(server: &mut Server, request: &Request<'_>) -> bool {
    match request {
        Request::Message(ClientMessage::DbOpen(_)) => {
            server.put(&ServerMessage::Done(Done { warnings: 0x0015, ..Done::default() })).unwrap();
        }
        Request::Message(ClientMessage::Environment(_)) => {}
        Request::Message(ClientMessage::Version) => server.put(&ServerMessage::Version(b"Informix")).unwrap(),
        Request::EndOfGroup => server.end_group(),
        _ => return false,
    }
    true
}

fn options() -> Options {
    let mut options = Options::new(b"ada", b"secret", b"here").with_environment(b"en_US.utf8", &[]);
    options.database = Some(b"store".to_vec());
    options
}

fn connected(mut answer: impl FnMut(&mut Server, Request<'_>) + 'static, piece: usize) -> Pair<Client, Door> {
    let door = Door::new(false, move |server, request| {
        if !open_database(server, &request) {
            answer(server, request);
        }
    });
    let mut pair = Pair::new(Client::new(options()).unwrap(), door);
    pair.piece = piece;
    assert_eq!(next(&mut pair), "connected");
    pair
}

#[test]
fn a_client_is_asked_until_its_answer_is_right() {
    for piece in [1, 5, usize::MAX] {
        let door = Door::new(true, |server, request| match request {
            Request::Question => server.ask(b"who?"),
            Request::Answer(answer) if answer == b"ada" => server.accept_answer(),
            Request::Answer(answer) if answer == b"mallory" => server.refuse(),
            Request::Answer(_) => server.ask(b"really?"),
            request => assert!(open_database(server, &request), "{request:?}"),
        });
        let mut pair = Pair::new(Client::new(options()).unwrap(), door);
        pair.piece = piece;
        assert_eq!(next(&mut pair), "asked who?");
        pair.client.answer(b"somebody").unwrap();
        assert_eq!(next(&mut pair), "asked really?");
        pair.client.answer(b"ada").unwrap();
        assert_eq!(next(&mut pair), "connected");
    }
}

#[test]
fn a_routine_is_called_with_what_follows_it() {
    let mut pair = connected(
        |server, request| match request {
            Request::Call { handle, params } => {
                assert_eq!((handle, params.len()), (7, usize::from(!params.is_empty())));
                server.put(&ServerMessage::Results(vec![Param::NULL; params.len() + 1])).unwrap();
            }
            other => panic!("{other:?}"),
        },
        usize::MAX,
    );
    let mut params = Params::default();
    params.push(&Param::new(TypeCode::INTEGER, 0, ParamValue::Integer(1))).unwrap();
    pair.client.call_routine(b"", 7, &params, false).unwrap();
    assert_eq!(next(&mut pair), "returned 2");
    // An empty list of arguments is no list of a statement's parameters.
    pair.client.call_routine(b"", 7, &Params::default(), false).unwrap();
    assert_eq!(next(&mut pair), "returned 1");
}

#[test]
fn what_is_written_to_an_object_is_counted() {
    for piece in [997, usize::MAX] {
        let mut pair = connected(
            |server, request| match request {
                Request::Write { lofd: 3, chunk } if chunk.len() == 32_000 || chunk == b"last" => {}
                Request::Write { .. } => server.error(error(-9_810)).unwrap(),
                other => panic!("{other:?}"),
            },
            piece,
        );
        let data = [vec![b'x'; 64_000], b"last".to_vec()].concat();
        pair.client.lo_write(3, &data).unwrap();
        assert_eq!(next(&mut pair), "done 64004");
        // Behind a failure nothing is counted, and the rest is passed over.
        pair.client.lo_write(4, &data).unwrap();
        assert_eq!(next(&mut pair), "error -9810");
    }
}

#[test]
fn the_files_of_a_client_are_asked_for_in_turns() {
    let mut turn = 0;
    let mut pair = connected(
        move |server, request| match request {
            Request::Message(ClientMessage::Begin) => server.await_turn(),
            Request::Turn { .. } => {
                let open = FileRequest::Open { name: b"a.txt", mode: 0, flags: 0, offset: 0 };
                server.ask_file(open, &[]).unwrap();
            }
            Request::File(bytes) => {
                turn += 1;
                match turn {
                    1 => server.ask_file(FileRequest::Read { buffer: 4, amount: -1 }, &[]).unwrap(),
                    2 => {
                        assert_eq!(bytes, b"contents");
                        server.ask_file(FileRequest::Write, &[b"mo", b"re"]).unwrap();
                    }
                    3 => server.ask_file(FileRequest::Close, &[]).unwrap(),
                    _ => {
                        done(server, 1);
                        server.end_group();
                    }
                }
            }
            other => panic!("{other:?}"),
        },
        usize::MAX,
    );
    // Whichever statement it is that needs them.
    pair.client.begin().unwrap();
    assert_eq!(next(&mut pair), "open a.txt");
    pair.client.file_done().unwrap();
    assert_eq!(next(&mut pair), "read");
    pair.client.file_total(8).unwrap();
    assert_eq!(next(&mut pair), "wanted 8");
    pair.client.file_chunk(b"contents").unwrap();
    assert_eq!([next(&mut pair), next(&mut pair)], ["write mo", "write re"]);
    assert_eq!(next(&mut pair), "close");
    pair.client.file_done().unwrap();
    assert_eq!(next(&mut pair), "done 1");
}

#[test]
fn a_goodbye_says_what_was_undone() {
    let mut pair = connected(
        |server, request| {
            assert_eq!(request, Request::Exit);
            server.exit(true);
        },
        1,
    );
    pair.client.exit().unwrap();
    assert_eq!(next(&mut pair), "done 0");
    assert!(pair.client.is_closed());
}

/// A server that has let a client in.
fn bare() -> Server {
    let mut server = Server::new(Capabilities::server_15());
    server.accept(&LoginReply::accept(b"Informix", b"serial", b"here", 0)).unwrap();
    server.sent(server.output().len());
    server
}

#[test]
fn an_error_passes_the_rest_of_its_group_over() {
    let mut server = bare();
    assert_eq!(server.handle(ClientMessage::Begin), Ok(Some(Request::Message(ClientMessage::Begin))));
    server.error(error(-535)).unwrap();
    for message in [ClientMessage::Execute, ClientMessage::Blob(b"x"), ClientMessage::FileTotal(3)] {
        assert_eq!(server.handle(message), Ok(None));
    }
    assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::EndOfGroup)));
    server.end_group();
    let id = ClientMessage::Id(StatementId(1));
    assert_eq!(server.handle(id.clone()), Ok(Some(Request::Message(id))));
    assert!(server.output().ends_with(&[0x00, 0x0c]));
}

#[test]
fn values_that_come_in_chunks_come_whole() {
    let mut server = bare();
    for _ in 0..2 {
        assert_eq!(server.handle(ClientMessage::BBind(2)), Ok(None));
        assert_eq!(server.handle(ClientMessage::Blob(b"one ")), Ok(None));
        assert_eq!(server.handle(ClientMessage::Blob(b"value")), Ok(None));
        assert_eq!(server.handle(ClientMessage::Blob(b"")), Ok(Some(Request::Value(b"one value".to_vec()))));
        assert_eq!(server.handle(ClientMessage::Blob(b"")), Ok(Some(Request::Value(Vec::new()))));
        // What is left of one goes with its group.
        assert_eq!(server.handle(ClientMessage::Blob(b"lost")), Ok(None));
        assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::EndOfGroup)));
        server.end_group();
    }
    assert_eq!(server.handle(ClientMessage::Blob(b"")), Ok(Some(Request::Value(Vec::new()))));
    // A chunk that was not announced belongs to nothing.
    assert_eq!(server.handle(ClientMessage::LoChunk(b"x")), Ok(None));
}

#[test]
fn the_arguments_of_a_call_are_no_statements() {
    let mut server = bare();
    let call = |params| ClientMessage::CallRoutine(CallRoutine { database: b"", handle: 9, params, reserved: 0 });
    assert_eq!(server.handle(call(1)), Ok(None));
    let bind = || ClientMessage::Bind(vec![Param::NULL]);
    assert_eq!(server.handle(bind()), Ok(Some(Request::Call { handle: 9, params: vec![Param::NULL] })));
    assert_eq!(server.handle(bind()), Ok(Some(Request::Message(bind()))));
    // Nor do they come in another group.
    assert_eq!(server.handle(call(1)), Ok(None));
    assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::EndOfGroup)));
    server.end_group();
    assert_eq!(server.handle(bind()), Ok(Some(Request::Message(bind()))));
}

#[test]
fn what_means_nothing_ends_the_connection() {
    let mut server = Server::new(Capabilities::server_15());
    assert_eq!(server.handle(ClientMessage::Eot), Err(Violation::OutOfTurn), "before the login");
    let mut server = bare();
    assert_eq!(server.handle(ClientMessage::FileChunk(b"x")), Err(Violation::UnaskedFile));
    assert_eq!(server.handle(ClientMessage::Eot), Err(Violation::OutOfTurn), "nothing more is read");
    // Behind a statement that needs a file there is a release at most.
    let mut server = bare();
    server.await_turn();
    assert_eq!(server.handle(ClientMessage::Release), Ok(None));
    assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::Turn { release: true })));
    assert_eq!(server.handle(ClientMessage::Eot), Err(Violation::OutOfTurn), "it is the server's turn");
    let mut server = bare();
    server.await_turn();
    assert_eq!(server.handle(ClientMessage::Execute), Err(Violation::BeforeFile));
    // In a turn about a file there is nothing but the file.
    let mut server = bare();
    server.await_turn();
    assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::Turn { release: false })));
    server.ask_file(FileRequest::Close, &[]).unwrap();
    assert_eq!(server.handle(ClientMessage::FileWritten(3)), Ok(None));
    assert_eq!(server.handle(ClientMessage::Commit), Err(Violation::AmidFile));
}

#[test]
fn a_client_that_is_asked_says_nothing_else() {
    let asked = || {
        let mut server = Server::new(Capabilities::server_15());
        server.accept_and_ask(&LoginReply::accept(b"Informix", b"serial", b"here", 0)).unwrap();
        server
    };
    assert_eq!(asked().handle(ClientMessage::PamAck), Err(Violation::Unproved));
    assert_eq!(asked().handle(ClientMessage::Eot), Err(Violation::EmptyTurn));
    assert_eq!(asked().handle(ClientMessage::Exit), Ok(Some(Request::Exit)));
    let mut server = asked();
    let offer = Capabilities::client_offer();
    assert!(matches!(server.handle(ClientMessage::Protocols(offer.clone())), Ok(Some(Request::Protocols(_)))));
    assert_eq!(server.handle(ClientMessage::Protocols(offer)), Err(Violation::Unproved));
    assert_eq!(server.handle(ClientMessage::PamAck), Err(Violation::OutOfTurn), "nothing more is read");
}

#[test]
fn a_write_is_told_of_only_where_it_was_asked_for() {
    let mut server = bare();
    let write = LoRequest { lofd: 1, bytes: 2, chunk: 32_000, action: LoAction::Write };
    assert_eq!(server.handle(ClientMessage::LoData(write)), Ok(None));
    assert_eq!(server.handle(ClientMessage::LoChunk(b"ab")), Ok(Some(Request::Write { lofd: 1, chunk: b"ab" })));
    assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::EndOfGroup)));
    let counted = server.output().len();
    assert!(counted > 0);
    server.end_group();
    server.sent(usize::MAX);
    assert_eq!(server.handle(ClientMessage::Eot), Ok(Some(Request::EndOfGroup)));
    assert!(server.output().is_empty());
}
