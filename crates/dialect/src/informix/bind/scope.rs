//! The relations that names can mean.

use std::sync::Arc;

use crate::bind::scope::Shown;
use crate::ir::{Expr, RelId};
use crate::plan::ResultColumn;
use crate::schema::Relation;

/// The relations of one FROM clause.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub relations: Vec<Visible>,
    /// What LEVEL is here.
    pub level: Option<Expr>,
    /// Where what stands behind PRIOR is found.
    pub prior: Option<Box<Scope>>,
    /// The number of the hierarchical query whose rows these are.
    pub hierarchy: Option<usize>,
}

/// A relation in scope.
#[derive(Clone, Debug)]
pub(super) struct Visible {
    pub id: RelId,
    /// Alias, or the table's name.
    pub name: String,
    pub columns: Vec<ResultColumn>,
    /// The table behind it, for `rowid`.
    pub relation: Option<Arc<Relation>>,
    /// The relation that is read when a column of this one is: of a hierarchical query, its own source.
    pub behind: RelId,
}

impl Shown for Visible {
    fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }
}

impl Scope {
    /// A scope of one table.
    pub fn of_table(id: RelId, table: &Relation) -> Self {
        Self { relations: vec![Visible::of_table(id, table.name.clone(), table, None)], ..Self::default() }
    }
}

impl Visible {
    pub fn of_table(id: RelId, name: String, table: &Relation, relation: Option<Arc<Relation>>) -> Self {
        let columns = table
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| ResultColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                not_null: column.not_null,
                identity: column.identity.is_some(),
                origin: Some((table.oid, at)),
                listed: None,
            })
            .collect();
        Self { id, name, columns, relation, behind: id }
    }
}
