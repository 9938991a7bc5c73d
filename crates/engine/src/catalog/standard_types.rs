//! The domains of `information_schema`, in which the standard's columns are declared.
//!
//! Queries read such columns as the types that the domains are over, as PostgreSQL's clients are told, too; `pg_attribute`
//! names them, and so do `pg_type` and `pg_constraint`.

use std::sync::{Arc, LazyLock};

use rowferry_dialect::Type;
use rowferry_dialect::postgres::types;
use rowferry_dialect::user_type::{UserKind, UserType};
use rowferry_facts as facts;

use super::{NULL, Row, row};
use crate::schema::INFORMATION_SCHEMA;

/// A CHECK of such a domain.
pub struct Check {
    /// Its name.
    pub(super) name: &'static str,
    pub(super) oid: u32,
    /// The condition as PostgreSQL prints it, and with fewer parentheses.
    condition: &'static str,
    pretty: &'static str,
}

/// A domain of `information_schema`.
pub struct Domain {
    /// Its name.
    pub name: &'static str,
    /// Its object id, where PostgreSQL's initdb numbers.
    pub oid: u32,
    /// Its array type's.
    pub array: u32,
    /// The type that it is over.
    pub base: &'static str,
    pub(super) modifier: i32,
    pub(super) collation: u32,
    pub(super) default: Option<&'static str>,
    /// What its values must hold.
    pub check: Option<Check>,
}

const fn domain(name: &'static str, oid: u32, base: &'static str, modifier: i32, collation: u32) -> Domain {
    Domain { name, oid, array: oid + 100, base, modifier, collation, default: None, check: None }
}

/// The collation C, in which names are compared.
const C: u32 = 950;

const ALL: &[Domain] = &[
    Domain {
        check: Some(Check {
            name: "cardinal_number_domain_check",
            oid: 13_301,
            condition: "(VALUE >= 0)",
            pretty: "VALUE >= 0",
        }),
        ..domain("cardinal_number", 13_311, "int4", -1, 0)
    },
    domain("character_data", 13_312, "varchar", -1, C),
    domain("sql_identifier", 13_313, "name", -1, C),
    Domain { default: Some("CURRENT_TIMESTAMP(2)"), ..domain("time_stamp", 13_314, "timestamptz", 2, 0) },
    Domain {
        check: Some(Check {
            name: "yes_or_no_check",
            oid: 13_302,
            condition: "((VALUE)::text = ANY ((ARRAY['YES'::character varying, 'NO'::character varying])::text[]))",
            pretty: "VALUE::text = ANY (ARRAY['YES'::character varying, 'NO'::character varying]::text[])",
        }),
        ..domain("yes_or_no", 13_315, "varchar", 7, C)
    },
];

/// All of them.
pub fn all() -> &'static [Domain] {
    ALL
}

/// The domain of a name.
pub fn named(name: &str) -> Option<&'static Domain> {
    ALL.iter().find(|domain| domain.name == name)
}

/// The domain with an object id as the compiler names it.
pub fn by_oid(oid: u32) -> Option<Arc<UserType>> {
    static TYPES: LazyLock<Vec<Arc<UserType>>> = LazyLock::new(|| {
        let user_type = |domain: &Domain| {
            let base = facts::Type::named(domain.base).and_then(|ty| types::from_oid(ty.oid));
            Arc::new(UserType {
                oid: domain.oid,
                array_oid: domain.array,
                namespace: INFORMATION_SCHEMA.to_owned(),
                name: domain.name.to_owned(),
                comment: None,
                kind: UserKind::Unresolved(base.unwrap_or(Type::Text)),
            })
        };
        ALL.iter().map(user_type).collect()
    });
    TYPES.iter().find(|ty| ty.oid == oid).cloned()
}

/// The namespace `information_schema`.
const NAMESPACE: u32 = 13_000;

/// Their rows of `pg_type`, and those of their arrays.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for domain in ALL {
        let Some(base) = facts::Type::named(domain.base) else { continue };
        rows.push(row![
            domain.oid,
            domain.name,
            NAMESPACE,
            super::OWNER,
            base.length,
            base.by_value,
            "d",
            base.category.to_string(),
            false,
            true,
            ",",
            0,
            0,
            0,
            domain.array,
            2_597,
            base.output,
            2_598,
            base.send,
            0,
            0,
            0,
            base.alignment.to_string(),
            base.storage.to_string(),
            false,
            base.oid,
            domain.modifier,
            0,
            domain.collation,
            domain.default,
            domain.default,
            NULL,
        ]);
        rows.push(row![
            domain.array,
            format!("_{}", domain.name),
            NAMESPACE,
            super::OWNER,
            -1,
            false,
            "b",
            "A",
            false,
            true,
            ",",
            0,
            6_179,
            domain.oid,
            0,
            750,
            751,
            2_400,
            2_401,
            0,
            0,
            3_816,
            if base.alignment == 'd' { "d" } else { "i" },
            "x",
            false,
            0,
            -1,
            0,
            domain.collation,
            NULL,
            NULL,
            NULL,
        ]);
    }
    rows
}

/// Their rows of `pg_constraint`.
pub fn constraints() -> Vec<Row> {
    let constraint = |domain: &Domain| {
        let check = domain.check.as_ref()?;
        Some(row![
            check.oid,
            check.name,
            NAMESPACE,
            "c",
            false,
            false,
            true,
            0,
            domain.oid,
            0,
            0,
            0,
            " ",
            " ",
            " ",
            true,
            0,
            false,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            check.condition,
        ])
    };
    ALL.iter().filter_map(constraint).collect()
}

/// CHECK (…) of the constraint with an object id.
pub fn check_definition(oid: u32, pretty: bool) -> Option<String> {
    let check = ALL.iter().filter_map(|domain| domain.check.as_ref()).find(|check| check.oid == oid)?;
    Some(format!("CHECK ({})", if pretty { check.pretty } else { check.condition }))
}
