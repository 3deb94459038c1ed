"""Calls to NHN Cloud name the right path, and incomplete lists are not accepted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import pytest

from pabal.carriers.nhncloud.client import NhnCloudClient
from pabal.carriers.nhncloud.provider import MAX_PAGES, NhnCloudProvider
from pabal.carriers.provider import ProviderOutcomeUnknown, RemoteProfile
from pabal.domain.base.codes import Refused
from tests.fixtures.transports import OverHttpx

FINE = {"resultCode": 0, "resultMessage": "SUCCESS", "isSuccessful": True}
PAGE = 2

T = TypeVar("T")
Answering = Callable[[int], dict[str, Any]]


def sender(number: int) -> dict[str, Any]:
    return {"plusFriendId": f"@{number}", "senderKey": f"key{number}", "status": "YSC03", "categoryCode": "1"}


def ask(
    reply: Callable[[httpx.Request], dict[str, Any]],
    work: Callable[[NhnCloudProvider], Awaitable[T]],
    app_key: str = "key",
) -> T:
    """Return what `work` finds at a peer that gives these answers."""

    async def scenario() -> T:
        peer = httpx.MockTransport(lambda request: httpx.Response(200, json={"header": FINE, **reply(request)}))
        client = NhnCloudClient("http://127.0.0.1", app_key, "secret", transport=OverHttpx(peer))
        try:
            return await work(NhnCloudProvider(client, 1.0, PAGE))
        finally:
            await client.close()

    return asyncio.run(scenario())


def asked(answer: Answering) -> list[RemoteProfile]:
    """List every profile of a peer that gives this answer to each page."""
    return ask(
        lambda request: answer(int(request.url.params["pageNum"])), lambda provider: provider.list_profiles()
    )


def answered(answer: dict[str, Any], work: Callable[[NhnCloudProvider], Awaitable[T]]) -> T:
    """Return what `work` finds at a peer that gives this answer to every call."""
    return ask(lambda _: answer, work)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("is_counted", [True, False])
def test_list_is_read_to_its_end(count: int, is_counted: bool) -> None:
    def answer(page: int) -> dict[str, Any]:
        rows = [sender(number) for number in range(count)][(page - 1) * PAGE : page * PAGE]
        return {"senders": rows, **({"totalCount": count} if is_counted else {})}

    assert [each.sender_key for each in asked(answer)] == [f"key{number}" for number in range(count)]


@pytest.mark.parametrize(
    "answer",
    [
        lambda page: {"senders": [sender(1)], "totalCount": 2},
        lambda page: {"senders": [], "totalCount": 1},
        lambda page: {"totalCount": 1},
        lambda page: {"senders": [sender(1), sender(2)] if page == 1 else [], "totalCount": 3},
        lambda page: {"senders": [sender(page), sender(-page)], "totalCount": 2 * MAX_PAGES + 1},
        lambda page: {"senders": [{"plusFriendId": None}], "totalCount": 1},
        lambda page: {"senders": {"plusFriendId": "@1"}, "totalCount": 1},
        lambda page: {"senders": ["@1"], "totalCount": 1},
    ],
    ids=["fewer", "none", "no list", "fewer on two pages", "endless", "no channel", "no array", "no objects"],
)
def test_incomplete_list_is_not_an_answer(answer: Answering) -> None:
    with pytest.raises(ProviderOutcomeUnknown):
        asked(answer)


def call_paths(work: Callable[[NhnCloudProvider], Awaitable[object]]) -> list[str]:
    """Return the raw path of every call that `work` makes."""
    paths: list[str] = []

    def reply(request: httpx.Request) -> dict[str, Any]:
        paths.append(request.url.raw_path.decode())
        return {}

    ask(reply, work, "k/y")
    return paths


@pytest.mark.parametrize("code", ["", ".", "..", "../..", "a/b", "/", "..\\a"])
def test_nothing_is_called_for_a_code_or_key_that_would_name_another_path(code: str) -> None:
    """DELETE …/templates/.. would delete the profile."""
    with pytest.raises(Refused):
        call_paths(lambda provider: provider.delete_template("key", code))
    with pytest.raises(Refused):
        call_paths(lambda provider: provider.delete_profile(code))


@pytest.mark.parametrize(
    ("code", "segment"),
    [("T1", "T1"), ("가 ?#%&=+", "%EA%B0%80%20%3F%23%25%26%3D%2B"), ("{appkey}", "%7Bappkey%7D"), ("a..", "a..")],
)
def test_codes_keys_and_app_keys_are_one_encoded_segment_of_the_path(code: str, segment: str) -> None:
    paths = call_paths(lambda provider: provider.delete_template(code, code))

    assert paths == [f"/alimtalk/v2.3/appkeys/k%2Fy/senders/{segment}/templates/{segment}"]


def test_channel_is_one_encoded_value_of_the_query() -> None:
    (path,) = call_paths(lambda provider: provider.find_profile("@a&pageNum=9#?"))

    assert path.partition("?")[2] == "plusFriendId=%40a%26pageNum%3D9%23%3F&pageNum=1&pageSize=2"


@pytest.mark.parametrize(
    ("rows", "newest"),
    [
        ([("TSC04", "2026-11-01 10:00:00"), ("TSC02", "2026-11-02 10:00:00")], "TSC02"),
        ([("TSC04", "2026-11-02 10:00:00"), ("TSC03", "2026-11-01 10:00:00")], "TSC04"),
        ([("TSC02", "2026-11-02 10:00:00"), ("TSC04", "2026-11-02 10:00:00")], "TSC02"),
        ([("TSC04", "2026-11-02 10:00:00"), ("TSC01", "2026-11-02 10:00:00")], "TSC01"),
    ],
)
def test_newest_change_of_a_template_is_found_whatever_their_order(
    rows: list[tuple[str, str]], newest: str
) -> None:
    for order in (rows, rows[::-1]):
        listed = [
            {"templateCode": "T1", "templateName": status, "status": status, "createDate": at}
            for status, at in order
        ]
        answer = {"templateModificationsResponse": {"templates": listed, "totalCount": len(listed)}}

        found = answered(answer, lambda provider: provider.get_template_change("key", "T1"))

        assert found is not None
        assert found.content.name == newest


def test_category_codes_of_the_levels_are_joined_to_eleven_digits() -> None:
    """A list that already has whole codes is taken as it is."""
    leaf = {"parentCode": "0001", "depth": 3, "code": "0002", "name": "피부과"}
    whole = {"parentCode": "0010001", "depth": 3, "code": "00100010003", "name": "치과"}
    middle = {"parentCode": "001", "depth": 2, "code": "0001", "name": "병원", "subCategories": [leaf, whole]}
    top = {"parentCode": None, "depth": 1, "code": "001", "name": "건강", "subCategories": [middle]}

    found = answered({"categories": [top]}, lambda provider: provider.list_categories())

    assert found.profiles == (("00100010002", "건강,병원,피부과", None), ("00100010003", "건강,병원,치과", None))
