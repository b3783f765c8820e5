"""The review page of every kind of proposal about memory, and of a conflict, takes few statements in a busy house."""

from __future__ import annotations

import pytest
from django.urls import reverse

from memory.models import Conflict
from tests.clients import sign_in
from tests.conftest import TEAM, make_person
from tests.governance.desk import item, statements
from tests.memory.busy import proposals

MOST = 19


@pytest.fixture
def ann(cast):
    make_person("ann", TEAM, is_staff=True)
    return sign_in("ann")


def test_every_kind_of_proposal_and_a_conflict_take_few_statements(cast, ann):
    busy = proposals(cast)
    pages = {name: item(proposal, "?queue=open") for name, proposal in busy.items()}
    first, second = Conflict.objects.filter(state="open", item_a__key__startswith="decision:gone").order_by("-id")[:2]
    cast.reviewer.do("resolve_conflict", id=str(second.pk), outcome="not_a_conflict", reason="because")
    for row in (first, second):
        pages[f"conflict {row.pk}"] = reverse("admin:memory_conflict_change", args=[row.pk])
    cast.operator.do(
        "set_policy", domain_id=TEAM, document={}, reason="nobody looks any more"
    )  # told beside the old rule
    taken = {name: statements(ann, page) for name, page in pages.items()}
    assert len(taken) > 14
    assert max(taken.values()) <= MOST, taken
