"""The page of result codes: what each means, and what to do."""

from starlette.responses import Response

from pabal.console.history.advice import ADVICE
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code
from pabal.domain.sends.message import Outcome

CODES_PATH = "/console/codes"


async def show_codes(request: PageRequest) -> Response:
    """Show the outcomes of messages and the results of API calls."""
    return request.render(
        "history/codes.html",
        outcomes=[(each, ADVICE[each]) for each in Outcome],
        results=[each for each in Code if each is not Code.SUCCESS],
    )
