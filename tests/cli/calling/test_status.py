"""`pabal status` shows queue, carriers, rates and workers of a running service."""

import json
from typing import Any

from pabal.cli.calling.status import parse_metrics, read_figures
from tests.fixtures.calling import SENDER, CallingLine
from tests.fixtures.live import wait_until
from tests.fixtures.scripted_service import ScriptedAnswer, ScriptedService, refuse

PAGE = r"""# HELP pabal_queue_jobs Jobs in the queue.
# TYPE pabal_queue_jobs gauge
pabal_queue_jobs{carrier="telco",lane="small"} 3.0
pabal_queue_oldest_due_seconds{carrier="telco",lane="small"} 1.25
pabal_carrier_state{carrier="telco",state="up",worker="a:1"} 1.0
pabal_carrier_messages_per_minute{carrier="telco",worker="a:1"} 600.0
pabal_worker_slots{worker="a:1"} 8.0
pabal_worker_heartbeats{worker="a:1"} %d
pabal_messages_accepted_total{product="sms"} 5.0
pabal_messages_accepted_total{product="lms"} 1.0
pabal_messages_ended_total{code="1000",product="sms"} 4.0
pabal_store_commit_seconds_count 7.0
"""


def test_figures_are_read_from_the_metrics() -> None:
    figures = read_figures(PAGE % 9)

    assert figures.queue == [("telco", "small", 3, 1.2)]
    assert figures.carriers == [("telco", "a:1", "up", 600)]
    assert figures.workers == [("a:1", 8, 9)]
    assert (figures.accepted, figures.ended) == (6, 4)
    assert read_figures("").queue == []


def test_labels_are_read_as_they_were_meant() -> None:
    ((labels, value),) = parse_metrics(r'a{x="say \"hi\", a\\b",y=""} 1e3' + "\n")["a"]

    assert (labels, value) == ({"x": 'say "hi", a\\b', "y": ""}, 1000)


def test_status_of_a_running_service_is_shown(line: CallingLine) -> None:
    sent = line("send", "sms", "--to", "010-0000-0006", "--from", SENDER, "--content", "안녕")
    assert sent.status == 0

    def read() -> Any:
        shown = line.run("status", "--interval", "0.05", "--url", line.account.base_url, "--json")
        assert shown.status == 0, shown.err
        return json.loads(shown.out)

    said = wait_until(read, lambda said: bool(said["carriers"]))  # their states are stored soon after the start
    assert said["isReady"] is True
    assert {(each["carrier"], each["lane"]) for each in said["queue"]} == {
        ("simulator", "small"), ("simulator", "campaign"), ("simulator", "awaiting_receipt"),
    }  # fmt: skip
    assert [(each["carrier"], each["state"]) for each in said["carriers"]] == [("simulator", "up")]
    assert said["workers"] == []


def test_worker_whose_heartbeats_stand_still_is_shown_as_dead(line: CallingLine) -> None:
    ready, page = ScriptedAnswer(200), ScriptedAnswer(200, (PAGE % 9).encode())
    with ScriptedService() as scripted:
        scripted.answers = [ready, page, ready, page]
        dead = line.run("status", "--interval", "0.05", "--url", scripted.base_url)
        scripted.answers = [ready, page, ready, ScriptedAnswer(200, (PAGE % 12).encode())]
        alive = line.run("status", "--interval", "0.05", "--url", scripted.base_url)

    assert dead.out.splitlines()[-1].split() == ["a:1", "8", "no"]
    assert alive.out.splitlines()[-1].split() == ["a:1", "8", "yes"]


def test_address_without_metrics_is_told_where_they_are(line: CallingLine) -> None:
    with ScriptedService() as scripted:
        scripted.answers = 2 * [ScriptedAnswer(200), refuse("NOT_FOUND", 404)]
        shown = line.run("status", "--interval", "0.05", "--url", scripted.base_url)
        scripted.answers = 2 * [ScriptedAnswer(200), refuse("NOT_FOUND", 404)]
        as_json = line.run("status", "--interval", "0.05", "--url", scripted.base_url, "--json")

    assert (shown.status, as_json.status) == (0, 0)
    assert "from the setting work_port on" in shown.out
    assert "from the setting work_port on" in as_json.err


def test_service_that_is_not_ready_or_away_fails(line: CallingLine) -> None:
    with ScriptedService() as scripted:
        scripted.answers = [refuse("SERVICE_UNAVAILABLE", 503)]
        not_ready = line.run("status", "--interval", "0.05", "--url", scripted.base_url)
    away = line.run("status", "--interval", "0.05", "--url", scripted.base_url)

    assert (not_ready.status, away.status) == (4, 4)
    assert "not ready" in not_ready.out
    assert "does not answer" in away.err
