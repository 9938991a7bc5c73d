//! What the server tells of itself at its start: on standard output, in its log, and to its sessions' SHOW.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use rowferry_engine::Database;
use rowferry_server::auth::Users;
use rowferry_server::{Bound, Endpoint};

use super::Arguments;
use crate::Failure;

/// Settings that SHOW prints as this server has them.
pub(super) fn tell_sessions(arguments: &Arguments, version: u32, database: &Database, bound: &[Bound]) {
    let postgres = bound.iter().find_map(|bound| match &bound.endpoint {
        Endpoint::Tcp(address) => Some(address),
        Endpoint::Unix(_) => None,
    });
    database.announce("listen_addresses", postgres.map(|address| address.ip().to_string()).unwrap_or_default());
    if let Some(address) = postgres {
        database.announce("port", address.port().to_string());
    }
    if let Some(path) = &arguments.hba {
        database.announce("hba_file", super::absolute(path).display().to_string());
    }
    if let Some(path) = &arguments.ident {
        database.announce("ident_file", super::absolute(path).display().to_string());
    }
    if let Some(directory) = &arguments.unix_dir {
        database.announce("unix_socket_directories", directory.display().to_string());
    }
    database.announce("max_connections", arguments.max_connections.to_string());
    database.announce("server_version", arguments.server_version.as_str());
    database.announce("server_version_num", version.to_string());
    if arguments.tls || arguments.tls_cert.is_some() {
        database.announce("ssl", "on");
    }
    if let Some(path) = &arguments.tls_client_ca {
        database.announce("ssl_ca_file", super::absolute(path).display().to_string());
    }
}

/// Passwords at the doors are of little use when the file itself lies open.
pub(super) fn warn_of_readers(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        let mode = format!("{:03o}", mode & 0o777);
        tracing::warn!(path = %path.display(), mode, "other users of this machine have access to the file (chmod 600)");
    }
}

/// Where else the server answers.
pub(super) struct Told {
    pub(super) metrics: Option<SocketAddr>,
    /// The page, and whether it is in TLS.
    pub(super) web: Option<(SocketAddr, bool)>,
}

/// Says where to connect, and who may.
pub(super) fn announce(
    arguments: &Arguments,
    database: &Database,
    bound: &[Bound],
    told: &Told,
    users: &Users,
) -> Result<(), Failure> {
    let name = database.name();
    let journal = database.journal();
    let shown = match database.upstream() {
        Some(place) => format!("the PostgreSQL server at {place}"),
        None => arguments.database.display().to_string(),
    };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let mut event = serde_json::Map::new();
        event.insert("event".into(), "listening".into());
        event.insert("pid".into(), std::process::id().into());
        event.insert("database".into(), name.into());
        event.insert("journal".into(), journal.now.clone().into());
        if journal.before != journal.now {
            event.insert("journal_before".into(), journal.before.clone().into());
        }
        for bound in bound {
            let door = match &bound.endpoint {
                Endpoint::Tcp(_) => bound.door,
                Endpoint::Unix(_) if bound.door == "mysql" => "mysql_socket",
                Endpoint::Unix(_) => "unix",
            };
            event.insert(door.into(), bound.endpoint.to_string().into());
        }
        if let Some(address) = told.metrics {
            event.insert("metrics".into(), address.to_string().into());
        }
        if let Some((address, _)) = told.web {
            event.insert("web".into(), address.to_string().into());
        }
        writeln!(out, "{}", serde_json::Value::Object(event))?;
    } else {
        writeln!(out, "Serving {} as database \"{name}\". Connect with:", shown)?;
        for bound in bound {
            match &bound.endpoint {
                Endpoint::Tcp(address) => {
                    let host = if address.ip().is_unspecified() { "localhost".into() } else { host_text(address) };
                    match bound.door {
                        "postgres" => writeln!(out, "  psql postgresql://{host}:{}/{name}", address.port())?,
                        door => writeln!(out, "  {door}://{host}:{}/{name}", address.port())?,
                    }
                }
                Endpoint::Unix(path) if bound.door == "mysql" => writeln!(out, "  mysql -S {} {name}", path.display())?,
                Endpoint::Unix(path) => {
                    let directory = path.parent().unwrap_or(path).display();
                    let port = path.extension().unwrap_or_default().to_string_lossy();
                    writeln!(out, "  psql -h {directory} -p {port} {name}")?;
                }
            }
        }
        if let Some((address, tls)) = told.web {
            let host = if address.ip().is_unspecified() { "localhost".into() } else { host_text(&address) };
            let scheme = if tls { "https" } else { "http" };
            writeln!(out, "A page to look at it: {scheme}://{host}:{}/", address.port())?;
        }
        if let Some(address) = told.metrics {
            let host = if address.ip().is_unspecified() { "localhost".into() } else { host_text(&address) };
            writeln!(out, "Figures for Prometheus: http://{host}:{}/metrics", address.port())?;
        }
        if users.is_empty() && arguments.hba.is_none() {
            let who = match arguments.trust_network {
                true => "on the network",
                false => "on this machine",
            };
            writeln!(out, "No users are configured: everybody {who} who can connect is trusted.")?;
        }
        if journal.before != journal.now && database.upstream().is_none() {
            let (before, now) = (&journal.before, &journal.now);
            writeln!(out, "The file's journal mode was {before} and is {now} from now on (--journal keep leaves it).")?;
        }
        writeln!(out, "Ctrl-C stops the server.")?;
    }
    out.flush()?;
    // Where it was not told above.
    if users.is_empty() && arguments.hba.is_none() && arguments.json {
        tracing::warn!("no users are configured: everybody who can connect is trusted");
    }
    Ok(())
}

/// An address as URLs have it.
fn host_text(address: &SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}
