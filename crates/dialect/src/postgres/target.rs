//! The table that INSERT, UPDATE or DELETE changes: named itself, or through a view whose rows are one table's.
//!
//! A view is changed as PostgreSQL does it by itself: the statement is bound to the table behind the view, the view's
//! columns standing for their expressions and its condition joining the statement's own.

use std::sync::Arc;

use pg_query::protobuf as pg;

use super::binder::{Binder, Entry};
use crate::ir::{Body, ColumnIndex, ColumnRef, Distinct, Expr, ExprKind, From, GroupBy, Query, RelId, Select, walk};
use crate::schema::{Relation, RelationKind};
use crate::{Condition, Error, Result};

/// What a statement does to its table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Change {
    Insert,
    Update,
    Delete,
}

impl Change {
    const fn words(self) -> &'static str {
        match self {
            Self::Insert => "insert into",
            Self::Update => "update",
            Self::Delete => "delete from",
        }
    }

    /// What PostgreSQL suggests where a view cannot be changed by itself.
    const fn hint(self) -> &'static str {
        match self {
            Self::Insert => {
                "To enable inserting into the view, provide an INSTEAD OF INSERT trigger or an unconditional ON INSERT DO \
                 INSTEAD rule."
            }
            Self::Update => {
                "To enable updating the view, provide an INSTEAD OF UPDATE trigger or an unconditional ON UPDATE DO \
                 INSTEAD rule."
            }
            Self::Delete => {
                "To enable deleting from the view, provide an INSTEAD OF DELETE trigger or an unconditional ON DELETE DO \
                 INSTEAD rule."
            }
        }
    }
}

/// The table that a statement changes, and how the statement names its columns.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The table itself.
    pub(super) relation: Arc<Relation>,
    /// Its number in the statement.
    pub(super) id: RelId,
    /// The names in scope: the table's, or the view's.
    pub(super) entry: Entry,
    view: Option<View>,
}

/// The view through which a table is changed.
#[derive(Clone, Debug)]
struct View {
    relation: Arc<Relation>,
    /// For each of its columns the table's, if it is one.
    columns: Vec<Option<usize>>,
    filter: Option<Expr>,
}

impl Target {
    /// The table's columns in the order in which an INSERT without a list gives them.
    pub(super) fn in_order(&self) -> Vec<usize> {
        match &self.view {
            None => (0..self.relation.columns.len()).collect(),
            Some(view) => view.columns.iter().map_while(|column| *column).collect(),
        }
    }

    /// The statement's condition together with the view's.
    pub(super) fn filtered(&self, filter: Option<Expr>) -> Option<Expr> {
        let behind = self.view.as_ref().and_then(|view| view.filter.clone());
        both(behind, filter)
    }

    /// The statement goes through a view.
    pub(super) fn is_view(&self) -> bool {
        self.view.is_some()
    }

    /// The names of a row that is proposed for insertion, numbered `excluded`.
    pub(super) fn excluded(&self, excluded: RelId) -> Entry {
        let mut entry = match &self.view {
            None => Entry::of_relation(&self.relation, excluded, Some("excluded")),
            Some(_) => {
                let mut entry = self.entry.clone();
                entry.name = "excluded".to_owned();
                entry.schema = None;
                for column in &mut entry.columns {
                    walk::expr_mut(&mut column.expr, &mut |expr| {
                        if let ExprKind::Column(column) = &mut expr.kind
                            && column.relation == self.id
                        {
                            column.relation = excluded;
                        }
                        true
                    });
                }
                entry
            }
        };
        entry.unqualified = false;
        entry
    }
}

impl Binder<'_> {
    /// Finds the table that a statement changes.
    pub(super) fn target(&mut self, range: Option<&pg::RangeVar>, change: Change) -> Result<Target> {
        let Some(range) = range else { return Err(Error::internal("a statement without its table")) };
        let relation = self.relation(range)?;
        let alias = range.alias.as_ref().map(|alias| alias.aliasname.as_str());
        match &relation.kind {
            RelationKind::Table => {
                let id = self.ids.relation();
                let entry = Entry::of_relation(&relation, id, alias);
                Ok(Target { relation, id, entry, view: None })
            }
            RelationKind::View { .. } => self.view_target(relation, alias, change, range.location),
            RelationKind::NativeView => Err(self.error(
                Condition::ObjectNotInPrerequisiteState,
                format!("cannot {} view \"{}\"", change.words(), relation.name),
                range.location,
            )),
            RelationKind::Catalog => Err(self.error(
                Condition::InsufficientPrivilege,
                format!("permission denied: \"{}\" is a system catalog", relation.name),
                range.location,
            )),
        }
    }

    fn view_target(&mut self, view: Arc<Relation>, alias: Option<&str>, change: Change, place: i32) -> Result<Target> {
        let (from, mut entry) = self.table(&view, alias, place)?;
        let From::Query { query, .. } = from else { return Err(Error::internal("a view is a query")) };
        let rows = match rows_of_a_table(*query) {
            Ok(rows) if change == Change::Delete || rows.columns().any(|column| column.is_some()) => rows,
            Ok(_) => {
                return Err(not_updatable(
                    &view,
                    change,
                    "Views that have no updatable columns are not automatically updatable.",
                ));
            }
            Err(reason) => return Err(not_updatable(&view, change, reason)),
        };
        let columns = rows.columns().collect();
        for (column, expr) in entry.columns.iter_mut().zip(rows.items) {
            column.expr = expr;
        }
        let view = View { relation: view, columns, filter: rows.filter };
        Ok(Target { relation: rows.relation, id: rows.id, entry, view: Some(view) })
    }

    /// The table's column that a statement means by a name.
    pub(super) fn target_column(&self, target: &Target, name: &str, change: Change, place: i32) -> Result<usize> {
        let named = target.view.as_ref().map_or(&target.relation, |view| &view.relation);
        let position = named.column(name).ok_or_else(|| {
            self.error(
                Condition::UndefinedColumn,
                format!("column \"{name}\" of relation \"{}\" does not exist", named.name),
                place,
            )
        })?;
        let Some(view) = &target.view else { return Ok(position) };
        view.columns[position].ok_or_else(|| {
            Error::new(
                Condition::FeatureNotSupported,
                format!("cannot {} column \"{name}\" of view \"{}\"", change.words(), view.relation.name),
            )
            .detail("View columns that are not columns of their base relation are not updatable.")
        })
    }
}

fn not_updatable(view: &Relation, change: Change, reason: &str) -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, format!("cannot {} view \"{}\"", change.words(), view.name))
        .detail(reason)
        .hint(change.hint())
}

/// A view's rows, each of which is a row of one table.
struct Rows {
    relation: Arc<Relation>,
    id: RelId,
    items: Vec<Expr>,
    filter: Option<Expr>,
}

impl Rows {
    /// For each item the table's column that it is.
    fn columns(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.items.iter().map(|item| match item.kind {
            ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if relation == self.id => Some(at),
            _ => None,
        })
    }
}

/// A view's query as rows of one table, through views of views; else why it is not, in PostgreSQL's words.
fn rows_of_a_table(query: Query) -> std::result::Result<Rows, &'static str> {
    if !query.ctes.is_empty() {
        return Err("Views containing WITH are not automatically updatable.");
    }
    if query.limit.is_some() || query.offset.is_some() {
        return Err("Views containing LIMIT or OFFSET are not automatically updatable.");
    }
    let select = match query.body {
        Body::Select(select) => *select,
        Body::Set { .. } => {
            return Err("Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.");
        }
        Body::Values(_) => {
            return Err("Views that do not select from a single table or view are not automatically updatable.");
        }
    };
    check_select(&select)?;
    let Select { items, filter, from, .. } = select;
    match from {
        Some(From::Relation { id, relation }) if relation.kind == RelationKind::Table => {
            Ok(Rows { relation, id, items, filter })
        }
        Some(From::Query { id, query, lateral: false }) => {
            let mut rows = rows_of_a_table(*query)?;
            let resolve = |mut expr: Expr| {
                put_in_place(&mut expr, id, &rows.items);
                expr
            };
            let items = items.into_iter().map(resolve).collect();
            let filter = filter.map(resolve);
            rows.filter = both(rows.filter.take(), filter);
            Ok(Rows { items, ..rows })
        }
        _ => Err("Views that do not select from a single table or view are not automatically updatable."),
    }
}

fn check_select(select: &Select) -> std::result::Result<(), &'static str> {
    if !matches!(select.distinct, Distinct::All) {
        return Err("Views containing DISTINCT are not automatically updatable.");
    }
    if !matches!(select.group_by, GroupBy::None) {
        return Err("Views containing GROUP BY are not automatically updatable.");
    }
    if select.having.is_some() {
        return Err("Views containing HAVING are not automatically updatable.");
    }
    let mut reason = None;
    for item in &select.items {
        walk::expr(item, &mut |expr| {
            match expr.kind {
                ExprKind::Aggregate(_) => {
                    reason.get_or_insert("Views that return aggregate functions are not automatically updatable.");
                }
                ExprKind::Window(_) => {
                    reason.get_or_insert("Views that return window functions are not automatically updatable.");
                }
                _ => {}
            }
            !matches!(expr.kind, ExprKind::Scalar(_) | ExprKind::Exists(_) | ExprKind::ArrayQuery(_))
        });
    }
    reason.map_or(Ok(()), Err)
}

/// Puts a derived table's items in the place of its columns.
fn put_in_place(expr: &mut Expr, derived: RelId, items: &[Expr]) {
    walk::expr_mut(expr, &mut |expr| {
        if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = expr.kind
            && relation == derived
            && let Some(item) = items.get(at)
        {
            *expr = item.clone();
            return false;
        }
        true
    });
}

fn both(first: Option<Expr>, second: Option<Expr>) -> Option<Expr> {
    match (first, second) {
        (Some(first), Some(second)) => Some(Expr::new(ExprKind::And(vec![first, second]), crate::Type::Bool)),
        (first, second) => first.or(second),
    }
}
