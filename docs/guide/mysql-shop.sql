-- The tables of the guide's examples, for MariaDB and MySQL 8 or newer: `mariadb shop < mysql-shop.sql`.
-- The rows are a function of nothing, so what the pages print is what you see.

CREATE TABLE customers (
    id      int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name    varchar(60) NOT NULL,
    email   varchar(80) NOT NULL UNIQUE,
    city    varchar(40) NULL,
    credit  decimal(10,2) NOT NULL DEFAULT 0,
    since   date NOT NULL,
    active  boolean NOT NULL DEFAULT true
) CHARACTER SET utf8mb4;

CREATE TABLE products (
    sku     varchar(12) NOT NULL PRIMARY KEY,
    name    varchar(60) NOT NULL,
    price   decimal(10,2) NOT NULL,
    stock   int NOT NULL CHECK (stock >= 0)
) CHARACTER SET utf8mb4;

CREATE TABLE orders (
    id          int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    customer_id int NOT NULL,
    placed_at   datetime NOT NULL,
    status      enum('open', 'paid', 'shipped', 'cancelled') NOT NULL DEFAULT 'open',
    total       decimal(10,2) NOT NULL,
    details     json NULL,
    FOREIGN KEY (customer_id) REFERENCES customers (id)
) CHARACTER SET utf8mb4;

-- 100 customers: Ada Alder of Athens, Bruno Birch of Bergen, …
INSERT INTO customers (id, name, email, city, credit, since, active)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100)
SELECT n,
       CONCAT(ELT((n - 1) % 7 + 1, 'Ada', 'Bruno', 'Chiara', 'Dmitri', 'Elif', 'Søren', 'Zoë'), ' ',
              ELT((n - 1) % 11 + 1, 'Alder', 'Birch', 'Cedar', 'Elm', 'Fir', 'Hazel', 'Juniper', 'Larch', 'Maple', 'Oak', 'Pine')),
       CONCAT('customer', n, '@example.org'),
       IF(n % 10 = 0, NULL, ELT((n - 1) % 5 + 1, 'Athens', 'Bergen', 'Córdoba', 'Delft', 'Essen')),
       n * 37 % 400 * 2.5,
       DATE '2020-01-01' + INTERVAL n * 19 DAY,
       n % 12 <> 0
FROM numbers;

-- 50 products: P-001 to P-050.
INSERT INTO products (sku, name, price, stock)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50)
SELECT CONCAT('P-', LPAD(n, 3, '0')),
       CONCAT(ELT((n - 1) % 4 + 1, 'Oak', 'Steel', 'Linen', 'Glass'), ' ', ELT((n - 1) % 5 + 1, 'table', 'lamp', 'chair', 'shelf', 'bowl')),
       n * 7.3 + 0.95,
       n * 13 % 40
FROM numbers;

-- 500 orders of the first 60 customers.
INSERT INTO orders (id, customer_id, placed_at, status, total, details)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 500)
SELECT n,
       n * 7 % 60 + 1,
       TIMESTAMP '2026-01-01 08:00:00' + INTERVAL n * 733 MINUTE,
       ELT(n % 4 + 1, 'open', 'paid', 'shipped', 'cancelled'),
       n * 17 % 900 + 0.5,
       IF(n % 5 = 0, JSON_OBJECT('gift', n % 2, 'items', n % 6 + 1), NULL)
FROM numbers;
