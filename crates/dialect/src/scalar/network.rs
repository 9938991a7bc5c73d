//! `inet`, `cidr`, `macaddr`, `macaddr8`.
//!
//! Stored as PostgreSQL prints them, so that other programs can read the file.

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Casts, Modifiers, Order, Scalar, as_stored, fixed, malformed, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::invalid_syntax;
use crate::{Condition, Error, Result, Type};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&INET, &CIDR, &MACADDR, &MACADDR8];

/// A host's address, with or without the network that it is in.
pub static INET: Scalar = Scalar {
    name: "inet",
    words: "inet",
    oid: 869,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_inet", of_arrays: "rf_array_inet", compare: compare_text },
    modifiers: Modifiers::None,
    casts: Casts {
        from: |_, _, _| None,
        // A cast shows the prefix always, other than the output.
        into: |value, to| match value {
            Value::Text(text) if to.is_text() => Some(Address::parse(text, "inet").map(|a| Value::Text(a.print(true)))),
            _ => None,
        },
    },
    input: |text, _| Ok(Value::Text(Address::parse(text, "inet")?.print(false))),
    output: as_stored,
    receive: |bytes| Ok(Value::Text(Address::receive(bytes, "inet")?.print(false))),
    send: |out, value| {
        Address::parse(stored_text(value)?, "inet")?.send(out, false);
        Ok(())
    },
};

/// A network.
pub static CIDR: Scalar = Scalar {
    name: "cidr",
    words: "cidr",
    oid: 650,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_inet", of_arrays: "rf_array_inet", compare: compare_text },
    modifiers: Modifiers::None,
    casts: Casts {
        from: |value, from, _| match (value, from) {
            (Value::Text(text), Type::Scalar(scalar, _)) if **scalar == INET => Some(
                Address::parse(text, "inet").map(|a| Value::Text(a.with_number(a.number() & a.mask()).print(true))),
            ),
            _ => None,
        },
        into: |_, _| None,
    },
    input: |text, _| {
        let address = Address::parse(text, "cidr")?;
        address.check_network(|| text.to_owned())?;
        Ok(Value::Text(address.print(true)))
    },
    output: as_stored,
    receive: |bytes| {
        let address = Address::receive(bytes, "cidr")?;
        match address.host_part() {
            0 => Ok(Value::Text(address.print(true))),
            _ => Err(Error::new(Condition::InvalidBinaryRepresentation, "invalid external \"cidr\" value")
                .detail("Value has bits set to right of mask.")),
        }
    },
    send: |out, value| {
        Address::parse(stored_text(value)?, "cidr")?.send(out, true);
        Ok(())
    },
};

/// An address of a network card.
pub static MACADDR: Scalar = Scalar {
    name: "macaddr",
    words: "macaddr",
    oid: 829,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::Stored,
    modifiers: Modifiers::None,
    casts: Casts {
        from: |value, from, _| match (value, from) {
            (Value::Text(text), Type::Scalar(scalar, _)) if **scalar == MACADDR8 => {
                Some(parse_mac8(text).and_then(shortened))
            }
            _ => None,
        },
        into: |_, _| None,
    },
    input: |text, _| Ok(Value::Text(print_mac(&parse_mac(text)?))),
    output: as_stored,
    receive: |bytes| Ok(Value::Text(print_mac(&fixed::<6>(bytes, "macaddr")?))),
    send: |out, value| {
        out.extend_from_slice(&parse_mac(stored_text(value)?)?);
        Ok(())
    },
};

/// The same in EUI-64.
pub static MACADDR8: Scalar = Scalar {
    name: "macaddr8",
    words: "macaddr8",
    oid: 774,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::Stored,
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| Ok(Value::Text(print_mac(&parse_mac8(text)?))),
    output: as_stored,
    receive: |bytes| {
        let bytes = match *bytes {
            [a, b, c, d, e, f] => [a, b, c, 0xff, 0xfe, d, e, f],
            _ => fixed::<8>(bytes, "macaddr8")?,
        };
        Ok(Value::Text(print_mac(&bytes)))
    },
    send: |out, value| {
        out.extend_from_slice(&parse_mac8(stored_text(value)?)?);
        Ok(())
    },
};

/// An address and the length of its network's prefix.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Bits of the network.
    pub bits: u8,
}

/// The families' numbers on the wire.
const FAMILY_V4: u8 = 2;
const FAMILY_V6: u8 = 3;

impl Address {
    /// Reads a text as `inet` or as `cidr`, which may leave out octets at the end.
    ///
    /// # Errors
    /// `22P02`
    pub fn parse(text: &str, name: &'static str) -> Result<Self> {
        Self::read(text, name == "cidr").ok_or_else(|| invalid_syntax(name, text))
    }

    fn read(text: &str, network: bool) -> Option<Self> {
        let (host, bits) = match text.split_once('/') {
            Some((host, bits)) => (host, Some(prefix(bits)?)),
            None => (text, None),
        };
        if host.contains(':') {
            let ip: Ipv6Addr = host.parse().ok()?;
            let bits = bits.unwrap_or(128);
            return (bits <= 128).then_some(Self { ip: ip.into(), bits });
        }
        let (octets, given) = octets(host)?;
        if given < 4 && bits.is_none() && !network {
            return None;
        }
        let bits = match bits {
            Some(bits) => bits,
            // The prefix by the old classes of networks, but no shorter than what is written.
            None if network => match octets[0] {
                240.. => 32,
                224.. => 8,
                192.. => 24,
                128.. => 16,
                _ => 8,
            }
            .max(given * 8),
            None => 32,
        };
        (bits <= 32).then_some(Self { ip: Ipv4Addr::from(octets).into(), bits })
    }

    /// Bits of an address of its family.
    pub fn width(&self) -> u8 {
        if self.ip.is_ipv4() { 32 } else { 128 }
    }

    /// The address as a number, its first bit on top.
    pub fn number(&self) -> u128 {
        match self.ip {
            IpAddr::V4(ip) => u128::from(ip.to_bits()) << 96,
            IpAddr::V6(ip) => ip.to_bits(),
        }
    }

    /// An address of the same family.
    pub fn with_number(&self, number: u128) -> Self {
        let ip = match self.ip {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits((number >> 96) as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(number)),
        };
        Self { ip, bits: self.bits }
    }

    /// Ones where the network is.
    pub fn mask(&self) -> u128 {
        mask(self.bits)
    }

    /// What stands to the right of the network.
    pub fn host_part(&self) -> u128 {
        self.number() & !self.mask()
    }

    fn check_network(&self, text: impl Fn() -> String) -> Result<()> {
        if self.host_part() == 0 {
            return Ok(());
        }
        Err(Error::new(Condition::InvalidTextRepresentation, format!("invalid cidr value: \"{}\"", text()))
            .detail("Value has bits set to right of mask."))
    }

    /// The canonical text; the prefix stands there unless it is the whole address and that is not a network's.
    pub fn print(&self, network: bool) -> String {
        let mut text = self.host();
        if network || self.bits != self.width() {
            text.push_str(&format!("/{}", self.bits));
        }
        text
    }

    /// The address alone.
    pub fn host(&self) -> String {
        match self.ip {
            IpAddr::V6(ip) if ip.segments()[..6] == [0; 6] && ip.segments()[6] != 0 => {
                format!("::{}", Ipv4Addr::from_bits(ip.to_bits() as u32))
            }
            ip => ip.to_string(),
        }
    }

    /// A network's text without the octets at its end that the prefix does not reach.
    pub fn abbreviated(&self) -> String {
        let bits = self.bits;
        let ip = match self.ip {
            IpAddr::V4(ip) => {
                let kept = usize::from(bits.div_ceil(8).max(1));
                let octets: Vec<String> = ip.octets()[..kept].iter().map(u8::to_string).collect();
                return format!("{}/{bits}", octets.join("."));
            }
            IpAddr::V6(ip) => ip,
        };
        let words = &ip.segments()[..usize::from(bits.div_ceil(16).max(2))];
        if words.len() == 8 {
            return format!("{}/{bits}", self.host());
        }
        // The longest run of zeros is left out, even if it is one word.
        let run_at = |start: usize| words[start..].iter().take_while(|word| **word == 0).count();
        let longest = (0..words.len()).map(|start| (run_at(start), start)).rev().max_by_key(|(length, _)| *length);
        let hex = |words: &[u16]| words.iter().map(|word| format!("{word:x}")).collect::<Vec<_>>().join(":");
        match longest {
            Some((length @ 1.., start)) => {
                format!("{}::{}/{bits}", hex(&words[..start]), hex(&words[start + length..]))
            }
            _ => format!("{}/{bits}", hex(words)),
        }
    }

    fn receive(bytes: &[u8], name: &'static str) -> Result<Self> {
        let wrong = || malformed(name);
        let [family, bits, _, length, address @ ..] = bytes else { return Err(wrong()) };
        if usize::from(*length) != address.len() {
            return Err(wrong());
        }
        let ip: IpAddr = match *family {
            FAMILY_V4 => Ipv4Addr::from(fixed::<4>(address, name)?).into(),
            FAMILY_V6 => Ipv6Addr::from(fixed::<16>(address, name)?).into(),
            _ => return Err(wrong()),
        };
        let found = Self { ip, bits: *bits };
        if found.bits <= found.width() { Ok(found) } else { Err(wrong()) }
    }

    fn send(&self, out: &mut Vec<u8>, network: bool) {
        let family = if self.ip.is_ipv4() { FAMILY_V4 } else { FAMILY_V6 };
        out.extend_from_slice(&[family, self.bits, u8::from(network), self.width() / 8]);
        match self.ip {
            IpAddr::V4(ip) => out.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => out.extend_from_slice(&ip.octets()),
        }
    }

    /// PostgreSQL's order: by family, by the network that both have bits of, by the length of the prefix, by address.
    pub fn compare(&self, other: &Self) -> Ordering {
        let common = mask(self.bits.min(other.bits));
        self.width()
            .cmp(&other.width())
            .then_with(|| (self.number() & common).cmp(&(other.number() & common)))
            .then_with(|| self.bits.cmp(&other.bits))
            .then_with(|| self.number().cmp(&other.number()))
    }
}

/// So many ones from the top.
pub fn mask(bits: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)
}

fn prefix(text: &str) -> Option<u8> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// One to four octets, and how many stand there.
fn octets(text: &str) -> Option<([u8; 4], u8)> {
    let mut octets = [0; 4];
    let mut given = 0_u8;
    for part in text.split('.') {
        *octets.get_mut(usize::from(given))? = prefix(part)?;
        given += 1;
    }
    Some((octets, given))
}

fn compare_text(left: &str, right: &str) -> Ordering {
    match (Address::read(left, true), Address::read(right, true)) {
        (Some(a), Some(b)) => a.compare(&b),
        _ => left.cmp(right),
    }
}

/// The canonical text of a card's address.
pub fn print_mac(bytes: &[u8]) -> String {
    let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    parts.join(":")
}

/// The six bytes of a card's address, in any of the forms that PostgreSQL reads.
///
/// # Errors
/// `22P02`, `22003` for an octet above 255.
pub fn parse_mac(text: &str) -> Result<[u8; 6]> {
    let invalid = || invalid_syntax("macaddr", text);
    let body = crate::values::datetime_fields::trim(text);
    let separator = body.chars().find(|c| !c.is_ascii_hexdigit());
    let parts: Vec<&str> = match separator {
        Some(separator @ (':' | '-' | '.')) => body.split(separator).collect(),
        Some(_) => return Err(invalid()),
        None => vec![body],
    };
    let hex = |part: &str| u32::from_str_radix(part, 16).ok().filter(|_| !part.starts_with('+'));
    let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if parts.len() == 6 && !matches!(separator, Some('.')) {
        let mut bytes = [0; 6];
        for (byte, part) in bytes.iter_mut().zip(parts) {
            let octet = hex(part).ok_or_else(invalid)?;
            *byte = u8::try_from(octet).map_err(|_| {
                Error::new(
                    Condition::NumericValueOutOfRange,
                    format!("invalid octet value in \"macaddr\" value: \"{text}\""),
                )
            })?;
        }
        return Ok(bytes);
    }
    let grouped = matches!(
        (sizes.as_slice(), separator),
        ([12], None) | ([6, 6], Some(':' | '-')) | ([4, 4, 4], Some('.' | '-'))
    );
    if !grouped {
        return Err(invalid());
    }
    let digits = parts.concat();
    let number = u64::from_str_radix(&digits, 16).map_err(|_| invalid())?;
    let bytes = number.to_be_bytes();
    Ok([bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]])
}

/// The eight bytes of an EUI-64 address; six are filled up in its middle.
///
/// # Errors
/// `22P02`
pub fn parse_mac8(text: &str) -> Result<[u8; 8]> {
    let invalid = || invalid_syntax("macaddr8", text);
    let body = crate::values::datetime_fields::trim(text).as_bytes();
    let mut bytes = Vec::with_capacity(8);
    let mut separator = None;
    let mut at = 0;
    while at < body.len() {
        let pair = body.get(at..at + 2).ok_or_else(invalid)?;
        let digits = pair.iter().map(|byte| char::from(*byte).to_digit(16)).collect::<Option<Vec<_>>>();
        let [high, low] = *digits.ok_or_else(invalid)? else { return Err(invalid()) };
        bytes.push((high * 16 + low) as u8);
        at += 2;
        match body.get(at) {
            Some(found @ (b':' | b'-' | b'.')) => {
                if separator.is_some_and(|separator| separator != found) || at + 1 == body.len() {
                    return Err(invalid());
                }
                separator = Some(found);
                at += 1;
            }
            _ if bytes.len() > 8 => return Err(invalid()),
            _ => {}
        }
    }
    match *bytes.as_slice() {
        [a, b, c, d, e, f] => Ok([a, b, c, 0xff, 0xfe, d, e, f]),
        ref eight => eight.try_into().map_err(|_| invalid()),
    }
}

/// A card's address out of one that was filled up.
fn shortened(bytes: [u8; 8]) -> Result<Value> {
    match bytes {
        [a, b, c, 0xff, 0xfe, d, e, f] => Ok(Value::Text(print_mac(&[a, b, c, d, e, f]))),
        _ => Err(Error::new(Condition::NumericValueOutOfRange, "macaddr8 data out of range to convert to macaddr")
            .hint(
                "Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, for example \
             xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to macaddr.",
            )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{ascends, check, refuses};
    use super::*;

    #[test]
    fn addresses_are_read_and_printed_as_postgresql_does() {
        check(
            &INET,
            &[
                ("192.168.1.5", "192.168.1.5"),
                ("192.168.1.5/24", "192.168.1.5/24"),
                ("010.1.2.3", "10.1.2.3"),
                ("1.2.3.4/08", "1.2.3.4/8"),
                ("1.2.3/24", "1.2.3.0/24"),
                ("::1.2.3.4", "::1.2.3.4"),
                ("::ffff:1.2.3.4/96", "::ffff:1.2.3.4/96"),
                ("::2", "::2"),
                ("::/0", "::/0"),
            ],
        );
        check(
            &CIDR,
            &[
                ("10.1", "10.1.0.0/16"),
                ("192.168", "192.168.0.0/24"),
                ("10", "10.0.0.0/8"),
                ("224.1", "224.1.0.0/16"),
                ("240", "240.0.0.0/32"),
                ("10.1.2.3", "10.1.2.3/32"),
                ("1::", "1::/128"),
            ],
        );
        let wrong = "invalid input syntax for type inet: ";
        for text in ["10.1", "10.1.2.3/33", "10.1.2.3/", " 10.1.2.3 ", "1::/130", "1.2.3.4.5", ""] {
            refuses(&INET, &[(text, &format!("{wrong}\"{text}\""))]);
        }
        refuses(&CIDR, &[("10.1.2.3/8", "invalid cidr value: \"10.1.2.3/8\"")]);
        ascends(&INET, &["9.1.2.3", "10.0.0.0/8", "10.0.0.0/9", "10.1.2.3/8", "10.1.2.3", "::1", "1::"][..2]);
        ascends(&CIDR, &["9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/9", "10.1.0.0/16", "11.0.0.0/8", "::/0", "::1/128"]);
    }

    #[test]
    fn networks_are_abbreviated() {
        for (network, short) in [
            ("0/0", "0/0"),
            ("10.1.0.0/16", "10.1/16"),
            ("10.1.128.0/17", "10.1.128/17"),
            ("2001:4f8:3:ba::/64", "2001:4f8:3:ba/64"),
            ("::/0", "::/0"),
            ("1::/16", "1::/16"),
            ("0:0:1::/48", "::1/48"),
            ("1:0:2::/48", "1::2/48"),
            ("1:2::/48", "1:2::/48"),
            ("8000::/1", "8000::/1"),
            ("::ffff:1.2.3.4/128", "::ffff:1.2.3.4/128"),
        ] {
            assert_eq!(Address::parse(network, "cidr").unwrap().abbreviated(), short);
        }
    }

    #[test]
    fn cards_are_read_and_printed_as_postgresql_does() {
        let printed = "08:00:2b:01:02:03";
        let forms = [
            "08:00:2b:01:02:03",
            " 08002b010203 ",
            "8:0:2b:1:2:3",
            "08002b:010203",
            "0800.2b01.0203",
            "0800-2b01-0203",
            "08-00-2B-01-02-03",
        ];
        for form in forms {
            check(&MACADDR, &[(form, printed)]);
        }
        for form in ["08:00:2b:01:02", "08002b:01:02:03", "08:00:2b:01:02:03:04", "", "zz:0:0:0:0:0"] {
            refuses(&MACADDR, &[(form, &format!("invalid input syntax for type macaddr: \"{form}\""))]);
        }
        refuses(&MACADDR, &[("1ff:0:0:0:0:0", "invalid octet value in \"macaddr\" value: \"1ff:0:0:0:0:0\"")]);
        check(
            &MACADDR8,
            &[
                ("08002b:0102030405", "08:00:2b:01:02:03:04:05"),
                ("08002b010203", "08:00:2b:ff:fe:01:02:03"),
                ("0800:2b01:0203", "08:00:2b:ff:fe:01:02:03"),
            ],
        );
        for form in ["08002b01020304", "8:0:2b:1:2:3", "08:00:2b:01:02:03:", "08:00-2b:01:02:03"] {
            refuses(&MACADDR8, &[(form, &format!("invalid input syntax for type macaddr8: \"{form}\""))]);
        }
    }
}
