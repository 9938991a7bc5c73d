# Sequel 5.63, by its adapters mysql2 and postgres: schemas, datasets, models, many rows at once, locks, errors.
require_relative "tour"
require "sequel"
require "logger"

Sequel.default_timezone = :utc
DB = Sequel.connect(
  adapter: MYSQL ? "mysql2" : "postgres", host: PLACE.host, port: PLACE.port, user: PLACE.user, password: PLACE.password, database: DATABASE, max_connections: 4, encoding: MYSQL ? "utf8mb4" : "utf8"
)
MYSQL ? DB.extension(:constraint_validations) : DB.extension(:pg_array, :pg_json, :pg_range, :pg_interval, :pg_inet, :pg_row, :constraint_validations)
Sequel.extension(:core_extensions, :pg_array_ops, :pg_json_ops) unless MYSQL
Sequel.extension(:migration)

step("the server") { [DB.database_type, DB.adapter_scheme, DB.test_connection, DB.server_version > 50_000, DB.supports_savepoints?, DB.supports_transaction_isolation_levels?, DB[:x].supports_cte?, DB[:x].supports_window_functions?, DB[:x].supports_returning?(:insert), DB.tables, DB.views] }
step("migrations") do
  first = Sequel.migration do
    change do
      create_table(:people) do
        primary_key :id
        String :name, size: 80, null: false
        String :email, null: false, unique: true
        Integer :age
        TrueClass :admin, default: false, null: false
        BigDecimal :balance, size: [14, 4], default: 0
        Date :born
        DateTime :seen
        File :photo
        Float :rating
        Time :opens, only_time: true
        String :notes, text: true
        Bignum :big
        index %i[name age], name: :by_name
      end
      create_table(:books) do
        primary_key :id, type: :Bignum
        foreign_key :person_id, :people, on_delete: :cascade, null: false
        String :title, null: false
        Integer :copies, default: 1
        unique %i[person_id title], name: :one_title
      end
      create_join_table(book_id: { table: :books, type: :Bignum }, person_id: :people)
    end
  end
  second = Sequel.migration do
    up do
      alter_table(:people) do
        add_column :nick, String, size: 30
        set_column_type :notes, String, size: 200
        set_column_default :age, 18
        set_column_allow_null :name
        rename_column :nick, :nickname
        add_index :nickname, name: :by_nick
        drop_column :opens
      end
      rename_table :books, :volumes
      add_column :volumes, :made, DateTime, default: Sequel::CURRENT_TIMESTAMP
    end
    down do
      drop_column :volumes, :made
      rename_table :volumes, :books
      alter_table(:people) { drop_index :nickname, name: :by_nick; drop_column :nickname; add_column :opens, Time, only_time: true; set_column_not_null :name }
    end
  end
  first.apply(DB, :up)
  second.apply(DB, :up)
  second.apply(DB, :down)
  found = [DB.tables.sort, DB[:people].columns]
  second.apply(DB, :up)
  found + [DB.tables.sort, DB[:people].columns, DB.table_exists?(:volumes), DB.table_exists?(:books)]
end
step("schemas") { %i[people volumes books_people].flat_map { |name| [name] + DB.schema(name, reload: true).map { |column, facts| [column, facts.slice(:type, :db_type, :default, :allow_null, :primary_key, :ruby_default, :max_length, :auto_increment)] } } }
step("keys") { %i[people volumes].flat_map { |name| [DB.indexes(name).sort_by { |key, _| key.to_s }.map { |key, facts| [key, facts.slice(:columns, :unique)] }, DB.foreign_key_list(name).map { |one| one.slice(:name, :columns, :key, :on_delete).merge(table: one[:table].to_s) }, MYSQL ? nil : DB.primary_key_sequence(name), MYSQL ? nil : DB.check_constraints(name).keys] } }
step("rows that are made") do
  people = DB[:people]
  bytes = Sequel.blob("\x00\xff'\\".b)
  found = [people.insert(name: "Žluť 🐎", email: "a@x.cz", age: 30, admin: true, balance: BigDecimal("1234567890.1234"), born: Date.new(1990, 2, 28), seen: Time.utc(2024, 2, 29, 23, 59, 59), photo: bytes, rating: 0.5, big: 2**62, notes: "it's \\ \"x\"\n")]
  found << people.insert(name: "B", email: "b@x.cz") << people.multi_insert([{ name: "C", email: "c@x.cz", age: nil }, { name: "D", email: "d@x.cz", age: 4 }]).size
  found << people.import(%i[name email age], (1..6).map { |n| ["N#{n}", "n#{n}@x.cz", n] }, commit_every: 4).inspect
  found << people.first << people.order(:id).map(:email) << people[id: 2] << people.where(photo: bytes).count << people.get(:photo).bytes
end
step("datasets") do
  people = DB[:people]
  [
    people.where(age: 1..4).order(:age).select_map(%i[name age]), people.where { (age > 2) & Sequel.like(:email, "n%") }.count, people.exclude(age: nil).avg(:age), people.sum(:balance), people.max(:born), people.where(Sequel.ilike(:name, "n%")).order(:id).select_map(:name), people.where(email: %w[a@x.cz b@x.cz]).select_order_map(:id),
    people.select { [count.function.*.as(:n), Sequel.function(:coalesce, age, 0).as(:age)] }.group { Sequel.function(:coalesce, age, 0) }.having { count.function.* > 1 }.order(:age).all, people.order(Sequel.desc(:age, nulls: :last), :id).limit(2, 1).select_map(:id), people.distinct.select(:admin).order(:admin).all, people.order(:id).select_hash(:id, :name).first, people.to_hash_groups(:admin, :id).transform_values(&:size),
    people.where(Sequel.lit("age + ? > ?", 1, 4)).count, people.where(Sequel.extract(:year, :born) => 1990).count, people.select(Sequel.case({ { admin: true } => "yes" }, "no").as(:a)).first, people.where(id: people.select { max(id) }).get(:name), people.union(people.where(id: 1), all: true).count, people.empty?, people.where(Sequel.char_length(:email) > 100).empty?,
    people.select { [id, row_number.function.over(order: :id).as(:n), sum(:age).over(partition: :admin, order: :id).as(:s)] }.order(:id).limit(3).all, people.with(:few, people.where(age: 1..3)).from(:few).count, people.paged_each(rows_per_fetch: 3).map { |one| one[:id] }, people.select(Sequel.cast("12", Integer).as(:i), Sequel.cast("1.5", BigDecimal).as(:d), Sequel.join(%i[name email], ": ").as(:j)).first, people.explain.empty?,
    DB["SELECT ? AS a, ? AS b, ? AS c, ? AS d", "it's", 1.5, nil, Date.new(2024, 1, 2)].first, DB.fetch("SELECT :a AS a", a: 3).first, DB.get(Sequel.lit("1 + 1")), DB[:people].with_recursive(:t, DB.select(Sequel.as(1, :n)), DB[:t].select { n + 1 }.where { n < 5 }).from(:t).select_map(:n),
  ]
end
step("changes") do
  people = DB[:people]
  [people.where(id: 1).update(age: Sequel[:age] + 1), people.where(id: 1).update(name: "Žluť 🐎"), people.where(id: 99).delete, people.where(email: "n6@x.cz").delete, people.order(:id).where(admin: false).limit(2).then { |some| MYSQL ? some.update(rating: 2) : people.where(id: some.select(:id)).update(rating: 2) },
   MYSQL ? people.on_duplicate_key_update(:age).insert(name: "x", email: "b@x.cz", age: 77) && people.where(email: "b@x.cz").get(:age) : people.insert_conflict(target: :email, update: { age: Sequel[:excluded][:age] }).insert(name: "x", email: "b@x.cz", age: 77), people.insert_ignore.then { |some| MYSQL ? some.insert(name: "x", email: "b@x.cz") : people.insert_conflict.insert(name: "x", email: "b@x.cz") }.nil?,
   MYSQL ? people.where(id: 1).replace(id: 3, name: "R", email: "r@x.cz") : people.returning(:id, :name).where(id: 3).update(name: "R"), people.where(id: 3).get(:name), DB[:volumes].insert(%i[person_id title], people.select(:id, Sequel.join(["Book of ", :name])).where { id < 4 }).nil?, DB[:volumes].order(:person_id).select_map(:title), DB[:volumes].join(:people, id: :person_id).where(Sequel[:people][:id] => 1).select_map(Sequel[:volumes][:title]),
   DB[:volumes].left_join(Sequel[:people].as(:p), id: :person_id).select(Sequel[:p][:email]).order(Sequel[:p][:id]).all, MYSQL ? DB[:volumes].join(:people, id: :person_id).where(email: "b@x.cz").update(copies: 5) : DB[:volumes].from(:volumes, :people).where(person_id: Sequel[:people][:id], email: "b@x.cz").update(copies: 5)]
end
class Person < Sequel::Model(:people)
  one_to_many :volumes, key: :person_id, order: :id
  plugin :validation_helpers
  plugin :dirty
  def validate
    super
    validates_presence :email
    validates_unique :email
  end
end
class Volume < Sequel::Model(:volumes)
  many_to_one :person
end
step("models") do
  one = Person.create(name: "M", email: "m@x.cz", age: 5)
  one.add_volume(title: "One")
  one.add_volume(title: "Two", copies: 9)
  found = [one.id == Person.max(:id), one.admin, Person[email: "m@x.cz"].volumes.map(&:title), one.volumes_dataset.where { copies > 1 }.count, Person.eager(:volumes).order(:id).all.map { |person| person.volumes.size }, Person.association_join(:volumes).where(title: "One").select_map(Sequel[:people][:email]), Volume.first(title: "Two").person.name]
  one.age = 6
  found += [one.column_changes, one.save_changes.nil?, one.refresh.age, Person.find_or_create(email: "m@x.cz") { |person| person.name = "none" }.name, refused { Person.create(name: "again", email: "m@x.cz") }, one.volumes.first.destroy.title, one.lock!.id == one.id, one.delete.id == one.id, Volume.where(title: "Two").count]
  found
end
step("transactions and savepoints") do
  found = []
  DB.transaction do
    DB[:people].where(id: 2).update(age: 50)
    DB.transaction(savepoint: true) do
      DB[:people].where(id: 2).update(age: 51)
      raise Sequel::Rollback
    end
    found << DB[:people].where(id: 2).get(:age)
    found << refused { DB.transaction(savepoint: true) { DB[:people].insert(name: "x", email: "a@x.cz") } }
    DB.after_commit { found << :after }
  end
  found << DB[:people].where(id: 2).get(:age)
  found << refused { DB.transaction { DB[:people].where(id: 2).delete; raise ArgumentError, "back" } }
  DB.transaction(isolation: :serializable) { found << DB[:people].count }
  DB.transaction(rollback: :always) { DB[:people].delete }
  DB.transaction(read_only: true) { found << refused { DB[:people].delete } } unless MYSQL
  found << DB[:people].count << DB.in_transaction?
end
step("a lock that is waited for") do
  go, ready = Queue.new, Queue.new
  waiting = Thread.new do
    DB.synchronize do
      DB.run(MYSQL ? "SET innodb_lock_wait_timeout = 1" : "SET lock_timeout = '300ms'")
      ready << 1
      go.pop
      found = [refused { DB[:people].where(id: 1).for_update.nowait.all }, refused { DB[:people].where(id: 1).update(age: 1) }, DB[:people].where(id: [1, 2]).for_update.skip_locked.select_map(:id)]
      DB.run(MYSQL ? "SET innodb_lock_wait_timeout = 50" : "RESET lock_timeout")
      found
    end
  end
  ready.pop
  DB.transaction do
    DB[:people].for_update.first(id: 1)
    go << 1
    waiting.value
  end
end
step("errors") do
  [
    -> { DB[:people].insert(name: "x", email: "a@x.cz") }, -> { DB[:people].insert(name: "x") }, -> { DB[:people].insert(name: "x" * 81, email: "y") }, -> { DB[:volumes].insert(person_id: 999, title: "x") }, -> { DB[:nothing].all }, -> { DB[:people].select(:nope).all }, -> { DB["SELEC 1"].all }, -> { DB[:people].insert(name: "x", email: "y", balance: 10**12) },
    -> { DB[:people].insert(name: "x", email: "y", age: 2**40) }, -> { DB.create_table(:people) { primary_key :id } }, -> { DB.drop_table(:nothing) }, -> { DB.alter_table(:people) { add_column :name, String } }, -> { DB.alter_table(:people) { drop_column :nope } }, -> { Person.with_pk!(999) }, -> { DB[:people].insert(name: "x", email: "y", born: "2024-02-30") },
    -> { DB[:people].where(id: DB[:people].select(:id, :age)).all }, -> { DB[:people].select(:name).group(:age).all },
  ].map { |act| refused(&act) }
end
step("prepared statements") do
  found = []
  find = DB[:people].where(id: :$id).prepare(:first, :find_person)
  found << find.call(id: 1)[:email] << find.call(id: 2)[:email] << DB.call(:find_person, id: 99)
  change = DB[:people].where(id: :$id).prepare(:update, :change_person, age: :$age)
  found << change.call(id: 1, age: 9) << DB[:people].where(id: 1).get(:age) << DB[:people].where(age: :$n).call(:select, n: 9).size
  made = DB[:volumes].prepare(:insert, :new_volume, person_id: :$p, title: :$t)
  found << made.call(p: 1, t: "prepared").is_a?(Integer) << refused { made.call(p: 1, t: "prepared") }
end
unless MYSQL
  step("arrays, JSON, ranges") do
    DB.create_table(:kinds) do
      primary_key :id
      column :words, "text[]"
      column :numbers, "integer[]"
      column :doc, :jsonb
      column :span, :int4range
      column :long, :interval
      column :ip, :inet
      column :key, :uuid
    end
    DB[:kinds].insert(words: Sequel.pg_array(["ž", "a,b", nil]), numbers: Sequel.pg_array([1, 2], :integer), doc: Sequel.pg_jsonb({ "a" => [1, { "b" => nil }] }), span: Sequel.pg_range(1...5, :int4range), long: "1 day 02:00:00", ip: "10.0.0.1", key: "6fa459ea-ee8a-3ca4-894e-db77e160355e")
    row = DB[:kinds].first
    doc, words = Sequel.pg_jsonb_op(:doc), Sequel.pg_array_op(:words)
    [row[:words].to_a, row[:numbers].to_a, row[:doc].to_hash, row[:span].begin, row[:span].end, row[:long].to_s, row[:ip].to_s, row[:key], DB[:kinds].where(doc.contains("a" => [1])).count, DB[:kinds].get(doc.get_text(["a", "1"])), DB[:kinds].where(words.contains(["ž"])).count, DB[:kinds].get(words.length), DB[:kinds].select(doc["a"].array_length.as(:l)).first, DB[:kinds].select_map(Sequel.function(:unnest, :words)),
     DB.copy_table(DB[:kinds].select(:id, :key), format: :csv), DB.copy_into(:volumes, columns: %i[person_id title], format: :csv, data: "1,copied\n2,\"co,pied\"\n").nil?, DB[:volumes].where(Sequel.like(:title, "co%")).order(:title).select_map(:title), DB[:people].use_cursor(rows_per_fetch: 2).order(:id).map(:id).size, DB.indexes(:kinds)]
  end
  step("notifications") do
    heard = nil
    listening = Thread.new { DB.listen(:news, timeout: 10, after_listen: ->(_) { DB.notify(:news, payload: "žluť") }) { |channel, _, payload| heard = [channel, payload] } }
    listening.join
    heard
  end
end
step("views, temporary tables, copies of tables") do
  DB.create_view(:grown, DB[:people].where { age > 17 }.select(:id, :name))
  DB.create_or_replace_view(:grown, DB[:people].where { age > 3 }.select(:id, :name))
  found = [DB.views, DB[:grown].count, DB.schema(:grown).map(&:first), DB.drop_view(:grown).nil?]
  DB.create_table(:copy, as: DB[:people].select(:id, :name))
  DB.synchronize do
    DB.create_table(:passing, temp: true) { Integer :n }
    DB[:passing].insert(n: 1)
  end
  found + [DB[:copy].count, DB[:copy].truncate.nil?, DB[:copy].count, DB.create_table?(:copy) { Integer :n }.nil?, DB.drop_table?(:copy, :nothing).nil?, DB.tables.sort]
end
