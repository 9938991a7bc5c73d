//! Bytes in the text of a query: MySQL's clients write `_binary'…'` around whatever bytes they have.

/// A query in UTF-8 whose strings are not: each of those becomes a hexadecimal literal. `None` where other parts of it are
/// no UTF-8 either.
pub(super) fn respelled(sql: &[u8]) -> Option<String> {
    let mut out = String::with_capacity(sql.len());
    let mut at = 0;
    // What is not in `out` yet begins here.
    let mut kept = 0;
    while at < sql.len() {
        match sql[at] {
            quote @ (b'\'' | b'"') => {
                let (content, end) = string(sql, at + 1, quote)?;
                if let Some(bytes) = content {
                    let head = std::str::from_utf8(&sql[kept..at]).ok()?;
                    out.push_str(without_introducer(head));
                    out.push_str("X'");
                    bytes.iter().for_each(|byte| out.push_str(&format!("{byte:02X}")));
                    out.push('\'');
                    kept = end;
                }
                at = end;
            }
            b'`' => at += 2 + sql[at + 1..].iter().position(|byte| *byte == b'`')?,
            b'#' => at = line_end(sql, at),
            b'-' if sql[at..].starts_with(b"-- ") => at = line_end(sql, at),
            b'/' if sql[at..].starts_with(b"/*") => {
                at += 2 + sql[at + 2..].windows(2).position(|window| window == b"*/")? + 2;
            }
            _ => at += 1,
        }
    }
    out.push_str(std::str::from_utf8(&sql[kept..]).ok()?);
    Some(out)
}

fn line_end(sql: &[u8], at: usize) -> usize {
    sql[at..].iter().position(|byte| *byte == b'\n').map_or(sql.len(), |len| at + len)
}

/// A string whose content begins at `start`, and where it ends: its bytes, where they are no UTF-8.
fn string(sql: &[u8], start: usize, quote: u8) -> Option<(Option<Vec<u8>>, usize)> {
    let mut bytes = Vec::new();
    let mut at = start;
    loop {
        let byte = *sql.get(at)?;
        if byte == quote {
            if sql.get(at + 1) != Some(&quote) {
                let is_text = std::str::from_utf8(&sql[start..at]).is_ok();
                return Some(((!is_text).then_some(bytes), at + 1));
            }
            at += 1;
        } else if byte == b'\\' {
            at += 1;
            bytes.push(match *sql.get(at)? {
                b'0' => 0,
                b'b' => 8,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'Z' => 26,
                other => other,
            });
            at += 1;
            continue;
        }
        bytes.push(byte);
        at += 1;
    }
}

/// What stands in front of a string, without `_binary` at its end: a hexadecimal literal is bytes without it.
fn without_introducer(head: &str) -> &str {
    const WORD: &str = "_binary";
    let trimmed = head.trim_end();
    let Some(begin) = trimmed.len().checked_sub(WORD.len()) else { return head };
    match trimmed.get(begin..) {
        Some(word) if word.eq_ignore_ascii_case(WORD) => &trimmed[..begin],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_bytes_become_hexadecimal() {
        for (sql, expected) in [
            (
                &b"INSERT INTO t VALUES (_binary'\\0\xff''\\'\\n', 'gr\xc3\xb6\xc3\x9fe')"[..],
                "INSERT INTO t VALUES (X'00FF27270A', 'gr\u{f6}\u{df}e')",
            ),
            (
                b"SELECT '\xff', \"\xfe\" -- '\xc3\xb6\n, `'` /* ' */ # '\n, 'x'",
                "SELECT X'FF', X'FE' -- '\u{f6}\n, `'` /* ' */ # '\n, 'x'",
            ),
        ] {
            assert_eq!(respelled(sql).as_deref(), Some(expected));
        }
        for broken in [&b"SELECT \xff"[..], b"SELECT 'a\xff", b"SELECT '\xff\\", b"SELECT `\xff`"] {
            assert_eq!(respelled(broken), None, "{broken:?}");
        }
    }
}
