package tour;

import static tour.Tour.jdbc;
import static tour.Tour.refused;
import static tour.Tour.rows;
import static tour.Tour.spell;
import static tour.Tour.step;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.geometric.PGbox;
import org.postgresql.geometric.PGcircle;
import org.postgresql.geometric.PGline;
import org.postgresql.geometric.PGlseg;
import org.postgresql.geometric.PGpath;
import org.postgresql.geometric.PGpoint;
import org.postgresql.geometric.PGpolygon;
import org.postgresql.util.PGInterval;
import org.postgresql.util.PGmoney;
import org.postgresql.util.PGobject;

/** pgjdbc: values of every type, in text and in binary. */
public final class JdbcTypes {
    private static Connection connection;

    private JdbcTypes() {}

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
        String url = arguments[0];
        try (Connection opened = DriverManager.getConnection(jdbc(url, "&prepareThreshold=1"))) {
            connection = opened;
            tables();
            numbers();
            times();
            arrays();
            objects();
            others();
            literals(url);
        }
    }

    private static List<Object> ask(String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int at = 0; at < values.length; at++) {
                statement.setObject(at + 1, values[at]);
            }
            // The second time values come in binary, which must not be another answer.
            String first = spell(rows(statement.executeQuery()));
            List<Object> second = rows(statement.executeQuery());
            return first.equals(spell(second)) ? second : List.of(first, second);
        }
    }

    private static void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static PGobject object(String type, String value) throws SQLException {
        PGobject made = new PGobject();
        made.setType(type);
        made.setValue(value);
        return made;
    }

    private static void tables() {
        step("types", () -> {
            run("""
                create type mood as enum ('sad', 'ok', 'very happy');
                create type address as (street text, number int, tags text[]);
                create domain positive as integer check (value > 0);
                create type span as range (subtype = float8);
                create extension if not exists hstore;
                create extension if not exists citext""");
            run("""
                create table everything (id serial primary key, i2 int2, i4 int4, i8 int8, n numeric, n2 numeric(12, 3), f4 float4, f8 float8, flag bool,
                  t text, v varchar(9), c char(4), nm name, q "char", b bytea, d date, tm time, tmz timetz, ts timestamp, tsz timestamptz, ts3 timestamp(3),
                  span interval, u uuid, j json, jb jsonb, bits bit(4), vb varbit, ip inet, net cidr, mac macaddr, cash money, m mood, a address,
                  pos positive, r int4range, rt tstzrange, mr nummultirange, h hstore, ci citext, o oid, rc regclass, p point, tv tsvector, lsn pg_lsn)""");
            try (PreparedStatement statement = connection.prepareStatement("select * from everything")) {
                List<Object> found = new ArrayList<>();
                ResultSetMetaData shape = statement.getMetaData();
                for (int n = 1; n <= shape.getColumnCount(); n++) {
                    found.add(shape.getColumnName(n) + " " + shape.getColumnTypeName(n) + " " + shape.getColumnType(n) + " "
                        + shape.getColumnClassName(n) + " " + shape.getPrecision(n) + " " + shape.getScale(n) + " " + shape.getColumnDisplaySize(n));
                }
                return found;
            }
        });
        step("a row of every type", () -> {
            run("""
                insert into everything values (default, -32768, 2147483647, -9223372036854775808, 1e40, -123.4567, 1.5, 0.1, true, 'Ünï€𝄞', 'var', 'ab', 'nm', 'x',
                  '\\x00ff5c', '2024-02-29', '23:59:59.123456', '12:00:00+05:30', '2024-02-29 12:34:56.789012', '2024-02-29 12:34:56.789012+00', '2024-02-29 01:02:03.4567',
                  '1 year 2 mons -3 days 04:05:06.789', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a" : [1, null]}', '{"b": 1.50, "a": "x"}', B'1010', B'101',
                  '192.168.0.1/24', '10.0.0.0/8', '08:00:2b:01:02:03', '12.34', 'very happy', row('High "St"', 7, '{a,"b,c",null}'), 5, '[1,5)',
                  '["2024-01-01 00:00+00",)', '{[1.5,2],[3,4)}', 'a=>1, b=>NULL', 'CiText', 4294967295, 'everything', '(1.5,-2)', '''a'':1A ''b''', '16/B374D848');
                insert into everything default values""");
            return ask("select * from everything order by id");
        });
        step("text of every type", () -> {
            List<Object> found = new ArrayList<>();
            try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery("select * from everything where id = 1")) {
                result.next();
                for (int n = 1; n <= result.getMetaData().getColumnCount(); n++) {
                    found.add(result.getMetaData().getColumnName(n) + " " + result.getString(n));
                }
            }
            return found;
        });
    }

    private static void numbers() {
        step("numbers", () -> ask("select ?::int2 as a, ?::int4 as b, ?::int8 as c, ?::numeric as d, ?::float4 as e, ?::float8 as f, ?::bool as g, ?::numeric as h",
            (short) -5, Integer.MAX_VALUE, Long.MIN_VALUE, new BigDecimal("-12345678901234567890.0123456789"), 1.1f, Double.MIN_VALUE, false, new BigDecimal("1E+30")));
        step("numbers of java's types as they are", () -> ask("select ? as a, ? as b, ? as c, ? as d, ? as e, ? as f, pg_typeof(?)::text as g, pg_typeof(?)::text as h",
            (short) 1, 2, 3L, new BigDecimal("4.50"), 5.5f, 6.25, 7L, 1.5f));
        step("numbers that are none", () -> ask("select 'NaN'::float8 as a, '-Infinity'::float4 as b, 'infinity'::float8 as c, -0.0::float8 as z, 1e-310::float8 as tiny"));
        step("numerics", () -> ask("select 0::numeric as a, 0.000 as b, 1e20::numeric as c, 1234567890123.4500 as d, -0.00001 as e, 1e-20::numeric as f, 10000::numeric as g"));
        step("numbers read as others", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select 300::int8 as i, 1.75::numeric as n, '42' as t, true as b, 2.5::float8 as f, 70000::int4 as w")) {
                for (int round = 0; round < 2; round++) {
                    try (ResultSet result = statement.executeQuery()) {
                        result.next();
                        found.add(result.getInt("i") + " " + result.getShort("i") + " " + result.getDouble("n") + " " + result.getInt("n") + " " + result.getLong("t")
                            + " " + result.getBoolean("b") + " " + result.getFloat("f") + " " + result.getBigDecimal("i"));
                        found.add(refused(() -> result.getByte("i")));
                        found.add(refused(() -> result.getShort("w")));
                        found.add(refused(() -> result.getDate("b")));
                    }
                }
            }
            return found;
        });
        step("serials count", () -> {
            run("create table counted (a smallserial, b serial, c bigserial, d int generated by default as identity (start 10 increment 5))");
            run("insert into counted default values; insert into counted default values");
            return ask("select * from counted order by a");
        });
    }

    private static void times() {
        step("times in", () -> ask("select ?::date as d, ?::time as t, ?::timestamp as ts, ?::timestamptz as tsz, ?::timetz as tz, ?::text as untyped",
            LocalDate.of(2024, 2, 29), LocalTime.of(23, 59, 59, 123456000), LocalDateTime.of(2024, 2, 29, 12, 34, 56, 789012000),
            OffsetDateTime.of(2024, 2, 29, 12, 34, 56, 1000, ZoneOffset.ofHours(-7)), OffsetTime.of(1, 2, 3, 0, ZoneOffset.ofHoursMinutes(5, 30)), "2024-02-29"));
        step("times of old", () -> ask("select ?::date as d, ?::time as t, ?::timestamp as ts, ?::timestamptz as tsz",
            Date.valueOf("1582-10-04"), Time.valueOf("23:59:59"), Timestamp.valueOf("2024-07-01 12:34:56.123456789"), Timestamp.valueOf("1900-01-01 00:00:00")));
        step("times out", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select d, tm, tmz, ts, tsz from everything where id = 1")) {
                for (int round = 0; round < 2; round++) {
                    try (ResultSet result = statement.executeQuery()) {
                        result.next();
                        found.add(List.of(result.getObject(1, LocalDate.class), result.getObject(2, LocalTime.class), result.getObject(3, OffsetTime.class),
                            result.getObject(4, LocalDateTime.class), result.getObject(5, OffsetDateTime.class), result.getDate(4), result.getTime(5),
                            result.getTimestamp(1), result.getTimestamp(4, Calendar.getInstance(TimeZone.getTimeZone("UTC"))), result.getTime(2), result.getTime(3)));
                    }
                }
            }
            return found;
        });
        step("the ends of time", () -> {
            List<Object> found = new ArrayList<>(ask("select 'infinity'::timestamp as a, '-infinity'::timestamptz as b, 'infinity'::date as c, "
                + "'0001-01-01 BC'::date as d, '0044-03-15 12:00 BC'::timestamp as e, '24:00'::time as f, '9999-12-31 23:59:59.999999'::timestamp as g, 'epoch'::timestamptz as h"));
            found.addAll(ask("select ?::timestamp = 'infinity' as a, ?::date = '-infinity' as b, ?::timestamptz as c", LocalDateTime.MAX, LocalDate.MIN,
                OffsetDateTime.of(-43, 3, 15, 12, 0, 0, 0, ZoneOffset.UTC)));
            return found;
        });
        step("zones", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select ?::timestamptz::text as a, ?::timestamp::text as b, current_setting('TimeZone') as zone")) {
                Calendar tokyo = Calendar.getInstance(TimeZone.getTimeZone("Asia/Tokyo"));
                Timestamp at = Timestamp.valueOf("2024-03-31 01:59:59.5");
                statement.setTimestamp(1, at, tokyo);
                statement.setTimestamp(2, at, tokyo);
                found.addAll(rows(statement.executeQuery()));
            }
            found.addAll(ask("select timestamptz '2024-03-31 01:00+00' as summer, timestamp '2024-10-27 02:30' at time zone 'Europe/Berlin' as twice, "
                + "timestamptz '2024-07-01 12:00+00' at time zone 'Asia/Kathmandu' as far"));
            return found;
        });
        step("intervals", () -> {
            List<Object> found = new ArrayList<>(ask("select ?::interval as a, interval '1 year 2 mons -3 days 04:05:06.789' as b, interval '-1 day 2 hours' as c, interval '0' as d",
                new PGInterval(1, 2, 3, 4, 5, 6.7)));
            try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery("select span from everything where id = 1")) {
                result.next();
                PGInterval interval = result.getObject(1, PGInterval.class);
                found.add(interval.getYears() + " " + interval.getMonths() + " " + interval.getDays() + " " + interval.getHours() + " " + interval.getMicroSeconds());
            }
            return found;
        });
    }

    private static void arrays() {
        step("arrays in", () -> ask("select ?::int[] as a, ?::text[] as b, ?::numeric[] as c, ?::timestamp[] as d, ?::uuid[] as e, ?::bool[] as f, ?::float8[] as g, ?::bytea[] as h",
            connection.createArrayOf("int4", new Integer[] {1, null, -3}), connection.createArrayOf("text", new String[] {"a,b", "q\"u\\o", "", "NULL", null}),
            connection.createArrayOf("numeric", new BigDecimal[] {new BigDecimal("1.50"), null}),
            connection.createArrayOf("timestamp", new Timestamp[] {Timestamp.valueOf("2024-02-29 01:02:03")}),
            connection.createArrayOf("uuid", new UUID[] {new UUID(1, 2)}), connection.createArrayOf("bool", new Boolean[] {true, false, null}),
            connection.unwrap(PGConnection.class).createArrayOf("float8", new double[] {1.5, Double.NaN}),
            connection.createArrayOf("bytea", new byte[][] {{0, 1}, {}})));
        step("arrays of arrays", () -> ask("select ?::int[][] as a, ?::text[] as b, array_ndims(?::int[]) as n, array[]::int[] as none, '[2:3]={7,8}'::int[] as from2, '{}'::text[] as empty",
            connection.createArrayOf("int4", new int[][] {{1, 2}, {3, 4}}), connection.createArrayOf("text", new String[][][] {{{"a", "b"}}, {{"c", null}}}),
            connection.createArrayOf("int4", new int[][][] {{{1}}})));
        step("arrays out", () -> {
            List<Object> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("select array[1,2,null] as a, array['x','y'] as b, array[[1.5],[2]] as c, "
                + "array['sad','ok']::mood[] as d, array[row('s', 1, '{}')::address] as e, array['2024-02-29'::date] as f, '{1,2}'::int2[] as g, array[true] as h, array[int4range(1,2)] as i")) {
                for (int round = 0; round < 2; round++) {
                    try (ResultSet result = statement.executeQuery()) {
                        result.next();
                        for (int n = 1; n <= 9; n++) {
                            java.sql.Array array = result.getArray(n);
                            found.add(array.getBaseTypeName() + " " + array.getBaseType() + " " + spell(array.getArray()) + " " + array);
                        }
                        found.add(rows(result.getArray(2).getResultSet()));
                        found.add(Arrays.toString((Object[]) result.getArray(1).getArray(2, 1)));
                    }
                }
            }
            return found;
        });
        step("arrays in conditions", () -> ask("select g from generate_series(1, 9) g where g = any (?) and g <> all (?) order by 1",
            connection.createArrayOf("int4", new Integer[] {2, 3, 5, 99}), connection.createArrayOf("int4", new Integer[] {3})));
        step("an array that is none", () -> refused(() -> ask("select ?::int[]", "{1,x}")) + refused(() -> ask("select ?::int[]", "{1,2")));
    }

    private static void objects() {
        step("objects in", () -> ask("select ?::mood as a, ?::address as b, ?::jsonb as c, ?::json as d, ?::inet as e, ?::int4range as f, ?::span as g, ?::bit(3) as h, ?::positive as i, ?::citext = 'ABC' as j",
            object("mood", "ok"), object("address", "(\"a, b\",3,\"{x}\")"), object("jsonb", "{\"k\":[1,2]}"), object("json", "{ \"k\" : 1 }"), object("inet", "::1"),
            object("int4range", "(1,3]"), object("span", "[0.5,)"), object("bit", "101"), 7, "abc"));
        step("objects of their own classes", () -> ask("select ? as a, ? as b, ? as c, ? as d, ? as e, ? as f, ? as g, ?::money as h",
            new PGpoint(1.5, -2), new PGbox(0, 0, 1, 2), new PGcircle(0, 0, 3), new PGline(1, 2, 3), new PGlseg(0, 0, 1, 1), new PGpath("[(0,0),(1,1)]"),
            new PGpolygon("((0,0),(1,1),(1,0))"), new PGmoney(12.34)));
        step("an enum by its name", () -> {
            try (PreparedStatement statement = connection.prepareStatement("update everything set m = ? where id = 2")) {
                statement.setObject(1, "sad", Types.OTHER);
                statement.executeUpdate();
            }
            return List.of(ask("select m, m < 'ok' as less, enum_range(m) as all from everything where id = 2"),
                refused(() -> ask("select m from everything where m = ?::mood", "angry")),
                refused(() -> ask("select m from everything where m = ?", "sad")));
        });
        step("maps", () -> ask("select ?::hstore -> 'k' as a, ?::hstore as b, hstore('x', null) as c", Map.of("k", "v"), Map.of("q\"", "a,b")));
        step("composites", () -> ask("select a, (a).street, (a).tags[2], row(1, 'x', null) as anonymous, row((a).number, a) as nested from everything where id = 1"));
        step("refused", () -> List.of(refused(() -> ask("select ?::positive", -1)), refused(() -> ask("select ?::address", "(a)")),
            refused(() -> ask("select ?::uuid", "x")), refused(() -> ask("select ?::jsonb", "{")), refused(() -> ask("select ?::inet", "1.2.3")),
            refused(() -> ask("select ?::int4range", "[3,1)")), refused(() -> ask("select ?::int", new BigDecimal("99999999999")))));
    }

    private static void others() {
        step("bytes and streams", () -> {
            run("create table lobs (id int primary key, b bytea, t text)");
            byte[] bytes = new byte[70000];
            for (int n = 0; n < bytes.length; n++) {
                bytes[n] = (byte) (n * 31);
            }
            try (PreparedStatement statement = connection.prepareStatement("insert into lobs values (?, ?, ?)")) {
                statement.setInt(1, 1);
                statement.setBinaryStream(2, new java.io.ByteArrayInputStream(bytes), bytes.length);
                statement.setCharacterStream(3, new java.io.StringReader("chäracters"));
                statement.executeUpdate();
                statement.setInt(1, 2);
                statement.setBytes(2, new byte[0]);
                statement.setString(3, "n");
                statement.executeUpdate();
            }
            List<Object> found = new ArrayList<>(ask("select id, length(b) as n, md5(b) as sum, t from lobs order by id"));
            try (PreparedStatement statement = connection.prepareStatement("select b, t from lobs order by id"); ResultSet result = statement.executeQuery()) {
                result.next();
                found.add(Arrays.equals(bytes, result.getBinaryStream(1).readAllBytes()) + " " + Tour.all(result.getCharacterStream(2)));
                result.next();
                found.add(result.getBytes(1).length + " " + result.wasNull());
            }
            return found;
        });
        step("nulls of types", () -> {
            try (PreparedStatement statement = connection.prepareStatement("select ?::int as a, ?::text as b, ?::timestamptz as c, ?::bytea as d, ?::bool as e, ?::uuid as f, ?::jsonb as g")) {
                int[] types = {Types.INTEGER, Types.VARCHAR, Types.TIMESTAMP_WITH_TIMEZONE, Types.BINARY, Types.BOOLEAN, Types.OTHER, Types.NULL};
                for (int n = 0; n < types.length; n++) {
                    statement.setNull(n + 1, types[n]);
                }
                return rows(statement.executeQuery());
            }
        });
        step("objects told by their jdbc type", () -> {
            try (PreparedStatement statement = connection.prepareStatement("select ? as a, ? as b, ? as c, ? as d, ? as e, ? as f")) {
                statement.setObject(1, "12", Types.INTEGER);
                statement.setObject(2, 1, Types.VARCHAR);
                statement.setObject(3, "1.239", Types.NUMERIC, 2);
                statement.setObject(4, 1, Types.BIT);
                statement.setObject(5, "2024-02-29", Types.DATE);
                statement.setObject(6, 'c', Types.CHAR);
                return rows(statement.executeQuery());
            }
        });
        step("xml", () -> refused(() -> ask("select '<a>1</a>'::xml as x, xpath('/a/text()', '<a>1</a>'::xml) as p").forEach(row -> {
            throw new IllegalStateException(row.toString());
        })));
        step("text search and its kin", () -> ask("select to_tsvector('english', 'The quick foxes') as v, to_tsquery('english', 'fox & quick') as q, ts_rank('a:1'::tsvector, 'a') as r, "
            + "'everything'::regclass as c, 'int4'::regtype as t, '(0,1)'::tid as tid, '16/B374D848'::pg_lsn as l, 'a'::name as n, '1 2'::int2vector as iv"));
        step("parameters' types", () -> {
            try (PreparedStatement statement = connection.prepareStatement("insert into everything (i2, n2, t, c, d, tsz, u, jb, m, a, pos, r, h, ci, ip) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
                List<Object> found = new ArrayList<>();
                var shape = statement.getParameterMetaData();
                for (int n = 1; n <= shape.getParameterCount(); n++) {
                    found.add(shape.getParameterTypeName(n) + " " + shape.getParameterType(n) + " " + shape.getParameterClassName(n) + " " + shape.isSigned(n));
                }
                return found;
            }
        });
        step("types that there are", () -> {
            List<Object> kept = new ArrayList<>();
            for (Object row : rows(connection.getMetaData().getTypeInfo())) {
                if (row.toString().matches(".*\"(int4|text|mood|address|positive|span|_mood|hstore|numeric|timestamptz|bytea)\".*")) {
                    kept.add(row.toString().replaceFirst(", LITERAL_PREFIX.*", ""));
                }
            }
            java.util.Collections.sort(kept, java.util.Comparator.comparing(Object::toString));
            return kept;
        });
        step("what has no type yet", () -> ask("select pg_typeof(null) as n, pg_typeof('x') as x"));
        step("a refcursor is a text", () -> ask("select 'c'::refcursor::text as c"));
        step("binary is asked for", () -> {
            try (PreparedStatement statement = connection.prepareStatement("select i4, f8, ts, u, n from everything where id = 1")) {
                statement.unwrap(PGStatement.class).setPrepareThreshold(-1);
                return rows(statement.executeQuery());
            }
        });
    }

    /** Without binary, with texts of unknown type, as some applications configure the driver. */
    private static void literals(String url) {
        step("texts of unknown type", () -> {
            try (Connection other = DriverManager.getConnection(jdbc(url, "&stringtype=unspecified&binaryTransfer=false"));
                PreparedStatement statement = other.prepareStatement("update everything set i4 = ?, m = ?, jb = ?, u = ?, d = ?, r = ?, n = ? where id = 2 returning i4, m, jb, u, d, r, n")) {
                String[] values = {"12", "ok", "{\"x\": 1}", "00000000-0000-0000-0000-000000000001", "2024-02-29", "[1,2]", "1.50"};
                for (int n = 0; n < values.length; n++) {
                    statement.setString(n + 1, values[n]);
                }
                return rows(statement.executeQuery());
            }
        });
        step("settings change how values are written", () -> {
            List<Object> found = new ArrayList<>();
            run("set bytea_output to escape; set intervalstyle to iso_8601; set extra_float_digits to 0");
            try (Connection other = DriverManager.getConnection(jdbc(url, "&binaryTransfer=false&options=-c%20bytea_output=escape%20-c%20intervalstyle=sql_standard"));
                Statement statement = other.createStatement()) {
                found.addAll(rows(statement.executeQuery("select b, span::text as s, f8 from everything where id = 1")));
            }
            found.addAll(ask("select b, span::text as s, f8 from everything where id = 1"));
            run("reset all");
            found.add(refused(() -> run("set datestyle to german")));
            return found;
        });
    }
}
