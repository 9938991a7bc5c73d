//! Rules that say who may come in from where, and how they prove who they are: PostgreSQL's `pg_hba.conf`.
//!
//! The first rule that fits a connection decides. What a line says here it does; what cannot be done here is refused with its
//! line when the file is read.

mod address;
mod names;
mod read;

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use rowferry_engine::{Condition, Error, HostRule};

pub use address::Address;
pub use names::{NameMap, described as described_mappings};
use read::Options;
pub use read::RulesError;

use super::Client;

/// The rules of a file, in their order.
#[derive(Clone, Debug)]
pub struct Rules {
    path: PathBuf,
    rules: Vec<Rule>,
}

/// A line of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Rule {
    line: usize,
    kind: Kind,
    databases: Vec<Word>,
    users: Vec<Word>,
    /// `None` for `local`.
    address: Option<Address>,
    method: Method,
    /// The file's word for it.
    word: &'static str,
    options: Options,
    /// What its option `map` names.
    names: Option<Arc<NameMap>>,
}

/// Which connections a rule is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Local,
    Host,
    HostSsl,
    HostNoSsl,
    /// Nothing here is encrypted by GSSAPI, so that it is all that `host` is.
    HostNoGssEnc,
}

impl Kind {
    const ALL: [(&'static str, Self); 5] = [
        ("local", Self::Local),
        ("host", Self::Host),
        ("hostssl", Self::HostSsl),
        ("hostnossl", Self::HostNoSsl),
        ("hostnogssenc", Self::HostNoGssEnc),
    ];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// A database or a user: a keyword means something only where it was not quoted.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Word {
    text: String,
    quoted: bool,
}

impl Word {
    fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }
}

/// How whoever a rule fits proves who they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// Not at all.
    Trust,
    /// They cannot.
    Reject,
    /// By SCRAM-SHA-256, where the protocol has it.
    Scram,
    /// By their password, sent as it is.
    Password,
    /// By being that user of this machine.
    Peer,
    /// By the name in the certificate that their TLS shows.
    Cert,
}

/// What a rule asks of the certificate that a client's TLS shows, whatever else proves who it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CertificateCheck {
    /// Nothing.
    #[default]
    None,
    /// That there is one, of an authority that the server knows (`clientcert=verify-ca`).
    Authority,
    /// That its name is the user's, too (`clientcert=verify-full`).
    Name,
}

/// What a rule asks of whom it fits.
#[derive(Clone, Debug)]
pub struct Demand {
    /// How they prove who they are.
    pub method: Method,
    certificate: CertificateCheck,
    names: Option<Arc<NameMap>>,
}

impl Demand {
    /// Where no rules are.
    pub(super) fn plain(method: Method) -> Self {
        Self { method, certificate: CertificateCheck::None, names: None }
    }

    /// Whether who has proved to be `proved` elsewhere may be a user here: by the rule's map, or by being called the same.
    pub fn admits(&self, proved: &str, user: &str) -> bool {
        match &self.names {
            Some(map) => map.admits(proved, user),
            None => proved == user,
        }
    }

    /// Asks for the certificate that the rule wants to see, before anything is proved.
    ///
    /// # Errors
    /// `28000`.
    pub(crate) fn check_certificate(&self, client: &Client) -> Result<(), Error> {
        if self.certificate == CertificateCheck::None || client.certificate.is_some() {
            return Ok(());
        }
        let message = "connection requires a valid client certificate";
        Err(Error::new(Condition::InvalidAuthorizationSpecification, message))
    }

    /// Compares the certificate's name with the user's, once all else is proved.
    ///
    /// # Errors
    /// `28000`, or `28P01` where a password was asked for, too.
    pub(crate) fn check_certificate_name(&self, client: &Client, user: &str) -> Result<(), Error> {
        let name = client.certificate.as_ref().and_then(|certificate| certificate.common_name.as_deref());
        if self.certificate != CertificateCheck::Name || name.is_some_and(|name| self.admits(name, user)) {
            return Ok(());
        }
        tracing::warn!(?name, user, "the name in the client's certificate is not the user's");
        let (condition, what) = match self.method {
            Method::Scram | Method::Password => (Condition::InvalidPassword, "password"),
            Method::Trust => (Condition::InvalidAuthorizationSpecification, "\"trust\""),
            _ => (Condition::InvalidAuthorizationSpecification, "certificate"),
        };
        Err(Error::new(condition, format!("{what} authentication failed for user \"{user}\"")))
    }
}

impl Method {
    /// Who has proved by it who they are elsewhere may be called otherwise here.
    fn takes_map(self) -> bool {
        matches!(self, Self::Peer | Self::Cert)
    }

    /// The words of the file. `md5` asks for SCRAM where SCRAM verifiers are kept, and no others are kept here.
    const ALL: [(&'static str, Self); 7] = [
        ("trust", Self::Trust),
        ("reject", Self::Reject),
        ("scram-sha-256", Self::Scram),
        ("md5", Self::Scram),
        ("password", Self::Password),
        ("peer", Self::Peer),
        ("cert", Self::Cert),
    ];
}

/// Who asks to come in.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// From which address; `None` for a unix socket.
    pub address: Option<IpAddr>,
    /// Whether the connection is encrypted by TLS.
    pub encrypted: bool,
    /// As whom.
    pub user: &'a str,
    /// To which database.
    pub database: &'a str,
    /// Whether the user is a member of a role.
    pub is_member: &'a dyn Fn(&str) -> bool,
}

impl fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").field("user", &self.user).field("address", &self.address).finish_non_exhaustive()
    }
}

impl Asking<'_> {
    fn described(&self) -> String {
        let host = self.address.map_or_else(|| "[local]".to_owned(), |address| address.to_string());
        let encryption = if self.encrypted { "SSL encryption" } else { "no encryption" };
        format!("host \"{host}\", user \"{}\", database \"{}\", {encryption}", self.user, self.database)
    }
}

impl Rules {
    /// Reads the rules of a file, and the user name maps that they name of another.
    ///
    /// # Errors
    /// For a file that cannot be read, and for the first line that is wrong, wants what is not here or names no map.
    pub fn read(path: &Path, maps: Option<&Path>) -> Result<Self, RulesError> {
        let maps = maps.map(names::read).transpose()?.unwrap_or_default();
        let text = std::fs::read_to_string(path).map_err(|error| RulesError::of_file(path, &error))?;
        let rules = read::lines(&text).into_iter().map(|(line, words)| {
            let of_line = |why| RulesError::of_line(path, line, why);
            let mut rule = read::rule(line, &words).map_err(of_line)?;
            if let Some(name) = &rule.options.map {
                let map = maps.get(name).ok_or_else(|| of_line(format!("there is no user name map \"{name}\"")))?;
                rule.names = Some(Arc::clone(map));
            }
            Ok(rule)
        });
        Ok(Self { path: path.to_owned(), rules: rules.collect::<Result<_, _>>()? })
    }

    /// How somebody proves who they are.
    ///
    /// # Errors
    /// `28000` when a rule turns them away, or none lets them in.
    pub fn demand(&self, asking: &Asking<'_>) -> Result<Demand, Error> {
        let refused = |message| Err(Error::new(Condition::InvalidAuthorizationSpecification, message));
        match self.rules.iter().find(|rule| rule.fits(asking)) {
            None => refused(format!("no pg_hba.conf entry for {}", asking.described())),
            Some(rule) if rule.method == Method::Reject => {
                refused(format!("pg_hba.conf rejects connection for {}", asking.described()))
            }
            Some(rule) => {
                Ok(Demand { method: rule.method, certificate: rule.options.certificate, names: rule.names.clone() })
            }
        }
    }

    /// Whether a rule asks for certificates of clients, which a server that knows no authority for them cannot look at.
    pub fn ask_for_certificates(&self) -> bool {
        self.rules.iter().any(|rule| rule.options.certificate != CertificateCheck::None)
    }

    /// Whether a rule asks for TLS, which a server without a certificate never has.
    pub fn ask_for_tls(&self) -> bool {
        self.rules.iter().any(|rule| rule.kind == Kind::HostSsl)
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// True when nobody is let in.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Where they were read from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What stands in a file of rules now, line by line, with what is wrong with each: `pg_hba_file_rules`.
pub fn described(path: &Path) -> Vec<HostRule> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let lines = read::lines(&text).into_iter();
    lines
        .map(|(line, words)| match read::rule(line, &words) {
            Ok(rule) => rule.described(),
            Err(error) => HostRule { line, error: Some(error), ..HostRule::default() },
        })
        .collect()
}

impl Rule {
    fn fits(&self, asking: &Asking<'_>) -> bool {
        let by_way = match (self.kind, asking.address) {
            (Kind::Local, address) => return address.is_none() && self.names(asking),
            (_, None) => return false,
            (Kind::HostSsl, _) => asking.encrypted,
            (Kind::HostNoSsl, _) => !asking.encrypted,
            (Kind::Host | Kind::HostNoGssEnc, _) => true,
        };
        // The address last: a name may have to be looked up.
        by_way
            && self.names(asking)
            && self.address.as_ref().zip(asking.address).is_some_and(|(address, from)| address.holds(from))
    }

    fn names(&self, asking: &Asking<'_>) -> bool {
        let database = |word: &Word| match word {
            _ if word.is("all") => true,
            _ if word.is("sameuser") => asking.database == asking.user,
            _ if word.is("samerole") || word.is("samegroup") => (asking.is_member)(asking.database),
            // Connections for replication are refused before.
            _ if word.is("replication") => false,
            _ => word.text == asking.database,
        };
        let user = |word: &Word| match word.text.strip_prefix('+') {
            _ if word.is("all") => true,
            Some(role) if !word.quoted => (asking.is_member)(role),
            _ => word.text == asking.user,
        };
        self.databases.iter().any(database) && self.users.iter().any(user)
    }

    fn described(&self) -> HostRule {
        let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect();
        let (address, netmask) = self.address.as_ref().map(Address::described).unzip();
        HostRule {
            line: self.line,
            kind: Some(self.kind.word()),
            databases: texts(&self.databases),
            users: texts(&self.users),
            address,
            netmask: netmask.flatten(),
            method: Some(self.word),
            options: self.options.described(),
            error: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Rules::read(file.path(), None).unwrap()
    }

    fn asked(rules: &Rules, address: Option<&str>, user: &str, database: &str) -> Result<Method, String> {
        let is_member = |role: &str| role == user || (role == "staff" && user == "ada");
        let address = address.map(|address| address.parse().unwrap());
        let asking = Asking { address, encrypted: false, user, database, is_member: &is_member };
        rules.demand(&asking).map(|demand| demand.method).map_err(|error| error.message.clone())
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = rules(
            "# who may come in\n\
             local all all trust\n\
             host shop eve 10.0.0.0/8 reject\n\
             host shop,stock +staff,bob 10.0.0.0/8 scram-sha-256\n\
             host \"all\" all ::1/128 password\n\
             hostssl all all 0.0.0.0/0 trust\n\
             host sameuser all samehost trust\n",
        );
        assert_eq!(asked(&rules, None, "eve", "shop"), Ok(Method::Trust));
        assert_eq!(asked(&rules, Some("10.1.2.3"), "ada", "shop"), Ok(Method::Scram));
        assert_eq!(asked(&rules, Some("10.1.2.3"), "bob", "stock"), Ok(Method::Scram));
        assert_eq!(
            asked(&rules, Some("10.1.2.3"), "eve", "shop").unwrap_err(),
            "pg_hba.conf rejects connection for host \"10.1.2.3\", user \"eve\", database \"shop\", no encryption"
        );
        assert_eq!(
            asked(&rules, Some("10.1.2.3"), "eve", "stock").unwrap_err(),
            "no pg_hba.conf entry for host \"10.1.2.3\", user \"eve\", database \"stock\", no encryption"
        );
        // Quoted, it is a database of that name.
        assert_eq!(asked(&rules, Some("::1"), "eve", "all"), Ok(Method::Password));
        assert!(asked(&rules, Some("::1"), "eve", "shop").is_err());
        assert_eq!(asked(&rules, Some("127.0.0.1"), "bob", "bob"), Ok(Method::Trust));
        // An IPv4 client of a socket for both is one of IPv4.
        assert_eq!(asked(&rules, Some("::ffff:10.1.2.3"), "ada", "shop"), Ok(Method::Scram));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, words) in [
            ("hostgssenc all all all trust", "1: hostgssenc"),
            ("\nhost all all", "2: end-of-line before IP address specification"),
            ("host all all all ldap", "1: authentication method \"ldap\" is not supported"),
            ("host all all all nothing", "1: invalid authentication method \"nothing\""),
            ("host all all 10.0.0.0/33 trust", "invalid CIDR mask in address \"10.0.0.0/33\""),
            ("host all all 10.0.0.0 trust", "invalid IP mask \"trust\""),
            ("host all all all peer", "peer authentication is only supported on local sockets"),
            ("host all all .example.org trust", "\".example.org\""),
            ("local all all trust map=x", "\"map\" is only valid for"),
            ("local all all peer map=x", "no user name map \"x\""),
            ("local all all peer ldapserver=x", "\"ldapserver\" is only valid for"),
            ("local all all peer nothing=x", "unrecognized authentication option name: \"nothing\""),
            ("local all all peer map", "option not in name=value format: map"),
            ("host all all all cert", "cert authentication is only supported on hostssl connections"),
            ("host all all all trust clientcert=verify-ca", "clientcert can only be configured for \"hostssl\" rows"),
            ("hostssl all all all cert clientcert=verify-ca", "clientcert can only be set to \"verify-full\""),
            ("hostssl all all all trust clientcert=1", "invalid value for clientcert: \"1\""),
            ("hostssl all all all cert clientname=DN", "\"clientname\""),
            ("local @names all trust", "@names"),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let error = Rules::read(file.path(), None).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
