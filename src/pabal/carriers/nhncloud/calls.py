"""Which messages go together in one call to NHN Cloud, and what that call says."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from hashlib import sha256
from typing import Any, NamedTuple

from pabal.carriers.nhncloud.buttons import all_to_relay
from pabal.domain import identifiers
from pabal.domain.message import Attempt, Product

MOST_RECIPIENTS = 1000
LAST_WITH_OTHERS = 2
MOST_BYTES_SMS = 90
MOST_BYTES_TITLE = 40
IDEMPOTENCY_HEADER = "X-NC-API-IDEMPOTENCY-KEY"


class ProductEndpoint(Enum):
    """Where a kind of message is given, asked for and reported on."""

    SMS = "/sms/v3.0/appKeys/{appkey}/sender/sms"
    MMS = "/sms/v3.0/appKeys/{appkey}/sender/mms"
    ALIMTALK = "/alimtalk/v2.3/appkeys/{appkey}"
    FRIENDTALK = "/friendtalk/v2.4/appkeys/{appkey}"

    @property
    def is_text(self) -> bool:
        return self in (ProductEndpoint.SMS, ProductEndpoint.MMS)

    @property
    def service(self) -> str:
        """Which of its services is behind the door: each may fail, or end, by itself."""
        return "sms" if self.is_text else self.name.lower()


class SendCall(NamedTuple):
    """A call that hands messages over."""

    endpoint: ProductEndpoint
    path: str
    shared: dict[str, Any]
    """What is said once for all recipients."""
    attempts: list[Attempt]

    def body(self, image: str | int | None) -> dict[str, Any]:
        """Return the body of the call; `image` is what its picture is called there, if it has one."""
        requests = {identifiers.request_id_of(each.message_id) for each in self.attempts}
        name = {"senderGroupingKey": next(iter(requests)).hex()} if len(requests) == 1 else {}
        picture = {"attachFileIdList": [image]} if image is not None and self.endpoint.is_text else {}
        return {
            **self.shared,
            **picture,
            **name,
            "recipientList": [_recipient(self.endpoint, each, image) for each in self.attempts],
        }

    @property
    def headers(self) -> dict[str, str]:
        """The call's headers; its key stands for exactly these attempts, so only a repeated call bears it again."""
        if self.endpoint.is_text:
            return {}
        digest = sha256()
        for each in self.attempts:
            digest.update(each.message_id + each.number.to_bytes(4, "big"))
        key = {IDEMPOTENCY_HEADER: digest.hexdigest()}
        return key | ({"X-Convert-To-Brand-Message": "true"} if self.endpoint is ProductEndpoint.FRIENDTALK else {})

    def halves(self) -> tuple["SendCall", "SendCall"]:
        """Return the same call in two parts."""
        middle = len(self.attempts) // 2
        return self._replace(attempts=self.attempts[:middle]), self._replace(attempts=self.attempts[middle:])


def calls_of(attempts: Iterable[Attempt], unsubscribe: str) -> list[SendCall]:
    """Return the calls that hand these messages over, as few as there can be.

    Messages of one request go together if they are to be said alike; what is alone of its request goes with
    others that are, if it may.
    """
    listed = list(attempts)
    count = Counter(identifiers.request_id_of(each.message_id) for each in listed)
    groups: dict[Any, list[Attempt]] = defaultdict(list)
    for each in listed:
        request = identifiers.request_id_of(each.message_id)
        is_alone = count[request] == 1 and goes_with_others(each.message_id)
        groups[_likeness(each, b"" if is_alone else request)].append(each)
    calls = []
    for group in groups.values():
        for begin in range(0, len(group), MOST_RECIPIENTS):
            some = group[begin : begin + MOST_RECIPIENTS]
            calls.append(SendCall(*_address(some[0], unsubscribe), some))
    return calls


def goes_with_others(message_id: bytes) -> bool:
    """Whether a message may go in one call with those of other requests, which then bears no request's name.

    So may the message of a request that has but one, and its fallback. All others bear their request's name, so
    that those in doubt are found together.
    """
    return identifiers.number_of(message_id) <= LAST_WITH_OTHERS


def door_of(attempt: Attempt, unsubscribe: str) -> ProductEndpoint:
    """Return where a message is given: an advertisement that has grown too long for an SMS goes as an LMS."""
    if attempt.product is Product.ALIMTALK:
        return ProductEndpoint.ALIMTALK
    if not attempt.product.is_text:
        return ProductEndpoint.FRIENDTALK
    is_short = not attempt.is_ad or _size(_content(attempt, unsubscribe)) <= MOST_BYTES_SMS
    return ProductEndpoint.SMS if attempt.product is Product.SMS and is_short else ProductEndpoint.MMS


def _likeness(attempt: Attempt, request: bytes) -> tuple[Any, ...]:
    """Return what must be the same for messages to go in one call."""
    alike: tuple[Any, ...] = attempt.product, request, attempt.image_request_id
    if attempt.product.is_text:
        return *alike, attempt.sender, attempt.subject, attempt.content, attempt.is_ad
    return *alike, attempt.sender_key, attempt.template_code


def _address(attempt: Attempt, unsubscribe: str) -> tuple[ProductEndpoint, str, dict[str, Any]]:
    door = door_of(attempt, unsubscribe)
    if door is ProductEndpoint.ALIMTALK:
        shared = {"senderKey": attempt.sender_key, "templateCode": attempt.template_code}
        return door, f"{door.value}/raw-messages", shared
    if door is ProductEndpoint.FRIENDTALK:
        return door, f"{door.value}/messages", {"senderKey": attempt.sender_key}
    said: dict[str, Any] = {"body": _content(attempt, unsubscribe), "sendNo": attempt.sender}
    if door is ProductEndpoint.MMS:
        said["title"] = attempt.subject or _title(attempt.content)
    kind = "sms" if door is ProductEndpoint.SMS else "mms"
    path = door.value.removesuffix(kind) + (f"ad-{kind}" if attempt.is_ad else kind)
    return door, path, said


def _content(attempt: Attempt, unsubscribe: str) -> str:
    """Return the text of a message; an advertisement ends by saying how to refuse more."""
    if not attempt.is_ad or unsubscribe in attempt.content.replace("-", ""):
        return attempt.content
    return f"{attempt.content}\n무료거부 {unsubscribe}"


def _title(content: str) -> str:
    """Return a title for a text that has none, as there must be one: the beginning of its first line."""
    first = content.strip().split("\n")[0]
    while _size(first) > MOST_BYTES_TITLE:
        first = first[:-1]
    return first or "MMS"


def _size(content: str) -> int:
    return len(content.encode("cp949", "replace"))


def _recipient(door: ProductEndpoint, attempt: Attempt, image: str | int | None) -> dict[str, Any]:
    name = attempt.message_id.hex()
    if door.is_text:
        return {"recipientNo": attempt.receiver, "recipientGroupingKey": name}
    said: dict[str, Any] = {
        "recipientNo": attempt.receiver,
        "content": attempt.content,
        "resendParameter": {"isResend": False},  # its console may say otherwise; the fallback is ours to send
        "recipientGroupingKey": name,
    }
    if attempt.buttons:
        said["buttons"] = all_to_relay(attempt.buttons)
    if door is ProductEndpoint.ALIMTALK:
        if attempt.subject:
            said["templateTitle"] = attempt.subject
        return said
    said["isAd"] = attempt.is_ad
    if image is not None:
        said["imageUrl"] = image
        if attempt.image_link:
            said["imageLink"] = attempt.image_link
    return said


def by_request(attempts: Sequence[Attempt]) -> dict[bytes, list[Attempt]]:
    """Return the messages by their requests."""
    found: dict[bytes, list[Attempt]] = defaultdict(list)
    for each in attempts:
        found[identifiers.request_id_of(each.message_id)].append(each)
    return found
