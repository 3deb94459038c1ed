"""Iterators go through every page of a list, whatever it is followed by."""

import asyncio

import pytest

from pabal.client import (
    AddOptOuts,
    GetRequest,
    ListMessages,
    ListOptOuts,
    ListPhoneMessages,
    ListResults,
    ReceiverBody,
    SendSms,
)
from pabal.testing.account import TemporaryAccount

PHONE = "010-1234-5678"
COUNT = 25


@pytest.fixture
def request_id(pabal: TemporaryAccount) -> str:
    """A request of COUNT messages to one phone that have ended."""
    receivers = [ReceiverBody(phoneNumber=PHONE, reference=str(number)) for number in range(COUNT)]
    sent = pabal.client.send_sms(SendSms(content="안녕", sender="02-1234-5678", receivers=receivers))
    ended = pabal.wait_until_ended(sent.request_id)
    assert len(ended) == COUNT
    return sent.request_id


def test_every_message_is_listed_once_by_page_and_by_cursor(pabal: TemporaryAccount, request_id: str) -> None:
    client = pabal.client
    wanted = [
        ListMessages(receivers=PHONE, pageSize=10),
        ListMessages(receivers=PHONE, pageSize=COUNT),
        ListMessages(requestId=request_id, pageSize=10),
        ListMessages(requestId=request_id),
    ]

    listed = [list(client.iterate(client.list_messages, body)) for body in wanted]
    of_request = list(client.iterate(client.look_up_request, GetRequest(requestId=request_id, pageSize=7)))

    for found in [*listed, of_request]:
        assert sorted(int(str(each.reference)) for each in found) == list(range(COUNT))


def test_results_are_followed_from_one_cursor_to_the_next(pabal: TemporaryAccount, request_id: str) -> None:
    client = pabal.client

    pages = list(client.iterate_pages(client.list_results, ListResults(limit=10)))
    later = list(client.iterate_pages(client.list_results, ListResults(cursor=pages[-1].item.nextCursor)))

    found = [item for page in pages for item in page.items]
    assert len({each.eventId for each in found}) == len(found) <= COUNT
    assert len(found) + sum(page.resultCount for page in later) <= COUNT
    assert pages[-1].items == []


def test_first_page_is_large_unless_the_caller_chooses(pabal: TemporaryAccount, request_id: str) -> None:
    client = pabal.client

    def sizes(body: ListPhoneMessages) -> list[int]:
        return [len(page.items) for page in client.iterate_pages(client.look_at_phone, body)]

    assert sizes(ListPhoneMessages(phoneNumber=PHONE)) == [COUNT]
    assert sizes(ListPhoneMessages(phoneNumber=PHONE, pageSize=20)) == [20, 5]


def test_asynchronous_iterator_lists_every_item(pabal: TemporaryAccount) -> None:
    numbers = [f"010-1234-{number:04}" for number in range(COUNT)]

    async def add_and_list() -> list[str]:
        async with pabal.async_client() as client:
            await client.add_opt_outs(AddOptOuts(phoneNumbers=numbers))
            return [
                each.phoneNumber async for each in client.iterate(client.list_opt_outs, ListOptOuts(pageSize=10))
            ]

    assert sorted(asyncio.run(add_and_list())) == numbers


def test_empty_list_has_no_items(pabal: TemporaryAccount) -> None:
    assert list(pabal.client.iterate(pabal.client.list_opt_outs, ListOptOuts())) == []
