//! CREATE, ALTER, DROP and COMMENT ON STATISTICS.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::{Binder, Clause, Entry};
use super::super::{names, types};
use super::user_type::name_of_parts;
use crate::bind::names::{Unnamed, postgres_name};
use crate::ir::{Ddl, Statement, StatisticsChange, Text};
use crate::schema::{QualifiedName, Relation, RelationKind};
use crate::statistics::{Definition, KINDS, StatisticsObject};
use crate::{Condition, Error, Result};

/// So many columns and expressions can stand in one.
const MOST: usize = 8;

fn change(change: StatisticsChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Statistics(change)))
}

fn missing(name: &QualifiedName) -> Error {
    Error::new(Condition::UndefinedObject, format!("statistics object \"{name}\" does not exist"))
}

fn only_one() -> Error {
    Error::new(Condition::FeatureNotSupported, "only a single relation is allowed in CREATE STATISTICS")
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::SyntaxError, message)
}

/// An object's name.
fn name_of(node: Option<&Node>) -> QualifiedName {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::List(list)) => name_of_parts(&list.items),
        Some(N::String(name)) => QualifiedName::bare(name.sval.clone()),
        _ => QualifiedName::bare(""),
    }
}

/// What has been read behind ON.
#[derive(Default)]
struct Members {
    columns: Vec<usize>,
    expressions: Vec<String>,
}

impl Binder<'_> {
    pub(super) fn create_statistics(&mut self, create: &pg::CreateStatsStmt) -> Result<Statement> {
        let [Node { node: Some(N::RangeVar(range)) }] = create.relations.as_slice() else { return Err(only_one()) };
        let table = self.measurable(range)?;
        let words = word_list(&create.exprs);
        let name = self.statistics_name(&create.defnames, &table, &words)?;
        if self.schema.statistics_object(&name).is_some() {
            let message = format!("statistics object \"{}\" already exists", name.name);
            if create.if_not_exists {
                self.notices.push(Error::new(Condition::DuplicateObject, format!("{message}, skipping")));
                return Ok(Statement::Nothing { tag: "CREATE STATISTICS" });
            }
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        if create.exprs.len() > MOST {
            let message = format!("cannot have more than {MOST} columns in statistics");
            return Err(Error::new(Condition::TooManyColumns, message));
        }
        let members = self.statistics_members(&create.exprs, &table)?;
        let kinds = kinds(&create.stat_types, &members)?;
        let mut columns = members.columns;
        columns.sort_unstable();
        if columns.windows(2).any(|pair| pair[0] == pair[1]) {
            let message = "duplicate column name in statistics definition";
            return Err(Error::new(Condition::DuplicateColumn, message));
        }
        let expressions = members.expressions;
        if expressions.iter().enumerate().any(|(at, text)| expressions[..at].contains(text)) {
            let message = "duplicate expression in statistics definition";
            return Err(Error::new(Condition::DuplicateColumn, message));
        }
        if table.is_temporary() {
            return Err(self.unsupported("CREATE STATISTICS on a temporary table", range.location));
        }
        let columns = columns.into_iter().map(|at| table.columns[at].name.clone()).collect();
        let definition = Definition { table: table.oid, kinds, columns, expressions, target: -1 };
        Ok(change(StatisticsChange::Create { name, table, definition }))
    }

    /// A table of which statistics can be.
    fn measurable(&mut self, range: &pg::RangeVar) -> Result<Arc<Relation>> {
        let name = QualifiedName {
            schema: (!range.schemaname.is_empty()).then(|| range.schemaname.clone()),
            name: range.relname.clone(),
        };
        let refused = |kind: &str| {
            let message = format!("cannot define statistics for relation \"{}\"", range.relname);
            let error = Error::new(Condition::WrongObjectType, message);
            error.detail(format!("This operation is not supported for {kind}."))
        };
        if self.schema.relation(&name).is_none() && self.schema.index(&name).is_some() {
            return Err(refused("indexes"));
        }
        if self.schema.relation(&name).is_none() && self.schema.sequence(&name).is_some() {
            return Err(refused("sequences"));
        }
        let relation = self.relation(range)?;
        match relation.kind {
            RelationKind::Table | RelationKind::MaterializedView { .. } => Ok(relation),
            RelationKind::View { .. } | RelationKind::NativeView => Err(refused("views")),
            RelationKind::Sequence { .. } => Err(refused("sequences")),
            RelationKind::Catalog => {
                let message = format!("permission denied: \"{}\" is a system catalog", relation.name);
                Err(Error::new(Condition::InsufficientPrivilege, message))
            }
        }
    }

    fn statistics_name(&self, parts: &[Node], table: &Relation, words: &[String]) -> Result<QualifiedName> {
        if parts.is_empty() {
            let taken = |name: &str| {
                self.schema.statistics_object(&QualifiedName::new(table.namespace.clone(), name)).is_some()
            };
            let words = words.iter().map(String::as_str);
            let name = postgres_name(Unnamed::Statistics, &table.name, words, taken);
            return Ok(QualifiedName::new(table.namespace.clone(), name));
        }
        let name = name_of_parts(parts);
        let namespace = self.schema.creation_schema(name.schema.as_deref())?;
        self.check_statistics_schema(&namespace)?;
        Ok(QualifiedName::new(namespace, name.name))
    }

    fn check_statistics_schema(&self, namespace: &str) -> Result<()> {
        match namespace {
            "pg_catalog" | "information_schema" | "pg_temp" => {
                Err(self.unsupported(format!("a statistics object in the schema {namespace}"), -1))
            }
            _ => Ok(()),
        }
    }

    fn statistics_members(&mut self, nodes: &[Node], table: &Arc<Relation>) -> Result<Members> {
        let mut members = Members::default();
        for node in nodes {
            let Some(N::StatsElem(element)) = &node.node else { return Err(only_one()) };
            let bare = element.expr.as_deref().and_then(column_reference);
            let named = if element.name.is_empty() { bare } else { Some(element.name.as_str()) };
            if let Some(name) = named {
                members.columns.push(self.measured_column(table, name)?);
                continue;
            }
            let Some(node) = element.expr.as_deref() else { return Err(only_one()) };
            let entry = Entry::of_relation(table, Text::TABLE, None);
            let text = self.definition(node, vec![entry], Clause::Statistics, None)?;
            if nodes.len() > 1 && !text.expr.ty.is_ordered() {
                let ty = types::words(&text.expr.ty);
                let message = format!(
                    "expression cannot be used in multivariate statistics because its type {ty} has no default btree operator class"
                );
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            members.expressions.push(text.text);
        }
        Ok(members)
    }

    fn measured_column(&self, table: &Relation, name: &str) -> Result<usize> {
        let Some(at) = table.column(name) else {
            if matches!(name, "ctid" | "tableoid" | "xmin" | "xmax" | "cmin" | "cmax") {
                let message = "statistics creation on system columns is not supported";
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            return Err(Error::new(Condition::UndefinedColumn, format!("column \"{name}\" does not exist")));
        };
        let ty = &table.columns[at].ty;
        if !ty.is_ordered() {
            let ty = types::words(ty);
            let message = format!(
                "column \"{name}\" cannot be used in statistics because its type {ty} has no default btree operator class"
            );
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        Ok(at)
    }

    fn own_statistics(&self, name: &QualifiedName) -> Result<Arc<StatisticsObject>> {
        self.schema.statistics_object(name).ok_or_else(|| missing(name))
    }

    /// The object whose owner ALTER … OWNER TO changes.
    pub(in crate::postgres) fn owned_statistics(&self, alter: &pg::AlterOwnerStmt) -> Result<Arc<StatisticsObject>> {
        self.own_statistics(&name_of(alter.object.as_deref()))
    }

    pub(super) fn alter_statistics(&mut self, alter: &pg::AlterStatsStmt) -> Result<Statement> {
        let name = name_of_parts(&alter.defnames);
        let target = self.statistics_target(alter.stxstattarget.as_deref())?;
        let Some(object) = self.schema.statistics_object(&name) else {
            if alter.missing_ok {
                self.remark(format!("statistics object \"{}\" does not exist, skipping", name));
                return Ok(Statement::Nothing { tag: "ALTER STATISTICS" });
            }
            return Err(missing(&name));
        };
        let definition = Definition { target, ..object.definition.clone() };
        Ok(change(StatisticsChange::Alter { object, definition }))
    }

    pub(super) fn rename_statistics(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let object = self.own_statistics(&name_of(rename.object.as_deref()))?;
        let to = QualifiedName::new(object.namespace.clone(), rename.newname.clone());
        self.move_statistics_to(object, to)
    }

    pub(super) fn move_statistics(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        let object = self.own_statistics(&name_of(alter.object.as_deref()))?;
        if !self.schema.has_namespace(&alter.newschema) {
            let message = format!("schema \"{}\" does not exist", alter.newschema);
            return Err(Error::new(Condition::InvalidSchemaName, message));
        }
        self.check_statistics_schema(&alter.newschema)?;
        if object.namespace == alter.newschema {
            return Ok(Statement::Nothing { tag: "ALTER STATISTICS" });
        }
        let to = QualifiedName::new(alter.newschema.clone(), object.name.clone());
        self.move_statistics_to(object, to)
    }

    fn move_statistics_to(&self, object: Arc<StatisticsObject>, to: QualifiedName) -> Result<Statement> {
        if self.schema.statistics_object(&to).is_some() {
            let schema = to.schema.as_deref().unwrap_or_default();
            let message = format!("statistics object \"{}\" already exists in schema \"{schema}\"", to.name);
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(change(StatisticsChange::Move { object, to }))
    }

    pub(super) fn comment_on_statistics(&mut self, comment: &pg::CommentStmt, text: Option<String>) -> Result<Ddl> {
        let object = self.own_statistics(&name_of(comment.object.as_deref()))?;
        Ok(Ddl::Statistics(StatisticsChange::Comment { object, text }))
    }

    pub(super) fn drop_statistics(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let mut objects: Vec<Arc<StatisticsObject>> = Vec::new();
        for node in &drop.objects {
            let name = name_of(Some(node));
            match self.schema.statistics_object(&name) {
                Some(object) if objects.contains(&object) => {}
                Some(object) => objects.push(object),
                None if !drop.missing_ok => return Err(missing(&name)),
                None => match name.schema.as_deref().filter(|schema| !self.schema.has_namespace(schema)) {
                    Some(schema) => self.remark(format!("schema \"{schema}\" does not exist, skipping")),
                    None => self.remark(format!("statistics object \"{name}\" does not exist, skipping")),
                },
            }
        }
        if objects.is_empty() {
            return Ok(Statement::Nothing { tag: "DROP STATISTICS" });
        }
        Ok(change(StatisticsChange::Drop(objects)))
    }
}

/// The column that an expression is, without anything else.
fn column_reference(node: &Node) -> Option<&str> {
    match &node.node {
        Some(N::ColumnRef(reference)) => match names::strings(&reference.fields).as_slice() {
            [name] if reference.fields.len() == 1 => Some(*name),
            _ => None,
        },
        _ => None,
    }
}

/// What a name is made of where none is given.
fn word_list(nodes: &[Node]) -> Vec<String> {
    let word = |node: &Node| match &node.node {
        Some(N::StatsElem(element)) if !element.name.is_empty() => element.name.clone(),
        _ => "expr".to_owned(),
    };
    nodes.iter().map(word).collect()
}

/// The kinds that are asked for, by name or by what stands behind ON.
fn kinds(nodes: &[Node], members: &Members) -> Result<Vec<char>> {
    let count = members.columns.len() + members.expressions.len();
    let single = members.columns.is_empty() && members.expressions.len() == 1;
    if single && !nodes.is_empty() {
        let message = "when building statistics on a single expression, statistics kinds may not be specified";
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    let mut wanted = Vec::new();
    for word in names::strings(nodes) {
        let Some((_, letter)) = KINDS.iter().find(|(name, _)| *name == word) else {
            return Err(invalid(format!("unrecognized statistics kind \"{word}\"")));
        };
        wanted.push(*letter);
    }
    if count < 2 && !single {
        let message = "extended statistics require at least 2 columns";
        return Err(Error::new(Condition::InvalidObjectDefinition, message));
    }
    let all = wanted.is_empty() && count >= 2;
    let letters = KINDS.iter().map(|(_, letter)| *letter).filter(|letter| all || wanted.contains(letter));
    let expressions = (!members.expressions.is_empty()).then_some('e');
    Ok(letters.chain(expressions).collect())
}
