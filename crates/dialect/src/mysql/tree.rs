//! From a text to statements, each with the tree that PostgreSQL's parser would make of what it means.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use pg_query::protobuf::node::Node as N;
use sqlparser::ast::Statement as Ast;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError, Whitespace, Word};

use super::build::NOWHERE;
use super::grammar::MySql;
use super::lift::unescaped;
use super::{Control, Modes, modifiers, routine, show, views};
use crate::postgres::LONGEST_LIFTED as LONGEST;
use crate::{Condition, Error, Result};

/// How deep expressions and queries may nest.
const DEEPEST: usize = 400;

/// A statement of a text.
pub(crate) struct Made {
    /// What it does, one after another; of several the first does nothing. Some are done only where a type of MySQL's of a
    /// name is not there, or the schema of them all, for no name.
    pub(crate) trees: Vec<(N, Option<String>)>,
    /// The levels of the deepest.
    pub(crate) depth: usize,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// Why it is no statement.
    pub(crate) failed: Option<Box<Error>>,
    /// What it does to sessions.
    pub(crate) control: Option<Control>,
    /// Nobody is told its rows: SET and DO.
    pub(crate) silent: bool,
    /// MAX_EXECUTION_TIME, in milliseconds.
    pub(crate) time_limit: Option<u32>,
    /// How many of the user's variables it sets in expressions, of which MySQL warns.
    pub(crate) assignments: usize,
}

/// Who makes a statement's tree.
pub(super) struct Converter<'t> {
    tokens: &'t [TokenWithSpan],
    /// The parameters of the statement by their places.
    params: &'t HashMap<(u64, u64), i32>,
    lines: &'t Lines<'t>,
    /// The database that the file is.
    database: &'t str,
    /// What `sql_mode` says.
    pub(super) modes: Modes,
    /// What the statement does to sessions.
    pub(super) control: Option<Control>,
    depth: usize,
    deepest: usize,
    /// What the columns of the outermost query are called where nothing is said, until it has been met.
    names: Option<Vec<String>>,
    /// The types of MySQL's that are named, with what makes them.
    pub(super) types: Vec<(String, N)>,
    /// The first number of the table that is being made.
    pub(super) first_number: Option<String>,
    /// COLLATE behind it.
    pub(super) table_collation: Option<String>,
    /// How many of the user's variables are set in expressions.
    pub(super) assignments: usize,
    /// Variables are read or set, the user's or the server's.
    pub(super) names_variables: bool,
    /// What the row of an INSERT is called in ON DUPLICATE KEY UPDATE.
    pub(super) row_alias: Option<String>,
    /// What a view's definition says that the parser does not read.
    pub(super) view: views::Said,
    /// And of a change of rows, or a query.
    pub(super) modifiers: modifiers::Said,
    /// SQL_CALC_FOUND_ROWS.
    pub(super) counts_found: bool,
}

impl<'t> Converter<'t> {
    fn new(
        (sql, database): (&str, &'t str),
        tokens: &'t [TokenWithSpan],
        params: &'t HashMap<(u64, u64), i32>,
        lines: &'t Lines<'t>,
    ) -> Self {
        Self {
            tokens,
            params,
            lines,
            database,
            modes: Modes::default(),
            control: None,
            depth: 0,
            deepest: 0,
            names: Some(column_names(sql, tokens, lines)),
            types: Vec::new(),
            first_number: None,
            table_collation: None,
            assignments: 0,
            names_variables: false,
            row_alias: None,
            view: views::Said::default(),
            modifiers: modifiers::Said::default(),
            counts_found: false,
        }
    }
}

impl Converter<'_> {
    /// One level down.
    pub(super) fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            return Err(Error::new(Condition::StatementTooComplex, "the statement nests too deeply"));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let made = stacker::maybe_grow(128 * 1024, 1024 * 1024, || run(self));
        self.depth -= 1;
        made
    }

    /// The statement of these trees, with what makes the types that they name.
    fn made(&mut self, trees: Vec<N>, range: Range<usize>, silent: bool) -> Made {
        let types = std::mem::take(&mut self.types);
        let (depth, control) = (self.deepest, self.control.take());
        let (time_limit, assignments) = (time_limit(self.tokens), self.assignments);
        if types.is_empty() && trees.len() == 1 {
            let trees = trees.into_iter().map(|tree| (tree, None)).collect();
            return Made { trees, depth, range, failed: None, control, silent, time_limit, assignments };
        }
        let (nothing, _) = super::statements::nothing();
        let mut all: Vec<(N, Option<String>)> = nothing.into_iter().map(|tree| (tree, None)).collect();
        if !types.is_empty() {
            all.push((super::definitions::schema_of_types(), Some(String::new())));
        }
        all.extend(types.into_iter().map(|(name, tree)| (tree, Some(name))));
        all.extend(trees.into_iter().map(|tree| (tree, None)));
        Made { trees: all, depth, range, failed: None, control, silent: true, time_limit, assignments }
    }

    /// The schema that is a database.
    pub(super) fn schema(&self, database: String) -> String {
        if database.eq_ignore_ascii_case(self.database) { "public".to_owned() } else { database }
    }

    /// The parts of a relation's name.
    pub(super) fn relation_parts(&self, name: &sqlparser::ast::ObjectName) -> Result<Vec<String>> {
        let mut parts = super::expressions::name_parts(name)?;
        if let [database, _] = parts.as_mut_slice() {
            *database = self.schema(std::mem::take(database));
        }
        Ok(parts)
    }

    /// The number of the parameter at a place.
    pub(super) fn number_of_param(&self, name: &str, span: Span) -> Result<i32> {
        let found = self.params.get(&(span.start.line, span.start.column));
        // Parameters have no names.
        found.copied().ok_or_else(|| {
            Error::new(Condition::SyntaxError, format!("syntax error at or near \"{}\"", name.replace('"', "'")))
        })
    }

    /// Where a literal begins, in bytes; nowhere in a text that is too long for its literals to be lifted.
    pub(super) fn place_of(&self, span: Span) -> i32 {
        if self.lines.sql.len() > LONGEST {
            return NOWHERE;
        }
        i32::try_from(self.lines.byte(span.start)).unwrap_or(NOWHERE)
    }

    /// Where the minus in front of a literal stands.
    pub(super) fn place_of_minus(&self, span: Span) -> i32 {
        let before = usize::try_from(self.place_of(span)).ok().and_then(|at| self.lines.sql.get(..at));
        let minus = before.map(str::trim_end).filter(|before| before.ends_with('-'));
        minus.and_then(|before| i32::try_from(before.len() - 1).ok()).unwrap_or(NOWHERE)
    }

    /// The names of the outermost query's columns, once.
    pub(super) fn take_names(&mut self) -> Option<Vec<String>> {
        self.names.take()
    }

    pub(super) fn has_tokens(&self, words: &[&str]) -> bool {
        words_behind(self.tokens, words)
    }

    /// The words outside of quotes and parentheses.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let mut depth = 0_usize;
        self.tokens.iter().filter_map(move |token| {
            match &token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                Token::Word(Word { value, quote_style: None, .. }) if depth == 0 => return Some(value.as_str()),
                _ => {}
            }
            None
        })
    }

    /// The statement ends with these words.
    pub(super) fn ends_with(&self, words: &[&str]) -> bool {
        let from = self.tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
        let all: Vec<&TokenWithSpan> = from.collect();
        let tail = all.len().checked_sub(words.len()).map(|at| &all[at..]).unwrap_or_default();
        tail.len() == words.len()
            && tail.iter().zip(words).all(
                |(token, wanted)| matches!(&token.token, Token::Word(word) if word.value.eq_ignore_ascii_case(wanted)),
            )
    }
}

/// Where each line begins, in bytes.
pub(super) struct Lines<'s> {
    sql: &'s str,
    begins: Vec<usize>,
}

impl<'s> Lines<'s> {
    pub(super) fn new(sql: &'s str) -> Self {
        let begins = std::iter::once(0).chain(sql.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { sql, begins }
    }

    /// The byte of a place, whose column counts characters.
    fn byte(&self, place: Location) -> usize {
        let Some(line) = usize::try_from(place.line).ok().and_then(|line| line.checked_sub(1)) else { return 0 };
        let begin = self.begins.get(line).copied().unwrap_or(self.sql.len());
        let column = usize::try_from(place.column).unwrap_or(1).saturating_sub(1);
        let rest = &self.sql[begin..];
        begin + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
    }
}

pub(super) fn syntax_error(sql: &str, at: usize, line: u64) -> Error {
    let near: String = sql.get(at..).unwrap_or_default().chars().take(80).collect();
    Error::new(
        Condition::SyntaxError,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for \
             the right syntax to use near '{near}' at line {line}"
        ),
    )
}

/// The same as the tokenizer fails.
fn read_tokens(dialect: &MySql, modes: Modes, sql: &str) -> std::result::Result<Vec<TokenWithSpan>, TokenizerError> {
    let mut tokens = Tokenizer::new(dialect, sql).with_unescape(false).tokenize_with_location()?;
    for token in &mut tokens {
        match &mut token.token {
            Token::SingleQuotedString(raw) | Token::NationalStringLiteral(raw) => unescape(raw, '\'', modes),
            Token::DoubleQuotedString(raw) => unescape(raw, '"', modes),
            Token::Word(Word { value, quote_style: Some(quote), .. }) if value.contains(*quote) => {
                *value = value.replace(&format!("{quote}{quote}"), &quote.to_string());
            }
            _ => {}
        }
    }
    Ok(with_quoted_variables(tokens))
}

/// `@` before a name in quotes is one word with it: a variable of the user's.
fn with_quoted_variables(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_at = |token: &Token| match token {
        Token::AtSign => true,
        Token::Word(Word { value, quote_style: None, .. }) => value == "@",
        _ => false,
    };
    if !tokens.iter().any(|token| is_at(&token.token)) {
        return tokens;
    }
    let mut merged: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let name = match &token.token {
            Token::Word(Word { value, quote_style: Some(_), .. }) => Some(value),
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => Some(text),
            _ => None,
        };
        if let (Some(name), Some(before)) = (name, merged.last_mut())
            && is_at(&before.token)
        {
            before.token = Token::make_word(&format!("@{name}"), None);
            before.span.end = token.span.end;
            continue;
        }
        merged.push(token);
    }
    merged
}

fn unescape(raw: &mut String, quote: char, modes: Modes) {
    if modes.no_backslash_escapes {
        *raw = raw.replace(&format!("{quote}{quote}"), &quote.to_string());
        return;
    }
    if let Cow::Owned(text) = unescaped(raw, quote) {
        *raw = text;
    }
}

/// How many parameters a text has: the `?` outside of strings, names and comments; 0 for what is no text of MySQL's.
pub fn parameters(sql: &str, modes: Modes) -> usize {
    let tokens = tokens(sql, modes).unwrap_or_default();
    tokens.iter().filter(|token| matches!(token.token, Token::Placeholder(_))).count()
}

/// Splits a text into its statements and parses each. An empty text has none; one of comments alone is a statement that does
/// nothing.
pub(crate) fn statements(sql: &str, database: &str, modes: Modes) -> Result<Vec<Made>> {
    let sql = &*versioned(sql);
    let lines = Lines::new(sql);
    let tokens = tokens(sql, modes)?;
    let mut made = Vec::new();
    let mut from = 0;
    while from <= tokens.len() {
        if routine::begins(&tokens[from..]) {
            if !modes.reads_strings_as_usual() {
                return Err(Error::unsupported("a routine in these SQL modes"));
            }
            match routine_of((sql, database), &tokens[from..], &lines) {
                Ok((statement, taken)) => {
                    made.push(statement);
                    from += taken;
                    continue;
                }
                Err(error) if made.is_empty() => return Err(error),
                Err(error) => {
                    made.push(refused(error, lines.byte(tokens[from].span.start)..sql.len()));
                    break;
                }
            }
        }
        let rest = &tokens[from..];
        let to = from + rest.iter().position(|token| token.token == Token::SemiColon).unwrap_or(rest.len());
        let part = &tokens[from..to];
        from = to + 1;
        let is_blank = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
        let (Some(first), Some(last)) =
            (part.iter().find(|token| !is_blank(token)), part.iter().rev().find(|token| !is_blank(token)))
        else {
            continue;
        };
        let range = lines.byte(first.span.start)..lines.byte(last.span.end);
        match statement((sql, database, modes), part, range.clone(), &lines) {
            Ok(statement) => made.push(statement),
            Err(error) if made.is_empty() => return Err(error),
            // Those before it are run.
            Err(error) => {
                made.push(refused(error, range));
                break;
            }
        }
    }
    let is_comment = |token: &TokenWithSpan| {
        matches!(
            &token.token,
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))
        )
    };
    if made.is_empty() && tokens.iter().any(is_comment) {
        let (trees, _) = super::statements::nothing();
        let trees = trees.into_iter().map(|tree| (tree, None)).collect();
        made.push(Made {
            trees,
            depth: 1,
            range: 0..sql.len(),
            failed: None,
            control: None,
            silent: true,
            time_limit: None,
            assignments: 0,
        });
    }
    Ok(made)
}

/// What is no statement, behind others that are.
fn refused(error: Error, range: Range<usize>) -> Made {
    let (trees, _) = super::statements::nothing();
    let trees = trees.into_iter().map(|tree| (tree, None)).collect();
    Made {
        trees,
        depth: 1,
        range,
        failed: Some(Box::new(error)),
        control: None,
        silent: true,
        time_limit: None,
        assignments: 0,
    }
}

/// The tokens of a text, blanks among them, strings and names as what they stand for.
pub(super) fn tokens(sql: &str, modes: Modes) -> Result<Vec<TokenWithSpan>> {
    read_tokens(&MySql::new(modes), modes, sql).map_err(|error| {
        let at = Lines::new(sql).byte(error.location);
        syntax_error(sql, at, error.location.line.max(1))
    })
}

/// Where tokens stand in their text, in bytes.
pub(super) fn offsets(sql: &str, tokens: &[TokenWithSpan]) -> Vec<(usize, usize)> {
    let (mut line, mut column) = (1_u64, 1_u64);
    let mut characters = sql.char_indices().peekable();
    let mut byte_of = |place: Location| {
        while (line, column) < (place.line, place.column)
            && let Some((_, character)) = characters.next()
        {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        characters.peek().map_or(sql.len(), |(at, _)| *at)
    };
    tokens.iter().map(|token| (byte_of(token.span.start), byte_of(token.span.end))).collect()
}

/// The highest version whose comments are read: `/*!80000 … */`.
const VERSION: u32 = 80_099;

/// A text whose comments for servers such as this one are none: what stands in them stays in its place.
fn versioned(sql: &str) -> Cow<'_, str> {
    if !sql.contains("/*!") {
        return Cow::Borrowed(sql);
    }
    let mut read = sql.as_bytes().to_vec();
    let (mut at, mut open) = (0, false);
    while at < read.len() {
        match read[at] {
            quote @ (b'\'' | b'"' | b'`') => {
                at += 1;
                while at < read.len() && read[at] != quote {
                    at += if read[at] == b'\\' && quote != b'`' { 2 } else { 1 };
                }
                at += 1;
            }
            b'#' => at += line_length(&read[at..]),
            b'-' if read[at..].starts_with(b"--") && read.get(at + 2).is_none_or(u8::is_ascii_whitespace) => {
                at += line_length(&read[at..]);
            }
            b'/' if read[at..].starts_with(b"/*!") => {
                let digits = read[at + 3..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
                let digits = if digits < 5 { 0 } else { digits };
                let version = sql.get(at + 3..at + 3 + digits).and_then(|digits| digits.parse().ok()).unwrap_or(0);
                if open || version > VERSION {
                    at += comment_length(&read[at..]);
                    continue;
                }
                open = true;
                read[at..at + 3 + digits].fill(b' ');
                at += 3 + digits;
            }
            b'/' if read[at..].starts_with(b"/*") => at += comment_length(&read[at..]),
            b'*' if open && read[at..].starts_with(b"*/") => {
                read[at..at + 2].fill(b' ');
                open = false;
                at += 2;
            }
            _ => at += 1,
        }
    }
    // Only what is ASCII has been blanked.
    String::from_utf8(read).map_or(Cow::Borrowed(sql), Cow::Owned)
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

fn comment_length(rest: &[u8]) -> usize {
    rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
}

/// CREATE of a routine or trigger at the beginning of some tokens, and how many of them it takes.
fn routine_of((sql, database): (&str, &str), tokens: &[TokenWithSpan], lines: &Lines<'_>) -> Result<(Made, usize)> {
    let (routine, taken) = routine::create((sql, database), tokens, None)?;
    let rest = tokens[taken..].iter().find(|token| !matches!(token.token, Token::Whitespace(_)));
    if let Some(rest) = rest.filter(|token| token.token != Token::SemiColon) {
        return Err(syntax_error(sql, lines.byte(rest.span.start), rest.span.start.line));
    }
    let first = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_)));
    let range = first.map_or(0, |token| lines.byte(token.span.start))..lines.byte(tokens[taken - 1].span.end);
    let none = HashMap::new();
    let mut converter = Converter::new((sql, database), tokens, &none, lines);
    let trees = converter.routine(routine)?;
    Ok((converter.made(trees, range, false), taken))
}

/// The place that the parser's message ends with: of the word that it had not expected.
fn place_in(message: &str) -> Option<Location> {
    let (line, column) = message.rsplit_once(" at Line: ")?.1.split_once(", Column: ")?;
    Some(Location { line: line.parse().ok()?, column: column.parse().ok()? })
}

/// Parses one statement.
pub(super) fn statement(
    (sql, database, modes): (&str, &str, Modes),
    tokens: &[TokenWithSpan],
    range: Range<usize>,
    lines: &Lines<'_>,
) -> Result<Made> {
    let dialect = MySql::new(modes);
    let mut tokens = respelled(tokens);
    let view = views::of(&mut tokens);
    let modifiers = modifiers::of(&mut tokens)?;
    let tokens = &tokens;
    let mut parser = Parser::new(&dialect).with_recursion_limit(DEEPEST).with_tokens_with_locations(tokens.to_vec());
    if let Some((query, of)) = show::query(&mut parser)? {
        // What SHOW and DESCRIBE answer is a query over the catalogs.
        let mut made = statements(&query, database, Modes::default())?;
        let (Some(mut only), true) = (made.pop(), made.is_empty()) else {
            return Err(Error::internal("a catalog's query that is none"));
        };
        only.range = range;
        only.control = of.map(Control::Of);
        return Ok(only);
    }
    let params: HashMap<(u64, u64), i32> = tokens
        .iter()
        .filter(|token| matches!(token.token, Token::Placeholder(_)))
        .zip(1..)
        .map(|(token, number)| ((token.span.start.line, token.span.start.column), number))
        .collect();
    let failed = |parser: &Parser<'_>, error: ParserError| match error {
        ParserError::RecursionLimitExceeded => {
            Error::new(Condition::StatementTooComplex, "the statement nests too deeply")
        }
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => {
            let place = place_in(&message).unwrap_or_else(|| parser.peek_token_ref().span.start);
            let at = if place.line == 0 { range.end } else { lines.byte(place) };
            let line = lines.begins.partition_point(|begin| *begin <= at).max(1) as u64;
            syntax_error(sql.get(..range.end).unwrap_or(sql), at, line)
        }
    };
    let mut converter = Converter::new((sql, database), tokens, &params, lines);
    (converter.view, converter.modifiers, converter.modes) = (view, modifiers, modes);
    if let Some((trees, silent)) = converter.own_statement(&mut parser).map_err(|error| match error {
        super::statements::Failed::Parser(error) => failed(&parser, error),
        super::statements::Failed::Meaning(error) => error,
    })? {
        return Ok(converter.made(trees, range, silent));
    }
    let ast: Ast = parser.parse_statement().map_err(|error| failed(&parser, error))?;
    if parser.peek_token_ref().token != Token::EOF {
        return Err(failed(&parser, ParserError::ParserError(String::new())));
    }
    let (trees, silent) = converter.statement(&ast)?;
    Ok(converter.made(trees, range, silent))
}

/// What the hint MAX_EXECUTION_TIME of a query says, in milliseconds.
fn time_limit(tokens: &[TokenWithSpan]) -> Option<u32> {
    let is_blank =
        |token: &Token| matches!(token, Token::Whitespace(blank) if !matches!(blank, Whitespace::MultiLineComment(_)));
    let mut tokens = tokens.iter().map(|token| &token.token).filter(|token| !is_blank(token));
    match tokens.next()? {
        Token::Word(Word { keyword: Keyword::SELECT, quote_style: None, .. }) => {}
        _ => return None,
    }
    let Token::Whitespace(Whitespace::MultiLineComment(hints)) = tokens.next()? else { return None };
    let hints = hints.strip_prefix('+')?.to_ascii_uppercase();
    let (_, rest) = hints.split_once("MAX_EXECUTION_TIME")?;
    let (limit, _) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    limit.trim().parse().ok()
}

/// Words that the parser does not know in their place as others that it knows: units of time ([`UNITS`]), and MOD between
/// its operands.
pub(super) fn respelled(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut behind_operand = false;
    let mut skipped = 0;
    let engine = quoted_engine(tokens);
    for (at, token) in tokens.iter().enumerate() {
        let mut token = token.clone();
        if engine == Some(at)
            && let Token::SingleQuotedString(name) | Token::DoubleQuotedString(name) = &token.token
        {
            token.token = Token::make_word(name, Some('`'));
        }
        if skipped > 0 {
            skipped -= usize::from(!matches!(token.token, Token::Whitespace(_)));
            continue;
        }
        if let Token::Word(Word { value, quote_style: None, .. }) = &token.token {
            if value.eq_ignore_ascii_case("LOCK") && words_behind(&tokens[at..], &["LOCK", "IN", "SHARE", "MODE"]) {
                // The older way to say FOR SHARE.
                token.token = Token::make_keyword("FOR");
                out.push(token.clone());
                out.push(TokenWithSpan { token: Token::make_keyword("SHARE"), ..token });
                skipped = 3;
                continue;
            }
            // Older names, each of two words.
            let older = [("VARBINARY", "MEDIUMBLOB"), ("BYTE", "MEDIUMBLOB"), ("VARCHAR", "MEDIUMTEXT")];
            let found = older.iter().find(|(second, _)| words_behind(&tokens[at..], &["LONG", second]));
            if let Some((_, now)) = found {
                out.push(TokenWithSpan { token: Token::make_keyword(now), ..token });
                (skipped, behind_operand) = (1, false);
                continue;
            }
            if behind_operand && value.eq_ignore_ascii_case("MOD") {
                token.token = Token::Mod;
            } else if let Some((_, known)) = UNITS.iter().find(|(unit, _)| value.eq_ignore_ascii_case(unit)) {
                token.token = Token::make_keyword(known);
            }
        }
        behind_operand = match &token.token {
            Token::Whitespace(_) => behind_operand,
            Token::Number(..) | Token::SingleQuotedString(_) | Token::RParen | Token::Placeholder(_) => true,
            Token::Word(word) => word.quote_style.is_some() || word.keyword == Keyword::NoKeyword,
            _ => false,
        };
        out.push(token);
    }
    out
}

/// Where the engine of a CREATE TABLE stands in quotes, which the parser takes without.
fn quoted_engine(tokens: &[TokenWithSpan]) -> Option<usize> {
    let starts = [&["CREATE", "TABLE"][..], &["CREATE", "TEMPORARY", "TABLE"]];
    if !starts.iter().any(|words| words_behind(tokens, words)) {
        return None;
    }
    let mut depth = 0_usize;
    let mut all =
        tokens.iter().enumerate().filter(|(_, token)| !matches!(token.token, Token::Whitespace(_))).peekable();
    while let Some((_, token)) = all.next() {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 && word.quote_style.is_none() => match word.keyword {
                // What stands in a query is something else.
                Keyword::SELECT | Keyword::WITH | Keyword::VALUES => return None,
                Keyword::ENGINE => {
                    all.next_if(|(_, token)| token.token == Token::Eq);
                    return all.next().map(|(at, _)| at);
                }
                _ => {}
            },
            _ => {}
        }
    }
    None
}

/// These words come next.
fn words_behind(tokens: &[TokenWithSpan], words: &[&str]) -> bool {
    let mut from = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    words.iter().all(|wanted| {
        matches!(from.next().map(|token| &token.token), Some(Token::Word(word))
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
    })
}

/// MySQL's units of several parts, each with a unit that the parser knows and MySQL has not.
pub(super) const UNITS: &[(&str, &str)] = &[
    ("SECOND_MICROSECOND", "NANOSECOND"),
    ("MINUTE_MICROSECOND", "NANOSECONDS"),
    ("MINUTE_SECOND", "MILLISECOND"),
    ("HOUR_MICROSECOND", "MILLISECONDS"),
    ("HOUR_SECOND", "CENTURY"),
    ("HOUR_MINUTE", "DECADE"),
    ("DAY_MICROSECOND", "EPOCH"),
    ("DAY_SECOND", "ISODOW"),
    ("DAY_MINUTE", "ISOYEAR"),
    ("DAY_HOUR", "JULIAN"),
    ("YEAR_MONTH", "MILLENNIUM"),
];

/// What stands between the commas of a SELECT's list, as it is written.
fn column_names(sql: &str, tokens: &[TokenWithSpan], lines: &Lines<'_>) -> Vec<String> {
    let mut tokens = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    let mut names = Vec::new();
    let is_word = |token: &Token, wanted: &[Keyword]| matches!(token, Token::Word(Word { keyword, quote_style: None, .. }) if wanted.contains(keyword));
    // The outermost SELECT, behind WITH; or the first one in parentheses of those that it has around it, as in
    // `(SELECT …) UNION …`, which stand where a query begins: first of all, or behind a list in parentheses.
    let (mut depth, mut around) = (0_usize, 0_usize);
    let mut begins = true;
    for token in tokens.by_ref() {
        match &token.token {
            Token::LParen => {
                around += usize::from(begins && around == depth);
                depth += 1;
            }
            Token::RParen => depth = depth.saturating_sub(1),
            token if depth == around && (begins || depth == 0) && is_word(token, &[Keyword::SELECT]) => break,
            _ => {}
        }
        around = around.min(depth);
        begins = match &token.token {
            Token::LParen => around == depth,
            Token::RParen => depth == 0,
            _ => false,
        };
    }
    let (mut begin, mut end): (Option<Location>, Location) = (None, Location::empty());
    // Only the ends of each are looked for in the text.
    let written = |begin: Location, end: Location| sql[lines.byte(begin)..lines.byte(end)].to_owned();
    let mut depth = 0_usize;
    const ENDS: &[Keyword] = &[
        Keyword::FROM,
        Keyword::WHERE,
        Keyword::UNION,
        Keyword::EXCEPT,
        Keyword::INTERSECT,
        Keyword::LIMIT,
        Keyword::ORDER,
        Keyword::GROUP,
        Keyword::HAVING,
        Keyword::INTO,
        Keyword::FOR,
    ];
    for token in tokens {
        let ends = depth == 0 && is_word(&token.token, ENDS);
        match &token.token {
            _ if ends => break,
            Token::Comma if depth == 0 => {
                names.push(begin.take().map_or(String::new(), |begin| written(begin, end)));
                continue;
            }
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => break,
            Token::RParen => depth -= 1,
            token if begin.is_none() && is_word(token, &[Keyword::DISTINCT, Keyword::ALL]) => continue,
            _ => {}
        }
        begin.get_or_insert(token.span.start);
        end = token.span.end;
    }
    names.extend(begin.map(|begin| written(begin, end)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_where_they_are_some() {
        for (text, count) in [
            ("select ?", 1),
            ("select '?', \"?\", `?`, ? -- ?\n, ? # ?\n, /* ? */ ?", 3),
            ("select 'it''s ?', '\\'?', ?", 1),
            ("select 5--?", 1),
            ("select '?", 0),
        ] {
            assert_eq!(parameters(text, Modes::default()), count, "{text}");
        }
        // Where a backslash is a letter, the string ends before it.
        let modes = Modes { no_backslash_escapes: true, ..Modes::default() };
        assert_eq!(parameters("select '\\', ?, '?'", modes), 1);
    }
}
