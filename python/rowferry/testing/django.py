"""Django's tests without a PostgreSQL: `TEST_RUNNER = "rowferry.testing.django.RowferryRunner"`.

Every database of `DATABASES` whose engine is Django's PostgreSQL is on a server of ours for the run; its own host,
port, user and password are not used. Django makes its test databases there as anywhere, `--parallel` too.
"""

from __future__ import annotations

from typing import Any

from django.db import connections  # type: ignore[import-untyped]
from django.test.runner import DiscoverRunner  # type: ignore[import-untyped]

from . import Server

__all__ = ["RowferryRunner", "RowferryRunnerMixin"]

_ENGINES = ("django.db.backends.postgresql", "django.contrib.gis.db.backends.postgis")


class RowferryRunnerMixin:
    """For a runner of your own: `class Runner(RowferryRunnerMixin, YourRunner)`."""

    _server: Server | None = None

    def setup_databases(self, **arguments: Any) -> Any:
        """Start the server, have Django's connections lead to it, and let Django make its databases."""
        self._server = server = Server.start()
        for alias in connections:
            settings = connections[alias].settings_dict
            if settings["ENGINE"] in _ENGINES:
                settings.update(HOST=server.host, PORT=str(server.port), USER="rowferry", PASSWORD="")
        try:
            return super().setup_databases(**arguments)  # type: ignore[misc]
        except BaseException:
            server.stop()
            raise

    def teardown_databases(self, old_config: Any, **arguments: Any) -> None:
        """Let Django drop its databases, and end the server."""
        try:
            super().teardown_databases(old_config, **arguments)  # type: ignore[misc]
        finally:
            if self._server is not None:
                self._server.stop()


class RowferryRunner(RowferryRunnerMixin, DiscoverRunner):  # type: ignore[misc]
    """Django's own runner on a server of ours."""
