package tour;

import static tour.Tour.jdbc;
import static tour.Tour.refused;
import static tour.Tour.rows;
import static tour.Tour.step;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.Scope;
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

/** Liquibase: a changelog forth and back, what it reads of a database, what it writes of one. */
public final class LiquibaseTour {
    private static final Contexts EVERYWHERE = new Contexts();
    private static String url;

    private LiquibaseTour() {}

    /** Something done with a changelog and a database. */
    @FunctionalInterface
    private interface Work {
        Object run(Liquibase liquibase) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        System.setProperty("liquibase.analytics.enabled", "false");
        Scope.child(Map.of(Scope.Attr.logService.name(), new NoOpLogService(), Scope.Attr.ui.name(), new LoggerUIService()), LiquibaseTour::tour);
    }

    private static void tour() {
        step("nothing yet", () -> with(liquibase -> liquibase.listUnrunChangeSets(EVERYWHERE, new LabelExpression()).size()));
        step("what it would run", () -> with(liquibase -> {
            StringWriter sql = new StringWriter();
            liquibase.update("", sql);
            return plain(sql.toString());
        }));
        step("update in part", () -> with(liquibase -> {
            liquibase.update(3, "");
            return ask("select id, name, born, active, balance, small, doc from people order by id");
        }));
        step("update to the end", () -> with(liquibase -> {
            liquibase.update("");
            return List.of(ask("select id, name, born, full_name, ticket between 100 and 110 as ticket, balance from people order by id"), ask("select * from labels order by 1"), ask("select * from words order by 1"));
        }));
        step("update again", () -> with(liquibase -> {
            liquibase.validate();
            liquibase.update("");
            return liquibase.listUnrunChangeSets(EVERYWHERE, new LabelExpression()).size() + " " + liquibase.getDatabase().getRanChangeSetList().size();
        }));
        step("its history", () -> ask("select id, author, filename, orderexecuted, exectype, md5sum, description, comments, tag, contexts, labels from databasechangelog order by orderexecuted"));
        step("its lock", () -> with(liquibase -> {
            run("update databasechangeloglock set locked = true, lockedby = 'nobody', lockgranted = now()");
            int held = liquibase.listLocks().length;
            liquibase.forceReleaseLocks();
            return held + " " + liquibase.listLocks().length;
        }));
        step("roll back a few", () -> with(liquibase -> {
            liquibase.rollback(1, "");
            List<Object> found = new ArrayList<>(ask("select table_name, column_name from information_schema.columns where table_name in ('people', 'tags') order by 1, ordinal_position"));
            liquibase.update("");
            return found;
        }));
        step("a database in its words", () -> {
            try (Connection connection = DriverManager.getConnection(jdbc(url, ""))) {
                Database database = database(connection);
                Database empty = liquibase.database.DatabaseFactory.getInstance().openDatabase("offline:postgresql?outputLiquibaseSql=none", null, null, null, new ClassLoaderResourceAccessor());
                DiffResult difference = DiffGeneratorFactory.getInstance().compare(database, empty, new CompareControl());
                ByteArrayOutputStream written = new ByteArrayOutputStream();
                DiffToChangeLog changelog = new DiffToChangeLog(difference, new DiffOutputControl(false, false, true, null));
                changelog.setIdRoot("made");
                changelog.setChangeSetAuthor("tour");
                changelog.print(new PrintStream(written, true, StandardCharsets.UTF_8), new liquibase.serializer.core.xml.XMLChangeLogSerializer());
                // In which order it comes upon what depends on nothing is not to be compared.
                return Arrays.stream(String.join(" ", plain(written.toString(StandardCharsets.UTF_8))).split("(?=<changeSet)"))
                    .map(change -> change.replaceFirst("id=\"made-\\d+\"", "").replaceAll("</databaseChangeLog>|\\s+", " ").strip()).sorted().toList();
            }
        });
        step("roll back to a tag", () -> with(liquibase -> {
            liquibase.rollback("filled", "");
            return ask("select relname, relkind::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S') order by 1");
        }));
        step("roll back everything", () -> with(liquibase -> {
            liquibase.update("");
            liquibase.tag("end");
            StringWriter sql = new StringWriter();
            liquibase.rollback(5, "", sql);
            liquibase.clearCheckSums();
            liquibase.update("");
            List<Object> found = new ArrayList<>(plain(sql.toString()));
            found.add(liquibase.tagExists("end"));
            return found;
        }));
        step("a change that fails", () -> with(liquibase -> {
            List<Object> found = new ArrayList<>();
            found.add(refused(() -> new Liquibase("liquibase/bad.xml", new ClassLoaderResourceAccessor(), liquibase.getDatabase()).update("")));
            found.addAll(ask("select to_regclass('half') is null as rolled_back"));
            return found;
        }));
        step("drop everything", () -> with(liquibase -> {
            liquibase.dropAll();
            return ask("select relname from pg_class where relnamespace = 'public'::regnamespace");
        }));
    }

    private static Object with(Work work) throws Exception {
        try (Connection connection = DriverManager.getConnection(jdbc(url, ""))) {
            return work.run(new Liquibase("liquibase/changelog.xml", new ClassLoaderResourceAccessor(), database(connection)));
        }
    }

    private static Database database(Connection connection) throws Exception {
        return DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
    }

    /** What is no comment and no moment, in lines. */
    private static List<String> plain(String text) {
        return text.lines().filter(line -> !line.startsWith("--") && !line.isBlank() && !line.contains("DATABASECHANGELOG") && !line.contains("databasechangelog")).toList();
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
