//! PostgreSQL's regular expressions.
//!
//! [`read`] takes a pattern apart, [`automaton`] runs it over a subject, [`matching`] says which of the possible matches
//! is PostgreSQL's and where its groups are. All of it asks as it goes whether it may go on, so that no pattern holds up
//! a statement that is cancelled. Where a match begins is asked of `regex-automata` first, as long as pattern and
//! subject are so small that it is done in no time: it cannot be interrupted.

mod automaton;
mod functions;
mod matching;
mod part;
mod read;
mod sets;
mod swift;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use rowferry_dialect::{Condition, Error, Result, work};

pub(super) use functions::{ROWS, informix_pattern};

use automaton::{Program, Run};
use matching::{Builder, Node, Search, Span};
use swift::Swift;

/// What a match counts as work, beside its bytes.
const MATCH: usize = 64;
/// How many compiled patterns a thread keeps.
const KEPT: usize = 32;

type Kept = VecDeque<((String, String), Rc<Pattern>)>;

/// A compiled pattern.
pub(super) struct Pattern {
    program: Program,
    root: Node,
    groups: usize,
    any_case: bool,
    /// The automaton knows all: there are no references to groups.
    exact: bool,
    swift: Option<Swift>,
}

/// A match within a subject.
#[derive(Clone)]
pub(super) struct Found<'a> {
    subject: &'a str,
    /// The whole, and the groups.
    spans: Vec<Option<Span>>,
}

impl<'a> Found<'a> {
    pub(super) fn whole(&self) -> Span {
        self.spans[0].unwrap_or_default()
    }

    /// The whole, and the groups.
    pub(super) fn spans(&self) -> Vec<Option<Span>> {
        self.spans.clone()
    }

    pub(super) fn group(&self, at: usize) -> Option<&'a str> {
        self.span(at).map(|(start, end)| &self.subject[start..end])
    }

    fn span(&self, at: usize) -> Option<Span> {
        self.spans.get(at).copied().flatten()
    }
}

impl Pattern {
    fn new(pattern: &str, flags: &str) -> Result<Self> {
        let mut options = read::Options::default();
        for flag in flags.chars().filter(|flag| *flag != 'g') {
            if !options.set(flag) {
                let message = format!("invalid regular expression option: \"{flag}\"");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
        }
        let read = read::read(pattern, options)?;
        let mut builder = Builder::new();
        let root = builder.node(&read.root)?;
        let program = builder.program;
        program.check()?;
        let exact = !read.root.has_back_references();
        let swift = Swift::of(&read.root, program.len());
        Ok(Self { program, root, groups: read.groups, any_case: read.any_case, exact, swift })
    }

    /// True if there is a match from a place on.
    fn is_match(&self, subject: &str, from: usize) -> Result<bool> {
        if !self.exact {
            return Ok(self.find(&Run::new(&self.program, subject), from)?.is_some());
        }
        match self.swift.as_ref().filter(|swift| swift.is_for(subject)) {
            Some(swift) => Ok(swift.is_match(subject, from)),
            None => Ok(Run::new(&self.program, subject).first_end(from)?.is_some()),
        }
    }

    /// The first match that begins at a place or behind it.
    fn find<'a>(&self, run: &Run<'_, 'a>, from: usize) -> Result<Option<Found<'a>>> {
        if !self.exact {
            return self.find_closely(run, from);
        }
        match self.start(run, from)? {
            Some(start) => self.match_at(run, start),
            None => Ok(None),
        }
    }

    /// The first place from which the automaton can go on to an end.
    fn start(&self, run: &Run<'_, '_>, from: usize) -> Result<Option<usize>> {
        match self.swift.as_ref().filter(|swift| swift.is_for(run.subject)) {
            Some(swift) => Ok(swift.start(run.subject, from)),
            None => run.first_start(from),
        }
    }

    fn match_at<'a>(&self, run: &Run<'_, 'a>, start: usize) -> Result<Option<Found<'a>>> {
        let mut search = Search { run, any_case: self.any_case, spans: vec![None; self.groups + 1] };
        let found = search.whole(&self.root, start, self.exact)?;
        Ok(found.then_some(Found { subject: run.subject, spans: search.spans }))
    }

    /// The same for expressions with references to groups, which the automaton takes too lightly: each place is tried
    /// that lies before the next end it sees. As with PostgreSQL, an empty
    /// match at the very end is not come upon behind others that failed.
    fn find_closely<'a>(&self, run: &Run<'_, 'a>, from: usize) -> Result<Option<Found<'a>>> {
        let mut from = from;
        loop {
            let Some(end) = run.first_end(from)? else { return Ok(None) };
            while let Some(start) = self.start(run, from)?.filter(|start| *start <= end) {
                if let Some(found) = self.match_at(run, start)? {
                    return Ok(Some(found));
                }
                from = next_place(run.subject, start);
                if from > run.subject.len() {
                    break;
                }
            }
            from = next_place(run.subject, end);
            if from >= run.subject.len() {
                return Ok(None);
            }
        }
    }

    /// Every match, one after the other; behind an empty one the search goes on one character farther.
    fn each<'a>(&self, subject: &'a str, from: usize, mut take: impl FnMut(&Found<'a>) -> Result<bool>) -> Result<()> {
        let run = Run::new(&self.program, subject);
        let mut from = from;
        while from <= subject.len() {
            let Some(found) = self.find(&run, from)? else { return Ok(()) };
            let (start, end) = found.whole();
            work::step(end - start + MATCH)?;
            if !take(&found)? {
                return Ok(());
            }
            from = if start == end { next_place(subject, end) } else { end };
        }
        Ok(())
    }
}

/// Where the next character begins.
fn next_place(subject: &str, at: usize) -> usize {
    at + subject[at..].chars().next().map_or(1, char::len_utf8)
}

thread_local! {
    static COMPILED: RefCell<Kept> = const { RefCell::new(VecDeque::new()) };
}

/// The compiled pattern, from the thread's store if it was used lately. `g` is the callers' business.
pub(super) fn compiled(pattern: &str, flags: &str) -> Result<Rc<Pattern>> {
    let found = COMPILED.with(|kept| {
        kept.borrow().iter().find(|((p, f), _)| p == pattern && f == flags).map(|(_, regex)| Rc::clone(regex))
    });
    if let Some(regex) = found {
        return Ok(regex);
    }
    let regex = Rc::new(Pattern::new(pattern, flags)?);
    COMPILED.with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(((pattern.to_owned(), flags.to_owned()), Rc::clone(&regex)));
    });
    Ok(regex)
}

/// Every match.
pub(super) fn all_matches<'a>(regex: &Pattern, subject: &'a str, only_one: bool) -> Result<Vec<Found<'a>>> {
    let mut all = Vec::new();
    regex.each(subject, 0, |found| {
        all.push(found.clone());
        Ok(!only_one)
    })?;
    Ok(all)
}

/// The groups of a match as an array's members; the whole match if there are none.
pub(super) fn groups<'a>(found: &Found<'a>) -> Vec<Option<&'a str>> {
    let first = usize::from(found.spans.len() > 1);
    (first..found.spans.len()).map(|at| found.group(at)).collect()
}

/// True if a text matches a pattern anywhere.
pub(super) fn is_match(text: &str, pattern: &str, flags: &str) -> Result<bool> {
    compiled(pattern, flags)?.is_match(text, 0)
}

/// What the groups of a pattern's first match hold, from its first one; `None` where it matches nowhere.
///
/// # Errors
/// `2201B` for what is no regular expression of PostgreSQL's.
pub fn first_groups(text: &str, pattern: &str) -> Result<Option<Vec<Option<String>>>> {
    let regex = compiled(pattern, "")?;
    let found = all_matches(&regex, text, true)?.pop();
    Ok(found.map(|found| (1..found.spans.len()).map(|at| found.group(at).map(str::to_owned)).collect()))
}

/// Functions that find one match, or all of them, take no `g`.
pub(super) fn refuse_global(function: &str, flags: &str) -> Result<()> {
    if !flags.contains('g') {
        return Ok(());
    }
    let message = format!("{function}() does not support the \"global\" option");
    Err(Error::new(Condition::InvalidParameterValue, message))
}

/// The parts between matches; an empty match at an end or beside another separates nothing.
pub(super) fn split<'a>(subject: &'a str, pattern: &str, flags: &str) -> Result<Vec<&'a str>> {
    let regex = compiled(pattern, flags)?;
    let mut parts = Vec::new();
    let (mut last, mut before) = (0, 0);
    regex.each(subject, 0, |found| {
        let (start, end) = found.whole();
        if start < subject.len() && end > before {
            parts.push(&subject[last..start]);
            last = end;
        }
        before = end;
        Ok(true)
    })?;
    parts.push(&subject[last..]);
    Ok(parts)
}
