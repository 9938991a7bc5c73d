//! Users, roles, GRANT and REVOKE, read by a grammar of our own.
//!
//! What they say is a [`AccountChange`], which the binder hands on: there is nothing in it to be bound.

use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

use super::Control;
use super::alter::{took, took_all, unexpected};
use super::statements::{Failed, Trees, nothing};
use super::tree::Converter;
use crate::access::DatabaseRights;
use crate::ir::{Account, AccountChange, AccountRights, AccountSecret, Identified, RightsLevel};
use crate::{Error, Result};

/// Rights on `*.*` alone that have no counterpart here.
const OTHER_RIGHTS: &[&str] = &[
    "ALL",
    "CREATE ROLE",
    "CREATE TABLESPACE",
    "DROP ROLE",
    "FILE",
    "PROCESS",
    "PROXY",
    "RELOAD",
    "REPLICATION CLIENT",
    "REPLICATION SLAVE",
    "SHUTDOWN",
    "SUPER",
];

/// What SHOW CREATE USER says of an account of which nothing special is said.
const USUAL_OPTIONS: &[&[&str]] = &[
    &["REQUIRE", "NONE"],
    &["PASSWORD", "EXPIRE", "DEFAULT"],
    &["PASSWORD", "EXPIRE", "NEVER"],
    &["PASSWORD", "HISTORY", "DEFAULT"],
    &["PASSWORD", "REUSE", "INTERVAL", "DEFAULT"],
    &["PASSWORD", "REQUIRE", "CURRENT", "DEFAULT"],
];

/// A change of accounts, or of which roles count.
enum Said {
    Change(AccountChange),
    Roles(Control),
}

/// The rest of a statement as it is written, to name what is refused.
fn rest(parser: &mut Parser<'_>) -> String {
    let mut words = Vec::new();
    while parser.peek_token_ref().token != Token::EOF && words.len() < 3 {
        words.push(parser.next_token().to_string());
    }
    while parser.peek_token_ref().token != Token::EOF {
        parser.next_token();
    }
    words.join(" ")
}

fn refused<T>(what: impl std::fmt::Display) -> Result<T, Failed> {
    Err(Error::unsupported(what.to_string()).into())
}

/// A name, in quotes or without.
fn name(parser: &mut Parser<'_>) -> Result<String, Failed> {
    match parser.next_token().token {
        Token::Word(Word { value, .. }) if !value.starts_with('@') => Ok(value),
        Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => Ok(value),
        _ => {
            parser.prev_token();
            unexpected("a name")
        }
    }
}

/// `user`, `user@host`, `CURRENT_USER`.
fn account(parser: &mut Parser<'_>) -> Result<Account, Failed> {
    if took(parser, "current_user") {
        if parser.consume_token(&Token::LParen) && !parser.consume_token(&Token::RParen) {
            return unexpected(")");
        }
        return Ok(Account { user: None, host: None });
    }
    let is_quoted = !matches!(&parser.peek_token_ref().token, Token::Word(Word { quote_style: None, .. }));
    let user = name(parser)?;
    if let Some((user, host)) = user.split_once('@').filter(|_| !is_quoted) {
        // The host may be in quotes behind.
        let host = if host.is_empty() { name(parser)? } else { host.to_owned() };
        return Ok(Account { user: Some(user.to_owned()), host: Some(host) });
    }
    let host = match &parser.peek_token_ref().token {
        Token::Word(Word { value, quote_style: None, .. }) if value.starts_with('@') && !value.starts_with("@@") => {
            let host = value[1..].to_owned();
            parser.next_token();
            Some(host)
        }
        _ => None,
    };
    Ok(Account { user: Some(user), host })
}

fn several<T>(parser: &mut Parser<'_>, one: impl Fn(&mut Parser<'_>) -> Result<T, Failed>) -> Result<Vec<T>, Failed> {
    let mut all = vec![one(parser)?];
    while parser.consume_token(&Token::Comma) {
        all.push(one(parser)?);
    }
    Ok(all)
}

fn string(parser: &mut Parser<'_>) -> Result<String, Failed> {
    match parser.next_token().token {
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => Ok(text),
        Token::HexStringLiteral(digits) => {
            let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
            let bytes = pairs.map(|pair| u8::from_str_radix(pair, 16)).collect::<Result<Vec<u8>, _>>();
            match bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(text) => Ok(text),
                None => unexpected("a text"),
            }
        }
        _ => {
            parser.prev_token();
            unexpected("a text")
        }
    }
}

/// `PASSWORD('…')` as older servers and MariaDB have it, or a text.
fn password(parser: &mut Parser<'_>) -> Result<String, Failed> {
    if !took(parser, "password") {
        return string(parser);
    }
    parser.expect_token(&Token::LParen)?;
    let text = string(parser)?;
    parser.expect_token(&Token::RParen)?;
    Ok(text)
}

/// An account with how it proves who it is.
fn identified(parser: &mut Parser<'_>) -> Result<Identified, Failed> {
    let account = account(parser)?;
    let mut said = Identified { account, plugin: None, secret: AccountSecret::Unsaid };
    if !took(parser, "identified") {
        return Ok(said);
    }
    let with = took(parser, "with");
    if with || took(parser, "via") {
        said.plugin = Some(name(parser)?.to_ascii_lowercase());
    }
    if took(parser, "by") {
        if took(parser, "random") {
            return refused("a random password");
        }
        said.secret = match took(parser, "password") {
            true => AccountSecret::Kept(string(parser)?),
            false => AccountSecret::Clear(string(parser)?),
        };
        if said.plugin.is_none() && matches!(said.secret, AccountSecret::Kept(_)) {
            said.plugin = Some("mysql_native_password".to_owned());
        }
    } else if took(parser, "as") {
        said.secret = AccountSecret::Kept(string(parser)?);
    } else if took(parser, "using") {
        let is_clear = matches!(&parser.peek_token_ref().token, Token::Word(_));
        let text = password(parser)?;
        said.secret = if is_clear { AccountSecret::Clear(text) } else { AccountSecret::Kept(text) };
    } else if said.plugin.is_none() {
        return unexpected("BY");
    }
    for words in [&["replace"][..], &["retain", "current", "password"], &["discard", "old", "password"]] {
        if took_all(parser, words) {
            return refused(format!("{} of a password", words[0].to_uppercase()));
        }
    }
    if took(parser, "and") || took(parser, "or") {
        return refused("several ways to prove who an account is");
    }
    Ok(said)
}

/// What stands behind the accounts of CREATE USER and ALTER USER: whether they are locked.
fn options(parser: &mut Parser<'_>) -> Result<Option<bool>, Failed> {
    let mut locked = None;
    while parser.peek_token_ref().token != Token::EOF {
        if took_all(parser, &["account", "lock"]) {
            locked = Some(true);
        } else if took_all(parser, &["account", "unlock"]) {
            locked = Some(false);
        } else if !USUAL_OPTIONS.iter().any(|words| took_all(parser, words)) {
            return refused(rest(parser));
        }
    }
    Ok(locked)
}

/// One right's words, with the columns that it is for.
fn right(parser: &mut Parser<'_>) -> Result<(String, Vec<String>), Failed> {
    let mut words: Vec<String> = Vec::new();
    loop {
        let ends = ["on", "to", "from"];
        match &parser.peek_token_ref().token {
            Token::Word(Word { value, quote_style: None, .. })
                if !ends.iter().any(|end| value.eq_ignore_ascii_case(end)) =>
            {
                words.push(value.to_ascii_uppercase());
                parser.next_token();
            }
            _ => break,
        }
    }
    if words.is_empty() {
        return unexpected("a right");
    }
    let mut columns = Vec::new();
    if parser.consume_token(&Token::LParen) {
        columns = several(parser, name)?;
        parser.expect_token(&Token::RParen)?;
    }
    Ok((words.join(" "), columns))
}

/// The end of a statement.
fn ends<T>(parser: &mut Parser<'_>, said: T) -> Result<T, Failed> {
    match parser.peek_token_ref().token {
        Token::EOF => Ok(said),
        _ => unexpected("the end"),
    }
}

impl Converter<'_> {
    /// CREATE, ALTER, DROP, RENAME USER, roles, GRANT and REVOKE; `None`, and nothing taken, for all others.
    pub(super) fn account_statement(&mut self, parser: &mut Parser<'_>) -> Result<Option<Trees>, Failed> {
        let Some(said) = self.read_account(parser)? else { return Ok(None) };
        self.control = Some(match said {
            Said::Change(change) => Control::Account(Box::new(change)),
            Said::Roles(control) => control,
        });
        Ok(Some(nothing()))
    }

    fn read_account(&mut self, parser: &mut Parser<'_>) -> Result<Option<Said>, Failed> {
        for (words, login) in [(["create", "user"], true), (["create", "role"], false)] {
            if took_all(parser, &words) {
                let lenient = took_all(parser, &["if", "not", "exists"]);
                let accounts = several(parser, identified)?;
                let locked = if login { options(parser)? } else { ends(parser, None)? };
                let change = AccountChange::Create { accounts, lenient, login: login && locked != Some(true) };
                return Ok(Some(Said::Change(change)));
            }
        }
        if took_all(parser, &["alter", "user"]) {
            let lenient = took_all(parser, &["if", "exists"]);
            let accounts = several(parser, identified)?;
            let locked = options(parser)?;
            let change = AccountChange::Alter { accounts, lenient, locked, password: false };
            return Ok(Some(Said::Change(change)));
        }
        for (words, login) in [(["drop", "user"], true), (["drop", "role"], false)] {
            if took_all(parser, &words) {
                let lenient = took_all(parser, &["if", "exists"]);
                let accounts = several(parser, account)?;
                return ends(parser, Some(Said::Change(AccountChange::Drop { accounts, lenient, login })));
            }
        }
        if took_all(parser, &["rename", "user"]) {
            let pairs = several(parser, |parser| {
                let from = account(parser)?;
                if !took(parser, "to") {
                    return unexpected("TO");
                }
                Ok((from, account(parser)?))
            })?;
            return ends(parser, Some(Said::Change(AccountChange::Rename(pairs))));
        }
        if took_all(parser, &["set", "password"]) {
            return self.set_password(parser).map(Some);
        }
        if took_all(parser, &["set", "role"]) {
            return set_role(parser).map(Some);
        }
        if took_all(parser, &["set", "default", "role"]) {
            return set_default_role(parser).map(Some);
        }
        if self.has_tokens(&["grant"]) || self.has_tokens(&["revoke"]) {
            let grant = took(parser, "grant");
            let _ = !grant && took(parser, "revoke");
            return self.grant(parser, grant).map(|change| Some(Said::Change(change)));
        }
        Ok(None)
    }

    fn set_password(&mut self, parser: &mut Parser<'_>) -> Result<Said, Failed> {
        let account = match took(parser, "for") {
            true => account(parser)?,
            false => Account { user: None, host: None },
        };
        if took(parser, "to") {
            return refused("a random password");
        }
        parser.expect_token(&Token::Eq)?;
        // A verifier by itself is MariaDB's, a password by itself MySQL's.
        let secret = AccountSecret::Clear(password(parser)?);
        if parser.peek_token_ref().token != Token::EOF {
            return refused(format!("SET PASSWORD … {}", rest(parser)));
        }
        let accounts = vec![Identified { account, plugin: None, secret }];
        Ok(Said::Change(AccountChange::Alter { accounts, lenient: false, locked: None, password: true }))
    }

    fn grant(&mut self, parser: &mut Parser<'_>, grant: bool) -> Result<AccountChange, Failed> {
        if !grant && took_all(parser, &["if", "exists"]) {
            return refused("REVOKE IF EXISTS");
        }
        if !self.has_word("on") {
            return self.grant_roles(parser, grant);
        }
        let words = several(parser, right)?;
        if !took(parser, "on") {
            return unexpected("ON");
        }
        let level = self.level(parser)?;
        let change = rights(grant, words, level)?;
        if !took(parser, if grant { "to" } else { "from" }) {
            return unexpected("TO");
        }
        let accounts = several(parser, account)?;
        let grant_option = grant && took_all(parser, &["with", "grant", "option"]);
        if took(parser, "as") {
            return refused("GRANT … AS");
        }
        let change = AccountRights { accounts, grant_option: change.grant_option || grant_option, ..change };
        ends(parser, AccountChange::Rights(change))
    }

    /// This word stands outside of quotes and parentheses.
    fn has_word(&self, wanted: &str) -> bool {
        self.words().any(|word| word.eq_ignore_ascii_case(wanted))
    }

    fn grant_roles(&mut self, parser: &mut Parser<'_>, grant: bool) -> Result<AccountChange, Failed> {
        if !grant && took(parser, "all") {
            let _ = took(parser, "privileges");
            parser.expect_token(&Token::Comma)?;
            if !took_all(parser, &["grant", "option", "from"]) {
                return unexpected("GRANT OPTION FROM");
            }
            let accounts = several(parser, account)?;
            return ends(parser, AccountChange::RevokeAll { accounts });
        }
        let roles = several(parser, account)?;
        if !took(parser, if grant { "to" } else { "from" }) {
            return unexpected("TO");
        }
        let accounts = several(parser, account)?;
        let admin = grant && took_all(parser, &["with", "admin", "option"]);
        ends(parser, AccountChange::Roles { grant, roles, accounts, admin })
    }

    /// What is behind ON.
    fn level(&mut self, parser: &mut Parser<'_>) -> Result<RightsLevel, Failed> {
        for kind in ["function", "procedure"] {
            if took(parser, kind) {
                let _ = rest(parser);
                return refused(format!("rights on a single {}", kind.to_uppercase()));
            }
        }
        let _ = took(parser, "table");
        if parser.consume_token(&Token::Mul) {
            if !parser.consume_token(&Token::Period) {
                return Ok(RightsLevel::Database(None));
            }
            parser.expect_token(&Token::Mul)?;
            return Ok(RightsLevel::Everything);
        }
        let first = name(parser)?;
        if !parser.consume_token(&Token::Period) {
            return Ok(RightsLevel::Table(None, first));
        }
        if parser.consume_token(&Token::Mul) {
            if first.contains('%') {
                return refused("rights on databases of a pattern");
            }
            // An underscore that stands for itself.
            return Ok(RightsLevel::Database(Some(self.schema(first.replace("\\_", "_")))));
        }
        let table = name(parser)?;
        Ok(RightsLevel::Table(Some(self.schema(first)), table))
    }
}

/// What a list of rights says at a level.
fn rights(grant: bool, words: Vec<(String, Vec<String>)>, level: RightsLevel) -> Result<AccountRights, Failed> {
    let mut said = AccountRights {
        grant,
        all: false,
        rights: DatabaseRights::NONE,
        columns: Vec::new(),
        create_user: false,
        grant_option: false,
        level,
        accounts: Vec::new(),
    };
    let everywhere = said.level == RightsLevel::Everything;
    let of_table = matches!(said.level, RightsLevel::Table(..));
    let of_tables = [
        DatabaseRights::SELECT,
        DatabaseRights::INSERT,
        DatabaseRights::UPDATE,
        DatabaseRights::DELETE,
        DatabaseRights::REFERENCES,
        DatabaseRights::TRIGGER,
        // Everybody may.
        DatabaseRights::SHOW_VIEW,
    ];
    let is_single = words.len() == 1;
    for (words, columns) in words {
        match (words.as_str(), DatabaseRights::of_words(&words)) {
            ("ALL" | "ALL PRIVILEGES", _) if is_single && columns.is_empty() => said.all = true,
            ("USAGE", _) if columns.is_empty() => {}
            ("GRANT OPTION", _) if columns.is_empty() => said.grant_option = true,
            // Everybody sees all databases.
            ("SHOW DATABASES", _) if everywhere => {}
            ("CREATE USER", _) if everywhere => said.create_user = true,
            (_, Some(right)) if of_table && !of_tables.contains(&right) => {
                return refused(format!("the right {words} on a single table"));
            }
            (_, Some(right)) if columns.is_empty() => said.rights = said.rights | right,
            (_, Some(right)) if of_table => said.columns.push((right, columns)),
            (words, None) if OTHER_RIGHTS.contains(&words) || words.contains('_') => {
                return refused(format!("the right {words}"));
            }
            _ => return Err(ParserError::ParserError(format!("expected a right, found {words}")).into()),
        }
    }
    Ok(said)
}

/// SET ROLE.
fn set_role(parser: &mut Parser<'_>) -> Result<Said, Failed> {
    if took(parser, "none") {
        return refused("SET ROLE NONE, as the rights of roles count for their members,");
    }
    if took(parser, "default") || took(parser, "all") {
        if parser.peek_token_ref().token != Token::EOF {
            return refused(format!("SET ROLE ALL {}", rest(parser)));
        }
        return Ok(Said::Roles(Control::Roles { roles: Vec::new(), accounts: Vec::new() }));
    }
    let roles = several(parser, account)?;
    ends(parser, Said::Roles(Control::Roles { roles, accounts: vec![Account { user: None, host: None }] }))
}

/// SET DEFAULT ROLE.
fn set_default_role(parser: &mut Parser<'_>) -> Result<Said, Failed> {
    if took(parser, "none") {
        return refused("SET DEFAULT ROLE NONE, as the rights of roles count for their members,");
    }
    let roles = if took(parser, "all") { Vec::new() } else { several(parser, account)? };
    if !took(parser, "to") {
        return unexpected("TO");
    }
    let accounts = several(parser, account)?;
    ends(parser, Said::Roles(Control::Roles { roles, accounts }))
}
