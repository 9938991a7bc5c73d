package rowferry.tour;

import java.math.BigDecimal;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Struct;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** JSON and BSON documents; rows and collections, as text through a cast and as Java's objects. */
final class Composites extends Theme {
    @Override
    void run() throws Exception {
        documents();
        composites();
        objects();
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

    private void objects() throws Exception {
        execute("CREATE TABLE t_objects (id INT, l LIST(INT NOT NULL), s SET(VARCHAR(9) NOT NULL), m MULTISET(CHAR(3) NOT NULL), d LIST(DATE NOT NULL), "
                + "t LIST(DATETIME YEAR TO FRACTION(5) NOT NULL), n LIST(DECIMAL(8,2) NOT NULL), f LIST(FLOAT NOT NULL), b LIST(BOOLEAN NOT NULL), "
                + "g LIST(BIGINT NOT NULL), r ROW(a INT, b VARCHAR(9)), after VARCHAR(9))");
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'after')")) {
            insert.setInt(1, 1);
            insert.setObject(2, new ArrayList<>(List.of(4, -5)));
            insert.setObject(3, new HashSet<>(List.of("one ", "it's")));
            insert.setObject(4, new ArrayList<>(List.of("x", "x", "yz")));
            insert.setObject(5, new ArrayList<>(List.of(Date.valueOf("2024-02-29"))));
            insert.setObject(6, new ArrayList<>(List.of(Timestamp.valueOf("2024-02-03 04:05:06.789"))));
            insert.setObject(7, new ArrayList<>(List.of(new BigDecimal("12.34"), new BigDecimal("-5"))));
            insert.setObject(8, new ArrayList<>(List.of(1.5, -2.25)));
            insert.setObject(9, new ArrayList<>(List.of(true, false)));
            insert.setObject(10, new ArrayList<>(List.of(9_000_000_000L)));
            insert.setObject(11, new Pair(7, "q"));
            insert.executeUpdate();
            insert.setInt(1, 2);
            insert.setObject(2, new ArrayList<Integer>());
            for (int column = 3; column <= 11; column++) {
                insert.setNull(column, java.sql.Types.NULL);
            }
            insert.executeUpdate();
        }
        check("bound as objects", List.of("LIST{4,-5}|ROW(7,'q')|after", "LIST{}|null|after"), query("SELECT l::LVARCHAR, r::LVARCHAR, after FROM t_objects ORDER BY id"));
        try (Statement statement = connection().createStatement(); ResultSet rows = statement.executeQuery("SELECT l, s, m, d, t, n, f, b, g, r, after, id FROM t_objects ORDER BY id")) {
            rows.next();
            check("LIST", List.of(4, -5), rows.getObject(1));
            check("SET", Set.of("one ", "it's"), rows.getObject(2));
            check("MULTISET of CHAR", List.of("x", "x", "yz"), stripped(rows.getObject(3)));
            check("of DATE", List.of(Date.valueOf("2024-02-29")), rows.getObject(4));
            check("of DATETIME", List.of(Timestamp.valueOf("2024-02-03 04:05:06.789")), rows.getObject(5));
            check("of DECIMAL", List.of(new BigDecimal("12.34"), new BigDecimal("-5.00")), rows.getObject(6));
            check("of FLOAT", List.of(1.5, -2.25), rows.getObject(7));
            check("of BOOLEAN", List.of(true, false), rows.getObject(8));
            check("of BIGINT", List.of(9_000_000_000L), rows.getObject(9));
            Object[] fields = ((Struct) rows.getObject(10)).getAttributes();
            check("ROW", "7|q", fields[0] + "|" + fields[1]);
            check("behind objects", "after|1", rows.getString(11) + "|" + rows.getInt(12));
            check("as an array", new int[] {4, -5}, rows.getArray(1).getArray());
            rows.next();
            check("an empty LIST", List.of(), rows.getObject(1));
            check("NULL", "null|null|after", rows.getObject(2) + "|" + rows.getObject(10) + "|" + rows.getString(11));
        }
        execute("DROP TABLE t_objects");
    }

    private static List<String> stripped(Object collection) {
        List<String> found = new ArrayList<>();
        for (Object element : (Collection<?>) collection) {
            found.add(String.valueOf(element).strip());
        }
        Collections.sort(found);
        return found;
    }

    /** A row of a type without a name. */
    private record Pair(int a, String b) implements Struct {
        @Override
        public String getSQLTypeName() {
            return "row(a int, b varchar(9))";
        }

        @Override
        public Object[] getAttributes() {
            return new Object[] {a, b};
        }

        @Override
        public Object[] getAttributes(Map<String, Class<?>> types) {
            return getAttributes();
        }
    }
}
