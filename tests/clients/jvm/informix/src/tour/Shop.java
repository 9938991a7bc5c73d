package tour;

import jakarta.persistence.CascadeType;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.DiscriminatorColumn;
import jakarta.persistence.DiscriminatorValue;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Index;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.JoinTable;
import jakarta.persistence.Lob;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MapKeyColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/** The entities of Hibernate's tour. */
final class Shop {
    static final Class<?>[] ENTITIES = {
        Person.class, Customer.class, Employee.class, Product.class, Order.class, Line.class, Label.class, Payment.class, Card.class, Transfer.class,
        Everything.class, Stock.class, Profile.class, Ticket.class,
    };

    private Shop() {}

    enum Level { LOW, MIDDLE, HIGH }

    @Embeddable
    static class Address {
        String street;
        @Column(length = 60) String city;

        Address() {}

        Address(String street, String city) {
            this.street = street;
            this.city = city;
        }
    }

    /** A table for each class of people, joined. */
    @Entity(name = "Person")
    @Inheritance(strategy = InheritanceType.JOINED)
    @Table(name = "people", indexes = {@Index(name = "people_by_name", columnList = "name, born desc")})
    static class Person {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
        @Column(nullable = false, length = 80) String name;
        LocalDate born;
        @Version int version;
    }

    @Entity(name = "Customer")
    static class Customer extends Person {
        @Embedded Address address;
        @Enumerated(EnumType.STRING) Level level = Level.LOW;
        @OneToMany(mappedBy = "customer", cascade = CascadeType.ALL, orphanRemoval = true) List<Order> orders = new ArrayList<>();
        @ElementCollection @CollectionTable(name = "customer_phones") @MapKeyColumn(name = "kind") @Column(name = "number") Map<String, String> phones = new HashMap<>();
        @OneToOne(mappedBy = "customer", cascade = CascadeType.ALL, fetch = FetchType.LAZY) Profile profile;
    }

    @Entity(name = "Employee")
    static class Employee extends Person {
        @Column(precision = 10, scale = 2) BigDecimal salary;
        @ManyToOne(fetch = FetchType.LAZY) Employee boss;
    }

    @Entity(name = "Profile")
    static class Profile {
        @Id Long id;
        @OneToOne @jakarta.persistence.MapsId Customer customer;
        @Column(length = 200) String text;
    }

    @Entity(name = "Product")
    @Table(name = "products")
    static class Product {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Integer id;
        @Column(nullable = false, length = 20, unique = true) String code;
        String title;
        @Column(precision = 12, scale = 2, nullable = false) BigDecimal price;
        @ManyToMany @JoinTable(name = "product_labels") Set<Label> labels = new HashSet<>();
        @Version long version;
    }

    @Entity(name = "Label")
    static class Label {
        @Id @GeneratedValue @Column(name = "label_id") UUID id;
        @Column(unique = true, length = 40) String word;
        @ManyToMany(mappedBy = "labels") Set<Product> products = new HashSet<>();

        Label() {}

        Label(String word) {
            this.word = word;
        }
    }

    @Entity(name = "Order")
    @Table(name = "orders")
    static class Order {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "order_numbers")
        @SequenceGenerator(name = "order_numbers", sequenceName = "order_numbers", initialValue = 100, allocationSize = 10)
        Long id;
        @ManyToOne(optional = false, fetch = FetchType.LAZY) Customer customer;
        @Column(name = "placed_at") LocalDateTime placed;
        @OneToMany(mappedBy = "order", cascade = CascadeType.ALL, orphanRemoval = true) @OrderColumn(name = "place") List<Line> lines = new ArrayList<>();
        @Enumerated Level urgency = Level.MIDDLE;
    }

    @Entity(name = "Line")
    @Table(name = "order_lines")
    static class Line {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        @ManyToOne Order order;
        @ManyToOne Product product;
        int quantity;

        Line() {}

        Line(Order order, Product product, int quantity) {
            this.order = order;
            this.product = product;
            this.quantity = quantity;
        }
    }

    /** One table for all classes of payments. */
    @Entity(name = "Payment")
    @Inheritance(strategy = InheritanceType.SINGLE_TABLE)
    @DiscriminatorColumn(name = "kind", length = 10)
    static class Payment {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        @Column(precision = 10, scale = 2) BigDecimal amount;
    }

    @Entity(name = "Card")
    @DiscriminatorValue("card")
    static class Card extends Payment {
        @Column(length = 16) String number;
    }

    @Entity(name = "Transfer")
    @DiscriminatorValue("transfer")
    static class Transfer extends Payment {
        @Column(length = 34, unique = true) String iban;
    }

    /** Whose keys come from a table. */
    @Entity(name = "Ticket")
    static class Ticket {
        @Id @GeneratedValue(strategy = GenerationType.TABLE) Long id;
        String word;
    }

    /** A key of two columns. */
    @Entity(name = "Stock")
    @IdClass(StockKey.class)
    static class Stock {
        @Id @Column(length = 20) String place;
        @Id int shelf;
        int amount;

        Stock() {}

        Stock(String place, int shelf, int amount) {
            this.place = place;
            this.shelf = shelf;
            this.amount = amount;
        }
    }

    static class StockKey implements Serializable {
        String place;
        int shelf;

        StockKey() {}

        StockKey(String place, int shelf) {
            this.place = place;
            this.shelf = shelf;
        }

        @Override public boolean equals(Object other) {
            return other instanceof StockKey key && key.place.equals(place) && key.shelf == shelf;
        }

        @Override public int hashCode() {
            return Objects.hash(place, shelf);
        }
    }

    /** A column of every basic type. */
    @Entity(name = "Everything")
    static class Everything {
        @Id int id;
        boolean flag;
        byte tiny;
        short small;
        long large;
        float single;
        double approximate;
        @Column(precision = 20, scale = 4) BigDecimal exact;
        char letter;
        String text;
        byte[] bytes;
        @Lob byte[] blob;
        @Lob String clob;
        LocalDate day;
        LocalTime time;
        LocalDateTime moment;
        UUID uuid;
        Level ordinal;
        @Enumerated(EnumType.STRING) Level named;
    }

    /** A table as it was, and as it is to be. */
    @Entity(name = "Before")
    @Table(name = "changing")
    static class Before {
        @Id int id;
        String name;
    }

    @Entity(name = "After")
    @Table(name = "changing")
    static class After {
        @Id int id;
        String name;
        Integer more;
        @ManyToOne Added added;
    }

    @Entity(name = "Added")
    static class Added {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) long id;
        String word;
    }
}
