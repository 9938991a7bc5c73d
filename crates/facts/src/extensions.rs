//! Extensions that are here, and what they bring: rows of the same catalogs, with object ids of ours.
//!
//! An extension's members have the same object ids in every file: those of its block, between PostgreSQL's own and the
//! first of users' objects. Tables of PostgreSQL's own rows ([`Type::all`] and its kin) do not have them, look-ups by object
//! id find them.

use std::ops::Range;
use std::sync::LazyLock;

use crate::read::facts;
use crate::{AccessMethod, Aggregate, Cast, Function, Operator, OperatorClass, OperatorFamily, Type};

facts! {
    /// An extension.
    Extension from "extensions.tsv" {
        /// Its name.
        name: &'static str,
        /// The one version that is here.
        version: &'static str,
        /// It can be moved to another schema.
        relocatable: bool,
        /// The first object id of its block.
        first: u32,
        /// How many there are in the block.
        size: u32,
    }
}

/// The object ids of all blocks.
const BLOCKS: Range<u32> = 14_000..16_000;

impl Extension {
    /// The extension of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|extension| extension.name == name)
    }

    /// The extension that has a member with an object id.
    pub fn of(oid: u32) -> Option<&'static Self> {
        Self::has(oid).then(|| Self::all().iter().find(|extension| extension.block().contains(&oid))).flatten()
    }

    /// True for object ids of members of extensions.
    pub const fn has(oid: u32) -> bool {
        oid >= BLOCKS.start && oid < BLOCKS.end
    }

    /// The object ids of its members.
    pub const fn block(&self) -> Range<u32> {
        self.first..self.first + self.size
    }
}

macro_rules! members {
    ($($kind:ident from $file:literal by $oid:ident, $method:ident, $word:literal;)*) => {$(
        impl $kind {
            /// Those of extensions, by object id.
            pub fn of_extensions() -> &'static [Self] {
                static ALL: LazyLock<Vec<$kind>> =
                    LazyLock::new(|| $kind::table(include_str!(concat!("../data/", $file))));
                &ALL
            }
        }

        impl Extension {
            #[doc = concat!("Its ", $word, ".")]
            pub fn $method(&self) -> &'static [$kind] {
                let all = $kind::of_extensions();
                let at = |oid: u32| all.partition_point(|row| row.$oid < oid);
                &all[at(self.block().start)..at(self.block().end)]
            }
        }
    )*};
}

members! {
    AccessMethod from "extension_access_methods.tsv" by oid, access_methods, "access methods";
    Aggregate from "extension_aggregates.tsv" by function, aggregates, "aggregates";
    Cast from "extension_casts.tsv" by oid, casts, "casts";
    Function from "extension_functions.tsv" by oid, functions, "functions";
    Operator from "extension_operators.tsv" by oid, operators, "operators";
    OperatorClass from "extension_operator_classes.tsv" by oid, operator_classes, "operator classes";
    OperatorFamily from "extension_operator_families.tsv" by oid, operator_families, "operator families";
    Type from "extension_types.tsv" by oid, types, "types";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_their_ids() {
        let hstore = Extension::named("hstore").unwrap();
        let ty = hstore.types()[0].clone();
        assert_eq!((ty.name, Type::by_oid(ty.oid)), ("hstore", Some(&ty)));
        assert_eq!(Extension::of(ty.oid), Some(hstore));
        assert_eq!((Extension::of(23), Type::named("hstore")), (None, None));
        let citext = Extension::named("citext").unwrap().types()[0].oid;
        assert_eq!(Cast::between(citext, 25).map(|cast| cast.context), Some('i'));
        let arrow = hstore.operators().iter().find(|operator| operator.name == "->").unwrap();
        assert_eq!(Function::by_oid(arrow.function).unwrap().source, "hstore_fetchval");
    }

    #[test]
    fn blocks_do_not_meet_and_have_all_members() {
        for pair in Extension::all().windows(2) {
            assert!(pair[0].block().end <= pair[1].first, "{} {}", pair[0].name, pair[1].name);
        }
        let has = |oid: u32| Extension::of(oid).is_some();
        assert!(Type::of_extensions().iter().all(|ty| has(ty.oid)));
        assert!(Function::of_extensions().iter().all(|function| has(function.oid)));
        assert!(Operator::of_extensions().iter().all(|operator| has(operator.oid)));
        let count: usize = Extension::all().iter().map(|extension| extension.functions().len()).sum();
        assert_eq!(count, Function::of_extensions().len());
        for row in Operator::of_extensions() {
            assert!(Function::by_oid(row.function).is_some(), "{row:?}");
        }
    }
}
