"""What a check of `pabal doctor` has found."""

from typing import NamedTuple


class Finding(NamedTuple):
    """The result of one check."""

    is_ok: bool
    message: str
    remedy: str = ""
