//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE. The session does the work, and keeps what it has to say of each table; a
//! query over that is the answer.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::alter::{took, took_all, unexpected};
use super::expressions::name_parts;
use super::statements::{Failed, Trees};
use super::tree::Converter;
use super::{Control, Modes};
use crate::Error;

/// What is to be done with tables.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// Statistics are gathered.
    Analyze,
    /// It is looked for what is wrong; QUICK does not compare indexes with their rows.
    Check {
        /// QUICK.
        quick: bool,
    },
    /// A number is made of all rows; QUICK has one only where it is kept.
    Checksum {
        /// QUICK.
        quick: bool,
    },
    /// Indexes are made anew, and statistics gathered.
    Optimize,
    /// As InnoDB: it is said that there is nothing to be done.
    Repair,
}

impl Work {
    /// What a statement that begins with some words wants.
    pub(super) fn of(begins: impl Fn(&[&str]) -> bool) -> Option<Self> {
        let all = [
            Self::Analyze,
            Self::Check { quick: false },
            Self::Checksum { quick: false },
            Self::Optimize,
            Self::Repair,
        ];
        let is_of = |work: &Self, table: &str| {
            let word = work.word();
            begins(&[word, table]) || work.is_logged() && LOCAL.iter().any(|local| begins(&[word, local, table]))
        };
        all.into_iter().find(|work| TABLES.iter().any(|table| is_of(work, table)))
    }

    /// The word for it, in small letters.
    pub fn word(self) -> &'static str {
        match self {
            Self::Analyze => "analyze",
            Self::Check { .. } => "check",
            Self::Checksum { .. } => "checksum",
            Self::Optimize => "optimize",
            Self::Repair => "repair",
        }
    }

    /// It may be kept out of the binary log, which there is none of.
    fn is_logged(self) -> bool {
        matches!(self, Self::Analyze | Self::Optimize | Self::Repair)
    }

    /// It ends the transaction that is open.
    pub fn commits(self) -> bool {
        !matches!(self, Self::Checksum { .. })
    }

    /// Reads what stands behind the names.
    fn options(&mut self, parser: &mut Parser<'_>) {
        match self {
            // Each is as thorough as the next for InnoDB, but QUICK.
            Self::Check { quick } => loop {
                if took(parser, "quick") {
                    *quick = true;
                } else if !took_all(parser, &["for", "upgrade"])
                    && !["fast", "medium", "extended", "changed"].iter().any(|word| took(parser, word))
                {
                    break;
                }
            },
            Self::Checksum { quick } => {
                *quick = took(parser, "quick");
                if !*quick {
                    took(parser, "extended");
                }
            }
            Self::Repair => while ["quick", "extended", "use_frm"].iter().any(|word| took(parser, word)) {},
            Self::Analyze | Self::Optimize => {}
        }
    }
}

const TABLES: [&str; 2] = ["table", "tables"];
const LOCAL: [&str; 2] = ["local", "no_write_to_binlog"];

/// Such a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Maintenance {
    /// What is to be done.
    pub work: Work,
    /// With which tables.
    pub tables: Vec<Maintained>,
}

/// A table of such a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Maintained {
    /// The database, as it is said.
    pub database: Option<String>,
    /// The schema that it is.
    pub schema: Option<String>,
    /// The table.
    pub name: String,
}

impl Converter<'_> {
    pub(super) fn maintain(&mut self, mut work: Work, parser: &mut Parser<'_>) -> Result<Trees, Failed> {
        while !TABLES.iter().any(|table| took(parser, table)) {
            parser.next_token();
        }
        let names = parser.parse_comma_separated(|parser| parser.parse_object_name(false))?;
        work.options(parser);
        if work == Work::Analyze && ["update", "drop"].iter().any(|word| took_all(parser, &[word, "histogram"])) {
            return Err(Error::unsupported("ANALYZE TABLE … HISTOGRAM").into());
        }
        if parser.peek_token_ref().token != Token::EOF {
            return unexpected("the end");
        }
        let mut tables: Vec<Maintained> = Vec::with_capacity(names.len());
        for name in &names {
            let database = match name_parts(name)?.as_slice() {
                [database, _] => Some(database.clone()),
                _ => None,
            };
            let mut parts = self.relation_parts(name)?;
            let name = parts.pop().unwrap_or_default();
            let table = Maintained { database, schema: parts.pop(), name };
            if tables.contains(&table) {
                let message = format!("table name \"{}\" specified more than once", table.name);
                return Err(Error::new(crate::Condition::DuplicateAlias, message).into());
            }
            tables.push(table);
        }
        let shown = match work {
            Work::Checksum { .. } => "TABLE_NAME AS `Table`, CHECKSUM AS `Checksum`",
            _ => "TABLE_NAME AS `Table`, OP AS `Op`, MSG_TYPE AS `Msg_type`, MSG_TEXT AS `Msg_text`",
        };
        let query = format!("SELECT {shown} FROM information_schema.rowferry_maintained ORDER BY NUMBER");
        let answer = super::tree::statements(&query, "", Modes::default())?.pop();
        let tree = answer.and_then(|answer| answer.trees.into_iter().next());
        self.control = Some(Control::Maintain(Maintenance { work, tables }));
        match tree {
            Some((tree, _)) => Ok((vec![tree], false)),
            None => Err(Error::internal("an answer that is none").into()),
        }
    }
}
