//! Collations: in which order texts stand, and which of them are equal.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::Type;

/// A collation that a statement can name.
#[derive(Clone, Debug)]
pub struct Collation {
    /// Object id.
    pub oid: u32,
    /// Its name, in `pg_catalog`.
    pub name: String,
    /// How it orders.
    pub order: Order,
}

/// How a collation orders texts. Texts of different bytes differ under all of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Order {
    /// By code point, which is the order of the bytes of UTF-8.
    Bytes,
    /// As the Unicode Collation Algorithm has it for a locale; texts that are equal to it, by their bytes.
    Unicode(String),
}

/// One of a number.
impl PartialEq for Collation {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid
    }
}

impl Eq for Collation {}

impl Collation {
    /// The database's own, which is `C`.
    pub const DEFAULT: u32 = 100;
    /// `C`, which `name` has.
    pub const C: u32 = 950;

    /// Whether texts stand in another order than their bytes.
    pub fn is_unicode(&self) -> bool {
        matches!(self.order, Order::Unicode(_))
    }

    /// Whether its letters are those of ASCII: the database's own knows those of Unicode (`lc_ctype`).
    pub fn knows_ascii_alone(&self) -> bool {
        matches!(self.name.as_str(), "C" | "POSIX" | "ucs_basic")
    }

    /// The built-in collation of a name.
    pub fn named(name: &str) -> Option<&'static Arc<Self>> {
        static NAMES: LazyLock<HashMap<&'static str, &'static Arc<Collation>>> =
            LazyLock::new(|| Collation::all().iter().map(|known| (known.name.as_str(), known)).collect());
        // Nearly all who name one name one of these, and the list of the others is long.
        let first = Self::all_of_bytes().iter().find(|known| known.name == name);
        first.or_else(|| NAMES.get(name).copied())
    }

    /// The built-in collation of an object id.
    pub fn by_oid(oid: u32) -> Option<&'static Arc<Self>> {
        Self::all().iter().find(|known| known.oid == oid)
    }

    /// The built-in ones, by object id.
    pub fn all() -> &'static [Arc<Self>] {
        static ALL: LazyLock<Vec<Arc<Collation>>> = LazyLock::new(|| {
            let locales = include_str!("locales.txt").lines().zip(UNICODE_FROM..);
            let unicode = locales.map(|(locale, oid)| {
                let (name, order) = (format!("{locale}-x-icu"), Order::Unicode(locale.to_owned()));
                Arc::new(Collation { oid, name, order })
            });
            Collation::all_of_bytes().iter().cloned().chain(unicode).collect()
        });
        &ALL
    }

    fn all_of_bytes() -> &'static [Arc<Self>] {
        static THOSE: LazyLock<Vec<Arc<Collation>>> = LazyLock::new(|| {
            let plain = |(oid, name): &(u32, &str)| {
                Arc::new(Collation { oid: *oid, name: (*name).to_owned(), order: Order::Bytes })
            };
            OF_BYTES.iter().map(plain).collect()
        });
        &THOSE
    }

    /// The collation of a type's values where nothing else is said; `None` where they have none.
    pub fn of_type(ty: &Type) -> Option<&'static Arc<Self>> {
        let oid = match ty.through_domains() {
            Type::Name => Self::C,
            Type::Array(element) => return Self::of_type(element),
            ty if ty.is_text() && !matches!(ty, Type::InternalChar) => Self::DEFAULT,
            _ => return None,
        };
        Self::all_of_bytes().iter().find(|known| known.oid == oid)
    }
}

/// The property of a column that has its collation's name.
pub const PROPERTY: &str = "collation";

/// Those that compare bytes. The last two have the numbers that initdb gave them.
const OF_BYTES: &[(u32, &str)] =
    &[(Collation::DEFAULT, "default"), (Collation::C, "C"), (951, "POSIX"), (12_340, "ucs_basic"), (12_341, "C.utf8")];

/// The number of the first of those that are Unicode's for a locale.
const UNICODE_FROM: u32 = 12_342;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique() {
        let all = Collation::all();
        assert!(all.is_sorted_by(|a, b| a.oid < b.oid) && all.len() > 800);
        for known in all {
            assert_eq!(Collation::named(&known.name).map(|found| found.oid), Some(known.oid));
        }
        assert_eq!(Collation::named("de-x-icu").map(|found| found.is_unicode()), Some(true));
        assert!(Collation::named("xx-x-icu").is_none() && Collation::named("").is_none());
    }

    #[test]
    fn texts_have_a_collation_and_others_have_none() {
        let of = |ty: &Type| Collation::of_type(ty).map(|collation| collation.oid);
        assert_eq!(of(&Type::Text), Some(100));
        assert_eq!(of(&Type::Array(Box::new(Type::Varchar(None)))), Some(100));
        assert_eq!(of(&Type::Name), Some(950));
        assert_eq!((of(&Type::Int4), of(&Type::InternalChar), of(&Type::Jsonb)), (None, None, None));
    }
}
