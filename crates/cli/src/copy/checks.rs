//! CHECKs, where they can be said in both dialects: comparisons of columns with constants, joined by AND, OR and NOT.

use super::ddl::{literal, quoted};
use super::model::{Check, Kind, Table, Type};
use super::types::Becomes;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// In lower case, unless it was quoted.
    Word(String),
    Name(String),
    Text(String),
    Number(String),
    Sign(String),
}

/// The check as the target says it, with its CONSTRAINT; nothing when it may mean something else there.
pub(super) fn translate(from: Kind, to: Kind, check: &Check, table: &Table, becomes: &[Becomes]) -> Option<String> {
    let tokens = simplified(tokens(from, &check.words)?)?;
    let mut out: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        out.push(match token {
            Token::Text(text) => literal(to, text),
            Token::Number(number) => number.clone(),
            Token::Sign(sign) => match sign.as_str() {
                "=" | "<" | ">" | "<=" | ">=" | "<>" | "(" | ")" | "," => sign.clone(),
                "!=" => "<>".into(),
                _ => return None,
            },
            Token::Word(word) => match word.as_str() {
                "and" | "or" | "not" | "in" | "is" | "null" | "between" => word.to_uppercase(),
                "length" | "char_length" if tokens.get(at + 1) == Some(&Token::Sign("(".into())) => {
                    // Informix's LENGTH does not count blanks at the end, MySQL's counts bytes.
                    match to {
                        _ if from == Kind::Informix || (from == Kind::MySql && word == "length") => return None,
                        Kind::Sqlite | Kind::Postgres => "length".into(),
                        Kind::MySql => "char_length".into(),
                        Kind::Informix => return None,
                    }
                }
                name => column(to, name, table, becomes)?,
            },
            Token::Name(name) => column(to, name, table, becomes)?,
        });
    }
    let words = out.join(" ");
    // Where names are a database's or a server's own, it chooses them.
    let has_name = from.is_kin(to) && matches!(to, Kind::Sqlite | Kind::Postgres) && !check.name.is_empty();
    let name = if has_name { format!("CONSTRAINT {} ", quoted(to, &check.name)) } else { String::new() };
    Some(format!("{name}CHECK ({words})"))
}

fn column(to: Kind, name: &str, table: &Table, becomes: &[Becomes]) -> Option<String> {
    let at = table.place(name)?;
    // Truth and long texts are compared in other words elsewhere; so are moments.
    let plain = matches!(
        table.columns[at].ty,
        Type::Int(_) | Type::Decimal(_) | Type::Float8 | Type::Char(_) | Type::VarChar(_)
    ) || (matches!(to, Kind::Sqlite | Kind::Postgres) && table.columns[at].ty == Type::Text);
    (plain && (to != Kind::Informix || !matches!(becomes[at].stored, Type::Text | Type::Json)))
        .then(|| quoted(to, name))
}

fn tokens(from: Kind, words: &str) -> Option<Vec<Token>> {
    let letters: Vec<char> = words.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let start = at;
        match letter {
            _ if letter.is_whitespace() => at += 1,
            '\'' | '"' | '`' => {
                let mut text = String::new();
                at += 1;
                loop {
                    match *letters.get(at)? {
                        '\\' if from == Kind::MySql && letter == '\'' => {
                            text.push(*letters.get(at + 1)?);
                            at += 2;
                        }
                        inner if inner == letter && letters.get(at + 1) == Some(&letter) => {
                            text.push(letter);
                            at += 2;
                        }
                        inner if inner == letter => break,
                        inner => {
                            text.push(inner);
                            at += 1;
                        }
                    }
                }
                at += 1;
                tokens.push(if letter == '\'' { Token::Text(text) } else { Token::Name(text) });
            }
            _ if letter.is_ascii_digit() => {
                while letters.get(at).is_some_and(|letter| letter.is_ascii_digit() || *letter == '.') {
                    at += 1;
                }
                tokens.push(Token::Number(letters[start..at].iter().collect()));
            }
            _ if letter.is_alphabetic() || letter == '_' => {
                while letters.get(at).is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$')) {
                    at += 1;
                }
                let word: String = letters[start..at].iter().collect();
                // MySQL writes the character set in front of a text.
                if !(word == "_utf8mb4" && from == Kind::MySql) {
                    tokens.push(Token::Word(word.to_lowercase()));
                }
            }
            _ => {
                let two: String = letters[at..(at + 2).min(letters.len())].iter().collect();
                let sign =
                    if matches!(two.as_str(), "<=" | ">=" | "<>" | "!=" | "::") { two } else { letter.to_string() };
                at += sign.chars().count();
                tokens.push(Token::Sign(sign));
            }
        }
    }
    Some(tokens)
}

/// Without PostgreSQL's casts, its `= ANY (ARRAY[…])` as IN, and a table's name in front of its columns.
fn simplified(tokens: Vec<Token>) -> Option<Vec<Token>> {
    let sign = |text: &str| Token::Sign(text.to_owned());
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if *token == sign("::") {
            at += 1;
            // The type: words, a length, brackets.
            let known = [
                "character",
                "varying",
                "text",
                "bpchar",
                "numeric",
                "integer",
                "bigint",
                "smallint",
                "double",
                "precision",
            ];
            while matches!(tokens.get(at), Some(Token::Word(word)) if known.contains(&word.as_str())) {
                at += 1;
            }
            if tokens.get(at) == Some(&sign("(")) {
                while tokens.get(at) != Some(&sign(")")) {
                    at += 1;
                    tokens.get(at)?;
                }
                at += 1;
            }
            while tokens.get(at) == Some(&sign("[")) && tokens.get(at + 1) == Some(&sign("]")) {
                at += 2;
            }
            continue;
        }
        out.push(token.clone());
        at += 1;
    }
    // `= ANY ((ARRAY[a, b]))`, with any parentheses around the array.
    let tokens = out;
    let mut out: Vec<Token> = Vec::new();
    at = 0;
    while let Some(token) = tokens.get(at) {
        if *token == sign("=") && tokens.get(at + 1) == Some(&Token::Word("any".into())) {
            at += 2;
            let mut open = 0;
            while tokens.get(at) == Some(&sign("(")) {
                open += 1;
                at += 1;
            }
            if tokens.get(at) != Some(&Token::Word("array".into())) || tokens.get(at + 1) != Some(&sign("[")) {
                return None;
            }
            at += 2;
            out.extend([Token::Word("in".into()), sign("(")]);
            while let Some(item) = tokens.get(at).filter(|item| **item != sign("]")) {
                if !matches!(item, Token::Text(_) | Token::Number(_)) && *item != sign(",") {
                    return None;
                }
                out.push(item.clone());
                at += 1;
            }
            out.push(sign(")"));
            at += 1;
            for _ in 0..open {
                if tokens.get(at) != Some(&sign(")")) {
                    return None;
                }
                at += 1;
            }
            continue;
        }
        out.push(token.clone());
        at += 1;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::model::Column;
    use super::super::types::becomes;
    use super::*;

    fn said(from: Kind, to: Kind, words: &str) -> Option<String> {
        let column =
            |name: &str, ty| Column { name: name.into(), ty, words: String::new(), not_null: false, default: None };
        let table = Table {
            columns: vec![column("status", Type::VarChar(12)), column("n", Type::Int(4)), column("ok", Type::Bool)],
            ..Table::default()
        };
        let all: Vec<Becomes> = table.columns.iter().map(|column| becomes(from, to, column, false).unwrap()).collect();
        translate(from, to, &Check { name: "c".into(), words: words.into() }, &table, &all)
    }

    #[test]
    fn what_both_can_say_is_said() {
        let words = "((status)::text = ANY ((ARRAY['a'::character varying, 'it''s'::character varying])::text[]))";
        assert_eq!(
            said(Kind::Postgres, Kind::MySql, words).as_deref(),
            Some("CHECK (( ( `status` ) IN ( 'a' , 'it''s' ) ))")
        );
        assert_eq!(
            said(Kind::MySql, Kind::Informix, "`n` > 0 and `status` <> 'x'").as_deref(),
            Some("CHECK (\"n\" > 0 AND \"status\" <> 'x')")
        );
        assert_eq!(said(Kind::Informix, Kind::Postgres, "(n >= 0 )").as_deref(), Some("CHECK (( \"n\" >= 0 ))"));
    }

    #[test]
    fn what_may_mean_something_else_is_not() {
        for words in
            ["lower(status) = 'x'", "ok IN (0, 1)", "n + 1 > 0", "status ~ 'x'", "status = nosuch", "n = ANY (x)"]
        {
            assert_eq!(said(Kind::Postgres, Kind::MySql, words), None, "{words}");
        }
    }
}
