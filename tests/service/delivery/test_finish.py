"""How messages end, and the text that stands in for a failed Alimtalk or friend talk."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Verdict
from pabal.domain.button import Button
from pabal.domain.dates import HOUR, MINUTE, SECOND
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.domain.sending import Fallback, Receiver
from pabal.service.delivery.finish import finish
from pabal.service.relay.profiles import delete
from pabal.service.sending import compose
from pabal.store import requests
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    SENDER,
    FakeCarrier,
    RunScenario,
    account_id_of,
    add_profile,
    alimtalk,
    count_rows,
    message_id_of,
    messages_of,
    metric_value,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import Environment, VirtualWorld

DONE, FAILED, WAITING = Status.COMPLETED, Status.FAIL, Status.WAITING
GOOD = Outcome.DELIVERED


def refuse_talk(attempt: Attempt) -> Verdict:
    """Refuse what is not a text, deliver what is."""
    return Accepted(None) if attempt.product.is_text else Rejected(Outcome.NOT_A_USER)


def take_talk(attempt: Attempt) -> Verdict:
    """Take what is not a text, to report on it later, and deliver what is."""
    return Accepted(None) if attempt.product.is_text else Accepted(attempt.message_id.hex())


def texts(post: FakeCarrier) -> list[Attempt]:
    return [attempt for _, attempt in post.submitted if attempt.product.is_text]


def test_a_text_stands_in_for_a_refused_message(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=refuse_talk)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(1)

        origin, stand_in = await messages_of(env, request_id)
        assert (origin.status, origin.outcome) == (FAILED, Outcome.NOT_A_USER)
        assert (stand_in.status, stand_in.outcome, stand_in.product) == (DONE, GOOD, Product.SMS)
        assert stand_in.receiver == origin.receiver
        kept = (await env.store.read(requests.get, [request_id]))[request_id]
        assert compose.origin_of(stand_in, kept) == origin.id
        assert compose.origin_of(origin, kept) is None
        (text,) = texts(post)
        assert (text.sender, text.receiver, text.content) == (SENDER, PHONE, "주문하셨습니다")
        assert (text.subject, text.buttons, text.image_request_id) == (None, (), None)

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize("outcome", [Outcome.NOT_A_USER, Outcome.BLOCKED_BY_USER, Outcome.UNDELIVERABLE])
def test_a_text_stands_in_for_a_message_that_is_reported_as_failed(
    run_scenario: RunScenario, outcome: Outcome
) -> None:
    post = FakeCarrier(answer=take_talk)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(1)
        await post.report((message_id_of(request_id).hex(), outcome))
        await env.wait(1)

        assert await outcomes_of(env, request_id) == [(FAILED, outcome), (DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_text_stands_in_for_a_message_whose_tries_are_used_up(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted(None) if attempt.product.is_text else Busy())

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(1200)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.CARRIER_ERROR), (DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_nothing_stands_in_for_a_message_that_arrived_nor_where_it_is_not_wanted_nor_for_a_text(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(
        answer=lambda attempt: Rejected(Outcome.SPAM) if attempt.content == "스팸" else Accepted(None)
    )

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        arrived = await send(env, alimtalk(profile))
        unwanted = await send(env, alimtalk(profile, fallback_text=None, content="스팸"))
        a_text = await send(env, sms(content="스팸"))
        await env.wait(60)

        assert await outcomes_of(env, arrived) == [(DONE, GOOD)]
        assert await outcomes_of(env, unwanted) == [(FAILED, Outcome.SPAM)]
        assert await outcomes_of(env, a_text) == [(FAILED, Outcome.SPAM)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_there_is_one_fallback_whatever_repeats(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=take_talk)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env), PHONE, "01099998888"))
        await env.wait(1)
        bad = [(one.hex(), Outcome.NOT_A_USER) for one in post.ids]

        await asyncio.gather(*(post.report(*bad) for _ in range(3)), post.report(*bad, *bad))
        await env.store.write(
            finish, [(message_id_of(request_id), Outcome.SPAM)], env.context.policy, env.world.now()
        )
        await env.wait(10)
        await post.report(*bad)
        await env.wait(10)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NOT_A_USER)] * 2 + [(DONE, GOOD)] * 2
        assert len(texts(post)) == 2
        assert metric_value(env, "pabal_messages_ended_total", product="alimTalk", code="3019") == 2
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="1000") == 2
        assert await count_rows(env, "jobs") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_nothing_stands_in_for_a_message_of_a_profile_that_was_deleted_meanwhile(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=take_talk)

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        request_id = await send(env, alimtalk(profile))
        await env.wait(1)
        await delete(env.context, await account_id_of(env), f"{profile:040x}", None)

        await post.report((message_id_of(request_id).hex(), Outcome.NOT_A_USER))
        await env.wait(10)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NOT_A_USER)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_nothing_stands_in_for_a_failed_fallback(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Rejected(Outcome.NUMBER_NOT_ASSIGNED))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(60)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NUMBER_NOT_ASSIGNED)] * 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


BUTTONS = (
    Button("webLink", "보기", mobile_url="https://example.com/#{no}"),
    Button("appLink", "앱", android_url="shop://a", ios_url="shop://b"),
    Button("webLink", "문의", mobile_url="https://example.com/ask"),
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "주문하셨습니다"),
        (
            {
                "content": "#{no}번 주문",
                "variables": ("no",),
                "receivers": [Receiver(PHONE, ("7",))],
                "buttons": BUTTONS,
            },
            "7번 주문\n보기: https://example.com/7\n문의: https://example.com/ask",
        ),
        (
            {
                "variables": ("no",),
                "receivers": [Receiver(PHONE, ("7",))],
                "buttons": BUTTONS,
                "fallback": Fallback(SENDER, "문자로 #{no}"),
            },
            "문자로 7",
        ),
        ({"receivers": [Receiver(PHONE, (), "따로 쓴 글")]}, "따로 쓴 글"),
        (
            {
                "receivers": [Receiver(PHONE, (), "따로 쓴 글")],
                "fallback": Fallback(SENDER, "대신하는 글"),
            },
            "대신하는 글",
        ),
    ],
    ids=["its text", "its text and web links", "a text of its own", "one receiver's text", "own text wins"],
)
def test_the_text_that_stands_in(run_scenario: RunScenario, fields: dict[str, Any], expected: str) -> None:
    post = FakeCarrier(answer=refuse_talk)

    async def scenario(env: Environment) -> None:
        await send(env, alimtalk(await add_profile(env), **fields))
        await env.wait(1)

        assert [text.content for text in texts(post)] == [expected]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize(
    ("text", "product", "subject"),
    [
        ("가" * 45, Product.SMS, None),
        ("가" * 45 + ".", Product.LMS, "@shop"),
        ("가" * 1000, Product.LMS, "@shop"),
    ],
)
def test_it_is_an_sms_if_it_fits_and_else_an_lms_with_the_channel_as_its_subject(
    run_scenario: RunScenario, text: str, product: Product, subject: str | None
) -> None:
    post = FakeCarrier(answer=refuse_talk)

    async def scenario(env: Environment) -> None:
        await send(env, alimtalk(await add_profile(env), fallback_text=text))
        await env.wait(1)

        assert [(each.product, each.subject, each.content) for each in texts(post)] == [(product, subject, text)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize("text", ["안녕 🙂", "가" * 1000 + "."])
def test_one_that_cannot_be_sent_as_a_text_is_recorded_as_such(run_scenario: RunScenario, text: str) -> None:
    post = FakeCarrier(answer=refuse_talk)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env), fallback_text=text))
        await env.wait(60)

        _, stand_in = await messages_of(env, request_id)
        assert (stand_in.status, stand_in.outcome) == (FAILED, Outcome.NOT_SENDABLE_AS_TEXT)
        assert stand_in.completed_at is not None
        assert texts(post) == []
        assert metric_value(env, "pabal_messages_ended_total", product="lms", code="9002") == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_where_characters_are_replaced_they_are_in_fallbacks_too(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=refuse_talk)

    async def scenario(env: Environment) -> None:
        await send(env, alimtalk(await add_profile(env), fallback_text="안녕 🙂"))
        await env.wait(1)

        assert [text.content for text in texts(post)] == ["안녕 ?"]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, unsupported_characters="replace")


def test_without_a_route_for_texts_the_fallback_is_recorded_as_undeliverable(tmp_path: Path) -> None:
    post = FakeCarrier("post", refuse_talk)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(60)

        assert await outcomes_of(env, request_id) == [
            (FAILED, Outcome.NOT_A_USER),
            (FAILED, Outcome.UNDELIVERABLE),
        ]
        assert await count_rows(env, "jobs") == 0

    run_scenario_with(tmp_path, scenario, {"post": post}, {"alimTalk": ["post"]})


def test_the_fallback_goes_to_the_carrier_of_its_own_product_at_once(tmp_path: Path) -> None:
    talks, posts = FakeCarrier("talks", refuse_talk), FakeCarrier("posts", lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(0.1)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]
        assert len(posts.submitted) == 1

    run_scenario_with(
        tmp_path, scenario, {"talks": talks, "posts": posts}, {"alimTalk": ["talks"], "sms": ["posts"]}
    )


@pytest.mark.parametrize(("waited_s", "stand_ins"), [(3600, 1), (3601, 0)])
def test_it_is_sent_only_within_an_hour_of_the_scheduled_time(
    run_scenario: RunScenario, waited_s: int, stand_ins: int
) -> None:
    post = FakeCarrier(answer=take_talk)

    async def scenario(env: Environment) -> None:
        due_at = env.world.now() + 60 * SECOND
        request_id = await send(env, alimtalk(await add_profile(env), scheduled_at=due_at))
        await env.wait(60 + waited_s)

        await post.report((message_id_of(request_id).hex(), Outcome.NOT_A_USER))

        assert len(await messages_of(env, request_id)) == 1 + stand_ins

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_how_late_it_may_be_is_a_setting(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=take_talk)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env)))
        await env.wait(61)

        await post.report((message_id_of(request_id).hex(), Outcome.NOT_A_USER))

        assert len(await messages_of(env, request_id)) == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, fallback_within_minutes=1)


def test_of_an_advertisement_it_waits_for_the_morning(run_scenario: RunScenario) -> None:
    evening = round(datetime(2026, 11, 15, 20, 49, tzinfo=ZoneInfo("Asia/Seoul")).timestamp() * 1000)
    eight = evening + 11 * HOUR + 11 * MINUTE
    post = FakeCarrier(answer=take_talk)
    ads: list[bytes] = []

    async def in_the_evening(env: Environment) -> None:
        profile = await add_profile(env)
        ads.append(await send(env, alimtalk(profile, product=Product.FRIENDTALK_TEXT, is_ad=True)))
        notice = await send(env, alimtalk(profile))
        await env.wait(70)
        await post.report(*((one.hex(), Outcome.NOT_A_USER) for one in post.ids))
        await env.wait(60)

        assert await outcomes_of(env, notice) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]
        assert await outcomes_of(env, ads[0]) == [(FAILED, Outcome.NOT_A_USER), (WAITING, None)]

    async def in_the_morning(env: Environment) -> None:
        await env.wait(59.9)
        assert await outcomes_of(env, ads[0]) == [(FAILED, Outcome.NOT_A_USER), (WAITING, None)]

        await env.wait(1)

        assert await outcomes_of(env, ads[0]) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]

    run_scenario(in_the_evening, carriers={DEFAULT_CARRIER: post}, world=VirtualWorld(0, evening))
    run_scenario(
        in_the_morning,
        carriers={DEFAULT_CARRIER: FakeCarrier(answer=take_talk)},
        world=VirtualWorld(1, eight - MINUTE),
    )


def test_the_fallbacks_of_a_campaign_travel_as_a_campaign(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=take_talk, window=1000)

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        small = await send(env, alimtalk(profile, *[PHONE] * 10))
        campaign = await send(env, alimtalk(profile, *[PHONE] * 11))
        await env.wait(1)
        post.is_connected = False
        await env.wait(31)
        await post.report(*((one.hex(), Outcome.NOT_A_USER) for one in post.ids))

        def lanes(tx: Any) -> dict[bytes, int]:
            return dict(tx.fetch_all("select substr(id, 1, 13), lane from jobs group by 1, 2"))

        assert await env.store.read(lanes) == {small: 0, campaign: 1}

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})
