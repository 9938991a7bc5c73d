package rowferry.tour;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** One subject of the tour: what it needs to ask the server and to say what came back. */
abstract class Theme {
    private String name;
    private final List<Connection> opened = new ArrayList<>();
    protected Target target;
    /** The theme's own connection, opened when it is first needed. */
    private Connection main;

    /** Something that may fail as the driver fails. */
    interface Action {
        void run() throws Exception;
    }

    final void enter(String called, Target where) {
        name = called;
        target = where;
    }

    abstract void run() throws Exception;

    final void leave() {
        for (Connection connection : opened) {
            try {
                connection.close();
            } catch (SQLException broken) {
                // It has been reported by what broke it.
            }
        }
    }

    /** Another connection, closed with the theme. */
    protected final Connection connect(String... properties) throws SQLException {
        Connection connection = target.connect(properties);
        opened.add(connection);
        return connection;
    }

    protected final Connection connection() throws SQLException {
        if (main == null) {
            main = connect();
        }
        return main;
    }

    /** Runs statements that return nothing. */
    protected final void execute(String... statements) throws SQLException {
        execute(connection(), statements);
    }

    protected static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.executeUpdate(sql);
            }
        }
    }

    /** All rows of a query, each as its values joined by {@code |}. */
    protected final List<String> query(String sql, Object... params) throws SQLException {
        return query(connection(), sql, params);
    }

    protected static List<String> query(Connection connection, String sql, Object... params) throws SQLException {
        if (params.length == 0) {
            try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
                return rows(rows);
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int at = 0; at < params.length; at++) {
                statement.setObject(at + 1, params[at]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                return rows(rows);
            }
        }
    }

    /** The rows that are left, each as its values joined by {@code |}. */
    protected static List<String> rows(ResultSet rows) throws SQLException {
        List<String> found = new ArrayList<>();
        int count = rows.getMetaData().getColumnCount();
        while (rows.next()) {
            found.add(row(rows, count));
        }
        return found;
    }

    protected static String row(ResultSet rows, int count) throws SQLException {
        StringBuilder joined = new StringBuilder();
        for (int column = 1; column <= count; column++) {
            joined.append(column == 1 ? "" : "|").append(text(rows.getObject(column)));
        }
        return joined.toString();
    }

    /** The named columns of the rows that are left, joined by {@code |}. */
    protected static List<String> pick(ResultSet rows, String... columns) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            StringBuilder joined = new StringBuilder();
            for (String column : columns) {
                joined.append(joined.isEmpty() ? "" : "|").append(text(rows.getObject(column)));
            }
            found.add(joined.toString());
        }
        return found;
    }

    protected static String labels(ResultSetMetaData columns) throws SQLException {
        StringBuilder joined = new StringBuilder();
        for (int column = 1; column <= columns.getColumnCount(); column++) {
            joined.append(column == 1 ? "" : "|").append(columns.getColumnLabel(column));
        }
        return joined.toString();
    }

    protected static String text(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof BigDecimal number) {
            return number.toPlainString();
        }
        if (value instanceof Timestamp moment) {
            return moment.toString().replaceFirst("\\.0$", "");
        }
        if (value instanceof byte[] bytes) {
            return java.util.HexFormat.of().formatHex(bytes);
        }
        return value.toString().stripTrailing();
    }

    /** What should be, and what is. */
    protected final void check(String what, Object expected, Object actual) {
        boolean same = Objects.equals(expected, actual) || (expected instanceof int[] a && actual instanceof int[] b && Arrays.equals(a, b))
                || (expected instanceof byte[] c && actual instanceof byte[] d && Arrays.equals(c, d));
        report(what, show(expected), show(actual), same);
    }

    protected final void check(String what, boolean holds) {
        report(what, "true", String.valueOf(holds), holds);
    }

    /** That an action fails, with the server's code. */
    protected final SQLException fails(String what, int code, Action action) throws Exception {
        try {
            action.run();
        } catch (SQLException failure) {
            report(what, "error " + code, "error " + failure.getErrorCode() + ": " + failure, failure.getErrorCode() == code);
            return failure;
        }
        report(what, "error " + code, "no error", false);
        return new SQLException();
    }

    final void report(String what, String expected, String actual, boolean same) {
        System.out.println("{\"theme\":" + quote(name) + ",\"check\":" + quote(what) + ",\"holds\":" + same
                + (same ? "" : ",\"expected\":" + quote(expected) + ",\"actual\":" + quote(actual)) + "}");
    }

    private static String show(Object value) {
        if (value instanceof int[] numbers) {
            return Arrays.toString(numbers);
        }
        if (value instanceof byte[] bytes) {
            return bytes.length > 64 ? bytes.length + " bytes" : text(bytes);
        }
        String shown = String.valueOf(value);
        return shown.length() > 4000 ? shown.substring(0, 4000) + "…" : shown;
    }

    static String quote(String text) {
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
