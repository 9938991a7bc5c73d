use rowferry_wire::Core;

/// The server's end of a [`Pair`]: bytes in, bytes out.
pub trait Peer {
    /// Takes bytes of the client and answers what can be answered.
    fn feed(&mut self, bytes: &[u8]);

    /// Takes the answers that wait.
    fn take_output(&mut self) -> Vec<u8>;
}

/// A client core and a server core joined in memory.
#[derive(Debug)]
pub struct Pair<C, P> {
    /// The client.
    pub client: C,
    /// The server.
    pub server: P,
    /// The most bytes that arrive at once, in either direction.
    pub piece: usize,
}

impl<C: Core, P: Peer> Pair<C, P> {
    /// Joins them; bytes arrive whole.
    pub fn new(client: C, server: P) -> Self {
        Self { client, server, piece: usize::MAX }
    }

    /// Moves what waits: all of the client's bytes to the server, then one piece of the answer to the client. False
    /// when nothing moved.
    pub fn advance(&mut self) -> bool {
        let mut moved = false;
        while !self.client.output().is_empty() {
            let output = self.client.output();
            let piece = output[..output.len().min(self.piece)].to_vec();
            self.client.sent(piece.len());
            self.server.feed(&piece);
            moved = true;
        }
        for piece in self.server.take_output().chunks(self.piece) {
            self.client.receive_space(piece.len())[..piece.len()].copy_from_slice(piece);
            self.client.received(piece.len());
            moved = true;
        }
        moved
    }
}
