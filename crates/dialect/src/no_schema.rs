//! A schema without objects.

use std::sync::Arc;

use crate::access::{Privileges, Rights};
use crate::collation::Collation;
use crate::extension::Installed;
use crate::ir::CreateSequence;
use crate::schema::{NamedType, QualifiedName, Relation, Routine, Schema, Sequence};
use crate::stored_function::StoredFunction;
use crate::user_type::UserType;

/// A schema without anything: for PostgreSQL's own types alone, and where no database is.
#[derive(Clone, Copy, Debug)]
pub struct NoSchema;

impl Schema for NoSchema {
    fn generation(&self) -> u64 {
        0
    }

    fn relation(&self, _: &QualifiedName) -> Option<Arc<Relation>> {
        None
    }

    fn heirs(&self, _: u32) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn relation_by_oid(&self, _: u32) -> Option<Arc<Relation>> {
        None
    }

    fn has_namespace(&self, _: &str) -> bool {
        false
    }

    fn creation_namespace(&self) -> Option<String> {
        None
    }

    fn rights(&self) -> Rights {
        Rights::default()
    }

    fn may(&self, _: &str, _: Privileges) -> bool {
        true
    }

    fn sequence(&self, _: &QualifiedName) -> Option<Arc<Sequence>> {
        None
    }

    fn index(&self, _: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        None
    }

    fn synonym(&self, _: &QualifiedName) -> Option<QualifiedName> {
        None
    }

    fn sequence_definition(&self, _: &QualifiedName) -> Option<CreateSequence> {
        None
    }

    fn functions(&self, _: &QualifiedName) -> Vec<Arc<StoredFunction>> {
        Vec::new()
    }

    fn function_by_oid(&self, _: u32) -> Option<Arc<StoredFunction>> {
        None
    }

    fn routines(&self, _: &str) -> Vec<Arc<Routine>> {
        Vec::new()
    }

    fn triggered(&self) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn all_routines(&self) -> Vec<Arc<Routine>> {
        Vec::new()
    }

    fn user_type(&self, _: &QualifiedName) -> Option<Arc<UserType>> {
        None
    }

    fn user_type_by_oid(&self, _: u32) -> Option<Arc<UserType>> {
        None
    }

    fn extensions(&self) -> &[Arc<Installed>] {
        &[]
    }

    fn collation(&self, _: &QualifiedName) -> Option<Arc<Collation>> {
        None
    }

    fn is_in_path(&self, _: &str) -> bool {
        true
    }

    fn user_types(&self) -> Vec<Arc<UserType>> {
        Vec::new()
    }

    fn named_type(&self, _: &str) -> Option<Arc<NamedType>> {
        None
    }

    fn named_types(&self) -> Vec<Arc<NamedType>> {
        Vec::new()
    }
}
