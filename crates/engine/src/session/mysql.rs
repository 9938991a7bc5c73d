//! What statements of MySQL's do besides: some are several of ours, definitions commit, and without autocommit the first
//! statement begins a transaction.

use std::collections::HashMap;
use std::sync::Arc;

use rowferry_dialect::access::Privileges;
use rowferry_dialect::ir::{
    Account, ConflictAction, Ddl, DmlAction, Expr, ExprKind, InsertSource, ObjectKind, OnConflict, Statement as Ir,
    Transaction, TransactionModes, Value, walk,
};
use rowferry_dialect::mysql::{self, Control, LateKey, PreparedFrom, SQL_MODE};
use rowferry_dialect::plan::Command;
use rowferry_dialect::schema::{Column, QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Language, Result, Schema as _, Type, postgres};

use super::parsed::Parsed;
use super::state::Told;
use super::table_maintenance::Said;
use super::transaction::Block;
use super::{Outcome, Prepared, Session};
use crate::schema::PUBLIC;

/// The setting behind `autocommit`.
const AUTOCOMMIT: &str = "mysql.autocommit";

/// An upsert that meets more rows than these tells the number of its last new row, and not that of the first.
const MOST_MET: usize = 100_000;

/// What a session counts, and the statements that have names.
#[derive(Debug, Default)]
pub struct State {
    /// Affected rows are those that were found, not those that were changed.
    counts_found: bool,
    /// Rows of the last statement that its condition has found.
    matched: u64,
    /// Those of them that have become others.
    changed: u64,
    /// What the last statement has done beside the rows that it wrote: each row that is replaced counts twice.
    beside: u64,
    /// Rows that the last statement has met instead of inserting its own.
    met: Met,
    /// FOUND_ROWS().
    found_rows: i64,
    /// The statement that runs has counted them itself.
    calculated: bool,
    /// PREPARE: texts by their names.
    prepared: HashMap<String, Arc<str>>,
    /// What CHECK TABLE and its kin have to say.
    pub maintained: Vec<Said>,
}

/// What an upsert knows of rows that were there already, in a table that numbers its rows.
#[derive(Debug, Default)]
struct Met {
    /// Numbers that rows were to have which have not become any.
    void: Vec<i64>,
    /// The number of the row met last.
    last: Option<i64>,
    /// The number of the one changed last.
    changed: Option<i64>,
    /// How many were written.
    written: u64,
}

impl State {
    /// An upsert has met a row of this number; its own was to have the other.
    pub fn meet(&mut self, met: Option<i64>, given: Option<i64>) {
        self.met.last = met;
        if self.met.void.len() < MOST_MET {
            self.met.void.extend(given);
        }
    }

    /// Counts a row by what becomes of it; whether it is to be written.
    pub fn changes(&mut self, mode: i64, changed: bool) -> bool {
        match mode {
            0 => {
                self.matched += 1;
                self.changed += u64::from(changed);
            }
            4 => self.beside += 1,
            mode => {
                self.beside += u64::from(changed);
                if mode == 1 {
                    self.met.written += u64::from(changed || self.counts_found);
                    self.met.changed = if changed { self.met.last } else { self.met.changed };
                }
            }
        }
        changed || mode == 2 || mode == 4 || self.counts_found
    }

    /// What the statement that runs has done beside the rows that it wrote.
    pub fn beside(&self) -> u64 {
        self.beside
    }

    pub fn set_beside(&mut self, rows: u64) {
        self.beside = rows;
    }

    pub fn found_rows(&self) -> i64 {
        self.found_rows
    }

    pub fn calculate(&mut self, rows: i64) {
        (self.found_rows, self.calculated) = (rows, true);
    }

    /// Affected rows are those that were found.
    pub fn counts_found(&self) -> bool {
        self.counts_found
    }

    /// A statement begins.
    fn begin(&mut self) {
        (self.matched, self.changed, self.beside, self.calculated) = (0, 0, 0, false);
        self.met = Met::default();
    }

    /// The session is another user's from here on.
    pub fn forget(&mut self) {
        let counts_found = self.counts_found;
        *self = Self { counts_found, ..Self::default() };
    }
}

impl Session {
    /// Whether affected rows are those that were found (CLIENT_FOUND_ROWS) or those that were changed.
    pub fn count_found_rows(&mut self, found: bool) {
        self.state.mysql.lock().counts_found = found;
    }

    /// How many rows the last UPDATE has found.
    pub fn rows_matched(&self) -> u64 {
        self.state.mysql.lock().matched
    }

    /// How many of `rows` that an UPDATE tells as affected it has changed: those that it has found are told as affected,
    /// too, where the client wants that.
    pub fn rows_changed(&self, rows: u64) -> u64 {
        let state = self.state.mysql.lock();
        if state.counts_found && state.matched == rows { state.changed } else { rows }
    }

    /// A query has yielded so many rows: what FOUND_ROWS() says, unless the query has counted for itself.
    pub fn rows_yielded(&self, rows: u64) {
        let mut state = self.state.mysql.lock();
        if !state.calculated {
            state.found_rows = i64::try_from(rows).unwrap_or(i64::MAX);
        }
    }

    /// Runs a statement of MySQL's.
    pub(super) fn execute_mysql(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        text: Option<&Arc<str>>,
    ) -> Result<Outcome> {
        self.state.mysql.lock().begin();
        let statement = prepared.parsed.statement();
        let parts = statement.map(|statement| statement.then().to_vec()).unwrap_or_default();
        let silent = statement.is_some_and(|statement| statement.is_silent());
        let defines = !parts.is_empty() || matches!(prepared.bound.statement, Ir::Ddl(_) | Ir::CreateTableAs(_));
        if defines && !self.inner && self.transaction.block == Block::Explicit {
            self.end_commit()?;
        } else if self.transaction.block == Block::None && self.begins_by_itself(prepared) {
            self.begin(TransactionModes::default())?;
        }
        if self.transaction.block == Block::None
            && matches!(prepared.bound.statement, Ir::Query(_) | Ir::Dml(_))
            && !silent
        {
            // The statement was the transaction.
            self.next_modes = TransactionModes::default();
        }
        if self.transaction.block != Block::Explicit
            && let Ir::Transaction(control) = &prepared.bound.statement
        {
            match control {
                // It ends with the statement that it is.
                Transaction::Savepoint(_) => return Ok(Outcome::Done { command: prepared.command, rows: 0 }),
                Transaction::Release(name) | Transaction::RollbackTo(name) => return Err(unknown_savepoint(name)),
                _ => {}
            }
        }
        match statement.and_then(|statement| statement.control().cloned()) {
            Some(Control::Use(database)) => self.use_mysql_database(&database)?,
            Some(Control::Kill { number, query }) => self.kill(number, query)?,
            Some(Control::Prepare { name, from }) => self.prepare_from(name, &from)?,
            Some(Control::Execute { name, using }) => return self.execute_using(&name, &using),
            Some(Control::Deallocate(name)) => {
                if self.state.mysql.lock().prepared.remove(&name).is_none() {
                    return Err(unknown_statement(&name, "DEALLOCATE PREPARE"));
                }
            }
            Some(Control::Of(database)) => {
                self.schema_of_mysql_database(&database)?;
            }
            Some(Control::Maintain(maintenance)) => self.maintain_mysql(&maintenance)?,
            Some(Control::Roles { roles, accounts }) => self.check_memberships(&roles, &accounts)?,
            Some(Control::Into | Control::Account(_)) | None => {}
        }
        let before = {
            let mut sequences = self.state.sequences.lock();
            sequences.told = None;
            sequences.serial
        };
        let drops_tables = matches!(&prepared.bound.statement, Ir::Ddl(ddl)
            if matches!(ddl.as_ref(), Ddl::Drop(drop) if drop.kind == ObjectKind::Table));
        if drops_tables && self.postgres_context().keys_unchecked {
            return self.drop_checked_by_nobody(prepared, text);
        }
        if parts.is_empty() && makes_table(prepared) {
            return self.as_one_transaction(|session| {
                let outcome = session.execute_one(prepared, params, text)?;
                session.add_late_keys()?;
                Ok(outcome)
            });
        }
        if parts.is_empty() {
            let mut outcome = self.execute_one(prepared, params, text)?;
            match &mut outcome {
                Outcome::Done { command: Command::Insert | Command::Update | Command::Delete, rows } => {
                    if prepared.upstream.is_none() {
                        self.first_of_numbered(prepared, params, *rows, before);
                    }
                    *rows += self.state.mysql.lock().beside;
                    self.routine_state().set_rows_processed(*rows);
                }
                Outcome::Rows(_) if !silent => self.routine_state().count_as_processed(-1),
                // Its last statement has said so.
                Outcome::Done { .. } if matches!(prepared.bound.statement, Ir::CallProcedure(_)) => {}
                _ => self.routine_state().count_as_processed(0),
            }
            if statement.and_then(|statement| statement.control()) == Some(&Control::Into) {
                return self.fill_variables(outcome);
            }
            return if silent { silenced(outcome) } else { Ok(outcome) };
        }
        self.as_one_transaction(|session| session.run_one_by_one(&parts, text))
    }

    /// The parts of a statement, one after another.
    fn run_one_by_one(&mut self, parts: &[postgres::Parsed], text: Option<&Arc<str>>) -> Result<Outcome> {
        let mut last = Outcome::Done { command: Command::Utility(""), rows: 0 };
        let mut makes = false;
        for part in parts {
            if part.unless().is_some_and(|name| self.has_mysql_type(name)) {
                continue;
            }
            let plan = self.prepare_parsed(&Parsed::of_part(part), &[])?;
            makes |= makes_table(&plan);
            last = silenced(self.execute_one(&plan, &[], text)?)?;
            if matches!(plan.bound.statement, Ir::Nothing { tag: "CREATE TABLE" }) {
                // IF NOT EXISTS: it keeps the keys that it has.
                return Ok(last);
            }
        }
        if makes {
            self.add_late_keys()?;
        }
        Ok(last)
    }

    /// Makes the foreign keys that have waited for a table that is there now.
    fn add_late_keys(&mut self) -> Result<()> {
        self.refresh_schema();
        let mut found = Vec::new();
        for table in self.schema.user_relations() {
            let Some(details) = self.schema.details(table.oid) else { continue };
            for (_, name, value) in details.properties.all() {
                if name == LateKey::PROPERTY
                    && let Some(key) = LateKey::of_property(value)
                    && self.schema.relation(&QualifiedName::new(key.namespace.clone(), key.table.clone())).is_some()
                {
                    found.push(key.statement(&table.namespace, &table.name));
                }
            }
        }
        found.iter().try_for_each(|statement| self.run_text(statement))
    }

    /// Runs a statement of our own making.
    fn run_text(&mut self, text: &str) -> Result<()> {
        for statement in self.parse_own(text)? {
            let plan = self.prepare_parsed(&statement, &[])?;
            silenced(self.execute_mysql(&plan, &[], None)?)?;
        }
        Ok(())
    }

    /// DROP TABLE where nobody checks foreign keys: those of other tables wait for a table of that name.
    fn drop_checked_by_nobody(&mut self, prepared: &Arc<Prepared>, text: Option<&Arc<str>>) -> Result<Outcome> {
        let mut keys = Vec::new();
        if let Ir::Ddl(ddl) = &prepared.bound.statement
            && let Ddl::Drop(drop) = ddl.as_ref()
        {
            for name in &drop.names {
                let Some(table) = self.schema.relation(name) else { continue };
                for child in self.schema.children(&table) {
                    let goes = |name: &QualifiedName| self.schema.relation(name).is_some_and(|it| it.oid == child.oid);
                    if drop.names.iter().any(goes) {
                        continue;
                    }
                    let own = child
                        .foreign_keys
                        .iter()
                        .filter(|key| self.schema.relation(&key.target).is_some_and(|target| target.oid == table.oid));
                    for key in own {
                        let referred = crate::catalog::describe::target_columns(&table, key);
                        let late = LateKey::new(
                            &key.name,
                            key.columns.iter().map(|at| child.columns[*at].name.as_str()),
                            (&table.namespace, &table.name),
                            referred.iter().map(|at| table.columns[*at].name.as_str()),
                            (key.rules.on_delete.words(), key.rules.on_update.words()),
                        );
                        let dropped = LateKey::dropped(&child.namespace, &child.name, &key.name);
                        keys.push((dropped, late.statement(&child.namespace, &child.name)));
                    }
                }
            }
        }
        self.as_one_transaction(|session| {
            keys.iter().try_for_each(|(dropped, _)| session.run_text(dropped))?;
            // What was bound knew them.
            let again = session.prepare_parsed(&prepared.parsed, &[])?;
            let outcome = session.execute_one(&again, &[], text)?;
            keys.iter().try_for_each(|(_, waits)| session.run_text(waits))?;
            Ok(outcome)
        })
    }

    /// SET ROLE and SET DEFAULT ROLE: the rights of roles count for their members as it is; who is no member is told so.
    fn check_memberships(&mut self, roles: &[Account], accounts: &[Account]) -> Result<()> {
        self.refresh_schema();
        let known = self.schema.main.roles.clone();
        for account in accounts {
            let user = account.user.clone().unwrap_or_else(|| self.user.to_string());
            let member = self.schema.role_oid(&user);
            for role in roles {
                let name = role.user.as_deref().unwrap_or_default();
                let host = role.host.as_deref().unwrap_or("%");
                let found = self.schema.role_oid(name).zip(member);
                if found.is_some_and(|(role, member)| known.is_member(member, role)) {
                    continue;
                }
                let account = account.host.as_deref().unwrap_or("%");
                let message = format!("`{name}`@`{host}` is not granted to `{user}`@`{account}`");
                return Err(Error::new(Condition::UndefinedObject, message).with_mysql(3530, "HY000"));
            }
        }
        Ok(())
    }

    /// What `sql_mode` says.
    pub fn mysql_modes(&self) -> mysql::Modes {
        self.state.variables.read().kept(SQL_MODE).map_or_else(mysql::Modes::default, mysql::Modes::of)
    }

    /// What a plan depends on besides: the value of `sql_mode` where it is not the usual one, and of which kinds the
    /// user's variables are.
    pub(super) fn mysql_told(&self) -> Arc<str> {
        let kinds = self.state.user_kinds.lock().clone();
        // A server behind is told whether rows count that are found.
        let counts = self.line().is_some() && self.state.mysql.lock().counts_found;
        let kinds: Arc<str> = if counts { format!("found {kinds}").into() } else { kinds };
        match self.state.variables.read().kept(SQL_MODE) {
            None => kinds,
            Some(modes) => format!("{modes} {kinds}").into(),
        }
    }

    /// The column of an INSERT's table that numbers itself, in MySQL's language.
    fn self_numbered<'p>(&self, prepared: &'p Prepared) -> Option<(&'p Arc<Relation>, &'p Column)> {
        let Ir::Dml(dml) = &prepared.bound.statement else { return None };
        if self.language() != Language::Mysql || !matches!(dml.action, DmlAction::Insert { .. }) {
            return None;
        }
        Some((&dml.target, dml.target.columns.iter().find(|column| column.numbers_itself())?))
    }

    /// Refuses rows whose numbers are beyond their column: counters know no type.
    ///
    /// # Errors
    /// `23505` (1062), as the last number is given once more.
    pub(super) fn check_numbers(&mut self, prepared: &Prepared) -> Result<()> {
        let Some((table, column)) = self.self_numbered(prepared) else { return Ok(()) };
        let Some(most) = mysql::types::greatest(&column.ty) else { return Ok(()) };
        let handle = self.handle()?;
        let guard = handle.lock();
        // What triggers have inserted is counted, too; and a statement that has changed a row has inserted none.
        if column.row_identity && prepared.triggers.is_none() && guard.last_identity_given() <= most {
            return Ok(());
        }
        match self.checked(guard.greatest(table, &column.name))? {
            Some(greatest) if greatest > most => {
                let rows = i64::try_from(guard.changes()).unwrap_or(i64::MAX);
                // Where the first of several has had a number, the next finds none.
                Err(if greatest.saturating_sub(rows) < most { none_left() } else { taken(table, column, most) })
            }
            _ => Ok(()),
        }
    }

    /// What a failure means where there is no number left.
    pub(super) fn out_of_numbers(&mut self, prepared: &Prepared, error: Error) -> Error {
        if error.condition() != Condition::DiskFull {
            return error;
        }
        let Some((table, column)) = self.self_numbered(prepared) else { return error };
        match self.on_handle(|handle| handle.greatest(table, &column.name)) {
            Ok(Some(i64::MAX)) => taken(table, column, i64::MAX),
            _ => error,
        }
    }

    /// LAST_INSERT_ID is the number that the first of the rows gave itself, and what it was where all were given theirs.
    fn first_of_numbered(&self, prepared: &Prepared, params: &[Value], rows: u64, before: Option<i64>) {
        let Ir::Dml(dml) = &prepared.bound.statement else { return };
        let DmlAction::Insert { columns, source, on_conflict } = &dml.action else { return };
        let mut sequences = self.state.sequences.lock();
        let Some(Told::Row(last)) = sequences.told else { return };
        if rows == 0 {
            (sequences.serial, sequences.told) = (before, None);
            return;
        }
        let numbered = dml.target.columns.iter().position(|column| column.row_identity && column.numbers_itself());
        if prepared.triggers.is_some() || numbered.is_none() {
            return;
        }
        let at = numbered.and_then(|numbered| columns.iter().position(|column| *column == numbered));
        if let Some(conflict) = on_conflict {
            let asks =
                |row: &Vec<Expr>| at.is_none_or(|at| row.get(at).is_none_or(|value| asks_for_number(value, params)));
            let (some_ask, all_ask) = match source {
                InsertSource::Values(all) => (all.iter().any(asks), all.iter().all(asks)),
                _ => (at.is_none(), at.is_none()),
            };
            let mut state = self.state.mysql.lock();
            let met = std::mem::take(&mut state.met);
            drop(state);
            if !some_ask {
                sequences.serial = before;
            }
            if !tells_met(conflict) {
                return;
            }
            let inserted = rows.saturating_sub(met.written);
            if inserted == 0 {
                (sequences.serial, sequences.told) = (before, met.changed.map(Told::Row));
            } else if all_ask && met.void.len() < MOST_MET {
                // Rows take their numbers in turn, those that have not become any, too.
                let greatest = met.void.iter().copied().fold(last, i64::max);
                let given = i64::try_from(inserted).unwrap_or(i64::MAX).saturating_add(met.void.len() as i64);
                let least = greatest.saturating_sub(given).saturating_add(1);
                let first = (least..=last).find(|number| !met.void.contains(number)).unwrap_or(last);
                sequences.serial = Some(first);
                sequences.told = Some(Told::Row(first));
            }
            return;
        }
        // Of those at the end, how many were not given a number.
        let own = match (source, at) {
            (_, None) => rows,
            (InsertSource::Values(all), Some(at)) => {
                let own = |row: &&Vec<Expr>| row.get(at).is_none_or(|value| asks_for_number(value, params));
                all.iter().rev().take_while(own).count() as u64
            }
            _ => return,
        };
        match own.checked_sub(1).and_then(|before| i64::try_from(before).ok()) {
            Some(before) => {
                sequences.serial = Some(last - before);
                sequences.told = Some(Told::Row(last - before));
            }
            None => sequences.serial = before,
        }
    }

    /// The numbers that the server behind has given to new rows: LAST_INSERT_ID is that of the first that was given none.
    pub(super) fn note_numbers(&self, prepared: &Prepared, params: &[Value], numbers: &[i64]) {
        let Ir::Dml(dml) = &prepared.bound.statement else { return };
        let DmlAction::Insert { columns, source, on_conflict } = &dml.action else { return };
        let Some(last) = numbers.last() else { return };
        let mut sequences = self.state.sequences.lock();
        if matches!(sequences.told, Some(Told::Said(_))) {
            return;
        }
        let numbered = dml.target.columns.iter().position(Column::numbers_itself);
        let at = numbered.and_then(|numbered| columns.iter().position(|column| *column == numbered));
        let first = match (source, at) {
            (InsertSource::Values(rows), Some(at)) => {
                let asks = |row: &Vec<Expr>| row.get(at).is_none_or(|value| asks_for_number(value, params));
                let place = rows.iter().position(asks);
                // Of rows that are passed over nobody knows which they were.
                place.map(|place| if on_conflict.is_some() { 0 } else { place })
            }
            _ => Some(0),
        };
        match first.and_then(|place| numbers.get(place)) {
            Some(first) => {
                sequences.serial = Some(*first);
                sequences.told = Some(Told::Row(*first));
            }
            None => sequences.told = Some(Told::Row(*last)),
        }
    }

    /// The number that clients are told of the last statement's rows: what LAST_INSERT_ID(n) said, the one that the first
    /// gave itself, or the one that the last was given.
    pub fn told_number(&self) -> Option<i64> {
        self.state.sequences.lock().told.map(|(Told::Said(number) | Told::Row(number))| number)
    }

    /// SELECT … INTO: the rows are those that have gone into the variables.
    fn fill_variables(&mut self, outcome: Outcome) -> Result<Outcome> {
        let Outcome::Rows(mut cursor) = outcome else { return Ok(outcome) };
        let mut rows = 0;
        while cursor.next()?.is_some() {
            rows += 1;
        }
        if rows == 0 {
            let message = "No data - zero rows fetched, selected, or processed";
            self.state.notices.lock().push(Error::new(Condition::NoDataFound, message).with_mysql(1329, "02000"));
        }
        Ok(Outcome::Done { command: Command::Utility(""), rows })
    }

    /// PREPARE … FROM.
    fn prepare_from(&mut self, name: String, from: &PreparedFrom) -> Result<()> {
        let text: Arc<str> = match from {
            PreparedFrom::Text(text) => text.as_str().into(),
            PreparedFrom::Variable(variable) => match self.state.user_variables.lock().get(variable) {
                Some(Value::Text(text)) => text.as_str().into(),
                Some(Value::Integer(number)) => number.to_string().into(),
                _ => "NULL".into(),
            },
        };
        // One that fails leaves none of the name.
        self.state.mysql.lock().prepared.remove(&name);
        let parsed = self.parse(&text)?;
        let [statement] = parsed.as_slice() else {
            return Err(Error::syntax("PREPARE wants one statement"));
        };
        if statement.postgres().and_then(|statement| statement.control()).is_some_and(is_of_prepared) {
            let message = "This command is not supported in the prepared statement protocol yet";
            return Err(Error::new(Condition::FeatureNotSupported, message).with_mysql(1295, "HY000"));
        }
        match self.prepare_parsed(statement, &[]) {
            Ok(_) => {}
            // What it is will be known with its values.
            Err(error) if error.condition() == Condition::IndeterminateDatatype => {}
            Err(error) => return Err(error),
        }
        self.state.mysql.lock().prepared.insert(name, text);
        Ok(())
    }

    /// EXECUTE … USING.
    fn execute_using(&mut self, name: &str, using: &[String]) -> Result<Outcome> {
        let Some(text) = self.state.mysql.lock().prepared.get(name).cloned() else {
            return Err(unknown_statement(name, "EXECUTE"));
        };
        let values: Vec<Value> = {
            let variables = self.state.user_variables.lock();
            using.iter().map(|name| variables.get(name).cloned().unwrap_or(Value::Null)).collect()
        };
        let types: Vec<Option<Type>> = values
            .iter()
            .map(|value| match value {
                Value::Null => None,
                Value::Integer(_) => Some(Type::Int8),
                Value::Real(_) => Some(Type::Float8),
                Value::Text(_) => Some(Type::Text),
                Value::Blob(_) => Some(Type::Bytea),
            })
            .collect();
        let Some(plan) = self.prepare(&text, &types)? else {
            return Err(Error::internal("a prepared statement that is none"));
        };
        if plan.bound.params.len() != values.len() {
            return Err(Error::new(Condition::UndefinedParameter, "Incorrect arguments to EXECUTE"));
        }
        self.execute_mysql(&plan, &values, Some(&text))
    }

    /// KILL.
    ///
    /// # Errors
    /// `42704` (1094) where there is no such session, `42501` where it is another user's.
    fn kill(&self, number: u64, query: bool) -> Result<()> {
        let known = u32::try_from(number).ok();
        let found = match known {
            Some(number) if query => self.cancel_other(number),
            Some(number) => self.end_other(number),
            None => Ok(false),
        };
        let found = found.map_err(|error| match error.condition().sqlstate() {
            "42501" => {
                let message = format!("You are not owner of thread {number}");
                Error::new(error.condition(), message).with_mysql(1095, "HY000")
            }
            _ => error,
        })?;
        if found {
            return Ok(());
        }
        let message = format!("Unknown thread id: {number}");
        Err(Error::new(Condition::UndefinedObject, message).with_mysql(1094, "HY000"))
    }

    /// The default database.
    pub fn mysql_database(&self) -> String {
        let path = self.state.variables.read().search_path();
        let first = path.iter().find(|name| self.schema.has_namespace(name));
        self.mysql_database_of(first.map_or(PUBLIC, String::as_str)).to_owned()
    }

    /// What clients are told as the database of what lies in a namespace: `public` is the file's own.
    pub fn mysql_database_of<'n>(&'n self, namespace: &'n str) -> &'n str {
        if namespace == PUBLIC { self.database.name() } else { namespace }
    }

    /// USE: names without a database are looked for there. The file's own database is called as the file.
    ///
    /// # Errors
    /// `3D000` (1049) for one that is not there.
    pub fn use_mysql_database(&mut self, name: &str) -> Result<()> {
        self.refresh_schema();
        let path = rowferry_dialect::postgres::quote_ident(self.schema_of_mysql_database(name)?);
        self.state.variables.write().set("search_path", Some(&path), false)?;
        self.sync_variables();
        Ok(())
    }

    /// The schema that is a database.
    pub(super) fn schema_of_mysql_database<'n>(&self, name: &'n str) -> Result<&'n str> {
        let schema = if name.eq_ignore_ascii_case(self.database.name()) { "public" } else { name };
        // Those that every server has.
        let is_own = matches!(schema, "mysql" | "information_schema" | "performance_schema" | "sys");
        if !is_own && !self.schema.has_namespace(schema) {
            return Err(Error::new(Condition::InvalidCatalogName, format!("Unknown database '{name}'")));
        }
        if !is_own && !self.schema.may(schema, Privileges::USAGE) {
            return Err(self.denied_database(schema));
        }
        Ok(schema)
    }

    /// Without autocommit, what reads or writes begins a transaction.
    fn begins_by_itself(&self, prepared: &Prepared) -> bool {
        let off = |value: String| matches!(value.to_ascii_lowercase().as_str(), "0" | "off");
        !self.inner
            && matches!(
                prepared.bound.statement,
                Ir::Query(_) | Ir::Dml(_) | Ir::Transaction(Transaction::Savepoint(_))
            )
            && self.state.variables.read().get(AUTOCOMMIT).is_some_and(off)
            && !prepared.parsed.statement().is_some_and(|statement| statement.is_silent())
    }

    /// A type of MySQL's is there; the schema of them all, for no name.
    fn has_mysql_type(&self, name: &str) -> bool {
        match name {
            "" => self.schema.has_namespace(mysql::types::SCHEMA),
            name => self.schema.user_type(&QualifiedName::new(mysql::types::SCHEMA, name)).is_some(),
        }
    }
}

impl Prepared {
    /// MySQL's clients are sent rows: of what is a query here only (SET NAMES), or goes on behind one, they are not.
    pub fn sends_rows(&self) -> bool {
        let hides = |statement: &postgres::Parsed| {
            statement.is_silent() || !statement.then().is_empty() || statement.control() == Some(&Control::Into)
        };
        self.returns_rows() && !self.parsed.statement().is_some_and(hides)
    }

    /// The database that becomes the session's when it runs: USE of MySQL's.
    pub fn used_database(&self) -> Option<&str> {
        match self.parsed.postgres()?.control()? {
            Control::Use(database) => Some(database),
            _ => None,
        }
    }
}

/// The last number is there already.
fn taken(table: &Relation, column: &Column, number: i64) -> Error {
    let at = table.columns.iter().position(|other| other.name == column.name);
    let index =
        table.indexes.iter().find(|index| index.unique && matches!(index.columns.as_slice(), [only] if *only == at));
    match index {
        Some(index) if !rowferry_dialect::values::mysql::unsigned::is_wide(&column.ty) => {
            let message = format!("duplicate key value violates unique constraint \"{}\"", index.name);
            let error = Error::new(Condition::UniqueViolation, message).constraint(&index.name);
            error
                .detail(format!("Key ({})=({number}) already exists.", column.name))
                .table(&table.namespace, &table.name)
        }
        _ => none_left(),
    }
}

fn none_left() -> Error {
    let message = "Failed to read auto-increment value from storage engine";
    Error::new(Condition::SequenceGeneratorLimitExceeded, message).with_mysql(1467, "HY000")
}

/// A value of a column that numbers itself leaves it to do so.
fn asks_for_number(value: &Expr, params: &[Value]) -> bool {
    let ExprKind::Numbered { given, .. } = &value.kind else { return true };
    let Some(given) = given else { return true };
    let mut asks = false;
    walk::expr(given, &mut |part| {
        if let ExprKind::Param(number) = &part.kind {
            asks |= match params.get(*number) {
                None | Some(Value::Null | Value::Integer(0)) => true,
                Some(Value::Text(text)) => text.trim() == "0",
                Some(_) => false,
            };
        }
        true
    });
    asks
}

/// CREATE TABLE, by whatever its columns are said.
fn makes_table(prepared: &Prepared) -> bool {
    match &prepared.bound.statement {
        Ir::Ddl(ddl) => matches!(**ddl, Ddl::CreateTable(_)),
        Ir::CreateTableAs(_) => true,
        _ => false,
    }
}

/// PREPARE and its kin, which cannot be prepared.
fn is_of_prepared(control: &Control) -> bool {
    matches!(control, Control::Prepare { .. } | Control::Execute { .. } | Control::Deallocate(_))
}

fn unknown_statement(name: &str, who: &str) -> Error {
    let message = format!("Unknown prepared statement handler ({name}) given to {who}");
    Error::new(Condition::UndefinedObject, message).with_mysql(1243, "HY000")
}

fn unknown_savepoint(name: &str) -> Error {
    Error::new(Condition::SavepointException, format!("SAVEPOINT {name} does not exist")).with_mysql(1305, "42000")
}

/// An outcome without the rows.
fn silenced(outcome: Outcome) -> Result<Outcome> {
    match outcome {
        Outcome::Rows(mut cursor) => {
            while cursor.next()?.is_some() {}
            Ok(Outcome::Done { command: Command::Utility(""), rows: 0 })
        }
        done => Ok(done),
    }
}

/// An upsert that tells which rows it meets.
fn tells_met(conflict: &OnConflict) -> bool {
    let ConflictAction::Update { filter: Some(filter), .. } = &conflict.action else { return false };
    let mut tells = false;
    walk::expr(filter, &mut |part| {
        tells |= matches!(&part.kind, ExprKind::Call { function, .. } if function.name == postgres::MEETING);
        !tells
    });
    tells
}
