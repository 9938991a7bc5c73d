package tour;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.math.BigDecimal;
import java.sql.Array;
import java.sql.BatchUpdateException;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLXML;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.postgresql.util.PGobject;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** What every tour uses: steps whose findings are printed, and values in one spelling. */
final class Tour {
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

    /** Run a step and print what it says, a line for each element; a failure is a finding, and the next step goes on. */
    static void step(String name, Act act) {
        System.out.println("== " + name);
        try {
            Object found = act.run();
            for (Object line : found instanceof List<?> list ? list : List.of(found)) {
                System.out.println(line instanceof String text ? text : spell(line));
            }
        } catch (Throwable error) {
            System.out.println("FAILED " + errorOf(error));
            if (System.getenv("TOUR_STACKS") != null) {
                error.printStackTrace(System.out);
            }
        }
    }

    /** How it was refused; what is not refused is a failure. */
    static String refused(Deed deed) {
        try {
            deed.run();
        } catch (Throwable error) {
            return errorOf(error);
        }
        throw new AssertionError("was not refused");
    }

    /** The rows that are left of a result, each as a line; the result is closed. */
    static List<Object> rows(ResultSet result) throws SQLException {
        try (result) {
            List<Object> found = new ArrayList<>();
            ResultSetMetaData shape = result.getMetaData();
            while (result.next()) {
                StringJoiner row = new StringJoiner(", ", "{", "}");
                for (int column = 1; column <= shape.getColumnCount(); column++) {
                    row.add(shape.getColumnLabel(column) + ": " + spell(result.getObject(column)));
                }
                found.add(row.toString());
            }
            return found;
        }
    }

    /** A value, so that equal ones are spelled equally wherever they come from. */
    static String spell(Object value) throws SQLException {
        if (value == null) {
            return "null";
        } else if (value instanceof String text) {
            return '"' + text + '"';
        } else if (value instanceof BigDecimal number) {
            return number.toPlainString();
        } else if (value instanceof byte[] bytes) {
            return "\\x" + HexFormat.of().formatHex(bytes);
        } else if (value instanceof int[] counts) {
            return java.util.Arrays.toString(counts);
        } else if (value instanceof Object[] elements) {
            return spell(java.util.Arrays.asList(elements));
        } else if (value instanceof Iterable<?> elements) {
            StringJoiner list = new StringJoiner(", ", "[", "]");
            for (Object element : elements) {
                list.add(spell(element));
            }
            return list.toString();
        } else if (value instanceof Map<?, ?> map) {
            StringJoiner list = new StringJoiner(", ", "{", "}");
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                list.add(spell(entry.getKey()) + ": " + spell(entry.getValue()));
            }
            return list.toString();
        } else if (value instanceof Array array) {
            return array.getBaseTypeName() + spell(array.getArray());
        } else if (value instanceof ResultSet result) {
            return spell(rows(result));
        } else if (value instanceof SQLXML document) {
            return document.getString();
        } else if (value instanceof PGobject object) {
            return object.getType() + " " + object.getValue();
        }
        return value.getClass().getSimpleName() + " " + value;
    }

    /** The fields of a server's error, or what a library says. */
    static String errorOf(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof BatchUpdateException batch) {
                String counts = java.util.Arrays.toString(batch.getUpdateCounts());
                return "batch " + counts + " " + (batch.getNextException() == null ? plain(batch) : errorOf(batch.getNextException()));
            }
            if (cause instanceof PSQLException refusal && refusal.getServerErrorMessage() != null) {
                return error.getClass().getSimpleName() + " " + fields(refusal.getServerErrorMessage());
            }
            if (cause.getCause() == cause) {
                break;
            }
        }
        return plain(error);
    }

    private static String plain(Throwable error) {
        String state = error instanceof SQLException refusal ? " " + refusal.getSQLState() : "";
        return error.getClass().getSimpleName() + state + " " + error.getMessage();
    }

    private static String fields(ServerErrorMessage said) {
        StringJoiner fields = new StringJoiner(", ", "{", "}");
        fields.add(said.getSeverity() + " " + said.getSQLState()).add("message: " + said.getMessage());
        field(fields, "detail", said.getDetail());
        field(fields, "hint", said.getHint());
        field(fields, "position", said.getPosition() == 0 ? null : said.getPosition());
        field(fields, "internal query", said.getInternalQuery());
        field(fields, "where", said.getWhere());
        field(fields, "schema", said.getSchema());
        field(fields, "table", said.getTable());
        field(fields, "column", said.getColumn());
        field(fields, "type", said.getDatatype());
        field(fields, "constraint", said.getConstraint());
        return fields.toString();
    }

    private static void field(StringJoiner fields, String name, Object value) {
        if (value != null) {
            fields.add(name + ": " + value);
        }
    }

    /** Everything that a reader has. */
    static String all(Reader reader) throws IOException {
        try (BufferedReader lines = new BufferedReader(reader)) {
            StringBuilder text = new StringBuilder();
            for (int next = lines.read(); next >= 0; next = lines.read()) {
                text.append((char) next);
            }
            return text.toString();
        }
    }

    /** The JDBC URL for a URL as PostgreSQL's own programs take it; `options` begin with `&`. */
    static String jdbc(String url, String options) {
        String place = url.replaceFirst("^postgresql://[^@]*@", "").replaceFirst("\\?.*", "");
        return "jdbc:postgresql://" + place + "?user=rowferry" + options;
    }
}
