//! Collations: in which order texts stand, and which of them are equal.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, LazyLock, OnceLock};

use crate::{Error, Result, Type};

mod locale;
mod mysql;
pub mod unicode;

/// A collation that a statement can name.
#[derive(Clone, Debug)]
pub struct Collation {
    /// Object id.
    pub oid: u32,
    /// Its name.
    pub name: String,
    /// Its schema: `pg_catalog` for those that are built in.
    pub namespace: String,
    /// How it orders.
    pub order: Order,
    /// False where texts of different bytes may be equal.
    pub deterministic: bool,
    /// What a user has said of it; `None` for those that are built in.
    pub made: Option<Made>,
    /// How it compares, once somebody has asked.
    comparator: Comparator,
}

/// What compares texts, made when it is first needed.
#[derive(Clone, Default)]
struct Comparator(Arc<OnceLock<Option<Box<Compare>>>>);

type Compare = dyn Fn(&str, &str) -> Ordering + Send + Sync + UnwindSafe + RefUnwindSafe;

impl std::fmt::Debug for Comparator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Comparator")
    }
}

/// What CREATE COLLATION says of one, as the catalogs tell it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Made {
    /// `i` for ICU's, `c` for those of the system.
    pub provider: char,
    /// The locale, as ICU was told.
    pub locale: Option<String>,
    /// LC_COLLATE of the system's.
    pub collate: Option<String>,
    /// LC_CTYPE of the system's.
    pub ctype: Option<String>,
    /// False where texts of different bytes may be equal.
    pub deterministic: bool,
    order: Order,
}

impl Made {
    /// One of ICU's, of a locale in its words.
    ///
    /// # Errors
    /// What ICU would not open, and what the orders here do not know.
    pub fn of_icu(locale: String, deterministic: bool) -> Result<Self> {
        let order = Order::Unicode(locale::tag(&locale)?);
        Ok(Self { provider: 'i', locale: Some(locale), collate: None, ctype: None, deterministic, order })
    }

    /// One of the system's, which has the locales `C`, `POSIX` and `C.UTF-8` here.
    ///
    /// # Errors
    /// For another locale.
    pub fn of_libc(collate: String, ctype: String) -> Result<Self> {
        for locale in [&collate, &ctype] {
            if !matches!(locale.as_str(), "C" | "POSIX")
                && !matches!(locale.to_ascii_lowercase().as_str(), "c.utf-8" | "c.utf8")
            {
                let message = format!("could not create locale \"{locale}\": No such file or directory");
                return Err(Error::new(crate::Condition::InvalidParameterValue, message).detail(format!(
                    "The operating system could not find any locale data for the locale name \"{locale}\"."
                )));
            }
        }
        let (collate, ctype) = (Some(collate), Some(ctype));
        Ok(Self { provider: 'c', locale: None, collate, ctype, deterministic: true, order: Order::Bytes })
    }

    /// As it is kept.
    pub fn definition(&self) -> String {
        let order = match &self.order {
            Order::Bytes => None,
            Order::Unicode(tag) => Some(tag),
        };
        serde_json::json!({
            "provider": self.provider.to_string(),
            "locale": self.locale,
            "collate": self.collate,
            "ctype": self.ctype,
            "deterministic": self.deterministic,
            "order": order,
        })
        .to_string()
    }

    fn from_definition(definition: &str) -> Option<Self> {
        let json: serde_json::Value = serde_json::from_str(definition).ok()?;
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        Some(Self {
            provider: text("provider")?.chars().next()?,
            locale: text("locale"),
            collate: text("collate"),
            ctype: text("ctype"),
            deterministic: json["deterministic"].as_bool()?,
            order: text("order").map_or(Order::Bytes, Order::Unicode),
        })
    }
}

/// How a collation orders texts. Texts of different bytes differ, but for those of a collation that is not deterministic.
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

    /// One that a user has made, as it is kept; `None` for a definition that is none.
    pub fn from_definition(oid: u32, namespace: &str, name: &str, definition: &str) -> Option<Self> {
        let made = Made::from_definition(definition)?;
        let (order, deterministic) = (made.order.clone(), made.deterministic);
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Some(Self { oid, name, namespace, order, deterministic, made: Some(made), comparator: Comparator::default() })
    }

    /// What the definition of a type says of it. Of one that a user has made not the name, which may change.
    pub fn told(&self) -> serde_json::Value {
        match &self.made {
            Some(made) => serde_json::json!([self.oid, made.definition()]),
            None => serde_json::json!(self.name),
        }
    }

    /// The inverse of [`Self::told`]; an object id, as the definitions of range types once said it, is that of a built-in one.
    pub fn from_told(told: &serde_json::Value) -> Option<Arc<Self>> {
        if let Some(name) = told.as_str() {
            return Self::named(name).cloned();
        }
        let oid = |value: &serde_json::Value| value.as_u64().and_then(|oid| u32::try_from(oid).ok());
        match oid(told) {
            Some(oid) => Self::by_oid(oid).cloned(),
            None => Self::from_definition(oid(&told[0])?, "", "", told[1].as_str()?).map(Arc::new),
        }
    }

    /// The one that a property names, see [`Self::property`].
    pub fn of_property(property: &str, schema: &dyn crate::Schema) -> Option<Arc<Self>> {
        match property.strip_prefix('#').and_then(|oid| oid.parse::<u32>().ok()) {
            Some(oid) => schema.collation_by_oid(oid),
            None => Self::named(property).cloned(),
        }
    }

    /// Its quoted name, with its schema where a bare one would not mean it.
    pub fn shown_in(&self, schema: &dyn crate::Schema) -> String {
        let name = crate::postgres::quote_ident(&self.name);
        let found = || schema.collation(&crate::schema::QualifiedName::bare(&self.name));
        match self.is_built_in() || found().is_some_and(|found| found.oid == self.oid) {
            true => name,
            false => format!("{}.{name}", crate::postgres::quote_ident(&self.namespace)),
        }
    }

    /// A type's values, or parts of them, have a collation by the type's own definition.
    pub fn is_within(ty: &Type) -> bool {
        match ty {
            Type::User(user) => match (user.domain(), user.composite()) {
                (Some(domain), _) => domain.collation.is_some() || Self::is_within(&domain.base),
                (_, Some(composite)) => {
                    composite.live().any(|(_, field)| field.collation.is_some() || Self::is_within(&field.ty))
                }
                (None, None) => false,
            },
            Type::Array(element) => Self::is_within(element),
            _ => false,
        }
    }

    /// The order of two texts.
    pub fn compare(&self, a: &str, b: &str) -> Ordering {
        let Order::Unicode(tag) = &self.order else { return a.cmp(b) };
        let make = || -> Option<Box<Compare>> { Some(Box::new(unicode::of_locale(tag, !self.deterministic)?)) };
        match self.comparator.0.get_or_init(make) {
            Some(compare) => compare(a, b),
            None => a.cmp(b),
        }
    }

    /// The one that a domain names for its values, or the values of its arrays, where these stand in another order than
    /// that of bytes.
    pub fn of_domain(ty: &Type) -> Option<&Arc<Self>> {
        match ty {
            Type::User(user) => {
                let domain = user.domain()?;
                match &domain.collation {
                    Some(own) => Some(own).filter(|own| own.is_unicode()),
                    None => Self::of_domain(&domain.base),
                }
            }
            Type::Array(element) => Self::of_domain(element),
            _ => None,
        }
    }

    /// What a copy of it is made of.
    pub fn made(&self) -> Made {
        if let Some(made) = &self.made {
            return made.clone();
        }
        let (provider, locale, system) = match &self.order {
            Order::Unicode(locale) => ('i', Some(locale.clone()), None),
            Order::Bytes if self.name == "ucs_basic" => ('c', None, Some("C".to_owned())),
            Order::Bytes => ('c', None, Some(self.name.clone())),
        };
        let order = self.order.clone();
        Made { provider, locale, collate: system.clone(), ctype: system, deterministic: self.deterministic, order }
    }

    /// It is one of PostgreSQL's own.
    pub fn is_built_in(&self) -> bool {
        self.made.is_none()
    }

    /// What a column's property says of it: the name of one that is built in, the number of another.
    pub fn property(&self) -> String {
        if self.is_built_in() { self.name.clone() } else { format!("#{}", self.oid) }
    }

    /// Letters of its language have other counterparts than those of most.
    pub fn has_letters_of_its_own(&self) -> bool {
        match &self.order {
            Order::Unicode(tag) => matches!(tag.split('-').next(), Some("tr" | "az" | "lt" | "el" | "hy")),
            Order::Bytes => false,
        }
    }

    /// Whether texts stand in another order than their bytes.
    pub fn is_unicode(&self) -> bool {
        matches!(self.order, Order::Unicode(_))
    }

    /// Of MySQL's: capital and small letters are different.
    pub fn tells_case_apart(&self) -> bool {
        self.oid != Self::DEFAULT && (self.order == Order::Bytes || self.name.ends_with("_cs"))
    }

    /// Whether its letters are those of ASCII: the database's own knows those of Unicode (`lc_ctype`).
    pub fn knows_ascii_alone(&self) -> bool {
        match &self.made {
            Some(made) => matches!(made.ctype.as_deref(), Some("C" | "POSIX")),
            None => matches!(self.name.as_str(), "C" | "POSIX" | "ucs_basic"),
        }
    }

    /// The built-in collation of a name.
    pub fn named(name: &str) -> Option<&'static Arc<Self>> {
        static NAMES: LazyLock<HashMap<&'static str, &'static Arc<Collation>>> =
            LazyLock::new(|| Collation::all().iter().map(|known| (known.name.as_str(), known)).collect());
        // Nearly all who name one name one of these, and the list of the others is long.
        let first = Self::all_of_bytes().iter().find(|known| known.name == name);
        first.or_else(|| NAMES.get(name).copied()).or_else(|| Self::of_mysql().iter().find(|known| known.name == name))
    }

    /// The built-in collation of an object id.
    pub fn by_oid(oid: u32) -> Option<&'static Arc<Self>> {
        Self::all().iter().chain(Self::of_mysql()).find(|known| known.oid == oid)
    }

    /// MySQL's own, which no catalog of PostgreSQL's shows.
    pub fn of_mysql() -> &'static [Arc<Self>] {
        mysql::all()
    }

    /// The one in which MySQL compares texts where nothing else is said.
    pub fn mysql_default() -> &'static Arc<Self> {
        &mysql::all()[0]
    }

    /// The built-in ones, by object id.
    pub fn all() -> &'static [Arc<Self>] {
        static ALL: LazyLock<Vec<Arc<Collation>>> = LazyLock::new(|| {
            let locales = include_str!("locales.txt").lines().zip(UNICODE_FROM..);
            let unicode = locales.map(|(locale, oid)| {
                let (name, order) = (format!("{locale}-x-icu"), Order::Unicode(locale.to_owned()));
                Arc::new(built_in(oid, name, order))
            });
            Collation::all_of_bytes().iter().cloned().chain(unicode).collect()
        });
        &ALL
    }

    fn all_of_bytes() -> &'static [Arc<Self>] {
        static THOSE: LazyLock<Vec<Arc<Collation>>> = LazyLock::new(|| {
            let plain = |(oid, name): &(u32, &str)| Arc::new(built_in(*oid, (*name).to_owned(), Order::Bytes));
            OF_BYTES.iter().map(plain).collect()
        });
        &THOSE
    }

    /// The collation of a type's values where nothing else is said; `None` where they have none.
    pub fn of_type(ty: &Type) -> Option<&Arc<Self>> {
        if let Type::User(user) = ty
            && let Some(domain) = user.domain()
        {
            return domain.collation.as_ref().or_else(|| Self::of_type(&domain.base));
        }
        let oid = match ty.through_domains() {
            Type::Name => Self::C,
            Type::Array(element) => return Self::of_type(element),
            ty if ty.is_text() && !matches!(ty, Type::InternalChar) => Self::DEFAULT,
            _ => return None,
        };
        Self::all_of_bytes().iter().find(|known| known.oid == oid)
    }
}

fn built_in(oid: u32, name: String, order: Order) -> Collation {
    Collation {
        oid,
        name,
        namespace: "pg_catalog".to_owned(),
        order,
        deterministic: true,
        made: None,
        comparator: Comparator::default(),
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
