//! FROM: tables, views, subqueries, functions, joins; WITH.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, CteMaterialize, JoinType, Node, SetOperation, node::Node as N};

use super::binder::{Binder, BoundQuery, Clause, CteEntry, Entry, EntryColumn, Scope, computed, outputs};
use super::expr::calls::function_name;
use super::expr::location;
use super::routine;
use super::viewdef::Called;
use super::{names, raw};
use crate::access::Privileges;
use crate::functions::FunctionKind;
use crate::ir::{CastContext, CompareOp, Cte, CteBody, Expr, ExprKind, From, JoinKind, OutputColumn, SetOp};
use crate::pins::Pins;
use crate::plan::ResultColumn;
use crate::schema::{Relation, RelationKind};
use crate::uses::NamedRelation;
use crate::{Condition, Language, Result, Type};

/// A function as a member of FROM.
struct FunctionSource {
    from: From,
    name: String,
    columns: Vec<OutputColumn>,
    /// What the columns are, where they are not just the member's own.
    values: Vec<Expr>,
}

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
            Some(N::RangeTableSample(sample)) => Err(binder.unsupported("TABLESAMPLE", sample.location)),
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

    fn range_var(&mut self, range: &pg::RangeVar) -> Result<(From, Vec<Entry>)> {
        let alias = range.alias.as_ref();
        let alias_name = alias.map(|alias| alias.aliasname.as_str());
        if range.schemaname.is_empty()
            && let Some(cte) = self.ctes.iter_mut().rev().find(|cte| cte.name == range.relname)
        {
            cte.referenced = true;
            if cte.silent {
                let message = format!("WITH query \"{}\" does not have a RETURNING clause", cte.name);
                return Err(self.error(Condition::FeatureNotSupported, message, range.location));
            }
            let (cte_id, columns) = (cte.id, cte.columns.clone());
            let id = self.ids.relation();
            let mut entry = Entry::of_columns(alias_name.unwrap_or(&range.relname), id, &columns);
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
        if self.views.contains(&relation.oid) {
            return Err(self.error(
                Condition::InvalidObjectDefinition,
                format!("infinite recursion detected in rules for relation \"{}\"", relation.name),
                place,
            ));
        }
        let mark = self.needs.mark();
        self.need(crate::ir::Text::TABLE, relation, Privileges::SELECT);
        self.views.push(relation.oid);
        let bound = match relation.language {
            Language::Postgres | Language::Sqlite => self.definition_query(&relation.name, definition, pins),
            Language::Informix => self.informix_view(relation, definition),
        };
        self.views.pop();
        let bound = bound?;
        let id = self.ids.relation();
        self.needs.number(mark, id);
        let mut entry = Entry::of_columns(alias.unwrap_or(&relation.name), id, &bound.columns);
        for (column, declared) in entry.columns.iter_mut().zip(&relation.columns) {
            column.name.clone_from(&declared.name);
        }
        for (position, column) in entry.columns.iter_mut().enumerate() {
            column.origin = Some((relation.oid, position));
            column.not_null = false;
            column.identity = false;
        }
        entry.schema = alias.is_none().then(|| relation.namespace.clone());
        self.views_behind.insert(id, relation.clone());
        let mut query = bound.query;
        if barrier && query.limit.is_none() && query.offset.is_none() {
            // SQLite asks nothing of a subquery's rows before an OFFSET has let them pass.
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
        let mut bound = self.wrap(bound);
        if let crate::ir::Body::Select(select) = &mut bound.query.body {
            for (index, ty) in wanted.into_iter().enumerate() {
                select.items[index] = select.items[index].clone().cast(ty.clone(), CastContext::Implicit);
                bound.query.columns[index].ty = ty.clone();
                bound.columns[index].ty = ty;
            }
        }
        Ok(bound)
    }

    /// The query behind a view made in PostgreSQL's SQL, bound in a world of its own.
    pub(super) fn definition_query(
        &mut self,
        name: &str,
        definition: &str,
        pins: Option<&Arc<Pins>>,
    ) -> Result<BoundQuery> {
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
        let result = self.subquery(select, true);
        self.pins = pins;
        self.schema = schema;
        self.ctes = ctes;
        self.scopes = scopes;
        self.source = source;
        result
    }

    /// Binds something that may refer to names on its left, when it is LATERAL.
    fn laterally<T>(&mut self, lateral: bool, left: &[Entry], bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if !lateral {
            return bind(self);
        }
        let scope = Scope { entries: left.to_vec(), clause: Clause::From, ..Scope::default() };
        Ok(self.with_scope(scope, bind)?.0)
    }

    fn range_subselect(&mut self, subselect: &pg::RangeSubselect, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let Some(N::SelectStmt(select)) = subselect.subquery.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(self.unsupported("this subquery in FROM", -1));
        };
        let lateral = subselect.lateral;
        let bound = self.laterally(lateral, left, |binder| binder.subquery(select, true))?;
        let id = self.ids.relation();
        let alias = subselect.alias.as_ref();
        let name = alias.map_or("", |alias| alias.aliasname.as_str());
        let mut entry = Entry::of_columns(name, id, &bound.columns);
        entry.qualified = alias.is_some();
        self.rename(&mut entry, alias, -1)?;
        Ok((From::Query { id, query: Box::new(bound.query), lateral }, vec![entry]))
    }

    fn range_function(&mut self, range: &pg::RangeFunction, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let [Node { node: Some(N::List(item)) }] = range.functions.as_slice() else {
            return Err(self.unsupported("ROWS FROM with several functions", -1));
        };
        let Some(function_node) = item.items.first() else {
            return Err(crate::Error::internal("FROM without a function"));
        };
        let place = location(function_node);
        let with_definitions = !range.coldeflist.is_empty()
            || item
                .items
                .get(1)
                .is_some_and(|node| matches!(&node.node, Some(N::List(list)) if !list.items.is_empty()));
        let alias = range.alias.as_ref();
        let of_user = match &function_node.node {
            Some(N::FuncCall(call)) => {
                self.laterally(true, left, |binder| binder.user_function_in_from(call, range, with_definitions))?
            }
            _ => None,
        };
        if with_definitions && of_user.is_none() {
            return Err(self.unsupported("a column definition list", place));
        }
        let FunctionSource { from, name, mut columns, values } = match of_user {
            Some(found) => found,
            None => self.laterally(true, left, |binder| binder.function_in_from(function_node, range.ordinality))?,
        };
        let id = match &from {
            From::Function { id, .. } | From::Query { id, .. } => *id,
            _ => return Err(crate::Error::internal("a function in FROM that is none")),
        };
        // A function's only column is named as the function is.
        if let (Some(alias), true) = (alias, columns.len() == 1 + usize::from(range.ordinality))
            && columns[0].name == name
        {
            columns[0].name.clone_from(&alias.aliasname);
        }
        let results: Vec<ResultColumn> = columns.into_iter().map(|column| computed(column.name, column.ty)).collect();
        let mut entry = Entry::of_columns(alias.map_or(name.as_str(), |alias| &alias.aliasname), id, &results);
        entry.row_is_value = results.len() == 1 && !range.ordinality;
        for (column, value) in entry.columns.iter_mut().zip(values) {
            column.expr = value;
        }
        self.rename(&mut entry, alias, place)?;
        Ok((from, vec![entry]))
    }

    /// A function of users as a member of FROM; `None` when the call means a built-in one.
    fn user_function_in_from(
        &mut self,
        call: &pg::FuncCall,
        range: &pg::RangeFunction,
        with_definitions: bool,
    ) -> Result<Option<FunctionSource>> {
        let users = self.user_functions(&call.funcname);
        if users.is_empty() {
            return Ok(None);
        }
        let routine::Called::User(settled) = self.user_call(call, &users, false)? else { return Ok(None) };
        let defined = if with_definitions { Some(self.column_definitions(range)?) } else { None };
        let name = settled.function.name.clone();
        let called = self.shown.is_some().then(|| (settled.result(), defined.clone()));
        let (from, columns) = self.call_from(settled, defined, range.ordinality, call.location)?;
        if let (Some((ty, defined)), From::Function { args, .. }) = (called, &from) {
            let function = crate::functions::internal("stored function");
            let value = || Called::Value(Expr::new(ExprKind::Call { function, args: args.clone() }, ty));
            self.note_call(&from, value, range.ordinality, defined.as_deref());
        }
        Ok(Some(FunctionSource { from, name, columns, values: Vec::new() }))
    }

    /// `AS (name type, …)` behind a function.
    fn column_definitions(&mut self, range: &pg::RangeFunction) -> Result<Vec<OutputColumn>> {
        let inner = range.functions.first().and_then(|node| match &node.node {
            Some(N::List(item)) => item.items.get(1),
            _ => None,
        });
        let nodes = match inner.map(|node| &node.node) {
            Some(Some(N::List(list))) if !list.items.is_empty() => &list.items,
            _ => &range.coldeflist,
        };
        let mut columns = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(N::ColumnDef(column)) = &node.node else { continue };
            let Some(ty) = &column.type_name else { continue };
            columns.push(OutputColumn { name: column.colname.clone(), ty: self.resolve_type(ty)? });
        }
        Ok(columns)
    }

    fn function_in_from(&mut self, node: &Node, ordinality: bool) -> Result<FunctionSource> {
        let place = location(node);
        if let Some(N::FuncCall(call)) = &node.node {
            let name = function_name(call).map_err(|name| {
                self.error(Condition::UndefinedFunction, format!("function {name} does not exist"), place)
            })?;
            let args = self.call_arguments(&name, &call.args, place)?;
            let inputs: Vec<Type> = args.iter().map(|(arg, _)| super::coerce::base(&arg.ty)).collect();
            match self.find_function(&name, &inputs, |kind| kind == FunctionKind::SetReturning) {
                Ok(candidate) => {
                    let mut columns = Self::function_columns(&name, &candidate.result);
                    if ordinality {
                        columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
                    }
                    let args = self.arguments(&candidate, args)?;
                    if name == "generate_subscripts" && args.first().is_some_and(|array| self.is_vector(array)) {
                        return Err(self.unsupported("generate_subscripts of a catalog vector in FROM", place));
                    }
                    let id = self.ids.relation();
                    let function = candidate.function;
                    let from =
                        From::Function { id, function, args: args.clone(), columns: columns.clone(), ordinality };
                    self.note_call(&from, || Called::Rows(function, args), ordinality, None);
                    return Ok(FunctionSource { from, name, columns, values: Vec::new() });
                }
                Err(miss) => {
                    let set_returning = crate::functions::named(Language::Postgres, &name)
                        .any(|row| row.kind == FunctionKind::SetReturning);
                    if set_returning {
                        if name == "unnest" && args.len() > 1 {
                            return self.unnest_together(args, ordinality, place);
                        }
                        return Err(self.no_function(&name, &inputs, place, miss));
                    }
                }
            }
        }
        if ordinality {
            return Err(self.unsupported("WITH ORDINALITY of a function of one row", place));
        }
        // Any other function yields one row.
        let (value, at) = self.placed(node)?;
        let value = self.settle(value, at)?;
        let name = names::column(node);
        let columns = vec![computed(name.clone(), value.ty.clone())];
        let called = self.shown.is_some().then(|| value.clone());
        let query = self.plain_select(vec![value], None, &columns);
        let id = self.ids.relation();
        let from = From::Query { id, query: Box::new(query), lateral: true };
        if let Some(value) = called {
            self.note_call(&from, || Called::Value(value), false, None);
        }
        Ok(FunctionSource { from, name, columns: outputs(&columns), values: Vec::new() })
    }

    /// `unnest(a, b, …)`: the members of several arrays side by side, with NULLs where one has fewer.
    fn unnest_together(&mut self, arrays: Vec<(Expr, i32)>, ordinality: bool, place: i32) -> Result<FunctionSource> {
        let all: Vec<Expr> = arrays.iter().map(|(array, _)| array.clone()).collect();
        let found = self.arrays_together(arrays, ordinality, place)?;
        self.note_call(&found.from, || Called::Unnest(all), ordinality, None);
        Ok(found)
    }

    fn arrays_together(&mut self, arrays: Vec<(Expr, i32)>, ordinality: bool, place: i32) -> Result<FunctionSource> {
        let mut depends = false;
        for (array, _) in &arrays {
            crate::ir::walk::expr(array, &mut |part| {
                depends |= matches!(part.kind, ExprKind::Column(_));
                !depends
            });
        }
        if depends {
            return self.unnest_vectors(arrays, ordinality, place);
        }
        let mut joined: Option<(From, Vec<Expr>)> = None;
        let mut items = Vec::with_capacity(arrays.len() + 1);
        for array in arrays {
            let inputs = [super::coerce::base(&array.0.ty)];
            let candidate = match self.find_function("unnest", &inputs, |kind| kind == FunctionKind::SetReturning) {
                Ok(candidate) => candidate,
                Err(miss) => return Err(self.no_function("unnest", &inputs, place, miss)),
            };
            let args = self.arguments(&candidate, vec![array])?;
            let columns = vec![computed("unnest", candidate.result.clone()), computed("ordinality", Type::Int8)];
            let inner = self.ids.relation();
            let function = From::Function {
                id: inner,
                function: candidate.function,
                args,
                columns: outputs(&columns),
                ordinality: true,
            };
            let members = vec![Expr::column(inner, 0, candidate.result.clone()), Expr::column(inner, 1, Type::Int8)];
            let query = self.plain_select(members, Some(function), &columns);
            let id = self.ids.relation();
            let member = From::Query { id, query: Box::new(query), lateral: false };
            let number = Expr::column(id, 1, Type::Int8);
            items.push(Expr::column(id, 0, candidate.result));
            joined = Some(match joined {
                None => (member, vec![number]),
                Some((left, mut numbers)) => {
                    let met = Self::first_of(numbers.clone());
                    let on = self.compare(CompareOp::Equal, (met, -1), (number.clone(), -1), -1)?;
                    numbers.push(number);
                    let kind = JoinKind::Full;
                    (From::Join { kind, left: Box::new(left), right: Box::new(member), on: Some(on) }, numbers)
                }
            });
        }
        let Some((from, numbers)) = joined else { return Err(crate::Error::internal("unnest of nothing")) };
        let number = Self::first_of(numbers);
        let mut columns: Vec<ResultColumn> = items.iter().map(|item| computed("unnest", item.ty.clone())).collect();
        if ordinality {
            items.push(number.clone());
            columns.push(computed("ordinality", Type::Int8));
        }
        let mut query = self.plain_select(items, Some(from), &columns);
        query.order_by = vec![crate::ir::SortKey { expr: number, descending: false, nulls_first: false }];
        let id = self.ids.relation();
        Ok(FunctionSource {
            from: From::Query { id, query: Box::new(query), lateral: false },
            name: "unnest".to_owned(),
            columns: outputs(&columns),
            values: Vec::new(),
        })
    }

    /// The vectors of a row of `pg_index` side by side: they are of one length, so that the first leads.
    fn unnest_vectors(&mut self, arrays: Vec<(Expr, i32)>, ordinality: bool, place: i32) -> Result<FunctionSource> {
        if !arrays.iter().all(|(array, _)| self.is_vector(array)) {
            return Err(self.unsupported("unnest of several arrays of relations on its left", place));
        }
        let id = self.ids.relation();
        let ordinal = Expr::column(id, 1, Type::Int8);
        let mut columns = Vec::new();
        let mut values = Vec::new();
        let mut leader = None;
        for (array, at) in arrays {
            let Type::Array(element) = array.ty.clone() else {
                return Err(self.unsupported("unnest of this value", at));
            };
            columns.push(OutputColumn { name: "unnest".to_owned(), ty: (*element).clone() });
            if leader.is_none() {
                values.push(Expr::column(id, 0, (*element).clone()));
                leader = Some(array);
            } else {
                let index = ordinal.clone().cast(Type::Int4, CastContext::Assignment);
                values.push(Expr::element(array, index, *element));
            }
        }
        if ordinality {
            columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
            values.push(ordinal);
        }
        let Some(leader) = leader else { return Err(crate::Error::internal("unnest of nothing")) };
        let inputs = [super::coerce::base(&leader.ty)];
        let candidate = match self.find_function("unnest", &inputs, |kind| kind == FunctionKind::SetReturning) {
            Ok(candidate) => candidate,
            Err(miss) => return Err(self.no_function("unnest", &inputs, place, miss)),
        };
        let produced = vec![
            OutputColumn { name: "unnest".to_owned(), ty: candidate.result.clone() },
            OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 },
        ];
        let args = self.arguments(&candidate, vec![(leader, place)])?;
        let from = From::Function { id, function: candidate.function, args, columns: produced, ordinality: true };
        Ok(FunctionSource { from, name: "unnest".to_owned(), columns, values })
    }

    /// The first that is not NULL; the only one by itself.
    fn first_of(mut members: Vec<Expr>) -> Expr {
        if members.len() == 1 {
            return members.swap_remove(0);
        }
        Expr::new(ExprKind::Coalesce(members), Type::Int8)
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
        Self::bare_query(crate::ir::Body::Select(Box::new(select)), columns, output)
    }

    fn join(&mut self, join: &pg::JoinExpr, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let kind = match join.jointype() {
            JoinType::JoinLeft => JoinKind::Left,
            JoinType::JoinRight => JoinKind::Right,
            JoinType::JoinFull => JoinKind::Full,
            _ => JoinKind::Inner,
        };
        let (Some(left_node), Some(right_node)) = (join.larg.as_deref(), join.rarg.as_deref()) else {
            return Err(crate::Error::internal("a join without sides"));
        };
        let (left_from, left_entries) = self.bind_from_item(left_node, left)?;
        // A lateral right side of an inner or left join sees the left side.
        let mut visible = left.to_vec();
        if matches!(kind, JoinKind::Inner | JoinKind::Left) {
            visible.extend(left_entries.iter().cloned());
        }
        let (right_from, right_entries) = self.bind_from_item(right_node, &visible)?;
        let mut entries = left_entries.clone();
        self.merge_entries(&mut entries, right_entries.clone(), right_node)?;

        let shared: Option<Vec<String>> = if join.is_natural {
            let right: Vec<&EntryColumn> = unqualified(&right_entries).collect();
            Some(
                unqualified(&left_entries)
                    .filter(|column| right.iter().any(|other| other.name == column.name))
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
                    let scope = Scope { entries: entries.clone(), clause: Clause::Join, ..Scope::default() };
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
                let mut found = unqualified(entries).filter(|column| column.name == *name);
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
                unqualified(entries).filter(|column| !shared.contains(&column.name)).cloned().collect::<Vec<_>>(),
            );
        }
        let condition = (!tests.is_empty()).then(|| super::expr::all_of(tests));
        let entry = Entry {
            name: String::new(),
            schema: None,
            columns,
            qualified: false,
            unqualified: true,
            row_is_value: false,
            relation: None,
        };
        Ok((condition, entry))
    }

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

    /// A value of any type as it is assigned to a column.
    pub(super) fn assign(&mut self, value: Expr, column: &str, to: &Type, place: i32) -> Result<Expr> {
        let from = super::types::words(&value.ty);
        self.try_coerce(value, to, CastContext::Assignment, place)?.map_err(|_| {
            self.error(
                Condition::DatatypeMismatch,
                format!("column \"{column}\" is of type {} but expression is of type {from}", super::types::words(to)),
                place,
            )
            .hint("You will need to rewrite or cast the expression.")
        })
    }
}

/// Columns that can be named alone.
fn unqualified(entries: &[Entry]) -> impl Iterator<Item = &EntryColumn> {
    entries.iter().filter(|entry| entry.unqualified).flat_map(|entry| entry.columns.iter())
}

/// Where a member of FROM has its name.
fn alias_location(node: &Node) -> i32 {
    match &node.node {
        Some(N::RangeVar(range)) => range.location,
        Some(N::JoinExpr(join)) => join.rarg.as_deref().map_or(-1, alias_location),
        _ => -1,
    }
}
