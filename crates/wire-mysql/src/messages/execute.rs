//! The values of an execution, as a server reads them.

use rowferry_wire::{Malformed, Reader};

use super::resultset::{DateTime, Time};
use super::statement::StatementId;
use crate::lenenc;
use crate::types::{BinaryForm, ColumnType};

/// A prepared statement is to be run.
///
/// Wire: statement id `u32le`, flags `u8` (what cursor), iterations `u32le` (1), then what
/// [`Params`](super::statement::Params) says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Execution<'a> {
    /// The statement.
    pub statement: StatementId,
    /// See [`cursor_flag`].
    pub flags: u8,
    /// The values: for [`values`](Self::values), as only the statement knows how many there are.
    rest: &'a [u8],
}

/// Flags of an execution.
pub mod cursor_flag {
    /// The rows are to be fetched.
    pub const READ_ONLY: u8 = 0x01;
    /// The rows are to be fetched, and will be changed where the cursor stands.
    pub const FOR_UPDATE: u8 = 0x02;
    /// The cursor can go back.
    pub const SCROLLABLE: u8 = 0x04;
}

/// What a client says that a value is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ParamType {
    /// The code.
    pub column_type: ColumnType,
    /// The number has no sign.
    pub unsigned: bool,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue<'a> {
    /// NULL.
    Null,
    /// A number.
    Int(i64),
    /// A number without sign.
    Uint(u64),
    /// A single.
    Float(f32),
    /// A double.
    Double(f64),
    /// Text, bytes, or an exact number as text: its type says which.
    Bytes(&'a [u8]),
    /// A date, or a date and time.
    DateTime(DateTime),
    /// A duration.
    Time(Time),
    /// It has come piece by piece.
    Long,
}

impl<'a> Execution<'a> {
    /// As in `Params`: there are as many values as are said, attributes included.
    const COUNT_FOLLOWS: u8 = 0x08;

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let statement = StatementId(reader.u32_le("statement id")?);
        let flags = reader.u8("execution flags")?;
        if reader.u32_le("iterations")? != 1 {
            return Err(Malformed::new("iterations"));
        }
        Ok(Self { statement, flags: flags & !Self::COUNT_FOLLOWS, rest: reader.rest() })
    }

    /// The values of a statement's `count` parameters. `types` are what the client has said last; it says them anew, or
    /// means the same. `is_long` tells which values have come piece by piece.
    pub fn values(
        &self,
        count: usize,
        types: &mut Vec<ParamType>,
        is_long: impl Fn(usize) -> bool,
    ) -> Result<Vec<ParamValue<'a>>, Malformed> {
        let mut reader = Reader::new(self.rest);
        if count == 0 {
            return Ok(Vec::new());
        }
        let nulls = reader.take(count.div_ceil(8), "NULL bits")?;
        if reader.u8("types follow")? != 0 {
            reader.fits(count, 2, "types")?;
            types.clear();
            for _ in 0..count {
                let [code, sign] = reader.array("type")?;
                types.push(ParamType { column_type: ColumnType(code), unsigned: sign & 0x80 != 0 });
            }
        }
        if types.len() != count {
            return Err(Malformed::new("types of the values"));
        }
        let mut values = Vec::with_capacity(count);
        for (at, ty) in types.iter().enumerate() {
            let is_null = nulls[at / 8] >> (at % 8) & 1 == 1;
            values.push(match () {
                () if is_long(at) => ParamValue::Long,
                () if is_null => ParamValue::Null,
                () => value(&mut reader, *ty)?,
            });
        }
        // What stands behind them is nobody's: mysql2 for Node leaves a byte there for each NULL, and MySQL takes it.
        Ok(values)
    }
}

fn value<'a>(reader: &mut Reader<'a>, ty: ParamType) -> Result<ParamValue<'a>, Malformed> {
    let number = |signed: i64, unsigned: u64| match ty.unsigned {
        true => ParamValue::Uint(unsigned),
        false => ParamValue::Int(signed),
    };
    let form = ty.column_type.binary_form().ok_or(Malformed::new("type of a value"))?;
    Ok(match form {
        BinaryForm::Nothing => ParamValue::Null,
        BinaryForm::Fixed(1) => {
            let byte = reader.u8("number")?;
            number(i64::from(byte.cast_signed()), u64::from(byte))
        }
        BinaryForm::Fixed(2) => {
            let word = reader.u16_le("number")?;
            number(i64::from(word.cast_signed()), u64::from(word))
        }
        _ if ty.column_type == ColumnType::FLOAT => ParamValue::Float(reader.f32_le("number")?),
        _ if ty.column_type == ColumnType::DOUBLE => ParamValue::Double(reader.f64_le("number")?),
        BinaryForm::Fixed(4) => {
            let word = reader.u32_le("number")?;
            number(i64::from(word.cast_signed()), u64::from(word))
        }
        BinaryForm::Fixed(_) => {
            let word = reader.u64_le("number")?;
            number(word.cast_signed(), word)
        }
        BinaryForm::Temporal => {
            let len = reader.u8("length of a date or time")?;
            let body = reader.take(usize::from(len), "date or time")?;
            match ty.column_type {
                ColumnType::TIME => ParamValue::Time(Time::decode(body)?),
                _ => ParamValue::DateTime(DateTime::decode(body)?),
            }
        }
        BinaryForm::Bytes => ParamValue::Bytes(lenenc::bytes(reader, "value")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::statement::Params;

    fn read(payload: &[u8]) -> Result<Execution<'_>, Malformed> {
        Execution::read(&mut Reader::new(&payload[1..]))
    }

    #[test]
    fn what_our_client_sends_comes_back() {
        let noon = DateTime { year: 2024, month: 2, day: 29, hour: 12, ..DateTime::default() };
        let hour = Time { negative: true, hours: 1, microseconds: 5, ..Time::default() };
        let mut params = Params::default();
        params.int(-5);
        params.null();
        params.uint(u64::MAX);
        params.double(0.5);
        params.text("é".as_bytes());
        params.datetime(noon);
        params.time(hour);
        params.long(false);
        params.decimal(b"1.50");
        let mut payload = Vec::new();
        params.encode_execute(StatementId(3), None, &mut payload);
        let execution = read(&payload).unwrap();
        assert_eq!((execution.statement, execution.flags), (StatementId(3), 0));
        let mut types = Vec::new();
        let values = execution.values(9, &mut types, |at| at == 7).unwrap();
        assert_eq!(
            values,
            [
                ParamValue::Int(-5),
                ParamValue::Null,
                ParamValue::Uint(u64::MAX),
                ParamValue::Double(0.5),
                ParamValue::Bytes("é".as_bytes()),
                ParamValue::DateTime(noon),
                ParamValue::Time(hour),
                ParamValue::Long,
                ParamValue::Bytes(b"1.50"),
            ]
        );
        assert_eq!(types[7].column_type, ColumnType::LONG_BLOB);
        // So it is with bytes behind the values.
        let longer = [payload.as_slice(), &[0, 0]].concat();
        assert_eq!(read(&longer).unwrap().values(9, &mut Vec::new(), |at| at == 7).unwrap(), values);
        // Cut anywhere behind its head it is refused.
        for cut in 10..payload.len() {
            assert!(read(&payload[..cut]).unwrap().values(9, &mut types, |at| at == 7).is_err(), "{cut}");
        }
    }

    #[test]
    fn types_said_once_hold() {
        let mut types = Vec::new();
        let first = [0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x03, 0x80, 9, 0, 0, 0];
        let again = [0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        assert!(read(&again).unwrap().values(1, &mut types, |_| false).is_err());
        assert_eq!(read(&first).unwrap().values(1, &mut types, |_| false).unwrap(), [ParamValue::Uint(9)]);
        assert_eq!(read(&again).unwrap().values(1, &mut types, |_| false).unwrap(), [ParamValue::Uint(0xffff_ffff)]);
    }
}
