//! Rows as types: composite types, the rows of tables and views, and rows without a name.
//!
//! A row of a type with a name is stored as the JSON array of its fields, each as an array's member is (see
//! [`crate::values::array`]); fewer members than fields are NULLs behind them, since ALTER TYPE adds fields at the end.
//! A row without a name lies in no table; while a statement runs it says itself what its fields are (see
//! [`crate::values::record`]).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::collation::Collation;
use crate::postgres::types;
use crate::scalar::Order;
use crate::schema::Relation;
use crate::user_type::{UserKind, UserType};
use crate::{Condition, Error, Result, Type};

/// A field of a row type.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; of no meaning when it is dropped.
    pub name: String,
    /// Its type, with modifiers.
    pub ty: Type,
    /// ALTER TYPE has dropped it: stored rows keep its place.
    pub dropped: bool,
    /// The collation of its texts, where it is not the type's own.
    pub collation: Option<Arc<Collation>>,
    /// COMMENT ON COLUMN.
    pub comment: Option<String>,
}

/// What a row type is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// Object id of the relation whose rows are of it: a table, a view, or the type's own entry in `pg_class`.
    pub relation: u32,
    /// Fields in order, dropped ones among them.
    pub fields: Vec<Field>,
}

/// The fields of a row without a name, if they are known. Whatever they are, it is the same type.
#[derive(Clone, Debug)]
pub struct Shape(Option<Arc<[Field]>>);

// Object ids of relations are small numbers; those of temporary ones count from 0x3000_0000, and bit 30 alone of the upper
// two is set in those that are derived from a name (a table that somebody else has made). The object ids of row types and
// of the arrays of these are made from them:
//
//     relation     row type       array type
//     0x0…         0x1…           0x2…
//     0x30… 0x33…  0x34… 0x37…    0x38… 0x3b…
//     0x4… 0x7…    0x8… 0xb…      0xc… 0xf…

const DERIVED: u32 = 0x4000_0000;
const DERIVED_ROW: u32 = 0x8000_0000;
const DERIVED_ARRAY: u32 = 0xc000_0000;
const TEMPORARY: u32 = 0x3000_0000;
const TEMPORARY_ROW: u32 = 0x3400_0000;
const TEMPORARY_ARRAY: u32 = 0x3800_0000;
const ROW: u32 = 0x1000_0000;
const ARRAY: u32 = 0x2000_0000;

impl Field {
    /// A field.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self { name: name.into(), ty, dropped: false, collation: None, comment: None }
    }
}

impl Composite {
    /// The fields that are there, with their places.
    pub fn live(&self) -> impl Iterator<Item = (usize, &Field)> {
        live(&self.fields)
    }
}

/// The fields of a row that are there, with their places.
pub fn live(fields: &[Field]) -> impl Iterator<Item = (usize, &Field)> {
    fields.iter().enumerate().filter(|(_, field)| !field.dropped)
}

/// A field of a row of this type whose values may be equal though their stored forms differ: where it is, a unique index
/// over the rows would not find all equals.
pub fn field_unlike_bytes(ty: &Type) -> Option<&Type> {
    let unlike = |ty: &Type| {
        matches!(ty, Type::Float4 | Type::Float8 | Type::Interval(_) | Type::TimeTz(_) | Type::Jsonb)
            || matches!(ty, Type::Scalar(scalar, _) if matches!(scalar.order, Order::By { .. }))
            || matches!(ty, Type::User(user) if user.subtype().is_some())
            || ty.is_decimal()
    };
    live(ty.row_fields()?).find_map(|(_, field)| match field.ty.through_domains() {
        Type::Array(element) if unlike(element) => Some(&field.ty),
        Type::Array(element) => field_unlike_bytes(element),
        ty if unlike(ty) => Some(&field.ty),
        ty => field_unlike_bytes(ty),
    })
}

impl Shape {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self(None);

    /// These fields.
    pub fn of(fields: Vec<Field>) -> Self {
        Self(Some(fields.into()))
    }

    /// The fields, if they are known.
    pub fn fields(&self) -> Option<&[Field]> {
        self.0.as_deref()
    }
}

impl PartialEq for Shape {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Shape {}

impl std::hash::Hash for Shape {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// The type of a relation's rows.
pub fn row_type(relation: &Relation) -> UserType {
    let field = |column: &crate::schema::Column| Field {
        collation: column.collation.clone(),
        ..Field::new(column.name.clone(), types::import(&column.ty))
    };
    let fields = relation.columns.iter().map(field).collect();
    UserType {
        oid: row_type_oid(relation.oid),
        array_oid: row_array_oid(relation.oid),
        namespace: relation.namespace.clone(),
        name: relation.name.clone(),
        comment: None,
        kind: UserKind::Composite(Composite { relation: relation.oid, fields }),
    }
}

/// The object id of the type of a relation's rows.
pub const fn row_type_oid(relation: u32) -> u32 {
    with_mark(relation, DERIVED_ROW, TEMPORARY_ROW, ROW)
}

/// The object id of the type of arrays of a relation's rows.
const fn row_array_oid(relation: u32) -> u32 {
    with_mark(relation, DERIVED_ARRAY, TEMPORARY_ARRAY, ARRAY)
}

const fn with_mark(relation: u32, derived: u32, temporary: u32, plain: u32) -> u32 {
    if relation & DERIVED != 0 {
        relation ^ DERIVED | derived
    } else if relation >= TEMPORARY {
        relation | temporary
    } else {
        relation | plain
    }
}

/// The relation whose rows are of the type with this object id, and whether it is the array type's.
pub const fn relation_of_row_type(oid: u32) -> Option<(u32, bool)> {
    // The upper two, four and six bits.
    match (oid & DERIVED_ARRAY, oid & 0xf000_0000, oid & 0xfc00_0000) {
        (DERIVED_ROW, ..) => Some((oid ^ DERIVED_ROW | DERIVED, false)),
        (DERIVED_ARRAY, ..) => Some((oid ^ DERIVED_ARRAY | DERIVED, true)),
        (_, _, TEMPORARY_ROW) => Some((oid ^ TEMPORARY_ROW | TEMPORARY, false)),
        (_, _, TEMPORARY_ARRAY) => Some((oid ^ TEMPORARY_ARRAY | TEMPORARY, true)),
        (_, ROW, _) => Some((oid ^ ROW, false)),
        (_, ARRAY, _) => Some((oid ^ ARRAY, true)),
        _ => None,
    }
}

/// How deep types may be nested in one another.
const DEEPEST: usize = 100;

/// How many parts a type may have in all, those of its parts among them as often as they stand in it: what looks at a
/// type looks at all of them.
const MOST_PARTS: usize = 10_000;

/// Checks the type of a column or attribute that the type with the object id `own` is to get.
///
/// # Errors
/// `42P16` when that type is among its parts; `54001` for types that are nested too deep or have too many parts.
pub fn check_part(ty: &Type, own: Option<(u32, &str)>) -> Result<()> {
    let mut seen = HashSet::new();
    let mut level = vec![ty];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for ty in level {
            match ty {
                Type::Array(element) => next.push(&**element),
                Type::User(user) if seen.insert(user.oid) => {
                    if let Some((_, name)) = own.filter(|(oid, _)| *oid == user.oid) {
                        let message = format!("composite type {name} cannot be made a member of itself");
                        return Err(Error::new(Condition::InvalidTableDefinition, message));
                    }
                    match &user.kind {
                        UserKind::Composite(composite) => next.extend(composite.fields.iter().map(|field| &field.ty)),
                        UserKind::Domain(domain) => next.push(&domain.base),
                        UserKind::Range(_) | UserKind::Multirange(_) => next.extend(user.parts()),
                        UserKind::Enum(_) | UserKind::Unresolved(_) => {}
                    }
                }
                _ => {}
            }
        }
        if next.is_empty() {
            return if parts(ty, &mut HashMap::new()) > MOST_PARTS {
                let message = format!("a type with more than {MOST_PARTS} parts");
                Err(Error::new(Condition::StatementTooComplex, message))
            } else {
                Ok(())
            };
        }
        level = next;
    }
    let message = format!("types are nested more than {DEEPEST} deep");
    Err(Error::new(Condition::StatementTooComplex, message))
}

/// How many parts a type has in all, itself included.
fn parts(ty: &Type, known: &mut HashMap<u32, usize>) -> usize {
    match ty {
        Type::Array(element) => parts(element, known),
        Type::User(user) => {
            if let Some(count) = known.get(&user.oid) {
                return *count;
            }
            let count = match &user.kind {
                UserKind::Composite(composite) => {
                    composite.fields.iter().fold(1_usize, |sum, field| sum.saturating_add(parts(&field.ty, known)))
                }
                UserKind::Domain(domain) => parts(&domain.base, known).saturating_add(1),
                UserKind::Range(_) | UserKind::Multirange(_) => {
                    user.parts().fold(1_usize, |sum, part| sum.saturating_add(parts(part, known)))
                }
                UserKind::Enum(_) | UserKind::Unresolved(_) => 1,
            };
            known.insert(user.oid, count);
            count
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_double_are_told_once_and_have_a_bound() {
        let mut ty = Type::Int4;
        let mut told = 0;
        for level in 0..20_u32 {
            if level < 13 {
                check_part(&ty, None).unwrap();
            } else {
                assert_eq!(check_part(&ty, None).unwrap_err().condition(), Condition::StatementTooComplex);
            }
            let fields = vec![Field::new("a", ty.clone()), Field::new("b", ty)];
            ty = Type::User(Arc::new(UserType {
                oid: 17_000 + 2 * level,
                array_oid: 17_001 + 2 * level,
                namespace: "public".into(),
                name: format!("c{level}"),
                comment: None,
                kind: UserKind::Composite(Composite { relation: 0, fields }),
            }));
            let words = crate::user_type::told(&ty).unwrap();
            assert!(words.len() < told + 200, "each level adds itself");
            assert_eq!(crate::user_type::from_told(&words), Some(ty.clone()));
            told = words.len();
        }
    }

    #[test]
    fn object_ids_of_row_types_lead_back_to_the_relation() {
        for relation in [83, 1_259, 16_384, 0x3000_0000, 0x3000_1234, 0x4000_0000, 0x6000_0001, 0x7fff_ffff] {
            assert_eq!(relation_of_row_type(relation), None);
            assert_eq!(relation_of_row_type(row_type_oid(relation)), Some((relation, false)));
            assert_eq!(relation_of_row_type(row_array_oid(relation)), Some((relation, true)));
        }
    }
}
