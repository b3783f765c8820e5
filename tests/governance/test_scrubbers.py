"""Scrubbers of apps: each counts under names of its own."""

from __future__ import annotations

from functools import partial

import pytest

from governance import hooks
from governance.gate.opening import is_open
from governance.hooks import Scrubber
from kernel.ids import new_id
from tests.conftest import TEAM, Cast
from tests.governance.erasing import SECRET, erase, holding, learned
from tests.governance.test_erasing_races import before_it_is_stored
from tests.memory.talk import compose, context

pytestmark = pytest.mark.django_db


def erased(cast: Cast) -> dict:
    made = cast.agent.do("add_document", domain_id=TEAM, options={"text": "A zebra."})
    named = {"kind": "document", "id": made["document_id"]}
    told: dict = cast.operator.do("erase", domain_id=TEAM, objects=[named], reason="asked to")
    return told


@pytest.fixture
def counting(monkeypatch):
    """Scrubbers that come to one record each, beside those that there are."""

    def add(*names: str) -> None:
        more = [Scrubber(partial(lambda name, *given: {name: 1}, name)) for name in names]
        monkeypatch.setattr(hooks, "_scrubbers", [*hooks.scrubbers(), *more])

    return add


def test_it_works(cast, counting):
    counting("notes", "letters")
    told = erased(cast)["scrubbed"]
    assert (told["notes"], told["letters"]) == (1, 1)


def test_what_it_found_before_the_transaction_it_is_given_in_it(cast, monkeypatch):
    seen, pk = [], new_id()

    def find(ids, domain_id):
        seen.append(("find", is_open(), domain_id))
        return [pk]

    def scrub(ids, found, domain_id, receipt_id):
        seen.append(("scrub", is_open(), domain_id))
        assert found == [pk]
        return {"notes": len(found)}

    monkeypatch.setattr(hooks, "_scrubbers", [Scrubber(scrub, find), *hooks.scrubbers()])
    assert erased(cast)["scrubbed"]["notes"] == 1
    assert seen == [("find", False, TEAM), ("scrub", True, TEAM)]


def test_a_context_that_is_recorded_between_the_two_goes_at_once(cast, monkeypatch):
    pk = learned(cast)["id"]
    asked = partial(compose, cast.agent, "What is the code?", "s2", scope_context=context("project:p"))
    before_it_is_stored(monkeypatch, "erase", asked)
    assert erase(cast.operator, "memory", pk)["scrubbed"]["contexts"] == 1
    assert holding(SECRET) == set()


@pytest.mark.parametrize("names", [("notes", "notes"), ("proposals",), ("contexts",)])
def test_two_of_one_name_are_refused_before_a_count_is_lost(cast, counting, names):
    counting(*names)
    with pytest.raises(ValueError, match="two scrubbers"):
        erased(cast)
