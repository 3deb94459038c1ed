"""What has ended since the last call, by a chain of cursors."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.base.dates import DAY
from pabal.domain.events.event import format_cursor, lowest_number
from pabal.service.upkeep.retention import EventRetention
from tests.fixtures.cluster import Cluster
from tests.fixtures.cluster import run_scenario as run_cluster
from tests.fixtures.virtual import NOON, Caller, Environment, VirtualWorld, build_environment, settings_for
from tests.fixtures.web import alimtalk_body, approve_template, call_ok, sms_body

NOT_ASSIGNED, NOT_A_USER = "010-0000-0001", "010-0000-0003"


async def read(call: Caller, cursor: str | None = None, limit: int = 1000) -> tuple[list[Any], str]:
    """Return a page of results, and the cursor of the next one."""
    query = {"limit": limit, **({} if cursor is None else {"cursor": cursor})}
    answer = await call("message/results", query=query)
    assert answer.body["resultCount"] == len(answer.items)
    return answer.items, answer.item["nextCursor"]


async def read_all(call: Caller, cursor: str | None = None, limit: int = 1000) -> tuple[list[Any], str]:
    """Return all results behind a cursor, and the last cursor of the chain."""
    found: list[Any] = []
    items, cursor = await read(call, cursor, limit)
    while items:
        found += items
        items, cursor = await read(call, cursor, limit)
    return found, cursor


async def send(call: Caller, *phones: str, **fields: Any) -> str:
    return (await call_ok(call, "message/sendSMS", sms_body(*phones, **fields))).request_id


@pytest.mark.parametrize(
    ("positions", "is_possible"),
    [({0: 2**63 - 1}, True), ({4095: 1}, True), ({4096: 1}, False), ({0: 2**63}, False), ({2**40: 5}, False)],
)
async def test_forged_cursor_is_refused_or_leads_nowhere(
    env: Environment, call: Caller, positions: dict[int, int], is_possible: bool
) -> None:
    await send(call)
    await env.wait(10)

    answer = await call("message/results", query={"cursor": format_cursor(positions)})

    assert answer.result == ("SUCCESS" if is_possible else "INVALID_PARAMETER")
    if is_possible:
        assert (await call("message/results", query={"cursor": answer.item["nextCursor"]})).items == []


@pytest.mark.parametrize("limit", [1, 2, 1000])
async def test_every_kind_of_end_is_listed_once(
    env: Environment, call: Caller, sender_key: str, limit: int
) -> None:
    await approve_template(call, sender_key, templateCode="T")
    delivered, failed = await send(call), await send(call, NOT_ASSIGNED)
    cancelled = await send(call, sendDate="2026-11-15 15:00")
    body = alimtalk_body(sender_key, NOT_A_USER, templateCode="T", resend=True, resendPhoneNumber="02-123-4567")
    replaced = (await call_ok(call, "message/sendAlimtalk", body)).request_id
    await call_ok(call, "message/cancel", {"requestId": cancelled})
    waiting = await send(call, sendDate="2026-11-15 16:00")
    await env.wait(10)

    found, _ = await read_all(call, limit=limit)

    ended = Counter((each["requestId"], each["sendingStatus"]["value"]) for each in found)
    assert ended == Counter(
        [
            (delivered, "completed"),
            (failed, "fail"),
            (cancelled, "cancel"),
            (replaced, "fail"),
            (replaced, "completed"),
        ]
    )
    assert waiting not in {each["requestId"] for each in found}
    assert [each["resultCode"]["value"] for each in found if each["requestId"] == failed] == ["3003"]
    assert len({each["eventId"] for each in found}) == len(found)


@pytest.mark.settings(duplicate_minutes=5, duplicate_action="drop")
async def test_duplicates_that_are_dropped_are_listed_as_failed(env: Environment, call: Caller) -> None:
    for _ in range(2):
        await send(call)
    await env.wait(5)

    found, _ = await read_all(call)

    assert sorted(each["resultCode"]["value"] for each in found) == ["1000", "9005"]


async def test_a_cursor_lists_only_what_has_ended_since(env: Environment, call: Caller) -> None:
    nothing, cursor = await read(call)
    first = await send(call)
    await env.wait(5)
    one, cursor = await read(call, cursor)
    again, same = await read(call, cursor)
    second = await send(call)
    await env.wait(5)
    two, _ = await read(call, same)

    assert nothing == again == []
    assert [each["requestId"] for each in one] == [first]
    assert [each["requestId"] for each in two] == [second]


async def test_the_record_is_that_of_the_list_with_an_event_id(env: Environment, call: Caller) -> None:
    await send(call, content="안녕", receivers=[{"phoneNumber": "010-1234-5678", "reference": "r"}])
    await env.wait(5)

    (listed,) = (await call("message/list", {"receivers": "010-1234-5678"})).items
    (found,), _ = await read(call)

    assert found.pop("eventId") == f"evt_{found['messageId']}"
    assert found == listed


async def test_a_cursor_outlives_a_restart(tmp_path: Path) -> None:
    settings, world = settings_for(tmp_path), VirtualWorld()
    env = await build_environment(tmp_path, world=world, settings=settings)
    call = await env.caller()
    sent = [await send(call) for _ in range(3)]
    await env.wait(5)
    first, cursor = await read(call, limit=2)
    last = await send(call, sendDate="2026-11-15 12:05")
    await env.service.stop()

    env = await build_environment(tmp_path, world=world, settings=settings)
    call = Caller(env.service, call.key)
    await env.wait(600)
    rest, _ = await read_all(call, cursor)
    await env.service.stop()

    assert Counter(each["requestId"] for each in first + rest) == Counter([*sent, last])


def test_a_chain_over_several_processes_lists_each_end_once(tmp_path: Path) -> None:
    async def scenario(cluster: Cluster) -> None:
        processes = [await cluster.start_process(name) for name in ("one", "two", "three")]
        calls = [await processes[0].env.caller()]
        calls += [Caller(each.env.service, calls[0].key) for each in processes[1:]]
        sent: list[str] = []
        found: list[str] = []
        cursor: str | None = None
        for number in range(24):
            sent.append(await send(calls[number % 3]))
            await cluster.wait(0.7)
            if number == 12:
                await processes[2].die()
            items, cursor = await read(calls[number % 2], cursor, limit=2)
            found += [each["requestId"] for each in items]
            calls[2] = calls[0] if number >= 12 else calls[2]
        await cluster.wait(60)
        rest, _ = await read_all(calls[1], cursor, limit=2)

        assert Counter(found + [each["requestId"] for each in rest]) == Counter(sent)

    run_cluster(tmp_path, scenario)


@pytest.mark.parametrize("cursor", ["x", "0" * 44, "가", format_cursor({0: 1})[:-1], "A" * 20_000])
async def test_what_is_no_cursor_is_refused(env: Environment, cursor: str) -> None:
    answer = await (await env.caller())("message/results", query={"cursor": cursor})

    assert (answer.status, answer.result) == (400, "INVALID_PARAMETER")
    assert [each["field"] for each in answer.body["errors"]] == ["cursor"]


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x"])
async def test_a_limit_out_of_range_is_refused(env: Environment, limit: str) -> None:
    answer = await (await env.caller())("message/results", query={"limit": limit})

    assert (answer.status, answer.result) == (400, "INVALID_PARAMETER")


async def test_a_cursor_older_than_the_retention_is_refused(env: Environment, call: Caller) -> None:
    _, oldest = await read(call)
    for _ in range(2):
        await send(call)
        await env.wait(5)
    _, behind_one = await read(call, limit=1)
    _, behind_both = await read(call)
    env.world.starts_at += 32 * DAY
    last = await send(call)
    await env.wait(5)
    await EventRetention(env.context).run()

    answer = await call("message/results", query={"cursor": behind_one})
    assert (answer.status, answer.result) == (400, "INVALID_PARAMETER")
    assert "cursor" in answer.body["errors"][0]["message"]
    for cursor in (None, behind_both):
        assert [each["requestId"] for each in (await read(call, cursor))[0]] == [last]
    assert oldest


async def test_an_erased_number_is_not_listed_any_more(env: Environment) -> None:
    call = await env.caller(scopes=("send", "read", "privacy"))
    sent = await send(call, "010-7777-7777")
    await env.wait(5)
    await call_ok(call, "privacy/erase", {"phoneNumber": "010-7777-7777"})

    (found,), _ = await read(call)

    assert (found["requestId"], found["receiver"], found["content"]) == (sent, "", "")


async def test_a_cursor_from_before_a_restore_misses_nothing(env: Environment, call: Caller) -> None:
    """A backup is older than what callers have read: numbers given afterwards are higher than theirs."""
    seen_before_restore = format_cursor({0: lowest_number(NOON + 5000)})
    await env.wait(10)
    sent = await send(call)
    await env.wait(5)

    assert [each["requestId"] for each in (await read(call, seen_before_restore))[0]] == [sent]
