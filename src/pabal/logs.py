"""Log format: one event per line, as text on a terminal and as JSON elsewhere."""

import json
import logging
import sys
from typing import Any, TextIO
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.dates import Instant

_STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _LineFormatter(logging.Formatter):
    """Formats a record with its extra fields."""

    def __init__(self, zone: ZoneInfo, is_json: bool) -> None:
        super().__init__()
        self._zone = zone
        self._is_json = is_json

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS
        }
        at = dates.format_iso(Instant(record.created * 1000), self._zone)
        if self._is_json:
            head = {
                "time": at,
                "level": record.levelname.lower(),
                "event": record.getMessage(),
                "from": record.name,
            }
            return json.dumps({**head, **fields}, ensure_ascii=False, default=str)
        tail = "".join(f" {name}={value}" for name, value in fields.items())
        return f"{at} {record.levelname.lower():7} {record.getMessage()}{tail}"


def configure_logging(line_format: str, zone: ZoneInfo, stream: TextIO | None = None) -> None:
    """Log to `stream`, by default stderr, as `text`, as `json`, or `auto`: text if it is a terminal, else JSON."""
    stream = stream or sys.stderr
    is_json = line_format == "json" or (line_format == "auto" and not stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_LineFormatter(zone, is_json))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("pabal").setLevel(logging.INFO)
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it warns of every malformed form that is sent
