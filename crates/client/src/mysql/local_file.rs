use super::template::{Inside, Lexer, is_word};

/// The files that `sql` names as those of the client: the literals behind `LOCAL INFILE`, unescaped.
///
/// A server may ask for any file whatever it was told; only these are meant.
pub fn local_files(sql: &[u8], backslash_escapes: bool) -> Vec<Vec<u8>> {
    let mut lexer = Lexer::new(sql, backslash_escapes);
    let mut files = Vec::new();
    // The last two words, while nothing else stands behind them.
    let (mut before, mut last): (&[u8], &[u8]) = (b"", b"");
    while lexer.at < sql.len() {
        let at = lexer.at;
        if lexer.inside != Inside::Code {
            lexer.step();
            continue;
        }
        if is_word(sql[at]) {
            let len = sql[at..].iter().position(|&b| !is_word(b)).unwrap_or(sql.len() - at);
            lexer.at += len;
            (before, last) = (last, &sql[at..at + len]);
            continue;
        }
        let code = lexer.step();
        if let Inside::Quoted(quote) = lexer.inside {
            let (literal, end) = literal(&sql[at + 1..], quote, backslash_escapes);
            lexer.at = (at + 1 + end).min(sql.len());
            lexer.inside = Inside::Code;
            if quote != b'`' && before.eq_ignore_ascii_case(b"local") && last.eq_ignore_ascii_case(b"infile") {
                files.push(literal);
            }
            (before, last) = (b"", b"");
        } else if code.flatten().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            (before, last) = (b"", b"");
        }
    }
    files
}

/// The bytes of a literal up to its closing quote, and how many of `text` it takes with that.
fn literal(text: &[u8], quote: u8, backslash_escapes: bool) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match (byte, text.get(at)) {
            (b'\\', Some(&escaped)) if backslash_escapes && quote != b'`' => {
                at += 1;
                match escaped {
                    b'0' => bytes.push(0),
                    b'b' => bytes.push(8),
                    b'n' => bytes.push(b'\n'),
                    b'r' => bytes.push(b'\r'),
                    b't' => bytes.push(b'\t'),
                    b'Z' => bytes.push(0x1a),
                    // These keep their backslash, for LIKE.
                    b'%' | b'_' => bytes.extend_from_slice(&[b'\\', escaped]),
                    _ => bytes.push(escaped),
                }
            }
            (byte, Some(&next)) if byte == quote && next == quote => {
                bytes.push(quote);
                at += 1;
            }
            (byte, _) if byte == quote => return (bytes, at),
            _ => bytes.push(byte),
        }
    }
    (bytes, at)
}

#[cfg(test)]
mod tests {
    use super::local_files;

    fn names(sql: &str) -> Vec<String> {
        local_files(sql.as_bytes(), true).into_iter().map(|name| String::from_utf8(name).expect("text")).collect()
    }

    #[test]
    fn finds_what_the_statement_names() {
        assert_eq!(names("LOAD DATA LOCAL INFILE '/a/b.csv' INTO TABLE t"), ["/a/b.csv"]);
        assert_eq!(names("load data low_priority local /* x */ infile\n\"it's\\t\" replace into table t"), ["it's\t"]);
        assert_eq!(
            names("load xml local infile 'a''b\\\\c'; load data local infile 'second' into table t"),
            ["a'b\\c", "second"]
        );
        assert_eq!(names("select 'ab'; load data local infile'x' into table t fields terminated by ','"), ["x"]);
    }

    #[test]
    fn finds_nothing_elsewhere() {
        for sql in [
            "load data infile '/etc/passwd' into table t",
            "select 'local infile ''/etc/passwd'''",
            "select \"load data local infile '/etc/passwd'\"",
            "/* load data local infile '/etc/passwd' */ select 1",
            "-- local infile '/etc/passwd'\nselect 1",
            "select local, infile, '/etc/passwd'",
            "select local infile, '/etc/passwd'",
            "local infile `x`",
            "",
        ] {
            assert_eq!(names(sql), [""; 0], "{sql}");
        }
        assert_eq!(local_files(br"load data local infile 'a\' into table 'x'", false), [br"a\".to_vec()]);
    }
}
