//! What every tour uses: steps whose findings are printed.

use std::fmt::Debug;
use std::future::Future;

/// What a step has found out, a line for each element.
pub type Lines = Vec<String>;
/// What ends a step.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The URL of the empty database that the tour is given.
pub fn url() -> String {
    std::env::args().nth(1).unwrap_or_default()
}

/// Runs a step and prints what it says. A failure is a finding, and the next step goes on.
pub async fn step(name: &str, act: impl Future<Output = Result<Lines, Failure>>) {
    println!("== {name}");
    match act.await {
        Ok(lines) => lines.iter().for_each(|line| println!("{line}")),
        Err(error) => println!("FAILED {error}"),
    }
}

/// A value as a line.
pub fn line(value: impl Debug) -> String {
    format!("{value:?}")
}

/// Says how it was refused; what is not refused is a failure.
pub fn refused<T, E: ToString>(result: Result<T, E>) -> Result<String, Failure> {
    match result {
        Ok(_) => Err("was not refused".into()),
        Err(error) => Ok(error.to_string()),
    }
}
