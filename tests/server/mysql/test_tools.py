"""What tools with a page for a browser (phpMyAdmin, Adminer) ask for their pages, in our own words."""

from __future__ import annotations

import subprocess
from typing import Any

import pymysql
import pytest

from tests.servers.rowferry import Rowferry

from .test_drivers import place

#: The first page: who is there, what the server is, what databases it has.
FIRST = [
    "SELECT @@version, @@version_comment, @@lower_case_table_names",
    "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'",
    "SET collation_connection = 'utf8mb4_unicode_ci'",
    "SET lc_messages = 'en_US'",
    "SHOW SESSION VARIABLES LIKE 'character_set_server'",
    "SHOW GLOBAL VARIABLES LIKE 'innodb_file_per_table'",
    "SHOW STATUS LIKE 'Ssl_cipher'",
    "SELECT @@default_storage_engine, @@character_set_server, @@collation_server, @@collation_database",
    "SELECT CHARACTER_SET_NAME AS Charset, DEFAULT_COLLATE_NAME, MAXLEN FROM information_schema.CHARACTER_SETS",
    "SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME, ID, IS_DEFAULT FROM information_schema.COLLATIONS",
    "SHOW GRANTS",
    "SELECT 1 FROM mysql.user LIMIT 1",
    "SELECT 1 FROM (SELECT GRANTEE, IS_GRANTABLE FROM information_schema.COLUMN_PRIVILEGES UNION SELECT GRANTEE, "
    "IS_GRANTABLE FROM information_schema.TABLE_PRIVILEGES UNION SELECT GRANTEE, IS_GRANTABLE FROM "
    "information_schema.SCHEMA_PRIVILEGES UNION SELECT GRANTEE, IS_GRANTABLE FROM "
    "information_schema.USER_PRIVILEGES) t "
    "WHERE IS_GRANTABLE = 'YES' AND '''root''@''localhost''' LIKE GRANTEE LIMIT 1",
    "SHOW STORAGE ENGINES",
    "SHOW PLUGINS",
    "SHOW PROCESSLIST",
    "SHOW GLOBAL STATUS",
    "SHOW SESSION VARIABLES",
    "SHOW DATABASES",
    "SELECT COUNT(*) FROM (SELECT DISTINCT SUBSTRING_INDEX(SCHEMA_NAME, '_', 1) first "
    "FROM information_schema.SCHEMATA) t",
    "SELECT *, CAST(plain AS CHAR CHARACTER SET utf8) AS SCHEMA_NAME FROM (SELECT BINARY s.SCHEMA_NAME AS plain, "
    "s.DEFAULT_COLLATION_NAME, COUNT(t.TABLE_SCHEMA) AS tables, SUM(t.TABLE_ROWS) AS told, SUM(t.DATA_LENGTH + "
    "t.INDEX_LENGTH) AS size, SUM(IF(t.ENGINE <> 'InnoDB', t.DATA_FREE, 0)) AS free FROM information_schema.SCHEMATA s "
    "LEFT JOIN information_schema.TABLES t ON BINARY t.TABLE_SCHEMA = BINARY s.SCHEMA_NAME GROUP BY BINARY "
    "s.SCHEMA_NAME, s.DEFAULT_COLLATION_NAME ORDER BY size DESC LIMIT 0, 100) a",
]

#: The page of a database and that of a table.
PAGES = [
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN "
    "('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME LIMIT 250 OFFSET 0",
    "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA COLLATE utf8_bin = DATABASE()",
    "SELECT EVENT_NAME AS name FROM information_schema.EVENTS WHERE EVENT_SCHEMA COLLATE utf8_bin = DATABASE()",
    "SHOW FULL TABLES WHERE Table_type NOT IN ('BASE TABLE', 'SYSTEM VERSIONED')",
    "SHOW TABLE STATUS LIKE '{table}'",
    "SHOW TABLE STATUS WHERE Name IN ('{table}') AND Engine IS NOT NULL",
    "SHOW FULL COLUMNS FROM `{table}` LIKE 'price'",
    "SHOW INDEXES FROM `{table}` WHERE (Non_unique = 0)",
    "SHOW CREATE TABLE `{table}`",
    "SELECT *, COLUMN_NAME AS Field, COLUMN_TYPE AS Type FROM information_schema.COLUMNS WHERE TABLE_NAME = '{table}'",
    "SELECT TABLE_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME FROM information_schema.key_column_usage WHERE "
    "referenced_table_name IS NOT NULL AND TABLE_NAME IN ('{table}')",
    "SELECT TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS "
    "WHERE EVENT_OBJECT_TABLE COLLATE utf8_bin = '{table}'",
    "SHOW TRIGGERS LIKE '{table}'",
    "SHOW PROCEDURE STATUS WHERE Db = DATABASE()",
    "SHOW EVENTS",
    "SELECT * FROM `{table}` ORDER BY `{table}`.`price` ASC LIMIT 0, 25",
    "SELECT COUNT(*) FROM (SELECT 1 FROM `{table}` LIMIT 1000) AS counted",
    "SHOW COUNT(*) WARNINGS",
    "SELECT * FROM information_schema.PARTITIONS WHERE TABLE_NAME = '{table}'",
    "SHOW OPEN TABLES WHERE In_use > 0",
    "ALTER TABLE `{table}` CHANGE `note` `note` TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NULL "
    "COMMENT 'more'",
    "ALTER TABLE `{table}` ADD INDEX (`price`)",
    "ANALYZE TABLE `{table}`",
    "FLUSH TABLES",
]


@pytest.fixture
def cursor(server: Rowferry) -> Any:
    with pymysql.connect(**place(server), autocommit=True) as connection, connection.cursor() as cursor:
        yield cursor


@pytest.mark.parametrize("statement", FIRST)
def test_what_the_first_page_asks_is_answered(cursor: Any, statement: str) -> None:
    cursor.execute(statement)
    # Rights to pass on are asked for with LIMIT 1, and nobody has any here.
    assert bool(cursor.fetchall()) is not (statement.startswith("SET") or "IS_GRANTABLE = 'YES'" in statement)


@pytest.mark.parametrize("statement", PAGES)
def test_what_the_page_of_a_table_asks_is_answered(cursor: Any, table: str, statement: str) -> None:
    cursor.execute(
        f"CREATE TABLE {table} (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, price DECIMAL(8,2), note TEXT)"
    )
    cursor.execute(f"INSERT INTO {table} (price) VALUES (1.5)")
    cursor.execute(statement.replace("{table}", table))
    rows = cursor.fetchall()
    if "'{table}'" in statement or "`{table}`" in statement:
        nothing = any(word in statement for word in ("TRIGGERS", "referenced", "ALTER"))
        assert nothing or rows


#: What `mariadb-check` is told of a table, by its option.
CHECKS = {
    "--check": ["OK"],
    "--check-upgrade": ["OK"],
    "--analyze": ["OK"],
    "--optimize": [
        "",
        "note     : Table does not support optimize, doing recreate + analyze instead",
        "status   : OK",
    ],
    "--repair": ["", "note     : The storage engine for the table doesn't support repair"],
}


@pytest.mark.parametrize("option", CHECKS)
def test_mariadb_check_runs_through(server: Rowferry, cursor: Any, table: str, option: str) -> None:
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, a INT, KEY (a))")
    cursor.execute(f"INSERT INTO {table} VALUES (1, 1)")
    assert server.mysql is not None
    host, port = server.mysql
    command = ["mariadb-check", "--no-defaults", "-h", host, "-P", str(port), "--skip-ssl", "-u", "ada", option]
    done = subprocess.run([*command, server.dbname, table], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    first, *rest = done.stdout.removeprefix(f"{server.dbname}.{table}").splitlines()
    assert [first.strip(), *rest] == CHECKS[option]


def test_analyze_table_says_what_it_has_done(server: Rowferry, cursor: Any, table: str) -> None:
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    cursor.execute(f"ANALYZE TABLE {table}")
    assert cursor.fetchall() == ((f"{server.dbname}.{table}", "analyze", "status", "OK"),)
