//! A server that does not outlive the program that started it, however that ends.

use std::io::{ErrorKind, Read};

use rowferry_server::Stopper;

use crate::Failure;

/// From now on the end of standard input stops the server. What is read before is thrown away.
pub fn watch(stopper: Stopper) -> Result<(), Failure> {
    let wait = move || {
        let (mut input, mut thrown_away) = (std::io::stdin().lock(), [0; 512]);
        loop {
            match input.read(&mut thrown_away) {
                Ok(1..) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
            }
        }
        tracing::info!("standard input has ended");
        stopper.stop_now();
    };
    std::thread::Builder::new()
        .name("lifeline".into())
        .spawn(wait)
        .map(drop)
        .map_err(|error| Failure::new(format!("cannot watch standard input: {error}")))
}
