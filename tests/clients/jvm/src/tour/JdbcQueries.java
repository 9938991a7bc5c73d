package tour;

import static tour.Tour.jdbc;
import static tour.Tour.refused;
import static tour.Tour.rows;
import static tour.Tour.spell;
import static tour.Tour.step;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;
import org.postgresql.PGStatement;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PgResultSetMetaData;

/** pgjdbc: statements of every kind, batches, keys, cursors, calls, transactions, errors. */
public final class JdbcQueries {
    private static String url;
    private static Connection connection;

    private JdbcQueries() {}

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        try (Connection opened = DriverManager.getConnection(jdbc(url, ""))) {
            connection = opened;
            beginning();
            statements();
            modes();
            serverPrepared();
            batches();
            keys();
            cursors();
            updatable();
            calls();
            transactions();
            errors();
            metadata();
        }
    }

    private static List<Object> ask(String sql, Object... values) throws SQLException {
        return ask(connection, sql, values);
    }

    private static List<Object> ask(Connection on, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = on.prepareStatement(sql)) {
            for (int at = 0; at < values.length; at++) {
                statement.setObject(at + 1, values[at]);
            }
            return rows(statement.executeQuery());
        }
    }

    private static int run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    private static void beginning() {
        step("connect", () -> {
            PGConnection ours = connection.unwrap(PGConnection.class);
            var told = new java.util.TreeMap<>(ours.getParameterStatuses());
            told.keySet().removeAll(List.of("server_version", "TimeZone", "scram_iterations", "search_path"));
            return List.of(connection.getCatalog(), connection.getSchema(), connection.isValid(5), connection.isReadOnly(),
                connection.getTransactionIsolation(), connection.getMetaData().getDatabaseProductName(),
                connection.getMetaData().getDatabaseMajorVersion(), connection.getMetaData().getUserName(), told);
        });
        step("settings that only later servers tell", () -> {
            PGConnection ours = connection.unwrap(PGConnection.class);
            return java.util.Arrays.asList(ours.getParameterStatus("scram_iterations"), ours.getParameterStatus("search_path"));
        });
        step("several statements", () -> {
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement()) {
                boolean result = statement.execute("""
                    create table authors (id integer generated always as identity primary key, name text not null unique,
                      born date, rating numeric(4, 2) default 1.5 check (rating >= 0));
                    create table books (isbn varchar(13) primary key, author integer not null references authors on delete cascade,
                      title text not null, pages integer, price numeric(10, 2), tags text[], doc jsonb);
                    create index books_by_title on books (lower(title), pages desc);
                    create view long_books as select isbn, title from books where pages > 300;
                    insert into authors (name, born) values ('Ann', '1980-02-29'), ('Bob', null), ('Cid', '2001-01-01');
                    select id, name from authors order by id;
                    update authors set rating = rating + id where id > 1;
                    select count(*) from authors""");
                while (result || statement.getUpdateCount() != -1) {
                    found.add(result ? rows(statement.getResultSet()) : "count " + statement.getUpdateCount());
                    result = statement.getMoreResults();
                }
            }
            return found;
        });
        step("columns of a result", () -> {
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("""
                    select a.*, b.title as book, b.price, b.tags, 1 + 1 as n, count(*) over () as c, 'x' as t, null as nothing,
                      b.doc -> 'k' as field, now() as at, array[1.5] as few from authors a left join books b on b.author = a.id""")) {
                ResultSetMetaData shape = result.getMetaData();
                PgResultSetMetaData more = shape.unwrap(PgResultSetMetaData.class);
                for (int n = 1; n <= shape.getColumnCount(); n++) {
                    found.add(String.join(" ", shape.getColumnLabel(n), shape.getColumnTypeName(n), shape.getColumnClassName(n),
                        "type " + shape.getColumnType(n), "precision " + shape.getPrecision(n), "scale " + shape.getScale(n),
                        "wide " + shape.getColumnDisplaySize(n), "nullable " + shape.isNullable(n), "signed " + shape.isSigned(n),
                        "counts " + shape.isAutoIncrement(n), "of " + more.getBaseTableName(n) + "." + more.getBaseColumnName(n)));
                }
            }
            return found;
        });
    }

    private static void statements() {
        step("a prepared statement", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement(
                "insert into books (isbn, author, title, pages, price, tags, doc) values (?, ?, ?, ?, ?, ?, ?::jsonb)")) {
                for (int n = 1; n <= 12; n++) {
                    statement.setString(1, "isbn" + n);
                    statement.setInt(2, n % 3 + 1);
                    statement.setString(3, "Büch " + n);
                    statement.setObject(4, n % 4 == 0 ? null : n * 50, Types.INTEGER);
                    statement.setBigDecimal(5, new java.math.BigDecimal(n).movePointLeft(1));
                    statement.setArray(6, connection.createArrayOf("text", new String[] {"t" + n, null}));
                    statement.setString(7, "{\"n\": " + n + "}");
                    found.add(statement.executeUpdate());
                }
                found.add(List.of(statement.getParameterMetaData().getParameterCount(),
                    statement.getParameterMetaData().getParameterTypeName(1), statement.getParameterMetaData().getParameterTypeName(5),
                    statement.getParameterMetaData().getParameterTypeName(7), statement.getParameterMetaData().getParameterClassName(6)));
            }
            found.addAll(ask("select * from books where pages > ? order by pages", 400));
            return found;
        });
        step("types that are inferred", () -> ask("""
            select ? as same, ? || 'x' as text, ?::int + 1 as sum, coalesce(?, 7) as given, ? = any (?::int[]) as among,
              case when ? then 'yes' else 'no' end as word, date '2024-01-31' + ?::int as day, ?::jsonb #>> '{a,0}' as path""",
            "unknown", "t", 41, null, 3, "{1,2,3}", true, 1, "{\"a\": [5]}"));
        step("the question mark as an operator", () -> ask(
            "select doc ?? 'n' as there, doc ??| array['x', 'n'] as one, doc ??& array['x', 'n'] as every from books where isbn = ?", "isbn1"));
        step("escapes of jdbc", () -> ask("""
            select {fn ucase('abc')} as u, {fn concat('a', 'b')} as c, {fn length('four')} as l, {fn mod(7, 3)} as m, {d '2024-02-29'} as d,
              {t '12:34:56'} as t, {ts '2024-02-29 12:34:56.789'} as ts, {fn timestampadd(SQL_TSI_DAY, 2, {d '2024-02-28'})} as later,
              {fn year({d '2024-02-29'})} as y, {fn ifnull(null, 5)} as i, {fn locate('b', 'abc')} as at, {fn log10(1000)} as lg,
              {fn dayofweek({d '2024-02-29'})} as w, {fn substring('abcdef', 2, 3)} as s
            from {oj authors a left outer join books b on a.id = b.author and 1 = 0} where a.id = 1 and 'a_c' like 'a\\_c' {escape '\\'}"""));
        step("limits of a statement", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setMaxRows(3);
                List<Object> few = rows(statement.executeQuery("select isbn from books order by isbn"));
                statement.setMaxFieldSize(2);
                return List.of(few, rows(statement.executeQuery("select title from books order by isbn limit 1")),
                    statement.executeLargeUpdate("update books set price = price * 2 where pages < 200"));
            }
        });
        step("aggregates, windows, recursion", () -> ask("""
            with recursive t(n) as (values (1) union all select n + 1 from t where n < 5)
            select n, sum(n) over (order by n) as running, lag(n) over w as before, ntile(2) over w as half,
              (select string_agg(title, ', ' order by title) from books where author = n) as titles,
              (select avg(price) from books where author = n) as price
            from t window w as (order by n desc) order by n"""));
        step("many parameters", () -> {
            StringBuilder sql = new StringBuilder("select count(*) as n, sum(v) as total from (values (?::int)");
            sql.append(", (?)".repeat(3999)).append(") t(v)");
            try (PreparedStatement statement = connection.prepareStatement(sql.toString())) {
                for (int n = 1; n <= 4000; n++) {
                    statement.setInt(n, n);
                }
                return rows(statement.executeQuery());
            }
        });
        step("large values", () -> {
            String large = "ä".repeat(1 << 20);
            return ask("select length(?::text) as n, octet_length(?::bytea) as bytes, md5(?) as hash, length(repeat('x', 3000000)) as r",
                large, new byte[3 << 20], large);
        });
    }

    /** How the driver asks: simple, extended only for prepared statements, everything cached. */
    private static void modes() {
        for (String mode : List.of("simple", "extendedForPrepared", "extendedCacheEverything")) {
            step("query mode " + mode, () -> {
                try (Connection other = DriverManager.getConnection(jdbc(url, "&preferQueryMode=" + mode))) {
                    List<Object> found = new ArrayList<>();
                    for (int n = 0; n < 7; n++) {
                        found.addAll(ask(other, "select ?::int + 1 as n, ? as t, ?::numeric as d, ?::date as day", n, "it's", new java.math.BigDecimal("1.50"),
                            java.sql.Date.valueOf("2024-02-29")));
                    }
                    found.add(refused(() -> ask(other, "select 1 / ?::int", 0)));
                    try (Statement statement = other.createStatement()) {
                        found.add(rows(statement.executeQuery("select name from authors where id = 1 and name like 'A%'")));
                        found.add(statement.executeUpdate("update authors set name = name where id < 3; update authors set name = name where id = 3"));
                    }
                    return found;
                }
            });
        }
    }

    /** After five executions the server keeps the statement, and values go and come in binary. */
    private static void serverPrepared() {
        step("prepared on the server", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select id, rating, born, name from authors where id = ?")) {
                for (int n = 0; n < 8; n++) {
                    statement.setInt(1, n % 3 + 1);
                    found.add(n + " " + statement.unwrap(PGStatement.class).isUseServerPrepare() + " " + rows(statement.executeQuery()));
                }
                found.addAll(ask("select statement, parameter_types::text, from_sql from pg_prepared_statements order by statement"));
            }
            return found;
        });
        step("a table changes below a prepared statement", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select * from authors where id = ?")) {
                for (int n = 0; n < 7; n++) {
                    statement.setInt(1, 1);
                    rows(statement.executeQuery());
                }
                run("alter table authors add column note text default 'none'");
                found.addAll(rows(statement.executeQuery()));
                connection.setAutoCommit(false);
                run("alter table authors drop column note");
                found.add(refused(() -> rows(statement.executeQuery())));
                found.add(refused(() -> ask("select 1")));
                connection.rollback();
                run("alter table authors drop column note");
                connection.commit();
                connection.setAutoCommit(true);
                found.addAll(rows(statement.executeQuery()));
            }
            return found;
        });
        step("deallocate all below the driver", () -> {
            try (PreparedStatement statement = connection.prepareStatement("select name from authors where id = ?")) {
                statement.unwrap(PGStatement.class).setPrepareThreshold(1);
                statement.setInt(1, 2);
                List<Object> found = new ArrayList<>(rows(statement.executeQuery()));
                found.addAll(rows(statement.executeQuery()));
                run("deallocate all");
                found.addAll(rows(statement.executeQuery()));
                run("discard all");
                found.addAll(rows(statement.executeQuery()));
                return found;
            }
        });
        step("savepoints that the driver sets itself", () -> {
            try (Connection other = DriverManager.getConnection(jdbc(url, "&autosave=always&cleanupSavepoints=true"))) {
                other.setAutoCommit(false);
                List<Object> found = new ArrayList<>();
                found.add(refused(() -> ask(other, "select * from nowhere")));
                found.addAll(ask(other, "select count(*) as n from authors"));
                found.add(refused(() -> ask(other, "select 1 / (id - id) from authors")));
                found.addAll(ask(other, "select 'still here' as state"));
                other.commit();
                return found;
            }
        });
    }

    private static void batches() {
        step("a batch", () -> {
            run("create table log (id bigserial primary key, kind integer not null, text varchar(20) default 'none', unique (kind, text))");
            try (PreparedStatement statement = connection.prepareStatement("insert into log (kind, text) values (?, ?)")) {
                for (int n = 0; n < 300; n++) {
                    statement.setInt(1, n);
                    statement.setString(2, "text " + n);
                    statement.addBatch();
                }
                return List.of(java.util.Arrays.stream(statement.executeBatch()).sum(), ask("select count(*), max(id), min(text) from log"));
            }
        });
        step("a batch of statements", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.addBatch("update log set text = 'changed' where kind < 3");
                statement.addBatch("delete from log where kind > 290");
                statement.addBatch("create table in_batch (x int)");
                statement.addBatch("insert into in_batch values (1), (2)");
                return statement.executeBatch();
            }
        });
        step("a batch that fails", () -> {
            connection.setAutoCommit(false);
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("insert into log (kind, text) values (?, ?)")) {
                for (int n : new int[] {1001, 1002, 1001, 1003}) {
                    statement.setInt(1, n);
                    statement.setString(2, "again");
                    statement.addBatch();
                }
                found.add(refused(statement::executeBatch));
            }
            connection.rollback();
            connection.setAutoCommit(true);
            found.addAll(ask("select count(*) from log where kind > 1000"));
            try (Statement statement = connection.createStatement()) {
                statement.addBatch("insert into log (kind) values (2001)");
                statement.addBatch("select 1");
                found.add(statement.executeBatch());
            }
            return found;
        });
        step("a batch in one statement", () -> {
            try (Connection other = DriverManager.getConnection(jdbc(url, "&reWriteBatchedInserts=true"));
                PreparedStatement statement = other.prepareStatement("insert into log (kind, text) values (?, ?) on conflict (kind, text) do nothing")) {
                for (int n = 0; n < 100; n++) {
                    statement.setInt(1, 3000 + n % 70);
                    statement.setString(2, "rewritten");
                    statement.addBatch();
                }
                int[] counts = statement.executeBatch();
                return List.of(counts.length, counts[0], ask("select count(*) from log where kind >= 3000"));
            }
        });
        step("a batch that tells its keys", () -> {
            try (PreparedStatement statement = connection.prepareStatement("insert into in_batch values (?)", new String[] {"x"})) {
                for (int n = 10; n < 15; n++) {
                    statement.setInt(1, n);
                    statement.addBatch();
                }
                return List.of(statement.executeBatch(), rows(statement.getGeneratedKeys()));
            }
        });
    }

    private static void keys() {
        step("keys that were made", () -> {
            List<Object> found = new ArrayList<>();
            String insert = "insert into authors (name, rating) values (?, ?)";
            try (PreparedStatement statement = connection.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
                statement.setString(1, "Dora");
                statement.setDouble(2, 2.25);
                found.add(statement.executeUpdate());
                found.addAll(rows(statement.getGeneratedKeys()));
            }
            try (PreparedStatement statement = connection.prepareStatement(insert, new String[] {"id", "rating"})) {
                statement.setString(1, "Eve");
                statement.setNull(2, Types.NUMERIC);
                statement.executeUpdate();
                found.addAll(rows(statement.getGeneratedKeys()));
            }
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("update authors set rating = 5 where name < 'C'", new String[] {"name"});
                found.addAll(rows(statement.getGeneratedKeys()));
                statement.executeUpdate("delete from authors where name = 'Eve'", Statement.RETURN_GENERATED_KEYS);
                found.addAll(rows(statement.getGeneratedKeys()));
                statement.executeUpdate("select 1; insert into authors (name) values ('Flo') returning id, upper(name) as loud");
            } catch (SQLException error) {
                found.add(Tour.errorOf(error));
            }
            return found;
        });
        step("an upsert", () -> ask("""
            insert into authors (name, rating) values (?, ?), (?, 4) on conflict (name) do update
            set rating = excluded.rating + authors.rating returning id, name, rating""", "Ann", 1, "Gil"));
        step("merge", () -> {
            int count = run("""
                merge into authors a using (values ('Ann', 9), ('Hal', 8), ('Bob', 0)) as s (name, rating) on a.name = s.name
                when matched and s.rating = 0 then delete when matched then update set rating = s.rating
                when not matched then insert (name, rating) values (s.name, s.rating)""");
            return List.of(count, ask("select id, name, rating from authors order by id"));
        });
    }

    private static void cursors() {
        step("fetch size", () -> {
            connection.setAutoCommit(false);
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select id, text from log where id < ? order by id")) {
                statement.setFetchSize(7);
                statement.setLong(1, 24);
                try (ResultSet result = statement.executeQuery()) {
                    int number = 0;
                    while (result.next()) {
                        number++;
                        if (number == 9) {
                            result.setFetchSize(3);
                            found.addAll(ask("select 'between' as what"));
                        }
                    }
                    found.add(number);
                }
            }
            connection.commit();
            connection.setAutoCommit(true);
            return found;
        });
        step("adaptive fetch", () -> {
            try (Connection other = DriverManager.getConnection(jdbc(url, "&adaptiveFetch=true&defaultRowFetchSize=10&maxResultBuffer=1M"))) {
                other.setAutoCommit(false);
                return rows(other.createStatement().executeQuery("select g, repeat('x', g) as t from generate_series(1, 200) g")).size();
            }
        });
        step("a cursor that scrolls", () -> {
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
                ResultSet result = statement.executeQuery("select isbn from books order by length(isbn), isbn")) {
                result.last();
                found.add(result.getRow() + " " + result.getString(1));
                result.absolute(3);
                found.add(result.getString(1));
                result.relative(-2);
                found.add(result.getString(1));
                found.add(result.previous() + " " + result.isBeforeFirst());
                result.afterLast();
                result.previous();
                found.add(result.getString("isbn"));
                result.absolute(-2);
                found.add(result.getString("isbn"));
            }
            return found;
        });
        step("a cursor by name", () -> {
            connection.setAutoCommit(false);
            run("declare c scroll cursor with hold for select id from log order by id");
            List<Object> found = new ArrayList<>(ask("fetch 2 from c"));
            found.addAll(ask("fetch last from c"));
            found.addAll(ask("fetch backward 2 from c"));
            found.addAll(ask("select name, is_holdable, is_scrollable from pg_cursors where name = 'c'"));
            connection.commit();
            connection.setAutoCommit(true);
            found.addAll(ask("fetch first from c"));
            run("close c");
            found.add(refused(() -> ask("fetch 1 from c")));
            return found;
        });
        step("where current of", () -> {
            connection.setAutoCommit(false);
            run("declare mine cursor for select * from in_batch order by x for update");
            List<Object> found = new ArrayList<>(ask("fetch 2 from mine"));
            found.add(run("update in_batch set x = x + 100 where current of mine"));
            ask("fetch 1 from mine");
            found.add(run("delete from in_batch where current of mine"));
            connection.commit();
            connection.setAutoCommit(true);
            found.addAll(ask("select x from in_batch order by x"));
            return found;
        });
    }

    private static void updatable() {
        step("a result that is changed", () -> {
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet result = statement.executeQuery("select isbn, author, title, price from books order by length(isbn), isbn")) {
                result.next();
                result.updateString("title", "changed");
                result.updateNull("price");
                result.updateRow();
                result.next();
                result.deleteRow();
                result.moveToInsertRow();
                result.updateString(1, "new");
                result.updateInt(2, 1);
                result.updateString(3, "inserted");
                result.insertRow();
                result.moveToCurrentRow();
                result.first();
                result.refreshRow();
                found.add(result.getString("title"));
            }
            found.addAll(ask("select isbn, title, price from books where isbn in ('isbn1', 'isbn2', 'new') order by 1"));
            return found;
        });
        step("a result that cannot be changed", () -> {
            try (Statement statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
                ResultSet result = statement.executeQuery("select count(*) from books")) {
                result.next();
                return refused(() -> result.updateLong(1, 5));
            }
        });
    }

    private static void calls() {
        step("functions and procedures", () -> {
            run("create function twice(n int) returns int language sql immutable as 'select n * 2'");
            run("create function split(inout a int, out b text, out c date) language plpgsql as $$ begin a := a + 1; b := 'b' || a; c := '2024-02-29'; end $$");
            run("create procedure swap(inout a int, inout b int) language plpgsql as $$ declare t int := a; begin a := b; b := t; end $$");
            run("create procedure committing(n int) language plpgsql as $$ begin for i in 1..n loop insert into in_batch values (i); "
                + "if i % 2 = 0 then commit; else rollback; end if; end loop; end $$");
            run("create function several(n int) returns setof refcursor language plpgsql as $$ declare a refcursor := 'first'; b refcursor; begin "
                + "open a for select * from generate_series(1, n) as one; return next a; "
                + "open b for execute 'select $1 as two' using n; return next b; end $$");
            run("create function one(n int) returns refcursor language plpgsql as $$ declare c refcursor := 'of one'; begin "
                + "open c for select g, g * g as square from generate_series(1, n) g; return c; end $$");
            return ask("select proname, prokind::text, pronargs, provolatile::text, prorettype::regtype::text from pg_proc where pronamespace = 'public'::regnamespace order by 1");
        });
        step("calls", () -> {
            List<Object> found = new ArrayList<>();
            try (CallableStatement call = connection.prepareCall("{? = call twice(?)}")) {
                call.registerOutParameter(1, Types.INTEGER);
                call.setInt(2, 21);
                call.execute();
                found.add(call.getInt(1));
            }
            try (CallableStatement call = connection.prepareCall("{call split(?, ?, ?)}")) {
                call.setInt(1, 4);
                call.registerOutParameter(1, Types.INTEGER);
                call.registerOutParameter(2, Types.VARCHAR);
                call.registerOutParameter(3, Types.DATE);
                call.execute();
                found.add(call.getInt(1) + " " + call.getString(2) + " " + call.getDate(3));
            }
            try (Connection other = DriverManager.getConnection(jdbc(url, "&escapeSyntaxCallMode=callIfNoReturn"));
                CallableStatement call = other.prepareCall("{call swap(?, ?)}")) {
                call.setInt(1, 1);
                call.setInt(2, 2);
                call.registerOutParameter(1, Types.INTEGER);
                call.registerOutParameter(2, Types.INTEGER);
                call.execute();
                found.add(call.getInt(1) + " " + call.getInt(2));
            }
            return found;
        });
        step("a call of a built-in function", () -> {
            try (CallableStatement call = connection.prepareCall("{? = call upper(?)}")) {
                call.registerOutParameter(1, Types.VARCHAR);
                call.setString(2, "loud");
                call.execute();
                return call.getString(1);
            }
        });
        step("a procedure that commits", () -> {
            try (PreparedStatement call = connection.prepareStatement("call committing(?)")) {
                call.setInt(1, 4);
                call.execute();
            }
            return ask("select x from in_batch where x < 10 order by x");
        });
        step("cursors that functions return", () -> {
            connection.setAutoCommit(false);
            List<Object> found = new ArrayList<>();
            try (CallableStatement call = connection.prepareCall("{? = call one(?)}")) {
                call.registerOutParameter(1, Types.REF_CURSOR);
                call.setInt(2, 3);
                call.execute();
                found.add(call.getObject(1));
            }
            try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery("select several(2)")) {
                while (result.next()) {
                    found.add(result.getObject(1));
                }
            }
            found.add(ask("select one(2)"));
            connection.commit();
            connection.setAutoCommit(true);
            return found;
        });
        step("notices", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("do $$ begin raise notice 'one %', 1; raise warning using message = 'two', hint = 'a hint', errcode = '01W02'; end $$");
                List<Object> found = new ArrayList<>();
                for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                    found.add(warning.getSQLState() + " " + warning.getMessage());
                }
                statement.execute("drop table if exists nowhere");
                found.add(statement.getWarnings().getMessage());
                return found;
            }
        });
    }

    private static void transactions() {
        step("savepoints", () -> {
            connection.setAutoCommit(false);
            List<Object> found = new ArrayList<>();
            run("delete from in_batch");
            Savepoint plain = connection.setSavepoint();
            run("insert into in_batch values (1)");
            Savepoint named = connection.setSavepoint("Odd \"name\"");
            run("insert into in_batch values (2)");
            found.add(refused(() -> run("insert into in_batch values ('x')")));
            found.add(refused(() -> run("insert into in_batch values (3)")));
            connection.rollback(named);
            run("insert into in_batch values (4)");
            found.addAll(ask("select x from in_batch order by x"));
            connection.releaseSavepoint(named);
            connection.rollback(plain);
            found.addAll(ask("select count(*) from in_batch"));
            connection.rollback();
            connection.setAutoCommit(true);
            found.addAll(ask("select count(*) > 0 as some from in_batch"));
            return found;
        });
        step("isolation and read only", () -> {
            List<Object> found = new ArrayList<>();
            for (int level : new int[] {Connection.TRANSACTION_SERIALIZABLE, Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_READ_UNCOMMITTED}) {
                connection.setTransactionIsolation(level);
                found.add(connection.getTransactionIsolation() + " " + ask("show transaction_isolation"));
            }
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            found.add(refused(() -> run("insert into in_batch values (1)")));
            connection.rollback();
            connection.setReadOnly(false);
            connection.setAutoCommit(true);
            return found;
        });
        step("two connections", () -> {
            try (Connection other = DriverManager.getConnection(jdbc(url, ""))) {
                connection.setAutoCommit(false);
                List<Object> found = new ArrayList<>();
                run("update authors set rating = 7 where name = 'Ann'");
                found.addAll(ask(other, "select rating from authors where name = 'Ann'"));
                found.add(refused(() -> ask(other, "select * from authors where name = 'Ann' for update nowait")));
                found.addAll(ask(other, "select name from authors order by name for update skip locked limit 1"));
                connection.commit();
                found.addAll(ask(other, "select rating from authors where name = 'Ann'"));
                connection.setAutoCommit(true);
                return found;
            }
        });
        step("two phases", () -> refused(() -> {
            connection.setAutoCommit(false);
            try {
                ask("select 1");
                run("prepare transaction 'x'");
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        }));
        step("a data source with settings", () -> {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(jdbc(url, ""));
            source.setApplicationName("tour");
            source.setCurrentSchema("elsewhere,public");
            source.setOptions("-c statement_timeout=12345 -c work_mem=8MB");
            source.setReadOnly(true);
            try (Connection other = source.getConnection()) {
                List<Object> found = new ArrayList<>(ask(other, "select current_setting('application_name') as a, current_setting('search_path') as p, "
                    + "current_setting('statement_timeout') as t, current_setting('work_mem') as m, current_schema as s"));
                other.setClientInfo("ApplicationName", "other");
                found.addAll(ask(other, "select application_name, state from pg_stat_activity where pid = pg_backend_pid()"));
                other.setSchema("public");
                found.addAll(ask(other, "show search_path"));
                return found;
            }
        });
    }

    private static void errors() {
        for (String sql : List.of("selec 1", "select * from nowhere", "select nothing from authors", "select name::int from authors where id = 1",
            "insert into authors (name) values (null)", "insert into authors (name) values ('Ann')",
            "insert into books (isbn, author, title) values ('x', 999, 't')", "update authors set rating = -1 where id = 1",
            "insert into books (isbn, author, title) values ('a string that is too long', 1, 't')", "select 10 / 0", "select 2147483647 + 1",
            "select 'x' + 1", "select sum(name) from authors", "select author from books group by isbn order by title",
            "create table authors (id int)", "drop table nowhere", "drop table authors", "select date '2024-02-30'", "select nofunction(1)",
            "insert into authors (id, name) values (1, 'x')", "select * from authors a, authors b where id = 1", "rollback to nowhere",
            "do $$ begin raise exception 'mine' using errcode = 'P0123', detail = 'd', hint = 'h', column = 'c', table = 't'; end $$")) {
            step("error of " + sql, () -> refused(() -> run(sql)));
        }
        step("error in a function", () -> {
            run("create function fails(n int) returns int language plpgsql as $$ begin\n  perform 1 / n;\n  return n;\nend $$");
            return List.of(refused(() -> ask("select fails(?)", 0)), refused(() -> ask("select fails('x')")), ask("select fails(1)"));
        });
        step("wrong number of parameters", () -> refused(() -> ask("select ?::int + ?::int", 1)));
    }

    private static void metadata() {
        step("what there is", () -> {
            var data = connection.getMetaData();
            List<Object> found = new ArrayList<>();
            found.addAll(rows(data.getTables(null, "public", "%", new String[] {"TABLE", "VIEW", "SEQUENCE", "INDEX"})));
            found.addAll(rows(data.getColumns(null, "public", "books", "%")));
            found.addAll(rows(data.getPrimaryKeys(null, "public", "books")));
            found.addAll(rows(data.getImportedKeys(null, "public", "books")));
            found.addAll(rows(data.getIndexInfo(null, "public", "books", false, false)));
            found.addAll(rows(data.getBestRowIdentifier(null, "public", "log", 1, true)));
            found.addAll(rows(data.getProcedures(null, "public", "%")));
            found.removeIf(row -> row.toString().contains("SPECIFIC_NAME"));
            return found;
        });
        step("properties that a driver has", () -> {
            Properties properties = new Properties();
            PGProperty.BINARY_TRANSFER.set(properties, false);
            PGProperty.PREPARE_THRESHOLD.set(properties, -1);
            PGProperty.STRING_TYPE.set(properties, "unspecified");
            PGProperty.ASSUME_MIN_SERVER_VERSION.set(properties, "12");
            try (Connection other = DriverManager.getConnection(jdbc(url, ""), properties)) {
                return ask(other, "select id, born, rating from authors where id = ? and born = ?", "1", "1980-02-29") + spell(
                    ask(other, "select count(*) from pg_prepared_statements"));
            }
        });
    }
}
