//! Whole sessions of a client that keeps to no rules, with fixed seeds: each ends in requests, violations or a wish for more
//! bytes. Never a panic, and never a request that the state of the conversation does not know.

// How long a run is to be is asked of the environment.
#![allow(clippy::disallowed_methods)]

use rowferry_testkit::mutate::{Seeded, mutate};
use rowferry_wire_pg::Format;
use rowferry_wire_pg::messages::{
    Bind, Execute, Formats, Frontend, FunctionCall, Oids, PROTOCOL_3_0, Parse, StartupMessage, StartupPacket, Target,
    Values,
};
use rowferry_wire_pg::server::{Inbox, Server, Utf8};

mod session;

/// Damaged variants of the session; `FUZZ_ROUNDS` multiplies them, with other seeds.
const VARIANTS: u64 = 3_000;

fn rounds() -> u64 {
    std::env::var("FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// How a client comes in.
fn login() -> Vec<u8> {
    let mut bytes = Vec::new();
    let parameters = vec![(&b"user"[..], &b"ada"[..]), (b"database", b"shop")];
    StartupPacket::Startup(StartupMessage { version: PROTOCOL_3_0, parameters }).encode(&mut bytes);
    Frontend::Password(b"secret\0").encode(&mut bytes);
    bytes
}

/// What a client of every habit says then.
fn said() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut storage = Vec::new();
    let values = Values::build(&mut storage, [Some(&b"1"[..]), None]);
    let formats = Formats::from_wire(&[0, 1]);
    for message in [
        Frontend::Query(b"select 1"),
        Frontend::Query(b"copy t from stdin"),
        Frontend::CopyData(b"1\ttwo\n"),
        Frontend::CopyDone,
        Frontend::Parse(Parse { statement: b"s", sql: b"select $1", types: Oids::from_wire(&25_u32.to_be_bytes()) }),
        Frontend::Describe(Target::Statement(b"s")),
        Frontend::Bind(Bind {
            portal: b"p",
            statement: b"s",
            parameter_formats: Formats::default(),
            parameters: values,
            result_formats: formats,
        }),
        Frontend::Execute(Execute { portal: b"p", max_rows: 2 }),
        Frontend::Flush,
        Frontend::Close(Target::Portal(b"p")),
        Frontend::Sync,
        Frontend::FunctionCall(FunctionCall {
            function: 1598,
            argument_formats: Formats::default(),
            arguments: values,
            result_format: Format::TEXT,
        }),
        Frontend::CopyFail(b"changed my mind"),
        Frontend::Terminate,
    ] {
        message.encode(&mut bytes);
    }
    bytes
}

#[test]
fn damaged_sessions_come_to_an_end() {
    let (login, said) = (login(), said());
    let mut seeded = Seeded::new(7);
    let mut asked = 0;
    for variant in 0..VARIANTS * rounds() {
        // Mostly the damage is behind the login.
        let bytes = match variant % 4 {
            0 => mutate(&mut seeded, &[&login[..], &said].concat(), &[]),
            _ => [&login[..], &mutate(&mut seeded, &said, &[])].concat(),
        };
        let step = [1, 3, usize::MAX][seeded.below(3)];
        let (mut server, mut inbox) = (Server::new(1 << 16, Utf8), Inbox::with_step(64));
        asked += session::play(&mut server, &mut inbox, &bytes, step);
    }
    assert!(asked > VARIANTS * 6, "most of what was said was understood: {asked}");
}
