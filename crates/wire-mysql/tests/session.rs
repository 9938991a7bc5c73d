//! Session state that the server tells of, and another login on the same connection.

mod support;

use rowferry_wire::{Core as _, Secret};
use rowferry_wire_mysql::client::Options;
use rowferry_wire_mysql::messages::attributes::Attributes;
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::{Login, capability};
use rowferry_wire_mysql::messages::session_state::StateChange;
use rowferry_wire_mysql::messages::statement::{Params, StatementId};
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, status_flag};
use support::{answer, column, connected, error, ok, requests};

fn telling(header: u8, status: u16, changes: &[StateChange<'_>]) -> Vec<u8> {
    let mut state = Vec::new();
    for change in changes {
        change.encode(&mut state);
    }
    let status = status | status_flag::SESSION_STATE_CHANGED;
    let mut payload = Vec::new();
    OkPacket { status, state, info: "Rows matched: 1".into(), ..OkPacket::default() }.encode(header, &mut payload);
    payload
}

#[test]
fn changes_are_kept_until_the_next() {
    let (mut client, _) = connected(capability::SESSION_TRACK);
    client.query(b"use shop").unwrap();
    let variable = StateChange::Variable { name: b"autocommit", value: b"OFF" };
    let told = telling(OkPacket::HEADER, 0, &[StateChange::Schema(b"shop"), variable, StateChange::Gtids(b"u:1")]);
    assert_eq!(answer(&mut client, &[told]), ["done false"]);
    let state = &client.session().state;
    assert_eq!((state.schema.as_deref(), state.gtids.as_deref()), (Some("shop"), Some("u:1")));
    assert_eq!(state.variables["autocommit"], "OFF");
    let revision = state.revision;
    // An answer without changes changes nothing.
    client.ping().unwrap();
    assert_eq!(answer(&mut client, &[ok(OkPacket::HEADER, 2)]), ["done false"]);
    assert_eq!(client.session().state.revision, revision);
    // The end of rows tells, too.
    client.query(b"select").unwrap();
    let end = telling(OkPacket::END_HEADER, 2, &[StateChange::TransactionState(b"T_______")]);
    assert_eq!(answer(&mut client, &[vec![1], column("a"), end]), ["columns a", "end false"]);
    let state = &client.session().state;
    assert_eq!(state.transaction_state.as_deref(), Some("T_______"));
    assert_eq!(state.schema.as_deref(), Some("shop"));
    assert!(state.revision > revision);
}

#[test]
fn what_is_no_change_is_refused() {
    let (mut client, _) = connected(capability::SESSION_TRACK);
    client.query(b"use shop").unwrap();
    // The length of the entry goes beyond the state.
    let payload = [0, 0, 0, 0x00, 0x40, 0, 0, 0, 3, 1, 9, 4].to_vec();
    assert!(answer(&mut client, &[payload])[0].starts_with("failure"));
    assert!(client.is_closed());
}

#[test]
fn another_user_logs_in_on_the_same_connection() {
    let (mut client, _) = connected(capability::SESSION_TRACK);
    client.query(b"use shop").unwrap();
    answer(&mut client, &[telling(OkPacket::HEADER, 0, &[StateChange::Schema(b"shop")])]);
    client.sent(client.output().len());
    let login = Login { user: "ann".into(), password: Secret::new(""), database: "home".into() };
    client.change_user(Options { login, attributes: Vec::new(), ..Options::default() }).unwrap();
    assert!(client.query(b"x").is_err(), "not in yet");
    let expected = b"\x11ann\0\0home\0\x2d\0caching_sha2_password\0\0";
    assert_eq!(client.output()[4..], expected[..]);
    client.sent(client.output().len());
    assert_eq!(client.session().state.schema, None);
    assert_eq!(answer(&mut client, &[ok(OkPacket::HEADER, 2)]), ["Connected"]);
    client.ping().unwrap();
    assert_eq!(answer(&mut client, &[ok(OkPacket::HEADER, 2)]), ["done false"]);
}

#[test]
fn a_refused_user_ends_the_connection() {
    let (mut client, _) = connected(0);
    client.ping().unwrap();
    assert!(client.change_user(Options::default()).is_err(), "an answer is awaited");
    answer(&mut client, &[ok(OkPacket::HEADER, 2)]);
    client.change_user(Options::default()).unwrap();
    assert_eq!(answer(&mut client, &[error(1045)])[..1], ["error 1045"]);
    assert!(client.is_closed());
}

#[test]
fn attributes_travel_with_every_statement() {
    let (mut client, mut server) = connected(capability::QUERY_ATTRIBUTES);
    assert!(client.takes_attributes());
    // Where the server takes some, their absence is told, too.
    client.query(b"q").unwrap();
    let mut params = Params::default();
    params.int(5);
    client.execute(StatementId(1), &params).unwrap();
    client.execute(StatementId(1), &Params::default()).unwrap();
    let mut attributes = Attributes::default();
    attributes.add(b"trace").text(b"abc");
    attributes.add(b"none").null();
    client.set_attributes(attributes);
    client.query(b"q").unwrap();
    client.execute(StatementId(1), &params).unwrap();
    client.set_attributes(Attributes::default());
    client.query(b"q").unwrap();
    let asked = requests(&mut client, &mut server);
    assert_eq!(asked[0], (Command::QUERY, b"\0\x01q".to_vec()));
    let five = 5_u64.to_le_bytes();
    let head = [1, 0, 0, 0];
    assert_eq!(asked[1].1, [&head[..], &[8, 1, 0, 0, 0, 1, 0, 1, 8, 0, 0], &five].concat());
    assert_eq!(asked[2].1, [&head[..], &[8, 1, 0, 0, 0, 0]].concat());
    let named = b"\xfd\0\x05trace\x06\0\x04none";
    assert_eq!(asked[3].1, [&b"\x02\x01\x02\x01"[..], named, b"\x03abcq"].concat());
    let expected = [&head[..], &[8, 1, 0, 0, 0, 3, 0b100, 1, 8, 0, 0], named, &five, b"\x03abc"].concat();
    assert_eq!(asked[4].1, expected);
    assert_eq!(asked[5].1, b"\0\x01q");
    // Where it takes none, none are sent.
    let (mut client, mut server) = connected(0);
    let mut attributes = Attributes::default();
    attributes.add(b"trace").int(1);
    client.set_attributes(attributes);
    assert!(!client.takes_attributes());
    client.query(b"q").unwrap();
    assert_eq!(requests(&mut client, &mut server)[0].1, b"q");
}
