"""How IBM's JDBC driver comes in: over TLS, and by answering what PAM asks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.clients.jdbc import build
from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, pem: dict[str, str]) -> Iterator[Rowferry]:
    args = ["--informix-pam", "--user", "ada:lovelace", "--tls-cert", pem["cert"], "--tls-key", pem["key"]]
    file = tmp_path_factory.mktemp("jdbc") / "testdb.db"
    with Rowferry.start(file, postgres=False, informix=True, args=args) as running:
        yield running


def trust_store(path: Path, authority: str) -> Path:
    """A key store of Java's that holds this authority."""
    subprocess.run(
        [
            *("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", authority),
            *("-keystore", path, "-storetype", "PKCS12", "-storepass", "changeit"),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return path


def query(
    server: Rowferry, *, host: str = "localhost", url: str = "", options: Sequence[str] = ()
) -> tuple[int, str, str]:
    """Connect and ask for a number; how the program ended, and what it said."""
    assert server.informix is not None
    made = build.build()
    address = f"jdbc:informix-sqli://{host}:{server.informix[1]}/{server.dbname}:INFORMIXSERVER=informix{url}"
    done = subprocess.run(
        [
            *("java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", *options),
            *("-cp", f"{made / 'classes'}:{made / 'lib'}/*", "rowferry.Client", address, "ada", "in the packet"),
            *("query", "SELECT FIRST 1 tabid FROM systables"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


PAM = ";IFX_PAM_CLASS=rowferry.Answers"


def test_questions_are_answered_until_the_answer_is_right(server: Rowferry) -> None:
    code, out, err = query(server, url=PAM, options=["-Danswer.1=loveless", "-Danswer.2=lovelace"])
    assert code == 0, err
    assert '"row"' in out
    assert [line for line in err.splitlines() if line.startswith("asked")] == [
        "asked: Password: ",
        "asked: That was not the password. Password: ",
    ]


def test_wrong_answers_are_refused(server: Rowferry) -> None:
    code, out, err = query(server, url=PAM)
    assert code != 0 and '"row"' not in out
    assert err.count("asked: ") == 3 and "SQLException" in err


def test_tls_with_a_trust_store(server: Rowferry, pem: dict[str, str], tmp_path: Path) -> None:
    answer = "-Danswer.1=lovelace"
    url = PAM + ";SSLCONNECTION=true"
    ours = trust_store(tmp_path / "ours.p12", pem["ca"])
    stranger = trust_store(tmp_path / "stranger.p12", pem["stranger"])

    def store(path: Path) -> list[str]:
        names = {"trustStore": path, "trustStorePassword": "changeit", "trustStoreType": "PKCS12"}
        return [answer, *(f"-Djavax.net.ssl.{name}={value}" for name, value in names.items())]

    code, out, err = query(server, url=url, options=store(ours))
    assert code == 0, err
    assert '"row"' in out
    code, out, err = query(server, url=url, options=store(stranger))
    assert code != 0 and '"row"' not in out
