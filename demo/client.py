"""`python -m demo.client NAME ADDRESS CUSTOMER`: run one client and print its answer as JSON."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys

from .clients import Answer, Unavailable


def main() -> int:
    """0 with an answer or a reason for skipping, 1 with a traceback."""
    _, name, address, customer = sys.argv
    try:
        client = importlib.import_module(f"demo.clients.{name}")
        answer: Answer = client.run(json.loads(address), int(customer))
    except Unavailable as missing:
        print(json.dumps({"skipped": str(missing)}))
        return 0
    # Decimals, dates and times as their text: `demo.__main__` compares them by value.
    print(json.dumps(dataclasses.asdict(answer), default=str))
    return 0


if __name__ == "__main__":
    sys.exit(main())
