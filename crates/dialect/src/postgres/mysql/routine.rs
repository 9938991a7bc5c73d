//! Routines and triggers in MySQL's language: what is made of their trees (`crate::mysql::routines`), and their calls.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, ObjectType, node::Node as N};

use super::super::binder::Binder;
use super::super::names;
use super::super::routine::{definition_text, type_of_name};
use crate::functions::Volatility;
use crate::ir::{
    AlterFunction, CallTarget, ChangeTrigger, CreateFunction, Ddl, RoutineKind, Statement, TriggerChange, TriggerLevel,
    TriggerState, TriggerTime,
};
use crate::mysql::routine::{self as mysql, Altered, DataAccess, Kind, Routine};
use crate::schema::{QualifiedName, Relation, RelationKind, Trigger};
use crate::stored_function::{Definition, Param, RoutineLanguage, StoredFunction, TypeRef};
use crate::{Condition, Error, Result, Type, user_type};

/// The routine's CREATE.
pub(crate) const TEXT: &str = "mysql text";
/// IF NOT EXISTS.
pub(crate) const IF_NOT_EXISTS: &str = "mysql if not exists";
/// DEFINER.
pub(crate) const DEFINER: &str = "mysql definer";
/// FOLLOWS another trigger.
pub(crate) const FOLLOWS: &str = "mysql follows";
/// PRECEDES another trigger.
pub(crate) const PRECEDES: &str = "mysql precedes";
/// COMMENT of ALTER.
pub(crate) const COMMENT: &str = "mysql comment";
/// READS SQL DATA and its kin of ALTER.
pub(crate) const DATA: &str = "mysql data";
/// SQL SECURITY of ALTER.
pub(crate) const SECURITY: &str = "mysql security";
/// Who defines a routine, in the text of a tree.
pub(crate) const NO_DEFINER: &str = "nobody@%";

/// The value of an option.
fn option<'o>(options: &'o [Node], name: &str) -> Option<&'o str> {
    options.iter().find_map(|node| match &node.node {
        Some(N::DefElem(option)) if option.defname == name => {
            match option.arg.as_ref().and_then(|arg| arg.node.as_ref()) {
                Some(N::AConst(pg::AConst { val: Some(pg::a_const::Val::Sval(text)), .. })) => Some(text.sval.as_str()),
                _ => Some(""),
            }
        }
        _ => None,
    })
}

fn own(condition: Condition, code: u16, sqlstate: &'static str, message: String) -> Error {
    Error::new(condition, message).with_mysql(code, sqlstate)
}

impl Binder<'_> {
    /// The name of a database as MySQL's clients have it.
    pub(in crate::postgres) fn database_shown(&self, namespace: &str) -> String {
        if namespace == "public" { self.context.database.clone() } else { namespace.to_owned() }
    }

    /// Reads a routine's text.
    fn mysql_read(&self, text: &str, namespace: &str) -> Result<Routine> {
        let types = self.schema.user_types();
        let find = |name: &QualifiedName| user_type::named(&types, name, namespace);
        mysql::parse(text, &self.database_shown(namespace), &find)
    }

    /// What a routine is defined as.
    fn mysql_definition(&self, routine: &Routine, definer: &str) -> Result<Definition> {
        let types = self.schema.user_types();
        let resolved = |name: &pg::TypeName| -> Result<TypeRef> {
            let ty = type_of_name(name)?;
            Ok(match &ty {
                TypeRef::Row(name) => user_type::named(&types, name, "").map_or(ty, TypeRef::Is),
                _ => ty,
            })
        };
        let mut params = Vec::with_capacity(routine.params.len());
        for param in &routine.params {
            let (name, mode) = (param.name.to_lowercase(), param.mode);
            params.push(Param { name, ty: resolved(&param.ty.name)?, mode, default: None });
        }
        let outputs = params.iter().any(|param| param.mode.is_output());
        let returns = match &routine.returns {
            Some(ty) => resolved(&ty.name)?,
            None if outputs => TypeRef::Is(Type::RECORD),
            None => TypeRef::Is(Type::Void),
        };
        Ok(Definition {
            procedure: routine.kind == Kind::Procedure,
            params,
            returns,
            language: RoutineLanguage::Mysql,
            volatility: Volatility::Volatile,
            definer: !routine.characteristics.invoker,
            ..Definition::inline(routine.text(definer))
        })
    }

    /// Who defines a routine: who makes it, unless it says so.
    fn mysql_definer(&self, options: &[Node]) -> String {
        match option(options, DEFINER) {
            Some(definer) if definer != "current_user" => definer.to_owned(),
            _ => format!("{}@%", self.context.user),
        }
    }

    /// The procedure, or the function, of a name: names have no case, and there is one of each.
    pub(in crate::postgres) fn mysql_routine(
        &self,
        name: &QualifiedName,
        procedure: bool,
    ) -> Option<Arc<StoredFunction>> {
        let of_kind = |function: &Arc<StoredFunction>| {
            function.definition.procedure == procedure && function.definition.aggregate.is_none()
        };
        let lower = QualifiedName { name: name.name.to_lowercase(), ..name.clone() };
        let found = self.schema.functions(&lower).into_iter().find(of_kind);
        found.or_else(|| self.schema.functions(name).into_iter().find(of_kind))
    }

    /// A name with the database that it is looked for in.
    fn mysql_named(&self, nodes: &[Node]) -> Result<QualifiedName> {
        match names::strings(nodes).as_slice() {
            [name] => Ok(QualifiedName::bare(*name)),
            [.., schema, name] => Ok(QualifiedName::new(*schema, *name)),
            [] => Err(Error::internal("a routine without a name")),
        }
    }

    /// A routine's name with its database.
    pub(super) fn mysql_shown(&self, name: &QualifiedName) -> String {
        let namespace = match &name.schema {
            Some(schema) => schema.clone(),
            None => self.schema.creation_namespace().unwrap_or_default(),
        };
        format!("{}.{}", self.database_shown(&namespace), name.name)
    }

    /// `1305`.
    fn no_mysql_routine(&self, kind: &str, name: &QualifiedName) -> Error {
        let message = format!("{kind} {} does not exist", self.mysql_shown(name));
        own(Condition::UndefinedFunction, 1305, "42000", message)
    }

    /// CREATE PROCEDURE, CREATE FUNCTION.
    pub(in crate::postgres) fn create_mysql_routine(&mut self, create: &pg::CreateFunctionStmt) -> Result<Statement> {
        let text = option(&create.options, TEXT).unwrap_or_default();
        let name = self.mysql_named(&create.funcname)?;
        let namespace = self.function_namespace(&name)?;
        let routine = self.mysql_read(text, &namespace)?;
        let kind = routine.kind.word();
        let placed = QualifiedName::new(namespace.clone(), name.name.to_lowercase());
        let procedure = routine.kind == Kind::Procedure;
        let exists =
            || own(Condition::DuplicateFunction, 1304, "42000", format!("{kind} {} already exists", name.name));
        if self.mysql_routine(&placed, procedure).is_some() {
            if option(&create.options, IF_NOT_EXISTS).is_some() {
                let note = exists();
                self.remark_error(note);
                return Ok(Statement::Nothing { tag: "" });
            }
            return Err(exists());
        }
        if !procedure && crate::functions::named(crate::Language::Mysql, &placed.name).next().is_some() {
            let message = format!("This function '{}' has the same name as a native function", name.name);
            return Err(own(Condition::DuplicateFunction, 1585, "42000", message));
        }
        let definition = self.mysql_definition(&routine, &self.mysql_definer(&create.options))?;
        definition.types().for_each(|ty| self.needs.declare(ty));
        let function = StoredFunction::new(0, namespace, placed.name, self.context.user.clone(), definition);
        let words = function.definition.input_words();
        if self
            .schema
            .functions(&QualifiedName::new(function.namespace.clone(), function.name.clone()))
            .iter()
            .any(|known| known.definition.input_words() == words)
        {
            return Err(Error::unsupported(format!(
                "a procedure and a function {} that take the same arguments",
                function.name
            )));
        }
        Ok(Statement::Ddl(Box::new(Ddl::CreateFunction(CreateFunction {
            current: Vec::new(),
            signature: function.signature(),
            text: definition_text(&function.namespace, &function.name, &function.definition),
            namespace: function.namespace.clone(),
            name: function.name.clone(),
            replaces: None,
            kind: if procedure { RoutineKind::Procedure } else { RoutineKind::Function },
            leakproof: false,
            shadows: Vec::new(),
        }))))
    }

    /// DROP PROCEDURE, DROP FUNCTION.
    pub(in crate::postgres) fn drop_mysql_routine(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let procedure = drop.remove_type() == ObjectType::ObjectProcedure;
        let kind = if procedure { "PROCEDURE" } else { "FUNCTION" };
        let Some(Node { node: Some(N::ObjectWithArgs(object)) }) = drop.objects.first() else {
            return Err(Error::internal("DROP of nothing"));
        };
        let name = self.mysql_named(&object.objname)?;
        let Some(found) = self.mysql_routine(&name, procedure) else {
            let missing = self.no_mysql_routine(kind, &name);
            if drop.missing_ok {
                self.remark_error(missing);
                return Ok(Statement::Nothing { tag: "" });
            }
            return Err(missing);
        };
        let tag = if procedure { "DROP PROCEDURE" } else { "DROP FUNCTION" };
        Ok(Statement::Ddl(Box::new(Ddl::DropFunctions { functions: vec![found.oid], cascade: false, tag })))
    }

    /// ALTER PROCEDURE, ALTER FUNCTION.
    pub(in crate::postgres) fn alter_mysql_routine(&mut self, alter: &pg::AlterFunctionStmt) -> Result<Statement> {
        let procedure = alter.objtype() == ObjectType::ObjectProcedure;
        let kind = if procedure { "PROCEDURE" } else { "FUNCTION" };
        let Some(object) = &alter.func else { return Err(Error::internal("ALTER of nothing")) };
        let name = self.mysql_named(&object.objname)?;
        let Some(found) = self.mysql_routine(&name, procedure) else {
            return Err(self.no_mysql_routine(kind, &name));
        };
        if found.definition.language != RoutineLanguage::Mysql {
            return Err(Error::unsupported("ALTER of a routine in another language"));
        }
        let altered = Altered {
            comment: option(&alter.actions, COMMENT).map(str::to_owned),
            data: option(&alter.actions, DATA).and_then(DataAccess::of_words),
            invoker: option(&alter.actions, SECURITY).map(|word| word == "INVOKER"),
        };
        let mut routine = self.mysql_read(&found.definition.source, &found.namespace)?;
        altered.apply(&mut routine.characteristics);
        let definer = routine.definer.clone().unwrap_or_default();
        let definition = self.mysql_definition(&routine, &definer)?;
        Ok(Statement::Ddl(Box::new(Ddl::AlterFunction(AlterFunction {
            function: found.oid,
            signature: found.signature(),
            name: found.name.clone(),
            text: definition_text(&found.namespace, &found.name, &definition),
            namespace: found.namespace.clone(),
            leakproof: false,
            current: Vec::new(),
            tag: if procedure { "ALTER PROCEDURE" } else { "ALTER FUNCTION" },
        }))))
    }

    /// CREATE TRIGGER.
    pub(in crate::postgres) fn create_mysql_trigger(&mut self, create: &pg::CreateTrigStmt) -> Result<Statement> {
        let text = option(&create.args, TEXT).unwrap_or_default();
        let Some(range) = &create.relation else { return Err(Error::internal("a trigger without its table")) };
        let name = self.mysql_named(&create.funcname)?;
        let relation = self.relation(range)?;
        let of_table = self.database_shown(&relation.namespace);
        match relation.kind {
            RelationKind::Table => {}
            _ => {
                let message = format!("'{of_table}.{}' is not BASE TABLE", relation.name);
                return Err(own(Condition::WrongObjectType, 1347, "HY000", message));
            }
        }
        if relation.is_temporary() {
            let message = format!("Trigger's '{}' is view or temporary table", relation.name);
            return Err(own(Condition::WrongObjectType, 1361, "HY000", message));
        }
        if name.schema.as_ref().is_some_and(|schema| *schema != relation.namespace) {
            return Err(own(Condition::InvalidObjectDefinition, 1435, "HY000", "Trigger in wrong schema".to_owned()));
        }
        if let Some((table, _)) = self.mysql_trigger(&relation.namespace, &name.name) {
            let exists = own(Condition::DuplicateObject, 1359, "HY000", "Trigger already exists".to_owned());
            if option(&create.args, IF_NOT_EXISTS).is_some() && table.oid == relation.oid {
                self.remark_error(exists);
                return Ok(Statement::Nothing { tag: "" });
            }
            return Err(exists);
        }
        let routine = self.mysql_read(text, &relation.namespace)?;
        let Kind::Trigger(head) = &routine.kind else { return Err(Error::internal("a trigger that is none")) };
        self.check_fields_of_row(&routine, &relation)?;
        let time = if head.before { TriggerTime::Before } else { TriggerTime::After };
        // Its place among those of its time and event.
        let place = |trigger: &Trigger| trigger.mysql_body().map_or(0, |(_, place)| place);
        let alike = |trigger: &&Arc<Trigger>| {
            trigger.function == Trigger::MYSQL && trigger.time == time && trigger.waits_for(head.event)
        };
        let all: Vec<&Arc<Trigger>> = relation.triggers.iter().filter(alike).collect();
        let last = relation.triggers.iter().map(|trigger| place(trigger)).max().unwrap_or(0);
        let order = [(true, FOLLOWS), (false, PRECEDES)]
            .into_iter()
            .find_map(|(follows, word)| option(&create.args, word).map(|other| (follows, other)));
        let mut moved = Vec::new();
        let own_place = match order {
            None => last + 1,
            Some((follows, other)) => {
                let Some(at) = all.iter().position(|known| known.name.eq_ignore_ascii_case(other)) else {
                    let message = format!(
                        "Referenced trigger '{other}' for the given action time and event type does not exist."
                    );
                    return Err(own(Condition::UndefinedObject, 3011, "HY000", message));
                };
                let at = if follows { at + 1 } else { at };
                // Those behind it move on.
                for (next, known) in all[at..].iter().enumerate() {
                    let mut known = Trigger::clone(known);
                    known.args[1] = (last + 2 + u32::try_from(next).unwrap_or(0)).to_string();
                    moved.push(known);
                }
                last + 1
            }
        };
        let trigger = Trigger {
            oid: 0,
            name: name.name.clone(),
            function: Trigger::MYSQL,
            time,
            level: TriggerLevel::Row,
            events: head.event.bit(),
            columns: Vec::new(),
            condition: None,
            args: vec![routine.text(&self.mysql_definer(&create.args)), own_place.to_string()],
            old_table: None,
            new_table: None,
            constraint: None,
            state: TriggerState::Origin,
            comment: None,
            key: None,
        };
        let made = std::iter::once(trigger).chain(moved).collect();
        let change = TriggerChange::Actions { gone: Vec::new(), made };
        Ok(Statement::Ddl(Box::new(Ddl::Trigger(ChangeTrigger { relation, change }))))
    }

    /// Columns that `SET NEW.column` names must be there.
    fn check_fields_of_row(&self, routine: &Routine, relation: &Relation) -> Result<()> {
        for field in routine.function.assigned_fields() {
            if !relation.columns.iter().any(|column| column.name.eq_ignore_ascii_case(field)) {
                let message = format!("Unknown column '{field}' in 'NEW'");
                return Err(own(Condition::UndefinedColumn, 1054, "42S22", message));
            }
        }
        Ok(())
    }

    /// The trigger of a name in a database, with its table.
    fn mysql_trigger(&self, namespace: &str, name: &str) -> Option<(Arc<Relation>, Arc<Trigger>)> {
        let of_database = |relation: &Arc<Relation>| relation.namespace == namespace;
        self.schema.triggered().into_iter().filter(of_database).find_map(|relation| {
            let found = relation.named_triggers().find(|trigger| trigger.name.eq_ignore_ascii_case(name)).cloned();
            found.map(|trigger| (relation, trigger))
        })
    }

    /// DROP TRIGGER.
    pub(in crate::postgres) fn drop_mysql_trigger(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let Some(Node { node: Some(N::List(list)) }) = drop.objects.first() else {
            return Err(Error::internal("DROP of nothing"));
        };
        let name = self.mysql_named(&list.items)?;
        let namespace = match &name.schema {
            Some(schema) => schema.clone(),
            None => self.schema.creation_schema(None)?,
        };
        let Some((relation, trigger)) = self.mysql_trigger(&namespace, &name.name) else {
            let missing = own(Condition::UndefinedObject, 1360, "HY000", "Trigger does not exist".to_owned());
            if drop.missing_ok {
                self.remark_error(missing);
                return Ok(Statement::Nothing { tag: "" });
            }
            return Err(missing);
        };
        let change = TriggerChange::Drop(trigger);
        Ok(Statement::Ddl(Box::new(Ddl::Trigger(ChangeTrigger { relation, change }))))
    }

    /// `1318` where a call has too many arguments, or too few.
    fn check_mysql_arguments(&self, function: &StoredFunction, given: usize) -> Result<()> {
        let wanted = function.definition.params.len();
        if wanted == given {
            return Ok(());
        }
        let kind = if function.definition.procedure { "PROCEDURE" } else { "FUNCTION" };
        let name = format!("{}.{}", self.database_shown(&function.namespace), function.name);
        let message = format!("Incorrect number of arguments for {kind} {name}; expected {wanted}, got {given}");
        Err(own(Condition::UndefinedFunction, 1318, "42000", message))
    }

    /// The function of users that a call means; `None` where it is another function.
    pub(in crate::postgres) fn mysql_function_of_users(
        &self,
        call: &pg::FuncCall,
    ) -> Result<Option<Arc<StoredFunction>>> {
        let name = self.mysql_named(&call.funcname)?;
        let name = QualifiedName { schema: name.schema.map(|schema| self.schema_of_database(schema)), ..name };
        self.schema.check_usage(&name)?;
        let Some(found) = self.mysql_routine(&name, false) else { return Ok(None) };
        self.check_mysql_arguments(&found, call.args.len())?;
        Ok(Some(found))
    }

    fn schema_of_database(&self, database: String) -> String {
        if database.eq_ignore_ascii_case(&self.context.database) { "public".to_owned() } else { database }
    }

    /// The procedure that CALL means.
    pub(in crate::postgres) fn mysql_procedure(&self, call: &pg::FuncCall) -> Result<Arc<StoredFunction>> {
        let name = self.mysql_named(&call.funcname)?;
        let name = QualifiedName { schema: name.schema.map(|schema| self.schema_of_database(schema)), ..name };
        self.schema.check_usage(&name)?;
        let found = self.mysql_routine(&name, true).ok_or_else(|| self.no_mysql_routine("PROCEDURE", &name))?;
        self.check_mysql_arguments(&found, call.args.len())?;
        Ok(found)
    }

    /// Where what comes out of the parameters of a CALL goes.
    pub(in crate::postgres) fn call_targets(
        &self,
        call: &pg::FuncCall,
        function: &StoredFunction,
    ) -> Result<Vec<CallTarget>> {
        let mut targets = Vec::new();
        for (at, (node, param)) in call.args.iter().zip(&function.definition.params).enumerate() {
            if !param.mode.is_output() {
                continue;
            }
            let target = match &node.node {
                Some(N::FuncCall(of)) if names::strings(&of.funcname) == ["mysql_user_variable"] => {
                    of.args.first().and_then(constant_text).map(|name| CallTarget::User(name.to_owned()))
                }
                Some(N::ParamRef(_)) => Some(CallTarget::Client),
                Some(N::ColumnRef(column)) if self.variables.is_some() => {
                    let names = names::strings(&column.fields).into_iter().map(str::to_owned).collect();
                    Some(CallTarget::Variable(names))
                }
                _ => None,
            };
            let Some(target) = target else {
                let name = format!("{}.{}", self.database_shown(&function.namespace), function.name);
                let message = format!(
                    "OUT or INOUT argument {} for routine {name} is not a variable or NEW pseudo-variable in BEFORE \
                     trigger",
                    at + 1
                );
                return Err(own(Condition::SyntaxError, 1414, "42000", message));
            };
            targets.push(target);
        }
        Ok(targets)
    }
}

fn constant_text(node: &Node) -> Option<&str> {
    match &node.node {
        Some(N::AConst(pg::AConst { val: Some(pg::a_const::Val::Sval(text)), .. })) => Some(&text.sval),
        _ => None,
    }
}
