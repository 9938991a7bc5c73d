//! Extensions that bring functions of texts and bytes, but no types.

use super::super::Said::{Module, Template};
use super::{Bindings, same};

/// `bloom`, `btree_gin`, `btree_gist`: an access method and operator classes alone.
pub(super) static NOTHING: Bindings = &[];

/// `fuzzystrmatch`: what sounds in English is left to those who need it.
pub(super) static FUZZYSTRMATCH: Bindings = same![
    "difference",
    "levenshtein",
    "levenshtein_less_equal",
    "levenshtein_less_equal_with_costs",
    "levenshtein_with_costs",
    "soundex"
];

/// `pg_stat_statements`; what `pg_stat_statements_info()` returns, its view tells.
pub(super) static PG_STAT_STATEMENTS: Bindings = same!["pg_stat_statements_1_10", "pg_stat_statements_reset_1_7"];

/// `pg_trgm`.
pub(super) static PG_TRGM: Bindings = &[
    ("set_limit", Module("set_limit")),
    ("show_limit", Module("show_limit")),
    ("show_trgm", Module("show_trgm")),
    ("similarity", Module("similarity")),
    ("similarity_op", Module("similarity_op")),
    ("similarity_dist", Template("(1.0 - rf_module('similarity', {0}, {1}))")),
    ("word_similarity", Module("word_similarity")),
    ("word_similarity_op", Module("word_similarity_op")),
    ("word_similarity_commutator_op", Template("rf_module('word_similarity_op', {1}, {0})")),
    ("word_similarity_dist_op", Module("word_similarity_dist")),
    ("word_similarity_dist_commutator_op", Template("rf_module('word_similarity_dist', {1}, {0})")),
    ("strict_word_similarity", Module("strict_word_similarity")),
    ("strict_word_similarity_op", Module("strict_word_similarity_op")),
    ("strict_word_similarity_commutator_op", Template("rf_module('strict_word_similarity_op', {1}, {0})")),
    ("strict_word_similarity_dist_op", Module("strict_word_similarity_dist")),
    ("strict_word_similarity_dist_commutator_op", Template("rf_module('strict_word_similarity_dist', {1}, {0})")),
];

/// `pgcrypto`, without messages for public keys.
pub(super) static PGCRYPTO: Bindings = same![
    "pg_armor",
    "pg_crypt",
    "pg_dearmor",
    "pg_decrypt",
    "pg_decrypt_iv",
    "pg_digest",
    "pg_encrypt",
    "pg_encrypt_iv",
    "pg_gen_salt",
    "pg_gen_salt_rounds",
    "pg_hmac",
    "pg_random_bytes",
    "pg_random_uuid",
    "pgp_sym_decrypt_bytea",
    "pgp_sym_decrypt_text",
    "pgp_sym_encrypt_bytea",
    "pgp_sym_encrypt_text",
];

/// `tablefunc`.
pub(super) static TABLEFUNC: Bindings =
    same!["connectby_text", "connectby_text_serial", "crosstab", "crosstab_hash", "normal_rand"];

/// `unaccent`.
pub(super) static UNACCENT: Bindings = same!["unaccent_dict"];

/// `uuid-ossp`.
pub(super) static UUID_OSSP: Bindings = same![
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuid_generate_v3",
    "uuid_generate_v4",
    "uuid_generate_v5",
    "uuid_nil",
    "uuid_ns_dns",
    "uuid_ns_oid",
    "uuid_ns_url",
    "uuid_ns_x500",
];
