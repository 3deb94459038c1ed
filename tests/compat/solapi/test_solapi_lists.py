"""What Solapi's lists find: by every filter of its clients, in full pages."""

from typing import Any

import pytest

from tests.fixtures.solapi_calls import SENDER, SETTINGS, SolapiCaller, solapi_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template

pytestmark = pytest.mark.settings(**SETTINGS)
OTHER_SENDER = "0298765432"
NOT_A_USER, UNASSIGNED = "01000000003", "01000000001"
"""The simulator's numbers of somebody without KakaoTalk, and of nobody."""


async def list_all(caller: SolapiCaller, path: str = "messages/v4/list", **query: Any) -> list[list[str]]:
    """Return the receivers of a list, page by page."""
    pages: list[list[str]] = []
    key: str | None = ""
    while key is not None:
        answer = (await caller("GET", path, query={**query, **({"startKey": key} if key else {})})).body
        pages.append([each["to"] for each in answer["messageList"].values()])
        key = answer["nextKey"]
    return pages


async def ids_of(caller: SolapiCaller) -> list[str]:
    return list((await caller("GET", "messages/v4/list")).body["messageList"])


async def templates_of(caller: SolapiCaller, **query: str) -> list[str]:
    answer = (await caller("GET", "kakao/v2/templates", query=query)).body
    return [each["templateId"] for each in answer["templateList"]]


async def test_pages_by_status_and_sender_are_full(env: Environment) -> None:
    caller = await solapi_caller(env)
    receivers = [f"0102000000{number}" for number in range(3)]
    for each in receivers:
        await caller.send({"to": each})
        await caller.send({"to": UNASSIGNED, "from": OTHER_SENDER})
        await env.wait(1)
    await env.wait(5)

    assert await list_all(caller, statusCode="4000", limit=2) == [receivers[:0:-1], receivers[:1]]
    assert await list_all(caller, statusCode="3010", limit=3) == [[UNASSIGNED] * 3]
    assert await list_all(caller, **{"from": SENDER}, limit=2) == [receivers[:0:-1], receivers[:1]]
    assert await list_all(caller, statusCode="2000") == [[]]
    assert await list_all(caller, criteria="from,statusCode", cond="eq,eq", value=f"{SENDER},4000", limit=3) == [
        receivers[::-1]
    ]


async def test_codes_that_several_states_have_are_found(env: Environment) -> None:
    caller = await solapi_caller(env)
    sent = await caller.send({"to": "01020000001"}, scheduledDate="2026-11-16T10:00:00+09:00")
    await caller("DELETE", f"messages/v4/groups/{sent.body['groupInfo']['groupId']}/schedule")
    await caller.send({"to": "01020000002"})
    await env.wait(5)

    assert await list_all(caller, statusCode="3031", limit=1) == [["01020000001"]]


async def test_messages_of_a_group_are_found_by_the_same_filters(env: Environment) -> None:
    caller = await solapi_caller(env)
    given = [{"to": each, "subject": each} for each in ("01020000001", UNASSIGNED, "01020000002")]
    group = (await caller.send(*given)).body["groupInfo"]["groupId"]
    await caller.send({"to": "01020000003"})
    await env.wait(5)

    for path, query in (("messages/v4/list", {"groupId": group}), (f"messages/v4/groups/{group}/messages", {})):
        every = await list_all(caller, path, **query, limit=1)
        delivered = await list_all(caller, path, **query, statusCode="4000", limit=1)
        assert sorted(every) == sorted([each["to"]] for each in given)
        assert sorted(delivered) == [["01020000001"], ["01020000002"]]
        assert await list_all(caller, path, **query, statusCode="3010") == [[UNASSIGNED]]
        assert await list_all(caller, path, **query, to="01020000002", type="LMS") == [["01020000002"]]
        assert await list_all(caller, path, **query, to="01020000003") == [[]]
    ids = await ids_of(caller)
    assert len(ids) == 4
    (page,) = await list_all(caller, messageIds=",".join(ids), groupId=group)
    assert sorted(page) == sorted(each["to"] for each in given)


@pytest.mark.parametrize("name", ["messages/v4/list", "messages/v4/groups"])
@pytest.mark.parametrize("date", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
async def test_dates_far_away_are_dates(env: Environment, name: str, date: str) -> None:
    caller = await solapi_caller(env)
    await caller.send({"to": "01020000001"})
    found = []
    for query in ({"startDate": date}, {"endDate": date}, {"startDate": date, "endDate": date}):
        answer = (await caller("GET", name, query=query)).body
        found.append(len(answer.get("messageList", answer.get("groupList"))))

    assert found == ([0, 1, 0] if date.startswith("9") else [1, 0, 0])


async def test_message_to_kakaotalk_has_the_number_of_its_fallback(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key, templateCode="T1")
    caller = await solapi_caller(env)
    options = {"pfId": sender_key, "templateId": "T1", "variables": {"#{name}": "길동"}}
    await caller.send({"to": NOT_A_USER, "text": None, "kakaoOptions": options})
    await env.wait(5)
    rows = (await caller("GET", "messages/v4/list", query={"from": SENDER})).body["messageList"].values()

    assert sorted((row["type"], row["from"]) for row in rows) == [("ATA", SENDER), ("SMS", SENDER)]


async def test_templates_are_found_by_name_state_and_date(env: Environment, call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="T1", name="배송 안내")
    await env.jump(3600)
    await approve_template(call, sender_key, templateCode="T2", name="배송_완료")
    caller = await solapi_caller(env)

    assert await templates_of(caller, **{"name[like]": "배송"}) == ["T2", "T1"]
    assert await templates_of(caller, **{"name[like]": "송_"}) == ["T2"]
    assert await templates_of(caller, **{"name[eq]": "배송 안내"}) == ["T1"]
    assert await templates_of(caller, name="배송 안내") == ["T1"]
    assert await templates_of(caller, **{"name[like]": "없는 이름"}) == []
    assert await templates_of(caller, isHidden="true") == []
    assert await templates_of(caller, isHidden="false", channelId=sender_key, status="APPROVED") == ["T2", "T1"]
    shown = (await caller("GET", "kakao/v2/templates/T2")).body["dateCreated"]
    assert await templates_of(caller, **{"dateCreated[gte]": shown}) == ["T2"]
    assert await templates_of(caller, **{"dateCreated[lte]": "2026-11-15T00:00:00Z"}) == []
    for query in ({"name[ne]": "배송 안내"}, {"isHidden": "1"}, {"status": "X"}, {"dateCreated[gte]": "X"}):
        refused = await caller("GET", "kakao/v2/templates", query=query)
        assert (refused.status, refused.body["errorCode"]) == (400, "ValidationError")


async def test_channels_are_found_by_number_category_and_date(
    env: Environment, call: Caller, sender_key: str
) -> None:
    caller = await solapi_caller(env)
    (shown,) = (await caller("GET", "kakao/v2/channels")).body["channelList"]
    number = shown["phoneNumber"]
    found = []
    for query in (
        {"phoneNumber": f"{number[:3]}-{number[3:7]}-{number[7:]}"},
        {"phoneNumber": "01099999999"},
        {"categoryCode": "00000000000"},
        {"dateCreated[gte]": shown["dateCreated"]},
        {"dateCreated[lte]": "2020-01-01T00:00:00Z"},
    ):
        answer = await caller("GET", "kakao/v2/channels", query=query)
        found.append(len(answer.body["channelList"]))

    assert found == [1, 0, 0, 1, 0]
