-- Keys of partitioned tables, whole rows in views, and comments on what composite types are made of.

CREATE SCHEMA w;

CREATE TYPE w.address AS (street text, zip varchar(10));
COMMENT ON COLUMN w.address.zip IS 'five digits';

CREATE TABLE w.event (id int, at date NOT NULL, note text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE w.event_old PARTITION OF w.event FOR VALUES FROM (MINVALUE) TO ('2021-01-01');
CREATE TABLE w.event_new PARTITION OF w.event DEFAULT;
ALTER TABLE w.event ADD CONSTRAINT event_note_key UNIQUE (note, at);
INSERT INTO w.event VALUES (1, '2020-05-05', 'a'), (2, '2022-05-05', 'b');

CREATE TABLE w.customer (id int PRIMARY KEY, home w.address);
CREATE TABLE w.orders (id int PRIMARY KEY, customer int REFERENCES w.customer, note text);
INSERT INTO w.customer VALUES (1, ROW('Long Street', '12345')), (2, NULL);
INSERT INTO w.orders VALUES (10, 1, 'first'), (11, 1, NULL);

CREATE FUNCTION w.label(w.orders) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1.id || coalesce($1.note, '''')';

CREATE VIEW w.per_customer AS
    SELECT c.id, count(o.*) AS orders, json_agg(o) FILTER (WHERE o.* IS NOT NULL) AS list
    FROM w.customer c LEFT JOIN w.orders o ON o.customer = c.id GROUP BY c.id;
CREATE VIEW w.labels AS SELECT w.label(o) AS label, o AS line FROM w.orders o;
CREATE VIEW w.lateral_rows AS
    SELECT c.id, row_to_json(x) AS latest
    FROM w.customer c LEFT JOIN LATERAL (SELECT o.id, o.note FROM w.orders o WHERE o.customer = c.id ORDER BY o.id LIMIT 1) x ON true;
