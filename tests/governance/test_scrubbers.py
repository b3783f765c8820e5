"""Scrubbers of apps: each counts under names of its own."""

from __future__ import annotations

from functools import partial

import pytest

from governance import hooks
from tests.conftest import TEAM, Cast

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
        more = [partial(lambda name, ids, domain_id: {name: 1}, name) for name in names]
        monkeypatch.setattr(hooks, "_scrubbers", [*hooks.scrubbers(), *more])

    return add


def test_it_works(cast, counting):
    counting("notes", "letters")
    told = erased(cast)["scrubbed"]
    assert (told["notes"], told["letters"]) == (1, 1)


@pytest.mark.parametrize("names", [("notes", "notes"), ("proposals",), ("contexts",)])
def test_two_of_one_name_are_refused_before_a_count_is_lost(cast, counting, names):
    counting(*names)
    with pytest.raises(ValueError, match="two scrubbers"):
        erased(cast)
