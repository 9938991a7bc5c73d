//! What a statement is without its constants, as `pg_stat_statements` tells statements apart.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::raw;

/// A statement without its constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalized {
    /// Its text, with `$1`, `$2`, … in their place; that of a utility statement as it is.
    pub text: String,
    /// What it is, whatever its spaces, comments and letters' case; never 0.
    pub fingerprint: u64,
    /// A query or a change of rows.
    pub plannable: bool,
}

/// A statement of PostgreSQL's SQL without its constants.
///
/// Constants of queries, INSERT, UPDATE, DELETE and MERGE are numbered behind the parameters that stand in the text. What
/// else it is made of counts as the parser's tree has it.
pub fn normalized(text: &str) -> Normalized {
    let text = text.trim().trim_end_matches(';').trim_end();
    let plannable = first_word(text);
    let found = plannable.then(|| Some(in_order(pg_query::normalize(text).ok()?, text))).flatten();
    let tree = found.as_deref().and_then(|text| {
        let statements = raw::parse(text).ok()?;
        statements.iter().map(|statement| statement.tree.print()).collect::<Option<Vec<String>>>()
    });
    let of_text = || found.clone().unwrap_or_else(|| text.to_owned());
    let mut hasher = DefaultHasher::new();
    tree.unwrap_or_else(|| vec![of_text()]).hash(&mut hasher);
    Normalized { text: of_text(), fingerprint: hasher.finish().max(1), plannable }
}

/// The parameters of a text, with their places.
fn parameters(text: &str) -> Vec<(std::ops::Range<usize>, u32)> {
    let Ok(scanned) = pg_query::scan(text) else { return Vec::new() };
    let params = scanned.tokens.iter().filter(|token| token.token == pg_query::protobuf::Token::Param as i32);
    let read = |token: &pg_query::protobuf::ScanToken| {
        let range = usize::try_from(token.start).ok()?..usize::try_from(token.end).ok()?;
        let number = text.get(range.clone())?.strip_prefix('$')?.parse().ok()?;
        Some((range, number))
    };
    params.filter_map(read).collect()
}

/// Numbers what stands for constants as they come in the text: the library does so as it meets them in the tree.
fn in_order(normalized: String, original: &str) -> String {
    let greatest = parameters(original).iter().map(|(_, number)| *number).max().unwrap_or(0);
    let mut text = String::with_capacity(normalized.len());
    let (mut behind, mut next) = (0, greatest);
    for (range, number) in parameters(&normalized) {
        if number > greatest {
            next += 1;
            text.push_str(&normalized[behind..range.start]);
            text.push_str(&format!("${next}"));
            behind = range.end;
        }
    }
    text.push_str(&normalized[behind..]);
    text
}

/// Begins as a statement that is planned.
fn first_word(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    // Comments in front are rare, and cost only a parse.
    if start.starts_with("--") || start.starts_with("/*") {
        use pg_query::protobuf::node::Node as N;
        return raw::parse(text).is_ok_and(|statements| {
            statements.first().is_some_and(|statement| {
                matches!(
                    *statement.tree,
                    N::SelectStmt(_) | N::InsertStmt(_) | N::UpdateStmt(_) | N::DeleteStmt(_) | N::MergeStmt(_)
                )
            })
        });
    }
    let word: String = start.chars().take_while(char::is_ascii_alphabetic).collect();
    ["select", "insert", "update", "delete", "merge", "with", "values", "table"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_numbered_and_spaces_do_not_count() {
        let one = normalized("SELECT a, 'x' FROM t WHERE b = 5 AND c IN (1, 2) LIMIT 3;");
        assert_eq!(one.text, "SELECT a, $1 FROM t WHERE b = $2 AND c IN ($3, $4) LIMIT $5");
        let other = normalized("select  a, 'y'  from t where b = 7 and c in (3, 4) limit 1 -- more");
        assert_eq!((one.fingerprint, other.plannable), (other.fingerprint, true));
        assert_ne!(
            one.fingerprint,
            normalized("SELECT a, 'x' FROM t WHERE b = 5 AND c IN (1, 2, 3) LIMIT 3").fingerprint
        );
        assert_eq!(normalized("select $1 + 2").text, "select $1 + $2");
        assert_eq!(
            normalized("with a as (select 1 as x, '$5' as y) select 2 from a where x > $1").text,
            "with a as (select $2 as x, $3 as y) select $4 from a where x > $1"
        );
        assert_eq!(normalized("/* why */ select 1").text, "/* why */ select $1");
    }

    #[test]
    fn deep_statements_are_told_apart() {
        let chain = |operator: &str| normalized(&format!("select a{}", format!("{operator} a").repeat(4_000)));
        assert_ne!(chain("+").fingerprint, chain("-").fingerprint);
        assert_eq!(chain("+").fingerprint, chain("  +").fingerprint);
    }

    #[test]
    fn utility_statements_stay_as_they_are() {
        let set = normalized(" set work_mem = 5 ; ");
        assert_eq!((set.text.as_str(), set.plannable), ("set work_mem = 5", false));
    }
}
