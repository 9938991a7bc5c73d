//! Prepared statements, and cursors on them.

use std::collections::HashMap;
use std::sync::Arc;

use rowferry_engine::{Condition, Cursor, Error, Outcome, Prepared, Type, mask_secrets};
use rowferry_wire_mysql::messages::execute::{Execution, ParamType, cursor_flag};
use rowferry_wire_mysql::messages::statement::{PrepareOk, StatementId};
use rowferry_wire_mysql::messages::status::status_flag;

use super::query::Asked;
use super::{MysqlSession, Obeyed, misread};
use crate::mysql::values::{Given, RowWriter, given, parameter, stored};
use crate::mysql::{report, told};

/// As many as MySQL keeps for all of its sessions.
const MOST: usize = 16_382;
/// Bytes of values that come piece by piece, all of a statement's together.
const MOST_LONG: usize = 1 << 30;

/// A session's prepared statements.
#[derive(Default)]
pub(super) struct Statements {
    all: HashMap<u32, Statement>,
    last: u32,
}

struct Statement {
    text: Arc<str>,
    params: usize,
    /// The plan of the last execution, and the types of the values that it was made for.
    plan: Option<(Vec<Option<Type>>, Arc<Prepared>)>,
    /// What the client has said last of its values.
    types: Vec<ParamType>,
    /// Values that come piece by piece.
    long: HashMap<u16, Vec<u8>>,
    /// Something was wrong with a piece, which the execution is told.
    long_failed: bool,
    /// Rows that are to be fetched.
    cursor: Option<(Cursor, Arc<RowWriter>)>,
}

impl Statements {
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn remove(&mut self, statement: StatementId) {
        self.all.remove(&statement.0);
    }

    /// Gives up a statement's cursor and the values that have come for it.
    pub(super) fn reset(&mut self, id: StatementId) -> Result<(), Error> {
        let statement = self.get(id, "mysqld_stmt_reset")?;
        statement.cursor = None;
        statement.long.clear();
        statement.long_failed = false;
        Ok(())
    }

    fn get(&mut self, id: StatementId, who: &str) -> Result<&mut Statement, Error> {
        self.all.get_mut(&id.0).ok_or_else(|| {
            let message = format!("Unknown prepared statement handler ({}) given to {who}", id.0);
            report::own(1243, "HY000", message)
        })
    }

    fn insert(&mut self, statement: Statement) -> Result<StatementId, Error> {
        if self.all.len() >= MOST {
            let message = format!("Can't create more than max_prepared_stmt_count statements (current value: {MOST})");
            return Err(report::own(1461, "42000", message));
        }
        loop {
            self.last = self.last.wrapping_add(1);
            // The largest number means "the last one" to MariaDB's clients.
            if self.last != 0 && self.last != u32::MAX && !self.all.contains_key(&self.last) {
                break;
            }
        }
        self.all.insert(self.last, statement);
        Ok(StatementId(self.last))
    }
}

impl MysqlSession<'_> {
    pub(super) fn prepare(&mut self, sql: &[u8]) -> Obeyed {
        let text = self.statement(sql)?;
        tracing::debug!(connection = self.wire.connection.number(), sql = &*mask_secrets(&text), "prepare");
        let plan = match self.session.prepare(&text, &[]) {
            Ok(Some(plan)) => Some(plan),
            Ok(None) => return Err(report::own(1065, "42000", "Query was empty").into()),
            // What it is will be known with its values.
            Err(error) if hangs_on_values(&error) => None,
            Err(error) => return Err(error.into()),
        };
        self.session.end_implicit()?;
        let types = plan.as_ref().map(|plan| plan.bound.params.clone());
        let params = match &types {
            Some(types) => types.len(),
            None => rowferry_dialect::mysql::parameters(&text, self.session.mysql_modes()),
        };
        let count = u16::try_from(params)
            .map_err(|_| report::own(1390, "HY000", "Prepared statement contains too many placeholders"))?;
        let param_definitions: Vec<_> =
            (0..params).map(|at| parameter(types.as_ref().and_then(|types| types.get(at)))).collect();
        let columns = match &plan {
            Some(plan) if plan.sends_rows() => {
                let writer = RowWriter::of(&mut self.session, plan, &plan.bound.columns, true);
                writer.definitions.clone()
            }
            _ => Vec::new(),
        };
        let plan = plan.filter(|plan| plan.bound.params.is_empty()).map(|plan| (Vec::new(), plan));
        let id = self.statements.insert(Statement {
            text,
            params,
            plan,
            types: Vec::new(),
            long: HashMap::new(),
            long_failed: false,
            cursor: None,
        })?;
        let warnings = told::warnings(&mut self.session);
        let columns_count = u16::try_from(columns.len()).map_err(|_| report::own(1117, "HY000", "Too many columns"))?;
        let ok = PrepareOk { statement: id, columns: columns_count, params: count, warnings };
        self.wire.server.prepared(ok, &param_definitions, &columns, told::status(&self.session));
        Ok(())
    }

    /// A piece of a value; nothing is answered, so what is wrong with it the execution is told.
    pub(super) fn long_data(&mut self, id: StatementId, param: u16, data: &[u8]) {
        let Ok(statement) = self.statements.get(id, "") else { return };
        let so_far: usize = statement.long.values().map(Vec::len).sum();
        let room = rowferry_dialect::work::room(data.len()).is_ok() && so_far + data.len() <= MOST_LONG;
        if usize::from(param) >= statement.params || !room {
            statement.long_failed = true;
            return;
        }
        statement.long.entry(param).or_default().extend_from_slice(data);
    }

    pub(super) fn execute(&mut self, execution: &Execution<'_>) -> Obeyed {
        self.questions += 1;
        if execution.flags & !cursor_flag::READ_ONLY != 0 {
            return Err(Error::unsupported("a cursor that is FOR UPDATE or can go back").into());
        }
        let statement = self.statements.get(execution.statement, "mysqld_stmt_execute")?;
        statement.cursor = None;
        let long = std::mem::take(&mut statement.long);
        if std::mem::take(&mut statement.long_failed) {
            let message = "Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                           'max_long_data_size' bytes, or is none";
            return Err(report::own(1301, "HY000", message).into());
        }
        let is_long = |at: usize| u16::try_from(at).is_ok_and(|at| long.contains_key(&at));
        let values = execution.values(statement.params, &mut statement.types, is_long);
        let values = values.map_err(|malformed| misread(&malformed))?;
        let (types, text) = (statement.types.clone(), statement.text.clone());
        let settings = self.session.settings();
        let given = values.iter().zip(&types).enumerate().map(|(at, (value, ty))| {
            let long = u16::try_from(at).ok().and_then(|at| long.get(&at)).map(Vec::as_slice);
            given(*ty, value, long, &settings)
        });
        let given = given.collect::<Result<Vec<Given>, Error>>()?;
        let fetched = execution.flags & cursor_flag::READ_ONLY != 0;
        match self.execute_given(execution.statement, &text, &given, fetched) {
            // Its tables have changed since: once more, with a plan of now.
            Err(super::Failure::Error(error)) if error.condition() == Condition::StalePlan => {
                if let Ok(statement) = self.statements.get(execution.statement, "") {
                    statement.plan = None;
                }
                self.execute_given(execution.statement, &text, &given, fetched)
            }
            other => other,
        }
    }

    fn execute_given(&mut self, id: StatementId, text: &Arc<str>, given: &[Given], fetched: bool) -> Obeyed {
        let plan = self.plan_for(id, text, given)?;
        let settings = self.session.settings();
        let wanted = &plan.bound.params;
        if wanted.len() != given.len() {
            let message = "Incorrect arguments to mysqld_stmt_execute";
            return Err(report::own(1210, "HY000", message).into());
        }
        let values = given.iter().zip(wanted).map(|(given, ty)| stored(given, ty, &settings));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        if fetched && plan.returns_rows() {
            return self.open_cursor(id, &plan, &values);
        }
        self.run_statement(&Asked { plan: &plan, values: &values, text: None, binary: true, more: false })
    }

    /// The plan for values of these types: that of the last execution, while its values had the same.
    fn plan_for(&mut self, id: StatementId, text: &Arc<str>, given: &[Given]) -> Obeyed<Arc<Prepared>> {
        let types: Vec<Option<Type>> = given.iter().map(|given| given.ty.clone()).collect();
        if let Some((known, plan)) = &self.statements.get(id, "mysqld_stmt_execute")?.plan
            && *known == types
        {
            return Ok(plan.clone());
        }
        let Some(plan) = self.session.prepare(text, &types)? else {
            return Err(report::own(1065, "42000", "Query was empty").into());
        };
        self.statements.get(id, "mysqld_stmt_execute")?.plan = Some((types, plan.clone()));
        Ok(plan)
    }

    /// Runs a statement whose rows are to be fetched.
    fn open_cursor(&mut self, id: StatementId, plan: &Arc<Prepared>, values: &[rowferry_dialect::ir::Value]) -> Obeyed {
        let Outcome::Rows(mut cursor) = self.session.execute(plan, values)? else {
            return Err(Error::internal("a query without rows").into());
        };
        // As in MySQL the rows are those of this moment, and outlive the transaction.
        cursor.read_ahead()?;
        let writer = RowWriter::of(&mut self.session, cursor.plan(), cursor.columns(), true);
        self.session.end_implicit()?;
        self.wire.server.columns(&writer.definitions, 0, true);
        self.statements.get(id, "mysqld_stmt_execute")?.cursor = Some((cursor, writer));
        self.end_of_rows(status_flag::CURSOR_EXISTS);
        Ok(())
    }

    pub(super) fn fetch(&mut self, id: StatementId, rows: u32) -> Obeyed {
        let Some((mut cursor, writer)) = self.statements.get(id, "mysqld_stmt_fetch")?.cursor.take() else {
            let message = format!("The statement ({}) has no open cursor.", id.0);
            return Err(report::own(1421, "HY000", message).into());
        };
        // It is only known that the rows are over once one more was asked for, and then they are told to be.
        let over = self.send_rows(&mut cursor, &writer, Some(u64::from(rows)))?;
        if over {
            self.end_of_rows(status_flag::LAST_ROW_SENT);
            return Ok(());
        }
        self.end_of_rows(status_flag::CURSOR_EXISTS);
        self.statements.get(id, "mysqld_stmt_fetch")?.cursor = Some((cursor, writer));
        Ok(())
    }
}

/// True for what cannot be compiled without knowing what the values are.
fn hangs_on_values(error: &Error) -> bool {
    matches!(
        error.condition(),
        Condition::IndeterminateDatatype
            | Condition::AmbiguousFunction
            | Condition::AmbiguousParameter
            | Condition::UndefinedFunction
            | Condition::DatatypeMismatch
            | Condition::CannotCoerce
    )
}
