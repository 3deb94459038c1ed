"""What commands share that call a running service: options, client, errors and exit statuses."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from enum import IntEnum
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET

from pabal.cli.shared.language import CommandError, choose
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import printable
from pabal.client import ApiError, NoAnswerError, Retries
from pabal.client.errors import TemporaryError
from pabal.client.exchange import USUAL_RETRIES
from pabal.domain.base.codes import Code, Text, TextError
from pabal.models.answers import Envelope, WarningItem
from pabal.settings.client_settings import ClientSettings, load_client
from pabal.settings.environment import choose_language

if TYPE_CHECKING:
    from pabal.client import Client

MAX_PROBLEMS = 20
"""Problems of a refusal that are printed."""
MAX_COUNT = 1_000_000
"""Largest number that an option takes."""
SERVICE_RETRY_DELAY_S = 5.0
"""How long a command that goes on waits for a service that does not answer."""
_OPTIONS = {"url": "url", "api_key": "key", "mcp_max_receivers": "max_receivers"}
"""The options that win over settings."""
FEW_RETRIES = Retries(attempts=3)
"""For commands that somebody waits for."""
_NO_KEY = Text(
    "API 키가 없습니다. --key나 환경 변수 PABAL_API_KEY로 주세요.",
    "there is no API key; give it with --key or in the variable PABAL_API_KEY",
)
_NO_ANSWER = Text(
    "{url}의 서비스가 응답하지 않습니다({reason}). 주소를 확인하세요: --url이나 환경 변수 PABAL_URL",
    "the service at {url} does not answer ({reason}); check the address: --url or the variable PABAL_URL",
)
_MAYBE_SENT = Text(
    "요청을 보냈으나 응답을 받지 못했습니다. 처리되었을 수 있습니다.",
    "The request was transmitted, and may have been carried out.",
)


class ExitStatus(IntEnum):
    """The exit statuses of commands; docs/how-to/command-line.md explains them."""

    DONE = 0
    REFUSED = 1
    WRONG_USE = 2
    INCOMPLETE = 3
    NO_ANSWER = 4
    NOT_DELIVERED = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class Call(NamedTuple):
    """A command that runs: its arguments, the client of the service, and the language of the user."""

    given: argparse.Namespace
    client: "Client"
    settings: ClientSettings
    language: str

    @property
    def url(self) -> str:
        """The address of the service."""
        return self.settings.url

    def t(self, text: Text, **values: object) -> str:
        """Return a text in the language of the user, with values filled in."""
        return text.in_language(self.language).format(**values)

    def report(self, text: Text, **values: object) -> None:
        """Print a line for people, apart from the output."""
        report_line(self.t(text, **values))


def add_call_options(
    parser: CommandParser,
    run: Callable[[Call], int],
    *,
    needs_key: bool = True,
    has_json: bool = True,
    flags: Mapping[str, str] | None = None,
) -> None:
    """Add the options of a command that calls a running service; `flags` are those that set fields of its body."""
    parser.add_option(
        "--url",
        "서비스의 주소(기본값: PABAL_URL, 없으면 http://127.0.0.1:8080)",
        "address of the service (default: PABAL_URL, else http://127.0.0.1:8080)",
    )
    if needs_key:
        parser.add_option(
            "--key",
            "API 키(기본값: PABAL_API_KEY. 환경 변수는 다른 사용자가 볼 수 없습니다)",
            "API key (default: PABAL_API_KEY, which other users of a machine cannot see)",
        )
    parser.add_config_option()
    if has_json:
        parser.add_json_flag()
    parser.set_defaults(run_call=run, needs_key=needs_key, flags=flags or {})


def parse_count(given: str, most: int = MAX_COUNT) -> int:
    """Return a number from 1 to `most` that was given as an argument."""
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= most):
        raise argparse.ArgumentTypeError(
            choose(f"1부터 {most:,}까지의 수여야 합니다", f"must be a number from 1 to {most:,}")
        )
    return int(given)


def run_call(given: argparse.Namespace) -> int:
    """Run a command that calls a running service, and return its exit status."""
    import httpx  # which takes longer than to start a command that makes no call

    from pabal.client import Client

    language = choose_language()
    try:
        options = {name: getattr(given, option, None) for name, option in _OPTIONS.items()}
        settings = load_client(file=given.config, **options)
        if given.needs_key and not settings.api_key:
            raise CommandError(*_NO_KEY)
        retries = USUAL_RETRIES if getattr(given, "csv", None) else FEW_RETRIES
        with Client(settings.url, settings.api_key, locale=language, retries=retries) as client:
            status: int = given.run_call(Call(given, client, settings, language))
            sys.stdout.flush()
            return status
    except TextError as error:
        report_line(f"pabal: {error.text.in_language(language)}")
        return ExitStatus.WRONG_USE
    except httpx.InvalidURL as error:
        report_line(f"pabal: {error}")
        return ExitStatus.WRONG_USE
    except ApiError as error:
        report_refusal(error, language, given.flags)
        return status_of(error)
    except NoAnswerError as error:
        first, *others = describe_silence(error, settings.url, language)
        for line in (f"pabal: {first}", *others):
            report_line(line)
        return ExitStatus.NO_ANSWER
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.BROKEN_PIPE
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED


def status_of(error: ApiError) -> ExitStatus:
    """Return the exit status for a refusal."""
    return ExitStatus.NO_ANSWER if isinstance(error, TemporaryError) else ExitStatus.REFUSED


def report_refusal(error: ApiError, language: str, flags: Mapping[str, str]) -> None:
    """Print why the service refused a call, and what to do."""
    first, *others = describe_refusal(error, language, flags)
    report_line(f"pabal: {first}")
    for each in others:
        report_line(f"  {each}")


def describe_refusal(error: ApiError, language: str, flags: Mapping[str, str] | None = None) -> list[str]:
    """Return why the service refused a call and what to do, then the first problems of its fields.

    A field that an option of the command sets is named by that option.
    """
    message = error.message
    for each in error.errors:
        message = message.replace(f"({each.field})", f"({_name_field(each.field, flags)})")
    known = Code.__members__.get(error.result)
    has_advice = known and known.text.in_language(language) != error.message.partition(" (")[0]
    remedy = f" {known.remedy.in_language(language)}" if known and not has_advice else ""
    lines = [f"{error.result}: {message}{remedy}"]
    if len(error.errors) > 1:
        lines += [f"{_name_field(each.field, flags)}: {each.message}" for each in error.errors[:MAX_PROBLEMS]]
        lines += ["…"] if len(error.errors) > MAX_PROBLEMS else []
    if error.x_request_id and isinstance(error, TemporaryError):
        lines.append(f"X-Request-Id: {error.x_request_id}")
    return lines


def _name_field(field: str, flags: Mapping[str, str] | None) -> str:
    outermost = field.partition(".")[0].partition("[")[0]
    return (flags or {}).get(outermost, field)


def describe_silence(error: NoAnswerError, url: str, language: str) -> list[str]:
    """Return why there was no answer and what to check, then whether the call may have been carried out."""
    return [
        _NO_ANSWER.in_language(language).format(url=url, reason=error),
        *([_MAYBE_SENT.in_language(language)] if error.was_sent else []),
    ]


def list_warnings(answer: Envelope) -> list[WarningItem]:
    """Return what the service warns of."""
    return [] if answer.warnings is UNSET else answer.warnings


def wait_for_service(call: Call, error: ApiError | NoAnswerError) -> None:
    """Say why the service did not answer a command that goes on, and wait a while.

    Raises ApiError for what does not pass by itself.
    """
    if isinstance(error, ApiError) and not isinstance(error, TemporaryError):
        raise error
    call.report(_NO_ANSWER, url=call.url, reason=error)
    Event().wait(SERVICE_RETRY_DELAY_S)


def report_line(line: str) -> None:
    """Print a line to standard error."""
    print(" ".join(map(printable, line.splitlines())), file=sys.stderr)
