"""The path of a send: with all that an operator configures, it reads nothing from the store before its one write.

What is looked up inside that write belongs to it: an Idempotency-Key and the texts of the duplicate guard must be
claimed together with the request, and receivers of advertising may opt out until then.
"""

import dataclasses
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.kakao.profile import Suspension
from pabal.domain.sends.account import AccountLimits
from pabal.settings.carriers import CarrierSettings, SimulatorSettings, SmppSettings
from pabal.settings.settings import Settings
from pabal.store.accounts import account_limits, accounts, numbers
from pabal.store.engine.base import Store, Tx
from pabal.store.kakao import profiles, templates
from tests.fixtures.brand_bodies import brand_body
from tests.fixtures.counting_store import CountingStore
from tests.fixtures.virtual import (
    NOON,
    ApiResponse,
    Caller,
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    settings_for,
)
from tests.fixtures.web import (
    BUTTON,
    FALLBACK,
    SENDER,
    alimtalk_body,
    approve_template,
    friendtalk_body,
    image_body,
    receivers_of,
    register_channel,
    sms_body,
)

KEY_RATE = 100_000
LIMITS = AccountLimits(100_000, 1_000_000, 10_000_000, 100_000_000, duplicate_minutes=60)
"""Every limit that an account can have."""
KINDS = ("SMS", "LMS", "MMS", "Alimtalk", "Friendtalk", "BrandMessage")
AD: dict[str, Any] = {"adFlag": True, "optOutNumber": "080-123-4567"}
_fresh_numbers = itertools.count()


def settings_of_an_operator(folder: Path) -> Settings:
    """Return settings with a real carrier, so that sender numbers are checked, with prices and with routes."""
    carriers: dict[str, CarrierSettings] = {
        "telco": SmppSettings(
            name="telco", host="127.0.0.1", port=1, system_id="pabal", prices={"sms": Decimal("9.00")}
        ),
        "kakao": SimulatorSettings(name="kakao", prices={"alimTalk": Decimal("7.50")}),
    }
    routes = {code: ["telco", "kakao"] for code in ("sms", "lms")}
    talk = ("alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage", "brandMessage")
    routes |= {code: ["kakao"] for code in ("mms", *talk)}
    return dataclasses.replace(settings_for(folder), carriers=carriers, routes=routes)


class Sender:
    """An account with a key, limits, a sender number, a profile and a template, and its processes."""

    def __init__(self, env: Environment, store: CountingStore, call: Caller, sender_key: str) -> None:
        self.env = env
        self.store = store
        self.call = call
        self.sender_key = sender_key

    async def send(self, kind: str, call: Caller | None = None, headers: Any = None, **changes: Any) -> ApiResponse:
        """Send a message of this kind, with all that it can refer to, to a new number."""
        number = f"010-{next(_fresh_numbers):08}"
        bodies = {
            "SMS": lambda: sms_body(number),
            "LMS": lambda: sms_body(number, subject="제목"),
            "MMS": lambda: sms_body(number, image=image_body()),
            "Alimtalk": lambda: alimtalk_body(
                self.sender_key, receivers=receivers_of(number, templateData={"name": "길동"}), **FALLBACK
            ),
            "Friendtalk": lambda: friendtalk_body(self.sender_key, number, **FALLBACK),
            "BrandMessage": lambda: brand_body(self.sender_key, number, **FALLBACK),
        }
        body = {**bodies[kind](), **changes}
        return await (call or self.call)(f"message/send{kind}", body, headers=headers)


async def set_up(env: Environment, store: CountingStore) -> Sender:
    call = await env.caller(rate=KEY_RATE)
    sender_key = await register_channel(call)
    await approve_template(call, sender_key, content="#{name} 님, 안녕하세요.", buttons=[BUTTON])
    account_id = await env.store.write(accounts.ensure_account, "acme", NOON)
    await env.store.write(numbers.add, account_id, SENDER.replace("-", ""), NOON)
    await env.store.write(account_limits.save, account_id, LIMITS)
    await env.wait(1)  # until this process has seen these changes in the counts of all
    sender = Sender(env, store, call, sender_key)
    for kind in KINDS:
        assert (await sender.send(kind)).result == "SUCCESS"
    store.forget()
    return sender


@pytest.fixture
@asynccontextmanager
async def here(tmp_path: Path) -> AsyncIterator[Sender]:
    """The only process, which accepts sends of an account that has sent before."""
    world = VirtualWorld()
    store = CountingStore(open_store(tmp_path, world))
    settings = settings_of_an_operator(tmp_path)
    env = await build_environment(tmp_path, world=world, store=store, settings=settings, delivers=False)
    try:
        yield await set_up(env, store)
    finally:
        await env.service.stop()


@pytest.mark.parametrize("kind", KINDS)
async def test_send_is_one_write_and_no_read(here: Sender, kind: str) -> None:
    for _ in range(20):
        assert (await here.send(kind)).result == "SUCCESS"

    assert here.store.reads == []
    assert here.store.writes == ["store_request"] * 20
    assert here.store.relaxed_writes == []


@pytest.mark.parametrize("kind", ["SMS", "LMS", "Friendtalk"])
async def test_advertisement_is_one_write_and_no_read(here: Sender, kind: str) -> None:
    assert (await here.send(kind, **AD)).result == "SUCCESS"

    assert here.store.reads == []
    assert here.store.writes == ["store_request"]


async def test_send_with_an_idempotency_key_is_one_write_and_so_is_its_repeat(here: Sender) -> None:
    receivers, headers = receivers_of("010-7777-7777"), {"Idempotency-Key": "k1"}

    first = await here.send("SMS", headers=headers, receivers=receivers)
    again = await here.send("SMS", headers=headers, receivers=receivers)

    assert first.request_id == again.request_id
    assert here.store.reads == []
    assert here.store.writes == ["store_request"] * 2


async def test_sends_over_time_read_only_the_counts_of_changes(here: Sender, engine: str) -> None:
    watched = {"list_slots"} if engine == "citus" else set()  # whether receipts wait for a node
    for _ in range(100):
        for kind in KINDS:
            assert (await here.send(kind)).result == "SUCCESS"
        await here.env.wait(0.1)

    assert set(here.store.reads) - watched == {"count_all"}
    assert len(here.store.reads) <= 30
    assert here.store.writes.count("store_request") == 100 * len(KINDS)
    assert len(here.store.writes) <= 101 * len(KINDS)


def _revoke_keys(tx: Tx) -> None:
    for key in accounts.list_keys(tx):
        accounts.revoke_key(tx, key.id, NOON)


def _disable_account(tx: Tx) -> None:
    accounts.set_disabled(tx, "acme", NOON)


def _remove_number(tx: Tx) -> None:
    numbers.remove(tx, numbers.list_all(tx)[0].account_id, SENDER.replace("-", ""))


def _limit_account(tx: Tx) -> None:
    account_limits.save(tx, accounts.list_accounts(tx)[0].id, AccountLimits(receivers_per_day=1))


def _disable_profile(tx: Tx) -> None:
    profiles.set_enabled(tx, profiles.list_all(tx)[0][1].id, False, NOON)


def _suspend_profile(tx: Tx) -> None:
    profile = profiles.list_all(tx)[0][1]
    profiles.apply_remote(tx, profile.id, profile.category, Suspension.BLOCKED, NOON)


def _delete_profile(tx: Tx) -> None:
    profiles.delete(tx, profiles.list_all(tx)[0][1].id, NOON)


def _suspend_template(tx: Tx) -> None:
    found = templates.list_all(tx)[0]
    templates.apply_remote(tx, found.id, found.latest, found.approved, found.status, None, Suspension.BLOCKED, NOON)


def _delete_template(tx: Tx) -> None:
    templates.delete(tx, templates.list_all(tx)[0].id)


WITHDRAWALS: dict[str, tuple[Callable[[Tx], None], str, Code]] = {
    "revoked key": (_revoke_keys, "SMS", Code.UNAUTHORIZED),
    "disabled account": (_disable_account, "LMS", Code.UNAUTHORIZED),
    "removed number": (_remove_number, "SMS", Code.SENDER_NUMBER_NOT_REGISTERED),
    "removed number of a fallback": (_remove_number, "Alimtalk", Code.SENDER_NUMBER_NOT_REGISTERED),
    "lowered limit": (_limit_account, "MMS", Code.LIMIT_EXCEEDED),
    "disabled profile": (_disable_profile, "Alimtalk", Code.SENDER_NOT_APPROVED),
    "suspended profile": (_suspend_profile, "Friendtalk", Code.SENDER_NOT_APPROVED),
    "deleted profile": (_delete_profile, "BrandMessage", Code.SENDER_NOT_FOUND),
    "suspended template": (_suspend_template, "Alimtalk", Code.TEMPLATE_NOT_APPROVED),
    "deleted template": (_delete_template, "Alimtalk", Code.TEMPLATE_NOT_FOUND),
}
"""What can be taken from an account: how, which send needs it, and how that is refused."""


@pytest.mark.parametrize("withdrawal", WITHDRAWALS)
async def test_withdrawal_is_seen_at_once_here_and_within_a_second_elsewhere(
    here: Sender, tmp_path: Path, withdrawal: str
) -> None:
    withdraw, kind, code = WITHDRAWALS[withdrawal]
    other_store: Store = open_store(tmp_path, here.env.world)
    elsewhere = await build_environment(
        tmp_path,
        world=here.env.world,
        store=other_store,
        settings=settings_of_an_operator(tmp_path),
        delivers=False,
    )
    call_elsewhere = Caller(elsewhere.service, here.call.key)
    assert (await here.send(kind, call_elsewhere)).result == "SUCCESS"
    await here.env.wait(0.3)
    assert (await here.send(kind, call_elsewhere)).result == "SUCCESS"

    await here.env.store.write(withdraw)

    assert (await here.send(kind)).result == code.name
    for _ in range(9):  # it is used all the time, so that what is cached stays in use
        await here.env.wait(0.1)
        await here.send(kind, call_elsewhere)
    await here.env.wait(0.1)
    assert (await here.send(kind, call_elsewhere)).result == code.name
    await elsewhere.service.stop()
