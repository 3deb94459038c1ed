"""A local server that answers as Solapi documents it: messages v4, storage v1 and kakao v2.

It was written from the public documents (repository solapi/documents, here "D") and from the source of Solapi's own
clients: solapi/solapi-nodejs 6.0.1, here "C", solapi/solapi-python 5.0.3, "P", and solapi/solapi-kotlin, "K". The
first one, from npm, judges the server in test_judge.py.

| Rule | Place |
|---|---|
| `Authorization: HMAC-SHA256 apiKey=…, date=…, salt=…, signature=…`; ±15 min; a signature once; four errors, 403 | D authentication/api-key.md |
| the names of these parts in any letter case: `ApiKey=…, Date=…`, `Apikey=…` | P lib/authenticator.py; K Authenticator.kt |
| errors: `errorCode` and `errorMessage` | D api-reference/overview.md "오류 핸들링"; C errors/defaultError.ts |
| `POST messages/v4/send-many/detail`: `failedMessageList`, `groupInfo`, `messageList` with `showMessageList` | C messageService.ts, sendManyDetailResponse.ts |
| 15 MB and 10,000 receivers a call; 413 RecipientsTooMany | D groups/addGroupMessages.md, message-api-v4/undefined-1/undefined-4.md |
| refused messages are stored and not sent; all refused: 200 with `count.total = registeredFailed` | D groups/addGroupMessages.md; C messageService.ts |
| a repeated receiver of a group is 1026 unless `allowDuplicates` | D message-status-codes.md, groups/addGroupMessages.md |
| `customFields`: only strings, repeated in answers and lists | D groups/addGroupMessages.md; C storedMessage.ts |
| status codes 1xxx refused, 2000 accepted, 3000 at the carrier, 4000 delivered | D message-status-codes.md |
| lists: `dateType` CREATED or UPDATED, `startDate`, `endDate`, `startKey`, `limit` (20), `messageList` by id | D getMessageList.md; C getMessagesRequest.ts |
| `nextKey` is the key of the next page, null after the last one | D kakao/getplusfriends.md; C messageResponses.ts |
| lists may lag: `lists_lag_s` | C test/lib/retry-utils.ts "API eventual consistency" |
| `GET iam/v1/black`: `type=DENIAL`, `senderNumber`, `dateCreated[gte]`, `startKey`, `limit`; `blackList` with `senderNumber` and `recipientNumber` | C iamService.ts, getBlacksRequest.ts, getBlacksResponse.ts, commonTypes.ts |
| who has opted out of a sender number gets nothing from it: 1061 | D message-status-codes.md; "차단 당한 발신번호" C examples iam/get_blacks.js |
| files: Base64 JSON; KAKAO 500 KB, MMS 200 KB, DOCUMENT 2 MB | D storage/uploadfile.md |
| channel: token, then `POST kakao/v2/channels` with phone, category and token | C kakaoChannelService.ts; D kakao/putplusfriend.md |
| template: PENDING, `PUT …/inspection`, INSPECTING, APPROVED or REJECTED | K MessageHttpService.kt; D kakao/templateinspection.md |
| names of templates need not be unique: "다른 알림톡 템플릿과 중복 가능합니다" | K KakaoAlimtalkTemplateMutationRequest.kt; C examples create_template.js says "중복불가" |
| `emphasizeSubtitle`; `chatExtra`, `targetOut` of buttons; `variables` | solapi.com/developers/api/templates-createTemplate (2026-03-25) and …/templates (2026-03-08) |
| an Alimtalk has `pfId`, `templateId` and `variables` alone, or its own `text`, `buttons` and `title`: "pfId, templateId, variables만 쓰시거나 … text, pfId, templateId, buttons(… 타이틀도 있으면 title까지 포함)" | github.com/solapi/community discussion 13 (2025-04-04) |
| a template is changed while PENDING, removed while PENDING or REJECTED | C examples update_template.js, kakaoTemplateService.ts |
| webhook: an array of `{"eventDataId", "data": message, "retryCount"}`, or of messages alone (`wraps_reports`) | P model/webhook/single_report.py; C examples webhooks/index.js "body에 [] 형식으로 메시지정보 객체 목록이 들어옵니다" |
| webhook: five calls in all until 200 | P examples single_report_controller.py, C examples webhooks/index.js |
| webhook: `X-Solapi-Event-Name: SINGLE-REPORT`, `X-Solapi-Secret`: SHA-1 of the secret in hex | solapi.com/developers/api/webhook, as public receivers quote it |

Choices where both say nothing; those in Behavior can be changed:

- 400 ValidationError for a body that cannot be read or has unknown fields of a message; 404 ResourceNotFound; errors
  of channels and templates: the codes in kakao.py; HTTP 429 for too many calls.
- messageList has also the refused messages, with the same status code.
- A list is ordered by its date, oldest first; `limit` is at most 500; a message that is updated moves to the end.
- The list of opt-outs shows whole numbers; with `hides_digits` it hides two, as the console of Solapi does
  (solapi.com/guides/sms-faq).
- An Alimtalk's own `text` must match its template; without it the template is filled with `variables`, of which
  none may be missing (1010). With an own text, a template whose other parts have variables is refused (1043).
- Brand messages are refused with the codes of friend talk (1010, 1051).
- Of the rules for what a message or a template contains there are those that a test of ours needs.
"""  # noqa: E501 - a table

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from tests.fakes.nhncloud.answers import Reply, Request, json_reply
from tests.fakes.relay_faults import FaultInjector
from tests.fakes.relay_server import RelayServer, Route, Router, real_clock, serving_relay
from tests.fakes.solapi import iam, kakao, messages, storage
from tests.fakes.solapi.auth import Authenticator
from tests.fakes.solapi.faults import AFTER, INSTEAD, THROTTLED
from tests.fakes.solapi.state import ApiError, Behavior, Channel, Clock, SolapiTemplate, State
from tests.fakes.solapi.webhooks import ReportWebhooks

_ROUTES: tuple[Route, ...] = (
    ("POST", "/messages/v4/send-many/detail", messages.send),
    ("GET", "/messages/v4/list", messages.search),
    ("GET", "/iam/v1/black", iam.list_denials),
    ("POST", "/storage/v1/files", storage.upload),
    ("GET", "/kakao/v2/channels/categories", kakao.channel_categories),
    ("POST", "/kakao/v2/channels/token", kakao.request_token),
    ("GET", "/senderid/v1/numbers/active", messages.list_sender_numbers),
    ("POST", "/kakao/v2/channels", kakao.add_channel),
    ("GET", "/kakao/v2/channels", kakao.list_channels),
    ("GET", "/kakao/v2/channels/{channelId}", kakao.show_channel),
    ("DELETE", "/kakao/v2/channels/{channelId}", kakao.remove_channel),
    ("GET", "/kakao/v2/templates/categories", kakao.template_categories),
    ("POST", "/kakao/v2/templates", kakao.add_template),
    ("GET", "/kakao/v2/templates", kakao.list_templates),
    ("GET", "/kakao/v2/templates/{templateId}", kakao.show_template),
    ("PUT", "/kakao/v2/templates/{templateId}", kakao.change_template),
    ("DELETE", "/kakao/v2/templates/{templateId}", kakao.remove_template),
    ("PUT", "/kakao/v2/templates/{templateId}/inspection", kakao.inspect_template),
)
_ROUTER = Router(_ROUTES)


class FakeSolapi(State, RelayServer):
    """The server; its state is in plain attributes."""

    throttled = THROTTLED

    def __init__(self, clock: Clock = real_clock, seed: int | None = None, **behavior: Any) -> None:
        super().__init__(clock, seed, Behavior(**behavior))
        self.faults = FaultInjector(INSTEAD, AFTER)
        self.webhooks = ReportWebhooks(self)
        self._authenticator = Authenticator(self)

    def add_channel(self, search_id: str = "@pabal", channel_id: str | None = None) -> Channel:
        """Add a linked channel."""
        channel_id = channel_id or self.new_id("KA01PF")
        channel = Channel(channel_id, search_id, "01012345678", "00100010001", self.clock())
        self.channels[channel_id] = channel
        return channel

    def add_template(self, channel_id: str, name: str, content: str, **fields: Any) -> SolapiTemplate:
        """Add an approved template."""
        given = {"name": name, "content": content, "categoryCode": "999999", **fields}
        template = SolapiTemplate(self.new_id("KA01TP"), channel_id, given, self.clock(), "APPROVED")
        self.templates[template.template_id] = template
        return template

    def decide(self, name: str, *, is_approved: bool, comment: str = "") -> None:
        (template,) = (one for one in self.templates.values() if one.fields["name"] == name)
        template.status = "APPROVED" if is_approved else "REJECTED"
        if comment:
            template.comments.append(
                {
                    "isAdmin": True,
                    "memberId": "kakao",
                    "content": comment,
                    "dateCreated": "2026-11-16T00:00:00.000Z",
                }
            )

    @property
    def last_token(self) -> str:
        return list(self.pending_tokens.values())[-1]

    def carry_out(self, request: Request) -> tuple[str, int | str | None, Reply]:
        path = request.path
        try:
            found = _ROUTER.find(request)
            if found is None:
                raise ApiError(404, "ResourceNotFound", "해당 리소스가 없음")
            path, handler = found
            self._authenticator.check(request.headers.get("authorization", ""))
            return path, None, json_reply(handler(self, request))
        except ApiError as error:
            body = {"errorCode": error.code, "errorMessage": error.message}
            return path, error.code, json_reply(body, error.status)


@contextlib.asynccontextmanager
async def serving(port: int = 0, **options: Any) -> AsyncIterator[FakeSolapi]:
    """Run a server in this event loop until the end of the block; options are those of FakeSolapi."""
    async with serving_relay(FakeSolapi(**options), port) as relay:
        yield relay
