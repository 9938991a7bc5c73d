package rowferry.tour;

import java.sql.Connection;
import java.sql.Savepoint;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Commit, roll back, savepoints, isolation, locks. */
final class Transactions extends Theme {
    @Override
    void run() throws Exception {
        Connection c = connection();
        execute("CREATE TABLE t_work (id INT PRIMARY KEY, name VARCHAR(20))");
        c.setAutoCommit(false);
        execute("INSERT INTO t_work VALUES (1, 'kept')");
        c.commit();
        execute("INSERT INTO t_work VALUES (2, 'lost')");
        c.rollback();
        check("commit and rollback", List.of("1"), query("SELECT id FROM t_work"));
        savepoints(c);
        c.commit();
        c.setAutoCommit(true);
        execute("INSERT INTO t_work VALUES (20, 'alone')");
        Connection other = connect();
        check("autocommit commits", List.of("1"), query(other, "SELECT COUNT(*) FROM t_work WHERE id = 20"));
        c.setAutoCommit(false);
        execute("INSERT INTO t_work VALUES (21, 'switched')");
        c.setAutoCommit(true);
        check("switching autocommit on commits", List.of("1"), query(other, "SELECT COUNT(*) FROM t_work WHERE id = 21"));
        words(other);
        isolation(c);
        locks();
        failing(c);
        execute("DROP TABLE t_work");
    }

    private void savepoints(Connection c) throws Exception {
        execute("INSERT INTO t_work VALUES (3, 'before')");
        Savepoint named = c.setSavepoint("sp_named");
        execute("INSERT INTO t_work VALUES (4, 'undone')");
        Savepoint nameless = c.setSavepoint();
        execute("INSERT INTO t_work VALUES (5, 'undone too')");
        c.rollback(nameless);
        check("back to a nameless savepoint", List.of("1", "3", "4"), query("SELECT id FROM t_work ORDER BY id"));
        c.rollback(named);
        check("back to a named savepoint", List.of("1", "3"), query("SELECT id FROM t_work ORDER BY id"));
        execute("INSERT INTO t_work VALUES (6, 'again')");
        c.rollback(named);
        c.releaseSavepoint(named);
        execute("SAVEPOINT sp_sql");
        execute("INSERT INTO t_work VALUES (7, 'undone')");
        execute("ROLLBACK WORK TO SAVEPOINT sp_sql");
        execute("RELEASE SAVEPOINT sp_sql");
        check("after all savepoints", List.of("1", "3"), query("SELECT id FROM t_work ORDER BY id"));
    }

    /** The statements that a program may write itself. */
    private void words(Connection other) throws Exception {
        execute(other, "BEGIN WORK", "INSERT INTO t_work VALUES (30, 'words')", "ROLLBACK WORK");
        check("BEGIN WORK … ROLLBACK WORK", List.of("0"), query(other, "SELECT COUNT(*) FROM t_work WHERE id = 30"));
        fails("ROLLBACK outside", -255, () -> execute(other, "ROLLBACK WORK"));
        fails("COMMIT outside", -255, () -> execute(other, "COMMIT WORK"));
        execute(other, "BEGIN WORK");
        // The driver, which commits by itself here, ends the transaction after the failure.
        fails("BEGIN in a transaction", -535, () -> execute(other, "BEGIN WORK"));
        check("after it", List.of("1"), query(other, "SELECT COUNT(*) FROM t_work WHERE id = 1"));
    }

    private void isolation(Connection c) throws Exception {
        for (int level : new int[] {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_READ_COMMITTED,
            Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
            c.setTransactionIsolation(level);
            check("isolation " + level, true, query("SELECT COUNT(*) FROM t_work").size() == 1);
        }
        execute("SET ISOLATION TO CURSOR STABILITY", "SET ISOLATION TO COMMITTED READ LAST COMMITTED", "SET ISOLATION TO DIRTY READ",
                "SET ISOLATION TO COMMITTED READ", "SET LOCK MODE TO WAIT 5", "SET LOCK MODE TO NOT WAIT", "SET LOCK MODE TO WAIT");
        c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }

    private void locks() throws Exception {
        Connection first = connect();
        Connection second = connect();
        first.setAutoCommit(false);
        second.setAutoCommit(false);
        execute(first, "UPDATE t_work SET name = 'first' WHERE id = 1");
        check("readers do not wait", List.of("kept"), query(second, "SELECT name FROM t_work WHERE id = 1"));
        second.rollback();
        execute(second, "SET LOCK MODE TO NOT WAIT");
        fails("NOT WAIT", -244, () -> execute(second, "UPDATE t_work SET name = 'second' WHERE id = 1"));
        second.rollback();
        execute(second, "SET LOCK MODE TO WAIT 20");
        ExecutorService pool = Executors.newSingleThreadExecutor();
        CountDownLatch begun = new CountDownLatch(1);
        try {
            Future<?> waiting = pool.submit(() -> {
                begun.countDown();
                execute(second, "UPDATE t_work SET name = 'second' WHERE id = 1");
                second.commit();
                return null;
            });
            begun.await(10, TimeUnit.SECONDS);
            first.commit();
            waiting.get(30, TimeUnit.SECONDS);
        } finally {
            pool.shutdownNow();
        }
        check("WAIT", List.of("second"), query("SELECT name FROM t_work WHERE id = 1"));
    }

    /** A failed statement does not end a transaction. */
    private void failing(Connection c) throws Exception {
        c.setAutoCommit(false);
        execute("INSERT INTO t_work VALUES (40, 'stays')");
        fails("a duplicate", -268, () -> execute("INSERT INTO t_work VALUES (40, 'again')"));
        execute("INSERT INTO t_work VALUES (41, 'goes on')");
        c.commit();
        check("the transaction goes on", List.of("40", "41"), query("SELECT id FROM t_work WHERE id >= 40 ORDER BY id"));
        c.commit();
        c.setAutoCommit(true);
    }
}
