"""Confirmations of sends: what a dry run has shown may be sent, once, soon, and exactly so."""

import hashlib
from typing import NamedTuple

import msgspec

from pabal.domain.base.codes import Text
from pabal.world import World, random_hex

LIFETIME_S = 300
"""How long a confirmation is valid."""
MAX_CONFIRMATIONS = 100
"""Confirmations that are kept; the oldest is forgotten first."""
TOKEN_DIGITS = 32

_UNKNOWN = Text(
    "이 confirmation은 없거나, 이미 썼거나, 만료되었습니다."
    " dry_run을 다시 실행해 결과를 사용자에게 보여 주고, 새로 받은 값을 쓰세요.",
    "This confirmation is unknown, used or expired. Run dry_run again, show the user what it answers, and use the"
    " new one.",
)
_OTHER_SEND = Text(
    "이 confirmation은 다른 발송의 것입니다."
    " dry_run에 준 것과 똑같은 kind와 message를 주거나, 바뀐 내용으로 dry_run을 다시 실행하세요.",
    "This confirmation is of another send. Give exactly the kind and message that dry_run was given, or run dry_run"
    " again with what has changed.",
)


class NotConfirmed(Exception):
    """A send that no dry run has shown; `text` says what to do."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


class PendingSend(NamedTuple):
    """What a token confirms."""

    token: str
    digest: bytes
    expires_at_s: float

    @property
    def idempotency_key(self) -> str:
        """The key of its send: a repeat sends nothing twice."""
        return f"mcp-{self.token}"


class Confirmations:
    """The confirmations that have not been used."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._unused: dict[str, PendingSend] = {}

    def issue(self, kind: str, message: msgspec.Struct) -> str:
        """Return the token of a send that a dry run has shown."""
        token = random_hex(self._world, TOKEN_DIGITS)
        self.put_back(PendingSend(token, _digest(kind, message), self._world.monotonic() + LIFETIME_S))
        return token

    def take(self, token: str, kind: str, message: msgspec.Struct) -> PendingSend:
        """Use the token of a send.

        Raises NotConfirmed; a token that is of another send stays valid for that one.
        """
        found = self._unused.pop(token, None)
        if found is None or found.expires_at_s < self._world.monotonic():
            raise NotConfirmed(_UNKNOWN)
        if found.digest != _digest(kind, message):
            self.put_back(found)
            raise NotConfirmed(_OTHER_SEND)
        return found

    def put_back(self, confirmation: PendingSend) -> None:
        """Make a confirmation usable: it is new, or its send has no answer and may be repeated."""
        self._unused[confirmation.token] = confirmation
        while len(self._unused) > MAX_CONFIRMATIONS:
            self._unused.pop(next(iter(self._unused)))


def _digest(kind: str, message: msgspec.Struct) -> bytes:
    return hashlib.sha256(f"{kind} ".encode() + msgspec.json.encode(message, order="deterministic")).digest()
