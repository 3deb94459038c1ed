"""Claims of the console's forms: a form is handled once, by the process that has claimed it.

They are not divided into slots: on Citus they are on the coordinator, like users and sessions, so that a lost node
keeps nobody from posting a form.
"""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, upsert


class FormClaim(NamedTuple):
    """Which call has claimed a form, and when."""

    owner: bytes
    claimed_at: Instant


def find(tx: Tx, form: bytes) -> FormClaim | None:
    """Return the claim of a form, whatever its age."""
    row = tx.fetch_one("select owner, claimed_at from form_claims where form = ?", (form,))
    return FormClaim(*row) if row else None


def save(tx: Tx, form: bytes, claim: FormClaim) -> None:
    """Save the claim of a form, in place of an expired one."""
    tx.execute(upsert("form_claims", "form", "owner, claimed_at"), (form, *claim))


def delete(tx: Tx, form: bytes) -> None:
    """Delete the claim of a form, so that it may be posted again."""
    tx.execute("delete from form_claims where form = ?", (form,))


delete_old = deletion("form_claims", "form", "claimed_at")
"""Deletes some claims."""
