"""Commands for the key that encrypts secrets in the store."""

import argparse
import base64
from typing import Any

from pabal.app import build_context
from pabal.cli.command import WORLD, CommandError, add_command, add_group, with_store
from pabal.service.metrics import Metrics
from pabal.service.webhooks.encrypt import EncryptionState, encrypt_all
from pabal.settings.settings import Settings
from pabal.settings.webhooks import KEY_BYTES
from pabal.store.engine.base import Store


def add_commands(subparsers: Any) -> None:
    """Add `secrets`."""
    group = add_group(subparsers, "secrets", "Manage the key that encrypts the secrets of webhooks in the store.")
    add_command(group, "new-key", _new_key, "Print a new key for the setting secret_key.")
    add_command(group, "rotate", _rotate, "Encrypt all secrets with the first key of secret_key.")


def _new_key(settings: Settings, given: argparse.Namespace) -> None:
    print(base64.b64encode(WORLD.random_bits(8 * KEY_BYTES).to_bytes(KEY_BYTES, "big")).decode())


def _rotate(settings: Settings, given: argparse.Namespace) -> int:
    async def work(store: Store) -> EncryptionState:
        context = build_context(settings, store, WORLD, Metrics())
        if not context.secrets.has_key:
            raise CommandError("there is no key; make one with `pabal secrets new-key`, and set secret_key")
        return await encrypt_all(context)

    done = with_store(settings, work)
    print(f"{done.other} webhooks encrypted with the current key; {done.current} were already")
    if done.unreadable:
        print(
            f"{done.unreadable} cannot be decrypted: add their key to secret_key, or rotate these webhooks' secrets"
        )
    return 1 if done.unreadable else 0
