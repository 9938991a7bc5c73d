//! What the parser does not read of changes of rows and of queries, taken out of their tokens: LOW_PRIORITY and its kin,
//! commas between the tables of an UPDATE, `t.*` of a DELETE, INTO of variables.

use std::collections::VecDeque;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

use super::definitions::KeyOptions;
use super::tokens::{is_blank, is_word};
use crate::{Error, Result};

/// What was said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Said {
    /// IGNORE of an UPDATE or DELETE.
    pub(super) ignore: bool,
    /// The variables that a query's row goes into, without their `@`.
    pub(super) into: Vec<String>,
    /// The index that is made is one of words.
    pub(super) fulltext: bool,
    /// What is said of each full-text key, in their order.
    pub(super) fulltext_options: VecDeque<KeyOptions>,
    /// PARTITION BY of the table that is made.
    pub(super) partitions: Vec<TokenWithSpan>,
}

impl Said {
    /// What is said of the next full-text key.
    pub(super) fn next_fulltext_options(&mut self) -> KeyOptions {
        self.fulltext_options.pop_front().unwrap_or_default()
    }
}

/// Where a statement says what it does: its first word, or the one behind the members of WITH.
fn verb(tokens: &[TokenWithSpan]) -> Option<usize> {
    let first = tokens.iter().position(|token| !is_blank(token))?;
    if !is_word(&tokens[first].token, "with") {
        return Some(first);
    }
    let mut depth = 0_usize;
    let verb = tokens.iter().enumerate().skip(first).find_map(|(at, token)| {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            word => {
                let verbs = ["select", "update", "delete"];
                return (depth == 0 && verbs.iter().any(|verb| is_word(word, verb))).then_some(at);
            }
        }
        None
    });
    verb.or(Some(first))
}

/// Takes it out of a statement.
///
/// # Errors
/// `0A000` for INTO of a file.
pub(super) fn of(tokens: &mut Vec<TokenWithSpan>) -> Result<Said> {
    let mut said = Said::default();
    let Some(first) = verb(tokens) else { return Ok(said) };
    let verb = tokens[first].token.clone();
    let is = |wanted: &str| is_word(&verb, wanted);
    if is("update") || is("delete") {
        // LOW_PRIORITY and QUICK say when, and how an index is kept.
        while let Some(at) = (first + 1..tokens.len()).find(|at| !is_blank(&tokens[*at])) {
            let token = &tokens[at].token;
            said.ignore |= is_word(token, "ignore");
            if !["low_priority", "quick", "ignore"].iter().any(|word| is_word(token, word)) {
                break;
            }
            tokens.remove(at);
        }
    }
    if is("update") {
        joined_by_commas(tokens, first);
    } else if is("delete") {
        without_stars(tokens, first);
    } else if is("select") || is("with") || matches!(verb, Token::LParen) {
        said.into = into(tokens)?;
    }
    locked_one_by_one(tokens);
    said.fulltext = super::fulltext::of(tokens, &mut said.fulltext_options)?;
    super::key_options::of(tokens);
    said.partitions = super::partitions::of(tokens);
    Ok(said)
}

/// `FOR UPDATE OF a, b NOWAIT` is `FOR UPDATE OF a NOWAIT FOR UPDATE OF b NOWAIT`.
fn locked_one_by_one(tokens: &mut Vec<TokenWithSpan>) {
    let word = |tokens: &[TokenWithSpan], at: usize, wanted: &str| {
        tokens.get(at).is_some_and(|token| is_word(&token.token, wanted))
    };
    let mut at = 0;
    while at < tokens.len() {
        let from = at;
        at += 1;
        if !word(tokens, from, "of") {
            continue;
        }
        let before: Vec<usize> = (0..from).rev().filter(|at| !is_blank(&tokens[*at])).take(2).collect();
        let [strength, verb] = before.as_slice() else { continue };
        let is_lock = word(tokens, *verb, "for") && ["update", "share"].iter().any(|of| word(tokens, *strength, of));
        if !is_lock {
            continue;
        }
        let lock: Vec<TokenWithSpan> = tokens[*verb..=from].to_vec();
        let mut names: Vec<Vec<TokenWithSpan>> = vec![Vec::new()];
        while let Some(token) = tokens.get(at) {
            match &token.token {
                Token::Comma => names.push(Vec::new()),
                Token::Word(of) if of.quote_style.is_none() && is_word(&token.token, "nowait") => break,
                Token::Word(of) if of.quote_style.is_none() && is_word(&token.token, "skip") => break,
                Token::Word(of) if of.quote_style.is_none() && is_word(&token.token, "for") => break,
                Token::Word(_) | Token::Period | Token::Whitespace(_) => {
                    names.last_mut().into_iter().for_each(|name| name.push(token.clone()));
                }
                _ => break,
            }
            at += 1;
        }
        if names.len() == 1 {
            continue;
        }
        let mut end = at;
        if word(tokens, at, "nowait") {
            end = at + 1;
        } else if word(tokens, at, "skip") {
            end = (at + 1..tokens.len()).find(|at| !is_blank(&tokens[*at])).map_or(at, |locked| locked + 1);
        }
        let wait: Vec<TokenWithSpan> = tokens[at..end].to_vec();
        let span = tokens[from].span;
        let blank = TokenWithSpan { token: Token::Whitespace(Whitespace::Space), span };
        let mut made = Vec::new();
        for name in names {
            made.extend(lock.iter().cloned().chain([blank.clone()]).chain(name).chain([blank.clone()]));
            made.extend(wait.iter().cloned().chain([blank.clone()]));
        }
        at = *verb + made.len();
        tokens.splice(*verb..end, made);
    }
}

/// `a, b` before SET is a join without a condition.
fn joined_by_commas(tokens: &mut Vec<TokenWithSpan>, from: usize) {
    let mut depth = 0_usize;
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            token if depth == 0 && is_word(token, "set") => break,
            Token::Comma if depth == 0 => {
                let span = token.span;
                let word = |word: &str| TokenWithSpan { token: Token::make_keyword(word), span };
                tokens.splice(at..=at, [word("CROSS"), word("JOIN")]);
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
}

/// `t.*` among the tables of a DELETE is `t`.
fn without_stars(tokens: &mut Vec<TokenWithSpan>, from: usize) {
    let ends = |token: &Token| ["where", "using", "set", "join"].iter().any(|end| is_word(token, end));
    let end = tokens.iter().skip(from).position(|token| ends(&token.token)).map_or(tokens.len(), |at| from + at);
    let mut at = from;
    let mut end = end;
    while at + 1 < end {
        if tokens[at].token == Token::Period && tokens[at + 1].token == Token::Mul {
            tokens.drain(at..=at + 1);
            end -= 2;
        } else {
            at += 1;
        }
    }
}

/// Takes `INTO @a, @b` out.
fn into(tokens: &mut Vec<TokenWithSpan>) -> Result<Vec<String>> {
    let mut depth = 0_usize;
    let mut found = None;
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 && word.keyword == Keyword::INTO && word.quote_style.is_none() => {
                found = Some(at);
                break;
            }
            _ => {}
        }
    }
    let Some(from) = found else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    let mut end = from + 1;
    let mut wants_name = true;
    for (at, token) in tokens.iter().enumerate().skip(from + 1) {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::Word(word) if wants_name && word.value.starts_with('@') && !word.value.starts_with("@@") => {
                names.push(word.value[1..].to_owned());
                (wants_name, end) = (false, at + 1);
            }
            Token::Comma if !wants_name => wants_name = true,
            token if names.is_empty() && (is_word(token, "outfile") || is_word(token, "dumpfile")) => {
                return Err(Error::unsupported("SELECT … INTO a file"));
            }
            _ => break,
        }
    }
    if !names.is_empty() && !wants_name {
        tokens.drain(from..end);
        return Ok(names);
    }
    Ok(Vec::new())
}
