//! Looking at tokens.

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A word without quotes.
pub(super) fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

pub(super) fn is_blank(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Whitespace(_))
}

/// Where the next token stands that is no blank.
pub(super) fn next(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|at| !is_blank(&tokens[*at]))
}
