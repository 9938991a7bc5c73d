//! Prepared statements: one write for preparation and execution, columns that the server leaves out.

mod support;

use rowferry_wire_mysql::client::Client;
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::capability;
use rowferry_wire_mysql::messages::statement::{Params, StatementId};
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, status_flag};
use support::{answer, column, connected, error, ok, prepare_ok, requests, row};

const END: u8 = OkPacket::END_HEADER;
const CACHES: u64 = capability::MARIADB_BULK | capability::MARIADB_CACHE_METADATA;
const STATEMENT: StatementId = StatementId(3);

fn prepared(columns: &[&str]) -> Client {
    let (mut client, _) = connected(CACHES);
    client.prepare(b"x").unwrap();
    let mut payloads = vec![prepare_ok(STATEMENT.0, columns.len() as u16, 0)];
    payloads.extend(columns.iter().map(|name| column(name)));
    assert_eq!(answer(&mut client, &payloads), ["prepared 3"]);
    client
}

fn executed(client: &mut Client, payloads: &[Vec<u8>]) -> Vec<String> {
    client.execute(STATEMENT, &Params::default()).unwrap();
    answer(client, payloads)
}

#[test]
fn only_mariadb_executes_the_last_prepared() {
    assert!(!connected(0).0.executes_last_prepared());
    assert!(connected(CACHES).0.executes_last_prepared());
    assert!(connected(capability::MARIADB_BULK).0.executes_last_prepared());
}

#[test]
fn the_answers_to_one_write_are_told_apart() {
    let (mut client, mut server) = connected(CACHES);
    client.prepare(b"select 1").unwrap();
    client.execute(StatementId::LAST_PREPARED, &Params::default()).unwrap();
    let asked = requests(&mut client, &mut server);
    assert_eq!(asked[0], (Command::STMT_PREPARE, b"select 1".to_vec()));
    assert_eq!(asked[1], (Command::STMT_EXECUTE, vec![0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0, 0]));
    assert_eq!(answer(&mut client, &[prepare_ok(9, 1, 0), column("a")]), ["prepared 9"]);
    // The execution's columns are those of the preparation.
    let seen = answer(&mut client, &[vec![1, 0], row(1), ok(END, 2)]);
    assert_eq!(seen, ["columns a", "row", "end false"]);
    assert!(client.is_idle());
}

#[test]
fn a_refused_preparation_leaves_the_connection_usable() {
    let (mut client, _) = connected(CACHES);
    client.prepare(b"nonsense").unwrap();
    client.execute(StatementId::LAST_PREPARED, &Params::default()).unwrap();
    assert_eq!(answer(&mut client, &[error(1064)]), ["error 1064"]);
    assert_eq!(answer(&mut client, &[error(1243)]), ["error 1243"]);
    assert!(client.is_idle());
}

#[test]
fn columns_left_out_are_those_that_came_last() {
    let mut client = prepared(&["a"]);
    assert_eq!(executed(&mut client, &[vec![1, 0], row(1), ok(END, 2)]), ["columns a", "row", "end false"]);
    // The table was altered: the new columns come, and count from then on.
    let changed = [vec![2, 1], column("a"), column("b"), ok(END, 2)];
    assert_eq!(executed(&mut client, &changed), ["columns a,b", "end false"]);
    assert_eq!(executed(&mut client, &[vec![2, 0], ok(END, 2)]), ["columns a,b", "end false"]);
    // Columns count even when their rows end in an error.
    assert_eq!(executed(&mut client, &[vec![1, 1], column("c"), error(1317)]), ["columns c", "error 1317"]);
    assert_eq!(executed(&mut client, &[vec![1, 0], ok(END, 2)]), ["columns c", "end false"]);
}

#[test]
fn columns_that_the_preparation_did_not_tell_are_kept_from_an_execution() {
    let mut client = prepared(&[]);
    assert_eq!(executed(&mut client, &[vec![1, 1], column("a"), error(1317)]), ["columns a", "error 1317"]);
    assert_eq!(executed(&mut client, &[vec![1, 0], ok(END, 2)]), ["columns a", "end false"]);
}

#[test]
fn results_inside_a_procedure_are_not_taken_for_its_out_parameters() {
    let (more, out) = (status_flag::MORE_RESULTS, status_flag::PS_OUT_PARAMS);
    let mut client = prepared(&[]);
    let first = [
        vec![1, 1],
        column("inner"),
        ok(END, more),
        vec![1, 1],
        column("out"),
        row(7),
        ok(END, more | out),
        ok(OkPacket::HEADER, 2),
    ];
    assert_eq!(
        executed(&mut client, &first),
        ["columns inner", "end true", "columns out", "row", "end true", "done false"]
    );
    let second =
        [vec![1, 1], column("inner"), ok(END, more), vec![1, 0], row(7), ok(END, more | out), ok(OkPacket::HEADER, 2)];
    assert_eq!(
        executed(&mut client, &second),
        ["columns inner", "end true", "columns out", "row", "end true", "done false"]
    );
}

#[test]
fn columns_that_nobody_knows_are_refused() {
    let mut client = prepared(&["a"]);
    assert_eq!(executed(&mut client, &[vec![2, 0]]), ["failure: malformed message: columns that were never sent"]);
    // A query's columns are never left out.
    let mut client = prepared(&["a"]);
    client.query(b"select").unwrap();
    assert!(answer(&mut client, &[vec![1, 0]])[0].starts_with("failure"));
    // A statement that was closed is none.
    let mut client = prepared(&["a"]);
    client.close_statement(STATEMENT).unwrap();
    assert!(executed(&mut client, &[vec![1, 0]])[0].starts_with("failure"));
}

#[test]
fn without_the_capability_the_count_stands_alone() {
    let (mut client, _) = connected(capability::MARIADB_BULK);
    client.query(b"select").unwrap();
    assert_eq!(answer(&mut client, &[vec![1], column("a"), ok(END, 2)]), ["columns a", "end false"]);
    client.query(b"select").unwrap();
    assert!(answer(&mut client, &[vec![1, 1]])[0].starts_with("failure"));
}

#[test]
fn pieces_of_a_value_go_before_the_execution_and_are_not_answered() {
    let (mut client, mut server) = connected(0);
    client.send_long_data(STATEMENT, 1, b"ab").unwrap();
    client.send_long_data(STATEMENT, 1, b"").unwrap();
    let mut params = Params::default();
    params.int(7);
    params.long(false);
    params.set_long(1, true);
    client.execute(STATEMENT, &params).unwrap();
    assert_eq!(client.awaited(), 1);
    let asked = requests(&mut client, &mut server);
    assert_eq!(asked[0], (Command::STMT_SEND_LONG_DATA, vec![3, 0, 0, 0, 1, 0, b'a', b'b']));
    assert_eq!(asked[1], (Command::STMT_SEND_LONG_DATA, vec![3, 0, 0, 0, 1, 0]));
    let execution = [&[3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0, 0xfd, 0][..], &7_u64.to_le_bytes()].concat();
    assert_eq!(asked[2], (Command::STMT_EXECUTE, execution));
    assert_eq!(answer(&mut client, &[error(1105)]), ["error 1105"]);
    // The pieces are given up.
    client.reset_statement(STATEMENT).unwrap();
    assert_eq!(requests(&mut client, &mut server), [(Command::STMT_RESET, vec![3, 0, 0, 0])]);
    assert_eq!(answer(&mut client, &[ok(OkPacket::HEADER, 2)]), ["done false"]);
    assert!(client.is_idle());
}
