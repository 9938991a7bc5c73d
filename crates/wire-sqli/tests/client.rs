//! The client's conversations, against a scripted server in memory, in pieces of one byte and whole.

use std::sync::Arc;

use rowferry_testkit::Pair;
use rowferry_testkit::sqli::{Answer, Column, Script, Seen, Server, rows};
use rowferry_wire::Core;
use rowferry_wire_sqli::client::{
    Client, Event, Failure, FileEvent, Misuse, Options, Outcome, Params, Prepared, SqlError,
};
use rowferry_wire_sqli::messages::{Param, ParamValue, ServerError};
use rowferry_wire_sqli::values::Cell;
use rowferry_wire_sqli::{Capabilities, Capability, StatementType, TypeCode};

type Joined = Pair<Client, Server>;

/// What an operation led to, in memory of its own.
#[derive(Debug)]
enum Said {
    Connected,
    Challenge(Vec<u8>),
    Prepared(Arc<Prepared>),
    BatchReady,
    Done(Vec<Vec<String>>, Outcome),
    Error(SqlError),
    RowFailed(SqlError),
}

/// Polls until something other than a row comes; panics when the conversation stalls.
fn next(pair: &mut Joined, prepared: Option<&Arc<Prepared>>) -> Result<Said, Failure> {
    let mut rows = Vec::new();
    loop {
        let event = match pair.client.poll()? {
            Event::Pending => {
                assert!(pair.advance(), "the conversation stalls");
                continue;
            }
            Event::Row(payload) => {
                let mut row = Vec::new();
                prepared.unwrap().decode_row(payload, |_, cell| row.push(show(&cell))).unwrap();
                rows.push(row);
                continue;
            }
            Event::Connected => Said::Connected,
            Event::Challenge { text, .. } => Said::Challenge(text),
            Event::Prepared(prepared) => Said::Prepared(prepared),
            Event::BatchReady => Said::BatchReady,
            Event::Done(outcome) => Said::Done(std::mem::take(&mut rows), outcome),
            Event::Error(error) => Said::Error(error),
            Event::RowFailed(error) => Said::RowFailed(error),
            other => panic!("not scripted: {other:?}"),
        };
        return Ok(event);
    }
}

fn show(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "NULL".into(),
        Cell::Int(value) => value.to_string(),
        Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}

fn options() -> Options {
    let mut options = Options::new(b"informix", b"in4mix", b"informix").with_environment(b"en_US.utf8", &[]);
    options.database = Some(b"store".to_vec());
    options
}

fn connect_with(script: Script, options: Options, piece: usize) -> Joined {
    let mut pair = Pair::new(Client::new(options).unwrap(), Server::new(Arc::new(script)));
    pair.piece = piece;
    assert!(matches!(next(&mut pair, None), Ok(Said::Connected)));
    pair
}

fn connect(script: Script) -> Joined {
    connect_with(script, options(), usize::MAX)
}

fn ints(values: &[i64]) -> Params {
    let mut params = Params::default();
    for &value in values {
        params.push(&Param::new(TypeCode::BIGINT, 0x1300, ParamValue::BigInt(value))).unwrap();
    }
    params
}

/// A statement, the rows of its first fetch, and what it did.
type Ran = (Arc<Prepared>, Vec<Vec<String>>, Outcome);

/// Prepares and runs; the rows of the first fetch, or the error.
fn run(pair: &mut Joined, sql: &str, values: &[i64], begin: bool) -> Result<Ran, SqlError> {
    pair.client.prepare(sql.as_bytes(), values.len() as u16).unwrap();
    let mut prepared = None;
    loop {
        match next(pair, prepared.as_ref()).unwrap() {
            Said::Prepared(statement) => {
                pair.client.run(&ints(values), begin).unwrap();
                prepared = Some(statement);
            }
            Said::Done(rows, outcome) => return Ok((prepared.unwrap(), rows, outcome)),
            Said::Error(error) => return Err(error),
            other => panic!("{other:?}"),
        }
    }
}

/// Sends what waits for the next operation, and looks at the server.
fn seen(pair: &mut Joined) -> Seen {
    pair.client.ping().unwrap();
    assert!(matches!(next(pair, None), Ok(Said::Done(..))));
    pair.server.seen()
}

fn numbers(count: i64) -> Answer {
    let columns = [Column::new("n", TypeCode::BIGINT, 8), Column::new("t", TypeCode::VARCHAR, 20)];
    let cells: Vec<Vec<Cell<'_>>> = (0..count).map(|n| vec![Cell::Int(n), Cell::Text(b"row")]).collect();
    rows(&columns, &cells)
}

fn error(sqlcode: i16, isam: i16) -> ServerError<'static> {
    ServerError { sqlcode, isam, offset: 3, token: b"thing"[..].into() }
}

const SELECT: &str = "select n, t from numbers";

#[test]
fn connects_and_leaves_in_pieces_of_any_size() {
    for piece in [1, 2, 7, usize::MAX] {
        let mut pair = connect_with(Script::default(), options(), piece);
        let session = pair.client.session();
        assert!(session.logged && !session.in_transaction);
        assert_eq!(session.server_version, b"Informix script");
        assert!(pair.client.widths().long_rowid);
        pair.client.exit().unwrap();
        assert!(matches!(next(&mut pair, None), Ok(Said::Done(..))));
        assert!(pair.client.is_closed() && pair.server.seen().exited);
    }
}

#[test]
fn obeys_the_capabilities_of_both_sides() {
    for (capabilities, offer, long_rowid) in [
        (Capabilities::server_15(), Capabilities::client_offer(), true),
        (Capabilities::server_12(), Capabilities::client_offer(), false),
        (Capabilities::server_15(), Capabilities::new(&Capabilities::client_offer().as_bytes()[..8]), false),
        (Capabilities::server_15().with(Capability::LONG_SQL, false), Capabilities::client_offer(), true),
        (Capabilities::server_15().with(Capability::BIGINT, false), Capabilities::client_offer(), true),
    ] {
        let script =
            Script { capabilities, ..Script::default() }.on(SELECT, numbers(3)).on("insert", Answer::UniqueExcept(9));
        let mut pair = connect_with(script, Options { offer, ..options() }, usize::MAX);
        assert_eq!(pair.client.widths().long_rowid, long_rowid);
        let (_, rows, outcome) = run(&mut pair, SELECT, &[], false).unwrap();
        assert_eq!((rows.len(), outcome.rows, outcome.more), (3, 3, false));
        let (_, _, outcome) = run(&mut pair, "insert", &[1], false).unwrap();
        assert_eq!((outcome.rows, outcome.serial), (1, 7));
        assert_eq!(run(&mut pair, "insert", &[9], false).unwrap_err().sqlcode, -268);
    }
}

#[test]
fn a_wrong_password_and_an_unknown_database_end_the_connection() {
    let script = Script { password: Some("other".into()), ..Script::default() };
    let mut pair = Pair::new(Client::new(options()).unwrap(), Server::new(Arc::new(script)));
    assert!(matches!(next(&mut pair, None), Ok(Said::Error(SqlError { sqlcode: -951, .. }))));
    assert!(pair.client.is_closed());
    let script = Script { databases: vec!["other".into()], ..Script::default() };
    let mut pair = Pair::new(Client::new(options()).unwrap(), Server::new(Arc::new(script)));
    let Ok(Said::Error(refused)) = next(&mut pair, None) else { panic!("the database is not there") };
    assert_eq!((refused.sqlcode, refused.isam, &refused.token[..]), (-329, -111, &b"store"[..]));
    assert!(matches!(pair.client.prepare(b"x", 0), Err(Misuse::Closed)));
}

#[test]
fn answers_the_questions_of_pam() {
    let script = || Script {
        capabilities: Capabilities::server_15().with(Capability::PAM, true),
        challenge: Some(("Password: ".into(), "secret".into())),
        ..Script::default()
    };
    let mut pair = Pair::new(Client::new(options()).unwrap(), Server::new(Arc::new(script())));
    assert!(matches!(next(&mut pair, None), Ok(Said::Challenge(text)) if text == b"Password: "));
    pair.client.answer(b"secret").unwrap();
    assert!(matches!(next(&mut pair, None), Ok(Said::Connected)));
    let mut pair = Pair::new(Client::new(options()).unwrap(), Server::new(Arc::new(script())));
    assert!(matches!(next(&mut pair, None), Ok(Said::Challenge(_))));
    pair.client.answer(b"guess").unwrap();
    assert!(matches!(next(&mut pair, None), Ok(Said::Error(SqlError { sqlcode: -951, .. }))));
}

#[test]
fn fetches_in_batches_and_leaves_no_cursor() {
    for piece in [3, usize::MAX] {
        let mut pair = connect_with(
            Script::default().on(SELECT, numbers(1000)),
            Options { fetch_bytes: 4096, ..options() },
            piece,
        );
        let (prepared, mut all, mut outcome) = run(&mut pair, SELECT, &[], false).unwrap();
        assert_eq!(prepared.columns[1].name, b"t");
        while outcome.more {
            pair.client.fetch(&prepared).unwrap();
            let Ok(Said::Done(rows, next)) = next(&mut pair, Some(&prepared)) else { panic!("a fetch fails") };
            assert!(!rows.is_empty());
            all.extend(rows);
            outcome = next;
        }
        assert_eq!(all.len(), 1000);
        assert!(all.iter().enumerate().all(|(n, row)| row[0] == n.to_string() && row[1] == "row"));
        let seen = seen(&mut pair);
        assert!(seen.fetches > 2);
        // The statement is kept for the next time.
        assert_eq!((seen.cursors, seen.statements), (0, 1));
    }
}

#[test]
fn a_cursor_that_is_given_up_is_closed() {
    let mut pair =
        connect_with(Script::default().on(SELECT, numbers(1000)), Options { fetch_bytes: 64, ..options() }, usize::MAX);
    let (prepared, rows, outcome) = run(&mut pair, SELECT, &[], false).unwrap();
    assert!(!rows.is_empty() && outcome.more);
    pair.client.close(&prepared);
    let seen = seen(&mut pair);
    assert_eq!((seen.cursors, seen.statements), (0, 1));
}

#[test]
fn several_statements_are_open_at_once() {
    let script = Script::default().on(SELECT, numbers(100)).on("select other", numbers(50));
    let mut pair = connect_with(script, Options { fetch_bytes: 200, ..options() }, usize::MAX);
    let mut cursors = Vec::new();
    // The same text twice: a statement with an open cursor is not run again.
    for sql in [SELECT, "select other", SELECT] {
        let (prepared, rows, outcome) = run(&mut pair, sql, &[], false).unwrap();
        assert!(outcome.more);
        cursors.push((prepared, rows.len()));
    }
    assert_eq!(cursors.iter().map(|(prepared, _)| prepared.statement.0).collect::<Vec<_>>(), [0, 1, 2]);
    let mut open = true;
    while open {
        open = false;
        for (prepared, count) in &mut cursors {
            if pair.client.fetch(prepared).is_ok() {
                match next(&mut pair, Some(prepared)).unwrap() {
                    Said::Done(rows, outcome) => {
                        *count += rows.len();
                        open |= outcome.more;
                    }
                    // Fetched again after its end, as this loop does.
                    Said::Error(error) => assert_eq!(error.sqlcode, -259),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    assert_eq!(cursors.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [100, 50, 100]);
}

#[test]
fn a_statement_run_again_is_not_prepared_again() {
    let mut pair = connect(Script::default().on(SELECT, numbers(1)));
    for _ in 0..5 {
        assert_eq!(run(&mut pair, SELECT, &[], false).unwrap().1.len(), 1);
    }
    let kept = seen(&mut pair);
    assert_eq!((kept.prepared.len(), kept.executed.len(), kept.statements), (1, 5, 1));
    // None are kept when none are wanted, and the longest unused go first.
    let script = || (0..10).fold(Script::default(), |script, n| script.on(&format!("q{n}"), numbers(1)));
    for (keep, left) in [(0, 0), (3, 3)] {
        let mut pair = connect_with(script(), Options { kept_statements: keep, ..options() }, usize::MAX);
        for n in 0..10 {
            run(&mut pair, &format!("q{n}"), &[], false).unwrap();
        }
        assert_eq!(seen(&mut pair).statements, left);
    }
}

#[test]
fn a_failed_statement_is_released() {
    let script = Script::default()
        .on("bad syntax", Answer::FailPrepare(error(-201, 0)))
        .on("bad run", Answer::FailRun(error(-1213, 0)))
        .on("bad fetch", Answer::FailFetch(error(-244, -107)))
        .on("insert", Answer::UniqueExcept(9));
    let mut pair = connect(script);
    let failed = run(&mut pair, "bad syntax", &[], false).unwrap_err();
    assert_eq!((failed.sqlcode, failed.isam, failed.offset, &failed.token[..]), (-201, 0, 3, &b"thing"[..]));
    assert_eq!(run(&mut pair, "bad run", &[], false).unwrap_err().sqlcode, -1213);
    assert_eq!(run(&mut pair, "insert", &[9], false).unwrap_err().isam, -100);
    let (prepared, rows, outcome) = run(&mut pair, "bad fetch", &[], false).unwrap();
    assert!(rows.len() == 1 && outcome.more);
    pair.client.fetch(&prepared).unwrap();
    assert!(matches!(next(&mut pair, Some(&prepared)), Ok(Said::Error(SqlError { sqlcode: -244, .. }))));
    // Given up before it ran, because a parameter could not be encoded.
    pair.client.prepare(b"bad run", 0).unwrap();
    assert!(matches!(next(&mut pair, None), Ok(Said::Prepared(_))));
    pair.client.abandon();
    assert!(pair.client.is_idle());
    let seen = seen(&mut pair);
    // Only the last one is kept: it has done no wrong.
    assert_eq!((seen.statements, seen.cursors), (1, 0));
}

#[test]
fn begins_a_transaction_when_the_first_statement_runs() {
    let script = Script::default()
        .on(SELECT, numbers(1))
        .on("insert", Answer::UniqueExcept(9))
        .on("begin work", Answer::Affected(StatementType::BEGIN_WORK, 0))
        .on("commit work", Answer::Affected(StatementType::COMMIT_WORK, 0));
    let mut pair = connect(script);
    run(&mut pair, SELECT, &[], true).unwrap();
    run(&mut pair, "insert", &[1], true).unwrap();
    assert!(pair.client.session().in_transaction);
    pair.client.commit().unwrap();
    assert!(matches!(next(&mut pair, None), Ok(Said::Done(..))));
    assert!(!pair.client.session().in_transaction);
    // What the user types is noticed by its statement type.
    run(&mut pair, "begin work", &[], true).unwrap();
    assert!(pair.client.session().in_transaction);
    run(&mut pair, "insert", &[2], true).unwrap();
    run(&mut pair, "commit work", &[], true).unwrap();
    assert!(!pair.client.session().in_transaction);
    run(&mut pair, "insert", &[3], false).unwrap();
    assert_eq!(pair.server.seen().transactions, ["begin", "commit"]);
}

#[test]
fn a_database_without_transactions_is_used_without() {
    let mut pair = connect(Script { logged: false, ..Script::default() }.on("insert", Answer::UniqueExcept(9)));
    assert!(!pair.client.session().logged);
    run(&mut pair, "insert", &[1], true).unwrap();
    assert!(!pair.client.session().in_transaction);
    // Without a database in the login nobody says so before the first transaction.
    let mut pair = connect_with(
        Script { logged: false, ..Script::default() }.on("insert", Answer::UniqueExcept(9)),
        Options { database: None, ..options() },
        usize::MAX,
    );
    assert!(pair.client.session().logged);
    run(&mut pair, "insert", &[1], true).unwrap();
    assert!(!pair.client.session().logged && !pair.client.session().in_transaction);
    assert_eq!(pair.server.seen().executed.len(), 1);
}

/// Runs a batch of numbers; the outcome, or the error.
fn batch(pair: &mut Joined, values: &[i64]) -> Result<Outcome, SqlError> {
    pair.client.prepare(b"insert", 1).unwrap();
    let mut left = values.iter();
    loop {
        match next(pair, None).unwrap() {
            Said::Prepared(_) => pair.client.start_batch(true).unwrap(),
            Said::BatchReady => loop {
                let Some(&value) = left.next() else {
                    pair.client.end_batch().unwrap();
                    break;
                };
                if !pair.client.batch(&ints(&[value])).unwrap() {
                    break;
                }
            },
            Said::Done(_, outcome) => return Ok(outcome),
            Said::Error(error) => return Err(error),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_batch_goes_in_groups_of_bounded_size() {
    let mut pair = connect(Script::default().on("insert", Answer::UniqueExcept(-1)));
    let values: Vec<i64> = (0..10_000).collect();
    let before = pair.server.seen().groups;
    assert_eq!(batch(&mut pair, &values).unwrap().rows, 10_000);
    let seen = seen(&mut pair);
    assert_eq!(seen.executed.len(), 10_000);
    assert_eq!(seen.executed[9_999], ["9999"]);
    // Twenty bytes each: a few groups, not one and not thousands.
    assert!((3..20).contains(&(seen.groups - before)), "{}", seen.groups - before);
    assert_eq!(batch(&mut pair, &[]).unwrap().rows, 0);
}

#[test]
fn rows_of_an_independent_batch_fail_alone() {
    for (piece, begin) in [(1, true), (7, false), (usize::MAX, true)] {
        let mut pair = connect_with(Script::default().on("insert", Answer::UniqueExcept(7)), options(), piece);
        let failing = [0, 1, 1500, 2999];
        let mut values = (0..3000).map(|row| if failing.contains(&row) { 7 } else { row + 10 });
        let mut failed = Vec::new();
        pair.client.prepare(b"insert", 1).unwrap();
        let outcome = loop {
            match next(&mut pair, None).unwrap() {
                Said::Prepared(_) => pair.client.start_independent_batch(begin).unwrap(),
                Said::BatchReady => match values.next() {
                    Some(value) => drop(pair.client.batch(&ints(&[value])).unwrap()),
                    None => pair.client.end_batch().unwrap(),
                },
                Said::RowFailed(error) => failed.push((error.row, error.sqlcode)),
                Said::Done(_, outcome) => break outcome,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(failed, failing.map(|row| (Some(row as u64), -268)));
        assert_eq!(outcome.rows, 2996);
        // Whatever was asked has its answer: this one gets its own.
        let seen = seen(&mut pair);
        assert_eq!((seen.executed.len(), seen.transactions.len()), (2996, usize::from(begin)));
    }
}

#[test]
fn a_batch_stays_aligned_when_a_row_fails() {
    let values: Vec<i64> = (0..5_000).collect();
    for failing in [0, 1, 1_599, 1_600, 1_601, 2_500, 4_999] {
        let mut pair = connect(Script::default().on("insert", Answer::UniqueExcept(failing)));
        let error = batch(&mut pair, &values).unwrap_err();
        assert_eq!((error.sqlcode, error.row), (-268, Some(failing as u64)));
        assert_eq!(pair.server.seen().executed.len(), failing as usize, "those before it, and none behind");
        // The connection goes on, and nothing is left behind.
        assert_eq!(batch(&mut pair, &values[..failing as usize]).unwrap().rows, failing);
        assert_eq!(seen(&mut pair).statements, 1);
    }
}

#[test]
fn a_statement_whose_table_has_changed_is_prepared_again() {
    let mut pair = connect(Script::default().on(SELECT, numbers(1)));
    run(&mut pair, SELECT, &[], false).unwrap();
    // Another server takes over, which has never heard of the kept statement: -258.
    let script = Arc::new(Script::default().on(SELECT, numbers(2)));
    let mut other = Pair::new(Client::new(options()).unwrap(), Server::new(script));
    assert!(matches!(next(&mut other, None), Ok(Said::Connected)));
    pair.server = other.server;
    assert_eq!(run(&mut pair, SELECT, &[], false).unwrap().1.len(), 2);
}

#[test]
fn a_second_operation_is_refused_while_one_is_under_way() {
    let mut pair = connect(Script::default().on(SELECT, numbers(1)));
    pair.client.prepare(SELECT.as_bytes(), 0).unwrap();
    assert_eq!(pair.client.commit(), Err(Misuse::Busy));
    assert_eq!(pair.client.prepare(b"x", 0), Err(Misuse::Busy));
    assert!(matches!(next(&mut pair, None), Ok(Said::Prepared(_))));
    pair.client.abandon();
    assert!(run(&mut pair, SELECT, &[], false).is_ok());
}

#[test]
fn a_server_that_talks_out_of_turn_or_leaves_ends_the_connection() {
    let silly: [(&[u8], &str); 5] = [
        (&[0x00, 0x63, 0x00], "closed"),
        (&[0x7f, 0xff], "unknown message tag"),
        (&[0x00, 0x0e, 0, 0, 0xff, 0xff, 0xff, 0xff], "length of a row"),
        (&[0x00, 0x67, 0x00, 0x00], "unexpected SQ_FPROUTINE"),
        (&[0x00, 0x6b, 0x00, 0x01, 0x78, 0x00], "unexpected SQ_FILE_WRITE"),
    ];
    for (bytes, words) in silly {
        let mut pair = connect(Script::default().on("insert", Answer::Raw(bytes.to_vec())));
        pair.client.prepare(b"insert", 0).unwrap();
        assert!(matches!(next(&mut pair, None), Ok(Said::Prepared(_))));
        pair.client.run(&Params::default(), false).unwrap();
        while pair.advance() {}
        pair.client.received_eof();
        let failure = loop {
            match pair.client.poll() {
                Ok(Event::Pending) => panic!("waits for a server that has left"),
                Ok(_) => {}
                Err(failure) => break failure,
            }
        };
        assert!(failure.to_string().contains(words), "{failure}: {words}");
        assert!(matches!(pair.client.poll(), Err(Failure::Closed)));
        assert_eq!(pair.client.prepare(b"x", 0), Err(Misuse::Closed));
    }
}

/// Gives bytes of the server to the client in pieces; what the client makes of them, and what it answers.
fn hear(client: &mut Client, bytes: &[u8], piece: usize) -> Vec<String> {
    let mut heard = Vec::new();
    for part in bytes.chunks(piece) {
        client.receive_space(part.len())[..part.len()].copy_from_slice(part);
        client.received(part.len());
        loop {
            match client.poll().unwrap() {
                Event::Pending => break,
                event @ Event::File(FileEvent::Open(_) | FileEvent::Read(_) | FileEvent::Close) => {
                    heard.push(format!("{event:?}"));
                    break;
                }
                event => heard.push(format!("{event:?}")),
            }
        }
    }
    heard
}

fn said(client: &mut Client) -> Vec<u8> {
    let bytes = client.output().to_vec();
    client.sent(bytes.len());
    bytes
}

#[test]
fn files_of_the_client_travel_as_on_real_servers() {
    let vectors = rowferry_testkit::vectors::load("sqli.json");
    let vector = |name: &str| &vectors.iter().find(|vector| vector.name == name).unwrap().bytes[..];
    for piece in [1, 3, usize::MAX] {
        let mut script = Script::default().on("insert", Answer::UniqueExcept(-1));
        script.capabilities = Capabilities::server_12();
        let mut pair = connect_with(script, options(), usize::MAX);
        pair.client.prepare(b"insert", 0).unwrap();
        assert!(matches!(next(&mut pair, None), Ok(Said::Prepared(_))));
        pair.client.run(&Params::default(), false).unwrap();
        let client = &mut pair.client;
        said(client);
        // The server reads one of ours.
        assert_eq!(hear(client, vector("sqfile.read.open"), piece).len(), 1);
        client.file_done().unwrap();
        assert_eq!(said(client), vector("sqfile.read.open.ack"));
        assert_eq!(hear(client, vector("sqfile.read.request"), piece), ["File(Read(None))"]);
        assert_eq!(client.file_done(), Err(Misuse::Busy));
        client.file_total(25).unwrap();
        assert!(matches!(client.poll(), Ok(Event::File(FileEvent::Wanted(25)))));
        assert!(client.file_chunk(&[b'x'; 26]).is_err());
        client.file_chunk(b"hello phase 11 blob write").unwrap();
        assert_eq!(said(client), vector("sqfile.read.data"));
        assert_eq!(hear(client, vector("sqfile.read.close"), piece), ["File(Close)"]);
        client.file_done().unwrap();
        assert_eq!(said(client), vector("sqfile.read.close.ack"));
        // It writes another.
        assert_eq!(hear(client, vector("sqfile.write.open"), piece).len(), 1);
        client.file_done().unwrap();
        said(client);
        let written = hear(client, vector("sqfile.write.data"), piece);
        assert_eq!(written, [format!("File(Write({:?}))", b"hello phase 11 blob write".to_vec())]);
        assert_eq!(said(client), vector("sqfile.write.ack"));
        assert_eq!(hear(client, vector("sqfile.write.close"), piece), ["File(Close)"]);
        client.file_done().unwrap();
        said(client);
        // The answer to the statement comes at last.
        let done = hear(client, vector("sqfile.filetoblob.execute.reply"), piece);
        assert!(done[0].starts_with("Done(Outcome { rows: 1"), "{done:?}");
        assert!(client.is_idle());
    }
}
