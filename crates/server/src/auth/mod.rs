//! Who may come in.
//!
//! With users, everybody proves a password: over SCRAM-SHA-256 where the protocol has it. Without users everybody is
//! trusted, which the command line allows on loopback only, and says.

mod failures;
pub mod hba;
mod password_file;
mod proved;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use failures::{Failures, Who};
use hba::{Asking, Demand, Method, Rules};
use parking_lot::RwLock;
pub use password_file::PasswordFileError;
use rand::RngCore as _;
use rowferry_dialect::access::Plugin;
use rowferry_engine::{Database, Error};
use rowferry_wire_mysql::messages::auth::Verifier as MysqlVerifier;
use rowferry_wire_pg::scram::{DEFAULT_ITERATIONS, Verifier};

use crate::tls::common_name;
use crate::{Connection, Peer};

/// Bytes of a fresh salt.
const SALT_LEN: usize = 16;

/// Who may come in now: the users, who can be replaced while the server runs, and whose passwords were wrong lately.
#[derive(Debug)]
pub struct Gate {
    users: RwLock<Arc<Users>>,
    rules: RwLock<Option<Arc<Rules>>>,
    failures: Failures,
}

impl Gate {
    /// Lets `users` in; everybody when there are none.
    pub fn new(users: Users) -> Self {
        Self { users: RwLock::new(Arc::new(users)), rules: RwLock::default(), failures: Failures::default() }
    }

    /// Has rules decide who proves what, from now on. Sessions that are open go on.
    pub fn set_rules(&self, rules: Rules) {
        *self.rules.write() = Some(Arc::new(rules));
    }

    /// How a client proves to be a user of a database, whose roles `keeper` has: as the rules say; without rules by their
    /// password, if there are any users.
    ///
    /// # Errors
    /// `28000` when the rules turn the client away.
    pub(crate) fn demand(
        &self,
        client: &Client,
        users: &Users,
        user: &str,
        database: &str,
        keeper: &Database,
    ) -> Result<Demand, Error> {
        let rules = self.rules.read().clone();
        let Some(rules) = rules else {
            return Ok(Demand::plain(if users.is_empty() { Method::Trust } else { Method::Scram }));
        };
        let Client { address, encrypted, .. } = *client;
        let is_member = |role: &str| keeper.is_member(user, role);
        rules.demand(&Asking { address, encrypted, user, database, is_member: &is_member })
    }

    /// The users of this moment.
    pub fn users(&self) -> Arc<Users> {
        self.users.read().clone()
    }

    /// Other users from now on. Sessions that are open go on. Names that are no user's keep their salts.
    pub fn replace(&self, mut users: Users) {
        let mut current = self.users.write();
        users.mock_secret = current.mock_secret;
        *current = Arc::new(users);
    }

    /// A password is about to be checked. Waits when there were too many wrong ones, in this thread only.
    pub(crate) fn attempt(&self, connection: &Connection, user: &str) -> Result<Attempt<'_>, TooManyFailures> {
        let who = Who::new(connection.peer(), user);
        match self.failures.begin(&who, Instant::now()) {
            Some(pause) => {
                if !pause.is_zero() {
                    connection.pause(pause);
                }
                Ok(Attempt { gate: self, who })
            }
            None => Err(TooManyFailures),
        }
    }
}

/// Where a client comes from, and how.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    address: Option<std::net::IpAddr>,
    encrypted: bool,
    /// What its TLS has shown, of an authority that the server knows.
    certificate: Option<ClientCertificate>,
}

/// What a client's certificate says of it.
#[derive(Clone, Debug)]
struct ClientCertificate {
    /// `None` where it names nobody, or not in letters.
    common_name: Option<String>,
}

impl Client {
    pub(crate) fn of(connection: &Connection) -> Self {
        let address = match connection.peer() {
            Peer::Tcp(address) => Some(address.ip().to_canonical()),
            Peer::Unix => None,
        };
        let certificate = connection.client_certificate();
        let certificate = certificate.map(|certificate| ClientCertificate { common_name: common_name(certificate) });
        Self { address, encrypted: connection.is_encrypted(), certificate }
    }
}

impl Client {
    /// It is on this machine.
    pub(crate) fn is_near(&self) -> bool {
        self.address.is_none_or(|address| address.is_loopback())
    }
}

/// An attempt to prove a password, to be told how it went; one that was given up counts for nothing.
pub(crate) struct Attempt<'g> {
    gate: &'g Gate,
    who: Who,
}

impl Attempt<'_> {
    /// The password was right, or not.
    pub(crate) fn ended(&self, right: bool) {
        match right {
            true => self.gate.failures.succeeded(&self.who),
            false => self.gate.failures.failed(self.who.clone(), Instant::now()),
        }
    }
}

/// Too many wrong passwords of this user from this address: the password is not even looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooManyFailures;

impl fmt::Display for TooManyFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many wrong passwords; try again later")
    }
}

/// What looks like a password's verifier and is none that can be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadVerifier(&'static str);

impl fmt::Display for BadVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadVerifier {}

/// The users and what is kept of their passwords. Empty: everybody is trusted.
#[derive(Clone, Default)]
pub struct Users {
    verifiers: HashMap<String, Verifier>,
    /// For users that do not exist: see [`Verifier::mock`].
    mock_secret: [u8; 32],
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").field("count", &self.verifiers.len()).finish_non_exhaustive()
    }
}

impl Users {
    /// Nobody: everybody is trusted.
    pub fn none() -> Self {
        Self { verifiers: HashMap::new(), mock_secret: random() }
    }

    /// Adds a user, or replaces one. `password` is the password itself or a verifier as PostgreSQL stores it
    /// (`SCRAM-SHA-256$…`).
    ///
    /// # Errors
    /// When it begins like a verifier and is not one: it would be taken for the password.
    pub fn add(&mut self, name: &str, password: &str) -> Result<(), BadVerifier> {
        let verifier = match password.parse() {
            Ok(verifier) => verifier,
            Err(_) if password.starts_with("SCRAM-SHA-256$") => {
                return Err(BadVerifier(
                    "malformed verifier: expected SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>",
                ));
            }
            Err(_) if is_md5(password) => {
                return Err(BadVerifier("a verifier of kind md5 cannot be used: give a password, or SCRAM-SHA-256$…"));
            }
            Err(_) => Verifier::from_password(password, &random::<SALT_LEN>(), DEFAULT_ITERATIONS),
        };
        self.verifiers.insert(name.to_owned(), verifier);
        Ok(())
    }

    /// The users for an attempt of `name` to log in: with the password that the file of the database keeps of the role,
    /// where the password file knows none. Nobody proves one that has expired.
    ///
    /// # Errors
    /// When what the file keeps is no verifier.
    pub fn with_role(self: &Arc<Self>, name: &str, login: &rowferry_engine::Login) -> Result<Arc<Self>, BadVerifier> {
        if login.expired {
            let mut users = Self { mock_secret: self.mock_secret, ..Self::default() };
            users.add(name, &format!("{:?}", random::<32>()))?;
            return Ok(Arc::new(users));
        }
        if login.verifier.is_none() && login.mysql_verifier.is_some() && !self.knows(name) {
            // Clients of MySQL's alone can prove such a password.
            let mut users = Self::clone(self);
            users.verifiers.insert(name.to_owned(), Verifier::mock(name.as_bytes(), &self.mock_secret));
            return Ok(Arc::new(users));
        }
        match &login.verifier {
            Some(verifier) if !self.verifiers.contains_key(name) => {
                let mut users = Self::clone(self);
                users.add(name, verifier)?;
                Ok(Arc::new(users))
            }
            _ => Ok(Arc::clone(self)),
        }
    }

    /// Whether this is a user's name.
    pub fn knows(&self, name: &str) -> bool {
        self.verifiers.contains_key(name)
    }

    /// True when there is no user, and so no password to prove.
    pub fn is_empty(&self) -> bool {
        self.verifiers.is_empty()
    }

    /// How many users there are.
    pub fn len(&self) -> usize {
        self.verifiers.len()
    }

    /// What the exchange with `name` needs. For a name that is no user it is a verifier that nothing satisfies, so that
    /// names cannot be probed.
    pub fn verifier(&self, name: &[u8]) -> Verifier {
        std::str::from_utf8(name)
            .ok()
            .and_then(|name| self.verifiers.get(name))
            .cloned()
            .unwrap_or_else(|| Verifier::mock(name, &self.mock_secret))
    }

    /// Checks a password that came in the clear. As slow for a wrong name as for a wrong password; one that was right
    /// before is known again at once.
    pub fn accepts(&self, name: &str, password: &str) -> bool {
        proved::accepts(&self.verifier(name.as_bytes()), password)
    }
}

/// What is kept of a role's password: a verifier, be it given as one; nothing of one of the empty password, which nobody
/// can prove.
///
/// # Errors
/// Words for a password that is a verifier of another kind, or a damaged one.
pub fn password_verifier(password: &str) -> Result<Option<String>, &'static str> {
    if is_md5(password) {
        return Err("a password as md5, which proves nothing here,");
    }
    match password.parse::<Verifier>() {
        Ok(verifier) if verifier.accepts("") => Ok(None),
        Ok(verifier) => Ok(Some(verifier.to_string())),
        Err(_) if password.starts_with("SCRAM-SHA-256$") => Err("a password that is a damaged SCRAM verifier"),
        Err(_) => Ok(Some(Verifier::from_password(password, &random::<SALT_LEN>(), DEFAULT_ITERATIONS).to_string())),
    }
}

/// What is kept of a password for MySQL's clients, by the plugin that they prove it by.
pub fn mysql_verifier(plugin: Plugin, password: &str) -> String {
    let password = password.as_bytes();
    let verifier = match plugin {
        Plugin::Native => MysqlVerifier::native(password),
        Plugin::Caching => MysqlVerifier::caching(password, random()),
        Plugin::Sha256 => MysqlVerifier::sha256(password, random()),
    };
    verifier.to_string()
}

/// What PostgreSQL's older authentication stores: `md5` and 32 hexadecimal digits.
fn is_md5(text: &str) -> bool {
    text.strip_prefix("md5").is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Random bytes from the system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_names_and_passwords() {
        let mut users = Users::none();
        assert!(!users.accepts("anybody", ""));
        users.add("ada", "pencil").unwrap();
        let stored = Verifier::from_password("secret", b"0123456789abcdef", 4096).to_string();
        users.add("bob", &stored).unwrap();
        assert!(users.accepts("ada", "pencil"));
        assert!(users.accepts("bob", "secret"));
        for (name, password) in [("ada", "secret"), ("bob", &stored), ("eve", ""), ("", "")] {
            assert!(!users.accepts(name, password), "{name}");
        }
    }

    #[test]
    fn a_broken_verifier_is_not_taken_for_a_password() {
        let mut users = Users::none();
        let good = Verifier::from_password("secret", b"0123456789abcdef", 4096).to_string();
        for bad in [&good[..good.len() - 5], "SCRAM-SHA-256$4096:x$y:z", "SCRAM-SHA-256$", &format!("{good} ")] {
            assert!(users.add("ada", bad).is_err(), "{bad}");
        }
        assert!(users.add("ada", "md5e8a48653851e28c69d0506508fb27fc5").is_err());
        assert!(users.is_empty());
        users.add("ada", "md5 is old").unwrap();
    }

    #[test]
    fn an_unknown_name_gets_the_same_salt_each_time() {
        let mut users = Users::none();
        users.add("ada", "pencil").unwrap();
        assert_eq!(users.verifier(b"eve"), users.verifier(b"eve"));
        assert_ne!(users.verifier(b"eve"), users.verifier(b"mallory"));
    }
}
