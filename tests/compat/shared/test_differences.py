"""What is counted of calls that differ here: by account and day, without anything personal, and only so much."""

import json
from collections import Counter

import pytest

from pabal.compat.differences import CallDifference, note
from pabal.domain.base import dates
from pabal.domain.base.dates import DAY
from pabal.service.delayed_writes import MAX_DIFFERENCES, WRITE_INTERVAL_S
from pabal.store.accounts import compat_differences
from pabal.store.accounts.compat_differences import MAX_ROWS_PER_DAY, CountedDifference, DifferenceKey
from tests.fixtures.solapi_calls import SENDER, SETTINGS, solapi_caller
from tests.fixtures.virtual import NOON, Environment

pytestmark = pytest.mark.settings(**SETTINGS)
ALL_CODES = {each.code for each in CallDifference}


async def read(env: Environment, account: str = "acme", since: int = 0) -> list[CountedDifference]:
    """Return what is counted of an account, once it is written."""
    await env.wait(WRITE_INTERVAL_S + 1)
    return await env.store.read(compat_differences.list_since, await env.account_id(account), since)


async def counts_of(env: Environment, account: str = "acme") -> Counter[tuple[str, str]]:
    """Return how often each difference was counted, without the calls themselves."""
    found = await read(env, account)
    return Counter({(each.difference, each.detail): each.uses for each in found if each.difference != "call"})


async def test_what_is_refused_ignored_or_changed_is_counted(env: Environment) -> None:
    caller = await solapi_caller(env)
    header = caller.sign()
    for _ in range(2):
        await caller.send(
            {"to": "01012345678", "surprise": 1, "kakaoOptions": None},
            {"to": "01012345679", "type": "VOICE"},
            {"to": "01012345670", "country": "81"},
            {"to": "1"},
            {"to": "01012345671", "from": "0299999999", "replacements": [{"text": "a"}]},
            header=header,
            scheduledDate="2026-11-16T10:00:30+09:00",
        )
    await caller("GET", "cash/v1/balance")
    await caller("GET", "messages/v4/list", query={"subType": "x", "limit": "1"})
    await caller("GET", "messages/v4/list", query={"limit": "many"})
    await caller("POST", "messages/v4/statistics/0123456789abcdef", {})
    await caller("POST", "messages/v4/groups", {"customFields": {"a": "b"}})
    await caller("GET", "messages/v4/groups", query={"statusCode": "4000", "status[eq]": "SENDING"})

    assert await counts_of(env) == {
        ("field", "surprise"): 2,
        ("kind", "VOICE"): 2,
        ("kind", "SMS"): 2,
        ("country", "81"): 2,
        ("refused", "1011"): 2,
        ("schedule", ""): 2,
        ("repeat", ""): 1,
        ("balance", ""): 1,
        ("query", "subType"): 1,
        ("query", "statusCode"): 1,
        ("query", "status[eq]"): 1,
        ("field", "customFields"): 1,
        ("refusedCall", "GET messages/v4/list ValidationError"): 1,
        ("endpoint", "POST messages/v4/statistics/*"): 1,
    }
    calls = {each.detail: each.uses for each in await read(env) if each.difference == "call"}
    assert calls == {
        "POST messages/v4/send-many/detail": 2,
        "GET cash/v1/balance": 1,
        "GET messages/v4/list": 2,
        "POST messages/v4/groups": 1,
        "GET messages/v4/groups": 1,
    }


async def test_what_coolsms_node_sdk_writes_into_every_send_is_not_counted(env: Environment) -> None:
    caller = await solapi_caller(env)
    message = {"to": "01012345678", "from": SENDER, "text": "a", "autoTypeDetect": True}
    body = {"message": message, "allowDuplicates": False, "agent": {"sdkVersion": "nodejs/2.1.0"}}
    await caller("POST", "messages/v4/send", body)

    assert await counts_of(env) == {}


async def test_nothing_personal_is_stored(env: Environment) -> None:
    caller = await solapi_caller(env)
    await caller.send(
        {"to": "01012345678", "text": "비밀 이야기", "주소 서울": "1", "x01012345678": "2"},
        {"to": "01012345679", "country": "010-1234-5678"},
        {"to": "01012345670", "from": SENDER, "type": "010-1234-5678"},
    )
    rows = await read(env)
    stored = json.dumps([each[:3] for each in rows], ensure_ascii=False)

    assert {each.detail for each in rows if each.difference in ("field", "country", "kind")} == {"?"}
    assert not any(each in stored for each in ("0101234", "1234-5678", "비밀", "서울"))


async def test_malformed_parts_that_nothing_reads_cost_nothing_but_their_note(env: Environment) -> None:
    caller = await solapi_caller(env)
    for number, part in enumerate((b'"\xff"', b"[" * 900 + b"]" * 900, b"1e999999", b'"\\ud800"')):
        message = b'{"to":"0101234567%d","from":"0212345678","text":"a","surprise":%s}' % (number, part)
        answer = await caller("POST", "messages/v4/send", b'{"message":' + message + b"}")

        assert answer.status in (200, 400), (part, answer)


async def test_accounts_see_only_their_own(env: Environment) -> None:
    await (await solapi_caller(env, "other", "OTHER-KEY-0001"))("GET", "cash/v1/balance")
    await solapi_caller(env)

    assert await counts_of(env) == {}
    assert await counts_of(env, "other") == {("balance", ""): 1}


async def test_unknown_endpoint_without_a_key_counts_nothing(env: Environment) -> None:
    caller = await solapi_caller(env)
    answer = await caller("POST", "messages/v4/nothing", {}, header=caller.sign(secret="x" * 32))

    assert (answer.status, await read(env)) == (404, [])


async def test_days_are_added_up_and_forgotten(env: Environment) -> None:
    await solapi_caller(env)
    account_id, today = await env.account_id(), dates.day_of(NOON, env.context.policy.zone).start or 0
    key = DifferenceKey(account_id, "solapi", "balance", "")
    for day, uses in ((today - 2 * DAY, 3), (today, 1), (today, 4)):
        await env.store.write(compat_differences.add, day, {key: uses})
    both, late = [await env.store.read(compat_differences.list_since, account_id, since) for since in (0, today)]
    removed = await env.store.write(compat_differences.delete_old, today, 500)

    assert (both, late) == (
        [CountedDifference("solapi", "balance", "", 8, today)],
        [CountedDifference("solapi", "balance", "", 5, today)],
    )
    assert removed == 1
    assert await env.store.read(compat_differences.list_since, account_id, 0) == late


async def test_only_so_many_are_kept(env: Environment) -> None:
    await solapi_caller(env)
    account_id = await env.account_id()
    for number in range(MAX_DIFFERENCES + 10):
        note(env.context, account_id, "solapi", CallDifference.FIELD, f"f{number:04}")
    first = await read(env)
    note(env.context, account_id, "solapi", CallDifference.FIELD, "one.more")
    note(env.context, account_id, "solapi", CallDifference.FIELD, first[0].detail)
    second = await read(env)

    assert len(first) == len(second) == MAX_ROWS_PER_DAY
    assert (second[0].detail, second[0].uses) == (first[0].detail, 2)


async def test_what_was_counted_is_written_when_the_service_stops(env: Environment) -> None:
    await (await solapi_caller(env))("GET", "cash/v1/balance")
    await env.context.differences.stop()
    found = await env.store.read(compat_differences.list_since, await env.account_id(), 0)

    assert {each.difference for each in found} == {"balance", "call"} <= ALL_CODES
