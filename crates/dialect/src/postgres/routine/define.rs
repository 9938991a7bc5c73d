//! CREATE, ALTER and DROP of functions and procedures, DO.

use pg_query::protobuf::{self as pg, DropBehavior, Node, ObjectType, node::Node as N};

use super::super::binder::Clause;
use super::aggregate_text::aggregate_type;
use super::read::{self, Read};
use super::types::{type_ref, unmodified};
use super::{definition_text, definition_with, quoted_offset};
use crate::ir::{AlterFunction, CreateFunction, Ddl, RoutineKind, Statement};
use crate::postgres::binder::Binder;
use crate::postgres::{names, plpgsql, quote_ident as quote, regtype, types};
use crate::schema::QualifiedName;
use crate::stored_function::{Definition, ParamMode, RoutineLanguage, StoredFunction, TypeRef};
use crate::{Condition, Error, Result, Type};

/// A function as ALTER, DROP and COMMENT name it.
struct Named {
    name: QualifiedName,
    /// Types of its arguments; `None` when only the name is given.
    args: Option<Vec<TypeRef>>,
    /// The same as the grammar spells them.
    spelt: Vec<String>,
}

impl Named {
    fn of(node: &Node, kind: ObjectType) -> Result<Self> {
        let aggregate = matches!(kind, ObjectType::ObjectAggregate | ObjectType::ObjectRoutine);
        let Some(N::ObjectWithArgs(object)) = &node.node else {
            return Err(Error::internal("a function without a name"));
        };
        let name = match names::strings(&object.objname).as_slice() {
            [name] => QualifiedName::bare(*name),
            [.., schema, name] => QualifiedName::new(*schema, *name),
            [] => return Err(Error::internal("a function without a name")),
        };
        if object.args_unspecified {
            return Ok(Self { name, args: None, spelt: Vec::new() });
        }
        let mut args = Vec::with_capacity(object.objargs.len());
        let mut spelt = Vec::with_capacity(object.objargs.len());
        for node in &object.objargs {
            if let Some(N::TypeName(ty)) = &node.node {
                let array = if ty.array_bounds.is_empty() { "" } else { "[]" };
                spelt.push(format!("{}{array}", names::strings(&ty.names).join(".")));
                args.push(if aggregate { aggregate_type(ty)? } else { unmodified(type_ref(ty)?) });
            }
        }
        Ok(Self { name, args: Some(args), spelt })
    }

    fn shown(&self) -> String {
        match &self.args {
            Some(args) => {
                let words: Vec<String> = args.iter().map(TypeRef::words).collect();
                format!("{}({})", self.name, words.join(", "))
            }
            None => self.name.to_string(),
        }
    }
}

/// FUNCTION, PROCEDURE, ROUTINE or AGGREGATE.
const fn kind_words(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::ObjectProcedure => "procedure",
        ObjectType::ObjectRoutine => "routine",
        ObjectType::ObjectAggregate => "aggregate",
        _ => "function",
    }
}

/// Names of nothing: what has some is kept as it was written.
struct Nameless;

impl crate::postgres::print::Names for Nameless {
    fn column(&self, _: crate::ir::ColumnRef) -> Option<String> {
        None
    }

    fn object(&self, _: crate::types::Reg, _: u32) -> Option<String> {
        None
    }
}

impl Binder<'_> {
    /// CREATE FUNCTION, CREATE PROCEDURE.
    pub(in crate::postgres) fn create_function(&mut self, create: &pg::CreateFunctionStmt) -> Result<Ddl> {
        let text = self.source.map_or("", |source| source.whole().as_ref()).to_owned();
        let create = &self.without_references(create)?;
        let Read { name, mut definition, current } = read::read(create)?;
        let namespace = self.function_namespace(&name)?;
        let types = self.schema.user_types();
        definition.resolve_types(&|name| {
            self.schema.user_type(name).map(Type::User).or_else(|| crate::user_type::named(&types, name, ""))
        });
        definition.qualify_rows(&|name| self.schema.relation(name));
        for param in &mut definition.params {
            param.ty.relation(self.schema)?;
            if let Some(default) = param.default.take() {
                self.check_default(&default, &param.ty)?;
                let kept = self.in_schemas(default.clone(), Vec::new(), Clause::Default);
                // As it is shown, where it names nothing of users.
                let shown = if kept == default { self.shown_default(&default, &param.ty) } else { None };
                param.default = Some(shown.unwrap_or(kept));
            }
        }
        definition.types().for_each(|ty| self.needs.declare(ty));
        definition.returns.relation(self.schema).map_err(|error| self.shell(error))?;
        self.check_strings_of(&definition)?;
        let function = StoredFunction::new(0, namespace, name.name, self.context.user.clone(), definition)
            .knowing(std::sync::Arc::new(self.schema.user_types()));
        let function = std::sync::Arc::new(function);
        let known = self.same_signature(&function);
        if let Some(known) = &known {
            self.check_replaced(known, &function, create.replace)?;
        }
        self.check_body(&function, &text)?;
        let shadows = self.shadows(&function, &text);
        let definition = match self.kept_body(&function) {
            Some(text) => text,
            None => definition_text(&function.namespace, &function.name, &function.definition),
        };
        if function.definition.sql_body && super::from_text(&definition).is_err() {
            return Err(self.unsupported("this body of a function", -1));
        }
        Ok(Ddl::CreateFunction(CreateFunction {
            current,
            signature: function.signature(),
            namespace: function.namespace.clone(),
            name: function.name.clone(),
            text: definition,
            replaces: known.map(|known| known.oid),
            kind: if function.definition.procedure { RoutineKind::Procedure } else { RoutineKind::Function },
            leakproof: function.definition.leakproof,
            shadows,
        }))
    }

    /// The text of a function whose body is in SQL's own grammar, with names that are found whatever the `search_path` is;
    /// `None` where the body cannot be printed so that it is read as what it was.
    fn kept_body(&self, function: &StoredFunction) -> Option<String> {
        if !function.definition.sql_body {
            return None;
        }
        let print =
            |function: &StoredFunction| crate::postgres::viewdef::kept_body(function, self.schema, self.context);
        let body = print(function)?;
        let (namespace, name) = (&function.namespace, &function.name);
        let text = definition_with(namespace, name, &function.definition, Some(body.clone()));
        let (_, again) = super::from_text(&text).ok()?;
        let again = StoredFunction::new(0, namespace.clone(), name.clone(), function.owner.clone(), again)
            .knowing(std::sync::Arc::new(self.schema.user_types()));
        (print(&again)? == body).then_some(text)
    }

    /// A default as PostgreSQL prints it; `None` where it names something of users, or cannot be printed.
    fn shown_default(&mut self, text: &str, ty: &TypeRef) -> Option<String> {
        let TypeRef::Is(ty) = ty else { return None };
        if ty.has_user_type() {
            return None;
        }
        let scopes = std::mem::take(&mut self.scopes);
        let source = self.source.take();
        let value = self.stored(text, crate::Language::Postgres, Vec::new(), Clause::Default);
        let value = value.and_then(|value| match value.ty {
            Type::Unknown => self.decide(value, ty, crate::ir::CastContext::Assignment, -1),
            _ => Ok(value),
        });
        self.source = source;
        self.scopes = scopes;
        crate::postgres::print::expression(&value.ok()?, &Nameless, false)
    }

    /// The statement with the types themselves in place of `table.column%TYPE`.
    fn without_references(&mut self, create: &pg::CreateFunctionStmt) -> Result<pg::CreateFunctionStmt> {
        let mut create = create.clone();
        let of_params = create.parameters.iter_mut().filter_map(|node| match &mut node.node {
            Some(N::FunctionParameter(parameter)) => parameter.arg_type.as_mut(),
            _ => None,
        });
        for ty in of_params.chain(create.return_type.as_mut()).filter(|ty| ty.pct_type) {
            *ty = pg::TypeName { setof: ty.setof, ..self.referenced_type(ty)? };
        }
        Ok(create)
    }

    /// The type of a column, in place of a reference to it.
    fn referenced_type(&mut self, reference: &pg::TypeName) -> Result<pg::TypeName> {
        let parts = names::strings(&reference.names);
        let written = parts.join(".");
        let (range, column) = match parts.as_slice() {
            [table, column] => (QualifiedName::bare(*table), *column),
            [schema, table, column] => (QualifiedName::new(*schema, *table), *column),
            [database, schema, table, column] if *database == self.context.database => {
                (QualifiedName::new(*schema, *table), *column)
            }
            [_] | [] => {
                let message = format!("improper %TYPE reference (too few dotted names): {written}");
                return Err(self.error(Condition::SyntaxError, message, reference.location));
            }
            _ => {
                let message = format!("improper %TYPE reference (too many dotted names): {written}");
                return Err(self.error(Condition::SyntaxError, message, reference.location));
            }
        };
        self.check_schema(&range, reference.location)?;
        let relation = self.schema.relation(&range).ok_or_else(|| {
            self.error(Condition::UndefinedTable, format!("relation \"{range}\" does not exist"), reference.location)
        })?;
        let found = relation.columns.iter().find(|known| known.name == column).ok_or_else(|| {
            let message = format!("column \"{column}\" of relation \"{}\" does not exist", relation.name);
            self.error(Condition::UndefinedColumn, message, reference.location)
        })?;
        // A reference has no modifier, and nobody follows it later.
        let words = regtype::shown_in(self.schema, types::oid(&found.ty), None)
            .ok_or_else(|| Error::internal("a column of no type"))?;
        self.remark(format!("type reference {written}%TYPE converted to {words}"));
        regtype::type_name(&words).ok_or_else(|| Error::internal("a type whose name is none"))
    }

    /// Variables of a body that hide others.
    fn shadows(&self, function: &StoredFunction, text: &str) -> Vec<Error> {
        if function.definition.language != RoutineLanguage::Plpgsql {
            return Vec::new();
        }
        let Ok(body) = function.plpgsql() else { return Vec::new() };
        let placed = |error: &Error| self.error_of_body(error.clone(), &function.definition.source, text);
        body.shadows.iter().map(placed).collect()
    }

    fn shell(&self, error: Error) -> Error {
        error
    }

    pub(in crate::postgres) fn function_namespace(&self, name: &QualifiedName) -> Result<String> {
        match &name.schema {
            None => self.schema.creation_schema(None),
            Some(schema) if matches!(schema.as_str(), "pg_catalog" | "information_schema") => {
                Err(Error::new(Condition::InsufficientPrivilege, format!("permission denied for schema {schema}")))
            }
            Some(schema) if !self.schema.has_namespace(schema) => {
                Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{schema}\" does not exist")))
            }
            Some(schema) => Ok(schema.clone()),
        }
    }

    /// A default is an expression without names, of the parameter's type.
    fn check_default(&mut self, text: &str, ty: &TypeRef) -> Result<()> {
        let TypeRef::Is(ty) = ty else { return Ok(()) };
        let scopes = std::mem::take(&mut self.scopes);
        let source = self.source.take();
        let result = crate::postgres::bind_default_of(self, text, ty);
        self.source = source;
        self.scopes = scopes;
        result.map(|_| ())
    }

    pub(super) fn same_signature(&self, function: &StoredFunction) -> Option<std::sync::Arc<StoredFunction>> {
        let name = QualifiedName::new(function.namespace.clone(), function.name.clone());
        let words = function.definition.input_words();
        self.schema.functions(&name).into_iter().find(|known| known.definition.input_words() == words)
    }

    fn check_replaced(&self, known: &StoredFunction, new: &StoredFunction, replace: bool) -> Result<()> {
        let invalid = |message: String| Error::new(Condition::InvalidFunctionDefinition, message);
        if !replace {
            let message = format!("function \"{}\" already exists with same argument types", new.name);
            return Err(Error::new(Condition::DuplicateFunction, message));
        }
        let (old, now) = (&known.definition, &new.definition);
        if old.aggregate.is_some() {
            let detail = format!("\"{}\" is an aggregate function.", known.name);
            return Err(Error::new(Condition::WrongObjectType, "cannot change routine kind").detail(detail));
        }
        if old.procedure != now.procedure {
            let detail = format!("\"{}\" is a {}.", known.name, old.kind());
            return Err(Error::new(Condition::WrongObjectType, "cannot change routine kind").detail(detail));
        }
        let drop = format!("Use DROP {} {} first.", old.kind().to_uppercase(), known.signature());
        if !old.returns.is(&now.returns) || old.set != now.set {
            let message = if old.procedure {
                "cannot change whether a procedure has output parameters"
            } else {
                "cannot change return type of existing function"
            };
            return Err(invalid(message.to_owned()).hint(drop));
        }
        let outputs = |definition: &Definition| -> Vec<(String, TypeRef)> {
            definition.outputs().map(|param| (param.name.clone(), param.ty.clone())).collect()
        };
        let (before, after) = (outputs(old), outputs(now));
        let same = |((name, ty), (new_name, new_ty)): (&(String, TypeRef), &(String, TypeRef))| {
            name == new_name && ty.is(new_ty)
        };
        let all_same = before.len() == after.len() && before.iter().zip(&after).all(same);
        if old.returns == TypeRef::Is(Type::RECORD) && !all_same {
            return Err(invalid("cannot change return type of existing function".to_owned())
                .detail("Row type defined by OUT parameters is different.")
                .hint(drop));
        }
        for (old, now) in old.inputs().zip(now.inputs()) {
            if !old.name.is_empty() && old.name != now.name {
                return Err(invalid(format!("cannot change name of input parameter \"{}\"", old.name)).hint(drop));
            }
            if old.default.is_some() && now.default.is_none() {
                return Err(invalid("cannot remove parameter defaults from existing function".to_owned()).hint(drop));
            }
        }
        Ok(())
    }

    /// What can be said of a body before it is called.
    fn check_body(&self, function: &std::sync::Arc<StoredFunction>, text: &str) -> Result<()> {
        match function.definition.language {
            RoutineLanguage::Plpgsql => {
                let result = function
                    .plpgsql()
                    .and_then(|parsed| crate::postgres::plpgsql::collations(parsed, &function.name, self.schema));
                result.map(|_| ()).map_err(|error| self.error_of_body(error, &function.definition.source, text))
            }
            RoutineLanguage::Mysql => function.plpgsql().map(|_| ()),
            RoutineLanguage::Sql => super::sql_language::check(function, self.schema, self.context)
                .map_err(|error| self.error_of_body(error, &function.definition.source, text)),
        }
    }

    /// An error whose position counts in a body: in the statement instead, where the body stands there as it is.
    fn error_of_body(&self, mut error: Error, body: &str, text: &str) -> Error {
        let Some(position) = error.position.take() else { return error };
        if let Some(offset) = quoted_offset(text, body) {
            let before = text[..offset].chars().count() as u32;
            return error.at(before + position);
        }
        error
    }

    /// Bodies are read with standard strings, whoever runs them.
    fn check_strings_of(&self, definition: &Definition) -> Result<()> {
        if self.context.literals.backslashes_escape && crate::postgres::depends_on_rules(&definition.source) {
            return Err(Error::unsupported(
                "a body with backslashes in its strings while standard_conforming_strings is off",
            ));
        }
        Ok(())
    }

    /// DO: a body without a name.
    pub(in crate::postgres) fn do_block(&mut self, block: &pg::DoStmt) -> Result<Statement> {
        let (mut source, mut language) = (None, "plpgsql".to_owned());
        for node in &block.args {
            let Some(N::DefElem(option)) = &node.node else { continue };
            match option.defname.as_str() {
                "as" => source = Some(read::text(option.arg.as_deref())),
                _ => language = read::text(option.arg.as_deref()).to_lowercase(),
            }
        }
        let source = source.ok_or_else(|| Error::new(Condition::SyntaxError, "no inline code specified"))?;
        match language.as_str() {
            "plpgsql" => {}
            "sql" | "c" | "internal" => {
                let message = format!("language \"{language}\" does not support inline code execution");
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            _ => {
                let message = format!("language \"{language}\" does not exist");
                return Err(Error::new(Condition::UndefinedObject, message));
            }
        }
        let definition = Definition::inline(source);
        self.check_strings_of(&definition)?;
        let text = self.source.map_or("", |source| source.whole().as_ref());
        let types = std::sync::Arc::new(self.schema.user_types());
        let find = |name: &QualifiedName| crate::user_type::named(&types, name, "");
        let parsed = plpgsql::parse("inline_code_block", &definition, &find)
            .map_err(|error| self.error_of_body(error, &definition.source, text))?;
        drop(parsed);
        let function = StoredFunction::new(
            0,
            String::new(),
            "inline_code_block".to_owned(),
            self.context.user.clone(),
            definition,
        )
        .knowing(types);
        self.effects.volatile = true;
        Ok(Statement::Do(std::sync::Arc::new(function)))
    }

    /// The function that a name with or without arguments means; `None` with a notice when it may be missing.
    pub(in crate::postgres) fn named_function(
        &mut self,
        node: &Node,
        kind: ObjectType,
        missing_ok: bool,
    ) -> Result<Option<std::sync::Arc<StoredFunction>>> {
        let mut named = Named::of(node, kind)?;
        for arg in named.args.iter_mut().flatten() {
            let (array, name) = match arg {
                TypeRef::Row(name) => (false, name),
                TypeRef::Rows(name) => (true, name),
                _ => continue,
            };
            if let Some(found) = self.schema.user_type(name).map(Type::User) {
                *arg = TypeRef::Is(if array { Type::Array(Box::new(found)) } else { found });
            }
        }
        let words = kind_words(kind);
        if let Some(schema) = &named.name.schema
            && !self.schema.has_namespace(schema)
        {
            if missing_ok {
                self.remark(format!("schema \"{schema}\" does not exist, skipping"));
                return Ok(None);
            }
            return Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{schema}\" does not exist")));
        }
        self.check_schema(&named.name, -1)?;
        let mut found = self.schema.functions(&named.name);
        if let Some(args) = &named.args {
            found.retain(|function| {
                function.definition.inputs().map(|param| &param.ty).eq(args.iter())
                    || function.definition.procedure
                        && function.definition.params.iter().map(|param| &param.ty).eq(args.iter())
            });
        } else {
            found.retain(|function| match kind {
                ObjectType::ObjectFunction => !function.definition.procedure && function.definition.aggregate.is_none(),
                ObjectType::ObjectProcedure => function.definition.procedure,
                ObjectType::ObjectAggregate => function.definition.aggregate.is_some(),
                _ => true,
            });
        }
        // Of schemas of the search path the first counts.
        if named.args.is_some()
            && let Some(first) = found.first().map(|function| function.namespace.clone())
        {
            found.retain(|function| function.namespace == first);
        }
        match found.as_slice() {
            [function] => {
                let wrong = match kind {
                    ObjectType::ObjectFunction => function.definition.procedure,
                    ObjectType::ObjectProcedure => !function.definition.procedure,
                    ObjectType::ObjectAggregate => function.definition.aggregate.is_none(),
                    _ => false,
                };
                if wrong && kind == ObjectType::ObjectAggregate {
                    let message = format!("function {} is not an aggregate", named.shown());
                    return Err(Error::new(Condition::WrongObjectType, message));
                }
                if wrong {
                    let shown = if named.args.is_some() { named.shown() } else { function.shown_signature() };
                    let message = format!("{shown} is not a {words}");
                    return Err(Error::new(Condition::WrongObjectType, message));
                }
                Ok(Some(function.clone()))
            }
            [] if missing_ok => {
                if let Some(missing) = self.missing_type(named.args.as_deref().unwrap_or_default()) {
                    self.remark(format!("{missing} does not exist, skipping"));
                    return Ok(None);
                }
                let message = format!("{words} {}({}) does not exist, skipping", named.name, named.spelt.join(","));
                self.remark(message);
                Ok(None)
            }
            [] => {
                let message = match &named.args {
                    Some(args) if args.is_empty() && kind == ObjectType::ObjectAggregate => {
                        format!("aggregate {}(*) does not exist", named.name)
                    }
                    Some(_) => format!("{words} {} does not exist", named.shown()),
                    None => format!("could not find a {words} named \"{}\"", named.shown()),
                };
                Err(Error::new(Condition::UndefinedFunction, message))
            }
            _ => Err(Error::new(
                Condition::AmbiguousFunction,
                format!("{words} name \"{}\" is not unique", named.shown()),
            )
            .hint(format!("Specify the argument list to select the {words} unambiguously."))),
        }
    }

    /// The first of some types that is not there, or its schema.
    fn missing_type(&self, types: &[TypeRef]) -> Option<String> {
        types.iter().find_map(|ty| {
            let (TypeRef::Row(name) | TypeRef::Rows(name)) = ty else { return None };
            match &name.schema {
                Some(schema) if !self.schema.has_namespace(schema) => Some(format!("schema \"{schema}\"")),
                _ if self.schema.relation(name).is_none() => Some(format!("type \"{name}\"")),
                _ => None,
            }
        })
    }

    /// DROP FUNCTION, DROP PROCEDURE, DROP ROUTINE.
    pub(in crate::postgres) fn drop_functions(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let kind = drop.remove_type();
        let mut functions = Vec::with_capacity(drop.objects.len());
        for node in &drop.objects {
            if let Some(function) = self.named_function(node, kind, drop.missing_ok)? {
                if kind == ObjectType::ObjectFunction && function.definition.aggregate.is_some() {
                    return Err(is_aggregate(&function).hint("Use DROP AGGREGATE to drop aggregate functions."));
                }
                functions.push(function.oid);
            }
        }
        let tag = match kind {
            ObjectType::ObjectProcedure => "DROP PROCEDURE",
            ObjectType::ObjectRoutine => "DROP ROUTINE",
            ObjectType::ObjectAggregate => "DROP AGGREGATE",
            _ => "DROP FUNCTION",
        };
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        Ok(Statement::Ddl(Box::new(Ddl::DropFunctions { functions, cascade, tag })))
    }

    /// A function that has changed, in its new clothes.
    fn altered(
        &self,
        function: &StoredFunction,
        namespace: String,
        name: String,
        (definition, current): (Definition, Vec<String>),
        tag: &'static str,
    ) -> Result<Statement> {
        let changed = StoredFunction::new(function.oid, namespace, name, function.owner.clone(), definition)
            .knowing(std::sync::Arc::new(self.schema.user_types()));
        if let Some(known) = self.same_signature(&changed)
            && known.oid != function.oid
        {
            let message =
                format!("function {} already exists in schema \"{}\"", changed.shown_signature(), changed.namespace);
            return Err(Error::new(Condition::DuplicateFunction, message));
        }
        Ok(Statement::Ddl(Box::new(Ddl::AlterFunction(AlterFunction {
            function: function.oid,
            signature: changed.signature(),
            name: changed.name.clone(),
            text: definition_text(&changed.namespace, &changed.name, &changed.definition),
            namespace: changed.namespace,
            leakproof: changed.definition.leakproof && !function.definition.leakproof,
            current,
            tag,
        }))))
    }

    /// ALTER FUNCTION … RENAME TO.
    pub(in crate::postgres) fn rename_function(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let Some(node) = rename.object.as_deref() else { return Err(Error::internal("RENAME of nothing")) };
        let kind = rename.rename_type();
        let Some(function) = self.named_function(node, kind, false)? else {
            return Err(Error::internal("a function went astray"));
        };
        let definition = (function.definition.clone(), Vec::new());
        self.altered(&function, function.namespace.clone(), rename.newname.clone(), definition, alter_tag(kind))
    }

    /// ALTER FUNCTION … SET SCHEMA.
    pub(in crate::postgres) fn move_function(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        let Some(node) = alter.object.as_deref() else { return Err(Error::internal("SET SCHEMA of nothing")) };
        let kind = alter.object_type();
        let Some(function) = self.named_function(node, kind, false)? else {
            return Err(Error::internal("a function went astray"));
        };
        let namespace = self.function_namespace(&QualifiedName::new(alter.newschema.clone(), function.name.clone()))?;
        let definition = (function.definition.clone(), Vec::new());
        self.altered(&function, namespace, function.name.clone(), definition, alter_tag(kind))
    }

    /// ALTER FUNCTION … attributes.
    pub(in crate::postgres) fn alter_function(&mut self, alter: &pg::AlterFunctionStmt) -> Result<Statement> {
        let Some(object) = &alter.func else { return Err(Error::internal("ALTER FUNCTION of nothing")) };
        let node = Node { node: Some(N::ObjectWithArgs(object.clone())) };
        let kind = alter.objtype();
        let Some(function) = self.named_function(&node, kind, false)? else {
            return Err(Error::internal("a function went astray"));
        };
        if function.definition.aggregate.is_some() {
            return Err(is_aggregate(&function));
        }
        let definition = read::changed(&function.definition, &alter.actions)?;
        self.altered(&function, function.namespace.clone(), function.name.clone(), definition, alter_tag(kind))
    }

    /// The function that ALTER … OWNER TO names.
    pub(in crate::postgres) fn owned_function(
        &mut self,
        alter: &pg::AlterOwnerStmt,
    ) -> Result<(crate::schema::QualifiedName, &'static str)> {
        let Some(node) = alter.object.as_deref() else { return Err(Error::internal("OWNER TO of nothing")) };
        let function = self.named_function(node, alter.object_type(), false)?;
        let function = function.ok_or_else(|| Error::internal("a function that is missing was found"))?;
        let name = crate::schema::QualifiedName::new(function.namespace.clone(), function.signature());
        Ok((name, alter_tag(alter.object_type())))
    }
}

fn is_aggregate(function: &StoredFunction) -> Error {
    Error::new(Condition::WrongObjectType, format!("\"{}\" is an aggregate function", function.name))
}

const fn alter_tag(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::ObjectProcedure => "ALTER PROCEDURE",
        ObjectType::ObjectRoutine => "ALTER ROUTINE",
        ObjectType::ObjectAggregate => "ALTER AGGREGATE",
        _ => "ALTER FUNCTION",
    }
}

impl Definition {
    /// A body in MySQL's language.
    pub fn in_mysql(source: String) -> Self {
        Self { language: RoutineLanguage::Mysql, ..Self::inline(source) }
    }

    /// A DO block.
    pub(crate) fn inline(source: String) -> Self {
        Self {
            procedure: true,
            params: Vec::new(),
            returns: TypeRef::Is(Type::Void),
            set: false,
            language: RoutineLanguage::Plpgsql,
            source,
            sql_body: false,
            returned: Vec::new(),
            volatility: crate::functions::Volatility::Volatile,
            strict: false,
            definer: false,
            leakproof: false,
            parallel: crate::stored_function::Parallel::Unsafe,
            cost: None,
            rows: None,
            settings: Vec::new(),
            aggregate: None,
        }
    }
}

impl StoredFunction {
    /// Its signature as messages show it: `name(integer, text)`, of a procedure with all its parameters.
    pub fn shown_signature(&self) -> String {
        let shown = |mode: ParamMode| mode.is_input() || self.definition.procedure && mode == ParamMode::Out;
        let words: Vec<String> = self
            .definition
            .params
            .iter()
            .filter(|param| shown(param.mode))
            .map(
                |param| {
                    if param.mode == ParamMode::Out { format!("OUT {}", param.ty.words()) } else { param.ty.words() }
                },
            )
            .collect();
        format!("{}({})", quote(&self.name), words.join(","))
    }
}
