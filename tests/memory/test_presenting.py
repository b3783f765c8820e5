"""How proposals about memory look to a reviewer: subject, rows, evidence, neighbours, effect, contexts before and after."""

from __future__ import annotations

from typing import Any

import pytest

from governance import gate, hooks
from governance.contracts.presenting import EffectLine, Presentation, Snapshot
from governance.gate.opening import writing
from governance.models import Proposal
from kernel.actions import Change, get
from kernel.db import rolled_back
from memory.models import ContextRecord
from tests.conftest import TEAM, Cast, Player, make_agent, make_person
from tests.memory.talk import commit, compose, context, decision, only, pref, ref
from tests.memory.test_promotion import promote, promoter

SHOP, TASK = "project:shop", "task:t"
WHY = {"kind": "url", "id": "https://example.org/why"}


def hold(cast: Cast, *actions: str) -> None:
    rule = {"name": "look", "actions": list(actions)}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look first")


def the_proposal() -> Proposal:
    return Proposal.objects.latest("id")


def presented(by: Player) -> Presentation:
    row = the_proposal()
    presenter = hooks.presenter_of(row.action)
    assert presenter is not None
    given = get(row.action).input.parse(row.input)
    return presenter(given, [Change.from_json(kept) for kept in row.changes], by.ctx())


def effect(by: Player, ctx_of: Player | None = None) -> tuple[list[EffectLine], list[Snapshot], list[Snapshot]]:
    """The effect of the open proposal and the contexts before and while it is in force."""
    row = the_proposal()
    action = get(row.action)
    given = action.input.parse(row.input)
    ctx = (ctx_of or by).ctx()
    changes = [Change.from_json(kept) for kept in row.changes]
    before = [each for take in hooks.snapshot_takers() for each in take(changes, by.ctx())]
    prepared = action.prepare(given, ctx)
    assert action.apply is not None
    with writing(), rolled_back():
        _, done = action.apply(given, prepared, ctx)
        lines = [line for find in hooks.effects() for line in find(list(done), by.ctx())]
        after = [each for take in hooks.snapshot_takers() for each in take(list(done), by.ctx())]
    return lines, before, after


def fields(presentation: Presentation, place: int = 0) -> dict[str, tuple[Any, Any]]:
    return {each.name: (each.before, each.after) for each in presentation.rows[place].fields}


def test_it_works(cast):
    agent = promoter(cast)
    commit(agent, "s1", scopes=context(SHOP), decisions=[decision("Use MySQL")])
    said = commit(agent, "s2", say="Let us use Postgres.", extract=False, scopes=context(TASK), decisions=[decision()])
    promote(agent, only(said)["id"], verification_refs=[WHY])
    shown = presented(cast.reviewer)
    assert shown.subject == "Promote from task:t to project:shop: Use Postgres"
    assert [(row.kind, row.title) for row in shown.rows] == [("added", "Use Postgres"), ("changed", "Use MySQL")]
    assert fields(shown)["statement"] == ("Use MySQL", "Use Postgres")
    assert fields(shown)["scope"] == (SHOP, SHOP)
    assert fields(shown, 1)["status"] == ("active", "superseded")
    assert shown.nearest is not None
    assert shown.nearest.text == "Use MySQL"
    assert [(each.role, each.text) for each in shown.evidence] == [
        ("source", "Use Postgres"), ("verification", WHY["id"]), ("supporting", "Let us use Postgres."),
    ]  # fmt: skip


def test_a_reviewer_of_the_target_alone_sees_what_is_promoted_and_no_more_of_its_source(cast):
    agent = promoter(cast)
    private = commit(agent, "s2", say="Ann is leaving, so Postgres.", extract=False, decisions=[decision()])
    promote(agent, only(private)["id"])
    shown = presented(make_person("shop-reviewer", TEAM, SHOP))
    assert fields(shown)["statement"] == (None, "Use Postgres")
    assert "Ann" not in shown.model_dump_json()


def test_reworded_the_old_words_stand_beside_the_new(cast):
    agent = promoter(cast)
    source = only(commit(agent, scopes=context(TASK), decisions=[decision("Use Postgres", rationale="Ann says so")]))[
        "id"
    ]
    promote(agent, source, text="Postgres it is.")
    shown = presented(cast.reviewer)
    assert fields(shown)["value.decision"] == (None, "Postgres it is.")
    assert "value.rationale" not in fields(shown)
    assert shown.evidence[0].text == "Use Postgres — Ann says so"


@pytest.mark.parametrize(
    ("action", "given", "subject", "row"),
    [
        ("retract_item", {}, "Retract from project:shop", ("status", "active", "retracted")),
        ("correct_item", {"text": "Use SQLite"}, "Correct in project:shop: Use SQLite", ("statement", "Use Postgres", "Use SQLite")),
        ("narrow_item", {"target_scope": ref(TASK)}, "Narrow from project:shop to task:t", ("scope", None, TASK)),
        (
            "demote",
            {"evidence_refs": [WHY], "reason_type": "unsafe"},
            "Demote in project:shop (unsafe)",
            ("lifecycle", "promoted", "demoted"),
        ),
        (
            "raise_tier",
            {"tier": "shu", "supporting_refs": [WHY], "verification_refs": [{"kind": "url", "id": "https://b.example"}]},
            "Raise to shu in project:shop",
            ("tier", "none", "shu"),
        ),
    ],
)  # fmt: skip
def test_every_act_on_a_memory_shows_what_changes(cast, action, given, subject, row):
    agent = promoter(cast)
    item_id = only(commit(agent, scopes=context(SHOP), decisions=[decision()]))["id"]
    hold(cast, action)
    answer = agent.do(action, {"memory_item_id": item_id, "reason": "it is so", **given})
    assert answer["status"] == "queued"
    shown = presented(cast.reviewer)
    assert shown.subject.startswith(subject)
    name, before, after = row
    assert fields(shown)[name] == (before, after)
    lines, _, _ = effect(cast.reviewer, agent)
    assert {line.kind for line in lines} >= {"rows", "index"}


def test_what_a_retraction_names_beyond_the_reviewers_sight_is_not_shown(cast):
    hold(cast, "retract_item")
    mine = only(commit(cast.agent, scopes=context(SHOP), decisions=[decision()]))["id"]
    foreign = only(commit(cast.stranger, domain_id="elsewhere", decisions=[decision("The merger is in May")]))["id"]
    cast.agent.do("retract_item", memory_item_id=mine, reason="wrong", also=[foreign])
    shown = presented(cast.reviewer)
    assert [row.title for row in shown.rows] == ["Use Postgres"]
    assert "merger" not in shown.model_dump_json()


def test_a_single_item_that_waits_shows_its_message_and_what_it_replaces(cast):
    commit(cast.agent, scopes=context(SHOP), preferences=[pref("verbose")])
    hold(cast, "write_memory_item")
    commit(
        cast.agent, "s2", say="Shorter, please.", extract=False, scopes=context(SHOP), preferences=[pref("concise")]
    )
    shown = presented(cast.reviewer)
    assert shown.subject == "Write to project:shop: writing tone: concise"
    assert fields(shown)["value.value"] == ("verbose", "concise")
    assert [each.text for each in shown.evidence] == ["Shorter, please."]


def test_a_whole_turn_that_waits_shows_its_messages_and_items(cast):
    hold(cast, "commit_turn")
    commit(cast.agent, say="We decided.", extract=False, scopes=context(SHOP), decisions=[decision()])
    shown = presented(cast.reviewer)
    assert shown.subject == "Commit a turn of session s1 to project:shop: We decided."
    assert [row.title for row in shown.rows] == ["Use Postgres"]
    assert shown.evidence[0].text == "We decided."


def changed(presentation: Presentation, place: int = 0) -> dict[str, tuple[Any, Any]]:
    return {each.name: (each.before, each.after) for each in presentation.rows[place].fields if each.differs}


class TestFields:
    """What a reviewer compares: what was given and what really changes, and no default that nobody gave."""

    def test_a_new_item_shows_what_was_given(self, cast):
        hold(cast, "commit_turn", "write_memory_item")
        given = {"key": "task:shop:new", "title": "Count the stock"}
        commit(cast.agent, scopes=context(SHOP), tasks=[given])
        wanted = {"statement", "scope", "type", "key", "value.title"}
        assert set(fields(presented(cast.reviewer))) == wanted
        written = {"domain_id": TEAM, "scope": ref(SHOP), "type": "tasks", "item": {**given, "key": "task:shop:other"}}
        cast.agent.do("write_memory_item", written)
        assert set(fields(presented(cast.reviewer))) == wanted

    def test_nothing_that_was_given_is_hidden(self, cast):
        hold(cast, "commit_turn", "write_memory_item")
        source = {"kind": "url", "id": "https://example.org/seen"}
        given = {
            "key": "task:shop:new",
            "title": "Count the stock",
            "status": "done",
            "notes": ["by hand"],
            "importance": 4,
            "valid_from": "2026-01-01T00:00:00Z",
            "valid_to": "2027-01-01T00:00:00Z",
            "review_by": "2026-12-24T00:00:00Z",
            "evidence_refs": [source],
        }
        commit(cast.agent, scopes=context(SHOP), tasks=[given])
        turn = presented(cast.reviewer)
        written = {"domain_id": TEAM, "scope": ref(SHOP), "type": "tasks", "item": {**given, "key": "task:shop:other"}}
        cast.agent.do("write_memory_item", written)
        for shown in (turn, presented(cast.reviewer)):
            told = {name: after for name, (_, after) in fields(shown).items()}
            assert (told["value.status"], told["value.notes"], told["importance"]) == ("done", ["by hand"], 4)
            assert (told["valid_from"], told["valid_to"]) == ("2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00")
            assert told["review_by"] == "2026-12-24T00:00:00+00:00"
            assert [each.text for each in shown.evidence] == [source["id"]]

    def test_in_the_place_of_another_only_what_really_changes_differs(self, cast):
        old = decision("Use MySQL", rationale="cheap", importance=3, valid_to="2027-01-01T00:00:00Z")
        commit(cast.agent, scopes=context(SHOP), decisions=[old])
        hold(cast, "commit_turn", "write_memory_item")
        commit(cast.agent, "s2", scopes=context(SHOP), decisions=[decision("Use Postgres")])
        turn = presented(cast.reviewer)
        item = decision("Use Postgres")
        cast.agent.do("write_memory_item", domain_id=TEAM, scope=ref(SHOP), type="decisions", item=item)
        for shown in (turn, presented(cast.reviewer)):
            assert changed(shown) == {
                "statement": ("Use MySQL — cheap", "Use Postgres"),
                "value.decision": ("Use MySQL", "Use Postgres"),
                "value.rationale": ("cheap", None),
                "valid_to": ("2027-01-01T00:00:00+00:00", None),
                "importance": (3, 0),
            }, "what the old one held and the new one does not is a change"
            assert changed(shown, 1) == {"status": ("active", "superseded")}

    def test_a_copy_shows_what_it_takes_along(self, cast):
        agent = promoter(cast)
        given = decision(valid_to="2027-01-01T00:00:00Z", importance=2)
        promote(agent, only(commit(agent, scopes=context(TASK), decisions=[given]))["id"])
        told = fields(presented(cast.reviewer))
        assert (told["valid_to"][1], told["importance"][1]) == ("2027-01-01T00:00:00+00:00", 2)
        assert not {"status", "lifecycle", "tier", "pinned", "review_by"} & set(told)


class TestEffect:
    def test_promotion_names_who_gains_sight(self, cast):
        agent = promoter(cast)
        make_agent("shopkeeper", pattern=SHOP)
        make_agent("elsewhere-agent", "elsewhere")
        make_agent("other-project", pattern="project:other")
        source = only(commit(agent, scopes=context(TASK), decisions=[decision()]))["id"]
        promote(agent, source)
        lines, _, _ = effect(cast.reviewer, agent)
        gained = next(line for line in lines if line.kind == "gains_sight")
        assert (gained.count, gained.who) == (1, ["shopkeeper"])
        assert not [line for line in lines if line.kind == "loses_sight"]

    def test_narrowing_names_who_loses_sight(self, cast):
        make_agent("shopkeeper", pattern=SHOP)
        item_id = only(commit(cast.agent, scopes=context(SHOP), decisions=[decision()]))["id"]
        hold(cast, "narrow_item")
        cast.agent.do("narrow_item", memory_item_id=item_id, target_scope=ref(TASK), reason="only here")
        lines, _, _ = effect(cast.reviewer, cast.agent)
        assert next(line for line in lines if line.kind == "loses_sight").who == ["shopkeeper"]

    def test_a_change_of_the_policy_has_no_effect_on_memory(self, cast):
        assert [line for find in hooks.effects() for line in find([Change("policy_versions", "x", None, {})], cast.reviewer.ctx()) if line.kind in ("rows", "index", "contexts", "gains_sight", "loses_sight")] == []  # fmt: skip


class TestContexts:
    def retracting(self, cast: Cast) -> str:
        item_id = str(only(commit(cast.agent, scopes=context(SHOP), decisions=[decision()]))["id"])
        compose(cast.agent, "Which database, Postgres?", "s9", scope_context=context(SHOP))
        compose(cast.agent, "What is the weather?", "s9", scope_context=context("project:other"))
        hold(cast, "retract_item")
        cast.agent.do("retract_item", memory_item_id=item_id, reason="wrong")
        return item_id

    def test_they_are_composed_again_before_and_after(self, cast):
        self.retracting(cast)
        lines, before, after = effect(cast.reviewer, cast.agent)
        assert next(line for line in lines if line.kind == "contexts").count == 1
        assert [each.lines for each in before] == [["[memory] Use Postgres"]]
        assert [each.lines for each in after] == [[]]
        assert before[0].title == "agent: Which database, Postgres?"
        assert before[0].id == after[0].id

    def test_nothing_of_it_is_kept(self, cast):
        self.retracting(cast)
        records = ContextRecord.objects.count()
        effect(cast.reviewer, cast.agent)
        assert ContextRecord.objects.count() == records

    def test_a_reviewer_of_a_part_of_the_domain_sees_none(self, cast):
        """A context draws on several scopes, so part of a domain is not enough."""
        self.retracting(cast)
        _, before, after = effect(make_person("shop-reviewer", TEAM, SHOP), cast.agent)
        assert (before, after) == ([], [])

    def test_at_most_twenty(self, cast):
        commit(cast.agent, scopes=context(SHOP), decisions=[decision()])
        for number in range(22):
            compose(cast.agent, "Which database, Postgres?", f"n{number}", scope_context=context(SHOP))
        self.retracting(cast)
        _, before, _ = effect(cast.reviewer, cast.agent)
        assert len(before) == 20

    def test_whose_key_is_gone_has_no_context_to_compare(self, cast):
        self.retracting(cast)
        gate.perform(
            get("revoke_key"),
            get("revoke_key").input.parse({"key_prefix": cast.agent.key.split("_")[1]}),
            ctx=cast.operator.ctx(),
        )
        _, before, after = effect(cast.reviewer, cast.agent)
        assert (before, after) == ([], [])
