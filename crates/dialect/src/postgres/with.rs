//! WITH: queries and changes that a statement names, and those that call themselves.

use pg_query::protobuf::{self as pg, CteMaterialize, SetOperation, node::Node as N};

use super::binder::{Binder, BoundQuery, CteEntry, outputs};
use super::expr::location;
use super::{names, search_cycle};
use crate::bind::query::converted;
use crate::ir::{self, CastContext, Cte, CteBody, CteId, SetOp};
use crate::plan::ResultColumn;
use crate::{Condition, Error, Result, Type};

/// Where a query that calls itself is named while it is bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Within {
    /// Where it may be.
    RecursiveTerm,
    /// On the left of its UNION.
    FirstTerm,
    /// In an expression, or in a query of its own WITH.
    Subquery,
    /// On a side of an outer join that may have no row.
    OuterJoin,
    /// On a side of INTERSECT ALL.
    Intersect,
    /// On a side of EXCEPT that takes rows away.
    Except,
    /// In a query that is no UNION.
    NoUnion,
    /// In a change of rows.
    Change,
    /// Before it is bound: it stands behind what names it.
    Earlier,
}

/// The members of one WITH on their way.
struct Members<'w> {
    nodes: Vec<&'w pg::CommonTableExpr>,
    recursive: bool,
    /// What stands for those that are not bound yet; empty where none can be named.
    later: Vec<CteId>,
    done: Vec<bool>,
    under_way: Vec<usize>,
    bound: Vec<Cte>,
}

impl Binder<'_> {
    /// Binds WITH and leaves its members in scope.
    pub(super) fn with_clause(&mut self, with: &pg::WithClause) -> Result<Vec<Cte>> {
        // Its members have rules of their own.
        let ruled = self.ruled.take();
        let members = self.members_of(with);
        self.ruled = ruled;
        members
    }

    fn members_of(&mut self, with: &pg::WithClause) -> Result<Vec<Cte>> {
        let mut nodes: Vec<&pg::CommonTableExpr> = Vec::with_capacity(with.ctes.len());
        for node in &with.ctes {
            let Some(N::CommonTableExpr(cte)) = &node.node else { continue };
            if nodes.iter().any(|known| known.ctename == cte.ctename) {
                return Err(self.error(
                    Condition::DuplicateAlias,
                    format!("WITH query name \"{}\" specified more than once", cte.ctename),
                    cte.location,
                ));
            }
            nodes.push(cte);
        }
        let later = match with.recursive && nodes.len() > 1 {
            true => nodes.iter().map(|_| self.ids.cte()).collect(),
            false => Vec::new(),
        };
        let done = vec![false; nodes.len()];
        let bound = Vec::with_capacity(nodes.len());
        let mut members = Members { nodes, recursive: with.recursive, later, done, under_way: Vec::new(), bound };
        for at in 0..members.nodes.len() {
            if !members.done[at] {
                self.member_of_with(&mut members, at)?;
            }
        }
        Ok(members.bound)
    }

    /// Binds a member, and before it those behind it that it names.
    fn member_of_with(&mut self, members: &mut Members<'_>, at: usize) -> Result<()> {
        members.under_way.push(at);
        let cte = members.nodes[at];
        let (bound, columns, before) = loop {
            let visible = self.ctes.len();
            for (other, id) in members.later.iter().enumerate() {
                if other != at && !members.done[other] {
                    let node = members.nodes[other];
                    self.ctes.push(CteEntry::within(&node.ctename, *id, node.location, Within::Earlier));
                }
            }
            let result = self.nested(|binder| binder.common_table(cte, members.recursive));
            self.ctes.truncate(visible);
            let named = self.later.and_then(|named| members.later.iter().position(|id| *id == named));
            match (result, named) {
                (Err(_), Some(named)) => {
                    self.later = None;
                    if members.under_way.contains(&named) {
                        let first = members.done.iter().position(|done| !done).unwrap_or(at);
                        let message = "mutual recursion between WITH items is not implemented";
                        let place = members.nodes[first].location;
                        return Err(self.error(Condition::FeatureNotSupported, message, place));
                    }
                    self.nested(|binder| binder.member_of_with(members, named))?;
                }
                (result, _) => break result?,
            }
        };
        let silent = matches!(&bound.body, CteBody::Dml(dml) if dml.returning.is_empty());
        let (name, id) = (bound.name.clone(), bound.id);
        self.ctes.push(CteEntry {
            columns,
            silent,
            within: None,
            ..CteEntry::within(&name, id, cte.location, Within::Earlier)
        });
        members.bound.extend(before);
        members.bound.push(bound);
        members.under_way.pop();
        members.done[at] = true;
        Ok(())
    }

    /// A member, its columns, and members of its own WITH that have to stand before it.
    fn common_table(
        &mut self,
        cte: &pg::CommonTableExpr,
        recursive: bool,
    ) -> Result<(Cte, Vec<ResultColumn>, Vec<Cte>)> {
        let id = self.ids.cte();
        let materialized = match cte.ctematerialized() {
            CteMaterialize::Always => Some(true),
            CteMaterialize::Never => Some(false),
            _ => None,
        };
        let query_node = cte.ctequery.as_deref().and_then(|node| node.node.as_ref());
        let mut is_recursive = false;
        let mut before = Vec::new();
        let added = self.search_and_cycle(cte)?;
        let (body, mut columns) = match query_node {
            Some(N::SelectStmt(select))
                if recursive && select.op() == SetOperation::SetopUnion && select.larg.is_some() =>
            {
                let (mut bound, found) = self.recursive_union(cte, select, id, added.as_ref())?;
                is_recursive = found;
                if found && self.shown.is_none() {
                    // The UNION of a recursive query stands at its top.
                    before = std::mem::take(&mut bound.query.ctes);
                }
                (CteBody::Query(Box::new(bound.query)), bound.columns)
            }
            Some(N::SelectStmt(select)) => {
                let bound =
                    self.naming_itself(cte, id, recursive, Within::NoUnion, |binder| binder.subquery(select, true))?;
                let bound = if self.is_mysql() { self.mysql_kept(bound) } else { bound };
                (CteBody::Query(Box::new(bound.query)), bound.columns)
            }
            Some(statement @ (N::InsertStmt(_) | N::UpdateStmt(_) | N::DeleteStmt(_))) => {
                let (dml, columns) =
                    self.naming_itself(cte, id, recursive, Within::Change, |binder| binder.change_in_with(statement))?;
                (CteBody::Dml(Box::new(dml)), columns)
            }
            Some(N::MergeStmt(_)) => return Err(self.unsupported("MERGE", cte.location)),
            _ => return Err(self.unsupported("this statement in WITH", cte.location)),
        };
        if added.is_some() && !is_recursive {
            return Err(self.error(Condition::SyntaxError, "WITH query is not recursive", cte.location));
        }
        self.rename_columns(&mut columns, cte)?;
        if !cte.aliascolnames.is_empty() {
            self.note_named_columns(id);
        }
        if let Some(added) = added {
            self.note_added_columns(id, added);
        }
        let outputs = outputs(&columns);
        let cte = Cte { name: cte.ctename.clone(), id, recursive: is_recursive, materialized, body, columns: outputs };
        Ok((cte, columns, before))
    }

    /// Binds a part of a member of WITH RECURSIVE that must not name the member itself.
    fn naming_itself<T>(
        &mut self,
        cte: &pg::CommonTableExpr,
        id: CteId,
        recursive: bool,
        within: Within,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if !recursive {
            return bind(self);
        }
        let visible = self.ctes.len();
        self.ctes.push(CteEntry::within(&cte.ctename, id, cte.location, within));
        let result = bind(self);
        self.ctes.truncate(visible);
        result
    }

    /// Binds a part of a recursive side in which the query must not name itself.
    pub(super) fn not_itself<T>(&mut self, within: Within, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let open = |entry: &CteEntry| entry.within == Some(Within::RecursiveTerm);
        let entries: Vec<usize> = (0..self.ctes.len()).filter(|at| open(&self.ctes[*at])).collect();
        for at in &entries {
            self.ctes[*at].within = Some(within);
        }
        let result = bind(self);
        for at in entries {
            if let Some(entry) = self.ctes.get_mut(at) {
                entry.within = Some(Within::RecursiveTerm);
            }
        }
        result
    }

    /// Refuses aggregates over the rows of the query that is being defined.
    pub(super) fn refuse_aggregates_of_itself(&self, query: &ir::Query) -> Result<()> {
        let ir::Body::Select(select) = &query.body else { return Ok(()) };
        let open = |entry: &&CteEntry| entry.referenced && entry.within == Some(Within::RecursiveTerm);
        for entry in self.ctes.iter().filter(open) {
            if select.from.as_ref().is_some_and(|from| search_cycle::reference(from, entry.id).is_some()) {
                let message = "aggregate functions are not allowed in a recursive query's recursive term";
                return Err(Error::new(Condition::InvalidRecursion, message));
            }
        }
        Ok(())
    }

    /// Asks whether a member of WITH may be named here.
    pub(super) fn check_itself(&mut self, entry: &CteEntry, place: i32) -> Result<()> {
        let Some(within) = entry.within else { return Ok(()) };
        let name = &entry.name;
        let words = match within {
            Within::RecursiveTerm if !entry.referenced => return Ok(()),
            Within::RecursiveTerm => "more than once",
            Within::FirstTerm => "within its non-recursive term",
            Within::Subquery => "within a subquery",
            Within::OuterJoin => "within an outer join",
            Within::Intersect => "within INTERSECT",
            Within::Except => "within EXCEPT",
            Within::NoUnion | Within::Change => {
                let message = match within {
                    Within::NoUnion => format!(
                        "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
                    ),
                    _ => format!("recursive query \"{name}\" must not contain data-modifying statements"),
                };
                return Err(self.error(Condition::InvalidRecursion, message, entry.place));
            }
            Within::Earlier => {
                self.later = Some(entry.id);
                return Err(self.unsupported("a reference to a later member of WITH", place));
            }
        };
        let message = format!("recursive reference to query \"{name}\" must not appear {words}");
        Err(self.error(Condition::InvalidRecursion, message, place))
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
        id: CteId,
        added: Option<&super::search_cycle::Added>,
    ) -> Result<(BoundQuery, bool)> {
        let outer = self.ctes.len();
        let result = self.union_of_itself(cte, select, id, added);
        self.ctes.truncate(outer);
        result
    }

    fn union_of_itself(
        &mut self,
        cte: &pg::CommonTableExpr,
        select: &pg::SelectStmt,
        id: CteId,
        added: Option<&super::search_cycle::Added>,
    ) -> Result<(BoundQuery, bool)> {
        let (Some(left), Some(right)) = (&select.larg, &select.rarg) else {
            return Err(Error::internal("a set operation without sides"));
        };
        let own = match &select.with_clause {
            None => Vec::new(),
            Some(with) => {
                let visible = self.ctes.len();
                self.ctes.push(CteEntry::within(&cte.ctename, id, cte.location, Within::Subquery));
                let own = self.with_clause(with)?;
                self.ctes.remove(visible);
                own
            }
        };
        let left = self.naming_itself(cte, id, true, Within::FirstTerm, |binder| binder.subquery(left, true))?;
        let mut columns = left.columns.clone();
        self.rename_columns(&mut columns, cte)?;
        for column in &mut columns {
            column.origin = None;
            column.not_null = false;
            column.identity = false;
        }
        // Whether it is recursive at all is asked first.
        let (more, refused) = match added.map(|added| self.added_columns(added, &columns)) {
            Some(Err(error)) => (Vec::new(), Some(error)),
            more => (more.transpose()?.unwrap_or_default(), None),
        };
        let visible = self.ctes.len();
        let mut entry = CteEntry::within(&cte.ctename, id, cte.location, Within::RecursiveTerm);
        entry.hidden = more.len();
        entry.columns = columns.iter().cloned().chain(more).collect();
        self.ctes.push(entry);
        let mut right = self.subquery(right, false)?;
        let referenced = self.ctes.get(visible).is_some_and(|entry| entry.referenced);
        self.ctes.truncate(visible);
        if referenced && self.is_mysql() && left.columns.len() == right.columns.len() {
            right = self.as_first_side(&left, right)?;
        }
        if referenced {
            self.check_recursion(cte, select, &left, &right)?;
            if added.is_some() {
                Self::check_expandable(&left.query, &right.query)?;
            }
            if let Some(error) = refused {
                return Err(error);
            }
        }
        let mut bound = self.combine(select, SetOp::Union, left, right)?;
        if let (true, Some(added)) = (referenced, added) {
            bound = self.extended(added, &cte.ctename, id, &columns, bound)?;
        }
        bound.query.ctes = own;
        if !referenced {
            self.limits(select, &mut bound.query)?;
            self.refuse_locking(select, "UNION/INTERSECT/EXCEPT")?;
        }
        Ok((bound, referenced))
    }

    /// The second side of a recursive query of MySQL's, whose columns have the types of the first, whatever comes to them.
    fn as_first_side(&mut self, left: &BoundQuery, right: BoundQuery) -> Result<BoundQuery> {
        let mut wanted = Vec::with_capacity(left.columns.len());
        for (a, b) in left.columns.iter().zip(&right.columns) {
            let overall = self.common_type(&[(&a.ty, -1), (&b.ty, -1)], "UNION")?;
            wanted.push(if a.ty == overall || a.ty == Type::Unknown { b.ty.clone() } else { a.ty.clone() });
        }
        converted(self, right, &wanted, CastContext::Assignment, &[])
    }

    /// A recursive query has nothing behind its UNION, and the types of its first side.
    fn check_recursion(
        &self,
        cte: &pg::CommonTableExpr,
        select: &pg::SelectStmt,
        left: &BoundQuery,
        right: &BoundQuery,
    ) -> Result<()> {
        let place = |node: &Option<Box<pg::Node>>| node.as_deref().map_or(-1, location);
        let sorted_at = match select.sort_clause.first().map(|node| &node.node) {
            Some(Some(N::SortBy(sort))) => place(&sort.node),
            _ => -1,
        };
        let behind = [
            (!select.sort_clause.is_empty(), "ORDER BY", sorted_at),
            (select.limit_offset.is_some(), "OFFSET", place(&select.limit_offset)),
            (select.limit_count.is_some(), "LIMIT", place(&select.limit_count)),
            (!select.locking_clause.is_empty(), "FOR UPDATE/SHARE", -1),
        ];
        if let Some((_, what, place)) = behind.into_iter().find(|(there, _, _)| *there) {
            let message = format!("{what} in a recursive query is not implemented");
            return Err(self.error(Condition::FeatureNotSupported, message, place));
        }
        if left.columns.len() != right.columns.len() {
            return Ok(());
        }
        for (index, (a, b)) in left.columns.iter().zip(&right.columns).enumerate() {
            let overall = self.common_type(&[(&a.ty, -1), (&b.ty, -1)], "UNION")?;
            if a.ty != overall {
                let message = format!(
                    "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                    cte.ctename,
                    index + 1,
                    super::types::format_type(&a.ty),
                    super::types::format_type(&overall)
                );
                let place = left.places.get(index).copied().unwrap_or(-1);
                return Err(self
                    .error(Condition::DatatypeMismatch, message, place)
                    .hint("Cast the output of the non-recursive term to the correct type."));
            }
        }
        let columns = || left.columns.iter().map(|column| &column.ty);
        if !select.all && columns().all(Type::is_comparable) && !columns().all(is_hashable) {
            let message = "could not implement recursive UNION";
            return Err(self
                .error(Condition::FeatureNotSupported, message, -1)
                .detail("All column datatypes must be hashable."));
        }
        Ok(())
    }
}

/// PostgreSQL has a hash of the type's values.
fn is_hashable(ty: &Type) -> bool {
    const HASH: u32 = 405;
    let ty = ty.through_domains();
    if let Type::Array(element) = ty {
        return is_hashable(element);
    }
    if let Some(fields) = ty.row_fields() {
        return fields.iter().all(|field| field.dropped || is_hashable(&field.ty));
    }
    let oid = super::types::oid(ty);
    let own = rowferry_facts::OperatorClass::all().iter().filter(|class| class.input == oid);
    let mut methods = own.map(|class| class.method).peekable();
    // What has no class of its own goes by a type that it can be taken for.
    methods.peek().is_none() || methods.any(|method| method == HASH)
}
