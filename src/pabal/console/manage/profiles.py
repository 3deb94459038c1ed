"""Sender profiles: which there are, how one is registered and proved by its token, and how it goes."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.manage.category_steps import Steps, levels, steps
from pabal.console.shell.page_request import Visit
from pabal.domain import profile as profiles_are
from pabal.domain.category import Category
from pabal.domain.codes import Code, Refused, Words
from pabal.domain.dates import SECOND, Instant
from pabal.domain.profile import MAX_WRONG_TOKENS, AuthStatus, Profile, Registration
from pabal.models.bodies import AuthSender, CreateSender
from pabal.service.relay import categories, profiles
from pabal.store import profiles as kept_profiles
from pabal.store.engine.base import Tx
from pabal.web import managing

PROFILES = "/console/profiles"
PAGE_SIZE = 50
MAX_PAGE = 10_000


class Row(NamedTuple):
    """A profile in the list."""

    channel: str
    category: str
    phone: str
    status: AuthStatus
    sender_key: str
    is_enabled: bool
    bar: Words | None
    """Why a relay keeps it out of use, if it does."""
    made: str


class Waiting(NamedTuple):
    """A profile that waits for its token, until when that is good, and how often it may still be wrong."""

    profile: Profile
    expires_at: Instant
    tries: int


async def list_profiles(visit: Visit) -> Response:
    """Show the account's profiles, newest first."""
    word = visit.field("page")
    page = min(max(int(word), 1), MAX_PAGE) if word.isascii() and word.isdigit() and len(word) < 7 else 1
    wanted = kept_profiles.Filter(visit.account_id)
    total, found = await visit.context.store.read(kept_profiles.find, wanted, page, PAGE_SIZE)
    known = await categories.of_senders(visit.context)
    rows = [_row(visit, each, known) for each in found]
    approved = visit.field("approved")
    is_news = any(each.channel == approved and each.status is AuthStatus.APPROVAL for each in rows)
    return visit.page(
        "manage/profiles.html",
        rows=rows,
        page=page,
        pages=max(1, -(-total // PAGE_SIZE)),
        approved=approved if is_news else "",
    )


async def show_new(visit: Visit) -> Response:
    """Show the form of a registration."""
    return await _form(visit)


async def show_categories(visit: Visit) -> Response:
    """Answer with the choices that are left after those made so far."""
    return visit.page("manage/profile_category.html", steps=await _steps(visit), told={})


async def register(visit: Visit) -> Response:
    """Register a channel; its administrator's phone gets a token."""
    fields = {name: visit.field(name) for name in ("category", "channelId", "cellphone")}
    deed = visit.deed("profile.register", _spelled(fields["channelId"]))
    try:
        made = await managing.create_sender(visit.call(CreateSender, fields, deed))
    except Refused as refused:
        return await _form(visit, refused)
    return visit.elsewhere(_token_of(str(made["item"].channelId)))


async def show_token(visit: Visit) -> Response:
    """Show where the token is entered, and how long it is good.

    Raises Refused(NOT_FOUND).
    """
    waiting = await _waiting(visit)
    if waiting.profile.status is AuthStatus.APPROVAL:
        return visit.elsewhere(PROFILES)
    return _token_page(visit, waiting)


async def enter_token(visit: Visit) -> Response:
    """Approve a profile by its token.

    Raises Refused(NOT_FOUND).
    """
    waiting = await _waiting(visit)
    channel_id = waiting.profile.channel_id
    fields = {"channelId": channel_id, "token": visit.field("token")}
    try:
        await managing.authenticate_sender(
            visit.call(AuthSender, fields, visit.deed("profile.approve", channel_id))
        )
    except Refused as refused:
        if refused.code is Code.INVALID_STATE:
            return visit.elsewhere(PROFILES)
        return _token_page(visit, await _waiting(visit), refused)
    return visit.elsewhere(f"{PROFILES}?{urlencode({'approved': channel_id})}")


async def send_again(visit: Visit) -> Response:
    """Have another token sent to the same phone.

    Raises Refused(NOT_FOUND).
    """
    waiting = await _waiting(visit)
    known = waiting.profile
    registration = Registration(known.channel_id, known.category, known.cellphone)
    try:
        deed = visit.deed("profile.register", known.channel_id)
        await profiles.register(visit.context, visit.account_id, registration, deed)
    except Refused as refused:
        if refused.code is Code.DUPLICATE:
            return visit.elsewhere(PROFILES)
        return _token_page(visit, waiting, refused)
    return visit.elsewhere(_token_of(known.channel_id, is_again=True))


async def ask_delete(visit: Visit) -> Response:
    """Ask whether a profile is really to go.

    Raises Refused(NOT_FOUND).
    """
    found = (await _waiting(visit)).profile
    return visit.page("manage/profile_delete.html", channel=found.channel_id, told="")


async def delete(visit: Visit) -> Response:
    """Delete a profile; its waiting messages are cancelled.

    Raises Refused(NOT_FOUND).
    """
    found = (await _waiting(visit)).profile
    try:
        deed = visit.deed("profile.delete", found.channel_id)
        await profiles.delete(visit.context, visit.account_id, None, found.channel_id, deed)
    except Refused as refused:
        told = refused.problems[0].message(visit.speech.locale)
        return visit.page(
            "manage/profile_delete.html", refused.code.http_status, channel=found.channel_id, told=told
        )
    return visit.elsewhere(PROFILES)


async def _form(visit: Visit, refused: Refused | None = None) -> Response:
    told = {}
    if refused:
        told = {each.field: each.message(visit.speech.locale) for each in refused.problems}
    return visit.page(
        "manage/profile_new.html",
        refused.code.http_status if refused else 200,
        typed={name: visit.field(name) for name in ("channelId", "cellphone")},
        steps=await _steps(visit),
        told=told,
    )


async def _steps(visit: Visit) -> Steps:
    known = await categories.of_senders(visit.context)
    return steps(known, visit.field("major"), visit.field("minor"), visit.field("category"))


def _token_page(visit: Visit, waiting: Waiting, refused: Refused | None = None) -> Response:
    left_s = max(0, (waiting.expires_at - visit.now) // SECOND)
    return visit.page(
        "manage/profile_token.html",
        refused.code.http_status if refused else 200,
        channel=waiting.profile.channel_id,
        digits=waiting.profile.cellphone,
        left_s=left_s,
        left=f"{left_s // 60}:{left_s % 60:02}",
        tries=waiting.tries,
        is_again=visit.field("again") == "1" and refused is None,
        told=refused.problems[0].message(visit.speech.locale) if refused else "",
    )


async def _waiting(visit: Visit) -> Waiting:
    """Return the profile that a form or an address names by its channel.

    Raises Refused(NOT_FOUND).
    """
    channel_id = _spelled(visit.field("channel"))
    if not channel_id:
        raise Refused(Code.NOT_FOUND)
    found = await visit.context.store.read(_read, visit.account_id, channel_id)
    if found is None:
        raise Refused(Code.NOT_FOUND)
    return found


def _spelled(channel: str) -> str:
    """Return a channel as it is kept, empty for what can be none."""
    try:
        return profiles_are.channel(channel)
    except Refused:
        return ""


def _read(tx: Tx, account_id: int, channel_id: str) -> Waiting | None:
    profile = kept_profiles.by_channel(tx, account_id, channel_id)
    if profile is None:
        return None
    token = kept_profiles.newest_token(tx, profile.id)
    if token is None:
        return Waiting(profile, 0, 0)
    return Waiting(profile, token.expires_at, max(0, MAX_WRONG_TOKENS - token.wrong))


def _row(visit: Visit, profile: Profile, known: Mapping[str, Category]) -> Row:
    category = known.get(profile.category)
    return Row(
        channel=profile.channel_id,
        category=" › ".join(dict.fromkeys(levels(category.name))) if category else profile.category,
        phone=visit.number(profile.cellphone),
        status=profile.status,
        sender_key=(profile.sender_key or "") if visit.may_see_numbers else "",
        is_enabled=profile.is_enabled,
        bar=profile.bar.label if profile.bar else None,
        made=visit.speech.stamp(profile.created_at),
    )


def _token_of(channel_id: str, *, is_again: bool = False) -> str:
    fields = {"channel": channel_id} | ({"again": "1"} if is_again else {})
    return f"{PROFILES}/token?{urlencode(fields)}"
