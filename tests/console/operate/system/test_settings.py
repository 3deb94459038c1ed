"""The operators' settings page: descriptions in both languages, no secrets."""

import dataclasses
import html
import re

from pabal.console.app import build_console
from pabal.domain.base.codes import LANGUAGES
from pabal.domain.people.user import Role
from pabal.settings.carriers import CarrierSettings, SmppSettings
from pabal.settings.field import fields
from pabal.settings.relays import NhnCloudSettings
from pabal.settings.settings import FIELDS, Settings, load
from pabal.settings.tables import CARRIER_KINDS
from tests.fixtures.console import Browser, make_user, sign_in
from tests.fixtures.virtual import Environment

DESCRIPTION = re.compile(r'<td data-name="(?:설명|Description)">([^<]*)</td>')


async def test_settings_page_hides_secrets(env: Environment) -> None:
    telco = SmppSettings(name="telco", host="smsc.example", system_id="pabal", password="geheim-1234")
    settings = dataclasses.replace(
        load({}), carriers={"telco": telco}, store="postgresql://pabal:geheim-5678@db/pabal"
    )
    await make_user(env, Role.OPERATOR)
    operator = await sign_in(env, "operator-of-acme", Browser(build_console(env.context, settings)))

    shown = await operator.get("/console/operate/settings")

    assert "smsc.example" in shown.text
    assert "geheim" not in shown.text
    assert "설정됨" in shown.text


async def test_setting_descriptions_follow_page_language(env: Environment) -> None:
    carriers: dict[str, CarrierSettings] = {
        "telco": SmppSettings(name="telco", host="smsc.example", system_id="pabal"),
        "relay": NhnCloudSettings(name="relay", sms_app_key="app", sms_secret_key="word"),
    }
    console = build_console(env.context, dataclasses.replace(load({}), carriers=carriers))
    await make_user(env, Role.OPERATOR)
    declared = [FIELDS, *(fields(type(each)) for each in carriers.values())]

    for language in LANGUAGES:
        operator = await sign_in(env, "operator-of-acme", Browser(console))
        await operator.submit("/console/language", language=language)
        shown = await operator.get("/console/operate/settings")
        told = [html.unescape(each) for each in DESCRIPTION.findall(shown.text)]
        helps = [each.metadata["help"].in_language(language) for some in declared for each in some.values()]

        assert f'<html lang="{language}">' in shown.text
        assert told == helps


def test_every_setting_is_described_by_sentences_in_both_languages() -> None:
    shapes: list[type] = [Settings, *CARRIER_KINDS.values()]
    helps = [each.metadata["help"] for shape in shapes for each in fields(shape).values()]

    assert [ko for ko, _ in helps if not re.search("[가-힣].*[.]$", ko)] == []
    assert [en for _, en in helps if re.search("[가-힣]", en) or not en.endswith(".")] == []
