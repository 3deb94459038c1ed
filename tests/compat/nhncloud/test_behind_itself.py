"""Our own NHN Cloud carrier of one service, whose relay is another service: everything arrives there, once."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.crash.clients import wait_until_idle
from tests.fixtures import status_checker
from tests.fixtures.engines import sqlite_only
from tests.fixtures.live import LiveService, run, serving, wait_until, zone_at_noon
from tests.fixtures.losing_proxy import LosingProxy, losing_proxy
from tests.fixtures.nhncloud_calls import APP_KEY, SECRET, SENDER
from tests.fixtures.web import image_body, sms_body

pytestmark = [pytest.mark.slow, sqlite_only]
"""Two services with a store each: on PostgreSQL a test has one database."""
UNASSIGNED, OFF, PHONE = "010-0000-0001", "010-0000-0002", "010-2000-0001"
LOOKUP_S, TIMEOUT_S, END_TIMEOUT_S = 2, 3, 180.0
CAMPAIGNS, CAMPAIGN, SINGLES = 6, 150, 40
LOST_EVERY = 3
DELIVERED, COMPLETED = "1000", 2


class Pair(NamedTuple):
    """The folder of both services, the address that the first one has of the second, and the key of the first."""

    folder: Path
    proxy: LosingProxy
    key: str

    @contextlib.contextmanager
    def relay(self) -> Iterator[LiveService]:
        """Run the second service, whose carrier is the simulator."""
        with serving(self.folder / "relay", config=self.folder / "relay.toml", key_rate=0) as live:
            self.proxy.port = int(live.base_url.rpartition(":")[2])
            yield live

    @contextlib.contextmanager
    def front(self) -> Iterator[LiveService]:
        """Run the first service."""
        with serving(self.folder / "front", config=self.folder / "front.toml", key_rate=0) as live:
            yield live

    def client(self, live: LiveService) -> httpx.Client:
        return live.client(self.key)

    def rows(self, name: str, sql: str) -> list[tuple[Any, ...]]:
        """Return rows of the store of a service."""
        connection = status_checker.connect(self.folder / name)
        found = list(connection.execute(sql).fetchall())
        connection.close()
        return found


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Two services that are set up, and not running yet."""
    shared = f'check_sender_numbers = false\nzone = "{zone_at_noon()}"\nopt_out_number = "080-123-4567"\n'
    with losing_proxy(b"POST ", b"/sender/") as proxy:
        (tmp_path / "relay.toml").write_text(f"{shared}[compat.nhncloud]\n", encoding="utf-8")
        (tmp_path / "front.toml").write_text(
            f"{shared}[carriers.relay]\nkind = 'nhncloud'\nsms_address = '{proxy.address}/compat/nhncloud'\n"
            f"sms_app_key = '{APP_KEY}'\nsms_secret_key = '{SECRET}'\npoll_seconds = 1\n"
            f"timeout_seconds = {TIMEOUT_S}\nlookup_after_seconds = {LOOKUP_S}\n"
            "[routes]\nsms = ['relay']\nlms = ['relay']\nmms = ['relay']\n",
            encoding="utf-8",
        )
        run("migrate", data=tmp_path / "front")
        run("migrate", data=tmp_path / "relay")
        status_checker.install(tmp_path / "front")
        create = ("key", "create", "--account", "acme", "--rate", "0")
        key = run(*create, data=tmp_path / "front").stdout.strip()
        made = run(*create, "--kind", "nhncloud", "--id", APP_KEY, "--secret", SECRET, data=tmp_path / "relay")
        assert made.stdout.strip() == APP_KEY, made
        yield Pair(tmp_path, proxy, key)


def send(client: httpx.Client, operation: str, body: dict[str, Any]) -> str:
    answer = client.post(f"/api/message/{operation}.v1.0", json=body).json()
    assert answer["result"] == "SUCCESS", answer
    return str(answer["item"]["requestId"])


def codes_of(client: httpx.Client, request_id: str) -> list[str]:
    """Return the result codes of a request's messages, once all have ended."""

    def read() -> list[str]:
        given = {"requestId": request_id}
        items = client.get("/api/message/request.v1.0", params=given).json()["items"]
        items.sort(key=lambda each: each["messageId"])
        return [str((each.get("resultCode") or {}).get("value", "")) for each in items]

    found: list[str] = wait_until(read, all)
    return found


def test_every_kind_is_delivered_and_its_result_read(pair: Pair) -> None:
    with pair.relay() as relay, pair.front() as front, pair.client(front) as client:
        fields = {"sender": SENDER}
        literal = {"phoneNumber": PHONE, "templateData": {"a": "#{b} 그대로"}}
        sent = [
            send(client, "sendSMS", sms_body(PHONE, UNASSIGNED, OFF, **fields)),
            send(client, "sendSMS", {"content": "#{a} #", "receivers": [literal], **fields}),
            send(client, "sendLMS", sms_body(PHONE, subject="제목", content="긴 글" * 100, **fields)),
            send(client, "sendMMS", sms_body(PHONE, image=image_body(40_000), **fields)),
            send(client, "sendSMS", sms_body(PHONE, adFlag=True, **fields)),
            send(client, "sendLMS", sms_body(PHONE, adFlag=True, **fields)),
            send(client, "sendSMS", sms_body(PHONE, content="인증번호 123456", purpose="code", **fields)),
        ]
        found = [codes_of(client, each) for each in sent]
        assert front.stop() == relay.stop() == 0
    shown = pair.rows(
        "relay",
        "select m.product, r.is_ad, coalesce(r.is_code, 0), r.has_image"
        " from messages m join requests r on r.id = substr(m.id, 1, 13)",
    )

    assert found == [[DELIVERED, "3003", "2003"]] + [[DELIVERED]] * 6
    assert Counter(shown) == {
        (1, 0, 0, 0): 4,
        (2, 0, 0, 0): 1,
        (3, 0, 0, 1): 1,
        (1, 1, 0, 0): 1,
        (2, 1, 0, 0): 1,
        (1, 0, 1, 0): 1,
    }


def send_many(client: httpx.Client, start: int) -> int:
    """Send campaigns and single messages to numbers from one on; return the number behind the last one."""
    for size in [CAMPAIGN] * CAMPAIGNS + [1] * SINGLES:
        numbers = [f"010-3{one // 10_000:03}-{one % 10_000:04}" for one in range(start, start + size)]
        send(client, "sendSMS", sms_body(*numbers, sender=SENDER))
        start += size
    return start


async def wait_until_all_ended(base: str) -> None:
    async with asyncio.timeout(END_TIMEOUT_S):
        await wait_until_idle(base)


def count_accepted(pair: Pair) -> int:
    return int(pair.rows("relay", "select count(*) from messages")[0][0])


@pytest.mark.torture
def test_nothing_is_lost_or_doubled_by_lost_answers_and_kills_of_either_service(pair: Pair) -> None:
    pair.proxy.every = LOST_EVERY
    sent = 0
    with pair.relay() as relay:
        with pair.front() as front, pair.client(front) as client:
            sent = send_many(client, sent)
            wait_until(lambda: count_accepted(pair), lambda count: count > CAMPAIGN)
            front.process.kill()
            front.process.wait()
        with pair.front() as front, pair.client(front) as client:
            sent = send_many(client, sent)
            wait_until(lambda: count_accepted(pair), lambda count: count > CAMPAIGNS * CAMPAIGN + SINGLES)
            relay.process.kill()
            relay.process.wait()
            with pair.relay():
                asyncio.run(wait_until_all_ended(front.base_url))
                assert front.stop() == 0
    statuses = Counter(row[0] for row in pair.rows("front", "select status from messages"))
    completed = Counter(row[0] for row in pair.rows("front", "select id from status_changes where after > 1"))
    arrived = Counter(row[0] for row in pair.rows("relay", "select receiver from messages"))

    assert pair.proxy.lost > 0
    assert statuses == {COMPLETED: sent}
    assert set(completed.values()) == {1}
    assert (len(arrived), set(arrived.values())) == (sent, {1})
