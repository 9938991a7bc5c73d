//! What MySQL's routines do with a session: what they answer to the client, where what comes out of their parameters goes,
//! and triggers in their language.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowferry_dialect::ir::{CallProcedure, CallTarget, Value};
use rowferry_dialect::postgres::plpgsql::Conflict;
use rowferry_dialect::postgres::routine::{VariableScope, Variables};
use rowferry_dialect::schema::Trigger;
use rowferry_dialect::stored_function::{Definition, RoutineLanguage, StoredFunction, TypeRef};
use rowferry_dialect::{Condition, Error, Language, Result, Schema as _, Type};

use super::plpgsql;
use super::stored::Returned;
use super::trigger::TriggerCall;
use crate::cursor::Cursor;
use crate::session::{Outcome, Prepared, Session};

/// Rows that a procedure has for the client.
#[derive(Debug)]
pub struct Answer {
    /// The rows, which have been read.
    pub rows: Cursor,
    /// They are one, of what comes out of the parameters that a prepared CALL has given.
    pub outputs: bool,
}

/// A plan that hands a value on.
#[derive(Clone, Debug)]
struct Handing {
    text: Arc<str>,
    from: Type,
    becomes: Option<Type>,
    generation: u64,
    plan: Arc<Prepared>,
}

/// Plans that hand values on.
#[derive(Debug, Default)]
pub(super) struct Handings(Vec<Handing>);

/// As many as a session keeps.
const MOST_HANDINGS: usize = 64;

/// How deep procedures may call themselves, unless `max_sp_recursion_depth` says so.
const RECURSION: &str = "mysql.max_sp_recursion_depth";

/// The name of what is handed on.
const VALUE: &str = "value ";

fn own(condition: Condition, code: u16, sqlstate: &'static str, message: impl Into<String>) -> Error {
    Error::new(condition, message).with_mysql(code, sqlstate)
}

impl Session {
    /// What procedures have had for the client since the last call, also where they have failed later.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut *self.routine_state().answers.lock())
    }

    /// Fails where a routine's rows find no client.
    pub(super) fn check_answers_client(&self) -> Result<()> {
        if self.is_within_statement() {
            let inside = if self.is_in_trigger() { "trigger" } else { "function" };
            return Err(own(
                Condition::FeatureNotSupported,
                1415,
                "0A000",
                format!("Not allowed to return a result set from a {inside}"),
            ));
        }
        if self.shared_state().language != Language::Mysql {
            return Err(Error::unsupported("a procedure in MySQL's language that returns rows to this client"));
        }
        Ok(())
    }

    fn is_in_trigger(&self) -> bool {
        self.shared_state().trigger_depth.load(Ordering::Relaxed) > 0
    }

    /// A function or a trigger runs, which a statement has called.
    pub(super) fn is_within_statement(&self) -> bool {
        self.is_inside() || self.is_in_trigger()
    }

    /// How many messages there are for the client.
    pub(super) fn notices_so_far(&self) -> usize {
        self.shared_state().notices.lock().len()
    }

    /// The first warning behind so many messages.
    pub(super) fn warning_since(&self, noted: usize) -> Option<Error> {
        let notices = self.shared_state().notices.lock();
        let warning = |notice: &&Error| notice.severity == Some(rowferry_dialect::error::Severity::Warning);
        notices.iter().skip(noted).find(warning).cloned()
    }

    /// The value of a text over one value.
    fn hand(&mut self, text: &str, value: &Value, from: &Type, becomes: Option<&Type>) -> Result<(Value, Type)> {
        self.refresh_schema();
        let generation = self.generation();
        let from = if *from == Type::Unknown { Type::Text } else { from.clone() };
        let fits = |known: &&Handing| {
            *known.text == *text
                && known.from == from
                && known.becomes.as_ref() == becomes
                && known.generation == generation
        };
        let known = self.routine_state().handings.lock().0.iter().find(fits).map(|known| known.plan.clone());
        let plan = match known {
            Some(plan) => plan,
            None => {
                let scope = VariableScope { values: vec![(VALUE.to_owned(), 0)], ..VariableScope::default() };
                let variables = Variables {
                    scopes: vec![scope],
                    types: vec![from.clone()],
                    conflict: Conflict::Variable,
                    in_mysql: true,
                    becomes: becomes.cloned().into_iter().collect(),
                    ..Variables::default()
                };
                let plan = self.prepare_inside(text, Arc::new(variables))?;
                let handing =
                    Handing { text: text.into(), from, becomes: becomes.cloned(), generation, plan: plan.clone() };
                let mut handings = self.routine_state().handings.lock();
                if handings.0.len() >= MOST_HANDINGS {
                    handings.0.clear();
                }
                handings.0.push(handing);
                plan
            }
        };
        let params: Vec<Value> = plan.bound.inside.iter().map(|_| value.clone()).collect();
        let Outcome::Rows(mut cursor) = self.execute(&plan, &params)? else { return Ok((Value::Null, Type::Unknown)) };
        let ty = cursor.columns().first().map_or(Type::Unknown, |column| column.ty.clone());
        let row = cursor.next()?;
        Ok((row.map_or(Value::Null, |row| row.get(0).to_value()), ty))
    }

    /// A value as MySQL assigns it to something of a type.
    pub(super) fn assigned_in_mysql(&mut self, value: &Value, from: &Type, to: &Type) -> Result<Value> {
        let text = format!("SELECT `{VALUE}`");
        let (assigned, ty) = self.hand(&text, value, from, Some(to))?;
        if ty == *to { Ok(assigned) } else { self.converted(&assigned, &ty, to) }
    }

    /// `SET @name = value`.
    pub(super) fn set_user_variable(&mut self, name: &str, value: &Value, ty: &Type) -> Result<()> {
        let name = name.replace('\\', "\\\\").replace('\'', "''");
        let text = format!("SELECT mysql_set_user_variable('{name}', `{VALUE}`)");
        self.hand(&text, value, ty, None).map(drop)
    }

    /// What has come out of the parameters of a CALL goes where it is wanted.
    pub(super) fn hand_out(&mut self, call: &CallProcedure, returned: Returned) -> Result<()> {
        let types = returned.types.clone();
        let mut reader = returned.rows.into_reader()?;
        if call.targets.is_empty() || !reader.advance()? {
            return Ok(());
        }
        let values: Vec<Value> = (0..reader.columns()).map(|at| reader.column(at).to_value()).collect();
        let (mut own_outputs, mut told) = (Vec::new(), Vec::new());
        let names = call.function.definition.outputs().map(|param| param.name.clone());
        for (((target, value), ty), name) in call.targets.iter().zip(values).zip(types).zip(names) {
            match target {
                CallTarget::User(name) => {
                    let name = name.clone();
                    self.routine_in_mysql(|session| session.set_user_variable(&name, &value, &ty))?;
                }
                CallTarget::Variable(names) => own_outputs.push((names.clone(), value, ty)),
                CallTarget::Client => told.push((name, value, ty)),
            }
        }
        *self.routine_state().outputs.lock() = own_outputs;
        if told.is_empty() {
            return Ok(());
        }
        let rows = self.routine_in_mysql(|session| session.row_of_outputs(told))?;
        self.routine_state().answer(Answer { rows, outputs: true });
        Ok(())
    }

    fn routine_in_mysql<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = self.speak(Language::Mysql);
        let result = run(self);
        self.speak(outer);
        result
    }

    /// A row of the values that have come out.
    fn row_of_outputs(&mut self, outputs: Vec<(String, Value, Type)>) -> Result<Cursor> {
        let names: Vec<String> =
            outputs.iter().map(|(name, ..)| rowferry_dialect::mysql::print::quoted(name)).collect();
        let values = outputs.iter().enumerate().map(|(at, (name, ..))| (name.clone(), at)).collect();
        let variables = Variables {
            scopes: vec![VariableScope { values, ..VariableScope::default() }],
            types: outputs.iter().map(|(.., ty)| ty.clone()).collect(),
            conflict: Conflict::Variable,
            in_mysql: true,
            ..Variables::default()
        };
        let plan = self.prepare_inside(&format!("SELECT {}", names.join(", ")), Arc::new(variables))?;
        let params: Vec<Value> = plan.bound.inside.iter().map(|at| outputs[*at].1.clone()).collect();
        let Outcome::Rows(mut cursor) = self.execute(&plan, &params)? else {
            return Err(Error::internal("a row that is none"));
        };
        cursor.read_ahead()?;
        Ok(cursor)
    }

    /// Fails where a routine calls itself deeper than it may.
    pub(super) fn check_recursion(&self, function: &StoredFunction) -> Result<()> {
        if function.definition.language != RoutineLanguage::Mysql {
            return Ok(());
        }
        let depth = self.routine_state().running.depth_of(function.oid);
        if depth == 0 {
            return Ok(());
        }
        if !function.definition.procedure {
            let message = "Recursive stored functions and triggers are not allowed.";
            return Err(own(Condition::StatementTooComplex, 1424, "HY000", message));
        }
        let most = self.variable(RECURSION).and_then(|value| value.parse().ok()).unwrap_or(0);
        if depth <= most {
            return Ok(());
        }
        let message = format!(
            "Recursive limit {most} (as set by the max_sp_recursion_depth variable) was exceeded for routine {}",
            function.name
        );
        Err(own(Condition::StatementTooComplex, 1456, "HY000", message))
    }

    /// The function that a trigger's body is, parsed once.
    fn function_of_trigger(&mut self, trigger: &Trigger, namespace: &str) -> Result<Arc<StoredFunction>> {
        let Some((text, _)) = trigger.mysql_body() else {
            return Err(Error::internal(format!("trigger {} has no body", trigger.name)));
        };
        let generation = self.generation();
        let known = self.routine_state().bodies.lock().get(&trigger.oid).cloned();
        if let Some((known, function)) = known
            && known == generation
            && function.definition.source == text
        {
            return Ok(function);
        }
        let definition = Definition {
            returns: TypeRef::Trigger,
            language: RoutineLanguage::Mysql,
            procedure: false,
            ..Definition::in_mysql(text.to_owned())
        };
        let (namespace, name) = (namespace.to_owned(), trigger.name.clone());
        let types = Arc::new(self.known_schema().user_types());
        let function = StoredFunction::new(trigger.oid, namespace, name, String::new(), definition).knowing(types);
        let function = Arc::new(function);
        self.routine_state().bodies.lock().insert(trigger.oid, (generation, function.clone()));
        Ok(function)
    }
}

/// Runs the body of a trigger, with the rights of the owner of its table; the row as it leaves it.
pub(super) fn run_trigger(session: &mut Session, call: &TriggerCall<'_>) -> Result<Option<Vec<Value>>> {
    let Some(trigger) = call.relation.trigger(call.name).cloned() else {
        return Err(Error::internal(format!("a trigger {} that is not there", call.name)));
    };
    let function = session.function_of_trigger(&trigger, &call.relation.namespace)?;
    let _nested = session.enter_routine()?;
    session.check_recursion(&function)?;
    let compiled = session.compile_stored(&function, None, call.relation.oid)?;
    let owner = session.schema().rights().owner(call.relation.oid);
    let caller = session.act_as(owner);
    session.routine_state().definers.fetch_add(1, Ordering::Relaxed);
    session.routine_state().used.lock().push(call.relation.oid);
    let result = plpgsql::run_trigger(session, &compiled, call);
    session.routine_state().used.lock().pop();
    session.routine_state().definers.fetch_sub(1, Ordering::Relaxed);
    session.act_as(caller);
    result
}
