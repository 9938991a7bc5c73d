//! GROUP BY, and which columns may stand beside aggregates.

use pg_query::protobuf::{GroupingSet, GroupingSetKind, Node, SelectStmt, node::Node as N};

use super::binder::Binder;
use super::select::Target;
use crate::functions::internal;
use crate::ir::{ColumnIndex, ColumnRef, Expr, ExprKind, From, GroupBy, walk};
use crate::{Condition, Result};

impl Binder<'_> {
    pub(super) fn group_by(&mut self, select: &SelectStmt, targets: &[Target]) -> Result<GroupBy> {
        if select.group_clause.is_empty() {
            return Ok(GroupBy::None);
        }
        let mut keys: Vec<Expr> = Vec::new();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        let mut plain = true;
        for node in &select.group_clause {
            let alternatives = match &node.node {
                Some(N::GroupingSet(_)) => {
                    plain = false;
                    self.grouping_set(node, targets, &mut keys)?
                }
                _ => vec![self.group_key(node, targets, &mut keys)?],
            };
            if sets.len().saturating_mul(alternatives.len()) > 4096 {
                return Err(self.error(
                    Condition::StatementTooComplex,
                    "too many grouping sets present (maximum 4096)",
                    -1,
                ));
            }
            sets = sets
                .iter()
                .flat_map(|set| {
                    alternatives.iter().map(move |alternative| {
                        let mut set = set.clone();
                        for key in alternative {
                            if !set.contains(key) {
                                set.push(*key);
                            }
                        }
                        set
                    })
                })
                .collect();
        }
        if plain {
            return Ok(GroupBy::Keys(keys));
        }
        if select.group_distinct {
            let mut unique: Vec<Vec<usize>> = Vec::new();
            for mut set in sets {
                set.sort_unstable();
                if !unique.contains(&set) {
                    unique.push(set);
                }
            }
            sets = unique;
        }
        Ok(GroupBy::Sets { keys, sets })
    }

    /// One key, or the several of a parenthesised list.
    fn group_key(&mut self, node: &Node, targets: &[Target], keys: &mut Vec<Expr>) -> Result<Vec<usize>> {
        let mut members = Vec::new();
        match &node.node {
            Some(N::RowExpr(row)) => {
                for member in &row.args {
                    members.extend(self.group_key(member, targets, keys)?);
                }
            }
            Some(N::List(list)) => {
                for member in &list.items {
                    members.extend(self.group_key(member, targets, keys)?);
                }
            }
            _ => {
                let key = self.group_item(node, targets)?;
                let index = match keys.iter().position(|known| *known == key) {
                    Some(index) => index,
                    None => {
                        keys.push(key);
                        keys.len() - 1
                    }
                };
                members.push(index);
            }
        }
        Ok(members)
    }

    fn grouping_set(&mut self, node: &Node, targets: &[Target], keys: &mut Vec<Expr>) -> Result<Vec<Vec<usize>>> {
        let Some(N::GroupingSet(set)) = &node.node else {
            return Ok(vec![self.group_key(node, targets, keys)?]);
        };
        self.nested(|binder| binder.members_of_set(set, targets, keys))
    }

    fn members_of_set(
        &mut self,
        set: &GroupingSet,
        targets: &[Target],
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<Vec<usize>>> {
        Ok(match set.kind() {
            GroupingSetKind::GroupingSetEmpty => vec![Vec::new()],
            GroupingSetKind::GroupingSetSimple | GroupingSetKind::Undefined => {
                let mut members = Vec::new();
                for member in &set.content {
                    members.extend(self.group_key(member, targets, keys)?);
                }
                vec![members]
            }
            GroupingSetKind::GroupingSetRollup => {
                let mut steps = vec![Vec::new()];
                let mut prefix = Vec::new();
                for member in &set.content {
                    prefix.extend(self.group_key(member, targets, keys)?);
                    steps.push(prefix.clone());
                }
                steps.reverse();
                steps
            }
            GroupingSetKind::GroupingSetCube => {
                if set.content.len() > 12 {
                    return Err(self.error(Condition::TooManyColumns, "CUBE is limited to 12 elements", set.location));
                }
                let mut members = Vec::new();
                for member in &set.content {
                    members.push(self.group_key(member, targets, keys)?);
                }
                (0..1_usize << members.len())
                    .rev()
                    .map(|bits| {
                        members
                            .iter()
                            .enumerate()
                            .filter(|(index, _)| bits >> index & 1 == 1)
                            .flat_map(|(_, member)| member.iter().copied())
                            .collect()
                    })
                    .collect()
            }
            GroupingSetKind::GroupingSetSets => {
                let mut sets = Vec::new();
                for member in &set.content {
                    sets.extend(self.grouping_set(member, targets, keys)?);
                }
                sets
            }
        })
    }

    /// Checks that every column outside aggregates is a key, or follows from one.
    pub(super) fn check_grouping<'e>(
        &mut self,
        exprs: impl Iterator<Item = &'e Expr>,
        group_by: &GroupBy,
        from: Option<&From>,
    ) -> Result<()> {
        let keys: &[Expr] = match group_by {
            GroupBy::None => &[],
            GroupBy::Keys(keys) | GroupBy::Sets { keys, .. } => keys,
        };
        let own = from.map(From::relations).unwrap_or_default();
        let mut wrong: Option<ColumnRef> = None;
        // It stands in a subquery.
        let mut inside = false;
        let (mut direct, mut foreign): (Vec<Expr>, bool) = (Vec::new(), false);
        for expr in exprs {
            walk::expr(expr, &mut |part| {
                if wrong.is_some() || keys.contains(part) {
                    return false;
                }
                match &part.kind {
                    // A direct argument is the same for the whole group.
                    ExprKind::Aggregate(aggregate) if aggregate.direct.is_empty() => false,
                    ExprKind::Aggregate(aggregate) => {
                        direct.extend(aggregate.direct.iter().cloned());
                        false
                    }
                    ExprKind::Call { function, args } if function.is(internal("grouping of keys")) => {
                        foreign |= args.iter().any(|arg| !keys.contains(arg));
                        false
                    }
                    ExprKind::Column(column) => {
                        if own.contains(&column.relation)
                            && !keys.iter().any(|key| is_column(key, column))
                            && !self.depends_on_key(column, keys)
                        {
                            wrong = Some(*column);
                        }
                        false
                    }
                    _ => true,
                }
            });
        }
        let loose = &self.scopes.last().map(|scope| scope.loose.clone()).unwrap_or_default();
        for column in loose.iter().filter(|column| own.contains(&column.relation)) {
            if wrong.is_none() && !keys.iter().any(|key| is_column(key, column)) && !self.depends_on_key(column, keys) {
                inside = true;
                wrong = Some(*column);
            }
        }
        if foreign {
            let message = "arguments to GROUPING must be grouping expressions of the associated query level";
            return Err(self.error(Condition::GroupingError, message, -1));
        }
        if wrong.is_none() && !direct.is_empty() {
            return self.check_grouping(direct.iter(), group_by, from).map_err(|error| {
                error.detail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
            });
        }
        let Some(column) = wrong else { return Ok(()) };
        let scope = self.scope();
        let place = scope.uses.iter().find(|(used, _)| *used == column).map_or(-1, |(_, place)| *place);
        let shown = scope
            .entries
            .iter()
            .find_map(|entry| {
                let found = entry.columns.iter().find(|known| is_column(&known.expr, &column))?;
                Some(if entry.name.is_empty() { found.name.clone() } else { format!("{}.{}", entry.name, found.name) })
            })
            .unwrap_or_else(|| "?".to_owned());
        let message = if inside {
            format!("subquery uses ungrouped column \"{shown}\" from outer query")
        } else {
            format!("column \"{shown}\" must appear in the GROUP BY clause or be used in an aggregate function")
        };
        Err(self.error(Condition::GroupingError, message, place))
    }

    /// The keys hold the primary key of the column's table.
    fn depends_on_key(&self, column: &ColumnRef, keys: &[Expr]) -> bool {
        let Some(scope) = self.scopes.last() else { return false };
        let relation = scope.entries.iter().find_map(|entry| match &entry.relation {
            Some((id, relation)) if *id == column.relation => Some(relation),
            _ => None,
        });
        let Some(primary) = relation.and_then(|relation| relation.primary_key()) else { return false };
        !primary.columns.is_empty()
            && primary.columns.iter().all(|position| match position {
                Some(position) => {
                    let wanted = ColumnRef { relation: column.relation, column: ColumnIndex::At(*position) };
                    keys.iter().any(|key| is_column(key, &wanted))
                }
                None => false,
            })
    }
}

/// True for a column, bare or under an implicit conversion.
fn is_column(expr: &Expr, column: &ColumnRef) -> bool {
    match &expr.kind {
        ExprKind::Column(found) => found == column,
        ExprKind::Cast { arg, context: crate::ir::CastContext::Implicit } => is_column(arg, column),
        _ => false,
    }
}
