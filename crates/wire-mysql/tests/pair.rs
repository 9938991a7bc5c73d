//! Our client against our server role, in memory.

use std::sync::OnceLock;

use rowferry_wire::{Core, Secret};
use rowferry_wire_mysql::client::{Client, Event, Failure, Misuse, Options, TlsPolicy};
use rowferry_wire_mysql::messages::auth::plugin;
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::{Login, capability};
use rowferry_wire_mysql::messages::resultset::{BinaryRow, ColumnDefinition, DateTime, TextRow, Time};
use rowferry_wire_mysql::messages::statement::{Params, PrepareOk, StatementId};
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, status_flag};
use rowferry_wire_mysql::peer::{Request, Script, Server};
use rowferry_wire_mysql::types::{BinaryForm, ColumnType};
use rsa::RsaPrivateKey;

/// What a client saw, in words that can be compared.
#[derive(Debug, PartialEq)]
enum Seen {
    StartTls,
    Connected,
    Done(u64, bool),
    Columns(Vec<String>),
    Row(Vec<u8>),
    End(bool),
    Prepared(u32, usize),
    LocalFile(String),
    Error(u16),
    Failure(Failure),
}

struct Pair {
    client: Client,
    server: Server,
    /// So many bytes are moved at a time.
    step: usize,
    to_client: Vec<u8>,
    sent: Vec<u8>,
}

fn give(core: &mut impl Core, bytes: &[u8]) {
    core.receive_space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
    core.received(bytes.len());
}

impl Pair {
    fn new(client: Options, script: Script) -> Self {
        Self {
            client: Client::new(client),
            server: Server::new(script),
            step: usize::MAX,
            to_client: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn poll(&mut self) -> Option<Seen> {
        Some(match self.client.poll() {
            Ok(Event::Pending) => return None,
            Ok(Event::StartTls) => Seen::StartTls,
            Ok(Event::LocalFile(name)) => Seen::LocalFile(String::from_utf8_lossy(&name).into_owned()),
            Ok(Event::Connected) => Seen::Connected,
            Ok(Event::Done { ok, more }) => Seen::Done(ok.affected_rows, more),
            Ok(Event::Columns(columns)) => {
                Seen::Columns(columns.definitions.iter().map(|column| column.name.clone()).collect())
            }
            Ok(Event::Row(payload)) => Seen::Row(payload.to_vec()),
            Ok(Event::EndOfRows { more, .. }) => Seen::End(more),
            Ok(Event::Prepared(prepared)) => Seen::Prepared(prepared.statement.0, prepared.params),
            Ok(Event::Error(error)) => Seen::Error(error.code),
            Err(failure) => Seen::Failure(failure),
        })
    }

    /// Moves bytes until both are idle; `answer` plays the server's part.
    fn drive(&mut self, mut answer: impl FnMut(&mut Server, Request)) -> Vec<Seen> {
        let mut seen = Vec::new();
        loop {
            let mut moved = false;
            let output = self.client.output().to_vec();
            for chunk in output.chunks(self.step.min(output.len().max(1))) {
                moved = true;
                give(&mut self.server, chunk);
                self.client.sent(chunk.len());
            }
            self.sent.extend_from_slice(&output);
            while let Some(request) = self.server.poll().unwrap() {
                if request == Request::StartTls {
                    self.server.tls_started();
                }
                answer(&mut self.server, request);
            }
            let output = self.server.output().to_vec();
            self.server.sent(output.len());
            self.to_client.extend_from_slice(&output);
            for chunk in output.chunks(self.step.min(output.len().max(1))) {
                moved = true;
                give(&mut self.client, chunk);
                loop {
                    match self.poll() {
                        None => break,
                        Some(Seen::Failure(failure)) => {
                            seen.push(Seen::Failure(failure));
                            return seen;
                        }
                        Some(Seen::StartTls) => {
                            seen.push(Seen::StartTls);
                            // What was in plain text goes first.
                            let output = self.client.output().to_vec();
                            give(&mut self.server, &output);
                            self.client.sent(output.len());
                            assert_eq!(self.server.poll(), Ok(Some(Request::StartTls)));
                            self.server.tls_started();
                            self.client.tls_started();
                        }
                        Some(other) => seen.push(other),
                    }
                    if self.client.is_closed() {
                        return seen;
                    }
                }
            }
            if !moved {
                return seen;
            }
        }
    }

    fn login(&mut self) -> Vec<Seen> {
        self.drive(|_, _| {})
    }
}

fn options(password: &str) -> Options {
    let login = Login { user: "app".into(), password: Secret::new(password), database: "shop".into() };
    let attributes = vec![("_client_name".into(), "test".into())];
    Options { login, attributes, seed: [7; 32], ..Options::default() }
}

fn key() -> RsaPrivateKey {
    static KEY: OnceLock<RsaPrivateKey> = OnceLock::new();
    KEY.get_or_init(|| RsaPrivateKey::new(&mut Counter(1), 1024).unwrap()).clone()
}

/// Numbers for a key that protects nothing.
struct Counter(u64);

impl rsa::rand_core::RngCore for Counter {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }
    fn next_u64(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        rsa::rand_core::impls::fill_bytes_via_next(self, bytes);
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl rsa::rand_core::CryptoRng for Counter {}

#[test]
fn caching_sha2_by_the_cache() {
    assert_eq!(Pair::new(options("secret"), Script::mysql8("secret")).login(), [Seen::Connected]);
    assert_eq!(Pair::new(options(""), Script::mysql8("")).login(), [Seen::Connected]);
    assert_eq!(Pair::new(options("wrong"), Script::mysql8("secret")).login(), [Seen::Error(1045)]);
}

#[test]
fn caching_sha2_in_full_over_a_unix_socket() {
    let script = Script { cached: false, ..Script::mysql8("secret") };
    let mut pair = Pair::new(Options { secure_transport: true, ..options("secret") }, script);
    assert_eq!(pair.login(), [Seen::Connected]);
    assert!(pair.sent.windows(7).any(|window| window == b"secret\0"));
}

#[test]
fn caching_sha2_in_full_over_tls() {
    let mut script = Script { cached: false, ..Script::mysql8("secret") };
    script.greeting.capabilities |= capability::SSL;
    let mut pair = Pair::new(Options { tls: TlsPolicy::Always, ..options("secret") }, script);
    assert_eq!(pair.login(), [Seen::StartTls, Seen::Connected]);
}

#[test]
fn caching_sha2_in_full_by_the_servers_key() {
    for known in [false, true] {
        let script = Script { cached: false, key: Some(key()), ..Script::mysql8("secret") };
        let pem = Server::new(script.clone()).public_key().into_bytes();
        let options = Options { server_public_key: known.then_some(pem), ..options("secret") };
        let mut pair = Pair::new(options, script);
        assert_eq!(pair.login(), [Seen::Connected]);
        assert!(!pair.sent.windows(6).any(|window| window == b"secret"));
    }
}

#[test]
fn a_broken_key_is_malformed() {
    let script = Script { cached: false, key: None, ..Script::mysql8("secret") };
    let seen = Pair::new(options("secret"), script).login();
    assert!(matches!(seen[..], [Seen::Failure(Failure::Malformed(_))]), "{seen:?}");
}

#[test]
fn switches_to_the_accounts_plugin() {
    for name in [plugin::NATIVE_PASSWORD, plugin::SHA256_PASSWORD, plugin::CLEAR_PASSWORD, plugin::ED25519] {
        let script = Script { plugin: name.into(), key: Some(key()), ..Script::mysql8("secret") };
        let secure = name == plugin::CLEAR_PASSWORD;
        let mut pair = Pair::new(Options { secure_transport: secure, ..options("secret") }, script);
        assert_eq!(pair.login(), [Seen::Connected], "{name}");
        assert_eq!(pair.client.session().auth_plugin, name);
    }
}

#[test]
fn refuses_clear_text_without_protection_and_unknown_plugins() {
    for (name, word) in [
        (plugin::CLEAR_PASSWORD, "clear text"),
        (plugin::DIALOG, "clear text"),
        ("auth_gssapi_client", "`auth_gssapi_client`"),
        ("mysql_old_password", "old"),
    ] {
        let script = Script { plugin: name.into(), ..Script::mysql8("secret") };
        let mut pair = Pair::new(options("secret"), script);
        let seen = pair.login();
        let [Seen::Failure(Failure::Unsupported(message))] = &seen[..] else { panic!("{seen:?}") };
        assert!(message.contains(word), "{message}");
        assert!(!pair.sent.windows(6).any(|window| window == b"secret"));
    }
}

#[test]
fn insists_on_tls_when_told_to() {
    let seen = Pair::new(Options { tls: TlsPolicy::Always, ..options("secret") }, Script::mysql8("secret")).login();
    assert!(matches!(&seen[..], [Seen::Failure(Failure::Unsupported(message))] if message.contains("TLS")));
    let options = Options { tls: TlsPolicy::IfOffered, ..options("secret") };
    assert_eq!(Pair::new(options, Script::mysql8("secret")).login(), [Seen::Connected]);
}

fn column(name: &str, column_type: ColumnType) -> ColumnDefinition {
    ColumnDefinition {
        schema: "shop".into(),
        table: "t".into(),
        org_table: "t".into(),
        name: name.into(),
        org_name: name.into(),
        charset: 45,
        length: 80,
        column_type,
        flags: 0,
        decimals: 0,
        extended: Vec::new(),
    }
}

/// Logs in, with or without OK in place of EOF.
fn connected(deprecate_eof: bool) -> Pair {
    let mut script = Script::mysql8("secret");
    if !deprecate_eof {
        script.greeting.capabilities &= !capability::DEPRECATE_EOF;
    }
    let mut pair = Pair::new(options("secret"), script);
    assert_eq!(pair.login(), [Seen::Connected]);
    pair.to_client.clear();
    pair
}

fn two_results(server: &mut Server) {
    server.begin_reply();
    server.columns(&[column("a", ColumnType::VAR_STRING), column("b", ColumnType::LONG)], true);
    server.text_row(&[Some(b"x"), None]);
    server.text_row(&[Some(b""), Some(b"7")]);
    server.end_of_rows(status_flag::MORE_RESULTS);
    server.ok(&OkPacket { affected_rows: 3, ..OkPacket::default() });
}

fn names(list: &[&str]) -> Seen {
    Seen::Columns(list.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn several_results_of_one_query_however_they_are_cut() {
    for deprecate_eof in [false, true] {
        for step in [1, 2, 3, 7, usize::MAX] {
            let mut pair = connected(deprecate_eof);
            pair.step = step;
            pair.client.query(b"select").unwrap();
            let seen = pair.drive(|server, request| {
                assert_eq!(request, Request::Command(Command::QUERY, b"select".to_vec()));
                two_results(server);
            });
            let expected = [
                names(&["a", "b"]),
                Seen::Row(b"\x01x\xfb".to_vec()),
                Seen::Row(b"\x00\x017".to_vec()),
                Seen::End(true),
                Seen::Done(3, false),
            ];
            assert_eq!(seen, expected);
            assert!(pair.client.is_idle());
        }
    }
}

#[test]
fn an_answer_cut_anywhere_asks_for_more_and_a_closed_one_fails() {
    let mut pair = connected(true);
    pair.client.query(b"select").unwrap();
    pair.drive(|server, _| two_results(server));
    let answer = pair.to_client;
    for cut in 0..answer.len() {
        let mut pair = connected(true);
        pair.client.query(b"select").unwrap();
        give(&mut pair.client, &answer[..cut]);
        while let Some(seen) = pair.poll() {
            assert!(!matches!(seen, Seen::Failure(_)), "cut at {cut}: {seen:?}");
        }
        assert!(!pair.client.is_idle());
        pair.client.received_eof();
        assert_eq!(pair.poll(), Some(Seen::Failure(Failure::Closed)), "cut at {cut}");
        assert!(pair.client.is_closed());
    }
}

#[test]
fn rows_are_visited_as_they_are_polled() {
    let mut pair = connected(true);
    pair.client.query(b"select").unwrap();
    pair.drive(|server, _| two_results(server));
    let answer = pair.to_client.clone();
    for step in [1, 5, 1000] {
        let mut client = connected(true).client;
        client.query(b"select").unwrap();
        let mut rows = Vec::new();
        for chunk in answer.chunks(step) {
            give(&mut client, chunk);
            loop {
                client.visit_rows(|row| {
                    rows.push(row.to_vec());
                    true
                });
                match client.poll().unwrap() {
                    Event::Pending => break,
                    Event::Row(row) => rows.push(row.to_vec()),
                    _ => {}
                }
            }
        }
        assert_eq!(rows, [b"\x01x\xfb".to_vec(), b"\x00\x017".to_vec()]);
        assert!(client.is_idle());
    }
}

#[test]
fn a_row_of_sixteen_megabytes_is_joined() {
    for len in [0xff_ffff - 4, 0xff_ffff, 0x100_0000, 0x1ff_ffff] {
        let mut pair = connected(true);
        pair.client.query(b"select").unwrap();
        let value = vec![b'x'; len];
        let seen = pair.drive(|server, _| {
            server.begin_reply();
            server.columns(&[column("a", ColumnType::LONG_BLOB), column("b", ColumnType::LONG)], true);
            server.text_row(&[Some(&value), Some(b"1")]);
            server.end_of_rows(0);
        });
        let Seen::Row(row) = &seen[1] else { panic!("no row") };
        let mut cells = TextRow::new(row);
        assert!(cells.cell() == Ok(Some(&value[..])));
        assert_eq!(cells.cell(), Ok(Some(&b"1"[..])));
        assert_eq!(cells.finish(), Ok(()));
        assert_eq!(seen[2], Seen::End(false));
        // The same in pieces, with rows visited in between.
        let (answer, row) = (pair.to_client.clone(), row.clone());
        let mut client = connected(true).client;
        client.query(b"select").unwrap();
        let mut rows = Vec::new();
        for chunk in answer.chunks(1_000_000) {
            give(&mut client, chunk);
            loop {
                client.visit_rows(|row| {
                    rows.push(row.to_vec());
                    true
                });
                match client.poll().unwrap() {
                    Event::Pending => break,
                    Event::Row(row) => rows.push(row.to_vec()),
                    _ => {}
                }
            }
        }
        assert!(rows == [row], "{len}");
        assert!(client.is_idle());
    }
}

#[test]
fn the_answer_to_a_long_request_goes_on_counting() {
    let mut pair = connected(true);
    pair.client.query(&vec![b'x'; 0xff_ffff]).unwrap();
    pair.client.ping().unwrap();
    let sent = pair.client.output().len();
    assert_eq!(sent, 4 + 0xff_ffff + 4 + 1 + 5);
    pair.client.sent(sent);
    give(&mut pair.client, &[7, 0, 0, 2, 0, 5, 0, 2, 0, 0, 0]);
    assert_eq!(pair.poll(), Some(Seen::Done(5, false)));
    give(&mut pair.client, &[7, 0, 0, 1, 0, 6, 0, 2, 0, 0, 0]);
    assert_eq!(pair.poll(), Some(Seen::Done(6, false)));
}

#[test]
fn an_error_within_rows_leaves_the_connection_usable() {
    let mut pair = connected(true);
    pair.client.query(b"select").unwrap();
    let seen = pair.drive(|server, _| {
        server.begin_reply();
        server.columns(&[column("a", ColumnType::LONG)], true);
        server.text_row(&[Some(b"1")]);
        server.error(1317, "70100", "interrupted");
    });
    assert_eq!(seen, [names(&["a"]), Seen::Row(b"\x011".to_vec()), Seen::Error(1317)]);
    pair.client.ping().unwrap();
    let seen = pair.drive(|server, request| {
        assert_eq!(request, Request::Command(Command::PING, Vec::new()));
        server.begin_reply();
        server.ok(&OkPacket::default());
    });
    assert_eq!(seen, [Seen::Done(0, false)]);
}

#[test]
fn prepares_executes_and_closes() {
    for deprecate_eof in [false, true] {
        let mut pair = connected(deprecate_eof);
        // Preparation and execution in one write, as MariaDB allows.
        pair.client.prepare(b"select ?").unwrap();
        let mut params = Params::default();
        params.int(-1);
        params.null();
        params.text(b"abc");
        params.datetime(DateTime { year: 2026, month: 11, day: 21, ..DateTime::default() });
        params.time(Time { negative: true, hours: 1, ..Time::default() });
        pair.client.execute(StatementId::LAST_PREPARED, &params).unwrap();
        assert_eq!(pair.client.awaited(), 2);
        let mut executed = Vec::new();
        let seen = pair.drive(|server, request| match request {
            Request::Command(Command::STMT_PREPARE, _) => {
                server.begin_reply();
                server.prepare_ok(PrepareOk { statement: StatementId(9), columns: 1, params: 5, warnings: 0 });
                let parameter = column("?", ColumnType::VAR_STRING);
                server.columns(&vec![parameter; 5], false);
                server.columns(&[column("a", ColumnType::LONGLONG)], false);
            }
            Request::Command(Command::STMT_EXECUTE, payload) => {
                executed = payload;
                server.begin_reply();
                server.columns(&[column("a", ColumnType::LONGLONG)], true);
                server.raw(&[0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
                server.raw(&[0, 4]);
                server.end_of_rows(0);
            }
            other => panic!("{other:?}"),
        });
        let row = vec![0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
        let expected =
            [Seen::Prepared(9, 5), names(&["a"]), Seen::Row(row.clone()), Seen::Row(vec![0, 4]), Seen::End(false)];
        assert_eq!(seen, expected);
        let mut cells = BinaryRow::new(&row, 1).unwrap();
        assert_eq!(cells.cell(BinaryForm::Fixed(8)), Ok(Some(&row[2..])));
        assert_eq!(cells.finish(), Ok(()));
        assert_eq!(BinaryRow::new(&[0, 4], 1).unwrap().cell(BinaryForm::Fixed(8)), Ok(None));
        let expected: &[u8] = &[
            0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0, 0, 0b10, 1, // id, flags, iterations, NULLs, types follow
            0x08, 0, 0x06, 0, 0xfd, 0, 0x0c, 0, 0x0b, 0, // types
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // -1
            3, b'a', b'b', b'c', // text
            4, 0xea, 0x07, 11, 21, // datetime without time
            8, 1, 0, 0, 0, 0, 1, 0, 0, // time
        ];
        assert_eq!(executed, expected);
    }
}

/// A client that was asked for `/etc/passwd`, with nothing to send.
fn asked_for_a_file(sql: &[u8]) -> Pair {
    let mut pair = connected(true);
    pair.client.query(sql).unwrap();
    let request = pair.client.output().len();
    pair.client.sent(request);
    assert_eq!(pair.client.put_file(b"early"), Err(Misuse::NoFile));
    give(&mut pair.client, b"\x0c\0\0\x01\xfb/etc/passwd");
    assert_eq!(pair.poll(), Some(Seen::LocalFile("/etc/passwd".into())));
    assert_eq!((pair.poll(), pair.client.output().len()), (None, 0));
    pair
}

#[test]
fn a_file_goes_in_numbered_packets_and_ends_in_an_empty_one() {
    let mut pair = asked_for_a_file(b"load data local infile '/etc/passwd' into table t");
    pair.client.put_file(&[7; 20_000]).unwrap();
    pair.client.put_file(b"end").unwrap();
    pair.client.end_file().unwrap();
    let output = pair.client.output();
    assert_eq!(output[..4], [0xc0, 0x3f, 0, 2]);
    let second = 4 + 0x3fc0;
    assert_eq!(output[second..second + 4], [0x60, 0x0e, 0, 3]);
    assert_eq!(output[4 + 20_000 + 4..], [3, 0, 0, 4, b'e', b'n', b'd', 0, 0, 0, 5]);
    assert_eq!(pair.client.end_file(), Err(Misuse::NoFile));
    give(&mut pair.client, &[7, 0, 0, 6, 0, 2, 0, 2, 0, 0, 0]);
    assert_eq!(pair.poll(), Some(Seen::Done(2, false)));
    assert!(pair.client.is_idle());
}

#[test]
fn a_file_may_be_refused_by_an_empty_one() {
    let mut pair = asked_for_a_file(b"select 1");
    pair.client.end_file().unwrap();
    assert_eq!(pair.client.output(), [0, 0, 0, 2], "an empty packet with the next number");
    give(&mut pair.client, &[7, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(pair.poll(), Some(Seen::Done(0, false)));
    assert!(pair.client.is_idle());
}

#[test]
fn a_server_that_answers_before_the_file_has_ended_loses_the_connection() {
    let mut pair = asked_for_a_file(b"load data local infile '/etc/passwd' into table t");
    give(&mut pair.client, &[7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]);
    let state = "the file that it asked for";
    assert_eq!(pair.poll(), Some(Seen::Failure(Failure::Unexpected { state, got: 0 })));
    let mut pair = asked_for_a_file(b"load data local infile '/etc/passwd' into table t");
    give(&mut pair.client, b"\x0a\0\0\x02\xff\x1d\x04#HY000x");
    assert_eq!(pair.poll(), Some(Seen::Error(1053)));
    assert!(pair.client.is_closed());
}

#[test]
fn statements_that_the_server_leaves_unfinished_end_in_an_error() {
    // OK with more to come, the last OK, and the ping's.
    let (more, last) = (&[0, 1, 0, 10, 0, 0, 0][..], &[0, 1, 0, 2, 0, 0, 0][..]);
    let packet = |number: u8, payload: &[u8]| [&[payload.len() as u8, 0, 0, number], payload].concat();
    let ping = packet(1, last);
    for (answers, seen) in [
        (vec![packet(1, more), packet(2, last), ping.clone()], [Seen::Done(1, true), Seen::Done(1, false)]),
        (vec![packet(1, more), ping.clone()], [Seen::Done(1, true), Seen::Error(1317)]),
    ] {
        let mut pair = connected(true);
        pair.client.query_statements(b"update t set a = 1;update t set a = 2").unwrap();
        answers.iter().for_each(|answer| give(&mut pair.client, answer));
        for expected in seen {
            assert_eq!(pair.poll(), Some(expected));
        }
        assert_eq!(pair.poll(), Some(Seen::Done(1, false)));
        assert!(pair.client.is_idle());
    }
}

#[test]
fn refuses_what_has_no_place() {
    for (bytes, what) in [
        (&[1, 0, 0, 2, 0][..], "sequence"),
        (&[1, 0, 0, 1, 0], "short OK"),
        (&[0, 0, 0, 1], "empty"),
        (&[2, 0, 0, 1, 2, 0], "column count with a tail"),
        (&[9, 0, 0, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "column count beyond reason"),
    ] {
        let mut pair = connected(true);
        pair.client.query(b"x").unwrap();
        give(&mut pair.client, bytes);
        assert!(matches!(pair.poll(), Some(Seen::Failure(_))), "{what}");
        assert!(pair.client.is_closed());
        assert!(pair.client.query(b"x").is_err());
    }
    // A message that nobody asked for.
    let mut pair = connected(true);
    give(&mut pair.client, &[1, 0, 0, 1, 0]);
    assert!(matches!(pair.poll(), Some(Seen::Failure(_))));
}
