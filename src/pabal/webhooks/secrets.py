"""Encrypts secrets in the store with a key of the operator."""

import hashlib
from collections.abc import Sequence

from pabal.domain.base.codes import TextError
from pabal.world import World, random_bytes

PLAIN = b"\x00"
"""First byte of a secret that is stored as it is, since no key is set."""
AES_256_GCM = b"\x01"
"""First byte of an encrypted one; key id, nonce, ciphertext and tag follow."""
KEY_ID_BYTES = 4
NONCE_BYTES = 12


class UnreadableSecret(TextError):
    """A secret cannot be decrypted with the keys that are set."""


class SecretBox:
    """Encrypts with the first key, decrypts with any; without keys, secrets are stored as they are."""

    def __init__(self, keys: Sequence[bytes], world: World) -> None:
        self._keys = {_key_id(key): key for key in keys}
        self._current = _key_id(keys[0]) if keys else b""
        self._world = world

    @property
    def has_key(self) -> bool:
        """Whether new secrets are encrypted."""
        return bool(self._current)

    def seal(self, secret: bytes, context: str) -> bytes:
        """Return what to store of a secret; only the same `context`, such as its owner, can open it."""
        if not self._current:
            return PLAIN + secret
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # its libraries take time to load

        nonce = random_bytes(self._world, NONCE_BYTES)
        sealed: bytes = AESGCM(self._keys[self._current]).encrypt(nonce, secret, context.encode())
        return AES_256_GCM + self._current + nonce + sealed

    def open(self, stored: bytes, context: str) -> bytes:
        """Return a secret.

        Raises UnreadableSecret: its key is not set, or it was stored for another context, or changed.
        """
        if stored[:1] == PLAIN:
            return stored[1:]
        key = self._keys.get(_key_id_of(stored))
        if stored[:1] != AES_256_GCM or key is None:
            raise UnreadableSecret(
                "저장소의 비밀 값을 읽을 수 없습니다. 그 키가 secret_key에 없습니다. `pabal doctor`를 실행하세요",
                "a secret in the store cannot be read: its key is not in secret_key; run `pabal doctor`",
            )
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        rest = stored[1 + KEY_ID_BYTES :]
        try:
            secret: bytes = AESGCM(key).decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError):
            raise UnreadableSecret(
                "저장소의 비밀 값을 읽을 수 없습니다. 저장소에서 바뀌었습니다. `pabal doctor`를 실행하세요",
                "a secret in the store cannot be read: it was changed there; run `pabal doctor`",
            ) from None
        return secret

    def is_current(self, stored: bytes) -> bool:
        """Return whether a secret is stored as `seal` would store it now."""
        if not self._current:
            return stored[:1] == PLAIN
        return stored[:1] == AES_256_GCM and _key_id_of(stored) == self._current


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"pabal secret key" + key).digest()[:KEY_ID_BYTES]


def _key_id_of(stored: bytes) -> bytes:
    return stored[1 : 1 + KEY_ID_BYTES]
