"""Each way to install, from an empty Debian 12 on, and README's first example after it: `make test-packages`.

Not a part of `make test`: half an hour, most of it compiling, and Debian's packages are downloaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.rowferry import find_rowferry

ROOT = Path(__file__).resolve().parents[2]
#: What there is of Rust on this machine, lent to the root: an empty Debian has none that is new enough.
RUST = (
    Path(os.environ.get("CARGO_HOME", "~/.cargo")).expanduser(),
    Path(os.environ.get("RUSTUP_HOME", "~/.rustup")).expanduser(),
)

#: The machine's certificate authorities, as they are lent to the root.
AUTHORITIES = "/etc/ssl/machine.crt"

pytestmark = pytest.mark.timeout(3600)

#: README's first example, with the command's own client.
EXAMPLE = """
cd /tmp
rowferry demo --create store.db
rowferry serve store.db --json >said & server=$!
until [ -s said ]; do sleep 0.05; done
rowferry query postgresql://127.0.0.1:5432/store "SELECT status, count(*) FROM orders GROUP BY status" --csv
kill $server
wait $server
"""


class Debian:
    """An empty root, and how to do something in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, script: str, **environment: str) -> str:
        """What a script of bash prints, in the root alone."""
        enter = 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; for lent in ${@:3}; do '
        enter += 'mkdir -p "$1$lent"; mount --bind "$lent" "$1$lent"; done; '
        enter += 'exec /usr/sbin/chroot "$1" bash -euo pipefail -c "$2"'
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", enter, "enter"]
        path = f"{RUST[0] / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
        settings = {
            "PATH": path,
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
            **environment,
        }
        # The way out of this machine is the root's, too: a proxy, and the authorities whose certificates it shows.
        for name in ("PIP_CERT", "SSL_CERT_FILE", "CARGO_HTTP_CAINFO"):
            settings[name] = AUTHORITIES
        for name, value in os.environ.items():
            if name.lower().endswith("_proxy") or name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
                settings.setdefault(name, value)
        for name, place in zip(("CARGO_HOME", "RUSTUP_HOME"), RUST, strict=True):
            settings[name] = str(place)
        begun = time.monotonic()
        done = subprocess.run(
            [*command, self.path, script, *RUST], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=settings
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        print(f"{time.monotonic() - begun:.1f} s: {script.strip().splitlines()[0]}")
        return done.stdout

    def install(self, *packages: str) -> None:
        """Installs packages of Debian's, as a user would."""
        names = " ".join(packages)
        self.run(f"apt-get update -q && apt-get install -y -q --no-install-recommends {names}")

    def example(self, **environment: str) -> None:
        lines = self.run(EXAMPLE, **environment).splitlines()
        assert lines[-5:][0] == "status,count" or "status,count" in lines
        assert sum(int(line.partition(",")[2]) for line in lines[lines.index("status,count") + 1 :]) == 5000


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The least that Debian 12 can be."""
    root = tmp_path_factory.mktemp("debian") / "root"
    done = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    return root


@pytest.fixture
def debian(empty: Path, tmp_path: Path) -> Iterator[Debian]:
    """A copy of it."""
    root = tmp_path / "root"
    subprocess.run(["cp", "-a", empty, root], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    (root / "etc" / "ssl").mkdir(exist_ok=True)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", f"{root}{AUTHORITIES}")
    for source in Path("/etc/apt/apt.conf.d").glob("*proxy*"):
        shutil.copy(source, root / "etc" / "apt" / "apt.conf.d")
    yield Debian(root)
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sdist")
    subprocess.run([Path(sys.prefix) / "bin" / "maturin", "sdist", "--out", directory], check=True, cwd=ROOT)
    return next(directory.iterdir())


def static() -> Path:
    done = subprocess.run([ROOT / "tools" / "build_static.sh"], check=True, capture_output=True, text=True, cwd=ROOT)
    return ROOT / done.stdout.strip()


def test_the_package_of_debian(debian: Debian, tmp_path: Path) -> None:
    subprocess.run([ROOT / "packaging" / "deb.sh", find_rowferry(), debian.path / "tmp"], check=True, cwd=ROOT)
    debian.run("dpkg --install /tmp/rowferry_*.deb")
    debian.example()


def test_the_archive_with_the_static_binary(debian: Debian) -> None:
    subprocess.run([ROOT / "packaging" / "archive.sh", static(), debian.path / "tmp"], check=True, cwd=ROOT)
    debian.run("tar --extract --file /tmp/rowferry-*.tar.gz --directory /tmp && mv /tmp/rowferry-*/rowferry /usr/bin/")
    debian.example()


def test_a_wheel(debian: Debian) -> None:
    command = [Path(sys.prefix) / "bin" / "maturin", "build", "--release", "--locked", "--interpreter", sys.executable]
    subprocess.run([*command, "--out", debian.path / "tmp"], check=True, cwd=ROOT)
    debian.install("python3-venv")
    debian.run("python3 -m venv /opt/app && /opt/app/bin/pip install --no-index /tmp/rowferry-*.whl")
    debian.example(PATH="/opt/app/bin:/usr/bin:/bin")


def test_the_source_distribution(debian: Debian, sdist: Path) -> None:
    shutil.copy(sdist, debian.path / "tmp")
    debian.install("build-essential", "libclang-dev", "python3-venv", "ca-certificates")
    debian.run("python3 -m venv /opt/app && /opt/app/bin/pip install /tmp/rowferry-*.tar.gz")
    debian.example(PATH="/opt/app/bin:/usr/bin:/bin")


def test_cargo_install(debian: Debian, sdist: Path) -> None:
    shutil.unpack_archive(sdist, debian.path / "tmp")
    debian.install("build-essential", "libclang-dev", "ca-certificates")
    debian.run("cd /tmp/rowferry-* && cargo install --locked --path crates/cli --root /usr/local")
    debian.example(PATH="/usr/local/bin:/usr/bin:/bin")
