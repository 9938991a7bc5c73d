package tour;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Steps that find what is expected, or print how they failed; and a database as JDBC sees it. */
final class Tour {
    static String url;

    private Tour() {}

    /** Something that a step does; what it returns is what it has found out. */
    @FunctionalInterface
    interface Act {
        Object run() throws Exception;
    }

    /** As {@link Act}, without a finding. */
    @FunctionalInterface
    interface Deed {
        void run() throws Exception;
    }

    /** Begins a tour of the server at `host port database`. */
    static void begin(String[] arguments) {
        Logger.getLogger("").setLevel(Level.OFF);
        url = "jdbc:informix-sqli://" + arguments[0] + ":" + arguments[1] + "/" + arguments[2]
            + ":INFORMIXSERVER=informix;CLIENT_LOCALE=en_US.utf8;DB_LOCALE=en_US.utf8";
    }

    /** Run a step, and say whether it found what is expected; the next one goes on in any case. */
    static void step(String name, Object expected, Act act) {
        System.out.println("== " + name);
        try {
            Object found = act.run();
            System.out.println(String.valueOf(found).equals(String.valueOf(expected)) ? "ok" : "FAILED found " + found + ", expected " + expected);
        } catch (Throwable error) {
            System.out.println("FAILED " + errorOf(error));
            if (System.getenv("TOUR_STACKS") != null) {
                error.printStackTrace(System.out);
            }
        }
    }

    /** The innermost class of what refused it; what is not refused is a failure. */
    static String refused(Deed deed) {
        try {
            deed.run();
        } catch (Throwable error) {
            return error.getClass().getSimpleName();
        }
        return "not refused";
    }

    static String errorOf(Throwable error) {
        StringJoiner said = new StringJoiner(" / ");
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String code = cause instanceof SQLException refusal ? " " + refusal.getErrorCode() : "";
            said.add(cause.getClass().getSimpleName() + code + " " + String.valueOf(cause.getMessage()).replace('\n', ' '));
        }
        return said.toString();
    }

    static Connection connect() throws SQLException {
        return DriverManager.getConnection(url, "informix", "in4mix");
    }

    /** All rows, each as its values joined by `|`. */
    static List<String> ask(String sql) throws SQLException {
        try (Connection connection = connect(); Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                StringJoiner row = new StringJoiner("|");
                for (int column = 1; column <= columns; column++) {
                    String value = result.getString(column);
                    row.add(value == null ? "null" : value.stripTrailing());
                }
                found.add(row.toString());
            }
            return found;
        }
    }

    static void run(String... statements) throws SQLException {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** The tables and views that are there. */
    static List<String> tables() throws SQLException {
        return ask("select tabname from systables where tabid > 99 and tabtype in ('T', 'V', 'Q') order by 1");
    }
}
