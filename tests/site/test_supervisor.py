from __future__ import annotations

import signal
import socket
import sys
import threading

import pytest

from smartbrain_site.supervisor import Part, PartStoppedError, accepts, serve, why_not_listen

SLEEP = "import time; time.sleep(600)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"
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


def test_a_port_that_cannot_be_had_says_why():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert accepts("127.0.0.1", port)
        assert why_not_listen("127.0.0.1", port) == f"Port {port} is taken on 127.0.0.1: stop what listens there."
    assert why_not_listen("127.0.0.1", port) == ""
    assert not accepts("127.0.0.1", port)
    assert "no port" in why_not_listen("127.0.0.1", 70000)
    assert "cannot be used" in why_not_listen("192.0.2.1", port), "an address that is not ours"
