//! Network addresses.

use super::TypeSpec::{self, Is};
use super::spec::*;
use crate::Type;
use crate::scalar::network;

const INET: TypeSpec = Is(Type::Scalar(&network::INET, None));
const CIDR: TypeSpec = Is(Type::Scalar(&network::CIDR, None));
const MAC: TypeSpec = Is(Type::Scalar(&network::MACADDR, None));
const MAC8: TypeSpec = Is(Type::Scalar(&network::MACADDR8, None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "abbrev" (CIDR) -> TEXT, F("rf_cidr_abbrev");
    Scalar "abbrev" (INET) -> TEXT, T("{0}");
    Scalar "broadcast" (INET) -> INET, F("rf_inet_broadcast");
    Scalar "family" (INET) -> I4, F("rf_inet_family");
    Scalar "host" (INET) -> TEXT, F("rf_inet_host");
    Scalar "hostmask" (INET) -> INET, F("rf_inet_hostmask");
    Scalar "inet_merge" (INET, INET) -> CIDR, F("rf_inet_merge");
    Scalar "inet_same_family" (INET, INET) -> BOOL, F("rf_inet_same_family");
    Scalar "masklen" (INET) -> I4, F("rf_inet_masklen");
    Scalar "netmask" (INET) -> INET, F("rf_inet_netmask");
    Scalar "network" (INET) -> CIDR, F("rf_inet_network");
    Scalar "set_masklen" (CIDR, I4) -> CIDR, F("rf_cidr_set_masklen");
    Scalar "set_masklen" (INET, I4) -> INET, F("rf_inet_set_masklen");
    Scalar "text" (INET) -> TEXT, F("rf_inet_text");
    Scalar "trunc" (MAC) -> MAC, F("rf_mac_trunc");
    Scalar "trunc" (MAC8) -> MAC8, F("rf_mac_trunc");
    Scalar "macaddr8_set7bit" (MAC8) -> MAC8, F("rf_mac_set7bit");

    Operator "<<" (INET, INET) -> BOOL, F("rf_inet_within");
    Operator "<<=" (INET, INET) -> BOOL, F("rf_inet_within_or_equal");
    Operator ">>" (INET, INET) -> BOOL, T("rf_inet_within({1}, {0})");
    Operator ">>=" (INET, INET) -> BOOL, T("rf_inet_within_or_equal({1}, {0})");
    Operator "&&" (INET, INET) -> BOOL, F("rf_inet_overlaps");
    Operator "~" (INET) -> INET, F("rf_inet_not");
    Operator "&" (INET, INET) -> INET, F("rf_inet_and");
    Operator "|" (INET, INET) -> INET, F("rf_inet_or");
    Operator "+" (INET, I8) -> INET, F("rf_inet_add");
    Operator "+" (I8, INET) -> INET, T("rf_inet_add({1}, {0})");
    Operator "-" (INET, I8) -> INET, F("rf_inet_sub");
    Operator "-" (INET, INET) -> I8, F("rf_inet_diff");
    Operator "~" (MAC) -> MAC, F("rf_mac_not");
    Operator "&" (MAC, MAC) -> MAC, F("rf_mac_and");
    Operator "|" (MAC, MAC) -> MAC, F("rf_mac_or");
    Operator "~" (MAC8) -> MAC8, F("rf_mac_not");
    Operator "&" (MAC8, MAC8) -> MAC8, F("rf_mac_and");
    Operator "|" (MAC8, MAC8) -> MAC8, F("rf_mac_or");

    Aggregate "min" (INET) -> INET, Special("min");
    Aggregate "max" (INET) -> INET, Special("max");
};
