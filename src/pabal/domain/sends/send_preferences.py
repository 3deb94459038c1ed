"""How the users of an account send in the console, as its owners have chosen."""

from typing import NamedTuple

MAX_APPROVAL_RECEIVERS = 1_000_000_000


class SendPreferences(NamedTuple):
    """The choices of an account; the API is not affected by them."""

    upgrades_to_lms: bool = False
    """Whether a text that is too long for an SMS becomes an LMS by itself, which is shown before it is sent."""
    fallback_number: str = ""
    """The sender number of the fallback that an Alimtalk has by default; empty: none."""
    approval_receivers: int = 0
    """Sends to more receivers than this need the approval of a second user; 0: none do."""


NO_PREFERENCES = SendPreferences()


def approval_threshold(own: int, operators: int) -> int:
    """Return above how many receivers approval is needed: the lower of the two that are set; 0: never."""
    return min((each for each in (own, operators) if each), default=0)
