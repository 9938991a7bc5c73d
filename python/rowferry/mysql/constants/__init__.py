"""Numbers of the protocol, by the names that PyMySQL gives them."""

from . import CLIENT, COMMAND, CR, ER, FIELD_TYPE, FLAG, SERVER_STATUS

__all__ = ["CLIENT", "COMMAND", "CR", "ER", "FIELD_TYPE", "FLAG", "SERVER_STATUS"]
