"""Spans of OpenTelemetry for the statements of both drivers, blocking and asyncio.

    from rowferry.opentelemetry import RowferryInstrumentor

    RowferryInstrumentor().instrument()

`opentelemetry-instrument python app.py` finds it by its entry point. Nothing is traced, and nothing is paid for, before
`instrument` is called. It needs `opentelemetry-instrumentation`: `pip install rowferry[opentelemetry]`.

A span is of kind CLIENT, is named by the statement's first word and the database (`SELECT shop`), and has the
attributes of the semantic conventions for database clients, version 1.28 and later: `db.system.name`, `db.namespace`,
`server.address`, `server.port`, `db.operation.name`, `db.query.text`, `db.operation.batch.size`; of a failure
`db.response.status_code` and `error.type`. Texts of statements are as they are given, without their parameters, which
never become part of a span.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib.metadata import version
from typing import Any

from opentelemetry import trace
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined]
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from .exceptions import Error

__all__ = ["RowferryInstrumentor"]

# What runs within a call that has a span already (`callproc` calls `execute`) gets none of its own.
_within: ContextVar[bool] = ContextVar("rowferry_within_a_span", default=False)

_METHODS = ("execute", "executemany", "callproc")


class RowferryInstrumentor(BaseInstrumentor):  # type: ignore[misc]
    """Turns the spans on and off; see the module.

    `instrument` takes `tracer_provider`, the global one by default, and `statements=False`, which leaves the texts of
    statements out where these may hold what is not to be seen.
    """

    def instrumentation_dependencies(self) -> Collection[str]:
        """Nothing else has to be installed."""
        return ()

    def _instrument(self, **options: Any) -> None:
        tracer = trace.get_tracer(__name__, version("rowferry"), options.get("tracer_provider"))
        texts = bool(options.get("statements", True))
        for kind in _cursor_classes():
            for name in _METHODS:
                if name in vars(kind):
                    method = vars(kind)[name]
                    traced = _traced_async if kind.__name__.startswith("Async") else _traced
                    setattr(kind, name, traced(method, name, tracer, texts))

    def _uninstrument(self, **_options: Any) -> None:
        for kind in _cursor_classes():
            for name in _METHODS:
                untraced = getattr(vars(kind).get(name), "_rowferry_untraced", None)
                if untraced is not None:
                    setattr(kind, name, untraced)


def _cursor_classes() -> Iterator[type]:
    """Every class of cursors that has methods of its own."""
    from .informix import cursors as informix
    from .informix.aio import cursors as informix_aio
    from .mysql import cursors as mysql
    from .mysql.aio import cursors as mysql_aio

    for module in (informix, informix_aio, mysql, mysql_aio):
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                yield kind


def _traced(method: Callable[..., Any], name: str, tracer: Tracer, texts: bool) -> Callable[..., Any]:
    @wraps(method)
    def traced(cursor: Any, statement: Any, *args: Any, **parameters: Any) -> Any:
        with _span(cursor, name, statement, args, tracer, texts):
            return method(cursor, statement, *args, **parameters)

    traced._rowferry_untraced = method  # type: ignore[attr-defined]
    return traced


def _traced_async(method: Callable[..., Any], name: str, tracer: Tracer, texts: bool) -> Callable[..., Any]:
    @wraps(method)
    async def traced(cursor: Any, statement: Any, *args: Any, **parameters: Any) -> Any:
        with _span(cursor, name, statement, args, tracer, texts):
            return await method(cursor, statement, *args, **parameters)

    traced._rowferry_untraced = method  # type: ignore[attr-defined]
    return traced


@contextmanager
def _span(cursor: Any, method: str, statement: Any, args: Any, tracer: Tracer, texts: bool) -> Iterator[Span | None]:
    if _within.get():
        yield None
        return
    text = statement.decode(errors="replace") if isinstance(statement, (bytes, bytearray)) else str(statement)
    operation = "CALL" if method == "callproc" else _operation(text)
    attributes: dict[str, Any] = _place(cursor)
    attributes["db.operation.name"] = operation
    if method == "callproc":
        attributes["db.stored_procedure.name"] = text
    elif texts:
        attributes["db.query.text"] = text
    if method == "executemany" and args and isinstance(args[0], Sized):
        attributes["db.operation.batch.size"] = len(args[0])
    name = f"{operation} {attributes.get('db.namespace', '')}".strip()
    token = _within.set(True)
    try:
        with tracer.start_as_current_span(
            name, kind=SpanKind.CLIENT, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                if isinstance(error, Error) and error.errno is not None:
                    span.set_attribute("db.response.status_code", str(error.errno))
                span.set_status(Status(StatusCode.ERROR, str(error)))
                raise
    finally:
        _within.reset(token)


def _operation(text: str) -> str:
    """The first word, behind blanks and comments."""
    rest = text.lstrip()
    while rest.startswith(("--", "/*")):
        _, _, rest = rest.partition("\n" if rest.startswith("--") else "*/")
        rest = rest.lstrip()
    words = rest.split(None, 1)
    return words[0].strip("(;").upper() if words else ""


def _place(cursor: Any) -> dict[str, Any]:
    """Where the statement goes; nothing of a cursor that is closed, which fails by itself."""
    system = "informix" if type(cursor).__module__.startswith("rowferry.informix") else "mysql"
    connection = getattr(cursor, "connection", None) if not _is_closed(cursor) else None
    attributes: dict[str, Any] = {"db.system.name": "ibm.informix" if system == "informix" else "mysql"}
    settings = getattr(connection, "settings", None)
    if settings is None:
        return attributes
    if system == "mysql" and "mariadb" in str(getattr(connection, "server_version", "")).lower():
        attributes["db.system.name"] = "mariadb"
    database = settings.database
    if isinstance(database, bytes):
        database = database.decode(errors="replace")
    if database:
        attributes["db.namespace"] = database
    attributes["server.address"] = getattr(settings, "unix_socket", None) or settings.host
    if not getattr(settings, "unix_socket", None):
        attributes["server.port"] = settings.port
    return attributes


def _is_closed(cursor: Any) -> bool:
    return getattr(cursor, "_connection", cursor) is None
