"""As `makemigrations` writes it."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = ()

    operations = (
        migrations.CreateModel(
            name="Author",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True)),
                ("born", models.DateField(null=True)),
                ("key", models.UUIDField(default=uuid.uuid4)),
            ],
        ),
        migrations.CreateModel(
            name="Book",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(db_index=True, max_length=80)),
                ("price", models.DecimalField(decimal_places=2, max_digits=8)),
                ("details", models.JSONField(default=dict)),
                ("published", models.DateTimeField(null=True)),
                ("opens", models.TimeField(null=True)),
                ("reading", models.DurationField(null=True)),
                ("cover", models.BinaryField(null=True)),
                ("weight", models.FloatField(null=True)),
                ("in_print", models.BooleanField(default=True)),
                ("copies", models.PositiveIntegerField(default=0)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="books", to="django_shop.author"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("price__gte", 0)), name="price_not_negative"),
                    models.UniqueConstraint(fields=("author", "title"), name="one_title_per_author"),
                ],
            },
        ),
    )
