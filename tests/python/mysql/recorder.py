"""A relay that remembers what the client has written."""

from __future__ import annotations

import socket

from .relay import Relay


class Recorder(Relay):
    """Passes bytes on; `written` has what each read found of the client's: one for each of its writes, if small."""

    def __init__(self, host: str, port: int) -> None:
        self.written: list[bytes] = []
        super().__init__(host, port)

    def _pass(self, source: socket.socket, sink: socket.socket, most: int | None) -> None:
        if source.getsockname()[1] == self.port:
            super()._pass(_Remembering(source, self.written), sink, most)  # type: ignore[arg-type]
        else:
            super()._pass(source, sink, most)

    def commands(self) -> list[list[int]]:
        """The codes of the commands of each write."""
        codes = []
        for chunk in self.written:
            at, found = 0, []
            while at < len(chunk):
                length = int.from_bytes(chunk[at : at + 3], "little")
                found.append(chunk[at + 4])
                at += 4 + length
            codes.append(found)
        return codes


class _Remembering:
    def __init__(self, source: socket.socket, seen: list[bytes]) -> None:
        self._source = source
        self._seen = seen

    def recv(self, most: int) -> bytes:
        data = self._source.recv(most)
        if data:
            self._seen.append(data)
        return data

    def shutdown(self, how: int) -> None:
        self._source.shutdown(how)
