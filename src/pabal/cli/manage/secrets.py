"""Commands for the key that encrypts secrets in the store."""

import argparse
import base64

from pabal.cli.shared.command import WORLD, make_context, record, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.domain.base.codes import Text
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import KeyState
from pabal.service.upkeep import stored_secrets
from pabal.service.upkeep.stored_secrets import SecretStates, encrypt_all
from pabal.settings.settings import Settings
from pabal.settings.webhook_settings import KEY_BYTES
from pabal.store.engine.base import Store
from pabal.world import random_bytes


def declare_secrets(group: CommandParser) -> None:
    """Declare `pabal secrets`."""
    group.add_command(
        "new-key",
        _new_key,
        "설정 secret_key에 쓸 새 키를 출력합니다.",
        "Print a new key for the setting secret_key.",
    )
    group.add_command(
        "rotate",
        _rotate,
        "모든 비밀 값을 secret_key의 첫 키로 암호화합니다.",
        "Encrypt all secrets with the first key of secret_key.",
    )
    group.add_command(
        "rebuild-opt-outs",
        _rebuild,
        "secret_key의 키를 잃었을 때: 번호가 파기된 것을 뺀 수신거부의 해시를 다시 만듭니다.",
        "If a key of secret_key is lost: have opt-outs hashed again, except those whose numbers were erased.",
    )


def _new_key(settings: Settings, given: argparse.Namespace) -> None:
    print(base64.b64encode(random_bytes(WORLD, KEY_BYTES)).decode())


def _rotate(settings: Settings, given: argparse.Namespace) -> int:
    async def work(store: Store) -> tuple[SecretStates, SecretStates, SecretStates, KeyState]:
        context = make_context(settings, store)
        if not context.secrets.has_key:
            raise CommandError(
                "키가 없습니다. `pabal secrets new-key`로 만들어 secret_key로 설정하세요",
                "there is no key; make one with `pabal secrets new-key`, and set secret_key",
            )
        await record(store, "secrets.rotate")
        factors = await encrypt_all(context, stored_secrets.of_second_factors(context))
        return (
            await encrypt_all(context, stored_secrets.of_webhooks(context)),
            factors,
            await encrypt_all(context, stored_secrets.of_signing_keys(context)),
            await opt_outs.encrypt(context),
        )

    done, factors, signing, key = with_store(settings, work)
    say(
        f"웹훅 {done.other}개를 현재 키로 암호화했습니다. {done.current}개는 이미 되어 있었습니다",
        f"{done.other} webhooks encrypted with the current key; {done.current} were already",
    )
    if any(factors):
        say(
            f"2단계 인증 비밀 값 {factors.other}개를 현재 키로 암호화했습니다. {factors.current}개는"
            " 이미 되어 있었습니다",
            f"{factors.other} two-factor secrets encrypted with the current key; {factors.current} were already",
        )
    if any(signing):
        say(
            f"서명하는 API 키 {signing.other}개의 비밀 값을 현재 키로 암호화했습니다. {signing.current}개는 이미"
            f" 되어 있었고, {signing.unreadable}개는 복호화할 수 없습니다",
            f"the secrets of {signing.other} API keys that sign encrypted with the current key; {signing.current}"
            f" were already, {signing.unreadable} cannot be decrypted",
        )
    if key is not KeyState.ABSENT:
        say(*_KEY_REPORTS[key])
    if factors.unreadable:
        say(
            f"2단계 인증 비밀 값 {factors.unreadable}개를 복호화할 수 없습니다. 그 키를"
            " secret_key에 추가하세요. 그때까지 이 사용자들은 복구 코드로 로그인합니다",
            f"{factors.unreadable} two-factor secrets cannot be decrypted: add their key to"
            " secret_key; until then, these users sign in with recovery codes",
        )
    if done.unreadable:
        say(
            f"{done.unreadable}개를 복호화할 수 없습니다. 그 키를 secret_key에 추가하거나, 그"
            " 웹훅의 비밀 값을 새로 만드세요",
            f"{done.unreadable} cannot be decrypted: add their key to secret_key, or rotate these"
            " webhooks' secrets",
        )
    unreadable = done.unreadable or factors.unreadable or signing.unreadable
    return 1 if unreadable or key is KeyState.UNREADABLE else 0


def _rebuild(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> tuple[int, int]:
        context = make_context(settings, store)
        if await opt_outs.get_state(context) is not KeyState.UNREADABLE:
            raise CommandError(
                "설정된 키로 수신거부를 읽을 수 있습니다. 아무것도 바꾸지 않았습니다",
                "the opt-outs can be read with the keys that are set; nothing was changed",
            )
        await record(store, "secrets.rebuild")
        return await opt_outs.rebuild(context)

    kept, lost = with_store(settings, work)
    say(
        f"수신거부 {kept}건을 새 키로 해시했습니다. 번호가 지워진 {lost}건은 없어졌습니다",
        f"{kept} opt-outs hashed with a new key; {lost} whose number had been erased are gone",
    )


_KEY_REPORTS = {
    KeyState.CURRENT: Text(
        "수신거부 번호를 해시하는 키는 이미 되어 있었습니다", "the key of the opt-outs was already"
    ),
    KeyState.OTHER: Text(
        "수신거부 번호를 해시하는 키를 현재 키로 암호화했습니다",
        "the key of the opt-outs is encrypted with the current key",
    ),
    KeyState.UNREADABLE: Text(
        "수신거부 번호를 해시하는 키를 복호화할 수 없습니다. 그 키를 secret_key에 추가하세요",
        "the key of the opt-outs cannot be decrypted: add its key to secret_key",
    ),
}
