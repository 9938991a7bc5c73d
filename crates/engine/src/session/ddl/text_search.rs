//! CREATE, ALTER and DROP of configurations and dictionaries of text search.

use std::sync::Arc;

use rowferry_dialect::ir::SearchChange;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::text_search::{Body, Kind, SearchObject};
use rowferry_dialect::{Condition, Error, Language, Schema as _};

use super::{Changer, Done, cannot_drop, described};
use crate::backend::Fact;
use crate::schema::PUBLIC;

impl Changer<'_> {
    pub(super) fn change_search_objects(&self, change: &SearchChange) -> Done {
        let update = |object: &SearchObject, fact: Fact, value: Option<&str>| -> Done {
            self.store.change_entry("main", object.oid, fact, value)?;
            self.touch("main", object.oid);
            Ok(())
        };
        match change {
            SearchChange::Create { kind, name, body } => self.create_search_object(*kind, name, body)?,
            SearchChange::Alter { object, body } => update(object, Fact::Definition, Some(&body.definition()))?,
            SearchChange::Move { object, to } => {
                self.refuse_users_of_search_object(object)?;
                update(object, Fact::Name, Some(&to.name))?;
                update(object, Fact::Namespace, to.schema.as_deref())?;
            }
            SearchChange::Comment { object, text } => update(object, Fact::Comment, text.as_deref())?,
            SearchChange::Drop { objects, cascade, .. } => {
                objects.iter().try_for_each(|object| self.drop_search_object(object, *cascade))?;
            }
        }
        self.bump()
    }

    fn create_search_object(&self, kind: Kind, name: &QualifiedName, body: &Body) -> Done {
        let namespace = name.schema.as_deref().unwrap_or(PUBLIC);
        let schema = self.schema();
        if schema.search_object(kind, name).is_some() {
            let (table, index, columns) = match kind {
                Kind::Dictionary => ("pg_ts_dict", "pg_ts_dict_dictname_index", "dictname, dictnamespace"),
                Kind::Configuration => ("pg_ts_config", "pg_ts_config_cfgname_index", "cfgname, cfgnamespace"),
            };
            let message = format!("duplicate key value violates unique constraint \"{index}\"");
            let values = format!("{}, {}", name.name, schema.namespace_oid(namespace));
            return Err(Error::new(Condition::UniqueViolation, message)
                .detail(format!("Key ({columns})=({values}) already exists."))
                .table("pg_catalog", table)
                .constraint(index)
                .into());
        }
        let definition = body.definition();
        self.record("main", kind.stored(), namespace, &name.name, None, Language::Postgres, Some(&definition))?;
        Ok(())
    }

    /// The views that name an object as a constant.
    fn views_with(&self, object: &SearchObject) -> Vec<Arc<Relation>> {
        self.schema().users(object.oid).map(|(view, _)| view.clone()).collect()
    }

    /// A view's text goes on naming what it names.
    fn refuse_users_of_search_object(&self, object: &SearchObject) -> Done {
        match self.views_with(object).first() {
            Some(view) => {
                let what = format!(
                    "a new name of {} \"{}\", which view \"{}\" names",
                    object.kind().words(),
                    object.name,
                    view.name
                );
                Err(Error::unsupported(what).into())
            }
            None => Ok(()),
        }
    }

    pub(super) fn drop_search_object(&self, object: &Arc<SearchObject>, cascade: bool) -> Done {
        let schema = self.schema();
        if schema.search_object_by_oid(object.oid).is_none() {
            // It has gone with another.
            return Ok(());
        }
        let words = |object: &SearchObject| format!("{} {}", object.kind().words(), object.shown(&schema));
        let shown = words(object);
        let asks = |known: &&Arc<SearchObject>| match &known.body {
            Body::Configuration(map) => map.values().any(|dictionaries| dictionaries.contains(&object.oid)),
            Body::Dictionary(_) => false,
        };
        let configurations: Vec<_> = schema.main.search_objects.iter().filter(asks).cloned().collect();
        let views = self.views_with(object);
        let lines: Vec<String> = configurations
            .iter()
            .map(|known| words(known))
            .chain(views.iter().map(|view| described(&schema, view)))
            .collect();
        if !(cascade || lines.is_empty()) {
            let lines: Vec<_> = lines.into_iter().map(|line| (line, shown.clone())).collect();
            return Err(cannot_drop(&shown, &lines));
        }
        self.tell_cascade(&lines);
        for configuration in &configurations {
            self.drop_search_object(configuration, true)?;
        }
        views.iter().try_for_each(|view| self.drop_view(view))?;
        self.drop_policies_of_function(object.oid, &shown, cascade)?;
        self.drop_domain_checks_of_function(object.oid, &shown, cascade)?;
        self.forget("main", object.oid)?;
        self.settle()
    }
}
