"""What `pabal doctor` checks of secrets in the store: that the current key can decrypt them."""

from pabal.build_context import build_context
from pabal.cli.doctor.finding import Finding, note, wrong
from pabal.domain.base.codes import Text
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import KeyState
from pabal.service.metrics import Metrics
from pabal.service.upkeep import stored_secrets
from pabal.service.upkeep.stored_secrets import SecretStates, count_states
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store
from pabal.world import World

ROTATE = Text("`pabal secrets rotate`를 실행하세요.", "Run `pabal secrets rotate`.")
SET_KEY = Text(
    "`pabal secrets new-key`의 키를 secret_key로 설정하고 `pabal secrets rotate`를 실행하세요.",
    "Set secret_key to a key of `pabal secrets new-key`, then run `pabal secrets rotate`.",
)


async def check_secrets(store: Store, settings: Settings, world: World) -> list[Finding]:
    """Check that secrets, and the key of the opt-outs, are encrypted with the current key."""
    context = build_context(settings, store, world, Metrics())
    current, other, unreadable = await count_states(context, stored_secrets.of_webhooks(context))
    found = []
    if unreadable:
        message = Text(
            f"웹훅 {unreadable}개의 비밀 값을 복호화할 수 없어, 아무것도 보내지 못합니다",
            f"the secrets of {unreadable} webhooks cannot be decrypted, so nothing is posted to them",
        )
        remedy = Text(
            "암호화한 키를 secret_key에 추가하거나, 그 웹훅의 비밀 값을 새로 만드세요.",
            "Add the key that they were encrypted with to secret_key, or rotate these webhooks' secrets.",
        )
        found.append(wrong(*message, remedy))
    if not context.secrets.has_key:
        if current:
            remedy = SET_KEY
            found.append(
                note(
                    f"웹훅 {current}개의 비밀 값이 암호화되지 않았습니다",
                    f"the secrets of {current} webhooks are stored without encryption",
                    remedy,
                )
            )
    elif other:
        message = Text(
            f"웹훅 {other}개의 비밀 값이 옛 키로 암호화되었거나 암호화되지 않았습니다",
            f"the secrets of {other} webhooks are stored with an old key, or without one",
        )
        found.append(note(*message, ROTATE))
    signing = await count_states(context, stored_secrets.of_signing_keys(context))
    if signing.unreadable:
        message = Text(
            f"서명하는 API 키 {signing.unreadable}개의 비밀 값을 복호화할 수 없어, 그 호출을 거절합니다",
            f"the secrets of {signing.unreadable} API keys that sign cannot be decrypted: their calls are refused",
        )
        remedy = Text(
            "암호화한 키를 secret_key에 추가하거나, 그 키를 폐기하고 다시 만드세요.",
            "Add the key that they were encrypted with to secret_key, or revoke these keys and create them again.",
        )
        found.append(wrong(*message, remedy))
    elif signing.other:
        message = Text(
            f"서명하는 API 키 {signing.other}개의 비밀 값이 옛 키로 암호화되었습니다",
            f"the secrets of {signing.other} API keys that sign are stored with an old key",
        )
        found.append(note(*message, ROTATE))
    factors = await count_states(context, stored_secrets.of_second_factors(context))
    found += _describe_factors(factors, has_key=context.secrets.has_key)
    return found + _describe_hash_key(await opt_outs.get_state(context), has_key=context.secrets.has_key)


def _describe_factors(states: SecretStates, *, has_key: bool) -> list[Finding]:
    """Say what is wrong with how the secrets of two-factor sign-ins are stored."""
    found = []
    if states.unreadable:
        message = Text(
            f"사용자 {states.unreadable}명의 2단계 인증 비밀 값을 복호화할 수 없어, 코드를 거절합니다",
            f"the two-factor secrets of {states.unreadable} users cannot be decrypted: their codes are refused",
        )
        remedy = Text(
            "암호화한 키를 secret_key에 추가하거나 `pabal user reset-two-factor`를 실행하세요.",
            "Add the key that they were encrypted with to secret_key, or run `pabal user reset-two-factor`.",
        )
        found.append(wrong(*message, remedy))
    if states.current and not has_key:
        remedy = SET_KEY
        message = Text(
            f"사용자 {states.current}명의 2단계 인증 비밀 값이 암호화되지 않았습니다",
            f"the two-factor secrets of {states.current} users are stored without encryption",
        )
        found.append(note(*message, remedy))
    if states.other and has_key:
        message = Text(
            f"사용자 {states.other}명의 2단계 인증 비밀 값이 옛 키로 암호화되었거나 암호화되지 않았습니다",
            f"the two-factor secrets of {states.other} users are stored with an old key, or without one",
        )
        found.append(note(*message, ROTATE))
    return found


def _describe_hash_key(state: KeyState, *, has_key: bool) -> list[Finding]:
    """Say what is wrong with how the key of the opt-outs is stored."""
    if state is KeyState.UNREADABLE:
        message = Text(
            "수신거부의 키를 복호화할 수 없어, 서비스가 시작되지 않습니다",
            "the key of the opt-outs cannot be decrypted, so the service does not start",
        )
        remedy = Text(
            "암호화한 키를 secret_key에 추가하세요. `pabal secrets rebuild-opt-outs --help`를 보세요.",
            "Add the key that it was encrypted with to secret_key; see `pabal secrets rebuild-opt-outs --help`.",
        )
        return [wrong(*message, remedy)]
    if state is KeyState.OTHER:
        message = Text(
            "수신거부의 키가 옛 키로 암호화되었거나 암호화되지 않았습니다",
            "the key of the opt-outs is stored with an old key, or without one",
        )
        return [note(*message, ROTATE)]
    if state is KeyState.CURRENT and not has_key:
        remedy = SET_KEY
        return [
            note(
                "수신거부의 키가 암호화되지 않았습니다",
                "the key of the opt-outs is stored without encryption",
                remedy,
            )
        ]
    return []
