"""How the users of accounts send in the console."""

from pabal.domain.sends.limits import NO_PREFERENCES, SendPreferences
from pabal.store.engine.base import Tx


def get(tx: Tx, account_id: int) -> SendPreferences:
    """Return the choices of an account."""
    row = tx.fetch_one(
        "select upgrades_to_lms, fallback_number, approval_receivers from send_preferences where account_id = ?",
        (account_id,),
    )
    return SendPreferences(bool(row[0]), row[1], row[2]) if row else NO_PREFERENCES


def save(tx: Tx, account_id: int, chosen: SendPreferences) -> None:
    """Store the choices of an account in place of those before."""
    tx.execute(
        "insert into send_preferences (account_id, upgrades_to_lms, fallback_number, approval_receivers)"
        " values (?, ?, ?, ?) on conflict (account_id) do update set upgrades_to_lms = excluded.upgrades_to_lms,"
        " fallback_number = excluded.fallback_number, approval_receivers = excluded.approval_receivers",
        (account_id, int(chosen.upgrades_to_lms), chosen.fallback_number, chosen.approval_receivers),
    )
