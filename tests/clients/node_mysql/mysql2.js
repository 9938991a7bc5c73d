// mysql2: what most programs of Node talk to MySQL with; texts and prepared statements, types, streams, pools, several
// statements at once, files sent along, errors.
import { Readable } from "node:stream";
import mysql from "mysql2/promise";
import { place, refused, step } from "./tour.js";

const db = await mysql.createConnection({ ...place, timezone: "Z", infileStreamFactory: () => Readable.from([Buffer.from("7\tseven\n8\teight\n")]) });
const rows = async (sql, values) => (await db.query(sql, values))[0];
const run = async (sql, values) => (await db.execute(sql, values))[0];

await step("tables of all types", async () => {
  await db.query(`CREATE TABLE kinds (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, flag TINYINT(1), small SMALLINT UNSIGNED, medium MEDIUMINT, big BIGINT, ubig BIGINT UNSIGNED,
    dec1 DECIMAL(20, 5), f FLOAT, d DOUBLE, bits BIT(10), c CHAR(5), vc VARCHAR(50), t TEXT, lt LONGTEXT, bin BINARY(4), vb VARBINARY(10), bl BLOB,
    dt DATE, tm TIME(3), dtm DATETIME(6), ts TIMESTAMP NULL, y YEAR, j JSON, e ENUM('small', 'large'), s SET('a', 'b', 'c'))`);
  const [result, fields] = await db.query("SELECT * FROM kinds");
  return [result, ...fields.map((field) => [field.name, field.type ?? field.columnType, field.flags, field.characterSet, field.decimals, field.columnLength, field.table, field.orgName])];
});
const row = { tiny: -5, flag: true, small: 65535, medium: -8388608, big: "-9223372036854775808", ubig: "18446744073709551615", dec1: "123456789012345.12345", f: 0.5, d: 1e300,
  bits: Buffer.from([2, 255]), c: "ab", vc: "žluť 🐎", t: "line\nline", lt: "x".repeat(70000), bin: Buffer.from([1, 2, 3, 4]), vb: Buffer.from([0, 255]), bl: Buffer.from("blob"), dt: "2024-02-29",
  tm: "-838:59:59.000", dtm: "2024-02-29 23:59:59.123456", ts: new Date("2024-05-06T07:08:09Z"), y: 2024, j: JSON.stringify({ k: [1, 2.5, null, "x"] }), e: "large", s: "a,c" };
await step("a row of values in the text, and one of parameters", async () => {
  const one = await rows("INSERT INTO kinds SET ?", row);
  const names = Object.keys(row);
  const other = await run(`INSERT INTO kinds (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`, Object.values(row));
  return [one, other, ...(await rows("SELECT * FROM kinds")).map((found) => ({ ...found, lt: found.lt.length })), ...(await run("SELECT * FROM kinds")).map((found) => ({ ...found, lt: found.lt.length }))];
});
await step("numbers as texts, moments as texts, rows as lists", async () => [
  await rows({ sql: "SELECT big, ubig, dec1, d FROM kinds LIMIT 1", supportBigNumbers: true, bigNumberStrings: true }),
  await rows({ sql: "SELECT dt, tm, dtm, ts, y FROM kinds LIMIT 1", dateStrings: true }),
  await rows({ sql: "SELECT id, vc, s FROM kinds", rowsAsArray: true }),
  await rows({ sql: "SELECT k.id, k.vc, l.id FROM kinds k JOIN kinds l ON l.id = k.id", nestTables: true }),
  await db.query({ sql: "SELECT id, flag FROM kinds", typeCast: (field, next) => (field.name === "flag" ? field.string() === "1" : next()) }).then((found) => found[0]),
]);
await step("values that the client writes into texts", async () => [
  await rows("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ? AS f", ["it's \\ \"quoted\"\n\0", null, true, new Date(0), Buffer.from([0, 39, 92]), { toSqlString: () => "1 + 1" }]),
  await rows("SELECT id FROM kinds WHERE id IN (?) AND ?? = ?", [[1, 2, 3], "kinds.e", "large"]),
  await rows("INSERT INTO kinds (vc, tiny) VALUES ?", [[["p", 1], ["q", 2], ["r", 3]]]),
]);
await step("values of prepared statements", async () => [
  await run("SELECT ? AS a, ? AS b, ? AS c, ? + 1 AS d, CAST(? AS JSON) AS e", ["x", null, 1.5, 2, '{"a": 1}']),
  await run("SELECT id FROM kinds WHERE tiny = ? OR vc = ? ORDER BY id LIMIT ?, ?", [1, "q", "0", "5"]),
  await run("UPDATE kinds SET tiny = tiny + ? WHERE vc IN (?, ?)", [10, "p", "q"]),
  await run("DELETE FROM kinds WHERE vc = ?", ["r"]),
  await refused(() => run("SELECT * FROM kinds WHERE id = ?", [])),
]);
await step("a statement that is prepared once", async () => {
  const statement = await db.prepare("SELECT vc, tiny FROM kinds WHERE id = ?");
  const found = [(await statement.execute([1]))[0], (await statement.execute([3]))[0], (await statement.execute([99]))[0]];
  await statement.close();
  return found;
});
await step("names for places", async () => {
  const named = await mysql.createConnection({ ...place, namedPlaceholders: true });
  const found = [(await named.query("SELECT :a AS a, :b AS b", { a: 1, b: "x" }))[0], (await named.execute("SELECT :a + :a AS twice", { a: 4 }))[0]];
  await named.end();
  return found;
});
await step("several statements at once", async () => {
  const many = await mysql.createConnection({ ...place, multipleStatements: true });
  const found = [(await many.query("SELECT 1 AS a; INSERT INTO kinds (vc) VALUES ('m'); SELECT 2 AS b, 3 AS c; DO 1"))[0]];
  found.push(await refused(() => many.query("SELECT 1; SELECT * FROM nowhere; SELECT 2")));
  found.push((await many.query("SELECT 4 AS d"))[0]);
  await many.end();
  return [...found, await refused(() => db.query("SELECT 1; SELECT 2"))];
});
await step("a routine's results", async () => {
  await db.query("CREATE PROCEDURE both_of(IN least INT, OUT n INT) BEGIN SELECT id, vc FROM kinds WHERE id >= least ORDER BY id LIMIT 2; SELECT COUNT(*) INTO n FROM kinds WHERE id >= least; SELECT 'end' AS word; END");
  await db.query("CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n");
  const [said] = await db.query("CALL both_of(1, @n)");
  const [prepared] = await db.execute("CALL both_of(?, @n)", [2]);
  return [said, prepared, await rows("SELECT @n AS n, twice(4) AS eight")];
});
await step("a file that the client sends", async () => {
  await db.query("CREATE TABLE loaded (id INT PRIMARY KEY, word VARCHAR(20))");
  return [await rows("LOAD DATA LOCAL INFILE 'any' INTO TABLE loaded"), await rows("SELECT * FROM loaded")];
});
await step("a stream", async () => {
  const raw = db.connection;
  let n = 0;
  for await (const found of raw.query("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, REPEAT('x', 100) AS pad FROM n").stream({ highWaterMark: 5 })) n += found.i;
  let m = 0;
  for await (const found of raw.execute("SELECT id FROM kinds WHERE id > ?", [1]).stream()) m += found.id > 1 ? 1 : 0;
  return [n, m];
});
await step("transactions", async () => {
  await db.beginTransaction();
  await db.query("INSERT INTO loaded VALUES (1, 'in')");
  const inside = await rows("SELECT COUNT(*) AS n FROM loaded");
  await db.rollback();
  await db.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  await db.query("START TRANSACTION READ ONLY");
  const read = await refused(() => db.query("INSERT INTO loaded VALUES (1, 'in')"));
  await db.commit();
  await db.query("BEGIN; ".trim().slice(0, -1));
  await db.query("INSERT INTO loaded VALUES (2, 'two')");
  await db.query("SAVEPOINT a");
  await db.query("INSERT INTO loaded VALUES (3, 'three')");
  await db.query("ROLLBACK TO SAVEPOINT a");
  await db.commit();
  return [inside, read, await rows("SELECT * FROM loaded ORDER BY id")];
});
await step("what a session is told and tells", async () => {
  const found = [await db.ping(), (await rows("SELECT DATABASE() AS d, CONNECTION_ID() > 0 AS c, @@autocommit AS a, @@character_set_client AS cs, @@sql_mode AS m, @@transaction_isolation AS i, @@max_allowed_packet AS p"))];
  await db.query("SET @x = 5");
  await db.query("CREATE TEMPORARY TABLE tmp (id INT)");
  await db.query("USE `" + place.database + "`");
  found.push(await rows("SELECT @x AS x"));
  await db.changeUser({ ...place });
  found.push(await rows("SELECT @x AS x"), await refused(() => db.query("SELECT * FROM tmp")));
  await db.query("SET NAMES utf8mb4 COLLATE utf8mb4_bin");
  await db.query("SET SESSION sql_mode = 'ANSI_QUOTES'");
  found.push(await rows('SELECT "id" FROM loaded LIMIT 1'));
  await db.query("SET SESSION sql_mode = DEFAULT");
  return found;
});
await step("warnings and counts", async () => [
  await rows("INSERT IGNORE INTO loaded VALUES (2, 'again')"), await rows("SHOW WARNINGS"),
  await rows("UPDATE loaded SET word = 'two' WHERE id = 2"), await rows("UPDATE loaded SET word = 'zwei' WHERE id = 2"),
  await rows("INSERT INTO loaded VALUES (2, 'x') ON DUPLICATE KEY UPDATE word = CONCAT(VALUES(word), 'y')"),
  await rows("REPLACE INTO loaded VALUES (2, 'r'), (9, 's')"), await rows("TRUNCATE TABLE loaded"),
]);
await step("errors", async () => {
  await db.query("CREATE TABLE strict_one (id INT PRIMARY KEY, n TINYINT NOT NULL, w VARCHAR(3), e ENUM('a'), CONSTRAINT positive CHECK (n > 0))");
  await db.query("CREATE TABLE child (id INT PRIMARY KEY, parent INT, CONSTRAINT to_parent FOREIGN KEY (parent) REFERENCES strict_one (id))");
  await db.query("INSERT INTO strict_one VALUES (1, 1, 'abc', 'a')");
  await db.query("INSERT INTO child VALUES (1, 1)");
  const found = [];
  for (const sql of ["SELEC 1", "SELECT * FROM missing", "SELECT nope FROM strict_one", "INSERT INTO strict_one VALUES (1, 1, 'a', 'a')", "INSERT INTO strict_one (id) VALUES (2)",
    "INSERT INTO strict_one VALUES (2, NULL, 'a', 'a')", "INSERT INTO strict_one VALUES (2, 300, 'a', 'a')", "INSERT INTO strict_one VALUES (2, 1, 'abcd', 'a')", "INSERT INTO strict_one VALUES (2, 1, 'a', 'b')",
    "INSERT INTO strict_one VALUES (2, 'x', 'a', 'a')", "INSERT INTO strict_one VALUES (2, -1, 'a', 'a')", "INSERT INTO strict_one VALUES (2, 1)", "DELETE FROM strict_one", "INSERT INTO child VALUES (2, 7)",
    "DROP TABLE missing", "CREATE TABLE child (id INT)", "SELECT 1 / 0, CAST('a' AS DATE), nosuch(1)", "SELECT id, COUNT(*) FROM strict_one GROUP BY n", "ALTER TABLE child ADD COLUMN id INT", "USE nowhere",
    "SELECT (SELECT id FROM kinds)", "CALL nothing()", "SELECT a.id FROM strict_one a, child a", "SELECT id FROM strict_one, child", "DROP TABLE strict_one", "SET nosuch = 1", "KILL 999999"]) found.push(await refused(() => db.query(sql)));
  return found;
});
await step("a login that is refused", async () => [
  await refused(() => mysql.createConnection({ ...place, database: "nowhere" })).then((said) => said.replace(/'[^']*'@'[^']*'/, "WHO")),
]);
await step("a pool", async () => {
  const pool = mysql.createPool({ ...place, connectionLimit: 3 });
  const found = await Promise.all(Array.from({ length: 20 }, (_, n) => pool.query("SELECT ? AS n, SLEEP(0.001) AS z", [n]).then(([[one]]) => one.n)));
  const lent = await pool.getConnection();
  await lent.beginTransaction();
  await lent.execute("INSERT INTO loaded VALUES (?, ?)", [50, "pool"]);
  await lent.commit();
  lent.release();
  const killed = await pool.getConnection();
  const said = refused(() => killed.query("SELECT SLEEP(20)"));
  await pool.query(`KILL ${killed.threadId}`);
  found.push((await said).replace(/ \{.*\}/, ""));
  killed.destroy();
  await pool.end();
  return [found, await rows("SELECT * FROM loaded")];
});
await step("compression", async () => {
  const packed = await mysql.createConnection({ ...place, compress: true });
  const found = [(await packed.query("SELECT REPEAT('abc', 100000) AS long_one"))[0][0].long_one.length, (await packed.execute("SELECT ? AS x", ["y".repeat(200000)]))[0][0].x.length];
  await packed.end();
  return found;
});
await step("what SHOW and DESCRIBE tell", async () => [
  await rows("SHOW TABLES"), await rows("DESCRIBE child"), await rows("SHOW INDEX FROM child").then((found) => found.map((one) => [one.Key_name, one.Column_name, one.Non_unique, one.Null])),
  await rows("SHOW CREATE TABLE child"), await rows("SHOW FULL COLUMNS FROM strict_one"), await rows("SHOW TABLE STATUS LIKE 'child'").then((found) => found.map((one) => [one.Name, one.Engine, one.Rows, one.Collation])),
  await rows("SHOW VARIABLES LIKE 'lower_case_table_names'"), await rows("SHOW COLLATION LIKE 'utf8mb4_bin'"),
]);
await step("JSON", async () => [
  await rows(`SELECT j->'$.k[1]' AS a, j->>'$.k[3]' AS b, JSON_EXTRACT(j, '$.k') AS c, JSON_LENGTH(j, '$.k') AS d FROM kinds WHERE id = 1`),
  await rows(`SELECT JSON_ARRAYAGG(id) AS ids, JSON_OBJECTAGG(id, vc) AS o FROM kinds WHERE id < 3`),
  await rows(`SELECT JSON_SET('{"a": 1}', '$.b', JSON_OBJECT('c', TRUE)) AS s, JSON_CONTAINS('[1, 2]', '2') AS h, JSON_MERGE_PATCH('{"a": 1}', '{"a": null}') AS m, 2 MEMBER OF ('[1, 2]') AS mo`),
]);
await step("rows of JSON", async () => rows(`SELECT jt.* FROM kinds, JSON_TABLE(j, '$.k[*]' COLUMNS (n FOR ORDINALITY, v VARCHAR(10) PATH '$')) AS jt WHERE kinds.id = 1`));
await db.end();
