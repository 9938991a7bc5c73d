//! The databases beside a session's own, as its statements may name them: `other:table` at the Informix door.
//!
//! A relation of another database is the one that is known there, with two differences: the back end finds it in that
//! database's file, which the session's handle has beside its own under [`Reached::alias`], and its object id is one that
//! nothing of the session's own database has. Neither outlives the process: nothing of it is written anywhere.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;
use rowferry_dialect::access::{Privileges, Rights};
use rowferry_dialect::collation::Collation;
use rowferry_dialect::extension::Installed;
use rowferry_dialect::schema::{NamedType, QualifiedName, Relation, RelationKind, Routine, Sequence};
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Condition, Error, Language, Result, Schema};

use super::{PUBLIC, SessionSchema, Snapshot};
use crate::database::Shared;
use crate::databases::Siblings;
use crate::{Database, Logging};

/// Whether a session may look into a database.
type Admits = Box<dyn Fn(&Database) -> Result<()> + Send + Sync>;

/// The databases that a session may look into, besides its own. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Neighbours(Option<Arc<Inner>>);

struct Inner {
    own: Weak<Shared>,
    siblings: Siblings,
    admits: Admits,
    /// Those that the statement names that is being compiled.
    reached: Mutex<Vec<Reached>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("reached", &self.reached).finish_non_exhaustive()
    }
}

/// Another database, as a statement was compiled against it.
#[derive(Clone, Debug)]
pub struct Reached {
    /// Its name.
    pub name: String,
    /// What the back end calls its file.
    pub alias: &'static str,
    /// Its schema's generation.
    pub generation: u64,
    /// It itself: another one may have its name later.
    pub database: Weak<Shared>,
}

/// Object ids of what is elsewhere begin here: above the arrays of temporary tables' rows, below those that are derived.
const FIRST_OID: u32 = 0x3c00_0000;

/// What this process calls other databases and what is in them.
#[derive(Default)]
struct Registry {
    aliases: HashMap<String, &'static str>,
    numbers: HashMap<(&'static str, u32), u32>,
    originals: Vec<(&'static str, u32)>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

impl Registry {
    /// What the back end calls a database's file; one for each name that a database has ever had here.
    fn alias(&mut self, name: &str) -> &'static str {
        if let Some(known) = self.aliases.get(name) {
            return known;
        }
        let alias: &'static str = Box::leak(format!("rowferry_{}", self.aliases.len()).into_boxed_str());
        self.aliases.insert(name.to_owned(), alias);
        alias
    }

    fn number(&mut self, alias: &'static str, oid: u32) -> u32 {
        let next = FIRST_OID + self.originals.len() as u32;
        let number = *self.numbers.entry((alias, oid)).or_insert(next);
        if number == next {
            self.originals.push((alias, oid));
        }
        number
    }
}

/// Where an object of another database is, and its object id there.
pub fn original_of(oid: u32) -> Option<(&'static str, u32)> {
    let at = oid.checked_sub(FIRST_OID)?;
    REGISTRY.lock().originals.get(at as usize).copied()
}

impl Neighbours {
    /// Those beside `own`, as far as `admits` lets.
    pub fn of(own: &Arc<Shared>, admits: Admits) -> Self {
        let Some(siblings) = own.siblings.get() else { return Self::default() };
        let (own, siblings) = (Arc::downgrade(own), siblings.clone());
        Self(Some(Arc::new(Inner { own, siblings, admits, reached: Mutex::default() })))
    }

    /// Forgets what statements have named.
    pub fn begin(&self) {
        if let Some(inner) = &self.0 {
            inner.reached.lock().clear();
        }
    }

    /// What has been named since [`Self::begin`].
    pub fn reached(&self) -> Vec<Reached> {
        self.0.as_ref().map(|inner| inner.reached.lock().clone()).unwrap_or_default()
    }

    /// A database by its name; `None` is the session's own.
    ///
    /// # Errors
    /// `3D000` (-329) when there is none or none can be reached, what the server says to whoever may not look into it,
    /// and -568 or -569 where one of both has transactions and the other has not, as servers have it.
    pub fn open(&self, name: &str) -> Result<Option<Database>> {
        let unknown = || {
            let message =
                format!("the database {name} is not the one that is open, and others cannot be reached from it");
            Error::new(Condition::InvalidCatalogName, message)
        };
        let inner = self.0.as_ref().ok_or_else(unknown)?;
        let databases = inner.siblings.databases().ok_or_else(unknown)?;
        let own = inner.own.upgrade().ok_or_else(unknown)?;
        let database = databases.open(name)?;
        if Arc::ptr_eq(&database.shared, &own) {
            return Ok(None);
        }
        (inner.admits)(&database)?;
        let logged = |logging: Logging| logging != Logging::None;
        match (logged(own.options.logging), logged(database.logging())) {
            (false, true) => Err(other_logging("with", -568)),
            (true, false) => Err(other_logging("without", -569)),
            _ => Ok(Some(database)),
        }
    }

    /// What is in a database; `None` is the session's own.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn schema(&self, name: &str, user: &Arc<str>) -> Result<Option<Arc<dyn Schema>>> {
        let Some(database) = self.open(name)? else { return Ok(None) };
        let alias = REGISTRY.lock().alias(name);
        let main = database.shared.current();
        if let Some(inner) = &self.0 {
            let mut reached = inner.reached.lock();
            let known = reached.iter().any(|known| known.alias == alias && known.generation == main.generation);
            if !known {
                let shared = Arc::downgrade(&database.shared);
                reached.push(Reached { name: name.to_owned(), alias, generation: main.generation, database: shared });
            }
        }
        Ok(Some(Arc::new(Elsewhere { schema: seen_by(main, user, self), alias })))
    }
}

/// A database's objects, as a user sees them who is not in it.
pub fn seen_by(main: Arc<Snapshot>, user: &Arc<str>, neighbours: &Neighbours) -> SessionSchema {
    let mut schema = SessionSchema {
        main,
        neighbours: neighbours.clone(),
        search_path: Arc::new([PUBLIC.to_owned()]),
        language: Language::Informix,
        user: user.clone(),
        ..SessionSchema::empty()
    };
    schema.begin_identity();
    schema
}

fn other_logging(has: &str, code: i16) -> Error {
    let message =
        format!("cannot reference an external database {has} logging: both have to have transactions, or none");
    Error::new(Condition::FeatureNotSupported, message).codes(code, 0)
}

/// What is in another database.
#[derive(Debug)]
struct Elsewhere {
    schema: SessionSchema,
    alias: &'static str,
}

impl Elsewhere {
    /// A relation as statements from outside see it; those that cannot be seen from there are not.
    fn told(&self, relation: &Arc<Relation>) -> Option<Arc<Relation>> {
        match relation.kind {
            RelationKind::Table | RelationKind::View { .. } | RelationKind::NativeView => {}
            // Their rows are made from what the session itself is in.
            RelationKind::Catalog | RelationKind::Sequence { .. } | RelationKind::MaterializedView { .. } => {
                return None;
            }
        }
        let mut told = Relation::clone(relation);
        told.oid = REGISTRY.lock().number(self.alias, relation.oid);
        told.physical.database = self.alias;
        // They are for whoever writes, and name things of that database.
        told.triggers.clear();
        told.foreign_keys.clear();
        told.checks.clear();
        // Its DISTINCT types are not of this database: what is read from it is of their source types.
        for column in &mut told.columns {
            column.ty = column.ty.without_distinct().clone();
        }
        Some(Arc::new(told))
    }
}

impl Schema for Elsewhere {
    fn generation(&self) -> u64 {
        self.schema.generation()
    }

    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        self.told(&self.schema.relation(name)?)
    }

    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>> {
        let (alias, original) = original_of(oid)?;
        if alias != self.alias {
            return None;
        }
        self.told(&self.schema.relation_by_oid(original)?)
    }

    fn has_namespace(&self, name: &str) -> bool {
        self.schema.has_namespace(name)
    }

    fn rights(&self) -> Rights {
        self.schema.rights()
    }

    fn may(&self, namespace: &str, wanted: Privileges) -> bool {
        Schema::may(&self.schema, namespace, wanted)
    }

    fn creation_namespace(&self) -> Option<String> {
        None
    }

    fn heirs(&self, _: u32) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn sequence(&self, _: &QualifiedName) -> Option<Arc<Sequence>> {
        None
    }

    fn is_owned_by(&self, oid: u32, name: &str) -> bool {
        Schema::is_owned_by(&self.schema, oid, name)
    }

    fn synonym(&self, name: &QualifiedName) -> Option<QualifiedName> {
        self.schema.synonym(name)
    }

    fn synonym_elsewhere(&self, name: &QualifiedName) -> Option<(String, QualifiedName)> {
        self.schema.synonym_elsewhere(name)
    }

    fn neighbour(&self, name: &str) -> Result<Arc<dyn Schema>> {
        let found = self.schema.neighbours.schema(name, &self.schema.user)?;
        found.ok_or_else(|| Error::unsupported(format!("a view of another database that reads {name}, the open one,")))
    }

    fn sequence_definition(&self, _: &QualifiedName) -> Option<rowferry_dialect::ir::CreateSequence> {
        None
    }

    fn index(&self, _: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        None
    }

    fn routines(&self, _: &str) -> Vec<Arc<Routine>> {
        Vec::new()
    }

    fn functions(&self, _: &QualifiedName) -> Vec<Arc<StoredFunction>> {
        Vec::new()
    }

    fn function_by_oid(&self, _: u32) -> Option<Arc<StoredFunction>> {
        None
    }

    fn triggered(&self) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn all_routines(&self) -> Vec<Arc<Routine>> {
        Vec::new()
    }

    fn user_type(&self, name: &QualifiedName) -> Option<Arc<UserType>> {
        self.schema.user_type(name)
    }

    fn user_type_by_oid(&self, oid: u32) -> Option<Arc<UserType>> {
        self.schema.user_type_by_oid(oid)
    }

    fn extensions(&self) -> &[Arc<Installed>] {
        self.schema.extensions()
    }

    fn collation(&self, name: &QualifiedName) -> Option<Arc<Collation>> {
        self.schema.collation(name)
    }

    fn is_in_path(&self, namespace: &str) -> bool {
        self.schema.is_in_path(namespace)
    }

    fn user_types(&self) -> Vec<Arc<UserType>> {
        self.schema.user_types()
    }

    fn named_type(&self, name: &str) -> Option<Arc<NamedType>> {
        self.schema.named_type(name)
    }

    fn informix_casts(&self) -> &[rowferry_dialect::informix::casts::InformixCast] {
        self.schema.informix_casts()
    }

    fn named_types(&self) -> Vec<Arc<NamedType>> {
        self.schema.named_types()
    }
}
