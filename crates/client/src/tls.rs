use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use rowferry_wire::Core;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::Error;
use crate::stream::Address;

mod key;
mod roots;
mod suites;

pub use key::PassPhrase;
use roots::Roots;

/// When to encrypt, and what to check.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum TlsMode {
    /// Never.
    #[default]
    Disabled,
    /// When the server offers it; the certificate is not checked.
    Preferred,
    /// Always; the certificate is not checked.
    Required,
    /// Always; the certificate must come from a known authority.
    VerifyCa,
    /// Always; the certificate must come from a known authority and be issued for the host.
    VerifyIdentity,
}

/// How to set TLS up. Files are PEM. Without any authority named, those of the machine are trusted, or, where it has none,
/// those that browsers trust.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct TlsOptions {
    /// When to encrypt, and what to check.
    pub mode: TlsMode,
    /// Certificates of the authorities to trust: a file, or `system` for the machine's, or `bundled` for those that
    /// browsers trust (a file of that name is `./system`).
    pub ca: Option<PathBuf>,
    /// Our own certificate chain, for servers that ask for one.
    pub certificate: Option<PathBuf>,
    /// The private key of `certificate`.
    pub key: Option<PathBuf>,
    /// What opens `key` when it is encrypted (PKCS#8).
    pub key_password: Option<PassPhrase>,
    /// A directory whose files are certificates of authorities to trust, whatever their names.
    pub ca_directory: Option<PathBuf>,
    /// Certificates of further authorities to trust, in DER.
    pub authorities: Vec<Vec<u8>>,
    /// SHA-256 of the certificates of which the server must show one; with these and without an authority no other
    /// check is made.
    pub fingerprints: Vec<[u8; 32]>,
    /// Versions of TLS by name (`TLSv1.2`, `TLSv1.3`); all when empty.
    pub versions: Vec<String>,
    /// Cipher suites by OpenSSL's names or the standard's; all when empty.
    pub ciphers: Vec<String>,
}

impl TlsOptions {
    /// The configuration for these options and this server, read and built once for each distinct set and then shared.
    ///
    /// A file changed on disk is noticed by its modification time. Sessions are resumed with the server that they began
    /// with: rustls keeps them by the certificate's name, under which several servers may be known (ports of one host,
    /// tunnels). The ticket or the key exchange of another of them can end a handshake.
    pub fn config(&self, server: &Address) -> Result<Arc<ClientConfig>, Error> {
        static CACHE: LazyLock<Mutex<HashMap<TlsOptions, Known>>> = LazyLock::new(Mutex::default);
        let modified = |path: &Option<PathBuf>| path.as_ref()?.metadata().ok()?.modified().ok();
        let stamp = [&self.ca, &self.ca_directory, &self.certificate, &self.key].map(modified);
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cache.get_mut(self)
            && known.stamp == stamp
        {
            return Ok(known.of(server));
        }
        let mut known = Known { stamp, config: self.build()?, servers: HashMap::new() };
        let config = known.of(server);
        cache.insert(self.clone(), known);
        Ok(config)
    }

    fn build(&self) -> Result<ClientConfig, Error> {
        let tls = |error: rustls::Error| Error::Tls(error.to_string());
        let mut provider = rustls::crypto::ring::default_provider();
        suites::restrict(&mut provider, &self.ciphers)?;
        let provider = Arc::new(provider);
        let versions = suites::versions(&self.versions)?;
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(&versions);
        let builder = builder.map_err(tls)?;
        let builder = match self.mode {
            TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => {
                builder.dangerous().with_custom_certificate_verifier(self.pinned(Arc::new(Unverified(provider))))
            }
            TlsMode::VerifyCa | TlsMode::VerifyIdentity => {
                let given = self.given_authorities()?;
                let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots(&given)?), provider)
                    .build()
                    .map_err(|error| Error::Tls(error.to_string()))?;
                let named = self.mode == TlsMode::VerifyIdentity;
                let verifier = self.pinned(Arc::new(Verified { inner, given, named }));
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }
        };
        match (&self.certificate, &self.key) {
            (Some(certificate), key) => {
                let chain = certificates(certificate)?;
                let key = key.as_ref().unwrap_or(certificate);
                let key = key::private_key(key, self.key_password.as_ref())?;
                builder.with_client_auth_cert(chain, key).map_err(tls)
            }
            (None, Some(_)) => Err(Error::Tls("a private key was given without its certificate".into())),
            (None, None) => Ok(builder.with_no_client_auth()),
        }
    }

    /// The certificates that the caller trusts.
    fn given_authorities(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let mut given = match Roots::named(self.ca.as_ref()) {
            Roots::File(file) => certificates(file)?,
            _ => Vec::new(),
        };
        given.extend(self.authorities.iter().map(|der| CertificateDer::from(der.clone())));
        if let Some(directory) = &self.ca_directory {
            given.extend(certificates_below(directory)?);
        }
        Ok(given)
    }

    /// `verifier`, after the certificate was found among the `fingerprints`, if there are any.
    fn pinned(&self, verifier: Arc<dyn ServerCertVerifier>) -> Arc<dyn ServerCertVerifier> {
        if self.fingerprints.is_empty() {
            return verifier;
        }
        Arc::new(Pinned { fingerprints: self.fingerprints.clone(), verifier })
    }

    fn roots(&self, given: &[CertificateDer<'static>]) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore::empty();
        let named = Roots::named(self.ca.as_ref());
        // Authorities that come otherwise are instead of the usual ones, and beside those that are asked for by name.
        if given.is_empty() || named != Roots::Usual {
            named.add_to(&mut roots)?;
        }
        let (added, _) = roots.add_parsable_certificates(given.iter().cloned());
        match named {
            Roots::File(path) if added == 0 => {
                Err(Error::Tls(format!("{}: no usable certificate in it", path.display())))
            }
            _ => Ok(roots),
        }
    }
}

/// What has been built for one set of options.
struct Known {
    /// When each of its files was changed last.
    stamp: [Option<SystemTime>; 4],
    /// Without sessions.
    config: ClientConfig,
    /// With the sessions of each server.
    servers: HashMap<Address, Arc<ClientConfig>>,
}

impl Known {
    /// Servers whose sessions are kept: beyond that, all are forgotten and begin anew.
    const SERVERS: usize = 1_000;
    /// Sessions of a server: as many as rustls keeps for one name.
    const SESSIONS: usize = 8;

    fn of(&mut self, server: &Address) -> Arc<ClientConfig> {
        if let Some(config) = self.servers.get(server) {
            return config.clone();
        }
        if self.servers.len() >= Self::SERVERS {
            self.servers.clear();
        }
        let mut config = self.config.clone();
        config.resumption = Resumption::in_memory_sessions(Self::SESSIONS);
        let config = Arc::new(config);
        self.servers.insert(server.clone(), config.clone());
        config
    }
}

/// The certificates of all files in a directory; what is none is passed over, as OpenSSL does.
fn certificates_below(directory: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let failed = |error: std::io::Error| Error::Tls(format!("certificates {}: {error}", directory.display()));
    let mut found = Vec::new();
    for entry in directory.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            found.extend(certificates(&path).unwrap_or_default());
        }
    }
    match found.is_empty() {
        true => Err(Error::Tls(format!("{}: no file in it is a certificate", directory.display()))),
        false => Ok(found),
    }
}

fn certificates(path: &PathBuf) -> Result<Vec<CertificateDer<'static>>, Error> {
    let failed = |error: String| Error::Tls(format!("certificates {}: {error}", path.display()));
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?.collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err(failed("no certificate in the file".into())),
        Ok(chain) => Ok(chain),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Encrypts without asking who is there, as `REQUIRED` means for MySQL clients.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Lets only certificates through that are known by their SHA-256, and only those that `verifier` accepts.
#[derive(Debug)]
struct Pinned {
    fingerprints: Vec<[u8; 32]>,
    verifier: Arc<dyn ServerCertVerifier>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let provider = rustls::crypto::ring::default_provider();
        let shown = suites::sha256(&provider, end_entity)
            .ok_or_else(|| rustls::Error::General("no SHA-256 for the fingerprint".into()))?;
        if !self.fingerprints.contains(&shown) {
            let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            return Err(rustls::Error::General(format!("the certificate has another fingerprint: SHA-256 {hex}")));
        }
        self.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Checks the chain, and the name when `named`.
///
/// A certificate that is itself one of those given is trusted, too, as OpenSSL does: servers with a certificate of their
/// own making are often known by just that. The verifier refuses these when they are authorities.
#[derive(Debug)]
struct Verified {
    inner: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
    named: bool,
}

/// What the verifier says of an authority in a server's place. Dates were in order before it looks at that.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

impl ServerCertVerifier for Verified {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        match self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            // The name is checked last, once the chain stands.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) if !self.named => {
                Ok(ServerCertVerified::assertion())
            }
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(why)))
                if why.0.to_string() == AUTHORITY_AS_SERVER && self.given.iter().any(|given| given == end_entity) =>
            {
                if self.named {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Cipher text is read in pieces of this size; a TLS record is at most 16 KiB and a little.
const CIPHER_SPACE: usize = 128 * 1024;

/// The TLS layer of a channel: cipher text outside, the core's bytes inside.
pub(crate) struct TlsLayer {
    connection: ClientConnection,
    incoming: Box<[u8]>,
    outgoing: Vec<u8>,
    sent: usize,
}

impl std::fmt::Debug for TlsLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsLayer").field("description", &self.description()).finish_non_exhaustive()
    }
}

impl TlsLayer {
    pub(crate) fn new(config: Arc<ClientConfig>, server_name: &str) -> Result<Self, Error> {
        let name = ServerName::try_from(server_name.to_owned())
            .map_err(|_| Error::Tls(format!("`{server_name}` is no host name that a certificate could be for")))?;
        let connection = ClientConnection::new(config, name).map_err(|error| Error::Tls(error.to_string()))?;
        let incoming = vec![0; CIPHER_SPACE].into_boxed_slice();
        Ok(Self { connection, incoming, outgoing: Vec::new(), sent: 0 })
    }

    pub(crate) fn description(&self) -> Option<String> {
        let version = self.connection.protocol_version()?;
        let suite = self.connection.negotiated_cipher_suite()?;
        Some(format!("{} {}", version.as_str().unwrap_or("TLS"), suite.suite().as_str().unwrap_or("unknown cipher")))
    }

    pub(crate) fn receive_space(&mut self) -> &mut [u8] {
        &mut self.incoming
    }

    pub(crate) fn received(&mut self, count: usize, core: &mut impl Core) -> Result<(), Error> {
        let failed = |error: String| Error::Tls(error);
        let mut cipher_text = self.incoming.get(..count).ok_or_else(|| failed("more bytes than space".into()))?;
        while !cipher_text.is_empty() {
            let taken = self.connection.read_tls(&mut cipher_text).map_err(|error| failed(error.to_string()))?;
            let state = self.connection.process_new_packets().map_err(|error| failed(error.to_string()))?;
            let mut plain = state.plaintext_bytes_to_read();
            while plain > 0 {
                let space = core.receive_space(plain);
                let wanted = plain.min(space.len());
                let read = self.connection.reader().read(&mut space[..wanted]);
                let read = read.map_err(|error| failed(error.to_string()))?;
                core.received(read);
                plain -= read;
            }
            if state.peer_has_closed() {
                core.received_eof();
                return Ok(());
            }
            if taken == 0 {
                return Err(failed("the peer's records do not fit".into()));
            }
        }
        Ok(())
    }

    pub(crate) fn output(&mut self, core: &mut impl Core) -> Result<&[u8], Error> {
        let failed = |error: std::io::Error| Error::Tls(error.to_string());
        // One round at a time: what the pump has not sent yet must not pile up.
        if self.sent == self.outgoing.len() {
            self.outgoing.clear();
            self.sent = 0;
            // Before the handshake is over the records would queue inside the TLS library without bound.
            if !self.connection.is_handshaking() {
                let plain = core.output();
                if !plain.is_empty() {
                    let taken = self.connection.writer().write(plain).map_err(failed)?;
                    core.sent(taken);
                }
            }
            while self.connection.wants_write() {
                self.connection.write_tls(&mut self.outgoing).map_err(failed)?;
            }
        }
        Ok(&self.outgoing[self.sent..])
    }

    pub(crate) fn sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.outgoing.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::crypto::ring::{cipher_suite, default_provider, kx_group};
    use rustls::{ServerConfig, ServerConnection};

    /// A server with one key exchange and one cipher suite.
    fn server(
        group: &'static dyn rustls::crypto::SupportedKxGroup,
        suite: rustls::SupportedCipherSuite,
    ) -> ServerConfig {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
        let provider = CryptoProvider { kx_groups: vec![group], cipher_suites: vec![suite], ..default_provider() };
        ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key.into())
            .unwrap()
    }

    /// Shakes hands and takes the tickets that come behind.
    fn connect(config: Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<(), rustls::Error> {
        let mut client = ClientConnection::new(config, ServerName::try_from("localhost").unwrap())?;
        let mut server = ServerConnection::new(server.clone())?;
        while client.wants_write() || server.wants_write() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets()?;
            bytes.clear();
            while server.wants_write() {
                server.write_tls(&mut bytes).unwrap();
            }
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets()?;
        }
        assert!(!client.is_handshaking() && !server.is_handshaking());
        Ok(())
    }

    #[test]
    fn servers_of_one_name_do_not_share_sessions() {
        let options = TlsOptions { mode: TlsMode::Required, ..TlsOptions::default() };
        let one = Arc::new(server(kx_group::SECP256R1, cipher_suite::TLS13_AES_128_GCM_SHA256));
        let other = Arc::new(server(kx_group::X25519, cipher_suite::TLS13_AES_256_GCM_SHA384));
        let config = |port| options.config(&Address::Tcp("localhost".into(), port)).unwrap();
        connect(config(1), &one).unwrap();
        connect(config(2), &other).unwrap();
        assert!(Arc::ptr_eq(&config(1), &config(1)), "made once");
        // What one configuration for both would come to.
        assert!(connect(config(1), &other).is_err());
    }
}
