"""Texts of the settings page."""

from pabal.domain.base.codes import Text

TEXTS = {
    "settings.title": Text("적용 중인 설정", "Current settings"),
    "settings.about": Text(
        "설정 파일이나 PABAL_로 시작하는 환경 변수를 바꾸고 서비스를 다시 시작하면 적용됩니다. 비밀 값은 "
        "설정 여부만 표시합니다.",
        "Change them in the settings file or with environment variables that start with PABAL_, then "
        "restart. Secrets are not shown.",
    ),
    "settings.name": Text("이름", "Name"),
    "settings.value": Text("값", "Value"),
    "settings.meaning": Text("설명", "Description"),
    "settings.set": Text("설정됨", "Set"),
    "settings.empty": Text("비어 있음", "Empty"),
}
