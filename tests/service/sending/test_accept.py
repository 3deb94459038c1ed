"""Accepting: a request is kept whole, once, with the promise to deliver each of its messages, or not at all."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.codes import Code, Refused
from pabal.domain.identifiers import requested_at
from pabal.domain.message import Product, Status
from pabal.domain.sending import Fallback, Receiver
from pabal.domain.template import Design, TemplateStatus
from pabal.service.sending.accept import (
    RING_WITHIN,
    Repeatable,
    accept,
    answered_before,
    usable_profile,
    usable_template,
)
from pabal.store import accounts, profiles, requests, templates
from pabal.store.engine.base import StoreAway, Tx
from tests.fixtures.service import (
    PHONE,
    POST,
    SENDER,
    Play,
    Post,
    account,
    add_profile,
    alimtalk,
    count,
    counted,
    ends,
    first,
    job,
    of,
    play_with,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Town

WAITING = Status.WAITING
DESIGN = Design("주문", "주문", "999999")


def idle() -> dict[str, Post]:
    """Return a carrier that takes nothing, so that what is accepted stays as it is."""
    post = Post()
    post.is_connected = False
    return {POST: post}


async def refusal(work: Awaitable[Any]) -> Refused:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value


def test_every_receiver_gets_a_message_that_waits_and_a_job(play: Play) -> None:
    async def scene(town: Town) -> None:
        receivers = [
            Receiver(PHONE, ("a",)),
            Receiver(PHONE, ("b",), reference="ref"),
            Receiver("01099998888", ("c",)),
        ]
        request_id = await send(town, sms(receivers=receivers, variables=("x",)))

        kept = await of(town, request_id)
        assert [(each.receiver, each.values, each.reference, each.status) for each in kept] == [
            (PHONE, ("a",), None, WAITING),
            (PHONE, ("b",), "ref", WAITING),
            ("01099998888", ("c",), None, WAITING),
        ]
        assert await count(town, "jobs") == 3
        assert counted(town, "pabal_messages_accepted_total", product="sms") == 3

    play(scene, carriers=idle())


def test_the_id_says_when_it_was_accepted_and_now_is_its_time_unless_another_is_asked_for(play: Play) -> None:
    async def scene(town: Town) -> None:
        await town.wait(5)
        now = await send(town, sms())
        scheduled = await send(town, sms(scheduled_at=NOON + 60_000))

        kept = await town.store.read(requests.get, [now, scheduled])

        assert requested_at(now) == requested_at(scheduled) == NOON + 5_000
        assert (kept[now].scheduled_at, kept[scheduled].scheduled_at) == (NOON + 5_000, NOON + 60_000)

    play(scene, carriers=idle())


@pytest.mark.parametrize(("receivers", "lane"), [(1, 0), (10, 0), (11, 1), (1000, 1)])
def test_small_sends_travel_ahead_of_campaigns(play: Play, receivers: int, lane: int) -> None:
    async def scene(town: Town) -> None:
        await send(town, sms(*[PHONE] * receivers))

        def lanes(tx: Tx) -> list[Any]:
            return tx.rows("select lane, count(*) from jobs group by lane")

        assert await town.store.read(lanes) == [(lane, receivers)]

    play(scene, carriers=idle())


def test_a_product_without_a_route_is_refused(tmp_path: Path) -> None:
    async def scene(town: Town) -> None:
        refused = await refusal(send(town, sms(product=Product.LMS)))

        assert refused.code is Code.PRODUCT_NOT_AVAILABLE
        assert await count(town, "requests") == 0

    play_with(tmp_path, scene, idle(), {"sms": [POST]})


@pytest.mark.parametrize(
    ("ahead", "carrier"), [(None, "two"), (0, "two"), (RING_WITHIN, "two"), (RING_WITHIN + 1, "one")]
)
def test_what_is_for_later_does_not_avoid_a_carrier_that_is_aside_only_now(
    tmp_path: Path, ahead: int | None, carrier: str
) -> None:
    one, two = Post("one", patience_s=5), Post("two")
    one.is_connected = False

    async def scene(town: Town) -> None:
        await town.wait(10)
        assert town.context.open_circuits == {"one"}

        now = town.world.now()
        request_id = await send(town, sms(scheduled_at=None if ahead is None else now + ahead))

        found = await job(town, first(request_id))
        assert found is not None
        assert found[0] == carrier

    play_with(tmp_path, scene, {"one": one, "two": two}, {"sms": ["one", "two"]})


def test_where_numbers_are_checked_only_registered_ones_may_send(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner, other = await account(town), await account(town, "other")
        await town.store.write(accounts.add_number, other, SENDER, NOON)

        refused = await refusal(accept(town.context, owner, sms()))
        assert (refused.code, refused.problems[0].field) == (Code.SENDER_NUMBER_NOT_REGISTERED, "sender")

        await town.store.write(accounts.add_number, owner, SENDER, NOON)
        await accept(town.context, owner, sms())

    play(scene, carriers=idle(), check_sender_numbers=True)


def test_where_numbers_are_checked_that_of_the_fallback_is_too(play: Play) -> None:
    async def scene(town: Town) -> None:
        profile = await add_profile(town)

        refused = await refusal(send(town, alimtalk(profile, fallback=Fallback("15881588", None))))
        assert (refused.code, refused.problems[0].field) == (Code.SENDER_NUMBER_NOT_REGISTERED, "resendPhoneNumber")

        await send(town, alimtalk(profile, resend=None))
        await town.store.write(accounts.add_number, await account(town), "15881588", NOON)
        await send(town, alimtalk(profile, fallback=Fallback("15881588", None)))

    play(scene, carriers=idle(), check_sender_numbers=True)


def test_with_the_simulator_alone_no_number_is_checked(play: Play) -> None:
    async def scene(town: Town) -> None:
        request_id = await send(town, sms())

        assert await ends(town, request_id) == [(WAITING, None)]

    play(scene, carriers=idle())


REPEATABLE = Repeatable("key", b"digest")


def test_a_repeated_request_is_kept_once_and_answered_alike(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner = await account(town)
        assert await answered_before(town.context, owner, REPEATABLE) is None

        one = await accept(town.context, owner, sms(), REPEATABLE)
        await town.wait(3600)
        again = await accept(town.context, owner, sms(), REPEATABLE)

        assert one == again == await answered_before(town.context, owner, REPEATABLE)
        assert await count(town, "messages") == 1
        assert counted(town, "pabal_messages_accepted_total", product="sms") == 1

    play(scene, carriers=idle())


def test_of_many_equal_requests_at_the_same_time_one_is_kept(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner = await account(town)

        answers = await asyncio.gather(*(accept(town.context, owner, sms(), REPEATABLE) for _ in range(20)))

        assert len(set(answers)) == 1
        assert await count(town, "messages") == 1

    play(scene, carriers=idle())


def test_a_key_that_stood_on_another_request_is_a_duplicate(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner = await account(town)
        await accept(town.context, owner, sms(), REPEATABLE)
        other = REPEATABLE._replace(digest=b"another")

        for work in (
            accept(town.context, owner, sms(), other),
            answered_before(town.context, owner, other),
        ):
            refused = await refusal(work)
            assert (refused.code, refused.problems[0].field) == (Code.DUPLICATE, "Idempotency-Key")
        assert await count(town, "requests") == 1

    play(scene, carriers=idle())


def test_a_key_belongs_to_its_account(play: Play) -> None:
    async def scene(town: Town) -> None:
        mine = await accept(town.context, await account(town), sms(), REPEATABLE)
        theirs = await accept(
            town.context, await account(town, "other"), sms(), REPEATABLE._replace(digest=b"another")
        )

        assert mine != theirs

    play(scene, carriers=idle())


def test_a_request_that_was_refused_leaves_its_key_free(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner = await account(town)
        await refusal(accept(town.context, owner, sms(), REPEATABLE))
        await town.store.write(accounts.add_number, owner, SENDER, NOON)

        await accept(town.context, owner, sms(content="다른 글"), REPEATABLE._replace(digest=b"another"))

        assert await count(town, "requests") == 1

    play(scene, carriers=idle(), check_sender_numbers=True)


def test_what_the_store_cannot_keep_is_not_accepted(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner = await account(town)
        await town.store.close()

        with pytest.raises(StoreAway):
            await accept(town.context, owner, sms())

    play(scene, carriers=idle())


def test_only_an_approved_profile_in_use_may_be_sent_under_and_only_by_its_account(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner, other = await account(town), await account(town, "other")
        profile = await add_profile(town)
        key = f"{profile:040x}"

        assert (await usable_profile(town.context, owner, key)).id == profile
        assert (await refusal(usable_profile(town.context, other, key))).code is Code.SENDER_NOT_FOUND
        assert (await refusal(usable_profile(town.context, owner, "f" * 40))).code is Code.SENDER_NOT_FOUND
        await town.store.write(profiles.set_enabled, profile, False, NOON)
        assert (await refusal(usable_profile(town.context, owner, key))).code is Code.SENDER_NOT_APPROVED
        await town.store.write(profiles.set_enabled, profile, True, NOON)
        await town.store.write(profiles.delete, profile, NOON)
        assert (await refusal(usable_profile(town.context, owner, key))).code is Code.SENDER_NOT_FOUND

    play(scene, carriers=idle())


def test_only_an_approved_template_of_the_profile_may_be_sent(play: Play) -> None:
    async def scene(town: Town) -> None:
        owner = await account(town)
        number = await add_profile(town)
        other = await usable_profile(town.context, owner, f"{await add_profile(town, '@other'):040x}")
        profile = await usable_profile(town.context, owner, f"{number:040x}")
        template = await town.store.write(templates.add, owner, number, "order", DESIGN, None, NOON)

        async def code() -> Code:
            return (await refusal(usable_template(town.context, profile, "order"))).code

        assert await code() is Code.TEMPLATE_NOT_APPROVED
        await town.store.write(templates.set_status, template, TemplateStatus.APPROVED, None, NOON)
        assert await usable_template(town.context, profile, "order") == DESIGN
        assert (await refusal(usable_template(town.context, other, "order"))).code is Code.TEMPLATE_NOT_FOUND
        assert (await refusal(usable_template(town.context, profile, "?"))).code is Code.TEMPLATE_NOT_FOUND
        await town.store.write(templates.edit, template, DESIGN._replace(content="고친 글"), None, NOON)
        assert await usable_template(town.context, profile, "order") == DESIGN

    play(scene, carriers=idle())
