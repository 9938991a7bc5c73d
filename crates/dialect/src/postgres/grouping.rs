//! GROUP BY, and which columns may stand beside aggregates.

use pg_query::protobuf::{GroupingSet, GroupingSetKind, Node, SelectStmt, node::Node as N};

use super::binder::Binder;
use super::select::Target;
use super::viewdef::GroupingShape;
use crate::bind::grouping::{self, Found, is_column};
use crate::ir::{self, ColumnIndex, ColumnRef, Expr, ExprKind, From, GroupBy, RelId, walk};
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
        if self.shown.is_some() {
            let shapes = self.shapes(&select.group_clause, true, targets, &mut keys)?;
            self.note_grouping(select.group_distinct, shapes);
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

    /// How GROUP BY is written, or a list in it.
    fn shapes(
        &mut self,
        nodes: &[Node],
        outermost: bool,
        targets: &[Target],
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<GroupingShape>> {
        let mut shapes = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(N::GroupingSet(set)) = &node.node else {
                let members = self.group_key(node, targets, keys)?;
                match outermost {
                    true => shapes.extend(members.into_iter().map(|key| GroupingShape::Keys(vec![key]))),
                    false => shapes.push(GroupingShape::Keys(members)),
                }
                continue;
            };
            let word = match set.kind() {
                GroupingSetKind::GroupingSetRollup => "ROLLUP(",
                GroupingSetKind::GroupingSetCube => "CUBE(",
                GroupingSetKind::GroupingSetSets => "GROUPING SETS (",
                // The empty one beside others changes nothing.
                GroupingSetKind::GroupingSetEmpty if outermost && nodes.len() > 1 => continue,
                _ => {
                    let mut members = Vec::new();
                    for member in &set.content {
                        members.extend(self.group_key(member, targets, keys)?);
                    }
                    shapes.push(GroupingShape::Keys(members));
                    continue;
                }
            };
            let inner = self.nested(|binder| binder.shapes(&set.content, false, targets, keys))?;
            match set.kind() {
                GroupingSetKind::GroupingSetSets if !outermost => shapes.extend(inner),
                _ => shapes.push(GroupingShape::Of(word, inner)),
            }
        }
        if outermost && shapes.is_empty() {
            shapes.push(GroupingShape::Keys(Vec::new()));
        }
        Ok(shapes)
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
                let index = match keys.iter().position(|known| ir::alike(known, &key)) {
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

    /// Checks that every column outside aggregates is a key, or follows from one. The first `listed` of the expressions are
    /// the select list, those from `sorted` on are ORDER BY's.
    pub(super) fn check_grouping<'e>(
        &mut self,
        exprs: impl Iterator<Item = &'e Expr>,
        (listed, sorted): (usize, usize),
        group_by: &GroupBy,
        from: Option<&From>,
    ) -> Result<()> {
        // Without ONLY_FULL_GROUP_BY what a group leaves open is that of any of its rows.
        if self.is_mysql() && !self.mysql_modes().full_group_by {
            return Ok(());
        }
        let keys = group_by.keys();
        let own = from.map(From::relations).unwrap_or_default();
        let counted_on = std::cell::RefCell::new(Vec::new());
        let follows = |column: &ColumnRef| {
            let table = self.depends_on_key(column, keys);
            counted_on.borrow_mut().extend(table);
            table.is_some()
        };
        let Found { wrong, place: number, direct, foreign } = grouping::check(exprs, keys, &own, &follows);
        // It stands in a subquery.
        let mut inside = wrong.is_some_and(|(_, inside)| inside);
        let mut wrong = wrong.map(|(column, _)| column);
        let loose = &self.scopes.last().map(|scope| scope.loose.clone()).unwrap_or_default();
        for column in loose.iter().filter(|column| own.contains(&column.relation)) {
            if wrong.is_none() && !keys.iter().any(|key| is_column(key, column)) && !follows(column) {
                inside = true;
                wrong = Some(*column);
            }
        }
        let counted_on = counted_on.into_inner();
        self.note(|uses| uses.keys.extend(counted_on));
        if foreign {
            let message = "arguments to GROUPING must be grouping expressions of the associated query level";
            return Err(self.error(Condition::GroupingError, message, -1));
        }
        if wrong.is_none() && !direct.is_empty() {
            return self.check_grouping(direct.iter(), (0, usize::MAX), group_by, from).map_err(|error| {
                error.detail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
            });
        }
        let Some(column) = wrong else { return Ok(()) };
        let scope = self.scope();
        let place = scope.uses.iter().find(|(used, _)| *used == column).map_or(-1, |(_, place)| *place);
        if self.is_mysql() && !inside && !(listed..sorted).contains(&number) {
            let shown = self.column_of_database(&column);
            return Err(self.ungrouped(number, sorted, &shown, group_by, place));
        }
        let (shown, _) = self.column_shown(&column);
        let message = if inside {
            format!("subquery uses ungrouped column \"{shown}\" from outer query")
        } else {
            format!("column \"{shown}\" must appear in the GROUP BY clause or be used in an aggregate function")
        };
        Err(self.error(Condition::GroupingError, message, place))
    }

    /// A column of the query as it is told, with its table, and the schema of that.
    fn column_shown(&self, column: &ColumnRef) -> (String, Option<String>) {
        let entries = self.scopes.last().map(|scope| scope.entries.iter()).into_iter().flatten();
        let mut found = entries.filter_map(|entry| {
            let found = entry.columns.iter().find(|known| is_column(&known.expr, column))?;
            let name =
                if entry.name.is_empty() { found.name.clone() } else { format!("{}.{}", entry.name, found.name) };
            Some((name, entry.relation.as_ref().map(|(_, relation)| relation.namespace.clone())))
        });
        found.next().unwrap_or_else(|| ("?".to_owned(), None))
    }

    /// The same in MySQL's words: with the database.
    pub(super) fn column_of_database(&self, column: &ColumnRef) -> String {
        match self.column_shown(column) {
            (shown, Some(namespace)) => format!("{}.{shown}", self.database_shown(&namespace)),
            (shown, None) => shown,
        }
    }

    /// What MySQL says of a column that a group leaves open, by the number of its expression.
    fn ungrouped(&self, number: usize, sorted: usize, shown: &str, group_by: &GroupBy, place: i32) -> crate::Error {
        let (number, clause) = match number.checked_sub(sorted) {
            Some(number) => (number + 1, "ORDER BY clause"),
            None => (number + 1, "SELECT list"),
        };
        let (code, message) = match group_by {
            GroupBy::None => (
                1140,
                format!(
                    "In aggregated query without GROUP BY, expression #{number} of {clause} contains nonaggregated column \
                     '{shown}'; this is incompatible with sql_mode=only_full_group_by"
                ),
            ),
            _ => (
                1055,
                format!(
                    "Expression #{number} of {clause} is not in GROUP BY clause and contains nonaggregated column \
                     '{shown}' which is not functionally dependent on columns in GROUP BY clause; this is incompatible \
                     with sql_mode=only_full_group_by"
                ),
            ),
        };
        self.error(Condition::GroupingError, message, place).with_mysql(code, "42000")
    }

    /// What the select list's set-returning functions are given, but for those that a key is made of.
    pub(super) fn arguments_of_sets(&mut self, keys: &[Expr]) -> Vec<Expr> {
        let mut grouped = Vec::new();
        keys.iter().for_each(|key| relations_in(key, &mut grouped));
        let mut left = Vec::new();
        // A function is given results of those before it.
        for from in self.scope().set_returning.iter().rev() {
            let mut args = Vec::new();
            walk::from(from, &mut |part| {
                args.push(part.clone());
                false
            });
            if from.relations().iter().any(|id| grouped.contains(id)) {
                args.iter().for_each(|arg| relations_in(arg, &mut grouped));
            } else {
                left.extend(args);
            }
        }
        left
    }

    /// The column's table, by object id, where the keys hold its primary key.
    fn depends_on_key(&self, column: &ColumnRef, keys: &[Expr]) -> Option<u32> {
        let scope = self.scopes.last()?;
        let relation = scope.entries.iter().find_map(|entry| match &entry.relation {
            Some((id, relation)) if *id == column.relation => Some(relation),
            _ => None,
        });
        // Rows may share a deferrable key for a while.
        let relation = relation?;
        let primary = relation.primary_key().filter(|key| key.deferred.is_none())?;
        let held = !primary.columns.is_empty()
            && primary.columns.iter().all(|position| match position {
                Some(position) => {
                    let wanted = ColumnRef { relation: column.relation, column: ColumnIndex::At(*position) };
                    keys.iter().any(|key| is_column(key, &wanted))
                }
                None => false,
            });
        held.then_some(relation.oid)
    }
}

fn relations_in(expr: &Expr, found: &mut Vec<RelId>) {
    walk::expr(expr, &mut |part| {
        if let ExprKind::Column(column) = &part.kind {
            found.push(column.relation);
        }
        true
    });
}
