//! Damaged golden vectors at every decoder, with fixed seeds: the outcome is a message, an error or a wish for more
//! bytes. Never a panic, and never memory out of proportion to what came.

// How long a run is to be is asked of the environment.
#![allow(clippy::disallowed_methods)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use rowferry_testkit::mutate::{Seeded, mutate};
use rowferry_testkit::vectors::load;
use rowferry_wire_sqli::messages::ServerMessage;
use rowferry_wire_sqli::values::{Cell, CellFormat, decode_row, encode_row};
use rowferry_wire_sqli::{Capabilities, Decoder, FromClient, FromServer, Qualifier, Widths};

mod session;

/// Damaged variants of each vector; `FUZZ_ROUNDS` multiplies them, with other seeds.
const VARIANTS: u64 = 10;
/// What one case may hold at a time, in bytes: two receive buffers and the few values that the input can name.
const MEMORY: usize = 4 * 1024 * 1024;

/// Counts what is held. The tests of this file share it, so it is asked for an upper bound only.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

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
fn bounded<T>(what: &str, case: impl FnOnce() -> T) -> T {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let outcome = case();
    let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(most < MEMORY, "{what}: {most} bytes at a time");
    outcome
}

fn active(wide: bool) -> Capabilities {
    let server = if wide { Capabilities::server_15() } else { Capabilities::server_12() };
    Capabilities::client_offer().and(&server)
}

/// Reads it as a client's messages; what decodes encodes without a panic.
fn as_client(bytes: &[u8], wide: bool, piece: usize) -> usize {
    let widths = Widths::of(&active(wide));
    let mut decoder = Decoder::<FromClient>::new();
    decoder.activate(&active(wide));
    let mut messages = 0;
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        loop {
            match decoder.next() {
                Ok(Some(message)) => {
                    let _ = message.encode(&mut Vec::new(), widths);
                    messages += 1;
                }
                Ok(None) => break,
                Err(_) => return messages,
            }
        }
    }
    messages
}

/// Reads it as a server's messages, and rows by the formats that the last description gives.
fn as_server(bytes: &[u8], wide: bool, piece: usize) -> usize {
    let widths = Widths::of(&active(wide));
    let mut decoder = Decoder::<FromServer>::new();
    decoder.activate(&active(wide));
    let mut formats: Vec<CellFormat> = Vec::new();
    let mut messages = 0;
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        loop {
            match decoder.next() {
                Ok(Some(message)) => {
                    let _ = message.encode(&mut Vec::new(), widths);
                    messages += 1;
                    match &message {
                        ServerMessage::Describe(describe) => {
                            let all = describe.fields.iter().map(|field| CellFormat::described(&field.ty, widths));
                            formats = all.filter_map(Result::ok).collect();
                        }
                        ServerMessage::Tuple(tuple) => drop(decode_row(&formats, tuple.payload)),
                        _ => {}
                    }
                }
                Ok(None) => break,
                Err(_) => return messages,
            }
        }
    }
    messages
}

fn as_login(bytes: &[u8]) {
    let mut server = Decoder::<FromClient>::new();
    server.push(bytes);
    if let Ok(Some(request)) = server.login_request() {
        let _ = request.encode(&mut Vec::new());
    }
    let mut client = Decoder::<FromServer>::new();
    client.push(bytes);
    if let Ok(Some(reply)) = client.login_reply() {
        let _ = reply.encode(&mut Vec::new());
    }
}

#[test]
fn damaged_vectors_end_well_at_every_decoder() {
    let vectors = load("sqli.json");
    let others: Vec<Vec<u8>> = vectors.iter().map(|vector| vector.bytes.clone()).collect();
    let mut understood = 0;
    for (number, vector) in vectors.iter().enumerate() {
        let mut seeded = Seeded::new(number as u64);
        for _ in 0..VARIANTS * rounds() {
            let bytes = mutate(&mut seeded, &vector.bytes, &others);
            let wide = seeded.below(2) == 0;
            let piece = *seeded.pick(&[1, 3, usize::MAX, usize::MAX]);
            bounded(&vector.name, || {
                understood += as_client(&bytes, wide, piece);
                understood += as_server(&bytes, wide, piece);
                as_login(&bytes);
            });
        }
    }
    // Most damage is small, so that much of it is read to some depth.
    assert!(understood > 3_000, "{understood}");
}

/// Formats of every family, of several widths.
fn formats() -> Vec<CellFormat> {
    let mut formats = vec![
        CellFormat::SmallInt,
        CellFormat::Integer,
        CellFormat::BigInt,
        CellFormat::Int8,
        CellFormat::Float,
        CellFormat::SmallFloat,
        CellFormat::Date,
        CellFormat::Char(0),
        CellFormat::Char(17),
        CellFormat::VarChar(255),
        CellFormat::BooleanText,
        CellFormat::BooleanBinary,
        CellFormat::LongText,
        CellFormat::Opaque,
        CellFormat::SimpleLob(56),
        CellFormat::SimpleLob(68),
    ];
    for (precision, scale) in [(1, Some(0)), (5, Some(2)), (16, None), (32, Some(32)), (32, Some(2))] {
        formats.push(CellFormat::Decimal { precision, scale });
    }
    for word in 0..=u16::MAX {
        let qualifier = Qualifier(word);
        if qualifier.is_valid() && word % 5 == 0 {
            formats.push(CellFormat::DateTime(qualifier));
            formats.push(CellFormat::Interval(qualifier));
        }
    }
    formats
}

#[test]
fn damaged_rows_end_well() {
    let formats = formats();
    let mut seeded = Seeded::new(4711);
    let (mut good, mut bad) = (0, 0);
    for round in 0..20_000 * rounds() {
        let count = 1 + seeded.below(6);
        let chosen: Vec<CellFormat> = (0..count).map(|_| *seeded.pick(&formats)).collect();
        let cells = vec![Cell::Null; count];
        let mut payload = Vec::new();
        encode_row(&chosen, &cells, &mut payload).expect("NULL fits everywhere");
        let damaged = mutate(&mut seeded, &payload, &[]);
        bounded("row", || match decode_row(&chosen, &damaged) {
            Ok(cells) => {
                good += 1;
                assert_eq!(cells.len(), count, "round {round}");
            }
            Err(_) => bad += 1,
        });
    }
    assert!(good > 1_000 && bad > 1_000, "{good} good, {bad} bad");
}

/// The messages of recorded clients behind each other, as one session.
#[test]
fn damaged_sessions_come_to_an_end() {
    let vectors = load("sqli.json");
    let said: Vec<Vec<u8>> = vectors
        .into_iter()
        .filter(|vector| vector.direction == "client->server" && !vector.name.starts_with("login"))
        .map(|vector| vector.bytes)
        .collect();
    let mut seeded = Seeded::new(11);
    let mut asked = 0;
    for round in 0..2_000 * rounds() {
        let mut bytes = Vec::new();
        for _ in 0..4 {
            let next = seeded.pick(&said).clone();
            bytes.extend_from_slice(&if seeded.below(3) == 0 { mutate(&mut seeded, &next, &said) } else { next });
        }
        let step = [1, 7, usize::MAX][seeded.below(3)];
        asked += bounded("a session", || session::play(&bytes, step, round % 5 == 0));
    }
    assert!(asked > 2_000, "most of what was said was understood: {asked}");
}
