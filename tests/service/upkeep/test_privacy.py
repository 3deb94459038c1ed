"""Erasure of one phone number: nothing about it stays in any table, and others keep what is theirs."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.base.dates import DAY, MINUTE
from pabal.domain.kakao.profile import Registration
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Outcome, Status
from pabal.domain.sends.sending import Receiver
from pabal.service.relay.profiles import register
from pabal.service.sending.accept import accept
from pabal.service.upkeep import privacy
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import campaigns
from pabal.store.campaigns.campaigns import CampaignDraft, FileFindings, InvalidRow, ReceiverBlock
from pabal.store.engine.base import Tx
from pabal.store.messages import requests
from tests.fixtures.campaigns import checked_campaign, get_campaign, phones, start_campaign
from tests.fixtures.forwarding_store import ForwardingStore
from tests.fixtures.service import FakeCarrier, Start, account_id_of, alimtalk, count_rows, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld, build_environment, open_store

NUMBER = "01077770001"
OTHER = "01077770002"
SECRET = "비밀이야기"
CAMPAIGN = bytes(12) + b"\x01"


async def traces(env: Environment) -> list[tuple[str, Any]]:
    """Return every stored value that contains the number or the secret text, with its table."""
    return await env.store.read(_traces)


def _traces(tx: Tx) -> list[tuple[str, Any]]:
    names = [row[0] for row in tx.fetch_all("select name from {tables} as t")]
    return [
        (name, value)
        for name in names
        if not name.startswith("sqlite_")
        for row in tx.fetch_all(f"select * from {name}")
        for value in row
        if value == int(NUMBER) or (isinstance(value, str) and (NUMBER[1:] in value or SECRET in value))
    ]


async def erase(env: Environment, account: str = "acme") -> privacy.ErasureResult:
    account_id = await account_id_of(env, account)
    entry = AuditEntry(env.world.now(), None, "command line", account_id, privacy.ERASE_ACTION)
    return await privacy.erase(env.context, account_id, NUMBER, entry)


async def test_nothing_about_an_erased_number_stays(env: Environment) -> None:
    owner = await account_id_of(env)
    await env.send(sms(NUMBER, content=SECRET))
    shared = await env.send(
        sms(
            content="#{name}님",
            variables=("name",),
            receivers=[Receiver(NUMBER, (SECRET,), None, SECRET), Receiver(OTHER, ("길동",))],
        ),
    )
    waiting = await env.send(sms(NUMBER, content=SECRET, scheduled_at=NOON + DAY))
    await register(env.context, owner, Registration("@shop", "00100010001", NUMBER))
    await env.store.write(_add_campaign, owner)
    await env.wait(20)
    assert {name for name, _ in await traces(env)} >= {"messages", "requests", "simulated_messages", "tokens"}

    found = await privacy.export(env.store, env.context.policy, owner, NUMBER)
    assert len((await privacy.list_messages(env.store, owner, NUMBER)).found) == 3
    assert (len(found.phone_messages), found.channels, len(found.campaign_rows)) == (3, ["@shop"], 2)
    done = await erase(env)

    assert done == privacy.ErasureResult(erased=3, cancelled=1, pending=0, campaign_rows=2)
    assert await traces(env) == []
    assert await env.outcomes_of(waiting) == [(Status.CANCEL, None)]
    one, two = await env.messages_of(shared)
    assert (one.status, two.receiver, two.values) == (Status.COMPLETED, OTHER, ("길동",))
    assert (await env.store.read(requests.get, [shared]))[shared].content == "#{name}님"
    campaign = await env.store.read(campaigns.get, CAMPAIGN)
    assert campaign is not None
    assert campaign.receivers == 1
    block = await env.store.read(campaigns.next_block, CAMPAIGN)
    assert block is not None
    assert json.loads(block.body) == [[OTHER, [], None]]
    assert await count_rows(env, "audit_log") == 1
    await env.wait(70)
    assert await traces(env) == []


def _add_campaign(tx: Tx, account_id: int) -> None:
    campaigns.add(tx, CampaignDraft(CAMPAIGN, account_id, 1, "sms", "봄", "{}"), NOON)
    campaigns.begin_reading(tx, CAMPAIGN, "a.csv", False, NOON, NOON)
    body = json.dumps([[NUMBER, [SECRET], None], [OTHER, [], None]])
    row = InvalidRow(9, ("010-7777-0001x", SECRET), ("번호", "number"))
    campaigns.add_findings(tx, CAMPAIGN, FileFindings(ReceiverBlock(1, 2, body), [row], 0), NOON, NOON)


async def test_message_in_flight_is_erased_at_its_end_with_its_fallback(start: Start) -> None:
    """Also if the service restarts in between."""
    carrier = FakeCarrier()
    sent: list[bytes] = []
    env = await start(FakeCarrier())
    profile = await env.add_profile()
    sent.append(await env.send(alimtalk(profile, NUMBER, OTHER)))
    sent.append(await env.send(sms(NUMBER, content=SECRET)))
    await env.wait(5)

    done = await erase(env)

    assert (done.cancelled, done.pending) == (0, 2)
    assert {one.receiver for one in await env.messages_of(sent[0])} == {NUMBER, OTHER}

    env = await start(carrier, world=VirtualWorld(1, NOON + MINUTE))
    await env.wait(5)
    await carrier.report((message_id_of(sent[1]).hex(), Outcome.DELIVERED))
    await carrier.report((message_id_of(sent[0]).hex(), Outcome.NOT_A_USER))
    await env.wait(5)
    assert carrier.submitted[-1][1].receiver == NUMBER  # the fallback
    await run_round(env.context)
    assert (await env.message_of(sent[1])).receiver == ""
    await carrier.report((message_id_of(sent[0], 3).hex(), Outcome.DELIVERED))
    await run_round(env.context)

    assert [one.receiver for one in await env.messages_of(sent[0])] == ["", OTHER, ""]
    assert await traces(env) == []
    assert await count_rows(env, "pending_erasures") == 0


async def test_erasure_is_limited_to_one_account(env: Environment) -> None:
    theirs = await accept(env.context, await account_id_of(env, "other"), sms(NUMBER, content="그대로"))
    await env.send(sms(NUMBER, content=SECRET))
    await env.wait(5)

    await erase(env)

    assert (await env.message_of(theirs)).receiver == NUMBER


class InterferingStore(ForwardingStore):
    """A store that runs `interference` once, right after the first read of a campaign's next block."""

    interference: Callable[[], Awaitable[object]] | None = None
    is_done = False

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        found = await super().read(work, *args, **kwargs)
        if work is campaigns.next_block and self.interference and not self.is_done:
            self.is_done = True
            await self.interference()
        return found


@pytest.mark.parametrize("numbers", [(NUMBER, OTHER), (NUMBER,)], ids=["shared block", "block of its own"])
async def test_block_read_before_an_erasure_makes_no_message_to_the_number(
    tmp_path: Path, numbers: tuple[str, ...]
) -> None:
    world = VirtualWorld()
    store = InterferingStore(open_store(tmp_path, world))
    env = await build_environment(tmp_path, world=world, store=store)
    store.interference = lambda: erase(env)
    campaign_id = await checked_campaign(env, numbers, phones(3))
    await start_campaign(env, campaign_id)
    await env.wait(20)

    assert store.is_done
    assert await traces(env) == []
    campaign = await get_campaign(env, campaign_id)
    left = len(numbers) - 1 + 3
    assert (campaign.state, campaign.receivers, campaign.requested) == (CampaignState.MADE, left, left)
    assert await count_rows(env, "messages") == left
    await env.service.stop()


async def test_many_messages_are_erased_in_batches(env: Environment) -> None:
    await env.send(sms(*[NUMBER] * (privacy.BATCH + 50)))
    await env.wait(20)

    done = await erase(env)

    assert (done.erased, await traces(env)) == (privacy.BATCH + 50, [])
