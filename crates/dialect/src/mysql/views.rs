//! What the parser does not read of a view's definition: ALTER VIEW, and WITH CHECK OPTION behind the query.

use pg_query::protobuf::ViewCheckOption;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What was said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Said {
    /// ALTER VIEW: there is one.
    pub(super) alters: bool,
    /// WITH CHECK OPTION.
    pub(super) check: Option<ViewCheckOption>,
}

fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
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
