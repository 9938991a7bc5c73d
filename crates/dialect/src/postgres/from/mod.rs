//! FROM: its members, tables and views, subqueries; functions and joins have files of their own.

mod function;
mod join;
pub(super) mod json_records;
mod rows_from;
mod sample;

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, node::Node as N};

pub(super) use sample::holds_sample;

use super::binder::{Beyond, Binder, BoundQuery, Clause, Entry, Scope, computed, outputs};
use super::{names, raw};
use crate::access::Privileges;
use crate::bind::view;
use crate::ir::{CastContext, Expr, From, JoinKind, Query};
use crate::pins::Pins;
use crate::plan::ResultColumn;
use crate::schema::{Relation, RelationKind};
use crate::uses::NamedRelation;
use crate::{Condition, Language, Result, Type};

impl Binder<'_> {
    /// Binds a FROM list: the join of its members, and the names that it brings into scope.
    pub(super) fn bind_from(&mut self, nodes: &[Node]) -> Result<(Option<From>, Vec<Entry>)> {
        let mut joined: Option<From> = None;
        let mut entries: Vec<Entry> = Vec::new();
        for node in nodes {
            let (from, new) = self.bind_from_item(node, &entries)?;
            self.merge_entries(&mut entries, new, node)?;
            joined = Some(match joined {
                None => from,
                Some(left) => {
                    From::Join { kind: JoinKind::Inner, left: Box::new(left), right: Box::new(from), on: None }
                }
            });
        }
        Ok((joined, entries))
    }

    /// Binds what stands beside the table that a statement changes.
    pub(super) fn bind_beside(&mut self, target: &Entry, nodes: &[Node]) -> Result<(Option<From>, Vec<Entry>)> {
        let beyond = self.beyond.len();
        if !nodes.is_empty() {
            self.beyond.push((target.name.clone(), Beyond::Target));
        }
        let bound = self.bind_from(nodes);
        self.beyond.truncate(beyond);
        bound
    }

    /// Adds names to a scope; each may stand once.
    pub(super) fn merge_entries(&mut self, entries: &mut Vec<Entry>, new: Vec<Entry>, node: &Node) -> Result<()> {
        for entry in new {
            let twice = entry.qualified
                && entries.iter().any(|known| {
                    known.qualified
                        && known.name == entry.name
                        && (known.schema == entry.schema || known.schema.is_none() || entry.schema.is_none())
                });
            if twice {
                return Err(self.error(
                    Condition::DuplicateAlias,
                    format!("table name \"{}\" specified more than once", entry.name),
                    alias_location(node),
                ));
            }
            entries.push(entry);
        }
        Ok(())
    }

    fn bind_from_item(&mut self, node: &Node, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let (from, entries) = self.item_of_from(node, left)?;
        self.note_shown(node, &from, &entries);
        Ok((from, entries))
    }

    fn item_of_from(&mut self, node: &Node, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        self.nested(|binder| match &node.node {
            Some(N::RangeVar(range)) => binder.range_var(range),
            Some(N::RangeSubselect(subselect)) => binder.range_subselect(subselect, left),
            Some(N::RangeFunction(function)) => binder.range_function(function, left),
            Some(N::JoinExpr(join)) => binder.join(join, left),
            Some(N::RangeTableSample(sample)) => binder.range_sample(sample, left),
            Some(N::RangeTableFunc(function)) => Err(binder.unsupported("XMLTABLE", function.location)),
            Some(N::JsonTable(_)) => Err(binder.unsupported("JSON_TABLE", -1)),
            _ => Err(binder.unsupported("this member of FROM", -1)),
        })
    }

    /// New names for columns, as `AS t(a, b)` gives them.
    fn rename(&self, entry: &mut Entry, alias: Option<&pg::Alias>, place: i32) -> Result<()> {
        let Some(alias) = alias else { return Ok(()) };
        let given = names::strings(&alias.colnames);
        if given.len() > entry.columns.len() {
            return Err(self.error(
                Condition::InvalidColumnReference,
                format!(
                    "table \"{}\" has {} columns available but {} columns specified",
                    alias.aliasname,
                    entry.columns.len(),
                    given.len()
                ),
                place,
            ));
        }
        for (column, name) in entry.columns.iter_mut().zip(given) {
            column.name = name.to_owned();
        }
        Ok(())
    }

    pub(in crate::postgres) fn range_var(&mut self, range: &pg::RangeVar) -> Result<(From, Vec<Entry>)> {
        let alias = range.alias.as_ref();
        let alias_name = alias.map(|alias| alias.aliasname.as_str());
        if range.schemaname.is_empty()
            && let Some(at) = self.ctes.iter().rposition(|cte| cte.name == range.relname)
        {
            let cte = self.ctes[at].clone();
            self.check_itself(&cte, range.location)?;
            self.ctes[at].referenced = true;
            if cte.silent {
                let message = format!("WITH query \"{}\" does not have a RETURNING clause", cte.name);
                return Err(self.error(Condition::FeatureNotSupported, message, range.location));
            }
            let (cte_id, columns) = (cte.id, cte.columns);
            let id = self.ids.relation();
            let mut entry = Entry::of_columns(alias_name.unwrap_or(&range.relname), id, &columns);
            entry.hidden = cte.hidden;
            self.rename(&mut entry, alias, range.location)?;
            return Ok((From::Cte { id, cte: cte_id, columns: outputs(&columns) }, vec![entry]));
        }
        let pin = self.pinned(range.location);
        let relation = match pin.as_ref().and_then(|pin| self.schema.relation_by_oid(pin.oid)) {
            Some(relation) => relation,
            None => self.relation(range)?,
        };
        self.effects.reads = true;
        // A text that is to be printed, or asked for the names in it, is taken as it says it.
        let members =
            if self.shown.is_some() || self.uses.is_some() { None } else { self.heirs_too(&relation, range.inh) };
        let (from, mut entry) = match members {
            Some(members) => self.family_table(&members, alias_name)?,
            None => self.table(&relation, alias_name, range.location)?,
        };
        if let From::Relation { id, .. } | From::Query { id, .. } = from {
            let (place, aliased) = (usize::try_from(range.location).ok(), alias.is_some());
            let named = NamedRelation { id, relation: relation.clone(), place, aliased };
            self.note(|uses| uses.relations.push(named));
        }
        if let Some(pin) = pin.filter(|pin| pin.oid == relation.oid) {
            entry.name = alias_name.unwrap_or(&range.relname).to_owned();
            entry.schema = alias.is_none().then(|| pin.namespace.clone());
            entry.pin(&pin, &alias.map(|alias| names::strings(&alias.colnames)).unwrap_or_default());
        } else {
            self.rename(&mut entry, alias, range.location)?;
        }
        Ok((from, vec![entry]))
    }

    /// A table as a member of FROM; a view of ours as the query behind it.
    pub(super) fn table(&mut self, relation: &Arc<Relation>, alias: Option<&str>, place: i32) -> Result<(From, Entry)> {
        let (definition, pins, barrier) = match &relation.kind {
            RelationKind::View { definition, options, pins } => (definition, Some(pins), options.security_barrier()),
            RelationKind::Sequence { definition } => (definition, None, false),
            _ => {
                let id = self.ids.relation();
                self.need(id, relation, Privileges::SELECT);
                let entry = Entry::of_relation(relation, id, alias);
                let filter = self.visible_rows(id, relation)?;
                return Ok((From::Relation { id, relation: relation.clone(), filter }, entry));
            }
        };
        let itself = |binder: &Self| {
            let message = format!("infinite recursion detected in rules for relation \"{}\"", relation.name);
            binder.error(Condition::InvalidObjectDefinition, message, place)
        };
        let (id, bound) = view::expanded(self, relation, itself, |binder| match relation.language {
            Language::Postgres | Language::Native | Language::Mysql => {
                binder.definition_query(&relation.name, (definition, relation.language), pins)
            }
            Language::Informix => binder.informix_view(relation, definition),
        })?;
        let bound = if self.is_mysql() { self.mysql_derived(bound, id) } else { bound };
        let mut entry = Entry::of_columns(alias.unwrap_or(&relation.name), id, &bound.columns);
        for (column, declared) in entry.columns.iter_mut().zip(&relation.columns) {
            column.name.clone_from(&declared.name);
        }
        for (position, column) in entry.columns.iter_mut().enumerate() {
            column.origin = Some((relation.oid, position));
            column.not_null &= self.is_mysql();
            column.identity = false;
        }
        entry.schema = alias.is_none().then(|| relation.namespace.clone());
        self.views_behind.insert(id, relation.clone());
        let mut query = bound.query;
        if barrier && query.limit.is_none() && query.offset.is_none() {
            // Nothing is asked of a subquery's rows before an OFFSET has let them pass.
            query.offset = Some(super::target::barrier());
        }
        Ok((From::Query { id, query: Box::new(query), lateral: false }, entry))
    }

    /// The query behind a view made in Informix SQL, its columns in PostgreSQL's types.
    fn informix_view(&mut self, relation: &Relation, definition: &str) -> Result<BoundQuery> {
        let query = crate::informix::view_query(
            definition,
            self.path,
            &self.context.database,
            &mut self.ids,
            &mut self.views,
            &mut self.needs,
        )
        .map_err(|error| error.detail(format!("In the view \"{}\".", relation.name)))?;
        let columns: Vec<ResultColumn> =
            query.columns.iter().map(|column| computed(column.name.clone(), column.ty.clone())).collect();
        let wanted: Vec<Type> = columns.iter().map(|column| super::types::import(&column.ty)).collect();
        let bound = BoundQuery { query, columns, places: Vec::new() };
        if bound.columns.iter().zip(&wanted).all(|(column, ty)| column.ty == *ty) {
            return Ok(bound);
        }
        let mut bound = bound.wrapped(&mut self.ids);
        if let crate::ir::Body::Select(select) = &mut bound.query.body {
            for (index, ty) in wanted.into_iter().enumerate() {
                select.items[index] = select.items[index].clone().cast(ty.clone(), CastContext::Implicit);
                bound.query.columns[index].ty = ty.clone();
                bound.columns[index].ty = ty;
            }
        }
        Ok(bound)
    }

    /// The query behind a view made in PostgreSQL's SQL, or in MySQL's, bound in a world of its own.
    pub(super) fn definition_query(
        &mut self,
        name: &str,
        (definition, language): (&str, Language),
        pins: Option<&Arc<Pins>>,
    ) -> Result<BoundQuery> {
        crate::budget::given(definition);
        let statements = raw::parse(definition).map_err(|error| {
            crate::Error::new(
                Condition::DataCorrupted,
                format!("the definition of view \"{name}\" cannot be read: {}", error.message),
            )
        })?;
        let Some(N::SelectStmt(select)) = statements.first().map(|statement| &*statement.tree) else {
            return Err(crate::Error::new(
                Condition::DataCorrupted,
                format!("the definition of view \"{name}\" is not a query"),
            ));
        };
        let source = self.source.take();
        let scopes = std::mem::take(&mut self.scopes);
        let ctes = std::mem::take(&mut self.ctes);
        let schema = std::mem::replace(&mut self.schema, self.path);
        let pins = std::mem::replace(&mut self.pins, pins.cloned());
        let rules = self.follow(language);
        let result = self.subquery(select, true);
        self.follow(rules);
        self.pins = pins;
        self.schema = schema;
        self.ctes = ctes;
        self.scopes = scopes;
        self.source = source;
        result
    }

    /// Binds something that may refer to names on its left, when it is LATERAL.
    fn laterally<T>(&mut self, lateral: bool, left: &[Entry], bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if !lateral && left.is_empty() {
            return bind(self);
        }
        let scope = match lateral {
            true => Scope { entries: left.to_vec(), clause: Clause::From, ..Scope::default() },
            false => Scope { out_of_reach: left.to_vec(), clause: Clause::From, ..Scope::default() },
        };
        Ok(self.with_scope(scope, bind)?.0)
    }

    fn range_subselect(&mut self, subselect: &pg::RangeSubselect, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let Some(N::SelectStmt(select)) = subselect.subquery.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(self.unsupported("this subquery in FROM", -1));
        };
        let lateral = subselect.lateral;
        let bound = self.laterally(lateral, left, |binder| match lateral {
            true => binder.within(Clause::FromQuery, |binder| binder.subquery(select, true)),
            false => binder.subquery(select, true),
        })?;
        let id = self.ids.relation();
        let bound = if self.is_mysql() { self.mysql_derived(bound, id) } else { bound };
        let alias = subselect.alias.as_ref();
        let name = alias.map_or("", |alias| alias.aliasname.as_str());
        let mut entry = Entry::of_columns(name, id, &bound.columns);
        entry.qualified = alias.is_some();
        self.rename(&mut entry, alias, -1)?;
        if self.is_mysql() {
            self.check_derived(&entry)?;
        }
        Ok((From::Query { id, query: Box::new(bound.query), lateral }, vec![entry]))
    }

    /// MySQL's: the columns of a table in FROM have different names.
    fn check_derived(&self, entry: &Entry) -> Result<()> {
        // What stands in parentheses before ORDER BY is no table of the user's.
        if entry.name == crate::mysql::PARENTHESIZED {
            return Ok(());
        }
        let names: Vec<&str> = entry.columns.iter().map(|column| column.name.as_str()).collect();
        let is_twice = |(at, name): &(usize, &&str)| names[..*at].iter().any(|known| known.eq_ignore_ascii_case(name));
        match names.iter().enumerate().find(is_twice) {
            Some((_, name)) => {
                let message = format!("Duplicate column name '{name}'");
                Err(crate::Error::new(Condition::DuplicateColumn, message).with_mysql(1060, "42S21"))
            }
            None => Ok(()),
        }
    }

    /// `SELECT items FROM from`.
    pub(super) fn plain_select(
        &mut self,
        items: Vec<Expr>,
        from: Option<From>,
        columns: &[ResultColumn],
    ) -> crate::ir::Query {
        let output = self.ids.relation();
        let select = crate::ir::Select {
            distinct: crate::ir::Distinct::All,
            items,
            from,
            filter: None,
            group_by: crate::ir::GroupBy::None,
            having: None,
        };
        Query::of(crate::ir::Body::Select(Box::new(select)), outputs(columns), output)
    }
}

/// Where a member of FROM has its name.
fn alias_location(node: &Node) -> i32 {
    match &node.node {
        Some(N::RangeVar(range)) => range.location,
        Some(N::RangeTableSample(sample)) => sample.relation.as_deref().map_or(-1, alias_location),
        Some(N::JoinExpr(join)) => join.rarg.as_deref().map_or(-1, alias_location),
        _ => -1,
    }
}
