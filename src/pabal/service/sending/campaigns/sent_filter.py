"""What the list of sent items can be filtered by: kind, state, name or text, and period."""

from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import LabelledEnum, Text
from pabal.domain.base.dates import Instant, Period
from pabal.domain.sends.message import Product
from pabal.store.campaigns.campaigns import Campaign
from pabal.store.messages.requests import Request

AFTER_NEWEST_ID = b"\xff" * identifiers.REQUEST_ID_BYTES


class SentState(LabelledEnum):
    """How far a campaign or a request has come, as one looks for it."""

    SCHEDULED = ("scheduled", Text("예약됨", "Scheduled"))
    MOVING = ("moving", Text("진행 중", "In progress"))
    HALTED = ("halted", Text("멈춤", "Halted"))
    ENDED = ("ended", Text("발송 종료", "Finished"))
    CANCELLED = ("cancelled", Text("취소됨", "Cancelled"))


SENT_STATE_BY_CODE = {state.code: state for state in SentState}


class SentFilter(NamedTuple):
    """What a list of sent items is filtered by; None or empty matches everything."""

    product: Product | None = None
    state: SentState | None = None
    words: str = ""
    """Part of a campaign's name, or of a request's subject or text; case does not matter."""
    period: Period | None = None
    is_campaign: bool | None = None

    @property
    def since_id(self) -> bytes:
        """The lowest id of the period."""
        return _lowest_id(self.period.start) if self.period and self.period.start is not None else b""

    @property
    def until_id(self) -> bytes:
        """The lowest id after the period."""
        return _lowest_id(self.period.end) if self.period and self.period.end is not None else AFTER_NEWEST_ID

    def fits_campaign(self, campaign: Campaign) -> bool:
        """Return whether a campaign may match, whatever its state."""
        return (
            self.is_campaign is not False
            and (self.product is None or campaign.kind == self.product.code)
            and self._has_words(campaign.name)
        )

    def fits_request(self, request: Request) -> bool:
        """Return whether a request that belongs to no campaign may match, whatever its state."""
        return (
            not self.is_campaign
            and self.product in (None, request.product)
            and (self._has_words(request.subject or "") or self._has_words(request.content))
            and not (request.is_code and any(map(str.isdigit, self.words)))  # it would tell hidden digits
        )

    def _has_words(self, text: str) -> bool:
        return self.words.casefold() in text.casefold()


EVERYTHING = SentFilter()


def _lowest_id(at: Instant) -> bytes:
    return identifiers.lowest_message_id(at)[: identifiers.REQUEST_ID_BYTES]
