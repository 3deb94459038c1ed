"""Sets the codes that tell relays which reseller sends an account's messages."""

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import Instant
from pabal.domain.sends.sender_codes import NO_CODES, SenderCodes
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.engine.base import Tx


def set_codes(tx: Tx, account_id: int, codes: SenderCodes, actor: Actor, now: Instant) -> None:
    """Set the codes of an account, with an audit entry that names the changes.

    Raises Refused(NOT_FOUND).
    """
    if accounts.get(tx, account_id) is None:
        raise Refused(Code.NOT_FOUND)
    before = accounts.list_sender_codes(tx).get(account_id, NO_CODES)
    changes = [
        f"{name}={new or 'none'}"
        for name, old, new in zip(SenderCodes._fields, before, codes, strict=True)
        if old != new
    ]
    if changes:
        accounts.set_sender_codes(tx, account_id, codes)
        audit_log.add(tx, AuditEntry(now, *actor, account_id, "account.codes", " ".join(changes)))


async def change_codes(context: Context, account_id: int, codes: SenderCodes, actor: Actor) -> None:
    """Set the codes of an account; carriers use them within five seconds.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(set_codes, account_id, codes, actor, context.world.now())


async def get_codes(context: Context, account_id: int) -> SenderCodes:
    """Return the codes of an account."""
    return (await context.store.read(accounts.list_sender_codes)).get(account_id, NO_CODES)
