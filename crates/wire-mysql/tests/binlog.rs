//! The reader of the binary log: whole streams, cut, damaged and random ones.

use proptest::prelude::*;
use rowferry_wire::{Malformed, Reader as Bytes};
use rowferry_wire_mysql::binlog::Fault;
use rowferry_wire_mysql::binlog::event::{Checksum, EventType, Format, Gtid, IntVar, Query, Rotate, UserVar};
use rowferry_wire_mysql::binlog::gtid::GtidSet;
use rowferry_wire_mysql::binlog::json::Json;
use rowferry_wire_mysql::binlog::json_diff;
use rowferry_wire_mysql::binlog::mariadb_gtid::MariadbPosition;
use rowferry_wire_mysql::binlog::reader::{Body, Event, Gtids, Interest, Position, Reader};
use rowferry_wire_mysql::binlog::rows::{RowsEvent, json_columns};
use rowferry_wire_mysql::binlog::table::{Column, TableMap};
use rowferry_wire_mysql::binlog::value::{Layout, expand};
use rowferry_wire_mysql::types::ColumnType;

/// Writes events one behind the other, as a server does.
struct Log {
    position: u32,
    checksum: bool,
    events: Vec<Vec<u8>>,
}

impl Log {
    fn new(checksum: bool) -> Self {
        let mut log = Self { position: 4, checksum, events: Vec::new() };
        log.artificial(EventType::ROTATE, &[&4_u64.to_le_bytes()[..], b"log.1"].concat());
        let mut body = vec![4, 0];
        body.extend_from_slice(b"10.11.6-MariaDB");
        body.resize(2 + 50, 0);
        body.extend_from_slice(&[0, 0, 0, 0, 19]);
        body.extend_from_slice(&[0; 171]);
        body.push(u8::from(checksum));
        if !checksum {
            body.extend_from_slice(&[0; 4]);
        }
        log.push(EventType::FORMAT_DESCRIPTION, &body);
        log
    }

    fn event(&self, event_type: EventType, body: &[u8], position: u32, flags: u16) -> Vec<u8> {
        let size = 19 + body.len() + if self.checksum { 4 } else { 0 };
        let mut event = vec![0, 0, 0, 0, event_type.0, 1, 0, 0, 0];
        event.extend_from_slice(&(size as u32).to_le_bytes());
        event.extend_from_slice(&position.to_le_bytes());
        event.extend_from_slice(&flags.to_le_bytes());
        event.extend_from_slice(body);
        if self.checksum {
            event.extend_from_slice(&crc32fast::hash(&event).to_le_bytes());
        }
        event
    }

    fn push(&mut self, event_type: EventType, body: &[u8]) {
        let size = 19 + body.len() as u32 + if self.checksum { 4 } else { 0 };
        self.position += size;
        self.events.push(self.event(event_type, body, self.position, 0));
    }

    fn artificial(&mut self, event_type: EventType, body: &[u8]) {
        self.events.push(self.event(event_type, body, 0, 0x20));
    }

    /// A transaction of three rows.
    fn transaction(&mut self, sequence: u8) {
        self.push(EventType::MARIADB_GTID, &[sequence, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        self.push(EventType::TABLE_MAP, b"\x05\0\0\0\0\0\x01\0\x01s\0\x01t\0\x01\x01\0\0");
        for row in 0..3 {
            self.push(EventType::WRITE_ROWS_V1, &[5, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, sequence * 10 + row]);
        }
        self.push(EventType::XID, &[sequence, 0, 0, 0, 0, 0, 0, 0]);
    }
}

fn read(reader: &mut Reader, events: &[Vec<u8>]) -> Result<Vec<Event>, Fault> {
    let mut all = Vec::new();
    for event in events {
        all.extend(reader.event(event)?);
        while let Some(event) = reader.next_packed()? {
            all.push(event);
        }
    }
    Ok(all)
}

fn values(events: &[Event]) -> Vec<String> {
    let mut values = Vec::new();
    for event in events {
        match &event.body {
            Body::Rows(table, rows) => {
                let layouts: Vec<_> = table.columns.iter().map(|column| Layout::of(column).unwrap()).collect();
                let json = json_columns(table);
                let mut images = rows.images(&layouts, &json).unwrap();
                while !images.is_at_end() {
                    images
                        .image::<Malformed>(true, |_, cell| {
                            values.push(format!("{cell:?}"));
                            Ok(())
                        })
                        .unwrap();
                }
            }
            Body::Xid(number) => values.push(format!("commit {number}")),
            _ => {}
        }
    }
    values
}

fn new_reader() -> Reader {
    let mut reader = Reader::new(Interest::default(), Position { file: "log.1".into(), offset: 4 }, Gtids::Unknown);
    reader.connected(Checksum::Crc32);
    reader
}

fn two_transactions() -> Log {
    let mut log = Log::new(true);
    log.transaction(1);
    log.transaction(2);
    log
}

#[test]
fn a_stream_is_read_to_its_end() {
    let log = two_transactions();
    let mut reader = new_reader();
    let events = read(&mut reader, &log.events).unwrap();
    assert_eq!(events.len(), log.events.len());
    assert_eq!(values(&events).len(), 8);
    assert_eq!(reader.position(), &Position { file: "log.1".into(), offset: u64::from(log.position) });
    assert_eq!(reader.position(), reader.safe());
    assert_eq!(reader.gtids().to_string(), "0-1-2");
}

#[test]
fn after_a_cut_anywhere_no_row_is_lost_or_comes_twice() {
    let log = two_transactions();
    let expected = values(&read(&mut new_reader(), &log.events).unwrap());
    for first_cut in 0..log.events.len() {
        for second_cut in 0..log.events.len() {
            let mut reader = new_reader();
            let mut seen = Vec::new();
            for cut in [first_cut, second_cut, log.events.len()] {
                reader.connected(Checksum::Crc32);
                let from = reader.safe().offset;
                // The server sends its rotation and format first, then what lies behind the position asked for.
                let (head, rest) = log.events.split_at(2);
                let place = rest.iter().position(|event| {
                    u64::from(u32::from_le_bytes([event[13], event[14], event[15], event[16]])) > from
                });
                let rest = &rest[place.unwrap_or(rest.len())..];
                let mut head = head.to_vec();
                head[0] = log.event(EventType::ROTATE, &[&from.to_le_bytes()[..], b"log.1"].concat(), 0, 0x20);
                let sent = [head, rest.to_vec()].concat();
                seen.extend(values(&read(&mut reader, &sent[..cut.min(sent.len())]).unwrap()));
            }
            assert_eq!(seen, expected, "cut after {first_cut} and {second_cut} events");
        }
    }
}

#[test]
fn a_transaction_that_comes_back_otherwise_is_an_error() {
    let log = two_transactions();
    let mut reader = new_reader();
    read(&mut reader, &log.events[..5]).unwrap();
    reader.connected(Checksum::Crc32);
    let mut other = Log::new(true);
    other.push(EventType::MARIADB_GTID, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    other.push(EventType::XID, &[1, 0, 0, 0, 0, 0, 0, 0]);
    assert!(matches!(read(&mut reader, &other.events), Err(Fault::Unsupported(_))));
}

#[test]
fn a_flipped_bit_is_found_by_its_checksum() {
    let log = two_transactions();
    for at in [0, 1, 3, 4, 7] {
        for byte in [4, 12, 20, log.events[at].len() - 1] {
            let mut events = log.events.clone();
            events[at][byte] ^= 0x10;
            let outcome = read(&mut new_reader(), &events);
            // A damaged size or type is found before.
            assert!(outcome.is_err(), "event {at}, byte {byte}");
        }
    }
    let mut events = log.events.clone();
    events[4][25] ^= 1;
    assert!(matches!(read(&mut new_reader(), &events), Err(Fault::Checksum { event: EventType::WRITE_ROWS_V1, .. })));
}

#[test]
fn tables_and_types_are_filtered() {
    let log = two_transactions();
    for (only, ignored, rows) in [("t", "", 6), ("s.t", "", 6), ("x", "", 0), ("", "t", 0), ("", "x.t", 6)] {
        let set = |name: &str| Some(name.to_owned()).into_iter().filter(|name| !name.is_empty()).collect();
        let interest = Interest { only_tables: set(only), ignored_tables: set(ignored), ..Interest::default() };
        let mut reader = Reader::new(interest, Position::default(), Gtids::Unknown);
        reader.connected(Checksum::Crc32);
        let events = read(&mut reader, &log.events).unwrap();
        assert_eq!(
            events.iter().filter(|event| matches!(event.body, Body::Rows(..))).count(),
            rows,
            "{only} {ignored}"
        );
        assert_eq!(reader.gtids().to_string(), "0-1-2");
    }
    let mut interest = Interest { types: [false; 256], ..Interest::default() };
    interest.types[usize::from(EventType::XID.0)] = true;
    let mut reader = Reader::new(interest, Position::default(), Gtids::Unknown);
    reader.connected(Checksum::Crc32);
    assert_eq!(read(&mut reader, &log.events).unwrap().len(), 2);
    assert_eq!(reader.safe().offset, u64::from(log.position));
}

#[test]
fn offsets_beyond_4_gib_are_counted_on() {
    let mut log = Log::new(true);
    log.position = u32::MAX - 100;
    let start = Position { file: "log.1".into(), offset: u64::from(log.position) };
    log.push(EventType::XID, &[1; 8]);
    let mut reader = Reader::new(Interest::default(), start, Gtids::Unknown);
    reader.connected(Checksum::Crc32);
    reader.event(&log.events[2]).unwrap();
    log.position = 50;
    log.push(EventType::XID, &[1; 8]);
    reader.event(&log.events[3]).unwrap();
    assert_eq!(reader.position().offset, (1 << 32) + u64::from(log.position));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_121), ..ProptestConfig::default() })]

    /// Random bodies of every type behind a valid header and checksum.
    #[test]
    fn random_events_never_panic(
        events in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..80)), 1..12),
    ) {
        let mut log = two_transactions();
        for (event_type, body) in &events {
            log.push(EventType(*event_type), body);
        }
        let mut reader = new_reader();
        for event in &log.events {
            let _ = reader.event(event);
            while reader.has_more() {
                let _ = reader.next_packed();
            }
        }
    }

    /// Events of a sound stream with some bytes changed: they reach further into the decoders.
    #[test]
    fn changed_events_never_panic(
        at in 2_usize..14,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut log = Log::new(false);
        log.transaction(1);
        log.transaction(2);
        let event = &mut log.events[at];
        for (place, byte) in changes {
            let len = event.len();
            event[19 + place.index(len - 19)] = byte;
        }
        let mut reader = Reader::new(Interest::default(), Position::default(), Gtids::Unknown);
        reader.connected(Checksum::None);
        for event in &log.events {
            if let Ok(Some(Event { body: Body::Rows(table, rows), .. })) = reader.event(event) {
                walk(&table, &rows);
            }
        }
    }

    #[test]
    fn random_bytes_never_panic_a_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let format = Format::default();
        let _ = Format::decode(&bytes);
        let _ = Rotate::decode(&bytes);
        let _ = Query::decode(&bytes, &format);
        let _ = IntVar::decode(&bytes);
        let _ = UserVar::decode(&bytes);
        let _ = Gtid::decode(&bytes);
        let _ = GtidSet::decode(&bytes);
        let _ = MariadbPosition::decode(&bytes);
        let _ = Json::decode(&bytes).and_then(|json| json.text());
        let _ = json_diff::decode(&bytes);
        let _ = expand(&bytes);
        if let (Ok(map), Ok(rows)) =
            (TableMap::decode(&bytes, &format), RowsEvent::decode(&bytes, EventType::UPDATE_ROWS, &format))
        {
            walk(&map, &rows);
        }
    }

    /// Every layout on random bytes: a value or an error, and never more bytes than there are.
    #[test]
    fn random_cells_never_panic(column_type in any::<u8>(), metadata in any::<u16>(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let column = Column { column_type: ColumnType(column_type), metadata, ..Column::default() };
        if let Ok(layout) = Layout::of(&column) {
            let mut reader = Bytes::new(&bytes);
            let _ = layout.decode(&mut reader);
            prop_assert!(reader.position() <= bytes.len());
        }
    }

    /// A JSON document that begins well.
    #[test]
    fn random_documents_never_panic(head in 0_u8..4, count in 0_u8..6, bytes in proptest::collection::vec(0_u8..40, 0..120)) {
        let size = bytes.len() as u8 + 4;
        let mut document = vec![head];
        document.extend_from_slice(&[count, 0]);
        document.extend_from_slice(&[size, 0]);
        document.extend_from_slice(&bytes);
        if let Ok(json) = Json::decode(&document) {
            let _ = json.text();
        }
    }
}

fn walk(table: &TableMap, rows: &RowsEvent) {
    let layouts: Result<Vec<_>, _> = table.columns.iter().map(Layout::of).collect();
    let Ok(layouts) = layouts else { return };
    let json = json_columns(table);
    let Ok(mut images) = rows.images(&layouts, &json) else { return };
    let mut is_after = rows.change == rowferry_wire_mysql::binlog::rows::Change::Write;
    while !images.is_at_end() {
        if images.image::<Malformed>(is_after, |_, _| Ok(())).is_err() {
            return;
        }
        is_after ^= rows.change == rowferry_wire_mysql::binlog::rows::Change::Update;
    }
}
