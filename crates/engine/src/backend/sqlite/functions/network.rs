//! Network addresses: their parts, networks, arithmetic.

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::network::{Address, mask, parse_mac, parse_mac8, print_mac};
use rowferry_dialect::{Condition, Error, Result};

use super::call::{boolean, integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_cidr_abbrev", 1, |call| text(address(call, 0)?.abbreviated())),
    Row::new("rf_inet_broadcast", 1, |call| {
        let address = address(call, 0)?;
        inet(address.with_number(address.number() | !address.mask()))
    }),
    Row::new("rf_inet_family", 1, |call| integer(if address(call, 0)?.ip.is_ipv4() { 4 } else { 6 })),
    Row::new("rf_inet_host", 1, |call| text(address(call, 0)?.host())),
    Row::new("rf_inet_hostmask", 1, |call| {
        let address = address(call, 0)?;
        whole(&address, !address.mask())
    }),
    Row::new("rf_inet_merge", 2, merge),
    Row::new("rf_inet_same_family", 2, |call| boolean(address(call, 0)?.width() == address(call, 1)?.width())),
    Row::new("rf_inet_masklen", 1, |call| integer(address(call, 0)?.bits)),
    Row::new("rf_inet_netmask", 1, |call| {
        let address = address(call, 0)?;
        whole(&address, address.mask())
    }),
    Row::new("rf_inet_network", 1, |call| cidr(address(call, 0)?)),
    Row::new("rf_cidr_set_masklen", 2, |call| cidr(with_bits(call)?)),
    Row::new("rf_inet_set_masklen", 2, |call| inet(with_bits(call)?)),
    Row::new("rf_inet_text", 1, |call| text(address(call, 0)?.print(true))),
    Row::new("rf_inet_within", 2, |call| {
        let (inner, outer) = (address(call, 0)?, address(call, 1)?);
        boolean(inner.bits > outer.bits && meet(&inner, &outer, outer.bits))
    }),
    Row::new("rf_inet_within_or_equal", 2, |call| {
        let (inner, outer) = (address(call, 0)?, address(call, 1)?);
        boolean(inner.bits >= outer.bits && meet(&inner, &outer, outer.bits))
    }),
    Row::new("rf_inet_overlaps", 2, |call| {
        let (left, right) = (address(call, 0)?, address(call, 1)?);
        boolean(meet(&left, &right, left.bits.min(right.bits)))
    }),
    Row::new("rf_inet_not", 1, |call| {
        let address = address(call, 0)?;
        inet(address.with_number(!address.number()))
    }),
    Row::new("rf_inet_and", 2, |call| combine(call, "AND", |a, b| a & b)),
    Row::new("rf_inet_or", 2, |call| combine(call, "OR", |a, b| a | b)),
    Row::new("rf_inet_add", 2, |call| inet(shifted(&address(call, 0)?, i128::from(call.integer(1)?))?)),
    Row::new("rf_inet_sub", 2, |call| inet(shifted(&address(call, 0)?, -i128::from(call.integer(1)?))?)),
    Row::new("rf_inet_diff", 2, difference),
    Row::new("rf_mac_trunc", 1, |call| {
        let mut bytes = card(call, 0)?;
        bytes[3..].fill(0);
        text(print_mac(&bytes))
    }),
    Row::new("rf_mac_set7bit", 1, |call| {
        let mut bytes = card(call, 0)?;
        bytes[0] |= 2;
        text(print_mac(&bytes))
    }),
    Row::new("rf_mac_not", 1, |call| {
        let bytes: Vec<u8> = card(call, 0)?.into_iter().map(|byte| !byte).collect();
        text(print_mac(&bytes))
    }),
    Row::new("rf_mac_and", 2, |call| combine_cards(call, |a, b| a & b)),
    Row::new("rf_mac_or", 2, |call| combine_cards(call, |a, b| a | b)),
];

/// An address from its stored text; a network's has its prefix always, so that it is read as an address is.
fn address(call: &Call<'_>, at: usize) -> Result<Address> {
    Address::parse(call.text(at)?, "inet")
}

fn inet(address: Address) -> Result<Value> {
    text(address.print(false))
}

/// The network of an address.
fn cidr(address: Address) -> Result<Value> {
    text(address.with_number(address.number() & address.mask()).print(true))
}

/// A number as an address without a network, in the family of another.
fn whole(family: &Address, number: u128) -> Result<Value> {
    inet(Address { bits: family.width(), ..family.with_number(number) })
}

/// True when two addresses share so many bits.
fn meet(left: &Address, right: &Address, bits: u8) -> bool {
    left.width() == right.width() && (left.number() ^ right.number()) & mask(bits) == 0
}

fn sizes_differ(what: &str) -> Error {
    Error::new(Condition::InvalidParameterValue, format!("cannot {what} of different sizes"))
}

/// The smallest network that holds both.
fn merge(call: &Call<'_>) -> Result<Value> {
    let (left, right) = (address(call, 0)?, address(call, 1)?);
    if left.width() != right.width() {
        return Err(Error::new(Condition::InvalidParameterValue, "cannot merge addresses from different families"));
    }
    let common = (left.number() ^ right.number()).leading_zeros() as u8;
    cidr(Address { bits: common.min(left.bits).min(right.bits), ..left })
}

fn with_bits(call: &Call<'_>) -> Result<Address> {
    let address = address(call, 0)?;
    let wanted = call.integer(1)?;
    let bits = match wanted {
        -1 => Some(address.width()),
        bits => u8::try_from(bits).ok().filter(|bits| *bits <= address.width()),
    };
    let Some(bits) = bits else {
        return Err(Error::new(Condition::InvalidParameterValue, format!("invalid mask length: {wanted}")));
    };
    Ok(Address { bits, ..address })
}

fn combine(call: &Call<'_>, what: &str, operation: fn(u128, u128) -> u128) -> Result<Value> {
    let (left, right) = (address(call, 0)?, address(call, 1)?);
    if left.width() != right.width() {
        return Err(sizes_differ(&format!("{what} inet values")));
    }
    let bits = left.bits.max(right.bits);
    inet(Address { bits, ..left.with_number(operation(left.number(), right.number())) })
}

/// The address so far away.
fn shifted(address: &Address, by: i128) -> Result<Address> {
    let unused = 128 - u32::from(address.width());
    let number = address.number() >> unused;
    let moved = if by < 0 { number.checked_sub(by.unsigned_abs()) } else { number.checked_add(by.unsigned_abs()) };
    let limit = u128::MAX >> unused;
    match moved.filter(|moved| *moved <= limit) {
        Some(moved) => Ok(address.with_number(moved << unused)),
        None => Err(Error::new(Condition::NumericValueOutOfRange, "result is out of range")),
    }
}

fn difference(call: &Call<'_>) -> Result<Value> {
    let (left, right) = (address(call, 0)?, address(call, 1)?);
    if left.width() != right.width() {
        return Err(sizes_differ("subtract inet values"));
    }
    let unused = 128 - u32::from(left.width());
    let (left, right) = (left.number() >> unused, right.number() >> unused);
    let distance = if left >= right {
        i64::try_from(left - right).ok()
    } else {
        i128::try_from(right - left).ok().and_then(|distance| i64::try_from(-distance).ok())
    };
    match distance {
        Some(distance) => integer(distance),
        None => Err(Error::new(Condition::NumericValueOutOfRange, "result is out of range")),
    }
}

/// The bytes of a card's stored address, six or eight.
fn card(call: &Call<'_>, at: usize) -> Result<Vec<u8>> {
    let stored = call.text(at)?;
    // Two digits for each byte, and a colon between.
    if stored.len() <= 17 { Ok(parse_mac(stored)?.to_vec()) } else { Ok(parse_mac8(stored)?.to_vec()) }
}

fn combine_cards(call: &Call<'_>, operation: fn(u8, u8) -> u8) -> Result<Value> {
    let bytes: Vec<u8> = card(call, 0)?.into_iter().zip(card(call, 1)?).map(|(a, b)| operation(a, b)).collect();
    text(print_mac(&bytes))
}
