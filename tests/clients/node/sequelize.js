// Sequelize: sync, twice, and sync with alter; models, associations, transactions.
import { DataTypes, Op, Sequelize } from "sequelize";
import { refused, step, url } from "./tour.js";

const db = new Sequelize(url, { dialect: "postgres", logging: false, pool: { max: 3 } });
const User = db.define("User", {
  email: { type: DataTypes.STRING(100), allowNull: false, comment: "where to write" },
  role: { type: DataTypes.ENUM("admin", "guest"), defaultValue: "guest" },
  active: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
  price: DataTypes.DECIMAL(10, 2),
  big: DataTypes.BIGINT,
  score: DataTypes.DOUBLE,
  day: DataTypes.DATEONLY,
  at: DataTypes.DATE,
  doc: DataTypes.JSON,
  docb: DataTypes.JSONB,
  tags: DataTypes.ARRAY(DataTypes.TEXT),
  key: DataTypes.UUID,
  bytes: DataTypes.BLOB,
  during: DataTypes.RANGE(DataTypes.INTEGER),
  time: DataTypes.TIME,
  address: DataTypes.INET,
}, { timestamps: false, tableName: "users", indexes: [{ fields: ["email"], unique: true, name: "users_email" }, { fields: ["role", "day"] }, { fields: [db.literal("lower(email)")], name: "users_lower" }] });
const Post = db.define("Post", { title: { type: DataTypes.STRING, allowNull: false }, stars: { type: DataTypes.INTEGER, defaultValue: 0, validate: { max: 10 } } },
  { timestamps: false, tableName: "posts", paranoid: false });
const Tag = db.define("Tag", { name: { type: DataTypes.STRING, primaryKey: true } }, { timestamps: false, tableName: "tags" });
User.hasMany(Post, { foreignKey: { name: "author", allowNull: false }, as: "posts", onDelete: "CASCADE" });
Post.belongsTo(User, { foreignKey: "author", as: "writer" });
Post.belongsToMany(Tag, { through: "post_tags", timestamps: false });
Tag.belongsToMany(Post, { through: "post_tags", timestamps: false });

const plain = (found) => (Array.isArray(found) ? found.map(plain) : found && found.get({ plain: true }));

await step("connect", () => db.authenticate());
await step("sync", async () => Object.keys((await db.sync()).models).join(" "));
await step("sync again", async () => { await db.sync(); });

await step("sync with alter", async () => { await db.sync({ alter: true }); await db.sync({ alter: true }); });

await step("introspection", async () => {
  const queries = db.getQueryInterface();
  return [
    (await queries.showAllTables()).sort(),
    await queries.describeTable("users"),
    (await queries.showIndex("users")).map((index) => [index.name, index.unique, index.primary, index.fields.map((field) => field.attribute)])
      .filter(([name]) => !/key\d+$/.test(name)),
    (await queries.getForeignKeyReferencesForTable("posts")).map((key) => [key.columnName, key.referencedTableName, key.referencedColumnName]).slice(0, 1),
  ];
});

await step("create", async () => [
  plain(await User.create({ email: "a@x", price: "12.50", big: "9007199254740993", score: 1.5, day: "2024-02-29", at: new Date("2024-01-02T03:04:05.678Z"), doc: [1, "x"], docb: { k: { n: [1] } }, tags: ["a", "b,c"],
    key: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", bytes: Buffer.from([0, 255]), during: [1, 5], time: "01:02:03", address: "10.0.0.1" })),
  plain(await User.bulkCreate([{ email: "b@x", role: "admin" }, { email: "c@x", active: false }])),
  plain(await Post.create({ title: "first", author: 1, Tags: [{ name: "t1" }, { name: "t2" }] }, { include: [Tag] })),
  plain(await Post.bulkCreate([{ title: "second", author: 1, stars: 3 }, { title: "third", author: 2, stars: 5 }], { returning: true })),
]);

await step("find", async () => [
  plain(await User.findAll({ order: ["id"] })),
  plain(await User.findAll({ attributes: ["id", "email"], include: [{ model: Post, as: "posts", attributes: ["title"], include: [{ model: Tag, through: { attributes: [] } }] }],
    order: ["id", [{ model: Post, as: "posts" }, "id"], [{ model: Post, as: "posts" }, Tag, "name"]] })),
  plain(await User.findAll({ where: { [Op.or]: [{ email: { [Op.iLike]: "A%" } }, { role: "admin" }], active: { [Op.not]: null } }, attributes: ["id"], order: [["id", "DESC"]] })),
  plain(await User.findAll({ where: { docb: { [Op.contains]: { k: { n: [1] } } } }, attributes: ["id"] })),
  plain(await User.findAll({ where: { tags: { [Op.overlap]: ["a"] }, during: { [Op.contains]: 2 } }, attributes: ["id"] })),
  await Post.findAll({ attributes: ["author", [db.fn("COUNT", db.col("id")), "n"], [db.fn("SUM", db.col("stars")), "total"]], group: ["author"], order: ["author"], raw: true }),
  await Post.findAndCountAll({ where: { stars: { [Op.between]: [0, 5] } }, limit: 2, order: ["id"], raw: true }),
  [await Post.max("stars"), await Post.sum("stars"), await User.count({ include: { model: Post, as: "posts", required: true }, distinct: true })],
  plain(await User.findAll({ attributes: ["id"], include: { model: Post, as: "posts", where: { stars: { [Op.gt]: 2 } }, attributes: ["stars"] }, limit: 1, order: ["id"], subQuery: true })),
]);

await step("update and associations", async () => {
  const user = await User.findByPk(1);
  await user.update({ docb: { changed: true }, tags: [], during: [{ value: 3, inclusive: false }, { value: 9, inclusive: true }] });
  await user.reload();
  const post = await Post.findOne({ where: { title: "second" } });
  await post.addTags(["t1"]);
  const [n] = await Post.update({ stars: 7 }, { where: { author: 2 } });
  const [, changed] = await Post.update({ stars: db.literal("stars + 1") }, { where: { author: 1 }, returning: true });
  await post.increment("stars", { by: 2 });
  return [plain(user), (await post.getTags()).map((tag) => tag.name), await user.countPosts(), n, plain(changed).sort((a, b) => a.id - b.id), (await post.reload()).stars];
});

await step("upsert", async () => [
  await User.upsert({ email: "a@x", score: 2 }, { conflictFields: ["email"], fields: ["email", "score"], returning: ["id", "score"] }).then(([one, created]) => [plain(one).score, created]),
  await Tag.bulkCreate([{ name: "t1" }, { name: "t10" }], { ignoreDuplicates: true }).then((all) => all.length),
]);

await step("transactions", async () => {
  const found = [];
  await db.transaction({ isolationLevel: Sequelize.Transaction.ISOLATION_LEVELS.SERIALIZABLE }, async (transaction) => {
    await Tag.create({ name: "in" }, { transaction });
    found.push(await refused(() => db.transaction({ transaction }, async (inner) => { await Tag.create({ name: "in" }, { transaction: inner }); })));
    found.push(await Tag.count({ transaction }));
    found.push(plain(await User.findByPk(1, { transaction, lock: true, attributes: ["id"] })));
  });
  found.push(await refused(() => db.transaction(async (transaction) => { await Tag.destroy({ where: {}, transaction }); throw new Error("back"); })));
  return [...found, await Tag.count()];
});

await step("errors", async () => [
  await refused(() => User.create({ email: "a@x" })),
  await refused(() => Post.create({ title: "x", author: 99 })),
  await refused(() => Post.create({ title: null, author: 1 })),
  await refused(() => db.query("insert into users (email, role) values ('q', 'king')")),
  await refused(() => db.query("select * from missing")),
]);

await step("raw queries", async () => [
  await db.query("select id, email from users where id = :id or email like $like order by id".replace("$like", ":like"), { replacements: { id: 1, like: "b%" }, type: Sequelize.QueryTypes.SELECT }),
  await db.query("select $1::int + $2::int as n", { bind: [1, 2], plain: true, type: Sequelize.QueryTypes.SELECT }),
]);

await step("columns come and go", async () => {
  const queries = db.getQueryInterface();
  await queries.addColumn("tags", "weight", { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 });
  await queries.changeColumn("tags", "weight", { type: DataTypes.BIGINT, allowNull: true });
  await queries.renameColumn("tags", "weight", "mass");
  const found = await queries.describeTable("tags");
  await queries.removeColumn("tags", "mass");
  await queries.addConstraint("tags", { fields: ["name"], type: "check", where: { name: { [Op.ne]: "" } }, name: "tags_named" });
  return [found, await refused(() => Tag.create({ name: "" }))];
});

await step("find or create", async () => [
  (await Tag.findOrCreate({ where: { name: "t9" } })).map((part) => (typeof part === "boolean" ? part : plain(part))),
  (await Tag.findOrCreate({ where: { name: "t9" } })).map((part) => (typeof part === "boolean" ? part : plain(part))),
]);

await step("destroy and drop", async () => {
  const gone = await User.destroy({ where: { email: "a@x" } });
  const left = await Post.count();
  await db.drop({});
  return [gone, left, await db.getQueryInterface().showAllTables({})];
});

await db.close();
