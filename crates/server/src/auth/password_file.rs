//! The password file: a line `name:password` for each user.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Users;

/// Why a password file cannot be used.
#[derive(Debug)]
pub struct PasswordFileError {
    path: PathBuf,
    /// The line, from 1; 0 concerns the whole file.
    line: usize,
    why: String,
}

impl fmt::Display for PasswordFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.why),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.why),
        }
    }
}

impl std::error::Error for PasswordFileError {}

impl Users {
    /// Adds the users of a password file.
    ///
    /// A line each: `name:password`, or `name:SCRAM-SHA-256$…` as PostgreSQL stores it. Empty lines and lines that begin
    /// with `#` are skipped. A file that others than its owner may read is refused.
    pub fn add_file(&mut self, path: &Path) -> Result<(), PasswordFileError> {
        let fail = |line, why: String| PasswordFileError { path: path.to_owned(), line, why };
        let metadata = std::fs::metadata(path).map_err(|error| fail(0, error.to_string()))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(fail(0, "others may read this file; make it private (chmod 600)".into()));
        }
        let text = std::fs::read_to_string(path).map_err(|error| fail(0, error.to_string()))?;
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(':') {
                Some((name, password)) if !name.is_empty() => {
                    self.add(name, password).map_err(|error| fail(index + 1, error.to_string()))?;
                }
                _ => return Err(fail(index + 1, "expected name:password".into())),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, mode: u32) -> Result<Users, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("users");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut users = Users::none();
        users.add_file(&path).map(|()| users).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_names_and_passwords() {
        let users = load("# staff\nada:pen:cil\n\nbob:\n", 0o600).unwrap();
        assert_eq!(users.len(), 2);
        assert!(users.accepts("ada", "pen:cil"));
        assert!(users.accepts("bob", ""));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(load("ada:x\nbob\n", 0o600).unwrap_err().ends_with(":2: expected name:password"));
        assert!(load(":x\n", 0o600).unwrap_err().ends_with(":1: expected name:password"));
        assert!(load("ada:x\nbob:SCRAM-SHA-256$4096:x\n", 0o600).unwrap_err().contains(":2: malformed verifier"));
        assert!(load("ada:x\n", 0o644).unwrap_err().contains("chmod 600"));
    }
}
