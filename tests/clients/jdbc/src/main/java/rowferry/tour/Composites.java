package rowferry.tour;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;

/** JSON and BSON documents; rows and collections, whose text this driver reads through a cast. */
final class Composites extends Theme {
    @Override
    void run() throws Exception {
        documents();
        composites();
    }

    private void documents() throws Exception {
        execute("CREATE TABLE t_documents (id INT, j JSON, b BSON, after VARCHAR(9))");
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_documents VALUES (?, ?, ?, ?)")) {
            insert.setInt(1, 1);
            insert.setString(2, "{\"a\": [1, null]}");
            insert.setString(3, "{\"b\":{\"c\":\"é\",\"n\":-2147483649}}");
            insert.setString(4, "after");
            insert.executeUpdate();
            insert.setInt(1, 2);
            insert.setNull(2, java.sql.Types.NULL);
            insert.setNull(3, java.sql.Types.NULL);
            insert.setString(4, "none");
            insert.executeUpdate();
        }
        try (Statement statement = connection().createStatement();
                ResultSet rows = statement.executeQuery("SELECT j, b, after, id FROM t_documents ORDER BY id")) {
            rows.next();
            check("JSON", "{\"a\": [1, null]}", rows.getString(1));
            String document = String.valueOf(rows.getObject(2)).replace(" ", "");
            check("BSON is a document", document.contains("\"c\":\"é\"") && document.contains("-2147483649"));
            check("behind documents", "after|1", rows.getString(3) + "|" + rows.getInt(4));
            rows.next();
            check("NULL documents", "null|null|none|2", rows.getString(1) + "|" + rows.getObject(2) + "|" + rows.getString(3) + "|" + rows.getInt(4));
        }
        check("BSON as JSON", List.of("{\"b\":{\"c\":\"é\",\"n\":-2147483649}}"), query("SELECT b::JSON FROM t_documents WHERE id = 1"));
        execute("DROP TABLE t_documents");
    }

    private void composites() throws Exception {
        execute("CREATE TABLE t_composites (id INT, r ROW(name VARCHAR(9), age INT), s SET(VARCHAR(9) NOT NULL), l LIST(INT NOT NULL), after INT)",
                "INSERT INTO t_composites VALUES (1, ROW('O''Neil', 30), SET{'red','green','red'}, LIST{3,1,3}, 9)");
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_composites VALUES (2, ROW(?, ?), SET{?}, LIST{}, ?)")) {
            insert.setString(1, "Bob");
            insert.setInt(2, 7);
            insert.setString(3, "blue");
            insert.setInt(4, 8);
            insert.executeUpdate();
        }
        check("fields", List.of("O'Neil|30|9", "Bob|7|8"), query("SELECT r.name, r.age, after FROM t_composites ORDER BY id"));
        check("as text", List.of("ROW('O''Neil',30)|SET{'red','green'}|LIST{3,1,3}|9"),
                query("SELECT r::LVARCHAR, s::LVARCHAR, l::LVARCHAR, after FROM t_composites WHERE id = 1"));
        check("in a collection", List.of("1"), query("SELECT id FROM t_composites WHERE 'green' IN (s)"));
        check("how many", List.of("2|3", "1|0"), query("SELECT CARDINALITY(s), CARDINALITY(l) FROM t_composites ORDER BY id"));
        fails("another shape", -9634, () -> execute("INSERT INTO t_composites (id, s) VALUES (3, LIST{'x'})"));
        fails("another element", -1213, () -> execute("INSERT INTO t_composites (id, l) VALUES (3, LIST{'x'})"));
        execute("DROP TABLE t_composites");
    }
}
