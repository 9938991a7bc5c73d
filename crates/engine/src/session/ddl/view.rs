//! A view's options and defaults, and its names.

use rowferry_dialect::Schema as _;
use rowferry_dialect::ir::AlterView;
use rowferry_dialect::schema::{Relation, ViewOptions};
use rowferry_dialect::{Condition, Error, Language};

use super::dependencies::Needed;
use super::new_names::NewNames;
use super::{Changer, Done};
use crate::backend::Fact;

impl Changer<'_> {
    pub(super) fn alter_view(&self, view: &Relation, actions: &[AlterView]) -> Done {
        for action in actions {
            self.touch(view.physical.database, view.oid);
            match action {
                AlterView::Default { column, default } => {
                    let text = default.as_ref().map(|default| default.text.as_str());
                    self.store.set_view_default(view, *column, text)?;
                }
                AlterView::Options(options) => self.record_view_options(view.physical.database, view.oid, options)?,
                AlterView::Rename(to) => self.rename_view(view, to)?,
                AlterView::RenameColumn { column, to } => self.rename_view_column(view, *column, to)?,
            }
        }
        Ok(())
    }

    /// Options are one property, in the order in which they were given.
    pub(super) fn record_view_options(&self, database: &'static str, oid: u32, options: &ViewOptions) -> Done {
        let texts: Vec<String> = options.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let value = texts.join(",");
        self.set_property(database, oid, "", "reloptions", (!texts.is_empty()).then_some(value.as_str()))
    }

    fn rename_view(&self, view: &Relation, to: &str) -> Done {
        self.is_free(&view.namespace, to, false)?;
        let users = self.rewritten_views(view, None, to)?;
        let policies = self.rewritten_policies(view, None, to)?;
        let renamed = self.rename_in_texts(&NewNames::of(view.oid, &view.name, &view.namespace, Some(to)))?;
        let native = self.forget_native_views(view)?;
        self.rename_rows_in_functions(view, &view.namespace, to)?;
        self.store.change_entry(view.physical.database, view.oid, Fact::Name, Some(to))?;
        self.settle()?;
        native.iter().try_for_each(|oid| self.make_native_view(*oid))?;
        self.rewrite_policies(policies)?;
        self.rewrite_views(view, users)?;
        self.check_renamed(&renamed)
    }

    /// ALTER VIEW … SET SCHEMA.
    pub(super) fn move_view(&self, view: &Relation, namespace: &str) -> Done {
        if self.collision(namespace, &view.name).is_some() {
            let message = format!("relation \"{}\" already exists in schema \"{namespace}\"", view.name);
            return Err(Error::new(Condition::DuplicateTable, message).into());
        }
        let renamed = self.rename_in_texts(&NewNames::of(view.oid, &view.name, namespace, None))?;
        self.settle()?;
        let schema = self.schema();
        let Some(view) = schema.relation_by_oid(view.oid) else { return Err(gone().into()) };
        self.place_view(&view, namespace)?;
        self.check_renamed(&renamed)
    }

    /// A view is in another schema from now on.
    pub(super) fn place_view(&self, view: &Relation, namespace: &str) -> Done {
        self.pin_views(view)?;
        if self.schema().users(view.oid).any(|(user, _)| user.language == Language::Informix) {
            return Err(Error::unsupported(format!("SET SCHEMA of view \"{}\", which views use,", view.name)).into());
        }
        self.touch(view.physical.database, view.oid);
        for dependent in self.dependents(vec![Needed::relation(&self.schema(), view)]) {
            self.touch(dependent.view.physical.database, dependent.view.oid);
        }
        let native = self.forget_native_views(view)?;
        self.rename_rows_in_functions(view, namespace, &view.name)?;
        self.store.change_entry(view.physical.database, view.oid, Fact::Namespace, Some(namespace))?;
        self.settle()?;
        native.iter().try_for_each(|oid| self.make_native_view(*oid))
    }

    fn rename_view_column(&self, view: &Relation, column: usize, to: &str) -> Done {
        let users = self.rewritten_views(view, Some(column), to)?;
        let policies = self.rewritten_policies(view, Some(column), to)?;
        let native = self.forget_native_views(view)?;
        self.store.rename_view_column(view, column, to)?;
        if let Some(named) = &view.columns[column].collation {
            let (database, property) = (view.physical.database, rowferry_dialect::collation::PROPERTY);
            self.set_property(database, view.oid, &view.columns[column].name, property, None)?;
            self.set_property(database, view.oid, to, property, Some(&named.property()))?;
        }
        self.settle()?;
        native.iter().try_for_each(|oid| self.make_native_view(*oid))?;
        self.rewrite_policies(policies)?;
        self.rewrite_views(view, users)
    }

    /// Takes a view from where others see it, with those that name it there; tells which are to come back.
    fn forget_native_views(&self, view: &Relation) -> Done<Vec<u32>> {
        let schema = self.schema();
        let users = schema.users(view.oid).map(|(user, _)| user).filter(|user| user.language != Language::Informix);
        let mut native = Vec::new();
        for view in std::iter::once(view).chain(users.map(|user| &**user)) {
            if schema.details(view.oid).is_some_and(|details| details.native_view) {
                self.touch(view.physical.database, view.oid);
                self.drop_native_view(view)?;
                native.push(view.oid);
            }
        }
        Ok(native)
    }

    /// Keeps a view where others see it, too, if it can be expressed there.
    fn make_native_view(&self, oid: u32) -> Done {
        let schema = self.schema();
        let Some(view) = schema.relation_by_oid(oid) else { return Err(gone().into()) };
        if view.language == Language::Informix {
            return Ok(());
        }
        let mut query = self.session.bind_view(&view, &schema)?;
        for (column, declared) in query.columns.iter_mut().zip(&view.columns) {
            column.name.clone_from(&declared.name);
        }
        if view.physical.name != view.name || self.reads_family(&query) {
            return Ok(());
        }
        if self.store.make_view(view.physical.database, &view.name, &query) {
            self.store.note_view(&view, true)?;
            self.touch(view.physical.database, oid);
        }
        Ok(())
    }
}

fn gone() -> Error {
    Error::internal("a view has vanished")
}
