//! MATCH … AGAINST: a function of a row and a text, over a full-text index.

use pg_query::protobuf::Node;

use super::super::binder::Binder;
use super::super::ddl::fulltext::has_rowid_column;
use super::super::expr::columns::column_of;
use super::super::expr::{all_of, location};
use crate::functions::{self, FunctionKind};
use crate::ir::{
    Body, CompareOp, Expr, ExprKind, From, OutputColumn, Query, RelId, Select, SortKey, Value, build, walk,
};
use crate::schema::Relation;
use crate::values::mysql::fulltext::Mode;
use crate::{Condition, Error, Language, Result, Type};

/// What the relevance of a row is called; what finds all rows that have one.
const MATCH: &str = "mysql_match";
const ROWS: &str = "mysql_match_rows";

fn function(name: &str, kind: FunctionKind) -> Result<&'static functions::Function> {
    let found = functions::named(Language::Mysql, name).find(|row| row.kind == kind);
    found.ok_or_else(|| Error::internal(format!("no function {name}")))
}

/// A call of the function that MATCH is: its arguments.
fn matched(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Call { function, args } if function.name == MATCH => Some(args),
        ExprKind::Cast { arg, .. } => matched(arg),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Literal(Value::Real(number)) => Some(*number),
        ExprKind::Literal(Value::Integer(number)) => Some(*number as f64),
        ExprKind::Literal(Value::Text(number)) => number.parse().ok(),
        ExprKind::Cast { arg, .. } => number(arg),
        _ => None,
    }
}

/// What has to be found where a comparison is to hold: one of a MATCH with a number, which does not hold for 0.
fn asks_for_found(expr: &Expr) -> Option<&[Expr]> {
    let ExprKind::Compare { op, left, right } = &expr.kind else { return None };
    let (op, args, number) = match (matched(left), matched(right)) {
        (Some(args), None) => (*op, args, number(right)?),
        (None, Some(args)) => (op.commuted(), args, number(left)?),
        _ => return None,
    };
    let holds_for_zero = match op {
        CompareOp::Equal => number == 0.0,
        CompareOp::NotEqual => number != 0.0,
        CompareOp::Less => 0.0 < number,
        CompareOp::LessOrEqual => 0.0 <= number,
        CompareOp::Greater => 0.0 > number,
        CompareOp::GreaterOrEqual => 0.0 >= number,
    };
    (!holds_for_zero).then_some(args)
}

impl Binder<'_> {
    /// The relevance of a row: of `mode`, for the text and in the columns that stand in the call.
    pub(super) fn mysql_match(&mut self, mode: Mode, args: &[Node]) -> Result<Expr> {
        let Some((text, columns)) = args.split_first() else { return Err(Error::internal("MATCH of nothing")) };
        let place = location(text);
        let (text, at) = self.placed(text)?;
        let mut varies = false;
        walk::expr(&text, &mut |part| {
            varies |= matches!(part.kind, ExprKind::Column(_));
            true
        });
        if varies {
            let error = self.error(Condition::InvalidParameterValue, "Incorrect arguments to AGAINST", place);
            return Err(error.with_mysql(1210, "HY000"));
        }
        let text = self.mysql_argument(text, &Type::Text, at)?;
        let mut of: Option<(RelId, std::sync::Arc<Relation>)> = None;
        let mut places = Vec::with_capacity(columns.len());
        for column in columns {
            let (expr, _) = self.placed(column)?;
            let wrong = || {
                Error::new(Condition::InvalidParameterValue, "Incorrect arguments to MATCH").with_mysql(1210, "HY000")
            };
            let Some(column) = column_of(&expr) else { return Err(wrong()) };
            let mut entries = self.scopes.iter().flat_map(|scope| &scope.entries);
            let found = entries.find_map(|entry| entry.relation.as_ref().filter(|(id, _)| *id == column.relation));
            let Some((id, relation)) = found.cloned().filter(|(_, relation)| relation.keeps_rows()) else {
                return Err(Error::unsupported("MATCH of columns that are no table's own"));
            };
            if of.as_ref().is_some_and(|(known, _)| *known != id) {
                return Err(wrong());
            }
            let crate::ir::ColumnIndex::At(at) = column.column else { return Err(wrong()) };
            if !places.contains(&Some(at)) {
                places.push(Some(at));
            }
            of = Some((id, relation));
        }
        let Some((id, relation)) = of else { return Err(Error::internal("MATCH without columns")) };
        if has_rowid_column(&relation) {
            return Err(Error::unsupported("MATCH in a table with a column called rowid"));
        }
        let is_it = |index: &&crate::schema::Index| {
            index.fulltext && index.columns.len() == places.len() && places.iter().all(|at| index.columns.contains(at))
        };
        let Some(index) = relation.indexes.iter().find(is_it) else {
            let message = "Can't find FULLTEXT index matching the column list";
            return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1191, "HY000"));
        };
        let args =
            vec![Expr::integer(index.oid.into(), Type::Int8), build::row_identity(id), text, Expr::text(mode.name())];
        let function = function(MATCH, FunctionKind::Scalar)?;
        Ok(Expr::new(ExprKind::Call { function, args }, Type::Float8))
    }

    /// A condition that asks first for the rows that its searches find, which the index knows.
    pub(in crate::postgres) fn mysql_narrowed(&mut self, condition: Expr) -> Result<Expr> {
        let Expr { kind, ty } = condition;
        let all = |binder: &mut Self, parts: Vec<Expr>| -> Result<Vec<Expr>> {
            parts.into_iter().map(|part| binder.mysql_narrowed(part)).collect()
        };
        let kind = match kind {
            ExprKind::And(parts) => ExprKind::And(all(self, parts)?),
            ExprKind::Or(parts) => ExprKind::Or(all(self, parts)?),
            kind => {
                let condition = Expr::new(kind, ty);
                let Some(args) = asks_for_found(&condition) else { return Ok(condition) };
                let found = self.mysql_found(args)?;
                return Ok(all_of(vec![found, condition]));
            }
        };
        Ok(Expr::new(kind, ty))
    }

    /// The row is one of those that a search finds.
    fn mysql_found(&mut self, args: &[Expr]) -> Result<Expr> {
        let [index, row, text, mode] = args else { return Err(Error::internal("a search without its parts")) };
        let columns = vec![OutputColumn { name: "row".to_owned(), ty: Type::Int8 }];
        let (id, output) = (self.ids.relation(), self.ids.relation());
        let from = From::Function {
            id,
            function: function(ROWS, FunctionKind::SetReturning)?,
            args: vec![index.clone(), text.clone(), mode.clone()],
            columns: columns.clone(),
            ordinality: false,
        };
        let select = Select::of(vec![Expr::column(id, 0, Type::Int8)], Some(from));
        let query = Box::new(Query::of(Body::Select(Box::new(select)), columns, output));
        Ok(Expr::new(ExprKind::InQuery { row: vec![row.clone()], negated: false, query }, Type::Bool))
    }

    /// The order of rows that a condition finds by a search, where nothing else is said: the most relevant come first.
    pub(in crate::postgres) fn mysql_by_relevance(condition: &Expr) -> Vec<SortKey> {
        let parts = match &condition.kind {
            ExprKind::And(parts) => parts.as_slice(),
            _ => std::slice::from_ref(condition),
        };
        for part in parts {
            let ExprKind::Compare { left, right, .. } = &part.kind else {
                // One that has been narrowed.
                if let ExprKind::And(_) = part.kind
                    && !std::ptr::eq(part, condition)
                {
                    let keys = Self::mysql_by_relevance(part);
                    if !keys.is_empty() {
                        return keys;
                    }
                }
                continue;
            };
            if asks_for_found(part).is_none() {
                continue;
            }
            let relevance = if matched(left).is_some() { &**left } else { &**right };
            let row = matched(relevance).and_then(|args| args.get(1)).cloned();
            let key = |expr: Expr, descending| SortKey { expr, descending, nulls_first: descending };
            return std::iter::once(key(relevance.clone(), true)).chain(row.map(|row| key(row, false))).collect();
        }
        Vec::new()
    }
}
