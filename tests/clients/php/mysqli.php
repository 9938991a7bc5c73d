<?php
// mysqli: texts and prepared statements, several statements at once, asynchronous ones, files sent along, what columns are told to be.
require __DIR__ . '/tour.php';

mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
function connected(int $flags = 0, array $options = []): mysqli {
    global $place;
    $db = mysqli_init();
    foreach ($options as $option => $value) {
        $db->options($option, $value);
    }
    $db->real_connect($place->host, $place->user, $place->password, $place->database, $place->port, null, $flags);
    $db->set_charset('utf8mb4');
    return $db;
}
$db = connected(0, [MYSQLI_OPT_LOCAL_INFILE => 1]);
function rows(string $sql, ?array $params = null): array {
    global $db;
    return $db->execute_query($sql, $params)->fetch_all(MYSQLI_ASSOC);
}

step('the server', fn () => [$db->server_info !== '', $db->protocol_version, $db->character_set_name(), $db->get_charset()->collation, $db->stat() !== '', $db->thread_id > 0, $db->warning_count, $db->sqlstate, $db->ping()]);
step('a table of all types', function () use ($db) {
    $db->query("CREATE TABLE kinds (
        id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, flag TINYINT(1) DEFAULT 1, small SMALLINT UNSIGNED, medium MEDIUMINT, big BIGINT, ubig BIGINT UNSIGNED, n DECIMAL(20, 5), f FLOAT, d DOUBLE, fd DOUBLE(10, 2),
        bits BIT(10), c CHAR(5), vc VARCHAR(50) NOT NULL DEFAULT 'x', t TEXT, mt MEDIUMTEXT, bin BINARY(4), vb VARBINARY(10), bl BLOB, lb LONGBLOB, dt DATE, tm TIME(3), dtm DATETIME(6), ts TIMESTAMP NULL, y YEAR, j JSON,
        e ENUM('small', 'large'), s SET('a', 'b', 'c'), UNIQUE KEY one (vc), KEY two (dt, e))");
    $plain = $db->query('SELECT * FROM kinds k')->fetch_fields();
    $computed = $db->query('SELECT big + 1 AS more, 1.5 AS n, NOW() AS moment, CURDATE() AS day, COUNT(*) AS count, MAX(vc) AS most, MAX(dtm) AS last, SUM(n) AS sum, AVG(d) AS mean, id IS NULL AS truth, x.y FROM kinds, (SELECT y FROM kinds) x GROUP BY id, x.y')->fetch_fields();
    return [...array_map(fn ($field) => [$field->name, $field->orgname, $field->table, $field->orgtable, $field->db, $field->type, $field->flags, $field->decimals, $field->length, $field->charsetnr], $plain), ...array_map(fn ($field) => [$field->name, $field->table, $field->type, $field->decimals, $field->charsetnr], $computed)];
});
$row = [-5, 65535, -8388608, '-9223372036854775808', '18446744073709551615', '123456789012345.12345', 0.5, 1e300, 2.345, 'ab', 'žluť 🐎', "line\nline", str_repeat('x', 70000), "\x01\x02\x03", "\x00\xff", "blob\x00'\\", '2024-02-29', '-838:59:59.000', '2024-02-29 23:59:59.123456', '2024-05-06 07:08:09', 2024, '{"k": [1, 2.5, null, "x"]}', 'large', 'a,c'];
step('a row of parameters, read in both ways', function () use ($db, $row) {
    $sql = 'INSERT INTO kinds (bits, tiny, small, medium, big, ubig, n, f, d, fd, c, vc, t, mt, bin, vb, bl, dt, tm, dtm, ts, y, j, e, s) VALUES (b\'1011\', ' . implode(', ', array_fill(0, count($row), '?')) . ')';
    $statement = $db->prepare($sql);
    $found = [$statement->param_count, $statement->execute($row), $statement->affected_rows, $statement->insert_id, $statement->field_count];
    return [...$found, ...$db->query('SELECT * FROM kinds')->fetch_all(MYSQLI_ASSOC), ...rows('SELECT * FROM kinds', []), rows('SELECT tiny, f, ubig, n FROM kinds WHERE vc = ? AND dt = ?', ['žluť 🐎', '2024-02-29'])];
});
step('numbers as the server has them', function () use ($row) {
    $native = connected(0, [MYSQLI_OPT_INT_AND_FLOAT_NATIVE => 1]);
    $found = $native->query('SELECT tiny, big, ubig, n, f, d, fd, y, bits, flag FROM kinds')->fetch_row();
    $native->close();
    return [$found];
});
step('bound parameters and results', function () use ($db) {
    $statement = $db->prepare('SELECT id, vc, n, ? AS a, ? + 1 AS b, ? AS c, ? AS d FROM kinds WHERE id >= ? ORDER BY id');
    $statement->bind_param('sidsi', $text, $number, $float, $nothing, $least);
    [$text, $number, $float, $nothing, $least] = ["it's", 41, 2.5, null, 1];
    $statement->execute();
    $statement->bind_result($id, $vc, $n, $a, $b, $c, $d);
    $statement->store_result();
    $found = [$statement->num_rows, $statement->result_metadata()->field_count, array_map(fn ($field) => [$field->name, $field->type], $statement->result_metadata()->fetch_fields())];
    while ($statement->fetch()) {
        $found[] = [$id, $vc, $n, $a, $b, $c, $d];
    }
    $statement->free_result();
    $least = 99;
    $statement->execute();
    $found[] = $statement->fetch();
    $statement->reset();
    $statement->close();
    return $found;
});
step('a parameter that is sent in pieces', function () use ($db) {
    $statement = $db->prepare('UPDATE kinds SET lb = ? WHERE id = ?');
    [$bytes, $id] = [null, 1];
    $statement->bind_param('bi', $bytes, $id);
    foreach (range(1, 40) as $n) {
        $statement->send_long_data(0, str_repeat(chr($n), 10000));
    }
    $statement->execute();
    return [$statement->affected_rows, rows('SELECT LENGTH(lb) AS l, HEX(SUBSTRING(lb, 9999, 3)) AS m FROM kinds')];
});
step('cursors', function () use ($db) {
    $db->query('CREATE TABLE many (id INT PRIMARY KEY, word VARCHAR(20))');
    $db->query('INSERT INTO many WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 700) SELECT i, CONCAT("w", i) FROM n');
    $statement = $db->prepare('SELECT id, word FROM many WHERE id > ? ORDER BY id');
    $statement->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    $statement->execute([10]);
    $statement->bind_result($id, $word);
    $sum = 0;
    for ($n = 0; $n < 120 && $statement->fetch(); $n++) {
        $sum += $id;
        if ($n === 60) {
            // Another statement goes between.
            $sum += (int) $db->query('SELECT COUNT(*) FROM many')->fetch_row()[0];
        }
    }
    $statement->close();
    return [$sum, $db->query('SELECT 1')->fetch_row()];
});
step('rows that are fetched as they come', function () use ($db) {
    $result = $db->query('SELECT id, word FROM many ORDER BY id', MYSQLI_USE_RESULT);
    $found = [$result->fetch_row(), $result->fetch_assoc(), $result->fetch_object(), $result->fetch_array(), $result->fetch_column(1)];
    $found[] = refused(fn () => $db->query('SELECT 1'));
    $result->free();
    $stored = $db->query('SELECT id, word FROM many ORDER BY id');
    $stored->data_seek(500);
    return [...$found, $stored->num_rows, $stored->fetch_row(), $stored->lengths, $stored->field_count, iterator_count($stored)];
});
step('several statements at once', function () use ($db) {
    $found = [];
    $db->multi_query("SELECT 1 AS a; INSERT INTO many VALUES (1001, 'm'), (1002, 'n'); UPDATE many SET word = 'o' WHERE id > 1000; DO 1; SELECT id FROM many WHERE id > 1000; SELECT 2 WHERE FALSE");
    do {
        $result = $db->store_result();
        $found[] = $result ? $result->fetch_all() : [$db->affected_rows, $db->insert_id, $db->info];
    } while ($db->more_results() && $db->next_result());
    $db->multi_query('SELECT 1; SELECT * FROM nowhere; SELECT 2');
    $found[] = $db->store_result()->fetch_all();
    $found[] = refused(fn () => $db->next_result());
    $found[] = $db->more_results();
    return [...$found, $db->query('SELECT 3')->fetch_row(), refused(fn () => $db->query('SELECT 1; SELECT 2'))];
});
step('routines', function () use ($db) {
    $db->query('CREATE PROCEDURE both_of(IN least INT, INOUT n INT) BEGIN SELECT id FROM many WHERE id >= least ORDER BY id LIMIT 2; SELECT "end" AS word, n; SET n = n + least; END');
    $db->query('SET @n = 5');
    $db->multi_query('CALL both_of(3, @n)');
    $found = [];
    do {
        $result = $db->store_result();
        $found[] = $result ? $result->fetch_all() : $db->affected_rows;
    } while ($db->more_results() && $db->next_result());
    $found[] = $db->query('SELECT @n')->fetch_row();
    $statement = $db->prepare('CALL both_of(?, @n)');
    $statement->execute([4]);
    do {
        $result = $statement->get_result();
        $found[] = $result ? $result->fetch_all() : 'no rows';
    } while ($statement->more_results() && $statement->next_result());
    return [...$found, rows('SELECT @n AS n')];
});
step('asynchronous statements', function () {
    $links = [connected(), connected(), connected()];
    foreach ($links as $n => $link) {
        $link->query("SELECT SLEEP(0.0$n) AS s, $n AS n", MYSQLI_ASYNC);
    }
    $links[2]->reap_async_query()->free();
    $links[2]->query('SELECT * FROM nowhere', MYSQLI_ASYNC);
    $found = [];
    while (count($found) < 3) {
        [$read, $errors, $rejects] = [$links, $links, $links];
        if (!mysqli::poll($read, $errors, $rejects, 5)) {
            break;
        }
        foreach ($read as $link) {
            $n = array_search($link, $links, true);
            $found[$n] = $n === 2 ? refused(fn () => $link->reap_async_query()) : $link->reap_async_query()->fetch_row();
            unset($links[$n]);
        }
    }
    ksort($found);
    return array_values($found);
});
step('a file that is sent along', function () use ($db) {
    $file = tempnam(sys_get_temp_dir(), 'rows');
    file_put_contents($file, "2001,\"seven, eight\"\n2002,ž\n2003,\\N\n2001,again\n");
    $db->query("LOAD DATA LOCAL INFILE '$file' INTO TABLE many CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' (id, word)");
    $found = [$db->info, $db->affected_rows, $db->warning_count, rows('SELECT * FROM many WHERE id > 2000 ORDER BY id')];
    unlink($file);
    return [...$found, refused(fn () => $db->query("LOAD DATA LOCAL INFILE '/nowhere/at/all' INTO TABLE many"))];
});
step('counts, words and numbers', function () use ($db) {
    $found = [];
    $db->query('CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE, v VARCHAR(10))');
    foreach (["INSERT INTO counted (k, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')", 'UPDATE counted SET v = v', "UPDATE counted SET v = 'z' WHERE k < 3", "INSERT INTO counted (k, v) VALUES (1, 'q') ON DUPLICATE KEY UPDATE v = 'q'", "INSERT INTO counted (k, v) VALUES (1, 'q') ON DUPLICATE KEY UPDATE v = 'q'",
        "REPLACE INTO counted (k, v) VALUES (2, 'r'), (9, 'n')", "INSERT IGNORE INTO counted (k, v) VALUES (9, 'x'), (10, 'too long for it')", 'SELECT * FROM counted', 'DELETE FROM counted WHERE k > 3', 'ALTER TABLE counted ADD w INT', 'TRUNCATE TABLE counted', 'INSERT INTO counted SELECT NULL, id, word FROM many LIMIT 5', 'SET @a = 1', 'CREATE TABLE IF NOT EXISTS counted (id INT)'] as $sql) {
        try {
            $db->query($sql);
            $found[] = [$db->affected_rows, $db->insert_id, $db->info, $db->warning_count, $db->field_count];
        } catch (mysqli_sql_exception $error) {
            $found[] = told($error);
        }
    }
    $warned = connected(MYSQLI_CLIENT_FOUND_ROWS);
    $warned->query("UPDATE many SET word = 'w1' WHERE id = 1");
    $found[] = [$warned->affected_rows, $warned->info];
    $warned->query('SET sql_mode = ""');
    $warned->query("INSERT INTO kinds (vc, tiny, c) VALUES ('loose', 300, 'too long')");
    $warnings = [];
    for ($warning = $warned->get_warnings(), $go = (bool) $warning; $go; $go = $warning->next()) {
        $warnings[] = [$warning->errno, $warning->sqlstate, $warning->message];
    }
    return [...$found, ...$warnings, $warned->query('SELECT tiny, c FROM kinds WHERE vc = "loose"')->fetch_row()];
});
step('transactions', function () use ($db) {
    $db->autocommit(false);
    $db->query("UPDATE many SET word = 'in' WHERE id = 5");
    $other = connected();
    $found = [$other->query('SELECT word FROM many WHERE id = 5')->fetch_row(), $db->rollback()];
    $db->autocommit(true);
    $db->begin_transaction(MYSQLI_TRANS_START_READ_ONLY, 'named');
    $found[] = refused(fn () => $db->query("UPDATE many SET word = 'in' WHERE id = 5"));
    $db->commit();
    $db->begin_transaction(MYSQLI_TRANS_START_WITH_CONSISTENT_SNAPSHOT);
    $db->query('DELETE FROM many WHERE id = 6');
    $found[] = [$db->savepoint('a'), $db->query('DELETE FROM many WHERE id = 7'), $db->query('ROLLBACK TO SAVEPOINT a'), $db->release_savepoint('a')];
    $db->commit(MYSQLI_TRANS_COR_AND_CHAIN);
    $db->query('DELETE FROM many WHERE id = 8');
    $db->rollback(MYSQLI_TRANS_COR_AND_NO_CHAIN);
    $other->query('SET innodb_lock_wait_timeout = 1');
    $db->begin_transaction();
    $db->query('SELECT * FROM many WHERE id = 9 FOR UPDATE');
    $found[] = refused(fn () => $other->query('UPDATE many SET word = 1 WHERE id = 9'));
    $found[] = refused(fn () => $other->query('SELECT * FROM many WHERE id = 9 FOR SHARE NOWAIT'));
    $found[] = $other->query('SELECT id FROM many WHERE id IN (9, 10) FOR UPDATE SKIP LOCKED')->fetch_all();
    $db->rollback();
    return [...$found, rows('SELECT id, word FROM many WHERE id BETWEEN 5 AND 8')];
});
step('a statement that is ended', function () use ($db) {
    $other = connected();
    $other->query('SELECT COUNT(*) FROM many a, many b, many c WHERE a.word < b.word AND b.word < c.word', MYSQLI_ASYNC);
    usleep(100000);
    $db->query("KILL QUERY $other->thread_id");
    $found = [];
    try {
        $found[] = $other->reap_async_query()->fetch_row();
    } catch (mysqli_sql_exception $error) {
        $found[] = told($error);
    }
    $found[] = $other->query('SELECT 1')->fetch_row();
    $db->query("KILL $other->thread_id");
    usleep(50000);
    return [...$found, preg_replace('/ \[\S+\]/', '', refused(fn () => $other->query('SELECT 1')))];
});
step('a session that begins again', function () use ($db, $place) {
    $db->query('SET @x = 1');
    $db->query('CREATE TEMPORARY TABLE tmp (id INT)');
    $found = [$db->query('SELECT @x')->fetch_row(), $db->change_user($place->user, $place->password, $place->database), $db->query('SELECT @x, DATABASE()')->fetch_row(), refused(fn () => $db->query('SELECT * FROM tmp'))];
    return [...$found, $db->select_db('information_schema'), $db->query('SELECT DATABASE()')->fetch_row(), $db->select_db($place->database), refused(fn () => $db->select_db('nowhere'))];
});
step('errors', fn () => array_map(fn ($sql) => refused(fn () => $GLOBALS['db']->query($sql)), [
    'SELEC 1', 'SELECT * FROM missing', 'SELECT nope FROM kinds', "INSERT INTO kinds (vc) VALUES ('loose')", 'INSERT INTO kinds (vc) VALUES (NULL)', "INSERT INTO kinds (vc, tiny) VALUES ('a', 300)", "INSERT INTO kinds (vc, e) VALUES ('a', 'none')", "INSERT INTO kinds (vc, s) VALUES ('a', 'z')", "INSERT INTO kinds (vc, dt) VALUES ('a', '2024-13-01')",
    "INSERT INTO kinds (vc, n) VALUES ('a', 'x')", "INSERT INTO kinds (vc, y) VALUES ('a', 1800)", "INSERT INTO kinds (vc, c) VALUES ('a', 'abcdef')", "INSERT INTO kinds (vc, bits) VALUES ('a', 2000)", "INSERT INTO kinds (vc, ubig) VALUES ('a', -1)", "INSERT INTO kinds (vc, fd) VALUES ('a', 1e9)", 'INSERT INTO kinds (vc, tiny) VALUES (1)', 'DROP TABLE missing',
    'CREATE TABLE kinds (id INT)', 'SELECT nosuch(1)', 'ALTER TABLE kinds ADD COLUMN id INT', 'USE nowhere', 'SELECT (SELECT id FROM many)', 'CALL nothing()', 'SELECT id FROM kinds, many', 'SET nosuch = 1', 'KILL 999999', 'SELECT 1 FROM kinds GROUP BY nope', 'INSERT INTO many (id, id) VALUES (1, 2)', 'SELECT * FROM many LIMIT -1',
    'CREATE TABLE bad (id INT, id INT)', 'CREATE TABLE bad (id INT AUTO_INCREMENT)', 'DROP INDEX nope ON kinds', 'SELECT COUNT(*) FROM many WHERE COUNT(*) > 1', 'UPDATE many SET id = 1 WHERE id = 2', "SELECT 'a' COLLATE nope",
]));
step('errors of prepared statements', fn () => [
    refused(fn () => $db->prepare('SELECT * FROM missing WHERE id = ?')), refused(fn () => $db->prepare('SELEC ?')), refused(fn () => $db->prepare('SELECT ?')->execute()), refused(fn () => $db->execute_query('INSERT INTO many VALUES (?, ?)', [1, 'x'])), refused(fn () => $db->prepare('SELECT id FROM many WHERE id = ?')->execute([1, 2])),
    $db->query('SELECT 1')->fetch_row(),
]);
step('quoting', fn () => [$db->real_escape_string("it's \\ \"q\"\n\r\0\x1a ž"), rows("SELECT '" . $db->real_escape_string("it's \\ \"q\"\n\r\0\x1a ž") . "' AS q"), rows('SELECT ? AS q', ["it's \\ \"q\"\n\r\0\x1a ž"])]);
step('compression', function () {
    $packed = connected(MYSQLI_CLIENT_COMPRESS);
    return [strlen($packed->query("SELECT REPEAT('abc', 200000)")->fetch_row()[0]), strlen($packed->execute_query('SELECT ?', [str_repeat('y', 300000)])->fetch_row()[0])];
});
step('a login that is refused', fn () => [
    preg_replace('/\'[^\']*\'@\'[^\']*\'/', 'WHO', refused(fn () => new mysqli($place->host, $place->user, $place->password, 'nowhere', $place->port))),
]);
step('what SHOW and information_schema tell', fn () => [
    rows('SHOW TABLES'), rows('SHOW COLUMNS FROM many'), rows("SHOW KEYS FROM kinds WHERE Key_name = 'two'") !== [], $db->query("SHOW CREATE TABLE many")->fetch_row(), rows('SELECT routine_name, routine_type FROM information_schema.routines WHERE routine_schema = DATABASE()'), $db->query("SHOW VARIABLES LIKE 'version_comment'")->field_count,
    rows("SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, NON_UNIQUE, SEQ_IN_INDEX FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1, 2, 5"),
]);
$db->close();
