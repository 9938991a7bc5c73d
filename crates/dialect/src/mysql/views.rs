//! What the parser does not read of a view's definition: ALTER VIEW, and WITH CHECK OPTION behind the query.

use pg_query::protobuf::ViewCheckOption;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::tokens::{is_blank, is_word};

/// What was said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Said {
    /// ALTER VIEW: there is one.
    pub(super) alters: bool,
    /// WITH CHECK OPTION.
    pub(super) check: Option<ViewCheckOption>,
}

/// DEFINER says who has made a view: here it is who makes it. Its host may be a name in quotes, which the parser does not
/// read.
fn without_definer(tokens: &mut Vec<TokenWithSpan>) {
    let view = tokens.iter().position(|token| is_word(&token.token, "view")).unwrap_or(0);
    let Some(from) = tokens[..view].iter().position(|token| is_word(&token.token, "definer")) else { return };
    let solid = |at: usize| (at..view).find(|at| !is_blank(&tokens[*at]));
    let Some(equals) = solid(from + 1).filter(|at| tokens[*at].token == Token::Eq) else { return };
    let Some(user) = solid(equals + 1) else { return };
    let mut end = user + 1;
    if let Some(at) = solid(end).filter(|at| tokens[*at].token == Token::AtSign)
        && let Some(host) = solid(at + 1)
    {
        end = host + 1;
    } else if let Some(host) = solid(end)
        && matches!(&tokens[host].token, Token::Word(word) if word.quote_style.is_none() && word.value.starts_with('@'))
    {
        // `@` and a name without quotes are one word.
        end = host + 1;
        if tokens[host].token.to_string() == "@" {
            end = solid(host + 1).map_or(end, |at| at + 1);
        }
    }
    tokens.drain(from..end);
}

/// Takes both out of a statement that defines a view; others stay as they are.
pub(super) fn of(tokens: &mut Vec<TokenWithSpan>) -> Said {
    let mut said = Said::default();
    let mut words = tokens.iter().enumerate().filter(|(_, token)| !matches!(token.token, Token::Whitespace(_)));
    let Some((first, verb)) = words.next() else { return said };
    let alters = is_word(&verb.token, "alter");
    if !alters && !is_word(&verb.token, "create") {
        return said;
    }
    // VIEW stands behind OR REPLACE, ALGORITHM, DEFINER and SQL SECURITY.
    let mut head = words.map(|(_, token)| &token.token).take(16);
    let ends = ["as", "table", "procedure", "function", "trigger", "event", "database", "schema", "index", "user"];
    if !head
        .find(|token| is_word(token, "view") || ends.iter().any(|end| is_word(token, end)))
        .is_some_and(|token| is_word(token, "view"))
    {
        return said;
    }
    without_definer(tokens);
    if alters {
        said.alters = true;
        tokens[first].token = Token::make_keyword("CREATE");
    }
    let places: Vec<usize> =
        (0..tokens.len()).filter(|at| !matches!(tokens[*at].token, Token::Whitespace(_))).collect();
    let behind = |words: &[&str]| {
        let from = places.len().checked_sub(words.len())?;
        let all = places[from..].iter().zip(words).all(|(at, word)| is_word(&tokens[*at].token, word));
        all.then_some(places[from])
    };
    let found = [
        (["with", "local", "check", "option"].as_slice(), ViewCheckOption::LocalCheckOption),
        (["with", "cascaded", "check", "option"].as_slice(), ViewCheckOption::CascadedCheckOption),
        (["with", "check", "option"].as_slice(), ViewCheckOption::CascadedCheckOption),
    ];
    if let Some((from, option)) = found.into_iter().find_map(|(words, option)| Some((behind(words)?, option))) {
        said.check = Some(option);
        tokens.truncate(from);
    }
    said
}
