"""Commands for carriers: a rehearsal of a relay, and what is left of those that are not configured any more."""

import argparse
from collections.abc import Callable
from pathlib import Path

from pabal.cli.shared.command import WORLD, record, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import Cell, print_rows
from pabal.domain.base.codes import Text
from pabal.service.policy import build_policy
from pabal.service.upkeep import abandoned_jobs
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store, Tx
from pabal.store.queue import slots

COLUMNS = {
    "carrier": Text("발송 경로", "Carrier"),
    "kind": Text("종류", "Kind"),
    "use": Text("설정", "Use"),
    "waiting": Text("대기", "Waiting"),
    "awaitingReceipt": Text("결과 대기", "Awaiting a receipt"),
}


def declare_carrier(group: CommandParser) -> None:
    """Declare `pabal carrier`."""
    group.add_list(
        _list,
        "모든 발송 경로와 대기열의 메시지 수를 보여 줍니다.",
        "List all known carriers, and how many messages each has in the queue.",
    )
    move = group.add_command(
        "move",
        _move,
        "발송 경로의 대기 메시지를 다른 발송 경로로 옮깁니다.",
        "Move the waiting messages of a carrier to another one.",
    )
    move.add_option("--to CARRIER", "설정에 있는 발송 경로", "a configured carrier", required=True)
    cancel = group.add_command(
        "cancel", _cancel, "발송 경로의 대기 메시지를 취소합니다.", "Cancel the waiting messages of a carrier."
    )
    forget = group.add_command(
        "forget", _forget, "메시지가 없는 발송 경로를 지웁니다.", "Forget a carrier that has no messages any more."
    )
    for parser in (move, cancel, forget):
        parser.add_option("name", "설정에서 빠진 발송 경로", "the carrier that is not configured any more")
    declare_rehearse(group)


def _list(settings: Settings, given: argparse.Namespace) -> None:
    kinds = {name: each.kind for name, each in settings.carriers.items()}

    async def work(store: Store) -> list[tuple[object, ...]]:
        numbers = await store.read(slots.list_numbers)
        return [
            (
                each.name,
                each.kind or Cell(None, "unknown kind"),
                "configured" if each.name in kinds else "not configured",
                Cell(each.unsent, f"{each.unsent} waiting"),
                Cell(each.awaiting_receipt, f"{each.awaiting_receipt} awaiting a receipt"),
            )
            for each in await store.read(abandoned_jobs.list_carriers, numbers, kinds, WORLD.now())
        ]

    print_rows(COLUMNS, with_store(settings, work), as_json=given.json)


def _move(settings: Settings, given: argparse.Namespace) -> None:
    _require_unconfigured(settings, given.name)
    kinds = {name: each.kind for name, each in settings.carriers.items()}

    async def work(store: Store) -> int:
        await store.read(abandoned_jobs.check_move, given.name, given.to, kinds)
        await record(store, "carrier.move", f"{given.name} {given.to}")
        products = [each.number for each in settings.carriers[given.to].products]
        return await _repeat_in_all_slots(
            store, lambda tx, slot: abandoned_jobs.move_some(tx, slot, given.name, given.to, products, WORLD.now())
        )

    count = with_store(settings, work)
    say(
        f"메시지 {count}건을 {given.name}에서 {given.to}(으)로 옮겼습니다",
        f"{count} messages moved from {given.name} to {given.to}",
    )


def _cancel(settings: Settings, given: argparse.Namespace) -> None:
    policy = build_policy(settings)

    async def work(store: Store) -> int:
        await record(store, "carrier.cancel", given.name)
        return await _repeat_in_all_slots(
            store, lambda tx, slot: abandoned_jobs.cancel_some(tx, slot, given.name, policy, WORLD.now())
        )

    count = with_store(settings, work)
    say(
        f"{given.name}의 메시지 {count}건을 취소했습니다",
        f"{count} messages of {given.name} are cancelled",
    )


def _forget(settings: Settings, given: argparse.Namespace) -> None:
    _require_unconfigured(settings, given.name)

    async def work(store: Store) -> None:
        if not await store.write(abandoned_jobs.forget, given.name):
            raise CommandError(
                f"발송 경로 {given.name}의 메시지가 대기열에 있습니다. `pabal carrier list`를 보고 옮기거나"
                " 취소하세요. 결과를 기다리는 메시지는 서비스가 실행되는 동안 기한이 지나면 끝납니다",
                f"the carrier {given.name} has messages in the queue: `pabal carrier list`, then move or cancel"
                " them; those that await a receipt end by their timeout while a service runs",
            )
        await record(store, "carrier.forget", given.name)

    with_store(settings, work)
    say(f"발송 경로 {given.name}을(를) 잊었습니다", f"the carrier {given.name} is forgotten")


async def _repeat_in_all_slots(store: Store, work: Callable[[Tx, int], int]) -> int:
    done = 0
    for slot in await store.read(slots.list_numbers):
        while some := await store.write(work, slot):
            done += some
    return done


def _require_unconfigured(settings: Settings, name: str) -> None:
    if name in settings.carriers:
        raise CommandError(
            f"발송 경로 {name}은(는) 설정에 있습니다. 이 명령은 설정에 더는 없는 발송 경로를 위한 것입니다",
            f"the carrier {name} is configured; this is for carriers that are not any more",
        )


DEFAULT_WAIT_S = 180.0


def declare_rehearse(group: CommandParser) -> None:
    """Declare `pabal carrier rehearse`."""
    parser = group.add_command(
        "rehearse",
        _run,
        "종류마다 한 건씩 자기 휴대폰으로 보내 중계사를 점검합니다. 요금이 듭니다.",
        "Try a relay: send one message of each kind to your own phone. It costs money.",
    )
    parser.add_option("name", "중계사인 발송 경로", "the carrier, a relay")
    parser.add_option("--to NUMBER", "받을 휴대폰 번호", "the phone that gets them", required=True)
    parser.add_option(
        "--sender NUMBER",
        "문자의 발신번호. 중계사에 등록된 번호여야 합니다",
        "sender number of texts, registered at the relay",
        default="",
    )
    parser.add_option(
        "--channel",
        "발신 프로필의 채널(기본값: 중계사의 첫 프로필)",
        "channel of the sender profile (default: the relay's first one)",
        default="",
    )
    parser.add_option(
        "--template CODE",
        "알림톡 템플릿의 코드(기본값: 승인된 첫 템플릿)",
        "code of the Alimtalk template (default: the first approved one)",
        default="",
    )
    parser.add_option(
        "--image FILE",
        "MMS와 이미지 친구톡의 JPEG 파일",
        "JPEG file for MMS and friend talk with an image",
        type=Path,
    )
    _declare_following(parser)


def _declare_following(parser: CommandParser) -> None:
    """Declare what is sent, and how it is followed."""
    parser.add_option(
        "--only KIND",
        "이 종류만(여러 번 줄 수 있음). 예: sms, alimTalk",
        "only this kind, such as sms or alimTalk; may be repeated",
        action="append",
    )
    parser.add_option(
        "--wait SECONDS",
        "결과를 기다리는 시간(초, 기본값: 180)",
        "how many seconds to wait for results (default: 180)",
        type=float,
        default=DEFAULT_WAIT_S,
    )
    parser.add_option(
        "--port",
        "웹훅을 받을 포트(기본값: 설정의 포트)",
        "port that receives webhooks (default: that of the settings)",
        type=int,
    )
    parser.add_flag("--no-webhook", "웹훅을 받지 않습니다", "do not receive webhooks")
    parser.add_flag("--yes", "묻지 않고 보냅니다", "send without asking")


def _run(settings: Settings, given: argparse.Namespace) -> int:
    from pabal.cli.doctor.rehearse_command import conduct  # costs other commands 0.3 s

    return conduct(settings, given)
