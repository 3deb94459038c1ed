"""The limit of connections follows from the limit of open files."""

import pytest

from pabal.web.http.connections import MAX_DEFAULT_CONNECTIONS, MIN_CONNECTIONS, RESERVED_FILES, max_connections_for


@pytest.mark.parametrize(
    ("files", "connections"),
    [(32, MIN_CONNECTIONS), (128, 56), (256, 170), (1024, 682), (65_536, MAX_DEFAULT_CONNECTIONS)],
)
def test_default_leaves_files_to_the_store_and_carriers(files: int, connections: int) -> None:
    assert max_connections_for(files) == connections


@pytest.mark.parametrize(("wanted", "connections"), [(100, 100), (20_000, 853)])
def test_setting_is_followed_as_far_as_files_allow(wanted: int, connections: int) -> None:
    assert max_connections_for(1024, wanted) == connections
    assert connections + connections // 8 + RESERVED_FILES <= 1024
