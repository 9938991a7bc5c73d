//! Carries definitions out in an empty database, compiles the rest, and remembers what was said.

use std::collections::BTreeMap;

use rowferry_engine::{
    Command, Condition, Database, Error, Journal, Language, Options, Outcome, Prepared, Session, SessionOptions,
};

use super::Dialect;
use super::source::{Source, Statement};
use crate::Failure;
use crate::stop::Stop;

/// What becomes of a statement.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Verdict {
    Works,
    Differs,
    Refused,
    Missing,
    Wrong,
}

impl Verdict {
    pub(super) const ALL: [Self; 5] = [Self::Works, Self::Differs, Self::Refused, Self::Missing, Self::Wrong];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Differs => "differs",
            Self::Refused => "refused",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
        }
    }

    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Works => "carried out as there",
            Self::Differs => "accepted; the notice says what is left out",
            Self::Refused => "not there, refused by name",
            Self::Missing => "names what the source has not defined before",
            Self::Wrong => "could not be understood",
        }
    }
}

/// The same answer to one statement or to several.
pub(super) struct Finding {
    pub verdict: Verdict,
    /// The SQLSTATE, or Informix's code.
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    /// Where in the source, each with the beginning of its statement.
    pub places: Vec<(usize, String)>,
}

/// All answers.
#[derive(Default)]
pub(super) struct Judged {
    /// How many statements, by their verdicts.
    pub counts: BTreeMap<Verdict, usize>,
    pub findings: Vec<Finding>,
}

impl Judged {
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.counts.get(&verdict).copied().unwrap_or(0)
    }

    pub(super) fn all_works(&self) -> bool {
        Verdict::ALL.iter().filter(|verdict| **verdict > Verdict::Differs).all(|verdict| self.count(*verdict) == 0)
    }

    fn add(&mut self, dialect: Dialect, statement: &Statement, verdict: Verdict, said: &Error) {
        let code = match dialect {
            Dialect::Postgres => said.condition().sqlstate().to_owned(),
            Dialect::Informix => said.informix_code().to_string(),
        };
        let lines_before = |position: u32| {
            let before = statement.text.chars().take(position.saturating_sub(1) as usize);
            before.filter(|character| *character == '\n').count()
        };
        let line = statement.line + said.position.map_or(0, lines_before);
        let known = self
            .findings
            .iter_mut()
            .find(|finding| finding.verdict == verdict && finding.code == code && finding.message == said.message);
        let finding = match known {
            Some(finding) => finding,
            None => {
                let (message, hint) = (said.message.clone(), said.hint.clone());
                self.findings.push(Finding { verdict, code, message, hint, places: Vec::new() });
                self.findings.last_mut().expect("just pushed")
            }
        };
        finding.places.push((line, beginning(&statement.text)));
        finding.places.extend(statement.again.iter().map(|line| (*line, beginning(&statement.text))));
    }
}

/// Judges every statement of the source, behind what its schema defines.
pub(super) fn judge(schema: &[Statement], source: &Source, stop: &Stop) -> Result<Judged, Failure> {
    let said = |error: Error| Failure::of(error.message.clone(), error.hint.clone());
    // Nothing of it outlives the program, so nothing need be said of its journal.
    let options = Options { journal: Journal::Keep, ..Options::default() };
    let database = Database::memory("assess", options).map_err(said)?;
    let user = match source.dialect {
        Dialect::Postgres => "rowferry",
        Dialect::Informix => "informix",
    };
    let mut session = database.session(SessionOptions::new(user, source.dialect.language()));
    let _guard = stop.interrupts(session.interrupter())?;
    let mut judged = Judged::default();
    let interrupted = || if stop.asked() { Err(Failure::new("interrupted")) } else { Ok(()) };
    for statement in schema {
        interrupted()?;
        // What it says of itself is another assessment.
        let _ = attempt(&mut session, &statement.text);
    }
    for statement in &source.statements {
        interrupted()?;
        let times = 1 + statement.again.len();
        let verdict = match attempt(&mut session, &statement.text) {
            Ok(notices) => {
                for notice in &notices {
                    judged.add(source.dialect, statement, Verdict::Differs, notice);
                }
                if notices.is_empty() { Verdict::Works } else { Verdict::Differs }
            }
            Err(error) => {
                let verdict = verdict(&error);
                judged.add(source.dialect, statement, verdict, &error);
                verdict
            }
        };
        *judged.counts.entry(verdict).or_default() += times;
    }
    judged.findings.sort_by_key(|finding| (finding.verdict, finding.places.first().map(|(line, _)| *line)));
    Ok(judged)
}

/// Compiles a statement, and carries it out when others may need it; what it was accepted with.
fn attempt(session: &mut Session, text: &str) -> Result<Vec<Error>, Error> {
    session.drain_notices();
    let outcome = attempt_each(session, text);
    if outcome.is_err() {
        session.fail();
    }
    let ended = session.end_implicit();
    let removes = outcome?;
    ended?;
    // What a DROP takes along is no difference; nor is what IF [NOT] EXISTS finds.
    let differs = |notice: &Error| !removes && !notice.condition().sqlstate().starts_with("42");
    Ok(session.drain_notices().into_iter().filter(differs).collect())
}

/// The number by which Informix describes EXECUTE PROCEDURE and EXECUTE FUNCTION.
const EXECUTE: i16 = 56;

/// True when the statement removes something.
fn attempt_each(session: &mut Session, text: &str) -> Result<bool, Error> {
    let mut removes = false;
    for parsed in session.parse(text)? {
        // Databases are the server's business, and transactions the program's.
        if parsed.informix().is_some_and(|statement| statement.control().is_some()) {
            continue;
        }
        if session.language() == Language::Postgres {
            session.begin_implicit();
        }
        let prepared = session.prepare_parsed(&parsed, &[])?;
        let calls = parsed.informix().is_some_and(|statement| statement.statement_type() == EXECUTE);
        if !calls
            && is_carried_out(&prepared)
            && let Outcome::Rows(mut rows) = session.execute(&prepared, &[])?
        {
            while rows.next()?.is_some() {}
        }
        removes |= matches!(prepared.command, Command::Utility(words) if words.starts_with("DROP") || words.starts_with("TRUNCATE"));
    }
    Ok(removes)
}

/// Definitions and settings; `SELECT set_config(…)` and `setval(…)` of dumps among them.
fn is_carried_out(prepared: &Prepared) -> bool {
    let effects = &prepared.bound.effects;
    if effects.transaction || !prepared.bound.params.is_empty() {
        return false;
    }
    match prepared.command {
        Command::Utility(words) => !is_of_the_moment(words),
        Command::Select => effects.volatile && !effects.reads && !effects.calls_writers,
        _ => false,
    }
}

/// What defines nothing, or hangs on a transaction, a cursor or a server that is not there.
fn is_of_the_moment(words: &str) -> bool {
    matches!(words, "CALL" | "DO" | "EXPLAIN" | "EXECUTE" | "LOCK TABLE" | "UNLOCK TABLE")
        || words.starts_with("CLOSE CURSOR")
        || words.ends_with(" DATABASE")
}

fn verdict(error: &Error) -> Verdict {
    match error.condition() {
        Condition::FeatureNotSupported => Verdict::Refused,
        Condition::UndefinedTable
        | Condition::UndefinedColumn
        | Condition::UndefinedFunction
        | Condition::UndefinedObject
        | Condition::InvalidSchemaName
        | Condition::InvalidCatalogName => Verdict::Missing,
        _ => Verdict::Wrong,
    }
}

/// The first words of a statement, on one line.
fn beginning(text: &str) -> String {
    const MOST: usize = 80;
    let words: Vec<&str> = text.split_whitespace().take(40).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
