//! What the server has: engines, character sets, variables, sessions.

use rowferry_dialect::Schema as _;
use rowferry_dialect::mysql::variables::{self, Scope, VARIABLES};

use super::{CHARSET, Context, Row, Table, database, in_namespace, of_schema, row};
use crate::catalog::{NULL, pg_stat_activity};
use crate::functions::worked_out;
use crate::session::state::State;

pub(super) const TABLES: &[Table] = &[
    of_schema(
        "engines",
        "ENGINE text, SUPPORT text, COMMENT text, TRANSACTIONS text, XA text, SAVEPOINTS text",
        |_| vec![row!["InnoDB", "DEFAULT", "Tables of the file", "YES", "NO", "YES"]],
    ),
    of_schema(
        "character_sets",
        "CHARACTER_SET_NAME text, DEFAULT_COLLATE_NAME text, DESCRIPTION text, MAXLEN int8",
        |_| {
            CHARACTER_SETS
                .iter()
                .map(|(name, collation, words, bytes)| row![*name, *collation, *words, *bytes])
                .collect()
        },
    ),
    of_schema(
        "collations",
        "COLLATION_NAME text, CHARACTER_SET_NAME text, ID int8, IS_DEFAULT text, IS_COMPILED text, SORTLEN int8, \
         PAD_ATTRIBUTE text",
        |_| {
            COLLATIONS
                .iter()
                .map(|(name, charset, id, default, pad)| {
                    row![*name, *charset, *id, if *default { "Yes" } else { "" }, "Yes", 0, *pad]
                })
                .collect()
        },
    ),
    of_schema("collation_character_set_applicability", "COLLATION_NAME text, CHARACTER_SET_NAME text", |_| {
        COLLATIONS.iter().map(|(name, charset, ..)| row![*name, *charset]).collect()
    }),
    live(of_schema(
        "processlist",
        "ID int8, USER text, HOST text, DB text, COMMAND text, TIME int8, STATE text, INFO text",
        processlist,
    )),
    of_schema(
        "events",
        "EVENT_CATALOG text, EVENT_SCHEMA text, EVENT_NAME text, DEFINER text, TIME_ZONE text, EVENT_BODY text, \
         EVENT_DEFINITION text, EVENT_TYPE text, EXECUTE_AT timestamp, INTERVAL_VALUE text, INTERVAL_FIELD text, \
         SQL_MODE text, STARTS timestamp, ENDS timestamp, STATUS text, ON_COMPLETION text, CREATED timestamp, \
         LAST_ALTERED timestamp, LAST_EXECUTED timestamp, EVENT_COMMENT text, ORIGINATOR int8, \
         CHARACTER_SET_CLIENT text, COLLATION_CONNECTION text, DATABASE_COLLATION text",
        none,
    ),
    of_schema(
        "files",
        "FILE_ID int8, FILE_NAME text, FILE_TYPE text, TABLESPACE_NAME text, TABLE_CATALOG text, TABLE_SCHEMA text, \
         TABLE_NAME text, LOGFILE_GROUP_NAME text, LOGFILE_GROUP_NUMBER int8, ENGINE text, FULLTEXT_KEYS text, \
         DELETED_ROWS int8, UPDATE_COUNT int8, FREE_EXTENTS int8, TOTAL_EXTENTS int8, EXTENT_SIZE int8, \
         INITIAL_SIZE int8, MAXIMUM_SIZE int8, AUTOEXTEND_SIZE int8, CREATION_TIME timestamp, \
         LAST_UPDATE_TIME timestamp, LAST_ACCESS_TIME timestamp, RECOVER_TIME int8, TRANSACTION_COUNTER int8, \
         VERSION int8, ROW_FORMAT text, TABLE_ROWS int8, AVG_ROW_LENGTH int8, DATA_LENGTH int8, \
         MAX_DATA_LENGTH int8, INDEX_LENGTH int8, DATA_FREE int8, CREATE_TIME timestamp, UPDATE_TIME timestamp, \
         CHECK_TIME timestamp, CHECKSUM text, STATUS text, EXTRA text",
        none,
    ),
    of_schema(
        "plugins",
        "PLUGIN_NAME text, PLUGIN_VERSION text, PLUGIN_STATUS text, PLUGIN_TYPE text, PLUGIN_TYPE_VERSION text, \
         PLUGIN_LIBRARY text, PLUGIN_LIBRARY_VERSION text, PLUGIN_AUTHOR text, PLUGIN_DESCRIPTION text, \
         PLUGIN_LICENSE text, LOAD_OPTION text",
        |_| {
            vec![row![
                "InnoDB",
                "8.0",
                "ACTIVE",
                "STORAGE ENGINE",
                "80036.0",
                NULL,
                NULL,
                "Rowferry",
                "Tables of the file",
                "Apache-2.0 OR MIT",
                "FORCE",
            ]]
        },
    ),
    of_schema("innodb_ft_default_stopword", "value text", |_| {
        rowferry_dialect::values::mysql::fulltext::words::STOPWORDS.iter().map(|word| row![*word]).collect()
    }),
    of_schema("keywords", "WORD text, RESERVED int8", |_| RESERVED.split(' ').map(|word| row![word, 1]).collect()),
    of_schema(
        "profiling",
        "QUERY_ID int8, SEQ int8, STATE text, DURATION numeric, CPU_USER numeric, CPU_SYSTEM numeric",
        none,
    ),
    live(of_schema("rowferry_diagnostics", "NUMBER int8, LEVEL text, CODE int8, MESSAGE text", |context| {
        let kept = context.state.diagnostics.lock();
        let row_of = |(at, (level, code, message)): (usize, &(&'static str, u16, String))| {
            row![at + 1, *level, i64::from(*code), message]
        };
        kept.iter().enumerate().map(row_of).collect()
    })),
    of_schema("rowferry_privileges", "PRIVILEGE text, CONTEXT text, COMMENT text", |_| {
        PRIVILEGES.iter().map(|(name, context, comment)| row![*name, *context, *comment]).collect()
    }),
    live(of_schema(
        "rowferry_maintained",
        "NUMBER int8, TABLE_NAME text, OP text, MSG_TYPE text, MSG_TEXT text, CHECKSUM int8",
        |context| {
            let kept = context.state.mysql.lock();
            let row_of = |(at, said): (usize, &crate::session::Said)| {
                row![at + 1, &said.table, said.op, said.kind, &said.text, said.checksum]
            };
            kept.maintained.iter().enumerate().map(row_of).collect()
        },
    )),
    live(of_schema("global_variables", "VARIABLE_NAME text, VARIABLE_VALUE text", global_variables)),
    live(of_schema("session_variables", "VARIABLE_NAME text, VARIABLE_VALUE text", session_variables)),
    live(of_schema("global_status", "VARIABLE_NAME text, VARIABLE_VALUE text", status)),
    live(of_schema("session_status", "VARIABLE_NAME text, VARIABLE_VALUE text", status)),
    live(performance("global_variables", "VARIABLE_NAME text, VARIABLE_VALUE text", global_variables)),
    live(performance("session_variables", "VARIABLE_NAME text, VARIABLE_VALUE text", session_variables)),
    live(performance("global_status", "VARIABLE_NAME text, VARIABLE_VALUE text", status)),
    live(performance("session_status", "VARIABLE_NAME text, VARIABLE_VALUE text", status)),
    live(performance(
        "threads",
        "THREAD_ID int8, NAME text, TYPE text, PROCESSLIST_ID int8, PROCESSLIST_USER text, PROCESSLIST_HOST text, \
         PROCESSLIST_DB text, PROCESSLIST_COMMAND text, PROCESSLIST_TIME int8, PROCESSLIST_STATE text, \
         PROCESSLIST_INFO text",
        |context| {
            let thread = |row: Row| {
                let id = row.first().cloned().unwrap_or(NULL);
                let mut thread = vec![id];
                thread.extend(row!["thread/sql/one_connection", "FOREGROUND"]);
                thread.extend(row);
                thread
            };
            processlist(context).into_iter().map(thread).collect()
        },
    )),
];

const fn live(table: Table) -> Table {
    Table { live: true, ..table }
}

const fn performance(name: &'static str, columns: &'static str, rows: fn(&Context<'_>) -> Vec<Row>) -> Table {
    in_namespace("mysql_performance_schema", name, columns, rows)
}

fn none(_: &Context<'_>) -> Vec<Row> {
    Vec::new()
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

const CHARACTER_SETS: &[(&str, &str, &str, i64)] = &[
    ("ascii", "ascii_general_ci", "US ASCII", 1),
    ("binary", "binary", "Binary pseudo charset", 1),
    ("latin1", "latin1_swedish_ci", "cp1252 West European", 1),
    ("utf8mb3", "utf8mb3_general_ci", "UTF-8 Unicode", 3),
    (CHARSET, "utf8mb4_0900_ai_ci", "UTF-8 Unicode", 4),
];

const COLLATIONS: &[(&str, &str, i64, bool, &str)] = &[
    ("ascii_general_ci", "ascii", 11, true, "PAD SPACE"),
    ("binary", "binary", 63, true, "NO PAD"),
    ("latin1_swedish_ci", "latin1", 8, true, "PAD SPACE"),
    ("utf8mb3_bin", "utf8mb3", 83, false, "PAD SPACE"),
    ("utf8mb3_general_ci", "utf8mb3", 33, true, "PAD SPACE"),
    ("utf8mb4_0900_ai_ci", CHARSET, 255, true, "NO PAD"),
    ("utf8mb4_0900_as_ci", CHARSET, 305, false, "NO PAD"),
    ("utf8mb4_0900_as_cs", CHARSET, 278, false, "NO PAD"),
    ("utf8mb4_0900_bin", CHARSET, 309, false, "NO PAD"),
    ("utf8mb4_bin", CHARSET, 46, false, "PAD SPACE"),
    ("utf8mb4_croatian_ci", CHARSET, 245, false, "PAD SPACE"),
    ("utf8mb4_czech_ci", CHARSET, 234, false, "PAD SPACE"),
    ("utf8mb4_danish_ci", CHARSET, 235, false, "PAD SPACE"),
    ("utf8mb4_de_pb_0900_ai_ci", CHARSET, 256, false, "NO PAD"),
    ("utf8mb4_es_0900_ai_ci", CHARSET, 263, false, "NO PAD"),
    ("utf8mb4_esperanto_ci", CHARSET, 241, false, "PAD SPACE"),
    ("utf8mb4_estonian_ci", CHARSET, 230, false, "PAD SPACE"),
    ("utf8mb4_general_ci", CHARSET, 45, false, "PAD SPACE"),
    ("utf8mb4_german2_ci", CHARSET, 244, false, "PAD SPACE"),
    ("utf8mb4_hungarian_ci", CHARSET, 242, false, "PAD SPACE"),
    ("utf8mb4_icelandic_ci", CHARSET, 225, false, "PAD SPACE"),
    ("utf8mb4_ja_0900_as_cs", CHARSET, 303, false, "NO PAD"),
    ("utf8mb4_latvian_ci", CHARSET, 226, false, "PAD SPACE"),
    ("utf8mb4_lithuanian_ci", CHARSET, 236, false, "PAD SPACE"),
    ("utf8mb4_persian_ci", CHARSET, 240, false, "PAD SPACE"),
    ("utf8mb4_polish_ci", CHARSET, 229, false, "PAD SPACE"),
    ("utf8mb4_romanian_ci", CHARSET, 227, false, "PAD SPACE"),
    ("utf8mb4_sinhala_ci", CHARSET, 243, false, "PAD SPACE"),
    ("utf8mb4_slovak_ci", CHARSET, 237, false, "PAD SPACE"),
    ("utf8mb4_slovenian_ci", CHARSET, 228, false, "PAD SPACE"),
    ("utf8mb4_spanish2_ci", CHARSET, 238, false, "PAD SPACE"),
    ("utf8mb4_spanish_ci", CHARSET, 231, false, "PAD SPACE"),
    ("utf8mb4_sv_0900_ai_ci", CHARSET, 264, false, "NO PAD"),
    ("utf8mb4_swedish_ci", CHARSET, 232, false, "PAD SPACE"),
    ("utf8mb4_turkish_ci", CHARSET, 233, false, "PAD SPACE"),
    ("utf8mb4_unicode_520_ci", CHARSET, 246, false, "PAD SPACE"),
    ("utf8mb4_unicode_ci", CHARSET, 224, false, "PAD SPACE"),
    ("utf8mb4_vietnamese_ci", CHARSET, 247, false, "PAD SPACE"),
];

/// The rights of GRANT: where each counts, and what for.
const PRIVILEGES: &[(&str, &str, &str)] = &[
    ("Alter", "Tables", "ALTER TABLE"),
    ("Alter routine", "Functions,Procedures", "ALTER and DROP of routines"),
    ("Create", "Databases,Tables,Indexes", "CREATE DATABASE and CREATE TABLE"),
    ("Create role", "Server Admin", "CREATE ROLE"),
    ("Create routine", "Databases", "CREATE FUNCTION and CREATE PROCEDURE"),
    ("Create tablespace", "Server Admin", "There are none"),
    ("Create temporary tables", "Databases", "CREATE TEMPORARY TABLE"),
    ("Create user", "Server Admin", "Users and their rights"),
    ("Create view", "Tables", "CREATE VIEW"),
    ("Delete", "Tables", "DELETE"),
    ("Drop", "Databases,Tables", "DROP of databases, tables and views"),
    ("Drop role", "Server Admin", "DROP ROLE"),
    ("Event", "Server Admin", "There are none"),
    ("Execute", "Functions,Procedures", "Calls of routines"),
    ("File", "File access on server", "Files of the server, which nobody reads or writes"),
    ("Grant option", "Databases,Tables,Functions,Procedures", "Rights may be given on"),
    ("Index", "Tables", "CREATE INDEX and DROP INDEX"),
    ("Insert", "Tables", "INSERT"),
    ("Lock tables", "Databases", "LOCK TABLES"),
    ("Process", "Server Admin", "Statements of others in SHOW PROCESSLIST"),
    ("Proxy", "Server Admin", "There are no proxies"),
    ("References", "Databases,Tables", "Foreign keys to the table"),
    ("Reload", "Server Admin", "FLUSH"),
    ("Replication client", "Server Admin", "SHOW MASTER STATUS"),
    ("Replication slave", "Server Admin", "There is no log for others"),
    ("Select", "Tables", "SELECT"),
    ("Show databases", "Server Admin", "SHOW DATABASES"),
    ("Show view", "Tables", "SHOW CREATE VIEW"),
    ("Shutdown", "Server Admin", "SHUTDOWN, which is refused"),
    ("Super", "Server Admin", "KILL of sessions of others"),
    ("Trigger", "Tables", "CREATE TRIGGER and DROP TRIGGER"),
    ("Update", "Tables", "UPDATE"),
    ("Usage", "Server Admin", "Nothing but to connect"),
];

/// A name that has to be quoted, as it is a word of SQL's.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.split(' ').any(|word| word.eq_ignore_ascii_case(name))
}

/// MySQL 8.0's reserved words.
const RESERVED: &str = "ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY \
    CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE CROSS CUBE \
    CUME_DIST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DATABASES DAY_HOUR \
    DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DEFAULT DELAYED DELETE DENSE_RANK DESC DESCRIBE \
    DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE DROP DUAL EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT EXISTS EXIT \
    EXPLAIN FALSE FETCH FIRST_VALUE FLOAT FLOAT4 FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERATED GET GRANT \
    GROUP GROUPING GROUPS HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE IN INDEX INFILE INNER \
    INOUT INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT INTERVAL INTO IO_AFTER_GTIDS IO_BEFORE_GTIDS \
    IS ITERATE JOIN JSON_TABLE KEY KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT LINEAR LINES LOAD \
    LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY MASTER_BIND MASTER_SSL_VERIFY_SERVER_CERT \
    MATCH MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND MINUTE_SECOND MOD MODIFIES NATURAL NOT \
    NO_WRITE_TO_BINLOG NTH_VALUE NTILE NULL NUMERIC OF ON OPTIMIZE OPTIMIZER_COSTS OPTION OPTIONALLY OR ORDER OUT OUTER \
    OUTFILE OVER PARTITION PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE RANGE RANK READ READS READ_WRITE REAL \
    RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL RESTRICT RETURN REVOKE RIGHT RLIKE ROW \
    ROWS ROW_NUMBER SCHEMA SCHEMAS SECOND_MICROSECOND SELECT SENSITIVE SEPARATOR SET SHOW SIGNAL SMALLINT SPATIAL \
    SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SSL STARTING \
    STORED STRAIGHT_JOIN SYSTEM TABLE TERMINATED THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION \
    UNIQUE UNLOCK UNSIGNED UPDATE USAGE USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR \
    VARCHARACTER VARYING VIRTUAL WHEN WHERE WHILE WINDOW WITH WRITE XOR YEAR_MONTH ZEROFILL";

/// Where a session looks for names without a database.
fn current_database(context: &Context<'_>, session: &State) -> String {
    let path = session.variables.read().search_path();
    let first = path.iter().find(|name| context.schema.has_namespace(name));
    database(context, first.map_or("public", String::as_str)).to_owned()
}

fn processlist(context: &Context<'_>) -> Vec<Row> {
    pg_stat_activity::visible(context)
        .into_iter()
        .map(|(session, may_see)| {
            let activity = session.activity.lock().clone();
            let idle = activity.state != "active";
            let since = now().saturating_sub(activity.state_change.max(activity.statement_start) / 1_000_000);
            let query = (!idle && may_see).then(|| rowferry_dialect::mask_secrets(&activity.query).into_owned());
            row![
                session.pid,
                &session.user,
                if session.client_address.is_empty() { "localhost" } else { session.client_address.as_str() },
                current_database(context, &session),
                if idle { "Sleep" } else { "Query" },
                since.max(0),
                if idle { "" } else { "executing" },
                query,
            ]
        })
        .collect()
}

fn global_variables(_: &Context<'_>) -> Vec<Row> {
    let all = VARIABLES.iter().filter(|variable| variable.scope != Scope::Session);
    all.map(|variable| row![variable.name, variable.value]).collect()
}

fn session_variables(context: &Context<'_>) -> Vec<Row> {
    let kept = context.state.variables.read();
    let value = |variable: &'static variables::Variable| match kept.get(&variables::kept_as(variable)) {
        Some(set) => Some(set),
        None => worked_out(
            variable,
            context.state.sequences.lock().serial,
            context.state.pid,
            &context.state.server_address,
        ),
    };
    VARIABLES.iter().map(|variable| row![variable.name, value(variable)]).collect()
}

fn status(context: &Context<'_>) -> Vec<Row> {
    let sessions = pg_stat_activity::visible(context);
    let running = sessions.iter().filter(|(session, _)| session.activity.lock().state == "active").count();
    let uptime = now().saturating_sub(crate::database::server_start() / 1_000_000);
    let number = |value: i64| value.to_string();
    // What the door has said of the session's connection.
    let told = |name: &str| context.state.variables.read().get(name).unwrap_or_default();
    vec![
        row!["Threads_connected", number(sessions.len() as i64)],
        row!["Threads_running", number(running as i64)],
        row!["Uptime", number(uptime.max(0))],
        row!["Ssl_cipher", told("mysql_status.ssl_cipher")],
        row!["Ssl_version", told("mysql_status.ssl_version")],
        row!["Compression", "OFF"],
    ]
}
