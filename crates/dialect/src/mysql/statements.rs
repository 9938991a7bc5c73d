//! Statements but for definitions and changes of rows: queries, transactions, settings.

use pg_query::protobuf::{self as pg, Node, SubLinkType, TransactionStmtKind, VariableSetKind, node::Node as N};
use sqlparser::ast::{
    ContextModifier, Expr, Ident, ObjectName, ObjectNamePart, Query, Set, SetExpr, Statement as Ast,
    TransactionAccessMode, TransactionIsolationLevel, TransactionMode, Use,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::alter::{took, took_all, unexpected};
use super::build::{NOWHERE, boxed, call, column, def, node, select, sublink, target, text, truth};
use super::expressions::{name_parts, user_variable};
use super::tree::Converter;
use super::{Control, PreparedFrom, Work};
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

/// Several variables are set when all that they are set to is known: what is said to the right reads what was there before.
fn setting(mut calls: Vec<Node>) -> Trees {
    let mut given = Vec::new();
    if calls.len() > 1 {
        for set in &mut calls {
            let Some(N::FuncCall(set)) = &mut set.node else { continue };
            let values = set.args.iter_mut().rev().take(1);
            for value in values.filter(|value| !matches!(value.node, Some(N::AConst(_) | N::ParamRef(_)))) {
                let name = format!("c{}", given.len() + 1);
                given.push((name.clone(), std::mem::replace(value, column(vec![name]))));
            }
        }
    }
    if given.is_empty() {
        return silently(calls);
    }
    let alias = pg::Alias { aliasname: "_".to_owned(), colnames: Vec::new() };
    let values = pg::SelectStmt {
        target_list: given.into_iter().map(|(name, value)| target(name, value)).collect(),
        ..select()
    };
    let query = pg::SelectStmt {
        target_list: calls.into_iter().map(|set| target("", set)).collect(),
        from_clause: vec![super::queries::derived(values, false, alias)],
        ..select()
    };
    (vec![N::SelectStmt(Box::new(query))], true)
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
        if let Some(work) = Work::of(|words| self.has_tokens(words)) {
            return self.maintain(work, parser).map(Some);
        }
        if self.has_tokens(&["flush"])
            || self.has_tokens(&["lock", "tables"])
            || self.has_tokens(&["lock", "table"])
            || self.has_tokens(&["unlock", "tables"])
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
            // Every dump has it. Writers take turns as it is; but the tables have to be there.
            parser.next_token();
            parser.next_token();
            let mut there = Vec::new();
            loop {
                let name = parser.parse_object_name(false)?;
                let mut query = select();
                query.target_list = vec![target("", truth(true))];
                query.from_clause = vec![node(N::RangeVar(self.range_var(&name)?))];
                there.push(sublink(pg::SubLinkType::ExistsSublink, None, None, query));
                while !matches!(parser.peek_token().token, Token::EOF | Token::Comma | Token::SemiColon) {
                    parser.next_token();
                }
                if !parser.consume_token(&Token::Comma) {
                    break;
                }
            }
            let (mut trees, is_silent) = silently(there);
            trees.extend(transaction(TransactionStmtKind::TransStmtCommit, Vec::new(), "", false)?.0);
            return Ok(Some((trees, is_silent)));
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
        Ok(Some(setting(values)))
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

    /// A query whose rows are sent, or put into variables.
    fn select_statement(&mut self, query: &Query) -> Result<Trees> {
        let made = self.query(query)?;
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

    pub(super) fn statement(&mut self, ast: &Ast) -> Result<Trees> {
        match ast {
            Ast::Query(query) => match &*query.body {
                SetExpr::Update(Ast::Update(update)) => self.update(update, query.with.as_ref()),
                SetExpr::Delete(Ast::Delete(delete)) => self.delete(delete, query.with.as_ref()),
                _ => self.select_statement(query),
            },
            Ast::Insert(insert) => self.insert(insert),
            Ast::Update(update) => self.update(update, None),
            Ast::Delete(delete) => self.delete(delete, None),
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
}
