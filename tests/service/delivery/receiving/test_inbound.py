"""Inbound messages: stored for the account that has the number, in parts, with opt-outs of replies."""

import asyncio

import pytest

from pabal.carriers.base import InboundMessage, InboundPart
from pabal.domain.base.dates import DAY
from pabal.domain.events.event import EventType
from pabal.domain.people.inbound import MAX_CONTENT_CHARACTERS
from pabal.domain.people.opt_out import is_opt_out_text
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery import inbound as receiver
from pabal.service.delivery.receipts import build_inbox
from pabal.service.history.history import NEWEST
from pabal.service.upkeep import privacy
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts import numbers
from pabal.store.engine.base import Tx
from pabal.store.events import events
from pabal.store.messages import inbound
from pabal.store.people import opt_outs
from tests.fixtures.service import DEFAULT_CARRIER, PHONE, SENDER, account_id_of, alimtalk, count_rows, sms
from tests.fixtures.virtual import Environment
from tests.fixtures.web import AWAY, FailingStore

OTHER = "01087654321"
WORDS = ["수신거부", "거부", "해지", "STOP", "UNSUBSCRIBE"]


async def register(env: Environment, account: str = "acme", state: NumberState = NumberState.APPROVED) -> int:
    account_id = await account_id_of(env, account)
    await env.store.write(numbers.add, account_id, SENDER, env.world.now(), state)
    return account_id


async def arrive(env: Environment, *messages: InboundMessage) -> None:
    await receiver.store_messages(env.context, DEFAULT_CARRIER, messages)


def text(content: str, sender: str = PHONE) -> InboundMessage:
    return InboundMessage(sender, SENDER, content)


async def stored(env: Environment, account_id: int | None) -> list[tuple[str, str, bool]]:
    """Return number, text and opt-out of the stored messages, oldest first."""
    found = await env.store.read(inbound.list_before, account_id, NEWEST, 100)
    return [(each.sender, each.content, each.has_opted_out) for each in reversed(found)]


async def opted_out(env: Environment, account_id: int) -> list[tuple[str, str]]:
    keys = env.context.policy.hash_keys
    _, found = await env.store.read(opt_outs.list_page, keys, account_id, None, None, 0, 100)
    return [(each.phone, each.sender) for each in found]


@pytest.mark.parametrize("content", [*WORDS, " 수신 거부! ", "Stop.", "(unsubscribe)", "ＳＴＯＰ"])
def test_word_alone_opts_out(content: str) -> None:
    assert is_opt_out_text(content)


@pytest.mark.parametrize(
    "content", ["", "!", "수신거부 안 합니다", "stop it", "거부감", "STOPSTOP", "STOP" + " " * 99]
)
def test_word_within_a_text_does_not(content: str) -> None:
    assert not is_opt_out_text(content)


async def test_message_belongs_to_the_account_with_the_number(env: Environment) -> None:
    account_id = await register(env)

    await arrive(env, text("언제 오나요?"), text("\0\ud800é", "14155550100"))
    await env.wait(10)

    assert await stored(env, account_id) == [(PHONE, "언제 오나요?", False), ("14155550100", "\ufffd?é", False)]
    assert await stored(env, None) == []
    page = await env.store.read(events.read_after, account_id, {}, 10)
    assert [each.type for each in page.events] == [EventType.MESSAGE_INBOUND] * 2
    found = await env.store.read(events.get_data, [each.id for each in page.events])
    (said,) = [each.data for each in found.values() if each.data["label"] == "010-1234-5678"]
    assert said == {
        "id": said["id"],
        "label": "010-1234-5678",
        "sender": "010-1234-5678",
        "receiver": "02-1234-5678",
        "content": "언제 오나요?",
        "optOut": False,
        "receivedDate": "2026-11-15 12:00:00",
    }


@pytest.mark.parametrize("state", [None, NumberState.PENDING, NumberState.REJECTED])
async def test_message_to_an_unregistered_number_is_for_operators_only(
    env: Environment, state: NumberState | None
) -> None:
    account_id = await account_id_of(env) if state is None else await register(env, state=state)
    await env.send(sms(PHONE))

    await arrive(env, text("STOP"))

    assert (await stored(env, account_id), await stored(env, None)) == ([], [(PHONE, "STOP", False)])
    assert await opted_out(env, account_id) == []


async def test_reply_opts_out_of_the_sender_number_that_wrote_before(env: Environment) -> None:
    account_id = await register(env)
    await env.send(sms(PHONE))
    await env.send(sms(OTHER, sender="0299999999"))

    await arrive(env, text("수신거부"), text("수신거부", OTHER), text("수신거부"), text("stop", "14155550100"))
    await env.wait(10)
    ad = await env.send(sms(PHONE, OTHER, content="(광고)할인", is_ad=True))
    await env.wait(3)

    assert await opted_out(env, account_id) == [(PHONE, SENDER)]
    assert [each[2] for each in await stored(env, account_id)] == [True, False, True, False]
    assert await env.outcomes_of(ad) == [
        (Status.FAIL, Outcome.OPTED_OUT),
        (Status.COMPLETED, Outcome.DELIVERED),
    ]
    page = await env.store.read(events.read_after, account_id, {}, 100, [EventType.OPT_OUT_ADDED])
    ((_, said),) = (await env.store.read(events.get_data, [each.id for each in page.events])).items()
    assert (said.data["phoneNumber"], said.data["senderNumber"]) == ("010-1234-5678", "02-1234-5678")


async def test_reply_to_a_fallback_opts_out_and_one_to_an_alimtalk_does_not(env: Environment) -> None:
    account_id = await register(env)
    profile = await env.add_profile()
    await env.send(alimtalk(profile, "01000000003"))
    await env.send(alimtalk(profile, PHONE))
    await env.wait(5)

    await arrive(env, text("거부", "01000000003"), text("거부", PHONE))

    assert await opted_out(env, account_id) == [("01000000003", SENDER)]


def parts(*pieces: str, reference: int = 7, sender: str = PHONE) -> list[InboundMessage]:
    return [
        InboundMessage(sender, SENDER, piece, InboundPart(reference, len(pieces), number))
        for number, piece in enumerate(pieces, 1)
    ]


async def test_parts_are_joined_in_any_order_when_all_are_there(env: Environment) -> None:
    account_id = await register(env)
    one, two, three = parts("안녕\ud83d", "\ude00 하세", "요")

    await arrive(env, three, one, *parts("다른", " 사람", sender=OTHER))
    await arrive(env, one)
    before = await stored(env, account_id)
    await arrive(env, two)

    assert before == [(OTHER, "다른 사람", False)]
    assert await stored(env, account_id) == [(OTHER, "다른 사람", False), (PHONE, "안녕😀 하세요", False)]
    assert await count_rows(env, "inbound_parts") == 0


async def test_long_message_with_missing_parts_is_stored_after_an_hour(env: Environment) -> None:
    account_id = await register(env)
    one, _, three = parts("하나", "둘", "셋")

    await arrive(env, one, three)
    await env.jump(3500)
    before = await stored(env, account_id)
    await env.wait(200)

    assert before == []
    assert await stored(env, account_id) == [(PHONE, "하나…셋", False)]


async def test_parts_that_two_processes_stored_are_joined_by_housekeeping(env: Environment) -> None:
    account_id = await register(env)
    long = inbound.LongMessage(DEFAULT_CARRIER, PHONE, SENDER, 7, 2)
    for number, piece in ((1, "앞"), (2, "뒤")):
        await env.store.write(inbound.add_part, long, number, piece, env.world.now())

    await run_round(env.context)

    assert await stored(env, account_id) == [(PHONE, "앞뒤", False)]


async def test_messages_wait_while_the_store_is_unavailable(failing_store: FailingStore, env: Environment) -> None:
    account_id = await register(env)
    inbox = build_inbox(env.context, DEFAULT_CARRIER)
    failing_store.write_error = AWAY
    arriving = asyncio.ensure_future(inbox.on_messages([text("여보세요")]))
    await env.wait(5)
    was_acknowledged = arriving.done()
    failing_store.write_error = None
    await env.wait(5)

    assert (was_acknowledged, arriving.done()) == (False, True)
    assert await stored(env, account_id) == [(PHONE, "여보세요", False)]


async def test_messages_are_deleted_after_the_retention_and_with_their_number(env: Environment) -> None:
    account_id = await register(env)
    await arrive(env, text("오래된", OTHER))
    await env.store.write(_age, env.world.now() - 181 * DAY)
    await arrive(env, text("비밀"), *parts("비", "밀", "이")[:2])
    await run_round(env.context)
    exported = await privacy.export(env.store, env.context.policy, account_id, PHONE)
    kept = await stored(env, account_id)

    await privacy.erase(env.context, account_id, PHONE)

    assert [each.content for each in exported.inbound] == ["비밀"]
    assert kept == [(PHONE, "비밀", False)]
    assert await stored(env, account_id) == []
    assert await count_rows(env, "inbound_parts") == 0


async def test_message_is_cut_at_its_limit_and_control_characters_are_replaced(env: Environment) -> None:
    account_id = await register(env)
    longest = "가" * MAX_CONTENT_CHARACTERS

    await arrive(env, text(longest), text(f"{longest}나"), text("\x1b[2J줄\n칸\t끝\x7f\x9b"))
    await arrive(env, *parts(*["x" * 60_000] * 25))

    whole, cut, tidy, joined = [content for _, content, _ in await stored(env, account_id)]
    assert whole == longest
    assert (cut[-2:], len(cut)) == ("가…", MAX_CONTENT_CHARACTERS)
    assert tidy == "\ufffd[2J줄\n칸\t끝\ufffd\ufffd"
    assert len(joined) == MAX_CONTENT_CHARACTERS


def _age(tx: Tx, received_at: int) -> None:
    tx.execute("update inbound_messages set received_at = ?", (received_at,))
