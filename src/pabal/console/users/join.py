"""The page that an invitation leads to: a new user chooses a name, and how to sign in."""

from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.shell.page_request import SIGN_IN, PageRequest
from pabal.console.users.sign_in import callback_url, leave
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.people import user
from pabal.openid.flow import Purpose
from pabal.service.access.users import provider_sign_in, team

NOT_REPEATED = Text("두 비밀번호가 서로 다릅니다.", "The two passwords differ.")


async def show_join(request: PageRequest) -> Response:
    """Show the form of an invitation.

    Raises Refused(NOT_FOUND) without a token, INVALID_STATE for an invitation that cannot be accepted.
    """
    return await render_join(request, request.field("token"), request.field("name"))


async def join(request: PageRequest) -> Response:
    """Create the user and lead to the sign-in page.

    Raises Refused as `show_join` does; NOT_FOUND where passwords are not used.
    """
    if request.context.policy.break_glass_operator:
        raise Refused(Code.NOT_FOUND)
    token, typed = request.field("token"), request.fields
    await team.find_invite(request.context, token)  # first, so that nobody else has passwords hashed
    try:
        full_name = user.parse_full_name(request.field("full_name"))
        name, password = read_new_user(request.field("name"), typed.get("password", ""), typed.get("repeated", ""))
        password_hash = await request.hash_password(password)
        stored = await team.accept_invite(request.context, token, name, password_hash, full_name)
    except Refused as refused:
        if refused.code is Code.INVALID_STATE:
            raise
        return await render_join(request, token, request.field("name"), refused)
    return request.redirect(f"{SIGN_IN}?{urlencode({'name': stored, 'joined': '1'})}")


async def begin_join(request: PageRequest) -> Response:
    """Send the browser to the OpenID Connect provider, to come back as the user who was invited.

    Raises Refused as `show_join` does, and NOT_FOUND without a provider.
    """
    token, typed = request.field("token"), request.field("name")
    await team.find_invite(request.context, token)
    try:
        name = await team.check_new_name(request.context, typed)
        redirect = await provider_sign_in.begin(
            request.context, Purpose.JOIN, callback_url(request), invite=token, name=name
        )
    except Refused as refused:
        if refused.code is Code.NOT_FOUND:
            raise
        told = request.describe(refused) if refused.code is Code.SERVICE_UNAVAILABLE else ""
        return await render_join(request, token, typed, refused, told=told)
    return leave(request, redirect)


def read_new_user(spelling: str, password: str, repeated: str) -> tuple[str, str]:
    """Return the name and the password of a new user.

    Raises Refused with every problem.
    """
    problems: list[Problem] = []
    name = ""
    try:
        name = user.parse_name(spelling)
    except Refused as refused:
        problems += refused.problems
    try:
        check_new_password(name, password, repeated)
    except Refused as refused:
        problems += refused.problems
    if problems:
        raise Refused.from_problems(problems)
    return name, password


def check_new_password(name: str, password: str, repeated: str) -> None:
    """Raise Refused(INVALID_PARAMETER) for a password that is not allowed, or was not typed twice."""
    user.validate_password(password, name)
    if password != repeated:
        raise Refused(Code.INVALID_PARAMETER, "repeated", NOT_REPEATED)


async def render_join(
    request: PageRequest,
    token: str,
    name: str,
    refused: Refused | None = None,
    *,
    told: str = "",
) -> Response:
    """Answer with the form of an invitation, and what is wrong: at its fields, or `told` above them.

    Raises Refused as `show_join` does.
    """
    if not token:
        raise Refused(Code.NOT_FOUND)
    invite = await team.find_invite(request.context, token)
    return request.render(
        "users/join.html",
        refused,
        invite=invite,
        token=token,
        name=name,
        full_name=request.field("full_name"),
        told=told,
        errors={} if told else request.errors_by_field(refused),
        least=user.MIN_PASSWORD_CHARACTERS,
    )
