"""What pip installs: the wheel in an empty environment, and what the source distribution has in it.

The wheel is packed out of the release build that the other tests use, or is that of `ROWFERRY_WHEEL`.
"""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import psycopg
import pytest

from tests.servers.process import Process

ROOT = Path(__file__).resolve().parents[2]
# Where somebody has changed a source since `make build`, packing the wheel compiles it.
pytestmark = pytest.mark.timeout(1200)
MATURIN = Path(sys.prefix) / "bin" / "maturin"


def version() -> str:
    """The workspace's, the one place where it stands."""
    found = re.search(r'^\[workspace\.package\]\nversion = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def maturin(*arguments: str | Path) -> None:
    done = subprocess.run([MATURIN, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=1000)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for this Python."""
    if named := os.environ.get("ROWFERRY_WHEEL"):
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    assert (target / "release" / "lib_core.so").is_file(), "there is no release build of the module: make build"
    directory = tmp_path_factory.mktemp("wheel")
    maturin("build", "--release", "--locked", "--quiet", "--interpreter", sys.executable, "--out", directory)
    (found,) = directory.iterdir()
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it and nothing else."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", directory / "bin" / "python", "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--disable-pip-version-check", wheel], check=True, timeout=100)
    return directory


def python(environment: Path, program: str) -> str:
    """What a program prints that knows nothing of this repository."""
    command = [environment / "bin" / "python", "-I", "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(files.read(name))
        assert {"rowferry/py.typed", "rowferry/__main__.py"} <= set(files.namelist())
    assert (metadata["Name"], metadata["Version"]) == ("rowferry", version())
    assert all("extra ==" in needed for needed in metadata.get_all("Requires-Dist") or [])
    assert {"LICENSE-APACHE", "LICENSE-MIT"} <= {Path(file).name for file in metadata.get_all("License-File") or []}


def test_everything_is_there(environment: Path) -> None:
    program = """
import rowferry, rowferry.informix, rowferry.informix.aio, rowferry.mysql, rowferry.mysql.aio, rowferry.testing
from importlib.metadata import entry_points, version
print(version("rowferry"))
print(sorted(point.name for point in entry_points(group="pytest11")))
"""
    assert python(environment, program).splitlines() == [version(), "['rowferry']"]


def test_the_command_makes_serves_and_asks_a_file(environment: Path, tmp_path: Path) -> None:
    command = environment / "bin" / "rowferry"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    run = {"check": True, "capture_output": True, "text": True, "timeout": 60, "env": env, "cwd": tmp_path}
    assert subprocess.run([command, "--version"], **run).stdout == f"rowferry {version()}\n"  # type: ignore[call-overload]
    subprocess.run([command, "demo", "--create", "store.db"], **run)  # type: ignore[call-overload]
    line = [command, "serve", tmp_path / "store.db", "--postgres", "127.0.0.1:0", "--json"]
    server = Process(line, lambda text: '"listening"' in text)
    try:
        server.wait_ready(60)
        assert server.ready_line is not None
        with psycopg.connect(f"postgresql://{json.loads(server.ready_line)['postgres']}/store") as connection:
            assert connection.execute("SELECT count(*) FROM orders").fetchone() == (5000,)
    finally:
        server.stop()


def test_its_pytest_plugin_is_found(environment: Path, tmp_path: Path) -> None:
    # pytest and a client are lent out of the environment that runs this.
    (site,) = (path for path in sys.path if path.startswith(sys.prefix) and path.endswith("site-packages"))
    (tmp_path / "test_mine.py").write_text(
        "import psycopg\n\n\ndef test_mine(rowferry_postgres):\n"
        "    with psycopg.connect(rowferry_postgres.url) as connection:\n"
        '        connection.execute("CREATE TABLE t (id serial PRIMARY KEY)")\n'
    )
    program = f"""
import sys
sys.path.append({site!r})
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:benchmark"]))
"""
    command = [environment / "bin" / "python", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_source_distribution_is_complete(tmp_path: Path) -> None:
    maturin("sdist", "--out", tmp_path)
    (archive,) = tmp_path.iterdir()
    assert archive.name == f"rowferry-{version()}.tar.gz"
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
        file = files.extractfile(f"rowferry-{version()}/README.md")
        assert file is not None
        readme = file.read().decode()
    assert {"Cargo.lock", ".cargo/config.toml", "LICENSE-MIT", "LICENSE-APACHE", "pyproject.toml"} <= names
    made = [name for name in names if name.startswith(("target", ".venv")) or name.endswith((".so", ".pyc"))]
    assert made == []
    # A README whose links lead nowhere promises what is not there.
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", readme)
    assert sorted({link for link in links if link not in names}) == []
