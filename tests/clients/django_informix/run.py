"""Run Django's own suite with our backend for Informix, on the Informix door.

    .venv/bin/python -m tests.clients.django_informix.run [--write] [--part] [--why] [MODULES]

`features.py` of the backend says what Informix lacks, with its reasons, and Django skips what rests on it. `floor.json`
says how many tests of the same modules as on the PostgreSQL door must pass, and why others do not; `floor_part.json`
the same of what the repository's own tests run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clients.django import run

INFORMIX = run.Door("informix", "rowferry.django.informix", Path(__file__).parent, reference="informix")

if __name__ == "__main__":
    sys.exit(run.main(INFORMIX))
