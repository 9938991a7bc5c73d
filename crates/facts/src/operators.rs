//! Operators and casts.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::read::facts;

facts! {
    /// A row of `pg_operator`.
    Operator from "operators.tsv" {
        /// `oid`
        oid: u32,
        /// `oprname`
        name: &'static str,
        /// `oprkind`: `b`etween its operands, or before (`l`).
        kind: char,
        /// `oprcanmerge`
        can_merge: bool,
        /// `oprcanhash`
        can_hash: bool,
        /// `oprleft`
        left_type: u32,
        /// `oprright`
        right_type: u32,
        /// `oprresult`
        result: u32,
        /// `oprcom`
        commutator: u32,
        /// `oprnegate`
        negator: u32,
        /// `oprcode`
        function: u32,
        /// `oprrest`
        restriction: u32,
        /// `oprjoin`
        join: u32,
    }
}

impl Operator {
    /// The operator with an object id, one of an extension's among them.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        match crate::Extension::has(oid) {
            false => crate::by_oid(Self::all(), oid, |operator| operator.oid),
            true => crate::by_oid(Self::of_extensions(), oid, |operator| operator.oid),
        }
    }

    /// All that have a name.
    pub fn named(name: &str) -> &'static [&'static Self] {
        static NAMES: LazyLock<HashMap<&str, Vec<&Operator>>> =
            LazyLock::new(|| crate::index(Operator::all(), |operator| operator.name));
        NAMES.get(name).map_or(&[], Vec::as_slice)
    }
}

facts! {
    /// A row of `pg_cast`.
    Cast from "casts.tsv" {
        /// `oid`
        oid: u32,
        /// `castsource`
        source: u32,
        /// `casttarget`
        target: u32,
        /// `castfunc`
        function: u32,
        /// `castcontext`: `i`mplicit, in `a`ssignments, `e`xplicit.
        context: char,
        /// `castmethod`: by a `f`unction, by `i`nput and output, `b`inary coercible.
        method: char,
    }
}

impl Cast {
    /// The cast from one type to another, of types of extensions, too. Texts can be cast from and to every type without
    /// one.
    pub fn between(source: u32, target: u32) -> Option<&'static Self> {
        static PAIRS: LazyLock<HashMap<(u32, u32), &Cast>> = LazyLock::new(|| {
            let all = Cast::all().iter().chain(Cast::of_extensions());
            all.map(|cast| ((cast.source, cast.target), cast)).collect()
        });
        PAIRS.get(&(source, target)).copied()
    }
}
