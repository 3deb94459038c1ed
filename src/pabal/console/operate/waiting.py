"""The operators' pages of what waits for them: templates under review, sender numbers, and stopped webhooks."""

from starlette.responses import Response

from pabal.console.manage import templates
from pabal.console.manage.webhooks import summarize
from pabal.console.shell.form_fields import parse_id, require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.template import Template
from pabal.domain.people import phone
from pabal.service.access.accounts import administration, sender_numbers
from pabal.service.relay import lookup
from pabal.service.webhooks import manage
from pabal.service.webhooks.manage import MAX_LISTED_STOPPED, WebhookFields

REVIEWS_PATH = "/console/operate/reviews"
SHOWN_REVIEWS = 50
DECISIONS = ("approve", "reject")


async def list_reviews(request: PageRequest) -> Response:
    """Show the templates that wait for a decision, longest first."""
    after = parse_id(request.field("after")) or 0
    found = await lookup.list_reviews(request.context, after, SHOWN_REVIEWS + 1)
    done = request.field("done")
    return request.render(
        "operate/reviews.html",
        rows=[
            (account, template, request.time(template.changed_at)) for account, template in found[:SHOWN_REVIEWS]
        ],
        next_after=found[SHOWN_REVIEWS - 1][1].id if len(found) > SHOWN_REVIEWS else None,
        is_first=not after,
        done=done if done in DECISIONS else "",
    )


async def decide_review(request: PageRequest) -> Response:
    """Approve or reject a template, and go on with the next one; a rejection requires a comment."""
    done = await templates.decide(request, await _find(request))
    return request.redirect(f"{REVIEWS_PATH}?done={done}")


async def show_review_image(request: PageRequest) -> Response:
    """Answer with the image of a template."""
    return await templates.answer_image(request, await _find(request))


async def _find(request: PageRequest) -> Template:
    return await lookup.get_any_template(request.context, require_id(request.http.path_params["template"]))


async def show_review(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show a template with all that a reviewer must see."""
    template = await _find(request)
    return request.render(
        "operate/review.html",
        refused,
        **await templates.describe(request, template, REVIEWS_PATH, refused),
        account=await administration.get_account(request.context, template.account_id),
        comment=request.field("comment"),
        max_characters=templates.MAX_COMMENT_CHARACTERS,
    )


PENDING_PATH = "/console/operate/numbers"


async def approve_number(request: PageRequest) -> Response:
    """Approve a number."""
    account_id, number = await _read_target(request)
    audit_entry = request.audit_entry("number.approve", phone.mask(number), account_id)
    await request.context.store.write(sender_numbers.approve, account_id, number, audit_entry)
    return request.redirect(PENDING_PATH)


async def reject_number(request: PageRequest) -> Response:
    """Reject a number, with a comment for the owner."""
    account_id, number = await _read_target(request)
    audit_entry = request.audit_entry("number.reject", phone.mask(number), account_id)
    comment = request.field("comment")
    await request.context.store.write(sender_numbers.reject, account_id, number, comment, audit_entry)
    return request.redirect(PENDING_PATH)


async def _read_target(request: PageRequest) -> tuple[int, str]:
    account = await administration.get_account(request.context, require_id(request.field("account")))
    return account.id, phone.parse_sender(request.field("number"))


async def list_pending(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the numbers that wait, each with what speaks against it."""
    return request.render(
        "operate/pending_numbers.html",
        refused,
        rows=await sender_numbers.list_pending(request.context),
        error=request.tell(refused.problems[0]) if refused else "",
        max_characters=sender_numbers.MAX_COMMENT_CHARACTERS,
    )


STOPPED_PATH = "/console/operate/webhooks"


async def resume_webhook(request: PageRequest) -> Response:
    """Use a webhook again: what has waited is posted at once."""
    account = await administration.get_account(request.context, require_id(request.field("account")))
    webhook_id = require_id(request.field("webhook"))
    audit_entry = request.audit_entry("webhook.update", str(webhook_id), account.id)
    try:
        await manage.update(request.context, account.id, webhook_id, WebhookFields(is_enabled=True), audit_entry)
    except Refused as refused:
        if refused.code is not Code.RATE_LIMITED:
            raise
        return await list_stopped(request, refused)
    return request.redirect(f"{STOPPED_PATH}?done=1")


async def list_stopped(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the webhooks that get nothing because they keep failing, or kept answering 410."""
    found = await request.context.store.read(manage.list_stopped)
    return request.render(
        "operate/stopped_webhooks.html",
        refused,
        rows=[
            (
                each.webhook,
                summarize(request, each.last_try.status, each.last_try.error) if each.last_try else None,
            )
            for each in found
        ],
        most=MAX_LISTED_STOPPED,
        is_done=not refused and bool(request.field("done")),
        error=request.tell(refused.problems[0]) if refused else "",
    )


TEXTS = {
    "operate.part.reviews": Text("템플릿 검수", "Template reviews"),
    "reviews.title": Text("템플릿 검수", "Template reviews"),
    "reviews.about": Text(
        "모든 계정에서 검수를 요청한 템플릿입니다. 먼저 등록한 것부터 보여 주며, 중계사가 검수하는 것은 여기에 "
        "없습니다.",
        "Templates of all accounts whose review was requested, the oldest first. Those that a relay reviews are "
        "not listed.",
    ),
    "reviews.content": Text("내용", "Content"),
    "reviews.back": Text("검수 목록", "Reviews"),
    "reviews.none": Text("검수를 기다리는 템플릿이 없습니다.", "No templates are waiting for review."),
    "reviews.approved": Text("승인했습니다.", "Approved."),
    "reviews.rejected": Text("반려했습니다.", "Rejected."),
    "reviews.not_waiting": Text(
        "이 템플릿은 검수를 기다리지 않습니다. 이미 결정되었거나 요청자가 고쳤습니다.",
        "This template is not waiting for review. It was decided already, or its author has edited it.",
    ),
    "pending.title": Text("발신번호 승인", "Sender numbers to approve"),
    "pending.about": Text(
        "계정이 번호의 명의자인지 통신서비스 이용증명원으로 확인한 뒤 승인하세요. 번호 하나는 계정 하나만 쓸 수 "
        "있습니다.",
        "Approve a number after you have checked that it belongs to the account. A number has one account.",
    ),
    "pending.why": Text("확인할 사항", "To check"),
    "pending.new": Text("새로 등록한 번호", "New number"),
    "pending.held": Text(
        "{account} 계정이 쓰는 번호입니다. 그 계정에서 삭제해야 승인할 수 있습니다.",
        "Account {account} has this number. It must be removed there before you can approve it.",
    ),
    "pending.comment": Text("반려 사유", "Reason for rejection"),
    "pending.approve": Text("승인", "Approve"),
    "pending.reject": Text("반려", "Reject"),
    "pending.reject.yes": Text("예, 반려합니다", "Yes, reject"),
    "pending.of": Text("{number} {what}", "{what} {number}"),
    "pending.none": Text("승인을 기다리는 발신번호가 없습니다.", "No sender numbers are waiting for approval."),
    "operate.part.webhooks": Text("중지된 웹훅", "Stopped webhooks"),
    "paused.title": Text("중지된 웹훅", "Stopped webhooks"),
    "paused.about": Text(
        "계속 실패하여 일시 중지된 웹훅은 5분마다 한 건을 보내 보고, 성공하면 저절로 다시 시작합니다. 계속 "
        "410(더 쓰지 않는 주소)으로 응답한 웹훅은 사용 안 함이 되어 재개할 때까지 보내지 않습니다. 받는 쪽을 고친 "
        "뒤 재개하면 최근 7일의 밀린 이벤트를 바로 보냅니다.",
        "A webhook that keeps failing is paused: one post is tried every 5 minutes, and if it succeeds, the "
        "webhook goes on by itself. One that kept answering 410 (Gone) is disabled until it is resumed. After the "
        "endpoint was repaired, resume it to post what it has missed in the last 7 days at once.",
    ),
    "paused.no_trial": Text("없음(410)", "None (410)"),
    "paused.failures": Text("연속 실패", "Failures in a row"),
    "paused.last": Text("마지막 응답", "Last answer"),
    "paused.trial": Text("다음 시도", "Next trial"),
    "paused.dropped": Text("포기한 이벤트", "Events given up"),
    "paused.actions": Text("관리", "Actions"),
    "paused.resume": Text("재개", "Resume"),
    "paused.resume_of": Text("{account}의 {url} 재개", "Resume {url} of {account}"),
    "paused.done": Text(
        "재개했습니다. 밀린 이벤트를 보냅니다.", "Resumed. The events that have waited are posted."
    ),
    "paused.none": Text("중지된 웹훅이 없습니다.", "No webhooks are stopped."),
    "paused.most": Text("처음 {most}개만 표시합니다.", "Only the first {most} are listed."),
}


TABS_PATH = "/console/operate/tabs"


async def show_tabs(request: PageRequest) -> Response:
    """Answer with the tabs, for the page that has been opened: what counts takes no time of its own."""
    reviews = len(await lookup.list_reviews(request.context, 0, SHOWN_REVIEWS + 1))
    counts = {
        "reviews": f"{SHOWN_REVIEWS}+" if reviews > SHOWN_REVIEWS else reviews,
        "numbers": len(await sender_numbers.list_pending(request.context)),
        "webhooks": len(await request.context.store.read(manage.list_stopped)),
    }
    return request.render("operate/tabs.html", here=request.field("here"), counts=counts)
