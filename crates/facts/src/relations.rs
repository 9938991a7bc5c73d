//! The catalogs themselves: relations of `pg_catalog` and `information_schema` with their columns; collations and conversions.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::read::facts;

facts! {
    /// A row of `pg_get_catalog_foreign_keys()`.
    CatalogForeignKey from "catalog_foreign_keys.tsv" {
        /// `fktable`
        table: &'static str,
        /// `fkcols`
        columns: Box<[&'static str]>,
        /// `pktable`
        referenced: &'static str,
        /// `pkcols`
        referenced_columns: Box<[&'static str]>,
        /// `is_array`
        is_array: bool,
        /// `is_opt`: 0 means none.
        is_optional: bool,
    }
}

facts! {
    /// A table or view.
    Relation from "relations.tsv" {
        /// Its schema.
        schema: &'static str,
        /// `relname`
        name: &'static str,
        /// `relkind`: `r` or `v`.
        kind: char,
        /// `oid`; 0 where initdb numbers.
        oid: u32,
        /// `reltype`; 0 where initdb numbers.
        row_type: u32,
    }
}

facts! {
    /// A column of a [`Relation`].
    Column from "columns.tsv" {
        /// The relation's schema.
        schema: &'static str,
        /// The relation's name.
        relation: &'static str,
        /// `attname`
        name: &'static str,
        /// `attnum`
        number: u32,
        /// The name of its type in `pg_type`.
        type_name: &'static str,
        /// `atttypmod`
        modifier: i32,
        /// `attnotnull`
        not_null: bool,
        /// `attcollation`
        collation: u32,
    }
}

impl Relation {
    /// The relation of a name.
    pub fn named(schema: &str, name: &str) -> Option<&'static Self> {
        let found = Self::all().binary_search_by(|row| (row.schema, row.name).cmp(&(schema, name)));
        found.ok().and_then(|at| Self::all().get(at))
    }

    /// Its columns, in order; none for what is no relation.
    pub fn columns(schema: &str, name: &str) -> &'static [&'static Column] {
        static RELATIONS: LazyLock<HashMap<String, Vec<&Column>>> =
            LazyLock::new(|| crate::index(Column::all(), |column| format!("{}.{}", column.schema, column.relation)));
        RELATIONS.get(&format!("{schema}.{name}")).map_or(&[], Vec::as_slice)
    }
}

facts! {
    /// A row of `pg_collation` that every PostgreSQL has.
    Collation from "collations.tsv" {
        /// `oid`
        oid: u32,
        /// `collname`
        name: &'static str,
        /// `collprovider`
        provider: char,
        /// `collisdeterministic`
        deterministic: bool,
        /// `collencoding`
        encoding: i32,
        /// `collcollate`
        collate: &'static str,
        /// `collctype`
        ctype: &'static str,
    }
}

facts! {
    /// A row of `pg_conversion`.
    Conversion from "conversions.tsv" {
        /// `oid`
        oid: u32,
        /// `conname`
        name: &'static str,
        /// The encoding's name.
        source: &'static str,
        /// The encoding's name.
        target: &'static str,
        /// `conproc`
        function: u32,
        /// `condefault`
        is_default: bool,
    }
}

facts! {
    /// An index of a catalog.
    Index from "indexes.tsv" {
        /// `oid`
        oid: u32,
        /// `relname`
        name: &'static str,
        /// The name of its table.
        relation: &'static str,
        /// `indisunique`
        is_unique: bool,
        /// `indisprimary`
        is_primary: bool,
        /// A constraint is kept by it.
        is_constraint: bool,
        /// `indkey`
        columns: Box<[u32]>,
        /// `indclass`
        classes: Box<[u32]>,
        /// `indcollation`
        collations: Box<[u32]>,
    }
}

impl Index {
    /// The index with an object id.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        crate::by_oid(Self::all(), oid, |index| index.oid)
    }
}

facts! {
    /// A word of PostgreSQL's grammar.
    Keyword from "keywords.tsv" {
        /// The word.
        word: &'static str,
        /// `U`nreserved, `C`olumn name, `T`ype or function name, `R`eserved.
        category: char,
        /// It can be a label without AS.
        bare: bool,
    }
}
