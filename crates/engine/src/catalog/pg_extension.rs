//! `pg_extension` and what could be in it: extensions are modules that are built in.

use rowferry_dialect::Schema as _;
use rowferry_dialect::extension::{PLPGSQL, purpose};
use rowferry_facts as facts;

use super::{Context, NULL, OWNER, Row, Table, row};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_extension", installed),
    Table::pg_catalog("pg_available_extensions", available),
    Table::pg_catalog("pg_available_extension_versions", versions),
];

/// Object ids of catalogs, as `pg_depend` has them.
const EXTENSION: u32 = 3_079;
const NAMESPACE: u32 = 2_615;

/// PL/pgSQL's row, which every file has: object id and version.
pub(super) const OF_PLPGSQL: (u32, &str) = (13_499, "1.0");
/// Its schema: `pg_catalog`.
const PG_CATALOG: u32 = 11;

fn installed(context: &Context<'_>) -> Vec<Row> {
    let (oid, version) = OF_PLPGSQL;
    let mut rows = vec![row![oid, PLPGSQL, OWNER, PG_CATALOG, false, version, NULL, NULL]];
    let rights = context.schema.rights();
    rows.extend(context.schema.extensions().iter().map(|extension| {
        let namespace = context.schema.namespace_oid(&extension.namespace);
        let owner = rights.owner(extension.oid);
        let relocatable = extension.facts.relocatable;
        row![extension.oid, extension.name(), owner, namespace, relocatable, extension.version.as_str(), NULL, NULL]
    }));
    rows
}

/// Every extension: name, version, whether it can be moved.
fn all() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    let modules = facts::Extension::all().iter();
    let modules = modules.map(|extension| (extension.name, extension.version, extension.relocatable));
    modules.chain([(PLPGSQL, OF_PLPGSQL.1, false)])
}

/// The version that the file has.
fn version_here(context: &Context<'_>, name: &str) -> Option<String> {
    if name == PLPGSQL {
        return Some(OF_PLPGSQL.1.to_owned());
    }
    let mut installed = context.schema.extensions().iter();
    installed.find(|extension| extension.name() == name).map(|extension| extension.version.clone())
}

fn available(context: &Context<'_>) -> Vec<Row> {
    all().map(|(name, version, _)| row![name, version, version_here(context, name), purpose(name)]).collect()
}

fn versions(context: &Context<'_>) -> Vec<Row> {
    let row = |(name, version, relocatable): (&str, &str, bool)| {
        let installed = version_here(context, name).is_some();
        let schema = (name == PLPGSQL).then_some("pg_catalog");
        row![name, version, installed, true, true, relocatable, schema, NULL, purpose(name)]
    };
    all().map(row).collect()
}

/// Rows of `pg_depend`: an extension is in its schema, and its members belong to it.
pub(super) fn dependencies(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for extension in context.schema.extensions() {
        let namespace = context.schema.namespace_oid(&extension.namespace);
        rows.push(row![EXTENSION, extension.oid, 0, NAMESPACE, namespace, 0, "n"]);
        let facts = extension.facts;
        // An array type hangs on the type of its members, and through it on the extension.
        let types = facts.types().iter().filter(|ty| ty.category != 'A').map(|ty| (1_247, ty.oid));
        let members = types
            .chain(facts.functions().iter().map(|function| (1_255, function.oid)))
            .chain(facts.operators().iter().map(|operator| (2_617, operator.oid)))
            .chain(facts.casts().iter().map(|cast| (2_605, cast.oid)))
            .chain(facts.access_methods().iter().map(|method| (2_601, method.oid)))
            .chain(facts.operator_classes().iter().map(|class| (2_616, class.oid)))
            .chain(facts.operator_families().iter().map(|family| (2_753, family.oid)));
        rows.extend(members.map(|(catalog, oid)| row![catalog, oid, 0, EXTENSION, extension.oid, 0, "e"]));
        let arrays = facts.types().iter().filter(|ty| ty.category == 'A');
        rows.extend(arrays.map(|ty| row![1_247, ty.oid, 0, 1_247, ty.element, 0, "i"]));
    }
    rows
}

/// Rows of `pg_description`: what was said of an extension, or else what it is for.
pub(super) fn comments(context: &Context<'_>) -> Vec<Row> {
    let of_plpgsql = row![OF_PLPGSQL.0, EXTENSION, 0, purpose(PLPGSQL)];
    let installed = context.schema.extensions().iter();
    let shown = installed.map(|extension| {
        let comment = extension.comment.as_deref().unwrap_or_else(|| purpose(extension.name()));
        row![extension.oid, EXTENSION, 0, comment]
    });
    std::iter::once(of_plpgsql).chain(shown).collect()
}
