package rowferry.tour;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;

/** Keys that the server gives: SERIAL and its kin. */
final class Keys extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_serial (id SERIAL, name VARCHAR(20))", "CREATE TABLE t_serial8 (id SERIAL8, name VARCHAR(20))",
                "CREATE TABLE t_bigserial (id BIGSERIAL(5000000000), name VARCHAR(20))", "CREATE TABLE t_nokey (name VARCHAR(20))");
        for (String table : new String[] {"t_serial", "t_serial8", "t_bigserial"}) {
            long first = table.equals("t_bigserial") ? 5_000_000_000L : 1;
            try (PreparedStatement insert = connection().prepareStatement("INSERT INTO " + table + " (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                for (int number = 0; number < 3; number++) {
                    insert.setString(1, "row " + number);
                    insert.executeUpdate();
                    check(table + ": generated key " + number, List.of(String.valueOf(first + number)), keys(insert));
                }
            }
            try (PreparedStatement insert = connection().prepareStatement("INSERT INTO " + table + " (name) VALUES (?)", new String[] {"id"})) {
                insert.setString(1, "by name");
                insert.executeUpdate();
                check(table + ": by column name", List.of(String.valueOf(first + 3)), keys(insert));
            }
            try (PreparedStatement insert = connection().prepareStatement("INSERT INTO " + table + " (name) VALUES (?)", new int[] {1})) {
                insert.setString(1, "by number");
                insert.executeUpdate();
                check(table + ": by column number", List.of(String.valueOf(first + 4)), keys(insert));
            }
            try (Statement insert = connection().createStatement()) {
                insert.executeUpdate("INSERT INTO " + table + " VALUES (0, 'statement')", Statement.RETURN_GENERATED_KEYS);
                check(table + ": of a plain statement", List.of(String.valueOf(first + 5)), keys(insert));
            }
            check(table + ": stored", List.of(String.valueOf(first + 5)), query("SELECT MAX(id) FROM " + table));
        }
        try (Statement insert = connection().createStatement()) {
            insert.executeUpdate("INSERT INTO t_nokey VALUES ('none')", Statement.RETURN_GENERATED_KEYS);
            check("a table without such a column", 0, keys(insert).size());
        }
        execute("INSERT INTO t_serial (name) VALUES ('dbinfo')");
        check("DBINFO", List.of("7"), query("SELECT DBINFO('sqlca.sqlerrd1') FROM systables WHERE tabid = 1"));
        execute("INSERT INTO t_serial VALUES (100, 'given')", "INSERT INTO t_serial VALUES (0, 'after it')");
        check("the number after a given one", List.of("101"), query("SELECT id FROM t_serial WHERE name = 'after it'"));
        execute("DROP TABLE t_serial", "DROP TABLE t_serial8", "DROP TABLE t_bigserial", "DROP TABLE t_nokey");
    }

    private static List<String> keys(Statement statement) throws Exception {
        try (ResultSet keys = statement.getGeneratedKeys()) {
            return keys == null ? List.of("no result set") : rows(keys);
        }
    }
}
