"""Mappings to other relays in the console: for operators, verified at the relay, audited."""

from pathlib import Path

from pabal.domain.people.user import Role
from tests.fakes.nhncloud.channel import CHANNEL, TEMPLATE
from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_operate import audit_lines
from tests.fixtures.two_relays import HOME, OTHER, OTHER_KEY, TwoRelays

PATH = "/console/operate/mappings"
FIELDS = {"account": "acme", "channelId": CHANNEL, "carrier": OTHER, "templateCode": "", "remoteCode": ""}


async def test_operator_maps_a_profile_and_a_template(tmp_path: Path) -> None:
    async with TwoRelays(tmp_path) as stage:
        env = await stage.start()
        await stage.caller(env)
        stage.relays[OTHER].add_template(OTHER_KEY, "T1", "다른 내용")
        stage.relays[OTHER].add_template(OTHER_KEY, "T9", TEMPLATE, templateName="둘째")
        operator = await signed_in_browser(env, Role.OPERATOR)

        empty = await operator.get(PATH)
        mapped = await operator.submit(PATH, **FIELDS)
        found = await operator.get(PATH)
        await operator.submit(PATH, **FIELDS | {"templateCode": "T1", "remoteCode": "T1"})
        by_hand = await operator.get(PATH)
        refused = await operator.submit(PATH, **FIELDS | {"carrier": HOME})
        removed = await operator.submit(f"{PATH}/remove", **FIELDS)

        assert "연결된 발신 프로필이 없습니다" in empty.text
        assert (mapped.status, refused.status, removed.status) == (303, 409, 303)
        assert OTHER_KEY in found.text
        assert ">T9<" in found.text
        assert "템플릿 내용이 다릅니다" in by_hand.text
        assert "연결이 필요 없습니다" in refused.text
        assert "연결된 발신 프로필이 없습니다" in (await operator.get(PATH)).text
        lines = [each for each in await audit_lines(env) if " mapping." in each]
        assert sorted(each.partition(" mapping.")[2] for each in lines) == [
            f"add {CHANNEL} {OTHER}",
            f"add {CHANNEL} {OTHER} T1",
            f"remove {CHANNEL} {OTHER}",
        ]
