"""django-pgtrigger and django-pghistory: rules and histories of models that triggers keep."""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
import tour
from django.conf import settings

url = urlsplit(sys.argv[1])
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": url.path[1:],
            "USER": url.username,
            "HOST": url.hostname,
            "PORT": url.port,
        }
    },
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "pgtrigger", "pghistory", "shop"],
    MIGRATION_MODULES={"shop": "shop_migrations"},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

import pghistory  # noqa: E402
import pgtrigger  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import Error, connection, transaction  # noqa: E402
from django.db.models import F, Q  # noqa: E402
from shop.models import Appended, Article, Counted, Kept, Soft, Stated, Tally  # noqa: E402


@contextlib.contextmanager
def refused() -> Any:
    """What is expected to fail, and how."""
    try:
        with transaction.atomic():
            yield
        tour.show("no error")
    except Error as error:
        cause: Any = error.__cause__
        tour.show(type(error).__name__, cause.sqlstate, str(error).splitlines())


def tables_and_triggers(_url: str) -> None:
    """Migrations of the packages, the tables, the triggers and what the catalogs say of them."""
    with tempfile.TemporaryDirectory() as directory:
        package = Path(directory) / "shop_migrations"
        package.mkdir()
        (package / "__init__.py").touch()
        sys.path.insert(0, directory)
        call_command("makemigrations", "shop", verbosity=0)
        importlib.invalidate_caches()
        call_command("migrate", verbosity=0)
        call_command("migrate", "shop", "zero", verbosity=0)
        call_command("migrate", verbosity=0)
        sys.path.remove(directory)
    with connection.cursor() as cursor:
        cursor.execute(
            "select tgname, tgenabled, tgdeferrable, pg_get_triggerdef(oid), obj_description(oid)"
            " from pg_trigger where not tgisinternal order by 1"
        )
        for row in cursor.fetchall():
            tour.show(*row)
    call_command("pgtrigger", "ls")


def protection(_url: str) -> None:
    """Rows that may not go, nor change; unless it is allowed for a while."""
    kept = Kept.objects.create(name="a")
    with refused():
        kept.delete()
    with pgtrigger.ignore("shop.Kept:keep"):
        kept.delete()
    tour.show(Kept.objects.count())
    Appended.objects.bulk_create([Appended(name=str(n)) for n in range(3)])
    with refused():
        Appended.objects.update(name="x")
    with refused():
        Appended.objects.filter(name="1").delete()
    with pgtrigger.ignore():
        Appended.objects.filter(name="1").update(name="one")
    tour.show(list(Appended.objects.order_by("id").values_list("name", flat=True)))
    with transaction.atomic(), pgtrigger.ignore("shop.Appended:append_only"):
        Appended.objects.filter(name="2").delete()
    with refused():
        Appended.objects.all().delete()


def soft_deletes(_url: str) -> None:
    """A deleted row is there, marked."""
    soft = Soft.objects.create(name="a")
    Soft.objects.create(name="b")
    soft.delete()
    tour.show(list(Soft.objects.order_by("id").values_list("name", "is_active")))
    tour.show(Soft.objects.all().delete())
    tour.show(list(Soft.objects.order_by("id").values_list("name", "is_active")))


def states(_url: str) -> None:
    """From state to state, with versions."""
    row = Stated.objects.create()
    row.status = "published"
    row.save()
    row.refresh_from_db()
    tour.show(row.status, row.version)
    with refused():
        Stated.objects.update(status="unpublished")
    with refused():
        Stated.objects.update(made_by="bob")
    with refused():
        Stated.objects.create(version=-1)
    Stated.objects.update(status="inactive")
    Stated.objects.update(status="inactive")
    row.refresh_from_db()
    tour.show(row.status, row.version)


def statements_and_deferral(_url: str) -> None:
    """Transition tables, and triggers that wait for COMMIT."""
    Counted.objects.bulk_create([Counted() for _ in range(3)])
    tour.show(list(Tally.objects.order_by("id").values_list("added", flat=True)))
    with transaction.atomic():
        Counted.objects.create()
        tour.show(Tally.objects.count())
        pgtrigger.constraints("immediate", "shop.Counted:later")
        tour.show(Tally.objects.count())
    with refused():
        Counted.objects.create()
        raise Error("rolled back") from _Sqlstate()
    tour.show(list(Tally.objects.order_by("id").values_list("added", flat=True)))


class _Sqlstate(Exception):
    sqlstate = "none"


def history(_url: str) -> None:
    """Events of rows, with what was known of who did it."""
    event = Article.pgh_event_model
    with pghistory.context(user="ann", reason={"why": ["a", 1]}):
        article = Article.objects.create(name="tea", price="1.50", tags={"a": [1, None]})
        article.price = 2
        article.save()
    Article.objects.bulk_create([Article(name=f"n{n}", price=n) for n in range(3)])
    Article.objects.filter(price__lt=2).update(price=F("price") * 2)
    with transaction.atomic():
        with pghistory.context(user="bob"):
            Article.objects.filter(name="n0").delete()
        Article.objects.filter(name="n1").update(tags={"x": 1})
    with refused():
        Article.objects.update(name="lost")
        raise Error("rolled back") from _Sqlstate()
    for row in event.objects.order_by("pgh_id").select_related("pgh_context"):
        tour.show(row.pgh_label, row.pgh_obj_id, row.name, row.price, row.tags,
                  row.pgh_context and row.pgh_context.metadata)  # fmt: skip
    contexts = pghistory.models.Context.objects
    tour.show(contexts.count(), contexts.filter(metadata__user="ann").count())
    tour.show(article.events.filter(Q(pgh_label="dearer")).count())


def what_happened(_url: str) -> None:
    """All events together, with differences between them."""
    events = pghistory.models.Events.objects
    found = events.tracks(Article.objects.get(name="tea")).order_by("pgh_slug")
    for row in found:
        tour.show(row.pgh_label, row.pgh_data, row.pgh_diff, row.pgh_model)
    tour.show(events.across("shop.ArticleEvent").filter(pgh_label="gone").count())


def reverting(_url: str) -> None:
    """A row as it once was."""
    article = Article.objects.get(name="tea")
    first = article.events.order_by("pgh_id").first()
    back = first.revert()
    tour.show(back.name, back.price)


def on_and_off(_url: str) -> None:
    """Triggers are disabled, enabled, uninstalled, and found to be out of date."""
    for command in ["disable", "enable", "uninstall", "install"]:
        call_command("pgtrigger", command, "shop.Kept:keep")
        with connection.cursor() as cursor:
            cursor.execute("select tgname, tgenabled from pg_trigger where tgname like 'pgtrigger_keep%%'")
            tour.show(command, cursor.fetchall())
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_proc where proname like 'pgtrigger%%'")
        tour.show(cursor.fetchall())
    with pgtrigger.schema("public"):
        tour.show(Kept.objects.count())


if __name__ == "__main__":
    tour.run(
        [
            tables_and_triggers,
            protection,
            soft_deletes,
            states,
            statements_and_deferral,
            history,
            what_happened,
            reverting,
            on_and_off,
        ]
    )
