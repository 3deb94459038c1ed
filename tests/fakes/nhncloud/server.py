"""A local server that answers as NHN Cloud documents it: SMS v3.0 and KakaoTalk Bizmessage v2.x.

It was written from the documentation alone. Where it contradicts itself, the examples are followed:

- SMS `message-results`: rows in `body.data`, as in the example; the table has `body.data.resultUpdateList`.
- SMS webhook: `_link` as in the example (the table has `_links`), and both `recipientGropuingKey` as in the example
  and `recipientGroupingKey` as in the table. The webhook of KakaoTalk has `_links` in both.
- SMS lists: `fileName` of an attachment as in the example; the table has `filename`.
- `tempalteTitle` in tables of templates is `templateTitle`, `createAt` of a comment `createdAt`, as in the
  examples.
- Lists of KakaoTalk: the guide says at most 30 days, the code -4003 says 31; the fake uses 31.
- -2014 of SMS is documented as "title or body is empty" with words about a recipient; those words are answered.
- The list of templates has no `block` and no `dormant`, as in the example; one template has them.
- Alimtalk `message-results` has no `totalCount` and no grouping keys; that of friend talk has both.

Choices where the documentation says nothing; those in Behavior can be changed:

- A wrong secret key of SMS: -1000, because it has no code of its own. Every answer of the services has HTTP status
  200; those of the gateway in front of them have the same header and their own status, see faults.py.
- Recipients are refused one by one (-6001, -3010, -3011 and the like), the rest of the call is accepted; KakaoTalk
  says -1031, with each result, if all are refused; SMS then says statusCode 3. Refused recipients are not in lists.
  An idempotency key is used once a call with it is accepted, for ten minutes, per app key; it is checked before the
  rest of the body.
- Fields that the documentation does not have are refused: 4 for SMS, -3002 for KakaoTalk.
- More than 1000 recipients: -2004 for KakaoTalk. Too large a page: -2005, for SMS 4. Results of SMS over more
  than a day: -1005. Invalid dates: -4000 for KakaoTalk.
- The end of a span includes its whole second; an end without seconds, as KakaoTalk has, is the minute's first
  second.
- A title that differs from the template's: the result 3028, as Kakao would report it. Friend talk to a person who
  is not a friend: the result 3018.
- `messageStatus` is COMPLETED until a result says otherwise, then FAILED.
- A channel that Kakao does not know or that is registered already, and a wrong token: -7000. A profile whose
  token is not verified is listed with YSC02 and no key.
- A rejected template that is changed is replaced; an approved one keeps its text until the change is approved,
  and the change is listed under modifications. A change under review does not show in the list of templates.
- A webhook is posted again every second, ten times, until it is answered with 2xx.
- `X-Convert-To-Brand-Message: true` is needed to send friend talk, not to list it.
- Of the rules for what a call contains there are those that a test of ours needs, and the names of its fields. Our
  own checks keep the limits of lengths and numbers: what breaks them is refused before it is sent.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from tests.fakes.nhncloud import (
    alimtalk,
    block_service,
    brand,
    friendtalk,
    kakao_statistics,
    page,
    senders,
    sms,
    sms_lists,
    templates,
)
from tests.fakes.nhncloud.answers import ApiError, Reply, Request, header, json_reply
from tests.fakes.nhncloud.console import Console
from tests.fakes.nhncloud.faults import AFTER, INSTEAD, THROTTLED, TOO_LARGE
from tests.fakes.nhncloud.state import Behavior, Clock, Draft, Profile, SendNumber, State, Template
from tests.fakes.nhncloud.webhooks import Webhooks
from tests.fakes.relay_faults import FaultInjector
from tests.fakes.relay_server import Handler, RelayServer, Route, Router, real_clock, serving_relay

MAX_REQUEST_BYTES = 10 * 1024 * 1024
"""API-Gateway ko/error-code.md, "요청 크기 초과": 10 MB."""

SMS_BASE = "/sms/v3.0/appKeys/{appKey}/"
ALIMTALK_BASE = "/alimtalk/v2.3/appkeys/{appkey}/"
FRIENDTALK_BASE = "/friendtalk/v2.4/appkeys/{appkey}/"
BRAND_BASE = "/brand-message/v1.0/appkeys/{appkey}/"
STATISTICS_BASE = "/common/v2.2/appkeys/{appkey}/kakao-statistics/"
TEMPLATES = ALIMTALK_BASE + "senders/{senderKey}/templates"
INTERFACES = ("/sms/", "/alimtalk/", "/friendtalk/", "/brand-message/", "/common/")
SEND_KINDS = frozenset(("sms", "mms", "ad-sms", "ad-mms"))
LIST_KINDS = frozenset(("sms", "mms"))

_ROUTES: tuple[Route, ...] = (
    ("POST", SMS_BASE + "sender/{kind}", sms.send),
    ("POST", SMS_BASE + "sender/auth/sms", sms.send),
    ("POST", SMS_BASE + "attachfile/binaryUpload", sms.upload),
    ("GET", SMS_BASE + "sender/{kind}", sms_lists.search),
    ("GET", SMS_BASE + "sender/auth/sms", sms_lists.search),
    ("GET", SMS_BASE + "message-results", sms_lists.results),
    ("GET", SMS_BASE + "sendNos", sms_lists.sender_numbers),
    ("GET", SMS_BASE + "blockservice/recipients", block_service.search),
    ("POST", SMS_BASE + "blockservice/recipients", block_service.register),
    ("DELETE", SMS_BASE + "blockservice/recipients/removes", block_service.remove),
    ("POST", ALIMTALK_BASE + "raw-messages", alimtalk.send),
    ("POST", ALIMTALK_BASE + "auth/raw-messages", alimtalk.send),
    ("GET", ALIMTALK_BASE + "messages", alimtalk.search),
    ("GET", ALIMTALK_BASE + "auth/messages", alimtalk.search),
    ("GET", ALIMTALK_BASE + "message-results", alimtalk.results),
    ("POST", FRIENDTALK_BASE + "messages", friendtalk.send),
    ("GET", FRIENDTALK_BASE + "messages", friendtalk.search),
    ("GET", FRIENDTALK_BASE + "message-results", friendtalk.results),
    ("POST", FRIENDTALK_BASE + "images", friendtalk.upload),
    ("POST", BRAND_BASE + "freestyle-messages", brand.send_free_form),
    ("POST", BRAND_BASE + "basic-messages", brand.send_by_template),
    ("GET", BRAND_BASE + "messages", brand.search),
    ("GET", BRAND_BASE + "message-results", brand.results),
    ("POST", BRAND_BASE + "images", brand.upload),
    ("GET", ALIMTALK_BASE + "sender/categories", senders.categories),
    ("POST", ALIMTALK_BASE + "sender/token", senders.verify),
    ("POST", ALIMTALK_BASE + "senders", senders.register),
    ("GET", ALIMTALK_BASE + "senders", senders.search),
    ("GET", ALIMTALK_BASE + "senders/{senderKey}", senders.show),
    ("DELETE", ALIMTALK_BASE + "senders/{senderKey}", senders.remove),
    ("GET", ALIMTALK_BASE + "template/categories", templates.categories),
    ("POST", ALIMTALK_BASE + "template-image", templates.upload),
    ("POST", ALIMTALK_BASE + "template-image/item-highlight", templates.upload_thumbnail),
    ("GET", STATISTICS_BASE + "template-statistics/{product}", kakao_statistics.by_template),
    ("POST", TEMPLATES, templates.register),
    ("GET", TEMPLATES, templates.search),
    ("GET", TEMPLATES + "/{templateCode}", templates.show),
    ("PUT", TEMPLATES + "/{templateCode}", templates.change),
    ("DELETE", TEMPLATES + "/{templateCode}", templates.remove),
    ("GET", TEMPLATES + "/{templateCode}/modifications", templates.modifications),
)
_ROUTER = Router(_ROUTES)


class FakeNhnCloud(State, RelayServer):
    """The server; its state is in plain attributes."""

    throttled = THROTTLED

    def __init__(self, clock: Clock = real_clock, seed: int | None = None, **behavior: Any) -> None:
        super().__init__(clock, seed, Behavior(**behavior))
        self.faults = FaultInjector(INSTEAD, AFTER)
        self.console = Console(self)
        self.webhooks = Webhooks(self)
        self.add_number("15880000")
        self.unsubscribe_numbers.add("0801234567")

    # Setup before the first call.

    def add_number(self, number: str) -> SendNumber:
        self.numbers[number] = SendNumber(number, self.clock())
        return self.numbers[number]

    def add_profile(self, channel: str = "@pabal", category: str = "00100010001") -> Profile:
        profile = Profile(channel, self.new_key(), "01012345678", category, self.clock())
        self.profiles[profile.sender_key] = profile
        return profile

    def add_template(self, sender_key: str, code: str, content: str, **fields: Any) -> Template:
        """Add an approved template; `fields` are those of a registration."""
        now = self.clock()
        given = {"templateCode": code, "templateName": code, "templateContent": content, **fields}
        template = Template(sender_key, code, Draft(given, now, "TSC03", updated_at=now), now)
        self.templates[sender_key, code] = template
        return template

    @property
    def last_token(self) -> int:
        """The token that arrived last on an administrator's phone."""
        return self.tokens_sent[-1][3]

    def process_due(self) -> None:
        """Apply the results and template reviews that are due."""
        super().process_due()
        templates.process_due_reviews(self)

    # Answering requests.

    async def answer(self, request: Request) -> Reply:
        """Return the answer to a request. Raises ConnectionCut to break the connection."""
        if not request.path.startswith(INTERFACES):
            self.process_due()
            return page.answer(self, self.console, request)
        return await super().answer(request)

    def carry_out(self, request: Request) -> tuple[str, int | str | None, Reply]:
        path = request.path
        if len(request.body) > MAX_REQUEST_BYTES:
            return path, None, TOO_LARGE
        try:
            path, handler = _route(request)
            self._check(request)
            return path, 0, json_reply({**header(), **handler(self, request)})
        except ApiError as no:
            return path, no.code, json_reply({**header(no.code, no.message), **no.extra})

    def _check(self, request: Request) -> None:
        """Raises ApiError for wrong keys and for a content type that is not supported."""
        is_sms = "appKey" in request.path_params
        app_key = request.path_params["appKey"] if is_sms else request.path_params["appkey"]
        secret_key = request.headers.get("x-secret-key")
        if app_key != (self.sms_app_key if is_sms else self.talk_app_key):
            raise ApiError(-1000, "Invalid appKey.")
        if secret_key != (self.sms_secret_key if is_sms else self.talk_secret_key):
            raise ApiError(-1000, "Invalid appKey.") if is_sms else ApiError(-1001, "Invalid secretKey.")
        content_type = request.headers.get("content-type", "")
        if request.body and not content_type.startswith(("application/json", "multipart/form-data")):
            raise ApiError(-9996, "Only application/json Content-type is supported.")


def _route(request: Request) -> tuple[str, Handler]:
    """Return the documented path and its handler. Raises ApiError."""
    found = _ROUTER.find(request)
    kind = request.path_params.get("kind", "")
    if found is None or (kind and kind not in (SEND_KINDS if request.method == "POST" else LIST_KINDS)):
        raise ApiError(-9998, "Not exist API.")
    return found[0].replace("{kind}", kind), found[1]


@contextlib.asynccontextmanager
async def serving(port: int = 0, **options: Any) -> AsyncIterator[FakeNhnCloud]:
    """Run a server in this event loop until the end of the block; options are those of FakeNhnCloud."""
    async with serving_relay(FakeNhnCloud(**options), port) as relay:
        relay.base = relay.address
        yield relay
