//! Transition tables: a statement's rows as tables that the trigger's function can ask.
//!
//! Each is a temporary table of the back end's under a name that users cannot have, and for the time of the call the schema has
//! it under the name that the trigger gives it.

use std::sync::Arc;

use rowferry_dialect::Result;
use rowferry_dialect::ir::{ColumnDefinition, CreateTable};
use rowferry_dialect::schema::{Column, Physical, QualifiedName, Relation, RelationKind};

use super::super::Session;
use super::queue::{Event, Row};
use crate::schema::{Overlay, PG_TEMP, metadata};

impl Session {
    /// Shows the tables that a trigger wants; yields what was shown before.
    pub(super) fn show_transition_tables(&mut self, event: &Event) -> Result<Option<Arc<Overlay>>> {
        let rows = event.rows();
        let mut relations = Vec::new();
        let wanted = [(&event.trigger.old_table, &rows.old), (&event.trigger.new_table, &rows.new)];
        for (at, (name, rows)) in wanted.into_iter().enumerate() {
            if let Some(name) = name {
                relations.push(Arc::new(self.fill_table(&event.relation, name, at, rows)?));
            }
        }
        let before = self.schema.overlay.replace(Arc::new(Overlay::new(relations)));
        self.schema_moved();
        Ok(before)
    }

    /// The call is over.
    pub(super) fn hide_transition_tables(&mut self, before: Option<Arc<Overlay>>) {
        self.schema.overlay = before;
        self.schema_moved();
    }

    fn fill_table(&mut self, of: &Relation, name: &str, at: usize, rows: &[Row]) -> Result<Relation> {
        let depth = self.state.trigger_depth.load(std::sync::atomic::Ordering::Relaxed);
        let physical = format!("rowferry_transition_{depth}_{at}");
        let columns = of.columns.iter().map(|column| ColumnDefinition {
            collation: column.collation.clone(),
            ..ColumnDefinition::plain(&column.name, column.ty.clone())
        });
        let table = CreateTable {
            name: QualifiedName::new(PG_TEMP, physical.clone()),
            temporary: true,
            on_commit: rowferry_dialect::ir::OnCommit::PreserveRows,
            if_not_exists: false,
            language: of.language,
            columns: columns.collect(),
            constraints: Vec::new(),
            properties: Vec::new(),
            likes: Vec::new(),
            parents: Vec::new(),
            partition: None,
        };
        let handle = self.handle()?;
        let guard = handle.lock();
        let filled = guard.make_temporary(&table, &physical, rows.iter().map(|row| &row[..]))?;
        self.checked(filled)?;
        let plain = |column: &Column| Column {
            not_null: false,
            default: None,
            identity: None,
            generated: None,
            row_identity: false,
            collation: None,
            ..column.clone()
        };
        Ok(Relation {
            oid: metadata::derived_oid("transition", "temp", &[&physical]),
            namespace: PG_TEMP.to_owned(),
            name: name.to_owned(),
            physical: Physical { database: "temp", name: physical },
            language: of.language,
            kind: RelationKind::Table,
            columns: of.columns.iter().map(plain).collect(),
            dropped: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            without_identity: false,
            triggers: Vec::new(),
            heritage: None,
            partitioning: None,
            security: None,
            rules: Vec::new(),
        })
    }
}
