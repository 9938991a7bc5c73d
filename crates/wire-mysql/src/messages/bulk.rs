//! MariaDB: many rows of values for one prepared statement, in one message.

use rowferry_wire::{Malformed, Reader, Writer};

use super::command::Command;
use super::resultset::{DateTime, Time};
use super::statement::{Bind, StatementId};
use crate::lenenc;
use crate::types::{BinaryForm, ColumnType};

/// The types of the parameters stand in front of the rows.
const SEND_TYPES: u16 = 0x80;
/// Each row is answered by its own affected rows and insert id (MariaDB 11.5).
const UNIT_RESULTS: u16 = 0x40;

/// Command, statement and flags.
const HEAD: usize = 7;

/// The sign byte of an unsigned integer.
const UNSIGNED: u8 = 0x80;

/// What stands in front of each value.
mod indicator {
    pub(super) const VALUE: u8 = 0;
    pub(super) const NULL: u8 = 1;
    pub(super) const DEFAULT: u8 = 2;
    pub(super) const IGNORE: u8 = 3;
}

/// An integer up to this much is a double without loss.
const EXACT_DOUBLE: u64 = 1 << 53;

/// Type code and sign byte of a parameter.
type ParamType = (ColumnType, u8);

const NO_TYPE: ParamType = (ColumnType::NULL, 0);
const INT: ParamType = (ColumnType::LONGLONG, 0);
const UINT: ParamType = (ColumnType::LONGLONG, UNSIGNED);
const DOUBLE: ParamType = (ColumnType::DOUBLE, 0);
const DECIMAL: ParamType = (ColumnType::NEWDECIMAL, 0);

/// A type that holds the values of both without a change, where there is one.
fn common(one: ParamType, other: ParamType) -> Option<ParamType> {
    let either = |wanted: ParamType| one == wanted || other == wanted;
    let is_int = |one: ParamType| one == INT || one == UINT;
    match (is_int(one), is_int(other)) {
        (true, true) => Some(DECIMAL),
        (true, _) | (_, true) if either(DOUBLE) => Some(DOUBLE),
        (true, _) | (_, true) if either(DECIMAL) => Some(DECIMAL),
        _ => None,
    }
}

/// What became of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowFit {
    /// It is in.
    Fits,
    /// A value is of another type than those before it in its column: the row begins the next message.
    OtherTypes,
    /// It has this many values.
    WrongCount(usize),
}

/// Rows for one execution of a prepared statement.
///
/// Wire: `FA`, statement id `u32le`, flags `u16le`, type and sign of each parameter, then for each value of each row an
/// indicator (`00` value, `01` NULL, `02` the column's default, `03` leave the column alone) and the value.
///
/// A column has one type in a message. It is that of its first value that is not NULL; integers join doubles and exact
/// numbers where nothing is lost. For anything else [`end_row`](BulkRows::end_row) says that the row needs another
/// message, so that a value means the same as if it were sent alone.
#[derive(Clone, Debug, Default)]
pub struct BulkRows {
    statement: Option<StatementId>,
    payload: Vec<u8>,
    types: Vec<ParamType>,
    /// The column's type has been used in this message.
    used: Vec<bool>,
    /// The type that columns of mixed numbers begin with.
    mixed: Vec<ParamType>,
    at: usize,
    row: usize,
    rows: usize,
    misfit: bool,
}

impl BulkRows {
    /// For a statement of so many parameters.
    pub fn new(params: usize) -> Self {
        Self { mixed: vec![NO_TYPE; params], ..Self::default() }
    }

    /// Begins a message for `statement`. `unit_results` asks for an answer that tells the rows apart.
    pub fn begin(&mut self, statement: StatementId, unit_results: bool) {
        let flags = SEND_TYPES | if unit_results { UNIT_RESULTS } else { 0 };
        self.statement = Some(statement);
        self.payload.clear();
        Writer::new(&mut self.payload).u8(Command::STMT_BULK_EXECUTE.0).u32_le(statement.0).u16_le(flags);
        self.payload.resize(HEAD + 2 * self.mixed.len(), 0);
        self.types.clone_from(&self.mixed);
        self.used.clear();
        self.used.resize(self.mixed.len(), false);
        self.rows = 0;
        self.begin_row();
    }

    /// Begins the next row; without [`end_row`](Self::end_row) the one before is dropped.
    pub fn begin_row(&mut self) {
        if self.at > 0 {
            self.payload.truncate(self.row);
        }
        self.at = 0;
        self.row = self.payload.len();
        self.misfit = false;
    }

    /// Ends the row and says whether it is part of the message.
    pub fn end_row(&mut self) -> RowFit {
        let fit = match self.at {
            count if count != self.mixed.len() => RowFit::WrongCount(count),
            _ if self.misfit => RowFit::OtherTypes,
            _ => RowFit::Fits,
        };
        if fit == RowFit::Fits {
            self.rows += 1;
            self.at = 0;
        } else {
            self.begin_row();
        }
        fit
    }

    /// Takes the last row out again.
    pub fn drop_last(&mut self) {
        self.payload.truncate(self.row);
        self.rows -= 1;
    }

    /// What is executed; the statement prepared last before [`begin`](Self::begin) said.
    pub fn statement(&self) -> StatementId {
        self.statement.unwrap_or(StatementId::LAST_PREPARED)
    }

    /// How many rows there are.
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The whole message.
    pub fn encode(&mut self) -> &[u8] {
        for (place, (column_type, sign)) in self.payload[HEAD..].chunks_exact_mut(2).zip(&self.types) {
            place.copy_from_slice(&[column_type.0, *sign]);
        }
        &self.payload
    }

    /// How many bytes the message has so far.
    pub fn size(&self) -> usize {
        self.payload.len()
    }

    /// The column's default value.
    pub fn default_value(&mut self) {
        self.at += 1;
        self.payload.push(indicator::DEFAULT);
    }

    /// Leaves the column as it is; for UPDATE.
    pub fn leave(&mut self) {
        self.at += 1;
        self.payload.push(indicator::IGNORE);
    }

    /// A place for a value of this type, if the column has it or has had no value yet.
    #[inline]
    fn place(&mut self, wanted: ParamType) -> Option<Writer<'_>> {
        let at = self.at;
        self.at += 1;
        let known = self.types.get_mut(at)?;
        if *known != wanted {
            if self.used[at] {
                self.mixed[at] = common(*known, wanted).unwrap_or(NO_TYPE);
                self.misfit = true;
                return None;
            }
            *known = wanted;
        }
        self.used[at] = true;
        let mut writer = Writer::new(&mut self.payload);
        writer.u8(indicator::VALUE);
        Some(writer)
    }

    fn column_type(&self) -> ParamType {
        self.types.get(self.at).copied().unwrap_or(NO_TYPE)
    }

    fn put_bytes(&mut self, column_type: ColumnType, value: &[u8]) {
        if let Some(mut writer) = self.place((column_type, 0)) {
            lenenc::put_bytes(&mut writer, value);
        }
    }
}

impl Bind for BulkRows {
    fn null(&mut self) {
        self.at += 1;
        self.payload.push(indicator::NULL);
    }

    fn int(&mut self, value: i64) {
        match self.column_type() {
            DOUBLE if value.unsigned_abs() <= EXACT_DOUBLE => self.double(value as f64),
            DECIMAL => self.decimal(value.to_string().as_bytes()),
            _ => {
                if let Some(mut writer) = self.place(INT) {
                    writer.u64_le(value as u64);
                }
            }
        }
    }

    fn uint(&mut self, value: u64) {
        match self.column_type() {
            DECIMAL => self.decimal(value.to_string().as_bytes()),
            _ => {
                if let Some(mut writer) = self.place(UINT) {
                    writer.u64_le(value);
                }
            }
        }
    }

    fn double(&mut self, value: f64) {
        if let Some(mut writer) = self.place(DOUBLE) {
            writer.f64_le(value);
        }
    }

    fn text(&mut self, value: &[u8]) {
        self.put_bytes(ColumnType::VAR_STRING, value);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.put_bytes(ColumnType::LONG_BLOB, value);
    }

    fn decimal(&mut self, value: &[u8]) {
        self.put_bytes(ColumnType::NEWDECIMAL, value);
    }

    fn date(&mut self, value: DateTime) {
        if let Some(writer) = self.place((ColumnType::DATE, 0)) {
            value.encode(writer.bytes);
        }
    }

    fn datetime(&mut self, value: DateTime) {
        if let Some(writer) = self.place((ColumnType::DATETIME, 0)) {
            value.encode(writer.bytes);
        }
    }

    fn time(&mut self, value: Time) {
        if let Some(writer) = self.place((ColumnType::TIME, 0)) {
            value.encode(writer.bytes);
        }
    }
}

/// A value of a row, as the server reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BulkValue {
    /// The body of a value of its column's type, without the length in front.
    Value(Vec<u8>),
    /// NULL.
    Null,
    /// The column's default.
    Default,
    /// The column stays as it is.
    Leave,
}

/// The message, taken apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BulkExecute {
    /// What to execute.
    pub statement: StatementId,
    /// The rows shall be told apart in the answer.
    pub unit_results: bool,
    /// Type code and sign byte of each parameter.
    pub types: Vec<(ColumnType, u8)>,
    /// In order.
    pub rows: Vec<Vec<BulkValue>>,
}

impl BulkExecute {
    /// Decodes a payload for a statement of `params` parameters, which must be more than none.
    pub fn decode(payload: &[u8], params: usize) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("command")? != Command::STMT_BULK_EXECUTE.0 || params == 0 {
            return Err(Malformed::new("command"));
        }
        let statement = StatementId(reader.u32_le("statement id")?);
        let flags = reader.u16_le("bulk flags")?;
        let mut types = Vec::new();
        for _ in 0..params {
            let [code, sign] = reader.array("parameter type")?;
            types.push((ColumnType(code), sign));
        }
        let mut rows = Vec::new();
        while !reader.is_empty() {
            let row = types.iter().map(|(column_type, _)| value(&mut reader, *column_type));
            rows.push(row.collect::<Result<_, _>>()?);
        }
        Ok(Self { statement, unit_results: flags & UNIT_RESULTS != 0, types, rows })
    }
}

fn value(reader: &mut Reader<'_>, column_type: ColumnType) -> Result<BulkValue, Malformed> {
    match reader.u8("indicator")? {
        indicator::NULL => return Ok(BulkValue::Null),
        indicator::DEFAULT => return Ok(BulkValue::Default),
        indicator::IGNORE => return Ok(BulkValue::Leave),
        indicator::VALUE => {}
        _ => return Err(Malformed::new("indicator")),
    }
    let body = match column_type.binary_form().ok_or(Malformed::new("parameter type"))? {
        BinaryForm::Fixed(width) => reader.take(width, "value")?,
        BinaryForm::Temporal => {
            let width = reader.u8("value length")?;
            reader.take(usize::from(width), "value")?
        }
        BinaryForm::Bytes => lenenc::bytes(reader, "value")?,
        BinaryForm::Nothing => &[],
    };
    Ok(BulkValue::Value(body.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> BulkValue {
        BulkValue::Value(value.to_le_bytes().to_vec())
    }

    fn decoded(rows: &mut BulkRows, params: usize) -> BulkExecute {
        BulkExecute::decode(rows.encode(), params).expect("our own message")
    }

    #[test]
    fn a_message_says_each_columns_type_once() {
        let mut rows = BulkRows::new(2);
        rows.begin(StatementId(5), true);
        rows.int(-1);
        rows.null();
        assert_eq!(rows.end_row(), RowFit::Fits);
        rows.begin_row();
        rows.null();
        rows.text(b"ab");
        assert_eq!(rows.end_row(), RowFit::Fits);
        let head = [0xfa, 5, 0, 0, 0, 0xc0, 0, 0x08, 0, 0xfd, 0];
        let body = [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 0, 2, b'a', b'b'];
        assert_eq!(rows.encode(), [&head[..], &body].concat());
        let message = decoded(&mut rows, 2);
        assert_eq!((message.statement, message.unit_results), (StatementId(5), true));
        let text = BulkValue::Value(b"ab".to_vec());
        assert_eq!(message.rows, [vec![int(-1), BulkValue::Null], vec![BulkValue::Null, text]]);
    }

    #[test]
    fn a_row_of_other_types_begins_the_next_message() {
        let mut rows = BulkRows::new(2);
        rows.begin(StatementId(1), false);
        for value in [1, 2] {
            rows.begin_row();
            rows.int(value);
            rows.text(b"x");
            assert_eq!(rows.end_row(), RowFit::Fits);
        }
        rows.begin_row();
        rows.text(b"three");
        rows.text(b"y");
        assert_eq!(rows.end_row(), RowFit::OtherTypes);
        assert_eq!((rows.len(), decoded(&mut rows, 2).rows.len()), (2, 2));
        rows.begin(StatementId(1), false);
        rows.text(b"three");
        rows.text(b"y");
        assert_eq!(rows.end_row(), RowFit::Fits);
        assert_eq!(decoded(&mut rows, 2).types[0].0, ColumnType::VAR_STRING);
    }

    #[test]
    fn integers_join_doubles_and_exact_numbers_where_nothing_is_lost() {
        let mut rows = BulkRows::new(2);
        let row = |rows: &mut BulkRows, float: Option<f64>, whole: i64| {
            rows.begin_row();
            match float {
                Some(value) => rows.double(value),
                None => rows.int(whole),
            }
            if whole < 0 {
                rows.uint(u64::MAX)
            } else {
                rows.int(whole)
            }
            rows.end_row()
        };
        rows.begin(StatementId(1), false);
        assert_eq!(row(&mut rows, None, 1), RowFit::Fits);
        assert_eq!(row(&mut rows, Some(0.5), -1), RowFit::OtherTypes);
        rows.begin(StatementId(1), false);
        assert_eq!(row(&mut rows, Some(0.5), -1), RowFit::Fits);
        assert_eq!(row(&mut rows, None, 3), RowFit::Fits);
        // One more than a double can tell from its neighbour.
        assert_eq!(row(&mut rows, None, (1 << 53) + 1), RowFit::OtherTypes);
        let message = decoded(&mut rows, 2);
        assert_eq!([message.types[0].0, message.types[1].0], [ColumnType::DOUBLE, ColumnType::NEWDECIMAL]);
        assert_eq!(message.rows[0][1], BulkValue::Value(b"18446744073709551615".to_vec()));
        assert_eq!(message.rows[1][0], BulkValue::Value(3_f64.to_le_bytes().to_vec()));
        // Alone in a message it keeps its own type.
        rows.begin(StatementId(1), false);
        assert_eq!(row(&mut rows, None, (1 << 53) + 1), RowFit::Fits);
        assert_eq!(decoded(&mut rows, 2).types[0].0, ColumnType::LONGLONG);
    }

    #[test]
    fn a_row_with_too_few_or_too_many_values_leaves_no_trace() {
        let mut rows = BulkRows::new(2);
        rows.begin(StatementId(1), false);
        rows.int(1);
        rows.default_value();
        assert_eq!(rows.end_row(), RowFit::Fits);
        for count in [0, 1, 3] {
            rows.begin_row();
            (0..count).for_each(|_| rows.int(9));
            assert_eq!(rows.end_row(), RowFit::WrongCount(count));
        }
        rows.begin_row();
        rows.int(2);
        rows.leave();
        assert_eq!(rows.end_row(), RowFit::Fits);
        rows.begin_row();
        rows.int(3);
        rows.null();
        assert_eq!(rows.end_row(), RowFit::Fits);
        rows.drop_last();
        let expected = [vec![int(1), BulkValue::Default], vec![int(2), BulkValue::Leave]];
        assert_eq!(decoded(&mut rows, 2).rows, expected);
    }

    #[test]
    fn a_message_cut_anywhere_is_shorter_or_malformed() {
        let mut rows = BulkRows::new(2);
        rows.begin(StatementId(1), false);
        rows.bytes(b"abc");
        rows.date(DateTime { year: 2026, month: 11, day: 21, ..DateTime::default() });
        assert_eq!(rows.end_row(), RowFit::Fits);
        let whole = rows.encode().to_vec();
        for cut in 0..whole.len() {
            assert!(BulkExecute::decode(&whole[..cut], 2).map_or(true, |short| short.rows.is_empty()), "{cut}");
        }
    }
}
