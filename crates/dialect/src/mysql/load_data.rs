//! LOAD DATA: what the statement says, and how a file's bytes become rows.

use crate::{Condition, Error, Result};

/// A LOAD DATA statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoadData {
    /// The file, in the client's words.
    pub file: String,
    /// The client has it.
    pub is_local: bool,
    /// What becomes of a row whose key is there already.
    pub on_duplicate: OnDuplicate,
    /// The table as it is written, qualified or not.
    pub table: String,
    /// How fields and lines end.
    pub format: Format,
    /// So many lines are passed over.
    pub skip: u64,
    /// Where the fields go to; nowhere for all columns of the table.
    pub targets: Vec<Target>,
    /// The assignments behind SET, as they are written.
    pub assignments: Option<String>,
}

/// Where a field goes to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// A column, as it is written.
    Column(String),
    /// A variable of the session, as it is written, without its `@`.
    Variable(String),
}

/// What becomes of a row whose key is there already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OnDuplicate {
    /// It is an error.
    Fail,
    /// The row is passed over.
    Ignore,
    /// It takes the place of the one that is there.
    Replace,
}

/// How fields and lines end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Format {
    /// Behind a field.
    pub field_end: Vec<u8>,
    /// Around a field.
    pub enclosed: Option<u8>,
    /// In front of what means something else.
    pub escape: Option<u8>,
    /// In front of the first field; what stands before it is passed over.
    pub line_start: Vec<u8>,
    /// Behind a line.
    pub line_end: Vec<u8>,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            field_end: b"\t".to_vec(),
            enclosed: None,
            escape: Some(b'\\'),
            line_start: Vec::new(),
            line_end: b"\n".to_vec(),
        }
    }
}

impl LoadData {
    /// Reads a statement; `None` when it is another.
    ///
    /// # Errors
    /// `42601` for what is none, `0A000` for what is not done.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let mut words = Words { text, at: 0 };
        if !words.take("load") || !words.take("data") {
            return Ok(None);
        }
        let _ = words.take("low_priority") || words.take("concurrent");
        let is_local = words.take("local");
        words.want("infile")?;
        let file = words.string()?;
        let on_duplicate = match () {
            () if words.take("replace") => OnDuplicate::Replace,
            () if words.take("ignore") => OnDuplicate::Ignore,
            // With a file of the client it is too late to stop at the first row.
            () if is_local => OnDuplicate::Ignore,
            () => OnDuplicate::Fail,
        };
        words.want("into")?;
        words.want("table")?;
        let mut table = words.name()?;
        while words.symbol('.') {
            table = format!("{table}.{}", words.name()?);
        }
        if words.take("partition") {
            return Err(Error::unsupported("PARTITION in LOAD DATA"));
        }
        if words.take("character") {
            words.want("set")?;
            let name = words.name()?.trim_matches('`').to_ascii_lowercase();
            if !matches!(name.as_str(), "utf8mb4" | "utf8mb3" | "utf8" | "ascii" | "binary") {
                return Err(Error::unsupported(format!("CHARACTER SET {name} in LOAD DATA")));
            }
        }
        let format = words.format()?;
        let mut skip = 0;
        if words.take("ignore") {
            skip = words.number()?;
            if !words.take("lines") {
                words.want("rows")?;
            }
        }
        let mut targets = Vec::new();
        if words.symbol('(') {
            while !words.symbol(')') {
                targets.push(match words.symbol('@') {
                    true => Target::Variable(words.name()?),
                    false => Target::Column(words.name()?),
                });
                if !words.symbol(',') && !words.is_symbol(')') {
                    return Err(words.wrong());
                }
            }
        }
        let mut assignments = None;
        if words.take("set") {
            // What it means the INSERT of a row says, which it is a part of.
            let rest = words.rest();
            let list = rest.trim_end_matches(|letter: char| letter == ';' || letter.is_whitespace());
            if list.is_empty() {
                return Err(words.wrong());
            }
            assignments = Some(list.to_owned());
            words.at = text.len();
        }
        let _ = words.symbol(';');
        if !words.rest().is_empty() {
            return Err(words.wrong());
        }
        Ok(Some(Self { file, is_local, on_duplicate, table, format, skip, targets, assignments }))
    }
}

/// Words of a statement, from left to right.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    /// What follows, behind blanks and comments.
    fn rest(&mut self) -> &'t str {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let comment = match () {
                () if trimmed.starts_with("/*") => trimmed.find("*/").map(|end| end + 2),
                () if trimmed.starts_with('#') || trimmed.starts_with("-- ") => {
                    Some(trimmed.find('\n').unwrap_or(trimmed.len()))
                }
                () => None,
            };
            match comment {
                Some(len) => self.at += len,
                None => return trimmed,
            }
        }
    }

    fn wrong(&mut self) -> Error {
        let near: String = self.rest().chars().take(80).collect();
        Error::new(Condition::SyntaxError, format!("syntax error at or near \"{}\"", near.replace('"', "'")))
    }

    /// Takes a word if it is the next.
    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let len = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let found = rest[..len].eq_ignore_ascii_case(word);
        if found {
            self.at += len;
        }
        found
    }

    fn want(&mut self, word: &str) -> Result<()> {
        if self.take(word) { Ok(()) } else { Err(self.wrong()) }
    }

    fn is_symbol(&mut self, symbol: char) -> bool {
        self.rest().starts_with(symbol)
    }

    fn symbol(&mut self, symbol: char) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.at += symbol.len_utf8();
        }
        found
    }

    /// A name as it is written, backquotes and all.
    fn name(&mut self) -> Result<String> {
        let rest = self.rest();
        let len = match rest.strip_prefix('`') {
            Some(quoted) => {
                let mut letters = quoted.char_indices().peekable();
                let mut end = None;
                while let Some((at, letter)) = letters.next() {
                    if letter == '`' && letters.next_if(|(_, next)| *next == '`').is_none() {
                        end = Some(at + 2);
                        break;
                    }
                }
                end.unwrap_or(0)
            }
            None => {
                rest.find(|letter: char| !(letter.is_alphanumeric() || "_$".contains(letter))).unwrap_or(rest.len())
            }
        };
        if len == 0 {
            return Err(self.wrong());
        }
        self.at += len;
        Ok(rest[..len].to_owned())
    }

    fn number(&mut self) -> Result<u64> {
        let rest = self.rest();
        let len = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..len].parse().map_err(|_| self.wrong())?;
        self.at += len;
        Ok(number)
    }

    /// A string literal.
    fn string(&mut self) -> Result<String> {
        let rest = self.rest();
        let hexadecimal = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
        if let Some(digits) = hexadecimal {
            let len = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
            let bytes =
                (0..len / 2).map(|at| u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).unwrap_or(0)).collect();
            let text = String::from_utf8(bytes).map_err(|_| self.wrong())?;
            self.at += 2 + len;
            return Ok(text);
        }
        let quote = rest.chars().next().filter(|letter| matches!(letter, '\'' | '"')).ok_or_else(|| self.wrong())?;
        let mut text = String::new();
        let mut letters = rest.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some((_, letter)) => text.push(match letter {
                        '0' => '\0',
                        'b' => '\x08',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'Z' => '\x1a',
                        other => other,
                    }),
                    None => break,
                },
                letter if letter == quote && letters.next_if(|(_, next)| *next == quote).is_some() => text.push(quote),
                letter if letter == quote => {
                    self.at += at + 1;
                    return Ok(text);
                }
                letter => text.push(letter),
            }
        }
        Err(self.wrong())
    }

    fn format(&mut self) -> Result<Format> {
        let mut format = Format::default();
        if self.take("fields") || self.take("columns") {
            loop {
                if self.take("terminated") {
                    format.field_end = self.by()?;
                } else if self.take("optionally") {
                    self.want("enclosed")?;
                    format.enclosed = self.by_one("ENCLOSED BY")?;
                } else if self.take("enclosed") {
                    format.enclosed = self.by_one("ENCLOSED BY")?;
                } else if self.take("escaped") {
                    format.escape = self.by_one("ESCAPED BY")?;
                } else {
                    break;
                }
            }
        }
        if self.take("lines") {
            loop {
                if self.take("starting") {
                    format.line_start = self.by()?;
                } else if self.take("terminated") {
                    format.line_end = self.by()?;
                } else {
                    break;
                }
            }
        }
        if format.field_end.is_empty() || format.line_end.is_empty() {
            return Err(Error::unsupported("LOAD DATA of rows of fixed width, or of lines without an end"));
        }
        Ok(format)
    }

    fn by(&mut self) -> Result<Vec<u8>> {
        self.want("by")?;
        self.string().map(String::into_bytes)
    }

    fn by_one(&mut self, what: &str) -> Result<Option<u8>> {
        match self.by()?[..] {
            [] => Ok(None),
            [byte] => Ok(Some(byte)),
            _ => Err(Error::new(Condition::SyntaxError, format!("{what} wants one character"))),
        }
    }
}

/// A row of a file: a text for each field, `None` for NULL.
pub type Fields = Vec<Option<Vec<u8>>>;

/// Cuts a file's bytes into rows, as they come.
#[derive(Debug)]
pub struct Splitter {
    format: Format,
    skip: u64,
    /// What has come and is no whole row yet.
    rest: Vec<u8>,
}

impl Splitter {
    /// For a statement's file.
    pub fn new(load: &LoadData) -> Self {
        Self { format: load.format.clone(), skip: load.skip, rest: Vec::new() }
    }

    /// More bytes have come: hands each whole row to `take`.
    ///
    /// # Errors
    /// Those of `take`, and `53200` for a row that there is no room for.
    pub fn push(&mut self, bytes: &[u8], take: impl FnMut(Fields) -> Result<()>) -> Result<()> {
        crate::work::room(self.rest.len() + bytes.len())?;
        self.rest.extend_from_slice(bytes);
        self.cut(false, take)
    }

    /// Nothing more will come: the last row need not have an end.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn finish(&mut self, take: impl FnMut(Fields) -> Result<()>) -> Result<()> {
        self.cut(true, take)
    }

    fn cut(&mut self, is_last: bool, mut take: impl FnMut(Fields) -> Result<()>) -> Result<()> {
        let rest = std::mem::take(&mut self.rest);
        let mut at = 0;
        while at < rest.len() {
            if self.skip > 0 {
                let Some(end) = find(&rest[at..], &self.format.line_end) else { break };
                at += end + self.format.line_end.len();
                self.skip -= 1;
                continue;
            }
            let mut start = at;
            if !self.format.line_start.is_empty() {
                let Some(begin) = find(&rest[at..], &self.format.line_start) else { break };
                start += begin + self.format.line_start.len();
            }
            let Some((fields, len)) = self.format.row(&rest[start..], is_last) else { break };
            at = start + len;
            take(fields)?;
        }
        if !is_last {
            self.rest = rest[at..].to_vec();
        }
        Ok(())
    }
}

impl Format {
    /// The row at the beginning of `bytes`, and how many of them it takes; `None` while it is not whole.
    fn row(&self, bytes: &[u8], is_last: bool) -> Option<(Fields, usize)> {
        let mut fields = Vec::new();
        let mut at = 0;
        loop {
            let (field, next) = self.field(bytes, at, is_last)?;
            fields.push(field);
            match next {
                Next::Field(next) => at = next,
                Next::Line(next) => return Some((fields, next)),
            }
        }
    }

    fn field(&self, bytes: &[u8], start: usize, is_last: bool) -> Option<(Option<Vec<u8>>, Next)> {
        let enclosed = self.enclosed.filter(|quote| bytes.get(start) == Some(quote));
        let mut at = start + usize::from(enclosed.is_some());
        let mut text = Vec::new();
        let mut null = false;
        loop {
            // What stands at the end may go on in what has not come yet.
            let left = bytes.len() - at;
            let longest = self.field_end.len().max(self.line_end.len()) + 1;
            if !is_last && left < longest && !bytes[at..].starts_with(&self.line_end) {
                return None;
            }
            let Some(&byte) = bytes.get(at) else {
                return Some((self.meaning(text, null, enclosed.is_some()), Next::Line(at)));
            };
            let end = |at: usize| match () {
                () if bytes[at..].starts_with(&self.line_end) => Some(Next::Line(at + self.line_end.len())),
                () if bytes[at..].starts_with(&self.field_end) => Some(Next::Field(at + self.field_end.len())),
                () if at == bytes.len() => Some(Next::Line(at)),
                () => None,
            };
            if Some(byte) == self.escape && at + 1 < bytes.len() {
                let escaped = bytes[at + 1];
                null |= escaped == b'N' && text.is_empty();
                text.push(match escaped {
                    b'0' => 0,
                    b'b' => 8,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'Z' => 26,
                    other => other,
                });
                at += 2;
                null &= text.len() == 1;
                continue;
            }
            match enclosed {
                Some(quote) if byte == quote => {
                    if bytes.get(at + 1) == Some(&quote) {
                        text.push(quote);
                        at += 2;
                        continue;
                    }
                    if let Some(next) = end(at + 1) {
                        return Some((self.meaning(text, null, true), next));
                    }
                }
                Some(_) => {}
                None => {
                    if let Some(next) = end(at) {
                        return Some((self.meaning(text, null, false), next));
                    }
                }
            }
            text.push(byte);
            null = false;
            at += 1;
        }
    }

    fn meaning(&self, text: Vec<u8>, null: bool, enclosed: bool) -> Option<Vec<u8>> {
        let word = self.enclosed.is_some() && !enclosed && text == b"NULL";
        let is_null = word || null && !enclosed;
        (!is_null).then_some(text)
    }
}

/// What follows a field, and where.
enum Next {
    Field(usize),
    Line(usize),
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(sql: &str, bytes: &[u8]) -> Vec<Vec<Option<String>>> {
        let load = LoadData::parse(sql).unwrap().unwrap();
        let text = |field: Option<Vec<u8>>| field.map(|field| String::from_utf8(field).unwrap());
        let mut all: Vec<Vec<Vec<Option<String>>>> = Vec::new();
        for step in [1, 2, 3, bytes.len().max(1)] {
            let mut splitter = Splitter::new(&load);
            let mut seen = Vec::new();
            let mut take = |fields: Fields| {
                seen.push(fields.into_iter().map(text).collect());
                Ok(())
            };
            for piece in bytes.chunks(step) {
                splitter.push(piece, &mut take).unwrap();
            }
            splitter.finish(&mut take).unwrap();
            all.push(seen);
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all.swap_remove(0)
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn statements_are_read() {
        let load = LoadData::parse(
            "LOAD DATA LOCAL INFILE 'a\\'b.csv' REPLACE INTO TABLE `db`.t CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' \
             OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES STARTING BY '>' TERMINATED BY '\\r\\n' IGNORE 1 LINES (a, @v, `b c`) \
             SET d = @v + 1, e = 'x;y' ;",
        )
        .unwrap()
        .unwrap();
        assert_eq!((load.file.as_str(), load.table.as_str(), load.skip), ("a'b.csv", "`db`.t", 1));
        let column = |name: &str| Target::Column(name.to_owned());
        assert_eq!(load.targets, [column("a"), Target::Variable("v".to_owned()), column("`b c`")]);
        assert_eq!(load.assignments.as_deref(), Some("d = @v + 1, e = 'x;y'"));
        assert_eq!((load.on_duplicate, load.is_local), (OnDuplicate::Replace, true));
        assert_eq!(
            load.format,
            Format {
                field_end: b",".to_vec(),
                enclosed: Some(b'"'),
                escape: None,
                line_start: b">".to_vec(),
                line_end: b"\r\n".to_vec()
            }
        );
        assert_eq!(LoadData::parse("SELECT 1"), Ok(None));
        assert_eq!(LoadData::parse("load data infile 'x' into table t").unwrap().unwrap().format, Format::default());
        for (sql, condition) in [
            ("LOAD DATA INFILE x INTO TABLE t", Condition::SyntaxError),
            ("LOAD DATA INFILE 'x' INTO TABLE t (a", Condition::SyntaxError),
            ("LOAD DATA INFILE 'x' INTO TABLE t nonsense", Condition::SyntaxError),
            ("LOAD DATA INFILE 'x' INTO TABLE t (@)", Condition::SyntaxError),
            ("LOAD DATA INFILE 'x' INTO TABLE t SET ;", Condition::SyntaxError),
            ("LOAD DATA INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ''", Condition::FeatureNotSupported),
            ("LOAD DATA INFILE 'x' INTO TABLE t CHARACTER SET gbk", Condition::FeatureNotSupported),
        ] {
            assert_eq!(LoadData::parse(sql).unwrap_err().condition(), condition, "{sql}");
        }
    }

    #[test]
    fn rows_are_cut_wherever_the_bytes_are() {
        let plain = "LOAD DATA INFILE 'x' INTO TABLE t";
        assert_eq!(rows(plain, b"1\ta\n2\tb"), [some(&["1", "a"]), some(&["2", "b"])]);
        assert_eq!(rows(plain, b""), Vec::<Vec<_>>::new());
        assert_eq!(rows(plain, b"\n\t\n"), [some(&[""]), some(&["", ""])]);
        assert_eq!(rows(plain, b"\\N\ta\\tb\\\\\\N\n"), [vec![None, Some("a\tb\\N".into())]]);
        let csv = format!(
            "{plain} FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n' IGNORE 1 ROWS"
        );
        assert_eq!(
            rows(&csv, b"id,name\r\n1,\"a,b\"\"\r\n\"\r\nNULL,\"NULL\"\r\n2,x\"y"),
            [some(&["1", "a,b\"\r\n"]), vec![None, Some("NULL".into())], some(&["2", "x\"y"])]
        );
        let started = format!("{plain} LINES STARTING BY 'xxx'");
        assert_eq!(rows(&started, b"xxx1\ta\nsome xxx2\tb\nnone\n"), [some(&["1", "a"]), some(&["2", "b"])]);
    }
}
