//! A PostgreSQL server behind ours: tables and rows are there, and what they look like is known here.
//!
//! ```text
//! client ── door ── Session ── front end ── IR ── lower::postgres ── Line ── Link ══ the PostgreSQL server
//!                      │
//!                      └── Database: an empty copy of the schema (Shadow): catalogs, routines, what names mean
//! ```
//!
//! A session of ours has a connection of its own to that server, from its first statement on. Statements that touch
//! tables go there as a whole; what needs none (catalogs, variables, constants, the flow of routines) stays here. Changes
//! of the schema are made on both sides, in one transaction on each. How bytes get there is not known here: whoever opens
//! the database gives it an [`Upstream`].

mod conversation;
mod line;
mod placement;
mod rows;
pub(crate) mod shadow;
mod values;

use std::fmt::Debug;
use std::sync::Arc;

use rowferry_dialect::ir::{
    self, AlterTable, Body, CompareOp, ConflictAction, CteBody, Ddl, Dml, DmlAction, Expr, ExprKind, From, Maintenance,
    Named, ObjectKind, Query, RelId, Statement, UserTypeChange, Value, walk,
};
use rowferry_dialect::lower::postgres::{self, Known, Manner, Said};
use rowferry_dialect::plan::Bound;
use rowferry_dialect::schema::{QualifiedName, ReferentialAction, Relation, RelationKind};
use rowferry_dialect::{Error, Result, Type, mysql};

use crate::Database;
use crate::interrupt::Interrupter;
use crate::routines::direct::Item;
use crate::schema::SessionSchema;
use crate::session::Prepared;

pub use line::Line;
pub(crate) use line::{Begun, Modes, Request, Within};
pub use placement::{Misplaced, Placement, Placements};
pub(crate) use rows::Rows;

/// A PostgreSQL server, to connect to.
pub trait Upstream: Debug + Send + Sync {
    /// A new connection of a session; `application` is what the server shows of it.
    ///
    /// # Errors
    /// The server's, or `08001` where there is none.
    fn connect(&self, application: &str) -> Result<Box<dyn Link>>;

    /// Where it is, for people: `host:port/database`, without a password.
    fn place(&self) -> String;
}

/// A connection to a PostgreSQL server: parts of a pipeline are put in, then sent; replies are read one by one.
pub trait Link: Debug + Send {
    /// Prepares a statement, and asks for the types of its columns.
    fn prepare(&mut self, name: &str, sql: &str);
    /// Gives a statement its parameters, as texts; `formats` is 1 for each column that is wanted in binary form.
    fn bind(&mut self, portal: &str, name: &str, params: &[Option<Vec<u8>>], formats: &[u16]);
    /// Runs a portal for so many rows, 0 for all.
    fn run(&mut self, portal: &str, most: u32);
    /// Forgets a portal.
    fn close_portal(&mut self, portal: &str);
    /// Forgets a statement.
    fn close_statement(&mut self, name: &str);
    /// Runs a statement of ours that returns no rows.
    fn statement(&mut self, sql: &str);
    /// Ends the pipeline.
    fn sync(&mut self);
    /// One or several statements without parameters, instead of a pipeline.
    fn query(&mut self, sql: &str);
    /// The next reply; everything that waits to be sent is sent before.
    ///
    /// # Errors
    /// The connection is over.
    fn reply(&mut self, row: &mut RowBytes) -> Result<Reply>;
    /// Takes the next reply if it is a row and has come whole; false leaves everything as it is.
    ///
    /// # Errors
    /// The connection is over.
    fn next_row(&mut self, row: &mut RowBytes) -> Result<bool>;
    /// A reply has come whole, so that nobody waits for it.
    fn has_reply(&mut self) -> bool;
    /// True while the connection stands and has nothing to say.
    fn is_quiet(&self) -> bool;
    /// What asks the server, from any thread, to stop the statement that runs.
    fn canceller(&self) -> Option<Canceller>;
    /// `ask` is called now and then while a reply is waited for.
    fn on_wait(&mut self, ask: Box<dyn FnMut() + Send>);
}

/// Asks a server to stop a statement; with `true` it is waited for until the server has done so, or has none to stop.
#[derive(Clone)]
pub struct Canceller(pub Arc<dyn Fn(bool) + Send + Sync>);

impl Canceller {
    /// Asks.
    pub fn cancel(&self, wait: bool) {
        (self.0)(wait);
    }
}

impl Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canceller")
    }
}

/// What a server says.
#[derive(Debug)]
pub enum Reply {
    /// A row, which has been put where it was wanted.
    Row,
    /// The object ids of the types of the columns to come.
    Columns(Vec<u32>),
    /// A statement is over: the word of its tag, and how many rows it was about.
    Complete(String, u64),
    /// A portal has more rows.
    Suspended,
    /// A statement has failed; the rest of the pipeline is passed over.
    Failed(Error),
    /// A remark.
    Notice(Error),
    /// The pipeline is over.
    Ready,
}

/// A row as it came.
#[derive(Debug, Default)]
pub struct RowBytes {
    /// All cells, and whatever lies between them.
    pub bytes: Vec<u8>,
    /// Where each of them begins and ends; `None` is NULL.
    pub cells: Vec<Option<(usize, usize)>>,
}

impl RowBytes {
    /// A cell.
    pub fn cell(&self, at: usize) -> Option<&[u8]> {
        let (from, to) = (*self.cells.get(at)?)?;
        self.bytes.get(from..to)
    }

    /// Begins a row anew.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
    }
}

/// The server behind a database, and what is known of it.
#[derive(Debug)]
pub struct Behind {
    server: Arc<dyn Upstream>,
    manner: Manner,
    /// What is made here beside the tables is kept.
    keeps: bool,
    placements: Placements,
    /// Sees whether the schema there has changed.
    watch: shadow::Watch,
    /// Which version of the schema for MySQL's rules is there.
    installed: Option<u32>,
    /// Foreign keys there can be told not to look.
    skips_keys: bool,
}

/// Whose statement it is that is to run there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker {
    /// A MySQL client's.
    pub mysql: bool,
    /// Who counts the rows that an UPDATE finds.
    pub counts_found: bool,
}

/// A statement that runs there.
#[derive(Debug)]
pub(crate) struct There {
    /// What is said to the server.
    pub said: Said,
    pub kind: Kind,
    /// The query of one row that works out here what the server cannot.
    pub asked: Option<Arc<Prepared>>,
    /// Columns that are worked out here, out of those that the server returns.
    pub late: Option<Late>,
    /// The query of how many rows there are without LIMIT, for FOUND_ROWS().
    pub counts: Option<Arc<Prepared>>,
}

/// How rows of the client's are made of rows of the server's.
#[derive(Debug)]
pub(crate) struct Late {
    /// The server's columns.
    pub columns: Vec<Type>,
    /// The client's.
    pub items: Vec<Item<Arc<Prepared>>>,
}

/// What a statement there is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// It has rows to be read.
    Query,
    /// It changes rows.
    Change,
    /// It changes the schema, which is to be changed here as well.
    Schema,
    /// It makes a table of a query's rows, which is to be made here without them.
    TableOfQuery,
    /// It is of no consequence here.
    Alone,
    /// It is done here first, which says what is wrong with it.
    Both,
}

impl Behind {
    /// Connects, and learns what tables there are.
    ///
    /// # Errors
    /// The server's, or `08001` where there is none; `0A000` for placements where it is no cluster.
    pub(crate) fn begin(database: &Database, server: Arc<dyn Upstream>, placements: Placements) -> Result<()> {
        let watch = shadow::Watch::new(Line::new(
            server.clone(),
            "rowferry".to_owned(),
            Interrupter::new(crate::memory::UNLIMITED),
        ));
        watch.refuse_shared(&Line::new(
            server.clone(),
            "rowferry".to_owned(),
            Interrupter::new(crate::memory::UNLIMITED),
        ))?;
        let by_code_points = watch.orders_by_rules()?;
        let installed = watch.installed()?;
        let manner = Manner {
            with_heirs: true,
            by_code_points,
            shows_places: true,
            defers_keys: true,
            installed: installed == Some(postgres::VERSION),
            ..Manner::default()
        };
        if !placements.is_empty() && !watch.is_cluster()? {
            let message = "placing tables in a database without Citus";
            return Err(Error::unsupported(message).hint("CREATE EXTENSION citus there, or leave --place out."));
        }
        let skips_keys = watch.may_skip_keys()?;
        watch.begin(database)?;
        let keeps = !database.is_temporary();
        database.shared.behind.set(Self { server, manner, keeps, placements, watch, installed, skips_keys }).ok();
        Ok(())
    }

    /// Which version of the schema for MySQL's rules is there.
    pub(crate) fn installed(&self) -> Option<u32> {
        self.installed
    }

    /// What places the table that a statement has made; `None` where it stays as it is.
    pub(crate) fn placing(&self, statement: &Statement) -> Option<String> {
        let create = match statement {
            Statement::CreateTableAs(create) => &create.table,
            Statement::Ddl(ddl) => match &**ddl {
                Ddl::CreateTable(create) => create,
                _ => return None,
            },
            _ => return None,
        };
        if create.temporary { None } else { self.placements.words(&create.name) }
    }

    /// A line for a session.
    pub(crate) fn line(&self, user: &str, interrupter: &Interrupter) -> Arc<Line> {
        Arc::new(Line::new(self.server.clone(), format!("rowferry: {user}"), interrupter.clone()))
    }

    /// Looks whether the schema there has changed since, and learns it anew then. Without `now` not more often than every
    /// other second, and by one session at a time.
    ///
    /// # Errors
    /// The server's.
    pub(crate) fn look(&self, database: &Database, now: bool) -> Result<bool> {
        self.watch.look(database, now)
    }

    /// A column has a default there which is not known here.
    pub(crate) fn has_own_default(&self, relation: &Relation, at: usize) -> bool {
        self.watch.has_own_default(relation, at)
    }

    /// Whether what a MySQL client changes while it has `foreign_key_checks` off is to be said so that no foreign key there
    /// looks at it: false where none would, and where that server lets nobody say so.
    ///
    /// # Errors
    /// `0A000` for what would be carried on nevertheless, or would not be asked what it is to be asked.
    pub(crate) fn skips_keys(&self, statement: &Statement, schema: &SessionSchema) -> Result<bool> {
        let mut skips = false;
        for (target, change) in changed(statement) {
            let mut keys = self.watch.keys(target);
            // What was made here just now has not been seen there.
            keys.any |= !target.foreign_keys.is_empty();
            for child in schema.children(target) {
                (keys.any, keys.referred) = (true, keys.referred || child.oid != target.oid);
                for key in child.foreign_keys.iter().filter(|key| key.leads_to(target)) {
                    let carries = |action| !matches!(action, ReferentialAction::NoAction | ReferentialAction::Restrict);
                    keys.carries_deletes |= carries(key.rules.on_delete);
                    if carries(key.rules.on_update) {
                        let columns = crate::catalog::describe::target_columns(target, key);
                        keys.carries_updates.extend(columns.iter().map(|at| target.columns[*at].name.clone()));
                    }
                }
            }
            if !keys.any || change == Change::Truncate && !keys.referred {
                continue;
            }
            if let (Some(guard), true) = (&keys.guard, self.skips_keys) {
                let message = format!(
                    "foreign_key_checks = 0 for a change of a table with {guard}, in front of a PostgreSQL server"
                );
                return Err(Error::unsupported(message).hint("They would not be asked. SET foreign_key_checks = 1."));
            }
            let updates =
                |columns: &[usize]| columns.iter().any(|at| keys.carries_updates.contains(&target.columns[*at].name));
            let carried = match &change {
                Change::Insert => false,
                Change::Update(columns) => updates(columns),
                Change::Delete => keys.carries_deletes,
                Change::Truncate => true,
            };
            if carried && !self.skips_keys {
                return Err(keys_are_asked("what it changes would be carried on to other rows"));
            }
            skips |= self.skips_keys;
        }
        Ok(skips)
    }

    /// How a statement runs there; `None` for one that stays here.
    ///
    /// # Errors
    /// `0A000` for what the server cannot be told.
    pub(crate) fn plan(&self, bound: &Bound, schema: &SessionSchema, speaker: Speaker) -> Result<Option<There>> {
        let Some(kind) = kind_of(&bound.statement, speaker)? else {
            if !self.keeps
                && matches!(bound.statement, Statement::Ddl(_))
                && bound.effects.schema
                && !is_mysql_type(&bound.statement)
            {
                return Err(nothing_kept());
            }
            return Ok(None);
        };
        if !self.keeps && moves_columns(&bound.statement) {
            return Err(nothing_kept());
        }
        let manner = Manner { mysql: speaker.mysql, counts_found: speaker.counts_found, ..self.manner };
        let said = postgres::lower_for(bound, manner, &Knowing { schema, watch: &self.watch })?;
        Ok(Some(There { said, kind, asked: None, late: None, counts: None }))
    }
}

/// What a statement does to the rows of a table.
#[derive(Eq, PartialEq)]
enum Change {
    Insert,
    /// Of these columns.
    Update(Vec<usize>),
    Delete,
    Truncate,
}

/// The tables whose rows a statement changes, and how.
fn changed(statement: &Statement) -> Vec<(&Relation, Change)> {
    fn of<'a>(dml: &'a Dml, found: &mut Vec<(&'a Relation, Change)>) {
        for cte in &dml.ctes {
            if let CteBody::Dml(beside) = &cte.body {
                of(beside, found);
            }
        }
        let columns = |assignments: &[(usize, Expr)]| assignments.iter().map(|(at, _)| *at).collect();
        match &dml.action {
            DmlAction::Insert { on_conflict, .. } => {
                found.push((&dml.target, Change::Insert));
                if let Some(ConflictAction::Update { assignments, .. }) =
                    on_conflict.as_ref().map(|conflict| &conflict.action)
                {
                    found.push((&dml.target, Change::Update(columns(assignments))));
                }
                if dml.one_by_one.as_ref().is_some_and(|rule| rule.replaces) {
                    found.push((&dml.target, Change::Delete));
                }
            }
            DmlAction::Update { assignments, .. } => found.push((&dml.target, Change::Update(columns(assignments)))),
            DmlAction::Delete { .. } => found.push((&dml.target, Change::Delete)),
        }
    }
    let mut found = Vec::new();
    match statement {
        Statement::Dml(dml) => of(dml, &mut found),
        Statement::Ddl(ddl) => {
            if let Ddl::Truncate { tables, .. } = &**ddl {
                found.extend(tables.iter().map(|table| (&**table, Change::Truncate)));
            }
        }
        _ => {}
    }
    found
}

/// Foreign keys there look at everything.
pub(crate) fn keys_are_asked(why: &str) -> Error {
    let message = format!("foreign_key_checks = 0 where the PostgreSQL server behind asks its foreign keys: {why};");
    Error::unsupported(message).hint(
        "GRANT SET ON PARAMETER session_replication_role there to the user of the URL, and start this server anew.",
    )
}

/// What a session knows of the tables there.
struct Knowing<'a> {
    schema: &'a SessionSchema,
    watch: &'a shadow::Watch,
}

impl Known for Knowing<'_> {
    fn sequence(&self, oid: u32) -> Option<QualifiedName> {
        let found = self.schema.sequence_by_oid(oid)?;
        Some(QualifiedName::new(found.sequence.namespace.clone(), found.sequence.name.clone()))
    }

    fn has_places(&self, relation: &Relation) -> bool {
        self.watch.has_places(relation)
    }

    fn hides_defaults(&self, relation: &Relation) -> bool {
        (0..relation.columns.len()).any(|at| self.watch.has_own_default(relation, at))
    }

    fn is_referred_to(&self, relation: &Relation) -> bool {
        self.schema.children(relation).next().is_some()
    }

    fn answers_alike(&self, routine: u32) -> bool {
        let mut routines = self.schema.main.routines.iter().chain(self.schema.temp.routines.iter());
        let found = routines.find(|known| known.oid == routine);
        found.and_then(|routine| routine.parsed().ok()).is_some_and(|parsed| parsed.not_variant)
    }
}

fn nothing_kept() -> Error {
    let message = "there is no file to keep this in beside the PostgreSQL server";
    Error::unsupported(message).hint("Start the server with --beside FILE.")
}

/// Columns get other places: those that they have there stay.
fn moves_columns(statement: &Statement) -> bool {
    let Statement::Ddl(ddl) = statement else { return false };
    let moves = |action: &AlterTable| matches!(action, AlterTable::MoveColumn { .. });
    matches!(&**ddl, Ddl::AlterTable { actions, .. } if actions.iter().any(moves))
}

/// One of MySQL's own types, or the schema that they are in. They are nothing there.
fn is_mysql_type(statement: &Statement) -> bool {
    let Statement::Ddl(ddl) = statement else { return false };
    match &**ddl {
        Ddl::UserType(UserTypeChange::Create { name, .. }) => name.schema.as_deref() == Some(mysql::types::SCHEMA),
        Ddl::CreateSchema { name, .. } => name == mysql::types::SCHEMA,
        _ => false,
    }
}

/// Makes what MySQL's rules need in the database there, or brings it up to date.
///
/// # Errors
/// The server's.
pub fn install(server: &Arc<dyn Upstream>) -> Result<()> {
    let interrupter = Interrupter::new(crate::memory::UNLIMITED);
    let line = Line::new(server.clone(), "rowferry".to_owned(), interrupter);
    let mut statements = vec!["BEGIN".to_owned(), "SELECT pg_advisory_xact_lock(8104420260)".to_owned()];
    statements.extend(postgres::installation());
    statements.push("COMMIT".to_owned());
    line.command(&statements.join("; "), Within::default(), "").map(drop)
}

fn kind_of(statement: &Statement, speaker: Speaker) -> Result<Option<Kind>> {
    let refused = |what: &str| Err(Error::unsupported(format!("{what} in front of a PostgreSQL server")));
    if is_mysql_type(statement) {
        return Ok(None);
    }
    Ok(Some(match statement {
        Statement::Query(_) if !needs_server(statement) => return Ok(None),
        Statement::Query(_) => Kind::Query,
        Statement::Dml(_) | Statement::Merge(_) => Kind::Change,
        Statement::CreateTableAs(create) if create.definition.is_none() => Kind::TableOfQuery,
        Statement::CreateTableAs(_) | Statement::RefreshView(_) => return refused("a materialized view"),
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::Truncate { .. } => Kind::Alone,
            // What the catalogs show of it, and whether its triggers fire, is kept here.
            Ddl::AlterTable { actions, .. }
                if actions.iter().all(|action| {
                    matches!(action, AlterTable::SetProperty { .. } | AlterTable::SetTriggers { .. })
                }) =>
            {
                return Ok(None);
            }
            Ddl::CreateSchema { .. } => Kind::Schema,
            Ddl::CreateTable(_)
            | Ddl::CreateIndex(_)
            | Ddl::AlterTable { .. }
            | Ddl::CreateSequence(_)
            | Ddl::AlterSequence { .. }
            | Ddl::Rename { .. }
            | Ddl::CreateView(_) => Kind::Schema,
            // What IF EXISTS has let pass is not told.
            Ddl::Drop(drop) if drop.names.is_empty() => return Ok(None),
            Ddl::Drop(drop)
                if matches!(
                    drop.kind,
                    ObjectKind::Table
                        | ObjectKind::Index
                        | ObjectKind::Sequence
                        | ObjectKind::View
                        | ObjectKind::Schema
                ) =>
            {
                Kind::Schema
            }
            // What stands beside the tables is kept here.
            Ddl::CreateFunction(_)
            | Ddl::AlterFunction(_)
            | Ddl::DropFunctions { .. }
            | Ddl::Comment { .. }
            | Ddl::CommentPart { .. }
            | Ddl::CommentObject { .. }
                if speaker.mysql =>
            {
                return Ok(None);
            }
            Ddl::Trigger(_)
            | Ddl::CreateSynonym { .. }
            | Ddl::CreateRoutine(_)
            | Ddl::DropRoutine(_)
            | Ddl::CreateAggregate(_)
            | Ddl::DropAggregate { .. }
            | Ddl::CreateInformixCast(_)
            | Ddl::DropInformixCast { .. }
            | Ddl::CreateType(_)
            | Ddl::DropType { .. } => {
                return Ok(None);
            }
            Ddl::Drop(drop) if drop.kind == ObjectKind::Synonym => return Ok(None),
            Ddl::Access { .. } => return refused("GRANT and REVOKE, since rights are the server's,"),
            _ => return refused("this change of the schema"),
        },
        Statement::Lock(_) | Statement::SetConstraints { .. } => Kind::Both,
        Statement::Maintain(Maintenance::Analyze { tables, all, .. }) if *all || !tables.is_empty() => Kind::Alone,
        // The copy here has no rows.
        Statement::CallProcedure(_) | Statement::CallRoutine(_) | Statement::ExecutePrepared { .. }
            if needs_server(statement) =>
        {
            return refused("a call with a query among its arguments");
        }
        _ => return Ok(None),
    }))
}

/// True for a statement that reads tables of users, or asks a sequence.
fn needs_server(statement: &Statement) -> bool {
    let named = ir::named_relations(statement);
    let asked_about = asked_about(statement);
    let reads = named.iter().any(|(id, named)| match named {
        Named::Relation(_) if asked_about.contains(id) => false,
        Named::Relation(relation) => relation.kind != RelationKind::Catalog && relation.oid >= FIRST_USER_OID,
        _ => false,
    });
    reads || ir::asks_sequences(statement)
}

/// Relations of which a query wants to know whether they are there, and no rows: SHOW asks for those of none.
fn asked_about(statement: &Statement) -> Vec<RelId> {
    let mut found = Vec::new();
    if let Statement::Query(query) = statement {
        asked_about_in(query, &mut found);
    }
    found
}

fn asked_about_in(query: &Query, found: &mut Vec<RelId>) {
    let Body::Select(select) = &query.body else { return };
    if let Some(From::Query { query, .. }) = &select.from {
        asked_about_in(query, found);
    }
    let Some(filter) = &select.filter else { return };
    walk::expr(filter, &mut |part| {
        if let ExprKind::Exists(inner) = &part.kind
            && let Body::Select(asked) = &inner.body
            && asked.filter.as_ref().is_some_and(is_never)
        {
            found.extend(ir::named_relations(&Statement::Query(inner.clone())).into_keys());
        }
        true
    });
}

/// A condition that no row holds.
fn is_never(filter: &Expr) -> bool {
    let ExprKind::Compare { op: CompareOp::Equal, left, right } = &filter.kind else { return false };
    let values = (&left.kind, &right.kind);
    matches!(values, (ExprKind::Literal(Value::Integer(a)), ExprKind::Literal(Value::Integer(b))) if a != b)
}

/// Object ids of what users make begin here.
const FIRST_USER_OID: u32 = 16_384;
