"""The operators' page of paused webhooks, of all accounts."""

from starlette.responses import Response

from pabal.console.manage.webhooks import summarize
from pabal.console.shell.form_fields import require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.access.accounts import administration
from pabal.service.webhooks import manage
from pabal.service.webhooks.manage import MAX_LISTED_PAUSED, WebhookFields

PAUSED_PATH = "/console/operate/webhooks"


async def resume(request: PageRequest) -> Response:
    """Use a paused webhook again: what has waited is posted at once."""
    account = await administration.get_account(request.context, require_id(request.field("account")))
    webhook_id = require_id(request.field("webhook"))
    audit_entry = request.audit_entry("webhook.update", str(webhook_id), account.id)
    try:
        await manage.update(request.context, account.id, webhook_id, WebhookFields(is_enabled=True), audit_entry)
    except Refused as refused:
        if refused.code is not Code.RATE_LIMITED:
            raise
        return await list_paused(request, refused)
    return request.redirect(f"{PAUSED_PATH}?done=1")


async def list_paused(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the webhooks that are paused because they keep failing."""
    found = await manage.list_paused(request.context)
    return request.render(
        "operate/waiting/paused_webhooks.html",
        refused.code.http_status if refused else 200,
        rows=[
            (
                each.webhook,
                summarize(request, each.last_try.status, each.last_try.error) if each.last_try else None,
            )
            for each in found
        ],
        most=MAX_LISTED_PAUSED,
        is_done=not refused and bool(request.field("done")),
        error=refused.problems[0].message(request.locale.language) if refused else "",
    )


TEXTS = {
    "operate.part.webhooks": Text("중지된 웹훅", "Paused webhooks"),
    "paused.title": Text("중지된 웹훅", "Paused webhooks"),
    "paused.about": Text(
        "계속 실패하여 일시 중지된 웹훅입니다. 5분마다 한 건을 시험 삼아 보내고, 성공하면 저절로 다시 시작합니다. "
        "받는 쪽을 고친 뒤 바로 다시 보내려면 재개하세요.",
        "Webhooks that are paused because they keep failing. One post is tried every 5 minutes; if it succeeds, "
        "the webhook goes on by itself. Resume it to post again at once after the endpoint was repaired.",
    ),
    "paused.failures": Text("연속 실패", "Failures in a row"),
    "paused.last": Text("마지막 응답", "Last answer"),
    "paused.trial": Text("다음 시험", "Next trial"),
    "paused.dropped": Text("포기한 이벤트", "Events given up"),
    "paused.actions": Text("관리", "Actions"),
    "paused.resume": Text("재개", "Resume"),
    "paused.resume_of": Text("{account}의 {url} 재개", "Resume {url} of {account}"),
    "paused.done": Text(
        "재개했습니다. 밀린 이벤트를 보냅니다.", "Resumed. The events that have waited are posted."
    ),
    "paused.none": Text("중지된 웹훅이 없습니다.", "No webhooks are paused."),
    "paused.most": Text("처음 {most}개만 표시합니다.", "Only the first {most} are listed."),
}
