//! Damaged conversations of real servers at the client and at every decoder, with fixed seeds: the outcome is an event,
//! an error or a wish for more bytes. Never a panic, and never memory out of proportion to what came.

// How long a run is to be is asked of the environment.
#![allow(clippy::disallowed_methods)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rowferry_testkit::mutate::{Seeded, mutate};
use rowferry_testkit::vectors::{Vector, load};
use rowferry_wire::{Core, Malformed, Secret};
use rowferry_wire_mysql::Algorithm;
use rowferry_wire_mysql::binlog::event::{Checksum, EventHeader};
use rowferry_wire_mysql::binlog::gtid::GtidSet;
use rowferry_wire_mysql::binlog::json::Json;
use rowferry_wire_mysql::binlog::json_diff;
use rowferry_wire_mysql::binlog::mariadb_gtid::MariadbPosition;
use rowferry_wire_mysql::binlog::reader::{Body, Event as LogEvent, Gtids, Interest, Position, Reader as LogReader};
use rowferry_wire_mysql::binlog::rows::json_columns;
use rowferry_wire_mysql::binlog::value::{Decimal, Layout as CellLayout, expand};
use rowferry_wire_mysql::client::{Client, Compression, Event, Options};
use rowferry_wire_mysql::messages::auth::{AuthMoreData, AuthNextFactor, AuthSwitchRequest, ParsecSalt};
use rowferry_wire_mysql::messages::bulk::BulkExecute;
use rowferry_wire_mysql::messages::handshake::{Handshake, HandshakeResponse, SslRequest, capability};
use rowferry_wire_mysql::messages::resultset::{BinaryRow, ColumnDefinition, Columns, DateTime, TextRow, Time};
use rowferry_wire_mysql::messages::session_state::StateChange;
use rowferry_wire_mysql::messages::statement::{Params, PrepareOk, StatementId};
use rowferry_wire_mysql::messages::status::{Eof, Ok as OkPacket, ServerError};
use rowferry_wire_mysql::types::BinaryForm;

/// Damaged variants of each conversation; `FUZZ_ROUNDS` multiplies them, with other seeds.
const VARIANTS: u64 = 1_500;
/// What one case may hold at a time, in bytes: receive buffers, and a compressed frame of the largest size.
const MEMORY: usize = 4 * 1024 * 1024;
const MEMORY_EXPANDED: usize = 40 * 1024 * 1024;

/// Counts what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// The tests of this file count by the same numbers, so only one runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

// SAFETY: everything is passed on to the system's allocator; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn rounds() -> u64 {
    std::env::var("FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// Panics when the case held more memory at a time than any input justifies.
fn bounded<T>(what: &str, limit: usize, case: impl FnOnce() -> T) -> T {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let outcome = case();
    let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(most < limit, "{what}: {most} bytes");
    outcome
}

fn algorithm(vector: &Vector) -> Option<Algorithm> {
    match vector.decoded["compression"].as_str() {
        Some("zlib") => Some(Algorithm::Zlib),
        Some("zstd") => Some(Algorithm::ZSTD_DEFAULT),
        _ => None,
    }
}

/// As the driver introduced itself when the conversations were recorded.
fn client(vector: &Vector) -> Client {
    let mut options = Options { capabilities: capability::MULTI_STATEMENTS, ..Options::default() };
    options.login.database = "rowferry".into();
    options.login.password = Secret::new("whatever it was");
    options.compression = Compression { algorithms: algorithm(vector).into_iter().collect(), required: false };
    Client::new(options)
}

/// Walks over all cells of a row, which must be used up by them.
fn walk(payload: &[u8], columns: &Columns, binary: bool) -> Result<usize, Malformed> {
    let mut bytes = 0;
    if !binary {
        let mut row = TextRow::new(payload);
        for _ in &columns.definitions {
            bytes += row.cell()?.map_or(0, <[u8]>::len);
        }
        row.finish()?;
        return Ok(bytes);
    }
    let mut row = BinaryRow::new(payload, columns.definitions.len())?;
    for column in &columns.definitions {
        let form = column.column_type.binary_form().ok_or(Malformed::new("type"))?;
        let cell = row.cell(form)?;
        if let (BinaryForm::Temporal, Some(body)) = (form, cell) {
            let _ = (DateTime::decode(body), Time::decode(body));
        }
        bytes += cell.map_or(0, <[u8]>::len);
    }
    row.finish()?;
    Ok(bytes)
}

/// Has the conversation again, with these bytes for the server's. Answers how many events were understood, and how many
/// rows were sound.
fn replay(vector: &Vector, bytes: &[u8], piece: usize) -> (usize, usize) {
    let mut commands: VecDeque<&str> = vector.decoded["commands"]
        .as_array()
        .expect("commands")
        .iter()
        .map(|command| command.as_str().expect("a name"))
        .collect();
    let mut client = client(vector);
    let (mut understood, mut sound) = (0, 0);
    let mut columns = None;
    let mut last = (StatementId(1), 0);
    let mut binary = VecDeque::new();
    // Nothing is compressed before the login is over, and no server says more until it is asked.
    let (login, answers) = bytes.split_at(end_of_login(bytes));
    for piece in login.chunks(piece.max(1)).chain(answers.chunks(piece.max(1))) {
        let mut rest = piece;
        while !rest.is_empty() {
            let space = client.receive_space(rest.len());
            let count = space.len().min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            client.received(count);
            rest = &rest[count..];
        }
        loop {
            client.sent(client.output().len());
            match client.poll() {
                Ok(Event::Pending) => break,
                // None of the recorded conversations was encrypted; a damaged greeting may ask for nothing else.
                Ok(Event::StartTls) => return (understood, sound),
                Err(_) => {
                    assert!(client.is_closed() && client.ping().is_err(), "what has failed goes on");
                    return (understood, sound);
                }
                Ok(event) => {
                    understood += 1;
                    match event {
                        Event::Columns(known) => columns = Some(known),
                        Event::Row(payload) => {
                            let columns = columns.as_ref().expect("columns come before rows");
                            sound += usize::from(walk(payload, columns, binary.front() == Some(&true)).is_ok());
                        }
                        Event::Prepared(prepared) => last = (prepared.statement, prepared.params),
                        _ => {}
                    }
                }
            }
            if client.awaited() == 0 && client.is_idle() {
                binary.clear();
                let Some(command) = commands.pop_front() else { break };
                let mut params = Params::default();
                for at in 0..last.1 {
                    params.int(at as i64);
                }
                binary.push_back(command == "execute");
                let sent = match command {
                    "query" => client.query(b"SELECT 1"),
                    "prepare" => client.prepare(b"SELECT ?"),
                    "execute" => client.execute(last.0, &params),
                    _ => client.ping(),
                };
                sent.expect("the connection is idle");
            }
        }
    }
    client.received_eof();
    while let Ok(event) = client.poll() {
        assert!(!matches!(event, Event::Pending), "the end is not noticed");
    }
    (understood, sound)
}

/// Where the packet with the OK of a login ends, as far as that can be seen in what is damaged.
fn end_of_login(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&[a, b, c, number, first]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<5>) {
        at += 4 + u32::from_le_bytes([a, b, c, 0]) as usize;
        if number > 0 && first == 0 {
            break;
        }
    }
    at.min(bytes.len())
}

fn conversations() -> Vec<Vector> {
    load("mysql.json").into_iter().filter(|vector| vector.direction == "server->client").collect()
}

/// The payloads of a conversation that is not compressed.
fn payloads(vector: &Vector) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    let mut rest = vector.bytes.as_slice();
    while let Some((&[a, b, c, _], tail)) = rest.split_first_chunk::<4>() {
        let (payload, tail) = tail.split_at(u32::from_le_bytes([a, b, c, 0]) as usize);
        payloads.push(payload.to_vec());
        rest = tail;
    }
    payloads
}

#[test]
fn recorded_conversations_are_understood_however_they_are_cut() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for vector in conversations() {
        let whole = replay(&vector, &vector.bytes, usize::MAX);
        // Three rows in the text protocol, six in the binary one, and those of other statements.
        assert!(whole.0 > 30 && whole.1 > 10, "{}: {whole:?}", vector.name);
        for piece in [1, 2, 7, 100] {
            assert_eq!(replay(&vector, &vector.bytes, piece), whole, "{} in pieces of {piece}", vector.name);
        }
    }
}

#[test]
fn damaged_conversations_end_well() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let vectors = conversations();
    let others: Vec<Vec<u8>> = vectors.iter().flat_map(payloads_if_plain).collect();
    let mut understood = 0;
    for (number, vector) in vectors.iter().enumerate() {
        let limit = if algorithm(vector).is_some() { MEMORY_EXPANDED } else { MEMORY };
        let mut seeded = Seeded::new(number as u64);
        for _ in 0..VARIANTS * rounds() {
            let bytes = mutate(&mut seeded, &vector.bytes, &others);
            let piece = *seeded.pick(&[1, 3, 1000, usize::MAX, usize::MAX]);
            understood += bounded(&vector.name, limit, || replay(vector, &bytes, piece)).0;
        }
    }
    // Damage is spread, so that much is read before it is met.
    assert!(understood > 50_000, "{understood}");
}

fn payloads_if_plain(vector: &Vector) -> Vec<Vec<u8>> {
    if algorithm(vector).is_none() { payloads(vector) } else { Vec::new() }
}

/// Every decoder of a message; what decodes encodes without a panic.
fn decode_as_everything(payload: &[u8]) -> usize {
    let mut good = 0;
    let bytes = &mut Vec::new();
    let mut count = |decoded: bool| good += usize::from(decoded);
    count(Handshake::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(HandshakeResponse::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(SslRequest::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(AuthSwitchRequest::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(AuthMoreData::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(AuthNextFactor::decode(payload).is_ok());
    count(ParsecSalt::decode(payload).is_ok());
    count(ServerError::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(Eof::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(PrepareOk::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    count(ColumnDefinition::decode(payload).inspect(|message| message.encode(bytes)).is_ok());
    for session_track in [false, true] {
        count(OkPacket::decode(payload, session_track).inspect(|message| message.encode(0, bytes)).is_ok());
    }
    count(StateChange::visit(payload, |change| change.encode(&mut Vec::new())).is_ok());
    count(DateTime::decode(payload).is_ok());
    count(Time::decode(payload).is_ok());
    count(BulkExecute::decode(payload, 2).is_ok());
    good
}

#[test]
fn damaged_messages_end_well_at_every_decoder() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let all: Vec<Vec<u8>> = conversations().iter().flat_map(payloads_if_plain).collect();
    assert!(all.len() > 200, "{}", all.len());
    let mut seeded = Seeded::new(77);
    let mut good = 0;
    for payload in &all {
        for _ in 0..60 * rounds() {
            let bytes = mutate(&mut seeded, payload, &all);
            good += bounded("message", MEMORY, || decode_as_everything(&bytes));
            // And cut at its end, where lengths promise more.
            let cut = &bytes[..bytes.len() - seeded.below(bytes.len().min(9) + 1)];
            bounded("cut message", MEMORY, || decode_as_everything(cut));
        }
    }
    assert!(good > 10_000, "{good}");
}

#[test]
fn lengths_without_bytes_behind_them_take_no_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let vector = &conversations()[0];
    let packets: Vec<&[u8]> = {
        let mut rest = vector.bytes.as_slice();
        let mut packets = Vec::new();
        while let Some(&[a, b, c, _]) = rest.first_chunk::<4>() {
            let (packet, tail) = rest.split_at(4 + u32::from_le_bytes([a, b, c, 0]) as usize);
            packets.push(packet);
            rest = tail;
        }
        packets
    };
    let mut before = Vec::new();
    for packet in packets {
        // The largest packet, and the largest cell, that can be promised here.
        for promise in [&[0xff_u8, 0xff, 0xff][..], &[packet[0], packet[1], packet[2]]] {
            let mut bytes = before.clone();
            bytes.extend_from_slice(promise);
            bytes.push(packet[3]);
            bytes.extend_from_slice(&[0xfe, 0xff, 0xff, 0xff, 0x3f, 0, 0, 0, 0]);
            bounded("promise", MEMORY, || replay(vector, &bytes, usize::MAX));
        }
        before.extend_from_slice(packet);
    }
}

fn visit(event: &LogEvent) -> usize {
    let Body::Rows(table, rows) = &event.body else { return 1 };
    let layouts: Result<Vec<_>, _> = table.columns.iter().map(CellLayout::of).collect();
    let (Ok(layouts), json) = (layouts, json_columns(table)) else { return 0 };
    let mut cells = 0;
    let Ok(mut images) = rows.images(&layouts, &json) else { return 0 };
    for after in [false, true].into_iter().cycle() {
        if images.is_at_end() {
            break;
        }
        let read = images.image::<Malformed>(after, |_, cell| {
            cells += 1;
            // What cells hold is read as they say.
            let text = format!("{cell:?}");
            let _ = json_diff::decode(text.as_bytes());
            Ok(())
        });
        if read.is_err() {
            break;
        }
    }
    cells
}

#[test]
fn damaged_logs_end_well() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let logs: Vec<Vector> = load("mysql.json").into_iter().filter(|vector| vector.direction == "log").collect();
    let mut understood = 0;
    for (number, log) in logs.iter().enumerate() {
        let mut rest = log.bytes.as_slice();
        let mut events = Vec::new();
        for size in log.decoded["events"].as_array().expect("sizes") {
            let (event, tail) = rest.split_at(size.as_u64().expect("a size") as usize);
            events.push(event.to_vec());
            rest = tail;
        }
        let mut seeded = Seeded::new(1_000 + number as u64);
        for round in 0..400 * rounds() {
            let mut damaged = events.clone();
            // The first round is the log as it was.
            for _ in 0..if round == 0 { 0 } else { 1 + seeded.below(4) } {
                let at = seeded.below(damaged.len());
                let mut event = mutate(&mut seeded, &damaged[at], &events);
                // Most damage would be found by its checksum, and nothing behind it be tried.
                if seeded.below(4) > 0
                    && let Some(end) = event.len().checked_sub(4)
                {
                    let sum = crc32fast::hash(&event[..end]);
                    event[end..].copy_from_slice(&sum.to_le_bytes());
                }
                damaged[at] = event;
            }
            understood += bounded(&log.name, MEMORY, || {
                let position = Position { file: "log.1".into(), offset: 4 };
                let mut reader = LogReader::new(Interest::default(), position, Gtids::Unknown);
                reader.connected(*seeded.pick(&[Checksum::Crc32, Checksum::Crc32, Checksum::None]));
                let mut cells = 0;
                for event in &damaged {
                    let _ = EventHeader::decode(event);
                    let mut outcome = reader.event(event);
                    while let Ok(Some(event)) = outcome {
                        cells += visit(&event);
                        outcome = reader.next_packed();
                    }
                }
                cells
            });
        }
    }
    assert!(understood > 20_000, "{understood}");
}

#[test]
fn damaged_documents_and_sets_end_well() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let document = b"\x00\x02\x00\x2c\x00\x12\x00\x01\x00\x13\x00\x02\x00\x05\x07\x00\x02\x15\x00aid\x03\x00\x17\x00\x05\x01\x00\x0b\x0d\x00\x04\x00\x00\0\0\0\0\0\0\x04\x40";
    // One source with the transactions 1 to 8.
    let mut set = 1_u64.to_le_bytes().to_vec();
    set.extend_from_slice(&[7; 16]);
    for number in [1_u64, 1, 9] {
        set.extend_from_slice(&number.to_le_bytes());
    }
    assert!(GtidSet::decode(&set).is_ok());
    let mut seeded = Seeded::new(5);
    for _ in 0..20_000 * rounds() {
        let json = mutate(&mut seeded, document, &[]);
        let gtids = mutate(&mut seeded, &set, &[]);
        bounded("document", MEMORY, || {
            if let Ok(json) = Json::decode(&json) {
                let _ = json.text();
            }
            let _ = json_diff::decode(&json);
            let _ = GtidSet::decode(&gtids);
            let _ = MariadbPosition::decode(&gtids);
            let _ = expand(&json);
            let _ = Decimal::decode(&mut rowferry_wire::Reader::new(&gtids), 20, 5);
        });
    }
}
