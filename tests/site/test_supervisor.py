from __future__ import annotations

import signal
import sys
import threading

import pytest

from smartbrain_site.supervisor import Part, PartStoppedError, serve

SLEEP = "import time; time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"
)


def python(name: str, code: str) -> Part:
    return Part(name, [sys.executable, "-c", code])


def stop_soon(number: int) -> None:
    """Send ourselves the signal once the parts are up, as a terminal or an init system would."""
    threading.Timer(0.3, signal.raise_signal, [number]).start()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_works(number):
    announced = []
    before = signal.getsignal(number)

    def announce() -> None:
        announced.append(number)
        stop_soon(number)

    serve([python("one", SLEEP), python("two", SLEEP)], ready=lambda: True, announce=announce)
    assert announced == [number]
    assert signal.getsignal(number) == before


def test_a_part_that_ends_is_named():
    with pytest.raises(PartStoppedError, match=r"two stopped by itself \(exit status 7\)"):
        serve([python("one", SLEEP), python("two", "raise SystemExit(7)")], ready=lambda: False, announce=lambda: None)


def test_a_part_that_cannot_start_leaves_none_behind():
    with pytest.raises(FileNotFoundError):
        serve([python("one", SLEEP), Part("two", ["/no/such/program"])], ready=lambda: False, announce=lambda: None)


def test_a_part_that_ignores_the_request_is_ended(monkeypatch):
    monkeypatch.setattr("smartbrain_site.supervisor.GRACE_SECONDS", 0.5)
    serve([python("stubborn", STUBBORN)], ready=lambda: True, announce=lambda: stop_soon(signal.SIGTERM))
