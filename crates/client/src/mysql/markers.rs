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

#[cfg(test)]
mod tests {
    use super::question_marks;

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
