"""The address of the store: by default a file in the data directory; its password is never shown."""

from pathlib import Path

import pytest

from pabal.settings.field import BadSetting
from pabal.settings.settings import describe_settings, load


def test_store_is_in_the_data_directory_by_default() -> None:
    assert load({"PABAL_DATA": "/var/lib/pabal"}).store_path == Path("/var/lib/pabal/pabal.db")
    assert load({"PABAL_STORE": "sqlite:////srv/a.db"}).store_path == Path("/srv/a.db")
    assert load({"PABAL_STORE": "sqlite:///a.db"}).store_path == Path("a.db")


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("postgresql://pabal:secret@db.example:5432/pabal", "postgresql://pabal:…@db.example:5432/pabal"),
        ("postgresql://pabal:se%40cret@db/pabal?sslmode=require", "postgresql://pabal:…@db/pabal?sslmode=require"),
        ("postgres://pabal@/pabal?host=/run&password=secret", "postgres://pabal@/pabal?host=/run"),
        ("postgresql://db/pabal", "postgresql://db/pabal"),
        ("postgresql://a:se@cret@db/pabal", "postgresql://a:…@db/pabal"),
        ("postgresql://a:secret@db1:5432,db2/pabal?x=1", "postgresql://a:…@db1:5432,db2/pabal?x=1"),
        ("postgresql://a:secret@[::1]:5432,[::2]:5433/pabal", "postgresql://a:…@[::1]:5432,[::2]:5433/pabal"),
        ("postgresql://a:secret@?host=/run/a,/run/b", "postgresql://a:…@?host=/run/a,/run/b"),
    ],
)
def test_database_address_is_shown_without_password(store: str, shown: str) -> None:
    settings = load({"PABAL_STORE": store})

    assert settings.is_on_postgresql
    assert settings.store == store
    assert dict(row[:2] for row in describe_settings(settings))["store"] == shown


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://pabal:secret@db:port/pabal",
        "postgresql://pabal:sec/ret@db:1/x",
        "postgresql://pabal:secret@db1:5432,db2:0/pabal",
        "postgresql://pabal:secret@db1:5432,db2:two/pabal",
    ],
)
def test_invalid_address_is_refused_without_showing_its_password(store: str) -> None:
    with pytest.raises(BadSetting, match="store: write postgresql://") as refused:
        load({"PABAL_STORE": store})
    assert "sec" not in str(refused.value)


@pytest.mark.parametrize("store", ["mysql://x", "a.db"])
def test_unsupported_store_is_refused_without_showing_its_password(store: str) -> None:
    with pytest.raises(BadSetting, match="is not supported") as refused:
        load({"PABAL_STORE": store.replace("//", "//user:secret@")})
    assert "secret" not in str(refused.value)
