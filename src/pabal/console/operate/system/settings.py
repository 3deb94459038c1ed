"""The operators' page of current settings."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
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
