//! `rowferry doctor URL`: what stands in the way of a connection.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use rowferry_client::{Address, Url};

use crate::Failure;
use crate::conversation::{self, Answers, Column, Done, Place};

/// The exit code when something stands in the way.
const WRONG: u8 = 3;

/// How long an address may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Round trips that are measured.
const TRIPS: usize = 7;

/// Say what stands in the way of a connection
///
/// Looks step by step at what a client does: the URL and where the password comes from, the name's addresses, the port,
/// what is spoken there, TLS, the login, a statement and how long its way takes. Of a file: whether it is one of SQLite's,
/// may be read and written, and is locked by somebody else. Nothing is changed.
///
///   rowferry doctor postgresql://ada@db.example:5432/shop
///   rowferry doctor app.db
///
/// The exit code is 0 when a client would get through, 3 when something stands in the way, 2 when the arguments make no sense.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The database: what `rowferry query` takes
    url: String,

    /// Print one JSON object
    ///
    /// `{"works": false, "steps": [{"step": "port", "works": false, "says": …, "hint": …}]}`
    #[arg(long)]
    json: bool,
}

/// What was found at a step.
struct Step {
    name: &'static str,
    works: bool,
    says: String,
    hint: Option<String>,
}

/// The steps so far.
#[derive(Default)]
struct Findings(Vec<Step>);

impl Findings {
    fn good(&mut self, name: &'static str, says: impl Into<String>) {
        self.0.push(Step { name, works: true, says: says.into(), hint: None });
    }

    fn bad(&mut self, name: &'static str, says: impl Into<String>, hint: impl Into<Option<String>>) {
        self.0.push(Step { name, works: false, says: says.into(), hint: hint.into() });
    }

    fn works(&self) -> bool {
        self.0.iter().all(|step| step.works)
    }
}

/// Looks; the exit code.
///
/// # Errors
/// When what was found cannot be printed.
pub fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let mut findings = Findings::default();
    let reached = match conversation::file_of(&arguments.url) {
        Some(path) => {
            file(&path, &mut findings);
            None
        }
        None => server(&arguments.url, &mut findings),
    };
    if findings.works() {
        talk(&arguments.url, &mut findings);
        if let Some((address, place)) = reached.filter(|_| !findings.works()) {
            spoken_at(address, &place, &mut findings);
        }
    }
    let works = findings.works();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let steps: Vec<_> = (findings.0.iter())
            .map(|step| serde_json::json!({"step": step.name, "works": step.works, "says": step.says, "hint": step.hint}))
            .collect();
        writeln!(out, "{}", serde_json::json!({"works": works, "steps": steps}))?;
    } else {
        let width = findings.0.iter().map(|step| step.name.len()).max().unwrap_or_default();
        for step in &findings.0 {
            let mark = if step.works { "ok " } else { "NO " };
            writeln!(out, "{mark} {:width$}  {}", step.name, indented(&step.says, width + 6))?;
            if let Some(hint) = &step.hint {
                writeln!(out, "{:1$}hint: {hint}", "", width + 6)?;
            }
        }
    }
    Ok(if works { 0 } else { WRONG })
}

fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{:by$}", ""))
}

/// The steps before a server is asked; where it was reached.
fn server(text: &str, findings: &mut Findings) -> Option<(SocketAddr, Place)> {
    let url = Url::parse(text).map_err(|error| Failure::new(error.to_string()));
    let place = match url.and_then(|url| conversation::place(&url)) {
        Ok(place) => place,
        Err(failure) => {
            findings.bad("URL", failure.message, failure.hint);
            return None;
        }
    };
    let user = if place.user.is_empty() { "no user".to_owned() } else { format!("user {}", place.user) };
    let password = place.password_from.unwrap_or("none, it would be asked for at a terminal");
    findings.good(
        "URL",
        format!("{} at {}, {user}; password: {password}; TLS: {}", place.product, place.address, place.tls),
    );
    match &place.address {
        Address::Unix(path) => {
            socket(path, findings);
            None
        }
        Address::Tcp(host, port) => port_of(host, *port, findings).map(|address| (address, place)),
    }
}

fn socket(path: &Path, findings: &mut Findings) {
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => findings.good("socket", format!("somebody listens at {}", path.display())),
        Err(error) => {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    "the server has no socket there: its directory, or the port in its name, is another"
                }
                std::io::ErrorKind::PermissionDenied => "the directory or the socket is not for this user",
                _ => "the server that made the socket has gone",
            };
            findings.bad("socket", format!("{}: {error}", path.display()), hint.to_owned());
        }
    }
}

/// The first address of a name where somebody listens.
fn port_of(host: &str, port: u16, findings: &mut Findings) -> Option<SocketAddr> {
    let started = Instant::now();
    let addresses: Vec<SocketAddr> = match (host, port).to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            let hint = "is the name right, and known to this machine? (getent hosts NAME)".to_owned();
            findings.bad("name", format!("{host}: {error}"), hint);
            return None;
        }
    };
    let shown: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
    findings.good("name", format!("{host} is {} ({})", shown.join(", "), milliseconds(started.elapsed())));
    let (mut lines, mut reached) = (Vec::new(), None);
    for address in &addresses {
        let started = Instant::now();
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(_) => {
                lines.push(format!("{address} answers ({})", milliseconds(started.elapsed())));
                reached = reached.or(Some(*address));
            }
            Err(error) => lines.push(format!("{address}: {error}")),
        }
    }
    let says = lines.join("\n");
    if reached.is_some() {
        findings.good("port", says);
        return reached;
    }
    let hint = match says.contains("refused") {
        true => format!("nothing listens at port {port}: is the server up, and is this its port and address?"),
        false => "no answer at all: a firewall, a wrong address, or a machine that is down".to_owned(),
    };
    findings.bad("port", says, hint);
    None
}

/// Names what listens there, where it is something else than what was asked for.
fn spoken_at(address: SocketAddr, place: &Place, findings: &mut Findings) {
    if let Some(spoken) = greeting(address).filter(|spoken| spoken.product != place.product) {
        let hint = format!(
            "this is the port of something else; {} listens at {} by default",
            place.product, place.default_port
        );
        findings.bad("protocol", format!("what listens there is {}", spoken.says), hint);
    }
}

/// What a port says of itself.
struct Spoken {
    product: &'static str,
    says: String,
}

/// What the server says unasked, and what it answers to PostgreSQL's question for TLS; `None` where that tells nothing.
fn greeting(address: SocketAddr) -> Option<Spoken> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(400))).ok()?;
    let mut bytes = [0; 128];
    let count = stream.read(&mut bytes).unwrap_or_default();
    if count > 0 {
        let said = &bytes[..count];
        // Length, number, then version 10 of the protocol and the server's version.
        if said.len() > 5 && said[3] == 0 && said[4] == 10 {
            let version: String =
                said[5..].iter().take_while(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect();
            return Some(Spoken { product: "MySQL", says: format!("MySQL or MariaDB, {version}") });
        }
        let line: String = said.iter().take_while(|byte| **byte >= b' ').map(|byte| char::from(*byte)).collect();
        return Some(Spoken {
            product: "",
            says: format!("no database that we know: it says \"{}\"", crate::output::visible(&line)),
        });
    }
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    const MAY_WE_ENCRYPT: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    stream.write_all(&MAY_WE_ENCRYPT).ok()?;
    let count = stream.read(&mut bytes).unwrap_or_default();
    match &bytes[..count] {
        [b'S' | b'N'] => {
            Some(Spoken { product: "PostgreSQL", says: "PostgreSQL, or what speaks its protocol".to_owned() })
        }
        [b'H', b'T', b'T', b'P', ..] => Some(Spoken { product: "", says: "a web server".to_owned() }),
        // An alert of TLS.
        [0x15, 3, ..] => Some(Spoken { product: "", says: "something that speaks TLS from the first byte".to_owned() }),
        _ => None,
    }
}

/// The steps of a file.
fn file(path: &Path, findings: &mut Findings) {
    let shown = path.display();
    let known = match std::fs::metadata(path) {
        Ok(known) => known,
        Err(error) => {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    "is the directory the right one? `rowferry serve` makes a file that is not there"
                }
                _ => "the user that runs this must be able to reach the file",
            };
            return findings.bad("file", format!("{shown}: {error}"), hint.to_owned());
        }
    };
    if !known.is_file() {
        return findings.bad("file", format!("{shown} is no file"), None);
    }
    let mut head = [0; 20];
    match std::fs::File::open(path).and_then(|mut file| file.read(&mut head)) {
        Err(error) => return findings.bad("file", format!("{shown}: {error}"), "the user may not read it".to_owned()),
        Ok(count) if known.len() > 0 && (count < head.len() || !head.starts_with(b"SQLite format 3\0")) => {
            let hint = "it is something else, is encrypted, or is damaged from its first byte".to_owned();
            return findings.bad("file", format!("{shown} does not begin as SQLite's files do"), hint);
        }
        Ok(_) => {}
    }
    let journal = if head[18] == 2 { "with a write-ahead log" } else { "with a rollback journal" };
    findings.good("file", format!("{shown}: {} bytes, {journal}", known.len()));
    match rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE) {
        Err(error) => findings.bad("lock", error.to_string(), None),
        Ok(connection) => {
            let free = connection
                .busy_timeout(Duration::ZERO)
                .and_then(|()| connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK"));
            match free {
                Ok(()) => findings.good("lock", "nobody writes it at the moment, and we may"),
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                    findings
                        .good("lock", "somebody writes it at the moment, or holds a transaction open: writers wait");
                }
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ReadOnly) => {
                    findings.good(
                        "lock",
                        "it can be read, not written: by its mode, its directory's, or the file system's",
                    );
                }
                Err(error) => findings.bad("lock", error.to_string(), "rowferry check says more".to_owned()),
            }
        }
    }
}

/// The login, and a statement.
fn talk(place: &str, findings: &mut Findings) {
    let started = Instant::now();
    let mut conversation = match conversation::open(place) {
        Ok(conversation) => conversation,
        Err(failure) => return findings.bad("login", failure.message, failure.hint),
    };
    findings.good("login", format!("{} ({})", conversation.whom(), milliseconds(started.elapsed())));
    let query = conversation.sql().shortest_query();
    let mut took = Vec::new();
    for _ in 0..TRIPS {
        let started = Instant::now();
        if let Err(failure) = conversation.ask(query, &mut Nowhere) {
            return findings.bad("statement", failure.message, failure.hint);
        }
        took.push(started.elapsed());
    }
    took.sort_unstable();
    findings
        .good("statement", format!("{query}: {} there and back, the median of {TRIPS}", milliseconds(took[TRIPS / 2])));
    // What has been found is not less true when the goodbye is not heard.
    let _ = conversation.close();
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Takes answers that nobody wants to see.
struct Nowhere;

impl Answers for Nowhere {
    fn begin(&mut self, _: Vec<Column>) -> std::io::Result<()> {
        Ok(())
    }

    fn row(&mut self, _: Vec<Option<Vec<u8>>>) -> std::io::Result<()> {
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn done(&mut self, _: &Done) -> std::io::Result<()> {
        Ok(())
    }

    fn raw(&mut self, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }

    fn notice(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}
