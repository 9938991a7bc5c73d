//! Serving the tables of a PostgreSQL server instead of a file's.

use std::sync::Arc;

use rowferry_engine::upstream::{Placements, Upstream as _};
use rowferry_engine::{Database, Options};
use rowferry_upstream::Server;

use super::Arguments;
use crate::Failure;

/// How a URL of such a server begins.
const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// PostgreSQL's clients are passed on to a server, which says itself who may come in.
pub(super) fn relays(arguments: &Arguments) -> bool {
    url(arguments).is_some()
}

fn url(arguments: &Arguments) -> Option<&str> {
    let text = arguments.database.to_str()?;
    SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}

/// The server that is to be served, where it is one and no file.
pub(super) fn of(arguments: &Arguments) -> Result<Option<Arc<Server>>, Failure> {
    let Some(url) = url(arguments) else {
        if arguments.beside.is_some() {
            return Err(Failure::new("--beside: there is no PostgreSQL server beside which the file would be").usage());
        }
        if !arguments.place.is_empty() {
            return Err(Failure::new("--place: a file has no nodes on which its tables could lie").usage());
        }
        return Ok(None);
    };
    let given = [
        ("--mysql", arguments.mysql.is_some()),
        ("--mysql-socket", arguments.mysql_socket.is_some()),
        ("--web", arguments.web.is_some()),
        ("--databases", arguments.databases.is_some()),
        ("--read-only", arguments.read_only),
        ("--no-create", arguments.no_create),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::new(format!("{option}: it is not there in front of a PostgreSQL server"))
            .hint("Informix's clients (--informix) and PostgreSQL's (--postgres) are; what they may do is the URL's user's rights")
            .usage());
    }
    let relays = arguments.postgres.is_some() || arguments.unix_dir.is_some();
    if arguments.informix.is_none() && !relays {
        return Err(Failure::new("in front of a PostgreSQL server there is nothing to listen at")
            .hint("say --informix ADDR for Informix's clients, --postgres ADDR for PostgreSQL's")
            .usage());
    }
    if relays && arguments.tls_required {
        return Err(Failure::new("--tls-required: PostgreSQL's clients are passed on to the server behind")
            .hint("it says itself who must encrypt: hostssl in its pg_hba.conf")
            .usage());
    }
    let server = Server::from_url(url).map_err(|error| Failure::new(format!("the server's URL: {error}")).usage())?;
    Ok(Some(Arc::new(server)))
}

/// Opens what is known here of the server's tables, and connects to it.
pub(super) fn open(arguments: &Arguments, server: Arc<Server>, options: Options) -> Result<Database, Failure> {
    let (name, place) = (server.database().to_owned(), server.place());
    let mut placements = Placements::default();
    for words in &arguments.place {
        placements.add(words).map_err(|error| Failure::new(format!("--place: {error}")).usage())?;
    }
    let options = Options { upstream: Some(server), placements, ..options };
    let opened = match &arguments.beside {
        Some(path) => Database::open_beside(&name, path, options),
        None => Database::memory(&name, options),
    };
    opened.map_err(|error| {
        let failure = Failure::new(format!("cannot serve {place}: {error}"));
        match &error.hint {
            Some(hint) => failure.hint(hint.clone()),
            None => failure,
        }
    })
}
