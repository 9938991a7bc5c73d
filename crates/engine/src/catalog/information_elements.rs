//! `information_schema.element_types` and `data_type_privileges`: whatever has a type, and what its arrays are of.

use rowferry_dialect::{Schema as _, Type};
use rowferry_facts as facts;

use super::information_routines::{self, Routine};
use super::information_schema::shown_relations;
use super::information_types::{Names, all_domains, collation, standard_type};
use super::{Context, NULL, Row, Table, row, standard_types};

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("data_type_privileges", |context| {
        let catalog = &context.database.name;
        let row = |typed: Typed| row![catalog, typed.schema, typed.object, typed.kind, typed.descriptor];
        everything(context).into_iter().map(row).collect()
    }),
    Table::information_schema("element_types", elements),
];

/// Something that has a type.
struct Typed {
    schema: String,
    object: String,
    /// What kind of object it belongs to.
    kind: &'static str,
    /// The type's identifier among those of the object; a procedure has none.
    descriptor: Option<String>,
    /// What its type is an array of.
    element: Option<Names>,
    /// The object id of its collation; 0 without one.
    collation: u32,
}

/// What the members of a type are; nothing for what is no array.
fn element(ty: &Type) -> Option<Names> {
    match ty {
        Type::Array(element) => Some(Names::of(element)),
        _ => None,
    }
}

fn element_of_oid(context: &Context<'_>, oid: u32) -> Option<Names> {
    match facts::Type::by_oid(oid) {
        Some(fact) if fact.element != 0 && fact.length == -1 => Names::of_oid(context.schema, fact.element),
        Some(_) => None,
        None => element(&rowferry_dialect::postgres::types::of_oid(oid, context.schema)?),
    }
}

fn everything(context: &Context<'_>) -> Vec<Typed> {
    let mut found = Vec::new();
    of_columns(context, &mut found);
    for ty in context.schema.user_types() {
        let fields = ty.composite().map(|composite| composite.fields.as_slice()).unwrap_or_default();
        for (at, field) in fields.iter().enumerate().filter(|(_, field)| !field.dropped) {
            found.push(Typed {
                schema: ty.namespace.clone(),
                object: ty.name.clone(),
                kind: "USER-DEFINED TYPE",
                descriptor: Some((at + 1).to_string()),
                element: element(&field.ty),
                collation: 0,
            });
        }
    }
    found.extend(all_domains(context).into_iter().map(|(schema, object, base, ..)| Typed {
        schema,
        object,
        kind: "DOMAIN",
        descriptor: Some("1".to_owned()),
        element: element(&base),
        collation: 0,
    }));
    for routine in information_routines::all(context, &context.schema.rights()) {
        of_routine(context, &routine, &mut found);
    }
    found
}

fn of_columns(context: &Context<'_>, found: &mut Vec<Typed>) {
    for relation in shown_relations(context) {
        let facts_of = facts::Relation::columns(&relation.namespace, &relation.name);
        for (at, column) in relation.columns.iter().enumerate() {
            let standard = standard_type(relation, at);
            let declared = standard.map(|name| standard_types::named(name).map_or(name, |domain| domain.base));
            let element = match declared.and_then(facts::Type::named) {
                Some(fact) => element_of_oid(context, fact.oid),
                None => element(&column.ty),
            };
            let own = column.collation.as_ref().map(|collation| collation.oid);
            let of_catalog = standard.and_then(|_| facts_of.get(at)).map(|fact| fact.collation);
            found.push(Typed {
                schema: relation.namespace.clone(),
                object: relation.name.clone(),
                kind: "TABLE",
                descriptor: Some(relation.number_of(at).to_string()),
                element,
                collation: own.or(of_catalog).unwrap_or_default(),
            });
        }
    }
}

/// A routine's result has the number 0, its parameters have their places.
fn of_routine(context: &Context<'_>, routine: &Routine, found: &mut Vec<Typed>) {
    let mut push = |descriptor: Option<String>, oid: u32| {
        found.push(Typed {
            schema: routine.schema.clone(),
            object: routine.specific(),
            kind: "ROUTINE",
            descriptor,
            element: element_of_oid(context, oid),
            collation: 0,
        });
    };
    push((!routine.is_procedure()).then(|| "0".to_owned()), routine.result());
    for (at, oid) in routine.parameters().into_iter().enumerate() {
        push(Some((at + 1).to_string()), oid);
    }
}

fn elements(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for typed in everything(context) {
        let (Some(element), Some(descriptor)) = (typed.element, typed.descriptor) else { continue };
        let mut row = row![catalog, typed.schema, typed.object, typed.kind, &descriptor, element.words];
        row.extend(std::iter::repeat_n(NULL, 5));
        row.extend(collation(catalog, typed.collation));
        row.extend(std::iter::repeat_n(NULL, 7));
        row.extend(row![catalog, element.schema, element.name, NULL, NULL, NULL, NULL, format!("a{descriptor}")]);
        rows.push(row);
    }
    rows
}
