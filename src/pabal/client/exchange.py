"""One call without its transport: the request, what its answer leads to, and which page of a list follows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from pabal import __version__
from pabal.client.errors import ApiError, NoAnswerError, PabalError, RateLimitedError, TemporaryError, error_of
from pabal.domain.base.codes import Code
from pabal.models.answers import Envelope, MessagesAnswer, PagedEnvelope
from pabal.models.bodies import MAX_PAGE_SIZE, ListMessages
from pabal.models.operations import Operation
from pabal.world import World, random_hex

if TYPE_CHECKING:
    import httpx

A = TypeVar("A", bound=Envelope)

KEY_DIGITS = 32
"""Length of an idempotency key: 128 random bits."""
JITTER = 0.2
"""By how much a delay may differ from the usual one."""
_GATEWAY_STATUSES = (502, 503, 504)
"""Statuses of a proxy whose service is away."""


class Retries(NamedTuple):
    """How often a call is tried, and how long the client waits in between.

    The delay doubles from one try to the next. Where the service says how long to wait, that is waited; if it is
    longer than `max_delay_s`, the refusal is raised at once.
    """

    attempts: int = 5
    first_delay_s: float = 0.5
    max_delay_s: float = 30.0


USUAL_RETRIES = Retries()
NO_RETRIES = Retries(attempts=1)


class CallSettings(NamedTuple):
    """What one call has besides its body."""

    idempotency_key: str | None = None
    dry_run: bool = False


NO_SETTINGS = CallSettings()


class Exchange(Generic[A]):
    """A call that is tried until it succeeds, is refused, or may not be repeated."""

    def __init__(
        self,
        operation: Operation[A],
        body: msgspec.Struct,
        settings: CallSettings,
        retries: Retries,
        world: World,
    ) -> None:
        self._operation = operation
        self._retries = retries
        self._world = world
        self._attempt = 0
        headers: dict[str, str] = {}
        if operation.is_send:
            key = settings.idempotency_key or random_hex(world, KEY_DIGITS)
            headers = {"Dry-Run": "true"} if settings.dry_run else {"Idempotency-Key": key}
        self.request: dict[str, Any] = {"method": operation.method, "url": operation.path, "headers": headers}
        """The arguments of `httpx.Client.request`: the same bytes at every try."""
        if operation.method == "GET":
            self.request["params"] = msgspec.to_builtins(body)
        else:
            headers["Content-Type"] = "application/json"
            self.request["content"] = msgspec.json.encode(body)

    def read_answer(self, response: "httpx.Response") -> A | float:
        """Return the answer, or the seconds to wait before the next try.

        Raises ApiError, NoAnswerError.
        """
        answer, envelope = _decode(self._operation.answer, response.content)
        x_request_id = response.headers.get("x-request-id", "")
        if answer is not None and answer.result == Code.SUCCESS.name:
            vars(answer)["x_request_id"] = x_request_id
            return answer
        if envelope is None or envelope.result == Code.SUCCESS.name:
            message = f"the answer cannot be read (HTTP {response.status_code})"
            is_away = response.status_code in _GATEWAY_STATUSES
            return self._delay_or_raise(
                NoAnswerError(message, was_sent=True, x_request_id=x_request_id),
                can_repeat=is_away and self._operation.is_repeatable,
            )
        error = error_of(envelope, response.status_code, _retry_after(response), x_request_id)
        is_temporary = isinstance(error, TemporaryError) and self._operation.is_repeatable
        return self._delay_or_raise(error, can_repeat=is_temporary or isinstance(error, RateLimitedError))

    def read_failure(self, failure: "httpx.RequestError") -> float:
        """Return the seconds to wait before the next try.

        Raises NoAnswerError.
        """
        import httpx  # which takes longer than to start a command that makes no call

        unsent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
        was_sent = not isinstance(failure, unsent)
        error = NoAnswerError(f"{type(failure).__name__}: {failure}", was_sent=was_sent)
        can_repeat = not was_sent or self._operation.is_repeatable
        return self._delay_or_raise(
            error, can_repeat=can_repeat and not isinstance(failure, httpx.UnsupportedProtocol)
        )

    def _delay_or_raise(self, error: PabalError, *, can_repeat: bool) -> float:
        self._attempt += 1
        if not can_repeat or self._attempt >= self._retries.attempts:
            raise error
        asked_s = error.retry_after_s if isinstance(error, ApiError) else None
        if asked_s is not None and asked_s > self._retries.max_delay_s:
            raise error
        usual_s = min(self._retries.first_delay_s * 2.0 ** (self._attempt - 1), self._retries.max_delay_s)
        varied_s = usual_s * (1 + JITTER * (2 * self._world.random() - 1))
        return max(varied_s, asked_s or 0.0)


def client_options(api_key: str, base_url: str, locale: str, timeout_s: float) -> dict[str, Any]:
    """Return the arguments of `httpx.Client` and `httpx.AsyncClient`."""
    return {
        "base_url": base_url,
        "timeout": timeout_s,
        "headers": {"apiKey": api_key, "Accept-Language": locale, "User-Agent": f"pabal-python/{__version__}"},
    }


def _decode(kind: type[A], content: bytes) -> tuple[A | None, Envelope | None]:
    """Return the answer if it is one, and its envelope if it has one."""
    try:
        answer = msgspec.json.decode(content, type=kind)
        return answer, answer
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # perhaps a refusal, which has the envelope only
    try:
        return None, msgspec.json.decode(content, type=Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None, None


def _retry_after(response: "httpx.Response") -> float | None:
    given = response.headers.get("retry-after", "")
    return float(given) if given.isascii() and given.isdigit() else None


B = TypeVar("B", bound=msgspec.Struct)
T_co = TypeVar("T_co", covariant=True)


class ItemsPage(Protocol[T_co]):
    """An answer with items."""

    @property
    def items(self) -> Sequence[T_co]:
        """The items of this page."""


def first_page(body: B) -> B:
    """Return the body that asks for the first page: a large one, unless the caller has chosen its size."""
    sizes = {each.name: each.default for each in msgspec.structs.fields(body) if each.name == "pageSize"}
    if sizes and getattr(body, "pageSize") == sizes["pageSize"]:  # noqa: B009 - only some bodies have it
        return msgspec.structs.replace(body, pageSize=MAX_PAGE_SIZE)
    return body


def next_page(body: B, answer: Any) -> B | None:
    """Return the body that asks for the page after an answer; None if that was the last one.

    Messages without a receiver, results and inbound messages follow a cursor, others are numbered.
    """
    changes = _follow_number(body, answer) if isinstance(answer, PagedEnvelope) else _follow_position(answer)
    return msgspec.structs.replace(body, **changes) if changes else None


def _follow_number(body: Any, answer: Any) -> dict[str, Any]:
    is_capped = False
    if isinstance(answer, MessagesAnswer):
        if answer.nextCursor:
            return {"cursor": answer.nextCursor}
        if isinstance(body, ListMessages) and not (body.receivers or body.receiver):
            return {}
        is_capped = bool(answer.totalCountIsCapped)
    if not answer.items or (answer.currentPage >= answer.pageCount and not is_capped):
        return {}
    return {"page": answer.currentPage + 1}


def _follow_position(answer: Any) -> dict[str, Any]:
    return {"cursor": answer.item.nextCursor} if answer.items else {}
