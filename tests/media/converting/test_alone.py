"""A parsing process that a strange file has taken over: it starts nothing, reaches nobody, changes nothing, and ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kernel import clock
from kernel.errors import TooLargeError
from media.converting import process
from media.converting.process import Allowance, let_through, run
from media.extensions.health import check_parsers

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64"),
    reason="the filter is written for Linux on x86-64 and ARM64; elsewhere only the limits hold (decision 0027)",
)
ALLOWED = Allowance(seconds=300, memory=500_000_000)
TRYING = """
import ctypes, json, os, shutil, signal, socket, subprocess, sys, threading
from pathlib import Path
kept = Path(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)

def call(*given):
    done = libc.syscall(*given)
    if done == -1:
        raise OSError(ctypes.get_errno(), "refused")
    if done == 0 and os.getpid() != me:
        os._exit(0)
    return done

me = os.getpid()
try:
    told = {expression}
except OSError as exc:
    told = f"refused {{exc.errno}}"
print(json.dumps(told, default=str))
"""
EPERM, ENOSYS, TOO_MANY = "refused 1", "refused 38", "refused 24"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with one file that nobody may change."""
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "file").write_text("precious")
    return folder


def trying(folder: Path, expression: str, allowed: Allowance = ALLOWED):
    script = folder.with_name("script.py")
    script.write_text(TRYING.format(expression=expression))
    return json.loads(run(script, [folder], allowed) or '"died"')


def test_it_works(kept):
    """What a parser needs is left to it: reading, its memory, threads."""
    assert trying(kept, "(kept / 'file').read_text()") == "precious"
    seen = (
        "(found := [], each := threading.Thread(target=found.append, args=(1,)), each.start(), each.join(), found)[-1]"
    )
    assert trying(kept, seen) == [1]


@pytest.mark.parametrize(
    "expression",
    [
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.execv('/bin/true', ['true'])",
        "subprocess.run(['/bin/true'])",
        "socket.socket()",
        "socket.create_connection(('127.0.0.1', 9))",
        "socket.getaddrinfo('localhost', 80) and socket.socket(socket.AF_UNIX)",
        "os.kill(os.getppid(), signal.SIGSTOP)",
        "os.killpg(os.getpgid(os.getppid()), signal.SIGSTOP)",
        "(kept / 'file').write_text('gone')",
        "(kept / 'new').open('xb')",
        "os.open(kept / 'file', os.O_RDONLY | os.O_TRUNC)",
        "os.truncate(kept / 'file', 0)",
        "(kept / 'file').unlink()",
        "(kept / 'file').rename(kept / 'other')",
        "(kept / 'file').chmod(0o777)",
        "(kept / 'link').symlink_to('/etc/passwd')",
        "(kept / 'folder').mkdir()",
        "Path('here').write_text('own folder')",
    ],
)
def test_what_no_parser_needs_is_refused(kept, expression):
    assert trying(kept, expression) == EPERM
    assert [each.name for each in kept.iterdir()] == ["file"]
    assert (kept / "file").read_text() == "precious"


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("call(435, bytes(64), 64)", ENOSYS),  # clone3, whose flags no filter sees
        ("call(437, -100, b'/etc/passwd', bytes(24), 24)", ENOSYS),  # openat2
        ("os.system('/bin/true')", 32512),
        ("shutil.rmtree(kept, ignore_errors=True)", None),
        ("[os.open('/etc/passwd', os.O_RDONLY) for _ in range(100)]", TOO_MANY),
    ],
)
def test_what_goes_round_python_is_refused_too(kept, expression, told):
    assert trying(kept, expression) == told
    assert (kept / "file").read_text() == "precious"


def test_a_second_set_of_system_calls_ends_it(kept):
    assert trying(kept, "call(0x40000000 + 57)") == "died"


@pytest.mark.parametrize("expression", ["print('x' * 2_000_000)", "os.write(1, b'x' * 2_000_000)",
                                        "[print('x' * 100_000) for _ in range(10_000)]"])  # fmt: skip
def test_an_answer_without_end_is_refused(kept, expression):
    with pytest.raises(TooLargeError, match="1048576 bytes"):
        trying(kept, expression)


@pytest.mark.parametrize("expression", ["threading.Event().wait()", "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)) "
                                        "and None or threading.Event().wait()"])  # fmt: skip
def test_what_waits_for_ever_is_ended(kept, expression):
    with pytest.raises(TooLargeError, match="longer than 1 seconds"):
        trying(kept, expression, Allowance(seconds=1, memory=500_000_000))


def test_what_computes_for_ever_is_ended_by_the_kernel_itself(kept):
    with pytest.raises(TooLargeError, match=r"longer than 1\.9 seconds"):
        trying(kept, "[0 for _ in iter(int, 1)]", Allowance(seconds=1.9, memory=500_000_000))


@pytest.mark.parametrize("hidden", [False, True])
def test_what_waits_for_ever_ends_also_where_the_server_that_started_it_is_dead(tmp_path, hidden):
    """Also where that one had hidden the signal from its children."""
    script = tmp_path / "script.py"
    script.write_text("import threading; threading.Event().wait()")
    command = [sys.executable, "-I", str(process._ALONE), "500000000", "1", "1000", str(script)]
    hide = (
        "import os, signal, sys; signal.signal(14, signal.SIG_IGN); signal.pthread_sigmask(signal.SIG_BLOCK, [14]); "
    )
    command = [sys.executable, "-c", f"{hide}os.execv(sys.argv[1], sys.argv[1:])", *command] if hidden else command
    assert subprocess.run(command, timeout=60, check=False).returncode == -signal.SIGALRM


UNLIMITED = "import runpy, sys\nsys.argv = sys.argv[4:]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"


@pytest.fixture
def instead(tmp_path, monkeypatch):
    """Run parsing processes by another script than the one that gives up what is not needed."""

    def take(text: str) -> None:
        (tmp_path / "alone.py").write_text(text)
        monkeypatch.setattr(process, "_ALONE", tmp_path / "alone.py")

    return take


def test_the_doctor_finds_nothing_that_gets_through():
    assert let_through(ALLOWED.memory) == []
    assert check_parsers(clock.now()).advice == ""


def test_where_the_kernel_takes_no_filter_the_doctor_names_what_gets_through(instead):
    instead(UNLIMITED)
    found = check_parsers(clock.now())
    for done in ("start a process", "start a program", "reach the network", "signal another process", "write a file"):
        assert done in found.what
    assert "seccomp" in found.advice


@pytest.mark.parametrize("text", ["", "raise SystemExit(1)", "print('words')"])
def test_a_process_that_does_not_run_is_told(instead, text):
    instead(text)
    assert "does not run" in check_parsers(clock.now()).what


@pytest.mark.parametrize("text", ["import time; time.sleep(60)", "import os; os.kill(os.getpid(), 9)"])
def test_a_process_that_does_not_end_is_told(instead, monkeypatch, text):
    monkeypatch.setattr(process, "_TRYING", 1.0)
    instead(text)
    assert "did not end by itself" in check_parsers(clock.now()).what
