"""Numbers of an Excel file as Excel shows them: dates and times are numbers with a date format."""

import datetime
import re
from enum import Enum

MAX_FORMAT_CHARACTERS = 255
"""Excel's own limit."""
NUMBER_ERROR = "#NUM!"
DATE_ERROR = "#VALUE!"
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)
_MS_PER_DAY = 86_400_000
_MAX_WHOLE_NUMBER = 1e15
"""Beyond it Excel shows powers of ten."""
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NOT_SHOWN = re.compile(r'"[^"]*"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]', re.IGNORECASE)
_DATE_LETTER = re.compile(r"(?<![_\\])[dmhys]", re.IGNORECASE)
_DURATION = re.compile(r"\[(?:hh?|mm?|ss?)\]", re.IGNORECASE)


class NumberFormat(Enum):
    """How a number is shown."""

    PLAIN = "plain"
    DATE = "date"
    DURATION = "duration"


_DURATION_ID = 46
_DATE_IDS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""Excel's built-in formats, with those of East Asian editions."""


def built_in_format(format_id: int) -> NumberFormat:
    """Return what one of Excel's built-in formats shows."""
    if format_id == _DURATION_ID:
        return NumberFormat.DURATION
    return NumberFormat.DATE if format_id in _DATE_IDS else NumberFormat.PLAIN


def classify_format(code: str) -> NumberFormat:
    """Return what a format code, such as yyyy-mm-dd, shows."""
    shown = _NOT_SHOWN.sub("", code[:MAX_FORMAT_CHARACTERS].split(";")[0])
    if _DURATION.search(shown):
        return NumberFormat.DURATION
    return NumberFormat.DATE if _DATE_LETTER.search(shown) else NumberFormat.PLAIN


def show_number(spelled: str, number_format: NumberFormat, *, is_1904: bool) -> str:
    """Return a number as Excel shows it, or a formula error where it cannot be shown."""
    if number_format is NumberFormat.PLAIN and _WHOLE_NUMBER.fullmatch(spelled):
        return str(int(spelled))
    try:
        number = float(spelled)
        if not abs(number) < float("inf"):
            return NUMBER_ERROR
    except ValueError:
        return NUMBER_ERROR
    if number_format is NumberFormat.PLAIN:
        return str(int(number)) if number.is_integer() and abs(number) < _MAX_WHOLE_NUMBER else str(number)
    try:
        return _show_date(number, number_format, _EPOCH_1904 if is_1904 else _EPOCH)
    except (OverflowError, ValueError):
        return DATE_ERROR


def show_iso_date(spelled: str) -> str:
    """Return a date that is written as ISO 8601 as Excel shows it; anything else as it is."""
    try:
        return _show_datetime(datetime.datetime.fromisoformat(spelled))
    except ValueError:
        return spelled


def _show_date(number: float, number_format: NumberFormat, epoch: datetime.datetime) -> str:
    day, fraction = divmod(number, 1)
    time = datetime.timedelta(milliseconds=round(fraction * _MS_PER_DAY))
    if number_format is NumberFormat.DURATION:
        return str(datetime.timedelta(days=day) + time)
    if 0 <= number < 1 and not time.days:
        return str((datetime.datetime.min + time).time())
    if 0 < number < 60 and epoch is _EPOCH:
        day += 1  # Excel believes that there was a 29 February 1900
    return _show_datetime(epoch + datetime.timedelta(days=day) + time)


def _show_datetime(shown: datetime.datetime) -> str:
    if shown.time() == datetime.time.min:
        return shown.date().isoformat()
    return shown.replace(tzinfo=None).isoformat(" ", "minutes")
