"""Words for mistakes in connecting, and the names under which programs find the driver."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys

import pytest
from rowferry import informix
from rowferry.informix import _options, _settings
from rowferry.informix import aio as informix_aio
from rowferry.informix import pool as blocking_pool

from tests.python.informix.server import Target


@pytest.mark.parametrize("connect", [informix.connect, informix_aio.connect])
def test_unknown_parameters_of_connect_are_named_with_a_suggestion(connect: object) -> None:
    async def wait() -> None:
        await informix_aio.connect("localhost", pasword="secret")  # type: ignore[call-arg]

    with pytest.raises(TypeError, match=r"^connect\(\) has no parameter `pasword`; did you mean `password`\?$"):
        if connect is informix.connect:
            informix.connect("localhost", pasword="secret")  # type: ignore[call-arg]
        else:
            wait().send(None)


@pytest.mark.parametrize("module", [informix, informix_aio])
def test_unknown_parameters_of_pools_are_named_with_a_suggestion(module: object) -> None:
    with pytest.raises(TypeError, match=r"^create_pool\(\) has no parameter `maxsize`; did you mean `max_size`\?$"):
        module.create_pool("localhost", maxsize=3)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"^create_pool\(\) has no parameter `nonsense`$"):
        module.create_pool("localhost", nonsense=3)  # type: ignore[attr-defined]


def test_type_checkers_know_every_parameter() -> None:
    assert {"host", "port", *_options.ConnectOptions.__annotations__} == _settings.PARAMETERS
    assert set(_options.PoolSizes.__annotations__) == set(blocking_pool._SIZES)


def test_values_are_found_under_informix_drivers_names() -> None:
    # In a process of its own: what is installed stays.
    program = """
from rowferry import informix
informix.install_as_informix_db()
from informix_db.converters import BlobLocator, ClobLocator, CollectionValue, IntervalYM, RowValue
import informix_db
assert IntervalYM is informix_db.IntervalYM is informix.IntervalYM
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_socket_can_be_watched(target: Target) -> None:
    connection = informix.connect(target.url, autocommit=True, **target.parameters)
    assert connection.execute("SELECT tabid FROM systables WHERE tabid = 1").fetchone() == (1,)
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        assert select.select([same], [], [], 0) == ([], [], [])
        same.shutdown(socket.SHUT_RDWR)
        assert select.select([same], [], [], 5)[0] == [same]
    with pytest.raises(informix.OperationalError):
        connection.execute("SELECT tabid FROM systables WHERE tabid = 1")
    assert connection.closed
    with pytest.raises(informix.InterfaceError, match="connection is closed"):
        connection.fileno()
