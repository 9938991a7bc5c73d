package tour;

import static tour.Tour.jdbc;
import static tour.Tour.refused;
import static tour.Tour.rows;
import static tour.Tour.step;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Flyway: migrations from nothing, again, with failures, repaired, cleaned. */
public final class FlywayTour {
    private static final String[] FIRST = {"classpath:flyway/first", "classpath:flyway/summary"};
    /** With more migrations; the one that is repeated has changed. */
    private static final String[] SECOND = {"classpath:flyway/first", "classpath:flyway/second", "classpath:flyway/summary2"};
    private static final String[] BAD = {"classpath:flyway/first", "classpath:flyway/second", "classpath:flyway/summary2", "classpath:flyway/bad"};
    private static String url;

    private FlywayTour() {}

    public static void main(String[] arguments) {
        url = arguments[0];
        step("nothing yet", () -> told(flyway(FIRST)));
        step("migrate from nothing", () -> List.of(flyway(FIRST).migrate().migrationsExecuted, told(flyway(FIRST)), ask("select id, name, kind from people order by id"),
            ask("select * from summary order by kind"), ask("select * from countries order by code")));
        step("migrate again", () -> List.of(flyway(FIRST).migrate().migrationsExecuted, flyway(FIRST).validateWithResult().validationSuccessful));
        step("its history", () -> history("flyway_schema_history"));
        step("more", () -> {
            Flyway both = flyway(SECOND);
            both.migrate();
            List<Object> found = new ArrayList<>(told(both));
            both.validate();
            found.addAll(ask("select * from summary order by kind"));
            found.addAll(ask("select code, name from countries where code = 'ZZ'"));
            found.addAll(ask("select indexdef from pg_indexes where tablename = 'people' order by 1"));
            return found;
        });
        step("a migration that fails", () -> {
            Flyway bad = flyway(BAD);
            List<Object> found = new ArrayList<>();
            found.add(refused(bad::migrate));
            found.addAll(told(bad));
            found.addAll(ask("select to_regclass('half') is null as rolled_back"));
            bad.repair();
            found.addAll(history("flyway_schema_history"));
            return found;
        });
        step("a migration that was changed", () -> {
            run("update flyway_schema_history set checksum = 1 where version = '1.1'");
            Flyway both = flyway(SECOND);
            List<Object> found = new ArrayList<>();
            found.add(both.validateWithResult().validationSuccessful);
            found.add(both.repair().migrationsAligned.size());
            found.add(both.validateWithResult().validationSuccessful);
            return found;
        });
        step("in schemas of its own", () -> {
            Flyway other = with(FIRST).schemas("Other", "more").createSchemas(true).table("History").load();
            List<Object> found = new ArrayList<>();
            found.add(other.migrate().migrationsExecuted);
            found.addAll(history("\"Other\".\"History\""));
            found.addAll(ask("select nspname from pg_namespace where nspname in ('Other', 'more') order by 1"));
            other.clean();
            found.addAll(ask("select nspname from pg_namespace where nspname in ('Other', 'more') order by 1"));
            return found;
        });
        step("a baseline", () -> {
            run("create schema legacy; create table legacy.kept (x int)");
            FluentConfiguration legacy = with(FIRST).schemas("legacy").baselineVersion("1.1").baselineDescription("as it was");
            List<Object> found = new ArrayList<>();
            found.add(refused(() -> legacy.load().migrate()));
            legacy.load().baseline();
            found.addAll(told(legacy.load()));
            found.addAll(ask("select count(*) from legacy.kept"));
            return found;
        });
        step("several at once", () -> {
            run("create schema raced");
            List<java.util.concurrent.CompletableFuture<Integer>> runs = new ArrayList<>();
            for (int n = 0; n < 3; n++) {
                runs.add(java.util.concurrent.CompletableFuture.supplyAsync(() -> with(FIRST).schemas("raced").load().migrate().migrationsExecuted));
            }
            int executed = 0;
            for (var made : runs) {
                executed += made.get();
            }
            return executed;
        });
        step("clean", () -> {
            flyway(FIRST).clean();
            return ask("select relname from pg_class where relnamespace = 'public'::regnamespace union all select typname from pg_type where typnamespace = 'public'::regnamespace "
                + "union all select proname from pg_proc where pronamespace = 'public'::regnamespace and proname = 'touched'");
        });
        step("and from nothing again", () -> flyway(FIRST).migrate().migrationsExecuted);
        step("two connections that write", () -> with(FIRST).configuration(Map.of("flyway.postgresql.transactional.lock", "true")).schemas("locked")
            .initSql("set lock_timeout = 100").load().migrate().migrationsExecuted);
    }

    private static Flyway flyway(String... locations) {
        return with(locations).load();
    }

    private static FluentConfiguration with(String... locations) {
        return Flyway.configure().dataSource(jdbc(url, ""), null, null).locations(locations).placeholders(Map.of("length", "80")).cleanDisabled(false).failOnMissingLocations(true)
            // Its lock in a transaction needs a second connection that writes meanwhile; see the last step.
            .configuration(Map.of("flyway.postgresql.transactional.lock", "false"));
    }

    private static List<Object> told(Flyway flyway) {
        List<Object> found = new ArrayList<>();
        for (MigrationInfo info : flyway.info().all()) {
            found.add(info.getState() + " " + info.getVersion() + " " + info.getDescription() + " " + info.getChecksum());
        }
        return found;
    }

    private static List<Object> history(String table) throws SQLException {
        return ask("select installed_rank, version, description, type, script, checksum, installed_by, installed_on <= now() as past, execution_time >= 0 as took, success from " + table + " order by 1");
    }

    private static List<Object> ask(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbc(url, "")); Statement statement = connection.createStatement()) {
            return rows(statement.executeQuery(sql));
        }
    }

    private static void run(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbc(url, "")); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
