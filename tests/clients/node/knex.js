// Knex: its migrations, twice; the query builder, transactions, batches, streams.
import knex from "knex";
import { refused, step, url } from "./tour.js";

const db = knex({ client: "pg", connection: url, pool: { min: 0, max: 4 } });

// Migrations as objects: what files would export.
const migrations = {
  "001_first": {
    async up(on) {
      await on.schema.createTable("users", (table) => {
        table.increments("id");
        table.string("email", 100).notNullable().unique();
        table.enu("role", ["admin", "guest"], { useNative: true, enumName: "user_role" }).defaultTo("guest");
        table.enu("level", ["low", "high"]).defaultTo("low");
        table.boolean("active").notNullable().defaultTo(true);
        table.timestamps(true, true);
        table.comment("who logs in");
      });
      await on.schema.createTable("posts", (table) => {
        table.bigIncrements("id");
        table.integer("author").notNullable().references("id").inTable("users").onDelete("CASCADE");
        table.text("body");
        table.jsonb("meta").defaultTo("{}");
        table.specificType("tags", "text[]");
        table.uuid("key").defaultTo(db.raw("gen_random_uuid()"));
        table.decimal("price", 8, 2);
        table.binary("data");
        table.date("day");
        table.double("score");
        table.index(["author", "day"], "posts_by_day");
      });
    },
    down: (on) => on.schema.dropTable("posts").dropTable("users").raw("drop type user_role"),
  },
  "002_second": {
    async up(on) {
      await on.schema.alterTable("users", (table) => {
        table.string("name").comment("as written");
        table.renameColumn("active", "enabled");
        table.string("email", 200).notNullable().alter();
        table.check("email <> ''", undefined, "email_given");
      });
      await on.schema.alterTable("posts", (table) => {
        table.dropColumn("score");
        table.dropIndex([], "posts_by_day");
        table.unique(["author", "body"], { indexName: "posts_once" });
      });
      await on.schema.createView("shown", (view) => {
        view.columns(["id", "email"]);
        view.as(db("users").select("id", "email").where("enabled", true));
      });
    },
    down: async (on) => {
      await on.schema.dropView("shown");
      await on.schema.alterTable("posts", (table) => { table.dropUnique([], "posts_once"); table.double("score"); table.index(["author", "day"], "posts_by_day"); });
      await on.schema.alterTable("users", (table) => { table.dropChecks(["email_given"]); table.dropColumn("name"); table.renameColumn("enabled", "active"); });
    },
  },
};
const migrationSource = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  getMigration: async (name) => ({ up: migrations[name].up, down: migrations[name].down }),
};

await step("migrate", async () => (await db.migrate.latest({ migrationSource }))[1]);
await step("migrate again", async () => (await db.migrate.latest({ migrationSource }))[1]);
await step("roll back and forth", async () => [
  (await db.migrate.down({ migrationSource }))[1],
  (await db.migrate.list({ migrationSource })).map((part) => part.map((one) => one.name ?? one.file ?? one)),
  (await db.migrate.up({ migrationSource }))[1],
]);

await step("introspection", async () => {
  const said = [];
  for (const table of ["users", "posts"]) said.push(await db(table).columnInfo());
  return [...said, await db.schema.hasTable("users"), await db.schema.hasColumn("users", "active"), await db.schema.hasTable("none")];
});

await step("insert", async () => [
  await db("users").insert([{ email: "a@x" }, { email: "b@x", role: "admin", name: "B" }, { email: "c@x", enabled: false }]).returning(["id", "role", "level", "enabled"]),
  await db("posts").insert({ author: 1, body: "first", meta: { k: [1, 2] }, tags: ["x", "y"], price: "12.345", data: Buffer.from("abc"), day: "2024-02-29" })
    .returning(["id", "meta", "tags", "price", "data", "day"]),
  await db.batchInsert("posts", Array.from({ length: 50 }, (_, n) => ({ author: 1 + (n % 3), body: `post ${n}`, price: n })), 20).returning("id").then((ids) => ids.length),
]);

await step("select", async () => [
  await db("users as u").join("posts as p", "p.author", "u.id").where("p.price", ">", 40).andWhere((q) => q.where("u.role", "guest").orWhereNull("u.name"))
    .select("u.email", "p.body", "p.price").orderBy([{ column: "u.email" }, { column: "p.price", order: "desc" }]).limit(5).offset(1),
  await db("posts").select("author").count("* as n").sum("price as total").max("body as last").groupBy("author").having(db.raw("count(*) > 16")).orderBy("author"),
  await db("users").whereExists(db("posts").whereRaw("posts.author = users.id").where("body", "like", "post 1%")).whereIn("id", [1, 2, 3]).pluck("id"),
  await db("posts").whereRaw("tags @> ?::text[]", [["x"]]).first("id", "tags"),
  await db("posts").whereJsonSupersetOf("meta", { k: [2] }).select("id"),
  await db("posts").jsonExtract("meta", "$.k[1]", "second").whereNotNull("tags"),
  await db.with("recent", db("posts").where("price", ">=", 45)).from("recent").count(),
  await db("users").select("id").union([db("posts").select("author").where("id", 1)]).orderBy("id"),
  await db("posts").rowNumber("nr", (w) => w.partitionBy("author").orderBy("price")).select("id").whereIn("price", [1, 2, 4]).orderBy("id"),
  await db("users").distinctOn("role").select("role", "email").orderBy([{ column: "role" }, { column: "email" }]),
  await db("users").whereILike("email", "A%").select("email"),
]);

await step("update and delete", async () => [
  await db("posts").where("price", "<", 3).update({ body: db.raw("upper(body)") }),
  await db("users").where({ id: 2 }).increment("id", 10).returning("id").catch((error) => error.code),
  await db("posts").where({ author: 3 }).del(["id"]).then((gone) => gone.length),
]);

await step("upsert", async () => [
  await db("users").insert({ email: "a@x", name: "A" }).onConflict("email").merge(["name"]).returning(["id", "name"]),
  await db("users").insert({ email: "a@x" }).onConflict("email").ignore().returning("id"),
]);

await step("transactions", async () => {
  const said = [];
  await db.transaction(async (trx) => {
    await trx("users").insert({ email: "t@x" });
    said.push(await refused(() => trx.transaction(async (inner) => { await inner("users").insert({ email: "t@x" }); })));
    said.push(await trx("users").count());
    said.push(await trx("users").where({ email: "t@x" }).forUpdate().first("email"));
  }, { isolationLevel: "repeatable read" });
  said.push(await refused(() => db.transaction(async (trx) => { await trx("users").del(); throw new Error("back"); })));
  return [...said, await db("users").count()];
});

await step("errors", async () => [
  await refused(() => db("users").insert({ email: "a@x" })),
  await refused(() => db("users").insert({ email: "" })),
  await refused(() => db("users").insert({ email: "z", level: "middle" })),
  await refused(() => db("users").insert({ email: "z", role: "king" })),
  await refused(() => db("posts").insert({ author: 1000 })),
  await refused(() => db("missing").select()),
]);

await step("a stream", async () => {
  let n = 0;
  for await (const row of db("posts").where("author", 1).select("id").stream()) n += row.id > 0 ? 1 : 0;
  return String(n);
});

await step("schema by hand", async () => {
  await db.schema.createSchemaIfNotExists("other");
  await db.schema.withSchema("other").createTable("t", (table) => { table.uuid("id").primary(); table.timestamp("at", { useTz: false, precision: 3 }); });
  await db.schema.withSchema("other").renameTable("t", "t2");
  await db.schema.createTableLike("users2", "users");
  await db.schema.dropTableIfExists("nothing");
  return [await db.withSchema("other").from("t2").count(), await db("users2").columnInfo("email"), await db("users").truncate().catch((error) => error.code)];
});

await step("roll back all", async () => [
  await db.schema.dropTable("users2"),
  (await db.migrate.rollback({ migrationSource }, true))[1],
  await db.raw("select tablename from pg_tables where schemaname = 'public' order by 1").then((result) => result.rows),
]);

await db.destroy();
