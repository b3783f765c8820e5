"""Relations and denials for scopes that many read: written by themselves, and waiting where policy lets memory wait."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance.models import AuditEntry, Proposal
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, StaleError
from memory.jobs import extract_turn
from memory.models import KgEdge, MemoryItem
from tests.conftest import TEAM, Cast, Player
from tests.doors.language_model import a_model
from tests.memory.talk import commit, context, decision, gone, item, lines, pref, ref, task
from tests.memory.test_queued_items import BOTH, SHOP, TASK, approve, hold

LEDGER = {"subject": "checkout", "predicate": "depends_on", "object": "ledger"}


def relate(player: Player, **fields: Any) -> dict:
    return player.do("write_relation", {"domain_id": TEAM, "scope": ref(SHOP), **LEDGER, **fields})


def deny(player: Player, **fields: Any) -> dict:
    said = {"type": "decisions", "key": "decision:shop:cache", "reason": "we never chose a cache"}
    return player.do("write_denial", {"domain_id": TEAM, "scope": ref(SHOP), **said, **fields})


def edges() -> list[tuple[str, bool]]:
    return [(str(row), row.current_until is None) for row in KgEdge.objects.order_by("id")]


class TestRelations:
    def test_it_works(self, cast):
        hold(cast, "project")
        told = [LEDGER, {**LEDGER, "scope_ref": ref(SHOP), "object": "billing"}]
        answer = commit(cast.agent, say="So it is.", extract=False, scopes=BOTH, tasks=[task()], edges=told)
        (queued,) = answer["memory_written"]["queued"]
        assert (queued["action"], queued["type"], queued["key"], queued["scope"]) == (
            "write_relation",
            "edges",
            "checkout depends_on billing",
            ref(SHOP),
        )
        assert ("queue", "waits_for_a_person") in lines(answer)
        assert edges() == [("checkout depends_on ledger", True)], "that of the task does not wait"
        done = approve(cast, queued["proposal_id"])["relation"]
        row = KgEdge.objects.get(pk=done["id"])
        assert (row.scope.name, str(row.source_turn_id)) == (SHOP, answer["turn_id"])

    def test_what_waited_is_what_would_have_been(self, cast):
        told = {**LEDGER, "confidence": 0.5, "valid_from": "2026-01-02T00:00:00Z", "valid_to": "2030-01-01T00:00:00Z"}
        commit(cast.agent, scopes=context("project:plain"), edges=[told])
        hold(cast)
        (queued,) = commit(cast.agent, scopes=context("project:held"), edges=[told])["memory_written"]["queued"]
        approve(cast, queued["proposal_id"])
        one, other = (
            KgEdge.objects.filter(scope__external_id=name).values(
                "subject", "predicate", "object", "confidence", "valid_from", "valid_to", "content_hash"
            )
            for name in ("plain", "held")
        )
        assert list(one) == list(other)

    def test_one_that_is_known_waits_for_nobody_and_one_that_waits_is_named(self, cast):
        relate(cast.agent)
        hold(cast)
        answer = commit(cast.agent, scopes=context(SHOP), edges=[LEDGER, {**LEDGER, "object": "billing"}])
        assert lines(answer) == [("deduplicate", "same_edge"), ("queue", "waits_for_a_person")]
        (first,) = answer["memory_written"]["queued"]
        (again,) = commit(cast.agent, scopes=context(SHOP), edges=[{**LEDGER, "object": "BILLING"}])["memory_written"][
            "queued"
        ]
        assert (again["proposal_id"], again["deduplicated"]) == (first["proposal_id"], True)

    def test_one_that_was_rejected_is_refused(self, cast):
        hold(cast)
        (queued,) = commit(cast.agent, scopes=context(SHOP), edges=[LEDGER])["memory_written"]["queued"]
        cast.reviewer.do("reject_proposal", id=queued["proposal_id"], revision=1, reason="it does not")
        assert lines(commit(cast.agent, scopes=context(SHOP), edges=[LEDGER])) == [("refuse", "rejected_before")]
        with pytest.raises(ConflictError, match="it does not"):
            relate(cast.agent)
        assert edges() == []

    def test_by_itself_it_is_written_once(self, cast):
        first, again = relate(cast.agent), relate(cast.agent, subject="Checkout")
        assert (first["deduplicated"], again["deduplicated"]) == (False, True)
        assert first["relation"]["id"] == again["relation"]["id"]

    def test_an_approval_is_undone_and_what_it_ended_holds_again(self, cast):
        relate(cast.agent)
        hold(cast)
        queued = relate(cast.agent, valid_to="2030-01-01T00:00:00Z")["proposal"]["id"]
        approve(cast, queued)
        assert edges() == [("checkout depends_on ledger", False), ("checkout depends_on ledger", True)]
        cast.reviewer.do("undo_decision", proposal_id=queued, reason="too soon")
        assert [held for _, held in edges()] == [False, False, True]
        assert KgEdge.objects.get(current_until=None).valid_to is None

    def test_one_that_was_told_again_since_is_not_undone(self, cast):
        relate(cast.agent)
        entry = AuditEntry.objects.get(action="write_relation")
        commit(cast.agent, scopes=context(SHOP), edges=[{**LEDGER, "valid_to": "2030-01-01T00:00:00Z"}])
        with pytest.raises(StaleError, match="changed again"):
            cast.reviewer.do("revert_change", audit_entry_id=str(entry.pk), reason="wrong")

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"subject": " "}, "subject"),
            ({"object": ""}, "object"),
            ({"predicate": "x" * 101}, "predicate"),
            ({"confidence": 2}, "confidence"),
            ({"scope": ref("session:s1")}, "commit_turn"),
            ({"scope": ref("planet:x")}, "scope type"),
            ({"scope_ref": ref(TASK)}, "scope_ref"),
            ({"valid_from": "2026-01-02T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}, "valid_to"),
        ],
    )
    def test_bad_input_is_refused_with_its_place(self, cast, given, said):
        with pytest.raises(InvalidInputError, match=said):
            relate(cast.agent, **given)
        assert edges() == []


class TestDenials:
    @pytest.mark.parametrize("action", ["write_denial", "retract_item", "write_memory_item"])
    def test_it_works(self, cast, action):
        """What a turn denies and nobody knows would else be kept in a scope that many read."""
        hold(cast, "project", actions=(action,))
        wrong = gone("decisions", "decision:shop:cache", "we never chose a cache", scope_ref=ref(SHOP))
        answer = commit(cast.agent, say="No.", extract=False, scopes=BOTH, tasks=[task()], retractions=[wrong])
        (queued,) = answer["memory_written"]["queued"]
        assert (queued["action"], queued["key"]) == ("write_denial", wrong["key"])
        assert not MemoryItem.objects.filter(scope__scope_type="project").exists()
        kept = item(approve(cast, queued["proposal_id"])["item"]["id"])
        assert (kept.status, kept.statement, kept.scope.name) == ("retracted", "we never chose a cache", SHOP)
        again = commit(cast.agent, scopes=BOTH, retractions=[wrong])
        assert lines(again) == [("deduplicate", "already_retracted")]

    @pytest.mark.parametrize("reason", ["", " \u200b\u200b ", "n" * 2_001])
    def test_any_reason_of_a_turn_is_one_that_a_reviewer_can_read(self, cast, reason):
        hold(cast)
        wrong = gone("decisions", "decision:shop:cache", reason, scope_ref=ref(SHOP))
        (queued,) = commit(cast.agent, scopes=BOTH, retractions=[wrong])["memory_written"]["queued"]
        told = Proposal.objects.get(pk=queued["proposal_id"]).input["reason"]
        assert told == (reason[:2_000] if reason.strip("\u200b ") else "decision:shop:cache does not hold")

    def test_what_was_rejected_is_refused(self, cast):
        hold(cast)
        wrong = gone("decisions", "decision:shop:cache", scope_ref=ref(SHOP))
        (queued,) = commit(cast.agent, scopes=BOTH, retractions=[wrong])["memory_written"]["queued"]
        cast.reviewer.do("reject_proposal", id=queued["proposal_id"], revision=1, reason="we did choose one")
        assert lines(commit(cast.agent, scopes=BOTH, retractions=[wrong])) == [("refuse", "rejected_before")]

    def test_what_became_known_meanwhile_is_not_denied(self, cast):
        hold(cast)
        queued = deny(cast.agent)["proposal"]["id"]
        hold(cast, "global")
        known = commit(cast.agent, scopes=context(SHOP), decisions=[decision(key="decision:shop:cache")])
        with pytest.raises(ConflictError, match="take it back with retract_item"):
            approve(cast, queued)
        assert item(known["memory_written"]["items"][0]["id"]).status == "active"

    def test_by_itself_it_is_kept_once(self, cast):
        first, again = deny(cast.agent), deny(cast.agent, reason="in other words")
        assert (first["deduplicated"], again["deduplicated"]) == (False, True)
        assert first["item"]["id"] == again["item"]["id"]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"key": "task:a:b"}, "must start with"),
            ({"type": "gossip"}, "type"),
            ({"reason": "\u200b"}, "reason"),
            ({"scope": ref("session:s1")}, "commit_turn"),
        ],
    )
    def test_bad_input_is_refused_with_its_place(self, cast, given, said):
        with pytest.raises(InvalidInputError, match=said):
            deny(cast.agent, **given)
        assert not MemoryItem.objects.exists()


@pytest.mark.parametrize("say", [relate, deny])
def test_the_right_to_write_and_a_turn_in_sight_are_needed(cast, say):
    with pytest.raises(ForbiddenError):
        say(cast.reader)
    hidden = commit(cast.stranger, say="x", domain_id="elsewhere")["turn_id"]
    with pytest.raises(NotFoundError):
        say(cast.agent, turn_id=hidden)


@pytest.mark.parametrize("act", ["retract_item", "correct_item", "narrow_item"])
def test_a_rule_on_new_memory_holds_what_changes_the_old_too(cast, act):
    known = commit(cast.agent, scopes=context(SHOP), decisions=[decision()])["memory_written"]["items"][0]["id"]
    hold(cast, "project")
    fields: dict[str, dict[str, Any]] = {
        "correct_item": {"text": "Use SQLite", "evidence_refs": [{"kind": "url", "id": "https://example.org/why"}]},
        "narrow_item": {"target_scope": ref(TASK)},
    }
    more = fields.get(act, {})
    answer = cast.agent.do(act, memory_item_id=known, reason="wrong", **more)
    assert answer["status"] == "queued"
    assert (item(known).status, item(known).current_until) == ("active", None)


class TestWhatAModelLearns:
    """The server reads a turn by itself, later; the words are those of who committed it."""

    TYPES = (
        ("facts", "fact:db:port"),
        ("preferences", "pref:writing:tone"),
        ("goals", "goal:shop:launch"),
        ("tasks", "task:shop:parser"),
        ("decisions", "decision:shop:database"),
        ("entities", "entity:repo:octo/zebra"),
        ("events", "event:shop:2026-01-02:kickoff"),
        ("patterns", "pattern:db:index"),
    )

    def told(self, *types: tuple[str, str]) -> str:
        rows = [{"type": kind, "key": key, "statement": f"说 {key}", "confidence": 0.9} for kind, key in types]
        return json.dumps({"items": rows}, ensure_ascii=False)

    def learn(self, cast: Cast, *types: tuple[str, str]) -> str:
        turn: str = commit(cast.agent, say="The zebra database.", scopes=context(SHOP), extract=False)["turn_id"]
        with a_model(self.told(*types)):
            extract_turn(turn)
        return turn

    def test_it_works(self, cast):
        hold(cast)
        turn = self.learn(cast, *self.TYPES)
        assert not MemoryItem.objects.exists()
        rows = {row.input["type"]: row for row in Proposal.objects.all()}
        assert set(rows) == {kind for kind, _ in self.TYPES}
        assert {(row.proposer_name, row.input["turn_id"]) for row in rows.values()} == {("agent", turn)}
        approve(cast, str(rows["decisions"].pk))
        kept = MemoryItem.objects.get()
        assert (kept.statement, kept.lifecycle_status) == ("说 decision:shop:database", "candidate")
        assert kept.confidence <= 0.6

    def test_without_a_rule_it_is_kept_as_before(self, cast):
        self.learn(cast, *self.TYPES)
        assert MemoryItem.objects.filter(lifecycle_status="candidate").count() == len(self.TYPES)
        assert not Proposal.objects.exists()

    def test_what_cannot_wait_by_itself_is_named_and_not_kept(self, cast):
        hold(cast)
        turn = commit(cast.agent, say="The zebra database.", scopes=context(SHOP), extract=False)["turn_id"]
        with a_model(self.told(("profile", "profile:user"), ("facts", "fact:db:port"))):
            answer = cast.agent.do("extract_turn", turn_id=turn)
        assert [(line["action"], line["reason_code"]) for line in answer["retention"]] == [
            ("refuse", "invalid_input"),
            ("queue", "waits_for_a_person"),
        ]
        assert not MemoryItem.objects.exists()

    def test_of_who_may_write_there_no_more_nothing_is_kept(self, cast):
        hold(cast)
        turn = commit(cast.agent, say="The zebra database.", scopes=context(SHOP), extract=False)["turn_id"]
        cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read"])
        with a_model():
            extract_turn(turn)
        assert not MemoryItem.objects.exists()
        assert not Proposal.objects.exists()


def test_what_two_values_of_a_preference_say_still_waits_as_two(cast):
    hold(cast)
    for value in ("brief", "long"):
        commit(cast.agent, scopes=context(SHOP), preferences=[pref(value)])
    assert Proposal.objects.count() == 2
