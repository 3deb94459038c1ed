"""The page of an account's team, where owners invite users, change their roles and remove them."""

from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.ticked_ids import parse_id
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import HOUR
from pabal.domain.users.user import ACCOUNT_ROLES, ROLE_BY_CODE, Role, User
from pabal.service.access.accounts import administration
from pabal.service.access.sign_in import passwords
from pabal.service.access.users import team
from pabal.service.access.users.team import INVITE_LIFETIME_MS, Invite, Team
from pabal.world import new_password

TEAM_PATH = "/console/team"
INVITE_PATH = "/console/invite"


class MemberRow(NamedTuple):
    """A user in the list."""

    name: str
    role: Role
    created_at: str
    is_disabled: bool
    is_self: bool
    has_two_factor: bool
    is_linked: bool
    """Whether the user can sign in through the OpenID Connect provider."""
    is_delayed: bool
    """Whether sign-ins may have to wait after failed ones."""


class InviteRow(NamedTuple):
    """An invitation that nobody has accepted yet."""

    id: int
    role: Text
    inviter: str
    expires_at: str


async def show_team(request: PageRequest) -> Response:
    """Show the users and the open invitations of the account."""
    return await render_team(request)


async def create_invite(request: PageRequest) -> Response:
    """Create an invitation and show its link, once."""
    try:
        role = _read_role(request)
        token = await team.invite(request.context, request.account_id, role, request.audit_entry("invite.create"))
    except Refused as refused:
        return await render_team(request, refused)
    return request.render(
        "team/invited.html",
        role=role.label,
        link=f"{request.origin}{INVITE_PATH}?token={token}",
        hours=INVITE_LIFETIME_MS // HOUR,
    )


async def withdraw_invite(request: PageRequest) -> Response:
    """Withdraw an invitation: its link stops working."""
    invite_id = parse_id(request.field("invite")) or 0
    audit_entry = request.audit_entry("invite.withdraw", str(invite_id))
    await team.withdraw(request.context, request.account_id, invite_id, audit_entry)
    return request.redirect(TEAM_PATH)


async def change_role(request: PageRequest) -> Response:
    """Give a user another role."""
    try:
        role = _read_role(request)
        await team.change_role(
            request.context, request.account_id, request.field("user"), role, request.audit_entry("user.role")
        )
    except Refused as refused:
        return await render_team(request, refused)
    return request.redirect(TEAM_PATH)


async def remove_user(request: PageRequest) -> Response:
    """Remove a user, who is signed out at once."""
    try:
        await team.remove(
            request.context, request.account_id, request.field("user"), request.audit_entry("user.remove")
        )
    except Refused as refused:
        return await render_team(request, refused)
    return request.redirect(TEAM_PATH)


async def reset_two_factor(request: PageRequest) -> Response:
    """Let a user who has lost the app and the recovery codes sign in with the password alone."""
    try:
        await team.reset_two_factor(
            request.context, request.account_id, request.field("user"), request.audit_entry("two_factor.reset")
        )
    except Refused as refused:
        return await render_team(request, refused)
    return request.redirect(TEAM_PATH)


async def unlock_user(request: PageRequest) -> Response:
    """Let a user sign in at once after many failed sign-ins."""
    try:
        await team.unlock(
            request.context, request.account_id, request.field("user"), request.audit_entry("user.unlock")
        )
    except Refused as refused:
        return await render_team(request, refused)
    return request.redirect(TEAM_PATH)


async def unlink_user(request: PageRequest) -> Response:
    """Have a user not sign in through the OpenID Connect provider any more."""
    try:
        await team.unlink(
            request.context, request.account_id, request.field("user"), request.audit_entry("openid.unlink")
        )
    except Refused as refused:
        return await render_team(request, refused)
    return request.redirect(TEAM_PATH)


async def reset_password(request: PageRequest) -> Response:
    """Give a colleague a new password and show it, once; one's own is changed on another page."""
    password = new_password(request.context.world)
    salt = passwords.new_salt(request.context.world)
    hash = await request.site.password_threads.run(passwords.hash_with_salt, password, salt)
    try:
        name = await team.reset_password(
            request.context, request.account_id, request.field("user"), hash, request.audit_entry("user.password")
        )
    except Refused as refused:
        return await render_team(request, refused)
    account = await administration.get_account(request.context, request.account_id)
    return request.render(
        "operate/accounts/secret.html", account=account, back=TEAM_PATH, secret=password, kind="password", name=name
    )


async def render_team(request: PageRequest, refused: Refused | None = None) -> Response:
    """Answer with the page of the team; after a refusal, with its reason."""
    found = await team.get_team(request.context, request.account_id)
    return request.render(
        "team/team.html",
        refused.code.http_status if refused else 200,
        users=[_member_row(request, each, found) for each in found.users],
        invites=[_invite_row(request, each) for each in found.invites],
        roles=[(each.code, request.translate(each.label)) for each in ACCOUNT_ROLES],
        role=request.field("role") if refused else Role.SENDER.code,
        hours=INVITE_LIFETIME_MS // HOUR,
        problems=[each.message(request.locale.language) for each in refused.problems] if refused else [],
    )


def _read_role(request: PageRequest) -> Role:
    """Return the role that was chosen.

    Raises Refused(INVALID_PARAMETER).
    """
    role = ROLE_BY_CODE.get(request.field("role"))
    if role not in ACCOUNT_ROLES:
        raise Refused(Code.INVALID_PARAMETER, "role")
    return role


def _member_row(request: PageRequest, user: User, found: Team) -> MemberRow:
    return MemberRow(
        user.name,
        user.role,
        request.locale.format_timestamp(user.created_at)[:16],
        user.disabled_at is not None,
        user.id == request.user.id,
        user.id in found.two_factor_ids,
        user.id in found.linked_ids,
        user.name in found.delayed_names,
    )


def _invite_row(request: PageRequest, invite: Invite) -> InviteRow:
    expires_at = request.locale.format_timestamp(invite.expires_at)[:16]
    return InviteRow(invite.id, invite.role.label, invite.inviter.name, expires_at)
