//! From text to statements, by the parser of the session's language.

use std::sync::Arc;

use rowferry_dialect::mysql::Modes;
use rowferry_dialect::plan::{Command, Effects, ResultColumn};
use rowferry_dialect::{Error, Language, Result, Type, informix, postgres, work};

use super::Session;
use crate::memory;

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub(super) text: Arc<str>,
    pub(super) offset: u32,
    pub(super) source: Source,
    /// About how many bytes of memory it takes.
    pub(super) size: usize,
    /// The database of names that say none, where that is another one.
    pub(super) asked_from: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    /// Informix SQL.
    Informix(Box<informix::Statement>),
    /// PostgreSQL's SQL.
    Postgres(postgres::Parsed),
    /// The same inside a function, whose variables it sees.
    Inside(Box<postgres::Parsed>, Arc<postgres::routine::Variables>),
    /// The back end's own words, which need no front end: statements of our own.
    Native(Arc<Native>),
}

/// A statement in the back end's own words.
#[derive(Debug)]
pub(super) struct Native {
    pub params: Vec<Type>,
    pub columns: Vec<ResultColumn>,
    pub effects: Effects,
    pub command: Command,
}

impl Parsed {
    /// The statement's own text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many characters stand before it in the whole text; error positions count from the whole text's beginning.
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// A statement inside a routine; its text means something there only, so its plan is shared with nobody.
    pub(crate) fn of_routine(statement: informix::Statement) -> Self {
        let (text, offset) = (statement.text().into(), statement.offset().max(1));
        Self { text, offset, source: Source::Informix(Box::new(statement)), size: 0, asked_from: None }
    }

    /// The place of a text for a statement that nobody has written.
    pub(crate) fn of_nothing(name: &str) -> Self {
        let native = Native {
            params: Vec::new(),
            columns: Vec::new(),
            effects: Effects::default(),
            command: Command::Utility(""),
        };
        Self { text: name.into(), offset: 0, source: Source::Native(Arc::new(native)), size: 0, asked_from: None }
    }

    /// The same for a session of another database than that of its names.
    pub(super) fn asked_from(&self, database: &str) -> Self {
        Self { asked_from: Some(database.into()), ..self.clone() }
    }

    /// It is in PostgreSQL's SQL.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.source, Source::Postgres(_) | Source::Inside(..))
    }

    /// A statement inside a function of PostgreSQL's way; its plan is shared with nobody.
    pub(crate) fn inside(statement: postgres::Parsed, variables: Arc<postgres::routine::Variables>) -> Self {
        Self {
            text: statement.text().into(),
            offset: 1,
            source: Source::Inside(Box::new(statement), variables),
            size: 0,
            asked_from: None,
        }
    }

    /// The text that it came in, with what stands around it: what PostgreSQL shows of cursors and statements.
    pub(crate) fn whole_text(&self) -> Arc<str> {
        match &self.source {
            Source::Postgres(statement) => statement.whole().clone(),
            _ => self.text.clone(),
        }
    }

    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// A part of a statement that does several things.
    pub(super) fn of_part(statement: &postgres::Parsed) -> Self {
        let source = Source::Postgres(statement.clone());
        Self { text: statement.text().into(), offset: 1, source, size: 0, asked_from: None }
    }

    /// What PostgreSQL's parser knows about it; `None` in other languages.
    pub(super) fn postgres(&self) -> Option<&postgres::Parsed> {
        match &self.source {
            Source::Postgres(statement) => Some(statement),
            _ => None,
        }
    }

    /// The same also inside a routine.
    pub(super) fn statement(&self) -> Option<&postgres::Parsed> {
        match &self.source {
            Source::Postgres(statement) => Some(statement),
            Source::Inside(statement, _) => Some(statement),
            _ => None,
        }
    }

    /// Gives back the memory of what a plan needs no more than its text for.
    pub(super) fn forget_tree(&self) {
        if let Source::Postgres(statement) = &self.source {
            statement.forget_tree();
        }
    }

    /// What the Informix parser knows about it; `None` in other languages.
    pub fn informix(&self) -> Option<&informix::Statement> {
        match &self.source {
            Source::Informix(statement) => Some(statement),
            _ => None,
        }
    }
}

impl Session {
    /// Splits a text into its statements; none for an empty text.
    pub fn parse(&mut self, sql: &str) -> Result<Vec<Parsed>> {
        self.supervised(|session| {
            weigh(sql)?;
            match session.respelled(sql)? {
                Some((respelled, rules)) => of_postgres(|| respelled.parse(rules)),
                None => session.parse_own(sql),
            }
        })
    }

    /// The session has Informix's DELIMIDENT.
    pub(super) fn is_delimited(&self) -> bool {
        self.language == Language::Informix && self.state.variables.read().is_named(informix::DELIMIDENT)
    }

    /// The client of the session writes UTF-8, as Informix's databases of such a code set have it.
    pub(crate) fn is_multibyte(&self) -> bool {
        self.language == Language::Informix && self.state.variables.read().is_named(informix::MULTIBYTE)
    }

    /// The form that dates have in text, where the client of the session has said so.
    pub(crate) fn dates(&self) -> Option<informix::values::DateFormat> {
        if self.language != Language::Informix {
            return None;
        }
        let words = self.state.variables.read().get(informix::DATES)?;
        informix::values::DateFormat::of_dbdate(&words)
    }

    /// Splits a text by the parser of the session's language.
    pub(super) fn parse_own(&self, sql: &str) -> Result<Vec<Parsed>> {
        if self.is_delimited() {
            return of_informix(|| informix::parse_delimited(sql));
        }
        if self.language == Language::Mysql {
            return of_postgres(|| postgres::parse_mysql(sql, self.database.name(), self.mysql_modes()));
        }
        parse(sql, self.language)
    }

    /// A text whose strings mean something else in this session than to the parser, as the parser reads it the same.
    pub(super) fn respelled(&mut self, sql: &str) -> Result<Option<(postgres::Respelled, postgres::StringRules)>> {
        let rules = self.settings().strings;
        if rules.is_usual() || self.language != Language::Postgres {
            return Ok(None);
        }
        let mut respelled = postgres::respell(sql, rules)?;
        self.state.notices.lock().append(&mut respelled.warnings);
        Ok(Some((respelled, rules)))
    }
}

/// Longer texts are weighed before they are parsed.
const LONG: usize = 64 * 1024;

/// What the parser's trees take of memory for each token, in bytes, and how often it copies the text: measured with
/// lists of numbers, of rows and of statements.
const BYTES_A_TOKEN: usize = 1_000;
const COPIES: usize = 4;

/// An error when there is no room for what a parser makes of a text: the parser itself does not ask.
pub(super) fn weigh(sql: &str) -> Result<()> {
    if sql.len() < LONG {
        return Ok(());
    }
    let (mut tokens, mut quote, mut in_word) = (0_usize, None, false);
    for chunk in sql.as_bytes().chunks(work::STRIDE) {
        work::step(chunk.len())?;
        for &byte in chunk {
            let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            match quote {
                Some(open) if byte == open => quote = None,
                Some(_) => {}
                None => {
                    tokens += usize::from(if word { !in_word } else { !byte.is_ascii_whitespace() });
                    quote = Some(byte).filter(|byte| matches!(byte, b'\'' | b'"'));
                }
            }
            in_word = word;
        }
    }
    work::room_to_work(tokens.saturating_mul(BYTES_A_TOKEN).saturating_add(sql.len().saturating_mul(COPIES)))
}

/// Splits a text by a language's own parser.
pub(super) fn parse(sql: &str, language: Language) -> Result<Vec<Parsed>> {
    match language {
        Language::Postgres => of_postgres(|| postgres::parse(sql)),
        Language::Informix => of_informix(|| informix::parse(sql)),
        Language::Mysql => of_postgres(|| postgres::parse_mysql(sql, "", Modes::default())),
        Language::Native => Err(Error::unsupported("the back end's own SQL")),
    }
}

/// Statements of one text of Informix's.
fn of_informix(parse: impl FnOnce() -> Result<Vec<informix::Statement>>) -> Result<Vec<Parsed>> {
    weighed(|| {
        let statements = parse()?.into_iter().map(|statement| Parsed {
            text: statement.text().into(),
            offset: statement.offset(),
            source: Source::Informix(Box::new(statement)),
            size: 0,
            asked_from: None,
        });
        Ok(statements.collect())
    })
}

/// Statements of one text of PostgreSQL's.
pub(super) fn of_postgres(parse: impl FnOnce() -> Result<Vec<postgres::Parsed>>) -> Result<Vec<Parsed>> {
    weighed(|| {
        // Statements come in the order of the text: characters are counted once.
        let (mut bytes, mut characters) = (0, 0);
        let offset = |statement: &postgres::Parsed| {
            let start = statement.range().start;
            characters += statement.whole()[bytes..start].chars().count() as u32;
            bytes = start;
            characters
        };
        let statements = parse()?;
        let offsets: Vec<u32> = statements.iter().map(offset).collect();
        let both = statements.into_iter().zip(offsets);
        let parsed = both.map(|(statement, offset)| Parsed {
            text: statement.text().into(),
            offset,
            source: Source::Postgres(statement),
            size: 0,
            asked_from: None,
        });
        Ok(parsed.collect())
    })
}

/// Statements that know how much memory each takes.
fn weighed(parse: impl FnOnce() -> Result<Vec<Parsed>>) -> Result<Vec<Parsed>> {
    let before = memory::mark();
    let mut parsed = parse()?;
    let size = memory::since(before) / parsed.len().max(1);
    parsed.iter_mut().for_each(|statement| statement.size = size);
    Ok(parsed)
}
