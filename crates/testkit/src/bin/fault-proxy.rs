//! `fault-proxy HOST:PORT [FAULT…]`: the fault proxy for tests that are not written in Rust.
//!
//! Prints the port where it listens, then relays until its standard input ends. A fault is a side and what happens to
//! its bytes: `server:cut=100`, `client:split=1`, `server:delay=50` (milliseconds), `server:garble=10,255`,
//! `server:silent=64`.

// A test tool: sockets, arguments and standard streams are its business.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::net::ToSocketAddrs;
use std::process::ExitCode;
use std::time::Duration;

use rowferry_testkit::proxy::{Fault, From, start};

fn parse(text: &str) -> Option<(From, Fault)> {
    let (side, fault) = text.split_once(':')?;
    let side = match side {
        "client" => From::Client,
        "server" => From::Server,
        _ => return None,
    };
    let (kind, value) = fault.split_once('=')?;
    let fault = match kind {
        "cut" => Fault::CutAfter(value.parse().ok()?),
        "silent" => Fault::SilentAfter(value.parse().ok()?),
        "split" => Fault::Split(value.parse().ok()?),
        "delay" => Fault::Delay(Duration::from_millis(value.parse().ok()?)),
        "garble" => {
            let (at, byte) = value.split_once(',')?;
            Fault::Garble(at.parse().ok()?, byte.parse().ok()?)
        }
        _ => return None,
    };
    Some((side, fault))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let upstream = arguments.next().and_then(|text| text.to_socket_addrs().ok()?.next());
    let faults: Option<Vec<_>> = arguments.map(|text| parse(&text)).collect();
    let (Some(upstream), Some(faults)) = (upstream, faults) else {
        eprintln!("usage: fault-proxy HOST:PORT [client|server]:[cut|silent|split|delay|garble]=VALUE…");
        return ExitCode::from(2);
    };
    match start(upstream, faults) {
        Ok(address) => {
            println!("{}", address.port());
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
