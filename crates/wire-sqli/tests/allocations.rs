//! Cells and tuples cost no allocation, in either direction: what a row costs is its bytes. Counted, not timed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as Counter;

use rowferry_wire::Reader;
use rowferry_wire_sqli::Qualifier;
use rowferry_wire_sqli::values::{Base100, Cell, CellFormat, DateTime, Interval};

struct Counting;

thread_local! {
    static COUNT: Counter<usize> = const { Counter::new(0) };
}

// SAFETY: everything is handed to the system's allocator; the counter is a plain number without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations `work` makes on this thread.
fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.with(Counter::get);
    work();
    COUNT.with(Counter::get) - before
}

fn cells() -> Vec<(CellFormat, Cell<'static>)> {
    let moment = DateTime { year: 2026, month: 11, day: 21, hour: 15, minute: 30, second: 5, micros: 123_450 };
    let span = Interval::DayTime { negative: true, seconds: 273_600, micros: 0 };
    vec![
        (CellFormat::SmallInt, Cell::Int(-7)),
        (CellFormat::Integer, Cell::Int(70_000)),
        (CellFormat::BigInt, Cell::Int(1 << 40)),
        (CellFormat::Int8, Cell::Int(-(1 << 40))),
        (CellFormat::Float, Cell::Float(1.5)),
        (CellFormat::SmallFloat, Cell::SmallFloat(1.5)),
        (CellFormat::Decimal { precision: 10, scale: Some(2) }, Cell::Decimal(Base100::from_i64(12_345))),
        (CellFormat::Date, Cell::Date(46_347)),
        (CellFormat::DateTime(Qualifier::YEAR_TO_FRACTION5), Cell::DateTime(moment)),
        (CellFormat::Interval(Qualifier::DAY9_TO_FRACTION5), Cell::Interval(span)),
        (CellFormat::Char(20), Cell::Text(b"characters")),
        (CellFormat::VarChar(40), Cell::Text(b"some text of a row")),
        (CellFormat::LongText, Cell::Text(b"a longer text, the length of a sentence perhaps")),
        (CellFormat::BooleanText, Cell::Boolean(true)),
        (CellFormat::Opaque, Cell::Opaque(b"\x01\x02\x03")),
        (CellFormat::Integer, Cell::Null),
        (CellFormat::VarChar(40), Cell::Null),
    ]
}

#[test]
fn a_row_is_encoded_and_decoded_without_allocating() {
    let cells = cells();
    let mut row = Vec::with_capacity(4_096);
    let mut dear = Vec::new();
    for (format, cell) in &cells {
        let count = allocations(|| {
            format.encode(cell, &mut row).unwrap_or_else(|misfit| panic!("{format:?}: {misfit}"));
        });
        if count > 0 {
            dear.push((format, count));
        }
    }
    assert!(dear.is_empty(), "encoding allocates: {dear:?}");
    let mut same = true;
    let decoding = allocations(|| {
        let mut reader = Reader::new(&row);
        for (format, cell) in &cells {
            let decoded = format.decode(&mut reader).unwrap();
            // CHAR comes back with its padding.
            same &= decoded == *cell
                || matches!((decoded, cell), (Cell::Text(text), Cell::Text(given)) if text.starts_with(given));
        }
        reader.finish("row longer than its columns").unwrap();
    });
    assert!(same);
    assert_eq!(decoding, 0);
}
