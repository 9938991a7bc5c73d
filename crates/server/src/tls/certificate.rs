//! What stands in a certificate (RFC 5280), as far as somebody here asks for it.

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
/// `[0]`, explicit.
const VERSION: u8 = 0xa0;
/// UTF8String, PrintableString, IA5String: all of them are read as UTF-8.
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];
/// 2.5.4.3
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// The first common name of whom a certificate is about; `None` when it has none, or an empty one, or one with a zero byte, behind
/// which other programs see no more.
pub(crate) fn common_name(certificate: &[u8]) -> Option<String> {
    let (body, _) = element(certificate, SEQUENCE)?;
    let (mut rest, _) = element(body, SEQUENCE)?;
    if let Some((_, behind)) = element(rest, VERSION) {
        rest = behind;
    }
    let (_serial_number, rest) = element(rest, INTEGER)?;
    let (_signature, rest) = element(rest, SEQUENCE)?;
    let (_issuer, rest) = element(rest, SEQUENCE)?;
    let (_validity, rest) = element(rest, SEQUENCE)?;
    let (mut subject, _) = element(rest, SEQUENCE)?;
    while !subject.is_empty() {
        let (mut parts, behind) = element(subject, SET)?;
        subject = behind;
        while !parts.is_empty() {
            let (part, behind) = element(parts, SEQUENCE)?;
            parts = behind;
            let (id, value) = element(part, OBJECT_IDENTIFIER)?;
            if id == COMMON_NAME {
                let (text, _) = TEXTS.iter().find_map(|tag| element(value, *tag))?;
                let text = std::str::from_utf8(text).ok().filter(|text| !text.is_empty() && !text.contains('\0'))?;
                return Some(text.to_owned());
            }
        }
    }
    None
}

/// The content of an element in DER, and what stands behind it.
pub(super) fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x0f))?;
            (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(names: &[(rcgen::DnType, &str)]) -> Vec<u8> {
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".into()]).unwrap();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, name) in names {
            parameters.distinguished_name.push(kind.clone(), *name);
        }
        let key = rcgen::KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_common_name_is_found() {
        use rcgen::DnType::{CommonName, CountryName, OrganizationName};
        let whole = made(&[(CountryName, "DE"), (OrganizationName, "example"), (CommonName, "ada é")]);
        assert_eq!(common_name(&whole).as_deref(), Some("ada é"));
        for names in [&[][..], &[(OrganizationName, "example")], &[(CommonName, "")], &[(CommonName, "ada\0eve")]] {
            assert_eq!(common_name(&made(names)), None, "{names:?}");
        }
        for cut in 0..whole.len() {
            // A part of a certificate is none; at least it does no harm.
            let _ = common_name(&whole[..cut]);
        }
    }
}
