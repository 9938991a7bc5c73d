//! Versions and cipher suites by the names that users know.

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, SupportedCipherSuite, SupportedProtocolVersion, version};

use crate::error::Error;

/// A cipher suite, and what OpenSSL calls it; the names of the standard are those of TLS 1.3, too.
const SUITES: &[(CipherSuite, &str, &str)] = &[
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
];

/// `provider` with the suites of `names` only. Names of one version of TLS say nothing of the other, as with OpenSSL.
pub(super) fn restrict(provider: &mut CryptoProvider, names: &[String]) -> Result<(), Error> {
    let mut chosen = Vec::new();
    for name in names {
        let known = SUITES
            .iter()
            .find(|(_, openssl, standard)| name.eq_ignore_ascii_case(openssl) || name.eq_ignore_ascii_case(standard));
        let Some((suite, ..)) = known else {
            let every: Vec<_> = SUITES.iter().map(|(_, openssl, _)| *openssl).collect();
            return Err(Error::Tls(format!("`{name}` is not a cipher suite that we have: {}", every.join(", "))));
        };
        chosen.push(*suite);
    }
    let is_13 = |suite: CipherSuite| suite.as_str().is_some_and(|name| name.starts_with("TLS13_"));
    let (says_13, says_12) = (chosen.iter().any(|suite| is_13(*suite)), chosen.iter().any(|suite| !is_13(*suite)));
    provider.cipher_suites.retain(|supported: &SupportedCipherSuite| {
        let suite = supported.suite();
        chosen.contains(&suite) || !(if is_13(suite) { says_13 } else { says_12 })
    });
    Ok(())
}

/// The versions that `names` say; all that we have when none is said.
pub(super) fn versions(names: &[String]) -> Result<Vec<&'static SupportedProtocolVersion>, Error> {
    if names.is_empty() {
        return Ok(rustls::DEFAULT_VERSIONS.to_vec());
    }
    let version = |name: &String| match name.to_ascii_uppercase().trim_start_matches("TLS").trim_start_matches('V') {
        "1.2" => Ok(&version::TLS12),
        "1.3" => Ok(&version::TLS13),
        _ => Err(Error::Tls(format!("`{name}` is not a version of TLS that we have: TLSv1.2, TLSv1.3"))),
    };
    names.iter().map(version).collect()
}

/// SHA-256 of `bytes`, by the provider that encrypts.
pub(super) fn sha256(provider: &CryptoProvider, bytes: &[u8]) -> Option<[u8; 32]> {
    let hash = provider.cipher_suites.iter().find_map(|suite| match suite.suite() {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => Some(suite.tls13()?.common.hash_provider),
        _ => None,
    })?;
    hash.hash(bytes).as_ref().try_into().ok()
}

#[cfg(test)]
mod tests {
    use rustls::crypto::ring::default_provider;

    use super::*;

    fn left(names: &[&str]) -> Result<Vec<CipherSuite>, Error> {
        let mut provider = default_provider();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        restrict(&mut provider, &names)?;
        Ok(provider.cipher_suites.iter().map(SupportedCipherSuite::suite).collect())
    }

    #[test]
    fn every_suite_has_a_name() {
        for suite in default_provider().cipher_suites {
            assert!(SUITES.iter().any(|(known, ..)| *known == suite.suite()), "{suite:?}");
        }
    }

    #[test]
    fn names_restrict_their_own_version() {
        let all = default_provider().cipher_suites.len();
        assert_eq!(left(&[]).unwrap().len(), all);
        let one = left(&["ecdhe-rsa-aes128-gcm-sha256"]).unwrap();
        assert_eq!(one.len(), 4);
        assert!(one.contains(&CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256));
        let both = left(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"]).unwrap();
        assert_eq!(both.len(), 2);
        assert!(left(&["HIGH"]).unwrap_err().to_string().contains("`HIGH`"));
    }

    #[test]
    fn versions_by_name() {
        let names = |names: &[&str]| versions(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&[]).unwrap().len(), 2);
        assert_eq!(names(&["TLSv1.3"]).unwrap(), [&version::TLS13]);
        assert_eq!(names(&["tlsv1.2", "1.3"]).unwrap().len(), 2);
        assert!(names(&["TLSv1.1"]).unwrap_err().to_string().contains("TLSv1.1"));
    }

    #[test]
    fn the_hash_is_sha256() {
        let hash = sha256(&default_provider(), b"abc").unwrap();
        assert_eq!(hash[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
