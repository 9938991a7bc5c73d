package tour;

import static tour.Tour.ask;
import static tour.Tour.refused;
import static tour.Tour.run;
import static tour.Tour.step;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.ibatis.annotations.Delete;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Options;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.RowBounds;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.jooq.DSLContext;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.BatchPreparedStatementSetter;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.BeanPropertySqlParameterSource;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.SQLErrorCodeSQLExceptionTranslator;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring's JDBC, MyBatis, jOOQ's DSL, HikariCP; and the walk over the metadata that tools make. */
public final class LibrariesTour {
    private static HikariDataSource pool;

    private LibrariesTour() {}

    /** A row of the tour's table. */
    public static final class Item {
        private Long id;
        private String name;
        private BigDecimal price;
        private Date made;

        public Item() {}

        Item(String name, String price, String made) {
            this.name = name;
            this.price = new BigDecimal(price);
            this.made = Date.valueOf(made);
        }

        public Long getId() {
            return id;
        }

        public void setId(Long id) {
            this.id = id;
        }

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }

        public BigDecimal getPrice() {
            return price;
        }

        public void setPrice(BigDecimal price) {
            this.price = price;
        }

        public Date getMade() {
            return made;
        }

        public void setMade(Date made) {
            this.made = made;
        }

        @Override
        public String toString() {
            return id + "|" + name + "|" + price + "|" + made;
        }
    }

    /** What MyBatis makes of an interface. */
    @Mapper
    public interface Items {
        @Insert("insert into items (name, price, made) values (#{name}, #{price}, #{made})")
        @Options(useGeneratedKeys = true, keyProperty = "id", keyColumn = "id")
        int add(Item item);

        @Select("select id, name, price, made from items where id = #{id}")
        Item byId(long id);

        @Select("select id, name, price, made from items order by id")
        List<Item> all();

        @Select("select id, name, price, made from items order by id")
        List<Item> page(RowBounds bounds);

        @Select("<script>select id, name, price, made from items where name in"
            + "<foreach item='name' collection='names' open='(' separator=',' close=')'>#{name}</foreach> order by id</script>")
        List<Item> named(@Param("names") List<String> names);

        @Select("select skip #{skip} first #{count} name from items order by name desc")
        List<String> few(@Param("skip") int skip, @Param("count") int count);

        @Select("select name, count(*) as many from items group by name order by name")
        List<Map<String, Object>> grouped();

        @Update("update items set price = price * #{factor} where id = #{id}")
        int dearer(@Param("id") long id, @Param("factor") BigDecimal factor);

        @Delete("delete from items where id = #{id}")
        int remove(long id);
    }

    public static void main(String[] arguments) throws Exception {
        Tour.begin(arguments);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(Tour.url);
        config.setUsername("informix");
        config.setPassword("in4mix");
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(1);
        pool = new HikariDataSource(config);
        run("create table items (id bigserial primary key, name varchar(40) not null, price decimal(10,2), made date, unique (name) constraint items_name)");
        spring();
        mybatis();
        jooq();
        hikari();
        pool.close();
        metadata();
        run("drop table items");
    }

    private static void spring() {
        JdbcTemplate template = new JdbcTemplate(pool);
        // Its table of Informix's codes, which it finds by the product's name; the driver's own SQLSTATEs say less.
        template.setExceptionTranslator(new SQLErrorCodeSQLExceptionTranslator(pool));
        NamedParameterJdbcTemplate named = new NamedParameterJdbcTemplate(template);
        step("Spring: update with parameters", "1", () -> template.update("insert into items (name, price, made) values (?, ?, ?)", "nail", new BigDecimal("0.10"), Date.valueOf("2024-01-02")));
        step("Spring: queryForObject", "nail", () -> template.queryForObject("select name from items where id = ?", String.class, 1));
        step("Spring: queryForMap", "{id=1, made=2024-01-02, name=nail, price=0.10}", () -> new TreeMap<>(template.queryForMap("select * from items where id = 1")));
        step("Spring: a number of rows", "1", () -> template.queryForObject("select count(*) from items", Integer.class));
        step("Spring: KeyHolder", "2", () -> {
            GeneratedKeyHolder keys = new GeneratedKeyHolder();
            template.update(connection -> {
                var insert = connection.prepareStatement("insert into items (name, price) values (?, ?)", Statement.RETURN_GENERATED_KEYS);
                insert.setString(1, "screw");
                insert.setBigDecimal(2, new BigDecimal("0.25"));
                return insert;
            }, keys);
            return keys.getKey().longValue();
        });
        step("Spring: KeyHolder with the column named", "3", () -> {
            GeneratedKeyHolder keys = new GeneratedKeyHolder();
            named.update("insert into items (name, price) values (:name, :price)", new MapSqlParameterSource("name", "bolt").addValue("price", new BigDecimal("1.5")), keys, new String[] {"id"});
            return keys.getKey().longValue();
        });
        step("Spring: SimpleJdbcInsert by the table's columns", "4", () -> new SimpleJdbcInsert(template).withTableName("items").usingGeneratedKeyColumns("id")
            .executeAndReturnKey(new BeanPropertySqlParameterSource(new Item("nut", "0.05", "2024-02-29"))).longValue());
        step("Spring: SimpleJdbcInsert of several", "[1, 1]", () -> Arrays.toString(new SimpleJdbcInsert(template).withTableName("items").usingColumns("name", "price")
            .executeBatch(new SqlParameterSource[] {new MapSqlParameterSource("name", "a").addValue("price", 1), new MapSqlParameterSource("name", "b").addValue("price", 2)})));
        step("Spring: batchUpdate", "[1, 1, 1]", () -> Arrays.toString(template.batchUpdate("insert into items (name, price) values (?, ?)", new BatchPreparedStatementSetter() {
            @Override
            public void setValues(java.sql.PreparedStatement insert, int at) throws SQLException {
                insert.setString(1, "batch " + at);
                insert.setInt(2, at);
            }

            @Override
            public int getBatchSize() {
                return 3;
            }
        })));
        step("Spring: a list for IN", "[bolt, nail]", () -> named.queryForList("select name from items where name in (:names) order by name", Map.of("names", List.of("nail", "bolt", "none")), String.class));
        step("Spring: a null", "null", () -> {
            named.update("update items set made = :made where id = 2", new MapSqlParameterSource().addValue("made", null, Types.DATE));
            return template.queryForObject("select made from items where id = 2", Date.class);
        });
        step("Spring: JdbcClient into a record's likeness", "4|nut|0.05|2024-02-29", () -> JdbcClient.create(template).sql("select id, name, price, made from items where id = :id").param("id", 4).query(Item.class).single());
        step("Spring: a duplicate key is what it calls one", "DuplicateKeyException", () -> refused(() -> template.update("insert into items (name) values ('nail')")));
        step("Spring: a NULL where none may be", "true", () -> {
            try {
                template.update("insert into items (name) values (null)");
                return "not refused";
            } catch (DataIntegrityViolationException refusal) {
                return true;
            }
        });
        step("Spring: bad SQL is what it calls so", "BadSqlGrammarException", () -> refused(() -> template.queryForList("select nothing from items")));
        step("Spring: a transaction that rolls back", "0", () -> {
            TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
            transaction.executeWithoutResult(status -> {
                template.update("insert into items (name) values ('never')");
                status.setRollbackOnly();
            });
            return template.queryForObject("select count(*) from items where name = 'never'", Integer.class);
        });
        step("Spring: a savepoint", "1", () -> {
            TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
            transaction.executeWithoutResult(status -> {
                template.update("insert into items (name) values ('kept')");
                Object savepoint = status.createSavepoint();
                template.update("insert into items (name) values ('undone')");
                status.rollbackToSavepoint(savepoint);
            });
            return template.queryForObject("select count(*) from items where name in ('kept', 'undone')", Integer.class);
        });
        step("Spring: read only and isolated", "10", () -> {
            TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
            transaction.setReadOnly(true);
            transaction.setIsolationLevel(Connection.TRANSACTION_READ_COMMITTED);
            return transaction.execute(status -> template.queryForObject("select count(*) from items", Integer.class));
        });
        step("Spring: rows as they come", "10", () -> {
            template.setFetchSize(3);
            try (var names = template.queryForStream("select name from items", (row, number) -> row.getString(1))) {
                return names.count();
            }
        });
        step("Spring: a procedure", "[42]", () -> {
            run("create function added(a int, b int) returning int; return a + b; end function");
            return template.queryForList("execute function added(?, ?)", Integer.class, 40, 2);
        });
        step("Spring: everything is deleted", "10", () -> template.update("delete from items"));
    }

    private static void mybatis() {
        org.apache.ibatis.session.Configuration configuration = new org.apache.ibatis.session.Configuration(new Environment("tour", new JdbcTransactionFactory(), pool));
        configuration.addMapper(Items.class);
        SqlSessionFactory factory = new SqlSessionFactoryBuilder().build(configuration);
        List<Long> made = new ArrayList<>();
        step("MyBatis: useGeneratedKeys", "true", () -> {
            try (SqlSession session = factory.openSession(true)) {
                for (String name : List.of("hat", "coat", "shoe")) {
                    Item item = new Item(name, "10.50", "2025-05-06");
                    session.getMapper(Items.class).add(item);
                    made.add(item.getId());
                }
            }
            return made.get(0) > 0 && made.get(1) == made.get(0) + 1 && made.get(2) == made.get(0) + 2;
        });
        step("MyBatis: one by its key", "coat|10.50|2025-05-06", () -> {
            try (SqlSession session = factory.openSession()) {
                return session.getMapper(Items.class).byId(made.get(1)).toString().split("\\|", 2)[1];
            }
        });
        step("MyBatis: a foreach", "[hat, shoe]", () -> {
            try (SqlSession session = factory.openSession()) {
                return session.getMapper(Items.class).named(List.of("hat", "shoe")).stream().map(Item::getName).toList();
            }
        });
        step("MyBatis: RowBounds", "[coat]", () -> {
            try (SqlSession session = factory.openSession()) {
                return session.getMapper(Items.class).page(new RowBounds(1, 1)).stream().map(Item::getName).toList();
            }
        });
        step("MyBatis: SKIP and FIRST as parameters", "[hat, coat]", () -> {
            try (SqlSession session = factory.openSession()) {
                return session.getMapper(Items.class).few(1, 2);
            }
        });
        step("MyBatis: maps", "[{many=1, name=coat}, {many=1, name=hat}, {many=1, name=shoe}]", () -> {
            try (SqlSession session = factory.openSession()) {
                return session.getMapper(Items.class).grouped().stream().map(row -> {
                    Map<String, Object> sorted = new TreeMap<>();
                    row.forEach((key, value) -> sorted.put(key.toLowerCase(), value));
                    return sorted;
                }).toList();
            }
        });
        step("MyBatis: an update in a transaction that rolls back", "10.50", () -> {
            try (SqlSession session = factory.openSession(false)) {
                session.getMapper(Items.class).dearer(made.get(0), new BigDecimal("2"));
                session.rollback();
                return session.getMapper(Items.class).byId(made.get(0)).getPrice();
            }
        });
        step("MyBatis: batches", "[21.00, 21.00, 21.00]", () -> {
            try (SqlSession session = factory.openSession(ExecutorType.BATCH, false)) {
                for (long id : made) {
                    session.getMapper(Items.class).dearer(id, new BigDecimal("2"));
                }
                session.commit();
            }
            try (SqlSession session = factory.openSession()) {
                return session.getMapper(Items.class).all().stream().map(Item::getPrice).toList();
            }
        });
        step("MyBatis: deletes", "3", () -> {
            try (SqlSession session = factory.openSession(true)) {
                return made.stream().mapToInt(id -> session.getMapper(Items.class).remove(id)).sum();
            }
        });
    }

    /** Its free edition has no dialect of Informix: the words of its default one, where they are standard. */
    private static void jooq() {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
        DSLContext dsl = DSL.using(pool, SQLDialect.DEFAULT);
        var items = DSL.table("items");
        var name = DSL.field("name", SQLDataType.VARCHAR(40));
        var price = DSL.field("price", SQLDataType.DECIMAL(10, 2));
        step("jOOQ: insert", "1", () -> dsl.insertInto(items, name, price).values("pen", new BigDecimal("1.20")).execute());
        step("jOOQ: a batch", "[1, 1]", () -> Arrays.toString(dsl.batch(dsl.insertInto(items, name, price).values((String) null, null)).bind("ink", new BigDecimal("3.00")).bind("pad", null).execute()));
        step("jOOQ: select", "[pen 1.20, ink 3.00]", () -> dsl.select(name, price).from(items).where(price.isNotNull()).orderBy(price).fetch().map(row -> row.value1() + " " + row.value2()));
        step("jOOQ: conditions", "[ink, pen]", () -> dsl.select(name).from(items).where(name.like("%n%").and(price.between(BigDecimal.ONE, BigDecimal.TEN))).orderBy(name).fetch(name));
        step("jOOQ: grouping", "2", () -> dsl.select(DSL.count()).from(items).groupBy(price.isNull()).having(DSL.count().gt(1)).fetchOne().value1());
        step("jOOQ: a join with a subquery", "[pen]", () -> {
            var cheap = dsl.select(DSL.min(price).as("least")).from(items).asTable("cheap");
            return dsl.select(name).from(items).join(cheap).on(price.eq(cheap.field("least", BigDecimal.class))).fetch(name);
        });
        step("jOOQ: update", "2", () -> dsl.update(items).set(price, price.plus(1)).where(price.isNotNull()).execute());
        step("jOOQ: a transaction that rolls back", "3", () -> {
            try {
                dsl.transaction(inner -> {
                    inner.dsl().deleteFrom(items).execute();
                    throw new IllegalStateException("undo");
                });
            } catch (IllegalStateException undone) {
                return dsl.fetchCount(items);
            }
            return "not undone";
        });
        step("jOOQ: plain SQL", "[pen|2.20]", () -> dsl.fetch("select first 1 name, price from items where name = ?", "pen").map(row -> row.get(0) + "|" + row.get(1)));
        step("jOOQ: rows one by one", "3", () -> {
            int count = 0;
            try (var cursor = dsl.selectFrom(items).fetchSize(2).fetchLazy()) {
                for (Record ignored : cursor) {
                    count++;
                }
            }
            return count;
        });
        step("jOOQ: the tables of its metadata", "true", () -> dsl.meta().getTables("items").stream().anyMatch(table -> table.field("price") != null && table.getPrimaryKey() != null));
        step("jOOQ: delete", "3", () -> dsl.deleteFrom(items).execute());
    }

    private static void hikari() {
        step("HikariCP: tasks share few connections", "40 4", () -> {
            ExecutorService threads = Executors.newFixedThreadPool(10);
            try {
                List<Callable<Integer>> tasks = new ArrayList<>();
                for (int task = 0; task < 40; task++) {
                    tasks.add(() -> {
                        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("select 1 from systables where tabid = 1")) {
                            rows.next();
                            return rows.getInt(1);
                        }
                    });
                }
                int sum = 0;
                for (Future<Integer> answered : threads.invokeAll(tasks)) {
                    sum += answered.get();
                }
                return sum + " " + Math.max(pool.getHikariPoolMXBean().getTotalConnections(), 4);
            } finally {
                threads.shutdown();
            }
        });
        step("HikariCP: isValid", "true", () -> {
            try (Connection connection = pool.getConnection()) {
                return connection.isValid(2);
            }
        });
        step("HikariCP: what was not committed is gone", "0", () -> {
            try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.executeUpdate("insert into items (name) values ('lost')");
            }
            return ask("select name from items").size();
        });
        step("HikariCP: settings of a borrower are undone", "true 2", () -> {
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                connection.rollback();
            }
            try (Connection connection = pool.getConnection()) {
                return connection.getAutoCommit() + " " + connection.getTransactionIsolation();
            }
        });
        step("HikariCP: evicted connections are replaced", "1", () -> {
            pool.getHikariPoolMXBean().softEvictConnections();
            try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("select 1 from systables where tabid = 1")) {
                rows.next();
                return rows.getInt(1);
            }
        });
    }

    private static void metadata() throws SQLException {
        run("create table makers (id serial primary key, name varchar(30) default 'x' not null)",
            "create table parts (id int not null, maker int not null, code char(8), note lvarchar(500), seen datetime year to second, big int8, real float, flag boolean,"
                + " primary key (id) constraint parts_pk, foreign key (maker) references makers constraint parts_maker)",
            "create unique index parts_code on parts (code)", "create index parts_seen on parts (maker, seen desc)",
            "create view part_names (id, maker) as select p.id, m.name from parts p, makers m where m.id = p.maker");
        try (Connection connection = Tour.connect()) {
            DatabaseMetaData data = connection.getMetaData();
            step("metadata: product and driver", "Informix Dynamic Server true", () -> data.getDatabaseProductName() + " " + (data.getDatabaseMajorVersion() >= 12));
            step("metadata: tables", "[makers TABLE, part_names VIEW, parts TABLE]", () -> {
                Set<String> found = new TreeSet<>();
                for (String like : List.of("makers", "part%")) {
                    found.addAll(list(data.getTables(null, null, like, new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"));
                }
                return found;
            });
            step("metadata: kinds of tables", "true", () -> list(data.getTableTypes(), "TABLE_TYPE").containsAll(List.of("TABLE", "VIEW")));
            step("metadata: schemas", "true", () -> list(data.getSchemas(), "TABLE_SCHEM").contains("informix"));
            step("metadata: columns", "[id 4 NO, maker 4 NO, code 1 YES, note 12 YES, seen 93 YES, big -5 YES, real 8 YES, flag -7 YES]", () -> list(data.getColumns(null, null, "parts", null), "COLUMN_NAME", "DATA_TYPE", "IS_NULLABLE").stream().map(said -> said.replace(" -1 ", " 12 ").replace(" 16 ", " -7 ")).toList());
            step("metadata: lengths", "[id 10, maker 10, code 8, note 500]", () -> list(data.getColumns(null, null, "parts", null), "COLUMN_NAME", "COLUMN_SIZE").subList(0, 4));
            step("metadata: a default", "[id null, name x]", () -> list(data.getColumns(null, null, "makers", null), "COLUMN_NAME", "COLUMN_DEF").stream().map(said -> said.replace("'", "")).toList());
            step("metadata: primary keys", "[id 1]", () -> list(data.getPrimaryKeys(null, null, "parts"), "COLUMN_NAME", "KEY_SEQ"));
            step("metadata: imported keys", "[makers id maker parts_maker]", () -> list(data.getImportedKeys(null, null, "parts"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME", "FK_NAME"));
            step("metadata: exported keys", "[parts maker]", () -> list(data.getExportedKeys(null, null, "makers"), "FKTABLE_NAME", "FKCOLUMN_NAME"));
            step("metadata: indexes", "true", () -> list(data.getIndexInfo(null, null, "parts", false, true), "INDEX_NAME", "COLUMN_NAME", "ORDINAL_POSITION").containsAll(List.of("parts_code code 1", "parts_seen maker 1", "parts_seen seen 2")));
            // Whether only unique ones are wanted, this driver does not ask.
            step("metadata: unique indexes", "[0 parts_code, 0 parts_pk, 1 parts_maker, 1 parts_seen, 1 parts_seen]", () -> list(data.getIndexInfo(null, null, "parts", true, true), "NON_UNIQUE", "INDEX_NAME"));
            step("metadata: what identifies a row", "[id]", () -> list(data.getBestRowIdentifier(null, null, "parts", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
            step("metadata: types", "true", () -> {
                List<String> found = list(data.getTypeInfo(), "TYPE_NAME").stream().map(String::toUpperCase).toList();
                return found.containsAll(List.of("INTEGER", "VARCHAR", "DECIMAL", "DATE")) ? true : found;
            });
            step("metadata: columns of a view", "[id, maker]", () -> list(data.getColumns(null, null, "part_names", null), "COLUMN_NAME"));
            // The driver spells the column so.
            step("metadata: who may do what", "true", () -> list(data.getTablePrivileges(null, null, "parts"), "GRANTEE", "PRIVELEGE").containsAll(List.of("public DELETE", "public INDEX", "public INSERT", "public SELECT", "public UPDATE")));
            step("metadata: of a result", "id INTEGER 4 / name VARCHAR 12 / total DECIMAL 3", () -> {
                try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("select m.id, m.name, sum(p.big * 1.5)::decimal(12,2) as total from makers m, parts p group by 1, 2")) {
                    StringJoiner said = new StringJoiner(" / ");
                    var columns = rows.getMetaData();
                    for (int column = 1; column <= columns.getColumnCount(); column++) {
                        said.add(columns.getColumnLabel(column) + " " + columns.getColumnTypeName(column).toUpperCase().replace("SERIAL", "INTEGER") + " " + columns.getColumnType(column));
                    }
                    return said;
                }
            });
            step("metadata: of parameters", "3", () -> {
                try (var insert = connection.prepareStatement("insert into parts (id, maker, code) values (?, ?, ?)")) {
                    return insert.getParameterMetaData().getParameterCount();
                }
            });
            step("values: all of them", "1|1|abc|né|2024-05-06 07:08:09|9000000000|1.5|true", () -> {
                run("insert into makers (name) values ('m')");
                try (var insert = connection.prepareStatement("insert into parts values (?, ?, ?, ?, ?, ?, ?, ?)")) {
                    insert.setInt(1, 1);
                    insert.setInt(2, 1);
                    insert.setString(3, "abc");
                    insert.setCharacterStream(4, new java.io.StringReader("né"), 2);
                    insert.setTimestamp(5, Timestamp.valueOf(LocalDateTime.parse("2024-05-06T07:08:09")));
                    insert.setLong(6, 9_000_000_000L);
                    insert.setDouble(7, 1.5);
                    insert.setBoolean(8, true);
                    insert.executeUpdate();
                }
                return ask("select * from parts").get(0).replace("|t", "|true").replace("|truerue", "|true");
            });
            step("values: a stream of bytes", "bytes", () -> {
                run("create table blobs (id int, b byte in table)");
                try (var insert = connection.prepareStatement("insert into blobs values (1, ?)")) {
                    byte[] bytes = "bytes".getBytes(StandardCharsets.UTF_8);
                    insert.setBinaryStream(1, new ByteArrayInputStream(bytes), bytes.length);
                    insert.executeUpdate();
                }
                try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("select b from blobs")) {
                    rows.next();
                    return new String(rows.getBytes(1), StandardCharsets.UTF_8);
                }
            });
        }
        run("drop view part_names", "drop table parts", "drop table makers", "drop table blobs");
    }

    private static List<String> list(ResultSet rows, String... columns) throws SQLException {
        try (rows) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                StringJoiner said = new StringJoiner(" ");
                for (String column : columns) {
                    String value = rows.getString(column);
                    said.add(value == null ? "null" : value.strip());
                }
                found.add(said.toString());
            }
            return found;
        }
    }
}
