//! Queries.

use std::sync::Arc;

use super::{Lowering, is_users, missing, mysql, text, type_words};
use crate::collation::Collation;
use crate::ir::{
    Body, CastContext, CollateRole, ColumnIndex, ColumnRef, Cte, CteBody, CteId, Distinct, Expr, ExprKind, From,
    GroupBy, JoinKind, LockMode, LockWait, OutputColumn, Place, Query, RelId, Select, SetOp, SortKey, walk,
};
use crate::{Result, Type, budget};

/// `(c0, c1, …)`
fn places(columns: &[OutputColumn]) -> String {
    let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
    if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) }
}

impl Lowering<'_> {
    /// A query; its columns are called `c0`, `c1`, ….
    pub(super) fn query(&mut self, query: &Query) -> Result<String> {
        let outer = std::mem::take(&mut self.common);
        let lowered = budget::deeper(|| self.query_here(query));
        self.common = outer;
        lowered
    }

    fn query_here(&mut self, query: &Query) -> Result<String> {
        let mut out = self.ctes(&query.ctes)?;
        match &query.body {
            Body::Select(select) => {
                let rows = self.select(select, query)?;
                match self.keys_of_what_is_told(select, query) {
                    // PostgreSQL lets only a query around them compute with rows that differ.
                    Some(keys) => {
                        self.outputs.remove(&query.output);
                        self.common.clear();
                        out.push_str(&format!(
                            "SELECT * FROM ({rows}) AS r{}{}",
                            query.output.0,
                            places(&query.columns)
                        ));
                        out.push_str(&self.keys(&keys, |_, _| None)?);
                    }
                    None => {
                        let is_distinct = matches!(select.distinct, Distinct::Rows) && !query.order_by.is_empty();
                        if is_distinct && select.items.iter().any(|item| self.padded(item).is_some()) {
                            return Err(missing(
                                "DISTINCT of texts in which blanks at the end do not count, in an order of something else",
                            ));
                        }
                        out.push_str(&rows);
                        out.push_str(&self.keys(&query.order_by, |_, _| None)?);
                        self.outputs.remove(&query.output);
                    }
                }
            }
            // Keys may compute with the result, which PostgreSQL lets only a query around it do.
            body => {
                let rows = self.rows(body)?;
                let id = query.output.0;
                out.push_str(&format!("SELECT * FROM ({rows}) AS r{id}{}", places(&query.columns)));
                out.push_str(&self.keys(&query.order_by, |_, _| None)?);
            }
        }
        self.limits(query, &mut out)?;
        if self.changes
            && let Body::Select(select) = &query.body
        {
            // Who chooses rows to be changed waits for those who change them now, and looks at them again.
            let mut chosen = Vec::new();
            for item in &select.items {
                walk::expr(item, &mut |part| {
                    if let ExprKind::Call { function, args } = &part.kind
                        && function.name == "place of a row"
                        && let [Expr { kind: ExprKind::Column(column), .. }] = args.as_slice()
                    {
                        chosen.push(format!("r{}", column.relation.0));
                    }
                    true
                });
            }
            if !chosen.is_empty() {
                out.push_str(&format!(" FOR UPDATE OF {}", chosen.join(", ")));
            }
        }
        for lock in &query.locking {
            if lock.whole {
                return Err(crate::Error::unsupported(
                    "FOR UPDATE or FOR SHARE of grouped rows in front of a PostgreSQL server",
                ));
            }
            let mode = match lock.mode {
                LockMode::AccessShare => "KEY SHARE",
                LockMode::RowShare => "SHARE",
                LockMode::Exclusive => "NO KEY UPDATE",
                _ => "UPDATE",
            };
            let wait = match lock.wait {
                LockWait::Block => "",
                LockWait::Skip => " SKIP LOCKED",
                LockWait::Fail => " NOWAIT",
            };
            out.push_str(&format!(" FOR {mode} OF r{}{wait}", lock.id.0));
        }
        Ok(out)
    }

    fn limits(&mut self, query: &Query, out: &mut String) -> Result<()> {
        if let Some(offset) = &query.offset {
            out.push_str(&format!(" OFFSET {}", self.expr(offset)?));
        }
        if let Some(limit) = &query.limit {
            let limit = self.expr(limit)?;
            out.push_str(&if query.with_ties {
                format!(" FETCH FIRST ({limit}) ROWS WITH TIES")
            } else {
                format!(" LIMIT {limit}")
            });
        }
        Ok(())
    }

    pub(super) fn ctes(&mut self, ctes: &[Cte]) -> Result<String> {
        let members = ctes.iter().map(|cte| self.cte(cte)).collect::<Result<Vec<_>>>()?;
        Ok(match members.is_empty() {
            true => String::new(),
            false if ctes.iter().any(|cte| cte.recursive) => format!("WITH RECURSIVE {} ", members.join(", ")),
            false => format!("WITH {} ", members.join(", ")),
        })
    }

    /// A member of WITH.
    pub(super) fn cte(&mut self, cte: &Cte) -> Result<String> {
        let materialized = match cte.materialized {
            None => "",
            Some(true) => "MATERIALIZED ",
            Some(false) => "NOT MATERIALIZED ",
        };
        if let (true, CteBody::Query(query)) = (cte.recursive, &cte.body)
            && let Some(climbed) = self.climbed(cte, query)?
        {
            return Ok(climbed);
        }
        let body = match &cte.body {
            // A member that calls itself must show its UNION.
            CteBody::Query(query) if cte.recursive => self.rows_with(query)?,
            CteBody::Query(query) => self.query(query)?,
            CteBody::Dml(dml) => self.dml(dml)?,
        };
        Ok(format!("w{}{} AS {materialized}({body})", cte.id.0, places(&cte.columns)))
    }

    /// CONNECT BY: a recursive query that goes down before it goes on. Each row carries the places among their siblings of those
    /// above it and its own, and by that they are sorted; `None` for other recursive queries.
    fn climbed(&mut self, cte: &Cte, query: &Query) -> Result<Option<String>> {
        let Body::Set { op: SetOp::Union, all: true, left, right } = &query.body else { return Ok(None) };
        let plain = self.known.is_some() && query.ctes.is_empty() && query.limit.is_none() && query.offset.is_none();
        let column = |key: &SortKey| match &key.expr.kind {
            ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if *relation == query.output => {
                Some(*at)
            }
            _ => None,
        };
        let (Some((level, siblings)), true) = (query.order_by.split_first(), plain) else { return Ok(None) };
        let by_level = level.descending && column(level).is_some();
        let (Body::Select(step), true) = (&right.body, by_level) else { return Ok(None) };
        let Some(above) = step.from.as_ref().and_then(|from| above_in(from, cte.id)) else { return Ok(None) };
        let mut keys = Vec::with_capacity(siblings.len());
        for key in siblings {
            let Some(at) = column(key) else { return Ok(None) };
            let (order, nulls) =
                (if key.descending { "DESC" } else { "ASC" }, if key.nulls_first { "FIRST" } else { "LAST" });
            keys.push(format!("r.c{at}{} {order} NULLS {nulls}", self.order_of(&key.expr.ty)));
        }
        let order = if keys.is_empty() { String::new() } else { format!("ORDER BY {}", keys.join(", ")) };
        // The members of a recursive query must have the same types, to the letter.
        let mut columns = Vec::with_capacity(cte.columns.len());
        for (at, column) in cte.columns.iter().enumerate() {
            let ty = if column.ty == Type::Unknown { &Type::Text } else { &column.ty };
            columns.push(format!("r.c{at}::{}", type_words(ty)?));
        }
        let (columns, path) = (columns.join(", "), cte.columns.len());
        let names = places(&cte.columns);
        let roots = self.nested(left)?;
        let mut step = (**right).clone();
        step.columns.push(OutputColumn { name: String::new(), ty: Type::Text });
        if let Body::Select(select) = &mut step.body {
            select.items.push(Expr::column(above, path, Type::Text));
        }
        let step_names = places(&step.columns);
        let step = self.nested(&step)?;
        let id = cte.id.0;
        self.climbs.push(cte.id);
        let all: Vec<String> = (0..path).map(|at| format!("c{at}")).collect();
        Ok(Some(format!(
            "w{id}{step_names} AS (SELECT {columns}, ARRAY[row_number() OVER ({order})] FROM {roots} AS r{names} \
             UNION ALL SELECT {columns}, r.c{path} || row_number() OVER ({order}) FROM {step} AS r{step_names}), \
             w{id}s{names} AS MATERIALIZED (SELECT {} FROM w{id} ORDER BY c{path})",
            all.join(", ")
        )))
    }

    fn rows_with(&mut self, query: &Query) -> Result<String> {
        if !query.order_by.is_empty() || query.limit.is_some() || query.offset.is_some() {
            return Err(missing("an ordered recursive query"));
        }
        Ok(format!("{}{}", self.ctes(&query.ctes)?, self.rows(&query.body)?))
    }

    /// What yields the rows.
    fn rows(&mut self, body: &Body) -> Result<String> {
        match body {
            Body::Select(_) => Err(crate::Error::internal("a SELECT has a query around it")),
            Body::Set { op, all, left, right } => {
                let word = match op {
                    SetOp::Except => "EXCEPT",
                    SetOp::Intersect => "INTERSECT",
                    SetOp::Union => "UNION",
                };
                let padded = if *all { Vec::new() } else { self.padded_columns(left) };
                if padded.iter().any(Option::is_some) {
                    if *op != SetOp::Union {
                        return Err(missing(&format!("{word} of texts in which blanks at the end do not count")));
                    }
                    let key = |(at, padded): (usize, &Option<Arc<Collation>>)| match padded {
                        Some(padded) => format!("rtrim(c{at}, ' ') COLLATE {}", mysql::collation(padded)),
                        None => format!("c{at}"),
                    };
                    let keys: Vec<String> = padded.iter().enumerate().map(key).collect();
                    let (rows, names) = (self.nested(left)?, places(&left.columns));
                    return Ok(format!(
                        "(SELECT DISTINCT ON ({}) * FROM ({rows} UNION ALL {}) AS members{names})",
                        keys.join(", "),
                        self.nested(right)?
                    ));
                }
                let all = if *all { " ALL" } else { "" };
                Ok(format!("{} {word}{all} {}", self.nested(left)?, self.nested(right)?))
            }
            Body::Values(rows) => {
                let rows: Result<Vec<String>> = rows.iter().map(|row| self.row_of_values(row)).collect();
                Ok(format!("VALUES {}", rows?.join(", ")))
            }
        }
    }

    /// The columns of a set operation in whose collation blanks at the end do not count, by its first member.
    fn padded_columns(&self, first: &Query) -> Vec<Option<Arc<Collation>>> {
        let of_item = |item: &Expr| match &item.kind {
            ExprKind::Collate { collation, .. } => Some(collation.clone()).filter(|collation| mysql::pads(collation)),
            _ => None,
        };
        match &first.body {
            Body::Select(select) => select.items.iter().map(of_item).collect(),
            Body::Set { left, .. } => self.padded_columns(left),
            Body::Values(_) => vec![None; first.columns.len()],
        }
    }

    pub(super) fn row_of_values(&mut self, row: &[Expr]) -> Result<String> {
        Ok(format!("({})", self.exprs(row)?))
    }

    fn select(&mut self, select: &Select, query: &Query) -> Result<String> {
        let from = match &select.from {
            Some(from) => format!(" FROM {}", self.from(from)?),
            None => String::new(),
        };
        let distinct = match &select.distinct {
            Distinct::All => String::new(),
            Distinct::Rows if select.items.iter().any(|item| self.padded(item).is_some()) => {
                let keys: Result<Vec<String>> = select.items.iter().map(|item| self.key(item)).collect();
                format!("DISTINCT ON ({}) ", keys?.join(", "))
            }
            Distinct::Rows => "DISTINCT ".to_owned(),
            Distinct::On(keys) => format!("DISTINCT ON ({}) ", self.exprs(keys)?),
        };
        let keys: &[Expr] = match &select.group_by {
            GroupBy::None => &[],
            GroupBy::Keys(keys) | GroupBy::Sets { keys, .. } => keys,
        };
        let group_keys = self.group_keys(keys)?;
        // Texts that are alike may have other letters.
        let sets = matches!(select.group_by, GroupBy::Sets { .. });
        let of_key = |(key, words): (&Expr, &String)| match &key.kind {
            ExprKind::Collate { arg, collation, .. }
                if !collation.deterministic && (mysql::pads(collation) || !self.is_declared(arg, collation)) =>
            {
                Some(((**arg).clone(), sets.then(|| words.clone())))
            }
            // A view's keys have not been told their collations.
            ExprKind::Column(_) if self.padded(key).is_some() => Some((key.clone(), sets.then(|| words.clone()))),
            _ => None,
        };
        self.common = keys.iter().zip(&group_keys).filter_map(of_key).collect();
        let mut items = Vec::with_capacity(select.items.len());
        for (at, item) in select.items.iter().enumerate() {
            items.push(format!("{} AS c{at}", self.item(item)?));
        }
        let mut out = format!("SELECT {distinct}{}{from}", items.join(", "));
        if let Some(filter) = &select.filter {
            let common = std::mem::take(&mut self.common);
            let filter = self.expr(filter);
            self.common = common;
            out.push_str(&format!(" WHERE {}", filter?));
        }
        match &select.group_by {
            GroupBy::None => {}
            GroupBy::Keys(_) => out.push_str(&format!(" GROUP BY {}", group_keys.join(", "))),
            GroupBy::Sets { sets, .. } => {
                let keys = group_keys;
                let set = |set: &Vec<usize>| {
                    let members: Vec<&str> = set.iter().map(|at| keys[*at].as_str()).collect();
                    format!("({})", members.join(", "))
                };
                let sets: Vec<String> = sets.iter().map(set).collect();
                out.push_str(&format!(" GROUP BY GROUPING SETS ({})", sets.join(", ")));
            }
        }
        if let Some(having) = &select.having {
            out.push_str(&format!(" HAVING {}", self.expr(having)?));
        }
        self.outputs.insert(query.output, select.items.clone());
        Ok(out)
    }

    /// A result column. A literal that nothing has given a type is text for clients.
    fn item(&mut self, item: &Expr) -> Result<String> {
        let lowered = self.expr(item)?;
        Ok(if item.ty == Type::Unknown { format!("{lowered}::text") } else { lowered })
    }

    /// Keys of GROUP BY; constants would be read as places.
    fn group_keys(&mut self, keys: &[Expr]) -> Result<Vec<String>> {
        keys.iter().map(|key| self.key(key).map(|key| format!("({key})"))).collect()
    }

    /// The keys by which MySQL's DISTINCT sorts, in words of the result, where nothing else decides them.
    fn keys_of_what_is_told(&self, select: &Select, query: &Query) -> Option<Vec<SortKey>> {
        if !self.manner.mysql || !matches!(select.distinct, Distinct::Rows) || query.order_by.is_empty() {
            return None;
        }
        let mut keys = query.order_by.clone();
        for key in &mut keys {
            walk::expr_mut(&mut key.expr, &mut |part| {
                // How texts are compared is no part of what they are.
                let of = |item: &Expr| match &item.kind {
                    ExprKind::Collate { arg, .. } => arg.kind == part.kind,
                    kind => *kind == part.kind,
                };
                let Some(at) = select.items.iter().position(of) else { return true };
                let padded = self.padded(&select.items[at]);
                *part = Expr::column(query.output, at, part.ty.clone());
                if let Some(collation) = padded {
                    let (ty, place) = (part.ty.clone(), Place(-1));
                    let role = CollateRole::Operand { against_column: false };
                    let arg = Box::new(std::mem::replace(part, Expr::null(Type::Text)));
                    *part = Expr::new(ExprKind::Collate { arg, collation, role, place }, ty);
                }
                false
            });
        }
        let is_other = |part: &Expr| matches!(&part.kind, ExprKind::Column(column) if column.relation != query.output);
        (!keys.iter().any(|key| walk::any(&key.expr, is_other))).then_some(keys)
    }

    /// ORDER BY with its keys; `known` may say what a key is called.
    pub(super) fn keys(
        &mut self,
        keys: &[SortKey],
        known: impl Fn(usize, &SortKey) -> Option<String>,
    ) -> Result<String> {
        let mut words = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            let lowered = match known(at, key) {
                Some(lowered) => lowered,
                None => self.key(&key.expr)?,
            };
            let order = if key.descending { "DESC" } else { "ASC" };
            let nulls = if key.nulls_first { "FIRST" } else { "LAST" };
            let by = self.order_of(&key.expr.ty);
            words.push(format!("{lowered}{by} {order} NULLS {nulls}"));
        }
        Ok(if words.is_empty() { String::new() } else { format!(" ORDER BY {}", words.join(", ")) })
    }

    pub(super) fn from(&mut self, from: &From) -> Result<String> {
        match from {
            From::Relation { id, relation, filter } => {
                is_users(relation)?;
                if filter.is_some() {
                    return Err(missing("a policy"));
                }
                let alias = self.enter(*id, relation);
                Ok(format!("{}{} AS {alias}", self.only(), super::named(relation)))
            }
            From::Query { id, query, lateral } => {
                let word = if *lateral { "LATERAL " } else { "" };
                Ok(format!("{word}{} AS r{}{}", self.nested(query)?, id.0, places(&query.columns)))
            }
            From::Cte { id, cte, columns } => {
                let sorted = if self.climbs.contains(cte) { "s" } else { "" };
                Ok(format!("w{}{sorted} AS r{}{}", cte.0, id.0, places(columns)))
            }
            From::Function { id, function, args, columns, ordinality } => {
                let call = self.call_of(function, args)?;
                let ordinality = if *ordinality { " WITH ORDINALITY" } else { "" };
                Ok(format!("{call}{ordinality} AS r{}{}", id.0, places(columns)))
            }
            From::Join { kind, left, right, on } => {
                let (left, right) = (self.from(left)?, self.from(right)?);
                let word = match kind {
                    JoinKind::Inner => "INNER",
                    JoinKind::Left => "LEFT",
                    JoinKind::Right => "RIGHT",
                    JoinKind::Full => "FULL",
                };
                let on = match on {
                    Some(on) => self.expr(on)?,
                    None => "true".to_owned(),
                };
                Ok(format!("({left} {word} JOIN {right} ON {on})"))
            }
            From::Kept { .. } => Err(missing("a statement in parts")),
        }
    }

    /// A constant of a type.
    pub(super) fn constant(&self, value: &crate::ir::Value, ty: &Type) -> Result<String> {
        use crate::ir::Value;
        let words = type_words(ty)?;
        let ty = if ty.distinct().is_some() { ty.through_domains() } else { ty };
        let plain = match (value, ty) {
            (Value::Null, Type::Unknown) => return Ok("NULL".to_owned()),
            (Value::Null, _) => "NULL".to_owned(),
            (Value::Text(value), Type::Unknown) => return Ok(text(value)),
            (value, ty) => {
                let (told, settings) = (crate::postgres::types::import(ty), crate::values::Settings::default());
                // Its fields are units there.
                let value = match ty {
                    Type::QualifiedInterval(_) => {
                        &crate::values::cast(value, ty, &told, CastContext::Implicit, &settings)?
                    }
                    _ => value,
                };
                text(&crate::values::output(value, &told, &settings)?)
            }
        };
        // The text is one of the type already; a length would cut it.
        let words = match ty {
            Type::Varchar(_) | Type::Lvarchar(_) | Type::Nvarchar(_) => "varchar".to_owned(),
            Type::Char(_) | Type::Nchar(_) => "bpchar".to_owned(),
            _ => words,
        };
        Ok(format!("{plain}::{words}"))
    }
}

/// What the rows above are called in the step of a recursive query.
fn above_in(from: &From, cte: CteId) -> Option<RelId> {
    match from {
        From::Cte { id, cte: found, .. } if *found == cte => Some(*id),
        From::Join { left, right, .. } => above_in(left, cte).or_else(|| above_in(right, cte)),
        _ => None,
    }
}

/// A value that is a call of no function: it has to stand where it is.
pub(super) fn is_default(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Default)
}
