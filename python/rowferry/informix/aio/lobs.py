"""Smart large objects, read and written piece by piece."""

from __future__ import annotations

import io
import struct
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ... import exceptions as err
from .._values import BlobLocator, ClobLocator

if TYPE_CHECKING:
    from .connection import AsyncConnection

__all__ = ["AsyncLargeObject"]

#: The server's numbers for opening.
READ_ONLY, READ_WRITE = 4, 8

#: Bytes that one message moves at most.
PIECE = 1024 * 1024

#: Sizes of the server's structures.
_SPEC, _STAT, _LOCATOR = 596, 644, 72

#: Storage options that leave every choice to the server, byte by byte those of IBM's driver: estimated and largest
#: size, and the extent, are unknown.
_NO_OPTIONS = struct.pack(">4s2i", b"\xda\xda\xfe\xed", 0, 0) + struct.pack(">IIhh", 1, 0, -1, 0) * 2 + b"\xff" * 4
_NO_OPTIONS = (_NO_OPTIONS.ljust(572, b"\0") + b"\xff" * 8).ljust(_SPEC, b"\0")


class AsyncLargeObject:
    """An open BLOB or CLOB. Made by `AsyncConnection.open_lob` and `create_lob`.

    It reads and writes bytes at a position, as a file does, and never holds the whole object. The contents of a CLOB
    are text in the code set of the database. Close it: the server counts open objects.
    """

    def __init__(
        self, connection: AsyncConnection, locator: BlobLocator | ClobLocator, number: int, writable: bool
    ) -> None:
        #: The connection that the object is read over.
        self.connection = connection
        #: What to store in a column for the object.
        self.locator = locator
        self._number = number
        self._writable = writable
        self._at = 0
        #: Where the server stands; None when that is not known.
        self._server_at: int | None = 0
        self._closed = False

    @classmethod
    async def open(
        cls, connection: AsyncConnection, locator: BlobLocator | ClobLocator, mode: str = "rb"
    ) -> AsyncLargeObject:
        """Open an object by its locator."""
        flags = {"rb": READ_ONLY, "r+b": READ_WRITE}.get(mode)
        if flags is None:
            raise err.ProgrammingError(f"mode {mode!r} of a large object is neither 'rb' nor 'r+b'")
        kind = "clob" if isinstance(locator, ClobLocator) else "blob"
        signature = f"function informix.ifx_lo_open({kind} ,integer)"
        returned = await connection.fast_path_call(signature, locator, flags)
        return cls(connection, locator, _number(returned), flags == READ_WRITE)

    @classmethod
    async def create(cls, connection: AsyncConnection, column: str, *, clob: bool = False) -> AsyncLargeObject:
        """Make an empty object for `table.column`, and open it."""
        spec = _NO_OPTIONS
        returned = await connection.fast_path_call(
            "function informix.ifx_lo_col_sbinfo(lvarchar,ifx_lo_spec)", column, spec
        )
        if returned and isinstance(returned[0], bytes):
            spec = returned[0]
        returned = await connection.fast_path_call(
            "function informix.ifx_lo_create( ifx_lo_spec,integer,blob)", spec, READ_WRITE, bytes(_LOCATOR)
        )
        if len(returned) != 2 or not isinstance(returned[0], (BlobLocator, ClobLocator)):
            raise err.InternalError("the server made a large object, but did not answer its locator")
        locator = ClobLocator(returned[0].raw) if clob else BlobLocator(returned[0].raw)
        return cls(connection, locator, _number(returned), True)

    # -- reading and writing -----------------------------------------------------------------------------------------

    async def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes; fewer only at the end. Without a size, all that is left."""
        self._check()
        pieces = []
        left = -1 if size is None else size
        while left != 0:
            wanted = PIECE if left < 0 else min(left, PIECE)
            offset = None if self._server_at == self._at else self._at
            self._server_at = None
            answer = self.connection.wire.lo_read(self._number, wanted, offset)
            piece: bytes = await self.connection._answer(answer)
            self._at += len(piece)
            self._server_at = self._at
            pieces.append(piece)
            left -= len(piece) if left > 0 else 0
            if len(piece) < wanted:
                break
        return b"".join(pieces)

    async def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as there are bytes; how many there were."""
        view = memoryview(buffer).cast("B")
        piece = await self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)

    async def write(self, data: Any) -> int:
        """Write at the position, over what is there and beyond the end; how many bytes, which is all of them."""
        self._check()
        if not self._writable:
            raise io.UnsupportedOperation("the large object was opened to be read: open it with 'r+b'")
        view = memoryview(data).cast("B")
        if self._server_at != self._at:
            await self._move(self._at, 0)
        for start in range(0, len(view), PIECE):
            piece = bytes(view[start : start + PIECE])
            self._server_at = None
            result = await self.connection._answer(self.connection.wire.lo_write(self._number, piece))
            if result.count != len(piece):
                raise err.OperationalError(f"the server took {result.count} of {len(piece)} bytes of a large object")
            self._at += len(piece)
            self._server_at = self._at
        return len(view)

    async def seek(self, offset: int, whence: int = 0) -> int:
        """Move: from the beginning (0), the position (1) or the end (2). The new position."""
        self._check()
        if whence not in (0, 1, 2):
            raise ValueError(f"whence {whence} is none of 0, 1, 2")
        base = (0, self._at, await self.size() if whence == 2 else 0)[whence]
        if base + offset < 0:
            raise ValueError(f"a position before the beginning of a large object: {base + offset}")
        self._at = base + offset
        return self._at

    async def _move(self, offset: int, whence: int) -> int:
        self._server_at = None
        returned = await self.connection.fast_path_call(
            "function informix.ifx_lo_seek(integer,int8,integer,int8)", self._number, offset, whence, 0
        )
        self._server_at = int(returned[0])
        return self._server_at

    def tell(self) -> int:
        """The position."""
        return self._at

    async def size(self) -> int:
        """Bytes of the object."""
        self._check()
        returned = await self.connection.fast_path_call(
            "function informix.ifx_lo_stat(int, ifx_lo_stat)", self._number, bytes(_STAT)
        )
        if not returned or not isinstance(returned[0], bytes) or len(returned[0]) < 12:
            raise err.InternalError("the server did not answer the size of a large object")
        low, high = struct.unpack_from(">II", returned[0], 4)
        return int(high) << 32 | int(low)

    async def truncate(self, size: int | None = None) -> int:
        """Cut the object off at `size`, by default at the position. The new size."""
        self._check()
        if not self._writable:
            raise io.UnsupportedOperation("the large object was opened to be read: open it with 'r+b'")
        size = self._at if size is None else size
        await self.connection.fast_path_call("function informix.ifx_lo_truncate(integer,int8)", self._number, size)
        return size

    # -- life --------------------------------------------------------------------------------------------------------

    def readable(self) -> bool:
        """True: every large object can be read."""
        return True

    def writable(self) -> bool:
        """True when it was opened with `r+b`, or made."""
        return self._writable

    def seekable(self) -> bool:
        """True: every large object can be moved in."""
        return True

    @property
    def closed(self) -> bool:
        """True once it was closed."""
        return self._closed

    def _check(self) -> None:
        if self._closed:
            raise ValueError("the large object is closed")

    async def close(self) -> None:
        """Close it. Harmless when closed already, or when the connection is."""
        if self._closed:
            return
        self._closed = True
        if not self.connection.closed:
            await self.connection.fast_path_call("function informix.ifx_lo_close(integer)", self._number)

    async def __aenter__(self) -> AsyncLargeObject:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"at {self._at}"
        return f"<{type(self).__name__} {state}>"


def _number(returned: list[Any]) -> int:
    """The number of an open object: what the routine returned last."""
    if not returned or not isinstance(returned[-1], int) or returned[-1] < 0:
        raise err.InternalError("the server opened a large object, but did not answer its number")
    return returned[-1]
