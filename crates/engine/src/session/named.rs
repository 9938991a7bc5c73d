//! Prepared statements: those of PREPARE and those of the door's protocol are one name space.

use std::sync::Arc;

use rowferry_dialect::ir::{Expr, Value};
use rowferry_dialect::plan::ResultColumn;
use rowferry_dialect::values;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::names::Thing;
use super::{Outcome, Prepared, Session};

/// A prepared statement.
#[derive(Debug)]
pub(super) struct NamedStatement {
    /// Its plan; `None` when its text held no statement.
    plan: Option<Arc<Prepared>>,
    text: Arc<str>,
    from_sql: bool,
    prepared: i64,
}

/// What `pg_prepared_statements` shows.
#[derive(Clone, Debug)]
pub struct StatementFacts {
    /// Its text, PREPARE's own included.
    pub text: Arc<str>,
    /// Its parameters.
    pub params: Vec<Type>,
    /// PREPARE has made it.
    pub from_sql: bool,
    /// When: microseconds since 1970.
    pub prepared: i64,
}

impl Thing for NamedStatement {
    type Facts = StatementFacts;
    const PLURAL: &'static str = "prepared statements";

    fn facts(&self) -> StatementFacts {
        StatementFacts {
            text: self.text.clone(),
            params: self.plan.as_ref().map(|plan| plan.bound.params.clone()).unwrap_or_default(),
            from_sql: self.from_sql,
            prepared: self.prepared,
        }
    }

    fn size(&self) -> usize {
        self.text.len() + self.plan.as_ref().map_or(0, |plan| plan.size)
    }

    fn taken(name: &str) -> Error {
        let message = format!("prepared statement \"{name}\" already exists");
        Error::new(Condition::DuplicatePreparedStatement, message)
    }

    fn missing(name: &str) -> Error {
        let message = if name.is_empty() {
            "unnamed prepared statement does not exist".to_owned()
        } else {
            format!("prepared statement \"{name}\" does not exist")
        };
        Error::new(Condition::InvalidSqlStatementName, message)
    }
}

impl Session {
    /// Fails when a new prepared statement cannot have this name.
    pub fn check_statement_name(&self, name: &str) -> Result<()> {
        self.statements.check_free(name)
    }

    /// Keeps a statement, none for an empty text, under a name that [`Session::check_statement_name`] allowed; the empty
    /// name is the unnamed one.
    ///
    /// # Errors
    /// `53200` when the session has no room for it.
    pub fn keep_statement(&mut self, name: &str, text: &str, plan: Option<Arc<Prepared>>) -> Result<()> {
        // The unnamed one is shown nowhere.
        let (text, prepared) = if name.is_empty() { ("".into(), 0) } else { (text.into(), super::state::now()) };
        self.statements.insert(name, NamedStatement { plan, text, from_sql: false, prepared })
    }

    /// The plan of a prepared statement as it was when it was prepared; `None` when its text held no statement.
    pub fn named_statement(&self, name: &str) -> Result<Option<Arc<Prepared>>> {
        self.statements.get(name).map(|statement| statement.plan.clone())
    }

    /// Forgets a prepared statement; true when there was one.
    pub fn forget_statement(&mut self, name: &str) -> bool {
        self.statements.remove(name)
    }

    pub(super) fn prepare_named(&mut self, prepare: &Prepared, name: &str, text: &str, params: &[Type]) -> Result<()> {
        self.statements.check_free(name)?;
        let params: Vec<Option<Type>> = params.iter().cloned().map(Some).collect();
        let plan = self.prepare(text, &params)?;
        let (text, prepared) = (prepare.parsed.whole_text(), super::state::now());
        self.statements.insert(name, NamedStatement { plan, text, from_sql: true, prepared })
    }

    /// The columns that EXECUTE will yield; none when there is no such statement yet.
    pub(super) fn columns_of_statement(&self, name: &str) -> Vec<ResultColumn> {
        let plan = self.statements.get(name).ok().and_then(|statement| statement.plan.as_ref());
        plan.map(|plan| plan.bound.columns.clone()).unwrap_or_default()
    }

    pub(super) fn execute_named(&mut self, name: &str, args: &[Expr]) -> Result<Outcome> {
        let (plan, params) = self.prepared_with(name, args)?;
        self.dispatch(&plan, &params)
    }

    /// The plan of a prepared statement, and the values of its parameters.
    pub(super) fn prepared_with(&mut self, name: &str, args: &[Expr]) -> Result<(Arc<Prepared>, Vec<Value>)> {
        let Some(plan) = self.named_statement(name)? else {
            return Err(Error::unsupported("EXECUTE of an empty statement"));
        };
        let plan = self.revalidate(&plan)?;
        if plan.bound.params.len() != args.len() {
            return Err(Error::new(
                Condition::SyntaxError,
                format!("wrong number of parameters for prepared statement \"{name}\""),
            )
            .detail(format!("Expected {} parameters but got {}.", plan.bound.params.len(), args.len())));
        }
        let mut params = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(&plan.bound.params) {
            params.push(self.constant(arg, ty)?);
        }
        Ok((plan, params))
    }

    /// The value of an expression without columns, as a value of a type.
    fn constant(&mut self, expr: &Expr, ty: &Type) -> Result<Value> {
        let settings = self.state.settings();
        if let Some(value) = super::utility::literal(expr) {
            return convert(value.clone(), &expr.ty, ty, &settings);
        }
        let handle = self.handle()?;
        let value = handle.lock().evaluate(expr)?;
        let value = self.checked(value)?;
        convert(value, &expr.ty, ty, &settings)
    }

    pub(super) fn deallocate(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            // The unnamed one has no name that DEALLOCATE could mean.
            None => self.statements.clear_named(),
            Some(name) if self.statements.remove(name) => {}
            Some(name) => return Err(NamedStatement::missing(name)),
        }
        Ok(())
    }
}

fn convert(value: Value, from: &Type, to: &Type, settings: &values::Settings) -> Result<Value> {
    values::cast(&value, from, to, rowferry_dialect::ir::CastContext::Assignment, settings)
}
