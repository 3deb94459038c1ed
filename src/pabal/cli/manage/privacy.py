"""Commands that export and erase what is stored about one phone number."""

import argparse
from typing import Any

import msgspec

from pabal.answers.personal_data import write_export
from pabal.app import build_context
from pabal.checks.body.locale import Locale
from pabal.cli.shared.command import WORLD, CommandError, add_command, add_group, current_actor, with_store
from pabal.cli.shared.translate import print_message
from pabal.domain.people import phone
from pabal.service.metrics import Metrics
from pabal.service.policy import build_policy
from pabal.service.upkeep import privacy
from pabal.service.upkeep.privacy import ErasureResult
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store

NOT_COVERED = "Backups are not covered: they keep the number until you delete them."


def add_commands(subparsers: Any) -> None:
    """Add `privacy`."""
    group = add_group(subparsers, "privacy", "Export or erase what is stored about one phone number.")
    for name, run, help in (
        ("export", _export, "Print what an account has stored about a number, as JSON."),
        ("erase", _erase, "Erase a number and the texts sent to it. This cannot be undone."),
    ):
        parser = add_command(group, name, run, help)
        parser.add_argument("number", help="the number, with or without hyphens")
        parser.add_argument("--account", required=True, help="the account's name")


def _export(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_mobile(given.number)
    locale = Locale("ko", settings.zone)

    async def work(store: Store) -> bytes:
        account_id = await _account_id(store, given.account)
        await store.write(audit_log.add, _audit_entry(account_id, privacy.EXPORT_ACTION))
        keys = build_policy(settings).hash_keys
        pieces = write_export(store, keys, account_id, given.account, number, locale)
        return b"".join([piece async for piece in pieces])

    print(msgspec.json.format(with_store(settings, work), indent=2).decode())


def _erase(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_mobile(given.number)

    async def work(store: Store) -> ErasureResult:
        account_id = await _account_id(store, given.account)
        context = build_context(settings, store, WORLD, Metrics())
        return await privacy.erase(context, account_id, number, _audit_entry(account_id, privacy.ERASE_ACTION))

    done = with_store(settings, work)
    print_message(
        f"{done.erased} messages erased, {done.cancelled} of them cancelled; {done.campaign_rows} rows of campaigns"
        f" erased; {done.pending} messages are being sent, and are erased when they have ended. {NOT_COVERED}"
    )


async def _account_id(store: Store, name: str) -> int:
    for account in await store.read(accounts.list_accounts):
        if account.name == name:
            return account.id
    raise CommandError(f"there is no account {name!r}; see `pabal account list`")


def _audit_entry(account_id: int, action: str) -> AuditEntry:
    """Return the entry of the audit log, which holds no phone number."""
    return AuditEntry(WORLD.now(), *current_actor(), account_id, action)
