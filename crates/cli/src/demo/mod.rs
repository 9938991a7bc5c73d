//! `rowferry demo`: a sample database to try things on.

mod store;

use std::path::PathBuf;

use clap::Args;

use crate::Failure;

pub use store::{Counts, SCHEMA, create};

/// Write a small sample store to a SQLite file
///
/// Four tables, about 20,000 rows, the same every time: customers, their orders, the items of each order and the stock.
/// Afterwards try:
///
///   rowferry serve store.db
///   psql 'postgresql://127.0.0.1:5432/store' -c '\d orders'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The file to make; it must not exist
    #[arg(long = "create", value_name = "FILE", default_value = "store.db")]
    file: PathBuf,
}

/// Makes the sample store.
///
/// # Errors
///
/// Fails when the file exists or cannot be written.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let file = arguments.file;
    let shown = file.display();
    if file.exists() {
        return Err(Failure::new(format!("`{shown}` exists")).hint("name another file with `--create FILE`"));
    }
    let counts = create(&file).map_err(|error| {
        // What we have begun is of no use to anybody, and would be in the way of the next attempt.
        let _ = std::fs::remove_file(&file);
        Failure::new(format!("cannot write `{shown}`: {error}"))
    })?;
    println!(
        "{shown}: {} customers, {} orders, {} items, {} stock",
        counts.customers, counts.orders, counts.items, counts.stock
    );
    Ok(())
}
