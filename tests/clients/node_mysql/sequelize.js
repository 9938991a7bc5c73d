// Sequelize over mysql2: sync, twice; models with associations, hooks, transactions, raw queries, its query interface.
import { DataTypes, Op, Sequelize } from "sequelize";
import { place, refused, step } from "./tour.js";

const sequelize = new Sequelize(place.database, place.user, place.password, { dialect: "mysql", host: place.host, port: place.port, logging: false, timezone: "+00:00" });
const User = sequelize.define("User", {
  email: { type: DataTypes.STRING(100), allowNull: false, unique: true, validate: { isEmail: true } },
  role: { type: DataTypes.ENUM("admin", "guest"), defaultValue: "guest" }, active: { type: DataTypes.BOOLEAN, defaultValue: true }, price: DataTypes.DECIMAL(10, 2), big: DataTypes.BIGINT,
  score: DataTypes.DOUBLE, day: DataTypes.DATEONLY, at: DataTypes.DATE(6), doc: DataTypes.JSON, bytes: DataTypes.BLOB, note: { type: DataTypes.TEXT("medium"), comment: "whatever" }, key: DataTypes.UUID,
  tiny: DataTypes.TINYINT.UNSIGNED, real: DataTypes.FLOAT, at_time: DataTypes.TIME, loud: { type: DataTypes.VIRTUAL, get() { return this.email?.toUpperCase(); } },
}, { tableName: "users", indexes: [{ fields: ["role", "day"], name: "users_by_role" }, { fields: [{ name: "note", length: 10 }], name: "users_note" }], paranoid: false });
const Post = sequelize.define("Post", { title: { type: DataTypes.STRING, allowNull: false }, stars: { type: DataTypes.INTEGER, defaultValue: 0 } }, { tableName: "posts", paranoid: true, version: true });
const Tag = sequelize.define("Tag", { name: { type: DataTypes.STRING(40), primaryKey: true } }, { tableName: "tags", timestamps: false });
User.hasMany(Post, { as: "posts", foreignKey: { name: "authorId", allowNull: false }, onDelete: "CASCADE" });
Post.belongsTo(User, { as: "author", foreignKey: "authorId" });
Post.belongsToMany(Tag, { through: "post_tags", as: "tags", timestamps: false });
Tag.belongsToMany(Post, { through: "post_tags", as: "posts", timestamps: false });

const plain = (found) => JSON.parse(JSON.stringify(found, (name, value) => (["createdAt", "updatedAt", "deletedAt"].includes(name) ? undefined : value)));
const failure = async (act) => { try { await act(); } catch (error) { return [error.name, error.errors?.map((one) => [one.path, one.value, one.message]), error.table, error.index, error.fields, error.original?.code, error.original?.sqlMessage]; } throw new Error("was not refused"); };

await step("connect", () => sequelize.authenticate());
await step("version", async () => (await sequelize.databaseVersion()).split(".")[0] >= "5");
await step("sync", () => sequelize.sync().then(() => "made"));
await step("sync again", () => sequelize.sync().then(() => "there"));
await step("sync and alter", () => sequelize.sync({ alter: true }).then(() => "altered"));
await step("create", async () => [
  plain(await User.create({ email: "a@x.org", price: "12.5", big: "9007199254740993", score: 0.5, day: "2024-02-29", at: new Date("2024-01-02T03:04:05.678Z"), doc: { k: [1, 2] }, bytes: Buffer.from([0, 255]), note: "n", key: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", tiny: 200, real: 1.5, at_time: "12:30:00" })),
  plain(await User.bulkCreate([{ email: "b@x.org", role: "admin" }, { email: "c@x.org", active: false }])),
  plain(await Post.create({ title: "one", authorId: 1, tags: [{ name: "t1" }, { name: "t2" }] }, { include: "tags" })), plain(await Post.bulkCreate([{ title: "two", stars: 4, authorId: 1 }, { title: "three", authorId: 2 }])),
]);
await step("find", async () => [
  plain(await User.findAll({ order: ["id"] })), plain(await User.findAll({ include: [{ association: "posts", include: "tags" }], order: [["id", "ASC"], ["posts", "title", "ASC"], ["posts", "tags", "name", "ASC"]] })),
  plain(await User.findAndCountAll({ attributes: ["id"], where: { [Op.or]: [{ email: { [Op.like]: "a%" } }, { role: ["admin"] }] }, limit: 1, offset: 1, order: [["id", "DESC"]] })),
  plain(await User.findAll({ attributes: ["id"], where: { "doc.k": { [Op.ne]: null } } })), plain(await User.findAll({ attributes: ["role", [sequelize.fn("COUNT", sequelize.col("id")), "n"], [sequelize.fn("SUM", sequelize.col("price")), "total"]], group: ["role"], order: ["role"], having: sequelize.literal("n > 0") })),
  await Post.sum("stars"), await Post.max("title"), await User.count({ where: { id: { [Op.between]: [1, 2] }, email: { [Op.regexp]: "^[ab]" } } }), plain(await User.findOne({ where: sequelize.where(sequelize.fn("upper", sequelize.col("email")), "B@X.ORG"), attributes: ["id", "email", "loud"] })),
  plain(await User.findAll({ attributes: ["id"], include: { association: "posts", attributes: ["title"], where: { stars: { [Op.gt]: 1 } }, required: true }, limit: 1, order: ["id"] })), plain(await User.findByPk(1, { attributes: ["bytes", "doc", "at", "day", "big", "price", "at_time"] })),
]);
await step("update, upsert, delete", async () => {
  const user = await User.findByPk(2);
  await user.update({ score: 9 });
  await user.increment("score", { by: 2 });
  await user.reload();
  return [user.score, await User.update({ active: false }, { where: { id: [1, 3] }, silent: true }), await User.upsert({ email: "c@x.org", score: 3 }).then(([, made]) => made), await User.findOrCreate({ where: { email: "d@x.org" }, defaults: { score: 5 } }).then(([one, made]) => [one.id, made]),
    await Post.destroy({ where: { title: "two" } }), await Post.count(), await Post.count({ paranoid: false }), await Post.restore(), await Post.destroy({ where: { title: "three" }, force: true }), await User.bulkCreate([{ email: "a@x.org", score: 7 }, { email: "e@x.org" }], { updateOnDuplicate: ["score"] }).then((made) => made.length),
    plain(await User.findAll({ attributes: ["email", "score"], order: ["email"] })), await (await Post.findOne({ where: { title: "one" } })).setTags(["t2"]).then(() => Tag.count()), await User.bulkCreate([{ email: "a@x.org" }], { ignoreDuplicates: true }).then((made) => made.length)];
});
await step("transactions", async () => {
  const found = [];
  await sequelize.transaction({ isolationLevel: "SERIALIZABLE" }, async (transaction) => {
    await Tag.create({ name: "in" }, { transaction });
    found.push(await failure(() => sequelize.transaction({ transaction }, (inner) => Tag.create({ name: "in" }, { transaction: inner }))));
    found.push(await Tag.count({ transaction }), (await User.findByPk(1, { transaction, lock: transaction.LOCK.UPDATE, attributes: ["id"] })).id, (await User.findByPk(1, { transaction, lock: transaction.LOCK.SHARE, attributes: ["id"] })).id);
  });
  found.push(await failure(() => sequelize.transaction(async (transaction) => { await Post.destroy({ where: {}, force: true, transaction }); throw new Error("back"); })));
  return [...found, await Post.count()];
});
await step("errors", async () => [
  await failure(() => User.create({ email: "a@x.org" })), await failure(() => User.create({ email: null })), await failure(() => User.create({ email: "z@x.org", role: "king" })), await failure(() => Post.create({ title: "x", authorId: 99 })),
  await failure(() => User.destroy({ where: { id: 1 } }).then(() => { throw new Error("gone"); })), await failure(() => sequelize.query("select * from missing")), await failure(() => User.create({ email: "z@x.org", tiny: 300 })),
]);
await step("raw", async () => [
  await sequelize.query("SELECT id, email FROM users WHERE id = :id", { replacements: { id: 2 }, type: "SELECT" }), await sequelize.query("SELECT ? AS a", { replacements: ["it's"], type: "SELECT" }), await sequelize.query("SELECT $1 AS a, $2 AS b", { bind: ["x", 5], type: "SELECT" }),
  (await sequelize.query("UPDATE users SET score = 1 WHERE id = 2"))[0].affectedRows, await sequelize.query("INSERT INTO tags (name) VALUES ('raw')", { type: "INSERT" }),
]);
await step("the query interface", async () => {
  const desk = sequelize.getQueryInterface();
  await desk.addColumn("posts", "extra", { type: DataTypes.STRING(20), defaultValue: "e", after: "title" });
  await desk.changeColumn("posts", "extra", { type: DataTypes.STRING(40), allowNull: false, defaultValue: "f" });
  await desk.renameColumn("posts", "extra", "more");
  await desk.addIndex("posts", ["more"], { unique: false, name: "posts_more" });
  await desk.addConstraint("posts", { fields: ["title", "stars"], type: "unique", name: "posts_once" });
  const found = [await desk.describeTable("posts"), (await desk.showIndex("posts")).map((one) => [one.name, one.unique, one.fields.map((field) => field.attribute)]), (await desk.showAllTables()).map((one) => one.tableName ?? one), (await desk.getForeignKeyReferencesForTable("posts")).map((one) => ({ ...one, constraint_name: one.constraintName }))];
  await desk.removeConstraint("posts", "posts_once");
  await desk.removeIndex("posts", "posts_more");
  await desk.removeColumn("posts", "more");
  await desk.createTable("by_hand", { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, user: { type: DataTypes.INTEGER, references: { model: "users", key: "id" }, onDelete: "SET NULL" } });
  await desk.bulkInsert("by_hand", [{ user: 2 }, { user: null }]);
  await desk.dropTable("by_hand");
  return [...found, await desk.describeTable("users")];
});
await step("drop", async () => { await sequelize.drop(); return sequelize.getQueryInterface().showAllTables(); });
await sequelize.close();
