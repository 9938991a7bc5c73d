//! The channel binding `tls-server-end-point` (RFC 5929, section 4): a hash of the server's certificate, which both ends
//! of a TLS connection know and somebody between them does not have.

use super::certificate::{OBJECT_IDENTIFIER, SEQUENCE, element};
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

/// The hash of a certificate, by the function that its signature uses; `None` when there is none, as for Ed25519.
pub(super) fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
    Some(match signature_hash(certificate)? {
        Hash::Sha224 => Sha224::digest(certificate).to_vec(),
        Hash::Sha256 => Sha256::digest(certificate).to_vec(),
        Hash::Sha384 => Sha384::digest(certificate).to_vec(),
        Hash::Sha512 => Sha512::digest(certificate).to_vec(),
    })
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Hash {
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// Signature algorithms by their object ids in DER. MD5 and SHA-1 count as SHA-256, as the RFC has it.
const ALGORITHMS: &[(&[u8], Hash)] = &[
    // 1.2.840.113549.1.1: RSA with MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512.
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x04], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0e], Hash::Sha224),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0c], Hash::Sha384),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d], Hash::Sha512),
    // 1.2.840.10045.4: ECDSA with SHA-1, SHA-224, SHA-256, SHA-384, SHA-512.
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x01], Hash::Sha224),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03], Hash::Sha384),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04], Hash::Sha512),
];

/// `Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { OBJECT IDENTIFIER, … }, … }`
fn signature_hash(certificate: &[u8]) -> Option<Hash> {
    let (body, _) = element(certificate, SEQUENCE)?;
    let (_, behind) = element(body, SEQUENCE)?;
    let (algorithm, _) = element(behind, SEQUENCE)?;
    let (id, _) = element(algorithm, OBJECT_IDENTIFIER)?;
    ALGORITHMS.iter().find(|(known, _)| *known == id).map(|(_, hash)| *hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_of_the_signature() {
        for (algorithm, length) in [
            (&rcgen::PKCS_ECDSA_P256_SHA256, Some(32)),
            (&rcgen::PKCS_ECDSA_P384_SHA384, Some(48)),
            (&rcgen::PKCS_ED25519, None),
        ] {
            let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let made = rcgen::CertificateParams::new(vec!["localhost".into()]).unwrap().self_signed(&key).unwrap();
            assert_eq!(hash(made.der()).map(|hash| hash.len()), length);
            for cut in 0..made.der().len() {
                // A part of a certificate is none; at least it does no harm.
                let _ = hash(&made.der()[..cut]);
            }
        }
    }
}
