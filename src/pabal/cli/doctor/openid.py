"""What `pabal doctor` checks about sign-ins by OpenID Connect."""

from pabal.app import build_openid
from pabal.cli.doctor.finding import Finding
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
        return [Finding(False, str(error), "Fix this setting.")]
    except (OpenIdUnavailable, TokenRejected) as error:
        address = f"{issuer.rstrip('/')}{DISCOVERY_PATH}"
        remedy = f"Nobody can sign in with it. {address} must answer; check openid_issuer and the network."
        return [Finding(False, f"the OpenID Connect provider {issuer} cannot be used: {error}", remedy)]
    return [Finding(True, f"the OpenID Connect provider {issuer} answers, and its keys can be used")]


async def check_break_glass(store: Store, settings: Settings) -> list[Finding]:
    """Check that the operator who alone may use a password can sign in."""
    name = settings.break_glass_operator
    if not name:
        return []
    found = await store.read(users.get_by_name, name)
    if found and found.user.is_active and found.user.role is Role.OPERATOR and found.hash is not None:
        return [Finding(True, f"only the operator {name} may sign in with a password")]
    message = f"break_glass_operator names {name}, who is no operator with a password"
    remedy = f"If the provider fails, nobody can sign in. Create it: `pabal user create {name} --role operator`."
    return [Finding(False, message, remedy)]
