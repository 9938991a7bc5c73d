"""What a server can do, as it says at the beginning of a session."""

from __future__ import annotations

from .._base.records import record

__all__ = ["ServerCapabilities"]

#: Bits that every server has that speaks the protocol of 1995 or later, whatever its mask says.
PRESUMED = frozenset({0, 2, 3, 4, 49, 51})

#: The bits that have a name, counted from the most significant one of the first byte.
BITS = {
    "usver": 2,
    "varchar_var_len": 13,
    "describe_input": 34,
    "lvarchar_gt_2k": 37,
    "generated_keys": 48,
    "four_byte_offset": 50,
    "gls": 51,
    "named_parameters": 52,
    "bigint": 54,
    "savepoint": 56,
    "batch": 61,
    "remove_64k_limit": 62,
    "two_gb_fetch_buffer": 63,
    "large_tuple": 69,
    "long_rowid": 70,
}


@record(frozen=True)
class ServerCapabilities:
    """What the server can do (`raw_mask`), and what both sides can (`negotiated`), which is what the wire follows."""

    #: The server's mask.
    raw_mask: bytes
    #: The mask of what both sides can do.
    negotiated: bytes
    #: The server's version by its own, internal count.
    server_version: str = ""
    #: The level of the protocol; the only one there is since 1995.
    cap_1: int = 316

    @property
    def bits(self) -> frozenset[int]:
        """The numbers of the bits that the server has."""
        return PRESUMED | {
            8 * place + bit for place, byte in enumerate(self.raw_mask) for bit in range(8) if byte & (0x80 >> bit)
        }

    def has(self, bit: int) -> bool:
        """True when the server has this bit."""
        return bit in self.bits

    def is_negotiated(self, bit: int) -> bool:
        """True when both sides have this bit."""
        return bit // 8 < len(self.negotiated) and bool(self.negotiated[bit // 8] & (0x80 >> bit % 8))

    def __getattr__(self, name: str) -> bool:
        try:
            return self.has(BITS[name])
        except KeyError:
            raise AttributeError(f"no capability {name!r}; known are {', '.join(BITS)}") from None

    @property
    def long_id(self) -> bool:
        """True when identifiers may have 128 bytes."""
        return self.has(10) or self.has(18)

    @property
    def enhanced_protocol(self) -> bool:
        """True: a server that does not negotiate is refused at login."""
        return True

    def violated_assumptions(self) -> list[str]:
        """What the driver takes for granted and the server does not have: nothing, since it obeys the mask.

        There for programs that ask informix-driver.
        """
        return []

    def __repr__(self) -> str:
        names = " ".join(name for name, bit in BITS.items() if self.has(bit))
        return f"ServerCapabilities({self.raw_mask.hex()}: {names})"
