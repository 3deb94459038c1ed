"""What sender profiles and templates are called at relays other than their own."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import select, upsert

WHOLE_PROFILE = ""
"""The template code of the row that maps the profile itself."""


class ProfileMapping(NamedTuple):
    """A profile or one of its templates at another relay."""

    profile_id: int
    carrier: str
    template_code: str
    """Ours; WHOLE_PROFILE for the profile itself."""
    remote: str
    """The sender key or the template code there; empty: the relay has no template like ours."""
    is_manual: bool
    """Whether an operator has set it; else the synchronization has found it."""
    problem: str | None
    """Why it cannot be used; None: it can."""


class ListedMapping(NamedTuple):
    """A mapping, with the names of what it belongs to."""

    account_id: int
    account: str
    channel_id: str
    mapping: ProfileMapping


class RemotePlace(NamedTuple):
    """Where the messages of a profile and template go at a carrier."""

    home: str | None
    """The carrier whose relay owns the profile."""
    sender_key: str | None
    """None: the carrier does not know the profile, or not the template."""
    template_code: str | None
    is_usable: bool
    """Whether messages may be sent there now."""


_MAPPINGS = select(ProfileMapping, "profile_mappings", is_manual=bool)


def find_places(tx: Tx, carrier: str, wanted: Iterable[tuple[int, str]]) -> dict[tuple[int, str], RemotePlace]:
    """Return where messages of profiles and templates (empty: without one) go at a carrier that is not their own.

    Those of profiles that the carrier owns are not contained.
    """
    rows = tx.execute_many(
        "select v.profile_id, v.code, p.carrier, k.remote, t.remote, coalesce(k.problem, t.problem)"
        " from (values {rows}) as v(profile_id, code, carrier) join profiles p on p.id = v.profile_id"
        " left join profile_mappings k on k.profile_id = p.id and k.carrier = v.carrier and k.template_code = ''"
        " left join profile_mappings t on t.profile_id = p.id and t.carrier = v.carrier"
        " and t.template_code = v.code"
        " where p.carrier is null or p.carrier <> v.carrier",
        [(profile_id, code, carrier) for profile_id, code in wanted],
    )
    return {
        (profile_id, code): RemotePlace(
            home,
            key if remote else None,
            (remote or None) if code else None,
            bool(key and remote) and problem is None,
        )
        for profile_id, code, home, key, remote, problem in rows
    }


def get(tx: Tx, profile_id: int, carrier: str, template_code: str) -> ProfileMapping | None:
    return _MAPPINGS.fetch_one(
        tx, "where profile_id = ? and carrier = ? and template_code = ?", (profile_id, carrier, template_code)
    )


def save(tx: Tx, mapping: ProfileMapping, now: Instant) -> None:
    """Store a mapping; it replaces the one of the same profile, carrier and template."""
    tx.execute(
        upsert("profile_mappings", "profile_id, carrier, template_code", "remote, is_manual, problem, changed_at"),
        (*mapping[:4], int(mapping.is_manual), mapping.problem, now),
    )


def remove(tx: Tx, profile_id: int, carrier: str, template_code: str) -> bool:
    """Remove a mapping, that of a whole profile with those of its templates; return whether there was one."""
    if template_code == WHOLE_PROFILE:
        return tx.changes(
            "delete from profile_mappings where profile_id = ? and carrier = ?", (profile_id, carrier)
        )
    return tx.changes(
        "delete from profile_mappings where profile_id = ? and carrier = ? and template_code = ?",
        (profile_id, carrier, template_code),
    )


def find_profile_with_key(tx: Tx, carrier: str, sender_key: str) -> int | None:
    """Return the profile that is mapped to this key at a carrier."""
    return tx.fetch_value(
        "select m.profile_id from profile_mappings m join profiles p on p.id = m.profile_id"
        " where m.carrier = ? and m.template_code = '' and m.remote = ? and p.deleted_at is null",
        (carrier, sender_key),
    )


def list_by_carrier(tx: Tx, carrier: str) -> list[ProfileMapping]:
    """Return the mapped profiles of a carrier, without their templates."""
    return _MAPPINGS.fetch_all(
        tx,
        "where carrier = ? and template_code = ''"
        " and profile_id in (select id from profiles where deleted_at is null) order by profile_id",
        (carrier,),
    )


def list_templates(tx: Tx, profile_id: int, carrier: str) -> list[ProfileMapping]:
    return _MAPPINGS.fetch_all(
        tx,
        "where profile_id = ? and carrier = ? and template_code <> '' order by template_code",
        (profile_id, carrier),
    )


def list_all(tx: Tx) -> list[ListedMapping]:
    """Return every mapping of the profiles that exist, by account, channel, carrier and template."""
    names = ", ".join(f"m.{name}" for name in ProfileMapping._fields)
    rows = tx.fetch_all(
        f"select a.id, a.name, p.channel_id, {names} from profile_mappings m join profiles p on p.id = m.profile_id"
        " join accounts a on a.id = p.account_id where p.deleted_at is null"
        " order by a.name, p.channel_id, m.carrier, m.template_code"
    )
    return [ListedMapping(row[0], row[1], row[2], _MAPPINGS.read(row[3:])) for row in rows]
