//! What PostgreSQL calls configuration parameters: a static table, shared by all sessions. A session keeps only what
//! it has set ([`crate::session`]'s variables).

mod extra_checks;
mod flags;
mod table;
mod value;

pub(crate) use extra_checks::{ExtraCheck, ExtraChecks};
pub use flags::flags;
pub use table::SETTINGS;
pub(crate) use value::{changeable, read, short, show};

/// The version of PostgreSQL that we are, as `SHOW server_version` says it: the one whose facts we work from.
pub const SERVER_VERSION: &str = "15.18";
/// [`SERVER_VERSION`] as `server_version_num` says it.
const SERVER_VERSION_NUMBER: &str = "150018";

/// What `server_version_num` says of a version (`15.18`, `17`); `None` for what is no version since PostgreSQL 10, whose
/// numbers have two parts.
pub fn version_number(version: &str) -> Option<u32> {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u32>().ok())?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let (major, minor) = (digits(major)?, digits(minor)?);
    ((10..=99).contains(&major) && minor < 100).then_some(major * 10_000 + minor)
}

/// A setting that PostgreSQL knows.
#[derive(Debug)]
pub struct Setting {
    /// Its name as SHOW prints it; compared without regard to case.
    pub name: &'static str,
    /// Its value in a new session, numbers in the setting's unit.
    pub value: &'static str,
    /// Which values it takes.
    pub kind: Kind,
    /// Who could change it in PostgreSQL, and when.
    pub context: Context,
    /// What it means here.
    pub meaning: Meaning,
    /// Clients are told when it changes.
    pub report: bool,
    /// SHOW knows it, lists do not.
    pub hidden: bool,
}

impl Setting {
    const fn reported(mut self) -> Self {
        self.report = true;
        self
    }

    const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
}

/// Which values a setting takes.
#[derive(Debug)]
pub enum Kind {
    /// `on`, `off`.
    Bool,
    /// One of these.
    Enum(&'static [&'static str]),
    /// A whole number.
    Integer(i32, i32, Unit),
    /// A whole number that SHOW prints as the mode of a file.
    Octal(i32, i32),
    /// A number.
    Real(f64, f64, Unit),
    /// A text of some form.
    Text(Form),
}

/// What a text must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Anything.
    Any,
    /// Words of DateStyle.
    DateStyle,
    /// An encoding that is converted to UTF-8.
    Encoding,
    /// A list of checks of PL/pgSQL.
    ExtraChecks,
    /// A list of names; SET quotes each.
    Names,
    /// A time zone.
    TimeZone,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Nothing of the kind.
    None,
    /// Bytes.
    Bytes,
    /// Kilobytes.
    Kilobytes,
    /// Pages of 8 kB.
    Blocks,
    /// Megabytes.
    Megabytes,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
}

/// Who could change a setting in PostgreSQL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Context {
    /// The client, when it connects.
    Connection,
    /// Nobody.
    Internal,
    /// The administrator, in a file that a running server reads again.
    Reload,
    /// The administrator, before the server starts.
    Restart,
    /// A superuser; all users are, here.
    Superuser,
    /// Everybody.
    User,
}

impl Context {
    /// The word of `pg_settings`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Connection => "backend",
            Self::Internal => "internal",
            Self::Reload => "sighup",
            Self::Restart => "postmaster",
            Self::Superuser => "superuser",
            Self::User => "user",
        }
    }
}

/// What a setting means here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Meaning {
    /// What it means in PostgreSQL.
    Effective,
    /// It names something of the server; these are what there is.
    Existing(&'static [&'static str]),
    /// It tells how things are; any other value is refused.
    Fixed,
    /// Any value is taken. PostgreSQL's planner, memory or storage would work differently, with the same answers.
    Hint,
    /// These values mean what they mean in PostgreSQL; the others are refused.
    Only(&'static [&'static str]),
    /// Any value is taken: nothing that it would act on exists here.
    Vacuous,
}

impl Meaning {
    /// For people who list the settings.
    pub fn words(self) -> &'static str {
        match self {
            Self::Effective => "effective",
            Self::Existing(_) | Self::Only(_) => "some values are supported",
            Self::Fixed => "cannot be changed here",
            Self::Hint => "accepted; the storage plans and keeps in its own way",
            Self::Vacuous => "accepted; there is nothing here that it would change",
        }
    }
}

/// The setting of a name, in any case.
pub fn find(name: &str) -> Option<&'static Setting> {
    let lower = |name: &'static str| name.bytes().map(|byte| byte.to_ascii_lowercase());
    let wanted = || name.bytes().map(|byte| byte.to_ascii_lowercase());
    SETTINGS.binary_search_by(|setting| lower(setting.name).cmp(wanted())).ok().map(|at| &SETTINGS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the guide's page under a heading.
    fn section(page: &'static str, heading: &str) -> &'static str {
        let (_, behind) = page.split_once(heading).unwrap_or_else(|| panic!("the page has no {heading}"));
        behind.split("\n## ").next().unwrap_or(behind)
    }

    #[test]
    fn versions_have_a_number() {
        assert_eq!(
            version_number(SERVER_VERSION).map(|number| number.to_string()).as_deref(),
            Some(SERVER_VERSION_NUMBER)
        );
        assert_eq!(version_number("17.2"), Some(170_002));
        assert_eq!(version_number("16"), Some(160_000));
        for text in ["", "9.6", "15.", ".1", "15.1.2", "15devel", "+15", "15.100", "100", "99999999999"] {
            assert_eq!(version_number(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_guide_lists_each_setting_under_what_becomes_of_it() {
        let page = include_str!("../../../../docs/guide/postgres-settings.md");
        for setting in SETTINGS.iter().filter(|setting| matches!(setting.context, Context::User | Context::Superuser)) {
            let heading = match setting.meaning {
                Meaning::Effective => "## Effective",
                Meaning::Existing(_) | Meaning::Only(_) => "## Some values",
                Meaning::Hint => "## Taken without effect: another way",
                Meaning::Vacuous => "## Taken without effect: there is nothing",
                Meaning::Fixed => "## Only as they are",
            };
            let listed = section(page, heading).contains(&format!("`{}`", setting.name));
            assert!(listed, "{} is not under {heading}", setting.name);
        }
    }
}
