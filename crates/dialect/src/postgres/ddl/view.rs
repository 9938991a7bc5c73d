//! Views' options, and ALTER VIEW.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTableType, Node, ObjectType, node::Node as N};

use super::super::binder::Binder;
use super::super::utility::text_of;
use crate::access::relation_words;
use crate::ir::{AlterView, Ddl, Query, Statement};
use crate::schema::{QualifiedName, Relation, RelationKind, ViewOptions};
use crate::{Condition, Error, Result};

impl Binder<'_> {
    /// The options of CREATE VIEW, its clause WITH CHECK OPTION among them.
    pub(super) fn view_options(&mut self, view: &pg::ViewStmt, query: &Query) -> Result<ViewOptions> {
        let asked = view.options.iter().any(|node| match &node.node {
            Some(N::DefElem(option)) => option.defname == "check_option",
            _ => false,
        });
        if asked {
            self.check_option_is_possible(query)?;
        }
        let mut options = given_options(&view.options)?;
        let clause = match view.with_check_option() {
            pg::ViewCheckOption::LocalCheckOption => Some("local"),
            pg::ViewCheckOption::CascadedCheckOption => Some("cascaded"),
            _ => None,
        };
        if let Some(extent) = clause {
            if options.check().is_some() {
                return Err(Error::new(
                    Condition::InvalidParameterValue,
                    "parameter \"check_option\" specified more than once",
                ));
            }
            self.check_option_is_possible(query)?;
            options.0.push(("check_option".to_owned(), extent.to_owned()));
        }
        Ok(options)
    }

    fn check_option_is_possible(&self, query: &Query) -> Result<()> {
        let Some(reason) = self.why_not_updatable(query) else { return Ok(()) };
        let message = "WITH CHECK OPTION is supported only on automatically updatable views";
        Err(Error::new(Condition::FeatureNotSupported, message).hint(reason))
    }

    /// ALTER VIEW, and ALTER TABLE of a view.
    pub(super) fn alter_view(&mut self, alter: &pg::AlterTableStmt) -> Result<Statement> {
        let Some(range) = &alter.relation else { return Err(Error::internal("ALTER without a view")) };
        let tag = tag(alter.objtype());
        if alter.missing_ok && self.relation(range).is_err() {
            self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
            return Ok(Statement::Nothing { tag });
        }
        let view = self.own_view(range)?;
        let mut actions = Vec::with_capacity(alter.cmds.len());
        for node in &alter.cmds {
            let Some(N::AlterTableCmd(command)) = &node.node else { continue };
            if let Some(action) = self.view_action(command, &view)? {
                actions.push(action);
            }
        }
        if actions.is_empty() {
            return Ok(Statement::Nothing { tag });
        }
        Ok(Statement::Ddl(Box::new(Ddl::AlterView { view, actions, tag })))
    }

    fn view_action(&mut self, command: &pg::AlterTableCmd, view: &Relation) -> Result<Option<AlterView>> {
        let parameters = || match command.def.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::List(list)) => list.items.as_slice(),
            _ => &[],
        };
        Ok(Some(match command.subtype() {
            AlterTableType::AtColumnDefault => {
                let position = self.altered_column(view, &command.name)?;
                let column = &view.columns[position];
                let default = match command.def.as_deref() {
                    Some(node) => self.default_text(node, &column.name, &column.ty)?,
                    None => None,
                };
                AlterView::Default { column: position, default }
            }
            AlterTableType::AtSetRelOptions => {
                let mut options = options_of(view);
                options.set(given_options(parameters())?);
                let (from, _) = self.table(&Arc::new(view.clone()), None, -1)?;
                if options.check().is_some()
                    && let crate::ir::From::Query { query, .. } = &from
                {
                    self.check_option_is_possible(query)?;
                }
                AlterView::Options(options)
            }
            AlterTableType::AtResetRelOptions => {
                let mut options = options_of(view);
                for node in parameters() {
                    if let Some(N::DefElem(option)) = &node.node {
                        options.0.retain(|(name, _)| *name != option.defname);
                    }
                }
                AlterView::Options(options)
            }
            AlterTableType::AtChangeOwner => {
                return Err(self.unsupported("OWNER TO together with other changes", -1));
            }
            other => return Err(cannot_alter(other, view)),
        }))
    }

    /// The column that RENAME gives a name which no other has.
    pub(super) fn renamed_column(&mut self, rename: &pg::RenameStmt, view: &Relation) -> Result<usize> {
        let column = self.column_to_rename(view, &rename.subname)?;
        if view.column(&rename.newname).is_some_and(|other| other != column) {
            let message = format!("column \"{}\" of relation \"{}\" already exists", rename.newname, view.name);
            return Err(Error::new(Condition::DuplicateColumn, message));
        }
        Ok(column)
    }

    /// Refuses a name that a relation of the schema has.
    pub(super) fn check_new_name(&self, rename: &pg::RenameStmt, view: &Relation) -> Result<()> {
        if self.is_taken(&QualifiedName::new(view.namespace.clone(), rename.newname.clone())) {
            let message = format!("relation \"{}\" already exists", rename.newname);
            return Err(Error::new(Condition::DuplicateTable, message));
        }
        Ok(())
    }

    /// RENAME of a view or of its column.
    pub(super) fn rename_view(&mut self, rename: &pg::RenameStmt, view: Arc<Relation>) -> Result<Statement> {
        let action = match rename.rename_type() {
            ObjectType::ObjectColumn => {
                let column = self.renamed_column(rename, &view)?;
                AlterView::RenameColumn { column, to: rename.newname.clone() }
            }
            _ => {
                self.check_new_name(rename, &view)?;
                AlterView::Rename(rename.newname.clone())
            }
        };
        let kind = match rename.rename_type() {
            ObjectType::ObjectColumn => rename.relation_type(),
            kind => kind,
        };
        Ok(Statement::Ddl(Box::new(Ddl::AlterView { view, actions: vec![action], tag: tag(kind) })))
    }

    /// A view of ours that a statement may change.
    fn own_view(&mut self, range: &pg::RangeVar) -> Result<Arc<Relation>> {
        let relation = self.relation(range)?;
        match relation.kind {
            RelationKind::View { .. } => Ok(relation),
            RelationKind::NativeView => Err(self.unsupported("ALTER of a view that was not made here", range.location)),
            _ => Err(Error::new(Condition::WrongObjectType, format!("\"{}\" is not a view", relation.name))),
        }
    }
}

/// A command of ALTER TABLE that is not for such a relation.
pub(super) fn cannot_alter(command: AlterTableType, relation: &Relation) -> Error {
    let message = format!("ALTER action {} cannot be performed on relation \"{}\"", words(command), relation.name);
    let detail = format!("This operation is not supported for {}s.", relation_words(relation));
    Error::new(Condition::WrongObjectType, message).detail(detail)
}

/// What messages call a command of ALTER TABLE.
const fn words(command: AlterTableType) -> &'static str {
    match command {
        AlterTableType::AtAddColumn | AlterTableType::AtAddColumnToView => "ADD COLUMN",
        AlterTableType::AtColumnDefault | AlterTableType::AtCookedColumnDefault => "ALTER COLUMN ... SET DEFAULT",
        AlterTableType::AtDropNotNull => "ALTER COLUMN ... DROP NOT NULL",
        AlterTableType::AtSetNotNull => "ALTER COLUMN ... SET NOT NULL",
        AlterTableType::AtDropExpression => "ALTER COLUMN ... DROP EXPRESSION",
        AlterTableType::AtSetStatistics => "ALTER COLUMN ... SET STATISTICS",
        AlterTableType::AtSetOptions => "ALTER COLUMN ... SET",
        AlterTableType::AtResetOptions => "ALTER COLUMN ... RESET",
        AlterTableType::AtSetStorage => "ALTER COLUMN ... SET STORAGE",
        AlterTableType::AtSetCompression => "ALTER COLUMN ... SET COMPRESSION",
        AlterTableType::AtDropColumn => "DROP COLUMN",
        AlterTableType::AtAddIndex | AlterTableType::AtAddIndexConstraint => "ADD INDEX",
        AlterTableType::AtAddConstraint => "ADD CONSTRAINT",
        AlterTableType::AtAlterConstraint => "ALTER CONSTRAINT",
        AlterTableType::AtValidateConstraint => "VALIDATE CONSTRAINT",
        AlterTableType::AtDropConstraint => "DROP CONSTRAINT",
        AlterTableType::AtAlterColumnType => "ALTER COLUMN ... SET DATA TYPE",
        AlterTableType::AtChangeOwner => "OWNER TO",
        AlterTableType::AtClusterOn => "CLUSTER ON",
        AlterTableType::AtDropCluster => "SET WITHOUT CLUSTER",
        AlterTableType::AtSetAccessMethod => "SET ACCESS METHOD",
        AlterTableType::AtSetLogged => "SET LOGGED",
        AlterTableType::AtSetUnLogged => "SET UNLOGGED",
        AlterTableType::AtDropOids => "SET WITHOUT OIDS",
        AlterTableType::AtSetTableSpace => "SET TABLESPACE",
        AlterTableType::AtSetRelOptions => "SET",
        AlterTableType::AtResetRelOptions => "RESET",
        AlterTableType::AtEnableTrig => "ENABLE TRIGGER",
        AlterTableType::AtEnableAlwaysTrig => "ENABLE ALWAYS TRIGGER",
        AlterTableType::AtEnableReplicaTrig => "ENABLE REPLICA TRIGGER",
        AlterTableType::AtDisableTrig => "DISABLE TRIGGER",
        AlterTableType::AtEnableTrigAll => "ENABLE TRIGGER ALL",
        AlterTableType::AtDisableTrigAll => "DISABLE TRIGGER ALL",
        AlterTableType::AtEnableTrigUser => "ENABLE TRIGGER USER",
        AlterTableType::AtDisableTrigUser => "DISABLE TRIGGER USER",
        AlterTableType::AtEnableRule => "ENABLE RULE",
        AlterTableType::AtEnableAlwaysRule => "ENABLE ALWAYS RULE",
        AlterTableType::AtEnableReplicaRule => "ENABLE REPLICA RULE",
        AlterTableType::AtDisableRule => "DISABLE RULE",
        AlterTableType::AtAddInherit => "INHERIT",
        AlterTableType::AtDropInherit => "NO INHERIT",
        AlterTableType::AtAddOf => "OF",
        AlterTableType::AtDropOf => "NOT OF",
        AlterTableType::AtReplicaIdentity => "REPLICA IDENTITY",
        AlterTableType::AtEnableRowSecurity => "ENABLE ROW SECURITY",
        AlterTableType::AtDisableRowSecurity => "DISABLE ROW SECURITY",
        AlterTableType::AtForceRowSecurity => "FORCE ROW SECURITY",
        AlterTableType::AtNoForceRowSecurity => "NO FORCE ROW SECURITY",
        AlterTableType::AtAttachPartition => "ATTACH PARTITION",
        AlterTableType::AtDetachPartition => "DETACH PARTITION",
        AlterTableType::AtDetachPartitionFinalize => "DETACH PARTITION ... FINALIZE",
        AlterTableType::AtAddIdentity => "ALTER COLUMN ... ADD IDENTITY",
        AlterTableType::AtSetIdentity => "ALTER COLUMN ... SET",
        AlterTableType::AtDropIdentity => "ALTER COLUMN ... DROP IDENTITY",
        _ => "of this kind",
    }
}

const fn tag(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::ObjectView => "ALTER VIEW",
        _ => "ALTER TABLE",
    }
}

fn options_of(view: &Relation) -> ViewOptions {
    match &view.kind {
        RelationKind::View { options, .. } => options.clone(),
        _ => ViewOptions::default(),
    }
}

/// Options as they are written, each known and with a value that it can have.
fn given_options(nodes: &[Node]) -> Result<ViewOptions> {
    let mut options = ViewOptions::default();
    let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
    for node in nodes {
        let Some(N::DefElem(option)) = &node.node else { continue };
        let name = option.defname.as_str();
        if !option.defnamespace.is_empty() {
            return Err(invalid(format!("unrecognized parameter namespace \"{}\"", option.defnamespace)));
        }
        let value = if option.arg.is_none() { "true".to_owned() } else { text_of(option.arg.as_deref()) };
        match name {
            "check_option" if matches!(value.as_str(), "local" | "cascaded") => {}
            "check_option" => {
                return Err(invalid(format!("invalid value for enum option \"check_option\": {value}"))
                    .detail("Valid values are \"local\" and \"cascaded\"."));
            }
            "security_barrier" | "security_invoker" if crate::values::boolean::parse(&value).is_ok() => {}
            "security_barrier" | "security_invoker" => {
                return Err(invalid(format!("invalid value for boolean option \"{name}\": {value}")));
            }
            _ => return Err(invalid(format!("unrecognized parameter \"{name}\""))),
        }
        if options.0.iter().any(|(known, _)| known == name) {
            return Err(invalid(format!("parameter \"{name}\" specified more than once")));
        }
        options.0.push((name.to_owned(), value));
    }
    Ok(options)
}
