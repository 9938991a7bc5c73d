//! Types that users make: enum types, domains, composite types, range types with their multirange types.
//!
//! Such a type carries its definition with it, and is the same as another of the same object id: plans are renewed when
//! the schema changes, so a definition never grows old in one. Below the compiler, where the back end's functions are told
//! types as words, it is told with its definition, too ([`told`]), so that nobody has to look anything up.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::collation::Collation;
use crate::composite::{Composite, Field};
use crate::scalar::ranges::Family;
use crate::schema::QualifiedName;
use crate::values::range::Subtype;
use crate::{Condition, Error, Language, Result, Type};

/// A type that a user has made.
#[derive(Clone, Debug)]
pub struct UserType {
    /// Object id.
    pub oid: u32,
    /// Object id of its array type.
    pub array_oid: u32,
    /// The schema that it is in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// COMMENT ON TYPE.
    pub comment: Option<String>,
    /// What it is.
    pub kind: UserKind,
}

/// What a user's type is.
#[derive(Clone, Debug)]
pub enum UserKind {
    /// CREATE TYPE … AS ENUM.
    Enum(Labels),
    /// CREATE DOMAIN.
    Domain(Domain),
    /// CREATE TYPE … AS (…), or the rows of a relation.
    Composite(Composite),
    /// CREATE TYPE … AS RANGE.
    Range(UserRange),
    /// The multirange type that is made with a range type, and is kept with it.
    Multirange(Arc<UserType>),
    /// A column was declared of a type that has not been looked up yet, or is gone: its values lie as of this one.
    Unresolved(Type),
}

/// The labels of an enum type, in their order.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    labels: Vec<Label>,
    /// Positions in `labels` by the order of the texts, for look-ups.
    by_text: Vec<u32>,
}

/// A label of an enum type.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Object id.
    pub oid: u32,
    /// Its text.
    pub text: String,
    /// `enumsortorder`.
    pub order: f32,
    /// ADD VALUE has made it in a transaction that goes on: it is no value before COMMIT, since an index could hold it
    /// when the transaction, and the label with it, is undone.
    pub uncommitted: bool,
}

/// A domain: a type with constraints on another's values.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The type that it is over; another domain, perhaps.
    pub base: Type,
    /// NULL is no value of it.
    pub not_null: bool,
    /// The default's text.
    pub default: Option<String>,
    /// CHECK constraints, in the order of their names.
    pub checks: Vec<DomainCheck>,
    /// COLLATE, where it is not that of the base.
    pub collation: Option<Arc<Collation>>,
    /// CREATE DISTINCT TYPE of Informix's: its values are none of the base without a cast, at Informix's door.
    pub distinct: bool,
}

/// A CHECK of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainCheck {
    /// Object id.
    pub oid: u32,
    /// Name.
    pub name: String,
    /// The condition's text, in which `VALUE` stands for the value.
    pub text: String,
    /// Every stored value holds it; NOT VALID otherwise.
    pub valid: bool,
}

/// A range type.
#[derive(Clone, Debug)]
pub struct UserRange {
    /// What its ranges are of.
    pub subtype: Arc<Type>,
    /// Object id of the operator class that orders them.
    pub operator_class: u32,
    /// The collation that orders them; `None` where the subtype has none.
    pub collation: Option<Arc<Collation>>,
    /// Object id of the function that says how far two values are from each other; 0 without one.
    pub difference: u32,
    /// The type of its multiranges.
    pub multirange: MultirangeType,
    /// Object id of the cast from a range to its multirange.
    pub cast: u32,
    /// The functions that make values.
    pub constructors: Constructors,
}

/// The functions that make ranges and multiranges. They keep their names when the types get others.
#[derive(Clone, Debug)]
pub struct Constructors {
    /// Object ids: of a range without and with flags, of a multirange of nothing, of one range, of many.
    pub oids: [u32; 5],
    /// Schema and name of those of ranges.
    pub range: (String, String),
    /// Schema and name of those of multiranges.
    pub multirange: (String, String),
}

impl Constructors {
    /// The schema of the one with an object id.
    pub fn namespace_of(&self, oid: u32) -> Option<String> {
        let at = self.oids.iter().position(|known| *known == oid)?;
        Some(if at < 2 { self.range.0.clone() } else { self.multirange.0.clone() })
    }
}

/// What is known of a multirange type besides its range type.
#[derive(Clone, Debug)]
pub struct MultirangeType {
    /// Object id.
    pub oid: u32,
    /// Object id of its array type.
    pub array_oid: u32,
    /// The schema that it is in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// COMMENT ON TYPE.
    pub comment: Option<String>,
}

/// The multirange type of a range type.
pub fn multirange_of(range: &Arc<UserType>) -> Option<Arc<UserType>> {
    let multirange = &range.range()?.multirange;
    Some(Arc::new(UserType {
        oid: multirange.oid,
        array_oid: multirange.array_oid,
        namespace: multirange.namespace.clone(),
        name: multirange.name.clone(),
        comment: multirange.comment.clone(),
        kind: UserKind::Multirange(range.clone()),
    }))
}

/// The family of a range type.
pub(crate) fn family(range: &Arc<UserType>) -> Family {
    let own = Type::User(range.clone());
    let subtype = range.ordered_subtype().unwrap_or_else(|| Arc::new(Type::Text));
    let multirange = multirange_of(range).map_or_else(|| own.clone(), Type::User);
    Family { range: own, multirange, subtype: Subtype::Other(subtype) }
}

impl PartialEq for UserType {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid
    }
}

impl Eq for UserType {}

impl std::hash::Hash for UserType {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.oid.hash(state);
    }
}

impl Labels {
    /// These labels, in this order.
    pub fn new(labels: Vec<Label>) -> Self {
        let mut by_text: Vec<u32> = (0..labels.len() as u32).collect();
        by_text.sort_by(|a, b| labels[*a as usize].text.cmp(&labels[*b as usize].text));
        Self { labels, by_text }
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Label] {
        &self.labels
    }

    /// The place of a label.
    pub fn position(&self, text: &str) -> Option<usize> {
        let found = self.by_text.binary_search_by(|at| self.labels[*at as usize].text.as_str().cmp(text));
        found.ok().map(|at| self.by_text[at] as usize)
    }

    /// The order of two stored labels. What is none, which only other programs can store, comes behind all that are.
    pub fn compare(&self, left: &str, right: &str) -> Ordering {
        match (self.position(left), self.position(right)) {
            (Some(left), Some(right)) => left.cmp(&right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => left.cmp(right),
        }
    }

    /// The labels alone, as JSON: what a collation is named by.
    pub fn texts(&self) -> String {
        Json::Array(self.labels.iter().map(|label| Json::String(label.text.clone())).collect()).to_string()
    }

    /// The inverse of [`Labels::texts`].
    pub fn from_texts(text: &str) -> Option<Self> {
        let texts: Vec<String> = serde_json::from_str(text).ok()?;
        Some(Self::new(texts.into_iter().map(|text| Label { oid: 0, text, order: 0.0, uncommitted: false }).collect()))
    }
}

impl UserType {
    /// A type of which a declaration tells nothing but the object id, and how its values lie.
    pub fn unresolved(oid: u32, stored: Type) -> Self {
        Self {
            oid,
            array_oid: 0,
            namespace: String::new(),
            name: String::new(),
            comment: None,
            kind: UserKind::Unresolved(stored),
        }
    }

    /// The labels of an enum type.
    pub fn labels(&self) -> Option<&Labels> {
        match &self.kind {
            UserKind::Enum(labels) => Some(labels),
            _ => None,
        }
    }

    /// The domain that it is.
    pub fn domain(&self) -> Option<&Domain> {
        match &self.kind {
            UserKind::Domain(domain) => Some(domain),
            _ => None,
        }
    }

    /// It is a DISTINCT type of Informix's.
    pub fn is_distinct(&self) -> bool {
        self.domain().is_some_and(|domain| domain.distinct)
    }

    /// What its rows are made of.
    pub fn composite(&self) -> Option<&Composite> {
        match &self.kind {
            UserKind::Composite(composite) => Some(composite),
            _ => None,
        }
    }

    /// The range type that it is.
    pub fn range(&self) -> Option<&UserRange> {
        match &self.kind {
            UserKind::Range(range) => Some(range),
            _ => None,
        }
    }

    /// The range type of the multirange type that it is.
    pub fn range_of_multirange(&self) -> Option<&Arc<UserType>> {
        match &self.kind {
            UserKind::Multirange(range) => Some(range),
            _ => None,
        }
    }

    /// The object id of the catalog row that keeps it: a multirange type is kept with its range type.
    pub fn kept_as(&self) -> u32 {
        self.range_of_multirange().map_or(self.oid, |range| range.oid)
    }

    /// What its ranges are of, when it is a range or multirange type.
    pub fn subtype(&self) -> Option<&Arc<Type>> {
        match &self.kind {
            UserKind::Range(range) => Some(&range.subtype),
            UserKind::Multirange(range) => range.subtype(),
            _ => None,
        }
    }

    /// What a range or multirange type is of, in the order of its bounds: where they stand in a collation's, a domain
    /// without a name says so.
    pub fn ordered_subtype(&self) -> Option<Arc<Type>> {
        match &self.kind {
            UserKind::Range(range) => Some(match &range.collation {
                Some(collation) if collation.is_unicode() => {
                    let base = Type::clone(&range.subtype);
                    let collation = Some(collation.clone());
                    let domain =
                        Domain { base, not_null: false, default: None, checks: Vec::new(), collation, distinct: false };
                    let (namespace, name, comment) = (String::new(), String::new(), None);
                    let kind = UserKind::Domain(domain);
                    Arc::new(Type::User(Arc::new(Self { oid: 0, array_oid: 0, namespace, name, comment, kind })))
                }
                _ => range.subtype.clone(),
            }),
            UserKind::Multirange(range) => range.ordered_subtype(),
            _ => None,
        }
    }

    /// The collations that its definition names.
    pub fn collations(&self) -> Vec<&Arc<Collation>> {
        match &self.kind {
            UserKind::Domain(domain) => domain.collation.iter().collect(),
            UserKind::Composite(composite) => {
                composite.live().filter_map(|(_, field)| field.collation.as_ref()).collect()
            }
            UserKind::Range(range) => range.collation.iter().collect(),
            UserKind::Enum(_) | UserKind::Multirange(_) | UserKind::Unresolved(_) => Vec::new(),
        }
    }

    /// The types that values of it hold values of: those of a row's fields, or what a range is of.
    pub fn parts(&self) -> impl Iterator<Item = &Type> {
        let fields = self.composite().into_iter().flat_map(|composite| &composite.fields).map(|field| &field.ty);
        fields.chain(self.subtype().map(Arc::as_ref))
    }

    /// It is the type of a relation's rows, which is made and changed with the relation.
    pub fn is_row_type(&self) -> bool {
        crate::composite::relation_of_row_type(self.oid).is_some()
    }

    /// The type that its values lie as; itself for one with values of its own.
    pub fn stored_as(&self) -> Option<&Type> {
        match &self.kind {
            UserKind::Enum(_) | UserKind::Composite(_) | UserKind::Range(_) | UserKind::Multirange(_) => None,
            UserKind::Domain(domain) => Some(&domain.base),
            UserKind::Unresolved(ty) => Some(ty),
        }
    }

    /// How the catalog row keeps the definition; types in it are in the words of columns.
    pub fn definition(&self) -> String {
        self.to_json(&|ty| Json::String(crate::lower::kept_words(ty, Language::Postgres))).to_string()
    }

    fn to_json(&self, words: &dyn Fn(&Type) -> Json) -> Json {
        match &self.kind {
            UserKind::Enum(labels) => {
                let label = |label: &Label| match label.uncommitted {
                    true => json!([label.oid, label.text, label.order, true]),
                    false => json!([label.oid, label.text, label.order]),
                };
                json!({"array": self.array_oid, "enum": labels.labels.iter().map(label).collect::<Vec<_>>()})
            }
            UserKind::Domain(domain) => {
                let check = |check: &DomainCheck| json!([check.oid, check.name, check.text, check.valid]);
                let mut json = json!({
                    "array": self.array_oid,
                    "base": words(&domain.base),
                    "not_null": domain.not_null,
                    "default": domain.default,
                    "checks": domain.checks.iter().map(check).collect::<Vec<_>>(),
                    "collation": domain.collation.as_ref().map(|collation| collation.told()),
                });
                if domain.distinct {
                    // The words of the base do not tell INT8 from BIGINT.
                    json["distinct"] = crate::informix::type_words(&domain.base).into();
                }
                json
            }
            UserKind::Composite(composite) => {
                let field = |field: &Field| {
                    let collation = field.collation.as_ref().map(|collation| collation.told());
                    match (collation, &field.comment) {
                        (collation, Some(comment)) => {
                            json!([field.name, words(&field.ty), field.dropped, collation, comment])
                        }
                        (Some(collation), None) => json!([field.name, words(&field.ty), field.dropped, collation]),
                        (None, None) => json!([field.name, words(&field.ty), field.dropped]),
                    }
                };
                json!({
                    "array": self.array_oid,
                    "relation": composite.relation,
                    "fields": composite.fields.iter().map(field).collect::<Vec<_>>(),
                })
            }
            UserKind::Range(range) => {
                let (multirange, constructors) = (&range.multirange, &range.constructors);
                json!({
                    "array": self.array_oid,
                    "subtype": words(&range.subtype),
                    "operator_class": range.operator_class,
                    "collation": range.collation.as_ref().map(|collation| collation.told()),
                    "difference": range.difference,
                    "multirange": [
                        multirange.oid,
                        multirange.array_oid,
                        multirange.namespace,
                        multirange.name,
                        multirange.comment,
                    ],
                    "cast": range.cast,
                    "constructors": [constructors.oids, constructors.range, constructors.multirange],
                })
            }
            UserKind::Multirange(range) => json!({"array": self.array_oid, "range": words(&Type::User(range.clone()))}),
            UserKind::Unresolved(ty) => json!({"array": self.array_oid, "base": words(ty)}),
        }
    }

    /// The type of a catalog row; types in it are not looked up yet.
    ///
    /// # Errors
    /// `XX001` for a definition that somebody has damaged.
    pub fn from_definition(oid: u32, namespace: &str, name: &str, definition: &str) -> Result<Self> {
        let damaged = || {
            let message = format!("the definition of type \"{name}\" is damaged");
            Error::new(Condition::DataCorrupted, message)
        };
        let json: Json = serde_json::from_str(definition).map_err(|_| damaged())?;
        let (array_oid, kind) = read(&json, &mut Known::new()).ok_or_else(damaged)?;
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Ok(Self { oid, array_oid, namespace, name, comment: None, kind })
    }

    /// The error for a text that is no label.
    pub fn no_label(&self, text: &str) -> Error {
        let message = format!("invalid input value for enum {}: \"{text}\"", self.shown());
        Error::new(Condition::InvalidTextRepresentation, message)
    }

    /// Refuses a text that is no label, or one that cannot be used yet.
    ///
    /// # Errors
    /// `22P02`, `55P04`.
    pub fn check_label(&self, labels: &Labels, text: &str) -> Result<()> {
        let at = labels.position(text).ok_or_else(|| self.no_label(text))?;
        self.check_committed(&labels.labels[at])
    }

    /// Refuses a label that the transaction has added.
    ///
    /// # Errors
    /// `55P04`.
    pub fn check_committed(&self, label: &Label) -> Result<()> {
        if !label.uncommitted {
            return Ok(());
        }
        let message = format!("unsafe use of new value \"{}\" of enum type {}", label.text, self.shown());
        let hint = "New enum values must be committed before they can be used.";
        Err(Error::new(Condition::UnsafeNewEnumValueUsage, message).hint(hint))
    }

    /// Its name as messages and catalogs show it, in quotes where it needs them.
    pub fn shown(&self) -> String {
        match self.namespace.as_str() {
            "" | "public" | "pg_temp" => quoted(&self.name),
            namespace => format!("{}.{}", quoted(namespace), quoted(&self.name)),
        }
    }

    /// The name of its array type.
    pub fn array_name(&self) -> String {
        format!("_{}", self.name)
    }
}

fn quoted(name: &str) -> String {
    crate::postgres::quote_ident(name)
}

/// Users' types by object id, as far as they have been read.
type Known = HashMap<u32, Arc<UserType>>;

fn read(json: &Json, known: &mut Known) -> Option<(u32, UserKind)> {
    let oid = |value: &Json| value.as_u64().and_then(|oid| u32::try_from(oid).ok());
    let array = oid(&json["array"])?;
    if let Some(labels) = json["enum"].as_array() {
        let label = |row: &Json| {
            let (oid, text, order) = (oid(&row[0])?, row[1].as_str()?.to_owned(), row[2].as_f64()? as f32);
            Some(Label { oid, text, order, uncommitted: row[3].as_bool().unwrap_or(false) })
        };
        return Some((array, UserKind::Enum(Labels::new(labels.iter().map(label).collect::<Option<_>>()?))));
    }
    if let Some(fields) = json["fields"].as_array() {
        let fields = fields.iter().map(|field| read_field(field, known)).collect::<Option<_>>()?;
        return Some((array, UserKind::Composite(Composite { relation: oid(&json["relation"])?, fields })));
    }
    if !json["subtype"].is_null() {
        return Some((array, UserKind::Range(read_range(json, known)?)));
    }
    if json["range"].is_object() {
        let Some(Type::User(range)) = read_type(&json["range"], known) else { return None };
        return Some((array, UserKind::Multirange(range)));
    }
    let mut base = read_type(&json["base"], known)?;
    let distinct = json["distinct"].as_str();
    if let Some(words) = distinct.filter(|_| !base.has_user_type()) {
        base = crate::informix::type_from_words(words).ok()?;
    }
    let Some(checks) = json["checks"].as_array() else { return Some((array, UserKind::Unresolved(base))) };
    let check = |row: &Json| {
        let (name, text) = (row[1].as_str()?.to_owned(), row[2].as_str()?.to_owned());
        Some(DomainCheck { oid: oid(&row[0])?, name, text, valid: row[3].as_bool()? })
    };
    let checks = checks.iter().map(check).collect::<Option<_>>()?;
    let default = json["default"].as_str().map(str::to_owned);
    let collation = Collation::from_told(&json["collation"]);
    let not_null = json["not_null"].as_bool()?;
    let distinct = distinct.is_some();
    Some((array, UserKind::Domain(Domain { base, not_null, default, checks, collation, distinct })))
}

fn read_range(json: &Json, known: &mut Known) -> Option<UserRange> {
    let oid = |value: &Json| value.as_u64().and_then(|oid| u32::try_from(oid).ok());
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let multirange = &json["multirange"];
    let constructors = &json["constructors"];
    let oids: Vec<u32> = constructors[0].as_array()?.iter().map(oid).collect::<Option<_>>()?;
    let named = |value: &Json| Some((text(&value[0])?, text(&value[1])?));
    Some(UserRange {
        subtype: Arc::new(read_type(&json["subtype"], known)?),
        operator_class: oid(&json["operator_class"])?,
        collation: Collation::from_told(&json["collation"]),
        difference: oid(&json["difference"])?,
        multirange: MultirangeType {
            oid: oid(&multirange[0])?,
            array_oid: oid(&multirange[1])?,
            namespace: text(&multirange[2])?,
            name: text(&multirange[3])?,
            comment: text(&multirange[4]),
        },
        cast: oid(&json["cast"])?,
        constructors: Constructors {
            oids: oids.try_into().ok()?,
            range: named(&constructors[1])?,
            multirange: named(&constructors[2])?,
        },
    })
}

/// A field as [`UserType::definition`] and [`told_fields`] write it.
fn read_field(row: &Json, known: &mut Known) -> Option<Field> {
    let (name, ty) = (row[0].as_str()?.to_owned(), read_type(&row[1], known)?);
    let (collation, comment) = (Collation::from_told(&row[3]), row[4].as_str().map(str::to_owned));
    Some(Field { name, ty, dropped: row[2].as_bool().unwrap_or(false), collation, comment })
}

/// The fields of a row without a name, as functions inside the back end are told of them.
pub fn told_fields<'f>(fields: impl IntoIterator<Item = (&'f str, &'f Type)>) -> String {
    let told = RefCell::default();
    let field = |(name, ty): (&str, &Type)| json!([name, whole(ty, &told)]);
    Json::Array(fields.into_iter().map(field).collect()).to_string()
}

/// The same of a row that has a type with a name where rows without one are wanted: it remembers the type.
pub fn told_fields_of(ty: &Type) -> String {
    json!({"row": whole(ty, &RefCell::default())}).to_string()
}

/// The inverse of [`told_fields_of`]; `None` for fields without a type.
pub fn type_from_told(words: &str) -> Option<Type> {
    if !words.starts_with('{') {
        return None;
    }
    let json: Json = serde_json::from_str(words).ok()?;
    read_type(&json["row"], &mut Known::new())
}

/// The inverse of [`told_fields`].
pub fn fields_from_told(words: &str) -> Option<Vec<Field>> {
    let json: Json = serde_json::from_str(words).ok()?;
    let mut known = Known::new();
    json.as_array()?.iter().map(|field| read_field(field, &mut known)).collect()
}

/// A type's words in JSON: a text, or an object for a user's type.
fn read_type(json: &Json, known: &mut Known) -> Option<Type> {
    match json {
        Json::String(words) if words == RECORD => Some(Type::RECORD),
        Json::String(words) => Some(crate::lower::kept_type(words, Language::Postgres)),
        Json::Object(_) => {
            let number = |key: &str| json[key].as_u64().and_then(|oid| u32::try_from(oid).ok());
            if let Some(oid) = number("again") {
                return known.get(&oid).cloned().map(Type::User);
            }
            let Some(oid) = number("oid") else {
                return Some(Type::Array(Box::new(read_type(&json["element"], known)?)));
            };
            let (array_oid, kind) = read(json, known)?;
            let (namespace, name) = (json["namespace"].as_str()?.to_owned(), json["name"].as_str()?.to_owned());
            let user = Arc::new(UserType { oid, array_oid, namespace, name, comment: None, kind });
            known.insert(oid, user.clone());
            Some(Type::User(user))
        }
        _ => None,
    }
}

/// A type with users' types in it as functions inside the back end are told of it: with its definition. `None` for all others.
pub fn told(ty: &Type) -> Option<String> {
    if *ty == Type::RECORD {
        Some(RECORD.to_owned())
    } else {
        ty.is_told().then(|| whole(ty, &RefCell::default()).to_string())
    }
}

/// A type with its definition; one that is told already is only named, or what nests would grow with each level.
fn whole(ty: &Type, told: &RefCell<HashSet<u32>>) -> Json {
    match ty {
        Type::User(user) if !told.borrow_mut().insert(user.oid) => json!({"again": user.oid}),
        Type::User(user) => {
            let mut json = user.to_json(&|ty| whole(ty, told));
            json["oid"] = json!(user.oid);
            json["namespace"] = json!(user.namespace);
            json["name"] = json!(user.name);
            json
        }
        Type::Record(_) => json!(RECORD),
        Type::Array(element) if element.is_told() => json!({"element": whole(element, told)}),
        ty => Json::String(crate::lower::kept_words(ty, Language::Postgres)),
    }
}

/// A type as a part of words that functions inside the back end are told.
pub(crate) fn type_words(ty: &Type) -> Json {
    whole(ty, &RefCell::default())
}

/// The inverse of [`type_words`].
pub(crate) fn type_from_words(words: &Json) -> Option<Type> {
    read_type(words, &mut Known::new())
}

/// What a range type is of, as its values' collation is told of it.
pub(crate) fn subtype_words(subtype: &Type) -> String {
    whole(subtype, &RefCell::default()).to_string()
}

/// The inverse of [`subtype_words`].
pub fn subtype_from_words(words: &str) -> Option<Type> {
    read_type(&serde_json::from_str(words).ok()?, &mut Known::new())
}

/// The word for a row without a name.
const RECORD: &str = "record";

/// The inverse of [`told`]; `None` for words that are not of that kind.
pub fn from_told(words: &str) -> Option<Type> {
    if words == RECORD {
        return Some(Type::RECORD);
    }
    if !words.starts_with('{') {
        return None;
    }
    read_type(&serde_json::from_str(words).ok()?, &mut Known::new())
}

/// The type that a stored text names: in the text's own schema when it says none, or anywhere. The name of an array type
/// has a line in front.
pub fn named(types: &[Arc<UserType>], name: &QualifiedName, namespace: &str) -> Option<Type> {
    let find = |wanted: &str| {
        let named = || types.iter().filter(|ty| ty.name == wanted);
        let found = match &name.schema {
            Some(schema) => named().find(|ty| ty.namespace == *schema),
            None => named().find(|ty| ty.namespace == namespace).or_else(|| named().next()),
        };
        found.map(|ty| Type::User(ty.clone()))
    };
    // Whoever made the text has asked for the extension.
    let of_extension = |wanted: &str| crate::extension::declared(wanted).map(|scalar| Type::Scalar(scalar, None));
    let find = |wanted: &str| find(wanted).or_else(|| of_extension(wanted));
    find(&name.name).or_else(|| Some(Type::Array(Box::new(find(name.name.strip_prefix('_')?)?))))
}

/// The collations that a type's definition names, looked up with `find`: there they have no names.
pub fn resolve_collations(kind: &mut UserKind, find: &dyn Fn(u32) -> Option<Arc<Collation>>) {
    let resolve = |collation: &mut Option<Arc<Collation>>| {
        if let Some(found) = collation.as_ref().and_then(|known| find(known.oid)) {
            *collation = Some(found);
        }
    };
    match kind {
        UserKind::Domain(domain) => resolve(&mut domain.collation),
        UserKind::Range(range) => resolve(&mut range.collation),
        UserKind::Composite(composite) => {
            composite.fields.iter_mut().for_each(|field| resolve(&mut field.collation));
        }
        UserKind::Enum(_) | UserKind::Multirange(_) | UserKind::Unresolved(_) => {}
    }
}

/// A type of which declared words have told the object id alone, looked up with `find`.
pub fn resolved(ty: &Type, find: &dyn Fn(u32) -> Option<Arc<UserType>>) -> Type {
    match ty {
        Type::User(user) => match (find(user.oid), &user.kind) {
            (Some(found), _) => Type::User(found),
            // The rows of a relation that is not known yet.
            (None, UserKind::Unresolved(_)) if user.is_row_type() => ty.clone(),
            (None, UserKind::Unresolved(stored)) => stored.clone(),
            (None, _) => ty.clone(),
        },
        Type::Array(element) if element.has_user_type() => Type::Array(Box::new(resolved(element, find))),
        ty => ty.clone(),
    }
}

/// The fields of a composite type or the base of a domain, looked up with `find`.
pub fn resolve_parts(kind: &mut UserKind, find: &dyn Fn(u32) -> Option<Arc<UserType>>) {
    match kind {
        UserKind::Domain(domain) => domain.base = resolved(&domain.base, find),
        UserKind::Range(range) => range.subtype = Arc::new(resolved(&range.subtype, find)),
        UserKind::Multirange(range) => {
            if let Some(found) = find(range.oid) {
                *range = found;
            }
        }
        UserKind::Composite(composite) => {
            for field in &mut composite.fields {
                // An attribute may be younger than the type, and of a type that is younger, too.
                if field.ty.user_type_oid().is_some_and(|oid| find(oid).is_some()) {
                    field.ty = resolved(&field.ty, find);
                }
            }
        }
        UserKind::Enum(_) | UserKind::Unresolved(_) => {}
    }
}

/// A type that can be looked up only when all relations are known: one of a relation's rows, or one with such a part.
pub fn is_late(ty: &Type) -> bool {
    match ty {
        Type::User(user) => user.is_row_type() || has_late_parts(&user.kind),
        Type::Array(element) => is_late(element),
        _ => false,
    }
}

/// The same of the parts of a type. An attribute may be of a younger type, too.
pub fn has_late_parts(kind: &UserKind) -> bool {
    match kind {
        UserKind::Domain(domain) => is_late(&domain.base),
        UserKind::Composite(composite) => composite.fields.iter().any(|field| field.ty.has_user_type()),
        UserKind::Range(range) => is_late(&range.subtype),
        UserKind::Multirange(range) => has_late_parts(&range.kind),
        UserKind::Enum(_) | UserKind::Unresolved(_) => false,
    }
}

/// The declared words of a column of a user's type: those of the type that its values lie as, with the object id in
/// quotes, which no affinity is derived from.
pub(crate) fn declared(stored: &str, oid: u32, array: bool) -> String {
    // A qualifier has its own in quotes.
    let limits = stored.find('(').filter(|at| stored[..*at].matches('"').count().is_multiple_of(2));
    let (name, limits) = match limits {
        Some(at) => stored.split_at(at),
        None => (stored, ""),
    };
    let mut words = name.trim_end().to_owned();
    let _ = write!(words, " \"{} {oid}\"{limits}", if array { "users" } else { "user" });
    words
}

/// The object id in the quoted word of declared words, and whether they are an array's.
pub(crate) fn from_declared(quoted: &str) -> Option<(u32, bool)> {
    let (word, oid) = quoted.split_once(' ')?;
    let array = match word {
        "user" => false,
        "users" => true,
        _ => return None,
    };
    Some((oid.parse().ok()?, array))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mood() -> UserType {
        let labels = ["sad", "ok", "happy"].into_iter().zip(1_u8..);
        let labels = labels.map(|(text, at)| {
            let (oid, text) = (20_000 + u32::from(at), text.to_owned());
            Label { oid, text, order: f32::from(at), uncommitted: false }
        });
        UserType {
            oid: 16_400,
            array_oid: 16_401,
            namespace: "public".into(),
            name: "mood".into(),
            comment: None,
            kind: UserKind::Enum(Labels::new(labels.collect())),
        }
    }

    #[test]
    fn labels_compare_by_their_places_and_strangers_come_last() {
        let mood = mood();
        let labels = mood.labels().unwrap();
        assert_eq!(labels.compare("sad", "happy"), Ordering::Less);
        assert_eq!(labels.compare("ok", "sad"), Ordering::Greater);
        assert_eq!(labels.compare("ok", "ok"), Ordering::Equal);
        assert_eq!(labels.compare("happy", "aaa"), Ordering::Less);
        assert_eq!(labels.compare("bbb", "aaa"), Ordering::Greater);
        assert_eq!(Labels::from_texts(&labels.texts()).unwrap().compare("sad", "ok"), Ordering::Less);
    }

    #[test]
    fn a_label_that_is_not_committed_is_no_value_and_says_so_in_the_definition() {
        let mut mood = mood();
        let mut labels = mood.labels().unwrap().all().to_vec();
        labels[1].uncommitted = true;
        mood.kind = UserKind::Enum(Labels::new(labels));
        let read = UserType::from_definition(mood.oid, "public", "mood", &mood.definition()).unwrap();
        let labels = read.labels().unwrap();
        assert!(read.check_label(labels, "sad").is_ok());
        assert_eq!(read.check_label(labels, "ok").unwrap_err().condition.sqlstate(), "55P04");
        assert_eq!(read.check_label(labels, "glad").unwrap_err().condition.sqlstate(), "22P02");
    }

    #[test]
    fn a_definition_survives_its_text() {
        let mood = mood();
        let read = UserType::from_definition(mood.oid, "public", "mood", &mood.definition()).unwrap();
        assert_eq!(read.labels().unwrap().all(), mood.labels().unwrap().all());
        assert_eq!(read.array_oid, mood.array_oid);
        let words = told(&Type::Array(Box::new(Type::User(Arc::new(mood.clone()))))).unwrap();
        let Some(Type::Array(element)) = from_told(&words) else { panic!("an array") };
        let Type::User(user) = *element else { panic!("a user's type") };
        assert_eq!((user.name.as_str(), user.oid), ("mood", 16_400));
        assert_eq!(user.labels().unwrap().all(), mood.labels().unwrap().all());
        assert!(UserType::from_definition(1, "public", "mood", "{}").is_err());
    }
}
