"""The seam between the service and whoever looks after sender profiles and templates."""

from typing import NamedTuple, Protocol, runtime_checkable

from pabal.domain.category import Category
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.image import Image
from pabal.domain.profile import Registration
from pabal.domain.suspension import Suspension
from pabal.domain.template import ReviewDecision, TemplateContent, TemplateStatus


class ProviderUnavailable(Refused):
    """Whoever looks after it cannot be asked now; nothing was done. `reason` is for the operator."""

    def __init__(self, reason: str, detail: Text, retry_after_s: float | None = None) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, detail=detail, retry_after_s=retry_after_s)
        self.reason = reason


class ProviderOutcomeUnknown(Refused):
    """The answer is no, but it may have been done all the same: nobody knows. `reason` is for the operator."""

    def __init__(self, reason: str, detail: Text) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, detail=detail)
        self.reason = reason


class RemoteProfile(NamedTuple):
    """A sender profile as a relay has it now."""

    channel_id: str
    sender_key: str | None
    """None while it waits for its token."""
    category: str
    suspension: Suspension | None = None


class RemoteTemplate(NamedTuple):
    """A template as a relay has it now; `status` speaks of `design`."""

    code: str
    design: TemplateContent
    status: TemplateStatus
    comment: str | None = None
    suspension: Suspension | None = None


class RemoteCategories(NamedTuple):
    """The categories that a relay knows."""

    profiles: tuple[Category, ...]
    templates: tuple[Category, ...]


class ProfileProvider(Protocol):
    """The part of some carriers that looks after sender profiles and templates.

    What it refuses is a Refused for the caller; Unreached and Unsure are answered as SERVICE_UNAVAILABLE.
    """

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        """Bring a token to a channel administrator's phone: the given one, or a relay's own."""

    async def submit_template(
        self, sender_key: str, code: str, design: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        """Take a template in for review, new or changed; return the decision where it falls at once.

        Handing in once more what it already reviews changes nothing.
        """


@runtime_checkable
class RelayProvider(ProfileProvider, Protocol):
    """A desk that keeps profiles and templates itself: keys are its own, and what it has counts.

    It may change what it has at any time, in a console of its own. None of its lists is ever a part of one.
    """

    async def verify_token(self, channel_id: str, token: str) -> str:
        """Approve a profile by its token, and return its key. Raises Refused: TOKEN_INVALID, DUPLICATE."""

    async def find_profile(self, channel_id: str) -> RemoteProfile | None:
        """Return the profile of a channel."""

    async def get_profile(self, sender_key: str) -> RemoteProfile | None:
        """Return the profile with this key; None: it says that there is none."""

    async def list_profiles(self) -> list[RemoteProfile]:
        """Return every profile."""

    async def delete_profile(self, sender_key: str) -> None:
        """Delete a profile with its templates; one that is gone is no trouble."""

    async def list_templates(self, sender_key: str) -> list[RemoteTemplate]:
        """Return every template of a profile; of one that is being changed, what it was before.

        That one is blocked or dormant need not show here.
        """

    async def get_template(self, sender_key: str, code: str) -> RemoteTemplate | None:
        """Return one template; None: it says that there is none."""

    async def get_template_change(self, sender_key: str, code: str) -> RemoteTemplate | None:
        """Return the newest change of an approved template, whatever became of it."""

    async def delete_template(self, sender_key: str, code: str) -> None:
        """Delete a template; one that is gone is no trouble."""

    async def list_categories(self) -> RemoteCategories:
        """Return the categories it knows."""

    def is_same_design(self, ours: TemplateContent, theirs: TemplateContent) -> bool:
        """Say whether two designs are the same as far as it can tell: not all of ours has a place there."""

    async def close(self) -> None:
        """Close its connections; for those who ask it without running its carrier."""
