package tour;

import static tour.Tour.jdbc;
import static tour.Tour.refused;
import static tour.Tour.spell;
import static tour.Tour.step;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ParameterMode;
import jakarta.persistence.Table;
import jakarta.persistence.criteria.Root;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.UUID;
import java.util.function.Function;
import org.hibernate.LockMode;
import org.hibernate.LockOptions;
import org.hibernate.ScrollMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.query.Page;
import org.hibernate.query.SelectionQuery;
import tour.Shop.Address;
import tour.Shop.Card;
import tour.Shop.Customer;
import tour.Shop.Employee;
import tour.Shop.Everything;
import tour.Shop.Label;
import tour.Shop.Level;
import tour.Shop.Line;
import tour.Shop.Mood;
import tour.Shop.Note;
import tour.Shop.Order;
import tour.Shop.Payment;
import tour.Shop.Person;
import tour.Shop.Product;
import tour.Shop.Profile;
import tour.Shop.Stock;
import tour.Shop.StockKey;
import tour.Shop.Transfer;

/** Hibernate: its schemas, entities of every kind, its query language, locks. */
public final class Hibernate {
    private static String url;
    private static SessionFactory factory;

    private Hibernate() {}

    /** A table as it was, and as it is to be. */
    @Entity(name = "Before")
    @Table(name = "changing")
    static class Before {
        @Id int id;
        String name;
    }

    @Entity(name = "After")
    @Table(name = "changing", indexes = @jakarta.persistence.Index(name = "changing_more", columnList = "more"))
    static class After {
        @Id int id;
        String name;
        @jakarta.persistence.Column(unique = true) Integer more;
        @jakarta.persistence.ManyToOne Added added;
    }

    @Entity(name = "Added")
    static class Added {
        @Id @jakarta.persistence.GeneratedValue(strategy = jakarta.persistence.GenerationType.IDENTITY) long id;
        @jakarta.persistence.ElementCollection List<String> words;
    }

    public static void main(String[] arguments) {
        TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
        url = arguments[0];
        schemas();
        try (SessionFactory opened = factory("validate", Shop.ENTITIES)) {
            factory = opened;
            entities();
            everything();
            queries();
            functions();
            changes();
            locks();
            rest();
        }
        step("drop", () -> {
            factory("drop", Shop.ENTITIES).close();
            factory("drop", After.class, Added.class).close();
            try (SessionFactory empty = factory("none")) {
                return empty.fromSession(session -> ask(session, "select relname from pg_class where relnamespace = 'public'::regnamespace"));
            }
        });
    }

    private static SessionFactory factory(String schema, Class<?>... entities) {
        Configuration configuration = new Configuration()
            .setProperty("hibernate.connection.url", jdbc(url, ""))
            .setProperty("hibernate.connection.autocommit", "false")
            .setProperty("hibernate.hbm2ddl.auto", schema)
            .setProperty("hibernate.hbm2ddl.halt_on_error", "true")
            .setProperty("hibernate.jdbc.batch_size", "20")
            .setProperty("hibernate.order_inserts", "true");
        for (Class<?> entity : entities) {
            configuration.addAnnotatedClass(entity);
        }
        return configuration.buildSessionFactory();
    }

    private static Object in(Function<Session, Object> work) {
        return factory.fromTransaction(work);
    }

    @SuppressWarnings("unchecked")
    private static List<Object> ask(Session session, String sql) {
        return session.createNativeQuery(sql, Object.class).getResultList();
    }

    private static List<Object> hql(Session session, String text, Object... values) {
        SelectionQuery<Object> query = session.createSelectionQuery(text, Object.class);
        for (int at = 0; at < values.length; at++) {
            query.setParameter(at + 1, values[at]);
        }
        return query.getResultList();
    }

    private static void schemas() {
        step("create", () -> {
            factory("create", Shop.ENTITIES).close();
            try (SessionFactory plain = factory("none")) {
                return plain.fromSession(session -> {
                    List<Object> found = new ArrayList<>(ask(session, """
                        select c.relname, c.relkind::text, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, a.attgenerated::text,
                          pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)
                        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
                        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') order by c.relname, a.attnum"""));
                    found.addAll(ask(session, "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace and conname !~ '_check' order by 1, 2"));
                    found.addAll(ask(session, "select indexdef from pg_indexes where schemaname = 'public' order by 1"));
                    found.addAll(ask(session, "select sequencename, start_value, increment_by, data_type::text from pg_sequences order by 1"));
                    return found;
                });
            }
        });
        step("types of the server", () -> {
            try (SessionFactory moods = factory("create-drop", Shop.Feeling.class)) {
                return moods.fromTransaction(session -> {
                    for (Mood mood : Mood.values()) {
                        session.persist(new Shop.Feeling(mood));
                    }
                    session.flush();
                    session.clear();
                    List<Object> found = new ArrayList<>(hql(session, "select mood, moods from Feeling where mood in (SAD, HAPPY) order by mood"));
                    found.addAll(ask(session, "select enumlabel from pg_enum order by enumsortorder"));
                    found.addAll(ask(session, "select mood::text from feeling where mood > 'HAPPY' order by mood desc"));
                    return found;
                });
            }
        });
        step("checks", () -> {
            try (SessionFactory plain = factory("none")) {
                return plain.fromSession(session -> ask(session, "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace and conname ~ '_check' order by 1, 2"));
            }
        });
        step("validate", () -> {
            factory("validate", Shop.ENTITIES).close();
            return refused(() -> factory("validate", Before.class).close());
        });
        step("update", () -> {
            factory("update", Before.class).close();
            List<Object> found = new ArrayList<>();
            found.add(refused(() -> factory("validate", After.class, Added.class).close()));
            factory("update", After.class, Added.class).close();
            // A second time there is nothing to do.
            factory("update", After.class, Added.class).close();
            factory("update", Shop.ENTITIES).close();
            factory("validate", After.class, Added.class).close();
            try (SessionFactory plain = factory("none")) {
                found.addAll(plain.fromSession(session -> ask(session, "select column_name, data_type, is_nullable from information_schema.columns where table_name in ('changing', 'added') order by table_name, ordinal_position")));
                found.addAll(plain.fromSession(session -> ask(session, "select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid in ('changing'::regclass, 'added_words'::regclass) order by 1")));
            }
            return found;
        });
    }

    private static void entities() {
        step("persist", () -> in(session -> {
            Employee boss = new Employee();
            boss.name = "Boss";
            boss.salary = new BigDecimal("9000.50");
            session.persist(boss);
            List<Label> labels = List.of(new Label("red"), new Label("small"), new Label("späte"));
            labels.forEach(session::persist);
            for (int n = 1; n <= 5; n++) {
                Product product = new Product();
                product.code = "p" + n;
                product.title = "Produkt " + n;
                product.price = new BigDecimal(n).multiply(new BigDecimal("1.25"));
                product.facts.put("n", "value " + n);
                product.mood = Mood.values()[n % 3];
                product.tags = n == 5 ? null : new String[] {"t" + n, "a,b", null};
                product.sizes = List.of(n, n * 10);
                product.labels.addAll(labels.subList(0, n % 3 + 1));
                session.persist(product);
            }
            for (int n = 1; n <= 4; n++) {
                Customer customer = new Customer();
                customer.name = "Customer " + n;
                customer.born = n == 4 ? null : LocalDate.of(1980 + n, 2, 28);
                customer.address = n == 3 ? null : new Address("Street " + n, n % 2 == 0 ? "Bonn" : "Köln");
                customer.level = Level.values()[n % 3];
                customer.phones.put("home", "0" + n);
                customer.phones.put("work", "1" + n);
                for (int m = 0; m < n; m++) {
                    Order order = new Order();
                    order.customer = customer;
                    order.placed = LocalDateTime.of(2024, m + 1, n, 12, 30, 15, 123456000);
                    for (int k = 1; k <= 2; k++) {
                        order.lines.add(new Line(order, session.bySimpleNaturalId(Product.class).load("p" + ((n + m + k) % 5 + 1)), k));
                    }
                    customer.orders.add(order);
                }
                session.persist(customer);
                Profile profile = new Profile();
                profile.customer = customer;
                profile.text = "profile of " + n;
                customer.profile = profile;
            }
            return "persisted";
        }));
        step("what the server made", () -> in(session -> {
            Product product = session.bySimpleNaturalId(Product.class).load("p2");
            List<Object> found = new ArrayList<>();
            found.add(String.join(" ", product.id + "", product.state, product.twice.toPlainString(), "" + (product.made != null), product.loud, product.facts.toString(),
                product.mood.toString(), java.util.Arrays.toString(product.tags), product.sizes.toString(), "" + product.version, "" + product.labels.size()));
            found.addAll(hql(session, "select id, name from Person order by id"));
            found.addAll(hql(session, "select id, placed from Order order by id"));
            return found;
        }));
        step("associations", () -> in(session -> {
            List<Object> found = new ArrayList<>();
            for (Customer customer : session.createSelectionQuery("from Customer order by name", Customer.class).getResultList()) {
                found.add(customer.name + " " + customer.version + " " + (customer.address == null ? null : customer.address.city + customer.address.zip) + " " + new java.util.TreeMap<>(customer.phones)
                    + " " + customer.orders.size() + " " + customer.profile.text);
            }
            Order order = session.createSelectionQuery("from Order o where size(o.lines) = 2 order by o.id", Order.class).setMaxResults(1).getSingleResult();
            found.add(order.lines.stream().map(line -> line.product.code + "x" + line.quantity).toList());
            return found;
        }));
        step("change and remove", () -> {
            in(session -> {
                Customer customer = session.createSelectionQuery("from Customer where name = 'Customer 4'", Customer.class).getSingleResult();
                customer.name = "Changed 4";
                customer.orders.remove(0);
                customer.orders.get(0).lines.remove(0);
                customer.phones.remove("work");
                customer.address.street = null;
                Product product = session.bySimpleNaturalId(Product.class).load("p1");
                product.price = new BigDecimal("100");
                product.facts = Map.of("k", "v");
                product.labels.clear();
                session.remove(session.createSelectionQuery("from Customer where name = 'Customer 1'", Customer.class).getSingleResult());
                return null;
            });
            return in(session -> {
                List<Object> found = new ArrayList<>(hql(session, "select c.name, c.version, count(o) from Customer c left join c.orders o group by c.id, c.name, c.version order by c.name"));
                found.addAll(hql(session, "select p.code, p.price, p.twice, p.version from Product p order by p.code"));
                found.addAll(ask(session, "select count(*) from customer_phones"));
                found.addAll(ask(session, "select place, count(*) from line group by place order by place"));
                return found;
            });
        });
        step("one table for several classes", () -> in(session -> {
            Order order = session.createSelectionQuery("from Order order by id", Order.class).setMaxResults(1).getSingleResult();
            Card card = new Card();
            card.amount = new BigDecimal("12.5");
            card.number = "4111";
            card.paid = order;
            session.persist(card);
            Transfer transfer = new Transfer();
            transfer.amount = new BigDecimal("0.01");
            transfer.iban = "DE00";
            session.persist(transfer);
            session.flush();
            session.clear();
            List<Object> found = new ArrayList<>();
            for (Payment payment : session.createSelectionQuery("from Payment order by id", Payment.class).getResultList()) {
                found.add(payment.getClass().getSimpleName() + " " + payment.amount);
            }
            found.addAll(hql(session, "select treat(p as Card).number, type(p) from Payment p where type(p) = Card"));
            return found;
        }));
        step("keys of two columns", () -> in(session -> {
            session.persist(new Stock("here", 1, 5));
            session.persist(new Stock("here", 2, 6));
            session.merge(new Stock("here", 2, 7));
            session.flush();
            session.clear();
            return session.find(Stock.class, new StockKey("here", 2)).amount + " " + hql(session, "select sum(amount) from Stock where (place, shelf) in (('here', 1), ('here', 2))");
        }));
        step("soft deletes", () -> in(session -> {
            Note note = new Note("a note");
            session.persist(note);
            session.persist(new Note("x"));
            session.persist(new Note("another"));
            session.flush();
            session.remove(note);
            session.flush();
            session.clear();
            return List.of(hql(session, "select text from Note order by text"), ask(session, "select text, deleted from Note order by text"));
        }));
    }

    private static void everything() {
        step("every type", () -> {
            in(session -> {
                Everything one = new Everything();
                one.id = 1;
                one.flag = true;
                one.tiny = -128;
                one.small = 32767;
                one.large = Long.MIN_VALUE;
                one.single = 1.1f;
                one.approximate = Math.PI;
                one.exact = new BigDecimal("12345.67");
                one.huge = new java.math.BigInteger("12345678901234567890");
                one.letter = 'ß';
                one.text = "täxt";
                one.endless = "e".repeat(5000);
                one.longer = "l".repeat(300);
                one.bytes = new byte[] {0, 1, -1};
                one.blob = new byte[] {1, 2, 3};
                one.clob = "clöb";
                one.day = LocalDate.of(2024, 2, 29);
                one.time = LocalTime.of(12, 34, 56);
                one.local = LocalDateTime.of(2024, 2, 29, 12, 34, 56, 789012000);
                one.instant = Instant.parse("2024-02-29T12:34:56.789012Z");
                one.offset = OffsetDateTime.of(2024, 7, 1, 0, 0, 0, 0, ZoneOffset.ofHours(-5));
                one.milliseconds = LocalDateTime.of(2024, 2, 29, 12, 34, 56, 789012000);
                one.duration = Duration.ofSeconds(3661, 5);
                one.interval = Duration.ofSeconds(7322, 500_000_000);
                one.uuid = UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
                one.ordinal = Level.HIGH;
                one.named = Level.MIDDLE;
                try {
                    one.address = java.net.InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
                    one.link = java.net.URI.create("https://example.com/a?b").toURL();
                } catch (java.io.IOException error) {
                    throw new java.io.UncheckedIOException(error);
                }
                one.doubles = new Double[] {1.5, null};
                one.days = new LocalDate[] {LocalDate.of(2024, 1, 1)};
                one.levels = new Level[] {Level.LOW, Level.HIGH};
                one.currency = java.util.Currency.getInstance("EUR");
                one.zone = ZoneOffset.ofHours(3);
                one.locale = Locale.GERMANY;
                one.zoned = one.offset.toZonedDateTime();
                session.persist(one);
                Everything none = new Everything();
                none.id = 2;
                none.letter = 'n';
                none.interval = Duration.ZERO;
                none.address = one.address;
                none.longer = "";
                session.persist(none);
                return null;
            });
            return in(session -> {
                List<Object> found = new ArrayList<>();
                for (Everything row : session.createSelectionQuery("from Everything order by id", Everything.class).getResultList()) {
                    for (var field : Everything.class.getDeclaredFields()) {
                        field.setAccessible(true);
                        try {
                            found.add(field.getName() + " " + spell(field.get(row)));
                        } catch (IllegalAccessException | java.sql.SQLException error) {
                            throw new IllegalStateException(error);
                        }
                    }
                }
                return found;
            });
        });
        step("an array of another type", () -> refused(() -> in(session -> hql(session, "select id from Everything where array_contains(doubles, 1.5)"))));
        step("conditions on every type", () -> in(session -> {
            List<Object> found = new ArrayList<>();
            for (String condition : List.of("flag", "tiny < 0", "exact between 12345 and 12346", "letter = 'ß'", "day = date 2024-02-29", "time > time 12:00", "local < local datetime",
                "instant = instant", "duration > 1 hour", "uuid is not null", "ordinal = HIGH", "named in (LOW, MIDDLE)", "text like '%ä%'", "lower(text) = 'täxt'", "bytes = X'0001FF'",
                "year(day) = 2024", "day + 1 day > day", "local datetime - local > 1 day", "array_length(days) = 1", "text ilike 'T%'", "cast(large as string) like '-%'",
                "extract(hour from local) = 12", "text is distinct from endless", "levels is not null", "huge > 1BI")) {
                try {
                    found.add(condition + " " + hql(session, "select id from Everything where " + condition));
                } catch (RuntimeException error) {
                    found.add(condition + " " + Tour.errorOf(error));
                    session.getTransaction().rollback();
                    session.beginTransaction();
                }
            }
            return found;
        }));
    }

    private static void queries() {
        for (Map.Entry<String, String> query : new java.util.TreeMap<>(Map.ofEntries(
            Map.entry("joins", "select c.name, o.id, l.quantity, p.code from Customer c join c.orders o join o.lines l join l.product p where l.quantity > 1 order by c.name, o.id, p.code"),
            Map.entry("left joins", "select c.name, o.id from Customer c left join c.orders o on month(o.placed) = 1 order by c.name, o.id"),
            Map.entry("fetched joins", "select distinct c.name from Customer c left join c.orders o left join o.lines where c.level > LOW order by c.name"),
            Map.entry("groups", "select c.level, count(distinct c), avg(l.quantity), sum(l.quantity * l.product.price) from Customer c join c.orders o join o.lines l group by c.level having count(*) > 1 order by c.level"),
            Map.entry("subqueries", "select p.code from Product p where p.price > (select avg(q.price) from Product q) or exists (select 1 from Line l where l.product = p and l.quantity > 5) or p.code in (select 'p3') order by p.code"),
            Map.entry("members", "select p.code from Product p where (select l from Label l where l.word = 'red') member of p.labels or p.labels is empty order by p.code"),
            Map.entry("cases", "select case when p.price > 5 then 'dear' else 'cheap' end as k, count(*), coalesce(min(p.title), 'none'), nullif(max(p.code), 'p5') from Product p group by 1 order by 1"),
            Map.entry("windows", "select p.code, row_number() over (order by p.price desc), sum(p.price) over (partition by p.mood order by p.code rows between unbounded preceding and current row), lag(p.code, 1) over (order by p.code) from Product p order by p.code"),
            Map.entry("common tables", "with dear as (select p.id as id, p.code as code from Product p where p.price > 3) select d.code, count(l.id) from dear d left join Line l on l.product.id = d.id group by d.code order by d.code"),
            Map.entry("recursion", "with chain as (select e.id as id, 1 as depth from Employee e where e.boss is null union all select e.id as id, c.depth + 1 as depth from Employee e join chain c on e.boss.id = c.id) select depth, count(*) from chain group by depth order by depth"),
            Map.entry("unions", "select p.code as x from Product p where p.id = 3 union select c.name as x from Customer c where c.name = 'none'"),
            Map.entry("intersections", "select p.mood from Product p intersect select p.mood from Product p where p.price > 5 order by 1"),
            Map.entry("laterals", "select c.name, t.id from Customer c join lateral (select o.id as id from c.orders o order by o.placed desc limit 1) t order by c.name"),
            Map.entry("filters", "select count(*) filter (where p.price > 3), listagg(p.code, '+') within group (order by p.code desc), every(p.price > 0), any(p.code = 'p1') from Product p"),
            Map.entry("ties", "select p.code from Product p order by p.price desc fetch first 2 rows with ties"),
            Map.entry("pages", "select p.code from Product p order by p.code offset 1 rows fetch next 2 rows only"),
            Map.entry("rollups", "select p.mood, p.state, count(*) from Product p group by rollup(p.mood, p.state) order by p.mood nulls last, p.state nulls last"),
            Map.entry("indices", "select index(l), l.quantity from Order o join o.lines l where o.id = (select min(id) from Order) order by 1"),
            Map.entry("entries", "select c.name, key(p), value(p) from Customer c join c.phones p where key(p) = 'home' order by c.name"),
            Map.entry("nulls", "select c.name from Customer c order by c.born desc nulls last, c.name"),
            Map.entry("percentiles", "select percentile_cont(0.5) within group (order by p.price), mode() within group (order by p.state) from Product p"),
            Map.entry("jsons", "select p.code, p.facts from Product p where p.facts is not null order by p.code"),
            Map.entry("arrays", "select p.code, array_length(p.sizes), array_get(p.sizes, 1), array_append(p.sizes, 7), array_to_string(p.tags, ';', 'null') from Product p order by p.code"))).entrySet()) {
            step(query.getKey(), () -> in(session -> hql(session, query.getValue())));
        }
        step("parameters and pages", () -> in(session -> {
            SelectionQuery<String> query = session.createSelectionQuery("select p.code from Product p where p.price between :low and :high and p.mood in :moods order by p.code", String.class)
                .setParameter("low", new BigDecimal("0")).setParameter("high", new BigDecimal("1000")).setParameterList("moods", List.of(Mood.SAD, Mood.HAPPY, Mood.OK));
            return List.of(query.getResultCount(), query.setPage(Page.page(2, 1)).getResultList(), query.setFirstResult(4).setMaxResults(10).getResultList());
        }));
        step("criteria", () -> in(session -> {
            var builder = session.getCriteriaBuilder();
            var query = builder.createQuery(Object[].class);
            Root<Product> product = query.from(Product.class);
            query.multiselect(product.get("mood"), builder.max(product.get("price")), builder.countDistinct(product.get("code")))
                .where(builder.or(builder.like(product.get("title"), "Pr_d%"), builder.isNull(product.get("title"))), builder.gt(product.get("price"), 1))
                .groupBy(product.get("mood")).having(builder.gt(builder.count(product), 0L)).orderBy(builder.desc(product.get("mood")));
            return session.createQuery(query).getResultList();
        }));
        step("entities fetched along", () -> factory.fromSession(session -> {
            var graph = session.createEntityGraph(Customer.class);
            graph.addSubgraph("orders").addAttributeNodes("lines");
            return session.createSelectionQuery("from Customer c where c.orders is not empty order by c.name", Customer.class).setEntityGraph(graph, org.hibernate.graph.GraphSemantic.FETCH)
                .getResultList().stream().map(customer -> customer.name + customer.orders.stream().mapToInt(order -> order.lines.size()).sum()).distinct().toList();
        }));
        step("scrolling", () -> in(session -> {
            List<Object> found = new ArrayList<>();
            try (var rows = session.createSelectionQuery("select code from Product order by code", String.class).setFetchSize(2).scroll(ScrollMode.SCROLL_INSENSITIVE)) {
                rows.last();
                found.add(rows.getRowNumber() + rows.get());
                rows.first();
                found.add(rows.get());
                rows.scroll(2);
                found.add(rows.get());
            }
            try (var stream = session.createSelectionQuery("select code from Product order by code", String.class).setFetchSize(2).getResultStream()) {
                found.add(stream.skip(1).toList());
            }
            return found;
        }));
    }

    private static void functions() {
        step("functions", () -> in(session -> {
            List<Object> found = new ArrayList<>();
            for (String call : List.of("upper(title)", "substring(title, 2, 3)", "trim(both 'P' from title)", "locate('d', title)", "length(title)", "concat(code, '-', title)", "left(title, 2)",
                "right(title, 2)", "replace(title, 'd', 'D')", "lpad(code, 5, '*')", "pad(code with 5 trailing '.')", "overlay(title placing 'XX' from 2 for 3)", "repeat(code, 2)", "collate(code as ucs_basic)",
                "abs(-price)", "ceiling(price)", "floor(price)", "round(price, 1)", "truncate(price, 1)", "mod(id, 2)", "power(price, 2)", "sqrt(price)", "exp(1e0)", "ln(2e0)", "log10(100e0)", "sign(price)", "pi",
                "greatest(price, 2, 3)", "least(price, 2)", "cast(price as Integer)", "cast('2024-02-29' as LocalDate)", "extract(year from date 2024-02-29)", "extract(week from date 2024-02-29)",
                "extract(day of week from date 2024-02-29)", "trunc(datetime 2024-02-29 12:34:56, month)", "format(datetime 2024-02-29 12:34:56 as 'yyyy/MM/dd HH:mm')",
                "date 2024-02-29 + 1 month", "(datetime 2024-03-01 00:00:00 - datetime 2024-02-28 12:00:00) by hour", "hex(cast('ab' as binary))", "md5(title)", "coalesce(null, title)", "ifnull(state, 'none')",
                "str(price)", "array(1, 2)", "array_list(1, 2)", "array_position(sizes, 10)", "array_slice(sizes, 1, 1)", "array_replace(sizes, 1, 100)", "array_contains(sizes, 10)", "array_remove(sizes, 1)",
                "sql('? || chr(65)', code)", "column(code as String)", "bitand(id, 3)", "bitxor(id, 3)", "degrees(pi)", "atan2(1e0, 2e0)", "chr(64)", "ascii(code)", "position('u' in title)")) {
                try {
                    found.add(call + " " + spell(hql(session, "select " + call + " from Product where code = 'p3'")));
                } catch (RuntimeException | java.sql.SQLException error) {
                    found.add(call + " " + Tour.errorOf((Exception) error));
                    session.getTransaction().rollback();
                    session.beginTransaction();
                }
            }
            return found;
        }));
    }

    private static void changes() {
        step("changes in bulk", () -> in(session -> {
            List<Object> found = new ArrayList<>();
            found.add(session.createMutationQuery("update Product set price = price + 1, title = concat(title, '!') where mood = SAD").executeUpdate());
            found.add(session.createMutationQuery("update versioned Product set state = 'old' where code = 'p5'").executeUpdate());
            // Of a class in two tables: through a temporary table or common tables of its keys.
            found.add(session.createMutationQuery("update Customer set name = upper(name), level = HIGH where level = LOW").executeUpdate());
            found.add(session.createMutationQuery("insert into Stock (place, shelf, amount) select p.code, p.id, 3 from Product p").executeUpdate());
            found.add(session.createMutationQuery("insert into Stock (place, shelf, amount) values ('here', 1, 50), ('there', 9, 1) on conflict (place, shelf) do update set amount = amount + excluded.amount").executeUpdate());
            found.add(session.createMutationQuery("insert into Stock (place, shelf, amount) values ('here', 1, 50) on conflict do nothing").executeUpdate());
            found.add(session.createMutationQuery("delete from Stock where shelf > 3").executeUpdate());
            found.add(session.createMutationQuery("delete from Employee where salary < 2000 and name like '%2'").executeUpdate());
            found.addAll(hql(session, "select place, shelf, amount from Stock order by place, shelf"));
            found.addAll(hql(session, "select p.name, type(p) from Person p order by p.name"));
            found.addAll(hql(session, "select code, title, price, version, state from Product order by code"));
            return found;
        }));
        step("upserts without a session", () -> {
            try (StatelessSession session = factory.openStatelessSession()) {
                session.beginTransaction();
                session.upsert(new Stock("upserted", 1, 10));
                session.upsert(new Stock("upserted", 1, 11));
                session.upsert(new Stock("here", 2, 12));
                Product product = new Product();
                product.code = "stateless";
                product.price = BigDecimal.TEN;
                session.insert(product);
                product.title = "updated";
                session.update(product);
                session.insert(new Stock("many", 1, 1));
                session.getTransaction().commit();
                return session.createSelectionQuery("select place, shelf, amount from Stock order by place, shelf", Object[].class).getResultList();
            }
        });
        step("many rows in batches", () -> in(session -> {
            for (int n = 0; n < 120; n++) {
                Line line = new Line(null, null, n);
                session.persist(line);
                if (n % 50 == 0) {
                    session.flush();
                    session.clear();
                }
            }
            session.flush();
            return hql(session, "select count(*), sum(quantity), max(id) - min(id) from Line where order is null");
        }));
    }

    private static void locks() {
        step("optimistic locks", () -> {
            Product stale = factory.fromTransaction(session -> session.bySimpleNaturalId(Product.class).load("p2"));
            in(session -> session.bySimpleNaturalId(Product.class).load("p2").title = "first");
            return refused(() -> in(session -> {
                stale.title = "second";
                session.merge(stale);
                session.flush();
                return null;
            }));
        });
        step("versions that count alone", () -> {
            in(session -> session.find(Product.class, 3, LockModeType.OPTIMISTIC_FORCE_INCREMENT));
            return in(session -> session.find(Product.class, 3).version);
        });
        step("pessimistic locks", () -> in(session -> {
            List<Object> found = new ArrayList<>();
            Product product = session.find(Product.class, 2, LockModeType.PESSIMISTIC_WRITE);
            found.add(product.code + " " + session.getCurrentLockMode(product));
            found.add(refused(() -> factory.inTransaction(other -> other.find(Product.class, 2, LockModeType.PESSIMISTIC_WRITE, Map.of("jakarta.persistence.lock.timeout", 0)))));
            found.add(factory.fromTransaction(other -> other.createSelectionQuery("select p from Product p where p.id < 5 order by p.id", Product.class)
                .setHibernateLockMode(LockMode.UPGRADE_SKIPLOCKED).getResultList().stream().map(row -> row.id).toList()));
            found.add(factory.fromTransaction(other -> {
                other.createNativeMutationQuery("set local lock_timeout = 50").executeUpdate();
                // The rest of what the server says is where the row lies.
                return refused(() -> other.find(Product.class, 2, LockModeType.PESSIMISTIC_READ)).replaceFirst(", where.*|}$", "");
            }));
            session.lock(session.find(Product.class, 4), new LockOptions(LockMode.PESSIMISTIC_WRITE).setTimeOut(LockOptions.SKIP_LOCKED));
            session.refresh(product, LockModeType.PESSIMISTIC_FORCE_INCREMENT);
            found.add(product.version);
            return found;
        }));
    }

    private static void rest() {
        step("native queries", () -> in(session -> List.of(
            session.createNativeQuery("select {p.*} from products p where code = :code", Product.class).addEntity("p", Product.class).setParameter("code", "p3").getSingleResult().title,
            session.createNativeQuery("select g, g::text || ? from generate_series(1, 3) g", Object[].class).setParameter(1, "x").getResultList(),
            session.createNativeMutationQuery("update products set state = :state where code = 'p3'").setParameter("state", "native").executeUpdate())));
        step("procedures", () -> in(session -> {
            session.createNativeMutationQuery("create function add_up(a int, b int) returns int language sql as 'select a + b'").executeUpdate();
            session.createNativeMutationQuery("create procedure bump(inout n int) language plpgsql as $$ begin n := n + 1; end $$").executeUpdate();
            session.createNativeMutationQuery("create function products_of(m text) returns refcursor language plpgsql as $$ declare c refcursor; begin open c for select code from products where mood::text = m order by 1; return c; end $$").executeUpdate();
            var call = session.createStoredProcedureCall("add_up");
            call.registerParameter(1, Integer.class, ParameterMode.IN);
            call.registerParameter(2, Integer.class, ParameterMode.IN);
            call.setParameter(1, 40).setParameter(2, 2);
            call.markAsFunctionCall(Integer.class);
            List<Object> found = new ArrayList<>();
            found.add(call.getSingleResult());
            var bump = session.createStoredProcedureQuery("bump").registerStoredProcedureParameter("n", Integer.class, ParameterMode.INOUT).setParameter("n", 6);
            bump.execute();
            found.add(bump.getOutputParameterValue("n"));
            var cursor = session.createStoredProcedureCall("products_of");
            cursor.markAsFunctionCall(java.sql.Types.REF_CURSOR);
            cursor.registerParameter(1, String.class, ParameterMode.IN);
            cursor.setParameter(1, "SAD");
            found.add(cursor.getResultList());
            found.add(hql(session, "select function('add_up', p.id, 100) from Product p where p.code = 'p1'"));
            return found;
        }));
        step("constraints by name", () -> {
            List<Object> found = new ArrayList<>();
            for (Function<Session, Object> work : List.<Function<Session, Object>>of(
                session -> session.createMutationQuery("update Product set price = -1").executeUpdate(),
                session -> session.createMutationQuery("insert into Label (id, word) values (?1, 'red')").setParameter(1, new UUID(1, 1)).executeUpdate(),
                session -> session.createNativeMutationQuery("update customer set level = 'NONE'").executeUpdate(),
                session -> session.createNativeMutationQuery("insert into line (id, quantity, product_id) values (-1, 1, 12345)").executeUpdate(),
                session -> session.createNativeMutationQuery("update people set name = null").executeUpdate())) {
                try {
                    in(work);
                } catch (org.hibernate.exception.ConstraintViolationException error) {
                    found.add(error.getKind() + " " + error.getConstraintName() + " " + error.getSQLState());
                }
            }
            return found;
        });
        step("sequences count on", () -> in(session -> ask(session, "select sequencename, last_value from pg_sequences order by 1")));
    }
}
