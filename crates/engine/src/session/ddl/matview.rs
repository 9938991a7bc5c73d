//! Materialised views: tables with a query of which their rows are.

use std::sync::Arc;

use rowferry_dialect::Language;
use rowferry_dialect::ir::{RefreshView, Statement as Ir};
use rowferry_dialect::pins::Pins;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::values::record;
use rowferry_dialect::{Condition, Error, Result};

use super::constraints::shown;
use super::{Changer, Done, Failed};
use crate::backend::Failure;
use crate::schema::UNPOPULATED;
use crate::session::transaction::Block;
use crate::session::{Outcome, Prepared, Session};

impl Session {
    /// Refuses to read a materialised view that nobody has refreshed.
    pub(in crate::session) fn check_populated(&mut self, prepared: &Arc<Prepared>) -> Result<()> {
        let plan = self.renew(prepared)?;
        let own = match &plan.bound.statement {
            // Nothing runs.
            Ir::CreateTableAs(create) if create.no_data => return Ok(()),
            Ir::Explain(explain) if !explain.analyze => return Ok(()),
            Ir::Ddl(_) | Ir::Lock(_) => return Ok(()),
            Ir::RefreshView(refresh) => Some(refresh.view.oid),
            _ => None,
        };
        for table in plan.uses.tables.iter().filter(|table| own != Some(table.relation.oid)) {
            if let RelationKind::MaterializedView { populated: false, .. } = table.relation.kind {
                let message = format!("materialized view \"{}\" has not been populated", table.relation.name);
                return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message)
                    .hint("Use the REFRESH MATERIALIZED VIEW command."));
            }
        }
        Ok(())
    }

    pub(in crate::session) fn refresh_view(&mut self, prepared: &Arc<Prepared>) -> Result<Outcome> {
        self.open_change(prepared, "REFRESH MATERIALIZED VIEW")?;
        self.drop_checks()?;
        let plan = self.renew(prepared)?;
        let Ir::RefreshView(refresh) = &plan.bound.statement else {
            return Err(Error::internal("REFRESH without a view"));
        };
        self.change_schema(|changer| {
            changer.check_owner(&refresh.view)?;
            changer.refresh(refresh)
        })?;
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(Outcome::Done { command: plan.command, rows: 0 })
    }
}

impl Changer<'_> {
    /// Notes what a materialised view's query needs and means.
    pub(super) fn record_query(&self, oid: u32, definition: &str, populated: bool) -> Done {
        let uses = self.session.uses(definition, None, Language::Postgres, &self.schema())?;
        self.record_needs("main", oid, &uses.dependencies())?;
        self.record_pins("main", oid, &Pins::of(&uses))?;
        self.set_populated(oid, populated)
    }

    fn set_populated(&self, oid: u32, populated: bool) -> Done {
        self.set_property("main", oid, "", UNPOPULATED, (!populated).then_some("true"))
    }

    fn refresh(&self, refresh: &RefreshView) -> Done {
        let view = &refresh.view;
        let RelationKind::MaterializedView { populated, .. } = view.kind else {
            return Err(Error::internal("REFRESH of another kind of relation").into());
        };
        self.store.empty(view)?;
        if populated != refresh.query.is_some() {
            self.set_populated(view.oid, refresh.query.is_some())?;
        }
        match self.insert_rows(refresh) {
            Err(Failed::Storage(failure)) if failure.breaks_unique_key() => Err(self.duplicate_rows(refresh, failure)),
            result => result,
        }
    }

    fn insert_rows(&self, refresh: &RefreshView) -> Done {
        let Some(query) = &refresh.query else { return Ok(()) };
        let physical = &refresh.view.physical;
        let (state, settings) = (&self.session.state, self.session.settings());
        self.store.insert_query((physical.database, &physical.name), query, &[], &settings, state).map(|_| ())
    }

    /// The new rows break a unique index: which, and by what. The change is undone afterwards, so the rows may come in
    /// without the indexes first.
    fn duplicate_rows(&self, refresh: &RefreshView, failure: Failure) -> Failed {
        let view = &refresh.view;
        let names = self.schema().details(view.oid).map(|details| details.index_names.clone()).unwrap_or_default();
        let unique: Vec<usize> = (0..view.indexes.len()).filter(|at| view.indexes[*at].unique).collect();
        let look = || -> Done<Option<Failed>> {
            for at in &unique {
                if let Some(name) = names.get(*at) {
                    self.store.drop_index(view, name)?;
                }
            }
            self.insert_rows(refresh)?;
            if refresh.concurrently
                && let Some(row) = self.row_twice(view)
            {
                let message = format!(
                    "new data for materialized view \"{}\" contains duplicate rows without any null columns",
                    view.name
                );
                let error = Error::new(Condition::CardinalityViolation, message).detail(format!("Row: {row}"));
                return Ok(Some(error.into()));
            }
            for at in &unique {
                let index = &view.indexes[*at];
                let Some(columns) = index.columns.iter().copied().collect::<Option<Vec<usize>>>() else { continue };
                if let Some(values) = self.shared_values(view, &columns) {
                    return Ok(Some(duplicate_key(refresh, index, &columns, &values).into()));
                }
            }
            Ok(None)
        };
        match look() {
            Ok(Some(failed)) | Err(failed) => failed,
            Ok(None) => failure.into(),
        }
    }

    /// Values that rows share, as PostgreSQL shows them.
    fn shared_values(&self, view: &Relation, columns: &[usize]) -> Option<String> {
        let values = self.store.shared_by_rows(view, columns)?;
        shown(&values, view, columns, &self.session.settings())
    }

    /// A row without NULLs that is there twice.
    fn row_twice(&self, view: &Relation) -> Option<String> {
        let columns: Vec<usize> = (0..view.columns.len()).collect();
        let values = self.store.shared_by_rows(view, &columns)?;
        let show = |at: usize| shown(&values[at..=at], view, &columns[at..=at], &self.session.settings());
        let shown: Option<Vec<String>> = columns.iter().map(|at| show(*at)).collect();
        Some(record::output(shown?.iter().map(|value| Some(value.as_str()))))
    }
}

/// A refresh makes the indexes anew; a concurrent one brings rows into them.
fn duplicate_key(
    refresh: &RefreshView,
    index: &rowferry_dialect::schema::Index,
    columns: &[usize],
    values: &str,
) -> Error {
    let view = &refresh.view;
    let names: Vec<&str> = columns.iter().map(|at| view.columns[*at].name.as_str()).collect();
    let (message, detail) = if refresh.concurrently {
        (format!("duplicate key value violates unique constraint \"{}\"", index.name), "already exists")
    } else {
        (format!("could not create unique index \"{}\"", index.name), "is duplicated")
    };
    Error::new(Condition::UniqueViolation, message)
        .detail(format!("Key ({})=({values}) {detail}.", names.join(", ")))
        .table(view.namespace.clone(), view.name.clone())
        .constraint(index.name.clone())
}
