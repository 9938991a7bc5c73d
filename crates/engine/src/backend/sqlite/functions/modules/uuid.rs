//! `uuid-ossp`.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use md5::Md5;
use rand::Rng as _;
use rowferry_dialect::Result;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::uuid;
use sha1::{Digest as _, Sha1};

use super::super::call::text;
use super::{Call, Member};

pub(super) const MEMBERS: &[Member] = &[
    Member::new("uuid_nil", |_| text("00000000-0000-0000-0000-000000000000")),
    Member::new("uuid_ns_dns", |_| text("6ba7b810-9dad-11d1-80b4-00c04fd430c8")),
    Member::new("uuid_ns_url", |_| text("6ba7b811-9dad-11d1-80b4-00c04fd430c8")),
    Member::new("uuid_ns_oid", |_| text("6ba7b812-9dad-11d1-80b4-00c04fd430c8")),
    Member::new("uuid_ns_x500", |_| text("6ba7b814-9dad-11d1-80b4-00c04fd430c8")),
    Member::new("uuid_generate_v1", |_| by_time(*NODE)),
    Member::new("uuid_generate_v1mc", |_| by_time(random_node())),
    Member::new("uuid_generate_v3", |call| {
        let hash = Md5::new().chain_update(namespace(call)?).chain_update(call.text(1)?);
        print(hash.finalize().into(), 3)
    }),
    Member::new("uuid_generate_v4", |_| print(rand::rng().random(), 4)),
    Member::new("uuid_generate_v5", |call| {
        let hash = Sha1::new().chain_update(namespace(call)?).chain_update(call.text(1)?).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        print(bytes, 5)
    }),
];

/// Stands for the machine, of which nothing is told: the process has one at random, marked as such.
static NODE: LazyLock<[u8; 6]> = LazyLock::new(random_node);

fn random_node() -> [u8; 6] {
    let mut node: [u8; 6] = rand::rng().random();
    node[0] |= 3;
    node
}

/// The bytes of a UUID argument.
fn namespace(call: &Call<'_>) -> Result<[u8; 16]> {
    uuid::bytes(call.text(0)?)
}

/// A UUID of a version, as it is stored.
pub(super) fn print(mut bytes: [u8; 16], version: u8) -> Result<Value> {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    text(uuid::format(bytes))
}

/// Version 1: the time in steps of 100 ns since the Gregorian calendar began, and a node.
fn by_time(node: [u8; 6]) -> Result<Value> {
    const TO_1970: u64 = 0x01b2_1dd2_1381_4000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ticks = TO_1970 + now.as_secs() * 10_000_000 + u64::from(now.subsec_nanos()) / 100;
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((ticks >> 48) as u16).to_be_bytes());
    // Two of the same tick are told apart by these.
    bytes[8..10].copy_from_slice(&rand::rng().random::<[u8; 2]>());
    bytes[10..].copy_from_slice(&node);
    print(bytes, 1)
}
