"""`rowferry serve --web`: who is let in, what is refused, and what a browser shows."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import shutil
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.servers.availability import not_tested
from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry

OURS = {"Content-Type": "application/json", "X-Rowferry": "none"}


class Client:
    """Speaks to the page's server as a browser does, or as one would not."""

    def __init__(self, server: Rowferry, context: ssl.SSLContext | None = None) -> None:
        assert server.web is not None
        self.host, self.port = server.web
        self.context = context
        self.cookie: str | None = None
        self.key = "none"

    def send(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, Any, Any]:
        if self.context is None:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        else:
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=20, context=self.context)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            text = answer.read()
            is_json = answer.headers.get("Content-Type") == "application/json"
            return answer.status, answer.headers, json.loads(text) if is_json else text

    def ours(self) -> dict[str, str]:
        return {**OURS, "X-Rowferry": self.key}

    def call(self, path: str, **body: Any) -> tuple[int, Any]:
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        status, headers, said = self.send("POST", path, json.dumps(body).encode(), {**self.ours(), **cookie})
        if given := headers.get("Set-Cookie"):
            self.given = given
            self.cookie = given.split(";")[0]
        return status, said

    def log_in(self, user: str = "ada", password: str = "") -> None:
        status, said = self.call("/api/login", user=user, password=password)
        assert status == 200, said
        self.key = said["key"]

    def query(self, sql: str, *parameters: str | None, **more: Any) -> Any:
        status, said = self.call("/api/query", sql=sql, parameters=list(parameters), **more)
        assert status == 200, said
        return said


@pytest.fixture
def served(store_file: Path, tmp_path: Path) -> Iterator[Rowferry]:
    """The sample store with its page, on a machine where nobody is asked for a password."""
    with Rowferry.start(shutil.copy(store_file, tmp_path / "store.db"), args=["--web", ":0"]) as server:
        yield server


def test_nobody_is_shown_anything_before_logging_in(served: Rowferry) -> None:
    client = Client(served)
    status, headers, text = client.send("GET", "/")
    assert status == 200 and b"<title>" in text
    assert (
        "default-src 'none'" in headers["Content-Security-Policy"]
        and "unsafe" not in headers["Content-Security-Policy"]
    )
    assert (headers["X-Content-Type-Options"], headers["X-Frame-Options"]) == ("nosniff", "DENY")
    assert client.send("GET", "/", headers={"If-None-Match": headers["ETag"]})[0] == 304
    assert client.call("/api/query", sql="SELECT 1")[0] == 401
    assert client.call("/api/cancel")[0] == 401
    client.cookie = "rowferry=" + "0" * 64
    assert client.call("/api/query", sql="SELECT 1")[0] == 401


def test_questions_are_answered_as_texts(served: Rowferry) -> None:
    client = Client(served)
    client.log_in()
    assert "HttpOnly" in client.given and "SameSite=Strict" in client.given
    said = client.query("SELECT 9007199254740993::bigint, 1.10::numeric, $1::text, NULL", "it's")
    assert said["rows"] == [["9007199254740993", "1.10", "it's", None]] and not said["more"]
    said = client.query("SELECT * FROM generate_series(1, 5)", rows=3)
    assert said["rows"] == [["1"], ["2"], ["3"]] and said["more"]
    said = client.query("SELECT repeat('x', 100000)")
    assert said["rows"] == [[{"start": "x" * 1024, "length": 100_000}]]
    status, said = client.call("/api/query", sql="SELECT nosuch FROM orders")
    assert status == 422 and (said["error"]["sqlstate"], said["error"]["position"]) == ("42703", "8")
    assert client.query("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")["rows"] == [
        ["rowferry web"]
    ]
    assert client.call("/api/logout")[0] == 200
    assert client.call("/api/query", sql="SELECT 1")[0] == 401


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "COMMIT; DELETE FROM orders",
        "CREATE TABLE t (x int)",
        "SET TRANSACTION READ WRITE",
        "SELECT nextval('t')",
        "COPY orders FROM STDIN",
    ],
)
def test_nothing_is_changed_without_being_allowed(served: Rowferry, sql: str) -> None:
    client = Client(served)
    client.log_in()
    client.call("/api/query", sql="SET default_transaction_read_only = off")
    client.call("/api/query", sql="COMMIT")
    status, said = client.call("/api/query", sql=sql)
    assert status == 422 or said["tag"] in ("SET", "COMMIT"), said
    assert client.call("/api/query", sql=sql, changes=True)[0] == 403
    status, _ = client.call("/api/query", sql="DELETE FROM orders")
    assert status == 422
    assert client.query("SELECT count(*) FROM orders")["rows"] == [["5000"]]


def test_changes_that_are_allowed_are_the_users(store_file: Path, tmp_path: Path) -> None:
    file = shutil.copy(store_file, tmp_path / "store.db")
    with Rowferry.start(file, args=["--web", ":0", "--web-writes"]) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE reader LOGIN PASSWORD 'pencil'; GRANT SELECT ON orders TO reader")
        client = Client(server)
        assert client.call("/api/login", user="reader", password="crayon")[0] == 401
        assert client.call("/api/login", user="nobody")[0] == 401
        client.log_in("reader", "pencil")
        status, said = client.call("/api/query", sql="DELETE FROM orders", changes=True)
        assert status == 422 and said["error"]["sqlstate"] == "42501"
        other = Client(server)
        other.log_in("rowferry")
        assert other.query("DELETE FROM orders WHERE order_id = 1", changes=True)["tag"] == "DELETE 1"
        assert other.call("/api/query", sql="DELETE FROM orders WHERE order_id = 2")[0] == 422
        assert client.query("SELECT count(*) FROM orders")["rows"] == [["4999"]]


def test_what_another_site_sends_is_refused(served: Rowferry) -> None:
    client = Client(served)
    client.log_in()
    host = f"{client.host}:{client.port}"
    cookie = {"Cookie": client.cookie or ""}
    body = json.dumps({"sql": "SELECT 1"}).encode()

    def status(method: str = "POST", path: str = "/api/query", **headers: str) -> int:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.send(method, path, body, {**client.ours(), **cookie, **given})[0]

    assert status() == 200
    assert status(Origin=f"http://{host}", Sec_Fetch_Site="same-origin") == 200
    assert status(Origin="http://evil.example") == 403
    assert status(Origin="null") == 403
    # A proxy may have rewritten the name; the browser's word stands.
    assert status(Origin="https://db.example", Sec_Fetch_Site="same-origin") == 200
    assert status(Host="LOCALHOST:9") == 200
    assert status(Sec_Fetch_Site="cross-site") == 403
    assert client.send("POST", "/api/query", body, {"Content-Type": "application/json", **cookie})[0] == 403
    assert status(Content_Type="text/plain") == 415
    # A cookie goes to every port of a host; the key does not.
    assert status(X_Rowferry="none") == 401 and status(X_Rowferry="") == 401
    # A name that somebody has made lead here.
    assert status(Host=f"evil.example:{client.port}") == 421
    assert status("GET") == 405 and status("GET", "/api/nothing") == 404 and status("POST", "/") == 405
    assert client.send("POST", "/api/query", b"{", {**client.ours(), **cookie})[0] == 400
    assert client.send("POST", "/api/query", b"", {**client.ours(), **cookie, "Content-Length": "99999999"})[0] == 413


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", b"400"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", b"431"),
        # All of it is sent before anybody looks for an answer.
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 9_000_000, b"413"),
        (b"\x16\x03\x01\x02\x00\x01\x00", b"400"),
    ],
)
def test_requests_that_make_no_sense_end_their_connection(served: Rowferry, sent: bytes, status: bytes) -> None:
    assert served.web is not None
    with socket.create_connection(served.web, timeout=20) as connection:
        connection.sendall(sent)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    assert answer.split(b" ")[1] == status
    assert Client(served).send("GET", "/")[0] == 200


def test_a_statement_is_cancelled_and_one_waits_for_another(served: Rowferry) -> None:
    client = Client(served)
    client.log_in()
    answers: list[tuple[int, Any]] = []
    running = threading.Thread(
        target=lambda: answers.append(client.call("/api/query", sql="SELECT pg_sleep(60)", on="work"))
    )
    running.start()
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
        sql = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
        until = time.monotonic() + 20
        while connection.execute(sql).fetchone() == (0,):
            assert time.monotonic() < until
            time.sleep(0.02)
    # The page's own questions go on beside it; another of the user's does not.
    assert client.query("SELECT 1", on="look")["rows"] == [["1"]]
    assert client.call("/api/query", sql="SELECT 1", on="work")[0] == 409
    assert client.call("/api/cancel")[0] == 200
    running.join(20)
    ((status, said),) = answers
    assert status == 422 and said["error"]["sqlstate"] == "57014"
    assert client.query("SELECT 1", on="work")["rows"] == [["1"]]


def test_a_name_of_a_proxy_is_known_when_it_is_told(store_file: Path, tmp_path: Path) -> None:
    file = shutil.copy(store_file, tmp_path / "store.db")
    with Rowferry.start(file, args=["--web", ":0", "--web-name", "db.example"]) as server:
        client = Client(server)
        assert client.send("GET", "/", headers={"Host": "db.example"})[0] == 200
        assert client.send("GET", "/", headers={"Host": "other.example"})[0] == 421


def test_logging_in_again_ends_what_was_there_and_one_user_leaves_room(served: Rowferry) -> None:
    client = Client(served)
    others = [Client(served) for _ in range(8)]
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:

        def sessions(expected: int) -> None:
            sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rowferry web'"
            until = time.monotonic() + 20
            while connection.execute(sql).fetchone() != (expected,):
                assert time.monotonic() < until, connection.execute(sql).fetchone()
                time.sleep(0.05)

        for _ in range(3):
            client.log_in()
        sessions(2)
        for other in others:
            other.log_in()
        sessions(16)
    assert client.call("/api/query", sql="SELECT 1")[0] == 401
    assert others[-1].query("SELECT 1")["rows"] == [["1"]]


def test_the_pages_own_question_is_cancelled_and_settings_do_not_stay(store_file: Path, tmp_path: Path) -> None:
    file = shutil.copy(store_file, tmp_path / "store.db")
    with Rowferry.start(file, args=["--web", ":0", "--web-writes"]) as server:
        client = Client(server)
        client.log_in()
        client.query("SET statement_timeout = 0", changes=True)
        assert client.query("SHOW statement_timeout")["rows"] == [["30s"]]
        answers: list[tuple[int, Any]] = []
        ask = {"sql": "SELECT pg_sleep(60)", "on": "look"}
        running = threading.Thread(target=lambda: answers.append(client.call("/api/query", **ask)))
        running.start()
        until = time.monotonic() + 20
        while running.is_alive():
            assert time.monotonic() < until
            client.call("/api/cancel", on="look")
            time.sleep(0.1)
        assert answers[0][1]["error"]["sqlstate"] == "57014"


def test_a_session_that_is_ended_is_logged_out(served: Rowferry) -> None:
    client = Client(served)
    client.log_in()
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rowferry web'"
        )
    assert client.call("/api/query", sql="SELECT 1")[0] == 401
    client.log_in()
    assert client.query("SELECT 1")["rows"] == [["1"]]


def test_with_a_certificate_the_page_is_in_tls_alone(store_file: Path, tmp_path: Path, browser: Browser) -> None:
    pem = make_certificates(tmp_path)
    users = tmp_path / "users"
    users.write_text("ada:secret\n")
    users.chmod(0o600)
    file = shutil.copy(store_file, tmp_path / "store.db")
    args = [
        "--web",
        ":0",
        "--tls-cert",
        pem["cert"],
        "--tls-key",
        pem["key"],
        "--tls-required",
        "--password-file",
        str(users),
    ]
    with Rowferry.start(file, args=args) as server:
        context = ssl.create_default_context(cafile=pem["ca"])
        context.check_hostname = False
        client = Client(server, context)
        assert client.call("/api/login", user="ada", password="wrong")[0] == 401
        client.log_in("ada", "secret")
        assert "; Secure" in client.given
        assert client.query("SELECT current_user")["rows"] == [["ada"]]
        with pytest.raises((http.client.HTTPException, OSError)):
            Client(server).send("GET", "/")
        context.set_alpn_protocols(["h2", "http/1.1"])
        assert Client(server, context).send("GET", "/")[0] == 200
        page = browser.new_page(ignore_https_errors=True)
        assert server.web is not None
        page.goto(f"https://127.0.0.1:{server.web[1]}/")
        page.get_by_label("User").fill("ada")
        page.get_by_label("Password").fill("secret")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("link", name="orders")).to_be_visible()
        page.close()


def test_who_is_trusted_is_what_the_rules_say_of_where_the_browser_is(store_file: Path, tmp_path: Path) -> None:
    users, rules = tmp_path / "users", tmp_path / "rules"
    users.write_text("ada:secret\neve:secret\n")
    users.chmod(0o600)
    rules.write_text("host all eve 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256\nlocal all all trust\n")
    file = shutil.copy(store_file, tmp_path / "store.db")
    with Rowferry.start(file, args=["--web", ":0", "--hba", str(rules), "--password-file", str(users)]) as server:
        client = Client(server)
        assert client.call("/api/login", user="ada")[0] == 401
        assert client.call("/api/login", user="eve", password="secret")[0] == 401
        client.log_in("ada", "secret")
        assert client.query("SELECT host(inet_client_addr())")["rows"] == [["127.0.0.1"]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        not_tested("a browser", "Chromium is not installed (Debian package chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, served: Rowferry) -> Iterator[Page]:
    """The page, logged in; nothing in it may have failed in the end."""
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE odd (id int PRIMARY KEY, text text, data jsonb)")
        connection.execute(
            "INSERT INTO odd VALUES"
            " (1, '<img src=x onerror=\"document.title=1\"><script>document.title=2</script>', '{\"a\": [1]}'),"
            " (2, '', NULL), (3, repeat('long ', 100), NULL)"
        )
    errors: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    assert served.web is not None
    page.goto(f"http://127.0.0.1:{served.web[1]}/")
    page.get_by_label("User").fill("ada")
    page.get_by_role("button", name="Log in").click()
    yield page
    page.close()
    assert not errors


def test_tables_and_their_rows_are_shown_as_texts(page: Page) -> None:
    page.get_by_label("Search tables").fill("OD")
    expect(page.get_by_role("link", name="orders")).to_be_hidden()
    page.get_by_role("link", name="odd").click()
    expect(page.get_by_text("Rows 1 to 3")).to_be_visible()
    expect(page.get_by_text("<script>document.title=2</script>")).to_be_visible()
    assert page.locator("main img").count() == 0 and page.title() == "store: odd"
    expect(page.get_by_text("(empty)")).to_be_visible()
    assert page.locator(".null").count() == 2
    page.get_by_role("button", name="all").click()
    expect(page.get_by_text("long " * 99)).to_be_visible()
    page.get_by_label("Column to search").select_option("text")
    page.get_by_label("Text to search").fill("LONG")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("Rows 1 to 1")).to_be_visible()


def test_rows_are_sorted_and_turned_and_keys_lead_on(page: Page) -> None:
    page.get_by_role("link", name="orders").click()
    expect(page.get_by_text("Rows 1 to 50")).to_be_visible()
    page.get_by_role("button", name="order_id").click()
    page.get_by_role("button", name="order_id").click()
    expect(page.get_by_role("cell", name="5000", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Rows 51 to 100")).to_be_visible()
    page.get_by_role("link", name="customers").click()
    expect(page.get_by_role("heading", name="customers")).to_be_visible()


def test_questions_are_asked_and_mistakes_are_pointed_at(page: Page) -> None:
    page.get_by_role("link", name="Query", exact=True).click()
    page.get_by_label("SQL").fill("SELECT status, count(*) FROM orders GROUP BY status ORDER BY 1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#words")).to_have_text("4 rows")
    expect(page.get_by_role("columnheader", name="count")).to_have_text("countbigint")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert Path(download.value.path()).read_text().splitlines()[0] == "status,count"
    page.get_by_label("SQL").fill("SELECT 1,\n  nosuch")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("42703")
    expect(page.get_by_role("alert")).to_contain_text("  nosuch\n  ^")
    page.get_by_label("SQL").fill("DELETE FROM orders")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("read-only")
    page.get_by_label("SQL").fill("SELECT * FROM orders WHERE order_id = 1")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("Index Scan")).to_be_visible()
    page.get_by_label("SQL").fill("SELECT pg_sleep(60)")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("57014")


def test_sessions_statements_and_figures_are_shown(page: Page, served: Rowferry) -> None:
    with psycopg.connect(served.postgres_dsn, autocommit=True, application_name="other") as connection:
        page.get_by_role("link", name="Activity").click()
        expect(page.get_by_text("this page")).to_be_visible()
        row = page.get_by_role("row").filter(has_text="other")
        row.get_by_role("button", name="End").click()
        expect(row).to_be_hidden(timeout=15_000)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    page.get_by_role("link", name="Statements").click()
    expect(page.get_by_text("CREATE EXTENSION pg_stat_statements")).to_be_visible()
    page.get_by_role("link", name="Figures").click()
    expect(page.get_by_role("img", name="Sessions")).to_be_visible()
    expect(page.locator("circle.dot").first).to_be_visible(timeout=20_000)
    chart = page.get_by_role("img", name="Sessions")
    chart.focus()
    chart.press("ArrowLeft")
    expect(chart).to_have_attribute("aria-label", re.compile(r"Sessions, .*:.*: \d"))
    chart.press("Home")
    expect(chart.locator("line.at")).to_have_attribute("visibility", "visible")
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
        for _ in range(60):
            connection.execute("SELECT count(*) FROM orders WHERE note = 'x'")
    # Charts stand still while somebody looks at a moment of theirs.
    page.get_by_role("heading", name="Figures").click()
    # A large number is a short one at its axis, and whole in words.
    expect(page.locator("text.tick").filter(has_text=re.compile(r"^[0-9.]+K$")).first).to_be_visible(timeout=20_000)
    outside = "ticks => ticks.filter(tick => tick.getBBox().x < 0).length"
    assert page.locator("text.tick").evaluate_all(outside) == 0
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
