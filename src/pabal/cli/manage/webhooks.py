"""Commands that manage the webhooks of accounts."""

import argparse
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pabal.checks.webhooks import EVENT_CHOICES, PRODUCT_CHOICES, check_description, check_url, parse_id
from pabal.cli.calling import listen
from pabal.cli.shared.command import audit_entry, find_account_id, make_context, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import Cell, print_rows, printable
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.events.webhook import WEBHOOK_FORMAT_BY_CODE, WebhookFormat
from pabal.service.context import Context
from pabal.service.webhooks import manage, tries
from pabal.service.webhooks.manage import CreatedSecret, ListedWebhook, WebhookFields
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts
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
    "format": Text("형식", "Format"),
}


def declare_webhook(group: CommandParser) -> None:
    """Declare `pabal webhook`."""
    parser = group.add_list(
        _list,
        "웹훅을 보여 줍니다: 계정, ID, 상태, 주소, 이벤트, 대기, 형식.",
        "List webhooks: account, id, state, address, events, backlog and format.",
    )
    parser.add_option("--account", "이 계정의 것만", "only those of this account")
    parser = group.add_command(
        "create",
        _create,
        "웹훅을 만들고 ID와 비밀 값을 출력합니다.",
        "Create a webhook; prints its id and its secret.",
    )
    parser.add_option("url", "https 주소", "an https address")
    parser.add_option("--account", "계정의 이름", "the account's name", required=True)
    parser.add_option(
        "--event EVENT",
        "여러 번 줄 수 있습니다",
        "may be repeated",
        action="append",
        required=True,
        choices=EVENT_CHOICES,
    )
    products = {"choices": PRODUCT_CHOICES, "metavar": "PRODUCT"}
    parser.add_option("--product", "기본값: 전부", "default: all", action="append", default=[], **products)
    parser.add_option("--description", "메모", "a note", default="")
    shape = ("전송의 형식(기본값: pabal)", "what deliveries look like (default: pabal)")
    parser.add_option("--format", *shape, choices=list(WEBHOOK_FORMAT_BY_CODE), default=WebhookFormat.PABAL.code)
    for name, run, ko, en in (
        (
            "delete",
            _delete,
            "웹훅과 전달하지 못한 것을 모두 지웁니다.",
            "Delete a webhook with everything that was not delivered to it.",
        ),
        ("test", _test, "시험 이벤트를 보내고 응답을 출력합니다.", "Post a test event and print what came back."),
        (
            "enable",
            _enable,
            "웹훅을 다시 사용합니다. 그동안 보내지 못한 이벤트부터, 최근 7일분을 보냅니다.",
            "Enable a webhook; it goes on with the first event that it has missed, of at most 7 days.",
        ),
    ):
        parser = group.add_command(name, run, ko, en)
        parser.add_option("webhook", "웹훅의 ID", "the webhook's id")
        parser.add_option("--account", "계정의 이름", "the account's name", required=True)
    listen.declare_webhook(group)
    skip = ("보내지 못한 이벤트는 보내지 않습니다", "do not post what it has missed")
    parser.add_flag("--no-replay", *skip)


def _list(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> list[ListedWebhook]:
        context = make_context(settings, store)
        if given.account:
            return await manage.list_all(context, await find_account_id(store, given.account))
        known = await store.read(accounts.list_accounts)
        return [each for account in known for each in await manage.list_all(context, account.id)]

    rows = []
    for webhook, backlog in with_store(settings, work):
        names = [word for word, each in EVENT_CHOICES.items() if each in webhook.events]
        events = Cell(names, " ".join(names))
        state = Cell(webhook.state.code, f"{webhook.state.code}{' (410)' if webhook.is_gone else ''}")
        rows.append(
            (webhook.account, webhook.id, state, printable(webhook.url), events, backlog, webhook.format.code)
        )
    print_rows(COLUMNS, rows, as_json=given.json)


def _create(settings: Settings, given: argparse.Namespace) -> None:
    fields = WebhookFields(
        check_url(given.url),
        [EVENT_CHOICES[each] for each in given.event],
        [PRODUCT_CHOICES[each] for each in given.product],
        check_description(given.description),
        format=WEBHOOK_FORMAT_BY_CODE[given.format],
    )

    async def work(context: Context, account_id: int) -> CreatedSecret:
        entry = audit_entry(account_id, "webhook.create")
        return await manage.create(context, account_id, fields, entry)

    made = _with_account(settings, given, work)
    print(f"{made.webhook_id}\t{made.secret}")


def _enable(settings: Settings, given: argparse.Namespace) -> None:
    async def work(context: Context, account_id: int) -> None:
        entry = audit_entry(account_id, "webhook.update", given.webhook)
        fields = WebhookFields(is_enabled=True, skips_missed=given.no_replay)
        await manage.update(context, account_id, parse_id(given.webhook), fields, entry)

    _with_account(settings, given, work)
    say(f"웹훅 {given.webhook}을(를) 사용합니다", f"webhook {given.webhook} is enabled")


def _delete(settings: Settings, given: argparse.Namespace) -> None:
    async def work(context: Context, account_id: int) -> None:
        entry = audit_entry(account_id, "webhook.delete", given.webhook)
        await manage.delete(context, account_id, parse_id(given.webhook), entry)

    _with_account(settings, given, work)
    say(f"웹훅 {given.webhook}을(를) 삭제했습니다", f"webhook {given.webhook} is deleted")


def _test(settings: Settings, given: argparse.Namespace) -> int:
    async def work(context: Context, account_id: int) -> PostResult:
        return await tries.send_test(context, account_id, parse_id(given.webhook))

    result = _with_account(settings, given, work)
    if error := tries.describe_error(result):
        print(error)
    else:
        status, duration_ms = result.status, result.duration_ms
        say(f"HTTP {status}, {duration_ms} ms 뒤", f"HTTP {status} after {duration_ms} ms")
    return 0 if result.is_success else 1


def _with_account(settings: Settings, given: argparse.Namespace, work: Callable[[Context, int], Awaitable[T]]) -> T:
    """Run `work` for the account that the command names."""

    async def run(store: Store) -> T:
        account_id = await find_account_id(store, given.account)
        context = make_context(settings, store)
        try:
            return await work(context, account_id)
        except Refused as refused:
            if refused.code is not Code.WEBHOOK_NOT_FOUND:
                raise
            raise CommandError(
                f"{given.account}에는 웹훅 {given.webhook}이(가) 없습니다. `pabal webhook list`를 보세요",
                f"{given.account} has no webhook {given.webhook}; see `pabal webhook list`",
            ) from None
        finally:
            await context.close_connections()

    return with_store(settings, run)
