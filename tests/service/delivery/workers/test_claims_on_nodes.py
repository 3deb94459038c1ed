"""In a distributed store, a worker claims only where the node of the slot has it as the holder."""

from collections import Counter
from pathlib import Path

import pytest

from pabal.domain.sends.message import Outcome, Status
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource
from pabal.service.delivery.workers import HEARTBEAT_INTERVAL_S
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from pabal.store.queue import slots
from tests.fixtures import citus, postgres
from tests.fixtures.cluster import Cluster, Process, run_scenario
from tests.fixtures.nodes import NodedStore
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, account_id_of, alimtalk, message_id_of, sms
from tests.fixtures.slot_sharing import (
    EVICTION_S,
    REBALANCE_S,
    SLOTS,
    carrier_of,
    fake_carriers,
    send_many,
    slot_counts,
    submissions,
)
from tests.fixtures.virtual import NOON
from tests.store.engine.citus.test_statements import executed, forget_statements

PHONE, OTHER = "01012345678", "01087654321"


async def start(cluster: Cluster, *names: str) -> list[Process]:
    found = [await cluster.start_process(each, store_proxy=NodedStore(cluster.store)) for each in names]
    await cluster.wait(REBALANCE_S)
    return found


def looks_at_notes(process: Process) -> bool:
    return process.env.context.slots.are_noted


async def test_an_evicted_process_that_does_not_know_it_claims_nothing(cluster: Cluster) -> None:
    one, two = await start(cluster, "one", "two")
    assert looks_at_notes(one)
    one.store_proxy.delay_before(slots.heartbeat, 1000)
    await cluster.wait(EVICTION_S)
    assert len(one.held) == SLOTS // 2
    assert len(two.held) == SLOTS

    sent = await send_many(two)
    await cluster.wait(5)

    assert submissions(two) == Counter(sent)
    assert not submissions(one)


async def test_holder_whose_note_is_lost_notes_it_again(cluster: Cluster) -> None:
    (one,) = await start(cluster, "one")
    await cluster.store.write(lambda tx: tx.execute("delete from slot_holders"))

    sent = await send_many(one)
    await cluster.wait(10)

    assert submissions(one) == Counter(sent)


async def test_beside_a_worker_that_knows_no_notes_the_assignment_counts(cluster: Cluster) -> None:
    def add_older(tx: Tx) -> None:
        slots.register(tx, b"older", "older", NOON)
        tx.execute("update workers set migration = 1 where id = ?", (b"older",))

    (one,) = await start(cluster, "one")
    await cluster.store.write(add_older)
    await cluster.wait(HEARTBEAT_INTERVAL_S + 0.1)
    assert not looks_at_notes(one)
    await cluster.store.write(lambda tx: tx.execute("delete from slot_holders"))
    sent = await send_many(one)
    await cluster.wait(2)
    early = submissions(one)
    await cluster.wait(EVICTION_S)

    assert early
    assert looks_at_notes(one)
    assert slot_counts(one) == [SLOTS]
    assert submissions(one) == Counter(sent)


if citus.is_available():  # else the summary says that it was not run
    on_citus = pytest.mark.parametrize("engine", ["citus"], indirect=True)

    def statements_about(folder: Path, *tables: str) -> list[str]:
        """Return the statements that the coordinator was sent and that name any of these tables."""
        return [
            text
            for text in executed(str(postgres.address_in(folder)))
            if set(text.lower().replace("(", " ").split()).intersection(tables)
        ]

    @on_citus
    def test_coordinator_has_no_statement_of_claims_and_verdicts(tmp_path: Path) -> None:
        async def scenario(cluster: Cluster) -> None:
            (one,) = [await cluster.start_process("one")]
            await cluster.wait(REBALANCE_S)
            await send_many(one, 8)  # which connects
            await cluster.wait(2)
            forget_statements(str(postgres.address_in(tmp_path)))

            sent = await send_many(one, 20)
            await cluster.wait(2)

            assert {*submissions(one)} >= {*sent}
            assert not statements_about(tmp_path, "jobs", "messages", "requests", "attempts", "slot_holders")
            assert statements_about(tmp_path, "receipts")

        run_scenario(tmp_path, scenario, carriers=lambda: {DEFAULT_CARRIER: FakeCarrier()})

    @on_citus
    def test_messages_of_a_profile_that_is_deleted_before_their_claim_are_cancelled(tmp_path: Path) -> None:
        async def scenario(cluster: Cluster) -> None:
            one = await cluster.start_process("one")
            await cluster.wait(REBALANCE_S)
            profile = await one.env.add_profile()
            sent = [await one.env.send(alimtalk(profile)) for _ in range(20)]
            await cluster.wait(2)
            assert submissions(one) == Counter(message_id_of(each) for each in sent)

            carrier_of(one).is_connected = False
            await cluster.wait(1.5)
            waiting = [await one.env.send(alimtalk(profile)) for _ in range(20)]
            await cluster.store.write(
                lambda tx: tx.execute("update profiles set deleted_at = ? where id = ?", (NOON, profile))
            )
            assert await cluster.store.read(profiles.list_deleted) == {profile}
            carrier_of(one).is_connected = True
            await cluster.wait(5)

            assert submissions(one) == Counter(message_id_of(each) for each in sent)
            assert {(await one.env.outcomes_of(each))[0] for each in waiting} == {(Status.CANCEL, None)}

        run_scenario(tmp_path, scenario, carriers=fake_carriers())

    @on_citus
    def test_receiver_who_opts_out_while_an_advertisement_waits_gets_nothing(tmp_path: Path) -> None:
        async def scenario(cluster: Cluster) -> None:
            one = await cluster.start_process("one")
            await cluster.wait(REBALANCE_S)
            carrier_of(one).is_connected = False
            await cluster.wait(1.5)
            ad = sms(PHONE, OTHER, content="(광고)할인\n무료거부 0801234567", is_ad=True)
            sent = [await one.env.send(ad) for _ in range(10)]
            entries = [OptOutEntry(PHONE)]
            await opt_outs.add(one.env.context, NewOptOuts(await account_id_of(one.env), entries, OptOutSource.API))
            carrier_of(one).is_connected = True
            await cluster.wait(5)

            assert [attempt.receiver for _, attempt in carrier_of(one).submitted] == [OTHER] * len(sent)
            for each in sent:
                assert (Status.FAIL, Outcome.OPTED_OUT) in await one.env.outcomes_of(each)

        run_scenario(tmp_path, scenario, carriers=fake_carriers())
