"""The interface between the service and a provider of sender profiles and templates."""

from typing import NamedTuple, Protocol, runtime_checkable

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Category, Registration, Suspension
from pabal.domain.kakao.template import ReviewDecision, TemplateContent, TemplateStatus


class ProviderUnavailable(Refused):
    """The provider cannot be reached; nothing was changed. `reason` is for the operator."""

    def __init__(self, reason: str, detail: Text, retry_after_s: float | None = None) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, detail=detail, retry_after_s=retry_after_s)
        self.reason = reason


class ProviderOutcomeUnknown(Refused):
    """The provider gave no usable answer: the change may have been made or not. `reason` is for the operator."""

    def __init__(self, reason: str, detail: Text) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, detail=detail)
        self.reason = reason


class RemoteProfile(NamedTuple):
    """A sender profile as the relay has it now."""

    channel_id: str
    sender_key: str | None
    """None until the token is verified."""
    category: str
    suspension: Suspension | None = None


class RemoteTemplate(NamedTuple):
    """A template as the relay has it now; `status` is the review status of `content`."""

    code: str
    content: TemplateContent
    status: TemplateStatus
    comment: str | None = None
    suspension: Suspension | None = None


class RemoteCategories(NamedTuple):
    """The categories that the relay accepts."""

    profiles: tuple[Category, ...]
    templates: tuple[Category, ...]


class ProfileProvider(Protocol):
    """Registers sender profiles and reviews templates; some carriers have one.

    A Refused is the provider's answer to the caller. ProviderUnavailable and ProviderOutcomeUnknown become
    SERVICE_UNAVAILABLE.
    """

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        """Send a token to a channel administrator's phone: the given one, or the relay's own."""

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        """Submit a new or changed template for review; return the decision if there is one at once.

        Submitting again what is under review changes nothing.
        """

    async def upload_thumbnail(self, image: Image) -> str:
        """Upload the JPEG of an item highlight, and return its address. Raises Refused."""


@runtime_checkable
class RelayProvider(ProfileProvider, Protocol):
    """A provider that stores profiles and templates itself: it issues the keys, and its state is authoritative.

    Its state may change at any time, for example in its own console. Lists are always complete.
    """

    async def verify_token(self, registration: Registration, token: str) -> str:
        """Approve a profile by its token, and return its key. Raises Refused: TOKEN_INVALID, DUPLICATE."""

    async def find_profile(self, channel_id: str) -> RemoteProfile | None:
        """Return the profile of a channel."""

    async def get_profile(self, sender_key: str) -> RemoteProfile | None:
        """Return the profile with this key; None if the relay answers that there is none."""

    async def list_profiles(self) -> list[RemoteProfile]:
        """Return every profile."""

    async def delete_profile(self, sender_key: str) -> None:
        """Delete a profile with its templates; one that does not exist is not an error."""

    async def list_templates(self, sender_key: str) -> list[RemoteTemplate]:
        """Return every template of a profile; one with a change under review appears as it was before.

        Blocked and dormant templates need not be marked.
        """

    async def get_template(self, sender_key: str, code: str) -> RemoteTemplate | None:
        """Return one template; None if the relay answers that there is none."""

    async def get_template_change(self, sender_key: str, code: str) -> RemoteTemplate | None:
        """Return the newest change of an approved template, whatever its status."""

    async def delete_template(self, sender_key: str, code: str) -> None:
        """Delete a template; one that does not exist is not an error."""

    async def list_categories(self) -> RemoteCategories:
        """Return the categories that the relay accepts."""

    def is_same_content(self, ours: TemplateContent, theirs: TemplateContent) -> bool:
        """Return whether the relay would store both contents alike: it does not support all of ours."""

    async def close(self) -> None:
        """Close the connections; for callers that use the provider without running its carrier."""
