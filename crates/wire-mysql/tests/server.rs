//! Our client against the server's half of the conversation, in memory: what `pair.rs` does not ask of its peer.

use std::sync::{Arc, OnceLock};

use rowferry_wire::{Core, Secret};
use rowferry_wire_mysql::Algorithm;
use rowferry_wire_mysql::client::{Client, Compression, Event, Failure, Options, TlsPolicy};
use rowferry_wire_mysql::messages::asked::Asked;
use rowferry_wire_mysql::messages::auth::plugin;
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::{Handshake, Login, capability};
use rowferry_wire_mysql::messages::resultset::{BinaryRow, ColumnDefinition};
use rowferry_wire_mysql::messages::session_state::StateChange;
use rowferry_wire_mysql::messages::statement::{Params, PrepareOk, StatementId};
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, ServerError, status_flag};
use rowferry_wire_mysql::server::{Key, Request, Server, SharedKey};
use rowferry_wire_mysql::types::{BinaryForm, ColumnType};

const LIMIT: usize = 1 << 26;

fn greeting(more: u64) -> Handshake {
    Handshake {
        server_version: "8.0.36-test".into(),
        connection_id: 7,
        nonce: (1..=20).collect(),
        capabilities: capability::LONG_PASSWORD
            | capability::LONG_FLAG
            | capability::PROTOCOL_41
            | capability::TRANSACTIONS
            | capability::SECURE_CONNECTION
            | capability::PLUGIN_AUTH
            | capability::PLUGIN_AUTH_LENENC
            | capability::CONNECT_WITH_DB
            | capability::CONNECT_ATTRS
            | capability::MULTI_RESULTS
            | capability::DEPRECATE_EOF
            | more,
        collation: 45,
        status: status_flag::AUTOCOMMIT,
        plugin: plugin::CACHING_SHA2_PASSWORD.into(),
    }
}

fn options(password: &str) -> Options {
    let login = Login { user: "app".into(), password: Secret::new(password), database: "shop".into() };
    Options { login, seed: [7; 32], ..Options::default() }
}

fn give(core: &mut impl Core, bytes: &[u8], step: usize) {
    for piece in bytes.chunks(step) {
        core.receive_space(piece.len())[..piece.len()].copy_from_slice(piece);
        core.received(piece.len());
    }
}

fn take(core: &mut impl Core) -> Vec<u8> {
    let output = core.output().to_vec();
    core.sent(output.len());
    output
}

struct Pair {
    client: Client,
    server: Server,
    /// So many bytes are moved at a time.
    step: usize,
    sent: Vec<u8>,
}

impl Pair {
    fn new(options: Options, greeting: Handshake) -> Self {
        Self { client: Client::new(options), server: Server::new(greeting, LIMIT), step: usize::MAX, sent: Vec::new() }
    }

    /// Moves bytes until both are idle; `answer` plays the server's part. What the client saw comes back in words.
    fn drive(&mut self, mut answer: impl FnMut(&mut Server, Request)) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let output = take(&mut self.client);
            self.sent.extend_from_slice(&output);
            give(&mut self.server, &output, self.step);
            while let Some(request) = self.server.poll().expect("our client keeps to the protocol") {
                let tls = request == Request::StartTls;
                answer(&mut self.server, request);
                if tls {
                    self.server.tls_started();
                    self.client.tls_started();
                }
            }
            let answered = take(&mut self.server);
            give(&mut self.client, &answered, self.step);
            loop {
                seen.push(match self.client.poll() {
                    Ok(Event::Pending) => break,
                    Ok(Event::StartTls) => {
                        let output = take(&mut self.client);
                        give(&mut self.server, &output, self.step);
                        break;
                    }
                    Ok(Event::Connected) => "connected".into(),
                    Ok(Event::Done { ok, .. }) => format!("done {}", ok.affected_rows),
                    Ok(Event::Columns(columns)) => format!("columns {}", columns.definitions.len()),
                    Ok(Event::Row(row)) => format!("row of {}", row.len()),
                    Ok(Event::EndOfRows { ok, .. }) => format!("end {:#x}", ok.status),
                    Ok(Event::Prepared(prepared)) => format!("prepared {}", prepared.params),
                    Ok(Event::LocalFile(name)) => format!("file {}", String::from_utf8_lossy(&name)),
                    Ok(Event::Error(error)) => format!("error {}", error.code),
                    Err(failure) => {
                        seen.push(format!("failure {failure}"));
                        return seen;
                    }
                });
                if self.client.is_closed() {
                    return seen;
                }
            }
            if self.client.output().is_empty() && answered.is_empty() {
                return seen;
            }
        }
    }

    fn log_in(&mut self) {
        let seen = self.drive(|server, request| {
            assert!(matches!(request, Request::Login(_)));
            server.accept(&OkPacket::default(), true);
        });
        assert_eq!(seen, ["connected"]);
    }
}

fn key() -> SharedKey {
    static KEY: OnceLock<SharedKey> = OnceLock::new();
    KEY.get_or_init(|| Arc::new(Key::generate([3; 32]).expect("a key"))).clone()
}

/// Lets in who shows this password.
fn checked(expected: &'static str, protected: bool) -> impl FnMut(&mut Server, Request) {
    move |server, request| match request {
        Request::Login(login) => {
            assert_eq!((login.response.user.as_str(), login.response.database.as_str()), ("app", "shop"));
            assert!(server.ask_password(protected, Some(key()), [9; 32]));
        }
        Request::Password(password) if password.expose() == expected => server.accept(&OkPacket::default(), false),
        Request::Password(_) => {
            server.refuse(&ServerError { code: 1045, sqlstate: "28000".into(), message: "no".into() });
        }
        Request::StartTls => assert!(server.take_rest().is_empty()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_password_comes_in_clear_where_nobody_reads_along() {
    for step in [1, usize::MAX] {
        for (given, outcome) in [("secret", "connected"), ("wrong", "error 1045"), ("", "error 1045")] {
            let options = Options { secure_transport: true, ..options(given) };
            let mut pair = Pair { step, ..Pair::new(options, greeting(0)) };
            assert_eq!(pair.drive(checked("secret", true)), [outcome], "{given:?}");
        }
    }
    assert_eq!(Pair::new(options(""), greeting(0)).drive(checked("", true)), ["connected"]);
}

#[test]
fn a_password_comes_under_the_key_otherwise() {
    for (given, outcome) in [("secret", "connected"), ("wrong", "error 1045"), ("", "error 1045")] {
        for known in [false, true] {
            let server_public_key = known.then(|| key().public().as_bytes().to_vec());
            let mut pair = Pair::new(Options { server_public_key, ..options(given) }, greeting(0));
            assert_eq!(pair.drive(checked("secret", false)), [outcome], "{given:?}");
            assert!(given.is_empty() || !pair.sent.windows(given.len()).any(|window| window == given.as_bytes()));
        }
    }
}

#[test]
fn a_client_of_another_plugin_is_asked_to_switch() {
    let native = Handshake { plugin: plugin::NATIVE_PASSWORD.into(), ..greeting(0) };
    let mut pair = Pair::new(options("secret"), native);
    assert_eq!(pair.drive(checked("secret", false)), ["connected"]);
    assert_eq!(pair.client.session().auth_plugin, plugin::CACHING_SHA2_PASSWORD);
}

#[test]
fn tls_begins_with_what_has_come_behind_the_wish() {
    let mut pair = Pair::new(Options { tls: TlsPolicy::Always, ..options("secret") }, greeting(capability::SSL));
    assert_eq!(pair.drive(checked("secret", true)), ["connected"]);
    // A client that does not wait: its handshake is no packet.
    let mut server = Server::new(greeting(capability::SSL), LIMIT);
    let mut wish = vec![32, 0, 0, 1];
    wish.extend_from_slice(&(capability::SSL | capability::PROTOCOL_41).to_le_bytes()[..4]);
    wish.resize(36, 0);
    wish.extend_from_slice(b"\x16\x03\x01 hello");
    give(&mut server, &wish, usize::MAX);
    assert_eq!(server.poll(), Ok(Some(Request::StartTls)));
    assert_eq!(server.poll(), Ok(None));
    assert_eq!(server.take_rest(), b"\x16\x03\x01 hello");
}

#[test]
fn a_change_of_the_user_is_a_login() {
    let mut pair = Pair::new(options("secret"), greeting(0));
    pair.log_in();
    pair.client.change_user(Options { secure_transport: true, ..options("other") }).unwrap();
    assert_eq!(pair.drive(checked("other", true)), ["connected"]);
    pair.client.ping().unwrap();
    let seen = pair.drive(|server, request| {
        assert_eq!(request, Request::Command(Command::PING, Vec::new()));
        server.ok(&OkPacket::default());
    });
    assert_eq!(seen, ["done 0"]);
}

fn column(name: &str) -> ColumnDefinition {
    ColumnDefinition {
        schema: "shop".into(),
        table: "t".into(),
        org_table: "t".into(),
        name: name.into(),
        org_name: name.into(),
        charset: 45,
        length: 80,
        column_type: ColumnType::VAR_STRING,
        flags: 0,
        decimals: 0,
        extended: Vec::new(),
    }
}

/// A result of one text of so many bytes.
fn result(server: &mut Server, len: usize) {
    server.columns(&[column("a")], 0, false);
    let mut row = server.row();
    row.cell_with(|bytes| {
        bytes.resize(bytes.len() + len, b'x');
        Ok::<(), ()>(())
    })
    .unwrap();
    row.finish();
    server.end_of_rows(&OkPacket { status: 2, ..OkPacket::default() });
}

#[test]
fn both_compressions_carry_every_size_and_commands_that_do_not_wait() {
    for algorithm in [Algorithm::Zlib, Algorithm::ZSTD_DEFAULT] {
        let compression = Compression { algorithms: vec![algorithm], required: true };
        let options = Options { compression, ..options("") };
        let mut pair = Pair::new(options, greeting(capability::COMPRESS | capability::ZSTD));
        pair.log_in();
        for step in [7, usize::MAX] {
            pair.step = step;
            for len in [0_usize, 250, 251, 70_000, 17_000_000] {
                if step == 7 && len > 100_000 {
                    continue;
                }
                let sql = vec![b'-'; len.max(1)];
                pair.client.query(&sql).unwrap();
                pair.client.query(b"again").unwrap();
                let seen = pair.drive(|server, request| {
                    let Request::Command(command, argument) = request else { panic!("{request:?}") };
                    let Ok(Asked::Query(text)) = Asked::decode(command, &argument) else { panic!("{command:?}") };
                    assert!(text == sql || text == b"again");
                    result(server, len);
                });
                let head = match len {
                    0..=250 => 1,
                    251..=65_535 => 3,
                    _ => 4,
                };
                let head = if len > 0xff_ffff { 9 } else { head };
                let one = ["columns 1".to_owned(), format!("row of {}", len + head), "end 0x2".to_owned()];
                assert_eq!(seen, [one.clone(), one].concat(), "{algorithm:?} {len}");
            }
        }
        assert!(!pair.sent.windows(100).any(|window| window == [b'-'; 100]), "nothing was compressed");
    }
}

#[test]
fn a_cursor_is_opened_and_fetched() {
    let mut pair = Pair::new(options(""), greeting(0));
    pair.log_in();
    pair.client.prepare(b"select ?").unwrap();
    let seen = pair.drive(|server, request| {
        assert!(matches!(request, Request::Command(Command::STMT_PREPARE, _)));
        let ok = PrepareOk { statement: StatementId(5), columns: 1, params: 1, warnings: 0 };
        server.prepared(ok, &[column("?")], &[column("a")], 0);
    });
    assert_eq!(seen, ["prepared 1"]);
    let mut params = Params::default();
    params.text(b"x");
    pair.client.execute(StatementId(5), &params).unwrap();
    let seen = pair.drive(|server, request| {
        let Request::Command(command, argument) = request else { panic!("{request:?}") };
        let Ok(Asked::Execute(execution)) = Asked::decode(command, &argument) else { panic!("{command:?}") };
        assert_eq!(execution.statement, StatementId(5));
        server.columns(&[column("a"), column("b")], 0, false);
        let mut row = server.row();
        let nulls = row.begin_binary(2);
        row.set_null(nulls, 1);
        row.cell_with(|bytes| {
            bytes.push(b'y');
            Ok::<(), ()>(())
        })
        .unwrap();
        row.finish();
        // One that is given up leaves no trace.
        let mut row = server.row();
        row.text(Some(b"lost"));
        drop(row);
        server.end_of_rows(&OkPacket { status: status_flag::CURSOR_EXISTS, ..OkPacket::default() });
    });
    assert_eq!(seen, ["columns 2", "row of 4", "end 0x40"]);
    let mut row = BinaryRow::new(b"\0\x08\x01y", 2).unwrap();
    assert_eq!(row.cell(BinaryForm::Bytes), Ok(Some(&b"y"[..])));
    assert_eq!(row.cell(BinaryForm::Bytes), Ok(None));
}

#[test]
fn a_file_of_the_client_comes_in_the_numbering_of_its_question() {
    let mut pair = Pair::new(options(""), greeting(capability::LOCAL_FILES));
    pair.log_in();
    pair.client.query(b"load").unwrap();
    let seen = pair.drive(|server, _| server.ask_file(b"data.csv"));
    assert_eq!(seen, ["file data.csv"]);
    pair.client.put_file(b"1,2\n").unwrap();
    pair.client.put_file(b"3,4\n").unwrap();
    pair.client.end_file().unwrap();
    let mut file = Vec::new();
    let seen = pair.drive(|server, request| match request {
        Request::File(piece) if piece.is_empty() => {
            server.ok(&OkPacket { affected_rows: 2, ..OkPacket::default() });
        }
        Request::File(piece) => file.extend_from_slice(&piece),
        other => panic!("{other:?}"),
    });
    assert_eq!((seen, file.as_slice()), (vec!["done 2".to_owned()], &b"1,2\n3,4\n"[..]));
    pair.client.ping().unwrap();
    assert_eq!(pair.drive(|server, _| server.ok(&OkPacket::default())), ["done 0"]);
}

#[test]
fn what_has_changed_is_told_to_who_asked() {
    for tracked in [0, capability::SESSION_TRACK] {
        let mut pair = Pair::new(options(""), greeting(tracked));
        pair.log_in();
        pair.client.query(b"use x").unwrap();
        let seen = pair.drive(|server, _| {
            let mut state = Vec::new();
            StateChange::Schema(b"x").encode(&mut state);
            server.ok(&OkPacket { affected_rows: 4, state, ..OkPacket::default() });
        });
        assert_eq!(seen, ["done 4"]);
        let schema = pair.client.session().state.schema.clone();
        assert_eq!(schema.is_some(), tracked != 0, "{schema:?}");
    }
}

#[test]
fn broken_conversations_end() {
    // Numbers out of order, an empty command, a message beyond the limit, the protocol before 4.1.
    let mut login = vec![34, 0, 0, 1];
    login.extend_from_slice(&(capability::PROTOCOL_41 as u32).to_le_bytes());
    login.resize(36, 0);
    login.extend_from_slice(b"\0\0");
    let logged_in = || {
        let mut server = Server::new(greeting(0), 100);
        give(&mut server, &login, usize::MAX);
        assert!(matches!(server.poll(), Ok(Some(Request::Login(_)))));
        server.accept(&OkPacket::default(), false);
        server
    };
    for (bytes, what) in [(&[1, 0, 0, 1, 14][..], "order"), (&[0, 0, 0, 0], "empty"), (&[101, 0, 0, 0], "large")] {
        let mut server = logged_in();
        give(&mut server, bytes, usize::MAX);
        assert!(server.poll().is_err(), "{what}");
        // Nothing more is read.
        give(&mut server, &[1, 0, 0, 0, 14], usize::MAX);
        assert_eq!(server.poll(), Ok(None), "{what}");
    }
    let mut old = Server::new(greeting(0), 100);
    login[4..8].fill(0);
    give(&mut old, &login, usize::MAX);
    assert!(matches!(old.poll(), Err(Failure::Unsupported(_))));
}

#[test]
fn a_row_of_sixteen_megabytes_is_split() {
    let mut pair = Pair::new(options(""), greeting(0));
    pair.log_in();
    for len in [0xff_ffff - 9, 0xff_ffff, 0x100_0000] {
        pair.client.query(b"select").unwrap();
        let seen = pair.drive(|server, _| result(server, len));
        assert_eq!(seen.len(), 3, "{seen:?}");
    }
}
