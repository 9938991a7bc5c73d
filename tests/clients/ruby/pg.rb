# The gem pg: results and their fields, type maps, prepared statements, pipelines, copies, notifications, errors' parts, cancellation.
require_relative "tour"
require "pg"

DB = PG.connect(host: PLACE.host, port: PLACE.port, user: PLACE.user, dbname: DATABASE)
TYPED = PG.connect(host: PLACE.host, port: PLACE.port, user: PLACE.user, dbname: DATABASE).tap do |db|
  db.type_map_for_results = PG::BasicTypeMapForResults.new(db)
  db.type_map_for_queries = PG::BasicTypeMapForQueries.new(db)
end
DB.set_notice_processor { |said| puts "notice #{said.strip}" }
def rows(sql, *params) = DB.exec_params(sql, params).to_a

step("the connection") { [DB.db, DB.user, DB.server_version > 90_000, DB.protocol_version, DB.internal_encoding.to_s, DB.get_client_encoding, DB.parameter_status("server_encoding"), DB.transaction_status, DB.status, DB.conndefaults.size > 10, DB.backend_pid > 0, DB.ssl_in_use?, PG::Connection.ping(host: PLACE.host, port: PLACE.port)] }
step("a table of all types") do
  DB.exec("CREATE TYPE mood AS ENUM ('sad', 'ok')")
  DB.exec("CREATE TABLE kinds (id SERIAL PRIMARY KEY, flag BOOLEAN, small SMALLINT, big BIGINT, n NUMERIC(20, 5), f REAL, d DOUBLE PRECISION, c CHAR(5), vc VARCHAR(50), t TEXT, b BYTEA, dt DATE, tm TIME(3), dtm TIMESTAMP(6), ts TIMESTAMPTZ, iv INTERVAL, j JSON, jb JSONB, u UUID, a INT[], w TEXT[], ip INET, bits BIT(5), m mood, r INT4RANGE, ta TIMESTAMP[])")
  DB.exec_params("INSERT INTO kinds (flag, small, big, n, f, d, c, vc, t, b, dt, tm, dtm, ts, iv, j, jb, u, a, w, ip, bits, m, r, ta) VALUES (#{(1..25).map { |n| "$#{n}" }.join(", ")})",
    ["t", -5, -(2**63), "123456789012345.12345", 0.5, 1e300, "ab", "žluť 🐎", "it's \\ \"x\"\n", { value: "\x00\xff'".b, format: 1 }, "2024-02-29", "23:59:59.999", "2024-02-29 23:59:59.123456", "2024-02-29 23:59:59+02", "1 year 2 days 03:04:05", '{"k": [1, 2.5]}', '{"b": 1, "a": [1, 2.50]}', "6fa459ea-ee8a-3ca4-894e-db77e160355e", "{1,NULL,3}", '{ž,"a,b",NULL}', "10.0.0.1/8", "10101", "ok", "[1,5)", "{\"2024-01-01 00:00:00\"}"])
  [DB.exec("SELECT * FROM kinds").to_a, TYPED.exec("SELECT * FROM kinds").to_a.map { |row| row.transform_values { |one| one.is_a?(IPAddr) ? one.to_s : one } }]
end
step("what fields are") do
  found = DB.exec("SELECT *, n + 1 AS more, 'x' AS word, NULL AS nothing FROM kinds k")
  found.fields.each_index.map { |at| [found.fname(at), found.ftype(at) < 16384 ? found.ftype(at) : "a user's", found.fmod(at), found.fsize(at), found.fformat(at), found.ftablecol(at), DB.exec_params("SELECT format_type($1, $2)", [found.ftype(at), found.fmod(at)]).getvalue(0, 0)] }
end
step("binary values") do
  found = DB.exec_params("SELECT id, flag, small, big, f, d, vc, b, u, a, dt, dtm, n, iv, ip, r, jb FROM kinds", [], 1)
  [found.fformat(0), found.values[0].map { |one| one&.b&.unpack1("H*") }, TYPED.exec_params("SELECT id, flag, small, big, f, d, vc, b, dtm, ts, dt FROM kinds", [], 1).to_a]
end
step("values by type maps") { [TYPED.exec_params("SELECT $1 AS a, $2 AS b, $3 AS c, $4 AS d, $5 AS e, $6 AS f", [1, 2.5, true, [1, 2], ["a,b", "ž"], BigDecimal("1.50")]).to_a, TYPED.exec_params("SELECT $1::timestamptz AS t, $2::bytea AS b, $3::jsonb AS j", [Time.utc(2024, 2, 29, 1, 2, 3), PG::BasicTypeMapForQueries::BinaryData.new("\x00\xff"), '{"a": [1, null]}']).to_a] }
step("prepared statements") do
  DB.prepare("one", "SELECT $1::text AS a, id FROM kinds WHERE id = $2 AND small < $3")
  told_of = DB.describe_prepared("one")
  [(0...told_of.nparams).map { |at| told_of.paramtype(at) }, told_of.fields, DB.exec_prepared("one", ["x", 1, 0]).to_a, DB.exec_prepared("one", ["y", 9, 0]).ntuples, refused { DB.exec_prepared("one", [1]) }, refused { DB.prepare("one", "SELECT 1") }, refused { DB.exec_prepared("none") }, DB.exec("DEALLOCATE ALL").cmd_status]
end
step("tags and counts") { ["CREATE TABLE words (id INT PRIMARY KEY, word TEXT)", "INSERT INTO words VALUES (1, 'one'), (2, 'ž')", "UPDATE words SET word = word", "DELETE FROM words WHERE id = 2", "SELECT * FROM words", "BEGIN", "COMMIT", "INSERT INTO words VALUES (3, 'r') RETURNING id"].map { |sql| DB.exec(sql).then { |found| [found.cmd_status, found.cmd_tuples, found.res_status(found.result_status), found.ntuples] } } }
step("rows one by one") do
  DB.send_query("SELECT g FROM generate_series(1, 300) g; SELECT * FROM nowhere")
  DB.set_single_row_mode
  sum = 0
  said = nil
  while (found = DB.get_result)
    begin
      found.check
      found.each { |row| sum += row["g"].to_i }
    rescue PG::Error => error
      said = told(error)
    end
  end
  streamed = 0
  DB.send_query("SELECT g FROM generate_series(1, 50) g")
  DB.set_single_row_mode
  DB.get_result.stream_each { |row| streamed += row["g"].to_i }
  DB.get_last_result
  [sum, said, streamed]
end
step("a pipeline") do
  DB.enter_pipeline_mode
  DB.send_query_params("INSERT INTO words VALUES (10, $1)", ["ten"])
  DB.send_query_params("SELECT count(*) FROM words", [])
  DB.pipeline_sync
  DB.send_query_params("SELECT * FROM nowhere", [])
  DB.send_query_params("SELECT 1", [])
  DB.pipeline_sync
  found = []
  nothing = 0
  while nothing < 2 && found.size < 20
    one = DB.get_result
    nothing = one ? 0 : nothing + 1
    found << [one.res_status(one.result_status), one.result_status == PG::PGRES_TUPLES_OK ? one.values : one.error_field(PG::PG_DIAG_SQLSTATE)] if one
  end
  DB.exit_pipeline_mode
  found
end
step("copies") do
  found = [DB.copy_data("COPY words FROM STDIN") { DB.put_copy_data("20\tžluť\n21\t\\N\n"); DB.put_copy_data("22\tback\\\\slash\n") }.cmd_tuples]
  lines = []
  DB.copy_data("COPY (SELECT * FROM words ORDER BY id) TO STDOUT (FORMAT csv, HEADER)") { while (line = DB.get_copy_data) do lines << line end }
  found << lines << refused { DB.copy_data("COPY words FROM STDIN") { DB.put_copy_data("x\ty\n") } } << refused { DB.copy_data("COPY words FROM STDIN") { raise ArgumentError, "no more" } } << DB.exec("SELECT 1").values
  TYPED.copy_data("COPY words FROM STDIN (FORMAT binary)", PG::BinaryEncoder::CopyRow.new(type_map: PG::TypeMapByColumn.new([PG::BinaryEncoder::Int4.new, PG::BinaryEncoder::String.new]))) { TYPED.put_copy_data([30, "thirty"]); TYPED.put_copy_data([31, nil]) } if defined?(PG::BinaryEncoder::CopyRow)
  found << rows("SELECT count(*) FROM words WHERE id > 29")
end
step("notifications") do
  DB.exec("LISTEN news")
  TYPED.exec("NOTIFY news, 'žluť'; SELECT pg_notify('news', 'again')")
  heard = []
  2.times { DB.wait_for_notify(5) { |channel, pid, said| heard << [channel, pid == TYPED.backend_pid, said] } }
  heard << DB.wait_for_notify(0.05)
end
step("notices") { DB.exec("DROP TABLE IF EXISTS nowhere; DO $$ BEGIN RAISE WARNING 'žluť %', 5; END $$").cmd_status }
step("transactions") do
  found = [refused { DB.transaction { |db| db.exec("DELETE FROM words"); raise ArgumentError, "back" } }, rows("SELECT count(*) FROM words"), DB.transaction { |db| db.exec("UPDATE words SET word = 'in' WHERE id = 1").cmd_tuples }]
  DB.exec("BEGIN")
  found << DB.transaction_status << refused { DB.exec("SELECT * FROM nowhere") } << DB.transaction_status << refused { DB.exec("SELECT 1") } << DB.exec("ROLLBACK").cmd_status
end
step("cancellation") do
  DB.send_query("SELECT pg_sleep(20)")
  # A server forgets what it is asked before it has begun.
  sleep 0.1
  found = [DB.cancel]
  found << refused { DB.get_last_result }
  DB.exec("SET statement_timeout = 100")
  found << refused { DB.exec("SELECT pg_sleep(20)") }
  DB.exec("RESET statement_timeout")
  found << DB.exec("SELECT 1").values
end
step("a lock that is waited for") do
  DB.exec("BEGIN; SELECT * FROM words WHERE id = 1 FOR UPDATE")
  TYPED.exec("SET lock_timeout = '200ms'")
  found = [refused { TYPED.exec("UPDATE words SET word = 'x' WHERE id = 1") }, refused { TYPED.exec("SELECT * FROM words WHERE id = 1 FOR SHARE NOWAIT") }, TYPED.exec("SELECT id FROM words WHERE id < 10 FOR UPDATE SKIP LOCKED").values]
  DB.exec("ROLLBACK")
  found
end
step("errors' parts") do
  DB.exec("CREATE TABLE child (id INT PRIMARY KEY, word INT NOT NULL CONSTRAINT to_word REFERENCES words (id), n INT CHECK (n > 0))")
  fields = %i[SEVERITY_NONLOCALIZED SQLSTATE MESSAGE_PRIMARY MESSAGE_DETAIL MESSAGE_HINT STATEMENT_POSITION SCHEMA_NAME TABLE_NAME COLUMN_NAME DATATYPE_NAME CONSTRAINT_NAME]
  ["SELEC 1", "SELECT * FROM nowhere", "SELECT wrd FROM words", "INSERT INTO words VALUES (1, 'x')", "INSERT INTO child VALUES (1, 99)", "INSERT INTO child VALUES (1, NULL)", "INSERT INTO child VALUES (1, 1, 0)", "SELECT 1 / 0", "SELECT 'x'::mood", "SELECT '2024-02-30'::date", "SELECT nosuch(1)", "DROP TABLE words", "DROP TYPE mood", "INSERT INTO kinds (vc) VALUES (repeat('x', 51))", "SELECT id FROM words, child", "SELECT ARRAY[1, 'x']", "ALTER TABLE child ADD n INT", "CREATE TABLE child ()"].map do |sql|
    DB.exec(sql)
    "was not refused"
  rescue PG::Error => error
    [error.class.name, *fields.filter_map { |name| error.result.error_field(PG.const_get("PG_DIAG_#{name}")) }]
  end
end
step("large objects") do
  DB.transaction do |db|
    oid = db.lo_creat
    object = db.lo_open(oid, PG::INV_READ | PG::INV_WRITE)
    [db.lo_write(object, "bytes\x00and more"), db.lo_lseek(object, 3, PG::SEEK_SET), db.lo_read(object, 5), db.lo_tell(object), db.lo_close(object), db.lo_unlink(oid)].compact
  end
end
step("quoting") { [DB.escape_string("it's \\ ž"), DB.escape_literal("it's \\"), DB.escape_identifier('a"b'), DB.escape_bytea("\x00\xff'".b), PG::Connection.quote_ident(%w[a b])] }
step("connections that are refused, and reset") { [refused { PG.connect(host: PLACE.host, port: PLACE.port, user: PLACE.user, dbname: "nowhere") }.gsub(/port \d+/, "port N").sub(/ HINT: The database served here.*/, ""), DB.reset.nil?, DB.exec("SELECT 1").values, DB.finished?, DB.close.nil?, refused { DB.exec("SELECT 1") }] }
