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
        // More than is shown is kept.
        ("rf_mysql_divide('1', '3')", "0.333333333"),
        ("rf_mysql_rounded_divide('1', '3')", "0.3333"),
        ("rf_mysql_rounded_divide('2', '3')", "0.6667"),
        ("rf_mysql_rounded_divide('-2.00', '3')", "-0.666667"),
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
        ("hex(rf_mysql_shifted_bytes(x'0102', 1, 1))", "0204"),
        ("hex(rf_mysql_shifted_bytes(x'01f2', 9, 1))", "E400"),
        ("hex(rf_mysql_shifted_bytes(x'01f2', 9, 0))", "0000"),
        ("hex(rf_mysql_shifted_bytes(x'81f2', 12, 0))", "0008"),
        ("hex(rf_mysql_shifted_bytes(x'81f2', -1, 0))", "0000"),
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

#[test]
fn texts_answer_as_mysql_does() {
    check(&[
        ("rf_mysql_concat('a', 'b', 'c')", "abc"),
        ("rf_mysql_concat('a', NULL)", "NULL"),
        ("rf_mysql_concat_ws(',', 'a', NULL, 'b')", "a,b"),
        ("rf_mysql_concat_ws(NULL, 'a')", "NULL"),
        ("rf_mysql_substring('Quadratically', 5)", "ratically"),
        ("rf_mysql_substring('Sakila', -3)", "ila"),
        ("rf_mysql_substring('Sakila', -5, 3)", "aki"),
        ("rf_mysql_substring('Quadratically', 0)", ""),
        ("rf_mysql_substring('abc', -5)", ""),
        ("rf_mysql_substring('žluť', 2, 2)", "lu"),
        ("rf_mysql_left('foobarbar', 5)", "fooba"),
        ("rf_mysql_left('abc', -1)", ""),
        ("rf_mysql_right('foobarbar', 4)", "rbar"),
        ("rf_mysql_right('abc', 9)", "abc"),
        ("rf_mysql_locate('bar', 'foobarbar')", "4"),
        ("rf_mysql_locate('BAR', 'foobarbar', 5)", "7"),
        ("rf_mysql_locate('', 'abc')", "1"),
        ("rf_mysql_locate('', 'abc', 5)", "0"),
        ("rf_mysql_insert('Quadratic', 3, 4, 'What')", "QuWhattic"),
        ("rf_mysql_insert('Quadratic', -1, 4, 'What')", "Quadratic"),
        ("rf_mysql_insert('Quadratic', 3, 100, 'What')", "QuWhat"),
        ("rf_mysql_lpad('hi', 4, '??')", "??hi"),
        ("rf_mysql_lpad('hi', 1, '??')", "h"),
        ("rf_mysql_rpad('hi', 5, '?!')", "hi?!?"),
        ("rf_mysql_trim('xyxabcxy', 'xy', 'both')", "xabc"),
        ("rf_mysql_trim('  a ', ' ', 'leading')", "a "),
        ("rf_mysql_repeat('ab', 3)", "ababab"),
        ("rf_mysql_repeat('a', -1)", ""),
        ("rf_mysql_repeat('a', 100000000)", "NULL"),
        ("rf_mysql_ascii('dx')", "100"),
        ("rf_mysql_ascii('')", "0"),
        ("rf_mysql_ord('é')", "50089"),
        ("CAST(rf_mysql_char(77, 121, NULL, 83) AS TEXT)", "MyS"),
        ("hex(rf_mysql_char(256))", "0100"),
        ("rf_mysql_hex(255)", "FF"),
        ("rf_mysql_hex('abc')", "616263"),
        ("rf_mysql_hex(-1)", "FFFFFFFFFFFFFFFF"),
        ("rf_mysql_hex_number('2.5')", "3"),
        ("CAST(rf_mysql_unhex('4D7953') AS TEXT)", "MyS"),
        ("rf_mysql_unhex('GG')", "NULL"),
        ("rf_mysql_conv('a', 16, 2)", "1010"),
        ("rf_mysql_conv('6E', 18, 8)", "172"),
        ("rf_mysql_conv(-17, 10, -18)", "-H"),
        ("rf_mysql_conv('zz', 37, 10)", "NULL"),
        ("rf_mysql_base(12, 2)", "1100"),
        ("rf_mysql_base(-1, 8)", "1777777777777777777777"),
        ("rf_mysql_format('12332.123456', 4)", "12,332.1235"),
        ("rf_mysql_format('12332.2', 0)", "12,332"),
        ("rf_mysql_format('-1234567.891', 2)", "-1,234,567.89"),
        ("rf_mysql_format('12332.2', 2, 'de_DE')", "12.332,20"),
        ("rf_mysql_field('Bb', 'Aa', 'bB')", "2"),
        ("rf_mysql_field(NULL, 'a')", "0"),
        ("rf_mysql_field('1a', 2, 1)", "2"),
        ("rf_mysql_interval(5.0, NULL, 3.0, 10.0)", "2"),
        ("rf_mysql_interval(NULL, 1.0)", "-1"),
        ("rf_mysql_interval_decimal('1.5', '1.4', '1.5', '1.6')", "2"),
        ("rf_mysql_find_in_set('b', 'a,B,c')", "2"),
        ("rf_mysql_elt(1, 'a', 'b')", "a"),
        ("rf_mysql_elt(3, 'a', 'b')", "NULL"),
        ("rf_mysql_make_set(5, 'hello', 'nice', 'world')", "hello,world"),
        ("rf_mysql_export_set(5, 'Y', 'N', ',', 4)", "Y,N,Y,N"),
        ("rf_mysql_substring_index('www.mysql.com', '.', 2)", "www.mysql"),
        ("rf_mysql_substring_index('www.mysql.com', '.', -2)", "mysql.com"),
        ("rf_mysql_quote('Don''t!')", "'Don\\'t!'"),
        ("rf_mysql_quote(NULL)", "NULL"),
        ("rf_mysql_soundex('Quadratically')", "Q36324"),
        ("rf_mysql_soundex('Ashcraft')", "A2613"),
        ("rf_mysql_soundex('Jackson')", "J500"),
        ("rf_mysql_soundex('bob')", "B000"),
        ("rf_mysql_strcmp('a', 'A')", "0"),
        ("rf_mysql_strcmp('a', 'b')", "-1"),
        ("rf_mysql_to_base64('abc')", "YWJj"),
        ("CAST(rf_mysql_from_base64('YWJj') AS TEXT)", "abc"),
        ("rf_mysql_from_base64('?')", "NULL"),
        ("rf_mysql_regexp('Michael!', '.*')", "1"),
        ("rf_mysql_regexp('ABC', 'abc')", "1"),
        ("rf_mysql_regexp('ABC', 'abc', 'c')", "0"),
        ("rf_mysql_regexp('abcd', 'a(?=b)')", "1"),
        ("rf_mysql_regexp_instr('dog cat dog', 'dog', 2)", "9"),
        ("rf_mysql_regexp_instr('aa aaa aaaa', 'a{4}')", "8"),
        ("rf_mysql_regexp_substr('abc def ghi', '[a-z]+', 1, 3)", "ghi"),
        ("rf_mysql_regexp_substr('abc', 'x')", "NULL"),
        ("rf_mysql_regexp_replace('a b c', 'b', 'X')", "a X c"),
        ("rf_mysql_regexp_replace('abc def ghi', '[a-z]+', 'X', 1, 3)", "abc def X"),
        ("rf_mysql_regexp_replace('abc', '(b)', '[$1]')", "a[b]c"),
    ]);
    assert_eq!(state_of("rf_mysql_regexp('a', '(')"), "2201B");
}

#[test]
fn numbers_answer_as_mysql_does() {
    check(&[
        ("rf_mysql_abs_integer(-32)", "32"),
        ("rf_mysql_round_decimal('1.5', 3, 0)", "1.500"),
        ("rf_mysql_round_decimal('25.5', -1, 0)", "30"),
        ("rf_mysql_round_decimal('-1.999', 1, 1)", "-1.9"),
        ("rf_mysql_round(2.5, 0, 0)", "2.0"),
        ("rf_mysql_round(1.298, 1, 0)", "1.3"),
        ("rf_mysql_round_integer(150, -2, 0)", "200"),
        ("rf_mysql_round_integer(122, -2, 1)", "100"),
        ("rf_mysql_ceil_decimal('1.5')", "2"),
        ("rf_mysql_floor_decimal('-1.5')", "-2"),
        ("rf_mysql_log(2.0, 65536.0)", "16.0"),
        ("rf_mysql_log2(-1.0)", "NULL"),
        ("rf_mysql_ln(0.0)", "NULL"),
        ("rf_mysql_sqrt(-1.0)", "NULL"),
        ("rf_mysql_power(2.0, 0.5)", "1.4142135623730951"),
        ("rf_mysql_atan2(-2.0, 2.0)", "-0.7853981633974483"),
        ("rf_mysql_sign(-3.0)", "-1"),
        ("rf_mysql_rand_from(3)", "0.9057697559760601"),
        ("rf_mysql_rand_from(1)", "0.40540353712197724"),
        ("rf_mysql_rand_from(-1)", "0.9050373219931845"),
        ("rf_mysql_crc32('MySQL')", "3259397556"),
        ("rf_mysql_format_bytes(18446644073709551615.0)", "16.00 EiB"),
    ]);
    assert_eq!(state_of("rf_mysql_exp(1000.0)"), "22003");
}

#[test]
fn dates_answer_as_mysql_does() {
    check(&[
        ("rf_mysql_now(0)", "2024-05-06 14:30:00"),
        ("rf_mysql_utc(0)", "2024-05-06 12:30:00"),
        ("rf_mysql_curtime(0)", "14:30:00"),
        ("rf_mysql_part('year', '2024-02-03')", "2024"),
        ("rf_mysql_part('hour', '10:05:03')", "10"),
        ("rf_mysql_part('hour', '272:59:59')", "272"),
        ("rf_mysql_part('microsecond', '2019-12-31 23:59:59.000010')", "10"),
        ("rf_mysql_part('year_month', '2019-07-02 01:02:03')", "201907"),
        ("rf_mysql_part('day_minute', '2019-07-02 01:02:03')", "20102"),
        ("rf_mysql_part('month', '2024-00-00')", "0"),
        ("rf_mysql_weekday('2008-02-03 22:23:00')", "6"),
        ("rf_mysql_dayofweek('2007-02-03')", "7"),
        ("rf_mysql_dayofyear('2007-02-03')", "34"),
        ("rf_mysql_week('2008-02-20', 1)", "8"),
        ("rf_mysql_yearweek('1987-01-01', 0)", "198652"),
        ("rf_mysql_dayname('2007-02-03')", "Saturday"),
        ("rf_mysql_monthname('2008-02-03')", "February"),
        ("rf_mysql_last_day('2004-02-05')", "2004-02-29"),
        ("rf_mysql_last_day('2003-03-32')", "NULL"),
        ("rf_mysql_to_days(950501)", "728779"),
        ("rf_mysql_to_days('2007-10-07')", "733321"),
        ("rf_mysql_from_days(730669)", "2000-07-03"),
        ("rf_mysql_to_seconds('2009-11-29 13:43:32')", "63426721412"),
        ("rf_mysql_time_to_sec('22:23:00')", "80580"),
        ("rf_mysql_sec_to_time('2378')", "00:39:38"),
        ("rf_mysql_sec_to_time('-100000')", "-27:46:40"),
        ("rf_mysql_makedate(2011, 32)", "2011-02-01"),
        ("rf_mysql_makedate(2011, 0)", "NULL"),
        ("rf_mysql_maketime(12, 15, '30')", "12:15:30"),
        ("rf_mysql_maketime(12, 60, '30')", "NULL"),
        ("rf_mysql_period_add(200801, 2)", "200803"),
        ("rf_mysql_period_diff(200802, 200703)", "11"),
        ("rf_mysql_datediff('2007-12-31 23:59:59', '2007-12-30')", "1"),
        ("rf_mysql_timediff('2000-01-01 00:00:00', '2000-01-01 00:00:00.000001')", "-00:00:00.000001"),
        ("rf_mysql_timediff('2008-12-31 23:59:59.000001', '2008-12-30 01:01:01.000002')", "46:58:57.999999"),
        ("rf_mysql_timediff('2008-12-31', '10:00:00')", "NULL"),
        ("rf_mysql_timestampdiff('MONTH', '2003-02-01', '2003-05-01')", "3"),
        ("rf_mysql_timestampdiff('YEAR', '2002-05-01', '2001-01-01')", "-1"),
        ("rf_mysql_timestampdiff('MINUTE', '2003-02-01', '2003-05-01 12:05:55')", "128885"),
        ("rf_mysql_timestampdiff('MONTH', '2024-03-31', '2024-02-29')", "-1"),
        ("rf_mysql_date_add('2018-05-01', 1, 'DAY', 1, 'x')", "2018-05-02"),
        ("rf_mysql_date_add('2018-05-01', 1, 'YEAR', -1, 'd')", "2017-05-01"),
        ("rf_mysql_date_add('2020-12-31 23:59:59', 1, 'SECOND', 1, 't')", "2021-01-01 00:00:00"),
        ("rf_mysql_date_add('2018-12-31', 1, 'HOUR', 1, 'x')", "2018-12-31 01:00:00"),
        ("rf_mysql_date_add('2100-12-31 23:59:59', '1:1', 'MINUTE_SECOND', 1, 'x')", "2101-01-01 00:01:00"),
        ("rf_mysql_date_add('1900-01-01 00:00:00', '-1 10', 'DAY_HOUR', 1, 'x')", "1899-12-30 14:00:00"),
        (
            "rf_mysql_date_add('1992-12-31 23:59:59.000002', '1.999999', 'SECOND_MICROSECOND', 1, 'x')",
            "1993-01-01 00:00:01.000001",
        ),
        ("rf_mysql_date_add('abc', 1, 'DAY', 1, 'x')", "NULL"),
        ("rf_mysql_date_add('10:00:00', 30, 'HOUR', 1, 'm')", "40:00:00"),
        ("rf_mysql_add_time('2007-12-31 23:59:59.999999', '1 1:1:1.000002', 1)", "2008-01-02 01:01:01.000001"),
        ("rf_mysql_add_time('01:00:00.999999', '02:00:00.999998', 1)", "03:00:01.999997"),
        ("rf_mysql_date_format('2009-10-04 22:23:00', '%W %M %Y')", "Sunday October 2009"),
        ("rf_mysql_date_format('2006-06-00', '%d')", "00"),
        ("rf_mysql_date_format('2006-06-00', '%W')", "NULL"),
        ("rf_mysql_time_format('100:00:00', '%H %k %h %I %l')", "100 100 04 04 4"),
        ("rf_mysql_str_to_date('01,5,2013', '%d,%m,%Y')", "2013-05-01"),
        ("rf_mysql_str_to_date('a09:30:17', 'a%h:%i:%s')", "09:30:17"),
        ("rf_mysql_str_to_date('09:30:17a', '%h:%i:%s')", "09:30:17"),
        ("rf_mysql_str_to_date('abc', 'abc')", "NULL"),
        ("rf_mysql_str_to_date('04/31/2004', '%m/%d/%Y')", "NULL"),
        ("rf_mysql_get_format('DATE', 'EUR')", "%d.%m.%Y"),
        ("rf_mysql_unix_timestamp('2015-11-13 10:20:19')", "1447406419"),
        ("rf_mysql_unix_timestamp('2015-11-13 10:20:19.012')", "1447406419.012000"),
        ("rf_mysql_from_unixtime('1447430881')", "2015-11-13 17:08:01"),
        ("rf_mysql_convert_tz('2004-01-01 12:00:00', '+00:00', '+10:00')", "2004-01-01 22:00:00"),
        ("rf_mysql_convert_tz('2004-01-01 12:00:00', 'GMT', 'Europe/Vienna')", "2004-01-01 13:00:00"),
        ("rf_mysql_convert_tz('2004-01-01 12:00:00', 'nowhere', 'GMT')", "NULL"),
    ]);
}

#[test]
fn codes_answer_as_mysql_does() {
    check(&[
        ("rf_mysql_md5('testing')", "ae2b1fca515949e5d54fb22b8ed95575"),
        ("rf_mysql_sha1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("rf_mysql_sha2('abc', 224)", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        ("rf_mysql_sha2('abc', 1)", "NULL"),
        (
            "rf_mysql_hex(rf_mysql_aes_encrypt('text', 'password', NULL, 'aes-128-ecb'))",
            "F6BD0FA8DCB7F8CD4A2FAABC54668044",
        ),
        (
            "CAST(rf_mysql_aes_decrypt(rf_mysql_aes_encrypt('text', 'k', 'abcdefghijklmnop', 'aes-256-cbc'), 'k', \
             'abcdefghijklmnop', 'aes-256-cbc') AS TEXT)",
            "text",
        ),
        ("rf_mysql_aes_decrypt(x'00', 'k', NULL)", "NULL"),
        ("CAST(rf_mysql_uncompress(rf_mysql_compress('any string')) AS TEXT)", "any string"),
        ("rf_mysql_uncompressed_length(rf_mysql_compress('any string'))", "10"),
        ("rf_mysql_is_uuid('6ccd780c-baba-1026-9564-5b8c656024db')", "1"),
        ("rf_mysql_is_uuid('6ccd780c')", "0"),
        (
            "rf_mysql_hex(rf_mysql_uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 1))",
            "1026BABA6CCD780C95645B8C656024DB",
        ),
        (
            "rf_mysql_bin_to_uuid(rf_mysql_uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 1), 1)",
            "6ccd780c-baba-1026-9564-5b8c656024db",
        ),
        ("rf_mysql_inet_aton('10.0.5.9')", "167773449"),
        ("rf_mysql_inet_aton('127.1')", "2130706433"),
        ("rf_mysql_inet_ntoa(167773449)", "10.0.5.9"),
        ("rf_mysql_hex(rf_mysql_inet6_aton('fdfe::5a55:caff:fefa:9089'))", "FDFE0000000000005A55CAFFFEFA9089"),
        ("rf_mysql_inet6_ntoa(rf_mysql_inet6_aton('10.0.5.9'))", "10.0.5.9"),
        ("length(rf_mysql_uuid())", "36"),
    ]);
    assert_eq!(state_of("rf_mysql_uuid_to_bin('x', 0)"), "22P02");
}

#[test]
fn aggregates_answer_as_mysql_does() {
    let over = |call: &str, rows: &str| one(&format!("{call} FROM (SELECT column1 AS v FROM (VALUES {rows}))"));
    assert_eq!(over("rf_mysql_avg(v)", "(1), (2), (2)"), "1.6667");
    assert_eq!(over("rf_mysql_avg(v)", "('1.50'), (NULL), ('2.25')"), "1.875000");
    assert_eq!(over("rf_mysql_bit_and_agg(v)", "(NULL)"), "18446744073709551615");
    assert_eq!(over("rf_mysql_bit_or_agg(v)", "(1), (4)"), "5");
    assert_eq!(over("rf_mysql_bit_xor_agg(v)", "(1), (5)"), "4");
    assert_eq!(over("rf_mysql_any_value(v)", "(7), (5)"), "7");
}
