"""Texts of profiles and templates that are mapped to other relays."""

from pabal.domain.base.codes import Text

TEXTS = {
    "mappings.title": Text("중계사 간 연결", "Mappings to other relays"),
    "mappings.about": Text(
        "한 중계사에 등록한 발신 프로필과 템플릿을 다른 중계사의 것과 연결하면, 발송 순서에 있는 다른 중계사로도 "
        "발송할 수 있습니다. 연결되지 않은 중계사는 건너뜁니다. 내용이 같은 템플릿은 자동으로 연결됩니다.",
        "A profile and its templates at one relay can be mapped to those of another, so that the other relays of a "
        "route can send them. A relay without a mapping is skipped. Templates with the same content are mapped "
        "automatically.",
    ),
    "mappings.channel": Text("채널", "Channel"),
    "mappings.carrier": Text("중계사", "Relay"),
    "mappings.template": Text("템플릿 코드", "Template code"),
    "mappings.template.help": Text("템플릿 코드 (비우면 발신 프로필)", "Template code (empty: the profile)"),
    "mappings.remote": Text("중계사의 발신 키 또는 코드", "Key or code there"),
    "mappings.remote.help": Text("중계사의 템플릿 코드 (같으면 비움)", "Code there (empty: the same)"),
    "mappings.state": Text("상태", "State"),
    "mappings.usable": Text("사용 가능", "Usable"),
    "mappings.add": Text("연결", "Map"),
    "mappings.remove": Text("해제", "Remove"),
    "mappings.remove_it": Text("{what} 연결 해제", "Remove the mapping of {what}"),
    "mappings.none": Text("연결된 발신 프로필이 없습니다.", "No profiles are mapped."),
    "mappings.no_relay": Text("설정된 중계사가 하나뿐입니다.", "Only one relay is configured."),
}
