"""Commands for carriers that are not configured any more, and for their messages."""

import argparse
from collections.abc import Callable
from typing import Any

from pabal.app import build_context
from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    add_list,
    current_actor,
    with_store,
)
from pabal.cli.shared.table import Cell, print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base.codes import Text
from pabal.service.metrics import Metrics
from pabal.service.policy import build_policy
from pabal.service.upkeep import abandoned_jobs
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store, Tx
from pabal.store.queue import slots

COLUMNS = {
    "carrier": Text("통신사", "Carrier"),
    "kind": Text("종류", "Kind"),
    "use": Text("설정", "Use"),
    "waiting": Text("대기", "Waiting"),
    "awaitingReceipt": Text("결과 대기", "Awaiting a receipt"),
}


def add_commands(subparsers: Any) -> None:
    """Add `carrier`."""
    group = add_group(subparsers, "carrier", "Manage the messages of carriers that are not configured any more.")
    add_list(group, _list, "List all known carriers, and how many messages each has in the queue.")
    parser = add_command(group, "move", _move, "Move the waiting messages of a carrier to another one.")
    parser.add_argument("name", help="the carrier that is not configured any more")
    parser.add_argument("--to", required=True, metavar="CARRIER", help="a configured carrier")
    parser = add_command(group, "cancel", _cancel, "Cancel the waiting messages of a carrier.")
    parser.add_argument("name", help="the carrier that is not configured any more")
    parser = add_command(group, "forget", _forget, "Forget a carrier that has no messages any more.")
    parser.add_argument("name", help="the carrier that is not configured any more")


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
        try:
            await store.read(abandoned_jobs.check_move, given.name, given.to, kinds)
        except abandoned_jobs.CannotMove as error:
            raise CommandError(str(error)) from None
        await _record(store, "carrier.move", f"{given.name} {given.to}")
        target = build_context(settings, store, WORLD, Metrics()).carriers[given.to]
        products = [each.number for each in target.products]
        return await _repeat_in_all_slots(
            store,
            lambda tx, slot: abandoned_jobs.move_some(tx, slot, given.name, given.to, products, WORLD.now()),
        )

    print_message(f"{with_store(settings, work)} messages moved from {given.name} to {given.to}")


def _cancel(settings: Settings, given: argparse.Namespace) -> None:
    policy = build_policy(settings)

    async def work(store: Store) -> int:
        await _record(store, "carrier.cancel", given.name)
        return await _repeat_in_all_slots(
            store, lambda tx, slot: abandoned_jobs.cancel_some(tx, slot, given.name, policy, WORLD.now())
        )

    print_message(f"{with_store(settings, work)} messages of {given.name} are cancelled")


def _forget(settings: Settings, given: argparse.Namespace) -> None:
    _require_unconfigured(settings, given.name)

    async def work(store: Store) -> None:
        if not await store.write(abandoned_jobs.forget, given.name):
            raise CommandError(
                f"the carrier {given.name} has messages in the queue: `pabal carrier list`, then move or cancel"
                " them; those that await a receipt end by their timeout while a service runs"
            )
        await _record(store, "carrier.forget", given.name)

    with_store(settings, work)
    print_message(f"the carrier {given.name} is forgotten")


async def _record(store: Store, action: str, target: str) -> None:
    """Add an entry to the audit log; what takes many transactions is recorded before the first."""
    await store.write(audit_log.add, AuditEntry(WORLD.now(), *current_actor(), None, action, target))


async def _repeat_in_all_slots(store: Store, work: Callable[[Tx, int], int]) -> int:
    done = 0
    for slot in await store.read(slots.list_numbers):
        while some := await store.write(work, slot):
            done += some
    return done


def _require_unconfigured(settings: Settings, name: str) -> None:
    if name in settings.carriers:
        raise CommandError(f"the carrier {name} is configured; this is for carriers that are not any more")
