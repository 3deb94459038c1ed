"""The number for opting out of advertising, as it is written in the settings."""

from pabal.domain import phone
from pabal.domain.codes import Refused
from pabal.settings.field import BadSetting


def read_opt_out_number(spelling: str) -> str:
    """Return the digits of the number; empty: there is none.

    Raises BadSetting.
    """
    try:
        return phone.parse_opt_out(spelling) if spelling else ""
    except Refused:
        raise BadSetting(f"opt_out_number: {spelling!r} is not a number such as 080-123-4567") from None
