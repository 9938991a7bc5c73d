"""Rules of who may come in (`--hba`), at both doors: which fit, what they ask, how they refuse, when they change."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from rowferry import informix

from tests.servers.certificates import make_certificates
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry, socket_directory

from .conftest import wait_until

Start = Callable[..., Rowferry]


def write(path: Path, *lines: str) -> list[str]:
    """Rules, and the options for them with a user."""
    path.write_text("\n".join(lines) + "\n")
    return ["--hba", str(path), "--user", "ada:secret"]


def refusal(server: Rowferry, **more: str) -> str | None:
    """Why a client is not let in; `None` when it is."""
    assert server.postgres is not None
    host, port = server.postgres
    parameters = {"user": "ada", "password": "secret", "dbname": "app", "sslmode": "disable", **more}
    try:
        psycopg.connect(host=host, port=port, **parameters).close()  # type: ignore[arg-type]
    except psycopg.OperationalError as error:
        return str(error)
    return None


def informix_refusal(
    server: Rowferry, user: str = "ada", password: str = "secret", database: str = "app"
) -> str | None:
    assert server.informix is not None
    host, port = server.informix
    try:
        informix.connect(host=host, port=port, user=user, password=password, database=database).close()
    except informix.Error as error:
        return str(error)
    return None


def test_the_first_rule_that_fits_decides_at_both_doors(start: Start, tmp_path: Path) -> None:
    rules = write(
        tmp_path / "hba",
        "# TYPE DATABASE USER ADDRESS METHOD",
        "host  all  eve        127.0.0.1/32             reject",
        "host  app  guest,\\",
        '      "mr x"         127.0.0.0  255.0.0.0      trust',
        "host  all  ada        localhost                scram-sha-256",
    )
    server = start(*rules, informix=True)
    assert refusal(server) is None
    assert "password authentication failed" in str(refusal(server, password="wrong"))
    assert refusal(server, user="guest", password="") is None
    assert refusal(server, user="mr x", password="") is None
    assert 'pg_hba.conf rejects connection for host "127.0.0.1", user "eve", database "app", no encryption' in str(
        refusal(server, user="eve")
    )
    assert 'no pg_hba.conf entry for host "127.0.0.1", user "bob", database "app", no encryption' in str(
        refusal(server, user="bob")
    )
    assert informix_refusal(server) is None and informix_refusal(server, user="guest", password="") is None
    assert informix_refusal(server, password="wrong") is not None
    # Drivers have words of their own for -951; the log has ours.
    assert "-951" in str(informix_refusal(server, user="eve")) and "-951" in str(informix_refusal(server, user="bob"))
    wait_until(lambda: sum('user "bob", database "app"' in line for line in server.process.tail) >= 2, "the refusals")


def test_refusals_have_the_words_and_the_code_of_postgresql(start: Start, tmp_path: Path) -> None:
    server = start(*write(tmp_path / "hba", "host all ada all reject"))
    assert server.postgres is not None
    host, port = server.postgres
    for user, words in (("ada", "pg_hba.conf rejects"), ("bob", "no pg_hba.conf entry")):
        with pytest.raises(psycopg.OperationalError, match=words):
            psycopg.connect(host=host, port=port, user=user, dbname="app")
    wait_until(lambda: sum("refused" in line for line in server.process.tail) >= 2, "the log")


def test_a_clear_password_is_asked_for_where_a_rule_says_so(start: Start, tmp_path: Path) -> None:
    server = start(*write(tmp_path / "hba", "host all all all password"))
    assert server.postgres is not None
    host, port = server.postgres
    wanted = {"host": host, "port": port, "user": "ada", "dbname": "app", "require_auth": "password"}
    assert refusal(server) is None
    for password in ("wrong", ""):
        assert refusal(server, password=password) is not None
    assert refusal(server, user="nobody") is not None
    if psycopg.pq.version() >= 160000:
        psycopg.connect(**wanted, password="secret").close()  # type: ignore[arg-type]


def test_encryption_decides_which_rule_fits(start: Start, tmp_path: Path) -> None:
    pem = make_certificates(tmp_path)
    rules = write(tmp_path / "hba", "hostssl all ada all scram-sha-256", "hostnossl all guest all trust")
    server = start(*rules, "--tls-cert", pem["cert"], "--tls-key", pem["key"])
    assert refusal(server, sslmode="require") is None
    assert "no encryption" in str(refusal(server))
    assert refusal(server, user="guest") is None
    assert 'user "guest", database "app", SSL encryption' in str(refusal(server, user="guest", sslmode="require"))


def test_members_of_roles_and_users_of_their_own_database(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "hba"
    path.write_text(
        "host app      +staff all trust\n"
        "host sameuser all    all trust\n"
        "host samerole all    all trust\n"
        "local all     all        trust\n"
    )
    (tmp_path / "more").mkdir()
    with socket_directory() as directory:
        server = start("--hba", str(path), "--databases", str(tmp_path / "more"), unix_dir=directory)
        with psycopg.connect(
            host=directory, port=socket_port(server), user="root", dbname="app", autocommit=True
        ) as boss:
            for statement in (
                "create role boss login superuser",
                "create role staff",
                "create role ada login in role staff",
                "create role bob login",
                "create database bob",
                "create database staff",
            ):
                boss.execute(statement)
        assert refusal(server, user="ada") is None
        assert "no pg_hba.conf entry" in str(refusal(server, user="bob"))
        assert refusal(server, user="bob", dbname="bob") is None
        assert "no pg_hba.conf entry" in str(refusal(server, user="ada", dbname="bob"))
        assert refusal(server, user="ada", dbname="staff") is None
        assert "no pg_hba.conf entry" in str(refusal(server, user="bob", dbname="staff"))


def socket_port(server: Rowferry) -> int:
    assert server.unix_socket is not None
    return int(server.unix_socket.rpartition(".")[2])


def test_a_unix_socket_knows_who_has_opened_it(start: Start, tmp_path: Path) -> None:
    me = pwd.getpwuid(os.getuid()).pw_name
    with socket_directory() as directory:
        server = start(*write(tmp_path / "hba", "local all all peer"), unix_dir=directory)
        place = {"host": directory, "port": socket_port(server), "dbname": "app"}
        psycopg.connect(user=me, **place).close()  # type: ignore[arg-type]
        with pytest.raises(psycopg.OperationalError, match='Peer authentication failed for user "ada"'):
            psycopg.connect(user="ada", password="secret", **place)  # type: ignore[arg-type]
        assert "no pg_hba.conf entry" in str(refusal(server))


def test_another_database_may_ask_for_more_at_the_informix_door(start: Start, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    rules = write(tmp_path / "hba", "host app all all trust", "host open all all trust", "host other all all password")
    (tmp_path / "ident").write_text("staff bob ada\n")
    maps = ("--ident", str(tmp_path / "ident"))
    server = start(*rules, *maps, "--databases", str(more), informix=True)
    assert server.postgres is not None
    host, port = server.postgres
    with psycopg.connect(host=host, port=port, user="ada", dbname="app", autocommit=True) as connection:
        connection.execute("create database open")
        connection.execute("create database other")
        connection.execute("create database shut")
    # What is told of the rules is the same everywhere.
    with psycopg.connect(host=host, port=port, user="ada", dbname="open") as connection:
        assert connection.execute("select map_name, pg_username from pg_ident_file_mappings").fetchall() == [
            ("staff", "ada")
        ]
        assert connection.execute("select count(*) from pg_hba_file_rules").fetchone() == (3,)
    assert informix_refusal(server, database="open") is None
    assert informix_refusal(server, database="other") is not None
    assert informix_refusal(server, database="shut") is not None


def test_rules_are_read_again_at_sighup_and_stay_when_they_are_wrong(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "hba"
    server = start(*write(path, "host all ada all trust"))
    assert server.postgres is not None
    host, port = server.postgres
    with psycopg.connect(host=host, port=port, user="ada", dbname="app", autocommit=True) as connection:
        path.write_text("host all ada all reject\n")
        os.kill(server.pid, signal.SIGHUP)
        wait_until(lambda: refusal(server) is not None, "the new rules")
        path.write_text("host all ada all trust\nhost all all all nonsense\n")
        os.kill(server.pid, signal.SIGHUP)
        wait_until(lambda: any(":2: invalid" in line for line in server.process.tail), "the error")
        assert refusal(server) is not None
        rows = connection.execute(
            "select line_number, type, database, user_name, address, netmask, auth_method, error from pg_hba_file_rules"
        ).fetchall()
        assert rows == [
            (1, "host", ["all"], ["ada"], "all", None, "trust", None),
            (2, None, None, None, None, None, None, 'invalid authentication method "nonsense"'),
        ]
        assert connection.execute("show hba_file").fetchone() == (str(path),)


def test_the_view_is_empty_without_rules(start: Start) -> None:
    with psycopg.connect(start().postgres_dsn) as connection:
        assert connection.execute("select * from pg_hba_file_rules").fetchall() == []


def test_the_network_may_be_listened_at_where_rules_say_who_may_come(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "hba"
    path.write_text("host all all samehost trust\nhost all all all reject\n")
    server = start("--hba", str(path), "--postgres", "0.0.0.0:0", database=tmp_path / "net.db", postgres=False)
    assert server.postgres is not None
    psycopg.connect(host="127.0.0.1", port=server.postgres[1], user="ada", dbname="net").close()


#: Rules that both servers are given, and lines that neither takes.
GOOD = """
# a comment
local   all             all                                     trust
host    app             eve             127.0.0.1/32            reject
host    app,"all",sameuser ada,+staff   127.0.0.0 255.0.0.0     scram-sha-256
host    samerole,replication "all"      samenet                 password
hostnossl  all \\
        guest           localhost                               trust
hostnogssenc all        all             10.0.0.0/8              md5
local   all             all                                     peer map=os
hostssl all             all             10.0.0.0/8              cert map="the staff"
hostssl all             all             10.0.0.0/8              cert clientcert=verify-full clientname=CN
hostssl all             all             10.0.0.0/8              trust clientcert=verify-ca
hostssl all             all             10.0.0.0/8              md5 clientcert=verify-full
"""
BAD = """
host    all             all             1.2.3.4/40              trust
host    all             all             1.2.3.4                 trust
host    all             all             1.2.3.4 ffff::          trust
host    all             all             example.org/8           trust
host    all             all             all                     nothing
host    all,
host    all             all             all                     peer
host    all             all
host    all             all             all
web     all             all             all                     trust
host,x  all             all             all                     trust
host    all             all             a,b                     trust
host    all             all             all                     cert
host    all             all             all                     trust map=x
host    all             all             all                     trust clientcert=verify-ca
host    all             all             all                     trust clientname=CN
host    all             all             all                     md5 ldapserver=x
host    all             all             all                     md5 radiusservers=x
host    all             all             all                     md5 nothing=x
host    all             all             all                     md5 map
hostssl all             all             all                     cert clientcert=verify-ca
"""
#: User name maps, and lines of them that neither server takes.
MAPS = r"""
# MAP       SYSTEM-USER          USER
os          root                 ada
"the staff" client               ada
"the staff" /^(.*)@example\.org$ \1
"the staff" "bob b"              bob
"""
BAD_MAPS = r"""
os          root
os          a,b                  c
os          /(                   ada
os
"""


def refusal_at(port: int, **more: str) -> str:
    """What a server says instead of letting a client in."""
    try:
        psycopg.connect(host="127.0.0.1", port=port, sslmode="disable", **more).close()  # type: ignore[arg-type]
    except psycopg.OperationalError as error:
        return str(error).partition("FATAL:")[2].splitlines()[0]
    return ""


def test_postgresql_reads_the_rules_alike_and_refuses_in_the_same_words(start: Start, tmp_path: Path) -> None:
    path, maps = tmp_path / "hba", tmp_path / "ident"
    path.write_text(GOOD)
    maps.write_text(MAPS)
    pem = make_certificates(tmp_path)
    tls = ["--tls-cert", pem["cert"], "--tls-key", pem["key"], "--tls-client-ca", pem["ca"]]
    server = start("--hba", str(path), "--ident", str(maps), *tls, "--user", "ada:secret")
    assert server.postgres is not None
    ours = server.postgres[1]
    view = "select * from pg_hba_file_rules order by line_number"
    with PostgreSQL.start(tcp=True) as postgres, psycopg.connect(postgres.dsn, autocommit=True) as connection:
        encrypt(postgres, connection, pem)
        theirs, file = postgres.port, postgres.directory / "data" / "pg_hba.conf"
        assert theirs is not None
        for statement in ("create role ada login password 'secret'", "create role eve login", "create database app"):
            connection.execute(statement)
        with psycopg.connect(host="127.0.0.1", port=ours, user="guest", dbname="app") as guest:
            for text in (GOOD + BAD, GOOD):
                path.write_text(text)
                file.write_text(text)
                assert guest.execute(view).fetchall() == connection.execute(view).fetchall()
            mappings = "select * from pg_ident_file_mappings order by line_number"
            for text in (MAPS + BAD_MAPS, MAPS):
                maps.write_text(text)
                (postgres.directory / "data" / "pg_ident.conf").write_text(text)
                assert guest.execute(mappings).fetchall() == connection.execute(mappings).fetchall()
            assert guest.execute("show ident_file").fetchone() == (str(maps),)
            assert guest.execute("show ssl_ca_file").fetchone() == (pem["ca"],)
        connection.execute("select pg_reload_conf()")
        wait_until(lambda: refusal_at(theirs, user="eve", dbname="app"), "PostgreSQL's new rules")
        for user, password in (("eve", "x"), ("bob", "x"), ("ada", "wrong"), ("ada", "secret")):
            who = {"user": user, "password": password, "dbname": "app"}
            assert refusal_at(ours, **who) == refusal_at(theirs, **who), user


def encrypt(postgres: PostgreSQL, connection: psycopg.Connection, pem: dict[str, str]) -> None:
    """TLS for a PostgreSQL, which reads its files as another user and wants the key for itself."""
    owner = (postgres.directory / "data").stat()
    for setting, name in (("ssl_cert_file", "cert"), ("ssl_key_file", "key"), ("ssl_ca_file", "ca")):
        file = postgres.directory / Path(pem[name]).name
        file.write_bytes(Path(pem[name]).read_bytes())
        file.chmod(0o600)
        os.chown(file, owner.st_uid, owner.st_gid)
        connection.execute(f"alter system set {setting} = '{file}'")
    connection.execute("alter system set ssl = on")
    connection.execute("select pg_reload_conf()")
    wait_until(lambda: connection.execute("show ssl").fetchone() == ("on",), "TLS")


def test_certificates_prove_who_clients_are_as_in_postgresql(start: Start, tmp_path: Path) -> None:
    pem = make_certificates(tmp_path)
    rules = (
        "local   all all           trust\n"
        "hostssl app client    all cert\n"
        "hostssl app ada,xien  all cert map=staff\n"
        "hostssl app guest     all trust clientcert=verify-ca\n"
        "hostssl app bob       all trust clientcert=verify-full\n"
        "hostssl app carl      all scram-sha-256 clientcert=verify-full\n"
        "hostssl app dora      all scram-sha-256 clientcert=verify-ca\n"
    )
    names = "staff client ada\nstaff /^cl(.*)t$ x\\1\n"
    users = ("client", "ada", "xien", "guest", "bob", "carl", "dora")
    hba, ident = tmp_path / "hba", tmp_path / "ident"
    hba.write_text(rules)
    ident.write_text(names)
    tls = ["--tls-cert", pem["cert"], "--tls-key", pem["key"], "--tls-client-ca", pem["ca"]]
    who = [option for user in users for option in ("--user", f"{user}:secret")]
    server = start("--hba", str(hba), "--ident", str(ident), *tls, *who)
    assert server.postgres is not None
    none = {"sslcert": str(tmp_path / "absent"), "sslkey": str(tmp_path / "absent")}
    known = {"sslcert": pem["client_cert"], "sslkey": pem["client_key"]}
    strange = {"sslcert": pem["stranger"], "sslkey": str(tmp_path / "stranger.key")}
    for file in (pem["client_key"], strange["sslkey"]):
        Path(file).chmod(0o600)
    with PostgreSQL.start(tcp=True) as postgres, psycopg.connect(postgres.dsn, autocommit=True) as connection:
        encrypt(postgres, connection, pem)
        for user in users:
            connection.execute(f"create role {user} login password 'secret'")
        connection.execute("create database app")
        (postgres.directory / "data" / "pg_hba.conf").write_text(rules)
        (postgres.directory / "data" / "pg_ident.conf").write_text(names)
        connection.execute("select pg_reload_conf()")
        assert postgres.port is not None
        ports = (server.postgres[1], postgres.port)
        wait_until(lambda: certified(ports[1], "guest", none), "PostgreSQL's new rules")
        let_in = set()
        for user in users:
            for shown in (none, known):
                ours, theirs = (certified(port, user, shown) for port in ports)
                assert ours == theirs, (user, shown)
                let_in |= {user} if not ours else set()
            assert all(certified(port, user, strange) for port in ports), user
        assert let_in == {"client", "ada", "xien", "guest", "dora"}
        # In the clear no rule fits.
        assert refusal_at(ports[0], user="client", dbname="app") == refusal_at(ports[1], user="client", dbname="app")


def certified(port: int, user: str, shown: dict[str, str]) -> str:
    """What a server says instead of letting a client in that has shown, or not, a certificate."""
    where = {"host": "127.0.0.1", "port": str(port), "user": user, "password": "secret", "dbname": "app"}
    try:
        psycopg.connect(make_conninfo(sslmode="require", **where, **shown)).close()
    except psycopg.OperationalError as error:
        return str(error).partition("FATAL:")[2].splitlines()[0] if "FATAL:" in str(error) else "no TLS"
    return ""


def test_a_map_says_which_user_of_the_machine_is_whom(start: Start, tmp_path: Path) -> None:
    me = pwd.getpwuid(os.getuid()).pw_name
    path = tmp_path / "ident"
    path.write_text(f"os {me} ada\nos /^(.)(.*)$ \\1\n")
    with socket_directory() as directory:
        rules = write(tmp_path / "hba", "local all all peer map=os")
        server = start(*rules, "--ident", str(path), unix_dir=directory)
        place = {"host": directory, "port": socket_port(server), "dbname": "app"}
        for user in ("ada", me[0]):
            psycopg.connect(user=user, **place).close()  # type: ignore[arg-type]
        for user in (me, "bob"):
            with pytest.raises(psycopg.OperationalError, match=f'Peer authentication failed for user "{user}"'):
                psycopg.connect(user=user, **place)  # type: ignore[arg-type]
        path.write_text(f"os {me} bob\n")
        os.kill(server.pid, signal.SIGHUP)

        def bob_may() -> bool:
            try:
                psycopg.connect(user="bob", **place).close()  # type: ignore[arg-type]
            except psycopg.OperationalError:
                return False
            return True

        wait_until(bob_may, "the new map")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hostgssenc all all all trust", "GSSAPI"),
        ("host all all all ldap ldapserver=x", 'authentication method "ldap" is not supported'),
        ("host all all all cert", "cert authentication is only supported on hostssl connections"),
        ("local all all peer map=x", 'there is no user name map "x"'),
        ("hostssl all all all cert clientname=DN", '"clientname" with "DN" is not supported'),
        ("host all all 1.2.3.4/99 trust", "invalid CIDR mask"),
        ("", "no rule in it"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused_at_the_start(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "hba"
    path.write_text(f"\n{line}\n")
    command: list[str | Path] = [find_rowferry(), "serve", tmp_path / "app.db", "--postgres", ":0", "--hba", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and words in done.stderr
    assert not line or f"{path}:2:" in done.stderr


def test_certificates_are_asked_for_only_where_they_can_be_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "hba"
    path.write_text("hostssl all all all cert\n")
    serve: list[str | Path] = [find_rowferry(), "serve", tmp_path / "app.db", "--postgres", ":0"]
    pem = make_certificates(tmp_path)
    for options, words in (
        (["--hba", path, "--tls"], "--tls-client-ca"),
        (["--tls-client-ca", pem["ca"]], "--tls-client-ca: there is no TLS"),
        (["--tls", "--tls-client-ca", tmp_path / "absent"], "absent"),
        (["--tls", "--ident", path], "--hba"),
    ):
        done = subprocess.run([*serve, *options], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode != 0 and words in done.stderr, done.stderr
