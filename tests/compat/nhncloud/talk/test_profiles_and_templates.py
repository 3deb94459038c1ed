"""Sender profiles and templates are read by our own provider for NHN Cloud."""

from pathlib import Path

import pytest

from pabal.domain.base.codes import Refused
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from tests.fixtures.two_services import TwoServices
from tests.fixtures.virtual import run_in_virtual_time
from tests.fixtures.web import call_ok, template_body


async def read_all(services: TwoServices) -> None:
    async with services.running(title="#{name}님께") as (_, second):
        provider = services.provider()
        call = await second.caller()
        waiting = {"templateCode": "한글-1", "name": "검수 전", "content": "#{a}"}
        sender_key = (await provider.list_profiles())[0].sender_key
        assert sender_key is not None
        await call_ok(call, "template/create", template_body(sender_key, **waiting))
        listed = {each.code: each for each in await provider.list_templates(sender_key)}
        single = await provider.get_template(sender_key, "T2")
        profile = await provider.get_profile(sender_key)
        change = await provider.get_template_change(sender_key, "T2")

        assert profile is not None
        assert (profile.channel_id, profile.suspension) == ("@shop", None)
        assert await provider.find_profile("@shop") == profile
        assert await provider.get_profile("x" * 40) is None
        assert await provider.get_template(sender_key, "T9") is None
        assert sorted(listed) == ["T1", "T2", "한글-1"]
        assert listed["T1"].status is TemplateStatus.APPROVED
        assert listed["한글-1"].status is TemplateStatus.INSPECTING
        assert single == listed["T2"]
        assert change is None
        ours = TemplateContent("배송", "배송이 시작되었습니다. #{name}님", "006003")
        assert provider.is_same_content(ours, listed["T1"].content)
        assert single is not None
        assert single.content.title == "#{name}님께"
        known = await provider.list_categories()
        assert {each.code: each for each in known.profiles} == second.context.sender_categories
        assert {each.code: each for each in known.templates} == second.context.template_categories
        with pytest.raises(Refused):
            await provider.delete_template(sender_key, "T1")


def test_own_provider_reads_profiles_and_templates(tmp_path: Path) -> None:
    run_in_virtual_time(read_all(TwoServices(tmp_path)))
