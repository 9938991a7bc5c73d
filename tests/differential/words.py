# ruff: noqa: E501 - tables of words
"""Texts that have a grammar of their own, and the arguments of functions that are read by it."""

from __future__ import annotations

from random import Random

#: Vocabularies. A text of one of them is seldom refused, where any text would be.
WORDS: dict[str, tuple[str, ...]] = {
    "moment format": (
        "YYYY-MM-DD HH24:MI:SS", "Day, DD Mon YYYY", "FMDay FMDD FMMonth", "IYYY-IW-ID", "J", "Q WW W", "DDD D", "HH12:MI:SS.MS AM", "US", "FF3", "SSSS", "TZ TZH:TZM OF",
        "Y,YYY", "YY CC RM", "fmMonthth", "DDTH", "AD BC", '"day" DD', "TMMonth", "yyyy-mm-dd\"T\"hh24", "a.m.", "DY", "month", "MON", "IDDD", "I", "FF6 FF1", "SP", "\\YYYY",
    ),
    "number format": (
        "9999", "0000", "S999.99", "999D99", "9G999", "FM999.99", "L999", "MI999", "999PR", "9.99EEEE", "RN", "FMRN", "99V99", "TH9", "999th", "PL99", "SG99", "$99", "FM0.000", "9,999.9", "B99", "0", "", "FM9999999.99", "S0.0", "999D9S",
    ),
    "pattern": (
        "a", "^a", "b$", "[a-c]+", "(a)(b)?", "a|b", ".", ".*", "", "\\w", "\\s+", "\\d", "(?i)A", "[^a]", "a{2}", "a{1,}", "(a*)*", "(?=b)", "(?!b)", "(?<=a)b", "\\m", "\\y", "[[:alpha:]]", "[[:<:]]", "(.)\\1", "x*", "\\Aa", "(?:a|b)c", ".*?b", "[a", "(", "***=.", "***:a", "(?x)a b", "\\u0061", "€", "[€]", "a+?",
    ),
    "flags": ("g", "i", "gi", "n", "s", "m", "x", "", "q", "c", "w", "gz", "p"),
    "replacement": ("X", "", "\\1", "<\\&>", "\\\\", "\\2\\1", "\\0", "a\\"),
    "like": ("a%", "%", "_", "%b%", "\\%\\_", "", "a_c", "%\\", "€", "a\\b", "__%", "%%a"),
    "similar": ("a%", "(a|b)%", "[a-c]_", "a+", "%b", "a{2}", "", "a\\%", "_*", "(ab)?c"),
    "field": (
        "year", "month", "day", "hour", "minute", "second", "milliseconds", "microseconds", "century", "decade", "millennium", "quarter", "week", "dow", "doy", "isodow", "isoyear", "epoch", "julian", "timezone", "timezone_hour", "timezone_minute", "YEAR", "days", "nothing", "mon", "us", "ms",
    ),
    "zone": ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "-05", "+5:30", "EST", "EST5EDT", "PST8PDT", "Australia/Lord_Howe", "nowhere", "zulu", "europe/berlin", "GMT+2", "CEST"),
    "jsonpath": (
        "$", "$.a.b", "$[0]", "$.k", "$ ? (exists (@.a))", "strict $[5]", "lax $[1]", "$.**.abs()", "$.a == 1", '$.a > 0 && $.k == "v"', "$x + $y", "$.a[last]", "$.**{1}", "$.a % 2", "!($.a == 1)", "$[*].a", "$.a.floor()", '$[*] ? (@.type() == "string")', "strict $.**.a", "$[last - 1]", "1", '"x"', "$.a.b.size()", "$.", "", "$ ?", "lax", "$.a b", "@", "last", "$[1,2 to 3]", "$.a.b ? (@[*] > 2 || @[0] == 1)", "-1.5e1", "$.\"a\"", "$ ? (@ like_regex \"(\")", "$.foo()", "$[a]",
    ),
    "bounds": ("[)", "()", "[]", "(]", "[", ""),
    "array": ("{1,2", "{{1},{2,3}}", "[0:1]={1,2}", "{ 1 , 2 }", '{"a",b c}', "{NULL,null}", "{}x", "{,}", "[1:0]={}", "{{},{}}", "{{1,2},{3,4}}", "1", "", '{"a"b}', "{1,}", "[2:1]={1}", "[1:3]={1,2}", "{{1},2}", "{a\\,b}"),
    "range": ("[1,2)", "(1,1)", "[2,1]", "empty", " [1 , 2] ", "[,]", "[1,2", "[a,b)", "(,)x", "[1,1]", "EMPTY", '["1","3"]', "", "[1)", "[1,2,3)"),
    "multirange": ("{[1,3),[2,5)}", "{}", "{[5,6),[1,2)}", "{empty}", "{[1,2)", "[1,2)", "{[1,2),}", "{ [1,2) , [4,5] }", "{[2,1)}", "{[1,2) [3,4)}", ""),
    "date": ("January 8, 1999", "1999-01-08", "1/8/1999", "990108", "J2451187", "epoch", "1999.008", "08-Jan-99", "2024-02-30", "0044-03-15 BC", "99-Jan-08", "13/13/2020", "2024-1-5", "20240105T101112", "infinity", "5874898-01-01", "", "2020-01-01x", "Jan 5", "-infinity", "2024-00-10"),
    "time": ("04:05:06.789", "04:05", "040506", "04:05 AM", "04:05 PM", "24:00:00", "24:00:01", "23:59:60", "04:05:06 PST", "allballs", "4", "25:00", "04:05:06.1234567", "12:00 am", "T040506", ""),
    "moment": ("1999-01-08 04:05:06 -8:00", "1999-01-08T04:05:06Z", "January 8 04:05:06 1999 PST", "1999-01-08 04:05:06.123456789", "2024-03-10 02:30:00 America/New_York", "epoch", "infinity", "1999-01-08 24:00", "1999-01-08 25:00", "Mon Feb 10 17:32:01 1997 PST", "19970210 173201", "1997-02-10 17:32:01 UTC+3", "2024-02-29 BC", "294277-01-01", "", "2000-01-01 00:00 XYZ", "1997.041 17:32:01 UTC", "4714-11-23 BC", "4714-11-24 00:00 BC"),
    "interval": ("1 year 2 mons", "P1Y2M3DT4H5M6S", "1-2", "3 4:05:06", "@ 1 minute ago", "1.5 hours", "-1 day +02:03", "P0001-02-03T04:05:06", "1.5 years", "1 fortnight", "2 weeks", "1e3 s", "1 day -1 hour", "0.1 mons", "12:34", "1:2:3.4567891", "1.5", "", "P", "PT", "1 decade 1 century", "1 d 2 h 3 m 4 s", "5 days ago 1 hour", "PT-1H", "-P1D", "1 xyz", "178956971 years", "1.2 weeks", "-00:00:00.1"),
    "number": ("1e400", "nan", " 12 ", "-", "1.", ".5", "1e", "+7", "1e3", "-0", "inf", "-Infinity", "99999999999", "", "12a", "1.5", "NaN ", "1e-400", "--1", "1 2"),
    "bool": ("yes", "of", "t", "TRUE ", "1", "tr", "2", "off", "o", "n", "", "on"),
    "json": ('{"a":1', "[1,]", '"\\u00e9"', '"\\ud83d"', "01", "nul", '{"a" 1}', '"a', '{"a":1}x', '{"a":1,"a":2}', "[1, 2]", '"\\u0000"', "-", "1e5", "1.50", "", " ", "{", '{1:2}', '{"a":}', '"\t"', "[[[]]]", "true false", '"\\x"', "-0", "1E400"),
    "inet": ("10.1", "10.0.0.1/33", "10.0.0.256", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8/64", "::1/128", "10/8", "fe80::%1", "", "1.2.3.4/24", "1::2::3", "192.168.0.0/16"),
    "uuid": ("{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "A0EEBC999C0B4EF8BB6D6BB9BD380A11", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "a0eebc99-9c0b", "", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "bytes": ("\\x6", "a\\000b", "\\\\", "\\xzz", "\\x61 62", "\\", "\\400", "", "é", "\\X61", "\\x6162"),
    "bits": ("2", "B101", "x1F", "10101", "", "b1", "1 0", "1"),
    "money": ("$1,000.5", "(1)", "1e3", "-$1.005", "", "1.2.3", "$", "92233720368547758.07", "92233720368547758.08", "- $5"),
    "composite": ("(1,a)", "(1,)", "(,)", "()", "(1,a,b)", "(1)", "1,a", '(1,"a,b")', '(1,"a""b")', " (1,a) ", "(x,a)", "(1,a", '(1,a)x', "(1,\\a)", ""),
    "mood": ("ok", "OK", "", " ok", "sad"),
    "geometry": ("(1,2)", "1,2", "((0,0),(1,1))", "<(0,0),1>", "[(0,0),(1,1)]", "", "(1)", "(1,2)x", "0,0,1", "{1,2,3}", "<(0,0),-1>", "(nan,1)"),
    "mac": ("08002b:010203", "0800.2b01.0203", "08-00-2b-01-02-03", "08:00:2b", "", "08002b010203", "08:00:2b:01:02:0g"),
    "lsn": ("0/0", "FFFFFFFF/FFFFFFFF", "0", "1/G", "", "123456789/1"),
    "tsvector": ("a fat cat", "a:1 b:2A", "'a b':3", "a:", "", "a:1,2,1", "a:99999", "'a", "\\'x"),
    "path": ("{a}", "{a,b}", "{0}", "{a,b,1}", "{-1}", "{c}", "{}", "{a,b,-1}", "{k,z}", "{1,q}", "{a,NULL}"),
    "key": ("a", "b", "c", "k", "0", "", "zz"),
    "encoding": ("hex", "base64", "escape", "HEX", "nothing"),
    "hash": ("md5", "sha1", "nothing"),
    "size": ("1 kB", "10 MB", "1.5GB", "12", "-3 kb", "1 XB", ""),
    "configuration": ("english", "simple", "german", "pg_catalog.english"),
    "words": ("The fat cats sat on mats", "a quick-brown fox@example.com", "run & jump", "", "'it''s'", "fat cat"),
    "query": ("fat & cat", "fat | cat", "!cat", "fat <-> cat", "a:*", "'fat cat'", "(a | b) & !c", "cat:AB", ""),
    "number text": ("12", "-1.5", "1,234.5", "$12", "<12>", "12-", "1e3", " 7 ", "XII", "+3", "12th", "abc", ""),
    "moment text": ("2024-02-29 12:34:56", "Thursday, 29 Feb 2024", "29 FEB 24", "2024-09-4", "2460370", "1", "12:34:56.789 PM", "20240229", "2024", "AD 12", "", "99", "12/31/1999"),
    "type name": ("int", "integer[]", "timestamp(3) with time zone", "nothing", "pg_catalog.text", "numeric(5,2)", "", '"char"', "character varying", "int[][]", "interval day to second", "setof int", "bit(3)", "float(20)"),
    "normal form": ("NFC", "NFD", "NFKC", "NFKD", "nfc"),
    "printf": ("%s", "%s %s", "%1$s-%1$s", "%I", "%L", "%10s|", "%-5s|", "%%", "%", "%2$s", "%*s", "%x", "a", ""),
}  # fmt: skip

#: Which argument of which function is read by which of them.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "to_char": ("", "format"), "to_number": ("number text", "number format"), "to_date": ("moment text", "moment format"), "to_timestamp": ("moment text", "moment format"),
    "date_trunc": ("field", "", "zone"), "date_part": ("field", ""), "extract": ("field", ""), "timezone": ("zone", ""), "regexp_replace": ("", "pattern", "replacement", "", "", ""), "regexp_match": ("", "pattern", "flags"),
    "regexp_matches": ("", "pattern", "flags"), "regexp_split_to_array": ("", "pattern", "flags"), "regexp_split_to_table": ("", "pattern", "flags"), "regexp_count": ("", "pattern", "", "flags"), "regexp_instr": ("", "pattern", "", "", "", "flags", ""),
    "regexp_like": ("", "pattern", "flags"), "regexp_substr": ("", "pattern", "", "", "flags", ""), "encode": ("", "encoding"), "decode": ("", "encoding"),
    "to_tsvector": ("configuration", "words"), "to_tsquery": ("configuration", "query"), "plainto_tsquery": ("configuration", "words"), "phraseto_tsquery": ("configuration", "words"), "websearch_to_tsquery": ("configuration", "words"),
    "jsonb_object_field": ("", "key"), "jsonb_object_field_text": ("", "key"), "json_object_field": ("", "key"), "json_object_field_text": ("", "key"), "jsonb_extract_path": ("", "path"), "jsonb_extract_path_text": ("", "path"), "json_extract_path": ("", "path"), "json_extract_path_text": ("", "path"),
    "jsonb_set": ("", "path"), "jsonb_set_lax": ("", "path"), "jsonb_insert": ("", "path"), "jsonb_delete_path": ("", "path"), "jsonb_exists": ("", "key"), "jsonb_delete": ("", "key"), "normalize": ("", "normal form"), "is_normalized": ("", "normal form"), "pg_size_bytes": ("size",), "similar_to_escape": ("similar",),
    "int4range": ("", "", "bounds"), "int8range": ("", "", "bounds"), "numrange": ("", "", "bounds"), "daterange": ("", "", "bounds"), "tsrange": ("", "", "bounds"), "tstzrange": ("", "", "bounds"),
    "like": ("", "like"), "notlike": ("", "like"), "textregexeq": ("", "pattern"), "texticregexeq": ("", "pattern"), "format": ("printf",), "ts_headline": ("configuration", "words"),
}  # fmt: skip
#: What is read as the value of a type.
INPUTS: dict[str, str] = {
    "int": "number", "smallint": "number", "bigint": "number", "numeric": "number", "float8": "number", "real": "number", "oid": "number", "bool": "bool", "bytea": "bytes", "date": "date", "time": "time", "timetz": "time",
    "timestamp": "moment", "timestamptz": "moment", "interval": "interval", "uuid": "uuid", "json": "json", "jsonb": "json", "jsonpath": "jsonpath", "int[]": "array", "text[]": "array", "numeric[]": "array", "date[]": "array", "jsonb[]": "array", "int4range": "range", "numrange": "range", "int8range": "range",
    "daterange": "range", "int4multirange": "multirange", "nummultirange": "multirange", "inet": "inet", "cidr": "inet", "bit(4)": "bits", "varbit": "bits", "money": "money", "pair": "composite", "mood": "mood", "small": "number", "point": "geometry", "box": "geometry",
    "circle": "geometry", "lseg": "geometry", "macaddr": "mac", "pg_lsn": "lsn", "tsvector": "tsvector", "tsquery": "query", "regtype": "type name", "name": "words",
}  # fmt: skip
#: The right side of operators, by operator and its type.
OPERANDS: dict[tuple[str, str], str] = {
    ("~", "text"): "pattern", ("~*", "text"): "pattern", ("!~", "text"): "pattern", ("!~*", "text"): "pattern", ("~~", "text"): "like", ("!~~", "text"): "like", ("~~*", "text"): "like", ("!~~*", "text"): "like",
    ("->", "text"): "key", ("->>", "text"): "key", ("#>", "text[]"): "path", ("#>>", "text[]"): "path", ("#-", "text[]"): "path", ("-", "text"): "key", ("?", "text"): "key",
}  # fmt: skip


def word(random: Random, vocabulary: str, taken: str) -> str | None:
    """A text of a vocabulary; `format` is of what the first argument's type, `taken`, is written by. None without one."""
    if vocabulary == "format":
        moment = taken in ("date", "time", "timestamp", "timestamptz", "interval", "timetz")
        vocabulary = "moment format" if moment else "number format"
    if vocabulary not in WORDS or random.random() < 0.1:
        return None
    return random.choice(WORDS[vocabulary])
