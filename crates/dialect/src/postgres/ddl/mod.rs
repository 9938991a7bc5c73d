//! Changes of the schema: views, indexes, sequences, schemas, DROP, TRUNCATE, COMMENT, tables of queries.

mod alter;
mod alter_family;
mod cast;
mod collation;
mod comment;
mod composite;
mod constraints;
mod domain;
mod exclusion;
mod extension;
pub(crate) mod foreign_key;
pub(in crate::postgres) mod fulltext;
pub(super) mod immutable;
mod index;
mod inherit;
mod like;
mod matview;
mod mysql_alter;
pub(crate) mod mysql_partitions;
mod operator;
mod partition;
mod policy;
mod properties;
mod range;
mod rule;
pub(crate) mod sequence;
mod statistics;
mod table;
pub(super) mod text_search;
pub(super) mod trigger;
mod typed;
pub(super) mod user_type;
mod view;

pub(crate) use mysql_alter::{FOR_FOREIGN_KEY, NAMED_BY_COLUMN};
pub(super) use properties::{compression, storage};

use pg_query::protobuf::{self as pg, DropBehavior, Node, ObjectType, node::Node as N};

use super::binder::{Binder, Clause, Entry, Scope};
use super::clauses::Property;
use super::{names, raw};
use crate::access::relation_words;
use crate::ir::{
    self, CreateTable, CreateTableAs, CreateView, Ddl, Drop, ObjectKind, RoleSpec, Statement, Text, Value,
};
use crate::schema::{QualifiedName, RelationKind};
use crate::types::Reg;
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// Binds a schema change, or says which statement is not there.
    pub(super) fn ddl(&mut self, node: &N) -> Result<Statement> {
        if let Some(statement) = self.ddl_of_small_objects(node)? {
            return Ok(statement);
        }
        let ddl = match node {
            N::CreateStmt(create) => return self.create_table(create),
            N::CreateTableAsStmt(create) => return self.create_table_as(create),
            N::RefreshMatViewStmt(refresh) => return self.refresh_view(refresh),
            N::IndexStmt(index) => return self.create_index(index),
            N::ViewStmt(view) => self.create_view(view)?,
            N::CreateSeqStmt(sequence) => return self.create_sequence(sequence),
            N::AlterSeqStmt(sequence) => return self.alter_sequence(sequence),
            N::CreateSchemaStmt(schema) => self.create_schema(schema)?,
            N::DropStmt(drop) if is_function(drop.remove_type()) && self.is_mysql() => {
                return self.drop_mysql_routine(drop);
            }
            N::DropStmt(drop) if is_function(drop.remove_type()) => return self.drop_functions(drop),
            N::CreateEnumStmt(create) => return self.create_enum(create),
            N::CreateRangeStmt(create) => return self.create_range(create),
            N::CompositeTypeStmt(create) => return self.create_composite(create),
            N::AlterTableStmt(alter) if user_type::is_type(alter.objtype()) => return self.alter_composite(alter),
            N::RenameStmt(rename) if rename.rename_type() == ObjectType::ObjectAttribute => {
                return self.rename_field(rename);
            }
            N::AlterEnumStmt(alter) => return self.alter_enum(alter),
            // A domain is PostgreSQL's, whoever makes it.
            N::CreateDomainStmt(create) => {
                let rules = self.follow(crate::Language::Postgres);
                let made = self.create_domain(create);
                self.follow(rules);
                return made;
            }
            N::AlterDomainStmt(alter) => return self.alter_domain(alter),
            N::RenameStmt(rename) if rename.rename_type() == ObjectType::ObjectDomconstraint => {
                return self.rename_domain_constraint(rename);
            }
            N::DropStmt(drop) if user_type::is_type(drop.remove_type()) => return self.drop_types(drop),
            N::RenameStmt(rename) if user_type::is_type(rename.rename_type()) => return self.rename_type(rename),
            N::AlterObjectSchemaStmt(alter) if user_type::is_type(alter.object_type()) => return self.move_type(alter),
            N::DropStmt(drop) => return self.drop_objects(drop),
            N::CreateFunctionStmt(create) if self.is_mysql() => return self.create_mysql_routine(create),
            N::CreateFunctionStmt(create) => self.create_function(create)?,
            N::DefineStmt(define) if define.kind() == ObjectType::ObjectAggregate => self.create_aggregate(define)?,
            N::AlterFunctionStmt(alter) if self.is_mysql() => return self.alter_mysql_routine(alter),
            N::AlterFunctionStmt(alter) => return self.alter_function(alter),
            N::AlterObjectSchemaStmt(alter) if is_function(alter.object_type()) => return self.move_function(alter),
            N::RenameStmt(rename) if is_function(rename.rename_type()) => return self.rename_function(rename),
            N::AlterTableStmt(alter) => return self.alter_table(alter),
            N::RenameStmt(rename) => return self.rename_object(rename),
            N::AlterObjectSchemaStmt(alter) => return self.set_schema(alter),
            N::TruncateStmt(truncate) => {
                let mut tables: Vec<std::sync::Arc<crate::schema::Relation>> = Vec::new();
                for node in &truncate.relations {
                    let Some(N::RangeVar(range)) = &node.node else { continue };
                    let table = self.own_table(range)?;
                    if table.is_partitioned() && !range.inh {
                        let message = "cannot truncate only a partitioned table";
                        return Err(crate::Error::new(Condition::WrongObjectType, message).hint(
                            "Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.",
                        ));
                    }
                    for member in self.meant(table, range.inh) {
                        if !tables.iter().any(|known| known.oid == member.oid) {
                            tables.push(member);
                        }
                    }
                }
                Ddl::Truncate {
                    tables,
                    restart_identity: truncate.restart_seqs,
                    cascade: truncate.behavior() == DropBehavior::DropCascade,
                }
            }
            N::CreateTrigStmt(create) if self.is_mysql() => return self.create_mysql_trigger(create),
            N::CreateTrigStmt(create) => self.create_trigger(create)?,
            N::CreatePolicyStmt(create) => self.create_policy(create)?,
            N::AlterPolicyStmt(alter) => self.alter_policy(alter)?,
            N::RuleStmt(create) => return self.create_rule(create),
            N::CommentStmt(comment) => self.comment(comment)?,
            node => return Err(self.no_statement(node)),
        };
        Ok(Statement::Ddl(Box::new(ddl)))
    }

    /// The same of objects that are no relations and hold no rows: extensions, collations, operators, casts, statistics, text
    /// search.
    fn ddl_of_small_objects(&mut self, node: &N) -> Result<Option<Statement>> {
        Ok(Some(match node {
            N::CreateExtensionStmt(create) => self.create_extension(create)?,
            N::AlterExtensionStmt(alter) => self.update_extension(alter)?,
            N::AlterObjectSchemaStmt(alter) if alter.object_type() == ObjectType::ObjectExtension => {
                self.move_extension(alter)?
            }
            N::DropStmt(drop) if drop.remove_type() == ObjectType::ObjectExtension => self.drop_extensions(drop)?,
            N::DefineStmt(define) if define.kind() == ObjectType::ObjectCollation => self.create_collation(define)?,
            N::AlterCollationStmt(alter) => self.refresh_collation(alter)?,
            N::RenameStmt(rename) if rename.rename_type() == ObjectType::ObjectCollation => {
                self.rename_collation(rename)?
            }
            N::AlterObjectSchemaStmt(alter) if alter.object_type() == ObjectType::ObjectCollation => {
                self.move_collation(alter)?
            }
            N::DropStmt(drop) if drop.remove_type() == ObjectType::ObjectCollation => self.drop_collations(drop)?,
            N::DefineStmt(define) if define.kind() == ObjectType::ObjectOperator => self.create_operator(define)?,
            N::AlterOperatorStmt(alter) => self.alter_operator(alter)?,
            N::AlterObjectSchemaStmt(alter) if alter.object_type() == ObjectType::ObjectOperator => {
                self.move_operator(alter)?
            }
            N::DropStmt(drop) if drop.remove_type() == ObjectType::ObjectOperator => self.drop_operators(drop)?,
            N::CreateCastStmt(create) => self.create_cast(create)?,
            N::DropStmt(drop) if drop.remove_type() == ObjectType::ObjectCast => self.drop_cast(drop)?,
            N::CreateStatsStmt(create) => self.create_statistics(create)?,
            N::AlterStatsStmt(alter) => self.alter_statistics(alter)?,
            N::RenameStmt(rename) if rename.rename_type() == ObjectType::ObjectStatisticExt => {
                self.rename_statistics(rename)?
            }
            N::AlterObjectSchemaStmt(alter) if alter.object_type() == ObjectType::ObjectStatisticExt => {
                self.move_statistics(alter)?
            }
            N::DropStmt(drop) if drop.remove_type() == ObjectType::ObjectStatisticExt => self.drop_statistics(drop)?,
            N::DefineStmt(define) if let Some(kind) = text_search::kind_of(define.kind()) => {
                self.create_search_object(define, kind)?
            }
            N::AlterTsdictionaryStmt(alter) => self.alter_dictionary(alter)?,
            N::AlterTsconfigurationStmt(alter) => self.alter_configuration(alter)?,
            N::RenameStmt(rename) if let Some(kind) = text_search::kind_of(rename.rename_type()) => {
                self.rename_search_object(rename, kind)?
            }
            N::AlterObjectSchemaStmt(alter) if let Some(kind) = text_search::kind_of(alter.object_type()) => {
                self.move_search_object(alter, kind)?
            }
            N::DropStmt(drop) if let Some(kind) = text_search::kind_of(drop.remove_type()) => {
                self.drop_search_objects(drop, kind)?
            }
            _ => return Ok(None),
        }))
    }

    /// The name of an object to be, its schema decided.
    fn new_name(&mut self, range: &pg::RangeVar) -> Result<QualifiedName> {
        let misplaced = match (range.relpersistence.as_str(), range.schemaname.as_str()) {
            ("t", "" | "pg_temp") => return Ok(QualifiedName::new("pg_temp", range.relname.clone())),
            ("t", _) => Some("cannot create temporary relation in non-temporary schema"),
            ("u", "pg_temp") => Some("only temporary relations may be created in temporary schemas"),
            _ => None,
        };
        if let Some(message) = misplaced {
            return Err(self.error(Condition::InvalidTableDefinition, message, range.location));
        }
        if range.schemaname.is_empty() {
            let schema = self.schema.creation_schema(None).map_err(|error| self.at(error, range.location))?;
            return Ok(QualifiedName::new(schema, range.relname.clone()));
        }
        if matches!(range.schemaname.as_str(), "pg_catalog" | "information_schema") {
            return Err(self
                .error(
                    Condition::InsufficientPrivilege,
                    format!("permission denied to create \"{}.{}\"", range.schemaname, range.relname),
                    range.location,
                )
                .detail("System catalog modifications are currently disallowed."));
        }
        if !self.schema.has_namespace(&range.schemaname) {
            return Err(self.error(
                Condition::InvalidSchemaName,
                format!("schema \"{}\" does not exist", range.schemaname),
                range.location,
            ));
        }
        Ok(QualifiedName::new(range.schemaname.clone(), range.relname.clone()))
    }

    /// True when the name of an object to be is taken in its own schema.
    fn is_taken(&self, name: &QualifiedName) -> bool {
        self.schema.relation(name).is_some_and(|relation| {
            name.schema.as_deref() == Some(relation.namespace.as_str())
                || name.schema.as_deref() == Some("pg_temp") && relation.is_temporary()
        })
    }

    /// Checks that a name is free; `Some` is the statement to do instead when IF NOT EXISTS lets it pass.
    fn check_free(
        &mut self,
        name: &QualifiedName,
        if_not_exists: bool,
        tag: &'static str,
        place: i32,
    ) -> Result<Option<Statement>> {
        if !self.is_taken(name) {
            return match self.schema.user_type(name) {
                Some(ty) => {
                    let message = format!("type \"{}\" already exists", ty.name);
                    Err(crate::Error::new(Condition::DuplicateObject, message).hint(
                        "A relation has an associated type of the same name, so you must use a name that doesn't \
                         conflict with any existing type.",
                    ))
                }
                None => Ok(None),
            };
        }
        if if_not_exists {
            self.skip_duplicate(&name.name);
            return Ok(Some(Statement::Nothing { tag }));
        }
        let _ = place;
        Err(crate::Error::new(Condition::DuplicateTable, format!("relation \"{}\" already exists", name.name)))
    }

    /// What a query without columns would make: CREATE TABLE makes such tables, CREATE TABLE AS does not yet.
    pub(super) fn without_columns(&self, place: i32) -> crate::Error {
        self.unsupported("a table without columns", place)
    }

    /// The relation of which DROP POLICY, RULE or TRIGGER names a part; none, with a remark, where IF EXISTS lets it be missing.
    pub(super) fn dropped_from(
        &mut self,
        name: &crate::schema::QualifiedName,
        missing_ok: bool,
    ) -> Result<Option<std::sync::Arc<crate::schema::Relation>>> {
        if let Some(relation) = self.schema.relation(name) {
            return Ok(Some(relation));
        }
        if !missing_ok {
            return Err(crate::Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")));
        }
        let schema = name.schema.as_ref().filter(|schema| !self.schema.has_namespace(schema));
        self.remark(match schema {
            Some(schema) => format!("schema \"{schema}\" does not exist, skipping"),
            None => format!("relation \"{name}\" does not exist, skipping"),
        });
        Ok(None)
    }

    /// IF EXISTS lets something pass, or something is done otherwise than it was said.
    pub(super) fn remark(&mut self, message: String) {
        self.notices.push(crate::Error::new(Condition::SuccessfulCompletion, message));
    }

    /// Something that would be an error, were it not for IF EXISTS and its kin.
    pub(super) fn remark_error(&mut self, error: crate::Error) {
        self.notices.push(error.with_severity(crate::error::Severity::Notice));
    }

    /// IF NOT EXISTS has met a relation of this name.
    fn skip_duplicate(&mut self, name: &str) {
        let message = format!("relation \"{name}\" already exists, skipping");
        self.notices.push(crate::Error::new(Condition::DuplicateTable, message));
    }

    /// A table of ours that a statement may change.
    pub(super) fn own_table(&mut self, range: &pg::RangeVar) -> Result<std::sync::Arc<crate::schema::Relation>> {
        let relation = self.relation(range)?;
        match relation.kind {
            RelationKind::Table => Ok(relation),
            RelationKind::Catalog => Err(self.error(
                Condition::InsufficientPrivilege,
                format!("permission denied: \"{}\" is a system catalog", relation.name),
                range.location,
            )),
            RelationKind::View { .. }
            | RelationKind::NativeView
            | RelationKind::MaterializedView { .. }
            | RelationKind::Sequence { .. } => {
                Err(crate::Error::new(Condition::WrongObjectType, format!("\"{}\" is not a table", relation.name)))
            }
        }
    }

    /// An expression of a definition: its text and its meaning, as `ty` when the place asks for one.
    fn definition(
        &mut self,
        node: &Node,
        entries: Vec<Entry>,
        clause: Clause,
        ty: Option<(&str, &Type)>,
    ) -> Result<Text> {
        let scope = Scope { entries: entries.clone(), clause, ..Scope::default() };
        let ((expr, at), _) = self.with_scope(scope, |binder| binder.placed(node))?;
        let expr = match ty {
            Some((column, ty)) => self.assign(expr, column, ty, at)?,
            None => self.settle(expr, at)?,
        };
        self.check_search_objects_kept(&expr)?;
        let text =
            raw::print_expression(node).ok_or_else(|| crate::Error::unsupported("this expression in a definition"))?;
        let text = self.in_schemas(text, entries, clause);
        Ok(Text { text, expr })
    }

    /// Refuses what would have to follow an object of text search that gets another name.
    fn check_search_objects_kept(&self, expr: &crate::ir::Expr) -> Result<()> {
        let mut found = None;
        let schema = self.schema;
        let own = |oid: i64| {
            let object = u32::try_from(oid).ok().and_then(|oid| schema.search_object_by_oid(oid))?;
            (!object.is_built_in())
                .then(|| format!("the {} \"{}\" in a definition", object.kind().words(), object.name))
        };
        crate::ir::walk::expr(expr, &mut |part| {
            if let (crate::ir::ExprKind::Literal(Value::Integer(oid)), Type::Reg(Reg::Config | Reg::Dictionary)) =
                (&part.kind, &part.ty)
            {
                found = own(*oid).or(found.take());
            }
            true
        });
        match found {
            Some(what) => Err(self.unsupported(what, -1)),
            None => Ok(()),
        }
    }

    fn create_table_as(&mut self, create: &pg::CreateTableAsStmt) -> Result<Statement> {
        let (Some(into), Some(node)) = (&create.into, create.query.as_deref().and_then(|node| node.node.as_ref()))
        else {
            return Err(crate::Error::internal("CREATE TABLE AS without a query"));
        };
        let select = match node {
            N::SelectStmt(select) => select,
            N::ExecuteStmt(execute) => return self.table_of_prepared(into, execute, create.if_not_exists),
            _ => return Err(crate::Error::internal("CREATE TABLE AS what is no query")),
        };
        let materialized = create.objtype() == ObjectType::ObjectMatview;
        let tag = if materialized { "CREATE MATERIALIZED VIEW" } else { "CREATE TABLE AS" };
        if materialized && into.rel.as_ref().is_some_and(|range| range.relpersistence == "u") {
            let message = "materialized views cannot be unlogged";
            return Err(crate::Error::new(Condition::FeatureNotSupported, message));
        }
        self.table_of_query(into, select, create.if_not_exists, tag, materialized)
    }

    /// `SELECT … INTO table`.
    pub(super) fn select_into(&mut self, select: &pg::SelectStmt) -> Result<Statement> {
        let mut query = select.clone();
        let Some(into) = query.into_clause.take() else { return Err(crate::Error::internal("INTO is missing")) };
        self.effects.schema = true;
        self.effects.writes = true;
        self.table_of_query(&into, &query, false, "SELECT INTO", false)
    }

    fn table_of_query(
        &mut self,
        into: &pg::IntoClause,
        select: &pg::SelectStmt,
        if_not_exists: bool,
        tag: &'static str,
        materialized: bool,
    ) -> Result<Statement> {
        let Some(range) = &into.rel else { return Err(crate::Error::internal("INTO without a name")) };
        let name = self.new_name(range)?;
        if let Some(instead) = self.check_free(&name, if_not_exists, tag, range.location)? {
            return Ok(instead);
        }
        let properties = self.clauses_of_into(into)?;
        let mut bound = self.query(select, true)?;
        if self.is_mysql() {
            bound = self.mysql_columns(bound)?;
        }
        bound.columns.iter().for_each(|column| self.needs.declare(&column.ty));
        let definition = if materialized { Some(self.materialized_text(select, &bound.query)?) } else { None };
        let given: Vec<String> = names::strings(&into.col_names).into_iter().map(str::to_owned).collect();
        let columns = ir::ColumnDefinition::of_query(&mut bound.query, &given)?;
        if columns.is_empty() {
            return Err(self.without_columns(range.location));
        }
        let table = CreateTable { columns, ..self.table_into(into, name, if_not_exists, properties)? };
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            table,
            query: bound.query,
            no_data: into.skip_data,
            definition,
        })))
    }

    /// `CREATE TABLE … AS EXECUTE statement (…)`.
    fn table_of_prepared(
        &mut self,
        into: &pg::IntoClause,
        execute: &pg::ExecuteStmt,
        if_not_exists: bool,
    ) -> Result<Statement> {
        let Some(range) = &into.rel else { return Err(crate::Error::internal("INTO without a name")) };
        let name = self.new_name(range)?;
        if let Some(instead) = self.check_free(&name, if_not_exists, "CREATE TABLE AS", range.location)? {
            return Ok(instead);
        }
        let properties = self.clauses_of_into(into)?;
        let names = names::strings(&into.col_names).into_iter().map(str::to_owned).collect();
        Ok(Statement::CreateTableOfPrepared(Box::new(ir::CreateTableOfPrepared {
            statement: execute.name.clone(),
            args: self.arguments_of_execute(execute)?,
            table: self.table_into(into, name, if_not_exists, properties)?,
            names,
            no_data: into.skip_data,
        })))
    }

    /// The table that a query's rows go into, as far as nothing is known of its columns.
    fn table_into(
        &self,
        into: &pg::IntoClause,
        name: QualifiedName,
        if_not_exists: bool,
        properties: Vec<Property>,
    ) -> Result<CreateTable> {
        let temporary = name.schema.as_deref() == Some("pg_temp");
        Ok(CreateTable {
            on_commit: self.on_commit(into.on_commit(), temporary)?,
            temporary,
            name,
            if_not_exists,
            language: self.language,
            columns: Vec::new(),
            constraints: Vec::new(),
            properties,
            likes: Vec::new(),
            parents: Vec::new(),
            partition: None,
        })
    }

    fn create_view(&mut self, view: &pg::ViewStmt) -> Result<Ddl> {
        let (Some(range), Some(N::SelectStmt(select))) =
            (&view.view, view.query.as_deref().and_then(|node| node.node.as_ref()))
        else {
            return Err(self.unsupported("this view", -1));
        };
        self.uses = Some(crate::uses::Uses::default());
        self.stored = true;
        let bound = self.query(select, true);
        self.stored = false;
        let uses = self.uses.take().unwrap_or_default();
        let mut bound = bound?;
        bound.columns.iter().for_each(|column| self.needs.declare(&column.ty));
        let mut name = self.new_name(range)?;
        let temporary = uses.relations.iter().find(|named| named.relation.is_temporary() && self.is_mysql());
        if let Some(named) = temporary {
            let message = format!("View's SELECT refers to a temporary table '{}'", named.relation.name);
            return Err(crate::Error::new(Condition::InvalidTableDefinition, message).with_mysql(1352, "HY000"));
        }
        if name.schema.as_deref() != Some("pg_temp") && uses.relations.iter().any(|named| named.relation.is_temporary())
        {
            if !range.schemaname.is_empty() {
                return Err(self.error(
                    Condition::InvalidTableDefinition,
                    "cannot create temporary relation in non-temporary schema",
                    range.location,
                ));
            }
            self.remark(format!("view \"{}\" will be a temporary view", name.name));
            name.schema = Some("pg_temp".to_owned());
        }
        if let Some(existing) = self.schema.relation(&name).filter(|_| self.is_taken(&name)) {
            let replaceable =
                view.replace && matches!(existing.kind, RelationKind::View { .. } | RelationKind::NativeView);
            if !replaceable {
                return Err(if view.replace {
                    crate::Error::new(Condition::WrongObjectType, format!("\"{}\" is not a view", existing.name))
                } else {
                    crate::Error::new(
                        Condition::DuplicateTable,
                        format!("relation \"{}\" already exists", existing.name),
                    )
                });
            }
        }
        if matview::names_parameters(&bound.query) {
            return Err(self.error(Condition::UndefinedParameter, "there is no parameter $1", range.location));
        }
        let records = Type::Array(Box::new(Type::RECORD));
        let is_pseudo = |ty: &Type| *ty == Type::RECORD || *ty == records;
        if let Some(column) = bound.query.columns.iter().find(|column| is_pseudo(&column.ty)) {
            let pseudo = if column.ty == records { "record[]" } else { "record" };
            return Err(crate::Error::new(
                Condition::InvalidTableDefinition,
                format!("column \"{}\" has pseudo-type {pseudo}", column.name),
            ));
        }
        let options = self.view_options(view, &bound.query)?;
        let given = names::strings(&view.aliases);
        if given.len() > bound.columns.len() {
            return Err(self.error(
                Condition::SyntaxError,
                "CREATE VIEW specifies more column names than columns",
                range.location,
            ));
        }
        for (index, name) in given.into_iter().enumerate() {
            name.clone_into(&mut bound.query.columns[index].name);
        }
        for (index, column) in bound.query.columns.iter().enumerate() {
            if bound.query.columns[..index].iter().any(|known| known.name == column.name) {
                return Err(crate::Error::new(
                    Condition::DuplicateColumn,
                    format!("column \"{}\" specified more than once", column.name),
                ));
            }
        }
        let text = raw::print_select(select).ok_or_else(|| crate::Error::unsupported("this query in a view"))?;
        let text = self.without_stars(self.query_in_schemas(text));
        let collations = self.collations_of_view(&bound.query)?;
        Ok(Ddl::CreateView(CreateView {
            collations,
            temporary: name.schema.as_deref() == Some("pg_temp"),
            name,
            replace: view.replace,
            language: self.language,
            text,
            query: bound.query,
            options,
        }))
    }

    /// The text of a view with every `*` spelled out: columns that a table gets later are none of the view's.
    fn without_stars(&self, text: String) -> String {
        let uses = |text: &str| super::bind::uses((text, self.language), None, self.schema, self.context).ok();
        let Some(written) = uses(&text).filter(|written| !written.stars.is_empty()) else { return text };
        match written.without_stars(&text, &super::quote_ident) {
            Some(spelled) if uses(&spelled).is_some_and(|other| other.means_the_same(&written)) => spelled,
            _ => text,
        }
    }

    fn create_schema(&mut self, create: &pg::CreateSchemaStmt) -> Result<Ddl> {
        let owner = create.authrole.as_ref().map(super::access::role_spec);
        check_schema_name(&create.schemaname)?;
        let name = match &owner {
            Some(RoleSpec::Named(role)) if create.schemaname.is_empty() => role.clone(),
            _ if create.schemaname.is_empty() => self.context.user.clone(),
            _ => create.schemaname.clone(),
        };
        if !create.if_not_exists && self.schema.has_namespace(&name) {
            return Err(crate::Error::new(Condition::DuplicateSchema, format!("schema \"{name}\" already exists")));
        }
        if !create.schema_elts.is_empty() && name != self.context.user && owner.is_some() {
            return Err(self.unsupported("objects within CREATE SCHEMA … AUTHORIZATION", -1));
        }
        let elements = self.schema_elements(&name, &create.schema_elts)?;
        Ok(Ddl::CreateSchema { name, if_not_exists: create.if_not_exists, owner, elements })
    }

    /// The statements within CREATE SCHEMA: sequences first, then tables, views, indexes, triggers and privileges.
    fn schema_elements(&self, schema: &str, nodes: &[Node]) -> Result<Vec<String>> {
        let mut elements: Vec<(u8, String)> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let mut node = node.node.clone();
            let (order, made) = match &mut node {
                Some(N::CreateSeqStmt(sequence)) => (0, sequence.sequence.as_mut()),
                Some(N::CreateStmt(table)) => (1, table.relation.as_mut()),
                Some(N::ViewStmt(view)) => (2, view.view.as_mut()),
                Some(N::IndexStmt(index)) => (3, index.relation.as_mut()),
                Some(N::CreateTrigStmt(trigger)) => (4, trigger.relation.as_mut()),
                Some(N::GrantStmt(_)) => (5, None),
                _ => return Err(self.unsupported("this object within CREATE SCHEMA", -1)),
            };
            if let Some(made) = made {
                if !made.schemaname.is_empty() && made.schemaname != schema {
                    let (given, message) = (&made.schemaname, "different from the one being created");
                    let message = format!("CREATE specifies a schema ({given}) {message} ({schema})");
                    return Err(crate::Error::new(Condition::InvalidSchemaDefinition, message));
                }
                schema.clone_into(&mut made.schemaname);
            }
            let text = node
                .and_then(raw::print)
                .ok_or_else(|| crate::Error::unsupported("this object within CREATE SCHEMA"))?;
            elements.push((order, text));
        }
        elements.sort_by_key(|(order, _)| *order);
        Ok(elements.into_iter().map(|(_, text)| text).collect())
    }

    fn drop_objects(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        if drop.remove_type() == ObjectType::ObjectTrigger && self.is_mysql() {
            return self.drop_mysql_trigger(drop);
        }
        if drop.remove_type() == ObjectType::ObjectTrigger {
            return self.drop_trigger(drop);
        }
        if drop.remove_type() == ObjectType::ObjectPolicy {
            return self.drop_policy(drop);
        }
        if drop.remove_type() == ObjectType::ObjectRule {
            return self.drop_rule(drop);
        }
        let (kind, words) = match drop.remove_type() {
            ObjectType::ObjectTable => (ObjectKind::Table, "table"),
            ObjectType::ObjectView => (ObjectKind::View, "view"),
            ObjectType::ObjectMatview => (ObjectKind::MaterializedView, "materialized view"),
            ObjectType::ObjectIndex => (ObjectKind::Index, "index"),
            ObjectType::ObjectSequence => (ObjectKind::Sequence, "sequence"),
            ObjectType::ObjectSchema => (ObjectKind::Schema, "schema"),
            other => {
                let words = super::refused::object(other);
                return Err(self.unsupported(format!("DROP {words}"), -1));
            }
        };
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        if drop.concurrent && (drop.objects.len() > 1 || cascade) {
            let what = if cascade { "CASCADE" } else { "dropping multiple objects" };
            let message = format!("DROP INDEX CONCURRENTLY does not support {what}");
            return Err(crate::Error::new(Condition::FeatureNotSupported, message));
        }
        let mut found = Vec::new();
        for node in &drop.objects {
            let parts = match &node.node {
                Some(N::List(list)) => names::strings(&list.items),
                Some(N::String(name)) => vec![name.sval.as_str()],
                _ => continue,
            };
            let name = match parts.as_slice() {
                [name] => QualifiedName::bare(*name),
                [schema, name] | [_, schema, name] => QualifiedName::new(*schema, *name),
                _ => continue,
            };
            let resolved = match kind {
                ObjectKind::Schema => self.schema.has_namespace(&name.name).then(|| name.clone()),
                // PostgreSQL has none.
                ObjectKind::Synonym => None,
                ObjectKind::Sequence => match self.schema.sequence(&name) {
                    Some(found) => Some(QualifiedName::new(found.namespace.clone(), found.name.clone())),
                    None => match self.schema.relation(&name) {
                        Some(other) => {
                            let kind = relation_words(&other);
                            let message = format!("\"{}\" is not a sequence", other.name);
                            return Err(crate::Error::new(Condition::WrongObjectType, message)
                                .hint(format!("Use DROP {} to remove a {kind}.", kind.to_uppercase())));
                        }
                        None => None,
                    },
                },
                ObjectKind::Index => self.schema.index(&name).map(|(relation, index)| {
                    QualifiedName::new(relation.namespace.clone(), relation.indexes[index].name.clone())
                }),
                ObjectKind::Table | ObjectKind::View | ObjectKind::MaterializedView => {
                    match self.schema.relation(&name) {
                        None => None,
                        Some(relation) if matches!(relation.kind, RelationKind::Sequence { .. }) => {
                            let message = format!("\"{}\" is not a {words}", relation.name);
                            let error = crate::Error::new(Condition::WrongObjectType, message);
                            return Err(error.hint("Use DROP SEQUENCE to remove a sequence."));
                        }
                        Some(relation) => {
                            if relation.kind == RelationKind::Catalog {
                                return Err(crate::Error::new(
                                    Condition::InsufficientPrivilege,
                                    format!("permission denied: \"{}\" is a system catalog", relation.name),
                                ));
                            }
                            let other = relation_words(&relation);
                            if other != words {
                                let error = crate::Error::new(
                                    Condition::WrongObjectType,
                                    format!("\"{}\" is not a {words}", relation.name),
                                );
                                return Err(
                                    error.hint(format!("Use DROP {} to remove a {other}.", other.to_uppercase()))
                                );
                            }
                            Some(QualifiedName::new(relation.namespace.clone(), relation.name.clone()))
                        }
                    }
                }
            };
            match resolved {
                Some(name) => found.push(name),
                None if self.is_mysql() && kind == ObjectKind::Schema && !drop.missing_ok => {
                    let message = format!("Can't drop database '{}'; database doesn't exist", name.name);
                    return Err(crate::Error::new(Condition::InvalidSchemaName, message).with_mysql(1008, "HY000"));
                }
                None if drop.missing_ok => match &name.schema {
                    Some(_) if self.is_mysql() && matches!(kind, ObjectKind::Table | ObjectKind::View) => {
                        let shown = self.mysql_table_shown(&name);
                        self.remark(format!("{words} \"{shown}\" does not exist, skipping"));
                    }
                    Some(schema) if !self.schema.has_namespace(schema) => {
                        self.remark(format!("schema \"{schema}\" does not exist, skipping"));
                    }
                    _ => self.remark(format!("{words} \"{}\" does not exist, skipping", name.name)),
                },
                None => {
                    let condition = match kind {
                        ObjectKind::Schema => Condition::InvalidSchemaName,
                        ObjectKind::Index => Condition::UndefinedObject,
                        _ => Condition::UndefinedTable,
                    };
                    let shown = if self.is_mysql() { self.mysql_table_shown(&name) } else { name.to_string() };
                    return Err(crate::Error::new(condition, format!("{words} \"{shown}\" does not exist")));
                }
            }
        }
        Ok(Statement::Ddl(Box::new(Ddl::Drop(Drop { kind, names: found, concurrently: drop.concurrent, cascade }))))
    }
}

/// Functions, procedures, and whatever is one of them.
pub(super) const fn is_function(kind: ObjectType) -> bool {
    matches!(
        kind,
        ObjectType::ObjectFunction
            | ObjectType::ObjectProcedure
            | ObjectType::ObjectRoutine
            | ObjectType::ObjectAggregate
    )
}

/// Fails for a name that a schema cannot have.
fn check_schema_name(name: &str) -> Result<()> {
    if !name.starts_with("pg_") {
        return Ok(());
    }
    let message = format!("unacceptable schema name \"{name}\"");
    let detail = "The prefix \"pg_\" is reserved for system schemas.";
    Err(crate::Error::new(Condition::ReservedName, message).detail(detail))
}
