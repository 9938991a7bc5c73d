"""TLS on the Informix wire: the driver against our door and against OpenSSL, both colours."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix.replay import Driver, Replay
from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, pem: dict[str, str]) -> Iterator[Rowferry]:
    """A door whose certificate is for `localhost`; it takes plain clients on the same port."""
    file = tmp_path_factory.mktemp("tls") / "app.db"
    args = ["--tls-cert", pem["cert"], "--tls-key", pem["key"]]
    with Rowferry.start(file, postgres=False, informix=True, args=args) as server:
        yield server


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, pem: dict[str, str]) -> Iterator[Rowferry]:
    """A door whose certificate is for another host."""
    file = tmp_path_factory.mktemp("tls") / "app.db"
    args = ["--tls-cert", pem["other_cert"], "--tls-key", pem["other_key"]]
    with Rowferry.start(file, postgres=False, informix=True, args=args) as server:
        yield server


def at(server: Rowferry, host: str = "localhost") -> dict[str, Any]:
    assert server.informix is not None
    return {"host": host, "port": server.informix[1], "database": server.dbname}


def context(ca: str | None = None, *, check_hostname: bool = True) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = check_hostname
    if ca is None:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    else:
        made.load_verify_locations(ca)
    return made


def test_every_way_to_ask_for_tls_encrypts(driver: Driver, server: Rowferry, pem: dict[str, str]) -> None:
    ways: list[dict[str, Any]] = [
        {"tls": True},
        {"tls": "required"},
        {"tls": True, "tls_ca": pem["ca"]},
        {"tls": "verify_ca", "tls_ca": pem["ca"]},
        {"tls": "verify_identity", "tls_ca": pem["ca"]},
        {"tls": context(pem["ca"])},
        {"tls": context(pem["ca"], check_hostname=False)},
        {"tls": context()},
    ]
    for way in ways:
        with driver.connect(**at(server), **way) as connection:
            assert connection.tls_description.startswith("TLSv1"), way
            connection.execute("SELECT FIRST 1 tabname FROM systables").fetchall()
    with driver.connect(**at(server)) as connection:
        assert connection.tls_description is None


def test_a_url_asks_for_tls(driver: Driver, server: Rowferry, pem: dict[str, str]) -> None:
    where = at(server)
    url = f"informix://informix:x@localhost:{where['port']}/{where['database']}?tls=verify_identity&tls_ca={pem['ca']}"
    with driver.connect(url) as connection:
        assert connection.tls_description is not None


def test_long_values_and_many_rows_travel_both_ways(driver: Driver, server: Rowferry, pem: dict[str, str]) -> None:
    with driver.connect(**at(server), tls="verify_identity", tls_ca=pem["ca"]) as connection:
        table = f"t_{driver.colour}"
        connection.execute(f"CREATE TABLE {table} (n INT, b BYTE, v VARCHAR(200), tail INT)")
        cursor = connection.cursor()
        cursor.executemany(
            f"INSERT INTO {table} VALUES (?, NULL, ?, ?)", ((n, "x" * (n % 200), -n) for n in range(5000))
        )
        connection.execute(f"INSERT INTO {table} VALUES (?, ?, NULL, ?)", (5000, b"\x01\x02" * 150_000, 7))
        cursor.execute(f"SELECT n, v, tail FROM {table} WHERE n < 5000 ORDER BY n")
        assert cursor.fetchall() == [(n, "x" * (n % 200), -n) for n in range(5000)]
        cursor.execute(f"SELECT b, tail FROM {table} WHERE n = 5000")
        assert cursor.fetchall() == [(b"\x01\x02" * 150_000, 7)]


@pytest.mark.parametrize("checked", ["verify_ca", "verify_identity", "context"])
def test_an_authority_that_is_not_trusted_is_refused(
    driver: Driver, server: Rowferry, pem: dict[str, str], checked: str
) -> None:
    how: dict[str, Any] = {"tls": checked, "tls_ca": pem["stranger"]}
    if checked == "context":
        how = {"tls": context(pem["stranger"])}
    with pytest.raises(informix.OperationalError, match=r"(?i)certificate"):
        driver.connect(**at(server), **how)


def test_the_name_is_checked_when_asked(driver: Driver, server: Rowferry, other: Rowferry, pem: dict[str, str]) -> None:
    for where in (at(server, "127.0.0.1"), at(other)):
        for strict in ({"tls": "verify_identity", "tls_ca": pem["ca"]}, {"tls": context(pem["ca"])}):
            with pytest.raises(informix.OperationalError, match=r"(?i)certificate not valid for name"):
                driver.connect(**where, **strict)
        driver.connect(**where, tls="verify_ca", tls_ca=pem["ca"]).close()
    # The certificate may be for another name than the one that is connected to, when the caller says so.
    names = {"tls": "verify_identity", "tls_ca": pem["ca"]}
    driver.connect(**at(other), **names, tls_server_hostname="db.example.org").close()


def test_a_certificate_of_the_servers_own_making_is_trusted_when_it_is_given(
    driver: Driver, pem: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("own") / "app.db"
    args = ["--tls-cert", pem["stranger"], "--tls-key", pem["stranger"].replace(".pem", ".key")]
    with Rowferry.start(file, postgres=False, informix=True, args=args) as own:
        for way in (context(pem["stranger"]), context(pem["stranger"], check_hostname=False)):
            driver.connect(**at(own), tls=way).close()
        driver.connect(**at(own), tls="verify_identity", tls_ca=pem["stranger"]).close()
        with pytest.raises(informix.OperationalError, match="not valid for name"):
            driver.connect(**at(own, "127.0.0.1"), tls=context(pem["stranger"]))
        with pytest.raises(informix.OperationalError, match=r"(?i)certificate"):
            driver.connect(**at(own), tls=context(pem["ca"]))


def test_the_usual_authorities_do_not_know_ours(driver: Driver, server: Rowferry) -> None:
    with pytest.raises(informix.OperationalError, match=r"(?i)certificate"):
        driver.connect(**at(server), tls="verify_identity")


def test_a_plain_server_is_no_tls_server(driver: Driver) -> None:
    with Replay() as plain, pytest.raises(informix.OperationalError):
        driver.connect(port=plain.port, tls=True)


def test_a_door_without_certificate_says_goodbye(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("plain") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as plain:
        with pytest.raises(informix.OperationalError):
            driver.connect(**at(plain), tls=True)
        driver.connect(**at(plain)).close()


def test_wrong_files_are_named(driver: Driver, server: Rowferry, pem: dict[str, str]) -> None:
    for files in ({"tls_ca": "/nowhere/ca.pem"}, {"tls_ca": pem["key"]}, {"tls_certificate": "/nowhere/c.pem"}):
        with pytest.raises(informix.OperationalError, match=r"nowhere|server\.key"):
            driver.connect(**at(server), tls="required" if "tls_certificate" in files else "verify_ca", **files)
    with pytest.raises(informix.InterfaceError):
        driver.connect(**at(server), tls="maybe")


class Terminator:
    """OpenSSL in front of a server, which asks its clients for a certificate."""

    def __init__(self, upstream: tuple[str, int], pem: dict[str, str]) -> None:
        self._upstream = upstream
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(pem["cert"], pem["key"])
        self._context.load_verify_locations(pem["ca"])
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Terminator:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            raw.settimeout(10)
            with contextlib.suppress(OSError), self._context.wrap_socket(raw, server_side=True) as client:
                with socket.create_connection(self._upstream) as upstream:
                    self._relay(client, upstream)

    def _relay(self, client: ssl.SSLSocket, upstream: socket.socket) -> None:
        """Group by group: the login, then requests and their answers, which here fit one read each."""
        while request := client.recv(65536):
            upstream.sendall(request)
            answer = upstream.recv(65536)
            if not answer:
                return
            client.sendall(answer)


def test_a_client_certificate_is_shown_when_asked_for(driver: Driver, server: Rowferry, pem: dict[str, str]) -> None:
    assert server.informix is not None
    with Terminator(server.informix, pem) as strict:
        where = {"host": "localhost", "port": strict.port, "database": server.dbname}
        checked = {"tls": "verify_identity", "tls_ca": pem["ca"]}
        with pytest.raises(informix.OperationalError):
            driver.connect(**where, **checked)
        mine = {"tls_certificate": pem["client_cert"], "tls_key": pem["client_key"]}
        with driver.connect(**where, **checked, **mine) as connection:
            assert connection.execute("SELECT FIRST 1 tabid FROM systables").fetchall()
