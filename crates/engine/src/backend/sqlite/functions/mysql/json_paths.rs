//! Paths into documents: how they are read, what they lead to, and what is changed there.

use std::collections::HashSet;

use rowferry_dialect::values::mysql::json::ordered;
use rowferry_dialect::{Condition, Error, Result};
use serde_json::Value as Json;

/// A leg of a path.
#[derive(Clone, Debug)]
enum Leg {
    Key(String),
    AnyKey,
    Place(Place),
    Range(Place, Place),
    AnyPlace,
    Everywhere,
}

/// A place in an array, from its beginning or from its end.
#[derive(Clone, Copy, Debug)]
enum Place {
    First(usize),
    Last(usize),
}

impl Place {
    fn of(self, length: usize) -> Option<usize> {
        match self {
            Self::First(at) => Some(at),
            Self::Last(back) => length.checked_sub(back + 1),
        }
    }
}

/// A path of MySQL's.
#[derive(Debug)]
pub(super) struct Path(Vec<Leg>);

impl Path {
    /// # Errors
    /// 3143 for what is no path.
    pub(super) fn read(written: &str) -> Result<Self> {
        let wrong = |at: usize| {
            let message = format!("Invalid JSON path expression. The error is around character position {at}.");
            Error::new(Condition::InvalidParameterValue, message).with_mysql(3143, "42000")
        };
        let mut rest = written.trim().strip_prefix('$').ok_or_else(|| wrong(1))?;
        let mut legs = Vec::new();
        let here = |rest: &str| written.len() - rest.len() + 1;
        loop {
            rest = rest.trim_start();
            let Some(sign) = rest.chars().next() else { break };
            match sign {
                '*' if rest.starts_with("**") => {
                    legs.push(Leg::Everywhere);
                    rest = &rest[2..];
                }
                '.' => {
                    rest = rest[1..].trim_start();
                    if let Some(behind) = rest.strip_prefix('*') {
                        legs.push(Leg::AnyKey);
                        rest = behind;
                    } else if rest.starts_with('"') {
                        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
                        let Some(Ok(Json::String(key))) = stream.next() else { return Err(wrong(here(rest))) };
                        rest = &rest[stream.byte_offset()..];
                        legs.push(Leg::Key(key));
                    } else {
                        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                        let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
                        if end == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
                            return Err(wrong(here(rest)));
                        }
                        legs.push(Leg::Key(rest[..end].to_owned()));
                        rest = &rest[end..];
                    }
                }
                '[' => {
                    let (inner, behind) = rest[1..].split_once(']').ok_or_else(|| wrong(written.len()))?;
                    let place = |text: &str| {
                        let text = text.trim();
                        match text.strip_prefix("last") {
                            Some(back) => match back.trim().strip_prefix('-') {
                                Some(back) => back.trim().parse().ok().map(Place::Last),
                                None => back.trim().is_empty().then_some(Place::Last(0)),
                            },
                            None => text.parse().ok().map(Place::First),
                        }
                    };
                    let leg = match (inner.trim(), inner.split_once(" to ")) {
                        ("*", _) => Some(Leg::AnyPlace),
                        (_, Some((from, to))) => place(from).zip(place(to)).map(|(from, to)| Leg::Range(from, to)),
                        (single, None) => place(single).map(Leg::Place),
                    };
                    legs.push(leg.ok_or_else(|| wrong(here(rest)))?);
                    rest = behind;
                }
                _ => return Err(wrong(here(rest))),
            }
        }
        if matches!(legs.last(), Some(Leg::Everywhere)) {
            return Err(wrong(written.len()));
        }
        Ok(Self(legs))
    }

    /// It may lead to several values.
    pub(super) fn is_wild(&self) -> bool {
        self.0.iter().any(|leg| !matches!(leg, Leg::Key(_) | Leg::Place(_)))
    }

    /// # Errors
    /// 3149 for wildcards.
    pub(super) fn tame(&self) -> Result<()> {
        if !self.is_wild() {
            return Ok(());
        }
        let message = "In this situation, path expressions may not contain the * and ** tokens or an array range.";
        Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(3149, "42000"))
    }

    /// Adds what it leads to, each value once.
    pub(super) fn find<'j>(&self, document: &'j Json, found: &mut Vec<&'j Json>) {
        // Only what is looked for everywhere is met again: what is no array is one of itself.
        let is_met_again = self.0.iter().any(|leg| matches!(leg, Leg::Everywhere));
        follow(&self.0, document, found, &mut is_met_again.then(HashSet::new));
    }

    /// Takes what it leads to out of a document.
    pub(super) fn remove(&self, document: &mut Json) -> Result<()> {
        let Some((last, legs)) = self.0.split_last() else {
            let message = "The path expression '$' is not allowed in this context.";
            return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(3153, "42000"));
        };
        match (reach(legs, document), last) {
            (Some(Json::Object(members)), Leg::Key(key)) => {
                members.shift_remove(key);
            }
            (Some(Json::Array(members)), Leg::Place(place)) => {
                if let Some(at) = place.of(members.len()).filter(|at| *at < members.len()) {
                    members.remove(at);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn follow<'j>(legs: &[Leg], document: &'j Json, found: &mut Vec<&'j Json>, met: &mut Option<HashSet<*const Json>>) {
    let Some((leg, rest)) = legs.split_first() else {
        if met.as_mut().is_none_or(|met| met.insert(document)) {
            found.push(document);
        }
        return;
    };
    match (leg, document) {
        (Leg::Key(key), Json::Object(members)) => {
            if let Some(member) = members.get(key) {
                follow(rest, member, found, met);
            }
        }
        (Leg::AnyKey, Json::Object(members)) => {
            ordered(members).into_iter().for_each(|(_, member)| follow(rest, member, found, met));
        }
        (Leg::Place(place), Json::Array(members)) => {
            if let Some(member) = place.of(members.len()).and_then(|at| members.get(at)) {
                follow(rest, member, found, met);
            }
        }
        // What is no array is one of itself.
        (Leg::Place(place), other) if place.of(1) == Some(0) => follow(rest, other, found, met),
        (Leg::Range(from, to), Json::Array(members)) => {
            if let Some((from, to)) = from.of(members.len()).zip(to.of(members.len())) {
                members.iter().take(to + 1).skip(from).for_each(|member| follow(rest, member, found, met));
            }
        }
        (Leg::AnyPlace, Json::Array(members)) => members.iter().for_each(|member| follow(rest, member, found, met)),
        (Leg::Everywhere, document) => {
            follow(rest, document, found, met);
            match document {
                Json::Array(members) => members.iter().for_each(|member| follow(legs, member, found, met)),
                Json::Object(members) => {
                    ordered(members).into_iter().for_each(|(_, member)| follow(legs, member, found, met));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// What a path without wildcards leads to, to be changed.
fn reach<'j>(legs: &[Leg], document: &'j mut Json) -> Option<&'j mut Json> {
    let Some((leg, rest)) = legs.split_first() else { return Some(document) };
    match leg {
        Leg::Key(key) => match document {
            Json::Object(members) => reach(rest, members.get_mut(key)?),
            _ => None,
        },
        Leg::Place(place) => match document {
            Json::Array(members) => {
                let at = place.of(members.len())?;
                reach(rest, members.get_mut(at)?)
            }
            other => (place.of(1) == Some(0)).then(|| reach(rest, other)).flatten(),
        },
        _ => None,
    }
}

/// What is done at the end of a path.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Change {
    Set,
    Insert,
    Replace,
    Append,
    Squeeze,
}

/// Changes what a path leads to.
pub(super) fn apply(document: &mut Json, path: &Path, value: Json, change: Change) {
    if change == Change::Append {
        if let Some(target) = reach(&path.0, document) {
            match target {
                Json::Array(members) => members.push(value),
                other => *other = Json::Array(vec![other.take(), value]),
            }
        }
        return;
    }
    let Some((last, legs)) = path.0.split_last() else {
        if matches!(change, Change::Set | Change::Replace) {
            *document = value;
        }
        return;
    };
    let Some(parent) = reach(legs, document) else { return };
    match (last, parent) {
        (Leg::Key(key), Json::Object(members)) => {
            let there = members.contains_key(key);
            if change == Change::Set || there == (change == Change::Replace) && change != Change::Squeeze {
                members.insert(key.clone(), value);
            }
        }
        (Leg::Place(place), Json::Array(members)) => {
            let at = place.of(members.len());
            if change == Change::Squeeze {
                members.insert(at.unwrap_or(0).min(members.len()), value);
                return;
            }
            match at.and_then(|at| members.get_mut(at)) {
                Some(member) if change != Change::Insert => *member = value,
                None if change != Change::Replace => members.push(value),
                _ => {}
            }
        }
        // What is no array is one of itself.
        (Leg::Place(place), other) if change != Change::Squeeze => match place.of(1) {
            Some(0) if change != Change::Insert => *other = value,
            Some(0) => {}
            _ if change != Change::Replace => *other = Json::Array(vec![other.take(), value]),
            _ => {}
        },
        _ => {}
    }
}
