//! INSERT, UPDATE, DELETE.

use std::sync::Arc;

use super::{Lowering, Naming, ParamForm, Repr, Source, Sql, quote, quote_text};
use crate::ir::{
    Body, ConflictAction, CteBody, Distinct, Dml, DmlAction, Expr, ExprKind, From, GroupBy, InsertSource, OnConflict,
    Query, Value, next_of,
};
use crate::schema::{Column, Relation};
use crate::{Error, Result};

impl Lowering<'_> {
    pub(super) fn dml(&mut self, dml: &Dml) -> Result<String> {
        if dml.family.is_some() {
            return Err(Error::unsupported(
                "a change of a table that others inherit from, as one statement of SQLite,",
            ));
        }
        if dml.routing.is_some() {
            return Err(Error::unsupported("a change of a partitioned table as one statement of SQLite"));
        }
        let mut sql = self.dml_with(dml)?;
        let target = &dml.target;
        let alias = self.define_table(dml.id, target);
        let name = self.table(target);
        match &dml.action {
            DmlAction::Insert { columns, source, on_conflict } => {
                sql.push_str(&format!("INSERT INTO {name} AS {alias}"));
                sql.push_str(&self.insert(target, columns, source, on_conflict.is_some())?);
                if let Some(on_conflict) = on_conflict {
                    sql.push_str(&self.on_conflict(target, on_conflict)?);
                }
            }
            DmlAction::Update { assignments, from, filter, current_of } => {
                refuse_current_of(current_of.as_ref(), filter.as_ref())?;
                let from = self.other_tables(from.as_ref())?;
                let assignments = self.assignments(target, assignments)?;
                sql.push_str(&format!("UPDATE {name} AS {alias} SET {assignments}"));
                if let Some(from) = from {
                    sql.push_str(&format!(" FROM {from}"));
                }
                if let Some(filter) = filter {
                    sql.push_str(&format!(" WHERE {}", self.expr(filter)?.sql));
                }
            }
            DmlAction::Delete { using, filter, current_of } => {
                refuse_current_of(current_of.as_ref(), filter.as_ref())?;
                let using = self.other_tables(using.as_ref())?;
                sql.push_str(&format!("DELETE FROM {name} AS {alias}"));
                let filter = filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(|filter| filter.sql);
                match (using, filter) {
                    (None, None) => {}
                    (None, Some(filter)) => sql.push_str(&format!(" WHERE {filter}")),
                    (Some(using), filter) => {
                        let filter = filter.map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
                        sql.push_str(&format!(" WHERE EXISTS (SELECT 1 FROM {using}{filter})"));
                    }
                }
            }
        }
        if !dml.returning.is_empty() || !dml.checks.is_empty() {
            sql.push_str(&self.returning(dml)?);
        }
        Ok(sql)
    }

    fn dml_with(&mut self, dml: &Dml) -> Result<String> {
        if dml.ctes.is_empty() {
            return Ok(String::new());
        }
        if dml.ctes.iter().any(|cte| matches!(cte.body, CteBody::Dml(_))) {
            return Err(Error::unsupported("a data-modifying statement in WITH"));
        }
        self.with(&dml.ctes)
    }

    fn other_tables(&mut self, from: Option<&From>) -> Result<Option<String>> {
        let Some(from) = from else { return Ok(None) };
        let outer = std::mem::replace(&mut self.from_start, self.order.len());
        if self.assigns {
            self.fenced.extend(super::apart::made_first(from));
        }
        let from = self.from(from);
        self.from_start = outer;
        from.map(Some)
    }

    fn insert(
        &mut self,
        target: &Arc<Relation>,
        columns: &[usize],
        source: &InsertSource,
        has_conflict_clause: bool,
    ) -> Result<String> {
        // SQLite gives a rowid alias a number when it is left out; a key that is not to be given numbers is spelled
        // out as NULL and refused as such.
        let numbered = target.columns.iter().position(|column| column.row_identity && column.identity.is_none());
        let added = numbered.filter(|at| !columns.contains(at));
        match source {
            InsertSource::Defaults => match added {
                None => Ok(" DEFAULT VALUES".into()),
                Some(at) => {
                    let value = self.not_null(target, &target.columns[at], "NULL".into());
                    Ok(format!(" ({}) VALUES ({value})", quote(&target.columns[at].name)))
                }
            },
            InsertSource::Values(rows) => self.insert_values(target, columns, rows, added),
            InsertSource::Query(query) => {
                if columns.is_empty() && added.is_none() {
                    return Err(Error::unsupported("INSERT of a query's rows into no column"));
                }
                let apart = if has_conflict_clause { None } else { numbers_apart(target, columns, query) };
                let query = apart.as_ref().map_or(&**query, |apart| &apart.query);
                let (sql, reprs) = self.query(query, Naming::Positions)?;
                let mut names: Vec<_> = columns.iter().map(|at| quote(&target.columns[*at].name)).collect();
                let mut plain = true;
                let mut values = Vec::with_capacity(columns.len());
                let mut places = 0..;
                for at in columns {
                    let column = &target.columns[*at];
                    if let Some(apart) = apart.as_ref().filter(|apart| apart.column == *at) {
                        plain = false;
                        values.push(self.next_rowid(target, column, apart.sequence));
                        continue;
                    }
                    let place = places.next().unwrap_or_default();
                    let value = Sql { sql: format!("c{place}"), repr: reprs[place] };
                    let value = self.decimal_for(column, value, &query.columns[place].ty);
                    plain &= value == format!("c{place}");
                    values.push(if Some(*at) == numbered {
                        plain = false;
                        self.not_null(target, column, value)
                    } else {
                        value
                    });
                }
                if let Some(at) = added {
                    plain = false;
                    names.push(quote(&target.columns[at].name));
                    values.push(self.not_null(target, &target.columns[at], "NULL".into()));
                }
                let names = names.join(", ");
                // Without a WHERE, SQLite would take ON CONFLICT for a join's ON.
                if plain && !has_conflict_clause {
                    Ok(format!(" ({names}) {sql}"))
                } else {
                    Ok(format!(" ({names}) SELECT {} FROM ({sql}) WHERE true", values.join(", ")))
                }
            }
        }
    }

    fn insert_values(
        &mut self,
        target: &Arc<Relation>,
        columns: &[usize],
        rows: &[Vec<Expr>],
        added: Option<usize>,
    ) -> Result<String> {
        // A column whose value is DEFAULT in every row is left out.
        let left_out: Vec<bool> = (0..columns.len())
            .map(|place| rows.iter().all(|row| matches!(row[place].kind, ExprKind::Default)))
            .collect();
        let mut names = Vec::with_capacity(columns.len() + 1);
        for (place, at) in columns.iter().enumerate() {
            if !left_out[place] {
                names.push(quote(&target.columns[*at].name));
            }
        }
        if let Some(at) = added {
            names.push(quote(&target.columns[at].name));
        }
        if names.is_empty() {
            if let [_] = rows {
                return Ok(" DEFAULT VALUES".into());
            }
            // What is left is a column that numbers itself, for which NULL says DEFAULT.
            let Some(at) = columns.iter().find(|at| target.columns[**at].default.is_none()) else {
                return Err(Error::unsupported("VALUES of several rows that are all DEFAULT"));
            };
            let nulls = vec!["(NULL)"; rows.len()].join(", ");
            return Ok(format!(" ({}) VALUES {nulls}", quote(&target.columns[*at].name)));
        }
        let mut tuples = Vec::with_capacity(rows.len());
        for row in rows {
            let mut values = Vec::with_capacity(names.len());
            for (place, (value, at)) in row.iter().zip(columns).enumerate() {
                if !left_out[place] {
                    values.push(self.assigned(target, &target.columns[*at], value)?);
                }
            }
            if let Some(at) = added {
                values.push(self.not_null(target, &target.columns[at], "NULL".into()));
            }
            tuples.push(format!("({})", values.join(", ")));
        }
        Ok(format!(" ({}) VALUES {}", names.join(", "), tuples.join(", ")))
    }

    /// The SQL of a value that goes into a column.
    fn assigned(&mut self, target: &Relation, column: &Column, value: &Expr) -> Result<String> {
        if matches!(value.kind, ExprKind::Default) {
            return match &column.default {
                None => Ok("NULL".into()),
                Some(_) => Err(Error::unsupported(format!(
                    "DEFAULT beside other values of column \"{}\", in VALUES or SET,",
                    column.name
                ))),
            };
        }
        let must_not_be_null = column.row_identity && column.identity.is_none();
        if must_not_be_null && let Some((param, form)) = as_param(value) {
            let form =
                ParamForm::NotNull { inner: Box::new(form), table: target.name.clone(), column: column.name.clone() };
            return Ok(self.param(param, form));
        }
        if let ExprKind::Param(param) = value.kind
            && column.ty.storage() == crate::types::Storage::NativeDecimal
        {
            return Ok(self.param(param, ParamForm::StoredDecimal));
        }
        if column.ty.storage() == crate::types::Storage::NativeDecimal
            && let Some(form) = self.stored_cast(value)
        {
            return Ok(self.param(form.0, form.1));
        }
        let sql = self.expr(value)?;
        let sql = self.decimal_for(column, sql, &value.ty);
        match &value.kind {
            ExprKind::Literal(literal) if *literal != Value::Null => Ok(sql),
            // A sequence has a number or an error.
            _ if next_of(value).is_some() => Ok(sql),
            _ if must_not_be_null => Ok(self.not_null(target, column, sql)),
            _ => Ok(sql),
        }
    }

    /// A parameter that is converted to a decimal, and how it becomes what its column stores.
    fn stored_cast(&self, value: &Expr) -> Option<(usize, ParamForm)> {
        match as_param(value)? {
            (param, ParamForm::Cast { from, to: to @ crate::Type::Numeric(_), context })
                if self.converts_params_of(&from) =>
            {
                Some((param, ParamForm::StoredCast { from, to, context }))
            }
            _ => None,
        }
    }

    /// A number may go into a column of numbers; a column of text takes text.
    fn decimal_for(&mut self, column: &Column, sql: Sql, ty: &crate::Type) -> String {
        if sql.repr == Repr::Native && column.ty.storage() != crate::types::Storage::NativeDecimal {
            self.decimal_text(sql, ty).sql
        } else {
            sql.sql
        }
    }

    fn not_null(&mut self, target: &Relation, column: &Column, sql: String) -> String {
        self.needs_us();
        format!("rf_not_null({sql}, {}, {})", quote_text(&target.name), quote_text(&column.name))
    }

    /// The number of a row of a column that numbers itself. Where that is a rowid, NULL asks SQLite for the next one, and any
    /// other moves those behind it.
    pub(super) fn numbered(&mut self, given: Option<&Expr>, sequence: Option<u32>) -> Result<Sql> {
        let given = given.map(|value| self.expr(value)).transpose()?;
        let sql = match (given, sequence) {
            (None, None) => "NULL".to_owned(),
            (Some(given), None) => format!("nullif({}, 0)", given.sql),
            (None, Some(sequence)) => {
                self.needs_us();
                format!("rf_nextval({sequence})")
            }
            (Some(given), Some(sequence)) => {
                self.needs_us();
                format!("rf_ifx_numbered({}, {sequence})", given.sql)
            }
        };
        Ok(Sql { sql, repr: Repr::Plain })
    }

    /// The next number of a sequence for the rowids of a table, or NULL where SQLite comes to the same number by itself.
    fn next_rowid(&mut self, target: &Relation, column: &Column, sequence: u32) -> String {
        self.needs_us();
        let (database, table) = (quote_text(target.physical.database), quote_text(&target.physical.name));
        format!("rf_next_rowid({sequence}, {database}, {table}, {})", quote_text(&column.name))
    }

    fn assignments(&mut self, target: &Relation, assignments: &[(usize, Expr)]) -> Result<String> {
        let assignments = assignments
            .iter()
            .map(|(at, value)| {
                let column = &target.columns[*at];
                Ok(format!("{} = {}", quote(&column.name), self.assigned(target, column, value)?))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(assignments.join(", "))
    }

    fn on_conflict(&mut self, target: &Arc<Relation>, on_conflict: &OnConflict) -> Result<String> {
        let excludes = |arbiter: &crate::ir::Arbiter| target.indexes[arbiter.index].exclusion.is_some();
        if on_conflict.arbiter.as_ref().is_some_and(excludes) {
            // The engine has asked; to SQLite it is no key.
            return Ok(String::new());
        }
        let arbiter = match &on_conflict.arbiter {
            Some(arbiter) => Self::arbiter(target, arbiter)?,
            None => String::new(),
        };
        let mut sql = String::new();
        match &on_conflict.action {
            ConflictAction::Nothing => sql.push_str(" DO NOTHING"),
            ConflictAction::Update { excluded, assignments, filter } => {
                self.sources
                    .insert(*excluded, Source::Table { qualifier: "excluded".into(), relation: Arc::clone(target) });
                let assignments = self.assignments(target, assignments)?;
                sql.push_str(&format!(" DO UPDATE SET {assignments}"));
                if let Some(filter) = filter {
                    sql.push_str(&format!(" WHERE {}", self.expr(filter)?.sql));
                }
            }
        }
        // SQLite asks its keys in the order of these clauses.
        let mut clauses = String::new();
        for key in &on_conflict.in_turn {
            clauses.push_str(&format!(" ON CONFLICT{}{sql}", Self::arbiter(target, key)?));
        }
        clauses.push_str(&format!(" ON CONFLICT{arbiter}{sql}"));
        Ok(clauses)
    }

    /// A key in the words of its index: SQLite compares the two as they are written.
    fn arbiter(target: &Arc<Relation>, arbiter: &crate::ir::Arbiter) -> Result<String> {
        let names: Vec<&str> = target.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = &target.indexes[arbiter.index].columns;
        // SQLite keeps the column that is the row's own number apart, and finds no such key.
        if columns.len() > 1 && columns.iter().flatten().any(|at| target.columns[*at].row_identity) {
            let what = "ON CONFLICT by a unique index that has more columns than the primary key of one integer in it";
            return Err(Error::unsupported(what));
        }
        let alike = target.indexes[arbiter.index].nulls_alike;
        let keys = arbiter.keys.iter().map(|key| {
            let lowered = super::ddl::index_key(key, &names)?;
            Ok(if alike { lowered.with_null(&key.ty).sql } else { lowered.sql })
        });
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let mut sql = format!(" ({})", keys.join(", "));
        let foreign = target.language == crate::Language::Native;
        if let Some(text) = target.indexes[arbiter.index].predicate.as_ref().filter(|_| foreign) {
            sql.push_str(&format!(" WHERE {text}"));
        } else if let Some(predicate) = &arbiter.predicate {
            sql.push_str(&format!(" WHERE {}", super::ddl::index_key(predicate, &names)?.sql));
        }
        Ok(sql)
    }

    /// RETURNING sees the changed table alone, and under its own name, whatever its alias.
    fn returning(&mut self, dml: &Dml) -> Result<String> {
        self.sources.clear();
        self.sources.insert(
            dml.id,
            Source::Table { qualifier: quote(&dml.target.physical.name), relation: Arc::clone(&dml.target) },
        );
        let items = dml
            .returning
            .iter()
            .map(|item| {
                let sql = self.expr(item).map_err(|error| match error.condition() {
                    crate::Condition::InternalError => {
                        Error::unsupported("RETURNING of columns that are not the changed table's")
                    }
                    _ => error,
                })?;
                Ok(if self.kept { self.decimal_text(sql, &item.ty).sql } else { sql.sql })
            })
            .collect::<Result<Vec<_>>>()?;
        let items = match self.view_checks(dml)? {
            None => items,
            // A statement without RETURNING is asked for nothing else, and the answer is thrown away.
            Some(checks) => match items.split_first() {
                None => vec![checks],
                Some((first, rest)) => {
                    let first = format!("CASE WHEN {checks} THEN {first} END");
                    std::iter::once(first).chain(rest.iter().cloned()).collect()
                }
            },
        };
        Ok(format!(" RETURNING {}", items.join(", ")))
    }

    /// What is asked of each row when it has been stored and all its constraints hold: true, or it fails.
    fn view_checks(&mut self, dml: &Dml) -> Result<Option<String>> {
        if dml.checks.is_empty() {
            return Ok(None);
        }
        self.needs_us();
        // What the row is made of, for the message; a function takes no more arguments than that.
        const MOST: usize = 100;
        let mut row = String::new();
        for (at, column) in dml.target.columns.iter().enumerate().filter(|_| dml.target.columns.len() <= MOST) {
            row.push_str(", ");
            row.push_str(&self.expr(&Expr::column(dml.id, at, column.ty.clone()))?.sql);
        }
        let mut branches = String::new();
        for check in &dml.checks {
            let condition = self.expr(&check.condition)?.sql;
            let failed = format!("rf_view_check_failed({}, {}{row})", quote_text(&check.view), dml.target.oid);
            branches.push_str(&format!(" WHEN ({condition}) IS NOT TRUE THEN {failed}"));
        }
        Ok(Some(format!("CASE{branches} ELSE 1 END")))
    }
}

/// Informix's front end says by a filter which row it is.
fn refuse_current_of(cursor: Option<&String>, filter: Option<&Expr>) -> Result<()> {
    match cursor {
        Some(_) if filter.is_none() => Err(Error::unsupported("WHERE CURRENT OF")),
        _ => Ok(()),
    }
}

/// A parameter, bare or converted when it is bound.
pub(super) fn as_param(value: &Expr) -> Option<(usize, ParamForm)> {
    match &value.kind {
        ExprKind::Param(param) => Some((*param, ParamForm::AsIs)),
        ExprKind::Cast { arg, context } => match arg.kind {
            ExprKind::Param(param) => {
                Some((param, ParamForm::Cast { from: arg.ty.clone(), to: value.ty.clone(), context: *context }))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A query for INSERT without the column that a sequence numbers.
struct Apart {
    query: Query,
    /// Position of the column in the table.
    column: usize,
    sequence: u32,
}

/// A query whose rows a sequence numbers, where the numbers become rowids: they are asked for when a row is inserted, one
/// after the other, so that SQLite need not look for the place of each.
fn numbers_apart(target: &Relation, columns: &[usize], query: &Query) -> Option<Apart> {
    let Body::Select(select) = &query.body else { return None };
    let plain = query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty()
        && matches!(select.distinct, Distinct::All)
        && matches!(select.group_by, GroupBy::None)
        && select.having.is_none();
    let place = columns.iter().position(|at| target.columns[*at].row_identity)?;
    let value = select.items.get(place).filter(|value| matches!(value.kind, ExprKind::Call { .. }))?;
    let sequence = next_of(value)?;
    if !plain || select.items.len() < 2 || select.items.len() != columns.len() {
        return None;
    }
    let mut query = query.clone();
    query.columns.remove(place);
    if let Body::Select(select) = &mut query.body {
        select.items.remove(place);
    }
    Some(Apart { query, column: columns[place], sequence })
}
