package rowferry.tour;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;

/** Text of all the world in a UTF-8 locale, and of western Europe in the driver's default one. */
final class Texts extends Theme {
    private static final String WORLD = "Zürich Ελλάδα Привет 你好 日本 ☃ 𝄞 e\u0301";

    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_text (id INT, c CHAR(80), v VARCHAR(80), n NVARCHAR(80), l LVARCHAR(200), t TEXT, after INT)");
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_text VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            insert.setInt(1, 1);
            for (int at = 2; at <= 6; at++) {
                insert.setString(at, WORLD);
            }
            insert.setInt(7, 9);
            insert.executeUpdate();
        }
        check("UTF-8 in every type", List.of(WORLD + "|" + WORLD + "|" + WORLD + "|" + WORLD + "|9"), query("SELECT c, v, n, l, after FROM t_text"));
        check("in a literal", List.of("1"), query("SELECT id FROM t_text WHERE v = '" + WORLD + "'"));
        check("as a parameter", List.of("1"), query("SELECT id FROM t_text WHERE v = ?", WORLD));
        check("its length", List.of(String.valueOf(WORLD.codePointCount(0, WORLD.length()))), query("SELECT CHAR_LENGTH(v) FROM t_text"));
        try (Connection latin = target.open(target.url(target.database()), target.user(), target.password())) {
            execute(latin, "INSERT INTO t_text (id, v) VALUES (2, 'Zürich ÿ')");
            check("the default locale", List.of("Zürich ÿ"), query(latin, "SELECT v FROM t_text WHERE id = 2"));
            check("what it lacks", true, failsSomehow(latin));
            check("after what it lacks", List.of("Zürich ÿ"), query(latin, "SELECT v FROM t_text WHERE id = 2"));
        }
        check("the same text in UTF-8", List.of("Zürich ÿ"), query("SELECT v FROM t_text WHERE id = 2"));
        execute("DROP TABLE t_text");
    }

    private static boolean failsSomehow(Connection latin) {
        try {
            query(latin, "SELECT v FROM t_text WHERE id = 1");
            return false;
        } catch (java.sql.SQLException failure) {
            return true;
        }
    }
}
