package rowferry.tour;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Keys that the server gives: SERIAL and its kin. */
final class Keys extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_serial (id SERIAL, name VARCHAR(20))", "CREATE TABLE t_serial8 (id SERIAL8, name VARCHAR(20))",
                "CREATE TABLE t_bigserial (id BIGSERIAL(5000000000), name VARCHAR(20))", "CREATE TABLE t_nokey (name VARCHAR(20))");
        for (String table : new String[] {"t_serial", "t_serial8", "t_bigserial"}) {
            long first = table.equals("t_bigserial") ? 5_000_000_000L : 1;
            String sql = "INSERT INTO " + table + " (name) VALUES (?)";
            try (PreparedStatement insert = connection().prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
                for (int number = 0; number < 3; number++) {
                    insert.setString(1, "row " + number);
                    check(table + ": with all keys", 1, insert.executeUpdate());
                    check(table + ": the key of row " + number, first + number, serial(insert, table));
                    check(table + ": the generated key of row " + number, List.of(first + number), generated(insert));
                }
            }
            try (PreparedStatement insert = connection().prepareStatement(sql, new String[] {"id"})) {
                insert.setString(1, "by name");
                check(table + ": by column name", 1, insert.executeUpdate());
                check(table + ": the key by column name", first + 3, serial(insert, table));
                check(table + ": the generated key by column name", List.of(first + 3), generated(insert));
            }
            try (PreparedStatement insert = connection().prepareStatement(sql, new int[] {1})) {
                insert.setString(1, "by number");
                check(table + ": by column number", 1, insert.executeUpdate());
                check(table + ": the key by column number", first + 4, serial(insert, table));
                check(table + ": the generated key by column number", List.of(first + 4), generated(insert));
            }
            try (Statement insert = connection().createStatement()) {
                check(table + ": of a plain statement", 1,
                        insert.executeUpdate("INSERT INTO " + table + " VALUES (0, 'statement')", Statement.RETURN_GENERATED_KEYS));
                check(table + ": the key of a plain statement", first + 5, serial(insert, table));
                check(table + ": the generated key of a plain statement", List.of(first + 5), generated(insert));
            }
            check(table + ": stored", List.of(String.valueOf(first + 5)), query("SELECT MAX(id) FROM " + table));
        }
        execute("INSERT INTO t_serial (name) VALUES ('dbinfo')");
        check("DBINFO", List.of("7"), query("SELECT DBINFO('sqlca.sqlerrd1') FROM systables WHERE tabid = 1"));
        execute("INSERT INTO t_serial VALUES (100, 'given')", "INSERT INTO t_serial VALUES (0, 'after it')");
        check("the number after a given one", List.of("101"), query("SELECT id FROM t_serial WHERE name = 'after it'"));
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_nokey VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
            insert.setString(1, "none");
            check("a table without a key", 1, insert.executeUpdate());
            check("no generated key", List.of(), generated(insert));
        }
        fails("a generated key of another column", -746, () -> {
            try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_serial (name) VALUES ('x')", new String[] {"name"})) {
                insert.executeUpdate();
            }
        });
        execute("DROP TABLE t_serial", "DROP TABLE t_serial8", "DROP TABLE t_bigserial", "DROP TABLE t_nokey");
    }

    /** The keys as JDBC gives them. */
    private static List<Long> generated(Statement statement) throws Exception {
        List<Long> keys = new ArrayList<>();
        try (ResultSet rows = statement.getGeneratedKeys()) {
            while (rows.next()) {
                keys.add(rows.getLong(1));
            }
        }
        return keys;
    }

    /** The key as the driver's own methods give it, which IBM documents beside getGeneratedKeys. */
    private static long serial(Statement statement, String table) throws Exception {
        String method = switch (table) {
            case "t_serial" -> "getSerial";
            case "t_serial8" -> "getSerial8";
            default -> "getBigSerial";
        };
        Number key = (Number) statement.getClass().getMethod(method).invoke(statement);
        return key.longValue();
    }
}
