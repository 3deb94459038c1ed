"""The duplicate guard: the same text to the same number from one account is sent once in a while."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.kakao.template_parts import fill_parts, to_fields
from pabal.domain.sends.account import AccountLimits
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending, fill_buttons, fill_text
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.messages import recent_texts

DIGEST_BYTES = 16


class DuplicateGuard(NamedTuple):
    """What a request is compared by, and what happens to its duplicates."""

    digests: Sequence[bytes]
    """One for each receiver, in order."""
    until: Instant
    """From when on the same texts may be sent again."""
    minutes: int
    is_dropping: bool
    """Whether duplicates are recorded as failed; otherwise the request is refused."""


def build_guard(
    account_id: int,
    sending: Sending,
    limits: AccountLimits,
    policy: Policy,
    now: Instant,
    *,
    is_dropping: bool | None = None,
) -> DuplicateGuard | None:
    """Return the guard of a send; None where the account has none."""
    minutes = policy.duplicate_minutes if limits.duplicate_minutes is None else limits.duplicate_minutes
    if not minutes:
        return None
    return DuplicateGuard(
        _digest_texts(account_id, sending),
        max(now, sending.scheduled_at or now) + minutes * MINUTE,
        minutes,
        policy.drops_duplicates if is_dropping is None else is_dropping,
    )


def find_duplicates(tx: Tx, guard: DuplicateGuard, now: Instant) -> list[int]:
    """Record the texts of a new request, and return the indexes of receivers that got theirs already.

    Raises Refused(DUPLICATE) naming these receivers, unless duplicates are dropped.
    """
    return _list_duplicates(guard, recent_texts.claim(tx, guard.digests, now, guard.until))


def look_for_duplicates(tx: Tx, guard: DuplicateGuard, now: Instant) -> list[int]:
    """Return the same as `find_duplicates`, and record nothing.

    Raises Refused(DUPLICATE) as that does.
    """
    return _list_duplicates(guard, set(guard.digests) - recent_texts.find(tx, guard.digests, now))


def _list_duplicates(guard: DuplicateGuard, new: set[bytes]) -> list[int]:
    duplicates = []
    for index, digest in enumerate(guard.digests):
        if digest in new:
            new.remove(digest)  # a second receiver of the same request with the same number and text
        else:
            duplicates.append(index)
    if duplicates and not guard.is_dropping:
        detail = Text(
            f"같은 내용을 이 번호로 {guard.minutes:,}분 안에 이미 보냈습니다.",
            f"The same text was sent to this number within {guard.minutes:,} minutes.",
        )
        raise Refused.from_problems(
            [Problem(Code.DUPLICATE, f"receivers[{index}].phoneNumber", detail) for index in duplicates]
        )
    return duplicates


def _digest_texts(account_id: int, sending: Sending) -> list[bytes]:
    """Return a digest for each receiver of what the phone would show, and of when it was asked for.

    Sender and product do not count: the same text from another number is still the same to who reads it. A
    scheduled send is compared with sends of the same time only.
    """
    image = "".join(hashlib.sha256(each.body).hexdigest() for each in sending.images) or None
    shown = (account_id, image, sending.image_link, sending.scheduled_at, *_shown_by_brand(sending))
    shared = msgspec.json.encode(shown)
    key = hashlib.blake2b(shared).digest()
    return [_digest(_shown_texts(sending, receiver), key) for receiver in sending.receivers]


def _shown_by_brand(sending: Sending) -> tuple[object, ...]:
    """Return what a brand message shows besides its text, nothing for other messages."""
    if sending.brand is None or sending.product is not Product.BRAND_MESSAGE:
        return ()
    return sending.brand.attachment, sending.template_code


def _has_remote_template(sending: Sending) -> bool:
    """Return whether only the relay knows the text: what a phone shows then follows from the values."""
    return sending.product is Product.BRAND_MESSAGE and sending.template_code is not None


def _shown_texts(sending: Sending, receiver: Receiver) -> tuple[object, ...]:
    names, values = sending.variables, receiver.values
    if _has_remote_template(sending):
        return receiver.phone, dict(zip(names, values, strict=True))
    content = sending.content if receiver.content is None else receiver.content
    return (
        receiver.phone,
        fill_text(content, names, values),
        fill_text(sending.subject or "", names, values),
        [each.given_fields() for each in fill_buttons(sending.buttons, names, values)],
        *([to_fields(fill_parts(sending.parts, names, values))] if sending.parts.has_any else ()),
    )


def _digest(shown: tuple[object, ...], key: bytes) -> bytes:
    return hashlib.blake2b(msgspec.json.encode(shown), digest_size=DIGEST_BYTES, key=key).digest()
