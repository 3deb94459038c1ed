"""The files of deploy/ for containers: their commands, settings, metrics and versions exist and fit each other."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pabal import __version__
from pabal.cli import main
from pabal.service.metrics import Metrics
from pabal.settings import settings
from pabal.settings.environment import ENVIRONMENT_PREFIX
from pabal.settings.settings import FIELDS, RESERVED_VARIABLES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "container" / "Dockerfile").read_text(encoding="utf-8")
CHART = DEPLOY / "helm" / "pabal"
ALERTS = CHART / "files" / "alerts.yaml"
DASHBOARD = CHART / "files" / "dashboard.json"
COMPOSE_FILES = ("sqlite.yaml", "postgresql.yaml")
LEAST_GRACE_S = 2 * settings.load({}).stop_seconds + 10
KINDS = {
    "sqlite": ["StatefulSet", "Service"],
    "postgresql": ["Deployment", "PodDisruptionBudget", "Deployment", "Job", "Service"],
}
ALL_OPTIONS = (
    "ingress.enabled=true",
    "ingress.tlsSecret=certificate",
    "ingress.className=nginx",
    "monitoring.podMonitor=true",
    "monitoring.rules=true",
    "monitoring.dashboard=true",
    "config=zone = 'Asia/Seoul'",
    "envFromSecrets[0]=pabal-secrets",
    "env.PABAL_SLOTS=8",
    "imagePullSecrets[0].name=registry",
    "extraVolumes[0].name=ca",
    "extraVolumes[0].secret.secretName=internal-ca",
    "extraVolumeMounts[0].name=ca",
    "extraVolumeMounts[0].mountPath=/etc/pabal-ca",
)
OLDEST_KUBERNETES = "1.31"

with_compose_file = pytest.mark.parametrize("name", COMPOSE_FILES)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def services(name: str) -> dict[str, dict[str, Any]]:
    """Return the services of a compose file."""
    found: dict[str, dict[str, Any]] = load(DEPLOY / "compose" / name)["services"]
    return found


def our_services(name: str) -> dict[str, dict[str, Any]]:
    return {each: service for each, service in services(name).items() if service["image"].startswith("pabal:")}


def all_variables() -> set[str]:
    """Return every variable with our prefix in any file of deploy/."""
    texts = [
        path.read_text(encoding="utf-8") for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    return {each for text in texts for each in re.findall(rf"\b{ENVIRONMENT_PREFIX}[A-Z_]+\b", text)}


def expressions() -> list[str]:
    """Return every expression of the alert rules and of the dashboard."""
    rules = [rule["expr"] for group in load(ALERTS)["groups"] for rule in group["rules"]]
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return rules + [target["expr"] for panel in panels for target in panel["targets"]]


def test_every_variable_is_a_setting() -> None:
    known = {f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in FIELDS} | set(RESERVED_VARIABLES)

    assert all_variables() <= known


def test_every_file_names_this_version() -> None:
    chart = load(CHART / "Chart.yaml")
    images = {service["image"] for name in COMPOSE_FILES for service in our_services(name).values()}

    assert f'image.version="{__version__}"' in DOCKERFILE
    assert f"pabal:{__version__} ." in DOCKERFILE
    assert images == {f"pabal:{__version__}"}
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_image_runs_without_rights_and_has_what_it_copies() -> None:
    last_stage = DOCKERFILE.rpartition("\nFROM ")[2]
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M) for word in line.split()]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert "USER 10001:10001" in last_stage
    assert "HEALTHCHECK" in last_stage
    assert copied
    for each in copied:
        assert (ROOT / each).exists(), each
        assert f"!{each}" in ignored, each


@with_compose_file
def test_our_containers_have_a_read_only_root_and_no_rights(name: str) -> None:
    for service in our_services(name).values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert int(service["stop_grace_period"].removesuffix("s")) >= LEAST_GRACE_S


@with_compose_file
def test_our_containers_run_existing_commands(name: str) -> None:
    for service in our_services(name).values():
        assert hasattr(main.build_parser().parse_args(service["command"]), "run")


@with_compose_file
def test_mounted_files_and_volumes_exist(name: str) -> None:
    file = DEPLOY / "compose" / name
    volumes = load(file)["volumes"]
    for service in services(name).values():
        for mount in service.get("volumes", []):
            source = mount.partition(":")[0]
            assert (file.parent / source).resolve().is_file() if source.startswith(".") else source in volumes


def test_compose_files_are_projects_of_their_own_with_the_volumes_that_they_had() -> None:
    files = {name: load(DEPLOY / "compose" / name) for name in COMPOSE_FILES}

    assert {name: file["name"] for name, file in files.items()} == {
        "sqlite.yaml": "pabal",
        "postgresql.yaml": "pabal-cluster",
    }
    assert files["postgresql.yaml"]["volumes"] == {
        each: {"name": f"pabal_{each}"} for each in ("postgresql", "prometheus", "grafana")
    }


@with_compose_file
def test_our_containers_read_carriers_from_a_file_and_secrets_from_another(name: str) -> None:
    for service in our_services(name).values():
        path = service["environment"]["PABAL_CONFIG"]
        assert f"./pabal.toml:{path}:ro" in service["volumes"]
        assert service["env_file"] == [{"path": "carriers.env", "required": False}]


def test_file_for_carriers_can_be_read_also_with_its_example(tmp_path: Path) -> None:
    text = (DEPLOY / "compose" / "pabal.toml").read_text(encoding="utf-8")
    example = tmp_path / "pabal.toml"
    example.write_text(re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE), encoding="utf-8")

    assert not settings.load({}, file=DEPLOY / "compose" / "pabal.toml").has_real_carriers
    found = settings.load({"TELCO_PASSWORD": "secret"}, file=example)
    assert list(found.carriers) == ["telco"]
    assert found.routes["sms"] == ["telco"]


def test_all_pods_get_the_extra_volumes_of_the_chart() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (CHART / "templates").glob("*.yaml")}
    pods = {name: text for name, text in texts.items() if "containers:" in text}

    assert set(pods) == {"migrate.yaml", "sqlite.yaml", "web.yaml", "work.yaml"}
    for name, text in pods.items():
        for helper, value in (("pabal.mounts", "extraVolumeMounts"), ("pabal.volumes", "extraVolumes")):
            assert f'include "{helper}"' in text or f".Values.{value} " in text, (name, value)


def test_cluster_has_two_interfaces_and_two_workers_that_wait_for_the_migration() -> None:
    found = our_services("postgresql.yaml")

    assert {name: service.get("deploy", {}).get("replicas") for name, service in found.items()} == {
        "migrate": None,
        "web": 2,
        "work": 2,
    }
    for name in ("web", "work"):
        assert found[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
        assert found[name]["environment"]["PABAL_MIGRATE"] == "false"


def test_nothing_secret_is_printed_into_the_log_of_a_container() -> None:
    assert re.search(r"^ +PABAL_FIRST_ACCOUNT=false ", DOCKERFILE, re.MULTILINE)


def test_caddy_and_the_service_trust_the_network_of_the_cluster() -> None:
    """A proxy on the machine comes through its gateway; Caddy drops what others forward."""
    cluster = load(DEPLOY / "compose" / "postgresql.yaml")
    (network,) = cluster["networks"]["inside"]["ipam"]["config"]
    caddy = (DEPLOY / "compose" / "Caddyfile").read_text(encoding="utf-8")

    assert re.findall(r"^\t\ttrusted_proxies (.+)$", caddy, re.MULTILINE) == [network["subnet"]]
    assert cluster["x-settings"]["PABAL_TRUSTED_PROXIES"] == network["subnet"]


def test_health_checks_and_scrapes_use_the_ports_that_processes_listen_on() -> None:
    found = our_services("postgresql.yaml")
    (scrape,) = load(DEPLOY / "compose" / "monitoring" / "prometheus.yaml")["scrape_configs"]
    ports = {name: each["port"] for each in scrape["dns_sd_configs"] for name in each["names"]}

    assert ports == {"web": FIELDS["port"].default, "work": int(found["work"]["command"][-1])}
    assert found["work"]["environment"]["HEALTH_URL"] == f"http://127.0.0.1:{ports['work']}/healthz"
    assert f"HEALTH_URL=http://127.0.0.1:{ports['web']}/healthz" in DOCKERFILE


def test_alert_rules_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "how-to" / "monitoring.md").read_text(encoding="utf-8")

    assert f"```yaml\n{ALERTS.read_text(encoding='utf-8')}```" in page


@pytest.mark.parametrize("folder", ["docs", "docs/ko"])
def test_every_alert_has_a_command_that_finds_its_cause(folder: str) -> None:
    page = (ROOT / folder / "how-to" / "incidents.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `Pabal")]
    commands = {name: row[2].strip() for row in rows for name in re.findall(r"`(Pabal\w+)`", row[1])}
    alerts = {each["alert"] for group in load(ALERTS)["groups"] for each in group["rules"]}

    assert alerts == {name for name, command in commands.items() if command.startswith("`")}


def test_rules_and_dashboard_use_existing_metrics() -> None:
    families = list(Metrics().collect())
    known = {f"{each.name}_total" if each.type == "counter" else each.name for each in families}
    named = {each for text in expressions() for each in re.findall(r"pabal_\w+?(?=_bucket\b|\b)", text)}

    assert len(named) > 10
    assert named <= known


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = [panel["gridPos"] for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]]
    cells = [
        (x, y)
        for each in panels
        for x in range(each["x"], each["x"] + each["w"])
        for y in range(each["y"], each["y"] + each["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23


def test_chart_has_defaults_for_all_that_it_uses() -> None:
    values = load(CHART / "values.yaml")
    texts = [path.read_text(encoding="utf-8") for path in (CHART / "templates").iterdir()]
    used = {each for text in texts for each in re.findall(r"\.Values\.([\w.]+)", text)}

    for path in used:
        found = values
        for name in path.split("."):
            assert name in found, path
            found = found[name]


def test_commands_of_the_chart_exist() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (CHART / "templates").glob("*.yaml")]
    commands = [yaml.safe_load(each) for text in texts for each in re.findall(r"args: (\[.+\])", text)]

    assert len(commands) == 4
    for words in commands:
        assert hasattr(main.build_parser().parse_args(words), "run"), words


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_prometheus_accepts_the_rules_and_the_configuration(tmp_path: Path) -> None:
    config = (DEPLOY / "compose" / "monitoring" / "prometheus.yaml").read_text(encoding="utf-8")
    (tmp_path / "prometheus.yml").write_text(config.replace("/etc/prometheus/alerts.yaml", str(ALERTS)))

    for words in (["rules", str(ALERTS)], ["config", str(tmp_path / "prometheus.yml")]):
        subprocess.run(["promtool", "check", *words], check=True, timeout=60)


def render_chart(kind: str, *values: str) -> list[dict[str, Any]]:
    """Return the objects that Helm makes of the chart."""
    given = [word for value in (f"store.kind={kind}", *values) for word in ("--set", value)]
    subprocess.run(["helm", "lint", "--strict", str(CHART), *given], check=True, timeout=60)
    words = ["helm", "template", "pabal", str(CHART), *given]
    rendered = subprocess.run(words, check=True, timeout=60, capture_output=True, text=True)
    return [each for each in yaml.safe_load_all(rendered.stdout) if each]


with_helm = pytest.mark.skipif(not shutil.which("helm"), reason="helm is not installed")


@with_helm
@pytest.mark.parametrize("kind", KINDS)
def test_helm_accepts_the_chart(kind: str) -> None:
    rendered = render_chart(kind, "ingress.enabled=true")

    assert {each["kind"] for each in rendered} == {*KINDS[kind], "Ingress"}


@with_helm
@pytest.mark.parametrize("kind", KINDS)
def test_kubernetes_knows_every_field_of_the_chart(kind: str) -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")

    for each in render_chart(kind, *ALL_OPTIONS):
        if not each["apiVersion"].startswith("monitoring.coreos.com/"):  # of the Prometheus operator
            schemas.validate(each, OLDEST_KUBERNETES, strict=True)
