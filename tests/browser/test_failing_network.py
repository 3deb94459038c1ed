"""The network fails in the middle of every flow: it is told, what was typed stays, and all is done once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from pabal.domain.user import Role
from tests.browser import flows_of_accounts as accounts
from tests.browser import flows_of_sending as sending
from tests.browser.steps import Behind, Case, Flow, run
from tests.fixtures.browser import BrowserEnvironment
from tests.fixtures.failing_network import failing_network
from tests.fixtures.live import serving

pytestmark = pytest.mark.slow

FLOWS = (
    Flow("address-book", sending.keep_address_book),
    Flow("opt-outs", sending.refuse_advertising),
    Flow("texts", sending.save_texts),
    Flow("message", sending.send_message),
    Flow("campaign", sending.send_campaign),
    Flow("group", sending.send_to_group),
    Flow("schedule", sending.change_schedule),
    Flow("resend", sending.resend_failed),
    Flow("template", sending.write_template),
    Flow("team", accounts.keep_team),
    Flow("join", accounts.join_team),
    Flow("approval", accounts.approve_large_send),
    Flow("keys", accounts.keep_keys),
    Flow("own-user", accounts.keep_own_user),
    Flow("sessions", accounts.end_sessions),
    Flow("numbers", accounts.keep_numbers),
    Flow("profile", accounts.register_profile),
    Flow("webhooks", accounts.keep_webhooks),
    Flow("privacy", accounts.erase_number),
    Flow("accounts", accounts.keep_accounts, Role.OPERATOR),
    Flow("reviews", accounts.review_templates, Role.OPERATOR),
)
WAYS = (("ko", "desktop"), ("en", "phone"), ("en", "desktop"), ("ko", "phone"))
QUICK_WAYS = 2
"""Of these, each flow has one in the tests of every change, by turns."""


@pytest.fixture(scope="module")
def network(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    """A service, and the network between it and its browsers."""
    with (
        serving(tmp_path_factory.mktemp("network") / "data", key_rate=0) as live,
        failing_network(live.base_url) as found,
    ):
        yield BrowserEnvironment(live, browser, found.base_url), found


@pytest.mark.parametrize(
    ("flow", "language", "screen"),
    [
        pytest.param(
            flow,
            *way,
            id="-".join((flow.name, *way)),
            marks=() if place == number % QUICK_WAYS else pytest.mark.torture,
        )
        for number, flow in enumerate(FLOWS)
        for place, way in enumerate(WAYS)
    ],
)
def test_flow_goes_on_after_lost_requests_and_answers(
    network: Behind, flow: Flow, language: str, screen: str
) -> None:
    env, failing = network
    with env.signed_in(flow.role, language=language, screen=screen, expects_failures=True) as page:
        run(flow, Case(env, failing, page, language, screen))
