//! Money, and places in the log.

use super::TypeSpec::{self, Is};
use super::spec::*;
use crate::Type;
use crate::scalar::{money, numbers};

const MONEY: TypeSpec = Is(Type::Scalar(&money::MONEY, None));
const LSN: TypeSpec = Is(Type::Scalar(&numbers::PG_LSN, None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Operator "+" (MONEY, MONEY) -> MONEY, F("rf_money_add");
    Operator "-" (MONEY, MONEY) -> MONEY, F("rf_money_sub");
    Operator "*" (MONEY, I2) -> MONEY, F("rf_money_mul");
    Operator "*" (MONEY, I4) -> MONEY, F("rf_money_mul");
    Operator "*" (MONEY, I8) -> MONEY, F("rf_money_mul");
    Operator "*" (MONEY, F4) -> MONEY, F("rf_money_mul_float");
    Operator "*" (MONEY, F8) -> MONEY, F("rf_money_mul_float");
    Operator "*" (I2, MONEY) -> MONEY, T("rf_money_mul({1}, {0})");
    Operator "*" (I4, MONEY) -> MONEY, T("rf_money_mul({1}, {0})");
    Operator "*" (I8, MONEY) -> MONEY, T("rf_money_mul({1}, {0})");
    Operator "*" (F4, MONEY) -> MONEY, T("rf_money_mul_float({1}, {0})");
    Operator "*" (F8, MONEY) -> MONEY, T("rf_money_mul_float({1}, {0})");
    Operator "/" (MONEY, MONEY) -> F8, F("rf_money_ratio");
    Operator "/" (MONEY, I2) -> MONEY, F("rf_money_div");
    Operator "/" (MONEY, I4) -> MONEY, F("rf_money_div");
    Operator "/" (MONEY, I8) -> MONEY, F("rf_money_div");
    Operator "/" (MONEY, F4) -> MONEY, F("rf_money_div_float");
    Operator "/" (MONEY, F8) -> MONEY, F("rf_money_div_float");
    Aggregate "sum" (MONEY) -> MONEY, F("sum");
    Aggregate "min" (MONEY) -> MONEY, Special("min");
    Aggregate "max" (MONEY) -> MONEY, Special("max");

    Scalar "cashlarger" (MONEY, MONEY) -> MONEY, T("max({0}, {1})");
    Scalar "cashsmaller" (MONEY, MONEY) -> MONEY, T("min({0}, {1})");
    Scalar "cash_words" (MONEY) -> TEXT, F("rf_money_words");
    Scalar "pg_lsn" (NUM) -> LSN, F("rf_lsn");

    Scalar "pg_wal_lsn_diff" (LSN, LSN) -> NUM, F("rf_lsn_diff");
    Operator "-" (LSN, LSN) -> NUM, F("rf_lsn_diff");
    Operator "+" (LSN, NUM) -> LSN, F("rf_lsn_add");
    Operator "+" (NUM, LSN) -> LSN, T("rf_lsn_add({1}, {0})");
    Operator "-" (LSN, NUM) -> LSN, F("rf_lsn_sub");
    Aggregate "min" (LSN) -> LSN, Special("min");
    Aggregate "max" (LSN) -> LSN, Special("max");
};
