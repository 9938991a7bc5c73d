//! What PostgreSQL makes with a user's range type: its row in `pg_range`, its constructors, the cast to its multirange type.

use std::sync::Arc;

use rowferry_dialect::postgres::{regtype, types};
use rowferry_dialect::user_type::{UserRange, UserType};
use rowferry_dialect::{Schema, Type};

use super::pg_proc::Plain;
use super::{Context, Row, row};

/// The users' range types.
fn all(context: &Context<'_>) -> Vec<Arc<UserType>> {
    context.schema.user_types().into_iter().filter(|ty| ty.range().is_some()).collect()
}

/// A row for each of them.
fn each(context: &Context<'_>, make: impl Fn(&UserType, &UserRange) -> Row) -> Vec<Row> {
    all(context).iter().filter_map(|ty| Some(make(ty, ty.range()?))).collect()
}

/// `pg_range`
pub(super) fn rows(context: &Context<'_>) -> Vec<Row> {
    each(context, |ty, range| {
        row![
            ty.oid,
            types::oid(&range.subtype),
            range.multirange.oid,
            range.collation.as_ref().map_or(0, |collation| collation.oid),
            range.operator_class,
            0,
            range.difference
        ]
    })
}

/// `pg_cast`
pub(super) fn casts(context: &Context<'_>) -> Vec<Row> {
    let letter = |letter: char| letter.to_string();
    each(context, |ty, range| {
        let constructor = range.constructors.oids[3];
        row![range.cast, ty.oid, range.multirange.oid, constructor, letter('e'), letter('f')]
    })
}

/// What a constructor of a user's range type takes, and what it makes, as `pg_get_function_arguments` and
/// `pg_get_function_result` print them.
pub fn constructor_words(schema: &dyn Schema, oid: u32) -> Option<(String, String)> {
    let types = schema.user_types();
    let of = |ty: &Arc<UserType>| ty.range().and_then(|range| range.constructors.oids.iter().position(|it| *it == oid));
    let (ty, at) = types.iter().find_map(|ty| of(ty).map(|at| (ty, at)))?;
    let range = ty.range()?;
    let shown = |oid: u32| regtype::shown_in(schema, oid, None).unwrap_or_else(|| "???".to_owned());
    let subtype = shown(types::oid(&range.subtype));
    let arguments = match at {
        0 => format!("{subtype}, {subtype}"),
        1 => format!("{subtype}, {subtype}, text"),
        2 => String::new(),
        3 => shown(ty.oid),
        _ => format!("VARIADIC {}", shown(ty.array_oid)),
    };
    Some((arguments, shown(if at < 2 { ty.oid } else { range.multirange.oid })))
}

/// `pg_proc`
pub(super) fn constructors(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for ty in all(context) {
        let Some(range) = ty.range() else { continue };
        let subtype = types::oid(&range.subtype);
        let text = types::oid(&Type::Text);
        let signatures: [(&[u32], &str); 5] = [
            (&[subtype, subtype], "range_constructor2"),
            (&[subtype, subtype, text], "range_constructor3"),
            (&[], "multirange_constructor0"),
            (&[ty.oid], "multirange_constructor1"),
            (&[ty.array_oid], "multirange_constructor2"),
        ];
        for (at, (args, source)) in signatures.into_iter().enumerate() {
            let of_ranges = at < 2;
            let (namespace, name) = if of_ranges { &range.constructors.range } else { &range.constructors.multirange };
            let plain = Plain {
                oid: range.constructors.oids[at],
                name,
                namespace: context.schema.namespace_oid(namespace),
                source,
                variadic: if at == 4 { ty.oid } else { 0 },
                strict: !of_ranges,
                args,
                result: if of_ranges { ty.oid } else { range.multirange.oid },
                ..Plain::INTERNAL
            };
            rows.push(plain.row());
        }
    }
    rows
}
