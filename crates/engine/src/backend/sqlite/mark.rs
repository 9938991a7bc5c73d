//! What a database file says of itself in its header: that it is one of ours, and what its transactions are.

use std::path::Path;

use rowferry_dialect::informix::Logging;
use rowferry_dialect::{Condition, Error, Result};

/// `application_id` of a database without a log is this, of the others this plus a number: "Rf" and two bytes.
const MARK: i32 = 0x5266_0000;

/// Files that may stand beside a database's, by what comes behind its name.
pub const BESIDE: [&str; 3] = ["-wal", "-shm", super::file_watch::NOTE];

/// What transactions of a file are: four bytes of its header, so that nothing has to be opened. A file of somebody else's
/// is a database with a log.
///
/// # Errors
/// `58030` when the file cannot be read, or is no database.
pub fn logging_of(path: &Path) -> Result<Logging> {
    use std::io::Read as _;
    let mut header = Vec::with_capacity(72);
    let failed = |error: std::io::Error| {
        Error::new(Condition::IoError, format!("could not read \"{}\": {error}", path.display()))
    };
    std::fs::File::open(path).map_err(failed)?.take(72).read_to_end(&mut header).map_err(failed)?;
    if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
        return Err(Error::new(Condition::IoError, format!("\"{}\" is no SQLite database", path.display())));
    }
    let id = header.get(68..72).map(|bytes| i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Ok(match id.unwrap_or_default().wrapping_sub(MARK) {
        0 => Logging::None,
        2 => Logging::Buffered,
        3 => Logging::Ansi,
        _ => Logging::Log,
    })
}

/// Writes what transactions of a new file are.
///
/// # Errors
/// `58030` when the file cannot be written.
pub fn set_logging(path: &Path, logging: Logging) -> Result<()> {
    let number = match logging {
        Logging::None => 0,
        Logging::Log => 1,
        Logging::Buffered => 2,
        Logging::Ansi => 3,
    };
    let marked = rusqlite::Connection::open(path)
        .and_then(|connection| connection.pragma_update(None, "application_id", MARK + number));
    marked.map_err(|error| Error::new(Condition::IoError, format!("could not write \"{}\": {error}", path.display())))
}
