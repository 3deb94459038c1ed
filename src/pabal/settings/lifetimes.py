"""Settings of how long messages may take and how long they are kept."""

from typing import Any

from pabal.domain.sending import MAX_EXPIRE_MINUTES
from pabal.settings.carriers import check_product
from pabal.settings.field import BadSetting


def read_expire_minutes(table: Any) -> dict[str, int]:
    """Return the default lifetimes of products in minutes.

    Raises BadSetting.
    """
    if not isinstance(table, dict):
        raise BadSetting("expire_minutes: write a table [expire_minutes]")
    for product, minutes in table.items():
        check_product(product, f"expire_minutes.{product}")
        if type(minutes) is not int or not 1 <= minutes <= MAX_EXPIRE_MINUTES:
            raise BadSetting(
                f"expire_minutes.{product}: {minutes!r} is not a whole number from 1 to {MAX_EXPIRE_MINUTES}"
            )
    return dict(table)


def check_retention(retention_days: int, max_days_ahead: int, timeout_hours: int) -> None:
    """Raise BadSetting if messages would be blanked before they end."""
    timeout_days = -(-timeout_hours // 24)
    lifetime_days = -(-MAX_EXPIRE_MINUTES // (24 * 60))
    least = max_days_ahead + lifetime_days + timeout_days + 1
    if retention_days < least:
        raise BadSetting(
            f"retention_days: at least {least}, or messages would be blanked before they end"
            f" (max_days_ahead, plus {lifetime_days} days of lifetime, plus the receipt time-out in days, plus one)"
        )
