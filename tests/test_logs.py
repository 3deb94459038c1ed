"""Log lines: one an event, for people or for machines."""

import io
import json
import logging
from zoneinfo import ZoneInfo

from pabal import logs
from tests.fixtures.logging_setup import restore_logging

__all__ = ["restore_logging"]

SEOUL = ZoneInfo("Asia/Seoul")


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def lines(kind: str, stream: io.StringIO | None = None) -> list[str]:
    """Set up, log two events, and return what was written."""
    stream = stream or io.StringIO()
    logs.configure_logging(kind, SEOUL, stream)
    log = logging.getLogger("pabal.test")
    log.info("a carrier gave no answer", extra={"carrier": "post", "messages": 3})
    log.warning("%s of %s", 1, 2)
    return stream.getvalue().splitlines()


def test_as_text_a_line_has_time_level_event_and_fields() -> None:
    first, second = lines("text")

    time, level, event = first.split(maxsplit=2)
    assert time.endswith("+09:00")
    assert "T" in time
    assert (level, event) == ("info", "a carrier gave no answer carrier=post messages=3")
    assert second.endswith("warning 1 of 2")


def test_as_json_a_line_is_an_object_with_the_fields_beside_the_event() -> None:
    first, second = (json.loads(line) for line in lines("json"))

    time = first.pop("time")
    assert time.endswith("+09:00")
    assert first == {
        "level": "info",
        "event": "a carrier gave no answer",
        "from": "pabal.test",
        "carrier": "post",
        "messages": 3,
    }
    assert (second["level"], second["event"]) == ("warning", "1 of 2")


def test_auto_is_text_on_a_terminal_and_json_elsewhere() -> None:
    assert lines("auto")[0].startswith("{")
    assert not lines("auto", Terminal())[0].startswith("{")
    assert lines("json", Terminal())[0].startswith("{")


def test_korean_stays_readable_and_other_objects_become_text() -> None:
    stream = io.StringIO()
    logs.configure_logging("json", SEOUL, stream)

    logging.getLogger("pabal").info("안녕", extra={"zone": SEOUL})

    assert "안녕" in stream.getvalue()
    assert json.loads(stream.getvalue())["zone"] == "Asia/Seoul"


def test_libraries_log_warnings_and_we_log_info() -> None:
    stream = io.StringIO()
    logs.configure_logging("text", SEOUL, stream)

    logging.getLogger("asyncio").info("chatter")
    logging.getLogger("asyncio").warning("trouble")
    logging.getLogger("pabal").debug("detail")
    logging.getLogger("pabal").info("news")

    written = stream.getvalue()
    assert "chatter" not in written
    assert "detail" not in written
    assert "trouble" in written
    assert "news" in written


def test_configuring_twice_does_not_log_twice() -> None:
    stream = io.StringIO()
    logs.configure_logging("text", SEOUL, stream)
    logs.configure_logging("text", SEOUL, stream)

    logging.getLogger("pabal").info("once")

    assert stream.getvalue().count("once") == 1
