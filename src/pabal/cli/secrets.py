"""Commands for the key that encrypts secrets in the store."""

import argparse
import base64
from typing import Any

from pabal.cli.command import WORLD, add_command, add_group
from pabal.settings.settings import Settings
from pabal.settings.webhooks import KEY_BYTES


def add_commands(subparsers: Any) -> None:
    """Add `secrets`."""
    group = add_group(subparsers, "secrets", "Make the key that encrypts secrets in the store.")
    add_command(group, "new-key", _new_key, "Print a new key for the setting secret_key.")


def _new_key(settings: Settings, given: argparse.Namespace) -> None:
    print(base64.b64encode(WORLD.random_bits(8 * KEY_BYTES).to_bytes(KEY_BYTES, "big")).decode())
