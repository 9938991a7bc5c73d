//! The schema of a file, as one immutable description.

mod load;
pub mod metadata;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowferry_dialect::schema::{NamedType, QualifiedName, Relation, Routine, Sequence};
use rowferry_dialect::{Language, Schema, Type};

pub use load::load;

/// The default namespace.
pub const PUBLIC: &str = "public";
/// The namespace of temporary objects.
pub const PG_TEMP: &str = "pg_temp";
/// PostgreSQL's catalogs.
pub const PG_CATALOG: &str = "pg_catalog";
/// The standard's catalogs.
pub const INFORMATION_SCHEMA: &str = "information_schema";
/// Informix's catalogs.
pub const INFORMIX: &str = "informix";

/// The objects of one SQLite database (`main`, or a session's `temp`) at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// No two snapshots of a process have the same.
    pub generation: u64,
    /// SQLite's schema cookie at that moment.
    pub cookie: i64,
    /// Tables and views, by name.
    pub relations: Vec<Arc<Relation>>,
    /// What a relation does not say about itself; by its oid.
    pub details: HashMap<u32, Details>,
    /// Sequences, by name.
    pub sequences: Vec<Arc<SequenceDetails>>,
    /// Namespaces made by users.
    pub namespaces: Vec<Namespace>,
    /// Routines, oldest first.
    pub routines: Vec<Arc<Routine>>,
    /// Named types, oldest first.
    pub types: Vec<Arc<NamedType>>,
    /// Informix's synonyms.
    pub synonyms: Vec<Synonym>,
    by_name: HashMap<String, Vec<usize>>,
    by_oid: HashMap<u32, usize>,
}

/// What catalogs tell about a relation beyond what the compiler needs.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// COMMENT ON TABLE.
    pub comment: Option<String>,
    /// COMMENT ON COLUMN, by position.
    pub column_comments: HashMap<usize, String>,
    /// The statement that SQLite keeps.
    pub sql: Option<String>,
    /// The relation has an entry in the metadata tables.
    pub recorded: bool,
    /// Lowered text of checks that the engine enforces, by constraint.
    pub engine_checks: Vec<(String, String)>,
    /// Names of SQLite triggers on it.
    pub triggers: Vec<(String, String)>,
    /// SQLite keeps a view of it that the shell can read.
    pub native_view: bool,
    /// SQLite's names of its indexes, by position in `Relation::indexes`; empty for a rowid.
    pub index_names: Vec<String>,
    /// How many columns each foreign key's position has: `pragma_foreign_key_list`'s id, by position.
    pub foreign_key_ids: Vec<i64>,
}

/// A sequence with its parameters; its state is read from the file.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceDetails {
    /// What the compiler sees.
    pub sequence: Arc<Sequence>,
    /// SQLite's database.
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
    /// SQLite's rowid numbers the column; the state is in `sqlite_sequence` under this table name.
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
}

/// A namespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Namespace {
    /// Object id.
    pub oid: u32,
    /// Name.
    pub name: String,
}

/// The next generation.
pub fn next_generation() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(1);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

impl Snapshot {
    /// Builds the look-up tables and gives the snapshot its generation.
    fn finish(mut self) -> Self {
        self.generation = next_generation();
        self.relations.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        self.sequences.sort_by(|a, b| a.sequence.name.cmp(&b.sequence.name));
        self.routines.sort_by_key(|routine| routine.oid);
        self.types.sort_by_key(|ty| ty.oid);
        for (at, relation) in self.relations.iter().enumerate() {
            self.by_name.entry(relation.name.to_lowercase()).or_default().push(at);
            self.by_oid.insert(relation.oid, at);
        }
        self
    }

    /// The relation of this name in a namespace; an exact match wins over one in other case.
    pub fn relation(&self, namespace: &str, name: &str) -> Option<&Arc<Relation>> {
        let candidates = self.by_name.get(&name.to_lowercase())?.iter().map(|&at| &self.relations[at]);
        let mut of_namespace = candidates.filter(|relation| relation.namespace.eq_ignore_ascii_case(namespace));
        let first = of_namespace.next()?;
        if first.name == name { Some(first) } else { Some(of_namespace.find(|r| r.name == name).unwrap_or(first)) }
    }

    /// The relation with this object id.
    pub fn relation_by_oid(&self, oid: u32) -> Option<&Arc<Relation>> {
        self.by_oid.get(&oid).map(|&at| &self.relations[at])
    }

    /// The relation that SQLite knows by this name.
    pub fn relation_by_physical_name(&self, name: &str) -> Option<&Arc<Relation>> {
        self.relations.iter().find(|relation| relation.physical_name.eq_ignore_ascii_case(name))
    }

    /// A sequence in a namespace.
    pub fn sequence(&self, namespace: &str, name: &str) -> Option<&Arc<SequenceDetails>> {
        self.sequences.iter().find(|details| {
            details.sequence.namespace.eq_ignore_ascii_case(namespace)
                && details.sequence.name.eq_ignore_ascii_case(name)
        })
    }

    /// An index by name in a namespace.
    pub fn index(&self, namespace: &str, name: &str) -> Option<(&Arc<Relation>, usize)> {
        let of_namespace = self.relations.iter().filter(|relation| relation.namespace.eq_ignore_ascii_case(namespace));
        of_namespace
            .filter_map(|relation| {
                let at = relation.indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name))?;
                Some((relation, at))
            })
            .next()
    }

    /// What else is known about a relation.
    pub fn details(&self, oid: u32) -> Option<&Details> {
        self.details.get(&oid)
    }
}

/// The schema as one session sees it: the file's, its own temporary objects, and the catalogs, along its search path.
#[derive(Clone, Debug)]
pub struct SessionSchema {
    /// The file's.
    pub main: Arc<Snapshot>,
    /// The session's temporary objects.
    pub temp: Arc<Snapshot>,
    /// Where names without a schema are looked for.
    pub search_path: Arc<[String]>,
    /// The session's language decides which catalogs need no schema.
    pub language: Language,
}

impl SessionSchema {
    /// A schema without anything.
    pub fn empty() -> Self {
        Self { main: Arc::default(), temp: Arc::default(), search_path: Arc::new([]), language: Language::Postgres }
    }

    /// The two snapshots.
    fn snapshots(&self) -> [&Arc<Snapshot>; 2] {
        [&self.temp, &self.main]
    }

    /// Looks a thing up along the search path.
    fn find<T>(&self, name: &QualifiedName, mut in_namespace: impl FnMut(&str, &str) -> Option<T>) -> Option<T> {
        if let Some(schema) = &name.schema {
            return in_namespace(schema, &name.name);
        }
        let found = in_namespace(PG_TEMP, &name.name);
        let implicit = if self.language == Language::Informix { INFORMIX } else { PG_CATALOG };
        let explicit = self.search_path.iter().any(|schema| schema == implicit);
        let found = found.or_else(|| if explicit { None } else { in_namespace(implicit, &name.name) });
        found.or_else(|| self.search_path.iter().find_map(|schema| in_namespace(schema, &name.name)))
    }

    /// The relation of a name.
    pub fn lookup(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        self.find(name, |namespace, name| {
            let catalog = || crate::catalog::relation(namespace, name);
            let temporary = if namespace == PG_TEMP { self.temp.relation(PG_TEMP, name) } else { None };
            temporary.or_else(|| self.main.relation(namespace, name)).cloned().or_else(catalog)
        })
    }

    /// A sequence with its parameters.
    pub fn sequence_details(&self, name: &QualifiedName) -> Option<Arc<SequenceDetails>> {
        self.find(name, |namespace, name| {
            self.snapshots().into_iter().find_map(|snapshot| snapshot.sequence(namespace, name)).cloned()
        })
    }

    /// What else is known about a relation.
    pub fn details(&self, oid: u32) -> Option<&Details> {
        self.temp.details(oid).or_else(|| self.main.details(oid))
    }

    /// Every table and view of users, temporary ones included.
    pub fn user_relations(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.main.relations.iter().chain(&self.temp.relations)
    }

    /// Every sequence.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceDetails>> {
        self.main.sequences.iter().chain(&self.temp.sequences)
    }
}

impl Schema for SessionSchema {
    fn generation(&self) -> u64 {
        // A session with temporary objects has plans of its own.
        if self.temp.relations.is_empty() && self.temp.sequences.is_empty() {
            self.main.generation
        } else {
            // Both are unique numbers of one counter; their mixture is unique as long as neither reaches 2^32.
            self.temp.generation << 32 | (self.main.generation & 0xffff_ffff)
        }
    }

    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        self.lookup(name)
    }

    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>> {
        let mut snapshots = self.snapshots().into_iter();
        let user = snapshots.find_map(|snapshot| snapshot.relation_by_oid(oid)).cloned();
        user.or_else(|| crate::catalog::relation_by_oid(oid))
    }

    fn has_namespace(&self, name: &str) -> bool {
        matches!(name, PUBLIC | PG_CATALOG | INFORMATION_SCHEMA | PG_TEMP | INFORMIX)
            || self.main.namespaces.iter().any(|namespace| namespace.name == name)
    }

    fn creation_namespace(&self) -> Option<String> {
        self.search_path.iter().find(|name| self.has_namespace(name) && !is_system(name)).cloned()
    }

    fn sequence(&self, name: &QualifiedName) -> Option<Arc<Sequence>> {
        self.sequence_details(name).map(|details| details.sequence.clone())
    }

    fn synonym(&self, name: &QualifiedName) -> Option<QualifiedName> {
        self.find(name, |namespace, name| {
            let found = self
                .main
                .synonyms
                .iter()
                .find(|synonym| synonym.namespace == namespace && synonym.name.eq_ignore_ascii_case(name));
            found.map(|synonym| synonym.target.clone())
        })
    }

    fn sequence_definition(&self, name: &QualifiedName) -> Option<rowferry_dialect::ir::CreateSequence> {
        let details = self.sequence_details(name)?;
        Some(rowferry_dialect::ir::CreateSequence {
            name: QualifiedName::new(details.sequence.namespace.clone(), details.sequence.name.clone()),
            if_not_exists: false,
            ty: details.sequence.ty.clone(),
            start: details.start,
            increment: details.increment,
            min: details.min,
            max: details.max,
            cycle: details.cycle,
        })
    }

    fn index(&self, name: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        self.find(name, |namespace, name| {
            let mut snapshots = self.snapshots().into_iter();
            snapshots.find_map(|snapshot| snapshot.index(namespace, name)).map(|(relation, at)| (relation.clone(), at))
        })
    }

    fn routines(&self, name: &str) -> Vec<Arc<Routine>> {
        // Nearly every call of a built-in function asks.
        if self.main.routines.is_empty() {
            return Vec::new();
        }
        self.main.routines.iter().filter(|routine| routine.name.eq_ignore_ascii_case(name)).cloned().collect()
    }

    fn all_routines(&self) -> Vec<Arc<Routine>> {
        self.main.routines.clone()
    }

    fn named_types(&self) -> Vec<Arc<NamedType>> {
        self.main.types.clone()
    }
}

/// A namespace in which users create nothing.
pub fn is_system(name: &str) -> bool {
    matches!(name, PG_CATALOG | INFORMATION_SCHEMA | INFORMIX)
}

/// SQLite's name of an object of a namespace.
pub fn physical_name(namespace: &str, name: &str) -> String {
    if namespace == PUBLIC || namespace == PG_TEMP { name.to_owned() } else { format!("{namespace}.{name}") }
}

/// The range of a sequence of a type.
pub fn integer_range(ty: &Type) -> (i64, i64) {
    match ty {
        Type::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}
