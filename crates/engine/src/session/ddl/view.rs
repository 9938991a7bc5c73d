//! A view's options and defaults, and its names.

use rowferry_dialect::Schema as _;
use rowferry_dialect::ir::AlterView;
use rowferry_dialect::schema::{Relation, ViewOptions};
use rowferry_dialect::{Error, Language};

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
        let native = self.forget_native_views(view)?;
        self.store.change_entry(view.physical.database, view.oid, Fact::Name, Some(to))?;
        self.settle()?;
        native.iter().try_for_each(|oid| self.make_native_view(*oid))?;
        self.rewrite_policies(policies)?;
        self.rewrite_views(view, users)
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
        let Some(view) = schema.relation_by_oid(oid) else { return Err(Error::internal("a view has vanished").into()) };
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
