"""What a correction makes of a memory, without a database: words and value say the same, or it is refused."""

from __future__ import annotations

import pytest

from kernel.errors import InvalidInputError
from memory.correcting import corrected

KEYS = {
    "decisions": "decision:shop:price",
    "tasks": "task:shop:t1",
    "facts": "fact:price:is",
    "preferences": "pref:writing:tone",
    "entities": "entity:person:ann",
    "profile": "profile:ann",
    "goals": "goal:shop:grow",
}
DECIDED = {"decision": "one euro", "rationale": "it is cheap"}
PRICED = {"subject": "price", "relation": "is", "value": "5", "statement": "The price is 5"}
DARK = {"subject": "dark mode", "relation": "is", "value": True, "statement": "Dark mode is enabled"}


def test_it_works():
    value, words = corrected("decisions", KEYS["decisions"], DECIDED, "two euros", {"rationale": "it is fair"})
    assert words == value["decision"] == "two euros"
    assert value["rationale"] == "it is fair"


@pytest.mark.parametrize(
    ("item_type", "old", "text", "fields", "field", "says"),
    [
        ("decisions", DECIDED, "two euros", None, "decision", "two euros"),
        ("decisions", DECIDED, None, {"decision": "two euros"}, "decision", "two euros — it is cheap"),
        ("decisions", DECIDED, " Two  Euros ", {"decision": "two euros"}, "decision", "Two  Euros"),
        ("decisions", DECIDED, "two euros — it is cheap", {"decision": "two euros"}, "decision", "two euros — it is cheap"),
        ("tasks", {"title": "Sell", "status": "open"}, "Sell it", {"status": "done"}, "title", "Sell it"),
        ("preferences", {"value": "dry"}, "writing tone: warm", {"value": "warm"}, "value", "writing tone: warm"),
        ("facts", PRICED, "The price is 6", {"value": "6"}, "value", "The price is 6"),
        ("facts", PRICED, "The price is 6", {"value": 6}, "value", "The price is 6"),
        ("facts", PRICED, None, {"statement": "The price is 6", "value": "6"}, "value", "The price is 6"),
        ("facts", PRICED, None, {"relation": "was"}, "value", "The price is 5"),
        ("facts", PRICED, "价格是六元", {"value": "六元"}, "value", "价格是六元"),
        ("facts", PRICED, "价格是6元", {"value": 6}, "value", "价格是6元"),
        ("facts", PRICED, "The limit is 6s, or v6.", {"value": 6}, "value", "The limit is 6s, or v6."),
        ("facts", PRICED, "15 or 16, but 6.", {"value": 6}, "value", "15 or 16, but 6."),
        ("facts", PRICED, "It is -6.5 now", {"value": -6.5}, "value", "It is -6.5 now"),
        ("facts", PRICED, "用main分支", {"value": "main"}, "value", "用main分支"),
        ("facts", PRICED, "The branch is “main”", {"value": "main"}, "value", "The branch is “main”"),
        ("facts", PRICED, "C++ it is", {"value": "C++"}, "value", "C++ it is"),
    ],
)  # fmt: skip
def test_both_say_the_same(item_type, old, text, fields, field, says):
    value, words = corrected(item_type, KEYS[item_type], old, text, fields)
    assert words == says
    assert str(value[field]).casefold() in " ".join(words.casefold().split())


@pytest.mark.parametrize(
    ("item_type", "old", "text", "fields"),
    [
        ("decisions", DECIDED, "two euros", {"decision": "THREE euros"}),
        ("decisions", DECIDED, "two euros", {"decision": "THREE euros", "rationale": "two euros"}),
        ("tasks", {"title": "Sell"}, "Sell it", {"title": "Buy it"}),
        ("goals", {"description": "Grow"}, "Shrink", {"description": "Grow more"}),
        ("preferences", {"value": "dry"}, "warm", {"value": "cold"}),
        ("facts", PRICED, "The price is 6", {"value": "7"}),
        ("facts", PRICED, "The price is 6", {"statement": "The price is 7", "value": "6"}),
        ("facts", PRICED, "The price is 6", {"relation": "was"}),
        ("facts", PRICED, None, {"statement": "The price is 6", "value": "7"}),
        ("facts", PRICED, None, {"value": "7"}),
        ("facts", PRICED, "The price is 15", {"value": 5}),
        ("facts", PRICED, "The price is 1.5", {"value": 5}),
        ("facts", PRICED, "The price is 5.1", {"value": 5}),
        ("facts", PRICED, "The price is -5", {"value": 5}),
        ("facts", PRICED, "-5 is the price", {"value": "5"}),
        ("facts", PRICED, "Under maintenance", {"value": "main"}),
        ("facts", PRICED, "The branch is main2", {"value": "main"}),
        ("facts", PRICED, "The branch is my_main", {"value": "main"}),
        ("facts", DARK, None, {"value": False}),
        ("facts", DARK, None, {"value": ["on", "off"]}),
        ("facts", DARK, None, {"value": []}),
        ("facts", DARK, None, {"value": {"state": "off"}}),
        ("entities", {"kind": "person", "canonical": "ann"}, "Bob", {"aliases": ["Annie"]}),
        ("profile", {"facts": []}, "ann — city: Berlin", {"facts": [{"k": "city", "v": "Bonn"}]}),
    ],
)
def test_a_pair_that_disagrees_is_refused(item_type, old, text, fields):
    with pytest.raises(InvalidInputError, match=r"^text: the words say .* let them say the same") as refused:
        corrected(item_type, KEYS[item_type], old, text, fields)
    assert refused.value.errors[0]["loc"] == ["text"]


@pytest.mark.parametrize(
    ("text", "fields", "words"),
    [
        ("Dark mode is off", {"value": False}, "Dark mode is off"),
        (None, {"value": False, "statement": "Dark mode is off"}, "Dark mode is off"),
        (None, {"value": True, "relation": "was"}, "Dark mode is enabled"),
        (None, {"relation": "was"}, "Dark mode is enabled"),
        (None, {"value": None}, "Dark mode is enabled"),
    ],
)
def test_a_value_that_no_words_can_be_held_against_changes_with_words(text, fields, words):
    value, said = corrected("facts", "fact:dark_mode:is", DARK, text, fields)
    assert said == words
    assert value.get("value") == fields.get("value", True)


def test_a_long_pair_is_refused_in_short():
    with pytest.raises(InvalidInputError) as refused:
        corrected("decisions", KEYS["decisions"], DECIDED, "a" * 20_000, {"decision": "b" * 20_000})
    assert len(refused.value.message) < 500
