//! Whom to trust when the caller names no authority: the machine's authorities, among which a company puts its own.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

use crate::error::Error;

/// In place of a file: the authorities of the machine and no others, as libpq's `sslrootcert=system`.
pub(super) const SYSTEM: &str = "system";
/// In place of a file: the authorities that browsers trust, as they were when this program was built.
pub(super) const BUNDLED: &str = "bundled";

/// Where authorities come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Roots<'a> {
    /// The machine's, or those of browsers where it has none.
    Usual,
    /// The machine's.
    System,
    /// Those of browsers.
    Bundled,
    /// Those of a file.
    File(&'a PathBuf),
}

impl<'a> Roots<'a> {
    pub(super) fn named(file: Option<&'a PathBuf>) -> Self {
        match file {
            None => Self::Usual,
            Some(file) if file == Path::new(SYSTEM) => Self::System,
            Some(file) if file == Path::new(BUNDLED) => Self::Bundled,
            Some(file) => Self::File(file),
        }
    }

    /// Adds the authorities that are in no file of the caller's.
    pub(super) fn add_to(self, roots: &mut RootCertStore) -> Result<(), Error> {
        let system = match self {
            Self::Usual | Self::System => system(),
            Self::Bundled => &[],
            Self::File(_) => return Ok(()),
        };
        // Stores of whole systems hold certificates that the verifier cannot use; it skips those.
        let (added, _) = roots.add_parsable_certificates(system.iter().cloned());
        match (self, added) {
            (Self::System, 0) => Err(Error::Tls(
                "this machine has no certificates of authorities; SSL_CERT_FILE or SSL_CERT_DIR can name some".into(),
            )),
            (_, 0) => {
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The machine's authorities, read once: a store has 150 of them.
fn system() -> &'static [CertificateDer<'static>] {
    static SYSTEM: LazyLock<Vec<CertificateDer<'static>>> =
        LazyLock::new(|| rustls_native_certs::load_native_certs().certs);
    &SYSTEM
}
