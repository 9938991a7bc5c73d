"""Exceptions of the MySQL driver, and which class an error number means."""

from __future__ import annotations

from typing import NoReturn

from ..exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    PoolClosed,
    PoolTimeout,
    ProgrammingError,
    Warning,
)

__all__ = [
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "MySQLError",
    "NotSupportedError",
    "OperationalError",
    "PoolClosed",
    "PoolTimeout",
    "ProgrammingError",
    "UndecodableText",
    "Warning",
    "error_map",
    "raise_mysql_exception",
    "server_error",
    "undecodable",
]

MySQLError = Error


class UndecodableText(DataError, UnicodeDecodeError):
    """Text from the server that is none in the connection's character set. `object` has the bytes."""

    def __str__(self) -> str:
        return UnicodeDecodeError.__str__(self)


def undecodable(cause: UnicodeDecodeError) -> UndecodableText:
    """The driver's own error for what a codec refused."""
    return UndecodableText(*cause.args)


# Server error numbers by class, as PyMySQL and mysqlclient sort them (an unknown column is an OperationalError there),
# since programs catch them so (Django a number below zero in an unsigned column, 1690). What is not listed goes by its
# SQLSTATE.
_NUMBERS: dict[type[DatabaseError], str] = {
    DataError: "1171 1230 1263 1264 1265 1292 1366 1367 1406 1411 1416 1426 1441 3140",
    IntegrityError: "1022 1048 1062 1169 1215 1216 1217 1364 1451 1452 1557 1586 1761 1762 3819 4025",
    NotSupportedError: "1196 1235 1286 1289 1295",
    OperationalError: "1028 1040 1044 1045 1053 1095 1129 1130 1142 1143 1158 1159 1160 1161 1180 1203 1205 1213 1226"
    " 1227 1317 1690 1698 1836 1927 1969 3024 4031",
    ProgrammingError: "1007 1064 1102 1103 1110 1111 1112 1113 1146 1149 1166 1179 1210",
}
#: The class of each error number that has one of its own.
error_map: dict[int, type[DatabaseError]] = {
    int(number): cls for cls, numbers in _NUMBERS.items() for number in numbers.split()
}

_CLASS_OF_SQLSTATE: dict[str, type[DatabaseError]] = {
    "02": DataError,
    "08": OperationalError,
    "0A": NotSupportedError,
    "22": DataError,
    "23": IntegrityError,
    "25": OperationalError,
    "28": OperationalError,
    "40": OperationalError,
    "44": IntegrityError,
    "70": OperationalError,
    "XA": OperationalError,
}


def server_error(errno: int, sqlstate: str, message: str) -> Error:
    """The exception for an answer of the server; `args` are `(errno, message)`."""
    cls = error_map.get(errno) or _CLASS_OF_SQLSTATE.get(sqlstate[:2])
    if cls is None:
        cls = InternalError if errno < 1000 else OperationalError
    return cls(errno, message, errno=errno, sqlstate=sqlstate or None)


def raise_mysql_exception(data: bytes) -> NoReturn:
    """Raise the exception for an error packet, as PyMySQL's function of this name does."""
    errno = int.from_bytes(data[1:3], "little")
    sqlstate, message = (data[4:9], data[9:]) if data[3:4] == b"#" else (b"", data[3:])
    raise server_error(errno, sqlstate.decode("ascii", "replace"), message.decode("utf-8", "replace"))
