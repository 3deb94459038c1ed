"""Receipts: the first counts, whenever its answer comes, and it is kept before the carrier is thanked."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pabal.carriers.base import Receipt, Rejected, Taken, Unknown
from pabal.domain.dates import SECOND
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.service.delivery.receive import hand_on
from pabal.service.upkeep.housekeeping import UNMATCHED_FOR, go_round
from pabal.store.engine.base import Store, StoreAway
from tests.fixtures.service import (
    PHONE,
    POST,
    Play,
    Post,
    count,
    counted,
    ends,
    first,
    in_turn,
    later,
    of,
    only,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Town, VirtualWorld, open_store

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


def reference(request_id: bytes) -> str:
    return first(request_id).hex()


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED), (Outcome.SPAM, FAILED)])
def test_a_receipt_ends_its_message(play: Play, outcome: Outcome, status: Status) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)
        assert await ends(town, request_id) == [(SENDING, None)]
        await town.wait(60)

        await post.report((reference(request_id), outcome))

        message = await only(town, request_id)
        assert (message.status, message.outcome, message.completed_at) == (status, outcome, town.world.now())
        assert await count(town, "jobs") == 0
        assert await count(town, "receipts") == 0
        code = str(outcome.number)
        assert counted(town, "pabal_messages_ended_total", product="sms", code=code) == 1
        assert counted(town, "pabal_receipts_total", carrier=POST) == 1

    play(scene, carriers={POST: post})


def test_receipts_are_kept_when_handing_them_on_returns(play: Play) -> None:
    post = Post()
    sent: list[bytes] = []

    async def scene(town: Town) -> None:
        sent.append(await send(town, sms()))
        await town.wait(1)

        await post.report((reference(sent[0]), GOOD))
        await town.store.close()  # not a moment later

    async def look(town: Town) -> None:
        assert await ends(town, sent[0]) == [(DONE, GOOD)]

    play(scene, carriers={POST: post})
    play(look, carriers={POST: Post()}, world=VirtualWorld(1))


def test_a_receipt_that_is_here_before_the_answer_waits_for_it(play: Play) -> None:
    post = Post(takes_s=5)

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)
        await post.report((reference(request_id), BAD))
        assert await ends(town, request_id) == [(SENDING, None)]
        assert counted(town, "pabal_receipts_unmatched_total", carrier=POST) == 1

        await town.wait(5)

        assert await ends(town, request_id) == [(FAILED, BAD)]
        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post})


def test_a_receipt_that_is_here_before_the_answer_counts_even_if_a_second_one_says_the_opposite(play: Play) -> None:
    post = Post(takes_s=5)

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)
        await post.report((reference(request_id), GOOD))
        await post.report((reference(request_id), BAD))
        await town.wait(5)

        assert await ends(town, request_id) == [(DONE, GOOD)]

    play(scene, carriers={POST: post})


@pytest.mark.parametrize("again", [GOOD, BAD])
def test_a_second_receipt_changes_nothing_whatever_it_says(play: Play, again: Outcome) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)
        await post.report((reference(request_id), GOOD))
        before = await of(town, request_id)
        await town.wait(10)

        await post.report((reference(request_id), again))
        await post.report((reference(request_id), again))

        assert await of(town, request_id) == before
        assert counted(town, "pabal_messages_ended_total", product="sms", code="1000") == 1

    play(scene, carriers={POST: post})


def test_of_two_receipts_in_one_hand_the_first_counts(play: Play) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)

        await post.report((reference(request_id), BAD), (reference(request_id), GOOD))

        assert await ends(town, request_id) == [(FAILED, BAD)]

    play(scene, carriers={POST: post})


def test_a_receipt_after_a_final_refusal_changes_nothing(play: Play) -> None:
    post = Post(answer=lambda attempt: Rejected(Outcome.SPAM))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)

        await post.report((reference(request_id), GOOD))

        assert await ends(town, request_id) == [(FAILED, Outcome.SPAM)]

    play(scene, carriers={POST: post})


def test_a_receipt_of_unknown_reference_is_counted_kept_for_an_hour_and_forgotten(play: Play) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        await post.report(("nobody", GOOD))
        assert counted(town, "pabal_receipts_unmatched_total", carrier=POST) == 1
        assert await count(town, "receipts") == 1
        await town.wait(UNMATCHED_FOR / SECOND - 60)
        assert await count(town, "receipts") == 1

        await town.wait(180)

        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post})


def test_a_stray_receipt_of_hours_ago_does_not_end_a_message_that_is_given_its_reference(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("used again"))

    async def scene(town: Town) -> None:
        await post.report(("used again", BAD))
        await town.wait(2 * UNMATCHED_FOR / SECOND)
        request_id = await send(town, sms())
        await town.wait(1)
        assert await ends(town, request_id) == [(SENDING, None)]

        await post.report(("used again", GOOD))

        assert await ends(town, request_id) == [(DONE, GOOD)]

    play(scene, carriers={POST: post})


def test_a_reference_given_twice_is_the_later_messages_also_when_the_earlier_one_ends(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("same"))

    async def scene(town: Town) -> None:
        earlier = await send(town, sms())
        await town.wait(1800)
        later_one = await send(town, sms())
        await town.wait(1800 + 20)
        assert await ends(town, earlier) == [(FAILED, Outcome.TIMED_OUT)]

        await post.report(("same", GOOD))

        assert await ends(town, later_one) == [(DONE, GOOD)]
        assert await ends(town, earlier) == [(FAILED, Outcome.TIMED_OUT)]
        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post}, sms_timeout_hours=1)


def test_a_carrier_that_gives_many_messages_one_reference_is_handed_each_once_all_the_same(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("same"))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms(*[PHONE] * 20))
        await town.wait(3600)

        assert len(post.handed) == 20
        assert await ends(town, request_id) == [(SENDING, None)] * 20

    play(scene, carriers={POST: post})


def test_a_receipt_of_another_carrier_ends_nothing(play: Play) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)

        await hand_on(town.context, "another", [Receipt(reference(request_id), GOOD)])

        assert await ends(town, request_id) == [(SENDING, None)]

    play(scene, carriers={POST: post})


def test_the_receipt_of_an_attempt_in_doubt_finds_its_message_by_the_reference_of_a_later_one(play: Play) -> None:
    post = Post(answer=in_turn(Unknown(), Taken("same")))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(0.5)
        await post.report(("same", GOOD))  # of the first attempt, whose answer was lost
        await town.wait(5)

        assert await ends(town, request_id) == [(DONE, GOOD)]
        assert len(post.handed) == 2

    play(scene, carriers={POST: post})


def test_a_message_in_parts_is_completed_when_every_part_is(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("a", ("b", "c")))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms(product=Product.LMS))
        await town.wait(1)
        await post.report(("a", GOOD), ("a", GOOD))
        await post.report(("c", GOOD))
        assert await ends(town, request_id) == [(SENDING, None)]

        await post.report(("b", GOOD))

        assert await ends(town, request_id) == [(DONE, GOOD)]
        assert await count(town, "receipts") == 0
        assert counted(town, "pabal_messages_ended_total", product="lms", code="1000") == 1
        assert counted(town, "pabal_receipts_unmatched_total", carrier=POST) == 0

    play(scene, carriers={POST: post})


@pytest.mark.parametrize(
    "further", [("a", "a"), ("a", "b"), ("b", "a", "b")], ids=["all alike", "two alike", "by turns"]
)
def test_parts_that_are_answered_with_the_same_id_are_one(play: Play, further: tuple[str, ...]) -> None:
    post = Post(answer=lambda attempt: Taken("a", further))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms(product=Product.LMS))
        await town.wait(1)
        for each in ("a", "b") if "b" in further else ("a",):
            assert await ends(town, request_id) == [(SENDING, None)]
            await post.report((each, GOOD))

        assert await ends(town, request_id) == [(DONE, GOOD)]
        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post})


def test_a_message_in_parts_fails_when_one_part_does_and_the_others_change_nothing(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("a", ("b", "c")))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms(product=Product.LMS))
        await town.wait(1)
        await post.report(("a", GOOD))

        await post.report(("b", BAD))

        assert await ends(town, request_id) == [(FAILED, BAD)]
        assert await count(town, "receipts") == 0
        await post.report(("c", GOOD), ("a", GOOD), ("b", GOOD))
        assert await ends(town, request_id) == [(FAILED, BAD)]

    play(scene, carriers={POST: post})


def test_receipts_of_parts_that_are_here_before_the_answer_wait_for_it(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("a", ("b",)), takes_s=5)

    async def scene(town: Town) -> None:
        request_id = await send(town, sms(product=Product.LMS))
        await town.wait(1)
        await post.report(("b", GOOD))
        await town.wait(5)
        assert await ends(town, request_id) == [(SENDING, None)]

        await post.report(("a", GOOD))

        assert await ends(town, request_id) == [(DONE, GOOD)]
        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post})


def test_a_message_of_which_one_part_is_never_reported_fails_when_its_time_is_out(play: Play) -> None:
    post = Post(answer=lambda attempt: Taken("a", ("b", "c")))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)
        await post.report(("a", GOOD), ("b", GOOD))
        await town.wait(3600 + 20)

        assert await ends(town, request_id) == [(FAILED, Outcome.TIMED_OUT)]
        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post}, sms_timeout_hours=1)


def test_a_thousand_receipts_at_once_end_a_thousand_messages(play: Play) -> None:
    post = Post(window=1000)

    async def scene(town: Town) -> None:
        request_id = await send(town, sms(*[PHONE] * 1000))
        await town.wait(1)

        await post.report(*((one.hex(), GOOD) for one in post.ids))

        assert await ends(town, request_id) == [(DONE, GOOD)] * 1000
        assert counted(town, "pabal_messages_ended_total", product="sms", code="1000") == 1000

    play(scene, carriers={POST: post})


class Unreliable:
    """A store that is away while it is told to be."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_away = False

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.is_away:
            raise StoreAway("told to be")
        return await self._store.write(work, *args, **kwargs)

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._store.read(work, *args, **kwargs)

    async def note(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self.write(work, *args, **kwargs)

    async def close(self) -> None:
        await self._store.close()


def test_a_store_that_is_away_only_delays_the_simulators_receipts(play: Play, tmp_path: Any) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(0.1)
        store.is_away = True
        await town.wait(30)
        assert await ends(town, request_id) == [(SENDING, None)]

        store.is_away = False
        await town.wait(5)

        assert await ends(town, request_id) == [(DONE, GOOD)]

    play(scene, world=world, store=store)


def test_a_carrier_is_not_thanked_for_receipts_before_they_are_kept(play: Play, tmp_path: Any) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))
    post = Post()

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(1)
        store.is_away = True

        thanks = asyncio.create_task(post.report((reference(request_id), GOOD)))
        await town.wait(60)
        assert not thanks.done()
        assert await ends(town, request_id) == [(SENDING, None)]

        store.is_away = False
        await thanks
        assert await ends(town, request_id) == [(DONE, GOOD)]
        assert counted(town, "pabal_receipts_total", carrier=POST) == 1

    play(scene, world=world, store=store, carriers={POST: post})


def test_a_delivery_whose_verdict_cannot_be_kept_at_once_is_kept_when_the_store_is_back(
    play: Play, tmp_path: Any
) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))

    class Saboteur(Post):
        def send_away(self, attempt: Attempt) -> Taken:
            store.is_away = True
            return Taken(None)

    post = Saboteur()
    post.answer = post.send_away

    async def scene(town: Town) -> None:
        request_id = await send(town, sms())
        await town.wait(3)
        assert await ends(town, request_id) == [(SENDING, None)]

        store.is_away = False
        await town.wait(2)

        assert await ends(town, request_id) == [(DONE, GOOD)]
        assert len(post.handed) == 1

    play(scene, world=world, store=store, carriers={POST: post})


def test_a_session_that_breaks_off_for_the_store_is_held_again(play: Play) -> None:
    class Fragile(Post):
        sessions = 0

        async def run(self, hand_on: Any) -> None:
            self.sessions += 1
            if self.sessions == 1:
                raise StoreAway("gone")
            await super().run(hand_on)

    post = Fragile()

    async def scene(town: Town) -> None:
        await town.wait(2)

        assert post.sessions == 2

    play(scene, carriers={POST: post})


def test_housekeeping_forgets_unmatched_receipts_also_after_a_restart(play: Play) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        await post.report(("nobody", GOOD))

    async def much_later(town: Town) -> None:
        await go_round(town.context)

        assert await count(town, "receipts") == 0

    play(scene, carriers={POST: post})
    play(much_later, carriers={POST: Post()}, world=VirtualWorld(1, later(NOON, 3600 + 60)))
