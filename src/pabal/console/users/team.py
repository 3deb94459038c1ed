"""The page of an account's team, where owners invite users, change their roles and remove them."""

from collections.abc import Callable

from starlette.responses import Response

from pabal.console.operate.accounts import make_password, render_password
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page import Handler
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import HOUR
from pabal.domain.events.notice import parse_address
from pabal.domain.people.user import ACCOUNT_ROLES, ROLE_BY_CODE, Role
from pabal.mail.mailer import MailOutcome, MailResult
from pabal.service.access.accounts import administration
from pabal.service.access.users import team
from pabal.service.access.users.team import INVITE_LIFETIME_MS
from pabal.service.notices import at_once

TEAM_PATH = "/console/team"
INVITE_PATH = "/console/invite"


async def create_invite(request: PageRequest) -> Response:
    """Create an invitation, mail it if there is an address, and show its link, once."""
    context = request.context
    role = _read_role(request)
    address = parse_address(request.field("address")) if request.field("address") else ""
    if address:
        at_once.check_invitation(context, request.user)
    token = await team.invite(context, request.account_id, role, request.audit_entry("invite.create"))
    path = f"{INVITE_PATH}?token={token}"
    result: MailResult | None = None
    if address:
        account = (await administration.get_account(context, request.account_id)).name
        result = await at_once.send_invitation(
            context, request.user, account, role, path, address, request.locale.language
        )
    return request.render(
        "users/invited.html",
        role=role.label,
        link=f"{request.origin}{path}",
        hours=INVITE_LIFETIME_MS // HOUR,
        address=address,
        is_mailed=result is not None and result.outcome is MailOutcome.SENT,
        detail=result.detail if result else "",
    )


async def withdraw_invite(request: PageRequest) -> Response:
    """Withdraw an invitation: its link stops working."""
    invite_id = parse_id(request.field("invite")) or 0
    audit_entry = request.audit_entry("invite.withdraw", str(invite_id))
    await request.context.store.write(team.withdraw, request.account_id, invite_id, audit_entry)
    return request.redirect(TEAM_PATH)


async def change_role(request: PageRequest) -> Response:
    """Give a user another role."""
    role, audit_entry = _read_role(request), request.audit_entry("user.role")
    name = request.field("user")
    await request.context.store.write(team.change_role, request.account_id, name, role, audit_entry)
    return request.redirect(TEAM_PATH)


def _change_user(change: Callable[..., object], action: str) -> Handler:
    """Return what changes the user that a form names; `change` is a transaction of the team."""

    async def handle(request: PageRequest) -> Response:
        name, audit_entry = request.field("user"), request.audit_entry(action)
        await request.context.store.write(change, request.account_id, name, audit_entry)
        return request.redirect(TEAM_PATH)

    return handle


remove_user = _change_user(team.remove, "user.remove")
reset_two_factor = _change_user(team.reset_two_factor, "two_factor.reset")
unlock_user = _change_user(team.unlock, "user.unlock")
unlink_user = _change_user(team.unlink, "openid.unlink")


async def reset_password(request: PageRequest) -> Response:
    """Give a colleague a new password and show it, once; one's own is changed on another page."""
    password, password_hash = await make_password(request)
    audit_entry = request.audit_entry("user.password")
    name = await request.context.store.write(
        team.reset_password, request.account_id, request.field("user"), password_hash, audit_entry
    )
    account = await administration.get_account(request.context, request.account_id)
    return render_password(request, account, TEAM_PATH, password, name)


async def show_team(request: PageRequest, refused: Refused | None = None) -> Response:
    """Answer with the page of the team; after a refusal, with its reason."""
    found = await team.get_team(request.context, request.account_id)
    return request.render(
        "users/team.html",
        refused,
        team=found,
        roles=[(each.code, request.translate(each.label)) for each in ACCOUNT_ROLES],
        role=request.field("role") if refused else Role.SENDER.code,
        has_mail=request.context.mail.is_sent,
        address=request.field("address") if refused else "",
        hours=INVITE_LIFETIME_MS // HOUR,
        problems=[request.tell(each) for each in refused.problems] if refused else [],
    )


def _read_role(request: PageRequest) -> Role:
    """Return the role that was chosen.

    Raises Refused(INVALID_PARAMETER).
    """
    role = ROLE_BY_CODE.get(request.field("role"))
    if role not in ACCOUNT_ROLES:
        raise Refused(Code.INVALID_PARAMETER, "role")
    return role


TEXTS = {
    "menu.team": Text("팀 관리", "Team"),
    "team.about": Text(
        "이 계정을 함께 쓰는 사용자입니다. 관리자가 초대하고, 역할을 바꾸고, 내보냅니다.",
        "The people who use this account. Owners invite them, change their roles and remove them.",
    ),
    "team.self": Text("나", "You"),
    "team.invite": Text("사용자 초대", "Invite a user"),
    "team.invite.do": Text("초대 링크 만들기", "Create invitation link"),
    "team.invite.mail": Text("초대하기", "Invite"),
    "team.invite.address": Text("메일 주소 (비우면 링크만)", "Mail address (empty: link only)"),
    "team.invited.mailed": Text(
        "{address} 주소로 초대 메일을 보냈습니다.", "The invitation was mailed to {address}."
    ),
    "team.invited.not_mailed": Text(
        "{address} 주소로 메일을 보내지 못했습니다({detail}). 아래 링크를 직접 전하세요.",
        "The mail to {address} was not sent ({detail}). Hand over the link yourself.",
    ),
    "team.invite.about": Text(
        "링크를 받은 사람이 사용자 이름과 비밀번호를 직접 정합니다. 링크는 {hours}시간 안에 한 번만 쓸 수 "
        "있습니다.",
        "Whoever gets the link chooses a user name and a password. The link works once, within {hours} hours.",
    ),
    "team_role.owner": Text(
        "모든 작업과 팀, 발신번호, 발신 프로필, API 키 관리", "Everything, including team, senders and API keys"
    ),
    "team_role.sender": Text("메시지 발송, 주소록과 템플릿 관리", "Sends messages, manages contacts and templates"),
    "team_role.viewer": Text("조회만 가능, 전화번호는 가려짐", "Looks only; phone numbers are masked"),
    "team.role.change": Text("역할 변경", "Change role"),
    "team.role.save": Text("역할 저장", "Save role"),
    "team.remove": Text("내보내기", "Remove"),
    "team.remove.ask": Text(
        "이 사용자는 바로 로그아웃되고 다시 로그인할 수 없습니다. 작성 중이던 내용도 지워집니다. 보낸 메시지와 "
        "기록은 남습니다.",
        "The user is signed out at once, cannot sign in again, and loses drafts. What was sent stays.",
    ),
    "team.remove.self": Text(
        "본인을 내보내면 바로 로그아웃되고 이 계정을 더 쓸 수 없습니다.",
        "If you remove yourself, you are signed out at once and cannot use this account any more.",
    ),
    "team.remove.do": Text("예, 내보냅니다", "Yes, remove"),
    "team.two_factor.reset": Text("2단계 인증 해제", "Reset two-factor"),
    "team.two_factor.reset.ask": Text(
        "앱과 복구 코드를 잃어버린 사용자가 비밀번호만으로 로그인하게 합니다. 본인이 요청했는지 확인하세요.",
        "For who has lost the app and the recovery codes: the password alone is enough then. Make sure that the "
        "user has asked for it.",
    ),
    "team.two_factor.reset.do": Text("예, 해제합니다", "Yes, reset"),
    "team.unlink": Text("로그인 연결 해제", "Unlink sign-in"),
    "team.unlink.ask": Text(
        "이 사용자는 바로 로그아웃되고 {name} 계정으로 로그인할 수 없습니다. 비밀번호가 없으면 새 비밀번호를 "
        "발급해야 다시 로그인할 수 있습니다.",
        "The user is signed out at once and cannot sign in with {name} any more. A user without a password needs a "
        "new one to sign in again.",
    ),
    "team.delayed": Text("로그인 지연", "Sign-in delayed"),
    "team.unlock": Text("로그인 지연 해제", "Lift the delay"),
    "team.unlock.ask": Text(
        "여러 번의 로그인 실패로 생긴 대기 시간을 없앱니다. 본인이 요청했는지 확인하세요.",
        "Ends the wait after many failed sign-ins. Make sure that the user has asked for it.",
    ),
    "team.unlock.do": Text("예, 해제합니다", "Yes, lift it"),
    "menu.keys": Text("API 키", "API keys"),
    "keys.about": Text(
        "이 계정의 프로그램이 메시지를 보낼 때 쓰는 키입니다. 키를 바꾸려면 새 키를 먼저 적용한 뒤 이전 키를 "
        "폐기하세요.",
        "What programs of this account send with. To replace a key, use the new one first, then revoke the old.",
    ),
    "keys.ask_operator": Text("새 API 키는 운영자에게 요청하세요.", "Ask your operator for a new API key."),
    "team.invites": Text("사용하지 않은 초대", "Open invitations"),
    "team.inviter": Text("초대한 사람", "Invited by"),
    "team.expires": Text("만료 시각", "Valid until"),
    "team.withdraw": Text("초대 취소", "Withdraw"),
    "team.invited": Text("초대 링크를 만들었습니다", "The invitation is ready"),
    "team.invited.once": Text(
        "{role} 역할의 초대입니다. 링크는 지금 한 번만 표시하며, {hours}시간 안에 한 번 쓸 수 있습니다.",
        "It is for the role {role}. The link is shown only now, and works once within {hours} hours.",
    ),
    "team.invited.how": Text(
        "초대할 사람에게만 안전하게 전하세요. 링크를 가진 사람은 누구나 이 계정의 사용자가 될 수 있습니다.",
        "Give it only to the person you invite: whoever has the link can become a user of this account.",
    ),
    "team.link": Text("초대 링크", "Invitation link"),
    "team.back": Text("팀 관리로", "Back to the team"),
    "join.title": Text("초대 수락", "Accept the invitation"),
    "join.about": Text(
        "{inviter} 님이 {account} 계정에 {role} 역할로 초대했습니다. 로그인할 때 쓸 이름과 비밀번호를 정하세요.",
        "{inviter} invites you to the account {account} as {role}. Choose a name and a password to sign in with.",
    ),
    "join.about_openid": Text(
        "{inviter} 님이 {account} 계정에 {role} 역할로 초대했습니다. 이름을 정하고 로그인할 방법을 고르세요.",
        "{inviter} invites you to the account {account} as {role}. Choose a name, and how to sign in.",
    ),
    "join.openid": Text("{name} 계정으로 가입", "Join with {name}"),
    "join.full_name": Text("이름 (동료에게 보입니다. 비워도 됩니다)", "Name (colleagues see it; optional)"),
    "join.password": Text("비밀번호 ({least}자 이상)", "Password (at least {least} characters)"),
    "join.repeated": Text("비밀번호 확인", "Password again"),
    "join.do": Text("가입", "Join"),
    "join.signed_in": Text(
        "지금 {name} 사용자로 로그인되어 있습니다. 로그아웃한 뒤 초대 링크를 다시 여세요.",
        "You are signed in as {name}. Sign out, then open the link again.",
    ),
    "join.done": Text("가입했습니다. 로그인하세요.", "You have joined. Sign in now."),
    "audit_action.invite.create": Text("사용자 초대", "Invited a user"),
    "audit_action.invite.withdraw": Text("초대 취소", "Withdrew an invitation"),
    "audit_action.user.join": Text("초대 수락", "Accepted an invitation"),
    "audit_action.user.role": Text("역할 변경", "Changed a role"),
    "audit_action.user.remove": Text("사용자 내보내기", "Removed a user"),
}
