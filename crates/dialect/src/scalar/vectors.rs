//! What mostly columns of the catalogs are: `int2vector`, `oidvector`, `aclitem`, `pg_node_tree`. Vectors of the catalogs
//! themselves are arrays to statements, which clients are told as vectors; one that a statement makes is its text.

use serde_json::Value as Json;

use super::{Casts, Modifiers, Order, Scalar, as_stored, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::array::{Array, Dimension};
use crate::values::invalid_syntax;
use crate::{Condition, Error, Result, Type};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&INT2VECTOR, &OIDVECTOR, &ACLITEM, &PG_NODE_TREE];

const OF_INT2: &str = "int2vector";
const OF_OID: &str = "oidvector";

/// Numbers with blanks between, which in binary are an array whose members count from 0.
pub static INT2VECTOR: Scalar = Scalar {
    input: |text, _| {
        read(text, |member| match member.parse::<i64>() {
            Ok(number) => i16::try_from(number).map(i64::from).map_err(|_| {
                let message = format!("value \"{member}\" is out of range for type smallint");
                Error::new(Condition::NumericValueOutOfRange, message)
            }),
            Err(_) => Err(invalid_syntax("smallint", member)),
        })
    },
    casts: Casts { into: |value, to| of_vector(value, to, &Type::Int2), ..Casts::TEXT },
    receive: |bytes| receive(bytes, 21, OF_INT2, |bytes| Some(i64::from(i16::from_be_bytes(bytes.try_into().ok()?)))),
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
    input: |text, _| {
        read(text, |member| {
            let number = member.parse::<i64>().map_err(|_| invalid_syntax("oid", member))?;
            match (u32::try_from(number), i32::try_from(number)) {
                (Ok(oid), _) => Ok(i64::from(oid)),
                // As PostgreSQL reads one with a sign.
                (_, Ok(negative)) => Ok(i64::from(negative as u32)),
                _ => {
                    let message = format!("value \"{member}\" is out of range for type oid");
                    Err(Error::new(Condition::NumericValueOutOfRange, message))
                }
            }
        })
    },
    casts: Casts { into: |value, to| of_vector(value, to, &Type::Oid), ..Casts::TEXT },
    receive: |bytes| receive(bytes, 26, OF_OID, |bytes| Some(i64::from(u32::from_be_bytes(bytes.try_into().ok()?)))),
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
    order: Order::Unordered,
    input: |text, _| crate::access::read_item(text).map(Value::Text),
    receive: |_| {
        let message = "no binary input function available for type aclitem";
        Err(Error::new(Condition::UndefinedFunction, message))
    },
    send: |_, _| {
        let message = "no binary output function available for type aclitem";
        Err(Error::new(Condition::UndefinedFunction, message))
    },
    ..vector("aclitem", 1_033)
};

/// An expression of the catalogs: to be printed by `pg_get_expr`, and by nobody to be made.
pub static PG_NODE_TREE: Scalar = Scalar {
    input: |_, _| Err(no_tree()),
    receive: |_| Err(no_tree()),
    send: |out, value| {
        out.extend_from_slice(stored_text(value)?.as_bytes());
        Ok(())
    },
    ..vector("pg_node_tree", 194)
};

fn no_tree() -> Error {
    Error::new(Condition::FeatureNotSupported, "cannot accept a value of type pg_node_tree")
}

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
        receive: |_| Err(Error::internal("a value of the catalogs came in binary")),
        send: |_, _| Ok(()),
    }
}

/// The type of the array that a vector becomes; `None` for what is no vector.
pub fn array_of(ty: &Type) -> Option<Type> {
    match ty {
        Type::Scalar(scalar, _) if **scalar == INT2VECTOR => Some(Type::Array(Box::new(Type::Int2))),
        Type::Scalar(scalar, _) if **scalar == OIDVECTOR => Some(Type::Array(Box::new(Type::Oid))),
        _ => None,
    }
}

/// The text of a vector from one with any blanks between.
fn read(text: &str, member: impl Fn(&str) -> Result<i64>) -> Result<Value> {
    let members = text.split_ascii_whitespace().map(|word| member(word).map(|number| number.to_string()));
    Ok(Value::Text(members.collect::<Result<Vec<_>>>()?.join(" ")))
}

/// A vector as the array that it is, whose members count from 0.
fn of_vector(value: &Value, to: &Type, element: &Type) -> Option<Result<Value>> {
    let (Value::Text(text), Type::Array(wanted)) = (value, to) else { return None };
    if **wanted != *element {
        return None;
    }
    let members = text.split_ascii_whitespace().map(|word| word.parse::<i64>().map(Json::from));
    let Ok(members) = members.collect::<std::result::Result<Vec<_>, _>>() else { return Some(Err(super::corrupted())) };
    let dimension = Dimension { lower: 0, length: members.len() };
    Some(Array::with_bounds(vec![dimension], members).stored().map(Value::Text))
}

/// A vector from the binary form of an array of one dimension.
fn receive(bytes: &[u8], element: u32, name: &str, member: impl Fn(&[u8]) -> Option<i64>) -> Result<Value> {
    let invalid = || {
        let message = format!("invalid {name} data");
        Error::new(Condition::InvalidBinaryRepresentation, message)
    };
    let number = |at: usize| -> Result<i32> {
        let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(i32::from_be_bytes).ok_or_else(invalid)
    };
    let (dimensions, nulls, of) = (number(0)?, number(4)?, number(8)?);
    if !(0..=1).contains(&dimensions) || nulls != 0 || of as u32 != element {
        return Err(invalid());
    }
    let count = if dimensions == 0 { 0 } else { number(12)? };
    let mut rest = bytes.get(if dimensions == 0 { 12 } else { 20 }..).ok_or_else(invalid)?;
    let mut words = Vec::new();
    for _ in 0..count {
        let (length, members) = rest.split_at_checked(4).ok_or_else(invalid)?;
        let length = i32::from_be_bytes(super::fixed(length, name)?);
        let length = usize::try_from(length).map_err(|_| invalid())?;
        let (value, others) = members.split_at_checked(length).ok_or_else(invalid)?;
        words.push(member(value).ok_or_else(invalid)?.to_string());
        rest = others;
    }
    if rest.is_empty() { Ok(Value::Text(words.join(" "))) } else { Err(invalid()) }
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
    use super::super::round_trip::{check, refuses};
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

    #[test]
    fn vectors_are_read_with_any_blanks_between() {
        check(&INT2VECTOR, &[("11 22 33", "11 22 33"), (" 1  -2 ", "1 -2"), ("", "")]);
        check(&OIDVECTOR, &[("1 4294967295", "1 4294967295"), ("-1", "4294967295")]);
        let syntax = "invalid input syntax for type smallint: \"1,2\"";
        let range = "value \"70000\" is out of range for type smallint";
        refuses(&INT2VECTOR, &[("1,2", syntax), ("70000", range)]);
        let array = of_vector(&Value::Text("11 22".to_owned()), &Type::Array(Box::new(Type::Int2)), &Type::Int2);
        assert_eq!(array.unwrap().unwrap(), Value::Text("{\"lower\":[0],\"members\":[11,22]}".to_owned()));
    }

    #[test]
    fn lists_of_privileges_are_read_as_postgresql_does() {
        let settings = crate::values::Settings::default();
        let read = |text| (ACLITEM.input)(text, &settings).map_err(|error| error.message.clone());
        assert_eq!(read("ada=r/bob"), Ok(Value::Text("ada=r/bob".to_owned())));
        assert_eq!(read(" group ada=wr*a/\"b b\""), Ok(Value::Text("ada=ar*w/\"b b\"".to_owned())));
        assert_eq!(read("=q/bob"), Err("invalid mode character: must be one of \"arwdDxtXUCTcsA\"".to_owned()));
        assert_eq!(read("=r/"), Err("a name must follow the \"/\" sign".to_owned()));
        assert_eq!(read("ada"), Err("unrecognized key word: \"ada\"".to_owned()));
        assert_eq!(read("ada=r/bob x"), Err("extra garbage at the end of the ACL specification".to_owned()));
    }
}
