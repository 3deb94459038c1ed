"""Commands that manage the webhooks of accounts."""

import argparse
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pabal.app import build_context
from pabal.checks.webhooks import EVENT_CHOICES, PRODUCT_CHOICES, check_description, check_url, parse_id
from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    add_list,
    current_actor,
    find_account_id,
    printable,
    with_store,
)
from pabal.cli.shared.table import Cell, print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.context import Context
from pabal.service.metrics import Metrics
from pabal.service.webhooks import manage, trial
from pabal.service.webhooks.manage import CreatedSecret, ListedWebhook, WebhookFields
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store
from pabal.webhooks.poster import PostResult

T = TypeVar("T")

COLUMNS = {
    "account": Text("계정", "Account"),
    "webhookId": Text("ID", "ID"),
    "state": Text("상태", "Status"),
    "url": Text("주소", "Address"),
    "events": Text("이벤트", "Events"),
    "backlog": Text("대기", "Backlog"),
}


def add_commands(subparsers: Any) -> None:
    """Add `webhook`."""
    group = add_group(subparsers, "webhook", "Manage the webhooks that events of accounts are posted to.")
    parser = add_list(group, _list, "List webhooks: account, id, state, address, events and backlog.")
    parser.add_argument("--account", help="only those of this account")
    parser = add_command(group, "create", _create, "Create a webhook; prints its id and its secret.")
    parser.add_argument("url", help="an https address")
    parser.add_argument("--account", required=True, help="the account's name")
    parser.add_argument(
        "--event", action="append", required=True, choices=EVENT_CHOICES, metavar="EVENT", help="may be repeated"
    )
    parser.add_argument(
        "--product", action="append", default=[], choices=PRODUCT_CHOICES, metavar="PRODUCT", help="default: all"
    )
    parser.add_argument("--description", default="", help="a note")
    for name, run, help in (
        ("delete", _delete, "Delete a webhook with everything that was not delivered to it."),
        ("test", _test, "Post a test event and print what came back."),
    ):
        parser = add_command(group, name, run, help)
        parser.add_argument("webhook", help="the webhook's id")
        parser.add_argument("--account", required=True, help="the account's name")


def _list(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> list[ListedWebhook]:
        context = build_context(settings, store, WORLD, Metrics())
        if given.account:
            return await manage.list_all(context, await find_account_id(store, given.account))
        known = await store.read(accounts.list_accounts)
        return [each for account in known for each in await manage.list_all(context, account.id)]

    rows = []
    for webhook, backlog in with_store(settings, work):
        names = [word for word, each in EVENT_CHOICES.items() if each in webhook.events]
        events = Cell(names, " ".join(names))
        rows.append((webhook.account, webhook.id, webhook.state.code, printable(webhook.url), events, backlog))
    print_rows(COLUMNS, rows, as_json=given.json)


def _create(settings: Settings, given: argparse.Namespace) -> None:
    fields = WebhookFields(
        check_url(given.url),
        [EVENT_CHOICES[each] for each in given.event],
        [PRODUCT_CHOICES[each] for each in given.product],
        check_description(given.description),
    )

    async def work(context: Context, account_id: int) -> CreatedSecret:
        entry = AuditEntry(WORLD.now(), *current_actor(), account_id, "webhook.create")
        return await manage.create(context, account_id, fields, entry)

    made = _with_account(settings, given, work)
    print(f"{made.webhook_id}\t{made.secret}")


def _delete(settings: Settings, given: argparse.Namespace) -> None:
    async def work(context: Context, account_id: int) -> None:
        entry = AuditEntry(WORLD.now(), *current_actor(), account_id, "webhook.delete", given.webhook)
        await manage.delete(context, account_id, parse_id(given.webhook), entry)

    _with_account(settings, given, work)
    print_message(f"webhook {given.webhook} is deleted")


def _test(settings: Settings, given: argparse.Namespace) -> int:
    async def work(context: Context, account_id: int) -> PostResult:
        return await trial.send_test(context, account_id, parse_id(given.webhook))

    result = _with_account(settings, given, work)
    print_message(trial.describe_error(result) or f"HTTP {result.status} after {result.duration_ms} ms")
    return 0 if result.is_success else 1


def _with_account(settings: Settings, given: argparse.Namespace, work: Callable[[Context, int], Awaitable[T]]) -> T:
    """Run `work` for the account that the command names."""

    async def run(store: Store) -> T:
        account_id = await find_account_id(store, given.account)
        context = build_context(settings, store, WORLD, Metrics())
        try:
            return await work(context, account_id)
        except Refused as refused:
            if refused.code is not Code.WEBHOOK_NOT_FOUND:
                raise
            raise CommandError(
                f"{given.account} has no webhook {given.webhook}; see `pabal webhook list`"
            ) from None
        finally:
            await context.close_connections()

    return with_store(settings, run)
