"""The tabs of the operators' pages, with how many things wait behind each."""

from starlette.responses import Response

from pabal.console.operate.waiting.reviews import SHOWN_REVIEWS
from pabal.console.shell.page_request import PageRequest
from pabal.service.access.accounts import sender_numbers
from pabal.service.relay import lookup
from pabal.service.webhooks import manage

TABS_PATH = "/console/operate/tabs"


async def show_tabs(request: PageRequest) -> Response:
    """Answer with the tabs, for the page that has been opened: what counts takes no time of its own."""
    reviews = len(await lookup.list_reviews(request.context, 0, SHOWN_REVIEWS + 1))
    counts = {
        "reviews": f"{SHOWN_REVIEWS}+" if reviews > SHOWN_REVIEWS else reviews,
        "numbers": len(await sender_numbers.list_pending(request.context)),
        "webhooks": len(await manage.list_stopped(request.context)),
    }
    return request.render("operate/tabs.html", here=request.field("here"), counts=counts)
