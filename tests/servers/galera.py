"""Three MariaDBs that are one Galera cluster: `with Cluster.start() as cluster: connect(host=cluster.hosts, **…)`."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from rowferry import mysql

from .mariadb import MariaDB
from .process import Process, ServerFailed, free_port

#: Where Debian's package galera-4 puts it, which mariadb-server brings along.
PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")
_NODES = 3


class Cluster:
    """Nodes on loopback. They begin with the same files, so that none has to be sent all of another's."""

    def __init__(self, nodes: list[MariaDB]) -> None:
        self.nodes = nodes

    @classmethod
    def start(cls, *schema: str, timeout: float = 90) -> Cluster:
        """A cluster in which these statements have been run; `ServerFailed` when it does not come together."""
        if not PROVIDER.exists():
            raise ServerFailed(f"{PROVIDER} is not there (Debian package galera-4)")
        peers = [free_port() for _ in range(_NODES)]
        first = MariaDB.start([*_options(peers, 0), "--wsrep-new-cluster"], timeout=timeout)
        cluster = cls([first])
        try:
            with mysql.connect(**first.dsn, autocommit=True) as connection, connection.cursor() as cursor:
                for statement in schema:
                    cursor.execute(statement)
            # Stopped in peace, its files say where in the cluster's history they are.
            first.process.stop()
            # Statements of a server that has been made are not run again.
            common = [word for word in first.process.command if not word.startswith(("--wsrep", "--init-file"))]
            directories = [first.directory]
            for number in range(1, _NODES):
                directories.append(first.directory.with_name(f"{first.directory.name}-{number}"))
                shutil.copytree(first.directory / "data", directories[number] / "data")
                # Each node has an identity of its own.
                for name in ("gvwstate.dat", "galera.cache"):
                    (directories[number] / "data" / name).unlink(missing_ok=True)
            alone = [*_options(peers, 0), "--wsrep-new-cluster"]
            first.process = _run(common, first.directory, first.port, alone, timeout)
            for number in range(1, _NODES):
                directory, port = directories[number], free_port()
                moved = [word.replace(str(first.directory), str(directory)) for word in common]
                process = _run(moved, directory, port, _options(peers, number), timeout)
                cluster.nodes.append(MariaDB(process, directory, port, first.version))
        except BaseException:
            cluster.stop()
            raise
        return cluster

    @property
    def hosts(self) -> list[str]:
        """All nodes, as the driver takes several hosts."""
        return [f"{node.host}:{node.port}" for node in self.nodes]

    def kill(self, number: int) -> None:
        """End a node as a power cut would."""
        self.nodes[number].process.kill()

    def stop(self) -> None:
        """End all nodes and remove their directories."""
        for node in self.nodes:
            with contextlib.suppress(ServerFailed):
                node.stop()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _run(command: list[str], directory: Path, port: int, options: list[str], timeout: float) -> Process:
    """Start a node, and wait until the others have it."""
    words = [word for word in command if not word.startswith("--port=")]
    if "--user=root" in words:
        # Root's rsync would write as nobody.
        words = [word.replace("--user=root", "--user=mysql") for word in words]
        subprocess.run(["chown", "--recursive", "mysql:mysql", directory], check=True)
    synced = re.compile(r"Synchronized with group, ready for connections").search
    process = Process([*words, f"--port={port}", *options], is_ready=synced, log=directory / "log")
    process.wait_ready(timeout)
    return process


def _options(peers: list[int], number: int) -> list[str]:
    own = peers[number]
    members = ",".join(f"127.0.0.1:{port}" for port in peers)
    provider = {
        "gmcast.listen_addr": f"tcp://127.0.0.1:{own}",
        "ist.recv_addr": f"127.0.0.1:{free_port()}",
        # A node that says nothing is given up sooner than over a real network.
        "evs.inactive_check_period": "PT0.5S",
        "evs.keepalive_period": "PT0.5S",
        "evs.suspect_timeout": "PT2S",
        "evs.inactive_timeout": "PT4S",
        "gcache.size": "16M",
    }
    return [
        "--wsrep-on=ON",
        f"--wsrep-provider={PROVIDER}",
        f"--wsrep-provider-options={';'.join(f'{name}={value}' for name, value in provider.items())}",
        f"--wsrep-cluster-address=gcomm://{members}",
        f"--wsrep-node-address=127.0.0.1:{own}",
        f"--wsrep-node-name=n{number}",
        # The default is one port for all of a machine.
        f"--wsrep-sst-receive-address=127.0.0.1:{free_port()}",
        "--wsrep-sst-method=rsync",
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2",
        "--wsrep-slave-threads=2",
    ]
