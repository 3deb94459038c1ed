"""How the service logs: one event per line, and of an unexpected error its type and place, never its message."""

import json
import logging
import resource
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO
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


if TYPE_CHECKING:
    import asyncio

log = logging.getLogger("pabal")


def hide_error_messages() -> None:
    """Tell errors that nobody handles without their messages, also those of threads and finalizers."""
    sys.excepthook = _print_error
    threading.excepthook = _log_thread_error
    sys.unraisablehook = _log_unraisable_error


def disable_core_dumps() -> None:
    """Let a crash leave no copy of this process's memory, which has numbers, texts and passwords."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def log_loop_error(loop: "asyncio.AbstractEventLoop", context: dict[str, Any]) -> None:
    """Log an error of a task or callback that nobody awaits; asyncio itself would log its arguments too."""
    error = context.get("exception")
    log.error("unhandled error in the event loop", extra=_describe(error) if error else {})


def _print_error(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, where)
        return
    found = _describe(error.with_traceback(where))
    lines = [f"pabal: unexpected error {found['error']}; please report it with these lines:"]
    sys.stderr.write("\n  ".join([*lines, *found["at"]]) + "\n")


def _log_thread_error(args: threading.ExceptHookArgs) -> None:
    log.error("unhandled error in a thread", extra=_describe(args.exc_value) if args.exc_value else {})


def _log_unraisable_error(args: "sys.UnraisableHookArgs") -> None:
    log.error("unhandled error in a finalizer", extra=_describe(args.exc_value) if args.exc_value else {})


def _describe(error: BaseException) -> dict[str, Any]:
    from pabal.service.errors import describe_error  # only a crash needs it, and every command would wait for it

    return describe_error(error)
