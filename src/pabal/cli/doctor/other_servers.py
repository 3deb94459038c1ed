"""Checks the servers that users sign in with and get mails from."""

from pabal.build_context import build_openid
from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.users.user import Role
from pabal.openid.id_token import TokenRejected
from pabal.openid.provider import DISCOVERY_PATH, OpenIdUnavailable
from pabal.service.notices.trial import MailReport, read_report
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store
from pabal.store.users import users
from pabal.world import World

REMEDY = Text(
    "smtp_host, smtp_port, smtp_tls, 사용자와 비밀번호를 확인하고, 이 컴퓨터에서 접속할 수 있는지 확인하세요."
    " 콘솔의 운영자용 메일 페이지에서 시험 메일을 보낼 수 있습니다. 메일은 하루 동안 다시 시도하고, 메시지 발송은"
    " 기다리지 않습니다.",
    "Check smtp_host, smtp_port, smtp_tls, user and password, and that this machine may connect there. The"
    " operators' page Mail of the console sends a test. Mails are tried for a day; messages do not wait for them.",
)


async def check_mail_server(store: Store, settings: Settings) -> list[Finding]:
    """Report a mail server that takes no mails, and mails that were given up."""
    settings.read_smtp_password()
    if not settings.has_mail:
        return []
    name = f"{settings.smtp_host}:{settings.smtp_port}"
    return _describe(await store.read(read_report, name), settings)


def _describe(report: MailReport, settings: Settings) -> list[Finding]:
    server, waiting = report.server, report.outbox.waiting
    if server.failing_since is not None:
        since = dates.format_timestamp(server.failing_since, settings.zone)
        message = Text(
            f"{since}부터 메일을 보낼 수 없고, {waiting}통이 기다립니다: {server.name}: {server.error}",
            f"mails cannot be sent since {since}, {waiting} wait: {server.name}: {server.error}",
        )
        return [wrong(*message, REMEDY)]
    found = [
        ok(
            f"메일을 {server.name}(으)로 보내고, {waiting}통이 기다립니다",
            f"mails go to {server.name}, {waiting} wait",
        )
    ]
    if report.failed:
        last = report.failed[0]
        message = Text(
            f"지난 하루 동안 메일 {len(report.failed)}통을 보내지 못했습니다. 마지막은 {last.user}에게"
            f" 가는 메일입니다: {last.error}",
            f"{len(report.failed)} mails were given up in the last day, the last one to {last.user}: {last.error}",
        )
        found.append(
            note(
                *message,
                Text(
                    "이 사용자들이 알림 화면에서 자기 주소를 확인하게 하세요.",
                    "Have these users check their address on the page of their notices.",
                ),
            )
        )
    return found


async def check_provider(settings: Settings, world: World) -> list[Finding]:
    """Check that the provider describes itself, and has keys that we can verify its tokens with."""
    issuer = settings.openid_issuer
    try:
        provider = build_openid(settings, world)
        if provider is None:
            return []
        try:
            await provider.check()
        finally:
            await provider.close()
    except BadSetting as error:
        return [wrong(*error.text, Text("이 설정을 고치세요.", "Fix this setting."))]
    except (OpenIdUnavailable, TokenRejected) as error:
        address = f"{issuer.rstrip('/')}{DISCOVERY_PATH}"
        remedy = Text(
            f"아무도 이것으로 로그인할 수 없습니다. {address}이(가) 응답해야 합니다."
            " openid_issuer와 네트워크를 확인하세요.",
            f"Nobody can sign in with it. {address} must answer; check openid_issuer and the network.",
        )
        return [
            wrong(
                f"OpenID Connect 제공자 {issuer}을(를) 쓸 수 없습니다: {error}",
                f"the OpenID Connect provider {issuer} cannot be used: {error}",
                remedy,
            )
        ]
    return [
        ok(
            f"OpenID Connect 제공자 {issuer}이(가) 응답하고 그 키를 쓸 수 있습니다",
            f"the OpenID Connect provider {issuer} answers, and its keys can be used",
        )
    ]


async def check_break_glass(store: Store, settings: Settings) -> list[Finding]:
    """Check that the operator who alone may use a password can sign in."""
    name = settings.break_glass_operator
    if not name:
        return []
    found = await store.read(users.get_by_name, name)
    if found and found.user.is_active and found.user.role is Role.OPERATOR and found.hash is not None:
        return [
            ok(
                f"운영자 {name}만 비밀번호로 로그인할 수 있습니다",
                f"only the operator {name} may sign in with a password",
            )
        ]
    message = Text(
        f"break_glass_operator가 가리키는 {name}은(는) 비밀번호가 있는 운영자가 아닙니다",
        f"break_glass_operator names {name}, who is no operator with a password",
    )
    remedy = Text(
        f"제공자에 장애가 나면 아무도 로그인할 수 없습니다. 만드세요: `pabal user create {name} --role operator`.",
        f"If the provider fails, nobody can sign in. Create it: `pabal user create {name} --role operator`.",
    )
    return [wrong(*message, remedy)]
