package tour;

import static tour.Tour.ask;
import static tour.Tour.refused;
import static tour.Tour.step;
import static tour.Tour.tables;

import jakarta.persistence.LockModeType;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.hibernate.ScrollMode;
import org.hibernate.ScrollableResults;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.query.SelectionQuery;
import tour.Shop.Address;
import tour.Shop.Card;
import tour.Shop.Customer;
import tour.Shop.Employee;
import tour.Shop.Everything;
import tour.Shop.Label;
import tour.Shop.Level;
import tour.Shop.Line;
import tour.Shop.Order;
import tour.Shop.Payment;
import tour.Shop.Product;
import tour.Shop.Profile;
import tour.Shop.Stock;
import tour.Shop.StockKey;
import tour.Shop.Ticket;
import tour.Shop.Transfer;

/** Hibernate with the community's Informix dialect: schemas, entities, its query language, locks. */
public final class HibernateTour {
    private static SessionFactory factory;

    private HibernateTour() {}

    public static void main(String[] arguments) {
        Tour.begin(arguments);
        schemas();
        factory = factory("validate", Shop.ENTITIES);
        identity();
        entities();
        queries();
        pages();
        changes();
        locks();
        factory.close();
        generatedKeysOff();
        step("drop", "[]", () -> {
            factory("drop", Shop.ENTITIES).close();
            factory("drop", Shop.After.class, Shop.Added.class).close();
            return tables();
        });
    }

    private static Configuration configuration(String schema, Class<?>... entities) {
        Configuration configuration = new Configuration()
            .setProperty("hibernate.connection.url", Tour.url)
            .setProperty("hibernate.connection.username", "informix")
            .setProperty("hibernate.connection.password", "in4mix")
            .setProperty("hibernate.hbm2ddl.auto", schema);
        for (Class<?> entity : entities) {
            configuration.addAnnotatedClass(entity);
        }
        return configuration;
    }

    private static SessionFactory factory(String schema, Class<?>... entities) {
        return configuration(schema, entities).buildSessionFactory();
    }

    private static Object in(Function<Session, Object> work) {
        return factory.fromTransaction(work);
    }

    private static List<Object> hql(Session session, String text, Object... values) {
        SelectionQuery<Object> query = session.createSelectionQuery(text, Object.class);
        for (int at = 0; at < values.length; at++) {
            query.setParameter(at + 1, values[at]);
        }
        return query.getResultList().stream().map(row -> row instanceof Object[] columns ? Arrays.toString(columns) : row).toList();
    }

    /** A step that asks one question in HQL. */
    private static void asks(String name, Object expected, String text, Object... values) {
        step(name, expected, () -> in(session -> hql(session, text, values)));
    }

    private static void schemas() {
        step("create", "[customer, customer_phones, employee, everything, hibernate_sequences, label, order_lines, order_numbers, orders, payment, people, people_seq, product_labels, products, profile, stock, ticket]", () -> {
            factory("create", Shop.ENTITIES).close();
            return tables();
        });
        step("validate", "true", () -> {
            factory("validate", Shop.ENTITIES).close();
            return true;
        });
        step("validate finds what is missing", "SchemaManagementException", () -> refused(() -> factory("validate", Shop.Before.class).close()));
        step("update", "[added|1|id, added|2|word, changing|1|id, changing|2|name, changing|3|more, changing|4|added_id]", () -> {
            factory("update", Shop.Before.class).close();
            factory("update", Shop.After.class, Shop.Added.class).close();
            factory("validate", Shop.After.class, Shop.Added.class).close();
            return ask("select tabname, colno, colname from systables t, syscolumns c where t.tabid = c.tabid and tabname in ('added', 'changing') order by tabname, colno");
        });
        step("update again changes nothing", "[4]", () -> {
            factory("update", Shop.After.class, Shop.Added.class).close();
            return ask("select ncols from systables where tabname = 'changing'");
        });
    }

    private static void identity() {
        step("identity", "1 2", () -> in(session -> {
            Product first = product("p1", "Lamp", "1.25");
            Product second = product("p2", "Table", "2.50");
            session.persist(first);
            session.persist(second);
            return first.id + " " + second.id;
        }));
        step("identity, BIGSERIAL", "true", () -> in(session -> {
            Card card = new Card();
            card.amount = new BigDecimal("10.00");
            card.number = "4000";
            Transfer transfer = new Transfer();
            transfer.amount = new BigDecimal("20.50");
            transfer.iban = "DE00";
            session.persist(card);
            session.persist(transfer);
            return transfer.id == card.id + 1;
        }));
        step("identity without a session", "3", () -> {
            try (StatelessSession session = factory.openStatelessSession()) {
                session.beginTransaction();
                Product third = product("p3", "Chair", "3.75");
                session.insert(third);
                session.getTransaction().commit();
                return third.id;
            }
        });
        step("sequence", "true", () -> in(session -> {
            Employee boss = new Employee();
            boss.name = "Boss";
            boss.salary = new BigDecimal("9000.50");
            session.persist(boss);
            Employee worker = new Employee();
            worker.name = "Worker";
            worker.salary = new BigDecimal("3000.25");
            worker.boss = boss;
            session.persist(worker);
            return worker.id == boss.id + 1;
        }));
        step("keys from a table", "1 2", () -> in(session -> {
            Ticket first = new Ticket();
            Ticket second = new Ticket();
            session.persist(first);
            session.persist(second);
            return first.id + " " + second.id;
        }));
        step("a key of two columns", "5", () -> {
            in(session -> {
                session.persist(new Stock("cellar", 2, 5));
                return null;
            });
            return in(session -> session.find(Stock.class, new StockKey("cellar", 2)).amount);
        });
        step("UUID keys", "3", () -> in(session -> {
            for (String word : new String[] {"red", "small", "späte"}) {
                session.persist(new Label(word));
            }
            session.flush();
            return hql(session, "from Label").size();
        }));
    }

    private static Product product(String code, String title, String price) {
        Product product = new Product();
        product.code = code;
        product.title = title;
        product.price = new BigDecimal(price);
        return product;
    }

    private static void entities() {
        step("persist with associations", "4", () -> {
            in(session -> {
                List<Product> products = session.createSelectionQuery("from Product order by code", Product.class).getResultList();
                for (int n = 1; n <= 4; n++) {
                    Customer customer = new Customer();
                    customer.name = "Customer " + n;
                    customer.born = n == 4 ? null : LocalDate.of(1980 + n, 2, 28);
                    customer.address = n == 3 ? null : new Address("Street " + n, n % 2 == 0 ? "Bonn" : "Köln");
                    customer.level = Level.values()[n % 3];
                    customer.phones.put("home", "0" + n);
                    customer.phones.put("work", "1" + n);
                    Order order = new Order();
                    order.customer = customer;
                    order.placed = LocalDateTime.of(2024, n, 10, 12, 30, 15);
                    for (int line = 0; line < n; line++) {
                        order.lines.add(new Line(order, products.get(line % products.size()), line + 1));
                    }
                    customer.orders.add(order);
                    session.persist(customer);
                }
                return null;
            });
            return in(session -> hql(session, "select count(*) from Customer").get(0));
        });
        step("find", "Customer 2 Bonn 1982-02-28", () -> in(session -> {
            Customer customer = session.createSelectionQuery("from Customer where name = 'Customer 2'", Customer.class).getSingleResult();
            return customer.name + " " + customer.address.city + " " + customer.born;
        }));
        step("a map of values", "{home=01, work=11}", () -> in(session -> new java.util.TreeMap<>(customer(session, 1).phones)));
        step("an ordered list", "[1, 2, 3]", () -> in(session -> customer(session, 3).orders.get(0).lines.stream().map(line -> line.quantity).toList()));
        step("a list in another order", "[3, 1, 2]", () -> {
            in(session -> {
                List<Line> lines = customer(session, 3).orders.get(0).lines;
                lines.add(0, lines.remove(2));
                return null;
            });
            return in(session -> customer(session, 3).orders.get(0).lines.stream().map(line -> line.quantity).toList());
        });
        step("many to many", "[red, small]", () -> {
            in(session -> {
                session.createSelectionQuery("from Product where code = 'p1'", Product.class).getSingleResult().labels
                    .addAll(session.createSelectionQuery("from Label where word in ('red', 'small')", Label.class).getResultList());
                return null;
            });
            return in(session -> hql(session, "select l.word from Product p join p.labels l order by l.word"));
        });
        step("one to one", "about", () -> {
            in(session -> {
                Profile profile = new Profile();
                profile.customer = customer(session, 1);
                profile.text = "about";
                session.persist(profile);
                return null;
            });
            return in(session -> customer(session, 1).profile.text);
        });
        step("inheritance, joined", "[Customer, Customer, Customer, Customer, Employee, Employee]", () -> in(session -> session.createSelectionQuery("from Person", Shop.Person.class).getResultList().stream().map(person -> person.getClass().getSimpleName()).sorted().toList()));
        step("inheritance, one table", "[Card 10.00, Transfer 20.50]", () -> in(session -> session.createSelectionQuery("from Payment order by id", Payment.class).getResultList().stream().map(payment -> payment.getClass().getSimpleName() + " " + payment.amount).toList()));
        step("change", "Renamed 1", () -> {
            in(session -> {
                customer(session, 4).name = "Renamed";
                return null;
            });
            return in(session -> hql(session, "select name || ' ' || str(version) from Customer where name = 'Renamed'").get(0));
        });
        step("merge", "Customer 4 2", () -> {
            Customer detached = factory.fromTransaction(session -> session.createSelectionQuery("from Customer where name = 'Renamed'", Customer.class).getSingleResult());
            detached.name = "Customer 4";
            in(session -> session.merge(detached));
            return in(session -> customer(session, 4).name + " " + customer(session, 4).version);
        });
        step("remove an element", "2", () -> {
            in(session -> customer(session, 3).orders.get(0).lines.remove(1));
            return in(session -> customer(session, 3).orders.get(0).lines.size());
        });
        step("remove in cascade", "3 0", () -> {
            in(session -> {
                session.remove(customer(session, 4));
                return null;
            });
            return in(session -> hql(session, "select count(*) from Customer").get(0) + " " + hql(session, "select count(*) from Line where order.customer.name = 'Customer 4'").get(0));
        });
        step("roll back", "3", () -> {
            try (Session session = factory.openSession()) {
                session.beginTransaction();
                session.remove(customer(session, 1));
                session.flush();
                session.getTransaction().rollback();
            }
            return in(session -> hql(session, "select count(*) from Customer").get(0));
        });
        step("a batch", "60", () -> {
            factory.inTransaction(session -> {
                session.setJdbcBatchSize(20);
                for (int n = 0; n < 60; n++) {
                    session.persist(new Stock("hall", n, n * 10));
                }
            });
            return in(session -> hql(session, "select count(*) from Stock where place = 'hall'").get(0));
        });
        step("every type", "true -5 300 5000000000 1.5 2.25 12345.6789 x späte [1, 2, 3] HIGH MIDDLE", () -> {
            in(session -> {
                session.persist(everything());
                return null;
            });
            return in(session -> {
                Everything found = session.find(Everything.class, 1);
                return found.flag + " " + found.tiny + " " + found.small + " " + found.large + " " + found.single + " " + found.approximate + " " + found.exact + " " + found.letter + " " + found.text + " "
                    + Arrays.toString(found.bytes) + " " + found.ordinal + " " + found.named;
            });
        });
        step("dates and times", "2024-02-29 13:14:15 2024-02-29T13:14:15.123 00000000-0000-0007-0000-000000000009", () -> in(session -> {
            Everything found = session.find(Everything.class, 1);
            return found.day + " " + found.time + " " + found.moment + " " + found.uuid;
        }));
        step("large objects", "300000 200000", () -> in(session -> {
            Everything found = session.find(Everything.class, 1);
            return found.blob.length + " " + found.clob.length();
        }));
        step("a large object changed", "3 ende", () -> {
            in(session -> {
                Everything found = session.find(Everything.class, 1);
                found.blob = new byte[] {1, 2, 3};
                found.clob = "ende";
                return null;
            });
            return in(session -> session.find(Everything.class, 1).blob.length + " " + session.find(Everything.class, 1).clob);
        });
        step("everything null that can be", "null", () -> {
            in(session -> {
                Everything empty = new Everything();
                empty.id = 2;
                empty.letter = 'y';
                session.persist(empty);
                return null;
            });
            return in(session -> session.find(Everything.class, 2).text);
        });
    }

    private static Everything everything() {
        Everything all = new Everything();
        all.id = 1;
        all.flag = true;
        all.tiny = -5;
        all.small = 300;
        all.large = 5_000_000_000L;
        all.single = 1.5f;
        all.approximate = 2.25;
        all.exact = new BigDecimal("12345.6789");
        all.letter = 'x';
        all.text = "späte";
        all.bytes = new byte[] {1, 2, 3};
        all.blob = new byte[300_000];
        all.clob = "ab".repeat(100_000);
        all.day = LocalDate.of(2024, 2, 29);
        all.time = LocalTime.of(13, 14, 15);
        all.moment = LocalDateTime.of(2024, 2, 29, 13, 14, 15, 123_000_000);
        all.uuid = new UUID(7, 9);
        all.ordinal = Level.HIGH;
        all.named = Level.MIDDLE;
        return all;
    }

    private static Customer customer(Session session, int number) {
        return session.createSelectionQuery("from Customer where name = ?1", Customer.class).setParameter(1, "Customer " + number).getSingleResult();
    }

    private static void queries() {
        asks("parameters", "[Customer 2, Customer 3]", "select name from Customer where name > ?1 and born is not null order by name", "Customer 1");
        asks("a list of parameters", "[p1, p3]", "select code from Product where code in (?1) order by code", List.of("p1", "p3"));
        asks("joins", "[[Customer 1, p1], [Customer 2, p1], [Customer 2, p2]]", "select c.name, p.code from Customer c join c.orders o join o.lines l join l.product p where c.name < 'Customer 3' order by c.name, p.code");
        asks("an outer join", "[[Boss, null], [Worker, Boss]]", "select e.name, b.name from Employee e left join e.boss b order by e.name");
        step("a join that fetches", "3", () -> in(session -> session.createSelectionQuery("select distinct c from Customer c left join fetch c.orders", Customer.class).getResultList().size()));
        asks("groups", "[[Bonn, 1], [Köln, 1]]", "select c.address.city, count(*) from Customer c where c.address.city is not null group by c.address.city having count(*) > 0 order by 1");
        asks("aggregates", "[[3, 1.25, 3.75, 7.50]]", "select count(*), min(price), max(price), sum(price) from Product");
        asks("a subquery", "[Customer 1, Customer 2]", "select name from Customer c where (select count(*) from Line l where l.order.customer = c) < 3 and c.name in (select d.name from Customer d where d.name < 'Customer 3') order by name");
        asks("exists", "[Customer 1]", "select name from Customer c where exists (select 1 from Profile p where p.customer = c)");
        asks("members", "[Customer 2]", "select c.name from Customer c where c.name = 'Customer 2' and size(c.orders) = 1");
        asks("case", "[[p1, low], [p2, top], [p3, top]]", "select code, case when price < 2 then 'low' else 'top' end from Product order by code");
        asks("coalesce and nullif", "[none, Köln]", "select coalesce(c.address.city, 'none') from Customer c where c.name <> 'Customer 2' order by 1 desc");
        asks("functions of text", "[[LAMP, lamp, 4, am, Lamp!, 2]]", "select upper(title), lower(title), length(title), substring(title, 2, 2), concat(title, '!'), locate('a', title) from Product where code = 'p1'");
        asks("trim and replace", "[[x, Limp]]", "select trim('  x '), replace(title, 'a', 'i') from Product where code = 'p1'");
        asks("functions of numbers", "[[5, 2, 1.3, 3]]", "select abs(-5), mod(12, 5), round(price, 1), ceiling(price) + 1 from Product where code = 'p1'");
        asks("parts of a date", "[[2024, 2, 29]]", "select extract(year from day), extract(month from day), extract(day from day) from Everything where id = 1");
        asks("current date", "[true]", "select current_date > {2020-01-01} from Everything where id = 1");
        asks("like", "[p1, p2, p3]", "select code from Product where code like 'p%' and title not like '%z%' order by code");
        asks("case-insensitive like", "[p1]", "select code from Product where title ilike 'LAMP'");
        asks("between", "[p2, p3]", "select code from Product where price between 2 and 4 order by code");
        asks("an enumeration", "[Customer 2]", "select name from Customer where level = HIGH");
        asks("casts", "[[12, 1.25]]", "select cast('12' as Integer), cast(price as String) from Product where code = 'p1'");
        asks("union", "[p1, p2, x]", "select code from Product where code < 'p3' union select 'x' from Product where code = 'p1' order by 1");
        step("native SQL", "[Lamp]", () -> in(session -> session.createNativeQuery("select title from products where code = :code", String.class).setParameter("code", "p1").getResultList()));
        step("criteria", "[p3, p2]", () -> in(session -> {
            var builder = session.getCriteriaBuilder();
            var query = builder.createQuery(String.class);
            var product = query.from(Product.class);
            query.select(product.get("code")).where(builder.greaterThan(product.get("price"), new BigDecimal("2"))).orderBy(builder.desc(product.get("code")));
            return session.createQuery(query).getResultList();
        }));
    }

    private static void pages() {
        step("the first page", "[0, 1, 2]", () -> page(0, 3));
        step("a later page", "[10, 11]", () -> page(10, 2));
        step("the last page", "[58, 59]", () -> page(58, 5));
        step("behind the last page", "[]", () -> page(60, 5));
        step("a page of a join", "[Customer 2]", () -> in(session -> session.createSelectionQuery("select c.name from Customer c join c.orders o order by c.name", String.class).setFirstResult(1).setMaxResults(1).getResultList()));
        step("scroll", "0 59 30", () -> in(session -> {
            try (ScrollableResults<Integer> rows = session.createSelectionQuery("select shelf from Stock where place = 'hall' order by shelf", Integer.class).scroll(ScrollMode.SCROLL_INSENSITIVE)) {
                rows.first();
                int first = rows.get();
                rows.last();
                int last = rows.get();
                rows.setRowNumber(31);
                return first + " " + last + " " + rows.get();
            }
        }));
        step("a stream", "1770", () -> in(session -> {
            try (var rows = session.createSelectionQuery("select shelf from Stock where place = 'hall'", Integer.class).getResultStream()) {
                return rows.mapToInt(Integer::intValue).sum();
            }
        }));
    }

    private static Object page(int from, int most) {
        return in(session -> session.createSelectionQuery("select shelf from Stock where place = 'hall' order by shelf", Integer.class).setFirstResult(from).setMaxResults(most).getResultList());
    }

    private static void changes() {
        step("update in HQL", "10 1", () -> in(session -> session.createMutationQuery("update Stock set amount = amount + 1 where shelf < 10 and place = 'hall'").executeUpdate() + " " + hql(session, "select amount from Stock where place = 'hall' and shelf = 0").get(0)));
        step("update of a joined class", "3", () -> in(session -> session.createMutationQuery("update Customer set level = LOW where name like 'Customer%'").executeUpdate()));
        step("delete in HQL", "20", () -> in(session -> session.createMutationQuery("delete from Stock where place = 'hall' and shelf >= 40").executeUpdate()));
        step("insert in HQL", "1", () -> in(session -> session.createMutationQuery("insert into Stock (place, shelf, amount) values ('attic', 1, 2)").executeUpdate()));
        step("insert from a query in HQL", "40", () -> in(session -> session.createMutationQuery("insert into Stock (place, shelf, amount) select 'copy', s.shelf, s.amount from Stock s where s.place = 'hall'").executeUpdate()));
        step("upsert", "9", () -> {
            try (StatelessSession session = factory.openStatelessSession()) {
                session.beginTransaction();
                session.upsert(new Stock("attic", 1, 9));
                session.getTransaction().commit();
            }
            return in(session -> session.find(Stock.class, new StockKey("attic", 1)).amount);
        });
        step("a duplicate key", "ConstraintViolationException", () -> refused(() -> in(session -> {
            session.persist(product("p1", "twice", "1"));
            return null;
        })));
        step("a null where there may be none", "true", () -> refused(() -> in(session -> {
            Product product = product("p9", "none", "1");
            product.price = null;
            session.persist(product);
            session.flush();
            return null;
        })).matches("PropertyValueException|ConstraintViolationException"));
        step("a foreign key", "ConstraintViolationException", () -> refused(() -> in(session -> session.createMutationQuery("delete from Product where code = 'p1'").executeUpdate())));
    }

    private static void locks() {
        step("optimistic locking", "OptimisticLockException", () -> {
            Product stale = factory.fromTransaction(session -> session.createSelectionQuery("from Product where code = 'p2'", Product.class).getSingleResult());
            in(session -> {
                session.find(Product.class, stale.id).title = "Desk";
                return null;
            });
            stale.title = "Board";
            return refused(() -> in(session -> session.merge(stale)));
        });
        step("a version forced on", "true", () -> in(session -> {
            Product product = session.find(Product.class, 1);
            long before = product.version;
            session.lock(product, LockModeType.PESSIMISTIC_FORCE_INCREMENT);
            return product.version == before + 1;
        }));
        step("pessimistic locking", "Chair", () -> in(session -> session.find(Product.class, 3, LockModeType.PESSIMISTIC_WRITE).title));
        step("a lock in a query", "[3]", () -> in(session -> session.createSelectionQuery("from Product where code = 'p3'", Product.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).getResultList().stream().map(product -> product.id).toList()));
        step("a locked row is refused to others", "true", () -> {
            try (Session first = factory.openSession(); Session second = factory.openSession()) {
                first.beginTransaction();
                first.find(Product.class, 3, LockModeType.PESSIMISTIC_WRITE).title = "Stool";
                first.flush();
                second.beginTransaction();
                second.createNativeMutationQuery("set lock mode to not wait").executeUpdate();
                String found = refused(() -> second.createMutationQuery("update Product set title = 'Sofa' where code = 'p3'").executeUpdate());
                second.getTransaction().rollback();
                first.getTransaction().rollback();
                return !found.equals("not refused");
            }
        });
        step("refresh", "Chair", () -> in(session -> {
            Product product = session.find(Product.class, 3);
            product.title = "other";
            session.refresh(product);
            return product.title;
        }));
    }

    private static void generatedKeysOff() {
        step("identity with generated keys off", "true", () -> {
            try (SessionFactory off = configuration("validate", Shop.ENTITIES).setProperty("hibernate.jdbc.use_get_generated_keys", "false").buildSessionFactory()) {
                return off.fromTransaction(session -> {
                    Product fourth = product("p4", "Shelf", "4.00");
                    Product fifth = product("p5", "Bed", "5.00");
                    session.persist(fourth);
                    session.persist(fifth);
                    return fifth.id == fourth.id + 1 && session.createSelectionQuery("select code from Product where id = ?1", String.class).setParameter(1, fifth.id).getSingleResult().equals("p5");
                });
            }
        });
    }
}
