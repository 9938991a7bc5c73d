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
