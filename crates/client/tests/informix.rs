//! The blocking Informix connection against a scripted server on a socket, with and without faults on the way.

// Tests are the outside world.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::net::SocketAddr;
use std::time::Duration;

use rowferry_client::informix::{Config, Connection, Error};
use rowferry_client::{Error as Transport, Url, Waiting};
use rowferry_testkit::proxy::{self, Fault, From};
use rowferry_testkit::sqli::{Answer, Column, Script, listen, rows};
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::values::Cell;

const SELECT: &str = "select id, name from customers";
const ROWS: i64 = 20_000;

fn script() -> Script {
    let columns = [Column::new("id", TypeCode::BIGINT, 8), Column::new("name", TypeCode::CHAR, 6)];
    let cells: Vec<Vec<Cell<'_>>> = (0..ROWS).map(|id| vec![Cell::Int(id), Cell::Text(b"Ada")]).collect();
    Script::default().on(SELECT, rows(&columns, &cells)).on("insert", Answer::UniqueExcept(-1))
}

fn config(address: SocketAddr) -> Config {
    let url = Url::parse(&format!("informix://ada:secret@{address}/store?connect_timeout=5&read_timeout=5")).unwrap();
    Config::from_url(&url).unwrap()
}

fn all_rows(connection: &mut Connection) -> Result<(), Error> {
    let result = connection.query(SELECT)?;
    assert_eq!(result.rows.len(), ROWS as usize);
    for (id, row) in result.rows.iter().enumerate() {
        assert_eq!(row[..], [Some(id.to_string()), Some("Ada".into())]);
    }
    Ok(())
}

#[test]
fn runs_queries_and_changes() {
    let (address, seen) = listen(script()).unwrap();
    let mut connection = Connection::connect(&config(address)).unwrap();
    all_rows(&mut connection).unwrap();
    let result = connection.query("insert").unwrap();
    assert_eq!((result.affected_rows, result.serial, result.columns.len()), (1, 7, 0));
    let Err(Error::Server(error)) = connection.query("nonsense") else { panic!("nonsense is carried out") };
    assert_eq!(error.sqlcode, -201);
    all_rows(&mut connection).unwrap();
    connection.close().unwrap();
    assert_eq!(seen.lock().unwrap().prepared, [SELECT, "insert", "nonsense"]);
}

#[test]
fn pieces_of_the_network_do_not_matter() {
    let (address, _) = listen(script()).unwrap();
    let split = proxy::start(address, vec![(From::Client, Fault::Split(1)), (From::Server, Fault::Split(7))]).unwrap();
    let mut connection = Connection::connect(&config(split)).unwrap();
    all_rows(&mut connection).unwrap();
}

#[test]
fn a_connection_cut_anywhere_ends_in_an_error() {
    let (address, _) = listen(script()).unwrap();
    // Within the login, between its packets, within rows.
    for cut in [0, 1, 3, 200, 236, 250, 300, 420, 5_000, 100_000] {
        let cutting = proxy::start(address, vec![(From::Server, Fault::CutAfter(cut))]).unwrap();
        let outcome = Connection::connect(&config(cutting)).and_then(|mut connection| all_rows(&mut connection));
        assert!(
            matches!(outcome, Err(Error::Transport(Transport::Closed | Transport::Io(..)))),
            "cut after {cut}: {outcome:?}"
        );
    }
}

#[test]
fn a_server_that_falls_silent_ends_in_a_time_out() {
    let (address, _) = listen(script()).unwrap();
    for silence in [0, 230, 5_000] {
        let silent = proxy::start(address, vec![(From::Server, Fault::SilentAfter(silence))]).unwrap();
        let mut config = config(silent);
        config.timeouts.read = Some(Duration::from_millis(50));
        let outcome = Connection::connect(&config).and_then(|mut connection| all_rows(&mut connection));
        assert!(
            matches!(outcome, Err(Error::Transport(Transport::TimedOut(Waiting::Read)))),
            "silent after {silence}: {outcome:?}"
        );
    }
}

#[test]
fn garbled_bytes_end_in_an_error_or_another_value_but_never_in_a_hang() {
    let (address, _) = listen(script()).unwrap();
    for at in (0..600).step_by(7) {
        let garbling = proxy::start(address, vec![(From::Server, Fault::Garble(at, 0xee))]).unwrap();
        let mut config = config(garbling);
        config.timeouts.read = Some(Duration::from_millis(100));
        // A byte of a name or a number may be another one; what must not happen is a panic or a wait without end.
        let _ = Connection::connect(&config).and_then(|mut connection| connection.query(SELECT));
    }
}

#[test]
fn an_address_without_a_server_is_an_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(matches!(Connection::connect(&config(free)), Err(Error::Transport(_))));
    let url = Url::parse("informix://h/db?sevrer=x").unwrap();
    assert!(matches!(Config::from_url(&url), Err(Error::Misuse(message)) if message.contains("sevrer")));
}
