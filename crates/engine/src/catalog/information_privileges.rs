//! `information_schema` about roles and what they may do.

use rowferry_dialect::Schema as _;
use rowferry_dialect::access::roles::DATABASE_OWNER;
use rowferry_dialect::access::{Acl, AclItem, ObjectClass, PUBLIC, Privileges, Rights, is_open};
use rowferry_dialect::composite::row_type_oid;
use rowferry_dialect::schema::Relation;

use super::information_schema::{shown_relations, yes};
use super::information_usage::all_collations;
use super::{Context, OWNER, Row, Table, information_routines, row, standard_types};
use crate::schema::INFORMATION_SCHEMA;

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("administrable_role_authorizations", |context| applicable(context, true)),
    Table::information_schema("applicable_roles", |context| applicable(context, false)),
    Table::information_schema("column_privileges", |context| columns(&Asked::all(context))),
    Table::information_schema("enabled_roles", enabled),
    Table::information_schema("role_column_grants", |context| columns(&Asked::own(context))),
    Table::information_schema("role_routine_grants", |context| routines(&Asked::own(context))),
    Table::information_schema("role_table_grants", |context| tables(&Asked::own(context))),
    Table::information_schema("role_udt_grants", |context| types(&Asked::own(context))),
    Table::information_schema("role_usage_grants", |context| usage(&Asked::own(context))),
    Table::information_schema("routine_privileges", |context| routines(&Asked::all(context))),
    Table::information_schema("table_privileges", |context| tables(&Asked::all(context))),
    Table::information_schema("udt_privileges", |context| types(&Asked::all(context))),
    Table::information_schema("usage_privileges", |context| usage(&Asked::all(context))),
];

/// What a reader is shown of grants.
struct Asked<'a> {
    context: &'a Context<'a>,
    rights: Rights,
    /// Only grants by and to roles that the reader is; what PUBLIC has is everybody's otherwise.
    own: bool,
}

/// A privilege that somebody has.
#[derive(PartialEq)]
struct Grant {
    grantor: String,
    grantee: String,
    word: &'static str,
    grantable: &'static str,
}

impl<'a> Asked<'a> {
    fn all(context: &'a Context<'a>) -> Self {
        Self { context, rights: context.schema.rights(), own: false }
    }

    fn own(context: &'a Context<'a>) -> Self {
        Self { own: true, ..Self::all(context) }
    }

    fn catalog(&self) -> &'a str {
        &self.context.database.name
    }

    /// The reader has what the role has.
    fn is_enabled(&self, role: u32) -> bool {
        self.rights.roles.has_privileges_of(self.rights.role(), role)
    }

    fn name(&self, role: u32) -> Option<String> {
        if role == PUBLIC { Some("PUBLIC".to_owned()) } else { self.context.schema.role_name(role) }
    }

    /// The privileges of a list that are shown, of those that are asked for.
    fn grants(&self, list: &Acl, owner: u32, wanted: Privileges) -> Vec<Grant> {
        let mut grants = Vec::new();
        for item in &list.0 {
            let to_all = item.grantee == PUBLIC;
            let enabled = self.is_enabled(item.grantor) || (!to_all && self.is_enabled(item.grantee));
            if !enabled && (self.own || !to_all) {
                continue;
            }
            let (Some(grantor), Some(grantee)) = (self.name(item.grantor), self.name(item.grantee)) else { continue };
            // Who is the owner may always grant.
            let owns = !to_all && self.rights.roles.has_privileges_of(item.grantee, owner);
            for (one, word) in (item.privileges & wanted).each() {
                let grantable = yes(owns || item.grantable.contains(one));
                grants.push(Grant { grantor: grantor.clone(), grantee: grantee.clone(), word, grantable });
            }
        }
        grants
    }

    /// What is granted on a relation: everybody reads most catalogs.
    fn list_of(&self, relation: &Relation) -> Acl {
        let mut list = self.rights.list(ObjectClass::Relation, relation.oid);
        if is_open(relation) && self.rights.stored_list(relation.oid).is_none() {
            let none = Privileges::NONE;
            list.add(AclItem { grantee: PUBLIC, grantor: OWNER, privileges: Privileges::SELECT, grantable: none });
        }
        list
    }

    fn relations(&self) -> impl Iterator<Item = &'a Relation> {
        shown_relations(self.context).map(|relation| &**relation)
    }

    fn of_object(&self, class: ObjectClass, oid: u32) -> Vec<Grant> {
        self.grants(&self.rights.list(class, oid), self.rights.owner(oid), Privileges::all_of(class))
    }
}

fn tables(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in asked.relations() {
        let owner = asked.rights.owner(relation.oid);
        let all = Privileges::all_of(ObjectClass::Relation);
        for Grant { grantor, grantee, word, grantable } in asked.grants(&asked.list_of(relation), owner, all) {
            let (catalog, schema, name) = (asked.catalog(), &relation.namespace, &relation.name);
            rows.push(row![grantor, grantee, catalog, schema, name, word, grantable, yes(word == "SELECT")]);
        }
    }
    rows
}

fn columns(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let wanted = Privileges::all_of(ObjectClass::Column);
    for relation in asked.relations() {
        let owner = asked.rights.owner(relation.oid);
        let of_relation = asked.list_of(relation);
        for column in &relation.columns {
            let mut grants = asked.grants(&of_relation, owner, wanted);
            if let Some(list) = asked.rights.column_list(relation.oid, &column.name) {
                for grant in asked.grants(list, owner, wanted) {
                    if !grants.contains(&grant) {
                        grants.push(grant);
                    }
                }
            }
            let (catalog, schema, table) = (asked.catalog(), &relation.namespace, &relation.name);
            rows.extend(grants.into_iter().map(|grant| {
                let Grant { grantor, grantee, word, grantable } = grant;
                row![grantor, grantee, catalog, schema, table, &column.name, word, grantable]
            }));
        }
    }
    rows
}

fn routines(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for routine in information_routines::all(asked.context, &asked.rights) {
        let (catalog, schema, specific) = (asked.catalog(), &routine.schema, routine.specific());
        for Grant { grantor, grantee, word, grantable } in asked.of_object(ObjectClass::Routine, routine.oid) {
            let (name, specific) = (&routine.name, &specific);
            rows.push(row![grantor, grantee, catalog, schema, specific, catalog, schema, name, word, grantable]);
        }
    }
    rows
}

/// Row types, those of relations among them.
fn types(asked: &Asked<'_>) -> Vec<Row> {
    let of_users = asked.context.schema.user_types().into_iter().filter(|ty| ty.composite().is_some());
    let of_users = of_users.map(|ty| (ty.oid, ty.oid, ty.namespace.clone(), ty.name.clone()));
    let of_relations = asked.context.schema.user_relations();
    let of_relations = of_relations
        .map(|relation| (row_type_oid(relation.oid), relation.oid, relation.namespace.clone(), relation.name.clone()));
    let mut rows = Vec::new();
    let of_catalogs = super::postgres_relations();
    let of_catalogs = of_catalogs
        .map(|relation| (row_type_oid(relation.oid), relation.oid, relation.namespace.clone(), relation.name.clone()));
    for (oid, owned, schema, name) in of_users.chain(of_relations).chain(of_catalogs) {
        let owner = asked.rights.owner(owned);
        let list = match asked.rights.stored_list(oid) {
            Some(list) => list.clone(),
            None => Acl::of_new(ObjectClass::Type, owner),
        };
        for Grant { grantor, grantee, grantable, .. } in asked.grants(&list, owner, Privileges::USAGE) {
            rows.push(row![grantor, grantee, asked.catalog(), &schema, &name, "TYPE USAGE", grantable]);
        }
    }
    rows
}

fn usage(asked: &Asked<'_>) -> Vec<Row> {
    let catalog = asked.catalog();
    let row = |grant: Grant, schema: &str, name: &str, kind: &str| {
        let Grant { grantor, grantee, word, grantable } = grant;
        row![grantor, grantee, catalog, schema, name, kind, word, grantable]
    };
    let mut rows = Vec::new();
    // Nobody grants collations: everybody may use them.
    if let Some(grantor) = asked.name(OWNER).filter(|_| !asked.own || asked.is_enabled(OWNER)) {
        let grant = || Grant { grantor: grantor.clone(), grantee: "PUBLIC".into(), word: "USAGE", grantable: "NO" };
        rows.extend(all_collations(asked.context).map(|one| row(grant(), &one.namespace, &one.name, "COLLATION")));
    }
    for domain in standard_types::all() {
        let grants = asked.of_object(ObjectClass::Type, domain.oid).into_iter();
        rows.extend(grants.map(|grant| row(grant, INFORMATION_SCHEMA, domain.name, "DOMAIN")));
    }
    for ty in asked.context.schema.user_types().iter().filter(|ty| ty.domain().is_some()) {
        let grants = asked.of_object(ObjectClass::Type, ty.oid).into_iter();
        rows.extend(grants.map(|grant| row(grant, &ty.namespace, &ty.name, "DOMAIN")));
    }
    for details in asked.context.schema.sequences() {
        let sequence = &details.sequence;
        // As PostgreSQL has it: what a sequence is born with is not told.
        let Some(list) = asked.rights.stored_list(sequence.oid) else { continue };
        let grants = asked.grants(list, asked.rights.owner(sequence.oid), Privileges::USAGE).into_iter();
        rows.extend(grants.map(|grant| row(grant, &sequence.namespace, &sequence.name, "SEQUENCE")));
    }
    rows
}

/// The roles whose privileges the reader has.
fn enabled(context: &Context<'_>) -> Vec<Row> {
    let asked = Asked::all(context);
    let roles = super::pg_roles::all(context.schema).into_iter();
    roles.filter(|role| asked.is_enabled(role.oid)).map(|role| row![role.name]).collect()
}

/// Memberships of the roles whose privileges the reader has; with `admin` those that may be given on.
fn applicable(context: &Context<'_>, admin: bool) -> Vec<Row> {
    let asked = Asked::all(context);
    let mut memberships = super::pg_roles::memberships(context.schema);
    memberships.push((DATABASE_OWNER, asked.rights.owner(super::DATABASE), false));
    let shown = memberships.into_iter().filter(|(_, member, may)| asked.is_enabled(*member) && (*may || !admin));
    shown.filter_map(|(role, member, may)| Some(row![asked.name(member)?, asked.name(role)?, yes(may)])).collect()
}
