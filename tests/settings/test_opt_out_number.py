"""The number for opting out must be one that costs nothing."""

from pathlib import Path

import pytest

from pabal.settings.field import BadSetting
from pabal.settings.settings import load


@pytest.mark.parametrize("number", ["02-1234-5678", "080", "080-1234", "무료", "010-1234-5678"])
def test_number_for_opting_out_must_be_free(tmp_path: Path, number: str) -> None:
    (tmp_path / "pabal.toml").write_text(f'opt_out_number = "{number}"', encoding="utf-8")

    with pytest.raises(BadSetting, match="not a number such as 080-123-4567"):
        load({}, tmp_path / "pabal.toml")
