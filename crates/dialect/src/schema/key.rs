//! Indexes, keys and foreign keys of a table.

use super::{QualifiedName, Relation};

/// An index or unique constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Object id.
    pub oid: u32,
    /// Name.
    pub name: String,
    /// Columns by position; `None` is an expression.
    pub columns: Vec<Option<usize>>,
    /// Text of each key as the index was declared (columns too), with `DESC` flags apart.
    pub keys: Vec<IndexKey>,
    /// No two rows alike.
    pub unique: bool,
    /// It is the primary key.
    pub primary: bool,
    /// It came from a constraint, not from CREATE INDEX.
    pub constraint: bool,
    /// Condition of a partial index, in the relation's language.
    pub predicate: Option<String>,
    /// It stands for a UNIQUE that is DEFERRABLE (true: INITIALLY DEFERRED): it is not [`Self::unique`], the engine asks it
    /// when a statement or the transaction ends.
    pub deferred: Option<bool>,
    /// NULLS NOT DISTINCT: rows are alike in NULL, too.
    pub nulls_alike: bool,
    /// It stands for a UNIQUE of columns for which the table's own form has another key already.
    pub twin: bool,
    /// It holds words, for MATCH … AGAINST, and no rows.
    pub fulltext: bool,
    /// It stands for an EXCLUDE: the engine asks for rows that conflict.
    pub exclusion: Option<Box<crate::exclusion::Exclusion>>,
}

impl Index {
    /// It is no part of its table's own form.
    pub const fn stands_alone(&self) -> bool {
        !self.constraint || self.deferred.is_some() || self.nulls_alike || self.twin || self.exclusion.is_some()
    }

    /// Its constraint is DEFERRABLE (true: INITIALLY DEFERRED).
    pub fn deferrability(&self) -> Option<bool> {
        self.deferred.or_else(|| self.exclusion.as_ref()?.deferred)
    }

    /// In the end no two rows are alike.
    pub const fn is_key(&self) -> bool {
        self.unique || self.deferred.is_some()
    }
}

/// One key of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexKey {
    /// Column name or expression text.
    pub text: String,
    /// Descending.
    pub descending: bool,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    /// Constraint's object id.
    pub oid: u32,
    /// Constraint's name.
    pub name: String,
    /// Columns here, by position.
    pub columns: Vec<usize>,
    /// The referenced relation's name.
    pub target: QualifiedName,
    /// Referenced columns; empty means the primary key.
    pub target_columns: Vec<String>,
    /// What it asks for, and when.
    pub rules: KeyRules,
    /// Every row holds it; NOT VALID otherwise.
    pub valid: bool,
    /// The engine keeps it: it demands what the back end's own cannot.
    pub by_engine: bool,
    /// The columns, by position, to which SET NULL and SET DEFAULT of ON DELETE are confined; empty is all.
    pub set_columns: Vec<usize>,
    /// What it is called at each partition of the table that it refers to.
    pub parts: Vec<KeyPart>,
    /// Where nobody asks it.
    pub disabled: Disabled,
}

/// What a foreign key asks for, and when.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KeyRules {
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// MATCH FULL: none of its columns is NULL, or all are.
    pub full: bool,
    /// SET CONSTRAINTS may put it off.
    pub deferrable: bool,
    /// INITIALLY DEFERRED: checked at commit.
    pub deferred: bool,
}

/// DISABLE TRIGGER ALL: where a foreign key of the engine is not asked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Disabled {
    /// In the table that refers.
    pub here: bool,
    /// In the table that is referred to.
    pub there: bool,
    /// It is the engine's for this reason alone.
    pub lent: bool,
}

/// A foreign key as a constraint of a partition of the table that it refers to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyPart {
    /// Constraint's object id.
    pub oid: u32,
    /// Constraint's name.
    pub name: String,
    /// The partition's object id.
    pub partition: u32,
}

impl ForeignKey {
    /// Its name where the table of an object id is concerned, which it refers to or which is a part of that.
    pub fn name_at(&self, referred: u32) -> &str {
        self.parts.iter().find(|part| part.partition == referred).map_or(&self.name, |part| &part.name)
    }

    /// Its name as the constraint of an object id: it, or what it is at a partition.
    pub fn name_of(&self, oid: u32) -> Option<&String> {
        let part = || self.parts.iter().find(|part| part.oid == oid).map(|part| &part.name);
        if self.oid == oid { Some(&self.name) } else { part() }
    }

    /// True when it refers to a table, not to one that the table is a part of.
    pub fn leads_to(&self, table: &Relation) -> bool {
        let here = |namespace: &str| namespace.eq_ignore_ascii_case(&table.namespace);
        self.target.schema.as_deref().is_none_or(here) && self.target.name.eq_ignore_ascii_case(&table.name)
    }
}

/// What happens to children.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReferentialAction {
    /// Refused (checked at the end of the statement).
    #[default]
    NoAction,
    /// Refused at once.
    Restrict,
    /// Children go too.
    Cascade,
    /// Children's columns become NULL.
    SetNull,
    /// Children's columns become their defaults.
    SetDefault,
}

impl ReferentialAction {
    /// Every one.
    pub const EACH: [Self; 5] = [Self::NoAction, Self::Restrict, Self::Cascade, Self::SetNull, Self::SetDefault];

    /// The letter of `pg_constraint`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::NoAction => "a",
            Self::Restrict => "r",
            Self::Cascade => "c",
            Self::SetNull => "n",
            Self::SetDefault => "d",
        }
    }

    /// The action of a letter; of none that PostgreSQL has it is NO ACTION.
    pub fn from_letter(letter: &str) -> Self {
        Self::EACH.into_iter().find(|action| action.letter() == letter).unwrap_or_default()
    }

    /// SQL's words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }

    /// It changes rows that refer to another.
    pub const fn changes_rows(self) -> bool {
        !matches!(self, Self::NoAction | Self::Restrict)
    }
}
