"""The command line: parses the arguments and runs one command."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

from pabal import __version__
from pabal.app import NotMigrated, open_store
from pabal.cli.calling import parser as calling
from pabal.cli.data import backup, move, restore
from pabal.cli.doctor.doctor import diagnose, pending_migrations
from pabal.cli.manage import (
    accounts,
    carriers,
    keys,
    mappings,
    numbers,
    opt_outs,
    privacy,
    secrets,
    users,
    webhooks,
)
from pabal.cli.serving import crash, processes, serve
from pabal.cli.shared.argument_parser import ArgumentParser
from pabal.cli.shared.command import WORLD, CommandError, add_command, current_actor
from pabal.cli.shared.korean_help import translate_help
from pabal.cli.shared.translate import t
from pabal.domain.base.codes import Refused, Text
from pabal.service.delivery.carrier.known_carriers import WrongCarriers
from pabal.settings.environment import choose_language
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings, describe_settings, load
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.citus import distribution
from pabal.store.engine.migrate import UnsupportedSchema, migrate
from pabal.store.queue import slots
from pabal.webhooks.secrets import UnreadableSecret

UP_TO_DATE = "the schema is up to date"
OK, WRONG = Text("정상 ", "ok   "), Text("이상 ", "WRONG")
"""How a finding begins: five places wide."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; without `argv` that of this process."""
    if argv is None:
        crash.hide_error_messages()
    parser = _parser()
    given = parser.parse_args(argv)
    given.words = list(sys.argv[1:] if argv is None else argv)
    os.umask(0o077)  # files are readable by this user only
    status = calling.run_if_calling(given)
    if status is not None:
        return status
    if not hasattr(given, "run"):
        given.parser.print_help()
        return 2
    try:
        settings = load(file=given.config, data=given.data, **_overrides(given))
        return given.run(settings, given) or 0
    except (
        BadSetting,
        CommandError,
        NotMigrated,
        UnsupportedSchema,
        WrongCarriers,
        distribution.NoCitus,
        serve.CannotServe,
    ) as error:
        print(f"pabal: {t(str(error))}", file=sys.stderr)
        return 2
    except Refused as refused:
        first = refused.problems[0]
        language = choose_language()
        print(f"pabal: {first.message(language)} {first.code.remedy.in_language(language)}", file=sys.stderr)
        return 1
    except UnreadableSecret as error:
        message = t(f"a secret in the store cannot be read: {error}; run `pabal doctor`")
        print(f"pabal: {message}", file=sys.stderr)
        return 2
    except StoreUnavailable as error:
        print(f"pabal: {t(f'the store is not available ({error}); run `pabal doctor`')}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser("pabal", description="A self-hosted messaging service.")
    parser.add_argument("--version", action="version", version=f"pabal {__version__}")
    parser.set_defaults(parser=parser)
    subparsers = parser.add_subparsers(metavar="COMMAND")
    _add_service_commands(subparsers)
    backup.add_commands(subparsers)
    restore.add_commands(subparsers)
    move.add_commands(subparsers)
    keys.add_commands(subparsers)
    accounts.add_commands(subparsers)
    numbers.add_commands(subparsers)
    opt_outs.add_commands(subparsers)
    mappings.add_commands(subparsers)
    users.add_commands(subparsers)
    carriers.add_commands(subparsers)
    privacy.add_commands(subparsers)
    secrets.add_commands(subparsers)
    webhooks.add_commands(subparsers)
    calling.add_commands(subparsers, parser)
    translate_help(parser, choose_language())
    return parser


def _add_service_commands(subparsers: Any) -> None:
    parser = add_command(subparsers, "serve", _serve, "Run the service: HTTP interface, console and delivery.")
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: 8080)")
    parser.add_argument("--no-deliver", action="store_true", help="do not deliver; `pabal work` does it")
    processes.add_options(parser)
    parser = add_command(subparsers, "work", _work, "Run a worker that only delivers; needs PostgreSQL.")
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, dest="work_port", help="port for health and metrics (default: none)")
    processes.add_options(parser)
    parser = add_command(subparsers, "migrate", _migrate, "Apply missing migrations to the store's schema.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a migration is missing")
    parser.add_argument("--citus", action="store_true", help="then distribute the tables over the Citus workers")
    add_command(subparsers, "settings", _settings, "List every setting with its value and meaning.")
    add_command(subparsers, "doctor", _doctor, "Check the installation, and say how to fix what is wrong.")


def _overrides(given: argparse.Namespace) -> dict[str, Any]:
    names = ("host", "port", "work_port", "processes")
    return {name: getattr(given, name) for name in names if hasattr(given, name)}


def _serve(settings: Settings, given: argparse.Namespace) -> int:
    if given.child:
        inherited = serve.InheritedSockets(*given.child)
        return serve.serve_child(settings, inherited, delivers=not given.no_deliver)
    if settings.processes != 1:
        return processes.serve_all(settings, given.words, delivers=not given.no_deliver)
    return serve.serve(settings, delivers=not given.no_deliver)


def _work(settings: Settings, given: argparse.Namespace) -> int:
    if given.child:
        return serve.serve_child(settings, serve.InheritedSockets(*given.child), delivers=True)
    if settings.processes != 1:
        return processes.work_all(settings, given.words)
    return serve.work(settings)


def _migrate(settings: Settings, given: argparse.Namespace) -> int:
    if given.citus and not settings.is_on_postgresql:
        raise CommandError("--citus needs a PostgreSQL database with Citus; set `store` to its address")
    if given.check:
        return _check_schema(settings)

    async def run() -> list[str]:
        store = open_store(settings, WORLD)
        try:
            lines = [f"applied {name}" for name in await store.write(_migrate_audited)]
            tables = await store.write(distribution.distribute) if given.citus else []
            await store.write(slots.ensure_slots, settings.store_slots)
            if given.citus:
                await store.write(slots.spread_slots)
            return lines + [f"distributed {table}" for table in tables]
        finally:
            await store.close()

    print("\n".join(asyncio.run(run())) or t(UP_TO_DATE))
    return 0


def _migrate_audited(tx: Tx) -> list[str]:
    """Apply missing migrations, with an entry in the audit log, and return their names."""
    names = migrate(tx, WORLD.now())
    if names:
        entry = AuditEntry(WORLD.now(), *current_actor(), None, "store.migrate", ", ".join(names))
        audit_log.add(tx, entry)
    return names


def _check_schema(settings: Settings) -> int:
    """Print the missing migrations; return 1 if there are any.

    Raises CommandError if the store cannot be read.
    """
    try:
        missing = asyncio.run(pending_migrations(settings, WORLD))
    except StoreUnavailable as error:
        raise CommandError(f"the store cannot be read ({error}); run `pabal doctor`") from None
    print("\n".join(f"missing {name}" for name in missing) or t(UP_TO_DATE))
    return 1 if missing else 0


def _settings(settings: Settings, given: argparse.Namespace) -> None:
    for name, value, meaning in describe_settings(settings):
        print(f"{name} = {value}\n    {meaning.in_language(choose_language())}")


def _doctor(settings: Settings, given: argparse.Namespace) -> int:
    findings = asyncio.run(diagnose(settings, WORLD))
    for finding in findings:
        state = (OK if finding.is_ok else WRONG).in_language(choose_language())
        print(f"{state} {t(finding.message)}")
        if finding.remedy:
            print(f"      {t(finding.remedy)}")
    return 0 if all(finding.is_ok for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
