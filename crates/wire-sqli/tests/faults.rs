//! A whole conversation of the client, cut and garbled at every byte of what the server sends: every operation ends in
//! what it would have ended in, or in an error, and no row is ever another than the server's.
//!
//! A damaged byte inside a value cannot be noticed by anybody (TCP and TLS are there for that). What is damaged here
//! under the strict rule is what holds the conversation together: tags, lengths and counts. All other bytes are damaged
//! under the weaker rule that everything ends.

use std::sync::Arc;

use rowferry_testkit::mutate::Seeded;
use rowferry_testkit::sqli::{Answer, Column, Script, Server, rows};
use rowferry_testkit::{Pair, Peer};
use rowferry_wire::Core;
use rowferry_wire_sqli::client::{Client, Event, Options, Params, Prepared};
use rowferry_wire_sqli::messages::{Param, ParamValue, ServerError, ServerMessage};
use rowferry_wire_sqli::values::Cell;
use rowferry_wire_sqli::{Decoder, FromServer, StatementType, TypeCode};

/// What happens to the server's bytes.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// Nothing comes after so many bytes, and the connection ends.
    Cut(usize),
    /// The byte at this place becomes this one.
    Garble(usize, u8),
}

/// The server behind a wire that has a fault.
struct Faulty {
    server: Server,
    fault: Fault,
    /// Bytes that the server has sent so far.
    passed: usize,
    /// All of them, as they left the server.
    sent: Vec<u8>,
    cut: bool,
}

impl Peer for Faulty {
    fn feed(&mut self, bytes: &[u8]) {
        self.server.feed(bytes);
    }

    fn take_output(&mut self) -> Vec<u8> {
        let mut bytes = self.server.take_output();
        self.sent.extend_from_slice(&bytes);
        let start = self.passed;
        self.passed += bytes.len();
        match self.fault {
            Fault::Cut(at) if self.passed >= at => {
                bytes.truncate(at.saturating_sub(start));
                self.cut = true;
            }
            Fault::Garble(at, byte) if (start..self.passed).contains(&at) => bytes[at - start] = byte,
            _ => {}
        }
        bytes
    }
}

/// How an operation ended: its rows and their count, or an error.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Ended {
    Well(Vec<Vec<String>>),
    Refused(i16),
    Broken,
}

/// Everything that a conversation led to.
#[derive(Debug)]
struct Log {
    ended: Vec<(&'static str, Ended)>,
    /// Rows that were delivered before an error.
    partial: Vec<Vec<String>>,
    sent: Vec<u8>,
}

struct Talk {
    pair: Pair<Client, Faulty>,
    log: Log,
    /// Rows of the operation under way.
    rows: Vec<Vec<String>>,
}

/// A protocol failure, or a wait that only a time-out would end.
struct Broken;

impl Talk {
    fn say(&mut self, prepared: Option<&Arc<Prepared>>) -> Result<Said, Broken> {
        loop {
            let said = match self.pair.client.poll() {
                Err(_) => return Err(Broken),
                Ok(Event::Pending) => {
                    if self.pair.advance() {
                        continue;
                    }
                    // Nothing moves any more: the time-out of a pump, or the end of the stream.
                    assert!(!matches!(self.pair.server.fault, Fault::None), "the conversation stalls");
                    if self.pair.server.cut {
                        self.pair.client.received_eof();
                        assert!(self.pair.client.poll().is_err(), "the end of the stream is the end");
                    }
                    return Err(Broken);
                }
                Ok(Event::Row(payload)) => {
                    let mut row = Vec::new();
                    let statement = prepared.ok_or(Broken)?;
                    if statement.decode_row(payload, |_, cell| row.push(format!("{cell:?}"))).is_err() {
                        return Err(Broken);
                    }
                    self.rows.push(row);
                    continue;
                }
                Ok(Event::Connected) => Said::Connected,
                Ok(Event::Prepared(prepared)) => Said::Prepared(prepared),
                Ok(Event::BatchReady) => Said::BatchReady,
                Ok(Event::Done(outcome)) => Said::Done(outcome.rows, outcome.more),
                Ok(Event::Error(error)) => Said::Error(error.sqlcode),
                // A garbled description may be one of a type that nobody knows; its statement is over.
                Ok(Event::Unsupported(_)) => Said::Error(0),
                Ok(_) => return Err(Broken),
            };
            return Ok(said);
        }
    }

    fn note(&mut self, name: &'static str, ended: Result<Ended, Broken>) -> bool {
        let ended = ended.unwrap_or(Ended::Broken);
        let goes_on = ended != Ended::Broken;
        if !matches!(ended, Ended::Well(_)) {
            self.log.partial.append(&mut self.rows);
        }
        self.rows.clear();
        if !goes_on {
            self.pair.client.disconnect();
            assert!(self.pair.client.is_closed() && self.pair.client.ping().is_err());
        }
        self.log.ended.push((name, ended));
        goes_on
    }

    fn connect(&mut self) -> Result<Ended, Broken> {
        match self.say(None)? {
            Said::Connected => Ok(Ended::Well(Vec::new())),
            Said::Error(code) => Ok(Ended::Refused(code)),
            _ => Err(Broken),
        }
    }

    fn query(&mut self, sql: &str) -> Result<Ended, Broken> {
        self.pair.client.prepare(sql.as_bytes(), 1).map_err(|_| Broken)?;
        let mut prepared: Option<Arc<Prepared>> = None;
        loop {
            match self.say(prepared.as_ref())? {
                Said::Prepared(statement) => {
                    self.pair.client.run(&number(7), true).map_err(|_| Broken)?;
                    prepared = Some(statement);
                }
                Said::Done(_, true) => {
                    let prepared = prepared.as_ref().ok_or(Broken)?;
                    self.pair.client.fetch(prepared).map_err(|_| Broken)?;
                }
                Said::Done(_, false) => return Ok(Ended::Well(std::mem::take(&mut self.rows))),
                Said::Error(code) => return Ok(Ended::Refused(code)),
                _ => return Err(Broken),
            }
        }
    }

    fn batch(&mut self, sql: &str) -> Result<Ended, Broken> {
        self.pair.client.prepare(sql.as_bytes(), 1).map_err(|_| Broken)?;
        let mut left = 6;
        loop {
            match self.say(None)? {
                Said::Prepared(_) => self.pair.client.start_batch(true).map_err(|_| Broken)?,
                Said::BatchReady if left == 0 => self.pair.client.end_batch().map_err(|_| Broken)?,
                Said::BatchReady => {
                    left -= 1;
                    self.pair.client.batch(&number(left)).map_err(|_| Broken)?;
                }
                Said::Done(rows, _) => return Ok(Ended::Well(vec![vec![rows.to_string()]])),
                Said::Error(code) => return Ok(Ended::Refused(code)),
                Said::Connected => return Err(Broken),
            }
        }
    }

    fn simple(&mut self) -> Result<Ended, Broken> {
        match self.say(None)? {
            Said::Done(..) => Ok(Ended::Well(Vec::new())),
            Said::Error(code) => Ok(Ended::Refused(code)),
            _ => Err(Broken),
        }
    }
}

#[derive(Debug)]
enum Said {
    Connected,
    Prepared(Arc<Prepared>),
    BatchReady,
    Done(i64, bool),
    Error(i16),
}

fn number(value: i64) -> Params {
    let mut params = Params::default();
    params.push(&Param::new(TypeCode::BIGINT, 0x1300, ParamValue::BigInt(value))).unwrap();
    params
}

const SELECT: &str = "select n, t, b from numbers where n > ?";
const INSERT: &str = "insert into numbers values (?)";
const UPDATE: &str = "update numbers set n = ?";

fn script() -> Script {
    let columns = [
        Column::new("n", TypeCode::BIGINT, 8),
        Column::new("t", TypeCode::VARCHAR, 20),
        Column::new("b", TypeCode::CHAR, 5),
    ];
    let text: Vec<String> = (0..40).map(|n| "text".repeat(n % 4)).collect();
    let cells: Vec<Vec<Cell<'_>>> =
        (0..40).map(|n| vec![Cell::Int(n as i64), Cell::Text(text[n].as_bytes()), Cell::Text(b"fixed")]).collect();
    let failing = ServerError { sqlcode: -391, isam: 0, offset: 0, token: b"n"[..].into() };
    Script::default()
        .on(SELECT, rows(&columns, &cells))
        .on(INSERT, Answer::Affected(StatementType::INSERT, 1))
        .on(UPDATE, Answer::FailRun(failing))
}

/// Logs in, reads rows in several fetches, writes, fails, writes many, commits, asks and leaves.
fn converse(fault: Fault, piece: usize) -> Log {
    let mut options = Options::new(b"informix", b"in4mix", b"informix").with_environment(b"en_US.utf8", &[]);
    options.database = Some(b"store".to_vec());
    options.fetch_bytes = 300;
    let server = Server::new(Arc::new(script()));
    let faulty = Faulty { server, fault, passed: 0, sent: Vec::new(), cut: false };
    let mut pair = Pair::new(Client::new(options).unwrap(), faulty);
    pair.piece = piece;
    let log = Log { ended: Vec::new(), partial: Vec::new(), sent: Vec::new() };
    let mut talk = Talk { pair, log, rows: Vec::new() };
    type Step = fn(&mut Talk) -> Result<Ended, Broken>;
    let steps: [(&'static str, Step); 9] = [
        ("connect", Talk::connect),
        ("select", |talk| talk.query(SELECT)),
        ("insert", |talk| talk.query(INSERT)),
        ("fail", |talk| talk.query(UPDATE)),
        ("again", |talk| talk.query(SELECT)),
        ("batch", |talk| talk.batch(INSERT)),
        ("commit", |talk| {
            talk.pair.client.commit().map_err(|_| Broken)?;
            talk.simple()
        }),
        ("ping", |talk| {
            talk.pair.client.ping().map_err(|_| Broken)?;
            talk.simple()
        }),
        ("exit", |talk| {
            talk.pair.client.exit().map_err(|_| Broken)?;
            talk.simple()
        }),
    ];
    for (name, step) in steps {
        let ended = step(&mut talk);
        let goes_on = talk.note(name, ended);
        if !goes_on || talk.pair.client.is_closed() {
            break;
        }
    }
    talk.log.sent = std::mem::take(&mut talk.pair.server.sent);
    talk.log
}

/// Operations ended as without the fault, or in an error; the connection ended with the first broken one; rows of a
/// query that did not come to its end are the first of the right ones.
fn assert_honest(log: &Log, clean: &Log, what: &dyn std::fmt::Debug) {
    for ((name, ended), (_, wanted)) in log.ended.iter().zip(&clean.ended) {
        match ended {
            Ended::Well(rows) if name != &"batch" => {
                let Ended::Well(right) = wanted else { panic!("{what:?}: {name} succeeded") };
                assert_eq!(rows, right, "{what:?}: {name}");
            }
            _ => {}
        }
    }
    let Ended::Well(right) = &clean.ended[1].1 else { panic!("the clean query failed") };
    assert!(log.partial.len() <= right.len());
    assert_eq!(log.partial, right[..log.partial.len()], "{what:?}: rows before an error");
}

/// Places in the server's bytes by which the rest is found: tags, lengths of rows, counts of columns and names.
fn structure(sent: &[u8]) -> Vec<usize> {
    let mut decoder = Decoder::<FromServer>::new();
    let login = usize::from(u16::from_be_bytes([sent[0], sent[1]]));
    // The length, the type and the protocol; what it begins with.
    let mut places: Vec<usize> = (0..4).chain(6..16).collect();
    let mut at = login;
    decoder.push(&sent[login..]);
    let mut narrow = true;
    loop {
        let widths = decoder.widths();
        let active = {
            let Ok(Some(message)) = decoder.next() else { break };
            let mut encoded = Vec::new();
            message.encode(&mut encoded, widths).unwrap();
            places.extend([at, at + 1]);
            match &message {
                ServerMessage::Tuple(_) => places.extend(at + 4..at + 8),
                // Behind the type, the id, the estimate and the size of a tuple: the number of fields, the table's size.
                ServerMessage::Describe(_) => places.extend(at + 14..at + 20),
                _ => {}
            }
            at += encoded.len();
            match message {
                ServerMessage::Protocols(mask) if narrow => {
                    Some(rowferry_wire_sqli::Capabilities::client_offer().and(&mask))
                }
                _ => None,
            }
        };
        if let Some(active) = active {
            decoder.activate(&active);
            narrow = false;
        }
    }
    assert_eq!(at, sent.len(), "the walk has lost its way");
    places
}

#[test]
fn pieces_of_any_size_lead_to_the_same() {
    let clean = converse(Fault::None, usize::MAX);
    assert_eq!(clean.ended.len(), 9);
    assert!(matches!(&clean.ended[1].1, Ended::Well(rows) if rows.len() == 40));
    assert_eq!(clean.ended[3].1, Ended::Refused(-391));
    for piece in [1, 2, 3, 5, 8, 64] {
        assert_eq!(converse(Fault::None, piece).ended, clean.ended, "{piece}");
    }
}

#[test]
fn a_wire_that_is_cut_at_any_byte_ends_in_an_error() {
    let clean = converse(Fault::None, usize::MAX);
    for at in 0..clean.sent.len() {
        let log = converse(Fault::Cut(at), usize::MAX);
        assert_honest(&log, &clean, &("cut", at));
        let broken = log.ended.last().is_some_and(|(_, ended)| *ended == Ended::Broken);
        assert!(broken, "cut at {at}: {:?}", log.ended.last());
    }
}

#[test]
fn garbled_tags_lengths_and_counts_never_yield_a_wrong_row() {
    let clean = converse(Fault::None, usize::MAX);
    let mut seeded = Seeded::new(99);
    let places = structure(&clean.sent);
    assert!(places.len() > 200);
    for at in places {
        let right = clean.sent[at];
        let mut bytes = vec![0, 0x0c, 0x0d, 0x0e, 0x0f, 0xff, right ^ 1];
        bytes.push(seeded.next_u64() as u8);
        for byte in bytes.into_iter().filter(|&byte| byte != right) {
            let log = converse(Fault::Garble(at, byte), usize::MAX);
            assert_honest(&log, &clean, &(at, right, byte));
        }
    }
}

#[test]
fn any_garbled_byte_ends() {
    let clean = converse(Fault::None, usize::MAX);
    let mut seeded = Seeded::new(7);
    for (at, &right) in clean.sent.iter().enumerate() {
        let byte = right.wrapping_add(1 + seeded.below(255) as u8);
        let log = converse(Fault::Garble(at, byte), usize::MAX);
        assert!(!log.ended.is_empty());
    }
}
