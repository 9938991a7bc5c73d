//! What a front end asks about the database.
//!
//! The engine implements [`Schema`] over one in-memory description of the file; tests implement it over a list.

use std::sync::Arc;

use crate::access::Privileges;
use crate::collation::Collation;
use crate::ir::{TriggerEvent, TriggerLevel, TriggerState, TriggerTime};
use crate::statistics::StatisticsObject;
use crate::text_search::{self, Kind, SearchObject};
use crate::user_cast::UserCast;
use crate::user_operator::UserOperator;
use crate::user_type::UserType;
use crate::{Condition, Error, Language, Result, Type};

/// A name as the user wrote it, folded by the dialect's rules, with the schema (or Informix owner) when given.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct QualifiedName {
    /// Schema, or `None` for the search path.
    pub schema: Option<String>,
    /// The object's own name.
    pub name: String,
}

/// The database as a front end sees it: one immutable snapshot.
///
/// No method answers by itself: whoever stands between a front end and a snapshot has to say what it passes on, or a
/// kind of object would silently not be there.
pub trait Schema {
    /// Grows with every change of the schema; part of a plan's key.
    fn generation(&self) -> u64;

    /// Finds a table, view or catalog table.
    ///
    /// A name without schema is looked for in the session's temporary tables, then along the search path, of which
    /// `pg_catalog` is an implicit first member. Names in a file are case-insensitive, so the comparison is too; an
    /// exact match wins.
    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>>;

    /// Finds a relation by its object id.
    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>>;

    /// True when a schema (namespace) of this name exists.
    fn has_namespace(&self, name: &str) -> bool;

    /// Who asks, and what roles may do.
    fn rights(&self) -> crate::access::Rights;

    /// Whether the role that asks has a privilege on a schema; true for one that is not there.
    fn may(&self, namespace: &str, wanted: Privileges) -> bool;

    /// The first schema of the search path, where objects without a schema are created; `None` when there is none.
    fn creation_namespace(&self) -> Option<String>;

    /// The tables that inherit directly from the one with this object id, oldest first.
    fn heirs(&self, oid: u32) -> Vec<Arc<Relation>>;

    /// Finds a sequence.
    fn sequence(&self, name: &QualifiedName) -> Option<Arc<Sequence>>;

    /// What a synonym stands for.
    fn synonym(&self, name: &QualifiedName) -> Option<QualifiedName>;

    /// A sequence's parameters, as CREATE SEQUENCE would say them.
    fn sequence_definition(&self, name: &QualifiedName) -> Option<crate::ir::CreateSequence>;

    /// Finds an index, by its name within a namespace.
    fn index(&self, name: &QualifiedName) -> Option<(Arc<Relation>, usize)>;

    /// Routines of users with this name, oldest first.
    fn routines(&self, name: &str) -> Vec<Arc<Routine>>;

    /// Functions that users have made in PostgreSQL's way with this name: along the search path when it is bare, those of
    /// an earlier schema first.
    fn functions(&self, name: &QualifiedName) -> Vec<Arc<crate::stored_function::StoredFunction>>;

    /// The function with this object id.
    fn function_by_oid(&self, oid: u32) -> Option<Arc<crate::stored_function::StoredFunction>>;

    /// Every routine of users, oldest first.
    fn all_routines(&self) -> Vec<Arc<Routine>>;

    /// A type that a user has made in PostgreSQL's way, along the search path when its name is bare.
    fn user_type(&self, name: &QualifiedName) -> Option<Arc<UserType>>;

    /// The type with this object id.
    fn user_type_by_oid(&self, oid: u32) -> Option<Arc<UserType>>;

    /// The extensions that are there, oldest first.
    fn extensions(&self) -> &[Arc<crate::extension::Installed>];

    /// A collation that a user has made, along the search path when its name is bare.
    fn collation(&self, name: &QualifiedName) -> Option<Arc<Collation>>;

    /// The collation with an object id.
    fn collation_by_oid(&self, oid: u32) -> Option<Arc<Collation>> {
        Collation::by_oid(oid).cloned()
    }

    /// A configuration or dictionary of text search, along the search path when its name is bare.
    fn search_object(&self, kind: Kind, name: &QualifiedName) -> Option<Arc<SearchObject>> {
        let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
        own.then(|| text_search::built_in_named(kind, &name.name).cloned()).flatten()
    }

    /// The configuration or dictionary of text search with an object id.
    fn search_object_by_oid(&self, oid: u32) -> Option<Arc<SearchObject>> {
        text_search::built_in_by_oid(oid).cloned()
    }

    /// An object of CREATE STATISTICS, along the search path when its name is bare.
    fn statistics_object(&self, _: &QualifiedName) -> Option<Arc<StatisticsObject>> {
        None
    }

    /// Operators that users have made with this name: along the search path when it is bare, those of an earlier schema
    /// first.
    fn operators(&self, _: &QualifiedName) -> Vec<Arc<UserOperator>> {
        Vec::new()
    }

    /// The users' operator with an object id.
    fn operator_by_oid(&self, _: u32) -> Option<Arc<UserOperator>> {
        None
    }

    /// Casts that users have made, oldest first.
    fn casts(&self) -> &[UserCast] {
        &[]
    }

    /// True for a schema in which bare names are looked for.
    fn is_in_path(&self, namespace: &str) -> bool;

    /// Every type that users have made in PostgreSQL's way, oldest first.
    fn user_types(&self) -> Vec<Arc<UserType>>;

    /// A type that users have given a name.
    fn named_type(&self, name: &str) -> Option<Arc<NamedType>>;

    /// Every type that users have given a name, oldest first.
    fn named_types(&self) -> Vec<Arc<NamedType>>;
}

/// What follows from the answers.
impl dyn Schema + '_ {
    /// Refuses a name in a schema into which the role that asks may not look.
    ///
    /// # Errors
    /// `42501`.
    pub fn check_usage(&self, name: &QualifiedName) -> Result<()> {
        match &name.schema {
            Some(schema) if !self.may(schema, crate::access::Privileges::USAGE) => {
                Err(crate::access::denied("schema", schema))
            }
            _ => Ok(()),
        }
    }

    /// The schema where an object is created: the one that its name says, or the first of the search path.
    ///
    /// # Errors
    /// `3F000` when neither says one, or it is not there.
    pub fn creation_schema(&self, given: Option<&str>) -> Result<String> {
        let missing = |message: String| Error::new(Condition::InvalidSchemaName, message);
        match given {
            Some(schema) if self.has_namespace(schema) => Ok(schema.to_owned()),
            Some(schema) => Err(missing(format!("schema \"{schema}\" does not exist"))),
            None => {
                self.creation_namespace().ok_or_else(|| missing("no schema has been selected to create in".to_owned()))
            }
        }
    }
}

/// An Informix ROW type with a name, or a DISTINCT type.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedType {
    /// Object id.
    pub oid: u32,
    /// Name as created.
    pub name: String,
    /// It names a row; a DISTINCT type otherwise.
    pub is_row: bool,
    /// The row, or the source type.
    pub ty: Type,
}

/// A routine that users have made: a function or procedure in SPL.
#[derive(Debug)]
pub struct Routine {
    /// Object id.
    pub oid: u32,
    /// Name; several routines may share it.
    pub name: String,
    /// Name and base types of its parameters; unique.
    pub signature: String,
    /// The whole CREATE statement.
    pub definition: String,
    parsed: std::sync::OnceLock<crate::Result<Arc<crate::informix::spl::Routine>>>,
}

impl Routine {
    /// A routine whose text has not been looked at yet.
    pub fn new(oid: u32, name: String, signature: String, definition: String) -> Self {
        Self { oid, name, signature, definition, parsed: std::sync::OnceLock::new() }
    }

    /// Its text, parsed at the first need.
    ///
    /// # Errors
    /// `42601` for a text that somebody else has damaged.
    pub fn parsed(&self) -> crate::Result<&Arc<crate::informix::spl::Routine>> {
        let parsed = self.parsed.get_or_init(|| crate::informix::spl::parse(&self.definition).map(Arc::new));
        parsed.as_ref().map_err(Clone::clone)
    }
}

impl PartialEq for Routine {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid && self.definition == other.definition
    }
}

/// A table, view or catalog table.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Object id; stable for the life of the file.
    pub oid: u32,
    /// Namespace: `public`, `pg_catalog`, `information_schema`, `pg_temp`, `informix`, or a user's own.
    pub namespace: String,
    /// Name as created.
    pub name: String,
    /// Where the back end keeps it.
    pub physical: Physical,
    /// The language whose words its declarations are in.
    pub language: Language,
    /// What it is.
    pub kind: RelationKind,
    /// Columns in order; dropped ones do not count.
    pub columns: Vec<Column>,
    /// The columns that have been dropped, by number: those of the others are what they were before.
    pub dropped: Vec<DroppedColumn>,
    /// Unique keys (primary key first), for ON CONFLICT and functional dependency.
    pub indexes: Vec<Index>,
    /// Foreign keys that start here.
    pub foreign_keys: Vec<ForeignKey>,
    /// Check constraints.
    pub checks: Vec<Check>,
    /// Its rows are told apart by their keys alone: it was declared so by somebody else.
    pub without_identity: bool,
    /// Triggers of ours, in the order of their names.
    pub triggers: Vec<Arc<Trigger>>,
    /// The tables that it inherits from, and what of it is there for their sake alone.
    pub heritage: Option<Box<crate::heritage::Heritage>>,
    /// How its rows are parted among its partitions: it has none itself.
    pub partitioning: Option<Arc<crate::partition::Partitioning>>,
    /// What its rows ask of whoever wants them; nothing where nobody has said anything.
    pub security: Option<Arc<RowSecurity>>,
}

/// A column that is no more, of a table whose catalogs go on counting it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DroppedColumn {
    /// Its number, from 1.
    pub number: usize,
    /// The object id of the type that it was of.
    pub ty: u32,
    /// That type's modifier; -1 for none.
    pub modifier: i32,
}

impl DroppedColumn {
    /// The property of a table that tells of its dropped columns.
    pub const PROPERTY: &str = "dropped_columns";

    /// Dropped columns as a property.
    pub fn to_property(dropped: &[Self]) -> String {
        let shown = dropped.iter().map(|column| format!("{}:{}:{}", column.number, column.ty, column.modifier));
        shown.collect::<Vec<_>>().join(",")
    }

    /// The inverse of [`Self::to_property`]; what is not such is passed over.
    pub fn of_property(text: &str) -> Vec<Self> {
        let read = |column: &str| {
            let mut parts = column.split(':');
            let mut next = || parts.next();
            let (number, ty) = (next()?.parse().ok()?, next()?.parse().ok()?);
            Some(Self { number, ty, modifier: next()?.parse().ok()? })
        };
        let mut found: Vec<Self> = text.split(',').filter_map(read).collect();
        found.sort_by_key(|column| column.number);
        found
    }
}

/// Where the back end keeps a relation, in its own terms: nobody above it reads this.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Physical {
    /// Which of the databases that a session sees: `main`, which all share, or its own `temp`.
    pub database: &'static str,
    /// The name of it there.
    pub name: String,
}

/// Row-level security of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowSecurity {
    /// ENABLE ROW LEVEL SECURITY: without it policies are kept, and nobody asks them.
    pub enabled: bool,
    /// FORCE ROW LEVEL SECURITY: the owner is asked, too.
    pub forced: bool,
    /// Policies in the order of their names.
    pub policies: Vec<Arc<Policy>>,
}

/// A policy: which rows of a table some roles may see or store.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Object id.
    pub oid: u32,
    /// Name; unique among the table's.
    pub name: String,
    /// One of those that hold must hold; a restrictive one must hold in any case.
    pub permissive: bool,
    /// What it is about.
    pub command: PolicyCommand,
    /// Whom it is about, by object id; 0 is PUBLIC.
    pub roles: Vec<u32>,
    /// USING: the condition's text, in PostgreSQL's SQL.
    pub using: Option<String>,
    /// WITH CHECK: the condition's text.
    pub check: Option<String>,
    /// COMMENT ON POLICY.
    pub comment: Option<String>,
    /// What its conditions name.
    pub needs: Vec<crate::uses::Dependency>,
}

/// What a policy is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PolicyCommand {
    /// ALL.
    All,
    /// DELETE.
    Delete,
    /// INSERT.
    Insert,
    /// SELECT.
    Select,
    /// UPDATE.
    Update,
}

impl PolicyCommand {
    /// Every one.
    pub const EACH: [Self; 5] = [Self::All, Self::Delete, Self::Insert, Self::Select, Self::Update];

    /// SQL's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::Delete => "DELETE",
            Self::Insert => "INSERT",
            Self::Select => "SELECT",
            Self::Update => "UPDATE",
        }
    }

    /// The letter of `pg_policy.polcmd`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::All => "*",
            Self::Delete => "d",
            Self::Insert => "a",
            Self::Select => "r",
            Self::Update => "w",
        }
    }

    /// The command of SQL's word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::EACH.into_iter().find(|command| command.word().eq_ignore_ascii_case(word))
    }
}

impl RowSecurity {
    /// The policy of a name.
    pub fn policy(&self, name: &str) -> Option<&Arc<Policy>> {
        self.policies.iter().find(|policy| policy.name == name)
    }
}

impl Policy {
    /// True where a statement of a kind asks it.
    pub fn is_about(&self, command: PolicyCommand) -> bool {
        self.command == PolicyCommand::All || self.command == command
    }
}

/// A trigger of ours: the back end knows nothing of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Object id.
    pub oid: u32,
    /// Name; unique among the relation's.
    pub name: String,
    /// The function's object id.
    pub function: u32,
    /// When it fires.
    pub time: TriggerTime,
    /// How often.
    pub level: TriggerLevel,
    /// [`TriggerEvent::bit`]s of what it waits for.
    pub events: u8,
    /// UPDATE OF: columns by position; empty is any.
    pub columns: Vec<usize>,
    /// WHEN: the condition's text, in PostgreSQL's SQL.
    pub condition: Option<String>,
    /// The function's arguments.
    pub args: Vec<String>,
    /// REFERENCING OLD TABLE.
    pub old_table: Option<String>,
    /// REFERENCING NEW TABLE.
    pub new_table: Option<String>,
    /// It is a constraint trigger.
    pub constraint: Option<ConstraintTrigger>,
    /// When it is allowed to fire.
    pub state: TriggerState,
    /// COMMENT ON TRIGGER.
    pub comment: Option<String>,
    /// No function is called, and nobody is told of the trigger: it stands for a constraint.
    pub key: Option<TriggerKey>,
}

/// The constraint that a trigger stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerKey {
    /// A deferrable key or an EXCLUDE, by the name of its index: rows are looked for that it does not let stand beside
    /// each other.
    Index(String),
    /// A foreign key by its object id, at the table that refers: whether there is what a row refers to.
    Refers(u32),
    /// A foreign key by its object id, at a table that is referred to: what becomes of the rows that refer to a row.
    Referred(u32),
}

impl TriggerKey {
    /// The index that it stands for.
    pub fn index(&self) -> Option<&str> {
        match self {
            Self::Index(name) => Some(name),
            Self::Refers(_) | Self::Referred(_) => None,
        }
    }
}

/// What a constraint trigger has more than others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConstraintTrigger {
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// FROM: another table, for the catalogs alone.
    pub from: u32,
}

impl Trigger {
    /// Its function is PostgreSQL's own.
    pub fn calls_built_in(&self) -> bool {
        self.function < 16_384
    }

    /// True when it waits for an event.
    pub const fn waits_for(&self, event: TriggerEvent) -> bool {
        self.events & event.bit() != 0
    }

    /// The events that it waits for, in the order in which PostgreSQL lists them.
    pub fn each_event(&self) -> impl Iterator<Item = TriggerEvent> + '_ {
        TriggerEvent::ALL.into_iter().filter(|event| self.waits_for(*event))
    }

    /// It wants the statement's rows as tables.
    pub const fn has_transition_tables(&self) -> bool {
        self.old_table.is_some() || self.new_table.is_some()
    }
}

/// What a relation is.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationKind {
    /// An ordinary table.
    Table,
    /// A view made through us: its text in `Relation::language`, expanded by the compiler.
    View {
        /// The defining query, as written.
        definition: String,
        /// WITH (…), and WITH CHECK OPTION.
        options: ViewOptions,
        /// What the names in the text stand for; empty where nobody has noted it.
        pins: Arc<crate::pins::Pins>,
    },
    /// A view that the back end expands itself (made by somebody else).
    NativeView,
    /// A materialised view: a table of the rows that its query had when it was last refreshed.
    MaterializedView {
        /// The defining query, as written.
        definition: String,
        /// What the names in the text stand for.
        pins: Arc<crate::pins::Pins>,
        /// It has been refreshed; nobody may read one that has not.
        populated: bool,
    },
    /// A catalog table: the engine makes its rows.
    Catalog,
    /// A sequence, which is read as a table of one row.
    Sequence {
        /// The query behind it, in PostgreSQL's SQL.
        definition: String,
    },
}

/// Options of a view by their names, in the order in which they were given.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ViewOptions(pub Vec<(String, String)>);

/// How far WITH CHECK OPTION goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CheckOption {
    /// LOCAL: this view's own condition.
    Local,
    /// CASCADED: those of the views below, too.
    Cascaded,
}

impl ViewOptions {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// WITH CHECK OPTION.
    pub fn check(&self) -> Option<CheckOption> {
        match self.get("check_option")? {
            "local" => Some(CheckOption::Local),
            _ => Some(CheckOption::Cascaded),
        }
    }

    /// `security_barrier`: nothing is asked of rows that the view does not show.
    pub fn security_barrier(&self) -> bool {
        self.get("security_barrier").is_some_and(is_true)
    }

    /// `security_invoker`: tables are read with the rights of whoever reads the view.
    pub fn security_invoker(&self) -> bool {
        self.get("security_invoker").is_some_and(is_true)
    }

    /// Gives options other values.
    pub fn set(&mut self, options: Self) {
        for (name, value) in options.0 {
            self.0.retain(|(known, _)| *known != name);
            self.0.push((name, value));
        }
    }
}

/// A boolean option's value, which has been checked.
fn is_true(value: &str) -> bool {
    crate::values::boolean::parse(value).unwrap_or(false)
}

/// A column of a relation.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name as created.
    pub name: String,
    /// Declared type.
    pub ty: Type,
    /// NULL is refused.
    pub not_null: bool,
    /// What an INSERT that leaves the column out stores.
    pub default: Option<ColumnDefault>,
    /// The column is given numbers by itself.
    pub identity: Option<Identity>,
    /// Computed from other columns.
    pub generated: Option<Generated>,
    /// The column's value is the row's identity: whoever changes it makes another row of it.
    pub row_identity: bool,
    /// COLLATE; `None` is the type's own.
    pub collation: Option<Arc<Collation>>,
}

/// What a column is computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The expression's text, in the relation's language.
    pub text: String,
    /// The back end computes it; otherwise the engine does, for each row that it writes.
    pub native: bool,
}

impl Column {
    /// The engine computes the column for each row that it writes.
    pub fn is_computed(&self) -> bool {
        self.generated.as_ref().is_some_and(|generated| !generated.native)
    }
}

/// A default value.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefault {
    /// The expression's text, in the relation's language.
    pub text: String,
    /// The back end knows it too: a column that is left out gets it without our help.
    pub native: bool,
    /// It is the next number of this sequence, and nothing else.
    pub next_of: Option<QualifiedName>,
}

/// Numbers given by the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// `GENERATED ALWAYS`: an explicit value is refused.
    pub always: bool,
    /// Informix SERIAL: 0 (and NULL) ask for the next number too.
    pub zero_is_next: bool,
    /// The sequence behind it; `None` when the back end gives the numbers with the rows' identities.
    pub sequence: Option<QualifiedName>,
}

/// An index or unique constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Object id.
    pub oid: u32,
    /// Name.
    pub name: String,
    /// Columns by position; `None` is an expression.
    pub columns: Vec<Option<usize>>,
    /// Text of each key as the index was declared (columns too), with `DESC` flags apart.
    pub keys: Vec<IndexKey>,
    /// No two rows alike.
    pub unique: bool,
    /// It is the primary key.
    pub primary: bool,
    /// It came from a constraint, not from CREATE INDEX.
    pub constraint: bool,
    /// Condition of a partial index, in the relation's language.
    pub predicate: Option<String>,
    /// It stands for a UNIQUE that is DEFERRABLE (true: INITIALLY DEFERRED): it is not [`Self::unique`], the engine asks it
    /// when a statement or the transaction ends.
    pub deferred: Option<bool>,
    /// NULLS NOT DISTINCT: rows are alike in NULL, too.
    pub nulls_alike: bool,
    /// It stands for an EXCLUDE: the engine asks for rows that conflict.
    pub exclusion: Option<Box<crate::exclusion::Exclusion>>,
}

impl Index {
    /// Its constraint is DEFERRABLE (true: INITIALLY DEFERRED).
    pub fn deferrability(&self) -> Option<bool> {
        self.deferred.or_else(|| self.exclusion.as_ref()?.deferred)
    }

    /// In the end no two rows are alike.
    pub const fn is_key(&self) -> bool {
        self.unique || self.deferred.is_some()
    }
}

/// One key of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexKey {
    /// Column name or expression text.
    pub text: String,
    /// Descending.
    pub descending: bool,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    /// Constraint's object id.
    pub oid: u32,
    /// Constraint's name.
    pub name: String,
    /// Columns here, by position.
    pub columns: Vec<usize>,
    /// The referenced relation's name.
    pub target: QualifiedName,
    /// Referenced columns; empty means the primary key.
    pub target_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// MATCH FULL: none of its columns is NULL, or all are.
    pub full: bool,
    /// SET CONSTRAINTS may put it off.
    pub deferrable: bool,
    /// Checked at commit.
    pub deferred: bool,
    /// Every row holds it; NOT VALID otherwise.
    pub valid: bool,
    /// The engine keeps it: it demands what the back end's own cannot.
    pub by_engine: bool,
    /// The columns, by position, to which SET NULL and SET DEFAULT of ON DELETE are confined; empty is all.
    pub set_columns: Vec<usize>,
    /// What it is called at each partition of the table that it refers to.
    pub parts: Vec<KeyPart>,
    /// Where nobody asks it.
    pub disabled: Disabled,
}

/// DISABLE TRIGGER ALL: where a foreign key of the engine is not asked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Disabled {
    /// In the table that refers.
    pub here: bool,
    /// In the table that is referred to.
    pub there: bool,
    /// It is the engine's for this reason alone.
    pub lent: bool,
}

/// A foreign key as a constraint of a partition of the table that it refers to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyPart {
    /// Constraint's object id.
    pub oid: u32,
    /// Constraint's name.
    pub name: String,
    /// The partition's object id.
    pub partition: u32,
}

impl ForeignKey {
    /// Its name where the table of an object id is concerned, which it refers to or which is a part of that.
    pub fn name_at(&self, referred: u32) -> &str {
        self.parts.iter().find(|part| part.partition == referred).map_or(&self.name, |part| &part.name)
    }

    /// Its name as the constraint of an object id: it, or what it is at a partition.
    pub fn name_of(&self, oid: u32) -> Option<&String> {
        let part = || self.parts.iter().find(|part| part.oid == oid).map(|part| &part.name);
        if self.oid == oid { Some(&self.name) } else { part() }
    }

    /// True when it refers to a table, not to one that the table is a part of.
    pub fn leads_to(&self, table: &Relation) -> bool {
        let here = |namespace: &str| namespace.eq_ignore_ascii_case(&table.namespace);
        self.target.schema.as_deref().is_none_or(here) && self.target.name.eq_ignore_ascii_case(&table.name)
    }
}

/// What happens to children.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReferentialAction {
    /// Refused (checked at the end of the statement).
    #[default]
    NoAction,
    /// Refused at once.
    Restrict,
    /// Children go too.
    Cascade,
    /// Children's columns become NULL.
    SetNull,
    /// Children's columns become their defaults.
    SetDefault,
}

impl ReferentialAction {
    /// Every one.
    pub const EACH: [Self; 5] = [Self::NoAction, Self::Restrict, Self::Cascade, Self::SetNull, Self::SetDefault];

    /// The letter of `pg_constraint`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::NoAction => "a",
            Self::Restrict => "r",
            Self::Cascade => "c",
            Self::SetNull => "n",
            Self::SetDefault => "d",
        }
    }

    /// The action of a letter; of none that PostgreSQL has it is NO ACTION.
    pub fn from_letter(letter: &str) -> Self {
        Self::EACH.into_iter().find(|action| action.letter() == letter).unwrap_or_default()
    }

    /// SQL's words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }

    /// It changes rows that refer to another.
    pub const fn changes_rows(self) -> bool {
        !matches!(self, Self::NoAction | Self::Restrict)
    }
}

/// A check constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Constraint's object id.
    pub oid: u32,
    /// Constraint's name.
    pub name: String,
    /// The condition's text, in the relation's language.
    pub text: String,
    /// The back end enforces it; otherwise the engine does.
    pub native: bool,
    /// Every row holds it; NOT VALID otherwise.
    pub valid: bool,
    /// NO INHERIT.
    pub no_inherit: bool,
}

/// A sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Object id.
    pub oid: u32,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Type of its values.
    pub ty: Type,
}

impl Column {
    /// The sequence that numbers the column, as its identity or its default.
    pub fn numbering(&self) -> Option<&QualifiedName> {
        let identity = self.identity.as_ref().and_then(|identity| identity.sequence.as_ref());
        identity.or_else(|| self.default.as_ref()?.next_of.as_ref())
    }
}

impl Physical {
    /// A relation that all sessions share.
    pub fn shared(name: impl Into<String>) -> Self {
        Self { database: "main", name: name.into() }
    }
}

impl Relation {
    /// The number by which catalogs know the column at a position: from 1, those of dropped columns left out.
    pub fn number_of(&self, at: usize) -> usize {
        self.dropped.iter().fold(at + 1, |number, dropped| number + usize::from(dropped.number <= number))
    }

    /// The column of a number.
    pub fn column_numbered(&self, number: i64) -> Option<usize> {
        let number = usize::try_from(number).ok()?;
        let at = number.checked_sub(1 + self.dropped.iter().filter(|dropped| dropped.number < number).count())?;
        (at < self.columns.len() && self.number_of(at) == number).then_some(at)
    }

    /// It is there for its session alone.
    pub fn is_temporary(&self) -> bool {
        self.physical.database == "temp"
    }

    /// Position of a column: exact name first, then without regard to case.
    pub fn column(&self, name: &str) -> Option<usize> {
        let exact = self.columns.iter().position(|column| column.name == name);
        exact.or_else(|| self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))
    }

    /// The triggers that somebody has made: not those that stand for constraints.
    pub fn named_triggers(&self) -> impl Iterator<Item = &Arc<Trigger>> {
        self.triggers.iter().filter(|trigger| trigger.key.is_none())
    }

    /// The trigger of a name.
    pub fn trigger(&self, name: &str) -> Option<&Arc<Trigger>> {
        self.named_triggers().find(|trigger| trigger.name == name)
    }

    /// True when a trigger that is not switched off waits for an event, at a time and level.
    pub fn has_trigger(&self, time: TriggerTime, level: TriggerLevel, event: TriggerEvent) -> bool {
        self.triggers.iter().any(|trigger| {
            trigger.time == time
                && trigger.level == level
                && trigger.waits_for(event)
                && trigger.state != TriggerState::Disabled
        })
    }

    /// The back end keeps its rows: a table, or a materialised view.
    pub const fn keeps_rows(&self) -> bool {
        matches!(self.kind, RelationKind::Table | RelationKind::MaterializedView { .. })
    }

    /// A materialised view.
    pub const fn is_materialized(&self) -> bool {
        matches!(self.kind, RelationKind::MaterializedView { .. })
    }

    /// The query behind a view of ours, materialised or not, with what the names in it stand for.
    pub fn definition(&self) -> Option<(&str, &Arc<crate::pins::Pins>)> {
        match &self.kind {
            RelationKind::View { definition, pins, .. } | RelationKind::MaterializedView { definition, pins, .. } => {
                Some((definition, pins))
            }
            _ => None,
        }
    }

    /// The engine computes some of the columns.
    pub fn has_computed_columns(&self) -> bool {
        self.columns.iter().any(Column::is_computed)
    }

    /// True when an event takes the relation's rows one by one: a trigger wants to see them, or columns are to be computed.
    pub fn takes_rows(&self, event: TriggerEvent) -> bool {
        let computes = matches!(event, TriggerEvent::Insert | TriggerEvent::Update) && self.has_computed_columns();
        computes
            || self.triggers.iter().any(|trigger| {
                trigger.waits_for(event)
                    && trigger.state != TriggerState::Disabled
                    && (trigger.level == TriggerLevel::Row || trigger.has_transition_tables())
            })
    }

    /// Its policies, asked or not.
    pub fn policies(&self) -> &[Arc<Policy>] {
        self.security.as_ref().map_or(&[], |security| &security.policies)
    }

    /// The policy of a name.
    pub fn policy(&self, name: &str) -> Option<&Arc<Policy>> {
        self.security.as_ref()?.policy(name)
    }

    /// The primary key, if there is one.
    pub fn primary_key(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.primary)
    }
}

impl QualifiedName {
    /// A name without schema.
    pub fn bare(name: impl Into<String>) -> Self {
        Self { schema: None, name: name.into() }
    }

    /// A name in a schema.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: Some(schema.into()), name: name.into() }
    }
}

impl std::fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
