//! Rows in binary format: the number of fields, then of each its type, its length and its value.

use rowferry_dialect::composite::{Field, live};
use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::types;
use rowferry_dialect::values::record::{self, Row};
use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_engine::{Condition, Error, Result, Type};
use rowferry_wire::Reader;

use super::binary_in::{self, malformed};
use super::binary_out;

/// Writes a row.
pub(super) fn write(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    let ValueRef::Text(stored) = value else { return Err(values::misfit(value, ty)) };
    let row = Row::read(stored, ty)?;
    let fields = row.live()?;
    out.extend_from_slice(&(fields.len() as u32).to_be_bytes());
    for (field, value) in fields {
        out.extend_from_slice(&types::oid(&field.ty).to_be_bytes());
        if value == Value::Null {
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            continue;
        }
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        binary_out::writer(&field.ty)?(out, value.as_ref(), &field.ty, settings)?;
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Reads a row of a type with a name.
pub(super) fn read(reader: &mut Reader<'_>, ty: &Type, settings: &Settings) -> Result<Value> {
    let fields: &[Field] = match ty {
        Type::Record(_) => {
            let message = "input of anonymous composite types is not implemented";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        ty => ty.row_fields().unwrap_or_default(),
    };
    let count = reader.u32("number of fields").map_err(malformed)?;
    let wanted = live(fields).count();
    if count as usize != wanted {
        let message = format!("wrong number of columns: {count}, expected {wanted}");
        return Err(Error::new(Condition::DatatypeMismatch, message));
    }
    let mut made = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        if field.dropped {
            made.push(Value::Null);
            continue;
        }
        let (oid, wanted) = (reader.u32("type of a field").map_err(malformed)?, types::oid(&field.ty));
        if oid != wanted {
            let message = format!(
                "binary data has type {oid} ({}) instead of expected {wanted} ({}) in record column {}",
                types::from_oid(oid).map_or_else(|| "???".to_owned(), |ty| types::words(&ty)),
                types::words(&field.ty),
                at + 1
            );
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        made.push(match reader.i32("length of a field").map_err(malformed)? {
            -1 => Value::Null,
            length => {
                let wrong = |_| malformed(rowferry_wire::Malformed::new("length of a field"));
                let bytes = reader.take(usize::try_from(length).map_err(wrong)?, "field").map_err(malformed)?;
                binary_in::read(bytes, &field.ty, settings)?
            }
        });
    }
    record::stored(made.iter().map(Value::as_ref)).map(Value::Text)
}
