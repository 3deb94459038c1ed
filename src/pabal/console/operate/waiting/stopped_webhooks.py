"""The operators' page of webhooks, of all accounts, that are paused or disabled because of 410."""

from starlette.responses import Response

from pabal.console.manage.webhooks import summarize
from pabal.console.shell.form_fields import require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.access.accounts import administration
from pabal.service.webhooks import manage
from pabal.service.webhooks.manage import MAX_LISTED_STOPPED, WebhookFields

STOPPED_PATH = "/console/operate/webhooks"


async def resume(request: PageRequest) -> Response:
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
    found = await manage.list_stopped(request.context)
    return request.render(
        "operate/waiting/stopped_webhooks.html",
        refused.code.http_status if refused else 200,
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
