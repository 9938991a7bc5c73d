package rowferry.tour;

import java.sql.SQLException;
import java.util.List;

/** Errors: code, SQLSTATE, class, and the name in the message. */
final class Failures extends Theme {
    private void failure(String sql, int code, String state, String type, String told) throws Exception {
        SQLException failure = fails(sql, code, () -> execute(sql));
        check(sql + ": state", state, failure.getSQLState());
        if (type != null) {
            check(sql + ": class", type, failure.getClass().getSimpleName());
        }
        if (told != null) {
            report(sql + ": message", told, String.valueOf(failure.getMessage()), String.valueOf(failure.getMessage()).contains(told));
        }
    }

    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_fail (id INT PRIMARY KEY CONSTRAINT t_fail_pk, name VARCHAR(10) NOT NULL, age SMALLINT CHECK (age > 0) CONSTRAINT t_fail_age)",
                "CREATE TABLE t_child (id INT, parent INT REFERENCES t_fail(id) CONSTRAINT t_child_fk)",
                "INSERT INTO t_fail VALUES (1, 'one', 1)", "INSERT INTO t_child VALUES (1, 1)");
        failure("SELEC 1", -201, "42000", "SQLSyntaxErrorException", null);
        failure("DELETE FROM nosuch", -206, "42000", null, "nosuch");
        failure("UPDATE t_fail SET nosuch = 1", -217, "IX000", null, "nosuch");
        failure("INSERT INTO t_fail VALUES (1, 'again', 2)", -268, "23000", "SQLIntegrityConstraintViolationException", "t_fail_pk");
        failure("INSERT INTO t_fail VALUES (2, NULL, 2)", -391, "23000", null, "name");
        failure("INSERT INTO t_fail VALUES (3, 'x', -1)", -530, "23000", null, "t_fail_age");
        failure("INSERT INTO t_child VALUES (2, 99)", -691, "23000", null, "t_child_fk");
        failure("DELETE FROM t_fail WHERE id = 1", -692, "23000", null, "t_child_fk");
        failure("CREATE TABLE t_fail (id INT)", -310, "S0001", null, "t_fail");
        failure("INSERT INTO t_fail VALUES (1, 'x')", -236, "21S01", null, null);
        failure("INSERT INTO t_fail VALUES ('abc', 'x', 1)", -1213, "IX000", null, null);
        failure("DROP TABLE nosuch", -206, "42000", null, "nosuch");
        failure("INSERT INTO t_fail VALUES (4, 'x', 99999)", -1214, "22003", null, null);
        check("the connection has survived all of it", List.of("1"), query("SELECT COUNT(*) FROM t_fail"));
        execute("DROP TABLE t_child", "DROP TABLE t_fail");
    }
}
