//! Wakes a session's thread while it waits for its client.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rowferry_engine::notifications::Bell;
use rowferry_engine::{Condition, Error};

/// A pipe with at most one byte in it. It is made when the session first listens: others need none.
#[derive(Debug, Default)]
pub(crate) struct Doorbell {
    pipe: OnceLock<(PipeReader, PipeWriter)>,
    /// There is a byte in the pipe, or about to be.
    rung: AtomicBool,
}

impl Doorbell {
    /// What becomes readable when the bell rings; nothing before it was hung.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.get().map(|(reader, _)| reader.as_fd())
    }

    /// The bell has rung: it can ring anew. Whatever it has rung for is to be looked for behind this call.
    pub(crate) fn heard(&self) {
        if let Some((reader, _)) = self.pipe.get() {
            let mut reader = reader;
            // The byte is there: that is why somebody looks. What a read may fail of is no matter then.
            let _ = reader.read(&mut [0; 1]);
        }
        // Reads what the ringer has written: what it had put down before is seen.
        self.rung.swap(false, Ordering::AcqRel);
    }
}

impl Bell for Doorbell {
    fn hang(&self) -> Result<(), Error> {
        if self.pipe.get().is_none() {
            let pipe = std::io::pipe().map_err(|error| {
                let message = format!("could not create a pipe to be notified by: {error}");
                Error::new(Condition::InsufficientResources, message)
            })?;
            let _ = self.pipe.set(pipe);
        }
        Ok(())
    }

    fn ring(&self) {
        if let Some((_, writer)) = self.pipe.get()
            && !self.rung.swap(true, Ordering::AcqRel)
        {
            // Never waits: the pipe is empty. Nothing can be done about a system that refuses a byte.
            let mut writer = writer;
            let _ = writer.write(&[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_once_until_it_is_heard() {
        let bell = Doorbell::default();
        bell.ring();
        assert!(bell.as_fd().is_none(), "it does not hang");
        bell.hang().unwrap();
        for _ in 0..3 {
            // More than a pipe would hold, if each were a byte.
            (0..100_000).for_each(|_| bell.ring());
            bell.heard();
        }
    }
}
