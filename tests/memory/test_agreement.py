"""Words and value of an item that is written by itself say the same, or it is refused; what can be either is taken."""

from __future__ import annotations

from typing import Any

import pytest

from governance.models import Proposal
from kernel.errors import InvalidInputError
from memory.agreement import require_agreement
from memory.models import MemoryItem
from tests.conftest import TEAM, Cast
from tests.memory.talk import commit, context, ref

SHOP = "project:shop"
PORT = {"relation": "is", "subject": "port"}
MONTH = {"decision": "We pay on the 3rd of March"}


def agree(item_type: str, value: dict[str, Any], words: str, said: str | None = None) -> None:
    require_agreement(item_type, {**value, "statement": words}, words, said)


@pytest.mark.parametrize(
    ("item_type", "value", "words"),
    [
        ("facts", {**PORT, "value": "5432"}, "The port is 5432"),
        ("facts", {**PORT, "value": 5432}, "数据库端口是5432"),
        ("facts", {**PORT, "value": True}, "The port is open"),
        ("facts", {**PORT, "value": None}, "The port is closed"),
        ("facts", {**PORT, "value": ["a", "b"]}, "Anything"),
        ("facts", PORT, "No value at all"),
        (
            "decisions",
            {"decision": "Use Postgres", "rationale": "it is boring"},
            "We settled on Postgres, boring as it is",
        ),
        ("decisions", {"decision": "Use Postgres"}, "数据库用 Postgres"),
        ("tasks", {"title": "Write the parser", "status": "todo"}, "The parser has to be written"),
        ("preferences", {"scope": "writing", "name": "spelling", "value": "en-GB"}, "British spelling, please"),
        ("preferences", {"scope": "general", "name": "tabs", "value": "avoid: tabs"}, "I don't like tabs"),
        ("goals", {"description": "Open in May"}, ""),
        ("decisions", {}, "x" * 20_000),
    ],
)
def test_it_works(item_type, value, words):
    agree(item_type, value, words)


@pytest.mark.parametrize(
    ("item_type", "value", "words"),
    [
        ("facts", {**PORT, "value": "5432"}, "The port is 5433"),
        ("facts", {**PORT, "value": 5}, "The port is 15"),
        ("facts", {**PORT, "value": "main"}, "Maintenance is here"),
        ("decisions", {"decision": "The port is 5432"}, "The port is 5433"),
        ("decisions", {"decision": "Use Postgres for billing"}, "We do not use Postgres for billing"),
        ("decisions", {"decision": "Use Postgres for billing"}, "Use MySQL for billing"),
        ("tasks", {"title": "Write the parser", "status": "done"}, "Write the parser — todo"),
        ("preferences", {"scope": "writing", "name": "tone", "value": "concise"}, "writing tone: long"),
        ("decisions", {"decision": "收据宽80毫米"}, "收据宽58毫米"),
    ],
)
def test_words_that_contradict_the_value_are_refused_and_both_are_told(item_type, value, words):
    with pytest.raises(InvalidInputError, match="let them say the same") as refused:
        agree(item_type, value, words)
    assert words[:40] in refused.value.message
    assert (refused.value.status, refused.value.errors[0]["loc"]) == (422, ["statement"])


def test_a_fact_is_given_one_wording():
    agree("facts", PORT, "The port is open", "the  PORT is open")
    with pytest.raises(InvalidInputError, match="the fields of the value say “The port is closed”"):
        agree("facts", PORT, "The port is open", "The port is closed")


def write(cast: Cast, **fields: Any) -> dict:
    return cast.agent.do("write_memory_item", {"domain_id": TEAM, "scope": ref(SHOP), **fields})


FACT = {"key": "fact:db:port", "statement": "The port is 5433", "value": "5432"}


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "facts", "item": FACT},
        {"type": "facts", "item": {**FACT, "value": "5433"}, "statement": "The port is 5432"},
        {"type": "decisions", "item": {"key": "decision:db:port", "decision": "The port is 5432"}, "statement": FACT["statement"]},
        {"type": "facts", "item": FACT, "inferred": True},
    ],
)  # fmt: skip
def test_nothing_is_stored_and_nothing_waits(cast, fields):
    held = {"review": {"queue": [{"name": "all", "actions": ["write_memory_item"]}]}}
    cast.operator.do("set_policy", domain_id=TEAM, document=held, reason="people look")
    with pytest.raises(InvalidInputError, match="statement: the words say"):
        write(cast, **fields)
    assert (MemoryItem.objects.count(), Proposal.objects.count()) == (0, 0)


def test_what_was_heard_in_a_message_keeps_its_words_beside_what_was_made_of_them(cast):
    turn = commit(cast.agent, scopes=context(SHOP), say="The port is fifty-four thirty-two.")["turn_id"]
    heard = {"statement": "The port is fifty-four thirty-two", "turn_id": turn, "message": 0}
    item = {"key": "fact:db:port", "statement": heard["statement"], "value": 5432}
    told = write(cast, type="facts", item=item, **heard)["item"]
    assert (told["statement"], told["value"]["value"]) == (heard["statement"], 5432)
