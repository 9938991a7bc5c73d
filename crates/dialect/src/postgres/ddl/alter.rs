//! ALTER TABLE and renaming.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTableType, DropBehavior, Node, ObjectType, node::Node as N};

use super::super::binder::{Binder, Clause, Entry, Scope};
use super::alter_family::Members;
use super::mysql_alter::Alteration;
use super::table::Draft;
use crate::collation::Collation;
use crate::ir::{
    AlterTable, CastContext, ColumnDefinition, Constraint, ConstraintKind, Ddl, Expr, ObjectKind, Part, Statement, Text,
};
use crate::schema::{Column, QualifiedName, Relation, RelationKind};
use crate::{Condition, Result, Type};

/// ATTACH and DETACH, which stand alone.
const fn is_of_partition(command: AlterTableType) -> bool {
    matches!(
        command,
        AlterTableType::AtAttachPartition
            | AlterTableType::AtDetachPartition
            | AlterTableType::AtDetachPartitionFinalize
    )
}

fn is_identity(table: &Relation, at: usize) -> crate::Error {
    let name = &table.columns[at].name;
    let message = format!("column \"{name}\" of relation \"{}\" is an identity column", table.name);
    crate::Error::new(Condition::SyntaxError, message)
}

impl Binder<'_> {
    /// A table as it is, to be altered.
    pub(super) fn draft_of(relation: &Relation) -> Draft {
        let columns = relation
            .columns
            .iter()
            .map(|column| ColumnDefinition {
                not_null: column.not_null,
                collation: column.collation.clone(),
                ..ColumnDefinition::plain(&column.name, column.ty.clone())
            })
            .collect();
        let taken = relation
            .indexes
            .iter()
            .map(|index| index.name.clone())
            .chain(relation.checks.iter().map(|check| check.name.clone()))
            .chain(relation.foreign_keys.iter().map(|key| key.name.clone()))
            .collect();
        let keys =
            relation.indexes.iter().filter(|index| index.unique && !index.nulls_alike && index.predicate.is_none());
        let deferrable = relation.indexes.iter().filter(|index| index.primary && index.deferred.is_some());
        let deferrable = deferrable.map(|index| Constraint {
            name: index.name.clone(),
            named: true,
            kind: ConstraintKind::DeferrableUnique {
                columns: index.columns.iter().flatten().copied().collect(),
                deferred: index.deferred == Some(true),
                primary: true,
            },
            options: Default::default(),
        });
        let constraints = keys
            .filter_map(|index| {
                let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
                let columns = columns?;
                let kind =
                    if index.primary { ConstraintKind::PrimaryKey(columns) } else { ConstraintKind::Unique(columns) };
                Some(Constraint { name: index.name.clone(), named: true, kind, options: Default::default() })
            })
            .chain(deferrable)
            .collect();
        Draft {
            name: QualifiedName::new(relation.namespace.clone(), relation.name.clone()),
            columns,
            constraints,
            taken,
            properties: Vec::new(),
            generated: (relation.columns.iter())
                .filter(|column| column.generated.is_some())
                .map(|column| column.name.clone())
                .collect(),
            using_index: None,
            inherited: Vec::new(),
            partitioned: relation.is_partitioned(),
            is_partition: relation.bound().is_some(),
        }
    }

    pub(super) fn altered_column(&self, relation: &Relation, name: &str) -> Result<usize> {
        relation.column(name).ok_or_else(|| {
            crate::Error::new(
                Condition::UndefinedColumn,
                format!("column \"{name}\" of relation \"{}\" does not exist", relation.name),
            )
        })
    }

    /// PostgreSQL does not say whose column it has not found.
    pub(super) fn column_to_rename(&self, relation: &Relation, name: &str) -> Result<usize> {
        relation
            .column(name)
            .ok_or_else(|| crate::Error::new(Condition::UndefinedColumn, format!("column \"{name}\" does not exist")))
    }

    pub(super) fn alter_table(&mut self, alter: &pg::AlterTableStmt) -> Result<Statement> {
        let Some(range) = &alter.relation else { return Err(crate::Error::internal("ALTER without a table")) };
        if self.is_mysql() {
            return match self.mysql_alteration(alter, range)? {
                Alteration::Whole(statement) => Ok(statement),
                Alteration::Commands(alter, besides) => {
                    let mut statement = self.alter_own_table(&alter, range)?;
                    if let Statement::Ddl(ddl) = &mut statement
                        && let Ddl::AlterTable { actions, .. } = &mut **ddl
                    {
                        actions.extend(besides);
                    }
                    Ok(statement)
                }
            };
        }
        if let Some(owner) = self.relation_owner(alter)? {
            return Ok(owner);
        }
        let is_view =
            |relation: &Relation| matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView);
        let of_view = alter.objtype() == ObjectType::ObjectTable && self.relation(range).is_ok_and(|it| is_view(&it));
        if of_view || alter.objtype() == ObjectType::ObjectView {
            return self.alter_view(alter);
        }
        let of_materialized = alter.objtype() == ObjectType::ObjectTable
            && self.relation(range).is_ok_and(|relation| relation.is_materialized());
        if of_materialized || alter.objtype() == ObjectType::ObjectMatview {
            return self.alter_materialized(alter);
        }
        if alter.objtype() == ObjectType::ObjectIndex {
            return self.alter_index(alter);
        }
        if alter.objtype() != ObjectType::ObjectTable {
            let words = super::super::refused::object(alter.objtype());
            return Err(self.unsupported(format!("ALTER {words}"), range.location));
        }
        if alter.missing_ok && self.relation(range).is_err() {
            self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
            return Ok(Statement::Nothing { tag: "ALTER TABLE" });
        }
        self.alter_own_table(alter, range)
    }

    /// The same of a table that is no view and nothing else.
    fn alter_own_table(&mut self, alter: &pg::AlterTableStmt, range: &pg::RangeVar) -> Result<Statement> {
        let table = self.own_table(range)?;
        if let [Node { node: Some(N::AlterTableCmd(command)) }] = alter.cmds.as_slice()
            && is_of_partition(command.subtype())
        {
            return self.change_partition(&table, command);
        }
        let mut members = Members::of(self.schema, &table, range.inh);
        let commands = alter.cmds.iter().filter_map(|node| match &node.node {
            Some(N::AlterTableCmd(command)) => Some(&**command),
            _ => None,
        });
        members.drop_defaults(commands.clone());
        // PostgreSQL drops before it adds, wherever the statement says the one and the other. USING may name a column that
        // goes, so that others go in their turn.
        let added = |name: &str| {
            commands.clone().any(|command| match command.def.as_deref().and_then(|node| node.node.as_ref()) {
                Some(N::ColumnDef(column)) => {
                    command.subtype() == AlterTableType::AtAddColumn && column.colname == name
                }
                _ => false,
            })
        };
        let drops =
            |command: &&pg::AlterTableCmd| command.subtype() == AlterTableType::AtDropColumn && added(&command.name);
        for command in commands.clone().filter(drops).chain(commands.clone().filter(|command| !drops(command))) {
            self.alter_members(command, &mut members, range.location)?;
        }
        Ok(members.statement())
    }

    /// What a command does to one table.
    pub(super) fn actions_of(
        &mut self,
        command: &pg::AlterTableCmd,
        table: &Arc<Relation>,
        draft: &mut Draft,
        place: i32,
    ) -> Result<Vec<AlterTable>> {
        if let Some(found) = self.property_action(command, table, place)? {
            return Ok(found);
        }
        let mut actions = Vec::new();
        actions.extend(self.alter_action(command, table, draft, place)?);
        for (column, name, value) in draft.properties.drain(..) {
            if name.starts_with("index_") {
                actions.push(AlterTable::SetProperty { part: Part::Index(column), name, value: Some(value) });
                continue;
            }
            let Some(column) = draft.columns.iter().position(|known| known.name == column) else { continue };
            actions.push(AlterTable::SetProperty { part: Part::Column(column), name, value: Some(value) });
        }
        Ok(actions)
    }

    /// The default of a column that gets another type is converted like its values.
    pub(super) fn check_default_follows(&mut self, column: &Column, ty: &Type) -> Result<()> {
        let Some(default) = column.default.as_ref().filter(|default| default.next_of.is_none()) else { return Ok(()) };
        let Ok(value) = super::super::bind_default(&default.text, &column.ty, self.schema, self.context) else {
            return Ok(());
        };
        if self.try_coerce(value, ty, CastContext::Assignment, -1)?.is_ok() {
            return Ok(());
        }
        let words = super::super::types::format_type(ty);
        let message = format!("default for column \"{}\" cannot be cast automatically to type {words}", column.name);
        Err(crate::Error::new(Condition::DatatypeMismatch, message))
    }

    fn alter_action(
        &mut self,
        command: &pg::AlterTableCmd,
        table: &Arc<Relation>,
        draft: &mut Draft,
        place: i32,
    ) -> Result<Option<AlterTable>> {
        let cascade = command.behavior() == DropBehavior::DropCascade;
        let definition = command.def.as_deref().and_then(|node| node.node.as_ref());
        let entry = || Entry::of_relation(table, Text::TABLE, None);
        if let Some(action) = self.trigger_action(command, table)? {
            return Ok(Some(action));
        }
        if let Some(action) = super::rule::state(command, table)? {
            return Ok(Some(action));
        }
        if let Some(action) = super::policy::row_security(command) {
            return Ok(Some(action));
        }
        Ok(Some(match command.subtype() {
            AlterTableType::AtAddColumn => {
                let Some(N::ColumnDef(column)) = definition else {
                    return Err(crate::Error::internal("ADD COLUMN without a column"));
                };
                // Columns that this statement has dropped are gone, as their names in the draft say.
                let stands = table
                    .column(&column.colname)
                    .is_some_and(|at| draft.columns.get(at).is_some_and(|known| known.name == table.columns[at].name));
                if stands && command.missing_ok {
                    self.notices.push(crate::Error::new(
                        Condition::DuplicateColumn,
                        format!(
                            "column \"{}\" of relation \"{}\" already exists, skipping",
                            column.colname, table.name
                        ),
                    ));
                    return Ok(None);
                }
                if draft.columns.iter().any(|known| known.name == column.colname) {
                    return Err(crate::Error::new(
                        Condition::DuplicateColumn,
                        format!("column \"{}\" of relation \"{}\" already exists", column.colname, table.name),
                    ));
                }
                let before = draft.constraints.len();
                let added = self.column_definition(column, draft)?;
                draft.columns.push(added);
                let position = draft.columns.len() - 1;
                self.column_expressions(column, position, draft)?;
                self.column_constraints(column, position, draft)?;
                AlterTable::AddColumn {
                    column: draft.columns[position].clone(),
                    constraints: draft.constraints.split_off(before),
                    if_not_exists: command.missing_ok,
                }
            }
            AlterTableType::AtDropColumn => {
                if command.missing_ok && table.column(&command.name).is_none() {
                    self.remark(format!(
                        "column \"{}\" of relation \"{}\" does not exist, skipping",
                        command.name, table.name
                    ));
                    return Ok(None);
                }
                let column = self.altered_column(table, &command.name)?;
                draft.drop_column(table, column);
                AlterTable::DropColumn { column, cascade }
            }
            AlterTableType::AtColumnDefault => {
                let position = self.altered_column(table, &command.name)?;
                let column = &table.columns[position];
                let default = match command.def.as_deref() {
                    Some(node) => self.default_text(node, &column.name, &draft.columns[position].ty)?,
                    None => None,
                };
                self.check_has_default(table, position, command.def.is_none())?;
                AlterTable::SetDefault { column: position, default }
            }
            AlterTableType::AtDropExpression => {
                let column = self.altered_column(table, &command.name)?;
                if table.columns[column].generated.is_some() {
                    AlterTable::DropExpression { column }
                } else {
                    let message = format!(
                        "column \"{}\" of relation \"{}\" is not a stored generated column",
                        table.columns[column].name, table.name
                    );
                    if !command.missing_ok {
                        return Err(crate::Error::new(Condition::ObjectNotInPrerequisiteState, message));
                    }
                    self.remark(format!("{message}, skipping"));
                    return Ok(None);
                }
            }
            AlterTableType::AtSetNotNull => {
                AlterTable::SetNotNull { column: self.altered_column(table, &command.name)?, not_null: true }
            }
            AlterTableType::AtDropNotNull => {
                let column = self.altered_column(table, &command.name)?;
                if table.primary_key().is_some_and(|key| key.columns.contains(&Some(column))) {
                    return Err(crate::Error::new(
                        Condition::InvalidTableDefinition,
                        format!("column \"{}\" is in a primary key", table.columns[column].name),
                    ));
                }
                if table.columns[column].identity.is_some() {
                    return Err(is_identity(table, column));
                }
                AlterTable::SetNotNull { column, not_null: false }
            }
            AlterTableType::AtAlterColumnType => {
                let Some(N::ColumnDef(column)) = definition else {
                    return Err(crate::Error::internal("SET TYPE without a type"));
                };
                let position = self.altered_column(table, &command.name)?;
                let Some(type_name) = &column.type_name else {
                    return Err(crate::Error::internal("SET TYPE without a type"));
                };
                let ty = self.resolve_type(type_name)?;
                let collation = match self.declared_collation(column.coll_clause.as_deref(), &ty)? {
                    Some(named) => Some(named),
                    None => Collation::of_domain(&ty).cloned(),
                };
                self.check_new_collation(table, position, collation.as_deref(), place)?;
                self.needs.declare(&ty);
                crate::composite::check_part(&ty, Some((crate::composite::row_type_oid(table.oid), &table.name)))?;
                // MySQL's MODIFY says anew whether the column numbers itself.
                let stays = !self.is_mysql() && table.columns.get(position).is_some_and(|own| own.identity.is_some());
                if stays || draft.columns[position].identity.is_some() {
                    self.check_identity_type(&ty)?;
                }
                let using = match column.raw_default.as_deref() {
                    Some(node) => {
                        let scope = Scope { entries: vec![entry()], clause: Clause::Update, ..Scope::default() };
                        let ((value, at), _) = self.with_scope(scope, |binder| binder.placed(node))?;
                        self.assign(value, &command.name, &ty, at)?
                    }
                    None => {
                        let value = Expr::column(Text::TABLE, position, table.columns[position].ty.clone());
                        match self.try_coerce(value, &ty, CastContext::Assignment, -1)? {
                            Ok(value) => value,
                            Err(_) => {
                                let words = super::super::types::format_type(&ty);
                                return Err(crate::Error::new(
                                    Condition::DatatypeMismatch,
                                    format!("column \"{}\" cannot be cast automatically to type {words}", command.name),
                                )
                                .hint(format!(
                                    "You might need to specify \"USING {}::{words}\".",
                                    super::super::quote_ident(&command.name)
                                )));
                            }
                        }
                    }
                };
                // What comes after it in the statement sees the column as it will be.
                draft.columns[position].ty = ty.clone();
                draft.columns[position].collation.clone_from(&collation);
                AlterTable::SetType { column: position, ty, collation, using }
            }
            AlterTableType::AtAddIdentity | AlterTableType::AtSetIdentity | AlterTableType::AtDropIdentity => {
                let altered = self.alter_identity(command, table, draft)?;
                if let Some(AlterTable::DropIdentity { column }) = &altered {
                    draft.columns[*column].identity = None;
                }
                return Ok(altered);
            }
            AlterTableType::AtAddConstraint => {
                let Some(N::Constraint(constraint)) = definition else {
                    return Err(crate::Error::internal("ADD CONSTRAINT without a constraint"));
                };
                let before = draft.constraints.len();
                let not_null: Vec<bool> = draft.columns.iter().map(|column| column.not_null).collect();
                self.table_constraint(constraint, draft)?;
                match draft.constraints.get(before).cloned() {
                    Some(constraint) => match draft.using_index.take() {
                        Some(index) => AlterTable::AddKeyUsing { constraint, index },
                        None => AlterTable::AddConstraint(constraint),
                    },
                    None => {
                        let changed =
                            draft.columns.iter().zip(not_null).position(|(column, before)| column.not_null && !before);
                        match changed {
                            Some(column) => AlterTable::SetNotNull { column, not_null: true },
                            None => return Ok(None),
                        }
                    }
                }
            }
            AlterTableType::AtDropConstraint => {
                let known = draft.taken.contains(&command.name);
                if !known && !command.missing_ok {
                    return Err(crate::Error::new(
                        Condition::UndefinedObject,
                        format!("constraint \"{}\" of relation \"{}\" does not exist", command.name, table.name),
                    ));
                }
                if !known {
                    self.remark(format!(
                        "constraint \"{}\" of relation \"{}\" does not exist, skipping",
                        command.name, table.name
                    ));
                    return Ok(None);
                }
                // What comes after it may take its place, and its name.
                draft.constraints.retain(|constraint| constraint.name != command.name);
                draft.taken.retain(|name| *name != command.name);
                AlterTable::DropConstraint { name: command.name.clone(), if_exists: command.missing_ok, cascade }
            }
            AlterTableType::AtChangeOwner => {
                return Err(self.unsupported("OWNER TO together with other changes", place));
            }
            other => {
                let words = other.as_str_name().trim_start_matches("AT_");
                let mut shown = String::new();
                for character in words.chars() {
                    if character.is_uppercase() && !shown.is_empty() {
                        shown.push(' ');
                    }
                    shown.extend(character.to_uppercase());
                }
                return Err(self.unsupported(format!("ALTER TABLE … {shown}"), place));
            }
        }))
    }

    /// SET and DROP DEFAULT are for columns that are not computed otherwise.
    /// Keys that a column in such a collation could not have been given.
    fn check_new_collation(
        &self,
        table: &Relation,
        column: usize,
        collation: Option<&Collation>,
        place: i32,
    ) -> Result<()> {
        let Some(collation) = collation else { return Ok(()) };
        if table.indexes.iter().any(|index| index.nulls_alike && index.columns.contains(&Some(column))) {
            return Err(self.unsupported("NULLS NOT DISTINCT of a column with a collation", place));
        }
        if !collation.deterministic && table.foreign_keys.iter().any(|key| key.columns.contains(&column)) {
            return Err(self.unsupported("a nondeterministic collation for a column of a foreign key", place));
        }
        Ok(())
    }

    fn check_has_default(&self, table: &Relation, at: usize, dropped: bool) -> Result<()> {
        let column = &table.columns[at];
        if column.identity.is_some() {
            let error = is_identity(table, at);
            let hint = "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.";
            return Err(if dropped { error.hint(hint) } else { error });
        }
        if column.generated.is_some() {
            let message = format!("column \"{}\" of relation \"{}\" is a generated column", column.name, table.name);
            let error = crate::Error::new(Condition::SyntaxError, message);
            let hint = "Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.";
            return Err(if dropped { error.hint(hint) } else { error });
        }
        Ok(())
    }

    /// ADD GENERATED AS IDENTITY, SET of its options, DROP IDENTITY.
    fn alter_identity(
        &mut self,
        command: &pg::AlterTableCmd,
        table: &Arc<Relation>,
        draft: &Draft,
    ) -> Result<Option<AlterTable>> {
        let at = self.altered_column(table, &command.name)?;
        let column = &table.columns[at];
        let refused = |what: &str| {
            let message = format!("column \"{}\" of relation \"{}\" {what}", column.name, table.name);
            crate::Error::new(Condition::ObjectNotInPrerequisiteState, message)
        };
        let definition = command.def.as_deref().and_then(|node| node.node.as_ref());
        if command.subtype() == AlterTableType::AtAddIdentity {
            let Some(N::Constraint(constraint)) = definition else {
                return Err(crate::Error::internal("ADD IDENTITY without its options"));
            };
            let ty = &draft.columns[at].ty;
            self.check_identity_type(ty)?;
            let sequence = self.column_sequence(&constraint.options, ty)?;
            // MySQL's MODIFY has seen to both before.
            if !column.not_null && !self.is_mysql() {
                return Err(refused("must be declared NOT NULL before identity can be added"));
            }
            if column.identity.is_some() {
                return Err(refused("is already an identity column"));
            }
            if column.default.is_some() && !self.is_mysql() {
                return Err(refused("already has a default value"));
            }
            let identity = super::table::identity(constraint, &sequence);
            return Ok(Some(AlterTable::AddIdentity { column: at, identity, sequence }));
        }
        let Some(identity) = &column.identity else {
            if command.missing_ok {
                self.remark(format!(
                    "column \"{}\" of relation \"{}\" is not an identity column, skipping",
                    column.name, table.name
                ));
                return Ok(None);
            }
            return Err(refused("is not an identity column"));
        };
        if command.subtype() == AlterTableType::AtDropIdentity {
            return Ok(Some(AlterTable::DropIdentity { column: at }));
        }
        let Some(N::List(list)) = definition else {
            return Err(crate::Error::internal("SET of an identity without its options"));
        };
        let (mut always, mut options) = (None, Vec::new());
        for node in &list.items {
            match &node.node {
                Some(N::DefElem(option)) if option.defname == "generated" => {
                    let given = match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
                        Some(N::Integer(value)) => value.ival == i32::from(b'a'),
                        _ => return Err(crate::Error::internal("GENERATED without its kind")),
                    };
                    if always.replace(given).is_some() {
                        return Err(self.error(
                            Condition::SyntaxError,
                            "conflicting or redundant options",
                            option.location,
                        ));
                    }
                }
                _ => options.push(node.clone()),
            }
        }
        if options.is_empty() {
            return Ok(Some(AlterTable::SetIdentity { column: at, always, sequence: None, restart: None }));
        }
        let Some(mut known) = identity.sequence.as_ref().and_then(|name| self.schema.sequence_definition(name)) else {
            return Err(self.unsupported("options of an identity without a sequence", -1));
        };
        known.owner = None;
        let ty = known.ty.clone();
        let options = self.sequence_options(&options, Some(&known), &ty, true)?;
        let (sequence, restart) = (Some(options.sequence), options.restart);
        Ok(Some(AlterTable::SetIdentity { column: at, always, sequence, restart }))
    }

    fn rename_sequence(&mut self, rename: &pg::RenameStmt, range: &pg::RangeVar) -> Result<Statement> {
        let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
        let name = QualifiedName { schema, name: range.relname.clone() };
        let Some(found) = self.schema.sequence(&name) else {
            return match self.relation(range) {
                Ok(relation) => {
                    let message = format!("\"{}\" is not a sequence", relation.name);
                    Err(crate::Error::new(Condition::WrongObjectType, message))
                }
                Err(_) if rename.missing_ok => {
                    self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
                    Ok(Statement::Nothing { tag: "ALTER SEQUENCE" })
                }
                Err(error) => Err(error),
            };
        };
        let name = QualifiedName::new(found.namespace.clone(), found.name.clone());
        let to = rename.newname.clone();
        let tag = if rename.rename_type() == ObjectType::ObjectTable { "ALTER TABLE" } else { "ALTER SEQUENCE" };
        Ok(Statement::Ddl(Box::new(Ddl::Rename { kind: ObjectKind::Sequence, name, to, tag })))
    }

    /// ALTER SCHEMA … RENAME TO.
    fn rename_schema(&self, rename: &pg::RenameStmt) -> Result<Statement> {
        let (from, to) = (&rename.subname, &rename.newname);
        if !self.schema.has_namespace(from) {
            return Err(crate::Error::new(Condition::InvalidSchemaName, format!("schema \"{from}\" does not exist")));
        }
        if self.schema.has_namespace(to) {
            return Err(crate::Error::new(Condition::DuplicateSchema, format!("schema \"{to}\" already exists")));
        }
        super::check_schema_name(to)?;
        let name = QualifiedName::bare(from.clone());
        let rename = Ddl::Rename { kind: ObjectKind::Schema, name, to: to.clone(), tag: "ALTER SCHEMA" };
        Ok(Statement::Ddl(Box::new(rename)))
    }

    pub(super) fn rename_object(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let kind = rename.rename_type();
        if kind == ObjectType::ObjectTrigger {
            return self.rename_trigger(rename);
        }
        if kind == ObjectType::ObjectPolicy {
            return self.rename_policy(rename);
        }
        if kind == ObjectType::ObjectRule {
            return self.rename_rule(rename);
        }
        if kind == ObjectType::ObjectSchema {
            return self.rename_schema(rename);
        }
        let Some(range) = &rename.relation else {
            let words = super::super::refused::object(kind);
            return Err(self.unsupported(format!("ALTER {words} … RENAME"), -1));
        };
        let index = super::properties::name_of(range);
        if matches!(kind, ObjectType::ObjectIndex | ObjectType::ObjectTable)
            && self.schema.relation(&index).is_none()
            && let Some((table, at)) = self.schema.index(&index)
        {
            let name = QualifiedName::new(table.namespace.clone(), table.indexes[at].name.clone());
            let tag = if kind == ObjectType::ObjectIndex { "ALTER INDEX" } else { "ALTER TABLE" };
            let rename = Ddl::Rename { kind: ObjectKind::Index, name, to: rename.newname.clone(), tag };
            return Ok(Statement::Ddl(Box::new(rename)));
        }
        if rename.missing_ok && kind != ObjectType::ObjectSequence && self.relation(range).is_err() {
            self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
            let tag = match kind {
                ObjectType::ObjectIndex => "ALTER INDEX",
                ObjectType::ObjectMatview => super::matview::ALTER,
                _ => "ALTER TABLE",
            };
            return Ok(Statement::Nothing { tag });
        }
        // ALTER TABLE renames sequences, too.
        let of_sequence = kind == ObjectType::ObjectTable
            && self
                .schema
                .relation(&index)
                .is_some_and(|relation| matches!(relation.kind, RelationKind::Sequence { .. }));
        if kind == ObjectType::ObjectSequence || of_sequence {
            return self.rename_sequence(rename, range);
        }
        if matches!(kind, ObjectType::ObjectMatview)
            || kind == ObjectType::ObjectColumn && rename.relation_type() == ObjectType::ObjectMatview
        {
            let relation = self.relation(range)?;
            return self.rename_materialized(rename, relation);
        }
        let of_view = matches!(kind, ObjectType::ObjectView | ObjectType::ObjectTable)
            || kind == ObjectType::ObjectColumn
                && matches!(rename.relation_type(), ObjectType::ObjectView | ObjectType::ObjectTable);
        if of_view {
            let relation = self.relation(range)?;
            match relation.kind {
                RelationKind::View { .. } => return self.rename_view(rename, relation),
                RelationKind::Table | RelationKind::MaterializedView { .. }
                    if kind == ObjectType::ObjectView || rename.relation_type() == ObjectType::ObjectView =>
                {
                    let message = format!("\"{}\" is not a view", relation.name);
                    return Err(crate::Error::new(Condition::WrongObjectType, message));
                }
                RelationKind::MaterializedView { .. } => return self.rename_materialized(rename, relation),
                _ => {}
            }
        }
        let action = match kind {
            ObjectType::ObjectTable | ObjectType::ObjectIndex => AlterTable::RenameTable(rename.newname.clone()),
            ObjectType::ObjectColumn if rename.relation_type() == ObjectType::ObjectTable => {
                let table = self.relation(range)?;
                if table.of_type().is_some() {
                    let message = "cannot rename column of typed table";
                    return Err(crate::Error::new(Condition::WrongObjectType, message));
                }
                if self.is_mysql() {
                    super::mysql_partitions::check_not_parted_by(&table, &rename.subname)?;
                }
                let column = self.column_to_rename(&table, &rename.subname)?;
                if table.column(&rename.newname).is_some_and(|other| other != column) {
                    return Err(crate::Error::new(
                        Condition::DuplicateColumn,
                        format!("column \"{}\" of relation \"{}\" already exists", rename.newname, table.name),
                    ));
                }
                AlterTable::RenameColumn { column, to: rename.newname.clone() }
            }
            ObjectType::ObjectTabconstraint => {
                AlterTable::RenameConstraint { from: rename.subname.clone(), to: rename.newname.clone() }
            }
            other => {
                let words = super::super::refused::object(other);
                return Err(self.unsupported(format!("ALTER {words} … RENAME"), range.location));
            }
        };
        let table = self.relation(range)?;
        if !matches!(table.kind, RelationKind::Table) {
            return Err(self.unsupported("renaming a view", range.location));
        }
        if let AlterTable::RenameTable(name) = &action
            && self.is_taken(&QualifiedName::new(table.namespace.clone(), name.clone()))
        {
            return Err(crate::Error::new(Condition::DuplicateTable, format!("relation \"{name}\" already exists")));
        }
        let heirs = self.renamed_in_heirs(&table, &action, range.inh)?;
        Ok(Statement::Ddl(Box::new(Ddl::AlterTable { table, actions: vec![action], heirs })))
    }
}
