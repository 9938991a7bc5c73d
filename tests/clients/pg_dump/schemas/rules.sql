-- Rules: on tables and views, in other schemas, switched off, said something of, over things that come later in a dump.
CREATE SCHEMA store;
CREATE SCHEMA "Odd Rules";
CREATE TABLE store.item (id serial PRIMARY KEY, name text DEFAULT 'none', price numeric(10, 2), at timestamptz);
CREATE TABLE store.seen (what text, item int, price numeric(10, 2), who name DEFAULT current_user);
CREATE TABLE "Odd Rules"."Select" (a int, "B c" text);
CREATE VIEW store.cheap AS SELECT id, name, price FROM store.item WHERE price < 10;
CREATE VIEW store.both AS SELECT i.id, s.what FROM store.item i JOIN store.seen s ON s.item = i.id;
CREATE FUNCTION store.doubled(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 2 * $1';
CREATE RULE item_seen AS ON INSERT TO store.item DO ALSO INSERT INTO store.seen (what, item, price) VALUES ('in', NEW.id, store.doubled(NEW.price));
CREATE RULE item_price AS ON UPDATE TO store.item WHERE NEW.price IS DISTINCT FROM OLD.price
    DO ALSO (INSERT INTO store.seen (what, item, price) VALUES ('from', OLD.id, OLD.price); INSERT INTO store.seen SELECT 'to', NEW.id, s.price FROM store.seen s WHERE s.item = OLD.id);
CREATE RULE item_stays AS ON DELETE TO store.item DO INSTEAD NOTHING;
CREATE RULE cheap_in AS ON INSERT TO store.cheap DO INSTEAD INSERT INTO store.item (name, price) VALUES (NEW.name, NEW.price) RETURNING item.id, item.name, item.price;
CREATE RULE cheap_up AS ON UPDATE TO store.cheap DO INSTEAD UPDATE store.item SET name = NEW.name, price = NEW.price WHERE item.id = OLD.id AND EXISTS (SELECT 1 FROM store.seen WHERE seen.item = OLD.id);
CREATE RULE cheap_del AS ON DELETE TO store.cheap DO INSTEAD DELETE FROM store.seen USING store.item i WHERE i.id = OLD.id AND seen.item = i.id;
CREATE RULE both_none AS ON INSERT TO store.both DO INSTEAD NOTHING;
CREATE RULE "Odd ""Rule" AS ON INSERT TO "Odd Rules"."Select" WHERE NEW."B c" LIKE 'x%' DO INSTEAD NOTHING;
CREATE RULE told AS ON DELETE TO "Odd Rules"."Select" DO ALSO NOTIFY odd_rules, 'gone';
ALTER TABLE store.item DISABLE RULE item_stays;
ALTER TABLE "Odd Rules"."Select" ENABLE ALWAYS RULE told;
COMMENT ON RULE item_stays ON store.item IS 'nothing goes, it''s a shop';
INSERT INTO store.item (name, price) VALUES ('pen', 1.5), ('lamp', 40);
UPDATE store.item SET price = price + 1 WHERE id = 2;
INSERT INTO store.cheap (name, price) VALUES ('cup', 3) RETURNING *;
INSERT INTO "Odd Rules"."Select" VALUES (1, 'x'), (2, 'y');
