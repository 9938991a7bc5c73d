package rowferry.tour;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Reading: scroll cursors in every direction, hold cursors, several at once. */
final class Cursors extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_cursor (id INT, name VARCHAR(60))");
        connection().setAutoCommit(false);
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_cursor VALUES (?, ?)")) {
            for (int number = 1; number <= 1000; number++) {
                insert.setInt(1, number);
                insert.setString(2, "row " + number);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        connection().commit();
        scroll("SELECT id FROM t_cursor ORDER BY id", "fixed width");
        scroll("SELECT id, name FROM t_cursor ORDER BY id", "variable width");
        several();
        hold();
        connection().setAutoCommit(true);
        large();
        execute("DROP TABLE t_cursor");
    }

    private void scroll(String sql, String kind) throws Exception {
        try (Statement statement = connection().createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
                ResultSet rows = statement.executeQuery(sql)) {
            check(kind + ": before the first", rows.isBeforeFirst());
            List<Integer> seen = new ArrayList<>();
            rows.next();
            seen.add(rows.getInt(1));
            check(kind + ": isFirst", rows.isFirst());
            rows.last();
            seen.add(rows.getInt(1));
            check(kind + ": isLast", rows.isLast());
            check(kind + ": getRow", 1000, rows.getRow());
            rows.first();
            seen.add(rows.getInt(1));
            rows.absolute(500);
            seen.add(rows.getInt(1));
            rows.relative(-10);
            seen.add(rows.getInt(1));
            rows.relative(5);
            seen.add(rows.getInt(1));
            rows.previous();
            seen.add(rows.getInt(1));
            rows.absolute(-1);
            seen.add(rows.getInt(1));
            rows.absolute(-1000);
            seen.add(rows.getInt(1));
            check(kind + ": moves", List.of(1, 1000, 1, 500, 490, 495, 494, 1000, 1), seen);
            check(kind + ": before the beginning", !rows.previous() && rows.isBeforeFirst());
            check(kind + ": beyond the end", !rows.absolute(1001) && rows.isAfterLast());
            check(kind + ": back from there", rows.previous() && rows.getInt(1) == 1000);
            rows.afterLast();
            int backwards = 0;
            while (rows.previous()) {
                backwards++;
            }
            check(kind + ": all of it backwards", 1000, backwards);
            rows.beforeFirst();
            int forwards = 0;
            while (rows.next()) {
                forwards++;
            }
            check(kind + ": all of it forwards", 1000, forwards);
        }
        try (Statement statement = connection().createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
                ResultSet rows = statement.executeQuery("SELECT id FROM t_cursor WHERE id < 0")) {
            check(kind + ": none", !rows.last() && !rows.first() && !rows.next());
        }
    }

    private void several() throws Exception {
        try (PreparedStatement outer = connection().prepareStatement("SELECT id FROM t_cursor WHERE id <= ? ORDER BY id");
                PreparedStatement inner = connection().prepareStatement("SELECT name FROM t_cursor WHERE id = ?");
                PreparedStatement change = connection().prepareStatement("UPDATE t_cursor SET name = ? WHERE id = ?")) {
            outer.setInt(1, 900);
            int pairs = 0;
            try (ResultSet ids = outer.executeQuery()) {
                while (ids.next()) {
                    inner.setInt(1, ids.getInt(1));
                    try (ResultSet names = inner.executeQuery()) {
                        if (names.next() && names.getString(1).equals("row " + ids.getInt(1))) {
                            pairs++;
                        }
                    }
                    change.setString(1, "changed");
                    change.setInt(2, ids.getInt(1));
                    change.executeUpdate();
                }
            }
            check("a query and an UPDATE per row of another query", 900, pairs);
            connection().rollback();
        }
        try (PreparedStatement again = connection().prepareStatement("SELECT id FROM t_cursor WHERE id = ?")) {
            int found = 0;
            for (int number = 1; number <= 50; number++) {
                again.setInt(1, number);
                try (ResultSet rows = again.executeQuery()) {
                    found += rows.next() && rows.getInt(1) == number ? 1 : 0;
                }
            }
            check("one statement, executed 50 times", 50, found);
        }
        try (Statement limited = connection().createStatement()) {
            limited.setMaxRows(7);
            limited.setFetchSize(3);
            try (ResultSet rows = limited.executeQuery("SELECT id FROM t_cursor")) {
                check("setMaxRows", 7, rows(rows).size());
            }
        }
    }

    private void hold() throws Exception {
        try (Statement held = connection().createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT);
                ResultSet rows = held.executeQuery("SELECT id, name FROM t_cursor ORDER BY id")) {
            int count = 0;
            while (rows.next()) {
                count++;
                if (count == 10) {
                    connection().commit();
                    execute("UPDATE t_cursor SET name = 'held' WHERE id = 1");
                    connection().commit();
                }
            }
            check("a hold cursor goes on after COMMIT", 1000, count);
        }
        Connection other = connect();
        other.setAutoCommit(false);
        other.setHoldability(ResultSet.CLOSE_CURSORS_AT_COMMIT);
        try (Statement closed = other.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY, ResultSet.CLOSE_CURSORS_AT_COMMIT)) {
            ResultSet rows = closed.executeQuery("SELECT id, name FROM t_cursor ORDER BY id");
            rows.next();
            other.commit();
            boolean ended = false;
            try {
                while (rows.next()) {
                    // What the driver has read ahead may still come.
                }
            } catch (java.sql.SQLException failure) {
                ended = true;
            }
            check("a cursor without hold ends with its transaction", ended);
        }
        other.rollback();
        try (Statement held = other.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT);
                ResultSet rows = held.executeQuery("SELECT id FROM t_cursor ORDER BY id")) {
            rows.absolute(3);
            other.commit();
            rows.absolute(800);
            check("a scroll cursor that is held", 800, rows.getInt(1));
            rows.first();
            check("and back", 1, rows.getInt(1));
        }
        other.commit();
    }

    private void large() throws Exception {
        try (Statement statement = connection().createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
                ResultSet rows = statement.executeQuery("SELECT a.id, b.name, a.name FROM t_cursor a, t_cursor b WHERE b.id <= 200 ORDER BY a.id, b.id")) {
            rows.last();
            check("200,000 rows of a scroll cursor", 200000, rows.getRow());
            rows.absolute(100001);
            check("one in the middle", 501, rows.getInt(1));
            rows.first();
            check("the first again", 1, rows.getInt(1));
        }
    }
}
