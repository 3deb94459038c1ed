"""A claim that was kept, though its commit was not seen to end: what it took is handed over at once, and once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Taken
from pabal.domain.message import Outcome, Status
from pabal.service.claim import Claim
from pabal.store.base import Store, StoreAway
from tests.service.acting import PHONE, POST, Play, Post, ends, send, sms
from tests.virtual import Town, VirtualWorld, open_store


class Forgetful:
    """A store that keeps everything, and loses the answer to a claim that has taken something."""

    def __init__(self, inner: Store, lost: int) -> None:
        self._inner = inner
        self.left = lost
        self.read = inner.read
        self.close = inner.close

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        answer = await self._inner.write(work, *args, **kwargs)
        if self.left and isinstance(answer, Claim) and answer.leased:
            self.left -= 1
            raise StoreAway("lost")
        return answer


@pytest.mark.parametrize("holds_doubt", [False, True])
@pytest.mark.parametrize("lost", [1, 3])
def test_what_an_unseen_claim_took_is_handed_over_at_once_and_is_in_no_doubt(
    play: Play, tmp_path: Path, holds_doubt: bool, lost: int
) -> None:
    post, world = Post(answer=lambda _: Taken(None), answer_s=60, holds_doubt=holds_doubt), VirtualWorld()
    store = Forgetful(open_store(tmp_path, world), lost)

    async def scene(town: Town) -> None:
        sent = await send(town, sms(PHONE, "01087654321"))
        await town.wait(lost * 1.0 + 2)

        assert store.left == 0
        assert await ends(town, sent) == [(Status.COMPLETED, Outcome.DELIVERED)] * 2
        assert len(post.handed) == 2

    play(scene, carriers={POST: post}, world=world, store=store)
