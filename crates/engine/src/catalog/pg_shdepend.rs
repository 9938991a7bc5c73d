//! `pg_shdepend`: which objects hang on roles, as their owners, by privileges, as those whom a policy is about. Roles of
//! PostgreSQL's own are always there, and nothing that hangs on them is told. Large objects are not looked through.

use std::collections::BTreeSet;

use rowferry_dialect::access::{Acl, DATABASE};

use rowferry_dialect::text_search::Kind;

use super::{Context, Row, Table, row};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_shdepend", dependencies)];

// The catalogs that the objects are in.
const DEFAULT_ACL: u32 = 826;
const TYPE: u32 = 1_247;
const PROCEDURE: u32 = 1_255;
const CLASS: u32 = 1_259;
const AUTHID: u32 = 1_260;
const DATABASES: u32 = 1_262;
const NAMESPACE: u32 = 2_615;
const OPERATOR: u32 = 2_617;
const POLICY: u32 = 3_256;
const STATISTICS: u32 = 3_381;
const COLLATION: u32 = 3_456;
const DICTIONARY: u32 = 3_600;
const CONFIGURATION: u32 = 3_602;

/// The first object id that is no part of PostgreSQL's own.
const FIRST: u32 = 16_384;

/// The rows as they are found.
struct Found<'a> {
    context: &'a Context<'a>,
    rows: Vec<Row>,
}

impl Found<'_> {
    fn add(&mut self, (catalog, oid, part): (u32, u32, usize), role: u32, kind: &'static str) {
        if role < FIRST {
            return;
        }
        // A database is an object of all of them.
        let database = if catalog == DATABASES { 0 } else { self.context.database.oid() };
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        self.rows.push(row![database, catalog, oid, part, AUTHID, role, kind]);
    }

    /// Those whom a list names beside the owner.
    fn list(&mut self, object: (u32, u32, usize), list: Option<&Acl>, owner: u32) {
        let roles: BTreeSet<u32> = list.into_iter().flat_map(Acl::roles).filter(|role| *role != owner).collect();
        roles.into_iter().for_each(|role| self.add(object, role, "a"));
    }

    /// The owner of an object, and those with privileges on it.
    fn object(&mut self, catalog: u32, oid: u32) {
        let rights = self.context.schema.rights();
        let shown = if catalog == DATABASES { self.context.database.oid() } else { oid };
        let owner = rights.owner(oid);
        self.add((catalog, shown, 0), owner, "o");
        self.list((catalog, shown, 0), rights.stored_list(oid), owner);
    }
}

fn dependencies(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let rights = schema.rights();
    let mut found = Found { context, rows: Vec::new() };
    found.object(DATABASES, DATABASE);
    let own = schema.main.namespaces.iter().map(|namespace| namespace.oid);
    for oid in super::names::NAMESPACES.iter().map(|(oid, _)| *oid).chain(own) {
        found.object(NAMESPACE, oid);
    }
    for relation in schema.user_relations() {
        found.object(CLASS, relation.oid);
        let owner = rights.owner(relation.oid);
        for (at, column) in relation.columns.iter().enumerate() {
            let object = (CLASS, relation.oid, relation.number_of(at));
            found.list(object, rights.column_list(relation.oid, &column.name), owner);
        }
    }
    schema.sequences().for_each(|details| found.object(CLASS, details.sequence.oid));
    // The type of a table's rows is the table's, an array's its members'.
    for ty in schema.main.user_types.iter().filter(|ty| ty.kept_as() == ty.oid && !ty.is_row_type()) {
        found.object(TYPE, ty.oid);
    }
    schema.stored_functions().for_each(|function| found.object(PROCEDURE, function.oid));
    schema.main.operators.iter().for_each(|operator| found.object(OPERATOR, operator.oid));
    schema.main.collations.iter().for_each(|collation| found.object(COLLATION, collation.oid));
    schema.main.statistics.iter().for_each(|object| found.object(STATISTICS, object.oid));
    for object in schema.main.search_objects.iter() {
        let catalog = match object.kind() {
            Kind::Dictionary => DICTIONARY,
            Kind::Configuration => CONFIGURATION,
        };
        found.object(catalog, object.oid);
    }
    for default in &rights.main.defaults {
        found.add((DEFAULT_ACL, default.oid, 0), default.role, "o");
        found.list((DEFAULT_ACL, default.oid, 0), Some(&default.acl), default.role);
    }
    for (_, policy) in schema.policies() {
        policy.roles.iter().for_each(|role| found.add((POLICY, policy.oid, 0), *role, "r"));
    }
    found.rows
}
