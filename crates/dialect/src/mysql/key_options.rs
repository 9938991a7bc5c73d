//! What stands behind the columns of a key and the parser does not know: VISIBLE and INVISIBLE become comments of ours, which it
//! reads there, and KEY_BLOCK_SIZE is taken out.

use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

use super::tokens::{is_word, next};

/// INVISIBLE as a comment: nobody writes this letter.
pub(super) const INVISIBLE: &str = "invisible\u{10ffff}";
/// VISIBLE as one.
pub(super) const VISIBLE: &str = "visible\u{10ffff}";

/// What a key's definition begins with, behind CONSTRAINT and its name where these are there.
const KEYS: [&str; 4] = ["index", "key", "primary", "unique"];

/// The columns of a key are what comes next, behind these words of a definition's part. A column may be UNIQUE, too, or KEY.
fn is_of_key(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| KEYS.contains(&word.as_str())) else { return false };
    let before = |back: usize| at.checked_sub(back).map(|at| words[at].as_str());
    matches!(before(1), None | Some("add" | "create" | "constraint")) || before(2) == Some("constraint")
}

/// Makes of them what the parser knows, in a definition.
pub(super) fn of(tokens: &mut Vec<TokenWithSpan>) {
    let first = next(tokens, 0).map(|at| &tokens[at].token);
    if !first.is_some_and(|token| ["create", "alter"].iter().any(|word| is_word(token, word))) {
        return;
    }
    // The words of the part that is being read, for each parenthesis that is open.
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    // Where the parentheses of a key's columns are open; they have been closed, and nothing but its options stands behind them.
    let (mut of_key, mut behind_columns) = (None, false);
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at].token.clone();
        match &token {
            Token::LParen => {
                if of_key.is_none() && parts.last().is_some_and(|words| is_of_key(words)) {
                    of_key = Some(parts.len());
                }
                parts.push(Vec::new());
                behind_columns = false;
            }
            Token::RParen => {
                if parts.len() > 1 {
                    parts.pop();
                }
                behind_columns = of_key == Some(parts.len());
                if behind_columns {
                    of_key = None;
                }
            }
            Token::Comma => {
                behind_columns = false;
                parts.last_mut().into_iter().for_each(Vec::clear);
            }
            Token::Word(word) => {
                // A name in quotes is none of these words.
                let name = if word.quote_style.is_none() { word.value.to_ascii_lowercase() } else { String::new() };
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
                    let mut end = next(tokens, at + 1);
                    if let Some(equals) = end.filter(|end| tokens[*end].token == Token::Eq) {
                        end = next(tokens, equals + 1);
                    }
                    if let Some(end) = end {
                        tokens.drain(at..=end);
                        continue;
                    }
                }
                parts.last_mut().into_iter().for_each(|words| words.push(name.clone()));
            }
            _ => {}
        }
        at += 1;
    }
}
