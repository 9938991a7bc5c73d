//! WITH: queries and changes that a statement names, and those that call themselves.

use pg_query::protobuf::{self as pg, CteMaterialize, SetOperation, node::Node as N};

use super::binder::{Binder, BoundQuery, CteEntry, outputs};
use super::names;
use crate::ir::{Cte, CteBody, SetOp};
use crate::plan::ResultColumn;
use crate::{Condition, Result};

impl Binder<'_> {
    /// Binds WITH and leaves its members in scope.
    pub(super) fn with_clause(&mut self, with: &pg::WithClause) -> Result<Vec<Cte>> {
        let mut ctes: Vec<Cte> = Vec::with_capacity(with.ctes.len());
        for node in &with.ctes {
            let Some(N::CommonTableExpr(cte)) = &node.node else { continue };
            if ctes.iter().any(|known| known.name == cte.ctename) {
                return Err(self.error(
                    Condition::DuplicateAlias,
                    format!("WITH query name \"{}\" specified more than once", cte.ctename),
                    cte.location,
                ));
            }
            if cte.search_clause.is_some() || cte.cycle_clause.is_some() {
                return Err(self.unsupported("SEARCH or CYCLE", cte.location));
            }
            let (cte, columns) = self.nested(|binder| binder.common_table(cte, with.recursive))?;
            let silent = matches!(&cte.body, CteBody::Dml(dml) if dml.returning.is_empty());
            self.ctes.push(CteEntry { name: cte.name.clone(), id: cte.id, columns, referenced: false, silent });
            ctes.push(cte);
        }
        Ok(ctes)
    }

    fn common_table(&mut self, cte: &pg::CommonTableExpr, recursive: bool) -> Result<(Cte, Vec<ResultColumn>)> {
        let id = self.ids.cte();
        let materialized = match cte.ctematerialized() {
            CteMaterialize::Always => Some(true),
            CteMaterialize::Never => Some(false),
            _ => None,
        };
        let query_node = cte.ctequery.as_deref().and_then(|node| node.node.as_ref());
        let mut is_recursive = false;
        let (body, mut columns) = match query_node {
            Some(N::SelectStmt(select))
                if recursive
                    && select.op() == SetOperation::SetopUnion
                    && select.with_clause.is_none()
                    && select.larg.is_some() =>
            {
                let (bound, found) = self.recursive_union(cte, select, id)?;
                is_recursive = found;
                (CteBody::Query(Box::new(bound.query)), bound.columns)
            }
            Some(N::SelectStmt(select)) => {
                let bound = self.subquery(select, true)?;
                (CteBody::Query(Box::new(bound.query)), bound.columns)
            }
            Some(statement @ (N::InsertStmt(_) | N::UpdateStmt(_) | N::DeleteStmt(_))) => {
                let (dml, columns) = self.dml(statement)?;
                (CteBody::Dml(Box::new(dml)), columns)
            }
            Some(N::MergeStmt(_)) => return Err(self.unsupported("MERGE", cte.location)),
            _ => return Err(self.unsupported("this statement in WITH", cte.location)),
        };
        self.rename_columns(&mut columns, cte)?;
        if !cte.aliascolnames.is_empty() {
            self.note_named_columns(id);
        }
        let outputs = outputs(&columns);
        let cte = Cte { name: cte.ctename.clone(), id, recursive: is_recursive, materialized, body, columns: outputs };
        Ok((cte, columns))
    }

    fn rename_columns(&self, columns: &mut [ResultColumn], cte: &pg::CommonTableExpr) -> Result<()> {
        let given = names::strings(&cte.aliascolnames);
        if given.len() > columns.len() {
            return Err(self.error(
                Condition::InvalidColumnReference,
                format!(
                    "WITH query \"{}\" has {} columns available but {} columns specified",
                    cte.ctename,
                    columns.len(),
                    given.len()
                ),
                cte.location,
            ));
        }
        for (column, name) in columns.iter_mut().zip(given) {
            column.name = name.to_owned();
        }
        Ok(())
    }

    /// A UNION whose right side may refer to the member itself; tells whether it does.
    fn recursive_union(
        &mut self,
        cte: &pg::CommonTableExpr,
        select: &pg::SelectStmt,
        id: crate::ir::CteId,
    ) -> Result<(BoundQuery, bool)> {
        let (Some(left), Some(right)) = (&select.larg, &select.rarg) else {
            return Err(crate::Error::internal("a set operation without sides"));
        };
        let left = self.subquery(left, true)?;
        let mut columns = left.columns.clone();
        self.rename_columns(&mut columns, cte)?;
        for column in &mut columns {
            column.origin = None;
            column.not_null = false;
            column.identity = false;
        }
        let visible = self.ctes.len();
        self.ctes.push(CteEntry { name: cte.ctename.clone(), id, columns, referenced: false, silent: false });
        let right = self.subquery(right, false)?;
        let referenced = self.ctes.get(visible).is_some_and(|entry| entry.referenced);
        self.ctes.truncate(visible);
        if referenced {
            let plain = select.sort_clause.is_empty()
                && select.limit_count.is_none()
                && select.limit_offset.is_none()
                && select.locking_clause.is_empty();
            if !plain {
                return Err(self.unsupported("ORDER BY, LIMIT or FOR UPDATE in a recursive query", cte.location));
            }
            if left.columns.len() == right.columns.len() {
                for (index, (a, b)) in left.columns.iter().zip(&right.columns).enumerate() {
                    let overall = self.common_type(&[(&a.ty, -1), (&b.ty, -1)], "UNION")?;
                    if a.ty != overall {
                        return Err(self
                            .error(
                                Condition::DatatypeMismatch,
                                format!(
                                    "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                                    cte.ctename,
                                    index + 1,
                                    super::types::format_type(&a.ty),
                                    super::types::format_type(&overall)
                                ),
                                left.places.get(index).copied().unwrap_or(-1),
                            )
                            .hint("Cast the output of the non-recursive term to the correct type."));
                    }
                }
            }
        }
        let bound = self.combine(select, SetOp::Union, "UNION", left, right)?;
        Ok((bound, referenced))
    }
}
