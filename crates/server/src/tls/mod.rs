//! Certificates: given as files, or generated at start.

mod certificate;
mod end_point;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub(crate) use certificate::common_name;
use parking_lot::RwLock;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// PostgreSQL's name in ALPN, for clients that begin with TLS at once (`sslnegotiation=direct`).
const ALPN: &[u8] = b"postgresql";

/// Certificates and all else that a TLS handshake needs; cheap to clone.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) rustls: Arc<ServerConfig>,
    /// What binds an authentication to the certificate; `None` when its kind has no such thing.
    pub(crate) end_point: Option<Arc<[u8]>>,
}

/// The TLS of a server: its certificate of this moment, which can be replaced while it runs.
#[derive(Debug)]
pub struct Tls {
    config: RwLock<Config>,
    required: bool,
}

impl Tls {
    /// Offers TLS; with `required`, to TCP clients nothing else is offered.
    pub fn new(config: Config, required: bool) -> Self {
        Self { config: RwLock::new(config), required }
    }

    /// Another certificate from now on. Connections that are open keep the old one.
    pub fn replace(&self, config: Config) {
        *self.config.write() = config;
    }

    /// What a handshake of this moment needs where another protocol than the doors' is spoken, by its name in ALPN.
    pub fn handshakes(&self, protocol: &str) -> Arc<ServerConfig> {
        let mut config = ServerConfig::clone(&self.config.read().rustls);
        config.alpn_protocols = vec![protocol.into()];
        Arc::new(config)
    }

    pub(crate) fn config(&self) -> Config {
        self.config.read().clone()
    }

    pub(crate) fn required(&self) -> bool {
        self.required
    }
}

/// Why there is no TLS.
#[derive(Debug)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// Who may vouch for clients that show a certificate.
#[derive(Clone, Debug)]
pub struct Authorities(Arc<RootCertStore>);

impl Authorities {
    /// Those of a PEM file.
    pub fn read(path: &Path) -> Result<Self, TlsError> {
        let mut store = RootCertStore::empty();
        for certificate in certificates(path)? {
            store.add(certificate).map_err(|error| unreadable(path, &error))?;
        }
        Ok(Self(Arc::new(store)))
    }
}

fn unreadable(path: &Path, error: &dyn fmt::Display) -> TlsError {
    TlsError(format!("cannot read {}: {error}", path.display()))
}

/// The certificates of a PEM file, of which there is at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(path, &error))?;
    match found.is_empty() {
        true => Err(unreadable(path, &"no certificate in it")),
        false => Ok(found),
    }
}

/// TLS with the certificate chain and the private key of these PEM files. Clients may show a certificate where there are
/// authorities to vouch for it; rules say who must.
pub fn from_files(certificate: &Path, key: &Path, authorities: Option<&Authorities>) -> Result<Config, TlsError> {
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    configure(chain, key, authorities)
}

/// TLS with a certificate made now for `names`, which nobody has signed: it keeps eavesdroppers out, and clients that
/// verify will refuse it.
pub fn generated(names: Vec<String>, authorities: Option<&Authorities>) -> Result<Config, TlsError> {
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(|error| TlsError(format!("cannot generate a certificate: {error}")))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    configure(vec![made.cert.der().clone()], key, authorities)
}

fn configure(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    authorities: Option<&Authorities>,
) -> Result<Config, TlsError> {
    let end_point = chain.first().and_then(|certificate| end_point::hash(certificate)).map(Arc::from);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError(error.to_string()))?;
    let builder = match authorities {
        None => builder.with_no_client_auth(),
        Some(Authorities(roots)) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::clone(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| TlsError(format!("the authorities of clients cannot be used: {error}")))?,
        ),
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(|error| TlsError(format!("certificate and key do not go together: {error}")))?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Config { rustls: Arc::new(config), end_point })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_a_certificate() {
        assert!(generated(vec!["localhost".into()], None).is_ok());
    }

    #[test]
    fn says_which_file_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().join("server.crt");
        std::fs::write(&empty, "").unwrap();
        let error = from_files(&empty, &empty, None).unwrap_err().to_string();
        assert!(error.contains("server.crt") && error.contains("no certificate"), "{error}");
        let error = from_files(&directory.path().join("absent"), &empty, None).unwrap_err().to_string();
        assert!(error.contains("absent"), "{error}");
        let error = Authorities::read(&empty).unwrap_err().to_string();
        assert!(error.contains("no certificate"), "{error}");
    }
}
