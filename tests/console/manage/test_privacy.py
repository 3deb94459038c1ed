"""The page of one number's personal data: owners see, export and erase what their account has stored."""

import json

import pytest

from pabal.domain.people.user import Role
from pabal.service.upkeep import privacy
from tests.fixtures.audit import audited
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.console_upload import upload_file
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, list_messages, sms_body

NUMBER, DIGITS, OTHER = "010-7777-0001", "01077770001", "010-7777-0002"
SECRET = "비밀이야기"
LATER = "2026-11-16 15:00"
PATH = "/console/privacy"
CONSEQUENCES = (
    "번호, 내용, 변수 값",
    "취소한 뒤",
    "발송 중인",
    "다른 수신자와",
    "통계는 남습니다",
    "백업은 포함되지",
)


async def send_some(env: Environment) -> None:
    """Send the number one message, which arrives, and one that waits."""
    call = await env.caller()
    await call_ok(call, "message/sendSMS", sms_body(NUMBER, content=SECRET))
    await env.wait(20)
    await call_ok(call, "message/sendSMS", sms_body(NUMBER, OTHER, content="공지", sendDate=LATER))


def exported(page: PageResponse) -> dict[str, object]:
    assert page.status == 200, page
    found: dict[str, object] = json.loads(page.body)
    return found


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
async def test_number_is_looked_up_exported_and_erased(env: Environment, role: Role) -> None:
    await send_some(env)
    browser = await signed_in_browser(env, role)
    await upload_file(browser, f"전화번호,이름\n{NUMBER},{SECRET}\n{OTHER},이몽룡\n")

    found = await browser.submit(PATH, number=f" {NUMBER} ")
    file = await browser.submit(f"{PATH}/export", number=DIGITS)
    erased = await browser.submit(f"{PATH}/erase", number=DIGITS)
    left = exported(await browser.submit(f"{PATH}/export", number=NUMBER))

    for name, count in (("메시지", 2), ("가상 휴대폰의 메시지", 1), ("업로드한 수신자 파일의 행", 1)):
        assert f"<dt>{name}</dt>\n    <dd>{count}</dd>" in found.text
    for text in CONSEQUENCES:
        assert text in found.text
    document = exported(file)
    assert file.headers["content-disposition"] == ('attachment; filename="pabal-personal-data-2026-11-15.json"')
    assert [each["content"] for each in document["messages"]] == [SECRET, "공지"]  # type: ignore[attr-defined]
    assert (document["account"], document["phoneNumber"]) == ("acme", NUMBER)
    assert "메시지 2건을 지웠습니다. 그중 1건은" in erased.text
    assert "백업은 포함되지 않습니다" in erased.text
    assert [left[name] for name in ("messages", "simulatedPhone", "campaignRows")] == [[], [], []]
    (kept,) = await list_messages(await env.caller(), receivers=OTHER)
    assert kept["content"] == "공지"
    assert [each for each in await audited(env, 100) if each[0].startswith("privacy.")] == [
        (privacy.EXPORT_ACTION, ""),
        (privacy.ERASE_ACTION, ""),
        (privacy.EXPORT_ACTION, ""),
    ]


@pytest.mark.parametrize("action", ["", "/export", "/erase"])
async def test_wrong_number_is_told_at_its_field_and_changes_nothing(
    env: Environment, browser: Browser, action: str
) -> None:
    before = await audited(env, 100)

    shown = [await browser.submit(f"{PATH}{action}", number=each) for each in ("", "12", "02-123-4567")]

    assert [each.status for each in shown] == [400] * 3
    assert all('id="wrong-number"' in each.text for each in shown)
    assert 'value="02-123-4567"' in shown[2].text
    assert await audited(env, 100) == before


async def test_number_is_in_no_address_of_the_page(env: Environment) -> None:
    """What is in an address is also in the log of a proxy and in the history of a browser."""
    await send_some(env)
    browser: Browser = await signed_in_browser(env)

    by_address = await browser.get(f"{PATH}?number={NUMBER}")

    assert "<dt>" not in by_address.text
    assert NUMBER not in by_address.text.replace(f"number={NUMBER}", "")


async def test_many_messages_are_exported_in_batches(env: Environment, call: Caller) -> None:
    for _ in range(3):
        await call_ok(call, "message/sendSMS", sms_body(*[NUMBER] * 100))
    owner = await signed_in_browser(env)

    document = exported(await owner.submit(f"{PATH}/export", number=NUMBER))

    ids = {each["messageId"] for each in document["messages"]}  # type: ignore[attr-defined]
    assert len(ids) == 300 > privacy.BATCH
