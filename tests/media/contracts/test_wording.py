"""What a query asks for word by word."""

from __future__ import annotations

import pytest

from kernel.text import fold
from media.contracts.wording import wording

TEXTS = {
    "learning": "Machine learning is fun.",
    "machine": "A machine washes.",
    "phrase": "Deep neural networks learn.",
    "apart": "Networks of neural cells.",
    "zebra": "斑马住在草原上。",
    "can't": 'They can"t stop learning.',
}


@pytest.mark.parametrize(
    ("query", "held"),
    [
        ("machine NOT learning", {"machine"}),
        ("machine AND learning", {"learning"}),
        ('"neural networks"', {"phrase"}),
        ('"ＮＥＵＲＡＬ networks" OR 斑马', {"phrase", "zebra"}),
        ('"machine" OR "neural networks"', {"machine", "learning", "phrase"}),
        ('"can\\"t stop" learning', {"can't"}),
        ('"neural networks" NOT deep', set()),
        ("NOT machine", {"phrase", "apart", "zebra", "can't"}),
        ("NOT 草原 AND 斑马", set()),
        ("machine OR", {"machine", "learning"}),
        ("AND machine NOT", {"machine", "learning"}),
        ('"learn"', {"phrase"}),
        ('who says "neural networks"?', {"phrase"}),
    ],
)
def test_it_works(query, held):
    asked = wording(query)
    assert asked.restricts
    assert {name for name, text in TEXTS.items() if asked.holds(fold(text))} == held


@pytest.mark.parametrize(
    "query", ["", "  ", "can't", "what is not allowed and why", 'a "', "OR", '""', "AND OR NOT", "\\", '"']
)
def test_plain_language_and_what_says_nothing_restrict_nothing(query):
    asked = wording(query)
    assert not asked.restricts
    assert asked.words == query
    assert asked.holds("anything")


def test_what_must_not_be_there_is_not_ranked_by():
    assert wording('machine NOT learning "A b"').words == "machine a b"
    assert wording("NOT learning").words == ""


def test_quotes_alone_join_nothing():
    assert not wording('what is a "neural network"').joined
    assert wording('"neural network" NOT deep').joined
