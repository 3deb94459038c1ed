"""Compares the configured carriers with those the store knows, so that a simulator never gets real messages."""

from collections.abc import Mapping

from pabal.domain.base.codes import Text, TextError
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers, queue_admin


class WrongCarriers(TextError):
    """The configured carriers do not suit the store; the message says why and what to do."""


def register_carriers(tx: Tx, kinds: Mapping[str, str]) -> None:
    """Store the kinds of the configured carriers.

    Raises WrongCarriers, and stores nothing, as check_carriers does.
    """
    check_carriers(tx, kinds)
    carriers.save_kinds(tx, kinds)


def check_carriers(tx: Tx, kinds: Mapping[str, str]) -> None:
    """Raise WrongCarriers where a simulator would get messages of real carriers, or the other way round.

    So it is if only simulators are configured on a store that has real carriers, and if a name has changed from
    one to the other.
    """
    known = carriers.get_kinds(tx)
    are_simulators = all(kind == SIMULATOR_KIND for kind in kinds.values())
    has_changed = any(known.get(name, kind) != kind for name, kind in kinds.items())
    # otherwise nothing depends on the queue, and a service starts also while a part of it cannot be reached
    in_queue = set(queue_admin.carriers_in_queue(tx)) if are_simulators or has_changed else set()
    for name, kind in kinds.items():
        _check_change(name, known.get(name, kind), kind, has_messages=name in in_queue)
    unknown = {name: "" for name in in_queue if name not in known}
    missing = sorted(
        name for name, kind in {**known, **unknown}.items() if kind != SIMULATOR_KIND and name not in kinds
    )
    if missing and are_simulators:
        raise WrongCarriers(*_describe_missing(missing, in_queue))


def _check_change(name: str, before: str, now: str, *, has_messages: bool) -> None:
    if SIMULATOR_KIND not in (before, now) or before == now:
        return
    if now == SIMULATOR_KIND:
        raise WrongCarriers(
            f"발송 경로 {name}은(는) 이 저장소에서 {before}인데 설정에서는 {now}입니다. 시뮬레이터는 발송하는 척만"
            f" 합니다. 시뮬레이터의 이름을 바꾸거나 발송 경로를 포기하세요: `pabal carrier forget {name}`",
            f"the carrier {name} is {before} in this store, and {now} in these settings: a"
            " simulator would only pretend to deliver its messages. Give the simulator another"
            f" name, or give the carrier up: `pabal carrier forget {name}`",
        )
    if has_messages:
        raise WrongCarriers(
            f"발송 경로 {name}은(는) 시뮬레이터였고, 대기 중인 메시지가 이제 실제로 발송됩니다. 먼저"
            f" 취소하거나(`pabal carrier cancel {name}`), {now} 발송 경로의 이름을 바꾸세요",
            f"the carrier {name} was a simulator, and its messages in the queue would now really be sent. Cancel"
            f" them first: `pabal carrier cancel {name}`; or give the {now} carrier another name",
        )


def _describe_missing(missing: list[str], in_queue: set[str]) -> Text:
    names = ", ".join(missing)
    waiting = [name for name in missing if name in in_queue]
    ko = f" 대기 중인 메시지: {', '.join(waiting)}." if waiting else ""
    en = f" Messages in the queue: for {', '.join(waiting)}." if waiting else ""
    return Text(
        f"이 저장소에는 실제 발송 경로({names})가 있는데, 발송하는 척만 하는 시뮬레이터만 설정되어 있습니다.{ko}"
        " 그 발송 경로의 설정으로 시작하세요: --config FILE. 포기하려면: `pabal carrier list`, `pabal carrier"
        " cancel NAME`, `pabal carrier forget NAME`",
        f"this store has real carriers ({names}), but only a simulator is configured, which would only pretend to"
        f" deliver.{en} Start with the settings of these carriers: --config FILE. To give them up instead: `pabal"
        " carrier list`, `pabal carrier cancel NAME`, `pabal carrier forget NAME`",
    )
