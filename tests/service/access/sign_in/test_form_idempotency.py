"""Claims of forms: each form is claimed once, for as long as an idempotency key, whichever nodes are lost."""

from pabal.domain.base.dates import DAY, HOUR
from pabal.service.access.users import form_idempotency
from tests.fixtures.cluster import Cluster
from tests.fixtures.nodes import NODES, NodedStore
from tests.fixtures.service import Start, count_rows
from tests.fixtures.slot_sharing import REBALANCE_S
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

FORM, OTHER = b"f" * 32, b"o" * 32


async def test_form_is_claimed_once_until_it_is_released(env: Environment) -> None:
    assert await form_idempotency.claim(env.context, FORM)
    assert not await form_idempotency.claim(env.context, FORM)
    assert await form_idempotency.claim(env.context, OTHER)

    await form_idempotency.release(env.context, FORM)

    assert await form_idempotency.claim(env.context, FORM)
    assert not await form_idempotency.claim(env.context, OTHER)


async def test_claim_is_valid_for_a_day_and_deleted_then(start: Start) -> None:
    env = await start()
    assert await form_idempotency.claim(env.context, FORM)
    assert await form_idempotency.claim(env.context, OTHER)

    env = await start(world=VirtualWorld(1, NOON + DAY - HOUR))
    await env.wait(1)
    assert not await form_idempotency.claim(env.context, FORM)

    env = await start(world=VirtualWorld(1, NOON + DAY + HOUR))
    assert await form_idempotency.claim(env.context, FORM)
    await env.wait(1)
    assert await count_rows(env, "form_claims") == 1  # the one that is new


async def test_forms_are_claimed_while_no_node_can_be_reached(cluster: Cluster) -> None:
    store = NodedStore(cluster.store)
    process = await cluster.start_process("one", store_proxy=store)
    await cluster.wait(REBALANCE_S)
    store.lost.update(NODES)

    assert await form_idempotency.claim(process.env.context, FORM)
    assert not await form_idempotency.claim(process.env.context, FORM)
    await form_idempotency.release(process.env.context, FORM)

    assert await form_idempotency.claim(process.env.context, FORM)
