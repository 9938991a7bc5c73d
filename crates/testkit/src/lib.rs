//! Simulator, vectors and fault proxy for the tests; never published.

// Tests are the outside world: files, sockets, threads and clocks belong here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

pub mod vectors;
