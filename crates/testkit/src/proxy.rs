//! A TCP proxy between a client and a server that does to the bytes what networks do.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Whose bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum From {
    /// Those on their way to the server.
    Client,
    /// Those on their way to the client.
    Server,
}

/// What happens to the bytes of one side of each connection.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The connection is cut, both ways, after so many bytes.
    CutAfter(usize),
    /// Nothing more arrives after so many bytes, but the connection stays.
    SilentAfter(usize),
    /// Bytes arrive in pieces of so many.
    Split(usize),
    /// Each piece comes so much later.
    Delay(Duration),
    /// The byte at this place is replaced.
    Garble(usize, u8),
}

/// Starts a proxy on a free port of the loopback. It ends with the process.
pub fn start(upstream: SocketAddr, faults: Vec<(From, Fault)>) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let faults = Arc::new(faults);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(upstream) else { continue };
            for (side, from, to) in [(From::Client, &client, &server), (From::Server, &server, &client)] {
                let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
                let faults = Arc::clone(&faults);
                std::thread::spawn(move || relay(side, from, to, &faults));
            }
        }
    });
    Ok(address)
}

fn relay(side: From, mut from: TcpStream, mut to: TcpStream, faults: &[(From, Fault)]) {
    let mine: Vec<&Fault> = faults.iter().filter(|(whose, _)| *whose == side).map(|(_, fault)| fault).collect();
    let piece = mine.iter().find_map(|fault| match fault {
        Fault::Split(size) => Some((*size).max(1)),
        _ => None,
    });
    let _ = to.set_nodelay(true);
    let mut buffer = vec![0; piece.unwrap_or(64 * 1024)];
    let mut passed = 0;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let mut bytes = buffer[..count].to_vec();
        for fault in &mine {
            match **fault {
                Fault::Garble(at, byte) if (passed..passed + bytes.len()).contains(&at) => bytes[at - passed] = byte,
                Fault::Delay(time) => std::thread::sleep(time),
                Fault::CutAfter(limit) if passed + bytes.len() >= limit => {
                    let _ = to.write_all(&bytes[..limit - passed]);
                    let _ = to.shutdown(Shutdown::Both);
                    let _ = from.shutdown(Shutdown::Both);
                    return;
                }
                Fault::SilentAfter(limit) if passed + bytes.len() >= limit => {
                    bytes.truncate(limit.saturating_sub(passed));
                    let _ = to.write_all(&bytes);
                    // Reads on, so that the sender does not notice, until it leaves.
                    while matches!(from.read(&mut buffer), Ok(1..)) {}
                    return;
                }
                _ => {}
            }
        }
        passed += bytes.len();
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
