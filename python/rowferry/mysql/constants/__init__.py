"""Numbers of the protocol, by the names that PyMySQL gives them."""

from . import CLIENT, CR, ER, FIELD_TYPE, FLAG, SERVER_STATUS

__all__ = ["CLIENT", "CR", "ER", "FIELD_TYPE", "FLAG", "SERVER_STATUS"]
