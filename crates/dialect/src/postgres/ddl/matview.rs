//! Materialised views: CREATE, REFRESH, ALTER.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTableType, ObjectType, node::Node as N};

use super::super::binder::Binder;
use super::super::raw;
use super::view::cannot_alter;
use crate::ir::{AlterTable, Ddl, ExprKind, Query, RefreshView, Statement, walk};
use crate::schema::{Relation, RelationKind};
use crate::{Condition, Error, Result};

/// What the statements about them are called.
pub(super) const ALTER: &str = "ALTER MATERIALIZED VIEW";

impl Binder<'_> {
    /// The text that a materialised view keeps of its query.
    pub(super) fn materialized_text(&mut self, select: &pg::SelectStmt, query: &Query) -> Result<String> {
        let refused = |message: &str| Err(Error::new(Condition::FeatureNotSupported, message));
        let changes = |node: &pg::Node| match &node.node {
            Some(N::CommonTableExpr(cte)) => {
                !matches!(cte.ctequery.as_deref().and_then(|node| node.node.as_ref()), Some(N::SelectStmt(_)) | None)
            }
            _ => false,
        };
        if select.with_clause.as_ref().is_some_and(|with| with.ctes.iter().any(changes)) {
            return refused("materialized views must not use data-modifying statements in WITH");
        }
        let text = raw::print_select(select).ok_or_else(|| Error::unsupported("this query in a view"))?;
        let uses = super::super::bind::uses((&text, self.language), None, self.schema, self.context)?;
        if uses.relations.iter().any(|named| named.relation.is_temporary()) {
            return refused("materialized views must not use temporary tables or views");
        }
        if names_parameters(query) {
            return refused("materialized views may not be defined using bound parameters");
        }
        Ok(self.without_stars(self.query_in_schemas(text)))
    }

    /// REFRESH MATERIALIZED VIEW.
    pub(super) fn refresh_view(&mut self, refresh: &pg::RefreshMatViewStmt) -> Result<Statement> {
        let Some(range) = &refresh.relation else { return Err(Error::internal("REFRESH of nothing")) };
        let view = self.relation(range)?;
        let (RelationKind::MaterializedView { populated, .. }, Some((definition, pins))) =
            (&view.kind, view.definition())
        else {
            return Err(match view.kind {
                RelationKind::Table => {
                    let message = format!("\"{}\" is not a materialized view", view.name);
                    Error::new(Condition::FeatureNotSupported, message)
                }
                _ => {
                    let message = format!("\"{}\" is not a table or materialized view", view.name);
                    Error::new(Condition::WrongObjectType, message)
                }
            });
        };
        if refresh.concurrent {
            check_concurrent(&view, *populated, refresh.skip_data)?;
        }
        let query = if refresh.skip_data {
            None
        } else {
            // Its owner reads, whoever refreshes it.
            self.views.push(view.oid);
            let bound = self.definition_query(&view.name, (definition, view.language), Some(pins));
            self.views.pop();
            Some(bound?.query)
        };
        let concurrently = refresh.concurrent;
        Ok(Statement::RefreshView(Box::new(RefreshView { view: view.clone(), query, concurrently })))
    }

    /// ALTER MATERIALIZED VIEW, and ALTER TABLE of one.
    pub(super) fn alter_materialized(&mut self, alter: &pg::AlterTableStmt) -> Result<Statement> {
        let Some(range) = &alter.relation else { return Err(Error::internal("ALTER without a view")) };
        if alter.missing_ok && self.relation(range).is_err() {
            self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
            return Ok(Statement::Nothing { tag: ALTER });
        }
        let view = self.materialized_view(range)?;
        let mut actions = Vec::new();
        for node in &alter.cmds {
            let Some(N::AlterTableCmd(command)) = &node.node else { continue };
            if !is_allowed(command.subtype()) {
                return Err(cannot_alter(command.subtype(), &view));
            }
            match self.property_action(command, &view, range.location)? {
                Some(found) => actions.extend(found),
                None => return Err(cannot_alter(command.subtype(), &view)),
            }
        }
        if actions.is_empty() {
            return Ok(Statement::Nothing { tag: ALTER });
        }
        Ok(Statement::Ddl(Box::new(Ddl::AlterTable { table: view, actions, heirs: Vec::new() })))
    }

    /// RENAME of one, or of its column.
    pub(super) fn rename_materialized(&mut self, rename: &pg::RenameStmt, view: Arc<Relation>) -> Result<Statement> {
        if !view.is_materialized() {
            return Err(not_materialized(&view));
        }
        let action = match rename.rename_type() {
            ObjectType::ObjectColumn => {
                let column = self.renamed_column(rename, &view)?;
                AlterTable::RenameColumn { column, to: rename.newname.clone() }
            }
            _ => {
                self.check_new_name(rename, &view)?;
                AlterTable::RenameTable(rename.newname.clone())
            }
        };
        Ok(Statement::Ddl(Box::new(Ddl::AlterTable { table: view, actions: vec![action], heirs: Vec::new() })))
    }

    /// A materialised view that a statement names as one.
    pub(in crate::postgres) fn materialized_view(&mut self, range: &pg::RangeVar) -> Result<Arc<Relation>> {
        let relation = self.relation(range)?;
        if relation.is_materialized() { Ok(relation) } else { Err(not_materialized(&relation)) }
    }
}

/// True for a query that cannot be kept, because it names parameters.
pub(super) fn names_parameters(query: &Query) -> bool {
    let mut found = false;
    walk::query(query, &mut |expr| {
        found |= matches!(expr.kind, ExprKind::Param(_));
        true
    });
    found
}

fn not_materialized(relation: &Relation) -> Error {
    Error::new(Condition::WrongObjectType, format!("\"{}\" is not a materialized view", relation.name))
}

/// Changes that ask nothing of the rows.
const fn is_allowed(command: AlterTableType) -> bool {
    matches!(
        command,
        AlterTableType::AtSetStatistics
            | AlterTableType::AtSetStorage
            | AlterTableType::AtSetCompression
            | AlterTableType::AtSetOptions
            | AlterTableType::AtResetOptions
            | AlterTableType::AtSetRelOptions
            | AlterTableType::AtResetRelOptions
            | AlterTableType::AtClusterOn
            | AlterTableType::AtDropCluster
            | AlterTableType::AtSetTableSpace
            | AlterTableType::AtSetAccessMethod
    )
}

/// CONCURRENTLY compares the rows that are there with those that there will be, by a unique key.
fn check_concurrent(view: &Relation, populated: bool, no_data: bool) -> Result<()> {
    if !populated {
        let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    if no_data {
        let message = "CONCURRENTLY and WITH NO DATA options cannot be used together";
        return Err(Error::new(Condition::SyntaxError, message));
    }
    let is_key = |index: &crate::schema::Index| {
        index.unique && index.predicate.is_none() && index.columns.iter().all(Option::is_some)
    };
    if view.indexes.iter().any(is_key) {
        return Ok(());
    }
    let quote = super::super::words::quote_ident;
    let message =
        format!("cannot refresh materialized view \"{}.{}\" concurrently", quote(&view.namespace), quote(&view.name));
    Err(Error::new(Condition::ObjectNotInPrerequisiteState, message)
        .hint("Create a unique index with no WHERE clause on one or more columns of the materialized view."))
}
