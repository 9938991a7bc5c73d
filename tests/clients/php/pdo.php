<?php
// PDO by its two drivers: emulated and native statements, ways to fetch, what columns are told to be, cursors, numbers, large objects.
require __DIR__ . '/tour.php';

$dsn = $place->mysql ? "mysql:host=$place->host;port=$place->port;dbname=$place->database;charset=utf8mb4" : "pgsql:host=$place->host;port=$place->port;dbname=$place->database";
function connected(array $options = []): PDO {
    global $dsn, $place;
    return new PDO($dsn, $place->user, $place->password, $options + [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}
/** What a statement finds, in any of the ways in which it can be sent. */
function found(PDO $db, string $sql, array $params = []): array {
    $statement = $db->prepare($sql);
    $statement->execute($params);
    return $statement->fetchAll();
}
$emulated = connected([PDO::ATTR_EMULATE_PREPARES => true]);
$native = connected([PDO::ATTR_EMULATE_PREPARES => false]);
$both = ['emulated' => $emulated, 'native' => $native];
class Row {
    public $id;
    public $word;
    public function __construct(public ?string $given = null) {}
}

step('attributes', fn () => [$native->getAttribute(PDO::ATTR_DRIVER_NAME), $native->getAttribute(PDO::ATTR_SERVER_VERSION) !== '', $native->getAttribute(PDO::ATTR_CLIENT_VERSION) !== '', $native->getAttribute(PDO::ATTR_CONNECTION_STATUS) !== '', $native->quote("it's \\ \"x\"\n"), $native->inTransaction(), $native->errorCode()]);
step('a table of types', fn () => $native->exec($place->mysql
    ? "CREATE TABLE kinds (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, flag BOOLEAN, small SMALLINT, big BIGINT, ubig BIGINT UNSIGNED, n DECIMAL(20, 5), f FLOAT, d DOUBLE, c CHAR(5), vc VARCHAR(50), t TEXT, b BLOB, dt DATE, tm TIME(3), dtm DATETIME(6), y YEAR, j JSON, e ENUM('small', 'large'))"
    : "CREATE TABLE kinds (id SERIAL PRIMARY KEY, flag BOOLEAN, small SMALLINT, big BIGINT, n NUMERIC(20, 5), f REAL, d DOUBLE PRECISION, c CHAR(5), vc VARCHAR(50), t TEXT, b BYTEA, dt DATE, tm TIME(3), dtm TIMESTAMP(6), ts TIMESTAMPTZ, iv INTERVAL, j JSON, jb JSONB, u UUID, a INT[], w TEXT[], ip INET, bits BIT(5), m MONEY, r INT4RANGE)"));
$row = $place->mysql
    ? ['tiny' => -5, 'flag' => true, 'small' => -32768, 'big' => PHP_INT_MIN, 'ubig' => '18446744073709551615', 'n' => '123456789012345.12345', 'f' => 0.5, 'd' => 1e300, 'c' => 'ab', 'vc' => 'žluť 🐎', 't' => "line\nline \\ '", 'b' => "\x00\xff'\\", 'dt' => '2024-02-29', 'tm' => '-838:59:59.000', 'dtm' => '2024-02-29 23:59:59.123456', 'y' => 2024, 'j' => '{"k": [1, 2.5, null, "x"]}', 'e' => 'large']
    : ['flag' => 'true', 'small' => -32768, 'big' => PHP_INT_MIN, 'n' => '123456789012345.12345', 'f' => 0.5, 'd' => 1e300, 'c' => 'ab', 'vc' => 'žluť 🐎', 't' => "line\nline \\ '", 'b' => '\x00ff275c', 'dt' => '2024-02-29', 'tm' => '23:59:59.999', 'dtm' => '2024-02-29 23:59:59.123456', 'ts' => '2024-02-29 23:59:59+02', 'iv' => '1 year 2 days 03:04:05', 'j' => '{"k": [1, 2.5]}', 'jb' => '{"b": 1, "a": [1, 2.50]}', 'u' => '6fa459ea-ee8a-3ca4-894e-db77e160355e', 'a' => '{1,NULL,3}', 'w' => '{ž,"a,b","q\\"x"}', 'ip' => '10.0.0.1/8', 'bits' => '10101', 'm' => '12.5', 'r' => '[1,5)'];
step('rows written in both ways', fn () => array_map(function ($db) use ($row) {
    $statement = $db->prepare('INSERT INTO kinds (' . implode(', ', array_keys($row)) . ') VALUES (' . implode(', ', array_map(fn ($name) => ":$name", array_keys($row))) . ')');
    return [$statement->execute($row), $statement->rowCount(), $db->lastInsertId(), $statement->columnCount()];
}, array_values($both)));
step('rows read in both ways', fn () => array_merge(...array_map(fn ($db) => [$db->query('SELECT * FROM kinds ORDER BY id LIMIT 1')->fetch(), found($db, 'SELECT * FROM kinds WHERE id = ?', [2])[0], found($db, 'SELECT id, flag, small, d, f, n FROM kinds WHERE id = :id AND vc = :vc', ['id' => 1, 'vc' => 'žluť 🐎'])], array_values($both))));
step('texts for numbers, letters of names, NULL for nothing', function () {
    $db = connected([PDO::ATTR_STRINGIFY_FETCHES => true, PDO::ATTR_CASE => PDO::CASE_UPPER, PDO::ATTR_ORACLE_NULLS => PDO::NULL_TO_STRING]);
    return found($db, 'SELECT id, big, d, NULL AS nothing FROM kinds ORDER BY id');
});
step('what columns are told to be', function () use ($native, $emulated) {
    $tell = function (PDOStatement $statement): array {
        $found = [];
        for ($at = 0; $at < $statement->columnCount(); $at++) {
            $meta = $statement->getColumnMeta($at);
            unset($meta['len'], $meta['pgsql:table_oid']);
            $found[] = $meta;
        }
        return $found;
    };
    return [...$tell($emulated->query('SELECT * FROM kinds')), ...array_map(fn ($meta) => [$meta['name'], $meta['native_type'], $meta['pdo_type'], $meta['table'] ?? null], $tell($native->query('SELECT COUNT(*) AS n, MAX(vc) AS vc, k.id AS other, 1.5 AS d FROM kinds k GROUP BY k.id')))];
});
step('parameters and what they are bound as', fn () => array_map(function ($db) {
    $statement = $db->prepare($GLOBALS['place']->mysql ? 'SELECT ? AS a, ? AS b, ? AS c, ? AS d, CAST(? AS CHAR) AS e' : 'SELECT ?::text AS a, ?::int AS b, ?::text AS c, ?::bool AS d, ?::text AS e');
    $statement->bindValue(1, "it's");
    $statement->bindValue(2, 41, PDO::PARAM_INT);
    $statement->bindValue(3, null, PDO::PARAM_NULL);
    $statement->bindValue(4, true, PDO::PARAM_BOOL);
    $late = 'early';
    $statement->bindParam(5, $late);
    $late = 'late';
    $statement->execute();
    return $statement->fetch(PDO::FETCH_NUM);
}, array_values($both)));
step('LIMIT with parameters', fn () => array_map(function ($db) {
    $statement = $db->prepare('SELECT id FROM kinds ORDER BY id LIMIT :n OFFSET :m');
    $statement->bindValue('n', 1, PDO::PARAM_INT);
    $statement->bindValue('m', 1, PDO::PARAM_INT);
    $statement->execute();
    return $statement->fetchAll(PDO::FETCH_COLUMN);
}, array_values($both)));
step('one name twice', fn () => array_map(fn ($db) => $db === $GLOBALS['native'] && $GLOBALS['place']->mysql ? refused(fn () => found($db, 'SELECT id FROM kinds WHERE id = :x OR id = :x', ['x' => 1])) : found($db, 'SELECT id FROM kinds WHERE id = :x OR id = :x', ['x' => 1]), array_values($both)));
step('ways to fetch', function () use ($native) {
    $native->exec('CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(20), kind VARCHAR(10))');
    $native->exec("INSERT INTO words VALUES (1, 'one', 'odd'), (2, 'two', 'even'), (3, 'three', 'odd'), (4, NULL, 'even')");
    $sql = 'SELECT id, word, kind FROM words ORDER BY id';
    $statement = $native->query($sql);
    $statement->bindColumn('word', $word);
    $statement->bindColumn(1, $id, PDO::PARAM_INT);
    $bound = [];
    while ($statement->fetch(PDO::FETCH_BOUND)) {
        $bound[] = [$id, $word];
    }
    return [$native->query($sql)->fetchAll(PDO::FETCH_NUM), $native->query($sql)->fetch(PDO::FETCH_BOTH), $native->query($sql)->fetchAll(PDO::FETCH_COLUMN, 1), $native->query('SELECT id, word FROM words ORDER BY id')->fetchAll(PDO::FETCH_KEY_PAIR), $native->query('SELECT kind, id FROM words ORDER BY id')->fetchAll(PDO::FETCH_GROUP | PDO::FETCH_COLUMN),
        $native->query($sql)->fetchAll(PDO::FETCH_UNIQUE), $native->query('SELECT id, word FROM words ORDER BY id')->fetchAll(PDO::FETCH_CLASS, Row::class, ['arg']), $native->query($sql)->fetchObject(), $native->query($sql)->fetch(PDO::FETCH_LAZY)->word, $native->query('SELECT id, word FROM words ORDER BY id')->fetchAll(PDO::FETCH_FUNC, fn ($id, $word) => "$id:$word"),
        $native->query('SELECT word, id AS word FROM words ORDER BY id LIMIT 1')->fetch(PDO::FETCH_NAMED), $bound, $native->query($sql)->fetchColumn(2), iterator_count($native->query($sql))];
});
step('rows that are counted', fn () => array_map(fn ($db) => [$db->exec("UPDATE words SET kind = 'all' WHERE id < 3"), $db->exec("UPDATE words SET kind = 'all' WHERE id < 3"), $db->query('SELECT id FROM words')->rowCount(), $db->exec('DELETE FROM words WHERE id > 90'), $db->exec("UPDATE words SET kind = 'odd' WHERE id = 1"), $db->exec("UPDATE words SET kind = 'even' WHERE id = 2")], array_values($both)));
step('numbers of rows that are made', fn () => array_map(function ($db) {
    $db->exec($GLOBALS['place']->mysql ? 'CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, v INT)' : 'CREATE TEMPORARY TABLE numbered (id SERIAL PRIMARY KEY, v INT)');
    $db->exec('INSERT INTO numbered (v) VALUES (1), (2), (3)');
    $last = $db->lastInsertId();
    $found = [$last, $GLOBALS['place']->mysql ? null : $db->lastInsertId('numbered_id_seq'), $db->exec('INSERT INTO numbered (v) SELECT v FROM numbered WHERE v = 3'), $db->lastInsertId()];
    $db->exec('DROP TABLE numbered');
    return $found;
}, array_values($both)));
step('a statement executed again and again', fn () => array_map(function ($db) {
    $statement = $db->prepare('SELECT word FROM words WHERE id = ?');
    $found = [];
    foreach ([1, '2', 3, 4, 99, null] as $id) {
        $statement->execute([$id]);
        $found[] = $statement->fetchColumn();
        $statement->closeCursor();
    }
    return $found;
}, array_values($both)));
step('statements that fail, and go on', fn () => array_map(function ($db) {
    $statement = $db->prepare('INSERT INTO words (id, word) VALUES (?, ?)');
    $found = [refused(fn () => $statement->execute([1, 'x'])), refused(fn () => $statement->execute([50, str_repeat('x', 21)])), $statement->execute([50, 'fifty']), $statement->rowCount(), refused(fn () => $statement->execute(['none', 'x'])), $db->exec('DELETE FROM words WHERE id = 50')];
    $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
    $found[] = [$db->query('SELECT * FROM nowhere'), $db->errorCode(), array_slice($db->errorInfo(), 0, 2)];
    $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
    return $found;
}, array_values($both)));
step('transactions', fn () => array_map(function ($db) {
    $db->beginTransaction();
    $db->exec("INSERT INTO words VALUES (60, 'in', 'x')");
    $found = [$db->inTransaction(), $db->rollBack(), $db->query('SELECT COUNT(*) FROM words')->fetchColumn(), refused(fn () => $db->commit())];
    $db->beginTransaction();
    $found[] = refused(fn () => $db->beginTransaction());
    $db->exec("INSERT INTO words VALUES (61, 'in', 'x')");
    $db->exec('SAVEPOINT a');
    $found[] = refused(fn () => $db->exec("INSERT INTO words VALUES (61, 'in', 'x')"));
    $db->exec('ROLLBACK TO SAVEPOINT a');
    $db->commit();
    $db->beginTransaction();
    $db->exec('CREATE TABLE made_inside (id INT)');
    $found[] = [$db->inTransaction(), $GLOBALS['place']->mysql ? null : $db->rollBack()];
    $db->exec('DROP TABLE IF EXISTS made_inside');
    return [...$found, $db->inTransaction(), $db->exec('DELETE FROM words WHERE id > 50')];
}, array_values($both)));
step('several results', function () use ($emulated, $native) {
    if (!$GLOBALS['place']->mysql) {
        return [$native->exec('UPDATE words SET word = word; DELETE FROM words WHERE id > 90; SELECT 1'), refused(fn () => $native->prepare('SELECT 1; SELECT 2')->execute())];
    }
    $statement = $emulated->query("SELECT 1 AS a; UPDATE words SET word = 'x' WHERE id = 99; SELECT 2 AS b UNION SELECT 3");
    $found = [];
    do {
        $found[] = $statement->columnCount() ? $statement->fetchAll() : $statement->rowCount();
    } while ($statement->nextRowset());
    $emulated->exec('CREATE PROCEDURE two_results(IN n INT) BEGIN SELECT n AS a; SELECT n + 1 AS b; END');
    $called = $native->prepare('CALL two_results(?)');
    $called->execute([5]);
    do {
        $found[] = $called->fetchAll();
    } while ($called->nextRowset() && $called->columnCount());
    return [...$found, refused(fn () => $native->prepare('SELECT 1; SELECT 2')->execute())];
});
step('rows as they come', function () use ($place) {
    if (!$place->mysql) {
        $db = connected([PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
        $statement = $db->prepare('SELECT g FROM generate_series(1, 500) g', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
        $statement->execute();
        return [$statement->fetchColumn(), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_LAST), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_PRIOR), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_FIRST), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_ABS, 250), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_REL, -10), $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_NEXT)];
    }
    $db = connected([PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false, PDO::ATTR_EMULATE_PREPARES => false]);
    $statement = $db->query('WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, REPEAT("x", 100) AS pad FROM n');
    $found = [$statement->fetchColumn(), refused(fn () => $db->query('SELECT 1')->fetchAll())];
    $statement->closeCursor();
    return [...$found, $db->query('SELECT 1')->fetchColumn()];
});
step('large objects and copies', function () use ($place, $native) {
    if ($place->mysql) {
        $stream = fopen('php://memory', 'r+');
        fwrite($stream, str_repeat("\x00\x01\xfe", 100000));
        rewind($stream);
        $statement = $native->prepare('UPDATE kinds SET t = NULL, b = LEFT(?, 60000) WHERE id = 1');
        $statement->bindParam(1, $stream, PDO::PARAM_LOB);
        return [$statement->execute(), $native->query('SELECT LENGTH(b), HEX(RIGHT(b, 4)) FROM kinds WHERE id = 1')->fetch(PDO::FETCH_NUM)];
    }
    $native->exec('CREATE TABLE copied (a INT, b TEXT)');
    $found = [$native->pgsqlCopyFromArray('copied', ["1\tone\n", "2\tž\\\\x\n", "3\t\\N\n"]), $native->pgsqlCopyToArray('copied'), $native->pgsqlCopyToArray('copied', ';', 'none', 'b, a'), refused(fn () => $native->pgsqlCopyFromArray('copied', ["x\ty\n"]))];
    $statement = $native->prepare('UPDATE kinds SET b = :b WHERE id = 1');
    $stream = fopen('php://memory', 'r+');
    fwrite($stream, "\x00\xffbytes");
    rewind($stream);
    $statement->bindParam('b', $stream, PDO::PARAM_LOB);
    return [...$found, $statement->execute(), $native->query('SELECT b FROM kinds WHERE id = 1')->fetchColumn()];
});
step('notifications', function () use ($place, $native, $emulated) {
    if ($place->mysql) {
        return 'none';
    }
    $native->exec('LISTEN news');
    $emulated->exec("NOTIFY news, 'žluť'");
    $got = $native->pgsqlGetNotify(PDO::FETCH_ASSOC, 5000);
    return [$got['message'], $got['payload'], $got['pid'] === $emulated->pgsqlGetPid(), $native->pgsqlGetNotify(PDO::FETCH_ASSOC, 10)];
});
step('a connection that stays', function () use ($dsn, $place) {
    $one = new PDO($dsn, $place->user, $place->password, [PDO::ATTR_PERSISTENT => true]);
    $id = $one->query($place->mysql ? 'SELECT CONNECTION_ID()' : 'SELECT pg_backend_pid()')->fetchColumn();
    unset($one);
    $again = new PDO($dsn, $place->user, $place->password, [PDO::ATTR_PERSISTENT => true]);
    return $again->query($place->mysql ? 'SELECT CONNECTION_ID()' : 'SELECT pg_backend_pid()')->fetchColumn() == $id;
});
step('what the driver cannot have', fn () => [
    preg_replace('/\'[^\']*\'@\'[^\']*\'/', 'WHO', refused(fn () => new PDO(str_replace("dbname=$place->database", 'dbname=nowhere', $dsn), $place->user, $place->password))), refused(fn () => found($native, 'SELECT ? + ', [1])), refused(fn () => found($emulated, 'SELECT id FROM kinds WHERE id = ?', [])), refused(fn () => found($native, 'SELECT id FROM kinds WHERE id = :a', ['b' => 1])),
    refused(fn () => $native->query('SELECT id FROM words WHERE id = (SELECT id FROM words)')), refused(fn () => $native->exec('INSERT INTO words VALUES (1)')),
]);
