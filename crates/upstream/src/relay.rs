//! PostgreSQL's clients in front of a PostgreSQL server: bytes are passed on as they come.
//!
//! The conversation is the client's and the server's own, from its first byte on: TLS, who may come in, cancellations and
//! whatever either may say one day. Nothing is read here.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rowferry_client::Address;
use rowferry_server::{Connection, Door, Ending};
use rowferry_wire_pg::Backend;
use rowferry_wire_pg::messages::{Notice, Severity};

/// What a client may say before it is told that there is no server for it.
const LONGEST_OPENING: usize = 10_000;
/// How much is passed on at once.
const PIECE: usize = 64 * 1024;

/// Passes what PostgreSQL's clients say on to a server, and back.
#[derive(Debug)]
pub struct Relay {
    address: Address,
    connect_timeout: Duration,
}

impl Relay {
    /// To the server at this address, which must answer within so long.
    pub const fn new(address: Address, connect_timeout: Duration) -> Self {
        Self { address, connect_timeout }
    }

    fn connect(&self) -> io::Result<Upstream> {
        match &self.address {
            Address::Unix(path) => Ok(Upstream::Unix(UnixStream::connect(path)?)),
            Address::Tcp(host, port) => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, self.connect_timeout) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            return Ok(Upstream::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }
}

impl Door for Relay {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn serve(&self, connection: &mut Connection) -> Ending {
        let upstream = match self.connect() {
            Ok(upstream) => upstream,
            Err(error) => {
                let said = format!("could not connect to the server behind at {}: {error}", self.address);
                tell(connection, &refused("08006", &said));
                return Ending::Refused(said);
            }
        };
        if let Err(full) = connection.admit() {
            let said = format!("sorry, too many clients already: there may be {}", full.limit);
            tell(connection, &refused("53300", &said));
            return Ending::Refused(said);
        }
        let ended = pass_both_ways(connection, &upstream);
        upstream.shut_down();
        match ended {
            Ok(()) if connection.stopping() => Ending::Stopped,
            Ok(()) => Ending::Goodbye,
            Err(error) => Ending::Broken(error),
        }
    }

    fn refusal(&self, why: &str) -> Vec<u8> {
        refused("53300", why)
    }
}

/// Tells a client that is not let in why, once it has asked for more than encryption.
fn tell(connection: &mut Connection, words: &[u8]) {
    let mut packet = Vec::new();
    let mut piece = [0; 256];
    while packet.len() < LONGEST_OPENING {
        match connection.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => packet.extend_from_slice(&piece[..count]),
        }
        match packet.get(4..8).map(|code| i32::from_be_bytes([code[0], code[1], code[2], code[3]])) {
            None => {}
            // TLS and GSSAPI: there is none, which is no answer yet.
            Some(80_877_103 | 80_877_104) => {
                packet.drain(..8);
                if connection.write_all(b"N").is_err() {
                    return;
                }
            }
            // Whether or not it can be told, it is not let in.
            Some(_) => return drop(connection.write_all(words)),
        }
    }
}

fn refused(sqlstate: &'static str, message: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    Backend::ErrorResponse(Notice::new(Severity::Fatal, sqlstate, message).into()).encode(&mut bytes);
    bytes
}

/// Until either side has closed. A thread each way: neither waits for what the other is not ready to take.
fn pass_both_ways(connection: &mut Connection, upstream: &Upstream) -> io::Result<()> {
    let (from, to) = (upstream.handle()?, connection.second_handle()?);
    let back = std::thread::Builder::new().name("relay".into()).spawn(move || {
        let ended = pass(from, &to);
        // Whoever waits for the client learns that there is nothing to wait for.
        let _ = socket_of(&to).and_then(|socket| socket.shutdown(Shutdown::Both));
        ended
    })?;
    let mut piece = vec![0; PIECE];
    let mut server = File::from(upstream.handle()?);
    let sent = loop {
        match connection.read(&mut piece) {
            Ok(0) => break Ok(()),
            Ok(count) => {
                if let Err(error) = server.write_all(&piece[..count]) {
                    break if ends(&error) { Ok(()) } else { Err(error) };
                }
            }
            Err(error) => break Err(error),
        }
    };
    upstream.shut_down();
    let received = back.join().unwrap_or_else(|_| Err(io::Error::other("the relay has failed")));
    sent.and(received)
}

fn pass(from: OwnedFd, to: &OwnedFd) -> io::Result<()> {
    let (mut from, mut to) = (File::from(from), File::from(to.try_clone()?));
    let mut piece = vec![0; PIECE];
    loop {
        let passed = from.read(&mut piece).and_then(|count| to.write_all(&piece[..count]).map(|()| count));
        match passed {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if ends(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// The other side has gone, which is how conversations end.
fn ends(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::NotConnected)
}

/// A socket, whichever it is, to be shut down.
fn socket_of(handle: &OwnedFd) -> io::Result<TcpStream> {
    Ok(TcpStream::from(handle.try_clone()?))
}

#[derive(Debug)]
enum Upstream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Upstream {
    fn handle(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Tcp(stream) => stream.try_clone().map(OwnedFd::from),
            Self::Unix(stream) => stream.try_clone().map(OwnedFd::from),
        }
    }

    fn shut_down(&self) {
        // It may be gone already.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}
