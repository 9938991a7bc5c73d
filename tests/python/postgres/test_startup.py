"""Coming in: encryption requests, versions, users and passwords, limits; going out."""

from __future__ import annotations

import os
import ssl
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry, socket_directory

from . import wire
from .conftest import wait_until
from .wire import Wire

Start = Callable[..., Rowferry]


def opened(server: Rowferry, packet: bytes) -> list[wire.Answer]:
    with Wire(server.postgres) as connection:
        connection.send(packet)
        return connection.ready()


def refused(server: Rowferry, packet: bytes) -> wire.Answer:
    """The one error that ends the attempt."""
    with Wire(server.postgres) as connection:
        connection.send(packet)
        (answer,) = connection.rest()
        assert answer.fields["S"] == answer.fields["V"] == "FATAL"
        return answer


def test_tells_its_parameters_and_a_cancel_key(server: Rowferry) -> None:
    answers = opened(server, wire.startup(user="ada", database="app"))
    assert [answer.tag for answer in answers if answer.tag != "S"] == ["R", "K", "Z"]
    parameters = dict(tuple(answer.body[:-1].decode().split("\0")) for answer in answers if answer.tag == "S")
    assert parameters["client_encoding"] == parameters["server_encoding"] == "UTF8"
    assert parameters["standard_conforming_strings"] == parameters["integer_datetimes"] == "on"
    assert parameters["server_version"].split(".")[0] == "15"
    assert {"DateStyle", "IntervalStyle", "TimeZone", "application_name", "session_authorization"} <= set(parameters)


def test_announces_another_version_when_told(start: Start) -> None:
    server = start("--server-version", "17.2")
    answers = opened(server, wire.startup(user="ada", database="app"))
    parameters = dict(tuple(answer.body[:-1].decode().split("\0")) for answer in answers if answer.tag == "S")
    assert parameters["server_version"] == "17.2"
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.info.server_version == 170002
        query = "select current_setting('server_version_num'), version()"
        number, version = connection.execute(query).fetchone() or ("", "")
        assert number == "170002"
        assert version.startswith("PostgreSQL 17.2 ")


def test_cancel_keys_have_the_length_of_the_version(server: Rowferry) -> None:
    def key(packet: bytes) -> bytes:
        return next(answer.body[4:] for answer in opened(server, packet) if answer.tag == "K")

    assert len(key(wire.startup(wire.PROTOCOL_3_0, user="a"))) == 4
    assert len(key(wire.startup(wire.PROTOCOL_3_2, user="a"))) == 32


@pytest.mark.parametrize(
    ("version", "spoken"), [(3 << 16 | 1, 3 << 16), (3 << 16 | 9, 3 << 16 | 2), (3 << 16 | 9999, 3 << 16 | 2)]
)
def test_other_minor_versions_are_negotiated(server: Rowferry, version: int, spoken: int) -> None:
    first = opened(server, wire.startup(version, user="a"))[0]
    assert (first.tag, first.body) == ("v", struct.pack("!ii", spoken, 0))


def test_unknown_protocol_options_are_named(server: Rowferry) -> None:
    first = opened(server, wire.startup(wire.PROTOCOL_3_0, **{"user": "a", "_pq_.shiny": "1"}))[0]
    assert (first.tag, first.body) == ("v", struct.pack("!ii", 3 << 16, 1) + b"_pq_.shiny\0")


def test_other_major_versions_are_refused(server: Rowferry) -> None:
    assert refused(server, wire.request(2 << 16)).sqlstate == "0A000"


def test_a_user_name_is_needed(server: Rowferry) -> None:
    assert refused(server, wire.startup(database="app")).sqlstate == "28000"


def test_a_database_that_is_not_served_is_refused(server: Rowferry) -> None:
    answer = refused(server, wire.startup(user="a", database="other"))
    assert answer.sqlstate == "3D000"
    assert '"app"' in answer.fields["H"]


def test_settings_come_with_the_start_up(server: Rowferry) -> None:
    options = "-c TimeZone=Asia/Tokyo"
    with psycopg.connect(server.postgres_dsn, options=options, application_name="my app") as connection:
        assert connection.info.parameter_status("TimeZone") == "Asia/Tokyo"
        assert connection.info.parameter_status("application_name") == "my app"
        assert connection.execute("show timezone").fetchone() == ("Asia/Tokyo",)


@pytest.mark.parametrize("options", ["-c", "-x", "-c TimeZone=Nowhere/Land"])
def test_settings_that_make_no_sense_are_refused(server: Rowferry, options: str) -> None:
    assert refused(server, wire.startup(user="a", options=options)).sqlstate in ("42601", "22023")


def test_encryption_is_declined_where_there_is_none(server: Rowferry) -> None:
    with Wire(server.postgres) as connection:
        for code in (wire.GSSENC_REQUEST, wire.SSL_REQUEST):
            connection.send(wire.request(code))
            assert connection.read(1) == b"N"
        connection.send(wire.startup(user="a"))
        connection.ready()


def test_encryption_is_declined_on_unix_sockets(server: Rowferry) -> None:
    assert server.unix_dir is not None and server.postgres is not None
    with psycopg.connect(host=server.unix_dir, port=server.postgres[1], dbname="app", user="a") as connection:
        assert not connection.pgconn.ssl_in_use


def test_tls(start: Start) -> None:
    server = start("--tls")
    with psycopg.connect(server.postgres_dsn, sslmode="require") as connection:
        assert connection.pgconn.ssl_in_use
    with psycopg.connect(server.postgres_dsn, sslmode="disable") as connection:
        assert not connection.pgconn.ssl_in_use
    # Clients that begin with TLS at once.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["postgresql"])
    with Wire(server.postgres) as connection:
        connection.socket = context.wrap_socket(connection.socket, server_hostname="localhost")
        connection.send(wire.startup(user="a"))
        connection.ready()


def test_bytes_in_the_clear_behind_an_ssl_request_are_refused(start: Start) -> None:
    answer = refused(start("--tls"), wire.request(wire.SSL_REQUEST) + wire.startup(user="a"))
    assert answer.sqlstate == "08P01"


def test_passwords(start: Start, tmp_path: Path) -> None:
    passwords = tmp_path / "passwords"
    passwords.write_text("# two of them\nbob:pa:ss wörd\n")
    passwords.chmod(0o600)
    server = start("--user", "ada:secret", "--password-file", str(passwords))

    def connect(user: str, password: str | None) -> None:
        assert server.postgres is not None
        host, port = server.postgres
        psycopg.connect(host=host, port=port, user=user, password=password, dbname="app").close()

    connect("ada", "secret")
    connect("bob", "pa:ss wörd")
    for user, password in [("ada", "Secret"), ("ada", ""), ("bob", "secret"), ("eve", "secret")]:
        with pytest.raises(psycopg.OperationalError, match="password"):
            connect(user, password)
    wait_until(lambda: any("eve" in line for line in server.process.tail), "a log line for the refused user")


def test_without_users_only_this_machine_is_let_in(tmp_path: Path) -> None:
    with pytest.raises(ServerFailed, match="--trust-network"):
        Rowferry.start(tmp_path / "app.db", postgres=False, args=["--postgres", "0.0.0.0:0"])


def test_the_unix_socket_is_the_owners_while_everybody_is_trusted(start: Start) -> None:
    with socket_directory() as directory:
        server = start(unix_dir=directory)
        assert server.unix_socket is not None
        assert os.stat(server.unix_socket).st_mode & 0o777 == 0o700
        server.stop()
        assert not Path(server.unix_socket).exists()


def test_one_session_too_many_is_told_so(start: Start) -> None:
    server = start("--max-connections", "2")
    with Wire.open(server.postgres) as first, Wire.open(server.postgres):
        assert refused(server, wire.startup(user="a")).sqlstate == "53300"
        first.send(wire.TERMINATE)
        assert first.rest() == []

        def free() -> bool:
            with Wire(server.postgres) as third:
                third.send(wire.startup(user="a"))
                return third.receive().tag == "R"

        wait_until(free, "the place of the session that left")


def test_sigterm_ends_sessions_with_57p01(start: Start) -> None:
    server = start()
    with Wire.open(server.postgres) as idle:
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        (answer,) = idle.rest()
        assert (answer.sqlstate, answer.fields["S"]) == ("57P01", "FATAL")
        stopping.join(20)
    assert not Path(f"/proc/{server.pid}").exists()


def test_idle_sessions_are_closed_when_asked(start: Start) -> None:
    server = start("--idle-timeout", "0.05")
    with Wire.open(server.postgres) as idle:
        (answer,) = idle.rest()
        assert answer.sqlstate == "57P05"


def test_idle_transactions_are_closed_when_asked(start: Start) -> None:
    server = start("--idle-in-transaction-timeout", "0.05")
    with Wire.open(server.postgres) as session:
        assert session.ask(wire.query("begin")) == "C Z:T"
        (answer,) = session.rest()
        assert answer.sqlstate == "25P03"
