//! Users, roles and what they may do, as Informix's catalog tells it.
//!
//! In a file without roles everybody may do everything, as PUBLIC may in a database of Informix's that nobody has
//! restricted. Where there are roles, what has been granted is shown, but for what owners have of their own.

use rowferry_dialect::access::{AclItem, ObjectClass, PUBLIC, Privileges, Rights};

use super::{Context, OWNER, Row, View, int, is_view, tabid, text};

/// The letters of `tabauth` in their order; what Informix has besides is its owner's alone here.
const OF_TABLES: [Option<(Privileges, char)>; 9] = [
    Some((Privileges::SELECT, 's')),
    Some((Privileges::UPDATE, 'u')),
    // Of columns.
    None,
    Some((Privileges::INSERT, 'i')),
    Some((Privileges::DELETE, 'd')),
    // INDEX, ALTER
    None,
    None,
    Some((Privileges::REFERENCES, 'r')),
    // UNDER
    None,
];

/// The place of `*` in `tabauth`.
const OF_COLUMNS: usize = 2;

const OF_A_COLUMN: [Option<(Privileges, char)>; 3] =
    [Some((Privileges::SELECT, 's')), Some((Privileges::UPDATE, 'u')), Some((Privileges::REFERENCES, 'r'))];

/// The letters of what an item grants; capitals where it may be granted on.
fn letters(item: &AclItem, letters: &[Option<(Privileges, char)>]) -> String {
    let letter = |known: &Option<(Privileges, char)>| match known {
        Some((privilege, letter)) if item.grantable.contains(*privilege) => letter.to_ascii_uppercase(),
        Some((privilege, letter)) if item.privileges.contains(*privilege) => *letter,
        _ => '-',
    };
    letters.iter().map(letter).collect()
}

fn name(context: &Context<'_>, role: u32) -> String {
    match role {
        PUBLIC => "public".to_owned(),
        role => context.schema.role_name(role).unwrap_or_else(|| role.to_string()),
    }
}

/// Rights as the file has them, whoever asks.
fn rights(context: &Context<'_>) -> Option<Rights> {
    let rights = Rights {
        roles: context.schema.main.roles.clone(),
        main: context.schema.main.grants.clone(),
        temp: context.schema.temp.grants.clone(),
        ..Rights::default()
    };
    (!rights.roles.is_simple()).then_some(rights)
}

/// `systabauth`
pub(super) fn of_tables(context: &Context<'_>) -> Vec<Row> {
    let view = View::of(context);
    let Some(rights) = rights(context) else {
        let row = |relation| {
            let rights = if is_view(relation) { "s--------" } else { "su-idx---" };
            vec![text(OWNER), text("public"), int(tabid(relation)), text(rights)]
        };
        return view.relations.iter().map(|relation| row(relation)).collect();
    };
    let mut rows = Vec::new();
    for relation in &view.relations {
        let owner = rights.owner(relation.oid);
        let list = rights.list(ObjectClass::Relation, relation.oid);
        let mut shown: Vec<((u32, u32), String)> = Vec::new();
        for item in list.0.iter().filter(|item| item.grantee != owner) {
            shown.push(((item.grantor, item.grantee), letters(item, &OF_TABLES)));
        }
        for item in relation.columns.iter().filter_map(|column| rights.column_list(relation.oid, &column.name)) {
            for item in &item.0 {
                let pair = (item.grantor, item.grantee);
                let at = shown.iter().position(|(known, _)| *known == pair).unwrap_or_else(|| {
                    shown.push((pair, "-".repeat(OF_TABLES.len())));
                    shown.len() - 1
                });
                shown[at].1.replace_range(OF_COLUMNS..=OF_COLUMNS, "*");
            }
        }
        rows.extend(shown.into_iter().filter(|(_, letters)| letters.contains(|c| c != '-')).map(
            |((grantor, grantee), letters)| {
                vec![text(name(context, grantor)), text(name(context, grantee)), int(tabid(relation)), text(letters)]
            },
        ));
    }
    rows
}

/// `syscolauth`
pub(super) fn of_columns(context: &Context<'_>) -> Vec<Row> {
    let view = View::of(context);
    let Some(rights) = rights(context) else { return Vec::new() };
    let mut rows = Vec::new();
    for relation in &view.relations {
        for (at, column) in relation.columns.iter().enumerate() {
            let Some(list) = rights.column_list(relation.oid, &column.name) else { continue };
            rows.extend(list.0.iter().map(|item| {
                let (grantor, grantee) = (name(context, item.grantor), name(context, item.grantee));
                let letters = letters(item, &OF_A_COLUMN);
                vec![text(grantor), text(grantee), int(tabid(relation)), int(at as i64 + 1), text(letters)]
            }));
        }
    }
    rows
}

/// `sysprocauth`, of routines by their object ids.
pub(super) fn of_routines(context: &Context<'_>, routines: impl Iterator<Item = (i64, u32)>) -> Vec<Row> {
    let rights = rights(context);
    let mut rows = Vec::new();
    for (id, oid) in routines {
        let Some(rights) = &rights else {
            rows.push(vec![text(OWNER), text("public"), int(id), text("e")]);
            continue;
        };
        let owner = rights.owner(oid);
        for item in rights.list(ObjectClass::Routine, oid).0.iter().filter(|item| item.grantee != owner) {
            let letter = if item.grantable.contains(Privileges::EXECUTE) { "E" } else { "e" };
            rows.push(vec![
                text(name(context, item.grantor)),
                text(name(context, item.grantee)),
                int(id),
                text(letter),
            ]);
        }
    }
    rows
}

/// `sysusers`: who may connect (C), make tables (R) and do everything (D), and roles (G).
pub(super) fn users(context: &Context<'_>) -> Vec<Row> {
    let row = |name: &str, kind: &str, role: &str| {
        let priority = match kind {
            "D" => 9,
            "G" => 4,
            _ => 5,
        };
        vec![text(name), text(kind), int(priority), text(""), text(role)]
    };
    let Some(rights) = rights(context) else {
        return vec![vec![text("public"), text("D"), int(5), text(""), text("")]];
    };
    let makes = |role| {
        let namespace = context.schema.namespace_oid("public");
        let list = rights.list(ObjectClass::Schema, namespace);
        list.0.iter().any(|item| item.grantee == role && item.privileges.contains(Privileges::CREATE))
    };
    let mut rows = vec![row("public", if makes(PUBLIC) { "R" } else { "C" }, "")];
    for role in rights.roles.iter().filter(|role| !role.name.starts_with("pg_")) {
        let kind = match () {
            () if !role.login => "G",
            () if role.superuser => "D",
            () if makes(role.oid) => "R",
            () => "C",
        };
        rows.push(row(&role.name, kind, role.config.get(super::ENABLED_ROLE).map_or("", String::as_str)));
    }
    rows
}

/// `sysroleauth`
pub(super) fn members(context: &Context<'_>) -> Vec<Row> {
    let Some(rights) = rights(context) else { return Vec::new() };
    let row = |membership: &rowferry_dialect::access::roles::Membership| {
        let grantable = if membership.admin { "y" } else { "n" };
        vec![text(name(context, membership.role)), text(name(context, membership.member)), text(grantable)]
    };
    rights.roles.memberships().iter().map(row).collect()
}
