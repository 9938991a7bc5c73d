//! Rows are cut into cells without allocating: what a row costs is its bytes. Counted, not timed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as Counter;

use rowferry_wire_mysql::messages::resultset::{BinaryRow, DateTime, TextRow, Time};
use rowferry_wire_mysql::types::BinaryForm;

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

#[test]
fn a_text_row_is_walked_without_allocating() {
    let long = [b'x'; 70_000];
    let cells = [Some(&b"42"[..]), None, Some(b""), Some(&long[..300]), Some(&long), Some(b"2026-11-21 18:00:00")];
    let mut row = Vec::new();
    for cell in cells {
        TextRow::encode_cell(cell, &mut row);
    }
    let mut same = true;
    let count = allocations(|| {
        let mut walk = TextRow::new(&row);
        for cell in cells {
            same &= walk.cell() == Ok(cell);
        }
        same &= walk.finish().is_ok();
    });
    assert!(same);
    assert_eq!(count, 0);
}

#[test]
fn a_binary_row_is_walked_without_allocating() {
    let moment = DateTime { year: 2026, month: 11, day: 21, hour: 18, minute: 0, second: 1, microsecond: 250_000 };
    let span = Time { negative: true, days: 3, hours: 4, ..Time::default() };
    // The second of six is NULL.
    let mut row = vec![BinaryRow::HEADER, 0b0000_1000];
    row.extend_from_slice(&7_i32.to_le_bytes());
    row.extend_from_slice(&1.5_f64.to_le_bytes());
    moment.encode(&mut row);
    span.encode(&mut row);
    row.extend_from_slice(b"\x04text");
    let mut same = true;
    let count = allocations(|| {
        let mut walk = BinaryRow::new(&row, 6).unwrap();
        same &= walk.cell(BinaryForm::Fixed(4)) == Ok(Some(&7_i32.to_le_bytes()[..]));
        same &= walk.cell(BinaryForm::Bytes) == Ok(None);
        same &= walk.cell(BinaryForm::Fixed(8)) == Ok(Some(&1.5_f64.to_le_bytes()[..]));
        same &= walk.cell(BinaryForm::Temporal).unwrap().map(DateTime::decode) == Some(Ok(moment));
        same &= walk.cell(BinaryForm::Temporal).unwrap().map(Time::decode) == Some(Ok(span));
        same &= walk.cell(BinaryForm::Bytes) == Ok(Some(b"text"));
        same &= walk.finish().is_ok();
    });
    assert!(same);
    assert_eq!(count, 0);
}
