"""The Debian package: installed by dpkg, its service checked by systemd and run as it says, removed, purged."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.servers.rowferry import find_rowferry

from .roots import need_root, run_in_overlay

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the binary that is tested."""
    done = subprocess.run(
        [ROOT / "packaging" / "deb.sh", find_rowferry(), tmp_path_factory.mktemp("deb")],
        capture_output=True,
        text=True,
        env={**os.environ, "COMPRESSION": "gzip"},
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def field(package: Path, name: str) -> str:
    return subprocess.run(["dpkg-deb", "-f", package, name], check=True, capture_output=True, text=True).stdout.strip()


def test_it_has_the_version_of_the_workspace(package: Path) -> None:
    version = subprocess.run([find_rowferry(), "--version"], check=True, capture_output=True, text=True).stdout.split()[
        1
    ]
    assert f'version = "{version}"' in (ROOT / "Cargo.toml").read_text()
    assert (field(package, "Package"), field(package, "Version")) == ("rowferry", version)
    assert package.name == f"rowferry_{version}_{field(package, 'Architecture')}.deb"


def test_it_is_installed_served_removed_and_purged(package: Path, tmp_path: Path) -> None:
    need_root()
    script = r"""
    dpkg --install /mnt/*.deb >&2
    getent passwd rowferry | cut -d: -f6,7
    stat -c '%U %a' /var/lib/rowferry
    rowferry --version >&2
    test -s /usr/share/man/man1/rowferry-serve.1.gz
    test -s /usr/share/doc/rowferry/THIRD-PARTY.gz

    # As the unit starts it, with the file of settings that the package brings.
    install -d -o rowferry /run/rowferry /run/rowferry/app
    start=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/rowferry@.service)
    set -a; . /etc/rowferry/rowferry.conf; set +a
    as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
    eval "exec setpriv --reuid rowferry --regid rowferry --clear-groups ${start//%i/app} --json" >/tmp/said 2>/tmp/log &
    server=$!
    for _ in $(seq 200); do if [ -s /tmp/said ]; then break; fi; sleep 0.1; done
    cat /tmp/log >&2
    ask() { as "$1" psql -h /run/rowferry/app -d app -U "$2" -Atc "$3"; }
    ask rowferry rowferry "SELECT session_user"
    { ask rowferry root "SELECT 1" 2>&1 || true; } | grep -o 'Peer authentication failed for user "root"'
    kill $server; wait $server
    stat -c '%U %a' /var/lib/rowferry/app.db

    dpkg --remove rowferry >&2
    test ! -e /usr/bin/rowferry
    ls /etc/rowferry
    dpkg --purge rowferry >&2
    test ! -e /etc/rowferry
    ls /var/lib/rowferry
    """
    done = run_in_overlay(script, package.parent, tmp_path / "overlay")
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.splitlines() == [
        "/var/lib/rowferry:/usr/sbin/nologin",
        "rowferry 750",
        "rowferry",
        'Peer authentication failed for user "root"',
        "rowferry 600",
        "hba.conf",
        "rowferry.conf",
        "app.db",
    ], done.stderr


def test_changed_settings_stay_at_an_upgrade(package: Path, tmp_path: Path) -> None:
    need_root()
    script = r"""
    dpkg --install /mnt/*.deb >&2
    echo "ROWFERRY_POSTGRES=127.0.0.1:6543" >/etc/rowferry/rowferry.conf
    dpkg --force-confdef --force-confold --install /mnt/*.deb >&2
    cat /etc/rowferry/rowferry.conf
    """
    done = run_in_overlay(script, package.parent, tmp_path / "overlay")
    assert (done.returncode, done.stdout) == (0, "ROWFERRY_POSTGRES=127.0.0.1:6543\n"), done.stderr


def test_systemd_takes_the_unit_and_finds_little_exposed(package: Path, tmp_path: Path) -> None:
    need_root()
    # The threshold is in tenths: 1.6 as we wrote it, where 10 is exposed to everything.
    script = r"""
    dpkg --install /mnt/*.deb >&2
    systemd-analyze verify --man=no rowferry@app.service
    systemd-analyze security --offline=true --threshold=18 rowferry@app.service >&2
    """
    done = run_in_overlay(script, package.parent, tmp_path / "overlay")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr + done.stdout


def test_lintian_has_no_errors_that_nobody_knows(package: Path) -> None:
    # There is no address to write to before there is a place where it is published.
    known = "bogus-mail-host,bogus-mail-host-in-debian-changelog,maintainer-script-calls-systemctl,groff-message"
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", known, package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout
