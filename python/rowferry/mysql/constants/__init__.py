"""Numbers of the protocol, by the names that PyMySQL gives them."""

from typing import TYPE_CHECKING

from ..._base.later import later
from . import CLIENT, COMMAND, CR, FIELD_TYPE, FLAG, SERVER_STATUS

if TYPE_CHECKING:
    from . import ER
else:
    # Thousands of names.
    __getattr__ = later(__name__, {}, ("ER",))

__all__ = ["CLIENT", "COMMAND", "CR", "ER", "FIELD_TYPE", "FLAG", "SERVER_STATUS"]
