"""The operators' status page: carriers and the queue."""

import re

from pabal.domain.base.dates import MINUTE
from pabal.service.metrics import RESPONSE_BOUNDS_S
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers, slots
from pabal.store.queue.carriers import CarrierState, MinuteLatency
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_operate import HOSTILE, operator_and_account
from tests.fixtures.service import FakeCarrier, count_rows
from tests.fixtures.virtual import NOON, Environment
from tests.fixtures.web import RunScenario, call_ok, sms_body


async def test_status_page_shows_carrier_state_last_error_and_queue(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    call = await env.caller()
    await call_ok(call, "message/sendSMS", sms_body("010-1111-2222", sendDate="2026-11-16 12:00"))
    for state in (
        CarrierState("simulator", "down", NOON, f"refused {HOSTILE}"),
        CarrierState("simulator", "up", NOON + 1000, ""),
        CarrierState("telco", "aside", NOON, "it takes nothing"),
    ):
        await env.store.write(carriers.save_state, state)

    page = await operator.get("/console/operate")
    part = await operator.get("/console/operate/state")

    for shown in (page, part):
        assert HOSTILE not in shown.text
        assert "refused &lt;script&gt;" in shown.text
        assert re.search(r'<span class="state up">정상</span>', shown.text)
        assert re.search(
            r'<span class="state gone">설정에 없음</span></h3>.*?<p class="reason">it takes', shown.text, re.S
        )
        assert shown.text.count("it takes nothing") == 1
        assert "<strong>대기 1건</strong>" in shown.text
    assert "<html" not in part.text


def test_status_page_shows_longest_delay_in_queue(run_scenario: RunScenario) -> None:
    post = FakeCarrier()
    post.is_connected = False

    async def scenario(env: Environment) -> None:
        operator, _ = await operator_and_account(env)
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 12:01"))
        await env.wait(60 + 125)

        assert "가장 오래 2분 기다림" in (await operator.get("/console/operate")).text

    run_scenario(scenario, carriers={post.name: post})


async def test_status_page_shows_percentiles_of_each_carrier(env: Environment) -> None:
    counts = [0] * (len(RESPONSE_BOUNDS_S) + 1)
    counts[RESPONSE_BOUNDS_S.index(0.01)], counts[RESPONSE_BOUNDS_S.index(2.5)] = 90, 10
    operator, _ = await operator_and_account(env)
    await env.store.write(carriers.save_state, CarrierState("telco", "up", NOON, ""))
    rows = [
        MinuteLatency("telco", NOON - 2 * MINUTE, "", tuple(counts)),
        MinuteLatency("telco", NOON - 40 * MINUTE, "", tuple(counts)),
        MinuteLatency("telco", NOON - 200 * MINUTE, "", tuple(counts)),
    ]
    await env.store.write(carriers.save_latencies, rows)

    page = (await operator.get("/console/operate?carrier=telco")).text
    part = (await operator.get("/console/operate/state")).text
    day = (await operator.get("/console/operate?span=day&carrier=telco")).text

    for shown in (page, part):
        assert "절반 8ms · 95% 1.8초 · 99% 2.4초" in shown
    assert '<th scope="row">전체</th><td>200</td><td>8ms</td><td>1.8초</td><td>2.4초</td>' in page
    assert '<th scope="row">전체</th><td>300</td>' in day
    assert len(re.findall('<g tabindex="0"', page)) == 30
    assert len(re.findall('<g tabindex="0"', day)) == 24
    assert "11:58 · 응답 100건, 절반 8ms · 95% 1.8초 · 99% 2.4초" in page


async def test_status_page_shows_workers_with_heartbeat_and_clock(env: Environment) -> None:
    def add_workers(tx: Tx) -> None:
        for number, name in enumerate(("good", "silent", "skewed", "new")):
            slots.register(tx, bytes([number]) * 16, f"host:{name}", NOON)
        (now,) = tx.fetch_one("select {database_now}") or (0,)
        for number, beat_at, ahead_ms in ((0, now, 20), (1, now - 90_000, 20), (2, now, -7_500)):
            tx.execute(
                "update workers set heartbeat = 5, beat_at = ?, clock_at = ? where id = ?",
                (beat_at, beat_at + ahead_ms, bytes([number]) * 16),
            )

    operator, _ = await operator_and_account(env)
    alone = (await operator.get("/console/operate")).text
    await env.store.write(add_workers)

    shown = (await operator.get("/console/operate/state")).text

    assert "이 프로세스 하나가 모두 발송합니다" in alone
    rows = dict(re.findall(r'작업 프로세스">host:(\w+)</td>(.*?)</tr>', shown, re.DOTALL))
    assert "작동 중" in rows["good"]
    assert "NTP" not in rows["good"]
    assert "응답 없음" in rows["silent"]
    assert "1분 전" in rows["silent"]
    assert "-7.5초" in rows["skewed"]
    assert "NTP" in rows["skewed"]
    assert "시작하는 중" in rows["new"]


async def test_status_page_shows_quotas_that_are_used_up(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    none = (await operator.get("/console/operate")).text
    quotas = '{"messages_per_day": 3, "other": 1}'
    state = CarrierState("simulator", "up", NOON, "a quota", "host:1", quotas=quotas)
    await env.store.write(slots.register, b"1" * 16, "host:1", NOON)
    await env.store.write(carriers.save_state, state)

    shown = (await operator.get("/console/operate/state")).text

    assert re.search(r'<span class="state partly">.*?"reason">a quota', shown, re.DOTALL)
    assert "소진된 쿼터가 없습니다" in none
    (row,) = re.findall(r'id="quotas".*?<tbody>(.*?)</tbody>', shown, re.DOTALL)
    assert re.findall(r">([^<>\n ][^<>]*)</td>", row) == [
        *("simulator", "하루 메시지 수", "3", "host:1"),
        *("simulator", "other", "1", "host:1"),
    ]


async def test_operator_moves_the_waiting_messages_of_a_carrier(env: Environment) -> None:
    def give_to(tx: Tx, carrier: str) -> None:
        carriers.save_kinds(tx, {carrier: "smpp" if carrier == "real" else "simulator"})
        tx.execute("update jobs set carrier = ?", (carrier,))

    operator, _ = await operator_and_account(env)
    call = await env.caller()
    numbers = [f"010-2000-{number:04}" for number in range(3)]
    await call_ok(call, "message/sendSMS", sms_body(*numbers, sendDate="2026-11-15 12:10"))
    await env.store.write(give_to, "real")

    refused = await operator.submit("/console/operate/move", **{"from": "real", "to": "simulator"})
    await env.store.write(give_to, "old")
    nowhere = await operator.submit("/console/operate/move", **{"from": "old", "to": "sold"})
    shown = await operator.get("/console/operate?from=old")
    done = await operator.submit("/console/operate/move", **{"from": "old", "to": "simulator"})
    await env.wait(11 * 60)

    assert (refused.status, "시뮬레이터 사이에는 옮기지 않습니다" in refused.text) == (400, True)
    assert (nowhere.status, "옮겨 갈 발송 경로를 고르세요" in nowhere.text) == (400, True)
    assert '<option value="old" selected>old (대기 3건)</option>' in shown.text
    assert "3건을 옮겼습니다(old → simulator). old의 대기 메시지는 3건에서 0건이 되었습니다" in done.text
    assert await count_rows(env, "jobs") == 0, "all were sent"
    (entry,) = await env.store.read(latest_entries, None, 1)
    assert (entry.action, entry.target, entry.account_id) == ("carrier.move", "old simulator", None)


async def test_tabs_of_operators_count_what_waits(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    owner = await signed_in_browser(env)
    page = await operator.get("/console/operate")
    await owner.submit("/console/numbers", number="02-1234-5678")

    tabs = await operator.get("/console/operate/tabs?here=/console/operate/numbers")

    assert (
        'hx-get="/console/operate/tabs?here=%2Fconsole%2Foperate"' in page.text
        or "tabs?here=/console/operate" in page.text
    )
    assert re.search(
        r'<a href="/console/operate/numbers" aria-current="page">[^<]+ <b class="badge">1</b></a>', tabs.text
    )
    assert tabs.text.count("badge") == 1
    assert "hx-get" not in tabs.text, "they are read once"
