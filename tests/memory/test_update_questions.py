"""The current statement first, the outdated one never: measured on a set that was written and sealed by someone else.

Every old value is written, then every new one, then each question is asked with default settings. See the README of the
fixtures. `pytest -s` prints the figures.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import transaction

from kernel.context import Ctx
from memory.candidates import Candidate
from memory.contracts.items import Lifecycle
from memory.models import MemoryItem, Turn
from memory.services.items import Commit, Pending, Written, settle, write
from memory.statements import complete
from scopes.models import MemoryScope
from tests.conftest import Cast, make_cast
from tests.guards.write_guard import unguarded
from tests.memory.talk import commit, compose, context, search, shown

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "update_questions.jsonl").read_text("utf-8").splitlines()
]
P = context("project:updates")
FOUND_FLOOR, CONTEXT_FLOOR = 0.95, 0.9  # at the first honest run; what is missing asks in other words


@dataclass(frozen=True)
class Asked:
    """One question with the ids of the two items, and what a search and a context answer."""

    case: dict
    old: str
    new: str
    rows: list[dict]
    package: dict

    @property
    def ids(self) -> list[str]:
        return [row["ref"]["item_id"] for row in self.rows]


def structured(statement: dict) -> dict[str, list[dict]]:
    """The statement as an item of a commit; facts come from text alone and are written by `learn`."""
    key, text = statement["key"], statement["value_text"]
    made = {
        "decisions": {"key": key, "decision": text},
        "preferences": {"key": key, "value": text, "confirmed": True},
        "tasks": {"key": key, "title": text, "status": statement.get("status", "todo")},
    }
    return {statement["type"]: [made[statement["type"]]]}


def learn(statement: dict, ctx: Ctx) -> None:
    """A fact under the key of the set, written as text extraction writes it."""
    turn = Turn.objects.select_related("session").latest("id")
    kept = Commit(turn, [], ctx, Written(), Pending())
    text = statement["value_text"]
    candidate = Candidate(
        type="facts",
        key=statement["key"],
        value=complete("facts", statement["key"], {"statement": text}),
        statement=text,
        confidence=0.8,
        lifecycle=Lifecycle.PROMOTED,
        origin="text:remember",
        source="tests",
    )
    with unguarded(), transaction.atomic():
        write(candidate, MemoryScope.objects.get(scope_type="project"), kept)
        settle(kept)


def tell(cast: Cast, which: str) -> dict[str, str]:
    """Write one statement of every case; the id of each by its key."""
    for case in CASES:
        statement = case[which]
        if statement["type"] == "facts":
            learn(statement, cast.agent.ctx())
        else:
            commit(cast.agent, "updates", scopes=P, **structured(statement))
    rows = MemoryItem.objects.filter(current_until=None).values_list("key", "pk")
    return {str(key): str(pk) for key, pk in rows}


@pytest.fixture
def asked(db) -> list[Asked]:
    cast = make_cast()
    commit(cast.agent, "updates", scopes=P, say="hello")
    old, new = tell(cast, "old"), tell(cast, "new")
    ask = {"scope_context": P}
    return [
        Asked(
            case,
            old[case["old"]["key"]],
            new[case["new"]["key"]],
            search(cast.agent, case["question"], "asking", **ask),
            compose(cast.agent, case["question"], "asking", **ask),
        )
        for case in CASES
    ]


def report(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def rate(hits: list[bool]) -> str:
    return f"{sum(hits)}/{len(hits)} = {sum(hits) / len(hits):.3f}"


def test_it_works(asked):
    """Field reports B7 and C4: current-first is 1.0 and stale exposure is 0, in searching and in composing."""
    first = [next((i for i in each.ids if i in (each.old, each.new)), None) == each.new for each in asked]
    found = [each.new in each.ids for each in asked]
    top = [each.ids[:1] == [each.new] for each in asked]
    stale = sum(each.old in each.ids for each in asked)
    items = [[item["ref"]["memory_item_id"] for item in each.package["evidence"]] for each in asked]
    blocks = [[block["source"]["memory_item_id"] for block in each.package["system_blocks"]] for each in asked]
    composed = [each.new in [*items[n], *blocks[n]] for n, each in enumerate(asked)]
    stale_shown = sum(each.old in [*items[n], *blocks[n]] for n, each in enumerate(asked))
    report(f"\nupdate questions: current first {rate(first)}, found {rate(found)}, at the top {rate(top)}")
    report(f"  stale shown by search {stale}, by contexts {stale_shown}; current in the context {rate(composed)}")
    for each, is_found in zip(asked, found, strict=True):
        if not is_found:
            report(f"  not found: {each.case['id']} {each.case['question']} -> {each.case['new']['value_text']}")
    assert first == found  # wherever the key is found at all, the current row is what is found
    assert (stale, stale_shown) == (0, 0)
    assert sum(first) / len(first) >= FOUND_FLOOR
    assert sum(composed) / len(composed) >= CONTEXT_FLOOR


def test_the_outdated_value_is_in_no_text_of_a_context(asked):
    """Not in the evidence, the summary or the recent turns either: by its words, where the new ones differ."""
    for each in asked:
        old, new = each.case["old"]["value_text"], each.case["new"]["value_text"]
        texts = [*shown(each.package), *(block["text"] for block in each.package["system_blocks"])]
        if old not in new:
            assert not any(text == old for text in texts), each.case["id"]


def test_said_in_messages_the_current_one_comes_first_and_the_outdated_is_marked(db):
    """The same facts as a user says them: the stale message may be found, marked as no longer current, never first."""
    cast = make_cast()
    facts = [case for case in CASES if case["old"]["type"] == "facts"]
    learned = []
    for case in facts:
        cue = "请记住：" if "-zh-" in case["id"] else "Remember that "
        ids = [
            written["id"]
            for which in ("old", "new")
            for written in commit(cast.agent, scopes=P, say=cue + case[which]["value_text"])["memory_written"]["items"]
        ]
        rows = list(MemoryItem.objects.filter(pk__in=ids))
        if len(rows) == 2 and rows[0].key == rows[1].key:
            learned.append(case)
    bad = []
    for case in learned:
        results = search(cast.agent, case["question"], "asking", scope_context=P)
        about = [
            row
            for row in results
            if case["old"]["value_text"] in row["text"] or case["new"]["value_text"] in row["text"]
        ]
        if about and (not about[0]["current"] or case["old"]["value_text"] in about[0]["text"]):
            bad.append(case["id"])
        package = compose(cast.agent, case["question"], "asking", scope_context=P)
        assert not any(case["old"]["value_text"] in text for text in shown(package)), case["id"]
    report(f"\nupdated in text under one key: {len(learned)} of {len(facts)}; outdated first: {bad}")
    assert bad == []
