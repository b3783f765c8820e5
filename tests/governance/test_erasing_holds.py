"""What forbids an erasure: what depends on the thing, jobs under way, and legal holds."""

from __future__ import annotations

import pytest

from governance.models import LegalHold
from kernel.errors import ConflictError, DomainError, InvalidInputError
from media.models import MediaJob
from memory.models import MemoryItem, Turn
from tests.conftest import TEAM
from tests.governance.erasing import PLAN, SECRET, erase, eraser, holding, learned, refused, session_of
from tests.memory.talk import VERIFIED, commit, only

__all__ = ["eraser"]

pytestmark = pytest.mark.django_db


def test_what_depends_on_it_holds_it(cast):
    """A memory that was learned from a session, elsewhere than in it."""
    item = learned(cast)
    session = session_of(cast.agent)
    error = refused(cast.operator, "session", session)
    assert (error.code, error.extra["held"][0]["id"]) == ("conflict", item["id"])
    assert Turn.objects.exists()
    told = erase(cast.operator, "session", session, along=True)
    assert told["erased_count"] == 2
    assert holding(SECRET) == set()


def test_a_copy_holds_what_it_was_made_from(cast):
    item = learned(cast)
    made = cast.reviewer.do(
        "promote_to_scope",
        memory_item_id=item["id"],
        target_scope={"type": "global", "id": "g"},
        reason="for all",
        **VERIFIED,
    )
    copy = made["item"]["id"]
    assert refused(cast.operator, "memory", item["id"]).extra["held"][0]["id"] == copy
    assert erase(cast.operator, "memory", item["id"], copy)["erased_count"] == 2
    assert holding(SECRET) == set()


def test_evidence_holds(cast):
    made = cast.agent.do("add_document", domain_id=TEAM, options={"text": f"# Zoo\n\nWords of {SECRET}."})
    refs = [{"kind": "document", "id": made["document_id"]}]
    item = only(commit(cast.agent, "s1", decisions=[{**PLAN, "evidence_refs": refs}]))
    error = refused(cast.operator, "document", made["document_id"])
    assert error.extra["held"][0] == {
        "of": made["document_id"], "kind": "memory", "id": item["id"], "why": "a memory rests on it",
    }  # fmt: skip


def test_a_job_under_way_holds(cast):
    made = cast.agent.do(
        "add_document", domain_id=TEAM, options={"text": "Zoo", "source_uri": "https://example.org/z"}
    )
    cast.agent.do(
        "enqueue_media", domain_id=TEAM, operation="add_document", source="https://example.org/z", options={}
    )
    assert refused(cast.operator, "document", made["document_id"]).extra["held"][0]["kind"] == "media_job"
    job = MediaJob.objects.get()
    cast.agent.do("cancel_media_job", id=str(job.pk))
    erase(cast.operator, "document", made["document_id"])
    job.refresh_from_db()
    assert (job.source, job.options, job.note) == ("", {}, "What it imported was erased.")
    assert job.request_fingerprint == ""


@pytest.mark.parametrize("held", ["object", "scope", "domain"])
def test_a_legal_hold_forbids(cast, held):
    item = learned(cast)
    given: dict[str, dict] = {
        "object": {"object": {"kind": "memory", "id": item["id"]}},
        "scope": {"scope": "project:*"},
        "domain": {"scope": "*"},
    }
    hold = cast.operator.do("place_hold", {"domain_id": TEAM, "reason": "a lawsuit", **given[held]})["hold"]
    assert hold["lifted_at"] is None
    error = refused(cast.operator, "memory", item["id"])
    assert error.extra["held"][0]["kind"] == "legal_hold"
    assert "lawsuit" not in error.message
    assert MemoryItem.objects.exists()
    lifted = cast.operator.do("lift_hold", id=hold["id"], reason="it is over")["hold"]
    assert (lifted["lifted_by"], lifted["lift_reason"]) == ("operator", "it is over")
    with pytest.raises(DomainError, match="already"):
        cast.operator.do("lift_hold", id=hold["id"], reason="again")
    assert cast.operator.do("list_holds", domain_id=TEAM)["holds"] == []
    assert len(cast.operator.do("list_holds", domain_id=TEAM, lifted=True)["holds"]) == 1
    erase(cast.operator, "memory", item["id"])


def test_a_hold_that_comes_while_the_call_waits_still_forbids(cast, eraser):
    item = learned(cast)
    proposal = erase(eraser, "memory", item["id"])["proposal"]["id"]
    cast.operator.do("place_hold", domain_id=TEAM, scope="*", reason="a lawsuit")
    with pytest.raises(ConflictError, match="legal hold"):
        cast.reviewer.do("approve_proposal", id=proposal, revision=1, reason="yes")
    assert MemoryItem.objects.exists()


def test_a_held_document_cannot_be_removed_either(cast):
    made = cast.agent.do("add_document", domain_id=TEAM, options={"text": "Zoo"})
    cast.operator.do("place_hold", domain_id=TEAM, scope="*", reason="a lawsuit")
    with pytest.raises(ConflictError, match="legal hold"):
        cast.agent.do("remove_document", document_id=made["document_id"], reason="old")


def test_a_held_document_keeps_its_sections(cast):
    """Importing it again replaces them: the same text may come again, another may not."""
    uri = "https://example.org/z"

    def bring(text: str) -> dict:
        made: dict = cast.agent.do("add_document", domain_id=TEAM, options={"text": text, "source_uri": uri})
        return made

    pk = bring("A zebra.")["document_id"]
    hold = cast.operator.do("place_hold", domain_id=TEAM, object={"kind": "document", "id": pk}, reason="a lawsuit")
    bring("A zebra.")
    with pytest.raises(ConflictError, match="legal hold"):
        bring("No more.")
    assert cast.agent.do("get_document", document_id=pk)["sections"][0]["content"] == "A zebra."
    cast.operator.do("lift_hold", id=hold["hold"]["id"], reason="over")
    assert bring("No more.")["document_id"] == pk


def test_a_hold_on_a_session_holds_the_memories_in_its_own_scope(cast):
    own = only(commit(cast.agent, "s1", decisions=[PLAN]))
    elsewhere = learned(cast, session="s1")
    given = {"kind": "session", "id": session_of(cast.agent)}
    hold = cast.operator.do("place_hold", domain_id=TEAM, object=given, reason="a lawsuit")["hold"]
    assert refused(cast.operator, "memory", own["id"]).extra["held"][0]["kind"] == "legal_hold"
    erase(cast.operator, "memory", elsewhere["id"])
    cast.operator.do("lift_hold", id=hold["id"], reason="over")
    erase(cast.operator, "memory", own["id"])


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"scope": "*", "object": {"kind": "memory", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}},
        {"scope": "nonsense"},
        {"object": {"kind": "galaxy", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}},
        {"scope": "*", "reason": " "},
    ],
)
def test_a_hold_names_one_thing_or_scopes(cast, bad):
    with pytest.raises(InvalidInputError):
        cast.operator.do("place_hold", {"domain_id": TEAM, "reason": "because", **bad})
    assert not LegalHold.objects.exists()
