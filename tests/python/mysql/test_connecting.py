"""Ways to say where and how to connect: URLs, option files, several hosts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import _settings, aio
from rowferry.mysql._option_files import read_option_files
from rowferry.mysql._places import parameters_of_url, places_of
from rowferry.mysql._settings import settings_from

from tests.servers.mysql import MySQLServer
from tests.servers.process import free_port


def both(*arguments: Any, **options: Any) -> tuple[Any, Any]:
    """What a connection in either colour answers to a question about itself."""

    async def main() -> Any:
        async with aio.connect(*arguments, **options) as connection, connection.cursor() as cursor:
            await cursor.execute("SELECT DATABASE(), @@port")
            return await cursor.fetchone(), connection.port

    with mysql.connect(*arguments, **options) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT DATABASE(), @@port")
        answer = cursor.fetchone(), connection.port
    assert asyncio.run(main()) == answer
    return answer


def test_urls(server: MySQLServer) -> None:
    url = f"mysql://{server.user}:{server.password}@127.0.0.1:{server.port}/{server.database}"
    assert both(url) == ((server.database, server.port), server.port)
    assert both(url + "?connect_timeout=5&autocommit=true&compress=zlib&ssl_mode=DISABLED")
    # What is said beside the URL counts more.
    assert both(url, database="information_schema")[0][0] == "information_schema"
    assert parameters_of_url("mariadb://a%40b:p%2F%3Aw@[::1]:3307,h2/d%20b?local_infile=off") == {
        "user": "a@b",
        "password": "p/:w",
        "host": "[::1]:3307,h2",
        "database": "d b",
        "local_infile": False,
    }
    with pytest.raises(mysql.InterfaceError, match="postgresql") as caught:
        mysql.connect("postgresql://app:secret@host/db")
    assert "secret" not in str(caught.value)
    with pytest.raises(mysql.InterfaceError, match="connect_timeout"):
        mysql.connect("mysql://host/db?connect_timeout=soon")
    with pytest.raises(TypeError, match="speed"):
        mysql.connect("mysql://host/db?speed=high")


def test_the_first_host_that_answers_is_taken(server: MySQLServer) -> None:
    options = {**server.dsn, "host": f"127.0.0.1:{free_port()},127.0.0.1:{server.port}"}
    del options["port"]
    assert both(**options)[1] == server.port
    with mysql.connect(**{**options, "host": options["host"].split(",")}) as connection:
        connection.ping()
    nowhere = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"]
    with pytest.raises(mysql.OperationalError) as caught:
        mysql.connect(**{**options, "host": nowhere})
    assert caught.value.errno == 2003
    assert all(place in str(caught.value) for place in nowhere)
    # A refusal is an answer: no other host is asked.
    with pytest.raises(mysql.OperationalError, match="Access denied"):
        mysql.connect(**{**options, "host": [f"127.0.0.1:{server.port}", *nowhere], "password": "wrong"})


def test_places() -> None:
    assert places_of("h1,h2:3307, [::1]:3308", 3306) == [("h1", 3306), ("h2", 3307), ("::1", 3308)]
    assert places_of("::1", 3306) == [("::1", 3306)]
    assert places_of("", 3306) == [("localhost", 3306)]
    for wrong in ("h:0", "h:65536", "h:x"):
        with pytest.raises(mysql.InterfaceError, match="port"):
            places_of(wrong, 3306)


def test_option_files(server: MySQLServer, tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(
        f"# ours\n!include /nowhere\n[client]\nuser={server.user}\npassword='{server.password}' # it\n"
        f"socket = {server.unix_socket}\n[other]\nuser=nobody\n"
    )
    with mysql.connect(read_default_file=str(path)) as connection:
        assert connection.user == server.user
    with pytest.raises(mysql.OperationalError, match="nobody"):
        mysql.connect(read_default_file=str(path), read_default_group="other")


def test_includes_groups_quotes_and_escapes(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.cnf").write_text('[mine]\nuser = "b # c"\n')
    (tmp_path / "more" / "ignored.txt").write_text("[mine]\nuser = x\n")
    (tmp_path / "one.cnf").write_text("[client]\nssl_ca=/a\\sb # comment\nskip-ssl\n")
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nuser=a\nport=1\n!include one.cnf\n!includedir more\n[mine]\nport=2\n[unread]\nport=3\n")
    assert read_option_files(path, ["client", "mine"]) == {
        "user": "b # c",
        "port": "2",
        "ssl-ca": "/a b",
        "skip-ssl": "",
    }
    path.write_text(f"!include {path}\n")
    with pytest.raises(mysql.InterfaceError, match="too deep"):
        read_option_files(path, ["client"])
    for text, word in (("!exclude x\n", "!exclude"), ("[client\n", "`]`"), ("!includedir nowhere\n", "nowhere")):
        path.write_text(text)
        with pytest.raises(mysql.InterfaceError, match=word):
            read_option_files(path, ["client"])
    with pytest.warns(UserWarning, match="missing"):
        assert read_option_files(tmp_path / "missing", ["client"]) == {}


def test_settings_that_were_made_before_hold_no_secret_and_are_nobody_elses() -> None:
    parameters = {"host": "db1", "user": "app", "database": "shop", "read_timeout": 3}
    first = settings_from(**parameters, password="one")
    second = settings_from(**parameters, password="two")
    assert (first.password, second.password) == (b"one", b"two")
    first.database = "elsewhere"
    third = settings_from(**parameters, password="three")
    assert (third.database, third.read_timeout, third.user) == ("shop", 3, "app")
    # What is equal to Python is not always meant alike.
    assert settings_from(**parameters, password="x", compress=True).compression_required is False
    with pytest.raises(TypeError, match="did you mean `read_timeout`"):
        settings_from(**parameters, password="x", read_timeuot=1)
    with pytest.raises((TypeError, mysql.err.InterfaceError)):
        settings_from(**parameters, password="x", compress=1)
    assert not any(made.password or made.more_passwords for made in _settings._MADE.values())
