"""Adds what the package contains of others to a bill of materials: `add_vendored.py FILE`."""

import hashlib
import json
import re
import sys
from pathlib import Path

STATIC = Path(__file__).parents[2] / "src" / "pabal" / "console" / "static"
NOTICE = re.compile(r"(\S+) is (\w+) ([\d.]+) \(\S+ of the npm package (\S+)\)")


def vendored_components() -> list[dict[str, object]]:
    """Return the files that are named in NOTICE, as components of CycloneDX."""
    found = NOTICE.findall((STATIC / "NOTICE").read_text(encoding="utf-8"))
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:npm/{package}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:npm/{package}@{version}",
            "licenses": [{"license": {"id": "0BSD"}}],
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256((STATIC / file).read_bytes()).hexdigest()}],
        }
        for file, name, version, package in found
    ]


def main() -> None:
    """Add the components to the file."""
    path = Path(sys.argv[1])
    document = json.loads(path.read_text(encoding="utf-8"))
    known = {each.get("purl") for each in document["components"]}
    document["components"] += [each for each in vendored_components() if each["purl"] not in known]
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
