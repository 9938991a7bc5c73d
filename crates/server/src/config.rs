//! Where to listen, and how much to bear.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// A place to listen at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Endpoint {
    /// An address and a port; port 0 takes any free one.
    Tcp(SocketAddr),
    /// A unix socket of this path.
    Unix(PathBuf),
}

impl Endpoint {
    /// True when only programs on this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// Reads `host:port`, `host`, `:port`, `port` or `[v6]:port`; what is missing is 127.0.0.1 and `default_port`.
    ///
    /// Only literal addresses and `localhost`: a name could resolve to more than one address.
    pub fn parse_tcp(text: &str, default_port: u16) -> Result<Self, ParseEndpointError> {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let host = |name: &str| match name {
            "" | "localhost" => Ok(loopback),
            "*" => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            _ => IpAddr::from_str(name.trim_start_matches('[').trim_end_matches(']')).map_err(|_| ParseEndpointError),
        };
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self::Tcp(address));
        }
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Self::Tcp((loopback, port).into()));
        }
        match text.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') => {
                Ok(Self::Tcp((host(name)?, port.parse().map_err(|_| ParseEndpointError)?).into()))
            }
            _ => Ok(Self::Tcp((host(text)?, default_port).into())),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// The text names no address to listen at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParseEndpointError;

impl fmt::Display for ParseEndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address such as 127.0.0.1:5432, :5432, 5432 or [::1]:5432")
    }
}

impl std::error::Error for ParseEndpointError {}

/// How much the server bears. All of it holds for the doors together.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Sessions at a time; the next one is told so (`53300`).
    pub max_connections: usize,
    /// Connections at a time that have not authenticated yet. When one more comes, the oldest of them is cut, so that
    /// peers which connect and say nothing cannot keep others out.
    pub max_handshakes: usize,
    /// From accept to the end of the authentication, all steps together.
    pub handshake_timeout: Duration,
    /// How long a session may be silent outside a transaction; `None` is for ever.
    pub idle_timeout: Option<Duration>,
    /// How long a session may be silent inside a transaction, where it may hold locks; `None` is for ever.
    pub idle_in_transaction_timeout: Option<Duration>,
    /// How long a peer may take none of the bytes that we send; such a peer is gone.
    pub write_timeout: Duration,
    /// The longest message from a client, in bytes.
    pub max_message: usize,
    /// How long statements may go on after the server was asked to stop, before they are interrupted.
    pub stop_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 500,
            max_handshakes: 64,
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: None,
            idle_in_transaction_timeout: None,
            write_timeout: Duration::from_secs(300),
            max_message: rowferry_wire_pg::frame::DEFAULT_MESSAGE_LIMIT,
            stop_grace: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses_as_people_write_them() {
        for (text, expected) in [
            ("127.0.0.1:5433", "127.0.0.1:5433"),
            ("0.0.0.0", "0.0.0.0:5432"),
            ("localhost", "127.0.0.1:5432"),
            ("localhost:0", "127.0.0.1:0"),
            (":0", "127.0.0.1:0"),
            ("5433", "127.0.0.1:5433"),
            ("*:5433", "0.0.0.0:5433"),
            ("[::1]:5433", "[::1]:5433"),
            ("::1", "[::1]:5432"),
        ] {
            assert_eq!(Endpoint::parse_tcp(text, 5432).unwrap().to_string(), expected, "{text}");
        }
        for text in ["example.org", "127.0.0.1:65536", "127.0.0.1:", "a:b:c", "1.2.3.4.5"] {
            assert_eq!(Endpoint::parse_tcp(text, 5432), Err(ParseEndpointError), "{text}");
        }
    }
}
