"""The columns of receiver files and pasted tables: guessed, chosen, and used as they were chosen."""

import io
import re

import pytest

from pabal.console.campaigns import campaign_file
from pabal.console.send.typed_receivers import read_receivers
from pabal.console.sheets import mapping
from pabal.domain.base.codes import Refused
from tests.fixtures.console import Browser, PageResponse
from tests.fixtures.console_send import form, preview, preview_text, send
from tests.fixtures.console_upload import create_campaign, get_campaign, page_text, send_campaign
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import list_messages

FOREIGN = "고객,전화,비고\n홍길동,010-1111-2222,a\n김철수,12345,b\n"
NAMELESS = "홍길동,010-1111-2222\n김철수,010-3333-4444\n"
MAPPED = {"column0": "field:이름", "column1": "phone", "column2": ""}


def chosen(shown: PageResponse) -> dict[str, str]:
    """Return what the lists of columns have selected."""
    lists = re.findall(r'<select name="(column[0-9]+)".*?</select>', shown.text, re.DOTALL)
    whole = re.findall(r'<select name="column[0-9]+".*?</select>', shown.text, re.DOTALL)
    values = [re.search(r'value="([^"]*)" selected', each) for each in whole]
    return {name: found[1] if found else "" for name, found in zip(lists, values, strict=True)}


@pytest.mark.parametrize(
    ("content", "roles", "has_names"),
    [
        ("휴대폰번호,이름,메모\n010-1111-2222,a,b\n", ["phone", "field:이름", ""], True),
        ("#{이름},연락처,참조\na,010-1111-2222,r\n", ["field:이름", "phone", "reference"], True),
        ("이 름,Phone Number\na,010-1111-2222\n", ["field:이름", "phone"], True),
        (FOREIGN, ["", "", ""], True),
        (NAMELESS, ["field:이름", "phone"], False),
        ("1011112222,홍,남\n", ["phone", "field:이름", ""], False),
        ("전화번호,이름,이름\n010-1111-2222,a,b\n", ["phone", "field:이름", ""], True),
    ],
)
def test_columns_of_a_file_are_guessed(content: str, roles: list[str], has_names: bool) -> None:
    head = campaign_file.read_head(io.BytesIO(content.encode()), ["이름"])
    assert [each.role for each in head.columns] == roles
    assert head.has_names is has_names


def test_mapping_needs_one_number_and_each_variable_once() -> None:
    head = campaign_file.read_head(io.BytesIO(FOREIGN.encode()), ["이름"])
    found = campaign_file.read_columns(MAPPED, head, ["이름"])
    assert found is not None
    assert (found.phone, found.values, found.names) == (1, {"이름": 0}, ("이름", "휴대폰번호", "비고"))
    for wrong in (
        {"column0": "field:이름"},
        {"column0": "phone", "column1": "phone"},
        {"column0": "field:이름", "column1": "phone", "column2": "field:이름"},
        {"column1": "phone"},
        {},
    ):
        with pytest.raises(Refused):
            campaign_file.read_columns(wrong, head, ["이름"])


async def test_file_with_other_names_is_mapped_and_sent(env: Environment, call: Caller, browser: Browser) -> None:
    address = await create_campaign(browser)
    shown = await browser.upload(f"{address}/columns", FOREIGN.encode("cp949"))
    await browser.upload(f"{address}/file", FOREIGN.encode("cp949"), **MAPPED)
    campaign = await get_campaign(env, address)
    bad = await browser.get(f"{address}/bad.csv")
    await send_campaign(browser, address, name="x")
    await env.wait(20)

    assert chosen(shown) == {"column0": "", "column1": "", "column2": ""}
    assert "연결할 열을 고르세요: 휴대폰 번호, 이름" in page_text(shown)
    assert (campaign.receivers, campaign.invalid_rows, campaign.unused_columns) == (1, 1, ("비고",))
    assert bad.text.splitlines()[0] == "\ufeff행,이름,휴대폰번호,비고,사유", "it can be uploaded again as it is"
    (message,) = await list_messages(call, "010-1111-2222")
    assert message["content"] == "홍길동님, 안녕하세요"


async def test_file_without_names_is_mapped_from_its_first_row(env: Environment, browser: Browser) -> None:
    address = await create_campaign(browser)
    await browser.upload(f"{address}/file", NAMELESS.encode(), column0="field:이름", column1="phone")
    assert (await get_campaign(env, address)).receivers == 2
    await browser.upload(f"{address}/file", NAMELESS.encode(), column1="phone")
    assert "변수에 연결할 열을 고르세요: 이름" in page_text(await browser.get(address))


@pytest.mark.parametrize(
    ("text", "numbers", "values"),
    [
        ("010-1111-2222, 가", ["010-1111-2222"], [{"이름": "가"}]),
        ("이름\t전화번호\n홍길동\t010-1111-2222", ["010-1111-2222"], [{"이름": "홍길동"}]),
        ("홍길동\t010-1111-2222\n", ["010-1111-2222"], [{"이름": "홍길동"}]),
        ("고객\t이름\n010-1111-2222\t가", ["010-1111-2222"], [{"이름": "가"}]),
        ("가\t이름\n다\t나", ["다"], [{"이름": "나"}]),
    ],
)  # fmt: skip
def test_number_is_found_in_any_column_of_a_pasted_table(
    text: str, numbers: list[str], values: list[dict[str, str]]
) -> None:
    found = read_receivers(text, ["이름"], 10, skips_duplicates=True)
    assert [each.phone_number for each in found.entries] == numbers
    assert [{"이름": each.values["이름"]} for each in found.entries] == values


def test_chosen_columns_of_a_pasted_table_are_used_if_there_are_as_many() -> None:
    text = "x\ty\n010-1111-2222\t010-9999-8888\n"
    roles = [mapping.IGNORE, mapping.PHONE]
    assert [each.phone_number for each in read_receivers(text, (), 9, skips_duplicates=True).entries] == [
        "010-1111-2222"
    ]
    mapped = read_receivers(text, (), 9, skips_duplicates=True, chosen=roles)
    assert [each.phone_number for each in mapped.entries] == ["010-9999-8888"]
    other = read_receivers("010-1111-2222", (), 9, skips_duplicates=True, chosen=roles)
    assert [each.phone_number for each in other.entries] == ["010-1111-2222"]


def test_columns_of_a_pasted_table_are_chosen_unless_there_are_too_many_choices() -> None:
    names = [f"n{number}" for number in range(60)]
    line = "010-1111-2222\t" + "\t".join(names)
    usual = read_receivers(line, names[:20], 9, skips_duplicates=True)
    large = read_receivers(line, names, 9, skips_duplicates=True)
    wide = read_receivers("\t".join(["010-1111-2222", *names * 20]), names[:2], 9, skips_duplicates=True)

    assert len(usual.columns) == 61
    assert (large.columns, wide.columns) == ([], [])
    assert large.entries[0].values == dict(zip(names, names, strict=True))
    assert wide.entries[0].values == {"n0": "n0", "n1": "n1"}


async def test_pasted_table_is_mapped_on_the_page_and_sent_as_shown(env: Environment, browser: Browser) -> None:
    pasted = "고객\t전화\t메모\n홍길동\t010-1111-2222\tm\n"
    first = await preview(browser, form(content="#{이름}님", receivers=pasted))
    roles = {"column0": "field:이름", "column1": "phone", "column2": "", "columns_guess": "\tphone\t"}
    second = await preview(browser, form(content="#{이름}님", receivers=pasted, **roles))
    await send(browser, form(content="#{이름}님", receivers=pasted, **roles))

    assert chosen(first) == {"column0": "", "column1": "phone", "column2": ""}
    assert '<details id="pasted" open>' in first.text
    assert preview_text(second) == "홍길동님"
    assert chosen(second) == {"column0": "field:이름", "column1": "phone", "column2": ""}
    assert await count_rows(env, "messages") == 1
