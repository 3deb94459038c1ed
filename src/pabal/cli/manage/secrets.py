"""Commands for the key that encrypts secrets in the store."""

import argparse
import base64
from typing import Any

from pabal.app import build_context
from pabal.cli.shared.command import WORLD, CommandError, add_command, add_group, current_actor, with_store
from pabal.cli.shared.translate import print_message
from pabal.service.access.contacts import hash_keys
from pabal.service.access.contacts.hash_keys import KeyState
from pabal.service.access.sign_in import factor_secrets
from pabal.service.access.sign_in.factor_secrets import FactorSecrets
from pabal.service.metrics import Metrics
from pabal.service.webhooks.encrypt import EncryptionState, encrypt_all
from pabal.settings.settings import Settings
from pabal.settings.webhook_settings import KEY_BYTES
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store


def add_commands(subparsers: Any) -> None:
    """Add `secrets`."""
    group = add_group(subparsers, "secrets", "Manage the key that encrypts secrets in the store.")
    add_command(group, "new-key", _new_key, "Print a new key for the setting secret_key.")
    add_command(group, "rotate", _rotate, "Encrypt all secrets with the first key of secret_key.")
    add_command(
        group,
        "rebuild-opt-outs",
        _rebuild,
        "If a key of secret_key is lost: have opt-outs hashed again, except those whose numbers were erased.",
    )


def _new_key(settings: Settings, given: argparse.Namespace) -> None:
    print(base64.b64encode(WORLD.random_bits(8 * KEY_BYTES).to_bytes(KEY_BYTES, "big")).decode())


def _rotate(settings: Settings, given: argparse.Namespace) -> int:
    async def work(store: Store) -> tuple[EncryptionState, FactorSecrets, KeyState]:
        context = build_context(settings, store, WORLD, Metrics())
        if not context.secrets.has_key:
            raise CommandError("there is no key; make one with `pabal secrets new-key`, and set secret_key")
        await _record(store, "secrets.rotate")
        factors = await factor_secrets.encrypt_all(context)
        return await encrypt_all(context), factors, await hash_keys.encrypt(context)

    done, factors, key = with_store(settings, work)
    print_message(f"{done.other} webhooks encrypted with the current key; {done.current} were already")
    if any(factors):
        print_message(
            f"{factors.other} two-factor secrets encrypted with the current key; {factors.current} were already"
        )
    if key is not KeyState.ABSENT:
        print_message(_KEY_REPORTS[key])
    if factors.unreadable:
        print_message(
            f"{factors.unreadable} two-factor secrets cannot be decrypted: add their key to secret_key; until then,"
            " these users sign in with recovery codes"
        )
    if done.unreadable:
        print_message(
            f"{done.unreadable} cannot be decrypted: add their key to secret_key, or rotate these webhooks' secrets"
        )
    return 1 if done.unreadable or factors.unreadable or key is KeyState.UNREADABLE else 0


def _rebuild(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> tuple[int, int]:
        context = build_context(settings, store, WORLD, Metrics())
        if await hash_keys.get_state(context) is not KeyState.UNREADABLE:
            raise CommandError("the opt-outs can be read with the keys that are set; nothing was changed")
        await _record(store, "secrets.rebuild")
        return await hash_keys.rebuild(context)

    kept, lost = with_store(settings, work)
    print_message(f"{kept} opt-outs hashed with a new key; {lost} whose number had been erased are gone")


async def _record(store: Store, action: str) -> None:
    await store.write(audit_log.add, AuditEntry(WORLD.now(), *current_actor(), None, action))


_KEY_REPORTS = {
    KeyState.CURRENT: "the key of the opt-outs was already",
    KeyState.OTHER: "the key of the opt-outs is encrypted with the current key",
    KeyState.UNREADABLE: "the key of the opt-outs cannot be decrypted: add its key to secret_key",
}
