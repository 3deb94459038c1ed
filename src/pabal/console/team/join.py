"""The page that an invitation leads to: a new user chooses a name and a password."""

from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.shell.page_request import SIGN_IN, PageRequest
from pabal.domain import user
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.service.access import passwords, team

NOT_REPEATED = Text("두 비밀번호가 서로 다릅니다.", "The two passwords differ.")


async def show_join(request: PageRequest) -> Response:
    """Show the form of an invitation.

    Raises Refused(NOT_FOUND) without a token, INVALID_STATE for an invitation that cannot be accepted.
    """
    return await _render(request)


async def join(request: PageRequest) -> Response:
    """Create the user and lead to the sign-in page.

    Raises Refused as `show_join` does.
    """
    token, typed = request.field("token"), request.fields
    await team.find_invite(request.context, token)  # first, so that nobody else has passwords hashed
    try:
        name, password = read_new_user(request.field("name"), typed.get("password", ""), typed.get("repeated", ""))
        salt = passwords.new_salt(request.context.world)
        hash = await request.site.password_threads.run(passwords.hash_with_salt, password, salt)
        stored = await team.accept_invite(request.context, token, name, hash)
    except Refused as refused:
        if refused.code is Code.INVALID_STATE:
            raise
        return await _render(request, refused)
    return request.redirect(f"{SIGN_IN}?{urlencode({'name': stored, 'joined': '1'})}")


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


async def _render(request: PageRequest, refused: Refused | None = None) -> Response:
    token = request.field("token")
    if not token:
        raise Refused(Code.NOT_FOUND)
    invite = await team.find_invite(request.context, token)
    return request.render(
        "team/join.html",
        refused.code.http_status if refused else 200,
        invite=invite,
        token=token,
        name=request.field("name"),
        least=user.MIN_PASSWORD_CHARACTERS,
        errors={each.field: each.message(request.locale.language) for each in refused.problems} if refused else {},
    )
