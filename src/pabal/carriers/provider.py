"""The seam between the service and whoever looks after sender profiles and templates."""

from typing import NamedTuple, Protocol, runtime_checkable

from pabal.domain.category import Category
from pabal.domain.codes import Code, Refused, Words
from pabal.domain.image import Image
from pabal.domain.profile import Registration
from pabal.domain.suspension import Bar
from pabal.domain.template import Design, Review, TemplateStatus


class Unreached(Refused):
    """Whoever looks after it cannot be asked now; nothing was done. `reason` is for the operator."""

    def __init__(self, reason: str, detail: Words, retry_after_s: float | None = None) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, detail=detail, retry_after_s=retry_after_s)
        self.reason = reason


class Unsure(Refused):
    """The answer is no, but it may have been done all the same: nobody knows. `reason` is for the operator."""

    def __init__(self, reason: str, detail: Words) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, detail=detail)
        self.reason = reason


class Standing(NamedTuple):
    """A sender profile as a relay has it now."""

    channel_id: str
    sender_key: str | None
    """None while it waits for its token."""
    category: str
    bar: Bar | None = None


class Sheet(NamedTuple):
    """A template as a relay has it now; `status` speaks of `design`."""

    code: str
    design: Design
    status: TemplateStatus
    comment: str | None = None
    bar: Bar | None = None


class Categories(NamedTuple):
    """The categories that a relay knows."""

    senders: tuple[Category, ...]
    templates: tuple[Category, ...]


class Desk(Protocol):
    """The part of some carriers that looks after sender profiles and templates.

    What it refuses is a Refused for the caller; Unreached and Unsure are answered as SERVICE_UNAVAILABLE.
    """

    async def register(self, account_id: int, registration: Registration, token: str | None) -> None:
        """Bring a token to a channel administrator's phone: the given one, or a relay's own."""

    async def submit(self, sender_key: str, code: str, design: Design, image: Image | None) -> Review | None:
        """Take a template in for review, new or changed; return the decision where it falls at once.

        Handing in once more what it already reviews changes nothing.
        """


@runtime_checkable
class Relay(Desk, Protocol):
    """A desk that keeps profiles and templates itself: keys are its own, and what it has counts.

    It may change what it has at any time, in a console of its own. None of its lists is ever a part of one.
    """

    async def prove(self, channel_id: str, token: str) -> str:
        """Approve a profile by its token, and return its key. Raises Refused: TOKEN_INVALID, DUPLICATE."""

    async def find(self, channel_id: str) -> Standing | None:
        """Return the profile of a channel."""

    async def profile(self, sender_key: str) -> Standing | None:
        """Return the profile with this key; None: it says that there is none."""

    async def profiles(self) -> list[Standing]:
        """Return every profile."""

    async def remove_profile(self, sender_key: str) -> None:
        """Delete a profile with its templates; one that is gone is no trouble."""

    async def templates(self, sender_key: str) -> list[Sheet]:
        """Return every template of a profile; of one that is being changed, what it was before.

        That one is blocked or dormant need not show here.
        """

    async def template(self, sender_key: str, code: str) -> Sheet | None:
        """Return one template; None: it says that there is none."""

    async def change_of(self, sender_key: str, code: str) -> Sheet | None:
        """Return the newest change of an approved template, whatever became of it."""

    async def remove_template(self, sender_key: str, code: str) -> None:
        """Delete a template; one that is gone is no trouble."""

    async def categories(self) -> Categories:
        """Return the categories it knows."""

    def is_same(self, ours: Design, theirs: Design) -> bool:
        """Say whether two designs are the same as far as it can tell: not all of ours has a place there."""

    async def close(self) -> None:
        """Close its connections; for those who ask it without running its carrier."""
