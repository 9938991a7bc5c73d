//! Errors in MySQL's words that say more than an error knows by itself: who is refused what, and in which database a table
//! was looked for.

use rowferry_dialect::mysql::print::quoted;
use rowferry_dialect::schema::{QualifiedName, ReferentialAction};
use rowferry_dialect::{Condition, Error, Language, Schema as _};

use super::Session;

impl Session {
    /// The session's user as refusals name it.
    fn account_shown(&self) -> String {
        let host = crate::functions::host_of(&self.state.client_address);
        format!("'{}'@'{host}'", self.state.user)
    }

    /// 1044.
    pub(super) fn denied_database(&self, schema: &str) -> Error {
        let database = self.mysql_database_of(schema);
        let message = format!("Access denied for user {} to database '{database}'", self.account_shown());
        Error::new(Condition::InsufficientPrivilege, message).with_mysql(1044, "42000")
    }

    /// 1142.
    pub(super) fn denied_table(&self, command: &str, table: &str) -> Error {
        let message = format!("{command} command denied to user {} for table '{table}'", self.account_shown());
        Error::new(Condition::InsufficientPrivilege, message).with_mysql(1142, "42000")
    }

    /// An error as MySQL's clients are told of it, where that asks the session: who is refused what, in which database a
    /// table is not, and which key a row breaks; `None` where it is another.
    pub fn in_mysqls_words(&self, error: &Error) -> Option<Error> {
        if self.language != Language::Mysql || error.mysql.is_some() {
            return None;
        }
        match error.condition() {
            Condition::ForeignKeyViolation => self.key_in_innodbs_words(error, 1452, "add or update a child row"),
            Condition::ForeignKeyViolationByParent | Condition::RestrictViolation => {
                self.key_in_innodbs_words(error, 1451, "delete or update a parent row")
            }
            _ => self.denied_in_mysqls_words(error).or_else(|| self.with_database(error)),
        }
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

    /// A foreign key that a row breaks, in InnoDB's words: clients find the columns there.
    fn key_in_innodbs_words(&self, error: &Error, code: u16, what: &str) -> Option<Error> {
        let name = QualifiedName::new(error.schema.as_deref()?, error.table.as_deref()?);
        let table = self.schema.relation(&name)?;
        let key = table.foreign_keys.iter().find(|key| Some(key.name.as_str()) == error.constraint.as_deref())?;
        let target = self.schema.relation(&key.target);
        let listed = |names: Vec<&str>| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let columns = listed(key.columns.iter().map(|at| table.columns[*at].name.as_str()).collect());
        let primary = || target.as_ref()?.indexes.iter().find(|index| index.primary);
        let referenced = match (&target, key.target_columns.as_slice()) {
            (Some(target), []) => {
                let at = primary().map(|index| index.columns.iter().flatten().copied().collect::<Vec<_>>());
                listed(at.unwrap_or_default().into_iter().map(|at| target.columns[at].name.as_str()).collect())
            }
            (_, given) => listed(given.iter().map(String::as_str).collect()),
        };
        let action = |event: &str, action: ReferentialAction| match action {
            ReferentialAction::NoAction => String::new(),
            other => format!(" ON {event} {}", other.words()),
        };
        let mut parent = quoted(&key.target.name);
        if let Some(target) = target.as_ref().filter(|target| target.namespace != table.namespace) {
            parent = format!("{}.{parent}", quoted(self.mysql_database_of(&target.namespace)));
        }
        let message = format!(
            "Cannot {what}: a foreign key constraint fails ({}.{}, CONSTRAINT {} FOREIGN KEY ({columns}) REFERENCES {parent} \
             ({referenced}){}{})",
            quoted(self.mysql_database_of(&table.namespace)),
            quoted(&table.name),
            quoted(&key.name),
            action("DELETE", key.rules.on_delete),
            action("UPDATE", key.rules.on_update),
        );
        Some(Error::new(error.condition(), message).with_mysql(code, "23000"))
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
