"""What applications do, through Django; run by Django's test runner, which makes a database of its own."""

from __future__ import annotations

import datetime
import io
import uuid
from decimal import Decimal

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DataError, IntegrityError, OperationalError, connection, connections, transaction
from django.db.models import Avg, Count, F, Max, Q, Sum, Value
from django.db.models.functions import Concat, Length, TruncDate, TruncMonth
from django.test import TestCase, TransactionTestCase
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from .models import Author, Book

UTC = datetime.timezone.utc


class Rows(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        cls.jane = Author.objects.create(name="Jané ✒ O'Hara", born=datetime.date(1775, 12, 16))
        cls.max = Author.objects.create(name="100% \\Max")
        cls.book = Book.objects.create(
            author=cls.jane,
            title='A "title"',
            price=Decimal("12.50"),
            details={"tags": ["ä", None, 1.5], "nested": {"deep": True}},
            published=datetime.datetime(2026, 6, 30, 23, 30, 0, 123456, tzinfo=UTC),
            opens=datetime.time(8, 30, 0, 5),
            reading=datetime.timedelta(days=2, microseconds=7),
            cover=b"\xff\x00'\\",
            weight=0.1,
        )

    def test_every_field_comes_back_as_it_went(self) -> None:
        book = Book.objects.select_related("author").get(pk=self.book.pk)
        for field in Book._meta.fields:
            written, read = getattr(self.book, field.name), getattr(book, field.name)
            self.assertEqual((field.name, read), (field.name, written))
            self.assertIs(type(read), type(written))
        self.assertEqual(book.author.born, datetime.date(1775, 12, 16))
        self.assertIsInstance(book.author.key, uuid.UUID)
        self.assertEqual(book.author.key, self.jane.key)
        self.assertEqual(Author.objects.get(name__contains="0% \\").pk, self.max.pk)

    def test_changes_and_deletion(self) -> None:
        self.assertEqual(Book.objects.filter(pk=self.book.pk).update(copies=F("copies") + 5), 1)
        # Found rows count, not changed ones.
        self.assertEqual(Book.objects.filter(pk=self.book.pk).update(copies=5), 1)
        author, created = Author.objects.update_or_create(name="100% \\Max", defaults={"born": datetime.date(1, 1, 1)})
        self.assertEqual((author.pk, created), (self.max.pk, False))
        self.assertEqual(Author.objects.get_or_create(name="new")[1], True)
        self.assertEqual(self.jane.delete()[0], 2)
        self.assertFalse(Book.objects.exists())

    def test_json_is_searched_by_the_server(self) -> None:
        self.assertTrue(Book.objects.filter(details__nested__deep=True).exists())
        self.assertTrue(Book.objects.filter(details__tags__0="ä").exists())
        self.assertTrue(Book.objects.filter(details__has_key="tags").exists())
        self.assertFalse(Book.objects.filter(details__nested__deep=False).exists())
        self.assertEqual(Book.objects.values_list("details__tags", flat=True).get(), ["ä", None, 1.5])

    def test_moments_in_time_zones(self) -> None:
        # A day is that of the current time zone.
        with timezone.override(datetime.timezone(datetime.timedelta(hours=2))):
            days = Book.objects.annotate(day=TruncDate("published")).values_list("day", flat=True)
            self.assertEqual(list(days), [datetime.date(2026, 7, 1)])
            self.assertEqual(Book.objects.filter(published__year=2026, published__month=7).count(), 1)
            self.assertEqual(Book.objects.get().published.utcoffset(), datetime.timedelta(0))

    def test_aggregates_and_expressions(self) -> None:
        Book.objects.bulk_create(
            [Book(author=self.max, title=f"volume {n}", price=Decimal(n) / 4, copies=n) for n in range(500)],
            batch_size=200,
        )
        sums = Author.objects.annotate(n=Count("books"), total=Sum("books__price")).order_by("n")
        self.assertEqual(
            [(author.n, author.total) for author in sums],
            [(1, Decimal("12.50")), (500, sum((round(Decimal(n) / 4, 2) for n in range(500)), Decimal(0)))],
        )
        self.assertEqual(Book.objects.aggregate(m=Max("copies"), a=Avg("copies", filter=Q(copies__lt=3)))["m"], 499)
        long = Book.objects.annotate(label=Concat("title", Value(" %s"))).annotate(size=Length("label"))
        self.assertEqual(long.filter(size=11).count(), 10)
        books = list(Book.objects.filter(copies__in=range(0, 500, 7)).order_by("pk"))
        for book in books:
            book.weight = book.copies / 2
        self.assertEqual(Book.objects.bulk_update(books, ["weight"]), len(books))
        self.assertEqual(
            Book.objects.aggregate(w=Sum("weight", filter=Q(copies__gt=0)))["w"], sum(range(0, 500, 7)) / 2
        )
        self.assertEqual(len(list(Book.objects.order_by("pk").iterator(chunk_size=50))), 501)

    def test_rows_that_are_there_already(self) -> None:
        again = Author(name=self.jane.name, born=datetime.date(2000, 1, 1))
        Author.objects.bulk_create([again], ignore_conflicts=True)
        Author.objects.bulk_create([again], update_conflicts=True, update_fields=["born"])
        self.assertEqual(Author.objects.get(pk=self.jane.pk).born, datetime.date(2000, 1, 1))

    def test_errors_are_of_djangos_classes(self) -> None:
        for wrong, expected in [
            (lambda: Author.objects.create(name=self.jane.name), IntegrityError),
            (lambda: Book.objects.create(author=self.jane, title="x", price=Decimal(-1)), IntegrityError),
            (lambda: Book.objects.update(copies=F("copies") - 1), IntegrityError),
            (lambda: Author.objects.create(name="x" * 61), DataError),
            (lambda: connection.cursor().execute("SELECT nothing FROM nowhere WHERE a = %s", [1]), Exception),
            (lambda: connection.cursor().execute("SELECT nothing"), OperationalError),
        ]:
            with self.assertRaises(expected), transaction.atomic():
                wrong()
        self.assertEqual(Author.objects.count(), 2)

    def test_savepoints(self) -> None:
        with transaction.atomic():
            Author.objects.create(name="kept")
            with self.assertRaises(IntegrityError), transaction.atomic():
                Author.objects.create(name="lost")
                Author.objects.create(name="lost")
            identifier = transaction.savepoint()
            Author.objects.create(name="undone")
            transaction.savepoint_rollback(identifier)
        self.assertEqual(set(Author.objects.values_list("name", flat=True)) & {"kept", "lost", "undone"}, {"kept"})

    def test_statements_are_shown_as_they_ran(self) -> None:
        with CaptureQueriesContext(connection) as queries, connection.cursor() as cursor:
            cursor.execute("SELECT %s, %s", ["it's", 5])
            self.assertEqual(cursor.fetchone(), ("it's", 5))
        self.assertEqual(queries.captured_queries[0]["sql"], r"SELECT 'it\'s', 5")

    def test_djangos_own_applications(self) -> None:
        user = User.objects.create_user("emma", "emma@example.org", "pass phrase")
        user.user_permissions.add(Permission.objects.get(codename="add_book"))
        self.assertTrue(User.objects.get(username="emma").has_perm("django_shop.add_book"))
        self.assertTrue(user.check_password("pass phrase"))
        kind = ContentType.objects.get_for_model(Book)
        number = str(self.book.pk)
        LogEntry.objects.create(user=user, content_type=kind, object_id=number, object_repr="b", action_flag=1)
        self.assertEqual(LogEntry.objects.get().get_edited_object(), self.book)

    def test_the_tables_tell_their_models(self) -> None:
        text = io.StringIO()
        call_command("inspectdb", "django_shop_book", stdout=text)
        for line in (
            "title = models.CharField(max_length=80)",
            "price = models.DecimalField(max_digits=8, decimal_places=2)",
            "details = models.JSONField()",
            "published = models.DateTimeField(blank=True, null=True)",
            "author = models.ForeignKey('DjangoShopAuthor', models.DO_NOTHING)",
            "copies = models.PositiveIntegerField()",
            "unique_together = (('author', 'title'),)",
        ):
            self.assertIn(line, text.getvalue())


class Transactions(TransactionTestCase):
    def test_what_fails_is_rolled_back(self) -> None:
        with self.assertRaises(ZeroDivisionError), transaction.atomic():
            Author.objects.create(name="gone")
            _ = 1 / 0
        self.assertFalse(Author.objects.exists())

    def test_another_connection_sees_what_is_committed_only(self) -> None:
        called: list[str] = []
        other = connection.copy()
        try:
            with transaction.atomic():
                Author.objects.create(name="soon")
                transaction.on_commit(lambda: called.append("committed"))
                with other.cursor() as cursor:
                    cursor.execute("SELECT COUNT(*) FROM django_shop_author")
                    self.assertEqual(cursor.fetchone(), (0,))
                self.assertEqual(Author.objects.select_for_update(skip_locked=True).count(), 1)
            with other.cursor() as cursor:
                cursor.execute("SELECT COUNT(*) FROM django_shop_author")
                self.assertEqual(cursor.fetchone(), (1,))
        finally:
            other.close()
        self.assertEqual(called, ["committed"])

    def test_months(self) -> None:
        author = Author.objects.create(name="x")
        for month in (1, 1, 2):
            moment = datetime.datetime(2026, month, 15, tzinfo=UTC)
            Book.objects.create(author=author, title=str(Book.objects.count()), price=1, published=moment)
        months = Book.objects.annotate(m=TruncMonth("published", tzinfo=UTC)).values("m").annotate(n=Count("id"))
        self.assertEqual([row["n"] for row in months.order_by("m")], [2, 1])

    def test_a_dropped_connection_is_replaced(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT CONNECTION_ID()")
            number = cursor.fetchone()[0]
        killer = connection.copy()
        with killer.cursor() as cursor:
            cursor.execute(f"KILL {number}")
        killer.close()
        # At the end of a request.
        connection.errors_occurred = True
        connections["default"].close_if_unusable_or_obsolete()
        self.assertEqual(Author.objects.count(), 0)
