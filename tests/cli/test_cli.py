"""The command line: every command does what it says, in words, and ends with the status that it should."""

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pabal import __version__
from pabal.app import build_context, open_store, process_lock
from pabal.cli.main import main
from pabal.domain.profile import Registration
from pabal.domain.template import TemplateContent
from pabal.service.access.keys import hash_key
from pabal.service.context import Context
from pabal.service.metrics import Metrics
from pabal.service.relay import templates
from pabal.service.relay.profiles import authenticate, register
from pabal.service.relay.templates import TemplateRef
from pabal.settings.settings import FIELDS, load
from pabal.store import accounts, carrier_states, profiles, queue, simulator
from pabal.store import templates as kept_templates
from pabal.store.carrier_states import CarrierState
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations, migrate
from pabal.world import RealWorld
from tests.fixtures.virtual import NOON

WORLD = RealWorld()
KEY = re.compile(r"pb_[0-9A-Za-z]{40}\n")
COMMANDS = [
    ["migrate"],
    ["migrate", "--check"],
    ["backup", "absent/copy.db"],
    ["restore", "absent/copy.db"],
    ["stand-down"],
    ["settings"],
    ["doctor"],
    ["key", "create", "--account", "acme"],
    ["key", "list"],
    ["key", "revoke", "1"],
    ["account", "list"],
    ["account", "disable", "acme"],
    ["account", "enable", "acme"],
    ["number", "list"],
    ["number", "add", "02-1234-5678", "--account", "acme"],
    ["number", "remove", "02-1234-5678", "--account", "acme"],
    ["profile", "list"],
    ["profile", "disable", "1"],
    ["profile", "enable", "1"],
    ["profile", "adopt", "@shop", "--account", "acme"],
    ["template", "list"],
    ["template", "approve", "1"],
    ["template", "reject", "1"],
    ["user", "create", "KIM", "--account", "acme"],
    ["user", "list"],
    ["user", "disable", "KIM"],
    ["user", "enable", "KIM"],
    ["user", "password", "KIM"],
]

MAKING_NO_STORE = [
    ["settings"],
    ["migrate", "--check"],
    ["backup", "absent/copy.db"],
    ["restore", "absent/copy.db"],
    ["stand-down"],
]


class Ran(NamedTuple):
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.out.splitlines()]


class Shell:
    """Runs commands on one data directory."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data = data
        self._capsys = capsys

    def __call__(self, *words: str) -> Ran:
        return self.plain(*words, "--data", str(self.data))

    def plain(self, *words: str) -> Ran:
        self._capsys.readouterr()
        try:
            status = main(words)
        except SystemExit as end:  # of argparse
            status = int(end.code or 0)
        return Ran(status, *self._capsys.readouterr())

    def at_work(self, work: Callable[[Context], Awaitable[Any]]) -> Any:
        """Do some work with the service's own verbs on the same data."""

        async def run() -> Any:
            settings = load({}, data=self.data)
            store = open_store(settings, WORLD)
            try:
                await store.write(migrate, WORLD.now())
                return await work(build_context(settings, store, WORLD, Metrics()))
            finally:
                await store.close()

        return asyncio.run(run())


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Take back how a started service wants to log."""
    root, ours = logging.getLogger(), logging.getLogger("pabal")
    before = root.handlers, root.level, ours.level
    yield
    root.handlers = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "data", capsys)


async def account(context: Context) -> int:
    return await context.store.write(accounts.ensure_account, "acme", WORLD.now())


async def add_profile(context: Context) -> str:
    """Register and prove a profile as its administrator would; return its key."""
    owner = await account(context)
    await register(context, owner, Registration("@shop", "00100010001", "01012345678"))
    _, (token,) = await context.store.read(simulator.list_on_phone, owner, "01012345678", WORLD.now(), 1, 1)
    (digits,) = re.findall(r"\d{6}", token.content)
    await authenticate(context, owner, "@shop", digits)
    profile = await context.store.read(profiles.get_by_channel, owner, "@shop")
    assert profile is not None
    assert profile.sender_key is not None
    return profile.sender_key


async def add_template_under_review(context: Context) -> None:
    place = TemplateRef(await account(context), await add_profile(context), "order")
    await templates.create(context, place, TemplateContent("주문 보류", "주문", "999999"), None)
    await templates.request_review(context, place)


def test_a_key_is_printed_alone_and_works(shell: Shell) -> None:
    made = shell("key", "create", "--account", "acme", "--name", "for the shop")

    assert (made.status, made.err) == (0, "")
    assert KEY.fullmatch(made.out)
    known_key = shell.at_work(lambda context: context.store.read(accounts.key_by_hash, hash_key(made.out.strip())))
    assert (known_key.account, known_key.name, known_key.rate) == ("acme", "for the shop", 1000)
    assert known_key.scopes == {"send", "read", "manage"}


def test_a_key_can_be_limited(shell: Shell) -> None:
    made = shell(
        *("key", "create", "--account", "acme", "--expires", "2999-01-01", "--rate", "7"),
        *("--scope", "send", "--scope", "read", "--allow", "10.0.0.0/8", "--allow", "::1"),
    )

    assert made.status == 0
    ((_, name, _, scopes, allow, rate, _, state),) = shell("key", "list").rows
    assert (name, scopes, allow, rate) == ("acme", "read,send", "10.0.0.0/8 ::1/128", "7/s")
    assert state == "until 2999-01-02 00:00:00"
    assert made.out.strip() not in shell("key", "list").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--account", " "], "--account: a name is needed"),
        (["--account", "acme", "--allow", "10.0.0.1/8"], "--allow 10.0.0.1/8"),
        (["--account", "acme", "--allow", "home"], "--allow home"),
        (["--account", "acme", "--rate", "-1"], "--rate: 0 or more"),
        (["--account", "acme", "--expires", "2020-01-01"], "--expires: must lie ahead"),
        (["--account", "acme", "--expires", "2999-01-01~"], "--expires: must lie ahead"),
        (["--account", "acme", "--expires", "tomorrow"], "Write it as yyyy-MM-dd HH:mm"),
        (["--account", "acme", "--scope", "everything"], "invalid choice"),
        (["--account", "acme", "--rate", "fast"], "invalid int value"),
        ([], "--account"),
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(shell: Shell, words: list[str], said: str) -> None:
    refused = shell("key", "create", *words)

    assert refused.status in (1, 2)
    assert said in refused.err
    assert refused.out == ""
    assert shell("key", "list").out == ""


def test_a_revoked_key_is_shown_as_such_and_cannot_be_revoked_again(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")

    assert shell("key", "revoke", "1").status == 0
    assert shell("key", "list").rows[0][-1] == "revoked"
    again = shell("key", "revoke", "1")
    assert again.status == 2
    assert "pabal key list" in again.err


def test_an_account_is_disabled_and_enabled_by_name(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")
    shell("key", "create", "--account", "other")

    assert shell("account", "disable", "acme").status == 0
    assert [row[-1] for row in shell("key", "list").rows] == ["account disabled", "live"]
    assert "acme" in shell("account", "list").out
    assert shell("account", "enable", "acme").status == 0
    assert [row[-1] for row in shell("key", "list").rows] == ["live", "live"]
    unknown = shell("account", "disable", "nobody")
    assert unknown.status == 2
    assert "nobody" in unknown.err


def test_sender_numbers_are_added_listed_and_removed(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")

    first = shell("number", "add", "02 1234 5678", "--account", "acme")
    again = shell("number", "add", "+82 2-1234-5678", "--account", "acme")

    assert (first.status, first.out) == (0, "02-1234-5678 is registered for acme\n")
    assert again.out == "02-1234-5678 was already registered for acme\n"
    assert shell("number", "list").rows == [["acme", "02-1234-5678"]]
    assert shell("number", "remove", "0212345678", "--account", "acme").status == 0
    assert shell("number", "list").out == ""
    gone = shell("number", "remove", "0212345678", "--account", "acme")
    assert (gone.status, gone.err) == (2, "pabal: 02-1234-5678 is not registered for acme\n")


@pytest.mark.parametrize("word", ["add", "remove"])
def test_a_number_of_an_unknown_account_or_that_is_none_is_refused(shell: Shell, word: str) -> None:
    shell("key", "create", "--account", "acme")

    unknown = shell("number", word, "02-1234-5678", "--account", "nobody")
    assert unknown.status == 2
    assert "pabal account list" in unknown.err
    wrong = shell("number", word, "119", "--account", "acme")
    assert wrong.status == 1
    assert "sender number" in wrong.err


def test_profiles_are_listed_and_put_out_of_use_and_in_use_again(shell: Shell) -> None:
    shell.at_work(add_profile)

    ((number, name, channel, status, use, _),) = shell("profile", "list").rows
    assert (name, channel, status, use) == ("acme", "@shop", "approval", "in use")

    assert shell("profile", "disable", number).out == f"profile {number} is disabled\n"
    assert shell("profile", "list").rows[0][4] == "disabled"
    assert shell("profile", "enable", number).out == f"profile {number} is in use\n"
    unknown = shell("profile", "disable", "999")
    assert unknown.status == 2
    assert "pabal profile list" in unknown.err


@pytest.mark.parametrize(("word", "status"), [("approve", "approved"), ("reject", "rejected")])
def test_a_template_under_review_is_decided_on_once(shell: Shell, word: str, status: str) -> None:
    shell.at_work(add_template_under_review)
    assert shell("template", "list").rows == [["1", "@shop", "order", "inspecting", "주문 보류", "in use"]]

    decided = shell("template", word, "1", "--comment", "읽었습니다")

    assert (decided.status, decided.out) == (0, f"template 1 is {status}\n")
    assert shell("template", "list").rows[0][3] == status
    kept = shell.at_work(lambda context: context.store.read(kept_templates.get_by_id, 1))
    assert kept.comment == "읽었습니다"
    again = shell("template", word, "1")
    assert again.status == 1
    assert again.err.startswith("pabal: ")
    assert shell("template", word, "999").status == 1


def test_settings_lists_every_setting_with_value_and_meaning(shell: Shell) -> None:
    listed = shell("settings")

    assert listed.status == 0
    names = re.findall(r"^(\w+) = ", listed.out, re.MULTILINE)
    assert names == list(FIELDS)
    assert f"data = {shell.data}\n" in listed.out
    assert "port = 8080\n    Port to listen on.\n" in listed.out


def test_migrate_applies_what_is_missing_and_then_nothing(shell: Shell) -> None:
    first, second = shell("migrate"), shell("migrate")

    assert first.out == "".join(f"applied {step.number:04} {step.name}\n" for step in all_migrations())
    assert (second.status, second.out) == (0, "the schema is up to date\n")


def test_other_commands_do_not_migrate_where_it_is_forbidden(shell: Shell, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text("migrate = false")

    refused = shell("key", "list", "--config", str(config))
    assert refused.status == 2
    assert "run `pabal migrate` first" in refused.err
    shell("migrate", "--config", str(config))
    assert shell("key", "list", "--config", str(config)).status == 0


def make_newer(tx: Tx) -> None:
    tx.execute("insert into migrations values (9999, 'from the future', 0)")


@pytest.mark.parametrize("words", [["migrate"], ["key", "list"], ["doctor"]])
def test_a_store_of_a_newer_version_is_left_alone(shell: Shell, tmp_path: Path, words: list[str]) -> None:
    shell.at_work(lambda context: context.store.write(make_newer))

    for migrates in ("true", "false"):
        config = tmp_path / "pabal.toml"
        config.write_text(f"migrate = {migrates}")
        refused = shell(*words, "--config", str(config))
        assert refused.status in (1, 2)
        assert "9999" in refused.out + refused.err
        assert ("WRONG" in refused.out) == (words == ["doctor"])


def test_doctor_finds_nothing_wrong_with_a_good_set_up(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")

    found = shell("doctor")

    assert found.status == 0
    assert "WRONG" not in found.out
    for said in (
        "can be written",
        "no service runs on it now",
        "sound",
        "1 live keys",
        "every product has a route",
    ):
        assert said in found.out


def test_doctor_says_how_to_mend_what_is_wrong(shell: Shell) -> None:
    shell("migrate")
    found = shell("doctor")
    assert found.status == 1
    assert "WRONG there is no live key\n      Make one: pabal key create --account NAME" in found.out


def test_doctor_looks_at_a_fresh_directory_without_complaint(shell: Shell) -> None:
    found = shell("doctor")

    assert found.status == 0
    assert f"ok    the schema lacks {all_migrations()[0].number:04} {all_migrations()[0].name}" in found.out


def test_doctor_complains_of_a_schema_that_no_start_brings_up_to_date(shell: Shell, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text("migrate = false")

    found = shell("doctor", "--config", str(config))

    assert found.status == 1
    assert "WRONG the schema lacks 0001 initial" in found.out
    assert "Run `pabal migrate`." in found.out


def test_doctor_says_which_store_cannot_be_read(shell: Shell) -> None:
    shell.data.mkdir()
    (shell.data / "pabal.db").write_bytes(b"not a database at all" * 500)

    found = shell("doctor")

    assert found.status == 1
    assert "WRONG the store" in found.out
    assert "Restore a backup." in found.out


def test_doctor_says_that_the_data_directory_cannot_be_used(shell: Shell) -> None:
    shell.data.write_text("a file is no directory")

    found = shell("doctor")

    assert found.status == 1
    assert f"WRONG the data directory {shell.data} cannot be written" in found.out


def test_doctor_says_that_a_service_runs(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")
    with process_lock(load({}, data=shell.data)):
        found = shell("doctor")

    assert found.status == 0
    assert "a service runs on it now" in found.out


def test_doctor_says_which_jobs_have_no_carrier(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")
    shell.at_work(lambda context: context.store.write(queue.add, bytes(16), "gone", 0, 0))

    found = shell("doctor")

    assert found.status == 1
    assert "WRONG jobs wait for the carrier gone, which is not configured" in found.out


def seen(shell: Shell, state: CarrierState) -> None:
    """Keep a state of a carrier as a running service does."""
    shell.at_work(lambda context: context.store.write(carrier_states.save, state))


@pytest.mark.parametrize("state", ["down", "aside"])
def test_doctor_says_which_carrier_is_in_trouble_since_when_and_why(
    shell: Shell, tmp_path: Path, state: str
) -> None:
    shell("key", "create", "--account", "acme")
    config = tmp_path / "pabal.toml"
    config.write_text('zone = "Europe/Berlin"')
    for name in ("simulator", "gone"):  # the second is configured no more
        seen(shell, CarrierState(name, state, NOON, "connection refused"))

    found = shell("doctor", "--config", str(config))

    assert found.status == 1
    said = f"WRONG the carrier simulator has been {state} since 2026-11-15 04:00:00: connection refused\n"
    assert f"{said}      Its messages " in found.out
    assert "gone" not in found.out


def test_doctor_says_nothing_of_a_carrier_that_does_its_work(shell: Shell) -> None:
    shell("key", "create", "--account", "acme")
    seen(shell, CarrierState("simulator", "down", NOON, ""))
    assert shell("doctor").status == 1

    seen(shell, CarrierState("simulator", "up", NOON, ""))

    found = shell("doctor")
    assert found.status == 0
    assert "WRONG" not in found.out


def test_no_command_tells_the_password_of_a_carrier(shell: Shell, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    table = '[carriers.telco]\nkind = "smpp"\nhost = "smsc.example"\nsystem_id = "pabal"\n'
    config.write_text(f'{table}password = "hunter2!"\n[routes]\nsms = ["telco"]\n')
    shell("key", "create", "--account", "acme")

    shown, found = shell("settings", "--config", str(config)), shell("doctor", "--config", str(config))

    assert (shown.status, found.status) == (0, 0)
    assert "carriers.telco.password = (set)\n" in shown.out
    for said in (*shown[1:], *found[1:]):
        assert "hunter2" not in said


def test_a_password_that_is_refused_is_not_told(shell: Shell, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    table = '[carriers.telco]\nkind = "smpp"\nhost = "smsc.example"\nsystem_id = "pabal"\n'
    config.write_text(f'{table}password = "correct horse battery"\n')

    for words in (["settings"], ["doctor"], ["serve"]):
        refused = shell(*words, "--config", str(config))
        assert refused.status == 2
        assert "carriers.telco.password: at most 8 characters" in refused.err
        assert "horse" not in refused.out + refused.err


def test_doctor_says_which_products_have_no_route_and_what_listens_beyond_this_machine(
    shell: Shell, tmp_path: Path
) -> None:
    shell("key", "create", "--account", "acme")
    config = tmp_path / "pabal.toml"
    config.write_text('host = "0.0.0.0"\n[routes]\nsms = ["simulator"]')

    found = shell("doctor", "--config", str(config))

    assert found.status == 0
    assert "no route for lms, mms, alimTalk" in found.out
    assert "beyond this machine" in found.out


def test_doctor_says_which_table_of_categories_cannot_be_used(shell: Shell, tmp_path: Path) -> None:
    shell("key", "create", "--account", "acme")
    (tmp_path / "bad.csv").write_text("code,name\n1,\n")
    config = tmp_path / "pabal.toml"
    config.write_text(f'sender_categories = "{tmp_path / "bad.csv"}"')

    found = shell("doctor", "--config", str(config))

    assert found.status == 1
    assert "bad.csv: line 2" in found.out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_unknown_setting_is_refused_by_every_command(shell: Shell, tmp_path: Path, words: list[str]) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text("prot = 1")

    refused = shell(*words, "--config", str(config))

    assert (refused.status, refused.out) == (2, "")
    assert refused.err == "pabal: prot: no such setting; did you mean port?\n"
    assert not shell.data.exists()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_takes_data_and_config_after_its_words(
    shell: Shell, tmp_path: Path, words: list[str]
) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text('data = "overridden"\nkey_rate = 5')

    ran = shell.plain(*words, "--config", str(config), "--data", str(shell.data))

    assert "usage" not in ran.err
    assert ran.status in (0, 1, 2)
    assert words in MAKING_NO_STORE or shell.data.is_dir()
    assert not Path("overridden").exists()


def test_settings_of_the_file_count(shell: Shell, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text(f'data = "{shell.data}"\nkey_rate = 5')

    shell.plain("key", "create", "--account", "acme", "--config", str(config))

    assert shell("key", "list").rows[0][5] == "5/s"


@pytest.mark.parametrize("words", [["key", "list"], ["migrate"], ["account", "list"], ["serve"]])
def test_a_data_directory_that_cannot_be_used_is_said_in_words(shell: Shell, words: list[str]) -> None:
    shell.data.write_text("a file is no directory")

    refused = shell(*words)

    assert refused.status == 2
    assert "choose another with --data" in refused.err


@pytest.mark.parametrize("words", [["key", "list"], ["migrate"]])
def test_a_store_that_cannot_be_read_is_said_in_words(shell: Shell, words: list[str]) -> None:
    shell.data.mkdir()
    (shell.data / "pabal.db").write_bytes(b"not a database at all" * 500)

    refused = shell(*words)

    assert refused.status == 1
    assert "see `pabal doctor`" in refused.err


def test_serve_says_that_another_one_runs_on_the_same_data(shell: Shell) -> None:
    with process_lock(load({}, data=shell.data)):
        refused = shell("serve", "--port", "0")

    assert refused.status == 2
    assert "another pabal runs on" in refused.err


def test_serve_says_that_its_port_is_taken(shell: Shell) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        refused = shell("serve", "--port", str(port))

    assert refused.status == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in refused.err
    assert "--port" in refused.err


def test_serve_refuses_a_port_that_is_none(shell: Shell) -> None:
    refused = shell("serve", "--port", "65536")

    assert (refused.status, refused.err) == (2, "pabal: port: at most 65535\n")


@pytest.mark.parametrize("words", [[], ["key"], ["account"], ["number"], ["profile"], ["template"]])
def test_without_a_command_there_is_help(shell: Shell, words: list[str]) -> None:
    helped = shell.plain(*words)

    assert helped.status == 2
    assert "usage: pabal" in helped.out


def test_every_command_explains_itself(shell: Shell) -> None:
    for words in COMMANDS:
        helped = shell.plain(
            *[word for word in words if re.fullmatch("[a-z][a-z-]+", word) and word != "acme"], "--help"
        )
        assert helped.status == 0
        assert "--data DIR" in helped.out
        assert "--config FILE" in helped.out


def test_the_version_is_told(shell: Shell) -> None:
    assert shell.plain("--version").out == f"pabal {__version__}\n"


def test_an_unknown_command_is_refused(shell: Shell) -> None:
    assert shell.plain("fly").status == 2
