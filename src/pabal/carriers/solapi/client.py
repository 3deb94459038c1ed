"""The client of Solapi's API: signs every call; its errors tell whether a call can have been processed."""

import hashlib
import hmac
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from pabal.carriers.relay.carrier import check_images
from pabal.carriers.relay.http import ErrorAnswer, HttpClient, NoResponse, NotProcessed, OnAnswer, Throttled
from pabal.carriers.relay.submission import UnansweredMessages
from pabal.domain.base import dates
from pabal.domain.base.dates import Instant
from pabal.domain.content.image import JPEG, PNG, Image, ImageLimits
from pabal.outbound.calls import HttpAnswer, Transport
from pabal.world import World

OnProblem = Callable[[str], None]
"""Called with what is wrong with Solapi; empty if all is well."""
OWN_ID = "pabal"
"""The custom field that holds our message id; Solapi repeats it in answers, lists and webhooks."""


class ListedMessage(msgspec.Struct):
    """A message in an answer, a list or a webhook."""

    messageId: str
    statusCode: str | None = None
    groupId: str | None = None
    customFields: dict[str, Any] | None = None

    @property
    def own_id(self) -> str | None:
        """Our message id in hex; None if it is not one of ours."""
        found = (self.customFields or {}).get(OWN_ID)
        return found if isinstance(found, str) else None


class SendAnswer(msgspec.Struct):
    """The answer to a call that submits messages."""

    failedMessageList: list[ListedMessage]
    messageList: list[ListedMessage] | None = None


class ListedPage(msgspec.Struct):
    """A page of a list of messages."""

    messageList: dict[str, ListedMessage]
    nextKey: str | None = None


class UploadAnswer(msgspec.Struct):
    fileId: str
    url: str | None = None


T = TypeVar("T")


class ListPage(Protocol):
    nextKey: str | None


Page = TypeVar("Page", bound=ListPage)

SALT_BITS = 160
MAX_PAGES = 10_000
NOT_FOUND, TOO_MANY_REQUESTS = 404, 429
FIRST_CLIENT_ERROR, FIRST_SERVER_ERROR = 400, 500
"""From the second status on the call may have been processed: a gateway answered, or the API failed midway."""
UTC = ZoneInfo("UTC")
_ERROR_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""As documented codes are; anything else might repeat a number or a text."""
UPLOAD_TTL_S = 3600.0
"""How long an upload is used: the documents do not say how long Solapi has it."""
UPLOAD_PATH = "/storage/v1/files"
_FILE_ID = re.compile(r"(?:.*/)?(ST01[0-9A-Za-z]{28})")
"""The id of a file, or an address that Solapi gave it, which ends with the id."""
_BRAND_LIMITS = ImageLimits(5_000_000, types=frozenset((JPEG, PNG)))
IMAGE_LIMITS = {
    "MMS": ImageLimits(200_000, 1500, 1440),
    "ATA": ImageLimits(500_000, types=frozenset((JPEG, PNG))),
    "BMS": _BRAND_LIMITS,
    "BMS_WIDE": _BRAND_LIMITS,
}
"""Which images Solapi takes, by what they are for."""


class SolapiError(ErrorAnswer):
    """Solapi answered with an error: the call was not processed.

    As a text, for logs and operators, it has the code alone: messages are Korean and may repeat what was sent.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        self.code = code if _ERROR_CODE.fullmatch(code) else f"HTTP {status}"
        super().__init__(f"Solapi says {self.code}")
        self.status = status
        self.message = message


class _ErrorBody(msgspec.Struct):
    errorCode: str
    errorMessage: str = ""


class SolapiClient(HttpClient):
    """The client of one account."""

    def __init__(
        self,
        address: str,
        api_key: str,
        api_secret: str,
        world: World,
        ca_file: Path | None = None,
        transport: Transport | None = None,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """`transport` replaces the network in tests. Raises BadSetting for a CA file that cannot be read."""
        super().__init__(address, None, ca_file, transport, on_answer=on_answer)
        self._api_key = api_key
        self._api_secret = api_secret.encode()
        self._world = world

    async def request(
        self,
        method: str,
        path: str,
        shape: type[T],
        *,
        timeout_s: float,
        body: Any = None,
        query: Mapping[str, str | int] | None = None,
    ) -> T:
        """Make a call and return the answer in its documented shape; a body of bytes is sent as it is.

        Raises NotProcessed, NoResponse, Throttled, SolapiError.
        """
        headers = {"Authorization": self._authorization()}
        content = b""
        if body is not None:
            content = body if isinstance(body, bytes) else msgspec.json.encode(body)
            headers["Content-Type"] = "application/json"
        answer = await self.send(method, path, timeout_s=timeout_s, content=content, query=query, headers=headers)
        return _parse(answer, shape)

    async def pages(
        self, path: str, shape: type[Page], query: Mapping[str, str | int], timeout_s: Callable[[], float]
    ) -> AsyncIterator[Page]:
        """Yield the pages of a list; `timeout_s` says how long each call may take.

        Raises as `request` does, and NoResponse for a list that does not end.
        """
        start: dict[str, str | int] = {}
        for _ in range(MAX_PAGES):
            page = await self.request("GET", path, shape, timeout_s=timeout_s(), query={**query, **start})
            yield page
            if not page.nextKey or page.nextKey == start.get("startKey"):
                return
            start = {"startKey": page.nextKey}
        raise NoResponse("a list does not end")

    def _authorization(self) -> str:
        """Return the header of one call: a signature must not be used twice."""
        date, salt = format_date(self._world.now()), f"{self._world.random_bits(SALT_BITS):040x}"
        signature = hmac.new(self._api_secret, f"{date}{salt}".encode(), hashlib.sha256).hexdigest()
        return f"HMAC-SHA256 apiKey={self._api_key}, date={date}, salt={salt}, signature={signature}"


@dataclass(frozen=True)
class SolapiConnection:
    """What all that calls Solapi for one carrier shares."""

    client: SolapiClient
    max_timeout_s: float
    world: World
    unanswered: UnansweredMessages
    on_problem: OnProblem


def format_date(at: Instant) -> str:
    """Return a time as Solapi writes it, to the second: 2026-11-16T07:00:00Z."""
    return dates.format_timestamp(at, UTC).replace(" ", "T")[:19] + "Z"


def _parse(answer: HttpAnswer, shape: type[T]) -> T:
    status = answer.status
    if status == TOO_MANY_REQUESTS:
        raise Throttled
    if status >= FIRST_SERVER_ERROR:
        raise NoResponse(f"HTTP {status}")
    if status >= FIRST_CLIENT_ERROR:
        try:
            error = msgspec.json.decode(answer.body, type=_ErrorBody)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise NotProcessed(f"HTTP {status}") from None
        raise SolapiError(status, error.errorCode, error.errorMessage)
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NoResponse(f"the answer is not as documented (HTTP {status})") from None


def find_file_id(address: str) -> str | None:
    """Return the id of a file that was uploaded to Solapi; None if it was not."""
    found = _FILE_ID.fullmatch(address)
    return found[1] if found else None


async def upload_image(
    client: SolapiClient, images: Sequence[Image], kind: str, name: str, timeout_s: float
) -> UploadAnswer:
    """Upload the only image of a message and return its id; `kind` is what Solapi will use it for.

    Raises ImageNotSupported, and what SolapiClient.request raises.
    """
    check_images(images, IMAGE_LIMITS[kind])
    body = {"file": b64encode(images[0].body).decode(), "name": name, "type": kind}
    return await client.request("POST", UPLOAD_PATH, UploadAnswer, timeout_s=timeout_s, body=body)
