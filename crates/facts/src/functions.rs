//! Functions, aggregates, and the languages that they are written in.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::read::facts;

facts! {
    /// A row of `pg_proc`: a function, procedure, aggregate or window function.
    Function from "functions.tsv" {
        /// `oid`
        oid: u32,
        /// `proname`
        name: &'static str,
        /// The language's name: `internal`, `c` or `sql`.
        language: &'static str,
        /// `procost`
        cost: f32,
        /// `prorows`
        rows: f32,
        /// `provariadic`: the type of the members of the last argument, which may repeat.
        variadic: u32,
        /// `prosupport`
        support: u32,
        /// `prokind`: `f`unction, `p`rocedure, `a`ggregate, `w`indow function.
        kind: char,
        /// `proleakproof`
        leakproof: bool,
        /// `proisstrict`: NULL in, NULL out.
        strict: bool,
        /// `proretset`: it returns rows.
        returns_set: bool,
        /// `provolatile`: `i`mmutable, `s`table, `v`olatile.
        volatility: char,
        /// `proparallel`
        parallel: char,
        /// `pronargdefaults`: how many of the last arguments may be left out.
        defaults: u32,
        /// `prorettype`
        result: u32,
        /// `proargtypes`: of those that are given.
        arguments: Box<[u32]>,
        /// `proallargtypes`: with those that come out; none when all are given.
        all_arguments: Box<[u32]>,
        /// `proargmodes`, of `all_arguments`.
        modes: Box<[char]>,
        /// `proargnames`, of all arguments; none when they have none.
        names: Box<[&'static str]>,
        /// `proargdefaults` as `pg_get_expr` shows them, one for each argument that may be left out; none has a comma inside.
        default_values: &'static str,
        /// `prosrc`, empty for those in SQL.
        source: &'static str,
    }
}

impl Function {
    /// The function with an object id, one of an extension's among them.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        match crate::Extension::has(oid) {
            false => crate::by_oid(Self::all(), oid, |function| function.oid),
            true => crate::by_oid(Self::of_extensions(), oid, |function| function.oid),
        }
    }

    /// All that have a name.
    pub fn named(name: &str) -> &'static [&'static Self] {
        static NAMES: LazyLock<HashMap<&str, Vec<&Function>>> =
            LazyLock::new(|| crate::index(Function::all(), |function| function.name));
        NAMES.get(name).map_or(&[], Vec::as_slice)
    }
}

facts! {
    /// A row of `pg_aggregate`.
    Aggregate from "aggregates.tsv" {
        /// `aggfnoid`
        function: u32,
        /// `aggkind`: `n`ormal, `o`rdered set, `h`ypothetical set.
        kind: char,
        /// `aggnumdirectargs`
        direct_arguments: u32,
        /// `aggtransfn`
        transition: u32,
        /// `aggfinalfn`
        finish: u32,
        /// `aggcombinefn`
        combine: u32,
        /// `aggserialfn`
        serialize: u32,
        /// `aggdeserialfn`
        deserialize: u32,
        /// `aggmtransfn`
        moving_transition: u32,
        /// `aggminvtransfn`
        moving_inverse: u32,
        /// `aggmfinalfn`
        moving_finish: u32,
        /// `aggfinalextra`
        finish_extra: bool,
        /// `aggmfinalextra`
        moving_finish_extra: bool,
        /// `aggfinalmodify`
        finish_modify: char,
        /// `aggmfinalmodify`
        moving_finish_modify: char,
        /// `aggsortop`
        sort_operator: u32,
        /// `aggtranstype`
        state: u32,
        /// `aggtransspace`
        state_space: u32,
        /// `aggmtranstype`
        moving_state: u32,
        /// `aggmtransspace`
        moving_state_space: u32,
        /// `agginitval` is not NULL.
        has_initial: bool,
        /// `agginitval`
        initial: &'static str,
        /// `aggminitval` is not NULL.
        has_moving_initial: bool,
        /// `aggminitval`
        moving_initial: &'static str,
    }
}

facts! {
    /// A row of `pg_language`.
    Language from "languages.tsv" {
        /// `oid`
        oid: u32,
        /// `lanname`
        name: &'static str,
        /// `lanispl`
        procedural: bool,
        /// `lanpltrusted`
        trusted: bool,
        /// `lanvalidator`
        validator: u32,
    }
}
