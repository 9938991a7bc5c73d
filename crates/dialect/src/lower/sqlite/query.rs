//! Queries.

use super::apart;
use super::{Lowering, Naming, ParamForm, Repr, Source, Sql, quote, repr_of};
use crate::ir::{
    Body, CollateRole, ColumnIndex, ColumnRef, CompareOp, Cte, CteBody, CteId, Distinct, Expr, ExprKind, From, GroupBy,
    OutputColumn, Query, RelId, Select, SetOp, SortKey, Value, walk,
};
use crate::{Error, Result, budget};
use foldhash::HashSet;

/// A limit that is none, and keeps SQLite from merging a query with the one around it.
const ALL_ROWS: &str = " LIMIT -1 OFFSET 0";

/// Conditions of a WHERE clause of which SQLite is told how many rows pass them.
const MOST_TOLD: usize = 32;

impl Lowering<'_> {
    /// SQL of a query, and the representation of each of its columns.
    pub(super) fn query(&mut self, query: &Query, naming: Naming) -> Result<(String, Vec<Repr>)> {
        let lowered = budget::deeper(|| self.query_here(query, naming))?;
        budget::written(lowered.0.len())?;
        Ok(lowered)
    }

    fn query_here(&mut self, query: &Query, naming: Naming) -> Result<(String, Vec<Repr>)> {
        if query.locking.iter().any(|lock| !lock.whole) {
            return self.locking(query, naming);
        }
        if let Some(expanded) = super::grouping::expanded(query)? {
            return self.query(&expanded, naming);
        }
        if let Some(expanded) = super::grouping::members_of_aggregates(query)? {
            return self.query(&expanded, naming);
        }
        if let Some(expanded) = super::range_frames::expanded(query)? {
            return self.query(&expanded, naming);
        }
        if self.assigns
            && let Some(tied) = super::variables::tied(query)?
        {
            return self.query(&tied, naming);
        }
        if let Some(cut) = super::wide::cut(query) {
            return self.query(&cut, naming);
        }
        if let Some(around) = super::late::after_sorting(query) {
            return self.query(&around, naming);
        }
        if let Some(unsorted) = super::single::unsorted(query) {
            return self.query(&unsorted, naming);
        }
        let some_groups = std::mem::take(&mut self.some_groups);
        let some_columns = std::mem::take(&mut self.some_columns);
        self.note_asked(query, some_groups);
        self.fenced.extend(apart::fences(query));
        let with = self.with(&query.ctes)?;
        self.some_groups = some_groups;
        let grouped = self.hashed(query)?;
        self.some_groups = false;
        let grouped = match grouped {
            Some(grouped) => Some(grouped),
            None => self.windowed(query, &some_columns)?,
        };
        if let Some(grouped) = grouped {
            let (mut sql, reprs) = self.query(&grouped, naming)?;
            if naming == Naming::Positions && query.limit.is_none() && query.offset.is_none() {
                // Around it, SQLite would walk over the groups again and again. Windows over groups have been told so already.
                if !sql.ends_with(ALL_ROWS) {
                    sql.push_str(ALL_ROWS);
                }
            }
            return Ok((with + &sql, reprs));
        }
        if query.with_ties {
            let (sql, reprs) = self.with_ties(query, naming)?;
            return Ok((with + &sql, reprs));
        }
        let (mut sql, reprs) = match &query.body {
            Body::Select(select) => match &select.distinct {
                Distinct::On(keys) => self.distinct_on(query, select, keys, naming)?,
                _ => {
                    let (mut sql, items) = self.select(query, select, naming, false)?;
                    sql.push_str(&self.order_by(query, Some(&items))?);
                    (sql, items.iter().map(|item| item.repr).collect())
                }
            },
            Body::Set { op, all, left, right } => {
                let mut sql = self.set(*op, *all, left, right)?;
                let reprs: Vec<_> = query.columns.iter().map(|column| repr_of(&column.ty)).collect();
                if naming != Naming::None {
                    sql = format!("SELECT {} FROM ({sql})", renamed(query, naming));
                }
                let items = outputs(&reprs);
                sql.push_str(&self.order_by(query, Some(&items))?);
                (sql, reprs)
            }
            Body::Values(rows) => {
                let mut sql = self.values(rows)?;
                let reprs: Vec<_> = query.columns.iter().map(|column| repr_of(&column.ty)).collect();
                let columns: Vec<_> = (query.columns.iter().enumerate())
                    .map(|(at, column)| match naming {
                        Naming::Positions => format!("column{} AS c{at}", at + 1),
                        Naming::Output => format!("column{} AS {}", at + 1, quote(&column.name)),
                        Naming::None => format!("column{}", at + 1),
                    })
                    .collect();
                if naming != Naming::None
                    || !query.order_by.is_empty()
                    || query.limit.is_some()
                    || query.offset.is_some()
                {
                    let columns = columns.join(", ");
                    let correlated = names_columns(rows);
                    sql = if naming == Naming::Positions && (rows.len() > 1 || correlated) {
                        // SQLite names such columns after those of other relations. And it loses rows of VALUES beside a
                        // UNION ALL of three and more members that it sorts (3.54): it makes one routine of the VALUES for
                        // copies of the whole; kept rows have no such routine.
                        let names: Vec<_> = (1..=query.columns.len()).map(|at| format!("column{at}")).collect();
                        let kept = if correlated { "" } else { " MATERIALIZED" };
                        let names = names.join(", ");
                        match with.is_empty() {
                            true => format!("WITH v({names}) AS{kept} ({sql}) SELECT {columns} FROM v"),
                            // A query has one WITH.
                            false => {
                                format!("SELECT {columns} FROM (WITH v({names}) AS{kept} ({sql}) SELECT * FROM v)")
                            }
                        }
                    } else {
                        format!("SELECT {columns} FROM ({sql})")
                    };
                }
                let items = outputs(&reprs);
                sql.push_str(&self.order_by(query, Some(&items))?);
                (sql, reprs)
            }
        };
        sql.push_str(&self.limit(query)?);
        Ok((with + &sql, reprs))
    }

    /// Notes of which members of the FROM clause only some rows are asked for.
    fn note_asked(&mut self, query: &Query, all: bool) {
        let Body::Select(select) = &query.body else { return };
        let Some(from) = &select.from else { return };
        let grouped = matches!(select.group_by, GroupBy::Keys(_));
        let conditions = super::hashed::conditions(select);
        let asked: HashSet<RelId> = match all && !grouped {
            true => from.relations().into_iter().collect(),
            false => super::hashed::asked_for(&conditions),
        };
        let columns = super::windowed::asked_columns(conditions.into_iter());
        super::hashed::ctes(from, &mut |id, cte| {
            if asked.contains(&id) {
                self.asked_ctes.insert(cte);
            }
            if let Some(columns) = columns.get(&id) {
                self.cte_columns.entry(cte).or_default().extend(columns);
            }
        });
        self.asked.extend(asked);
        self.asked_columns.extend(columns);
    }

    /// A query that locks rows: the rows come in their order from inside, are locked or passed over one by one, and
    /// counted then. The inner LIMIT keeps SQLite from merging both.
    fn locking(&mut self, query: &Query, naming: Naming) -> Result<(String, Vec<Repr>)> {
        let mut inner = query.clone();
        let mut locks = std::mem::take(&mut inner.locking);
        locks.retain(|lock| !lock.whole);
        (inner.limit, inner.offset) = (None, None);
        let Body::Select(select) = &mut inner.body else {
            return Err(Error::internal("rows of what is no SELECT cannot be locked"));
        };
        let width = select.items.len();
        for lock in &locks {
            // A table without rowid is locked as a whole.
            let kind = match lock.relation.without_identity {
                true => ExprKind::Literal(Value::Null),
                false => ExprKind::Column(ColumnRef { relation: lock.id, column: ColumnIndex::RowIdentity }),
            };
            select.items.push(Expr::new(kind, crate::Type::Int8));
            inner.columns.push(OutputColumn { name: "rowid".into(), ty: crate::Type::Int8 });
        }
        let (sql, mut reprs) = self.query(&inner, Naming::Positions)?;
        reprs.truncate(width);
        let columns = if width == 0 { "NULL".into() } else { renamed(query, naming) };
        let conditions: Vec<String> = (locks.iter().enumerate())
            .map(|(at, lock)| {
                let (oid, mode, wait) = (lock.relation.oid, lock.mode as u8, lock.wait as u8);
                format!("rf_lock_row({oid}, c{}, {mode}, {wait})", width + at)
            })
            .collect();
        self.needs_us();
        let conditions = conditions.join(" AND ");
        let limit = self.limit(query)?;
        Ok((format!("SELECT {columns} FROM ({sql} LIMIT -1) WHERE {conditions}{limit}"), reprs))
    }

    pub(super) fn with(&mut self, ctes: &[Cte]) -> Result<String> {
        if ctes.is_empty() {
            return Ok(String::new());
        }
        let recursive = ctes.iter().any(|cte| cte.recursive);
        let mut members = Vec::with_capacity(ctes.len());
        for cte in ctes {
            let CteBody::Query(body) = &cte.body else {
                return Err(Error::unsupported("a data-modifying statement in WITH"));
            };
            let texts: Vec<_> = cte.columns.iter().map(|column| repr_of(&column.ty)).collect();
            let sql = if cte.recursive {
                self.ctes.insert(cte.id, texts);
                self.recursive(body, cte.id)?
            } else {
                self.some_groups = self.asked_ctes.contains(&cte.id);
                self.some_columns = self.cte_columns.get(&cte.id).cloned().unwrap_or_default();
                let (sql, reprs) = self.query(body, Naming::Positions)?;
                self.ctes.insert(cte.id, reprs);
                sql
            };
            let columns: Vec<_> = (0..cte.columns.len()).map(|at| format!("c{at}")).collect();
            // A list of no names is none.
            let columns = if columns.is_empty() { String::new() } else { format!("({})", columns.join(", ")) };
            let materialized = match cte.materialized {
                Some(true) => "MATERIALIZED ",
                Some(false) if cte.recursive || !apart::may_change(body) => "NOT MATERIALIZED ",
                Some(false) => "MATERIALIZED ",
                // PostgreSQL has its rows made once, too.
                None if !cte.recursive && apart::may_change(body) => "MATERIALIZED ",
                None => "",
            };
            members.push(format!("q{}{columns} AS {materialized}({sql})", cte.id.0));
        }
        Ok(format!("WITH {}{} ", if recursive { "RECURSIVE " } else { "" }, members.join(", ")))
    }

    /// A recursive member: SQLite wants its UNION at the top, with nothing around it.
    fn recursive(&mut self, query: &Query, id: CteId) -> Result<String> {
        let Body::Set { op: SetOp::Union, all, left, right } = &query.body else {
            return Ok(self.query(query, Naming::Positions)?.0);
        };
        let plain = match &right.body {
            Body::Select(select) => select.from.as_ref().is_some_and(|from| names_itself(from, id)),
            _ => false,
        };
        if !plain || !right.ctes.is_empty() {
            return Err(Error::unsupported("a recursive query that names itself in a subquery of FROM"));
        }
        let mut sql = self.set(SetOp::Union, *all, left, right)?;
        let reprs: Vec<_> = query.columns.iter().map(|column| repr_of(&column.ty)).collect();
        let items = outputs(&reprs);
        sql.push_str(&self.order_by(query, Some(&items))?);
        sql.push_str(&self.limit(query)?);
        Ok(sql)
    }

    pub(super) fn set(&mut self, op: SetOp, all: bool, left: &Query, right: &Query) -> Result<String> {
        budget::deeper(|| self.set_here(op, all, left, right))
    }

    fn set_here(&mut self, op: SetOp, all: bool, left: &Query, right: &Query) -> Result<String> {
        if all && op != SetOp::Union {
            return self.set_of_all(op, left, right);
        }
        let word = match op {
            SetOp::Union if all => "UNION ALL",
            SetOp::Union => "UNION",
            SetOp::Intersect => "INTERSECT",
            SetOp::Except => "EXCEPT",
        };
        let left = self.member(left, true)?;
        let right = self.member(right, false)?;
        Ok(format!("{left} {word} {right}"))
    }

    /// A side of a set operation. SQLite joins sides from the left and knows no parentheses around them.
    fn member(&mut self, query: &Query, leftmost: bool) -> Result<String> {
        let bare =
            query.ctes.is_empty() && query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none();
        match &query.body {
            Body::Select(select)
                if bare
                    && !matches!(select.distinct, Distinct::On(_))
                    && !matches!(select.group_by, GroupBy::Sets { .. })
                    && !super::wide::is_too_wide(select)
                    && !super::range_frames::are_in(select) =>
            {
                Ok(self.select(query, select, Naming::Positions, true)?.0)
            }
            Body::Set { op, all, left, right } if bare && leftmost => self.set(*op, *all, left, right),
            Body::Values(rows) if bare && !leftmost => self.values(rows),
            _ => {
                let (sql, reprs) = self.query(query, Naming::Positions)?;
                let columns: Vec<_> = (reprs.iter().zip(&query.columns).enumerate())
                    .map(|(at, (repr, column))| {
                        let sql = self.decimal_text(Sql { sql: format!("c{at}"), repr: *repr }, &column.ty);
                        format!("{} AS c{at}", self.with_collation(sql, &column.ty).sql)
                    })
                    .collect();
                Ok(format!("SELECT {} FROM ({sql})", columns.join(", ")))
            }
        }
    }

    fn values(&mut self, rows: &[Vec<Expr>]) -> Result<String> {
        let rows =
            rows.iter().map(|row| Ok(format!("({})", self.texts(row)?.join(", ")))).collect::<Result<Vec<_>>>()?;
        Ok(format!("VALUES {}", rows.join(", ")))
    }

    /// SELECT without ORDER BY. With `alike`, decimals are spelled out, so that the sides of a set operation agree.
    fn select(&mut self, query: &Query, select: &Select, naming: Naming, alike: bool) -> Result<(String, Vec<Sql>)> {
        let tail = self.select_tail(select)?;
        let distinct = matches!(select.distinct, Distinct::Rows);
        let mut items = Vec::with_capacity(select.items.len());
        let mut columns = Vec::with_capacity(select.items.len());
        for (at, (item, column)) in select.items.iter().zip(&query.columns).enumerate() {
            let mut sql = self.expr(item)?;
            if alike {
                sql = self.decimal_text(sql, &item.ty);
            }
            let is_operand = matches!(item.kind, ExprKind::Collate { role: CollateRole::Operand { .. }, .. });
            let mut shown = if is_operand && !distinct {
                // Of the first member of a set operation: SQLite compares the rows of all members in its order.
                self.with_collation_of(sql.clone(), item).sql
            } else if matches!(item.kind, ExprKind::Collate { .. }) && distinct {
                self.with_equality(sql.clone(), item).sql
            } else if (distinct || alike) && sql.repr != Repr::Native {
                self.with_collation(sql.clone(), &item.ty).sql
            } else {
                sql.sql.clone()
            };
            match naming {
                Naming::Positions => shown.push_str(&format!(" AS c{at}")),
                Naming::Output => shown.push_str(&format!(" AS {}", quote(&column.name))),
                Naming::None => {}
            }
            columns.push(shown);
            items.push(sql);
        }
        if columns.is_empty() {
            // PostgreSQL allows a row of no columns.
            columns.push("NULL".into());
        }
        let distinct = if distinct { "DISTINCT " } else { "" };
        Ok((format!("SELECT {distinct}{}{tail}", columns.join(", ")), items))
    }

    /// WHERE, with what it implies of single tables: SQLite's planner would not see that few of their rows are asked for.
    pub(super) fn where_clause(&mut self, filter: &Expr) -> Result<String> {
        let mut sql = format!(" WHERE {}", self.expr(filter)?.sql);
        if crate::optimise::passes().rewrite {
            for implied in crate::optimise::implied(filter) {
                sql.push_str(&format!(" AND unlikely({})", self.expr(&implied)?.sql));
            }
        }
        Ok(sql)
    }

    /// WHERE over the rows of a join of which all are wanted. SQLite knows of indexes how many rows a condition lets pass,
    /// and takes any other condition for one that nearly all pass: it is told what PostgreSQL guesses without statistics.
    pub(super) fn where_clause_of_all(&mut self, filter: &Expr, from: &From) -> Result<String> {
        if !matches!(from, From::Join { .. }) || !crate::optimise::passes().rewrite {
            return self.where_clause(filter);
        }
        let conditions = crate::optimise::asked(filter);
        if conditions.len() > MOST_TOLD {
            return self.where_clause(filter);
        }
        let mut sql = String::new();
        for condition in conditions {
            let word = if sql.is_empty() { " WHERE" } else { " AND" };
            let lowered = self.expr(condition)?.sql;
            match self.passing(condition) {
                Some(share) => sql.push_str(&format!("{word} likelihood({lowered}, {share})")),
                None => sql.push_str(&format!("{word} {lowered}")),
            }
        }
        for implied in crate::optimise::implied(filter) {
            sql.push_str(&format!(" AND unlikely({})", self.expr(&implied)?.sql));
        }
        Ok(sql)
    }

    /// The share of a table's rows that pass a condition on columns of which no index tells anything.
    fn passing(&self, condition: &Expr) -> Option<&'static str> {
        let share = match &condition.kind {
            ExprKind::Compare {
                op: CompareOp::Less | CompareOp::LessOrEqual | CompareOp::Greater | CompareOp::GreaterOrEqual,
                ..
            } => "0.33",
            ExprKind::InList { negated: false, .. } | ExprKind::Like { negated: false, .. } => "0.25",
            _ => return None,
        };
        let mut table = None;
        let mut untold = true;
        walk::expr(condition, &mut |part| {
            untold &= match &part.kind {
                ExprKind::Column(column) => {
                    *table.get_or_insert(column.relation) == column.relation && self.is_without_index(*column)
                }
                kind => kind.query().is_none(),
            };
            untold
        });
        let table = table.filter(|table| !self.nullable.contains(table));
        (untold && table.is_some()).then_some(share)
    }

    /// A column of a table that stands in no index.
    fn is_without_index(&self, column: ColumnRef) -> bool {
        match (self.sources.get(&column.relation), column.column) {
            (Some(Source::Table { relation, .. }), ColumnIndex::At(at)) => {
                let in_key = relation.columns.get(at).is_none_or(|column| column.row_identity);
                !in_key && !relation.indexes.iter().any(|index| index.columns.contains(&Some(at)))
            }
            _ => false,
        }
    }

    /// FROM to HAVING; lowered before the select list, which refers to what it defines.
    fn select_tail(&mut self, select: &Select) -> Result<String> {
        let mut tail = String::new();
        if let Some(from) = &select.from {
            let outer = std::mem::replace(&mut self.from_start, self.order.len());
            let from = self.from(from);
            self.from_start = outer;
            tail.push_str(" FROM ");
            tail.push_str(&from?);
        }
        if let Some(filter) = &select.filter {
            tail.push_str(&self.where_clause(filter)?);
        }
        match &select.group_by {
            GroupBy::None => {}
            GroupBy::Keys(keys) => {
                let mut sql = Vec::with_capacity(keys.len());
                for key in keys {
                    // A bare number would be a column's place.
                    if is_constant(key) {
                        sql.push("(SELECT NULL)".to_owned());
                    } else {
                        let folds = matches!(key.kind, ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_));
                        let key = self.collated(key)?.sql;
                        sql.push(match key {
                            key if is_number(&key) => "(SELECT NULL)".to_owned(),
                            // Of which SQLite itself may make a number.
                            key if folds => format!("({key}) + 0"),
                            key => key,
                        });
                    }
                }
                tail.push_str(" GROUP BY ");
                tail.push_str(&sql.join(", "));
            }
            GroupBy::Sets { .. } => return Err(Error::internal("grouping sets are spelled out before")),
        }
        if let Some(having) = &select.having {
            tail.push_str(" HAVING ");
            tail.push_str(&self.expr(having)?.sql);
        }
        if super::single::is_silent_group(select) {
            // All rows are one group, even if there are none; SQLite wants an aggregate in the list to believe it. Nothing
            // in the list is of the rows.
            tail = format!(" FROM (SELECT count(*){tail})");
        }
        Ok(tail)
    }

    /// DISTINCT ON: the first row of each group, found by numbering the rows of each.
    fn distinct_on(
        &mut self,
        query: &Query,
        select: &Select,
        keys: &[Expr],
        naming: Naming,
    ) -> Result<(String, Vec<Repr>)> {
        let (inner, items) = self.select(query, select, Naming::Positions, false)?;
        let mut partition = Vec::with_capacity(keys.len());
        for key in keys {
            partition.push(match output_column(query, key) {
                Some(at) => self.with_collation_of(items[at].clone(), key).sql,
                None => self.collated(key)?.sql,
            });
        }
        let mut numbered_order = Vec::new();
        let mut outer_order = Vec::new();
        let mut extra = Vec::new();
        for (place, key) in order_of_distinct_on(query, select, keys).iter().enumerate() {
            let sql = match output_column(query, &key.expr) {
                Some(at) => items[at].clone(),
                None => self.expr(&key.expr)?,
            };
            let direction = self.direction(key);
            let collated = self.with_collation_of(sql.clone(), &key.expr).sql;
            numbered_order.push(format!("{collated}{direction}"));
            extra.push(format!("{} AS k{place}", sql.sql));
            let outer = self.with_collation_of(Sql { sql: format!("k{place}"), repr: sql.repr }, &key.expr).sql;
            outer_order.push(format!("{outer}{direction}"));
        }
        let order =
            if numbered_order.is_empty() { String::new() } else { format!(" ORDER BY {}", numbered_order.join(", ")) };
        extra.push(format!("row_number() OVER (PARTITION BY {}{order}) AS rn", partition.join(", ")));
        let inner = inner.replacen("SELECT ", &format!("SELECT {}, ", extra.join(", ")), 1);
        let mut sql = format!("SELECT {} FROM ({inner}) WHERE rn = 1", renamed(query, naming));
        if !outer_order.is_empty() {
            sql.push_str(&format!(" ORDER BY {}", outer_order.join(", ")));
        }
        Ok((sql, items.iter().map(|item| item.repr).collect()))
    }

    fn order_by(&mut self, query: &Query, items: Option<&[Sql]>) -> Result<String> {
        let mut keys = Vec::with_capacity(query.order_by.len());
        for key in &query.order_by {
            if is_constant(&key.expr) {
                continue;
            }
            keys.push(self.order_key(query, key, items)?);
        }
        Ok(if keys.is_empty() { String::new() } else { format!(" ORDER BY {}", keys.join(", ")) })
    }

    fn order_key(&mut self, query: &Query, key: &SortKey, items: Option<&[Sql]>) -> Result<String> {
        let direction = match (output_column(query, &key.expr), &query.body) {
            // An item's own expression tells more about NULLs than its place does.
            (Some(at), Body::Select(select)) => {
                self.direction(&SortKey { expr: select.items[at].clone(), ..key.clone() })
            }
            _ => self.direction(key),
        };
        let sql = match output_column(query, &key.expr) {
            Some(at) => {
                let repr = items.and_then(|items| items.get(at)).map_or(Repr::Plain, |item| item.repr);
                Sql { sql: (at + 1).to_string(), repr }
            }
            None => self.expr(&key.expr)?,
        };
        let sql = if sql.repr == Repr::Native { sql } else { self.with_collation_of(sql, &key.expr) };
        Ok(format!("{}{direction}", sql.sql))
    }

    fn limit(&mut self, query: &Query) -> Result<String> {
        let mut sql = String::new();
        match (&query.limit, &query.offset) {
            (None, None) => {}
            (None, Some(_)) => sql.push_str(" LIMIT -1"),
            (Some(limit), _) => {
                let limit = self.row_count(limit, ParamForm::Limit, "rf_limit")?;
                sql.push_str(&format!(" LIMIT {limit}"));
            }
        }
        if let Some(offset) = &query.offset {
            let offset = self.row_count(offset, ParamForm::Offset, "rf_offset")?;
            sql.push_str(&format!(" OFFSET {offset}"));
        }
        Ok(sql)
    }

    pub(super) fn row_count(&mut self, count: &Expr, form: ParamForm, function: &str) -> Result<String> {
        match &count.kind {
            ExprKind::Param(param) => Ok(self.param(*param, form)),
            ExprKind::Literal(value @ (Value::Null | Value::Integer(_))) => {
                match &*form.apply(value, &crate::values::Settings::default())? {
                    Value::Integer(count) => Ok(count.to_string()),
                    _ => Err(Error::internal("a row count is an integer")),
                }
            }
            _ => {
                let count = self.expr(count)?.sql;
                self.needs_us();
                Ok(format!("{function}({count})"))
            }
        }
    }
}

/// The output column that a key names.
pub(super) fn output_column(query: &Query, key: &Expr) -> Option<usize> {
    match &key.kind {
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if *relation == query.output => Some(*at),
        ExprKind::Collate { arg, .. } => output_column(query, arg),
        _ => None,
    }
}

/// `c0`, `c1`, … under the names that others want.
pub(super) fn renamed(query: &Query, naming: Naming) -> String {
    let columns: Vec<_> = (query.columns.iter().enumerate())
        .map(|(at, column)| match naming {
            Naming::Output => format!("c{at} AS {}", quote(&column.name)),
            Naming::Positions | Naming::None => format!("c{at}"),
        })
        .collect();
    columns.join(", ")
}

fn outputs(reprs: &[Repr]) -> Vec<Sql> {
    reprs.iter().enumerate().map(|(at, repr)| Sql { sql: format!("c{at}"), repr: *repr }).collect()
}

/// A value that is the same for all rows, whatever casts stand around it.
/// What SQLite takes for a column's place: some calls are but a number.
fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Param(_) => true,
        ExprKind::Cast { arg, .. } => is_constant(arg),
        _ => false,
    }
}

/// True where a query names itself side by side with what it joins.
fn names_itself(from: &From, query: CteId) -> bool {
    match from {
        From::Cte { cte, .. } => *cte == query,
        From::Join { left, right, .. } => names_itself(left, query) || names_itself(right, query),
        _ => false,
    }
}

/// True for rows that are computed from those of other relations.
fn names_columns(rows: &[Vec<Expr>]) -> bool {
    rows.iter().flatten().any(walk::names_column)
}

/// The order of DISTINCT ON: PostgreSQL sorts by its keys, behind those of them that ORDER BY names.
fn order_of_distinct_on(query: &Query, select: &Select, keys: &[Expr]) -> Vec<SortKey> {
    let mut order = query.order_by.clone();
    for key in keys.iter().filter(|key| key.ty.is_ordered()) {
        let named = order.iter().any(|sorted| match output_column(query, &sorted.expr) {
            Some(at) => select.items[at] == *key,
            None => sorted.expr == *key,
        });
        if !named {
            order.push(SortKey { expr: key.clone(), descending: false, nulls_first: false });
        }
    }
    order
}
