"""Composes the text of a mail from what happened, in the language of its user."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.domain.base.codes import Text
from pabal.domain.events.notice import CONFIRMATION, NOTICE_KIND_BY_CODE, NoticeKind
from pabal.domain.kakao.template import TEMPLATE_STATUS_BY_CODE
from pabal.domain.people.user import Role
from pabal.domain.sends.account import LIMIT_BY_CODE
from pabal.mail.mailer import Mail, to_one_line
from pabal.service.context import Context
from pabal.store.events.mails import ClaimedMail
from pabal.webhooks.secrets import UnreadableSecret

PAGES = {
    NoticeKind.APPROVAL: "/console/requests/approvals",
    NoticeKind.TEMPLATE: "/console/templates",
    NoticeKind.CAMPAIGN: "/console/requests",
    NoticeKind.FAILURE: "/console/statistics",
    NoticeKind.CARRIER: "/console",
    NoticeKind.QUOTA: "/console",
}
"""Where each kind is looked at."""
NOTICES_PATH = "/console/me/notices"
CONFIRM_PATH = f"{NOTICES_PATH}/confirm"
MAX_NAME_CHARACTERS = 60
PRODUCT = Text("파발", "Pabal")
_FOOTER = Text(
    "받을 알림과 메일 주소는 여기에서 바꿉니다: {url}",
    "Choose what you are told, and where, at {url}",
)
_MORE = Text("- 이 밖에 {count}건", "- and {count} more")
_SUBJECT_OF_MANY = Text("{label} {count}건", "{label}: {count}")
_CONFIRM_SUBJECT = Text("메일 주소 확인", "Confirm your mail address")
_CONFIRM = Text(
    "파발 콘솔의 사용자 {user}의 알림을 이 주소로 받으려면 24시간 안에 아래 주소를 열어 확인하세요.\n"
    "직접 요청하지 않았다면 이 메일을 지우세요. 확인하기 전에는 다른 메일을 보내지 않습니다.\n\n{url}\n",
    "To have notices for the user {user} of the Pabal console sent to this address, open this link within 24 hours"
    " and confirm it.\nIf you have not asked for that, delete this mail. Before, nothing else is sent here.\n\n"
    "{url}\n",
)
_INVITE_SUBJECT = Text("{account} 계정에 초대합니다", "Invitation to {account}")
_INVITE = Text(
    "{inviter} 님이 파발 콘솔의 {account} 계정에 초대했습니다(역할: {role}).\n"
    "72시간 안에 아래 주소를 열어 가입하세요. 한 번만 쓸 수 있습니다.\n\n{url}\n\n"
    "초대를 받을 이유가 없다면 이 메일을 지우세요.\n",
    "{inviter} invites you to the account {account} of the Pabal console, as {role}.\n"
    "Open this link within 72 hours to join. It works once.\n\n{url}\n\n"
    "If you did not expect an invitation, delete this mail.\n",
)
_TEST_SUBJECT = Text("테스트 메일", "Test mail")
_TEST = Text(
    "파발에서 보낸 테스트 메일입니다. 메일 서버 설정이 올바릅니다.\n",
    "This is a test mail of Pabal: its mail server is set up.\n",
)
_LINES: Mapping[NoticeKind, Text] = {
    NoticeKind.APPROVAL: Text(
        "승인 요청: {name} ({receivers}명, 요청한 사람 {user})",
        "To be approved: {name} ({receivers} receivers, submitted by {user})",
    ),
    NoticeKind.TEMPLATE: Text("템플릿 {status}: {name} ({code})", "Template {status}: {name} ({code})"),
    NoticeKind.CAMPAIGN: Text(
        "캠페인 종료: {name} (완료 {completed}, 실패 {fail}, 취소 {cancel}, 대체 발송 {fallbacks})",
        "Campaign finished: {name} ({completed} delivered, {fail} failed, {cancel} cancelled, {fallbacks} resent)",
    ),
    NoticeKind.FAILURE: Text(
        "실패율 {share}%: {since}부터 종료된 메시지 {ended}건 중 {failed}건 실패",
        "{share} % failed: {failed} of {ended} messages that ended since {since}",
    ),
    NoticeKind.CARRIER: Text("발송 경로 {carrier} {state}: {since}부터", "Carrier {carrier} {state} since {since}"),
    NoticeKind.QUOTA: Text(
        "한도 {share}% 사용: {limit} {used} / {value}", "{share} % of a limit used: {limit} {used} of {value}"
    ),
}
_LABELS: Mapping[str, Mapping[str, Text]] = {
    "state": {"down": Text("장애", "down"), "up": Text("복구", "up again")},
    "status": {code: each.label for code, each in TEMPLATE_STATUS_BY_CODE.items()},
    "limit": {code: each.label for code, each in LIMIT_BY_CODE.items()},
}
"""Our own words for stored values."""


def secret_context(user_id: int) -> str:
    """Return the context in which the token of a user's confirmation is encrypted."""
    return f"mail address of user {user_id}"


def compose_mail(context: Context, claimed: ClaimedMail) -> Mail | None:
    """Return the mail; None where what it says cannot be read any more."""
    url = context.policy.notices.public_url
    if claimed.kind == CONFIRMATION:
        try:
            token = context.secrets.open(claimed.token or b"", secret_context(claimed.user_id)).decode()
        except UnreadableSecret:
            return None
        user = str(claimed.items[0].get("user", "")) if claimed.items else ""
        return _make(claimed, *compose_confirmation(user, f"{url}{CONFIRM_PATH}?token={token}", claimed.language))
    kind = NOTICE_KIND_BY_CODE.get(claimed.kind)
    if kind is None or not claimed.items:
        return None
    return _make(claimed, *compose_notices(kind, claimed.items, claimed.more, claimed.language, url))


def compose_notices(
    kind: NoticeKind, items: Sequence[Mapping[str, Any]], more: int, language: str, url: str
) -> tuple[str, str]:
    """Return subject and text of a mail that names these notices of a kind, and counts further ones."""
    lines = [_spell(kind, each, language) for each in items]
    label, count = kind.label.in_language(language), len(items) + more
    subject = lines[0] if count == 1 else _SUBJECT_OF_MANY.in_language(language).format(label=label, count=count)
    listed = [f"- {line}" for line in lines]
    if more:
        listed.append(_MORE.in_language(language).format(count=more))
    footer = _FOOTER.in_language(language).format(url=f"{url}{NOTICES_PATH}")
    return _with_product(subject, language), "\n".join([*listed, "", f"{url}{PAGES[kind]}", "", footer, ""])


def compose_confirmation(user: str, url: str, language: str) -> tuple[str, str]:
    """Return subject and text of the mail that asks whether an address is right."""
    text = _CONFIRM.in_language(language).format(user=to_one_line(user, MAX_NAME_CHARACTERS), url=url)
    return _with_product(_CONFIRM_SUBJECT.in_language(language), language), text


def compose_invitation(inviter: str, account: str, role: Role, url: str, language: str) -> tuple[str, str]:
    """Return subject and text of the mail that invites somebody to an account."""
    named, within = to_one_line(inviter, MAX_NAME_CHARACTERS), to_one_line(account, MAX_NAME_CHARACTERS)
    subject = _INVITE_SUBJECT.in_language(language).format(account=within)
    text = _INVITE.in_language(language).format(
        inviter=named, account=within, role=role.label.in_language(language), url=url
    )
    return _with_product(subject, language), text


def compose_test(language: str) -> tuple[str, str]:
    """Return subject and text of a test mail."""
    return _with_product(_TEST_SUBJECT.in_language(language), language), _TEST.in_language(language)


def _make(claimed: ClaimedMail, subject: str, text: str) -> Mail:
    return Mail(claimed.id.hex(), claimed.address, subject, text)


def _with_product(subject: str, language: str) -> str:
    return f"[{PRODUCT.in_language(language)}] {subject}"


def _spell(kind: NoticeKind, item: Mapping[str, Any], language: str) -> str:
    """Return a notice as one line; whatever people have named is cut, and stays on it."""
    flat = {**item, **item.get("counts", {})}
    words = _Words({name: _spell_value(name, value, language) for name, value in flat.items()})
    line = _LINES[kind].in_language(language).format_map(words)
    return f"{line} [{words['account']}]" if "account" in words else line


def _spell_value(name: str, value: Any, language: str) -> str:
    labels = _LABELS.get(name, {})
    if isinstance(value, str) and value in labels:
        return labels[value].in_language(language)
    return f"{value:,}" if isinstance(value, int) else to_one_line(str(value), MAX_NAME_CHARACTERS)


class _Words(dict[str, str]):
    """The words of a line; one that an older version has not stored is a question mark."""

    def __missing__(self, key: str) -> str:
        return "?"
