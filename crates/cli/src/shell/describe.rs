//! What `\d` and its kin ask the catalogs of each kind of database.

use crate::conversation::Dialect;

/// What a command lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Listing {
    /// Tables, views and sequences.
    Relations,
    /// Tables.
    Tables,
    /// Views.
    Views,
    /// Indexes.
    Indexes,
    /// Sequences.
    Sequences,
    /// Functions and procedures.
    Routines,
    /// Schemas; owners where there are none.
    Schemas,
    /// Users and roles.
    Users,
    /// Databases.
    Databases,
}

/// The query that lists things whose names are like a pattern.
pub(super) fn listing(sql: Dialect, what: Listing, pattern: Option<&str>) -> String {
    match sql {
        Dialect::Postgres => postgres(what, pattern),
        Dialect::MySql => mysql(what, pattern),
        Dialect::Informix => informix(what, pattern),
    }
}

/// ` AND column LIKE 'pattern'`, of a pattern with `*` and `?`.
fn like(column: &str, pattern: Option<&str>) -> String {
    match pattern {
        None => String::new(),
        Some(pattern) => format!(" AND {column} LIKE {}", text(&like_pattern(pattern))),
    }
}

/// A pattern as people write it (`item*`, `"Quoted"`) as one of LIKE.
fn like_pattern(pattern: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for character in pattern.chars() {
        match character {
            '"' => quoted = !quoted,
            '*' if !quoted => out.push('%'),
            '?' if !quoted => out.push('_'),
            '_' | '%' | '\\' => out.extend(['\\', character]),
            other if quoted => out.push(other),
            other => out.extend(other.to_lowercase()),
        }
    }
    out
}

/// A literal: in all three dialects one of LIKE's patterns may have backslashes, which MySQL doubles.
fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The pattern split at its point: schema and name.
fn parts(pattern: &str) -> (Option<&str>, &str) {
    match pattern.split_once('.') {
        Some((schema, name)) => (Some(schema), name),
        None => (None, pattern),
    }
}

fn postgres(what: Listing, pattern: Option<&str>) -> String {
    let relations = |kinds: &str| {
        let (schema, name) = pattern.map_or((None, None), |pattern| {
            let (schema, name) = parts(pattern);
            (schema, Some(name))
        });
        let which = match schema {
            Some(_) => like("n.nspname", schema),
            None => " AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast' \
                     AND pg_table_is_visible(c.oid)"
                .to_owned(),
        };
        format!(
            "SELECT n.nspname AS \"Schema\", c.relname AS \"Name\", CASE c.relkind WHEN 'r' THEN 'table' \
             WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' \
             WHEN 'i' THEN 'index' WHEN 'I' THEN 'partitioned index' WHEN 'S' THEN 'sequence' ELSE c.relkind::text END \
             AS \"Type\", pg_get_userbyid(c.relowner) AS \"Owner\"{} \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace{} \
             WHERE c.relkind IN ({kinds}){which}{} ORDER BY 1, 2",
            if kinds.contains("'i'") { ", t.relname AS \"Table\"" } else { "" },
            if kinds.contains("'i'") {
                " JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_class t ON t.oid = i.indrelid"
            } else {
                ""
            },
            like("c.relname", name)
        )
    };
    match what {
        Listing::Relations => relations("'r', 'p', 'v', 'm', 'S'"),
        Listing::Tables => relations("'r', 'p'"),
        Listing::Views => relations("'v', 'm'"),
        Listing::Indexes => relations("'i', 'I'"),
        Listing::Sequences => relations("'S'"),
        Listing::Routines => format!(
            "SELECT n.nspname AS \"Schema\", p.proname AS \"Name\", pg_get_function_result(p.oid) AS \"Result\", \
             pg_get_function_arguments(p.oid) AS \"Arguments\", CASE p.prokind WHEN 'a' THEN 'aggregate' \
             WHEN 'p' THEN 'procedure' WHEN 'w' THEN 'window' ELSE 'function' END AS \"Type\" \
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {}{} ORDER BY 1, 2, 4",
            if pattern.is_none() { "n.nspname NOT IN ('pg_catalog', 'information_schema')" } else { "true" },
            like("p.proname", pattern)
        ),
        Listing::Schemas => format!(
            "SELECT nspname AS \"Name\", pg_get_userbyid(nspowner) AS \"Owner\" FROM pg_namespace \
             WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'{} ORDER BY 1",
            like("nspname", pattern)
        ),
        Listing::Users => format!(
            "SELECT rolname AS \"Name\", rolsuper AS \"Superuser\", rolcanlogin AS \"Login\", rolcreatedb AS \"Create DB\", \
             rolcreaterole AS \"Create role\" FROM pg_roles WHERE rolname !~ '^pg_'{} ORDER BY 1",
            like("rolname", pattern)
        ),
        Listing::Databases => format!(
            "SELECT datname AS \"Name\", pg_get_userbyid(datdba) AS \"Owner\", pg_encoding_to_char(encoding) AS \"Encoding\", \
             datcollate AS \"Collation\" FROM pg_database WHERE true{} ORDER BY 1",
            like("datname", pattern)
        ),
    }
}

fn mysql(what: Listing, pattern: Option<&str>) -> String {
    let like = |column: &str| like(column, pattern).replace('\\', "\\\\");
    let tables = |kinds: &str| {
        format!(
            "SELECT table_name AS `Name`, LOWER(table_type) AS `Type`, engine AS `Engine`, table_rows AS `Rows, about`, \
             table_comment AS `Comment` FROM information_schema.tables WHERE table_schema = DATABASE() \
             AND table_type IN ({kinds}){} ORDER BY 1",
            like("table_name")
        )
    };
    match what {
        Listing::Relations => tables("'BASE TABLE', 'VIEW', 'SEQUENCE', 'SYSTEM VERSIONED'"),
        Listing::Tables => tables("'BASE TABLE', 'SYSTEM VERSIONED'"),
        Listing::Views => tables("'VIEW'"),
        Listing::Sequences => tables("'SEQUENCE'"),
        Listing::Indexes => format!(
            "SELECT table_name AS `Table`, index_name AS `Name`, IF(MIN(non_unique) = 0, 'yes', 'no') AS `Unique`, \
             GROUP_CONCAT(column_name ORDER BY seq_in_index) AS `Columns` FROM information_schema.statistics \
             WHERE table_schema = DATABASE(){} GROUP BY table_name, index_name ORDER BY 1, 2",
            like("index_name")
        ),
        Listing::Routines => format!(
            "SELECT routine_name AS `Name`, LOWER(routine_type) AS `Type`, dtd_identifier AS `Result` \
             FROM information_schema.routines WHERE routine_schema = DATABASE(){} ORDER BY 1",
            like("routine_name")
        ),
        Listing::Users => format!(
            "SELECT grantee AS `User`, GROUP_CONCAT(privilege_type ORDER BY 1 SEPARATOR ', ') AS `Privileges` \
             FROM information_schema.user_privileges WHERE TRUE{} GROUP BY grantee ORDER BY 1",
            like("grantee")
        ),
        Listing::Databases | Listing::Schemas => format!(
            "SELECT schema_name AS `Name`, default_character_set_name AS `Character set`, \
             default_collation_name AS `Collation` FROM information_schema.schemata WHERE TRUE{} ORDER BY 1",
            like("schema_name")
        ),
    }
}

fn informix(what: Listing, pattern: Option<&str>) -> String {
    let tables = |kinds: &str| {
        format!(
            "SELECT tabname AS name, CASE tabtype WHEN 'T' THEN 'table' WHEN 'V' THEN 'view' WHEN 'S' THEN 'synonym' \
             WHEN 'P' THEN 'private synonym' WHEN 'Q' THEN 'sequence' ELSE 'other' END AS type, owner, nrows AS rows \
             FROM systables WHERE tabid >= 100 AND tabtype IN ({kinds}){} ORDER BY 1",
            like("tabname", pattern)
        )
    };
    match what {
        Listing::Relations => tables("'T', 'V', 'S', 'P', 'Q'"),
        Listing::Tables => tables("'T'"),
        Listing::Views => tables("'V'"),
        Listing::Sequences => tables("'Q'"),
        Listing::Indexes => format!(
            "SELECT t.tabname AS table, i.idxname AS name, CASE i.idxtype WHEN 'U' THEN 'yes' ELSE 'no' END AS unique \
             FROM sysindexes i, systables t WHERE i.tabid = t.tabid AND t.tabid >= 100{} ORDER BY 1, 2",
            like("i.idxname", pattern)
        ),
        Listing::Routines => format!(
            "SELECT procname AS name, CASE isproc WHEN 't' THEN 'procedure' ELSE 'function' END AS type, owner, \
             numargs AS arguments FROM sysprocedures WHERE mode IN ('O', 'D', 'R', 'o', 'd', 'r'){} ORDER BY 1",
            match pattern {
                None => " AND owner <> 'informix'".to_owned(),
                pattern => like("procname", pattern),
            }
        ),
        Listing::Schemas => format!(
            "SELECT DISTINCT owner AS name FROM systables WHERE tabid >= 100{} ORDER BY 1",
            like("owner", pattern)
        ),
        Listing::Users => format!(
            "SELECT username AS name, CASE usertype WHEN 'D' THEN 'DBA' WHEN 'R' THEN 'RESOURCE' WHEN 'G' THEN 'role' \
             ELSE 'CONNECT' END AS type FROM sysusers WHERE 1 = 1{} ORDER BY 1",
            like("username", pattern)
        ),
        Listing::Databases => format!(
            "SELECT name, owner, CASE is_logging WHEN 1 THEN 'yes' ELSE 'no' END AS logging FROM sysmaster:sysdatabases \
             WHERE 1 = 1{} ORDER BY 1",
            like("name", pattern)
        ),
    }
}

/// The queries that describe a table or view, each with a heading; the first answers no rows where there is none of the name.
pub(super) fn table(sql: Dialect, name: &str) -> Vec<(&'static str, String)> {
    match sql {
        Dialect::Postgres => postgres_table(name),
        Dialect::MySql => mysql_table(name),
        Dialect::Informix => informix_table(name),
    }
}

/// A name as the catalogs have it: without quotes, in lower case where it had none.
fn plain(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(name) => name.replace("\"\"", "\""),
        None => name.to_lowercase(),
    }
}

fn postgres_table(name: &str) -> Vec<(&'static str, String)> {
    let (schema, name) = parts(name);
    let which = match schema {
        Some(schema) => format!("n.nspname = {} AND c.relname = {}", text(&plain(schema)), text(&plain(name))),
        None => format!("pg_table_is_visible(c.oid) AND c.relname = {}", text(&plain(name))),
    };
    let of = "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace";
    vec![
        (
            "Columns",
            format!(
                "SELECT a.attname AS \"Column\", format_type(a.atttypid, a.atttypmod) AS \"Type\", \
                 CASE WHEN a.attnotnull THEN 'not null' ELSE '' END AS \"Nullable\", \
                 CASE WHEN a.attidentity = 'a' THEN 'generated always as identity' \
                 WHEN a.attidentity = 'd' THEN 'generated by default as identity' \
                 WHEN a.attgenerated = 's' THEN 'generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored' \
                 ELSE coalesce(pg_get_expr(d.adbin, d.adrelid), '') END AS \"Default\" {of} \
                 JOIN pg_attribute a ON a.attrelid = c.oid \
                 LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
                 WHERE {which} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
            ),
        ),
        (
            "Indexes",
            format!(
                "SELECT i.relname AS \"Index\", pg_get_indexdef(x.indexrelid) AS \"Definition\" {of} \
                 JOIN pg_index x ON x.indrelid = c.oid JOIN pg_class i ON i.oid = x.indexrelid \
                 WHERE {which} ORDER BY x.indisprimary DESC, 1"
            ),
        ),
        (
            "Constraints",
            format!(
                "SELECT k.conname AS \"Constraint\", pg_get_constraintdef(k.oid) AS \"Definition\" {of} \
                 JOIN pg_constraint k ON k.conrelid = c.oid WHERE {which} AND k.contype IN ('c', 'f', 'x') ORDER BY 1"
            ),
        ),
        (
            "Referenced by",
            format!(
                "SELECT k.conrelid::regclass AS \"Table\", k.conname AS \"Constraint\", \
                 pg_get_constraintdef(k.oid) AS \"Definition\" {of} \
                 JOIN pg_constraint k ON k.confrelid = c.oid WHERE {which} AND k.contype = 'f' ORDER BY 1, 2"
            ),
        ),
        (
            "Triggers",
            format!(
                "SELECT t.tgname AS \"Trigger\", pg_get_triggerdef(t.oid) AS \"Definition\" {of} \
                 JOIN pg_trigger t ON t.tgrelid = c.oid WHERE {which} AND NOT t.tgisinternal ORDER BY 1"
            ),
        ),
        (
            "View",
            format!(
                "SELECT pg_get_viewdef(c.oid, true) AS \"Definition\" {of} WHERE {which} AND c.relkind IN ('v', 'm')"
            ),
        ),
    ]
}

fn mysql_table(name: &str) -> Vec<(&'static str, String)> {
    let (schema, name) = parts(name);
    let unquoted = |name: &str| name.trim_matches('`').replace('\\', "\\\\");
    let schema = schema.map_or_else(|| "DATABASE()".to_owned(), |schema| text(&unquoted(schema)));
    let name = text(&unquoted(name));
    let of = format!("table_schema = {schema} AND table_name = {name}");
    vec![
        (
            "Columns",
            format!(
                "SELECT column_name AS `Column`, column_type AS `Type`, IF(is_nullable = 'NO', 'not null', '') AS `Nullable`, \
                 COALESCE(column_default, '') AS `Default`, extra AS `Extra` FROM information_schema.columns \
                 WHERE {of} ORDER BY ordinal_position"
            ),
        ),
        (
            "Indexes",
            format!(
                "SELECT index_name AS `Index`, IF(MIN(non_unique) = 0, 'yes', 'no') AS `Unique`, \
                 GROUP_CONCAT(column_name ORDER BY seq_in_index) AS `Columns` FROM information_schema.statistics \
                 WHERE {of} GROUP BY index_name ORDER BY index_name = 'PRIMARY' DESC, 1"
            ),
        ),
        (
            "Foreign keys",
            format!(
                "SELECT constraint_name AS `Constraint`, GROUP_CONCAT(column_name ORDER BY ordinal_position) AS `Columns`, \
                 CONCAT(referenced_table_name, ' (', GROUP_CONCAT(referenced_column_name ORDER BY ordinal_position), ')') \
                 AS `References` FROM information_schema.key_column_usage WHERE {of} \
                 AND referenced_table_name IS NOT NULL GROUP BY constraint_name, referenced_table_name ORDER BY 1"
            ),
        ),
        (
            "Triggers",
            format!(
                "SELECT trigger_name AS `Trigger`, CONCAT(action_timing, ' ', event_manipulation) AS `Event` \
                 FROM information_schema.triggers WHERE event_object_schema = {schema} AND event_object_table = {name}"
            ),
        ),
        ("View", format!("SELECT view_definition AS `Definition` FROM information_schema.views WHERE {of}")),
    ]
}

fn informix_table(name: &str) -> Vec<(&'static str, String)> {
    let name = text(&plain(parts(name).1));
    vec![
        (
            "Columns",
            format!(
                "SELECT c.colno AS no, c.colname AS column, {} AS type, CASE WHEN MOD(c.coltype, 512) >= 256 THEN 'not null' ELSE '' END AS nullable, \
                 d.default AS default FROM systables t, syscolumns c, OUTER sysdefaults d \
                 WHERE t.tabid = c.tabid AND d.tabid = c.tabid AND d.colno = c.colno AND t.tabname = {name} ORDER BY c.colno",
                type_of_informix()
            ),
        ),
        (
            "Indexes",
            format!(
                "SELECT i.idxname AS index, CASE i.idxtype WHEN 'U' THEN 'yes' ELSE 'no' END AS unique, \
                 c.colname AS first_column FROM systables t, sysindexes i, syscolumns c WHERE t.tabid = i.tabid \
                 AND c.tabid = i.tabid AND c.colno = ABS(i.part1) AND t.tabname = {name} ORDER BY 1"
            ),
        ),
        (
            "Constraints",
            format!(
                "SELECT k.constrname AS constraint, CASE k.constrtype WHEN 'P' THEN 'primary key' WHEN 'U' THEN 'unique' \
                 WHEN 'R' THEN 'references' WHEN 'C' THEN 'check' ELSE 'not null' END AS kind \
                 FROM systables t, sysconstraints k WHERE t.tabid = k.tabid AND k.constrtype <> 'N' AND t.tabname = {name} ORDER BY 1"
            ),
        ),
        (
            "View",
            format!(
                "SELECT v.seqno AS no, v.viewtext AS definition FROM systables t, sysviews v WHERE t.tabid = v.tabid \
                 AND t.tabname = {name} ORDER BY v.seqno"
            ),
        ),
    ]
}

/// The type of a column of `syscolumns`, in Informix's words.
fn type_of_informix() -> &'static str {
    "CASE WHEN MOD(c.coltype, 4096) >= 2048 THEN (SELECT x.name FROM sysxtdtypes x WHERE x.extended_id = c.extended_id) ELSE \
     CASE MOD(c.coltype, 256) WHEN 0 THEN 'CHAR(' || c.collength || ')' WHEN 1 THEN 'SMALLINT' WHEN 2 THEN 'INTEGER' \
     WHEN 3 THEN 'FLOAT' WHEN 4 THEN 'SMALLFLOAT' WHEN 5 THEN 'DECIMAL(' || TRUNC(c.collength / 256) || ',' || \
     MOD(c.collength, 256) || ')' WHEN 6 THEN 'SERIAL' WHEN 7 THEN 'DATE' WHEN 8 THEN 'MONEY(' || \
     TRUNC(c.collength / 256) || ',' || MOD(c.collength, 256) || ')' WHEN 10 THEN 'DATETIME' WHEN 11 THEN 'BYTE' \
     WHEN 12 THEN 'TEXT' WHEN 13 THEN 'VARCHAR(' || MOD(c.collength, 256) || ')' WHEN 14 THEN 'INTERVAL' \
     WHEN 15 THEN 'NCHAR(' || c.collength || ')' WHEN 16 THEN 'NVARCHAR(' || MOD(c.collength, 256) || ')' \
     WHEN 17 THEN 'INT8' WHEN 18 THEN 'SERIAL8' WHEN 19 THEN 'SET' WHEN 20 THEN 'MULTISET' WHEN 21 THEN 'LIST' \
     WHEN 22 THEN 'ROW' WHEN 43 THEN 'LVARCHAR(' || c.collength || ')' WHEN 45 THEN 'BOOLEAN' WHEN 52 THEN 'BIGINT' \
     WHEN 53 THEN 'BIGSERIAL' ELSE 'type ' || MOD(c.coltype, 256) END END"
}

/// The query of names for completion: table, column.
pub(super) fn names(sql: Dialect) -> &'static str {
    match sql {
        Dialect::Postgres => {
            "SELECT table_name, column_name FROM information_schema.columns \
             WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY table_name, ordinal_position"
        }
        Dialect::MySql => {
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() \
             ORDER BY table_name, ordinal_position"
        }
        Dialect::Informix => {
            "SELECT t.tabname, c.colname, c.colno FROM systables t, syscolumns c WHERE t.tabid = c.tabid \
             AND t.tabid >= 100 ORDER BY 1, 3"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_people() {
        assert_eq!(like_pattern("Item*"), "item%");
        assert_eq!(like_pattern("\"It*em\"?"), "It*em_");
        assert_eq!(like_pattern("a_b%"), "a\\_b\\%");
    }
}
