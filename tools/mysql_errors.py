"""Make the table of MySQL's and MariaDB's error numbers: `rowferry.mysql.constants.ER`.

    python tools/mysql_errors.py MYSQLD_ERROR_H MYSQL_ERRORS

The first is MariaDB's header (Debian package libmariadb-dev). The second is a file with `number<TAB>name` of each
error of a MySQL server, as this prints it:

    mysql -N -e "SELECT error_number, error_name FROM performance_schema.events_errors_summary_global_by_error
                 WHERE error_number < 10000"
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CONSTANTS = Path(__file__).resolve().parents[1] / "python/rowferry/mysql/constants"

HEADER = """\
# Made by tools/mysql_errors.py: change that file instead.
"""


def defined(header: Path) -> dict[str, int]:
    """Names and numbers that a header defines, without the prefix `ER_`."""
    found = re.findall(r"^#define\s+(ER_\w+)\s+(\d+)", header.read_text(), re.MULTILINE)
    return {name.removeprefix("ER_"): int(number) for name, number in found}


def write(path: Path, docstring: str, numbers: dict[str, int]) -> None:
    lines = [f"{name} = {number}" for name, number in sorted(numbers.items(), key=lambda pair: (pair[1], pair[0]))]
    path.write_text(f'{HEADER}"""{docstring}"""\n\n' + "\n".join(lines) + "\n")
    print(f"wrote {path.name}: {len(lines)} names")


def main() -> int:
    header, listing = (Path(argument) for argument in sys.argv[1:3])
    numbers = defined(header)
    for line in listing.read_text().splitlines():
        number, name = line.split("\t")
        # Where both have a name, MySQL's number counts: MariaDB's went their own way at 1900 and 4000.
        numbers[name.removeprefix("ER_")] = int(number)
    left_out = ("ERROR_FIRST", "ERROR_LAST", "UNUSED", "OBSOLETE")
    numbers = {name: number for name, number in numbers.items() if not name.startswith(left_out)}
    write(CONSTANTS / "ER.py", "Error numbers of the server, MySQL's and MariaDB's, without `ER_` in front.", numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
