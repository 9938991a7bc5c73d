//! Types as the views of `information_schema` describe them, and the views that are about types.

use rowferry_dialect::collation::Collation;
use rowferry_dialect::postgres::{regtype, types};
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::{Schema as _, Type};
use rowferry_facts as facts;

use super::information_schema::{shown_relations, yes};
use super::pg_attribute::collation_of;
use super::{Cell, Context, NULL, Row, Table, describe, row, standard_types};
use crate::schema::{INFORMATION_SCHEMA, PG_CATALOG, SessionSchema};

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("attributes", attributes),
    Table::information_schema("column_domain_usage", column_domains),
    Table::information_schema("column_udt_usage", column_types),
    Table::information_schema("domain_constraints", domain_constraints),
    Table::information_schema("domain_udt_usage", domain_types),
    Table::information_schema("domains", domains),
    Table::information_schema("user_defined_types", structured),
];

/// What a type is called.
pub(super) struct Names {
    /// In a declaration; `ARRAY` and `USER-DEFINED` for what the standard does not know.
    pub words: String,
    /// Its schema.
    pub schema: String,
    /// In `pg_type`.
    pub name: String,
}

impl Names {
    /// Those of a type; domains are themselves.
    pub fn of(ty: &Type) -> Self {
        let (words, schema, name) = match ty {
            Type::User(user) => ("USER-DEFINED", user.namespace.as_str(), user.name.clone()),
            Type::Array(element) => match &**element {
                Type::User(user) => ("ARRAY", user.namespace.as_str(), user.array_name()),
                element => {
                    let name = types::row_of(element).map_or("_text".to_owned(), |row| format!("_{}", row.name));
                    ("ARRAY", PG_CATALOG, name)
                }
            },
            ty => {
                let (words, name) = types::row_of(ty).map_or(("text", "text"), |row| (row.words, row.name));
                (words, PG_CATALOG, name.to_owned())
            }
        };
        Self { words: words.to_owned(), schema: schema.to_owned(), name }
    }

    /// Those of a column's type; of what a catalog declares it as, which may be read as another.
    pub fn of_column(schema: &SessionSchema, ty: &Type, standard: Option<&str>) -> Self {
        let declared = standard.map(|name| standard_types::named(name).map_or(name, |domain| domain.base));
        let oid = declared.and_then(facts::Type::named).map(|fact| fact.oid);
        oid.and_then(|oid| Self::of_oid(schema, oid)).unwrap_or_else(|| Self::of(ty))
    }

    /// Those of the type with an object id, pseudo-types among them.
    pub fn of_oid(schema: &SessionSchema, oid: u32) -> Option<Self> {
        let Some(fact) = facts::Type::by_oid(oid) else { return types::of_oid(oid, schema).as_ref().map(Self::of) };
        let array = fact.element != 0 && fact.length == -1;
        let words = if array { "ARRAY".to_owned() } else { regtype::shown_in(schema, oid, None)? };
        Some(Self { words, schema: PG_CATALOG.to_owned(), name: fact.name.to_owned() })
    }
}

/// A type's measures.
#[derive(Default)]
pub(super) struct Measures {
    /// Of texts and bit strings.
    pub length: Option<i64>,
    /// In bytes.
    pub octets: Option<i64>,
    /// Of numbers.
    pub precision: Option<i64>,
    /// What the precision counts.
    pub radix: Option<i64>,
    /// Digits behind the point.
    pub scale: Option<i64>,
    /// Of seconds.
    pub digits: Option<i64>,
    /// The fields of an interval.
    pub interval: Option<String>,
}

impl Measures {
    /// Those of a type that is no domain.
    pub fn of(ty: &Type) -> Self {
        let length = match ty {
            Type::Varchar(length) => *length,
            Type::Char(length) => Some(*length).filter(|length| *length != types::BLANK_PADDED_ANY),
            Type::Scalar(scalar, length) if ["bit", "varbit"].contains(&scalar.name) => *length,
            _ => None,
        };
        let length = length.map(i64::from);
        let (precision, radix, scale) = match ty {
            Type::Int2 => (Some(16), Some(2), Some(0)),
            Type::Int4 => (Some(32), Some(2), Some(0)),
            Type::Int8 => (Some(64), Some(2), Some(0)),
            Type::Float4 => (Some(24), Some(2), None),
            Type::Float8 => (Some(53), Some(2), None),
            Type::Numeric(Some(modifier)) => {
                (Some(i64::from(modifier.precision)), Some(10), Some(i64::from(modifier.scale)))
            }
            Type::Numeric(None) => (None, Some(10), None),
            _ => (None, None, None),
        };
        let digits = match ty {
            Type::Date => Some(0),
            Type::Time(digits) | Type::TimeTz(digits) | Type::Timestamp(digits) | Type::TimestampTz(digits) => {
                Some(digits.map_or(6, i64::from))
            }
            Type::Interval(modifier) => Some(modifier.and_then(|one| one.digits).map_or(6, i64::from)),
            _ => None,
        };
        let interval = match ty {
            Type::Interval(Some(modifier)) => modifier.words().map(|words| {
                let digits = modifier.digits.map_or_else(String::new, |digits| format!("({digits})"));
                format!("{}{digits}", words.to_uppercase())
            }),
            _ => None,
        };
        let textual = matches!(ty, Type::Text | Type::Varchar(_) | Type::Char(_));
        let octets = textual.then(|| length.map_or(1_073_741_824, |length| length * 4));
        Self { length, octets, precision, radix, scale, digits, interval }
    }
}

/// A collation that is not the default one: catalog, schema and name.
pub(super) fn collation(catalog: &str, oid: u32) -> [Cell; 3] {
    match Collation::by_oid(oid).filter(|collation| collation.oid != Collation::DEFAULT) {
        Some(collation) => [catalog.into(), PG_CATALOG.into(), collation.name.as_str().into()],
        None => [NULL, NULL, NULL],
    }
}

/// Length to `interval_precision` as domains and attributes have them.
fn measured(catalog: &str, ty: &Type, collation_oid: u32) -> Row {
    let measures = Measures::of(ty);
    let mut row = row![measures.length, measures.octets, NULL, NULL, NULL];
    row.extend(collation(catalog, collation_oid));
    let Measures { precision, radix, scale, digits, interval, .. } = measures;
    row.extend(row![precision, radix, scale, digits, interval, NULL]);
    row
}

/// A domain: schema, name, what it is over, its default, its collation.
pub(super) type Domain = (String, String, Type, Option<String>, u32);

pub(super) fn all_domains(context: &Context<'_>) -> Vec<Domain> {
    let standard = standard_types::all().iter().filter_map(|domain| {
        let base = types::with_typmod(&types::from_oid(facts::Type::named(domain.base)?.oid)?, domain.modifier);
        let default = domain.default.map(str::to_owned);
        Some((INFORMATION_SCHEMA.to_owned(), domain.name.to_owned(), base, default, domain.collation))
    });
    let users = context.schema.user_types().into_iter().filter_map(|ty| {
        let domain = ty.domain()?;
        let default = describe::domain_default(context.schema, domain);
        Some((ty.namespace.clone(), ty.name.clone(), domain.base.clone(), default, collation_of(&domain.base)))
    });
    standard.chain(users).collect()
}

fn domains(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let row = |(schema, name, base, default, collation): Domain| {
        let names = Names::of(&base);
        // Unlike everywhere else, an array is named by its members' type here.
        let words = match &base {
            Type::Array(element) if !matches!(**element, Type::User(_)) => format!("{}[]", Names::of(element).words),
            _ => names.words,
        };
        let mut row = row![catalog, schema, name, words];
        row.extend(measured(catalog, &base, collation));
        row.extend(row![default, catalog, names.schema, names.name, NULL, NULL, NULL, NULL, "1"]);
        row
    };
    all_domains(context).into_iter().map(row).collect()
}

fn domain_types(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let row = |(schema, name, base, ..): Domain| {
        let names = Names::of(&base);
        row![catalog, names.schema, names.name, catalog, schema, name]
    };
    all_domains(context).into_iter().map(row).collect()
}

fn domain_constraints(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let row = |schema: &str, check: &str, domain: &str| {
        row![catalog, schema, check, catalog, schema, domain, yes(false), yes(false)]
    };
    let mut rows = Vec::new();
    for domain in standard_types::all() {
        rows.extend(domain.check.as_ref().map(|check| row(INFORMATION_SCHEMA, check.name, domain.name)));
    }
    for ty in context.schema.user_types() {
        let checks = ty.domain().map(|domain| domain.checks.as_slice()).unwrap_or_default();
        rows.extend(checks.iter().map(|check| row(&ty.namespace, &check.name, &ty.name)));
    }
    rows
}

/// A column with its relation's names.
struct Column<'a> {
    schema: &'a str,
    relation: &'a str,
    name: &'a str,
}

/// What PostgreSQL's catalogs declare a column of theirs as.
pub(super) fn standard_type(relation: &Relation, at: usize) -> Option<&'static str> {
    if relation.kind != RelationKind::Catalog {
        return None;
    }
    facts::Relation::columns(&relation.namespace, &relation.name).get(at).map(|column| column.type_name)
}

/// The columns of users' relations and of the catalogs, with what makes their rows: it is told the column, its type, and
/// what a catalog declares it as.
fn each_column(
    context: &Context<'_>,
    mut row: impl FnMut(Column<'_>, &Type, Option<&'static str>) -> Option<Row>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in shown_relations(context) {
        for (at, column) in relation.columns.iter().enumerate() {
            let of = Column { schema: &relation.namespace, relation: &relation.name, name: &column.name };
            rows.extend(row(of, &types::import(&column.ty), standard_type(relation, at)));
        }
    }
    rows
}

fn column_domains(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    each_column(context, |column, ty, standard| {
        let (schema, name) = match (ty, standard) {
            (Type::User(domain), _) if domain.domain().is_some() => (domain.namespace.clone(), domain.name.clone()),
            (_, Some(name)) if standard_types::named(name).is_some() => (INFORMATION_SCHEMA.into(), name.to_owned()),
            _ => return None,
        };
        Some(row![catalog, schema, name, catalog, column.schema, column.relation, column.name])
    })
}

fn column_types(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    each_column(context, |column, ty, standard| {
        let base = match ty {
            Type::User(user) => user.domain().map_or(ty, |domain| &domain.base),
            ty => ty,
        };
        let names = Names::of_column(context.schema, base, standard);
        Some(row![catalog, names.schema, names.name, catalog, column.schema, column.relation, column.name])
    })
}

fn attributes(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for ty in context.schema.user_types() {
        let fields = ty.composite().map(|composite| composite.fields.as_slice()).unwrap_or_default();
        for (at, field) in fields.iter().enumerate().filter(|(_, field)| !field.dropped) {
            let names = Names::of(&field.ty);
            let nullable =
                !matches!(&field.ty, Type::User(user) if user.domain().is_some_and(|domain| domain.not_null));
            let number = at + 1;
            let mut row = row![catalog, &ty.namespace, &ty.name, &field.name, number, NULL, yes(nullable), names.words];
            row.extend(measured(catalog, field.ty.through_domains(), collation_of(&field.ty)));
            row.extend(row![catalog, names.schema, names.name, NULL, NULL, NULL, NULL, number.to_string(), "NO"]);
            rows.push(row);
        }
    }
    rows
}

fn structured(context: &Context<'_>) -> Vec<Row> {
    let types = context.schema.user_types().into_iter().filter(|ty| ty.composite().is_some());
    types
        .map(|ty| {
            let mut row = row![&context.database.name, &ty.namespace, &ty.name, "STRUCTURED", "YES"];
            row.extend(std::iter::repeat_n(NULL, 24));
            row
        })
        .collect()
}
