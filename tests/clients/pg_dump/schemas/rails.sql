-- As a structure.sql of Rails: bigint keys by sequences, timestamps(6), jsonb, a join table, schema_migrations, a partial and an expression index.
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET default_table_access_method = heap;
CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;
CREATE TYPE public.order_state AS ENUM ('cart', 'placed', 'shipped');
CREATE TABLE public.ar_internal_metadata (
    key character varying NOT NULL,
    value character varying,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE TABLE public.schema_migrations (version character varying NOT NULL);
CREATE TABLE public.users (
    id bigint NOT NULL,
    email public.citext DEFAULT ''::public.citext NOT NULL,
    encrypted_password character varying DEFAULT ''::character varying NOT NULL,
    api_key uuid DEFAULT gen_random_uuid() NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    tags character varying[] DEFAULT '{}'::character varying[],
    sign_in_count integer DEFAULT 0 NOT NULL,
    current_sign_in_ip inet,
    admin boolean DEFAULT false,
    balance numeric(12,2) DEFAULT 0.0,
    full_name character varying GENERATED ALWAYS AS (upper((encrypted_password)::text)) STORED,
    created_at timestamp(6) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    deleted_at timestamp(6) without time zone
);
CREATE SEQUENCE public.users_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE public.users_id_seq OWNED BY public.users.id;
CREATE TABLE public.orders (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    user_id bigint NOT NULL,
    state public.order_state DEFAULT 'cart'::public.order_state,
    total_cents integer DEFAULT 0 NOT NULL,
    lock_version integer DEFAULT 0,
    CONSTRAINT positive_total CHECK ((total_cents >= 0))
);
CREATE TABLE public.orders_users (order_id uuid NOT NULL, user_id bigint NOT NULL);
ALTER TABLE ONLY public.users ALTER COLUMN id SET DEFAULT nextval('public.users_id_seq'::regclass);
ALTER TABLE ONLY public.ar_internal_metadata ADD CONSTRAINT ar_internal_metadata_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX index_users_on_email ON public.users USING btree (email);
CREATE INDEX index_users_on_lower_email ON public.users USING btree (lower((encrypted_password)::text));
CREATE INDEX index_users_on_settings ON public.users USING gin (settings);
CREATE INDEX index_users_alive ON public.users USING btree (created_at DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX index_orders_users ON public.orders_users USING btree (order_id, user_id);
ALTER TABLE ONLY public.orders ADD CONSTRAINT fk_rails_f868b47f6a FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
SET search_path TO "$user", public;
INSERT INTO "schema_migrations" (version) VALUES ('20260101000000'), ('20260102000000');
INSERT INTO users (email, encrypted_password, api_key, settings, tags, created_at) VALUES
    ('A@b.c', 'x', '11111111-1111-1111-1111-111111111111', '{"a": [1, 2]}', '{a,"b c"}', '2026-01-01 00:00:00.123456');
INSERT INTO orders (id, user_id, state) VALUES ('22222222-2222-2222-2222-222222222222', 1, 'placed');
