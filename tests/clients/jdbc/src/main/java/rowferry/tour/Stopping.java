package rowferry.tour;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Statements that take too long: time-out, cancel. */
final class Stopping extends Theme {
    private static final String ENDLESS = "SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, syscolumns d, syscolumns e";

    @Override
    void run() throws Exception {
        connection();
        try (Statement statement = connection().createStatement()) {
            statement.setQueryTimeout(1);
            check("the time-out is kept", 1, statement.getQueryTimeout());
            try {
                statement.executeQuery(ENDLESS).next();
                check("setQueryTimeout", false);
            } catch (SQLException failure) {
                report("setQueryTimeout", "-80505 or -213", failure.getErrorCode() + " " + failure,
                        failure.getErrorCode() == -80505 || failure.getErrorCode() == -213 || Math.abs(failure.getErrorCode()) == 80505
                        || Math.abs(failure.getErrorCode()) == 79716);
            }
        }
        check("after a time-out", List.of("1"), query("SELECT 1 FROM systables WHERE tabid = 1"));
        connection().setAutoCommit(false);
        execute("CREATE TABLE t_stopped (id INT)", "INSERT INTO t_stopped VALUES (1)");
        try (Statement statement = connection().createStatement()) {
            ExecutorService pool = Executors.newSingleThreadExecutor();
            try {
                Future<Integer> running = pool.submit(() -> {
                    try {
                        statement.executeQuery(ENDLESS).next();
                        return 0;
                    } catch (SQLException failure) {
                        return failure.getErrorCode();
                    }
                });
                // A cancel that comes before the statement runs stops nothing, so it is said again until it does.
                while (!running.isDone()) {
                    statement.cancel();
                    try {
                        running.get(200, TimeUnit.MILLISECONDS);
                    } catch (java.util.concurrent.TimeoutException notYet) {
                        continue;
                    }
                }
                check("cancel from another thread", -213, running.get());
            } finally {
                pool.shutdownNow();
            }
        }
        connection().commit();
        connection().setAutoCommit(true);
        check("the transaction survives", List.of("1"), query("SELECT id FROM t_stopped"));
        execute("DROP TABLE t_stopped");
    }
}
