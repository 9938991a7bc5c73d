"""Decimals by both ways that make them, on the Python that runs this; needs no server and no other package.

python -m pytest tests/python/test_decimals.py      with pytest
python tests/python/test_decimals.py                without: prints what it found, and fails when something differs
"""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal, localcontext

# The number in this many digits is the longest that a DECIMAL of MySQL has.
MOST_DIGITS = 65


def spellings() -> Iterator[str]:
    """Numbers as a server spells them: every count of digits, every place of the point, both signs, zeros."""
    for count in range(1, MOST_DIGITS + 1):
        for digits in ("9" * count, "1" + "0" * (count - 1), ("1234567890" * 7)[:count], "0" * count):
            for scale in {0, 1, 2, count // 2, count - 1, count}:
                if scale > 30 + (count > 60) * 5:
                    continue
                whole, fraction = digits[: count - scale], digits[count - scale :]
                spelled = f"{whole or '0'}.{fraction}" if fraction else whole
                yield spelled
                yield f"-{spelled}"
    yield from ("0", "-0", "0.0", "-0.00", "00012", "18446744073709551615", "18446744073709551616")


def check(made: Decimal, spelled: str) -> None:
    """The object is in every respect what `Decimal(spelled)` is."""
    ordinary = Decimal(spelled)
    assert type(made) is Decimal, spelled
    assert (made, str(made), repr(made), hash(made)) == (ordinary, str(ordinary), repr(ordinary), hash(ordinary))
    assert made.as_tuple() == ordinary.as_tuple(), spelled
    assert made.is_signed() == ordinary.is_signed(), spelled
    assert sys.getsizeof(made) == sys.getsizeof(ordinary), spelled
    # As the collector sees them: from Python 3.13 on they are its business.
    assert gc.is_tracked(made) == gc.is_tracked(ordinary), spelled
    assert pickle.loads(pickle.dumps(made)).as_tuple() == ordinary.as_tuple(), spelled
    assert copy.deepcopy(made).as_tuple() == ordinary.as_tuple(), spelled
    with localcontext() as context:
        context.prec = 150
        other = Decimal("-98765432109876543210.123456789")
        for results in (
            (made + other, ordinary + other),
            (made - ordinary, ordinary - ordinary),
            (made * made, ordinary * ordinary),
            (other * made, other * ordinary),
            (-made, -ordinary),
            (abs(made), abs(ordinary)),
            (made.normalize(), ordinary.normalize()),
            (made.scaleb(3), ordinary.scaleb(3)),
            (made.quantize(Decimal("0.01")), ordinary.quantize(Decimal("0.01"))),
            (made.compare(other), ordinary.compare(other)),
        ):
            assert results[0].as_tuple() == results[1].as_tuple(), spelled
    assert int(made) == int(ordinary), spelled
    assert float(made) == float(ordinary), spelled
    assert (made > other, made < 1, made == int(ordinary)) == (
        ordinary > other,
        ordinary < 1,
        ordinary == int(ordinary),
    )
    assert {made: 1}[ordinary] == 1, spelled


def check_all() -> int:
    """Check every spelling; answer how many there were."""
    from rowferry._core.mysql import decimal_from_text

    count = 0
    for spelled in spellings():
        check(decimal_from_text(spelled.encode()), spelled)
        count += 1
    # Made and dropped in numbers, so that a wrong reference count or size would show.
    for _ in range(20):
        batch = [decimal_from_text(b"%d.%02d" % (n, n % 100)) for n in range(5000)]
        assert sum(batch) == sum(Decimal(f"{n}.{n % 100:02}") for n in range(5000))
        del batch
        gc.collect()
    for wrong in (b"", b"-", b".", b"x", b"1.2.3", b"--1"):
        try:
            decimal_from_text(wrong)
        except ArithmeticError:
            continue
        raise AssertionError(f"{wrong!r} is no number")
    return count


def run(way: str) -> str:
    """Check all in another process, which makes decimals in this way."""
    environment = {**os.environ, "ROWFERRY_DECIMAL": way}
    done = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_decimals_filled_in_directly() -> None:
    output = run("direct")
    # On the interpreters that we know, the fast way must not have been given up unnoticed.
    known = sys.implementation.name == "cpython" and (3, 10) <= sys.version_info < (3, 15) and sys.maxsize > 2**32
    assert ("direct" in output) == known


def test_decimals_made_the_ordinary_way() -> None:
    assert "portable" in run("portable")


def test_another_way_is_refused() -> None:
    environment = {**os.environ, "ROWFERRY_DECIMAL": "fast"}
    done = subprocess.run(
        [sys.executable, "-c", "import rowferry.mysql"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "ROWFERRY_DECIMAL is `direct` or `portable`, not `fast`" in done.stderr


if __name__ == "__main__":
    import rowferry

    print(f"Python {sys.version.split()[0]}: {check_all()} decimals as they should be, {rowferry.decimal_path()}")
