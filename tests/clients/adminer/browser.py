"""A browser for Adminer's pages: forms are filled in as they are, and sent."""

from __future__ import annotations

import http.cookiejar
import re
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

Fields = list[tuple[str, str]]


@dataclass
class Form:
    """A form: where it goes, and what its fields hold."""

    method: str
    action: str
    fields: Fields = field(default_factory=list)
    #: Names and values of the buttons that send it.
    buttons: Fields = field(default_factory=list)
    #: What selects have to choose from.
    choices: dict[str, list[str]] = field(default_factory=dict)


class Page(HTMLParser):
    """What a page shows: forms, rows of tables, what went wrong."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__()
        self.text, self.url = text, url
        self.forms: list[Form] = []
        #: Of all tables, row by row.
        self.rows: list[list[str]] = []
        self.errors: list[str] = []
        self.messages: list[str] = []
        self.title = ""
        self._cell: list[str] | None = None
        self._said: tuple[list[str], list[str]] | None = None
        self._depth = 0
        self._area: tuple[str, list[str]] | None = None
        self._select: tuple[str, str | None, str | None] | None = None
        self._option: tuple[bool, str | None, list[str]] | None = None
        self._in_title = False
        # What scripts hold is no text of the page's.
        self.feed(re.sub(r"<script.*?</script>", "", text, flags=re.S))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        kind = of.get("class") or ""
        if tag in ("p", "div", "pre", "table", "form"):
            self._end_said()
        if tag == "form":
            self.forms.append(Form((of.get("method") or "get").lower(), of.get("action") or ""))
        elif tag == "title":
            self._in_title = True
        elif tag == "tr":
            self._end_cell()
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self._end_cell()
            self._cell = []
        elif tag in ("p", "div") and kind in ("error", "message"):
            self._said = (self.errors if kind == "error" else self.messages, [])
        elif tag == "input" and self.forms:
            self._input(of)
        elif tag == "textarea":
            self._area = (of.get("name") or "", [])
        elif tag == "select":
            self._select = (of.get("name") or "", None, None)
        elif tag == "option" and self._select is not None:
            self._end_option()
            self._option = ("selected" in of, of.get("value"), [])

    def _input(self, of: dict[str, str | None]) -> None:
        form, name, kind = self.forms[-1], of.get("name") or "", of.get("type") or "text"
        value = of.get("value")
        if kind in ("submit", "image", "button"):
            form.buttons.append((name, value or ""))
        elif name and (kind not in ("checkbox", "radio") or "checked" in of) and kind != "file":
            form.fields.append((name, value if value is not None else ("on" if kind == "checkbox" else "")))

    def _end_option(self) -> None:
        if self._option is None or self._select is None:
            return
        selected, value, words = self._option
        name, first, chosen = self._select
        value = value if value is not None else "".join(words).strip()
        self._select = (name, value if first is None else first, value if selected else chosen)
        if self.forms:
            self.forms[-1].choices.setdefault(name, []).append(value)
        self._option = None

    def _end_cell(self) -> None:
        if self._cell is not None:
            self.rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def _end_said(self) -> None:
        if self._said is not None:
            where, words = self._said
            where.append(" ".join("".join(words).split()))
            self._said = None

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in ("td", "th", "tr", "table"):
            self._end_cell()
        elif tag in ("p", "div"):
            self._end_said()
        elif tag == "textarea" and self._area is not None:
            if self.forms:
                self.forms[-1].fields.append((self._area[0], "".join(self._area[1]).removeprefix("\n")))
            self._area = None
        elif tag == "option":
            self._end_option()
        elif tag == "select" and self._select is not None:
            self._end_option()
            name, first, chosen = self._select
            value = chosen if chosen is not None else first
            if self.forms and name and value is not None:
                self.forms[-1].fields.append((name, value))
            self._select = None

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        for words in (
            self._cell if self._select is None else None,
            self._said and self._said[1],
            self._area and self._area[1],
            self._option and self._option[2],
        ):
            if words is not None:
                words.append(data)

    def form(self, button: str | None = None, has: str | None = None) -> Form:
        """The form that is posted with a button of that value, or that has a field."""
        for form in self.forms:
            values = [value for _, value in form.buttons]
            names = [name for name, _ in form.fields]
            if form.method == "post" and (button is None or button in values) and (has is None or has in names):
                return form
        raise AssertionError(f"{self.url}: no form with {button or has}: {self.errors} {self.text[:2000]}")


class Browser:
    """Cookies, and the account's place in every address."""

    def __init__(self, base: str, dsn: dict[str, Any]) -> None:
        self.base = base
        self.place = {"server": f"{dsn['host']}:{dsn['port']}", "username": dsn["user"], "db": dsn["database"]}
        self.password = dsn["password"]
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)

    def _open(self, url: str, data: bytes | None = None) -> Page:
        with self.opener.open(url, data, timeout=60) as answer:
            return Page(answer.read().decode(), answer.url)

    def log_in(self) -> Page:
        """The database's page."""
        wanted = {"driver": "server", "server": self.place["server"], "username": self.place["username"]}
        wanted |= {"password": self.password, "db": self.place["db"]}
        fields = [(f"auth[{name}]", value) for name, value in wanted.items()]
        self._open(self.base)
        return self._open(self.base, urllib.parse.urlencode(fields).encode())

    def get(self, **query: str) -> Page:
        """A page of the database's."""
        return self._open(f"{self.base}?{urllib.parse.urlencode({**self.place, **query})}")

    def raw(self, fields: Fields, **query: str) -> str:
        """What a form's answer is, when it is no page."""
        url = f"{self.base}?{urllib.parse.urlencode({**self.place, **query})}"
        with self.opener.open(url, urllib.parse.urlencode(fields).encode(), timeout=60) as answer:
            return answer.read().decode()

    def send(
        self,
        page: Page,
        changes: dict[str, str | list[str]],
        button: str | None = None,
        *,
        has: str | None = None,
        more: Fields | None = None,
    ) -> Page:
        """Fill in a page's form and send it with a button."""
        form = page.form(button, has)
        fields = [(name, value) for name, value in form.fields if name not in changes]
        for name, value in changes.items():
            fields += [(name, value)] if isinstance(value, str) else [(name, one) for one in value]
        fields += [one for one in form.buttons if one[1] == button and one[0]]
        url = urllib.parse.urljoin(page.url, form.action) if form.action else page.url
        return self._open(url, urllib.parse.urlencode(fields + (more or [])).encode())
