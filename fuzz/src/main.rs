//! One binary for all fuzz targets; `ROWFERRY_FUZZ_TARGET` names the one to run. See tools/fuzz.sh.
//!
//! A target takes bytes and must come to an end: no panic (libFuzzer stops at one in any thread), no hang, no memory out
//! of proportion. What the bytes mean stands at each target.

#![no_main]

mod doors;
mod front_ends;
mod sessions;
#[path = "../../crates/dialect/tests/support/mod.rs"]
#[allow(dead_code)]
mod support;
mod wires;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

type Target = fn(&[u8]);

/// The targets by name; tools/fuzz.sh reads the names here.
const TARGETS: &[(&str, Target)] = &[
    ("wire_pg", wires::pg),
    ("wire_sqli", wires::sqli),
    ("wire_mysql", wires::mysql),
    ("pg_session", sessions::pg),
    ("informix_session", sessions::sqli),
    ("pg_sql", front_ends::postgres),
    ("informix_sql", front_ends::informix),
    ("spl", front_ends::spl),
    ("mysql_template", front_ends::mysql_template),
    ("pg_door", doors::postgres),
    ("informix_door", doors::informix),
    ("mysql_door", doors::mysql),
];

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ROWFERRY_FUZZ_TARGET").expect("ROWFERRY_FUZZ_TARGET names a target");
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no target {name}")).1
});

fuzz_target!(|data: &[u8]| {
    CHOSEN(data);
});
