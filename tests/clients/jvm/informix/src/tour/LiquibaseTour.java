package tour;

import static tour.Tour.ask;
import static tour.Tour.connect;
import static tour.Tour.refused;
import static tour.Tour.run;
import static tour.Tour.step;
import static tour.Tour.tables;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.Map;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.changelog.FastCheckService;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.DiffGeneratorFactory;
import liquibase.diff.DiffResult;
import liquibase.diff.compare.CompareControl;
import liquibase.diff.output.DiffOutputControl;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.logging.core.NoOpLogService;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.ui.LoggerUIService;

/** Liquibase: a changelog forth and back, what it reads of a database. */
public final class LiquibaseTour {
    private LiquibaseTour() {}

    /** Something done with a changelog and a database. */
    @FunctionalInterface
    private interface Work {
        Object run(Liquibase liquibase) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Tour.begin(arguments);
        System.setProperty("liquibase.analytics.enabled", "false");
        Scope.child(Map.of(Scope.Attr.logService.name(), new NoOpLogService(), Scope.Attr.ui.name(), new LoggerUIService()), LiquibaseTour::tour);
    }

    private static void tour() {
        step("the database is recognised", "informix", () -> with(liquibase -> liquibase.getDatabase().getShortName()));
        step("nothing yet", "9", () -> with(liquibase -> liquibase.listUnrunChangeSets(new Contexts(), new LabelExpression()).size()));
        step("what it would run", "true", () -> with(liquibase -> {
            StringWriter sql = new StringWriter();
            liquibase.update("", sql);
            return sql.toString().contains("CREATE TABLE");
        }));
        step("update in part", "[Ann|7, O'Neil|null]", () -> with(liquibase -> {
            liquibase.update(3, "");
            return ask("select name, small from people order by id");
        }));
        step("update to the end", "[Ann, O'Neil]", () -> with(liquibase -> {
            liquibase.update("");
            return ask("select name from active_people order by id");
        }));
        step("a text of several lines", "[true]", () -> with(liquibase -> ask("select case when length(note) > 8 then 'true' else note end from notes")));
        step("data from a file", "[1|red, 2|blue]", () -> ask("select person_id, tag from labels order by 1"));
        step("update again", "0 9", () -> with(liquibase -> {
            liquibase.validate();
            liquibase.update("");
            return liquibase.listUnrunChangeSets(new Contexts(), new LabelExpression()).size() + " " + liquibase.getDatabase().getRanChangeSetList().size();
        }));
        step("its history", "[1|EXECUTED, 2|EXECUTED, 3|EXECUTED, 4|EXECUTED, 5|EXECUTED, 6|MARK_RAN, 7|EXECUTED, 8|EXECUTED, 9|EXECUTED]", () -> ask("select id, exectype from databasechangelog order by orderexecuted"));
        step("its lock", "1 0", () -> with(liquibase -> {
            run("update databasechangeloglock set locked = 't', lockedby = 'nobody', lockgranted = current");
            int held = liquibase.listLocks().length;
            liquibase.forceReleaseLocks();
            return held + " " + liquibase.listLocks().length;
        }));
        step("roll back one", "0", () -> with(liquibase -> {
            liquibase.rollback(1, "");
            String left = ask("select count(*) from labels").get(0);
            liquibase.update("");
            return left;
        }));
        step("a database in its words", "true", () -> {
            try (Connection connection = connect()) {
                Database database = database(connection);
                Database empty = DatabaseFactory.getInstance().openDatabase("offline:informix?outputLiquibaseSql=none", null, null, null, new ClassLoaderResourceAccessor());
                DiffResult difference = DiffGeneratorFactory.getInstance().compare(database, empty, new CompareControl());
                ByteArrayOutputStream written = new ByteArrayOutputStream();
                DiffToChangeLog changelog = new DiffToChangeLog(difference, new DiffOutputControl(false, false, true, null));
                changelog.setIdRoot("made");
                changelog.setChangeSetAuthor("tour");
                changelog.print(new PrintStream(written, true, StandardCharsets.UTF_8), new liquibase.serializer.core.xml.XMLChangeLogSerializer());
                String text = written.toString(StandardCharsets.UTF_8);
                for (String wanted : new String[] {"tableName=\"people\"", "tableName=\"labels\"", "orders_of", "active_people", "people_name"}) {
                    if (!text.contains(wanted)) {
                        return wanted + " is not in " + text;
                    }
                }
                return true;
            }
        });
        step("roll back to a tag", "[databasechangelog, databasechangeloglock, orders, people]", () -> with(liquibase -> {
            liquibase.rollback("filled", "");
            return tables();
        }));
        step("roll back everything", "[databasechangelog, databasechangeloglock]", () -> with(liquibase -> {
            liquibase.rollback(3, "");
            return tables();
        }));
        step("from empty to current again", "[9]", () -> with(liquibase -> {
            // It remembers of this process that there was nothing to do.
            Scope.getCurrentScope().getSingleton(FastCheckService.class).clearCache();
            liquibase.update("");
            return ask("select count(*) from databasechangelog");
        }));
        step("a change that fails", "CommandExecutionException", () -> with(liquibase -> refused(() -> new Liquibase("liquibase/bad.xml", new ClassLoaderResourceAccessor(), liquibase.getDatabase()).update(""))));
        step("a changelog of SQL", "[1|a; b]", () -> {
            try (Connection connection = connect()) {
                new Liquibase("liquibase/plain.sql", new ClassLoaderResourceAccessor(), database(connection)).update("");
            }
            return ask("select * from plain");
        });
        step("drop everything", "[]", () -> with(liquibase -> {
            liquibase.dropAll();
            return tables();
        }));
    }

    private static Object with(Work work) throws Exception {
        try (Connection connection = connect()) {
            return work.run(new Liquibase("liquibase/changelog.xml", new ClassLoaderResourceAccessor(), database(connection)));
        }
    }

    private static Database database(Connection connection) throws Exception {
        return DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
    }
}
