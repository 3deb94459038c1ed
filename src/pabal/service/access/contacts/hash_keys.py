"""The key by which the numbers of opt-outs are hashed: how it is stored, and how that is changed."""

from enum import Enum

from pabal.service.access.contacts.opt_outs import new_hash_key
from pabal.service.context import Context
from pabal.settings.field import BadSetting
from pabal.store.people import hash_keys, opt_outs
from pabal.webhooks.secrets import UnreadableSecret


class KeyState(Enum):
    """How the key is stored."""

    ABSENT = "absent"
    """Nobody has opted out yet."""
    CURRENT = "current"
    """As a new one would be."""
    OTHER = "other"
    """With another key, or without one."""
    UNREADABLE = "unreadable"
    """No key that is set can decrypt it."""


async def get_state(context: Context) -> KeyState:
    """Return how the key is stored."""
    stored = await context.store.read(hash_keys.get_stored)
    if stored is None:
        return KeyState.ABSENT
    try:
        context.policy.hash_keys.seal_again(stored)
    except UnreadableSecret:
        return KeyState.UNREADABLE
    return KeyState.CURRENT if context.secrets.is_current(stored) else KeyState.OTHER


async def check(context: Context) -> None:
    """Raise BadSetting if the key cannot be decrypted: advertising would go to people who have opted out."""
    if await get_state(context) is KeyState.UNREADABLE:
        raise BadSetting(
            "secret_key: 수신거부를 저장할 때 쓴 키가 설정에 없습니다. 그대로는 수신거부한 사람에게 광고가 갈 수"
            " 있습니다. 그 키를 추가하세요. 잃어버렸다면 `pabal secrets rebuild-opt-outs --help`를 보세요",
            "secret_key: the opt-outs were stored with a key that is not set, so advertising could not be kept from"
            " who has opted out; add that key. If it is lost, see `pabal secrets rebuild-opt-outs --help`",
        )


async def encrypt(context: Context) -> KeyState:
    """Encrypt the key as a new one would be; return how it was stored."""
    state = await get_state(context)
    stored = await context.store.read(hash_keys.get_stored)
    if state is KeyState.OTHER and stored is not None:
        await context.store.write(hash_keys.replace, stored, context.policy.hash_keys.seal_again(stored))
    return state


async def rebuild(context: Context) -> tuple[int, int]:
    """Replace a key that is lost: hash all numbers again; return how many opt-outs stay, and how many are gone.

    Those of which only the hash was left cannot be recognized any more.
    """
    sealed = context.policy.hash_keys.seal(key := new_hash_key(context.world))
    return await context.store.write(opt_outs.hash_again, key, sealed)
