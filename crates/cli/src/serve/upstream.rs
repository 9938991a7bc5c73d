//! Serving the tables of a PostgreSQL server instead of a file's.

use std::sync::Arc;

use rowferry_engine::upstream::{Placements, Upstream, install};
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
        if arguments.install {
            return Err(
                Failure::new("--install: there is no PostgreSQL server in which something would be made").usage()
            );
        }
        if !arguments.place.is_empty() {
            return Err(Failure::new("--place: a file has no nodes on which its tables could lie").usage());
        }
        return Ok(None);
    };
    let given = [
        ("--web", arguments.web.is_some()),
        ("--databases", arguments.databases.is_some()),
        ("--read-only", arguments.read_only),
        ("--no-create", arguments.no_create),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::new(format!("{option}: it is not there in front of a PostgreSQL server"))
            .hint("clients of Informix (--informix), MySQL (--mysql) and PostgreSQL (--postgres) are; what they may do is the URL's user's rights")
            .usage());
    }
    let relays = arguments.postgres.is_some() || arguments.unix_dir.is_some();
    let mysql = arguments.mysql.is_some() || arguments.mysql_socket.is_some();
    if arguments.informix.is_none() && !mysql && !relays {
        return Err(Failure::new("in front of a PostgreSQL server there is nothing to listen at")
            .hint("say --informix ADDR for Informix's clients, --mysql ADDR for MySQL's, --postgres ADDR for PostgreSQL's")
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
    let server: Arc<dyn Upstream> = server;
    if arguments.install {
        install(&server).map_err(|error| Failure::new(format!("--install: {place}: {error}")))?;
    }
    let options = Options { upstream: Some(server), placements, ..options };
    let opened = match &arguments.beside {
        Some(path) => Database::open_beside(&name, path, options),
        None => Database::memory(&name, options),
    };
    let opened = opened.map_err(|error| {
        let failure = Failure::new(format!("cannot serve {place}: {error}"));
        match &error.hint {
            Some(hint) => failure.hint(hint.clone()),
            None => failure,
        }
    })?;
    let mysql = arguments.mysql.is_some() || arguments.mysql_socket.is_some();
    if mysql && !opened.is_ready_for_mysql() {
        return Err(Failure::new(format!(
            "--mysql: {place} has not, in this version, what MySQL's rules need: collations and functions in the schema \"rowferry\""
        ))
        .hint("start the server with --install once: as a user who may make a schema in that database"));
    }
    Ok(opened)
}
