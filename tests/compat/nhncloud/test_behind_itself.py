"""Our own NHN Cloud carrier of one service, whose relay is another service: everything arrives there, once."""

import asyncio
import contextlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from pabal.domain.sends.message import Product
from tests.carriers.relay.delivery_fixture import NAMED
from tests.crash.clients import wait_until_idle
from tests.fixtures import postgres, status_checker
from tests.fixtures.engines import sqlite_only
from tests.fixtures.live import LiveService, run, serving, wait_until, zone_at_noon
from tests.fixtures.losing_proxy import LosingProxy, losing_proxy
from tests.fixtures.nhncloud_calls import APP_KEY, SECRET, SENDER
from tests.fixtures.web import alimtalk_body, channel_body, image_body, receivers_of, sms_body, template_body

pytestmark = pytest.mark.slow
UNASSIGNED, OFF, PHONE = "010-0000-0001", "010-0000-0002", "010-2000-0001"
LOOKUP_S, TIMEOUT_S, END_TIMEOUT_S = 2, 3, 180.0
CAMPAIGNS, CAMPAIGN, SINGLES = 6, 150, 40
LOST_EVERY = 3
DELIVERED, COMPLETED = "1000", 2
TEMPLATE = "배송이 시작되었습니다. #{name}님"


class Pair(NamedTuple):
    """The data of both services, the address that the first one has of the second, and the keys of both."""

    front_data: Path
    relay_data: Path
    proxy: LosingProxy
    key: str
    relay_key: str

    @contextlib.contextmanager
    def relay(self) -> Iterator[LiveService]:
        """Run the second service, whose carrier is the simulator."""
        with serving(self.relay_data, config=self.relay_data.with_suffix(".toml"), key_rate=0) as live:
            self.proxy.port = int(live.base_url.rpartition(":")[2])
            yield live

    @contextlib.contextmanager
    def front(self) -> Iterator[LiveService]:
        """Run the first service."""
        with serving(self.front_data, config=self.front_data.with_suffix(".toml"), key_rate=0) as live:
            yield live

    def client(self, live: LiveService) -> httpx.Client:
        return live.client(self.key)

    def register_channel(self, relay: LiveService) -> str:
        """Register a channel and a template at the relay, for the first service too; return the sender key."""
        with relay.client(self.relay_key) as client:
            channel = channel_body()
            call(client, "sender/create", channel)
            query = {"phoneNumber": channel["cellphone"]}
            told = client.get("/api/simulator/phone.v1.0", params=query).json()["items"][0]["content"]
            (token,) = re.findall(r"\d{6}", told)
            call(client, "sender/auth", {"channelId": channel["channelId"], "token": token})
            sender_key = str(client.get("/api/sender/list.v1.0").json()["items"][0]["senderKey"])
            template = template_body(sender_key, content=TEMPLATE)
            call(client, "template/create", template)
            call(client, "template/request", {"senderKey": sender_key, "templateCode": template["templateCode"]})
        config = self.front_data.with_suffix(".toml")
        adopted = run(
            "profile", "adopt", channel["channelId"], "--account", "acme", data=self.front_data, config=config
        )
        assert adopted.returncode == 0, adopted
        return sender_key

    def rows(self, data: Path, sql: str) -> list[tuple[Any, ...]]:
        """Return rows of the store of a service."""
        connection = status_checker.connect(data)
        found = list(connection.execute(sql).fetchall())
        connection.close()
        return found


@pytest.fixture
def pair(tmp_path: Path, engine: str) -> Iterator[Pair]:
    """Two services that are set up, and not running yet, with a store each."""
    front_data, relay_data = tmp_path / "front", tmp_path / "second" / "relay"
    relay_data.parent.mkdir()
    if engine != "sqlite":
        address = postgres.create_database(f"behind_itself_{os.getpid()}")
        (relay_data.parent / postgres.ADDRESS_FILE).write_text(address, encoding="utf-8")
    shared = f'check_sender_numbers = false\nzone = "{zone_at_noon()}"\nopt_out_number = "080-123-4567"\n'
    with losing_proxy(b"POST ", b"/compat/nhncloud/") as proxy:
        relay_data.with_suffix(".toml").write_text(f"{shared}[compat.nhncloud]\n", encoding="utf-8")
        front_data.with_suffix(".toml").write_text(
            f"{shared}[carriers.relay]\nkind = 'nhncloud'\nsms_address = '{proxy.address}/compat/nhncloud'\n"
            f"sms_app_key = '{APP_KEY}'\nsms_secret_key = '{SECRET}'\n"
            f"talk_address = '{proxy.address}/compat/nhncloud'\n"
            f"talk_app_key = '{APP_KEY}'\ntalk_secret_key = '{SECRET}'\npoll_seconds = 1\n"
            f"timeout_seconds = {TIMEOUT_S}\nlookup_after_seconds = {LOOKUP_S}\n"
            "[routes]\nsms = ['relay']\nlms = ['relay']\nmms = ['relay']\nalimTalk = ['relay']\n",
            encoding="utf-8",
        )
        run("migrate", data=front_data)
        run("migrate", data=relay_data)
        status_checker.install(front_data)
        create = ("key", "create", "--account", "acme", "--rate", "0")
        key, relay_key = (run(*create, data=each).stdout.strip() for each in (front_data, relay_data))
        made = run(*create, "--kind", "nhncloud", "--id", APP_KEY, "--secret", SECRET, data=relay_data)
        assert made.stdout.strip() == APP_KEY, made
        yield Pair(front_data, relay_data, proxy, key, relay_key)
    if engine != "sqlite":
        postgres.drop_database(f"behind_itself_{os.getpid()}")


def call(client: httpx.Client, operation: str, body: dict[str, Any]) -> Any:
    answer = client.post(f"/api/{operation}.v1.0", json=body).json()
    assert answer["result"] == "SUCCESS", answer
    return answer


def wait_for_template(client: httpx.Client, sender_key: str) -> None:
    """Return once a service has the template of the relay."""

    def read() -> Any:
        answer = client.get("/api/template/list.v1.0", params={"senderKey": sender_key}).json()
        return [each["status"]["value"] for each in answer.get("items", [])]

    wait_until(read, ["approved"].__eq__)


def send(client: httpx.Client, operation: str, body: dict[str, Any]) -> str:
    return str(call(client, f"message/{operation}", body)["item"]["requestId"])


def codes_of(client: httpx.Client, request_id: str) -> list[str]:
    """Return the result codes of a request's messages, once all have ended."""

    def read() -> list[str]:
        given = {"requestId": request_id}
        items = client.get("/api/message/request.v1.0", params=given).json()["items"]
        items.sort(key=lambda each: each["messageId"])
        return [str((each.get("resultCode") or {}).get("value", "")) for each in items]

    found: list[str] = wait_until(read, all)
    return found


@sqlite_only
def test_every_kind_is_delivered_and_its_result_read(pair: Pair) -> None:
    with contextlib.ExitStack() as running:
        relay = running.enter_context(pair.relay())
        sender_key = pair.register_channel(relay)
        front = running.enter_context(pair.front())
        client = running.enter_context(pair.client(front))
        wait_for_template(client, sender_key)
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
        alimtalk = alimtalk_body(sender_key, receivers=receivers_of(PHONE, **NAMED))
        sent.append(send(client, "sendAlimtalk", alimtalk))
        found = [codes_of(client, each) for each in sent]
        assert front.stop() == relay.stop() == 0
    shown = pair.rows(
        pair.relay_data,
        "select m.product, r.is_ad, r.is_code from messages m join requests r on r.id = substr(m.id, 1, 13)",
    )

    assert found == [[DELIVERED, "3003", "2003"]] + [[DELIVERED]] * 7
    kinds = Counter((int(product), bool(is_ad), bool(is_code)) for product, is_ad, is_code in shown)
    assert kinds == {
        (Product.SMS.number, False, False): 4,
        (Product.LMS.number, False, False): 1,
        (Product.MMS.number, False, False): 1,
        (Product.SMS.number, True, False): 1,
        (Product.LMS.number, True, False): 1,
        (Product.SMS.number, False, True): 1,
        (Product.ALIMTALK.number, False, False): 1,
    }


def send_many(client: httpx.Client, start: int, sender_key: str) -> int:
    """Send campaigns and single messages to numbers from one on; return the number behind the last one."""
    for place, size in enumerate([CAMPAIGN] * CAMPAIGNS + [1] * SINGLES):
        numbers = [f"010-3{one // 10_000:03}-{one % 10_000:04}" for one in range(start, start + size)]
        if place % 2:
            receivers = receivers_of(*numbers, **NAMED)
            send(client, "sendAlimtalk", alimtalk_body(sender_key, receivers=receivers))
        else:
            send(client, "sendSMS", sms_body(*numbers, sender=SENDER))
        start += size
    return start


async def wait_until_all_ended(base: str) -> None:
    async with asyncio.timeout(END_TIMEOUT_S):
        await wait_until_idle(base)


def count_accepted(pair: Pair) -> int:
    return int(pair.rows(pair.relay_data, "select count(*) from messages")[0][0])


@pytest.mark.torture
def test_nothing_is_lost_or_doubled_by_lost_answers_and_kills_of_either_service(pair: Pair) -> None:
    sent = 0
    with pair.relay() as relay:
        sender_key = pair.register_channel(relay)
        with pair.front() as front, pair.client(front) as client:
            wait_for_template(client, sender_key)
            pair.proxy.every = LOST_EVERY
            sent = send_many(client, sent, sender_key)
            wait_until(lambda: count_accepted(pair), lambda count: count > CAMPAIGN)
            front.process.kill()
            front.process.wait()
        with pair.front() as front, pair.client(front) as client:
            sent = send_many(client, sent, sender_key)
            wait_until(lambda: count_accepted(pair), lambda count: count > CAMPAIGNS * CAMPAIGN + SINGLES)
            relay.process.kill()
            relay.process.wait()
            with pair.relay():
                asyncio.run(wait_until_all_ended(front.base_url))
                assert front.stop() == 0
    statuses = Counter(row[0] for row in pair.rows(pair.front_data, "select status from messages"))
    completed = Counter(
        row[0] for row in pair.rows(pair.front_data, "select id from status_changes where after > 1")
    )
    arrived = Counter(row[0] for row in pair.rows(pair.relay_data, "select receiver from messages"))

    assert pair.proxy.lost > 0
    assert statuses == {COMPLETED: sent}
    assert set(completed.values()) == {1}
    assert (len(arrived), set(arrived.values())) == (sent, {1})
