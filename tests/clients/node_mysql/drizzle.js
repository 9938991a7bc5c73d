// Drizzle over mysql2: migrations that drizzle-kit writes, twice; queries, relations, transactions.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { and, asc, count, desc, eq, gt, inArray, like, relations, sql, sum } from "drizzle-orm";
import { drizzle } from "drizzle-orm/mysql2";
import { migrate } from "drizzle-orm/mysql2/migrator";
import * as t from "drizzle-orm/mysql-core";
import { unionAll } from "drizzle-orm/mysql-core";
import * as kit from "drizzle-kit/api";
import { place, refused, step } from "./tour.js";

const { generateMySQLDrizzleJson, generateMySQLMigration } = kit;
const users = t.mysqlTable("users", {
  id: t.int().primaryKey().autoincrement(), email: t.varchar({ length: 100 }).notNull().unique(), name: t.text(), role: t.mysqlEnum(["admin", "guest"]).default("guest"), price: t.decimal({ precision: 10, scale: 2 }),
  big: t.bigint({ mode: "bigint", unsigned: true }), score: t.double(), ok: t.boolean().default(true), day: t.date({ mode: "string" }), at: t.datetime({ fsp: 3 }), stamp: t.timestamp().defaultNow().onUpdateNow(), doc: t.json(), bytes: t.binary({ length: 4 }), year: t.year(), clock: t.time(),
}, (table) => [t.index("users_by_role").on(table.role, table.day), t.check("users_price", sql`${table.price} >= 0`)]);
const posts = t.mysqlTable("posts", {
  id: t.serial().primaryKey(), author: t.int().notNull().references(() => users.id, { onDelete: "cascade" }), body: t.text(), size: t.int().generatedAlwaysAs(sql`char_length(body)`), stars: t.smallint().notNull().default(5),
});
const tagged = t.mysqlTable("tagged", { post: t.bigint({ mode: "number", unsigned: true }).references(() => posts.id), tag: t.varchar({ length: 20 }) }, (table) => [t.primaryKey({ columns: [table.post, table.tag] })]);
const shown = t.mysqlView("shown").as((qb) => qb.select({ id: users.id, email: users.email }).from(users).where(eq(users.ok, true)));
const userRelations = relations(users, ({ many }) => ({ posts: many(posts) }));
const postRelations = relations(posts, ({ one }) => ({ author: one(users, { fields: [posts.author], references: [users.id] }) }));

const pool = mysql.createPool({ ...place, connectionLimit: 3, timezone: "Z" });
const db = drizzle(pool, { schema: { users, posts, tagged, userRelations, postRelations }, mode: "default" });
const folder = mkdtempSync("/tmp/drizzle-");
let last = await generateMySQLDrizzleJson({});
let made = 0;
/** What `drizzle-kit generate` does. */
async function generate(schema) {
  const next = await generateMySQLDrizzleJson(schema, last.id);
  const statements = await generateMySQLMigration(last, next);
  last = next;
  mkdirSync(join(folder, "meta"), { recursive: true });
  const journal = join(folder, "meta", "_journal.json");
  const entries = made ? JSON.parse(readFileSync(journal)).entries : [];
  entries.push({ idx: made, version: "5", when: 1700000000000 + made, tag: `000${made}_x`, breakpoints: true });
  writeFileSync(join(folder, `000${made}_x.sql`), statements.join("\n--> statement-breakpoint\n"));
  writeFileSync(journal, JSON.stringify({ version: "7", dialect: "mysql", entries }));
  made += 1;
  return statements;
}
await step("migrate", async () => [...(await generate({ users, posts, tagged, shown })), await migrate(db, { migrationsFolder: folder })]);
await step("migrate again", async () => [await migrate(db, { migrationsFolder: folder }), (await db.execute(sql`select count(*) as n from __drizzle_migrations`))[0]]);
await step("insert", async () => [
  (await db.insert(users).values([{ email: "a@x", name: "A", price: "12.50", big: 18446744073709551615n, score: 0.5, day: "2024-02-29", at: new Date("2024-01-02T03:04:05.678Z"), doc: { k: [1] }, bytes: "abcd", year: 2024, clock: "10:11:12" }, { email: "b@x", role: "admin", ok: false }]))[0].insertId,
  await db.insert(posts).values([{ author: 1, body: "first" }, { author: 1, body: "second" }, { author: 2, body: "x" }]).$returningId(), (await db.insert(tagged).values([{ post: 1, tag: "a" }, { post: 1, tag: "b" }]))[0].affectedRows,
]);
await step("select", async () => [
  (await db.select().from(users).orderBy(users.id)).map((one) => ({ ...one, stamp: one.stamp !== null })), await db.select().from(posts).orderBy(asc(posts.id)), await db.select({ email: users.email, body: posts.body }).from(users).leftJoin(posts, eq(posts.author, users.id)).where(like(posts.body, "%s%")).orderBy(desc(posts.id)).limit(2).offset(0),
  await db.select({ author: posts.author, n: count(), stars: sum(posts.stars) }).from(posts).groupBy(posts.author).having(({ n }) => gt(n, 0)).orderBy(posts.author), await db.select({ id: users.id }).from(users).where(and(inArray(users.id, [1, 2]), sql`json_contains(${users.doc}, '1', '$.k')`)),
  await db.select().from(shown), await db.$count(posts), await db.selectDistinct({ author: posts.author }).from(posts).orderBy(posts.author), await unionAll(db.select({ id: users.id }).from(users), db.select({ id: posts.author }).from(posts)).orderBy(sql`1`).limit(3),
]);
await step("a cte and a subquery", async () => {
  const long = db.$with("long").as(db.select().from(posts).where(gt(posts.size, 3)));
  const per = db.select({ author: posts.author, n: count().as("n") }).from(posts).groupBy(posts.author).as("per");
  return [await db.with(long).select().from(long).orderBy(long.id), await db.select({ email: users.email, n: per.n }).from(users).innerJoin(per, eq(per.author, users.id)).orderBy(users.id)];
});
await step("relations", async () => [
  await db.query.users.findMany({ columns: { id: true, email: true }, with: { posts: { columns: { body: true }, orderBy: desc(posts.id), limit: 1 } }, orderBy: users.id }), await db.query.posts.findFirst({ where: eq(posts.id, 3), with: { author: { columns: { email: true, price: true } } } }),
]);
await step("update, upsert, delete", async () => [
  (await db.update(posts).set({ body: sql`concat(${posts.body}, '!')` }).where(eq(posts.author, 1)))[0].affectedRows, (await db.insert(users).values({ email: "a@x", name: "Ann" }).onDuplicateKeyUpdate({ set: { name: sql`values(name)` } }))[0].affectedRows, (await db.insert(users).ignore().values({ email: "a@x" }))[0].affectedRows,
  (await db.delete(tagged).where(eq(tagged.tag, "b")).orderBy(tagged.post).limit(1))[0].affectedRows, await db.select({ name: users.name }).from(users).orderBy(users.id),
]);
await step("transactions", async () => {
  const said = [];
  await db.transaction(async (tx) => {
    await tx.insert(posts).values({ author: 2, body: "in" });
    said.push((await refused(() => tx.transaction(async (inner) => { await inner.delete(tagged); inner.rollback(); }))));
    said.push(await tx.$count(tagged), await tx.select({ id: users.id }).from(users).where(eq(users.id, 1)).for("update"), await tx.select({ id: users.id }).from(users).for("share", { skipLocked: true }).orderBy(users.id));
  }, { isolationLevel: "serializable", accessMode: "read write" });
  said.push(await refused(() => db.transaction(async (tx) => { await tx.delete(tagged); throw new Error("back"); }, { withConsistentSnapshot: true })));
  return [...said, await db.$count(posts)];
});
await step("prepared", async () => {
  const prepared = db.select({ id: users.id, email: users.email }).from(users).where(eq(users.id, sql.placeholder("id"))).prepare();
  return [await prepared.execute({ id: 1 }), await prepared.execute({ id: 2 }), await prepared.execute({ id: 3 })];
});
await step("errors", async () => [
  await refused(() => db.insert(users).values({ email: "a@x" })), await refused(() => db.insert(users).values({ email: "p@x", price: "-1" })), await refused(() => db.insert(posts).values({ author: 99, body: "" })), await refused(() => db.execute(sql`select * from missing`)), await refused(() => db.insert(users).values({ email: "y".repeat(101) })),
]);
await step("migrate what has changed", async () => [...(await generate({ users, posts: t.mysqlTable("posts", {
  id: t.serial().primaryKey(), author: t.int().notNull().references(() => users.id, { onDelete: "restrict" }), body: t.text(), size: t.int().generatedAlwaysAs(sql`char_length(body)`), stars: t.int().notNull().default(7), seen: t.datetime(),
}, (table) => [t.uniqueIndex("posts_seen").on(table.seen, table.author)]), tagged })), await migrate(db, { migrationsFolder: folder }).catch((error) => String(error.cause?.sqlMessage ?? error.message))]);
await step("what is there then", async () => (await db.execute(sql`select * from posts order by id`))[0]);
await pool.end();
rmSync(folder, { recursive: true });
