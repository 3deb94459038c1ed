"""A sender profile with templates, in the fake NHN Cloud and in our store."""

from pabal.domain.kakao.profile import AuthStatus
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.nhncloud.state import Profile

SENDER, SENDER_KEY = "0212345678", "5e" * 20
CHANNEL, CATEGORY, PHONE = "@shop", "00100010001", "01099990000"
TEMPLATE_CODE = "T1"
BRAND_TEMPLATE_CODE = "brand"
TEMPLATE = "배송이 시작되었습니다. #{name}님"


def add_to_relay(relay: FakeNhnCloud) -> None:
    """Add the channel with template T1, and the sender number of texts, to the server."""
    relay.add_number(SENDER)
    relay.profiles[SENDER_KEY] = Profile(CHANNEL, SENDER_KEY, PHONE, CATEGORY, 0)
    relay.add_template(SENDER_KEY, TEMPLATE_CODE, TEMPLATE)
    relay.brand_templates[SENDER_KEY, BRAND_TEMPLATE_CODE] = "#{name}님, 새 상품이 나왔습니다"


def add_to_store(
    tx: Tx,
    account: str,
    now: int,
    title: str | None = None,
    sender_key: str = SENDER_KEY,
    template: tuple[str, str] = (TEMPLATE_CODE, TEMPLATE),
) -> None:
    """Add the channel and a template (code, content) to an account; with a title, also T2, which shows it."""
    row = tx.fetch_one("select id from accounts where name = ?", (account,))
    assert row is not None
    account_id = int(row[0])
    profile_id = profiles.add(tx, account_id, CHANNEL, CATEGORY, PHONE, now)
    profiles.approve(tx, profile_id, sender_key, now)
    assert profiles.get_by_sender_key(tx, account_id, sender_key).status is AuthStatus.APPROVAL  # type: ignore[union-attr]
    code, content = template
    contents = {code: TemplateContent("배송", content, "006003")}
    if title:
        contents["T2"] = contents[code]._replace(emphasis_type="text", emphasis_title=title)
    for template_code, template_content in contents.items():
        template_id = templates.add(tx, account_id, profile_id, template_code, template_content, None, now)
        templates.set_status(tx, template_id, TemplateStatus.APPROVED, None, now)
