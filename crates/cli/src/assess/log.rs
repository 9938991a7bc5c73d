//! Statements out of a log of PostgreSQL's, as `log_destination = stderr` writes it.

use super::source::Statement;

/// What stands before a statement.
const MARKS: &[&str] = &["LOG:  statement: ", "LOG:  execute ", "LOG:  parse ", "LOG:  bind "];
const DURATION: &str = "LOG:  duration: ";

/// True for a text that has lines of such a log.
pub(super) fn is_log(text: &str) -> bool {
    text.lines().take(1_000).any(|line| statement_of(line).is_some())
}

/// Its statements, each once, with the lines on which they stand.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(statement) = statement_of(line) {
            found.push((number + 1, statement.to_owned()));
            goes_on = true;
        } else if let (true, Some(more), Some((_, statement))) = (goes_on, line.strip_prefix('\t'), found.last_mut()) {
            // The lines of a statement behind its first have a tabulator in front.
            statement.push('\n');
            statement.push_str(more);
        } else {
            goes_on = false;
        }
    }
    let mut once: Vec<Statement> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for (line, text) in found {
        match known.get(&text) {
            Some(&at) => {
                let statement: &mut Statement = &mut once[at];
                statement.again.push(line);
            }
            None => {
                known.insert(text.clone(), once.len());
                once.push(Statement { text, line, again: Vec::new() });
            }
        }
    }
    once
}

/// The statement that a line begins with, behind the prefix of the log.
fn statement_of(line: &str) -> Option<&str> {
    if let Some(statement) = MARKS.iter().find_map(|mark| after(line, mark)) {
        return Some(statement);
    }
    let (_, rest) = line.split_once(DURATION)?;
    let (_, rest) = rest.split_once(" ms  ")?;
    ["statement: ", "execute ", "parse ", "bind "].iter().find_map(|mark| {
        let rest = rest.strip_prefix(mark)?;
        if *mark == "statement: " { Some(rest) } else { behind_name(rest) }
    })
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(mark)?;
    if mark.ends_with("statement: ") { Some(rest) } else { behind_name(rest) }
}

/// `name: statement`; a portal's name may follow behind a slash.
fn behind_name(rest: &str) -> Option<&str> {
    rest.split_once(": ").map(|(_, statement)| statement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_prefixes_and_more_lines() {
        let log = "2026-01-02 10:00:00 UTC [7] LOG:  statement: SELECT 1\n\
                   2026-01-02 10:00:00 UTC [7] LOG:  execute <unnamed>: SELECT a\n\
                   \t  FROM t\n\
                   2026-01-02 10:00:00 UTC [7] DETAIL:  parameters: $1 = '1'\n\
                   2026-01-02 10:00:00 UTC [7] LOG:  duration: 0.123 ms  execute s1/p: SELECT 1\n\
                   2026-01-02 10:00:00 UTC [7] LOG:  duration: 4.5 ms\n\
                   2026-01-02 10:00:00 UTC [7] ERROR:  no\n";
        assert!(is_log(log));
        let found = statements(log);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].text.as_str(), found[0].line, &found[0].again[..]), ("SELECT 1", 1, &[5][..]));
        assert_eq!((found[1].text.as_str(), found[1].line), ("SELECT a\n  FROM t", 2));
        assert!(!is_log("SELECT 'LOG' FROM t;"));
    }
}
