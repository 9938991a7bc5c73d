//! Foreign keys of a table under definition.

use pg_query::protobuf as pg;

use super::super::binder::Binder;
use super::super::{coerce, names};
use super::table::Draft;
use crate::bind::names::Unnamed;
use crate::ir::{Constraint, ConstraintKind, ConstraintOptions, ForeignKeyDefinition};
use crate::schema::{KeyRules, QualifiedName, ReferentialAction, Relation};
use crate::{Condition, Result, Type};

/// A key that may be referenced: whether it is the primary one, and its columns.
type ReferencedKey = (bool, Vec<String>);

impl Binder<'_> {
    /// Temporary tables refer to temporary tables, others to others.
    fn check_persistence(&self, target: &Relation, draft: &Draft) -> Result<()> {
        let temporary = draft.name.schema.as_deref() == Some("pg_temp");
        if temporary == target.is_temporary() {
            return Ok(());
        }
        let kind = if temporary { "temporary" } else { "permanent" };
        let message = format!("constraints on {kind} tables may reference only {kind} tables");
        Err(crate::Error::new(Condition::InvalidTableDefinition, message))
    }

    /// REFERENCES and FOREIGN KEY.
    pub(super) fn foreign_key(
        &mut self,
        constraint: &pg::Constraint,
        position: Option<usize>,
        draft: &mut Draft,
    ) -> Result<()> {
        let columns = match position {
            Some(position) => vec![position],
            None => {
                let mut columns = Vec::new();
                for name in names::strings(&constraint.fk_attrs) {
                    let Some(position) = draft.columns.iter().position(|column| column.name == name) else {
                        return Err(missing_column(name));
                    };
                    columns.push(position);
                }
                columns
            }
        };
        let Some(range) = &constraint.pktable else {
            return Err(crate::Error::internal("a foreign key without its target"));
        };
        if constraint.fk_matchtype == "p" {
            return Err(crate::Error::new(Condition::FeatureNotSupported, "MATCH PARTIAL not yet implemented"));
        }
        let itself = range.relname == draft.name.name
            && (range.schemaname.is_empty() || Some(&range.schemaname) == draft.name.schema.as_ref());
        let given: Vec<String> = names::strings(&constraint.pk_attrs).into_iter().map(str::to_owned).collect();
        let mut by_engine = itself && draft.partitioned;
        // Names and types of the target's columns, and the keys that may be referenced.
        let (target, known, keys): (QualifiedName, Vec<(String, Type)>, Vec<ReferencedKey>) = if itself {
            let name_of = |position: &usize| draft.columns[*position].name.clone();
            (
                draft.name.clone(),
                draft.columns.iter().map(|column| (column.name.clone(), column.ty.clone())).collect(),
                draft
                    .constraints
                    .iter()
                    .filter_map(|constraint| match &constraint.kind {
                        ConstraintKind::PrimaryKey(columns) => Some((true, columns.iter().map(name_of).collect())),
                        ConstraintKind::Unique(columns) => Some((false, columns.iter().map(name_of).collect())),
                        _ => None,
                    })
                    .collect(),
            )
        } else {
            let relation = self.relation(range)?;
            if relation.is_materialized() {
                let message = format!("referenced relation \"{}\" is not a table", relation.name);
                return Err(crate::Error::new(Condition::WrongObjectType, message));
            }
            let relation = self.own_table(range)?;
            self.check_persistence(&relation, draft)?;
            by_engine |= relation.is_partitioned();
            self.check_deferrable_target(&relation, &given)?;
            (
                QualifiedName::new(relation.namespace.clone(), relation.name.clone()),
                relation.columns.iter().map(|column| (column.name.clone(), column.ty.clone())).collect(),
                relation
                    .indexes
                    .iter()
                    .filter(|index| index.unique && !index.nulls_alike && index.predicate.is_none())
                    .filter_map(|index| {
                        let columns: Option<Vec<String>> = index
                            .columns
                            .iter()
                            .map(|position| position.map(|position| relation.columns[position].name.clone()))
                            .collect();
                        columns.map(|columns| (index.primary, columns))
                    })
                    .collect(),
            )
        };
        let target_columns = if given.is_empty() {
            match keys.iter().find(|(primary, _)| *primary) {
                Some((_, columns)) => columns.clone(),
                None => {
                    return Err(self.error(
                        Condition::UndefinedObject,
                        format!("there is no primary key for referenced table \"{}\"", target.name),
                        -1,
                    ));
                }
            }
        } else {
            given
        };
        if target_columns.len() != columns.len() {
            return Err(self.error(
                Condition::InvalidForeignKey,
                "number of referencing and referenced columns for foreign key disagree",
                -1,
            ));
        }
        for name in &target_columns {
            if !known.iter().any(|(column, _)| column == name) {
                return Err(missing_column(name));
            }
        }
        let mut sorted = target_columns.clone();
        sorted.sort();
        let unique = keys.iter().any(|(_, columns)| {
            let mut columns = columns.clone();
            columns.sort();
            columns == sorted
        });
        // A table's own keys may be declared behind the foreign key.
        if !unique && !itself {
            return Err(self.error(
                Condition::InvalidForeignKey,
                format!("there is no unique constraint matching given keys for referenced table \"{}\"", target.name),
                -1,
            ));
        }
        let words: Vec<String> = columns.iter().map(|position| draft.columns[*position].name.clone()).collect();
        let (name, named) = draft.constraint_name(&constraint.conname, &words, Unnamed::ForeignKey);
        for (position, target) in columns.iter().zip(&target_columns) {
            let here = &draft.columns[*position].ty;
            let Some((_, there)) = known.iter().find(|(column, _)| column == target) else { continue };
            check_key_types(&name, (&draft.columns[*position].name, here), (target, there))?;
        }
        let (on_delete, on_update) = (
            ReferentialAction::from_letter(&constraint.fk_del_action),
            ReferentialAction::from_letter(&constraint.fk_upd_action),
        );
        let set_columns = self.set_columns(&constraint.fk_del_set_cols, &columns, draft)?;
        by_engine |= !set_columns.is_empty();
        // What changes a partition's row may make it another's.
        by_engine |= (draft.partitioned || draft.is_partition) && key_moves_rows(on_delete, on_update);
        let mut alike = columns.iter().filter_map(|position| draft.columns[*position].collation.clone());
        // A back end may do nothing where the old key and the new one are equal in the collation.
        by_engine |= alike.any(|collation| !collation.deterministic) && on_update.changes_rows();
        draft.constraints.push(Constraint {
            name,
            named,
            kind: ConstraintKind::ForeignKey(Box::new(ForeignKeyDefinition {
                columns,
                target,
                target_columns,
                rules: KeyRules {
                    on_delete,
                    on_update,
                    full: constraint.fk_matchtype == "f",
                    deferrable: constraint.deferrable || constraint.initdeferred,
                    deferred: constraint.initdeferred,
                },
                by_engine,
                set_columns,
            })),
            options: ConstraintOptions { not_valid: constraint.skip_validation, no_inherit: false },
        });
        Ok(())
    }
}

fn missing_column(name: &str) -> crate::Error {
    if matches!(name, "tableoid" | "ctid" | "xmin" | "xmax" | "cmin" | "cmax") {
        let message = "system columns cannot be used in foreign keys";
        return crate::Error::new(Condition::FeatureNotSupported, message);
    }
    let message = format!("column \"{name}\" referenced in foreign key constraint does not exist");
    crate::Error::new(Condition::UndefinedColumn, message)
}

impl Binder<'_> {
    /// The columns that ON DELETE SET names.
    fn set_columns(&self, named: &[pg::Node], columns: &[usize], draft: &Draft) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for name in names::strings(named) {
            let Some(at) = draft.columns.iter().position(|column| column.name == name) else {
                return Err(missing_column(name));
            };
            if !columns.contains(&at) {
                let message =
                    format!("column \"{name}\" referenced in ON DELETE SET action must be part of foreign key");
                return Err(crate::Error::new(Condition::InvalidColumnReference, message));
            }
            if !found.contains(&at) {
                found.push(at);
            }
        }
        Ok(found)
    }

    /// A key that may be violated for a while is nothing to refer to.
    fn check_deferrable_target(&self, target: &Relation, given: &[String]) -> Result<()> {
        let meant = |index: &&crate::schema::Index| {
            let mut names: Vec<&str> =
                index.columns.iter().flatten().map(|at| target.columns[*at].name.as_str()).collect();
            let mut wanted: Vec<&str> = given.iter().map(String::as_str).collect();
            names.sort_unstable();
            wanted.sort_unstable();
            if given.is_empty() { index.primary } else { index.constraint && names == wanted }
        };
        let mut deferred = target.indexes.iter().filter(meant).peekable();
        if deferred.peek().is_some() && deferred.all(|index| index.deferred.is_some()) {
            let kind = if given.is_empty() { "primary key" } else { "unique constraint" };
            let message = format!("cannot use a deferrable {kind} for referenced table \"{}\"", target.name);
            return Err(crate::Error::new(Condition::ObjectNotInPrerequisiteState, message));
        }
        Ok(())
    }
}

/// True when what a foreign key does about rows that refer gives them other values.
pub fn key_moves_rows(on_delete: ReferentialAction, on_update: ReferentialAction) -> bool {
    matches!(on_delete, ReferentialAction::SetNull | ReferentialAction::SetDefault) || on_update.changes_rows()
}

/// A column that refers and the one that it refers to, each with its type, of a foreign key.
///
/// # Errors
/// `42804` where they cannot be compared.
pub fn check_key_types(key: &str, (name, here): (&str, &Type), (target, there): (&str, &Type)) -> Result<()> {
    if key_serves(there, here) {
        return Ok(());
    }
    let message = format!("foreign key constraint \"{key}\" cannot be implemented");
    let (here, there) = (super::super::types::words(here), super::super::types::words(there));
    let detail = format!("Key columns \"{name}\" and \"{target}\" are of incompatible types: {here} and {there}.");
    Err(crate::Error::new(Condition::DatatypeMismatch, message).detail(detail))
}

/// True when PostgreSQL has an equality by which a referencing column's values are looked up in the referenced key: one
/// of the key's operator family for both types, or one for the key's type that the other becomes by itself.
fn key_serves(key: &Type, referencing: &Type) -> bool {
    let moment = |ty: &Type| matches!(ty, Type::Date | Type::Timestamp(_) | Type::TimestampTz(_));
    let float = |ty: &Type| matches!(ty, Type::Float4 | Type::Float8);
    let textual = |ty: &Type| matches!(ty, Type::Text | Type::Varchar(_) | Type::Name);
    coerce::same(key, referencing)
        || (key.is_integer() && referencing.is_integer())
        || (float(key) && float(referencing))
        || (moment(key) && moment(referencing))
        || (textual(key) && (textual(referencing) || coerce::implicit(referencing, &Type::Text)))
        || coerce::implicit(referencing, &coerce::base(key))
}
