//! Answers of MySQL, as MariaDB 10.11 gives them where the two agree.

use super::super::tests::{one, state_of};

/// Each call with its answer.
fn check(cases: &[(&str, &str)]) {
    for (sql, wanted) in cases {
        assert_eq!(one(sql), *wanted, "{sql}");
    }
}

#[test]
fn values_are_converted_as_mysql_does() {
    check(&[
        ("rf_mysql_double('12abc')", "12.0"),
        ("rf_mysql_double('')", "0.0"),
        ("rf_mysql_double(1)", "1.0"),
        ("rf_mysql_double(rf_mysql_moment_number('2024-01-02'))", "20240102.0"),
        ("rf_mysql_moment_number('2024-01-02 10:11:12.5')", "20240102101112.500000"),
        ("rf_mysql_time_number('10:11:12')", "101112"),
        ("rf_mysql_integer('12.9')", "12"),
        ("rf_mysql_integer(2.5e0)", "2"),
        ("rf_mysql_decimal_integer('2.5')", "3"),
        ("rf_mysql_decimal('1.50abc')", "1.50"),
        ("rf_mysql_text(1e20)", "1e20"),
        ("rf_mysql_text('12.50')", "12.50"),
        ("rf_mysql_date('2024-1-2 10:11:12')", "2024-01-02"),
        ("rf_mysql_date('2024-02-30')", "NULL"),
        ("rf_mysql_datetime('2024-01-02')", "2024-01-02 00:00:00"),
        ("rf_mysql_datetime(20240102101112)", "2024-01-02 10:11:12"),
        ("rf_mysql_time('2024-01-02 10:11:12')", "10:11:12"),
        ("rf_mysql_truth('abc')", "0"),
        ("rf_mysql_truth('0.5')", "1"),
        ("rf_mysql_truth(NULL)", "NULL"),
    ]);
}

#[test]
fn operators_answer_as_mysql_does() {
    check(&[
        ("rf_mysql_divide('1', '3')", "0.3333"),
        ("rf_mysql_divide('2', '3')", "0.6667"),
        ("rf_mysql_divide('-2.00', '3')", "-0.666667"),
        ("rf_mysql_divide('1', '0')", "NULL"),
        ("rf_mysql_divide_double(1.0, 0.0)", "NULL"),
        ("rf_mysql_integer_divide('-7', '2')", "-3"),
        ("rf_mysql_integer_divide('7', '0.0')", "NULL"),
        ("rf_mysql_modulo('-7.5', '2')", "-1.5"),
        ("rf_mysql_modulo_integer(-7, 2)", "-1"),
        ("rf_mysql_bits('|', '-1', 0)", "18446744073709551615"),
        ("rf_mysql_bits('<<', 1, 63)", "9223372036854775808"),
        ("rf_mysql_bits('<<', 1, 64)", "0"),
        ("rf_mysql_bit_not(0)", "18446744073709551615"),
        ("rf_mysql_bit_count(7)", "3"),
        ("rf_mysql_like('Héllo', 'HEL%', '\\')", "1"),
        ("rf_mysql_like('abc', 'a_c', '\\')", "1"),
        ("rf_mysql_like('a%c', 'a\\%c', '\\')", "1"),
        ("rf_mysql_like('abc', 'a\\%c', '\\')", "0"),
        ("rf_mysql_like('xaaab', '%aab', '\\')", "1"),
        ("rf_mysql_like_binary('abc', 'ABC', '\\')", "0"),
    ]);
    assert_eq!(state_of("rf_mysql_divide_double(1e308, 1e-10)"), "22003");
    assert_eq!(state_of("rf_mysql_integer_divide('1e30', '1')"), "22003");
}
