//! The schema of a file, as one immutable description.

mod foreign_keys;
mod neighbours;
mod ordered;
mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowferry_dialect::access::{BOOTSTRAP, Identity, ObjectClass, Privileges, Rights};
use rowferry_dialect::collation::Collation;
use rowferry_dialect::extension::{Installed, PG_STAT_STATEMENTS};
use rowferry_dialect::schema::{
    Column, NamedType, Physical, Policy, QualifiedName, Relation, RelationKind, Routine, Rule, Sequence,
};
use rowferry_dialect::statistics::StatisticsObject;
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::text_search::{self, Kind, SearchObject};
use rowferry_dialect::user_cast::UserCast;
use rowferry_dialect::user_operator::UserOperator;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::uses::Dependency;
use rowferry_dialect::{Language, Result, Schema, Type};

pub use crate::backend::schema::rows_read;
pub(crate) use crate::backend::schema::{
    DEFERRABLE, INDEX_METHOD, MATERIALIZED_VIEW, NO_INHERIT, NOT_VALID, NULLS_ALIKE, PRIMARY, TWIN, Touched,
    UNPOPULATED, load, metadata,
};
pub use neighbours::{Neighbours, Reached, original_of, seen_by};
pub use snapshot::{Details, Namespace, Properties, SequenceDetails, Snapshot, Synonym, lower_case};

/// The default namespace.
pub const PUBLIC: &str = "public";
/// The namespace of temporary objects.
pub const PG_TEMP: &str = "pg_temp";
/// Where PostgreSQL keeps long values; nothing is there.
pub const PG_TOAST: &str = "pg_toast";
/// PostgreSQL's catalogs.
pub const PG_CATALOG: &str = "pg_catalog";
/// The standard's catalogs.
pub const INFORMATION_SCHEMA: &str = "information_schema";
/// Informix's catalogs.
pub const INFORMIX: &str = "informix";

/// The next generation.
pub fn next_generation() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(1);
    COUNTER.fetch_add(1, Ordering::Relaxed)
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
    /// The name with which the client has logged in.
    pub user: Arc<str>,
    /// Who asks.
    pub identity: Identity,
    /// Transition tables of the trigger that runs.
    pub overlay: Option<Arc<Overlay>>,
    /// The databases beside it, as far as the session may look into them.
    pub neighbours: Neighbours,
}

/// Relations that hide others for a while.
#[derive(Debug)]
pub struct Overlay {
    generation: u64,
    relations: Vec<Arc<Relation>>,
}

impl Overlay {
    /// These relations.
    pub fn new(relations: Vec<Arc<Relation>>) -> Self {
        Self { generation: next_generation(), relations }
    }

    /// The same over another schema.
    pub fn renewed(&self) -> Self {
        Self::new(self.relations.clone())
    }

    fn find(&self, name: &QualifiedName) -> Option<&Arc<Relation>> {
        if name.schema.is_some() {
            return None;
        }
        self.relations.iter().find(|relation| relation.name == name.name)
    }
}

impl SessionSchema {
    /// A schema without anything.
    pub fn empty() -> Self {
        Self {
            main: Arc::default(),
            temp: Arc::default(),
            search_path: Arc::new([]),
            language: Language::Postgres,
            overlay: None,
            neighbours: Neighbours::default(),
            user: "".into(),
            identity: Identity::default(),
        }
    }

    /// What the session may do.
    pub fn rights(&self) -> Rights {
        Rights {
            identity: self.identity,
            roles: self.identity.seen_by(&self.main.roles),
            main: self.main.grants.clone(),
            temp: self.temp.grants.clone(),
        }
    }

    /// Something may be refused to whoever asks.
    pub fn is_restricted(&self) -> bool {
        !self.main.roles.is_superuser(self.identity.current)
    }

    /// Whose an object is to Informix's clients, where that is known: of whomever the statement named that made it, of its
    /// owner in a file with roles.
    pub fn informix_owner(&self, oid: u32) -> Option<String> {
        let declared =
            self.details(oid).and_then(|details| details.properties.get("", rowferry_dialect::informix::OWNER));
        match declared {
            Some(declared) => Some(declared.to_owned()),
            None if self.main.roles.is_simple() => None,
            None => self.role_name(self.rights().owner(oid)),
        }
    }

    /// A role's name; in a file without other roles the bootstrap superuser is whoever has connected.
    pub fn role_name(&self, oid: u32) -> Option<String> {
        if oid == BOOTSTRAP && self.main.roles.is_simple() {
            return Some(self.user.to_string());
        }
        self.main.roles.name(oid).map(str::to_owned)
    }

    /// The role of a name.
    pub fn role_oid(&self, name: &str) -> Option<u32> {
        let roles = &self.main.roles;
        roles.oid(name).or_else(|| (roles.is_simple() && *self.user == *name).then_some(BOOTSTRAP))
    }

    /// A namespace's object id.
    pub fn namespace_oid(&self, name: &str) -> u32 {
        crate::catalog::names::namespace_oid(self, name)
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
        // What may not be used is not looked into.
        let restricted = self.is_restricted();
        let mut path = self.search_path.iter().filter(|schema| !restricted || self.may(schema, Privileges::USAGE));
        found.or_else(|| path.find_map(|schema| in_namespace(schema, &name.name)))
    }

    fn synonym_named(&self, name: &QualifiedName) -> Option<Synonym> {
        if self.main.synonyms.is_empty() {
            return None;
        }
        self.find(name, |namespace, name| {
            let mut synonyms = self.main.synonyms.iter();
            synonyms.find(|synonym| synonym.namespace == namespace && synonym.name.eq_ignore_ascii_case(name)).cloned()
        })
    }

    /// The relation of a name.
    pub fn lookup(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        if let Some(found) = self.overlay.as_ref().and_then(|overlay| overlay.find(name)) {
            return Some(found.clone());
        }
        self.find(name, |namespace, name| {
            // MySQL's catalogs stand under names that others have, too.
            if self.language == Language::Mysql
                && let Some(found) = crate::catalog::mysql::relation(namespace, name)
            {
                return Some(found);
            }
            let is_hidden =
                namespace == crate::catalog::pg_stat_statements::HERE || crate::catalog::mysql::is_ours(namespace);
            let catalog = || crate::catalog::relation(namespace, name).filter(|_| !is_hidden);
            // MySQL's temporary tables belong to a database, and hide what is there.
            let has_temporary = namespace == PG_TEMP || self.language == Language::Mysql && namespace == PUBLIC;
            let temporary = if has_temporary { self.temp.relation(PG_TEMP, name) } else { None };
            let temporary = temporary.map(|relation| self.with_types(relation));
            let own = temporary.or_else(|| self.main.relation(namespace, name).cloned());
            let of_extension = || {
                let mut installed = self.main.extensions.iter().filter(|extension| extension.namespace == namespace);
                let has = installed.any(|extension| extension.name() == PG_STAT_STATEMENTS);
                has.then(|| crate::catalog::pg_stat_statements::view(namespace, name)).flatten()
            };
            own.or_else(catalog).or_else(of_extension).or_else(|| {
                let mut snapshots = self.snapshots().into_iter();
                snapshots.find_map(|snapshot| snapshot.sequence(namespace, name)).map(|found| sequence_row(found))
            })
        })
    }

    /// A temporary table, the users' types of its columns looked up.
    /// Functions that users have made, the session's own among them.
    pub fn stored_functions(&self) -> impl Iterator<Item = &Arc<StoredFunction>> {
        self.main.functions.iter().chain(self.temp.functions.iter())
    }

    /// True where users have made functions.
    pub fn has_functions(&self) -> bool {
        !self.main.functions.is_empty() || !self.temp.functions.is_empty()
    }

    /// A function with its types: what is temporary is read without those that everybody has.
    fn known(&self, function: &Arc<StoredFunction>) -> Arc<StoredFunction> {
        match &*function.namespace == PG_TEMP && !self.main.user_types.is_empty() {
            true => Arc::new(function.renewed(&self.main.user_types)),
            false => function.clone(),
        }
    }

    fn with_types(&self, relation: &Arc<Relation>) -> Arc<Relation> {
        if !relation.columns.iter().any(|column| column.ty.has_user_type()) {
            return relation.clone();
        }
        let mut relation = Relation::clone(relation);
        self.main.resolve_types_of_temporary(&mut relation, &self.temp);
        Arc::new(relation)
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
        self.main.relations().chain(self.temp.relations())
    }

    /// The tables with an index or a constraint of this object id.
    pub fn relations_with_part(&self, oid: u32) -> impl Iterator<Item = &Arc<Relation>> {
        [&self.main, &self.temp].into_iter().flat_map(move |snapshot| snapshot.relations_with_part(oid))
    }

    /// The table with this index, and where it stands among the table's.
    pub fn index_by_oid(&self, oid: u32) -> Option<(&Arc<Relation>, usize)> {
        self.relations_with_part(oid).find_map(|relation| {
            let at = relation.indexes.iter().position(|index| index.oid == oid)?;
            Some((relation, at))
        })
    }

    /// The name of the relation or index with an object id.
    pub fn class_name(&self, oid: u32) -> Option<String> {
        crate::catalog::names::class_name(self, oid).map(|(_, name)| name)
    }

    /// Every sequence.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceDetails>> {
        self.main.sequences().chain(self.temp.sequences())
    }

    /// The sequence with this object id.
    pub fn sequence_by_oid(&self, oid: u32) -> Option<&Arc<SequenceDetails>> {
        self.snapshots().into_iter().find_map(|snapshot| snapshot.sequence_by_oid(oid))
    }

    /// The sequences that number columns of a relation.
    pub fn sequences_of(&self, relation: u32) -> impl Iterator<Item = &Arc<SequenceDetails>> {
        self.snapshots().into_iter().flat_map(move |snapshot| snapshot.sequences_of(relation))
    }

    /// The columns that a sequence numbers by their default or as their identity.
    pub fn numbered_by(&self, sequence: &Sequence) -> Vec<(Arc<Relation>, usize)> {
        let snapshots = self.snapshots().into_iter();
        snapshots.flat_map(|snapshot| snapshot.numbered_by(&sequence.namespace, &sequence.name)).collect()
    }

    /// The tables with a foreign key to this one.
    pub fn children(&self, parent: &Relation) -> impl Iterator<Item = &Arc<Relation>> {
        // Foreign keys stay within a database.
        let snapshot = if parent.is_temporary() { &self.temp } else { &self.main };
        snapshot.children(parent)
    }

    /// Every policy, with its table.
    pub fn policies(&self) -> impl Iterator<Item = (&Arc<Relation>, &Arc<Policy>)> {
        self.main.policies().chain(self.temp.policies())
    }

    /// Every rule, with its relation.
    pub fn rules(&self) -> impl Iterator<Item = (&Arc<Relation>, &Arc<Rule>)> {
        self.main.rules().chain(self.temp.rules())
    }

    /// The views that need an object, each with what it needs.
    pub fn users(&self, oid: u32) -> impl Iterator<Item = (&Arc<Relation>, &[Dependency])> {
        self.snapshots().into_iter().flat_map(move |snapshot| snapshot.users(oid))
    }
}

impl Schema for SessionSchema {
    fn generation(&self) -> u64 {
        if let Some(overlay) = &self.overlay {
            return 1 << 63 | overlay.generation;
        }
        // A session with temporary objects has plans of its own.
        if self.temp.is_empty() {
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
        let temporary = self.temp.relation_by_oid(oid).map(|relation| self.with_types(relation));
        let user = temporary.or_else(|| self.main.relation_by_oid(oid).cloned());
        let shown = || self.overlay.as_ref()?.relations.iter().find(|relation| relation.oid == oid).cloned();
        user.or_else(shown).or_else(|| crate::catalog::relation_by_oid(oid))
    }

    fn class_name(&self, oid: u32) -> Option<(String, String)> {
        crate::catalog::names::class_name(self, oid)
    }

    fn heirs(&self, oid: u32) -> Vec<Arc<Relation>> {
        let mut heirs: Vec<_> =
            self.snapshots().into_iter().flat_map(|snapshot| snapshot.heirs(oid)).cloned().collect();
        heirs.sort_by_key(|heir| heir.oid);
        heirs
    }

    fn has_namespace(&self, name: &str) -> bool {
        matches!(name, PUBLIC | PG_CATALOG | INFORMATION_SCHEMA | PG_TEMP | PG_TOAST | INFORMIX)
            || self.main.namespaces.iter().any(|namespace| namespace.name == name)
    }

    fn creation_namespace(&self) -> Option<String> {
        let restricted = self.is_restricted();
        let usable = |name: &String| !restricted || self.may(name, Privileges::USAGE);
        self.search_path.iter().find(|name| self.has_namespace(name) && !is_system(name) && usable(name)).cloned()
    }

    fn rights(&self) -> Rights {
        Self::rights(self)
    }

    fn may(&self, namespace: &str, wanted: Privileges) -> bool {
        // A session may do in its own temporary schema what it likes.
        if !self.is_restricted() || namespace == PG_TEMP {
            return true;
        }
        // Types that tables of everybody have.
        if namespace == rowferry_dialect::mysql::types::SCHEMA && wanted == Privileges::USAGE {
            return true;
        }
        match self.namespace_oid(namespace) {
            0 => true,
            oid => self.rights().may(ObjectClass::Schema, oid, wanted),
        }
    }

    fn sequence(&self, name: &QualifiedName) -> Option<Arc<Sequence>> {
        self.sequence_details(name).map(|details| details.sequence.clone())
    }

    fn is_owned_by(&self, oid: u32, name: &str) -> bool {
        // What was made before there were roles is everybody's, of whom catalogs said that it is informix.
        let before = || name == crate::schema::INFORMIX && self.rights().owner(oid) == BOOTSTRAP;
        let declared = self
            .details(oid)
            .is_some_and(|details| details.properties.get("", rowferry_dialect::informix::OWNER).is_some());
        self.informix_owner(oid).is_none_or(|owner| owner.eq_ignore_ascii_case(name) || !declared && before())
    }

    fn synonym(&self, name: &QualifiedName) -> Option<QualifiedName> {
        self.synonym_named(name).filter(|found| found.elsewhere.is_none()).map(|found| found.target)
    }

    fn synonym_elsewhere(&self, name: &QualifiedName) -> Option<(String, QualifiedName)> {
        let found = self.synonym_named(name)?;
        Some((found.elsewhere?, found.target))
    }

    fn neighbour(&self, name: &str) -> Result<Arc<dyn Schema>> {
        // What is entered as `sysmaster` has a name of its own, too.
        Ok(self.neighbours.schema(name, &self.user)?.unwrap_or_else(|| Arc::new(self.clone())))
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
            cache: details.cache,
            cycle: details.cycle,
            owner: None,
        })
    }

    fn table_property(&self, oid: u32, name: &str) -> Option<String> {
        self.details(oid).and_then(|details| details.properties.get("", name)).map(str::to_owned)
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

    fn functions(&self, name: &QualifiedName) -> Vec<Arc<StoredFunction>> {
        // Nearly every call of a built-in function asks.
        if !self.has_functions() {
            return Vec::new();
        }
        let of = |namespace: &String| -> Vec<Arc<StoredFunction>> {
            let all = if namespace == PG_TEMP { &self.temp.functions } else { &self.main.functions };
            let found = all.iter().filter(|function| function.name == name.name && function.namespace == *namespace);
            found.map(|function| self.known(function)).collect()
        };
        match &name.schema {
            Some(namespace) => of(namespace),
            None => {
                let restricted = self.is_restricted();
                let usable = |schema: &&String| !restricted || self.may(schema, Privileges::USAGE);
                // Nobody calls a temporary function who does not say so.
                let path = self.search_path.iter().filter(|schema| *schema != PG_TEMP);
                path.filter(usable).flat_map(of).collect()
            }
        }
    }

    fn function_by_oid(&self, oid: u32) -> Option<Arc<StoredFunction>> {
        self.stored_functions().find(|function| function.oid == oid).map(|function| self.known(function))
    }

    fn triggered(&self) -> Vec<Arc<Relation>> {
        self.main.triggered().chain(self.temp.triggered()).cloned().collect()
    }

    fn all_routines(&self) -> Vec<Arc<Routine>> {
        self.main.routines.to_vec()
    }

    fn user_type(&self, name: &QualifiedName) -> Option<Arc<UserType>> {
        if self.main.user_types.is_empty() {
            return None;
        }
        self.find(name, |namespace, name| {
            let mut types = self.main.user_types.iter();
            types.find(|ty| ty.namespace == namespace && ty.name == name).cloned()
        })
    }

    fn user_type_by_oid(&self, oid: u32) -> Option<Arc<UserType>> {
        if let Some(known) = self.main.user_type_by_oid(oid) {
            return Some(known.clone());
        }
        if let Some((relation, false)) = rowferry_dialect::composite::relation_of_row_type(oid) {
            let relation = self.relation_by_oid(relation)?;
            return Some(Arc::new(rowferry_dialect::composite::row_type(&relation)));
        }
        crate::catalog::standard_types::by_oid(oid)
    }

    fn extensions(&self) -> &[Arc<Installed>] {
        &self.main.extensions
    }

    fn collation(&self, name: &QualifiedName) -> Option<Arc<Collation>> {
        if self.main.collations.is_empty() {
            return None;
        }
        self.find(name, |namespace, name| {
            let mut collations = self.main.collations.iter();
            collations.find(|known| known.namespace == namespace && known.name == name).cloned()
        })
    }

    fn collation_by_oid(&self, oid: u32) -> Option<Arc<Collation>> {
        let own = || self.main.collations.iter().find(|made| made.oid == oid);
        own().or_else(|| Collation::by_oid(oid)).cloned()
    }

    fn search_object(&self, kind: Kind, name: &QualifiedName) -> Option<Arc<SearchObject>> {
        self.find(name, |namespace, name| {
            if namespace == PG_CATALOG {
                return text_search::built_in_named(kind, name).cloned();
            }
            let mut objects = self.main.search_objects.iter().filter(|object| object.kind() == kind);
            objects.find(|object| object.namespace == namespace && object.name == name).cloned()
        })
    }

    fn search_object_by_oid(&self, oid: u32) -> Option<Arc<SearchObject>> {
        let own = || self.main.search_objects.iter().find(|object| object.oid == oid);
        text_search::built_in_by_oid(oid).or_else(own).cloned()
    }

    fn statistics_object(&self, name: &QualifiedName) -> Option<Arc<StatisticsObject>> {
        if self.main.statistics.is_empty() {
            return None;
        }
        self.find(name, |namespace, name| {
            let mut objects = self.main.statistics.iter();
            objects.find(|known| known.namespace == namespace && known.name == name).cloned()
        })
    }

    fn operators(&self, name: &QualifiedName) -> Vec<Arc<UserOperator>> {
        if self.main.operators.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.find(name, |namespace, name| {
            let here = self.main.operators.iter().filter(|known| known.namespace == namespace && known.name == name);
            found.extend(here.cloned());
            None::<()>
        });
        found
    }

    fn operator_by_oid(&self, oid: u32) -> Option<Arc<UserOperator>> {
        self.main.operators.iter().find(|operator| operator.oid == oid).cloned()
    }

    fn casts(&self) -> &[UserCast] {
        &self.main.casts
    }

    fn dropped_casts(&self) -> &[UserCast] {
        &self.main.dropped_casts
    }

    fn is_in_path(&self, namespace: &str) -> bool {
        namespace == PG_CATALOG || self.search_path.iter().any(|name| name == namespace)
    }

    fn user_types(&self) -> Vec<Arc<UserType>> {
        self.main.user_types.to_vec()
    }

    fn informix_aggregate(&self, name: &str) -> Option<Arc<rowferry_dialect::informix::aggregates::UserAggregate>> {
        self.main.aggregates.iter().find(|aggregate| aggregate.name.eq_ignore_ascii_case(name)).cloned()
    }

    fn named_type(&self, name: &str) -> Option<Arc<NamedType>> {
        let distinct = || self.main.user_types.iter().find(|ty| ty.is_distinct() && ty.name.eq_ignore_ascii_case(name));
        let found = self.main.types.iter().find(|ty| ty.name.eq_ignore_ascii_case(name)).cloned();
        found.or_else(|| distinct().map(distinct_type))
    }

    fn named_types(&self) -> Vec<Arc<NamedType>> {
        let distinct = self.main.user_types.iter().filter(|ty| ty.is_distinct()).map(distinct_type);
        let mut types: Vec<_> = self.main.types.iter().cloned().chain(distinct).collect();
        types.sort_by_key(|ty| ty.oid);
        types
    }

    fn informix_casts(&self) -> &[rowferry_dialect::informix::casts::InformixCast] {
        &self.main.informix_casts
    }
}

/// A DISTINCT type under its name.
fn distinct_type(ty: &Arc<UserType>) -> Arc<NamedType> {
    let (oid, name) = (ty.oid, ty.name.clone());
    Arc::new(NamedType { oid, name, is_row: false, ty: Type::User(ty.clone()) })
}

/// A sequence as the table of one row that it can be read as.
fn sequence_row(details: &SequenceDetails) -> Arc<Relation> {
    let Sequence { oid, namespace, name, .. } = &*details.sequence;
    let column = |name: &str, ty: Type| Column {
        name: name.to_owned(),
        ty,
        not_null: true,
        default: None,
        identity: None,
        generated: None,
        row_identity: false,
        collation: None,
    };
    Arc::new(Relation {
        oid: *oid,
        namespace: namespace.clone(),
        name: name.clone(),
        physical: Physical { database: details.database, name: physical_name(namespace, name) },
        language: Language::Postgres,
        kind: RelationKind::Sequence {
            definition: format!(
                "SELECT pg_sequence_state({oid}, 0) AS last_value, pg_sequence_state({oid}, 1) AS log_cnt, \
                 pg_sequence_state({oid}, 2) <> 0 AS is_called"
            ),
        },
        columns: vec![column("last_value", Type::Int8), column("log_cnt", Type::Int8), column("is_called", Type::Bool)],
        dropped: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        triggers: Vec::new(),
        heritage: None,
        partitioning: None,
        security: None,
        rules: Vec::new(),
        without_identity: false,
    })
}

/// A namespace in which users create nothing.
pub fn is_system(name: &str) -> bool {
    matches!(name, PG_CATALOG | INFORMATION_SCHEMA | PG_TOAST | INFORMIX)
}

/// The back end's name of an object of a namespace.
pub fn physical_name(namespace: &str, name: &str) -> String {
    if namespace == PUBLIC || namespace == PG_TEMP { name.to_owned() } else { format!("{namespace}.{name}") }
}

/// The type of the sequence that numbers a column: what a domain is over.
pub fn counted(ty: &Type) -> Type {
    match ty {
        Type::User(user) => user.stored_as().map_or(Type::Int8, |stored| stored.through_domains().clone()),
        ty => ty.clone(),
    }
}

/// The range of a sequence of a type.
pub fn integer_range(ty: &Type) -> (i64, i64) {
    match ty {
        Type::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}
