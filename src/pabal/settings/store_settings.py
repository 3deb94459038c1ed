"""The settings of the store: its address, SQLite or PostgreSQL, and how it is used."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pabal.settings.field import BadSetting, setting

POSTGRESQL = ("postgresql://", "postgres://")
SQLITE = "sqlite:///"
SQLITE_FILE = "pabal.db"
SECRET_OPTIONS = ("password", "sslpassword")
_END_OF_HOSTS = re.compile("[/?]")


@dataclass(frozen=True)
class StoreSettings:
    """Where the store is, how many connections it has, and how long data is kept."""

    data: Path = setting(Path("data"), "SQLite 저장소를 두는 디렉터리입니다.", "Directory of the SQLite store.")
    store: str = setting(
        "",
        "저장소 주소입니다. sqlite:///파일 또는 postgresql://… 형식이며, 비우면 데이터 디렉터리의 SQLite를 씁니다.",
        "Address of the store, sqlite:///FILE or postgresql://…; empty: SQLite in the data directory.",
    )
    migrate: bool = setting(
        True,
        "시작할 때 적용하지 않은 마이그레이션을 적용해 저장소 스키마를 최신 버전으로 올릴지 정합니다.",
        "Whether to apply missing migrations at start.",
    )
    max_waiting_writes: int = setting(
        10_000,
        "저장소를 기다릴 수 있는 최대 쓰기 작업 수입니다. 넘으면 SERVICE_UNAVAILABLE로 응답합니다.",
        "Maximum number of writes that wait for the store; further callers get SERVICE_UNAVAILABLE.",
        limits=(1, None),
    )
    read_connections: int = setting(
        2, "저장소 읽기용 연결 수입니다.", "Connections to the store for reading.", limits=(1, 64)
    )
    search_connections: int = setting(
        2,
        "조회 전용 저장소 연결 수입니다. 모든 호출에 필요한 읽기와 나누어, 긴 조회가 발송을 늦추지 않습니다.",
        "Connections to the store for searches, apart from those that every call needs.",
        limits=(1, 64),
    )
    search_timeout_seconds: int = setting(
        5,
        "발송 내역 조회 한 번에 허용하는 시간(초)입니다. 넘으면 조회를 중단하고 거부합니다.",
        "Seconds that a search of the history may take; then it is refused.",
        limits=(1, 600),
    )
    write_connections: int = setting(
        2, "PostgreSQL 쓰기용 연결 수입니다.", "Connections to PostgreSQL for writing.", limits=(1, 64)
    )
    slots: int = setting(
        8,
        "새 PostgreSQL 저장소의 슬롯 수입니다. 이 수만큼의 작업 프로세스까지 함께 발송할 수 있으며, 나중에"
        " 바꿀 수 없습니다.",
        "Slots of a new PostgreSQL store, which limit how many workers can deliver; cannot be changed later.",
        limits=(1, 1024),
    )
    retention_days: int = setting(
        180,
        "전화번호와 메시지 내용의 보관 일수입니다. 지나면 지우고, PostgreSQL에서는 월 단위로 삭제합니다.",
        "Days after which numbers and texts are blanked, or on PostgreSQL dropped by month.",
        limits=(1, None),
    )
    results_retention_days: int = setting(
        30,
        "결과를 cursor로 조회하고 웹훅으로 다시 보낼 수 있는 일수입니다.",
        "Days that results can be read by cursor and posted again to webhooks.",
        limits=(8, 400),
    )
    simulator_messages: int = setting(
        100_000,
        "시뮬레이터가 보관하는 전체 메시지 수입니다. 넘으면 오래된 것부터 삭제합니다.",
        "Messages that the simulator stores in total; older ones are deleted.",
        limits=(1, None),
    )

    @property
    def is_on_postgresql(self) -> bool:
        """Whether the store is PostgreSQL."""
        return self.store.startswith(POSTGRESQL)

    @property
    def store_slots(self) -> int:
        """How many slots a new store gets: a SQLite store has one, since one process delivers from it."""
        return self.slots if self.is_on_postgresql else 1

    @property
    def store_path(self) -> Path:
        """The path of the SQLite store; by default it is in the data directory. Raises BadSetting."""
        if not self.store:
            return self.data / SQLITE_FILE
        if self.store.startswith(SQLITE):
            return Path(self.store.removeprefix(SQLITE))
        scheme = self.store.split(":")[0]
        raise BadSetting(
            f"store: {scheme}:은(는) 지원하지 않습니다. sqlite:///… 또는 postgresql://…을 쓰세요",
            f"store: {scheme}: is not supported; use sqlite:///… or postgresql://…",
        )

    @property
    def redacted_store(self) -> str:
        """The address of the store without its password."""
        return redact(self.store)


def check_store(settings: StoreSettings) -> None:
    """Raise BadSetting for an invalid address, without showing it: it may contain a password."""
    if not settings.is_on_postgresql:
        _ = settings.store_path
        return
    rest = settings.store.partition("://")[2]
    hosts = _END_OF_HOSTS.split(rest)[0].rpartition("@")[2].split(",")  # libpq accepts several hosts
    try:
        is_right = all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:
        is_right = False
    if not is_right:
        raise BadSetting(
            "store: postgresql://USER:PASSWORD@HOST:PORT/DATABASE 형식으로, 특수 문자는 %XX로 적으세요",
            "store: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters written as %XX",
        )


def redact(address: str) -> str:
    """Return an address without its password."""
    if not address.startswith(POSTGRESQL):
        return address
    scheme, _, rest = address.partition("://")
    place, mark, options = rest.partition("?")
    who, at, where = place.rpartition("@")
    user, colon, _ = who.partition(":")
    kept = [each for each in options.split("&") if each.partition("=")[0].lower() not in SECRET_OPTIONS]
    return f"{scheme}://{user}{':…' if colon else ''}{at}{where}{mark}{'&'.join(kept)}"
