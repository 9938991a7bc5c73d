//! Keys and checks of a table under definition.

use pg_query::protobuf::{self as pg, ConstrType, Node, node::Node as N};

use super::super::binder::{Binder, Clause};
use super::super::names;
use super::table::Draft;
use crate::bind::names::Unnamed;
use crate::ir::{Constraint, ConstraintKind, ConstraintOptions};
use crate::schema::QualifiedName;
use crate::{Condition, Result};

impl Binder<'_> {
    /// PRIMARY KEY, UNIQUE, CHECK and REFERENCES written at a column.
    pub(super) fn column_constraints(
        &mut self,
        column: &pg::ColumnDef,
        position: usize,
        draft: &mut Draft,
    ) -> Result<()> {
        for (index, node) in column.constraints.iter().enumerate() {
            let Some(N::Constraint(constraint)) = &node.node else { continue };
            // DEFERRABLE and INITIALLY DEFERRED stand behind the constraint that they belong to.
            let mut constraint = (**constraint).clone();
            for node in &column.constraints[index + 1..] {
                let Some(N::Constraint(attribute)) = &node.node else { continue };
                match attribute.contype() {
                    ConstrType::ConstrAttrDeferrable => constraint.deferrable = true,
                    ConstrType::ConstrAttrDeferred => constraint.initdeferred = true,
                    ConstrType::ConstrAttrNotDeferrable | ConstrType::ConstrAttrImmediate => {}
                    _ => break,
                }
            }
            let kind = constraint.contype();
            self.constraint_clauses(&constraint)?;
            match kind {
                ConstrType::ConstrPrimary | ConstrType::ConstrUnique => {
                    self.key_constraint(&constraint, vec![position], draft)?;
                }
                ConstrType::ConstrCheck => self.check_constraint(&constraint, draft)?,
                ConstrType::ConstrForeign => self.foreign_key(&constraint, Some(position), draft)?,
                ConstrType::ConstrExclusion => {
                    return Err(self.unsupported("EXCLUDE", constraint.location));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn table_constraint(&mut self, constraint: &pg::Constraint, draft: &mut Draft) -> Result<()> {
        self.constraint_clauses(constraint)?;
        match constraint.contype() {
            ConstrType::ConstrPrimary | ConstrType::ConstrUnique => {
                if !constraint.indexname.is_empty() {
                    return self.key_using_index(constraint, draft);
                }
                let columns = self.draft_columns(&constraint.keys, draft, constraint.location)?;
                self.key_constraint(constraint, columns, draft)
            }
            ConstrType::ConstrCheck => self.check_constraint(constraint, draft),
            ConstrType::ConstrForeign => self.foreign_key(constraint, None, draft),
            ConstrType::ConstrNotnull => {
                for position in self.draft_columns(&constraint.keys, draft, constraint.location)? {
                    draft.columns[position].not_null = true;
                }
                Ok(())
            }
            ConstrType::ConstrExclusion => self.exclusion_constraint(constraint, draft),
            _ => Err(self.unsupported("this constraint", constraint.location)),
        }
    }

    fn draft_columns(&self, nodes: &[Node], draft: &Draft, place: i32) -> Result<Vec<usize>> {
        let mut positions = Vec::with_capacity(nodes.len());
        for name in names::strings(nodes) {
            let Some(position) = draft.columns.iter().position(|column| column.name == name) else {
                return Err(self.error(
                    Condition::UndefinedColumn,
                    format!("column \"{name}\" named in key does not exist"),
                    place,
                ));
            };
            if positions.contains(&position) {
                return Err(self.error(
                    Condition::DuplicateColumn,
                    format!("column \"{name}\" appears twice in unique constraint"),
                    place,
                ));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// A key that an index stands for already.
    fn key_using_index(&mut self, constraint: &pg::Constraint, draft: &mut Draft) -> Result<()> {
        let (name, place) = (&constraint.indexname, constraint.location);
        let found = self.schema.index(&QualifiedName { schema: draft.name.schema.clone(), name: name.clone() });
        let Some((table, at)) = found else {
            return Err(self.error(Condition::UndefinedObject, format!("index \"{name}\" does not exist"), place));
        };
        let index = &table.indexes[at];
        let state = |message: String| self.error(Condition::ObjectNotInPrerequisiteState, message, place);
        if index.constraint {
            return Err(state(format!("index \"{name}\" is already associated with a constraint")));
        }
        if table.name != draft.name.name {
            return Err(state(format!("index \"{name}\" does not belong to table \"{}\"", draft.name.name)));
        }
        if index.nulls_alike {
            return Err(self.unsupported("a key USING an INDEX that is NULLS NOT DISTINCT", place));
        }
        let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
        let wrong = if !index.unique {
            Some(format!("\"{name}\" is not a unique index"))
        } else if columns.is_none() {
            Some(format!("index \"{name}\" contains expressions"))
        } else if index.predicate.is_some() {
            Some(format!("\"{name}\" is a partial index"))
        } else {
            let sorted = index.keys.iter().position(|key| key.descending);
            sorted.map(|at| format!("index \"{name}\" column number {} does not have default sorting behavior", at + 1))
        };
        if let Some(message) = wrong {
            return Err(self
                .error(Condition::WrongObjectType, message, place)
                .detail("Cannot create a primary key or unique constraint using such an index."));
        }
        let columns = columns.unwrap_or_default();
        let primary = constraint.contype() == ConstrType::ConstrPrimary;
        if primary {
            if draft.constraints.iter().any(|known| known.kind.primary_key().is_some()) {
                let message = format!("multiple primary keys for table \"{}\" are not allowed", draft.name.name);
                return Err(self.error(Condition::InvalidTableDefinition, message, place));
            }
            columns.iter().for_each(|column| draft.columns[*column].not_null = true);
        }
        let kind = key_kind(constraint, columns);
        let named = !constraint.conname.is_empty();
        let key = if named { constraint.conname.clone() } else { name.clone() };
        if key != *name {
            self.remark(format!("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{name}\" to \"{key}\""));
        }
        draft.taken.push(key.clone());
        draft.constraints.push(Constraint { name: key, named, kind, options: Default::default() });
        draft.using_index = Some(name.clone());
        Ok(())
    }

    fn key_constraint(&mut self, constraint: &pg::Constraint, columns: Vec<usize>, draft: &mut Draft) -> Result<()> {
        let deferrable = constraint.deferrable || constraint.initdeferred;
        let nulls_alike = constraint.nulls_not_distinct;
        if nulls_alike && deferrable {
            return Err(self.unsupported("NULLS NOT DISTINCT and DEFERRABLE", constraint.location));
        }
        if nulls_alike && columns.iter().any(|at| draft.columns[*at].collation.is_some()) {
            return Err(self.unsupported("NULLS NOT DISTINCT of a column with a collation", constraint.location));
        }
        if constraint.without_overlaps {
            return Err(self.unsupported("WITHOUT OVERLAPS", constraint.location));
        }
        let mut included = Vec::new();
        for position in self.draft_columns(&constraint.including, draft, constraint.location)? {
            included.push(draft.columns[position].name.clone());
        }
        for position in &columns {
            super::index::check_key_type(&draft.columns[*position].ty, "")?;
        }
        if constraint.contype() == ConstrType::ConstrPrimary {
            if draft.constraints.iter().any(|known| known.kind.primary_key().is_some()) {
                return Err(self.error(
                    Condition::InvalidTableDefinition,
                    format!("multiple primary keys for table \"{}\" are not allowed", draft.name.name),
                    constraint.location,
                ));
            }
            for position in &columns {
                draft.columns[*position].not_null = true;
                self.check_unique_rows(&draft.columns[*position].ty)?;
            }
            let (name, named) = draft.constraint_name(&constraint.conname, &[], Unnamed::PrimaryKey);
            draft.constraints.push(Constraint {
                name,
                named,
                kind: key_kind(constraint, columns),
                options: Default::default(),
            });
        } else {
            columns.iter().try_for_each(|position| self.check_unique_rows(&draft.columns[*position].ty))?;
            let keys = columns.iter().map(|position| draft.columns[*position].name.clone());
            let words: Vec<String> = keys.chain(included.iter().cloned()).collect();
            let (name, named) = draft.constraint_name(&constraint.conname, &words, Unnamed::Unique);
            draft.constraints.push(Constraint {
                name,
                named,
                kind: key_kind(constraint, columns),
                options: Default::default(),
            });
        }
        if let (Some((name, value)), Some(made)) = (super::index::list_property(&included), draft.constraints.last()) {
            draft.properties.push((made.name.clone(), name, value));
        }
        Ok(())
    }

    fn check_constraint(&mut self, constraint: &pg::Constraint, draft: &mut Draft) -> Result<()> {
        let Some(node) = constraint.raw_expr.as_deref() else {
            return Err(crate::Error::internal("a check without a condition"));
        };
        let mut text = self.definition(node, vec![draft.entry()], Clause::Check, None)?;
        text.expr = self.condition(text.expr, "CHECK", super::super::expr::location(node))?;
        self.derive_collations_over(&mut text.expr, &draft.columns)?;
        let mut used = std::collections::BTreeSet::new();
        let mut subquery = false;
        crate::ir::walk::expr(&text.expr, &mut |part| {
            match &part.kind {
                crate::ir::ExprKind::Column(column) => {
                    if let crate::ir::ColumnIndex::At(at) = column.column {
                        used.insert(at);
                    }
                }
                kind => subquery |= kind.query().is_some(),
            }
            true
        });
        if subquery {
            return Err(self.error(
                Condition::FeatureNotSupported,
                "cannot use subquery in check constraint",
                constraint.location,
            ));
        }
        let options = ConstraintOptions { not_valid: constraint.skip_validation, no_inherit: constraint.is_no_inherit };
        if draft.inherited.contains(&constraint.conname) {
            return self.merge_declared_check(&constraint.conname, &text, options, draft);
        }
        // PostgreSQL names a check after the column that it asks when that is just one, wherever the check stands.
        let words = match used.len() {
            1 => used.iter().map(|position| draft.columns[*position].name.clone()).collect(),
            _ => Vec::new(),
        };
        let (name, named) = draft.constraint_name(&constraint.conname, &words, Unnamed::Check);
        draft.constraints.push(Constraint { name, named, kind: ConstraintKind::Check(text), options });
        Ok(())
    }
}

/// What PRIMARY KEY and UNIQUE demand.
fn key_kind(constraint: &pg::Constraint, columns: Vec<usize>) -> ConstraintKind {
    let primary = constraint.contype() == ConstrType::ConstrPrimary;
    if constraint.deferrable || constraint.initdeferred {
        return ConstraintKind::DeferrableUnique { columns, deferred: constraint.initdeferred, primary };
    }
    match (primary, constraint.nulls_not_distinct) {
        (true, _) => ConstraintKind::PrimaryKey(columns),
        (false, true) => ConstraintKind::UniqueNullsAlike(columns),
        (false, false) => ConstraintKind::Unique(columns),
    }
}
