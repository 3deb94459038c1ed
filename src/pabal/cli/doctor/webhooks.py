"""What `pabal doctor` checks of webhooks: those whose accounts are not told results."""

import shlex
from typing import NamedTuple

from pabal.cli.doctor.finding import Finding, note
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store, Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.world import World

MAX_NAMED = 20
"""Webhooks that are named one by one."""
MAX_COUNTED = 10_000
"""Most events of a webhook that are counted."""
FAILING_MS = 30 * SECOND
"""A webhook that has failed for longer is reported, before it is paused."""


class FailingWebhook(NamedTuple):
    """A webhook that fails, is paused, or is disabled because of 410."""

    webhook: Webhook
    reason: str
    """Why the last try failed."""
    waiting: int
    """Events that wait for it."""


async def check_webhooks(store: Store, settings: Settings, world: World) -> list[Finding]:
    """Name the webhooks that fail, are paused, or are disabled because of 410; owners see it in the console."""
    stopped = await store.read(_list_stopped, world.now() - FAILING_MS)
    found = [_describe(each, settings) for each in stopped[:MAX_NAMED]]
    if len(stopped) > MAX_NAMED:
        found.append(
            note(
                "실패하거나 멈춰 있는 웹훅이 더 있습니다",
                "more webhooks fail, are paused, or disabled because of 410",
                Text("`pabal webhook list`를 보세요.", "See `pabal webhook list`."),
            )
        )
    return found


def _describe(stopped: FailingWebhook, settings: Settings) -> Finding:
    webhook = stopped.webhook
    if webhook.is_gone:
        return _describe_gone(stopped, settings)
    failing_since = webhook.failing_since if webhook.failing_since is not None else webhook.created_at
    since = dates.format_timestamp(failing_since, settings.zone)
    why = f" ({stopped.reason})" if stopped.reason else ""
    test = f"`pabal webhook test {webhook.id} --account {shlex.quote(webhook.account)}`"
    is_paused = webhook.state is WebhookState.PAUSED
    state = Text("이(가) 멈춰 있습니다", "is paused") if is_paused else Text("이(가) 실패합니다", "fails")
    then = (
        Text("7일 동안 보관하고 5분마다 다시 시도합니다", "are kept for 7 days, and it is tried every five minutes")
        if is_paused
        else Text("다시 시도합니다", "are tried again")
    )
    return note(
        f"{webhook.account}의 웹훅 {webhook.id}{state.ko}. {webhook.url}이(가) {since}부터 계속 실패합니다{why}",
        f"the webhook {webhook.id} of {webhook.account} {state.en}: {webhook.url} keeps failing since {since}{why}",
        Text(
            "계정의 소유자에게 알리세요. 콘솔에도 보입니다."
            f" 기다리는 이벤트 {_count(stopped.waiting)}건은 {then.ko}. {test}: 돌아오는 응답을 보여 줍니다.",
            "Tell the owner of the account, who sees it in the console as well."
            f" The events that wait, {_count(stopped.waiting)}, {then.en}; {test} shows what comes back.",
        ),
    )


def _describe_gone(stopped: FailingWebhook, settings: Settings) -> Finding:
    webhook = stopped.webhook
    since = dates.format_timestamp(webhook.changed_at, settings.zone)
    enable = f"`pabal webhook enable {webhook.id} --account {shlex.quote(webhook.account)}`"
    return note(
        f"{webhook.account}의 웹훅 {webhook.id}을(를) {since}부터 사용하지 않습니다. {webhook.url}이(가) 계속"
        " 410으로 응답했습니다",
        f"the webhook {webhook.id} of {webhook.account} is disabled since {since}: {webhook.url} kept answering"
        " 410 Gone",
        Text(
            f"기다리는 이벤트 {_count(stopped.waiting)}건은 7일 동안 보관합니다. 계정의 소유자가 서버를 고치거나"
            f" 주소를 바꾼 뒤 콘솔에서 다시 사용하면 밀린 것부터 보냅니다. {enable}: 여기서 다시 사용합니다.",
            f"The events that wait, {_count(stopped.waiting)}, are kept for 7 days. When the owner of the account"
            f" has repaired the server or changed the address, enabling it, in the console or by {enable}, posts"
            " what it has missed.",
        ),
    )


def _count(number: int) -> str:
    return f"{number:,}" if number < MAX_COUNTED else f"{MAX_COUNTED:,}+"


def _list_stopped(tx: Tx, failing_before: Instant) -> list[FailingWebhook]:
    """Return some webhooks that get nothing, and why the last try of each failed; those that still fail last."""
    found = webhooks.list_stopped(tx, MAX_NAMED + 1)
    found += webhooks.list_failing(tx, failing_before, MAX_NAMED + 1 - len(found))
    return [_read(tx, each) for each in found]


def _read(tx: Tx, webhook: Webhook) -> FailingWebhook:
    tries = webhook_posts.list_deliveries(tx, webhook.id, 1, 0)
    reason = "" if not tries else f"HTTP {tries[0].status}" if tries[0].status else tries[0].error
    return FailingWebhook(webhook, reason, webhook_posts.read_waiting(tx, webhook, MAX_COUNTED).number)
