//! The sample store: customers, their orders, the items of each order and the stock, about 20,000 rows.
//!
//! The rows are a function of nothing: every file made by the same version is equal, so examples in the documentation
//! stay true and two clients can be compared row by row. The tables are ordinary SQLite with declared types that say
//! what the values are, which is all that a client on any wire needs.

use std::path::Path;

use rowferry_wire::civil::civil_from_days;
use rusqlite::{Connection, OpenFlags, Transaction, params};

/// The tables, as `sqlite3 store.db .schema` shows them.
///
/// Lengths are checked by functions that SQLite itself has, so that the shell and every other program keep the rules.
pub const SCHEMA: &str = "\
CREATE TABLE customers (
    customer_id  integer PRIMARY KEY,
    name         varchar(60) NOT NULL CHECK (length(name) <= 60),
    email        varchar(80) NOT NULL UNIQUE CHECK (length(email) <= 80),
    city         varchar(40) NOT NULL CHECK (length(city) <= 40),
    active       boolean NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    credit_limit numeric(10,2) NOT NULL DEFAULT 0,
    member_since date NOT NULL
);
CREATE TABLE stock (
    sku        varchar(12) NOT NULL PRIMARY KEY CHECK (length(sku) <= 12),
    name       varchar(60) NOT NULL CHECK (length(name) <= 60),
    quantity   integer NOT NULL CHECK (quantity >= 0),
    unit_price numeric(10,2) NOT NULL,
    updated_at timestamp NOT NULL
);
CREATE TABLE orders (
    order_id    integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customers (customer_id),
    placed_at   timestamp NOT NULL,
    status      varchar(12) NOT NULL CHECK (status IN ('open', 'paid', 'shipped', 'cancelled')),
    gift        boolean NOT NULL DEFAULT 0 CHECK (gift IN (0, 1)),
    note        text
);
CREATE INDEX orders_customer ON orders (customer_id, placed_at);
CREATE TABLE items (
    order_id   integer NOT NULL REFERENCES orders (order_id) ON DELETE CASCADE,
    line       smallint NOT NULL,
    sku        varchar(12) NOT NULL REFERENCES stock (sku),
    quantity   integer NOT NULL CHECK (quantity > 0),
    unit_price numeric(10,2) NOT NULL,
    PRIMARY KEY (order_id, line)
);
CREATE INDEX items_sku ON items (sku);
";

/// How many customers, orders and stock rows there are; the items follow from the orders.
const CUSTOMERS: i64 = 1_000;
const ORDERS: i64 = 5_000;
const STOCK: i64 = 500;

/// The rows that were written, by table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counts {
    /// Rows in `customers`.
    pub customers: i64,
    /// Rows in `orders`.
    pub orders: i64,
    /// Rows in `items`.
    pub items: i64,
    /// Rows in `stock`.
    pub stock: i64,
}

impl Counts {
    /// All rows together.
    pub fn total(&self) -> i64 {
        self.customers + self.orders + self.items + self.stock
    }
}

/// Writes the store into a new SQLite file.
///
/// # Errors
///
/// Fails when `path` cannot be opened for writing, or holds tables of these names already; nothing is left half-written.
pub fn create(path: &Path) -> rusqlite::Result<Counts> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    let counts = fill(&transaction)?;
    transaction.commit()?;
    connection.execute_batch("PRAGMA optimize")?;
    Ok(counts)
}

fn fill(transaction: &Transaction<'_>) -> rusqlite::Result<Counts> {
    let mut random = Random(0x5DEE_CE66_D1CE_CA5E);
    customers(transaction, &mut random)?;
    let prices = stock(transaction, &mut random)?;
    let items = orders(transaction, &mut random, &prices)?;
    Ok(Counts { customers: CUSTOMERS, orders: ORDERS, items, stock: STOCK })
}

fn customers(transaction: &Transaction<'_>, random: &mut Random) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    for id in 1..=CUSTOMERS {
        let (given, family) = (random.pick(&GIVEN), random.pick(&FAMILY));
        let email = format!("customer{id}@example.org");
        let credit = money(random.below(200) * 50_00);
        let since = date(FIRST_DAY - 1 - random.below(3_000));
        let active = random.below(12) != 0;
        insert.execute(params![id, format!("{given} {family}"), email, random.pick(&CITIES), active, credit, since])?;
    }
    Ok(())
}

/// Returns the article numbers and their prices in cents.
fn stock(transaction: &Transaction<'_>, random: &mut Random) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut insert = transaction.prepare("INSERT INTO stock VALUES (?, ?, ?, ?, ?)")?;
    let mut prices = Vec::new();
    for number in 1..=STOCK {
        let (material, thing) = (random.pick(&MATERIALS), random.pick(&THINGS));
        let sku = format!("{}-{number:04}", &thing[..3].to_uppercase());
        let cents = 1_95 + random.below(40_000);
        let updated = timestamp(FIRST_DAY + random.below(DAYS), random.below(86_400));
        insert.execute(params![sku, format!("{material} {thing}"), random.below(500), money(cents), updated])?;
        prices.push((sku, cents));
    }
    Ok(prices)
}

/// Returns how many items the orders have.
fn orders(transaction: &Transaction<'_>, random: &mut Random, prices: &[(String, i64)]) -> rusqlite::Result<i64> {
    let mut order = transaction.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)")?;
    let mut item = transaction.prepare("INSERT INTO items VALUES (?, ?, ?, ?, ?)")?;
    let mut items = 0;
    for id in 1..=ORDERS {
        // Orders come in order of time, as they do in life.
        let placed = timestamp(FIRST_DAY + (id - 1) * DAYS / ORDERS, random.below(86_400));
        let status = match random.below(20) {
            0 => "cancelled",
            1..=3 => "open",
            4..=8 => "paid",
            _ => "shipped",
        };
        let note = (random.below(10) == 0).then(|| random.pick(&NOTES));
        order.execute(params![id, 1 + random.below(CUSTOMERS), placed, status, random.below(15) == 0, note])?;
        for line in 1..=1 + random.below(4) + random.below(2) {
            let (sku, cents) = &prices[usize::try_from(random.below(STOCK)).expect("below STOCK, so it is an index")];
            item.execute(params![id, line, sku, 1 + random.below(5), money(*cents)])?;
            items += 1;
        }
    }
    Ok(items)
}

/// The SplitMix64 generator: a few lines, and the same numbers everywhere for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including `end`.
    fn below(&mut self, end: i64) -> i64 {
        // The bias of a remainder by so small a divisor does not matter for sample data.
        i64::try_from(self.next() % end.unsigned_abs()).expect("smaller than an i64")
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as i64)).expect("below the length")]
    }
}

/// The first day of business, 2025-01-01, as days since 1970-01-01, and how many days the store has been open.
const FIRST_DAY: i64 = 20_089;
const DAYS: i64 = 660;

/// ISO 8601, as design decision D6 stores dates. `day` counts from 1970-01-01.
fn date(day: i64) -> String {
    let (year, month, month_day) = civil_from_days(day);
    format!("{year:04}-{month:02}-{month_day:02}")
}

fn timestamp(day: i64, second: i64) -> String {
    format!("{} {:02}:{:02}:{:02}", date(day), second / 3_600, second / 60 % 60, second % 60)
}

/// Cents as SQLite NUMERIC stores an amount: the number nearest to it, exact for 15 digits.
fn money(cents: i64) -> f64 {
    cents as f64 / 100.0
}

const GIVEN: [&str; 24] = [
    "Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Fatou", "Goran", "Hana", "Inês", "Jürgen", "Kofi", "Lena", "Māra",
    "Nils", "Olga", "Paweł", "Quentin", "Rosa", "Søren", "Tomáš", "Uma", "Víctor", "Wanda", "Zoë",
];
const FAMILY: [&str; 24] = [
    "Andersson",
    "Beaumont",
    "Çelik",
    "Dvořák",
    "Eriksen",
    "Fischer",
    "Ferreira",
    "Grünwald",
    "Horvat",
    "Ivanova",
    "Jansen",
    "Kowalska",
    "Lindqvist",
    "Moreau",
    "Nakamura",
    "O'Brien",
    "Okafor",
    "Petrov",
    "Quinn",
    "Rossi",
    "Sánchez",
    "Tamm",
    "Virtanen",
    "Weiß",
];
const CITIES: [&str; 16] = [
    "Antwerp",
    "Bergen",
    "Bilbao",
    "Dresden",
    "Gdańsk",
    "Genoa",
    "Kraków",
    "Lisbon",
    "Lyon",
    "Malmö",
    "Marseille",
    "Porto",
    "Riga",
    "Rotterdam",
    "Trieste",
    "Zürich",
];
const MATERIALS: [&str; 12] =
    ["Ash", "Brass", "Canvas", "Copper", "Cotton", "Enamel", "Leather", "Linen", "Oak", "Steel", "Walnut", "Wool"];
const THINGS: [&str; 16] = [
    "basket", "bench", "blanket", "bottle", "chest", "clock", "compass", "hammock", "kettle", "ladder", "lamp",
    "lantern", "paddle", "pulley", "rope", "stool",
];
const NOTES: [&str; 8] = [
    "Ring twice, the bell is shy.",
    "Leave with the neighbour at no. 7.",
    "Deliver after 18:00.",
    "Wrap each item on its own; it's a surprise.",
    "Grüße aus dem Süden 🌻",
    "Replace what is missing with the next size up.",
    "Invoice to the office, goods to the boat.",
    "",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_equal_and_sound() {
        let directory = tempfile::tempdir().unwrap();
        let mut dumps = Vec::new();
        for name in ["one.db", "two.db"] {
            let path = directory.path().join(name);
            let counts = create(&path).unwrap();
            assert!((19_000..22_000).contains(&counts.total()), "{counts:?}");
            let connection = Connection::open(&path).unwrap();
            let violations: i64 =
                connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
            assert_eq!(violations, 0);
            let sum: String = connection
                .query_row(
                    "SELECT group_concat(o.order_id || o.placed_at || i.sku || i.unit_price, ';')
                     FROM orders AS o JOIN items AS i USING (order_id)",
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            dumps.push(sum);
        }
        assert_eq!(dumps[0], dumps[1]);
    }

    #[test]
    fn a_second_store_in_the_same_file_is_refused_and_leaves_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let counts = create(&path).unwrap();
        assert!(create(&path).is_err());
        let connection = Connection::open(&path).unwrap();
        let items: i64 = connection.query_row("SELECT count(*) FROM items", [], |row| row.get(0)).unwrap();
        assert_eq!(items, counts.items);
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(FIRST_DAY), "2025-01-01");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(timestamp(-1, 86_399), "1969-12-31 23:59:59");
    }
}
