"""Steps of flows through a network that loses a form, then the answer to it; each is done once."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

from pabal.domain.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.failing_network import FailingNetwork, Loss

TOLD = {
    "change": {"ko": "한 번만 처리됩니다", "en": "it is done only once"},
    "send": {"ko": "한 번만 발송됩니다", "en": "it is sent only once"},
    "nothing": {"ko": "아무것도 발송되지 않았습니다", "en": "Nothing was sent"},
}
"""What is said where there is no answer, by what is at risk."""
OFFLINE = {"ko": "아무것도 발송하거나 변경하지 않았고", "en": "Nothing was sent or changed"}
READ_FIELDS = """() => [...document.querySelectorAll("main :is(input:not([type=hidden]), select, textarea)")]
  .map((field) => (["checkbox", "radio"].includes(field.type) ? field.checked : field.value))"""
READ_TARGETS = """(button) => [
  button.getAttribute("formaction"), button.form?.getAttribute("action"), button.form?.getAttribute("hx-post"),
  button.getAttribute("hx-post")]"""
"""Where a button posts to."""

Behind = tuple[BrowserEnvironment, FailingNetwork]
"""A service, and the network that its browsers are behind."""


class Case(NamedTuple):
    """A user's page behind a network that can fail, and the words that tell its data apart from that of others."""

    env: BrowserEnvironment
    network: FailingNetwork
    page: Page
    language: str
    screen: str

    @property
    def word(self) -> str:
        return f"{self.language}-{self.screen}"

    @property
    def digits(self) -> str:
        return f"{['ko', 'en'].index(self.language)}{['desktop', 'phone'].index(self.screen)}"


class Step(NamedTuple):
    """A form that is filled in, and what is seen when it was done."""

    action: str
    """What the audit log says of it."""
    button: Locator
    done: Locator
    risk: str = "change"


class Flow(NamedTuple):
    """Steps that belong together, and who takes them."""

    name: str
    steps: Callable[[Case], Iterator[Step]]
    role: Role = Role.OWNER


def run(flow: Flow, case: Case) -> None:
    """Take every step of a flow through both failures; the first one also without any connection."""
    for number, step in enumerate(flow.steps(case)):
        typed = case.page.evaluate(READ_FIELDS)
        before = case.env.count_actions(step.action)
        if not number:
            _try_offline(case, step)
        lose_request(case, step.button, step.risk)
        if not number:
            check_page(case.page, f"lost-{flow.name}-{case.word}")
        assert case.env.count_actions(step.action) == before, f"{step.action}: done without a request"
        lose_answer(case, step.risk)
        assert case.page.evaluate(READ_FIELDS) == typed, f"{step.action}: what was typed is lost"
        assert case.env.count_actions(step.action) == before + 1, f"{step.action}: not done"

        case.page.locator("#failed button").click()

        expect(step.done, step.action).to_be_visible(timeout=20_000)
        expect(case.page.locator("#failed")).to_be_hidden()
        expect(case.page.locator("#busy")).to_be_hidden()  # no page is being opened
        assert case.env.count_actions(step.action) == before + 1, f"{step.action}: done twice"


def press_through_failures(case: Case, button: Locator, risk: str = "change") -> None:
    """Press a button whose request is lost, then its answer, and try again."""
    lose_request(case, button, risk)
    lose_answer(case, risk)
    case.page.locator("#failed button").click()


def lose_request(case: Case, button: Locator, risk: str) -> None:
    targets = [each for each in button.evaluate(READ_TARGETS) if each]
    with case.network.losing(Loss.REQUEST):
        with case.page.expect_event("requestfailed", lambda request: request.url.endswith(tuple(targets))):
            button.click()
        expect(case.page.locator("#failed")).to_contain_text(TOLD[risk][case.language])


def lose_answer(case: Case, risk: str) -> None:
    """Try again, and lose the answer."""
    with case.network.losing(Loss.ANSWER):
        case.page.locator("#failed button").click()
        expect(case.page.locator("#busy")).to_be_hidden()
        expect(case.page.locator("#failed")).to_contain_text(TOLD[risk][case.language])


def _try_offline(case: Case, step: Step) -> None:
    case.page.context.set_offline(True)
    step.button.click()
    expect(case.page.locator("#failed")).to_contain_text(OFFLINE[case.language])
    case.page.context.set_offline(False)
