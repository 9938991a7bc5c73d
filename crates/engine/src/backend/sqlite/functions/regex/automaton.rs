//! The automaton of an expression, simulated over a subject.
//!
//! All parts of an expression are stretches of one program: a part matches from `start` to `end` when a run that enters
//! its stretch at `start` can leave it at `end`. References to groups stand there as what the groups are made of, so that
//! what the automaton finds can be too much where such are; [`matching`](super::matching) then looks closer.

use std::cell::RefCell;

use rowferry_dialect::{Result, work};

use super::part::{Look, Part, Set};
use super::read::too_complex;
use super::sets;

/// A stretch of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) first: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
enum Step {
    Set(Set),
    Look(Look),
    /// What a constraint looks at, by its number.
    Around(usize),
    /// Both ways.
    Split(usize, usize),
    Jump(usize),
}

#[derive(Debug)]
struct Around {
    ahead: bool,
    negated: bool,
    program: Program,
}

/// A non-deterministic automaton.
#[derive(Debug, Default)]
pub(super) struct Program {
    steps: Vec<Step>,
    around: Vec<Around>,
}

/// More steps than any reasonable expression has.
const MOST_STEPS: usize = 100_000;
/// More states that one character can lead to, all of them together.
const MOST_WAYS: usize = 400_000;

impl Program {
    /// The automaton of a part without inner places of interest.
    fn of(part: &Part) -> Result<Self> {
        let mut program = Self::default();
        program.add(part)?;
        Ok(program)
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn whole(&self) -> Stretch {
        Stretch { first: 0, end: self.steps.len() }
    }

    fn push(&mut self, step: Step) -> Result<usize> {
        if self.steps.len() >= MOST_STEPS {
            return Err(too_complex());
        }
        work::step(32)?;
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    /// A place for a jump that is yet to be told where it leads.
    pub(super) fn hold(&mut self) -> Result<usize> {
        self.push(Step::Jump(0))
    }

    /// From a place held, the run goes on behind it or at another.
    pub(super) fn split(&mut self, held: usize, other: usize) {
        self.steps[held] = Step::Split(held + 1, other);
    }

    pub(super) fn jump(&mut self, held: usize, to: usize) {
        self.steps[held] = Step::Jump(to);
    }

    /// Adds a part; its stretch ends where the program then ends.
    pub(super) fn add(&mut self, part: &Part) -> Result<()> {
        match part {
            Part::Set(set) => {
                self.push(Step::Set(set.clone()))?;
            }
            Part::Look(look) => {
                self.push(Step::Look(*look))?;
            }
            Part::Around { ahead, negated, inner } => {
                let around = Around { ahead: *ahead, negated: *negated, program: Self::of(inner)? };
                self.around.push(around);
                self.push(Step::Around(self.around.len() - 1))?;
            }
            Part::Group(_, inner) | Part::Back(_, inner) => self.add(inner)?,
            Part::Concat(parts) => parts.iter().try_for_each(|part| self.add(part))?,
            Part::Alternation(parts) => {
                let mut add = |program: &mut Self, at: usize| program.add(&parts[at]);
                self.alternatives(parts.len(), &mut add)?;
            }
            Part::Repeat { inner, least, most, .. } => {
                self.turns(*least, *most, &mut |program| program.add(inner))?;
            }
        }
        Ok(())
    }

    /// So many alternatives, each added by `add`.
    pub(super) fn alternatives(
        &mut self,
        count: usize,
        add: &mut dyn FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        let mut exits = Vec::new();
        for at in 0..count {
            if at + 1 == count {
                add(self, at)?;
                continue;
            }
            let split = self.hold()?;
            add(self, at)?;
            exits.push(self.hold()?);
            self.split(split, self.steps.len());
        }
        let end = self.steps.len();
        for exit in exits {
            self.jump(exit, end);
        }
        Ok(())
    }

    /// So many turns of what `add` adds.
    pub(super) fn turns(
        &mut self,
        least: u32,
        most: Option<u32>,
        add: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..least {
            add(self)?;
        }
        let Some(most) = most else {
            let split = self.hold()?;
            add(self)?;
            let back = self.hold()?;
            self.jump(back, split);
            self.split(split, self.steps.len());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.hold()?);
            add(self)?;
        }
        let end = self.steps.len();
        for split in splits {
            self.split(split, end);
        }
        Ok(())
    }

    /// Refuses a program in which too many states follow one another without a character between them.
    pub(super) fn check(&self) -> Result<()> {
        let mut ways = 0;
        let mut seen = vec![usize::MAX; self.steps.len() + 1];
        for (at, step) in self.steps.iter().enumerate() {
            if !matches!(step, Step::Set(_)) {
                continue;
            }
            let mut open = vec![at + 1];
            while let Some(state) = open.pop() {
                if std::mem::replace(&mut seen[state], at) == at {
                    continue;
                }
                work::step(4)?;
                match self.steps.get(state) {
                    Some(Step::Set(_)) => ways += 1,
                    Some(Step::Look(_) | Step::Around(_)) => open.push(state + 1),
                    Some(Step::Split(one, other)) => open.extend([*one, *other]),
                    Some(Step::Jump(to)) => open.push(*to),
                    None => {}
                }
                if ways > MOST_WAYS {
                    return Err(too_complex());
                }
            }
        }
        self.around.iter().try_for_each(|around| around.program.check())
    }
}

/// A subject under a program, with what has been found out about its places.
pub(super) struct Run<'p, 's> {
    program: &'p Program,
    pub(super) subject: &'s str,
    around: Vec<RefCell<Known<'p, 's>>>,
    spare: RefCell<Vec<States>>,
}

/// Where a constraint holds, as far as is known.
struct Known<'p, 's> {
    run: Option<Box<Run<'p, 's>>>,
    /// Looking behind: whether a match ends at each place.
    ends: Option<Vec<bool>>,
    /// Looking ahead: whether a match begins at a place.
    starts: std::collections::HashMap<usize, bool>,
}

#[derive(Default)]
struct States {
    /// The place at which a state was entered last.
    marks: Vec<usize>,
    now: Vec<usize>,
    next: Vec<usize>,
    open: Vec<usize>,
    matched: bool,
}

impl<'p, 's> Run<'p, 's> {
    pub(super) fn new(program: &'p Program, subject: &'s str) -> Self {
        let known =
            |_: &Around| RefCell::new(Known { run: None, ends: None, starts: std::collections::HashMap::new() });
        let around = program.around.iter().map(known).collect();
        Self { program, subject, around, spare: RefCell::new(Vec::new()) }
    }

    /// True when a stretch matches from `start` to `end`.
    pub(super) fn matches(&self, stretch: Stretch, start: usize, end: usize) -> Result<bool> {
        let mut reached = false;
        self.walk(stretch, start, end, &mut |at| {
            reached = at == end;
            reached
        })?;
        Ok(reached)
    }

    /// Every place up to `limit` at which a match from `start` can end, in order.
    pub(super) fn ends(&self, stretch: Stretch, start: usize, limit: usize) -> Result<Vec<usize>> {
        let mut ends = Vec::new();
        self.walk(stretch, start, limit, &mut |at| {
            ends.push(at);
            false
        })?;
        Ok(ends)
    }

    /// The last, or else the first place at which a match from `start` can end.
    pub(super) fn end(&self, stretch: Stretch, start: usize, first: bool) -> Result<Option<usize>> {
        let mut end = None;
        self.walk(stretch, start, self.subject.len(), &mut |at| {
            end = Some(at);
            first
        })?;
        Ok(end)
    }

    fn states(&self) -> States {
        let mut states = self.spare.borrow_mut().pop().unwrap_or_default();
        states.marks.clear();
        states.marks.resize(self.program.steps.len() + 1, usize::MAX);
        states.now.clear();
        states.next.clear();
        states.matched = false;
        states
    }

    fn walk(&self, stretch: Stretch, start: usize, limit: usize, found: &mut dyn FnMut(usize) -> bool) -> Result<()> {
        let mut states = self.states();
        let mut at = start;
        self.enter(stretch.first, stretch.end, at, &mut states)?;
        std::mem::swap(&mut states.now, &mut states.next);
        loop {
            if states.matched && found(at) {
                break;
            }
            if at >= limit || states.now.is_empty() {
                break;
            }
            work::step(states.now.len())?;
            let Some(c) = self.subject[at..].chars().next() else { break };
            at += c.len_utf8();
            states.matched = false;
            let now = std::mem::take(&mut states.now);
            for &state in &now {
                if let Step::Set(set) = &self.program.steps[state]
                    && contains(set, c)
                {
                    self.enter(state + 1, stretch.end, at, &mut states)?;
                }
            }
            states.now = now;
            states.now.clear();
            std::mem::swap(&mut states.now, &mut states.next);
        }
        self.spare.borrow_mut().push(states);
        Ok(())
    }

    /// Adds a state and what it leads to without a character.
    fn enter(&self, first: usize, end: usize, at: usize, states: &mut States) -> Result<()> {
        states.open.push(first);
        while let Some(state) = states.open.pop() {
            if states.marks[state] == at {
                continue;
            }
            states.marks[state] = at;
            if state == end {
                states.matched = true;
                continue;
            }
            match &self.program.steps[state] {
                Step::Set(_) => states.next.push(state),
                Step::Look(look) if holds(*look, self.subject, at) => states.open.push(state + 1),
                Step::Look(_) => {}
                Step::Around(number) => {
                    if self.around(*number, at)? {
                        states.open.push(state + 1);
                    }
                }
                Step::Split(one, other) => states.open.extend([*one, *other]),
                Step::Jump(to) => states.open.push(*to),
            }
        }
        Ok(())
    }

    /// True when a constraint that looks ahead or behind holds at a place.
    fn around(&self, number: usize, at: usize) -> Result<bool> {
        let around = &self.program.around[number];
        let mut known = self.around[number].borrow_mut();
        let Known { run, ends, starts } = &mut *known;
        let run = run.get_or_insert_with(|| Box::new(Run::new(&around.program, self.subject)));
        let holds = if around.ahead {
            match starts.get(&at) {
                Some(holds) => *holds,
                None => {
                    let holds = run.end(around.program.whole(), at, true)?.is_some();
                    starts.insert(at, holds);
                    holds
                }
            }
        } else {
            if ends.is_none() {
                *ends = Some(run.all_ends()?);
            }
            ends.as_ref().is_some_and(|ends| ends[at])
        };
        Ok(holds != around.negated)
    }

    /// For each place whether a match from anywhere ends there.
    fn all_ends(&self) -> Result<Vec<bool>> {
        work::room_to_work(self.subject.len() + 1)?;
        let mut ends = vec![false; self.subject.len() + 1];
        self.sweep(0, &mut |at, _| {
            ends[at] = true;
            None
        })?;
        Ok(ends)
    }

    /// Where the first match from a place on begins.
    pub(super) fn first_start(&self, from: usize) -> Result<Option<usize>> {
        let mut best: Option<usize> = None;
        self.sweep(from, &mut |_, start| {
            best = Some(best.map_or(start, |best| best.min(start)));
            best
        })?;
        Ok(best)
    }

    /// Where the match ends that from a place on ends first.
    pub(super) fn first_end(&self, from: usize) -> Result<Option<usize>> {
        let mut end = None;
        self.sweep(from, &mut |at, _| {
            end = Some(at);
            // No other is of interest.
            Some(0)
        })?;
        Ok(end)
    }

    /// Runs from every place at once. `found` is told each end with the earliest start of a match that ends there, and
    /// says from which start on nothing is of interest any more.
    fn sweep(&self, from: usize, found: &mut dyn FnMut(usize, usize) -> Option<usize>) -> Result<()> {
        let end = self.program.steps.len();
        let mut states = self.states();
        // The start that led to each state, entered in the order of starts: the first to enter is the earliest.
        let mut origins = vec![0_usize; end + 1];
        let mut next_origins = vec![0_usize; end + 1];
        let mut at = from;
        let mut limit: Option<usize> = None;
        loop {
            // States of this place are in `next`, those with earlier starts first.
            if limit.is_none() {
                let known = states.next.len();
                let matched = states.matched;
                self.enter(0, end, at, &mut states)?;
                for &state in &states.next[known..] {
                    next_origins[state] = at;
                }
                if states.matched && !matched {
                    next_origins[end] = at;
                }
            }
            std::mem::swap(&mut states.now, &mut states.next);
            std::mem::swap(&mut origins, &mut next_origins);
            if states.matched
                && let Some(found) = found(at, origins[end])
            {
                limit = Some(limit.map_or(found, |limit: usize| limit.min(found)));
            }
            if let Some(limit) = limit {
                states.now.retain(|state| origins[*state] < limit);
                if states.now.is_empty() {
                    break;
                }
            }
            work::step(states.now.len() + 1)?;
            let Some(c) = self.subject[at..].chars().next() else { break };
            at += c.len_utf8();
            states.matched = false;
            let now = std::mem::take(&mut states.now);
            for &state in &now {
                if let Step::Set(set) = &self.program.steps[state]
                    && contains(set, c)
                {
                    let (known, matched) = (states.next.len(), states.matched);
                    self.enter(state + 1, end, at, &mut states)?;
                    for &entered in &states.next[known..] {
                        next_origins[entered] = origins[state];
                    }
                    if states.matched && !matched {
                        next_origins[end] = origins[state];
                    }
                }
            }
            states.now = now;
            states.now.clear();
        }
        self.spare.borrow_mut().push(states);
        Ok(())
    }
}

fn contains(set: &[(char, char)], c: char) -> bool {
    match set {
        [] => false,
        [(first, last)] => (*first..=*last).contains(&c),
        set => set
            .binary_search_by(|(first, last)| {
                if *last < c {
                    std::cmp::Ordering::Less
                } else if *first > c {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok(),
    }
}

fn holds(look: Look, subject: &str, at: usize) -> bool {
    let before = subject[..at].chars().next_back();
    let after = subject[at..].chars().next();
    let (left, right) = (before.is_some_and(sets::is_word), after.is_some_and(sets::is_word));
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::LineStart => before.is_none_or(|c| c == '\n'),
        Look::LineEnd => after.is_none_or(|c| c == '\n'),
        Look::WordStart => !left && right,
        Look::WordEnd => left && !right,
        Look::Boundary => left != right,
        Look::NotBoundary => left == right,
    }
}
