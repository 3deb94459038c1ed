"""Mails to users: each event once to each user who wants it, bundled, and tried again for a day."""

import asyncio

import pytest

from pabal.domain.events.notice import NoticeKind
from pabal.domain.kakao.template import TemplateStatus
from pabal.domain.people.user import Role
from pabal.domain.sends.account import AccountLimits
from pabal.mail.mailer import Mail, MailResult
from pabal.service.sending.campaigns import approvals
from pabal.service.setup_cache import MAX_AGE_S
from pabal.store.accounts import account_limits
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.events import mails, notices
from pabal.store.users import users
from tests.fixtures.campaigns import checked_campaign, get_campaign, phones, start_campaign
from tests.fixtures.console import make_user
from tests.fixtures.mailers import (
    ADDRESS,
    DEFERRED,
    IN_DOUBT,
    MAIL_SETTINGS,
    REFUSED,
    SENT,
    UNAVAILABLE,
    URL,
    RecordingMailer,
    confirm_directly,
)
from tests.fixtures.service import Start, account_id_of
from tests.fixtures.virtual import NOON, Environment
from tests.fixtures.web import approve_template, call_ok, register_channel, sms_body, template_body, world_at_noon

SOON_S = 30.0
PAUSE_S = 600.0


class SlowMailer(RecordingMailer):
    """Takes its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self.done = 0

    async def send(self, mail: Mail) -> MailResult:
        result = await super().send(mail)
        await asyncio.sleep(self._seconds)
        self.done += 1
        return result


def tell(tx: Tx, account_id: int, number: int, name: str = "") -> None:
    """Have users told that a template was approved."""
    said = {"name": name or f"이름 {number}", "code": f"T{number}", "status": TemplateStatus.APPROVED.code}
    notices.add(tx, bytes([number]) * 16, NoticeKind.TEMPLATE, account_id, said, NOON)


async def make_reader(env: Environment, role: Role = Role.OWNER, account: str = "acme", **options: str) -> int:
    """Create a user with a confirmed address; return the account's id."""
    await env.caller(account)
    name = await make_user(env, role, account)
    await env.store.write(confirm_directly, name, **options)
    return await account_id_of(env, account)


async def test_reviewed_template_finished_campaign_and_near_limit_are_told(start: Start) -> None:
    mailer = RecordingMailer()
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    account_id = await make_reader(env, kinds="template campaign quota")
    call = await env.caller()
    await approve_template(call, await register_channel(call), name="주문 확인")
    await start_campaign(env, await checked_campaign(env, phones(2)))
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_day=100))
    await env.wait(MAX_AGE_S)
    await call_ok(call, "message/sendSMS", sms_body(*["010-1234-5678"] * 80))
    await env.wait(300)

    assert sorted(mailer.subjects) == [
        "[파발] 캠페인 종료: 봄 행사 (완료 2, 실패 0, 취소 0, 대체 발송 0)",
        "[파발] 템플릿 승인: 주문 확인 (T1)",
        "[파발] 한도 70% 사용: 하루 수신자 82 / 100",
    ]
    assert {each.address for each in mailer.tried} == {ADDRESS}
    assert all(URL in each.text and "010" not in each.text for each in mailer.tried)
    assert env.metric_value("pabal_mails_total", result="sent") == 3


async def test_rejected_template_is_told_in_the_language_of_its_reader(start: Start) -> None:
    mailer = RecordingMailer()
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    await make_reader(env, language="en")
    call = await env.caller()
    sender_key = await register_channel(call)
    await call_ok(call, "template/create", template_body(sender_key, name="반려 문구"))
    await call_ok(call, "template/request", {"senderKey": sender_key, "templateCode": "T1"})
    await env.wait(SOON_S)

    assert mailer.subjects == ["[Pabal] Template Rejected: 반려 문구 (T1)"]
    assert "Choose what you are told" in mailer.tried[0].text


async def test_each_user_is_told_of_the_own_account_and_operators_of_all(start: Start) -> None:
    mailer = RecordingMailer()
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    acme = await make_reader(env, address="owner@example.com")
    other = await make_reader(env, account="other", address="other@example.com")
    await make_reader(env, Role.OPERATOR, address="operator@example.com", kinds="template")
    await make_reader(env, Role.VIEWER, address="viewer@example.com")
    await env.store.write(tell, acme, 1)
    await env.store.write(tell, other, 2)
    await env.wait(SOON_S)

    by_address = {each.address: each.text for each in mailer.tried}
    assert set(by_address) == {"owner@example.com", "other@example.com", "operator@example.com"}
    assert "이름 1" in by_address["owner@example.com"]
    assert "이름 2" not in by_address["owner@example.com"]
    assert "이름 1 (T1) [acme]" in by_address["operator@example.com"]
    assert "이름 2 (T2) [other]" in by_address["operator@example.com"]


async def test_send_to_approve_is_told_to_those_who_did_not_prepare_it(start: Start) -> None:
    mailer = RecordingMailer()
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    for role in (Role.OWNER, Role.SENDER, Role.VIEWER):
        await make_reader(env, role, address=f"{role.code}@example.com")
    campaign = await get_campaign(env, await checked_campaign(env, phones(3)))
    found = await env.store.read(users.get_by_name, "sender-of-acme")
    assert found
    submitter = found.user
    entry = AuditEntry(NOON, submitter.id, submitter.name, campaign.account_id, "campaign.submit", "")
    assert await approvals.submit(env.service.context, campaign, "여름 행사", None, submitter.id, entry)
    await env.wait(SOON_S)

    assert [each.address for each in mailer.tried] == ["owner@example.com"]
    assert mailer.subjects == ["[파발] 승인 요청: 여름 행사 (3명, 요청한 사람 sender-of-acme)"]
    assert f"{URL}/console/requests/approvals" in mailer.tried[0].text


async def test_storm_of_notices_is_one_mail_and_the_next_one_waits(start: Start) -> None:
    mailer = RecordingMailer()
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    account_id = await make_reader(env)
    for number in range(30):
        await env.store.write(tell, account_id, number)
    await env.wait(SOON_S)
    assert mailer.subjects == ["[파발] 템플릿 검수 결과 30건"]
    assert "이 밖에 10건" in mailer.tried[0].text

    for number in range(30, 33):
        await env.store.write(tell, account_id, number)
        await env.wait(60)
    assert len(mailer.tried) == 1
    await env.wait(PAUSE_S)

    assert mailer.subjects[1:] == ["[파발] 템플릿 검수 결과 3건"]


async def test_mails_wait_for_a_server_that_is_away(start: Start) -> None:
    mailer = RecordingMailer(*[UNAVAILABLE] * 4)
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    account_id = await make_reader(env, address="owner@example.com")
    await make_reader(env, Role.OPERATOR, address="operator@example.com", kinds="template")
    await env.store.write(tell, account_id, 1)
    await env.wait(SOON_S)
    tried = len(mailer.tried)
    server = await env.store.read(mails.get, mailer.name)
    assert (server.error, server.failing_since is None) == ("no connection", False)
    await env.wait(1800)

    assert tried < 4  # the server is tried, not each mail
    assert sorted(each.address for each in mailer.tried[4:]) == ["operator@example.com", "owner@example.com"]
    assert (await env.store.read(mails.get, mailer.name)).failing_since is None


@pytest.mark.parametrize(
    ("results", "tries", "error"),
    [
        ([DEFERRED, DEFERRED, SENT], 3, ""),
        ([REFUSED], 1, REFUSED.detail),
        ([IN_DOUBT, SENT], 2, ""),
        ([IN_DOUBT, IN_DOUBT], 2, mails.UNKNOWN_OUTCOME),
        ([DEFERRED] * 9, None, "it could not be sent within a day"),
    ],
)
async def test_mail_is_repeated_as_its_outcome_allows(
    start: Start, results: list[MailResult], tries: int | None, error: str
) -> None:
    mailer, world = RecordingMailer(*results), world_at_noon()
    env = await start(mailer=mailer, world=world, **MAIL_SETTINGS)
    account_id = await make_reader(env)
    await env.store.write(tell, account_id, 1)
    await env.wait(PAUSE_S)
    assert tries is None or len(mailer.tried) == tries
    failed = await env.store.read(mails.list_failed, 10)
    world.move_clock(24 * 3600)
    await env.wait(30)

    assert len({each.id for each in mailer.tried}) == 1
    assert len(mailer.tried) < 9
    failed = failed or await env.store.read(mails.list_failed, 10)
    assert [each.error for each in failed] == ([error] if error else [])
    assert await env.store.read(mails.count_waiting) == 0


async def test_names_cannot_change_a_mail(start: Start) -> None:
    mailer = RecordingMailer()
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    account_id = await make_reader(env)
    name = "{url}\r\nBcc: x@y.kr\r\n\r\nhttps://evil.example " + "가" * 10_000
    await env.store.write(tell, account_id, 1, name)
    await env.wait(SOON_S)

    (mail,) = mailer.tried
    assert "\n" not in mail.subject
    assert "\r" not in mail.text
    assert "evil.example" in mail.text
    assert "https://evil" not in mail.text
    assert len(mail.text) < 500


async def test_nothing_is_kept_for_later_while_no_mails_are_sent(start: Start) -> None:
    world = world_at_noon()
    env = await start(world=world)
    account_id = await make_reader(env)
    await env.store.write(tell, account_id, 1)
    world.move_clock(25 * 3600)
    await env.wait(70)

    assert not await env.store.read(notices.has_any)
    assert await env.store.read(mails.count_waiting) == 0


async def test_stopping_waits_for_the_mail_in_flight(start: Start) -> None:
    mailer = SlowMailer(5.0)
    env = await start(mailer=mailer, **MAIL_SETTINGS)
    account_id = await make_reader(env)
    await env.store.write(tell, account_id, 1)
    await env.wait(SOON_S - 5)
    while not mailer.tried:
        await env.wait(1)
    await env.service.stop()

    assert mailer.done == 1
