"""How well the rules read messages, measured on a set that was written and sealed by someone else.

The floors are what was reached at the first honest run, rounded down; they only rise. The set is never edited to fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernel.text import fold
from memory.extraction import Proposed, Said, extract

CASES = Path(__file__).parents[1] / "fixtures" / "extraction.jsonl"
FLOORS = {"": (0.92, 0.77), "en": (0.94, 0.78), "zh": (0.90, 0.77)}  # precision, recall


@dataclass
class Tally:
    proposed: int = 0
    right: int = 0
    expected: int = 0
    found: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.expected if self.expected else 1.0


def cases() -> list[dict]:
    return [json.loads(line) for line in CASES.read_text("utf-8").splitlines() if line.strip()]


def proposals(case: dict) -> list[Proposed]:
    said = [Said(m["role"], m.get("name", ""), m["text"], m.get("recalled", False)) for m in case["messages"]]
    tasks = [(key, title) for key, title in case.get("open_tasks", [])]
    return extract(said, tasks).proposed


def fits(found: Proposed, wanted: dict) -> bool:
    return _same_kind(found, wanted) and all(fold(part) in _text_of(found) for part in wanted.get("contains", []))


def _same_kind(found: Proposed, wanted: dict) -> bool:
    if wanted["kind"] == "task_status":
        status = found.value.get("status")
        kinds = {"task_status", "write"}
        return found.kind in kinds and found.key == wanted["task"] and status == wanted["status"]
    if found.kind != wanted["kind"]:
        return False
    return "type" not in wanted or found.type in wanted["type"]


def _text_of(found: Proposed) -> str:
    return fold(" ".join([found.statement, found.key, json.dumps(found.value, ensure_ascii=False)]))


def judge(case: dict) -> Tally:
    """Each proposal serves one entry at most; an `any_of` entry is met by the alternative that most proposals fit."""
    open_ = proposals(case)
    tally = Tally(proposed=len(open_))
    for entry in case["expect"]:
        used = _best(entry, open_)
        if used is None:
            tally.expected += 1
            continue
        if not used and _may_be_nothing(entry):
            continue
        tally.expected += 1
        tally.found += 1
        for found in used:
            open_.remove(found)
            tally.right += 1
    return tally


def _may_be_nothing(entry: dict) -> bool:
    return [] in entry.get("any_of", [])


def _best(entry: dict, open_: list[Proposed]) -> list[Proposed] | None:
    met = [used for wanted in entry.get("any_of", [[entry]]) for used in [_meet(wanted, open_)] if used is not None]
    return max(met, key=len) if met else None


def _meet(wanted: list[dict], open_: list[Proposed]) -> list[Proposed] | None:
    left, used = list(open_), []
    for each in wanted:
        found = next((candidate for candidate in left if fits(candidate, each)), None)
        if found is None:
            return None
        left.remove(found)
        used.append(found)
    return used


def tallies() -> Iterator[tuple[dict, Tally]]:
    for case in cases():
        yield case, judge(case)


def total(prefix: str = "") -> Tally:
    whole = Tally()
    for case, tally in tallies():
        if case["id"].startswith(prefix):
            whole.proposed += tally.proposed
            whole.right += tally.right
            whole.expected += tally.expected
            whole.found += tally.found
    return whole


@pytest.mark.parametrize("language", FLOORS)
def test_it_reads_messages_well_enough(language):
    reached = total(language)
    precision, recall = FLOORS[language]
    assert reached.expected > 50
    assert reached.precision >= precision
    assert reached.recall >= recall


def test_it_proposes_nothing_for_most_of_what_is_not_worth_keeping():
    nothing_wanted = [tally for case, tally in tallies() if not case["expect"]]
    assert sum(1 for tally in nothing_wanted if tally.proposed) / len(nothing_wanted) < 0.05


def test_what_is_asked_to_be_remembered_is_marked_so():
    asked = [case for case in cases() if any(entry.get("explicit") for entry in case["expect"])]
    marked = [case for case in asked if any(found.explicit for found in proposals(case))]
    found = [case for case in asked if proposals(case)]
    assert len(asked) > 20
    assert len(marked) >= 0.95 * len(found)
