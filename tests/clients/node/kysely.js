// Kysely: its migrator, twice; typed queries, transactions, streams, introspection.
import Cursor from "pg-cursor";
import pg from "pg";
import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import { jsonArrayFrom, jsonObjectFrom } from "kysely/helpers/postgres";
import { refused, step, url } from "./tour.js";

const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 3 }), cursor: Cursor }) });

const migrations = {
  first: {
    async up(on) {
      await on.schema.createType("species").asEnum(["cat", "dog"]).execute();
      await on.schema.createTable("person").addColumn("id", "integer", (c) => c.primaryKey().generatedAlwaysAsIdentity())
        .addColumn("name", "varchar(50)", (c) => c.notNull().unique()).addColumn("born", "date").addColumn("info", "jsonb", (c) => c.notNull().defaultTo(sql`'{}'`))
        .addColumn("created", "timestamptz", (c) => c.defaultTo(sql`now()`)).addColumn("tags", sql`text[]`).addColumn("key", "uuid").addColumn("weight", "numeric(6, 2)")
        .addColumn("bytes", "bytea").addColumn("big", "bigint").addColumn("ok", "boolean").execute();
      await on.schema.createTable("pet").addColumn("id", "serial", (c) => c.primaryKey()).addColumn("name", "text").addColumn("species", sql`species`, (c) => c.notNull())
        .addColumn("owner", "integer", (c) => c.references("person.id").onDelete("cascade").notNull()).addUniqueConstraint("pet_once", ["owner", "name"])
        .addCheckConstraint("pet_named", sql`name <> ''`).execute();
      await on.schema.createIndex("pet_by_name").on("pet").expression(sql`lower(name)`).execute();
    },
    async down(on) {
      await on.schema.dropTable("pet").execute();
      await on.schema.dropTable("person").execute();
      await on.schema.dropType("species").execute();
    },
  },
  second: {
    async up(on) {
      await on.schema.alterTable("person").addColumn("nick", "text").alterColumn("name", (c) => c.setDataType("text")).execute();
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
await step("introspection", async () => (await db.introspection.getTables()).map((table) => [table.name, table.isView, table.schema,
  table.columns.map((column) => [column.name, column.dataType, column.isNullable, column.isAutoIncrementing, column.hasDefaultValue])]));

await step("insert", async () => [
  await db.insertInto("person").values([
    { name: "Ann", born: "2000-01-02", info: JSON.stringify({ a: 1 }), tags: ["x"], key: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", weight: "61.25", bytes: Buffer.from([1, 2]), big: 12345678901n, ok: true },
    { name: "Bob" },
  ].map((row) => ({ born: null, info: "{}", tags: null, key: null, weight: null, bytes: null, big: null, ok: null, ...row })))
    .returning(["id", "name", "born", "info", "tags", "key", "weight", "bytes", "big", "ok"]).execute(),
  await db.insertInto("pet").values([{ called: "Tom", species: "cat", owner: 1 }, { called: "Rex", species: "dog", owner: 1 }, { called: "Kit", species: "cat", owner: 2 }]).executeTakeFirst(),
]);

await step("select", async () => [
  await db.selectFrom("person as p").innerJoin("pet", "pet.owner", "p.id").select(["p.name", "called", sql`upper(${sql.ref("species")}::text)`.as("kind")]).where("p.weight", ">", 60).orderBy("called").execute(),
  await db.selectFrom("pet").select((eb) => ["owner", eb.fn.countAll().as("n"), eb.fn.agg("array_agg", ["called"]).orderBy("called").as("names"), eb.fn.max("called").as("last")]).groupBy("owner").having((eb) => eb.fn.countAll(), ">", 0).orderBy("owner").execute(),
  await db.selectFrom("person").select((eb) => ["id", jsonArrayFrom(eb.selectFrom("pet").select(["called", "species"]).whereRef("pet.owner", "=", "person.id").orderBy("called")).as("pets"),
    jsonObjectFrom(eb.selectFrom("pet").select("id").whereRef("pet.owner", "=", "person.id").orderBy("id").limit(1)).as("first")]).orderBy("id").execute(),
  await db.with("c", (q) => q.selectFrom("cats").selectAll()).selectFrom("c").selectAll().orderBy("id").execute(),
  await db.selectFrom("person").select((eb) => [eb.ref("info", "->").key("a").as("a"), eb.case().when("ok", "=", true).then("yes").else("no").end().as("word")]).orderBy("id").execute(),
  await db.selectFrom("pet").select((eb) => ["called", eb.fn.agg("row_number").over((o) => o.partitionBy("owner").orderBy("called")).as("nr")]).orderBy("id").execute(),
  await db.selectFrom("person").selectAll("person").distinctOn("ok").select("name").clearSelect().select("ok").orderBy("ok").execute(),
  await db.selectFrom("pet").leftJoinLateral((eb) => eb.selectFrom("person").select("name as owner_name").whereRef("person.id", "=", "pet.owner").as("o"), (j) => j.onTrue()).select(["called", "owner_name"]).orderBy("pet.id").execute(),
]);

await step("update, upsert, delete, merge", async () => [
  await db.updateTable("pet").from("person").set((eb) => ({ called: eb("called", "||", "!") })).whereRef("pet.owner", "=", "person.id").where("person.name", "=", "Bob").returning("called").execute(),
  await db.insertInto("person").values({ name: "Ann", nick: "A" }).onConflict((oc) => oc.column("name").doUpdateSet((eb) => ({ nick: eb.ref("excluded.nick") }))).returning(["id", "nick"]).execute(),
  await db.insertInto("person").values({ name: "Ann" }).onConflict((oc) => oc.doNothing()).executeTakeFirst(),
  await db.deleteFrom("pet").using("person").whereRef("person.id", "=", "pet.owner").where("person.name", "=", "Bob").executeTakeFirst(),
  await db.mergeInto("pet").using("person", "person.id", "pet.owner").whenMatched().thenUpdateSet({ called: "merged" }).whenNotMatched().thenInsertValues((eb) => ({ owner: eb.ref("person.id"), species: "dog", called: eb.ref("person.name") })).executeTakeFirst()
    .catch((error) => error.code),
  await db.selectFrom("pet").select(["owner", "called"]).orderBy("id").execute(),
]);

await step("transactions", async () => {
  const found = [];
  await db.transaction().setIsolationLevel("repeatable read").execute(async (trx) => {
    await trx.insertInto("person").values({ name: "Cid" }).execute();
    await sql`savepoint one`.execute(trx);
    found.push(await refused(() => trx.insertInto("person").values({ name: "Cid" }).execute()));
    await sql`rollback to savepoint one`.execute(trx);
    found.push(await trx.selectFrom("person").select((eb) => eb.fn.countAll().as("n")).execute());
  });
  found.push(await refused(() => db.transaction().execute(async (trx) => { await trx.deleteFrom("person").execute(); throw new Error("back"); })));
  return [...found, await db.selectFrom("person").select("name").orderBy("id").execute()];
});

await step("a stream", async () => {
  const found = [];
  for await (const row of db.selectFrom(sql`generate_series(1, 20)`.as("g")).select(sql`g`.as("g")).stream(6)) found.push(row.g);
  return found.join(" ");
});

await step("errors", async () => [
  await refused(() => db.insertInto("person").values({ name: "Ann" }).execute()),
  await refused(() => db.insertInto("pet").values({ called: "", species: "cat", owner: 1 }).execute()),
  await refused(() => db.insertInto("pet").values({ called: "x", species: "cow", owner: 1 }).execute()),
  await refused(() => db.insertInto("pet").values({ called: "x", species: "cat", owner: 100 }).execute()),
  await refused(() => db.selectFrom("nobody").selectAll().execute()),
]);

await db.destroy();
