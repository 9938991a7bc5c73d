//! What is known here of the tables there: an empty copy, in which names are looked up and catalogs read.
//!
//! A table is copied by statements of PostgreSQL's: its columns, keys, checks and indexes as far as they are known here,
//! since the server keeps them all. One that a client of ours has made stays as it was declared here, with types that
//! PostgreSQL does not have, as long as its columns there are those that it was given.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use rowferry_dialect::lower::postgres::{SCHEMA, collation_there, declared_collation, declared_type};
use rowferry_dialect::schema::{QualifiedName, Relation, RelationKind, Trigger};
use rowferry_dialect::{Condition, Error, Language, Result, Schema as _, informix};

use super::Line;
use crate::session::Parsed;
use crate::{Database, Outcome, Session, SessionOptions};

/// How often it is looked whether the schema there has changed.
const INTERVAL: Duration = Duration::from_secs(2);

/// How often it is looked whether two connections are one, since others may have taken the one in between.
const LOOKS_FOR_POOLERS: usize = 8;

/// How long it is waited for a session that changes the schema here.
const LOCK_TIMEOUT: &str = "1s";

/// Says what changes when something of the schema does.
const FINGERPRINT: &str = "SELECT (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_class WHERE oid >= 16384), \
    (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_attribute WHERE attrelid >= 16384), \
    (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_constraint WHERE oid >= 16384), \
    (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_attrdef), \
    (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_trigger WHERE NOT tgisinternal), \
    (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_rewrite WHERE oid >= 16384), \
    (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_type WHERE typtype = 'd' AND oid >= 16384)";

/// Tables, views and sequences, without those of the system, of extensions, and partitions.
const RELATIONS: &str = "SELECT c.oid, n.nspname, c.relname, c.relkind \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT c.relispartition \
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'rowferry') AND n.nspname !~ '^pg_(toast|temp)' \
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass \
        AND (d.deptype = 'e' OR d.deptype = 'i' AND c.relkind = 'S' OR d.deptype = 'a' AND c.relkind = 'S')) \
    ORDER BY c.oid";

/// Columns: of which relation, name, type, NOT NULL, whether it numbers itself, what it is otherwise.
const COLUMNS: &str = "SELECT a.attrelid, a.attname, \
    CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) \
         WHEN b.nspname = 'pg_catalog' THEN format_type(a.atttypid, a.atttypmod) ELSE 'text' END, \
    a.attnotnull, \
    a.attidentity <> '' OR pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) IS NOT NULL, \
    a.attgenerated, coalesce(pg_get_expr(d.adbin, d.adrelid), CASE WHEN t.typtype = 'd' THEN t.typdefault END), \
    CASE WHEN a.attcollation <> 0 AND a.attcollation <> t.typcollation THEN \
        (SELECT l.nspname || '.' || o.collname FROM pg_collation o JOIN pg_namespace l ON l.oid = o.collnamespace \
         WHERE o.oid = a.attcollation) END \
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace b ON b.oid = t.typnamespace \
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid >= 16384 \
    ORDER BY a.attrelid, a.attnum";

/// Constraints: of which relation, name, kind, as they are declared.
const CONSTRAINTS: &str = "SELECT conrelid, conname, contype, pg_get_constraintdef(oid) FROM pg_constraint \
    WHERE conrelid <> 0 AND contype IN ('p', 'u', 'c', 'f') ORDER BY contype = 'f', conrelid, conname";

/// Indexes that are no constraint's.
const INDEXES: &str = "SELECT i.indrelid, c.relname, pg_get_indexdef(i.indexrelid) \
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
    WHERE i.indrelid >= 16384 AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1, 2";

/// Foreign keys, by the columns that they refer to: of which relation, to which, and whether a change there is carried on.
const KEYS: &str = "SELECT coalesce(pg_partition_root(k.conrelid), k.conrelid)::oid, \
    coalesce(pg_partition_root(k.confrelid), k.confrelid)::oid, \
    k.confdeltype IN ('c', 'n', 'd'), k.confupdtype IN ('c', 'n', 'd'), a.attname \
    FROM pg_constraint k, unnest(k.confkey) AS u (at) , pg_attribute a \
    WHERE k.contype = 'f' AND a.attrelid = k.confrelid AND a.attnum = u.at";

/// What else would not be asked with foreign keys: of which relation, and what it is.
const GUARDS: &str = "SELECT coalesce(pg_partition_root(tgrelid), tgrelid)::oid, 'triggers of that server''s' FROM pg_trigger \
        WHERE NOT tgisinternal AND tgenabled IN ('O', 'R') \
    UNION ALL SELECT ev_class, 'rules' FROM pg_rewrite WHERE ev_type <> '1' AND ev_enabled IN ('O', 'R') \
    UNION ALL SELECT coalesce(pg_partition_root(conrelid), conrelid)::oid, 'keys that are checked late' FROM pg_constraint \
        WHERE contype IN ('p', 'u', 'x') AND condeferrable \
    UNION ALL SELECT i.inhparent, 'tables that inherit from it' FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent \
        WHERE c.relkind = 'r'";

/// Sees to it that what is known here is what is there.
#[derive(Debug)]
pub(crate) struct Watch {
    line: Line,
    seen: Mutex<Seen>,
    /// Relations whose rows lie in several places, by schema and name.
    placeless: RwLock<BTreeSet<(String, String)>>,
    /// Columns that have a default there, by schema and name of their table.
    defaults: RwLock<Defaults>,
    /// What foreign keys mean for relations, by schema and name.
    keys: RwLock<BTreeMap<(String, String), Keys>>,
}

/// What foreign keys mean for a relation there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// Others refer to it.
    pub referred: bool,
    /// Rows elsewhere change with those that are deleted.
    pub carries_deletes: bool,
    /// Rows elsewhere change with these columns.
    pub carries_updates: BTreeSet<String>,
    /// It has some, or others refer to it.
    pub any: bool,
    /// What else would not be asked where they are not.
    pub guard: Option<String>,
}

/// The defaults of columns there, by schema and name of their table and by their names.
type Defaults = BTreeMap<(String, String), BTreeMap<String, String>>;

#[derive(Debug, Default)]
struct Seen {
    at: Option<Instant>,
    fingerprint: Fingerprint,
    declared: Declared,
}

/// What tells one state of the schema from others.
type Fingerprint = Vec<Vec<Option<String>>>;
/// How each relation is declared, by its schema and name.
type Declared = BTreeMap<(String, String), Vec<String>>;

/// A relation as it is there.
#[derive(Debug, Default)]
struct Found {
    schema: String,
    name: String,
    kind: String,
    /// Its rows lie in several places.
    spread: bool,
    columns: Vec<Column>,
    /// Statements that make it what it is; those behind the first may fail.
    statements: Vec<String>,
    /// Foreign keys, which need other tables.
    later: Vec<String>,
    keys: Keys,
}

#[derive(Debug)]
struct Column {
    name: String,
    ty: String,
    not_null: bool,
    numbered: bool,
    /// Its default there, in that server's words.
    default: Option<String>,
    /// The collation that it is declared with, where that is not the one of its type.
    collation: String,
}

impl Watch {
    pub fn new(line: Line) -> Self {
        Self {
            line,
            seen: Mutex::default(),
            placeless: RwLock::default(),
            defaults: RwLock::default(),
            keys: RwLock::default(),
        }
    }

    /// What foreign keys mean for a relation there, as far as it was there when it was last looked.
    pub fn keys(&self, relation: &Relation) -> Keys {
        let key = (relation.namespace.clone(), relation.name.clone());
        self.keys.read().get(&key).cloned().unwrap_or_default()
    }

    /// True where foreign keys can be told not to look.
    ///
    /// # Errors
    /// The server's.
    pub fn may_skip_keys(&self) -> Result<bool> {
        // Nobody would tell the workers of a cluster.
        if self.is_cluster()? {
            return Ok(false);
        }
        let asked = "SELECT 1 WHERE has_parameter_privilege(current_user, 'session_replication_role', 'SET')";
        Ok(!self.line.texts(asked)?.is_empty())
    }

    /// Where a row of it lies tells it from all others.
    pub fn has_places(&self, relation: &Relation) -> bool {
        !self.placeless.read().iter().any(|(schema, name)| *schema == relation.namespace && *name == relation.name)
    }

    /// A column has a default there which is not known here.
    pub fn has_own_default(&self, relation: &Relation, at: usize) -> bool {
        let column = &relation.columns[at];
        let known = column.default.is_some() || column.identity.is_some() || column.generated.is_some();
        !known
            && self.defaults.read().iter().any(|((schema, name), columns)| {
                *schema == relation.namespace && *name == relation.name && columns.contains_key(&column.name)
            })
    }

    /// Refuses a pooler that gives a connection to somebody else after each transaction: what a session sets and prepares would be
    /// others'.
    ///
    /// # Errors
    /// `0A000` for one, and the server's.
    pub fn refuse_shared(&self, other: &Line) -> Result<()> {
        let process = |line: &Line| line.texts("SELECT pg_backend_pid()");
        for _ in 0..LOOKS_FOR_POOLERS {
            if process(&self.line)? == process(other)? {
                let message =
                    "a pooler in front of the PostgreSQL server that hands its connections on after each transaction";
                return Err(Error::unsupported(message).hint(
                    "Name the server itself in the URL, or a pool of sessions (pgbouncer's pool_mode = session).",
                ));
            }
        }
        Ok(())
    }

    /// True when the database there orders texts otherwise than by their code points.
    pub fn orders_by_rules(&self) -> Result<bool> {
        let rows = self.line.texts("SELECT datcollate FROM pg_database WHERE datname = current_database()")?;
        let collation = rows.into_iter().flatten().next().flatten().unwrap_or_default();
        Ok(!matches!(collation.as_str(), "C" | "POSIX" | "C.UTF-8" | "C.utf8"))
    }

    /// Which version of the schema for MySQL's rules is there.
    ///
    /// # Errors
    /// The server's.
    pub fn installed(&self) -> Result<Option<u32>> {
        if self.line.texts(&format!("SELECT 1 WHERE to_regproc('{SCHEMA}.version') IS NOT NULL"))?.is_empty() {
            return Ok(None);
        }
        let rows = self.line.texts(&format!("SELECT {SCHEMA}.version()"))?;
        Ok(rows.into_iter().flatten().next().flatten().and_then(|version| version.parse().ok()))
    }

    /// True where the database has Citus.
    ///
    /// # Errors
    /// The server's.
    pub fn is_cluster(&self) -> Result<bool> {
        Ok(!self.line.texts("SELECT 1 FROM pg_extension WHERE extname = 'citus'")?.is_empty())
    }

    /// Looks whether the schema has changed; learns it anew then, and says so.
    pub fn look(&self, database: &Database, now: bool) -> Result<bool> {
        let seen = if now { Some(self.seen.lock()) } else { self.seen.try_lock() };
        let Some(mut seen) = seen else { return Ok(false) };
        if !now && seen.at.is_some_and(|at| at.elapsed() < INTERVAL) {
            return Ok(false);
        }
        seen.at = Some(Instant::now());
        if self.line.texts(FINGERPRINT)? == seen.fingerprint {
            return Ok(false);
        }
        match self.learn(database, &mut seen) {
            Ok(()) => Ok(true),
            // A session is changing the schema itself: when it is done it is looked at again.
            Err(error) if error.condition() == Condition::LockNotAvailable => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Learns the schema for the first time.
    ///
    /// # Errors
    /// `55000` for a file in which there are rows, and the server's.
    pub fn begin(&self, database: &Database) -> Result<()> {
        let mut seen = self.seen.lock();
        seen.at = Some(Instant::now());
        self.learn(database, &mut seen)
    }

    fn learn(&self, database: &Database, seen: &mut Seen) -> Result<()> {
        let options = SessionOptions::new("rowferry", Language::Postgres);
        let mut session = Session::begin_at(database.clone(), options, crate::database::next_pid(), false);
        session.set_variable("lock_timeout", LOCK_TIMEOUT)?;
        session.begin_implicit();
        let done = self.learn_within(&mut session, seen);
        if done.is_err() {
            session.fail();
        }
        session.end_implicit()?;
        (seen.declared, seen.fingerprint) = done?;
        Ok(())
    }

    fn learn_within(&self, session: &mut Session, seen: &Seen) -> Result<(Declared, Fingerprint)> {
        // What a session changes it changes there first, and here before it commits: who has the write lock and looks there
        // then sees both or neither.
        session.open_for_writers()?;
        if seen.fingerprint.is_empty() {
            refuse_rows(session)?;
        }
        let fingerprint = self.line.texts(FINGERPRINT)?;
        let mut found = self.found()?;
        for relation in &mut found {
            if let Some(known) = session.known(&relation.schema, &relation.name) {
                relation.order_as(&known);
            }
        }
        let spread = found.iter().filter(|relation| relation.spread).map(Found::key);
        *self.placeless.write() = spread.collect();
        let own = |relation: &Found| {
            let columns = relation.columns.iter().filter_map(|column| Some((&column.name, column.default.as_ref()?)));
            (relation.key(), columns.map(|(name, text)| (name.clone(), text.clone())).collect::<BTreeMap<_, _>>())
        };
        let defaults: Defaults = found.iter().map(own).filter(|(_, columns)| !columns.is_empty()).collect();
        *self.keys.write() = found.iter().map(|relation| (relation.key(), relation.keys.clone())).collect();
        let before = std::mem::replace(&mut *self.defaults.write(), defaults);
        forget_changed(session, &before, &self.defaults.read())?;
        Ok((change(session, &found, seen)?, fingerprint))
    }

    fn found(&self) -> Result<Vec<Found>> {
        let mut found: BTreeMap<u64, Found> = BTreeMap::new();
        for row in self.line.texts(RELATIONS)? {
            let [oid, schema, name, kind] = texts(row)?;
            let spread = matches!(kind.as_str(), "p" | "f" | "v");
            found.insert(number(&oid)?, Found { schema, name, kind, spread, ..Found::default() });
        }
        // Citus keeps the rows of such a table on its workers.
        let distributes = self.line.texts("SELECT to_regclass('pg_dist_partition')::text")?;
        if distributes.iter().flatten().any(Option::is_some) {
            for row in self.line.texts("SELECT logicalrelid::oid FROM pg_dist_partition")? {
                let [oid] = texts(row)?;
                if let Some(relation) = found.get_mut(&number(&oid)?) {
                    relation.spread = true;
                }
            }
        }
        for row in self.line.texts(COLUMNS)? {
            let mut row = row.into_iter();
            let mut next = || row.next().flatten().unwrap_or_default();
            let Some(relation) = found.get_mut(&number(&next())?) else { continue };
            let (name, ty, not_null, numbered) = (next(), next(), next() == "t", next() == "t");
            let (generated, default, collation) = (next(), next(), next());
            let default = Some(default).filter(|text| !text.is_empty() && generated.is_empty() && !numbered);
            relation.columns.push(Column { name, ty, not_null, numbered, default, collation });
        }
        for relation in found.values_mut() {
            relation.statements = relation.creation();
            // Constants are the same wherever they are written down; what else there is is that server's.
            let table = relation.quoted();
            for column in &relation.columns {
                if let Some(default) = column.default.as_deref().filter(|text| is_constant(text)) {
                    let name = quote(&column.name);
                    relation.statements.push(format!("ALTER TABLE {table} ALTER COLUMN {name} SET DEFAULT {default}"));
                }
            }
        }
        for row in self.line.texts(CONSTRAINTS)? {
            let [oid, name, kind, definition] = texts(row)?;
            let Some(relation) = found.get_mut(&number(&oid)?) else { continue };
            let (table, name) = (relation.quoted(), quote(&name));
            let statement = format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}");
            if kind == "f" { relation.later.push(statement) } else { relation.statements.push(statement) }
        }
        for row in self.line.texts(INDEXES)? {
            let [oid, _, definition] = texts(row)?;
            if let Some(relation) = found.get_mut(&number(&oid)?) {
                relation.statements.push(definition);
            }
        }
        for row in self.line.texts(KEYS)? {
            let [from, to, deletes, updates, column] = texts(row)?;
            if let Some(relation) = found.get_mut(&number(&from)?) {
                relation.keys.any = true;
            }
            let Some(relation) = found.get_mut(&number(&to)?) else { continue };
            relation.keys.any = true;
            relation.keys.referred |= from != to;
            relation.keys.carries_deletes |= deletes == "t";
            if updates == "t" {
                relation.keys.carries_updates.insert(column);
            }
        }
        for row in self.line.texts(GUARDS)? {
            let [oid, guard] = texts(row)?;
            if let Some(relation) = found.get_mut(&number(&oid)?) {
                relation.keys.guard = Some(guard);
            }
        }
        for relation in found.values_mut().filter(|relation| relation.kind == "v") {
            // Which tables it changes is not known.
            (relation.keys.any, relation.keys.guard) = (true, Some("a view's rows".to_owned()));
        }
        Ok(found.into_values().collect())
    }
}

impl Found {
    fn quoted(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }

    fn key(&self) -> (String, String) {
        (self.schema.clone(), self.name.clone())
    }

    fn creation(&self) -> Vec<String> {
        if self.kind == "S" {
            return vec![format!("CREATE SEQUENCE {}", self.quoted())];
        }
        let member = |column: &Column| {
            let not_null = if column.not_null { " NOT NULL" } else { "" };
            let order = collation_there(&column.collation);
            let order = order.map_or_else(String::new, |order| format!(" COLLATE {}", quote(order)));
            format!("{} {}{order}{not_null}", quote(&column.name), column.ty)
        };
        let members: Vec<String> = self.columns.iter().map(member).collect();
        vec![format!("CREATE TABLE {} ({})", self.quoted(), members.join(", "))]
    }

    /// Columns stand where they stood here; those that were not known stand behind them.
    fn order_as(&mut self, known: &Relation) {
        let place = |column: &Column| known.column(&column.name).unwrap_or(usize::MAX);
        if self.kind == "S" || self.columns.is_sorted_by_key(place) {
            return;
        }
        self.columns.sort_by_key(place);
        self.statements.splice(..1, self.creation());
    }

    /// The relation that is known here is the one that is there.
    fn is(&self, relation: &Relation) -> bool {
        if let RelationKind::Sequence { .. } = relation.kind {
            return self.kind == "S";
        }
        if self.kind == "v" || relation.kind != RelationKind::Table {
            return self.kind == "v" && is_view(relation);
        }
        relation.columns.len() == self.columns.len()
            && relation.columns.iter().zip(&self.columns).all(|(here, there)| {
                here.name == there.name
                    && here.not_null == there.not_null
                    && declared_type(&here.ty).is_some_and(|declared| declared == there.ty)
                    && here.identity.is_some() == there.numbered
                    && here.collation.as_deref().is_none_or(|collation| {
                        declared_collation(collation).is_none_or(|declared| declared == there.collation)
                    })
            })
    }
}

/// Makes the copy what is there.
fn change(session: &mut Session, found: &[Found], seen: &Seen) -> Result<Declared> {
    let mut declared = Declared::new();
    let mut fresh = Vec::new();
    // What clients of ours have made goes on being asked, whatever others have made of the table, or of a table below a view.
    let schema = session.schema();
    let of_door = |relation: &std::sync::Arc<Relation>| relation.triggers.iter().any(|trigger| trigger.is_of_door());
    let triggered: Vec<_> = schema.user_relations().filter(|relation| of_door(relation)).cloned().collect();
    for relation in found {
        let mut statements = relation.statements.clone();
        statements.extend(relation.later.iter().cloned());
        let known = session.known(&relation.schema, &relation.name);
        let same = match (&known, seen.declared.get(&relation.key())) {
            // What a client of ours has changed is here already as it was declared.
            (Some(known), before) => before.is_some_and(|before| *before == statements) || relation.is(known),
            (None, None) => relation.kind == "S" && session.knows_sequence(&relation.schema, &relation.name),
            (None, Some(_)) => false,
        };
        declared.insert(relation.key(), statements);
        if same {
            continue;
        }
        if let Some(known) = known {
            drop_known(session, &known)?;
        }
        fresh.push(relation);
    }
    drop_others(session, &declared)?;
    for relation in &fresh {
        if !relation.schema.is_empty() && relation.schema != "public" {
            run(session, Words::Postgres(&format!("CREATE SCHEMA IF NOT EXISTS {}", quote(&relation.schema))))?;
        }
        for (at, statement) in relation.statements.iter().enumerate() {
            let done = tried(session, Words::Postgres(statement));
            match done {
                Err(error) if at == 0 => {
                    tracing::warn!(table = relation.quoted(), %error, "a table of the server behind cannot be shown");
                    break;
                }
                Err(error) => tracing::debug!(statement, %error, "is not known here"),
                Ok(()) => {}
            }
        }
    }
    for statement in fresh.iter().flat_map(|relation| &relation.later) {
        if let Err(error) = tried(session, Words::Postgres(statement)) {
            tracing::debug!(statement, %error, "is not known here");
        }
    }
    for before in triggered {
        let Some(known) = session.known(&before.namespace, &before.name) else { continue };
        for trigger in before.triggers.iter().filter(|trigger| trigger.is_of_door()) {
            if known.trigger(&trigger.name).is_some() {
                continue;
            }
            match moved(trigger, &before, &known) {
                Some(trigger) => session.put_trigger(known.clone(), &trigger)?,
                None => {
                    let (table, trigger) = (&known.name, &trigger.name);
                    tracing::warn!(table, trigger, "a trigger is gone with the columns that it was made for");
                }
            }
        }
    }
    // Columns that number themselves take a zero for the next number, as Informix's do.
    for relation in &fresh {
        for column in relation.columns.iter().filter(|column| column.numbered) {
            let ty = if column.ty == "bigint" { "bigserial" } else { "serial" };
            let words = format!("alter table {} modify ({} {ty})", relation.quoted(), quote(&column.name));
            if let Err(error) = tried(session, Words::Informix(&words)) {
                tracing::debug!(words, %error, "is not known here");
            }
        }
    }
    Ok(declared)
}

/// A default that others have changed since is none here: a table that was made here keeps what it was declared with.
fn forget_changed(session: &mut Session, before: &Defaults, now: &Defaults) -> Result<()> {
    for (key, columns) in before {
        let Some(known) = session.known(&key.0, &key.1) else { continue };
        let changed = |name: &str, text: &String| now.get(key).and_then(|columns| columns.get(name)) != Some(text);
        for (bare, _) in columns.iter().filter(|(name, text)| changed(name, text)) {
            if known.column(bare).is_some_and(|at| known.columns[at].default.is_some()) {
                let (table, name) = (format!("{}.{}", quote(&key.0), quote(&key.1)), quote(bare));
                let told = now.get(key).and_then(|columns| columns.get(bare)).filter(|text| is_constant(text));
                let change = match told.filter(|_| known.language == Language::Postgres) {
                    Some(text) => format!("SET DEFAULT {text}"),
                    None => "DROP DEFAULT".to_owned(),
                };
                let words = format!("ALTER TABLE {table} ALTER COLUMN {name} {change}");
                if let Err(error) = tried(session, Words::Postgres(&words)) {
                    tracing::debug!(words, %error, "a default stays");
                }
            }
        }
    }
    Ok(())
}

/// True for a default in PostgreSQL's words that is one value for ever: a number, or a text that may be converted.
fn is_constant(text: &str) -> bool {
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    if number(text) || matches!(text, "true" | "false") {
        return true;
    }
    let Some(quoted) = text.strip_prefix('\'') else { return false };
    let mut rest = quoted.chars();
    while let Some(letter) = rest.next() {
        // A quote in a text is written twice.
        if letter == '\'' && !rest.as_str().starts_with('\'') {
            let words = rest.as_str();
            // 'now' is none, and so are its kin.
            let moment = ["date", "time"].iter().any(|word| words.contains(word));
            let named = |c: char| c.is_ascii_alphanumeric() || " _(),\"".contains(c);
            let digits = quoted.starts_with(|c: char| c.is_ascii_digit());
            return words.is_empty()
                || words.strip_prefix("::").is_some_and(|ty| ty.chars().all(named)) && (!moment || digits);
        }
        if letter == '\'' {
            rest.next();
        }
    }
    false
}

/// A trigger, with its columns where they are now; `None` where none of them is left.
fn moved(trigger: &Trigger, before: &Relation, now: &Relation) -> Option<Trigger> {
    let columns: Vec<usize> =
        trigger.columns.iter().filter_map(|at| now.column(&before.columns.get(*at)?.name)).collect();
    (trigger.columns.is_empty() || !columns.is_empty()).then(|| Trigger { columns, ..trigger.clone() })
}

/// Drops what is not there.
fn drop_others(session: &mut Session, there: &Declared) -> Result<()> {
    let is_there = |schema: &str, name: &str| there.contains_key(&(schema.to_owned(), name.to_owned()));
    let schema = session.schema();
    let relations = schema.user_relations().filter(|relation| !relation.is_temporary());
    for relation in relations.filter(|relation| !is_there(&relation.namespace, &relation.name)) {
        // CASCADE may have taken it already.
        if let Some(known) = session.known(&relation.namespace, &relation.name) {
            drop_known(session, &known)?;
        }
    }
    for details in schema.sequences().filter(|details| details.owner.is_none() && details.database == "main") {
        let (schema, name) = (&details.sequence.namespace, &details.sequence.name);
        if !is_there(schema, name) && session.knows_sequence(schema, name) {
            run(session, Words::Postgres(&format!("DROP SEQUENCE {}.{}", quote(schema), quote(name))))?;
        }
    }
    Ok(())
}

/// A copy has no rows: a file that has some is somebody's own, and its tables are not to be dropped for those there.
fn refuse_rows(session: &mut Session) -> Result<()> {
    let schema = session.schema();
    for relation in schema.user_relations().filter(|relation| relation.kind == RelationKind::Table) {
        let text = format!("SELECT FROM {}.{} LIMIT 1", quote(&relation.namespace), quote(&relation.name));
        if let Some(plan) = session.prepare(&text, &[])?
            && let Outcome::Rows(mut cursor) = session.execute(&plan, &[])?
            && cursor.next()?.is_some()
        {
            let message = format!("the file has rows of its own, in the table \"{}\"", relation.name);
            return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message)
                .hint("A file that stands beside a server has none: name a new one, or one that stood there before."));
        }
    }
    Ok(())
}

/// A statement, in whose words.
#[derive(Clone, Copy)]
enum Words<'a> {
    Postgres(&'a str),
    Informix(&'a str),
}

fn drop_known(session: &mut Session, relation: &Relation) -> Result<()> {
    let kind = match &relation.kind {
        RelationKind::View { .. } => "VIEW",
        RelationKind::Sequence { .. } => "SEQUENCE",
        _ => "TABLE",
    };
    run(
        session,
        Words::Postgres(&format!("DROP {kind} {}.{} CASCADE", quote(&relation.namespace), quote(&relation.name))),
    )
}

/// Runs a statement that may fail.
fn tried(session: &mut Session, words: Words<'_>) -> Result<()> {
    session.begin_subtransaction()?;
    match run(session, words) {
        Ok(()) => session.end_subtransaction(),
        Err(error) => {
            session.undo_subtransaction()?;
            Err(error)
        }
    }
}

fn run(session: &mut Session, words: Words<'_>) -> Result<()> {
    let plan = match words {
        Words::Postgres(text) => session.prepare(text, &[])?,
        Words::Informix(text) => match informix::parse_delimited(text)?.into_iter().next() {
            Some(statement) => Some(session.prepare_parsed(&Parsed::of_routine(statement), &[])?),
            None => None,
        },
    };
    match plan {
        Some(plan) => session.execute(&plan, &[]).map(|_| ()),
        None => Ok(()),
    }
}

impl Session {
    fn known(&mut self, schema: &str, name: &str) -> Option<std::sync::Arc<Relation>> {
        self.schema().relation(&QualifiedName::new(schema.to_owned(), name.to_owned()))
    }

    fn knows_sequence(&mut self, schema: &str, name: &str) -> bool {
        self.schema().sequence(&QualifiedName::new(schema.to_owned(), name.to_owned())).is_some()
    }
}

fn is_view(relation: &Relation) -> bool {
    matches!(relation.kind, RelationKind::View { .. })
}

fn texts<const N: usize>(row: Vec<Option<String>>) -> Result<[String; N]> {
    let row: Vec<String> = row.into_iter().map(Option::unwrap_or_default).collect();
    row.try_into().map_err(|_| Error::internal("the server behind answers with other columns"))
}

fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| Error::new(Condition::DataException, "an object id that is no number"))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::is_constant;

    #[test]
    fn constants_are_told_from_what_is_computed() {
        for text in [
            "7",
            "1.5",
            "true",
            "'a'::text",
            "'it''s'::character varying",
            "'-1'::integer",
            "'2024-01-02 03:04:05'::timestamp without time zone",
        ] {
            assert!(is_constant(text), "{text}");
        }
        for text in [
            "now()",
            "'now'::date",
            "nextval('s'::regclass)",
            "('now'::text)::date",
            "'a' || 'b'",
            "'a'::text || now()",
            "CURRENT_DATE",
            "'today'::timestamp",
        ] {
            assert!(!is_constant(text), "{text}");
        }
    }
}
