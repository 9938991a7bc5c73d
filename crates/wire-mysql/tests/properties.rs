//! Values round-trip; random bytes end in a value or in `Malformed`, never in a panic.

use proptest::prelude::*;
use rowferry_wire::Core;
use rowferry_wire_mysql::client::{Client, Event, Options};
use rowferry_wire_mysql::messages::auth::{AuthMoreData, AuthSwitchRequest};
use rowferry_wire_mysql::messages::handshake::{Handshake, HandshakeResponse, SslRequest};
use rowferry_wire_mysql::messages::resultset::{BinaryRow, ColumnDefinition, DateTime, TextRow, Time};
use rowferry_wire_mysql::messages::statement::PrepareOk;
use rowferry_wire_mysql::messages::status::{Eof, Ok as OkPacket, ServerError};
use rowferry_wire_mysql::types::{BinaryForm, ColumnType};

proptest! {
    #[test]
    fn random_payloads_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Handshake::decode(&bytes);
        let _ = HandshakeResponse::decode(&bytes);
        let _ = SslRequest::decode(&bytes);
        let _ = AuthSwitchRequest::decode(&bytes);
        let _ = AuthMoreData::decode(&bytes);
        let _ = ColumnDefinition::decode(&bytes);
        let _ = PrepareOk::decode(&bytes);
        let _ = OkPacket::decode(&bytes, false);
        let _ = OkPacket::decode(&bytes, true);
        let _ = Eof::decode(&bytes);
        let _ = ServerError::decode(&bytes);
        let _ = DateTime::decode(&bytes);
        let _ = Time::decode(&bytes);
        let mut cells = TextRow::new(&bytes);
        while let Ok(Some(_)) = cells.cell() {}
        for form in [BinaryForm::Fixed(8), BinaryForm::Temporal, BinaryForm::Bytes, BinaryForm::Nothing] {
            if let Ok(mut cells) = BinaryRow::new(&bytes, 20) {
                for _ in 0..25 {
                    let _ = cells.cell(form);
                }
            }
        }
    }

    #[test]
    fn random_bytes_never_panic_a_client(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20),
    ) {
        let mut client = Client::new(Options::default());
        'outer: for chunk in chunks {
            client.receive_space(chunk.len())[..chunk.len()].copy_from_slice(&chunk);
            client.received(chunk.len());
            loop {
                match client.poll() {
                    Ok(Event::Pending) => break,
                    Ok(Event::StartTls) => client.tls_started(),
                    Ok(_) => {}
                    Err(_) => break 'outer,
                }
            }
        }
    }

    /// Well-framed nonsense behind a real login reaches the states that random bytes never reach.
    #[test]
    fn random_answers_never_panic_a_client(
        payloads in proptest::collection::vec(
            prop_oneof![
                Just(vec![1_u8]),
                Just(vec![0xfe, 0, 0, 2, 0, 0, 0]),
                Just(vec![0, 0, 0, 2, 0, 0, 0]),
                Just(b"\x03def\x00\x00\x00\x01a\x00\x0c\x2d\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00".to_vec()),
                proptest::collection::vec(any::<u8>(), 1..30),
            ],
            0..12,
        ),
        prepared in any::<bool>(),
    ) {
        let mut client = Client::new(Options::default());
        let greeting = Handshake {
            server_version: "8".into(),
            connection_id: 1,
            nonce: vec![1; 20],
            capabilities: 0xffff_f7ff,
            collation: 45,
            status: 2,
            plugin: "mysql_native_password".into(),
        };
        let mut payload = Vec::new();
        greeting.encode(&mut payload);
        feed(&mut client, 0, &payload);
        prop_assert!(matches!(client.poll(), Ok(Event::Pending)));
        feed(&mut client, 2, &[0, 0, 0, 2, 0, 0, 0]);
        prop_assert!(matches!(client.poll(), Ok(Event::Connected)));
        if prepared { client.prepare(b"x").unwrap() } else { client.query(b"x").unwrap() }
        for (at, payload) in payloads.iter().enumerate() {
            feed(&mut client, at as u8 + 1, payload);
            loop {
                client.visit_rows(|row| {
                    let _ = TextRow::new(row).cell();
                    true
                });
                match client.poll() {
                    Ok(Event::Pending) => break,
                    Ok(_) => {}
                    Err(_) => return Ok(()),
                }
            }
        }
    }

    #[test]
    fn times_round_trip(
        negative in any::<bool>(), days in 0_u32..40, hours in 0_u8..24, minutes in 0_u8..60, seconds in 0_u8..60,
        microseconds in 0_u32..1_000_000,
    ) {
        let value = Time { negative, days, hours, minutes, seconds, microseconds };
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        let decoded = Time::decode(&bytes[1..]).unwrap();
        let zero = (days, hours, minutes, seconds, microseconds) == (0, 0, 0, 0, 0);
        prop_assert_eq!(decoded, if zero { Time::default() } else { value });
        prop_assert_eq!(usize::from(bytes[0]), bytes.len() - 1);
    }

    #[test]
    fn datetimes_round_trip(
        year in 0_u16..10_000, month in 0_u8..13, day in 0_u8..32, hour in 0_u8..24, minute in 0_u8..60,
        second in 0_u8..60, microsecond in 0_u32..1_000_000,
    ) {
        let value = DateTime { year, month, day, hour, minute, second, microsecond };
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        prop_assert_eq!(DateTime::decode(&bytes[1..]).unwrap(), value);
        prop_assert_eq!(usize::from(bytes[0]), bytes.len() - 1);
    }

    #[test]
    fn messages_round_trip(
        name in "[a-zé]{0,300}", charset in any::<u16>(), length in any::<u32>(), column_type in any::<u8>(),
        flags in any::<u16>(), decimals in any::<u8>(), rows in any::<u64>(), id in any::<u64>(),
        extended in proptest::collection::vec(any::<u8>(), 0..10),
    ) {
        let column = ColumnDefinition {
            schema: "s".into(), table: "t".into(), org_table: String::new(), org_name: name.clone(), name,
            charset, length, column_type: ColumnType(column_type), flags, decimals, extended,
        };
        let mut bytes = Vec::new();
        column.encode(&mut bytes);
        prop_assert_eq!(ColumnDefinition::decode(&bytes).unwrap(), column);
        for cut in 0..bytes.len() {
            prop_assert!(ColumnDefinition::decode(&bytes[..cut]).is_err());
        }
        let ok = OkPacket { affected_rows: rows, last_insert_id: id, status: 2, warnings: flags, info: "Rows: 1".into(), ..OkPacket::default() };
        let mut bytes = Vec::new();
        ok.encode(OkPacket::HEADER, &mut bytes);
        prop_assert_eq!(OkPacket::decode(&bytes, true).unwrap(), ok.clone());
        prop_assert_eq!(OkPacket::decode(&bytes, false).unwrap(), ok);
    }
}

fn feed(client: &mut Client, sequence: u8, payload: &[u8]) {
    let mut packet = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    packet.push(sequence);
    packet.extend_from_slice(payload);
    client.receive_space(packet.len())[..packet.len()].copy_from_slice(&packet);
    client.received(packet.len());
}

/// What MariaDB 10.11 greets with.
const MARIADB_GREETING: &[u8] =
    b"\x0a5.5.5-10.11.19-MariaDB\0\x05\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\
    \x1d\0\0\0ijklmnopqrst\0mysql_native_password\0";

#[test]
fn a_greeting_cut_anywhere_is_malformed() {
    let greeting = Handshake::decode(MARIADB_GREETING).unwrap();
    assert!(greeting.is_mariadb());
    assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst");
    assert_eq!(greeting.plugin, "mysql_native_password");
    assert_eq!(greeting.capabilities >> 32, 0x1d);
    let mut bytes = Vec::new();
    greeting.encode(&mut bytes);
    assert_eq!(bytes, MARIADB_GREETING);
    let end_of_nonce = MARIADB_GREETING.len() - "mysql_native_password\0".len();
    for cut in 0..end_of_nonce {
        assert!(Handshake::decode(&MARIADB_GREETING[..cut]).is_err(), "{cut}");
    }
}
