//! The objects of one database at one moment, and the ways to find them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rowferry_dialect::access::{Grants, Roles};
use rowferry_dialect::collation::Collation;
use rowferry_dialect::composite;
use rowferry_dialect::extension::{self, Installed};
use rowferry_dialect::heritage::{Heritage, INHERITED_CHECK, INHERITED_COLUMN, INHERITS, OF_TYPE};
use rowferry_dialect::partition::{Bound, PARTITION_BOUND, PARTITION_BY, Partitioning};
use rowferry_dialect::postgres;
use rowferry_dialect::schema::{NamedType, Policy, QualifiedName, Relation, RelationKind, Routine, Rule, Sequence};
use rowferry_dialect::statistics::StatisticsObject;
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::text_search::SearchObject;
use rowferry_dialect::user_cast::UserCast;
use rowferry_dialect::user_operator::UserOperator;
use rowferry_dialect::user_type::{self, UserType};
use rowferry_dialect::uses::Dependency;

use super::ordered::Ordered;
use crate::catalog::describe::constraint_oid;

/// The objects of one database (`main`, or a session's `temp`) at one moment.
///
/// A copy shares with its original whatever is not changed later.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// No two snapshots of a process have the same.
    pub generation: u64,
    /// The file's schema cookie at that moment.
    pub cookie: i64,
    /// Namespaces made by users.
    pub namespaces: Arc<Vec<Namespace>>,
    /// The file's roles; temporary databases have none.
    pub roles: Arc<Roles>,
    /// Owners and privileges.
    pub grants: Arc<Grants>,
    /// Routines, oldest first.
    pub routines: Arc<Vec<Arc<Routine>>>,
    /// Functions made in PostgreSQL's way, oldest first.
    pub functions: Arc<Vec<Arc<StoredFunction>>>,
    /// Types that users have made in PostgreSQL's way, oldest first.
    pub user_types: Arc<Vec<Arc<UserType>>>,
    /// Extensions, oldest first.
    pub extensions: Arc<Vec<Arc<Installed>>>,
    /// Collations that users have made, oldest first.
    pub collations: Arc<Vec<Arc<Collation>>>,
    /// Configurations and dictionaries of text search that users have made, oldest first.
    pub search_objects: Arc<Vec<Arc<SearchObject>>>,
    /// Objects of CREATE STATISTICS, oldest first.
    pub statistics: Arc<Vec<Arc<StatisticsObject>>>,
    /// Operators that users have made, oldest first.
    pub operators: Arc<Vec<Arc<UserOperator>>>,
    /// Casts that users have made, oldest first.
    pub casts: Arc<Vec<UserCast>>,
    /// Those that were dropped while something stored converted by them.
    pub dropped_casts: Arc<Vec<UserCast>>,
    /// Aggregates made in Informix's SQL, oldest first.
    pub aggregates: Arc<Vec<Arc<rowferry_dialect::informix::aggregates::UserAggregate>>>,
    /// Casts made in Informix's SQL, oldest first.
    pub informix_casts: Arc<Vec<rowferry_dialect::informix::casts::InformixCast>>,
    /// Named types, oldest first.
    pub types: Arc<Vec<Arc<NamedType>>>,
    /// Comments on schemas and functions by object id, each with what it is on.
    pub comments: Arc<BTreeMap<u32, (String, String)>>,
    /// Informix's synonyms.
    pub synonyms: Arc<Vec<Synonym>>,
    objects: Ordered<u32, (Arc<Relation>, Arc<Details>)>,
    /// Tables and views in the order of their names.
    names: Ordered<(String, String, u32), Arc<Relation>>,
    /// By name in lower case.
    folded: Ordered<String, Vec<u32>>,
    /// By the back end's name in lower case; what it does not know is not there.
    physical: Ordered<String, u32>,
    /// Relations by the lower-case names of their indexes.
    indexes: Ordered<String, Vec<u32>>,
    /// Relations by the object ids of their indexes and constraints.
    parts: Ordered<u32, Vec<u32>>,
    /// Relations by the tables that their foreign keys lead to, see [`target_key`].
    children: Ordered<String, Vec<u32>>,
    /// Tables by those that they inherit from.
    heirs: Ordered<u32, Vec<u32>>,
    /// Tables by the sequences that number their columns, see [`target_key`].
    numbered: Ordered<String, Vec<u32>>,
    /// Views by what they need.
    users: Ordered<u32, Vec<u32>>,
    /// Relations with columns whose types wait for other relations, see [`Snapshot::resolve_row_types`].
    late: Ordered<u32, ()>,
    /// Views of which nobody has noted what they need.
    untraced: Ordered<u32, ()>,
    /// Relations with checks that the engine enforces.
    checked: Ordered<u32, ()>,
    /// Relations with triggers of ours, or columns that the engine computes.
    triggered: Ordered<u32, ()>,
    /// Tables with policies.
    secured: Ordered<u32, ()>,
    /// Relations with rules.
    ruled: Ordered<u32, ()>,
    /// Views that the back end expands by itself.
    foreign_views: Ordered<u32, ()>,
    /// Sequences in the order of their names.
    sequences: Ordered<(String, String, u32), Arc<SequenceDetails>>,
    sequence_oids: Ordered<u32, Arc<SequenceDetails>>,
    /// Sequences by name in lower case.
    folded_sequences: Ordered<String, Vec<u32>>,
    /// Sequences by the relation whose column they number.
    owned: Ordered<u32, Vec<u32>>,
}

/// A name in lower case; most are.
pub fn lower_case(name: &str) -> Cow<'_, str> {
    let lower = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if lower { Cow::Borrowed(name) } else { Cow::Owned(name.to_lowercase()) }
}

/// The object ids of a relation's indexes and constraints.
fn parts_of(relation: &Relation) -> impl Iterator<Item = u32> {
    let indexes = relation.indexes.iter();
    let indexes = indexes.flat_map(|index| [Some(index.oid), index.constraint.then(|| constraint_oid(index))]);
    let checks = relation.checks.iter().map(|check| check.oid);
    let keys = relation.foreign_keys.iter();
    let keys = keys.flat_map(|key| std::iter::once(key.oid).chain(key.parts.iter().map(|part| part.oid)));
    indexes.flatten().chain(checks).chain(keys)
}

/// What catalogs tell about a relation beyond what the compiler needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// COMMENT ON TABLE.
    pub comment: Option<String>,
    /// COMMENT ON COLUMN, by position.
    pub column_comments: HashMap<usize, String>,
    /// The statement that the back end keeps.
    pub sql: Option<String>,
    /// The relation has an entry in the metadata tables.
    pub recorded: bool,
    /// Lowered text of checks that the engine enforces, by constraint.
    pub engine_checks: Vec<(String, String)>,
    /// Names of the back end's own triggers on it.
    pub triggers: Vec<(String, String)>,
    /// The file keeps a view of it that the shell can read.
    pub native_view: bool,
    /// The back end's names of its indexes, by position in `Relation::indexes`; empty for a rowid.
    pub index_names: Vec<String>,
    /// The number that the back end gives each foreign key, by position.
    pub foreign_key_ids: Vec<i64>,
    /// The rows of the back end's own schema that are about it.
    pub schema_rows: Vec<i64>,
    /// What a view needs; `None` until it has been noted.
    pub needs: Option<Vec<Dependency>>,
    /// Small facts about it and its parts.
    pub properties: Properties,
}

/// Small facts about a relation (part ``), its columns, constraints and indexes: see the back end's `schema/metadata.rs`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(BTreeMap<(String, String), String>);

impl Properties {
    /// A fact about a part.
    pub fn get(&self, part: &str, name: &str) -> Option<&str> {
        // Most relations have none, and this needs no allocation then.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(part.to_owned(), name.to_owned())).map(String::as_str)
    }

    /// True when a part is noted to have something.
    pub fn has(&self, part: &str, name: &str) -> bool {
        self.get(part, name).is_some()
    }

    /// All facts: part, name, value.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.0.iter().map(|((part, name), value)| (part.as_str(), name.as_str(), value.as_str()))
    }

    /// What the relation has from parents, or from a type.
    pub(crate) fn heritage(&self) -> Option<Box<Heritage>> {
        let (parents, of_type) = (self.get("", INHERITS), self.get("", OF_TYPE));
        if parents.is_none() && of_type.is_none() {
            return None;
        }
        let bound = self.get("", PARTITION_BOUND).and_then(Bound::read);
        let mut heritage = Heritage {
            parents: parents.map(Heritage::parents_of_text).unwrap_or_default(),
            bound,
            of_type: of_type.and_then(|oid| oid.parse().ok()),
            ..Heritage::default()
        };
        for (part, name, _) in self.all() {
            match name {
                INHERITED_COLUMN => heritage.columns.insert(part.to_owned()),
                INHERITED_CHECK => heritage.checks.insert(part.to_owned()),
                _ => continue,
            };
        }
        Some(Box::new(heritage))
    }

    /// How the relation's rows are parted.
    pub(crate) fn partitioning(&self) -> Option<Arc<Partitioning>> {
        postgres::partitioning(self.get("", PARTITION_BY)?).map(Arc::new)
    }

    pub(crate) fn insert(&mut self, part: &str, name: &str, value: String) {
        self.0.insert((part.to_owned(), name.to_owned()), value);
    }
}

/// A sequence with its parameters; its state is read from the file.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceDetails {
    /// What the compiler sees.
    pub sequence: Arc<Sequence>,
    /// Which of the back end's databases.
    pub database: &'static str,
    /// First value.
    pub start: i64,
    /// Step.
    pub increment: i64,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// Begins again behind the last.
    pub cycle: bool,
    /// The column that it numbers: relation's oid and position.
    pub owner: Option<(u32, usize)>,
    /// How many numbers a session takes at a time.
    pub cache: i64,
    /// Which counter counts: another one after each ALTER SEQUENCE; 0 in tables of older versions.
    pub stamp: i64,
    /// The table whose rowids it numbers, upwards.
    pub numbers_rowids_of: Option<String>,
    /// Identities of rows number the column; the back end keeps the state under this table name.
    pub rowid_of: Option<String>,
    /// COMMENT ON SEQUENCE.
    pub comment: Option<String>,
}

/// Another name for a table, view or sequence: Informix's synonyms.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Synonym {
    /// Object id.
    pub oid: u32,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub target: QualifiedName,
    /// The other database in which that is.
    pub elsewhere: Option<String>,
}

impl Synonym {
    /// What stands between a database's name and its object's in [`Self::definition`]: in no name.
    const BEHIND_DATABASE: char = '\u{1f}';

    /// What it stands for, as the file keeps it.
    pub fn definition(elsewhere: Option<&str>, target: &QualifiedName) -> String {
        match elsewhere {
            Some(database) => format!("{database}{}{target}", Self::BEHIND_DATABASE),
            None => target.to_string(),
        }
    }

    /// The inverse of [`Self::definition`].
    pub fn read(definition: &str) -> (Option<String>, QualifiedName) {
        let (elsewhere, target) = match definition.split_once(Self::BEHIND_DATABASE) {
            Some((database, target)) => (Some(database.to_owned()), target),
            None => (None, definition),
        };
        let (schema, name) = target.split_once('.').unwrap_or((super::PUBLIC, target));
        (elsewhere, QualifiedName::new(schema, name))
    }
}

/// A namespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Namespace {
    /// Object id.
    pub oid: u32,
    /// Name.
    pub name: String,
}

/// A table as foreign keys name it.
fn target_key(namespace: &str, name: &str) -> String {
    format!("{namespace}.{name}").to_lowercase()
}

/// The sequences that number a relation's columns.
fn numbering(relation: &Relation) -> impl Iterator<Item = &QualifiedName> {
    let mut seen: Vec<&QualifiedName> = Vec::new();
    relation.columns.iter().filter_map(|column| column.numbering()).filter(move |sequence| {
        let new = !seen.contains(sequence);
        seen.push(sequence);
        new
    })
}

impl Snapshot {
    /// No objects at all: what the sessions without temporary objects share.
    pub(crate) fn nothing() -> Arc<Self> {
        static NOTHING: std::sync::LazyLock<Arc<Snapshot>> = std::sync::LazyLock::new(Arc::default);
        NOTHING.clone()
    }

    /// Enters a relation, with what is known about it.
    pub(crate) fn add_relation(&mut self, mut relation: Relation, details: Details) {
        // Ids of what has no entry are made from names, and two names may give one.
        while self.objects.get(&relation.oid).is_some() {
            relation.oid += 1;
        }
        let oid = relation.oid;
        // A temporary table's types are the file's, which is another snapshot's: whoever finds the table looks them up.
        if !relation.is_temporary() {
            self.resolve_types(&mut relation);
        }
        let relation = Arc::new(relation);
        self.names.insert((relation.namespace.clone(), relation.name.clone(), oid), relation.clone());
        self.folded.add(relation.name.to_lowercase(), oid);
        if !details.schema_rows.is_empty() {
            self.physical.insert(relation.physical.name.to_lowercase(), oid);
        }
        for index in &relation.indexes {
            self.indexes.add(index.name.to_lowercase(), oid);
        }
        parts_of(&relation).for_each(|part| self.parts.add(part, oid));
        for key in &relation.foreign_keys {
            let namespace = key.target.schema.as_deref().unwrap_or_default();
            self.children.add(target_key(namespace, &key.target.name), oid);
        }
        for sequence in numbering(&relation) {
            self.numbered.add(target_key(sequence.schema.as_deref().unwrap_or_default(), &sequence.name), oid);
        }
        match (&relation.kind, &details.needs) {
            (RelationKind::View { .. } | RelationKind::MaterializedView { .. }, None) => self.untraced.insert(oid, ()),
            (RelationKind::View { .. } | RelationKind::MaterializedView { .. }, Some(needs)) => {
                needs.iter().for_each(|(target, _)| self.users.add(*target, oid))
            }
            (RelationKind::NativeView, _) => self.foreign_views.insert(oid, ()),
            _ => {}
        }
        for parent in relation.parents() {
            self.heirs.add(*parent, oid);
        }
        if !details.engine_checks.is_empty() {
            self.checked.insert(oid, ());
        }
        if !relation.triggers.is_empty() || relation.has_computed_columns() {
            self.triggered.insert(oid, ());
        }
        if !relation.rules.is_empty() {
            self.ruled.insert(oid, ());
        }
        if !relation.policies().is_empty() {
            self.secured.insert(oid, ());
        }
        if relation.columns.iter().any(|column| user_type::is_late(&column.ty)) {
            self.late.insert(oid, ());
        }
        self.objects.insert(oid, (relation, Arc::new(details)));
    }

    /// Looks up the types that users have made.
    ///
    /// A type of an extension that is not there, which only somebody else can have declared, is text.
    pub(crate) fn resolve_types(&self, relation: &mut Relation) {
        for column in relation.columns.iter_mut().filter(|column| extension::of_type(&column.ty).is_some()) {
            column.ty = extension::without_extensions(&column.ty, &self.extensions);
        }
        for column in relation.columns.iter_mut().filter(|column| column.ty.has_user_type()) {
            column.ty = user_type::resolved(&column.ty, &|oid| self.user_type_by_oid(oid).cloned());
        }
    }

    /// Looks up the types of a temporary table's columns, which may be rows of relations, of the file or temporary ones.
    pub(crate) fn resolve_types_of_temporary(&self, relation: &mut Relation, temporary: &Self) {
        self.resolve_types(relation);
        let parts = Parts { beside: Some(temporary), ..Parts::of(self) };
        for column in relation.columns.iter_mut().filter(|column| user_type::is_late(&column.ty)) {
            column.ty = user_type::resolved(&column.ty, &|oid| parts.find(oid));
        }
    }

    /// Looks up the row types among the types of columns and attributes, once all relations are known.
    pub(crate) fn resolve_row_types(&mut self) {
        if self.user_types.iter().any(|ty| user_type::has_late_parts(&ty.kind)) {
            let parts = Parts::of(self);
            let late = self.user_types.iter().map(|ty| parts.find(ty.oid).unwrap_or_else(|| ty.clone())).collect();
            self.user_types = Arc::new(late);
        }
        let parts = Parts::of(self);
        let late: Vec<Relation> = (self.late.keys().filter_map(|oid| self.relation_by_oid(*oid)))
            .map(|before| {
                let mut relation = Relation::clone(before);
                for column in &mut relation.columns {
                    column.ty = user_type::resolved(&column.ty, &|oid| parts.find(oid));
                }
                relation
            })
            .collect();
        for relation in late {
            let Some(details) = self.objects.get(&relation.oid).map(|(_, details)| details.clone()) else { continue };
            let relation = Arc::new(relation);
            self.names.insert((relation.namespace.clone(), relation.name.clone(), relation.oid), relation.clone());
            self.objects.insert(relation.oid, (relation, details));
        }
    }

    /// Enters a type; with a range type its multirange type, which is kept with it.
    pub(crate) fn add_user_type(&mut self, ty: UserType) {
        let ty = Arc::new(ty);
        let types = Arc::make_mut(&mut self.user_types);
        types.extend(user_type::multirange_of(&ty));
        types.push(ty);
        types.sort_by_key(|ty| ty.oid);
    }

    /// The type with this object id.
    pub fn user_type_by_oid(&self, oid: u32) -> Option<&Arc<UserType>> {
        self.user_types.binary_search_by_key(&oid, |ty| ty.oid).ok().map(|at| &self.user_types[at])
    }

    /// Strikes a relation.
    pub(crate) fn remove_relation(&mut self, oid: u32) {
        let Some((relation, details)) = self.objects.remove(&oid) else { return };
        self.names.remove(&(relation.namespace.clone(), relation.name.clone(), oid));
        self.folded.strike(relation.name.to_lowercase().as_str(), oid);
        let physical = relation.physical.name.to_lowercase();
        if self.physical.get(physical.as_str()) == Some(&oid) {
            self.physical.remove(physical.as_str());
        }
        for index in &relation.indexes {
            self.indexes.strike(index.name.to_lowercase().as_str(), oid);
        }
        parts_of(&relation).for_each(|part| self.parts.strike(&part, oid));
        for key in &relation.foreign_keys {
            let namespace = key.target.schema.as_deref().unwrap_or_default();
            self.children.strike(target_key(namespace, &key.target.name).as_str(), oid);
        }
        for sequence in numbering(&relation) {
            let key = target_key(sequence.schema.as_deref().unwrap_or_default(), &sequence.name);
            self.numbered.strike(key.as_str(), oid);
        }
        for parent in relation.parents() {
            self.heirs.strike(parent, oid);
        }
        for (target, _) in details.needs.iter().flatten() {
            self.users.strike(target, oid);
        }
        self.late.remove(&oid);
        self.untraced.remove(&oid);
        self.checked.remove(&oid);
        self.triggered.remove(&oid);
        self.secured.remove(&oid);
        self.ruled.remove(&oid);
        self.foreign_views.remove(&oid);
    }

    /// Enters a sequence.
    pub(crate) fn add_sequence(&mut self, details: SequenceDetails) {
        let details = Arc::new(details);
        let sequence = &details.sequence;
        self.sequences.insert((sequence.name.clone(), sequence.namespace.clone(), sequence.oid), details.clone());
        self.folded_sequences.add(sequence.name.to_lowercase(), sequence.oid);
        if let Some((relation, _)) = details.owner {
            self.owned.add(relation, sequence.oid);
        }
        self.sequence_oids.insert(sequence.oid, details.clone());
    }

    /// Strikes a sequence.
    pub(crate) fn remove_sequence(&mut self, oid: u32) {
        let Some(details) = self.sequence_oids.remove(&oid) else { return };
        let sequence = &details.sequence;
        self.sequences.remove(&(sequence.name.clone(), sequence.namespace.clone(), oid));
        self.folded_sequences.strike(sequence.name.to_lowercase().as_str(), oid);
        if let Some((relation, _)) = details.owner {
            self.owned.strike(&relation, oid);
        }
    }

    /// Tables and views, by name.
    pub fn relations(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.names.values()
    }

    /// True when there are more relations than that.
    pub fn has_more_relations_than(&self, count: usize) -> bool {
        self.names.values().nth(count).is_some()
    }

    /// True when there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.sequences.is_empty() && self.functions.is_empty()
    }

    /// Sequences, by name.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceDetails>> {
        self.sequences.values()
    }

    /// The relation of this name in a namespace; an exact match wins over one in other case.
    pub fn relation(&self, namespace: &str, name: &str) -> Option<&Arc<Relation>> {
        let candidates = self.folded.ids(&*lower_case(name)).iter();
        let relations = candidates.filter_map(|oid| self.relation_by_oid(*oid));
        let mut of_namespace = relations.filter(|relation| relation.namespace.eq_ignore_ascii_case(namespace));
        let first = of_namespace.next()?;
        if first.name == name { Some(first) } else { Some(of_namespace.find(|r| r.name == name).unwrap_or(first)) }
    }

    /// The relation with this object id.
    pub fn relation_by_oid(&self, oid: u32) -> Option<&Arc<Relation>> {
        self.objects.get(&oid).map(|(relation, _)| relation)
    }

    /// The relations with an index or a constraint of this object id.
    pub fn relations_with_part(&self, oid: u32) -> impl Iterator<Item = &Arc<Relation>> {
        self.parts.ids(&oid).iter().filter_map(|relation| self.relation_by_oid(*relation))
    }

    /// The relation that the back end knows by this name.
    pub fn relation_by_physical_name(&self, name: &str) -> Option<&Arc<Relation>> {
        self.relation_by_oid(*self.physical.get(name.to_lowercase().as_str())?)
    }

    /// A sequence in a namespace.
    pub fn sequence(&self, namespace: &str, name: &str) -> Option<&Arc<SequenceDetails>> {
        let candidates = self.folded_sequences.ids(&*lower_case(name)).iter();
        let mut found = candidates.filter_map(|oid| self.sequence_oids.get(oid));
        found.find(|details| details.sequence.namespace.eq_ignore_ascii_case(namespace))
    }

    /// The sequence with this object id.
    pub fn sequence_by_oid(&self, oid: u32) -> Option<&Arc<SequenceDetails>> {
        self.sequence_oids.get(&oid)
    }

    /// The sequences that number columns of a relation.
    pub fn sequences_of(&self, relation: u32) -> impl Iterator<Item = &Arc<SequenceDetails>> {
        self.owned.ids(&relation).iter().filter_map(|oid| self.sequence_oids.get(oid))
    }

    /// The columns that a sequence numbers by their default or as their identity.
    pub fn numbered_by(&self, namespace: &str, name: &str) -> Vec<(Arc<Relation>, usize)> {
        let relations = self.numbered.ids(target_key(namespace, name).as_str()).iter();
        let relations = relations.filter_map(|oid| self.relation_by_oid(*oid));
        let columns = relations.flat_map(|relation| {
            let is_it =
                |sequence: &QualifiedName| sequence.schema.as_deref() == Some(namespace) && sequence.name == name;
            let columns = relation.columns.iter().enumerate();
            let found = columns.filter(move |(_, column)| column.numbering().is_some_and(is_it));
            found.map(move |(at, _)| (relation.clone(), at)).collect::<Vec<_>>()
        });
        columns.collect()
    }

    /// An index by name in a namespace.
    pub fn index(&self, namespace: &str, name: &str) -> Option<(&Arc<Relation>, usize)> {
        let relations = self.indexes.ids(&*lower_case(name)).iter().filter_map(|oid| self.relation_by_oid(*oid));
        let mut of_namespace = relations.filter(|relation| relation.namespace.eq_ignore_ascii_case(namespace));
        of_namespace.find_map(|relation| {
            let at = relation.indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name))?;
            Some((relation, at))
        })
    }

    /// What else is known about a relation.
    pub fn details(&self, oid: u32) -> Option<&Details> {
        self.objects.get(&oid).map(|(_, details)| &**details)
    }

    /// The tables with a foreign key to this one; itself, too, when it refers to itself.
    pub fn children(&self, parent: &Relation) -> impl Iterator<Item = &Arc<Relation>> {
        let ids = self.children.ids(target_key(&parent.namespace, &parent.name).as_str());
        ids.iter().filter_map(|oid| self.relation_by_oid(*oid))
    }

    /// True when no table inherits from another.
    pub fn has_no_heirs(&self) -> bool {
        self.heirs.is_empty()
    }

    /// The tables that inherit directly from one.
    pub fn heirs(&self, oid: u32) -> impl Iterator<Item = &Arc<Relation>> {
        self.heirs.ids(&oid).iter().filter_map(|oid| self.relation_by_oid(*oid))
    }

    /// The views that need an object, each with what it needs.
    pub fn users(&self, oid: u32) -> impl Iterator<Item = (&Arc<Relation>, &[Dependency])> {
        self.users.ids(&oid).iter().filter_map(|oid| {
            let (relation, details) = self.objects.get(oid)?;
            Some((relation, details.needs.as_deref().unwrap_or_default()))
        })
    }

    /// Views of which nobody has noted what they need.
    pub fn untraced(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.untraced.keys().filter_map(|oid| self.relation_by_oid(*oid))
    }

    /// Relations with checks that the engine enforces.
    pub fn checked(&self) -> impl Iterator<Item = &(Arc<Relation>, Arc<Details>)> {
        self.checked.keys().filter_map(|oid| self.objects.get(oid))
    }

    /// Relations with triggers of ours.
    pub fn triggered(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.triggered.keys().filter_map(|oid| self.relation_by_oid(*oid))
    }

    /// True when no relation has a trigger of ours, or columns that the engine computes.
    pub fn has_no_triggers(&self) -> bool {
        self.triggered.is_empty()
    }

    /// Every policy, with its table.
    pub fn policies(&self) -> impl Iterator<Item = (&Arc<Relation>, &Arc<Policy>)> {
        let tables = self.secured.keys().filter_map(|oid| self.relation_by_oid(*oid));
        tables.flat_map(|table| table.policies().iter().map(move |policy| (table, policy)))
    }

    /// Every rule, with its relation.
    pub fn rules(&self) -> impl Iterator<Item = (&Arc<Relation>, &Arc<Rule>)> {
        let relations = self.ruled.keys().filter_map(|oid| self.relation_by_oid(*oid));
        relations.flat_map(|relation| relation.rules.iter().map(move |rule| (relation, rule)))
    }

    /// Views that the back end expands by itself.
    pub fn foreign_views(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.foreign_views.keys().filter_map(|oid| self.relation_by_oid(*oid))
    }

    /// What differs in another snapshot that should say the same, for checks of our own.
    pub fn difference(&self, other: &Self) -> Option<String> {
        type Shown = (Arc<Relation>, Details);
        let objects = |snapshot: &Self| -> BTreeMap<u32, Shown> {
            let objects = snapshot.objects.values().map(|(relation, details)| {
                let mut details = (**details).clone();
                details.schema_rows.sort_unstable();
                (relation.oid, (relation.clone(), details))
            });
            objects.collect()
        };
        let (mine, others) = (objects(self), objects(other));
        if let Some(oid) = mine.keys().chain(others.keys()).find(|oid| mine.get(oid) != others.get(oid)) {
            return Some(format!("{:#?}\n{:#?}", mine.get(oid), others.get(oid)));
        }
        if !self.sequences().eq(other.sequences()) {
            let list = |snapshot: &Self| snapshot.sequences().cloned().collect::<Vec<_>>();
            return Some(format!("{:#?}\n{:#?}", list(self), list(other)));
        }
        if (&self.roles, &self.grants) != (&other.roles, &other.grants) {
            let access = |s: &Self| (s.roles.clone(), s.grants.clone());
            return Some(format!("{:#?}\n{:#?}", access(self), access(other)));
        }
        let rest = |s: &Self| {
            let functions = s.functions.clone();
            let types = (s.types.clone(), s.aggregates.clone(), s.informix_casts.clone(), s.user_types.clone());
            let others = (s.synonyms.clone(), s.comments.clone(), s.extensions.clone(), s.collations.clone());
            let casts = (s.casts.clone(), s.dropped_casts.clone());
            let others = (others, s.search_objects.clone(), s.statistics.clone(), s.operators.clone(), casts);
            (s.namespaces.clone(), s.routines.clone(), functions, types, others)
        };
        (rest(self) != rest(other)).then(|| format!("{:#?}\n{:#?}", rest(self), rest(other)))
    }
}

/// Types with all their parts looked up, each once.
struct Parts<'a> {
    snapshot: &'a Snapshot,
    /// The temporary objects, where they count.
    beside: Option<&'a Snapshot>,
    /// `None` for what is not there, and for what is being looked up: a type that another program has put into itself
    /// stays without that part.
    found: RefCell<HashMap<u32, Option<Arc<UserType>>>>,
}

impl<'a> Parts<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, beside: None, found: RefCell::default() }
    }

    /// The type with this object id, be it one of a relation's rows.
    fn find(&self, oid: u32) -> Option<Arc<UserType>> {
        if let Some(found) = self.found.borrow().get(&oid) {
            return found.clone();
        }
        self.found.borrow_mut().insert(oid, None);
        let mut ty = match self.snapshot.user_type_by_oid(oid) {
            Some(known) => known.clone(),
            None => {
                let (relation, _) = composite::relation_of_row_type(oid)?;
                let temporary = || self.beside?.relation_by_oid(relation);
                Arc::new(composite::row_type(self.snapshot.relation_by_oid(relation).or_else(temporary)?))
            }
        };
        if user_type::has_late_parts(&ty.kind) {
            user_type::resolve_parts(&mut Arc::make_mut(&mut ty).kind, &|oid| self.find(oid));
        }
        self.found.borrow_mut().insert(oid, Some(ty.clone()));
        Some(ty)
    }
}
