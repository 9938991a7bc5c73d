//! The columns that the actions of one ALTER TABLE mean.
//!
//! An action says columns by their positions in the table as the statement found it, with those that earlier actions
//! add behind them. Earlier actions may have dropped columns meanwhile, so each action is brought to the table as it
//! then is, by the columns' names.

use rowferry_dialect::ir::{AlterTable, ColumnIndex, Constraint, ConstraintKind, Expr, ExprKind, Part, walk};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Result};

/// The names that positions stand for.
pub(super) struct Positions {
    names: Vec<String>,
    table: String,
}

impl Positions {
    /// Those of a table before the first action.
    pub fn of(table: &Relation) -> Self {
        Self { names: table.columns.iter().map(|column| column.name.clone()).collect(), table: table.name.clone() }
    }

    /// An action for the table as it is now; `None` when the column that it drops went with an earlier one.
    pub fn bring(&mut self, action: &AlterTable, now: &Relation) -> Result<Option<AlterTable>> {
        let mut action = action.clone();
        match &mut action {
            AlterTable::DropColumn { column, .. } => match self.names.get(*column).and_then(|name| exact(now, name)) {
                Some(place) => *column = place,
                None => return Ok(None),
            },
            AlterTable::MoveColumn { column, before } => {
                *column = self.place(*column, now, None)?;
                *before = self.place(*before, now, None)?;
            }
            AlterTable::RenameColumn { column, .. }
            | AlterTable::AddIdentity { column, .. }
            | AlterTable::SetIdentity { column, .. }
            | AlterTable::DropIdentity { column }
            | AlterTable::SetNotNull { column, .. }
            | AlterTable::DropExpression { column }
            | AlterTable::SetDefault { column, .. } => *column = self.place(*column, now, None)?,
            AlterTable::SetType { column, using, .. } => {
                *column = self.place(*column, now, None)?;
                self.place_in(using, now, None)?;
            }
            AlterTable::AddConstraint(constraint) | AlterTable::AddKeyUsing { constraint, .. } => {
                self.place_constraint(constraint, now, None)?;
            }
            AlterTable::AddColumn { column, constraints, .. } => {
                self.names.push(column.name.clone());
                let own = Some(column.name.clone());
                if let Some(generated) = &mut column.generated {
                    self.place_in(&mut generated.expr, now, own.as_deref())?;
                }
                for constraint in constraints {
                    self.place_constraint(constraint, now, own.as_deref())?;
                }
            }
            AlterTable::SetProperty { part: Part::Column(column), .. } => *column = self.place(*column, now, None)?,
            AlterTable::SetTriggers { .. }
            | AlterTable::SetRule { .. }
            | AlterTable::RenameTable(_)
            | AlterTable::RenameConstraint { .. }
            | AlterTable::DropConstraint { .. }
            | AlterTable::ValidateConstraint(_)
            | AlterTable::DeferConstraint { .. }
            | AlterTable::SetProperty { .. }
            | AlterTable::SetSchema(_) => {}
        }
        Ok(Some(action))
    }

    /// Where a column stands now; the one that is being added stands behind all others.
    fn place(&self, position: usize, now: &Relation, added: Option<&str>) -> Result<usize> {
        let Some(name) = self.names.get(position) else { return Err(Error::internal("a column that nobody has")) };
        exact(now, name).or_else(|| (added == Some(name)).then_some(now.columns.len())).ok_or_else(|| {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", self.table);
            Error::new(Condition::UndefinedColumn, message)
        })
    }

    fn place_in(&self, expr: &mut Expr, now: &Relation, added: Option<&str>) -> Result<()> {
        let mut result = Ok(());
        walk::expr_mut(expr, &mut |part| {
            if let ExprKind::Column(reference) = &mut part.kind
                && reference.relation == rowferry_dialect::ir::Text::TABLE
                && let ColumnIndex::At(position) = &mut reference.column
            {
                match self.place(*position, now, added) {
                    Ok(place) => *position = place,
                    Err(error) => result = Err(error),
                }
            }
            true
        });
        result
    }

    fn place_constraint(&self, constraint: &mut Constraint, now: &Relation, added: Option<&str>) -> Result<()> {
        match &mut constraint.kind {
            ConstraintKind::PrimaryKey(columns)
            | ConstraintKind::Unique(columns)
            | ConstraintKind::UniqueNullsAlike(columns)
            | ConstraintKind::DeferrableUnique { columns, .. } => {
                columns.iter_mut().try_for_each(|column| self.place(*column, now, added).map(|place| *column = place))
            }
            ConstraintKind::ForeignKey(key) => {
                let mut all = key.columns.iter_mut().chain(&mut key.set_columns);
                all.try_for_each(|column| self.place(*column, now, added).map(|place| *column = place))
            }
            ConstraintKind::Exclusion(exclusion) => {
                let keys = exclusion.keys.iter_mut().map(|key| &mut key.key);
                keys.chain(&mut exclusion.predicate).try_for_each(|text| self.place_in(&mut text.expr, now, added))
            }
            ConstraintKind::Check(check) => self.place_in(&mut check.expr, now, added),
        }
    }
}

/// The position of the column with exactly this name.
fn exact(table: &Relation, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.name == name)
}
