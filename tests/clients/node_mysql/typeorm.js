// TypeORM over mysql2: synchronize, twice; migrations; entities with relations, query builder, transactions.
import "reflect-metadata";
import typeorm from "typeorm";
import { place, refused, step } from "./tour.js";

const { DataSource, EntitySchema, In, Like, MoreThan, Raw } = typeorm;
const User = new EntitySchema({
  name: "User", tableName: "users", columns: {
    id: { type: "int", primary: true, generated: "increment" },
    email: { type: "varchar", length: 100, unique: true, comment: "where to write" },
    role: { type: "enum", enum: ["admin", "guest"], default: "guest" },
    flags: { type: "set", enum: ["a", "b"], nullable: true },
    active: { type: "boolean", default: true },
    price: { type: "decimal", precision: 10, scale: 2, nullable: true },
    big: { type: "bigint", nullable: true, unsigned: true },
    score: { type: "double", nullable: true },
    day: { type: "date", nullable: true },
    at: { type: "datetime", precision: 3, nullable: true },
    doc: { type: "json", nullable: true },
    tags: { type: "simple-array", nullable: true },
    key: { type: "varchar", length: 36, generated: "uuid", nullable: true },
    bytes: { type: "varbinary", length: 10, nullable: true },
    upper: { type: "varchar", length: 100, generatedType: "STORED", asExpression: "upper(`email`)", nullable: true },
    made: { type: "datetime", createDate: true },
    renewed: { type: "timestamp", precision: 6, updateDate: true },
    version: { type: "int", version: true },
  },
  indices: [{ columns: ["role", "day"], name: "users_by_role" }],
  relations: { posts: { type: "one-to-many", target: "Post", inverseSide: "author" } },
});
const Post = new EntitySchema({
  name: "Post", tableName: "posts", columns: {
    id: { type: "varchar", length: 36, primary: true, generated: "uuid" }, title: { type: "text" }, stars: { type: "int", default: 0 }, gone: { type: "datetime", deleteDate: true, nullable: true },
  },
  relations: {
    author: { type: "many-to-one", target: "User", joinColumn: true, onDelete: "CASCADE", nullable: false, inverseSide: "posts" },
    labels: { type: "many-to-many", target: "Label", joinTable: { name: "post_labels" }, cascade: true },
  },
});
const Label = new EntitySchema({ name: "Label", tableName: "labels", columns: { name: { type: "varchar", length: 50, primary: true } } });
class First1700000000000 {
  name = "First1700000000000";
  async up(runner) {
    await runner.createTable(new typeorm.Table({ name: "extra", columns: [{ name: "id", type: "int", isPrimary: true, isGenerated: true, generationStrategy: "increment" }, { name: "word", type: "varchar", length: "20", default: "'x'" }] }), true);
    await runner.addColumn("extra", new typeorm.TableColumn({ name: "n", type: "int", isNullable: true }));
    await runner.createIndex("extra", new typeorm.TableIndex({ name: "extra_n", columnNames: ["n"] }));
    await runner.changeColumn("extra", "word", new typeorm.TableColumn({ name: "term", type: "varchar", length: "30", isNullable: true }));
    await runner.createForeignKey("extra", new typeorm.TableForeignKey({ name: "extra_user", columnNames: ["n"], referencedTableName: "users", referencedColumnNames: ["id"] }));
    await runner.dropForeignKey("extra", "extra_user");
    await runner.query("insert into extra (n) values (1), (2)");
  }
  async down(runner) {
    await runner.dropTable("extra");
  }
}
const source = new DataSource({ type: "mysql", connectorPackage: "mysql2", ...place, username: place.user, entities: [User, Post, Label], migrations: [First1700000000000], logging: false, poolSize: 3, timezone: "Z" });
/** Moments are today's. */
const plain = (found) => JSON.parse(JSON.stringify(found, (name, value) => (["made", "renewed", "gone", "key"].includes(name) ? value !== null : name === "id" && typeof value === "string" ? "uuid" : value)));
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
  plain(await users.save({ email: "a@x", price: "12.5", big: "18446744073709551615", score: 0.5, day: "2024-02-29", at: new Date("2024-01-02T03:04:05.678Z"), doc: [1, { k: null }], tags: ["a", "b c"], flags: ["a", "b"], bytes: Buffer.from([0, 255]) })),
  plain(await users.save([{ email: "b@x", role: "admin" }, { email: "c@x", active: false }])),
  (await posts.save([{ title: "one", author: { id: 1 }, labels: [{ name: "l1" }, { name: "l2" }] }, { title: "two", stars: 4, author: { id: 1 }, labels: [] }, { title: "three", author: { id: 2 }, labels: [{ name: "l1" }] }])).map((one) => one.title),
]);
await step("find", async () => [
  plain(await users.find({ order: { id: "ASC" } })),
  (await users.find({ relations: { posts: { labels: true } }, order: { id: "ASC", posts: { title: "ASC", labels: { name: "ASC" } } } })).map((user) => [user.email, user.posts.map((post) => [post.title, post.labels.map((label) => label.name)])]),
  await users.find({ select: { id: true }, where: [{ email: Like("a%") }, { role: In(["admin"]) }], order: { id: "DESC" } }),
  await users.findAndCount({ select: { id: true }, skip: 1, take: 1, order: { id: "ASC" } }),
  await users.countBy({ id: MoreThan(1), tags: Raw((alias) => `${alias} is null`) }), await users.existsBy({ email: "zzz" }), await posts.sum("stars"),
]);
await step("query builder", async () => [
  await users.createQueryBuilder("u").leftJoin("u.posts", "p").select("u.email", "email").addSelect("count(p.id)", "n").addSelect("sum(p.stars)", "stars").groupBy("u.id").having("count(p.id) >= :least", { least: 0 }).orderBy("u.id").getRawMany(),
  await users.createQueryBuilder("u").where("json_contains(u.doc, :doc)", { doc: "1" }).getCount(),
  await users.createQueryBuilder("u").where((q) => `u.id in ${q.subQuery().select("p.authorId").from(Post, "p").where("p.stars > 3").getQuery()}`).select("u.id").getMany(),
  (await users.createQueryBuilder("u").leftJoinAndSelect("u.posts", "p").orderBy("u.id").addOrderBy("p.title").take(2).getMany()).map((user) => [user.id, user.posts.length]),
  await users.createQueryBuilder("u").useIndex("users_by_role").select("u.id").where("u.role = 'admin'").getMany(),
]);
await step("update, upsert, delete", async () => {
  const user = await users.findOneByOrFail({ email: "b@x" });
  user.score = 9;
  const saved = await users.save(user);
  const result = await users.createQueryBuilder().update().set({ active: false }).where("id = :id", { id: 3 }).execute();
  await users.createQueryBuilder().insert().values([{ email: "c@x", score: 3 }, { email: "d@x", score: 4 }]).orUpdate(["score"], ["email"]).updateEntity(false).execute();
  await posts.softDelete({ title: "two" });
  await users.createQueryBuilder().insert().values([{ email: "a@x" }]).orIgnore().updateEntity(false).execute();
  return [saved.version, result.affected, await users.find({ select: { email: true, score: true }, order: { email: "ASC" } }), await posts.count(), await posts.count({ withDeleted: true }),
    (await posts.delete({ title: "three" })).affected, await users.increment({ id: 1 }, "score", 1).then((one) => one.affected)];
});
await step("transactions", async () => {
  const found = [];
  await source.transaction("SERIALIZABLE", async (manager) => {
    await manager.insert(Label, { name: "in" });
    found.push(await refused(() => manager.transaction(async (inner) => { await inner.insert(Label, { name: "in" }); })));
    found.push(await manager.count(Label));
    found.push((await manager.findOne(User, { where: { id: 1 }, lock: { mode: "pessimistic_write" }, select: { id: true } })).id);
    found.push((await manager.findOne(User, { where: { id: 1 }, lock: { mode: "pessimistic_read" }, select: { id: true } })).id);
  });
  found.push(await refused(() => source.transaction(async (manager) => { await manager.delete(Post, { title: "one" }); throw new Error("back"); })));
  return [...found, await posts.count()];
});
await step("errors", async () => [
  await refused(() => users.insert({ email: "a@x" })), await refused(() => users.insert({ email: "z", role: "king" })), await refused(() => posts.insert({ title: "x", author: { id: 99 } })), await refused(() => source.query("select * from missing")), await refused(() => users.insert({ email: null })),
]);
await step("a stream", async () => {
  const runner = source.createQueryRunner();
  const found = [];
  for await (const row of (await runner.stream("select id from users where id > ? order by id", [1])).stream?.() ?? await runner.stream("select id from users where id > ? order by id", [1])) found.push(row.id);
  await runner.release();
  return found.join(" ");
});
await step("introspection", async () => {
  const runner = source.createQueryRunner();
  const table = await runner.getTable("users");
  const other = await runner.getTable("posts");
  await runner.release();
  return [...table.columns.map((column) => [column.name, column.type, column.length, column.precision, column.scale, column.isNullable, column.default, column.enum, column.comment, column.onUpdate, column.generatedType, column.asExpression, column.unsigned, column.isGenerated]).sort(),
    table.indices.map((index) => [index.name, index.columnNames, index.isUnique]).sort(), other.foreignKeys.map((one) => [one.name, one.columnNames, one.referencedColumnNames, one.onDelete, one.onUpdate])];
});
await step("undo and drop", async () => {
  await source.undoLastMigration();
  await source.dropDatabase();
  return source.query("show tables").catch((error) => error.code);
});
await source.destroy();
