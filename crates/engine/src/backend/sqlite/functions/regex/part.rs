//! An expression, taken apart.

/// Characters, as ranges in order that do not touch.
pub(super) type Set = Vec<(char, char)>;

/// What a part prefers when it can match more than one length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Preference {
    Longest,
    Shortest,
}

/// A constraint on a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Look {
    /// The subject begins.
    Start,
    /// The subject ends.
    End,
    /// A line begins.
    LineStart,
    /// A line ends.
    LineEnd,
    /// A word begins.
    WordStart,
    /// A word ends.
    WordEnd,
    /// A word begins or ends.
    Boundary,
    /// No word begins or ends.
    NotBoundary,
}

/// A part of an expression.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Set(Set),
    Look(Look),
    /// What follows (or comes before) matches, or does not.
    Around {
        ahead: bool,
        negated: bool,
        inner: Box<Part>,
    },
    /// A group, by its number, or parentheses that are none.
    Group(Option<usize>, Box<Part>),
    /// The text of a group again. What the group is made of stands in for it where only lengths are of interest.
    Back(usize, Box<Part>),
    Concat(Vec<Part>),
    Alternation(Vec<Part>),
    /// `prefers` is `None` for `{m}`, which prefers what its operand does.
    Repeat {
        inner: Box<Part>,
        least: u32,
        most: Option<u32>,
        prefers: Option<Preference>,
    },
}

impl Part {
    /// What the part prefers: its own quantifier's word, or that of the first in it that has one.
    pub(super) fn preference(&self) -> Option<Preference> {
        match self {
            Self::Set(_) | Self::Look(_) | Self::Around { .. } | Self::Back(..) => None,
            Self::Group(_, inner) => inner.preference(),
            Self::Concat(parts) => parts.iter().find_map(Self::preference),
            Self::Alternation(_) => Some(Preference::Longest),
            Self::Repeat { most: Some(0), .. } => None,
            Self::Repeat { inner, prefers, .. } => prefers.or_else(|| inner.preference()),
        }
    }

    /// True when something in it is of interest beyond where the whole ends: groups, or what they matched.
    pub(super) fn has_inner_places(&self) -> bool {
        self.has(&|part| matches!(part, Self::Group(Some(_), _) | Self::Back(..)))
    }

    pub(super) fn has_back_references(&self) -> bool {
        self.has(&|part| matches!(part, Self::Back(..)))
    }

    /// True when the part or one in it is such a one; what a constraint looks at is no part of it.
    fn has(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self)
            || match self {
                Self::Set(_) | Self::Look(_) | Self::Around { .. } | Self::Back(..) => false,
                Self::Repeat { most: Some(0), .. } => false,
                Self::Group(_, inner) | Self::Repeat { inner, .. } => inner.has(is),
                Self::Concat(parts) | Self::Alternation(parts) => parts.iter().any(|part| part.has(is)),
            }
    }

    /// How much a copy of it takes, in ranges of characters and parts.
    pub(super) fn size(&self) -> usize {
        1 + match self {
            Self::Set(set) => set.len(),
            Self::Look(_) => 0,
            Self::Around { inner, .. } | Self::Group(_, inner) | Self::Back(_, inner) | Self::Repeat { inner, .. } => {
                inner.size()
            }
            Self::Concat(parts) | Self::Alternation(parts) => parts.iter().map(Self::size).sum(),
        }
    }

    /// The same without numbers of groups and references to them: what only its length is asked of.
    pub(super) fn plain(&self) -> Self {
        let all = |parts: &[Self]| parts.iter().map(Self::plain).collect();
        match self {
            Self::Set(_) | Self::Look(_) | Self::Around { .. } => self.clone(),
            Self::Group(_, inner) => Self::Group(None, Box::new(inner.plain())),
            Self::Back(_, same) => Self::Group(None, same.clone()),
            Self::Concat(parts) => Self::Concat(all(parts)),
            Self::Alternation(parts) => Self::Alternation(all(parts)),
            Self::Repeat { inner, least, most, prefers } => {
                Self::Repeat { inner: Box::new(inner.plain()), least: *least, most: *most, prefers: *prefers }
            }
        }
    }
}

/// What parts prefer, all of them together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Preferences {
    longest: bool,
    shortest: bool,
}

impl Preferences {
    /// With what is in one part more.
    pub(super) fn and(self, part: &Part) -> Self {
        let prefers = |wanted: Preference| {
            part.has(&|part| match part {
                Part::Alternation(_) => wanted == Preference::Longest,
                Part::Repeat { prefers, .. } => *prefers == Some(wanted),
                _ => false,
            })
        };
        Self {
            longest: self.longest || prefers(Preference::Longest),
            shortest: self.shortest || prefers(Preference::Shortest),
        }
    }

    /// True when some prefer the longest and others the shortest.
    pub(super) fn are_mixed(self) -> bool {
        self.longest && self.shortest
    }
}
