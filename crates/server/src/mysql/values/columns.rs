//! What clients are told of columns.

use rowferry_dialect::Schema as _;
use rowferry_engine::{ResultColumn, Session, Type};
use rowferry_wire_mysql::messages::resultset::ColumnDefinition;
use rowferry_wire_mysql::types::{CHARSET_BINARY, ColumnType, column_flag};

use super::WireType;

/// `latin1_swedish_ci`: what clients whose texts are not UTF-8 are told.
const LATIN1: u16 = 8;

/// The definitions of a result's columns.
pub(super) fn definitions(session: &mut Session, columns: &[ResultColumn]) -> Vec<ColumnDefinition> {
    let encoded = session.client_encoding().is_some();
    // The schema is only looked at for columns of tables.
    let schema = columns.iter().any(|column| column.origin.is_some()).then(|| session.schema());
    let define = |column: &ResultColumn| {
        let wire = WireType::of(&column.ty, column.origin.is_some());
        let mut definition = ColumnDefinition {
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            name: column.name.clone(),
            org_name: String::new(),
            charset: if encoded && wire.charset != CHARSET_BINARY { LATIN1 } else { wire.charset },
            length: wire.length,
            column_type: wire.column_type,
            flags: wire.flags,
            decimals: wire.decimals,
            extended: Vec::new(),
        };
        if column.not_null {
            definition.flags |= column_flag::NOT_NULL;
        }
        if let Some(listed) = &column.listed {
            definition.table.clone_from(&listed.table);
        }
        if let (Some(schema), Some((oid, number))) = (&schema, column.origin)
            && let Some(relation) = schema.relation_by_oid(oid)
            // What SHOW looks into is nobody's.
            && !relation.name.starts_with("rowferry_")
        {
            definition.schema = session.mysql_database_of(&relation.namespace).to_owned();
            if column.listed.is_none() {
                definition.table.clone_from(&relation.name);
            }
            definition.org_table.clone_from(&relation.name);
            // Dropped columns count.
            let position = number - relation.dropped.iter().filter(|dropped| dropped.number <= number).count();
            if let Some(own) = relation.columns.get(position) {
                // A subquery's columns have the names that it gives them.
                definition.org_name.clone_from(column.listed.as_ref().map_or(&own.name, |listed| &listed.column));
                definition.flags |= key_flags(&relation.indexes, position);
                if own.numbers_itself() {
                    definition.flags |= column_flag::AUTO_INCREMENT;
                }
                if own.not_null && own.default.is_none() && !own.numbers_itself() {
                    definition.flags |= column_flag::NO_DEFAULT_VALUE;
                }
            }
        }
        definition
    };
    columns.iter().map(define).collect()
}

/// What keys a column is a part of.
fn key_flags(indexes: &[rowferry_dialect::schema::Index], position: usize) -> u16 {
    let mut flags = 0;
    for index in indexes {
        if !index.columns.contains(&Some(position)) {
            continue;
        }
        let is_first = index.columns.first() == Some(&Some(position));
        flags |= column_flag::PART_KEY;
        flags |= match () {
            () if index.primary => column_flag::PRIMARY_KEY,
            () if index.unique && index.columns.len() == 1 => column_flag::UNIQUE_KEY,
            () if is_first => column_flag::MULTIPLE_KEY,
            () => 0,
        };
    }
    flags
}

/// The definition of a parameter, of which clients look at the number alone.
pub(in crate::mysql) fn parameter(ty: Option<&Type>) -> ColumnDefinition {
    let wire = ty.map(|ty| WireType::of(ty, false));
    ColumnDefinition {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: "?".into(),
        org_name: String::new(),
        charset: CHARSET_BINARY,
        length: wire.map_or(0, |wire| wire.length),
        column_type: wire.map_or(ColumnType::VAR_STRING, |wire| wire.column_type),
        flags: column_flag::BINARY,
        decimals: wire.map_or(0, |wire| wire.decimals),
        extended: Vec::new(),
    }
}
