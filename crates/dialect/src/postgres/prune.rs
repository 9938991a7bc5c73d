//! Partitions that a condition leaves nothing of are not read.
//!
//! Only comparisons of key columns with constants count, and only what is certain: a partition that stays needlessly yields no
//! row. No condition that NULL meets counts, so that the outer side of a join may be looked at, too.

use std::collections::HashSet;

use super::binder::Binder;
use crate::Result;
use crate::Type;
use crate::ir::{Body, ColumnIndex, CompareOp, Expr, ExprKind, From, Query, RelId, Routing, Value};
use crate::partition::{EdgeValue, Level, Strategy, Target, Values, order};

/// What a condition says of a key column: one of these holds with the value.
struct Known {
    key: usize,
    op: CompareOp,
    values: Vec<Value>,
}

impl Binder<'_> {
    /// Takes out of the members of FROM what the condition excludes.
    pub(super) fn prune(&mut self, from: Option<&mut From>, filter: Option<&Expr>) -> Result<()> {
        if self.families.is_empty() {
            return Ok(());
        }
        let (Some(from), Some(filter)) = (from, filter) else { return Ok(()) };
        match from {
            From::Join { left, right, .. } => {
                self.prune(Some(left), Some(filter))?;
                self.prune(Some(right), Some(filter))
            }
            From::Query { id, query, .. } => {
                let Some(head) = self.families.get(id).filter(|head| head.is_partitioned()).cloned() else {
                    return Ok(());
                };
                let Some(routing) = self.routing(&head, *id)? else { return Ok(()) };
                if let Some(kept) = kept(&routing, *id, filter) {
                    prune_arms(query, &kept);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The object ids of the leaves that may have rows of which the condition holds; `None` where nothing is known.
fn kept(routing: &Routing, id: RelId, filter: &Expr) -> Option<HashSet<u32>> {
    let mut known = Vec::new();
    collect(filter, routing, id, &mut known);
    if known.is_empty() {
        return None;
    }
    let mut found = HashSet::new();
    let mut levels = vec![0];
    while let Some(at) = levels.pop() {
        let level = routing.tree.levels.get(at)?;
        for place in places(level, &known) {
            match level.places[place].target {
                Target::Leaf(leaf) => {
                    found.insert(routing.members[leaf].oid);
                }
                Target::Level(next) => levels.push(next),
                Target::Elsewhere => return None,
            }
        }
    }
    Some(found)
}

/// What a condition says of key columns.
fn collect(filter: &Expr, routing: &Routing, id: RelId, known: &mut Vec<Known>) {
    let mut note = |column: &Expr, op: CompareOp, constants: &[&Expr]| {
        for (key, expr) in routing.keys.iter().enumerate() {
            let values: Option<Vec<Value>> = constants.iter().map(|constant| value_of(constant, &expr.ty)).collect();
            if is_key(column, expr, id)
                && let Some(values) = values
            {
                known.push(Known { key, op, values });
            }
        }
    };
    match &filter.kind {
        ExprKind::And(parts) => parts.iter().for_each(|part| collect(part, routing, id, known)),
        ExprKind::Compare { op, left, right } if *op != CompareOp::NotEqual => {
            note(left, *op, &[right]);
            note(right, turned(*op), &[left]);
        }
        ExprKind::InList { arg, negated: false, list } => note(arg, CompareOp::Equal, &list.iter().collect::<Vec<_>>()),
        ExprKind::QuantifiedArray { op: CompareOp::Equal, all: false, arg, array } => {
            if let ExprKind::Array(list) = &array.kind {
                note(arg, CompareOp::Equal, &list.iter().collect::<Vec<_>>());
            }
        }
        _ => {}
    }
}

const fn turned(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessOrEqual => CompareOp::GreaterOrEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterOrEqual => CompareOp::LessOrEqual,
        same => same,
    }
}

/// An operand is a key that is a plain column, perhaps in a wider type of the same order.
fn is_key(operand: &Expr, key: &Expr, id: RelId) -> bool {
    let ExprKind::Column(wanted) = &key.kind else { return false };
    let mut operand = operand;
    while let ExprKind::Cast { arg, .. } = &operand.kind {
        if !is_alike(&arg.ty, &operand.ty) {
            return false;
        }
        operand = arg;
    }
    matches!(&operand.kind, ExprKind::Column(column)
        if column == wanted && column.relation == id && matches!(column.column, ColumnIndex::At(_)))
}

/// Values of both types are stored and ordered alike.
fn is_alike(one: &Type, other: &Type) -> bool {
    let text = |ty: &Type| matches!(ty, Type::Text | Type::Varchar(_));
    one == other || one.is_integer() && other.is_integer() || text(one) && text(other)
}

/// A constant as a value of the key's type; nothing where that is not certain.
fn value_of(constant: &Expr, ty: &Type) -> Option<Value> {
    if !is_alike(&constant.ty, ty) {
        return None;
    }
    match &constant.kind {
        ExprKind::Literal(Value::Null) => None,
        ExprKind::Literal(value) => Some(value.clone()),
        ExprKind::Cast { arg, .. } if is_alike(&arg.ty, &constant.ty) => value_of(arg, ty),
        _ => None,
    }
}

/// The places of a level that may have rows.
fn places(level: &Level, known: &[Known]) -> Vec<usize> {
    let own = |key: usize| known.iter().filter(move |known| known.key == level.first + key);
    let all = 0..level.places.len();
    // A condition compares in the order of the column.
    if level.relation.partitioning.iter().flat_map(|parted| &parted.keys).any(|key| key.collation.is_some()) {
        return all.collect();
    }
    if level.strategy == Strategy::Hash {
        // One value for each key, or nothing is known.
        let row: Option<Vec<Value>> = (0..level.keys.len())
            .map(|key| {
                own(key).find(|known| known.op == CompareOp::Equal && known.values.len() == 1)?.values.first().cloned()
            })
            .collect();
        let Some(row) = row else { return all.collect() };
        let alone = Level { first: 0, ..level.clone() };
        return match alone.place(&row) {
            Ok(place) => place.into_iter().collect(),
            Err(_) => all.collect(),
        };
    }
    let several = level.keys.len() > 1;
    let key = &level.keys[0];
    let fits = |values: &Values, op: CompareOp, value: &Value| match values {
        Values::List(list) => list.iter().any(|one| {
            *one != Value::Null
                && match op {
                    CompareOp::Equal => order(one, value, key).is_eq(),
                    CompareOp::Less => order(one, value, key).is_lt(),
                    CompareOp::LessOrEqual => order(one, value, key).is_le(),
                    CompareOp::Greater => order(one, value, key).is_gt(),
                    CompareOp::GreaterOrEqual => order(one, value, key).is_ge(),
                    CompareOp::NotEqual => true,
                }
        }),
        Values::Range(from, to) => {
            let least = |strict: bool| match from.first() {
                Some(EdgeValue::Value(least)) => {
                    let found = order(least, value, key);
                    if strict { found.is_lt() } else { found.is_le() }
                }
                Some(EdgeValue::Max) => false,
                _ => true,
            };
            let most = |inclusive: bool| match to.first() {
                Some(EdgeValue::Value(most)) => {
                    let found = order(most, value, key);
                    if inclusive { found.is_ge() } else { found.is_gt() }
                }
                Some(EdgeValue::Min) => false,
                _ => true,
            };
            match op {
                CompareOp::Equal => least(false) && most(several),
                CompareOp::Less => least(true),
                CompareOp::LessOrEqual => least(false),
                CompareOp::Greater => most(false),
                CompareOp::GreaterOrEqual => most(several),
                CompareOp::NotEqual => true,
            }
        }
        Values::Default | Values::Hash(..) => true,
    };
    // Where each value of an equality has a partition of its own, the default one has none of the rows.
    let covered = !several
        && own(0).any(|known| {
            let placed = |value: &Value| {
                let named = level.places.iter().filter(|place| place.values != Values::Default);
                named.into_iter().any(|place| fits(&place.values, CompareOp::Equal, value))
            };
            known.op == CompareOp::Equal && known.values.iter().all(placed)
        });
    all.filter(|at| match &level.places[*at].values {
        Values::Default => !covered,
        values => own(0).all(|known| known.values.iter().any(|value| fits(values, known.op, value))),
    })
    .collect()
}

/// Takes the arms of a union away that are of other tables; the last that would go yields nothing.
fn prune_arms(query: &mut Query, kept: &HashSet<u32>) {
    let columns = query.columns.clone();
    let mut found = arms(query, kept);
    let pruned = match &mut found {
        Some(pruned) => pruned,
        None => {
            // One of them says what the columns are.
            let mut any = first_arm(query);
            if let Body::Select(select) = &mut any.body {
                select.filter = Some(Expr::bool(false));
            }
            found = Some(any);
            match &mut found {
                Some(any) => any,
                None => return,
            }
        }
    };
    pruned.columns = columns;
    pruned.output = query.output;
    if let Some(pruned) = found {
        *query = pruned;
    }
}

fn first_arm(query: &Query) -> Query {
    match &query.body {
        Body::Set { left, .. } => first_arm(left),
        _ => query.clone(),
    }
}

fn arms(query: &Query, kept: &HashSet<u32>) -> Option<Query> {
    match &query.body {
        Body::Set { op, all, left, right } => match (arms(left, kept), arms(right, kept)) {
            (Some(left), Some(right)) => {
                let (left, right) = (Box::new(left), Box::new(right));
                Some(Query { body: Body::Set { op: *op, all: *all, left, right }, ..query.clone() })
            }
            (one, other) => one.or(other),
        },
        Body::Select(select) => match &select.from {
            Some(From::Relation { relation, .. }) if !kept.contains(&relation.oid) => None,
            _ => Some(query.clone()),
        },
        Body::Values(_) => Some(query.clone()),
    }
}
