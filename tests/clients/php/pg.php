<?php
// PHP's pg_ functions: texts, parameters and prepared statements, asynchronous ones, what fields are, errors' parts, copies, notifications, large objects, traces.
require __DIR__ . '/tour.php';

$words = "host=$place->host port=$place->port dbname=$place->database user=$place->user";
$db = pg_connect($words);
set_error_handler(function (int $level, string $message) { throw new ErrorException($message, 0, $level); });
function rows(string $sql, ?array $params = null): array {
    global $db;
    return pg_fetch_all($params === null ? pg_query($db, $sql) : pg_query_params($db, $sql, $params), PGSQL_ASSOC);
}
/** The parts of a result's error. */
function parts(PgSql\Result $result): array {
    $found = [];
    foreach (['SEVERITY' => PGSQL_DIAG_SEVERITY, 'SQLSTATE' => PGSQL_DIAG_SQLSTATE, 'PRIMARY' => PGSQL_DIAG_MESSAGE_PRIMARY, 'DETAIL' => PGSQL_DIAG_MESSAGE_DETAIL, 'HINT' => PGSQL_DIAG_MESSAGE_HINT, 'POSITION' => PGSQL_DIAG_STATEMENT_POSITION, 'SCHEMA' => PGSQL_DIAG_SCHEMA_NAME, 'TABLE' => PGSQL_DIAG_TABLE_NAME, 'COLUMN' => PGSQL_DIAG_COLUMN_NAME, 'TYPE' => PGSQL_DIAG_DATATYPE_NAME, 'CONSTRAINT' => PGSQL_DIAG_CONSTRAINT_NAME] as $name => $field) {
        $found[$name] = pg_result_error_field($result, $field);
    }
    return array_filter($found, fn ($part) => $part !== null && $part !== false);
}

step('the connection', fn () => [pg_dbname($db), pg_client_encoding($db), pg_parameter_status($db, 'server_encoding'), pg_parameter_status($db, 'DateStyle'), pg_parameter_status($db, 'integer_datetimes'), pg_parameter_status($db, 'standard_conforming_strings'), pg_connection_status($db), pg_connection_busy($db), pg_transaction_status($db), pg_ping($db), array_keys(pg_version($db)), pg_get_pid($db) > 0]);
step('a table of all types', fn () => [pg_result_status(pg_query($db, "CREATE TABLE kinds (id SERIAL PRIMARY KEY, flag BOOLEAN, small SMALLINT, big BIGINT, n NUMERIC(20, 5), f REAL, d DOUBLE PRECISION, c CHAR(5), vc VARCHAR(50) DEFAULT 'x', t TEXT, b BYTEA, dt DATE, tm TIME(3), dtm TIMESTAMP(6), ts TIMESTAMPTZ, iv INTERVAL, j JSON, jb JSONB, u UUID, a INT[], w TEXT[], ip INET, mac MACADDR, bits BIT(5), vb VARBIT(9), m MONEY, r INT4RANGE, ch \"char\", p POINT, ck INT CHECK (ck > 0))")),
    pg_insert($db, 'kinds', ['flag' => 't', 'small' => -5, 'big' => '-9223372036854775808', 'n' => '123456789012345.12345', 'f' => 0.5, 'd' => 1e300, 'c' => 'ab', 'vc' => 'žluť 🐎', 't' => "line\nline \\ '", 'dt' => '2024-02-29', 'dtm' => '2024-02-29 23:59:59.123456'], PGSQL_DML_ESCAPE) instanceof PgSql\Result,
    pg_affected_rows(pg_query_params($db, 'UPDATE kinds SET b = $1, tm = $2, ts = $3, iv = $4, j = $5, jb = $6, u = $7, a = $8, w = $9, ip = $10, mac = $11, bits = $12, vb = $13, m = $14, r = $15, ch = $16, p = $17, ck = $18 WHERE id = $19', ['\x00ff275c', '23:59:59.999', '2024-02-29 23:59:59+02', '1 year 2 days 03:04:05.5', '{"k": [1, 2.5]}', '{"b": 1, "a": [1, 2.50]}', '6fa459ea-ee8a-3ca4-894e-db77e160355e', '{1,NULL,3}', '{ž,"a,b",NULL}', '10.0.0.1/8', '08:00:2b:01:02:03', '10101', '101', '12.5', '[1,5)', 'A', '(1,2.5)', 7, 1])), rows('SELECT * FROM kinds')]);
step('what fields are', function () use ($db) {
    $result = pg_query($db, "SELECT *, n + 1 AS more, 'x' AS word, NULL AS nothing, count(*) OVER () AS c FROM kinds k");
    $found = [];
    for ($at = 0; $at < pg_num_fields($result); $at++) {
        $found[] = [pg_field_name($result, $at), pg_field_type($result, $at), pg_field_type_oid($result, $at), pg_field_size($result, $at), pg_field_table($result, $at)];
    }
    return [...$found, pg_field_num($result, 'vc'), pg_num_rows($result)];
});
step('what a table is', fn () => [pg_meta_data($db, 'kinds')['vc'], pg_meta_data($db, 'kinds')['id'], array_keys(pg_meta_data($db, 'kinds')), pg_convert($db, 'kinds', ['vc' => "it's", 'small' => '12', 'flag' => 'yes']), count(pg_select($db, 'kinds', ['id' => '1']) ?: []), pg_update($db, 'kinds', ['small' => 8], ['id' => 1]), count(pg_select($db, 'kinds', ['small' => '8']) ?: []), pg_delete($db, 'kinds', ['id' => 77])]);
step('parameters', fn () => [rows('SELECT $1::int + 1 AS a, $2 AS b, $3::bool AS c, $4::text AS d, $5::numeric AS e', [41, "it's", 'true', null, '1.50']), rows("SELECT id FROM kinds WHERE vc = \$1 AND dt = \$2 AND \$3 = ANY (w)", ['žluť 🐎', '2024-02-29', 'a,b'])]);
step('prepared statements', function () use ($db) {
    pg_prepare($db, 'one', 'SELECT $1::text AS a, id FROM kinds WHERE id = $2');
    pg_prepare($db, '', 'SELECT 1 AS unnamed WHERE $1');
    $found = [pg_fetch_assoc(pg_execute($db, 'one', ['x', 1])), pg_fetch_assoc(pg_execute($db, 'one', ['y', 2])), pg_fetch_assoc(pg_execute($db, '', ['t'])), refused(fn () => pg_prepare($db, 'one', 'SELECT 1')), refused(fn () => pg_execute($db, 'none', [])), refused(fn () => pg_execute($db, 'one', ['x'])), refused(fn () => pg_query_params($db, 'SELECT $1::json', ['{broken']))];
    return [...$found, rows('SELECT name, statement, parameter_types::text FROM pg_prepared_statements ORDER BY name'), pg_fetch_row(pg_query($db, "EXECUTE one('z', 1)")), pg_result_status(pg_query($db, 'DEALLOCATE one'), PGSQL_STATUS_STRING)];
});
step('ways to fetch', function () use ($db) {
    pg_query($db, "CREATE TABLE words (id INT PRIMARY KEY, word TEXT); INSERT INTO words VALUES (1, 'one'), (2, NULL), (3, 'ž')");
    $result = pg_query($db, 'SELECT id, word FROM words ORDER BY id');
    $found = [pg_fetch_row($result), pg_fetch_array($result), pg_fetch_object($result), pg_fetch_assoc($result), pg_fetch_result($result, 2, 'word'), pg_fetch_all_columns($result, 1), pg_result_seek($result, 1), pg_fetch_row($result), pg_result_status($result), pg_free_result($result)];
    return [...$found, rows('SELECT 1 WHERE false'), pg_num_fields(pg_query($db, 'SELECT FROM words'))];
});
step('tags and counts', fn () => array_map(fn ($sql) => [pg_result_status($result = pg_query($db, $sql), PGSQL_STATUS_STRING), pg_affected_rows($result), pg_result_status($result)], ["INSERT INTO words VALUES (4, 'x'), (5, 'y')", "UPDATE words SET word = 'z' WHERE id > 3", 'DELETE FROM words WHERE id > 4', 'SELECT * FROM words', 'CREATE TABLE made AS SELECT * FROM words', 'TRUNCATE made', 'DROP TABLE made', 'BEGIN', 'SAVEPOINT a', 'RELEASE a', 'COMMIT', 'SET search_path = public', 'SHOW DateStyle', "INSERT INTO words VALUES (9, 'r') RETURNING *", 'EXPLAIN SELECT 1', 'VALUES (1), (2)']));
step('several statements at once', function () use ($db) {
    pg_send_query($db, "SELECT 1 AS a; UPDATE words SET word = 'w' WHERE id = 9; SELECT 2 AS b, 3 AS c; SELECT * FROM nowhere; SELECT 4");
    $found = [];
    while ($result = pg_get_result($db)) {
        $found[] = [pg_result_status($result, PGSQL_STATUS_STRING), pg_result_status($result) === PGSQL_TUPLES_OK ? pg_fetch_all($result) : trim((string) pg_result_error($result))];
    }
    // They were one transaction.
    return [...$found, rows('SELECT word FROM words WHERE id = 9')];
});
step('asynchronous statements', function () use ($db) {
    $found = [pg_send_query_params($db, 'SELECT pg_sleep(0.05), $1::int AS n', [7]), pg_connection_busy($db)];
    $found[] = pg_fetch_assoc(pg_get_result($db))['n'];
    $found[] = pg_get_result($db);
    pg_send_prepare($db, 'later', 'SELECT $1 || $2 AS joined');
    $found[] = pg_result_status(pg_get_result($db));
    while (pg_get_result($db)) {
    }
    pg_send_execute($db, 'later', ['a', 'ž']);
    $found[] = pg_fetch_all(pg_get_result($db));
    while (pg_get_result($db)) {
    }
    pg_send_query($db, 'SELECT pg_sleep(20)');
    usleep(100000);
    // A server forgets what it is asked before it has begun.
    $found[] = pg_cancel_query($db);
    return [...$found, rows('SELECT 1 AS one')];
});
step('rows as they come', function () use ($db) {
    pg_query($db, "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT g FROM generate_series(1, 200) g");
    $found = [rows('FETCH 2 FROM c'), rows('FETCH ABSOLUTE -1 FROM c'), rows('FETCH BACKWARD 2 FROM c'), pg_affected_rows(pg_query($db, 'MOVE FORWARD ALL IN c')), rows('FETCH PRIOR FROM c')];
    pg_query($db, 'CLOSE c; COMMIT');
    return $found;
});
step("errors' parts", function () use ($db) {
    pg_query($db, 'CREATE TABLE child (id INT PRIMARY KEY, word INT NOT NULL REFERENCES words (id))');
    return array_map(function ($sql) use ($db) {
        pg_send_query($db, $sql);
        $found = parts(pg_get_result($db));
        while (pg_get_result($db)) {
        }
        return $found;
    }, ['SELEC 1', 'SELECT * FROM nowhere', 'SELECT wrd FROM words', "INSERT INTO words VALUES (1, 'x')", 'INSERT INTO child VALUES (1, 99)', 'INSERT INTO child VALUES (1, NULL)', 'UPDATE child SET word = NULL; UPDATE words SET id = NULL WHERE id = 1', 'INSERT INTO kinds (ck) VALUES (0)', 'UPDATE kinds SET ck = -1', "INSERT INTO kinds (vc) VALUES (repeat('x', 51))", 'SELECT 1 / 0', "SELECT 'x'::int", "SELECT '2024-02-30'::date", 'SELECT nosuch(1)', "SELECT 'a' + 1", 'SELECT id FROM words, kinds', 'DROP TABLE words', 'DROP TABLE nowhere', 'CREATE TABLE words (id INT)', 'SELECT count(*) FROM words GROUP BY nope', 'SELECT word, count(*) FROM words', 'INSERT INTO words (id, id) VALUES (1, 1)', 'INSERT INTO words VALUES (1, 2, 3)', "SELECT '{1'::int[]", "SELECT '{\"a\"'::json", 'ALTER TABLE words ADD COLUMN id INT', 'ROLLBACK TO a', 'SELECT 99999999999::int', "SELECT jsonb '{}' -> 1 -> 'x' || 5", 'SET nosuch = 1', "SELECT now() AT TIME ZONE 'Mars'", 'TRUNCATE nowhere', 'ALTER TABLE nowhere ADD a INT', 'CREATE INDEX ON nowhere (a)', 'COMMENT ON TABLE nowhere IS NULL', "SELECT * FROM words WHERE id = 'x'"]);
});
step('notices', function () use ($db) {
    pg_query($db, 'DROP TABLE IF EXISTS nowhere; CREATE TABLE IF NOT EXISTS words (id INT)');
    pg_query($db, "DO $$ BEGIN RAISE NOTICE 'value %', 5 USING HINT = 'look'; RAISE WARNING 'žluť'; END $$");
    return [array_map('trim', pg_last_notice($db, PGSQL_NOTICE_ALL)), pg_last_notice($db, PGSQL_NOTICE_CLEAR), pg_transaction_status($db)];
});
step('transactions', function () use ($db) {
    pg_query($db, 'BEGIN');
    $found = [pg_transaction_status($db), refused(fn () => pg_query($db, 'SELECT * FROM nowhere')), pg_transaction_status($db), refused(fn () => pg_query($db, 'SELECT 1')), pg_result_status(pg_query($db, 'COMMIT'), PGSQL_STATUS_STRING)];
    return [...$found, pg_transaction_status($db)];
});
step('copies', fn () => [pg_copy_to($db, 'words'), pg_copy_from($db, 'words', ["20\ttwenty\n", "21\t\\N\n", "22\tback\\\\slash\n"]), pg_copy_to($db, 'words', '|', 'none'), refused(fn () => pg_copy_from($db, 'words', ["20\tagain\n"])), rows('SELECT word FROM words WHERE id > 19 ORDER BY id'),
    pg_result_status(pg_query($db, "COPY words FROM STDIN (FORMAT csv)")), pg_put_line($db, "30,\"co,mma\"\n"), pg_put_line($db, "\\.\n"), pg_end_copy($db), rows('SELECT word FROM words WHERE id = 30')]);
step('notifications', function () use ($db, $words) {
    $other = pg_connect($words, PGSQL_CONNECT_FORCE_NEW);
    pg_query($db, 'LISTEN news; LISTEN "Other News"');
    pg_query($other, "NOTIFY news, 'žluť'; SELECT pg_notify('Other News', '')");
    $got = [];
    for ($n = 0; $n < 100 && count($got) < 2; $n++) {
        if ($one = pg_get_notify($db, PGSQL_ASSOC)) {
            $got[] = [$one['message'], $one['payload'], $one['pid'] === pg_get_pid($other)];
        }
        usleep(10000);
    }
    pg_close($other);
    return [...$got, pg_get_notify($db)];
});
step('large objects', function () use ($db) {
    pg_query($db, 'BEGIN');
    $oid = pg_lo_create($db);
    $object = pg_lo_open($db, $oid, 'r+');
    $found = [pg_lo_write($object, "bytes\x00and more"), pg_lo_seek($object, 3, PGSQL_SEEK_SET), pg_lo_read($object, 5), pg_lo_tell($object), pg_lo_truncate($object, 4), pg_lo_seek($object, 0, PGSQL_SEEK_END), pg_lo_tell($object), pg_lo_close($object), pg_lo_unlink($db, $oid)];
    pg_query($db, 'COMMIT');
    return $found;
});
step('quoting', fn () => [pg_escape_string($db, "it's \\ ž"), pg_escape_literal($db, "it's \\ ž"), pg_escape_identifier($db, 'a"b C'), pg_escape_bytea($db, "\x00\xff'\\"), pg_unescape_bytea(rows("SELECT '" . pg_escape_bytea($db, "\x00\xff'\\") . "'::bytea AS b")[0]['b']) === "\x00\xff'\\"]);
step('the session', function () use ($db) {
    $found = [pg_set_client_encoding($db, 'LATIN1'), bin2hex(rows("SELECT 'é' || chr(233) AS a")[0]['a']), refused(fn () => rows("SELECT chr(382) AS a")), pg_set_client_encoding($db, 'UTF8')];
    pg_query($db, "SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'iso_8601'; SET bytea_output = 'escape'; SET TimeZone = 'Europe/Prague'; SET extra_float_digits = 0");
    $found[] = rows("SELECT date '2024-02-03' AS d, interval '1 year 2 days 3.5 seconds' AS i, '\\x00ff41'::bytea AS b, timestamptz '2024-07-01 00:00:00+00' AS t, 0.1::float8 + 0.2 AS f");
    pg_query($db, 'RESET ALL');
    return [...$found, rows("SELECT date '2024-02-03' AS d, current_setting('TimeZone') <> '' AS z"), pg_connection_reset($db), pg_connection_status($db)];
});
step('connections that stay, and that are refused', function () use ($words) {
    $one = pg_pconnect($words . " application_name='tour' options='-c statement_timeout=5000'");
    $found = [pg_fetch_row(pg_query($one, "SELECT current_setting('application_name'), current_setting('statement_timeout')"))];
    return [...$found, refused(fn () => pg_connect(str_replace('dbname=store', 'dbname=nowhere', $words))), refused(fn () => pg_connect($words . " options='-c nosuch=1'"))];
});
