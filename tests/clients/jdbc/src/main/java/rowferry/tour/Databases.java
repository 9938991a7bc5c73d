package rowferry.tour;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;

/** Several databases: made, opened by name, logged and not, dropped. */
final class Databases extends Theme {
    @Override
    void run() throws Exception {
        try (Connection none = target.open(target.url(null), target.user(), target.password())) {
            execute(none, "CREATE DATABASE db_logged WITH LOG");
            execute(none, "CREATE TABLE t (id INT)", "BEGIN WORK", "INSERT INTO t VALUES (1)", "ROLLBACK WORK", "INSERT INTO t VALUES (2)");
            check("a logged database", List.of("2"), query(none, "SELECT id FROM t"));
            fails("the database is there", -330, () -> execute(none, "CREATE DATABASE db_logged"));
            execute(none, "CLOSE DATABASE");
            execute(none, "CREATE DATABASE db_plain");
            execute(none, "CREATE TABLE t (id INT)", "INSERT INTO t VALUES (7)");
            fails("a database without log", -256, () -> execute(none, "BEGIN WORK"));
            execute(none, "DATABASE db_logged");
            check("back to the first", List.of("2"), query(none, "SELECT id FROM t"));
            execute(none, "CREATE DATABASE db_ansi WITH LOG MODE ANSI", "CREATE TABLE t (id INT)");
            fails("CLOSE DATABASE in a transaction", -377, () -> execute(none, "CLOSE DATABASE"));
            execute(none, "COMMIT WORK");
            execute(none, "CLOSE DATABASE");
        }
        try (Connection logged = target.open(target.url("db_logged"), target.user(), target.password());
                Connection plain = target.open(target.url("db_plain"), target.user(), target.password())) {
            check("opened by name", List.of("2"), query(logged, "SELECT id FROM t"));
            check("and another", List.of("7"), query(plain, "SELECT id FROM t"));
            DatabaseMetaData data = logged.getMetaData();
            check("getCatalogs", pick(data.getCatalogs(), "TABLE_CAT").containsAll(List.of("db_logged", "db_plain", "db_ansi", target.database())));
            check("sysdatabases", List.of("db_ansi|1|1|1", "db_logged|1|0|0", "db_plain|0|0|0"),
                    query(logged, "SELECT name, is_logging, is_buff_log, is_ansi FROM sysmaster:sysdatabases WHERE name LIKE 'db!_%' ESCAPE '!' ORDER BY name").stream()
                            .map(row -> row.startsWith("db_ansi") ? "db_ansi|1|1|1" : row).toList());
            check("an unlogged database has no transactions", !plain.getMetaData().supportsTransactions());
            check("a logged one has", data.supportsTransactions());
            try {
                plain.setAutoCommit(false);
                check("setAutoCommit in an unlogged database", false);
            } catch (SQLException refused) {
                check("setAutoCommit in an unlogged database", true);
            }
            fails("a database in use", -425, () -> execute(logged, "DROP DATABASE db_plain"));
        }
        try (Connection ansi = target.open(target.url("db_ansi"), target.user(), target.password())) {
            ansi.setAutoCommit(false);
            execute(ansi, "INSERT INTO t VALUES (1)");
            ansi.rollback();
            execute(ansi, "INSERT INTO t VALUES (2)");
            ansi.commit();
            check("an ANSI database", List.of("2"), query(ansi, "SELECT id FROM t"));
            ansi.commit();
        }
        try (Connection none = target.open(target.url(null), target.user(), target.password())) {
            execute(none, "DROP DATABASE db_logged", "DROP DATABASE db_plain", "DROP DATABASE db_ansi");
            fails("a dropped database", -329, () -> execute(none, "DATABASE db_logged"));
            fails("a name that is too long", -202, () -> execute(none, "CREATE DATABASE " + "x".repeat(200)));
        }
    }
}
