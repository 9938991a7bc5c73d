//! What the server's rules of who may come in say of themselves, for `pg_hba_file_rules`.

use std::fmt;
use std::sync::Arc;

/// A line of the server's file of rules.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HostRule {
    /// Its number, from 1.
    pub line: usize,
    /// The kind of connections it is about (`host`).
    pub kind: Option<&'static str>,
    /// To which databases.
    pub databases: Vec<String>,
    /// Of which users.
    pub users: Vec<String>,
    /// From which address.
    pub address: Option<String>,
    /// Which bits of it count.
    pub netmask: Option<String>,
    /// How they prove who they are.
    pub method: Option<&'static str>,
    /// What else it asks, as `name=value`.
    pub options: Vec<String>,
    /// What is wrong with the line.
    pub error: Option<String>,
}

/// A line of the server's file of user name maps.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NameMapping {
    /// Its number, from 1.
    pub line: usize,
    /// The map's name, what was proved, and which user that may be; `None` where the line is wrong.
    pub names: Option<[String; 3]>,
    /// What is wrong with the line.
    pub error: Option<String>,
}

/// Reads the user name maps as the file has them now, for `pg_ident_file_mappings`.
#[derive(Clone)]
pub struct NameMappings(pub Arc<dyn Fn() -> Vec<NameMapping> + Send + Sync>);

impl fmt::Debug for NameMappings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameMappings")
    }
}

/// Reads the rules as the file has them now.
#[derive(Clone)]
pub struct HostRules(pub Arc<dyn Fn() -> Vec<HostRule> + Send + Sync>);

impl fmt::Debug for HostRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostRules")
    }
}
