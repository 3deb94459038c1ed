"""The actions of NHN Cloud's console: review, change, block and delete."""

from typing import Any

from tests.fakes.nhncloud import senders, templates
from tests.fakes.nhncloud.state import Draft, State


class Console:
    """The console, for tests and for the page."""

    def __init__(self, state: State) -> None:
        self._state = state

    def call_opt_out_number(self, phone: str, number: str = "0801234567") -> None:
        """Call an 080 number from a phone, as its owner does to get no more advertising."""
        now = self._state.clock()
        self._state.unsubscribed[number, phone] = now
        self._state.unsubscribe_events.append((number, phone, now))
        self._state.changed.set()

    def block_profile(self, sender_key: str, is_blocked: bool = True) -> None:
        """Block or unblock a profile."""
        profile = self._state.profiles[sender_key]
        profile.is_blocked = is_blocked

    def set_profile_dormant(self, sender_key: str, is_dormant: bool = True) -> None:
        """Make a profile dormant, or active again."""
        self._state.profiles[sender_key].is_dormant = is_dormant

    def remove_profile(self, sender_key: str) -> None:
        senders.delete(self._state, sender_key)

    def approve(self, sender_key: str, code: str, comment: str | None = None) -> None:
        """Approve a template, or the change to it that is under review."""
        template = self._state.templates[sender_key, code]
        templates.decide(self._state, template, template.pending_change or template.current, True, comment)

    def reject(self, sender_key: str, code: str, comment: str | None = "내용을 확인해 주세요.") -> None:
        """Reject a template, or the change to it that is under review."""
        template = self._state.templates[sender_key, code]
        templates.decide(self._state, template, template.pending_change or template.current, False, comment)

    def change_template(self, sender_key: str, code: str, **fields: Any) -> None:
        """Change an approved template; the change takes effect at once."""
        template = self._state.templates[sender_key, code]
        now = self._state.clock()
        old = template.current
        template.current = Draft({**old.fields, **fields}, old.created_at, "TSC03", old.comments, updated_at=now)

    def block_template(self, sender_key: str, code: str, is_blocked: bool = True) -> None:
        """Block or unblock a template."""
        self._state.templates[sender_key, code].is_blocked = is_blocked

    def set_template_dormant(self, sender_key: str, code: str, is_dormant: bool = True) -> None:
        """Make a template dormant, or active again."""
        self._state.templates[sender_key, code].is_dormant = is_dormant

    def remove_template(self, sender_key: str, code: str) -> None:
        """Remove a template, even one that was recently used."""
        templates.delete(self._state, self._state.templates[sender_key, code])
