package rowferry.bench;

import com.google.gson.JsonObject;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** The verbs of benchmarks/peers/base.py, as a programmer with JDBC carries them out. */
final class Peer {
    /** The driver has no such thing. */
    static final class Unsupported extends Exception {
        private static final long serialVersionUID = 1;

        Unsupported(String message) {
            super(message);
        }
    }

    /** Rows between two {@code executeBatch}: a common choice. */
    private static final int BATCH = 1_000;

    private final String url;
    private final Properties properties = new Properties();
    private final Connection connection;

    Peer(JsonObject address) throws SQLException {
        url = "jdbc:informix-sqli://" + Worker.text(address, "host") + ":" + Worker.text(address, "port") + "/"
                + Worker.text(address, "database") + ":INFORMIXSERVER=" + Worker.text(address, "server");
        properties.setProperty("user", Worker.text(address, "user"));
        properties.setProperty("password", Worker.text(address, "password"));
        connection = DriverManager.getConnection(url, properties);
    }

    String version() throws SQLException {
        return "IBM JDBC " + connection.getMetaData().getDriverVersion() + ", Java "
                + Runtime.version().feature();
    }

    void close() throws SQLException {
        connection.close();
    }

    /** Does the work once: rows, or null for verbs that bring none. */
    List<List<Object[]>> work(Task task) throws SQLException, Unsupported {
        switch (task.work) {
            case "select":
                return select(task.sql, task.parameters);
            case "select_interleaved":
                return selectInterleaved(task.sql, task.parameters);
            case "write":
                connection.setAutoCommit(false);
                writeBatches(task.sql, task.parameters);
                connection.commit();
                connection.setAutoCommit(true);
                return null;
            case "write_autocommit":
                writeBatches(task.sql, task.parameters);
                return null;
            case "write_each":
                writeEach(task.sql, task.parameters);
                return null;
            case "connect_each":
                for (int count = task.parameters.size(); count > 0; count--) {
                    DriverManager.getConnection(url, properties).close();
                }
                return null;
            default:
                throw new Unsupported("not with JDBC: " + task.work);
        }
    }

    void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    List<List<Object[]>> select(String sql, List<Object[]> parameters) throws SQLException {
        List<List<Object[]>> results = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (Object[] row : parameters) {
                bind(statement, row);
                try (ResultSet found = statement.executeQuery()) {
                    List<Object[]> rows = new ArrayList<>();
                    int columns = found.getMetaData().getColumnCount();
                    while (found.next()) {
                        rows.add(row(found, columns));
                    }
                    results.add(rows);
                }
            }
        }
        return results;
    }

    private List<List<Object[]>> selectInterleaved(String sql, List<Object[]> parameters) throws SQLException {
        List<List<Object[]>> results = new ArrayList<>();
        List<PreparedStatement> statements = new ArrayList<>();
        List<ResultSet> waiting = new ArrayList<>();
        for (Object[] row : parameters) {
            PreparedStatement statement = connection.prepareStatement(sql);
            statements.add(statement);
            bind(statement, row);
            waiting.add(statement.executeQuery());
            results.add(new ArrayList<>());
        }
        int columns = waiting.get(0).getMetaData().getColumnCount();
        for (int left = waiting.size(); left > 0; ) {
            for (int at = 0; at < waiting.size(); at++) {
                ResultSet found = waiting.get(at);
                if (found == null) {
                    continue;
                }
                if (found.next()) {
                    results.get(at).add(row(found, columns));
                } else {
                    found.close();
                    waiting.set(at, null);
                    left--;
                }
            }
        }
        for (PreparedStatement statement : statements) {
            statement.close();
        }
        return results;
    }

    private void writeBatches(String sql, List<Object[]> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int collected = 0;
            for (Object[] row : rows) {
                bind(statement, row);
                statement.addBatch();
                collected++;
                if (collected == BATCH) {
                    statement.executeBatch();
                    collected = 0;
                }
            }
            if (collected > 0) {
                statement.executeBatch();
            }
        }
    }

    private void writeEach(String sql, List<Object[]> rows) throws SQLException {
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (Object[] row : rows) {
                bind(statement, row);
                statement.executeUpdate();
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static void bind(PreparedStatement statement, Object[] values) throws SQLException {
        for (int at = 0; at < values.length; at++) {
            Object value = values[at];
            if (value == null) {
                statement.setNull(at + 1, java.sql.Types.INTEGER);
            } else if (value instanceof Integer number) {
                statement.setInt(at + 1, number);
            } else if (value instanceof String text) {
                statement.setString(at + 1, text);
            } else {
                statement.setObject(at + 1, value);
            }
        }
    }

    private static Object[] row(ResultSet found, int columns) throws SQLException {
        Object[] row = new Object[columns];
        for (int at = 0; at < columns; at++) {
            row[at] = found.getObject(at + 1);
        }
        return row;
    }
}
