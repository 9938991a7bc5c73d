//! Statements but for definitions: changes of rows, transactions, settings.

use pg_query::protobuf::{
    self as pg, BoolExprType, Node, OnConflictAction, SubLinkType, TransactionStmtKind, VariableSetKind,
    node::Node as N,
};
use sqlparser::ast::{
    Assignment, AssignmentTarget, ContextModifier, Delete, Expr, FromTable, Ident, Insert, JoinConstraint,
    JoinOperator, ObjectName, ObjectNamePart, OnInsert, Query, Set, Statement as Ast, TableFactor, TableObject,
    TableWithJoins, TransactionAccessMode, TransactionIsolationLevel, TransactionMode, Update, Use,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::Control;
use super::build::{
    NOWHERE, boxed, call, column, def, list, logic, node, select, select_of, sublink, target, text, truth,
};
use super::expressions::{name_parts, user_variable};
use super::tree::Converter;
use crate::{Error, Result};

/// The trees of a statement, and whether nobody is told its rows.
pub(super) type Trees = (Vec<N>, bool);

/// Why a statement of our own grammar could not be read.
pub(super) enum Failed {
    Parser(ParserError),
    Meaning(Error),
}

impl From<ParserError> for Failed {
    fn from(error: ParserError) -> Self {
        Self::Parser(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Meaning(error)
    }
}

pub(super) fn one(tree: N) -> Result<Trees> {
    Ok((vec![tree], false))
}

/// A query whose rows nobody is told.
fn silently(targets: Vec<Node>) -> Trees {
    let targets = targets.into_iter().map(|value| target("", value)).collect();
    (vec![N::SelectStmt(Box::new(pg::SelectStmt { target_list: targets, ..select() }))], true)
}

/// A statement of which nothing is left to do.
pub(super) fn nothing() -> Trees {
    silently(vec![truth(true)])
}

fn transaction(kind: TransactionStmtKind, options: Vec<Node>, savepoint: &str, chain: bool) -> Result<Trees> {
    one(N::TransactionStmt(pg::TransactionStmt {
        kind: kind as i32,
        options,
        savepoint_name: savepoint.to_owned(),
        chain,
        location: NOWHERE,
        ..Default::default()
    }))
}

fn modes(modes: &[TransactionMode]) -> Vec<Node> {
    let mode = |mode: &TransactionMode| match mode {
        TransactionMode::AccessMode(access) => {
            let read_only = i32::from(*access == TransactionAccessMode::ReadOnly);
            def("transaction_read_only", Some(super::build::integer(read_only)))
        }
        TransactionMode::IsolationLevel(level) => {
            let words = match level {
                TransactionIsolationLevel::ReadUncommitted => "read uncommitted",
                TransactionIsolationLevel::ReadCommitted => "read committed",
                TransactionIsolationLevel::RepeatableRead | TransactionIsolationLevel::Snapshot => "repeatable read",
                TransactionIsolationLevel::Serializable => "serializable",
            };
            def("transaction_isolation", Some(text(words)))
        }
    };
    modes.iter().map(mode).collect()
}

/// SET TRANSACTION: of the session, or of the transaction that comes next.
fn set_transaction(scope: &str, parser: &mut Parser<'_>) -> Result<Trees, Failed> {
    let of = parser.parse_transaction_modes()?;
    if of.is_empty() || parser.peek_token_ref().token != Token::EOF {
        return Err(ParserError::ParserError("expected a characteristic".to_owned()).into());
    }
    if scope == "global" {
        return Err(Error::unsupported("SET GLOBAL TRANSACTION").into());
    }
    if scope.is_empty() {
        return Ok((
            vec![N::VariableSetStmt(pg::VariableSetStmt {
                kind: VariableSetKind::VarSetMulti as i32,
                name: "TRANSACTION".to_owned(),
                args: modes(&of),
                location: NOWHERE,
                ..Default::default()
            })],
            false,
        ));
    }
    // The variables that say the same.
    let set = |mode: &TransactionMode| {
        let (name, value) = match mode {
            TransactionMode::AccessMode(access) => {
                let word = if *access == TransactionAccessMode::ReadOnly { "ON" } else { "OFF" };
                ("transaction_read_only", word.to_owned())
            }
            TransactionMode::IsolationLevel(level) => {
                ("transaction_isolation", level.to_string().to_ascii_uppercase().replace(' ', "-"))
            }
        };
        call("mysql_set_variable", vec![text("session"), text(name), text(value)])
    };
    Ok(silently(of.iter().map(set).collect()))
}

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

/// Tables that are joined without outer joins, and the conditions between them.
struct Flat<'q> {
    tables: Vec<&'q TableFactor>,
    conditions: Vec<&'q Expr>,
}

fn flat(from: &[TableWithJoins]) -> Result<Flat<'_>> {
    let mut flat = Flat { tables: Vec::new(), conditions: Vec::new() };
    for table in from {
        flat.tables.push(&table.relation);
        for join in &table.joins {
            let (JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint)
            | JoinOperator::StraightJoin(constraint)) = &join.join_operator
            else {
                return Err(Error::unsupported("an outer join in a change of rows"));
            };
            flat.tables.push(&join.relation);
            match constraint {
                JoinConstraint::On(condition) => flat.conditions.push(condition),
                JoinConstraint::None => {}
                _ => return Err(Error::unsupported("USING in a change of rows")),
            }
        }
    }
    Ok(flat)
}

impl Converter<'_> {
    /// Statements of our own grammar; `None`, and nothing taken, for all others.
    pub(super) fn own_statement(&mut self, parser: &mut Parser<'_>) -> Result<Option<Trees>, Failed> {
        if self.has_tokens(&["do"]) {
            parser.next_token();
            let values = parser.parse_comma_separated(Parser::parse_expr)?;
            return Ok(Some(silently(self.expressions(&values)?)));
        }
        if self.has_tokens(&["use"]) {
            parser.next_token();
            let name = parser.parse_identifier()?;
            self.control = Some(Control::Use(name.value));
            return Ok(Some(nothing()));
        }
        if self.has_tokens(&["begin"]) || self.has_tokens(&["begin", "work"]) {
            parser.next_token();
            let _ = parser.parse_keyword(Keyword::WORK);
            return Ok(Some(transaction(TransactionStmtKind::TransStmtBegin, Vec::new(), "", false)?));
        }
        if self.has_tokens(&["start", "transaction"]) {
            return self.start_transaction(parser).map(Some);
        }
        if self.has_tokens(&["alter", "table"])
            && (self.ends_with(&["disable", "keys"]) || self.ends_with(&["enable", "keys"]))
        {
            // How keys are filled is the back end's.
            while parser.next_token().token != Token::EOF {}
            return Ok(Some(nothing()));
        }
        for word in ["analyze", "optimize", "check", "repair"] {
            if self.has_tokens(&[word, "table"]) {
                return Err(Error::unsupported(format!("{} TABLE", word.to_uppercase())).into());
            }
        }
        if self.has_tokens(&["flush"]) || self.has_tokens(&["lock", "tables"]) || self.has_tokens(&["unlock", "tables"])
        {
            return self.locks(parser);
        }
        if self.has_tokens(&["set"]) {
            return self.set_list(parser);
        }
        Ok(None)
    }

    /// START TRANSACTION with its characteristics.
    fn start_transaction(&mut self, parser: &mut Parser<'_>) -> Result<Trees, Failed> {
        parser.next_token();
        parser.next_token();
        let mut options = Vec::new();
        while parser.peek_token_ref().token != Token::EOF {
            if parser.parse_keyword(Keyword::WITH) {
                // CONSISTENT SNAPSHOT.
                parser.next_token();
                parser.next_token();
                options.extend(modes(&[TransactionMode::IsolationLevel(TransactionIsolationLevel::RepeatableRead)]));
            } else if parser.parse_keywords(&[Keyword::READ, Keyword::ONLY]) {
                options.extend(modes(&[TransactionMode::AccessMode(TransactionAccessMode::ReadOnly)]));
            } else if parser.parse_keywords(&[Keyword::READ, Keyword::WRITE]) {
                options.extend(modes(&[TransactionMode::AccessMode(TransactionAccessMode::ReadWrite)]));
            } else {
                return Err(ParserError::ParserError("expected the end".to_owned()).into());
            }
            let _ = parser.consume_token(&Token::Comma);
        }
        Ok(transaction(TransactionStmtKind::TransStmtStart, options, "", false)?)
    }

    /// FLUSH, LOCK TABLES and UNLOCK TABLES.
    fn locks(&mut self, parser: &mut Parser<'_>) -> Result<Option<Trees>, Failed> {
        if self.has_tokens(&["unlock"]) {
            parser.next_token();
            parser.next_token();
            return Ok(Some(transaction(TransactionStmtKind::TransStmtCommit, Vec::new(), "", false)?));
        }
        if self.has_tokens(&["lock"]) {
            // Every dump has it. Writers take turns as it is.
            while parser.next_token().token != Token::EOF {}
            return Ok(Some(transaction(TransactionStmtKind::TransStmtCommit, Vec::new(), "", false)?));
        }
        if self.has_tokens(&["flush", "privileges"])
            || self.has_tokens(&["flush", "tables"]) && self.ends_with(&["tables"])
        {
            // Nothing is kept that could be stale.
            while parser.next_token().token != Token::EOF {}
            return Ok(Some(nothing()));
        }
        Err(Error::unsupported("FLUSH").into())
    }

    /// SET of variables, the server's and the user's.
    fn set_list(&mut self, parser: &mut Parser<'_>) -> Result<Option<Trees>, Failed> {
        if self.has_tokens(&["set", "names"])
            || self.has_tokens(&["set", "character"])
            || self.has_tokens(&["set", "charset"])
        {
            parser.next_token();
            let is_names = parser.parse_keyword(Keyword::NAMES);
            if !is_names {
                parser.next_token();
                let _ = parser.parse_keyword(Keyword::SET);
            }
            let charset = match parser.next_token().token {
                Token::Word(word) => word.value,
                Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => value,
                _ => return Err(Error::syntax("SET NAMES wants a character set").into()),
            };
            let mut args = vec![text(charset.to_ascii_lowercase())];
            if parser.parse_keyword(Keyword::COLLATE) {
                args.push(match parser.next_token().token {
                    Token::Word(word) => text(word.value.to_ascii_lowercase()),
                    Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => text(value),
                    _ => return Err(Error::syntax("COLLATE wants a name").into()),
                });
            }
            return Ok(Some(silently(vec![call("mysql_set_names", args)])));
        }
        for scope in ["", "session", "local", "global"] {
            let words: Vec<&str> = ["set", scope, "transaction"].into_iter().filter(|word| !word.is_empty()).collect();
            if self.has_tokens(&words) {
                words.iter().for_each(|_| drop(parser.next_token()));
                return set_transaction(scope, parser).map(Some);
            }
        }
        if self.has_tokens(&["set", "password"]) || self.has_tokens(&["set", "role"]) {
            return Ok(None);
        }
        parser.next_token();
        let mut values = Vec::new();
        loop {
            let scope = match parser.parse_one_of_keywords(&[Keyword::SESSION, Keyword::LOCAL, Keyword::GLOBAL]) {
                Some(Keyword::GLOBAL) => "global",
                Some(_) => "session",
                None => "",
            };
            let name = parser.parse_object_name(false)?;
            if !parser.consume_token(&Token::Eq) && !parser.consume_token(&Token::Assignment) {
                return Err(ParserError::ParserError("expected =".to_owned()).into());
            }
            let value = parser.parse_expr()?;
            values.push(self.set_variable(scope, &name, &value)?);
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
        if parser.peek_token_ref().token != Token::EOF {
            return Err(ParserError::ParserError("expected the end".to_owned()).into());
        }
        Ok(Some(silently(values)))
    }

    fn set_variable(&mut self, scope: &str, name: &ObjectName, value: &Expr) -> Result<Node> {
        let parts = name_parts(name)?;
        if let [ObjectNamePart::Identifier(ident)] = name.0.as_slice()
            && let Some(name) = user_variable(ident)
        {
            let value = self.expression(value)?;
            return Ok(call("mysql_set_user_variable", vec![text(name), value]));
        }
        let mut parts: Vec<String> =
            parts.iter().map(|part| part.trim_start_matches("@@").to_ascii_lowercase()).collect();
        let scope = match parts.first().map(String::as_str) {
            Some("session" | "local") if parts.len() > 1 => {
                parts.remove(0);
                "session"
            }
            Some("global") if parts.len() > 1 => {
                parts.remove(0);
                "global"
            }
            _ => scope,
        };
        let value = match value {
            // Words stand for themselves here.
            Expr::Identifier(Ident { value, quote_style: None, .. }) if !value.starts_with('@') => text(value.as_str()),
            value => self.expression(value)?,
        };
        Ok(call("mysql_set_variable", vec![text(scope), text(parts.join(".")), value]))
    }

    pub(super) fn statement(&mut self, ast: &Ast) -> Result<Trees> {
        match ast {
            Ast::Query(query) => {
                let made = self.query(query)?;
                if let Some(name) = self.sets.iter().find(|name| self.reads.contains(name)) {
                    return Err(Error::unsupported(format!("the variable @{name}, set and read in one query")));
                }
                one(N::SelectStmt(Box::new(made)))
            }
            Ast::Insert(insert) => self.insert(insert),
            Ast::Update(update) => self.update(update),
            Ast::Delete(delete) => self.delete(delete),
            Ast::StartTransaction { modes: of, .. } => {
                transaction(TransactionStmtKind::TransStmtStart, modes(of), "", false)
            }
            Ast::Commit { chain, .. } => transaction(TransactionStmtKind::TransStmtCommit, Vec::new(), "", *chain),
            Ast::Rollback { chain, savepoint: None } => {
                transaction(TransactionStmtKind::TransStmtRollback, Vec::new(), "", *chain)
            }
            Ast::Rollback { savepoint: Some(name), .. } => {
                transaction(TransactionStmtKind::TransStmtRollbackTo, Vec::new(), &name.value, false)
            }
            Ast::Savepoint { name } => {
                transaction(TransactionStmtKind::TransStmtSavepoint, Vec::new(), &name.value, false)
            }
            Ast::ReleaseSavepoint { name } => {
                transaction(TransactionStmtKind::TransStmtRelease, Vec::new(), &name.value, false)
            }
            Ast::Set(set) => self.set(set),
            Ast::Use(Use::Object(name) | Use::Database(name) | Use::Schema(name)) => {
                self.control = name_parts(name)?.pop().map(Control::Use);
                Ok(nothing())
            }
            Ast::Kill { modifier, id } => {
                let query = matches!(modifier, Some(sqlparser::ast::KillType::Query));
                self.control = Some(Control::Kill { number: *id, query });
                Ok(nothing())
            }
            Ast::Explain { analyze, statement, .. } => {
                let (mut trees, _) = self.statement(statement)?;
                let query = trees.pop().map(node);
                let options = if *analyze { vec![def("analyze", None)] } else { Vec::new() };
                one(N::ExplainStmt(Box::new(pg::ExplainStmt { query: query.map(Box::new), options })))
            }
            Ast::Call(function) => {
                let made = self.expression(&Expr::Function(function.clone()))?;
                match made.node {
                    Some(N::FuncCall(called)) => {
                        one(N::CallStmt(Box::new(pg::CallStmt { funccall: Some(called), ..Default::default() })))
                    }
                    _ => Err(Error::unsupported("CALL of this")),
                }
            }
            other => self.definition(other),
        }
    }

    fn set(&mut self, set: &Set) -> Result<Trees> {
        match set {
            Set::SingleAssignment { scope, variable, values, .. } => {
                let scope = match scope {
                    Some(ContextModifier::Global) => "global",
                    Some(_) => "session",
                    None => "",
                };
                match values.as_slice() {
                    [value] => Ok(silently(vec![self.set_variable(scope, variable, value)?])),
                    _ => Err(Error::syntax("SET wants one value")),
                }
            }
            other => Err(Error::unsupported(format!("{other}"))),
        }
    }

    fn insert(&mut self, insert: &Insert) -> Result<Trees> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(Error::unsupported("INSERT into this"));
        };
        if insert.partitioned.is_some() {
            return Err(Error::unsupported("PARTITION of a table"));
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
                Some(clause(OnConflictAction::OnconflictUpdate, self.assignments(assignments)?))
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
            None => None,
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

    fn assignments(&mut self, assignments: &[Assignment]) -> Result<Vec<Node>> {
        let one = |converter: &mut Self, assignment: &Assignment| {
            let name = assigned(&assignment.target)?.pop().unwrap_or_default();
            Ok(target(name, converter.expression(&assignment.value)?))
        };
        assignments.iter().map(|assignment| one(self, assignment)).collect()
    }

    /// The rows of a table that are the first so many in an order: `ctid IN (SELECT ctid …)`.
    fn first_rows(
        &mut self,
        table: &pg::RangeVar,
        filter: Option<Box<Node>>,
        order: Vec<Node>,
        limit: &Option<Expr>,
    ) -> Result<Box<Node>> {
        let limit_count = limit.as_ref().map(|limit| self.expression(limit)).transpose()?.map(Box::new);
        let inside = pg::SelectStmt {
            target_list: vec![target("", column(vec!["ctid".to_owned()]))],
            from_clause: vec![node(N::RangeVar(table.clone()))],
            where_clause: filter,
            sort_clause: order,
            limit_count,
            ..select()
        };
        let place = column(vec!["ctid".to_owned()]);
        Ok(Box::new(sublink(SubLinkType::AnySublink, Some(place), None, inside)))
    }

    fn update(&mut self, update: &Update) -> Result<Trees> {
        let from = std::slice::from_ref(&update.table);
        let flat = flat(from)?;
        let mut conditions = flat.conditions.iter().map(|one| self.expression(one)).collect::<Result<Vec<_>>>()?;
        let filter = update.selection.as_ref().map(|filter| self.expression(filter)).transpose()?;
        conditions.extend(filter);
        let mut wanted: Option<String> = None;
        for assignment in &update.assignments {
            let mut parts = assigned(&assignment.target)?;
            parts.pop();
            if let Some(table) = parts.pop() {
                if wanted.as_ref().is_some_and(|known| !known.eq_ignore_ascii_case(&table)) {
                    return Err(Error::unsupported("UPDATE of two tables at once"));
                }
                wanted = Some(table);
            }
        }
        let is_wanted = |table: &&TableFactor| {
            let name = called(table);
            wanted.as_ref().is_none_or(|wanted| name.is_some_and(|name| name.eq_ignore_ascii_case(wanted)))
        };
        let Some(at) = flat.tables.iter().position(is_wanted) else {
            return Err(Error::syntax("the table that UPDATE assigns to is none of its tables"));
        };
        if wanted.is_none() && flat.tables.len() > 1 {
            return Err(Error::unsupported("UPDATE of joined tables without the table's name before the column"));
        }
        let relation = self.changed_table(flat.tables[at])?;
        let mut from_clause = Vec::new();
        for (other, table) in flat.tables.iter().enumerate() {
            if other != at {
                from_clause.push(self.table(table)?);
            }
        }
        let mut where_clause = and(conditions);
        if update.limit.is_some() || !update.order_by.is_empty() && update.limit.is_some() {
            let order = self.sort_keys(&update.order_by)?;
            where_clause = Some(self.first_rows(&relation, where_clause, order, &update.limit)?);
        }
        let target_list = self.assignments(&update.assignments)?;
        one(N::UpdateStmt(Box::new(pg::UpdateStmt {
            relation: Some(relation),
            target_list,
            where_clause,
            from_clause,
            ..Default::default()
        })))
    }

    fn changed_table(&mut self, table: &TableFactor) -> Result<pg::RangeVar> {
        match self.table(table)?.node {
            Some(N::RangeVar(relation)) => Ok(relation),
            _ => Err(Error::syntax("rows of tables are changed")),
        }
    }

    fn delete(&mut self, delete: &Delete) -> Result<Trees> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let from = delete.using.as_ref().unwrap_or(from);
        let flat = flat(from)?;
        let named = match (delete.tables.as_slice(), &delete.using, &delete.from) {
            ([], Some(_), FromTable::WithFromKeyword(names) | FromTable::WithoutKeyword(names)) => {
                match names.as_slice() {
                    [name] => called(&name.relation),
                    _ => return Err(Error::unsupported("DELETE from two tables at once")),
                }
            }
            ([], None, _) => None,
            ([name], _, _) => name_parts(name)?.pop(),
            _ => return Err(Error::unsupported("DELETE from two tables at once")),
        };
        let mut conditions = flat.conditions.iter().map(|one| self.expression(one)).collect::<Result<Vec<_>>>()?;
        let filter = delete.selection.as_ref().map(|filter| self.expression(filter)).transpose()?;
        conditions.extend(filter);
        let is_named = |table: &&TableFactor| {
            named.as_ref().is_none_or(|named| called(table).is_some_and(|name| name.eq_ignore_ascii_case(named)))
        };
        let Some(at) = flat.tables.iter().position(is_named) else {
            return Err(Error::syntax("the table that DELETE names is none of its tables"));
        };
        let relation = self.changed_table(flat.tables[at])?;
        let mut using_clause = Vec::new();
        for (other, table) in flat.tables.iter().enumerate() {
            if other != at {
                using_clause.push(self.table(table)?);
            }
        }
        let mut where_clause = and(conditions);
        if delete.limit.is_some() {
            let order = self.sort_keys(&delete.order_by)?;
            where_clause = Some(self.first_rows(&relation, where_clause, order, &delete.limit)?);
        }
        one(N::DeleteStmt(Box::new(pg::DeleteStmt {
            relation: Some(relation),
            using_clause,
            where_clause,
            ..Default::default()
        })))
    }
}
