//! Operator classes and families: which operators compare a type, and by which strategy.

use crate::read::facts;

facts! {
    /// A row of `pg_am`.
    AccessMethod from "access_methods.tsv" {
        /// `oid`
        oid: u32,
        /// `amname`
        name: &'static str,
        /// `amhandler`
        handler: u32,
        /// `amtype`: of `i`ndexes or `t`ables.
        kind: char,
    }
}

impl AccessMethod {
    /// PostgreSQL's own and those of extensions.
    pub fn all_known() -> impl Iterator<Item = &'static Self> {
        Self::all().iter().chain(Self::of_extensions())
    }
}

facts! {
    /// A row of `pg_opfamily`.
    OperatorFamily from "operator_families.tsv" {
        /// `oid`
        oid: u32,
        /// `opfmethod`
        method: u32,
        /// `opfname`
        name: &'static str,
    }
}

impl OperatorFamily {
    /// The family with an object id.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        crate::by_oid(Self::all(), oid, |family| family.oid)
    }
}

facts! {
    /// A row of `pg_opclass`.
    OperatorClass from "operator_classes.tsv" {
        /// `oid`
        oid: u32,
        /// `opcmethod`
        method: u32,
        /// `opcname`
        name: &'static str,
        /// `opcfamily`
        family: u32,
        /// `opcintype`
        input: u32,
        /// `opcdefault`
        is_default: bool,
        /// `opckeytype`
        key: u32,
    }
}

facts! {
    /// A row of `pg_amop`.
    FamilyOperator from "family_operators.tsv" {
        /// `oid`
        oid: u32,
        /// `amopfamily`
        family: u32,
        /// `amoplefttype`
        left_type: u32,
        /// `amoprighttype`
        right_type: u32,
        /// `amopstrategy`: for btree 1 to 5, `<` to `>`.
        strategy: u32,
        /// `amoppurpose`: `s`earch or `o`rdering.
        purpose: char,
        /// `amopopr`
        operator: u32,
        /// `amopmethod`
        method: u32,
        /// `amopsortfamily`
        sort_family: u32,
    }
}

facts! {
    /// A row of `pg_amproc`.
    FamilyFunction from "family_functions.tsv" {
        /// `oid`
        oid: u32,
        /// `amprocfamily`
        family: u32,
        /// `amproclefttype`
        left_type: u32,
        /// `amprocrighttype`
        right_type: u32,
        /// `amprocnum`
        number: u32,
        /// `amproc`
        function: u32,
    }
}
