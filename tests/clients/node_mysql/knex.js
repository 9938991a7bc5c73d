// Knex over mysql2: its migrations, twice; the query builder, transactions, batches, streams.
import knex from "knex";
import { place, refused, step } from "./tour.js";

const db = knex({ client: "mysql2", connection: { ...place, timezone: "Z" }, pool: { min: 0, max: 4 } });

// Migrations as objects: what files would export.
const migrations = {
  "001_first": {
    async up(on) {
      await on.schema.createTable("users", (table) => {
        table.increments("id");
        table.string("email", 100).notNullable().unique();
        table.enu("role", ["admin", "guest"]).defaultTo("guest");
        table.boolean("active").notNullable().defaultTo(true);
        table.timestamps(true, true);
        table.comment("who logs in");
      });
      await on.schema.createTable("posts", (table) => {
        table.bigIncrements("id");
        table.integer("author").unsigned().notNullable().references("id").inTable("users").onDelete("CASCADE");
        table.text("body");
        table.json("meta");
        table.uuid("key");
        table.decimal("price", 8, 2);
        table.binary("data");
        table.date("day");
        table.double("score");
        table.index(["author", "day"], "posts_by_day");
        table.engine("InnoDB");
        table.charset("utf8mb4");
      });
    },
    down: (on) => on.schema.dropTable("posts").dropTable("users"),
  },
  "002_second": {
    async up(on) {
      await on.schema.alterTable("users", (table) => {
        table.string("name").comment("as written").after("email");
        table.renameColumn("active", "enabled");
        table.string("email", 200).notNullable().alter();
        table.check("email <> ''", undefined, "email_given");
      });
      await on.schema.alterTable("posts", (table) => {
        table.dropColumn("score");
        table.dropForeign("author");
        table.dropIndex([], "posts_by_day");
        table.foreign("author", "of_author").references("users.id").onUpdate("CASCADE");
        table.unique(["author", "price"], { indexName: "posts_once" });
        table.dateTime("seen", { precision: 3 }).defaultTo(on.fn.now(3));
      });
      await on.schema.createView("shown", (view) => {
        view.columns(["id", "email"]);
        view.as(db("users").select("id", "email").where("enabled", true));
      });
    },
    down: async (on) => {
      await on.schema.dropView("shown");
      await on.schema.alterTable("posts", (table) => {
        table.dropForeign("author", "of_author");
        table.dropUnique([], "posts_once");
        table.dropColumn("seen");
        table.double("score");
        table.index(["author", "day"], "posts_by_day");
        table.foreign("author").references("users.id").onDelete("CASCADE");
      });
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
  return [...said, await db.schema.hasTable("users"), await db.schema.hasColumn("users", "active"), await db.schema.hasTable("none"),
    (await db.raw("SHOW CREATE TABLE posts"))[0][0]["Create Table"], (await db.raw("SHOW CREATE TABLE users"))[0][0]["Create Table"].replace(/AUTO_INCREMENT=\d+ /, "")];
});
await step("insert", async () => [
  await db("users").insert([{ email: "a@x" }, { email: "b@x", role: "admin", name: "B" }, { email: "c@x", enabled: false }]),
  await db("posts").insert({ author: 1, body: "first", meta: JSON.stringify({ k: [1, 2] }), price: "12.345", data: Buffer.from("abc"), day: "2024-02-29" }),
  (await db.batchInsert("posts", Array.from({ length: 50 }, (_, n) => ({ author: 1 + (n % 3), body: `post ${n}`, price: 100 + n })), 20)).length,
]);
await step("select", async () => [
  await db("users as u").join("posts as p", "p.author", "u.id").where("p.price", ">", 140).andWhere((q) => q.where("u.role", "guest").orWhereNull("u.name"))
    .select("u.email", "p.body", "p.price").orderBy([{ column: "u.email" }, { column: "p.price", order: "desc" }]).limit(5).offset(1),
  await db("posts").select("author").count("* as n").sum("price as total").avg("price as mean").max("body as last").groupBy("author").having(db.raw("count(*) > 16")).orderBy("author"),
  await db("users").whereExists(db("posts").whereRaw("posts.author = users.id").where("body", "like", "post 1%")).whereIn("id", [1, 2, 3]).pluck("id"),
  await db("posts").first("id", "meta", "data", "day").orderBy("id"),
  await db("posts").whereJsonSupersetOf("meta", { k: [2] }).select("id"),
  await db("posts").jsonExtract("meta", "$.k[1]", "second").whereNotNull("meta"),
  await db.with("recent", db("posts").where("price", ">=", 145)).from("recent").count(),
  await db("users").select("id").union([db("posts").select("author").where("id", 1)]).orderBy("id"),
  await db("posts").rowNumber("nr", (w) => w.partitionBy("author").orderBy("price")).select("id").whereIn("price", [101, 102, 104]).orderBy("id"),
  await db("users").whereILike("email", "A%").select("email"),
  await db({ u: "users", p: "posts" }).options({ nestTables: true }).select("u.id", "p.id").whereRaw("u.id = p.author").orderBy("p.id").limit(2),
  await db("users").select(db.raw("?? as word, ? as given", ["email", "x"])).orderByRaw("field(role, 'guest', 'admin'), id").limit(2),
  await db("posts").countDistinct("author as n").first(), await db("shown").select().orderBy("id"),
]);
await step("update and delete", async () => [
  await db("posts").where("price", "<", 103).update({ body: db.raw("upper(body)") }),
  await db("users").where({ id: 2 }).increment("active", 0).catch((error) => error.code),
  await db("posts").where({ author: 3 }).orderBy("id").limit(2).del(),
  await db("posts as p").join("users as u", "u.id", "p.author").where("u.email", "c@x").update({ "p.body": "joined" }),
  (await db.raw("delete p from posts as p join users as u on u.id = p.author where u.email = ?", ["c@x"]))[0].affectedRows,
]);
await step("upsert", async () => [
  await db("users").insert({ email: "a@x", name: "A" }).onConflict("email").merge(["name"]), await db("users").where("email", "a@x").first("id", "name"),
  await db("users").insert({ email: "a@x" }).onConflict("email").ignore(), await db("users").insert([{ email: "a@x", name: "Z" }, { email: "new@x" }]).onConflict().merge(),
]);
await step("transactions", async () => {
  const said = [];
  await db.transaction(async (trx) => {
    await trx("users").insert({ email: "t@x" });
    said.push(await refused(() => trx.transaction(async (inner) => { await inner("users").insert({ email: "t@x" }); })));
    said.push(await trx("users").count());
    said.push(await trx("users").where({ email: "t@x" }).forUpdate().first("email"));
    said.push(await trx("users").where({ email: "t@x" }).forUpdate().skipLocked().first("email"));
    said.push(await trx("users").forUpdate().count());
  }, { isolationLevel: "repeatable read" });
  said.push((await refused(() => db.transaction(async (trx) => { await trx("users").del(); throw new Error("back"); }))));
  return [...said, await db("users").count()];
});
await step("errors of rows", async () => [
  await refused(() => db("users").insert({ email: "a@x" })), await refused(() => db("users").insert({ email: "z", role: "king" })), await refused(() => db("users").insert({ name: "n", email: null })),
]);
await step("errors of tables", async () => [await refused(() => db("posts").insert({ author: 1000, price: 1 })), await refused(() => db("missing").select())]);
await step("a stream", async () => {
  let n = 0;
  for await (const row of db("posts").where("author", 1).select("id").stream()) n += row.id > 0 ? 1 : 0;
  return String(n);
});
await step("schema by hand", async () => {
  await db.schema.createTable("t", (table) => { table.uuid("id").primary(); table.dateTime("at", { precision: 3 }); table.bigInteger("big").unsigned(); table.specificType("flags", "set('a','b')"); table.tinyint("tiny", 1); });
  await db.schema.renameTable("t", "t2");
  await db.schema.createTableLike("users2", "users");
  await db.schema.dropTableIfExists("nothing");
  await db.schema.alterTable("t2", (table) => { table.dropPrimary(); table.primary(["id", "big"]); table.setNullable("tiny"); table.dropNullable("big"); });
  return [await db("t2").count(), Object.entries(await db("t2").columnInfo()).sort(), await db("users2").columnInfo("email"), await db("users").truncate().catch((error) => error.code)];
});
await step("roll back all", async () => [
  await db.schema.dropTable("users2"), (await db.migrate.rollback({ migrationSource }, true))[1], (await db.raw("show tables"))[0],
]);
await db.destroy();
