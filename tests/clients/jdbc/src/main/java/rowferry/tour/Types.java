package rowferry.tour;

import java.math.BigDecimal;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.List;

/** Every type both ways, by every setter that fits, with extremes and NULL, each with a column after it. */
final class Types extends Theme {
    private interface Setter {
        void set(PreparedStatement statement, int at) throws SQLException;
    }

    /** Stores a value in a column of the type and reads it back, as getObject and as the server's own text. */
    private void both(String type, String expected, Setter setter) throws Exception {
        String label = type + " " + expected;
        try (Statement make = connection().createStatement()) {
            make.executeUpdate("CREATE TEMP TABLE t_both (before INT, c " + type + ", after VARCHAR(20)) WITH NO LOG");
            try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_both VALUES (?, ?, ?)")) {
                insert.setInt(1, 1);
                setter.set(insert, 2);
                insert.setString(3, "after");
                insert.executeUpdate();
                insert.setInt(1, 2);
                insert.setNull(2, java.sql.Types.NULL);
                insert.setString(3, null);
                insert.executeUpdate();
            }
            try (ResultSet rows = make.executeQuery("SELECT before, c, after, c, before FROM t_both ORDER BY before")) {
                rows.next();
                check(label, "1|" + expected + "|after|" + expected + "|1", row(rows, 5));
                rows.next();
                check(type + " NULL", "2|null|null|null|2", row(rows, 5));
                check(type + " wasNull", rows.getString(2) == null && rows.wasNull());
            }
            make.executeUpdate("DROP TABLE t_both");
        } catch (SQLException failure) {
            report(label, expected, failure.getErrorCode() + " " + failure, false);
            try (Statement drop = connection().createStatement()) {
                drop.executeUpdate("DROP TABLE IF EXISTS t_both");
            }
        }
    }

    @Override
    void run() throws Exception {
        both("SMALLINT", "-32767", (s, at) -> s.setShort(at, (short) -32767));
        both("SMALLINT", "7", (s, at) -> s.setByte(at, (byte) 7));
        both("SMALLINT", "32767", (s, at) -> s.setObject(at, 32767));
        both("INTEGER", "2147483647", (s, at) -> s.setInt(at, 2147483647));
        both("INTEGER", "-2147483647", (s, at) -> s.setString(at, "-2147483647"));
        both("INTEGER", "12", (s, at) -> s.setBigDecimal(at, new BigDecimal("12")));
        both("BIGINT", "-9223372036854775807", (s, at) -> s.setLong(at, -9223372036854775807L));
        both("BIGINT", "9223372036854775807", (s, at) -> s.setString(at, "9223372036854775807"));
        both("INT8", "9223372036854775807", (s, at) -> s.setLong(at, 9223372036854775807L));
        both("INT8", "-123456789012", (s, at) -> s.setLong(at, -123456789012L));
        both("FLOAT", "0.1", (s, at) -> s.setDouble(at, 0.1));
        both("FLOAT", "-1.5E300", (s, at) -> s.setDouble(at, -1.5E300));
        both("SMALLFLOAT", "1.5", (s, at) -> s.setFloat(at, 1.5f));
        both("DECIMAL(12,3)", "-123456789.125", (s, at) -> s.setBigDecimal(at, new BigDecimal("-123456789.125")));
        both("DECIMAL(32,0)", "12345678901234567890123456789012", (s, at) -> s.setBigDecimal(at, new BigDecimal("12345678901234567890123456789012")));
        both("DECIMAL(8,4)", "0.0000", (s, at) -> s.setInt(at, 0));
        both("DECIMAL(5,2)", "1.50", (s, at) -> s.setDouble(at, 1.5));
        both("DECIMAL(16)", "3.14159", (s, at) -> s.setString(at, "3.14159"));
        both("MONEY(16,2)", "99999999999999.99", (s, at) -> s.setBigDecimal(at, new BigDecimal("99999999999999.99")));
        both("CHAR(8)", "fixed", (s, at) -> s.setString(at, "fixed"));
        both("CHAR(2000)", "x".repeat(2000), (s, at) -> s.setString(at, "x".repeat(2000)));
        both("NCHAR(8)", "nfix", (s, at) -> s.setString(at, "nfix"));
        both("VARCHAR(40)", "O'Brien, Zürich", (s, at) -> s.setString(at, "O'Brien, Zürich"));
        both("VARCHAR(255)", "y".repeat(255), (s, at) -> s.setString(at, "y".repeat(255)));
        both("VARCHAR(10)", "", (s, at) -> s.setString(at, ""));
        both("NVARCHAR(40)", "é", (s, at) -> s.setObject(at, "é"));
        both("LVARCHAR(3000)", "z".repeat(3000), (s, at) -> s.setString(at, "z".repeat(3000)));
        both("LVARCHAR(200)", "", (s, at) -> s.setString(at, ""));
        both("BOOLEAN", "true", (s, at) -> s.setBoolean(at, true));
        both("BOOLEAN", "false", (s, at) -> s.setObject(at, Boolean.FALSE));
        both("DATE", "1899-12-30", (s, at) -> s.setDate(at, Date.valueOf("1899-12-30")));
        both("DATE", "9999-12-31", (s, at) -> s.setDate(at, Date.valueOf("9999-12-31")));
        both("DATE", "2024-02-29", (s, at) -> s.setString(at, "2024-02-29"));
        both("DATETIME YEAR TO SECOND", "2026-06-20 12:34:56", (s, at) -> s.setTimestamp(at, Timestamp.valueOf("2026-06-20 12:34:56")));
        both("DATETIME YEAR TO FRACTION(5)", "2026-01-02 03:04:05.12345", (s, at) -> s.setTimestamp(at, Timestamp.valueOf("2026-01-02 03:04:05.12345")));
        both("DATETIME YEAR TO FRACTION(3)", "0001-01-01 00:00:00", (s, at) -> s.setTimestamp(at, Timestamp.valueOf("0001-01-01 00:00:00")));
        both("DATETIME YEAR TO DAY", "2026-06-20 00:00:00", (s, at) -> s.setString(at, "2026-06-20"));
        both("DATETIME HOUR TO SECOND", "23:59:58", (s, at) -> s.setTime(at, Time.valueOf("23:59:58")));
        both("DATETIME YEAR TO MONTH", "2026-06-01 00:00:00", (s, at) -> s.setString(at, "2026-06"));
        both("INTERVAL DAY TO SECOND", "3 04:05:06", (s, at) -> s.setString(at, "3 04:05:06"));
        both("INTERVAL DAY(3) TO FRACTION(3)", "-999 23:59:59.999", (s, at) -> s.setString(at, "-999 23:59:59.999"));
        both("INTERVAL YEAR TO MONTH", "12-03", (s, at) -> s.setString(at, "12-03"));
        conversions();
        positions();
    }

    /** Getters other than the column's own, and values that do not fit. */
    private void conversions() throws Exception {
        execute("CREATE TEMP TABLE t_conv (i INT, d DECIMAL(10,2), s VARCHAR(20), ts DATETIME YEAR TO SECOND, b BOOLEAN) WITH NO LOG");
        execute("INSERT INTO t_conv VALUES (42, 12.50, '17', DATETIME(2026-06-20 12:34:56) YEAR TO SECOND, 't')");
        try (Statement statement = connection().createStatement(); ResultSet rows = statement.executeQuery("SELECT * FROM t_conv")) {
            rows.next();
            check("getLong of an INTEGER", 42L, rows.getLong("i"));
            check("getString of an INTEGER", "42", rows.getString("i"));
            check("getDouble of a DECIMAL", 12.5, rows.getDouble("d"));
            check("getInt of a VARCHAR", 17, rows.getInt("s"));
            check("getDate of a DATETIME", "2026-06-20", rows.getDate("ts").toString());
            check("getTime of a DATETIME", "12:34:56", rows.getTime("ts").toString());
            check("getBoolean", rows.getBoolean("b"));
            check("getBigDecimal with its scale", new BigDecimal("12.50"), rows.getBigDecimal("d"));
        }
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_conv (i) VALUES (?)")) {
            fails("text that is no number", -1213, () -> {
                insert.setString(1, "twelve");
                insert.executeUpdate();
            });
        }
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_conv (d) VALUES (?)")) {
            fails("a DECIMAL that is too large", -1226, () -> {
                insert.setBigDecimal(1, new BigDecimal("123456789.5"));
                insert.executeUpdate();
            });
        }
        check("nothing of it was stored", List.of("1"), query("SELECT COUNT(*) FROM t_conv"));
        check("a parameter in a WHERE clause", List.of("42"), query("SELECT i FROM t_conv WHERE d = ? AND s = ? AND b = ?", new BigDecimal("12.5"), "17", true));
        check("a parameter that is cast", List.of("9"), query("SELECT ?::INT FROM systables WHERE tabid = 1", 9));
        execute("DROP TABLE t_conv");
    }

    /** The same columns in every order: a wrong width of one would show in the next. */
    private void positions() throws Exception {
        execute("CREATE TEMP TABLE t_order (a INT8, b VARCHAR(9), c BOOLEAN, d DECIMAL(7,3), e LVARCHAR(50), f DATETIME YEAR TO FRACTION(3), g CHAR(3)) WITH NO LOG");
        execute("INSERT INTO t_order VALUES (-5, 'odd', 'f', -1.125, 'long', DATETIME(2001-02-03 04:05:06.789) YEAR TO FRACTION(3), 'xyz')");
        String[] columns = {"a", "b", "c", "d", "e", "f", "g"};
        String[] values = {"-5", "odd", "false", "-1.125", "long", "2001-02-03 04:05:06.789", "xyz"};
        for (int turn = 0; turn < columns.length; turn++) {
            StringBuilder asked = new StringBuilder();
            StringBuilder expected = new StringBuilder();
            for (int at = 0; at < columns.length; at++) {
                asked.append(at == 0 ? "" : ", ").append(columns[(at + turn) % columns.length]);
                expected.append(at == 0 ? "" : "|").append(values[(at + turn) % columns.length]);
            }
            check("columns from " + columns[turn] + " on", List.of(expected.toString()), query("SELECT " + asked + " FROM t_order"));
        }
        execute("DROP TABLE t_order");
    }
}
