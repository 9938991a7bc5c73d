"""Write what PostgreSQL 15 says of itself in its catalogs: types, functions, operators, casts, columns and more.

The extensions that are here are facts, too: files `extension_*.tsv`, with object ids of ours (see `MODULES`).

python tools/postgres_facts.py            write crates/facts/data/*.tsv
python tools/postgres_facts.py --check    fail when a file is not what it would be

Facts only: names, object ids, types, flags and what belongs to what. The bodies of functions written in SQL, texts of
views and descriptions stay out. What initdb numbers for itself (from 12000 on) is not the same everywhere: it is left
out, too, or known by its name, as columns of views are.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.servers.postgres import PostgreSQL  # noqa: E402

DATA = ROOT / "crates/facts/data"
VERSION = "15"


@dataclass(frozen=True)
class Table:
    """A file: its columns are the query's."""

    name: str
    query: str


def list_of(column: str) -> str:
    """An array or vector as words with commas between; NULL and the empty one as nothing."""
    return f"coalesce(array_to_string({column}::text[], ','), '')"


def procedure(column: str) -> str:
    """A function's object id, also where the catalog has its name."""
    return f"{column}::oid"


TABLES = (
    Table(
        "types",
        f"""
        select oid, typname as name, typlen as length, typbyval as by_value, typtype as kind, typcategory as category,
            typispreferred as preferred, typdelim as delimiter, typrelid::regclass as relation,
            {procedure("typsubscript")} as subscript, typelem as element, typarray as array,
            {procedure("typinput")} as input, {procedure("typoutput")} as output, {procedure("typreceive")} as receive,
            {procedure("typsend")} as send, {procedure("typmodin")} as modifier_in,
            {procedure("typmodout")} as modifier_out, {procedure("typanalyze")} as analyze, typalign as alignment,
            typstorage as storage, typcollation as collation
        from pg_type where oid < 12000 order by oid
        """,
    ),
    Table(
        "functions",
        f"""
        select oid, proname as name, l.lanname as language, procost as cost, prorows as rows, provariadic as variadic,
            {procedure("prosupport")} as support, prokind as kind, proleakproof as leakproof, proisstrict as strict,
            proretset as returns_set, provolatile as volatility, proparallel as parallel,
            pronargdefaults as defaults, prorettype as result, {list_of("proargtypes")} as arguments,
            {list_of("proallargtypes")} as all_arguments, {list_of("proargmodes")} as modes,
            {list_of("proargnames")} as names,
            coalesce(pg_get_expr(proargdefaults, 0), '') as default_values,
            case when l.lanname <> 'sql' then prosrc else '' end as source
        from pg_proc p join (select oid as language, lanname from pg_language) l on p.prolang = l.language
        where oid < 12000 order by oid
        """,
    ),
    Table(
        "aggregates",
        f"""
        select {procedure("aggfnoid")} as function, aggkind as kind, aggnumdirectargs as direct_arguments,
            {procedure("aggtransfn")} as transition, {procedure("aggfinalfn")} as finish,
            {procedure("aggcombinefn")} as combine, {procedure("aggserialfn")} as serialize,
            {procedure("aggdeserialfn")} as deserialize, {procedure("aggmtransfn")} as moving_transition,
            {procedure("aggminvtransfn")} as moving_inverse, {procedure("aggmfinalfn")} as moving_finish,
            aggfinalextra as finish_extra, aggmfinalextra as moving_finish_extra, aggfinalmodify as finish_modify,
            aggmfinalmodify as moving_finish_modify, aggsortop as sort_operator, aggtranstype as state,
            aggtransspace as state_space, aggmtranstype as moving_state, aggmtransspace as moving_state_space,
            agginitval is not null as has_initial, coalesce(agginitval, '') as initial,
            aggminitval is not null as has_moving_initial, coalesce(aggminitval, '') as moving_initial
        from pg_aggregate where {procedure("aggfnoid")} < 12000 order by {procedure("aggfnoid")}
        """,
    ),
    Table(
        "operators",
        f"""
        select oid, oprname as name, oprkind as kind, oprcanmerge as can_merge, oprcanhash as can_hash,
            oprleft as left_type, oprright as right_type, oprresult as result, oprcom as commutator,
            oprnegate as negator,
            {procedure("oprcode")} as function, {procedure("oprrest")} as restriction, {procedure("oprjoin")} as join
        from pg_operator where oid < 12000 order by oid
        """,
    ),
    Table(
        "casts",
        """
        select oid, castsource as source, casttarget as target, castfunc as function, castcontext as context,
            castmethod as method
        from pg_cast where oid < 12000 order by oid
        """,
    ),
    Table(
        "access_methods",
        f"select oid, amname as name, {procedure('amhandler')} as handler, amtype as kind from pg_am "
        "where oid < 12000 order by oid",
    ),
    Table(
        "operator_families",
        "select oid, opfmethod as method, opfname as name from pg_opfamily where oid < 12000 order by oid",
    ),
    Table(
        "operator_classes",
        """
        select oid, opcmethod as method, opcname as name, opcfamily as family, opcintype as input,
            opcdefault as is_default, opckeytype as key
        from pg_opclass where oid < 12000 order by oid
        """,
    ),
    Table(
        "family_operators",
        """
        select oid, amopfamily as family, amoplefttype as left_type, amoprighttype as right_type,
            amopstrategy as strategy, amoppurpose as purpose, amopopr as operator, amopmethod as method,
            amopsortfamily as sort_family
        from pg_amop where oid < 12000 order by amopfamily, amoplefttype, amoprighttype, amopstrategy
        """,
    ),
    Table(
        "family_functions",
        f"""
        select oid, amprocfamily as family, amproclefttype as left_type, amprocrighttype as right_type,
            amprocnum as number, {procedure("amproc")} as function
        from pg_amproc where oid < 12000 order by amprocfamily, amproclefttype, amprocrighttype, amprocnum
        """,
    ),
    Table(
        "ranges",
        f"""
        select rngtypid as range, rngsubtype as subtype, rngmultitypid as multirange, rngcollation as collation,
            rngsubopc as operator_class, {procedure("rngcanonical")} as canonical,
            {procedure("rngsubdiff")} as difference
        from pg_range where rngtypid < 12000 order by rngtypid
        """,
    ),
    Table(
        "collations",
        """
        select oid, collname as name, collprovider as provider, collisdeterministic as deterministic,
            collencoding as encoding, coalesce(collcollate, '') as collate, coalesce(collctype, '') as ctype
        from pg_collation where oid < 12000 order by oid
        """,
    ),
    Table(
        "languages",
        f"""
        select oid, lanname as name, lanispl as procedural, lanpltrusted as trusted,
            {procedure("lanvalidator")} as validator
        from pg_language where oid < 12000 order by oid
        """,
    ),
    Table(
        "conversions",
        f"""
        select oid, conname as name, pg_encoding_to_char(conforencoding) as source,
            pg_encoding_to_char(contoencoding) as target, {procedure("conproc")} as function, condefault as is_default
        from pg_conversion where oid < 12000 order by oid
        """,
    ),
    Table(
        "relations",
        """
        select n.nspname as schema, relname as name, relkind as kind,
            case when c.oid < 12000 then c.oid else 0 end as oid,
            case when reltype < 12000 then reltype else 0 end as row_type
        from pg_class c join pg_namespace n on n.oid = relnamespace
        where n.nspname in ('pg_catalog', 'information_schema') and relkind in ('r', 'v')
        order by n.nspname collate "C", relname collate "C"
        """,
    ),
    Table(
        "indexes",
        f"""
        select i.oid, i.relname as name, t.relname as relation, indisunique as is_unique, indisprimary as is_primary,
            exists (select from pg_constraint where conindid = i.oid) as is_constraint,
            {list_of("indkey")} as columns, {list_of("indclass")} as classes, {list_of("indcollation")} as collations
        from pg_index join pg_class i on i.oid = indexrelid join pg_class t on t.oid = indrelid
            join pg_namespace n on n.oid = t.relnamespace
        where n.nspname = 'pg_catalog' order by i.oid
        """,
    ),
    Table(
        "standard_features",
        """
        select feature_id as id, feature_name as name, sub_feature_id as part, sub_feature_name as part_name,
            is_supported = 'YES' as supported
        from information_schema.sql_features order by feature_id collate "C", sub_feature_id collate "C"
        """,
    ),
    Table(
        "standard_parts",
        """
        select feature_id as number, feature_name as name, is_supported = 'YES' as supported
        from information_schema.sql_parts order by feature_id::int
        """,
    ),
    Table(
        "standard_sizes",
        """
        select sizing_id as id, sizing_name as name, coalesce(supported_value::text, '') as value
        from information_schema.sql_sizing order by sizing_id
        """,
    ),
    Table(
        "catalog_foreign_keys",
        """
        select fktable::text as table, array_to_string(fkcols, ',') as columns, pktable::text as referenced,
            array_to_string(pkcols, ',') as referenced_columns, is_array, is_opt as is_optional
        from pg_get_catalog_foreign_keys() with ordinality order by ordinality
        """,
    ),
    Table("settings", 'select name, category from pg_settings order by name collate "C"'),
    Table("keywords", "select word, catcode as category, barelabel as bare from pg_get_keywords() order by word"),
    Table(
        "columns",
        """
        select n.nspname as schema, relname as relation, attname as name, attnum as number,
            t.typname as type_name, atttypmod as modifier, attnotnull as not_null,
            case when attcollation < 12000 then attcollation else 0 end as collation
        from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
            join pg_type t on t.oid = atttypid
        where n.nspname in ('pg_catalog', 'information_schema') and relkind in ('r', 'v') and attnum > 0
        order by n.nspname collate "C", relname collate "C", attnum
        """,
    ),
)


@dataclass(frozen=True)
class Module:
    """An extension, and the first of the object ids that its members have here, in every file: they keep the distances
    that they have where CREATE EXTENSION has just run, so a block must never become shorter."""

    name: str
    first: int
    members: bool = True
    # Types of rows of views are nobody's here.
    types: bool = True


# Between PostgreSQL's own ids and the first of users' (16384); clients take up to 9999 for types that they know.
MODULES = (
    Module("hstore", 14_000),
    Module("citext", 14_150),
    Module("pgcrypto", 14_300),
    Module("uuid-ossp", 14_350),
    Module("pg_trgm", 14_380),
    Module("unaccent", 14_500),
    Module("tablefunc", 14_520),
    Module("fuzzystrmatch", 14_560),
    # What these two bring are operator classes for indexes that SQLite has not.
    Module("btree_gin", 14_600, members=False),
    Module("btree_gist", 14_601, members=False),
    Module("bloom", 14_610),
    Module("pg_stat_statements", 14_630, types=False),
)

MEMBER_TABLES = (
    "types",
    "functions",
    "aggregates",
    "operators",
    "casts",
    "access_methods",
    "operator_families",
    "operator_classes",
)


def shown(value: object) -> str:
    """A cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    text = value.decode() if isinstance(value, bytes) else str(value)
    assert not set(text) & set("\t\r\n"), repr(text)
    return text


def contents(connection: psycopg.Connection, table: Table) -> str:
    """The text of a table's file: a line of names, then a line for each row."""
    cursor = connection.execute(table.query)  # type: ignore[call-overload]
    assert cursor.description is not None
    lines = ["\t".join(column.name for column in cursor.description)]
    lines += ["\t".join(shown(cell) for cell in row) for row in cursor]
    return "\n".join(lines) + "\n"


def unaccented(connection: psycopg.Connection) -> str:
    """What `unaccent` makes of each character that it changes."""
    cursor = connection.execute(
        """
        select code, public.unaccent('public.unaccent', chr(code)) as becomes
        from generate_series(1, 1114111) code
        where code not between 55296 and 57343 and public.unaccent('public.unaccent', chr(code)) <> chr(code)
        order by code
        """
    )
    return "code\tbecomes\n" + "".join(f"{code:x}\t{becomes}\n" for code, becomes in cursor)


def members(connection: psycopg.Connection) -> dict[str, str]:
    """The texts of the files about extensions."""
    oid_type = 26
    tables = [table for table in TABLES if table.name in MEMBER_TABLES]
    lines: dict[str, list[str]] = {}
    extensions = ["name\tversion\trelocatable\tfirst\tsize"]
    for module in MODULES:
        connection.execute(f'create extension "{module.name}" schema public')  # type: ignore[call-overload]
        oid, version, relocatable = connection.execute(
            "select oid::int8, extversion, extrelocatable from pg_extension where extname = %s", [module.name]
        ).fetchone() or (0, "", False)
        (last,) = connection.execute(
            "select max(objid::int8) from pg_depend where refclassid = 'pg_extension'::regclass and refobjid = %s",
            [oid],
        ).fetchone() or (0,)
        size = last - oid + 1 if module.members else 1
        extensions.append("\t".join(shown(cell) for cell in (module.name, version, relocatable, module.first, size)))

        def moved(value: object, oid: int = oid, last: int = last, first: int = module.first) -> object:
            number = int(str(value))
            return number - oid + first if oid <= number <= last else number

        for table in tables:
            query, count = re.subn(r"where (\S+) < 12000", rf"where \1 between {oid} and {last}", table.query)
            assert count == 1, table.name
            cursor = connection.execute(query)  # type: ignore[call-overload]
            assert cursor.description is not None
            known = lines.setdefault(table.name, ["\t".join(column.name for column in cursor.description)])
            for row in cursor if module.members and (module.types or table.name != "types") else ():
                cells = []
                for column, value in zip(cursor.description, row, strict=True):
                    if column.type_code == oid_type:
                        value = moved(value)
                    elif column.name in ("arguments", "all_arguments") and value:
                        value = ",".join(str(moved(part)) for part in value.split(","))
                    cells.append(shown(value))
                known.append("\t".join(cells))
    texts = {f"extension_{name}": rows for name, rows in lines.items()} | {"extensions": extensions}
    written = {name: "\n".join(rows) + "\n" for name, rows in texts.items()}
    return written | {"unaccent": unaccented(connection)}


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    check = parser.parse_args().check
    DATA.mkdir(parents=True, exist_ok=True)
    stale = []
    with PostgreSQL.start() as server, psycopg.connect(server.dsn) as connection:
        if server.version != VERSION:
            sys.exit(f"the facts are those of PostgreSQL {VERSION}, and this is {server.version}")
        # Functions and relations by their bare names, whatever they are called.
        connection.execute("set search_path = pg_catalog")
        texts = {table.name: contents(connection, table) for table in TABLES} | members(connection)
        for name, text in texts.items():
            path = DATA / f"{name}.tsv"
            if not path.exists() or path.read_text() != text:
                stale.append(path)
                if not check:
                    path.write_text(text)
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
