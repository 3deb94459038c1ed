"""What `pabal doctor` checks about sign-ins by OpenID Connect."""

from pabal.build_context import build_openid
from pabal.cli.doctor.finding import Finding, ok, wrong
from pabal.domain.base.codes import Text
from pabal.domain.users.user import Role
from pabal.openid.id_token import TokenRejected
from pabal.openid.provider import DISCOVERY_PATH, OpenIdUnavailable
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store
from pabal.store.users import users
from pabal.world import World


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
