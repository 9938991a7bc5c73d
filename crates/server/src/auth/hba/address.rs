//! Where a connection may come from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs as _};

/// Addresses that a rule is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Address {
    /// Any.
    All,
    /// Those of this machine.
    SameHost,
    /// Those of the networks that this machine is in.
    SameNet,
    /// A network, or one address.
    Network {
        /// One of its addresses.
        address: IpAddr,
        /// Which bits of it count.
        mask: IpAddr,
    },
    /// Those that a name stands for at the time.
    Name(String),
}

impl Address {
    /// Whether it is one of them.
    pub fn holds(&self, from: IpAddr) -> bool {
        let from = from.to_canonical();
        match self {
            Self::All => true,
            Self::SameHost => interfaces().into_iter().any(|(own, _)| own == from),
            Self::SameNet => interfaces().into_iter().any(|(own, mask)| same_network(own, from, mask)),
            Self::Network { address, mask } => same_network(*address, from, *mask),
            Self::Name(name) => match (name.as_str(), 0).to_socket_addrs() {
                Ok(mut found) => found.any(|address| address.ip().to_canonical() == from),
                Err(error) => {
                    tracing::warn!(name, %error, "a rule's host name cannot be looked up: the rule does not fit");
                    false
                }
            },
        }
    }

    /// As `pg_hba_file_rules` has it: the address and the mask.
    pub(super) fn described(&self) -> (String, Option<String>) {
        match self {
            Self::All => ("all".into(), None),
            Self::SameHost => ("samehost".into(), None),
            Self::SameNet => ("samenet".into(), None),
            Self::Network { address, mask } => (address.to_string(), Some(mask.to_string())),
            Self::Name(name) => (name.clone(), None),
        }
    }
}

/// The mask of a network by its length.
///
/// `None` when it is longer than an address.
pub(super) fn mask(of: IpAddr, bits: u32) -> Option<IpAddr> {
    match of {
        IpAddr::V4(_) if bits <= 32 => Some(Ipv4Addr::from(u32::MAX.checked_shl(32 - bits).unwrap_or_default()).into()),
        IpAddr::V6(_) if bits <= 128 => {
            Some(Ipv6Addr::from(u128::MAX.checked_shl(128 - bits).unwrap_or_default()).into())
        }
        _ => None,
    }
}

fn same_network(a: IpAddr, b: IpAddr, mask: IpAddr) -> bool {
    match (a, b, mask) {
        (IpAddr::V4(a), IpAddr::V4(b), IpAddr::V4(mask)) => (u32::from(a) ^ u32::from(b)) & u32::from(mask) == 0,
        (IpAddr::V6(a), IpAddr::V6(b), IpAddr::V6(mask)) => (u128::from(a) ^ u128::from(b)) & u128::from(mask) == 0,
        _ => false,
    }
}

/// This machine's addresses with their masks.
fn interfaces() -> Vec<(IpAddr, IpAddr)> {
    let found = if_addrs::get_if_addrs().unwrap_or_else(|error| {
        tracing::warn!(%error, "this machine's addresses are not known: samehost and samenet fit nobody");
        Vec::new()
    });
    let pair = |interface: if_addrs::Interface| match interface.addr {
        if_addrs::IfAddr::V4(found) => (IpAddr::from(found.ip), IpAddr::from(found.netmask)),
        if_addrs::IfAddr::V6(found) => (IpAddr::from(found.ip), IpAddr::from(found.netmask)),
    };
    found.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_their_length() {
        let four: IpAddr = "10.0.0.0".parse().unwrap();
        for (bits, expected) in [(0, "0.0.0.0"), (8, "255.0.0.0"), (32, "255.255.255.255")] {
            assert_eq!(mask(four, bits).unwrap().to_string(), expected);
        }
        let six: IpAddr = "::".parse().unwrap();
        assert_eq!(mask(six, 0).unwrap().to_string(), "::");
        assert_eq!(mask(six, 64).unwrap().to_string(), "ffff:ffff:ffff:ffff::");
        assert_eq!((mask(four, 33), mask(six, 129)), (None, None));
    }

    #[test]
    fn this_machine_is_the_same_host() {
        assert!(Address::SameHost.holds("127.0.0.1".parse().unwrap()));
        assert!(Address::SameNet.holds("127.8.8.8".parse().unwrap()));
        assert!(!Address::SameHost.holds("192.0.2.1".parse().unwrap()));
        assert!(Address::Name("localhost".into()).holds("127.0.0.1".parse().unwrap()));
    }
}
