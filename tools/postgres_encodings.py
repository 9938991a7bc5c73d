#!/usr/bin/env python3
"""Writes `crates/encodings/data`: what a PostgreSQL server makes of every code of every encoding that it converts.

    .venv/bin/python tools/postgres_encodings.py [--check]

Starts an installed PostgreSQL and asks it for each code what it decodes to, and for each character what it encodes to.
`digests.txt` has a checksum of all answers and errors of each encoding, over whole code pages, for a test to compare.
Of the characters, those of the planes 0 to 2 are asked for; no encoding but GB18030 has others, and there they follow
a rule.
"""

import argparse
import sys
import zlib
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.servers.postgres import PostgreSQL  # noqa: E402

DATA = ROOT / "crates/encodings/data"

SINGLE = (
    "LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7 LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R "
    "WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8 WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U"
).split()
MULTI = "EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004".split()
# Those that have characters beyond the basic plane.
BEYOND = "EUC_TW EUC_JIS_2004 SHIFT_JIS_2004 GB18030".split()
# The encodings that are converted into each other without UTF-8 between them.
BETWEEN = (
    "select pg_encoding_to_char(conforencoding), pg_encoding_to_char(contoencoding) from pg_conversion "
    "where pg_char_to_encoding('UTF8') not in (conforencoding, contoencoding) order by 1, 2"
)

FUNCTIONS = """
create function pg_temp.decoded(code bytea, encoding name) returns text language plpgsql as
    $$ begin return convert_from(code, encoding); exception when others then return null; end $$;
create function pg_temp.encoded(letter text, encoding name) returns bytea language plpgsql as
    $$ begin return convert_to(letter, encoding); exception when others then return null; end $$;
create function pg_temp.is_single(code bytea, encoding name) returns bool language plpgsql as
    $$ begin return length(code, encoding) = 1; exception when others then return false; end $$;
create function pg_temp.converted(code bytea, a name, b name) returns bytea language plpgsql as
    $$ begin return convert(code, a, b);
    exception when untranslatable_character then return null; when character_not_in_repertoire then return ''; end $$;
create function pg_temp.answer_from(code bytea, encoding name) returns text language plpgsql as
    $$ begin return convert_from(code, encoding);
    exception when others then return sqlstate || ' ' || sqlerrm; end $$;
create function pg_temp.answer_to(letter text, encoding name) returns text language plpgsql as
    $$ begin return encode(convert_to(letter, encoding), 'hex');
    exception when others then return sqlstate || ' ' || sqlerrm; end $$;
create function pg_temp.answer_between(code bytea, a name, b name) returns text language plpgsql as
    $$ begin return encode(convert(code, a, b), 'hex');
    exception when others then return sqlstate || ' ' || sqlerrm; end $$;
"""


def candidates(encoding: str) -> list[bytes]:
    """Byte sequences that may be one character."""
    codes = [bytes([byte]) for byte in range(0x80, 0x100)]
    if encoding in SINGLE:
        return codes
    codes += [bytes([lead, trail]) for lead in range(0x80, 0x100) for trail in range(0x30, 0x100)]
    row = range(0xA1, 0xFF)
    if encoding in ("EUC_JP", "EUC_JIS_2004"):
        codes += [bytes([0x8F, a, b]) for a in row for b in row]
    if encoding == "EUC_TW":
        codes += [bytes([0x8E, plane, a, b]) for plane in range(0xA1, 0xB1) for a in row for b in row]
    if encoding == "GB18030":
        digits = range(0x30, 0x3A)
        heads = [bytes([a, b]) for a in range(0x81, 0x85) for b in digits]
        codes += [head + bytes([c, d]) for head in heads for c in range(0x81, 0xFF) for d in digits]
    return codes


def decoded(cursor: psycopg.Cursor, encoding: str) -> dict[bytes, str]:
    """What each code is, if it is one character (or a pair that is one code)."""
    found: dict[bytes, str] = {}
    codes = candidates(encoding)
    for at in range(0, len(codes), 20_000):
        cursor.execute(
            "select code, pg_temp.decoded(code, %s) from unnest(%s::bytea[]) as code",
            [encoding, codes[at : at + 20_000]],
        )
        found.update((code, letter) for code, letter in cursor.fetchall() if letter is not None)
    singles = {code[0] for code in found if len(code) == 1}
    # A code of two bytes whose first is a character by itself is two characters.
    return {code: letter for code, letter in found.items() if len(code) == 1 or code[0] not in singles}


def encoded(cursor: psycopg.Cursor, encoding: str, letters: range) -> dict[str, bytes]:
    """The code of each character that has one."""
    cursor.execute(
        "select c, pg_temp.encoded(chr(c), %s) from generate_series(%s, %s) as c where c not between 55296 and 57343",
        [encoding, letters[0], letters[-1]],
    )
    return {chr(point): code for point, code in cursor.fetchall() if code is not None}


def number(code: bytes) -> int:
    return int.from_bytes(code, "big")


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> bytes:
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def section(pairs: list[tuple[int, int]]) -> bytes:
    """The number of the pairs, then each as what it is more than the one before: only the first ascends."""
    out = bytearray(varint(len(pairs)))
    first = second = 0
    for a, b in pairs:
        out += varint(a - first) + zigzag(b - second)
        first, second = a, b
    return bytes(out)


def table(cursor: psycopg.Cursor, encoding: str) -> bytes:
    decodes = decoded(cursor, encoding)
    basic = encoding in SINGLE or encoding == "GB18030"
    encodes = encoded(cursor, encoding, range(0x80, 0x10000 if basic else 0x30000))
    single = sorted((number(code), ord(letter)) for code, letter in decodes.items() if len(letter) == 1)
    pairs = sorted((number(code), letter) for code, letter in decodes.items() if len(letter) == 2)
    assert len(single) + len(pairs) == len(decodes)
    # The least code of a character is its code, where nothing else is said; 0 says that it has none.
    least: dict[int, int] = {}
    for code, point in reversed(single):
        least[point] = code
    points = set(least) | {ord(letter) for letter in encodes}
    others = []
    for point in sorted(points):
        code = number(encodes.get(chr(point), b""))
        if least.get(point, 0) != code:
            others.append((point, code))
    out = section(single) + section(others)
    for place in (0, 1):
        out += section([(code, ord(letter[place])) for code, letter in pairs])
    for code, letter in pairs:
        cursor.execute("select pg_temp.encoded(%s, %s)", [letter, encoding])
        row = cursor.fetchone()
        assert row is not None and number(row[0]) == code, (encoding, hex(code))
    return varint(len(out)) + out


def candidates_between(a: str, b: str, step: int = 1) -> list[bytes]:
    """Byte sequences that may be one character, of which a conversion without UTF-8 in between makes something; of the
    three and four bytes of Emacs' own encoding every `step`th row."""
    if a != "MULE_INTERNAL":
        # All that have the shape of a character: PostgreSQL converts whole ranges, what is in them or not.
        return [code for code in code_pages(a) if len(code) < 4 or code[1] <= 0xA7]
    upper = range(0x80, 0x100)
    codes = [bytes([lead, second]) for lead in range(0x81, 0x8E) for second in upper]
    if b not in SINGLE:
        codes += [bytes([lead, c, d]) for lead in range(0x90, 0x9A) for c in upper[::step] for d in upper]
        # The planes of Taiwan beyond the second.
        codes += [bytes([0x9D, plane, c, d]) for plane in range(0xF6, 0xFB) for c in upper[::step] for d in upper]
    return codes


def runs(pairs: list[tuple[int, int]]) -> str:
    """`code+count=first` for codes that follow each other as what they become does, `code+count*all` where all become
    the same; 0 where that is an error."""
    found: list[list[int]] = []
    for code, made in sorted(pairs):
        first, count, to, step = found[-1] if found else (0, 0, 0, 0)
        own_step = made - to if count == 1 else step
        if count and first + count == code and own_step in (0, 1) and to + own_step * count == made:
            found[-1][1:] = count + 1, to, own_step
        else:
            found.append([code, 1, made, 1])
    return " ".join(f"{code:x}+{count}{'=' if step else '*'}{to:x}" for code, count, to, step in found)


def direct(cursor: psycopg.Cursor, a: str, b: str) -> str:
    """What the codes of an encoding are in another that it is converted to without UTF-8 in between."""
    found: list[tuple[int, int]] = []
    codes = candidates_between(a, b)
    for at in range(0, len(codes), 20_000):
        cursor.execute(
            "select code, pg_temp.converted(code, %(a)s, %(b)s) from unnest(%(codes)s::bytea[]) as code "
            "where pg_temp.is_single(code, %(a)s)",
            {"a": a, "b": b, "codes": codes[at : at + 20_000]},
        )
        found += [(number(code), number(made)) for code, made in cursor.fetchall() if made is not None]
    return f"{a} {b} {runs(found)}\n"


def code_pages(encoding: str) -> list[bytes]:
    """Sequences of bytes from 128 on: all of one and of two, and of those of more that the encoding's shape allows."""
    upper = range(0x80, 0x100)
    codes = [bytes([a]) for a in upper]
    if encoding in SINGLE:
        return codes
    codes += [bytes([a, b]) for a in upper for b in range(0x100)]
    return codes + [code for code in candidates(encoding) if len(code) > 2]


def checksum(cursor: psycopg.Cursor, query: str, arguments: list[object], at: int, values: list[object]) -> int:
    """Of the answers to each of the values, which is the argument `at` of the query."""
    crc = 0
    for start in range(0, len(values), 20_000):
        arguments[at] = values[start : start + 20_000]
        cursor.execute(query, arguments)
        for (answer,) in cursor.fetchall():
            crc = zlib.crc32(answer.encode() + b"\n", crc)
    return crc


def digests(cursor: psycopg.Cursor) -> str:
    """For each conversion the checksum of what PostgreSQL answers to whole code pages."""
    lines = []
    rows = "from unnest(%s::{}[]) with ordinality as u(code, n) order by n"
    for encoding in SINGLE + MULTI:
        pages: list[object] = list(code_pages(encoding))
        query = f"select pg_temp.answer_from(code, %s) {rows.format('bytea')}"
        lines.append(f"{encoding} UTF8 {checksum(cursor, query, [encoding, None], 1, pages):08x}")
        planes = [range(0x80, 0x3000)]
        if encoding in MULTI:
            planes += [range(0x3000, 0xD800), range(0xE000, 0x10000)] + [range(0x20000, 0x30000)] * (encoding in BEYOND)
        points: list[object] = [chr(point) for plane in planes for point in plane]
        query = f"select pg_temp.answer_to(code, %s) {rows.format('text')}"
        lines.append(f"UTF8 {encoding} {checksum(cursor, query, [encoding, None], 1, points):08x}")
    cursor.execute(BETWEEN)
    for a, b in cursor.fetchall():
        pages = list(code_pages(a) if a != "MULE_INTERNAL" else candidates_between(a, b, 3))
        query = f"select pg_temp.answer_between(code, %s, %s) {rows.format('bytea')}"
        lines.append(f"{a} {b} {checksum(cursor, query, [a, b, None], 2, pages):08x}")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    check = parser.parse_args().check
    with PostgreSQL.start() as server, psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.prepare_threshold = None
        cursor = connection.cursor()
        cursor.execute(FUNCTIONS)
        whole = {"single": b"".join(table(cursor, encoding) for encoding in SINGLE)}
        whole |= {encoding.lower(): table(cursor, encoding) for encoding in MULTI}
        cursor.execute(BETWEEN)
        whole["direct"] = "".join(direct(cursor, a, b) for a, b in cursor.fetchall()).encode()
        recorded = digests(cursor)
    DATA.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, content in whole.items():
        path = DATA / f"{name}.z"
        if not path.exists() or zlib.decompress(path.read_bytes(), -15) != content:
            stale.append(path)
            if not check:
                compressor = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
                path.write_bytes(compressor.compress(content) + compressor.flush())
    path = DATA / "digests.txt"
    if not path.exists() or path.read_text() != recorded:
        stale.append(path)
        if not check:
            path.write_text(recorded)
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
