"""What users write before anything is connected, damaged: settings or an `Error` of ours, never another exception."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rowferry import exceptions
from rowferry.informix._places import hosts_of, redirection, sqlhosts_places
from rowferry.informix._settings import codec_of_locale, settings_for

from tests.python.informix.test_places import SQLHOSTS

URLS = [
    "informix://user:pass%3Aword@host:9088/db?server=ifx&autocommit=true&connect_timeout=5",
    "informix://u@h1:1,h2:2,[::1]:3/database?load_balance_hosts=yes&tls=verify_identity&fetch_bytes=100",
    "informix://[fe80::1%25eth0]/?client_locale=en_US.utf8&read_timeout=0.5&statement_cache_size=0",
]
HOSTS = ["h1:1,h2,[::1]:9088", "db.example.org", "127.0.0.1:19088, localhost"]
LOCALES = ["en_US.8859-1", "de_DE.utf8", "ja_JP.sjis-s@x", "en_US.57372", "C"]
PLACES = ["informix=127.0.0.1|19088", "a=[::1]|9088", "x|name|host|1|"]
PIECES = [
    "",
    ":",
    "@",
    "/",
    "//",
    "?",
    "&",
    "=",
    ",",
    "[",
    "]",
    "%",
    "%zz",
    "%00",
    "%ff",
    "#",
    "|",
    "\0",
    "\t",
    " ",
    "é",
    "٣",
]
PIECES += [
    "0",
    "-1",
    "65536",
    "99999999999999999999",
    "1e9",
    "nan",
    "inf",
    "true",
    "None",
    "onsocssl",
    "group",
    "e=",
    "g=prod",
]


def damaged(seeded: random.Random, text: str) -> str:
    parts = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(seeded.randrange(1, 5)):
        at = seeded.randrange(len(parts) + 1)
        match seeded.randrange(4):
            case 0:
                del parts[at : at + 1]
            case 1:
                parts.insert(at, seeded.choice(PIECES))
            case 2:
                parts[at : at + 1] = [seeded.choice(PIECES)]
            case 3:
                parts[at:at] = parts[at : at + 3] * seeded.choice((1, 2, 30))
    return "".join(parts)


@pytest.mark.parametrize(
    ("parse", "texts"),
    [(settings_for, URLS), (hosts_of, HOSTS), (codec_of_locale, LOCALES), (redirection, PLACES)],
    ids=["url", "hosts", "locale", "redirection"],
)
def test_damaged_texts_are_settings_or_errors_of_ours(parse: Callable[[str], Any], texts: list[str]) -> None:
    seeded = random.Random(2026)
    good = bad = 0
    for _ in range(3000):
        text = damaged(seeded, seeded.choice(texts))
        try:
            parse(text)
            good += 1
        except exceptions.Error:
            bad += 1
        except Exception as error:
            pytest.fail(f"{text!r}: {error!r}")
    assert good > 20 and bad > 20, (good, bad)


def test_damaged_sqlhosts_files_are_places_or_errors_of_ours(tmp_path: Path) -> None:
    seeded = random.Random(2026)
    file = tmp_path / "sqlhosts"
    for number in range(400):
        file.write_text(damaged(seeded, SQLHOSTS.replace("short       onsoctcp\n", "")))
        for server in ("prod", "old", "single", "secure", "named"):
            try:
                sqlhosts_places(file, server)
            except exceptions.Error:
                pass
            except Exception as error:
                pytest.fail(f"{number}, {server}: {error!r}\n{file.read_text()}")
    file.write_bytes(seeded.randbytes(10_000))
    with pytest.raises(exceptions.Error):
        sqlhosts_places(file, "prod")


def test_a_password_is_never_repeated() -> None:
    for url in (
        "mysql://u:secret@h/db",
        "informix://u:secret@[h/db",
        "informix://u:secret\u20ac@h/db",
        "informix://u:secret@h:x/",
    ):
        with pytest.raises(exceptions.InterfaceError) as caught:
            settings_for(url)
        assert "secret" not in str(caught.value)
    assert "secret" not in repr(settings_for("informix://u:secret@h/db"))
