//! A statement inside a function: names of variables beside those of columns, values for parameters.
//!
//! Variables are the columns of scopes around the whole statement, each an [`ExprKind::Param`] of its own; those that the
//! statement does not use are dropped when it is bound.

use pg_query::protobuf::{self as pg, Node, ResTarget, node::Node as N};

use crate::ir::{Expr, ExprKind, Statement, walk};
use crate::plan::{Bound, Context};
use crate::postgres::binder::{Binder, Entry, EntryColumn, Scope};
use crate::postgres::names;
use crate::postgres::parse::Parsed;
use crate::postgres::plpgsql::Conflict;
use crate::schema::Schema;
use crate::{Condition, Error, Result, Type};

/// The variables that a statement sees.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// Scopes, the outermost first.
    pub scopes: Vec<VariableScope>,
    /// Types of the values that they stand for.
    pub types: Vec<Type>,
    /// Of `$1`, `$2`, … the values.
    pub positional: Vec<usize>,
    /// What a name means that is a variable's and a column's.
    pub conflict: Conflict,
    /// A query of one row value yields its fields.
    pub spread: bool,
}

/// Variables of one scope.
#[derive(Clone, Debug, Default)]
pub struct VariableScope {
    /// Its label.
    pub label: Option<String>,
    /// Variables of one value: names and values.
    pub values: Vec<(String, usize)>,
    /// Variables of rows.
    pub rows: Vec<VariableEntry>,
}

/// A variable that holds a row.
#[derive(Clone, Debug)]
pub struct VariableEntry {
    /// Its name.
    pub name: String,
    /// Fields: names and values; `None` while nobody has assigned it.
    pub fields: Option<Vec<(String, usize)>>,
}

/// What the binder knows of variables.
#[derive(Debug, Default)]
pub(in crate::postgres) struct VariableLevels {
    /// So many scopes are those of variables.
    pub(in crate::postgres) levels: usize,
    pub(in crate::postgres) conflict: Conflict,
    /// Of `$1`, `$2`, … the parameters.
    pub(in crate::postgres) positional: Vec<usize>,
    /// Rows that nobody has assigned yet.
    unassigned: Vec<String>,
}

/// Binds a statement inside a function.
///
/// # Errors
/// As for any statement; `42702` for names that could be a variable's or a column's.
pub fn bind_inside(parsed: &Parsed, schema: &dyn Schema, context: &Context, variables: &Variables) -> Result<Bound> {
    let types: Vec<Option<Type>> = variables.types.iter().cloned().map(Some).collect();
    let mut binder = Binder::new(parsed, schema, context, &types);
    let mut levels = VariableLevels {
        levels: variables.scopes.len(),
        conflict: variables.conflict,
        positional: variables.positional.clone(),
        unassigned: Vec::new(),
    };
    for scope in &variables.scopes {
        let rows = scope.rows.iter();
        levels.unassigned.extend(rows.filter(|row| row.fields.is_none()).map(|row| row.name.clone()));
        let entries = scope.entries(&variables.types);
        binder.scopes.push(Scope { entries, ..Scope::default() });
    }
    let rewritten = if variables.spread { spread(&parsed.node, variables, schema) } else { None };
    binder.variables = Some(levels);
    let (mut statement, columns) = binder.statement(rewritten.as_ref().unwrap_or(&parsed.node))?;
    let uses = compact(&mut statement, variables.types.len(), &binder.params);
    let params = uses.iter().map(|index| binder.params[*index].clone().unwrap_or(Type::Text)).collect();
    let needs = if matches!(statement, Statement::Ddl(_)) { Default::default() } else { binder.needs };
    Ok(Bound {
        statement,
        params,
        columns,
        effects: binder.effects,
        needs,
        generation: schema.generation(),
        inside: uses,
        notices: binder.notices,
    })
}

/// Numbers the parameters that a statement uses from 0; tells which they were.
fn compact(statement: &mut Statement, count: usize, params: &[Option<Type>]) -> Vec<usize> {
    let mut uses: Vec<usize> = Vec::new();
    walk::statement_mut(statement, &mut |expr| {
        if let ExprKind::Param(index) = &mut expr.kind
            && *index < count.max(params.len())
        {
            if expr.ty == Type::Unknown {
                expr.ty = params.get(*index).cloned().flatten().unwrap_or(Type::Text);
            }
            *index = match uses.iter().position(|used| used == index) {
                Some(known) => known,
                None => {
                    uses.push(*index);
                    uses.len() - 1
                }
            };
        } else if expr.ty == Type::Unknown {
            expr.ty = Type::Text;
        }
        true
    });
    uses
}

impl VariableScope {
    fn entries(&self, types: &[Type]) -> Vec<Entry> {
        let column = |(name, value): &(String, usize)| EntryColumn {
            name: name.clone(),
            expr: Expr::new(ExprKind::Param(*value), types[*value].clone()),
            origin: None,
            not_null: false,
            identity: false,
        };
        let mut entries = vec![Entry {
            name: self.label.clone().unwrap_or_default(),
            schema: None,
            columns: self.values.iter().map(column).collect(),
            qualified: self.label.is_some(),
            unqualified: true,
            row_is_value: false,
            relation: None,
        }];
        entries.extend(self.rows.iter().map(|row| Entry {
            name: row.name.clone(),
            schema: self.label.clone(),
            columns: row.fields.iter().flatten().map(column).collect(),
            qualified: true,
            unqualified: false,
            row_is_value: false,
            relation: None,
        }));
        entries
    }
}

impl Binder<'_> {
    /// The parameter that `$number` is inside a function.
    pub(in crate::postgres) fn positional(&self, number: i32, location: i32) -> Result<Option<usize>> {
        let Some(variables) = &self.variables else { return Ok(None) };
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match index.and_then(|index| variables.positional.get(index)) {
            Some(param) => Ok(Some(*param)),
            None => {
                Err(self.error(Condition::UndefinedParameter, format!("there is no parameter ${number}"), location))
            }
        }
    }

    /// A name has been found as a column of a level: whether it is a variable's, too.
    pub(in crate::postgres) fn check_conflict(&self, name: &str, level: usize, place: i32) -> Result<()> {
        let Some(variables) = &self.variables else { return Ok(()) };
        if variables.conflict != Conflict::Error || level < variables.levels || self.is_stored() {
            return Ok(());
        }
        let entries = self.scopes[..variables.levels].iter().flat_map(|scope| &scope.entries);
        let mut columns = entries.filter(|entry| entry.unqualified).flat_map(|entry| &entry.columns);
        if !columns.any(|column| column.name == name) {
            return Ok(());
        }
        Err(self
            .error(Condition::AmbiguousColumn, format!("column reference \"{name}\" is ambiguous"), place)
            .detail("It could refer to either a PL/pgSQL variable or a table column."))
    }

    /// The variable of a name, where variables go before columns.
    pub(in crate::postgres) fn preferred_variable(&self, name: &str) -> Option<EntryColumn> {
        let variables = self.variables.as_ref().filter(|variables| variables.conflict == Conflict::Variable)?;
        let scopes = self.scopes[..variables.levels].iter().rev();
        let mut columns =
            scopes.flat_map(|scope| &scope.entries).filter(|entry| entry.unqualified).flat_map(|entry| &entry.columns);
        columns.find(|column| column.name == name).cloned()
    }

    /// The error for a field that a variable's row does not have; `None` for other entries.
    pub(in crate::postgres) fn missing_field(&self, level: usize, entry: &Entry, field: &str) -> Option<Error> {
        let variables = self.variables.as_ref().filter(|variables| level < variables.levels)?;
        if entry.unqualified {
            return None;
        }
        if variables.unassigned.contains(&entry.name) {
            return Some(unassigned(&entry.name));
        }
        let message = format!("record \"{}\" has no field \"{field}\"", entry.name);
        Some(Error::new(Condition::UndefinedColumn, message))
    }

    /// The error for a row that nobody has assigned yet; `None` for others.
    pub(in crate::postgres) fn unassigned_row(&self, level: usize, entry: &Entry) -> Option<Error> {
        let variables = self.variables.as_ref().filter(|variables| level < variables.levels)?;
        variables.unassigned.contains(&entry.name).then(|| unassigned(&entry.name))
    }
}

/// A record without a shape.
pub(crate) fn unassigned(name: &str) -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, format!("record \"{name}\" is not assigned yet"))
        .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}

/// `SELECT row` as `SELECT row.*`, where the one item is a row; `None` where it is none.
fn spread(node: &N, variables: &Variables, schema: &dyn Schema) -> Option<N> {
    let N::SelectStmt(select) = node else { return None };
    let [Node { node: Some(N::ResTarget(target)) }] = select.target_list.as_slice() else { return None };
    let value = target.val.as_deref()?.node.as_ref()?;
    let with_targets = |targets: Vec<Node>| {
        let mut select = select.clone();
        select.target_list = targets;
        Some(N::SelectStmt(select))
    };
    let item = |node: N, name: String| Node {
        node: Some(N::ResTarget(Box::new(ResTarget {
            name,
            val: Some(Box::new(Node { node: Some(node) })),
            ..ResTarget::default()
        }))),
    };
    match value {
        N::ColumnRef(column) => {
            let words = names::strings(&column.fields);
            let name = *words.last()?;
            let of_variable = variables.scopes.iter().flat_map(|scope| &scope.rows).any(|row| row.name == name);
            let of_table = words.len() == 1 && names_relation(&select.from_clause, name);
            if !of_variable && !of_table {
                return None;
            }
            let mut column = column.clone();
            column.fields.push(Node { node: Some(N::AStar(pg::AStar {})) });
            with_targets(vec![item(N::ColumnRef(column), String::new())])
        }
        N::RowExpr(row) => {
            let members = row.args.iter().enumerate();
            let targets = members.map(|(at, member)| Some(item(member.node.clone()?, format!("f{}", at + 1))));
            with_targets(targets.collect::<Option<Vec<_>>>()?)
        }
        N::FuncCall(call) if select.from_clause.is_empty() && select.where_clause.is_none() => {
            let words = names::strings(&call.funcname);
            let name = match words.as_slice() {
                [name] => crate::schema::QualifiedName::bare(*name),
                [schema, name] => crate::schema::QualifiedName::new(*schema, *name),
                _ => return None,
            };
            let found = schema.functions(&name);
            if !found.iter().any(|function| function.definition.returns_row()) {
                return None;
            }
            let function = pg::RangeFunction {
                functions: vec![Node {
                    node: Some(N::List(pg::List {
                        items: vec![Node { node: Some(N::FuncCall(call.clone())) }, Node { node: None }],
                    })),
                }],
                ..pg::RangeFunction::default()
            };
            let mut select = select.clone();
            select.from_clause = vec![Node { node: Some(N::RangeFunction(function)) }];
            let star = pg::ColumnRef { fields: vec![Node { node: Some(N::AStar(pg::AStar {})) }], location: -1 };
            select.target_list = vec![item(N::ColumnRef(star), String::new())];
            Some(N::SelectStmt(select))
        }
        _ => None,
    }
}

/// A member of FROM has this name.
fn names_relation(nodes: &[Node], name: &str) -> bool {
    let aliased = |alias: &Option<pg::Alias>| alias.as_ref().map(|alias| alias.aliasname == name);
    nodes.iter().any(|node| match &node.node {
        Some(N::RangeVar(range)) => aliased(&range.alias).unwrap_or(range.relname == name),
        Some(N::RangeSubselect(range)) => aliased(&range.alias).unwrap_or(false),
        Some(N::JoinExpr(join)) => {
            let sides = [&join.larg, &join.rarg];
            sides.into_iter().flatten().any(|side| names_relation(std::slice::from_ref(side), name))
        }
        _ => false,
    })
}
