//! Files of the client: LOAD DATA LOCAL INFILE.

use std::io::ErrorKind;

use rowferry_engine::{Error, Session};
use rowferry_wire_mysql::messages::handshake::capability;
use rowferry_wire_mysql::server::Request;

use super::{MysqlSession, Obeyed};
use crate::Ending;
use crate::mysql::report;

impl MysqlSession<'_> {
    /// Asks the client for a file, and hands its pieces to `take` as they come. What `take` fails with is told once the
    /// client has sent all of it: it reads nothing before.
    pub(super) fn read_file(
        &mut self,
        name: &[u8],
        mut take: impl FnMut(&mut Session, &[u8]) -> Result<(), Error>,
    ) -> Obeyed {
        if !self.wire.server.has(capability::LOCAL_FILES) {
            let message = "Loading local data is disabled; this must be enabled on both the client and server sides";
            return Err(report::own(3948, "42000", message).into());
        }
        self.wire.server.ask_file(name);
        self.wire.flush()?;
        let mut failure = None;
        loop {
            match self.wire.poll()? {
                Some(Request::File(piece)) if piece.is_empty() => break,
                Some(Request::File(piece)) if failure.is_none() => {
                    failure = take(&mut self.session, &piece).err();
                }
                Some(Request::File(_)) => {}
                Some(_) => return Err(Ending::Protocol("something else than a piece of a file".into()).into()),
                None => match self.wire.read() {
                    Ok(0) => return Err(Ending::Gone.into()),
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::TimedOut => {
                        return Err(Ending::TimedOut("a file was not sent").into());
                    }
                    Err(error) => return Err(Ending::Broken(error).into()),
                },
            }
        }
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
