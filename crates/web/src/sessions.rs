//! Who has logged in: a cookie's random text, a key that the page keeps for itself, and two sessions at the PostgreSQL door that the server's own rules have let in.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rand::RngCore as _;
use rowferry_client::postgres::{Answers, Canceller, Config, Connection, Error};
use rowferry_client::{Address, Stream, Timeouts, TlsMode, TlsOptions};
use rowferry_server::Introducer;
use rowferry_wire::Secret;

use crate::answers::Taken;

/// How many may be logged in at a time.
const MOST: usize = 32;

/// The same for one user.
const MOST_OF_ONE: usize = 8;

/// After how long without a request somebody is logged out, and after how long in any case.
const IDLE: Duration = Duration::from_secs(30 * 60);
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);

/// A text that nobody guesses.
fn random() -> String {
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Somebody who has logged in.
pub(crate) struct Session {
    pub(crate) user: String,
    /// What the page says with each request. Browsers send a cookie to every port of a host; this they do not.
    pub(crate) key: String,
    /// For the page's own questions.
    pub(crate) look: Mutex<Connection>,
    /// For the user's.
    pub(crate) work: Mutex<Connection>,
    look_canceller: Option<Canceller>,
    work_canceller: Option<Canceller>,
    begun: Instant,
    touched: Mutex<Instant>,
}

/// Why nobody was let in.
pub(crate) enum Refused {
    /// There are too many.
    Full,
    /// The door's words.
    Door(Error),
}

/// All of them.
pub(crate) struct Sessions {
    introducer: Introducer,
    database: String,
    /// Browsers speak TLS with us.
    encrypted: bool,
    all: Mutex<HashMap<String, Arc<Session>>>,
}

impl Sessions {
    pub(crate) fn new(introducer: Introducer, database: String, encrypted: bool) -> Self {
        Self { introducer, database, encrypted, all: Mutex::default() }
    }

    /// Logs somebody in; the cookie's text, and the key.
    pub(crate) fn open(
        &self,
        peer: SocketAddr,
        user: &str,
        password: Option<&str>,
    ) -> Result<(String, String), Refused> {
        self.tidy();
        if self.all.lock().len() >= MOST {
            return Err(Refused::Full);
        }
        let config = Config {
            address: Address::Unix("rowferry".into()),
            user: user.to_owned(),
            password: password.map(Secret::new),
            database: self.database.clone(),
            application_name: "rowferry web".into(),
            tls: TlsOptions { mode: TlsMode::Disabled, ..TlsOptions::default() },
            timeouts: Timeouts::default(),
        };
        let connect = || -> Result<Connection, Error> {
            let mut connection = Connection::connect_over(self.stream(peer)?, &config)?;
            connection
                .query("SET idle_in_transaction_session_timeout = 60000", &mut Taken::default() as &mut dyn Answers)?;
            Ok(connection)
        };
        let work = connect().map_err(Refused::Door)?;
        let look = connect().map_err(Refused::Door)?;
        let now = Instant::now();
        let session = Session {
            user: user.to_owned(),
            key: random(),
            look_canceller: look.canceller(),
            work_canceller: work.canceller(),
            look: Mutex::new(look),
            work: Mutex::new(work),
            begun: now,
            touched: Mutex::new(now),
        };
        let (token, key) = (random(), session.key.clone());
        let mut all = self.all.lock();
        if all.len() >= MOST {
            return Err(Refused::Full);
        }
        // One user does not keep others out: the oldest of too many goes.
        let mut own: Vec<(Instant, String)> = all
            .iter()
            .filter(|(_, other)| other.user == user)
            .map(|(token, other)| (*other.touched.lock(), token.clone()))
            .collect();
        own.sort_unstable();
        let oldest = own.first().filter(|_| own.len() >= MOST_OF_ONE).and_then(|(_, token)| all.remove(token));
        all.insert(token.clone(), Arc::new(session));
        drop(all);
        drop(oldest);
        Ok((token, key))
    }

    fn stream(&self, peer: SocketAddr) -> Result<Stream, Error> {
        let socket = self.introducer.connect(peer, self.encrypted).map_err(Error::Output)?;
        Stream::adopt(socket.into(), Timeouts::default()).map_err(Error::Output)
    }

    /// Whoever has this cookie, and says this key.
    pub(crate) fn of(&self, token: &str, key: &str) -> Option<Arc<Session>> {
        self.tidy();
        let session = self.all.lock().get(token).filter(|session| session.key == key).cloned()?;
        *session.touched.lock() = Instant::now();
        Some(session)
    }

    /// Logs somebody out. Statements that run go on until they are told that nobody listens.
    pub(crate) fn close(&self, token: &str) {
        drop(self.all.lock().remove(token));
    }

    /// Stops what the user's own statement does, or the page's.
    pub(crate) fn cancel(&self, session: &Session, peer: SocketAddr, look: bool) {
        let canceller = if look { &session.look_canceller } else { &session.work_canceller };
        if let Some(canceller) = canceller
            && let Ok(stream) = self.stream(peer)
            // A statement that has ended needs no stopping.
            && let Err(error) = canceller.cancel_over(&stream)
        {
            tracing::debug!(%error, "a statement of the page's could not be cancelled");
        }
    }

    /// Logs out whoever has been away too long.
    pub(crate) fn tidy(&self) {
        let now = Instant::now();
        let stays = |session: &Session| {
            now.duration_since(session.begun) < LONGEST && now.duration_since(*session.touched.lock()) < IDLE
        };
        let mut gone = Vec::new();
        let mut all = self.all.lock();
        all.retain(|_, session| {
            let stays = stays(session);
            if !stays {
                gone.push(Arc::clone(session));
            }
            stays
        });
        drop(all);
        // Goodbyes are said without the lock.
        drop(gone);
    }
}
