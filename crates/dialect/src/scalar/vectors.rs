//! What only columns of the catalogs are: `int2vector`, `oidvector`, `aclitem`. Clients are told these types; statements
//! see arrays of numbers and of texts, so that they are in no list of types that can be named.

use super::{Casts, Modifiers, Order, Scalar, as_stored, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::invalid_syntax;
use crate::{Condition, Error, Result};

const OF_INT2: &str = "int2vector";
const OF_OID: &str = "oidvector";
const ACL: &str = "aclitem";

/// Numbers with blanks between, which in binary are an array whose members count from 0.
pub static INT2VECTOR: Scalar = Scalar {
    send: |out, value| {
        let write = |out: &mut Vec<u8>, member: &str| {
            let member: i16 = member.parse().map_err(|_| invalid_syntax(OF_INT2, member))?;
            out.extend_from_slice(&2_i32.to_be_bytes());
            out.extend_from_slice(&member.to_be_bytes());
            Ok(())
        };
        send_vector(out, stored_text(value)?, 21, write)
    },
    ..vector(OF_INT2, 22)
};

/// The same of object ids.
pub static OIDVECTOR: Scalar = Scalar {
    send: |out, value| {
        let write = |out: &mut Vec<u8>, member: &str| {
            let member: u32 = member.parse().map_err(|_| invalid_syntax(OF_OID, member))?;
            out.extend_from_slice(&4_i32.to_be_bytes());
            out.extend_from_slice(&member.to_be_bytes());
            Ok(())
        };
        send_vector(out, stored_text(value)?, 26, write)
    },
    ..vector(OF_OID, 30)
};

/// What one role may do, as granted by another; it has no binary format in PostgreSQL either.
pub static ACLITEM: Scalar = Scalar {
    send: |_, _| {
        let message = "no binary output function available for type aclitem";
        Err(Error::new(Condition::UndefinedFunction, message))
    },
    ..vector(ACL, 1_033)
};

const fn vector(name: &'static str, oid: u32) -> Scalar {
    Scalar {
        name,
        words: name,
        oid,
        delimiter: ',',
        storage: Storage::Text,
        order: Order::None,
        modifiers: Modifiers::None,
        casts: Casts::TEXT,
        input: |text, _| Ok(Value::Text(text.to_owned())),
        output: as_stored,
        receive: |_| Err(Error::internal("a vector of the catalogs came in binary")),
        send: |_, _| Ok(()),
    }
}

fn send_vector(
    out: &mut Vec<u8>,
    members: &str,
    element: u32,
    write: impl Fn(&mut Vec<u8>, &str) -> Result<()>,
) -> Result<()> {
    const DIMENSIONS: i32 = 1;
    const NO_NULLS: i32 = 0;
    const FIRST: i32 = 0;
    let count = members.split_ascii_whitespace().count();
    let count = i32::try_from(count).map_err(|_| Error::internal("a vector of the catalogs without end"))?;
    for head in [DIMENSIONS, NO_NULLS] {
        out.extend_from_slice(&head.to_be_bytes());
    }
    out.extend_from_slice(&element.to_be_bytes());
    for head in [count, FIRST] {
        out.extend_from_slice(&head.to_be_bytes());
    }
    members.split_ascii_whitespace().try_for_each(|member| write(out, member))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::ValueRef;

    #[test]
    fn members_count_from_zero_in_binary() {
        let mut out = Vec::new();
        (INT2VECTOR.send)(&mut out, ValueRef::Text(b"2 -1")).unwrap();
        let head = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 21, 0, 0, 0, 2, 0, 0, 0, 0];
        assert_eq!(out, [&head[..], &[0, 0, 0, 2, 0, 2], &[0, 0, 0, 2, 0xff, 0xff]].concat());
        assert!((OIDVECTOR.send)(&mut out, ValueRef::Text(b"x")).is_err());
    }
}
