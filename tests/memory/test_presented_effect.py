"""What a reviewer is told of the effect of a proposal: who gains or loses sight, and contexts before and after."""

from __future__ import annotations

from governance import gate, hooks
from kernel.actions import Change, get
from memory.models import ContextRecord
from tests.conftest import TEAM, Cast, make_agent, make_person
from tests.memory.presented import SHOP, TASK, effect, hold
from tests.memory.promoting import promote, promoter
from tests.memory.talk import commit, compose, context, decision, only, ref


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
