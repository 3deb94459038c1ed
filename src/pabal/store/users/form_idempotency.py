"""Claims of the console's forms: a form is handled once, by the process that has claimed it.

They are not divided into slots: on Citus they are on the coordinator, like users and sessions, so that a lost node
keeps nobody from posting a form.
"""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, select, upsert


class FormClaim(NamedTuple):
    """Which call has claimed a form, and when."""

    owner: bytes
    claimed_at: Instant


_CLAIMS = select(FormClaim, "form_claims")


def find(tx: Tx, form: bytes) -> FormClaim | None:
    """Return the claim of a form, whatever its age."""
    return _CLAIMS.fetch_one(tx, "where form = ?", (form,))


def save(tx: Tx, form: bytes, claim: FormClaim) -> None:
    """Save the claim of a form, in place of an expired one."""
    tx.execute(upsert("form_claims", "form", "owner, claimed_at"), (form, *claim))


def delete(tx: Tx, form: bytes) -> None:
    """Delete the claim of a form, so that it may be posted again."""
    tx.execute("delete from form_claims where form = ?", (form,))


delete_old = deletion("form_claims", "form", "claimed_at")
"""Deletes some claims."""
