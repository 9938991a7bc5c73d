"""Rows of the eight tables: the sizes, domains and distributions of TPC-H's specification, from a seed of our own.

The values are not those of its own program `dbgen`, so the answers are not those of the specification either: what is
compared is what two servers say of the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from random import Random
from typing import Any

Row = tuple[Any, ...]

_REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_NATIONS = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
    ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0),
    ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2),
    ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1),
)  # fmt: skip
_COLOURS = (
    "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished "
    "chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick "
    "floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender "
    "lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy "
    "olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle "
    "salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat "
    "white yellow"
).split()
_TYPES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
_CONTAINERS = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))
_SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")
_PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
_INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
_WORDS = (
    "foxes ideas theodolites pinto beans instructions dependencies excuses platelets asymptotes courts "
    "dolphins multipliers sauternes warthogs frets dinos attainments somas patterns forges braids hockey "
    "players frays warhorses dugouts notornis epitaphs pearls tithes waters orbits gifts sheaves depths "
    "sentiments decoys realms pains grouches escapades sleep wake are cajole haggle nag use boost affix "
    "detect integrate furiously slyly carefully blithely quickly fluffily final ironic even bold silent "
    "special pending unusual express regular deposits packages requests accounts theodolites Customer "
    "Complaints Recommends"
).split()

_FIRST_DAY = date(1992, 1, 1)
_LAST_ORDER = (date(1998, 8, 2) - _FIRST_DAY).days
_CURRENT = date(1995, 6, 17)
#: Days as texts: the dearest part of a row would be making them.
_DAYS = [(_FIRST_DAY + timedelta(days=number)).isoformat() for number in range(_LAST_ORDER + 200)]
_CURRENT_DAY = (_CURRENT - _FIRST_DAY).days


def _money(cents: int) -> str:
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02}"


def _text(random: Random, most: int) -> str:
    words = " ".join(random.choices(_WORDS, k=most // 8 + 2))
    return words[: random.randrange(most // 2, most + 1)].rstrip()


def _phone(random: Random, nation: int) -> str:
    return f"{nation + 10}-{random.randrange(100, 1000)}-{random.randrange(100, 1000)}-{random.randrange(1000, 10000)}"


def _retail_price(part: int) -> int:
    return 90_000 + (part // 10) % 20_001 + 100 * (part % 1_000)


def _supplier_of(part: int, which: int, suppliers: int) -> int:
    """The specification's spread of a part's four suppliers."""
    return (part + which * (suppliers // 4 + (part - 1) // suppliers)) % suppliers + 1


def _region(scale: float, random: Random) -> Iterator[Row]:
    for key, name in enumerate(_REGIONS):
        yield key, name, _text(random, 100)


def _nation(scale: float, random: Random) -> Iterator[Row]:
    for key, (name, region) in enumerate(_NATIONS):
        yield key, name, region, _text(random, 100)


def _part(scale: float, random: Random) -> Iterator[Row]:
    for key in range(1, _count(200_000, scale) + 1):
        maker = random.randrange(1, 6)
        yield (
            key,
            " ".join(random.sample(_COLOURS, 5)),
            f"Manufacturer#{maker}",
            f"Brand#{maker}{random.randrange(1, 6)}",
            " ".join(random.choice(words) for words in _TYPES),
            random.randrange(1, 51),
            " ".join(random.choice(words) for words in _CONTAINERS),
            _money(_retail_price(key)),
            _text(random, 22),
        )


def _supplier(scale: float, random: Random) -> Iterator[Row]:
    for key in range(1, _count(10_000, scale) + 1):
        nation = random.randrange(25)
        comment = _text(random, 80)
        # Five of ten thousand have complaints, as many have recommendations.
        if key % 500 == 7:
            comment = f"{comment} Customer of ours Complaints"
        yield (
            key,
            f"Supplier#{key:09}",
            _text(random, 30),
            nation,
            _phone(random, nation),
            _money(random.randrange(-99_999, 1_000_000)),
            comment,
        )


def _partsupp(scale: float, random: Random) -> Iterator[Row]:
    suppliers = _count(10_000, scale)
    for part in range(1, _count(200_000, scale) + 1):
        for which in range(4):
            yield (
                part,
                _supplier_of(part, which, suppliers),
                random.randrange(1, 10_000),
                _money(random.randrange(100, 100_001)),
                _text(random, 120),
            )


def _customer(scale: float, random: Random) -> Iterator[Row]:
    for key in range(1, _count(150_000, scale) + 1):
        nation = random.randrange(25)
        yield (
            key,
            f"Customer#{key:09}",
            _text(random, 30),
            nation,
            _phone(random, nation),
            _money(random.randrange(-99_999, 1_000_000)),
            random.choice(_SEGMENTS),
            _text(random, 90),
        )


class _Order:
    """An order and its lines: both tables are made of the same numbers."""

    def __init__(self, number: int, scale: float, random: Random) -> None:
        parts, suppliers = _count(200_000, scale), _count(10_000, scale)
        # Eight of 32 keys are used, as in the specification.
        self.key = (number // 8) * 32 + number % 8 + 1
        self.day = random.randrange(_LAST_ORDER + 1 - 151)
        self.lines: list[Row] = []
        self.total = 0
        open_lines = 0
        for line in range(1, random.randrange(1, 8) + 1):
            part = random.randrange(1, parts + 1)
            quantity = random.randrange(1, 51)
            price = quantity * _retail_price(part)
            discount, tax = random.randrange(11), random.randrange(9)
            shipped = self.day + random.randrange(1, 122)
            committed = self.day + random.randrange(30, 91)
            received = shipped + random.randrange(1, 31)
            is_open = shipped > _CURRENT_DAY
            open_lines += is_open
            self.total += price * (100 - discount) * (100 + tax) // 10_000
            self.lines.append(
                (
                    self.key,
                    part,
                    _supplier_of(part, random.randrange(4), suppliers),
                    line,
                    f"{quantity}.00",
                    _money(price),
                    f"0.{discount:02}",
                    f"0.{tax:02}",
                    random.choice("RA") if received <= _CURRENT_DAY else "N",
                    "O" if is_open else "F",
                    _DAYS[shipped],
                    _DAYS[committed],
                    _DAYS[received],
                    random.choice(_INSTRUCTIONS),
                    random.choice(_MODES),
                    _text(random, 40),
                )
            )
        self.status = "O" if open_lines == len(self.lines) else "P" if open_lines else "F"


def _orders_with_lines(scale: float) -> Iterator[_Order]:
    random = Random("orders and lines")
    for number in range(_count(1_500_000, scale)):
        yield _Order(number, scale, random)


def _orders(scale: float, random: Random) -> Iterator[Row]:
    customers, clerks = _count(150_000, scale), max(_count(1_000, scale), 1)
    for order in _orders_with_lines(scale):
        customer = random.randrange(1, customers + 1)
        # A third of the customers never orders anything.
        if customer % 3 == 0:
            customer -= 1
        yield (
            order.key,
            customer,
            order.status,
            _money(order.total),
            _DAYS[order.day],
            random.choice(_PRIORITIES),
            f"Clerk#{random.randrange(1, clerks + 1):09}",
            0,
            _text(random, 70),
        )


def _lineitem(scale: float, random: Random) -> Iterator[Row]:
    for order in _orders_with_lines(scale):
        yield from order.lines


def _count(at_one: int, scale: float) -> int:
    return max(int(at_one * scale), 1)


_MAKERS: dict[str, Callable[[float, Random], Iterator[Row]]] = {
    "region": _region,
    "nation": _nation,
    "part": _part,
    "supplier": _supplier,
    "partsupp": _partsupp,
    "customer": _customer,
    "orders": _orders,
    "lineitem": _lineitem,
}

#: The tables, those that others refer to first.
TABLES: tuple[str, ...] = tuple(_MAKERS)


def rows(table: str, scale: float) -> Iterator[Row]:
    """The rows of `table` at a scale factor: 1 is six million lines of orders. Numbers with a fraction are texts."""
    return _MAKERS[table](scale, Random(table))
