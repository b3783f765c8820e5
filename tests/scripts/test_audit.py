from __future__ import annotations

import json

import pytest

from scripts.audit import judge


def answer(*rows: dict) -> str:
    return json.dumps({"dependencies": list(rows), "fixes": []})


CLEAN = {"name": "django", "version": "5.2.19", "vulns": []}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found"}
BAD = {"name": "old", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}


def test_it_works():
    assert judge(answer(CLEAN), "") == ("1 of 1 packages audited, none known to be vulnerable", False)


def test_a_known_vulnerability_fails():
    text, failed = judge(answer(CLEAN, BAD, UNKNOWN), "")
    assert failed
    assert "old 1.0: PYSEC-1 (fixed in 1.1)" in text


def test_a_package_nobody_could_ask_about_is_named():
    text, failed = judge(answer(CLEAN, UNKNOWN), "")
    assert (failed, "1 of 2" in text, "ours" in text) == (False, True, True)


def test_a_feed_that_knows_nothing_is_no_clean_answer():
    text, failed = judge(answer(UNKNOWN, UNKNOWN), "")
    assert not failed
    assert "not reachable, skipped" in text


@pytest.mark.parametrize(
    "line",
    [
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='feed', port=443): Max retries exceeded",
        "requests.exceptions.ReadTimeout: timed out",
        "ERROR:pip_audit._cli:Tip: your network may be blocking this service. Try another service with `-s SERVICE`",
    ],
)
def test_no_network_is_said_and_skipped(line):
    assert judge("", f"Traceback (most recent call last):\n  ...\n{line}\n") == (
        "vulnerability feed not reachable, skipped",
        False,
    )


def test_a_broken_audit_fails():
    text, failed = judge("", "KeyError: 'requests.exceptions.ConnectionError is only mentioned'")
    assert failed
    assert "pip-audit failed" in text
