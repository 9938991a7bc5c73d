// Prisma 6 with its client in JavaScript over the driver `mariadb`: relations, filters, aggregates, upserts, transactions of both kinds, raw queries, errors.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import mysql from "mysql2/promise";
import { place, step, spell, url } from "./tour.js";

const prisma = (...words) => execFileSync("npx", ["--no-install", "prisma", ...words], {
  env: { ...process.env, DATABASE_URL: url, PRISMA_HIDE_UPDATE_MESSAGE: "1", CHECKPOINT_DISABLE: "1" }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"],
});
await step("schema", async () => {
  prisma("generate");
  // What `prisma migrate diff` writes; its program without binaries does so for PostgreSQL only.
  const made = readFileSync("prisma/schema.sql", "utf8");
  const client = await mysql.createConnection({ ...place, multipleStatements: true });
  await client.query(made);
  await client.end();
  return made.split("\n").filter((line) => line.startsWith("CREATE TABLE")).length;
});
const { PrismaClient, Prisma } = await import("@prisma/client");
const { PrismaMariaDb } = await import("@prisma/adapter-mariadb");
const db = new PrismaClient({ adapter: new PrismaMariaDb({ ...place, connectionLimit: 3, allowPublicKeyRetrieval: true }) });
/** The error's code and what the database said. */
const refused = async (act) => {
  try {
    await act();
  } catch (error) {
    const cause = error.meta?.driverAdapterError?.cause;
    return [error.constructor.name, error.code, cause?.originalCode, cause?.kind, cause?.originalMessage, cause?.constraint];
  }
  throw new Error("was not refused");
};
const added = new Date("2026-05-06T07:08:09.123Z");
const key = (number) => `00000000-0000-4000-8000-00000000000${number}`;
await step("create, nested", async () => spell(await db.author.create({
  data: {
    name: "Ada", born: new Date("1815-12-10"), mood: "merry", profile: { likes: ["numbers", { deep: null }] },
    books: { create: [
      { key: key(1), title: "Notes", price: "12.50", pages: 80, weight: 0.25, added, cover: Buffer.from([0, 255]), topics: { create: [{ name: "engines" }, { name: "numbers" }] } },
      { key: key(2), title: "Letters", added, topics: { connectOrCreate: [{ where: { name: "numbers" }, create: { name: "numbers" } }] } },
    ] },
  },
  include: { books: { include: { topics: { orderBy: { name: "asc" } } }, orderBy: { id: "asc" } } },
})));
await step("createMany", async () => [
  await db.author.createMany({ data: [{ name: "Bob" }, { name: "Cid", born: new Date("1990-01-31"), mood: "merry" }, { name: "Zoë" }] }), await db.author.createMany({ data: [{ name: "Bob" }, { name: "Dot" }], skipDuplicates: true }),
  await db.book.createMany({ data: [{ key: key(3), title: "One", price: "1.10", authorId: 2, added }, { key: key(4), title: "Two", pages: 3, authorId: 3, added }] }),
]);
await step("many to many with itself", async () => {
  await db.author.update({ where: { name: "Ada" }, data: { circle: { connect: [{ name: "Bob" }, { name: "Cid" }] } } });
  return (await db.author.findMany({ where: { known: { some: { name: "Ada" } } }, orderBy: { id: "asc" }, select: { name: true, known: { select: { name: true } } } }));
});
const titles = async (where, more = {}) => (await db.book.findMany({ where, orderBy: { id: "asc" }, ...more })).map((book) => book.title);
await step("filters", async () => [
  await titles({ title: { contains: "OTE" } }), await titles({ title: { startsWith: "T" } }), await titles({ price: { gt: "1.10" } }), await titles({ price: null }), await titles({ NOT: { pages: { in: [3, 80] } } }), await titles({ OR: [{ pages: { lte: 3 } }, { sold: true }] }),
  await titles({ author: { is: { mood: "merry", born: { lt: new Date("1900-01-01") } } } }), await titles({ topics: { none: {} } }), await titles({ topics: { every: { name: "numbers" } } }), await titles({ author: { profile: { path: "$.likes[0]", equals: "numbers" } } }),
  await titles({ added: { gte: added } }), await titles({ cover: Buffer.from([0, 255]) }), await titles({ key: key(2) }), await titles({ id: { in: [1n, 4n, 9007199254740993n] } }),
]);
await step("order, pages, cursors, distinct", async () => [
  (await db.book.findMany({ orderBy: [{ price: { sort: "desc", nulls: "last" } }, { title: "asc" }], select: { title: true } }).catch((error) => error.constructor.name)),
  (await db.book.findMany({ orderBy: [{ price: "desc" }, { title: "asc" }], select: { title: true } })).map((book) => book.title),
  (await db.book.findMany({ orderBy: { id: "asc" }, cursor: { id: 2n }, skip: 1, take: 2, select: { id: true } })).map((book) => spell(book.id)), (await db.book.findMany({ orderBy: { id: "asc" }, take: -2, select: { title: true } })).map((book) => book.title),
  (await db.author.findMany({ orderBy: [{ books: { _count: "desc" } }, { id: "asc" }], take: 2, select: { _count: { select: { books: true, circle: true } } } })), (await db.author.findMany({ distinct: ["mood"], orderBy: { id: "asc" }, select: { mood: true } })),
]);
await step("relations, two levels", async () => spell(await db.author.findMany({
  orderBy: { name: "asc" }, include: { books: { where: { sold: false }, orderBy: { title: "desc" }, take: 1, select: { title: true, topics: { select: { name: true }, orderBy: { name: "desc" } } } } },
})));
await step("aggregates and groups", async () => [
  spell(await db.book.aggregate({ _count: { _all: true, price: true }, _sum: { price: true, pages: true }, _avg: { pages: true }, _min: { title: true, added: true }, _max: { price: true } })),
  spell(await db.book.groupBy({ by: ["authorId"], _count: true, _sum: { price: true }, having: { authorId: { lte: 3 } }, orderBy: { authorId: "asc" } })), await db.author.count({ where: { books: { some: {} } } }),
]);
await step("update, upsert, delete", async () => [
  spell(await db.book.update({ where: { id: 1n }, data: { price: { multiply: 2 }, pages: { increment: 5 }, topics: { disconnect: [{ name: "engines" }] } }, select: { price: true, pages: true, topics: true } })), await db.book.updateMany({ where: { price: null }, data: { sold: true } }),
  spell(await db.topic.upsert({ where: { name: "new" }, create: { name: "new" }, update: {} })), spell(await db.author.upsert({ where: { name: "Bob" }, create: { name: "Bob" }, update: { profile: Prisma.JsonNull, mood: "merry" } })), await db.topic.deleteMany({ where: { books: { none: {} } } }),
]);
await step("transactions", async () => {
  const both = await db.$transaction([db.author.count(), db.topic.create({ data: { name: "batch" } })]);
  const undone = await refused(() => db.$transaction(async (within) => { await within.topic.create({ data: { name: "gone" } }); await within.topic.create({ data: { name: "batch" } }); }));
  await db.$transaction(async (within) => within.topic.update({ where: { name: "batch" }, data: { name: "kept" } }), { isolationLevel: "Serializable" });
  return [both[0], undone, (await db.topic.findMany({ orderBy: { name: "asc" } })).map((topic) => topic.name)];
});
await step("raw", async () => [
  spell(await db.$queryRaw`SELECT id, price, added, cover, sold, weight, \`key\` FROM book WHERE id = ${1n}`), spell(await db.$queryRaw`SELECT ${"x"} AS t, ${1} + 1 AS i, CAST(${"2024-01-01"} AS DATETIME) AS z, 1.50 AS n`),
  await db.$executeRaw`UPDATE book SET title = CONCAT(title, ${"!"}) WHERE id > ${2}`, spell(await db.$queryRawUnsafe("SELECT name FROM Topic WHERE name LIKE ? ORDER BY 1", "%e%")),
]);
await step("errors", async () => [
  await refused(() => db.author.create({ data: { name: "Ada" } })), await refused(() => db.book.create({ data: { title: "x", authorId: 99 } })), await refused(() => db.author.create({ data: { name: "n".repeat(41) } })), await refused(() => db.book.delete({ where: { id: 99n } })), await refused(() => db.$queryRaw`SELECT * FROM missing`),
]);
await db.$disconnect();
