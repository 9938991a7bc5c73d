//! Bit strings.

use super::TypeSpec::{self, Is};
use super::spec::*;
use crate::Type;
use crate::scalar::bits;

const BIT: TypeSpec = Is(Type::Scalar(&bits::BIT, None));
const VARBIT: TypeSpec = Is(Type::Scalar(&bits::VARBIT, None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "bit_count" (BIT) -> I8, F("rf_bits_count");
    Scalar "bit_length" (BIT) -> I4, F("length");
    Scalar "get_bit" (BIT, I4) -> I4, F("rf_bits_get");
    Scalar "length" (BIT) -> I4, F("length");
    Scalar "octet_length" (BIT) -> I4, T("((length({0}) + 7) / 8)");
    Scalar "overlay" (BIT, BIT, I4) -> BIT, F("rf_bits_overlay");
    Scalar "overlay" (BIT, BIT, I4, I4) -> BIT, F("rf_bits_overlay");
    Scalar "position" (BIT, BIT) -> I4, F("rf_bits_position");
    Scalar "set_bit" (BIT, I4, I4) -> BIT, F("rf_bits_set");
    Scalar "substring" (BIT, I4) -> BIT, F("rf_bits_substring");
    Scalar "substring" (BIT, I4, I4) -> BIT, F("rf_bits_substring");

    Operator "&" (BIT, BIT) -> BIT, F("rf_bits_and");
    Operator "|" (BIT, BIT) -> BIT, F("rf_bits_or");
    Operator "#" (BIT, BIT) -> BIT, F("rf_bits_xor");
    Operator "~" (BIT) -> BIT, F("rf_bits_not");
    Operator "<<" (BIT, I4) -> BIT, F("rf_bits_shift_left");
    Operator ">>" (BIT, I4) -> BIT, F("rf_bits_shift_right");
    Operator "||" (VARBIT, VARBIT) -> VARBIT, Infix("||");
};
