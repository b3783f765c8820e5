"""Run every static check, two at a time, and fail if one of them does."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from scripts.environment import without_settings
from scripts.venv import ROOT

BIN = Path(sys.executable).parent
MANAGE = [sys.executable, "manage.py"]
KEY = "only-for-these-checks-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDE"
# What a real installation sets, so that Django's deployment checks judge the settings and not their absence.
DEPLOYED = {
    "ALLOWED_HOSTS": "brain.example",
    "SECURE_SSL_REDIRECT": "1",
    "SECURE_HSTS_SECONDS": "31536000",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One command, named as people talk about it; `extra` are environment variables of its own."""

    name: str
    command: list[str]
    extra: tuple[tuple[str, str], ...] = ()


# The slow ones first, so that two cores finish together.
CHECKS = [
    Check("types", [str(BIN / "mypy"), "."]),
    Check("imports", [str(BIN / "lint-imports")]),
    Check("deployment", [*MANAGE, "check", "--deploy", "--fail-level", "WARNING"], tuple(DEPLOYED.items())),
    Check("migrations", [*MANAGE, "makemigrations", "--check", "--dry-run"]),
    Check("system", [*MANAGE, "check", "--fail-level", "WARNING"]),
    Check("audit", [sys.executable, "-m", "scripts.audit"]),
    Check("lint", [str(BIN / "ruff"), "check", "."]),
    Check("format", [str(BIN / "ruff"), "format", "--check", "."]),
]


def main() -> int:
    """Run all checks to the end, print each as it ends, and answer how many failed as 0 or 1."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="smartbrain-check-") as folder, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda check: _run(check, folder), CHECKS))
    failed = [check.name for check, ok in zip(CHECKS, results, strict=True) if not ok]
    verdict = f"failed: {', '.join(failed)}" if failed else "all passed"
    print(f"{len(CHECKS)} checks in {time.monotonic() - started:.0f} s, {verdict}")
    return int(bool(failed))


def _run(check: Check, folder: str) -> bool:
    started = time.monotonic()
    env = {**without_settings(), "DATA_DIR": folder, "SECRET_KEY": KEY, **dict(check.extra)}
    done = subprocess.run(check.command, check=False, capture_output=True, text=True, cwd=ROOT, env=env)
    ok = done.returncode == 0
    shown = (done.stdout + done.stderr).strip() if not ok or check.name == "audit" else ""
    took = f"{time.monotonic() - started:.1f} s"
    print(f"{'ok  ' if ok else 'FAIL'} {check.name:<10} {took:>7}" + (f"  {shown}" if shown else ""), flush=True)
    return ok


if __name__ == "__main__":
    sys.exit(main())
