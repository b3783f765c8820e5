"""Asking for documents never breaks a compose."""

from __future__ import annotations

import pytest

from kernel.errors import UnavailableError
from memory.resources.client import GuardedClient, NullClient
from tests.memory.compose.made import REQUEST_ID, a_pack, a_plan, an_evidence

WANTED = a_plan("请查资料")


class Store:
    """A store in this process that gives an answer or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0

    def retrieve(self, plan):
        self.asked += 1
        if self.error:
            raise self.error
        return a_pack(plan, [an_evidence(1)])


def test_it_works():
    assert len(GuardedClient(Store()).retrieve(WANTED).evidences) == 1


def test_without_a_store_memory_stands_alone():
    found = NullClient().retrieve(WANTED)
    assert (found.evidences, found.plan_id) == ([], f"null-{REQUEST_ID}")
    assert found.warnings == ["no document store is configured: memory only"]


def test_case_21_a_plan_that_wants_no_documents_asks_nobody():
    store = Store()
    found = GuardedClient(store).retrieve(a_plan("hello there"))
    assert (found.evidences, store.asked) == ([], 0)
    assert found.warnings == ["resource retrieval disabled: not needed"]


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError(), OSError("gone"), UnavailableError("later"), ValueError("x")]
)
def test_case_37_a_store_that_fails(error):
    found = GuardedClient(Store(error)).retrieve(WANTED)
    assert (found.evidences, found.plan_id) == ([], f"error-{REQUEST_ID}")
    assert "fallback to memory only" in found.warnings[0]
    assert "gone" not in found.warnings[0]


def test_case_38_a_store_that_takes_too_long():
    found = GuardedClient(Store(TimeoutError())).retrieve(WANTED)
    assert (found.evidences, found.plan_id) == ([], f"timeout-{REQUEST_ID}")
    assert "timeout" in found.warnings[0]


def test_a_fault_of_ours_is_not_hidden():
    with pytest.raises(KeyError):
        GuardedClient(Store(KeyError("bug"))).retrieve(WANTED)
