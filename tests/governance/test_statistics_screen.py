"""Statistics: the reviewer's own figures and those of others in what they review, and nothing beyond."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.clients import sign_in
from tests.conftest import ELSEWHERE, make_person
from tests.governance.desk import make_desk, propose, statements, text_of

PAGE = "admin:governance_statistics"


@pytest.fixture
def desk(db):
    desk = make_desk()
    for n, act in enumerate(("approve_proposal", "approve_proposal", "reject_proposal", "request_changes")):
        desk.cast.reviewer.do(act, id=propose(desk.cast.agent, f"Thing {n}"), reason="because")
    return desk


def test_it_works(desk):
    page = desk.ann.get(reverse(PAGE))
    stats = page.context["stats"]
    assert (stats.overall.approved, stats.overall.rejected, stats.overall.changes_requested) == (2, 1, 1)
    assert (stats.mine.approved, [tally.name for tally in stats.reviewers]) == (0, ["reviewer"])
    text = page.content.decode()
    assert "67%" in text
    assert "<rect" in text
    assert "Figures as a table" in text


def test_a_reviewer_of_another_domain_sees_none_of_it(desk):
    make_person("cid", ELSEWHERE, is_staff=True)
    text = text_of(sign_in("cid"), reverse(PAGE))
    assert "Nothing was decided" in text
    assert "reviewer</bdi>" not in text


@pytest.mark.parametrize("days", ["7", "90", "", "0", "-1", "x", "9" * 50])
def test_any_span_is_answered(desk, days):
    assert desk.ann.get(reverse(PAGE), {"days": days}).status_code == 200


def test_it_asks_few_questions(desk):
    assert statements(desk.ann, reverse(PAGE)) <= 20
