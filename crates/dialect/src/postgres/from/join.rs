//! Joins, and the columns that USING and NATURAL merge.

use pg_query::protobuf::{self as pg, JoinType};

use crate::ir::{CompareOp, Expr, ExprKind, From, JoinKind};
use crate::postgres::binder::{Beyond, Binder, Clause, Entry, EntryColumn, Scope};
use crate::postgres::with::Within;
use crate::postgres::{expr, names};
use crate::{Condition, Result};

impl Binder<'_> {
    pub(super) fn join(&mut self, join: &pg::JoinExpr, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let kind = match join.jointype() {
            JoinType::JoinLeft => JoinKind::Left,
            JoinType::JoinRight => JoinKind::Right,
            JoinType::JoinFull => JoinKind::Full,
            _ => JoinKind::Inner,
        };
        let (Some(left_node), Some(right_node)) = (join.larg.as_deref(), join.rarg.as_deref()) else {
            return Err(crate::Error::internal("a join without sides"));
        };
        let (left_from, left_entries) = match kind {
            JoinKind::Right | JoinKind::Full => {
                self.not_itself(Within::OuterJoin, |binder| binder.bind_from_item(left_node, left))?
            }
            _ => self.bind_from_item(left_node, left)?,
        };
        // A lateral right side of an inner or left join sees the left side.
        let mut visible = left.to_vec();
        if matches!(kind, JoinKind::Inner | JoinKind::Left) {
            visible.extend(left_entries.iter().cloned());
        }
        let beyond = self.beyond.len();
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            let names = left_entries.iter().filter(|entry| entry.qualified).map(|entry| entry.name.clone());
            self.beyond.extend(names.map(|name| (name, Beyond::Join)));
        }
        let right = match kind {
            JoinKind::Left | JoinKind::Full => {
                self.not_itself(Within::OuterJoin, |binder| binder.bind_from_item(right_node, &visible))
            }
            _ => self.bind_from_item(right_node, &visible),
        };
        self.beyond.truncate(beyond);
        let (right_from, right_entries) = right?;
        let (mut left_entries, mut right_entries) = (left_entries, right_entries);
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            left_entries.iter_mut().for_each(|entry| entry.nullable = true);
        }
        if matches!(kind, JoinKind::Left | JoinKind::Full) {
            right_entries.iter_mut().for_each(|entry| entry.nullable = true);
        }
        let mut entries = left_entries.clone();
        self.merge_entries(&mut entries, right_entries.clone(), right_node)?;

        let shared: Option<Vec<String>> = if join.is_natural {
            let right: Vec<&EntryColumn> = unqualified(&right_entries).collect();
            Some(
                unqualified(&left_entries)
                    .filter(|column| right.iter().any(|other| self.is_called(other, &column.name)))
                    .map(|column| column.name.clone())
                    .collect(),
            )
        } else if join.using_clause.is_empty() {
            None
        } else {
            Some(names::strings(&join.using_clause).into_iter().map(str::to_owned).collect())
        };
        let mut merged: Option<Entry> = None;
        let on = match &shared {
            Some(shared) => {
                let (condition, entry) = self.merge_columns(kind, shared, &left_entries, &right_entries)?;
                merged = Some(entry);
                condition
            }
            None => match join.quals.as_deref() {
                Some(node) => {
                    let scope = Scope {
                        entries: entries.clone(),
                        clause: Clause::Join,
                        out_of_reach: left.to_vec(),
                        ..Scope::default()
                    };
                    let (condition, _) = self.with_scope(scope, |binder| {
                        let (condition, at) = binder.placed(node)?;
                        binder.condition(condition, "JOIN/ON", at)
                    })?;
                    Some(condition)
                }
                None => None,
            },
        };
        self.note_join(join, &right_from, shared.as_deref(), merged.as_mut());
        let shared = shared.unwrap_or_default();
        let using = merged.as_ref().zip(join.join_using_alias.as_ref()).map(|(merged, alias)| Entry {
            name: alias.aliasname.clone(),
            columns: merged.columns[..shared.len()].to_vec(),
            qualified: true,
            unqualified: false,
            ..merged.clone()
        });
        if let Some(merged) = merged {
            // The sides keep their names, but only the merged columns stand alone.
            for entry in &mut entries {
                entry.unqualified = false;
            }
            entries.push(merged);
        }
        if let Some(alias) = &join.alias {
            let mut columns: Vec<EntryColumn> = Vec::new();
            for entry in entries.iter().filter(|entry| entry.unqualified) {
                columns.extend(entry.columns.iter().cloned());
            }
            let mut entry = Entry {
                name: alias.aliasname.clone(),
                schema: None,
                columns,
                qualified: true,
                unqualified: true,
                row_is_value: false,
                row: None,
                nullable: false,
                hidden: 0,
                value: None,
                relation: None,
            };
            if !alias.colnames.is_empty() {
                // The names count columns, so that none of them may go.
                entry.columns.iter().for_each(|column| self.note_column(&column.expr, -1));
            }
            self.rename(&mut entry, Some(alias), -1)?;
            self.note_join_columns(&right_from, &mut entry);
            entries = vec![entry];
        } else if let Some(using) = using {
            // Behind it stands what the join merges, and nothing else.
            self.merge_entries(&mut entries, vec![using], right_node)?;
        }
        let from = From::Join { kind, left: Box::new(left_from), right: Box::new(right_from), on };
        Ok((from, entries))
    }

    /// A column has this name; to MySQL letters of any case are the same.
    fn is_called(&self, column: &EntryColumn, name: &str) -> bool {
        column.name == name || self.is_mysql() && column.name.eq_ignore_ascii_case(name)
    }

    /// Columns of USING or NATURAL: the condition, and the columns of the join as they stand alone.
    fn merge_columns(
        &mut self,
        kind: JoinKind,
        shared: &[String],
        left: &[Entry],
        right: &[Entry],
    ) -> Result<(Option<Expr>, Entry)> {
        let mut tests = Vec::with_capacity(shared.len());
        let mut columns = Vec::new();
        for name in shared {
            let side = |binder: &Self, entries: &[Entry], which: &str| -> Result<EntryColumn> {
                let mut found = unqualified(entries).filter(|column| binder.is_called(column, name));
                match (found.next(), found.next()) {
                    (Some(column), None) => Ok(column.clone()),
                    (Some(_), Some(_)) => Err(binder.error(
                        Condition::AmbiguousColumn,
                        format!("common column name \"{name}\" appears more than once in {which} table"),
                        -1,
                    )),
                    _ => Err(binder.error(
                        Condition::UndefinedColumn,
                        format!("column \"{name}\" specified in USING clause does not exist in {which} table"),
                        -1,
                    )),
                }
            };
            let a = side(self, left, "left")?;
            let b = side(self, right, "right")?;
            for side in [&a, &b] {
                self.note_column(&side.expr, -1);
                self.read_column(side);
            }
            tests.push(self.compare(CompareOp::Equal, (a.expr.clone(), -1), (b.expr.clone(), -1), -1)?);
            let (members, ty) = self.unify(vec![(a.expr.clone(), -1), (b.expr.clone(), -1)], "JOIN/USING")?;
            let same_type = a.expr.ty == ty && b.expr.ty == ty;
            let column = match kind {
                JoinKind::Inner | JoinKind::Left if a.expr.ty == ty => a,
                JoinKind::Right | JoinKind::Inner if b.expr.ty == ty => b,
                JoinKind::Full => EntryColumn {
                    name: name.clone(),
                    expr: Expr::new(ExprKind::Coalesce(members), ty),
                    origin: None,
                    not_null: same_type && a.not_null && b.not_null,
                    identity: false,
                },
                _ => {
                    let expr = members.into_iter().nth(usize::from(kind == JoinKind::Right));
                    let Some(expr) = expr else { return Err(crate::Error::internal("a merged column was lost")) };
                    EntryColumn { name: name.clone(), expr, origin: None, not_null: false, identity: false }
                }
            };
            columns.push(column);
        }
        for entries in [left, right] {
            columns.extend(
                unqualified(entries)
                    .filter(|column| !shared.iter().any(|name| self.is_called(column, name)))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        let condition = (!tests.is_empty()).then(|| expr::all_of(tests));
        let entry = Entry {
            name: String::new(),
            schema: None,
            columns,
            qualified: false,
            unqualified: true,
            row_is_value: false,
            row: None,
            nullable: false,
            hidden: 0,
            value: None,
            relation: None,
        };
        Ok((condition, entry))
    }
}

/// Columns that can be named alone.
fn unqualified(entries: &[Entry]) -> impl Iterator<Item = &EntryColumn> {
    entries.iter().filter(|entry| entry.unqualified).flat_map(|entry| entry.columns.iter())
}
