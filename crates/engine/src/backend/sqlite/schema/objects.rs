//! Enters what has been read into a snapshot.

use std::sync::Arc;

use rowferry_dialect::Language;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::extension::Installed;
use rowferry_dialect::informix::aggregates::{Parts, UserAggregate};
use rowferry_dialect::lower::sqlite::types;
use rowferry_dialect::schema::{Physical, Relation, RelationKind, Routine, Sequence};
use rowferry_dialect::statistics::StatisticsObject;
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::text_search::{Body, Kind, SearchObject};
use rowferry_dialect::user_cast::UserCast;
use rowferry_dialect::user_operator::UserOperator;
use rowferry_dialect::user_type::{self, UserType};
use rusqlite::Connection;

use super::load::Entry;
use super::metadata::derived_oid;
use super::relation::{Loader, view_columns};
use super::stored::{Metadata, Object};
use crate::schema::{Details, Namespace, SequenceDetails, Snapshot, Synonym};

/// Where objects are read from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) connection: &'a Connection,
    pub(super) database: &'static str,
    pub(super) metadata: &'a Metadata,
}

impl Source<'_> {
    /// Enters the table or view to which some rows of `sqlite_schema` belong; its object id.
    pub(super) fn add_relation(&self, snapshot: &mut Snapshot, entries: &[Entry]) -> Option<u32> {
        let entry = entries.iter().find(|entry| matches!(entry.kind.as_str(), "table" | "view"))?;
        let loader = Loader { source: *self, known: snapshot, entries, entry };
        match if entry.kind == "table" { loader.table() } else { loader.view() } {
            Ok((mut relation, mut details)) => {
                relation.triggers = self.metadata.triggers(&relation);
                let keys: Vec<_> = super::deferrable::triggers(&relation).collect();
                relation.triggers.extend(keys);
                relation.triggers.sort_by(|a, b| a.rank().cmp(&b.rank()));
                relation.security = self.metadata.security(relation.oid);
                relation.rules = self.metadata.rules.get(&relation.oid).cloned().unwrap_or_default();
                details.schema_rows = entries.iter().map(|entry| entry.row).collect();
                let oid = relation.oid;
                snapshot.add_relation(relation, details);
                Some(oid)
            }
            // A virtual table whose module is not here, a view on tables that are gone: the rest can still be served.
            Err(error) => {
                tracing::warn!(object = entry.name, %error, "left out of the schema");
                None
            }
        }
    }

    /// Enters the types that users have made in PostgreSQL's way: before the relations, whose columns are of them.
    pub(super) fn add_user_types(&self, snapshot: &mut Snapshot) {
        for (&oid, object) in self.metadata.objects.iter().filter(|(_, object)| is_user_type(object)) {
            let definition = object.definition.as_deref().unwrap_or_default();
            match UserType::from_definition(oid, &object.namespace, &object.name, definition) {
                Ok(mut ty) => {
                    ty.comment.clone_from(&object.comment);
                    // What a type is made of is older; attributes that were added later are looked up at the end.
                    user_type::resolve_parts(&mut ty.kind, &|oid| snapshot.user_type_by_oid(oid).cloned());
                    let collations = snapshot.collations.clone();
                    user_type::resolve_collations(&mut ty.kind, &|oid| {
                        collations.iter().find(|made| made.oid == oid).cloned()
                    });
                    snapshot.add_user_type(ty);
                }
                Err(error) => tracing::warn!(object = object.name, %error, "left out of the schema"),
            }
        }
    }

    /// Enters the collations that users have made: before the relations, whose columns may be in them.
    pub(super) fn add_collations(&self, snapshot: &mut Snapshot) {
        for (&oid, object) in self.metadata.objects.iter().filter(|(_, object)| object.kind == "collation") {
            let definition = object.definition.as_deref().unwrap_or_default();
            let Some(made) = Collation::from_definition(oid, &object.namespace, &object.name, definition) else {
                tracing::warn!(object = object.name, "a collation that cannot be read");
                continue;
            };
            let collations = Arc::make_mut(&mut snapshot.collations);
            collations.push(Arc::new(made));
            collations.sort_by_key(|collation| collation.oid);
        }
    }

    /// Enters the extensions: before the relations, whose columns may be of their types.
    pub(super) fn add_extensions(&self, snapshot: &mut Snapshot) {
        for (&oid, object) in self.metadata.objects.iter().filter(|(_, object)| object.kind == "extension") {
            let Some(facts) = rowferry_facts::Extension::named(&object.name) else {
                tracing::warn!(object = object.name, "an extension that is not here");
                continue;
            };
            let extensions = Arc::make_mut(&mut snapshot.extensions);
            let namespace = object.namespace.clone();
            let version = object.definition.clone().unwrap_or_else(|| facts.version.to_owned());
            let comment = object.comment.clone();
            extensions.push(Arc::new(Installed { oid, namespace, version, comment, facts }));
            extensions.sort_by_key(|extension| extension.oid);
        }
    }

    /// Enters what SQLite knows nothing of.
    pub(super) fn add_objects(&self, snapshot: &mut Snapshot) {
        for (&oid, object) in &self.metadata.objects {
            if let Some(comment) = &object.comment
                && matches!(
                    object.kind.as_str(),
                    "schema"
                        | "function"
                        | "collation"
                        | "search configuration"
                        | "search dictionary"
                        | "statistics"
                        | "operator"
                        | "cast"
                        | "comment"
                )
            {
                let kind = if object.kind == "comment" { &object.namespace } else { &object.kind };
                Arc::make_mut(&mut snapshot.comments).insert(oid, (kind.clone(), comment.clone()));
            }
            match object.kind.as_str() {
                "synonym" => {
                    let definition = object.definition.as_deref().unwrap_or_default();
                    let (elsewhere, target) = Synonym::read(definition);
                    let (namespace, name) = (object.namespace.clone(), object.name.clone());
                    let synonyms = Arc::make_mut(&mut snapshot.synonyms);
                    synonyms.push(Synonym { oid, namespace, name, target, elsewhere });
                    synonyms.sort_by_key(|synonym| synonym.oid);
                }
                "schema" => {
                    let namespaces = Arc::make_mut(&mut snapshot.namespaces);
                    namespaces.push(Namespace { oid, name: object.name.clone() });
                    namespaces.sort_by_key(|namespace| namespace.oid);
                }
                "routine" => {
                    let name = object.name.split('(').next().unwrap_or_default().to_owned();
                    let definition = object.definition.clone().unwrap_or_default();
                    let routines = Arc::make_mut(&mut snapshot.routines);
                    routines.push(Arc::new(Routine::new(oid, name, object.name.clone(), definition)));
                    routines.sort_by_key(|routine| routine.oid);
                }
                "function" => add_function(snapshot, oid, object),
                "statistics" => add_statistics(snapshot, oid, object),
                "operator" => add_operator(snapshot, oid, object),
                "cast" => add_cast(snapshot, oid, object),
                kind @ ("search configuration" | "search dictionary") => add_search_object(snapshot, oid, kind, object),
                "informix aggregate" => {
                    let words = object.definition.as_deref().unwrap_or_default();
                    match Parts::from_text(words) {
                        Some(parts) => {
                            let aggregates = Arc::make_mut(&mut snapshot.aggregates);
                            aggregates.push(Arc::new(UserAggregate { oid, name: object.name.clone(), parts }));
                            aggregates.sort_by_key(|aggregate| aggregate.oid);
                        }
                        None => tracing::warn!(object = object.name, "left out of the schema"),
                    }
                }
                "informix cast" => {
                    let words = object.definition.as_deref().unwrap_or_default();
                    match rowferry_dialect::informix::casts::Definition::from_text(words) {
                        Some(definition) => {
                            let casts = Arc::make_mut(&mut snapshot.informix_casts);
                            casts.push(rowferry_dialect::informix::casts::InformixCast { oid, definition });
                            casts.sort_by_key(|cast| cast.oid);
                        }
                        None => tracing::warn!(object = object.name, "left out of the schema"),
                    }
                }
                _ if is_user_type(object) => {}
                kind @ ("row type" | "distinct type") => self.add_type(snapshot, oid, object, kind == "row type"),
                "view" if object.physical_name.is_none() => {
                    let (mut relation, details) = engine_view(oid, object, self.database, self.metadata);
                    super::relation::add_collations(&mut relation.columns, &details, &snapshot.collations);
                    snapshot.add_relation(relation, details);
                }
                _ => {}
            }
        }
    }

    fn add_type(&self, snapshot: &mut Snapshot, oid: u32, object: &Object, is_row: bool) {
        let words = object.definition.as_deref().unwrap_or_default();
        match rowferry_dialect::informix::type_from_words(words) {
            Ok(ty) => {
                let types = Arc::make_mut(&mut snapshot.types);
                let name = object.name.clone();
                types.push(Arc::new(rowferry_dialect::schema::NamedType { oid, name, is_row, ty }));
                types.sort_by_key(|ty| ty.oid);
            }
            Err(error) => tracing::warn!(object = object.name, %error, "left out of the schema"),
        }
    }

    /// Enters sequences: those with entries, and those that number the rowids of some relations.
    pub(super) fn add_sequences(&self, snapshot: &mut Snapshot, relations: &[Arc<Relation>]) {
        for (&oid, row) in &self.metadata.sequences {
            let Some(object) = self.metadata.objects.get(&oid) else { continue };
            let owner = row.owner_table.as_deref().zip(row.owner_column.as_deref()).and_then(|(table, column)| {
                let relation = snapshot.relation_by_physical_name(table)?;
                let column = relation.column(column)?;
                let alias = relation.columns[column].row_identity && row.increment > 0;
                Some(((relation.oid, column), alias.then(|| table.to_owned())))
            });
            let (owner, numbers_rowids_of) = owner.unzip();
            snapshot.add_sequence(SequenceDetails {
                sequence: Arc::new(Sequence {
                    oid,
                    namespace: object.namespace.clone(),
                    name: object.name.clone(),
                    ty: types::parse(&row.ty, Language::Postgres),
                }),
                database: self.database,
                start: row.start,
                increment: row.increment,
                min: row.min,
                max: row.max,
                cycle: row.cycle,
                cache: row.cache,
                stamp: row.stamp,
                owner,
                numbers_rowids_of: numbers_rowids_of.flatten(),
                rowid_of: None,
                comment: object.comment.clone(),
            });
        }
        relations.iter().for_each(|relation| self.add_rowid_sequence(snapshot, relation));
    }

    /// A rowid that numbers a column is a sequence, too, under the name that PostgreSQL would have given it.
    fn add_rowid_sequence(&self, snapshot: &mut Snapshot, relation: &Relation) {
        let numbered = relation.columns.iter().enumerate().find(|(_, column)| column.row_identity);
        let Some((at, column)) = numbered.filter(|(_, column)| column.identity.is_some()) else { return };
        // It has one already, perhaps under another name.
        if snapshot.sequences_of(relation.oid).any(|known| known.owner == Some((relation.oid, at))) {
            return;
        }
        let name = format!("{}_{}_seq", relation.name, column.name);
        if snapshot.sequence(&relation.namespace, &name).is_some() {
            return;
        }
        let ty = crate::schema::counted(&column.ty);
        let max = crate::schema::integer_range(&ty).1;
        snapshot.add_sequence(SequenceDetails {
            sequence: Arc::new(Sequence {
                oid: derived_oid("sequence", self.database, &[&relation.oid.to_string(), &column.name]),
                namespace: relation.namespace.clone(),
                name,
                ty,
            }),
            database: self.database,
            start: 1,
            increment: 1,
            min: 1,
            max,
            cycle: false,
            cache: 1,
            stamp: 0,
            owner: Some((relation.oid, at)),
            numbers_rowids_of: None,
            rowid_of: Some(relation.physical.name.clone()),
            comment: None,
        });
    }
}

/// A type with a definition of its own. A DISTINCT type of an earlier version is its source type under another name.
fn is_user_type(object: &Object) -> bool {
    let definition = || object.definition.as_deref().unwrap_or_default();
    object.kind == "type" || object.kind == "distinct type" && definition().starts_with('{')
}

/// A view that SQLite could not express.
fn engine_view(oid: u32, object: &Object, database: &'static str, metadata: &Metadata) -> (Relation, Details) {
    let mut relation = Relation {
        oid,
        namespace: object.namespace.clone(),
        name: object.name.clone(),
        physical: Physical { database, name: crate::schema::physical_name(&object.namespace, &object.name) },
        language: object.language,
        kind: RelationKind::View {
            definition: object.definition.clone().unwrap_or_default(),
            options: metadata.view_options(oid),
            pins: metadata.pins(oid),
        },
        columns: view_columns(metadata.columns(oid), object.language),
        dropped: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        without_identity: false,
        triggers: Vec::new(),
        heritage: None,
        partitioning: None,
        security: None,
        rules: metadata.rules.get(&oid).cloned().unwrap_or_default(),
    };
    relation.triggers = metadata.triggers(&relation);
    let needs = metadata.needs.get(&oid).cloned();
    let properties = metadata.properties(oid);
    let mut details =
        Details { comment: object.comment.clone(), recorded: true, needs, properties, ..Details::default() };
    for (at, row) in metadata.columns(oid).iter().enumerate() {
        if let Some(comment) = &row.comment {
            details.column_comments.insert(at, comment.clone());
        }
    }
    (relation, details)
}

/// Enters a function made in PostgreSQL's way.
fn add_search_object(snapshot: &mut Snapshot, oid: u32, kind: &str, object: &Object) {
    let definition = object.definition.as_deref().unwrap_or_default();
    let body = Kind::from_stored(kind).and_then(|kind| Body::from_definition(kind, definition));
    let Some(body) = body else {
        tracing::warn!(object = object.name, "an object of text search that cannot be read");
        return;
    };
    let (namespace, name) = (object.namespace.clone(), object.name.clone());
    let objects = Arc::make_mut(&mut snapshot.search_objects);
    objects.push(Arc::new(SearchObject { oid, namespace, name, body }));
    objects.sort_by_key(|object| object.oid);
}

fn add_operator(snapshot: &mut Snapshot, oid: u32, object: &Object) {
    let definition = object.definition.as_deref().unwrap_or_default();
    let Some(operator) = UserOperator::from_entry(oid, &object.namespace, &object.name, definition) else {
        tracing::warn!(object = object.name, "an operator that cannot be read");
        return;
    };
    let operators = Arc::make_mut(&mut snapshot.operators);
    operators.push(Arc::new(operator));
    operators.sort_by_key(|operator| operator.oid);
}

fn add_cast(snapshot: &mut Snapshot, oid: u32, object: &Object) {
    let definition = object.definition.as_deref().unwrap_or_default();
    let dropped = rowferry_dialect::user_cast::Definition::is_dropped(definition);
    let Some(definition) = rowferry_dialect::user_cast::Definition::from_text(definition) else {
        tracing::warn!(object = object.name, "a cast that cannot be read");
        return;
    };
    let casts = Arc::make_mut(if dropped { &mut snapshot.dropped_casts } else { &mut snapshot.casts });
    casts.push(UserCast { oid, definition });
    casts.sort_by_key(|cast| cast.oid);
}

fn add_statistics(snapshot: &mut Snapshot, oid: u32, object: &Object) {
    let definition = object.definition.as_deref().unwrap_or_default();
    let Some(definition) = rowferry_dialect::statistics::Definition::from_text(definition) else {
        tracing::warn!(object = object.name, "a statistics object that cannot be read");
        return;
    };
    let (namespace, name) = (object.namespace.clone(), object.name.clone());
    let objects = Arc::make_mut(&mut snapshot.statistics);
    objects.push(Arc::new(StatisticsObject { oid, namespace, name, definition }));
    objects.sort_by_key(|object| object.oid);
}

fn add_function(snapshot: &mut Snapshot, oid: u32, object: &Object) {
    let text = object.definition.as_deref().unwrap_or_default();
    match rowferry_dialect::postgres::routine::from_text(text) {
        Ok((name, definition)) => {
            let owner = String::new();
            let function = StoredFunction::new(oid, object.namespace.clone(), name.name, owner, definition);
            let function = function.knowing(snapshot.user_types.clone());
            let functions = Arc::make_mut(&mut snapshot.functions);
            functions.push(Arc::new(function));
            functions.sort_by_key(|function| function.oid);
        }
        Err(error) => tracing::warn!(object = object.name, %error, "left out of the schema"),
    }
}
