//! Both formats of every type, against bytes that PostgreSQL sends.

use proptest::prelude::*;
use rowferry_dialect::ir::Value;
use rowferry_dialect::types::NumericModifier;

use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn binary(value: &Value, ty: &Type) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    binary_out::writer(ty)?(&mut out, value.as_ref(), ty, &Settings::default())?;
    Ok(out)
}

fn stored(text: &str, ty: &Type) -> Value {
    read(text.as_bytes(), ty, Format::TEXT, &Settings::default(), 1).unwrap()
}

/// Type, text, and the bytes of PostgreSQL's `send` function.
fn golden() -> Vec<(Type, &'static str, String)> {
    let text = |text: &str| hex(text.as_bytes());
    let array = |element: Type| Type::Array(Box::new(element));
    vec![
        (Type::Bool, "t", "01".into()),
        (Type::Bool, "f", "00".into()),
        (Type::Int2, "-32768", "8000".into()),
        (Type::Int4, "-1", "ffffffff".into()),
        (Type::Int8, "9223372036854775807", "7fffffffffffffff".into()),
        (Type::Oid, "4294967295", "ffffffff".into()),
        (Type::Float4, "1.5", "3fc00000".into()),
        (Type::Float8, "-0.1", "bfb999999999999a".into()),
        (Type::Float8, "Infinity", "7ff0000000000000".into()),
        (Type::Numeric(None), "12345.678", "0003000100000003000109291a7c".into()),
        (Type::Numeric(None), "-0.05", "0001ffff4000000201f4".into()),
        (Type::Numeric(None), "0", "0000000000000000".into()),
        (Type::Numeric(None), "100000000", "00010002000000000001".into()),
        (Type::Numeric(None), "NaN", "00000000c0000000".into()),
        (Type::Numeric(None), "Infinity", "00000000d0000020".into()),
        (Type::Numeric(None), "-Infinity", "00000000f0000020".into()),
        (Type::Text, "naïve", text("naïve")),
        (Type::Text, "", String::new()),
        (Type::Varchar(Some(9)), "abc", text("abc")),
        (Type::Char(5), "abc  ", text("abc  ")),
        (Type::Name, "pg_class", text("pg_class")),
        (Type::Json, "{\"a\": [1]}", text("{\"a\": [1]}")),
        (Type::Jsonb, "{\"a\": 1}", format!("01{}", text("{\"a\": 1}"))),
        (Type::Bytea, "\\x00ff", "00ff".into()),
        (Type::Date, "2000-01-01", "00000000".into()),
        (Type::Date, "1999-12-31", "ffffffff".into()),
        (Type::Date, "infinity", "7fffffff".into()),
        (Type::Date, "-infinity", "80000000".into()),
        (Type::Time(None), "00:00:01.5", "000000000016e360".into()),
        (Type::Time(None), "24:00:00", "000000141dd76000".into()),
        (Type::TimeTz(None), "00:00:01+02", "00000000000f4240ffffe3e0".into()),
        (Type::Timestamp(None), "2000-01-01 00:00:01.5", "000000000016e360".into()),
        (Type::Timestamp(None), "1999-12-31 23:59:59.999999", "ffffffffffffffff".into()),
        (Type::Timestamp(None), "infinity", "7fffffffffffffff".into()),
        (Type::TimestampTz(None), "2000-01-01 02:00:00+02", "0000000000000000".into()),
        (Type::Interval(None), "1 mon 2 days 00:00:03", "00000000002dc6c00000000200000001".into()),
        (Type::Interval(None), "-1 years", "000000000000000000000000fffffff4".into()),
        (Type::Uuid, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11".into()),
        (
            array(Type::Int4),
            "{1,NULL}",
            "0000000100000001000000170000000200000001000000040000000 1ffffffff".replace(' ', ""),
        ),
        (array(Type::Text), "{}", "000000000000000000000019".into()),
        (
            array(Type::Text),
            "{\"a,b\",\"\"}",
            "00000001000000000000001900000002000000010000000 3612c6200000000".replace(' ', ""),
        ),
    ]
}

#[test]
fn binary_output_is_postgresqls() {
    for (ty, text, expected) in golden() {
        let value = stored(text, &ty);
        assert_eq!(hex(&binary(&value, &ty).unwrap()), expected, "{ty:?} {text}");
    }
}

#[test]
fn binary_input_is_the_inverse() {
    for (ty, text, bytes) in golden() {
        let bytes: Vec<u8> =
            (0..bytes.len()).step_by(2).map(|at| u8::from_str_radix(&bytes[at..at + 2], 16).unwrap()).collect();
        let value = read(&bytes, &ty, Format::BINARY, &Settings::default(), 1).unwrap();
        assert_eq!(value, stored(text, &ty), "{ty:?} {text}");
        // Every strict prefix, and a byte too many, is refused where the width is the type's own.
        let fixed =
            !matches!(ty, Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name | Type::Json | Type::Jsonb)
                && ty != Type::Bytea;
        if fixed {
            for end in 0..bytes.len() {
                let cut = read(&bytes[..end], &ty, Format::BINARY, &Settings::default(), 7);
                assert!(cut.is_err(), "{ty:?} {text} cut at {end}");
            }
            let longer = [&bytes[..], &[0]].concat();
            let error = read(&longer, &ty, Format::BINARY, &Settings::default(), 7).unwrap_err();
            assert_eq!(error.condition(), Condition::InvalidBinaryRepresentation, "{ty:?} {text}");
            assert!(error.message.ends_with("bind parameter 7"), "{}", error.message);
        }
    }
}

#[test]
fn a_columns_scale_is_kept() {
    let ty = Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 }));
    assert_eq!(hex(&binary(&Value::Real(1.5), &ty).unwrap()), "000200000000000200011388");
    assert_eq!(hex(&binary(&Value::Integer(2), &ty).unwrap()), "00010000000000020002");
}

#[test]
fn values_of_another_storage_class_are_served_when_they_can_be() {
    assert_eq!(hex(&binary(&Value::Text("42".into()), &Type::Int4).unwrap()), "0000002a");
    assert_eq!(hex(&binary(&Value::Integer(2), &Type::Float8).unwrap()), "4000000000000000");
    assert_eq!(hex(&binary(&Value::Integer(7), &Type::Text).unwrap()), "37");
    for (value, ty) in [
        (Value::Text("abc".into()), Type::Int4),
        (Value::Integer(1 << 40), Type::Int4),
        (Value::Text("yesterday".into()), Type::Date),
        (Value::Text("abc".into()), Type::Uuid),
    ] {
        assert_eq!(binary(&value, &ty).unwrap_err().condition(), Condition::DataCorrupted, "{ty:?}");
    }
}

#[test]
fn binary_parameters_are_checked() {
    let fails =
        |bytes: &[u8], ty: &Type| read(bytes, ty, Format::BINARY, &Settings::default(), 1).unwrap_err().condition();
    assert_eq!(fails(b"\xff", &Type::Text), Condition::CharacterNotInRepertoire);
    assert_eq!(fails(b"a\0", &Type::Text), Condition::CharacterNotInRepertoire);
    assert_eq!(fails(&[2, b'1'], &Type::Jsonb), Condition::FeatureNotSupported);
    assert_eq!(fails(&86_400_000_001i64.to_be_bytes(), &Type::Time(None)), Condition::DatetimeFieldOverflow);
    assert_eq!(
        fails(&[0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10], &Type::Numeric(None)),
        Condition::InvalidBinaryRepresentation
    );
    // Arrays that claim more than they hold.
    let int4s = Type::Array(Box::new(Type::Int4));
    let mut huge = Vec::new();
    for word in [2u32, 0, 23, 0x7fff_ffff, 1, 0x7fff_ffff, 1] {
        huge.extend_from_slice(&word.to_be_bytes());
    }
    assert_eq!(fails(&huge, &int4s), Condition::InvalidBinaryRepresentation);
    assert_eq!(fails(&7u32.to_be_bytes(), &int4s), Condition::ProgramLimitExceeded);
    let other = Format(7);
    let error = read(b"", &Type::Text, other, &Settings::default(), 1).unwrap_err();
    assert_eq!(error.condition(), Condition::InvalidParameterValue);
}

proptest! {
    #[test]
    fn random_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for (ty, _, _) in golden() {
            if let Ok(value) = read(&bytes, &ty, Format::BINARY, &Settings::default(), 1) {
                // What was taken can be given back in both formats.
                binary(&value, &ty).unwrap();
                values::output(&value, &ty, &Settings::default()).unwrap();
            }
        }
    }

    #[test]
    fn numbers_round_trip(int in any::<i64>(), float in any::<f64>(), scale in 0u32..20) {
        let check = |ty: Type, value: Value| {
            let bytes = binary(&value, &ty).unwrap();
            let again = read(&bytes, &ty, Format::BINARY, &Settings::default(), 1).unwrap();
            let text = |value: &Value| values::output(value, &ty, &Settings::default()).unwrap();
            assert_eq!(text(&again), text(&value));
        };
        check(Type::Int8, Value::Integer(int));
        check(Type::Float8, values::float::to_value(float));
        check(Type::Numeric(None), Value::Text(values::Decimal::from_parts(i128::from(int), scale).to_string()));
    }
}
