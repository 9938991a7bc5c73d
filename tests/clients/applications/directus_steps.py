"""Directus makes its schema; two collections with a relation are made, filled, searched, grouped, changed, dropped."""

import os
import subprocess
import sys
from urllib.parse import urlsplit

from rest import Site, free_port, started

url, scratch, place = sys.argv[1:]
server = urlsplit(url)
port = free_port()
site = Site(f"http://127.0.0.1:{port}")
environment = {
    "KEY": "key",
    "SECRET": "a secret that is long enough",
    "ADMIN_EMAIL": "ann@example.com",
    "ADMIN_PASSWORD": "secret",
    "TELEMETRY": "false",
    "RATE_LIMITER_ENABLED": "false",
    "STORAGE_LOCAL_ROOT": scratch,
    "DB_CLIENT": {"postgresql": "pg", "mysql": "mysql"}[server.scheme],
    "DB_HOST": str(server.hostname),
    "DB_PORT": str(server.port),
    "DB_USER": str(server.username),
    "DB_PASSWORD": "",
    "DB_DATABASE": server.path[1:],
    "HOST": "127.0.0.1",
    "PORT": str(port),
}


def ask(method, path, body=None, **query):
    answer = site.ask(method, path, body, **query)
    return answer.get("data", answer) if isinstance(answer, dict) else answer


def field(name, kind, special=(), **schema):
    return {"field": name, "type": kind, "schema": schema, "meta": {"special": list(special)}}


def titles(rows):
    return [row["title"] for row in rows]


def make():
    key = {"field": "id", "type": "integer", "schema": {"is_primary_key": True, "has_auto_increment": True}, "meta": {}}
    authors = [
        key,
        field("name", "string", is_nullable=False),
        field("born", "date"),
        field("rating", "decimal", numeric_precision=10, numeric_scale=2),
        field("active", "boolean", default_value=True),
    ]
    books = [
        {**field("id", "uuid", ["uuid"]), "schema": {"is_primary_key": True}},
        field("title", "string"),
        field("body", "text"),
        field("tags", "json", ["cast-json"]),
        field("published", "timestamp"),
        field("sort", "integer"),
        field("pages", "integer"),
        field("price", "float"),
        field("author", "integer"),
        field("at", "time"),
        field("made", "timestamp", ["date-created"]),
    ]
    ask("POST", "/collections", {"collection": "authors", "meta": {}, "schema": {}, "fields": authors})
    ask("POST", "/collections", {"collection": "books", "meta": {"sort_field": "sort"}, "schema": {}, "fields": books})
    relation = {"collection": "books", "field": "author", "related_collection": "authors"}
    ask("POST", "/relations", {**relation, "meta": {"one_field": "books"}, "schema": {"on_delete": "SET NULL"}})
    ask("POST", "/fields/authors", {"field": "books", "type": "alias", "meta": {"special": ["o2m"]}})
    for i in range(1, 6):
        of_one = [
            {
                "title": f"Book {i}.{j}",
                "body": "ä text 😀 " * j,
                "tags": ["a", f"t{j}"],
                "published": f"2024-0{j}-15T10:00:00Z",
                "sort": j,
                "pages": 100 * i + j,
                "price": i * 1.5 + j,
                "at": "10:11:12",
            }
            for j in range(1, 5)
        ]
        one = {"name": f"Author {i}", "born": f"{1950 + i}-02-0{i}", "rating": f"{i}.25", "books": of_one}
        ask("POST", "/items/authors", one)


def read():
    newest = {"books": {"_sort": "-pages", "_limit": 1}}
    best = ask(
        "GET", "/items/authors", fields="name,born,rating,books.title,books.tags", sort="-rating", limit=1, deep=newest
    )
    assert [(a["born"], float(a["rating"]), a["books"]) for a in best] == [
        ("1955-02-05", 5.25, [{"title": "Book 5.4", "tags": ["a", "t4"]}])
    ]
    either = {"_or": [{"title": {"_contains": ".2"}}, {"pages": {"_between": [401, 402]}}]}
    both = {"_and": [{"author": {"rating": {"_gt": 3}}}, either]}
    assert titles(ask("GET", "/items/books", filter=both, sort="title")) == [
        "Book 3.2",
        "Book 4.1",
        "Book 4.2",
        "Book 5.2",
    ]
    march = {"month(published)": {"_eq": 3}, "year(published)": {"_eq": 2024}}
    assert len(ask("GET", "/items/books", filter=march)) == 5
    assert len(ask("GET", "/items/authors", filter={"count(books)": {"_gt": 3}})) == 5
    assert titles(ask("GET", "/items/books", search="3.1")) == ["Book 3.1"]
    some = ask("GET", "/items/authors", filter={"books": {"_some": {"pages": {"_gte": 504}}}})
    none = ask("GET", "/items/authors", filter={"books": {"_none": {"pages": {"_gte": 304}}}}, sort="name")
    assert [row["name"] for row in some + none] == ["Author 5", "Author 1", "Author 2"]
    sums = {"aggregate[sum]": "pages", "aggregate[avg]": "price", "aggregate[countDistinct]": "author"}
    groups = ask("GET", "/items/books", **sums, **{"groupBy[]": "author", "sort": "author"})
    found = [
        (g["author"], int(g["sum"]["pages"]), g["avg"]["price"], int(g["countDistinct"]["author"])) for g in groups
    ]
    assert found == [(i, 400 * i + 10, 1.5 * i + 2.5, 1) for i in range(1, 6)]
    asked = '{ authors(sort: ["name"], limit: 1) { name books(filter: {pages: {_gt: 103}}) { title published } } }'
    assert ask("POST", "/graphql", {"query": asked}) == {
        "authors": [{"name": "Author 1", "books": [{"title": "Book 1.4", "published": "2024-04-15T10:00:00.000Z"}]}]
    }


def change():
    first = [row["id"] for row in ask("GET", "/items/books", fields="id", sort="title", limit=3)]
    changed = ask("PATCH", "/items/books", {"keys": first, "data": {"sort": 9}})
    assert [row["sort"] for row in changed] == [9, 9, 9]
    ask("POST", "/utils/sort/books", {"item": first[0], "to": first[2]})
    ask("DELETE", "/items/authors/5")
    assert len(ask("GET", "/items/books", filter={"author": {"_null": True}})) == 4
    ask("POST", "/fields/authors", field("country", "string", default_value="AT", max_length=20))
    country = ask(
        "PATCH", "/fields/authors/country", {"schema": {"is_nullable": False, "default_value": "DE", "max_length": 40}}
    )
    assert (country["schema"]["max_length"], country["schema"]["is_nullable"]) == (40, False)
    for wrong, code in (
        ({"id": 1, "name": "twice"}, "RECORD_NOT_UNIQUE"),
        ({"name": None}, "NOT_NULL_VIOLATION"),
        ({"name": "long", "country": "y" * 60}, "VALUE_TOO_LONG"),
    ):
        refused = site.ask("POST", "/items/authors", wrong, status=400)
        assert refused["errors"][0]["extensions"]["code"] in {code, "FAILED_VALIDATION"}, refused
    snapshot = ask("GET", "/schema/snapshot")
    assert {made["collection"] for made in snapshot["collections"]} == {"authors", "books"}
    actions = ask("GET", "/activity", **{"aggregate[count]": "*", "groupBy[]": "action"})
    ask("DELETE", "/fields/books/price")
    ask("DELETE", "/collections/books")
    assert "books" not in {made["collection"] for made in ask("GET", "/collections")}
    return {row["action"]: int(row["count"]) for row in actions}


if __name__ == "__main__":
    subprocess.run(["node", "cli.js", "bootstrap"], cwd=place, env={**os.environ, **environment}, check=True)
    with started(["node", "cli.js", "start"], place, environment, site, "/server/ping"):
        login = {"email": environment["ADMIN_EMAIL"], "password": environment["ADMIN_PASSWORD"]}
        site.headers["Authorization"] = "Bearer " + ask("POST", "/auth/login", login)["access_token"]
        make()
        read()
        actions = change()
    print(f"{actions['create']} items made, {actions['update']} changed, {actions['delete']} deleted")
