//! Every message goes round, is refused when cut at any offset, and random bodies never panic.

use proptest::prelude::*;

use super::*;
use crate::Format;
use crate::frame::{FrameLimits, cut_backend, cut_frontend, cut_startup};

fn encoded(message: &Frontend<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// Round trip, then every strict prefix of the body, then one byte too many.
///
/// Some messages end in "the rest", which every prefix satisfies: `open_ended` says so.
fn check_frontend(message: Frontend<'_>, open_ended: bool) {
    let bytes = encoded(&message);
    let frame = cut_frontend(&bytes, FrameLimits::default()).unwrap().unwrap();
    assert_eq!(frame.len, bytes.len());
    let decoded = Frontend::decode(frame.tag, frame.body).unwrap();
    assert_eq!(decoded, message);
    assert_eq!(encoded(&decoded), bytes);
    for end in 0..bytes.len() {
        assert_eq!(cut_frontend(&bytes[..end], FrameLimits::default()), Ok(None), "{message:?} at {end}");
    }
    if !open_ended {
        for end in 0..frame.body.len() {
            assert!(Frontend::decode(frame.tag, &frame.body[..end]).is_err(), "{message:?} at {end}");
        }
        let mut longer = frame.body.to_vec();
        longer.push(0);
        assert!(Frontend::decode(frame.tag, &longer).is_err(), "{message:?} with a byte too many");
    }
}

fn check_backend(message: Backend<'_>, open_ended: bool) {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    let frame = cut_backend(&bytes, 1 << 20).unwrap().unwrap();
    assert_eq!(frame.len, bytes.len());
    let decoded = Backend::decode(frame.tag, frame.body).unwrap();
    assert_eq!(decoded, message);
    let mut again = Vec::new();
    decoded.encode(&mut again);
    assert_eq!(again, bytes);
    for end in 0..bytes.len() {
        assert_eq!(cut_backend(&bytes[..end], 1 << 20), Ok(None), "{message:?} at {end}");
    }
    if !open_ended {
        for end in 0..frame.body.len() {
            assert!(Backend::decode(frame.tag, &frame.body[..end]).is_err(), "{message:?} at {end}");
        }
        let mut longer = frame.body.to_vec();
        longer.push(0);
        assert!(Backend::decode(frame.tag, &longer).is_err(), "{message:?} with a byte too many");
    }
}

#[test]
fn frontend_messages_round_trip() {
    let mut storage = Vec::new();
    let values = Values::build(&mut storage, [Some(&b"42"[..]), None, Some(b""), Some(b"\0\xff")]);
    check_frontend(
        Frontend::Bind(Bind {
            portal: b"p",
            statement: b"s",
            parameter_formats: Formats::from_wire(&[0, 0, 0, 1, 0, 0, 0, 1]),
            parameters: values,
            result_formats: Formats::from_wire(&[0, 1]),
        }),
        false,
    );
    check_frontend(Frontend::Close(Target::Statement(b"s")), false);
    check_frontend(Frontend::Close(Target::Portal(b"")), false);
    check_frontend(Frontend::CopyData(b"1\ttwo\n"), true);
    check_frontend(Frontend::CopyDone, false);
    check_frontend(Frontend::CopyFail(b"changed my mind"), false);
    check_frontend(Frontend::Describe(Target::Portal(b"p")), false);
    check_frontend(Frontend::Execute(Execute { portal: b"p", max_rows: 100 }), false);
    check_frontend(Frontend::Flush, false);
    check_frontend(
        Frontend::FunctionCall(FunctionCall {
            function: 1598,
            argument_formats: Formats::default(),
            arguments: values,
            result_format: Format::BINARY,
        }),
        false,
    );
    check_frontend(
        Frontend::Parse(Parse { statement: b"s", sql: b"select $1", types: Oids::from_wire(&[0, 0, 0, 23]) }),
        false,
    );
    check_frontend(Frontend::Password(b"hunter2\0"), true);
    check_frontend(Frontend::Query(b"select 'a;b'"), false);
    check_frontend(Frontend::Sync, false);
    check_frontend(Frontend::Terminate, false);
}

#[test]
fn backend_messages_round_trip() {
    let mut storage = Vec::new();
    let values = Values::build(&mut storage, [Some(&b"42"[..]), None]);
    let mut notice = Notice::new(Severity::Error, "23505", "duplicate key value");
    notice.detail = Some("Key (id)=(1) already exists.".into());
    notice.hint = Some("hint".into());
    notice.position = Some("8".into());
    notice.internal_position = Some("9".into());
    notice.internal_query = Some("select 1".into());
    notice.context = Some("context".into());
    notice.schema = Some("public".into());
    notice.table = Some("t".into());
    notice.column = Some("c".into());
    notice.data_type = Some("d".into());
    notice.constraint = Some("t_pkey".into());
    notice.file = Some("f".into());
    notice.line = Some("1".into());
    notice.routine = Some("r".into());
    let copy = || CopyResponse { overall: Format::TEXT, columns: Formats::from_wire(&[0, 0, 0, 0]) };
    let field = FieldDescription {
        name: "?column?",
        table: 16_384,
        column: 2,
        type_oid: 23,
        type_size: 4,
        type_modifier: -1,
        format: Format::BINARY,
    };
    for (message, open_ended) in [
        (Backend::Authentication(Authentication::Ok), false),
        (Backend::Authentication(Authentication::CleartextPassword), false),
        (Backend::Authentication(Authentication::Md5Password(*b"salt")), false),
        (Backend::Authentication(Authentication::Sasl(vec!["SCRAM-SHA-256"])), false),
        (Backend::Authentication(Authentication::SaslContinue(b"r=")), true),
        (Backend::Authentication(Authentication::SaslFinal(b"v=")), true),
        (Backend::Authentication(Authentication::Other(7, b"")), true),
        (Backend::BackendKeyData(BackendKeyData { process: 7, key: &[1, 2, 3, 4] }), true),
        (Backend::BindComplete, false),
        (Backend::CloseComplete, false),
        (Backend::CommandComplete("INSERT 0 1"), false),
        (Backend::CopyBothResponse(copy()), false),
        (Backend::CopyData(b"1\n"), true),
        (Backend::CopyDone, false),
        (Backend::CopyInResponse(copy()), false),
        (Backend::CopyOutResponse(copy()), false),
        (Backend::DataRow(DataRow { values }), false),
        (Backend::EmptyQueryResponse, false),
        (Backend::ErrorResponse(notice.clone().into()), false),
        (Backend::FunctionCallResponse(Some(b"x")), false),
        (Backend::FunctionCallResponse(None), false),
        (
            Backend::NegotiateProtocolVersion(NegotiateProtocolVersion {
                version: 0x0003_0002,
                unrecognized: vec!["_pq_.x"],
            }),
            false,
        ),
        (Backend::NoData, false),
        (Backend::NoticeResponse(notice.into()), false),
        (Backend::NotificationResponse(Notification { process: 7, channel: "c", payload: "p" }), false),
        (Backend::ParameterDescription(Oids::from_wire(&[0, 0, 0, 23, 0, 0, 0, 25])), false),
        (Backend::ParameterStatus(ParameterStatus { name: "TimeZone", value: "UTC" }), false),
        (Backend::ParseComplete, false),
        (Backend::PortalSuspended, false),
        (Backend::ReadyForQuery(TransactionStatus::FAILED), false),
        (Backend::RowDescription(RowDescription { fields: vec![field, field] }), false),
    ] {
        check_backend(message, open_ended);
    }
}

#[test]
fn startup_packets_round_trip() {
    for packet in [
        StartupPacket::Cancel(CancelRequest { process: 7, key: &[1, 2, 3, 4] }),
        StartupPacket::Cancel(CancelRequest { process: 7, key: &[9; MAX_CANCEL_KEY] }),
        StartupPacket::GssEncRequest,
        StartupPacket::SslRequest,
        StartupPacket::Startup(StartupMessage {
            version: PROTOCOL_3_2,
            parameters: vec![(b"user", b"ada"), (b"database", b""), (b"user", b"bob")],
        }),
    ] {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        let (body, len) = cut_startup(&bytes).unwrap().unwrap();
        assert_eq!(len, bytes.len());
        assert_eq!(StartupPacket::decode(body).as_ref(), Ok(&packet));
        for end in 0..bytes.len() {
            assert_eq!(cut_startup(&bytes[..end]), Ok(None));
        }
        if let StartupPacket::Startup(message) = &packet {
            assert_eq!(message.parameter("user"), Some(&b"bob"[..]));
            assert_eq!(message.parameter("options"), None);
            for end in 0..body.len() {
                assert!(StartupPacket::decode(&body[..end]).is_err());
            }
        }
    }
}

#[test]
fn refuses_one_byte_beyond_the_limits_of_a_start_up() {
    let mut cancel = CANCEL_REQUEST.to_be_bytes().to_vec();
    cancel.extend_from_slice(&[0; 4 + MAX_CANCEL_KEY]);
    assert!(StartupPacket::decode(&cancel).is_ok());
    cancel.push(0);
    assert!(StartupPacket::decode(&cancel).is_err());
    assert!(StartupPacket::decode(&cancel[..4 + 4 + 3]).is_err());

    let parameters = |count: usize| {
        let mut body = vec![0, 3, 0, 0];
        for _ in 0..count {
            body.extend_from_slice(b"a\0b\0");
        }
        body.push(0);
        body
    };
    assert!(StartupPacket::decode(&parameters(1_000)).is_ok());
    assert!(StartupPacket::decode(&parameters(1_001)).is_err());
}

#[test]
fn refuses_counts_beyond_the_frame() {
    // Each claims 65,535 items and holds none.
    assert!(Frontend::decode(b'P', b"\0\0\xff\xff").is_err());
    assert!(Frontend::decode(b'B', b"\0\0\xff\xff").is_err());
    assert!(Frontend::decode(b'B', b"\0\0\0\0\xff\xff\0\0\0\0").is_err());
    assert!(Backend::decode(b'T', b"\xff\xff").is_err());
    assert!(Backend::decode(b'D', b"\xff\xff").is_err());
    assert!(Backend::decode(b'v', b"\0\x03\0\0\xff\xff\xff\xff").is_err());
    // A value that claims 2 GB, and one that claims -2 bytes.
    assert!(Frontend::decode(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff\0\0").is_err());
    assert!(Frontend::decode(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0").is_err());
}

#[test]
fn a_nul_inside_text_does_not_shift_what_follows() {
    let mut bytes = Vec::new();
    Backend::ParameterStatus(ParameterStatus { name: "a\0b", value: "c" }).encode(&mut bytes);
    let frame = cut_backend(&bytes, 1 << 20).unwrap().unwrap();
    assert_eq!(
        Backend::decode(frame.tag, frame.body),
        Ok(Backend::ParameterStatus(ParameterStatus { name: "a", value: "c" }))
    );
}

#[test]
fn formats_follow_the_rule_of_none_one_or_each() {
    assert_eq!(Formats::default().of(5), Some(Format::TEXT));
    assert_eq!(Formats::from_wire(&[0, 1]).of(5), Some(Format::BINARY));
    let each = Formats::from_wire(&[0, 1, 0, 0]);
    assert_eq!((each.of(0), each.of(1), each.of(2)), (Some(Format::BINARY), Some(Format::TEXT), None));
}

#[test]
fn row_encoder_writes_what_data_row_reads() {
    let mut bytes = b"before".to_vec();
    let mut row = RowEncoder::begin(&mut bytes, 3);
    row.null();
    row.value(b"abc");
    row.value_with(|out| {
        out.extend_from_slice(b"defg");
        Ok::<(), ()>(())
    })
    .unwrap();
    assert!(row.finish());
    let mut storage = Vec::new();
    let values = Values::build(&mut storage, [None, Some(&b"abc"[..]), Some(b"defg")]);
    let mut expected = b"before".to_vec();
    Backend::DataRow(DataRow { values }).encode(&mut expected);
    assert_eq!(bytes, expected);

    let mut row = RowEncoder::begin(&mut bytes, 1);
    row.value(b"gone");
    row.abandon();
    assert_eq!(bytes, expected);
}

proptest! {
    #[test]
    fn random_bodies_decode_or_are_refused(tag: u8, body in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = Frontend::decode(tag, &body) {
            let bytes = encoded(&message);
            prop_assert_eq!(&bytes[5..], &body[..]);
        }
        let _ = Backend::decode(tag, &body);
        let _ = StartupPacket::decode(&body);
        let _ = SaslInitialResponse::decode(&body);
        let _ = cut_frontend(&body, FrameLimits::default());
        let _ = cut_startup(&body);
    }

    #[test]
    fn random_bodies_behind_known_tags(
        tag in proptest::sample::select(b"BCDEFHPQSXcdfpRK23CWGTtZvVAN".to_vec()),
        body in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()], 0..60),
    ) {
        let _ = Frontend::decode(tag, &body);
        if let Ok(message) = Backend::decode(tag, &body) {
            message.encode(&mut Vec::new());
        }
    }
}
