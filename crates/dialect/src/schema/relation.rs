//! Relations: tables, views, sequences and what they are made of.

use std::sync::Arc;

use super::{Check, Column, ForeignKey, Index, Policy, RowSecurity, Rule, Trigger};
use crate::ir::{TriggerEvent, TriggerLevel, TriggerState, TriggerTime};
use crate::{Language, Type};

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
    /// Rules of ours, in the order of their names.
    pub rules: Vec<Arc<Rule>>,
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
    /// Which of the databases that a session sees: `main`, which all share, its own `temp`, or another one's file.
    pub database: &'static str,
    /// The name of it there.
    pub name: String,
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

impl Physical {
    /// A relation that all sessions share.
    pub fn shared(name: impl Into<String>) -> Self {
        Self { database: "main", name: name.into() }
    }
}

impl Physical {
    /// It is in the file of another database, which is read beside the session's own.
    pub fn is_elsewhere(&self) -> bool {
        !matches!(self.database, "main" | "temp")
    }
}

impl Relation {
    /// It belongs to another database than the session's.
    pub fn is_elsewhere(&self) -> bool {
        self.physical.is_elsewhere()
    }

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

    /// The same of what foreign keys do, of which triggers in MySQL's language are not told.
    pub fn is_told_by_keys(&self, event: TriggerEvent) -> bool {
        let of_mysql = |trigger: &std::sync::Arc<Trigger>| trigger.mysql_body().is_some();
        if !self.triggers.iter().any(of_mysql) {
            return self.takes_rows(event);
        }
        let computes = matches!(event, TriggerEvent::Insert | TriggerEvent::Update) && self.has_computed_columns();
        computes
            || self.triggers.iter().any(|trigger| {
                !of_mysql(trigger) && trigger.waits_for(event) && trigger.state != TriggerState::Disabled
            })
    }

    /// True when triggers want the rows of an event as tables.
    pub fn shows_rows(&self, event: TriggerEvent) -> bool {
        self.triggers.iter().any(|trigger| trigger.waits_for(event) && trigger.has_transition_tables())
    }

    /// Its policies, asked or not.
    pub fn policies(&self) -> &[Arc<Policy>] {
        self.security.as_ref().map_or(&[], |security| &security.policies)
    }

    /// The policy of a name.
    pub fn policy(&self, name: &str) -> Option<&Arc<Policy>> {
        self.security.as_ref()?.policy(name)
    }

    /// The rule of a name.
    pub fn rule(&self, name: &str) -> Option<&Arc<Rule>> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// The rules that a change is to ask, in their order.
    pub fn rules_for(&self, event: TriggerEvent) -> impl Iterator<Item = &Arc<Rule>> {
        self.rules.iter().filter(move |rule| rule.event == event && rule.is_asked())
    }

    /// Its indexes, but for those of words, which MySQL alone knows.
    pub fn ordinary_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| !index.fulltext)
    }

    /// The check that says how MySQL's door parts its rows.
    pub fn partitions(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.is_of_partitions())
    }

    /// The checks that catalogs tell of.
    pub fn told_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.is_of_partitions())
    }

    /// The primary key, if there is one.
    pub fn primary_key(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.primary)
    }
}
