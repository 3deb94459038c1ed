"""Checks an installation and says how to fix what is wrong."""

import asyncio
import shlex
import shutil
from ipaddress import ip_address

from pabal.app import build_context, open_store
from pabal.cli.doctor.finding import Finding
from pabal.cli.doctor.machine import (
    check_disk,
    check_files,
    check_port,
    compare_clocks,
    explain_directory,
    explain_store,
)
from pabal.cli.doctor.mail import check_mail_server
from pabal.cli.doctor.nodes import check_nodes
from pabal.cli.doctor.openid import check_break_glass, check_provider
from pabal.cli.doctor.workers import check_workers
from pabal.domain.base import dates
from pabal.domain.events.webhook import Webhook
from pabal.domain.people.phone import NumberState
from pabal.service.access.contacts import hash_keys
from pabal.service.access.sign_in import factor_secrets
from pabal.service.access.sign_in.factor_secrets import FactorSecrets
from pabal.service.delivery.carrier import known_carriers
from pabal.service.delivery.carrier.circuit_breaker import CarrierStatus
from pabal.service.delivery.workers.heartbeat import find_live_workers
from pabal.service.metrics import Metrics
from pabal.service.upkeep import abandoned_jobs
from pabal.service.webhooks import encrypt
from pabal.settings.carrier_tables import find_unrouted
from pabal.settings.carriers import SENDABLE, TEXT_PRODUCTS
from pabal.settings.data_directory import AlreadyRunning, process_lock
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import NodeUnavailable, Store, StoreUnavailable, Tx
from pabal.store.engine.citus import citus_nodes
from pabal.store.engine.migrate import UnsupportedSchema, all_migrations, pending
from pabal.store.engine.postgres import requirements
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.events import webhook_posts, webhooks
from pabal.store.queue import carriers, queue_admin, slots
from pabal.store.queue.queue import Lane
from pabal.world import World

LATE_MS = 30 * dates.SECOND
"""Messages that have been due for longer are reported if nothing delivers."""
CARRIER_WORDS = {
    CarrierStatus.CIRCUIT_OPEN.value: "failing (circuit open)",
    CarrierStatus.UP.value: "working only in part",
}
"""How a state is shown where its stored word is not clear."""
CARRIER_REMEDIES = {
    CarrierStatus.DOWN.value: "Its messages wait. Check that it can be reached and that its settings are right.",
    CarrierStatus.CIRCUIT_OPEN.value: "Its messages go to the next carrier of their route, or wait."
    " Check that it can be reached, and ask its operator.",
    CarrierStatus.UP.value: "It works again when the quota ends, or when the relay raises it; otherwise check that"
    " its settings are right.",
}
UNCONFIGURED_REMEDY = (
    "Use the settings that have it: --config FILE. A service moves them to other carriers of their route, but never"
    " from a real carrier to a simulator. Or decide yourself: `pabal carrier move`, `pabal carrier cancel`."
)
MAX_NAMED_WEBHOOKS = 20
"""Paused webhooks that are named one by one."""
PAUSED_REMEDY = (
    "Tell the owner of the account, who sees it in the console as well. Its events are kept for 7 days, and it is"
    " tried every five minutes; `pabal webhook test {id} --account {account}` shows what comes back."
)


async def diagnose(settings: Settings, world: World) -> list[Finding]:
    """Run all checks and return their results.

    Creates the data directory and the store's file if they do not exist; changes nothing else.
    """
    findings = [] if settings.is_on_postgresql else _check_directory(settings)
    is_running: bool | None = None
    if not settings.is_on_postgresql and all(finding.is_ok for finding in findings):
        is_running = _is_running(settings)
        findings.append(
            Finding(True, "a service is running on it" if is_running else "no service is running on it")
        )
    if all(finding.is_ok for finding in findings):
        findings += await _check_store(settings, world, is_running)
    answering = await asyncio.to_thread(check_port, settings, is_running=is_running)
    findings += await check_provider(settings, world)
    return [*findings, *_check_routes(settings), *_check_address(settings), *answering]


async def pending_migrations(settings: Settings, world: World) -> list[str]:
    """Return the migrations that the schema lacks; change nothing and create no file.

    Raises UnsupportedSchema, or StoreUnavailable if the store cannot be read.
    """
    if settings.is_on_postgresql:
        store = open_store(settings, world)
        try:
            return await store.read(pending)
        finally:
            await store.close()
    path = settings.store_path
    return (
        sqlite_backup.query_file(path, pending)
        if path.exists()
        else [f"{step.number:04} {step.name}" for step in all_migrations()]
    )


def _check_directory(settings: Settings) -> list[Finding]:
    folder = settings.store_path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = folder / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        message = f"the data directory {folder} is not writable ({error.strerror})"
        return [Finding(False, message, explain_directory(folder))]
    return [
        Finding(True, f"the data directory {folder} is writable"),
        *check_files(folder),
        *check_disk(shutil.disk_usage(folder).free),
    ]


def _is_running(settings: Settings) -> bool:
    """Return whether a service runs on the SQLite store."""
    try:
        with process_lock(settings):
            return False
    except AlreadyRunning:
        return True


async def _check_store(settings: Settings, world: World, is_running: bool | None) -> list[Finding]:
    try:
        store = open_store(settings, world)
    except StoreUnavailable as error:
        return [_unreachable(settings, error)]
    try:
        missing = await store.read(pending)
        if missing:
            remedy = "Start `pabal serve`, or run `pabal migrate`." if settings.migrate else "Run `pabal migrate`."
            return [Finding(settings.migrate, f"missing migrations: {', '.join(missing)}", remedy)]
        return [
            *await (_check_server(store, settings, world) if settings.is_on_postgresql else _check_file(store)),
            *await _check_keys(store),
            *await _check_numbers(store, settings),
            *await _check_reachable_queue(store, settings, world, is_running),
            *await _check_carriers(store, settings),
            *await _check_secrets(store, settings, world),
            *await _check_webhooks(store, settings),
            *await check_mail_server(store, settings),
            *await check_break_glass(store, settings),
        ]
    except UnsupportedSchema as error:
        return [Finding(False, str(error))]
    except NodeUnavailable as error:
        return [Finding(False, str(error), citus_nodes.UNREACHABLE_REMEDY)]
    except StoreUnavailable as error:
        return [_unreachable(settings, error)]
    except BadSetting as error:
        return [Finding(False, str(error), "Fix this setting.")]
    finally:
        await store.close()


def _unreachable(settings: Settings, error: StoreUnavailable) -> Finding:
    if not settings.is_on_postgresql:
        message = f"the store {settings.store_path} cannot be read ({error})"
        return Finding(False, message, explain_store(str(error)))
    remedy = "Check that it is running, and that `store` has the right host, database, user and password."
    return Finding(False, f"the database {settings.redacted_store} cannot be reached ({error})", remedy)


async def _check_file(store: Store) -> list[Finding]:
    result = await store.read(_quick_check)
    if result == "ok":
        return [Finding(True, "the store is intact and its schema is up to date")]
    return [Finding(False, f"the store is damaged: {result}", "Restore a backup.")]


async def _check_server(store: Store, settings: Settings, world: World) -> list[Finding]:
    """Check the version, the settings and the clock of PostgreSQL, and the workers."""
    found = [Finding(True, f"the database {settings.redacted_store} can be reached and its schema is up to date")]
    found += await check_workers(store)
    version = await store.read(requirements.server_version)
    if version < requirements.MIN_VERSION:
        found.append(
            Finding(False, f"PostgreSQL has version {version}", f"Use {requirements.MIN_VERSION} or later.")
        )
    for name, value in (await store.read(requirements.current_settings)).items():
        if value not in requirements.REQUIRED_SETTINGS[name]:
            required = " or ".join(requirements.REQUIRED_SETTINGS[name])
            remedy = f"Set it to {required}; otherwise stored data may be lost."
            found.append(Finding(False, f"PostgreSQL has {name} = {value}", remedy))
    before = world.now()
    theirs = await store.read(requirements.server_time)
    found += compare_clocks(before, theirs, world.now())
    return found + await check_nodes(store)


async def _check_reachable_queue(
    store: Store, settings: Settings, world: World, is_running: bool | None
) -> list[Finding]:
    """Check the queue; while a node cannot be reached, which was said above, it stays unchecked."""
    try:
        return [
            *await _check_queue(store, settings, world),
            *await _check_delivery(store, settings, world, is_running),
        ]
    except NodeUnavailable:
        return [Finding(False, "the queue was not checked", "Run `pabal doctor` again when the node is back.")]


async def _check_keys(store: Store) -> list[Finding]:
    live = [key for key in await store.read(accounts.list_keys) if key.is_live]
    if live:
        return [Finding(True, f"{len(live)} live key{'' if len(live) == 1 else 's'}")]
    return [Finding(False, "there is no live key", "Create one: pabal key create --account NAME")]


async def _check_numbers(store: Store, settings: Settings) -> list[Finding]:
    """Report that no text can be sent because no sender number is approved."""
    if not settings.must_check_sender_numbers or not any(each.code in settings.routes for each in TEXT_PRODUCTS):
        return []
    known = await store.read(numbers.list_all)
    if any(each.state is NumberState.APPROVED for each in known):
        return []
    command = "approve" if any(each.state is NumberState.PENDING for each in known) else "add"
    remedy = f"Without one every text is refused: `pabal number {command} NUMBER --account NAME`."
    return [Finding(False, "no sender number is approved", remedy)]


async def _check_queue(store: Store, settings: Settings, world: World) -> list[Finding]:
    kinds = build_context(settings, store, world, Metrics()).kinds
    known = await store.read(slots.list_numbers)
    found = []
    for each in await store.read(abandoned_jobs.list_carriers, known, kinds, world.now()):
        if each.name not in kinds and each.unsent + each.awaiting_receipt:
            message = f"{each.unsent} messages wait for the carrier {each.name}, which is not configured"
            if receipts := each.awaiting_receipt:
                message += f", and {receipts} for receipts from it"
            found.append(Finding(False, message, UNCONFIGURED_REMEDY))
    try:
        await store.read(known_carriers.check_carriers, kinds)
    except known_carriers.WrongCarriers as error:
        found.append(Finding(False, "a service will not start with these settings", str(error)))
    return found


async def _check_delivery(store: Store, settings: Settings, world: World, is_running: bool | None) -> list[Finding]:
    """Report messages that are due while nothing delivers."""
    kinds = build_context(settings, store, world, Metrics()).kinds
    depths = await store.read(queue_admin.depths, await store.read(slots.list_numbers), kinds, world.now())
    due = [
        each.oldest_ready_at
        for each in depths
        if each.lane != Lane.AWAITING_RECEIPT and each.oldest_ready_at is not None
    ]
    if not due or world.now() - min(due) < LATE_MS:
        return []
    if is_running or (is_running is None and await find_live_workers(store)):
        return []
    since = dates.format_timestamp(min(due), settings.zone)
    remedy = "Start `pabal work`, or `pabal serve`." if settings.is_on_postgresql else "Start `pabal serve`."
    return [Finding(False, f"messages have been due since {since}, and nothing delivers them", remedy)]


async def _check_carriers(store: Store, settings: Settings) -> list[Finding]:
    found = []
    for carrier in await store.read(carriers.list_states):
        if carrier.name in settings.carriers and (carrier.reason or carrier.state != CarrierStatus.UP.value):
            word = CARRIER_WORDS.get(carrier.state, carrier.state)
            since = dates.format_timestamp(carrier.since, settings.zone)
            worker = f" ({carrier.worker})" if carrier.worker else ""
            reason = f": {carrier.reason}" if carrier.reason else ""
            message = f"the carrier {carrier.name} has been {word} since {since}{worker}{reason}"
            found.append(Finding(False, message, CARRIER_REMEDIES[carrier.state]))
    return found


async def _check_secrets(store: Store, settings: Settings, world: World) -> list[Finding]:
    """Check that secrets, and the key of the opt-outs, are encrypted with the current key."""
    context = build_context(settings, store, world, Metrics())
    current, other, unreadable = await encrypt.count_states(context)
    found = []
    if unreadable:
        message = f"the secrets of {unreadable} webhooks cannot be decrypted, so nothing is posted to them"
        remedy = "Add the key that they were encrypted with to secret_key, or rotate these webhooks' secrets."
        found.append(Finding(False, message, remedy))
    if not context.secrets.has_key:
        if current:
            remedy = "Set secret_key to a key of `pabal secrets new-key`, then run `pabal secrets rotate`."
            found.append(Finding(True, f"the secrets of {current} webhooks are stored without encryption", remedy))
    elif other:
        message = f"the secrets of {other} webhooks are stored with an old key, or without one"
        found.append(Finding(True, message, "Run `pabal secrets rotate`."))
    found += _describe_factors(await factor_secrets.count_states(context), has_key=context.secrets.has_key)
    return found + _describe_hash_key(await hash_keys.get_state(context), has_key=context.secrets.has_key)


def _describe_factors(states: FactorSecrets, *, has_key: bool) -> list[Finding]:
    """Say what is wrong with how the secrets of two-factor sign-ins are stored."""
    found = []
    if states.unreadable:
        message = (
            f"the two-factor secrets of {states.unreadable} users cannot be decrypted: their codes are refused"
        )
        remedy = "Add the key that they were encrypted with to secret_key, or run `pabal user reset-two-factor`."
        found.append(Finding(False, message, remedy))
    if states.current and not has_key:
        remedy = "Set secret_key to a key of `pabal secrets new-key`, then run `pabal secrets rotate`."
        message = f"the two-factor secrets of {states.current} users are stored without encryption"
        found.append(Finding(True, message, remedy))
    if states.other and has_key:
        message = f"the two-factor secrets of {states.other} users are stored with an old key, or without one"
        found.append(Finding(True, message, "Run `pabal secrets rotate`."))
    return found


def _describe_hash_key(state: hash_keys.KeyState, *, has_key: bool) -> list[Finding]:
    """Say what is wrong with how the key of the opt-outs is stored."""
    if state is hash_keys.KeyState.UNREADABLE:
        message = "the key of the opt-outs cannot be decrypted, so the service does not start"
        remedy = (
            "Add the key that it was encrypted with to secret_key; see `pabal secrets rebuild-opt-outs --help`."
        )
        return [Finding(False, message, remedy)]
    if state is hash_keys.KeyState.OTHER:
        message = "the key of the opt-outs is stored with an old key, or without one"
        return [Finding(True, message, "Run `pabal secrets rotate`.")]
    if state is hash_keys.KeyState.CURRENT and not has_key:
        remedy = "Set secret_key to a key of `pabal secrets new-key`, then run `pabal secrets rotate`."
        return [Finding(True, "the key of the opt-outs is stored without encryption", remedy)]
    return []


async def _check_webhooks(store: Store, settings: Settings) -> list[Finding]:
    """Name the webhooks that are paused; their owners see it in the console."""
    paused = await store.read(_list_paused)
    found = []
    for webhook, reason in paused[:MAX_NAMED_WEBHOOKS]:
        failing_since = webhook.failing_since if webhook.failing_since is not None else webhook.created_at
        since = dates.format_timestamp(failing_since, settings.zone)
        why = f" ({reason})" if reason else ""
        message = (
            f"the webhook {webhook.id} of {webhook.account} is paused: {webhook.url} keeps failing since"
            f" {since}{why}"
        )
        remedy = PAUSED_REMEDY.format(id=webhook.id, account=shlex.quote(webhook.account))
        found.append(Finding(True, message, remedy))
    if len(paused) > MAX_NAMED_WEBHOOKS:
        found.append(Finding(True, "more webhooks are paused", "See `pabal webhook list`."))
    return found


def _list_paused(tx: Tx) -> list[tuple[Webhook, str]]:
    """Return some paused webhooks, and why the last try of each failed."""
    found = []
    for webhook in webhooks.list_paused(tx, MAX_NAMED_WEBHOOKS + 1):
        tries = webhook_posts.list_deliveries(tx, webhook.id, 1, 0)
        reason = "" if not tries else f"HTTP {tries[0].status}" if tries[0].status else tries[0].error
        found.append((webhook, reason))
    return found


def _check_routes(settings: Settings) -> list[Finding]:
    if unused := find_unrouted(settings.routes, settings.carriers):
        example = f"[routes] {settings.carriers[unused[0]].products[0].code} = [{unused[0]!r}]".replace("'", '"')
        remedy = f"Name it for the products that it shall send, as in `{example}`, or remove its table."
        return [Finding(False, f"nothing is sent through {', '.join(unused)}: no route names it", remedy)]
    missing = [product.code for product in SENDABLE if product.code not in settings.routes]
    if not missing:
        return [Finding(True, "every product has a route")]
    remedy = "Callers get PRODUCT_NOT_AVAILABLE; add routes in [routes] if you want to send these."
    return [Finding(True, f"no route for {', '.join(missing)}", remedy)]


def _check_address(settings: Settings) -> list[Finding]:
    try:
        is_local = ip_address(settings.host).is_loopback
    except ValueError:
        is_local = settings.host == "localhost"
    if is_local or settings.trusted_proxies:
        return [Finding(True, f"is set to listen on {settings.host}:{settings.port}")]
    remedy = "Put a TLS proxy in front of it, and name the proxy in trusted_proxies."
    return [
        Finding(True, f"is set to listen on {settings.host}:{settings.port}, reachable from other machines", remedy)
    ]


def _quick_check(tx: Tx) -> str:
    row = tx.fetch_one("pragma quick_check(1)")
    return str(row[0]) if row else "no answer"
