# Active Record 6.1, by its two adapters: migrations, models, associations, many rows at once, locks, the dump of a schema.
require_relative "tour"
require "active_record"
require "active_support/all"
require "stringio"

SETTINGS = {
  adapter: MYSQL ? "mysql2" : "postgresql", host: PLACE.host, port: PLACE.port, username: PLACE.user, password: PLACE.password, database: DATABASE, pool: 5,
}.merge(MYSQL ? { encoding: "utf8mb4", prepared_statements: ENV["TOUR_VARIANT"] == "prepared" } : { min_messages: "warning" })
ActiveRecord::Base.establish_connection(SETTINGS)
ActiveRecord::Base.default_timezone = :utc
ActiveRecord::Migration.verbose = false
Time.zone = "UTC"
# Whichever connection this thread has.
DB = Object.new
def DB.method_missing(...) = ActiveRecord::Base.connection.public_send(...)
def DB.respond_to_missing?(...) = true

class CreateShop < ActiveRecord::Migration[6.1]
  def change
    create_table :people, comment: "who reads" do |t|
      t.string :name, limit: 80, null: false, comment: "a name"
      t.string :email, null: false, index: { unique: true }
      t.integer :age, limit: 2
      t.boolean :admin, null: false, default: false
      t.decimal :balance, precision: 14, scale: 4, default: "0.0", null: false
      t.date :born
      t.json :settings
      t.integer :kind, default: 0
      t.integer :lock_version, default: 0, null: false
      t.integer :books_count, default: 0, null: false
      t.references :boss, foreign_key: { to_table: :people }
      t.timestamps
    end
    create_table :books do |t|
      t.belongs_to :person, null: false, foreign_key: { on_delete: :cascade, on_update: :cascade }
      t.string :title, null: false
      t.text :summary
      t.bigint :copies, default: 1
      t.float :rating
      t.decimal :price, precision: 8, scale: 2
      t.binary :cover
      t.time :opens
      t.datetime :published_at, precision: 6
      t.timestamp :sold_at
      t.references :about, polymorphic: true
      t.timestamps precision: 6
      t.index %i[person_id title], unique: true, name: "one_title"
      t.index :published_at, order: { published_at: :desc }
    end
    create_table :tags, id: :string, limit: 20 do |t|
      t.integer :rank
    end
    create_join_table :books, :tags, column_options: { null: false } do |t|
      t.index %i[book_id tag_id], unique: true
    end
    reversible { |way| way.up { change_column :books_tags, :tag_id, :string, limit: 20 } }
    add_foreign_key :books_tags, :tags, on_delete: :cascade
    add_check_constraint :books, "copies >= 0", name: "copies_positive"
  end
end
class ChangeShop < ActiveRecord::Migration[6.1]
  def up
    add_column :people, :nick, :string, limit: 30
    rename_column :people, :nick, :nickname
    change_column :people, :nickname, :text
    change_column_default :people, :age, from: nil, to: 18
    change_column_null :people, :age, false, 1
    add_index :people, %i[age name], name: "by_age", length: (MYSQL ? { name: 10 } : nil)
    rename_index :people, "by_age", "by_age_and_name"
    add_reference :people, :shop, index: true
    create_table(:shops) { |t| t.string :city }
    add_foreign_key :people, :shops
    rename_table :shops, :stores
    change_table :stores, bulk: true do |t|
      t.string :street, default: "Main"
      t.integer :number
      t.remove :city
      t.timestamps null: true
    end
    change_column_comment :stores, :street, "where"
    change_table_comment :stores, "places"
    remove_reference :people, :shop, foreign_key: { to_table: :stores }
  end

  def down
    drop_table :stores
    remove_index :people, name: "by_age_and_name"
    remove_column :people, :nickname
    change_column_null :people, :age, true
    change_column_default :people, :age, from: 18, to: nil
  end
end

class Person < ActiveRecord::Base
  has_many :books, -> { order(:id) }, dependent: :destroy
  has_many :tags, through: :books
  belongs_to :boss, class_name: "Person", optional: true
  has_many :staff, class_name: "Person", foreign_key: :boss_id
  enum kind: { human: 0, robot: 1 }
  validates :email, presence: true, uniqueness: true
  scope :admins, -> { where(admin: true) }
end
class Book < ActiveRecord::Base
  belongs_to :person, counter_cache: true
  belongs_to :about, polymorphic: true, optional: true
  has_and_belongs_to_many :tags
  attribute :copies, :integer, limit: 8
end
class Tag < ActiveRecord::Base
  has_and_belongs_to_many :books
end
class Store < ActiveRecord::Base; end

MIGRATIONS = [[1, CreateShop], [2, ChangeShop]].map { |version, kind| ActiveRecord::MigrationProxy.new(kind.name, version, nil, nil).tap { |proxy| proxy.define_singleton_method(:migration) { @made ||= kind.new(name, version) } } }
def migrator(direction, target = nil)
  ActiveRecord::Migrator.new(direction, MIGRATIONS, ActiveRecord::SchemaMigration, target)
end
def dumped
  stream = StringIO.new
  ActiveRecord::SchemaDumper.dump(DB, stream)
  stream.string.lines.map(&:chomp).reject { |line| line.empty? || line.start_with?("#") || line.include?("enable_extension") }
end

step("the server") { [DB.adapter_name, DB.current_database, DB.supports_json?, DB.supports_check_constraints?, DB.supports_insert_on_duplicate_update?, DB.supports_common_table_expressions?, DB.supports_expression_index?, DB.supports_optimizer_hints?, DB.active?, DB.max_identifier_length || 0] }
step("migrations") do
  ActiveRecord::SchemaMigration.create_table
  ActiveRecord::InternalMetadata.create_table
  migrator(:up).migrate
  [migrator(:up).current_version, ActiveRecord::SchemaMigration.pluck(:version), ActiveRecord::InternalMetadata[:environment], DB.tables.sort, DB.table_exists?(:stores), DB.views]
end
step("the dump of the schema") { dumped }
step("columns") { %w[people books tags books_tags stores].flat_map { |name| [name] + DB.columns(name).map { |one| [one.name, one.sql_type, one.type, one.null, one.default, one.limit, one.precision, one.scale, one.comment, one.collation, one.default_function] } } }
step("keys") do
  %w[people books books_tags stores].flat_map do |name|
    [[name, DB.primary_key(name), DB.table_comment(name)]] + DB.indexes(name).sort_by(&:name).map { |one| [one.name, one.columns, one.unique, one.orders, one.lengths, one.using, one.where, one.type] } +
      DB.foreign_keys(name).sort_by(&:column).map { |one| [one.to_table, one.column, one.primary_key, one.on_delete, one.on_update] } + DB.check_constraints(name).map { |one| [one.name, one.expression.delete("`()")] }
  end
end
step("migrations back and again") do
  migrator(:down, 1).migrate
  found = [DB.tables.sort, migrator(:up).current_version, DB.column_exists?(:people, :nickname), DB.columns(:people).find { |one| one.name == "age" }.then { |one| [one.null, one.default] }]
  migrator(:up).migrate
  Person.reset_column_information
  found + [DB.column_exists?(:people, :nickname), DB.index_exists?(:people, %i[age name]), DB.foreign_key_exists?(:books, :people)]
end
step("a model that is made") do
  one = Person.create!(name: "Žluťoučký 🐎", email: "a@x.cz", age: 30, balance: BigDecimal("1234567890.1234"), born: Date.new(1990, 2, 28), settings: { "theme" => "dark", "n" => [1, 2.5, nil] })
  two = Person.create!(name: "O'Hara \\ \"x\"", email: "b@x.cz", admin: true, kind: :robot, boss: one)
  [one.id, two.id, Person.find(one.id).attributes.except("created_at", "updated_at", "settings"), Person.find(1).settings["n"], two.reload.boss.name, Person.robot.pluck(:email), Person.admins.count, one.staff.map(&:email), one.previous_changes.key?("name")]
end
step("a book of all types") do
  made = Person.first.books.create!(
    title: "First", summary: "ř" * 2000, copies: 2**62, rating: 4.125, price: "123456.78", cover: "\x00\xff'\\\x80".b, opens: "08:30:00", published_at: Time.utc(2024, 2, 29, 23, 59, 59, 123456), sold_at: Time.utc(2024, 3, 3, 3, 3, 3),
    about: Person.find(2), created_at: Time.utc(2024, 1, 1), updated_at: Time.utc(2024, 1, 1)
  )
  read = Book.find(made.id)
  [read.attributes, read.cover == made.cover, read.about.email, Person.first.books_count, read.opens.strftime("%T"), read.published_at.usec]
end
step("many rows at once") do
  now = Time.utc(2024, 5, 6, 7, 8, 9)
  rows = (1..30).map { |n| { person_id: 1 + n % 2, title: "Book #{n}", copies: n, price: n % 3 == 0 ? nil : n + 0.5, rating: n / 8.0, published_at: Time.utc(2024, 1, 1) + n.days, created_at: now, updated_at: now } }
  unique = MYSQL ? {} : { unique_by: %i[person_id title] }
  found = [Book.insert_all(rows).length, Book.insert_all([rows[0], rows[1].merge(title: "More")]).rows.length, Book.count]
  found << Book.upsert_all([rows[2].merge(copies: 333), rows[3].merge(title: "Upserted")], **unique).length
  found << Book.where(title: ["Book 3", "Upserted"]).order(:title).pluck(:title, :copies)
  found << Book.upsert(rows[4].merge(copies: 555), **unique).length << Book.find_by(title: "Book 5").copies
  found << refused { Book.insert_all!([rows[5]]) }
  found + [Book.insert({ person_id: 1, title: "By hash", created_at: now, updated_at: now }).length, Book.count]
end
step("queries") do
  [
    Book.where(copies: 5..8).order(:id).pluck(:title), Book.where("copies > ? and title like ?", 25, "Book%").count, Book.where.not(price: nil).sum(:price), Book.average(:copies).to_f.round(3), Book.minimum(:published_at), Book.maximum(:price), Book.group(:person_id).order(:person_id).count,
    Book.group(:person_id).having("count(*) > 3").order(:person_id).sum(:copies), Book.where(published_at: Time.utc(2024, 1, 5)..Time.utc(2024, 1, 8)).order(published_at: :desc).pluck(:published_at), Book.where(title: %w[nothing]).exists?, Book.order(:id).limit(3).offset(4).ids,
    Book.where(id: Book.select(:id).where("copies < 4")).order(:id).pluck(:copies), Book.where(copies: 1).or(Book.where(copies: 2)).order(:id).pluck(:title), Book.distinct.order(:person_id).pluck(:person_id), Person.where(name: "žluťoučký 🐎").count,
    Book.order(Arel.sql("length(title) desc, id")).first.title, Book.from(Book.where("copies < 10"), :books).count, Book.select("person_id, count(*) as n").group(:person_id).order(:person_id).map { |one| [one.person_id, one.n] }, Book.pick(:id), Book.where(copies: [nil, 7]).count,
    Book.find_by_sql(["select * from books where copies = ?", 9]).map(&:title), DB.select_all("select id, price, rating, published_at from books where id = 3").to_a, DB.select_value("select count(*) from tags"), DB.select_rows("select 1, 'x', null"), DB.exec_query("select cast(1.50 as decimal(5,2)) as d").rows,
  ]
end
step("associations") do
  %w[old new ž].each_with_index { |name, n| Tag.create!(id: name, rank: n) }
  book = Book.order(:id).first
  book.tags << Tag.find("old")
  book.tag_ids = %w[new old ž]
  [
    book.reload.tags.order(:rank).ids, Tag.find("new").books.pluck(:title), Person.includes(books: :tags).order(:id).map { |one| [one.email, one.books.size, one.books.flat_map(&:tags).map(&:id).sort] }, Person.joins(books: :tags).distinct.count,
    Person.left_outer_joins(:books).group("people.id").order("people.id").count("books.id"), Person.eager_load(:books).where(books: { copies: 5..6 }).order("books.id").map { |one| one.books.map(&:title) }, Person.find(1).tags.reorder(:id).distinct.to_a.map(&:id), Person.where.missing(:books).count, Person.preload(:staff).first.staff.size,
    book.tags.delete(Tag.find("old")).map(&:id), book.tags.clear.size, Tag.find("ž").destroy.id,
  ]
end
step("updates and counts") do
  [
    Book.where(copies: 1).update_all(copies: 11), Book.where(copies: 11).update_all("copies = copies"), Book.where("copies > 28").order(:id).limit(1).update_all(rating: 1), Book.where(rating: 1).count, Book.where("copies > 29 and copies < 100").delete_all, Book.joins(:person).where(people: { email: "b@x.cz" }).update_all(rating: 2.5), Book.where(rating: 2.5).count,
    Book.order(:id).first.increment!(:rating, 2).rating, Book.update_counters(3, copies: 5), Book.find(3).copies, Person.reset_counters(1, :books), Person.find(1).books_count, Book.find(3).touch(:sold_at), Book.find(3).update_column(:title, "Renamed"), Book.where(title: "Renamed").destroy_all.size, Person.find(2).toggle!(:admin), Book.where(copies: 12).touch_all,
  ]
end
step("locks by version, and by row") do
  first, second = Person.find(1), Person.find(1)
  first.update!(age: 31)
  stale = refused { second.update!(age: 32) }
  Person.transaction { Person.lock.find(1).update!(age: 33) }
  Person.find(1).with_lock { |*| Person.find(2).lock!("FOR SHARE") }
  [stale, Person.find(1).then { |one| [one.age, one.lock_version] }]
end
step("transactions and savepoints") do
  found = []
  Person.transaction do
    Person.find(1).update!(age: 40)
    Person.transaction(requires_new: true) do
      Person.find(1).update!(age: 41)
      raise ActiveRecord::Rollback
    end
    found << Person.find(1).age
    found << refused { Person.transaction(requires_new: true) { DB.execute("insert into people (name, email, created_at, updated_at) values ('x', 'a@x.cz', '2024-01-01', '2024-01-01')") } }
    found << DB.open_transactions
  end
  found << Person.find(1).age
  found << refused { Person.transaction { Person.find(1).update!(age: 50); raise ArgumentError, "back" } }
  found << Person.find(1).age
  Person.transaction(isolation: :serializable) { found << Person.count }
  found << refused { Person.transaction { Person.transaction(isolation: :read_committed, requires_new: true) { 1 } } }
end
step("a lock that is waited for") do
  waiting = Thread.new do
    Person.connection_pool.with_connection do |mine|
      mine.execute(MYSQL ? "set innodb_lock_wait_timeout = 1" : "set lock_timeout = '300ms'")
      Thread.current[:ready] = true
      sleep 0.01 until Thread.current[:go]
      found = [refused { Person.lock("FOR UPDATE NOWAIT").find(1) }, refused { Person.where(id: 1).update_all(age: 1) }, Person.lock("FOR UPDATE SKIP LOCKED").order(:id).to_a.map(&:id)]
      mine.execute(MYSQL ? "set innodb_lock_wait_timeout = 50" : "reset lock_timeout")
      found
    end
  end
  sleep 0.01 until waiting[:ready]
  Person.transaction do
    Person.lock.find(1)
    waiting[:go] = true
    waiting.value
  end
end
step("a deadlock") do
  mine_is_locked, other_is_locked = Queue.new, Queue.new
  other = Thread.new do
    Person.connection_pool.with_connection do
      Person.transaction do
        Person.lock.find(2)
        other_is_locked << 1
        mine_is_locked.pop
        Person.lock.find(1)
        "both"
      end
    rescue ActiveRecord::Deadlocked => error
      error.class.name
    end
  end
  mine = begin
    Person.transaction do
      Person.lock.find(1)
      mine_is_locked << 1
      other_is_locked.pop
      Person.lock.find(2)
      "both"
    end
  rescue ActiveRecord::Deadlocked => error
    error.class.name
  end
  [[mine, other.value].sort]
end
step("errors") do
  now = { created_at: Time.utc(2024), updated_at: Time.utc(2024) }
  [
    -> { Person.new(name: "x", email: "a@x.cz").save!(validate: false) }, -> { Person.create!(name: "x", email: "a@x.cz") }, -> { Person.new(email: "y").save!(validate: false) }, -> { Book.insert_all!([{ person_id: 999, title: "x", **now }]) }, -> { Person.new(name: "x" * 81, email: "y").save! },
    -> { Person.insert_all!([{ name: "x", email: "y", balance: 1e12, **now }]) }, -> { Book.insert_all!([{ person_id: 1, title: "neg", copies: -1, **now }]) }, -> { DB.execute("insert into people (name, email, age, created_at, updated_at) values ('x', 'y', 99999, '2024-01-01', '2024-01-01')") }, -> { DB.execute("select * from nothing") },
    -> { Person.where(nope: 1).to_a }, -> { DB.execute("selec 1") }, -> { Person.find(999) }, -> { Person.select("name, count(*)").group(:age).to_a }, -> { DB.drop_table(:people) }, -> { DB.create_table(:people) }, -> { DB.add_index(:people, :email, unique: true, name: "by_age_and_name") },
    -> { DB.remove_column(:people, :nope) }, -> { DB.add_column(:people, :name, :string) }, -> { DB.execute("insert into people (name, email, born, created_at, updated_at) values ('x', 'y', '2024-02-30', '2024-01-01', '2024-01-01')") }, -> { DB.rename_table(:nope, :nope2) },
    -> { DB.add_foreign_key(:books, :tags, column: :copies) },
  ].map { |act| refused(&act) }
end
step("a statement that is ended") do
  found = []
  if MYSQL
    DB.execute("set max_execution_time = 100")
    found << refused { DB.select_value("select count(*) from information_schema.columns a, information_schema.columns b, information_schema.columns c") }.sub(/:.*/, "")
    DB.execute("set max_execution_time = 0")
  else
    DB.execute("set statement_timeout = 100")
    found << refused { DB.execute("select pg_sleep(5)") }
    DB.execute("set statement_timeout = 0")
  end
  found << DB.select_value("select 1")
end
step("other kinds of columns") do
  if MYSQL
    DB.create_table(:kinds, options: "ENGINE=InnoDB COMMENT='all kinds'", charset: "utf8mb4", collation: "utf8mb4_bin") do |t|
      t.unsigned_integer :u
      t.unsigned_bigint :ub
      t.unsigned_decimal :ud, precision: 10, scale: 2
      t.integer :tiny, limit: 1
      t.integer :medium, limit: 3
      t.blob :b
      t.tinyblob :tb
      t.mediumtext :mt
      t.longtext :lt
      t.tinytext :tt
      t.binary :fixed, limit: 16
      t.column :set_of, "set('a','b')"
      t.column :one_of, "enum('x','y') NOT NULL DEFAULT 'x'"
      t.column :bits, "bit(5)"
      t.column :year, "year"
      t.virtual :twice, type: :bigint, as: "u * 2"
      t.virtual :stored, type: :string, as: "concat('a', u)", stored: true, limit: 20
      t.string :ci, collation: "utf8mb4_unicode_ci"
      t.datetime :at, precision: 3, default: -> { "CURRENT_TIMESTAMP(3)" }
    end
  else
    DB.create_table(:kinds) do |t|
      t.uuid :u, default: -> { "gen_random_uuid()" }
      t.jsonb :j, default: {}
      t.string :words, array: true, default: []
      t.integer :numbers, array: true
      t.inet :ip
      t.cidr :net
      t.macaddr :mac
      t.int4range :span
      t.daterange :days
      t.tstzrange :moments
      t.interval :long
      t.bit :bits, limit: 5
      t.bit_varying :many, limit: 9
      t.money :money
      t.column :at, "timestamptz(3)", default: -> { "CURRENT_TIMESTAMP" }
      t.index :j, using: :gin
      t.index "lower(words[1])", name: "by_word"
      t.index :ip, where: "ip is not null", name: "some_ips"
    end
  end
  dumped.then { |lines| lines.drop_while { |line| !line.include?('"kinds"') }.take_while { |line| !line.match?(/^  end/) } }
end
step("their values") do
  kinds = Class.new(ActiveRecord::Base) { self.table_name = "kinds" }
  if MYSQL
    made = kinds.create!(u: 4294967295, ub: 2**64 - 1, ud: "12345678.9", tiny: -128, medium: 8388607, b: "\xff\x00".b, tb: "t".b, mt: "m" * 70000, fixed: "16", set_of: "b,a", bits: "\x15", year: 2024, ci: "Ab")
    found = [kinds.find(made.id).attributes.except("at", "mt"), kinds.where(ci: "aB").count, kinds.where("twice > ?", 2**32).count, refused { kinds.create!(u: -1) }, refused { kinds.insert_all!([{ ud: -1 }]) }, refused { kinds.insert_all!([{ one_of: "z" }]) }]
    found + [kinds.last.at.usec % 1000]
  else
    made = kinds.create!(j: { "a" => [1, nil] }, words: ["ž", "a,b", "\"q\"", nil], numbers: [1, 2], ip: "10.0.0.1", net: "10.0.0.0/8", mac: "08:00:2b:01:02:03", span: 1...5, days: Date.new(2024, 1, 1)..Date.new(2024, 2, 1), long: 3.days + 2.hours, bits: "10101", many: "101", money: 12.5)
    found = kinds.find(made.id).attributes.except("u", "at").map { |name, value| [name, value.is_a?(Hash) || value.is_a?(Array) ? value : value.to_s] }
    found + [kinds.where("j @> ?", '{"a": [1]}').count, kinds.where("? = any (words)", "ž").count, kinds.where(numbers: [1, 2]).count, kinds.where("span @> 3").count, made.reload.u.size]
  end
end
step("batches") do
  sizes = []
  Book.in_batches(of: 7) { |some| sizes << some.count }
  [sizes, Book.find_each(batch_size: 10).map(&:id).size, Book.in_batches(of: 9).update_all(rating: 3)]
end
step("what the adapter does by itself") do
  found = [DB.quote("it's \\ \"x\"\n"), DB.quote(Date.new(2024, 2, 3)), DB.quote_table_name("a.b"), DB.data_source_exists?(:books), DB.data_sources.sort]
  found += MYSQL ? [DB.charset, DB.collation, DB.show_variable("lower_case_table_names"), DB.table_options(:people).except(:options), DB.strict_mode?] : [DB.encoding, DB.collation, DB.current_schema, DB.schema_exists?("public"), DB.schema_search_path, DB.client_min_messages, DB.pk_and_sequence_for("people").map(&:to_s), DB.extension_enabled?("hstore"), DB.default_sequence_name("people", "id"), DB.reset_pk_sequence!("people")]
  DB.disable_referential_integrity { DB.execute("update books set person_id = person_id") }
  found + [DB.select_value("select 1"), DB.get_advisory_lock(42), DB.release_advisory_lock(42)]
end
step("a view") do
  DB.execute("create view long_books as select id, title, copies from books where copies > 20")
  seen = Class.new(ActiveRecord::Base) { self.table_name = "long_books"; self.primary_key = "id" }
  [DB.views, DB.view_exists?("long_books"), seen.count > 0, seen.columns.map { |one| [one.name, one.sql_type, one.null] }, DB.execute("drop view long_books").nil? || true]
end
step("all away") do
  migrator(:down, 0).migrate
  DB.drop_table(:kinds)
  [DB.tables.sort, migrator(:up).current_version]
end
