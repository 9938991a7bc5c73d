//! Bytes at every decoder of the three wires, both roles. The first byte chooses what they are read as.

use rowferry_wire::Core;
use rowferry_wire_mysql::binlog::event::{Checksum, EventHeader};
use rowferry_wire_mysql::binlog::gtid::GtidSet;
use rowferry_wire_mysql::binlog::json::Json;
use rowferry_wire_mysql::binlog::json_diff;
use rowferry_wire_mysql::binlog::reader::{Gtids, Interest, Position, Reader as LogReader};
use rowferry_wire_mysql::client::{Client as MySqlClient, Event, Options};
use rowferry_wire_mysql::messages::auth::{AuthMoreData, AuthNextFactor, AuthSwitchRequest};
use rowferry_wire_mysql::messages::bulk::BulkExecute;
use rowferry_wire_mysql::messages::handshake::{Handshake, HandshakeResponse};
use rowferry_wire_mysql::messages::resultset::{ColumnDefinition, DateTime, Time};
use rowferry_wire_mysql::messages::session_state::StateChange;
use rowferry_wire_mysql::messages::statement::PrepareOk;
use rowferry_wire_mysql::messages::status::{Eof, Ok as OkPacket, ServerError};
use rowferry_wire_mysql::peer::{Script, Server};
use rowferry_wire_pg::frame::{DEFAULT_MESSAGE_LIMIT, cut_backend, cut_frontend, cut_startup};
use rowferry_wire_pg::messages::StartupPacket;
use rowferry_wire_pg::{Backend, FrameLimits, Frontend};
use rowferry_wire_sqli::messages::ServerMessage;
use rowferry_wire_sqli::values::{CellFormat, decode_row};
use rowferry_wire_sqli::{Capabilities, Decoder, FromClient, FromServer, Widths};

/// PostgreSQL: a start-up packet, a frontend's messages, a backend's.
pub fn pg(data: &[u8]) {
    let Some((&role, mut rest)) = data.split_first() else { return };
    match role % 3 {
        0 => {
            if let Ok(Some((body, len))) = cut_startup(rest) {
                assert!(len <= rest.len());
                if let Ok(packet) = StartupPacket::decode(body) {
                    packet.encode(&mut Vec::new());
                }
            }
        }
        1 => {
            while let Ok(Some(frame)) = cut_frontend(rest, FrameLimits::default()) {
                if let Ok(message) = Frontend::decode(frame.tag, frame.body) {
                    message.encode(&mut Vec::new());
                }
                rest = &rest[frame.len..];
            }
        }
        _ => {
            while let Ok(Some(frame)) = cut_backend(rest, DEFAULT_MESSAGE_LIMIT) {
                if let Ok(message) = Backend::decode(frame.tag, frame.body) {
                    message.encode(&mut Vec::new());
                }
                rest = &rest[frame.len..];
            }
        }
    }
}

/// Informix: a login, a client's messages, a server's with their rows; whole or byte by byte.
pub fn sqli(data: &[u8]) {
    let Some((&role, rest)) = data.split_first() else { return };
    let server = if role & 4 == 0 { Capabilities::server_15() } else { Capabilities::server_12() };
    let active = Capabilities::client_offer().and(&server);
    let widths = Widths::of(&active);
    let piece = if role & 8 == 0 { rest.len().max(1) } else { 1 };
    match role % 3 {
        0 => {
            let mut decoder = Decoder::<FromClient>::new();
            decoder.push(rest);
            if let Ok(Some(request)) = decoder.login_request() {
                let _ = request.encode(&mut Vec::new());
            }
            let mut decoder = Decoder::<FromServer>::new();
            decoder.push(rest);
            if let Ok(Some(reply)) = decoder.login_reply() {
                let _ = reply.encode(&mut Vec::new());
            }
        }
        1 => {
            let mut decoder = Decoder::<FromClient>::new();
            decoder.activate(&active);
            for piece in rest.chunks(piece) {
                decoder.push(piece);
                loop {
                    match decoder.next() {
                        Ok(Some(message)) => drop(message.encode(&mut Vec::new(), widths)),
                        Ok(None) => break,
                        Err(_) => return,
                    }
                }
            }
        }
        _ => {
            let mut decoder = Decoder::<FromServer>::new();
            decoder.activate(&active);
            let mut formats: Vec<CellFormat> = Vec::new();
            for piece in rest.chunks(piece) {
                decoder.push(piece);
                loop {
                    let message = match decoder.next() {
                        Ok(Some(message)) => message,
                        Ok(None) => break,
                        Err(_) => return,
                    };
                    let _ = message.encode(&mut Vec::new(), widths);
                    match &message {
                        ServerMessage::Describe(describe) => {
                            let all = describe.fields.iter().map(|field| CellFormat::described(&field.ty, widths));
                            formats = all.filter_map(Result::ok).collect();
                        }
                        ServerMessage::Tuple(tuple) => drop(decode_row(&formats, tuple.payload)),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// MySQL: what a server says to a client, what a client says to a server, single messages, the binary log.
pub fn mysql(data: &[u8]) {
    let Some((&role, rest)) = data.split_first() else { return };
    match role % 4 {
        0 => mysql_client(rest),
        1 => {
            let mut server = Server::new(Script::mysql8("secret"));
            feed(&mut server, rest);
            while let Ok(Some(_)) = server.poll() {
                server.sent(server.output().len());
            }
        }
        2 => mysql_messages(rest),
        _ => mysql_log(rest),
    }
}

fn feed(core: &mut impl Core, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let space = core.receive_space(bytes.len());
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        core.received(count);
        bytes = &bytes[count..];
    }
}

fn mysql_client(bytes: &[u8]) {
    let mut client = MySqlClient::new(Options::default());
    feed(&mut client, bytes);
    client.received_eof();
    loop {
        client.sent(client.output().len());
        match client.poll() {
            Ok(Event::Pending | Event::StartTls) | Err(_) => return,
            Ok(_) => {}
        }
        if client.awaited() == 0 && client.is_idle() && client.query(b"SELECT 1").is_err() {
            return;
        }
    }
}

fn mysql_messages(payload: &[u8]) {
    let bytes = &mut Vec::new();
    let _ = Handshake::decode(payload).inspect(|message| message.encode(bytes));
    let _ = HandshakeResponse::decode(payload).inspect(|message| message.encode(bytes));
    let _ = AuthSwitchRequest::decode(payload).inspect(|message| message.encode(bytes));
    let _ = AuthMoreData::decode(payload).inspect(|message| message.encode(bytes));
    let _ = AuthNextFactor::decode(payload);
    let _ = ServerError::decode(payload).inspect(|message| message.encode(bytes));
    let _ = Eof::decode(payload).inspect(|message| message.encode(bytes));
    let _ = PrepareOk::decode(payload).inspect(|message| message.encode(bytes));
    let _ = ColumnDefinition::decode(payload).inspect(|message| message.encode(bytes));
    for session_track in [false, true] {
        let _ = OkPacket::decode(payload, session_track).inspect(|message| message.encode(0, bytes));
    }
    let _ = StateChange::visit(payload, |change| change.encode(&mut Vec::new()));
    let _ = (DateTime::decode(payload), Time::decode(payload), BulkExecute::decode(payload, 2));
}

fn mysql_log(bytes: &[u8]) {
    let position = Position { file: "log.1".into(), offset: 4 };
    let mut reader = LogReader::new(Interest::default(), position, Gtids::Unknown);
    reader.connected(Checksum::None);
    let mut rest = bytes;
    // Events behind each other, each as long as its header says.
    while let Some(size) = rest.get(9..13).and_then(<[u8]>::first_chunk::<4>) {
        let size = (u32::from_le_bytes(*size) as usize).clamp(19, rest.len().max(19)).min(rest.len());
        let (event, tail) = rest.split_at(size);
        let _ = EventHeader::decode(event);
        let mut outcome = reader.event(event).map(|event| event.is_some());
        while let Ok(true) = outcome {
            outcome = reader.next_packed().map(|event| event.is_some());
        }
        rest = tail;
    }
    if let Ok(json) = Json::decode(bytes) {
        let _ = json.text();
    }
    let _ = (json_diff::decode(bytes), GtidSet::decode(bytes));
}
