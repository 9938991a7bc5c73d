package rowferry.tour;

import java.sql.BatchUpdateException;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Batches: whole, and with a failing element at the beginning, in the middle, at the end. */
final class Batches extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_batch (id INT PRIMARY KEY, name VARCHAR(40))");
        // Many rows in one transaction, so that it is not the disk that is measured.
        connection().setAutoCommit(false);
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_batch VALUES (?, ?)")) {
            int sum = 0;
            for (int number = 1; number <= 2500; number++) {
                insert.setInt(1, number);
                insert.setString(2, "row " + number);
                insert.addBatch();
            }
            for (int count : insert.executeBatch()) {
                sum += count;
            }
            check("2500 rows", 2500, sum);
            check("the sum of what was stored", List.of("2500|3126250"), query("SELECT COUNT(*), SUM(id) FROM t_batch"));
            connection().commit();
            connection().setAutoCommit(true);
            failing(insert, "first", new int[] {1, 3001, 3002}, 0);
            failing(insert, "middle", new int[] {4001, 1, 4002}, 1);
            failing(insert, "last", new int[] {5001, 5002, 1}, 2);
            insert.clearBatch();
            check("an empty batch", 0, insert.executeBatch().length);
        }
        check("after failing batches", List.of("4001", "5001", "5002"), query("SELECT id FROM t_batch WHERE id > 2500 ORDER BY id"));
        try (PreparedStatement update = connection().prepareStatement("UPDATE t_batch SET name = ? WHERE id <= ?")) {
            for (int upTo : new int[] {3, 0, 1}) {
                update.setString(1, "changed " + upTo);
                update.setInt(2, upTo);
                update.addBatch();
            }
            check("counts of an UPDATE", new int[] {3, 0, 1}, update.executeBatch());
        }
        try (Statement statement = connection().createStatement()) {
            statement.addBatch("DELETE FROM t_batch WHERE id > 2500");
            statement.addBatch("INSERT INTO t_batch VALUES (6001, 'x')");
            statement.addBatch("UPDATE t_batch SET name = 'y' WHERE id = 6001");
            check("different statements", new int[] {3, 1, 1}, statement.executeBatch());
            statement.addBatch("INSERT INTO t_batch VALUES (6002, 'x')");
            statement.addBatch("INSERT INTO nosuch VALUES (1)");
            statement.addBatch("INSERT INTO t_batch VALUES (6003, 'x')");
            try {
                statement.executeBatch();
                check("a failing statement", false);
            } catch (BatchUpdateException failure) {
                check("statements before the failing one", 1, failure.getUpdateCounts().length);
                check("the failing one's code", -206, failure.getErrorCode());
            }
        }
        check("after different statements", List.of("6001|y", "6002|x"), query("SELECT id, name FROM t_batch WHERE id > 2500 ORDER BY id"));
        connection().setAutoCommit(false);
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_batch VALUES (?, ?)")) {
            for (int number : new int[] {7001, 1}) {
                insert.setInt(1, number);
                insert.setString(2, "in a transaction");
                insert.addBatch();
            }
            fails("in a transaction", -268, insert::executeBatch);
        }
        connection().rollback();
        connection().setAutoCommit(true);
        check("rolled back", List.of("0"), query("SELECT COUNT(*) FROM t_batch WHERE id > 7000"));
        execute("DROP TABLE t_batch");
    }

    private void failing(PreparedStatement insert, String which, int[] numbers, int before) throws SQLException {
        for (int number : numbers) {
            insert.setInt(1, number);
            insert.setString(2, which);
            insert.addBatch();
        }
        try {
            insert.executeBatch();
            check(which + " element fails", false);
        } catch (BatchUpdateException failure) {
            check(which + " element fails", before, failure.getUpdateCounts().length);
            check(which + " element's code", -268, failure.getErrorCode());
        }
    }
}
