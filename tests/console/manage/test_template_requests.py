"""Templates are saved and sent to review by one button."""

from pabal.console.manage.template_form import FIELDS
from pabal.domain.users.user import Role
from pabal.store.kakao import templates as kept_templates
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import TEMPLATE_CATEGORY, register_channel

NEW = "/console/templates/new"


def form(sender_key: str, csrf: str, **changes: str) -> dict[str, str]:
    """Return the fields of the form with the button that saves and requests."""
    fields = dict.fromkeys((field for field in FIELDS if field != "securityTemplate"), "")
    given = {
        "csrf": csrf,
        "senderKey": sender_key,
        "templateCode": "T1",
        "name": "배송 안내",
        "content": "출발했습니다.",
        "category": TEMPLATE_CATEGORY,
        "messageType": "basic",
        "emphasisType": "none",
        "then": "request",
    }
    return {**fields, **given, **changes}


async def test_template_is_saved_and_sent_to_review_by_one_button(env: Environment) -> None:
    sender_key = await register_channel(await env.caller())
    browser = await signed_in_browser(env, Role.SENDER)
    csrf = await browser.csrf()

    bad = await browser.post(NEW, form(sender_key, csrf, content=""))
    made = await browser.post(NEW, form(sender_key, csrf))
    edited = await browser.post(f"{made.location}/edit", form(sender_key, csrf, content="도착했습니다."))

    assert (bad.status, made.status, edited.status) == (400, 303, 303)
    (stored,) = await env.store.read(kept_templates.list_all)
    assert (stored.status.code, stored.latest.content) == ("approved", "도착했습니다.")
    noted = [each.action for each in await env.store.read(latest_entries, 1, 4)]
    assert noted == ["template.request", "template.update", "template.request", "template.create"]
