import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.*;
import java.util.*;

/** Asks every method of DatabaseMetaData, and prints what it answers, a line for each row. */
public final class Metadata {
    private static DatabaseMetaData data;

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            data = connection.getMetaData();
            plain();
            results();
        }
    }

    /** Methods without arguments, by their names. */
    private static void plain() {
        Method[] methods = DatabaseMetaData.class.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName).thenComparing(Method::toString));
        for (Method method : methods) {
            if (method.getParameterCount() == 0) {
                ask(method.getName(), method);
            }
        }
    }

    private static void results() throws Exception {
        String[] relations = {"customers", "orders", "items", "big_orders", "plain", "scratch"};
        call("getTables", null, null, "%", null);
        call("getTables", null, "shop", "%", new String[] {"TABLE", "VIEW"});
        call("getTables", null, "pg_catalog", "pg_cl%", null);
        call("getTables", null, "information_schema", "col%", new String[] {"SYSTEM VIEW"});
        call("getTables", "store", "shop", "o%", new String[] {"INDEX", "SEQUENCE", "TYPE"});
        call("getSchemas");
        call("getSchemas", null, "sh%");
        call("getColumns", null, "shop", "%", "%");
        call("getColumns", null, "public", "plain", "%");
        call("getColumns", null, "pg_catalog", "pg_index", "ind%");
        call("getColumns", null, "information_schema", "tables", "%");
        call("getPseudoColumns", null, "shop", "%", "%");
        call("getProcedures", null, "shop", "%");
        call("getProcedureColumns", null, "shop", "%", "%");
        call("getFunctions", null, "shop", "%");
        call("getFunctions", null, "pg_catalog", "lower%");
        call("getFunctionColumns", null, "shop", "%", "%");
        call("getFunctionColumns", null, "pg_catalog", "json_e%", "%");
        call("getUDTs", null, "shop", "%", null);
        call("getUDTs", null, null, "%", new int[] {Types.DISTINCT, Types.STRUCT});
        call("getSuperTables", null, "shop", "%");
        call("getSuperTypes", null, "shop", "%");
        call("getAttributes", null, "shop", "%", "%");
        for (String relation : relations) {
            String schema = relation.equals("plain") ? "public" : "shop";
            call("getPrimaryKeys", null, schema, relation);
            call("getImportedKeys", null, schema, relation);
            call("getExportedKeys", null, schema, relation);
            call("getIndexInfo", null, schema, relation, false, true);
            call("getIndexInfo", null, schema, relation, true, false);
            call("getBestRowIdentifier", null, schema, relation, DatabaseMetaData.bestRowSession, true);
            call("getVersionColumns", null, schema, relation);
            call("getTablePrivileges", null, schema, relation);
            call("getColumnPrivileges", null, schema, relation, "%");
        }
        call("getCrossReference", null, "shop", "customers", null, "shop", "orders");
        call("getPrimaryKeys", null, null, "orders");
        call("getImportedKeys", null, null, "items");
        for (int kind : new int[] {ResultSet.TYPE_FORWARD_ONLY, ResultSet.TYPE_SCROLL_INSENSITIVE}) {
            call("supportsResultSetType", kind);
            call("supportsResultSetConcurrency", kind, ResultSet.CONCUR_UPDATABLE);
            call("deletesAreDetected", kind);
            call("insertsAreDetected", kind);
            call("updatesAreDetected", kind);
            call("othersDeletesAreVisible", kind);
            call("othersInsertsAreVisible", kind);
            call("othersUpdatesAreVisible", kind);
            call("ownDeletesAreVisible", kind);
            call("ownInsertsAreVisible", kind);
            call("ownUpdatesAreVisible", kind);
        }
        call("supportsResultSetHoldability", ResultSet.HOLD_CURSORS_OVER_COMMIT);
        call("supportsTransactionIsolationLevel", Connection.TRANSACTION_SERIALIZABLE);
        call("supportsConvert", Types.INTEGER, Types.VARCHAR);
    }

    private static void call(String name, Object... arguments) {
        for (Method method : DatabaseMetaData.class.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                ask(name + shown(arguments), method, arguments);
            }
        }
    }

    private static String shown(Object[] arguments) {
        StringJoiner joiner = new StringJoiner(", ", "(", ")");
        for (Object argument : arguments) {
            joiner.add(argument instanceof String[] words ? Arrays.toString(words)
                : argument instanceof int[] numbers ? Arrays.toString(numbers) : String.valueOf(argument));
        }
        return joiner.toString();
    }

    private static void ask(String title, Method method, Object... arguments) {
        System.out.println("== " + title);
        try {
            Object answer = method.invoke(data, arguments);
            if (answer instanceof ResultSet rows) {
                print(rows);
            } else if (!(answer instanceof Connection)) {
                System.out.println(answer);
            }
        } catch (InvocationTargetException failure) {
            System.out.println("failed: " + failure.getCause().getMessage());
        } catch (ReflectiveOperationException | SQLException failure) {
            System.out.println("failed: " + failure);
        }
    }

    private static void print(ResultSet rows) throws SQLException {
        ResultSetMetaData head = rows.getMetaData();
        StringJoiner names = new StringJoiner(" | ");
        for (int at = 1; at <= head.getColumnCount(); at++) {
            names.add(head.getColumnLabel(at) + " " + head.getColumnTypeName(at));
        }
        System.out.println(names);
        while (rows.next()) {
            StringJoiner cells = new StringJoiner(" | ");
            for (int at = 1; at <= head.getColumnCount(); at++) {
                cells.add(String.valueOf(rows.getString(at)));
            }
            System.out.println(cells);
        }
    }
}
