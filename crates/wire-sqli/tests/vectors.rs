//! Every golden vector decodes, means what it says, and encodes to the same bytes; and arrives in any pieces.

use rowferry_testkit::vectors::{Vector, load, to_hex};
use rowferry_wire::civil;
use rowferry_wire_sqli::messages::{
    ClientMessage, Describe, FileRequest, GeneratedKeys, LoAction, LoReply, Param, ParamValue, RequestedType,
    ServerMessage, StatementId, Tuple, TypeDescription,
};
use rowferry_wire_sqli::values::{Cell, CellFormat, decode_row, encode_int8, encode_row};
use rowferry_wire_sqli::{
    Capabilities, Decoder, FromClient, FromServer, Qualifier, StatementType, TypeCode, URGENT_INTERRUPT, Widths,
};
use serde_json::{Value, json};

/// What the vectors' connections had negotiated. Those without a note are JDBC 15's, or do not depend on it.
fn capabilities(vector: &Vector) -> Capabilities {
    let offer = Capabilities::client_offer();
    let narrow = vector.widths.as_deref() == Some("32-bit") || vector.name.ends_with(".fork");
    let offer = if narrow { Capabilities::new(&offer.as_bytes()[..8]) } else { offer };
    offer.and(&Capabilities::server_15())
}

/// Decodes one side's stream given in pieces; returns the re-encoded bytes.
fn run(vector: &Vector, pieces: &[&[u8]]) -> Vec<u8> {
    run_and_say(vector, pieces, None)
}

/// As [`run`], and adds what each message says.
fn run_and_say(vector: &Vector, pieces: &[&[u8]], mut said: Option<&mut Vec<Value>>) -> Vec<u8> {
    let active = capabilities(vector);
    let widths = Widths::of(&active);
    let mut out = Vec::new();
    if vector.direction == "client->server" {
        let mut decoder = Decoder::<FromClient>::new();
        decoder.activate(&active);
        for piece in pieces {
            decoder.push(piece);
            while let Some(message) = decoder.next().unwrap_or_else(|error| panic!("{}: {error}", vector.name)) {
                message.encode(&mut out, widths).unwrap();
                if let Some(said) = said.as_deref_mut() {
                    say_client(&message, said);
                }
            }
        }
    } else {
        let mut decoder = Decoder::<FromServer>::new();
        decoder.activate(&active);
        for piece in pieces {
            decoder.push(piece);
            while let Some(message) = decoder.next().unwrap_or_else(|error| panic!("{}: {error}", vector.name)) {
                message.encode(&mut out, widths).unwrap();
                if let Some(said) = said.as_deref_mut() {
                    say_server(&message, said);
                }
            }
        }
    }
    out
}

/// Decodes one login packet given in pieces and encodes it again; nothing when it is not complete.
fn run_login(vector: &Vector, pieces: &[&[u8]]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut server_side = Decoder::<FromClient>::new();
    let mut client_side = Decoder::<FromServer>::new();
    for piece in pieces {
        if vector.direction == "client->server" {
            server_side.push(piece);
            if let Some(request) = server_side.login_request().unwrap() {
                request.encode(&mut out).unwrap();
                return Some(out);
            }
        } else {
            client_side.push(piece);
            if let Some(reply) = client_side.login_reply().unwrap() {
                reply.encode(&mut out).unwrap();
                return Some(out);
            }
        }
    }
    None
}

fn is_login(vector: &Vector) -> bool {
    vector.name.starts_with("login.") || vector.name.starts_with("real.login.")
}

/// Only the beginning of the packet is known.
fn is_login_head(vector: &Vector) -> bool {
    vector.name == "real.login.accept.v15.head"
}

/// Sent as TCP urgent data, not in the stream.
fn is_urgent(vector: &Vector) -> bool {
    vector.name == "cancel.urgent"
}

fn is_stream(vector: &Vector) -> bool {
    vector.direction.contains("->") && !is_login(vector) && !is_urgent(vector)
}

#[test]
fn every_vector_is_of_a_kind_that_a_test_covers() {
    let vectors = load("sqli.json");
    assert_eq!(vectors.len(), 408);
    let count = |kind: fn(&Vector) -> bool| vectors.iter().filter(|vector| kind(vector)).count();
    let (streams, logins, urgent) = (count(is_stream), count(is_login), count(is_urgent));
    let values = count(|vector| vector.direction == "row value" || vector.direction == "row payload");
    assert_eq!((streams, logins, urgent, values), (361, 11, 1, 35));
    assert_eq!(streams + logins + urgent + values, vectors.len());
}

#[test]
fn messages_decode_and_encode_to_the_same_bytes() {
    for vector in load("sqli.json").iter().filter(|vector| is_stream(vector)) {
        let out = run(vector, &[&vector.bytes]);
        assert_eq!(to_hex(&out), to_hex(&vector.bytes), "{}", vector.name);
    }
}

#[test]
fn messages_mean_what_the_vectors_say() {
    let mut compared = 0;
    for vector in load("sqli.json").iter().filter(|vector| is_stream(vector)) {
        let Some(want) = vector.decoded.as_array() else { continue };
        let mut said = Vec::new();
        run_and_say(vector, &[&vector.bytes], Some(&mut said));
        assert_eq!(said.len(), want.len(), "{}: {said:?}", vector.name);
        for (said, want) in said.iter().zip(want) {
            assert!(agrees(said, want), "{}:\n said {said}\n want {want}", vector.name);
        }
        compared += 1;
    }
    // The others describe file transfers and capability masks in words of their own.
    assert_eq!(compared, 347);
}

#[test]
fn messages_arrive_byte_by_byte() {
    for vector in load("sqli.json").iter().filter(|vector| is_stream(vector)) {
        let pieces: Vec<&[u8]> = vector.bytes.chunks(1).collect();
        assert_eq!(run(vector, &pieces), vector.bytes, "{}", vector.name);
    }
}

#[test]
fn a_message_cut_anywhere_asks_for_more() {
    for vector in load("sqli.json").iter().filter(|vector| is_stream(vector)) {
        // One decoder takes the vector again and again, cut one byte later each time.
        let pieces: Vec<&[u8]> = (0..vector.bytes.len())
            .flat_map(|cut| {
                let (head, tail) = vector.bytes.split_at(cut);
                [head, tail]
            })
            .collect();
        let out = run(vector, &pieces);
        assert_eq!(out.len(), vector.bytes.len() * vector.bytes.len(), "{}", vector.name);
        for (cut, out) in out.chunks(vector.bytes.len()).enumerate() {
            assert!(out == vector.bytes, "{} cut at {cut}", vector.name);
        }
        // A prefix alone yields what it holds whole, and no error.
        for cut in [1, vector.bytes.len() / 2, vector.bytes.len() - 1] {
            let early = run(vector, &[&vector.bytes[..cut]]);
            assert!(early.len() <= cut && vector.bytes.starts_with(&early), "{} cut at {cut}", vector.name);
        }
    }
}

#[test]
fn login_packets_decode_and_encode_to_the_same_bytes() {
    for vector in load("sqli.json").iter().filter(|vector| is_login(vector) && !is_login_head(vector)) {
        let out = run_login(vector, &[&vector.bytes]).unwrap_or_else(|| panic!("{} asks for more", vector.name));
        assert_eq!(to_hex(&out), to_hex(&vector.bytes), "{}", vector.name);
        let pieces: Vec<&[u8]> = vector.bytes.chunks(1).collect();
        assert_eq!(run_login(vector, &pieces).as_deref(), Some(&vector.bytes[..]), "{}", vector.name);
        for cut in 0..vector.bytes.len() {
            assert_eq!(run_login(vector, &[&vector.bytes[..cut]]), None, "{} cut at {cut}", vector.name);
        }
    }
}

#[test]
fn the_head_of_a_login_packet_asks_for_more() {
    let vectors = load("sqli.json");
    let head = vectors.iter().find(|vector| is_login_head(vector)).unwrap();
    assert_eq!(run_login(head, &[&head.bytes]), None);
    // What is known of it is what we would send.
    let version = b"IBM Informix Dynamic Server Version 15.0.1.0.3";
    let mut ours = Vec::new();
    rowferry_wire_sqli::login::LoginReply::accept(version, b"", b"", 0).encode(&mut ours).unwrap();
    assert_eq!(to_hex(&ours[2..head.bytes.len()]), to_hex(&head.bytes[2..]));
}

#[test]
fn the_urgent_byte_is_the_vectors() {
    let vectors = load("sqli.json");
    let urgent = vectors.iter().find(|vector| is_urgent(vector)).unwrap();
    assert_eq!(urgent.bytes, [URGENT_INTERRUPT]);
}

/// The column type of a `row value` vector, by its name.
fn format_of(name: &str) -> CellFormat {
    let decimal = |precision, scale| CellFormat::Decimal { precision, scale };
    let mut parts = name.split('.').skip(1);
    let (kind, detail) = (parts.next().unwrap(), parts.next().unwrap_or(""));
    let qualifier = || Qualifier(u16::from_str_radix(if detail == "zero" { "05ac" } else { detail }, 16).unwrap());
    match kind {
        "int8" => CellFormat::Int8,
        "date" => CellFormat::Date,
        "char" => CellFormat::Char(6),
        "dec84" => decimal(8, Some(4)),
        "money82" => decimal(8, Some(2)),
        "dec32" => decimal(32, None),
        "dec11" => decimal(1, Some(1)),
        "dec33" => decimal(3, Some(3)),
        "dec322" => decimal(32, Some(2)),
        "dt" => CellFormat::DateTime(qualifier()),
        "iv" => CellFormat::Interval(qualifier()),
        _ => panic!("{name}"),
    }
}

/// A cell in the notation of the vectors.
fn say_cell(format: CellFormat, cell: &Cell<'_>) -> Value {
    match (format, cell) {
        (_, Cell::Null) => Value::Null,
        (_, Cell::Int(value)) => json!(value),
        (_, Cell::Boolean(value)) => json!(value),
        (_, Cell::Text(text)) => json!(String::from_utf8_lossy(text)),
        (_, Cell::Date(days)) => {
            let (year, month, day) = civil::civil_from_days(i64::from(*days) + civil::DAYS_TO_1899_12_31);
            json!(format!("{year:04}-{month:02}-{day:02}"))
        }
        (CellFormat::Decimal { scale, .. }, Cell::Decimal(number)) => {
            json!(number.to_text(scale).replace("E+", "e").replace('E', "e"))
        }
        (CellFormat::DateTime(qualifier), Cell::DateTime(value)) => json!(value.to_text(qualifier)),
        (CellFormat::Interval(qualifier), Cell::Interval(value)) => json!(value.to_text(qualifier)),
        _ => panic!("{format:?} {cell:?}"),
    }
}

#[test]
fn row_values_decode_and_encode_to_the_same_bytes() {
    for vector in load("sqli.json").iter().filter(|vector| vector.direction == "row value") {
        let format = format_of(&vector.name);
        let cells = decode_row(&[format], &vector.bytes).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        let said = say_cell(format, &cells[0]);
        // The zero interval is not tied to a qualifier.
        let want = if vector.name == "type.iv.zero" { json!("0.00") } else { vector.decoded.clone() };
        assert_eq!(said, want, "{}", vector.name);
        let mut out = Vec::new();
        encode_row(&[format], &cells, &mut out).unwrap();
        assert_eq!(to_hex(&out), to_hex(&vector.bytes), "{}", vector.name);
        for cut in 0..vector.bytes.len() {
            assert!(decode_row(&[format], &vector.bytes[..cut]).is_err(), "{} cut at {cut}", vector.name);
        }
    }
}

#[test]
fn row_payloads_decode_and_encode_to_the_same_bytes() {
    for vector in load("sqli.json").iter().filter(|vector| vector.direction == "row payload") {
        let formats = match &vector.name[..] {
            "row.boolean" => {
                vec![CellFormat::Integer, CellFormat::BooleanText, CellFormat::Integer, CellFormat::VarChar(20)]
            }
            "row.int8_lvarchar" => vec![CellFormat::Int8, CellFormat::LongText, CellFormat::Int8],
            name => panic!("{name}"),
        };
        let cells = decode_row(&formats, &vector.bytes).unwrap();
        let said: Vec<Value> = formats.iter().zip(&cells).map(|(format, cell)| say_cell(*format, cell)).collect();
        assert_eq!(Value::from(said), vector.decoded, "{}", vector.name);
        let mut out = Vec::new();
        encode_row(&formats, &cells, &mut out).unwrap();
        assert_eq!(out, vector.bytes, "{}", vector.name);
        for cut in 0..vector.bytes.len() {
            assert!(decode_row(&formats, &vector.bytes[..cut]).is_err(), "{} cut at {cut}", vector.name);
        }
        let longer = [&vector.bytes[..], &[0]].concat();
        assert!(decode_row(&formats, &longer).is_err(), "{} with a byte too many", vector.name);
    }
}

/// Rows decode by their description and what the client asked for, and encode to the same bytes.
#[test]
fn described_rows_decode_and_encode_to_the_same_bytes() {
    let vectors = load("sqli.json");
    let find = |name: &str| vectors.iter().find(|vector| vector.name == name);
    let mut rows_seen = 0;
    for reply in &vectors {
        let (describe, request) = if let Some(prefix) = reply.name.strip_suffix(".rows") {
            (format!("{prefix}.describe"), format!("{prefix}.fetch.request"))
        } else if let Some(client) =
            reply.name.strip_prefix("types.fetch.").or(reply.name.strip_prefix("types.open_fetch."))
        {
            (format!("types.prepare_select.{client}"), reply.name.replace(".reply", ".request"))
        } else if let Some(prefix) = reply.name.strip_suffix(".fetch.reply") {
            (format!("{prefix}.prepare.reply"), format!("{prefix}.fetch.request"))
        } else if let Some(prefix) = reply.name.strip_suffix(".fetch.informix_driver.reply") {
            (format!("{prefix}.prepare.informix_driver.reply"), format!("{prefix}.fetch.informix_driver.request"))
        } else {
            continue;
        };
        let (Some(describe), Some(request)) = (find(&describe), find(&request)) else { continue };
        if reply.direction != "server->client" {
            continue;
        }
        let widths = Widths::of(&capabilities(reply));
        let formats = row_formats(describe, request, widths);
        let mut decoder = Decoder::<FromServer>::new();
        decoder.activate(&capabilities(reply));
        decoder.push(&reply.bytes);
        while let Some(message) = decoder.next().unwrap() {
            let ServerMessage::Tuple(tuple) = message else { continue };
            let cells = decode_row(&formats, tuple.payload)
                .unwrap_or_else(|error| panic!("{}: {error}: {}", reply.name, to_hex(tuple.payload)));
            let mut out = Vec::new();
            encode_row(&formats, &cells, &mut out).unwrap_or_else(|error| panic!("{}: {error:?}", reply.name));
            assert_eq!(to_hex(&out), to_hex(tuple.payload), "{}", reply.name);
            rows_seen += 1;
        }
    }
    assert!(rows_seen >= 60, "{rows_seen}");
}

fn row_formats(describe: &Vector, request: &Vector, widths: Widths) -> Vec<CellFormat> {
    let mut asked = Decoder::<FromClient>::new();
    asked.activate(&capabilities(request));
    asked.push(&request.bytes);
    while let Some(message) = asked.next().unwrap() {
        if let ClientMessage::RetType(types) = message {
            return types.types.iter().map(|ty| CellFormat::requested(ty, widths).unwrap()).collect();
        }
    }
    let mut described = Decoder::<FromServer>::new();
    described.activate(&capabilities(describe));
    described.push(&describe.bytes);
    let Some(ServerMessage::Describe(describe)) = described.next().unwrap() else { panic!("{}", describe.name) };
    let mut start = 0;
    describe
        .fields
        .iter()
        .map(|field| {
            let format = CellFormat::described(&field.ty, widths).unwrap();
            assert_eq!(field.start, start, "start of {:?}", describe.name(field));
            start += format.declared_width(&field.ty);
            format
        })
        .collect()
}

/// As IBM's driver takes them: the describing of a SERIAL column `id`, and its value 7.
#[test]
fn generated_keys_are_described_and_sent_as_a_row_is() {
    let columns =
        [(&b"id"[..], TypeDescription { type_word: 0x0106, encoded_length: 4, ..TypeDescription::default() }, 4)];
    let described = Describe::of_columns(StatementType(6), StatementId(0), columns);
    let keys =
        [ServerMessage::KeyDescribe(described), ServerMessage::KeyTuple(Tuple { warnings: 0, payload: &[0, 0, 0, 7] })];
    let active = Capabilities::client_offer().and(&Capabilities::server_15());
    let mut bytes = Vec::new();
    for message in &keys {
        message.encode(&mut bytes, Widths::of(&active)).unwrap();
    }
    let described =
        "008700060000000000000000000400010000000300000000000000000106000000000000000000000000000000000000000469640000";
    assert_eq!(to_hex(&bytes), format!("{described}008800000000000400000007"));
    let mut decoder = Decoder::<FromServer>::new();
    decoder.activate(&active);
    for (at, byte) in bytes.iter().enumerate() {
        decoder.push(&[*byte]);
        let read = decoder.next().unwrap();
        let whole = at + 1 == bytes.len() || at + 1 == bytes.len() - 12;
        assert_eq!(read.is_some(), whole, "{at}");
        if let Some(message) = read {
            assert!(keys.contains(&message));
        }
    }
}

/// A described type in the notation of the vectors.
fn say_type(ty: &TypeDescription<'_>) -> Value {
    json!({
        "type": format!("{:04x}", ty.type_word), "ext_id": ty.extended_id, "owner": say_text(ty.owner),
        "type_name": say_text(ty.type_name), "by_ref": ty.by_reference, "align": ty.alignment,
        "source": ty.source_type, "enc_len": ty.encoded_length,
    })
}

fn say_text(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn say_describe(describe: &Describe<'_>) -> Value {
    let fields: Vec<Value> = describe
        .fields
        .iter()
        .map(|field| {
            let mut said = say_type(&field.ty);
            said["name_index"] = json!(field.name_index);
            said["start"] = json!(field.start);
            said["name"] = json!(say_text(describe.name(field).unwrap()));
            said
        })
        .collect();
    json!({
        "msg": "DESCRIBE", "statement_type": describe.statement_type.0, "statement_id": describe.statement.0,
        "estimate": describe.estimate, "tuple_size": describe.tuple_size, "fields": fields,
    })
}

fn say_param(param: &Param<'_>, result: bool) -> Value {
    let indicator = if param.value == ParamValue::Null { -1 } else { 0 };
    let precision = if result { json!(param.precision) } else { json!(format!("{:04x}", param.precision)) };
    let mut said = json!({ "type": param.code.0, "indicator": indicator, "precision": precision });
    if param.code.is_named() {
        said["owner"] = json!(say_text(param.owner));
        said["type_name"] = json!(say_text(param.name));
    }
    said["value"] = match param.value {
        ParamValue::SmallInt(value) => json!(value),
        ParamValue::Integer(value) | ParamValue::Date(value) => json!(value),
        ParamValue::BigInt(value) => json!(value),
        ParamValue::Int8(value) => json!(to_hex(&encode_int8(Some(value)))),
        ParamValue::Float(value) => json!(value),
        ParamValue::SmallFloat(value) => json!(value),
        ParamValue::Opaque(bytes) if param.code == TypeCode::BOOLEAN => json!(to_hex(bytes)),
        ParamValue::Text(bytes)
        | ParamValue::Base100(bytes)
        | ParamValue::SimpleLob(bytes)
        | ParamValue::Opaque(bytes) => json!(to_hex(bytes)),
        _ => return said,
    };
    said
}

fn say_requested(ty: &RequestedType<'_>) -> Value {
    let mut said = json!({ "type": ty.code.0, "enc_len": ty.encoded_length });
    if ty.code.is_named() {
        said["owner"] = json!(say_text(ty.owner));
        said["type_name"] = json!(say_text(ty.name));
    }
    said
}

/// Data of chunks without tags belongs to the message before.
fn add_data(said: &mut [Value], chunk: &[u8]) {
    let last = said.last_mut().unwrap();
    let before = last.get("data").and_then(Value::as_str).unwrap_or("").to_owned();
    last["data"] = json!(before + &to_hex(chunk));
}

fn say_client(message: &ClientMessage<'_>, said: &mut Vec<Value>) {
    said.push(match message {
        ClientMessage::Command(text) => json!({ "msg": "COMMAND", "nparams": text.params, "sql": say_text(text.sql) }),
        ClientMessage::Prepare(text) => json!({ "msg": "PREPARE", "nparams": text.params, "sql": say_text(text.sql) }),
        ClientMessage::CursorName(name) => json!({ "msg": "CURNAME", "name": say_text(name) }),
        ClientMessage::Id(id) => json!({ "msg": "ID", "id": id.0 }),
        ClientMessage::Bind(params) => {
            let params: Vec<Value> = params.iter().map(|param| say_param(param, false)).collect();
            json!({ "msg": "BIND", "params": params })
        }
        ClientMessage::Open => json!("OPEN"),
        ClientMessage::Execute => json!("EXECUTE"),
        ClientMessage::NFetch(fetch) => json!({ "msg": "NFETCH", "buffer": fetch.buffer, "reserved": fetch.reserved }),
        ClientMessage::Close => json!("CLOSE"),
        ClientMessage::Release => json!("RELEASE"),
        ClientMessage::Eot => json!("EOT"),
        ClientMessage::PutInsert(put) => json!({ "msg": "PUTINSERT", "rows": put.rows, "tuple": to_hex(put.tuple) }),
        ClientMessage::Commit => json!("CMMTWORK"),
        ClientMessage::Rollback(word) => json!({ "msg": "RBWORK", "savepoint_id": word }),
        ClientMessage::NDescribe => json!("NDESCRIBE"),
        ClientMessage::SFetch(fetch) => {
            json!({ "msg": "SFETCH", "kind": fetch.kind.0, "row": fetch.row, "buffer": fetch.buffer })
        }
        ClientMessage::Scroll => json!("SCROLL"),
        ClientMessage::DbList => json!("DBLIST"),
        ClientMessage::Begin => json!("BEGIN"),
        ClientMessage::DbOpen(open) => json!({ "msg": "DBOPEN", "database": say_text(open.database), "mode": open.mode }),
        ClientMessage::FetchBlob(descriptor) => json!({ "msg": "FETCHBLOB", "descriptor": to_hex(descriptor) }),
        ClientMessage::Blob(chunk) => json!({ "msg": "BLOB", "data": to_hex(chunk) }),
        ClientMessage::BBind(count) => json!({ "msg": "BBIND", "count": count }),
        ClientMessage::Hold => json!("HOLD"),
        ClientMessage::WantDone => json!("WANTDONE"),
        ClientMessage::Version => json!("VERSION"),
        ClientMessage::Exit => json!("EXIT"),
        ClientMessage::Environment(environment) => {
            let entries: Vec<Value> =
                environment.entries.iter().map(|(name, value)| json!([say_text(name), say_text(value)])).collect();
            json!({ "msg": "INFO", "env": entries })
        }
        ClientMessage::LoData(request) => {
            let kind = if request.action == LoAction::Write { 2 } else { 0 };
            json!({ "msg": "LODATA", "subtype": kind, "lofd": request.lofd, "bytes": request.bytes, "chunk": request.chunk })
        }
        ClientMessage::LoChunk(chunk) => return add_data(said, chunk),
        ClientMessage::RetType(types) => {
            let columns: Vec<Value> = types.types.iter().map(say_requested).collect();
            json!({ "msg": "RET_TYPE", "direction": i32::from(types.fetch), "types": columns })
        }
        ClientMessage::GetRoutine(routine) => {
            json!({ "msg": "GETROUTINE", "flag": 0, "signature": say_text(routine.signature), "reserved": routine.reserved })
        }
        ClientMessage::CallRoutine(call) => json!({
            "msg": "EXFPROUTINE", "database": say_text(call.database), "handle": call.handle, "nparams": call.params,
            "reserved": call.reserved,
        }),
        ClientMessage::AutoFree => json!("AUTOFREE"),
        ClientMessage::DescribeInput => json!("CIDESCRIBE"),
        ClientMessage::Protocols(mask) => json!({ "msg": "PROTOCOLS", "mask": to_hex(mask.as_bytes()) }),
        ClientMessage::PamAck => json!("ACK"),
        ClientMessage::PamResponse(text) => json!({ "msg": "RESPONSE", "text": say_text(text) }),
        ClientMessage::GeneratedKeys(keys) => match keys {
            GeneratedKeys::All => json!({ "msg": "AUTOGENKEYS", "kind": 1 }),
            GeneratedKeys::Numbers(numbers) => json!({ "msg": "AUTOGENKEYS", "kind": 2, "columns": numbers }),
            GeneratedKeys::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| say_text(name)).collect();
                json!({ "msg": "AUTOGENKEYS", "kind": 3, "columns": names })
            }
        },
        ClientMessage::SetSavepoint(savepoint) => {
            json!({ "msg": "SETSVPT", "name": say_text(savepoint.name), "unique": savepoint.unique })
        }
        ClientMessage::XaOpen(open) => json!({
            "msg": "XOPEN", "database": say_text(open.database), "rmid": open.resource_manager, "flags": open.flags,
        }),
        ClientMessage::ReleaseSavepoint(name) => json!({ "msg": "RELSVPT", "name": say_text(name) }),
        ClientMessage::RollbackToSavepoint(name) => json!({ "msg": "RBACKSVPT", "name": say_text(name) }),
        ClientMessage::FileTotal(total) => json!({ "msg": "FILE_READ", "total": total }),
        ClientMessage::FileChunk(chunk) => json!({ "msg": "FILE_READ", "data": to_hex(chunk) }),
        ClientMessage::FileWritten(total) => json!({ "msg": "FILE_WRITE", "total": total }),
        other => panic!("{other:?} is in no vector"),
    });
}

fn say_server(message: &ServerMessage<'_>, said: &mut Vec<Value>) {
    said.push(match message {
        ServerMessage::Describe(describe) => say_describe(describe),
        ServerMessage::Eot => json!("EOT"),
        ServerMessage::Exit => json!("EXIT"),
        ServerMessage::PamAccept => json!("ACCEPT"),
        ServerMessage::Error(error) => json!({
            "msg": "ERR", "sqlcode": error.sqlcode, "isam": error.isam, "offset": error.offset,
            "token": say_text(&error.token).trim_end_matches('\0'),
        }),
        ServerMessage::Tuple(tuple) => {
            json!({ "msg": "TUPLE", "warnings": tuple.warnings, "payload": to_hex(tuple.payload) })
        }
        ServerMessage::Done(done) => json!({
            "msg": "DONE", "warnings": format!("{:04x}", done.warnings), "rows": done.rows, "rowid": done.rowid,
            "serial": done.serial,
        }),
        ServerMessage::TupId(row) => json!({ "msg": "TUPID", "row": row }),
        ServerMessage::DbList(names) => {
            let names: Vec<String> = names.iter().map(|name| say_text(name)).collect();
            json!({ "msg": "DBLIST", "names": names })
        }
        ServerMessage::Blob(chunk) => json!({ "msg": "BLOB", "data": to_hex(chunk) }),
        ServerMessage::Version(text) => json!({ "msg": "VERSION", "text": say_text(text) }),
        ServerMessage::Cost(cost) => json!({ "msg": "COST", "rows": cost.rows, "cost": cost.cost }),
        ServerMessage::InsertDone(done) => {
            json!({ "msg": "INSERTDONE", "serial8": to_hex(&encode_int8(done.serial8)), "bigserial": done.bigserial })
        }
        ServerMessage::LoData(LoReply::Read(bytes)) => json!({ "msg": "LODATA", "subtype": 0, "bytes": bytes }),
        ServerMessage::LoData(LoReply::Written(bytes)) => json!({ "msg": "LODATA", "subtype": 2, "bytes": bytes }),
        ServerMessage::LoChunk(chunk) => return add_data(said, chunk),
        ServerMessage::XactStat(status) => {
            json!({ "msg": "XACTSTAT", "event": status.event, "new": status.new_level, "old": status.old_level })
        }
        ServerMessage::Routine(routine) => {
            json!({ "msg": "GETROUTINE", "database": say_text(routine.database), "handle": routine.handle })
        }
        ServerMessage::Results(values) => {
            let values: Vec<Value> = values.iter().map(|value| say_param(value, true)).collect();
            json!({ "msg": "FPROUTINE", "returns": values })
        }
        ServerMessage::InputDescribe(describe) => {
            let params: Vec<Value> = describe.params.iter().map(say_type).collect();
            json!({ "msg": "IDESCRIBE", "n": params.len(), "params": params })
        }
        ServerMessage::Protocols(mask) => json!({ "msg": "PROTOCOLS", "mask": to_hex(mask.as_bytes()) }),
        ServerMessage::Challenge(challenge) => {
            json!({ "msg": "CHALLENGE", "style": challenge.style.0, "text": say_text(challenge.text) })
        }
        ServerMessage::File(FileRequest::Open { name, .. }) => json!({ "op": "open", "name": say_text(name) }),
        ServerMessage::File(FileRequest::Read { buffer, amount }) => {
            json!({ "op": "read", "chunk": buffer, "amount": amount })
        }
        ServerMessage::File(FileRequest::Write) => json!({ "op": "write" }),
        ServerMessage::File(FileRequest::Close) => json!({ "op": "close" }),
        ServerMessage::FileChunk(chunk) => json!({ "data": to_hex(chunk) }),
        other => panic!("{other:?} is in no vector"),
    });
}

/// True when what was said has everything that is wanted; long data is abbreviated in the vectors.
fn agrees(said: &Value, want: &Value) -> bool {
    match (said, want) {
        (Value::Object(said), Value::Object(want)) => want.iter().all(|(key, want)| {
            // Lengths that follow from the entries, and flags that are always the same.
            let implied = ["total", "max_name", "max_value", "end", "flags"].contains(&key.as_str())
                || (key == "type" && said.get("msg") == Some(&json!("INFO")));
            implied || said.get(key).is_some_and(|said| agrees(said, want))
        }),
        (Value::Array(said), Value::Array(want)) => {
            said.len() == want.len() && said.iter().zip(want).all(|(said, want)| agrees(said, want))
        }
        (Value::String(said), Value::String(want)) => match want.split_once("...") {
            Some((head, _)) => said.starts_with(head),
            None => said == want,
        },
        _ => said == want,
    }
}
