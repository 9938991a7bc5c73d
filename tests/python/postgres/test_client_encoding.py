"""Texts in the client's encoding: in statements, parameters, results, names, errors and COPY."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.rows import tuple_row

from tests.servers.rowferry import Rowferry

#: A text that each encoding has, and its bytes there, as PostgreSQL 15 writes it.
TEXTS = [
    ("LATIN1", "naïve é", b"na\xefve \xe9"),
    ("LATIN9", "5 €", b"5 \xa4"),
    ("WIN1251", "Привет", b"\xcf\xf0\xe8\xe2\xe5\xf2"),
    ("EUC_JP", "日本ｱ", b"\xc6\xfc\xcb\xdc\x8e\xb1"),
    ("SJIS", "表\\ソ", b"\x95\x5c\\\x83\x5c"),
    ("BIG5", "功能", b"\xa5\x5c\xaf\xe0"),
    ("GB18030", "中€😀", b"\xd6\xd0\xa2\xe3\x94\x39\xfc\x36"),
    ("EUC_KR", "한글", b"\xc7\xd1\xb1\xdb"),
]


def connected(server: Rowferry, **options: Any) -> psycopg.Connection:
    return psycopg.connect(server.postgres_dsn, autocommit=True, row_factory=tuple_row, **options)


def raw(connection: psycopg.Connection, sql: bytes) -> psycopg.pq.abc.PGresult:
    """Run a simple query of these bytes."""
    return connection.pgconn.exec_(sql)


@pytest.mark.parametrize(("encoding", "text", "code"), TEXTS, ids=[row[0] for row in TEXTS])
def test_texts_cross_the_wire_in_the_clients_encoding(server: Rowferry, encoding: str, text: str, code: bytes) -> None:
    with connected(server) as connection:
        connection.execute(f"SET client_encoding = '{encoding}'")
        assert connection.pgconn.parameter_status(b"client_encoding") == encoding.encode()
        # A literal, a name and a result.
        result = raw(connection, b"SELECT '" + code + b"' AS \"" + code + b"\", octet_length('" + code + b"')")
        assert result.get_value(0, 0) == code
        assert result.fname(0) == code
        assert result.get_value(0, 1) == str(len(text.encode())).encode()
        # Parameters and results of both formats.
        for parameter_format in (0, 1):
            for result_format in (0, 1):
                result = connection.pgconn.exec_params(
                    b"SELECT $1::text, ARRAY[$1::text], to_json($1::text), encode(convert_to($1, 'UTF8'), 'hex')",
                    [code],
                    param_formats=[parameter_format],
                    result_format=result_format,
                )
                assert result.get_value(0, 0) == code
                assert code.replace(b"\\", b"") in (result.get_value(0, 1) or b"").replace(b"\\", b"")
                assert result.get_value(0, 3) == text.encode().hex().encode()


def test_copy_is_in_the_clients_encoding_or_in_its_own(server: Rowferry) -> None:
    with connected(server) as connection:
        connection.execute("CREATE TABLE copied (id int, word text)")
        connection.execute("SET client_encoding = 'SJIS'")
        with connection.cursor().copy("COPY copied FROM STDIN") as copy:
            # Byte by byte: no piece ends where a character does. The second byte of the word is a backslash.
            for byte in b"1\t\x95\x5c\n2\ta\\\\b\n":
                copy.write(bytes([byte]))
        with connection.cursor().copy("COPY copied FROM STDIN (ENCODING 'LATIN1')") as copy:
            copy.write(b"3\t\xe9\n")
        with connection.cursor().copy("COPY copied FROM STDIN (FORMAT binary, ENCODING 'GBK')") as copy:
            head = b"PGCOPY\n\xff\r\n\0" + bytes(8)
            copy.write(head + b"\0\x02\0\0\0\x04\0\0\0\x04\0\0\0\x02\xd6\xd0\xff\xff")
        assert list(connection.cursor().copy("COPY copied TO STDOUT (ENCODING 'UTF8')").__enter__()) == [
            "1\t表\n".encode(),
            b"2\ta\\\\b\n",
            "3\té\n".encode(),
            "4\t中\n".encode(),
        ]
    with connected(server) as connection:
        connection.execute("SET client_encoding = 'SJIS'")
        with connection.cursor().copy("COPY (SELECT word FROM copied WHERE id < 3) TO STDOUT (FORMAT csv)") as copy:
            assert b"".join(map(bytes, copy)) == b"\x95\x5c\na\\b\n"
        with (
            pytest.raises(psycopg.errors.UntranslatableCharacter, match=r"0xc3 0xa9.*UTF8.*SJIS"),
            connection.cursor().copy("COPY copied TO STDOUT") as copy,
        ):
            list(copy)
        with (
            pytest.raises(psycopg.errors.CharacterNotInRepertoire, match='"SJIS": 0x95'),
            connection.cursor().copy("COPY copied FROM STDIN") as copy,
        ):
            copy.write(b"1\tx\n2\t\x95")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="must be a valid encoding name"):
            connection.execute("COPY copied TO STDOUT (ENCODING 'nope')")
        assert connection.execute("SELECT count(*) FROM copied").fetchone() == (4,)
        connection.execute("DROP TABLE copied")


def test_what_an_encoding_does_not_have_is_an_error(server: Rowferry) -> None:
    lacks = 'character with byte sequence 0xe2 0x82 0xac in encoding "UTF8" has no equivalent in encoding "LATIN1"'
    with connected(server) as connection:
        connection.execute("SET client_encoding = 'LATIN1'")
        statements = [
            "SELECT chr(8364)",
            "DO $$ BEGIN RAISE EXCEPTION '%', chr(8364); END $$",
            "SELECT chr(8364)::int",
        ]
        for statement in statements:
            for binary in (False, True):
                with pytest.raises(psycopg.errors.UntranslatableCharacter) as caught:
                    connection.execute(statement, binary=binary)
                assert caught.value.diag.message_primary == lacks
        # The connection goes on, and an error is told in the client's encoding.
        with pytest.raises(psycopg.errors.UndefinedColumn) as column:
            connection.execute('SELECT "é"')
        assert column.value.diag.message_primary == 'column "é" does not exist'
        notices: list[str | None] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        connection.execute("DO $$ BEGIN RAISE NOTICE 'é'; END $$")
        assert notices == ["é"]
        assert raw(connection, b"SET client_encoding = 'EUC_JP'").error_message == b""
        assert b'invalid byte sequence for encoding "EUC_JP": 0xff' in raw(connection, b"SELECT '\xff'").error_message


def test_the_setting_follows_transactions_and_start_up(server: Rowferry) -> None:
    with connected(server, client_encoding="latin-9") as connection:
        assert connection.execute("SHOW client_encoding").fetchone() == ("LATIN9",)
        assert connection.execute("SELECT pg_client_encoding(), chr(8364)").fetchone() == ("LATIN9", "€")
        with connection.transaction(force_rollback=True):
            connection.execute("SET NAMES 'WIN1252'")
            assert raw(connection, b"SELECT chr(8364)").get_value(0, 0) == b"\x80"
            connection.execute("SET LOCAL client_encoding = 'UTF8'")
            assert raw(connection, b"SELECT chr(8364)").get_value(0, 0) == "€".encode()
        assert connection.pgconn.parameter_status(b"client_encoding") == b"LATIN9"
        assert raw(connection, b"SELECT chr(8364)").get_value(0, 0) == b"\xa4"
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            connection.execute("SET client_encoding = 'MULE_INTERNAL'")
        assert caught.value.diag.message_detail == "Conversion between MULE_INTERNAL and UTF8 is not supported."
        connection.execute("SET NAMES DEFAULT")
        assert connection.pgconn.parameter_status(b"client_encoding") == b"LATIN9"
        assert raw(connection, b"SET client_encoding = 'SQL_ASCII'").error_message == b""
        assert raw(connection, b"SELECT chr(8364)").get_value(0, 0) == "€".encode()
