"""Who may come in, and how it is proved."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry, socket_directory

from .wire import Client, ServerError


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rowferry, str]]:
    """A server with users, TLS and a unix socket."""
    file = tmp_path_factory.mktemp("guarded") / "app.db"
    with socket_directory() as directory:
        path = f"{directory}/m.sock"
        args = ["--user", "ada:pencil", "--user", "bob:", "--tls", "--mysql-socket", path]
        with Rowferry.start(file, postgres=False, mysql=True, args=args) as server:
            yield server, path


def connect(server: Rowferry, user: str, password: str, **options: object) -> pymysql.Connection:
    assert server.mysql is not None
    host, port = server.mysql
    place = {} if "unix_socket" in options else {"host": host, "port": port}
    return pymysql.connect(user=user, password=password, autocommit=None, **place, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["key", "tls", "socket"])
def test_a_password_is_proved_over_every_transport(guarded: tuple[Rowferry, str], way: str) -> None:
    server, path = guarded
    options: dict[str, object] = {"socket": {"unix_socket": path}, "tls": {"ssl": {"check_hostname": False}}}.get(
        way, {"ssl_disabled": True}
    )
    with connect(server, "ada", "pencil", **options) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == ((1,),)
    with connect(server, "bob", "", **options):
        pass
    for user, password, using in [("ada", "wrong", "YES"), ("ada", "", "NO"), ("eve", "pencil", "YES")]:
        with pytest.raises(pymysql.err.OperationalError) as refused:
            connect(server, user, password, **options)
        code, message = refused.value.args
        assert code == 1045
        assert f"Access denied for user '{user}'@" in message
        assert f"(using password: {using})" in message


def test_old_plugins_are_asked_to_switch(guarded: tuple[Rowferry, str]) -> None:
    server, _ = guarded
    assert server.mysql is not None
    # No plugins at all: it cannot be asked.
    with pytest.raises(ServerError) as refused:
        Client(server.mysql, capabilities=0xA201)
    assert refused.value.code == 1251


def test_without_tls_nobody_comes_where_it_is_required(tmp_path: Path) -> None:
    args = ["--tls", "--tls-required"]
    with Rowferry.start(tmp_path / "app.db", postgres=False, mysql=True, args=args) as server:
        with pytest.raises(pymysql.err.OperationalError) as refused:
            connect(server, "ada", "", ssl_disabled=True)
        assert refused.value.args[0] == 3159
        with connect(server, "ada", "", ssl={"check_hostname": False}) as connection:
            connection.ping(reconnect=False)


def test_a_certificate_is_verified(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    args = ["--tls-cert", made["address_cert"], "--tls-key", made["address_key"]]
    with Rowferry.start(tmp_path / "app.db", postgres=False, mysql=True, args=args) as server:
        with connect(server, "ada", "", ssl={"ca": made["ca"]}) as connection:
            connection.ping(reconnect=False)


def test_rules_say_who_may_come(tmp_path: Path) -> None:
    rules = tmp_path / "hba"
    rules.write_text("host all ada 127.0.0.1/32 scram-sha-256\nhost all bob 127.0.0.1/32 trust\n")
    args = ["--user", "ada:pencil", "--hba", str(rules)]
    with Rowferry.start(tmp_path / "app.db", postgres=False, mysql=True, args=args) as server:
        with connect(server, "ada", "pencil"), connect(server, "bob", "anything"):
            pass
        for user in ("ada", "eve"):
            with pytest.raises(pymysql.err.OperationalError) as refused:
                connect(server, user, "wrong")
            assert refused.value.args[0] == 1045


@pytest.mark.parametrize(
    "plugin", ["mysql_native_password", "caching_sha2_password", "sha256_password", "nobody_knows"]
)
def test_who_is_trusted_comes_in_by_any_plugin(server: Rowferry, plugin: str) -> None:
    assert server.mysql is not None
    if plugin in ("sha256_password", "nobody_knows"):
        # It is asked for something else, as its own would wait for more than an OK; our client does not answer.
        with pytest.raises(Exception):  # noqa: B017
            Client(server.mysql, plugin=plugin)
        return
    with Client(server.mysql, plugin=plugin) as client:
        assert client.query("SELECT 1").texts() == [(b"1",)]


def test_the_command_line_client(guarded: tuple[Rowferry, str], tmp_path: Path) -> None:
    server, path = guarded
    assert server.mysql is not None
    host, port = server.mysql
    ways = [
        ["-h", host, "-P", str(port), "--ssl"],
        ["-h", host, "-P", str(port), "--skip-ssl"],
        ["-h", host, "-P", str(port), "--skip-ssl", "--compress"],
        ["-S", path],
    ]
    for way in ways:
        command = ["mariadb", "--no-defaults", *way, "-u", "ada", "-ppencil", "app", "-e", "SELECT 1 AS a, NULL AS b"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, "a\tb\n1\tNULL\n"), (way, done.stderr)


def test_more_than_may_come_are_told_so(tmp_path: Path) -> None:
    args = ["--max-connections", "1"]
    with Rowferry.start(tmp_path / "app.db", postgres=False, mysql=True, args=args) as server:
        assert server.mysql is not None
        with Client(server.mysql), pytest.raises(ServerError) as refused:
            Client(server.mysql)
        assert refused.value.code == 1040
