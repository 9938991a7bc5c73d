//! Statements.

use std::sync::Arc;

use rowferry_encodings::Encoding;

use super::ddl::Ddl;
use super::expr::Expr;
use super::lock::LockTable;
use super::query::{Cte, From, OutputColumn, Query, RelId};
use crate::schema::Relation;

/// A bound statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, TABLE.
    Query(Box<Query>),
    /// SELECT … INTO / CREATE TABLE AS: the rows go into a new table.
    CreateTableAs(Box<CreateTableAs>),
    /// CREATE TABLE … AS EXECUTE.
    CreateTableOfPrepared(Box<CreateTableOfPrepared>),
    /// REFRESH MATERIALIZED VIEW.
    RefreshView(Box<RefreshView>),
    /// INSERT, UPDATE, DELETE.
    Dml(Box<Dml>),
    /// MERGE.
    Merge(Box<super::Merge>),
    /// A change of a relation whose rules have made it into others.
    Rewritten(Box<super::Rewritten>),
    /// A change of the schema.
    Ddl(Box<Ddl>),
    /// BEGIN and its kin.
    Transaction(Transaction),
    /// SET, RESET.
    Set(SetVariable),
    /// SHOW: yields one row and one column; `None` is SHOW ALL.
    Show(Option<String>),
    /// EXPLAIN of a query or DML.
    Explain(Box<Explain>),
    /// PREPARE name AS statement (SQL level).
    Prepare {
        /// The name.
        name: String,
        /// The statement's text.
        text: String,
        /// Declared parameter types.
        params: Vec<crate::Type>,
    },
    /// EXECUTE name (args).
    ExecutePrepared {
        /// The name.
        name: String,
        /// Constant arguments.
        args: Vec<Expr>,
    },
    /// DEALLOCATE name; `None` is ALL.
    Deallocate(Option<String>),
    /// DECLARE name CURSOR FOR query.
    DeclareCursor {
        /// The name.
        name: String,
        /// SCROLL.
        scroll: bool,
        /// WITH HOLD.
        hold: bool,
        /// BINARY.
        binary: bool,
        /// The query.
        query: Box<Query>,
    },
    /// FETCH / MOVE.
    Fetch {
        /// The cursor.
        cursor: String,
        /// Where to.
        direction: FetchDirection,
        /// MOVE: no rows are returned.
        no_rows: bool,
    },
    /// CLOSE name; `None` is ALL.
    CloseCursor(Option<String>),
    /// DISCARD ALL and its kin.
    Discard(Discard),
    /// LISTEN, NOTIFY, UNLISTEN.
    Notify(Notify),
    /// EXECUTE FUNCTION or EXECUTE PROCEDURE of a routine that users have made.
    CallRoutine(CallRoutine),
    /// CALL of a procedure that users have made in PostgreSQL's way.
    CallProcedure(CallProcedure),
    /// DO.
    Do(Arc<crate::stored_function::StoredFunction>),
    /// LOCK TABLE.
    Lock(LockTable),
    /// COPY … FROM STDIN / TO STDOUT.
    Copy(Box<Copy>),
    /// SET CONSTRAINTS.
    SetConstraints {
        /// These; none is ALL.
        names: Vec<crate::schema::QualifiedName>,
        /// DEFERRED; otherwise IMMEDIATE.
        deferred: bool,
    },
    /// VACUUM and its kin.
    Maintain(Maintenance),
    /// CREATE DATABASE and its kin.
    Database(DatabaseChange),
    /// A statement that has nothing to do but is correct: what IF EXISTS and the like let pass.
    Nothing {
        /// The completion tag.
        tag: &'static str,
    },
}

/// What happens to a database as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum DatabaseChange {
    /// CREATE DATABASE.
    Create {
        /// Its name.
        name: String,
        /// The database that it begins as; `None` is an empty one.
        template: Option<String>,
        /// Whose it is; `None` is who makes it.
        owner: Option<super::RoleSpec>,
        /// Locales that were asked for; text is ordered by its code points in every database.
        locales: Vec<String>,
        /// What is said of it, by the names of [`DatabaseFacts`](crate::access::roles::DatabaseFacts).
        facts: Vec<(&'static str, Option<String>)>,
    },
    /// DROP DATABASE.
    Drop {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
        /// FORCE: sessions in it end.
        force: bool,
    },
    /// ALTER DATABASE … RENAME TO.
    Rename {
        /// Its name.
        name: String,
        /// Its new name.
        to: String,
    },
}

impl DatabaseChange {
    /// The statement's words, which are its completion tag, too.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE DATABASE",
            Self::Drop { .. } => "DROP DATABASE",
            Self::Rename { .. } => "ALTER DATABASE",
        }
    }
}

/// Care for the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Maintenance {
    /// ANALYZE, UPDATE STATISTICS.
    Analyze {
        /// These tables.
        tables: Vec<Arc<Relation>>,
        /// None was named: all are meant.
        all: bool,
        /// What was named and is no table.
        skipped: Vec<String>,
    },
    /// CHECKPOINT.
    Checkpoint,
    /// REINDEX.
    Reindex {
        /// These tables.
        tables: Vec<Arc<Relation>>,
        /// The tables of a schema, or (`Some(None)`) all there are.
        all: Option<Option<String>>,
        /// Its words, where it cannot run inside a transaction block.
        alone: Option<&'static str>,
    },
    /// VACUUM.
    Vacuum {
        /// These tables.
        tables: Vec<Arc<Relation>>,
        /// None was named: all are meant.
        all: bool,
        /// FULL.
        full: bool,
        /// ANALYZE, too.
        analyze: bool,
        /// What was named and is no table.
        skipped: Vec<String>,
    },
}

/// A call of a routine as a statement of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRoutine {
    /// The routine.
    pub routine: Arc<crate::schema::Routine>,
    /// A query of one row: the arguments, already of the parameters' types; `None` when there are none.
    pub args: Option<Box<Query>>,
    /// For each parameter whether it is given; the others get their defaults.
    pub given: Vec<bool>,
}

/// CALL.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProcedure {
    /// The procedure.
    pub function: Arc<crate::stored_function::StoredFunction>,
    /// What its polymorphic types stand for.
    pub standing: Option<crate::postgres::polymorphic::Standing>,
    /// A query of one row: its arguments; `None` when there are none.
    pub args: Option<Box<Query>>,
    /// MySQL's CALL: where what comes out of its parameters goes, one for each of these.
    pub targets: Vec<CallTarget>,
}

/// Where what comes out of a parameter goes.
#[derive(Clone, Debug, PartialEq)]
pub enum CallTarget {
    /// To the client, whose parameter it is.
    Client,
    /// To a variable of the user's.
    User(String),
    /// To a variable of the routine that calls, by the parts of its name.
    Variable(Vec<String>),
}

/// INSERT, UPDATE or DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct Dml {
    /// WITH.
    pub ctes: Vec<Cte>,
    /// The table that changes.
    pub target: Arc<Relation>,
    /// The target's id: for SET, WHERE and RETURNING.
    pub id: RelId,
    /// UPDATE and DELETE of a table that others inherit from: the rows of all of them, under `id`.
    pub family: Option<Box<super::Family>>,
    /// The changed table's rows are parted, or it has some rows of a table whose rows are: which go where.
    pub routing: Option<Box<super::Routing>>,
    /// The statement names a table that this one inherits from: it is no statement of its own for triggers.
    pub heir: Option<Heir>,
    /// The target is a view whose INSTEAD OF triggers take the rows: its query, under `id`.
    pub view: Option<Box<From>>,
    /// What happens to it.
    pub action: DmlAction,
    /// WITH CHECK OPTION of the views that it goes through, in the order in which they are asked.
    pub checks: Vec<ViewCheck>,
    /// What policies ask of its rows before they are written.
    pub guards: Option<Box<Guards>>,
    /// Its rows are changed one after another, by MySQL's rules.
    pub one_by_one: Option<Box<OneByOne>>,
    /// RETURNING; one expression for each of `columns`.
    pub returning: Vec<Expr>,
    /// The columns that it yields; empty without RETURNING.
    pub columns: Vec<OutputColumn>,
}

/// How MySQL changes rows where it matters that they come one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneByOne {
    /// ORDER BY of an UPDATE or DELETE.
    pub order: Vec<super::SortKey>,
    /// IGNORE: a row that a constraint refuses stays what it was, with a warning.
    pub ignores: bool,
    /// REPLACE: rows whose keys a new one has are gone before it comes.
    pub replaces: bool,
}

/// What a table that inherits is changed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Heir {
    /// The table that the statement names.
    pub head: Arc<Relation>,
    /// A row is on its way from one partition to another: of the table that the statement names it is an UPDATE.
    pub moves: bool,
}

impl Heir {
    /// What an event is for the table that the statement names.
    pub const fn event(&self, event: super::TriggerEvent) -> super::TriggerEvent {
        if self.moves { super::TriggerEvent::Update } else { event }
    }
}

/// A condition that each row must meet which is stored through a view.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewCheck {
    /// The view that asks for it.
    pub view: String,
    /// Over the changed table's row as it has been stored.
    pub condition: Expr,
}

/// Conditions that rows must meet, or the statement fails: asked when all BEFORE triggers have seen a row, and before any
/// constraint is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guards {
    /// The table that asks.
    pub table: String,
    /// Of a row that is inserted.
    pub inserted: Vec<Guard>,
    /// Of what a row is updated to.
    pub updated: Vec<Guard>,
    /// Of a row that ON CONFLICT or MERGE is to update, as it was.
    pub met: Vec<Guard>,
    /// Of a row that MERGE is to delete.
    pub deleted: Vec<Guard>,
}

/// One of those conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The restrictive policy that asks; the permissive ones ask together.
    pub policy: Option<String>,
    /// What it is asked of, for messages.
    pub row: GuardedRow,
    /// Over the changed table's row.
    pub condition: Expr,
}

/// A row of which a policy asks something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GuardedRow {
    /// A row that is stored.
    New,
    /// The row that an INSERT has met.
    InTheWay,
    /// The row that a MERGE has met.
    Target,
}

impl Guard {
    /// The policy does not let the row pass.
    pub fn error(&self, table: &str) -> crate::Error {
        let (row, using) = match self.row {
            GuardedRow::New => ("new", ""),
            GuardedRow::InTheWay => ("new", " (USING expression)"),
            GuardedRow::Target => ("target", " (USING expression)"),
        };
        let policy = self.policy.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
        let message = format!("{row} row violates row-level security policy{policy}{using} for table \"{table}\"");
        crate::Error::new(crate::Condition::InsufficientPrivilege, message)
    }
}

/// What happens to a table.
#[derive(Clone, Debug, PartialEq)]
pub enum DmlAction {
    /// INSERT.
    Insert {
        /// Target columns, by position, in the order of the source's. Columns that are left out and have no native
        /// default have been added with their default by the front end.
        columns: Vec<usize>,
        /// The rows.
        source: InsertSource,
        /// ON CONFLICT.
        on_conflict: Option<OnConflict>,
    },
    /// UPDATE.
    Update {
        /// Columns by position with their new values, already of the column's type.
        assignments: Vec<(usize, Expr)>,
        /// UPDATE … FROM.
        from: Option<From>,
        /// WHERE.
        filter: Option<Expr>,
        /// WHERE CURRENT OF.
        current_of: Option<String>,
    },
    /// DELETE.
    Delete {
        /// DELETE … USING.
        using: Option<From>,
        /// WHERE.
        filter: Option<Expr>,
        /// WHERE CURRENT OF.
        current_of: Option<String>,
    },
}

/// The rows of an INSERT.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// VALUES; members may be [`super::ExprKind::Default`] where the column's default is native.
    Values(Vec<Vec<Expr>>),
    /// A query whose columns already have the target columns' types.
    Query(Box<Query>),
    /// DEFAULT VALUES.
    Defaults,
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq)]
pub struct OnConflict {
    /// The index that arbitrates; `None` is any.
    pub arbiter: Option<Arbiter>,
    /// Where any arbitrates and a row may meet several others: the order in which the indexes are asked. The first that meets
    /// a row says which row that is.
    pub in_turn: Vec<Arbiter>,
    /// What to do.
    pub action: ConflictAction,
}

/// A unique index that says which rows are in each other's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Arbiter {
    /// Its place in the target's `indexes`.
    pub index: usize,
    /// Its keys, over columns of [`super::Text::TABLE`].
    pub keys: Vec<Expr>,
    /// Its condition, over the same.
    pub predicate: Option<Expr>,
}

/// What to do about a conflict.
#[derive(Clone, Debug, PartialEq)]
pub enum ConflictAction {
    /// DO NOTHING.
    Nothing,
    /// DO UPDATE.
    Update {
        /// The row that could not be inserted (`excluded`) as a relation.
        excluded: RelId,
        /// New values.
        assignments: Vec<(usize, Expr)>,
        /// WHERE.
        filter: Option<Expr>,
    },
}

/// A table made of a query's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTableAs {
    /// The table, its columns typed after the query's.
    pub table: super::ddl::CreateTable,
    /// The rows.
    pub query: Query,
    /// WITH NO DATA.
    pub no_data: bool,
    /// It is a materialised view of this query.
    pub definition: Option<String>,
}

/// A table made of the rows of a prepared statement, whose columns are known when it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTableOfPrepared {
    /// The prepared statement's name.
    pub statement: String,
    /// Constant arguments.
    pub args: Vec<Expr>,
    /// The table, without columns.
    pub table: super::ddl::CreateTable,
    /// The columns' names, as far as they are said.
    pub names: Vec<String>,
    /// WITH NO DATA.
    pub no_data: bool,
}

impl CreateTableOfPrepared {
    /// The table made of a query.
    ///
    /// # Errors
    /// `42601` for too many names, `42701` for two columns of a name.
    pub fn of_query(&self, mut query: Query) -> crate::Result<CreateTableAs> {
        let mut table = self.table.clone();
        table.columns = super::ddl::ColumnDefinition::of_query(&mut query, &self.names)?;
        Ok(CreateTableAs { table, query, no_data: self.no_data, definition: None })
    }
}

/// A materialised view whose rows are to be those that its query has now.
#[derive(Clone, Debug, PartialEq)]
pub struct RefreshView {
    /// The view.
    pub view: std::sync::Arc<Relation>,
    /// Its rows; `None` is WITH NO DATA.
    pub query: Option<Query>,
    /// CONCURRENTLY: whoever reads it meanwhile sees its old rows.
    pub concurrently: bool,
}

/// Transaction control.
#[derive(Clone, Debug, PartialEq)]
pub enum Transaction {
    /// BEGIN.
    Begin(TransactionModes),
    /// START TRANSACTION, which is the same under another name.
    Start(TransactionModes),
    /// COMMIT; with AND CHAIN.
    Commit {
        /// Start the next at once.
        chain: bool,
    },
    /// ROLLBACK; with AND CHAIN.
    Rollback {
        /// Start the next at once.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint(String),
    /// RELEASE.
    Release(String),
    /// ROLLBACK TO.
    RollbackTo(String),
    /// SET TRANSACTION SNAPSHOT.
    ImportSnapshot(String),
    /// SET TRANSACTION (or SESSION CHARACTERISTICS when `session`).
    SetModes {
        /// For the session's later transactions.
        session: bool,
        /// The modes.
        modes: TransactionModes,
    },
}

/// Modes of a transaction; `None` leaves the default.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TransactionModes {
    /// Isolation level.
    pub isolation: Option<Isolation>,
    /// READ ONLY, READ WRITE.
    pub read_only: Option<bool>,
    /// DEFERRABLE.
    pub deferrable: Option<bool>,
}

/// An isolation level (Informix's DIRTY READ is read uncommitted, CURSOR STABILITY read committed).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Isolation {
    /// READ UNCOMMITTED: served as READ COMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

/// SET or RESET of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct SetVariable {
    /// Lower-case name; `None` is RESET ALL.
    pub name: Option<String>,
    /// The values as text, nearly always one; `None` is DEFAULT.
    pub values: Option<Vec<String>>,
    /// It is spelt RESET.
    pub reset: bool,
    /// SET LOCAL.
    pub local: bool,
}

/// EXPLAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// ANALYZE: run it.
    pub analyze: bool,
    /// VERBOSE: schemas stand before names.
    pub verbose: bool,
    /// TIMING: how long each step took; as ANALYZE unless said otherwise.
    pub timing: bool,
    /// SUMMARY: how long planning and running took; as ANALYZE unless said otherwise.
    pub summary: bool,
    /// FORMAT.
    pub format: ExplainFormat,
    /// What.
    pub statement: Statement,
    /// The columns of its rows.
    pub columns: Vec<crate::plan::ResultColumn>,
}

/// In which form EXPLAIN tells the plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExplainFormat {
    /// TEXT: a row for each line.
    Text,
    /// XML, in one row.
    Xml,
    /// JSON, in one row.
    Json,
    /// YAML, in one row.
    Yaml,
}

/// Where a FETCH goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FetchDirection {
    /// So many forward; `i64::MAX` is ALL; 0 is the row where the cursor stands.
    Forward(i64),
    /// So many backward.
    Backward(i64),
    /// To a row, from 1; from the end when negative.
    Absolute(i64),
    /// To a row, seen from here.
    Relative(i64),
}

/// What DISCARD forgets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Discard {
    /// Everything of the session.
    All,
    /// Cached plans.
    Plans,
    /// Sequence states.
    Sequences,
    /// Temporary tables.
    Temp,
}

/// Notifications.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notify {
    /// LISTEN.
    Listen(String),
    /// UNLISTEN; `None` is `*`.
    Unlisten(Option<String>),
    /// NOTIFY channel, payload.
    Notify(String, String),
}

/// COPY between the client and a table or query.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// From the client into the table: an INSERT whose values are parameters, one for each column.
    pub from: Option<Dml>,
    /// To the client: a query.
    pub to: Option<Query>,
    /// A table is named, and no query.
    pub table: bool,
    /// For each column of that query, the table's column that it is: relation's oid and position from 0.
    pub origins: Vec<Option<(u32, usize)>>,
    /// Options.
    pub options: CopyOptions,
}

/// Options of COPY.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CopyOptions {
    /// The format.
    pub format: CopyFormat,
    /// Column separator.
    pub delimiter: u8,
    /// What stands for NULL.
    pub null: String,
    /// What the first line is.
    pub header: CopyHeader,
    /// FREEZE: only into a table that the transaction has made or emptied.
    pub freeze: bool,
    /// CSV's quote.
    pub quote: u8,
    /// CSV's escape.
    pub escape: u8,
    /// What the data are in; `None` for what the client's texts are in.
    pub encoding: Option<&'static Encoding>,
    /// Columns whose values are always in quotes, by their places in the row.
    pub force_quote: Vec<usize>,
    /// Columns that have no NULL in their data, likewise.
    pub force_not_null: Vec<usize>,
    /// Columns where NULL may stand in quotes, likewise.
    pub force_null: Vec<usize>,
}

/// The first line of COPY's data.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CopyHeader {
    /// A row.
    #[default]
    None,
    /// Names of columns, which are not looked at.
    Named,
    /// Names of columns, which must be those of the table.
    Match,
}

/// A format of COPY.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CopyFormat {
    /// PostgreSQL's binary format.
    Binary,
    /// Comma-separated values.
    Csv,
    /// PostgreSQL's text format.
    Text,
}
