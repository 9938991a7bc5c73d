//! Full-text keys, where the parser does not read them: CREATE FULLTEXT INDEX, and what stands behind the columns of one.

use std::collections::VecDeque;

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::definitions::KeyOptions;
use super::tokens::{is_word, next};
use crate::{Condition, Error, Result};

/// Behind the parenthesis that closes the first that is opened.
fn behind_columns(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => return Some(at + 1),
            Token::RParen => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Takes what the parser does not know out of a definition, and notes what is said of each full-text key; whether it is CREATE
/// FULLTEXT INDEX.
///
/// # Errors
/// `0A000` for another parser than the usual.
pub(super) fn of(tokens: &mut Vec<TokenWithSpan>, said: &mut VecDeque<KeyOptions>) -> Result<bool> {
    let Some(first) = next(tokens, 0) else { return Ok(false) };
    let creates = is_word(&tokens[first].token, "create");
    if !creates && !is_word(&tokens[first].token, "alter") {
        return Ok(false);
    }
    let second = next(tokens, first + 1).filter(|at| creates && is_word(&tokens[*at].token, "fulltext"));
    if let Some(at) = second {
        tokens.remove(at);
        if let Some(columns) = behind_columns(tokens, at) {
            said.push_back(take_options(tokens, columns)?);
        }
        return Ok(true);
    }
    let mut at = first;
    while let Some(found) = (at..tokens.len()).find(|at| is_word(&tokens[*at].token, "fulltext")) {
        at = found + 1;
        if let Some(columns) = behind_columns(tokens, at) {
            said.push_back(take_options(tokens, columns)?);
        }
    }
    Ok(false)
}

/// Takes out what is said of the key behind its columns.
fn take_options(tokens: &mut Vec<TokenWithSpan>, from: usize) -> Result<KeyOptions> {
    let mut said = KeyOptions::default();
    while let Some(at) = next(tokens, from) {
        let second = next(tokens, at + 1);
        let is = |place: Option<usize>, wanted: &str| place.is_some_and(|at| is_word(&tokens[at].token, wanted));
        let end = if is(Some(at), "with") && is(second, "parser") {
            let name = second.and_then(|second| next(tokens, second + 1)).map(|at| &tokens[at].token);
            let Some(Token::Word(name)) = name else { return Ok(said) };
            if name.value.eq_ignore_ascii_case("ngram") {
                return Err(Error::unsupported("WITH PARSER ngram"));
            }
            let message = format!("Function '{}' is not defined", name.value);
            return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1128, "HY000"));
        } else if is(Some(at), "visible") || is(Some(at), "invisible") {
            said.invisible = is(Some(at), "invisible");
            at + 1
        } else if is(Some(at), "key_block_size") || is(Some(at), "comment") {
            let value = match second {
                Some(equals) if tokens[equals].token == Token::Eq => next(tokens, equals + 1),
                other => other,
            };
            match value {
                Some(value) => {
                    if let (true, Token::SingleQuotedString(text) | Token::DoubleQuotedString(text)) =
                        (is(Some(at), "comment"), &tokens[value].token)
                    {
                        said.comment.clone_from(text);
                    }
                    value + 1
                }
                None => return Ok(said),
            }
        } else {
            return Ok(said);
        };
        tokens.drain(at..end);
    }
    Ok(said)
}
