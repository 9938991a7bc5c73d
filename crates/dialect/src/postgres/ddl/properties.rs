//! ALTER TABLE and ALTER INDEX: what changes no row, but stands in the catalogs.

use pg_query::protobuf::{self as pg, AlterTableType, Node, ObjectType, node::Node as N};

use super::super::binder::Binder;
use super::super::clauses::{INDEX_PARAMETERS, TABLE_PARAMETERS};
use super::super::utility::text_of;
use crate::ir::{AlterTable, Ddl, ObjectKind, Part, Statement};
use crate::schema::{QualifiedName, Relation, RelationKind};
use crate::{Condition, Error, Result, Type};

/// The greatest statistics target.
const MAX_STATISTICS: i32 = 10_000;

impl Binder<'_> {
    /// A change of what stands in the catalogs only; `None` when the command is another.
    pub(super) fn property_action(
        &mut self,
        command: &pg::AlterTableCmd,
        table: &Relation,
        place: i32,
    ) -> Result<Option<Vec<AlterTable>>> {
        let of_table = |name: &str, value: Option<String>| {
            vec![AlterTable::SetProperty { part: Part::Table, name: name.to_owned(), value }]
        };
        Ok(Some(match command.subtype() {
            AlterTableType::AtSetStatistics => {
                if command.name.is_empty() {
                    let message = "cannot refer to non-index column by number";
                    return Err(Error::new(Condition::FeatureNotSupported, message));
                }
                let column = self.altered_column(table, &command.name)?;
                let value = self.statistics(command)?;
                vec![AlterTable::SetProperty { part: Part::Column(column), name: "statistics".into(), value }]
            }
            AlterTableType::AtSetStorage => {
                let column = self.altered_column(table, &command.name)?;
                let value = storage(text_of(command.def.as_deref()).as_str(), &table.columns[column].ty)?;
                vec![AlterTable::SetProperty { part: Part::Column(column), name: "storage".into(), value }]
            }
            AlterTableType::AtSetCompression => {
                let column = self.altered_column(table, &command.name)?;
                let value = compression(text_of(command.def.as_deref()).as_str(), &table.columns[column].ty)?;
                vec![AlterTable::SetProperty { part: Part::Column(column), name: "compression".into(), value }]
            }
            AlterTableType::AtSetOptions | AlterTableType::AtResetOptions => {
                let column = self.altered_column(table, &command.name)?;
                let reset = command.subtype() == AlterTableType::AtResetOptions;
                let options = self.parameters(command, reset, &["n_distinct", "n_distinct_inherited"])?;
                let named = options.into_iter().map(|(name, value)| AlterTable::SetProperty {
                    part: Part::Column(column),
                    name: format!("option {name}"),
                    value: (!reset).then_some(value),
                });
                named.collect()
            }
            AlterTableType::AtSetRelOptions | AlterTableType::AtResetRelOptions => {
                let reset = command.subtype() == AlterTableType::AtResetRelOptions;
                let options = self.parameters(command, reset, TABLE_PARAMETERS)?;
                let named = options.into_iter().map(|(name, value)| AlterTable::SetProperty {
                    part: Part::Table,
                    name: format!("option {name}"),
                    value: (!reset).then_some(value),
                });
                named.collect()
            }
            AlterTableType::AtClusterOn => of_table("clustered", Some(self.own_index(table, &command.name)?)),
            AlterTableType::AtDropCluster => of_table("clustered", None),
            AlterTableType::AtReplicaIdentity => {
                let Some(N::ReplicaIdentityStmt(identity)) = command.def.as_deref().and_then(|def| def.node.as_ref())
                else {
                    return Err(Error::internal("REPLICA IDENTITY without one"));
                };
                let value = match identity.identity_type.as_str() {
                    "d" => None,
                    "i" => Some(self.replica_index(table, &identity.name)?),
                    letter => Some(letter.to_owned()),
                };
                of_table("replica_identity", value)
            }
            AlterTableType::AtAddOf | AlterTableType::AtDropOf => {
                return self.change_type_of_table(command, table);
            }
            AlterTableType::AtSetLogged => of_table("unlogged", None),
            AlterTableType::AtSetUnLogged => of_table("unlogged", Some("true".to_owned())),
            AlterTableType::AtSetTableSpace => {
                self.check_tablespace(&command.name)?;
                Vec::new()
            }
            AlterTableType::AtSetAccessMethod if command.name == "heap" => Vec::new(),
            // There have never been any.
            AlterTableType::AtDropOids => Vec::new(),
            AlterTableType::AtValidateConstraint => vec![AlterTable::ValidateConstraint(command.name.clone())],
            AlterTableType::AtAlterConstraint => {
                let Some(N::AtalterConstraint(change)) = command.def.as_deref().and_then(|def| def.node.as_ref())
                else {
                    return Err(Error::internal("ALTER CONSTRAINT without a change"));
                };
                if change.alter_enforceability || change.alter_inheritability {
                    return Err(self.unsupported("ALTER CONSTRAINT … [NOT] ENFORCED or INHERIT", place));
                }
                vec![AlterTable::DeferConstraint {
                    name: change.conname.clone(),
                    deferrable: change.deferrable,
                    deferred: change.initdeferred,
                }]
            }
            _ => return Ok(None),
        }))
    }

    /// The storage parameters that a command sets, or resets.
    fn parameters(&self, command: &pg::AlterTableCmd, reset: bool, known: &[&str]) -> Result<Vec<(String, String)>> {
        let options = list_of(command);
        if reset { self.reset_parameters(&options, known) } else { self.storage_parameters(&options, known) }
    }

    /// SET STATISTICS: the target, `None` for the default.
    fn statistics(&mut self, command: &pg::AlterTableCmd) -> Result<Option<String>> {
        let target = self.statistics_target(command.def.as_deref())?;
        Ok((target >= 0).then(|| target.to_string()))
    }

    /// A statistics target, -1 for the default.
    pub(super) fn statistics_target(&mut self, given: Option<&Node>) -> Result<i32> {
        let target = match given.and_then(|given| given.node.as_ref()) {
            Some(N::Integer(number)) => number.ival,
            _ => -1,
        };
        if target < -1 {
            let message = format!("statistics target {target} is too low");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        if target > MAX_STATISTICS {
            let message = format!("lowering statistics target to {MAX_STATISTICS}");
            self.notices.push(Error::new(Condition::Warning, message));
        }
        Ok(target.min(MAX_STATISTICS))
    }

    /// An index of the table.
    fn own_index(&self, table: &Relation, name: &str) -> Result<String> {
        if table.indexes.iter().any(|index| index.name == name) {
            return Ok(name.to_owned());
        }
        let message = format!("index \"{name}\" for table \"{}\" does not exist", table.name);
        Err(Error::new(Condition::UndefinedObject, message))
    }

    /// An index that tells every row from the others.
    fn replica_index(&self, table: &Relation, name: &str) -> Result<String> {
        let Some(index) = table.indexes.iter().find(|index| index.name == name) else {
            return Err(Error::new(
                Condition::UndefinedObject,
                format!("index \"{name}\" for table \"{}\" does not exist", table.name),
            ));
        };
        let refused = |message: String| Err(Error::new(Condition::WrongObjectType, message));
        if !index.unique {
            return refused(format!("cannot use non-unique index \"{name}\" as replica identity"));
        }
        if index.columns.contains(&None) {
            return refused(format!("cannot use expression index \"{name}\" as replica identity"));
        }
        if index.predicate.is_some() {
            return refused(format!("cannot use partial index \"{name}\" as replica identity"));
        }
        for column in index.columns.iter().flatten().map(|at| &table.columns[*at]) {
            if !column.not_null {
                return refused(format!(
                    "index \"{name}\" cannot be used as replica identity because column \"{}\" is nullable",
                    column.name
                ));
            }
        }
        Ok(format!("i {name}"))
    }

    /// ATTACH PARTITION of an index: checked only, since the index of a partition that is like one of its parent is that
    /// one's part anyway.
    fn attach_index(&mut self, table: &Relation, at: usize, command: &pg::AlterTableCmd) -> Result<()> {
        let Some(N::PartitionCmd(pg::PartitionCmd { name: Some(range), .. })) =
            command.def.as_deref().and_then(|node| node.node.as_ref())
        else {
            return Err(Error::internal("ATTACH PARTITION of nothing"));
        };
        let index = &table.indexes[at].name;
        if !table.is_partitioned() {
            let message = format!("\"{index}\" is not a partitioned index");
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        let name = name_of(range);
        let Some((partition, own)) = self.schema.index(&name) else {
            let message = format!("relation \"{name}\" does not exist");
            return Err(self.error(Condition::UndefinedTable, message, -1));
        };
        let refused = |condition, detail: String| {
            let own = &partition.indexes[own].name;
            let message = format!("cannot attach index \"{own}\" as a partition of index \"{index}\"");
            Err(Error::new(condition, message).detail(detail))
        };
        if !partition.parents().contains(&table.oid) || partition.bound().is_none() {
            let name = &partition.indexes[own].name;
            let detail = format!("Index \"{name}\" is not an index on any partition of table \"{}\".", table.name);
            return refused(Condition::InvalidObjectDefinition, detail);
        }
        match crate::partition::adopted_indexes(table, &partition)[at] {
            Some(adopted) if adopted == own => Ok(()),
            Some(_) => {
                let detail = format!("Another index is already attached for partition \"{}\".", partition.name);
                refused(Condition::ObjectNotInPrerequisiteState, detail)
            }
            None => refused(Condition::InvalidObjectDefinition, "The index definitions do not match.".to_owned()),
        }
    }

    /// ALTER INDEX.
    pub(super) fn alter_index(&mut self, alter: &pg::AlterTableStmt) -> Result<Statement> {
        let Some(range) = &alter.relation else { return Err(Error::internal("ALTER without an index")) };
        let name = name_of(range);
        let Some((table, at)) = self.schema.index(&name) else {
            if alter.missing_ok {
                self.remark(format!("relation \"{name}\" does not exist, skipping"));
                return Ok(Statement::Nothing { tag: "ALTER INDEX" });
            }
            let relation = self.relation(range)?;
            let message = format!("\"{}\" is not an index", relation.name);
            return Err(Error::new(Condition::WrongObjectType, message));
        };
        let index = &table.indexes[at];
        let mut actions = Vec::new();
        let set = |name: String, value| AlterTable::SetProperty { part: Part::Index(index.name.clone()), name, value };
        for node in &alter.cmds {
            let Some(N::AlterTableCmd(command)) = &node.node else { continue };
            match command.subtype() {
                AlterTableType::AtSetRelOptions | AlterTableType::AtResetRelOptions => {
                    let reset = command.subtype() == AlterTableType::AtResetRelOptions;
                    for (name, value) in self.parameters(command, reset, INDEX_PARAMETERS)? {
                        actions.push(set(format!("index_option {name}"), (!reset).then_some(value)));
                    }
                }
                AlterTableType::AtSetStatistics => {
                    let number = usize::try_from(command.num).unwrap_or(0);
                    let Some(key) = number.checked_sub(1).and_then(|at| index.columns.get(at)) else {
                        let message = format!("column number {number} of relation \"{}\" does not exist", index.name);
                        return Err(Error::new(Condition::UndefinedColumn, message));
                    };
                    if let Some(column) = key {
                        let column = &table.columns[*column].name;
                        let message = format!(
                            "cannot alter statistics on non-expression column \"{column}\" of index \"{}\"",
                            index.name
                        );
                        return Err(Error::new(Condition::FeatureNotSupported, message)
                            .hint("Alter statistics on table column instead."));
                    }
                    let value = self.statistics(command)?;
                    actions.push(set(format!("index_statistics {number}"), value));
                }
                AlterTableType::AtSetTableSpace => self.check_tablespace(&command.name)?,
                AlterTableType::AtAttachPartition => self.attach_index(&table, at, command)?,
                _ => return Err(self.unsupported("this ALTER INDEX", range.location)),
            }
        }
        if actions.is_empty() {
            return Ok(Statement::Nothing { tag: "ALTER INDEX" });
        }
        let table = table.clone();
        Ok(Statement::Ddl(Box::new(Ddl::AlterTable { table, actions, heirs: Vec::new() })))
    }

    /// ALTER … SET SCHEMA.
    pub(super) fn set_schema(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        if let (Some(range), ObjectType::ObjectView | ObjectType::ObjectSequence) =
            (&alter.relation, alter.object_type())
        {
            return self.set_schema_of_other(alter, range);
        }
        let words = super::super::refused::object(alter.object_type());
        let materialized = alter.object_type() == ObjectType::ObjectMatview;
        let (Some(range), ObjectType::ObjectTable | ObjectType::ObjectMatview) = (&alter.relation, alter.object_type())
        else {
            return Err(self.unsupported(format!("ALTER {words} … SET SCHEMA"), -1));
        };
        if alter.missing_ok && self.relation(range).is_err() {
            self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
            let tag = if materialized { super::matview::ALTER } else { "ALTER TABLE" };
            return Ok(Statement::Nothing { tag });
        }
        let table = if materialized { self.materialized_view(range)? } else { self.own_table(range)? };
        let to = alter.newschema.clone();
        self.check_goes_to(&to, table.is_temporary(), "a table")?;
        if self.is_taken(&QualifiedName::new(to.clone(), table.name.clone())) && to != table.namespace {
            let message = format!("relation \"{}\" already exists in schema \"{to}\"", table.name);
            return Err(Error::new(Condition::DuplicateTable, message));
        }
        Ok(Statement::Ddl(Box::new(Ddl::AlterTable {
            table,
            actions: vec![AlterTable::SetSchema(to)],
            heirs: Vec::new(),
        })))
    }

    /// The same of a view or sequence.
    fn set_schema_of_other(&mut self, alter: &pg::AlterObjectSchemaStmt, range: &pg::RangeVar) -> Result<Statement> {
        let is_view = alter.object_type() == ObjectType::ObjectView;
        let (kind, tag) =
            if is_view { (ObjectKind::View, "ALTER VIEW") } else { (ObjectKind::Sequence, "ALTER SEQUENCE") };
        let sequence = self.schema.sequence(&name_of(range)).filter(|_| !is_view);
        let (name, temporary) = match sequence {
            Some(found) => {
                let temporary = found.namespace == "pg_temp";
                (QualifiedName::new(found.namespace.clone(), found.name.clone()), temporary)
            }
            None if alter.missing_ok && self.relation(range).is_err() => {
                self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
                return Ok(Statement::Nothing { tag });
            }
            None => {
                let relation = self.relation(range)?;
                if !is_view || !matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView) {
                    let message =
                        format!("\"{}\" is not a {}", relation.name, if is_view { "view" } else { "sequence" });
                    return Err(Error::new(Condition::WrongObjectType, message));
                }
                if matches!(relation.kind, RelationKind::NativeView) {
                    return Err(self.unsupported("ALTER of a view that was not made here", range.location));
                }
                (QualifiedName::new(relation.namespace.clone(), relation.name.clone()), relation.is_temporary())
            }
        };
        let to = alter.newschema.clone();
        self.check_goes_to(&to, temporary, if is_view { "a view" } else { "a sequence" })?;
        Ok(Statement::Ddl(Box::new(Ddl::SetSchema { kind, name, to, tag })))
    }

    /// Fails for a schema that something cannot go to.
    fn check_goes_to(&self, to: &str, temporary: bool, what: &str) -> Result<()> {
        if to == "pg_temp" || temporary {
            return Err(Error::new(
                Condition::FeatureNotSupported,
                "cannot move objects into or out of temporary schemas",
            ));
        }
        if !self.schema.has_namespace(to) {
            return Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{to}\" does not exist")));
        }
        if matches!(to, "pg_catalog" | "information_schema") {
            return Err(self.unsupported(format!("moving {what} to \"{to}\""), -1));
        }
        Ok(())
    }
}

pub(super) fn name_of(range: &pg::RangeVar) -> QualifiedName {
    let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
    QualifiedName { schema, name: range.relname.clone() }
}

/// What stands in parentheses behind SET or RESET.
fn list_of(command: &pg::AlterTableCmd) -> Vec<Node> {
    match command.def.as_deref().and_then(|def| def.node.as_ref()) {
        Some(N::List(list)) => list.items.clone(),
        _ => Vec::new(),
    }
}

/// The storage that a type's values have by themselves: `p` where they are short.
fn own_storage(ty: &Type) -> &'static str {
    let shown = super::super::types::import(ty);
    match super::super::types::typlen(&shown) {
        length if length > 0 => "plain",
        _ if matches!(shown, Type::Numeric(_)) => "main",
        _ => "extended",
    }
}

/// SET STORAGE: the word, `None` where it is the type's own.
pub(in super::super) fn storage(word: &str, ty: &Type) -> Result<Option<String>> {
    let word = word.to_ascii_lowercase();
    if !matches!(word.as_str(), "default" | "plain" | "external" | "extended" | "main") {
        let message = format!("invalid storage type \"{word}\"");
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    let own = own_storage(ty);
    if own == "plain" && !matches!(word.as_str(), "plain" | "default") {
        let words = super::super::types::words(ty);
        let message = format!("column data type {words} can only have storage PLAIN");
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    Ok((word != "default" && word != own).then_some(word))
}

/// SET COMPRESSION: the word, `None` for the default.
pub(in super::super) fn compression(word: &str, ty: &Type) -> Result<Option<String>> {
    if !matches!(word, "default" | "pglz" | "lz4") {
        let message = format!("invalid compression method \"{word}\"");
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    if own_storage(ty) == "plain" && word != "default" {
        let words = super::super::types::words(ty);
        let message = format!("column data type {words} does not support compression");
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    Ok((word != "default").then(|| word.to_owned()))
}
