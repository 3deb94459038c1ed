"""Finds the sender profiles and templates of an account for pages, and how often their messages were read."""

import asyncio
import logging
from collections import defaultdict
from datetime import date
from typing import NamedTuple

from pabal.carriers.base import Carrier, TemplateReads
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.domain.base.codes import Code, Refused, require
from pabal.domain.base.dates import Instant
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import MAX_WRONG_TOKENS, AuthStatus, Profile
from pabal.domain.kakao.template import ReviewDecision, Template, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import templates as template_service
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates
from pabal.store.kakao.profiles import ProfileFilter
from pabal.store.kakao.templates import TemplateFilter

log = logging.getLogger("pabal.profiles")

MAX_CHOICES = 1000
"""The most profiles or templates that a form offers."""


class ProfileDetails(NamedTuple):
    """A profile, until when its newest token is valid, and how many attempts are left to enter it."""

    profile: Profile
    token_expires_at: Instant
    attempts_left: int


async def find_profiles(context: Context, account_id: int, page: int, page_size: int) -> tuple[int, list[Profile]]:
    """Return how many profiles an account has, and a page of them, newest first."""
    return await context.store.read(profiles.find, ProfileFilter(account_id), page, page_size)


async def list_approved_profiles(context: Context, account_id: int) -> list[Profile]:
    approved = ProfileFilter(account_id, status=AuthStatus.APPROVAL)
    _, found = await context.store.read(profiles.find, approved, 1, MAX_CHOICES)
    return found


async def list_usable_profiles(context: Context, account_id: int) -> list[Profile]:
    """Return the profiles of an account that messages can be sent from."""
    return [each for each in await list_approved_profiles(context, account_id) if each.is_usable]


async def get_profile(context: Context, account_id: int, channel_id: str) -> ProfileDetails:
    """Return the profile of a channel.

    Raises Refused(NOT_FOUND).
    """
    return require(await context.store.read(_read_profile, account_id, channel_id) if channel_id else None)


async def find_templates(
    context: Context, account_id: int, status: TemplateStatus | None, page: int, page_size: int
) -> tuple[int, list[Template]]:
    """Return how many templates of a status an account has, and a page of them, newest first."""
    return await context.store.read(templates.find, TemplateFilter(account_id, status=status), page, page_size)


async def list_usable_templates(context: Context, account_id: int, sender_key: str | None = None) -> list[Template]:
    """Return the templates that messages can be sent with, of one profile or of all."""
    _, found = await context.store.read(templates.find, TemplateFilter(account_id, sender_key), 1, MAX_CHOICES)
    return [each for each in found if each.is_usable]


async def get_template(context: Context, account_id: int, template_id: int) -> Template:
    """Return a template.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    template = await get_any_template(context, template_id)
    if template.account_id != account_id:
        raise Refused(Code.NOT_FOUND)
    return template


async def list_reviews(context: Context, after: int, limit: int) -> list[tuple[str, Template]]:
    """Return templates of all accounts that wait for an operator, each with the name of its account."""
    return await context.store.read(templates.list_under_review, after, limit)


async def get_any_template(context: Context, template_id: int) -> Template:
    """Return a template of any account, for operators.

    Raises Refused(NOT_FOUND).
    """
    return require(await context.store.read(templates.get_by_id, template_id))


async def get_template_image(context: Context, template: Template) -> Image | None:
    """Return the emphasis image of a template, None where it has none."""
    return await context.store.read(templates.get_image, template.id)


async def decide_review(
    context: Context, template: Template, decision: ReviewDecision, audit_entry: AuditEntry
) -> None:
    """Approve or reject a template that is under review.

    Raises Refused(INVALID_STATE).
    """
    await context.store.write(
        audit_log.run_audited,
        audit_entry,
        template_service.decide_review,
        template.id,
        decision,
        audit_entry.created_at,
    )
    context.new_events.set()


def _read_profile(tx: Tx, account_id: int, channel_id: str) -> ProfileDetails | None:
    profile = profiles.get_by_channel(tx, account_id, channel_id)
    if profile is None:
        return None
    token = profiles.newest_token(tx, profile.id)
    if token is None:
        return ProfileDetails(profile, 0, 0)
    return ProfileDetails(profile, token.expires_at, max(0, MAX_WRONG_TOKENS - token.failed_attempts))


MAX_PROFILES = 100
"""Most profiles of an account that are asked for."""


class Reads(NamedTuple):
    """How many messages were read, and how often something in them was clicked."""

    read: int = 0
    clicked: int = 0


async def get_reads(context: Context, account_id: int, first: date, last: date) -> dict[tuple[str, str], Reads]:
    """Return the figures of an account by day (2026-11-15) and template code; a relay that fails has none."""
    _, found = await context.store.read(profiles.find, ProfileFilter(account_id), 1, MAX_PROFILES)
    wanted = [
        (context.carriers[each.carrier], each.sender_key)
        for each in found
        if each.sender_key and each.carrier and each.carrier in context.carriers
    ]
    answers = await asyncio.gather(*(_ask(carrier, key, first, last) for carrier, key in wanted))
    reads: dict[tuple[str, str], Reads] = defaultdict(Reads)
    for each in (row for rows in answers for row in rows):
        known = reads[each.day, each.template_code]
        reads[each.day, each.template_code] = Reads(known.read + each.read, known.clicked + each.clicked)
    return dict(reads)


async def _ask(carrier: Carrier, sender_key: str, first: date, last: date) -> list[TemplateReads]:
    try:
        return list(await carrier.list_template_reads(sender_key, first, last))
    except (NotProcessed, NoResponse, Throttled, ErrorAnswer) as error:
        reason = str(error) or type(error).__name__
        log.warning("figures of reads cannot be had", extra={"carrier": carrier.name, "reason": reason})
        return []
