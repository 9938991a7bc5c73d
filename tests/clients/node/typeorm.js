// TypeORM: synchronize, twice; migrations; entities with relations, query builder, transactions.
import "reflect-metadata";
import typeorm from "typeorm";
import { refused, step, url } from "./tour.js";

const { DataSource, EntitySchema, In, ILike, MoreThan, Raw } = typeorm;
const User = new EntitySchema({
  name: "User", tableName: "users", columns: {
    id: { type: "int", primary: true, generated: "increment" },
    email: { type: "varchar", length: 100, unique: true, comment: "where to write" },
    role: { type: "enum", enum: ["admin", "guest"], default: "guest" },
    active: { type: "boolean", default: true },
    price: { type: "numeric", precision: 10, scale: 2, nullable: true },
    big: { type: "bigint", nullable: true },
    score: { type: "double precision", nullable: true },
    day: { type: "date", nullable: true },
    at: { type: "timestamptz", nullable: true },
    doc: { type: "json", nullable: true },
    docb: { type: "jsonb", default: () => "'{}'" },
    tags: { type: "text", array: true, nullable: true },
    key: { type: "uuid", nullable: true },
    bytes: { type: "bytea", nullable: true },
    during: { type: "int4range", nullable: true },
    upper: { type: "text", generatedType: "STORED", asExpression: "upper(email)", nullable: true },
    version: { type: "int", version: true },
  },
  indices: [{ columns: ["role", "day"], name: "users_by_role" }, { columns: ["day"], name: "users_days", where: "active" }],
  checks: [{ expression: "price >= 0", name: "users_price" }],
  relations: { posts: { type: "one-to-many", target: "Post", inverseSide: "author" } },
});
const Post = new EntitySchema({
  name: "Post", tableName: "posts", columns: {
    id: { type: "uuid", primary: true, generated: "uuid" }, title: { type: "text" }, stars: { type: "int", default: 0 },
    gone: { type: "timestamp", deleteDate: true, nullable: true },
  },
  relations: {
    author: { type: "many-to-one", target: "User", joinColumn: true, onDelete: "CASCADE", nullable: false, inverseSide: "posts" },
    labels: { type: "many-to-many", target: "Label", joinTable: { name: "post_labels" }, cascade: true },
  },
});
const Label = new EntitySchema({ name: "Label", tableName: "labels", columns: { name: { type: "varchar", primary: true } } });
class First1700000000000 {
  name = "First1700000000000";
  async up(runner) {
    await runner.createTable(new typeorm.Table({ name: "extra", columns: [{ name: "id", type: "serial", isPrimary: true }, { name: "word", type: "varchar(20)", default: "'x'" }] }), true);
    await runner.addColumn("extra", new typeorm.TableColumn({ name: "n", type: "int", isNullable: true }));
    await runner.createIndex("extra", new typeorm.TableIndex({ name: "extra_n", columnNames: ["n"] }));
    await runner.query("insert into extra (n) values (1), (2)");
  }
  async down(runner) {
    await runner.dropTable("extra");
  }
}

const source = new DataSource({ type: "postgres", url, entities: [User, Post, Label], migrations: [First1700000000000], logging: false, installExtensions: false, uuidExtension: "pgcrypto", poolSize: 3 });
await step("connect", async () => { await source.initialize(); });
await step("what synchronize would do", async () => (await source.driver.createSchemaBuilder().log()).upQueries.map((one) => one.query));
await step("synchronize", () => source.synchronize());
await step("synchronize again", async () => {
  const left = (await source.driver.createSchemaBuilder().log()).upQueries.map((one) => one.query);
  await source.synchronize();
  return left;
});
await step("migrations", async () => [
  await source.showMigrations(), (await source.runMigrations()).map((one) => one.name), (await source.runMigrations()).length, await source.query("select * from extra order by id"),
]);

const users = source.getRepository(User);
const posts = source.getRepository(Post);
await step("save", async () => [
  await users.save({ email: "a@x", price: "12.5", big: "9007199254740993", score: 0.5, day: "2024-02-29", at: new Date("2024-01-02T03:04:05.678Z"), doc: [1], docb: { k: 1 }, tags: ["a", "b c"],
    key: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", bytes: Buffer.from([0, 255]), during: "[1,5)" }),
  await users.save([{ email: "b@x", role: "admin" }, { email: "c@x", active: false }]),
  (await posts.save([{ title: "one", author: { id: 1 }, labels: [{ name: "l1" }, { name: "l2" }] }, { title: "two", stars: 4, author: { id: 1 }, labels: [] }, { title: "three", author: { id: 2 }, labels: [{ name: "l1" }] }])).map((one) => one.title),
]);
await step("find", async () => [
  await users.find({ order: { id: "ASC" } }),
  (await users.find({ relations: { posts: { labels: true } }, order: { id: "ASC", posts: { title: "ASC", labels: { name: "ASC" } } } })).map((user) => [user.email, user.posts.map((post) => [post.title, post.labels.map((label) => label.name)])]),
  await users.find({ select: { id: true }, where: [{ email: ILike("A%") }, { role: In(["admin"]) }], order: { id: "DESC" } }),
  await users.findAndCount({ select: { id: true }, skip: 1, take: 1, order: { id: "ASC" } }),
  await users.countBy({ id: MoreThan(1), tags: Raw((alias) => `${alias} is null`) }),
  await users.existsBy({ email: "zzz" }),
  await posts.sum("stars"),
]);
await step("query builder", async () => [
  await users.createQueryBuilder("u").leftJoin("u.posts", "p").select("u.email", "email").addSelect("count(p.id)", "n").addSelect("sum(p.stars)", "stars").groupBy("u.id").having("count(p.id) >= :least", { least: 0 }).orderBy("u.id").getRawMany(),
  await users.createQueryBuilder("u").where("u.docb @> :doc", { doc: { k: 1 } }).andWhere("u.tags && :tags", { tags: ["a"] }).getCount(),
  await users.createQueryBuilder("u").where((q) => `u.id in ${q.subQuery().select("p.authorId").from(Post, "p").where("p.stars > 3").getQuery()}`).select("u.id").getMany(),
  (await users.createQueryBuilder("u").leftJoinAndSelect("u.posts", "p").orderBy("u.id").addOrderBy("p.title").take(2).getMany()).map((user) => [user.id, user.posts.length]),
]);
await step("update, upsert, delete", async () => {
  const user = await users.findOneByOrFail({ email: "b@x" });
  user.score = 9;
  const saved = await users.save(user);
  const result = await users.createQueryBuilder().update().set({ active: false }).where("id = :id", { id: 3 }).returning(["id", "active"]).execute();
  await users.upsert([{ email: "c@x", score: 3 }, { email: "d@x", score: 4 }], ["email"]);
  await posts.softDelete({ title: "two" });
  return [saved.version, result.raw, result.affected, await users.find({ select: { email: true, score: true }, order: { email: "ASC" } }), await posts.count(), await posts.count({ withDeleted: true }),
    (await posts.delete({ title: "three" })).affected, await users.increment({ id: 1 }, "score", 1).then((one) => one.affected)];
});
await step("transactions", async () => {
  const found = [];
  await source.transaction("SERIALIZABLE", async (manager) => {
    await manager.insert(Label, { name: "in" });
    found.push(await refused(() => manager.transaction(async (inner) => { await inner.insert(Label, { name: "in" }); })));
    found.push(await manager.count(Label));
    found.push((await manager.findOne(User, { where: { id: 1 }, lock: { mode: "pessimistic_write" }, select: { id: true } })).id);
  });
  found.push(await refused(() => source.transaction(async (manager) => { await manager.delete(Post, { title: "one" }); throw new Error("back"); })));
  return [...found, await posts.count()];
});
await step("errors", async () => [
  await refused(() => users.insert({ email: "a@x" })),
  await refused(() => users.insert({ email: "z", price: "-1" })),
  await refused(() => users.insert({ email: "z", role: "king" })),
  await refused(() => posts.insert({ title: "x", author: { id: 99 } })),
  await refused(() => source.query("select * from missing")),
]);
await step("a stream", async () => {
  const runner = source.createQueryRunner();
  const found = [];
  for await (const row of await runner.stream("select g from generate_series(1, 10) g where g > $1", [5])) found.push(row.g);
  await runner.release();
  return found.join(" ");
});
await step("introspection", async () => {
  const runner = source.createQueryRunner();
  const table = await runner.getTable("users");
  await runner.release();
  return [table.columns.map((column) => [column.name, column.type, column.length, column.isNullable, column.default, column.enum, column.comment]).sort(),
    table.indices.map((index) => [index.name, index.columnNames, index.where]).sort(), table.uniques.map((one) => one.columnNames), table.checks.map((one) => [one.name, one.expression])];
});
await step("undo and drop", async () => {
  await source.undoLastMigration();
  await source.dropDatabase();
  return source.query("select tablename from pg_tables where schemaname = 'public'");
});
await source.destroy();
