//! The rowferry command line.
