"""Ask the vulnerability feed about every pinned package, and never report an unasked question as a clean answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from scripts.venv import ROOT, TOOLS

SECONDS = 120
# The last line of what pip-audit prints when the feed cannot be reached; anything else it fails with is a failure here.
NETWORK = re.compile(
    r"^requests\.exceptions\.(ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError)\b"
    r"|^ERROR:pip_audit\S*Tip: your network may be blocking this service"
    r"|^pip_audit\._service\.interface\.(ServiceError|ConnectionError)\b",
    re.MULTILINE,
)


def main() -> int:
    """Print the verdict; 1 where a pinned package is known to be vulnerable or the audit itself is broken."""
    command = [str(Path(sys.executable).parent / "pip-audit"), *(f"--requirement={ROOT / name}" for name in TOOLS)]
    command += ["--no-deps", "--disable-pip", "--format=json", "--progress-spinner=off", "--timeout=10"]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(f"vulnerability feed not reachable within {SECONDS} s, skipped")
        return 0
    text, failed = judge(done.stdout, done.stderr)
    print(text)
    return int(failed)


def judge(stdout: str, stderr: str) -> tuple[str, bool]:
    """What pip-audit's output means, and whether it must fail the check."""
    try:
        rows = json.loads(stdout)["dependencies"]
    except ValueError:
        if NETWORK.search(stderr):
            return "vulnerability feed not reachable, skipped", False
        return f"pip-audit failed:\n{stderr[-2000:]}", True
    found = [
        f"{row['name']} {row['version']}: {fault['id']} (fixed in {', '.join(fault['fix_versions']) or 'no release'})"
        for row in rows
        for fault in row.get("vulns", [])
    ]
    if found:
        return "known vulnerabilities:\n" + "\n".join(found), True
    unknown = [row["name"] for row in rows if "skip_reason" in row]
    if len(unknown) == len(rows):
        return f"the feed that answers here knows none of the {len(rows)} packages: not reachable, skipped", False
    audited = f"{len(rows) - len(unknown)} of {len(rows)} packages audited, none known to be vulnerable"
    return audited + (f"; unknown to the feed: {', '.join(unknown)}" if unknown else ""), False


if __name__ == "__main__":
    sys.exit(main())
