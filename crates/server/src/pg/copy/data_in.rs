//! Bytes to rows. The pieces in which the bytes come need not end where rows do.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr2, memchr3};
use rowferry_dialect::ir::{CopyFormat, CopyHeader, CopyOptions, Value};
use rowferry_dialect::values::Settings;
use rowferry_dialect::work;
use rowferry_engine::{Condition, Error, Result};
use rowferry_wire::Reader;
use rowferry_wire_pg::Format;

use super::super::values;
use super::{CRITICAL_FLAGS, Column, SIGNATURE};

/// Reads the rows of a COPY FROM.
#[derive(Debug)]
pub(in super::super) struct CopyIn {
    options: CopyOptions,
    labels: Arc<Labels>,
    columns: Vec<Column>,
    /// Bytes that have come and are no whole row yet.
    pending: Vec<u8>,
    /// The fields of the row that is read, and its values: their room serves the next.
    fields: Vec<Field>,
    values: InRow,
    /// How far `pending` was looked at for the end of a line, and whether that is inside quotes.
    scanned: usize,
    in_quotes: bool,
    /// Where in the row that is looked at `\.` stands, which ends the data.
    marker: Option<usize>,
    /// Ends of lines inside the quotes of the row that is looked at.
    broken: u64,
    /// The byte that ends a line inside quotes; PostgreSQL knows it from the first row's end on.
    line_end: Option<u8>,
    /// The longest row that is taken, in bytes.
    limit: usize,
    /// The line of the data at which the last row read ends, from 1.
    line: u64,
    /// A header is still to come.
    header: bool,
    /// The end was marked in the data; what follows is ignored.
    ended: bool,
}

/// A row of so many bytes leaves its room to the next.
pub(super) const KEPT_ROOM: usize = 64 * 1024;

/// A row of values in stored form, one for each column.
pub(in super::super) type InRow = Vec<Value>;

/// Takes a row that has been read. It may leave another in its place, whose room serves the next.
pub(in super::super) type Take<'a> = dyn FnMut(&mut InRow, RowAt<'_>) -> Result<()> + 'a;

/// Where a row stands in the data.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct RowAt<'a> {
    /// The line at which it ends, from 1.
    pub(super) line: u64,
    /// The row as it was sent, unless the data are binary.
    pub(super) text: Option<&'a [u8]>,
}

/// What errors call the data.
#[derive(Debug)]
pub(in super::super) struct Labels {
    /// The table's name.
    table: String,
    /// Rows are written one by one, and not many together, in PostgreSQL: which of them breaks a key is known by its text.
    one_by_one: bool,
}

impl Labels {
    /// The error of whoever took a row.
    pub(in super::super) fn refused(&self, error: Error, at: RowAt<'_>) -> Error {
        let keys = matches!(error.condition(), Condition::UniqueViolation | Condition::ExclusionViolation);
        let place = match at.text {
            Some(line) if !keys || self.one_by_one => Place::Line(line),
            _ => Place::Row,
        };
        self.place(error, at.line, place)
    }

    /// Says where in the data an error is: in a row, or in a column of it.
    fn place(&self, error: Error, line: u64, place: Place<'_>) -> Error {
        let mut context = format!("COPY {}, line {line}", self.table);
        match place {
            Place::Row => {}
            Place::Line(line) => context.push_str(&format!(": \"{}\"", shortened(line))),
            Place::Value(column, Some(value)) => {
                context.push_str(&format!(", column {}: \"{}\"", column.name, shortened(value)));
            }
            Place::Value(column, None) => context.push_str(&format!(", column {}", column.name)),
        }
        error.context(context)
    }
}

impl CopyIn {
    /// Reads rows of these columns, none longer than `limit`; for `one_by_one` see [`Labels`].
    pub(in super::super) fn new(
        options: CopyOptions,
        (table, one_by_one): (String, bool),
        columns: Vec<Column>,
        limit: usize,
    ) -> Self {
        let header = options.header != CopyHeader::None || options.format == CopyFormat::Binary;
        Self {
            options,
            labels: Arc::new(Labels { table, one_by_one }),
            columns,
            pending: Vec::new(),
            fields: Vec::new(),
            values: Vec::new(),
            scanned: 0,
            in_quotes: false,
            marker: None,
            broken: 0,
            line_end: None,
            limit,
            line: 0,
            header,
            ended: false,
        }
    }

    /// What errors call the data.
    pub(in super::super) fn labels(&self) -> Arc<Labels> {
        self.labels.clone()
    }

    /// The columns that are read.
    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many bytes are kept that are no whole row yet.
    pub(super) fn kept(&self) -> usize {
        self.pending.len()
    }

    /// An error that came instead of the next row.
    pub(in super::super) fn instead_of_row(&mut self, error: Error) -> Error {
        if self.header && self.options.format == CopyFormat::Binary {
            return error;
        }
        self.line += 1;
        self.place(error, Place::Row)
    }

    /// How its fields are read. Those of texts are UTF-8 when they come here.
    pub(in super::super) fn settings(&self, session: Arc<Settings>) -> Arc<Settings> {
        match self.options.format {
            CopyFormat::Binary => super::settings(session, &self.options),
            CopyFormat::Csv | CopyFormat::Text if session.client_encoding.is_none() => session,
            CopyFormat::Csv | CopyFormat::Text => Arc::new(Settings { client_encoding: None, ..(*session).clone() }),
        }
    }

    /// How many columns there are.
    pub(in super::super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The format that the client is to send.
    pub(in super::super) fn format(&self) -> Format {
        if self.options.format == CopyFormat::Binary { Format::BINARY } else { Format::TEXT }
    }

    /// Takes a piece of the data, and gives each row that it completes to `take`.
    pub(in super::super) fn feed(&mut self, data: &[u8], settings: &Settings, take: &mut Take<'_>) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        // What was left of the piece before begins the first row of this one.
        let mut kept = std::mem::take(&mut self.pending);
        if kept.is_empty() {
            let done = self.rows(data, settings, take)?;
            return work::append(&mut self.pending, &data[done..]);
        }
        work::append(&mut kept, data)?;
        let done = self.rows(&kept, settings, take)?;
        kept.drain(..done);
        self.pending = kept;
        Ok(())
    }

    /// Gives each row that is whole to `take`, and tells where the next begins.
    fn rows(&mut self, data: &[u8], settings: &Settings, take: &mut Take<'_>) -> Result<usize> {
        let mut done = 0;
        while !self.ended {
            let Some(len) = self.row_length(data, done)? else {
                if data.len() - done > self.limit {
                    let message = format!("a row of the data is longer than {} bytes", self.limit);
                    return Err(self.place(Error::new(Condition::ProgramLimitExceeded, message), Place::Row));
                }
                break;
            };
            let row = &data[done..done + len];
            done += len;
            self.scanned = done;
            self.row(row, settings, take)?;
        }
        self.scanned = self.scanned.saturating_sub(done);
        Ok(done)
    }

    /// The data are complete.
    pub(in super::super) fn finish(&mut self, settings: &Settings, take: &mut Take<'_>) -> Result<()> {
        if self.ended || self.pending.is_empty() && !(self.header && self.options.format == CopyFormat::Binary) {
            return Ok(());
        }
        if self.options.format == CopyFormat::Binary {
            return Err(self.place(bad_format("unexpected EOF in COPY data"), Place::Row));
        }
        if self.in_quotes {
            self.line += 1 + self.broken;
            return Err(self.place(bad_format("unterminated CSV quoted field"), Place::Line(&self.pending)));
        }
        // The last line may lack its end.
        let row = std::mem::take(&mut self.pending);
        self.scanned = 0;
        self.row(&row, settings, take)
    }

    /// How many bytes the row (or header) at `start` of the data has, with its end; `None` when it is not all there.
    fn row_length(&mut self, data: &[u8], start: usize) -> Result<Option<usize>> {
        if self.options.format == CopyFormat::Binary {
            return self.binary_length(&data[start..]);
        }
        let csv = self.options.format == CopyFormat::Csv;
        if !csv {
            return Ok(self.text_length(data, start));
        }
        let (quote, escape) = (self.options.quote, self.options.escape);
        while let Some(rest) = data.get(self.scanned..) {
            let found = match self.in_quotes {
                true => memchr3(quote, escape, self.line_end.unwrap_or(quote), rest),
                false => memchr2(quote, b'\n', rest),
            };
            let Some(found) = found else {
                self.scanned = data.len();
                return Ok(None);
            };
            let byte = rest[found];
            self.scanned += found;
            if self.in_quotes && byte == escape && escape != quote {
                // Together with the byte behind it, which may not have come yet.
                if data.len() == self.scanned + 1 {
                    return Ok(None);
                }
                self.scanned += 2;
                continue;
            }
            self.scanned += 1;
            if byte == quote {
                self.in_quotes = !self.in_quotes;
            } else if self.in_quotes {
                self.broken += 1;
            } else {
                return Ok(Some(self.scanned - start));
            }
        }
        Ok(None)
    }

    /// The same of a line in text format, where the byte behind a backslash ends nothing.
    fn text_length(&mut self, data: &[u8], start: usize) -> Option<usize> {
        loop {
            let Some(found) = memchr2(b'\n', b'\\', data.get(self.scanned..)?) else {
                self.scanned = data.len();
                return None;
            };
            let at = self.scanned + found;
            if data[at] == b'\n' {
                self.scanned = at + 1;
                return Some(self.scanned - start);
            }
            // It may not have come yet.
            self.scanned = at;
            if *data.get(at + 1)? == b'.' && self.marker.is_none() {
                self.marker = Some(at - start);
            }
            self.scanned = at + 2;
        }
    }

    fn binary_length(&self, bytes: &[u8]) -> Result<Option<usize>> {
        if self.header {
            // Signature, flags, length of the extension, extension.
            let Some(word) = bytes.get(15..19).and_then(|word| word.first_chunk::<4>()) else { return Ok(None) };
            let extension = usize::try_from(i32::from_be_bytes(*word))
                .map_err(|_| bad_format("invalid COPY file header (wrong length)"))?;
            return Ok((bytes.len() - 19 >= extension).then_some(19 + extension));
        }
        let mut reader = Reader::new(bytes);
        let Ok(count) = reader.i16("count") else { return Ok(None) };
        for _ in 0..count.max(0) {
            let Ok(length) = reader.i32("length") else { return Ok(None) };
            if length == -1 {
                continue;
            }
            let length = usize::try_from(length).map_err(|_| bad_format("invalid field size"))?;
            if reader.take(length, "field").is_err() {
                return Ok(None);
            }
        }
        Ok(Some(reader.position()))
    }

    fn row(&mut self, bytes: &[u8], settings: &Settings, take: &mut Take<'_>) -> Result<()> {
        self.line += 1 + std::mem::take(&mut self.broken);
        let marker = self.marker.take();
        if self.options.format == CopyFormat::Binary {
            return self.binary_row(bytes, settings, take);
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let (line, line_end) = line.strip_suffix(b"\r").map_or((line, b'\n'), |line| (line, b'\r'));
        self.line_end.get_or_insert(line_end);
        if std::mem::take(&mut self.header) {
            return match self.options.header {
                CopyHeader::Match => {
                    self.check_header(line).map_err(|message| self.place(bad_format(message), Place::Line(line)))
                }
                CopyHeader::None | CopyHeader::Named => Ok(()),
            };
        }
        let Some(line) = self.before_marker(line, marker)? else { return Ok(()) };
        let mut fields = std::mem::take(&mut self.fields);
        find_fields(line, &self.options, true, &mut fields);
        if self.columns.is_empty() && line.is_empty() {
            // A table without columns has rows that are empty lines.
            fields.clear();
        }
        if fields.len() > self.columns.len() {
            return Err(self.place(bad_format("extra data after last expected column"), Place::Line(line)));
        }
        let mut values = self.empty_row();
        // Nearly all lines are text as a whole; of others, the field that is none is told.
        let text = std::str::from_utf8(line).ok().filter(|_| memchr(0, line).is_none());
        for (index, column) in self.columns.iter().enumerate() {
            let Some(field) = fields.get(index) else {
                let message = format!("missing data for column \"{}\"", column.name);
                return Err(self.place(bad_format(message), Place::Line(line)));
            };
            let value = &mut values[index];
            let read = match (field.form, text.and_then(|text| text.get(field.start..field.end))) {
                (Form::Null, _) => {
                    *value = Value::Null;
                    Ok(())
                }
                (Form::Plain, Some(text)) => values::read_str(text, &column.ty, settings, value),
                (Form::Plain | Form::Coded, _) => {
                    values::read_text(&field.bytes(line, &self.options), &column.ty, settings, value)
                }
            };
            read.map_err(|error| self.place(error, Place::Value(column, Some(&field.bytes(line, &self.options)))))?;
        }
        take(&mut values, RowAt { line: self.line, text: Some(line) })?;
        if line.len() <= KEPT_ROOM {
            self.values = values;
            self.fields = fields;
        }
        Ok(())
    }

    /// A row to be filled: with the room of the one before, and its values.
    fn empty_row(&mut self) -> InRow {
        let mut values = std::mem::take(&mut self.values);
        values.resize(self.columns.len(), Value::Null);
        values
    }

    /// What of a line is a row: what stands before the mark that ends the data; `None` when that is nothing.
    fn before_marker<'a>(&mut self, line: &'a [u8], marker: Option<usize>) -> Result<Option<&'a [u8]>> {
        let rest = match marker {
            Some(at) if at + 2 == line.len() => &line[..at],
            Some(_) => return Err(self.place(bad_format("end-of-copy marker corrupt"), Place::Row)),
            // CSV knows it only as a line of its own.
            None if line == b"\\." => &line[..0],
            None => return Ok(Some(line)),
        };
        self.ended = true;
        Ok((!rest.is_empty()).then_some(rest))
    }

    /// HEADER MATCH: the names in the first line are those of the columns.
    fn check_header(&self, line: &[u8]) -> std::result::Result<(), String> {
        let mut fields = Vec::new();
        // A name is no value: FORCE_NULL and FORCE_NOT_NULL mean the rows.
        find_fields(line, &self.options, false, &mut fields);
        let (got, expected) = (fields.len(), self.columns.len());
        if got != expected {
            return Err(format!("wrong number of fields in header line: got {got}, expected {expected}"));
        }
        for (at, (field, column)) in fields.iter().zip(&self.columns).enumerate() {
            let name = field.bytes(line, &self.options);
            let got = match field.form {
                Form::Null => format!("null value (\"{}\")", self.options.null),
                _ if *name == *column.name.as_bytes() => continue,
                _ => format!("\"{}\"", String::from_utf8_lossy(&name)),
            };
            let (field, name) = (at + 1, &column.name);
            return Err(format!("column name mismatch in header line field {field}: got {got}, expected \"{name}\""));
        }
        Ok(())
    }

    fn binary_row(&mut self, bytes: &[u8], settings: &Settings, take: &mut Take<'_>) -> Result<()> {
        let mut reader = Reader::new(bytes);
        let cut = |_| bad_format("unexpected EOF in COPY data");
        if std::mem::take(&mut self.header) {
            self.line = 0;
            if reader.take(SIGNATURE.len(), "signature").map_err(cut)? != SIGNATURE {
                return Err(bad_format("COPY file signature not recognized"));
            }
            if reader.u32("flags").map_err(cut)? & CRITICAL_FLAGS != 0 {
                return Err(bad_format("unrecognized critical flags in COPY file header"));
            }
            return Ok(());
        }
        let count = reader.i16("count").map_err(cut)?;
        if count == -1 {
            self.ended = true;
            return Ok(());
        }
        if usize::try_from(count) != Ok(self.columns.len()) {
            let message = format!("row field count is {count}, expected {}", self.columns.len());
            return Err(self.place(bad_format(message), Place::Row));
        }
        let mut values = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            let value = match reader.i32("length").map_err(cut)? {
                -1 => Value::Null,
                length => {
                    let length = usize::try_from(length).map_err(|_| bad_format("invalid field size"))?;
                    let field = reader.take(length, "field").map_err(cut)?;
                    values::read(field, &column.ty, Format::BINARY, settings, index + 1)
                        .map_err(|error| self.place(error, Place::Value(column, None)))?
                }
            };
            values.push(value);
        }
        take(&mut values, RowAt { line: self.line, text: None })
    }

    /// Says where in the row that was read last an error is.
    fn place(&self, error: Error, place: Place<'_>) -> Error {
        self.labels.place(error, self.line, place)
    }
}

/// Where in a row an error is.
enum Place<'a> {
    /// It concerns the row.
    Row,
    /// It concerns the line as it was sent.
    Line(&'a [u8]),
    /// It concerns a column, whose text this is if it is one.
    Value(&'a Column, Option<&'a [u8]>),
}

/// As much of the data as an error shows.
fn shortened(data: &[u8]) -> String {
    /// In bytes.
    const SHOWN: usize = 100;
    if data.len() <= SHOWN {
        return String::from_utf8_lossy(data).into_owned();
    }
    let mut end = SHOWN;
    while end > 0 && data[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    format!("{}...", String::from_utf8_lossy(&data[..end]))
}

fn bad_format(message: impl Into<String>) -> Error {
    Error::new(Condition::BadCopyFileFormat, message)
}

/// A field of a line: where it stands, and how.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    form: Form,
}

/// How a field is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    /// As it is.
    Plain,
    /// With escapes, or with quotes amid it.
    Coded,
    /// It is NULL.
    Null,
}

impl Field {
    /// What it says.
    fn bytes<'a>(&self, line: &'a [u8], options: &CopyOptions) -> Cow<'a, [u8]> {
        let raw = &line[self.start..self.end];
        match (self.form, options.format) {
            (Form::Plain | Form::Null, _) => Cow::Borrowed(raw),
            (Form::Coded, CopyFormat::Csv) => Cow::Owned(unquoted(raw, options)),
            (Form::Coded, CopyFormat::Text | CopyFormat::Binary) => Cow::Owned(unescaped(raw)),
        }
    }
}

/// Finds the fields of a line, in the place of those of the line before; `values` tells that they are no names.
fn find_fields(line: &[u8], options: &CopyOptions, values: bool, fields: &mut Vec<Field>) {
    fields.clear();
    match options.format {
        CopyFormat::Csv => csv_fields(line, options, values, fields),
        CopyFormat::Text | CopyFormat::Binary => text_fields(line, options, fields),
    }
}

/// The fields of a line in text format.
fn text_fields(line: &[u8], options: &CopyOptions, fields: &mut Vec<Field>) {
    let null = options.null.as_bytes();
    let mut start = 0;
    let mut escapes = false;
    // The bytes before this one belong to an escape.
    let mut free = 0;
    let mut put = |start: usize, end: usize, escapes: bool| {
        // NULL is what it is before escapes are undone.
        let form = match escapes {
            _ if line[start..end] == *null => Form::Null,
            true => Form::Coded,
            false => Form::Plain,
        };
        fields.push(Field { start, end, form });
    };
    each_of(line, options.delimiter, b'\\', |at| {
        if at < free {
            return;
        }
        if line[at] == b'\\' {
            escapes = true;
            free = at + 2;
        } else {
            put(start, at, std::mem::take(&mut escapes));
            start = at + 1;
        }
    });
    put(start, line.len(), escapes);
}

/// Calls `found` with each place of one of two bytes. Fields are short: eight bytes at a time are quicker than a search that
/// begins anew behind each of them.
#[inline]
fn each_of(bytes: &[u8], one: u8, other: u8, mut found: impl FnMut(usize)) {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const LOW: u64 = ONES * 0x7f;
    // The top bit of each byte that is this one.
    let equal = |word: u64, byte: u8| {
        let differs = word ^ (ONES * u64::from(byte));
        !(((differs & LOW) + LOW) | differs | LOW)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut places = equal(word, one) | equal(word, other);
        while places != 0 {
            found(index * 8 + places.trailing_zeros() as usize / 8);
            places &= places - 1;
        }
    }
    let begun = words.len() * 8;
    for (index, byte) in rest.iter().enumerate() {
        if *byte == one || *byte == other {
            found(begun + index);
        }
    }
}

fn unescaped(raw: &[u8]) -> Vec<u8> {
    let mut field = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            field.push(byte);
            continue;
        }
        field.push(match bytes.next() {
            None => b'\\',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 0x0b,
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = bytes.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                }
                code as u8
            }
            Some(b'x') => {
                let mut code = None;
                for _ in 0..2 {
                    let Some(digit) = bytes.next_if(u8::is_ascii_hexdigit) else { break };
                    let digit = char::from(digit).to_digit(16).unwrap_or_default();
                    code = Some(code.unwrap_or(0) * 16 + digit);
                }
                code.map_or(b'x', |code| code as u8)
            }
            Some(other) => other,
        });
    }
    field
}

/// The fields of a record in CSV. Of values, some columns have a NULL of their own.
fn csv_fields(line: &[u8], options: &CopyOptions, values: bool, fields: &mut Vec<Field>) {
    let mut start = 0;
    loop {
        let (mut field, was_quoted, end) = csv_field(line, start, options);
        let at = fields.len();
        let may_be_null = match was_quoted {
            true => values && options.force_null.contains(&at),
            false => !(values && options.force_not_null.contains(&at)),
        };
        if may_be_null && *field.bytes(line, options) == *options.null.as_bytes() {
            field.form = Form::Null;
        }
        fields.push(field);
        if end >= line.len() {
            return;
        }
        start = end + 1;
    }
}

/// The field of a record that begins at `start`, whether some of it was quoted, and where the delimiter behind it stands.
fn csv_field(line: &[u8], start: usize, options: &CopyOptions) -> (Field, bool, usize) {
    let (quote, escape, delimiter) = (options.quote, options.escape, options.delimiter);
    let rest = &line[start..];
    let first = memchr2(delimiter, quote, rest).unwrap_or(rest.len());
    if rest.get(first) != Some(&quote) {
        let end = start + first;
        return (Field { start, end, form: Form::Plain }, false, end);
    }
    // Mostly all of it is inside one pair of quotes.
    if first == 0
        && let Some(length) = memchr2(quote, escape, &rest[1..])
        && rest[1 + length] == quote
        && rest.get(length + 2).is_none_or(|behind| *behind == delimiter)
    {
        let inside = start + 1;
        return (Field { start: inside, end: inside + length, form: Form::Plain }, true, inside + length + 1);
    }
    let end = start + read_quoted(rest, options, |_| {});
    (Field { start, end, form: Form::Coded }, true, end)
}

/// What a field says that quotes stand in.
fn unquoted(raw: &[u8], options: &CopyOptions) -> Vec<u8> {
    let mut field = Vec::with_capacity(raw.len());
    read_quoted(raw, options, |byte| field.push(byte));
    field
}

/// Gives the bytes of a field in which quotes stand to `put`, and tells where it ends.
fn read_quoted(rest: &[u8], options: &CopyOptions, mut put: impl FnMut(u8)) -> usize {
    let (quote, escape, delimiter) = (options.quote, options.escape, options.delimiter);
    let (mut at, mut in_quotes) = (0, false);
    while let Some(&byte) = rest.get(at) {
        at += 1;
        match byte {
            _ if in_quotes && byte == escape && rest.get(at).is_some_and(|next| *next == quote || *next == escape) => {
                put(rest[at]);
                at += 1;
            }
            _ if byte == quote => in_quotes = !in_quotes,
            _ if byte == delimiter && !in_quotes => return at - 1,
            _ => put(byte),
        }
    }
    rest.len()
}

/// The columns that the INSERT of a COPY FROM takes from the data: as many as it has parameters. Others have defaults.
pub(in super::super) fn columns(dml: &rowferry_dialect::ir::Dml, params: usize) -> Vec<Column> {
    let positions: &[usize] = match &dml.action {
        rowferry_dialect::ir::DmlAction::Insert { columns, .. } => columns,
        _ => &[],
    };
    let column = |&position: &usize| {
        let column = &dml.target.columns[position];
        Column { name: column.name.clone(), ty: column.ty.clone() }
    };
    positions.iter().take(params).map(column).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use rowferry_engine::Type;

    use super::super::CopyOut;
    use super::*;

    pub(in super::super) fn options(format: CopyFormat) -> CopyOptions {
        let csv = format == CopyFormat::Csv;
        CopyOptions {
            format,
            delimiter: if csv { b',' } else { b'\t' },
            null: if csv { String::new() } else { "\\N".into() },
            header: CopyHeader::None,
            freeze: false,
            quote: b'"',
            escape: b'"',
            encoding: None,
            force_quote: Vec::new(),
            force_not_null: Vec::new(),
            force_null: Vec::new(),
        }
    }

    fn columns() -> Vec<Column> {
        [("a", Type::Int4), ("b", Type::Text)].map(|(name, ty)| Column { name: name.into(), ty }).into()
    }

    /// The rows of `data`, fed in pieces of `size` bytes.
    fn read(options: CopyOptions, data: &[u8], size: usize) -> Result<Vec<InRow>> {
        let mut copy = CopyIn::new(options, ("t".into(), false), columns(), 1_000);
        let mut rows = Vec::new();
        let mut take = |row: &mut InRow, _: RowAt<'_>| {
            rows.push(row.clone());
            Ok(())
        };
        for piece in data.chunks(size) {
            copy.feed(piece, &Settings::default(), &mut take)?;
        }
        copy.finish(&Settings::default(), &mut take)?;
        Ok(rows)
    }

    fn row(number: i64, text: &str) -> InRow {
        vec![Value::Integer(number), Value::Text(text.into())]
    }

    #[test]
    fn text_is_read_in_any_pieces() {
        let data = b"1\tone\r\n2\t\\N\n3\ta\\tb\\\\c\\x41\\101\\n\\q\n4\t\n5\tline\\\nbreak\n\\.\nignored";
        let expected = vec![
            row(1, "one"),
            vec![Value::Integer(2), Value::Null],
            row(3, "a\tb\\cAA\nq"),
            row(4, ""),
            row(5, "line\nbreak"),
        ];
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(read(options(CopyFormat::Text), data, size).unwrap(), expected, "pieces of {size}");
        }
        // The mark ends a row, too.
        assert_eq!(read(options(CopyFormat::Text), b"1\tlast\\.\n2\tno\n", 3).unwrap(), [row(1, "last")]);
    }

    #[test]
    fn csv_is_read_in_any_pieces() {
        let data = b"a,b\n1,one\n2,\n3,\"\"\n4,\"say \"\"hi\"\",\nthere\"\r\n5,a\"b,\"c\n";
        let mut with_header = options(CopyFormat::Csv);
        with_header.header = CopyHeader::Named;
        let expected = vec![
            row(1, "one"),
            vec![Value::Integer(2), Value::Null],
            row(3, ""),
            row(4, "say \"hi\",\nthere"),
            row(5, "ab,c"),
        ];
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(read(with_header.clone(), data, size).unwrap(), expected, "pieces of {size}");
        }
        assert_eq!(read(with_header, b"a,b", 9).unwrap(), Vec::<InRow>::new());
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_place() {
        let error = |format, data: &[u8]| {
            let error = read(options(format), data, 3).unwrap_err();
            (error.condition().sqlstate(), error.message.clone(), error.context.clone().unwrap_or_default())
        };
        let message = "missing data for column \"b\"".to_owned();
        assert_eq!(error(CopyFormat::Text, b"1\tx\n2\n"), ("22P04", message, "COPY t, line 2: \"2\"".into()));
        // A line that quotes go over counts for each of its ends, as soon as it is known how lines end.
        let message = "invalid input syntax for type integer: \"x\"".to_owned();
        let data = b"1,\"a\nb\"\n2,\"c\nd\"\nx,e\n";
        assert_eq!(error(CopyFormat::Csv, data), ("22P02", message, "COPY t, line 4, column a: \"x\"".into()));
        let message = "end-of-copy marker corrupt".to_owned();
        assert_eq!(error(CopyFormat::Text, b"1\ta\n2\tb \\. c\n"), ("22P04", message, "COPY t, line 2".into()));
        let message = "extra data after last expected column".to_owned();
        assert_eq!(error(CopyFormat::Csv, b"1,x\n2,y,z\n"), ("22P04", message, "COPY t, line 2: \"2,y,z\"".into()));
        let (sqlstate, _, context) = error(CopyFormat::Text, b"1\tx\ntwo\ty\n");
        assert_eq!((sqlstate, context.as_str()), ("22P02", "COPY t, line 2, column a: \"two\""));
        assert_eq!(error(CopyFormat::Csv, b"1,\"x\n").1, "unterminated CSV quoted field");
        assert_eq!(error(CopyFormat::Binary, b"").1, "unexpected EOF in COPY data");
        assert_eq!(error(CopyFormat::Binary, &[0; 30]).1, "COPY file signature not recognized");
        // One byte beyond the limit of a row.
        let long = [b"1\t".as_slice(), &[b'x'; 998]].concat();
        assert_eq!(read(options(CopyFormat::Text), &long, 1_000).unwrap().len(), 1);
        let longer = [long.as_slice(), b"x"].concat();
        assert_eq!(read(options(CopyFormat::Text), &longer, 1_001).unwrap_err().condition().sqlstate(), "54000");
    }

    fn written(options: CopyOptions, rows: &[InRow]) -> Vec<u8> {
        let mut copy = CopyOut::new(options, columns()).unwrap();
        let mut out = Vec::new();
        copy.begin(&mut out);
        for row in rows {
            copy.row(&mut out, |index| row[index].as_ref(), &Settings::default()).unwrap();
        }
        copy.end(&mut out);
        out
    }

    #[test]
    fn rows_are_written_as_postgresql_does() {
        let rows =
            [row(1, "a\tb\\\n"), vec![Value::Null, Value::Null], row(2, ""), row(3, "say \"hi\", you"), row(4, "\\.")];
        assert_eq!(
            String::from_utf8(written(options(CopyFormat::Text), &rows)).unwrap(),
            "1\ta\\tb\\\\\\n\n\\N\t\\N\n2\t\n3\tsay \"hi\", you\n4\t\\\\.\n"
        );
        assert_eq!(
            String::from_utf8(written(options(CopyFormat::Csv), &rows)).unwrap(),
            "1,\"a\tb\\\n\"\n,\n2,\"\"\n3,\"say \"\"hi\"\", you\"\n4,\"\\.\"\n"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            rows in proptest::collection::vec((any::<i32>(), proptest::option::of("[a\\\\\t\n\r\"',.x ]{0,9}")), 0..6),
            size in 1usize..40,
        ) {
            let rows: Vec<InRow> = rows
                .into_iter()
                .map(|(number, text)| vec![Value::Integer(number.into()), text.map_or(Value::Null, Value::Text)])
                .collect();
            for format in [CopyFormat::Text, CopyFormat::Csv, CopyFormat::Binary] {
                let data = written(options(format), &rows);
                prop_assert_eq!(&read(options(format), &data, size).unwrap(), &rows, "{:?}", format);
            }
        }

        #[test]
        fn random_bytes_are_rows_or_an_error(data in proptest::collection::vec(any::<u8>(), 0..80), size in 1usize..9) {
            for format in [CopyFormat::Text, CopyFormat::Csv, CopyFormat::Binary] {
                let _ = read(options(format), &data, size);
                let signed = [SIGNATURE.as_slice(), &[0; 8], &data].concat();
                let _ = read(options(format), &signed, size);
            }
        }
    }
}
