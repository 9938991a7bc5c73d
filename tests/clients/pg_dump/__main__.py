"""Print how dumps of ours and of PostgreSQL's differ: `python -m tests.clients.pg_dump [SCHEMA …]`."""

from __future__ import annotations

import sys

from tests.clients import recorded
from tests.clients.pg_dump.dumps import HERE, SCHEMAS, difference, dump, load, script, servers


def main() -> int:
    """Compare every schema, made in both and moved from PostgreSQL to ours."""
    known = recorded.reasons(HERE / "differences.txt")
    found: recorded.Differing = {}
    names = tuple(sys.argv[1:]) or SCHEMAS
    with servers() as (reference, ours):
        for name in names:
            theirs, own, moved = reference.database(), ours.database(), ours.database()
            load(theirs, script(name))
            load(own, script(name))
            found |= difference(name, dump(theirs), dump(own))
            load(moved, dump(theirs))
            found |= difference(f"{name} from PostgreSQL", dump(theirs), dump(moved))
    return recorded.report(found, known, len(names))


if __name__ == "__main__":
    sys.exit(main())
