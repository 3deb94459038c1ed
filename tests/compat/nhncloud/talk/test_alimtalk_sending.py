"""What NHN Cloud's endpoints of Alimtalk send, and what they refuse, recipient by recipient."""

from typing import Any

import pytest

from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, numbers
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, results_of, talk_caller
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template, list_messages

pytestmark = pytest.mark.settings(**SETTINGS)
CONTENT = "#{name}님, #{item} 배송을 시작했습니다."


def alimtalk(sender_key: str, *recipients: dict[str, Any], code: str = "T2", **fields: Any) -> dict[str, Any]:
    return {"senderKey": sender_key, "templateCode": code, "recipientList": list(recipients), **fields}


async def texts_to(call: Caller, *numbers: str) -> list[list[str]]:
    return [[row["content"] for row in await list_messages(call, number)] for number in numbers]


async def test_values_and_finished_texts_give_the_same(env: Environment, call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="T2", content=CONTENT)
    caller = await talk_caller(env)
    values = {"name": "길동", "item": "사과"}
    sent = await caller.ok(
        "POST", "messages", alimtalk(sender_key, {"recipientNo": "010-1000-0001", "templateParameter": values})
    )
    raw = await caller.ok(
        "POST",
        "raw-messages",
        alimtalk(sender_key, {"recipientNo": "01010000002", "content": "철수님, 배 배송을 시작했습니다."}),
    )

    assert results_of(sent) == results_of(raw) == [(1, 0)]
    assert await texts_to(call, "01010000001", "01010000002") == [
        ["길동님, 사과 배송을 시작했습니다."],
        ["철수님, 배 배송을 시작했습니다."],
    ]


async def test_each_recipient_is_refused_with_its_code(env: Environment, call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="T2", content=CONTENT)
    caller = await talk_caller(env)
    good = "철수님, 배 배송을 시작했습니다."
    answer = await caller.ok(
        "POST",
        "raw-messages",
        alimtalk(
            sender_key,
            {"recipientNo": "", "content": good},
            {"recipientNo": "01010000001", "content": good, "recipientGroupingKey": "a"},
            {"recipientNo": "123", "content": good},
            {"recipientNo": "01010000002", "content": "철수님, 배 배송을 마쳤습니다."},
            {"recipientNo": "01010000003", "content": good, "buttons": [{"ordering": 1, "type": "WL"}]},
            {"recipientNo": "01010000004", "content": good, "resendParameter": {"isResend": True}},
            {
                "recipientNo": "01010000005",
                "content": good,
                "resendParameter": {"isResend": True, "resendSendNo": "0299999999"},
            },
            {
                "recipientNo": "01010000006",
                "content": good,
                "resendParameter": {"isResend": True, "resendSendNo": SENDER, "resendContent": "문자 #{name}"},
                "recipientGroupingKey": "b",
            },
        ),
    )

    assert results_of(answer) == [
        *((1, -2001), (2, 0), (3, -5000), (4, -3010), (5, -3011), (6, -2502)),
        *((7, 0), (8, 0)),
    ]
    assert [row["recipientGroupingKey"] for row in answer["message"]["sendResults"]][1::6] == ["a", "b"]


@pytest.mark.settings(check_sender_numbers=True)
async def test_repeat_sends_nothing_even_where_more_is_permitted_now(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key, templateCode="T2", content="안내")
    caller = await talk_caller(env)
    resend = {"isResend": True, "resendSendNo": SENDER}
    recipients: list[dict[str, Any]] = [
        {"recipientNo": "01010000001", "resendParameter": resend},
        {"recipientNo": "01010000002"},
    ]
    body, headers = alimtalk(sender_key, *recipients), {"x-nc-api-idempotency-key": "once"}
    first = await caller.ok("POST", "messages", body, headers=headers)
    account_id = await env.account_id()
    await env.store.write(numbers.add, account_id, SENDER, env.world.now())
    again = await caller.code("POST", "messages", body, headers=headers)
    kept = await count_rows(env, "messages")
    await env.wait(601)
    later = await caller.ok("POST", "messages", body, headers=headers)

    assert results_of(first) == [(1, -4200), (2, 0)]
    assert (again, kept) == (-1005, 1)
    assert results_of(later) == [(1, 0), (2, 0)]
    assert await count_rows(env, "messages") == 3


async def test_call_is_one_campaign_and_one_limit(env: Environment, call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="T2", content="안내")
    caller = await talk_caller(env)
    account_id = await env.account_id()
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_day=13))
    resends = [{"isResend": False}, {"isResend": True, "resendSendNo": SENDER}]
    many = [
        {"recipientNo": f"010100000{number:02}", "resendParameter": resends[number % 2]} for number in range(12)
    ]
    await caller.ok("POST", "messages", alimtalk(sender_key, *many))
    lanes = await env.store.read(lambda tx: tx.fetch_all("select distinct lane, slot from jobs"))
    refused = await caller("POST", "messages", alimtalk(sender_key, *many[:2]))

    assert [row[0] for row in lanes] == [1]
    assert refused.body["header"]["resultCode"] == -1031
    assert results_of(refused.body) == [(1, -1017), (2, -1017)]
