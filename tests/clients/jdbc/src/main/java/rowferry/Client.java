package rowferry;

import java.math.BigDecimal;
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
 * Uses a database through IBM's JDBC driver and prints what it saw, a line of JSON each, for the demo.
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
