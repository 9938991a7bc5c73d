"""Tables with one column of each kind that MySQL treats in a way of its own."""

from __future__ import annotations

import uuid

from django.db import models


class Author(models.Model):
    """Who writes; deleted with all books."""

    name = models.CharField(max_length=60, unique=True)
    born = models.DateField(null=True)
    key = models.UUIDField(default=uuid.uuid4)


class Book(models.Model):
    """One row with everything."""

    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
    title = models.CharField(max_length=80, db_index=True)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    details = models.JSONField(default=dict)
    published = models.DateTimeField(null=True)
    opens = models.TimeField(null=True)
    reading = models.DurationField(null=True)
    cover = models.BinaryField(null=True)
    weight = models.FloatField(null=True)
    in_print = models.BooleanField(default=True)
    copies = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=models.Q(price__gte=0), name="price_not_negative"),
            models.UniqueConstraint(fields=("author", "title"), name="one_title_per_author"),
        )
