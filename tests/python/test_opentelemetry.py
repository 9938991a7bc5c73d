"""Spans of OpenTelemetry: what statements leave in a real tracer, and that nothing is left when it is off."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rowferry.informix
import rowferry.informix.aio
import rowferry.mysql
import rowferry.mysql.aio
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from rowferry.mysql import cursors
from rowferry.opentelemetry import RowferryInstrumentor

from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    RowferryInstrumentor().instrument(tracer_provider=provider)
    yield exporter
    RowferryInstrumentor().uninstrument()


def finished(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    spans = list(exporter.get_finished_spans())
    exporter.clear()
    return spans


def place(server: MariaDB) -> dict[str, Any]:
    return {
        "host": server.host,
        "port": server.port,
        "user": server.user,
        "password": server.password,
        "database": server.database,
    }


def test_statements_of_mysql(spans: InMemorySpanExporter, mariadb: MariaDB) -> None:
    with rowferry.mysql.connect(**place(mariadb)) as connection, connection.cursor() as cursor:
        cursor.execute("/* who */ select %s as secret", ("s3cret",))
        (span,) = finished(spans)
        assert span.name == f"SELECT {mariadb.database}" and span.kind is SpanKind.CLIENT
        assert dict(span.attributes or {}) == {
            "db.system.name": "mariadb",
            "db.namespace": mariadb.database,
            "server.address": mariadb.host,
            "server.port": mariadb.port,
            "db.operation.name": "SELECT",
            "db.query.text": "/* who */ select %s as secret",
        }
        cursor.execute("create temporary table spanned (n int)")
        cursor.executemany("insert into spanned values (%s)", [(1,), (2,), (3,)])
        _, span = finished(spans)
        assert span.attributes is not None and span.attributes["db.operation.batch.size"] == 3
        with pytest.raises(rowferry.mysql.Error):
            cursor.execute("select nosuch")
        (span,) = finished(spans)
        assert span.status.status_code is StatusCode.ERROR
        assert span.attributes is not None and span.attributes["db.response.status_code"] == "1054"
    with rowferry.mysql.connect(**place(mariadb)) as connection:
        with connection.cursor(cursors.SSCursor) as cursor:
            cursor.execute("select 1")
            assert cursor.fetchall()
    assert [span.name for span in finished(spans)] == [f"SELECT {mariadb.database}"]


def test_statements_of_informix_and_of_asyncio(spans: InMemorySpanExporter, tmp_path: Path, mariadb: MariaDB) -> None:
    with Rowferry.start(tmp_path / "shop.db", informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        given = {
            "host": host,
            "port": port,
            "user": "informix",
            "password": "in4mix",
            "database": "shop",
            "server": "informix",
        }
        with rowferry.informix.connect(**given) as connection:
            cursor = connection.cursor()
            cursor.execute("create function one() returning int; return 1; end function")
            cursor.callproc("one")
            created, called = finished(spans)
            assert created.name == "CREATE shop" and called.name == "CALL shop"
            assert called.attributes is not None and called.attributes["db.system.name"] == "ibm.informix"
            assert called.attributes["db.stored_procedure.name"] == "one"

        async def both() -> None:
            async with rowferry.informix.aio.connect(**given) as connection:
                cursor = connection.cursor()
                await cursor.execute("select first 1 tabname from systables")
            async with rowferry.mysql.aio.connect(**place(mariadb)) as other, other.cursor() as cursor:
                await cursor.execute("select 1")

        asyncio.run(both())
    assert [span.name for span in finished(spans)] == ["SELECT shop", f"SELECT {mariadb.database}"]


def test_nothing_is_left_when_it_is_off(mariadb: MariaDB) -> None:
    before = cursors.Cursor.execute
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = RowferryInstrumentor()
    instrumentor.instrument(tracer_provider=provider, statements=False)
    with rowferry.mysql.connect(**place(mariadb)) as connection, connection.cursor() as cursor:
        cursor.execute("select 1")
    (span,) = finished(exporter)
    assert span.attributes is not None and "db.query.text" not in span.attributes
    instrumentor.uninstrument()
    assert cursors.Cursor.execute is before
    with rowferry.mysql.connect(**place(mariadb)) as connection, connection.cursor() as cursor:
        cursor.execute("select 1")
    assert not finished(exporter)
    assert "rowferry.opentelemetry" in sys.modules
