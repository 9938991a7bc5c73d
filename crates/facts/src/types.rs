//! Types and ranges.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::read::facts;

facts! {
    /// A row of `pg_type`.
    Type from "types.tsv" {
        /// `oid`
        oid: u32,
        /// `typname`
        name: &'static str,
        /// `typlen`: bytes, -1 for any number, -2 up to a zero byte.
        length: i32,
        /// `typbyval`
        by_value: bool,
        /// `typtype`: `b`ase, `c`omposite, `d`omain, `e`num, `p`seudo, `r`ange, `m`ultirange.
        kind: char,
        /// `typcategory`
        category: char,
        /// `typispreferred`: within its category.
        preferred: bool,
        /// `typdelim`: between the members of an array's text.
        delimiter: char,
        /// The relation whose row type it is; `-` for others.
        relation: &'static str,
        /// `typsubscript`
        subscript: u32,
        /// `typelem`
        element: u32,
        /// `typarray`
        array: u32,
        /// `typinput`
        input: u32,
        /// `typoutput`
        output: u32,
        /// `typreceive`
        receive: u32,
        /// `typsend`
        send: u32,
        /// `typmodin`
        modifier_in: u32,
        /// `typmodout`
        modifier_out: u32,
        /// `typanalyze`
        analyze: u32,
        /// `typalign`
        alignment: char,
        /// `typstorage`
        storage: char,
        /// `typcollation`
        collation: u32,
    }
}

impl Type {
    /// The type with an object id, one of an extension's among them.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        match crate::Extension::has(oid) {
            false => crate::by_oid(Self::all(), oid, |ty| ty.oid),
            true => crate::by_oid(Self::of_extensions(), oid, |ty| ty.oid),
        }
    }

    /// The type with a name, as `pg_type` has it (`int4`, `_int4`).
    pub fn named(name: &str) -> Option<&'static Self> {
        static NAMES: LazyLock<HashMap<&str, &Type>> =
            LazyLock::new(|| Type::all().iter().map(|ty| (ty.name, ty)).collect());
        NAMES.get(name).copied()
    }
}

facts! {
    /// A row of `pg_range`.
    Range from "ranges.tsv" {
        /// `rngtypid`
        range: u32,
        /// `rngsubtype`
        subtype: u32,
        /// `rngmultitypid`
        multirange: u32,
        /// `rngcollation`
        collation: u32,
        /// `rngsubopc`
        operator_class: u32,
        /// `rngcanonical`
        canonical: u32,
        /// `rngsubdiff`
        difference: u32,
    }
}
