"""A body that is not UTF-8 is refused with what it seems to be."""

import pytest

from pabal.checks.body.forms import parse_json_object
from pabal.domain.base.codes import Code, Refused


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"content": "안녕"}'.encode("cp949"), "From byte 14 on it seems to be CP949 (EUC-KR): send UTF-8."),
        (b'{"content": "\xff"}', "Byte 14 is not valid UTF-8."),
    ],
)
def test_refusal_names_the_encoding_that_a_body_seems_to_have(body: bytes, said: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse_json_object(body)

    assert refusal.value.code is Code.INVALID_JSON
    assert refusal.value.problems[0].message("en").endswith(said)
