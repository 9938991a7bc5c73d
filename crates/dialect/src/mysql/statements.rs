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

use super::alter::{took, took_all, unexpected};
use super::build::{
    NOWHERE, boxed, call, column, def, list, logic, node, select, select_of, sublink, target, text, truth,
};
use super::expressions::{name_parts, user_variable};
use super::tree::Converter;
use super::{Control, PreparedFrom};
use crate::{Condition, Error, Result};

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
/// NAMES and CHARACTER SET, each also among variables that are set.
fn set_names(parser: &mut Parser<'_>) -> Result<Option<Node>, Failed> {
    let is_names = parser.parse_keyword(Keyword::NAMES);
    if !is_names
        && !parser.parse_keyword(Keyword::CHARSET)
        && !parser.parse_keywords(&[Keyword::CHARACTER, Keyword::SET])
    {
        return Ok(None);
    }
    let name = |parser: &mut Parser<'_>, what: &str| match parser.next_token().token {
        Token::Word(word) => Ok(text(word.value.to_ascii_lowercase())),
        Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => Ok(text(value.to_ascii_lowercase())),
        _ => Err(Failed::from(Error::syntax(format!("{what} wants a name")))),
    };
    let mut args = vec![name(parser, "SET NAMES")?];
    if is_names && parser.parse_keyword(Keyword::COLLATE) {
        args.push(name(parser, "COLLATE")?);
    }
    Ok(Some(call("mysql_set_names", args)))
}

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

/// A query that counts the rows that it had without its LIMIT, for FOUND_ROWS().
fn counting(made: pg::SelectStmt) -> pg::SelectStmt {
    let all = pg::SelectStmt { limit_count: None, limit_offset: None, locking_clause: Vec::new(), ..made.clone() };
    let alias = pg::Alias { aliasname: "_".to_owned(), colnames: Vec::new() };
    let count = pg::SelectStmt {
        target_list: vec![target("", call("count", vec![super::build::integer(1)]))],
        from_clause: vec![super::queries::derived(all, false, alias)],
        ..select()
    };
    let count = sublink(SubLinkType::ExprSublink, None, None, count);
    let limit = made.limit_count.clone().map_or_else(|| super::build::number(&i64::MAX.to_string()), |limit| *limit);
    let limit_count = boxed(call("mysql_set_found_rows", vec![count, limit]));
    pg::SelectStmt { limit_count, ..made }
}

/// The only row of a query as the values of variables.
fn into_variables(made: pg::SelectStmt, names: Vec<String>) -> Trees {
    let columns: Vec<String> = (1..=names.len()).map(|at| format!("c{at}")).collect();
    let alias = pg::Alias {
        aliasname: "_".to_owned(),
        colnames: columns.iter().map(|column| super::build::word(column.clone())).collect(),
    };
    let number = pg::FuncCall {
        over: Some(Box::new(pg::WindowDef { frame_options: 1058, location: NOWHERE, ..Default::default() })),
        ..super::build::plain_call(vec![super::build::word("row_number")], Vec::new())
    };
    let number = node(N::FuncCall(Box::new(number)));
    let mut targets = vec![target("", call("mysql_into_one", vec![number]))];
    for (name, at) in names.into_iter().zip(columns) {
        let value = call("mysql_set_user_variable", vec![text(name.to_lowercase()), column(vec![at])]);
        targets.push(target("", value));
    }
    let query = pg::SelectStmt {
        target_list: targets,
        from_clause: vec![super::queries::derived(made, false, alias)],
        ..select()
    };
    (vec![N::SelectStmt(Box::new(query))], true)
}

/// PREPARE, EXECUTE and DEALLOCATE PREPARE.
fn prepared(parser: &mut Parser<'_>) -> Result<Option<Control>, Failed> {
    let variable = |parser: &mut Parser<'_>| match parser.next_token().token {
        Token::Word(word) if word.value.starts_with('@') && !word.value.starts_with("@@") => {
            Ok(word.value[1..].to_lowercase())
        }
        _ => unexpected("a variable"),
    };
    let control = if took(parser, "prepare") {
        let name = parser.parse_identifier()?.value.to_lowercase();
        if !took(parser, "from") {
            return unexpected("FROM");
        }
        let from = match &parser.peek_token_ref().token {
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => {
                let text = text.clone();
                parser.next_token();
                PreparedFrom::Text(text)
            }
            _ => PreparedFrom::Variable(variable(parser)?),
        };
        Control::Prepare { name, from }
    } else if took(parser, "execute") {
        let name = parser.parse_identifier()?.value.to_lowercase();
        let mut using = Vec::new();
        if took(parser, "using") {
            loop {
                using.push(variable(parser)?);
                if !parser.consume_token(&Token::Comma) {
                    break;
                }
            }
        }
        Control::Execute { name, using }
    } else if took_all(parser, &["deallocate", "prepare"]) || took_all(parser, &["drop", "prepare"]) {
        Control::Deallocate(parser.parse_identifier()?.value.to_lowercase())
    } else {
        return Ok(None);
    };
    match parser.peek_token_ref().token {
        Token::EOF => Ok(Some(control)),
        _ => unexpected("the end"),
    }
}

/// IGNORE of an UPDATE or DELETE: an option of RETURNING, which MySQL has not.
pub(crate) const IGNORE: &str = "ignore";

/// The query of a join of which tables are changed, and its columns.
const CHANGES: &str = "_changes";

impl Converter<'_> {
    /// Statements of our own grammar; `None`, and nothing taken, for all others.
    pub(super) fn own_statement(&mut self, parser: &mut Parser<'_>) -> Result<Option<Trees>, Failed> {
        if self.has_tokens(&["do"]) {
            parser.next_token();
            let values = parser.parse_comma_separated(Parser::parse_expr)?;
            return Ok(Some(silently(self.expressions(&values)?)));
        }
        if let Some(control) = prepared(parser)? {
            self.control = Some(control);
            return Ok(Some(nothing()));
        }
        for word in
            ["handler", "xa", "install", "uninstall", "import", "clone", "restart", "shutdown", "binlog", "purge"]
        {
            if self.has_tokens(&[word]) {
                return Err(Error::unsupported(word.to_uppercase()).into());
            }
        }
        if self.has_tokens(&["use"]) {
            parser.next_token();
            let name = parser.parse_identifier()?;
            self.control = Some(Control::Use(name.value));
            return Ok(Some(nothing()));
        }
        if ["explain", "describe", "desc"].iter().any(|word| self.has_tokens(&[word])) {
            return self.explain(parser).map(Some);
        }
        if self.has_tokens(&["begin"]) || self.has_tokens(&["begin", "work"]) {
            parser.next_token();
            let _ = parser.parse_keyword(Keyword::WORK);
            return Ok(Some(transaction(TransactionStmtKind::TransStmtBegin, Vec::new(), "", false)?));
        }
        if self.has_tokens(&["start", "transaction"]) {
            return self.start_transaction(parser).map(Some);
        }
        if self.has_tokens(&["alter", "table"]) {
            return self.alter_table(parser).map(Some);
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
        if let Some(trees) = self.account_statement(parser)? {
            return Ok(Some(trees));
        }
        if self.has_tokens(&["set"]) {
            return self.set_list(parser);
        }
        self.routine_statement(parser)
    }

    /// EXPLAIN of a statement. What TRADITIONAL and TREE show of it is the same here.
    fn explain(&mut self, parser: &mut Parser<'_>) -> Result<Trees, Failed> {
        parser.next_token();
        let mut options = Vec::new();
        if took(parser, "analyze") {
            options.push(def("analyze", None));
        }
        if took(parser, "format") {
            parser.expect_token(&Token::Eq)?;
            let format = parser.parse_identifier()?.value.to_lowercase();
            match format.as_str() {
                "json" => options.push(def("format", Some(text("json")))),
                "traditional" | "tree" => {}
                other => {
                    let message = format!("Unknown EXPLAIN format name: '{other}'");
                    let error = Error::new(Condition::InvalidParameterValue, message);
                    return Err(error.with_mysql(1791, "HY000").into());
                }
            }
        }
        let statement = parser.parse_statement()?;
        let (mut trees, _) = self.statement(&statement)?;
        let query = trees.pop().map(node).map(Box::new);
        Ok(one(N::ExplainStmt(Box::new(pg::ExplainStmt { query, options })))?)
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
        for scope in ["", "session", "local", "global"] {
            let words: Vec<&str> = ["set", scope, "transaction"].into_iter().filter(|word| !word.is_empty()).collect();
            if self.has_tokens(&words) {
                words.iter().for_each(|_| drop(parser.next_token()));
                return set_transaction(scope, parser).map(Some);
            }
        }
        parser.next_token();
        let mut values = Vec::new();
        loop {
            if let Some(call) = set_names(parser)? {
                values.push(call);
                if parser.consume_token(&Token::Comma) {
                    continue;
                }
                break;
            }
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
                let made = if self.counts_found { counting(made) } else { made };
                match std::mem::take(&mut self.modifiers.into) {
                    names if names.is_empty() => one(N::SelectStmt(Box::new(made))),
                    names => {
                        let is_star = |node: &Node| {
                            matches!(&node.node, Some(N::ResTarget(target)) if matches!(
                                target.val.as_deref().and_then(|value| value.node.as_ref()),
                                Some(N::ColumnRef(column)) if matches!(column.fields.last(), Some(Node { node: Some(N::AStar(_)) }))
                            ))
                        };
                        let count = made.target_list.len();
                        if count > 0 && count != names.len() && !made.target_list.iter().any(is_star) {
                            let message = "The used SELECT statements have a different number of columns";
                            return Err(Error::syntax(message).with_mysql(1222, "21000"));
                        }
                        self.control = Some(Control::Into);
                        Ok(into_variables(made, names))
                    }
                }
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
        if update.returning.is_some() {
            return Err(Error::unsupported("RETURNING"));
        }
        let from = std::slice::from_ref(&update.table);
        let mut all = Vec::new();
        all_tables(from, &mut all);
        let filter = |converter: &mut Self| converter.optional(update.selection.as_ref());
        if let [table] = all.as_slice() {
            let relation = self.changed_table(table)?;
            let mut where_clause = filter(self)?;
            if update.limit.is_some() {
                let order = self.sort_keys(&update.order_by)?;
                where_clause = Some(self.first_rows(&relation, where_clause, order, &update.limit)?);
            }
            let target_list = self.assignments(&update.assignments)?;
            let order = self.sort_keys(&update.order_by)?;
            return one(N::UpdateStmt(Box::new(pg::UpdateStmt {
                relation: Some(relation),
                target_list,
                where_clause,
                returning_clause: self.one_by_one(order),
                ..Default::default()
            })));
        }
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
            returning_clause: self.one_by_one(Vec::new()),
            ..Default::default()
        })))
    }

    /// What is said of rows that are changed one after another: IGNORE, ORDER BY.
    fn one_by_one(&self, order: Vec<Node>) -> Option<pg::ReturningClause> {
        let mut options = Vec::new();
        if self.modifiers.ignore {
            options.push(def(IGNORE, None));
        }
        if !order.is_empty() {
            options.push(def("order", Some(list(order))));
        }
        (!options.is_empty()).then(|| pg::ReturningClause { options, exprs: Vec::new() })
    }

    fn changed_table(&mut self, table: &TableFactor) -> Result<pg::RangeVar> {
        match self.table(table)?.node {
            Some(N::RangeVar(relation)) => Ok(relation),
            _ => Err(Error::syntax("rows of tables are changed")),
        }
    }

    fn delete(&mut self, delete: &Delete) -> Result<Trees> {
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
            let relation = self.changed_table(table)?;
            let mut where_clause = self.optional(delete.selection.as_ref())?;
            if delete.limit.is_some() {
                let order = self.sort_keys(&delete.order_by)?;
                where_clause = Some(self.first_rows(&relation, where_clause, order, &delete.limit)?);
            }
            return one(N::DeleteStmt(Box::new(pg::DeleteStmt {
                relation: Some(relation),
                where_clause,
                returning_clause: self.one_by_one(Vec::new()),
                ..Default::default()
            })));
        }
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
                returning_clause: self.one_by_one(Vec::new()),
                ..Default::default()
            })));
        }
        if self.modifiers.ignore {
            return Err(Error::unsupported("DELETE IGNORE from several tables"));
        }
        self.joined_delete(from, delete.selection.as_ref(), changed)
    }

    /// DELETE from a join: which rows go is read first, by their places; then they go, table by table.
    fn joined_delete(
        &mut self,
        from: &[TableWithJoins],
        filter: Option<&Expr>,
        changed: Vec<(String, pg::RangeVar)>,
    ) -> Result<Trees> {
        let place = |at: usize| format!("place{at}");
        let places = changed.iter().enumerate();
        let places = places.map(|(at, (name, _))| target(place(at), column(vec![name.clone(), "ctid".to_owned()])));
        let query = pg::SelectStmt {
            target_list: places.collect(),
            from_clause: self.tables(from)?,
            where_clause: self.optional(filter)?,
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
        let mut deletes = Vec::new();
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
            let own = column(vec![name, "ctid".to_owned()]);
            let mut conditions = vec![sublink(SubLinkType::AnySublink, Some(own), None, these)];
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
