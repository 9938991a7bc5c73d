//! Changes of rows: INSERT and REPLACE, UPDATE, DELETE, of one table and of joined ones.

use pg_query::protobuf::{self as pg, BoolExprType, Node, OnConflictAction, SubLinkType, node::Node as N};
use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Insert, JoinConstraint, JoinOperator, OnInsert, Query,
    TableFactor, TableObject, TableWithJoins, Update, With,
};

use super::build::{NOWHERE, boxed, call, column, def, list, logic, node, select, select_of, sublink, target};
use super::expressions::name_parts;
use super::statements::{Trees, one};
use super::tree::Converter;
use crate::{Condition, Error, Result};

/// IGNORE of an UPDATE or DELETE: an option of RETURNING, which MySQL has not.
pub(crate) const IGNORE: &str = "ignore";

/// The query of a join of which tables are changed, and its columns.
const CHANGES: &str = "_changes";

/// The column that an assignment means.
fn assigned(target: &AssignmentTarget) -> Result<Vec<String>> {
    match target {
        AssignmentTarget::ColumnName(name) => name_parts(name),
        AssignmentTarget::Tuple(_) => Err(Error::syntax("columns are assigned one by one")),
    }
}

fn and(conditions: Vec<Node>) -> Option<Box<Node>> {
    match conditions.len() {
        0 => None,
        1 => conditions.into_iter().next().map(Box::new),
        _ => boxed(logic(BoolExprType::AndExpr, conditions)),
    }
}

/// What a table of FROM is called.
fn called(table: &TableFactor) -> Option<String> {
    match table {
        TableFactor::Table { name, alias, .. } => match alias {
            Some(alias) => Some(alias.name.value.clone()),
            None => name_parts(name).ok()?.pop(),
        },
        TableFactor::Derived { alias, .. } => Some(alias.as_ref()?.name.value.clone()),
        _ => None,
    }
}

/// True for an expression that names one of these columns.
fn names_any(value: &Node, columns: &[&str]) -> bool {
    let Some(value) = &value.node else { return false };
    let named = |node: pg_query::NodeRef<'_>| match node {
        pg_query::NodeRef::ColumnRef(column) => match column.fields.last().and_then(|field| field.node.as_ref()) {
            Some(N::String(name)) => columns.iter().any(|column| column.eq_ignore_ascii_case(&name.sval)),
            _ => false,
        },
        _ => false,
    };
    value.nodes().into_iter().any(|(node, ..)| named(node))
}

/// Tables that are joined without outer joins, and the conditions between them.
struct Flat<'q> {
    tables: Vec<&'q TableFactor>,
    conditions: Vec<&'q Expr>,
}

/// The tables of a join that is nothing but conditions; `None` where it is more.
fn flat(from: &[TableWithJoins]) -> Option<Flat<'_>> {
    let mut flat = Flat { tables: Vec::new(), conditions: Vec::new() };
    for table in from {
        flat.tables.push(&table.relation);
        for join in &table.joins {
            let (JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint)
            | JoinOperator::StraightJoin(constraint)) = &join.join_operator
            else {
                return None;
            };
            flat.tables.push(&join.relation);
            match constraint {
                JoinConstraint::On(condition) => flat.conditions.push(condition),
                JoinConstraint::None => {}
                _ => return None,
            }
        }
    }
    Some(flat)
}

/// Every table of a join.
fn all_tables<'q>(from: &'q [TableWithJoins], found: &mut Vec<&'q TableFactor>) {
    for table in from {
        for factor in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)) {
            match factor {
                TableFactor::NestedJoin { table_with_joins, .. } => {
                    all_tables(std::slice::from_ref(&**table_with_joins), found);
                }
                factor => found.push(factor),
            }
        }
    }
}

impl Converter<'_> {
    pub(super) fn insert(&mut self, insert: &Insert) -> Result<Trees> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(Error::unsupported("INSERT into this"));
        };
        let mut partitions = Vec::new();
        for name in insert.partitioned.iter().flatten() {
            let Expr::Identifier(name) = name else { return Err(Error::syntax("PARTITION wants names")) };
            partitions.push(name.value.clone());
        }
        let relation = self.range_var(name)?;
        let mut cols: Vec<String> = Vec::new();
        for column in &insert.columns {
            cols.extend(name_parts(column)?.pop());
        }
        let source = match (&insert.source, insert.assignments.as_slice()) {
            (_, assignments @ [_, ..]) => {
                let mut row = Vec::new();
                for assignment in assignments {
                    cols.extend(assigned(&assignment.target)?.pop());
                    row.push(self.expression(&assignment.value)?);
                }
                Some(select_of(pg::SelectStmt { values_lists: vec![list(row)], ..select() }))
            }
            (Some(source), _) => self.source(source)?,
            (None, _) => None,
        };
        if let Some(alias) = &insert.insert_alias {
            self.row_alias = name_parts(&alias.row_alias)?.pop();
            if alias.col_aliases.as_ref().is_some_and(|aliases| !aliases.is_empty()) {
                return Err(Error::unsupported("names for the columns of an INSERT's row"));
            }
        }
        let clause = |action: OnConflictAction, target_list: Vec<Node>| {
            Box::new(pg::OnConflictClause {
                action: action as i32,
                target_list,
                location: NOWHERE,
                ..Default::default()
            })
        };
        let on_conflict_clause = match &insert.on {
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => {
                Some(clause(OnConflictAction::OnconflictUpdate, self.assigned_values(assignments)?))
            }
            Some(_) => return Err(Error::syntax("ON CONFLICT is PostgreSQL's")),
            // What is there is put over with what comes: no assignments say so.
            None if insert.replace_into => Some(clause(OnConflictAction::OnconflictUpdate, Vec::new())),
            None if insert.ignore => Some(clause(OnConflictAction::OnconflictNothing, Vec::new())),
            None => None,
        };
        let cols = cols
            .into_iter()
            .map(|name| node(N::ResTarget(Box::new(pg::ResTarget { name, location: NOWHERE, ..Default::default() }))))
            .collect();
        let returning_clause = match &insert.returning {
            Some(_) => return Err(Error::unsupported("RETURNING")),
            None => self.one_by_one(Vec::new(), &partitions).filter(|_| !partitions.is_empty()),
        };
        one(N::InsertStmt(Box::new(pg::InsertStmt {
            relation: Some(relation),
            cols,
            select_stmt: source.map(Box::new),
            on_conflict_clause,
            returning_clause,
            with_clause: None,
            r#override: pg::OverridingKind::OverridingNotSet as i32,
        })))
    }

    /// The rows of an INSERT; `None` for one row of defaults.
    fn source(&mut self, query: &Query) -> Result<Option<Node>> {
        let made = self.query(query)?;
        // VALUES ().
        if let [Node { node: Some(N::List(row)) }] = made.values_lists.as_slice()
            && row.items.is_empty()
        {
            return Ok(None);
        }
        Ok(Some(select_of(made)))
    }

    fn assigned_values(&mut self, assignments: &[Assignment]) -> Result<Vec<Node>> {
        let one = |converter: &mut Self, assignment: &Assignment| {
            let name = assigned(&assignment.target)?.pop().unwrap_or_default();
            Ok(target(name, converter.expression(&assignment.value)?))
        };
        assignments.iter().map(|assignment| one(self, assignment)).collect()
    }

    /// The rows of a table that are the first so many in an order: `ctid IN (SELECT ctid …)`.
    fn first_rows(
        &mut self,
        table: Node,
        filter: Option<Box<Node>>,
        order: Vec<Node>,
        limit: &Option<Expr>,
    ) -> Result<Box<Node>> {
        let limit_count = limit.as_ref().map(|limit| self.expression(limit)).transpose()?.map(Box::new);
        let inside = pg::SelectStmt {
            target_list: vec![target("", column(vec!["ctid".to_owned()]))],
            from_clause: vec![table],
            where_clause: filter,
            sort_clause: order,
            limit_count,
            ..select()
        };
        let place = column(vec!["ctid".to_owned()]);
        Ok(Box::new(sublink(SubLinkType::AnySublink, Some(place), None, inside)))
    }

    /// An UPDATE, behind the WITH that stands before it.
    pub(super) fn update(&mut self, update: &Update, with: Option<&With>) -> Result<Trees> {
        let with_clause = with.map(|with| self.with_clause(with)).transpose()?;
        if update.returning.is_some() {
            return Err(Error::unsupported("RETURNING"));
        }
        let from = std::slice::from_ref(&update.table);
        let mut all = Vec::new();
        all_tables(from, &mut all);
        let filter = |converter: &mut Self| converter.optional(update.selection.as_ref());
        if let [table] = all.as_slice() {
            let (relation, partitions) = self.changed_parts(table)?;
            let mut where_clause = filter(self)?;
            if update.limit.is_some() {
                let (order, read) = (self.sort_keys(&update.order_by)?, self.table(table)?);
                where_clause = Some(self.first_rows(read, where_clause, order, &update.limit)?);
            }
            let outside = self.assignments;
            let target_list = self.assigned_values(&update.assignments)?;
            let order = self.sort_keys(&update.order_by)?;
            if self.assignments > outside && !partitions.is_empty() {
                return Err(Error::unsupported("PARTITION of an UPDATE that sets variables (:=)"));
            }
            if self.assignments > outside {
                return self.variable_update(relation, target_list, where_clause, with_clause, order);
            }
            return one(N::UpdateStmt(Box::new(pg::UpdateStmt {
                relation: Some(relation),
                target_list,
                where_clause,
                with_clause,
                returning_clause: self.one_by_one(order, &partitions),
                ..Default::default()
            })));
        }
        self.refuse_partitions(&all)?;
        if update.limit.is_some() || !update.order_by.is_empty() {
            let what = if update.limit.is_some() { "LIMIT" } else { "ORDER BY" };
            let error = Error::syntax(format!("Incorrect usage of UPDATE and {what}"));
            return Err(error.with_mysql(1221, "HY000"));
        }
        // Whose columns they are the binder knows.
        let mut target_list = Vec::new();
        for assignment in &update.assignments {
            let mut parts = assigned(&assignment.target)?;
            let name = parts.pop().unwrap_or_default();
            let indirection = parts.pop().map(super::build::word).into_iter().collect();
            let val = boxed(self.expression(&assignment.value)?);
            target_list.push(node(N::ResTarget(Box::new(pg::ResTarget { name, indirection, val, location: NOWHERE }))));
        }
        let from_clause = self.tables(from)?;
        let where_clause = filter(self)?;
        one(N::UpdateStmt(Box::new(pg::UpdateStmt {
            relation: None,
            target_list,
            where_clause,
            from_clause,
            with_clause,
            returning_clause: self.one_by_one(Vec::new(), &[]),
        })))
    }

    /// An UPDATE whose values set variables: they are all read first, in the order of the rows, each once.
    fn variable_update(
        &mut self,
        relation: pg::RangeVar,
        target_list: Vec<Node>,
        where_clause: Option<Box<Node>>,
        with_clause: Option<pg::WithClause>,
        mut order: Vec<Node>,
    ) -> Result<Trees> {
        if order.is_empty() {
            // As the rows lie, whichever key it might be quicker to read them by.
            order.push(node(N::SortBy(Box::new(pg::SortBy {
                node: boxed(column(vec!["ctid".to_owned()])),
                sortby_dir: pg::SortByDir::SortbyDefault as i32,
                sortby_nulls: pg::SortByNulls::SortbyNullsDefault as i32,
                use_op: Vec::new(),
                location: NOWHERE,
            }))));
        }
        let mut known: Vec<&str> = Vec::new();
        for target in &target_list {
            let Some(N::ResTarget(target)) = &target.node else { continue };
            if target.val.as_deref().is_some_and(|value| names_any(value, &known)) {
                let what = "UPDATE that sets variables (:=), with a value that reads a column that is set left of it";
                return Err(Error::unsupported(what));
            }
            known.push(&target.name);
        }
        one(N::UpdateStmt(Box::new(pg::UpdateStmt {
            relation: None,
            target_list,
            where_clause,
            from_clause: vec![node(N::RangeVar(relation))],
            with_clause,
            returning_clause: self.one_by_one(order, &[]),
        })))
    }

    /// What is said of rows that are changed one after another: IGNORE, ORDER BY.
    fn one_by_one(&self, order: Vec<Node>, partitions: &[String]) -> Option<pg::ReturningClause> {
        let mut options = Vec::new();
        if !partitions.is_empty() {
            options.push(super::partitions::said(partitions));
        }
        if self.modifiers.ignore {
            options.push(def(IGNORE, None));
        }
        if !order.is_empty() {
            options.push(def("order", Some(list(order))));
        }
        (!options.is_empty()).then(|| pg::ReturningClause { options, exprs: Vec::new() })
    }

    /// The table of a change, and those of its partitions whose rows are changed; none for all.
    fn changed_parts(&mut self, table: &TableFactor) -> Result<(pg::RangeVar, Vec<String>)> {
        let mut plain = table.clone();
        let mut named = Vec::new();
        if let TableFactor::Table { partitions, .. } = &mut plain {
            named = std::mem::take(partitions).into_iter().map(|name| name.value).collect();
        }
        Ok((self.changed_table(&plain)?, named))
    }

    /// Some partitions of a table, in a change of several tables.
    fn refuse_partitions(&self, tables: &[&TableFactor]) -> Result<()> {
        let has =
            |table: &&TableFactor| matches!(table, TableFactor::Table { partitions, .. } if !partitions.is_empty());
        match tables.iter().any(has) {
            true => Err(Error::unsupported("PARTITION of a table in a change of several tables")),
            false => Ok(()),
        }
    }

    fn changed_table(&mut self, table: &TableFactor) -> Result<pg::RangeVar> {
        match self.table(table)?.node {
            Some(N::RangeVar(relation)) => Ok(relation),
            _ => Err(Error::syntax("rows of tables are changed")),
        }
    }

    /// A DELETE, behind the WITH that stands before it.
    pub(super) fn delete(&mut self, delete: &Delete, with: Option<&With>) -> Result<Trees> {
        let with_clause = with.map(|with| self.with_clause(with)).transpose()?;
        if delete.returning.is_some() {
            return Err(Error::unsupported("RETURNING"));
        }
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let named: Vec<String> = match &delete.using {
            Some(_) => from.iter().filter_map(|table| called(&table.relation)).collect(),
            None => delete
                .tables
                .iter()
                .map(|name| Ok(name_parts(name)?.pop().unwrap_or_default()))
                .collect::<Result<_>>()?,
        };
        let from = delete.using.as_ref().unwrap_or(from);
        let mut all = Vec::new();
        all_tables(from, &mut all);
        if named.is_empty() || (named.len() == 1 && all.len() == 1) {
            let [table] = all.as_slice() else {
                return Err(Error::syntax("DELETE of joined tables names those whose rows go"));
            };
            let (relation, partitions) = self.changed_parts(table)?;
            let mut where_clause = self.optional(delete.selection.as_ref())?;
            if delete.limit.is_some() {
                let (order, read) = (self.sort_keys(&delete.order_by)?, self.table(table)?);
                where_clause = Some(self.first_rows(read, where_clause, order, &delete.limit)?);
            }
            return one(N::DeleteStmt(Box::new(pg::DeleteStmt {
                relation: Some(relation),
                where_clause,
                with_clause,
                returning_clause: self.one_by_one(Vec::new(), &partitions),
                ..Default::default()
            })));
        }
        self.refuse_partitions(&all)?;
        if delete.limit.is_some() || !delete.order_by.is_empty() {
            let what = if delete.limit.is_some() { "LIMIT" } else { "ORDER BY" };
            let error = Error::syntax(format!("Incorrect usage of DELETE and {what}"));
            return Err(error.with_mysql(1221, "HY000"));
        }
        let mut changed = Vec::new();
        for name in &named {
            let is_named =
                |table: &&&TableFactor| called(table).is_some_and(|called| called.eq_ignore_ascii_case(name));
            let Some(table) = all.iter().find(is_named) else {
                let message = format!("Unknown table '{name}' in MULTI DELETE");
                return Err(Error::new(Condition::UndefinedTable, message).with_mysql(1109, "42S02"));
            };
            changed.push((called(table).unwrap_or_default(), self.changed_table(table)?));
        }
        if let ([(_, relation)], Some(flat)) = (changed.as_slice(), flat(from)) {
            let mut conditions = flat.conditions.iter().map(|one| self.expression(one)).collect::<Result<Vec<_>>>()?;
            conditions.extend(delete.selection.as_ref().map(|filter| self.expression(filter)).transpose()?);
            let mut using_clause = Vec::new();
            for table in &flat.tables {
                if !called(table).is_some_and(|name| name.eq_ignore_ascii_case(&changed[0].0)) {
                    using_clause.push(self.table(table)?);
                }
            }
            return one(N::DeleteStmt(Box::new(pg::DeleteStmt {
                relation: Some(relation.clone()),
                using_clause,
                where_clause: and(conditions),
                with_clause,
                returning_clause: self.one_by_one(Vec::new(), &[]),
            })));
        }
        if self.modifiers.ignore {
            return Err(Error::unsupported("DELETE IGNORE from several tables"));
        }
        self.joined_delete(from, delete.selection.as_ref(), changed, with_clause)
    }

    /// DELETE from a join: which rows go is read first, by their places; then they go, table by table.
    fn joined_delete(
        &mut self,
        from: &[TableWithJoins],
        filter: Option<&Expr>,
        changed: Vec<(String, pg::RangeVar)>,
        with_clause: Option<pg::WithClause>,
    ) -> Result<Trees> {
        let place = |at: usize| format!("place{at}");
        let places = changed.iter().enumerate();
        let places = places.map(|(at, (name, _))| target(place(at), column(vec![name.clone(), "ctid".to_owned()])));
        let query = pg::SelectStmt {
            target_list: places.collect(),
            from_clause: self.tables(from)?,
            where_clause: self.optional(filter)?,
            with_clause,
            ..select()
        };
        let member = |name: String, of: Node| {
            node(N::CommonTableExpr(Box::new(pg::CommonTableExpr {
                ctename: name,
                ctematerialized: pg::CteMaterialize::Always as i32,
                ctequery: boxed(of),
                location: NOWHERE,
                ..Default::default()
            })))
        };
        let mut ctes = vec![member(CHANGES.to_owned(), select_of(query))];
        // A table under several names loses each row once.
        let mut tables: Vec<(String, pg::RangeVar, Vec<Node>)> = Vec::new();
        for (at, (name, relation)) in changed.into_iter().enumerate() {
            let read = pg::RangeVar {
                relname: CHANGES.to_owned(),
                inh: true,
                relpersistence: "p".to_owned(),
                location: NOWHERE,
                ..Default::default()
            };
            let these = pg::SelectStmt {
                target_list: vec![target("", column(vec![place(at)]))],
                from_clause: vec![node(N::RangeVar(read))],
                ..select()
            };
            let goes = |name: &str| {
                let own = column(vec![name.to_owned(), "ctid".to_owned()]);
                sublink(SubLinkType::AnySublink, Some(own), None, these)
            };
            let same =
                |known: &pg::RangeVar| known.relname == relation.relname && known.schemaname == relation.schemaname;
            match tables.iter_mut().find(|(_, known, _)| same(known)) {
                Some((known, _, rows)) => rows.push(goes(known)),
                None => {
                    let rows = vec![goes(&name)];
                    tables.push((name, relation, rows));
                }
            }
        }
        let mut deletes = Vec::with_capacity(tables.len());
        for (at, (_, relation, mut rows)) in tables.into_iter().enumerate() {
            let rows = if rows.len() == 1 { rows.remove(0) } else { logic(BoolExprType::OrExpr, rows) };
            let mut conditions = vec![rows];
            if at > 0 {
                // What goes beside the first table's rows counts, too.
                let beside = super::build::integer(4);
                conditions.push(call("mysql_changes", vec![beside, super::build::integer(0)]));
            }
            deletes.push(pg::DeleteStmt {
                relation: Some(relation),
                where_clause: and(conditions),
                ..Default::default()
            });
        }
        let mut deletes = deletes.into_iter();
        let Some(mut first) = deletes.next() else { return Err(Error::syntax("DELETE without a table")) };
        for (at, other) in deletes.enumerate() {
            ctes.push(member(format!("_beside{at}"), node(N::DeleteStmt(Box::new(other)))));
        }
        first.with_clause = Some(pg::WithClause { ctes, recursive: false, location: NOWHERE });
        one(N::DeleteStmt(Box::new(first)))
    }
}
