"""What people did, as tests look it up."""

from pabal.store import deeds
from pabal.store.base import Tx
from pabal.store.deeds import Deed


def latest(tx: Tx, account_id: int | None, most: int) -> list[Deed]:
    """Return what was done last, newest first: to an account's things, or with None to anyone's."""
    return [each.deed for each in deeds.find(tx, account_id, "", None, most)]
