//! CREATE ROW TYPE, CREATE DISTINCT TYPE, CREATE CAST and CREATE AGGREGATE in Informix's SQL.

use rowferry_dialect::informix::casts::Definition;
use rowferry_dialect::informix::type_words;
use rowferry_dialect::ir::{CreateAggregate, CreateInformixCast, CreateType};
use rowferry_dialect::user_type::{Domain, UserKind, UserType};
use rowferry_dialect::{Language, Schema as _, Type};

use super::{Changer, Done};
use crate::schema::PUBLIC;

impl Changer<'_> {
    pub(super) fn create_type(&self, create: &CreateType) -> Done {
        if create.is_row {
            let words = type_words(&create.ty);
            self.record("main", "row type", PUBLIC, &create.name, None, Language::Informix, Some(words.as_str()))?;
        } else {
            self.create_distinct_type(&create.name, &create.ty)?;
        }
        self.bump()
    }

    /// A DISTINCT type is a domain that has casts of its own, from its source type and to it.
    fn create_distinct_type(&self, name: &str, source: &Type) -> Done {
        // Its own object id is not known before there is a row.
        let oid = self.record("main", "distinct type", PUBLIC, name, None, Language::Informix, Some("{}"))?;
        let (array_oid, base) = (self.new_oid()?, source.clone());
        let (default, checks, collation) = (None, Vec::new(), None);
        let domain = Domain { base, not_null: false, default, checks, collation, distinct: true };
        let (namespace, name, kind) = (PUBLIC.to_owned(), name.to_owned(), UserKind::Domain(domain));
        self.store_type(&UserType { oid, array_oid, namespace, name, comment: None, kind })?;
        for cast in Definition::of_distinct(oid, source, &self.schema()) {
            self.record_cast(&cast.entry(), &cast.to_text())?;
        }
        Ok(())
    }

    pub(super) fn create_informix_cast(&self, create: &CreateInformixCast) -> Done {
        self.record_cast(&create.name, &create.words)?;
        self.bump()
    }

    fn record_cast(&self, name: &str, words: &str) -> Done<u32> {
        self.record("main", "informix cast", PUBLIC, name, None, Language::Informix, Some(words))
    }

    pub(super) fn create_informix_aggregate(&self, create: &CreateAggregate) -> Done {
        let words = Some(create.words.as_str());
        self.record("main", "informix aggregate", PUBLIC, &create.name, None, Language::Informix, words)?;
        self.bump()
    }

    /// DROP TYPE: with the casts that came with it.
    pub(super) fn drop_type(&self, oid: u32) -> Done {
        match self.schema().user_type_by_oid(oid) {
            Some(ty) => self.drop_user_types(std::slice::from_ref(&ty), false)?,
            None => self.forget("main", oid)?,
        }
        self.bump()
    }

    /// The casts made in Informix's SQL that name a type go with it.
    pub(super) fn forget_informix_casts_of(&self, oid: u32) -> Done {
        for cast in self.schema().informix_casts().iter().filter(|cast| cast.definition.names(oid)) {
            self.forget("main", cast.oid)?;
        }
        Ok(())
    }

    /// Something that is nothing but its entry goes.
    pub(super) fn drop_entry(&self, oid: u32) -> Done {
        self.forget("main", oid)?;
        self.bump()
    }
}
