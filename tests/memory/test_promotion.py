"""Letting a memory enter another scope: as a new row, traceable, never without a person."""

from __future__ import annotations

from uuid import UUID

import pytest

from governance.gate.opening import writing
from governance.models import AuditEntry, Proposal
from kernel.actions import Change
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from memory.models import EvidenceLink, KnowledgeEvent, MemoryItem
from memory.services.reversing import reverse
from tests.conftest import TEAM, make_agent, make_person
from tests.memory.factories import made, scope_row
from tests.memory.promoting import ALL, SHOP, WHY, approve, known, promote, promoted, promoter
from tests.memory.talk import VERIFIED, commit, context, decision, item, memories, only, pref, ref, task


def test_it_works(cast):
    agent = promoter(cast)
    source = known(agent)
    before = MemoryItem.objects.filter(pk=source).values().get()
    queued = promote(agent, source, verification_refs=[WHY], reviewer="the boss")
    assert queued["status"] == "queued"
    assert MemoryItem.objects.count() == 1
    answer = approve(cast, queued)
    copy = answer["item"]
    assert (copy["scope"], copy["statement"], copy["current"]) == (ref(SHOP), "Use Postgres", True)
    told = answer["promotion"]
    assert (told["source_item_id"], told["source_scope"], told["target_scope"]) == (source, ref("task:t"), ref(SHOP))
    assert (told["proposed_by"], told["reviewer"], told["claimed_reviewer"]) == ("agent", "reviewer", "the boss")
    assert (told["reason"], told["verification"]) == ("the team agreed", [WHY])
    assert MemoryItem.objects.filter(pk=source).values().get() == before, "the source is never edited"
    assert memories(agent, "Postgres", scope_context=context(SHOP)) == ["Use Postgres"]
    roles = set(EvidenceLink.objects.filter(item_id=UUID(copy["id"])).values_list("kind", "ref", "role"))
    assert ("memory", source, "supporting") in roles
    assert ("url", WHY["id"], "verification") in roles


def test_a_person_who_decides_in_the_target_applies_it_at_once(cast):
    source = known(cast.agent)
    answer = promote(cast.reviewer, source)
    assert answer["promotion"]["reviewer"] == "reviewer"
    assert item(answer["item"]["id"]).source_item_id == UUID(source)


def test_a_person_who_decides_elsewhere_only_proposes(cast):
    source = known(cast.agent, scope="task:t")
    helper = make_person("helper", TEAM, "task:*")
    cast.operator.do("assign_reviewer", user="helper", domain_id=TEAM, pattern="task:*")
    with pytest.raises(NotFoundError):
        promote(helper, source, SHOP)


def test_the_claimed_reviewer_counts_for_nothing(cast):
    source = known(promoter(cast))
    assert promote(promoter(cast), source, reviewer="reviewer")["status"] == "queued"


def test_without_the_right_to_promote_it_is_forbidden(cast):
    with pytest.raises(ForbiddenError, match="promote"):
        promote(cast.agent, known(cast.agent))


def test_a_target_that_one_may_not_read_is_not_there(cast):
    agent = promoter(cast)
    source = known(agent)
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=[])
    narrow = promoter(cast, pattern="task:*")
    with pytest.raises(NotFoundError, match="global:all"):
        promote(narrow, source, ALL)


@pytest.mark.parametrize(
    ("target", "said"), [("task:t", "already"), ("session:s9", "session"), ("planet:x", "scope type")]
)
def test_a_target_that_makes_no_sense_is_refused(cast, target, said):
    with pytest.raises(InvalidInputError, match=said):
        promote(promoter(cast), known(cast.agent), target)


def test_another_domain_is_refused(cast):
    wanted = {**ref(SHOP), "domain_id": "elsewhere"}
    with pytest.raises(InvalidInputError, match="another domain"):
        promoter(cast).do(
            "promote_to_scope", memory_item_id=known(cast.agent), target_scope=wanted, reason="x", **VERIFIED
        )


@pytest.mark.parametrize("reason", ["", "   ", None, 7, "x" * 2001])
def test_a_reason_is_required(cast, reason):
    with pytest.raises(InvalidInputError):
        promote(promoter(cast), known(cast.agent), reason=reason)


def test_what_is_no_longer_in_force_is_not_promoted(cast):
    old = known(cast.agent, "Use MySQL")
    known(cast.agent, "Use Postgres")
    with pytest.raises(ConflictError, match="no longer in force"):
        promote(promoter(cast), old)
    with pytest.raises(ConflictError, match="demoted"):
        promote(promoter(cast), str(made(scope_row("task:t"), demoted=True).id))


def test_what_changed_since_it_was_proposed_is_not_applied(cast):
    source = known(cast.agent, "Use MySQL")
    queued = promote(promoter(cast), source)
    known(cast.agent, "Use Postgres")
    with pytest.raises(ConflictError, match="no longer in force"):
        approve(cast, queued)
    assert Proposal.objects.get().state == "open"
    assert not MemoryItem.objects.filter(scope__scope_type="project").exists()


def test_twice_gives_the_first_answer_also_while_it_waits(cast):
    agent = promoter(cast)
    source = known(agent)
    first = promote(agent, source)
    again = promote(agent, source)
    assert (again["proposal"]["id"], again["deduplicated"]) == (first["proposal"]["id"], True)
    done = approve(cast, first)
    known_already = promote(agent, source)
    assert known_already["deduplicated"]
    assert known_already["item"] == done["item"]
    assert known_already["promotion"] == done["promotion"]
    assert promote(cast.reviewer, source)["item"]["id"] == done["item"]["id"]
    assert Proposal.objects.count() == 1


def test_one_item_can_be_proposed_to_two_scopes(cast):
    agent = promoter(cast)
    source = known(agent)
    promote(agent, source, SHOP)
    promote(agent, source, ALL)
    assert Proposal.objects.filter(state="open").count() == 2


def test_it_enters_by_the_conflict_policy_of_its_type(cast):
    there = only(commit(cast.agent, scopes=context(SHOP), preferences=[pref("verbose")]))["id"]
    source = only(commit(cast.agent, scopes=context("task:t"), preferences=[pref("concise")]))["id"]
    answer = promoted(cast, source)
    assert answer["replaced_item_ids"] == [there]
    assert item(there).status == "superseded"
    assert item(there).successor_id == UUID(answer["item"]["id"])


def test_it_never_takes_the_place_of_knowledge_in_force(cast):
    made(scope_row(SHOP), type="decisions", key="decision:shop:database", text="Use SQLite", principle=True)
    source = known(cast.agent)
    with pytest.raises(ConflictError, match="knowledge in force"):
        promote(promoter(cast), source)


def test_equal_text_in_the_target_is_found_and_gains_the_evidence(cast):
    """Field report A4: promotion goes through the one way in."""
    there = known(cast.agent, scope=SHOP)
    source = known(cast.agent, scope="task:t")
    answer = promoted(cast, source, verification_refs=[WHY])
    assert answer["deduplicated"]
    assert answer["item"]["id"] == there
    assert EvidenceLink.objects.filter(item_id=UUID(there), kind="memory", ref=source).exists()
    assert promote(promoter(cast), source)["item"]["id"] == there


def test_reworded_both_texts_are_kept_and_nothing_of_the_old_is_in_the_new(cast):
    source = known(cast.agent, "Use Postgres, says Ann who is leaving", rationale="Ann is tired of MySQL")
    answer = promoted(cast, source, text="Postgres is our database.")
    copy = item(answer["item"]["id"])
    assert copy.statement == "Postgres is our database."
    assert "Ann" not in str(copy.value) + copy.chunk.text
    assert item(source).statement == "Use Postgres, says Ann who is leaving — Ann is tired of MySQL"
    nodes = cast.agent.do("lineage", memory_item_id=str(copy.id))["nodes"]
    assert [node["item"]["statement"] for node in nodes] == [item(source).statement, copy.statement]
    assert answer["promotion"]["reworded"]


def test_reworded_it_does_not_contradict_its_own_source(cast):
    source = known(cast.agent, "Use Postgres")
    queued = promote(promoter(cast), source, text="Postgres is our database.")
    shown = cast.reviewer.do("review_proposal", id=queued["proposal"]["id"])
    assert (shown["proposal"]["has_conflict"], shown["why"]) == (
        False,
        "promote_to_scope always waits for a person who may decide in its place.",
    )
    approve(cast, queued)
    assert cast.reviewer.do("list_conflicts", domain_id=TEAM)["conflicts"] == []
    commit(cast.agent, scopes=context("global:all"), decisions=[decision("Use MySQL")])
    found = cast.reviewer.do("list_conflicts", domain_id=TEAM)["conflicts"]
    assert {(each["rule"], each["b"]["statement"]) for each in found} == {("same_key", "Use MySQL")}


def test_trust_is_never_more_than_that_of_the_source(cast):
    """Field report M1."""
    row = made(scope_row("task:t"), confidence=0.3, text="The cache is cold.")
    assert promoted(cast, str(row.id), text="The cache is certainly cold.")["item"]["confidence"] == 0.3


def test_what_it_says_of_its_origin_comes_from_the_server(cast):
    """Field report M2."""
    source = known(cast.agent)
    copy = item(promoted(cast, source)["item"]["id"])
    assert (copy.author_name, copy.origin, copy.source_turn_id) == (
        "agent", "promoted:structured", item(source).source_turn_id,
    )  # fmt: skip


def test_expiry_review_date_and_importance_come_along(cast):
    source = known(
        cast.agent, valid_to="2099-01-01T00:00:00Z", review_by="2098-01-01T00:00:00Z", importance=4
    )  # fmt: skip
    copy = promoted(cast, source)["item"]
    assert (copy["valid_to"], copy["review_by"]) == ("2099-01-01T00:00:00Z", "2098-01-01T00:00:00Z")
    assert item(copy["id"]).importance == 4


def test_promoted_demoted_and_promoted_again_leaves_three_events(cast):
    """Specification case 119."""
    source = known(cast.agent)
    first = promoted(cast, source)["item"]["id"]
    cast.reviewer.do("demote_from_scope", memory_item_id=first, evidence_refs=[WHY], reason="no longer so")
    assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == []
    again = promote(cast.reviewer, source)["item"]
    assert again["id"] != first
    assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == ["Use Postgres"]
    kinds = (
        KnowledgeEvent.objects.filter(item__scope__scope_type="project").order_by("id").values_list("kind", flat=True)
    )
    assert [kind for kind in kinds if kind in ("promoted", "demoted")] == ["promoted", "demoted", "promoted"]
    assert item(source).lifecycle_status == "promoted", "the source is left alone"


def test_only_what_was_promoted_leaves_its_scope_by_demotion(cast):
    with pytest.raises(ConflictError, match="was not promoted"):
        cast.reviewer.do("demote_from_scope", memory_item_id=known(cast.agent), evidence_refs=[WHY], reason="x")


def test_an_item_of_ones_own_session_can_be_promoted_and_no_other(cast):
    agent = promoter(cast)
    own = only(commit(agent, tasks=[task()]))["id"]
    assert promote(agent, own)["status"] == "queued"
    guest = make_agent("guest", pattern="project:*", rights=["read", "write", "promote"])
    with pytest.raises(NotFoundError):
        promote(guest, own)


def test_an_undone_promotion_leaves_and_what_it_replaced_is_back(cast):
    there = only(commit(cast.agent, scopes=context(SHOP), preferences=[pref("verbose")]))["id"]
    source = only(commit(cast.agent, scopes=context("task:t"), preferences=[pref("concise")]))["id"]
    copy = promote(cast.reviewer, source)["item"]["id"]
    entry = AuditEntry.objects.filter(action="promote_to_scope", outcome="allowed").latest("id")
    with writing():
        reverse(None, [Change.from_json(kept) for kept in entry.changes], cast.reviewer.ctx())
    assert item(copy).status == "retracted"
    assert item(there).status == "superseded", "history stays as it was"
    assert memories(cast.agent, "writing tone", scope_context=context(SHOP)) == ["writing tone: verbose"]


def test_an_edit_does_not_lead_where_the_editor_may_not_decide(cast):
    queued = promote(promoter(cast), known(cast.agent))["proposal"]
    part = make_person("shop-reviewer", TEAM, SHOP)
    given = part.do("get_proposal", id=queued["id"])["input"]
    wider = {**given, "target_scope": ref(ALL)}
    with pytest.raises(ForbiddenError, match="may not decide"):
        part.call("edit_and_approve", id=queued["id"], revision=1, input=wider, reason="for everyone")
    assert MemoryItem.objects.count() == 1
    cast.reviewer.do("edit_and_approve", id=queued["id"], revision=1, input=wider, reason="for everyone")
    assert MemoryItem.objects.latest("id").scope.name == ALL


def test_who_reviews_a_part_does_not_revert_what_reached_beyond_it(cast):
    made_in, beyond = known(cast.agent, scope=SHOP), known(cast.agent, "Use MySQL", scope=ALL)
    cast.agent.do("retract_item", memory_item_id=made_in, reason="wrong", also=[beyond])
    entry = str(AuditEntry.objects.get(action="retract_item", outcome="allowed").pk)
    with pytest.raises(ForbiddenError, match="may not decide"):
        make_person("shop-reviewer", TEAM, SHOP).call("revert_change", audit_entry_id=entry, reason="no")
    assert not MemoryItem.objects.filter(current_until=None).exists()
    cast.reviewer.do("revert_change", audit_entry_id=entry, reason="no")
    assert MemoryItem.objects.filter(current_until=None).count() == 2
