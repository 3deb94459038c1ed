"""What `pabal doctor` checks at relays: whether they know the sender numbers of accounts."""

from collections.abc import Iterable, Mapping

from pabal.build_context import build_context
from pabal.carriers.base import Carrier, RelayNumber
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.domain.base.codes import Text
from pabal.domain.people.phone import NumberState, hyphenate
from pabal.service.metrics import Metrics
from pabal.settings.carriers import TEXT_PRODUCTS
from pabal.settings.settings import Settings
from pabal.store.accounts import numbers
from pabal.store.engine.base import Store
from pabal.world import World

MAX_NAMED = 20
"""Numbers that are named one by one."""


async def check_relay_numbers(store: Store, settings: Settings, world: World) -> list[Finding]:
    """Report sender numbers of accounts that a relay of texts does not know, or has blocked."""
    ours = {each.number for each in await store.read(numbers.list_all) if each.state is NumberState.APPROVED}
    names = dict.fromkeys(
        name for product in TEXT_PRODUCTS for name in settings.routes.get(product.code, ()) if ours
    )
    carriers = build_context(settings, store, world, Metrics()).carriers if names else {}
    found: list[Finding] = []
    listed: dict[str, Mapping[str, RelayNumber]] = {}
    for name in names:
        answer = await _list(carriers[name])
        if isinstance(answer, Finding):
            found.append(answer)
        elif answer is not None:
            listed[name] = {each.number: each for each in answer}
    for name, known in listed.items():
        others = [listed.get(each) for each in names if each != name]
        found += _compare(name, ours, known, others)
    return found


async def _list(carrier: Carrier) -> Iterable[RelayNumber] | Finding | None:
    try:
        return await carrier.list_sender_numbers()
    except (NotProcessed, NoResponse, Throttled, ErrorAnswer) as error:
        reason = f" ({str(error) or type(error).__name__})"
        return note(
            f"중계사 {carrier.name}의 발신번호 목록을 읽지 못해 비교하지 않았습니다{reason}",
            f"the sender numbers of the relay {carrier.name} could not be read, so they were not compared{reason}",
            Text(
                "중계사에 연결할 수 있는지, 키가 맞는지 확인하세요.",
                "Check that it can be reached and that its keys are right.",
            ),
        )
    finally:
        await carrier.close()


def _compare(
    name: str, ours: set[str], known: Mapping[str, RelayNumber], others: list[Mapping[str, RelayNumber] | None]
) -> list[Finding]:
    """Say which numbers cannot be used at a relay; it is wrong if no other carrier of texts may take them."""
    missing = sorted(ours - known.keys())
    blocked = sorted(number for number in ours & known.keys() if not known[number].is_usable)
    if not missing and not blocked:
        return [
            ok(
                f"계정의 발신번호 {len(ours)}개가 모두 중계사 {name}에 등록되어 있습니다",
                f"all {len(ours)} sender numbers of accounts are registered at the relay {name}",
            )
        ]
    found = []
    for some, ko, en in (
        (missing, "등록되지 않은", "not registered"),
        (blocked, "차단되거나 사용하지 않는", "blocked or out of use"),
    ):
        stuck = [each for each in some if not any(_may_take(other, each) for other in others)]
        if some:
            report = wrong if stuck else note
            found.append(
                report(
                    f"중계사 {name}에 {ko} 발신번호: {_name(some)}",
                    f"sender numbers that are {en} at the relay {name}: {_name(some)}",
                    Text(
                        "이 번호의 문자는 거기서 거절됩니다. 중계사 콘솔에서 등록하거나 확인하고, 쓰지 않는 번호는"
                        " 지우세요: `pabal number remove NUMBER --account NAME`.",
                        "Texts from them are refused there. Register or check them in the relay's console, or"
                        " remove those that are not used: `pabal number remove NUMBER --account NAME`.",
                    ),
                )
            )
    return found


def _may_take(other: Mapping[str, RelayNumber] | None, number: str) -> bool:
    """Return whether another carrier may send from a number; one without a list may."""
    return other is None or (number in other and other[number].is_usable)


def _name(some: list[str]) -> str:
    more = f" … (+{len(some) - MAX_NAMED})" if len(some) > MAX_NAMED else ""
    return ", ".join(map(hyphenate, some[:MAX_NAMED])) + more
