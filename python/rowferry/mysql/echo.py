# Made from python/rowferry/mysql/aio/echo.py by tools/async_to_sync.py: change that file instead.
"""Cursors that tell what they run: `echo` and `query_callback` of `connect`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cursors import Cursor

__all__ = ["logger", "observe"]

#: Where `echo` writes, with level INFO.
logger = logging.getLogger("rowferry.mysql")

#: Called with the cursor, the statement and the milliseconds that it took, once it has succeeded.
QueryCallback = Callable[[Any, Any, float], Any]


def observe(cursor: Cursor, echo: bool, callback: QueryCallback | None) -> Cursor:
    """Have `cursor` tell of each statement. Others have nothing to pay for that."""
    for name in ("execute", "executemany", "callproc"):
        setattr(cursor, name, _observed(cursor, getattr(cursor, name), echo, callback))
    return cursor


def _observed(
    cursor: Cursor, run: Callable[..., Any], echo: bool, callback: QueryCallback | None
) -> Callable[..., Any]:
    @wraps(run)
    def observed(query: Any, *args: Any, **parameters: Any) -> Any:
        if echo:
            logger.info("%s", query)
            for values in (*args, *parameters.values()):
                logger.info("%r", values)
        start = time.perf_counter()
        outcome = run(query, *args, **parameters)
        if callback is not None:
            callback(cursor, query, round((time.perf_counter() - start) * 1000, 2))
        return outcome

    return observed
