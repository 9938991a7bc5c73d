//! The members of FROM as they are printed.

use std::fmt::Write as _;

use super::super::print::Names as _;
use super::names::{Call, Called, Kind, Member};
use super::{OWN, STEP, Text, World, first_of, quote};
use crate::functions::FunctionKind;
use crate::ir::{Expr, ExprKind, From, JoinKind, OutputColumn, RelId, walk};

fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(quote).collect::<Vec<_>>().join(", ")
}

impl World<'_> {
    /// FROM.
    pub(super) fn members(&self, from: &From, pretty: bool, text: &mut Text) -> Option<()> {
        let around = self.beside.replace(self.all_in(from));
        let printed = self.relations(from, pretty, text);
        self.beside.replace(around);
        printed
    }

    /// The members of FROM, parted by commas.
    fn relations(&self, from: &From, pretty: bool, text: &mut Text) -> Option<()> {
        if let From::Join { kind: JoinKind::Inner, left, right, on: None } = from
            && !self.shown.joins.contains_key(&first_of(right))
        {
            self.relations(left, pretty, text)?;
            text.out.push_str(", ");
            let mut member = Text { indent: text.indent, ..Text::default() };
            self.member(right, pretty, &mut member)?;
            text.member_as_is(&member.out, self.wrap);
            return Some(());
        }
        self.member(from, pretty, text)
    }

    fn member(&self, from: &From, pretty: bool, text: &mut Text) -> Option<()> {
        if let From::Join { kind, left, right, on } = from {
            return self.join(*kind, left, right, on.as_ref(), pretty, text);
        }
        let member = self.shown.members.get(&first_of(from))?;
        if member.only {
            text.out.push_str("ONLY ");
        }
        let own = match (from, &member.call) {
            (_, Some(call)) => {
                if self.is_lateral(call) {
                    text.out.push_str("LATERAL ");
                }
                self.call(call, pretty, text)?;
                None
            }
            (From::Relation { relation, .. }, None) => {
                text.out.push_str(&self.relation_name(relation));
                Some(self.today(relation).name.clone())
            }
            (From::Query { id, .. }, None) if self.views.contains_key(id) => {
                let view = &self.views[id];
                text.out.push_str(&self.relation_name(view));
                Some(self.today(view).name.clone())
            }
            (From::Query { query, lateral, .. }, None) => {
                if *lateral {
                    text.out.push_str("LATERAL ");
                }
                let query = self.query(query, pretty, &OWN)?;
                text.nested(&format!("({query})"));
                None
            }
            (From::Cte { cte, .. }, None) => {
                let name = self.ctes.get(cte)?;
                text.out.push_str(&quote(name));
                Some(name.clone())
            }
            (From::Function { .. } | From::Kept { .. } | From::Join { .. }, _) => return None,
        };
        self.alias(first_of(from), member, own.as_deref(), text)?;
        if let Some(sample) = &member.sample {
            write!(text.out, " TABLESAMPLE {} ({})", sample.method, self.expr(&sample.percent, pretty)?).ok()?;
            if let Some(seed) = &sample.seed {
                write!(text.out, " REPEATABLE ({})", self.expr(seed, pretty)?).ok()?;
            }
        }
        Some(())
    }

    /// The name behind a member of FROM, where it needs one, and those of its columns.
    fn alias(&self, id: RelId, member: &Member, own: Option<&str>, text: &mut Text) -> Option<()> {
        let called = self.called(id)?;
        let level = self.level.borrow();
        let columns = level.columns.get(&id)?;
        let always = member.alias.is_some() || columns.listed || matches!(member.kind, Kind::Query | Kind::Function);
        if always || own != Some(&called) {
            write!(text.out, " {}", quote(&called)).ok()?;
        }
        if let Some(defined) = member.call.as_ref().and_then(|call| call.defined.as_ref()) {
            write!(text.out, "({})", self.definitions(defined)).ok()?;
        } else if columns.listed {
            write!(text.out, "({})", quoted(columns.list())).ok()?;
        }
        Some(())
    }

    fn join(
        &self,
        kind: JoinKind,
        left: &From,
        right: &From,
        on: Option<&Expr>,
        pretty: bool,
        text: &mut Text,
    ) -> Option<()> {
        let join = self.shown.joins.get(&first_of(right))?;
        let parentheses = !pretty || join.alias.is_some();
        if parentheses {
            text.out.push('(');
        }
        self.member(left, pretty, text)?;
        let word = match kind {
            JoinKind::Inner if on.is_none() && join.using.is_empty() => " CROSS JOIN ",
            JoinKind::Inner => " JOIN ",
            JoinKind::Left => " LEFT JOIN ",
            JoinKind::Right => " RIGHT JOIN ",
            JoinKind::Full => " FULL JOIN ",
        };
        text.line(word, -STEP, STEP, 4);
        let within = match right {
            From::Join { right, .. } => self.shown.joins.get(&first_of(right)),
            _ => None,
        };
        // One with a name stands in parentheses by itself.
        let nested = pretty && within.is_some_and(|within| within.alias.is_none());
        if nested {
            text.out.push('(');
        }
        self.member(right, pretty, text)?;
        if nested {
            text.out.push(')');
        }
        let (using, listed) = {
            let level = self.level.borrow();
            let columns = level.columns.get(&join.id)?;
            let using = quoted(columns.using.iter().map(String::as_str));
            (using, columns.listed.then(|| quoted(columns.list())))
        };
        if !join.using.is_empty() {
            write!(text.out, " USING ({using})").ok()?;
            if let Some(alias) = &join.using_alias {
                write!(text.out, " AS {}", quote(alias)).ok()?;
            }
        } else if let Some(on) = on {
            let on = self.expr(on, pretty)?;
            text.out.push_str(" ON ");
            text.nested(&if pretty { on } else { format!("({on})") });
        } else if kind != JoinKind::Inner {
            text.out.push_str(" ON TRUE");
        }
        if parentheses {
            text.out.push(')');
        }
        if join.alias.is_some() {
            write!(text.out, " {}", quote(&self.called(join.id)?)).ok()?;
            if let Some(listed) = listed {
                write!(text.out, "({listed})").ok()?;
            }
        }
        Some(())
    }

    /// A function.
    fn call(&self, call: &Call, pretty: bool, text: &mut Text) -> Option<()> {
        text.nested(&self.called_as(call, pretty)?);
        if call.ordinality {
            text.out.push_str(" WITH ORDINALITY");
        }
        Some(())
    }

    fn called_as(&self, call: &Call, pretty: bool) -> Option<String> {
        Some(match &call.value {
            Called::Together(calls) => {
                let each = |call: &Call| {
                    let called = self.called_as(call, pretty)?;
                    Some(match &call.defined {
                        Some(defined) => format!("{called} AS ({})", self.definitions(defined)),
                        None => called,
                    })
                };
                format!("ROWS FROM({})", calls.iter().map(each).collect::<Option<Vec<_>>>()?.join(", "))
            }
            Called::Rows(function, args) => format!("{}({})", quote(function.name), self.exprs(args, pretty)?),
            Called::Unnest(arrays) => format!("UNNEST({})", self.exprs(arrays, pretty)?),
            Called::Value(value) if looks_like_a_call(value) => self.expr(value, pretty)?,
            Called::Value(value) => format!("CAST({} AS {})", self.expr(value, pretty)?, self.type_words(&value.ty)),
        })
    }

    fn definitions(&self, columns: &[OutputColumn]) -> String {
        let column = |column: &OutputColumn| format!("{} {}", quote(&column.name), self.type_words(&column.ty));
        columns.iter().map(column).collect::<Vec<_>>().join(", ")
    }

    /// A function in FROM is told something of the relations beside it.
    fn is_lateral(&self, call: &Call) -> bool {
        let beside = self.beside.borrow();
        let of_beside = |expr: &Expr| {
            let mut found = false;
            walk::expr(expr, &mut |part| {
                found |= matches!(part.kind, ExprKind::Column(column) if beside.contains(&column.relation));
                !found
            });
            found
        };
        match &call.value {
            Called::Rows(_, args) | Called::Unnest(args) => args.iter().any(of_beside),
            Called::Value(value) => of_beside(value),
            Called::Together(calls) => calls.iter().any(|call| self.is_lateral(call)),
        }
    }

    /// The relations of a FROM, and what joins make of them.
    fn all_in(&self, from: &From) -> Vec<RelId> {
        let mut found = from.relations();
        let joins: Vec<RelId> = found.iter().filter_map(|id| Some(self.shown.joins.get(id)?.id)).collect();
        found.extend(joins);
        found
    }
}

/// True for what the grammar takes as a function in FROM.
fn looks_like_a_call(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call { function, .. } => function.kind != FunctionKind::Operator,
        ExprKind::Coalesce(_) | ExprKind::Greatest(_) | ExprKind::Least(_) | ExprKind::NullIf(..) => true,
        // A length that CURRENT_TIMESTAMP and its kin are given.
        ExprKind::Cast { arg, .. } => matches!(
            &arg.kind,
            ExprKind::Call { function, args } if args.is_empty() && function.name.starts_with("current_")
                || function.name.starts_with("local")
        ),
        _ => false,
    }
}
