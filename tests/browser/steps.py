"""Steps of flows through a network that loses a form, then the answer to it; each is done once."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, Way, check_page
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
READ_TARGET = """(button) => {
  const own = button.getAttribute("hx-post") ?? button.getAttribute("formaction");
  const url = new URL(own ?? button.form.getAttribute("action"), document.baseURI);
  return url.pathname + url.search;
}"""
"""Where a button posts to."""
REACHES_SERVICE = """() => {
  const icon = document.querySelector("link[rel=icon]").href;
  return navigator.onLine && fetch(icon, { cache: "no-store" }).then((answer) => answer.ok, () => false);
}"""

SUBMIT = "button:not([type=button])"
"""The button of a form that sends it, not one that opens a calendar or says no."""

Behind = tuple[BrowserEnvironment, FailingNetwork]
"""A service, and the network that its browsers are behind."""


class Case(NamedTuple):
    """A user's page behind a network that can fail, and the words that tell its data apart from that of others."""

    env: BrowserEnvironment
    network: FailingNetwork
    page: Page
    way: Way

    @property
    def word(self) -> str:
        return self.way.word

    @property
    def digits(self) -> str:
        return self.way.digits


class Step(NamedTuple):
    """A form that is filled in, and what is seen when it was done."""

    action: str
    """What the audit log says of it."""
    button: Locator
    done: Locator
    risk: str = "change"
    times: Callable[[], int] | None = None
    """How often it was done, where the audit log does not say."""
    is_download: bool = False
    """Whether it answers with a file: each time that it is asked for one."""


class Flow(NamedTuple):
    """Steps that belong together, and who takes them."""

    name: str
    steps: Callable[[Case], Iterator[Step]]
    role: Role = Role.OWNER


def run(flow: Flow, case: Case) -> None:
    """Take every step of a flow through both failures; the first one also without any connection."""
    for number, step in enumerate(flow.steps(case)):
        count = step.times or partial(case.env.count_actions, step.action)
        expect(step.button, step.action).to_be_visible()  # the page that has it was opened
        expect(case.page.locator("#busy")).to_be_hidden()
        typed = case.page.evaluate(READ_FIELDS)
        before = count()
        if not number:
            _try_offline(case, step)
        target = lose_request(case, step.button, step.risk)
        if not number:
            check_page(case.page, f"lost-{flow.name}")
        assert count() == before, f"{step.action}: done without a request"
        lose_answer(case, target, step.risk)
        assert case.page.evaluate(READ_FIELDS) == typed, f"{step.action}: what was typed is lost"
        assert count() == before + 1, f"{step.action}: not done"

        if step.is_download:
            with case.page.expect_download():
                try_again(case)
        else:
            try_again(case)

        expect(step.done, step.action).to_be_visible()
        expect(case.page.locator("#failed")).to_be_hidden()
        expect(case.page.locator("#busy")).to_be_hidden()  # no page is being opened
        assert count() == before + (2 if step.is_download else 1), f"{step.action}: done twice"


def press_through_failures(case: Case, button: Locator, risk: str = "change") -> None:
    """Press a button whose request is lost, then its answer, and try again."""
    target = lose_request(case, button, risk)
    lose_answer(case, target, risk)
    try_again(case)


def lose_request(case: Case, button: Locator, risk: str) -> str:
    """Press a button, lose what it posts, and return where it posts to."""
    target: str = button.evaluate(READ_TARGET)
    with case.network.losing(Loss.REQUEST) as lost:
        button.click()
        lost.wait_for(target)
        expect(case.page.locator("#failed")).to_contain_text(TOLD[risk][case.way.language])
    return target


def lose_answer(case: Case, target: str, risk: str) -> None:
    """Try again, and lose the answer."""
    with case.network.losing(Loss.ANSWER) as lost:
        try_again(case)
        lost.wait_for(target)
        expect(case.page.locator("#busy")).to_be_hidden()
        expect(case.page.locator("#failed")).to_contain_text(TOLD[risk][case.way.language])


def try_again(case: Case) -> None:
    case.page.locator("#failed button").click()


def _try_offline(case: Case, step: Step) -> None:
    case.page.context.set_offline(True)
    step.button.click()
    expect(case.page.locator("#failed")).to_contain_text(OFFLINE[case.way.language])
    case.page.context.set_offline(False)
    case.page.wait_for_function(REACHES_SERVICE)
