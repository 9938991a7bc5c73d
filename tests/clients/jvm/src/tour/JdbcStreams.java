package tour;

import static tour.Tour.jdbc;
import static tour.Tour.refused;
import static tour.Tour.rows;
import static tour.Tour.step;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.CopyOut;
import org.postgresql.copy.PGCopyInputStream;
import org.postgresql.copy.PGCopyOutputStream;
import org.postgresql.largeobject.LargeObject;
import org.postgresql.largeobject.LargeObjectManager;

/** pgjdbc: COPY, large objects, notifications, cancelling and what else is no plain question. */
public final class JdbcStreams {
    private static String url;
    private static Connection connection;
    private static PGConnection own;

    private JdbcStreams() {}

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        try (Connection opened = DriverManager.getConnection(jdbc(url, ""))) {
            connection = opened;
            own = opened.unwrap(PGConnection.class);
            copyIn();
            copyOut();
            largeObjects();
            notifications();
            interruptions();
        }
    }

    private static List<Object> ask(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return rows(statement.executeQuery(sql));
        }
    }

    private static void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void copyIn() {
        step("copy in", () -> {
            run("create table lines (id int primary key, name text default 'none', price numeric(8, 2), at timestamp, tags text[])");
            CopyManager copy = own.getCopyAPI();
            List<Object> found = new ArrayList<>();
            found.add(copy.copyIn("copy lines from stdin", new StringReader("1\tone\t1.50\t2024-02-29 00:00:00\t{a,\"b c\"}\n2\t\\N\t\\N\t\\N\t{}\n3\ttab\\there\\\\\t3\t\\N\t\\N\n7\tquoted\\\nend \\x\t\\N\t\\N\t\\N\n\\.\n")));
            found.add(copy.copyIn("copy lines (id, name, price) from stdin (format csv, header, null 'NIL', quote '\"')",
                new ByteArrayInputStream("id,name,price\n4,\"with, comma\",4\n5,\"q\"\"uote\nline\",NIL\n6,,NIL\n".getBytes(StandardCharsets.UTF_8))));
            found.addAll(ask("select * from lines order by id"));
            return found;
        });
        step("copy in, by hand", () -> {
            CopyIn in = own.getCopyAPI().copyIn("copy lines (id, name) from stdin");
            List<Object> found = new ArrayList<>();
            found.add(in.getFormat() + " " + in.getFieldCount() + " " + in.getFieldFormat(0) + " " + in.isActive());
            for (int n = 10; n < 20; n++) {
                byte[] line = (n + "\tline " + n + "\n").getBytes(StandardCharsets.UTF_8);
                // A row need not end where a message does.
                in.writeToCopy(line, 0, 4);
                in.writeToCopy(line, 4, line.length - 4);
            }
            found.add(in.endCopy() + " " + in.getHandledRowCount());
            CopyIn given = own.getCopyAPI().copyIn("copy lines (id, name) from stdin");
            byte[] half = "99\thalf".getBytes(StandardCharsets.UTF_8);
            given.writeToCopy(half, 0, half.length);
            given.cancelCopy();
            found.addAll(ask("select count(*), count(*) filter (where id = 99) as cancelled from lines"));
            return found;
        });
        step("copy in that fails", () -> {
            CopyManager copy = own.getCopyAPI();
            List<Object> found = new ArrayList<>();
            for (String text : List.of("1\tagain\n", "x\tno number\n", "100\n", "100\ta\tb\n", "200\ta\n201\tb\n200\tc\n", "300\ta \\. b\n")) {
                found.add(refused(() -> copy.copyIn("copy lines (id, name) from stdin", new StringReader(text))));
            }
            found.add(refused(() -> copy.copyIn("copy nowhere from stdin", new StringReader(""))));
            found.add(refused(() -> copy.copyIn("copy lines from stdin (format csv)", new StringReader("7,\"open\n"))));
            found.add(refused(() -> copy.copyIn("copy lines (id, name) from stdin (format csv)", new StringReader("400,\"a\nb\"\nx,c\n"))));
            found.add(refused(() -> copy.copyIn("select 1", new StringReader(""))));
            found.addAll(ask("select count(*) from lines where id >= 100"));
            return found;
        });
        step("copy in, as a stream, in a transaction", () -> {
            connection.setAutoCommit(false);
            try (PGCopyOutputStream out = new PGCopyOutputStream(own, "copy lines (id, name) from stdin")) {
                for (int n = 1000; n < 6000; n++) {
                    out.write((n + "\t" + "x".repeat(n % 50) + "\n").getBytes(StandardCharsets.UTF_8));
                }
            }
            List<Object> found = new ArrayList<>(ask("select count(*), sum(length(name)) from lines where id >= 1000"));
            connection.rollback();
            connection.setAutoCommit(true);
            found.addAll(ask("select count(*) from lines where id >= 1000"));
            return found;
        });
    }

    private static void copyOut() {
        step("copy out", () -> {
            CopyManager copy = own.getCopyAPI();
            List<Object> found = new ArrayList<>();
            for (String sql : List.of("copy (select * from lines order by id) to stdout", "copy (select id, name, price from lines order by id limit 5) to stdout (format csv, header, force_quote (name))",
                "copy (select id, at from lines order by id) to stdout with null '-' delimiter '|'")) {
                StringWriter writer = new StringWriter();
                found.add(copy.copyOut(sql, writer));
                found.addAll(Arrays.asList(writer.toString().split("\n")));
            }
            return found;
        });
        step("copy out and in, in binary", () -> {
            CopyManager copy = own.getCopyAPI();
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            long rows = copy.copyOut("copy (select * from lines order by id) to stdout (format binary)", bytes);
            run("create table copied (like lines)");
            long back = copy.copyIn("copy copied from stdin (format binary)", new ByteArrayInputStream(bytes.toByteArray()));
            return List.of(rows, back, bytes.size(), Arrays.hashCode(bytes.toByteArray()), ask("select count(*) from (table lines except table copied) d"));
        });
        step("copy out, by hand", () -> {
            CopyOut out = own.getCopyAPI().copyOut("copy (select g, g * 2 from generate_series(1, 1000) g) to stdout");
            List<Object> found = new ArrayList<>();
            found.add(new String(out.readFromCopy(), StandardCharsets.UTF_8) + out.getFieldCount());
            int more = 0;
            for (byte[] row = out.readFromCopy(); row != null; row = out.readFromCopy()) {
                more++;
            }
            found.add(more + " " + out.getHandledRowCount());
            try (InputStream in = new PGCopyInputStream(own, "copy (select repeat('y', 100000)) to stdout")) {
                found.add(in.readAllBytes().length);
            }
            found.add(refused(() -> own.getCopyAPI().copyOut("copy (select 1 / (3 - g) from generate_series(1, 9) g) to stdout", new StringWriter())));
            return found;
        });
    }

    private static void largeObjects() {
        step("large objects", () -> {
            connection.setAutoCommit(false);
            LargeObjectManager manager = own.getLargeObjectAPI();
            long oid = manager.createLO(LargeObjectManager.READ | LargeObjectManager.WRITE);
            List<Object> found = new ArrayList<>();
            try (LargeObject object = manager.open(oid, LargeObjectManager.WRITE)) {
                object.write("0123456789".repeat(1000).getBytes(StandardCharsets.US_ASCII));
                object.seek(5);
                object.write(new byte[] {'a', 'b'}, 0, 2);
                found.add(object.tell() + " " + object.size() + " " + object.size64());
            }
            try (LargeObject object = manager.open(oid, LargeObjectManager.READ)) {
                found.add(new String(object.read(10), StandardCharsets.US_ASCII));
                object.seek(-3, LargeObject.SEEK_END);
                found.add(new String(object.read(10), StandardCharsets.US_ASCII));
                found.add(object.tell64());
                object.seek64(9000, LargeObject.SEEK_SET);
                found.add(object.getInputStream().readAllBytes().length);
            }
            LargeObject read = manager.open(oid, LargeObjectManager.READ);
            found.add(refused(() -> read.write(new byte[] {1})));
            connection.rollback();
            connection.setAutoCommit(true);
            return found;
        });
        step("large objects that are cut", () -> {
            connection.setAutoCommit(false);
            LargeObjectManager manager = own.getLargeObjectAPI();
            long oid = manager.createLO();
            List<Object> found = new ArrayList<>();
            LargeObject object = manager.open(oid, LargeObjectManager.READWRITE);
            object.getOutputStream().write(new byte[5000]);
            object.truncate(100);
            found.add(object.size());
            object.truncate64(300);
            found.add(object.size());
            object.close();
            connection.commit();
            found.addAll(ask("select count(*) from pg_largeobject_metadata"));
            manager.unlink(oid);
            connection.commit();
            found.addAll(ask("select count(*) from pg_largeobject_metadata"));
            found.add(refused(() -> manager.open(oid, LargeObjectManager.READ)).replaceAll("\\d{5,}", "OID"));
            connection.rollback();
            connection.setAutoCommit(true);
            found.add(refused(manager::createLO));
            return found;
        });
        step("blobs and clobs", () -> {
            run("create table blobs (id int primary key, data oid, words oid)");
            connection.setAutoCommit(false);
            long words = own.getLargeObjectAPI().createLO();
            try (LargeObject object = own.getLargeObjectAPI().open(words, LargeObjectManager.WRITE)) {
                object.write("wörds in a clob".getBytes(StandardCharsets.UTF_8));
            }
            try (PreparedStatement statement = connection.prepareStatement("insert into blobs values (1, ?, ?)")) {
                statement.setBlob(1, new ByteArrayInputStream(new byte[] {1, 2, 3, 4, 5}));
                // The driver makes no Clob itself: its text is a large object that is there.
                statement.setLong(2, words);
                statement.executeUpdate();
            }
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery("select data, words from blobs")) {
                result.next();
                Blob blob = result.getBlob(1);
                found.add(blob.length() + " " + Arrays.toString(blob.getBytes(2, 3)) + " " + blob.position(new byte[] {4}, 1));
                Clob clob = result.getClob(2);
                found.add(Tour.all(clob.getCharacterStream()));
                blob.setBytes(6, new byte[] {6, 7});
                blob.truncate(6);
                found.add(blob.length());
            }
            connection.commit();
            connection.setAutoCommit(true);
            found.addAll(ask("select lo_get(data) as data from blobs"));
            return found;
        });
    }

    private static void notifications() {
        step("notifications", () -> {
            List<Object> found = new ArrayList<>();
            try (Connection other = DriverManager.getConnection(jdbc(url, "")); Statement statement = other.createStatement()) {
                run("listen news");
                run("listen \"Other\"");
                statement.execute("notify news, 'first'");
                statement.execute("select pg_notify('Other', 'second')");
                other.setAutoCommit(false);
                statement.execute("notify news, 'twice'; notify news, 'twice'; notify news, 'rolled back'");
                other.rollback();
                statement.execute("notify news, 'twice'; notify news, 'twice'; notify news");
                other.commit();
                while (found.size() < 4) {
                    PGNotification[] heard = own.getNotifications(60_000);
                    if (heard == null || heard.length == 0) {
                        throw new AssertionError("nothing heard after " + found);
                    }
                    for (PGNotification notification : heard) {
                        found.add(notification.getName() + " " + notification.getParameter() + " " + (notification.getPID() == own.getBackendPID()));
                    }
                }
            }
            run("unlisten *");
            run("notify news, 'to nobody'");
            found.add(own.getNotifications().length);
            run("listen news; notify news, 'to myself'");
            PGNotification[] heard = own.getNotifications();
            found.add(heard.length + " " + heard[0].getParameter() + " " + (heard[0].getPID() == own.getBackendPID()));
            return found;
        });
    }

    /** Waits until the server runs what is to be cancelled: the driver asks once, and what has not begun is not ended. */
    private static void sleeping() throws SQLException {
        try (Connection other = DriverManager.getConnection(jdbc(url, "")); Statement statement = other.createStatement()) {
            String question = "select 1 from pg_stat_activity where state = 'active' and query like '%sleep(30)' and pid = " + own.getBackendPID();
            while (rows(statement.executeQuery(question)).isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    private static void interruptions() {
        step("a time-out of a statement", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                return List.of(refused(() -> statement.executeQuery("select pg_sleep(30)")), ask("select 'still here' as state"));
            }
        });
        step("cancel from another thread", () -> {
            try (Statement statement = connection.createStatement()) {
                CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> refused(() -> statement.executeQuery("select pg_sleep(30)")));
                sleeping();
                statement.cancel();
                return List.of(said.get(), ask("select 'still here' as state"));
            }
        });
        step("cancel by another connection", () -> {
            try (Connection other = DriverManager.getConnection(jdbc(url, "")); Statement statement = other.createStatement()) {
                int pid = own.getBackendPID();
                CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> refused(() -> ask("select pg_sleep(30)")));
                while (!said.isDone()) {
                    rows(statement.executeQuery("select pg_cancel_backend(pid) from pg_stat_activity where state = 'active' and query like '%sleep(30)' and pid = " + pid));
                }
                return List.of(said.get(), ask("select 'still here' as state"));
            }
        });
        step("a connection that is ended", () -> {
            Connection other = DriverManager.getConnection(jdbc(url, ""));
            int pid = other.unwrap(PGConnection.class).getBackendPID();
            List<Object> found = new ArrayList<>(ask("select pg_terminate_backend(" + pid + ")"));
            found.add(refused(() -> {
                try (Statement statement = other.createStatement()) {
                    for (int n = 0; n < 1000; n++) {
                        statement.execute("select 1");
                    }
                }
            }));
            found.add(other.isValid(5) + " " + other.isClosed());
            Connection third = DriverManager.getConnection(jdbc(url, ""));
            third.abort(Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task);
                thread.setDaemon(true);
                return thread;
            }));
            return found;
        });
        step("wrong names", () -> {
            List<Object> found = new ArrayList<>();
            found.add(refused(() -> DriverManager.getConnection(jdbc(url, "").replaceFirst("/store", "/nowhere"))));
            found.add(refused(() -> DriverManager.getConnection(jdbc(url, "&options=-c%20nothing=1"))));
            found.add(refused(() -> DriverManager.getConnection(jdbc(url, "&options=-c%20work_mem=lots"))));
            return found;
        });
    }
}
