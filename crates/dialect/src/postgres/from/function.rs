//! Functions as members of FROM.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use crate::composite::{Field, live};
use crate::functions::{self, FunctionKind};
use crate::ir::{CastContext, CompareOp, Expr, ExprKind, From, JoinKind, OutputColumn, RelId, Value};
use crate::mysql::json_table;
use crate::plan::ResultColumn;
use crate::postgres::binder::{Binder, Entry, computed, outputs};
use crate::postgres::expr::calls::function_name;
use crate::postgres::expr::location;
use crate::postgres::expr::rows::field_at;
use crate::postgres::resolve::of_domains;
use crate::postgres::routine;
use crate::postgres::viewdef::Called;
use crate::postgres::{coerce, names};
use crate::values::mysql::json_table::Table;
use crate::{Condition, Language, Result, Type};

use super::json_records;

/// A function as a member of FROM.
pub(super) struct FunctionSource {
    pub(super) from: From,
    pub(super) name: String,
    pub(super) columns: Vec<OutputColumn>,
    /// What the columns are, where they are not just the member's own.
    pub(super) values: Vec<Expr>,
    /// The type of its rows, if that is one of rows.
    pub(super) row: Option<Type>,
}

/// The fields of the rows that a function yields as its one value.
fn spread_rows(from: From, id: RelId, name: String, ty: &Type, ordinality: bool) -> FunctionSource {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (at, field) in live(ty.row_fields().unwrap_or_default()) {
        columns.push(OutputColumn { name: field.name.clone(), ty: field.ty.clone() });
        values.push(field_at(Expr::column(id, 0, ty.clone()), at, field.ty.clone()));
    }
    if ordinality {
        columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
        values.push(Expr::column(id, 1, Type::Int8));
    }
    FunctionSource { from, name, columns, values, row: Some(ty.clone()) }
}

impl Binder<'_> {
    pub(super) fn range_function(&mut self, range: &pg::RangeFunction, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        if range.functions.len() > 1 {
            return self.rows_from(range, left);
        }
        let place = match range.functions.first().map(|node| &node.node) {
            Some(Some(N::List(item))) => item.items.first().map_or(-1, location),
            _ => -1,
        };
        let FunctionSource { from, name, mut columns, values, row } = self.function_source(range, left)?;
        let alias = range.alias.as_ref();
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
        entry.row_is_value = results.len() == 1 && !range.ordinality && row.is_none();
        entry.row = row.filter(|ty| !range.ordinality && *ty != Type::RECORD);
        for (column, value) in entry.columns.iter_mut().zip(values) {
            column.expr = value;
        }
        self.rename(&mut entry, alias, place)?;
        Ok((from, vec![entry]))
    }

    /// The only function of a member of FROM.
    pub(super) fn function_source(&mut self, range: &pg::RangeFunction, left: &[Entry]) -> Result<FunctionSource> {
        let [Node { node: Some(N::List(item)) }] = range.functions.as_slice() else {
            return Err(crate::Error::internal("several functions where one is wanted"));
        };
        let Some(function_node) = item.items.first() else {
            return Err(crate::Error::internal("FROM without a function"));
        };
        let with_definitions = !range.coldeflist.is_empty()
            || item
                .items
                .get(1)
                .is_some_and(|node| matches!(&node.node, Some(N::List(list)) if !list.items.is_empty()));
        let of_user = match &function_node.node {
            Some(N::FuncCall(call)) => {
                self.laterally(true, left, |binder| binder.user_function_in_from(call, range, with_definitions))?
            }
            _ => None,
        };
        let defined = if with_definitions && of_user.is_none() { Some(self.column_definitions(range)?) } else { None };
        match of_user {
            Some(found) => Ok(found),
            None => {
                self.laterally(true, left, |binder| binder.function_in_from(function_node, defined, range.ordinality))
            }
        }
    }

    /// A function of users as a member of FROM; `None` when the call means a built-in one.
    fn user_function_in_from(
        &mut self,
        call: &pg::FuncCall,
        range: &pg::RangeFunction,
        with_definitions: bool,
    ) -> Result<Option<FunctionSource>> {
        let users = self.user_functions(&call.funcname, call.location)?;
        if users.is_empty() {
            return Ok(None);
        }
        let routine::Called::User(settled) = self.user_call(call, &users, false)? else { return Ok(None) };
        let defined = if with_definitions { Some(self.column_definitions(range)?) } else { None };
        let name = settled.function.name.clone();
        let called = self.shown.is_some().then(|| (settled.result(), defined.clone()));
        let row = Some(settled.result()).filter(Type::is_row);
        let (from, columns) = self.call_from(settled, defined, range.ordinality, call.location)?;
        if let (Some((ty, defined)), From::Function { args, .. }) = (called, &from) {
            let function = crate::functions::internal("stored function");
            let value = || Called::Value(Expr::new(ExprKind::Call { function, args: args.clone() }, ty));
            self.note_call(&from, value, range.ordinality, defined.as_deref());
        }
        Ok(Some(FunctionSource { from, name, columns, values: Vec::new(), row }))
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

    fn function_in_from(
        &mut self,
        node: &Node,
        defined: Option<Vec<OutputColumn>>,
        ordinality: bool,
    ) -> Result<FunctionSource> {
        let place = location(node);
        if let Some(N::FuncCall(call)) = &node.node
            && let Ok(name) = function_name(call)
            && self.is_mysql()
            && name == json_table::FUNCTION
        {
            return self.json_table_in_from(call, place);
        }
        if let Some(N::FuncCall(call)) = &node.node
            && let Ok(name) = function_name(call)
            && json_records::makes_records(&name)
        {
            return self.json_records_in_from(&name, call, defined, ordinality, place);
        }
        if let Some(N::FuncCall(call)) = &node.node
            && let Some(found) = self.told_function_in_from(call, defined.as_deref(), ordinality, place)?
        {
            return Ok(found);
        }
        if defined.is_some() {
            let message = "a column definition list is only allowed for functions returning \"record\"";
            return Err(self.error(Condition::SyntaxError, message, place));
        }
        if let Some(N::FuncCall(call)) = &node.node {
            let mut namespace = None;
            let name = match function_name(call) {
                Ok(name) => name,
                Err(shown) => {
                    let Some((schema, name)) = self.named_of_extension(call) else {
                        let message = format!("function {shown} does not exist");
                        return Err(self.error(Condition::UndefinedFunction, message, place));
                    };
                    namespace = Some(schema);
                    name
                }
            };
            let args = coerce::unvectored_for(&name, self.call_arguments(&name, &call.args, place)?);
            let inputs: Vec<Type> = args.iter().map(|(arg, _)| coerce::base(&arg.ty)).collect();
            let wanted = |kind| kind == FunctionKind::SetReturning;
            match self.find_function_in(namespace.as_deref(), &name, &inputs, wanted) {
                Ok(candidate) => {
                    let candidate = of_domains(candidate, args.iter().map(|(arg, _)| &arg.ty));
                    let mut columns = Self::function_columns(candidate.function, &candidate.result);
                    if let Some(view) = functions::view_behind(candidate.function) {
                        if ordinality {
                            return Err(self.unsupported(format!("{name} WITH ORDINALITY"), place));
                        }
                        let (from, _) = self.rows_of_view(view, &columns)?;
                        self.note_call(&from, || Called::Rows(candidate.function, Vec::new()), false, None);
                        return Ok(FunctionSource { from, name, columns, values: Vec::new(), row: None });
                    }
                    if ordinality {
                        columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
                    }
                    let args = self.arguments(&candidate, args)?;
                    let of_vector =
                        name == "generate_subscripts" && args.first().is_some_and(|array| self.is_vector(array));
                    let id = self.ids.relation();
                    let function = candidate.function;
                    let from =
                        From::Function { id, function, args: args.clone(), columns: columns.clone(), ordinality };
                    self.note_call(&from, || Called::Rows(function, args), ordinality, None);
                    if candidate.result.row_fields().is_some() {
                        return Ok(spread_rows(from, id, name, &candidate.result, ordinality));
                    }
                    let mut values = Vec::new();
                    if of_vector {
                        values = columns
                            .iter()
                            .enumerate()
                            .map(|(at, column)| Expr::column(id, at, column.ty.clone()))
                            .collect();
                        values[0] = self.subscript(values[0].clone(), true)?;
                    }
                    return Ok(FunctionSource { from, name, columns, values, row: None });
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
        // Any other function yields one row.
        let (value, at) = self.placed(node)?;
        let value = self.settle(value, at)?;
        let name = names::column(node);
        let mut columns = vec![computed(name.clone(), value.ty.clone())];
        let row = Some(value.ty.clone()).filter(Type::is_row);
        let called = self.shown.is_some().then(|| value.clone());
        let mut items = vec![value];
        if ordinality {
            columns.push(computed("ordinality", Type::Int8));
            items.push(Expr::integer(1, Type::Int8));
        }
        let query = self.plain_select(items, None, &columns);
        let id = self.ids.relation();
        let from = From::Query { id, query: Box::new(query), lateral: true };
        if let Some(value) = called {
            self.note_call(&from, || Called::Value(value), ordinality, None);
        }
        let Some(ty) = row else {
            return Ok(FunctionSource { from, name, columns: outputs(&columns), values: Vec::new(), row: None });
        };
        let Some(fields) = ty.row_fields() else {
            let message = "a column definition list is required for functions returning \"record\"";
            return Err(self.error(Condition::SyntaxError, message, place));
        };
        let field = |(at, field): (usize, &Field)| {
            let value = field_at(Expr::column(id, 0, ty.clone()), at, field.ty.clone());
            (OutputColumn { name: field.name.clone(), ty: field.ty.clone() }, value)
        };
        let (mut columns, mut values): (Vec<OutputColumn>, Vec<Expr>) = live(fields).map(field).unzip();
        if ordinality {
            columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
            values.push(Expr::column(id, 1, Type::Int8));
        }
        Ok(FunctionSource { from, name, columns, values, row: Some(ty.clone()) })
    }

    /// MySQL's JSON_TABLE: the members of an array of rows, and of each its members.
    fn json_table_in_from(&mut self, call: &pg::FuncCall, place: i32) -> Result<FunctionSource> {
        let rows = self.mysql_function_call(call)?;
        let told = match &rows.kind {
            ExprKind::Call { args, .. } => match args.get(1).map(|told| &told.kind) {
                Some(ExprKind::Literal(Value::Text(told))) => Table::read(told)?,
                _ => return Err(self.unsupported("JSON_TABLE with columns that are not told", place)),
            },
            _ => return Err(crate::Error::internal("JSON_TABLE that is no call")),
        };
        let found = self.find_function("json_array_elements", &[Type::Json], |kind| kind == FunctionKind::SetReturning);
        let Ok(candidate) = found else { return Err(crate::Error::internal("the members of an array")) };
        let id = self.ids.relation();
        let produced = Self::function_columns(candidate.function, &candidate.result);
        let (args, function) = (vec![rows], candidate.function);
        let from = From::Function { id, function, args, columns: produced, ordinality: false };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for (at, (name, ty)) in told.shown().into_iter().enumerate() {
            let member = Expr::integer(i64::try_from(at).unwrap_or(i64::MAX), Type::Int8);
            let row = Expr::column(id, 0, Type::Json);
            let cell = self.mysql_call_of("mysql_json_cell", vec![(row, place), (member, -1)])?;
            // It lies as its type does.
            let value = match &ty {
                Type::Numeric(Some(_)) => {
                    Expr { ty: Type::Numeric(None), ..cell }.cast(ty.clone(), CastContext::Explicit)
                }
                ty => Expr { ty: ty.clone(), ..cell },
            };
            columns.push(OutputColumn { name: name.to_owned(), ty });
            values.push(value);
        }
        Ok(FunctionSource { from, name: json_table::FUNCTION.to_owned(), columns, values, row: None })
    }

    /// The rows of a function behind a view of the catalogs, which are those of the view: columns that the view has not
    /// are NULL.
    pub(in crate::postgres) fn rows_of_view(&mut self, view: &str, columns: &[OutputColumn]) -> Result<(From, RelId)> {
        let name = crate::schema::QualifiedName { schema: Some("pg_catalog".to_owned()), name: view.to_owned() };
        let Some(relation) = self.schema.relation(&name) else {
            return Err(crate::Error::internal("a view of the catalogs is not there"));
        };
        let (inner, id) = (self.ids.relation(), self.ids.relation());
        let item = |column: &OutputColumn| match relation.columns.iter().position(|known| known.name == column.name) {
            Some(at) => {
                let value = Expr::column(inner, at, relation.columns[at].ty.clone());
                if value.ty == column.ty { value } else { value.cast(column.ty.clone(), CastContext::Explicit) }
            }
            None => Expr::null(column.ty.clone()),
        };
        let items = columns.iter().map(item).collect();
        let results: Vec<ResultColumn> =
            columns.iter().map(|column| computed(column.name.clone(), column.ty.clone())).collect();
        let from = From::Relation { id: inner, relation: relation.clone(), filter: None };
        let query = self.plain_select(items, Some(from), &results);
        Ok((From::Query { id, query: Box::new(query), lateral: false }, id))
    }

    /// A function of an extension that is told which columns its rows have: those of its name, or those that the call
    /// defines.
    fn told_function_in_from(
        &mut self,
        call: &pg::FuncCall,
        defined: Option<&[OutputColumn]>,
        ordinality: bool,
        place: i32,
    ) -> Result<Option<FunctionSource>> {
        let (namespace, name) = match function_name(call) {
            Ok(name) => (None, name),
            Err(_) => match self.named_of_extension(call) {
                Some((schema, name)) => (Some(schema), name),
                None => return Ok(None),
            },
        };
        if !functions::told_columns_by_name(&name) {
            return Ok(None);
        }
        let args = self.call_arguments(&name, &call.args, place)?;
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| coerce::base(&arg.ty)).collect();
        let wanted = |kind| kind == FunctionKind::SetReturning;
        let Ok(candidate) = self.find_function_in(namespace.as_deref(), &name, &inputs, wanted) else {
            return Ok(None);
        };
        let syntax = |message: &str| self.error(Condition::SyntaxError, message, place);
        let mut columns: Vec<OutputColumn> = match (functions::columns_by_name(&name), defined) {
            (Some(_), Some(_)) => {
                return Err(syntax(
                    "a column definition list is redundant for a function returning a named composite type",
                ));
            }
            (Some(own), None) => own.into_iter().map(|(name, ty)| OutputColumn { name, ty }).collect(),
            (None, Some(defined)) => defined.to_vec(),
            (None, None) => {
                return Err(syntax("a column definition list is required for functions returning \"record\""));
            }
        };
        let told = crate::user_type::told_fields(columns.iter().map(|column| (column.name.as_str(), &column.ty)));
        let mut args = self.arguments(&candidate, args)?;
        args.insert(0, Expr::text(told));
        if ordinality {
            columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
        }
        let (id, function) = (self.ids.relation(), candidate.function);
        let from = From::Function { id, function, args, columns: columns.clone(), ordinality };
        Ok(Some(FunctionSource { from, name, columns, values: Vec::new(), row: None }))
    }

    /// `unnest(a, b, …)`: the members of several arrays side by side, with NULLs where one has fewer.
    fn unnest_together(&mut self, arrays: Vec<(Expr, i32)>, ordinality: bool, place: i32) -> Result<FunctionSource> {
        let all: Vec<Expr> = arrays.iter().map(|(array, _)| array.clone()).collect();
        let found = self.arrays_together(arrays, ordinality, place)?;
        self.note_call(&found.from, || Called::Unnest(all), ordinality, None);
        Ok(found)
    }

    fn arrays_together(&mut self, arrays: Vec<(Expr, i32)>, ordinality: bool, place: i32) -> Result<FunctionSource> {
        let of_columns = |array: &Expr| matches!(array.kind, ExprKind::Column(_));
        if arrays.iter().all(|(array, _)| of_columns(array) && self.is_vector(array)) {
            return self.unnest_vectors(arrays, ordinality, place);
        }
        let mut joined: Option<(From, Vec<Expr>)> = None;
        let mut items = Vec::with_capacity(arrays.len() + 1);
        for array in arrays {
            let inputs = [coerce::base(&array.0.ty)];
            let candidate = match self.find_function("unnest", &inputs, |kind| kind == FunctionKind::SetReturning) {
                Ok(candidate) => candidate,
                Err(miss) => return Err(self.no_function("unnest", &inputs, place, miss)),
            };
            let candidate = of_domains(candidate, std::iter::once(&array.0.ty));
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
            let member = From::Query { id, query: Box::new(query), lateral: true };
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
            from: From::Query { id, query: Box::new(query), lateral: true },
            name: "unnest".to_owned(),
            columns: outputs(&columns),
            values: Vec::new(),
            row: None,
        })
    }

    /// The vectors of a row of `pg_index` side by side: they are of one length, so that the first leads.
    fn unnest_vectors(&mut self, arrays: Vec<(Expr, i32)>, ordinality: bool, place: i32) -> Result<FunctionSource> {
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
        let inputs = [coerce::base(&leader.ty)];
        let candidate = match self.find_function("unnest", &inputs, |kind| kind == FunctionKind::SetReturning) {
            Ok(candidate) => candidate,
            Err(miss) => return Err(self.no_function("unnest", &inputs, place, miss)),
        };
        let candidate = of_domains(candidate, std::iter::once(&leader.ty));
        let produced = vec![
            OutputColumn { name: "unnest".to_owned(), ty: candidate.result.clone() },
            OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 },
        ];
        let args = self.arguments(&candidate, vec![(leader, place)])?;
        let from = From::Function { id, function: candidate.function, args, columns: produced, ordinality: true };
        Ok(FunctionSource { from, name: "unnest".to_owned(), columns, values, row: None })
    }

    /// The first that is not NULL; the only one by itself.
    pub(in crate::postgres) fn first_of(mut members: Vec<Expr>) -> Expr {
        if members.len() == 1 {
            return members.swap_remove(0);
        }
        Expr::new(ExprKind::Coalesce(members), Type::Int8)
    }
}
