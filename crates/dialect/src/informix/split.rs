//! Where the statements of a script begin and end, before anybody parses them: as dbaccess cuts what it is given.
//!
//! Statements end at a `;`, those that make a routine at the `;` behind END PROCEDURE or END FUNCTION.

use std::ops::Range;

use super::lexer::{Token, TokenKind, tokens};
use crate::Result;

/// Cuts a script into its statements, without their `;`.
///
/// # Errors
/// When a string or a comment is never closed, or a character means nothing.
pub fn split(text: &str) -> Result<Vec<Range<usize>>> {
    let tokens = tokens(text)?;
    let mut statements = Vec::new();
    let mut begin = 0;
    while begin < tokens.len() && tokens[begin].kind != TokenKind::End {
        if tokens[begin].kind == TokenKind::Sign(";") {
            begin += 1;
            continue;
        }
        let rest = &tokens[begin..];
        let body = if makes_routine(rest) { body_end(rest) } else { 0 };
        let length = rest[body..]
            .iter()
            .position(|token| matches!(token.kind, TokenKind::Sign(";") | TokenKind::End))
            .map_or(rest.len(), |found| body + found);
        statements.push(rest[0].start..rest[length.max(1) - 1].end);
        begin += length;
    }
    Ok(statements)
}

/// CREATE [OR REPLACE] [DBA] PROCEDURE or FUNCTION, but none that only names a routine elsewhere (EXTERNAL NAME).
fn makes_routine(tokens: &[Token]) -> bool {
    word(tokens, 0) == Some("create")
        && (1..6)
            .map_while(|at| word(tokens, at))
            .take_while(|word| !matches!(*word, "table" | "view" | "index" | "trigger"))
            .any(|word| matches!(word, "procedure" | "function"))
}

/// Behind END PROCEDURE or END FUNCTION; 0 where there is none before the next routine.
fn body_end(tokens: &[Token]) -> usize {
    for at in 1..tokens.len().saturating_sub(1) {
        match (word(tokens, at), word(tokens, at + 1)) {
            (Some("end"), Some("procedure" | "function")) => return at + 2,
            (Some("create"), _) if makes_routine(&tokens[at..]) => return 0,
            _ => {}
        }
    }
    0
}

fn word(tokens: &[Token], at: usize) -> Option<&str> {
    match &tokens.get(at)?.kind {
        TokenKind::Word(word) => Some(word),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    fn said(text: &str) -> Vec<&str> {
        split(text).unwrap().into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn routines_keep_their_semicolons() {
        assert_eq!(said("a; { b; } c 'd;' ;; -- e;\nf"), ["a", "c 'd;'", "f"]);
        let routine = "create dba procedure p() define x int; let x = 1; end procedure document 'y;'";
        assert_eq!(said(&format!("{routine}; b;")), [routine, "b"]);
        let function = "create function if not exists f() returning int; return 1; end function";
        assert_eq!(said(&format!("{function};\n{routine}")), [function, routine]);
        assert_eq!(
            said("create procedure p() external name 'x' language c; b"),
            ["create procedure p() external name 'x' language c", "b"]
        );
        assert_eq!(
            said("execute function f(1); drop procedure p; end"),
            ["execute function f(1)", "drop procedure p", "end"]
        );
        assert!(split("a 'never closed").is_err());
    }
}
