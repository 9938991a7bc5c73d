"""What Django's suite runs with: its own `test_sqlite.py` on a server, with a runner that takes notes.

Not imported here: it is copied beside the suite, whose process reads the server from the environment.
"""

import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any

from django.test.runner import DiscoverRunner

_ENGINE = os.environ["RF_ENGINE"]
if _ENGINE == "django.db.backends.mysql":
    import pymysql

    # Parts of mysqlclient's own may be there under this name already.
    for name in [name for name in sys.modules if name.partition(".")[0] == "MySQLdb"]:
        del sys.modules[name]
    pymysql.install_as_MySQLdb()
_SERVER = {
    "ENGINE": _ENGINE,
    "HOST": os.environ["RF_HOST"],
    "PORT": os.environ["RF_PORT"],
    "USER": os.environ["RF_USER"],
    "PASSWORD": os.environ["RF_PASSWORD"],
    # A statement that hangs fails.
    "OPTIONS": {"options": "-c statement_timeout=60000"} if "postgresql" in _ENGINE else {"read_timeout": 60},
}
DATABASES = {
    "default": {**_SERVER, "NAME": "django"},
    "other": {**_SERVER, "NAME": "django2"},
}
SECRET_KEY = "django_tests_secret_key"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "suite_settings.Runner"


class Notes(unittest.TextTestResult):
    """What became of each test, by its name."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self.became: dict[str, str] = {}
        self.why: dict[str, str] = {}

    def _note(self, test: Any, what: str, error: Any = None) -> None:
        name = getattr(test, "test_case", test).id()
        # Of a test with several parts the worst counts.
        if self.became.get(name) != "failed":
            self.became[name] = what
        if error is not None:
            self.why.setdefault(name, f"{error[0].__name__}: {error[1]}")

    def addSuccess(self, test: Any) -> None:
        super().addSuccess(test)
        self._note(test, "passed")

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        self._note(test, "failed", err)

    def addFailure(self, test: Any, err: Any) -> None:
        super().addFailure(test, err)
        self._note(test, "failed", err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note(test, "failed", err)

    def addSkip(self, test: Any, reason: str) -> None:
        super().addSkip(test, reason)
        self._note(test, "skipped")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._note(test, "passed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        super().addUnexpectedSuccess(test)
        self._note(test, "failed")


class Runner(DiscoverRunner):
    """Django's runner, whose notes go to the file that `RF_RESULTS` names."""

    def get_test_runner_kwargs(self) -> dict[str, Any]:
        return {**super().get_test_runner_kwargs(), "resultclass": Notes}

    def suite_result(self, suite: Any, result: Any, **named: Any) -> Any:
        Path(os.environ["RF_RESULTS"]).write_text(json.dumps({"became": result.became, "why": result.why}))
        return super().suite_result(suite, result, **named)
