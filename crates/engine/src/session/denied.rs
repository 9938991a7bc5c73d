//! Refusals in MySQL's words, which say who is refused what.

use rowferry_dialect::{Condition, Error, Language};

use super::Session;

impl Session {
    /// The session's user as refusals name it.
    fn account_shown(&self) -> String {
        let host = crate::functions::host_of(&self.state.client_address);
        format!("'{}'@'{host}'", self.state.user)
    }

    /// 1044.
    pub(super) fn denied_database(&self, schema: &str) -> Error {
        let database = if schema == "public" { self.database.name() } else { schema };
        let message = format!("Access denied for user {} to database '{database}'", self.account_shown());
        Error::new(Condition::InsufficientPrivilege, message).with_mysql(1044, "42000")
    }

    /// 1142.
    pub(super) fn denied_table(&self, command: &str, table: &str) -> Error {
        let message = format!("{command} command denied to user {} for table '{table}'", self.account_shown());
        Error::new(Condition::InsufficientPrivilege, message).with_mysql(1142, "42000")
    }

    /// An error as MySQL's clients are told of it, where that asks the session: who is refused what, and in which database a
    /// table is not; `None` where it is another.
    pub fn in_mysqls_words(&self, error: &Error) -> Option<Error> {
        self.denied_in_mysqls_words(error).or_else(|| self.with_database(error))
    }

    /// What is said of a table that is not there, with the database where it was looked for.
    pub(super) fn with_database(&self, error: &Error) -> Option<Error> {
        if self.language != Language::Mysql || error.mysql.is_some() {
            return None;
        }
        let (kind, rest) = error.message.split_once(" \"")?;
        let (name, behind) = rest.split_once('"')?;
        let is_table = matches!(kind, "relation" | "table" | "view") && behind.starts_with(" does not exist");
        if !is_table || name.contains('.') {
            return None;
        }
        let mut told = error.clone();
        told.message = format!("{kind} \"{}.{name}\"{behind}", self.mysql_database());
        Some(told)
    }

    /// An error in MySQL's words, where these say who is refused what; `None` where it is another.
    fn denied_in_mysqls_words(&self, error: &Error) -> Option<Error> {
        if self.language != Language::Mysql || error.mysql.is_some() || error.condition().sqlstate() != "42501" {
            return None;
        }
        let (kind, name) = match error.message.strip_prefix("permission denied for ") {
            Some(rest) => rest.rsplit_once(' ')?,
            None => match error.message.strip_prefix("must be owner of ") {
                Some(rest) => rest.rsplit_once(' ')?,
                None => {
                    let message =
                        "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation";
                    let of_roles = error.condition() == Condition::NoDbaPermission;
                    return of_roles.then(|| Error::new(error.condition(), message).with_mysql(1227, "42000"));
                }
            },
        };
        let name = name.trim_matches('"');
        Some(match kind {
            "schema" => match error.table.as_deref() {
                // What is looked for there.
                Some(table) => self.denied_table(self.command_word(), table),
                None => self.denied_database(name),
            },
            "database" => self.denied_database("public"),
            "function" | "procedure" => {
                let database = self.database.name();
                let message =
                    format!("execute command denied to user {} for routine '{database}.{name}'", self.account_shown());
                Error::new(error.condition(), message).with_mysql(1370, "42000")
            }
            "table" | "view" | "materialized view" | "sequence" | "relation" => {
                let command = match error.condition() {
                    Condition::NoInsertPermission => "INSERT",
                    Condition::NoUpdatePermission => "UPDATE",
                    Condition::NoDeletePermission => "DELETE",
                    Condition::NoIndexPermission => "INDEX",
                    _ => self.command_word(),
                };
                self.denied_table(command, name)
            }
            _ => return None,
        })
    }

    /// What the statement that runs asks for, by its first word.
    fn command_word(&self) -> &'static str {
        let text = self.state.activity.lock().query.clone();
        let first = text.trim_start().split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
        let words = ["ALTER", "CREATE", "DROP", "GRANT", "INSERT", "UPDATE", "DELETE"];
        let of = |word: &&&str| first.eq_ignore_ascii_case(word);
        match first {
            first if first.eq_ignore_ascii_case("truncate") => "DROP",
            _ => words.iter().find(of).copied().unwrap_or("SELECT"),
        }
    }
}
