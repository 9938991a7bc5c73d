//! The functions of PostgreSQL's large objects, which are one here.

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result};

use super::{Call, Row};
use crate::large_objects::Call as Asked;

pub(super) const ROWS: &[Row] = &[Row::new("rf_large_object", 1, large_object).variadic().volatile()];

fn large_object(call: &Call<'_>) -> Result<Value> {
    let number = |at| Ok(call.integer(at)? as i32);
    let asked = match call.text(0)? {
        "create" => Asked::Create(oid(call, 1)?),
        "from bytes" => Asked::FromBytes(oid(call, 1)?, call.bytes(2)?),
        "open" => Asked::Open(oid(call, 1)?, number(2)?),
        "close" => Asked::Close(number(1)?),
        "read" => Asked::Read(number(1)?, number(2)?),
        "write" => Asked::Write(number(1)?, call.bytes(2)?),
        "seek" => Asked::Seek(number(1)?, call.integer(2)?, number(3)?, false),
        "seek64" => Asked::Seek(number(1)?, call.integer(2)?, number(3)?, true),
        "tell" => Asked::Tell(number(1)?, false),
        "tell64" => Asked::Tell(number(1)?, true),
        "truncate" => Asked::Truncate(number(1)?, call.integer(2)?),
        "unlink" => Asked::Unlink(oid(call, 1)?),
        "get" if call.len() == 2 => Asked::Get(oid(call, 1)?, None),
        "get" => Asked::Get(oid(call, 1)?, Some((call.integer(2)?, number(3)?))),
        "put" => Asked::Put(oid(call, 1)?, call.integer(2)?, call.bytes(3)?),
        // Files of the server are nobody's to read or write here, as they are to ordinary roles in PostgreSQL.
        "import" => return Err(denied("lo_import")),
        "export" => return Err(denied("lo_export")),
        other => return Err(Error::internal(format!("\"{other}\" of a large object"))),
    };
    call.context().state().large_object(asked)
}

fn oid(call: &Call<'_>, at: usize) -> Result<u32> {
    let value = call.integer(at)?;
    u32::try_from(value)
        .map_err(|_| Error::new(Condition::NumericValueOutOfRange, format!("\"{value}\" is no object identifier")))
}

fn denied(function: &str) -> Error {
    Error::new(Condition::InsufficientPrivilege, format!("permission denied for function {function}"))
}
