package rowferry;

import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * Uses a database through IBM's JDBC driver and prints what it saw, a line of JSON each, for tests and the demo.
 *
 * <p>Arguments: URL, user, password, verb, and what the verb needs. A failed SQL statement that nobody expected ends the
 * program with 1.
 */
public final class Client {
    private final Connection connection;

    private Client(Connection connection) {
        this.connection = connection;
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("user", args[1]);
        properties.setProperty("password", args[2]);
        try (Connection connection = DriverManager.getConnection(args[0], properties)) {
            Client client = new Client(connection);
            switch (args[3]) {
                case "store" -> client.store(args[4], Integer.parseInt(args[5]), Integer.parseInt(args[6]));
                case "types" -> client.types();
                case "batch" -> client.batch();
                case "transactions" -> client.transactions();
                case "errors" -> client.errors();
                case "metadata" -> client.metadata(args[4]);
                case "query" -> client.query(args[4]);
                default -> throw new IllegalArgumentException(args[3]);
            }
        }
    }

    /** What every client of the demo does: read, write and commit, write and roll back, and many small questions. */
    private void store(String report, int customer, int operations) throws SQLException {
        print("version", connection.getMetaData().getDriverVersion());
        query(report);
        connection.setAutoCommit(false);
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO customers (customer_id, name, email, city, active, credit_limit, member_since) "
                        + "VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            for (int number = customer; number < customer + 2; number++) {
                insert.setInt(1, number);
                insert.setString(2, "Written by IBM JDBC");
                insert.setString(3, "jdbc" + number + "@example.org");
                insert.setString(4, "Zürich");
                insert.setBoolean(5, true);
                insert.setBigDecimal(6, new BigDecimal("1234.50"));
                insert.setDate(7, Date.valueOf("2026-02-28"));
                insert.executeUpdate();
                if (number == customer) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
            }
        }
        connection.setAutoCommit(true);
        query("SELECT customer_id, name, city, active, credit_limit, member_since FROM customers WHERE customer_id >= "
                + customer + " AND customer_id < " + (customer + 2));
        try (PreparedStatement select =
                connection.prepareStatement("SELECT order_id, status, placed_at FROM orders WHERE order_id = ?")) {
            // Once before the clock: loading classes is not the driver's cost per operation.
            for (int number = 1; number <= operations; number++) {
                ask(select, number);
            }
            long began = System.nanoTime();
            for (int number = 1; number <= operations; number++) {
                ask(select, number);
            }
            print("nanoseconds", (System.nanoTime() - began) / operations);
        }
    }

    private static void ask(PreparedStatement select, int number) throws SQLException {
        select.setInt(1, number);
        try (ResultSet rows = select.executeQuery()) {
            if (!rows.next() || rows.getInt(1) != number || rows.getString(2) == null || rows.getTimestamp(3) == null) {
                throw new SQLException("order " + number + " is missing or not itself");
            }
        }
    }

    /** Every type both ways, with a column after each so that a wrong width shows; then a row of NULLs. */
    private void types() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("CREATE TABLE jdbc_types (id SERIAL, c_small SMALLINT, c_int INT, c_big BIGINT, "
                    + "c_int8 INT8, c_float FLOAT, c_smallfloat SMALLFLOAT, c_decimal DECIMAL(12,3), c_char CHAR(8), "
                    + "c_nchar NCHAR(8), c_varchar VARCHAR(40), c_lvarchar LVARCHAR(200), c_bool BOOLEAN, c_date DATE, "
                    + "c_datetime DATETIME YEAR TO SECOND, c_fraction DATETIME YEAR TO FRACTION(5), "
                    + "c_interval INTERVAL DAY TO SECOND, c_end INT)");
        }
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO jdbc_types VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            insert.setShort(1, (short) -32767);
            insert.setInt(2, 2147483647);
            insert.setLong(3, -9223372036854775807L);
            insert.setLong(4, 123456789012L);
            insert.setDouble(5, 0.1);
            insert.setFloat(6, 1.5f);
            insert.setBigDecimal(7, new BigDecimal("-123456789.125"));
            insert.setString(8, "fixed");
            insert.setString(9, "nfixed");
            insert.setString(10, "O'Brien, Zürich");
            insert.setString(11, "");
            insert.setBoolean(12, true);
            insert.setDate(13, Date.valueOf("1899-12-30"));
            insert.setTimestamp(14, Timestamp.valueOf("2026-06-20 12:34:56"));
            insert.setTimestamp(15, Timestamp.valueOf("2026-01-02 03:04:05.12345"));
            insert.setString(16, "3 04:05:06");
            insert.setInt(17, 17);
            insert.executeUpdate();
            for (int column = 1; column <= 16; column++) {
                insert.setNull(column, java.sql.Types.NULL);
            }
            insert.setInt(17, 18);
            insert.executeUpdate();
        }
        query("SELECT * FROM jdbc_types ORDER BY id");
    }

    /** A prepared INSERT in a batch, whole and with a failing element. */
    private void batch() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("CREATE TABLE jdbc_batch (id INT PRIMARY KEY, name VARCHAR(40))");
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO jdbc_batch VALUES (?, ?)")) {
            for (int number = 1; number <= 2500; number++) {
                insert.setInt(1, number);
                insert.setString(2, "row " + number);
                insert.addBatch();
            }
            int sum = 0;
            for (int count : insert.executeBatch()) {
                sum += count;
            }
            print("inserted", sum);
            for (int number : new int[] {3001, 3002, 1, 3003}) {
                insert.setInt(1, number);
                insert.setString(2, "second");
                insert.addBatch();
            }
            try {
                insert.executeBatch();
                print("batch", "accepted a duplicate");
            } catch (BatchUpdateException failure) {
                print("done", failure.getUpdateCounts().length);
                print(failure);
            }
        }
        query("SELECT COUNT(*), MAX(id) FROM jdbc_batch");
    }

    /** Commit, roll back, savepoint. */
    private void transactions() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("CREATE TABLE jdbc_transactions (id INT)");
            connection.setAutoCommit(false);
            statement.executeUpdate("INSERT INTO jdbc_transactions VALUES (1)");
            connection.commit();
            statement.executeUpdate("INSERT INTO jdbc_transactions VALUES (2)");
            connection.rollback();
            statement.executeUpdate("INSERT INTO jdbc_transactions VALUES (3)");
            var savepoint = connection.setSavepoint("sp");
            statement.executeUpdate("INSERT INTO jdbc_transactions VALUES (4)");
            connection.rollback(savepoint);
            connection.commit();
            connection.setAutoCommit(true);
        }
        query("SELECT id FROM jdbc_transactions ORDER BY id");
    }

    /** Each failure that programs tell apart, with its class, state and code. */
    private void errors() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("CREATE TABLE jdbc_errors (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL)");
            statement.executeUpdate("INSERT INTO jdbc_errors VALUES (1, 'one')");
            for (String sql : List.of(
                    "SELEC 1",
                    "SELECT * FROM nosuch",
                    "SELECT nosuch FROM jdbc_errors",
                    "INSERT INTO jdbc_errors VALUES (1, 'again')",
                    "INSERT INTO jdbc_errors VALUES (2, NULL)",
                    "CREATE TABLE jdbc_errors (id INT)")) {
                try {
                    statement.execute(sql);
                    print("error", "none from " + sql);
                } catch (SQLException failure) {
                    print(failure);
                }
            }
        }
        // The connection has survived all of it.
        query("SELECT COUNT(*) FROM jdbc_errors");
    }

    private void metadata(String table) throws SQLException {
        try (ResultSet columns = connection.getMetaData().getColumns(null, null, table, "%")) {
            rows(columns);
        }
    }

    private void query(String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            rows(rows);
        }
    }

    private static void rows(ResultSet rows) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        int count = columns.getColumnCount();
        List<String> names = new ArrayList<>();
        List<String> types = new ArrayList<>();
        for (int column = 1; column <= count; column++) {
            names.add(quote(columns.getColumnLabel(column)));
            types.add(quote(columns.getColumnTypeName(column)));
        }
        System.out.println("{\"names\":[" + String.join(",", names) + "],\"types\":[" + String.join(",", types) + "]}");
        while (rows.next()) {
            List<String> cells = new ArrayList<>();
            for (int column = 1; column <= count; column++) {
                Object value = rows.getObject(column);
                cells.add(value == null ? "null" : quote(text(value)));
            }
            System.out.println("{\"row\":[" + String.join(",", cells) + "]}");
        }
    }

    /** The value in the same words in every locale, which getString does not promise for dates. */
    private static String text(Object value) {
        if (value instanceof BigDecimal number) {
            return number.toPlainString();
        }
        if (value instanceof Timestamp moment) {
            return moment.toString().replaceFirst("\\.0$", "");
        }
        return value.toString();
    }

    private static void print(SQLException failure) {
        System.out.println("{\"error\":" + failure.getErrorCode() + ",\"state\":" + quote(String.valueOf(failure.getSQLState()))
                + ",\"class\":" + quote(failure.getClass().getSimpleName())
                + ",\"message\":" + quote(String.valueOf(failure.getMessage())) + "}");
    }

    private static void print(String name, Object value) {
        System.out.println("{" + quote(name) + ":" + (value instanceof Number ? value : quote(String.valueOf(value))) + "}");
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
