//! CREATE, ALTER, DROP and COMMENT ON TRIGGER.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, DropBehavior, Node, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::{Binder, Clause, Entry, Scope};
use super::super::{names, raw};
use crate::ir::trigger::{NEW_ROW, OLD_ROW};
use crate::ir::{
    AlterTable, ChangeTrigger, ColumnIndex, Ddl, Expr, Statement, TriggerChange, TriggerEvent, TriggerLevel,
    TriggerState, TriggerTime,
};
use crate::schema::{ConstraintTrigger, QualifiedName, Relation, RelationKind, Trigger};
use crate::{Condition, Error, Result, heritage};

/// The type that functions of triggers return.
const TRIGGER: u32 = 2_279;
/// PostgreSQL's own functions of triggers that are here: suppress_redundant_updates_trigger, tsvector_update_trigger and
/// tsvector_update_trigger_column.
pub(in super::super) const BUILT_IN: [u32; 3] = [1_291, 3_752, 3_753];

/// The parser's bits of `timing`.
const BEFORE: i32 = 2;
const INSTEAD_OF: i32 = 64;

impl Binder<'_> {
    pub(super) fn create_trigger(&mut self, create: &pg::CreateTrigStmt) -> Result<Ddl> {
        let Some(range) = &create.relation else { return Err(Error::internal("a trigger without its table")) };
        if create.isconstraint && create.replace {
            return Err(refused("CREATE OR REPLACE CONSTRAINT TRIGGER is not supported"));
        }
        let relation = self.relation(range)?;
        let time = match create.timing {
            BEFORE => TriggerTime::Before,
            INSTEAD_OF => TriggerTime::InsteadOf,
            _ => TriggerTime::After,
        };
        let level = if create.row { TriggerLevel::Row } else { TriggerLevel::Statement };
        let events = u8::try_from(create.events).unwrap_or(0);
        let mut trigger = Trigger {
            oid: 0,
            name: create.trigname.clone(),
            function: 0,
            time,
            level,
            events,
            columns: Vec::new(),
            condition: None,
            args: create.args.iter().filter_map(names::string).map(str::to_owned).collect(),
            old_table: None,
            new_table: None,
            constraint: None,
            state: TriggerState::Origin,
            comment: None,
            key: None,
        };
        if relation.kind == RelationKind::Catalog {
            let message = format!("permission denied: \"{}\" is a system catalog", relation.name);
            return Err(self.error(Condition::InsufficientPrivilege, message, range.location));
        }
        check_place(&relation, &trigger)?;
        if relation.without_identity || relation.kind == RelationKind::NativeView {
            let what =
                if relation.without_identity { "a table without rowid" } else { "a view that was not made here" };
            return Err(self.unsupported(format!("a trigger on {what}"), range.location));
        }
        if create.isconstraint {
            let from = match &create.constrrel {
                Some(range) => self.relation(range)?.oid,
                None => 0,
            };
            trigger.constraint =
                Some(ConstraintTrigger { deferrable: create.deferrable, deferred: create.initdeferred, from });
        }
        if time == TriggerTime::InsteadOf {
            check_instead_of(create)?;
        }
        self.trigger_columns(create, &relation, &mut trigger)?;
        transition_tables(create, &relation, &mut trigger)?;
        if let Some(node) = create.when_clause.as_deref() {
            trigger.condition = Some(self.trigger_condition(node, &relation, &trigger)?);
        }
        trigger.function = self.trigger_function(&create.funcname)?;
        if let Some(known) = relation.trigger(&trigger.name) {
            if !create.replace {
                return Err(exists(&trigger.name, &relation));
            }
            if known.level == TriggerLevel::Row && self.has_from_parent(&relation, &trigger.name) {
                let (name, table) = (&trigger.name, &relation.name);
                let message = format!("trigger \"{name}\" for relation \"{table}\" is an internal or a child trigger");
                return Err(Error::new(Condition::DuplicateObject, message));
            }
            if known.constraint.is_some() {
                let message =
                    format!("trigger \"{}\" for relation \"{}\" is a constraint trigger", trigger.name, relation.name);
                return Err(Error::new(Condition::DuplicateObject, message));
            }
            trigger.comment.clone_from(&known.comment);
        }
        Ok(Ddl::Trigger(ChangeTrigger { relation, change: TriggerChange::Create { trigger, replace: create.replace } }))
    }

    /// A partition has a trigger from the table that it is a partition of.
    fn has_from_parent(&self, partition: &Relation, name: &str) -> bool {
        partition.bound().is_some()
            && heritage::parents(self.schema, partition)
                .iter()
                .filter_map(|parent| parent.trigger(name))
                .any(|trigger| trigger.level == TriggerLevel::Row)
    }

    /// UPDATE OF.
    fn trigger_columns(&self, create: &pg::CreateTrigStmt, relation: &Relation, trigger: &mut Trigger) -> Result<()> {
        for name in names::strings(&create.columns) {
            let Some(column) = relation.column(name) else {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
                return Err(Error::new(Condition::UndefinedColumn, message));
            };
            if trigger.columns.contains(&column) {
                let message = format!("column \"{name}\" specified more than once");
                return Err(Error::new(Condition::DuplicateColumn, message));
            }
            trigger.columns.push(column);
        }
        Ok(())
    }

    /// WHEN: checked, and kept as text.
    fn trigger_condition(&mut self, node: &Node, relation: &Arc<Relation>, trigger: &Trigger) -> Result<String> {
        let (_, scope) = self.condition_over_rows(node, relation)?;
        for (column, place) in &scope.uses {
            self.condition_column(relation, trigger, *column, *place)?;
        }
        let text = raw::print_expression(node).ok_or_else(|| Error::unsupported("this expression in WHEN"))?;
        Ok(self.in_schemas_by(text, |binder, text| bind_condition(binder, text, relation).map(drop)))
    }

    fn condition_over_rows(&mut self, node: &Node, relation: &Arc<Relation>) -> Result<(Expr, Scope)> {
        let node = with_rows(node, relation);
        let scope = Scope { entries: old_and_new(relation), clause: Clause::TriggerWhen, ..Scope::default() };
        self.with_scope(scope, |binder| {
            let (condition, at) = binder.placed(&node)?;
            binder.condition(condition, "WHEN", at)
        })
    }

    fn condition_column(
        &self,
        relation: &Relation,
        trigger: &Trigger,
        column: crate::ir::ColumnRef,
        place: i32,
    ) -> Result<()> {
        let wrong = |message: &str| Err(self.error(Condition::InvalidObjectDefinition, message, place));
        let is_old = column.relation == OLD_ROW;
        if !is_old && column.relation != NEW_ROW {
            return Ok(());
        }
        if trigger.level == TriggerLevel::Statement {
            return wrong("statement trigger's WHEN condition cannot reference column values");
        }
        if is_old && trigger.waits_for(TriggerEvent::Insert) {
            return wrong("INSERT trigger's WHEN condition cannot reference OLD values");
        }
        if !is_old && trigger.waits_for(TriggerEvent::Delete) {
            return wrong("DELETE trigger's WHEN condition cannot reference NEW values");
        }
        if is_old || trigger.time != TriggerTime::Before {
            return Ok(());
        }
        match column.column {
            ColumnIndex::RowIdentity => {
                let message = "BEFORE trigger's WHEN condition cannot reference NEW system columns";
                Err(self.error(Condition::FeatureNotSupported, message, place))
            }
            ColumnIndex::At(at) if relation.columns[at].generated.is_some() => {
                let message = "BEFORE trigger's WHEN condition cannot reference NEW generated columns";
                let detail = format!("Column \"{}\" is a generated column.", relation.columns[at].name);
                Err(self.error(Condition::InvalidObjectDefinition, message, place).detail(detail))
            }
            ColumnIndex::At(_) => Ok(()),
        }
    }

    /// The function that a trigger calls.
    fn trigger_function(&mut self, nodes: &[Node]) -> Result<u32> {
        let parts = names::strings(nodes);
        let name = match parts.as_slice() {
            [.., schema, name] => QualifiedName::new(*schema, *name),
            [name] => QualifiedName::bare(*name),
            [] => return Err(Error::internal("a trigger without a function")),
        };
        let shown = parts.join(".");
        let functions = self.schema.functions(&name);
        let found = functions.iter().find(|function| function.definition.inputs().next().is_none());
        let Some(function) = found else {
            let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
            if let Some(fact) = facts::Function::named(&name.name).iter().find(|fact| own && fact.result == TRIGGER) {
                return match BUILT_IN.contains(&fact.oid) {
                    true => Ok(fact.oid),
                    false => Err(Error::unsupported(format!("a trigger that calls {}", fact.name))),
                };
            }
            return Err(Error::new(Condition::UndefinedFunction, format!("function {shown}() does not exist")));
        };
        if !function.returns_trigger() {
            let message = format!("function {shown} must return type trigger");
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        Ok(function.oid)
    }

    /// DROP TRIGGER name ON table.
    pub(super) fn drop_trigger(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let nothing = Ok(Statement::Nothing { tag: "DROP TRIGGER" });
        let Some(N::List(list)) = drop.objects.first().and_then(|node| node.node.as_ref()) else { return nothing };
        let (table, name) = on_relation(&names::strings(&list.items));
        let Some(relation) = self.dropped_from(&table, drop.missing_ok)? else { return nothing };
        let Some(trigger) = relation.trigger(&name).cloned() else {
            if drop.missing_ok {
                self.remark(format!("trigger \"{name}\" for relation \"{table}\" does not exist, skipping"));
                return nothing;
            }
            return Err(missing(&name, &relation));
        };
        // Nothing depends on a trigger.
        let _ = DropBehavior::DropCascade;
        Ok(changed(relation, TriggerChange::Drop(trigger)))
    }

    /// ALTER TRIGGER name ON table RENAME TO.
    pub(super) fn rename_trigger(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let Some(range) = &rename.relation else { return Err(Error::internal("a trigger without its table")) };
        let relation = self.relation(range)?;
        let Some(trigger) = relation.trigger(&rename.subname).cloned() else {
            return Err(missing(&rename.subname, &relation));
        };
        if relation.trigger(&rename.newname).is_some() {
            return Err(exists(&rename.newname, &relation));
        }
        Ok(changed(relation, TriggerChange::Rename(trigger, rename.newname.clone())))
    }

    /// COMMENT ON TRIGGER name ON table.
    pub(super) fn comment_on_trigger(&mut self, parts: &[String], text: Option<String>) -> Result<Ddl> {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (table, name) = on_relation(&parts);
        let Some(relation) = self.schema.relation(&table) else {
            return Err(Error::new(Condition::UndefinedTable, format!("relation \"{table}\" does not exist")));
        };
        let Some(trigger) = relation.trigger(&name).cloned() else { return Err(missing(&name, &relation)) };
        Ok(Ddl::Trigger(ChangeTrigger { relation, change: TriggerChange::Comment(trigger, text) }))
    }

    /// ENABLE and DISABLE TRIGGER; `None` for another action.
    pub(super) fn trigger_action(
        &mut self,
        command: &pg::AlterTableCmd,
        table: &Relation,
    ) -> Result<Option<AlterTable>> {
        use pg::AlterTableType as T;
        let state = match command.subtype() {
            T::AtEnableTrig | T::AtEnableTrigAll | T::AtEnableTrigUser => TriggerState::Origin,
            T::AtEnableAlwaysTrig => TriggerState::Always,
            T::AtEnableReplicaTrig => TriggerState::Replica,
            T::AtDisableTrig | T::AtDisableTrigAll | T::AtDisableTrigUser => TriggerState::Disabled,
            _ => return Ok(None),
        };
        let all = matches!(command.subtype(), T::AtEnableTrigAll | T::AtDisableTrigAll);
        let triggers = match command.subtype() {
            T::AtEnableTrigUser | T::AtDisableTrigUser | T::AtEnableTrigAll | T::AtDisableTrigAll => {
                table.named_triggers().cloned().collect()
            }
            _ => vec![table.trigger(&command.name).cloned().ok_or_else(|| missing(&command.name, table))?],
        };
        Ok(Some(AlterTable::SetTriggers { triggers, state, all, only: false }))
    }
}

/// OLD and NEW, as WHEN names them.
fn old_and_new(relation: &Arc<Relation>) -> Vec<Entry> {
    let row = |id, name| Entry { unqualified: false, ..Entry::of_relation(relation, id, Some(name)) };
    vec![row(OLD_ROW, "old"), row(NEW_ROW, "new")]
}

/// An expression with `old.*` and `new.*` spelled out as rows, where a row may stand.
fn with_rows(node: &Node, relation: &Relation) -> Node {
    let mut node = node.clone();
    spell_rows(&mut node, relation);
    node
}

fn spell_rows(node: &mut Node, relation: &Relation) {
    match &mut node.node {
        Some(N::ColumnRef(reference)) => {
            let parts = names::strings(&reference.fields);
            let star = reference.fields.iter().any(|field| matches!(field.node, Some(N::AStar(_))));
            if !matches!(parts.as_slice(), ["old" | "new"]) || !star && reference.fields.len() != 1 {
                return;
            }
            let location = reference.location;
            let row = parts[0].to_owned();
            let text = |text: &str| Node { node: Some(N::String(pg::String { sval: text.to_owned() })) };
            // They stand nowhere in the text.
            let nowhere = -1;
            let args = relation.columns.iter().map(|column| Node {
                node: Some(N::ColumnRef(pg::ColumnRef {
                    fields: vec![text(&row), text(&column.name)],
                    location: nowhere,
                })),
            });
            let args = args.collect();
            let row_format = pg::CoercionForm::CoerceExplicitCall as i32;
            node.node =
                Some(N::RowExpr(Box::new(pg::RowExpr { args, row_format, location, ..pg::RowExpr::default() })));
        }
        Some(N::BoolExpr(bool_expr)) => bool_expr.args.iter_mut().for_each(|arg| spell_rows(arg, relation)),
        Some(N::AExpr(expr)) => {
            for side in [&mut expr.lexpr, &mut expr.rexpr].into_iter().flatten() {
                spell_rows(side, relation);
            }
        }
        _ => {}
    }
}

fn changed(relation: Arc<Relation>, change: TriggerChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Trigger(ChangeTrigger { relation, change })))
}

/// A relation's name and the trigger's, which stands last.
fn on_relation(parts: &[&str]) -> (QualifiedName, String) {
    match parts {
        [.., schema, table, name] => (QualifiedName::new(*schema, *table), (*name).to_owned()),
        [table, name] => (QualifiedName::bare(*table), (*name).to_owned()),
        _ => (QualifiedName::bare(""), String::new()),
    }
}

/// What kind of trigger a relation can have.
fn check_place(relation: &Relation, trigger: &Trigger) -> Result<()> {
    let wrong = |kind: &str, detail: &str| {
        let message = format!("\"{}\" is a {kind}", relation.name);
        Err(Error::new(Condition::WrongObjectType, message).detail(detail))
    };
    let truncates = trigger.waits_for(TriggerEvent::Truncate);
    match relation.kind {
        RelationKind::View { .. } | RelationKind::NativeView => {
            if trigger.time != TriggerTime::InsteadOf && trigger.level == TriggerLevel::Row {
                return wrong("view", "Views cannot have row-level BEFORE or AFTER triggers.");
            }
            if truncates {
                return wrong("view", "Views cannot have TRUNCATE triggers.");
            }
        }
        RelationKind::MaterializedView { .. } => {
            let message = format!("relation \"{}\" cannot have triggers", relation.name);
            let detail = "This operation is not supported for materialized views.";
            return Err(Error::new(Condition::WrongObjectType, message).detail(detail));
        }
        _ if trigger.time == TriggerTime::InsteadOf => {
            return wrong("table", "Tables cannot have INSTEAD OF triggers.");
        }
        _ => {}
    }
    if truncates && trigger.level == TriggerLevel::Row {
        return Err(refused("TRUNCATE FOR EACH ROW triggers are not supported"));
    }
    Ok(())
}

fn check_instead_of(create: &pg::CreateTrigStmt) -> Result<()> {
    let message = if !create.row {
        "INSTEAD OF triggers must be FOR EACH ROW"
    } else if create.when_clause.is_some() {
        "INSTEAD OF triggers cannot have WHEN conditions"
    } else if !create.columns.is_empty() {
        "INSTEAD OF triggers cannot have column lists"
    } else {
        return Ok(());
    };
    Err(refused(message))
}

/// REFERENCING.
fn transition_tables(create: &pg::CreateTrigStmt, relation: &Relation, trigger: &mut Trigger) -> Result<()> {
    let wrong = |message: &str| Err(Error::new(Condition::InvalidObjectDefinition, message));
    for node in &create.transition_rels {
        let Some(N::TriggerTransition(transition)) = &node.node else { continue };
        if !transition.is_table {
            return Err(refused("ROW variable naming in the REFERENCING clause is not supported")
                .hint("Use OLD TABLE or NEW TABLE for naming transition tables."));
        }
        if !matches!(relation.kind, RelationKind::Table) {
            let message = format!("\"{}\" is a view", relation.name);
            let detail = "Triggers on views cannot have transition tables.";
            return Err(Error::new(Condition::WrongObjectType, message).detail(detail));
        }
        if relation.is_partitioned() {
            let message = format!("\"{}\" is a partitioned table", relation.name);
            let detail = "ROW triggers with transition tables are not supported on partitioned tables.";
            if trigger.level == TriggerLevel::Row {
                return Err(refused(&message).detail(detail));
            }
        }
        if trigger.time != TriggerTime::After {
            return wrong("transition table name can only be specified for an AFTER trigger");
        }
        if trigger.waits_for(TriggerEvent::Truncate) {
            return Err(refused("TRUNCATE triggers with transition tables are not supported"));
        }
        if trigger.each_event().count() != 1 {
            return Err(refused("transition tables cannot be specified for triggers with more than one event"));
        }
        if !trigger.columns.is_empty() {
            return Err(refused("transition tables cannot be specified for triggers with column lists"));
        }
        // Its rows would come from the statements of its parents, too.
        if trigger.level == TriggerLevel::Row && !relation.parents().is_empty() {
            let what = if relation.bound().is_some() { "partitions" } else { "inheritance children" };
            return Err(refused(&format!("ROW triggers with transition tables are not supported on {what}")));
        }
        if transition.is_new {
            if trigger.waits_for(TriggerEvent::Delete) {
                return wrong("NEW TABLE can only be specified for an INSERT or UPDATE trigger");
            }
            if trigger.new_table.is_some() {
                return wrong("NEW TABLE cannot be specified multiple times");
            }
            trigger.new_table = Some(transition.name.clone());
        } else {
            if trigger.waits_for(TriggerEvent::Insert) {
                return wrong("OLD TABLE can only be specified for a DELETE or UPDATE trigger");
            }
            if trigger.old_table.is_some() {
                return wrong("OLD TABLE cannot be specified multiple times");
            }
            trigger.old_table = Some(transition.name.clone());
        }
    }
    if trigger.old_table.is_some() && trigger.old_table == trigger.new_table {
        return wrong("OLD TABLE name and NEW TABLE name cannot be the same");
    }
    Ok(())
}

fn refused(message: &str) -> Error {
    Error::new(Condition::FeatureNotSupported, message)
}

fn exists(name: &str, relation: &Relation) -> Error {
    let message = format!("trigger \"{name}\" for relation \"{}\" already exists", relation.name);
    Error::new(Condition::DuplicateObject, message)
}

fn missing(name: &str, relation: &Relation) -> Error {
    let message = format!("trigger \"{name}\" for table \"{}\" does not exist", relation.name);
    Error::new(Condition::UndefinedObject, message)
}

/// WHEN as an expression over [`OLD_ROW`] and [`NEW_ROW`].
pub(in super::super) fn bind_condition(binder: &mut Binder<'_>, text: &str, relation: &Arc<Relation>) -> Result<Expr> {
    let damaged =
        || Error::new(Condition::DataCorrupted, format!("the condition `{text}` of a trigger cannot be read"));
    let statements = raw::parse(&format!("SELECT {text}")).map_err(|_| damaged())?;
    let value = statements.first().and_then(|statement| match &*statement.tree {
        N::SelectStmt(select) => match select.target_list.as_slice() {
            [Node { node: Some(N::ResTarget(target)) }] => target.val.as_deref(),
            _ => None,
        },
        _ => None,
    });
    binder.collated |= relation.columns.iter().any(|column| column.collation.is_some());
    let (mut condition, _) = binder.condition_over_rows(value.ok_or_else(damaged)?, relation)?;
    binder.derive_collations_of(&mut condition, &[(OLD_ROW, relation.clone()), (NEW_ROW, relation.clone())])?;
    Ok(condition)
}
