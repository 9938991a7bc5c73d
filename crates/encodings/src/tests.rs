use proptest::prelude::*;

use super::*;
use crate::names::ENCODINGS;

fn named(name: &str) -> &'static Encoding {
    Encoding::find(name).unwrap_or_else(|| panic!("{name} is no encoding"))
}

fn encoded(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    named(name).encode(text, &mut out).map(|()| out).map_err(|failure| failure.to_string())
}

fn decoded(name: &str, bytes: &[u8]) -> Result<String, String> {
    named(name).decode(bytes).map_err(|failure| failure.to_string())
}

#[test]
fn names_are_found_as_postgresql_finds_them() {
    let found = ["utf-8", "Unicode", "latin-1", "ISO_8859-1", "windows-1252", "KOI8", "no such", "shift_jis_2004", ""]
        .map(|name| Encoding::find(name).map(|encoding| (encoding.number(), encoding.name())));
    let expected = [
        Some((6, "UTF8")),
        Some((6, "UTF8")),
        Some((8, "LATIN1")),
        Some((8, "LATIN1")),
        Some((24, "WIN1252")),
        Some((22, "KOI8R")),
        None,
        Some((41, "SHIFT_JIS_2004")),
        None,
    ];
    assert_eq!(found, expected);
    for (number, encoding) in ENCODINGS.iter().enumerate() {
        assert_eq!(Encoding::numbered(number as i64).map(Encoding::name), Some(encoding.name));
        assert_eq!(Encoding::find(encoding.name).map(Encoding::number), Some(number as i32));
    }
    assert!(Encoding::numbered(-1).is_none() && Encoding::numbered(42).is_none());
}

/// As `convert_to` and `convert_from` of PostgreSQL 15 answer.
#[test]
fn texts_are_converted_as_postgresql_does() {
    let cases: &[(&str, &str, &[u8])] = &[
        ("LATIN1", "é", b"\xe9"),
        ("LATIN9", "€", b"\xa4"),
        ("WIN1252", "€", b"\x80"),
        ("WIN1251", "Привет", b"\xcf\xf0\xe8\xe2\xe5\xf2"),
        ("KOI8R", "Привет", b"\xf0\xd2\xc9\xd7\xc5\xd4"),
        ("EUC_JP", "日本ｱ", b"\xc6\xfc\xcb\xdc\x8e\xb1"),
        ("SJIS", "表\\", b"\x95\x5c\\"),
        ("SJIS", "～∥－", b"\x81\x60\x81\x61\x81\x7c"),
        ("BIG5", "中文", b"\xa4\xa4\xa4\xe5"),
        ("GBK", "中文", b"\xd6\xd0\xce\xc4"),
        ("GB18030", "中€😀\u{10ffff}", b"\xd6\xd0\xa2\xe3\x94\x39\xfc\x36\xe3\x32\x9a\x35"),
        ("EUC_KR", "한글", b"\xc7\xd1\xb1\xdb"),
        ("UHC", "한똠", b"\xc7\xd1\x8c\x63"),
        ("EUC_TW", "中", b"\xc4\xe3"),
        ("SHIFT_JIS_2004", "か\u{309a}", b"\x82\xf5"),
        ("EUC_JIS_2004", "か\u{309a}か", b"\xa4\xf7\xa4\xab"),
        ("UTF8", "é", b"\xc3\xa9"),
    ];
    for (name, text, bytes) in cases {
        assert_eq!(encoded(name, text).as_deref(), Ok(*bytes), "{name} {text}");
        assert_eq!(decoded(name, bytes).as_deref(), Ok(*text), "{name} {text}");
    }
    // PostgreSQL writes this plane and does not read it.
    assert_eq!(encoded("EUC_TW", "\u{78b1}").as_deref(), Ok(&b"\x8e\xae\xc8\xc4"[..]));
}

#[test]
fn failures_are_in_postgresqls_words() {
    let untranslatable = |bytes: &str, from: &str, to: &str| {
        format!("character with byte sequence {bytes} in encoding \"{from}\" has no equivalent in encoding \"{to}\"")
    };
    assert_eq!(encoded("LATIN1", "a€"), Err(untranslatable("0xe2 0x82 0xac", "UTF8", "LATIN1")));
    assert_eq!(decoded("WIN1252", b"a\x81"), Err(untranslatable("0x81", "WIN1252", "UTF8")));
    assert_eq!(decoded("BIG5", b"\xff\x41"), Err(untranslatable("0xff 0x41", "BIG5", "UTF8")));
    let invalid = |name: &str, bytes: &str| format!("invalid byte sequence for encoding \"{name}\": {bytes}");
    for (name, bytes, shown) in [
        ("EUC_JP", b"a\x8f\xa1".as_slice(), "0x8f 0xa1"),
        ("SJIS", b"\x81\x20", "0x81 0x20"),
        ("GB18030", b"\x81", "0x81"),
        ("GB18030", b"\x81\x30\x20\x20", "0x81 0x30 0x20 0x20"),
        ("EUC_CN", b"\x8e\xa1\xa1", "0x8e 0xa1 0xa1"),
        ("LATIN1", b"a\0b", "0x00"),
        ("UTF8", b"\xe2\x28\xa1", "0xe2 0x28 0xa1"),
        ("UTF8", b"ab\xffcd", "0xff"),
        ("UTF8", b"\xe2\x82", "0xe2 0x82"),
    ] {
        assert_eq!(decoded(name, bytes), Err(invalid(name, shown)), "{name}");
    }
}

/// As `convert` of PostgreSQL 15 answers.
#[test]
fn encodings_are_converted_without_utf_8_between_them_as_postgresql_does() {
    let converted = |from: &str, to: &str, bytes: &[u8]| {
        named(from).convert(bytes, named(to)).unwrap_or_else(|| panic!("{from} is not converted to {to}"))
    };
    let cases: &[(&str, &str, &[u8], &[u8])] = &[
        ("BIG5", "EUC_TW", b"a\xb1\xb2\xc1\xc2", b"a\xda\xd6\xf5\xcd"),
        ("BIG5", "MULE_INTERNAL", b"\xb1\xb2\xc1\xc2", b"\x95\xda\xd6\x95\xf5\xcd"),
        ("EUC_JP", "SJIS", b"\xb1\xb2\xc1\xc2a\x8e\xb1", b"\x89\x51\x91\x61a\xb1"),
        ("EUC_JIS_2004", "SHIFT_JIS_2004", b"\xc3\xa4", b"\x92\x43"),
        ("KOI8R", "MULE_INTERNAL", b"\x81\xb1\xb2", b"\x8b\x81\x8b\xb1\x8b\xb2"),
        ("SHIFT_JIS_2004", "EUC_JIS_2004", b"\x81\xb1\xb2", b"\xa2\xb3\x8e\xb2"),
        ("WIN1250", "MULE_INTERNAL", b"\xc3\xa4", b"\x82\xc3\x82\xa4"),
        ("MULE_INTERNAL", "EUC_TW", b"\x95\xda\xd6\x9d\xf6\xa1\xa1", b"\xda\xd6\x8e\xa3\xa1\xa1"),
        // A character that the other has not is another's, without an error.
        ("EUC_JP", "SJIS", b"\x8f\xb0\xa1", b"\x81\xac"),
    ];
    for (from, to, bytes, expected) in cases {
        assert_eq!(converted(from, to, bytes).as_deref(), Ok(*expected), "{from} {to}");
    }
    let failure = |from, to, bytes| converted(from, to, bytes).unwrap_err().to_string();
    assert_eq!(
        failure("MULE_INTERNAL", "LATIN1", b"\x81\xb1\xb2".as_slice()),
        "character with byte sequence 0xb2 in encoding \"MULE_INTERNAL\" has no equivalent in encoding \"LATIN1\""
    );
    assert_eq!(
        failure("EUC_JIS_2004", "SHIFT_JIS_2004", b"\x8f\xa2\xa1".as_slice()),
        "invalid byte sequence for encoding \"EUC_JIS_2004\": 0x8f 0xa2 0xa1"
    );
}

#[test]
fn every_code_is_a_character_that_has_a_code() {
    for encoding in ENCODINGS {
        let Some(table) = encoding.table.map(table::LazyTable::read) else { continue };
        assert!(table.codes().count() > 60, "{}", encoding.name);
        for code in table.codes() {
            let bytes: Vec<u8> = code.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
            assert_eq!(encoding.shape.verified(&bytes), Some(bytes.len()), "{} {code:x}", encoding.name);
            assert_eq!(encoding.whole(&bytes), bytes.len());
            let text = encoding.decode(&bytes).unwrap();
            let mut again = Vec::new();
            // Where two codes are one character, one of them is its code. What PostgreSQL writes in JOHAB it does not always
            // read, since it takes it for EUC.
            if encoding.shape != Shape::Johab && encoding.encode(&text, &mut again).is_ok() {
                assert_eq!(encoding.decode(&again).as_ref(), Ok(&text), "{} {code:x}", encoding.name);
            }
        }
    }
}

proptest! {
    #[test]
    fn bytes_are_a_text_or_a_failure(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for encoding in ENCODINGS {
            let _ = encoding.decode(&bytes);
            prop_assert_eq!(encoding.verify(&bytes).is_ok() || encoding.decode(&bytes).is_err(), true);
            prop_assert!(encoding.whole(&bytes) <= bytes.len());
        }
    }

    #[test]
    fn texts_come_back(text in "[a-zéжф日本語中文한글ｱ😀]{0,9}") {
        for encoding in ENCODINGS.iter().filter(|encoding| encoding.converts() && encoding.shape != Shape::Johab) {
            let mut bytes = b"before".to_vec();
            match encoding.encode(&text, &mut bytes) {
                Ok(()) => prop_assert_eq!(encoding.decode(&bytes[6..]), Ok(text.clone()), "{}", encoding.name),
                Err(_) => prop_assert_eq!(&bytes, b"before"),
            }
        }
    }
}

/// Sequences of bytes from 128 on, as `tools/postgres_encodings.py` has asked PostgreSQL for them.
fn code_pages(name: &str, from_mule_to: Option<&str>) -> Vec<Vec<u8>> {
    let upper = 0x80_u8..=0xff;
    let pairs = |heads: &[&[u8]], a: std::ops::RangeInclusive<u8>, b: std::ops::RangeInclusive<u8>| {
        let mut codes = Vec::new();
        for head in heads {
            codes.extend(a.clone().flat_map(|a| b.clone().map(move |b| [*head, &[a, b]].concat())));
        }
        codes
    };
    let mut codes: Vec<Vec<u8>> = match from_mule_to {
        Some(to) => {
            let mut codes = pairs(&[&[]], 0x81..=0x8d, upper.clone());
            if named(to).shape != Shape::Single {
                for head in (0x90..0x9a).map(|lead| vec![lead]).chain((0xf6..0xfb).map(|plane| vec![0x9d, plane])) {
                    for row in upper.clone().step_by(3) {
                        codes.extend(pairs(&[&head], row..=row, upper.clone()));
                    }
                }
            }
            return codes;
        }
        None => upper.clone().map(|byte| vec![byte]).collect(),
    };
    if named(name).shape == Shape::Single {
        return codes;
    }
    codes.extend(pairs(&[&[]], upper, 0..=0xff));
    match name {
        "EUC_JP" | "EUC_JIS_2004" => codes.extend(pairs(&[&[0x8f]], 0xa1..=0xfe, 0xa1..=0xfe)),
        "EUC_TW" => {
            for plane in 0xa1..0xb1 {
                codes.extend(pairs(&[&[0x8e, plane]], 0xa1..=0xfe, 0xa1..=0xfe));
            }
        }
        "GB18030" => {
            for head in pairs(&[&[]], 0x81..=0x84, 0x30..=0x39) {
                codes.extend(pairs(&[&head], 0x81..=0xfe, 0x30..=0x39));
            }
        }
        _ => {}
    }
    codes
}

/// The checksum of answers, each on a line.
fn checksum(answers: impl Iterator<Item = Result<Vec<u8>, Failure>>) -> String {
    let mut crc = flate2::Crc::new();
    for answer in answers {
        let answer = answer.unwrap_or_else(|failure| {
            let state = if matches!(failure, Failure::Invalid { .. }) { "22021" } else { "22P05" };
            format!("{state} {failure}").into_bytes()
        });
        crc.update(&answer);
        crc.update(b"\n");
    }
    format!("{:08x}", crc.sum())
}

/// Every conversion over whole code pages, answers and errors: a PostgreSQL 15's checksums stand in `digests.txt`.
#[test]
fn whole_code_pages_are_converted_as_postgresql_does() {
    let hexadecimal = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes();
    let mut checked = 0;
    for line in include_str!("../data/digests.txt").lines() {
        let [from, to, recorded] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let ours = if to == "UTF8" {
            let decode = |code: Vec<u8>| {
                named(from).verify(&code)?;
                Ok(named(from).decode(&code)?.into_bytes())
            };
            checksum(code_pages(from, None).into_iter().map(decode))
        } else if from == "UTF8" {
            let is_beyond = matches!(to, "EUC_TW" | "EUC_JIS_2004" | "SHIFT_JIS_2004" | "GB18030");
            let basic = if named(to).shape == Shape::Single { 0x80..0x3000 } else { 0x80..0x1_0000 };
            checksum(basic.chain(0x2_0000..if is_beyond { 0x3_0000 } else { 0 }).filter_map(char::from_u32).map(
                |letter| {
                    let mut out = Vec::new();
                    named(to).encode(&letter.to_string(), &mut out).map(|()| hexadecimal(out))
                },
            ))
        } else {
            let convert = |code: Vec<u8>| {
                named(from).verify(&code)?;
                named(from).convert(&code, named(to)).expect("a conversion").map(hexadecimal)
            };
            checksum(code_pages(from, (from == "MULE_INTERNAL").then_some(to)).into_iter().map(convert))
        };
        assert_eq!(ours, recorded, "{from} {to}");
        checked += 1;
    }
    assert_eq!(checked, 39 * 2 + 50);
}
