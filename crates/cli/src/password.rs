//! `rowferry password`: what a password file keeps of a password.

use std::fs::{OpenOptions, Permissions};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use rowferry_server::auth::{Users, password_verifier};

use crate::Failure;

/// The environment's way to give a password.
const VARIABLE: &str = "ROWFERRY_PASSWORD";

/// Make the line of a password file that lets a user in
///
/// The line holds a SCRAM-SHA-256 verifier, as PostgreSQL stores it: who reads it cannot log in with it. The
/// password is asked for twice without echo; when standard input is no terminal it is its first line, and
/// ROWFERRY_PASSWORD in the environment comes before both. It is never an argument, which others can see.
///
/// Examples:
///   rowferry password ada                      print the line
///   rowferry password ada --file users         add ada to the file, or give her another password
///   rowferry password ada --file users --remove
///   rowferry serve app.db --password-file users
///
/// A server that runs reads the file again at SIGHUP.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The user's name
    user: String,

    /// Write the line into this password file, in the place of the user's old one; made, readable by its owner only, when it
    /// is not there
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Take the user out of the file
    #[arg(long, requires = "file")]
    remove: bool,
}

/// Makes the line and puts it where it was asked for.
///
/// # Errors
/// When the password cannot be read, or the file cannot be used or written.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let user = arguments.user.as_str();
    if user.is_empty() || user.starts_with('#') || user.contains([':', '\n', '\r', '\0']) || user.trim() != user {
        return Err(Failure::new(format!("{user:?} cannot be a name in a password file"))
            .hint("a name has no colon and no line's end, and begins with neither # nor a blank"));
    }
    // Before anybody types a password in vain.
    let before = arguments.file.as_deref().map(read_file).transpose()?;
    if let Some(path) = arguments.file.as_deref() {
        match arguments.remove {
            true if !path.exists() => {
                return Err(Failure::new(format!("the file `{}` does not exist", path.display())));
            }
            true => {}
            false => crate::check_directory_of(path)?,
        }
    }
    if arguments.remove {
        let (path, text) = (arguments.file.as_deref().unwrap_or(Path::new("")), before.unwrap_or_default());
        let Some(text) = with_line(&text, user, None) else {
            return Err(Failure::new(format!("{}: there is no user {user:?} in it", path.display())));
        };
        replace(path, &text)?;
        println!("{}: {user} removed", path.display());
        return remind(path, &text);
    }
    let password = ask(user)?;
    let verifier = password_verifier(&password)
        .map_err(|what| Failure::new(format!("{what} cannot be used")).hint("give the password itself"))?
        .ok_or_else(|| Failure::new("a verifier of the empty password cannot be used"))?;
    let line = format!("{user}:{verifier}");
    let (Some(path), Some(before)) = (arguments.file.as_deref(), before) else {
        println!("{line}");
        return Ok(());
    };
    let known = with_line(&before, user, Some(&line));
    let what = if known.is_some() { "has another password" } else { "added" };
    let text = known.unwrap_or_else(|| {
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        format!("{before}{end}{line}\n")
    });
    replace(path, &text)?;
    println!("{}: {user} {what}", path.display());
    remind(path, &text)
}

fn ask(user: &str) -> Result<String, Failure> {
    if let Ok(password) = std::env::var(VARIABLE) {
        return checked(password);
    }
    let cannot = |error: std::io::Error| Failure::new(format!("cannot read the password: {error}"));
    if !std::io::stdin().is_terminal() {
        let mut text = String::new();
        std::io::stdin().take(64 * 1024).read_to_string(&mut text).map_err(cannot)?;
        return checked(text.lines().next().unwrap_or_default().to_owned());
    }
    let password = rpassword::prompt_password(format!("Password for {user}: ")).map_err(cannot)?;
    let again = rpassword::prompt_password("The same again: ").map_err(cannot)?;
    if password != again {
        return Err(Failure::new("the two passwords differ; nothing was changed"));
    }
    checked(password)
}

fn checked(password: String) -> Result<String, Failure> {
    match password.as_str() {
        "" => Err(Failure::new("the password is empty; nothing was changed")),
        text if text.contains('\0') => Err(Failure::new("a password cannot hold NUL")),
        _ => Ok(password),
    }
}

/// The text of a password file that a server would take; empty when there is none yet.
fn read_file(path: &Path) -> Result<String, Failure> {
    if !path.exists() {
        return Ok(String::new());
    }
    Users::none().add_file(path).map_err(|error| Failure::new(error.to_string()))?;
    std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// The text with another line for a user, or none; `None` when there is no such user. Comments and order stay. Of several
/// lines for the user, of which the last one counts, one is left.
fn with_line(text: &str, user: &str, line: Option<&str>) -> Option<String> {
    let is_users =
        |found: &&str| found.split_once(':').is_some_and(|(name, _)| name == user) && !found.starts_with('#');
    let last = text.lines().enumerate().filter(|(_, found)| is_users(found)).last()?.0;
    let mut lines = Vec::new();
    for (number, found) in text.lines().enumerate() {
        match line {
            _ if !is_users(&found) => lines.push(found),
            Some(line) if number == last => lines.push(line),
            _ => {}
        }
    }
    Some(lines.iter().flat_map(|line| [*line, "\n"]).collect())
}

/// Puts a text in the place of a file's, at once, readable by its owner only.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    // A link that leads elsewhere stays one.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = target.as_path();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
    let written = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    written().map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        Failure::new(format!("cannot write `{}`: {error}", path.display()))
    })
}

fn remind(path: &Path, text: &str) -> Result<(), Failure> {
    if !text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        eprintln!("note: `{}` names no user any more; a server does not start with it", path.display());
    } else {
        eprintln!("note: a server that runs reads it at SIGHUP (kill -HUP PID, systemctl reload)");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::with_line;

    #[test]
    fn a_users_line_is_replaced_where_it_stands() {
        let text = "# staff\nada:one\nbob:two\nada:three\n#ada:old\n";
        assert_eq!(with_line(text, "ada", Some("ada:new")).unwrap(), "# staff\nbob:two\nada:new\n#ada:old\n");
        assert_eq!(with_line(text, "bob", None).unwrap(), "# staff\nada:one\nada:three\n#ada:old\n");
        assert_eq!(with_line(text, "eve", None), None);
        assert_eq!(with_line(text, "#ada", None), None);
    }
}
