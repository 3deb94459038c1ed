"""The operators' page of current settings."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Text
from pabal.settings import settings as settings_module
from pabal.settings.field import SECRET_IS_SET


async def show_settings(request: PageRequest) -> Response:
    """Show every setting with its value; of a secret only whether it is set."""
    rows = [
        (
            name,
            request.t("settings.set") if value == SECRET_IS_SET else value,
            meaning.in_language(request.locale.language),
        )
        for name, value, meaning in settings_module.describe_settings(request.site.settings)
    ]
    return request.render("operate/system/settings.html", rows=rows)


TEXTS = {
    "settings.title": Text("적용 중인 설정", "Current settings"),
    "settings.about": Text(
        "설정 파일이나 PABAL_로 시작하는 환경 변수를 바꾸고 서비스를 다시 시작하면 적용됩니다. 비밀 값은 "
        "설정 여부만 표시합니다.",
        "Change them in the settings file or with environment variables that start with PABAL_, then "
        "restart. Secrets are not shown.",
    ),
    "settings.value": Text("값", "Value"),
    "settings.meaning": Text("설명", "Description"),
    "settings.set": Text("설정됨", "Set"),
    "settings.empty": Text("비어 있음", "Empty"),
}
