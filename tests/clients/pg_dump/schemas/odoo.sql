-- As Odoo's: integer serials, create_uid and write_uid that refer to each other, comments on everything, timestamps without zone,
-- jsonb translations, many constraints by name, a function for unaccent, a view of a report.
CREATE FUNCTION unaccent_(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT translate($1, 'äöü', 'aou') $$;
CREATE TABLE res_users (id serial NOT NULL, login varchar NOT NULL, active boolean DEFAULT true, company_id integer, partner_id integer,
    create_uid integer, create_date timestamp without time zone, write_uid integer, write_date timestamp without time zone, PRIMARY KEY (id));
CREATE TABLE res_partner (id serial NOT NULL, name varchar, complete_name varchar, parent_id integer, lang varchar, vat varchar,
    credit_limit double precision, debit_limit numeric, active boolean, type varchar, create_uid integer, write_uid integer, PRIMARY KEY (id));
COMMENT ON TABLE res_partner IS 'Contact';
COMMENT ON COLUMN res_partner.parent_id IS 'Related Company';
COMMENT ON COLUMN res_partner.create_uid IS 'Created by';
CREATE TABLE ir_model (id serial NOT NULL, model varchar NOT NULL, name jsonb NOT NULL, info text, state varchar, PRIMARY KEY (id));
CREATE TABLE res_partner_category_rel (category_id integer NOT NULL, partner_id integer NOT NULL, PRIMARY KEY (category_id, partner_id));
COMMENT ON TABLE res_partner_category_rel IS 'RELATION BETWEEN res_partner_category AND res_partner';
ALTER TABLE res_users ADD CONSTRAINT res_users_login_key UNIQUE (login);
COMMENT ON CONSTRAINT res_users_login_key ON res_users IS 'UNIQUE (login)';
ALTER TABLE res_partner ADD CONSTRAINT res_partner_check_name CHECK ((type = 'contact' AND name IS NOT NULL) OR (type <> 'contact'));
COMMENT ON CONSTRAINT res_partner_check_name ON res_partner IS 'CHECK( (type=''contact'' AND name IS NOT NULL) or (type!=''contact'') )';
ALTER TABLE res_users ADD CONSTRAINT res_users_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES res_partner (id) ON DELETE RESTRICT;
ALTER TABLE res_partner ADD CONSTRAINT res_partner_create_uid_fkey FOREIGN KEY (create_uid) REFERENCES res_users (id) ON DELETE SET NULL;
ALTER TABLE res_partner ADD CONSTRAINT res_partner_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES res_partner (id) ON DELETE SET NULL;
CREATE INDEX res_partner__name_index ON res_partner (name);
CREATE INDEX res_partner__vat_index ON res_partner (vat) WHERE vat IS NOT NULL;
CREATE INDEX res_partner__unaccent_index ON res_partner (unaccent_(lower(name)));
CREATE VIEW partner_report AS (
    SELECT p.id, p.name, count(u.id) AS users, sum(CASE WHEN u.active THEN 1 ELSE 0 END) AS active, COALESCE(p.lang, 'en_US') AS lang
    FROM res_partner p LEFT JOIN res_users u ON u.partner_id = p.id
    WHERE p.active IS NOT FALSE GROUP BY p.id, p.name, p.lang);
CREATE SEQUENCE ir_sequence_001 INCREMENT BY 1 START WITH 42;
INSERT INTO res_partner (name, type, credit_limit, debit_limit) VALUES ('Ann', 'contact', 1e10, 12.500), ('Ünï', 'other', NULL, NULL);
INSERT INTO res_users (login, partner_id, create_date) VALUES ('admin', 1, '2026-01-01 00:00:00');
INSERT INTO ir_model (model, name) VALUES ('res.partner', '{"en_US": "Contact", "de_DE": "Kontakt"}');
SELECT nextval('ir_sequence_001');
