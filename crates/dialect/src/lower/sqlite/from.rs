//! FROM clauses.

use std::sync::Arc;

use super::apart::Fence;
use super::late;
use super::said::Said;
use super::{Lowering, Naming, Repr, Source, quote, repr_of};
use crate::functions::Function;
use crate::ir::{ColumnIndex, ColumnRef, Expr, ExprKind, From, JoinKind, RelId, walk};
use crate::schema::{Relation, RelationKind};
use crate::types::Storage;
use crate::{Error, Result, Type, budget};

/// So many arguments a function that returns rows has; SQLite asks those behind them of each row once more, and finds
/// that a NULL is not what was given. More are packed.
const MOST_ARGS: usize = 16;

impl Lowering<'_> {
    pub(super) fn from(&mut self, from: &From) -> Result<String> {
        let sql = budget::deeper(|| self.joined(from))?;
        budget::written(sql.len())?;
        Ok(sql)
    }

    /// FROM of a query of its own, whose members see nothing of what is around it.
    pub(super) fn own_from(&mut self, from: &From) -> Result<String> {
        let outer = std::mem::replace(&mut self.from_start, self.order.len());
        let sql = self.from(from);
        self.from_start = outer;
        sql
    }

    fn joined(&mut self, from: &From) -> Result<String> {
        match from {
            From::Relation { id, relation, filter } => {
                match relation.kind {
                    RelationKind::Catalog => self.reads_catalog(relation),
                    // Nobody else sees another file beside this one.
                    _ if relation.is_elsewhere() => {
                        self.needs_us();
                        self.tables = true;
                    }
                    _ => self.tables = true,
                }
                let alias = self.define_table(*id, relation);
                let table = self.table(relation);
                match filter {
                    None => Ok(format!("{table} AS {alias}")),
                    Some(filter) => self.filtered_table(&table, &alias, relation, filter),
                }
            }
            From::Query { id, query, lateral: true } if self.query_sees_siblings(query) => {
                self.lateral_query(*id, query)
            }
            From::Query { id, query, .. } => {
                self.some_groups = self.asked.contains(id);
                self.some_columns = self.asked_columns.get(id).cloned().unwrap_or_default();
                let (mut sql, reprs) = self.query(query, Naming::Positions)?;
                if let Some(fence) = self.fenced.remove(id) {
                    sql = fenced(*id, &sql, reprs.len(), fence);
                }
                let alias = self.define_derived(*id, reprs, None);
                Ok(format!("({sql}) AS {alias}"))
            }
            From::Kept { id, number, columns } => {
                self.needs_row_function();
                self.tables = true;
                let alias = self.define_derived(*id, columns.iter().map(|column| repr_of(&column.ty)).collect(), None);
                Ok(format!("rf_kept({number}) AS {alias}"))
            }
            From::Cte { id, cte, .. } if self.groups.contains_key(cte) => {
                let (sql, reprs) = self.groups.remove(cte).unwrap_or_default();
                let alias = self.define_derived(*id, reprs, None);
                Ok(format!("{sql} AS {alias}"))
            }
            From::Cte { id, cte, columns } => {
                let reprs = match self.ctes.get(cte) {
                    Some(reprs) => reprs.clone(),
                    None => columns.iter().map(|column| repr_of(&column.ty)).collect(),
                };
                let alias = self.define_derived(*id, reprs, None);
                Ok(format!("q{} AS {alias}", cte.0))
            }
            From::Function { id, function, args, columns, ordinality } => {
                let in_bytes = matches!(args.first(), Some(Expr { ty: Type::Array(element), .. })
                    if element.storage() == Storage::Blob);
                let texts = self.texts(args)?;
                let args = texts.join(", ");
                let reprs: Vec<Repr> = columns.iter().map(|column| repr_of(&column.ty)).collect();
                let last = columns.len().checked_sub(1);
                let alias = self.define_derived(*id, reprs, last.filter(|_| *ordinality));
                self.needs_row_function();
                match function.said {
                    // Bytes are texts within an array.
                    Said::Special("unnest") if in_bytes => Ok(format!("rf_unnest({args}, 1) AS {alias}")),
                    Said::Special(word) => Ok(format!("rf_{word}({args}) AS {alias}")),
                    Said::Function(name)
                        if function.kind == crate::functions::FunctionKind::SetReturning && texts.len() > MOST_ARGS =>
                    {
                        Ok(format!("{name}_packed(rf_pack_values({args})) AS {alias}"))
                    }
                    Said::Function(name) if function.kind == crate::functions::FunctionKind::SetReturning => {
                        Ok(format!("{name}({args}) AS {alias}"))
                    }
                    // A subquery of the columns `c0` and `ordinality`, or a call of another.
                    Said::Template(text) if function.kind == crate::functions::FunctionKind::SetReturning => {
                        Ok(format!("{} AS {alias}", super::call::fill(text, &texts)))
                    }
                    Said::Module(name) => {
                        let of_module = |caller: &str| super::call::of_module(caller, name, &texts);
                        if function.kind == crate::functions::FunctionKind::SetReturning {
                            return Ok(format!("{} AS {alias}", of_module("rf_module_rows")));
                        }
                        if *ordinality {
                            return Err(Error::unsupported(format!("function {}() in FROM", function.name)));
                        }
                        Ok(format!("(SELECT DISTINCT {} AS c0) AS {alias}", of_module("rf_module_volatile")))
                    }
                    Said::Function(name) if !*ordinality => {
                        // SQLite does not call it where nobody reads what it returns, unless DISTINCT asks for it.
                        let distinct = if late::may_change(function) { "DISTINCT " } else { "" };
                        Ok(format!("(SELECT {distinct}{name}({args}) AS c0) AS {alias}"))
                    }
                    _ => Err(Error::unsupported(format!("function {}() in FROM", function.name))),
                }
            }
            From::Join { kind, left, right, on } => {
                let nested = matches!(**right, From::Join { .. });
                if matches!(kind, JoinKind::Right | JoinKind::Full) {
                    self.become_nullable(left);
                }
                if matches!(kind, JoinKind::Left | JoinKind::Full) {
                    self.become_nullable(right);
                }
                let left = self.joined_once(left)?;
                let right = match nested {
                    true if self.join_sees_siblings(right) => self.lateral_join(right)?,
                    true => format!("({})", self.from(right)?),
                    false => self.joined_once(right)?,
                };
                let kind = match kind {
                    JoinKind::Inner => "JOIN",
                    JoinKind::Left => "LEFT JOIN",
                    JoinKind::Right => "RIGHT JOIN",
                    JoinKind::Full => "FULL JOIN",
                };
                match on {
                    Some(on) => {
                        let on = self.expr(on)?.sql;
                        Ok(format!("{left} {kind} {right} ON {on}"))
                    }
                    None => Ok(format!("{left} {kind} {right}")),
                }
            }
        }
    }

    /// A side of a join. A function that may return other rows the next time is asked once for all rows on the other
    /// side, unless it is told of these.
    fn joined_once(&mut self, from: &From) -> Result<String> {
        let From::Function { id, function, args, columns, ordinality } = from else { return self.from(from) };
        if !may_change(function, args) || self.join_sees_siblings(from) {
            return self.from(from);
        }
        let sql = self.from(from)?;
        let mut names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        if *ordinality {
            names.pop();
            names.push("ordinality".to_owned());
        }
        Ok(format!("(SELECT {} FROM {sql} LIMIT -1 OFFSET 0) AS r{}", names.join(", "), id.0))
    }

    /// A table of which only some rows are there. SQLite asks nothing else of a row before an OFFSET has let it pass.
    fn filtered_table(&mut self, table: &str, alias: &str, relation: &Relation, filter: &Expr) -> Result<String> {
        let condition = self.expr(filter)?.sql;
        let mut columns: Vec<String> = Vec::with_capacity(relation.columns.len() + 1);
        let named = relation.columns.iter().any(|column| column.name.eq_ignore_ascii_case("rowid"));
        if !relation.without_identity && !named {
            columns.push(format!("{alias}.rowid AS rowid"));
        }
        columns.extend(relation.columns.iter().map(|column| format!("{alias}.{}", quote(&column.name))));
        let columns = columns.join(", ");
        Ok(format!("(SELECT {columns} FROM {table} AS {alias} WHERE {condition} LIMIT -1 OFFSET 0) AS {alias}"))
    }

    /// Marks the relations on the side of an outer join that may be missing.
    fn become_nullable(&mut self, from: &From) {
        match from {
            From::Relation { id, .. }
            | From::Query { id, .. }
            | From::Cte { id, .. }
            | From::Kept { id, .. }
            | From::Function { id, .. } => {
                self.nullable.insert(*id);
            }
            From::Join { left, right, .. } => {
                self.become_nullable(left);
                self.become_nullable(right);
            }
        }
    }

    /// True for a column that holds no NULL here.
    pub(super) fn never_null(&self, expr: &Expr) -> bool {
        let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = expr.kind else { return false };
        match self.sources.get(&relation) {
            Some(Source::Table { relation: table, .. }) => {
                !self.nullable.contains(&relation)
                    && table.columns.get(at).is_some_and(|column| column.not_null || column.row_identity)
            }
            _ => false,
        }
    }

    /// A table's name in SQLite, with its database, so that no temporary table is taken for it. A view's text names no
    /// database, and a catalog table has none.
    pub(super) fn table(&self, relation: &Relation) -> String {
        let name = quote(&relation.physical.name);
        if self.unqualified || relation.kind == RelationKind::Catalog {
            name
        } else {
            format!("{}.{name}", relation.physical.database)
        }
    }

    pub(super) fn define_table(&mut self, id: RelId, relation: &Arc<Relation>) -> String {
        let alias = format!("r{}", id.0);
        self.order.push(id);
        self.sources.insert(id, Source::Table { qualifier: alias.clone(), relation: Arc::clone(relation) });
        alias
    }

    pub(super) fn define_derived(&mut self, id: RelId, reprs: Vec<Repr>, ordinality: Option<usize>) -> String {
        let alias = format!("r{}", id.0);
        self.order.push(id);
        self.sources.insert(id, Source::Derived { qualifier: alias.clone(), reprs, ordinality });
        alias
    }
}

/// A subquery that stays one: SQLite leaves the columns of a WITH be that nobody reads, and takes apart neither a query with
/// OFFSET nor a UNION ALL with what has no FROM.
fn fenced(id: RelId, sql: &str, columns: usize, fence: Fence) -> String {
    let nothing = vec!["NULL"; columns].join(", ");
    let behind = match fence {
        Fence::Open => format!(" UNION ALL SELECT {nothing} WHERE 0"),
        Fence::Closed => " LIMIT -1 OFFSET 0".to_owned(),
        Fence::Made => return format!("WITH f{id} AS MATERIALIZED ({sql}) SELECT * FROM f{id}", id = id.0),
    };
    let sql = match fence {
        Fence::Closed => format!("SELECT * FROM ({sql})"),
        Fence::Open | Fence::Made => sql.to_owned(),
    };
    format!("WITH f{id} AS NOT MATERIALIZED ({sql}{behind}) SELECT * FROM f{id}", id = id.0)
}

/// True for a call that may return others the next time.
fn may_change(function: &Function, args: &[Expr]) -> bool {
    let mut found = late::may_change(function);
    for arg in args {
        walk::expr(arg, &mut |part| {
            found |= matches!(part.kind, ExprKind::Call { function, .. } if late::may_change(function));
            !found
        });
    }
    found
}
