"""Checks that what `make dist` has built can be published: `check.py FOLDER`; it publishes nothing."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path

from build_backend import CLIENT, CLIENT_PARTS, ROOT, SERVICE, make_links_absolute, read_source_url, read_version
from notes import sections_of

MAX_CLIENT_BYTES = 200 * 1024
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLACES = {
    "deploy/container/Dockerfile": 'image.version="{}"',
    "deploy/compose/sqlite.yaml": "image: pabal:{}",
    "deploy/compose/postgresql.yaml": "image: pabal:{}",
    "deploy/helm/pabal/Chart.yaml": "appVersion: {}",
    "README.md": "Version {},",
    "README.ko.md": "버전 {},",
    "docs/how-to/containers.md": "pabal:{} .",
    "docs/how-to/systemd.md": "/opt/pabal-{}",
}
"""Files that name the version, and how."""
DATED = r"^## \[{}\] - \d{{4}}-\d\d-\d\d$"


def find_problems(folder: Path) -> Iterator[str]:
    """Yield what keeps the version from being published."""
    version = read_version()
    if _git("status", "--porcelain"):
        yield "the work tree has changes: commit them"
    for name, form in PLACES.items():
        if form.format(version) not in (ROOT / name).read_text(encoding="utf-8"):
            yield f"{name} does not name version {version}"
    yield from find_changelog_problems(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if _git("rev-parse", "--quiet", "--verify", f"v{version}^{{commit}}") not in ("", _git("rev-parse", "HEAD")):
        yield f"v{version} is the tag of another commit: raise the version"
    for name in (SERVICE, CLIENT):
        yield from find_wheel_problems(folder, name, version)
    for name in ("NOTES.md", "TAG.md", "SHA256SUMS", "pabal.cdx.json"):
        if not (folder / name).is_file() or not (folder / name).stat().st_size:
            yield f"{name} is missing"


def find_changelog_problems(version: str, changelog: str) -> Iterator[str]:
    """Yield what is wrong with the changelog."""
    if not re.search(DATED.format(re.escape(version)), changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no section [{version}] with a date"
    if sections_of(changelog).get("Unreleased"):
        yield "CHANGELOG.md has unreleased changes: move them to the version"


def find_wheel_problems(folder: Path, name: str, version: str) -> Iterator[str]:
    """Yield what is wrong with the wheel of a distribution, and with its metadata."""
    base = f"{name.replace('-', '_')}-{version}"
    wheel = folder / f"{base}-py3-none-any.whl"
    if not wheel.is_file() or not (folder / f"{base}.tar.gz").is_file():
        yield f"{base} was not built"
        return
    with zipfile.ZipFile(wheel) as archive:
        files = {each for each in archive.namelist() if ".dist-info/" not in each}
        metadata = BytesParser().parsebytes(archive.read(f"{base}.dist-info/METADATA"))
    description = str(metadata.get_payload())
    urls = dict(each.split(", ", 1) for each in metadata.get_all("Project-URL", []))
    needed = ("Name", "Version", "Summary", "Author", "License-Expression", "Requires-Python", "Keywords")
    yield from (f"{name}: no {each}" for each in needed if not metadata[each])
    if metadata["Version"] != version or metadata["Description-Content-Type"] != "text/markdown":
        yield f"{name}: wrong version, or a README that is not Markdown"
    if urls.get("Source") != read_source_url() or not {"Documentation", "Changelog", "Issues"} <= urls.keys():
        yield f"{name}: addresses are missing, or not those of the service"
    classifiers = metadata.get_all("Classifier", [])
    yield from (
        f"{name}: no classifier of Python {each}"
        for each in PYTHONS
        if f"Programming Language :: Python :: {each}" not in classifiers
    )
    if not description.strip() or make_links_absolute(description) != description:
        yield f"{name}: the README has relative links"
    is_client = {each for each in files if each.split("/")[1] in CLIENT_PARTS}
    if is_client != (files if name == CLIENT else set()):
        yield f"{name}: it has files of the other distribution"
    if name == CLIENT and wheel.stat().st_size > MAX_CLIENT_BYTES:
        yield f"{name}: {wheel.stat().st_size:,} bytes are more than {MAX_CLIENT_BYTES:,}"
    if name == SERVICE and f"{CLIENT}=={version}" not in metadata.get_all("Requires-Dist", []):
        yield f"{name}: it does not depend on {CLIENT}=={version}"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main() -> int:
    """Print the problems, or what to do next; return the exit status."""
    problems = list(find_problems(Path(sys.argv[1])))
    for each in problems:
        print(f"not ready: {each}", file=sys.stderr)
    if problems:
        return 1
    version = read_version()
    print(f"Pabal {version} is ready. Nothing was published. To publish it:")
    print(f"  git tag --annotate v{version} --cleanup=verbatim --file dist/TAG.md && git push origin v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
