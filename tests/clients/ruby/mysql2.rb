# The gem mysql2: texts and prepared statements, casts, streams, several results, files sent along, errors, metadata of fields.
require_relative "tour"
require "mysql2"
require "tempfile"

def connected(**more)
  Mysql2::Client.new(host: PLACE.host, port: PLACE.port, username: PLACE.user, password: PLACE.password, database: DATABASE, encoding: "utf8mb4", database_timezone: :utc, application_timezone: :utc, local_infile: true, **more)
end
DB = connected
def rows(sql, **options) = DB.query(sql, **options).to_a

step("the server") { [DB.server_info[:version].empty?, DB.encoding.to_s, DB.ping, DB.thread_id > 0, DB.info.key?(:version), DB.warning_count, DB.query_info] }
step("a table of all types") do
  DB.query("CREATE TABLE kinds (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, flag TINYINT(1), small SMALLINT UNSIGNED, medium MEDIUMINT, big BIGINT, ubig BIGINT UNSIGNED, n DECIMAL(20, 5), whole DECIMAL(20, 0), f FLOAT, d DOUBLE, bits BIT(10), one BIT(1), c CHAR(5), vc VARCHAR(50), t TEXT, bin BINARY(4), bl BLOB, dt DATE, tm TIME(3), dtm DATETIME(6), ts TIMESTAMP NULL, y YEAR, j JSON, e ENUM('small', 'large'), s SET('a', 'b', 'c'))")
  found = DB.query("SELECT * FROM kinds")
  [found.fields, found.count, DB.affected_rows]
end
VALUES = [-5, true, 65535, -8388608, -(2**63), 2**64 - 1, BigDecimal("123456789012345.12345"), BigDecimal("12345678901234567890"), 0.5, 1e300, "ab", "žluť 🐎", "it's \\ \"x\"\n\0", "\x01\x02\x03".b, "\x00\xff'".b, Date.new(2024, 2, 29), "23:59:59.999", Time.utc(2024, 2, 29, 23, 59, 59, 123456), Time.utc(2024, 5, 6, 7, 8, 9), 2024, '{"k": [1, 2.5, null]}', "large", "a,c"].freeze
step("a row of parameters, read in both ways") do
  statement = DB.prepare("INSERT INTO kinds (tiny, flag, small, medium, big, ubig, n, whole, f, d, c, vc, t, bin, bl, dt, tm, dtm, ts, y, j, e, s, bits, one) VALUES (#{(["?"] * VALUES.size).join(", ")}, b'1000000001', b'1')")
  statement.execute(*VALUES)
  [statement.param_count, statement.affected_rows, statement.last_id, *rows("SELECT * FROM kinds"), *DB.prepare("SELECT id, tiny, flag, small, medium, big, ubig, n, whole, d, c, vc, t, bin, bl, dt, dtm, ts, y, e, s FROM kinds WHERE id = ?").execute(1).to_a, DB.prepare("SELECT id, vc FROM kinds").tap(&:execute).fields]
end
step("casts and their absence") do
  [rows("SELECT flag, tiny, one FROM kinds", cast_booleans: true), rows("SELECT n, dt, dtm, big FROM kinds", cast: false), rows("SELECT id, vc FROM kinds", as: :array), rows("SELECT id FROM kinds", symbolize_keys: true), DB.prepare("SELECT flag, n FROM kinds").execute(as: :array, cast_booleans: true).to_a, rows("SELECT dtm, ts FROM kinds", database_timezone: :utc, application_timezone: :local), rows("SELECT 1 = 1 AS t, NULL AS n, 1.50 AS d, 2 AS i, '0000' AS z, CAST(1 AS UNSIGNED) AS u, 1e3 AS e, TIME '10:00:00' AS tm, NOW() > 0 AS m", cast_booleans: true)]
end
step("parameters") { [DB.prepare("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? + 1 AS e").execute("x", nil, 1.5, Date.new(2024, 1, 2), 41).to_a, DB.prepare("SELECT id FROM kinds WHERE dt = ? AND dtm = ? AND n = ? AND tm = ?").execute(VALUES[15], VALUES[17], VALUES[6], VALUES[16]).to_a, refused { DB.prepare("SELECT ?").execute }, DB.escape("it's \\ \"x\"\n\0")] }
step("rows as they come") do
  sql = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 600) SELECT i, REPEAT('x', 200) AS pad FROM n"
  sum = 0
  DB.query(sql, stream: true, cache_rows: false).each { |row| sum += row["i"] }
  [sum, DB.prepare("SELECT id FROM kinds WHERE id > ?").execute(0, stream: true, cache_rows: false).each.sum { |row| row["id"] }, DB.query(sql).first["i"], DB.query(sql).count]
end
step("several statements at once") do
  many = connected(flags: Mysql2::Client::MULTI_STATEMENTS)
  found = [many.query("SELECT 1 AS a; CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(20)); INSERT INTO words VALUES (1, 'one'), (2, 'ž'); SELECT * FROM words; SELECT * FROM nowhere").to_a]
  found << (many.store_result&.to_a || many.affected_rows) while (many.next_result rescue (found << told($!); false))
  found << many.query("SELECT 2 AS b").to_a << refused { DB.query("SELECT 1; SELECT 2") }
  many.close
  found
end
step("routines") do
  DB.query("CREATE PROCEDURE both_of(IN least INT) BEGIN SELECT id FROM words WHERE id >= least; SELECT 'end' AS word; END")
  many = connected(flags: Mysql2::Client::MULTI_STATEMENTS)
  found = [many.query("CALL both_of(1)").to_a]
  found << many.store_result&.to_a while many.next_result
  many.close
  found
end
step("counts, words and numbers") do
  ["INSERT INTO words VALUES (3, 'c'), (4, 'd')", "UPDATE words SET word = word", "UPDATE words SET word = 'z' WHERE id > 2", "INSERT INTO words VALUES (3, 'q') ON DUPLICATE KEY UPDATE word = 'q'", "REPLACE INTO words VALUES (3, 'r')", "INSERT IGNORE INTO words VALUES (3, 'x')", "DELETE FROM words WHERE id = 4", "ALTER TABLE words ADD n INT", "INSERT INTO kinds (vc) VALUES ('a'), ('b')"].map { |sql| DB.query(sql); [DB.affected_rows, DB.last_id, DB.query_info, DB.warning_count] }
end
step("a file that is sent along") do
  Tempfile.create("rows") do |file|
    file.write("10\tten\t1\n11\tž\t\\N\n")
    file.flush
    DB.query("LOAD DATA LOCAL INFILE '#{file.path}' INTO TABLE words CHARACTER SET utf8mb4")
  end
  [DB.query_info_string, rows("SELECT * FROM words WHERE id > 9 ORDER BY id"), refused { DB.query("LOAD DATA LOCAL INFILE '/nowhere/at/all' INTO TABLE words") }.sub(/ \(.*/, ""), rows("SELECT 1 AS one")]
end
step("asynchronous statements") do
  links = Array.new(3) { connected }
  links.each_with_index { |link, n| link.query("SELECT SLEEP(0.0#{n + 1}) AS s, #{n} AS n", async: true) }
  IO.select(links.map { |link| IO.for_fd(link.socket, autoclose: false) }, nil, nil, 5)
  found = links.map { |link| link.async_result.to_a }
  links.each(&:close)
  found
end
step("a statement that takes too long") do
  slow = connected(read_timeout: 1)
  found = [refused { slow.query("SELECT SLEEP(5)") }, slow.ping]
  DB.query("SET max_execution_time = 100")
  found << refused { DB.query("SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c") }
  DB.query("SET max_execution_time = 0")
  found << rows("SELECT 3 AS three")
end
step("transactions") do
  other = connected
  DB.query("START TRANSACTION")
  DB.query("UPDATE words SET word = 'in' WHERE id = 1")
  found = [other.query("SELECT word FROM words WHERE id = 1").to_a]
  other.query("SET innodb_lock_wait_timeout = 1")
  found << refused { other.query("UPDATE words SET word = 'other' WHERE id = 1") } << refused { other.query("SELECT * FROM words WHERE id = 1 FOR UPDATE NOWAIT") } << other.query("SELECT id FROM words WHERE id < 3 FOR UPDATE SKIP LOCKED").to_a
  DB.query("ROLLBACK")
  other.close
  found << rows("SELECT word FROM words WHERE id = 1")
end
step("errors") do
  ["SELEC 1", "SELECT * FROM missing", "SELECT nope FROM kinds", "INSERT INTO words (id) VALUES (1)", "INSERT INTO words (id) VALUES (NULL)", "INSERT INTO kinds (tiny) VALUES (300)", "INSERT INTO kinds (e) VALUES ('x')", "INSERT INTO kinds (dt) VALUES ('2024-13-01')", "INSERT INTO kinds (c) VALUES ('abcdef')", "INSERT INTO kinds (n) VALUES ('x')", "DROP TABLE missing", "CREATE TABLE words (id INT)", "SELECT nosuch(1)", "USE nowhere", "SELECT id FROM words a, words b", "CALL nothing()", "INSERT INTO words VALUES (1)", "SELECT 1 +"].map { |sql| refused { DB.query(sql) } } + [refused { DB.prepare("SELEC ?") }, refused { DB.prepare("SELECT * FROM missing WHERE id = ?") }, refused { DB.prepare("INSERT INTO words (id) VALUES (?)").execute(1) }, refused { connected(database: "nowhere") }]
end
step("a session that is another's") do
  DB.query("SET @x = 5")
  found = [DB.select_db("information_schema"), rows("SELECT DATABASE() AS d, @x AS x"), DB.select_db(DATABASE), rows("SELECT DATABASE() AS d")]
  DB.set_server_option(Mysql2::Client::OPTION_MULTI_STATEMENTS_ON)
  found << DB.query("SELECT 1 AS a; SELECT 2 AS b").to_a
  found << DB.store_result.to_a while DB.next_result
  DB.set_server_option(Mysql2::Client::OPTION_MULTI_STATEMENTS_OFF)
  found << refused { DB.query("SELECT 1; SELECT 2") }
end
