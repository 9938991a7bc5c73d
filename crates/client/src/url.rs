use std::fmt;

/// A database URL, taken apart: `scheme://user:password@host:port/database?option=value`.
///
/// Every part is percent-decoded; IPv6 hosts stand in brackets. The scheme decides what the options mean.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Url {
    /// In lower case.
    pub scheme: String,
    /// Empty when absent.
    pub user: String,
    /// `None` when there is no colon behind the user.
    pub password: Option<rowferry_wire::Secret>,
    /// Empty when absent.
    pub host: String,
    /// Absent when not given.
    pub port: Option<u16>,
    /// Empty when absent.
    pub database: String,
    /// In their order.
    pub options: Vec<(String, String)>,
}

/// Why a URL is none of ours.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UrlError(String);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid database URL: {}", self.0)
    }
}

impl std::error::Error for UrlError {}

impl Url {
    /// Takes `text` apart.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| UrlError("expected `scheme://`, for example `mysql://user@host/database`".into()))?;
        if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) {
            return Err(UrlError("the scheme may hold letters, digits, `+`, `-` and `.`".into()));
        }
        let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, query)| (rest, query));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(decode(password)?)),
            None => (login, None),
        };
        let (host, port) = split_port(place)?;
        let mut options = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            options.push((decode(name)?, decode(value)?));
        }
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            user: decode(user)?,
            password: password.map(rowferry_wire::Secret::new),
            host: decode(host)?,
            port,
            database: decode(database)?,
            options,
        })
    }

    /// The last value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is said of an option that none is, with those that there are.
pub(crate) fn unknown_option(name: &str, known: &[&str]) -> String {
    format!("unknown option `{name}` in the URL: there are {}", known.join(", "))
}

fn split_port(place: &str) -> Result<(&str, Option<u16>), UrlError> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(|| UrlError("`[` without `]` in the host".into()))?;
            (host, rest.strip_prefix(':'))
        }
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    match port {
        None | Some("") => Ok((host, None)),
        Some(port) => match port.parse() {
            Ok(port) => Ok((host, Some(port))),
            Err(_) => Err(UrlError(format!("`{port}` is no port number"))),
        },
    }
}

fn decode(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = tail.first_chunk::<2>().and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = digits.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        bytes.push(byte.ok_or_else(|| UrlError("`%` without two hexadecimal digits".into()))?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| UrlError("percent-encoded bytes are no UTF-8".into()))
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn takes_every_part() {
        let url = Url::parse("MySQL://us%40er:p%3Aw@[::1]:3307/my%2Fdb?ssl_mode=required&x").unwrap();
        assert_eq!((url.scheme.as_str(), url.user.as_str()), ("mysql", "us@er"));
        assert_eq!(url.password.as_ref().map(|secret| secret.expose()), Some("p:w"));
        assert_eq!((url.host.as_str(), url.port, url.database.as_str()), ("::1", Some(3307), "my/db"));
        assert_eq!((url.option("ssl_mode"), url.option("x"), url.option("y")), (Some("required"), Some(""), None));
        assert!(!format!("{url:?}").contains("p:w"));
    }

    #[test]
    fn needs_nothing_but_the_scheme() {
        let url = Url::parse("informix://").unwrap();
        assert_eq!((url.host.as_str(), url.port, url.password), ("", None, None));
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        for text in ["mysql:/x", "m y://", "mysql://h:port/", "mysql://[::1/", "mysql://%4/", "mysql://%ff/"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
