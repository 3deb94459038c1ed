"""Groups messages into calls to NHN Cloud, writes their bodies, and finds the rows of their answers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from pabal.carriers.nhncloud import templates
from pabal.carriers.nhncloud.templates import buttons_to_remote
from pabal.carriers.relay.kakao import CHAT_BUBBLE_TYPES, is_by_template
from pabal.domain.base import identifiers
from pabal.domain.brand.buttons import from_button
from pabal.domain.brand.message import BrandImage, encode_brand, to_documented
from pabal.domain.content import advertising
from pabal.domain.content.text import AD_LABEL
from pabal.domain.sends.account import NO_CODES, SenderCodes
from pabal.domain.sends.message import Attempt, Product

MAX_RECIPIENTS = 1000
"""The most recipients of one call."""
LAST_SHARED_NUMBER = 2
"""The highest message number in a request that may share a call with messages of other requests."""
MAX_TITLE_BYTES = 40
IDEMPOTENCY_HEADER = "X-NC-API-IDEMPOTENCY-KEY"
BRAND_FREE_FORM_PATH = "freestyle-messages"
BRAND_TEMPLATE_PATH = "basic-messages"


AUTH_WORDS = ("auth", "password", "verif", "にんしょう", "認証", "비밀번호", "인증")
"""The line for one-time codes refuses texts without one of these words; Latin letters in any case."""


class ProductEndpoint(Enum):
    """The path of an API that sends, lists and reports one kind of message."""

    SMS = "/sms/v3.0/appKeys/{appkey}/sender/sms"
    AUTH_SMS = "/sms/v3.0/appKeys/{appkey}/sender/auth/sms"
    MMS = "/sms/v3.0/appKeys/{appkey}/sender/mms"
    AUTH_ALIMTALK = "/alimtalk/v2.3/appkeys/{appkey}/auth"
    ALIMTALK = "/alimtalk/v2.3/appkeys/{appkey}"
    FRIENDTALK = "/friendtalk/v2.4/appkeys/{appkey}"
    BRAND = "/brand-message/v1.0/appkeys/{appkey}"

    @property
    def is_text(self) -> bool:
        return self in (ProductEndpoint.SMS, ProductEndpoint.AUTH_SMS, ProductEndpoint.MMS)

    @property
    def has_idempotency_keys(self) -> bool:
        """Whether a call may be repeated safely: the key is documented for some APIs only."""
        return self in (ProductEndpoint.ALIMTALK, ProductEndpoint.AUTH_ALIMTALK, ProductEndpoint.FRIENDTALK)

    @property
    def service(self) -> str:
        """The service behind the endpoint: each may fail, or be closed, on its own."""
        return "sms" if self.is_text else self.ordinary.name.lower()

    @property
    def ordinary(self) -> "ProductEndpoint":
        """The endpoint for messages that are no one-time codes."""
        lines = {
            ProductEndpoint.AUTH_SMS: ProductEndpoint.SMS,
            ProductEndpoint.AUTH_ALIMTALK: ProductEndpoint.ALIMTALK,
        }
        return lines.get(self, self)

    @property
    def is_for_codes(self) -> bool:
        return self is not self.ordinary


class SendCall(NamedTuple):
    """A call that submits messages."""

    endpoint: ProductEndpoint
    path: str
    shared: dict[str, Any]
    """The fields that apply to all recipients."""
    attempts: list[Attempt]

    def body(self, images: Sequence[str | int] = ()) -> dict[str, Any]:
        """Return the body of the call; `images` are the references of its images."""
        requests = {identifiers.request_id_of(each.message_id) for each in self.attempts}
        group = {"senderGroupingKey": next(iter(requests)).hex()} if len(requests) == 1 else {}
        picture: dict[str, Any] = {}
        if images and self.endpoint is ProductEndpoint.BRAND:
            image = BrandImage(image_url=str(images[0]), image_link=self.attempts[0].image_link)
            picture["image"] = to_documented(image)
        elif images and self.endpoint.is_text:
            picture["attachFileIdList"] = list(images)
        recipients = [_recipient(self.endpoint, each, images) for each in self.attempts]
        return {**self.shared, **picture, **group, "recipientList": recipients}

    @property
    def headers(self) -> dict[str, str]:
        """The headers; the idempotency key is made of these attempts, so only a repeated call has the same one."""
        if not self.endpoint.has_idempotency_keys:
            return {}
        digest = sha256(b"auth" if self.endpoint.is_for_codes else b"")
        for each in self.attempts:
            digest.update(each.message_id + each.number.to_bytes(4, "big"))
        key = {IDEMPOTENCY_HEADER: digest.hexdigest()}
        return key | ({"X-Convert-To-Brand-Message": "true"} if self.endpoint is ProductEndpoint.FRIENDTALK else {})

    def on_ordinary_line(self) -> "SendCall":
        """Return the same call of one-time codes as if they were none."""
        ordinary = [each._replace(is_code=False) for each in self.attempts]
        endpoint, path, _ = _destination(ordinary[0], NO_CODES)
        return self._replace(endpoint=endpoint, path=path)

    def halves(self) -> tuple[Self, Self]:
        """Return the same call in two halves."""
        middle = len(self.attempts) // 2
        return self._replace(attempts=self.attempts[:middle]), self._replace(attempts=self.attempts[middle:])


def group_into_calls(
    attempts: Iterable[Attempt],
    codes_by_account: Mapping[int, SenderCodes] = MappingProxyType({}),
    default_codes: SenderCodes = NO_CODES,
) -> list[SendCall]:
    """Return as few calls as possible that submit these messages, each with the codes of their sender.

    Messages of one request share a call if they share its fields. A message that is alone in its request shares
    a call with others like it, if it may.
    """
    listed = list(attempts)
    count = Counter(identifiers.request_id_of(each.message_id) for each in listed)
    groups: dict[Any, list[Attempt]] = defaultdict(list)
    for each in listed:
        request = identifiers.request_id_of(each.message_id)
        is_alone = count[request] == 1 and may_share_call(each.message_id)
        codes = codes_by_account.get(each.account_id, NO_CODES) if codes_by_account else NO_CODES
        groups[codes, _shared_key(each, b"" if is_alone else request)].append(each)
    calls = []
    for (codes, _), group in groups.items():
        codes = codes.or_else(default_codes)
        for begin in range(0, len(group), MAX_RECIPIENTS):
            some = group[begin : begin + MAX_RECIPIENTS]
            calls.append(SendCall(*_destination(some[0], codes), some))
    return calls


def may_share_call(message_id: bytes) -> bool:
    """Return whether a message may share a call with other requests; such a call has no senderGroupingKey.

    The only message of a request may, and its fallback. All others go with their request's id as senderGroupingKey,
    so that one lookup finds all that are in doubt.
    """
    return identifiers.number_of(message_id) <= LAST_SHARED_NUMBER


def endpoint_of(attempt: Attempt) -> ProductEndpoint:
    """Return the endpoint of a message."""
    if attempt.brand is not None:
        return ProductEndpoint.BRAND
    has_auth_word = attempt.is_code and any(word in attempt.content.lower() for word in AUTH_WORDS)
    if attempt.product is Product.ALIMTALK:
        return ProductEndpoint.AUTH_ALIMTALK if has_auth_word else ProductEndpoint.ALIMTALK
    if not attempt.product.is_text:
        return ProductEndpoint.FRIENDTALK
    if attempt.product is not Product.SMS:
        return ProductEndpoint.MMS
    return ProductEndpoint.AUTH_SMS if has_auth_word else ProductEndpoint.SMS


def _shared_key(attempt: Attempt, request: bytes) -> tuple[Any, ...]:
    """Return what must be equal for messages to share a call."""
    key: tuple[Any, ...] = attempt.product, endpoint_of(attempt), request, attempt.image_request_id
    if attempt.brand is not None:
        return *key, *_brand_key(attempt)
    if attempt.product.is_text:
        return *key, attempt.sender, attempt.subject, attempt.content, attempt.is_ad
    return *key, attempt.sender_key, attempt.template_code


def _destination(attempt: Attempt, codes: SenderCodes) -> tuple[ProductEndpoint, str, dict[str, Any]]:
    endpoint = endpoint_of(attempt)
    if endpoint.ordinary is ProductEndpoint.ALIMTALK:
        fields = {"senderKey": attempt.sender_key, "templateCode": attempt.template_code}
        return endpoint, f"{endpoint.value}/raw-messages", fields
    if endpoint is ProductEndpoint.FRIENDTALK:
        return endpoint, f"{endpoint.value}/messages", {"senderKey": attempt.sender_key}
    if endpoint is ProductEndpoint.BRAND:
        path = BRAND_TEMPLATE_PATH if is_by_template(attempt) else BRAND_FREE_FORM_PATH
        reseller = {"resellerCode": codes.reseller_code} if codes.reseller_code else {}
        return endpoint, f"{endpoint.value}/{path}", _brand_fields(attempt) | reseller
    shared: dict[str, Any] = {"body": attempt.content, "sendNo": attempt.sender}
    if codes.origin_code:
        shared["originCode"] = codes.origin_code
    if endpoint is ProductEndpoint.MMS:
        shared["title"] = attempt.subject or _title(attempt.content)
    kind = "sms" if endpoint.ordinary is ProductEndpoint.SMS else "mms"
    is_ad = attempt.is_ad and advertising.has_marks(attempt.content)  # it refuses others there
    path = endpoint.value.removesuffix(kind) + (f"ad-{kind}" if is_ad else kind)
    return endpoint, path, shared


def _title(content: str) -> str:
    """Return the beginning of the first line, as the title that every LMS and MMS needs."""
    first = content.strip().split("\n")[0]
    while len(first.encode("cp949", "replace")) > MAX_TITLE_BYTES:
        first = first[:-1]
    return first or "MMS"


def _recipient(endpoint: ProductEndpoint, attempt: Attempt, images: Sequence[str | int]) -> dict[str, Any]:
    name = attempt.message_id.hex()
    if endpoint.is_text:
        return {"recipientNo": attempt.receiver, "recipientGroupingKey": name}
    recipient: dict[str, Any] = {
        "recipientNo": attempt.receiver,
        "resendParameter": {"isResend": False},  # overrides NHN Cloud's console: we send the fallback
        "recipientGroupingKey": name,
    }
    if attempt.brand is not None:
        values = {"templateParameter": attempt.parameters} if attempt.parameters else {}
        return {**recipient, "targeting": attempt.brand.targeting.value, **values}
    recipient["content"] = attempt.content
    if attempt.buttons:
        recipient["buttons"] = buttons_to_remote(attempt.buttons)
    if endpoint.ordinary is ProductEndpoint.ALIMTALK:
        if attempt.subject:
            recipient["templateTitle"] = attempt.subject
        return recipient | templates.parts_to_remote(attempt.parts) if attempt.parts.has_any else recipient
    recipient["isAd"] = attempt.is_ad
    if attempt.is_ad:  # NHN Cloud puts the label in front itself
        recipient["content"] = attempt.content.removeprefix(AD_LABEL).lstrip() or attempt.content
    if images:
        recipient["imageUrl"] = images[0]
        if attempt.image_link:
            recipient["imageLink"] = attempt.image_link
    return recipient


def group_by_request(attempts: Sequence[Attempt]) -> dict[bytes, list[Attempt]]:
    """Return the messages by request id."""
    found: dict[bytes, list[Attempt]] = defaultdict(list)
    for each in attempts:
        found[identifiers.request_id_of(each.message_id)].append(each)
    return found


def _brand_key(attempt: Attempt) -> tuple[Any, ...]:
    """Return what must be equal for brand messages to share a call: all but the number, and a template's values."""
    key = attempt.sender_key, attempt.template_code, attempt.opt_out_number, encode_brand(attempt.brand)
    return key if is_by_template(attempt) else (*key, attempt.content, attempt.buttons, attempt.image_link)


def _brand_fields(attempt: Attempt) -> dict[str, Any]:
    """Return the fields of a call that apply to all its recipients, without the address of an uploaded image."""
    brand = attempt.brand
    assert brand is not None
    fields: dict[str, Any] = {"senderKey": attempt.sender_key}
    if attempt.opt_out_number and brand.opt_out_auth_number:
        fields["unsubscribeAuthNo"] = brand.opt_out_auth_number
    if attempt.opt_out_number:
        fields["unsubscribeNo"] = attempt.opt_out_number
    if brand.is_silent:
        fields["pushAlarm"] = False
    if is_by_template(attempt):
        return fields | {"templateCode": attempt.template_code}
    assert brand.type is not None
    fields["chatBubbleType"] = CHAT_BUBBLE_TYPES[brand.type]
    if brand.is_adult:
        fields["adult"] = True
    if attempt.content:
        fields["content"] = attempt.content
    buttons = [each for each in map(from_button, attempt.buttons) if each is not None]
    if buttons:
        fields["buttons"] = [to_documented(each) for each in buttons]
    return fields | to_documented(brand.attachment)


def match_rows(attempts: Sequence[Attempt], rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the rows of an answer by message id: they name no grouping keys, but are numbered as the recipients.

    Raises ValueError where it is not certain which row is whose.
    """
    ordered = sorted(rows, key=lambda row: int(row["recipientSeq"]))
    numbers = [int(row["recipientSeq"]) for row in ordered]
    if len(ordered) != len(attempts) or numbers != list(range(numbers[0], numbers[0] + len(attempts))):
        raise ValueError("not one row for each recipient")
    for attempt, row in zip(attempts, ordered, strict=True):
        number = row.get("recipientNo")
        if number and str(number).replace("-", "") != attempt.receiver:
            raise ValueError("a row with the number of another recipient")
    return {attempt.message_id.hex(): row for attempt, row in zip(attempts, ordered, strict=True)}
