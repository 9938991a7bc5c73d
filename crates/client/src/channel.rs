use std::sync::Arc;

use rowferry_wire::Core;
use rustls::ClientConfig;

use crate::error::Error;
use crate::tls::TlsLayer;

/// A client core, plain or behind TLS, as a pump sees it.
///
/// A pump does only this: write [`output`](Channel::output) and tell [`sent`](Channel::sent); read into
/// [`receive_space`](Channel::receive_space) and tell [`received`](Channel::received) or
/// [`received_eof`](Channel::received_eof). Between two such steps the driver talks to [`core`](Channel::core_mut).
/// No sockets here: the blocking [`Pump`](crate::Pump) and an event loop use the same channel.
#[derive(Debug)]
pub struct Channel<C> {
    core: C,
    tls: Option<Box<TlsLayer>>,
}

impl<C: Core> Channel<C> {
    /// A channel without TLS.
    pub const fn new(core: C) -> Self {
        Self { core, tls: None }
    }

    /// The core.
    pub const fn core(&self) -> &C {
        &self.core
    }

    /// The core, to command and to poll.
    pub const fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    /// From here on everything is encrypted. Call when all earlier output was sent and the core has said so.
    ///
    /// `server_name` is what the certificate must be issued for, where the configuration checks that.
    pub fn start_tls(&mut self, config: Arc<ClientConfig>, server_name: &str) -> Result<(), Error> {
        self.tls = Some(Box::new(TlsLayer::new(config, server_name)?));
        Ok(())
    }

    /// The TLS version and cipher in use, once the handshake is over.
    pub fn tls_description(&self) -> Option<String> {
        self.tls.as_ref()?.description()
    }

    /// True when the channel is behind TLS.
    pub const fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Space for bytes from the peer.
    pub fn receive_space(&mut self, least: usize) -> &mut [u8] {
        match &mut self.tls {
            Some(tls) => tls.receive_space(),
            None => self.core.receive_space(least),
        }
    }

    /// The first `count` bytes of the last [`receive_space`](Channel::receive_space) were filled.
    pub fn received(&mut self, count: usize) -> Result<(), Error> {
        match &mut self.tls {
            Some(tls) => tls.received(count, &mut self.core),
            None => {
                self.core.received(count);
                Ok(())
            }
        }
    }

    /// Takes bytes that the caller holds elsewhere.
    pub fn receive(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let space = self.receive_space(bytes.len());
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.received(count)?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// The peer has closed its side.
    pub fn received_eof(&mut self) {
        self.core.received_eof();
    }

    /// Bytes that wait to be written; empty when there are none.
    pub fn output(&mut self) -> Result<&[u8], Error> {
        match &mut self.tls {
            Some(tls) => tls.output(&mut self.core),
            None => Ok(self.core.output()),
        }
    }

    /// The first `count` bytes of the last [`output`](Channel::output) were written.
    pub fn sent(&mut self, count: usize) {
        match &mut self.tls {
            Some(tls) => tls.sent(count),
            None => self.core.sent(count),
        }
    }
}
