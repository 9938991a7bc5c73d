use std::fmt;
use std::sync::Arc;

use rowferry_wire::Core;
use rustls::ClientConfig;

use crate::channel::Channel;
use crate::error::{Error, Waiting};
use crate::stream::{Address, Deadline, Moved, Opening, Stream, Timeouts};

/// Asked whenever a wait is cut short (twice a second, or by a signal): false ends the wait with
/// [`Error::Interrupted`].
pub type KeepWaiting = Box<dyn FnMut() -> bool + Send>;

/// One read takes at most this much before the core gets to see it, so that decoding overlaps with the server's work.
const DRAIN_LIMIT: usize = 1024 * 1024;

/// A core and the socket it talks over: the blocking pump.
///
/// A driver commands the core, then calls [`drive`](Pump::drive) with a step that polls the core until the
/// conversation is over; the pump writes and reads whenever the step answers `None`.
pub struct Pump<C> {
    channel: Channel<C>,
    stream: Stream,
    keep_waiting: Option<KeepWaiting>,
}

impl<C: fmt::Debug> fmt::Debug for Pump<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump").field("channel", &self.channel).field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<C: Core> Pump<C> {
    /// Connects a socket for `core`. Nothing is read or written yet.
    pub fn connect(address: &Address, timeouts: Timeouts, opening: Opening, core: C) -> Result<Self, Error> {
        Ok(Self::new(Stream::connect(address, timeouts, opening)?, core))
    }

    /// Joins a core and a connected stream.
    pub const fn new(stream: Stream, core: C) -> Self {
        Self { channel: Channel::new(core), stream, keep_waiting: None }
    }

    /// Sets the hook that is asked when a wait is cut short.
    pub fn set_keep_waiting(&mut self, hook: KeepWaiting) {
        self.keep_waiting = Some(hook);
    }

    /// The core.
    pub const fn core(&self) -> &C {
        self.channel.core()
    }

    /// The core, to command and to poll.
    pub const fn core_mut(&mut self) -> &mut C {
        self.channel.core_mut()
    }

    /// The channel between core and socket.
    pub const fn channel(&self) -> &Channel<C> {
        &self.channel
    }

    /// The channel between core and socket.
    pub const fn channel_mut(&mut self) -> &mut Channel<C> {
        &mut self.channel
    }

    /// The socket.
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The socket, to change its time-outs.
    pub const fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Polls the core by `step` until it answers `Some`, moving bytes whenever it answers `None`.
    pub fn drive<T>(&mut self, mut step: impl FnMut(&mut C) -> Option<T>) -> Result<T, Error> {
        loop {
            if let Some(done) = step(self.channel.core_mut()) {
                return Ok(done);
            }
            self.advance()?;
        }
    }

    /// Writes everything that waits, then waits for bytes of the peer.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.flush()? {
            return Ok(());
        }
        self.wait_for_bytes()
    }

    /// Writes everything that waits. True when bytes came in meanwhile (the peer did not take ours before we took
    /// some of its): the core should see them before anybody waits for more.
    pub fn flush(&mut self) -> Result<bool, Error> {
        self.write_out(false)
    }

    /// Writes everything that waits, the last before the caller drops the pump: the kernel may send the end of the stream
    /// with it, in one packet.
    pub fn flush_last(&mut self) -> Result<(), Error> {
        self.write_out(true).map(drop)
    }

    fn write_out(&mut self, more: bool) -> Result<bool, Error> {
        let mut came = false;
        let mut deadline = None;
        loop {
            let output = self.channel.output()?;
            if output.is_empty() {
                return Ok(came);
            }
            match self.stream.try_send(output, more)? {
                Moved::Bytes(count) => {
                    self.channel.sent(count);
                    deadline = None;
                }
                Moved::Nothing => {
                    deadline
                        .get_or_insert_with(|| Deadline::after(self.stream.timeouts().write))
                        .check(Waiting::Write)?;
                    self.stream.poll_both()?;
                    self.ask_hook()?;
                    // A peer that waits for us to read will not read either.
                    came |= self.receive_available(0)?;
                }
            }
        }
    }

    /// Waits until at least one byte has come, within the read time-out.
    pub fn wait_for_bytes(&mut self) -> Result<(), Error> {
        let deadline = Deadline::after(self.stream.timeouts().read);
        loop {
            let space = self.channel.receive_space(1);
            let room = space.len();
            match self.stream.try_receive(space, true) {
                Ok(Moved::Bytes(count)) => {
                    self.channel.received(count)?;
                    if count == room {
                        self.receive_available(count)?;
                    }
                    return Ok(());
                }
                Ok(Moved::Nothing) => {
                    self.ask_hook()?;
                    deadline.check(Waiting::Read)?;
                }
                Err(error) => {
                    self.channel.received_eof();
                    return Err(error);
                }
            }
        }
    }

    /// Takes what has come, and waits for nothing.
    pub fn take_available(&mut self) -> Result<bool, Error> {
        self.receive_available(0)
    }

    /// Encrypts from here on: first writes what waits in plain text, then performs the TLS handshake.
    pub fn start_tls(&mut self, config: Arc<ClientConfig>, server_name: &str) -> Result<(), Error> {
        self.flush()?;
        self.channel.start_tls(config, server_name)
    }

    /// Reads what has come without waiting, up to [`DRAIN_LIMIT`] together with the `total` bytes just read.
    fn receive_available(&mut self, mut total: usize) -> Result<bool, Error> {
        while total < DRAIN_LIMIT {
            let space = self.channel.receive_space(1);
            let room = space.len();
            match self.stream.try_receive(space, false) {
                Ok(Moved::Bytes(count)) => {
                    self.channel.received(count)?;
                    total += count;
                    if count < room {
                        break;
                    }
                }
                Ok(Moved::Nothing) => break,
                // What came before the end is still to be seen; the next read meets the end again.
                Err(_) if total > 0 => break,
                Err(error) => {
                    self.channel.received_eof();
                    return Err(error);
                }
            }
        }
        Ok(total > 0)
    }

    fn ask_hook(&mut self) -> Result<(), Error> {
        let go_on = self.keep_waiting.as_mut().is_none_or(|hook| hook());
        if go_on { Ok(()) } else { Err(Error::Interrupted) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

    use rowferry_wire::ReceiveBuffer;

    use super::*;

    /// Collects what comes and sends what it was given.
    #[derive(Debug, Default)]
    struct Collector {
        receive: ReceiveBuffer,
        output: Vec<u8>,
        closed: bool,
    }

    impl Core for Collector {
        fn receive_space(&mut self, least: usize) -> &mut [u8] {
            self.receive.space(least)
        }
        fn received(&mut self, count: usize) {
            self.receive.filled(count);
        }
        fn received_eof(&mut self) {
            self.closed = true;
        }
        fn output(&self) -> &[u8] {
            &self.output
        }
        fn sent(&mut self, count: usize) {
            self.output.drain(..count);
        }
    }

    fn pair(timeouts: Timeouts) -> (Pump<Collector>, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let pump =
            Pump::connect(&Address::Tcp("127.0.0.1".into(), port), timeouts, Opening::default(), Collector::default())
                .unwrap();
        (pump, listener.accept().unwrap().0)
    }

    #[test]
    fn a_silent_peer_ends_in_a_time_out() {
        let limit = Some(Duration::from_millis(20));
        let (mut pump, _peer) = pair(Timeouts { connect: limit, read: limit, write: limit });
        assert!(matches!(pump.advance(), Err(Error::TimedOut(Waiting::Read))));
        // Nobody reads: sooner or later the kernel takes no more.
        pump.core_mut().output = vec![0; 64 << 20];
        assert!(matches!(pump.advance(), Err(Error::TimedOut(Waiting::Write))));
    }

    #[test]
    fn a_peer_that_leaves_is_noticed() {
        let (mut pump, peer) = pair(Timeouts::default());
        drop(peer);
        assert!(matches!(pump.advance(), Err(Error::Closed)));
        assert!(pump.core().closed);
    }

    #[test]
    fn the_hook_ends_a_wait() {
        let (mut pump, _peer) = pair(Timeouts::default());
        pump.set_keep_waiting(Box::new(|| false));
        assert!(matches!(pump.advance(), Err(Error::Interrupted)));
    }

    #[test]
    fn takes_answers_while_a_large_request_is_written() {
        const SIZE: usize = 16 << 20;
        let (mut pump, mut peer) = pair(Timeouts::default());
        // The peer answers everything before it reads anything: a pump that only writes would wait for ever.
        let server = std::thread::spawn(move || {
            peer.write_all(&vec![7; SIZE]).unwrap();
            let mut request = vec![0; SIZE];
            peer.read_exact(&mut request).unwrap();
        });
        pump.core_mut().output = vec![1; SIZE];
        pump.drive(|core| (core.output.is_empty() && core.receive.unread().len() == SIZE).then_some(())).unwrap();
        server.join().unwrap();
    }
}
