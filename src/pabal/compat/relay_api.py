"""What the endpoints of all relays share: finds the route of a call, admits its key, reads its body, answers."""

import logging
import math
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl

import msgspec

from pabal.checks.body.locale import Locale
from pabal.compat.differences import CallDifference, note
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import Instant
from pabal.service.access.accounts.compat_keys import CompatKeyCache
from pabal.service.access.accounts.rate_limits import BodyBudget
from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.store.accounts.accounts import ApiKey
from pabal.store.engine.base import StoreUnavailable
from pabal.web.http.exchange import ClientDisconnected, HttpResponse, ReceivedRequest, read_body
from pabal.web.http.guard import ApiGuard

MAX_QUERY_FIELDS = 100
RETRY_AFTER_UNAVAILABLE_S = 1.0
MAX_NOTED_PARTS = 6
"""Parts of an unknown path that are noted; ids among them are not, nor what is as long as a secret one."""
_PATH_WORD = re.compile(r"[a-z][a-zA-Z-]{0,21}|v[0-9](\.[0-9])?", re.ASCII)
SUCCESS = "SUCCESS"
"""The result of an answered call in the metrics."""

log = logging.getLogger("pabal.compat")
P = TypeVar("P")
Handler = Callable[..., Awaitable[dict[str, Any]]]


class CallRefused(Exception):
    """An error answer: an HTTP status, and the code and message of the relay."""

    def __init__(self, status: int, code: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


class Route(NamedTuple):
    """An endpoint: its method, the parts of its path, what answers it, and the scope that its keys need."""

    method: str
    pattern: tuple[str, ...]
    """`*` stands for an id, which is never empty."""
    handler: Handler
    scope: str
    name: str
    """What it is counted as."""


def route(method: str, path: str, handler: Handler, scope: str) -> Route:
    """Return the route of a path."""
    return Route(method, tuple(path.split("/")), handler, scope, f"{method} {path}")


class RouteTable:
    """Finds the route of a path."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._without_ids = {each.name: each for each in routes if "*" not in each.pattern}
        self._routes: dict[tuple[str, int], list[Route]] = defaultdict(list)
        for each in routes:
            self._routes[each.method, len(each.pattern)].append(each)

    def find(self, method: str, path: str) -> tuple[Route, list[str]] | None:
        """Return the route of a path, and the ids in it."""
        found = self._without_ids.get(f"{method} {path}")
        if found:
            return found, []
        parts = path.split("/")
        for each in self._routes.get((method, len(parts)), ()):
            pairs = list(zip(parts, each.pattern, strict=True))
            if all(part == wanted or (wanted == "*" and part) for part, wanted in pairs):
                return each, [part for part, wanted in pairs if wanted == "*"]
        return None


class AdmittedKey(NamedTuple):
    """The key of a call, and what proved that its caller has it."""

    key: ApiKey
    proof: str


class ReceivedCall(NamedTuple, Generic[P]):
    """A call whose key is admitted, with its body."""

    request: ReceivedRequest
    place: P
    admitted: AdmittedKey
    raw: bytes
    now: Instant


class RelayApi(ABC, Generic[P]):
    """Answers the calls of programs that were written for one relay, whose paths say where a call goes (P)."""

    prefix: ClassVar[str]
    roots: ClassVar[tuple[str, ...]]
    """Where the relay's paths begin, at a host name that is given to them."""

    def __init__(
        self,
        context: Context,
        guard: ApiGuard,
        keys: CompatKeyCache,
        bodies: BodyBudget,
        hosts: Sequence[str],
        max_body_bytes: int,
    ) -> None:
        self.context = context
        self.keys = keys
        self._guard = guard
        self._bodies = bodies
        self._hosts = frozenset(hosts)
        self._max_body_bytes = max_body_bytes
        self.locale = Locale("ko", context.policy.zone)
        self.is_stopping = False

    @abstractmethod
    def find_place(self, path: str) -> P:
        """Return where a path leads.

        Raises CallRefused.
        """

    @abstractmethod
    def find_route(self, method: str, place: P) -> tuple[Route, list[str]]:
        """Return the route of a call, and the ids in its path.

        Raises CallRefused.
        """

    @abstractmethod
    async def authenticate(self, request: ReceivedRequest, place: P) -> AdmittedKey:
        """Return the key of a call.

        Raises CallRefused, Refused.
        """

    @abstractmethod
    async def answer(self, received: ReceivedCall[P], found: Route, ids: Sequence[str]) -> dict[str, Any]:
        """Return the answer to a call.

        Raises CallRefused, Refused.
        """

    @abstractmethod
    def from_refusal(self, refused: Refused, request: ReceivedRequest) -> CallRefused:
        """Return the relay's error for a refusal of ours."""

    @abstractmethod
    def describe(self, error: CallRefused) -> dict[str, Any]:
        """Return the body of an error."""

    def serves(self, request: ReceivedRequest) -> bool:
        """Tell whether a request is for the relay: by its path, or by its host name and path."""
        if request.path.startswith(f"{self.prefix}/"):
            return True
        return (
            bool(self._hosts)
            and request.path.startswith(self.roots)
            and self._guard.host_of(request) in self._hosts
        )

    async def respond(self, request: ReceivedRequest) -> HttpResponse:
        """Answer a call.

        Raises ClientDisconnected.
        """
        try:
            answer = await self._answer(request)
        except ClientDisconnected:
            raise
        except Exception as error:
            return self._refuse(self._refusal_of(error, request))
        return self._respond(200, answer, SUCCESS)

    def _refusal_of(self, error: Exception, request: ReceivedRequest) -> CallRefused:
        """Return the error that tells what has happened."""
        if isinstance(error, CallRefused):
            return error
        if isinstance(error, Refused):
            return self.from_refusal(error, request)
        if isinstance(error, StoreUnavailable):
            return self.from_refusal(_unavailable(), request)
        if isinstance(error, RecursionError):  # parts that are read as they come are nested too deeply
            return self.from_refusal(Refused(Code.INVALID_JSON), request)
        log.error("unhandled error", extra={"path": self.prefix, **describe_error(error)})
        return self.from_refusal(Refused(Code.INTERNAL_ERROR), request)

    def _refuse(self, error: CallRefused) -> HttpResponse:
        lines = []
        if error.retry_after_s is not None:
            lines.append((b"retry-after", b"%d" % max(1, math.ceil(error.retry_after_s))))
        return self._respond(error.status, self.describe(error), error.code, lines)

    def _respond(
        self, status: int, answer: dict[str, Any], result: str, extra: Sequence[tuple[bytes, bytes]] = ()
    ) -> HttpResponse:
        self.context.metrics.http_requests.add(1, self.prefix, result)
        body = msgspec.json.encode(answer)
        lines = [(b"content-type", b"application/json; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        return HttpResponse(status, [*lines, *extra], body)

    async def _answer(self, request: ReceivedRequest) -> dict[str, Any]:
        path = self.path_of(request)
        if self.is_stopping:
            raise _unavailable()
        place = self.find_place(path)
        try:
            found, ids = self.find_route(request.method, place)
        except CallRefused:
            await self._note_unknown(request, place, path)
            raise
        admitted = await self.authenticate(request, place)
        key = admitted.key
        self._note(key, CallDifference.CALL, found.name)
        try:
            await self._admit(key, found.scope, request)
            length = request.headers.get(b"content-length")
            with self._bodies.hold(key.id, min(int(length or 0), self._max_body_bytes)) as held:
                raw = await read_body(request, self._max_body_bytes, held)
                received = ReceivedCall(request, place, admitted, raw, self.context.world.now())
                return await self.answer(received, found, ids)
        except (CallRefused, Refused) as error:
            self._note(key, CallDifference.REFUSED_CALL, f"{found.name} {self._refusal_of(error, request).code}")
            raise

    def path_of(self, request: ReceivedRequest) -> str:
        """Return the relay's own path of a call."""
        return request.path.removeprefix(self.prefix).strip("/")

    async def _note_unknown(self, request: ReceivedRequest, place: P, path: str) -> None:
        """Note a call of an endpoint that does not exist here, if its caller has a key."""
        try:
            key, _ = await self.authenticate(request, place)
        except (CallRefused, Refused, StoreUnavailable):
            return
        parts = [part if _PATH_WORD.fullmatch(part) else "*" for part in path.split("/")[:MAX_NOTED_PARTS]]
        self._note(key, CallDifference.ENDPOINT, f"{request.method} {'/'.join(parts)}")

    def _note(self, key: ApiKey, difference: CallDifference, detail: str) -> None:
        note(self.context, key.account_id, self.prefix.rpartition("/")[2], difference, detail)

    async def _admit(self, key: ApiKey, scope: str, request: ReceivedRequest) -> None:
        """Raise Refused unless a key may be used for this, from this address, and now."""
        if key.expires_at is not None and self.context.world.now() >= key.expires_at:
            raise Refused(Code.KEY_EXPIRED)
        self._guard.admit(key, scope, request)
        if key.rate:
            allowance = await self._guard.consume_rate(key)
            if not allowance.is_allowed:
                raise Refused(Code.RATE_LIMITED, retry_after_s=allowance.retry_after_s)


def parse_pairs(query: bytes) -> list[tuple[str, str]] | None:
    """Return the names and values of a query string, in which some name may be there twice; None if malformed."""
    if not query:
        return []
    try:
        found = parse_qsl(query.decode("ascii"), errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except ValueError:
        return None
    return None if any("\0" in text for pair in found for text in pair) else found  # PostgreSQL stores none


def _unavailable() -> Refused:
    return Refused(Code.SERVICE_UNAVAILABLE, retry_after_s=RETRY_AFTER_UNAVAILABLE_S)
