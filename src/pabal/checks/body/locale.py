"""The language of an answer and the time zone of its dates."""

from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.codes import LANGUAGES
from pabal.domain.base.dates import Instant

MAX_HEADER_BYTES = 200
"""What follows in an Accept-Language header is ignored."""


class Locale(NamedTuple):
    """Language and time zone of an answer."""

    language: str
    zone: ZoneInfo

    def format_timestamp(self, at: Instant) -> str:
        """Return an instant as `yyyy-MM-dd HH:mm:ss`."""
        return dates.format_timestamp(at, self.zone)


DEFAULT_LOCALE = Locale(LANGUAGES[0], ZoneInfo("Asia/Seoul"))
"""For requests that could not be parsed."""


def choose_language(accept_language: bytes) -> str:
    """Return the supported language that an Accept-Language header prefers; Korean by default."""
    return _choose_language(accept_language[:MAX_HEADER_BYTES]) if accept_language else LANGUAGES[0]


@lru_cache(maxsize=256)
def _choose_language(accept_language: bytes) -> str:
    best, weight = LANGUAGES[0], 0.0
    for part in accept_language.decode("latin-1").lower().split(","):
        tag, _, parameter = part.partition(";")
        language = tag.strip().split("-")[0]
        given = _parse_weight(parameter)
        if language in LANGUAGES and given > weight:
            best, weight = language, given
    return best


def _parse_weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
