//! Private keys out of PEM files, also those under a pass phrase.

use std::path::Path;

use pkcs8::{EncryptedPrivateKeyInfo, SecretDocument};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;

use crate::error::Error;

/// What opens an encrypted key; never printed.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct PassPhrase(Vec<u8>);

impl From<Vec<u8>> for PassPhrase {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for PassPhrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PassPhrase(…)")
    }
}

const BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
const END: &str = "-----END ENCRYPTED PRIVATE KEY-----";
/// How OpenSSL marked encrypted keys before PKCS#8.
const TRADITIONAL: &str = "Proc-Type: 4,ENCRYPTED";

/// The private key in the file `path`, which may hold certificates, too.
pub(super) fn private_key(path: &Path, phrase: Option<&PassPhrase>) -> Result<PrivateKeyDer<'static>, Error> {
    let failed = |why: &str| Error::Tls(format!("private key {}: {why}", path.display()));
    let pem = std::fs::read(path).map_err(|error| failed(&error.to_string()))?;
    let text = String::from_utf8_lossy(&pem);
    if text.contains(TRADITIONAL) {
        return Err(failed(
            "it is encrypted in the way that came before PKCS#8; convert it: openssl pkcs8 -topk8 -v2 aes-256-cbc -in OLD -out NEW",
        ));
    }
    match (text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)), phrase) {
        (None, _) => PrivateKeyDer::from_pem_slice(&pem).map_err(|error| failed(&error.to_string())),
        (Some(_), None) => Err(failed("it is encrypted, and no pass phrase was given (ssl_key_password)")),
        (Some((body, _)), Some(phrase)) => decrypted(body, phrase).map_err(|error| failed(&error)),
    }
}

fn decrypted(body: &str, phrase: &PassPhrase) -> Result<PrivateKeyDer<'static>, String> {
    let section = format!("{BEGIN}{body}{END}\n");
    let (_, document) = SecretDocument::from_pem(&section).map_err(|error| format!("no PEM: {error}"))?;
    let info = EncryptedPrivateKeyInfo::try_from(document.as_bytes())
        .map_err(|error| format!("its encryption is not one of PBES2 with AES: {error}"))?;
    let key = info.decrypt(&phrase.0).map_err(|_| "the pass phrase does not open it".to_owned())?;
    Ok(PrivateKeyDer::Pkcs8(key.as_bytes().to_vec().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(pem: &str, phrase: Option<&str>) -> String {
        let path = new_path();
        std::fs::write(&path, pem).unwrap();
        let phrase = phrase.map(|phrase| PassPhrase::from(phrase.as_bytes().to_vec()));
        let refused = private_key(&path, phrase.as_ref()).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        refused
    }

    fn new_path() -> std::path::PathBuf {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        std::env::temp_dir().join(format!("rowferry-key-{}-{number}.pem", std::process::id()))
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said() {
        let traditional = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n";
        assert!(refusal(traditional, Some("x")).contains("openssl pkcs8 -topk8"));
        let encrypted = format!("{BEGIN}\nMAA=\n{END}\n");
        assert!(refusal(&encrypted, None).contains("ssl_key_password"));
        assert!(refusal(&encrypted, Some("x")).contains("PBES2"));
        assert!(refusal(&format!("{BEGIN}\n%\n{END}\n"), Some("x")).contains("no PEM"));
        assert!(refusal("nothing", Some("x")).contains("private key"));
    }

    #[test]
    fn the_phrase_is_not_printed() {
        assert_eq!(format!("{:?}", PassPhrase::from(b"secret".to_vec())), "PassPhrase(…)");
    }
}
