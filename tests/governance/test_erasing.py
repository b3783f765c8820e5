"""Erasing for good: what goes, what is scrubbed, and what stays."""

from __future__ import annotations

import json

import pytest

from governance.audit import chain
from governance.models import AuditEntry, AuditSeal, Proposal, Tombstone
from kernel.errors import ConflictError, DomainError, InvalidInputError, NotFoundError
from media.models import MediaObject, SourceDocument
from memory.models import ContextRecord, KgEdge, MemoryItem, Message, Session, Summary, Turn
from search.models import IndexEntry, Posting
from tests.conftest import TEAM, make_agent
from tests.governance.erasing import PLAN, SECRET, erase, eraser, faults, holding, learned, refused, sealed, session_of
from tests.memory.talk import commit, compose, context, only, ref

__all__ = ["eraser"]

pytestmark = pytest.mark.django_db


def test_it_works(cast):
    """A memory with its versions: the words are nowhere any more, the receipt says what went and what it does not prove."""
    first = learned(cast)
    newer = {**PLAN, "decision": f"The code was {SECRET}, and is another now.", "scope_ref": ref("project:p")}
    second = only(commit(cast.agent, "s1", scopes=context("project:p", write=("project:p",)), decisions=[newer]))
    compose(cast.agent, "What is the code?", "s2", scope_context=context("project:p"))
    assert SECRET in json.dumps(list(ContextRecord.objects.values_list("package", flat=True)))
    sealed()
    told = erase(cast.operator, "memory", second["id"])
    assert {each["object_id"] for each in told["erased"]} == {first["id"], second["id"]}
    assert (told["erased_count"], told["scrubbed"]["contexts"]) == (2, 1)
    assert any("Backups" in each for each in told["not_proved"])
    assert holding(SECRET) == set()
    assert not MemoryItem.objects.exists()
    assert not IndexEntry.objects.filter(kind="memory").exists()
    assert set(Posting.objects.values_list("entry_id", flat=True)) <= set(
        IndexEntry.objects.values_list("pk", flat=True)
    )
    sealed()
    assert faults() == []
    with pytest.raises(NotFoundError):
        cast.agent.do("get_memory_item", id=second["id"])


def test_a_session_goes_with_all_that_was_said(cast):
    cast.agent.do(
        "commit_turn",
        {
            "domain_id": TEAM,
            "session_id": "s1",
            "idempotency_key": "k1",
            "turn_events": {
                "messages": [{"role": "user", "content": f"Remember {SECRET}", "meta": {"a": SECRET}}],
                "tool_calls": [{"name": "t", "args": {"q": SECRET}, "result": SECRET}],
                "refs": [{"ref_type": "file", "ref_uri": f"file:///{SECRET}"}],
                "decisions": [PLAN],
                "entities": [{"key": f"entity:repo:{SECRET}", "name": SECRET, "remember": True}],
                "edges": [{"subject": SECRET, "predicate": "is", "object": "secret"}],
            },
        },
    )
    commit(cast.agent, "other", say="nothing to see")
    compose(cast.agent, f"What of {SECRET}?", "s1")
    sealed()
    told = erase(cast.operator, "session", session_of(cast.agent))
    assert {each["kind"] for each in told["erased"]} == {"memory", "session"}
    assert holding(SECRET) == set()
    assert [row.external_id for row in Session.objects.all()] == ["other"]
    sealed()
    assert faults() == []
    assert cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query=SECRET)["results"] == []
    again = commit(cast.agent, "s1", say="a new beginning")
    assert Turn.objects.get(pk=again["turn_id"]).seq == 1


def test_a_document_goes_with_sections_jobs_and_bytes(cast, eraser):
    made = cast.agent.do(
        "add_document",
        domain_id=TEAM,
        options={"text": f"# {SECRET}\n\nWords of a zebra: {SECRET}.", "tags": ["animals"]},
    )
    cast.agent.do("share_document", document_id=made["document_id"], scope={"type": "project", "id": "p"})
    compose(cast.agent, "请查资料并给引用：words of zebra?", "s2", scope_context=context("project:p"))
    assert SECRET in json.dumps(list(ContextRecord.objects.values_list("package", flat=True)))
    sealed()
    told = erase(cast.operator, "document", made["document_id"])
    counts = told["erased"][0]["counts"]
    assert (counts["sections"], counts["shares"], counts["tags"], counts["stored_files"]) == (1, 1, 1, 1)
    assert told["scrubbed"]["contexts"] == 1
    assert holding(SECRET) == set()
    assert not SourceDocument.objects.exists()
    assert cast.operator.do("garbage_collect_media_objects")["removed"] == 1
    assert not MediaObject.objects.exists()
    sealed()
    assert faults() == []


def test_what_is_asked_for_waits_for_a_person(cast, eraser):
    item = learned(cast)
    asked = erase(eraser, "memory", item["id"], idempotency_key="k")
    assert asked["status"] == "queued"
    proposal = asked["proposal"]["id"]
    assert MemoryItem.objects.exists()
    shown = cast.reviewer.do("review_proposal", id=proposal)
    assert shown["presentation"]["evidence"][0]["text"] == f"The code is {SECRET}."
    assert SECRET not in json.dumps(Proposal.objects.values("subject", "summary", "changes", "search_text")[0])
    told = cast.reviewer.do("approve_proposal", id=proposal, revision=1, reason="yes")
    (stone,) = told["result"]["erased"]
    assert (stone["erased_by"], stone["on_behalf_of"]) == ("reviewer", "eraser")
    assert holding(SECRET) == set()
    assert Proposal.objects.get(pk=proposal).state == "approved"


def test_a_proposal_that_quotes_it_is_scrubbed_and_one_that_waits_expires(cast):
    item = learned(cast)
    rule = {"name": "r", "actions": ["correct_item"], "scope_types": ["project"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared")
    waiting = cast.agent.do(
        "correct_item", memory_item_id=item["id"], text=f"It is {SECRET}!", reason=f"not {SECRET}", idempotency_key="c"
    )["proposal"]["id"]
    cast.reviewer.do("comment_on_proposal", id=waiting, text=f"Is {SECRET} right?")
    sealed()
    told = erase(cast.operator, "memory", item["id"])
    assert told["scrubbed"]["proposals"] == 1
    assert holding(SECRET) == set()
    row = Proposal.objects.get(pk=waiting)
    assert (row.state, row.input) == ("expired", {"erased_by_receipt": told["receipt_id"]})
    assert cast.reviewer.do("review_proposal", id=waiting)["proposal"]["subject"] == "(erased)"
    sealed()
    assert faults() == []


@pytest.mark.parametrize("verdict", ["none", "reject", "approve"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_decision_about_a_conflict_with_it_is_scrubbed(cast, side, verdict):
    """It names the conflict only, and shows both texts."""
    rule = {"name": "r", "actions": ["resolve_conflict"], "scope_types": ["project"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared")
    curator = make_agent("curator", TEAM, rights=["read", "write", "promote"])
    told = [
        {"key": "decision:shop:db", "decision": f"The default database of {SECRET} is Postgres."},
        {"key": "decision:shop:default-db", "decision": f"The default database of {SECRET} is MySQL."},
    ]
    items = [only(commit(cast.agent, "s1", scopes=context("project:p"), decisions=[each]))["id"] for each in told]
    (conflict,) = cast.agent.do("list_conflicts", domain_id=TEAM)["conflicts"]
    given = {"id": conflict["id"], "outcome": "not_a_conflict", "reason": f"both are {SECRET}"}
    waiting = curator.do("resolve_conflict", given)["proposal"]["id"]
    if verdict != "none":
        cast.reviewer.do(f"{verdict}_proposal", id=waiting, revision=1, reason=f"because of {SECRET}")
    assert SECRET in Proposal.objects.get(pk=waiting).subject
    sealed()
    assert erase(cast.operator, "memory", items[side])["scrubbed"]["proposals"] == 1
    row = Proposal.objects.get(pk=waiting)
    assert (row.subject, SECRET in row.search_text) == ("(erased)", False)
    erase(cast.operator, "memory", items[1 - side])
    assert holding(SECRET) == set()
    sealed()
    assert faults() == []


def test_a_conflict_of_relations_goes_with_the_session_that_brought_one(cast):
    for name, place in (("s1", "Paris"), ("s2", SECRET)):
        edge = {"subject": "shop", "predicate": "located_in", "object": place, "valid_from": "2026-01-01T00:00:00Z"}
        commit(cast.agent, name, scopes=context("project:p", write=("project:p",)), edges=[edge])
    assert SECRET in str(cast.agent.do("list_conflicts", domain_id=TEAM)["conflicts"])
    erase(cast.operator, "session", session_of(cast.agent, "s2"), along=True)
    assert holding(SECRET) == set()
    assert cast.agent.do("list_conflicts", domain_id=TEAM, state=None)["conflicts"] == []


def test_relations_that_others_told_stay(cast):
    """Of an entity that is erased with its memory, what the same turn told of it goes, and what others told stays."""
    place = context("project:p", write=("project:p",))
    zoo = {"key": "entity:org:zoo", "kind": "org", "canonical": "zoo", "remember": True}
    first = {"subject": "zoo", "predicate": "owns", "object": SECRET}
    made = commit(cast.agent, "s1", scopes=place, entities=[zoo], edges=[first])
    commit(cast.agent, "s2", scopes=place, edges=[{"subject": "zoo", "predicate": "feeds", "object": "lions"}])
    commit(cast.agent, "s2", scopes=place, edges=[{"subject": "shop", "predicate": "owns", "object": "zoo"}])
    gone = str(KgEdge.objects.get(object=SECRET).pk)
    told = erase(cast.operator, "memory", only(made)["id"])
    assert told["erased"][0]["counts"]["relations"] == 1
    assert {row.predicate for row in KgEdge.objects.all()} == {"feeds", "owns"}
    assert holding(SECRET) == set()
    (entry,) = AuditEntry.objects.filter(action="erase", outcome="allowed")
    assert ("kg_edges", gone) in {(change["table"], change["id"]) for change in entry.changes}


def test_an_approval_that_made_it_is_scrubbed(cast):
    everyone = {"type": "global", "id": "all"}
    rule = {"name": "globals", "actions": ["commit_turn"], "scope_types": ["global"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared by all")
    queued = commit(
        cast.agent, "s2", scopes={"read": [everyone], "default_write": everyone}, decisions=[PLAN], say=f"so {SECRET}"
    )["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=queued, revision=1, reason=f"yes, {SECRET}", idempotency_key="a")
    sealed()
    erase(cast.operator, "session", session_of(cast.agent, "s2"), along=True)
    assert holding(SECRET) == set()
    sealed()
    assert faults() == []


def test_what_was_erased_cannot_be_brought_back_by_undoing_a_call(cast):
    item = learned(cast)
    cast.agent.do("retract_item", memory_item_id=item["id"], reason=f"{SECRET} is wrong", idempotency_key="r")
    (entry,) = cast.reviewer.do("list_audit", domain_id=TEAM, action="retract_item")["entries"]
    erase(cast.operator, "memory", item["id"])
    assert holding(SECRET) == set()
    with pytest.raises(DomainError, match="was erased since"):
        cast.reviewer.do("revert_change", audit_entry_id=entry["id"], reason="bring it back", idempotency_key="u")


def test_a_replay_of_what_was_erased_brings_nothing_back(cast):
    given = {"domain_id": TEAM, "session_id": "s1", "idempotency_key": "k", "turn_events": {"decisions": [PLAN]}}
    cast.agent.do("commit_turn", given)
    erase(cast.operator, "session", session_of(cast.agent))
    with pytest.raises(ConflictError, match="erased"):
        cast.agent.do("commit_turn", given)
    assert not MemoryItem.objects.exists()


def test_a_version_written_meanwhile_makes_it_stale(cast, eraser):
    item = learned(cast)
    proposal = erase(eraser, "memory", item["id"])["proposal"]["id"]
    newer = {**PLAN, "decision": "Another.", "scope_ref": ref("project:p")}
    commit(cast.agent, "s1", scopes=context("project:p", write=("project:p",)), decisions=[newer])
    with pytest.raises(DomainError) as told:
        cast.reviewer.do("approve_proposal", id=proposal, revision=1, reason="yes")
    assert told.value.code == "stale"
    assert MemoryItem.objects.count() == 2


@pytest.mark.parametrize(
    "bad",
    [
        {"objects": []},
        {"objects": [{"kind": "memory", "id": "x"}]},
        {"objects": [{"kind": "galaxy", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}]},
        {"objects": [{"kind": "memory", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}] * 1001},
        {"reason": ""},
        {"reason": "\u200b"},
        {"along": "yes"},
        {"everything": True},
    ],
)
def test_bad_input_is_refused(cast, bad):
    good = {"domain_id": TEAM, "objects": [{"kind": "memory", "id": learned(cast)["id"]}], "reason": "asked to"}
    with pytest.raises(InvalidInputError):
        cast.operator.do("erase", {**good, **bad})
    assert (MemoryItem.objects.count(), Tombstone.objects.count()) == (1, 0)


def test_twice_is_not_found_and_the_same_key_gives_the_receipt_again(cast):
    item = learned(cast)
    first = erase(cast.operator, "memory", item["id"], idempotency_key="k")
    again = erase(cast.operator, "memory", item["id"], idempotency_key="k")
    assert (again["receipt_id"], again["deduplicated"]) == (first["receipt_id"], True)
    assert refused(cast.operator, "memory", item["id"]).code == "not_found"


def test_an_unsealed_entry_is_sealed_as_it_is_then(cast):
    item = learned(cast)
    erase(cast.operator, "memory", item["id"])
    sealed()
    assert faults() == []
    assert chain.check(0, 10_000).erased == 0
    assert AuditEntry.objects.count() == AuditSeal.objects.count()


def test_summaries_that_may_quote_it_go(cast):
    for number in range(12):
        commit(cast.agent, "s1", say=f"turn {number}", decisions=[PLAN] if number == 3 else [])
    assert Summary.objects.filter(text__contains=SECRET).exists()
    item = MemoryItem.objects.get()
    erase(cast.operator, "memory", str(item.pk))
    assert not Summary.objects.filter(text__contains=SECRET).exists()
    assert Message.objects.count() == 12
    commit(cast.agent, "s1", say="and on")
