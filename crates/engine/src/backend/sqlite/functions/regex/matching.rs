//! How far a match reaches, and where its groups lie.
//!
//! PostgreSQL's matches are POSIX's: of those that begin first the longest is taken, or the shortest if the expression as
//! a whole prefers that (`a.*?b`; the first quantifier of a branch decides, an alternation always prefers the longest).
//! Within the match, parts that stand earlier take as much (or as little) as the rest allows. An expression is cut only
//! where that can be seen: parts side by side that prefer the same and have no group in them are one.

use std::collections::HashSet;

use rowferry_dialect::{Error, Result, work};

use super::automaton::{Program, Run, Stretch};
use super::part::{Part, Preference, Preferences};
use super::sets;

/// Places in a subject: begin and end in bytes.
pub(super) type Span = (usize, usize);

/// A part of an expression with its stretch of the program.
#[derive(Debug)]
pub(super) struct Node {
    stretch: Stretch,
    preference: Option<Preference>,
    /// The numbers of the groups in it.
    groups: (usize, usize),
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Nothing of interest within.
    Plain,
    Group(usize, Box<Node>),
    /// The first part and all behind it.
    Both(Box<Node>, Box<Node>),
    Alternation(Vec<Node>),
    /// Turns, taken one by one.
    Turns {
        turn: Box<Node>,
        least: usize,
        most: Option<usize>,
    },
    /// So many times what a group matched.
    Back {
        group: usize,
        least: usize,
        most: Option<usize>,
    },
}

/// Builds the nodes of an expression, and its program with them.
pub(super) struct Builder {
    pub(super) program: Program,
    /// How many groups have been opened.
    groups: usize,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self { program: Program::default(), groups: 0 }
    }

    pub(super) fn node(&mut self, part: &Part) -> Result<Node> {
        let (first, group) = (self.program.len(), self.groups);
        let kind = self.kind(part)?;
        Ok(self.finished(first, group, part.preference(), kind))
    }

    fn finished(&self, first: usize, group: usize, preference: Option<Preference>, kind: Kind) -> Node {
        let stretch = Stretch { first, end: self.program.len() };
        Node { stretch, preference, groups: (group + 1, self.groups + 1), kind }
    }

    fn kind(&mut self, part: &Part) -> Result<Kind> {
        if !part.has_inner_places() {
            // Groups under {0} are never matched, but they are counted.
            self.groups += groups_of(part);
            self.program.add(part)?;
            return Ok(Kind::Plain);
        }
        match part {
            Part::Group(Some(index), inner) => {
                self.groups += 1;
                Ok(Kind::Group(*index, Box::new(self.node(inner)?)))
            }
            Part::Group(None, inner) => self.kind(inner),
            Part::Back(group, same) => {
                self.program.add(same)?;
                Ok(Kind::Back { group: *group, least: 1, most: Some(1) })
            }
            Part::Concat(parts) => self.concat(parts),
            Part::Alternation(parts) => {
                let mut nodes = Vec::with_capacity(parts.len());
                let mut exits = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    let is_last = at + 1 == parts.len();
                    let split = if is_last { None } else { Some(self.program.hold()?) };
                    nodes.push(self.node(part)?);
                    if let Some(split) = split {
                        exits.push(self.program.hold()?);
                        let next = self.program.len();
                        self.program.split(split, next);
                    }
                }
                let end = self.program.len();
                exits.into_iter().for_each(|exit| self.program.jump(exit, end));
                Ok(Kind::Alternation(nodes))
            }
            Part::Repeat { inner, least, most, prefers } => self.repeat(inner, *least, *most, *prefers),
            Part::Set(_) | Part::Look(_) | Part::Around { .. } => Err(Error::internal("a part without inner places")),
        }
    }

    /// Parts one behind the other: those before the first of interest are one.
    fn concat(&mut self, parts: &[Part]) -> Result<Kind> {
        let (mut plain, mut prefer) = (0, Preferences::default());
        while let Some(part) = parts.get(plain) {
            work::step(16)?;
            let with = prefer.and(part);
            if part.has_inner_places() || with.are_mixed() {
                break;
            }
            (plain, prefer) = (plain + 1, with);
        }
        let head = plain.max(1);
        let (head, rest) = parts.split_at(head);
        if rest.is_empty() && plain == 0 {
            return self.kind(&head[0]);
        }
        let head = if plain > 0 { self.plain(head)? } else { self.node(&head[0])? };
        if rest.is_empty() {
            return Ok(head.kind);
        }
        let rest = self.sequence(rest)?;
        Ok(Kind::Both(Box::new(head), Box::new(rest)))
    }

    /// Parts without anything of interest within.
    fn plain(&mut self, parts: &[Part]) -> Result<Node> {
        let (first, group) = (self.program.len(), self.groups);
        self.groups += parts.iter().map(groups_of).sum::<usize>();
        parts.iter().try_for_each(|part| self.program.add(part))?;
        Ok(self.finished(first, group, parts.iter().find_map(Part::preference), Kind::Plain))
    }

    fn sequence(&mut self, parts: &[Part]) -> Result<Node> {
        if let [only] = parts {
            return self.node(only);
        }
        let (first, group) = (self.program.len(), self.groups);
        let kind = self.concat(parts)?;
        Ok(self.finished(first, group, parts.iter().find_map(Part::preference), kind))
    }

    fn repeat(&mut self, inner: &Part, least: u32, most: Option<u32>, prefers: Option<Preference>) -> Result<Kind> {
        let count = |turns: u32| turns as usize;
        let mut atom = inner;
        while let Part::Group(None, inner) = atom {
            atom = inner;
        }
        if let Part::Back(group, same) = atom {
            self.program.turns(least, most, &mut |program| program.add(same))?;
            return Ok(Kind::Back { group: *group, least: count(least), most: most.map(count) });
        }
        if least > 0 && !inner.has_back_references() {
            // Only the last turn says where the groups are: all before it are one plain part.
            let before = Part::Repeat {
                inner: Box::new(inner.plain()),
                least: least - 1,
                most: most.map(|most| most - 1),
                prefers,
            };
            let (first, group) = (self.program.len(), self.groups);
            self.program.add(&before)?;
            let preference = prefers.or_else(|| inner.preference());
            let before = self.finished(first, group, preference, Kind::Plain);
            let last = self.node(inner)?;
            return Ok(Kind::Both(Box::new(before), Box::new(last)));
        }
        // The first turn's stretch stands for each.
        let mut turn = None;
        let mut this = std::mem::replace(self, Self::new());
        let mut program = std::mem::take(&mut this.program);
        program.turns(least, most, &mut |program| {
            if turn.is_some() {
                return program.add(inner);
            }
            std::mem::swap(&mut this.program, program);
            let node = this.node(inner);
            std::mem::swap(&mut this.program, program);
            turn = Some(node?);
            Ok(())
        })?;
        this.program = program;
        *self = this;
        let turn = Box::new(turn.ok_or_else(|| Error::internal("a repetition without a turn"))?);
        Ok(Kind::Turns { turn, least: count(least), most: most.map(count) })
    }
}

fn groups_of(part: &Part) -> usize {
    match part {
        Part::Group(index, inner) => usize::from(index.is_some()) + groups_of(inner),
        Part::Concat(parts) | Part::Alternation(parts) => parts.iter().map(groups_of).sum(),
        Part::Repeat { inner, .. } => groups_of(inner),
        Part::Set(_) | Part::Look(_) | Part::Around { .. } | Part::Back(..) => 0,
    }
}

/// A search for the places of groups.
pub(super) struct Search<'r, 'p, 's> {
    pub(super) run: &'r Run<'p, 's>,
    pub(super) any_case: bool,
    pub(super) spans: Vec<Option<Span>>,
}

impl Search<'_, '_, '_> {
    /// The ends of a match of the whole from a place, best first; the first of them that the closer look allows.
    pub(super) fn whole(&mut self, root: &Node, start: usize, exact: bool) -> Result<bool> {
        let shortest = root.preference == Some(Preference::Shortest);
        if exact {
            // Without references to groups the first end is the one.
            let Some(end) = self.run.end(root.stretch, start, shortest)? else { return Ok(false) };
            self.spans[0] = Some((start, end));
            return self.dissect(root, start, end);
        }
        let mut ends = self.run.ends(root.stretch, start, self.run.subject.len())?;
        if !shortest {
            ends.reverse();
        }
        for end in ends {
            work::step(16)?;
            self.clear(root);
            if self.dissect(root, start, end)? {
                self.spans[0] = Some((start, end));
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn clear(&mut self, node: &Node) {
        let (first, end) = node.groups;
        if first < end {
            self.spans[first..end].fill(None);
        }
    }

    /// Finds the groups of a part that the automaton takes from `start` to `end`; false when its references to groups
    /// forbid that.
    fn dissect(&mut self, node: &Node, start: usize, end: usize) -> Result<bool> {
        work::step(8)?;
        match &node.kind {
            Kind::Plain => Ok(true),
            Kind::Group(index, inner) => {
                let found = self.dissect(inner, start, end)?;
                if found {
                    self.spans[*index] = Some((start, end));
                }
                Ok(found)
            }
            Kind::Both(head, rest) => self.both(head, rest, start, end),
            Kind::Alternation(nodes) => {
                for node in nodes {
                    if self.run.matches(node.stretch, start, end)? && self.dissect(node, start, end)? {
                        return Ok(true);
                    }
                    self.clear(node);
                }
                Ok(false)
            }
            Kind::Turns { turn, least, most } => self.turns(turn, *least, *most, start, end),
            Kind::Back { group, least, most } => self.again(*group, *least, *most, start, end),
        }
    }

    fn both(&mut self, head: &Node, rest: &Node, start: usize, end: usize) -> Result<bool> {
        let mut middles = self.run.ends(head.stretch, start, end)?;
        if head.preference != Some(Preference::Shortest) {
            middles.reverse();
        }
        for middle in middles {
            work::step(16)?;
            if !self.run.matches(rest.stretch, middle, end)? {
                continue;
            }
            if self.dissect(head, start, middle)? && self.dissect(rest, middle, end)? {
                return Ok(true);
            }
            self.clear(head);
            self.clear(rest);
        }
        Ok(false)
    }

    /// Turns one behind the other, each taking the best that lets the others follow. Only those of the last turn are the
    /// groups' places.
    fn turns(&mut self, turn: &Node, least: usize, most: Option<usize>, start: usize, end: usize) -> Result<bool> {
        if least == 0 && start == end {
            // There is a turn if one can match nothing, but for one that prefers the shortest: that is no turn at all.
            let none = turn.preference == Some(Preference::Shortest);
            if none || !self.run.matches(turn.stretch, start, end)? || !self.dissect(turn, start, end)? {
                self.clear(turn);
            }
            return Ok(true);
        }
        let least = least.max(1);
        let length = end - start;
        let most = most.unwrap_or(length).min(length).max(least);
        // From where, and behind how many turns, the end cannot be reached.
        let mut dead: HashSet<(usize, usize)> = HashSet::new();
        let mut open: Vec<(usize, Vec<usize>)> = vec![(start, self.turn_ends(turn, start, end)?)];
        while let Some((at, ends)) = open.last_mut() {
            work::step(16)?;
            let at = *at;
            let Some(middle) = ends.pop() else {
                open.pop();
                dead.insert((at, open.len()));
                continue;
            };
            let count = open.len();
            if middle == end {
                if count >= least && self.verified(turn, &open, end)? {
                    return Ok(true);
                }
                continue;
            }
            // A turn of nothing leads nowhere, unless more turns are missing than there are characters.
            let left = || self.run.subject[middle..end].chars().count();
            let is_needed = middle > at || (count < least && least - count >= left());
            if count < most && is_needed && !dead.contains(&(middle, count)) {
                let ends = self.turn_ends(turn, middle, end)?;
                open.push((middle, ends));
            }
        }
        Ok(false)
    }

    /// The ends of one turn, the best last.
    fn turn_ends(&self, turn: &Node, at: usize, end: usize) -> Result<Vec<usize>> {
        let mut ends = self.run.ends(turn.stretch, at, end)?;
        if turn.preference == Some(Preference::Shortest) {
            ends.reverse();
        }
        Ok(ends)
    }

    fn verified(&mut self, turn: &Node, open: &[(usize, Vec<usize>)], end: usize) -> Result<bool> {
        let starts = open.iter().map(|(at, _)| *at);
        let ends = open.iter().skip(1).map(|(at, _)| *at).chain([end]);
        for (start, end) in starts.zip(ends) {
            self.clear(turn);
            if !self.dissect(turn, start, end)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The text of a group, so many times.
    fn again(&self, group: usize, least: usize, most: Option<usize>, start: usize, end: usize) -> Result<bool> {
        let subject = self.run.subject;
        let Some(known) = self.spans[group].map(|(start, end)| &subject[start..end]) else { return Ok(false) };
        let text = &subject[start..end];
        if text.is_empty() {
            return Ok(least == 0 || known.is_empty());
        }
        if known.is_empty() {
            return Ok(false);
        }
        work::step(text.len())?;
        let same = |a: char, b: char| a == b || (self.any_case && sets::lower(a) == sets::lower(b));
        let length = known.chars().count();
        let all = text.chars().count();
        let turns = all / length;
        Ok(all.is_multiple_of(length)
            && turns >= least
            && most.is_none_or(|most| turns <= most)
            && text.chars().zip(known.chars().cycle()).all(|(a, b)| same(a, b)))
    }
}
