//! Reads the lines of a file of rules.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::address::{Address, mask};
use super::{CertificateCheck, Kind, Method, Rule, Word};

/// Why a file of rules cannot be used.
#[derive(Debug)]
pub struct RulesError {
    path: PathBuf,
    /// From 1; 0 concerns the whole file.
    line: usize,
    why: String,
}

impl RulesError {
    pub(super) fn of_file(path: &Path, error: &std::io::Error) -> Self {
        Self { path: path.to_owned(), line: 0, why: error.to_string() }
    }

    pub(super) fn of_line(path: &Path, line: usize, why: String) -> Self {
        Self { path: path.to_owned(), line, why }
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.why),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.why),
        }
    }
}

impl std::error::Error for RulesError {}

/// A field of a line: words between which commas stand.
pub(super) type Field = Vec<Word>;

/// Methods that PostgreSQL has and we have not.
const ELSEWHERE: [&str; 8] = ["bsd", "gss", "ident", "krb5", "ldap", "pam", "radius", "sspi"];

/// Options of these methods.
const OF_OTHERS: [(&str, &str); 19] = [
    ("compat_realm", "gssapi and sspi"),
    ("include_realm", "gssapi and sspi"),
    ("krb_realm", "gssapi and sspi"),
    ("ldapbasedn", "ldap"),
    ("ldapbinddn", "ldap"),
    ("ldapbindpasswd", "ldap"),
    ("ldapport", "ldap"),
    ("ldapprefix", "ldap"),
    ("ldapscheme", "ldap"),
    ("ldapsearchattribute", "ldap"),
    ("ldapsearchfilter", "ldap"),
    ("ldapserver", "ldap"),
    ("ldapsuffix", "ldap"),
    ("ldaptls", "ldap"),
    ("ldapurl", "ldap"),
    ("pam_use_hostname", "pam"),
    ("pamservice", "pam"),
    ("radiusservers", "radius"),
    ("upn_username", "sspi"),
];

/// What stands behind a rule's method.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Options {
    /// The map of names.
    pub(super) map: Option<String>,
    pub(super) certificate: CertificateCheck,
}

impl Options {
    /// As `pg_hba_file_rules` has them.
    pub(super) fn described(&self) -> Vec<String> {
        let certificate = match self.certificate {
            CertificateCheck::None => None,
            CertificateCheck::Authority => Some("clientcert=verify-ca".to_owned()),
            CertificateCheck::Name => Some("clientcert=verify-full".to_owned()),
        };
        self.map.iter().map(|map| format!("map={map}")).chain(certificate).collect()
    }
}

/// The lines that say anything, by their numbers. A line that ends in a backslash goes on in the next.
pub(super) fn lines(text: &str) -> Vec<(usize, Vec<Field>)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let mut whole = line.to_owned();
        while let Some(begun) = whole.strip_suffix('\\') {
            whole = begun.to_owned();
            match lines.next() {
                Some((_, next)) => whole.push_str(next),
                None => break,
            }
        }
        let fields = fields(&whole);
        if !fields.is_empty() {
            found.push((index + 1, fields));
        }
    }
    found
}

/// The fields of a line, as PostgreSQL cuts it: blanks part fields, commas words; quotes keep what they hold together, and take
/// its meaning from a keyword; `#` begins a comment.
fn fields(line: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut goes_on = false;
    let mut rest = line.chars().peekable();
    loop {
        while rest.next_if(|c| c.is_ascii_whitespace() || *c == ',').is_some() {}
        match rest.peek() {
            None | Some('#') => return fields,
            Some(_) => {}
        }
        let (mut text, mut quoted, mut in_quotes, mut was_quote) = (String::new(), false, false, false);
        let mut comma = false;
        while let Some(&c) = rest.peek() {
            if !in_quotes && (c.is_ascii_whitespace() || c == '#') {
                break;
            }
            rest.next();
            if !in_quotes && c == ',' {
                comma = true;
                break;
            }
            if c != '"' || was_quote {
                text.push(c);
            }
            was_quote = in_quotes && c == '"' && !was_quote;
            if c == '"' {
                in_quotes = !in_quotes;
                quoted |= text.is_empty();
            }
        }
        let word = Word { text, quoted };
        match fields.last_mut() {
            Some(field) if goes_on => field.push(word),
            _ => fields.push(vec![word]),
        }
        goes_on = comma;
    }
}

/// The rule that a line is, or what is wrong with it.
pub(super) fn rule(line: usize, fields: &[Field]) -> Result<Rule, String> {
    let mut fields = fields.iter();
    let kind = kind(single(fields.next().map_or(&[], Vec::as_slice), "connection type")?)?;
    let databases = names(fields.next(), "database")?;
    let users = names(fields.next(), "role")?;
    let address = match kind {
        Kind::Local => None,
        _ => {
            let field = fields.next().ok_or("end-of-line before IP address specification")?;
            Some(address(single(field, "host address")?, &mut fields)?)
        }
    };
    let field = fields.next().ok_or("end-of-line before authentication method")?;
    let (word, method) = method(&single(field, "authentication type")?.text, kind)?;
    let mut options = Options::default();
    for option in fields.flatten() {
        let pair = option.text.split_once('=');
        let (name, value) =
            pair.ok_or_else(|| format!("authentication option not in name=value format: {}", option.text))?;
        set_option(&mut options, name, value, kind, method)?;
    }
    if method == Method::Cert {
        options.certificate = CertificateCheck::Name;
    }
    Ok(Rule { line, kind, databases, users, address, method, word, options, names: None })
}

fn set_option(options: &mut Options, name: &str, value: &str, kind: Kind, method: Method) -> Result<(), String> {
    let only_for =
        |methods: &str| format!("authentication option \"{name}\" is only valid for authentication methods {methods}");
    match name {
        "map" if method.takes_map() => options.map = Some(value.to_owned()),
        "map" => return Err(only_for("ident, peer, gssapi, sspi, and cert")),
        "clientcert" | "clientname" if kind != Kind::HostSsl => {
            return Err(format!("{name} can only be configured for \"hostssl\" rows"));
        }
        "clientcert" => {
            options.certificate = match value {
                "verify-full" => CertificateCheck::Name,
                "verify-ca" if method == Method::Cert => {
                    let message = "clientcert can only be set to \"verify-full\" when using \"cert\" authentication";
                    return Err(message.to_owned());
                }
                "verify-ca" => CertificateCheck::Authority,
                _ => return Err(format!("invalid value for clientcert: \"{value}\"")),
            }
        }
        "clientname" => match value {
            "CN" => {}
            "DN" => return Err("the authentication option \"clientname\" with \"DN\" is not supported".to_owned()),
            _ => return Err(format!("invalid value for clientname: \"{value}\"")),
        },
        _ => {
            let methods = OF_OTHERS.iter().find(|(known, _)| *known == name).map(|(_, methods)| *methods);
            return Err(match methods {
                Some(methods) => only_for(methods),
                None => format!("unrecognized authentication option name: \"{name}\""),
            });
        }
    }
    Ok(())
}

pub(super) fn single<'f>(field: &'f [Word], what: &str) -> Result<&'f Word, String> {
    match field {
        [word] => Ok(word),
        _ => Err(format!("multiple values specified for {what}")),
    }
}

fn kind(word: &Word) -> Result<Kind, String> {
    if let Some((_, kind)) = Kind::ALL.iter().find(|(name, _)| *name == word.text) {
        return Ok(*kind);
    }
    Err(match word.text.as_str() {
        "hostgssenc" => "hostgssenc record cannot match because GSSAPI is not supported by this build".to_owned(),
        text if text.starts_with("include") => format!("\"{text}\" is not supported"),
        text => format!("invalid connection type \"{text}\""),
    })
}

fn names(field: Option<&Field>, what: &str) -> Result<Vec<Word>, String> {
    let field = field.ok_or_else(|| format!("end-of-line before {what} specification"))?;
    if let Some(file) = field.iter().find(|word| !word.quoted && word.text.starts_with('@')) {
        return Err(format!("names from another file (\"{}\") are not supported", file.text));
    }
    Ok(field.clone())
}

fn address<'f>(word: &Word, fields: &mut impl Iterator<Item = &'f Field>) -> Result<Address, String> {
    let text = word.text.as_str();
    match text {
        "all" if !word.quoted => return Ok(Address::All),
        "samehost" if !word.quoted => return Ok(Address::SameHost),
        "samenet" if !word.quoted => return Ok(Address::SameNet),
        _ => {}
    }
    let (host, bits) = match text.split_once('/') {
        Some((host, bits)) => (host, Some(bits)),
        None => (text, None),
    };
    let Ok(address) = host.parse::<IpAddr>() else {
        return match bits {
            Some(_) => Err(format!("specifying both host name and CIDR mask is invalid: \"{text}\"")),
            None if text.starts_with('.') => {
                Err(format!("names of all hosts of a domain (\"{text}\") are not supported"))
            }
            None => Ok(Address::Name(text.to_owned())),
        };
    };
    let mask = match bits {
        Some(bits) => bits
            .parse()
            .ok()
            .and_then(|bits| mask(address, bits))
            .ok_or_else(|| format!("invalid CIDR mask in address \"{text}\""))?,
        None => {
            let field = fields.next().ok_or("end-of-line before netmask specification")?;
            let text = &single(field, "netmask")?.text;
            let mask: IpAddr =
                text.parse().map_err(|_| format!("invalid IP mask \"{text}\": Name or service not known"))?;
            if mask.is_ipv4() != address.is_ipv4() {
                return Err("IP address and mask do not match".to_owned());
            }
            mask
        }
    };
    Ok(Address::Network { address, mask })
}

fn method(text: &str, kind: Kind) -> Result<(&'static str, Method), String> {
    let Some((word, method)) = Method::ALL.iter().find(|(name, _)| *name == text) else {
        return Err(match ELSEWHERE.contains(&text) {
            true => format!("authentication method \"{text}\" is not supported"),
            false => format!("invalid authentication method \"{text}\""),
        });
    };
    if *method == Method::Peer && kind != Kind::Local {
        return Err("peer authentication is only supported on local sockets".to_owned());
    }
    if *method == Method::Cert && kind != Kind::HostSsl {
        return Err("cert authentication is only supported on hostssl connections".to_owned());
    }
    Ok((word, *method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_as_postgresql_cuts_them() {
        let texts = |line: &str| -> Vec<Vec<String>> {
            let words = |field: Field| field.into_iter().map(|word| word.text).collect();
            fields(line).into_iter().map(words).collect()
        };
        assert_eq!(texts("host a,b \"c d\"  x # rest"), [vec!["host"], vec!["a", "b"], vec!["c d"], vec!["x"]]);
        assert_eq!(texts("a, b c"), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(texts("\"say \"\"x\"\"\""), [vec!["say \"x\""]]);
        assert!(texts("  # nothing").is_empty());
        let long = lines("a \\\nb\n\nc");
        assert_eq!(long.iter().map(|(line, fields)| (*line, fields.len())).collect::<Vec<_>>(), [(1, 2), (4, 1)]);
        assert!(fields("\"all\"")[0][0].quoted);
    }
}
