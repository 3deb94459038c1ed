"""Neither app keys, which may be secrets, nor secret keys are in logs or metrics."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import pytest

from pabal.store.engine.base import Tx
from tests.fixtures.forwarding_store import ForwardingStore
from tests.fixtures.nhncloud_calls import SECRET, SETTINGS, nhn_caller, secretless_caller
from tests.fixtures.planted import lines
from tests.fixtures.virtual import Caller, Environment, VirtualWorld, open_store

__all__ = ["lines"]

P = ParamSpec("P")
T = TypeVar("T")


class BrokenStore(ForwardingStore):
    """A store whose reads may have a bug, which names what was asked for."""

    is_broken = False

    async def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read, unless it is broken."""
        assert not self.is_broken, str(args)
        return await self._store.read(work, *args, **kwargs)


@pytest.fixture
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> BrokenStore:
    """The store of the environment; tests ask for it before the environment."""
    world = VirtualWorld()
    store = BrokenStore(open_store(tmp_path, world))
    request.node.add_marker(pytest.mark.settings(**SETTINGS, world=world, store=store, log_requests="all"))
    return store


async def test_keys_are_in_no_log_or_metric(
    lines: list[io.StringIO], broken: BrokenStore, env: Environment
) -> None:
    secretless, caller = await secretless_caller(env), await nhn_caller(env)
    for each in (secretless, caller):
        for root in ("sms/v2.4/appKeys", "sms/v3.0/appKeys", "sms/v9/appKeys", "fax/v1/appkeys"):
            await each("GET", "sendNos", root=root)
            await each("POST", "sender/sms", b"{", root=root)
    broken.is_broken = True
    failed = await caller("GET", "sendNos")
    broken.is_broken = False
    metrics = await Caller(env.service, None)("/metrics", method="GET")
    said = "".join(each.getvalue() for each in lines) + str(metrics.body)

    assert failed.body["header"]["resultCode"] == -9999
    assert "unhandled error" in said
    assert "/compat/nhncloud" in said
    assert not any(key in said for key in (secretless.app_key, caller.app_key, SECRET))
