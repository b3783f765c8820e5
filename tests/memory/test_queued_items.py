"""Items for elevated scopes that wait for a person one by one, while the rest of a turn is stored."""

from __future__ import annotations

from typing import Any

import pytest

from governance.models import Proposal
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from memory.models import MemoryItem, Message, Turn
from tests.conftest import TEAM, Cast, Player
from tests.guards.write_guard import unguarded
from tests.memory.talk import commit, context, decision, entity, gone, item, lines, memories, pref, ref, task

SHOP, TASK = "project:shop", "task:t"
BOTH = context(TASK, SHOP, write=(TASK, SHOP))


def hold(cast: Cast, *scope_types: str, actions: tuple[str, ...] = ("write_memory_item",), **more: Any) -> None:
    rule = {"name": "shared", "actions": list(actions), "scope_types": list(scope_types)}
    document = {"review": {"queue": [rule]}, **more}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="people look first")


def shared(text: str = "Use Postgres", **fields: Any) -> dict:
    return decision(text, scope_ref=ref(SHOP), **fields)


def approve(cast: Cast, proposal_id: str) -> dict:
    done = cast.reviewer.do("approve_proposal", id=proposal_id, revision=1)
    result: dict = done["result"]
    return result


def write(player: Player, fields: dict | None = None, /, **given: Any) -> dict:
    body = {"domain_id": TEAM, "scope": ref(SHOP), "type": "decisions", "item": fields or decision()}
    return player.do("write_memory_item", {**body, **given})


class TestCommit:
    def test_it_works(self, cast):
        hold(cast, "project")
        answer = commit(cast.agent, say="We chose.", extract=False, scopes=BOTH, tasks=[task()], decisions=[shared()])
        assert answer["ok"]
        (queued,) = answer["memory_written"]["queued"]
        assert (queued["type"], queued["key"], queued["scope"]) == ("decisions", "decision:shop:database", ref(SHOP))
        assert [each["type"] for each in answer["memory_written"]["items"]] == ["tasks"]
        assert ("queue", "waits_for_a_person") in lines(answer)
        assert Message.objects.count() == 1
        assert not MemoryItem.objects.filter(type="decisions").exists()
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == [], "what waits is on no read door"
        done = approve(cast, queued["proposal_id"])
        written = item(done["item"]["id"])
        assert (written.statement, written.scope.name) == ("Use Postgres", SHOP)
        assert (str(written.source_turn_id), written.author_name) == (answer["turn_id"], "agent")
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == ["Use Postgres"]

    def test_without_a_rule_nothing_waits(self, cast):
        answer = commit(cast.agent, scopes=BOTH, decisions=[shared()])
        assert answer["memory_written"]["queued"] == []
        assert answer["memory_written"]["count"] == 1

    @pytest.mark.parametrize("types", [("global",), ("task",), ("session",)])
    def test_a_rule_for_other_scopes_holds_nothing_back(self, cast, types):
        hold(cast, *types)
        assert commit(cast.agent, scopes=BOTH, decisions=[shared()])["memory_written"]["queued"] == []

    def test_a_rule_on_commit_turn_holds_back_the_whole_commit_as_before(self, cast):
        hold(cast, "project", actions=("commit_turn",))
        answer = commit(cast.agent, scopes=context(SHOP), decisions=[decision()])
        assert answer["status"] == "queued"
        assert Turn.objects.count() == 0
        done = approve(cast, answer["proposal"]["id"])
        assert done["memory_written"]["count"] == 1

    def test_who_approves_the_whole_approves_its_parts(self, cast):
        hold(cast, "project", actions=("*",))
        answer = commit(cast.agent, scopes=context(SHOP), decisions=[decision()])
        assert approve(cast, answer["proposal"]["id"])["memory_written"]["queued"] == []

    def test_an_elevated_default_write_counts_as_named_and_waits_too(self, cast):
        hold(cast)
        answer = commit(cast.agent, say="Remember: the port is 7443", scopes=context(SHOP))
        (queued,) = answer["memory_written"]["queued"]
        assert queued["type"] == "facts"
        found = item(approve(cast, queued["proposal_id"])["item"]["id"])
        assert found.statement == "the port is 7443"
        assert found.source_message == Message.objects.get()

    def test_of_a_profile_from_text_the_other_facts_stay(self, cast):
        commit(cast.agent, say="My name is Ann.", scopes=context(SHOP))
        hold(cast)
        answer = commit(cast.agent, say="I live in Berlin.", scopes=context(SHOP))
        (queued,) = answer["memory_written"]["queued"]
        found = item(approve(cast, queued["proposal_id"])["item"]["id"])
        assert {fact["k"] for fact in found.value["facts"]} == {"name", "location"}

    def test_every_type_can_wait_and_is_then_what_it_would_have_been(self, cast):
        told: dict[str, Any] = {
            "tasks": [task(status="doing", notes=["a"])],
            "decisions": [decision(rationale="because", importance=2, valid_to="2099-01-01T00:00:00Z")],
            "goals": [{"key": "goal:a:b", "description": "Open in May", "status": "active"}],
            "events": [{"key": "event:a:2026-01-02:x", "title": "Kick-off", "date": "2026-01-02"}],
            "preferences": [pref({"tone": "简洁"}, priority=0.5)],
            "profile": [{"key": "profile:user", "facts": [{"k": "名字", "v": "李梅", "since": "1990"}]}],
            "cases": [{"key": "case:db:slow", "problem": "Slow", "solution": "An index", "outcome": "fast"}],
            "patterns": [{"key": "pattern:db:index", "rule": "Index it", "confidence": 0.7}],
            "entities": [entity(aliases=["rag"], attrs={"lang": "ruby"}, remember=True)],
        }
        commit(cast.agent, "plain", scopes=context("project:plain"), **told)
        hold(cast)
        queued = commit(cast.agent, "held", scopes=context("project:held"), **told)["memory_written"]["queued"]
        assert len(queued) == len(told)
        for each in queued:
            approve(cast, each["proposal_id"])
        columns = (
            "type",
            "key",
            "value",
            "statement",
            "confidence",
            "lifecycle_status",
            "importance",
            "valid_to",
            "origin",
        )
        plain, held = (
            list(MemoryItem.objects.filter(scope__external_id=name).order_by("type").values(*columns))
            for name in ("plain", "held")
        )
        assert held == plain

    def test_the_same_again_is_the_open_proposal_and_another_value_is_another(self, cast):
        hold(cast)
        (first,) = commit(cast.agent, scopes=BOTH, decisions=[shared()])["memory_written"]["queued"]
        (again,) = commit(cast.agent, scopes=BOTH, decisions=[shared()])["memory_written"]["queued"]
        assert (again["proposal_id"], again["deduplicated"]) == (first["proposal_id"], True)
        assert Proposal.objects.count() == 1
        (other,) = commit(cast.agent, scopes=BOTH, decisions=[shared("Use SQLite")])["memory_written"]["queued"]
        assert other["proposal_id"] != first["proposal_id"]

    def test_what_was_rejected_is_named_and_does_not_stop_the_turn(self, cast):
        hold(cast)
        (queued,) = commit(cast.agent, scopes=BOTH, decisions=[shared()])["memory_written"]["queued"]
        cast.reviewer.do("reject_proposal", id=queued["proposal_id"], revision=1, reason="we did not decide that")
        answer = commit(cast.agent, scopes=BOTH, tasks=[task()], decisions=[shared()])
        assert answer["memory_written"]["count"] == 1
        (refused,) = [line for line in answer["explain"]["retention"] if line["action"] == "refuse"]
        assert refused["reason_code"] == "rejected_before"
        assert "we did not decide that" in refused["text"]

    def test_sent_again_with_its_key_it_is_the_first_answer(self, cast):
        hold(cast)
        given = {"scopes": BOTH, "decisions": [shared()], "idempotency_key": "k"}
        first = commit(cast.agent, **dict(given))
        again = commit(cast.agent, **dict(given))
        assert again == {**first, "deduplicated": True}
        assert Proposal.objects.count() == 1

    def test_nothing_stays_of_a_proposal_when_the_commit_fails(self, cast):
        hold(cast)
        with pytest.raises(InvalidInputError):
            commit(cast.agent, scopes=BOTH, decisions=[shared(), decision(key="nonsense")])
        assert (Proposal.objects.count(), Turn.objects.count()) == (0, 0)


class TestRetractions:
    @pytest.mark.parametrize("action", ["retract_item", "write_memory_item"])
    def test_it_works(self, cast, action):
        known = commit(cast.agent, scopes=BOTH, decisions=[shared()])["memory_written"]["items"][0]["id"]
        hold(cast, "project", actions=(action,))
        wrong = gone("decisions", "decision:shop:database", "never", scope_ref=ref(SHOP))
        answer = commit(cast.agent, say="No.", extract=False, scopes=BOTH, tasks=[task()], retractions=[wrong])
        (queued,) = answer["memory_written"]["queued"]
        assert (queued["action"], queued["key"], queued["scope"]) == ("retract_item", wrong["key"], ref(SHOP))
        assert ("queue", "waits_for_a_person") in lines(answer)
        assert [each["type"] for each in answer["memory_written"]["items"]] == ["tasks"]
        assert item(known).status == "active"
        again = commit(cast.agent, scopes=BOTH, retractions=[wrong])["memory_written"]["queued"]
        assert [(each["proposal_id"], each["deduplicated"]) for each in again] == [(queued["proposal_id"], True)]
        assert approve(cast, queued["proposal_id"])["item"]["id"] == known
        assert item(known).status == "retracted"

    def test_what_was_rejected_is_refused_and_says_so(self, cast):
        known = commit(cast.agent, scopes=BOTH, decisions=[shared()])["memory_written"]["items"][0]["id"]
        hold(cast, "project", actions=("retract_item",))
        wrong = gone("decisions", "decision:shop:database", "never", scope_ref=ref(SHOP))
        (queued,) = commit(cast.agent, scopes=BOTH, retractions=[wrong])["memory_written"]["queued"]
        cast.reviewer.do("reject_proposal", id=queued["proposal_id"], revision=1, reason="it holds")
        assert lines(commit(cast.agent, scopes=BOTH, retractions=[wrong])) == [("refuse", "rejected_before")]
        assert item(known).status == "active"

    @pytest.mark.parametrize(
        ("reason", "proposed"),
        [("n" * 2_001, "n" * 2_000), (" \u200b\u200b ", "taken back in a turn"), ("", "taken back in a turn")],
    )
    def test_any_reason_of_a_turn_is_one_that_a_reviewer_can_read(self, cast, reason, proposed):
        commit(cast.agent, scopes=BOTH, decisions=[shared()])
        hold(cast, "project", actions=("retract_item",))
        wrong = gone("decisions", "decision:shop:database", reason, scope_ref=ref(SHOP))
        answer = commit(cast.agent, scopes=BOTH, tasks=[task()], retractions=[wrong])
        (queued,) = answer["memory_written"]["queued"]
        assert Proposal.objects.get(pk=queued["proposal_id"]).input["reason"] == proposed
        (told,) = [line["text"] for line in answer["explain"]["retention"] if line["action"] == "queue"]
        assert ("its reason is cut to 2000 characters" in told) is (len(reason) > 2_000)

    def test_versions_that_one_call_cannot_take_are_proposed_in_several(self, cast):
        for number in range(53):
            commit(cast.agent, scopes=BOTH, decisions=[shared(f"Use Postgres {number}")])
        with unguarded():
            MemoryItem.objects.update(status="active")
        hold(cast, "project", actions=("retract_item",))
        wrong = gone("decisions", "decision:shop:database", "never", scope_ref=ref(SHOP))
        queued = commit(cast.agent, scopes=BOTH, retractions=[wrong])["memory_written"]["queued"]
        assert len(queued) == 2
        for each in queued:
            approve(cast, each["proposal_id"])
        assert set(MemoryItem.objects.values_list("status", flat=True)) == {"retracted"}

    def test_a_narrow_scope_or_another_rule_holds_nothing_back(self, cast):
        commit(cast.agent, scopes=BOTH, decisions=[decision(), shared()])
        hold(cast, "global", actions=("retract_item",))
        wrong = gone("decisions", "decision:shop:database", "never")
        answer = commit(cast.agent, scopes=BOTH, retractions=[wrong, {**wrong, "scope_ref": ref(SHOP)}])
        assert answer["memory_written"]["queued"] == []
        assert not MemoryItem.objects.filter(status="active").exists()

    def test_some_facts_of_a_profile_do_not_take_the_rest_along(self, cast):
        commit(cast.agent, say="My name is Ann. I live in Berlin.", scopes=context(SHOP))
        hold(cast, "project", actions=("retract_item",))
        answer = commit(cast.agent, say="Forget that I live in Berlin", scopes=context(SHOP))
        assert ("refuse", "propose_it_with_correct_item") in lines(answer)
        profile = MemoryItem.objects.get(type="profile", current_until=None)
        assert {fact["k"] for fact in profile.value["facts"]} == {"name", "location"}

    def test_a_status_told_in_words_waits_as_other_items_do(self, cast):
        known = commit(cast.agent, scopes=context(SHOP), tasks=[task(title="Paint the door")])
        hold(cast, "project")
        answer = commit(cast.agent, say="The task Paint the door is done.", scopes=context(SHOP))
        assert [each["type"] for each in answer["memory_written"]["queued"]] == ["tasks"], lines(answer)
        assert item(known["memory_written"]["items"][0]["id"]).status == "active"


class TestExplicitWrites:
    def without_default(self, cast: Cast) -> dict:
        scopes = context(TASK, SHOP, write=(SHOP,), default=None)
        return commit(cast.agent, scopes=scopes, decisions=[decision()])

    def test_no_scope_is_written_that_was_not_named(self, cast):
        assert lines(self.without_default(cast)) == [("refuse", "no_default_write")]

    def test_policy_can_let_the_first_writable_scope_be_the_default(self, cast):
        document = {"scopes": {"require_explicit_elevated_write": False}}
        cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="one project only")
        answer = self.without_default(cast)
        assert answer["memory_written"]["items"][0]["scope"] == ref(SHOP)


class TestWriteMemoryItem:
    def test_it_works(self, cast):
        answer = write(cast.agent)
        assert (answer["item"]["statement"], answer["item"]["scope"]) == ("Use Postgres", ref(SHOP))
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == ["Use Postgres"]

    def test_twice_is_once(self, cast):
        first = write(cast.agent)
        assert not first["deduplicated"]
        again = write(cast.agent)
        assert (again["item"]["id"], again["deduplicated"]) == (first["item"]["id"], True)

    def test_a_newer_value_takes_the_place_of_the_older(self, cast):
        old = write(cast.agent, pref("a"), type="preferences")["item"]["id"]
        answer = write(cast.agent, pref("b"), type="preferences")
        assert answer["conflicts"][0]["previous_memory_item_id"] == old

    def test_a_fact_is_written_in_words(self, cast):
        fact = {"key": "fact:port:is", "statement": "The port is 7443", "value": 7443}
        assert write(cast.agent, fact, type="facts")["item"]["value"]["value"] == 7443

    def test_what_is_only_inferred_is_a_candidate_and_does_not_replace_what_is_known(self, cast):
        write(cast.agent, pref("a"), type="preferences")
        with pytest.raises(ConflictError, match="weaker than current"):
            write(cast.agent, pref("b"), type="preferences", inferred=True)
        other = write(cast.agent, pref("b", "pref:ui:color"), type="preferences", inferred=True)["item"]
        assert (other["lifecycle_status"], other["confidence"]) == ("candidate", 0.6)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"item": {}}, "item.key"),
            ({"item": {"key": "decision:a:b"}}, "item.decision"),
            ({"item": decision(key="task:a:b")}, "must start with"),
            ({"item": decision(x=1)}, "item.x"),
            ({"item": decision(supersedes="01938000-0000-7000-8000-0000000000aa")}, "correct_item"),
            ({"item": decision(scope_ref=ref(TASK))}, "give the scope in `scope`"),
            ({"item": pref(confirmed=False), "type": "preferences"}, "confirmed"),
            ({"scope": ref("session:s1")}, "commit_turn"),
            ({"scope": ref("planet:x")}, "scope type"),
            ({"type": "gossip"}, "type"),
            ({"message": 0}, "message"),
            ({"statement": ""}, "statement"),
        ],
    )
    def test_bad_input_is_refused_with_its_place(self, cast, given, said):
        with pytest.raises(InvalidInputError, match=said):
            write(cast.agent, **given)
        assert not MemoryItem.objects.exists()

    def test_a_turn_must_be_one_that_can_be_seen_and_its_message_there(self, cast):
        hidden = commit(cast.stranger, say="x", domain_id="elsewhere")["turn_id"]
        with pytest.raises(NotFoundError):
            write(cast.agent, turn_id=hidden)
        own = commit(cast.agent, say="x")["turn_id"]
        with pytest.raises(InvalidInputError, match="no message"):
            write(cast.agent, turn_id=own, message=1)

    def test_the_right_to_write_is_needed(self, cast):
        with pytest.raises(ForbiddenError):
            write(cast.reader)


def test_a_rule_on_a_kind_of_scope_holds_a_turn_that_names_one_for_itself(cast):
    """Else a turn of the session would write what waits where the turn is one of the project."""
    hold(cast, "project", actions=("commit_turn",))
    lives = {"subject": "Ann", "predicate": "lives_in", "object": "Berlin", "scope_ref": ref(SHOP)}
    for named in ({"decisions": [shared()]}, {"edges": [lives]}):
        answer = commit(cast.agent, scopes=BOTH, **named)
        assert (answer["status"], answer["proposal"]["scope"]) == ("queued", TASK)
    assert not MemoryItem.objects.exists()
    assert "status" not in commit(cast.agent, "s2", scopes=BOTH, decisions=[decision()])


def test_what_waits_one_by_one_does_not_hold_the_turn(cast):
    hold(cast, "project", actions=("*",))
    answer = commit(cast.agent, scopes=BOTH, tasks=[task()], decisions=[shared()])
    assert [each["type"] for each in answer["memory_written"]["queued"]] == ["decisions"]
