//! PostgreSQL's encodings by their numbers.

/// Names as `pg_encoding_to_char` has them; an encoding's number is its place.
const NAMES: &[&str] = &[
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

/// Other names of encodings, in small letters and digits alone; `windows` stands for `win` besides.
const ALIASES: &[(&str, &str)] = &[
    ("abc", "WIN1258"),
    ("alt", "WIN866"),
    ("iso88591", "LATIN1"),
    ("iso885910", "LATIN6"),
    ("iso885913", "LATIN7"),
    ("iso885914", "LATIN8"),
    ("iso885915", "LATIN9"),
    ("iso885916", "LATIN10"),
    ("iso88592", "LATIN2"),
    ("iso88593", "LATIN3"),
    ("iso88594", "LATIN4"),
    ("iso88599", "LATIN5"),
    ("koi8", "KOI8R"),
    ("mskanji", "SJIS"),
    ("shiftjis", "SJIS"),
    ("tcvn", "WIN1258"),
    ("tcvn5712", "WIN1258"),
    ("unicode", "UTF8"),
    ("vscii", "WIN1258"),
    ("win", "WIN1251"),
    ("win932", "SJIS"),
    ("win936", "GBK"),
    ("win949", "UHC"),
    ("win950", "BIG5"),
];

/// The number of an encoding by one of its names, in any case and with any punctuation.
pub fn number_of(name: &str) -> Option<i32> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let asked = plain(name).replace("windows", "win");
    let name = ALIASES.iter().find(|(alias, _)| *alias == asked).map(|(_, name)| *name);
    match name {
        Some(name) => number(name),
        None => NAMES.iter().position(|known| plain(known) == asked).map(|at| at as i32),
    }
}

/// The number of an encoding.
pub fn number(name: &str) -> Option<i32> {
    NAMES.iter().position(|known| *known == name).map(|at| at as i32)
}

/// The name of an encoding; none is empty.
pub fn name(number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| NAMES.get(number)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_conversion_is_between_known_encodings() {
        for conversion in rowferry_facts::Conversion::all() {
            assert!(number(conversion.source).is_some() && number(conversion.target).is_some(), "{conversion:?}");
        }
        let found = ["utf-8", "Unicode", "latin-1", "ISO_8859-1", "windows-1252", "KOI8", "no such"].map(number_of);
        assert_eq!(found, [Some(6), Some(6), Some(8), Some(8), Some(24), Some(22), None]);
        assert_eq!((number("UTF8"), name(6), name(-1), name(99)), (Some(6), "UTF8", "", ""));
    }
}
