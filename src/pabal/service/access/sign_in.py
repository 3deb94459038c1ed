"""Signs people in to the console and out, and recognises who is signed in."""

import hashlib
import hmac
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple

from pabal.domain import user
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.user import Role, User
from pabal.service.access import passwords
from pabal.service.access.passwords import Beside
from pabal.service.context import Context
from pabal.store import accounts, audit_log, sessions, sign_in_attempts, users
from pabal.store.audit_log import Deed
from pabal.store.engine.base import Tx
from pabal.store.sessions import Session
from pabal.store.sign_in_attempts import Subject
from pabal.world import World

Address = IPv4Address | IPv6Address

SECRET_BITS = 256
LASTS = 12 * HOUR
IDLE = 2 * HOUR
TOUCHED_EVERY = 1 * MINUTE
"""That a session is in use is written down no more often than this."""

WINDOW = 15 * MINUTE
MOST_OF_BOTH = 5
MOST_OF_NAME = 50
MOST_OF_ADDRESS = 50
"""Wrong tries in a window of a name from an address, of a name from anywhere, and from an address in all."""
IPV6_PREFIX = 64
"""Who has an address of version 6 has a whole network of them."""


class Signed(NamedTuple):
    """What the browser is given to hold, and who it speaks for."""

    token: str
    user: User


def new_secret(world: World) -> str:
    """Mint a secret that nobody can guess."""
    return f"{world.bits(SECRET_BITS):0{SECRET_BITS // 4}x}"


def hash_of(token: str) -> bytes:
    """Return what is kept of a token; it has 256 random bits, so one round of SHA-256 is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


async def sign_in(
    context: Context, beside: Beside, spelling: str, password: str, address: Address | None
) -> Signed | None:
    """Begin a session and return it, None where name and password do not belong together.

    Unknown names, wrong passwords and disabled users answer alike, in the same time.
    Raises Refused(RATE_LIMITED) after too many wrong tries.
    """
    name = _name(spelling)
    subjects = _subjects(name, address)
    until = await context.store.write(sign_in_attempts.take, subjects, WINDOW, context.world.now())
    if until is not None:
        raise Refused(Code.RATE_LIMITED, retry_after_s=(until - context.world.now()) / SECOND)
    found = await context.store.read(users.by_name, name)
    is_right = await beside.do(passwords.is_right, found.hash if found else None, password)
    if found is None or not is_right or not found.user.is_live:
        return None
    token, csrf = new_secret(context.world), new_secret(context.world)
    begun = await context.store.write(_begin, found, hash_of(token), csrf, subjects, context.world.now())
    return Signed(token, found.user) if begun else None


async def recognise(context: Context, token: str | None, *, is_use: bool = True) -> Session | None:
    """Return the session of a token, None for one that is unknown or over.

    What a page asks by itself, without anyone touching it, is no use of the session.
    """
    if not token:
        return None
    now = context.world.now()
    hash = hash_of(token)
    found = await context.store.read(sessions.by_hash, hash)
    if found is None or not found.user.is_live or not found.used_at - HOUR <= now < found.expires_at:
        return None
    if now >= found.used_at + IDLE:
        return None
    if is_use and now >= found.used_at + TOUCHED_EVERY:
        await context.store.write(sessions.touch, hash, now)
    return found


async def sign_out(context: Context, token: str, session: Session) -> None:
    """End a session."""
    await context.store.write(_end, hash_of(token), session.user, context.world.now())


async def look_at(context: Context, token: str, session: Session, account_id: int) -> bool:
    """Have an operator look at another account; say whether there is such a one."""
    return await context.store.write(_look_at, hash_of(token), session.user, account_id, context.world.now())


def is_same(given: str, expected: str) -> bool:
    """Say whether two secrets are the same, without telling by the time it takes how nearly."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def _begin(tx: Tx, found: users.Credentials, hash: bytes, csrf: str, subjects: list[Subject], now: Instant) -> bool:
    """Begin a session, unless the user was changed while the password was checked."""
    who = found.user
    if users.by_name(tx, who.name) != found:
        return False
    sign_in_attempts.give_back(tx, subjects)
    sign_in_attempts.clear(tx, subjects[0])
    first = who.account_id
    if who.role is Role.OPERATOR:
        first = next((each.id for each in accounts.accounts(tx)), None)
    sessions.add(tx, hash, who.id, first, csrf, now, now + LASTS)
    audit_log.note(tx, Deed(now, who.id, who.name, who.account_id, "session.begin"))
    return True


def _end(tx: Tx, hash: bytes, who: User, now: Instant) -> None:
    sessions.end(tx, hash)
    audit_log.note(tx, Deed(now, who.id, who.name, who.account_id, "session.end"))


def _look_at(tx: Tx, hash: bytes, who: User, account_id: int, now: Instant) -> bool:
    if not any(each.id == account_id for each in accounts.accounts(tx)):
        return False
    sessions.look_at(tx, hash, account_id)
    audit_log.note(tx, Deed(now, who.id, who.name, account_id, "session.account"))
    return True


def _name(spelling: str) -> str:
    """Return the name that is meant; what can be none is somebody unknown, like any other."""
    try:
        return user.name(spelling)
    except Refused:
        return ""


def _subjects(name: str, address: Address | None) -> list[Subject]:
    """Return what a wrong try is counted for: the pair first."""
    place = str(address)
    if isinstance(address, IPv6Address):
        place = str(ip_network((address, IPV6_PREFIX), strict=False))
    return [
        Subject(hash_of(f"both\n{name}\n{place}"), MOST_OF_BOTH),
        Subject(hash_of(f"name\n{name}"), MOST_OF_NAME),
        Subject(hash_of(f"address\n{place}"), MOST_OF_ADDRESS),
    ]
