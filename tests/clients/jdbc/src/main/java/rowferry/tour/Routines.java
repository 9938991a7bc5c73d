package rowferry.tour;

import java.sql.CallableStatement;
import java.sql.ResultSet;
import java.util.List;

/** Stored procedures and functions. */
final class Routines extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_called (id INT, name VARCHAR(40))");
        execute("CREATE FUNCTION f_add(a INT, b INT) RETURNING INT; RETURN a + b; END FUNCTION");
        execute("CREATE PROCEDURE p_insert(n INT, s VARCHAR(40)) INSERT INTO t_called VALUES (n, s); END PROCEDURE");
        execute("CREATE FUNCTION f_count(upto INT) RETURNING INT, VARCHAR(20); DEFINE i INT; "
                + "FOR i = 1 TO upto RETURN i, 'row ' || i WITH RESUME; END FOR; END FUNCTION");
        execute("CREATE PROCEDURE p_fail() RAISE EXCEPTION -746, 0, 'told so'; END PROCEDURE");
        try (CallableStatement call = connection().prepareCall("{? = call f_add(?, ?)}")) {
            // The driver counts the arguments from 1 and gives what a function returns as rows.
            call.setInt(1, 40);
            call.setInt(2, 2);
            try (ResultSet rows = call.executeQuery()) {
                check("{? = call f(?, ?)}", List.of("42"), rows(rows));
            }
        }
        try (CallableStatement call = connection().prepareCall("{call p_insert(?, ?)}")) {
            call.setInt(1, 1);
            call.setString(2, "called");
            call.execute();
            call.setInt(1, 2);
            call.setString(2, null);
            call.executeUpdate();
        }
        check("{call p(?, ?)}", List.of("1|called", "2|null"), query("SELECT id, name FROM t_called ORDER BY id"));
        try (CallableStatement call = connection().prepareCall("{call f_count(?)}")) {
            call.setInt(1, 3);
            try (ResultSet rows = call.executeQuery()) {
                check("a function that returns rows", List.of("1|row 1", "2|row 2", "3|row 3"), rows(rows));
            }
        }
        check("EXECUTE FUNCTION", List.of("5"), query("EXECUTE FUNCTION f_add(2, 3)"));
        check("in an expression", List.of("7"), query("SELECT f_add(3, 4) FROM systables WHERE tabid = 1"));
        execute("EXECUTE PROCEDURE p_insert(3, 'executed')");
        check("EXECUTE PROCEDURE", List.of("executed"), query("SELECT name FROM t_called WHERE id = 3"));
        fails("RAISE EXCEPTION", -746, () -> execute("EXECUTE PROCEDURE p_fail()"));
        fails("a routine that is not there", -674, () -> execute("EXECUTE PROCEDURE p_nosuch()"));
        try (ResultSet procedures = connection().getMetaData().getProcedures(null, null, "p_insert")) {
            check("getProcedures", List.of("p_insert"), pick(procedures, "PROCEDURE_NAME"));
        }
        try (ResultSet functions = connection().getMetaData().getFunctions(null, null, "f_add")) {
            check("getFunctions", List.of("f_add"), pick(functions, "FUNCTION_NAME"));
        }
        execute("DROP FUNCTION f_add", "DROP PROCEDURE p_insert", "DROP FUNCTION f_count", "DROP PROCEDURE p_fail", "DROP TABLE t_called");
    }
}
