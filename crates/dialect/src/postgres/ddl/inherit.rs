//! CREATE TABLE … INHERITS: the columns and checks of parents, merged with the table's own.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, ConstrType, Node, node::Node as N};

use super::super::binder::{Binder, Clause};
use super::super::types::format_type;
use super::table::Draft;
use crate::collation::Collation;
use crate::heritage::{Heritage, INHERITED_CHECK, INHERITED_COLUMN, INHERITS};
use crate::ir::{ColumnDefinition, Constraint, ConstraintKind, ConstraintOptions, Text};
use crate::schema::{QualifiedName, Relation, RelationKind};
use crate::{Condition, Error, Result};

/// What a new table gets from its parents.
#[derive(Default)]
pub(super) struct Inheritance {
    pub(super) parents: Vec<Arc<Relation>>,
    /// The table is a partition of the one parent.
    pub(super) partition: bool,
    /// The columns, in the order of their places.
    columns: Vec<Inherited>,
}

/// A column that one parent has, or several.
struct Inherited {
    definition: ColumnDefinition,
    /// Parents by number, with the column's position there.
    sources: Vec<(usize, usize)>,
    /// The table declares it, too.
    declared: bool,
}

impl Inheritance {
    /// Leaves what the catalogs have to know.
    pub(super) fn note(&self, draft: &mut Draft) {
        if self.parents.is_empty() {
            return;
        }
        let yes = || "true".to_owned();
        let parents: Vec<u32> = self.parents.iter().map(|parent| parent.oid).collect();
        draft.properties.push((String::new(), INHERITS.to_owned(), Heritage::parents_text(&parents)));
        for column in self.columns.iter().filter(|column| !column.declared) {
            draft.properties.push((column.definition.name.clone(), INHERITED_COLUMN.to_owned(), yes()));
        }
        for check in &draft.inherited {
            draft.properties.push((check.clone(), INHERITED_CHECK.to_owned(), yes()));
        }
    }
}

/// Two definitions of a column disagree.
pub(super) fn type_conflict(what: String, one: &crate::Type, other: &crate::Type) -> Error {
    Error::new(Condition::DatatypeMismatch, format!("{what} has a type conflict")).detail(format!(
        "{} versus {}",
        format_type(one),
        format_type(other)
    ))
}

impl Binder<'_> {
    /// A table from which another may inherit.
    pub(super) fn parent_table(&mut self, range: &pg::RangeVar, temporary: bool) -> Result<Arc<Relation>> {
        let parent = self.relation(range)?;
        if parent.kind != RelationKind::Table {
            let message = format!("inherited relation \"{}\" is not a table or foreign table", parent.name);
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        if parent.is_temporary() && !temporary {
            let message = format!("cannot inherit from temporary relation \"{}\"", parent.name);
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        if parent.without_identity || parent.language == crate::Language::Informix {
            return Err(self.unsupported("INHERITS of a table that was not made in PostgreSQL's way", range.location));
        }
        Ok(parent)
    }

    /// The columns of the tables that a new one inherits from.
    pub(super) fn inheritance(&mut self, nodes: &[Node], name: &QualifiedName, partition: bool) -> Result<Inheritance> {
        let mut all = Inheritance { partition, ..Inheritance::default() };
        let temporary = name.schema.as_deref() == Some("pg_temp");
        for node in nodes {
            let Some(N::RangeVar(range)) = &node.node else { continue };
            let parent = self.parent_table(range, temporary || partition).map_err(|mut error| {
                if error.condition() == Condition::UndefinedTable {
                    error.position = None;
                }
                error
            })?;
            match partition {
                true => self.check_partitioned(&parent, temporary)?,
                false => check_plain_parent(&parent)?,
            }
            if all.parents.iter().any(|known| known.oid == parent.oid) {
                let message = format!("relation \"{}\" would be inherited from more than once", parent.name);
                return Err(Error::new(Condition::DuplicateTable, message));
            }
            let number = all.parents.len();
            all.parents.push(parent.clone());
            for (at, column) in parent.columns.iter().enumerate() {
                let known = all.columns.iter_mut().find(|known| known.definition.name == column.name);
                let ty = super::super::types::import(&column.ty);
                match known {
                    Some(known) => {
                        self.remark(format!("merging multiple inherited definitions of column \"{}\"", column.name));
                        if known.definition.ty != ty {
                            let what = format!("inherited column \"{}\"", column.name);
                            return Err(type_conflict(what, &known.definition.ty, &ty));
                        }
                        let (first, place) = known.sources[0];
                        let computed = all.parents[first].columns[place].generated.is_some();
                        if computed != column.generated.is_some() {
                            let message = format!("inherited column \"{}\" has a generation conflict", column.name);
                            return Err(Error::new(Condition::DatatypeMismatch, message));
                        }
                        known.definition.not_null |= column.not_null;
                        known.sources.push((number, at));
                    }
                    None => all.columns.push(Inherited {
                        definition: ColumnDefinition {
                            name: column.name.clone(),
                            ty,
                            not_null: column.not_null,
                            default: None,
                            identity: None,
                            sequence: None,
                            generated: None,
                            collation: column.collation.clone(),
                        },
                        sources: vec![(number, at)],
                        declared: false,
                    }),
                }
            }
        }
        Ok(all)
    }

    /// Puts the inherited columns before the table's own, and makes one of those that are both. For each of the table's
    /// own columns where it stands now.
    pub(super) fn merge_inherited(&mut self, inheritance: &mut Inheritance, draft: &mut Draft) -> Result<Vec<usize>> {
        if inheritance.parents.is_empty() {
            return Ok((0..draft.columns.len()).collect());
        }
        let own = std::mem::take(&mut draft.columns);
        let mut places = Vec::with_capacity(own.len());
        let mut new = Vec::new();
        for (at, column) in own.into_iter().enumerate() {
            let found = inheritance.columns.iter().position(|known| known.definition.name == column.name);
            let Some(place) = found else {
                places.push(inheritance.columns.len() + new.len());
                new.push(column);
                continue;
            };
            if inheritance.partition {
                // It says more of a column, and declares none.
            } else if place == at {
                self.remark(format!("merging column \"{}\" with inherited definition", column.name));
            } else {
                let message = format!("moving and merging column \"{}\" with inherited definition", column.name);
                let detail = "User-specified column moved to the position of the inherited column.";
                self.notices.push(Error::new(Condition::SuccessfulCompletion, message).detail(detail));
            }
            let known = &mut inheritance.columns[place];
            if known.definition.ty != column.ty {
                return Err(type_conflict(format!("column \"{}\"", column.name), &known.definition.ty, &column.ty));
            }
            let [one, other] = [&known.definition, &column]
                .map(|column| column.collation.clone().or_else(|| Collation::of_type(&column.ty).cloned()));
            if let (false, Some(one), Some(other)) = (inheritance.partition, &one, &other)
                && one != other
            {
                let message = format!("column \"{}\" has a collation conflict", column.name);
                return Err(Error::new(Condition::CollationMismatch, message)
                    .detail(format!("\"{}\" versus \"{}\"", one.name, other.name)));
            }
            let not_null = known.definition.not_null || column.not_null;
            known.definition = ColumnDefinition { not_null, ..column };
            known.declared = !inheritance.partition;
            places.push(place);
        }
        let computed = |column: &Inherited| {
            let (parent, at) = column.sources[0];
            inheritance.parents[parent].columns[at].generated.is_some()
        };
        let computed = inheritance.columns.iter().filter(|column| computed(column));
        draft.generated.extend(computed.map(|column| column.definition.name.clone()));
        draft.columns = inheritance.columns.iter().map(|column| column.definition.clone()).chain(new).collect();
        Ok(places)
    }

    /// Defaults and generated columns of parents, where the table says nothing else.
    pub(super) fn inherited_expressions(
        &mut self,
        inheritance: &Inheritance,
        definitions: &[(usize, &pg::ColumnDef)],
        draft: &mut Draft,
    ) -> Result<()> {
        for (place, column) in inheritance.columns.iter().enumerate() {
            let says = |wanted: ConstrType| {
                let own = definitions.iter().filter(|(position, _)| *position == place);
                own.flat_map(|(_, own)| &own.constraints)
                    .any(|node| matches!(&node.node, Some(N::Constraint(own)) if own.contype() == wanted))
            };
            let name = &column.definition.name;
            let (number, at) = column.sources[0];
            let computed = inheritance.parents[number].columns[at].generated.is_some();
            if computed {
                check_computed(name, &says, draft.columns[place].sequence.is_some())?;
            } else if says(ConstrType::ConstrGenerated)
                || says(ConstrType::ConstrDefault)
                || draft.columns[place].sequence.is_some()
            {
                continue;
            }
            let ty = column.definition.ty.clone();
            let mut found: Option<Text> = None;
            for (number, at) in &column.sources {
                let parent = inheritance.parents[*number].clone();
                let source = &parent.columns[*at];
                let text = if computed {
                    let Some(generated) = &source.generated else { continue };
                    self.copied_text(&parent, &generated.text, draft, Clause::Generated, Some((name, &ty)))?
                } else {
                    let Some(default) = source.default.as_ref().filter(|_| source.identity.is_none()) else { continue };
                    self.copied_text(&parent, &default.text, draft, Clause::Default, Some((name, &ty)))?
                };
                match &found {
                    Some(known) if known.expr != text.expr => return Err(conflicting(name, computed)),
                    Some(_) => {}
                    None => found = Some(text),
                }
            }
            if computed {
                draft.columns[place].generated = found;
            } else {
                draft.columns[place].default = found;
            }
        }
        Ok(())
    }

    /// The parents' checks.
    pub(super) fn inherited_checks(&mut self, inheritance: &Inheritance, draft: &mut Draft) -> Result<()> {
        for parent in &inheritance.parents {
            for check in parent.checks.iter().filter(|check| !check.no_inherit) {
                let text = self.copied_text(parent, &check.text, draft, Clause::Check, None)?;
                if let Some(known) = draft_check(draft, &check.name) {
                    if known.expr != text.expr {
                        let message = format!(
                            "check constraint name \"{}\" appears multiple times but with different expressions",
                            check.name
                        );
                        return Err(Error::new(Condition::DuplicateObject, message));
                    }
                    continue;
                }
                draft.taken.push(check.name.clone());
                draft.inherited.push(check.name.clone());
                draft.constraints.push(Constraint {
                    name: check.name.clone(),
                    named: true,
                    kind: ConstraintKind::Check(text),
                    options: ConstraintOptions::default(),
                });
            }
        }
        Ok(())
    }

    /// A check of the table's own under the name of one that a parent has given: the same, or an error.
    pub(super) fn merge_declared_check(
        &mut self,
        name: &str,
        text: &Text,
        options: ConstraintOptions,
        draft: &mut Draft,
    ) -> Result<()> {
        let same = draft_check(draft, name).is_some_and(|known| known.expr == text.expr);
        if !same {
            return Err(already_there(name, &draft.name.name));
        }
        if options.no_inherit {
            let message = format!(
                "constraint \"{name}\" conflicts with inherited constraint on relation \"{}\"",
                draft.name.name
            );
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        self.remark(format!("merging constraint \"{name}\" with inherited definition"));
        draft.inherited.retain(|known| known != name);
        Ok(())
    }
}

/// A partitioned table has partitions and no other children, a partition none at all.
pub(super) fn check_plain_parent(parent: &Relation) -> Result<()> {
    let what = match (parent.is_partitioned(), parent.bound()) {
        (true, _) => "partitioned table",
        (false, Some(_)) => "partition",
        (false, None) => return Ok(()),
    };
    let message = format!("cannot inherit from {what} \"{}\"", parent.name);
    Err(Error::new(Condition::WrongObjectType, message))
}

/// A constraint's name is taken.
pub(super) fn already_there(name: &str, table: &str) -> Error {
    let message = format!("constraint \"{name}\" for relation \"{table}\" already exists");
    Error::new(Condition::DuplicateObject, message)
}

fn draft_check<'d>(draft: &'d Draft, name: &str) -> Option<&'d Text> {
    draft.constraints.iter().find_map(|known| match &known.kind {
        ConstraintKind::Check(text) if known.name == name => Some(text),
        _ => None,
    })
}

/// A parent computes the column: the table itself has nothing to say.
fn check_computed(name: &str, says: &dyn Fn(ConstrType) -> bool, numbered: bool) -> Result<()> {
    let refused = |message: String| Error::new(Condition::InvalidColumnDefinition, message);
    if says(ConstrType::ConstrGenerated) {
        return Err(refused(format!("child column \"{name}\" specifies generation expression")).hint(
            "Omit the generation expression in the definition of the child table column to inherit the generation \
             expression from the parent table.",
        ));
    }
    if says(ConstrType::ConstrIdentity) {
        return Err(refused(format!("column \"{name}\" inherits from generated column but specifies identity")));
    }
    if says(ConstrType::ConstrDefault) || numbered {
        return Err(refused(format!("column \"{name}\" inherits from generated column but specifies default")));
    }
    Ok(())
}

fn conflicting(name: &str, computed: bool) -> Error {
    let what = if computed { "generation expressions" } else { "default values" };
    let error =
        Error::new(Condition::InvalidColumnDefinition, format!("column \"{name}\" inherits conflicting {what}"));
    if computed { error } else { error.hint("To resolve the conflict, specify a default explicitly.") }
}
