"""How fast carriers take messages is told every ten seconds, while they do."""

from pabal.carriers.base import Busy, Taken
from pabal.store import carrier_states
from pabal.store.carrier_states import CarrierState
from tests.fixtures.service import POST, Play, Post, send, sms
from tests.fixtures.virtual import Town


async def told(town: Town) -> CarrierState:
    (state,) = await town.store.read(carrier_states.states)
    return state


def test_what_a_carrier_took_in_the_last_ten_seconds_is_its_pace(play: Play) -> None:
    async def scene(town: Town) -> None:
        await town.wait(1)
        before = await told(town)
        await send(town, sms(*["01012345678"] * 50))
        await town.wait(10)
        busy = await told(town)
        await town.wait(10)
        idle = await told(town)
        await town.wait(30)

        assert (before.pace, busy.pace, idle.pace) == (None, 300, 0)
        assert await told(town) == idle, "where nothing moves, nothing is written"

    play(scene, carriers={POST: Post(answer=lambda attempt: Taken("x"))})


def test_what_a_carrier_has_no_room_for_is_not_counted(play: Play) -> None:
    async def scene(town: Town) -> None:
        await send(town, sms())
        await town.wait(21)

        assert (await told(town)).pace is None

    play(scene, carriers={POST: Post(answer=lambda attempt: Busy())})
