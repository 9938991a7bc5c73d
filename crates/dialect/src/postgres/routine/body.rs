//! A statement inside a function: names of variables beside those of columns, values for parameters.
//!
//! Variables are the columns of scopes around the whole statement, each an [`ExprKind::Param`] of its own; those that the
//! statement does not use are dropped when it is bound.

use std::sync::Arc;

use crate::collation::Collation;
use crate::ir::{Body, Distinct, Expr, ExprKind, Statement, walk};
use crate::plan::{Bound, Context};
use crate::postgres::binder::{Binder, Entry, EntryColumn, Scope};
use crate::postgres::parse::Parsed;
use crate::postgres::plpgsql::Conflict;
use crate::scalar::cursors::REFCURSOR;
use crate::schema::Schema;
use crate::stored_function::StoredFunction;
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
    /// The function that is being made, which its body may call before the schema knows of it.
    pub making: Option<Arc<StoredFunction>>,
    /// The collation of the call's arguments, where it is not the order of bytes: variables are in it.
    pub collation: Option<Arc<Collation>>,
    /// The statement is in MySQL's language.
    pub in_mysql: bool,
    /// What the values of the query's columns become, as in an assignment by MySQL's rules.
    pub becomes: Vec<Type>,
    /// The collations that some are declared with instead, by their values; those behind the last have none.
    pub collations: Vec<Option<Arc<Collation>>>,
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
    /// The row as one value.
    pub whole: Option<usize>,
}

/// What the binder knows of variables.
#[derive(Debug, Default)]
pub(in crate::postgres) struct VariableLevels {
    /// So many scopes are those of variables.
    pub(in crate::postgres) levels: usize,
    pub(in crate::postgres) conflict: Conflict,
    /// Of `$1`, `$2`, … the parameters.
    pub(in crate::postgres) positional: Vec<usize>,
    pub(in crate::postgres) making: Option<Arc<StoredFunction>>,
    /// The collation that variables are in, where it is not the order of bytes.
    pub(in crate::postgres) collation: Option<Arc<Collation>>,
    /// Those of parameters that have one of their own.
    collations: Vec<Option<Arc<Collation>>>,
}

impl VariableLevels {
    /// The collation of the variable that a parameter stands for, where it is not the order of bytes.
    pub(in crate::postgres) fn collation_of(&self, param: usize) -> Option<&Arc<Collation>> {
        self.collations.get(param).and_then(Option::as_ref).or(self.collation.as_ref())
    }
}

/// Binds a statement inside a function.
///
/// # Errors
/// As for any statement; `42702` for names that could be a variable's or a column's.
pub fn bind_inside(parsed: &Parsed, schema: &dyn Schema, context: &Context, variables: &Variables) -> Result<Bound> {
    if let Some(bound) = crate::postgres::bind::of_accounts(parsed, schema) {
        return Ok(bound);
    }
    let types: Vec<Option<Type>> = variables.types.iter().cloned().map(Some).collect();
    let mut binder = binder_inside(parsed, schema, context, &types, variables);
    let (mut statement, mut columns) = binder.statement(&*parsed.tree()?)?;
    binder.assign_items(&mut statement, &mut columns, &variables.becomes)?;
    let uses = compact(&mut statement, variables.types.len(), &binder.params);
    if let Some(levels) = &mut binder.variables {
        let own = |index: &usize| variables.collations.get(*index).cloned().flatten();
        levels.collations = uses.iter().map(own).collect();
    }
    binder.derive_collations(&mut statement)?;
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

/// A binder for a statement inside a function; `types` are those of its variables.
pub(in crate::postgres) fn binder_inside<'a>(
    parsed: &'a Parsed,
    schema: &'a dyn Schema,
    context: &'a Context,
    types: &[Option<Type>],
    variables: &Variables,
) -> Binder<'a> {
    let mut binder = Binder::new(parsed, schema, context, types);
    let levels = VariableLevels {
        levels: variables.scopes.len(),
        conflict: variables.conflict,
        positional: variables.positional.clone(),
        making: variables.making.clone(),
        collation: variables.collation.clone(),
        collations: Vec::new(),
    };
    binder.collated |= variables.collation.is_some() || variables.collations.iter().any(Option::is_some);
    for scope in &variables.scopes {
        let entries = scope.entries(&variables.types);
        binder.scopes.push(Scope { entries, ..Scope::default() });
    }
    binder.variables = Some(levels);
    binder
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
            row: None,
            nullable: false,
            hidden: 0,
            value: None,
            relation: None,
        }];
        entries.extend(self.rows.iter().map(|row| Entry {
            name: row.name.clone(),
            schema: self.label.clone(),
            columns: row.fields.iter().flatten().map(column).collect(),
            qualified: true,
            unqualified: false,
            row_is_value: false,
            row: None,
            nullable: false,
            hidden: 0,
            value: row.whole.map(|value| Expr::new(ExprKind::Param(value), types[value].clone())),
            relation: None,
        }));
        entries
    }
}

impl Binder<'_> {
    /// Gives the items of a plain query the types of what they are assigned to.
    fn assign_items(
        &mut self,
        statement: &mut Statement,
        columns: &mut [crate::plan::ResultColumn],
        becomes: &[Type],
    ) -> Result<()> {
        let Statement::Query(query) = statement else { return Ok(()) };
        if becomes.len() != columns.len() || becomes.is_empty() || query.columns.len() != columns.len() {
            return Ok(());
        }
        let Body::Select(select) = &mut query.body else { return Ok(()) };
        // What rows are told apart or grouped by stays what it is.
        if select.items.len() != becomes.len() || !matches!(select.distinct, Distinct::All) {
            return Ok(());
        }
        for (at, ty) in becomes.iter().enumerate() {
            let value = std::mem::replace(&mut select.items[at], Expr::null(Type::Text));
            let value = if value.ty == *ty { value } else { self.assign(value, &columns[at].name.clone(), ty, -1)? };
            columns[at].ty = value.ty.clone();
            query.columns[at].ty = value.ty.clone();
            select.items[at] = value;
        }
        Ok(())
    }

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
        let same = |known: &str| if self.is_mysql() { known.eq_ignore_ascii_case(name) } else { known == name };
        columns.find(|column| same(&column.name)).cloned()
    }

    /// The variable of a function that holds the name of a cursor, if one is called so.
    pub(in crate::postgres) fn cursor_variable(&self, name: &str) -> Option<Expr> {
        let levels = self.variables.as_ref()?.levels;
        let entries = self.scopes[..levels].iter().rev().flat_map(|scope| &scope.entries);
        let mut columns = entries.filter(|entry| entry.unqualified).flat_map(|entry| &entry.columns);
        let found = columns.find(|column| column.name == name)?;
        matches!(&found.expr.ty, Type::Scalar(scalar, _) if scalar.oid == REFCURSOR.oid).then(|| found.expr.clone())
    }

    /// The error for a field that a variable's row does not have; `None` for other entries.
    pub(in crate::postgres) fn missing_field(&self, level: usize, entry: &Entry, field: &str) -> Option<Error> {
        self.variables.as_ref().filter(|variables| level < variables.levels)?;
        if entry.unqualified {
            return None;
        }
        if entry.is_unassigned() {
            return Some(unassigned(&entry.name));
        }
        let message = format!("record \"{}\" has no field \"{field}\"", entry.name);
        Some(Error::new(Condition::UndefinedColumn, message))
    }

    /// The error for the fields of a row that nobody has assigned yet; `None` for others.
    pub(in crate::postgres) fn unassigned_fields(&self, level: usize, entry: &Entry) -> Option<Error> {
        self.variables.as_ref().filter(|variables| level < variables.levels && entry.is_unassigned())?;
        Some(Error::new(Condition::WrongObjectType, "record type has not been registered"))
    }
}

impl Entry {
    /// A variable that holds a record without a shape: NULL as a whole.
    fn is_unassigned(&self) -> bool {
        self.columns.is_empty() && self.value.as_ref().is_some_and(|value| value.ty == Type::RECORD)
    }
}

/// A record without a shape.
pub(crate) fn unassigned(name: &str) -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, format!("record \"{name}\" is not assigned yet"))
        .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}
