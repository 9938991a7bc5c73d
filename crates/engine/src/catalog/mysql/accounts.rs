//! Users and what they may do, as SHOW GRANTS, SHOW CREATE USER and the database `mysql` tell it.

use rowferry_dialect::access::{
    AccountFacts, BOOTSTRAP, DatabaseRights, LevelRights, ObjectClass, PUBLIC, Privileges, Rights, Role,
};
use rowferry_dialect::mysql::print::quoted;
use rowferry_dialect::schema::Relation;

use super::{Context, DEF, Row, Table, database, in_namespace, of_schema, relations, row, yes};
use crate::catalog::{Cell, NULL};

pub(super) const TABLES: &[Table] = &[
    of_schema("rowferry_accounts", "NAME text, NUMBER int8, DEFINITION text, STATEMENT text", statements),
    of_schema(
        "user_privileges",
        "GRANTEE text, TABLE_CATALOG text, PRIVILEGE_TYPE text, IS_GRANTABLE text",
        |context| {
            let of_all = |account: &Account<'_>| {
                let level = account.level(None);
                let (grantee, grantable) = (account.grantee(), yes(level.grantable));
                let words = if level.rights.is_empty() { vec!["USAGE"] } else { level.rights.words() };
                words.into_iter().map(|words| row![&grantee, DEF, words, grantable]).collect::<Vec<Row>>()
            };
            shown(context).iter().flat_map(of_all).collect()
        },
    ),
    of_schema(
        "schema_privileges",
        "GRANTEE text, TABLE_CATALOG text, TABLE_SCHEMA text, PRIVILEGE_TYPE text, IS_GRANTABLE text",
        |context| {
            let of_database = |(grantee, schema, level): (String, String, LevelRights)| {
                let row = |words| row![&grantee, DEF, database(context, &schema), words, yes(level.grantable)];
                level.rights.words().into_iter().map(row).collect::<Vec<Row>>()
            };
            databases(context).into_iter().flat_map(of_database).collect()
        },
    ),
    of_schema(
        "table_privileges",
        "GRANTEE text, TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, PRIVILEGE_TYPE text, IS_GRANTABLE text",
        |context| {
            let mut rows = Vec::new();
            for account in shown(context) {
                for relation in relations(context) {
                    let (held, grantable) = account.on_table(relation);
                    for words in DatabaseRights::of_table(held).words() {
                        let namespace = database(context, &relation.namespace);
                        rows.push(row![account.grantee(), DEF, namespace, &relation.name, words, yes(grantable)]);
                    }
                }
            }
            rows
        },
    ),
    of_schema(
        "column_privileges",
        "GRANTEE text, TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, COLUMN_NAME text, \
         PRIVILEGE_TYPE text, IS_GRANTABLE text",
        |context| {
            let mut rows = Vec::new();
            for account in shown(context) {
                for relation in relations(context) {
                    for (column, held) in account.on_columns(relation) {
                        for words in DatabaseRights::of_table(held).words() {
                            let namespace = database(context, &relation.namespace);
                            rows.push(row![account.grantee(), DEF, namespace, &relation.name, column, words, "NO"]);
                        }
                    }
                }
            }
            rows
        },
    ),
    in_namespace("mysql_mysql", "user", USER, users),
    in_namespace("mysql_mysql", "db", DB, |context| {
        let of_database = |(account, schema, level): (String, String, LevelRights)| {
            let (user, host) = account.rsplit_once('@').unwrap_or((&account, "'%'"));
            let mut row = row![host.trim_matches('\''), database(context, &schema), user.trim_matches('\'')];
            row.extend(letters(level));
            row
        };
        databases(context).into_iter().map(of_database).collect()
    }),
];

const USER: &str = "Host text, User text, Select_priv text, Insert_priv text, Update_priv text, Delete_priv text, \
    Create_priv text, Drop_priv text, References_priv text, Index_priv text, Alter_priv text, Execute_priv text, \
    Create_view_priv text, Trigger_priv text, Grant_priv text, Super_priv text, Create_user_priv text, plugin text, \
    authentication_string text, account_locked text, password_expired text";
const DB: &str = "Host text, Db text, User text, Select_priv text, Insert_priv text, Update_priv text, Delete_priv text, \
    Create_priv text, Drop_priv text, References_priv text, Index_priv text, Alter_priv text, Execute_priv text, \
    Create_view_priv text, Trigger_priv text, Grant_priv text";

/// The rights that have a column each.
const LETTERED: [DatabaseRights; 12] = [
    DatabaseRights::SELECT,
    DatabaseRights::INSERT,
    DatabaseRights::UPDATE,
    DatabaseRights::DELETE,
    DatabaseRights::CREATE,
    DatabaseRights::DROP,
    DatabaseRights::REFERENCES,
    DatabaseRights::INDEX,
    DatabaseRights::ALTER,
    DatabaseRights::EXECUTE,
    DatabaseRights::CREATE_VIEW,
    DatabaseRights::TRIGGER,
];

fn letter(truth: bool) -> &'static str {
    if truth { "Y" } else { "N" }
}

fn letters(level: LevelRights) -> impl Iterator<Item = Cell> {
    let of = move |right: DatabaseRights| Cell::from(letter(level.rights.contains(right)));
    LETTERED.into_iter().map(of).chain([Cell::from(letter(level.grantable))])
}

/// A role as an account.
struct Account<'a> {
    role: u32,
    name: String,
    facts: AccountFacts,
    /// Without, it is whoever has connected to a file without roles.
    known: Option<&'a Role>,
    rights: Rights,
}

/// The accounts.
fn all<'a>(context: &'a Context<'_>) -> Vec<Account<'a>> {
    let rights = context.schema.rights();
    let roles = &context.schema.main.roles;
    let account = |role: u32, name: String, known| Account {
        role,
        name,
        facts: roles.database().accounts.get(&role).cloned().unwrap_or_default(),
        known,
        rights: rights.clone(),
    };
    let mut all: Vec<Account<'a>> =
        roles.iter().map(|role| account(role.oid, role.name.clone(), Some(&**role))).collect();
    if roles.is_simple() {
        all.retain(|account| account.role != BOOTSTRAP);
        all.push(account(BOOTSTRAP, context.state.user.clone(), None));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Those of which the reader is told: all for who may make accounts, oneself for others.
fn shown<'a>(context: &'a Context<'_>) -> Vec<Account<'a>> {
    let own = context.schema.identity.current;
    let sees_all = context.schema.main.roles.can(own, |role| role.create_role);
    let mut all = all(context);
    all.retain(|account| sees_all || account.role == own);
    all
}

impl Account<'_> {
    fn host(&self) -> &'static str {
        AccountFacts::host(self.facts.local)
    }

    fn grantee(&self) -> String {
        format!("'{}'@'{}'", self.name, self.host())
    }

    fn quoted(&self) -> String {
        format!("{}@`{}`", quoted(&self.name), self.host())
    }

    fn is_superuser(&self) -> bool {
        self.rights.roles.is_superuser(self.role)
    }

    /// What it has itself at a level.
    fn level(&self, schema: Option<&str>) -> LevelRights {
        if self.is_superuser() && schema.is_none() {
            return LevelRights { rights: DatabaseRights::ALL, grantable: true, seen: true };
        }
        self.facts.rights.get(&schema.map(str::to_owned)).copied().unwrap_or_default()
    }

    /// What it has been given on a table, and whether it may give it on.
    fn on_table(&self, relation: &Relation) -> (Privileges, bool) {
        let owner = self.rights.owner(relation.oid);
        let items = self.rights.stored_list(relation.oid).into_iter().flat_map(|list| &list.0);
        let own = items.filter(|item| item.grantee == self.role && item.grantee != owner && item.grantee != PUBLIC);
        own.fold((Privileges::NONE, false), |(held, grantable), item| {
            (held | item.privileges, grantable || !item.grantable.is_empty())
        })
    }

    fn on_columns<'r>(&self, relation: &'r Relation) -> Vec<(&'r str, Privileges)> {
        let of = |name: &'r str| {
            let list = self.rights.column_list(relation.oid, name)?;
            let own = list.0.iter().filter(|item| item.grantee == self.role);
            Some((name, own.fold(Privileges::NONE, |all, item| all | item.privileges)))
        };
        relation.columns.iter().filter_map(|column| of(&column.name)).collect()
    }

    fn plugin(&self) -> &'static str {
        self.facts.plugin().name()
    }

    fn verifier(&self) -> Option<&str> {
        self.facts.password().or_else(|| self.known?.password.as_deref())
    }

    fn can_log_in(&self) -> bool {
        self.known.is_none_or(|role| role.login)
    }

    /// What SHOW GRANTS answers.
    fn grants(&self, context: &Context<'_>) -> Vec<String> {
        let to = self.quoted();
        let option = |grantable: bool| if grantable { " WITH GRANT OPTION" } else { "" };
        if self.is_superuser() {
            return vec![format!("GRANT ALL PRIVILEGES ON *.* TO {to} WITH GRANT OPTION")];
        }
        let global = self.level(None);
        let mut words = global.rights.words();
        if self.known.is_some_and(|role| role.create_role) {
            words.push("CREATE USER");
        }
        let words = if words.is_empty() { "USAGE".to_owned() } else { words.join(", ") };
        let mut lines = vec![format!("GRANT {words} ON *.* TO {to}{}", option(global.grantable))];
        for (schema, level) in &self.facts.rights {
            let Some(schema) = schema else { continue };
            if level.rights.is_empty() && !level.grantable {
                continue;
            }
            let words = match level.rights {
                DatabaseRights::ALL => "ALL PRIVILEGES".to_owned(),
                rights if rights.is_empty() => "USAGE".to_owned(),
                rights => rights.words().join(", "),
            };
            let database = quoted(database(context, schema));
            lines.push(format!("GRANT {words} ON {database}.* TO {to}{}", option(level.grantable)));
        }
        for relation in relations(context) {
            let (held, grantable) = self.on_table(relation);
            let mut words: Vec<String> =
                DatabaseRights::of_table(held).words().into_iter().map(str::to_owned).collect();
            let columns = self.on_columns(relation);
            for right in LETTERED.map(|right| (right, right.privileges(ObjectClass::Relation))) {
                let (right, privilege) = right;
                let named = columns.iter().filter(|(_, held)| !privilege.is_empty() && held.contains(privilege));
                let named: Vec<String> = named.map(|(name, _)| quoted(name)).collect();
                if !named.is_empty() {
                    words.push(format!("{} ({})", right.words().join(", "), named.join(", ")));
                }
            }
            if !words.is_empty() {
                let place = format!("{}.{}", quoted(database(context, &relation.namespace)), quoted(&relation.name));
                lines.push(format!("GRANT {} ON {place} TO {to}{}", words.join(", "), option(grantable)));
            }
        }
        let memberships = self.rights.roles.memberships().iter().filter(|known| known.member == self.role);
        for known in memberships {
            let Some(role) = self.rights.roles.name(known.role) else { continue };
            let admin = if known.admin { " WITH ADMIN OPTION" } else { "" };
            lines.push(format!("GRANT {}@`%` TO {to}{admin}", quoted(role)));
        }
        lines
    }

    /// What SHOW CREATE USER answers.
    fn definition(&self, tells_verifier: bool) -> String {
        let verifier = match self.verifier() {
            Some(verifier) if tells_verifier => {
                format!(" AS '{}'", verifier.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            _ => String::new(),
        };
        format!(
            "CREATE USER {} IDENTIFIED WITH '{}'{verifier} REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT {} PASSWORD \
             HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT",
            self.quoted(),
            self.plugin(),
            if self.can_log_in() { "UNLOCK" } else { "LOCK" },
        )
    }
}

/// Accounts with their rights on databases, by schema.
fn databases(context: &Context<'_>) -> Vec<(String, String, LevelRights)> {
    let mut found = Vec::new();
    for account in shown(context) {
        for (schema, level) in &account.facts.rights {
            let Some(schema) = schema.clone().filter(|_| !level.rights.is_empty()) else { continue };
            found.push((account.grantee(), schema, *level));
        }
    }
    found
}

fn statements(context: &Context<'_>) -> Vec<Row> {
    let own = context.schema.identity.current;
    let superuser = context.schema.main.roles.is_superuser(own);
    let mut rows = Vec::new();
    for account in shown(context) {
        let definition = account.definition(superuser || account.role == own);
        for (number, statement) in account.grants(context).into_iter().enumerate() {
            rows.push(row![&account.name, number, &definition, statement]);
        }
    }
    rows
}

fn users(context: &Context<'_>) -> Vec<Row> {
    let own = context.schema.identity.current;
    let superuser = context.schema.main.roles.is_superuser(own);
    let row_of = |account: Account<'_>| {
        let mut row = row![account.host(), &account.name];
        row.extend(letters(account.level(None)));
        let makes_users = account.is_superuser() || account.known.is_some_and(|role| role.create_role);
        row.extend(row![letter(account.is_superuser()), letter(makes_users), account.plugin()]);
        row.push(match account.verifier() {
            Some(verifier) if superuser => Cell::from(verifier),
            Some(_) => NULL,
            None => Cell::from(""),
        });
        row.extend(row![letter(!account.can_log_in()), "N"]);
        row
    };
    all(context).into_iter().map(row_of).collect()
}
