"""Maps sender profiles and templates to those of other relays, so that messages can go either way."""

import logging

from pabal.carriers.provider import RelayProvider, RemoteTemplate
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import Template, TemplateStatus
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.kakao import profile_mappings, profiles, templates
from pabal.store.kakao.profile_mappings import WHOLE_PROFILE, ListedMapping, ProfileMapping

log = logging.getLogger("pabal.relay_sync")

PROBLEMS = {
    "missing": Text(
        "이 중계사에 같은 내용의 템플릿이 없습니다.", "The carrier has no template with the same content."
    ),
    "gone": Text("이 중계사에 더 이상 없습니다.", "The carrier no longer has it."),
    "differs": Text("이 중계사의 템플릿 내용이 다릅니다.", "The carrier's template has another content."),
    "notApproved": Text("이 중계사에서 승인되지 않았습니다.", "It is not approved at the carrier."),
}
"""Why a mapping cannot be used."""
_OWN_CARRIER = Text(
    "발신 프로필이 원래 등록된 중계사입니다. 연결이 필요 없습니다.",
    "The profile is registered at this carrier: it needs no mapping.",
)
_NO_PROFILE = Text(
    "이 중계사에 이 채널의 승인된 발신 프로필이 없습니다.", "The carrier has no approved profile for this channel."
)
_TAKEN = Text(
    "이 중계사의 발신 프로필은 다른 계정이나 프로필이 쓰고 있습니다.",
    "Another account or profile uses this profile of the carrier.",
)
_MAP_PROFILE_FIRST = Text("먼저 발신 프로필을 연결하세요.", "Map the sender profile first.")


async def map_profile(context: Context, account_id: int, channel_id: str, carrier: str, entry: AuditEntry) -> None:
    """Map a profile to the one that another relay has for the same channel, and its templates to equal ones.

    Raises Refused: SENDER_NOT_FOUND, also where that relay has no approved profile for the channel; INVALID_STATE
    for its own relay; DUPLICATE where another profile has it; PRODUCT_NOT_AVAILABLE; and what the relay refuses.
    """
    profile = await _get_profile(context, account_id, channel_id)
    if profile.carrier == carrier:
        raise Refused(Code.INVALID_STATE, "carrier", _OWN_CARRIER)
    relay = context.relay_of(carrier)
    standing = await relay.find_profile(channel_id)
    if standing is None or standing.sender_key is None:
        raise Refused(Code.SENDER_NOT_FOUND, "channelId", _NO_PROFILE)
    mapping = ProfileMapping(profile.id, carrier, WHOLE_PROFILE, standing.sender_key, True, None)
    await context.store.write(_save_profile, mapping, entry)
    await _sync_templates(context, relay, mapping)


async def map_template(
    context: Context, account_id: int, channel_id: str, carrier: str, code: str, remote_code: str, entry: AuditEntry
) -> ProfileMapping:
    """Map a template to one of another relay, whatever its code there; return it with its problem, if any.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE where the profile is not mapped,
    PRODUCT_NOT_AVAILABLE, and what the relay refuses.
    """
    profile = await _get_profile(context, account_id, channel_id)
    template = await context.store.read(templates.get, profile.id, code)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND, "templateCode")
    place = await context.store.read(profile_mappings.get, profile.id, carrier, WHOLE_PROFILE)
    if place is None:
        raise Refused(Code.INVALID_STATE, "carrier", _MAP_PROFILE_FIRST)
    relay = context.relay_of(carrier)
    theirs = await relay.get_template(place.remote, remote_code)
    problem = _problem(relay, template, theirs)
    mapping = ProfileMapping(profile.id, carrier, code, remote_code, True, problem)
    await context.store.write(_save, mapping, entry)
    return mapping


async def remove_mapping(
    context: Context, account_id: int, channel_id: str, carrier: str, code: str, entry: AuditEntry
) -> None:
    """Remove the mapping of a template, or with an empty code that of a profile and all its templates.

    Raises Refused(NOT_FOUND).
    """
    profile = await context.store.read(profiles.get_by_channel, account_id, channel_id)
    if profile is None or not await context.store.write(_remove, profile.id, carrier, code, entry):
        raise Refused(Code.NOT_FOUND)


async def list_mappings(context: Context) -> list[ListedMapping]:
    """Return every mapping of all accounts."""
    return await context.store.read(profile_mappings.list_all)


async def sync_mappings(context: Context, carrier: str, relay: RelayProvider) -> None:
    """Look up the mapped profiles of a relay and their templates, and store which of them can be used.

    Raises Refused as the relay does.
    """
    for place in await context.store.read(profile_mappings.list_by_carrier, carrier):
        standing = await relay.get_profile(place.remote)
        problem = "gone" if standing is None else "notApproved" if standing.suspension else None
        if problem != place.problem:
            await context.store.write(_update, place, place._replace(problem=problem), context.world.now())
        if problem is None:
            await _sync_templates(context, relay, place)


async def _sync_templates(context: Context, relay: RelayProvider, place: ProfileMapping) -> None:
    theirs = {each.code: each for each in await relay.list_templates(place.remote)}
    known = {
        each.template_code: each
        for each in await context.store.read(profile_mappings.list_templates, place.profile_id, place.carrier)
    }
    for template in await context.store.read(templates.list_by_profile, place.profile_id):
        if template.approved is None:
            continue
        before = known.get(template.code)
        found = _match(relay, template, theirs, place, before)
        if found != before and await context.store.write(_update, before, found, context.world.now()):
            log.info(
                "mapped a template to another relay's",
                extra={"template": template.id, "carrier": place.carrier, "problem": found.problem or "none"},
            )


def _match(
    relay: RelayProvider,
    template: Template,
    theirs: dict[str, RemoteTemplate],
    place: ProfileMapping,
    before: ProfileMapping | None,
) -> ProfileMapping:
    """Return the mapping of a template: the operator's, else the equal one, preferably of the same code."""
    new = ProfileMapping(place.profile_id, place.carrier, template.code, "", False, "missing")
    if before is not None and before.is_manual:
        return before._replace(problem=_problem(relay, template, theirs.get(before.remote)))
    codes = sorted(theirs, key=lambda code: (code != template.code, before is None or code != before.remote, code))
    for code in codes:
        if _problem(relay, template, theirs[code]) is None:
            return new._replace(remote=code, problem=None)
    if template.code in theirs:
        return new._replace(remote=template.code, problem=_problem(relay, template, theirs[template.code]))
    return new


def _problem(relay: RelayProvider, template: Template, theirs: RemoteTemplate | None) -> str | None:
    """Return why a template of another relay cannot be used for ours."""
    if theirs is None:
        return "gone"
    if theirs.status is not TemplateStatus.APPROVED or theirs.suspension is not None:
        return "notApproved"
    if (template.approved or template.latest).parts.has_any != theirs.content.parts.has_any:
        return "differs"  # not every relay has a place for them, and then it does not compare them
    ours = (template.approved or template.latest)._replace(  # no receiver sees these
        name=theirs.content.name,
        category=theirs.content.category,
        is_security_template=theirs.content.is_security_template,
    )
    return None if relay.is_same_content(ours, theirs.content) else "differs"


async def _get_profile(context: Context, account_id: int, channel_id: str) -> Profile:
    profile = await context.store.read(profiles.get_by_channel, account_id, channel_id)
    if profile is None or profile.sender_key is None:
        raise Refused(Code.SENDER_NOT_FOUND, "channelId")
    return profile


def _save_profile(tx: Tx, mapping: ProfileMapping, entry: AuditEntry) -> None:
    owner = profiles.get_by_any_sender_key(tx, mapping.remote)
    mapped = profile_mappings.find_profile_with_key(tx, mapping.carrier, mapping.remote)
    if (owner is not None and owner.id != mapping.profile_id) or mapped not in (None, mapping.profile_id):
        raise Refused(Code.DUPLICATE, "channelId", _TAKEN)
    _save(tx, mapping, entry)


def _save(tx: Tx, mapping: ProfileMapping, entry: AuditEntry) -> None:
    profile_mappings.save(tx, mapping, entry.created_at)
    audit_log.add(tx, entry)


def _remove(tx: Tx, profile_id: int, carrier: str, code: str, entry: AuditEntry) -> bool:
    if not profile_mappings.remove(tx, profile_id, carrier, code):
        return False
    audit_log.add(tx, entry)
    return True


def _update(tx: Tx, before: ProfileMapping | None, after: ProfileMapping, now: Instant) -> bool:
    """Store what the relay said, unless the mapping was changed or removed meanwhile."""
    whole = profile_mappings.get(tx, after.profile_id, after.carrier, WHOLE_PROFILE)
    if whole is None or profile_mappings.get(tx, after.profile_id, after.carrier, after.template_code) != before:
        return False
    profile_mappings.save(tx, after, now)
    return True
