"""What `pabal doctor` checks at other servers: sign-in, mail, the numbers that relays know, and webhooks."""

import shlex
from collections.abc import AsyncIterator, Iterator, Mapping

from pabal.build_context import build_openid
from pabal.carriers.base import RelayNumber
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.cli.shared.command import make_context
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.domain.people.phone import NumberState, hyphenate
from pabal.domain.people.user import Role
from pabal.openid.provider import DISCOVERY_PATH, OpenIdUnavailable, TokenRejected
from pabal.service.notices.at_once import read_report
from pabal.settings.carriers import TEXT_PRODUCTS
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings
from pabal.store.accounts import numbers
from pabal.store.engine.base import Store, Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.users import users
from pabal.world import World

FIX_SETTING = Text("이 설정을 고치세요.", "Fix this setting.")
MAIL_REMEDY = Text(
    "smtp_host, smtp_port, smtp_tls, 사용자와 비밀번호를 확인하고, 이 컴퓨터에서 접속할 수 있는지 확인하세요."
    " 콘솔의 운영자용 메일 페이지에서 테스트 메일을 보낼 수 있습니다. 메일은 하루 동안 다시 시도하고, 메시지 발송은"
    " 기다리지 않습니다.",
    "Check smtp_host, smtp_port, smtp_tls, user and password, and that this machine may connect there. The"
    " operators' page Mail of the console sends a test. Mails are tried for a day; messages do not wait for them.",
)


async def check_mail_server(store: Store, settings: Settings) -> AsyncIterator[Finding]:
    """Report a mail server that takes no mails, and mails that were given up."""
    settings.read_smtp_password()
    if not settings.has_mail:
        return
    report = await store.read(read_report, f"{settings.smtp_host}:{settings.smtp_port}")
    server, waiting = report.server, report.waiting
    if server.failing_since is not None:
        since = dates.format_timestamp(server.failing_since, settings.zone)
        yield wrong(
            f"{since}부터 메일을 보낼 수 없고, {waiting}통이 기다립니다: {server.name}: {server.error}",
            f"mails cannot be sent since {since}, {waiting} wait: {server.name}: {server.error}",
            *MAIL_REMEDY,
        )
        return
    yield ok(
        f"메일을 {server.name}(으)로 보내고, {waiting}통이 기다립니다", f"mails go to {server.name}, {waiting} wait"
    )
    if report.failed:
        count, last = len(report.failed), report.failed[0]
        yield note(
            f"지난 하루 동안 메일 {count}통을 보내지 못했습니다. 마지막은 {last.user}에게"
            f" 가는 메일입니다: {last.error}",
            f"{count} mails were given up in the last day, the last one to {last.user}: {last.error}",
            "이 사용자들이 알림 화면에서 자기 주소를 확인하게 하세요.",
            "Have these users check their address on the page of their notices.",
        )


async def check_provider(settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Check that the provider describes itself, and has keys that we can verify its tokens with."""
    issuer = settings.openid_issuer
    try:
        provider = build_openid(settings, world)
        if provider is None:
            return
        try:
            await provider.check()
        finally:
            await provider.close()
    except BadSetting as error:
        yield wrong(*error.text, *FIX_SETTING)
    except (OpenIdUnavailable, TokenRejected) as error:
        address = f"{issuer.rstrip('/')}{DISCOVERY_PATH}"
        yield wrong(
            f"OpenID Connect 제공자 {issuer}을(를) 쓸 수 없습니다: {error}",
            f"the OpenID Connect provider {issuer} cannot be used: {error}",
            f"아무도 이것으로 로그인할 수 없습니다. {address}이(가) 응답해야 합니다."
            " openid_issuer와 네트워크를 확인하세요.",
            f"Nobody can sign in with it. {address} must answer; check openid_issuer and the network.",
        )
    else:
        yield ok(
            f"OpenID Connect 제공자 {issuer}이(가) 응답하고 그 키를 쓸 수 있습니다",
            f"the OpenID Connect provider {issuer} answers, and its keys can be used",
        )


async def check_break_glass(store: Store, settings: Settings) -> AsyncIterator[Finding]:
    """Check that the operator who alone may use a password can sign in."""
    name = settings.break_glass_operator
    if not name:
        return
    found = await store.read(users.get_by_name, name)
    if found and found.user.is_active and found.user.role is Role.OPERATOR and found.hash is not None:
        yield ok(
            f"운영자 {name}만 비밀번호로 로그인할 수 있습니다",
            f"only the operator {name} may sign in with a password",
        )
        return
    create = f"`pabal user create {name} --role operator`"
    yield wrong(
        f"break_glass_operator가 가리키는 {name}은(는) 비밀번호가 있는 운영자가 아닙니다",
        f"break_glass_operator names {name}, who is no operator with a password",
        f"제공자에 장애가 나면 아무도 로그인할 수 없습니다. 만드세요: {create}.",
        f"If the provider fails, nobody can sign in. Create it: {create}.",
    )


MAX_NAMED = 20
"""Numbers, or webhooks, that are named one by one."""


async def check_relay_numbers(store: Store, settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Report sender numbers of accounts that a relay of texts does not know, or has blocked."""
    ours = {each.number for each in await store.read(numbers.list_all) if each.state is NumberState.APPROVED}
    names = dict.fromkeys(
        name for product in TEXT_PRODUCTS for name in settings.routes.get(product.code, ()) if ours
    )
    carriers = make_context(settings, store, world).carriers if names else {}
    listed: dict[str, Mapping[str, RelayNumber]] = {}
    for name in names:
        try:
            if (answer := await carriers[name].list_sender_numbers()) is not None:
                listed[name] = {each.number: each for each in answer}
        except (NotProcessed, NoResponse, Throttled, ErrorAnswer) as error:
            reason = f" ({str(error) or type(error).__name__})"
            yield note(
                f"중계사 {name}의 발신번호 목록을 읽지 못해 비교하지 않았습니다{reason}",
                f"the sender numbers of the relay {name} could not be read, so they were not compared{reason}",
                "중계사에 연결할 수 있는지, 키가 맞는지 확인하세요.",
                "Check that it can be reached and that its keys are right.",
            )
        finally:
            await carriers[name].close()
    for name, known in listed.items():
        for each in _compare(name, ours, known, [listed.get(other) for other in names if other != name]):
            yield each


def _compare(
    name: str, ours: set[str], known: Mapping[str, RelayNumber], others: list[Mapping[str, RelayNumber] | None]
) -> Iterator[Finding]:
    """Say which numbers cannot be used at a relay; it is wrong if no other carrier of texts may take them."""
    missing = sorted(ours - known.keys())
    blocked = sorted(number for number in ours & known.keys() if not known[number].is_usable)
    if not missing and not blocked:
        yield ok(
            f"계정의 발신번호 {len(ours)}개가 모두 중계사 {name}에 등록되어 있습니다",
            f"all {len(ours)} sender numbers of accounts are registered at the relay {name}",
        )
    for some, ko, en in (
        (missing, "등록되지 않은", "not registered"),
        (blocked, "차단되거나 사용하지 않는", "blocked or out of use"),
    ):
        stuck = [each for each in some if not any(_may_take(other, each) for other in others)]
        if some:
            yield (wrong if stuck else note)(
                f"중계사 {name}에 {ko} 발신번호: {_name(some)}",
                f"sender numbers that are {en} at the relay {name}: {_name(some)}",
                "이 번호의 문자는 거기서 거절됩니다. 중계사 콘솔에서 등록하거나 확인하고, 쓰지 않는 번호는"
                " 지우세요: `pabal number remove NUMBER --account NAME`.",
                "Texts from them are refused there. Register or check them in the relay's console, or"
                " remove those that are not used: `pabal number remove NUMBER --account NAME`.",
            )


def _may_take(other: Mapping[str, RelayNumber] | None, number: str) -> bool:
    """Return whether another carrier may send from a number; one without a list may."""
    return other is None or (number in other and other[number].is_usable)


def _name(some: list[str]) -> str:
    more = f" … (+{len(some) - MAX_NAMED})" if len(some) > MAX_NAMED else ""
    return ", ".join(map(hyphenate, some[:MAX_NAMED])) + more


MAX_COUNTED = 10_000
"""Most events of a webhook that are counted."""
FAILING_MS = 30 * SECOND
"""A webhook that has failed for longer is reported, before it is paused."""


async def check_webhooks(store: Store, settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Name the webhooks that fail, are paused, or are disabled because of 410; owners see it in the console."""
    stopped = await store.read(_list_stopped, world.now() - FAILING_MS)
    for each in stopped[:MAX_NAMED]:
        backlog = await store.read(webhook_posts.read_waiting, each, MAX_COUNTED)
        waiting = f"{backlog.number:,}" if backlog.number < MAX_COUNTED else f"{MAX_COUNTED:,}+"
        if each.is_gone:
            yield _describe_gone(each, waiting, settings)
        else:
            yield _describe_failing(each, waiting, await store.read(_read_reason, each), settings)
    if len(stopped) > MAX_NAMED:
        yield note(
            "실패하거나 멈춰 있는 웹훅이 더 있습니다",
            "more webhooks fail, are paused, or disabled because of 410",
            "`pabal webhook list`를 보세요.",
            "See `pabal webhook list`.",
        )


def _describe_failing(webhook: Webhook, waiting: str, why: str, settings: Settings) -> Finding:
    failing_since = webhook.failing_since if webhook.failing_since is not None else webhook.created_at
    since = dates.format_timestamp(failing_since, settings.zone)
    test = f"`pabal webhook test {webhook.id} --account {shlex.quote(webhook.account)}`"
    if webhook.state is WebhookState.PAUSED:
        state = Text("이(가) 멈춰 있습니다", "is paused")
        then = Text(
            "7일 동안 보관하고 5분마다 다시 시도합니다", "are kept for 7 days, and it is tried every five minutes"
        )
    else:
        state = Text("이(가) 실패합니다", "fails")
        then = Text("다시 시도합니다", "are tried again")
    return note(
        f"{webhook.account}의 웹훅 {webhook.id}{state.ko}. {webhook.url}이(가) {since}부터 계속 실패합니다{why}",
        f"the webhook {webhook.id} of {webhook.account} {state.en}: {webhook.url} keeps failing since {since}{why}",
        "계정의 소유자에게 알리세요. 콘솔에도 보입니다."
        f" 기다리는 이벤트 {waiting}건은 {then.ko}. {test}: 돌아오는 응답을 보여 줍니다.",
        "Tell the owner of the account, who sees it in the console as well."
        f" The events that wait, {waiting}, {then.en}; {test} shows what comes back.",
    )


def _describe_gone(webhook: Webhook, waiting: str, settings: Settings) -> Finding:
    since = dates.format_timestamp(webhook.changed_at, settings.zone)
    enable = f"`pabal webhook enable {webhook.id} --account {shlex.quote(webhook.account)}`"
    return note(
        f"{webhook.account}의 웹훅 {webhook.id}을(를) {since}부터 사용하지 않습니다. {webhook.url}이(가) 계속"
        " 410으로 응답했습니다",
        f"the webhook {webhook.id} of {webhook.account} is disabled since {since}: {webhook.url} kept answering"
        " 410 Gone",
        f"기다리는 이벤트 {waiting}건은 7일 동안 보관합니다. 계정의 소유자가 서버를 고치거나"
        f" 주소를 바꾼 뒤 콘솔에서 다시 사용하면 밀린 것부터 보냅니다. {enable}: 여기서 다시 사용합니다.",
        f"The events that wait, {waiting}, are kept for 7 days. When the owner of the account"
        f" has repaired the server or changed the address, enabling it, in the console or by {enable}, posts"
        " what it has missed.",
    )


def _list_stopped(tx: Tx, failing_before: Instant) -> list[Webhook]:
    """Return some webhooks that get nothing; those that still fail last."""
    found = webhooks.list_stopped(tx, MAX_NAMED + 1)
    return found + webhooks.list_failing(tx, failing_before, MAX_NAMED + 1 - len(found))


def _read_reason(tx: Tx, webhook: Webhook) -> str:
    """Return why the last try failed, in brackets; empty: there was none."""
    last = next(iter(webhook_posts.list_tries(tx, webhook.id, 1, 0)), None)
    reason = f"HTTP {last.status}" if last and last.status else last.error if last else ""
    return f" ({reason})" if reason else ""
