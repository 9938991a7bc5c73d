"""Which server we come to: lists of hosts, `sqlhosts` files, redirection; and what refuses us there."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from rowferry import informix
from rowferry.informix import _places, aio
from rowferry.informix._places import Place, hosts_of, sqlhosts_file, sqlhosts_places
from rowferry.informix._urls import parameters_of

from tests.python.informix.replay import EOT, WIDE, Driver, Replay, vector


@pytest.fixture
def nobody() -> Iterator[int]:
    """A port where nobody listens, and nobody else can."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that accepts and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def refusal(code: int) -> bytes:
    """The server's refusal of a login with another code."""
    packet = vector("login.reject.951")
    wrong_password = (-951).to_bytes(2, "big", signed=True)
    assert packet.count(wrong_password) == 1
    return packet.replace(wrong_password, code.to_bytes(2, "big", signed=True))


def redirect(detail: str) -> bytes:
    """The server's answer that sends its client elsewhere."""
    packet = vector("login.redirect")
    known = b"informix=127.0.0.1|19088"
    start = packet.index(known) - 2
    end = start + 2 + int.from_bytes(packet[start : start + 2], "big")
    changed = packet[:start] + len(detail).to_bytes(2, "big") + detail.encode() + packet[end:]
    return len(changed).to_bytes(2, "big") + changed[2:]


# -- lists of hosts --------------------------------------------------------------------------------------------------


def test_hosts_are_tried_in_their_order(driver: Driver, nobody: int) -> None:
    with Replay() as first, Replay() as second:
        hosts = f"127.0.0.1:{nobody},127.0.0.1:{first.port},127.0.0.1:{second.port}"
        for given in ({"hosts": hosts}, {"hosts": hosts.split(",")}, {"hosts": [("127.0.0.1", first.port)]}):
            with driver.connect(**given) as connection:
                assert not connection.closed
        url = f"informix://informix:in4mix@{hosts}/testdb?server=group"
        with driver.connect(url) as connection:
            assert not connection.closed
        with pytest.raises(informix.OperationalError, match="cannot connect to 127"):
            driver.connect(hosts=[("127.0.0.1", nobody)])


def test_a_host_that_says_nothing_costs_its_time_out_only(driver: Driver, silent: int) -> None:
    with Replay() as server:
        hosts = f"127.0.0.1:{silent},127.0.0.1:{server.port}"
        driver.connect(hosts=hosts, connect_timeout=0.3, read_timeout=None).close()


def test_when_all_fail_each_failure_is_told(driver: Driver, nobody: int, silent: int) -> None:
    with Replay(opening=[refusal(-27001)]) as full:
        hosts = f"127.0.0.1:{nobody},127.0.0.1:{silent},127.0.0.1:{full.port}"
        with pytest.raises(informix.OperationalError) as caught:
            driver.connect(hosts=hosts, connect_timeout=0.3, read_timeout=None)
    told = str(caught.value)
    assert "none of 3 servers" in told
    for port in (nobody, silent, full.port):
        assert f"127.0.0.1:{port}: " in told
    assert "-27001" in told and "timed out" in told


def test_a_wrong_password_is_as_wrong_everywhere(driver: Driver) -> None:
    with Replay(opening=[refusal(-951)]) as first, Replay() as second:
        with pytest.raises(informix.OperationalError) as caught:
            driver.connect(hosts=f"127.0.0.1:{first.port},127.0.0.1:{second.port}")
        assert caught.value.sqlcode == -951


def test_an_unknown_database_is_as_unknown_everywhere(driver: Driver) -> None:
    opening = [vector("login.accept"), WIDE, EOT + vector("dbopen.error.reply")]
    with Replay(opening=opening) as first, Replay() as second:
        with pytest.raises(informix.OperationalError, match="-329"):
            driver.connect(hosts=f"127.0.0.1:{first.port},127.0.0.1:{second.port}")


def test_load_balancing_takes_every_host_sooner_or_later(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    with Replay() as first, Replay() as second:
        hosts = f"127.0.0.1:{first.port},127.0.0.1:{second.port}"
        orders = []

        def sample(places: list[Place], count: int) -> list[Place]:
            orders.append(places)
            return places[::-1]

        monkeypatch.setattr("random.sample", sample)
        driver.connect(hosts=hosts, load_balance_hosts=True).close()
        driver.connect(hosts=hosts).close()
        assert orders == [hosts_of(hosts)]


def test_lists_of_hosts_are_read_and_checked() -> None:
    assert hosts_of("h1:1, h2 ,[::1]:3,[fe80::1]") == [
        Place("h1", 1),
        Place("h2", 9088),
        Place("::1", 3),
        Place("fe80::1", 9088),
    ]
    assert hosts_of("h", 1526) == [Place("h", 1526)]
    assert [str(place) for place in hosts_of("h,[::1]")] == ["h:9088", "[::1]:9088"]
    for bad in ("h:x", "h:0", "h:65536", "h:-1", "h:٣", "[::1", "[::1]x", "a,,b", "a,"):
        with pytest.raises(informix.InterfaceError):
            hosts_of(bad)
    with pytest.raises(informix.InterfaceError, match="no host"):
        _places.places_of([])


# -- sqlhosts --------------------------------------------------------------------------------------------------------

SQLHOSTS = """\
# name      type       host          service  options
prod        group      -             -        i=1,c=1
prod_a      onsoctcp   db-a          9088     g=prod
prod_b      drsoctcp   db-b          9090     b=32767,g=prod
prod_shm    onipcshm   db-a          prod_shm g=prod

old         group      -             -        i=2,e=old_2
old_1       ontlitcp   *old1         1526
old_2       olsoctcp   old2          1527     # the last
single      onsoctcp   alone         19088
secure      onsocssl   safe          9089
pipe        onipcstr   here          pipe
named       onsoctcp   here          no_such_service_of_ours
short       onsoctcp
empty       group      -             -
lost        group      -             -        e=nowhere
"""


def test_sqlhosts_names_servers_and_groups(tmp_path: Path) -> None:
    file = tmp_path / "sqlhosts"
    file.write_text(SQLHOSTS.replace("short       onsoctcp\n", ""))
    assert sqlhosts_places(file, "single") == ([Place("alone", 19088, "single", tls=False)], False)
    assert sqlhosts_places(file, "secure") == ([Place("safe", 9089, "secure", tls=True)], False)
    members = [Place("db-a", 9088, "prod_a", tls=False), Place("db-b", 9090, "prod_b", tls=False)]
    assert sqlhosts_places(file, "prod") == (members, True)
    members = [Place("old1", 1526, "old_1", tls=False), Place("old2", 1527, "old_2", tls=False)]
    assert sqlhosts_places(file, "old") == (members, False)
    for name, words in {
        "nosuch": "-25596.*not listed",
        "named": "-931.*no_such_service",
        "empty": "no member",
        "lost": "nowhere",
    }.items():
        with pytest.raises(informix.InterfaceError, match=words):
            sqlhosts_places(file, name)
    with pytest.raises(informix.NotSupportedError, match="onipcstr"):
        sqlhosts_places(file, "pipe")
    file.write_text(SQLHOSTS)
    with pytest.raises(informix.InterfaceError, match="line 14"):
        sqlhosts_places(file, "single")
    with pytest.raises(informix.InterfaceError, match="cannot read"):
        sqlhosts_places(tmp_path / "absent", "single")


def test_the_usual_sqlhosts_file_is_found(tmp_path: Path) -> None:
    assert sqlhosts_file(tmp_path / "mine") == tmp_path / "mine"
    assert sqlhosts_file(True, {"INFORMIXSQLHOSTS": "/a/b", "INFORMIXDIR": "/c"}) == Path("/a/b")
    assert sqlhosts_file(True, {"INFORMIXDIR": "/c"}) == Path("/c/etc/sqlhosts")
    with pytest.raises(informix.InterfaceError, match="INFORMIXSQLHOSTS"):
        sqlhosts_file(True, {})


def test_settings_of_derived_servers_mean_the_same() -> None:
    assert sqlhosts_file(True, {"GBASEDBTDIR": "/g"}) == Path("/g/etc/sqlhosts")
    both = {"GBASEDBTSQLHOSTS": "/g/hosts", "INFORMIXSQLHOSTS": "/i/hosts"}
    assert sqlhosts_file(True, both) == Path("/i/hosts")
    assert parameters_of("gbase8s://h/d?sqlhosts=true&server=s", {}, both)["sqlhosts"] == Path("/g/hosts")


def test_a_url_names_a_server_derived_from_informix() -> None:
    url = "gbase8s://me:p%40w@db:9090/shop?server=gbase01&client_locale=zh_CN.utf8"
    told = parameters_of(url, {"autocommit": True}, {})
    assert told == {
        "hosts": "db:9090",
        "user": "me",
        "password": "p@w",
        "database": "shop",
        "server": "gbase01",
        "client_locale": "zh_CN.utf8",
        "autocommit": True,
    }
    assert parameters_of("gbase8s://db/shop?GBASEDBTSERVER=x&DB_LOCALE=zh_CN.utf8", {}, {}) == {
        "hosts": "db",
        "database": "shop",
        "server": "x",
        "env": {"DB_LOCALE": "zh_CN.utf8"},
    }


def test_a_server_without_a_name_is_asked_of_the_environment() -> None:
    both = {"INFORMIXSERVER": "ids", "GBASEDBTSERVER": "gbase01"}
    assert parameters_of("informix://h/d", {}, both)["server"] == "ids"
    assert parameters_of("gbase8s://h/d", {}, both)["server"] == "gbase01"
    assert parameters_of("gbase8s://h/d", {"server": "other"}, both)["server"] == "other"
    assert parameters_of("informix://h/d", {}, {})["server"] == ""
    with pytest.raises(informix.InterfaceError, match="GBASEDBTSERVER"):
        parameters_of("gbase8s://h/d", {}, {})


def test_urls_of_jdbc_are_taken() -> None:
    url = "jdbc:gbasedbt-sqli://db:9088/shop:GBASEDBTSERVER=g;DB_LOCALE=zh_CN.utf8;CLIENT_LOCALE=zh_CN.utf8"
    assert parameters_of(url, {}, {}) == {
        "hosts": "db:9088",
        "database": "shop",
        "server": "g",
        "client_locale": "zh_CN.utf8",
        "env": {"DB_LOCALE": "zh_CN.utf8"},
    }
    url = "jdbc:informix-sqli://[::1]:9088:INFORMIXSERVER=i;user=me;password=p@:w;SSLCONNECTION=true;IFX_LOCK_MODE_WAIT=-1"
    assert parameters_of(url, {}, {}) == {
        "hosts": "[::1]:9088",
        "server": "i",
        "user": "me",
        "password": "p@:w",
        "tls": "verify_identity",
        "lock_wait": "none",
    }
    with pytest.raises(informix.InterfaceError, match="NEWCODESET") as refusal:
        parameters_of("jdbc:informix-sqli://h:1/d:INFORMIXSERVER=i;password=secret;NEWCODESET=x", {}, {})
    assert "secret" not in str(refusal.value)
    with pytest.raises(informix.InterfaceError, match="jdbc:informix-sqli"):
        parameters_of("jdbc:mysql://h/d", {}, {})


def test_a_derived_server_is_connected_to(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GBASEDBTSERVER", "gbase01")
    with Replay() as server, driver.connect(f"gbase8s://me:pw@127.0.0.1:{server.port}/db") as connection:
        assert connection.settings.server == b"gbase01"


def test_a_group_of_sqlhosts_fails_over(driver: Driver, tmp_path: Path, nobody: int) -> None:
    with Replay() as server:
        file = tmp_path / "sqlhosts"
        file.write_text(
            "grp group - - i=1\n"
            f"a onsoctcp 127.0.0.1 {nobody} g=grp\n"
            f"b onsoctcp 127.0.0.1 {server.port} g=grp\n"
            f"s onsocssl 127.0.0.1 {server.port}\n"
        )
        driver.connect(server="grp", sqlhosts=file).close()
        driver.connect(f"informix://u:p@/testdb?server=grp&sqlhosts={file}").close()
        with pytest.raises(informix.InterfaceError, match="speaks TLS"):
            driver.connect(server="s", sqlhosts=file)


# -- redirection -----------------------------------------------------------------------------------------------------


def test_one_redirection_is_followed(driver: Driver, nobody: int) -> None:
    with Replay() as there:
        with Replay(opening=[redirect(f"other=127.0.0.1|{there.port}")]) as here:
            driver.connect(port=here.port).close()
            # Also from a list, behind one that does not answer.
            driver.connect(hosts=[("127.0.0.1", nobody), ("127.0.0.1", here.port)]).close()
            with Replay(opening=[redirect(f"other=127.0.0.1|{here.port}")]) as first:
                with pytest.raises(informix.OperationalError, match="second time"):
                    driver.connect(port=first.port)
        for nonsense in ("x:name=h|9088", "name:h:9088", "x|name|h|9088|", "a=h|0", "a=|1", "a=h|99999", "a=h|"):
            with Replay(opening=[redirect(nonsense)]) as here, pytest.raises(informix.OperationalError):
                driver.connect(port=here.port)


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [-951, -952, -956, -908, -930, -931, -1829, -25596, -27001, -27002, -387])
def test_refused_logins_are_told_by_their_code(driver: Driver, code: int) -> None:
    with Replay(opening=[refusal(code)]) as server:
        with pytest.raises(informix.OperationalError) as caught:
            driver.connect(port=server.port)
        assert caught.value.sqlcode == code
        # The code, and words of its own rather than a general remark.
        assert str(caught.value).startswith(f"{code}: ") and "Informix error." not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        bytes(64),
        b"\x16\x03\x01\x02\x00\x01",
        b"\xff" * 300,
        b"\x00\x08\x02\x3c\0\0",
    ],
)
def test_what_is_no_informix_server_ends_in_an_error(driver: Driver, answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65536)
                client.sendall(answer)
                client.shutdown(socket.SHUT_WR)
                client.recv(65536)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        with pytest.raises(informix.Error):
            driver.connect(port=listener.getsockname()[1])
        server.join(10)
        assert not server.is_alive()


# -- questions of PAM ------------------------------------------------------------------------------------------------


def question(style: int, text: str) -> bytes:
    words = text.encode()
    return b"\x00\x81" + style.to_bytes(2, "big") + len(words).to_bytes(2, "big") + words + bytes(len(words) % 2) + EOT


PAM_ACCEPT = b"\x00\x7f" + EOT
PAM_EXIT = b"\x00\x38"


def asking(*questions: bytes, end: bytes = PAM_ACCEPT) -> Replay:
    opening = [vector("login.accept"), vector("protocols.pam.reply"), *questions, end, EOT + vector("dbopen.reply")]
    return Replay(opening=[turn for turn in opening if turn])


def test_several_rounds_of_questions_are_answered(driver: Driver) -> None:
    asked = []
    answers = {"Password: ": "in4mix", "Token: ": "123456"}

    def challenge(style: int, text: str) -> str:
        asked.append((style, text))
        return answers.get(text, "")

    rounds = [question(1, "Password: "), question(2, "Token: "), question(4, "Welcome"), question(3, "Expires soon")]
    # Behind what asks for nothing the server goes on by itself.
    with (
        asking(*rounds[:2], b"".join(rounds[2:]) + PAM_ACCEPT, end=b"") as server,
        driver.connect(port=server.port, challenge=challenge) as connection,
    ):
        assert not connection.closed
    assert asked == [(1, "Password: "), (2, "Token: "), (4, "Welcome"), (3, "Expires soon")]
    # What asks for nothing needs nobody to answer.
    with asking(b"".join(rounds[2:]) + PAM_ACCEPT, end=b"") as server:
        driver.connect(port=server.port).close()


def test_a_coroutine_may_answer() -> None:
    async def challenge(style: int, text: str) -> str:
        await asyncio.sleep(0)
        return "in4mix"

    async def main(port: int) -> None:
        connection = await aio.connect("127.0.0.1", port, database="testdb", challenge=challenge, connect_timeout=10)
        await connection.close()

    with asking(question(1, "Password: ")) as server:
        asyncio.run(main(server.port))


def test_without_an_answer_the_connection_ends(driver: Driver) -> None:
    with asking(question(2, "Token: ")) as server:
        with pytest.raises(informix.OperationalError, match=r"'Token: '.*challenge="):
            driver.connect(port=server.port)
    for wrong, error in (
        (lambda style, text: None, informix.InterfaceError),
        (lambda style, text: "x" * 513, informix.DataError),
        (lambda style, text: "€", informix.DataError),
        (lambda style, text: 1 // 0, ZeroDivisionError),
    ):
        with asking(question(1, "Password: ")) as server, pytest.raises(error):
            driver.connect(port=server.port, challenge=wrong)


def test_a_refused_answer_is_told(driver: Driver) -> None:
    with asking(question(1, "Password: "), end=PAM_EXIT) as server:
        with pytest.raises(informix.OperationalError):
            driver.connect(port=server.port)
