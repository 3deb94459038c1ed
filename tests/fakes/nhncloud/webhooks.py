"""Webhook calls of the server: results of messages and states of templates, repeated until accepted."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

import httpx

from tests.fakes.nhncloud.answers import Json, format_seoul
from tests.fakes.nhncloud.sms_lists import status_of
from tests.fakes.nhncloud.state import BRAND, FRIENDTALK, SMS, Draft, Message, State, Template

RESULT = "MESSAGE_RESULT_UPDATE"
TEMPLATE = "TEMPLATE_STATUS_UPDATE"
UNSUBSCRIBE = "UNSUBSCRIBE"
ISO_SECONDS = "%Y-%m-%dT%H:%M:%S"
MAX_HOOKS_PER_POST = 1000
MIN_PAUSE_MS = 20
TIMEOUT_S = 10.0
_SMS_STATES = {"0": "FAILED", "2": "COMPLETED", "3": "COMPLETED", "6": "FAILED_AD"}


@dataclass(slots=True)
class Post:
    """A webhook call, repeated until it is accepted."""

    address: str
    signature: str
    body: Json
    attempts: int = 0
    next_at: int = 0
    statuses: list[int | str] = field(default_factory=list)
    """The result of each attempt: a status, or the name of an error."""

    @property
    def is_accepted(self) -> bool:
        """Whether it was answered with 2xx."""
        return bool(self.statuses) and str(self.statuses[-1]).startswith("2")


class Webhooks:
    """Posts to the configured addresses; nothing is posted before `set`."""

    def __init__(self, state: State, process_due: Callable[[], None]) -> None:
        self._state = state
        self._process_due = process_due
        self._addresses: dict[str, tuple[str, str]] = {}
        self.transport: httpx.AsyncBaseTransport | None = None
        """A transport without sockets, for tests."""
        self.retry_after_s = 1.0
        self.max_attempts = 10
        self.pending: list[Post] = []
        self.posts: list[Post] = []
        """Every post, accepted or not."""

    def set(self, address: str, signature: str, products: tuple[str, ...] = ("SMS", "KakaoTalk")) -> None:
        """Post to an address from now on, for one product or both."""
        for product in products:
            self._addresses[product] = (address, signature)
        self._state.results.has_hooks = True
        self._state.changed.set()

    async def run(self) -> None:
        """Post everything that is due, until cancelled."""
        while not self._addresses:  # creating a client takes time, and most tests use no webhooks
            self._state.changed.clear()
            await self._state.changed.wait()
        async with httpx.AsyncClient(transport=self.transport, timeout=TIMEOUT_S, trust_env=False) as client:
            while True:
                self._state.changed.clear()
                await self.post_due(client)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause_s()):
                        await self._state.changed.wait()

    def _pause_s(self) -> float | None:
        """Return the time until the next post is due; None if nothing is scheduled."""
        state = self._state
        moments = [post.next_at for post in self.pending]
        for _, draft in state.under_review:
            is_new = draft.status == "TSC01"
            moments.append((draft.inspected_at if is_new else draft.decided_at) or 0)
        due = [each for each in (*moments, state.results.next_at()) if each]
        return max(min(due) - state.clock(), MIN_PAUSE_MS) / 1000 if due else None

    async def post_due(self, client: httpx.AsyncClient) -> None:
        """Post once everything that is due."""
        self._process_due()
        self._collect()
        now = self._state.clock()
        for post in [each for each in self.pending if each.next_at <= now]:
            post.attempts += 1
            post.statuses.append(await _send(client, post))
            post.next_at = self._state.clock() + round(self.retry_after_s * 1000)
            if post.is_accepted or post.attempts >= self.max_attempts:
                self.pending.remove(post)

    def _collect(self) -> None:
        state, behavior = self._state, self._state.behavior
        messages, state.results.pending_hooks = state.results.pending_hooks * behavior.result_copies, []
        if behavior.shuffles_results:
            state.random.shuffle(messages)
        for is_sms, group in groupby(messages, key=lambda each: each.product == SMS):
            hooks = [self._sms_hook(each) if is_sms else self._talk_hook(each) for each in group]
            for first in range(0, len(hooks), MAX_HOOKS_PER_POST):
                self._enqueue("SMS" if is_sms else "KakaoTalk", RESULT, hooks[first : first + MAX_HOOKS_PER_POST])
        calls, state.unsubscribe_events = state.unsubscribe_events, []
        for number, phone, at in calls:
            self._enqueue("SMS", UNSUBSCRIBE, [self._unsubscribe_hook(number, phone, at)])
        events, state.template_events = state.template_events, []
        for template, draft in events:
            self._enqueue("KakaoTalk", TEMPLATE, [self._template_hook(template, draft)])

    def _enqueue(self, product: str, event: str, hooks: list[Json]) -> None:
        if product not in self._addresses:
            return
        address, signature = self._addresses[product]
        body = {
            "hooksId": self._state.new_request_id(),
            "webhookConfigId": "1",
            "productName": "SMS" if product == "SMS" else "KakaoTalk Bizmessage",
            "appKey": self._state.sms_app_key if product == "SMS" else self._state.talk_app_key,
            "event": event,
            "hooks": hooks,
        }
        post = Post(address, signature, body)
        self.pending.append(post)
        self.posts.append(post)

    def _sms_hook(self, message: Message) -> Json:
        kind = "sms" if message.kind == "SMS" else "mms"
        path = f"/sms/v3.0/appKeys/{self._state.sms_app_key}/sender/{kind}/{message.request_id}"
        return {
            "hookId": self._state.new_request_id(),
            "senderType": f"{'AD' if message.is_ad else 'NORMAL'}_{message.kind}",
            "requestId": message.request_id,
            "recipientSeq": message.recipient_seq,
            "requestDate": format_seoul(message.send_at, ISO_SECONDS),
            "receiveDate": format_seoul(message.received_at, ISO_SECONDS),
            "sendNo": message.sender,
            "recipientNo": message.recipient_no,
            "messageStatus": _SMS_STATES[status_of(message)],
            "recipientGroupingKey": message.recipient_grouping_key,
            "recipientGropuingKey": message.recipient_grouping_key,
            "senderGroupingKey": message.sender_grouping_key,
            "resultCode": message.shown_code,
            "messageCount": 1,
            "_link": {"self": {"href": f"{self._state.base}{path}?recipientSeq={message.recipient_seq}"}},
        }

    def _unsubscribe_hook(self, number: str, phone: str, at: int) -> Json:
        """SMS ko/webhook.md, "광고 문자 수신 번호 등록"."""
        return {
            "hookId": self._state.new_request_id(),
            "recipientNo": phone,
            "unsubscribeNo": number,
            "enterpriseName": "NHN Cloud",
            "createdDateTime": format_seoul(at, f"{ISO_SECONDS}.000+09:00"),
        }

    def _talk_hook(self, message: Message) -> Json:
        version = {FRIENDTALK: "v2.4", BRAND: "v1.0"}.get(message.product, "v2.3")
        base = f"{message.product}/{version}"
        path = f"{base}/appkeys/{self._state.talk_app_key}/messages/{message.request_id}/{message.recipient_seq}"
        return {
            "kakaoMessageType": f"{message.kind}_NORMAL",
            "requestId": message.request_id,
            "recipientSeq": message.recipient_seq,
            "requestDate": format_seoul(message.send_at),
            "createDate": format_seoul(message.accepted_at),
            "receiveDate": format_seoul(message.received_at),
            "recipientNo": message.recipient_no,
            "resultCode": message.shown_code,
            "senderGroupingKey": message.sender_grouping_key,
            "recipientGroupingKey": message.recipient_grouping_key,
            "isAddedChannel": message.recipient.targeting != "N" if message.product == BRAND else None,
            "_links": {"self": {"href": f"{self._state.base}/{path}"}},
            "hookId": self._state.new_request_id(),
        }

    def _template_hook(self, template: Template, draft: Draft) -> Json:
        return {
            "senderKey": template.sender_key,
            "templateCode": template.code,
            "kakaoTemplateCode": template.kakao_code,
            "status": draft.status,
            "comments": list(draft.comments),
            "updateDate": format_seoul(draft.updated_at or draft.created_at),
            "hookId": self._state.new_request_id(),
        }


async def _send(client: httpx.AsyncClient, post: Post) -> int | str:
    headers = {"X-Toast-Webhook-Signature": post.signature, "Content-Type": "application/json;charset=UTF-8"}
    try:
        answer = await client.post(post.address, json=post.body, headers=headers)
    except httpx.HTTPError as error:
        return type(error).__name__
    return answer.status_code
