"""Keeps personal data out of what an unexpected error leaves: its type and place are told, never its message."""

import logging
import resource
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

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
