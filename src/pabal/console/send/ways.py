"""Which ways of choosing receivers and time are open on the send page, and what they offer."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pabal.console.send.draft import MessageDraft
from pabal.console.shell.page_request import PageRequest
from pabal.domain.people.contact import ContactGroup

TYPED, FILE, GROUPS = "typed", "file", "group"
NOW, LATER = "", "1"
DAY_MS = 24 * 60 * 60 * 1000
MORNING = "T08:00"
"""When advertisements may be sent again; where nobody minds, the usual time to send in the morning."""


class SendWays(NamedTuple):
    """What is chosen among the cards of the page."""

    whom: str
    """How receivers are given: typed, by a file, or by groups."""
    when: str
    """The value of the chosen card: now, later, or `tomorrow`."""
    tomorrow: str
    """Tomorrow morning, as the field of the form has it."""
    group_contacts: int
    """The contacts of the chosen groups; of all groups where none is chosen."""


def open_ways(
    request: PageRequest, draft: MessageDraft, groups: Sequence[ContactGroup], chosen: Collection[int]
) -> SendWays:
    """Return the ways that are open: those that were chosen, or else those that the draft uses."""
    tomorrow = request.minute(request.now + DAY_MS)[:10] + MORNING
    is_later = draft.checkboxes["later"]
    at = draft.texts["sendDate"].strip().replace(" ", "T")
    whom = request.field("whom")
    if whom not in (TYPED, FILE, GROUPS):
        whom = GROUPS if chosen and not draft.texts["receivers"] else TYPED
    counted = [each.contacts for each in groups if each.id in chosen or not chosen]
    return SendWays(
        whom, tomorrow if is_later and at == tomorrow else LATER if is_later else NOW, tomorrow, sum(counted)
    )
