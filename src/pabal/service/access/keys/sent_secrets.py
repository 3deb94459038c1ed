"""Stores and verifies secrets that callers send along, of which nothing more than a hash is needed."""

import asyncio
import hashlib
import hmac
from collections import OrderedDict

from pabal.domain.base.codes import Code, Refused
from pabal.service.access.keys.keys import MAX_CACHED_KEYS, hash_key
from pabal.service.access.sign_in.passwords import WorkerThreads, hash_password, verify
from pabal.world import World

NO_SECRET = b""
"""What is stored of a key whose id is its secret."""
MAX_WRONG = 10
"""Wrong secrets that are hashed for one key in a minute: each takes a core for a while."""
WRONG_PERIOD_S = 60.0
_GENERATED = b"sha256:"
_DIGEST_KEY_BITS = 256


def hash_chosen(secret: str, world: World) -> bytes:
    """Return what is stored of a secret that a person or another relay has chosen: it may be guessed."""
    return hash_password(secret, world).encode()


def hash_generated(secret: str) -> bytes:
    """Return what is stored of a secret that is random enough for one round of SHA-256."""
    return _GENERATED + hash_key(secret)


class SecretVerifier:
    """Verifies the secrets of calls; one that was verified is known by a keyed digest, so that calls stay quick."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._threads = WorkerThreads(world, "secrets", 1)
        self._digest_key = world.random_bits(_DIGEST_KEY_BITS).to_bytes(_DIGEST_KEY_BITS // 8, "big")
        self._results: OrderedDict[bytes, bool] = OrderedDict()
        self._wrong: OrderedDict[bytes, tuple[float, int]] = OrderedDict()
        """By stored hash: since when wrong secrets are counted, and how many there were."""
        self._lock = asyncio.Lock()

    async def matches(self, stored: bytes, secret: str) -> bool:
        """Return whether a secret is the one whose hash is stored.

        Raises Refused(RATE_LIMITED) where many wrong ones were given for the same key.
        """
        if stored.startswith(_GENERATED):
            return hmac.compare_digest(stored, hash_generated(secret))
        if stored == NO_SECRET:
            return False
        digest = self._digest(stored, secret)
        if digest not in self._results:
            async with self._lock:  # calls that wait for the first one are answered by its result
                if digest not in self._results:
                    await self._verify(stored, secret, digest)
        return self._results[digest]

    async def _verify(self, stored: bytes, secret: str, digest: bytes) -> None:
        now = self._world.monotonic()
        since, count = self._wrong.get(stored, (now, 0))
        if now - since >= WRONG_PERIOD_S:
            since, count = now, 0
        if count >= MAX_WRONG:
            raise Refused(Code.RATE_LIMITED, retry_after_s=since + WRONG_PERIOD_S - now)
        is_right = await self._threads.run(verify, stored.decode("latin-1"), secret)
        if not is_right:
            self._wrong[stored] = since, count + 1
            _trim(self._wrong)
        self._results[digest] = is_right
        _trim(self._results)

    def _digest(self, stored: bytes, secret: str) -> bytes:
        given = secret.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(stored + b"\0" + given, key=self._digest_key, digest_size=32).digest()


def _trim(entries: OrderedDict[bytes, bool] | OrderedDict[bytes, tuple[float, int]]) -> None:
    if len(entries) > MAX_CACHED_KEYS:
        entries.popitem(last=False)
