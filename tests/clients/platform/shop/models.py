"""Models whose rules and histories triggers keep."""
# ruff: noqa: RUF012 (Django reads them so)

from __future__ import annotations

import pghistory
import pgtrigger
from django.db import models


class Kept(models.Model):
    """Rows that nobody deletes."""

    name = models.CharField(max_length=50)

    class Meta:
        triggers = [pgtrigger.Protect(name="keep", operation=pgtrigger.Delete)]


class Appended(models.Model):
    """Rows that are only added."""

    name = models.CharField(max_length=50)

    class Meta:
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]


class Soft(models.Model):
    """Rows that are marked when they are deleted."""

    name = models.CharField(max_length=50)
    is_active = models.BooleanField(default=True)

    class Meta:
        triggers = [pgtrigger.SoftDelete(name="soft", field="is_active")]


class Stated(models.Model):
    """A machine of states, a version that counts by itself, and a column that nobody changes."""

    status = models.CharField(max_length=20, default="unpublished")
    version = models.IntegerField(default=0)
    made_by = models.CharField(max_length=20, default="ann")

    class Meta:
        triggers = [
            pgtrigger.FSM(
                name="states",
                field="status",
                transitions=[("unpublished", "published"), ("published", "inactive")],
            ),
            pgtrigger.Trigger(
                name="versions",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                func="NEW.version = NEW.version + 1; RETURN NEW;",
                condition=pgtrigger.AnyChange(exclude=["version"]),
            ),
            pgtrigger.ReadOnly(name="by_whom", fields=["made_by"]),
            pgtrigger.Trigger(
                name="not_zero",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func=pgtrigger.Func("RAISE EXCEPTION 'negative {meta.db_table}.{columns.version}';"),
                condition=pgtrigger.Q(new__version__lt=0),
            ),
        ]


class Counted(models.Model):
    """Counts what a statement has added."""

    class Meta:
        triggers = [
            pgtrigger.Trigger(
                name="count_them",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                referencing=pgtrigger.Referencing(new="added"),
                func="INSERT INTO shop_tally (added) SELECT count(*) FROM added; RETURN NULL;",
            ),
            pgtrigger.Trigger(
                name="later",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                timing=pgtrigger.Deferred,
                func="INSERT INTO shop_tally (added) VALUES (-NEW.id); RETURN NULL;",
            ),
        ]


class Tally(models.Model):
    """What `Counted` has counted."""

    added = models.IntegerField()


@pghistory.track(
    pghistory.InsertEvent("made"),
    pghistory.UpdateEvent("changed"),
    pghistory.DeleteEvent("gone"),
    pghistory.UpdateEvent("dearer", condition=pgtrigger.Q(old__price__lt=pgtrigger.F("new__price"))),
)
class Article(models.Model):
    """What every change of it was."""

    name = models.CharField(max_length=50)
    price = models.DecimalField(max_digits=10, decimal_places=2, default=1)
    tags = models.JSONField(default=dict)
    seen = models.DateTimeField(null=True)
