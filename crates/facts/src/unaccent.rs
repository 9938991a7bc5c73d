//! What the extension `unaccent` makes of each character that it changes.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a character becomes; `None` where it stays.
pub fn unaccented(c: char) -> Option<&'static str> {
    static RULES: LazyLock<HashMap<char, &str>> = LazyLock::new(|| {
        let lines = include_str!("../data/unaccent.tsv").lines().skip(1);
        let rule = |line: &'static str| {
            let (code, becomes) = line.split_once('\t')?;
            Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, becomes))
        };
        lines.filter_map(rule).collect()
    });
    // Plain ASCII is what the others become.
    if c.is_ascii() { None } else { RULES.get(&c).copied() }
}

#[cfg(test)]
mod tests {
    use super::unaccented;

    #[test]
    fn characters_become_what_postgresql_makes_of_them() {
        assert_eq!(('é', unaccented('é')), ('é', Some("e")));
        assert_eq!(
            (unaccented('ß'), unaccented('Æ'), unaccented('x'), unaccented('я')),
            (Some("ss"), Some("AE"), None, None)
        );
    }
}
