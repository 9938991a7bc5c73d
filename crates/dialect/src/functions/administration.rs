//! What administrators and tools ask: privileges as values, objects by address, what is behind views of the catalogs, and
//! little questions about the server. Most are one function of the engine, which is told the question first.

use super::TypeSpec::{self, ArrayOf, Is};
use super::spec::*;
use crate::Type;
use crate::scalar::network::INET;
use crate::scalar::numbers::XID;
use crate::scalar::vectors;

const ACLITEM: TypeSpec = Is(Type::Scalar(&vectors::ACLITEM, None));
const ACLITEMS: TypeSpec = ArrayOf(Type::Scalar(&vectors::ACLITEM, None));
const NODE_TREE: TypeSpec = Is(Type::Scalar(&vectors::PG_NODE_TREE, None));
const OIDVECTOR: TypeSpec = Is(Type::Scalar(&vectors::OIDVECTOR, None));
const INETS: TypeSpec = Is(Type::Scalar(&INET, None));
const XIDS: TypeSpec = Is(Type::Scalar(&XID, None));
const OIDS: TypeSpec = ArrayOf(Type::Oid);

/// Functions behind views of the catalogs, and the views.
static BEHIND_VIEWS: &[(&str, &str)] = &[
    ("pg_available_extension_versions", "pg_available_extension_versions"),
    ("pg_available_extensions", "pg_available_extensions"),
    ("pg_config", "pg_config"),
    ("pg_cursor", "pg_cursors"),
    ("pg_get_backend_memory_contexts", "pg_backend_memory_contexts"),
    ("pg_get_replication_slots", "pg_replication_slots"),
    ("pg_get_shmem_allocations", "pg_shmem_allocations"),
    ("pg_hba_file_rules", "pg_hba_file_rules"),
    ("pg_ident_file_mappings", "pg_ident_file_mappings"),
    ("pg_lock_status", "pg_locks"),
    ("pg_prepared_statement", "pg_prepared_statements"),
    ("pg_prepared_xact", "pg_prepared_xacts"),
    ("pg_show_all_file_settings", "pg_file_settings"),
    ("pg_show_all_settings", "pg_settings"),
    ("pg_show_replication_origin_status", "pg_replication_origin_status"),
    ("pg_timezone_abbrevs", "pg_timezone_abbrevs"),
    ("pg_timezone_names", "pg_timezone_names"),
];

/// The view of the catalogs that a function of rows stands behind.
pub(super) fn view_behind(function: &Function) -> Option<&'static str> {
    let found = BEHIND_VIEWS.iter().find(|(name, _)| *name == function.name)?;
    (function.kind == FunctionKind::SetReturning).then_some(found.1)
}

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    SetReturning "pg_available_extension_versions" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_available_extensions" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_config" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_cursor" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_get_backend_memory_contexts" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_get_replication_slots" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_get_shmem_allocations" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_hba_file_rules" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_ident_file_mappings" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_lock_status" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_prepared_statement" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_prepared_xact" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_show_all_file_settings" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_show_all_settings" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_show_replication_origin_status" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_timezone_abbrevs" () -> RECORD, Special("catalog"), stable;
    SetReturning "pg_timezone_names" () -> RECORD, Special("catalog"), stable;

    Operator "=" (ACLITEM, ACLITEM) -> BOOL, T("rf_ask('aclitemeq', {0}, {1})");
    Operator "@>" (ACLITEMS, ACLITEM) -> BOOL, T("rf_ask('aclcontains', {0}, {1})");
    Operator "~" (ACLITEMS, ACLITEM) -> BOOL, T("rf_ask('aclcontains', {0}, {1})");
    Operator "+" (ACLITEMS, ACLITEM) -> ACLITEMS, T("rf_ask('aclinsert', {0}, {1})");
    Operator "-" (ACLITEMS, ACLITEM) -> ACLITEMS, T("rf_ask('aclremove', {0}, {1})");
    Scalar "makeaclitem" (OID, OID, TEXT, BOOL) -> ACLITEM, T("rf_ask('makeaclitem', {0}, {1}, {2}, {3})"), stable;
    Scalar "acldefault" (ICHAR, OID) -> ACLITEMS, F("rf_acldefault"), stable;
    SetReturning "aclexplode" (ACLITEMS) -> RECORD, Special("aclexplode"), stable;

    Scalar "has_foreign_data_wrapper_privilege" (NAME, TEXT, TEXT) -> BOOL, T("rf_ask('fdw', {0}, {1}, {2})"), stable;
    Scalar "has_foreign_data_wrapper_privilege" (NAME, OID, TEXT) -> BOOL, T("rf_ask('fdw', {0}, {1}, {2})"), stable;
    Scalar "has_foreign_data_wrapper_privilege" (OID, TEXT, TEXT) -> BOOL, T("rf_ask('fdw', {0}, {1}, {2})"), stable;
    Scalar "has_foreign_data_wrapper_privilege" (OID, OID, TEXT) -> BOOL, T("rf_ask('fdw', {0}, {1}, {2})"), stable;
    Scalar "has_foreign_data_wrapper_privilege" (TEXT, TEXT) -> BOOL, T("rf_ask('fdw', -1, {0}, {1})"), stable;
    Scalar "has_foreign_data_wrapper_privilege" (OID, TEXT) -> BOOL, T("rf_ask('fdw', -1, {0}, {1})"), stable;
    Scalar "has_server_privilege" (NAME, TEXT, TEXT) -> BOOL, T("rf_ask('server', {0}, {1}, {2})"), stable;
    Scalar "has_server_privilege" (NAME, OID, TEXT) -> BOOL, T("rf_ask('server', {0}, {1}, {2})"), stable;
    Scalar "has_server_privilege" (OID, TEXT, TEXT) -> BOOL, T("rf_ask('server', {0}, {1}, {2})"), stable;
    Scalar "has_server_privilege" (OID, OID, TEXT) -> BOOL, T("rf_ask('server', {0}, {1}, {2})"), stable;
    Scalar "has_server_privilege" (TEXT, TEXT) -> BOOL, T("rf_ask('server', -1, {0}, {1})"), stable;
    Scalar "has_server_privilege" (OID, TEXT) -> BOOL, T("rf_ask('server', -1, {0}, {1})"), stable;
    Scalar "has_parameter_privilege" (NAME, TEXT, TEXT) -> BOOL, T("rf_ask('parameter', {0}, {1}, {2})"), stable;
    Scalar "has_parameter_privilege" (OID, TEXT, TEXT) -> BOOL, T("rf_ask('parameter', {0}, {1}, {2})"), stable;
    Scalar "has_parameter_privilege" (TEXT, TEXT) -> BOOL, T("rf_ask('parameter', -1, {0}, {1})"), stable;

    Scalar "getpgusername" () -> NAME, F("rf_current_user"), stable;
    Scalar "current_query" () -> TEXT, T("rf_ask('current_query')"), volatile;
    Scalar "inet_client_addr" () -> INETS, T("rf_ask('client_address')"), stable;
    Scalar "inet_client_port" () -> I4, T("rf_ask('client_port')"), stable;
    Scalar "inet_server_addr" () -> INETS, T("rf_ask('server_address')"), stable;
    Scalar "inet_server_port" () -> I4, T("rf_ask('server_port')"), stable;
    Scalar "mxid_age" (XIDS) -> I4, T("rf_ask('mxid_age', {0})"), stable;
    Scalar "nameconcatoid" (NAME, OID) -> NAME, T("rf_ask('nameconcatoid', {0}, {1})");
    Scalar "oidvectortypes" (OIDVECTOR) -> TEXT, T("rf_ask('oidvectortypes', {0})"), stable;
    Scalar "oidvectortypes" (OIDS) -> TEXT, T("rf_ask('oidvectortypes', {0})"), stable;
    Scalar "pg_collation_actual_version" (OID) -> TEXT, T("rf_ask('collation_version', {0})"), stable;
    Scalar "pg_database_collation_actual_version" (OID) -> TEXT, T("rf_ask('database_collation_version', {0})"), stable;
    Scalar "pg_column_compression" (ANY) -> TEXT, T("NULL"), stable;
    Scalar "pg_get_expr" (NODE_TREE, OID) -> TEXT, F("rf_pg_get_expr"), stable;
    Scalar "pg_get_expr" (NODE_TREE, OID, BOOL) -> TEXT, F("rf_pg_get_expr"), stable;
    Scalar "pg_get_function_arg_default" (OID, I4) -> TEXT, T("rf_ask('argument_default', {0}, {1})"), stable;
    Scalar "pg_get_replica_identity_index" (REGCLASS) -> REGCLASS, T("rf_ask('replica_index', {0})"), stable;
    Scalar "satisfies_hash_partition" (OID, I4, I4, ANY) -> BOOL, Special("satisfies_hash_partition"), lenient, variadic, stable;
    Scalar "pg_index_has_property" (REGCLASS, TEXT) -> BOOL, T("rf_ask('index_property', {0}, {1})"), stable;
    Scalar "pg_indexam_has_property" (OID, TEXT) -> BOOL, T("rf_ask('method_property', {0}, {1})"), stable;
    Scalar "pg_jit_available" () -> BOOL, T("0"), stable;
    Scalar "pg_relation_filenode" (REGCLASS) -> OID, T("rf_ask('filenode', {0})"), stable;
    Scalar "to_regcollation" (TEXT) -> REGCOLLATION, T("rf_ask('to_regcollation', {0})"), stable;
    Scalar "pg_settings_get_flags" (TEXT) -> TEXTS, T("rf_ask('setting_flags', {0})"), stable;
    Scalar "pg_size_bytes" (TEXT) -> I8, T("rf_ask('size_bytes', {0})");
    Scalar "pg_sleep_for" (INTERVAL) -> VOID,
        T("rf_pg_sleep(rf_cast(rf_extract_interval('epoch', {0}), 'numeric text', 'double precision', 'e'))"), volatile;
    Scalar "pg_sleep_until" (TSTZ) -> VOID,
        T("rf_pg_sleep(rf_cast(rf_extract_timestamptz('epoch', {0}), 'numeric text', 'double precision', 'e') - CAST(rf_extract_timestamptz('epoch', rf_clock_timestamp()) AS REAL))"), volatile;

    SetReturning "pg_extension_update_paths" (NAME) -> RECORD, Special("pg_extension_update_paths"), stable;
    SetReturning "pg_get_catalog_foreign_keys" () -> RECORD, Special("pg_get_catalog_foreign_keys"), stable;
    SetReturning "pg_get_object_address" (TEXT, TEXTS, TEXTS) -> RECORD, Special("pg_get_object_address"), stable;
    SetReturning "pg_identify_object" (OID, OID, I4) -> RECORD, Special("pg_identify_object"), stable;
    SetReturning "pg_identify_object_as_address" (OID, OID, I4) -> RECORD, Special("pg_identify_object_as_address"), stable;
    SetReturning "pg_sequence_parameters" (OID) -> RECORD, Special("pg_sequence_parameters"), stable;

    Scalar "information_schema._pg_truetypid" (ANY, ANY) -> OID, Special("truetypid");
    Scalar "information_schema._pg_truetypmod" (ANY, ANY) -> I4, Special("truetypmod");
    Scalar "information_schema._pg_char_max_length" (OID, I4) -> I4,
        T("CASE WHEN {1} = -1 THEN NULL WHEN {0} IN (1042, 1043) THEN {1} - 4 WHEN {0} IN (1560, 1562) THEN {1} END");
    Scalar "information_schema._pg_char_octet_length" (OID, I4) -> I4,
        T("CASE WHEN {0} NOT IN (25, 1042, 1043) THEN NULL WHEN {1} = -1 THEN 1073741824 WHEN {0} <> 25 THEN ({1} - 4) * 4 END");
    Scalar "information_schema._pg_numeric_precision" (OID, I4) -> I4,
        T("CASE {0} WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53 \
           WHEN 1700 THEN CASE WHEN {1} <> -1 THEN (({1} - 4) >> 16) & 65535 END END");
    Scalar "information_schema._pg_numeric_precision_radix" (OID, I4) -> I4,
        T("CASE WHEN {0} IN (21, 23, 20, 700, 701) THEN 2 WHEN {0} = 1700 THEN 10 END");
    Scalar "information_schema._pg_numeric_scale" (OID, I4) -> I4,
        T("CASE WHEN {0} IN (21, 23, 20) THEN 0 WHEN {0} = 1700 THEN CASE WHEN {1} <> -1 THEN ({1} - 4) & 65535 END END");
    Scalar "information_schema._pg_datetime_precision" (OID, I4) -> I4,
        T("CASE WHEN {0} = 1082 THEN 0 WHEN {0} IN (1083, 1114, 1184, 1266) THEN CASE WHEN {1} < 0 THEN 6 ELSE {1} END \
           WHEN {0} = 1186 THEN CASE WHEN {1} < 0 OR {1} & 65535 = 65535 THEN 6 ELSE {1} & 65535 END END");
    Scalar "information_schema._pg_interval_type" (OID, I4) -> TEXT,
        T("CASE WHEN {0} = 1186 THEN rf_ask('interval_type', {0}, {1}) END"), stable;
};
