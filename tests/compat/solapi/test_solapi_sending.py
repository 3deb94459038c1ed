"""What Solapi's endpoints send: once, as a whole, in one slot and lane, with their own defaults."""

from typing import Any

import pytest

from pabal.domain.people.phone import NumberState
from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, numbers
from pabal.store.engine.base import Tx
from tests.fixtures.cases import once, with_each
from tests.fixtures.service import count_rows
from tests.fixtures.solapi_calls import SENDER, SETTINGS, SolapiCaller, solapi_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template

pytestmark = pytest.mark.settings(**SETTINGS)
NOT_A_USER = "01000000003"
"""The simulator's number of somebody without KakaoTalk."""


def receivers(count: int, start: int = 0) -> list[str]:
    return [f"010{number:08}" for number in range(start, start + count)]


async def test_repeat_of_a_signature_gets_the_first_answer(env: Environment) -> None:
    caller = await solapi_caller(env)
    header = caller.sign()
    given = [{"to": "01012345678"}, {"to": "01012345679", "text": "가" * 50}]
    first = await caller.send(*given, header=header)
    again = await caller.send(*given, header=header)
    other = await caller.send({"to": "01011111111"}, header=header)

    assert first.body == again.body
    assert (other.status, other.body["errorCode"]) == (403, "DuplicatedSignature")
    assert await count_rows(env, "messages") == 2


@pytest.mark.settings(check_sender_numbers=True)
async def test_repeat_sends_nothing_twice_though_more_is_permitted_now(env: Environment) -> None:
    caller = await solapi_caller(env)
    account_id = await env.account_id()
    await env.store.write(numbers.add, account_id, SENDER, env.world.now(), NumberState.APPROVED)
    header = caller.sign()
    given = [{"to": "01012345678", "from": "0298765432"}, {"to": "01012345679"}]
    first = await caller.send(*given, header=header)
    await env.store.write(numbers.add, account_id, "0298765432", env.world.now(), NumberState.APPROVED)
    await env.wait(2)
    await caller.send(*given, header=header)
    rows = await env.store.read(lambda tx: tx.fetch_all("select receiver, count(*) from messages group by 1"))

    assert [each["statusCode"] for each in first.body["failedMessageList"]] == ["1062"]
    assert {count for _, count in rows} == {1}


@pytest.mark.settings(duplicate_minutes=5, duplicate_action="refuse")
async def test_text_that_somebody_got_already_costs_nobody_else_theirs(env: Environment) -> None:
    caller = await solapi_caller(env)
    await caller.send({"to": "01012345678"})
    sent = await caller.send({"to": ["01012345678", "01012345679"]})
    await env.wait(5)
    shown = await caller("GET", "messages/v4/list", query={"groupId": sent.body["groupInfo"]["groupId"]})

    codes = {each["to"]: each["statusCode"] for each in shown.body["messageList"].values()}
    assert sent.body["failedMessageList"] == []
    assert codes["01012345679"] == "4000"
    assert codes["01012345678"] not in ("2000", "3000", "4000")


async def test_refused_messages_have_ids_of_their_own(env: Environment) -> None:
    caller = await solapi_caller(env)
    sent = await caller.send({"to": "123"}, {"to": "01012345678"}, {"to": "456"})
    refused = [each["messageId"] for each in sent.body["failedMessageList"]]
    shown = await caller("GET", "messages/v4/list", query={"messageIds": ",".join(refused)})

    assert len({each["messageId"] for each in sent.body["messageList"]}) == 3
    assert (len(refused), shown.body["messageList"]) == (2, {})


async def test_call_is_one_campaign_however_it_is_cut(env: Environment) -> None:
    caller = await solapi_caller(env)
    mixed = [
        {"to": one, "text": f"본문 {number % 3}", "subject": f"제목 {number % 3}"}
        for number, one in enumerate(receivers(12))
    ]
    await caller.send(*mixed)
    await caller.send({"to": "01099999999"})
    rows = await env.store.read(lambda tx: tx.fetch_all("select distinct slot, lane from jobs order by 2"))

    assert {row[1] for row in rows} == {0, 1}
    assert len({row[0] for row in rows if row[1] == 1}) == 1


async def test_limit_counts_the_whole_call(env: Environment) -> None:
    caller = await solapi_caller(env)
    await _set_daily_limit(env, 5)
    refused = await caller.send({"to": receivers(6)})
    taken = await caller.send({"to": receivers(3)}, {"to": receivers(2, 10), "subject": "제목"})

    assert {each["statusCode"] for each in refused.body["failedMessageList"]} == {"1030"}
    assert taken.body["failedMessageList"] == []
    assert await count_rows(env, "messages") == 5


async def _set_daily_limit(env: Environment, limit: int) -> None:
    account_id = await env.account_id()
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_day=limit))


async def test_alimtalk_by_variables_and_by_finished_text(env: Environment, call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="T2", content="#{name}님, #{item} 배송을 시작했습니다.")
    caller = await solapi_caller(env)
    kakao = {"pfId": sender_key, "templateId": "T2"}
    values = {"#{name}": "길동", "#{item}": "사과"}
    answer = await caller.send(
        {"to": "01010000001", "text": None, "kakaoOptions": {**kakao, "variables": values}},
        {"to": "01010000002", "text": "철수님, 배 배송을 시작했습니다.", "kakaoOptions": kakao},
        {
            "to": "01010000003",
            "text": "#{name}님, 귤 배송을 시작했습니다.",
            "kakaoOptions": {**kakao, "variables": values},
        },
        {"to": "01010000004", "text": "철수님, 배 배송을 마쳤습니다.", "kakaoOptions": kakao},
        {"to": "01010000005", "text": None, "kakaoOptions": kakao},
        {"to": "01010000006", "text": None, "kakaoOptions": {**kakao, "templateId": "T9"}},
        {"to": "01010000007", "text": None, "kakaoOptions": {**kakao, "pfId": "x"}},
    )
    texts = [row["text"] for row in await _list(caller)]

    assert [each["statusCode"] for each in answer.body["messageList"]] == [
        *("2000", "2000", "2000", "1043", "1043", "1042", "1041")
    ]
    assert sorted(texts) == [
        "길동님, 귤 배송을 시작했습니다.",
        "길동님, 사과 배송을 시작했습니다.",
        "철수님, 배 배송을 시작했습니다.",
    ]


async def test_failed_alimtalk_is_replaced_unless_the_caller_says_no(env: Environment, alimtalk_key: str) -> None:
    caller = await solapi_caller(env)
    kakao = {"pfId": alimtalk_key, "templateId": "T1"}
    for to, options in ((NOT_A_USER, kakao), (NOT_A_USER, {**kakao, "disableSms": True})):
        await caller.send({"to": to, "text": None, "kakaoOptions": options})
    await env.wait(60)
    rows = await _list(caller)

    assert sorted((row["type"], row["statusCode"], row["replacement"]) for row in rows) == [
        ("ATA", "3104", False),
        ("ATA", "3104", False),
        ("SMS", "4000", True),
    ]


async def _list(caller: SolapiCaller, **query: Any) -> list[dict[str, Any]]:
    answer = await caller("GET", "messages/v4/list", query=query)
    assert answer.status == 200, answer.body
    return list(answer.body["messageList"].values())


async def test_single_send_answers_flat_and_refuses_whole(env: Environment) -> None:
    caller = await solapi_caller(env)
    sent = await caller(
        "POST", "messages/v4/send", {"message": {"to": "01012345678", "from": SENDER, "text": "hi"}}
    )
    refused = await caller("POST", "messages/v4/send", {"message": {"to": "1", "from": SENDER, "text": "hi"}})

    assert (sent.status, sent.body["statusCode"], sent.body["type"]) == (200, "2000", "SMS")
    assert (refused.status, refused.body["errorCode"]) == (400, "1011")


async def _send_three(env: Environment) -> SolapiCaller:
    caller = await solapi_caller(env)
    await caller.send({"to": receivers(2, 10000001)}, {"to": "01010000009", "subject": "제목"})
    await env.wait(30)
    return caller


@with_each(
    ("query", "found"),
    [
        ({}, 3),
        ({"to": "010-1000-0001"}, 1),
        ({"type": "LMS"}, 1),
        ({"type": "FAX"}, 0),
        ({"statusCode": "4000"}, 3),
        ({"statusCode": "3010"}, 0),
        ({"criteria": "to,statusCode", "cond": "eq,eq", "value": "01010000002,4000"}, 1),
        ({"startDate": "2020-01-01T00:00:00Z", "endDate": "2020-01-02T00:00:00Z"}, 0),
        ({"dateType": "UPDATED", "startDate": "2020-01-01T00:00:00Z"}, 3),
        ({"to": "nobody"}, 0),
        ({"messageId": "M4V123"}, 0),
    ],
)
async def test_list_is_filtered(env: Environment, query: dict[str, str], found: int) -> None:
    caller = await once(env, _send_three)

    assert len(await _list(caller, **query)) == found


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("messages/v4/list", {"limit": "many"}),
        ("messages/v4/list", {"limit": "0"}),
        ("messages/v4/list", {"startKey": "x"}),
        ("messages/v4/list", {"dateType": "SOON"}),
        ("messages/v4/list", {"startDate": "yesterday"}),
        ("messages/v4/list", {"criteria": "text", "cond": "like", "value": "x"}),
        ("messages/v4/groups", {"criteria": "to", "cond": "eq", "value": "x"}),
    ],
)
async def test_wrong_query_is_named(env: Environment, path: str, query: dict[str, str]) -> None:
    answer = await (await solapi_caller(env))("GET", path, query=query)

    assert (answer.status, answer.body["errorCode"]) == (400, "ValidationError")


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"[",
            b'{"messages": []}',
            b'{"messages": [{"to": 1}]}',
            b'{"messages": [{"to": "\\u0000"}]}',
            b"\xff",
        ),
        b'{"messages": [{"to": "01012345678"}], "scheduledDate": "2030-01-01T00:00:00Z"}',
    ],
)
async def test_wrong_body_sends_nothing(env: Environment, body: bytes) -> None:
    answer = await (await solapi_caller(env))("POST", "messages/v4/send-many/detail", body)

    assert (answer.status, answer.body["errorCode"]) == (400, "ValidationError")
    assert await count_rows(env, "messages") == 0


async def test_group_that_was_sent_halfway_is_completed(env: Environment) -> None:
    caller = await solapi_caller(env)
    group = (await caller("POST", "messages/v4/groups", {})).body["groupId"]
    message = {"to": "010-1234-5678", "from": SENDER, "text": "hi"}
    await caller("PUT", f"messages/v4/groups/{group}/messages", {"messages": [message]})
    stored = [await env.store.read(_read_table, name) for name in ("compat_groups", "compat_group_messages")]
    await caller("POST", f"messages/v4/groups/{group}/send")
    for name, rows in zip(("compat_groups", "compat_group_messages"), stored, strict=True):
        await env.store.write(_write_table, name, rows)
    again = await caller("POST", f"messages/v4/groups/{group}/send")

    assert (again.status, await count_rows(env, "messages")) == (200, 1)


def _read_table(tx: Tx, name: str) -> list[Any]:
    return list(tx.fetch_all(f"select * from {name}"))


def _write_table(tx: Tx, name: str, rows: list[Any]) -> None:
    for row in rows:
        tx.execute(f"insert into {name} values ({', '.join('?' * len(row))})", row)


async def test_nothing_is_added_to_a_group_whose_sending_has_begun(env: Environment) -> None:
    caller = await solapi_caller(env)
    await _set_daily_limit(env, 1)
    group = (await caller("POST", "messages/v4/groups", {})).body["groupId"]
    place = f"messages/v4/groups/{group}"
    given = [{"to": one, "from": SENDER, "text": "hi"} for one in ("01012345678", "01012345679")]
    empty = await caller("POST", f"{place}/send")
    await caller("PUT", f"{place}/messages", {"messages": given})
    refused = await caller("POST", f"{place}/send")
    late = await caller("PUT", f"{place}/messages", {"messages": [{**given[0], "to": "01099999999"}]})
    await _set_daily_limit(env, 2)
    sent = await caller("POST", f"{place}/send")

    assert [each.status for each in (empty, refused, late, sent)] == [400, 400, 400, 200]
    assert "발송을 시작한 그룹" in late.body["errorMessage"]
    assert await count_rows(env, "messages") == 2


async def test_repeat_of_a_signature_adds_to_a_group_once(env: Environment) -> None:
    caller = await solapi_caller(env)
    group = (await caller("POST", "messages/v4/groups", {"allowDuplicates": True})).body["groupId"]
    place, header = f"messages/v4/groups/{group}/messages", caller.sign()
    given = {"messages": [{"to": "01012345678", "from": SENDER, "text": "hi"}]}
    first = await caller("PUT", place, given, header=header)
    again = await caller("PUT", place, given, header=header)
    other = await caller("PUT", place, {"messages": [{**given["messages"][0], "text": "ho"}]}, header=header)
    shown = await caller("GET", f"messages/v4/groups/{group}")

    assert first.body == again.body
    assert (other.status, other.body["errorCode"]) == (403, "DuplicatedSignature")
    assert shown.body["count"]["total"] == 1


async def test_erased_number_is_no_longer_in_groups(env: Environment, call: Caller) -> None:
    caller = await solapi_caller(env)
    group = (await caller("POST", "messages/v4/groups", {})).body["groupId"]
    messages = [{"to": one, "from": SENDER, "text": "hi"} for one in ("010-1234-5678", "01099999999")]
    await caller("PUT", f"messages/v4/groups/{group}/messages", {"messages": messages})
    await call("privacy/erase", {"phoneNumber": "010-1234-5678"})
    rows = await env.store.read(lambda tx: tx.fetch_all("select receiver from compat_group_messages"))

    assert [row[0] for row in rows] == ["01099999999"]


async def test_groups_that_are_not_sent_are_counted_and_forgotten(env: Environment) -> None:
    caller = await solapi_caller(env)
    other = await solapi_caller(env, "other", "OTHER-KEY-0001")
    groups = [(await caller("POST", "messages/v4/groups", {})).body.get("groupId") for _ in range(101)]
    foreign = await other("POST", f"messages/v4/groups/{groups[0]}/send")

    assert (groups.count(None), foreign.status) == (1, 404)


async def test_too_many_messages_are_refused(env: Environment) -> None:
    answer = await (await solapi_caller(env)).send({"to": receivers(10_001)})

    assert (answer.status, answer.body["errorCode"]) == (413, "RecipientsTooMany")
