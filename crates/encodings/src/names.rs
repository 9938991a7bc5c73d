//! The encodings and their names.

use crate::Encoding;
use crate::shape::Shape;
use crate::table::{LazyTable, Source, Table};

const fn encoding(name: &'static str, shape: Shape, table: Option<Source>) -> Encoding {
    Encoding { name, shape, table }
}

/// An encoding of single bytes, by its place in the file of those.
macro_rules! single {
    ($name:literal, $place:literal) => {
        encoding($name, Shape::Single, {
            static TABLE: LazyTable = LazyTable::new(|| Table::nth(include_bytes!("../data/single.z"), $place));
            Some(&TABLE)
        })
    };
}

macro_rules! multi {
    ($name:literal, $shape:expr, $file:literal $(, $read:ident)?) => {
        encoding($name, $shape, {
            static TABLE: LazyTable = LazyTable::new(|| multi!(@read $file $($read)?));
            Some(&TABLE)
        })
    };
    (@read $file:literal) => { Table::nth(include_bytes!(concat!("../data/", $file, ".z")), 0) };
    (@read $file:literal $read:ident) => { Table::$read(include_bytes!(concat!("../data/", $file, ".z"))) };
}

/// An encoding's number is its place.
pub(crate) static ENCODINGS: &[Encoding] = &[
    encoding("SQL_ASCII", Shape::Single, None),
    multi!("EUC_JP", Shape::EucJapan, "euc_jp"),
    multi!("EUC_CN", Shape::Euc { after_ss2: 3 }, "euc_cn"),
    multi!("EUC_KR", Shape::Euc { after_ss2: 2 }, "euc_kr"),
    multi!("EUC_TW", Shape::EucTaiwan, "euc_tw"),
    multi!("EUC_JIS_2004", Shape::EucJapan, "euc_jis_2004"),
    encoding("UTF8", Shape::Utf8, None),
    encoding("MULE_INTERNAL", Shape::Mule, None),
    single!("LATIN1", 0),
    single!("LATIN2", 1),
    single!("LATIN3", 2),
    single!("LATIN4", 3),
    single!("LATIN5", 4),
    single!("LATIN6", 5),
    single!("LATIN7", 6),
    single!("LATIN8", 7),
    single!("LATIN9", 8),
    single!("LATIN10", 9),
    single!("WIN1256", 10),
    single!("WIN1258", 11),
    single!("WIN866", 12),
    single!("WIN874", 13),
    single!("KOI8R", 14),
    single!("WIN1251", 15),
    single!("WIN1252", 16),
    single!("ISO_8859_5", 17),
    single!("ISO_8859_6", 18),
    single!("ISO_8859_7", 19),
    single!("ISO_8859_8", 20),
    single!("WIN1250", 21),
    single!("WIN1253", 22),
    single!("WIN1254", 23),
    single!("WIN1255", 24),
    single!("WIN1257", 25),
    single!("KOI8U", 26),
    multi!("SJIS", Shape::ShiftJis, "sjis"),
    multi!("BIG5", Shape::Double, "big5"),
    multi!("GBK", Shape::Double, "gbk"),
    multi!("UHC", Shape::Double, "uhc"),
    multi!("GB18030", Shape::Gb18030, "gb18030", gb18030),
    multi!("JOHAB", Shape::Johab, "johab"),
    multi!("SHIFT_JIS_2004", Shape::ShiftJis, "shift_jis_2004"),
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

/// The letters and digits of a name, the letters small.
fn plain(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
}

pub(crate) fn find(name: &str) -> Option<&'static Encoding> {
    let asked = plain(name).collect::<String>().replace("windows", "win");
    let asked = ALIASES.iter().find(|(alias, _)| *alias == asked).map_or(asked.as_str(), |(_, name)| name);
    ENCODINGS.iter().find(|known| plain(known.name).eq(plain(asked)))
}
