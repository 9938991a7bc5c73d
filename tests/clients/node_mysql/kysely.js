// Kysely over mysql2: its migrator, twice; typed queries, transactions, streams, introspection.
import mysql from "mysql2";
import { Kysely, Migrator, MysqlDialect, sql } from "kysely";
import { jsonArrayFrom, jsonObjectFrom } from "kysely/helpers/mysql";
import { place, refused, step } from "./tour.js";

const db = new Kysely({ dialect: new MysqlDialect({ pool: mysql.createPool({ ...place, connectionLimit: 3, timezone: "Z" }) }) });
const migrations = {
  first: {
    async up(on) {
      await on.schema.createTable("person").addColumn("id", "integer", (c) => c.primaryKey().autoIncrement())
        .addColumn("name", "varchar(50)", (c) => c.notNull().unique()).addColumn("born", "date").addColumn("info", "json", (c) => c.notNull())
        .addColumn("created", "timestamp", (c) => c.defaultTo(sql`now()`)).addColumn("weight", "decimal(6, 2)")
        .addColumn("bytes", "blob").addColumn("big", "bigint").addColumn("ok", "boolean").execute();
      await on.schema.createTable("pet").addColumn("id", "serial", (c) => c.primaryKey()).addColumn("name", "varchar(40)").addColumn("species", sql`enum('cat', 'dog')`, (c) => c.notNull())
        .addColumn("owner", "integer", (c) => c.notNull()).addForeignKeyConstraint("pet_owner", ["owner"], "person", ["id"], (c) => c.onDelete("cascade")).addUniqueConstraint("pet_once", ["owner", "name"])
        .addCheckConstraint("pet_owned", sql`owner > 0`).execute();
      await on.schema.createIndex("pet_by_name").on("pet").column("name").execute();
    },
    async down(on) {
      await on.schema.dropTable("pet").execute();
      await on.schema.dropTable("person").execute();
    },
  },
  second: {
    async up(on) {
      await on.schema.alterTable("person").addColumn("nick", "text").modifyColumn("name", "varchar(60)", (c) => c.notNull()).execute();
      await on.schema.alterTable("pet").renameColumn("name", "called").execute();
      await on.schema.createView("cats").as(on.selectFrom("pet").where("species", "=", sql.lit("cat")).select(["id", "called"])).execute();
    },
    async down(on) {
      await on.schema.dropView("cats").execute();
      await on.schema.alterTable("pet").renameColumn("called", "name").execute();
      await on.schema.alterTable("person").dropColumn("nick").execute();
    },
  },
};
const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
const said = ({ error, results }) => { if (error) throw error; return results.map((one) => `${one.direction} ${one.migrationName} ${one.status}`); };

await step("migrate", async () => said(await migrator.migrateToLatest()));
await step("migrate again", async () => said(await migrator.migrateToLatest()).length);
await step("down and up", async () => [...said(await migrator.migrateDown()), ...said(await migrator.migrateUp()), (await migrator.getMigrations()).map((one) => one.name)]);
await step("introspection", async () => [await db.introspection.getSchemas().then((found) => found.some((one) => one.name === place.database)), ...(await db.introspection.getTables()).map((table) => [table.name, table.isView, table.schema,
  table.columns.map((column) => [column.name, column.dataType, column.isNullable, column.isAutoIncrementing, column.hasDefaultValue])])]);
await step("insert", async () => [
  await db.insertInto("person").values([
    { name: "Ann", born: "2000-01-02", info: JSON.stringify({ a: 1 }), weight: "61.25", bytes: Buffer.from([1, 2]), big: 12345678901n, ok: true },
    { name: "Bob" },
  ].map((row) => ({ born: null, info: "{}", weight: null, bytes: null, big: null, ok: null, ...row }))).executeTakeFirst(),
  await db.insertInto("pet").values([{ called: "Tom", species: "cat", owner: 1 }, { called: "Rex", species: "dog", owner: 1 }, { called: "Kit", species: "cat", owner: 2 }]).executeTakeFirst(),
  await db.selectFrom("person").select(["id", "name", "born", "info", "weight", "bytes", "big", "ok"]).execute(),
]);
await step("select", async () => [
  await db.selectFrom("person as p").innerJoin("pet", "pet.owner", "p.id").select(["p.name", "called", sql`upper(${sql.ref("species")})`.as("kind")]).where("p.weight", ">", 60).orderBy("called").execute(),
  await db.selectFrom("pet").select((eb) => ["owner", eb.fn.countAll().as("n"), sql`group_concat(called order by called)`.as("names"), eb.fn.max("called").as("last")]).groupBy("owner").having((eb) => eb.fn.countAll(), ">", 0).orderBy("owner").execute(),
  await db.selectFrom("person").select((eb) => ["id", jsonArrayFrom(eb.selectFrom("pet").select(["called", "species"]).whereRef("pet.owner", "=", "person.id").orderBy("called")).as("pets"),
    jsonObjectFrom(eb.selectFrom("pet").select("id").whereRef("pet.owner", "=", "person.id").orderBy("id").limit(1)).as("first")]).orderBy("id").execute(),
  await db.with("c", (q) => q.selectFrom("cats").selectAll()).selectFrom("c").selectAll().orderBy("id").execute(),
  await db.selectFrom("person").select((eb) => [eb.ref("info", "->$").key("a").as("a"), eb.case().when("ok", "=", true).then("yes").else("no").end().as("word")]).orderBy("id").execute(),
  await db.selectFrom("pet").select((eb) => ["called", eb.fn.agg("row_number").over((o) => o.partitionBy("owner").orderBy("called")).as("nr")]).orderBy("id").execute(),
  await db.selectFrom("pet").leftJoinLateral((eb) => eb.selectFrom("person").select("name as owner_name").whereRef("person.id", "=", "pet.owner").as("o"), (j) => j.onTrue()).select(["called", "owner_name"]).orderBy("pet.id").execute(),
  await db.selectFrom("pet").select("id").where((eb) => eb.or([eb("called", "in", ["Tom", "Kit"]), eb.exists(eb.selectFrom("person").select("id").where("id", "=", 99))])).orderBy("id", "desc").limit(1).offset(1).execute(),
  await db.selectFrom("person").select("id").union(db.selectFrom("pet").select("owner as id")).orderBy("id").execute(),
]);
await step("update, upsert, delete", async () => [
  await sql`update pet join person on person.id = pet.owner set called = concat(called, '!') where person.name = ${"Bob"}`.execute(db).then((said) => said.numAffectedRows),
  await db.insertInto("person").values({ name: "Ann", nick: "A", info: "{}" }).onDuplicateKeyUpdate({ nick: sql`values(nick)` }).executeTakeFirst(),
  await db.insertInto("person").ignore().values({ name: "Ann", info: "{}" }).executeTakeFirst(),
  await db.replaceInto("pet").values({ id: 3, called: "Kit", species: "cat", owner: 2 }).executeTakeFirst(),
  await db.deleteFrom("pet").using("pet").innerJoin("person", "person.id", "pet.owner").where("person.name", "=", "Bob").executeTakeFirst(),
  await sql`update pet set called = 'last' order by id desc limit 1`.execute(db).then((said) => said.numAffectedRows),
  await db.selectFrom("pet").select(["owner", "called"]).orderBy("id").execute(),
]);
await step("transactions", async () => {
  const found = [];
  await db.transaction().setIsolationLevel("repeatable read").execute(async (trx) => {
    await trx.insertInto("person").values({ name: "Cid", info: "{}" }).execute();
    await sql`savepoint one`.execute(trx);
    found.push(await refused(() => trx.insertInto("person").values({ name: "Cid", info: "{}" }).execute()));
    await sql`rollback to savepoint one`.execute(trx);
    found.push(await trx.selectFrom("person").select((eb) => eb.fn.countAll().as("n")).forUpdate().execute());
  });
  found.push(await refused(() => db.transaction().execute(async (trx) => { await trx.deleteFrom("person").execute(); throw new Error("back"); })));
  return [...found, await db.selectFrom("person").select("name").orderBy("id").execute()];
});
await step("a stream", async () => {
  const found = [];
  for await (const row of db.withRecursive("n(i)", (q) => q.selectNoFrom(sql`1`.as("i")).unionAll(q.selectFrom("n").select(sql`i + 1`.as("i")).where("i", "<", 20))).selectFrom("n").select("i").stream(6)) found.push(row.i);
  return found.join(" ");
});
await step("errors", async () => [
  await refused(() => db.insertInto("person").values({ name: "Ann", info: "{}" }).execute()), await refused(() => db.insertInto("pet").values({ called: "", species: "cat", owner: -1 }).execute()),
  await refused(() => db.insertInto("pet").values({ called: "x", species: "cow", owner: 1 }).execute()), await refused(() => db.insertInto("pet").values({ called: "x", species: "cat", owner: 100 }).execute()),
  await refused(() => db.insertInto("person").values({ name: "Zed", info: "{" }).execute()), await refused(() => db.selectFrom("nobody").selectAll().execute()),
]);
await db.destroy();
