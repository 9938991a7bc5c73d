//! Checks of PL/pgSQL that one has to ask for, in `plpgsql.extra_warnings` and `plpgsql.extra_errors`.

/// What can be looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ExtraCheck {
    /// INTO and assignments have as many targets as there are values.
    StrictMultiAssignment,
    /// A variable hides one of a block around; told when a function is created.
    ShadowedVariables,
    /// INTO gets one row at most.
    TooManyRows,
}

impl ExtraCheck {
    const ALL: [Self; 3] = [Self::StrictMultiAssignment, Self::ShadowedVariables, Self::TooManyRows];

    /// Its word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::StrictMultiAssignment => "strict_multi_assignment",
            Self::ShadowedVariables => "shadowed_variables",
            Self::TooManyRows => "too_many_rows",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Some of them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ExtraChecks(u8);

impl ExtraChecks {
    /// Reads a list; what is wrong with it otherwise, for DETAIL.
    pub(crate) fn read(list: &str) -> Result<Self, String> {
        match list.trim().to_ascii_lowercase().as_str() {
            "all" => return Ok(Self(ExtraCheck::ALL.into_iter().fold(0, |bits, check| bits | check.bit()))),
            "none" | "" => return Ok(Self::default()),
            _ => {}
        }
        let mut found = Self::default();
        for word in list.split(',').map(|word| word.trim().to_ascii_lowercase()) {
            match ExtraCheck::ALL.into_iter().find(|check| check.word() == word) {
                Some(check) => found.0 |= check.bit(),
                None if word.is_empty() => return Err("List syntax is invalid.".to_owned()),
                None if word == "all" || word == "none" => {
                    return Err(format!("Key word \"{word}\" cannot be combined with other key words."));
                }
                None => return Err(format!("Unrecognized key word: \"{word}\".")),
            }
        }
        Ok(found)
    }

    /// Whether a check is among them.
    pub(crate) const fn has(self, check: ExtraCheck) -> bool {
        self.0 & check.bit() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_and_says_what_is_wrong_with_them() {
        let some = ExtraChecks::read(" too_many_rows , Shadowed_Variables").unwrap();
        assert!(some.has(ExtraCheck::TooManyRows) && some.has(ExtraCheck::ShadowedVariables));
        assert!(!some.has(ExtraCheck::StrictMultiAssignment));
        assert!(ExtraCheck::ALL.into_iter().all(|check| ExtraChecks::read("ALL").unwrap().has(check)));
        assert_eq!(ExtraChecks::read("none"), Ok(ExtraChecks::default()));
        let wrong = |list| ExtraChecks::read(list).unwrap_err();
        assert_eq!(wrong("too_many_cooks"), "Unrecognized key word: \"too_many_cooks\".");
        assert_eq!(wrong("all, none"), "Key word \"all\" cannot be combined with other key words.");
        assert_eq!(wrong("too_many_rows,,"), "List syntax is invalid.");
    }
}
