//! SHOW and DESCRIBE, as queries over MySQL's catalogs.
//!
//! Each is a SELECT whose columns have the names that MySQL's have, so that WHERE finds them; what is only sorted by stands
//! behind them and is not shown.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::{Error, Result};

/// Stands in a result's column's name for the database that is the default one when the query is bound. No name of MySQL's
/// may have this letter.
pub(crate) const DEFAULT_DATABASE: &str = "\u{10ffff}";

/// The query that answers a statement of these, and the database that it names; `None`, and nothing taken, where it is
/// another statement.
pub(super) fn query(parser: &mut Parser<'_>) -> Result<Option<(String, Option<String>)>> {
    let is_one = |token: &Token| match token {
        Token::Word(word) => {
            ["show", "describe", "desc", "explain"].iter().any(|own| word.value.eq_ignore_ascii_case(own))
        }
        _ => false,
    };
    // Each look at a token counts those before it: only short statements are looked at whole.
    if !is_one(&parser.peek_token_ref().token) {
        return Ok(None);
    }
    let mut tokens = Vec::new();
    loop {
        match parser.peek_nth_token(tokens.len()).token {
            Token::EOF | Token::SemiColon => break,
            token => tokens.push(token),
        }
    }
    let count = tokens.len();
    let mut words = Words { tokens, at: 0, database: None };
    let Some(text) = words.statement()? else { return Ok(None) };
    if words.at < count {
        return Err(words.unexpected());
    }
    for _ in 0..count {
        parser.next_token();
    }
    Ok(Some((text, words.database)))
}

/// A table that answers.
struct Answer {
    /// What is shown: names and the expressions behind them.
    columns: Vec<(String, String)>,
    from: String,
    conditions: Vec<String>,
    /// By what it is sorted.
    order: &'static str,
    /// The column that LIKE looks at.
    matched: usize,
}

impl Answer {
    fn of(columns: &[(&str, &str)], from: &str) -> Self {
        let columns = columns.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())).collect();
        Self { columns, from: from.to_owned(), conditions: Vec::new(), order: "NULL", matched: 0 }
    }

    fn order(self, order: &'static str) -> Self {
        Self { order, ..self }
    }

    fn matching(self, matched: usize) -> Self {
        Self { matched, ..self }
    }

    fn with(mut self, condition: impl Into<String>) -> Self {
        self.conditions.push(condition.into());
        self
    }

    /// The query, where `filter` is LIKE or WHERE.
    fn query(mut self, filter: Option<Filter>) -> String {
        let mut outer = String::new();
        match filter {
            None => {}
            Some(Filter::Where(condition)) => outer = format!(" WHERE {condition}"),
            Some(Filter::Like(pattern)) => {
                let of = self.columns[self.matched].1.clone();
                self.conditions.push(format!("{of} LIKE {}", text(&pattern)));
                if self.columns.len() <= 2 && self.from.ends_with("schemata") | self.from.ends_with("tables") {
                    self.columns[0].0 = format!("{} ({pattern})", self.columns[0].0);
                }
            }
        }
        let inner: Vec<String> = self.columns.iter().map(|(name, of)| format!("{of} AS {}", quoted(name))).collect();
        let shown: Vec<String> = self.columns.iter().map(|(name, _)| format!("shown.{}", quoted(name))).collect();
        let conditions = match self.conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", self.conditions.join(" AND ")),
        };
        format!(
            "SELECT {} FROM (SELECT {}, {} AS `sorted by` FROM {}{conditions}) AS shown{outer} ORDER BY `sorted by`",
            shown.join(", "),
            inner.join(", "),
            self.order,
            self.from,
        )
    }
}

/// What is left out of an answer.
enum Filter {
    Like(String),
    Where(String),
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// A token as it was written.
fn written(token: &Token) -> String {
    match token {
        Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => text(value),
        token => token.to_string(),
    }
}

/// The words of a statement.
struct Words {
    tokens: Vec<Token>,
    at: usize,
    /// The database that is said.
    database: Option<String>,
}

/// A table with its database.
struct Named {
    database: Option<String>,
    table: String,
}

impl Named {
    /// The database as an expression.
    fn database(&self) -> String {
        self.database.as_deref().map_or_else(|| "DATABASE()".to_owned(), text)
    }

    /// Fails where there is no such table, when it is bound.
    fn exists(&self) -> String {
        let table = match &self.database {
            Some(database) => format!("{}.{}", quoted(database), quoted(&self.table)),
            None => quoted(&self.table),
        };
        format!("NOT EXISTS (SELECT 1 FROM {table} WHERE 1 = 0)")
    }
}

impl Words {
    fn peek(&self, ahead: usize) -> Option<String> {
        match self.tokens.get(self.at + ahead)? {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_ascii_uppercase()),
            _ => None,
        }
    }

    fn is(&self, word: &str) -> bool {
        self.peek(0).as_deref() == Some(word)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    /// One of some words.
    fn take_one(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.take(word))
    }

    fn unexpected(&self) -> Error {
        let near: Vec<String> = self.tokens[self.at.min(self.tokens.len())..].iter().map(written).collect();
        Error::new(
            crate::Condition::SyntaxError,
            format!("You have an error in your SQL syntax near '{}'", near.join(" ")),
        )
    }

    fn name(&mut self) -> Result<String> {
        let name = match self.tokens.get(self.at) {
            Some(Token::Word(word)) => word.value.clone(),
            Some(Token::SingleQuotedString(value) | Token::DoubleQuotedString(value)) => value.clone(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(name)
    }

    /// `[database.]table`
    fn table(&mut self) -> Result<Named> {
        let first = self.name()?;
        if matches!(self.tokens.get(self.at), Some(Token::Period)) {
            self.at += 1;
            return Ok(Named { database: Some(first), table: self.name()? });
        }
        Ok(Named { database: None, table: first })
    }

    /// `FROM database`
    fn of_database(&mut self) -> Result<Option<String>> {
        if self.take_one(&["FROM", "IN"]) {
            self.database = Some(self.name()?);
            return Ok(self.database.clone());
        }
        Ok(None)
    }

    fn filter(&mut self) -> Result<Option<Filter>> {
        if self.take("LIKE") {
            return Ok(Some(Filter::Like(self.name()?)));
        }
        if self.take("WHERE") {
            let condition: Vec<String> = self.tokens[self.at..].iter().map(written).collect();
            if condition.is_empty() {
                return Err(self.unexpected());
            }
            self.at = self.tokens.len();
            return Ok(Some(Filter::Where(condition.join(" "))));
        }
        Ok(None)
    }

    fn statement(&mut self) -> Result<Option<String>> {
        if self.take("SHOW") {
            return self.show().map(Some);
        }
        let describes = self.is("DESC") || self.is("DESCRIBE") || self.is("EXPLAIN");
        let statements = [
            "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "ANALYZE", "FORMAT", "EXTENDED", "TABLE", "FOR",
        ];
        let names = match self.tokens.get(self.at + 1) {
            Some(Token::Word(word)) => {
                word.quote_style.is_some() || !statements.contains(&word.value.to_ascii_uppercase().as_str())
            }
            _ => false,
        };
        if !describes || !names {
            return Ok(None);
        }
        self.at += 1;
        let table = self.table()?;
        let filter = if self.at < self.tokens.len() { Some(Filter::Like(self.name()?)) } else { None };
        Ok(Some(columns(&table, false).query(filter)))
    }

    fn show(&mut self) -> Result<String> {
        let full = self.take("FULL");
        let _ = self.take("EXTENDED");
        let global = self.take("GLOBAL");
        if !global {
            let _ = self.take_one(&["SESSION", "LOCAL"]);
        }
        let Some(word) = self.peek(0) else { return Err(self.unexpected()) };
        self.at += 1;
        match word.as_str() {
            "TABLES" => {
                let database = self.of_database()?;
                let shown = format!("Tables_in_{}", database.as_deref().unwrap_or(DEFAULT_DATABASE));
                let schema = database.as_deref().map_or_else(|| "DATABASE()".to_owned(), text);
                let mut answer = Answer::of(&[(&shown, "TABLE_NAME")], "information_schema.tables");
                if full {
                    answer.columns.push(("Table_type".to_owned(), "TABLE_TYPE".to_owned()));
                }
                let answer = answer.order("TABLE_NAME").with(format!("TABLE_SCHEMA = {schema}"));
                Ok(answer.query(self.filter()?))
            }
            "DATABASES" | "SCHEMAS" => {
                let answer = Answer::of(&[("Database", "SCHEMA_NAME")], "information_schema.schemata");
                Ok(answer.order("SCHEMA_NAME").query(self.filter()?))
            }
            "COLUMNS" | "FIELDS" => {
                let table = self.table_from()?;
                Ok(columns(&table, full).query(self.filter()?))
            }
            "INDEX" | "INDEXES" | "KEYS" => {
                let table = self.table_from()?;
                Ok(indexes(&table).query(self.filter()?))
            }
            "CREATE" => self.show_create(),
            "TABLE" if self.take("STATUS") => {
                let database = self.of_database()?.as_deref().map_or_else(|| "DATABASE()".to_owned(), text);
                let answer = table_status().with(format!("TABLE_SCHEMA = {database}"));
                Ok(answer.query(self.filter()?))
            }
            "VARIABLES" | "STATUS" => {
                let scope = if global { "global" } else { "session" };
                let from = format!("information_schema.{scope}_{}", word.to_ascii_lowercase());
                let answer = Answer::of(&[("Variable_name", "VARIABLE_NAME"), ("Value", "VARIABLE_VALUE")], &from);
                Ok(answer.order("VARIABLE_NAME").query(self.filter()?))
            }
            "WARNINGS" | "ERRORS" => {
                self.limit()?;
                let answer = Answer::of(
                    &[("Level", "LEVEL"), ("Code", "CODE"), ("Message", "MESSAGE")],
                    "information_schema.rowferry_diagnostics",
                );
                let answer = if word == "ERRORS" { answer.with("LEVEL = 'Error'") } else { answer };
                Ok(answer.order("NUMBER").query(None))
            }
            "COUNT" => self.count(),
            "ENGINES" => Ok(engines().query(None)),
            "STORAGE" if self.take("ENGINES") => Ok(engines().query(None)),
            "CHARACTER" if self.take("SET") => self.character_sets(),
            "CHARSET" => self.character_sets(),
            "COLLATION" => {
                let columns = [
                    ("Collation", "COLLATION_NAME"),
                    ("Charset", "CHARACTER_SET_NAME"),
                    ("Id", "ID"),
                    ("Default", "IS_DEFAULT"),
                    ("Compiled", "IS_COMPILED"),
                    ("Sortlen", "SORTLEN"),
                    ("Pad_attribute", "PAD_ATTRIBUTE"),
                ];
                let answer = Answer::of(&columns, "information_schema.collations").order("COLLATION_NAME");
                Ok(answer.query(self.filter()?))
            }
            "PROCESSLIST" => {
                let info = if full { "INFO" } else { "LEFT(INFO, 100)" };
                let columns = [
                    ("Id", "ID"),
                    ("User", "USER"),
                    ("Host", "HOST"),
                    ("db", "DB"),
                    ("Command", "COMMAND"),
                    ("Time", "TIME"),
                    ("State", "STATE"),
                    ("Info", info),
                ];
                Ok(Answer::of(&columns, "information_schema.processlist").order("ID").query(None))
            }
            "GRANTS" => self.grants(),
            "PRIVILEGES" => {
                let columns = [("Privilege", "PRIVILEGE"), ("Context", "CONTEXT"), ("Comment", "COMMENT")];
                Ok(Answer::of(&columns, "information_schema.rowferry_privileges").order("PRIVILEGE").query(None))
            }
            "TRIGGERS" => {
                let database = self.of_database()?.as_deref().map_or_else(|| "DATABASE()".to_owned(), text);
                let columns = [
                    ("Trigger", "TRIGGER_NAME"),
                    ("Event", "EVENT_MANIPULATION"),
                    ("Table", "EVENT_OBJECT_TABLE"),
                    ("Statement", "ACTION_STATEMENT"),
                    ("Timing", "ACTION_TIMING"),
                    ("Created", "CREATED"),
                    ("sql_mode", "SQL_MODE"),
                    ("Definer", "DEFINER"),
                    ("character_set_client", "CHARACTER_SET_CLIENT"),
                    ("collation_connection", "COLLATION_CONNECTION"),
                    ("Database Collation", "DATABASE_COLLATION"),
                ];
                let answer = Answer::of(&columns, "information_schema.triggers").order("TRIGGER_NAME").matching(2);
                Ok(answer.with(format!("TRIGGER_SCHEMA = {database}")).query(self.filter()?))
            }
            "PROCEDURE" | "FUNCTION" if self.take("STATUS") => {
                let columns = [
                    ("Db", "ROUTINE_SCHEMA"),
                    ("Name", "ROUTINE_NAME"),
                    ("Type", "ROUTINE_TYPE"),
                    ("Definer", "DEFINER"),
                    ("Modified", "LAST_ALTERED"),
                    ("Created", "CREATED"),
                    ("Security_type", "SECURITY_TYPE"),
                    ("Comment", "ROUTINE_COMMENT"),
                    ("character_set_client", "CHARACTER_SET_CLIENT"),
                    ("collation_connection", "COLLATION_CONNECTION"),
                    ("Database Collation", "DATABASE_COLLATION"),
                ];
                let answer = Answer::of(&columns, "information_schema.routines").order("ROUTINE_NAME").matching(1);
                Ok(answer.with(format!("ROUTINE_TYPE = {}", text(&word))).query(self.filter()?))
            }
            "EVENTS" => {
                let _ = self.of_database()?;
                let columns = [
                    ("Db", "EVENT_SCHEMA"),
                    ("Name", "EVENT_NAME"),
                    ("Definer", "DEFINER"),
                    ("Time zone", "TIME_ZONE"),
                    ("Type", "EVENT_TYPE"),
                    ("Execute at", "EXECUTE_AT"),
                    ("Interval value", "INTERVAL_VALUE"),
                    ("Interval field", "INTERVAL_FIELD"),
                    ("Starts", "STARTS"),
                    ("Ends", "ENDS"),
                    ("Status", "STATUS"),
                    ("Originator", "ORIGINATOR"),
                    ("character_set_client", "CHARACTER_SET_CLIENT"),
                    ("collation_connection", "COLLATION_CONNECTION"),
                    ("Database Collation", "DATABASE_COLLATION"),
                ];
                Ok(Answer::of(&columns, "information_schema.events").matching(1).query(self.filter()?))
            }
            "PLUGINS" => {
                let columns = [
                    ("Name", "PLUGIN_NAME"),
                    ("Status", "PLUGIN_STATUS"),
                    ("Type", "PLUGIN_TYPE"),
                    ("Library", "PLUGIN_LIBRARY"),
                    ("License", "PLUGIN_LICENSE"),
                ];
                Ok(Answer::of(&columns, "information_schema.plugins").order("PLUGIN_NAME").query(None))
            }
            "OPEN" if self.take("TABLES") => {
                let _ = self.of_database()?;
                let columns =
                    [("Database", "TABLE_SCHEMA"), ("Table", "TABLE_NAME"), ("In_use", "0"), ("Name_locked", "0")];
                let answer = Answer::of(&columns, "information_schema.tables").with("1 = 0").matching(1);
                Ok(answer.query(self.filter()?))
            }
            "MASTER" | "REPLICA" | "SLAVE" if self.take("STATUS") => {
                let columns = [
                    ("File", "''"),
                    ("Position", "0"),
                    ("Binlog_Do_DB", "''"),
                    ("Binlog_Ignore_DB", "''"),
                    ("Executed_Gtid_Set", "''"),
                ];
                Ok(Answer::of(&columns, "information_schema.engines").with("1 = 0").query(None))
            }
            "PROFILES" => {
                let columns = [("Query_ID", "QUERY_ID"), ("Duration", "DURATION"), ("Query", "STATE")];
                Ok(Answer::of(&columns, "information_schema.profiling").query(None))
            }
            _ => {
                let words: Vec<String> = self.tokens.iter().map(written).collect();
                self.at = self.tokens.len();
                Err(Error::unsupported(words.join(" ")))
            }
        }
    }

    /// `FROM table [FROM database]`
    fn table_from(&mut self) -> Result<Named> {
        if !self.take_one(&["FROM", "IN"]) {
            return Err(self.unexpected());
        }
        let mut table = self.table()?;
        if let Some(database) = self.of_database()? {
            table.database = Some(database);
        }
        Ok(table)
    }

    fn show_create(&mut self) -> Result<String> {
        let Some(kind) = self.peek(0) else { return Err(self.unexpected()) };
        self.at += 1;
        let from = "information_schema.rowferry_definitions";
        match kind.as_str() {
            "DATABASE" | "SCHEMA" => {
                let _ = self.take("IF") && self.take("NOT") && self.take("EXISTS");
                let name = self.name()?;
                self.database = Some(name.clone());
                let columns = [("Database", "OBJECT_NAME"), ("Create Database", "DEFINITION")];
                let answer = Answer::of(&columns, from).with("OBJECT_TYPE = 'DATABASE'");
                Ok(answer.with(format!("OBJECT_NAME = {}", text(&name))).query(None))
            }
            "TABLE" | "VIEW" => {
                let table = self.table()?;
                let (name, definition) =
                    if kind == "VIEW" { ("View", "Create View") } else { ("Table", "Create Table") };
                let mut answer = Answer::of(&[(name, "OBJECT_NAME"), (definition, "DEFINITION")], from);
                if kind == "VIEW" {
                    answer.columns.push(("character_set_client".to_owned(), "CHARACTER_SET_CLIENT".to_owned()));
                    answer.columns.push(("collation_connection".to_owned(), "COLLATION_CONNECTION".to_owned()));
                }
                let answer = answer.with(format!("OBJECT_SCHEMA = {}", table.database()));
                let answer = answer.with(format!("OBJECT_NAME = {}", text(&table.table))).with(table.exists());
                let kinds = if kind == "VIEW" { "OBJECT_TYPE = 'VIEW'" } else { "OBJECT_TYPE IN ('TABLE', 'VIEW')" };
                Ok(answer.with(kinds).query(None))
            }
            "TRIGGER" | "PROCEDURE" | "FUNCTION" => {
                let named = self.table()?;
                let title = format!("{}{}", &kind[..1], kind[1..].to_ascii_lowercase());
                let definition =
                    if kind == "TRIGGER" { "SQL Original Statement".to_owned() } else { format!("Create {title}") };
                let modes = text(super::variables::DEFAULT_MODES);
                let columns = [
                    (title.as_str(), "OBJECT_NAME"),
                    ("sql_mode", modes.as_str()),
                    (definition.as_str(), "DEFINITION"),
                    ("character_set_client", "CHARACTER_SET_CLIENT"),
                    ("collation_connection", "COLLATION_CONNECTION"),
                    ("Database Collation", "COLLATION_CONNECTION"),
                ];
                let answer = Answer::of(&columns, from).with(format!("OBJECT_TYPE = {}", text(&kind)));
                let answer = answer.with(format!("OBJECT_SCHEMA = {}", named.database()));
                Ok(answer.with(format!("OBJECT_NAME = {}", text(&named.table))).query(None))
            }
            "USER" => {
                let account = self.account()?;
                let name = account.as_ref().map_or("current user".to_owned(), |(user, host)| format!("{user}@{host}"));
                let title = format!("CREATE USER for {name}");
                let answer = Answer::of(&[(&title, "DEFINITION")], ACCOUNTS).with("NUMBER = 0");
                Ok(answer.with(of_account(account.as_ref(), "SHOW CREATE USER")).query(None))
            }
            _ => Err(Error::unsupported(format!("SHOW CREATE {kind}"))),
        }
    }

    /// `(*) WARNINGS`
    fn count(&mut self) -> Result<String> {
        for wanted in [Token::LParen, Token::Mul, Token::RParen] {
            if self.tokens.get(self.at) != Some(&wanted) {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        let errors = self.take("ERRORS");
        if !errors && !self.take("WARNINGS") {
            return Err(self.unexpected());
        }
        let (name, condition) =
            if errors { ("@@session.error_count", " WHERE LEVEL = 'Error'") } else { ("@@session.warning_count", "") };
        let from = "information_schema.rowferry_diagnostics";
        Ok(format!("SELECT COUNT(*) AS {} FROM {from}{condition}", quoted(name)))
    }

    /// `LIMIT [offset,] count`, which is read over: diagnostics are few.
    fn limit(&mut self) -> Result<()> {
        if self.take("LIMIT") {
            return Err(Error::unsupported("SHOW WARNINGS LIMIT"));
        }
        Ok(())
    }

    fn character_sets(&mut self) -> Result<String> {
        let columns = [
            ("Charset", "CHARACTER_SET_NAME"),
            ("Description", "DESCRIPTION"),
            ("Default collation", "DEFAULT_COLLATE_NAME"),
            ("Maxlen", "MAXLEN"),
        ];
        let answer = Answer::of(&columns, "information_schema.character_sets").order("CHARACTER_SET_NAME");
        Ok(answer.query(self.filter()?))
    }

    /// SHOW GRANTS: of oneself, or of somebody else.
    fn grants(&mut self) -> Result<String> {
        let account = if self.take("FOR") { self.account()? } else { None };
        let name = account.as_ref().map_or("current user".to_owned(), |(user, host)| format!("{user}@{host}"));
        if self.take("USING") {
            self.at = self.tokens.len();
            return Err(Error::unsupported("SHOW GRANTS … USING, as the rights of roles count for their members,"));
        }
        let answer = Answer::of(&[(&format!("Grants for {name}"), "STATEMENT")], ACCOUNTS).order("NUMBER");
        Ok(answer.with(of_account(account.as_ref(), "SHOW GRANTS")).query(None))
    }

    /// An account; `None` for CURRENT_USER.
    fn account(&mut self) -> Result<Option<(String, String)>> {
        if self.take("CURRENT_USER") {
            for token in [Token::LParen, Token::RParen] {
                if self.tokens.get(self.at) == Some(&token) {
                    self.at += 1;
                }
            }
            return Ok(None);
        }
        let user = self.name()?;
        if let Some((user, host)) = user.split_once('@') {
            let host = if host.is_empty() { self.name()? } else { host.to_owned() };
            return Ok(Some((user.to_owned(), host)));
        }
        let host = match self.tokens.get(self.at) {
            Some(Token::Word(word)) if word.value.starts_with('@') => {
                self.at += 1;
                word.value[1..].to_owned()
            }
            _ => "%".to_owned(),
        };
        Ok(Some((user, host)))
    }
}

/// What is told of accounts.
const ACCOUNTS: &str = "information_schema.rowferry_accounts";

/// The condition for an account, which fails where there is none, or the user may not be told of it.
fn of_account(account: Option<&(String, String)>, what: &str) -> String {
    match account {
        None => "NAME = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)".to_owned(),
        Some((user, host)) => {
            let (user, host, what) = (text(user), text(host), text(what));
            format!("NAME = mysql_check_account({user}, {host}, {what})")
        }
    }
}

fn columns(table: &Named, full: bool) -> Answer {
    let mut columns = vec![("Field", "COLUMN_NAME"), ("Type", "COLUMN_TYPE")];
    if full {
        columns.push(("Collation", "COLLATION_NAME"));
    }
    columns.extend([("Null", "IS_NULLABLE"), ("Key", "COLUMN_KEY"), ("Default", "COLUMN_DEFAULT"), ("Extra", "EXTRA")]);
    if full {
        columns.extend([("Privileges", "PRIVILEGES"), ("Comment", "COLUMN_COMMENT")]);
    }
    let answer = Answer::of(&columns, "information_schema.rowferry_columns").order("ORDINAL_POSITION");
    let answer = answer.with(format!("TABLE_SCHEMA = {}", table.database()));
    answer.with(format!("TABLE_NAME = {}", text(&table.table))).with(table.exists())
}

fn indexes(table: &Named) -> Answer {
    let columns = [
        ("Table", "TABLE_NAME"),
        ("Non_unique", "NON_UNIQUE"),
        ("Key_name", "INDEX_NAME"),
        ("Seq_in_index", "SEQ_IN_INDEX"),
        ("Column_name", "COLUMN_NAME"),
        ("Collation", "COLLATION"),
        ("Cardinality", "CARDINALITY"),
        ("Sub_part", "SUB_PART"),
        ("Packed", "PACKED"),
        ("Null", "NULLABLE"),
        ("Index_type", "INDEX_TYPE"),
        ("Comment", "COMMENT"),
        ("Index_comment", "INDEX_COMMENT"),
        ("Visible", "IS_VISIBLE"),
        ("Expression", "EXPRESSION"),
    ];
    let answer = Answer::of(&columns, "information_schema.rowferry_statistics");
    let answer = answer.order("PLACE");
    let answer = answer.with(format!("TABLE_SCHEMA = {}", table.database()));
    answer.with(format!("TABLE_NAME = {}", text(&table.table))).with(table.exists())
}

fn table_status() -> Answer {
    let columns = [
        ("Name", "TABLE_NAME"),
        ("Engine", "ENGINE"),
        ("Version", "VERSION"),
        ("Row_format", "ROW_FORMAT"),
        ("Rows", "TABLE_ROWS"),
        ("Avg_row_length", "AVG_ROW_LENGTH"),
        ("Data_length", "DATA_LENGTH"),
        ("Max_data_length", "MAX_DATA_LENGTH"),
        ("Index_length", "INDEX_LENGTH"),
        ("Data_free", "DATA_FREE"),
        ("Auto_increment", "AUTO_INCREMENT"),
        ("Create_time", "CREATE_TIME"),
        ("Update_time", "UPDATE_TIME"),
        ("Check_time", "CHECK_TIME"),
        ("Collation", "TABLE_COLLATION"),
        ("Checksum", "CHECKSUM"),
        ("Create_options", "CREATE_OPTIONS"),
        ("Comment", "TABLE_COMMENT"),
    ];
    Answer::of(&columns, "information_schema.tables").order("TABLE_NAME")
}

fn engines() -> Answer {
    let columns = [
        ("Engine", "ENGINE"),
        ("Support", "SUPPORT"),
        ("Comment", "COMMENT"),
        ("Transactions", "TRANSACTIONS"),
        ("XA", "XA"),
        ("Savepoints", "SAVEPOINTS"),
    ];
    Answer::of(&columns, "information_schema.engines").order("ENGINE")
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::MySqlDialect;

    use super::*;

    fn shown(sql: &str) -> Result<Option<(String, Option<String>)>> {
        let mut parser = Parser::new(&MySqlDialect {}).try_with_sql(sql).unwrap();
        query(&mut parser)
    }

    #[test]
    fn statements_become_queries() {
        let (tables, database) = shown("SHOW FULL TABLES FROM `shop` LIKE 'a%'").unwrap().unwrap();
        assert_eq!(database.as_deref(), Some("shop"));
        assert_eq!(
            tables,
            "SELECT shown.`Tables_in_shop (a%)`, shown.`Table_type` FROM (SELECT TABLE_NAME AS `Tables_in_shop (a%)`, \
             TABLE_TYPE AS `Table_type`, TABLE_NAME AS `sorted by` FROM information_schema.tables WHERE \
             TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE 'a%') AS shown ORDER BY `sorted by`"
        );
        for sql in [
            "SHOW TABLES",
            "SHOW DATABASES LIKE 'x'",
            "show columns from t where Field = 'it''s'",
            "SHOW FULL FIELDS FROM t FROM d",
            "SHOW INDEX FROM d.t",
            "DESC t",
            "DESCRIBE `t` 'a%'",
            "EXPLAIN t",
            "SHOW CREATE TABLE t",
            "SHOW CREATE DATABASE d",
            "SHOW GLOBAL VARIABLES LIKE 'v%'",
            "SHOW SESSION STATUS",
            "SHOW WARNINGS",
            "SHOW COUNT(*) WARNINGS",
            "SHOW ENGINES",
            "SHOW CHARACTER SET",
            "SHOW COLLATION WHERE Charset = 'utf8mb4'",
            "SHOW FULL PROCESSLIST",
            "SHOW GRANTS FOR CURRENT_USER()",
            "SHOW TABLE STATUS FROM d",
            "SHOW TRIGGERS LIKE 't'",
            "SHOW PROCEDURE STATUS WHERE Db = 'd'",
            "SHOW PLUGINS",
            "SHOW MASTER STATUS",
        ] {
            assert!(shown(sql).unwrap().is_some(), "{sql}");
        }
        for sql in ["SELECT 1", "EXPLAIN SELECT 1", "DESC SELECT 1", "SET a = 1"] {
            assert_eq!(shown(sql).unwrap(), None, "{sql}");
        }
        assert_eq!(shown("SHOW BINARY LOGS").unwrap_err().condition(), crate::Condition::FeatureNotSupported);
        assert_eq!(shown("SHOW TABLES nonsense").unwrap_err().condition(), crate::Condition::SyntaxError);
    }
}
