// The driver `mariadb`: texts, prepared statements, batches, pipelining, streams, pools, types, errors.
import mariadb from "mariadb";
import { place, refused, step } from "./tour.js";

const db = await mariadb.createConnection({ ...place, timezone: "Z", allowPublicKeyRetrieval: true });
await step("tables and rows", async () => {
  await db.query("CREATE TABLE things (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50), price DECIMAL(8, 2), big BIGINT UNSIGNED, data BLOB, day DATE, at DATETIME(6), ok BIT(1), doc JSON, d DOUBLE)");
  return [
    await db.query("INSERT INTO things (name, price, big, data, day, at, ok, doc, d) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ["one", "1.50", 18446744073709551615n, Buffer.from([0, 1]), "2024-02-29", new Date("2024-01-02T03:04:05.678Z"), 1, '{"a": 1}', 0.1]),
    await db.execute("INSERT INTO things (name, price, big, data, day, at, ok, doc, d) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ["two", "2.50", 5n, Buffer.from([2]), new Date("2024-02-29T00:00:00Z"), new Date("2024-01-02T03:04:05.678Z"), false, { b: [null] }, null]),
    ...(await db.query("SELECT * FROM things")), ...(await db.execute("SELECT * FROM things WHERE id > ?", [0])), await db.query({ sql: "SELECT name, price FROM things", rowsAsArray: true }), await db.query({ sql: "SELECT t.name, u.id FROM things t JOIN things u USING (id)", nestTables: "_" }),
    await db.query({ sql: "SELECT :a AS a, :b AS b", namedPlaceholders: true }, { a: 1, b: "x" }),
  ];
});
await step("batches", async () => [
  await db.batch("INSERT INTO things (name, d) VALUES (?, ?)", [["b1", 1], ["b2", null], ["b3", 3.5]]), await db.batch("UPDATE things SET d = ? WHERE name = ?", [[10, "b1"], [20, "b2"]]), await db.query("SELECT name, d FROM things WHERE name LIKE 'b%' ORDER BY id"),
  await refused(() => db.batch("INSERT INTO things (id, name) VALUES (?, ?)", [[100, "x"], [100, "y"]])), await db.query("SELECT COUNT(*) AS n FROM things WHERE id = 100"),
]);
await step("a prepared statement", async () => {
  const statement = await db.prepare("SELECT name FROM things WHERE id = ?");
  const found = [await statement.execute([1]), await statement.execute([2])];
  let n = 0;
  for await (const row of statement.executeStream([1])) n += row.name.length;
  statement.close();
  return [...found, n];
});
await step("many at once", async () => (await Promise.all(Array.from({ length: 30 }, (_, n) => db.query("SELECT ? + 0 AS n", [n])))).map(([one]) => one.n).join(" "));
await step("a stream", async () => {
  let n = 0;
  for await (const row of db.queryStream("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n")) n += Number(row.i);
  return n;
});
await step("transactions and sessions", async () => {
  await db.beginTransaction();
  await db.query("DELETE FROM things");
  await db.rollback();
  const found = [await db.query("SELECT COUNT(*) AS n FROM things")];
  await db.ping();
  await db.query("SET @x = 1");
  await db.reset();
  found.push(await db.query("SELECT @x AS x"));
  found.push(await db.query("SELECT DATABASE() AS d"));
  return [...found, db.isValid(), db.serverVersion().length > 0];
});
await step("errors", async () => [
  await refused(() => db.query("SELEC")), await refused(() => db.execute("SELECT * FROM missing")), await refused(() => db.query("INSERT INTO things (id) VALUES (1)")), await refused(() => db.execute("INSERT INTO things (price) VALUES (?)", ["12345678.5"])), await refused(() => db.query("INSERT INTO things (day) VALUES ('x')")),
].map((said) => said.replace(/\(conn.*?\) /, "").replace(/\\nsql:.*?(?=")/, "")));
await step("a pool", async () => {
  const pool = mariadb.createPool({ ...place, connectionLimit: 3, allowPublicKeyRetrieval: true, multipleStatements: true });
  const found = (await Promise.all(Array.from({ length: 20 }, (_, n) => pool.query("SELECT ? + 0 AS n", [n])))).map(([one]) => one.n).join(" ");
  const several = await pool.query("SELECT 1 AS a; SELECT 2 AS b");
  await pool.end();
  return [found, several];
});
await db.end();
