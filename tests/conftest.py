"""What tests share: a town on a virtual clock."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.virtual import Town, build_town, in_virtual_time, settings_for

Scene = Callable[[Town], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., None]:
    """Play a scene in a fresh town: `play(scene, **settings)`; it runs in virtual time and asserts by itself."""

    def run(scene: Scene, **options: Any) -> None:
        async def whole() -> None:
            build = {name: options.pop(name) for name in ("world", "store", "carriers") if name in options}
            town = await build_town(tmp_path, settings=settings_for(tmp_path, **options), **build)
            try:
                await scene(town)
            finally:
                await town.service.stop()

        in_virtual_time(whole())

    return run
