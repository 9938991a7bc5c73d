//! What PostgreSQL says of its settings beyond what the engine knows of them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::read::facts;

facts! {
    /// A row of `pg_settings`.
    Setting from "settings.tsv" {
        /// `name`
        name: &'static str,
        /// `category`
        category: &'static str,
    }
}

impl Setting {
    /// The one with a name as `pg_settings` spells it.
    pub fn named(name: &str) -> Option<&'static Self> {
        static NAMES: LazyLock<HashMap<&'static str, &'static Setting>> =
            LazyLock::new(|| Setting::all().iter().map(|setting| (setting.name, setting)).collect());
        NAMES.get(name).copied()
    }
}
