package rowferry.tour;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;

/** Changing rows through cursors: WHERE CURRENT OF, updatable result sets, insert cursors. */
final class Changing extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_change (id SERIAL PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2))");
        execute("INSERT INTO t_change VALUES (1, 'one', 1.00)", "INSERT INTO t_change VALUES (2, 'two', 2.00)",
                "INSERT INTO t_change VALUES (3, 'three', 3.00)", "INSERT INTO t_change VALUES (4, 'four', 4.00)");
        connection().setAutoCommit(false);
        currentOf();
        updatable();
        connection().setAutoCommit(true);
        put();
        execute("DROP TABLE t_change");
    }

    private void currentOf() throws Exception {
        try (Statement reading = connection().createStatement(); Statement changing = connection().createStatement()) {
            reading.setCursorName("c_change");
            ResultSet rows = reading.executeQuery("SELECT id, name FROM t_change WHERE id < 4 FOR UPDATE");
            check("the cursor's name", "c_change", rows.getCursorName());
            while (rows.next()) {
                int id = rows.getInt(1);
                if (id == 2) {
                    check("UPDATE WHERE CURRENT OF", 1, changing.executeUpdate("UPDATE t_change SET name = 'current' WHERE CURRENT OF c_change"));
                } else if (id == 3) {
                    check("DELETE WHERE CURRENT OF", 1, changing.executeUpdate("DELETE FROM t_change WHERE CURRENT OF c_change"));
                }
            }
            rows.close();
            fails("a cursor that is closed", -507, () -> changing.executeUpdate("DELETE FROM t_change WHERE CURRENT OF c_change"));
            fails("a cursor that is not known", -507, () -> changing.executeUpdate("DELETE FROM t_change WHERE CURRENT OF c_unknown"));
        }
        connection().commit();
        check("after WHERE CURRENT OF", List.of("1|one", "2|current", "4|four"), query("SELECT id, name FROM t_change ORDER BY id"));
        try (Statement reading = connection().createStatement();
                PreparedStatement changing = connection().prepareStatement("UPDATE t_change SET price = ? WHERE CURRENT OF c_param")) {
            reading.setCursorName("c_param");
            try (ResultSet rows = reading.executeQuery("SELECT id, name, price FROM t_change FOR UPDATE OF price")) {
                while (rows.next()) {
                    changing.setBigDecimal(1, rows.getBigDecimal(3).add(BigDecimal.TEN));
                    changing.executeUpdate();
                }
            }
        }
        connection().commit();
        check("with a parameter", List.of("11.00", "12.00", "14.00"), query("SELECT price FROM t_change ORDER BY id"));
    }

    private void updatable() throws Exception {
        try (Statement statement = connection().createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
                ResultSet rows = statement.executeQuery("SELECT id, name, price FROM t_change")) {
            check("concurrency", ResultSet.CONCUR_UPDATABLE, rows.getConcurrency());
            while (rows.next()) {
                if (rows.getInt(1) == 1) {
                    rows.updateString("name", "updated");
                    rows.updateBigDecimal("price", new BigDecimal("9.75"));
                    rows.updateRow();
                } else if (rows.getInt(1) == 2) {
                    rows.deleteRow();
                }
            }
        }
        connection().commit();
        check("updateRow and deleteRow", List.of("1|updated|9.75", "4|four|14.00"), query("SELECT id, name, price FROM t_change ORDER BY id"));
        try (Statement statement = connection().createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
                ResultSet rows = statement.executeQuery("SELECT id, name, price FROM t_change")) {
            rows.next();
            rows.moveToInsertRow();
            rows.updateInt(1, 50);
            rows.updateString(2, "inserted");
            rows.updateBigDecimal(3, new BigDecimal("5.50"));
            rows.insertRow();
            rows.moveToCurrentRow();
        }
        connection().commit();
        check("insertRow", List.of("50|inserted|5.50"), query("SELECT id, name, price FROM t_change WHERE id = 50"));
    }

    private void put() throws Exception {
        execute("CREATE TABLE t_put (id INT, name VARCHAR(20), flag BOOLEAN, price DECIMAL(8,2), moment DATETIME YEAR TO SECOND)");
        Connection putting = connect("IFX_USEPUT=1");
        putting.setAutoCommit(false);
        try (PreparedStatement insert = putting.prepareStatement("INSERT INTO t_put (id, name) VALUES (?, ?)")) {
            for (int number = 1; number <= 1200; number++) {
                insert.setInt(1, number);
                insert.setString(2, number % 7 == 0 ? null : "put " + number);
                insert.addBatch();
            }
            int[] counts = insert.executeBatch();
            check("an insert cursor's counts", 1200, counts.length);
        }
        putting.commit();
        check("an insert cursor's rows", List.of("1200|720600|1029"), query("SELECT COUNT(*), SUM(id), COUNT(name) FROM t_put"));
        check("one of them", List.of("put 1199"), query("SELECT name FROM t_put WHERE id = 1199"));
        try (PreparedStatement insert = putting.prepareStatement("INSERT INTO t_put (id, name) VALUES (?, ?)")) {
            insert.setInt(1, 5000);
            insert.setString(2, "rolled back");
            insert.addBatch();
            insert.executeBatch();
        }
        putting.rollback();
        check("rolled back", List.of("0"), query("SELECT COUNT(*) FROM t_put WHERE id = 5000"));
        putting.close();
        execute("DROP TABLE t_put");
    }
}
