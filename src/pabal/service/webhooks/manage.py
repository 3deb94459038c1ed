"""Creates, changes, lists, tests and replays an account's webhooks."""

from collections.abc import Collection
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EventType
from pabal.domain.events.webhook import MAX_WEBHOOKS, Webhook, WebhookFormat, WebhookState, secret_context
from pabal.domain.sends.message import Product
from pabal.service.context import Context
from pabal.service.webhooks.fan_out import skip_backlog
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import DeliveryTry
from pabal.store.events.webhooks import NewWebhook
from pabal.webhooks import poster
from pabal.webhooks.permitted_addresses import parse_url

MAX_COUNTED_BACKLOG = 10_000
MAX_LISTED_STOPPED = 200
_TOO_MANY = Text(
    f"웹훅은 계정마다 {MAX_WEBHOOKS}개까지 만들 수 있습니다.",
    f"An account can have at most {MAX_WEBHOOKS} webhooks.",
)
_IS_DISABLED = Text(
    "사용 안 함 상태인 웹훅입니다. 먼저 사용하도록 바꾸세요.", "The webhook is disabled: enable it first."
)


class WebhookFields(NamedTuple):
    """What an owner says about a webhook; None: it stays as it is."""

    url: str | None = None
    events: Collection[EventType] | None = None
    products: Collection[Product] | None = None
    description: str | None = None
    is_enabled: bool | None = None
    rotates_secret: bool = False
    skips_missed: bool = False
    """Whether what it has missed is given up when it is enabled."""
    format: WebhookFormat | None = None


class ListedWebhook(NamedTuple):
    """A webhook, and how many events wait for it."""

    webhook: Webhook
    backlog: int
    """Counted up to about MAX_COUNTED_BACKLOG."""


class StoppedWebhook(NamedTuple):
    """A webhook that is paused, or disabled because of 410, and the last try to post to it."""

    webhook: Webhook
    last_try: DeliveryTry | None


class CreatedSecret(NamedTuple):
    """A webhook with its new secret, which is shown once."""

    webhook_id: int
    secret: str


async def create(context: Context, account_id: int, fields: WebhookFields, entry: AuditEntry) -> CreatedSecret:
    """Create a webhook and return its secret.

    Raises Refused: INVALID_PARAMETER for an address that is not allowed, INVALID_STATE where there are too many.
    """
    assert fields.url is not None
    webhook_format = fields.format or WebhookFormat.PABAL
    _check_format(webhook_format, fields.events or ())
    await _check_address(context, account_id, fields.url)
    secret = poster.new_secret(context.world)
    new = NewWebhook(
        account_id,
        fields.url,
        fields.events or (),
        fields.products or (),
        fields.description or "",
        context.secrets.seal(secret, secret_context(account_id)),
        webhook_format,
    )
    webhook_id = await context.store.write(_create, new, context.world.now(), entry)
    context.webhooks.announce_change()
    return CreatedSecret(webhook_id, poster.format_secret(secret))


async def update(
    context: Context, account_id: int, webhook_id: int, fields: WebhookFields, entry: AuditEntry
) -> tuple[ListedWebhook, str | None]:
    """Change a webhook; return it, and its new secret if that was rotated.

    Raises Refused: WEBHOOK_NOT_FOUND, INVALID_PARAMETER for an address that is not allowed, RATE_LIMITED,
    SERVICE_UNAVAILABLE.
    """
    if fields.url is not None:
        await _check_address(context, account_id, fields.url)
    secret = poster.new_secret(context.world) if fields.rotates_secret else None
    sealed = context.secrets.seal(secret, secret_context(account_id)) if secret else None
    now = context.world.now()
    async with context.searches.acquire(account_id):  # before the change: its answer may hold the only secret
        if fields.is_enabled and fields.skips_missed:
            webhook = await context.store.read(find, account_id, webhook_id)
            if webhook.state is not WebhookState.ACTIVE:
                await skip_backlog(context, webhook)
        found = await context.store.write(_update, account_id, webhook_id, fields, sealed, now, entry)
        context.webhooks.announce_change()
        listed = await _with_backlog(context, found)
    return listed, poster.format_secret(secret) if secret else None


async def delete(context: Context, account_id: int, webhook_id: int, entry: AuditEntry) -> None:
    """Delete a webhook with everything that was not delivered to it.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    await context.store.write(_delete, account_id, webhook_id, entry)
    context.webhooks.announce_change()


async def list_all(context: Context, account_id: int) -> list[ListedWebhook]:
    """Return the webhooks of an account, oldest first.

    Raises Refused(RATE_LIMITED).
    """
    async with context.searches.acquire(account_id):
        found = await context.store.read(webhooks.list_by_account, account_id)
        return [await _with_backlog(context, each) for each in found]


def list_stopped(tx: Tx) -> list[StoppedWebhook]:
    """Return the webhooks of all accounts that are paused or disabled because of 410, up to MAX_LISTED_STOPPED."""
    found = webhooks.list_stopped(tx, MAX_LISTED_STOPPED)
    return [StoppedWebhook(each, next(iter(webhook_posts.list_tries(tx, each.id, 1)), None)) for each in found]


def find(tx: Tx, account_id: int, webhook_id: int) -> Webhook:
    """Return a webhook of an account.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    return require(webhooks.get(tx, account_id, webhook_id), Code.WEBHOOK_NOT_FOUND, "webhookId")


async def get(context: Context, account_id: int, webhook_id: int) -> ListedWebhook:
    """Return a webhook of an account, with its backlog.

    Raises Refused: WEBHOOK_NOT_FOUND, RATE_LIMITED.
    """
    async with context.searches.acquire(account_id):
        return await _with_backlog(context, await context.store.read(find, account_id, webhook_id))


def list_deliveries(
    tx: Tx, account_id: int, webhook_id: int, page: int, page_size: int
) -> tuple[int, list[DeliveryTry]]:
    """Return how many recent tries of a webhook there are, and a page of them, newest first.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    find(tx, account_id, webhook_id)
    found = webhook_posts.list_tries(tx, webhook_id, page_size, (page - 1) * page_size)
    return webhook_posts.count_tries(tx, webhook_id), found


async def replay(context: Context, account_id: int, webhook_id: int, since: Instant, entry: AuditEntry) -> None:
    """Have everything since an instant posted to a webhook again.

    Raises Refused: WEBHOOK_NOT_FOUND, INVALID_STATE for one that is disabled, RATE_LIMITED.
    """
    key, now = (account_id, webhook_id), context.world.monotonic()
    context.webhooks.last_replays.check(key, now)
    await context.store.write(_replay, account_id, webhook_id, since, entry)
    context.webhooks.last_replays.remember(key, now)
    context.webhooks.announce_change()


async def _with_backlog(context: Context, webhook: Webhook) -> ListedWebhook:
    return ListedWebhook(
        webhook, await context.store.read(webhook_posts.count_backlog, webhook, MAX_COUNTED_BACKLOG)
    )


async def _check_address(context: Context, account_id: int, spelling: str) -> None:
    account = await context.store.read(accounts.get, account_id)
    context.webhooks.address_rules.check_literal(account.name if account else "", parse_url(spelling))


def _check_format(webhook_format: WebhookFormat, events: Collection[EventType]) -> None:
    """Raise Refused(INVALID_PARAMETER) where a format cannot tell one of the events."""
    if not webhook_format.events.issuperset(events):
        told = ", ".join(sorted(each.code for each in webhook_format.events))
        name = webhook_format.code
        detail = Text(f"{name} 형식으로 보낼 수 있는 이벤트: {told}", f"The format {name} can only tell: {told}")
        raise Refused(Code.INVALID_PARAMETER, "events", detail)


def _create(tx: Tx, new: NewWebhook, now: Instant, entry: AuditEntry) -> int:
    accounts.lock(tx, new.account_id)
    if webhooks.count(tx, new.account_id) >= MAX_WEBHOOKS:
        raise Refused(Code.INVALID_STATE, detail=_TOO_MANY)
    webhook_id = webhooks.add(tx, new, now)
    audit_log.add(tx, entry._replace(target=str(webhook_id)))
    return webhook_id


def _update(
    tx: Tx,
    account_id: int,
    webhook_id: int,
    fields: WebhookFields,
    sealed: bytes | None,
    now: Instant,
    entry: AuditEntry,
) -> Webhook:
    found = find(tx, account_id, webhook_id)
    changed = found._replace(
        url=found.url if fields.url is None else fields.url,
        events=found.events if fields.events is None else frozenset(fields.events),
        products=found.products if fields.products is None else frozenset(fields.products),
        description=found.description if fields.description is None else fields.description,
        format=fields.format or found.format,
    )
    _check_format(changed.format, changed.events)
    if sealed is not None:
        overlap_end = now + poster.ROTATION_OVERLAP
        changed = changed._replace(secret=sealed, previous_secret=found.secret, previous_until=overlap_end)
    webhooks.change(tx, changed, now)
    if fields.is_enabled and found.state is not WebhookState.ACTIVE:
        webhooks.enable(tx, webhook_id, now)
    elif fields.is_enabled is False:
        webhooks.disable(tx, webhook_id, now)
    audit_log.add(tx, entry)
    return find(tx, account_id, webhook_id)


def _delete(tx: Tx, account_id: int, webhook_id: int, entry: AuditEntry) -> None:
    if not webhooks.delete(tx, account_id, webhook_id):
        raise Refused(Code.WEBHOOK_NOT_FOUND, "webhookId")
    audit_log.add(tx, entry)


def _replay(tx: Tx, account_id: int, webhook_id: int, since: Instant, entry: AuditEntry) -> None:
    if find(tx, account_id, webhook_id).state is WebhookState.DISABLED:
        raise Refused(Code.INVALID_STATE, "webhookId", _IS_DISABLED)
    webhook_posts.rewind(tx, webhook_id, since)
    audit_log.add(tx, entry)
