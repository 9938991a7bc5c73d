// Drizzle: migrations that drizzle-kit writes, run twice; the query builder, relations, transactions.
import { relations, sql, eq, and, desc, inArray, count, sum, gt, arrayContains } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import * as t from "drizzle-orm/pg-core";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { refused, step, url } from "./tour.js";

// Its module has no form for import.
const kit = createRequire(import.meta.url)("drizzle-kit/api");

const mood = t.pgEnum("mood", ["sad", "ok"]);
const users = t.pgTable("users", {
  id: t.integer().primaryKey().generatedAlwaysAsIdentity(),
  email: t.varchar({ length: 100 }).notNull().unique(),
  name: t.text().default("nobody"),
  mood: mood().default("ok"),
  active: t.boolean().notNull().default(true),
  at: t.timestamp({ withTimezone: true, precision: 3 }).defaultNow(),
  day: t.date(),
  doc: t.jsonb().default({}),
  plain: t.json(),
  tags: t.text().array(),
  key: t.uuid().defaultRandom(),
  price: t.numeric({ precision: 10, scale: 2 }),
  big: t.bigint({ mode: "bigint" }),
  score: t.doublePrecision(),
  small: t.smallint(),
  time: t.time(),
  span: t.interval(),
}, (table) => [
  t.index("users_name").on(table.name),
  t.uniqueIndex("users_lower").on(sql`lower(${table.email})`),
  t.index("users_part").on(table.day.desc()).where(sql`${table.active}`),
  t.check("users_price", sql`${table.price} >= 0`),
]);
const posts = t.pgTable("posts", {
  id: t.bigserial({ mode: "number" }).primaryKey(),
  author: t.integer().notNull().references(() => users.id, { onDelete: "cascade" }),
  body: t.text().notNull(),
  size: t.integer().generatedAlwaysAs(sql`length(body)`),
});
const tagged = t.pgTable("tagged", { post: t.bigint({ mode: "number" }).references(() => posts.id), tag: t.text() },
  (table) => [t.primaryKey({ columns: [table.post, table.tag] })]);
const shown = t.pgView("shown").as((query) => query.select({ id: users.id, email: users.email }).from(users).where(sql`${users.active}`));
const usersRelations = relations(users, ({ many }) => ({ posts: many(posts) }));
const postsRelations = relations(posts, ({ one }) => ({ author: one(users, { fields: [posts.author], references: [users.id] }) }));
const schema = { mood, users, posts, tagged, shown, usersRelations, postsRelations };

const pool = new pg.Pool({ connectionString: url, max: 3 });
const db = drizzle(pool, { schema });

const folder = mkdtempSync(join(tmpdir(), "drizzle-"));
mkdirSync(join(folder, "meta"));
const entries = [];
let before = kit.generateDrizzleJson({});

/** What drizzle-kit writes into a migration from the last schema to this one. */
async function generate(tables) {
  const now = kit.generateDrizzleJson(tables, before.id);
  const statements = await kit.generateMigration(before, now);
  before = now;
  const tag = `000${entries.length}_step`;
  writeFileSync(join(folder, `${tag}.sql`), statements.join("\n--> statement-breakpoint\n"));
  entries.push({ idx: entries.length, version: "7", when: 1700000000000 + entries.length, tag, breakpoints: true });
  writeFileSync(join(folder, "meta", "_journal.json"), JSON.stringify({ version: "7", dialect: "postgresql", entries }));
  return statements;
}
const applied = async () => (await db.execute(sql`select id, created_at from drizzle.__drizzle_migrations order by id`)).rows;

await step("migrate", async () => [...(await generate(schema)), await migrate(db, { migrationsFolder: folder }), await applied()]);
await step("migrate again", async () => [await migrate(db, { migrationsFolder: folder }), await applied()]);

await step("insert", async () => [
  await db.insert(users).values([
    { email: "a@x", doc: { k: [1] }, plain: [1, "x"], tags: ["x", "y z"], price: "12.50", big: 9007199254740993n, score: 0.5, day: "2024-02-29", at: new Date("2024-01-02T03:04:05.678Z"), small: 3, time: "01:02:03", span: "1 day" },
    { email: "b@x", mood: "sad", name: null, active: false, at: null },
  ]).returning({ id: users.id, email: users.email, name: users.name, mood: users.mood, active: users.active, at: users.at, day: users.day,
    doc: users.doc, plain: users.plain, tags: users.tags, price: users.price, big: users.big, score: users.score, small: users.small, time: users.time, span: users.span }),
  await db.insert(posts).values([{ author: 1, body: "one" }, { author: 1, body: "three" }, { author: 2, body: "zwei" }]).returning(),
  (await db.insert(tagged).values([{ post: 1, tag: "a" }, { post: 1, tag: "b" }])).rowCount,
]);

await step("select", async () => [
  await db.select({ email: users.email, body: posts.body }).from(users).leftJoin(posts, eq(posts.author, users.id)).where(gt(posts.size, 3)).orderBy(desc(posts.id)),
  await db.select({ author: posts.author, n: count(), total: sum(posts.size) }).from(posts).groupBy(posts.author).orderBy(posts.author),
  await db.select({ id: users.id }).from(users).where(and(arrayContains(users.tags, ["x"]), inArray(users.id, [1, 2]))),
  await db.select().from(shown),
  await db.$count(posts),
  await db.selectDistinctOn([posts.author], { author: posts.author, id: posts.id }).from(posts).orderBy(posts.author, desc(posts.id)),
]);

await step("a cte and a subquery", async () => {
  const long = db.$with("long").as(db.select().from(posts).where(gt(posts.size, 3)));
  const per = db.select({ author: posts.author, n: count().as("n") }).from(posts).groupBy(posts.author).as("per");
  return [await db.with(long).select().from(long).orderBy(long.id),
    await db.select({ email: users.email, n: per.n }).from(users).innerJoin(per, eq(per.author, users.id)).orderBy(users.id)];
});

await step("relations", async () => [
  await db.query.users.findMany({ columns: { id: true, email: true, tags: true }, with: { posts: { columns: { body: true }, orderBy: desc(posts.id), limit: 1 } }, orderBy: users.id }),
  await db.query.posts.findFirst({ where: eq(posts.id, 3), with: { author: { columns: { email: true, price: true } } } }),
]);

await step("update, upsert, delete", async () => [
  await db.update(posts).set({ body: sql`${posts.body} || '!'` }).where(eq(posts.author, 1)).returning({ id: posts.id, size: posts.size }),
  await db.insert(users).values({ email: "a@x", name: "Ann" }).onConflictDoUpdate({ target: users.email, set: { name: sql`excluded.name` } }).returning({ id: users.id, name: users.name }),
  await db.insert(users).values({ email: "a@x" }).onConflictDoNothing().returning({ id: users.id }),
  await db.delete(tagged).where(eq(tagged.tag, "b")).returning(),
]);

await step("transactions", async () => {
  const said = [];
  await db.transaction(async (tx) => {
    await tx.insert(posts).values({ author: 2, body: "in" });
    said.push(await refused(() => tx.transaction(async (inner) => { await inner.delete(posts); inner.rollback(); })));
    said.push(await tx.$count(posts));
  }, { isolationLevel: "serializable" });
  said.push(await refused(() => db.transaction(async (tx) => { await tx.delete(posts); throw new Error("back"); })));
  return [...said, await db.$count(posts)];
});

await step("prepared", async () => {
  const prepared = db.select({ id: users.id, email: users.email }).from(users).where(eq(users.id, sql.placeholder("id"))).prepare("user by id");
  return [await prepared.execute({ id: 1 }), await prepared.execute({ id: 2 }), await prepared.execute({ id: 3 })];
});

await step("errors", async () => [
  await refused(() => db.insert(users).values({ email: "a@x" })),
  await refused(() => db.insert(posts).values({ author: 1, body: null })),
  await refused(() => db.insert(posts).values({ author: 99, body: "" })),
  await refused(() => db.execute(sql`select * from missing`)),
]);

await step("migrate what has changed", async () => [...(await generate({ mood, users, posts: t.pgTable("posts", {
  id: t.bigserial({ mode: "number" }).primaryKey(),
  author: t.integer().notNull().references(() => users.id, { onDelete: "cascade" }),
  body: t.text(),
  size: t.integer().generatedAlwaysAs(sql`length(body)`),
  stars: t.integer().notNull().default(5),
}), tagged, shown })), await migrate(db, { migrationsFolder: folder }), await applied()]);
await step("what is there then", async () => (await db.execute(sql`select * from posts order by id`)).rows);

await pool.end();
rmSync(folder, { recursive: true });
