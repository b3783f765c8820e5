"""How proposals about memory look to a reviewer: subject, rows, evidence and neighbours, and where they come from."""

from __future__ import annotations

from typing import Any

import pytest

from governance.contracts.presenting import Presentation
from memory.extensions.evidence import span_in
from memory.extensions.showing import fields_of
from memory.models import MemoryItem, Turn
from tests.conftest import TEAM, Cast, make_person
from tests.guards.write_guard import unguarded
from tests.memory.presented import SHOP, TASK, WHY, effect, fields, hold, presented, the_proposal
from tests.memory.promoting import promote, promoter
from tests.memory.talk import commit, context, decision, only, pref, ref


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
        ("correct_item", {"text": "Use SQLite", "value": {"rationale": "small"}}, "Correct in project:shop: Use SQLite", ("value.decision", "Use Postgres", "Use SQLite")),
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


@pytest.mark.parametrize("inferred", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        {"text": " warm "},
        {"value": {"priority": 0.9}},
        {"text": "writing tone: warm", "value": {"value": "warm", "priority": 0.9}},
    ],
)
def test_a_correction_is_shown_as_it_reads_once_it_is_made(cast, given, inferred):
    told = {"type": "preferences", "item": pref("dry", priority=0.5), "inferred": inferred}
    item_id = cast.agent.do("write_memory_item", domain_id=TEAM, scope=ref(SHOP), **told)["item"]["id"]
    hold(cast, "correct_item")
    answer = cast.agent.do("correct_item", memory_item_id=item_id, reason="it is so", **given)
    shown = fields(presented(cast.reviewer))
    done = cast.reviewer.do("approve_proposal", id=answer["proposal"]["id"], revision=1)["result"]
    made = fields_of(MemoryItem.objects.get(pk=done["item"]["id"]))
    told = {name: after for name, (_, after) in shown.items() if name not in ("confidence", "supersedes")}
    assert told == {name: made.get(name) for name in told}
    assert {"statement", "value.value", "value.priority", "lifecycle"} <= told.keys()


def test_a_correction_that_is_refused_by_now_is_shown_as_it_was_proposed(cast):
    item_id = only(commit(cast.agent, scopes=context(SHOP), decisions=[decision()]))["id"]
    hold(cast, "correct_item")
    cast.agent.do("correct_item", memory_item_id=item_id, reason="it is so", text="Use SQLite")
    row = the_proposal()
    row.input["value"] = {"decision": "Use MySQL"}
    with unguarded():
        row.save()
    shown = fields(presented(cast.reviewer))
    assert shown["statement"] == ("Use Postgres", "Use SQLite")
    assert shown["value.decision"] == ("Use Postgres", "Use MySQL")


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
            "valid_to": "2099-01-01T00:00:00Z",
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
            assert (told["valid_from"], told["valid_to"]) == ("2026-01-01T00:00:00+00:00", "2099-01-01T00:00:00+00:00")
            assert told["review_by"] == "2026-12-24T00:00:00+00:00"
            assert [each.text for each in shown.evidence] == [source["id"]]

    def test_in_the_place_of_another_only_what_really_changes_differs(self, cast):
        old = decision("Use MySQL", rationale="cheap", importance=3, valid_to="2099-01-01T00:00:00Z")
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
                "valid_to": ("2099-01-01T00:00:00+00:00", None),
                "importance": (3, 0),
            }, "what the old one held and the new one does not is a change"
            assert changed(shown, 1) == {"status": ("active", "superseded")}

    def test_a_copy_shows_what_it_takes_along(self, cast):
        agent = promoter(cast)
        given = decision(valid_to="2099-01-01T00:00:00Z", importance=2)
        promote(agent, only(commit(agent, scopes=context(TASK), decisions=[given]))["id"])
        told = fields(presented(cast.reviewer))
        assert (told["valid_to"][1], told["importance"][1]) == ("2099-01-01T00:00:00+00:00", 2)
        assert not {"status", "lifecycle", "tier", "pinned", "review_by"} & set(told)


class TestSource:
    """Where something was learned: session, turn, the words that say it, and the page of the conversation."""

    def evidence(self, cast: Cast) -> list[tuple[str, str, str]]:
        return [
            (each.source, each.text[slice(*each.span)] if each.span else "", each.link)
            for each in presented(cast.reviewer).evidence
        ]

    def test_it_works(self, cast):
        hold(cast, "write_memory_item")
        said = "Well. Let us use  postgres, then."
        commit(cast.agent, say=said, extract=False, scopes=context(SHOP), decisions=[decision("Use Postgres")])
        ((source, words, link),) = self.evidence(cast)
        assert (source, words) == ("user in session s1, turn 1", "use  postgres")
        assert link.endswith(f"/turn/{Turn.objects.get().pk}/change/")

    def test_what_is_said_in_other_words_is_not_marked(self, cast):
        hold(cast, "write_memory_item")
        commit(cast.agent, say="The elephant.", extract=False, scopes=context(SHOP), decisions=[decision()])
        assert [each[:2] for each in self.evidence(cast)] == [("user in session s1, turn 1", "")]

    def test_a_turn_without_messages_is_named(self, cast):
        hold(cast, "write_memory_item")
        commit(cast.agent, scopes=context(SHOP), decisions=[decision()])
        ((source, words, link),) = self.evidence(cast)
        assert (source, words) == ("agent in session s1, turn 1", "")
        assert link

    def test_a_turn_that_waits_leads_to_the_conversation_so_far(self, cast):
        hold(cast, "commit_turn")
        commit(cast.agent, say="Use Postgres, said Ann.", extract=False, scopes=context(SHOP), decisions=[decision()])
        assert self.evidence(cast) == [("user in session s1", "Use Postgres", "")], "there is none yet"
        cast.reviewer.do("approve_proposal", id=str(the_proposal().pk))
        told = cast.reviewer.do("review_proposal", id=str(the_proposal().pk))["presentation"]["evidence"]
        turn = Turn.objects.get()
        assert [(each["source"], each["link"]) for each in told] == [
            ("user in session s1, turn 1", f"/admin/memory/turn/{turn.pk}/change/")
        ]
        commit(
            cast.agent, say="Use DuckDB, too.", extract=False, scopes=context(SHOP), decisions=[decision("Use DuckDB")]
        )
        ((source, words, link),) = self.evidence(cast)
        assert (source, words, link) == (
            "user in session s1",
            "Use DuckDB",
            f"/admin/memory/session/{turn.session_id}/change/",
        )

    def test_who_may_not_read_the_conversation_is_not_led_there(self, cast):
        hold(cast, "write_memory_item")
        commit(cast.agent, say="Use Postgres, said Ann.", extract=False, scopes=context(SHOP), decisions=[decision()])
        assert presented(make_person("shop-reviewer", TEAM, SHOP)).evidence == []

    @pytest.mark.parametrize(
        ("text", "words", "marked"),
        [
            ("我们用 Postgres。", ("我们用 Postgres",), "我们用 Postgres"),
            ("a (b) [c]", ("(b) [c]",), "(b) [c]"),
            ("", ("x",), ""),
            ("anything", (), ""),
            ("anything", ("   ",), ""),
            ("anything", (".",), ""),
            ("x" * 30_000 + " needle", ("needle",), ""),
        ],
    )
    def test_words_are_found_as_they_stand(self, text, words, marked):
        span = span_in(text, words)
        assert (text[slice(*span)] if span else "") == marked
