//! Functions and procedures that users have made in PostgreSQL's way, as the catalogs know them.
//!
//! What a file keeps of one is its canonical `CREATE FUNCTION`, the text of `pg_get_functiondef`; everything here is read
//! from that and written into it.

use std::sync::{Arc, OnceLock};

use crate::postgres::plpgsql;
pub use crate::postgres::polymorphic::Polymorphic;
use crate::schema::{QualifiedName, Relation};
use crate::stored_aggregate::AggregatePart;
use crate::user_type::{self, UserType};
use crate::{Condition, Error, Result, Schema, Type};

/// The object id of the language PL/pgSQL, which initdb gives.
pub const PLPGSQL: u32 = 13_500;

/// A function or procedure.
#[derive(Debug)]
pub struct StoredFunction {
    /// Object id.
    pub oid: u32,
    /// Namespace.
    pub namespace: String,
    /// Name; several may share it.
    pub name: String,
    /// Who made it.
    pub owner: String,
    /// What is known of it besides.
    pub definition: Definition,
    /// The types that users had made when it was read: its body may name them.
    types: Arc<Vec<Arc<UserType>>>,
    body: OnceLock<Result<Arc<plpgsql::Function>>>,
}

/// What CREATE FUNCTION says.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// CREATE PROCEDURE.
    pub procedure: bool,
    /// Parameters, columns of RETURNS TABLE among them.
    pub params: Vec<Param>,
    /// RETURNS; of a procedure, and of a function with OUT parameters, what follows from these.
    pub returns: TypeRef,
    /// RETURNS SETOF, RETURNS TABLE.
    pub set: bool,
    /// LANGUAGE.
    pub language: RoutineLanguage,
    /// The text in quotes; of a body in SQL's own grammar its text.
    pub source: String,
    /// The body is in SQL's own grammar (`RETURN …`, `BEGIN ATOMIC … END`).
    pub sql_body: bool,
    /// Which of the statements of BEGIN ATOMIC are RETURN.
    pub returned: Vec<usize>,
    /// IMMUTABLE, STABLE, VOLATILE.
    pub volatility: crate::functions::Volatility,
    /// STRICT.
    pub strict: bool,
    /// SECURITY DEFINER: it runs with the rights of its owner.
    pub definer: bool,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// PARALLEL.
    pub parallel: Parallel,
    /// COST, when it is said.
    pub cost: Option<String>,
    /// ROWS, when it is said.
    pub rows: Option<String>,
    /// SET: variables and their values as SET has them; in force while it runs.
    pub settings: Vec<(String, Vec<String>)>,
    /// What makes it an aggregate; it has no body of its own then.
    pub aggregate: Option<Arc<AggregatePart>>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name; empty when it has none.
    pub name: String,
    /// Its type.
    pub ty: TypeRef,
    /// Its direction.
    pub mode: ParamMode,
    /// DEFAULT, as text.
    pub default: Option<String>,
}

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParamMode {
    /// Into the function.
    In,
    /// Both ways.
    InOut,
    /// Out of the function.
    Out,
    /// A column of RETURNS TABLE.
    Table,
    /// As many as are given, as one array.
    Variadic,
}

impl ParamMode {
    /// A call gives it.
    pub const fn is_input(self) -> bool {
        matches!(self, Self::In | Self::InOut | Self::Variadic)
    }

    /// It is a part of the result.
    pub const fn is_output(self) -> bool {
        matches!(self, Self::InOut | Self::Out | Self::Table)
    }

    /// The letter in `proargmodes`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::In => "i",
            Self::InOut => "b",
            Self::Out => "o",
            Self::Table => "t",
            Self::Variadic => "v",
        }
    }
}

/// A language of functions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RoutineLanguage {
    /// MySQL's.
    Mysql,
    /// PL/pgSQL.
    Plpgsql,
    /// SQL.
    Sql,
}

impl RoutineLanguage {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Plpgsql => "plpgsql",
            Self::Sql => "sql",
        }
    }
}

/// PARALLEL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parallel {
    /// RESTRICTED.
    Restricted,
    /// SAFE.
    Safe,
    /// UNSAFE.
    Unsafe,
}

/// A type as a function names it.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeRef {
    /// A type of values.
    Is(Type),
    /// The row of a table or view.
    Row(QualifiedName),
    /// An array of such rows.
    Rows(QualifiedName),
    /// A type that stands for whatever a call has.
    Any(Polymorphic),
    /// What trigger functions return.
    Trigger,
    /// What functions of event triggers return.
    EventTrigger,
    /// Another pseudo-type by its object id: what aggregates and the functions behind them may have.
    Pseudo(u32),
}

/// `"any"`, which takes a value of any type as it is.
pub const ANY: u32 = 2_276;

/// `internal`, the type of what only the server's own functions read.
pub const INTERNAL: u32 = 2_281;

impl TypeRef {
    /// True when both mean the same, whether `public` is told or not.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Row(name), Self::Row(other)) | (Self::Rows(name), Self::Rows(other)) => is_called(name, other),
            _ => self == other,
        }
    }

    /// Its words, as `format_type` prints them.
    pub fn words(&self) -> String {
        match self {
            Self::Is(ty) => crate::postgres::types::words(ty),
            Self::Row(name) | Self::Rows(name) => {
                let quote = crate::postgres::quote_ident;
                let bounds = if matches!(self, Self::Rows(_)) { "[]" } else { "" };
                match name.schema.as_deref() {
                    None | Some("public") => format!("{}{bounds}", quote(&name.name)),
                    Some(schema) => format!("{}.{}{bounds}", quote(schema), quote(&name.name)),
                }
            }
            Self::Any(any) => any.name().to_owned(),
            Self::Trigger => "trigger".to_owned(),
            Self::EventTrigger => "event_trigger".to_owned(),
            Self::Pseudo(oid) => crate::postgres::regtype::shown(*oid, None).unwrap_or_else(|| "unknown".to_owned()),
        }
    }

    /// Its object id.
    pub fn oid(&self, schema: &dyn Schema) -> u32 {
        match self {
            Self::Is(ty) => crate::postgres::types::oid(ty),
            Self::Row(_) | Self::Rows(_) => {
                self.looked_up(schema).ok().flatten().map_or(0, |ty| crate::postgres::types::oid(&ty))
            }
            Self::Any(any) => any.oid(),
            Self::Trigger => 2_279,
            Self::EventTrigger => 3_838,
            Self::Pseudo(oid) => *oid,
        }
    }

    /// The relation whose row it is.
    ///
    /// # Errors
    /// `42704` when it is gone.
    pub fn relation(&self, schema: &dyn Schema) -> Result<Option<Arc<Relation>>> {
        let (Self::Row(name) | Self::Rows(name)) = self else { return Ok(None) };
        let public =
            || name.schema.is_none().then(|| schema.relation(&QualifiedName::new("public", name.name.clone())));
        schema
            .relation(name)
            .or_else(|| public().flatten())
            .map(Some)
            .ok_or_else(|| Error::new(Condition::UndefinedObject, format!("type \"{name}\" does not exist")))
    }

    /// The type that it is, that of a relation's rows looked up; `None` for what is no type of values.
    ///
    /// # Errors
    /// `42704` when the relation is gone.
    pub fn looked_up(&self, schema: &dyn Schema) -> Result<Option<Type>> {
        let row = |relation: &Relation| Type::User(Arc::new(crate::composite::row_type(relation)));
        Ok(match self {
            Self::Is(ty) => Some(ty.clone()),
            Self::Row(_) => self.relation(schema)?.map(|relation| row(&relation)),
            Self::Rows(_) => self.relation(schema)?.map(|relation| Type::Array(Box::new(row(&relation)))),
            Self::Any(_) | Self::Trigger | Self::EventTrigger | Self::Pseudo(_) => None,
        })
    }

    /// The type of rows with a name that it is.
    ///
    /// # Errors
    /// `42704` when the relation is gone.
    pub fn row_type(&self, schema: &dyn Schema) -> Result<Option<Type>> {
        Ok(self.looked_up(schema)?.filter(|ty| ty.is_row() && *ty != Type::RECORD))
    }
}

/// A text that keeps a name leaves out `public`.
fn is_called(name: &QualifiedName, relation: &QualifiedName) -> bool {
    let schema = |name: &QualifiedName| name.schema.clone().unwrap_or_else(|| "public".to_owned());
    name.name == relation.name && schema(name) == schema(relation)
}

impl Definition {
    /// The parameters that a call gives, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.mode.is_input())
    }

    /// The parameters that make the result.
    pub fn outputs(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.mode.is_output())
    }

    /// The types of values that it names.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        let states = self.aggregate.iter().flat_map(|part| part.states());
        let all = self.params.iter().map(|param| &param.ty).chain([&self.returns]).chain(states);
        all.filter_map(|ty| match ty {
            TypeRef::Is(ty) => Some(ty),
            _ => None,
        })
    }

    /// The relations whose rows, or arrays of them, it names: whether it is an array, and the name.
    pub fn rows(&self) -> impl Iterator<Item = (bool, &QualifiedName)> {
        let states = self.aggregate.iter().flat_map(|part| part.states());
        let all = self.params.iter().map(|param| &param.ty).chain([&self.returns]).chain(states);
        all.filter_map(|ty| match ty {
            TypeRef::Row(name) => Some((false, name)),
            TypeRef::Rows(name) => Some((true, name)),
            _ => None,
        })
    }

    /// Looks up the types that users have made: their names are read as the rows of tables.
    pub fn resolve_types(&mut self, find: &dyn Fn(&QualifiedName) -> Option<Type>) {
        for ty in self.types_mut() {
            match ty {
                TypeRef::Row(name) => {
                    if let Some(found) = find(name) {
                        *ty = TypeRef::Is(found);
                    }
                }
                TypeRef::Rows(name) => {
                    if let Some(found) = find(name) {
                        *ty = TypeRef::Is(Type::Array(Box::new(found)));
                    }
                }
                _ => {}
            }
        }
    }

    /// Says in which schemas the relations are whose rows it names: they are the same whatever the `search_path` is.
    pub fn qualify_rows(&mut self, find: &dyn Fn(&QualifiedName) -> Option<Arc<Relation>>) {
        for ty in self.types_mut() {
            if let TypeRef::Row(name) | TypeRef::Rows(name) = ty
                && name.schema.is_none()
                && let Some(found) = find(name).filter(|found| found.namespace != "pg_temp")
            {
                *name = QualifiedName::new(found.namespace.clone(), found.name.clone());
            }
        }
    }

    /// Replaces the types of values that it names.
    fn renew_types(&mut self, renewed: &dyn Fn(&Type) -> Type) {
        for ty in self.types_mut() {
            if let TypeRef::Is(ty) = ty
                && ty.has_user_type()
            {
                *ty = renewed(ty);
            }
        }
    }

    /// With another name for the rows of a relation; `None` where it does not name them.
    pub fn with_rows_renamed(&self, from: &QualifiedName, to: &QualifiedName) -> Option<Self> {
        let mut renamed = self.clone();
        let mut found = false;
        for ty in renamed.types_mut() {
            if let TypeRef::Row(name) | TypeRef::Rows(name) = ty
                && is_called(name, from)
            {
                name.clone_from(to);
                found = true;
            }
        }
        found.then_some(renamed)
    }

    fn types_mut(&mut self) -> impl Iterator<Item = &mut TypeRef> {
        let states = self.aggregate.iter_mut().flat_map(|part| Arc::make_mut(part).states_mut());
        self.params.iter_mut().map(|param| &mut param.ty).chain([&mut self.returns]).chain(states)
    }

    /// One of its types stands for whatever a call has.
    pub fn is_polymorphic(&self) -> bool {
        self.params.iter().any(|param| matches!(param.ty, TypeRef::Any(_))) || matches!(self.returns, TypeRef::Any(_))
    }

    /// Its result is a row, be it of OUT parameters, of a table or of any columns.
    pub fn returns_row(&self) -> bool {
        let row = match &self.returns {
            TypeRef::Row(_) => true,
            TypeRef::Is(ty) => ty.is_row(),
            _ => false,
        };
        row || self.outputs().count() > 1
    }

    /// Types of its input parameters in words, as a signature has them.
    pub fn input_words(&self) -> String {
        self.inputs().map(|param| param.ty.words()).collect::<Vec<_>>().join(",")
    }

    /// Why RETURN takes no value here, and what to do about it; `None` where it takes one.
    pub fn wrong_return(&self) -> Option<(&'static str, Option<&'static str>)> {
        if self.set {
            let hint = "Use RETURN NEXT or RETURN QUERY.";
            return Some(("RETURN cannot have a parameter in function returning set", Some(hint)));
        }
        if self.procedure {
            return Some(("RETURN cannot have a parameter in a procedure", None));
        }
        if self.outputs().next().is_some() {
            return Some(("RETURN cannot have a parameter in function with OUT parameters", None));
        }
        if self.returns == TypeRef::Is(Type::Void) {
            return Some(("RETURN cannot have a parameter in function returning void", None));
        }
        None
    }

    /// FUNCTION or PROCEDURE.
    pub const fn kind(&self) -> &'static str {
        if self.procedure { "procedure" } else { "function" }
    }
}

impl StoredFunction {
    /// A function with what its text says.
    pub fn new(oid: u32, namespace: String, name: String, owner: String, definition: Definition) -> Self {
        Self { oid, namespace, name, owner, definition, types: Arc::default(), body: OnceLock::new() }
    }

    /// One that calls a function of PostgreSQL's own with arguments of types, of which the last is the result's.
    pub fn calling(fact: &rowferry_facts::Function, types: &[Type]) -> Self {
        let (result, args) = types.split_last().map_or((Type::Void, types), |(result, args)| (result.clone(), args));
        let param =
            |ty: &Type| Param { name: String::new(), ty: TypeRef::Is(ty.clone()), mode: ParamMode::In, default: None };
        let given: Vec<String> = (1..=args.len()).map(|number| format!("${number}")).collect();
        let name = crate::postgres::quote_ident(fact.name);
        let definition = Definition {
            procedure: false,
            params: args.iter().map(param).collect(),
            returns: TypeRef::Is(result),
            language: RoutineLanguage::Sql,
            source: format!("SELECT pg_catalog.{name}({})", given.join(", ")),
            volatility: crate::functions::Volatility::Immutable,
            strict: fact.strict,
            ..Definition::inline(String::new())
        };
        Self::new(fact.oid, "pg_catalog".to_owned(), fact.name.to_owned(), String::new(), definition)
    }

    /// The same, which may name these types of users: they are looked up anew in its signature.
    pub fn knowing(mut self, types: Arc<Vec<Arc<UserType>>>) -> Self {
        let namespace = self.namespace.clone();
        self.definition.resolve_types(&|name| user_type::named(&types, name, &namespace));
        let by_oid = |oid| types.iter().find(|ty| ty.oid == oid).cloned();
        self.definition.renew_types(&|ty| user_type::resolved(ty, &by_oid));
        self.types = types;
        self
    }

    /// The same function as it is with other types of users.
    pub fn renewed(&self, types: &Arc<Vec<Arc<UserType>>>) -> Self {
        let (namespace, name, owner) = (self.namespace.clone(), self.name.clone(), self.owner.clone());
        Self::new(self.oid, namespace, name, owner, self.definition.clone()).knowing(types.clone())
    }

    /// What tells it from others of its schema: `name(integer,text)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.definition.input_words())
    }

    /// It can be the function of a trigger.
    pub fn returns_trigger(&self) -> bool {
        self.definition.returns == TypeRef::Trigger
    }

    /// It, or a function that it calls, may change something.
    pub fn may_write(&self, schema: &dyn Schema) -> bool {
        self.may_write_within(schema, &mut Vec::new())
    }

    fn may_write_within(&self, schema: &dyn Schema, seen: &mut Vec<u32>) -> bool {
        if seen.contains(&self.oid) {
            return false;
        }
        seen.push(self.oid);
        if let Some(part) = &self.definition.aggregate {
            let functions: Vec<_> = part.functions().filter_map(|oid| schema.function_by_oid(oid)).collect();
            return functions.iter().any(|function| function.may_write_within(schema, seen));
        }
        let (writes, calls) = match self.definition.language {
            RoutineLanguage::Mysql | RoutineLanguage::Plpgsql => match self.plpgsql() {
                Ok(body) => (body.writes, body.calls.clone()),
                Err(_) => return true,
            },
            RoutineLanguage::Sql => match plpgsql::effects_of_sql(&self.definition.source) {
                Ok(effects) => effects,
                Err(_) => return true,
            },
        };
        writes
            || calls.iter().any(|name| {
                let functions = schema.functions(&QualifiedName::bare(name.clone()));
                functions.iter().any(|function| function.may_write_within(schema, seen))
                    || crate::functions::named(crate::Language::Postgres, name).any(|function| function.writes)
            })
    }

    /// Its body in PL/pgSQL or MySQL's language, parsed at the first need.
    ///
    /// # Errors
    /// `42601` for a text that somebody else has damaged.
    pub fn plpgsql(&self) -> Result<&Arc<plpgsql::Function>> {
        let parsed = self.body.get_or_init(|| {
            let find = |name: &QualifiedName| user_type::named(&self.types, name, &self.namespace);
            match self.definition.language {
                RoutineLanguage::Mysql => {
                    let routine = crate::mysql::routine::parse(&self.definition.source, &self.namespace, &find)?;
                    Ok(Arc::new(routine.function))
                }
                _ => plpgsql::parse(&self.name, &self.definition, &find).map(Arc::new),
            }
        });
        parsed.as_ref().map_err(Clone::clone)
    }
}

impl PartialEq for StoredFunction {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid
            && self.name == other.name
            && self.namespace == other.namespace
            && self.definition == other.definition
    }
}
