"""A large call whose storing is interrupted: its repeat stores what is missing, and nothing twice."""

from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import pytest

from pabal.store.engine.base import StoreUnavailable, Tx
from tests.fixtures.forwarding_store import ForwardingStore
from tests.fixtures.solapi_calls import SETTINGS, solapi_caller
from tests.fixtures.virtual import Environment, VirtualWorld, open_store

P = ParamSpec("P")
T = TypeVar("T")
RECEIVERS = [f"010{number:08}" for number in range(2500)]


class InterruptedStore(ForwardingStore):
    """A store that becomes unavailable after some parts of a call, before or after it has stored the next one."""

    parts_left: int | None = None
    loses_answer = False

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Write, unless no parts are left."""
        if getattr(work, "__name__", "") == "_store_part" and self.parts_left is not None:
            self.parts_left -= 1
            if self.parts_left < 0:
                if self.loses_answer:
                    await self._store.write(work, *args, **kwargs)
                raise StoreUnavailable("gone")
        return await self._store.write(work, *args, **kwargs)


@pytest.fixture
def interrupted(request: pytest.FixtureRequest, tmp_path: Path) -> InterruptedStore:
    """The store of the environment; tests ask for it before the environment."""
    world = VirtualWorld()
    store = InterruptedStore(open_store(tmp_path, world))
    request.node.add_marker(pytest.mark.settings(**SETTINGS, world=world, store=store))
    return store


@pytest.mark.parametrize("parts", [0, 1, 2])
@pytest.mark.parametrize("loses_answer", [False, True])
async def test_repeat_completes_a_call(
    interrupted: InterruptedStore, env: Environment, parts: int, *, loses_answer: bool
) -> None:
    caller = await solapi_caller(env)
    header = caller.sign()
    interrupted.parts_left, interrupted.loses_answer = parts, loses_answer
    first = await caller.send({"to": RECEIVERS}, header=header)
    interrupted.parts_left = None
    second = await caller.send({"to": RECEIVERS}, header=header)
    third = await caller.send({"to": RECEIVERS}, header=header)
    group = second.body["groupInfo"]["groupId"]
    shown = await caller("GET", f"messages/v4/groups/{group}")
    rows = await env.store.read(lambda tx: tx.fetch_all("select receiver, count(*) from messages group by 1"))

    assert (first.status, first.body["errorCode"]) == (503, "ServiceUnavailable")
    assert second.body == third.body
    assert (len(rows), {row[1] for row in rows}) == (len(RECEIVERS), {1})
    assert shown.body["count"]["registeredSuccess"] == len(RECEIVERS)
    assert sum(shown.body["count"][each] for each in ("sentTotal", "sentPending")) == len(RECEIVERS)
