//! Random bytes end in a value, in `Malformed` or in asking for more: never in a panic, a hang or a huge allocation.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rowferry_testkit::vectors::load;
use rowferry_wire_sqli::values::{Base100, Cell, CellFormat, DateTime, Interval, decode_row, encode_row};
use rowferry_wire_sqli::{Capabilities, Decoder, FromClient, FromServer, MAX_PAYLOAD, Qualifier, Side};

fn drain<S: Side>(bytes: &[u8], wide: bool, piece: usize) -> usize {
    let mut decoder = Decoder::<S>::new();
    let server = if wide { Capabilities::server_15() } else { Capabilities::server_12() };
    decoder.activate(&Capabilities::client_offer().and(&server));
    let mut messages = 0;
    for piece in bytes.chunks(piece.max(1)) {
        decoder.push(piece);
        loop {
            match decoder.next() {
                Ok(Some(_)) => messages += 1,
                Ok(None) => break,
                Err(_) => return messages,
            }
        }
    }
    messages
}

fn formats() -> impl Strategy<Value = CellFormat> {
    let qualifier = any::<u16>().prop_map(Qualifier).prop_filter("valid", |qualifier| qualifier.is_valid());
    prop_oneof![
        Just(CellFormat::SmallInt),
        Just(CellFormat::Integer),
        Just(CellFormat::BigInt),
        Just(CellFormat::Int8),
        Just(CellFormat::Float),
        Just(CellFormat::SmallFloat),
        Just(CellFormat::Date),
        (1usize..40).prop_map(CellFormat::Char),
        any::<u8>().prop_map(CellFormat::VarChar),
        Just(CellFormat::BooleanText),
        Just(CellFormat::BooleanBinary),
        Just(CellFormat::LongText),
        Just(CellFormat::Opaque),
        Just(CellFormat::SimpleLob(56)),
        (1u8..=32, proptest::option::of(0u8..=32)).prop_map(|(precision, scale)| CellFormat::Decimal {
            precision,
            scale: scale.map(|scale| scale.min(precision)),
        }),
        qualifier.clone().prop_map(CellFormat::DateTime),
        qualifier.prop_map(CellFormat::Interval),
    ]
}

proptest! {
    #[test]
    fn any_bytes_end_in_messages_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..600), wide: bool, piece in 1usize..80) {
        drain::<FromClient>(&bytes, wide, piece);
        drain::<FromServer>(&bytes, wide, piece);
    }

    #[test]
    fn damaged_vectors_end_in_messages_or_an_error(index in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte: u8, wide: bool) {
        let vectors = load("sqli.json");
        let mut bytes = vectors[index.index(vectors.len())].bytes.clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        drain::<FromClient>(&bytes, wide, usize::MAX);
        drain::<FromServer>(&bytes, wide, usize::MAX);
        let mut server = Decoder::<FromClient>::new();
        server.push(&bytes);
        let _ = server.login_request();
        let mut client = Decoder::<FromServer>::new();
        client.push(&bytes);
        let _ = client.login_reply();
    }

    #[test]
    fn any_cell_that_decodes_encodes_to_what_decodes_the_same(format in formats(), bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let Ok(cells) = decode_row(&[format], &bytes) else { return Ok(()) };
        let mut out = Vec::new();
        if encode_row(&[format], &cells, &mut out).is_ok() {
            let again = decode_row(&[format], &out).unwrap();
            // NaN is not equal to itself.
            prop_assert_eq!(format!("{cells:?}"), format!("{again:?}"));
        }
    }

    #[test]
    fn decimals_survive_text_and_wire(text in "-?[0-9]{1,20}(\\.[0-9]{1,12})?") {
        let number = Base100::from_text(&text, 32, None).unwrap();
        let mut out = Vec::new();
        number.encode(18, &mut out).unwrap();
        let again = Base100::decode(&out).unwrap().unwrap();
        prop_assert_eq!(again, number);
        prop_assert_eq!(Base100::from_text(&again.to_text(None), 32, None).unwrap(), number);
        let as_float = |text: &str| text.parse::<f64>().unwrap();
        prop_assert_eq!(as_float(&again.to_text(None)), as_float(&text));
    }

    #[test]
    fn datetimes_survive_text_and_wire(year in 1u16..=9999, month in 1u8..=12, day in 1u8..=28, hour in 0u8..24, minute in 0u8..60, second in 0u8..60, fraction in 0u32..100_000) {
        let value = DateTime { year, month, day, hour, minute, second, micros: fraction * 10 };
        let qualifier = Qualifier::YEAR_TO_FRACTION5;
        let mut out = Vec::new();
        value.encode(qualifier, &mut out).unwrap();
        prop_assert_eq!(DateTime::decode(&out, qualifier).unwrap(), Some(value));
        prop_assert_eq!(DateTime::from_text(&value.to_text(qualifier), qualifier), Ok(value));
    }

    #[test]
    fn intervals_survive_text_and_wire(negative: bool, seconds in 0u64..86_400_000_000_000, fraction in 0u32..100_000, months in -11_999_999_999i64..11_999_999_999) {
        let negative = negative && (seconds > 0 || fraction > 0);
        for (value, qualifier) in [
            (Interval::DayTime { negative, seconds, micros: fraction * 10 }, Qualifier::DAY9_TO_FRACTION5),
            (Interval::YearMonth(months), Qualifier::YEAR9_TO_MONTH),
        ] {
            let mut out = Vec::new();
            value.encode(qualifier, &mut out).unwrap();
            prop_assert_eq!(Interval::decode(&out, qualifier).unwrap(), Some(value));
            prop_assert_eq!(Interval::from_text(&value.to_text(qualifier), qualifier), Ok(value));
        }
    }
}

#[test]
fn lengths_are_bounded_before_anything_waits_for_them() {
    let beyond = (MAX_PAYLOAD as u32 + 1).to_be_bytes();
    let limit = (MAX_PAYLOAD as u32).to_be_bytes();
    for (length, refused) in [(limit, false), (beyond, true), ([0xff; 4], true), ([0x7f, 0xff, 0xff, 0xff], true)] {
        let mut decoder = Decoder::<FromServer>::new();
        decoder.push(&[0x00, 0x0e, 0x00, 0x00]);
        decoder.push(&length);
        assert_eq!(decoder.next().is_err(), refused, "{length:?}");
    }
    // An error is for good.
    let mut decoder = Decoder::<FromServer>::new();
    decoder.push(&[0x7f, 0xff]);
    assert!(decoder.next().is_err());
    decoder.push(&[0x00, 0x0c]);
    assert!(decoder.next().is_err());
}

#[test]
fn a_message_of_many_parts_that_trickles_in_is_not_tried_for_each_byte() {
    // A parameter list of the greatest length, byte by byte: this ends in moments or, done badly, in hours.
    let mut bytes = vec![0x00, 0x05, 0x7f, 0xff];
    for _ in 0..i16::MAX {
        bytes.extend_from_slice(&[0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, b'a', b'b']);
    }
    assert_eq!(drain::<FromClient>(&bytes, true, 1), 1);
}

#[test]
fn a_null_cell_of_every_format_is_null_again() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..500 {
        let format = formats().new_tree(&mut runner).unwrap().current();
        let mut out = Vec::new();
        // With a cell behind it, so that a wrong width shows.
        encode_row(&[format, CellFormat::SmallInt], &[Cell::Null, Cell::Int(7)], &mut out).unwrap();
        assert_eq!(
            decode_row(&[format, CellFormat::SmallInt], &out).unwrap(),
            [Cell::Null, Cell::Int(7)],
            "{format:?}"
        );
    }
}
