use super::template::{Inside, Lexer};

/// How many `?` a server would count in `sql`. `None` when that depends on the server: with comments that hold code for
/// some of them.
pub fn question_marks(sql: &[u8], backslash_escapes: bool) -> Option<usize> {
    let mut lexer = Lexer::new(sql, backslash_escapes);
    let mut count = 0;
    loop {
        let rest = &sql[lexer.at.min(sql.len())..];
        if lexer.inside == Inside::Code && (rest.starts_with(b"/*!") || rest.starts_with(b"/*M!")) {
            return None;
        }
        match lexer.step() {
            None => return Some(count),
            Some(Some(b'?')) => count += 1,
            Some(_) => {}
        }
    }
}

/// What a statement that only reads begins with.
const READING: [&[u8]; 8] = [b"select", b"with", b"show", b"table", b"values", b"explain", b"describe", b"desc"];

/// True when `sql` is one statement that only reads: nothing is lost when it is ended early.
pub fn only_reads(sql: &[u8], backslash_escapes: bool) -> bool {
    let mut lexer = Lexer::new(sql, backslash_escapes);
    let mut word = Vec::new();
    let mut judged = false;
    let mut ended = false;
    while let Some(byte) = lexer.step() {
        let byte = byte.unwrap_or(b' ');
        let begins =
            matches!(lexer.inside, Inside::Quoted(_)) || (lexer.inside == Inside::Code && !byte.is_ascii_whitespace());
        if ended && begins {
            return false;
        }
        if judged {
            ended |= byte == b';';
        } else if byte.is_ascii_alphabetic() {
            word.push(byte.to_ascii_lowercase());
        } else if !word.is_empty() {
            judged = true;
            if !READING.contains(&&word[..]) {
                return false;
            }
        } else if !byte.is_ascii_whitespace() && byte != b'(' {
            return false;
        }
    }
    judged || READING.contains(&&word[..])
}

#[cfg(test)]
mod tests {
    use super::{only_reads, question_marks};

    #[test]
    fn what_may_be_ended_early() {
        for sql in [
            "select 1",
            " /* hint */ (SELECT 1) union (select 2)",
            "-- why\nwith a as (select 1) select * from a;",
            "show tables; -- that is all",
            "select ';'",
            "values (1)",
            "select 1; /* over */ ",
        ] {
            assert!(only_reads(sql.as_bytes(), true), "{sql}");
        }
        for sql in [
            "",
            "call p()",
            "insert into t values (1) returning a",
            "delete from t returning a",
            "select 1; delete from t",
            "select 1;; delete from t",
            "selection",
            "/*! delete */ from t",
            "select 1; 'x'",
        ] {
            assert!(!only_reads(sql.as_bytes(), true), "{sql}");
        }
    }

    #[test]
    fn counts_what_is_code() {
        for (sql, count) in [
            ("", Some(0)),
            ("select ?, ? + 1", Some(2)),
            ("select '?', \"?\", `?`, ? -- ?\n, ? # ?", Some(2)),
            ("select /* ? */ ?", Some(1)),
            ("select 'it''s ?', ?", Some(1)),
            ("select '\\'?', ?", Some(1)),
            ("select 5--?", Some(1)),
            ("select /*! ?, */ 1", None),
            ("select '/*! ?, */', ?", Some(1)),
            ("select /*M!100100 ?, */ 1", None),
        ] {
            assert_eq!(question_marks(sql.as_bytes(), true), count, "{sql}");
        }
        assert_eq!(question_marks(br"select '\', ?", false), Some(1));
    }
}
