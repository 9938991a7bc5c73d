//! What a door tells its sessions of itself, under names that no table has.

use std::sync::{Arc, OnceLock};

use rowferry_dialect::informix;

use super::Variables;

impl Variables {
    /// True once a variable of no table, by its lower-case name, was told or set.
    pub fn is_named(&self, name: &str) -> bool {
        self.initial.contains_key(name)
    }

    /// What a door tells its sessions of itself, under a name that nothing is worked out of.
    pub fn tell(&mut self, name: &'static str, value: &str) {
        self.initial.insert(name.to_owned(), value.to_owned());
        self.told_by_door = OnceLock::new();
    }

    /// All that the Informix door tells a session of itself, and that its plans depend on.
    pub(in crate::session) fn told(&self) -> Arc<str> {
        let told = || {
            let mut told = String::new();
            for name in
                ["informix.database", "informix.server", informix::DELIMIDENT, informix::MULTIBYTE, informix::DATES]
            {
                match self.kept(name) {
                    Some(value) => told.extend([value, "\0"]),
                    None => told.push('\u{1}'),
                }
            }
            told.into()
        };
        self.told_by_door.get_or_init(told).clone()
    }
}
