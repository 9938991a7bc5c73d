//! ALTER TABLE and ALTER VIEW, read by a grammar of our own: MySQL's has more than the parser knows.
//!
//! What must know the table as it is (the name of its primary key, whether a column numbers itself) is left to the binder:
//! such an action is a command `OPTIONS (…)`, which PostgreSQL has for tables that are not its own, with the action as its
//! option. See `postgres/ddl/mysql_alter.rs`.

use pg_query::protobuf::{self as pg, AlterTableType, ConstrType, DropBehavior, Node, ObjectType, node::Node as N};
use sqlparser::ast::{ColumnDef, ColumnOption, ColumnOptionDef, DataType, Expr};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

use super::build::{boxed, def, list, node, number, text};
use super::definitions::{Parts, comments, constraint, of_constraint, renamed_column, renamed_table};
use super::statements::{Failed, Trees};
use super::tokens::is_word;
use super::tree::Converter;
use super::types;
use crate::{Error, Result};

/// Options that say how a server stores a table: every dump has them.
pub(super) const STORAGE: &[&str] = &[
    "ENGINE",
    "ROW_FORMAT",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "PACK_KEYS",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "MAX_ROWS",
    "MIN_ROWS",
    "AVG_ROW_LENGTH",
    "KEY_BLOCK_SIZE",
    "COMPRESSION",
];

/// MySQL's storage engines and MariaDB's: all tables are kept in one way.
const ENGINES: &[&str] = &[
    "InnoDB",
    "MyISAM",
    "MEMORY",
    "HEAP",
    "CSV",
    "ARCHIVE",
    "BLACKHOLE",
    "MERGE",
    "MRG_MYISAM",
    "FEDERATED",
    "NDB",
    "NDBCLUSTER",
    "Aria",
    "Maria",
    "RocksDB",
    "TokuDB",
    "XtraDB",
];

/// An engine that nobody knows is refused, unless `sql_mode` lets another take its place.
///
/// # Errors
/// `1286` for such an engine.
pub(super) fn check_engine(name: &str, modes: super::Modes) -> Result<()> {
    if !modes.no_engine_substitution || ENGINES.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    Err(Error::syntax(format!("Unknown storage engine '{name}'")).with_mysql(1286, "42000"))
}

/// Hints of how an alteration goes about it.
const HINTS: &[&str] = &["ALGORITHM", "LOCK"];

/// Takes this word, which may be no keyword of the parser's.
pub(super) fn took(parser: &mut Parser<'_>, wanted: &str) -> bool {
    let found = is_word(&parser.peek_token_ref().token, wanted);
    if found {
        parser.next_token();
    }
    found
}

/// Takes all of these words or none.
pub(super) fn took_all(parser: &mut Parser<'_>, wanted: &[&str]) -> bool {
    let found = wanted.iter().enumerate().all(|(at, word)| is_word(&parser.peek_nth_token_ref(at).token, word));
    if found {
        wanted.iter().for_each(|_| drop(parser.next_token()));
    }
    found
}

pub(super) fn unexpected<T>(what: &str) -> Result<T, Failed> {
    Err(ParserError::ParserError(format!("expected {what}")).into())
}

fn name(parser: &mut Parser<'_>) -> Result<String, Failed> {
    Ok(parser.parse_identifier()?.value)
}

/// Where a column goes.
enum Place {
    First,
    After(String),
}

fn place(parser: &mut Parser<'_>) -> Result<Option<Place>, Failed> {
    if took(parser, "first") {
        return Ok(Some(Place::First));
    }
    Ok(if took(parser, "after") { Some(Place::After(name(parser)?)) } else { None })
}

pub(super) fn command(subtype: AlterTableType, name: &str, of: Option<Node>) -> Node {
    node(N::AlterTableCmd(Box::new(pg::AlterTableCmd {
        subtype: subtype as i32,
        name: name.to_owned(),
        def: of.map(Box::new),
        behavior: DropBehavior::DropRestrict as i32,
        ..Default::default()
    })))
}

/// The trees of an ALTER TABLE while it is read: what can be said in one statement is one.
struct Alteration {
    relation: pg::RangeVar,
    commands: Vec<Node>,
    trees: Vec<N>,
    /// RENAME TO, which comes last.
    renamed: Vec<N>,
    /// Keys that are added, in small letters.
    added: Vec<String>,
}

/// What a primary key is called.
const PRIMARY: &str = "primary";

impl Alteration {
    fn push(&mut self, subtype: AlterTableType, name: &str, of: Option<Node>) {
        self.commands.push(command(subtype, name, of));
    }

    fn flush(&mut self) {
        if !self.commands.is_empty() {
            let commands = std::mem::take(&mut self.commands);
            self.trees.push(altered(&self.relation, commands));
        }
    }

    fn tree(&mut self, tree: N) {
        self.flush();
        self.trees.push(tree);
    }

    /// Takes a key away: before all else, where one of its name is made. MySQL's come first whatever the order.
    fn key_removed(&mut self, name: &str, action: &str, args: Vec<Node>) {
        if self.added.contains(&name.to_lowercase()) {
            self.trees.insert(0, altered(&self.relation, vec![option(action, args)]));
        } else {
            self.action(action, args);
        }
    }

    /// An action that the binder knows to say.
    fn action(&mut self, action: &str, args: Vec<Node>) {
        self.tree(altered(&self.relation, vec![option(action, args)]));
    }

    fn moved(&mut self, column: &str, place: Option<Place>) {
        match place {
            None => {}
            Some(Place::First) => self.action("move", vec![text(column)]),
            Some(Place::After(other)) => self.action("move", vec![text(column), text(other)]),
        }
    }
}

/// A command that says an action of MySQL's.
pub(super) fn option(action: &str, args: Vec<Node>) -> Node {
    command(AlterTableType::AtGenericOptions, "", Some(list(vec![def(action, Some(list(args)))])))
}

pub(super) fn altered(relation: &pg::RangeVar, cmds: Vec<Node>) -> N {
    N::AlterTableStmt(pg::AlterTableStmt {
        relation: Some(relation.clone()),
        cmds,
        objtype: ObjectType::ObjectTable as i32,
        missing_ok: false,
    })
}

/// What rows that are there get in a column that is NOT NULL and says no default: 0, or an empty text.
fn implicit_default(column: &ColumnDef) -> Option<Node> {
    let has = |wanted: fn(&ColumnOption) -> bool| column.options.iter().any(|option| wanted(&option.option));
    let speaks = has(|option| {
        matches!(option, ColumnOption::Default(_) | ColumnOption::Generated { .. } | ColumnOption::DialectSpecific(_))
    });
    if speaks || !has(|option| matches!(option, ColumnOption::NotNull)) {
        return None;
    }
    if let DataType::Enum(members, _) = &column.data_type {
        return members.first().map(|member| match member {
            sqlparser::ast::EnumMember::Name(name) | sqlparser::ast::EnumMember::NamedValue(name, _) => text(name),
        });
    }
    if types::is_text(&column.data_type) {
        return Some(text(""));
    }
    types::is_number(&column.data_type).then(|| number("0"))
}

impl Converter<'_> {
    /// ALTER TABLE.
    pub(super) fn alter_table(&mut self, parser: &mut Parser<'_>) -> Result<Trees, Failed> {
        parser.next_token();
        parser.next_token();
        let table = parser.parse_object_name(false)?;
        let relation = self.range_var(&table)?;
        let (commands, trees, renamed, added) = Default::default();
        let mut made = Alteration { relation, commands, trees, renamed, added };
        while parser.peek_token_ref().token != Token::EOF {
            if took_all(parser, &["order", "by"]) {
                let columns = parser.parse_comma_separated(|parser| {
                    let column = parser.parse_identifier()?;
                    let _ = parser.parse_one_of_keywords(&[Keyword::ASC, Keyword::DESC]);
                    Ok(text(column.value))
                })?;
                made.action("order", columns);
                continue;
            }
            self.alteration(parser, &table, &mut made)?;
            // Options stand behind one another with blanks between.
            let _ = parser.consume_token(&Token::Comma);
        }
        made.flush();
        made.trees.append(&mut made.renamed);
        if made.trees.is_empty() {
            // The table has to be there all the same.
            made.trees.push(altered(&made.relation, vec![option("nothing", Vec::new())]));
        }
        Ok((made.trees, false))
    }

    fn alteration(
        &mut self,
        parser: &mut Parser<'_>,
        table: &sqlparser::ast::ObjectName,
        made: &mut Alteration,
    ) -> Result<(), Failed> {
        if let Some(trees) = self.altered_partitions(parser, &made.relation.clone())? {
            trees.into_iter().for_each(|tree| made.tree(tree));
            return Ok(());
        }
        if took(parser, "add") {
            return self.addition(parser, made);
        }
        if took(parser, "drop") {
            return removal(parser, made);
        }
        if took(parser, "modify") {
            took(parser, "column");
            let name = parser.parse_identifier()?.value;
            return self.redefinition(parser, &name, made);
        }
        if took(parser, "change") {
            took(parser, "column");
            let (old, new) = (name(parser)?, parser.parse_identifier()?.value);
            if old != new {
                made.tree(renamed_column(&made.relation.clone(), &old, &new));
            }
            return self.redefinition(parser, &new, made);
        }
        if took(parser, "rename") {
            return self.renaming(parser, table, made);
        }
        if took(parser, "alter") {
            return self.altered_part(parser, made);
        }
        if took_all(parser, &["convert", "to"]) {
            return self.conversion(parser, made);
        }
        if took(parser, "force")
            || took_all(parser, &["disable", "keys"])
            || took_all(parser, &["enable", "keys"])
            || took_all(parser, &["with", "validation"])
        {
            return Ok(());
        }
        for refused in ["without", "discard", "import"] {
            if is_word(&parser.peek_token_ref().token, refused) {
                return Err(Error::unsupported(format!("ALTER TABLE … {}", refused.to_uppercase())).into());
            }
        }
        self.altered_option(parser, made)
    }

    /// An option of a table.
    fn altered_option(&mut self, parser: &mut Parser<'_>, made: &mut Alteration) -> Result<(), Failed> {
        let is_default = took(parser, "default");
        if took(parser, "charset") || took_all(parser, &["character", "set"]) {
            let _ = parser.consume_token(&Token::Eq);
            // Texts are UTF-8 whatever it is called.
            charset_word(parser)?;
            return Ok(());
        }
        if took(parser, "collate") {
            let _ = parser.consume_token(&Token::Eq);
            let collation = charset_word(parser)?;
            made.action("default_collation", vec![text(collation)]);
            return Ok(());
        }
        if is_default {
            return unexpected("CHARACTER SET or COLLATE");
        }
        if took(parser, "comment") {
            let _ = parser.consume_token(&Token::Eq);
            let comment = parser.parse_literal_string()?;
            for tree in comments(&made.relation.clone(), Some(comment), Vec::new()) {
                made.tree(tree);
            }
            return Ok(());
        }
        if took(parser, "auto_increment") {
            let _ = parser.consume_token(&Token::Eq);
            let first = parser.parse_literal_uint()?;
            made.action("auto_increment", vec![number(&first.to_string())]);
            return Ok(());
        }
        for known in STORAGE.iter().chain(HINTS) {
            if took(parser, known) {
                let _ = parser.consume_token(&Token::Eq);
                match parser.next_token().token {
                    Token::Word(Word { value, .. }) | Token::SingleQuotedString(value) if *known == "ENGINE" => {
                        return Ok(check_engine(&value, self.modes)?);
                    }
                    Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_) => return Ok(()),
                    _ => return unexpected("a value"),
                }
            }
        }
        let Token::Word(word) = &parser.peek_token_ref().token else { return unexpected("an alteration") };
        const OTHERS: &[&str] = &[
            "AUTOEXTEND_SIZE",
            "CONNECTION",
            "DATA",
            "ENCRYPTION",
            "INDEX",
            "INSERT_METHOD",
            "PASSWORD",
            "SECONDARY_ENGINE",
            "START",
            "TABLESPACE",
            "UNION",
        ];
        match OTHERS.iter().find(|known| word.value.eq_ignore_ascii_case(known)) {
            Some(known) => Err(Error::unsupported(format!("the table option {known}")).into()),
            None => unexpected("an alteration"),
        }
    }

    fn addition(&mut self, parser: &mut Parser<'_>, made: &mut Alteration) -> Result<(), Failed> {
        let is_column = took(parser, "column");
        if parser.consume_token(&Token::LParen) {
            loop {
                match parser.parse_optional_table_constraint()? {
                    Some(of) => self.added_constraint(&of, made)?,
                    None => {
                        let column = parser.parse_column_def()?;
                        self.added_column(&column, None, made)?;
                    }
                }
                if !parser.consume_token(&Token::Comma) {
                    break;
                }
            }
            parser.expect_token(&Token::RParen)?;
            return Ok(());
        }
        if !is_column && let Some(of) = parser.parse_optional_table_constraint()? {
            return Ok(self.added_constraint(&of, made)?);
        }
        let column = parser.parse_column_def()?;
        let place = place(parser)?;
        Ok(self.added_column(&column, place, made)?)
    }

    fn added_column(&mut self, column: &ColumnDef, place: Option<Place>, made: &mut Alteration) -> Result<()> {
        let mut parts = Parts::default();
        let name = column.name.value.clone();
        let mut of = self.column_definition(&name, &column.data_type, &column.options, &mut parts)?;
        let implicit = implicit_default(column);
        if let Some(value) = &implicit {
            let raw_expr = boxed(value.clone());
            let default = pg::Constraint { raw_expr, ..constraint(ConstrType::ConstrDefault) };
            of.constraints.push(of_constraint(default));
        }
        made.push(AlterTableType::AtAddColumn, "", Some(node(N::ColumnDef(Box::new(of)))));
        if implicit.is_some() {
            // It was for the rows that are there.
            made.flush();
            made.push(AlterTableType::AtColumnDefault, &name, None);
        }
        self.parts_behind(parts, made)?;
        made.moved(&name, place);
        Ok(())
    }

    /// Keys and comments that stand at a column.
    fn parts_behind(&mut self, parts: Parts, made: &mut Alteration) -> Result<()> {
        let relation = made.relation.clone();
        for key in &parts.keys {
            made.added.extend(key.name().map(str::to_lowercase));
            let index = self.index(&relation, &relation.relname, key, false)?;
            made.tree(index);
        }
        for tree in comments(&relation, None, parts.comments) {
            made.tree(tree);
        }
        Ok(())
    }

    fn added_constraint(&mut self, of: &sqlparser::ast::TableConstraint, made: &mut Alteration) -> Result<()> {
        let mut parts = Parts::default();
        self.constraint(of, &mut parts)?;
        for element in std::mem::take(&mut parts.elements) {
            let is_named = matches!(&element.node, Some(N::Constraint(of)) if !of.conname.is_empty());
            if matches!(&element.node, Some(N::Constraint(of)) if of.contype() == ConstrType::ConstrPrimary) {
                made.added.push(PRIMARY.to_owned());
            }
            made.push(AlterTableType::AtAddConstraint, "", Some(element));
            if !is_named {
                // The next one counts it.
                made.flush();
            }
        }
        let of_primary = parts.of_primary(&made.relation);
        of_primary.into_iter().for_each(|tree| made.tree(tree));
        self.parts_behind(parts, made)
    }

    /// MODIFY and CHANGE: a column as it is to be.
    fn redefinition(&mut self, parser: &mut Parser<'_>, name: &str, made: &mut Alteration) -> Result<(), Failed> {
        let data_type = parser.parse_data_type()?;
        let mut options = Vec::new();
        loop {
            let name = if took(parser, "constraint") { Some(parser.parse_identifier()?) } else { None };
            match parser.parse_optional_column_option()? {
                Some(option) => options.push(ColumnOptionDef { name, option }),
                None => break,
            }
        }
        let place = place(parser)?;
        let mut parts = Parts::default();
        let of = self.column_definition(name, &data_type, &options, &mut parts)?;
        let has_comment = !parts.comments.is_empty();
        // The binder knows what the column is already: the definition as a whole is its.
        made.push(AlterTableType::AtReAddConstraint, name, Some(node(N::ColumnDef(Box::new(of)))));
        if !has_comment {
            parts.comments.push((name.to_owned(), String::new()));
        }
        self.parts_behind(parts, made)?;
        made.moved(name, place);
        Ok(())
    }

    fn renaming(
        &mut self,
        parser: &mut Parser<'_>,
        table: &sqlparser::ast::ObjectName,
        made: &mut Alteration,
    ) -> Result<(), Failed> {
        if took(parser, "column") {
            let old = name(parser)?;
            parser.expect_keyword_is(Keyword::TO)?;
            let new = name(parser)?;
            made.tree(renamed_column(&made.relation.clone(), &old, &new));
            return Ok(());
        }
        if took(parser, "index") || took(parser, "key") {
            let old = name(parser)?;
            parser.expect_keyword_is(Keyword::TO)?;
            let new = name(parser)?;
            made.action("rename_key", vec![text(old), text(new)]);
            return Ok(());
        }
        if !took(parser, "to") && !took(parser, "as") {
            let _ = parser.consume_token(&Token::Eq);
        }
        let to = parser.parse_object_name(false)?;
        made.renamed.extend(renamed_table(self, table, &to)?);
        Ok(())
    }

    /// ALTER of a column's default, of a check, of an index.
    fn altered_part(&mut self, parser: &mut Parser<'_>, made: &mut Alteration) -> Result<(), Failed> {
        if took(parser, "check") || took(parser, "constraint") {
            let name = name(parser)?;
            if took(parser, "enforced") {
                made.action("has_check", vec![text(name)]);
                return Ok(());
            }
            return Err(Error::unsupported("CHECK … NOT ENFORCED").into());
        }
        if took(parser, "index") {
            let name = name(parser)?;
            let visible = took(parser, "visible");
            if !visible && !took(parser, "invisible") {
                return unexpected("VISIBLE or INVISIBLE");
            }
            made.action(if visible { "show_key" } else { "hide_key" }, vec![text(name)]);
            return Ok(());
        }
        took(parser, "column");
        let column = name(parser)?;
        if took_all(parser, &["set", "default"]) {
            let value: Expr = parser.parse_expr()?;
            let value = self.default(&value)?;
            made.push(AlterTableType::AtColumnDefault, &column, Some(value));
            return Ok(());
        }
        if took_all(parser, &["drop", "default"]) {
            made.push(AlterTableType::AtColumnDefault, &column, None);
            return Ok(());
        }
        if took_all(parser, &["set", "visible"]) || took_all(parser, &["set", "invisible"]) {
            return Err(Error::unsupported("VISIBLE and INVISIBLE of a column").into());
        }
        unexpected("SET or DROP")
    }

    /// CONVERT TO CHARACTER SET: texts are of the set's collation, or of the one that is said.
    fn conversion(&mut self, parser: &mut Parser<'_>, made: &mut Alteration) -> Result<(), Failed> {
        if !took(parser, "charset") && !took_all(parser, &["character", "set"]) {
            return unexpected("CHARACTER SET");
        }
        let _ = parser.consume_token(&Token::Eq);
        let charset = charset_word(parser)?;
        let collation = match took(parser, "collate") {
            true => {
                let _ = parser.consume_token(&Token::Eq);
                charset_word(parser)?
            }
            false => match charset.as_str() {
                "utf8mb4" | "default" => super::definitions::COLLATION.to_owned(),
                "utf8" | "utf8mb3" => "utf8mb3_general_ci".to_owned(),
                "latin1" => "latin1_swedish_ci".to_owned(),
                "binary" => return Err(Error::unsupported("CONVERT TO CHARACTER SET binary").into()),
                other => {
                    return Err(Error::unsupported(format!("CONVERT TO CHARACTER SET {other} without COLLATE")).into());
                }
            },
        };
        made.action("collate", vec![text(collation.as_str())]);
        made.action("default_collation", vec![text(collation)]);
        Ok(())
    }
}

fn removal(parser: &mut Parser<'_>, made: &mut Alteration) -> Result<(), Failed> {
    if took_all(parser, &["primary", "key"]) {
        made.key_removed(PRIMARY, "drop_primary_key", Vec::new());
    } else if took_all(parser, &["foreign", "key"]) {
        made.action("drop_foreign_key", vec![text(name(parser)?)]);
    } else if took(parser, "index") || took(parser, "key") {
        let name = name(parser)?;
        made.key_removed(&name, "drop_key", vec![text(name.as_str())]);
    } else if took(parser, "check") {
        made.action("drop_check", vec![text(name(parser)?)]);
    } else if took(parser, "constraint") {
        made.action("drop_constraint", vec![text(name(parser)?)]);
    } else {
        took(parser, "column");
        let column = name(parser)?;
        if !took(parser, "restrict") {
            took(parser, "cascade");
        }
        made.push(AlterTableType::AtDropColumn, &column, None);
    }
    Ok(())
}

/// A character set or a collation by its name.
fn charset_word(parser: &mut Parser<'_>) -> Result<String, Failed> {
    match parser.next_token().token {
        Token::Word(word) => Ok(word.value.to_ascii_lowercase()),
        Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => Ok(value.to_ascii_lowercase()),
        _ => unexpected("a name"),
    }
}
