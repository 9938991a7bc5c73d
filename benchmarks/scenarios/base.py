"""What a scenario is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..peers.base import Beside, Peer, Row

#: The statements of scenarios that write.
INSERT = "INSERT INTO bench_written (id, name, amount, quantity, placed_at) VALUES ({0}, {1}, {2}, {3}, {4})"
READ_BACK = "SELECT id, name, amount, quantity, placed_at FROM bench_written ORDER BY id"
RESET = "DELETE FROM bench_written"


@dataclass(frozen=True)
class Contestant:
    """A peer talking to a target, for example psycopg 3 to PostgreSQL."""

    peer: str
    target: str

    @property
    def name(self) -> str:
        """The name in reports."""
        return self.peer if self.target == "sqlite" else f"{self.peer} → {self.target}"


@dataclass(frozen=True)
class Scenario:
    """One piece of work, the same for every contestant."""

    name: str
    title: str
    #: With `{0}`, `{1}` … where the parameters go; each driver has its own marks.
    sql: str
    #: Makes the parameter tuples of one round; one operation each.
    make_parameters: Callable[[], Sequence[Row]]
    contestants: Sequence[Contestant]
    #: The contestant whose time is 1.00 in the report.
    reference: Contestant
    #: Rows that one round must return: a benchmark of an empty table is fast. None: as many as the reference returns.
    rows: int | None
    #: The verb of `Peer` that does the work.
    work: str = "select"
    #: For verbs that do several things at once: how many.
    width: int = 1
    #: What other clients do meanwhile.
    beside: Beside | None = None
    #: What the figures are per: what one of `operations` is called.
    unit: str = "statement"
    #: How many of them a round is; by default, as many as there are parameter tuples.
    units: int | None = None
    #: Rounds of a scenario that takes long: no more than this, whatever is asked.
    most_rounds: int | None = None
    notes: Sequence[str] = field(default=())
    #: For scenarios that write: `sql` is run for all parameters, and this reads back what was written.
    read_back: str | None = None
    #: Brings the table back to where it was before a round that writes: a statement, or several.
    reset: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        # What many clients do beside each other may be either.
        if self.work != "work_beside" and (self.read_back is not None) != self.work.startswith("write"):
            raise ValueError(f"{self.name}: what is read back must have been written by a verb that writes")

    @cached_property
    def parameters(self) -> Sequence[Row]:
        """The parameter tuples of one round."""
        return self.make_parameters()

    @property
    def operations(self) -> int:
        """By how many a round's time is divided."""
        return self.units or len(self.parameters)

    def sql_for(self, peer: Peer) -> str:
        """The statement with the marks of `peer`."""
        return self.sql_with(peer.marks(len(self.parameters[0])))

    def sql_with(self, marks: Sequence[str]) -> str:
        """The statement with these marks."""
        return self.sql.format(*marks)


def scattered(count: int, of: int) -> list[Row]:
    """`count` keys from 1 to `of` in a fixed order without locality: a multiplicative walk, not a random one."""
    return [(number * 7_919 % of + 1,) for number in range(count)]
