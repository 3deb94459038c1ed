"""What tests of `pabal doctor` share."""

import pytest


@pytest.fixture(autouse=True)
def no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no port by default: whatever listens on this machine is none of a test's business."""
    monkeypatch.setenv("PABAL_PORT", "0")
