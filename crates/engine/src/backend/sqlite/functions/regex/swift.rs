//! Where a match begins, asked of `regex-automata`: the leftmost place is the same whatever of the matches there is
//! preferred. It knows no constraints that look around, and our words are not its words; those patterns go without.

use regex_automata::Input;
use regex_automata::meta::{self, Regex};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look as HirLook, Repetition};

use super::part::{Look, Part};

/// A quick search.
#[derive(Debug)]
pub(super) struct Swift {
    regex: Regex,
    steps: usize,
}

/// The most work that goes uninterrupted: steps of the pattern, times bytes of the subject.
const MOST_WORK: usize = 20_000_000;

impl Swift {
    pub(super) fn of(root: &Part, steps: usize) -> Option<Self> {
        let hir = translated(root)?;
        let config = meta::Config::new().nfa_size_limit(Some(1 << 20)).onepass(false).backtrack(false).utf8_empty(true);
        let regex = Regex::builder().configure(config).build_from_hir(&hir).ok()?;
        Some(Self { regex, steps: steps.max(1) })
    }

    /// True when a search in the subject is done in no time.
    pub(super) fn is_for(&self, subject: &str) -> bool {
        subject.len().saturating_mul(self.steps) <= MOST_WORK
    }

    pub(super) fn is_match(&self, subject: &str, from: usize) -> bool {
        self.regex.is_match(Input::new(subject).range(from..))
    }

    pub(super) fn start(&self, subject: &str, from: usize) -> Option<usize> {
        self.regex.find(Input::new(subject).range(from..)).map(|found| found.start())
    }
}

/// A part in the words of `regex-syntax`.
fn translated(part: &Part) -> Option<Hir> {
    let all = |parts: &[Part]| parts.iter().map(translated).collect::<Option<Vec<_>>>();
    Some(match part {
        Part::Set(set) => {
            let ranges = set.iter().map(|(first, last)| ClassUnicodeRange::new(*first, *last));
            Hir::class(Class::Unicode(ClassUnicode::new(ranges)))
        }
        Part::Look(look) => Hir::look(match look {
            Look::Start => HirLook::Start,
            Look::End => HirLook::End,
            Look::LineStart => HirLook::StartLF,
            Look::LineEnd => HirLook::EndLF,
            Look::WordStart | Look::WordEnd | Look::Boundary | Look::NotBoundary => return None,
        }),
        Part::Around { .. } => return None,
        Part::Group(_, inner) | Part::Back(_, inner) => translated(inner)?,
        Part::Concat(parts) => Hir::concat(all(parts)?),
        Part::Alternation(parts) => Hir::alternation(all(parts)?),
        Part::Repeat { inner, least, most, .. } => {
            let sub = Box::new(translated(inner)?);
            Hir::repetition(Repetition { min: *least, max: *most, greedy: true, sub })
        }
    })
}
