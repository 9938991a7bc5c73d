//! MySQL's collations, by its names: those of Unicode by their strength, the `_bin` by bytes.
//!
//! Source: MySQL 8.0 Reference Manual, 12.10 "Supported Character Sets and Collations". What a language moves in the alphabet
//! is that language's; `general_ci` is taken for the Unicode order of the same strength.

use std::sync::{Arc, LazyLock};

use super::{Collation, Order, built_in};

/// The number of the first; the next follow.
const FROM: u32 = 15_000;

/// Case and accents say nothing.
const AI_CI: &str = "und-u-ks-level1";
/// Accents count.
const AS_CI: &str = "und-u-ks-level2";
/// Both count.
const AS_CS: &str = "und-u-ks-level3";

/// The same where blanks at the end say nothing (PAD SPACE): of all but those of version 0900 and those of bytes.
const PADDED: &str = super::unicode::PADS;

/// The names, with the order of Unicode that they are; `None` is that of bytes.
const NAMES: &[(&str, Option<&str>)] = &[
    ("utf8mb4_0900_ai_ci", Some(AI_CI)),
    ("utf8mb4_0900_as_ci", Some(AS_CI)),
    ("utf8mb4_0900_as_cs", Some(AS_CS)),
    ("utf8mb4_0900_bin", None),
    ("utf8mb4_bin", None),
    ("utf8mb4_general_ci", Some(AI_CI)),
    ("utf8mb4_unicode_ci", Some(AI_CI)),
    ("utf8mb4_unicode_520_ci", Some(AI_CI)),
    ("utf8mb4_de_pb_0900_ai_ci", Some("de-u-co-phonebk-ks-level1")),
    ("utf8mb4_german2_ci", Some("de-u-co-phonebk-ks-level1")),
    ("utf8mb4_sv_0900_ai_ci", Some("sv-u-ks-level1")),
    ("utf8mb4_swedish_ci", Some("sv-u-ks-level1")),
    ("utf8mb4_es_0900_ai_ci", Some("es-u-ks-level1")),
    ("utf8mb4_spanish_ci", Some("es-u-ks-level1")),
    ("utf8mb4_ja_0900_as_cs", Some("ja-u-ks-level3")),
    ("utf8mb3_general_ci", Some(AI_CI)),
    ("utf8mb3_unicode_ci", Some(AI_CI)),
    ("utf8mb3_bin", None),
    ("utf8_general_ci", Some(AI_CI)),
    ("utf8_unicode_ci", Some(AI_CI)),
    ("utf8_bin", None),
    ("latin1_swedish_ci", Some(AI_CI)),
    ("latin1_general_ci", Some(AI_CI)),
    ("latin1_general_cs", Some(AS_CS)),
    ("latin1_bin", None),
    ("ascii_general_ci", Some(AI_CI)),
    ("ascii_bin", None),
    ("binary", None),
    // Their places are their numbers in files: what is new stands at the end.
    ("utf8mb4_icelandic_ci", Some("is-u-ks-level1")),
    ("utf8mb4_latvian_ci", Some("lv-u-ks-level1")),
    ("utf8mb4_romanian_ci", Some("ro-u-ks-level1")),
    ("utf8mb4_slovenian_ci", Some("sl-u-ks-level1")),
    ("utf8mb4_polish_ci", Some("pl-u-ks-level1")),
    ("utf8mb4_estonian_ci", Some("et-u-ks-level1")),
    ("utf8mb4_turkish_ci", Some("tr-u-ks-level1")),
    ("utf8mb4_czech_ci", Some("cs-u-ks-level1")),
    ("utf8mb4_danish_ci", Some("da-u-ks-level1")),
    ("utf8mb4_lithuanian_ci", Some("lt-u-ks-level1")),
    ("utf8mb4_slovak_ci", Some("sk-u-ks-level1")),
    ("utf8mb4_spanish2_ci", Some("es-u-co-trad-ks-level1")),
    ("utf8mb4_persian_ci", Some("fa-u-ks-level1")),
    ("utf8mb4_esperanto_ci", Some("eo-u-ks-level1")),
    ("utf8mb4_hungarian_ci", Some("hu-u-ks-level1")),
    ("utf8mb4_sinhala_ci", Some("si-u-ks-level1")),
    ("utf8mb4_croatian_ci", Some("hr-u-ks-level1")),
    ("utf8mb4_vietnamese_ci", Some("vi-u-ks-level1")),
];

pub(super) fn all() -> &'static [Arc<Collation>] {
    static ALL: LazyLock<Vec<Arc<Collation>>> = LazyLock::new(|| {
        let made = |((name, order), oid): (&(&str, Option<&str>), u32)| {
            let pads = if name.contains("_0900_") { "" } else { PADDED };
            let order = order.map_or(Order::Bytes, |tag| Order::Unicode(format!("{tag}{pads}")));
            let deterministic = order == Order::Bytes || name.ends_with("_cs") && pads.is_empty();
            let own = built_in(oid, (*name).to_owned(), order);
            Arc::new(Collation { namespace: crate::mysql::types::SCHEMA.to_owned(), deterministic, ..own })
        };
        NAMES.iter().zip(FROM..).map(made).collect()
    });
    &ALL
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn case_and_accents_count_as_the_name_says() {
        let compare = |name: &str, a: &str, b: &str| Collation::named(name).unwrap().compare(a, b);
        assert_eq!(compare("utf8mb4_0900_ai_ci", "Ärger", "arger"), Ordering::Equal);
        assert_eq!(compare("utf8mb4_0900_as_ci", "Ärger", "ärger"), Ordering::Equal);
        assert_ne!(compare("utf8mb4_0900_as_ci", "Ärger", "arger"), Ordering::Equal);
        assert_ne!(compare("utf8mb4_0900_as_cs", "Ärger", "ärger"), Ordering::Equal);
        assert_ne!(compare("utf8mb4_bin", "a", "A"), Ordering::Equal);
        assert_eq!(compare("utf8mb4_general_ci", "A  ", "a"), Ordering::Equal);
        assert_eq!(compare("latin1_general_cs", "a ", "a"), Ordering::Equal);
        assert_ne!(compare("latin1_general_cs", "a", "A"), Ordering::Equal);
        assert_ne!(compare("utf8mb4_0900_ai_ci", "a ", "a"), Ordering::Equal);
        for known in all() {
            assert_eq!(Collation::by_oid(known.oid).map(|found| &found.name), Some(&known.name));
        }
    }
}
