package tour;

import static tour.Tour.ask;
import static tour.Tour.refused;
import static tour.Tour.run;
import static tour.Tour.step;
import static tour.Tour.tables;

import java.util.ArrayList;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;

/** Flyway: migrations from nothing, again, with failures, repaired, cleaned. */
public final class FlywayTour {
    private static final String[] FIRST = {"classpath:flyway/first"};
    private static final String[] SECOND = {"classpath:flyway/first", "classpath:flyway/second"};
    private static final String[] BAD = {"classpath:flyway/first", "classpath:flyway/second", "classpath:flyway/bad"};

    private FlywayTour() {}

    public static void main(String[] arguments) {
        Tour.begin(arguments);
        step("nothing yet", "[Pending 1, Pending 2]", () -> told(flyway(FIRST)));
        step("migrate from nothing", "2", () -> flyway(FIRST).migrate().migrationsExecuted);
        step("what was made", "[1|Ann|person, 2|Bob; with semicolon|person]", () -> ask("select id, name, kind from people order by id"));
        step("a routine with semicolons", "[3]", () -> ask("execute function plus_one(2)"));
        step("migrate again", "0", () -> flyway(FIRST).migrate().migrationsExecuted);
        step("validate", "true", () -> flyway(FIRST).validateWithResult().validationSuccessful);
        step("its history", "[0|null|<< Flyway Schema Creation >>|SCHEMA|informix|informix|1, 1|1|people|SQL|V1__people.sql|informix|1, 2|2|routine|SQL|V2__routine.sql|informix|1]",
            () -> ask("select installed_rank, version, description, type, script, installed_by, success from flyway_schema_history order by 1"));
        step("more", "[Success null, Success 1, Success 2, Success 3, Success null]", () -> {
            flyway(SECOND).migrate();
            return told(flyway(SECOND));
        });
        step("what more was made", "[1|Ann, 2|Bob; with semicolon, 3|Cid]", () -> ask("select id, name from known order by id"));
        step("a migration that fails", "FlywayMigrateException", () -> refused(() -> flyway(BAD).migrate()));
        step("what failed is pending", "[Success null, Success 1, Success 2, Success 3, Success null, Pending 4]", () -> told(flyway(BAD)));
        step("repair", "[Success null, Success 1, Success 2, Success 3, Success null, Pending 4]", () -> {
            run("drop table if exists half");
            flyway(BAD).repair();
            return told(flyway(BAD));
        });
        step("a migration that was changed", "false true", () -> {
            run("update flyway_schema_history set checksum = 1 where version = '2'");
            boolean before = flyway(SECOND).validateWithResult().validationSuccessful;
            flyway(SECOND).repair();
            return before + " " + flyway(SECOND).validateWithResult().validationSuccessful;
        });
        step("clean", "[]", () -> {
            flyway(SECOND).clean();
            return tables();
        });
        step("a baseline", "[Ignored (Baseline) 1, Baseline 1, Success 2]", () -> {
            run("create table people (id int, name varchar(20), kind varchar(10))");
            Flyway based = Flyway.configure().dataSource(Tour.url, "informix", "in4mix").locations(FIRST).baselineVersion("1").executeInTransaction(false).cleanDisabled(false).load();
            based.baseline();
            based.migrate();
            List<String> found = told(based);
            based.clean();
            return found;
        });
        step("and from nothing again", "4", () -> flyway(SECOND).migrate().migrationsExecuted);
        step("in a transaction", "4", () -> {
            flyway(SECOND).clean();
            return Flyway.configure().dataSource(Tour.url, "informix", "in4mix").locations(SECOND).load().migrate().migrationsExecuted;
        });
    }

    /** It notes each migration from a second connection, so the first one must have committed. */
    private static Flyway flyway(String... locations) {
        return Flyway.configure().dataSource(Tour.url, "informix", "in4mix").locations(locations).executeInTransaction(false).cleanDisabled(false).load();
    }

    private static List<String> told(Flyway flyway) {
        List<String> found = new ArrayList<>();
        for (MigrationInfo info : flyway.info().all()) {
            found.add(info.getState().getDisplayName() + " " + info.getVersion());
        }
        return found;
    }
}
