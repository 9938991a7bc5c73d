"""`manage.py dbshell`."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.client import BaseDatabaseClient


class DatabaseClient(BaseDatabaseClient):
    """Informix's own shell, where it is installed."""

    executable_name = "dbaccess"

    @classmethod
    def settings_to_cmd_args_env(cls, settings_dict: Any, parameters: Any) -> Any:
        """The command and its environment."""
        server = settings_dict.get("OPTIONS", {}).get("server")
        return [cls.executable_name, settings_dict["NAME"], *parameters], {"INFORMIXSERVER": server} if server else None
