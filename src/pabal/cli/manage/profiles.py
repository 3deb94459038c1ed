"""`pabal profile`, `template` and `mapping`: profiles and templates, their review, and those of other relays."""

import argparse

from pabal.cli.shared.command import WORLD, audit_entry, find_account_id, make_context, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser, Run
from pabal.cli.shared.table import Cell, print_rows, printable
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.profile import Profile, Suspension, parse_channel_id
from pabal.domain.kakao.template import ReviewDecision
from pabal.service.context import Context
from pabal.service.relay import mappings, templates
from pabal.service.relay.profiles import adopt
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store, Tx
from pabal.store.kakao import profile_mappings, profiles
from pabal.store.kakao import templates as template_store

_ID, _ACCOUNT, _STATUS = Text("ID", "ID"), Text("계정", "Account"), Text("상태", "Status")
_CREATED, _CHANNEL, _USE = Text("생성", "Created"), Text("채널", "Channel"), Text("사용", "Use")
PROFILE_COLUMNS = {
    "id": _ID,
    "account": _ACCOUNT,
    "channelId": _CHANNEL,
    "authStatus": _STATUS,
    "use": _USE,
    "created": _CREATED,
    "carrier": Text("발송 경로", "Carrier"),
}
TEMPLATE_COLUMNS = {
    "id": _ID,
    "channelId": _CHANNEL,
    "templateCode": Text("코드", "Code"),
    "status": _STATUS,
    "name": Text("이름", "Name"),
    "use": _USE,
}


def declare_profile(group: CommandParser) -> None:
    """Declare `pabal profile`."""
    group.add_list(_list_profiles, "모든 발신 프로필을 보여 줍니다.", "List all sender profiles.")
    for name, ko, en in (
        ("disable", "프로필을 사용 중지합니다.", "Disable a profile."),
        ("enable", "프로필을 다시 사용합니다.", "Enable a profile again."),
    ):
        parser = group.add_command(name, _set_profile, ko, en)
        parser.add_option(
            "id",
            "프로필의 ID. `pabal profile list`를 보세요",
            "the profile's id; see `pabal profile list`",
            type=int,
        )
        parser.set_defaults(is_enabled=name == "enable")
    parser = group.add_command(
        "adopt",
        _adopt_profile,
        "중계사에 이미 있는 프로필을 계정에 줍니다.",
        "Give an account a profile that a relay already has.",
    )
    parser.add_option(
        "channel", "채널의 검색용 ID. @는 없어도 됩니다", "search id of its channel, with or without @"
    )
    parser.add_option("--account", "계정의 이름", "the account's name", required=True)
    parser.add_option(
        "--carrier",
        "프로필이 있는 중계사(기본값: 하나뿐인 중계사)",
        "the relay that has the profile (default: the only relay)",
    )


def declare_template(group: CommandParser) -> None:
    """Declare `pabal template`."""
    group.add_list(_list_templates, "모든 템플릿을 보여 줍니다.", "List all templates.")
    for name, ko, en in (
        ("approve", "검수 중인 템플릿을 승인합니다.", "Approve a template that is under review."),
        ("reject", "검수 중인 템플릿을 반려합니다.", "Reject a template that is under review."),
    ):
        parser = group.add_command(name, _review_template, ko, en)
        parser.add_option(
            "id",
            "템플릿의 ID. `pabal template list`를 보세요",
            "the template's id; see `pabal template list`",
            type=int,
        )
        parser.add_option("--comment", "작성자에게 보내는 검수 의견", "the reviewer's comment to the author")
        parser.set_defaults(is_approved=name == "approve")


def _list_profiles(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.id,
            account,
            each.channel_id,
            each.status.code,
            _use(each.is_enabled, each.suspension),
            dates.format_timestamp(each.created_at, settings.zone),
            each.carrier or "",
        )
        for account, each in with_store(settings, lambda store: store.read(profiles.list_all))
    ]
    print_rows(PROFILE_COLUMNS, rows, as_json=given.json)


def _use(is_enabled: bool, bar: Suspension | None) -> str:
    """Return whether a profile or template can be used, and if not, why."""
    if not is_enabled:
        return "disabled"
    return f"out of use ({bar.code}): {bar.label.en}" if bar else "in use"


def _adopt_profile(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)

    async def work(store: Store) -> Profile:
        context = make_context(settings, store)
        carrier = _relay_named(given.carrier, context)
        try:
            account_id = await find_account_id(store, given.account)
            entry = audit_entry(account_id, "profile.adopt", channel_id)
            return await adopt(context, account_id, carrier, channel_id, entry)
        finally:
            await context.relay_of(carrier).close()

    profile = with_store(settings, work)
    say(
        f"{profile.channel_id}은(는) {given.account}의 발신 프로필 {profile.id}입니다. 템플릿은 1분 안에 보입니다",
        f"{profile.channel_id} is profile {profile.id} of {given.account}; its templates appear within a minute",
    )


def _relay_named(name: str | None, context: Context) -> str:
    known = sorted(context.relays)
    if not known:
        raise CommandError(
            '중계사가 설정되어 있지 않습니다. kind = "nhncloud"와 talk_app_key, 또는 kind ='
            ' "solapi"인 발송 경로를 추가하세요',
            'no relay is configured: add a carrier with kind = "nhncloud" and a talk_app_key, or kind = "solapi"',
        )
    if name is not None and name not in known:
        raise CommandError(
            f"--carrier {name}: 중계사가 아닙니다. 중계사: {', '.join(known)}",
            f"--carrier {name}: is not a relay; these are: {', '.join(known)}",
        )
    if name is None and len(known) > 1:
        raise CommandError(
            f"--carrier: 중계사가 여럿입니다. 하나를 고르세요: {', '.join(known)}",
            f"--carrier: there are several relays; name one: {', '.join(known)}",
        )
    return name or known[0]


def _set_profile(settings: Settings, given: argparse.Namespace) -> None:
    def change(tx: Tx) -> None:
        found = next((each for _, each in profiles.list_all(tx) if each.id == given.id), None)
        if found is None or not profiles.set_enabled(tx, given.id, given.is_enabled, WORLD.now()):
            raise CommandError(
                f"발신 프로필 {given.id}이(가) 없습니다. `pabal profile list`를 보세요",
                f"there is no profile {given.id}; see `pabal profile list`",
            )
        action = "profile.enable" if given.is_enabled else "profile.disable"
        audit_log.add(tx, audit_entry(found.account_id, action, found.channel_id))

    with_store(settings, lambda store: store.write(change))
    say(
        f"발신 프로필 {given.id}: {'in use' if given.is_enabled else 'disabled'}",
        f"profile {given.id} is {'in use' if given.is_enabled else 'disabled'}",
    )


def _list_templates(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.id,
            each.channel_id,
            printable(each.code),
            each.status.code,
            printable(each.latest.name),
            _use(each.is_enabled, each.suspension),
        )
        for each in with_store(settings, lambda store: store.read(template_store.list_all))
    ]
    print_rows(TEMPLATE_COLUMNS, rows, as_json=given.json)


def _review_template(settings: Settings, given: argparse.Namespace) -> None:
    decision = ReviewDecision(given.is_approved, given.comment)

    def review(tx: Tx) -> None:
        template = templates.decide_review(tx, given.id, decision, WORLD.now())
        action = "template.approve" if given.is_approved else "template.reject"
        audit_log.add(tx, audit_entry(template.account_id, action, template.code))

    with_store(settings, lambda store: store.write(review))
    if given.is_approved:
        say(f"템플릿 {given.id}을(를) 승인했습니다", f"template {given.id} is approved")
    else:
        say(f"템플릿 {given.id}을(를) 반려했습니다", f"template {given.id} is rejected")


MAPPING_COLUMNS = {
    "account": Text("계정", "Account"),
    "channelId": Text("채널", "Channel"),
    "carrier": Text("발송 경로", "Carrier"),
    "templateCode": Text("템플릿", "Template"),
    "remote": Text("상대 코드", "Code there"),
    "origin": Text("연결", "Origin"),
    "state": Text("상태", "Status"),
}


def declare_mapping(group: CommandParser) -> None:
    """Declare `pabal mapping`."""
    group.add_list(_list_mappings, "모든 연결을 보여 줍니다.", "List all mappings.")
    parser = _add_change(
        group,
        "add",
        _add_mapping,
        "프로필이나 그 템플릿을 다른 중계사의 것에 연결합니다.",
        "Map a profile, or one of its templates, to another relay's.",
    )
    parser.add_option(
        "--code",
        "--template과 함께: 그곳의 코드(기본값: 같은 코드)",
        "with --template: its code there (default: the same)",
    )
    _add_change(
        group,
        "remove",
        _remove_mapping,
        "프로필이나 템플릿의 연결을 없앱니다.",
        "Remove the mapping of a profile, or of one template.",
    )


def _add_change(group: CommandParser, name: str, run: Run, ko: str, en: str) -> CommandParser:
    parser = group.add_command(name, run, ko, en)
    parser.add_option(
        "channel", "프로필의 채널. @는 없어도 됩니다", "the channel of the profile, with or without @"
    )
    parser.add_option("--account", "계정의 이름", "the account's name", required=True)
    parser.add_option("--carrier", "다른 중계사의 발송 경로 이름", "the carrier of the other relay", required=True)
    parser.add_option(
        "--template", "템플릿의 코드(기본값: 프로필)", "the code of a template (default: the profile)", default=""
    )
    return parser


def _list_mappings(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            account,
            channel_id,
            each.carrier,
            each.template_code or Cell(None, "-"),
            each.remote or Cell(None, "-"),
            "manual" if each.is_manual else "found",
            mappings.PROBLEMS[each.problem].en if each.problem else "usable",
        )
        for _, account, channel_id, each in with_store(
            settings, lambda store: store.read(profile_mappings.list_all)
        )
    ]
    print_rows(MAPPING_COLUMNS, rows, as_json=given.json)


def _add_mapping(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)
    if given.code and not given.template:
        raise CommandError("--code: --template도 주세요", "--code: give --template too")

    async def work(store: Store) -> Text | None:
        context = make_context(settings, store)
        _relay_named(given.carrier, context)
        account_id = await find_account_id(store, given.account)
        entry = _audit_entry(given, account_id, channel_id, "mapping.add")
        try:
            if not given.template:
                await mappings.map_profile(context, account_id, channel_id, given.carrier, entry)
                return None
            code = given.code or given.template
            found = await mappings.map_template(
                context, account_id, channel_id, given.carrier, given.template, code, entry
            )
            return mappings.PROBLEMS[found.problem] if found.problem else None
        finally:
            await context.relay_of(given.carrier).close()

    problem = with_store(settings, work)
    what = Text(channel_id, channel_id)
    if given.template:
        what = Text(f"{channel_id}의 템플릿 {given.template}", f"template {given.template} of {channel_id}")
    if problem is None:
        say(f"{what.ko}을(를) {given.carrier}에 연결했습니다", f"{what.en} is mapped to {given.carrier}")
    else:
        say(
            f"{what.ko}을(를) {given.carrier}에 연결했지만 아직 쓸 수 없습니다: {problem.ko}",
            f"{what.en} is mapped to {given.carrier}, but cannot be used yet: {problem.en}",
        )


def _remove_mapping(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)

    async def work(store: Store) -> None:
        context = make_context(settings, store)
        account_id = await find_account_id(store, given.account)
        entry = _audit_entry(given, account_id, channel_id, "mapping.remove")
        try:
            await mappings.remove_mapping(context, account_id, channel_id, given.carrier, given.template, entry)
        except Refused as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
            raise CommandError(
                "그런 연결이 없습니다. `pabal mapping list`를 보세요",
                "there is no such mapping; see `pabal mapping list`",
            ) from None

    with_store(settings, work)
    say(
        f"{given.template or channel_id}과(와) {given.carrier}의 연결을 끊었습니다",
        f"{given.template or channel_id} is no longer mapped to {given.carrier}",
    )


def _audit_entry(given: argparse.Namespace, account_id: int, channel_id: str, action: str) -> AuditEntry:
    target = " ".join(filter(None, (channel_id, given.carrier, given.template)))
    return audit_entry(account_id, action, target)
