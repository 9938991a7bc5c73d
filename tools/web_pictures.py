#!/usr/bin/env python3
"""Make the pictures of the page of `--web` for the guide, docs/images/web-*.png: a real server, a real browser.

    python -m tools.web_pictures

The figures need some of the page's samples, and so half a minute. Pictures differ from machine to machine by their
fonts, which is why no check compares them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
from playwright.sync_api import Page, sync_playwright

from tests.servers.rowferry import Rowferry, find_rowferry

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
QUESTION = """SELECT status, count(*) AS orders, min(placed_at)::date AS first, max(placed_at)::date AS last
FROM orders
GROUP BY status
ORDER BY orders DESC"""


def log_in(page: Page, port: int) -> None:
    page.goto(f"http://127.0.0.1:{port}/")
    page.get_by_label("User").fill("ada")
    page.get_by_role("button", name="Log in").click()


def table(page: Page) -> None:
    page.get_by_role("link", name="orders").click()
    page.get_by_text("Rows 1 to 50").wait_for()


def query(page: Page) -> None:
    page.get_by_role("link", name="Query", exact=True).click()
    page.get_by_label("SQL").fill(QUESTION)
    page.keyboard.press("Control+Enter")
    page.get_by_text("4 rows").wait_for()


def figures(page: Page, server: Rowferry) -> None:
    page.get_by_role("link", name="Figures").click()
    page.locator("circle.dot").first.wait_for(timeout=30_000)
    # Something to see: sessions that come and go, and rows that are read.
    for sessions in (3, 6, 2, 5):
        connections = [psycopg.connect(server.postgres_dsn, autocommit=True) for _ in range(sessions)]
        for at in range(11 * sessions):
            connection = connections[at % sessions]
            connection.execute("SELECT count(*) FROM orders WHERE status = 'paid'").fetchall()
            connection.execute("UPDATE orders SET gift = NOT gift WHERE order_id = %s", (at,))
            page.wait_for_timeout(5_500 / 11 / sessions)
        for connection in connections:
            connection.close()


def main() -> int:
    """Write the three pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("web_pictures.py: there is no Chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "store.db"
        subprocess.run([find_rowferry(), "demo", "--create", store], check=True, stdout=subprocess.DEVNULL)
        with Rowferry.start(store, args=["--web", ":0"]) as server, sync_playwright() as playwright:
            assert server.web is not None
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for name, scheme in (("table", "light"), ("query", "light"), ("figures", "dark")):
                page = browser.new_page(viewport={"width": 1100, "height": 640}, color_scheme=scheme)
                log_in(page, server.web[1])
                if name == "figures":
                    figures(page, server)
                else:
                    {"table": table, "query": query}[name](page)
                page.screenshot(path=IMAGES / f"web-{name}.png")
                page.close()
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
