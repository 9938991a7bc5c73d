//! MySQL's grammar where the parser's own is another: how tightly operators bind, what stands before a value, and what
//! `sql_mode` says of quotes, backslashes and `||`.
//!
//! Source: MySQL 8.0 Reference Manual, 14.4.1 "Operator Precedence", 7.1.11 "Server SQL Modes"; in MySQL's grammar LIKE, IN
//! and BETWEEN take operands of bits, and bind tighter than comparisons.

use std::any::TypeId;

use sqlparser::ast::{
    BinaryOperator, CastKind, CharacterLength, ColumnOption, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Statement, UnaryOperator, Value,
};
use sqlparser::dialect::{BindPlaceholderStyle, Dialect, MySqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

use super::modes::Modes;
use crate::values::mysql::fulltext::Mode;

/// The function that `CHAR(… USING charset)` is.
pub(super) const CHAR_USING: &str = "mysql_char_using";

const OR: u8 = 5;
const XOR: u8 = 7;
const AND: u8 = 10;
const NOT: u8 = 15;
/// Comparisons and IS.
const COMPARISON: u8 = 20;
/// LIKE, IN, BETWEEN and their kin.
const PREDICATE: u8 = 22;
const BIT_OR: u8 = 24;
const BIT_AND: u8 = 26;
const SHIFT: u8 = 28;
const SUM: u8 = 30;
const PRODUCT: u8 = 40;
const BIT_XOR: u8 = 45;
const CONCATENATION: u8 = 46;
/// A sign, `~`.
const SIGN: u8 = 48;
/// `!`, BINARY.
const TIGHTEST: u8 = 49;
/// `->` between a column and a path.
const PATH: u8 = 60;

/// The parser's dialect.
#[derive(Debug)]
pub(super) struct MySql {
    modes: Modes,
    base: MySqlDialect,
}

impl MySql {
    pub(super) fn new(modes: Modes) -> Self {
        Self { modes, base: MySqlDialect {} }
    }
}

type Parsed<T> = std::result::Result<T, ParserError>;

/// What the parser's own dialect says.
macro_rules! as_base {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            self.base.$name()
        })*
    };
}

impl Dialect for MySql {
    as_base! {
        supports_string_literal_concatenation,
        ignores_wildcard_escapes,
        supports_numeric_prefix,
        supports_literal_prefix_in_qualified_name,
        supports_bitwise_shift_operators,
        supports_singular_value_keyword,
        supports_multiline_comment_hints,
        require_interval_qualifier,
        supports_limit_comma,
        supports_create_table_select,
        supports_insert_set,
        supports_user_host_grantee,
        supports_table_hints,
        requires_single_line_comment_whitespace,
        supports_hash_comment,
        supports_select_modifiers,
        supports_set_names,
        supports_comma_separated_set_assignments,
        supports_alter_column_position,
        supports_update_order_by,
        supports_data_type_signed_suffix,
        supports_data_type_zerofill_suffix,
        supports_cross_join_constraint,
        supports_double_ampersand_operator,
        supports_binary_kw_as_cast,
        supports_table_partitions,
        supports_comment_optimizer_hint,
        supports_constraint_keyword_without_name,
        supports_key_column_option,
        supports_group_by_with_modifier,
        supports_left_associative_joins_without_parens,
    }

    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn supports_string_literal_table_alias(&self, explicit: bool) -> bool {
        self.base.supports_string_literal_table_alias(explicit)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        self.base.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        self.base.is_identifier_part(ch)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`' || (ch == '"' && self.modes.ansi_quotes)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.base.identifier_quote_style(identifier)
    }

    fn ordered_bind_placeholder_style(&self) -> Option<BindPlaceholderStyle> {
        self.base.ordered_bind_placeholder_style()
    }

    /// BINARY behind a type: texts are compared by their letters' numbers.
    fn parse_column_option(&self, parser: &mut Parser) -> Parsed<Option<Parsed<Option<ColumnOption>>>> {
        let is_binary = matches!(&parser.peek_token_ref().token, Token::Word(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("binary"));
        if !is_binary {
            return Ok(None);
        }
        parser.advance_token();
        let collation = ObjectName::from(vec![Ident::new("utf8mb4_bin")]);
        Ok(Some(Ok(Some(ColumnOption::Collation(collation)))))
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        !self.modes.no_backslash_escapes
    }

    fn parse_statement(&self, parser: &mut Parser) -> Option<Parsed<Statement>> {
        self.base.parse_statement(parser)
    }

    fn is_table_factor_alias(&self, explicit: bool, word: &Keyword, parser: &mut Parser) -> bool {
        self.base.is_table_factor_alias(explicit, word, parser)
    }

    fn parse_infix(&self, parser: &mut Parser, left: &Expr, precedence: u8) -> Option<Parsed<Expr>> {
        self.base.parse_infix(parser, left, precedence)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        match precedence {
            Precedence::Or => OR,
            Precedence::Xor => XOR,
            Precedence::And => AND,
            Precedence::UnaryNot => NOT,
            Precedence::Is | Precedence::Eq => COMPARISON,
            Precedence::Like | Precedence::Between => PREDICATE,
            Precedence::Pipe | Precedence::Colon | Precedence::PgOther => BIT_OR,
            Precedence::Ampersand => BIT_AND,
            Precedence::PlusMinus => SUM,
            Precedence::MulDivModOp => PRODUCT,
            Precedence::Caret => BIT_XOR,
            other => self.base.prec_value(other),
        }
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Parsed<u8>> {
        Some(Ok(match &parser.peek_token_ref().token {
            Token::Overlap => AND,
            Token::StringConcat if self.modes.pipes_as_concat => CONCATENATION,
            Token::StringConcat => OR,
            Token::ShiftLeft | Token::ShiftRight => SHIFT,
            Token::Arrow | Token::LongArrow => PATH,
            _ => return None,
        }))
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Parsed<Expr>> {
        let sign = match &parser.peek_token_ref().token {
            Token::Minus => (UnaryOperator::Minus, SIGN),
            Token::Plus => (UnaryOperator::Plus, SIGN),
            Token::Tilde => (UnaryOperator::BitwiseNot, SIGN),
            Token::ExclamationMark | Token::DoubleExclamationMark => (UnaryOperator::BangNot, TIGHTEST),
            Token::Word(word) if word.quote_style.is_none() || word.value.starts_with('@') => {
                return prefix_word(&word.clone(), parser);
            }
            Token::LParen if is_set_operation(parser) => return Some(subquery(parser)),
            _ => return None,
        };
        let twice = parser.peek_token_ref().token == Token::DoubleExclamationMark;
        parser.advance_token();
        let (op, precedence) = sign;
        let signed = |expr: Expr| Expr::UnaryOp { op, expr: Box::new(expr) };
        Some(parser.parse_subexpr(precedence).map(|expr| if twice { signed(signed(expr)) } else { signed(expr) }))
    }

    fn parse_data_type(&self, parser: &mut Parser) -> Option<Parsed<DataType>> {
        national(parser).or_else(|| char_of_charset(parser))
    }

    fn is_select_item_alias(&self, explicit: bool, word: &Keyword, parser: &mut Parser) -> bool {
        // A lock begins there.
        *word != Keyword::FOR && self.base.is_select_item_alias(explicit, word, parser)
    }
}

/// `((SELECT …) UNION …)`, a query whose first part is in parentheses of its own.
fn is_set_operation(parser: &Parser) -> bool {
    let mut at = 1;
    while parser.peek_nth_token_ref(at).token == Token::LParen {
        at += 1;
    }
    let is_query = matches!(&parser.peek_nth_token_ref(at).token, Token::Word(word) if matches!(
        word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::TABLE));
    if at == 1 || !is_query {
        return false;
    }
    // Behind the parenthesis that closes the first part.
    let mut depth = at - 1;
    while depth > 0 {
        at += 1;
        match &parser.peek_nth_token_ref(at).token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::EOF => return false,
            _ => {}
        }
    }
    matches!(&parser.peek_nth_token_ref(at + 1).token, Token::Word(word) if matches!(
        word.keyword, Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT))
}

/// A query in parentheses.
fn subquery(parser: &mut Parser) -> Parsed<Expr> {
    parser.expect_token(&Token::LParen)?;
    let query = parser.parse_query()?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Subquery(query))
}

/// A word that begins an expression of MySQL's own.
fn prefix_word(word: &Word, parser: &mut Parser) -> Option<Parsed<Expr>> {
    let next = &parser.peek_nth_token_ref(1).token;
    if word.value.starts_with('@') {
        if !matches!(next, Token::Assignment) {
            return None;
        }
        let ident =
            Ident { value: word.value.clone(), quote_style: word.quote_style, span: parser.peek_token_ref().span };
        parser.advance_token();
        parser.advance_token();
        // Everything behind it.
        return Some(parser.parse_expr().map(|right| Expr::BinaryOp {
            left: Box::new(Expr::Identifier(ident)),
            op: BinaryOperator::Assignment,
            right: Box::new(right),
        }));
    }
    let is_call = matches!(next, Token::LParen);
    let is_value = !matches!(
        next,
        Token::EOF | Token::SemiColon | Token::Comma | Token::RParen | Token::Eq | Token::Period | Token::Assignment
    );
    if let Some(bits) = word.value.strip_prefix("0b")
        && !bits.is_empty()
        && bits.bytes().all(|bit| matches!(bit, b'0' | b'1'))
    {
        let span = parser.peek_token_ref().span;
        parser.advance_token();
        return Some(Ok(Expr::Value(Value::SingleQuotedByteStringLiteral(bits.to_owned()).with_span(span))));
    }
    if is_call && word.quote_style.is_none() && word.value.eq_ignore_ascii_case("json_value") {
        return Some(json_value(parser));
    }
    match word.keyword {
        Keyword::BINARY if is_value => {
            parser.advance_token();
            Some(parser.parse_subexpr(TIGHTEST).map(|expr| Expr::Cast {
                kind: CastKind::Cast,
                expr: Box::new(expr),
                data_type: DataType::Binary(None),
                format: None,
            }))
        }
        Keyword::CHAR if is_call => Some(char_call(parser)),
        // It is reserved.
        Keyword::MATCH => Some(search(parser)),
        Keyword::ROW if is_call => Some(row(parser)),
        Keyword::INTERVAL if is_call && has_several_members(parser) => Some(interval_call(parser)),
        _ => None,
    }
}

/// `JSON_VALUE(document, path [RETURNING type] [… ON EMPTY] [… ON ERROR])`. One with more than its arguments is a conversion
/// of a kind that MySQL has not, of a call that has what is said of it as a document.
fn json_value(parser: &mut Parser) -> Parsed<Expr> {
    let span = parser.peek_token_ref().span;
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let document = parser.parse_expr()?;
    parser.expect_token(&Token::Comma)?;
    let path = parser.parse_expr()?;
    let took = |parser: &mut Parser, wanted: &str| {
        let found = matches!(&parser.peek_token_ref().token, Token::Word(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted));
        if found {
            parser.advance_token();
        }
        found
    };
    let returning = if took(parser, "returning") { Some(parser.parse_data_type()?) } else { None };
    let mut said = serde_json::Map::new();
    while parser.peek_token_ref().token != Token::RParen {
        let otherwise = if took(parser, "null") {
            serde_json::Value::Null
        } else if took(parser, "error") {
            serde_json::Value::Bool(true)
        } else if took(parser, "default") {
            let is_negative = parser.consume_token(&Token::Minus);
            let sign = if is_negative { "-" } else { "" };
            match parser.parse_expr()? {
                Expr::Value(value) => match value.value {
                    Value::Number(digits, _) => serde_json::Value::from(format!("{sign}{digits}")),
                    Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) if !is_negative => {
                        serde_json::Value::from(serde_json::Value::from(text).to_string())
                    }
                    Value::Null if !is_negative => serde_json::Value::Null,
                    other => return Err(ParserError::ParserError(format!("{other} is no default of JSON_VALUE"))),
                },
                other => return Err(ParserError::ParserError(format!("{other} is no default of JSON_VALUE"))),
            }
        } else {
            return Err(ParserError::ParserError("expected NULL, ERROR or DEFAULT".to_owned()));
        };
        parser.expect_keyword_is(Keyword::ON)?;
        let key = if took(parser, "empty") { "empty" } else { "error" };
        if key == "error" && !took(parser, "error") || said.insert(key.to_owned(), otherwise).is_some() {
            return Err(ParserError::ParserError("expected EMPTY or ERROR".to_owned()));
        }
    }
    parser.expect_token(&Token::RParen)?;
    if returning.is_none() && said.is_empty() {
        return Ok(function_call("json_value", vec![document, path]));
    }
    let Expr::Value(path) = path else {
        return Err(ParserError::ParserError("a path of JSON_VALUE is a string".to_owned()));
    };
    let (Value::SingleQuotedString(path) | Value::DoubleQuotedString(path)) = path.value else {
        return Err(ParserError::ParserError("a path of JSON_VALUE is a string".to_owned()));
    };
    said.insert("path".to_owned(), path.into());
    let said = Value::SingleQuotedString(serde_json::Value::Object(said).to_string()).with_span(span);
    Ok(Expr::Cast {
        kind: CastKind::SafeCast,
        expr: Box::new(function_call("json_value", vec![document, Expr::Value(said)])),
        data_type: returning.unwrap_or(DataType::Char(None)),
        format: None,
    })
}

/// `ROW(a, b)`.
fn row(parser: &mut Parser) -> Parsed<Expr> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let members = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Tuple(members))
}

/// A comma stands between the parentheses that begin behind the word, so that it is the name of a function.
fn has_several_members(parser: &Parser) -> bool {
    let (mut at, mut depth) = (1, 0_usize);
    loop {
        match &parser.peek_nth_token_ref(at).token {
            Token::LParen => depth += 1,
            Token::RParen if depth <= 1 => return false,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 1 => return true,
            Token::EOF => return false,
            _ => {}
        }
        at += 1;
    }
}

/// `INTERVAL(n, a, …)`.
fn interval_call(parser: &mut Parser) -> Parsed<Expr> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let members = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(function_call("interval", members))
}

/// `MATCH (a, b) AGAINST (text [mode])`; the parentheses around the columns may be left out.
fn search(parser: &mut Parser) -> Parsed<Expr> {
    parser.advance_token();
    let in_parentheses = parser.consume_token(&Token::LParen);
    let mut columns = Vec::new();
    loop {
        let mut parts = vec![parser.parse_identifier()?];
        while parser.consume_token(&Token::Period) {
            parts.push(parser.parse_identifier()?);
        }
        columns.push(match parts.len() {
            1 => Expr::Identifier(parts.remove(0)),
            _ => Expr::CompoundIdentifier(parts),
        });
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    if in_parentheses {
        parser.expect_token(&Token::RParen)?;
    }
    parser.expect_keyword_is(Keyword::AGAINST)?;
    parser.expect_token(&Token::LParen)?;
    let text = parser.parse_subexpr(PREDICATE)?;
    let is_natural = parser.parse_keywords(&[Keyword::IN, Keyword::NATURAL, Keyword::LANGUAGE, Keyword::MODE]);
    let mode = if !is_natural && parser.parse_keywords(&[Keyword::IN, Keyword::BOOLEAN, Keyword::MODE]) {
        Mode::Boolean
    } else if parser.parse_keywords(&[Keyword::WITH, Keyword::QUERY, Keyword::EXPANSION]) {
        Mode::Expanded
    } else {
        Mode::Natural
    };
    parser.expect_token(&Token::RParen)?;
    columns.insert(0, text);
    Ok(function_call(&format!("{}{}", super::MATCH, mode.name()), columns))
}

/// `CHAR(n, … [USING charset])`.
fn char_call(parser: &mut Parser) -> Parsed<Expr> {
    let span = parser.peek_token_ref().span;
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let mut members = parser.parse_comma_separated(Parser::parse_expr)?;
    let mut name = "char";
    if parser.parse_keyword(Keyword::USING) {
        let charset = parser.parse_identifier()?;
        name = CHAR_USING;
        members.insert(0, Expr::Value(Value::SingleQuotedString(charset.value).with_span(span)));
    }
    parser.expect_token(&Token::RParen)?;
    Ok(function_call(name, members))
}

/// A call of a function of a name.
fn function_call(name: &str, members: Vec<Expr>) -> Expr {
    let args = members.into_iter().map(|member| FunctionArg::Unnamed(FunctionArgExpr::Expr(member))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
    })
}

/// `NATIONAL CHAR`, `NATIONAL VARCHAR`, `NCHAR VARYING`: texts, as all are of Unicode.
fn national(parser: &mut Parser) -> Option<Parsed<DataType>> {
    let is = |parser: &Parser, at: usize, words: &[&str]| match &parser.peek_nth_token_ref(at).token {
        Token::Word(word) => {
            word.quote_style.is_none() && words.iter().any(|known| word.value.eq_ignore_ascii_case(known))
        }
        _ => false,
    };
    if is(parser, 0, &["NATIONAL"]) && is(parser, 1, &["CHAR", "CHARACTER", "VARCHAR", "VARCHARACTER"]) {
        parser.advance_token();
        return Some(parser.parse_data_type());
    }
    if is(parser, 0, &["NCHAR"]) && is(parser, 1, &["VARYING", "VARCHAR", "VARCHARACTER"]) {
        parser.advance_token();
        parser.advance_token();
        return Some(parser.parse_optional_character_length().map(DataType::Varchar));
    }
    None
}

/// `CHAR[(n)] CHARACTER SET name` at the end of a CAST; that of a column is an option of the column's.
fn char_of_charset(parser: &mut Parser) -> Option<Parsed<DataType>> {
    let word = |at: usize| match &parser.peek_nth_token_ref(at).token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_ascii_uppercase()),
        _ => None,
    };
    if !matches!(word(0)?.as_str(), "CHAR" | "CHARACTER") {
        return None;
    }
    let mut at = 1;
    let mut length = None;
    if parser.peek_nth_token_ref(1).token == Token::LParen {
        let Token::Number(digits, _) = &parser.peek_nth_token_ref(2).token else { return None };
        let digits = digits.parse().ok()?;
        length = Some(CharacterLength::IntegerLength { length: digits, unit: None });
        at = 4;
    }
    at += match word(at)?.as_str() {
        "CHARSET" => 1,
        "CHARACTER" | "CHAR" if word(at + 1)? == "SET" => 2,
        _ => return None,
    };
    // Others than these say something of the value.
    if !matches!(word(at)?.as_str(), "UTF8MB4" | "UTF8MB3" | "UTF8")
        || parser.peek_nth_token_ref(at + 1).token != Token::RParen
    {
        return None;
    }
    for _ in 0..=at {
        parser.advance_token();
    }
    Some(Ok(DataType::Char(length)))
}
