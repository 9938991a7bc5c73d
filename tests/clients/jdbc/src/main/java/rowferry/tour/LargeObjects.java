package rowferry.tour;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Random;

/** BYTE, TEXT, BLOB, CLOB: small, empty, NULL, a megabyte, in streams. */
final class LargeObjects extends Theme {
    private static final int MEGABYTE = 1 << 20;

    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_objects (id INT, b BYTE, t TEXT, after INT)", "CREATE TABLE t_smart (id INT, b BLOB, c CLOB, after INT)");
        byte[] bytes = new byte[MEGABYTE];
        new Random(7).nextBytes(bytes);
        String text = "0123456789abcdef".repeat(MEGABYTE / 16);
        for (String table : new String[] {"t_objects", "t_smart"}) {
            inMemory(table);
            streams(table, bytes, text);
            several(table);
        }
        handles();
        execute("DROP TABLE t_objects", "DROP TABLE t_smart");
    }

    private void inMemory(String table) throws Exception {
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO " + table + " VALUES (?, ?, ?, ?)")) {
            insert.setInt(1, 1);
            insert.setBytes(2, new byte[] {0, 1, (byte) 0xff});
            insert.setString(3, "some text, Zürich");
            insert.setInt(4, 11);
            insert.executeUpdate();
            insert.setInt(1, 2);
            insert.setNull(2, java.sql.Types.LONGVARBINARY);
            insert.setNull(3, java.sql.Types.LONGVARCHAR);
            insert.setInt(4, 12);
            insert.executeUpdate();
        }
        try (Statement statement = connection().createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " WHERE id <= 2 ORDER BY id")) {
            rows.next();
            check(table + ": getBytes", new byte[] {0, 1, (byte) 0xff}, rows.getBytes(2));
            check(table + ": getString", "some text, Zürich", rows.getString(3));
            check(table + ": the column after", 11, rows.getInt(4));
            rows.next();
            check(table + ": NULL bytes", null, rows.getBytes(2));
            check(table + ": NULL text", null, rows.getString(3));
            check(table + ": the column after NULL", 12, rows.getInt(4));
        }
    }

    private void streams(String table, byte[] bytes, String text) throws Exception {
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO " + table + " VALUES (?, ?, ?, ?)")) {
            insert.setInt(1, 3);
            insert.setBinaryStream(2, new ByteArrayInputStream(bytes), bytes.length);
            insert.setCharacterStream(3, new StringReader(text), text.length());
            insert.setInt(4, 13);
            insert.executeUpdate();
            insert.setInt(1, 4);
            insert.setBytes(2, bytes);
            insert.setAsciiStream(3, new ByteArrayInputStream(text.getBytes("US-ASCII")), text.length());
            insert.setInt(4, 14);
            insert.executeUpdate();
        }
        try (PreparedStatement select = connection().prepareStatement("SELECT b, t1, after FROM (SELECT b, "
                + (table.equals("t_smart") ? "c" : "t") + " t1, after, id FROM " + table + ") WHERE id = ?")) {
            for (int id = 3; id <= 4; id++) {
                select.setInt(1, id);
                try (ResultSet rows = select.executeQuery()) {
                    rows.next();
                    try (InputStream in = rows.getBinaryStream(1)) {
                        check(table + ": a megabyte of bytes, " + id, bytes, in.readAllBytes());
                    }
                    try (Reader in = rows.getCharacterStream(2)) {
                        StringWriter all = new StringWriter();
                        in.transferTo(all);
                        check(table + ": a megabyte of text, " + id, text.equals(all.toString()));
                    }
                    check(table + ": the column after a megabyte", 10 + id, rows.getInt(3));
                }
            }
        }
    }

    private void several(String table) throws Exception {
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO " + table + " VALUES (?, ?, ?, ?)")) {
            for (int number = 0; number < 5; number++) {
                insert.setInt(1, 100 + number);
                insert.setBytes(2, new byte[number]);
                insert.setString(3, "t".repeat(number * 1000));
                insert.setInt(4, number);
                insert.executeUpdate();
            }
        }
        try (Statement statement = connection().createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " WHERE id >= 100 ORDER BY id")) {
            int right = 0;
            while (rows.next()) {
                byte[] bytes = rows.getBytes(2);
                String text = rows.getString(3);
                int number = rows.getInt(4);
                boolean same = (bytes == null ? 0 : bytes.length) == number && (text == null ? 0 : text.length()) == number * 1000;
                right += same ? 1 : 0;
            }
            check(table + ": objects of several rows", 5, right);
        }
    }

    /** java.sql.Blob and Clob. */
    private void handles() throws Exception {
        try (Statement statement = connection().createStatement();
                ResultSet rows = statement.executeQuery("SELECT b, c FROM t_smart WHERE id = 3")) {
            rows.next();
            Blob blob = rows.getBlob(1);
            Clob clob = rows.getClob(2);
            check("Blob.length", (long) MEGABYTE, blob.length());
            check("Clob.length", (long) MEGABYTE, clob.length());
            byte[] some = blob.getBytes(1000, 10);
            byte[] all = rows.getBytes(1);
            check("Blob.getBytes", java.util.Arrays.copyOfRange(all, 999, 1009), some);
            check("Clob.getSubString", "0123456789", clob.getSubString(17, 10));
            try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_smart VALUES (?, ?, ?, ?)")) {
                insert.setInt(1, 7);
                insert.setBlob(2, blob);
                insert.setClob(3, clob);
                insert.setInt(4, 17);
                insert.executeUpdate();
            }
        }
        // For position 1 the driver seeks to 1, where 0 is the beginning (version 4.50 for a Clob, too): a zero byte comes
        // before what is written.
        Blob made = connection().createBlob();
        made.setBytes(1, "made by the client".getBytes("UTF-8"));
        Clob written = connection().createClob();
        written.setString(1, "written by the client");
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_smart VALUES (?, ?, ?, ?)")) {
            insert.setInt(1, 8);
            insert.setBlob(2, made);
            insert.setClob(3, written);
            insert.setInt(4, 18);
            insert.executeUpdate();
        }
        try (Statement statement = connection().createStatement();
                ResultSet rows = statement.executeQuery("SELECT b, c, after FROM t_smart WHERE id IN (7, 8) ORDER BY id")) {
            rows.next();
            check("a Blob of another row", MEGABYTE, rows.getBytes(1).length);
            check("a Clob of another row", MEGABYTE, rows.getString(2).length());
            rows.next();
            check("a Blob made by the client", "made by the client", new String(rows.getBytes(1), "UTF-8").replace("\0", ""));
            check("a Clob made by the client", "written by the client", rows.getString(2).replace("\0", ""));
            check("the column after them", 18, rows.getInt(3));
        }
        try (PreparedStatement update = connection().prepareStatement("UPDATE t_smart SET b = ? WHERE id = ?")) {
            update.setBytes(1, new byte[] {9});
            update.setInt(2, 8);
            check("UPDATE of a BLOB", 1, update.executeUpdate());
        }
        check("rows", List.of("11"), query("SELECT COUNT(*) FROM t_smart"));
    }
}
