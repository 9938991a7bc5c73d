//! User name maps: who may be which user here that has proved to be somebody elsewhere, as PostgreSQL's `pg_ident.conf` has it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rowferry_engine::{NameMapping, functions};

use super::read::{Field, RulesError, lines};

/// The lines of a map, in their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NameMap {
    lines: Vec<Mapping>,
}

/// Whoever has proved to be `system` may be `user`.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Mapping {
    /// A name, or behind a slash a regular expression.
    system: String,
    /// `\\1` in it is what the expression's first group holds.
    user: String,
}

/// In a user's name, what the first group of the expression holds.
const FIRST_GROUP: &str = "\\1";

impl NameMap {
    /// Whether who has proved to be `proved` may be a user.
    pub fn admits(&self, proved: &str, user: &str) -> bool {
        self.lines.iter().any(|line| line.user_of(proved).is_some_and(|found| found == user))
    }
}

impl Mapping {
    /// Which user may be who has proved to be `proved`; `None` when the line is not about them.
    fn user_of(&self, proved: &str) -> Option<String> {
        let Some(pattern) = self.system.strip_prefix('/') else {
            return (self.system == proved).then(|| self.user.clone());
        };
        let groups = match functions::first_groups(proved, pattern) {
            Ok(groups) => groups?,
            Err(error) => {
                tracing::warn!(pattern, %error, "a user name map's expression fits nobody");
                return None;
            }
        };
        if !self.user.contains(FIRST_GROUP) {
            return Some(self.user.clone());
        }
        // A group that took no part is none, as for PostgreSQL.
        let group = groups.into_iter().next().flatten()?;
        Some(self.user.replacen(FIRST_GROUP, &group, 1))
    }
}

/// The maps of a file, by their names.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, Arc<NameMap>>, RulesError> {
    let text = std::fs::read_to_string(path).map_err(|error| RulesError::of_file(path, &error))?;
    let mut maps: BTreeMap<String, NameMap> = BTreeMap::new();
    for (line, fields) in lines(&text) {
        let (map, mapping) = mapping(&fields).map_err(|why| RulesError::of_line(path, line, why))?;
        maps.entry(map).or_default().lines.push(mapping);
    }
    Ok(maps.into_iter().map(|(name, map)| (name, Arc::new(map))).collect())
}

/// What stands in a file of maps now, line by line, with what is wrong with each: `pg_ident_file_mappings`.
pub fn described(path: &Path) -> Vec<NameMapping> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let line = |(line, fields): (usize, Vec<Field>)| match mapping(&fields) {
        Ok((map, Mapping { system, user })) => NameMapping { line, names: Some([map, system, user]), error: None },
        Err(error) => NameMapping { line, names: None, error: Some(error) },
    };
    lines(&text).into_iter().map(line).collect()
}

/// The map and the mapping that a line is, or what is wrong with it.
fn mapping(fields: &[Field]) -> Result<(String, Mapping), String> {
    let one = |at: usize| match fields.get(at).map(Vec::as_slice) {
        Some([word]) => Ok(word.text.clone()),
        Some(_) => Err("multiple values in ident field".to_owned()),
        None => Err("missing entry at end of line".to_owned()),
    };
    let (map, system, user) = (one(0)?, one(1)?, one(2)?);
    if let Some(pattern) = system.strip_prefix('/') {
        functions::first_groups("", pattern).map_err(|error| {
            let why = error.message.strip_prefix("invalid regular expression: ").unwrap_or(&error.message);
            format!("invalid regular expression \"{pattern}\": {why}")
        })?;
    }
    Ok((map, Mapping { system, user }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps(text: &str) -> Result<BTreeMap<String, Arc<NameMap>>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_map_says_who_may_be_whom() {
        let maps = maps(
            "# map system user\n\
             staff ada.lovelace ada\n\
             staff \"bob b\" bob\n\
             staff /^(.*)@example\\.com$ \\1\n\
             staff /@example\\.com$ guest\n\
             all /(x)? the\\1\n",
        )
        .unwrap();
        let staff = &maps["staff"];
        for (proved, user) in
            [("ada.lovelace", "ada"), ("bob b", "bob"), ("eve@example.com", "eve"), ("eve@example.com", "guest")]
        {
            assert!(staff.admits(proved, user), "{proved} as {user}");
        }
        for (proved, user) in [("ada", "ada"), ("ada.lovelace", "guest"), ("eve@example.org", "eve"), ("", "")] {
            assert!(!staff.admits(proved, user), "{proved} as {user}");
        }
        assert!(maps["all"].admits("x", "thex"));
        assert!(!maps["all"].admits("y", "the"), "a group that took no part");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, words) in [
            ("staff ada", "1: missing entry at end of line"),
            ("\nstaff a,b c", "2: multiple values in ident field"),
            ("staff /( x", "invalid regular expression \"(\": parentheses () not balanced"),
        ] {
            let error = maps(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
