//! What a front end asks about the database.
//!
//! The engine implements [`Schema`] over one in-memory description of the file; tests implement it over a list.

mod column;
mod key;
mod policy;
mod relation;
mod routine;
mod rule;
mod trigger;

use std::sync::Arc;

use crate::access::Privileges;
use crate::collation::Collation;
use crate::statistics::StatisticsObject;
use crate::text_search::{self, Kind, SearchObject};
use crate::user_cast::UserCast;
use crate::user_operator::UserOperator;
use crate::user_type::UserType;
use crate::{Condition, Error, Result};

pub use column::{Check, Column, ColumnDefault, Generated, Identity};
pub use key::{Disabled, ForeignKey, Index, IndexKey, KeyPart, KeyRules, ReferentialAction};
pub use policy::{Policy, PolicyCommand, RowSecurity};
pub use relation::{CheckOption, DroppedColumn, Physical, Relation, RelationKind, Sequence, ViewOptions};
pub use routine::{NamedType, Routine};
pub use rule::Rule;
pub use trigger::{ConstraintTrigger, Trigger, TriggerActions, TriggerKey, TriggerPart};

/// A name as the user wrote it, folded by the dialect's rules, with the schema (or Informix owner) when given.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct QualifiedName {
    /// Schema, or `None` for the search path.
    pub schema: Option<String>,
    /// The object's own name.
    pub name: String,
}

/// The database as a front end sees it: one immutable snapshot.
///
/// No method answers by itself: whoever stands between a front end and a snapshot has to say what it passes on, or a
/// kind of object would silently not be there.
pub trait Schema {
    /// Grows with every change of the schema; part of a plan's key.
    fn generation(&self) -> u64;

    /// Finds a table, view or catalog table.
    ///
    /// A name without schema is looked for in the session's temporary tables, then along the search path, of which
    /// `pg_catalog` is an implicit first member. Names in a file are case-insensitive, so the comparison is too; an
    /// exact match wins.
    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>>;

    /// Finds a relation by its object id.
    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>>;

    /// The schema and the name of what `pg_class` has under an object id: sequences and indexes, too.
    fn class_name(&self, oid: u32) -> Option<(String, String)> {
        self.relation_by_oid(oid).map(|relation| (relation.namespace.clone(), relation.name.clone()))
    }

    /// True when a schema (namespace) of this name exists.
    fn has_namespace(&self, name: &str) -> bool;

    /// Who asks, and what roles may do.
    fn rights(&self) -> crate::access::Rights;

    /// Whether the role that asks has a privilege on a schema; true for one that is not there.
    fn may(&self, namespace: &str, wanted: Privileges) -> bool;

    /// The first schema of the search path, where objects without a schema are created; `None` when there is none.
    fn creation_namespace(&self) -> Option<String>;

    /// The tables that inherit directly from the one with this object id, oldest first.
    fn heirs(&self, oid: u32) -> Vec<Arc<Relation>>;

    /// Finds a sequence.
    fn sequence(&self, name: &QualifiedName) -> Option<Arc<Sequence>>;

    /// What a synonym stands for.
    fn synonym(&self, name: &QualifiedName) -> Option<QualifiedName>;

    /// What a synonym stands for that leads into another database: its name, and that of the object there.
    fn synonym_elsewhere(&self, _: &QualifiedName) -> Option<(String, QualifiedName)> {
        None
    }

    /// Another database of the server: its relations are told from ours by their object ids, and by [`Physical`].
    ///
    /// # Errors
    /// `3D000` (-329) when there is none, or when it cannot be reached from here.
    fn neighbour(&self, name: &str) -> Result<Arc<dyn Schema>> {
        Err(Error::new(
            Condition::InvalidCatalogName,
            format!("the database {name} is not the one that is open, and others cannot be reached from it"),
        ))
    }

    /// A sequence's parameters, as CREATE SEQUENCE would say them.
    fn sequence_definition(&self, name: &QualifiedName) -> Option<crate::ir::CreateSequence>;

    /// What has been said of a table under a name of ours.
    fn table_property(&self, _oid: u32, _name: &str) -> Option<String> {
        None
    }

    /// Finds an index, by its name within a namespace.
    fn index(&self, name: &QualifiedName) -> Option<(Arc<Relation>, usize)>;

    /// Routines of users with this name, oldest first.
    fn routines(&self, name: &str) -> Vec<Arc<Routine>>;

    /// Functions that users have made in PostgreSQL's way with this name: along the search path when it is bare, those of
    /// an earlier schema first.
    fn functions(&self, name: &QualifiedName) -> Vec<Arc<crate::stored_function::StoredFunction>>;

    /// The function with this object id.
    fn function_by_oid(&self, oid: u32) -> Option<Arc<crate::stored_function::StoredFunction>>;

    /// Relations that may have triggers.
    fn triggered(&self) -> Vec<Arc<Relation>>;

    /// Every routine of users, oldest first.
    fn all_routines(&self) -> Vec<Arc<Routine>>;

    /// A type that a user has made in PostgreSQL's way, along the search path when its name is bare.
    fn user_type(&self, name: &QualifiedName) -> Option<Arc<UserType>>;

    /// The type with this object id.
    fn user_type_by_oid(&self, oid: u32) -> Option<Arc<UserType>>;

    /// The extensions that are there, oldest first.
    fn extensions(&self) -> &[Arc<crate::extension::Installed>];

    /// A collation that a user has made, along the search path when its name is bare.
    fn collation(&self, name: &QualifiedName) -> Option<Arc<Collation>>;

    /// The collation with an object id.
    fn collation_by_oid(&self, oid: u32) -> Option<Arc<Collation>> {
        Collation::by_oid(oid).cloned()
    }

    /// A configuration or dictionary of text search, along the search path when its name is bare.
    fn search_object(&self, kind: Kind, name: &QualifiedName) -> Option<Arc<SearchObject>> {
        let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
        own.then(|| text_search::built_in_named(kind, &name.name).cloned()).flatten()
    }

    /// The configuration or dictionary of text search with an object id.
    fn search_object_by_oid(&self, oid: u32) -> Option<Arc<SearchObject>> {
        text_search::built_in_by_oid(oid).cloned()
    }

    /// An object of CREATE STATISTICS, along the search path when its name is bare.
    fn statistics_object(&self, _: &QualifiedName) -> Option<Arc<StatisticsObject>> {
        None
    }

    /// Operators that users have made with this name: along the search path when it is bare, those of an earlier schema
    /// first.
    fn operators(&self, _: &QualifiedName) -> Vec<Arc<UserOperator>> {
        Vec::new()
    }

    /// The users' operator with an object id.
    fn operator_by_oid(&self, _: u32) -> Option<Arc<UserOperator>> {
        None
    }

    /// Casts that users have made, oldest first.
    fn casts(&self) -> &[UserCast] {
        &[]
    }

    /// Casts that were dropped while something stored converted by them, which goes on doing so.
    fn dropped_casts(&self) -> &[UserCast] {
        &[]
    }

    /// True for a schema in which bare names are looked for.
    fn is_in_path(&self, namespace: &str) -> bool;

    /// Every type that users have made in PostgreSQL's way, oldest first.
    fn user_types(&self) -> Vec<Arc<UserType>>;

    /// An aggregate that users have made in Informix's SQL.
    fn informix_aggregate(&self, _name: &str) -> Option<Arc<crate::informix::aggregates::UserAggregate>> {
        None
    }

    /// Casts that users have made in Informix's SQL, and those that come with DISTINCT types, oldest first.
    fn informix_casts(&self) -> &[crate::informix::casts::InformixCast] {
        &[]
    }

    /// False where it is known that an object is not of the owner whom a statement in Informix's SQL names.
    fn is_owned_by(&self, _oid: u32, _name: &str) -> bool {
        true
    }

    /// A type that users have given a name.
    fn named_type(&self, name: &str) -> Option<Arc<NamedType>>;

    /// Every type that users have given a name, oldest first.
    fn named_types(&self) -> Vec<Arc<NamedType>>;
}

/// What follows from the answers.
impl dyn Schema + '_ {
    /// Refuses a name in a schema into which the role that asks may not look.
    ///
    /// # Errors
    /// `42501`.
    pub fn check_usage(&self, name: &QualifiedName) -> Result<()> {
        match &name.schema {
            Some(schema) if !self.may(schema, crate::access::Privileges::USAGE) => {
                Err(crate::access::denied("schema", schema))
            }
            _ => Ok(()),
        }
    }

    /// The schema where an object is created: the one that its name says, or the first of the search path.
    ///
    /// # Errors
    /// `3F000` when neither says one, or it is not there.
    pub fn creation_schema(&self, given: Option<&str>) -> Result<String> {
        let missing = |message: String| Error::new(Condition::InvalidSchemaName, message);
        match given {
            Some(schema) if self.has_namespace(schema) => Ok(schema.to_owned()),
            Some(schema) => Err(missing(format!("schema \"{schema}\" does not exist"))),
            None => {
                self.creation_namespace().ok_or_else(|| missing("no schema has been selected to create in".to_owned()))
            }
        }
    }
}

impl QualifiedName {
    /// A name without schema.
    pub fn bare(name: impl Into<String>) -> Self {
        Self { schema: None, name: name.into() }
    }

    /// A name in a schema.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: Some(schema.into()), name: name.into() }
    }
}

impl std::fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
