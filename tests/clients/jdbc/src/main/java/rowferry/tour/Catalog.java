package rowferry.tour;

import java.lang.reflect.Method;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** DatabaseMetaData: every method is called, and those about a schema are compared with the schema. */
final class Catalog extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_parent (id SERIAL PRIMARY KEY CONSTRAINT t_parent_pk, code CHAR(4) NOT NULL UNIQUE CONSTRAINT t_parent_code, note LVARCHAR(300) DEFAULT 'none')",
                "CREATE TABLE t_kid (a INT, b DECIMAL(9,2), parent INT REFERENCES t_parent(id) CONSTRAINT t_kid_fk, made DATETIME YEAR TO SECOND, "
                        + "PRIMARY KEY (a, b) CONSTRAINT t_kid_pk)",
                "CREATE INDEX t_kid_made ON t_kid (made DESC)", "CREATE VIEW v_kid (one, two) AS SELECT a, b FROM t_kid");
        DatabaseMetaData data = connection().getMetaData();
        tables(data);
        columns(data);
        keys(data);
        rest(data);
        everything(data);
        execute("DROP VIEW v_kid", "DROP TABLE t_kid", "DROP TABLE t_parent");
    }

    private void tables(DatabaseMetaData data) throws Exception {
        check("getTables", pick(data.getTables(null, null, "t_%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE").containsAll(List.of("t_kid|TABLE", "t_parent|TABLE")));
        check("getTables of views", List.of("v_kid|VIEW"), pick(data.getTables(null, null, "v_kid", new String[] {"VIEW"}), "TABLE_NAME", "TABLE_TYPE"));
        check("getTables of the system", pick(data.getTables(null, null, "sys%", new String[] {"SYSTEM TABLE"}), "TABLE_NAME").contains("systables"));
        check("getTables of all types", List.of("t_kid|TABLE", "v_kid|VIEW"), pick(data.getTables(null, "%", "%kid", null), "TABLE_NAME", "TABLE_TYPE"));
        check("getTableTypes", pick(data.getTableTypes(), "TABLE_TYPE").containsAll(List.of("TABLE", "VIEW")));
        check("getCatalogs", pick(data.getCatalogs(), "TABLE_CAT").contains(target.database()));
        check("getSchemas", pick(data.getSchemas(), "TABLE_SCHEM").contains("informix"));
    }

    private void columns(DatabaseMetaData data) throws Exception {
        check("getColumns", List.of("id|4|serial|10|0|1|NO", "code|1|char|4|0|2|NO", "note|-1|lvarchar|300|1|3|YES"),
                pick(data.getColumns(null, null, "t_parent", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE", "ORDINAL_POSITION", "IS_NULLABLE"));
        check("getColumns of another", List.of("a|4|integer", "b|3|decimal", "parent|4|integer", "made|93|datetime year to second"),
                pick(data.getColumns(null, null, "t_kid", null), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME"));
        check("getColumns of one column", List.of("b|9|2"), pick(data.getColumns(null, null, "t_kid", "b"), "COLUMN_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS"));
        check("getColumns of a view", List.of("one", "two"), pick(data.getColumns(null, null, "v_kid", "%"), "COLUMN_NAME"));
    }

    private void keys(DatabaseMetaData data) throws Exception {
        check("getPrimaryKeys", List.of("id|1|t_parent_pk"), pick(data.getPrimaryKeys(null, null, "t_parent"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        check("getPrimaryKeys of two columns", List.of("a|1", "b|2"), pick(data.getPrimaryKeys(null, null, "t_kid"), "COLUMN_NAME", "KEY_SEQ"));
        check("getImportedKeys", List.of("t_parent|id|t_kid|parent|1|t_kid_fk|t_parent_pk"), pick(data.getImportedKeys(null, null, "t_kid"),
                "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "FK_NAME", "PK_NAME"));
        check("getExportedKeys", List.of("t_parent|id|t_kid|parent|t_kid_fk"), pick(data.getExportedKeys(null, null, "t_parent"),
                "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "FK_NAME"));
        check("getCrossReference", List.of("t_kid_fk"), pick(data.getCrossReference(null, null, "t_parent", null, null, "t_kid"), "FK_NAME"));
        List<String> indexes = pick(data.getIndexInfo(null, null, "t_kid", false, true), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE");
        check("getIndexInfo", List.of("t_kid_pk|a|0", "t_kid_pk|b|0", "t_kid_fk|parent|1", "t_kid_made|made|1"), indexes);
        check("getIndexInfo of unique ones", pick(data.getIndexInfo(null, null, "t_kid", true, true), "COLUMN_NAME").containsAll(List.of("a", "b")));
        check("getBestRowIdentifier", List.of("id"), pick(data.getBestRowIdentifier(null, null, "t_parent", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
        check("getVersionColumns", List.of("id"), pick(data.getVersionColumns(null, null, "t_parent"), "COLUMN_NAME"));
    }

    private void rest(DatabaseMetaData data) throws Exception {
        List<String> types = pick(data.getTypeInfo(), "TYPE_NAME");
        report("getTypeInfo", "the usual types", types.toString(), types.toString().toLowerCase().contains("decimal") && types.size() > 15);
        check("getUDTs", 0, pick(data.getUDTs(null, null, "%", null), "TYPE_NAME").size());
        check("getSuperTables", 0, pick(data.getSuperTables(null, null, "%"), "TABLE_NAME").size());
        check("getTablePrivileges", pick(data.getTablePrivileges(null, null, "t_parent"), "privelege").contains("SELECT"));
        data.getColumnPrivileges(null, null, "t_parent", "%").close();
        check("the product", data.getDatabaseProductName().contains("Informix"));
        check("its version", data.getDatabaseMajorVersion() >= 12);
        check("transactions", data.supportsTransactions());
        check("the user", target.user(), data.getUserName());
    }

    /** Calls whatever there is, so that no query of the driver's fails. */
    private void everything(DatabaseMetaData data) throws Exception {
        Method[] methods = DatabaseMetaData.class.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        int called = 0;
        for (Method method : methods) {
            Class<?>[] types = method.getParameterTypes();
            Object[] arguments = Arrays.stream(types).map(Catalog::argument).toArray();
            // Catalog and schema come first, then the pattern of a name.
            for (int at = 0; at < types.length; at++) {
                if (types[at] == String.class && at != 2) {
                    arguments[at] = null;
                }
            }
            try {
                Object result = method.invoke(data, arguments);
                if (result instanceof ResultSet rows) {
                    if (rows.getMetaData() != null) {
                        rows(rows);
                    }
                    rows.close();
                }
                called++;
            } catch (java.lang.reflect.InvocationTargetException failure) {
                Throwable cause = failure.getCause();
                boolean unsupported = cause instanceof java.sql.SQLFeatureNotSupportedException || cause instanceof AbstractMethodError
                        || String.valueOf(cause.getMessage()).toLowerCase().contains("not supported");
                report(method.getName(), "an answer", String.valueOf(cause), unsupported);
            }
        }
        report("methods", "more than 160", String.valueOf(called), called > 160);
    }

    private static Object argument(Class<?> type) {
        if (type == boolean.class) {
            return true;
        }
        if (type == int.class) {
            return 1;
        }
        if (type == String.class) {
            return "t_kid";
        }
        return type == Class.class ? Object.class : null;
    }
}
