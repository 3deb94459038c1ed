"""Solapi's own client from PyPI, unchanged but for its address, against the running service."""

from typing import Any

import pytest
from solapi import SolapiMessageService
from solapi.error.MessageNotReceiveError import MessageNotReceivedError
from solapi.model import RequestMessage, SendRequestConfig
from solapi.model.kakao.kakao_option import KakaoOption
from solapi.model.message_type import MessageType
from solapi.model.request.kakao.bms import Bms
from solapi.model.request.messages.get_messages import GetMessagesRequest

from pabal.testing.account import TemporaryAccount
from tests.compat.clients.conftest import Solapi
from tests.fixtures.solapi_brand import BUBBLES

SENDER = "0212345678"


@pytest.fixture(scope="module")
def client(relay: Solapi) -> SolapiMessageService:
    service = SolapiMessageService(relay.api_key, relay.api_secret)
    service.base_url = relay.address
    return service


def text(to: str, **fields: Any) -> RequestMessage:
    return RequestMessage(**{"to": to, "from_": SENDER, "text": "안녕하세요", **fields})


def test_sent_messages_are_listed_and_refused_ones_named(client: SolapiMessageService) -> None:
    fields = {"order": "0123"}
    asked = SendRequestConfig(show_message_list=True)
    sent = client.send([text("01040000001", custom_fields=fields), text("01040000002", text="🙂")], asked)
    taken, _ = sent.message_list
    listed = client.get_messages(GetMessagesRequest(message_id=taken.message_id))

    assert [each.status_code for each in sent.failed_message_list] == ["1029"]
    assert (sent.group_info.count.registered_success, sent.group_info.count.registered_failed) == (1, 1)
    (row,) = listed.message_list.values()
    assert (row.custom_fields, row.to) == (fields, "01040000001")


def test_group_is_looked_up(client: SolapiMessageService) -> None:
    group = client.send([text("01040000011")]).group_info.group_id

    assert client.get_group(group).group_id == group
    assert [row.to for row in client.get_group_messages(group).message_list.values()] == ["01040000011"]


@pytest.mark.torture
def test_balance_is_read(client: SolapiMessageService) -> None:
    assert client.get_balance().balance > 0


def test_refused_call_raises(client: SolapiMessageService) -> None:
    with pytest.raises(MessageNotReceivedError):
        client.send(text("12345"))


def test_alimtalk_and_friend_talk_are_sent(client: SolapiMessageService, relay: Solapi) -> None:
    with TemporaryAccount(relay.base_url, relay.own_key) as account:
        key = account.register_template("#{name}님, 어서 오세요.", "T3")
    variables = KakaoOption(pf_id=key.senderKey, template_id="T3", variables={"#{name}": "길동"}, disable_sms=True)
    given = [
        RequestMessage(to="01040000041", from_=SENDER, kakao_options=variables),
        text("01040000042", kakao_options=KakaoOption(pf_id=key.senderKey)),
    ]
    group = client.send(given).group_info.group_id
    rows = client.get_group_messages(group).message_list.values()

    assert sorted((row.to, MessageType(row.type).value, row.text) for row in rows) == [
        ("01040000041", "ATA", "길동님, 어서 오세요."),
        ("01040000042", "CTA", "안녕하세요"),
    ]


@pytest.mark.first_case
@pytest.mark.parametrize("bubble", BUBBLES)
def test_brand_message_of_each_type_is_sent(client: SolapiMessageService, relay: Solapi, bubble: str) -> None:
    with TemporaryAccount(relay.base_url, relay.own_key) as account:
        found = account.client.list_senders().items
        sender_key = str(found[0].senderKey) if found else account.register_channel()
    content, parts = BUBBLES[bubble]
    bms = Bms.model_validate({"targeting": "I", "chatBubbleType": bubble, **parts})
    options = KakaoOption(pf_id=sender_key, bms=bms)
    sent = client.send(RequestMessage(to="01040000051", from_=SENDER, text=content, kakao_options=options))
    (row,) = client.get_group_messages(sent.group_info.group_id).message_list.values()

    assert sent.failed_message_list == []
    assert (MessageType(row.type).value, row.text) == ("BMS_FREE", content or "")
