//! Passwords that a URL does not have: from where the database's own clients take them, else from the terminal.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use rowferry_client::Url;
use rowferry_wire::Secret;

use super::{Conversation, Refused};
use crate::Failure;

/// Opens a conversation with the password of the URL, else with one that is kept for it; asks at a terminal for another where the
/// server wants one.
pub(super) fn with_password<C: Conversation + 'static>(
    mut url: Url,
    kept: fn(&Url) -> Option<Kept>,
    connect: impl Fn(&Url) -> Result<C, Refused>,
) -> Result<Box<dyn Conversation>, Failure> {
    let given = url.password.is_some() || url.option("password").is_some();
    if !given {
        url.password = kept(&url).map(|kept| Secret::new(kept.password));
    }
    match connect(&url) {
        Ok(conversation) => Ok(Box::new(conversation)),
        Err(Refused::Otherwise(failure)) => Err(failure),
        Err(Refused::Password(failure)) if given => Err(failure),
        Err(Refused::Password(failure)) => {
            if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
                return Err(failure.hint("give the password in the URL, or where the database's own clients find it"));
            }
            let place = if url.host.is_empty() { "the server" } else { &url.host };
            let prompt = match url.user.as_str() {
                "" => format!("Password at {place}: "),
                user => format!("Password of {user} at {place}: "),
            };
            let password = rpassword::prompt_password(prompt)
                .map_err(|error| Failure::new(format!("cannot read a password from the terminal: {error}")))?;
            url.password = Some(Secret::new(password));
            match connect(&url) {
                Ok(conversation) => Ok(Box::new(conversation)),
                Err(Refused::Password(failure) | Refused::Otherwise(failure)) => Err(failure),
            }
        }
    }
}

/// The URL with a password that is kept for it, where it has none itself.
pub(crate) fn with_kept_password(mut url: Url) -> Url {
    if url.password.is_none() && url.option("password").is_none() {
        let kept = match url.scheme.as_str() {
            "mariadb" | "mysql" => mysql(&url),
            "postgres" | "postgresql" => postgres(&url),
            _ => None,
        };
        url.password = kept.map(|kept| Secret::new(kept.password));
    }
    url
}

/// A password that was found.
pub(super) struct Kept {
    password: String,
    /// Where.
    pub(super) from: &'static str,
}

impl Kept {
    fn variable(name: &'static str) -> Option<Self> {
        Some(Self { password: variable(name)?, from: name })
    }
}

/// Informix's clients keep no passwords.
pub(super) fn nowhere(_: &Url) -> Option<Kept> {
    None
}

/// `$PGPASSWORD`, else the line of `$PGPASSFILE` or `~/.pgpass` that fits.
pub(super) fn postgres(url: &Url) -> Option<Kept> {
    if let Some(kept) = Kept::variable("PGPASSWORD") {
        return Some(kept);
    }
    let path = variable("PGPASSFILE").map(PathBuf::from).or_else(|| Some(home()?.join(".pgpass")))?;
    let text = private(&path)?;
    let option = |name: &str, part: &str| match url.option(name) {
        Some(value) => value.to_owned(),
        None => part.to_owned(),
    };
    let host = match option("host", &url.host) {
        host if host.is_empty() || host.starts_with('/') => "localhost".to_owned(),
        host => host,
    };
    let port = option("port", &url.port.unwrap_or(rowferry_client::postgres::PORT).to_string());
    let user = match option("user", &url.user) {
        user if user.is_empty() => variable("USER").unwrap_or_default(),
        user => user,
    };
    let database = match option("dbname", &url.database) {
        database if database.is_empty() => user.clone(),
        database => database,
    };
    let password = find_in_pgpass(&text, [&host, &port, &database, &user])?;
    Some(Kept { password, from: ".pgpass" })
}

/// The password of the first line whose fields are these or `*`.
fn find_in_pgpass(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let (password, fields) = fields.split_last()?;
        let fits = fields.len() == wanted.len()
            && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        fits.then(|| password.clone())
    })
}

/// Fields between colons; a backslash takes a colon or backslash as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let Some(last) = fields.last_mut() else { break };
        match character {
            ':' => fields.push(String::new()),
            '\\' => last.extend(characters.next()),
            other => last.push(other),
        }
    }
    fields
}

/// `$MYSQL_PWD`, else `password` of the groups `[client]` and `[mysql]` in `~/.my.cnf`.
pub(super) fn mysql(_: &Url) -> Option<Kept> {
    if let Some(kept) = Kept::variable("MYSQL_PWD") {
        return Some(kept);
    }
    let password = find_in_option_file(&private(&home()?.join(".my.cnf"))?)?;
    Some(Kept { password, from: ".my.cnf" })
}

/// The last `password` of the groups that MySQL's command line reads.
fn find_in_option_file(text: &str) -> Option<String> {
    let (mut ours, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            ours = matches!(group.0.trim(), "client" | "mysql" | "client-mariadb" | "client-server");
        } else if ours
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == "password"
        {
            found = Some(unquoted(value.trim()));
        }
    }
    found
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    value.to_owned()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// The text of a file that nobody else may read; one that others may read is not to be trusted with a password, and is left out as
/// libpq leaves it out.
fn private(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let known = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mode = known.permissions().mode();
    if mode & 0o077 != 0 {
        eprintln!("rowferry: {} is not used: others may read it", path.display());
        eprintln!("hint: chmod 600 {}", path.display());
        return None;
    }
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# ours\nlocalhost:5432:*:ada:one\n*:*:store:*:t\\:w\\\\o\n*:*:*:*:three\n";
        assert_eq!(find_in_pgpass(text, ["localhost", "5432", "x", "ada"]).as_deref(), Some("one"));
        assert_eq!(find_in_pgpass(text, ["h", "1", "store", "bob"]).as_deref(), Some("t:w\\o"));
        assert_eq!(find_in_pgpass(text, ["h", "1", "y", "bob"]).as_deref(), Some("three"));
        assert_eq!(find_in_pgpass("h:1:d:u\n", ["h", "1", "d", "u"]), None);
    }

    #[test]
    fn an_option_file_has_groups_for_others() {
        let text = "[mysqld]\npassword=no\n[client]\nuser=ada\npassword = \"a b\"\n[mysql]\n";
        assert_eq!(find_in_option_file(text).as_deref(), Some("a b"));
        assert_eq!(find_in_option_file("[mysqldump]\npassword=x\n"), None);
    }
}
