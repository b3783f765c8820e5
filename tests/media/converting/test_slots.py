"""How many parsers run at once, whoever starts them and whoever dies."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from kernel import clock
from kernel.errors import UnavailableError
from media.converting import BusyError, Limits, slots, to_markdown
from media.converting.process import Allowance, run
from media.extensions.health import check_parsers
from tests.media import files


@pytest.fixture(autouse=True)
def few(set_conf, tmp_path, monkeypatch):
    set_conf(data_dir=tmp_path, media_parsers=2)
    monkeypatch.setattr(slots, "_WAIT_SECONDS", 0.0)


def test_it_works(tmp_path):
    assert "西瓜" in to_markdown(files.xlsx(tmp_path / "a.xlsx"), ".xlsx", Limits()).text
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(slots.slot())
        with pytest.raises(BusyError) as caught:
            to_markdown(files.xlsx(tmp_path / "a.xlsx"), ".xlsx", Limits())
    assert isinstance(caught.value, UnavailableError)
    assert (caught.value.status, caught.value.code, caught.value.retry_after) == (503, "unavailable", 15)
    assert to_markdown(files.xlsx(tmp_path / "a.xlsx"), ".xlsx", Limits()).text


def test_who_waits_gets_the_one_that_comes_free(monkeypatch):
    monkeypatch.setattr(slots, "_WAIT_SECONDS", 600.0)
    inside, most, lock, full = [], [], threading.Lock(), threading.Event()

    def work() -> None:
        with slots.slot() as handle:
            with lock:
                inside.append(handle)
                most.append(len(inside))
                if len(inside) == 2:
                    full.set()
            full.wait(120)  # the first holds on until another has come
            time.sleep(0.02)
            with lock:
                inside.remove(handle)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (len(most), max(most)) == (8, 2)


def test_a_parser_whose_server_died_still_counts(set_conf):
    set_conf(media_parsers=1)
    with slots.slot() as handle:
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, pass_fds=(handle,)
        )
    with child:
        with pytest.raises(BusyError), slots.slot():
            pass
        child.kill()
    with slots.slot():
        pass


def test_the_script_holds_it_and_it_is_given_back_when_a_script_fails(tmp_path, set_conf):
    set_conf(media_parsers=1)
    script = tmp_path / "script.py"
    script.write_text(
        "import os; print(any('parsing' in os.readlink(f'/proc/self/fd/{n}') for n in range(3, 30) "
        "if os.path.islink(f'/proc/self/fd/{n}')))"
    )
    allowed = Allowance(300.0, 1_073_741_824)
    assert run(script, (), allowed).strip() == b"True"
    script.write_text("raise SystemExit(3)")
    for _ in range(3):
        run(script, (), allowed)
    assert [each.name for each in (tmp_path / "parsing").iterdir()] == ["0.lock"]


@pytest.mark.parametrize("number", [0, -3])
def test_there_is_always_one(set_conf, number):
    set_conf(media_parsers=number)
    with slots.slot():
        pass


def _no_folder(folder, monkeypatch):
    folder.write_text("a file where the folder should be")


def _no_files(folder, monkeypatch):
    (folder / "0.lock").mkdir(parents=True)


def _no_locks(folder, monkeypatch):
    def flock(handle, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("spoil", [_no_folder, _no_files, _no_locks])
def test_a_folder_that_cannot_be_used_is_named_to_callers_and_by_the_doctor(tmp_path, monkeypatch, spoil):
    spoil(tmp_path / "parsing", monkeypatch)
    handles = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(UnavailableError, match="folder `parsing`") as caught, slots.slot():
            pass
    assert not isinstance(caught.value, BusyError)
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
    found = check_parsers(clock.now())
    assert ("folder `parsing`" in found.what, "DATA_DIR" in found.advice) == (True, True)


def test_the_doctor_waits_for_no_slot(set_conf):
    set_conf(media_parsers=1)
    with slots.slot():
        slots.check_folder()
    with slots.slot():
        pass
