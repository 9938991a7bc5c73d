//! Names of constraints and indexes to which nobody gives one.

/// The longest name, in bytes.
pub(crate) const NAME_LENGTH: usize = 63;

/// What is to be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unnamed {
    /// A primary key.
    PrimaryKey,
    /// UNIQUE.
    Unique,
    /// A foreign key.
    ForeignKey,
    /// CHECK.
    Check,
    /// EXCLUDE.
    Exclusion,
    /// An index that is no constraint.
    Index,
    /// Statistics over columns.
    Statistics,
}

impl Unnamed {
    const fn suffix(self) -> &'static str {
        match self {
            Self::PrimaryKey => "pkey",
            Self::Unique => "key",
            Self::ForeignKey => "fkey",
            Self::Check => "check",
            Self::Exclusion => "excl",
            Self::Index => "idx",
            Self::Statistics => "stat",
        }
    }
}

/// PostgreSQL's name: `owner_column_…_suffix`, with a number where that is taken. What is too long loses the end of the owner
/// or of the columns, of whichever is longer. The owner is a table, or a domain; a primary key says no columns.
pub fn postgres_name<'c>(
    what: Unnamed,
    owner: &str,
    columns: impl IntoIterator<Item = &'c str>,
    taken: impl Fn(&str) -> bool,
) -> String {
    let mut words = String::new();
    for column in columns.into_iter().filter(|_| what != Unnamed::PrimaryKey) {
        words.push('_');
        words.push_str(column);
    }
    let suffix = what.suffix();
    let build = |number: u32| {
        let tail = if number == 0 { format!("_{suffix}") } else { format!("_{suffix}{number}") };
        let room = NAME_LENGTH - tail.len() - usize::from(!words.is_empty());
        let (mut first, mut second) = (owner.len(), words.len().saturating_sub(1));
        while first + second > room {
            if first > second { first -= 1 } else { second -= 1 }
        }
        let second = if words.is_empty() { 0 } else { second + 1 };
        format!("{}{}{tail}", clipped(owner, first), clipped(&words, second))
    };
    (0..).map(build).find(|name| !taken(name)).unwrap_or_else(|| build(0))
}

/// As much of a name as fits into so many bytes.
pub(crate) fn clipped(text: &str, length: usize) -> &str {
    let mut length = length.min(text.len());
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    &text[..length]
}

/// Informix's: a letter for the kind, the table and a number.
pub(crate) fn informix_name(what: Unnamed, table: &str, number: usize) -> String {
    let prefix = match what {
        Unnamed::Check => 'c',
        Unnamed::ForeignKey => 'r',
        _ => 'u',
    };
    format!("{prefix}_{table}_{number}")
}

/// The number of the next one: constraints of all kinds and indexes are counted, and none is called as one that is there.
pub(crate) fn informix_number<'k>(table: &str, known: impl IntoIterator<Item = &'k str>) -> usize {
    let number_of = |name: &str| {
        let made = name.strip_prefix(['u', 'r', 'c'])?.strip_prefix('_')?.strip_prefix(table)?;
        made.strip_prefix('_')?.parse::<usize>().ok()
    };
    let last = known.into_iter().enumerate().map(|(at, name)| number_of(name).unwrap_or(0).max(at + 1)).max();
    last.unwrap_or(0).saturating_add(1)
}

/// MySQL's of a foreign key or a check: the table, the kind and a number.
pub(crate) fn mysql_name(what: Unnamed, table: &str, number: u64) -> String {
    let kind = if what == Unnamed::ForeignKey { "ibfk" } else { "chk" };
    format!("{table}_{kind}_{number}")
}

/// The number of the next one, above those that the table has.
pub(crate) fn mysql_number<'k>(what: Unnamed, table: &str, known: impl IntoIterator<Item = &'k str>) -> u64 {
    let first = mysql_name(what, table, 0);
    let prefix = &first[..first.len() - 1];
    let numbers = known.into_iter().filter_map(|name| name.strip_prefix(prefix)?.parse::<u64>().ok());
    numbers.max().unwrap_or(0) + 1
}

/// MySQL's of a key within its table: its first column, with a number from 2 where that is taken. An expression has no name to
/// give, and `PRIMARY` is the primary key's.
pub(crate) fn mysql_key_name(first: &str, taken: impl Fn(&str) -> bool) -> String {
    let first = if first.is_empty() { "functional_index" } else { first };
    let taken = |name: &str| name.eq_ignore_ascii_case("PRIMARY") || taken(name);
    if !taken(first) {
        return first.to_owned();
    }
    let build = |number: u32| format!("{first}_{number}");
    (2..).map(build).find(|name| !taken(name)).unwrap_or_else(|| build(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str) -> bool {
        false
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let taken = ["t_a_b_key", "t_a_b_key1"];
        let name = postgres_name(Unnamed::Unique, "t", ["a", "b"], |name| taken.contains(&name));
        assert_eq!(name, "t_a_b_key2");
        assert_eq!(postgres_name(Unnamed::PrimaryKey, "t", ["a"], none), "t_pkey");
    }

    #[test]
    fn what_is_longer_is_cut() {
        let (short, long) = ("t".repeat(20), "c".repeat(60));
        let name = postgres_name(Unnamed::ForeignKey, &short, [long.as_str()], none);
        assert_eq!(name, format!("{short}_{}_fkey", "c".repeat(37)));
        let name = postgres_name(Unnamed::ForeignKey, &long, ["a"], none);
        assert_eq!(name, format!("{}_a_fkey", "c".repeat(56)));
        let name = postgres_name(Unnamed::Index, &long, ["ä".repeat(40).as_str()], none);
        assert_eq!(name, format!("{}_{}_idx", "c".repeat(29), "ä".repeat(14)));
    }

    #[test]
    fn names_of_informix_are_counted() {
        assert_eq!(informix_name(Unnamed::PrimaryKey, "t", 1), "u_t_1");
        assert_eq!(informix_number("t", []), 1);
        assert_eq!(informix_number("t", ["mine", "u_t_1"]), 3);
        // The first has been dropped.
        assert_eq!(informix_number("t", ["c_t_2"]), 3);
    }

    #[test]
    fn names_of_mysql_are_counted_from_the_greatest() {
        assert_eq!(mysql_number(Unnamed::ForeignKey, "t", ["t_ibfk_1", "t_ibfk_7", "t_chk_9", "u"]), 8);
        assert_eq!(mysql_name(Unnamed::Check, "t", mysql_number(Unnamed::Check, "t", [])), "t_chk_1");
        assert_eq!(mysql_key_name("a", |name| name == "b"), "a");
        assert_eq!(mysql_key_name("a", |name| ["a", "a_2"].contains(&name)), "a_3");
        assert_eq!(mysql_key_name("primary", none), "primary_2");
        assert_eq!(mysql_key_name("", none), "functional_index");
    }
}
