"""The operators' pages of accounts and their users."""

from collections.abc import Sequence

from starlette.responses import Response

from pabal.console.operate.keys import blank_key, typed_key
from pabal.console.shell.form_fields import require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.user import ACCOUNT_ROLES, ROLE_BY_CODE, Role
from pabal.domain.sends.account import SenderCodes, parse_codes
from pabal.service.access.accounts import account_limits, administration
from pabal.service.access.accounts import accounts as account_service
from pabal.service.access.accounts.accounts import MAX_NAME_CHARACTERS
from pabal.service.access.accounts.administration import Account
from pabal.service.access.accounts.keys import SCOPES
from pabal.service.access.users import users as user_service
from pabal.settings.tables import KIND_NAMES, KINDS
from pabal.world import new_password

ACCOUNTS_PATH = "/console/operate/accounts"
DISABLED, ENABLED = "disabled", "enabled"


async def create_account(request: PageRequest) -> Response:
    """Create an account."""
    account_id = await request.context.store.write(
        account_service.create, request.field("name"), request.actor, request.now
    )
    return request.redirect(f"{ACCOUNTS_PATH}/{account_id}")


async def set_account_state(request: PageRequest) -> Response:
    """Disable an account or enable it again.

    Raises Refused(NOT_FOUND), also for any other state.
    """
    account = await find_account(request)
    is_disabled = _wants_disabled(request)
    await request.context.store.write(
        account_service.set_disabled, account.id, is_disabled, request.actor, request.now
    )
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")


async def create_user(request: PageRequest) -> Response:
    """Create a user and show the password, once."""
    account = await find_account(request)
    password, password_hash = await make_password(request)
    role = ROLE_BY_CODE.get(request.field("role"))
    if role is None or role not in ACCOUNT_ROLES:
        raise Refused(Code.INVALID_PARAMETER, "role")
    name = await request.context.store.write(
        user_service.create, account.name, request.field("user"), role, password_hash, request.now, request.actor
    )
    return render_password(request, account, f"{ACCOUNTS_PATH}/{account.id}", password, name)


async def set_user_state(request: PageRequest) -> Response:
    """Disable a user, or enable the user again.

    Raises Refused: NOT_FOUND, or INVALID_PARAMETER for one that the account does not have.
    """
    account = await find_account(request)
    name, is_disabled = request.field("user"), _wants_disabled(request)
    await request.context.store.write(
        user_service.set_disabled, name, is_disabled, request.now, request.actor, account.id
    )
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")


async def reset_password(request: PageRequest) -> Response:
    """Give a user a new password and show it, once.

    Raises Refused: NOT_FOUND, or INVALID_PARAMETER for one that the account does not have.
    """
    account = await find_account(request)
    password, password_hash = await make_password(request)
    user = await request.context.store.write(
        user_service.change_password, request.field("user"), password_hash, request.now, request.actor, account.id
    )
    return render_password(request, account, f"{ACCOUNTS_PATH}/{account.id}", password, user.name)


def render_password(request: PageRequest, account: Account, back: str, password: str, name: str) -> Response:
    """Show a user's new password, once."""
    return request.render(
        "operate/secret.html", account=account, back=back, secret=password, kind="password", name=name
    )


async def find_account(request: PageRequest) -> Account:
    """Return the account that the URL names.

    Raises Refused(NOT_FOUND).
    """
    return await administration.get_account(request.context, require_id(request.http.path_params["account"]))


async def show_account(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show an account's keys, users and limits; after a refusal, the form that was posted as it was typed."""
    account = await find_account(request)
    keys, users, public_ids = await request.context.store.read(administration.get_members, account.id)
    form = request.http.scope["path"].rpartition("/")[2] if refused else ""
    errors = request.errors_by_field(refused)
    if form == "users" and "name" in errors:
        errors["user"] = errors.pop("name")
    return request.render(
        "operate/account.html",
        refused,
        account=account,
        keys=keys[::-1],
        public_ids=public_ids,
        kinds=_list_kinds(request),
        kind_names=KIND_NAMES,
        newest_key=keys[-1].id if keys else 0,
        may_create=True,
        users=users,
        key=typed_key(request) if form == "keys" else blank_key(request.site.settings.key_rate),
        user=_typed(request, ("user", "role")) if form == "users" else {"user": "", "role": Role.SENDER.code},
        scopes=SCOPES,
        roles=ACCOUNT_ROLES,
        limit_use=await account_limits.get_use(request.context, account.id),
        limits=_typed(request, account_limits.FIELDS)
        if form == "limits"
        else await _limit_fields(request, account.id),
        codes=_typed(request, SenderCodes._fields) if form == "codes" else await _code_fields(request, account.id),
        errors=errors,
    )


def _typed(request: PageRequest, names: Sequence[str]) -> dict[str, str]:
    return {name: request.field(name) for name in names}


def _list_kinds(request: PageRequest) -> list[tuple[str, str]]:
    """Return for which programs a key may be, with the words of the form."""
    of_relays = [(each, request.t("key.kind_of", relay=request.translate(KIND_NAMES[each]))) for each in KINDS]
    return [("", request.t("key.kind_own")), *of_relays]


async def _limit_fields(request: PageRequest, account_id: int) -> dict[str, str]:
    """Return the limits as the form shows them: nothing where there is none."""
    limits = await account_limits.get_limits(request.context, account_id)
    shown = {name: str(value) if value else "" for name, value in limits._asdict().items()}
    if limits.duplicate_minutes is not None:
        shown["duplicate_minutes"] = str(limits.duplicate_minutes)
    return shown


async def _code_fields(request: PageRequest, account_id: int) -> dict[str, str]:
    codes = await account_service.get_codes(request.context, account_id)
    return {name: value or "" for name, value in codes._asdict().items()}


async def list_accounts(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show all accounts."""
    return request.render(
        "operate/accounts.html",
        refused,
        accounts=await administration.list_accounts(request.context),
        typed=request.field("name") if refused else "",
        max_characters=MAX_NAME_CHARACTERS,
    )


def _wants_disabled(request: PageRequest) -> bool:
    if request.field("to") not in (DISABLED, ENABLED):
        raise Refused(Code.NOT_FOUND)
    return request.field("to") == DISABLED


async def make_password(request: PageRequest) -> tuple[str, str]:
    """Return a new password and its hash."""
    password = new_password(request.context.world)
    return password, await request.hash_password(password)


async def set_limits(request: PageRequest) -> Response:
    """Set the limits of an account."""
    account = await find_account(request)
    limits = account_limits.parse_limits(_typed(request, account_limits.FIELDS))
    await request.context.store.write(account_limits.set_limits, account.id, limits, request.actor, request.now)
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")


async def set_codes(request: PageRequest) -> Response:
    """Set which reseller sends the messages of an account."""
    account = await find_account(request)
    codes = parse_codes(_typed(request, SenderCodes._fields))
    await request.context.store.write(account_service.set_codes, account.id, codes, request.actor, request.now)
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")


TEXTS = {
    "accounts.title": Text("계정", "Accounts"),
    "accounts.enabled": Text("사용 중", "Active"),
    "accounts.none": Text(
        "아직 계정이 없습니다. 위에서 첫 계정을 만드세요.", "There are no accounts yet. Create one above."
    ),
    "accounts.new": Text("새 계정 이름", "New account name"),
    "accounts.create": Text("계정 만들기", "Create account"),
    "account.back": Text("계정 목록으로", "Back to accounts"),
    "account.disable": Text("계정 중지", "Disable account"),
    "account.disable_what": Text(
        "이 계정의 모든 API 키가 1초 안에 차단되고 모든 사용자가 로그아웃됩니다. 이미 접수한 메시지는 "
        "그대로 발송됩니다.",
        "All API keys of this account stop working within a second, and all its users are signed out. "
        "Accepted messages are still sent.",
    ),
    "account.enable": Text("중지 해제", "Enable account"),
    "limits.title": Text("한도", "Limits"),
    "limits.about": Text(
        "발송을 접수할 때 셉니다. 취소하거나 실패해도 돌려주지 않으며, 예산만 실제 요금으로 고칩니다.",
        "Counted when a send is accepted, and not given back if it is cancelled or fails; only the budget is "
        "corrected to what was charged.",
    ),
    "limits.name": Text("한도", "Limit"),
    "limits.value": Text("설정", "Value"),
    "limits.used": Text("사용", "Used"),
    "limits.resets": Text("초기화 시각", "Resets at"),
    "limits.change": Text("한도 바꾸기", "Change limits"),
    "limits.save": Text("한도 저장", "Save limits"),
    "limits.help": Text(
        "비우거나 0이면 제한하지 않습니다. 중복 방지 시간을 비우면 설정값을 따릅니다.",
        "Empty or 0 means no limit. If the minutes of the duplicate guard are empty, the setting holds.",
    ),
    "limits.receivers_per_second": Text("초당 수신자", "Receivers per second"),
    "limits.receivers_per_day": Text("하루 수신자", "Receivers per day"),
    "limits.receivers_per_month": Text("한 달 수신자", "Receivers per month"),
    "limits.budget_per_month": Text("한 달 예산(원)", "Budget per month (won)"),
    "limits.duplicate_minutes": Text("중복 방지 시간(분)", "Duplicate guard (minutes)"),
    "limits.near": Text(
        "{name} 한도의 {percent}%를 사용했습니다. {at}에 초기화됩니다.",
        "{percent} % of the limit is used: {name}. It resets at {at}.",
    ),
    "codes.title": Text("재판매사 코드", "Reseller codes"),
    "codes.about": Text(
        "이 계정의 메시지를 어느 재판매사가 보내는지 중계사에 알립니다.",
        "They tell the relay which reseller sends this account's messages.",
    ),
    "codes.none": Text("발송 경로의 설정을 따름", "As the carrier's setting says"),
    "codes.change": Text("코드 바꾸기", "Change codes"),
    "codes.save": Text("코드 저장", "Save codes"),
    "codes.help": Text(
        "비우면 발송 경로의 설정을 따릅니다. 5초 안에 적용됩니다.",
        "If one is empty, the carrier's setting holds. They hold within five seconds.",
    ),
    "codes.origin_code": Text("식별 코드(문자, 숫자 9자리)", "Origin code (texts, nine digits)"),
    "codes.reseller_code": Text("리셀러 코드(브랜드 메시지)", "Reseller code (brand messages)"),
    "account.users": Text("사용자", "Users"),
    "key.name": Text("용도", "Purpose"),
    "key.scopes": Text("허용 작업", "Permissions"),
    "key.scope.send": Text("발송과 취소", "Send and cancel"),
    "key.scope.read": Text("조회", "Read"),
    "key.scope.privacy": Text(
        "전화번호별 개인정보 내보내기와 파기", "Export and erase what is stored about a number"
    ),
    "key.scope.manage": Text("발신 프로필과 템플릿 관리", "Manage sender profiles and templates"),
    "key.allow_help": Text(
        "한 줄에 하나씩 입력하세요. 예: 192.0.2.7 또는 192.0.2.0/24. 비우면 제한하지 않습니다.",
        "One per line, such as 192.0.2.7 or 192.0.2.0/24. Leave empty for no restriction.",
    ),
    "key.anywhere": Text("제한 없음", "No restriction"),
    "key.rate": Text("초당 요청 수", "Requests per second"),
    "key.rate_help": Text("0이면 제한하지 않습니다.", "0 means no limit."),
    "key.expires": Text("만료일", "Valid until"),
    "key.expires_help": Text(
        "이날까지 쓸 수 있습니다. 비우면 만료되지 않습니다.",
        "The key works until the end of this day. Leave empty for no expiry.",
    ),
    "key.unused": Text("사용 기록 없음", "Not used yet"),
    "key.rate_change": Text("속도 변경", "Change rate"),
    "key.rate_one": Text("{id}번 키 속도 변경", "Change rate of key {id}"),
    "key.rate_save": Text("속도 저장", "Save rate"),
    "key.never": Text("만료 없음", "No expiry"),
    "key.made": Text("발급 시각", "Created at"),
    "key.live": Text("사용 중", "Active"),
    "key.revoked": Text("폐기됨", "Revoked"),
    "key.expired": Text("만료됨", "Expired"),
    "key.none": Text(
        "아직 API 키가 없습니다. 프로그램으로 보내려면 키를 발급하세요.",
        "There are no API keys yet. Programs that send need one.",
    ),
    "key.new": Text("새 API 키 발급", "New API key"),
    "key.kind": Text("어떤 프로그램이 쓰는 키", "For which programs"),
    "key.kind_own": Text("파발의 API로 만든 프로그램", "Programs for our own API"),
    "key.kind_of": Text("{relay}용 프로그램", "Programs for {relay}"),
    "key.compat": Text("다른 중계사의 프로그램이면", "For programs of another relay"),
    "key.compat_help": Text(
        "프로그램이 이미 쓰는 API 키(NHN Cloud는 appKey)와 비밀 값을 넣으면 프로그램은 그대로 두고 주소만 바꾸면 "
        "됩니다. 비우면 새로 만듭니다.",
        "With the API key (at NHN Cloud: the app key) and secret that the program has, only its address changes. "
        "What is left empty is made up.",
    ),
    "key.public_id": Text("그 프로그램의 API 키", "API key of the program"),
    "key.secret": Text("그 프로그램의 비밀 값", "Secret of the program"),
    "key.hidden_id": Text("ID가 비밀 값인 키", "its id is the secret"),
    "key.create": Text("API 키 발급", "Create API key"),
    "key.replace": Text("교체", "Replace"),
    "key.replace_one": Text("{id}번 키 교체", "Replace key {id}"),
    "key.replace_what": Text(
        "같은 권한의 새 키를 발급합니다. 이전 키는 폐기할 때까지 쓸 수 있습니다.",
        "Creates a key that may do the same. The old one works until you revoke it.",
    ),
    "key.replaced": Text(
        "{id}번 키와 같은 권한입니다. 새 키를 넣은 뒤 {id}번 키를 폐기하세요. 그때까지 둘 다 쓸 수 있습니다.",
        "It may do the same as key {id}. Revoke key {id} once the new one is in use: until then, both work.",
    ),
    "key.revoke": Text("폐기", "Revoke"),
    "key.revoke_one": Text("{id}번 키 폐기", "Revoke key {id}"),
    "key.revoke_what": Text(
        "이 키를 쓰는 프로그램의 요청이 1초 안에 거부됩니다. 되돌릴 수 없습니다.",
        "Requests made with this key are refused within a second. This cannot be undone.",
    ),
    "key.revoke_do": Text("폐기", "Revoke"),
    "user.role": Text("역할", "Role"),
    "user.none": Text(
        "아직 사용자가 없습니다. 만들거나 초대하세요.", "There are no users yet. Create or invite one."
    ),
    "user.new": Text("새 사용자 만들기", "New user"),
    "user.create": Text("사용자 만들기", "Create user"),
    "user.enable": Text("중지 해제", "Enable"),
    "user.password": Text("비밀번호 재설정", "Reset password"),
    "user.of": Text("{name}: {what}", "{name}: {what}"),
    "user.disable_what": Text(
        "바로 로그아웃되고 다시 로그인할 수 없습니다.", "The user is signed out at once and cannot sign in again."
    ),
    "user.password_what": Text(
        "현재 비밀번호는 쓸 수 없게 되고 바로 로그아웃됩니다.",
        "The current password stops working, and the user is signed out at once.",
    ),
    "user.password_do": Text("새 비밀번호 발급", "Create new password"),
    "secret.key": Text("새 API 키", "New API key"),
    "secret.password": Text("{name} 사용자의 비밀번호", "Password of {name}"),
    "secret.once": Text(
        "지금 한 번만 표시합니다. 안전한 곳에 보관하세요.", "This is shown only once. Store it in a safe place."
    ),
    "secret.use_key": Text("모든 요청의 헤더에 다음과 같이 넣으세요:", "Send it in a header of every request:"),
    "secret.use_compat": Text(
        "프로그램에 다음 API 키(NHN Cloud는 appKey)와 위의 비밀 값을 넣으세요:",
        "Give the program this API key (at NHN Cloud: app key) and the secret above:",
    ),
    "secret.use_password": Text(
        "로그인할 때 다음 사용자 이름과 함께 입력하세요:", "Sign in with it and this user name:"
    ),
    "secret.back": Text("{account} 계정으로", "Back to {account}"),
}
