"""A dump with views, checks and computed columns: out of the door, into it again and into MariaDB."""

from __future__ import annotations

import subprocess
from typing import Any

from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry

SCRIPT = r"""
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(20) DEFAULT 'x', b INT NOT NULL,
  c INT GENERATED ALWAYS AS (b * 2 + 1) STORED, d DECIMAL(10,4) AS (b / 3) VIRTUAL,
  e DATETIME DEFAULT '2024-01-02 03:04:05', f VARCHAR(40) DEFAULT (CONCAT('a', UPPER('b'))), g INT AS (b <=> 3) STORED,
  j JSON, CHECK (b > 0 AND a <> 'q'), CHECK (a LIKE 'x%' OR a IN ('a', 'b''c\\') OR a IS NULL)) COMMENT 'two\nlines';
CREATE TABLE u (id INT, t_id INT, txt VARCHAR(30), KEY (t_id), FOREIGN KEY (t_id) REFERENCES t (id));
INSERT INTO t (a, b, j) VALUES ('x1', 1, '{"k":1}'), ('x2', 2, '[1]'), (NULL, 3, NULL), ('a', 4, '{"k":[2]}'),
  ('b''c\\', 5, NULL);
INSERT INTO u VALUES (1, 1, 'one'), (2, 1, 'two'), (3, 3, 'three'), (4, NULL, 'four');
CREATE VIEW v1 AS SELECT *, id+1, CONCAT(a,'x') AS k, IF(b>1,'y',NULL) FROM t
  WHERE a LIKE 'x%' AND b IN (1,2,3) OR e > '2020-01-01' - INTERVAL 1 DAY ORDER BY b DESC LIMIT 30;
CREATE VIEW v2 (n, total, list) AS SELECT t.a, SUM(u.id), GROUP_CONCAT(u.txt ORDER BY u.id DESC SEPARATOR '; ')
  FROM t LEFT JOIN u ON u.t_id = t.id GROUP BY t.a HAVING COUNT(*) > 0;
CREATE VIEW v3 AS SELECT n, total FROM v2 WHERE total IS NOT NULL
  UNION ALL (SELECT a, b FROM t ORDER BY b DESC LIMIT 2);
CREATE VIEW v4 AS WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 5)
  SELECT n, ROW_NUMBER() OVER (ORDER BY n DESC) AS r,
    SUM(n) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) w FROM s ORDER BY n;
CREATE VIEW v5 AS SELECT id, CASE a WHEN 'x1' THEN 'first' ELSE 'other' END AS c,
  EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id) AS has, (SELECT COUNT(*) FROM u WHERE t_id = t.id) AS n,
  GREATEST(id, b, 3) g, TRIM(BOTH 'x' FROM a) tr, CAST(b AS CHAR) ch, DATE_ADD(e, INTERVAL 1 MONTH) m,
  EXTRACT(YEAR FROM e) y, b DIV 2 dv, b MOD 2 md, b | 4 bo, ~0 & 255 inv, a REGEXP '^x' re, a XOR b xo, NOT b nb,
  JSON_EXTRACT(j, '$.k') jk, TIMESTAMPDIFF(DAY, e, '2024-02-02') td, DATE_FORMAT(e, '%Y-%m') df, b BETWEEN 1 AND 3 bt,
  x'41' hx, 1e3 ex, -b ng, (b, id) = (1, 1) rw, id IN (SELECT t_id FROM u) sq, b >= ALL (SELECT id FROM u) al,
  'it''s\n"q" \\' str FROM t;
CREATE VIEW v6 AS SELECT d.x, d.y, u.txt FROM (SELECT a x, b y, id FROM t WHERE b > 1) d JOIN u ON u.id = d.id
  CROSS JOIN (SELECT 1 one) o WHERE d.y <> 4;
CREATE VIEW v7 AS SELECT id, b FROM t WHERE b > 1 WITH LOCAL CHECK OPTION;
ALTER TABLE t RENAME COLUMN f TO ff;
"""


def _client(options: list[str], script: str, database: str) -> str:
    command = ["mariadb", *options, "--default-character-set=utf8mb4", database]
    return subprocess.run(command, input=script, capture_output=True, text=True, check=True).stdout


def _rows(options: list[str], database: str, tables: list[str]) -> dict[str, str]:
    return {table: _client(options, f"SELECT * FROM {table}", database) for table in tables}


def _options(dsn: dict[str, Any]) -> list[str]:
    password = [f"--password={dsn['password']}"] if dsn["password"] else []
    return [f"--host={dsn['host']}", f"--port={dsn['port']}", f"--user={dsn['user']}", *password, "--skip-ssl"]


def test_a_dump_with_views_is_read_in_again_here_and_by_mariadb(server: Rowferry) -> None:
    assert server.mysql is not None
    host, port = server.mysql
    options = _options({"host": host, "port": port, "user": "ada", "password": ""})
    _client(options, "CREATE DATABASE dumped; CREATE DATABASE restored", "app")
    try:
        _client(options, SCRIPT, "dumped")
        dump = ["mariadb-dump", *options, "--no-tablespaces", "dumped"]
        dumped = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
        tables = _client(options, "SHOW TABLES", "dumped").split()[1:]
        rows = _rows(options, "dumped", tables)
        assert len(rows) == 9
        assert all(len(text.splitlines()) > 2 for text in rows.values()), rows
        _client(options, dumped, "restored")
        assert _rows(options, "restored", tables) == rows
        with MariaDB.start() as real:
            theirs = _options(real.dsn)
            # MariaDB 10.11 has no collation of that name.
            _client(theirs, dumped.replace("utf8mb4_0900_ai_ci", "utf8mb4_unicode_ci"), real.database)
            assert _rows(theirs, real.database, tables) == rows
    finally:
        _client(options, "DROP DATABASE restored; DROP DATABASE dumped", "app")
