"""Signals, TLS that is required, channel binding, wrong passwords, permissions, logs; through both doors."""

from __future__ import annotations

import os
import signal
import socket
import stat
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rowferry import informix

from tests.servers.certificates import make_certificates
from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry, find_rowferry, socket_directory

from . import wire
from .conftest import wait_until
from .wire import Wire

Start = Callable[..., Rowferry]


def logged(server: Rowferry, words: str) -> bool:
    return any(words in line for line in server.process.tail)


def connect_postgres(server: Rowferry, password: str = "secret", user: str = "ada", **more: str) -> None:
    assert server.postgres is not None
    host, port = server.postgres
    psycopg.connect(host=host, port=port, user=user, password=password, dbname="app", **more).close()  # type: ignore[arg-type]


def connect_informix(server: Rowferry, password: str = "secret", user: str = "ada", **more: Any) -> None:
    assert server.informix is not None
    host, port = server.informix
    informix.connect(host=host, port=port, user=user, password=password, database="app", **more).close()


# Signals.


def test_sighup_reads_users_and_certificates_again(start: Start, tmp_path: Path) -> None:
    pem = make_certificates(tmp_path)
    users, cert, key = tmp_path / "users", tmp_path / "live.crt", tmp_path / "live.key"

    def put(password: str, which: str) -> None:
        users.write_text(f"ada:{password}\n")
        users.chmod(0o600)
        cert.write_bytes(Path(pem[f"{which}cert"]).read_bytes())
        key.write_bytes(Path(pem[f"{which}key"]).read_bytes())

    put("secret", "")
    files = ["--password-file", str(users), "--tls-cert", str(cert), "--tls-key", str(key)]
    server = start(*files, informix=True)
    verified = {"sslmode": "verify-ca", "sslrootcert": pem["ca"]}
    assert server.postgres is not None
    with psycopg.connect(
        host="localhost", port=server.postgres[1], user="ada", password="secret", dbname="app", sslmode="require"
    ) as before:
        connect_postgres(server, **verified)
        put("changed", "other_")
        os.kill(server.pid, signal.SIGHUP)
        wait_until(lambda: logged(server, "read again at SIGHUP"), "the new users")
        connect_postgres(server, "changed", **verified)
        connect_informix(server, "changed")
        with pytest.raises(psycopg.OperationalError, match="password"):
            connect_postgres(server, "secret")
        # Connections that are open go on.
        assert before.execute("SELECT 1").fetchone() == (1,)
        # What cannot be read changes nothing.
        users.write_text("no colon\n")
        os.kill(server.pid, signal.SIGHUP)
        wait_until(lambda: logged(server, ":1: expected name:password"), "the refusal")
        connect_postgres(server, "changed")


def test_no_signal_ends_the_server_by_surprise(start: Start) -> None:
    server = start()
    with psycopg.connect(server.postgres_dsn) as connection:
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP):
            os.kill(server.pid, number)
        wait_until(lambda: logged(server, "SIGXFSZ") and logged(server, "read again"), "the log lines")
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_signals_that_stop_remove_the_socket(start: Start, number: signal.Signals) -> None:
    with socket_directory() as directory:
        server = start(unix_dir=directory)
        assert server.unix_socket is not None
        assert Path(f"{server.unix_socket}.lock").read_text() == f"{server.pid}\n"
        os.kill(server.pid, number)
        assert server.process.stop() == 0
        assert os.listdir(directory) == []


def test_sigquit_does_not_wait_for_statements(start: Start) -> None:
    server = start("--stop-grace", "3600")
    assert server.postgres is not None
    with Wire.open(server.postgres) as session:
        session.send(wire.query("select pg_sleep(3600)"))
        with psycopg.connect(server.postgres_dsn, autocommit=True) as other:
            running = "select 1 from pg_stat_activity where query like '%3600%' and pid <> pg_backend_pid()"
            wait_until(lambda: other.execute(running).fetchone(), "the statement")
        os.kill(server.pid, signal.SIGQUIT)
        assert session.rest()
    assert server.process.stop() == 0


def test_the_socket_of_the_dead_is_taken_over_and_that_of_the_living_is_not(start: Start, tmp_path: Path) -> None:
    with socket_directory() as directory:
        first = start(unix_dir=directory, postgres=False)
        assert first.unix_dir is not None
        with pytest.raises(ServerFailed, match="in use"):
            start(unix_dir=directory, postgres=False, database=tmp_path / "other.db")
        first.process.kill()
        assert len(os.listdir(directory)) == 2
        second = start(unix_dir=directory, postgres=False)
        with psycopg.connect(host=second.unix_dir, dbname="app", user="a") as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        second.stop()
        assert os.listdir(directory) == []


# TLS and passwords.


def test_tls_can_be_required(start: Start) -> None:
    with socket_directory() as directory:
        server = start("--tls", "--tls-required", "--user", "ada:secret", informix=True, unix_dir=directory)
        connect_postgres(server, sslmode="require")
        connect_informix(server, tls=True)
        with pytest.raises(psycopg.OperationalError, match="requires an encrypted connection"):
            connect_postgres(server, sslmode="disable")
        with pytest.raises(informix.Error, match=r"(?i)encrypted|-908"):
            connect_informix(server)
        # What does not leave the machine's kernel is exempt.
        assert server.postgres is not None
        psycopg.connect(host=directory, port=server.postgres[1], user="ada", password="secret", dbname="app").close()


def test_required_tls_needs_a_certificate(start: Start) -> None:
    with pytest.raises(ServerFailed, match="--tls-required"):
        start("--tls-required")


def test_channel_binding(start: Start) -> None:
    server = start("--tls", "--user", "ada:secret")
    connect_postgres(server, sslmode="require", channel_binding="require")
    connect_postgres(server, sslmode="require", channel_binding="disable")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect_postgres(server, "wrong", sslmode="require", channel_binding="require")
    # There is no channel to bind without TLS.
    with pytest.raises(psycopg.OperationalError, match="channel binding"):
        connect_postgres(server, sslmode="disable", channel_binding="require")


def test_somebody_between_is_noticed_by_channel_binding(start: Start, tmp_path: Path) -> None:
    """A relay that ends TLS with a certificate of its own and passes everything on."""
    server = start("--tls", "--user", "ada:secret")
    with Relay(server, make_certificates(tmp_path)) as relay:
        common: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": relay.port,
            "user": "ada",
            "password": "secret",
            "dbname": "app",
        }
        with psycopg.connect(**common, sslmode="require", channel_binding="disable") as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match="channel binding"):
            psycopg.connect(**common, sslmode="require", channel_binding="require")


class Relay:
    """Ends TLS at both sides; passes bytes."""

    def __init__(self, server: Rowferry, pem: dict[str, str]) -> None:
        import ssl
        import threading

        self.server = server
        self.client_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.client_side.load_cert_chain(pem["cert"], pem["key"])
        self.server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.server_side.check_hostname, self.server_side.verify_mode = False, ssl.CERT_NONE
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> Relay:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)

    def run(self) -> None:
        import contextlib

        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                self.relay(client)

    def relay(self, client: socket.socket) -> None:
        import contextlib

        request = struct.pack("!ii", 8, 80877103)
        assert client.recv(8) == request
        client.sendall(b"S")
        near = self.client_side.wrap_socket(client, server_side=True)
        assert self.server.postgres is not None
        far = socket.create_connection(self.server.postgres)
        far.sendall(request)
        assert far.recv(1) == b"S"
        far = self.server_side.wrap_socket(far)

        # One thread for both directions: a TLS connection must not be read and written at the same time.
        others = {near: far, far: near}
        with contextlib.suppress(OSError):
            while self.pass_on(others):
                pass
        near.close()
        far.close()

    @staticmethod
    def pass_on(others: dict[Any, Any]) -> bool:
        """Pass on what has come; false when a side is at its end, or both are silent for long."""
        import select
        import ssl

        ready = [side for side in others if side.pending()] or select.select(list(others), [], [], 10)[0]
        for side in ready:
            side.settimeout(0)
            try:
                data = side.recv(65536)
            except ssl.SSLWantReadError:  # a record without data of the application's
                continue
            finally:
                side.settimeout(10)
            if not data:
                return False
            others[side].sendall(data)
        return bool(ready)


@pytest.mark.parametrize("door", [connect_postgres, connect_informix])
def test_wrong_passwords_slow_down_whoever_gives_them_and_nobody_else(start: Start, door: Callable[..., None]) -> None:
    server = start("--user", "ada:secret", "--user", "bob:secret", informix=True)
    began = time.monotonic()
    for _ in range(5):
        with pytest.raises((psycopg.OperationalError, informix.Error)):
            door(server, "wrong")
    # The fourth waited a quarter of a second, the fifth half a second.
    assert time.monotonic() - began >= 0.7
    door(server, user="bob")
    door(server)
    # The right password ends it.
    with pytest.raises((psycopg.OperationalError, informix.Error)):
        door(server, "wrong")
    door(server)


def test_a_malformed_verifier_is_refused_at_the_start(start: Start, tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("ada:secret\nbob:SCRAM-SHA-256$4096:AAAA$BBBB:CCCC\n")
    users.chmod(0o600)
    with pytest.raises(ServerFailed, match=r"users:2: malformed verifier"):
        start("--password-file", str(users))


# Files and logs.


def test_files_are_private_where_there_are_users(tmp_path: Path, start: Start) -> None:
    old = os.umask(0o022)
    try:
        (tmp_path / "more").mkdir()
        with socket_directory() as directory:
            server = start(
                "--user", "ada:secret", "--databases", str(tmp_path / "more"), informix=True, unix_dir=directory
            )
            assert server.informix is not None and server.postgres is not None
            port = server.postgres[1]
            with psycopg.connect(host=directory, port=port, user="ada", password="secret", dbname="app") as connection:
                connection.execute("CREATE TABLE t (a int)")
                connection.commit()
                with informix.connect(
                    host=server.informix[0], port=server.informix[1], user="ada", password="secret", autocommit=True
                ) as other:
                    other.execute("CREATE DATABASE second WITH LOG")
                made = [path for path in tmp_path.rglob("*") if path.is_file()]
                names = {path.name for path in made}
                assert {"app.db", "app.db-wal", "app.db-shm", "app.db-rowferry", "second.db"} <= names
                assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    finally:
        os.umask(old)


def test_passwords_are_masked_in_logs_and_for_others(start: Start) -> None:
    server = start("--log", "trace", informix=True)
    assert server.informix is not None
    sql = "create user bob with password 'pa55word'"
    with (
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
        psycopg.connect(server.postgres_dsn, autocommit=True) as other,
        informix.connect(host=server.informix[0], port=server.informix[1], database="app", autocommit=True) as third,
    ):
        for run in (
            lambda: connection.execute(sql),
            lambda: connection.execute(sql, prepare=True),
            lambda: connection.execute(sql + " nonsense"),
            lambda: third.execute("SET ENCRYPTION PASSWORD 'pa55word'"),
        ):
            try:
                run()
            except (psycopg.Error, informix.Error):
                pass
        connection.execute("select 'password', /* password */ 'shown' as shown")
        wait_until(lambda: logged(server, "'shown' as shown"), "the statement's line")
        connection.execute("select 1 from (select 'x' as password) t where password = 'pa55word'")
        queries = [query for (query,) in other.execute("select query from pg_stat_activity").fetchall()]
    assert "select 1 from (select 'x' as password) t where password = '***'" in queries
    assert not any("pa55word" in line for line in [*server.process.tail, *queries])
    assert logged(server, "with password '***'") or logged(server, "password = '***'")


def test_what_a_syntax_error_stands_next_to_is_not_logged(start: Start) -> None:
    server = start()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        for sql in ("alter user bob password pa55word", "alter user bob 'pa55word'"):
            with pytest.raises(psycopg.errors.SyntaxError, match="pa55word"):
                connection.execute(sql)
        wait_until(lambda: sum("42601" in line for line in server.process.tail) == 2, "the errors")
    assert not logged(server, "pa55word")


def test_nobody_writes_log_lines_of_their_own(start: Start) -> None:
    server = start("--user", "ada:secret", informix=True)
    forged = "x\n2026-01-01T00:00:00Z ERROR all is lost\x1b[2J"
    with pytest.raises(psycopg.OperationalError):
        connect_postgres(server, user=forged)
    with pytest.raises(informix.Error):
        connect_informix(server, user=forged)
    assert server.postgres is not None
    with Wire(server.postgres) as connection:
        connection.send(wire.startup(user="a", replication=forged))
        connection.rest()
    wait_until(lambda: sum("all is lost" in line for line in server.process.tail) >= 2, "the refusals")
    assert not any(line.startswith("2026-01-01") for line in server.process.tail)
    assert not any("\x1b[2J" in line for line in server.process.tail)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--journal", "memory"], "possible values: wal, keep"),
        (["--user", "ada:md5e8a48653851e28c69d0506508fb27fc5"], "md5 cannot be used"),
        (["--tls-cert", "/nowhere.crt", "--tls-key", "/nowhere.key"], "/nowhere.crt"),
        (["--password-file", "/nowhere"], "/nowhere"),
    ],
)
def test_options_that_make_no_sense_are_explained(tmp_path: Path, arguments: list[str], words: str) -> None:
    command: list[str | Path] = [find_rowferry(), "serve", tmp_path / "app.db", "--postgres", ":0", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert words in done.stderr
