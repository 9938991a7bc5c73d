//! The look-up of a column among the relations of a FROM clause.

/// A relation as names see it.
pub(crate) trait Shown {
    /// The names of its columns.
    fn column_names(&self) -> impl Iterator<Item = &str>;
}

/// How a dialect compares names of columns.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spelling {
    /// One that is spelled exactly so counts before those that differ in case only: names in a file need not be lower-case.
    ExactFirst,
    /// Case does not count, and of two columns of one relation the first is meant.
    AnyCase,
}

/// What a name means.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Found<'r, R> {
    /// No column.
    Nothing,
    /// A column of a relation, by its position.
    One(&'r R, usize),
    /// One of several.
    Several,
}

/// Looks for a column of a name in relations that stand side by side.
pub(crate) fn column<'r, R: Shown>(
    relations: impl Iterator<Item = &'r R> + Clone,
    name: &str,
    spelling: Spelling,
) -> Found<'r, R> {
    let any_case = |column: &str| column.eq_ignore_ascii_case(name);
    match spelling {
        Spelling::ExactFirst => match search(relations.clone(), |column| column == name, false) {
            Found::Nothing => search(relations, any_case, false),
            found => found,
        },
        Spelling::AnyCase => search(relations, any_case, true),
    }
}

fn search<'r, R: Shown>(
    relations: impl Iterator<Item = &'r R>,
    is_it: impl Fn(&str) -> bool,
    first_of_relation: bool,
) -> Found<'r, R> {
    let mut found = Found::Nothing;
    for relation in relations {
        for (position, column) in relation.column_names().enumerate() {
            if !is_it(column) {
                continue;
            }
            if matches!(found, Found::One(..)) {
                return Found::Several;
            }
            found = Found::One(relation, position);
            if first_of_relation {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Shown for Vec<&str> {
        fn column_names(&self) -> impl Iterator<Item = &str> {
            self.iter().copied()
        }
    }

    #[test]
    fn names_are_spelled_by_rules() {
        let (a, b) = (vec!["id", "Name"], vec!["ID", "name", "name"]);
        let both = [&a, &b];
        let find = |name, spelling| column(both.into_iter(), name, spelling);
        assert_eq!(find("id", Spelling::ExactFirst), Found::One(&a, 0));
        assert_eq!(find("id", Spelling::AnyCase), Found::Several);
        assert_eq!(find("NAME", Spelling::ExactFirst), Found::Several);
        assert_eq!(find("other", Spelling::AnyCase), Found::Nothing);
        assert_eq!(column([&b].into_iter(), "name", Spelling::AnyCase), Found::One(&b, 1));
        assert_eq!(column([&b].into_iter(), "name", Spelling::ExactFirst), Found::Several);
    }
}
