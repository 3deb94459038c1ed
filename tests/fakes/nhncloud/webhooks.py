"""Webhook calls of the server: results of messages and opt-outs, repeated until accepted."""

from collections.abc import Mapping
from itertools import groupby

from tests.fakes.nhncloud import brand
from tests.fakes.nhncloud.answers import Json, format_seoul
from tests.fakes.nhncloud.sms_lists import status_of
from tests.fakes.nhncloud.state import BRAND, FRIENDTALK, SMS, Message
from tests.fakes.relay_webhooks import MAX_HOOKS_PER_POST, RelayWebhooks

RESULT = "MESSAGE_RESULT_UPDATE"
UNSUBSCRIBE = "UNSUBSCRIBE"
ISO_SECONDS = "%Y-%m-%dT%H:%M:%S"
_SMS_STATES = {"0": "FAILED", "2": "COMPLETED", "3": "COMPLETED"}


class Webhooks(RelayWebhooks):
    """Results of messages, and opt-outs."""

    max_attempts = 10

    def set(self, address: str, secret: str) -> None:
        self._state.results.has_hooks = True
        super().set(address, secret)

    def headers(self) -> Mapping[str, str]:
        return {"X-Toast-Webhook-Signature": self._secret, "Content-Type": "application/json;charset=UTF-8"}

    def next_change_at(self) -> int | None:
        at: int | None = self._state.results.next_at()
        return at

    def collect(self) -> None:
        state, behavior = self._state, self._state.behavior
        messages, state.results.pending_hooks = state.results.pending_hooks * behavior.result_copies, []
        if behavior.shuffles_results:
            state.random.shuffle(messages)
        for is_sms, group in groupby(messages, key=lambda each: each.product == SMS):
            hooks = [self._sms_hook(each) if is_sms else self._talk_hook(each) for each in group]
            for first in range(0, len(hooks), MAX_HOOKS_PER_POST):
                self._enqueue(is_sms, RESULT, hooks[first : first + MAX_HOOKS_PER_POST])
        calls, state.unsubscribe_events = state.unsubscribe_events, []
        for number, phone, at in calls:
            self._enqueue(True, UNSUBSCRIBE, [self._unsubscribe_hook(number, phone, at)])

    def _enqueue(self, is_sms: bool, event: str, hooks: list[Json]) -> None:
        self.add(
            {
                "hooksId": self._state.new_request_id(),
                "webhookConfigId": "1",
                "productName": "SMS" if is_sms else "KakaoTalk Bizmessage",
                "appKey": self._state.sms_app_key if is_sms else self._state.talk_app_key,
                "event": event,
                "hooks": hooks,
            }
        )

    def _sms_hook(self, message: Message) -> Json:
        kind = {"SMS": "sms", "AUTH": "auth/sms"}.get(message.kind, "mms")
        path = f"/sms/v3.0/appKeys/{self._state.sms_app_key}/sender/{kind}/{message.request_id}"
        return {
            "hookId": self._state.new_request_id(),
            "senderType": f"{'AD' if message.is_ad else 'NORMAL'}_{message.kind}",
            "requestId": message.request_id,
            "recipientSeq": message.recipient_seq,
            "requestDate": format_seoul(message.accepted_at, ISO_SECONDS),
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
            "kakaoMessageType": f"{message.kind}_{'AUTH' if message.is_auth else 'NORMAL'}",
            "requestId": message.request_id,
            "recipientSeq": message.recipient_seq,
            "requestDate": format_seoul(message.accepted_at),
            "createDate": format_seoul(message.accepted_at),
            "receiveDate": format_seoul(message.received_at),
            "recipientNo": message.recipient_no,
            "resultCode": message.shown_code,
            "senderGroupingKey": message.sender_grouping_key,
            "recipientGroupingKey": message.recipient_grouping_key,
            "isAddedChannel": brand.is_friend(message) if message.product == BRAND else None,
            "_links": {"self": {"href": f"{self._state.base}/{path}"}},
            "hookId": self._state.new_request_id(),
        }
