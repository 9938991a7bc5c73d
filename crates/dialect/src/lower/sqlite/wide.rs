//! Joins of more tables than SQLite takes.
//!
//! SQLite's planner keeps a join's tables in the bits of a word: 64. What is wider is cut: a part of the FROM tree
//! becomes a member of WITH that is computed first, and everything else refers to that member's columns. Conditions of
//! the WHERE clause that concern the part alone go with it, since a part without its conditions could be a product of
//! all its tables.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::ir::{
    Body, ColumnRef, Cte, CteBody, CteId, Distinct, Expr, ExprKind, From, GroupBy, JoinKind, OutputColumn, Query,
    RelId, Select, walk,
};

/// Tables of one join. Fewer than SQLite's 64, since it may take subqueries apart, too.
const MOST: usize = 56;

/// The query with its joins cut, when it is wider than SQLite bears.
pub(super) fn cut(query: &Query) -> Option<Query> {
    let Body::Select(select) = &query.body else { return None };
    if !is_too_wide(select) {
        return None;
    }
    let mut query = query.clone();
    let mut cutter = Cutter { next: first_number(&query), parts: Vec::new() };
    let Body::Select(select) = &mut query.body else { return None };
    let from = select.from.as_mut()?;
    let mut filter = conjuncts(select.filter.take());
    cutter.narrow(from, true, &mut filter);
    select.filter = all(filter);
    cutter.finish(&mut query);
    Some(query)
}

/// A SELECT that [`cut`] cuts.
pub(super) fn is_too_wide(select: &Select) -> bool {
    // A subquery that stands alone is cut itself, when its turn comes: here there would be nothing to cut.
    matches!(&select.from, Some(from @ From::Join { .. }) if width(from) > MOST)
}

/// How many tables SQLite will see in a join, subqueries that it may take apart counted by what is in them once they are
/// cut.
fn width(from: &From) -> usize {
    match from {
        From::Relation { .. } | From::Cte { .. } | From::Kept { .. } | From::Function { .. } => 1,
        From::Query { query, .. } => match &query.body {
            Body::Select(select) if is_plain(query, select) => select.from.as_ref().map_or(1, width).clamp(1, MOST),
            _ => 1,
        },
        From::Join { left, right, .. } => width(left) + width(right),
    }
}

/// SQLite may put such a subquery's tables into the join around it.
fn is_plain(query: &Query, select: &Select) -> bool {
    query.limit.is_none()
        && query.offset.is_none()
        && matches!(select.distinct, Distinct::All)
        && matches!(select.group_by, GroupBy::None)
        && select.having.is_none()
}

struct Cutter {
    next: u32,
    parts: Vec<Part>,
}

/// What becomes a member of WITH.
struct Part {
    id: RelId,
    cte: CteId,
    from: From,
    filter: Option<Expr>,
    /// The relations inside, those of other parts inside included.
    relations: HashSet<RelId>,
}

impl Cutter {
    /// Cuts parts off until the tree is narrow enough; yields how wide it is then. `filter` has the conditions that may
    /// go with a part: those of WHERE, as long as only inner joins (and the left sides of LEFT ones) are above.
    fn narrow(&mut self, from: &mut From, filtered: bool, filter: &mut Vec<Expr>) -> usize {
        let From::Join { kind, left, right, .. } = from else { return width(from) };
        let (on_left, on_right) = match kind {
            JoinKind::Inner => (filtered, filtered),
            JoinKind::Left => (filtered, false),
            JoinKind::Right => (false, filtered),
            JoinKind::Full => (false, false),
        };
        let mut widths = (self.narrow(left, on_left, filter), self.narrow(right, on_right, filter));
        while widths.0 + widths.1 > MOST {
            let (side, width, with) = if widths.0 >= widths.1 {
                (&mut **left, &mut widths.0, on_left)
            } else {
                (&mut **right, &mut widths.1, on_right)
            };
            if *width <= 1 {
                break;
            }
            self.cut_off(side, with, filter);
            *width = 1;
        }
        widths.0 + widths.1
    }

    fn cut_off(&mut self, from: &mut From, filtered: bool, filter: &mut Vec<Expr>) {
        self.next += 1;
        let (id, cte) = (RelId(self.next), CteId(self.next));
        let mut relations: HashSet<RelId> = from.relations().into_iter().collect();
        for part in &self.parts {
            if relations.contains(&part.id) {
                relations.extend(&part.relations);
            }
        }
        let mut own = Vec::new();
        if filtered {
            let (mine, others) = std::mem::take(filter).into_iter().partition(|condition| {
                let columns = columns_of(condition);
                !columns.is_empty() && columns.iter().all(|column| relations.contains(&column.relation))
            });
            (own, *filter) = (mine, others);
        }
        let part = std::mem::replace(from, From::Cte { id, cte, columns: Vec::new() });
        self.parts.push(Part { id, cte, from: part, filter: all(own), relations });
    }

    /// Gives the parts their columns (those that anything outside refers to) and puts them before the query.
    fn finish(self, query: &mut Query) {
        // A later part may hold an earlier one, so each is finished before those around it.
        let mut later: Vec<Part> = self.parts;
        let mut members = Vec::with_capacity(later.len());
        while !later.is_empty() {
            let part = later.remove(0);
            let mut outputs: Vec<(ColumnRef, Expr)> = Vec::new();
            let mut places: HashMap<ColumnRef, usize> = HashMap::new();
            let mut redirect = |expr: &mut Expr| {
                if let ExprKind::Column(column) = &mut expr.kind
                    && part.relations.contains(&column.relation)
                {
                    let place = *places.entry(*column).or_insert_with(|| {
                        outputs.push((*column, Expr::new(ExprKind::Column(*column), expr.ty.clone())));
                        outputs.len() - 1
                    });
                    *column = ColumnRef { relation: part.id, column: crate::ir::ColumnIndex::At(place) };
                }
                true
            };
            walk::query_mut(query, &mut redirect);
            for other in &mut later {
                walk::from_mut(&mut other.from, &mut redirect);
                if let Some(filter) = &mut other.filter {
                    walk::expr_mut(filter, &mut redirect);
                }
            }
            let columns: Vec<OutputColumn> = outputs
                .iter()
                .enumerate()
                .map(|(at, (_, expr))| OutputColumn { name: format!("c{at}"), ty: expr.ty.clone() })
                .collect();
            set_columns(query, &mut later, part.id, &columns);
            let select = Select {
                distinct: Distinct::All,
                items: outputs.into_iter().map(|(_, expr)| expr).collect(),
                from: Some(part.from),
                filter: part.filter,
                group_by: GroupBy::None,
                having: None,
            };
            let body = Query::of(Body::Select(Box::new(select)), columns.clone(), part.id);
            members.push(Cte {
                name: format!("part of a join {}", part.cte.0),
                id: part.cte,
                recursive: false,
                materialized: Some(true),
                body: CteBody::Query(Box::new(body)),
                columns,
            });
        }
        query.ctes.extend(members);
    }
}

/// Lets the reference to a part know its columns.
fn set_columns(query: &mut Query, later: &mut [Part], part: RelId, columns: &[OutputColumn]) {
    fn visit(from: &mut From, part: RelId, columns: &[OutputColumn]) {
        match from {
            From::Cte { id, columns: known, .. } if *id == part => *known = columns.to_vec(),
            From::Join { left, right, .. } => {
                visit(left, part, columns);
                visit(right, part, columns);
            }
            _ => {}
        }
    }
    if let Body::Select(select) = &mut query.body
        && let Some(from) = &mut select.from
    {
        visit(from, part, columns);
    }
    for other in later {
        visit(&mut other.from, part, columns);
    }
}

fn columns_of(expr: &Expr) -> HashSet<ColumnRef> {
    let mut columns = HashSet::new();
    walk::expr(expr, &mut |expr| {
        if let ExprKind::Column(column) = expr.kind {
            columns.insert(column);
        }
        true
    });
    columns
}

fn conjuncts(filter: Option<Expr>) -> Vec<Expr> {
    match filter {
        None => Vec::new(),
        Some(Expr { kind: ExprKind::And(members), .. }) => {
            members.into_iter().flat_map(|member| conjuncts(Some(member))).collect()
        }
        Some(other) => vec![other],
    }
}

fn all(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::new(ExprKind::And(conditions), crate::Type::Bool)),
    }
}

/// Where the numbers of a query's parts begin: far above those that a front end gives, and apart from those of every
/// other query's parts.
fn first_number(query: &Query) -> u32 {
    1 << 31 | query.output.0 << 10
}
