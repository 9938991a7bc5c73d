//! A body in SQL's own grammar as PostgreSQL prints it: `pg_get_function_sqlbody`.
//!
//! The text that is kept is bound anew, as a view's is, with the parameters by their names. What has no printed form here
//! is shown as it is kept.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use pg_query::protobuf::{self as pg, node::Node as N};

use super::names::{Kind, Level, Member, Shown, Slot};
use super::{STEP, Text, UNSEEN, World, ctes_of};
use crate::Type;
use crate::ir::{
    Body, ConflictAction, Dml, DmlAction, Expr, ExprKind, From, InsertSource, JoinKind, OnConflict, Query, Statement,
    Value,
};
use crate::plan::Context;
use crate::postgres::parse::Parsed;
use crate::postgres::policies::OffPath;
use crate::postgres::routine::{Variables, binder_inside, sql_language};
use crate::postgres::words::quote_ident as quote;
use crate::schema::{Relation, Schema};
use crate::stored_function::StoredFunction;
use crate::uses::{Dependency, Uses};
use crate::values::Settings;

/// The parameters of a function, as its body names them.
pub(super) struct Params<'a> {
    function: &'a str,
    names: Vec<&'a str>,
}

impl Params<'_> {
    /// A parameter; with the function's name where relations stand around.
    pub(super) fn shown(&self, at: usize, alone: bool) -> Option<String> {
        Some(match *self.names.get(at)? {
            "" => format!("${}", at + 1),
            name if alone => quote(name),
            name => format!("{}.{}", quote(self.function), quote(name)),
        })
    }
}

/// The body of a function; `None` when a part of it has no printed form. Constants are printed by the settings.
pub fn function_body(
    function: &StoredFunction,
    schema: &dyn Schema,
    context: &Context,
    settings: Option<&Settings>,
) -> Option<String> {
    printed_body(function, schema, schema, context, settings)
}

/// The body of a function as it is kept: it means the same whatever the `search_path` is.
pub(in crate::postgres) fn kept_body(
    function: &StoredFunction,
    schema: &dyn Schema,
    context: &Context,
) -> Option<String> {
    printed_body(function, schema, &OffPath(schema), context, None)
}

/// The same after a change of names: what it names is found by the schema of before, and told as it is called now.
pub fn renamed_body(
    function: &StoredFunction,
    name: &str,
    (before, now): (&dyn Schema, &dyn Schema),
    context: &Context,
) -> Option<String> {
    printed_body_of((function, name), before, &OffPath(now), context, None)
}

/// The names in it are found by one schema, and told as another one knows them.
fn printed_body(
    function: &StoredFunction,
    schema: &dyn Schema,
    told: &dyn Schema,
    context: &Context,
    settings: Option<&Settings>,
) -> Option<String> {
    printed_body_of((function, &function.name), schema, told, context, settings)
}

/// The same for a function that is called so now.
fn printed_body_of(
    (function, name): (&StoredFunction, &str),
    schema: &dyn Schema,
    told: &dyn Schema,
    context: &Context,
    settings: Option<&Settings>,
) -> Option<String> {
    let definition = &function.definition;
    let types: Option<Vec<Type>> =
        definition.inputs().map(|param| Some(param.ty.looked_up(schema).ok()?.unwrap_or(Type::RECORD))).collect();
    let variables = sql_language::variables(function, &types?, schema).ok()?;
    let statements = sql_language::statements(function).ok()?;
    let names = || definition.inputs().map(|param| param.name.as_str()).collect();
    let print = |statement: &Parsed, returns: bool| {
        let params = Params { function: name, names: names() };
        print_statement(statement, returns, &variables, params, (schema, told), context, settings)
    };
    if let ([value], false) = (statements.as_slice(), definition.source.ends_with(';')) {
        return Some(on_one_line(print(value, true)?.trim_start()));
    }
    let mut text = "BEGIN ATOMIC\n".to_owned();
    for (at, statement) in statements.iter().enumerate() {
        let printed = print(statement, definition.returned.contains(&at))?;
        writeln!(text, "{};", printed.replace('\n', "\n ")).ok()?;
    }
    text.push_str("END");
    Some(text)
}

/// What the defaults of a function name, and its body in SQL's own grammar; what cannot be bound any more names nothing.
pub fn body_uses(function: &StoredFunction, schema: &dyn Schema, context: &Context) -> BTreeSet<Dependency> {
    let definition = &function.definition;
    let mut all = BTreeSet::new();
    for default in definition.params.iter().filter_map(|param| param.default.as_deref()) {
        if let Ok(uses) = crate::postgres::uses_of_default(default, None, schema, context) {
            all.extend(uses.dependencies());
            all.extend(uses.literals.iter().map(|named| (named.oid, None)));
        }
    }
    if !definition.sql_body {
        return all;
    }
    let types: Option<Vec<Type>> =
        definition.inputs().map(|param| Some(param.ty.looked_up(schema).ok()?.unwrap_or(Type::RECORD))).collect();
    let Some(types) = types else { return all };
    let (Ok(variables), Ok(statements)) =
        (sql_language::variables(function, &types, schema), sql_language::statements(function))
    else {
        return all;
    };
    for parsed in &statements {
        let types: Vec<Option<Type>> = variables.types.iter().cloned().map(Some).collect();
        let mut binder = binder_inside(parsed, schema, context, &types, &variables);
        binder.uses = Some(Uses::default());
        binder.asks_policies = false;
        let Ok(tree) = parsed.tree() else { continue };
        let Ok((statement, _)) = binder.statement(&tree) else { continue };
        let uses = binder.uses.take().unwrap_or_default();
        all.extend(uses.dependencies());
        all.extend(uses.literals.iter().map(|named| (named.oid, None)));
        let Statement::Dml(dml) = &statement else { continue };
        let column = |at: &usize| (dml.target.oid, Some(dml.target.columns[*at].name.clone()));
        all.insert((dml.target.oid, None));
        let own = uses.columns.iter().filter(|named| named.id == dml.id && named.position < dml.target.columns.len());
        all.extend(own.map(|named| column(&named.position)));
        match &dml.action {
            DmlAction::Insert { columns, .. } => all.extend(columns.iter().map(column)),
            DmlAction::Update { assignments, .. } => all.extend(assignments.iter().map(|(at, _)| column(at))),
            DmlAction::Delete { .. } => {}
        }
    }
    all
}

/// A text without its lines' ends, and without the blanks that queries in parentheses begin with.
fn on_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    for character in text.chars() {
        match (quote, character) {
            (Some(open), character) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, ' ' | '\n') => {
                if !out.ends_with([' ', '(']) {
                    out.push(' ');
                }
                continue;
            }
            _ => {}
        }
        out.push(character);
    }
    out
}

/// A constant has several lines: they cannot be told from the statement's own.
pub(super) fn has_lines_in_quotes(text: &str) -> bool {
    let mut quote = None;
    for character in text.chars() {
        match (quote, character) {
            (Some(_), '\n') => return true,
            (Some(open), character) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            _ => {}
        }
    }
    false
}

/// A statement, beginning with a blank; a query that `returns` is RETURN's.
fn print_statement(
    parsed: &Parsed,
    returns: bool,
    variables: &Variables,
    params: Params<'_>,
    (schema, told): (&dyn Schema, &dyn Schema),
    context: &Context,
    settings: Option<&Settings>,
) -> Option<String> {
    let types: Vec<Option<Type>> = variables.types.iter().cloned().map(Some).collect();
    let mut binder = binder_inside(parsed, schema, context, &types, variables);
    binder.shown = Some(Shown::default());
    binder.asks_policies = false;
    let tree = parsed.tree().ok()?;
    let (mut statement, _) = binder.statement(&tree).ok()?;
    crate::ir::walk::statement_mut(&mut statement, &mut |expr| {
        types_of_today(expr, told);
        true
    });
    let (mut shown, views) = (binder.shown.take()?, std::mem::take(&mut binder.views_behind));
    shown.told_by(told);
    let ctes = match &statement {
        Statement::Query(query) => ctes_of(query),
        Statement::Dml(dml) if dml.ctes.is_empty() => HashMap::new(),
        _ => return None,
    };
    let mut world = World {
        shown,
        own: None,
        settings,
        views,
        schema: told,
        ctes,
        wrap: 0,
        level: RefCell::default(),
        levels: RefCell::default(),
        beside: RefCell::default(),
        params: Some(params),
        pretty: false,
    };
    let printed = match &statement {
        Statement::Query(query) if returns => world.returned(query)?,
        Statement::Query(query) => world.query(query, false, &UNSEEN)?,
        Statement::Dml(dml) => world.change(dml, &tree)?,
        _ => return None,
    };
    (!has_lines_in_quotes(&printed)).then_some(printed)
}

/// The types of users in an expression, and the labels of enums, as another schema knows them.
pub(super) fn types_of_today(expr: &mut Expr, told: &dyn Schema) {
    if !expr.ty.has_user_type() {
        return;
    }
    let today = crate::user_type::resolved(&expr.ty, &|oid| told.user_type_by_oid(oid));
    let before = std::mem::replace(&mut expr.ty, today);
    let ExprKind::Literal(Value::Text(stored)) = &mut expr.kind else { return };
    let renamed = labels_of(&before).zip(labels_of(&expr.ty)).and_then(|(old, new)| {
        let all = || old.all().iter().zip(new.all());
        all().find(|(old, new)| old.text != new.text).map(|(old, new)| (old.text.clone(), new.text.clone()))
    });
    if let Some((from, to)) = renamed {
        match &before {
            Type::Array(_) => {
                if let Ok(mut array) = crate::values::array::Array::read(stored.as_bytes()) {
                    array.rename(&from, &to);
                    *stored = array.stored().unwrap_or_default();
                }
            }
            _ if *stored == from => *stored = to,
            _ => {}
        }
    }
}

/// The labels of an enum type, or of the members of an array of such.
fn labels_of(ty: &Type) -> Option<&crate::user_type::Labels> {
    match ty {
        Type::Array(element) => labels_of(element),
        Type::User(user) => user.labels(),
        _ => None,
    }
}

impl World<'_> {
    /// RETURN of a query's only value.
    fn returned(&self, query: &Query) -> Option<String> {
        let Body::Select(select) = &query.body else { return None };
        let [value] = select.items.as_slice() else { return None };
        self.enter(query);
        let mut text = Text { indent: STEP, out: " RETURN ".to_owned() };
        let value = self.expr(value, false);
        self.levels.borrow_mut().pop();
        text.nested(&value?);
        Some(text.out)
    }

    /// INSERT, UPDATE or DELETE, beginning with a blank.
    pub(super) fn change(&mut self, dml: &Dml, node: &N) -> Option<String> {
        let (range, only) = match node {
            N::InsertStmt(insert) => (insert.relation.as_ref()?, false),
            N::UpdateStmt(update) => (update.relation.as_ref()?, true),
            N::DeleteStmt(delete) => (delete.relation.as_ref()?, true),
            _ => return None,
        };
        // What goes through a view is the table's by now, unless triggers or rules take it.
        if dml.target.name != range.relname {
            return None;
        }
        let bound = dml.target.clone();
        let target = self.today(&bound);
        let dml = &Dml { target, ..dml.clone() };
        self.enter_target(dml, range, only && !range.inh);
        let printed = match (&dml.action, node) {
            (DmlAction::Insert { columns, source, on_conflict }, N::InsertStmt(insert)) => {
                self.insert((dml, &bound), (columns, source), on_conflict.as_ref(), insert)
            }
            (DmlAction::Update { assignments, from, filter, current_of: None }, _) => {
                self.update(dml, assignments, from.as_ref(), filter.as_ref())
            }
            (DmlAction::Delete { using, filter, current_of: None }, _) => {
                let mut text = Text { indent: STEP, out: format!(" DELETE FROM {}", self.target(dml)) };
                self.beside(using.as_ref(), " USING ", filter.as_ref(), &mut text)?;
                self.returning(dml, &mut text)?;
                Some(text.out)
            }
            _ => None,
        };
        self.levels.borrow_mut().pop();
        printed
    }

    /// The changed table joins those beside it.
    fn enter_target(&mut self, dml: &Dml, range: &pg::RangeVar, only: bool) {
        let slot = |(at, column): (usize, &crate::schema::Column)| Slot {
            bound: column.name.clone(),
            now: Some(column.name.clone()),
            at: Some(at),
            new: false,
        };
        let alias = range.alias.as_ref();
        let plain = || Member {
            kind: Kind::Relation,
            relation: Some(dml.target.oid),
            name: dml.target.name.clone(),
            alias: None,
            columns: dml.target.columns.iter().enumerate().map(slot).collect(),
            only,
            call: None,
            sample: None,
        };
        let mut member = plain();
        if let Some(alias) = alias {
            member.name.clone_from(&alias.aliasname);
            member.alias = Some(Vec::new());
        }
        let own = |id| From::Relation { id, relation: dml.target.clone(), filter: None };
        let beside = match &dml.action {
            DmlAction::Update { from, .. } | DmlAction::Delete { using: from, .. } => from.clone(),
            DmlAction::Insert { on_conflict: Some(conflict), .. } => match conflict.action {
                ConflictAction::Update { excluded, .. } => {
                    let excluded_member = Member { name: "excluded".to_owned(), alias: Some(Vec::new()), ..plain() };
                    self.shown.members.insert(excluded, excluded_member);
                    Some(own(excluded))
                }
                ConflictAction::Nothing => None,
            },
            DmlAction::Insert { .. } => None,
        };
        self.shown.members.insert(dml.id, member);
        let target = own(dml.id);
        let from = match beside {
            Some(beside) => {
                From::Join { kind: JoinKind::Inner, left: Box::new(target), right: Box::new(beside), on: None }
            }
            None => target,
        };
        let level = Level::of(&from, &self.shown, &|_| false);
        self.levels.borrow_mut().push(level.names.values().cloned().collect());
        let mut known = self.level.borrow_mut();
        known.names.extend(level.names);
        known.columns.extend(level.columns);
    }

    /// The changed table's name, with the one that it goes by.
    fn target(&self, dml: &Dml) -> String {
        let own = self.relation_name(&dml.target);
        let member = self.shown.members.get(&dml.id);
        let only = if member.is_some_and(|member| member.only) { "ONLY " } else { "" };
        match member.filter(|member| member.alias.is_some()) {
            Some(member) => format!("{only}{own} AS {}", quote(&member.name)),
            None => format!("{only}{own}"),
        }
    }

    fn insert(
        &self,
        (dml, bound): (&Dml, &Arc<Relation>),
        (columns, source): (&[usize], &InsertSource),
        on_conflict: Option<&OnConflict>,
        insert: &pg::InsertStmt,
    ) -> Option<String> {
        if insert.r#override != i32::from(pg::OverridingKind::OverridingNotSet) {
            return None;
        }
        let own = self.relation_name(&dml.target);
        let mut text = Text { indent: STEP, out: format!(" INSERT INTO {own} ") };
        if let Some(alias) = insert.relation.as_ref()?.alias.as_ref() {
            write!(text.out, "AS {} ", quote(&alias.aliasname)).ok()?;
        }
        // Columns behind those that are given have their defaults.
        let given = given_columns(insert, source, bound, columns)?;
        if !given.is_empty() {
            let names: Vec<String> = given.iter().map(|(at, _)| quote(&dml.target.columns[*at].name)).collect();
            write!(text.out, "({}) ", names.join(", ")).ok()?;
        }
        match source {
            InsertSource::Defaults => text.out.push_str("DEFAULT VALUES"),
            InsertSource::Query(query) => {
                let query = self.query(query, self.pretty, &UNSEEN)?;
                text.nested(&query);
            }
            InsertSource::Values(rows) => {
                let row = |row: &Vec<Expr>| given.iter().map(|(_, place)| row.get(*place).cloned()).collect();
                let rows: Vec<Vec<Expr>> = rows.iter().map(row).collect::<Option<_>>()?;
                match rows.as_slice() {
                    [row] => {
                        text.clause("VALUES (", 2);
                        let values = self.values(row)?;
                        text.nested(&values);
                        text.out.push(')');
                    }
                    rows => text.out.push_str(&self.rows(rows, self.pretty)?),
                }
            }
        }
        if let Some(conflict) = on_conflict {
            self.conflict((dml, bound), conflict, insert.on_conflict_clause.as_deref()?, &mut text)?;
        }
        self.returning(dml, &mut text)?;
        Some(text.out)
    }

    fn conflict(
        &self,
        (dml, bound): (&Dml, &Arc<Relation>),
        conflict: &OnConflict,
        clause: &pg::OnConflictClause,
        text: &mut Text,
    ) -> Option<()> {
        text.out.push_str(" ON CONFLICT");
        match clause.infer.as_deref() {
            None => {}
            Some(infer) if !infer.conname.is_empty() => {
                write!(text.out, " ON CONSTRAINT {}", quote(&infer.conname)).ok()?;
            }
            Some(infer) if infer.where_clause.is_none() => {
                let name = |node: &pg::Node| match &node.node {
                    Some(N::IndexElem(element)) if element.expr.is_none() => {
                        Some(quote(&dml.target.columns.get(bound.column(&element.name)?)?.name))
                    }
                    _ => None,
                };
                let names: Option<Vec<String>> = infer.index_elems.iter().map(name).collect();
                write!(text.out, "({})", names?.join(", ")).ok()?;
            }
            Some(_) => return None,
        }
        match &conflict.action {
            ConflictAction::Nothing => text.out.push_str(" DO NOTHING"),
            ConflictAction::Update { assignments, filter, .. } => {
                text.out.push_str(" DO UPDATE SET ");
                self.assignments(dml, assignments, text)?;
                if let Some(filter) = filter {
                    text.clause(" WHERE ", 1);
                    text.nested(&self.expr(filter, self.pretty)?);
                }
            }
        }
        Some(())
    }

    fn assignments(&self, dml: &Dml, assignments: &[(usize, Expr)], text: &mut Text) -> Option<()> {
        for (place, (at, value)) in assignments.iter().enumerate() {
            if place > 0 {
                text.out.push_str(", ");
            }
            let value = self.values(std::slice::from_ref(value))?;
            write!(text.out, "{} = ", quote(&dml.target.columns[*at].name)).ok()?;
            text.nested(&value);
        }
        Some(())
    }

    fn values(&self, row: &[Expr]) -> Option<String> {
        let value = |value: &Expr| match value.kind {
            ExprKind::Default => Some("DEFAULT".to_owned()),
            _ => self.expr(value, self.pretty),
        };
        Some(row.iter().map(value).collect::<Option<Vec<_>>>()?.join(", "))
    }

    fn update(
        &self,
        dml: &Dml,
        assignments: &[(usize, Expr)],
        from: Option<&From>,
        filter: Option<&Expr>,
    ) -> Option<String> {
        let mut text = Text { indent: STEP, out: format!(" UPDATE {} SET ", self.target(dml)) };
        self.assignments(dml, assignments, &mut text)?;
        self.beside(from, " FROM ", filter, &mut text)?;
        self.returning(dml, &mut text)?;
        Some(text.out)
    }

    fn beside(&self, from: Option<&From>, word: &str, filter: Option<&Expr>, text: &mut Text) -> Option<()> {
        if let Some(from) = from {
            text.clause(word, 2);
            self.members(from, self.pretty, text)?;
        }
        if let Some(filter) = filter {
            text.clause(" WHERE ", 1);
            text.nested(&self.expr(filter, self.pretty)?);
        }
        Some(())
    }

    fn returning(&self, dml: &Dml, text: &mut Text) -> Option<()> {
        if dml.returning.is_empty() {
            return Some(());
        }
        text.clause(" RETURNING", 1);
        self.targets(&dml.columns, &dml.returning, self.pretty, false, text)
    }
}

/// The columns that an INSERT names, or those that it has values for, with the places of these.
fn given_columns(
    insert: &pg::InsertStmt,
    source: &InsertSource,
    target: &Arc<Relation>,
    columns: &[usize],
) -> Option<Vec<(usize, usize)>> {
    if matches!(source, InsertSource::Defaults) {
        return Some(Vec::new());
    }
    let mut given = Vec::new();
    for node in &insert.cols {
        let Some(N::ResTarget(column)) = &node.node else { return None };
        if !column.indirection.is_empty() {
            return None;
        }
        let at = target.column(&column.name)?;
        given.push((at, columns.iter().position(|known| *known == at)?));
    }
    if given.is_empty() {
        let select = match insert.select_stmt.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::SelectStmt(select)) => select,
            _ => return None,
        };
        let count = match (source, select.values_lists.first().and_then(|list| list.node.as_ref())) {
            (InsertSource::Values(_), Some(N::List(list))) => list.items.len(),
            (InsertSource::Query(query), _) => query.columns.len(),
            _ => return None,
        };
        given = columns.iter().take(count).enumerate().map(|(place, at)| (*at, place)).collect();
    }
    Some(given)
}
