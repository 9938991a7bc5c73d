//! What stands behind the columns of a key and the parser does not know: VISIBLE and INVISIBLE become comments of ours, which it
//! reads there, and KEY_BLOCK_SIZE is taken out.

use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

use crate::{Error, Result};

/// INVISIBLE as a comment: nobody writes this letter.
pub(super) const INVISIBLE: &str = "invisible\u{10ffff}";
/// VISIBLE as one.
pub(super) const VISIBLE: &str = "visible\u{10ffff}";

fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

/// Makes of them what the parser knows, in a definition.
///
/// # Errors
/// `0A000` for a column that is INVISIBLE.
pub(super) fn of(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let is_blank = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    let first = tokens.iter().find(|token| !is_blank(token)).map(|token| &token.token);
    if !first.is_some_and(|token| ["create", "alter"].iter().any(|word| is_word(token, word))) {
        return Ok(());
    }
    let mut at = 0;
    // A key's columns have been closed, and nothing but its options stands behind them.
    let mut behind_columns = false;
    let (mut depth, mut of_key) = (0_usize, None);
    let mut before: Vec<String> = Vec::new();
    while at < tokens.len() {
        let token = tokens[at].token.clone();
        match &token {
            Token::Whitespace(_) => {}
            Token::LParen => {
                let is_key =
                    before.iter().rev().take(5).any(|word| ["key", "index", "unique"].contains(&word.as_str()));
                if is_key && of_key.is_none() {
                    of_key = Some(depth);
                }
                depth += 1;
                behind_columns = false;
            }
            Token::RParen => {
                depth = depth.saturating_sub(1);
                behind_columns = of_key == Some(depth);
                if behind_columns {
                    of_key = None;
                }
                before.clear();
            }
            Token::Comma => {
                behind_columns = false;
                before.clear();
            }
            Token::Word(word) if word.quote_style.is_none() => {
                let name = word.value.to_ascii_lowercase();
                let span = tokens[at].span;
                if behind_columns && (name == "visible" || name == "invisible") {
                    let text = if name == "visible" { VISIBLE } else { INVISIBLE };
                    let made = [
                        Token::make_keyword("COMMENT"),
                        Token::Whitespace(Whitespace::Space),
                        Token::SingleQuotedString(text.to_owned()),
                    ];
                    tokens.splice(at..=at, made.map(|token| TokenWithSpan { token, span }));
                    at += 3;
                    continue;
                }
                if behind_columns && name == "key_block_size" {
                    let next =
                        |tokens: &[TokenWithSpan], from: usize| (from..tokens.len()).find(|at| !is_blank(&tokens[*at]));
                    let mut end = next(tokens, at + 1);
                    if let Some(equals) = end.filter(|end| tokens[*end].token == Token::Eq) {
                        end = next(tokens, equals + 1);
                    }
                    if let Some(end) = end {
                        tokens.drain(at..=end);
                        continue;
                    }
                }
                let last = before.last().map(String::as_str);
                if name == "invisible" && depth > 0 && last.is_some_and(|last| last != "set") {
                    return Err(Error::unsupported("INVISIBLE of a column"));
                }
                before.push(name);
            }
            Token::Word(word) => before.push(word.value.clone()),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}
