//! Rows that are written to a partitioned table, or to a partition: where each of them goes.
//!
//! The front end says by what rows are parted, as expressions over the changed table's columns. A change taken apart has them
//! as values of its query; whoever runs it looks for each row's leaf in the tree and does there what is to be done.

use std::sync::Arc;

use super::build::same_row;
use super::{ColumnIndex, ColumnRef, Dml, DmlAction, Expr, ExprKind, Guards, Heir, InsertSource, RelId, family, walk};
use crate::partition::Tree;
use crate::schema::{Column, Relation};
use crate::{Error, Result};

/// Where rows go.
#[derive(Clone, Debug, PartialEq)]
pub struct Routing {
    /// The partitions of the changed table, and what the tables above it ask.
    pub tree: Arc<Tree>,
    /// Its leaves, by their numbers in the tree; itself, where it is no partitioned table.
    pub members: Vec<Arc<Relation>>,
    /// The keys of all levels, over the row that is to be written.
    pub keys: Vec<Expr>,
    /// The row that is to be written: a value for each of the changed table's columns.
    pub row: Vec<Expr>,
    /// What is done where an UPDATE takes a row to another leaf: the INSERT there.
    pub moved: Option<Box<Dml>>,
}

impl Routing {
    /// A routing of which nobody has told the values yet.
    pub fn new(tree: Arc<Tree>, members: Vec<Arc<Relation>>, keys: Vec<Expr>) -> Self {
        Self { tree, members, keys, row: Vec::new(), moved: None }
    }

    /// Tells the values of the row that is to be written, by column, and has them brought to where they are asked for.
    pub fn bring(&mut self, id: RelId, value: &dyn Fn(usize) -> Expr, add: &mut dyn FnMut(Expr) -> Expr) {
        self.row = (0..self.tree.head.columns.len()).map(|at| add(value(at))).collect();
        for key in &mut self.keys {
            walk::expr_mut(key, &mut |part| match part.kind {
                ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if relation == id => {
                    let ty = part.ty.clone();
                    *part = value(at);
                    part.ty = ty;
                    false
                }
                _ => true,
            });
            *key = add(key.clone());
        }
    }

    /// The INSERT that takes up what an UPDATE has taken away: the row stands behind so many values of the query of rows.
    pub fn with_moved(mut self, dml: &Dml, behind: usize) -> Self {
        let columns = self.tree.head.columns.iter().enumerate();
        let value = |at: usize, column: &Column| Expr::new(ExprKind::Param(behind + at), column.ty.clone());
        let (columns, values) = columns
            .filter(|(_, column)| column.generated.is_none())
            .map(|(at, column)| (at, value(at, column)))
            .unzip();
        let source = InsertSource::Values(vec![values]);
        let action = DmlAction::Insert { columns, source, on_conflict: None };
        let heir = Some(Heir { head: self.tree.head.clone(), moves: true });
        // It is asked what the row that is updated would be.
        let guards = dml.guards.as_ref().map(|guards| {
            let (table, inserted) = (guards.table.clone(), guards.updated.clone());
            Box::new(Guards { table, inserted, ..Guards::default() })
        });
        self.moved = Some(Box::new(Dml { action, routing: None, family: None, heir, guards, ..dml.clone() }));
        self
    }
}

/// What is done in a leaf, for a statement of one row over the head.
///
/// # Errors
/// Internal ones: the leaf lacks a column.
pub fn in_leaf(dml: &Dml, leaf: &Arc<Relation>) -> Result<Dml> {
    let mut own = family::for_member(dml, leaf)?;
    own.routing = None;
    Ok(own)
}

/// The statement that takes a row away from a leaf.
///
/// # Errors
/// Internal ones: the leaf lacks a column.
pub fn from_leaf(dml: &Dml, leaf: &Arc<Relation>) -> Result<Dml> {
    let action = DmlAction::Delete { using: None, filter: Some(same_row(dml.id)), current_of: None };
    let (returning, columns, checks) = (Vec::new(), Vec::new(), Vec::new());
    // What MERGE asks of the row that it has met is asked of the row that goes.
    let met = dml.guards.as_ref().filter(|guards| !guards.met.is_empty());
    let guards = met.map(|guards| {
        Box::new(Guards { table: guards.table.clone(), deleted: guards.met.clone(), ..Guards::default() })
    });
    let mut own = Dml { action, returning, columns, checks, guards, ..dml.clone() };
    own.target = leaf.clone();
    let head = match (dml.heir.as_ref(), &own.routing) {
        (Some(heir), _) => heir.head.clone(),
        (None, Some(routing)) => routing.tree.head.clone(),
        (None, None) => return Err(Error::internal("a row that leaves a table without partitions")),
    };
    own.routing = None;
    own.heir = Some(Heir { head, moves: true });
    Ok(own)
}
