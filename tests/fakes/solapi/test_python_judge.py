"""The fake Solapi, judged by Solapi's own client from PyPI: it reads every answer."""

from collections.abc import Iterator
from typing import Any

import pytest
from solapi import SolapiMessageService
from solapi.model import RequestMessage, SendRequestConfig
from solapi.model.request.messages.get_messages import GetMessagesRequest
from solapi.model.webhook.single_report import SingleReportPayload

from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.server import serving as serving_solapi
from tests.fixtures.relay_thread import relay_in_thread

SENDER = "0212345678"


@pytest.fixture(scope="module")
def relay() -> Iterator[FakeSolapi]:
    """The server; a message has its result at once."""
    with relay_in_thread(serving_solapi, seed=1, receipt_after_s=0.0, review_after_s=None) as relay:
        relay.numbers.add(SENDER)
        yield relay


@pytest.fixture(scope="module")
def client(relay: FakeSolapi) -> SolapiMessageService:
    """The client as it is, but for its address."""
    service = SolapiMessageService(relay.api_key, relay.api_secret)
    service.base_url = relay.address
    return service


def text(to: str, **fields: Any) -> RequestMessage:
    return RequestMessage(**{"to": to, "from_": SENDER, "text": "안녕하세요", **fields})


def test_sent_message_is_listed_with_its_result(client: SolapiMessageService) -> None:
    fields = {"pabal": "0123"}
    asked = SendRequestConfig(show_message_list=True)
    sent = client.send([text("01030000001", custom_fields=fields), text("01030000002", from_="0299999999")], asked)
    taken, refused = sent.message_list
    listed = client.get_messages(GetMessagesRequest(message_id=taken.message_id))

    assert (taken.status_code, taken.custom_fields) == ("2000", fields)
    assert [each.status_code for each in sent.failed_message_list] == [refused.status_code] == ["1062"]
    assert sent.group_info.count.registered_success == 1
    (row,) = listed.message_list.values()
    assert (row.status_code, row.custom_fields, row.to) == ("4000", fields, "01030000001")


def test_report_is_read_from_a_webhook(client: SolapiMessageService, relay: FakeSolapi) -> None:
    relay.has_hooks = True
    client.send(text("01030000051", custom_fields={"pabal": "0123"}))
    client.get_messages()  # its result is due
    relay.webhooks.collect()
    (report,) = SingleReportPayload.model_validate(relay.webhooks.posts[-1].body).root

    assert (report.data.status_code, report.data.custom_fields) == ("4000", {"pabal": "0123"})
