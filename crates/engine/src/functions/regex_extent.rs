//! How far a match of PostgreSQL's regular expressions reaches, and where its groups lie.
//!
//! PostgreSQL's matches are POSIX's: of those that begin first the longest is taken, or the shortest if the expression as
//! a whole prefers that (`a.*?b`; the first quantifier of a branch decides, an alternation always prefers the longest).
//! Within the match, parts that stand earlier take as much (or as little) as the rest allows. Engines for programs' regular expressions
//! take the first alternative that works instead, so only the place where a match *begins* is theirs to say; from there
//! on this module simulates the expression's automaton. It knows no back-references and no look-around: [`Extent::of`]
//! declines those, and expressions for which both ways agree.

use std::collections::HashSet;

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{self, Ast, RepetitionKind, RepetitionRange};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, HirKind, Look};
use rowferry_dialect::{Result, work};

/// Places in a subject: begin and end in bytes.
pub(super) type Span = (usize, usize);

/// Settings of an expression.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Syntax {
    pub(super) any_case: bool,
    pub(super) dot_takes_newline: bool,
    pub(super) lines: bool,
    pub(super) expanded: bool,
}

/// What a part prefers when it can match more than one length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Preference {
    Longest,
    Shortest,
}

/// An expression, taken apart.
#[derive(Clone, Debug)]
enum Part {
    Set(Vec<(char, char)>),
    Look(Look),
    Group(Option<usize>, Box<Part>),
    Concat(Vec<Part>),
    Alternation(Vec<Part>),
    Repeat { inner: Box<Part>, least: u32, most: Option<u32>, greedy: bool, exact: bool },
}

/// The automaton of an expression, and its parts as far as groups stand in them.
#[derive(Debug)]
pub(super) struct Extent {
    root: Node,
    groups: usize,
}

#[derive(Debug)]
struct Node {
    program: Program,
    preference: Option<Preference>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// No group within.
    Plain,
    Group(usize, Box<Node>),
    /// Parts, and for each but the last the automaton of all behind it.
    Concat(Vec<Node>, Vec<Program>),
    Alternation(Vec<Node>),
    Repeat(Box<Turns>),
}

/// A repetition with groups, of which only the last turn is of interest: what stands before it, and that turn.
#[derive(Debug)]
struct Turns {
    /// All turns, at least one.
    all: Program,
    /// All but the last.
    before: Program,
    /// What those prefer.
    preference: Option<Preference>,
    last: Node,
    /// There may be none: turns are then taken one by one, each as long as it can be.
    most_of_any: Option<Option<u32>>,
}

/// More instructions than any reasonable expression has.
const LARGEST_PROGRAM: usize = 50_000;

impl Extent {
    /// The extent of an expression in the syntax of `regex-syntax`; `None` when there is nothing to correct, or no way.
    pub(super) fn of(pattern: &str, syntax: Syntax) -> Option<Self> {
        let ast = ParserBuilder::new().ignore_whitespace(syntax.expanded).build().parse(pattern).ok()?;
        let mut reader = Reader { pattern, syntax, groups: 0 };
        let part = reader.part(&ast)?;
        if !is_ambiguous(&part) {
            return None;
        }
        let root = Node::of(&part)?;
        Some(Self { root, groups: reader.groups })
    }

    /// The end of the match that begins at `start`; `None` if none does.
    pub(super) fn end(&self, subject: &str, start: usize) -> Result<Option<usize>> {
        let shortest = self.root.preference == Some(Preference::Shortest);
        let mut end = None;
        self.root.program.run(subject, start, subject.len(), &mut |at| {
            end = Some(at);
            shortest
        })?;
        Ok(end)
    }

    /// The whole match and its groups.
    pub(super) fn spans(&self, subject: &str, start: usize, end: usize) -> Result<Vec<Option<Span>>> {
        let mut spans = vec![None; self.groups + 1];
        spans[0] = Some((start, end));
        self.root.dissect(subject, start, end, &mut spans)?;
        Ok(spans)
    }
}

/// True when two rules of choice can differ: with alternatives, or with two things of variable length.
fn is_ambiguous(part: &Part) -> bool {
    fn variable(part: &Part) -> usize {
        match part {
            Part::Set(_) | Part::Look(_) => 0,
            Part::Group(_, inner) => variable(inner),
            Part::Concat(parts) => parts.iter().map(variable).sum(),
            Part::Alternation(_) => 2,
            Part::Repeat { inner, exact, .. } => match variable(inner) {
                0 => usize::from(!exact),
                _ => 2,
            },
        }
    }
    variable(part) > 1
}

struct Reader<'a> {
    pattern: &'a str,
    syntax: Syntax,
    groups: usize,
}

impl Reader<'_> {
    fn part(&mut self, ast: &Ast) -> Option<Part> {
        Some(match ast {
            Ast::Empty(_) => Part::Concat(Vec::new()),
            Ast::Flags(_) => return None,
            Ast::Concat(concat) => Part::Concat(self.parts(&concat.asts)?),
            Ast::Alternation(alternation) => Part::Alternation(self.parts(&alternation.asts)?),
            Ast::Group(group) => {
                let index = match &group.kind {
                    ast::GroupKind::CaptureIndex(_) => {
                        self.groups += 1;
                        Some(self.groups)
                    }
                    ast::GroupKind::NonCapturing(flags) if flags.items.is_empty() => None,
                    _ => return None,
                };
                Part::Group(index, Box::new(self.part(&group.ast)?))
            }
            Ast::Repetition(repetition) => {
                let (least, most, exact) = match &repetition.op.kind {
                    RepetitionKind::ZeroOrOne => (0, Some(1), false),
                    RepetitionKind::ZeroOrMore => (0, None, false),
                    RepetitionKind::OneOrMore => (1, None, false),
                    RepetitionKind::Range(RepetitionRange::Exactly(count)) => (*count, Some(*count), true),
                    RepetitionKind::Range(RepetitionRange::AtLeast(least)) => (*least, None, false),
                    RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, Some(*most), false),
                };
                let inner = Box::new(self.part(&repetition.ast)?);
                Part::Repeat { inner, least, most, greedy: repetition.greedy, exact }
            }
            leaf => self.leaf(leaf)?,
        })
    }

    fn parts(&mut self, asts: &[Ast]) -> Option<Vec<Part>> {
        asts.iter().map(|ast| self.part(ast)).collect()
    }

    fn leaf(&self, ast: &Ast) -> Option<Part> {
        let mut translator = TranslatorBuilder::new()
            .case_insensitive(self.syntax.any_case)
            .dot_matches_new_line(self.syntax.dot_takes_newline)
            .multi_line(self.syntax.lines)
            .build();
        let hir = translator.translate(self.pattern, ast).ok()?;
        Some(match hir.kind() {
            HirKind::Look(look) => Part::Look(*look),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                Part::Concat(text.chars().map(|c| Part::Set(vec![(c, c)])).collect())
            }
            HirKind::Class(Class::Unicode(class)) => {
                Part::Set(class.iter().map(|range| (range.start(), range.end())).collect())
            }
            HirKind::Class(Class::Bytes(class)) => {
                Part::Set(class.iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect())
            }
            _ => return None,
        })
    }
}

impl Part {
    fn preference(&self) -> Option<Preference> {
        match self {
            Self::Set(_) | Self::Look(_) => None,
            Self::Group(_, inner) => inner.preference(),
            Self::Concat(parts) => parts.iter().find_map(Self::preference),
            Self::Alternation(_) => Some(Preference::Longest),
            Self::Repeat { inner, exact: true, .. } => inner.preference(),
            Self::Repeat { greedy, .. } => Some(if *greedy { Preference::Longest } else { Preference::Shortest }),
        }
    }

    fn has_groups(&self) -> bool {
        match self {
            Self::Set(_) | Self::Look(_) => false,
            Self::Group(index, inner) => index.is_some() || inner.has_groups(),
            Self::Concat(parts) | Self::Alternation(parts) => parts.iter().any(Self::has_groups),
            Self::Repeat { inner, .. } => inner.has_groups(),
        }
    }
}

impl Node {
    fn of(part: &Part) -> Option<Self> {
        let kind = match part {
            part if !part.has_groups() => Kind::Plain,
            Part::Group(Some(index), inner) => Kind::Group(*index, Box::new(Self::of(inner)?)),
            Part::Group(None, inner) => return Self::of(inner),
            Part::Concat(parts) => {
                let nodes = parts.iter().map(Self::of).collect::<Option<_>>()?;
                let rests = (1..parts.len()).map(|at| Program::of(&parts[at..])).collect::<Option<_>>()?;
                Kind::Concat(nodes, rests)
            }
            Part::Alternation(parts) => Kind::Alternation(parts.iter().map(Self::of).collect::<Option<_>>()?),
            Part::Repeat { most: Some(0), .. } => Kind::Plain,
            Part::Repeat { inner, least, most, greedy, exact } => {
                let times = |least: u32, most: Option<u32>| Part::Repeat {
                    inner: inner.clone(),
                    least,
                    most,
                    greedy: *greedy,
                    exact: *exact,
                };
                let most_of_any = (*least == 0 && *most != Some(1)).then_some(*most);
                let least = (*least).max(1);
                let before = times(least - 1, most.map(|most| most - 1));
                Kind::Repeat(Box::new(Turns {
                    all: Program::of(&[times(least, *most)])?,
                    preference: before.preference(),
                    before: Program::of(&[before])?,
                    last: Self::of(inner)?,
                    most_of_any,
                }))
            }
            Part::Set(_) | Part::Look(_) => Kind::Plain,
        };
        Some(Self { program: Program::of(std::slice::from_ref(part))?, preference: part.preference(), kind })
    }

    /// Finds the groups of a part that is known to match from `start` to `end`.
    fn dissect(&self, subject: &str, start: usize, end: usize, spans: &mut [Option<Span>]) -> Result<()> {
        match &self.kind {
            Kind::Plain => {}
            Kind::Group(index, inner) => {
                spans[*index] = Some((start, end));
                inner.dissect(subject, start, end, spans)?;
            }
            Kind::Alternation(nodes) => {
                for node in nodes {
                    if node.program.matches(subject, start, end)? {
                        return node.dissect(subject, start, end, spans);
                    }
                }
            }
            Kind::Concat(nodes, rests) => {
                let mut at = start;
                for (node, rest) in nodes.iter().zip(rests) {
                    for middle in node.program.ends(node.preference, subject, at, end)? {
                        if rest.matches(subject, middle, end)? {
                            node.dissect(subject, at, middle, spans)?;
                            at = middle;
                            break;
                        }
                    }
                }
                if let Some(last) = nodes.last() {
                    last.dissect(subject, at, end, spans)?;
                }
            }
            // A repetition that matches nothing has no turn, and its groups no place, unless a turn can match nothing.
            Kind::Repeat(turns) if !turns.all.matches(subject, start, end)? => {}
            Kind::Repeat(turns) if start < end && turns.most_of_any.is_some() => {
                let most = turns.most_of_any.flatten();
                if let Some((start, end)) = last_turn(&turns.last, most, subject, start, end)? {
                    turns.last.dissect(subject, start, end, spans)?;
                }
            }
            Kind::Repeat(turns) => {
                for middle in turns.before.ends(turns.preference, subject, start, end)? {
                    if turns.last.program.matches(subject, middle, end)? {
                        return turns.last.dissect(subject, middle, end, spans);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The last turn of a repetition that fills `start` to `end`, each turn taking the best that lets the others follow.
fn last_turn(inner: &Node, most: Option<u32>, subject: &str, start: usize, end: usize) -> Result<Option<Span>> {
    // Places from which the end cannot be reached; how many turns came before matters only while they are counted.
    let mut dead: HashSet<(usize, usize)> = HashSet::new();
    let counted = |turns: usize| if most.is_none() { 0 } else { turns };
    let open = |at: usize| -> Result<(usize, Vec<usize>)> {
        let mut ends = inner.program.ends(inner.preference, subject, at, end)?;
        ends.reverse();
        Ok((at, ends))
    };
    let mut turns = vec![open(start)?];
    while let Some((at, ends)) = turns.last_mut() {
        work::step(1)?;
        let at = *at;
        let Some(middle) = ends.pop() else {
            turns.pop();
            dead.insert((at, counted(turns.len())));
            continue;
        };
        let count = turns.len();
        if middle == end && middle > at {
            return Ok(Some((at, middle)));
        }
        // A turn of nothing leads nowhere.
        let more = middle > at && most.is_none_or(|most| count < most as usize);
        if more && !dead.contains(&(middle, counted(count))) {
            turns.push(open(middle)?);
        }
    }
    Ok(None)
}

#[derive(Debug)]
enum Step {
    Set(Vec<(char, char)>),
    Look(Look),
    /// Both ways.
    Split(usize, usize),
    Jump(usize),
    Match,
}

/// A non-deterministic automaton.
#[derive(Debug)]
struct Program {
    steps: Vec<Step>,
}

impl Program {
    fn of(parts: &[Part]) -> Option<Self> {
        let mut program = Self { steps: Vec::new() };
        for part in parts {
            program.add(part)?;
        }
        program.steps.push(Step::Match);
        Some(program)
    }

    fn add(&mut self, part: &Part) -> Option<()> {
        if self.steps.len() > LARGEST_PROGRAM {
            return None;
        }
        match part {
            Part::Set(set) => self.steps.push(Step::Set(set.clone())),
            Part::Look(look) => self.steps.push(Step::Look(*look)),
            Part::Group(_, inner) => self.add(inner)?,
            Part::Concat(parts) => parts.iter().try_for_each(|part| self.add(part))?,
            Part::Alternation(parts) => {
                let mut exits = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    if at + 1 == parts.len() {
                        self.add(part)?;
                        continue;
                    }
                    let split = self.steps.len();
                    self.steps.push(Step::Split(split + 1, 0));
                    self.add(part)?;
                    exits.push(self.steps.len());
                    self.steps.push(Step::Jump(0));
                    self.steps[split] = Step::Split(split + 1, self.steps.len());
                }
                let end = self.steps.len();
                for exit in exits {
                    self.steps[exit] = Step::Jump(end);
                }
            }
            Part::Repeat { inner, least, most, .. } => self.repeat(inner, *least, *most)?,
        }
        Some(())
    }

    fn repeat(&mut self, inner: &Part, least: u32, most: Option<u32>) -> Option<()> {
        for _ in 0..least {
            self.add(inner)?;
        }
        let Some(most) = most else {
            let split = self.steps.len();
            self.steps.push(Step::Split(split + 1, 0));
            self.add(inner)?;
            self.steps.push(Step::Jump(split));
            self.steps[split] = Step::Split(split + 1, self.steps.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.steps.len());
            self.steps.push(Step::Split(self.steps.len() + 1, 0));
            self.add(inner)?;
        }
        let end = self.steps.len();
        for split in splits {
            self.steps[split] = Step::Split(split + 1, end);
        }
        Some(())
    }

    fn matches(&self, subject: &str, start: usize, end: usize) -> Result<bool> {
        let mut reached = false;
        self.run(subject, start, end, &mut |at| {
            reached = at == end;
            reached
        })?;
        Ok(reached)
    }

    /// Where a match from `start` can end, best first.
    fn ends(&self, preference: Option<Preference>, subject: &str, start: usize, limit: usize) -> Result<Vec<usize>> {
        let mut ends = Vec::new();
        self.run(subject, start, limit, &mut |at| {
            ends.push(at);
            false
        })?;
        if preference != Some(Preference::Shortest) {
            ends.reverse();
        }
        Ok(ends)
    }

    /// Tells every place up to `limit` at which a match from `start` can end, in order, until `found` has enough.
    fn run(&self, subject: &str, start: usize, limit: usize, found: &mut dyn FnMut(usize) -> bool) -> Result<()> {
        let mut states = States { marks: vec![usize::MAX; self.steps.len()], now: Vec::new(), matched: false };
        let mut at = start;
        self.enter(0, subject, at, &mut states);
        loop {
            if states.matched && found(at) {
                return Ok(());
            }
            if at >= limit || states.now.is_empty() {
                return Ok(());
            }
            work::step(states.now.len())?;
            let Some(c) = subject[at..].chars().next() else { return Ok(()) };
            at += c.len_utf8();
            states.matched = false;
            for state in std::mem::take(&mut states.now) {
                if let Step::Set(set) = &self.steps[state]
                    && contains(set, c)
                {
                    self.enter(state + 1, subject, at, &mut states);
                }
            }
        }
    }

    /// Adds a state and what it leads to without a character.
    fn enter(&self, first: usize, subject: &str, at: usize, states: &mut States) {
        let mut open = vec![first];
        while let Some(state) = open.pop() {
            if states.marks[state] == at {
                continue;
            }
            states.marks[state] = at;
            match &self.steps[state] {
                Step::Set(_) => states.now.push(state),
                Step::Look(look) if holds(*look, subject, at) => open.push(state + 1),
                Step::Look(_) => {}
                Step::Split(one, other) => open.extend([*one, *other]),
                Step::Jump(to) => open.push(*to),
                Step::Match => states.matched = true,
            }
        }
    }
}

struct States {
    /// The place at which a state was entered last.
    marks: Vec<usize>,
    now: Vec<usize>,
    matched: bool,
}

fn contains(set: &[(char, char)], c: char) -> bool {
    set.binary_search_by(|(first, last)| {
        if *last < c {
            std::cmp::Ordering::Less
        } else if *first > c {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    })
    .is_ok()
}

fn holds(look: Look, subject: &str, at: usize) -> bool {
    let before = subject[..at].chars().next_back();
    let after = subject[at..].chars().next();
    let is_word = |c: Option<char>| c.is_some_and(|c| regex_syntax::try_is_word_character(c).unwrap_or(false));
    let (left, right) = (is_word(before), is_word(after));
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF | Look::StartCRLF => before.is_none_or(|c| c == '\n'),
        Look::EndLF | Look::EndCRLF => after.is_none_or(|c| c == '\n'),
        Look::WordAscii | Look::WordUnicode => left != right,
        Look::WordAsciiNegate | Look::WordUnicodeNegate => left == right,
        Look::WordStartAscii | Look::WordStartUnicode => !left && right,
        Look::WordEndAscii | Look::WordEndUnicode => left && !right,
        Look::WordStartHalfAscii | Look::WordStartHalfUnicode => !left,
        Look::WordEndHalfAscii | Look::WordEndHalfUnicode => !right,
    }
}
