"""The operators' page of profiles and templates that are mapped to other relays."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.profile import parse_channel_id
from pabal.service.access.accounts import administration
from pabal.service.access.accounts.audit import AuditEntry
from pabal.service.relay import mappings

MAPPINGS_PATH = "/console/operate/mappings"
FIELDS = ("account", "channelId", "carrier", "templateCode", "remoteCode")


async def add_mapping(request: PageRequest) -> Response:
    """Map a profile, or one of its templates."""
    context, carrier, code = request.context, request.field("carrier"), request.field("templateCode").strip()
    try:
        account_id, channel_id = await _read_target(request)
        entry = _audit_entry(request, account_id, "mapping.add", channel_id, carrier, code)
        if not code:
            await mappings.map_profile(context, account_id, channel_id, carrier, entry)
        else:
            remote = request.field("remoteCode").strip() or code
            await mappings.map_template(context, account_id, channel_id, carrier, code, remote, entry)
    except Refused as refused:
        return await show_mappings(request, refused)
    return request.redirect(MAPPINGS_PATH)


async def remove_mapping(request: PageRequest) -> Response:
    """Remove the mapping of a profile, or of one template."""
    account_id, channel_id = await _read_target(request)
    carrier, code = request.field("carrier"), request.field("templateCode")
    entry = _audit_entry(request, account_id, "mapping.remove", channel_id, carrier, code)
    await mappings.remove_mapping(request.context, account_id, channel_id, carrier, code, entry)
    return request.redirect(MAPPINGS_PATH)


async def _read_target(request: PageRequest) -> tuple[int, str]:
    """Return account and channel. Raises Refused: NOT_FOUND, INVALID_PARAMETER."""
    name = request.field("account")
    found = [each for each in await administration.list_accounts(request.context) if each.name == name]
    if not found:
        raise Refused(Code.NOT_FOUND, "account")
    return found[0].id, parse_channel_id(request.field("channelId"))


def _audit_entry(request: PageRequest, account_id: int, action: str, *words: str) -> AuditEntry:
    return request.audit_entry(action, " ".join(filter(None, words)), account_id)


async def show_mappings(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show every mapping, each with why it cannot be used."""
    listed = await mappings.list_mappings(request.context)
    problems = [request.tell(each) for each in (refused.problems if refused else ())]
    return request.render(
        "operate/mappings.html",
        refused,
        rows=[
            (each, request.translate(mappings.PROBLEMS[each.mapping.problem]) if each.mapping.problem else "")
            for each in listed
        ],
        relays=sorted(request.context.relays),
        accounts=[each.name for each in await administration.list_accounts(request.context)],
        typed={name: request.field(name) if refused else "" for name in FIELDS},
        errors=problems,
    )


TEXTS = {
    "mappings.title": Text("중계사 간 연결", "Mappings to other relays"),
    "mappings.about": Text(
        "한 중계사에 등록한 발신 프로필과 템플릿을 다른 중계사의 것과 연결하면, 발송 순서에 있는 다른 중계사로도 "
        "발송할 수 있습니다. 연결되지 않은 중계사는 건너뜁니다. 내용이 같은 템플릿은 자동으로 연결됩니다.",
        "A profile and its templates at one relay can be mapped to those of another, so that the other relays of a "
        "route can send them. A relay without a mapping is skipped. Templates with the same content are mapped "
        "automatically.",
    ),
    "mappings.carrier": Text("중계사", "Relay"),
    "mappings.template": Text("템플릿 코드", "Template code"),
    "mappings.template.help": Text("템플릿 코드 (비우면 발신 프로필)", "Template code (empty: the profile)"),
    "mappings.remote": Text("중계사의 발신 키 또는 코드", "Key or code there"),
    "mappings.remote.help": Text("중계사의 템플릿 코드 (같으면 비움)", "Code there (empty: the same)"),
    "mappings.usable": Text("사용 가능", "Usable"),
    "mappings.add": Text("연결", "Map"),
    "mappings.remove": Text("해제", "Remove"),
    "mappings.remove_it": Text("{what} 연결 해제", "Remove the mapping of {what}"),
    "mappings.none": Text(
        "연결된 발신 프로필이 없습니다. 위에서 프로필과 중계사를 골라 연결하세요.",
        "No profiles are mapped. Choose a profile and a relay above.",
    ),
    "mappings.no_relay": Text("설정된 중계사가 하나뿐입니다.", "Only one relay is configured."),
}
