"""Files of the client that the server may read and write.

`filetoblob(name, 'client')` and `lotofile(column, name, 'client')` make the server ask for a file of ours. It gets
what was allowed under the name it asks for, and nothing else: names are never looked up in the file system.
"""

from __future__ import annotations

import io
import os
from typing import IO, Any

from ..exceptions import InterfaceError

__all__ = ["ClientFiles"]


class ClientFiles:
    """What a statement's server may read and write. Used by the Rust core, which calls `open` to `close`."""

    def __init__(self) -> None:
        #: Contents by name, for the server to read: bytes, or a binary file that can be read.
        self.sources: dict[str, bytes | bytearray | memoryview | IO[bytes]] = {}
        #: Binary files by name, for the server to write. It may add a suffix of its own to the name.
        self.sinks: dict[str, IO[bytes]] = {}
        #: What the server wrote without a sink, by the name that it chose.
        self.received: dict[str, bytes] = {}
        #: A statement and its parameters: what they name as a file may be written into `received`.
        self.mentioned: tuple[Any, Any] = ("", None)
        self._name = ""
        self._source: IO[bytes] | None = None
        self._sink: IO[bytes] | None = None
        self._collected: io.BytesIO | None = None
        self._left = 0

    def open(self, name: str) -> None:
        """The server opens a file; `InterfaceError` when it may not."""
        self._name = name
        self._source = self._sink = self._collected = None
        source = self.sources.get(name)
        if source is not None:
            self._source = io.BytesIO(source) if isinstance(source, (bytes, bytearray, memoryview)) else source
            return
        for allowed, sink in self.sinks.items():
            if _names(allowed, name):
                self._sink = sink
                return
        if self._is_mentioned(name):
            self._collected = io.BytesIO()
            return
        raise InterfaceError(
            f"the server asks for the file {name!r} of the client, which was not allowed: "
            "see `virtual_files` and `read_blob_column` of the cursor"
        )

    def _is_mentioned(self, name: str) -> bool:
        """True when the statement names this file, to which the server may have added a suffix."""
        statement, parameters = self.mentioned
        values = parameters.values() if isinstance(parameters, dict) else parameters or ()
        stem = name.rpartition(".")[0]
        return any(known and (f"'{known}'" in statement or known in values) for known in (name, stem))

    def size(self, limit: int | None) -> int:
        """How many bytes of the open file the server gets, if it wants no more than `limit`."""
        source = self._source
        if source is None:
            raise InterfaceError(
                f"the server reads the file {self._name!r} of the client, which was not allowed: put its contents into "
                "`virtual_files` of the cursor. The connection is closed: the protocol has no other way to refuse"
            )
        try:
            here = source.tell()
            left = source.seek(0, os.SEEK_END) - here
            source.seek(here)
        except (OSError, io.UnsupportedOperation):
            # The server wants to know the size first.
            contents = source.read()
            left, self._source = len(contents), io.BytesIO(contents)
        self._left = left if limit is None else min(left, limit)
        return self._left

    def read(self, size: int) -> bytes:
        """The next bytes of the open file."""
        source = self._source
        return b"" if source is None else source.read(size)

    def write(self, data: bytes) -> None:
        """The server writes to the open file."""
        if self._sink is not None:
            view = memoryview(data)
            while view:
                written: Any = self._sink.write(view)
                # Files of the standard library take everything, or say how much; others may say nothing.
                view = view[written:] if isinstance(written, int) and written < len(view) else view[:0]
        elif self._collected is not None:
            self._collected.write(data)
        else:
            raise InterfaceError(f"the server writes the file {self._name!r} of the client, which it may only read")

    def close(self) -> None:
        """The server closes the open file. What the caller opened stays open."""
        if self._collected is not None:
            self.received[self._name] = self._collected.getvalue()
        self._source = self._sink = self._collected = None


def _names(allowed: str, name: str) -> bool:
    """True for the allowed name itself, also with a suffix of the server's."""
    return name == allowed or (name.startswith(allowed) and name[len(allowed)] == ".")
