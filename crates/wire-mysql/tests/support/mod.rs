//! A client that talks to a script of answers.

#![allow(dead_code, reason = "each test uses some")]

use rowferry_wire::{Core, Secret};
use rowferry_wire_mysql::client::{Client, Event, Options};
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::{Login, capability};
use rowferry_wire_mysql::messages::resultset::ColumnDefinition;
use rowferry_wire_mysql::messages::statement::{PrepareOk, StatementId};
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, ServerError};
use rowferry_wire_mysql::peer::{Request, Script, Server};
use rowferry_wire_mysql::types::ColumnType;

fn give(core: &mut impl Core, bytes: &[u8]) {
    core.receive_space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
    core.received(bytes.len());
}

/// A client that is in, at a server with these capabilities beside MySQL's usual ones.
pub fn connected(own: u64) -> (Client, Server) {
    let mut script = Script::mysql8("");
    if own & capability::MARIADB != 0 {
        script.greeting.server_version = "11.8.3-MariaDB".into();
        script.greeting.capabilities &= !capability::LONG_PASSWORD;
    }
    script.greeting.capabilities |= own;
    logged_in(script)
}

/// A client that is in, at a server that greets like this.
pub fn logged_in(script: Script) -> (Client, Server) {
    let login = Login { user: "app".into(), password: Secret::new(""), database: String::new() };
    let mut client = Client::new(Options { login, ..Options::default() });
    let mut server = Server::new(script);
    loop {
        let greeting = server.output().to_vec();
        server.sent(greeting.len());
        give(&mut client, &greeting);
        if matches!(client.poll().unwrap(), Event::Connected) {
            return (client, server);
        }
        let answer = client.output().to_vec();
        client.sent(answer.len());
        give(&mut server, &answer);
        while server.poll().unwrap().is_some() {}
    }
}

/// What the client asks for, one for each command.
pub fn requests(client: &mut Client, server: &mut Server) -> Vec<(Command, Vec<u8>)> {
    let output = client.output().to_vec();
    client.sent(output.len());
    give(server, &output);
    let mut requests = Vec::new();
    while let Some(request) = server.poll().unwrap() {
        let Request::Command(command, argument) = request else { panic!("{request:?}") };
        requests.push((command, argument));
    }
    requests
}

/// Sends one packet of an answer for each payload, the first with number 1, and tells what the client made of them.
pub fn answer(client: &mut Client, payloads: &[Vec<u8>]) -> Vec<String> {
    let mut seen = Vec::new();
    for (at, payload) in payloads.iter().enumerate() {
        let mut packet = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        packet.push(at as u8 + 1);
        packet.extend_from_slice(payload);
        give(client, &packet);
        loop {
            seen.push(match client.poll() {
                Ok(Event::Pending) => break,
                Ok(Event::Prepared(prepared)) => format!("prepared {}", prepared.statement.0),
                Ok(Event::Columns(columns)) => {
                    let names: Vec<_> = columns.definitions.iter().map(|column| column.name.as_str()).collect();
                    format!("columns {}", names.join(","))
                }
                Ok(Event::Row(_)) => "row".into(),
                Ok(Event::EndOfRows { more, .. }) => format!("end {more}"),
                Ok(Event::Done { more, .. }) => format!("done {more}"),
                Ok(Event::Error(error)) => format!("error {}", error.code),
                Ok(other) => format!("{other:?}"),
                Err(failure) => {
                    seen.push(format!("failure: {failure}"));
                    return seen;
                }
            });
        }
    }
    seen
}

/// A preparation's OK.
pub fn prepare_ok(statement: u32, columns: u16, params: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    PrepareOk { statement: StatementId(statement), columns, params, warnings: 0 }.encode(&mut bytes);
    bytes
}

/// The definition of a column of integers.
pub fn column(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let column_type = ColumnType::LONG;
    ColumnDefinition {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.into(),
        org_name: name.into(),
        charset: 63,
        length: 11,
        column_type,
        flags: 0,
        decimals: 0,
        extended: Vec::new(),
    }
    .encode(&mut bytes);
    bytes
}

/// An OK.
pub fn ok(header: u8, status: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    OkPacket { status, ..OkPacket::default() }.encode(header, &mut bytes);
    bytes
}

/// A refusal.
pub fn error(code: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    ServerError { code, sqlstate: "HY000".into(), message: "no".into() }.encode(&mut bytes);
    bytes
}

/// A binary row of one integer.
pub fn row(value: u8) -> Vec<u8> {
    vec![0, 0, value, 0, 0, 0]
}
