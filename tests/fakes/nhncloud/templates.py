"""Alimtalk templates, API v2.3: registration, changes, deletion, comments and their review."""

import msgspec

from tests.fakes.nhncloud import images, kakaotalk, senders
from tests.fakes.nhncloud.answers import DAY_MS, ApiError, Json, Request, format_seoul
from tests.fakes.nhncloud.state import Draft, Profile, State, Template
from tests.fakes.nhncloud.template_fields import (
    CATEGORY_CODES,
    OTHER,
    TEMPLATE_CATEGORIES,
    Change,
    Registration,
    check_template,
)

DAYS_KEPT_AFTER_USE = 3
KAKAO = "카카오 심사"
THUMBNAIL = "ITEM_HIGHLIGHT"
"""The kind of an image that was uploaded for an item highlight."""


_REGISTRATION = msgspec.json.Decoder(Registration)
_CHANGE = msgspec.json.Decoder(Change)


def categories(state: State, request: Request) -> Json:
    """List categories: GET `template/categories`."""
    found = [
        {
            "name": group,
            "subCategories": [
                {"code": code, "name": name, "groupName": group, "inclusion": name, "exclusion": ""}
                for code, name in below
            ],
        }
        for group, below in TEMPLATE_CATEGORIES
    ]
    return {"categories": found}


def _get_active_profile(state: State, request: Request) -> Profile:
    profile = senders.get_registered(state, request.path_params["senderKey"])
    if profile.is_blocked or profile.is_dormant or profile.kakao_profile_status != "A":
        raise ApiError(-1014, "Not active status plus friend.")
    return profile


def _get_template(state: State, request: Request) -> Template:
    key = (request.path_params["senderKey"], request.path_params["templateCode"])
    senders.get_registered(state, key[0])
    if key not in state.templates:
        raise ApiError(-3003, "Template does not exist.")
    return state.templates[key]


def register(state: State, request: Request) -> Json:
    """Register a template and start its review: POST `senders/{senderKey}/templates`."""
    given: Registration = kakaotalk.decode_body(_REGISTRATION, request.body)
    profile = _get_active_profile(state, request)
    code = given.templateCode
    _check_name(state, profile.sender_key, code, given.templateName)
    check_template(given)
    if (profile.sender_key, code) in state.templates:
        raise ApiError(-3001, "Already exist templateCode or templateName.")
    draft = _make_draft(state, given)
    template = Template(profile.sender_key, code, draft, created_at=draft.created_at)
    state.templates[profile.sender_key, code] = template
    start_review(state, template, template.current)
    return {}


def _check_name(state: State, sender_key: str, code: str, name: str) -> None:
    for (key, other), template in state.templates.items():
        if key == sender_key and other != code and template.current.fields.get("templateName") == name:
            raise ApiError(-3001, "Already exist templateCode or templateName.")


def _make_draft(state: State, given: Registration | Change) -> Draft:
    fields = msgspec.to_builtins(given)
    fields["templateMessageType"] = fields["templateMessageType"] or "BA"
    fields["templateEmphasizeType"] = fields["templateEmphasizeType"] or "NONE"
    fields["categoryCode"] = fields["categoryCode"] or OTHER
    if fields["categoryCode"] not in CATEGORY_CODES:
        raise ApiError(-4000, "Invalid parameter")
    return Draft(fields, state.clock())


def start_review(state: State, template: Template, draft: Draft) -> None:
    """Begin the review of a draft: it is inspected after half of the delay, and decided at its end."""
    now, takes_s = state.clock(), state.behavior.review_after_s
    draft.status = "TSC01"
    if takes_s is not None:
        draft.inspected_at, draft.decided_at = now + round(takes_s * 500), now + round(takes_s * 1000)
    state.under_review.append((template, draft))


def process_due_reviews(state: State) -> None:
    """Approve what is to be decided by now."""
    now = state.clock()
    for template, draft in list(state.under_review):
        if draft.status == "TSC01" and draft.inspected_at is not None and draft.inspected_at <= now:
            draft.status, draft.updated_at = "TSC02", draft.inspected_at
        if draft.decided_at is not None and draft.decided_at <= now:
            decide(state, template, draft, True, None)


def decide(state: State, template: Template, draft: Draft, is_approved: bool, comment: str | None) -> None:
    """Approve or reject a draft; an approved change replaces the current content."""
    draft.status = "TSC03" if is_approved else "TSC04"
    draft.updated_at, draft.decided_at = state.clock(), None
    if comment is not None:
        add_comment(state, draft, comment, KAKAO, "APR" if is_approved else "REJ")
    if is_approved and draft in template.changes:
        for each in template.changes:
            each.is_active = each is draft
        template.current = draft
    state.under_review = [each for each in state.under_review if each[1] is not draft]


def add_comment(state: State, draft: Draft, content: str, user: str, status: str) -> None:
    draft.comments.append(
        {
            "id": state.new_serial(),
            "content": content,
            "userName": user,
            "createdAt": format_seoul(state.clock()),
            "attachment": [],
            "status": status,
        }
    )


def change(state: State, request: Request) -> Json:
    """Change an approved or rejected template: PUT `senders/{senderKey}/templates/{templateCode}`.

    An approved template stays in use until the change is approved; a rejected one is replaced.
    """
    given: Change = kakaotalk.decode_body(_CHANGE, request.body)
    _get_active_profile(state, request)
    template = _get_template(state, request)
    if template.current.status not in ("TSC03", "TSC04"):
        raise ApiError(-3012, "Only templates with TSC03(APPROVE)/TSC04(REJECT) can be modified.")
    if template.pending_change:
        raise ApiError(-3013, "There are templates already being modified.")
    _check_name(state, template.sender_key, template.code, given.templateName)
    check_template(given)
    draft = _make_draft(state, given)
    if template.current.status == "TSC04":
        draft.comments, draft.created_at = template.current.comments, template.current.created_at
        template.current = draft
    else:
        template.changes.insert(0, draft)
    start_review(state, template, draft)
    return {}


def remove(state: State, request: Request) -> Json:
    """Delete a template: DELETE `senders/{senderKey}/templates/{templateCode}`."""
    template = _get_template(state, request)
    if template.current.status == "TSC03" and template.last_request:
        at, request_id = template.last_request
        if state.clock() - at < DAYS_KEPT_AFTER_USE * DAY_MS:
            why = "The template could not be deleted because recently sent message."
            raise ApiError(-3034, f"{why} requestId: {request_id}")
    delete(state, template)
    return {}


def delete(state: State, template: Template) -> None:
    del state.templates[template.sender_key, template.code]
    state.under_review = [each for each in state.under_review if each[0] is not template]


def show(state: State, request: Request) -> Json:
    """Show a template: GET `senders/{senderKey}/templates/{templateCode}`."""
    template = _get_template(state, request)
    row = _template_row(state, template)
    return {"templates": {**row, "block": template.is_blocked, "dormant": template.is_dormant}}


def search(state: State, request: Request) -> Json:
    """List the templates of a profile: GET `senders/{senderKey}/templates`."""
    query, profile = request.query, senders.get_registered(state, request.path_params["senderKey"])
    names = (("templateCode", "templateCode"), ("templateName", "templateName"), ("templateStatus", "status"))
    rows = [
        row
        for row in (_template_row(state, each) for each in state.templates.values())
        if row["senderKey"] == profile.sender_key
        and all(row[field] == query[name] for name, field in names if query.get(name))
    ]
    return {"templateListResponse": {"templates": kakaotalk.page(rows, query), "totalCount": len(rows)}}


def modifications(state: State, request: Request) -> Json:
    """List the changes to a template: GET `…/modifications`.

    Alimtalk ko/alimtalk-api-guide.md, "템플릿 수정 리스트 조회": each has a createDate; their order is not told.
    """
    template = _get_template(state, request)
    rows = []
    for change_draft in template.changes if state.behavior.lists_newest_change_first else template.changes[::-1]:
        rows.append({**_row(state, template, change_draft), "activated": change_draft.is_active})
    return {"templateModificationsResponse": {"templates": rows, "totalCount": len(rows)}}


def _template_row(state: State, template: Template) -> Json:
    """Return the row of a template; a change that was approved replaces all but its date."""
    return {**_row(state, template, template.current), "createDate": format_seoul(template.created_at)}


def _row(state: State, template: Template, draft: Draft) -> Json:
    fields = draft.fields
    given = {name: fields.get(name) for name in Change.__struct_fields__}
    return {
        **given,
        "senderKey": template.sender_key,
        "templateCode": template.code,
        "templateMessageType": fields.get("templateMessageType") or "BA",
        "templateEmphasizeType": fields.get("templateEmphasizeType") or "NONE",
        "buttons": fields.get("buttons") or [],
        "quickReplies": fields.get("quickReplies") or [],
        "comments": draft.comments,
        "status": draft.status,
        "securityFlag": bool(fields.get("securityFlag")),
        "categoryCode": fields.get("categoryCode") or OTHER,
        "createDate": format_seoul(draft.created_at),
        "updateDate": format_seoul(draft.updated_at),
    }


def upload(state: State, request: Request) -> Json:
    """Accept the image of a template: POST `template-image`, with the file in `file`."""
    picture = images.store_image(state, request, "file")
    return {"templateImage": {"templateImageName": picture.name, "templateImageUrl": picture.address}}


def upload_thumbnail(state: State, request: Request) -> Json:
    """Accept the image of an item highlight: POST `template-image/item-highlight`, with the file in `file`."""
    picture = images.store_image(state, request, "file", THUMBNAIL)
    return {"templateImage": {"templateImageName": picture.name, "templateImageUrl": picture.address}}
