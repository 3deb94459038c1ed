"""What sends of accounts are checked against: sender numbers, sender profiles and templates, cached."""

from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import Template
from pabal.domain.people.sender_number import NumberState
from pabal.service.setup_cache import SetupCache, SetupChanges
from pabal.store.accounts import numbers
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates

MAX_CACHED_NUMBERS = 10_000
MAX_CACHED_PROFILES = 10_000
MAX_CACHED_TEMPLATES = 2000
"""Fewer than of others: a template may have several kilobytes."""


class AccountSetup:
    """Finds numbers, profiles and templates; a change is seen at once, that of another process within a second."""

    def __init__(self, changes: SetupChanges) -> None:
        self.changes = changes
        self._numbers: SetupCache[tuple[int, str], NumberState] = SetupCache(
            changes, _read_number, lambda key, _: key[0], MAX_CACHED_NUMBERS
        )
        self._profiles: SetupCache[tuple[int, str], Profile] = SetupCache(
            changes, _read_profile, lambda key, _: key[0], MAX_CACHED_PROFILES
        )
        self._templates: SetupCache[tuple[int, str], Template] = SetupCache(
            changes, _read_template, lambda _, found: found.account_id, MAX_CACHED_TEMPLATES, _is_usable
        )

    async def is_approved_number(self, account_id: int, number: str) -> bool:
        """Say whether an account may send from a number."""
        key = (account_id, number)
        return (self._numbers.get_cached(key) or await self._numbers.get(key)) is NumberState.APPROVED

    async def get_profile(self, account_id: int, sender_key: str) -> Profile | None:
        """Return an account's profile with this key, in any state."""
        return await self._profiles.get((account_id, sender_key))

    async def get_template(self, profile_id: int, code: str) -> Template | None:
        """Return a profile's template with this code, in any state."""
        return await self._templates.get((profile_id, code))


def _read_number(tx: Tx, key: tuple[int, str]) -> NumberState | None:
    return numbers.get_state(tx, *key)


def _read_profile(tx: Tx, key: tuple[int, str]) -> Profile | None:
    return profiles.get_by_sender_key(tx, *key)


def _read_template(tx: Tx, key: tuple[int, str]) -> Template | None:
    return templates.get(tx, *key)


def _is_usable(template: Template) -> bool:
    """Say whether a template is cached: others are as large, and anybody can register them."""
    return template.is_usable
