"""The network fails in the middle of every flow: it is told, what was typed stays, and all is done once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from pabal.domain.people.user import Role
from tests.browser import flows_of_accounts as accounts
from tests.browser import flows_of_operators as operators
from tests.browser import flows_of_sending as sending
from tests.browser.steps import Behind, Case, Flow, lose_answer, lose_request, run, try_again
from tests.fixtures.browser import USUAL_WAY, WAYS, BrowserEnvironment, Way
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
    Flow("approval", accounts.decide_large_sends),
    Flow("keys", accounts.keep_keys),
    Flow("own-user", accounts.keep_own_user),
    Flow("sessions", accounts.end_sessions),
    Flow("numbers", accounts.keep_numbers),
    Flow("profile", accounts.register_profile),
    Flow("webhooks", accounts.keep_webhooks),
    Flow("privacy", accounts.take_and_erase_number),
    Flow("accounts", operators.keep_accounts, Role.OPERATOR),
    Flow("reviews", operators.review_templates, Role.OPERATOR),
    Flow("pending-numbers", operators.decide_numbers, Role.OPERATOR),
    Flow("paused-webhooks", operators.resume_webhook, Role.OPERATOR),
)


@pytest.fixture(scope="module")
def network(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    """A service, and the network between it and its browsers."""
    folder = tmp_path_factory.mktemp("network")
    with (
        serving(folder / "data", key_rate=0, owner_keys="true") as live,
        failing_network(live.base_url) as found,
    ):
        yield BrowserEnvironment(live, browser, found.base_url), found


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("flow", "way"),
    [pytest.param(flow, way, id=f"{flow.name}-{way.word}") for flow in FLOWS for way in WAYS],
)
def test_flow_goes_on_after_lost_requests_and_answers(network: Behind, flow: Flow, way: Way) -> None:
    env, failing = network
    with env.signed_in(flow.role, way=way, expects_failures=True) as page:
        run(flow, Case(env, failing, page, way))


@pytest.mark.torture
def test_poll_leaves_the_page_while_a_form_is_to_be_tried_again(network: Behind) -> None:
    env, failing = network
    with env.signed_in(expects_failures=True) as page:
        case = Case(env, failing, page, USUAL_WAY)
        accounts.set_threshold(case, "2")
        accounts.submit_large_send(case, "다시 시도")
        target = lose_request(case, page.locator("form[action$='/withdraw'] button"), "change")
        lose_answer(case, target, "change")
        with page.expect_response(lambda answer: answer.headers.get("hx-refresh") == "true"):
            pass
        with page.expect_response(lambda answer: answer.headers.get("hx-refresh") == "true"):
            pass  # the page polls again, so it has dealt with the answer before
        expect(page.locator("#failed")).to_be_visible()

        try_again(case)

        expect(page.locator("form[action$='/send']")).to_be_visible()
        accounts.set_threshold(case, "")
