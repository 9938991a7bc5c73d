//! CREATE TABLE (LIKE …): a table's columns, and what of it INCLUDING asks for, as the new table's own.

use pg_query::protobuf as pg;

use super::super::binder::{Binder, Clause};
use super::table::Draft;
use crate::bind::names::Unnamed;
use crate::ir::{
    ColumnDefinition, Constraint, ConstraintKind, ConstraintOptions, CreateSequence, IdentityDefinition, Like, Text,
};
use crate::schema::{QualifiedName, Relation, RelationKind};
use crate::{Condition, Error, Result, Type};

/// INCLUDING's bits, as the parser numbers them.
mod including {
    pub const COMMENTS: u32 = 1 << 0;
    pub const COMPRESSION: u32 = 1 << 1;
    pub const CONSTRAINTS: u32 = 1 << 2;
    pub const DEFAULTS: u32 = 1 << 3;
    pub const GENERATED: u32 = 1 << 4;
    pub const IDENTITY: u32 = 1 << 5;
    pub const INDEXES: u32 = 1 << 6;
    pub const STORAGE: u32 = 1 << 8;
}

/// A LIKE clause on its way.
pub(super) struct Liked {
    /// What the engine copies.
    pub(super) copied: Like,
    options: u32,
    /// Where the copied columns stand.
    places: Vec<usize>,
}

impl Liked {
    fn includes(&self, option: u32) -> bool {
        self.options & option != 0
    }

    /// The columns have moved: each to the place that stands where it stood.
    pub(super) fn move_to(&mut self, places: &[usize]) {
        self.places.iter_mut().for_each(|place| *place = places[*place]);
    }
}

impl Binder<'_> {
    /// Adds the columns, their types and NOT NULL.
    pub(super) fn like_columns(&mut self, like: &pg::TableLikeClause, draft: &mut Draft) -> Result<Liked> {
        let Some(range) = &like.relation else { return Err(Error::internal("LIKE without a table")) };
        let name = super::properties::name_of(range);
        let known = self.schema.relation(&name);
        let is_index = known.is_none() && self.schema.index(&name).is_some();
        let is_sequence = known.is_some_and(|known| matches!(known.kind, RelationKind::Sequence { .. }));
        if is_index || is_sequence {
            let kind = if is_index { "indexes" } else { "sequences" };
            let message = format!("relation \"{}\" is invalid in LIKE clause", name.name);
            return Err(self
                .error(Condition::WrongObjectType, message, range.location)
                .detail(format!("This operation is not supported for {kind}.")));
        }
        let source = self.relation(range)?;
        let has = |option: u32| like.options & option != 0;
        let first = draft.columns.len();
        for column in &source.columns {
            if draft.columns.iter().any(|known| known.name == column.name) {
                let message = format!("column \"{}\" specified more than once", column.name);
                return Err(Error::new(Condition::DuplicateColumn, message));
            }
            // An identity of its own, whose sequence gets a name of its own.
            let copied = column.identity.as_ref().filter(|_| has(including::IDENTITY));
            let sequence = copied.and_then(|identity| {
                let name = identity.sequence.as_ref()?;
                let definition = self.schema.sequence_definition(name)?;
                Some(CreateSequence { name: QualifiedName::bare(""), ..definition })
            });
            let identity = copied.map(|identity| IdentityDefinition {
                always: identity.always,
                zero_is_next: identity.zero_is_next,
                start: sequence.as_ref().map_or(1, |sequence| sequence.start),
                increment: sequence.as_ref().map_or(1, |sequence| sequence.increment),
            });
            draft.columns.push(ColumnDefinition {
                name: column.name.clone(),
                ty: super::super::types::import(&column.ty),
                not_null: column.not_null,
                default: None,
                identity,
                sequence,
                generated: None,
                collation: column.collation.clone(),
            });
        }
        let mut properties = Vec::new();
        if has(including::STORAGE) {
            properties.push("storage");
        }
        if has(including::COMPRESSION) {
            properties.push("compression");
        }
        let copied = Like { comments: has(including::COMMENTS), indexes: has(including::INDEXES), properties, source };
        Ok(Liked { copied, options: like.options, places: (first..draft.columns.len()).collect() })
    }

    /// Defaults and generated columns; all columns are known now.
    pub(super) fn like_expressions(&mut self, like: &Liked, draft: &mut Draft) -> Result<()> {
        let source = &like.copied.source;
        for (at, column) in source.columns.iter().enumerate() {
            let place = like.places[at];
            let ty = draft.columns[place].ty.clone();
            let default = column.default.as_ref().filter(|_| column.identity.is_none());
            if let Some(default) = default.filter(|_| like.includes(including::DEFAULTS)) {
                let text =
                    self.copied_text(source, &default.text, draft, Clause::Default, Some((&column.name, &ty)))?;
                draft.columns[place].default = Some(text);
            }
            if let Some(generated) = column.generated.as_ref().filter(|_| like.includes(including::GENERATED)) {
                let text =
                    self.copied_text(source, &generated.text, draft, Clause::Generated, Some((&column.name, &ty)))?;
                draft.columns[place].generated = Some(text);
            }
        }
        Ok(())
    }

    /// Checks under their own names, keys under new ones.
    pub(super) fn like_constraints(&mut self, like: &Liked, draft: &mut Draft) -> Result<()> {
        let source = &like.copied.source;
        if !matches!(source.kind, RelationKind::Table) {
            return Ok(());
        }
        for check in source.checks.iter().filter(|_| like.includes(including::CONSTRAINTS)) {
            let text = self.copied_text(source, &check.text, draft, Clause::Check, None)?;
            let options = ConstraintOptions { not_valid: false, no_inherit: check.no_inherit };
            if draft.inherited.contains(&check.name) {
                self.merge_declared_check(&check.name, &text, options, draft)?;
                continue;
            }
            if draft.taken.contains(&check.name) {
                let message = format!("check constraint \"{}\" already exists", check.name);
                return Err(Error::new(Condition::DuplicateObject, message));
            }
            let (name, named) = draft.constraint_name(&check.name, &[], Unnamed::Check);
            draft.constraints.push(Constraint { name, named, kind: ConstraintKind::Check(text), options });
        }
        for index in source
            .indexes
            .iter()
            .filter(|index| index.constraint && index.exclusion.is_none() && like.includes(including::INDEXES))
        {
            let columns: Vec<usize> = index.columns.iter().flatten().map(|column| like.places[*column]).collect();
            if index.primary && draft.constraints.iter().any(|known| known.kind.primary_key().is_some()) {
                let message = format!("multiple primary keys for table \"{}\" are not allowed", draft.name.name);
                return Err(Error::new(Condition::InvalidTableDefinition, message));
            }
            let kind = ConstraintKind::of_index(index, columns.clone());
            let names: Vec<String> = columns.iter().map(|at| draft.columns[*at].name.clone()).collect();
            let what = if index.primary { Unnamed::PrimaryKey } else { Unnamed::Unique };
            let (name, named) = draft.constraint_name("", &names, what);
            draft.constraints.push(Constraint { name, named, kind, options: ConstraintOptions::default() });
        }
        Ok(())
    }

    /// An expression of the other table, over the new one's columns.
    pub(super) fn copied_text(
        &mut self,
        source: &Relation,
        text: &str,
        draft: &Draft,
        clause: Clause,
        ty: Option<(&str, &Type)>,
    ) -> Result<Text> {
        let entries = if matches!(clause, Clause::Default) { Vec::new() } else { vec![draft.entry()] };
        let expr = self.stored(text, source.language, entries, clause)?;
        let mut expr = match ty {
            Some((column, ty)) => self.assign(expr, column, ty, -1)?,
            None => self.condition(expr, "CHECK", -1)?,
        };
        self.derive_collations_over(&mut expr, &draft.columns)?;
        Ok(Text { text: text.to_owned(), expr })
    }
}
