package tour;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;

/** What users of MySQL's and MariaDB's JDBC drivers do: the URL is the only argument. */
public final class ConnectorTour {
    private static String url;

    private ConnectorTour() {}

    /** Something that a step does; what it returns is what it has found out. */
    @FunctionalInterface
    interface Act {
        Object run(Connection connection) throws Exception;
    }

    /** Run a step on a connection of its own and print what it says, a line for each element. */
    static void step(String name, String options, Act act) {
        System.out.println("== " + name);
        try (Connection connection = DriverManager.getConnection(url + options)) {
            Object found = act.run(connection);
            for (Object line : found instanceof List<?> list ? list : List.of(found)) {
                System.out.println(line);
            }
        } catch (Throwable error) {
            System.out.println("FAILED " + said(error));
        }
    }

    static void step(String name, Act act) {
        step(name, "", act);
    }

    static String said(Throwable error) {
        String state = error instanceof SQLException refusal ? refusal.getErrorCode() + " " + refusal.getSQLState() + " " : "";
        return error.getClass().getSimpleName() + " " + state + error.getMessage();
    }

    static String code(Connection connection, String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return "no error";
        } catch (SQLException error) {
            return error.getClass().getSimpleName() + " " + error.getErrorCode() + " " + error.getSQLState();
        }
    }

    static String spell(Object value) {
        if (value == null) {
            return "null";
        } else if (value instanceof byte[] bytes) {
            return "\\x" + HexFormat.of().formatHex(bytes);
        } else if (value instanceof BigDecimal number) {
            return "BigDecimal " + number.toPlainString();
        }
        return value.getClass().getSimpleName() + " " + value;
    }

    /** The rows of a result, of the columns that are named, or of all. */
    static List<Object> rows(ResultSet result, String... names) throws SQLException {
        List<Object> found = new ArrayList<>();
        try (result) {
            ResultSetMetaData shape = result.getMetaData();
            while (result.next()) {
                StringJoiner row = new StringJoiner(" | ");
                if (names.length == 0) {
                    for (int column = 1; column <= shape.getColumnCount(); column++) {
                        row.add(shape.getColumnLabel(column) + ": " + spell(result.getObject(column)));
                    }
                }
                for (String name : names) {
                    row.add(name + ": " + result.getString(name));
                }
                found.add(row.toString());
            }
        }
        return found;
    }

    static List<Object> query(Connection connection, String sql, String... names) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return rows(statement.executeQuery(sql), names);
        }
    }

    static int change(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    static List<Object> described(ResultSet result) throws SQLException {
        List<Object> found = new ArrayList<>();
        try (result) {
            ResultSetMetaData shape = result.getMetaData();
            for (int at = 1; at <= shape.getColumnCount(); at++) {
                found.add(shape.getColumnLabel(at) + " of " + shape.getTableName(at) + "." + shape.getColumnName(at) + ": "
                    + shape.getColumnTypeName(at) + " " + shape.getColumnType(at) + " " + shape.getColumnClassName(at)
                    + " precision " + shape.getPrecision(at) + " scale " + shape.getScale(at)
                    + (shape.isNullable(at) == ResultSetMetaData.columnNoNulls ? " not null" : "")
                    + (shape.isAutoIncrement(at) ? " auto" : "") + (shape.isSigned(at) ? " signed" : ""));
            }
        }
        return found;
    }

    public static void main(String[] args) throws Exception {
        url = args[0];
        tables();
        metadata();
        values();
        changes();
        transactions();
        errors();
    }

    private static void tables() {
        step("make tables", connection -> {
            change(connection, "CREATE TABLE author (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,"
                + " name VARCHAR(80) NOT NULL COMMENT 'as on the cover', born DATE NULL, UNIQUE KEY author_name (name)) COMMENT='who writes'");
            change(connection, "CREATE TABLE book (id BIGINT NOT NULL AUTO_INCREMENT, author_id INT UNSIGNED NOT NULL,"
                + " title VARCHAR(200) NOT NULL DEFAULT 'untitled', price DECIMAL(8,2) DEFAULT 9.99, pages SMALLINT UNSIGNED,"
                + " PRIMARY KEY (id), KEY by_title (title, pages),"
                + " CONSTRAINT book_author FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)");
            change(connection, "CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, flag TINYINT(1), small SMALLINT, medium MEDIUMINT,"
                + " big BIGINT, exact DECIMAL(20,6), one FLOAT, two DOUBLE, day DATE, at DATETIME(6), stamp TIMESTAMP NULL, span TIME,"
                + " y YEAR, c CHAR(5), v VARCHAR(50), t TEXT, bin BINARY(4), vb VARBINARY(20), bl BLOB, e ENUM('a','b','c'),"
                + " s SET('x','y','z'), bits BIT(8), j JSON)");
            change(connection, "CREATE VIEW titles AS SELECT b.id, b.title, a.name FROM book b JOIN author a ON a.id = b.author_id");
            return "made";
        });
    }

    private static void metadata() {
        step("product", connection -> {
            DatabaseMetaData data = connection.getMetaData();
            return List.of(data.getDatabaseProductName(), data.getIdentifierQuoteString(), data.getSQLKeywords().length() > 100,
                data.getDefaultTransactionIsolation(), data.supportsTransactions(), data.getCatalogTerm(), connection.getCatalog());
        });
        step("tables", connection -> rows(connection.getMetaData().getTables(connection.getCatalog(), null, "%", null),
            "TABLE_NAME", "TABLE_TYPE", "REMARKS"));
        step("table types", connection -> rows(connection.getMetaData().getTableTypes()));
        step("catalogs", connection -> rows(connection.getMetaData().getCatalogs()).contains("TABLE_CAT: String " + connection.getCatalog()));
        for (String table : List.of("author", "book", "kinds", "titles")) {
            step("columns of " + table, connection -> rows(connection.getMetaData().getColumns(connection.getCatalog(), null, table, "%"),
                "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "COLUMN_DEF", "REMARKS",
                "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN"));
        }
        step("primary keys", connection -> rows(connection.getMetaData().getPrimaryKeys(connection.getCatalog(), null, "book"),
            "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        step("indexes", connection -> rows(connection.getMetaData().getIndexInfo(connection.getCatalog(), null, "book", false, true),
            "INDEX_NAME", "NON_UNIQUE", "COLUMN_NAME", "ORDINAL_POSITION", "ASC_OR_DESC"));
        step("imported keys", connection -> rows(connection.getMetaData().getImportedKeys(connection.getCatalog(), null, "book"),
            "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "UPDATE_RULE", "DELETE_RULE", "FK_NAME"));
        step("exported keys", connection -> rows(connection.getMetaData().getExportedKeys(connection.getCatalog(), null, "author"),
            "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "FK_NAME"));
        step("best row identifier", connection -> rows(connection.getMetaData().getBestRowIdentifier(connection.getCatalog(), null, "book", 0, true),
            "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME"));
        step("types", connection -> rows(connection.getMetaData().getTypeInfo(), "TYPE_NAME", "DATA_TYPE").size() > 20);
        step("procedures", connection -> rows(connection.getMetaData().getProcedures(connection.getCatalog(), null, "%"), "PROCEDURE_NAME"));
        step("functions", connection -> rows(connection.getMetaData().getFunctions(connection.getCatalog(), null, "%"), "FUNCTION_NAME"));
        step("metadata by information_schema", "&useInformationSchema=true", connection -> {
            List<Object> found = new ArrayList<>();
            found.addAll(rows(connection.getMetaData().getColumns(connection.getCatalog(), null, "book", "%"),
                "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "COLUMN_DEF"));
            found.addAll(rows(connection.getMetaData().getImportedKeys(connection.getCatalog(), null, "book"), "FK_NAME", "PKCOLUMN_NAME"));
            found.addAll(rows(connection.getMetaData().getIndexInfo(connection.getCatalog(), null, "author", true, true), "INDEX_NAME", "COLUMN_NAME"));
            found.addAll(rows(connection.getMetaData().getPrimaryKeys(connection.getCatalog(), null, "author"), "COLUMN_NAME"));
            return found;
        });
        step("a result's columns", connection -> {
            try (Statement statement = connection.createStatement()) {
                return described(statement.executeQuery("SELECT k.*, id + 1 AS more, CONCAT(v, 'x') AS joined, COUNT(*) OVER () AS n FROM kinds k"));
            }
        });
        step("a prepared statement's columns", "&useServerPrepStmts=true", connection -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT id, title AS called FROM book WHERE id > ? AND title LIKE ?")) {
                ResultSetMetaData shape = statement.getMetaData();
                return List.of(shape.getColumnLabel(2), shape.getColumnTypeName(1), statement.getParameterMetaData().getParameterCount());
            }
        });
    }

    private static final String INSERT = "INSERT INTO kinds VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

    private static void fill(PreparedStatement insert, int id) throws SQLException {
        Object[] values = {
            id, -128, true, -32768, 8388607, Long.MIN_VALUE, new BigDecimal("12345678901234.123456"), 1.5f, 1e300, LocalDate.of(2024, 2, 29),
            LocalDateTime.of(2024, 2, 29, 23, 59, 58, 123456000), LocalDateTime.of(2024, 3, 1, 1, 2, 3), LocalTime.of(12, 34, 56), 2024,
            "abc", "it's \\ \"quoted\"", "ünïcödé 表 😀", new byte[] {1, 2, 3, 4}, new byte[] {0, (byte) 255, 39, 92}, new byte[] {5, 0}, "b", "x,z",
            new byte[] {(byte) 0xa5}, "{\"a\": [1, 2]}",
        };
        for (int at = 0; at < values.length; at++) {
            insert.setObject(at + 1, values[at]);
        }
    }

    private static void values() {
        int id = 0;
        for (String options : List.of("", "&useServerPrepStmts=true", "&useCompression=true", "&useServerPrepStmts=true&cachePrepStmts=true")) {
            int mine = ++id;
            step("values of every kind" + options, options, connection -> {
                try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                    fill(insert, mine);
                    insert.executeUpdate();
                }
                try (PreparedStatement select = connection.prepareStatement("SELECT * FROM kinds WHERE id = ?")) {
                    select.setInt(1, mine);
                    return rows(select.executeQuery());
                }
            });
        }
        step("nulls", "&useServerPrepStmts=true", connection -> {
            try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                insert.setInt(1, 90);
                for (int at = 2; at <= 24; at++) {
                    insert.setNull(at, java.sql.Types.NULL);
                }
                insert.executeUpdate();
            }
            try (PreparedStatement select = connection.prepareStatement("SELECT * FROM kinds WHERE id = 90")) {
                return rows(select.executeQuery());
            }
        });
        step("getters", connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT * FROM kinds WHERE id = 1")) {
                row.next();
                return List.of(row.getInt("tiny"), row.getBoolean("flag"), row.getLong("big"), row.getBigDecimal("exact"), row.getFloat("one"),
                    row.getDate("day"), row.getTimestamp("at"), row.getTime("span"), row.getString("y"), row.getObject("at", LocalDateTime.class),
                    row.getString("bits"), row.getString("j"), new String(row.getBytes("t"), StandardCharsets.UTF_8));
            }
        });
        step("moments", "&useServerPrepStmts=true&connectionTimeZone=UTC", connection -> {
            try (PreparedStatement select = connection.prepareStatement("SELECT day, at, span FROM kinds WHERE day = ? AND at > ? AND id = 1")) {
                select.setDate(1, Date.valueOf("2024-02-29"));
                select.setTimestamp(2, Timestamp.valueOf("2024-02-29 00:00:00"));
                return rows(select.executeQuery());
            }
        });
    }

    private static void changes() {
        step("generated keys", connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT INTO author (name) VALUES ('Ada'), ('Bob'), ('Cyd')", Statement.RETURN_GENERATED_KEYS);
                return rows(statement.getGeneratedKeys());
            }
        });
        step("an update that changes nothing", connection -> List.of(
            change(connection, "UPDATE author SET name = 'Ada' WHERE id = 1"), change(connection, "UPDATE author SET born = '1815-12-10' WHERE id = 1")));
        for (String options : List.of("", "&rewriteBatchedStatements=true", "&useServerPrepStmts=true")) {
            step("a batch" + options, options, connection -> {
                try (PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO book (author_id, title, price, pages) VALUES (?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                    for (int at = 1; at <= 50; at++) {
                        insert.setInt(1, at % 3 + 1);
                        insert.setString(2, "Book " + at);
                        insert.setBigDecimal(3, new BigDecimal(at).movePointLeft(1));
                        insert.setInt(4, at * 10);
                        insert.addBatch();
                    }
                    int counted = insert.executeBatch().length;
                    List<Object> keys = rows(insert.getGeneratedKeys());
                    return List.of(counted, keys.size(), keys.get(0), keys.get(49));
                }
            });
        }
        step("a stream", connection -> {
            try (Statement statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
                statement.setFetchSize(Integer.MIN_VALUE);
                int count = 0;
                try (ResultSet result = statement.executeQuery("SELECT a.id FROM book a, book b")) {
                    while (result.next()) {
                        count++;
                    }
                }
                return count;
            }
        });
        step("a cursor", "&useServerPrepStmts=true&useCursorFetch=true", connection -> {
            try (PreparedStatement select = connection.prepareStatement("SELECT id, title FROM book ORDER BY id")) {
                select.setFetchSize(20);
                int count = 0;
                try (ResultSet result = select.executeQuery()) {
                    while (result.next()) {
                        count++;
                    }
                }
                return count;
            }
        });
        step("an updatable result", connection -> {
            try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
                try (ResultSet result = statement.executeQuery("SELECT id, title, pages FROM book WHERE id <= 3 ORDER BY id")) {
                    result.next();
                    result.updateString("title", "Renamed");
                    result.updateRow();
                    result.last();
                    result.deleteRow();
                }
            }
            return query(connection, "SELECT id, title FROM book WHERE id <= 3 ORDER BY id");
        });
        step("several statements", "&allowMultiQueries=true", connection -> {
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement()) {
                boolean isResult = statement.execute("SELECT 1 AS one; UPDATE book SET pages = 1 WHERE id = 1; SELECT 'two' AS two");
                while (true) {
                    if (isResult) {
                        found.addAll(rows(statement.getResultSet()));
                    } else if (statement.getUpdateCount() < 0) {
                        return found;
                    } else {
                        found.add(statement.getUpdateCount());
                    }
                    isResult = statement.getMoreResults();
                }
            }
        });
        step("upserts", connection -> List.of(
            change(connection, "INSERT INTO author (id, name) VALUES (1, 'Ada') ON DUPLICATE KEY UPDATE born = '1816-01-01'"),
            change(connection, "INSERT INTO author (id, name) VALUES (1, 'Ada') ON DUPLICATE KEY UPDATE born = '1816-01-01'"),
            change(connection, "INSERT INTO author (id, name) VALUES (7, 'Gus') ON DUPLICATE KEY UPDATE born = '1816-01-01'"),
            change(connection, "REPLACE INTO author (id, name) VALUES (7, 'Gil')"),
            change(connection, "INSERT IGNORE INTO author (id, name) VALUES (7, 'Gil')")));
        step("large values", "&useServerPrepStmts=true", connection -> {
            byte[] large = new byte[3_000_000];
            for (int at = 0; at < large.length; at++) {
                large[at] = (byte) (at * 7);
            }
            change(connection, "CREATE TABLE large (id INT PRIMARY KEY, data LONGBLOB)");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO large VALUES (1, ?)")) {
                insert.setBinaryStream(1, new java.io.ByteArrayInputStream(large));
                insert.executeUpdate();
            }
            try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery("SELECT data, LENGTH(data) FROM large")) {
                row.next();
                return List.of(java.util.Arrays.equals(large, row.getBytes(1)), row.getInt(2));
            }
        });
    }

    private static void transactions() {
        step("roll back", connection -> {
            connection.setAutoCommit(false);
            change(connection, "INSERT INTO author (id, name) VALUES (20, 'Tom')");
            Savepoint point = connection.setSavepoint("here");
            change(connection, "INSERT INTO author (id, name) VALUES (21, 'Uma')");
            connection.rollback(point);
            List<Object> seen = query(connection, "SELECT id FROM author WHERE id >= 20");
            connection.rollback();
            return List.of(seen, query(connection, "SELECT id FROM author WHERE id >= 20"));
        });
        step("isolation", connection -> {
            List<Object> found = new ArrayList<>();
            for (int level : List.of(Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE)) {
                connection.setTransactionIsolation(level);
                found.add(connection.getTransactionIsolation());
            }
            return found;
        });
        step("read only", connection -> {
            connection.setReadOnly(true);
            return List.of(connection.isReadOnly(), code(connection, "DELETE FROM author"), code(connection, "SELECT 1"));
        });
        step("is valid", connection -> List.of(connection.isValid(5), connection.isClosed()));
        step("a timeout", connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                statement.executeQuery("SELECT SLEEP(20)").next();
                return "not timed out";
            } catch (SQLException error) {
                return List.of(error.getClass().getSimpleName(), connection.isValid(5));
            }
        });
        step("change of the database", connection -> {
            change(connection, "CREATE DATABASE other_place");
            connection.setCatalog("other_place");
            change(connection, "CREATE TABLE there (id INT)");
            List<Object> found = rows(connection.getMetaData().getTables("other_place", null, "%", null), "TABLE_CAT", "TABLE_NAME");
            change(connection, "DROP DATABASE other_place");
            return List.of(found);
        });
    }

    private static void errors() {
        step("errors", connection -> {
            List<Object> found = new ArrayList<>();
            for (String sql : List.of(
                    "SELECT * FROM nobody", "SELECT nobody FROM author", "SELEC 1", "INSERT INTO author (name) VALUES ('Ada')",
                    "INSERT INTO author (name) VALUES (NULL)", "INSERT INTO book (author_id) VALUES (999)", "INSERT INTO kinds (id, tiny) VALUES (70, 200)",
                    "INSERT INTO kinds (id, c) VALUES (71, 'much too long')", "INSERT INTO kinds (id, day) VALUES (72, '2024-02-30')",
                    "INSERT INTO kinds (id, e) VALUES (73, 'q')", "CREATE TABLE author (id INT)", "DROP TABLE nobody", "INSERT INTO author VALUES (1)",
                    "SELECT id, COUNT(*) FROM author", "SELECT (SELECT id FROM author)", "INSERT INTO author (id) VALUES (60)", "USE nobody", "SELECT 1/0",
                    "SELECT ABS()", "SELECT nobody()", "ALTER TABLE author DROP COLUMN nobody", "ALTER TABLE author ADD COLUMN name INT",
                    "CREATE INDEX author_name ON author (name)", "DROP INDEX nobody ON author", "SELECT 9223372036854775807 + 1")) {
                found.add(sql + ": " + code(connection, sql));
            }
            return found;
        });
        step("a failed batch", connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.addBatch("INSERT INTO author (id, name) VALUES (30, 'Dee')");
                statement.addBatch("INSERT INTO author (id, name) VALUES (30, 'Eve')");
                statement.addBatch("INSERT INTO author (id, name) VALUES (31, 'Eve')");
                statement.executeBatch();
                return "worked";
            } catch (BatchUpdateException error) {
                return List.of(java.util.Arrays.toString(error.getUpdateCounts()), error.getErrorCode(), query(connection, "SELECT id FROM author WHERE id >= 30"));
            }
        });
        step("warnings", connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT IGNORE INTO author (id, name) VALUES (1, 'Ada')");
                return statement.getWarnings() == null ? "none" : "" + statement.getWarnings().getErrorCode();
            }
        });
    }
}
