"""What a long document costs the gate's one transaction: hardly more statements than a short one, and no words are counted in
it."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from governance.gate import is_open
from kernel import tokens
from media.models import SourceDocument
from media.services.sections import index_sections
from media.services.sharing import counted
from search import services
from search.contracts import Kind
from search.models import IndexEntry, Posting, ScopeSize
from search.selectors.upkeep import index_digest
from tests.conftest import TEAM, Cast
from tests.guards.write_guard import unguarded

PROJECT = {"type": "project", "id": "shop"}
FEW, MANY = 20, 300
SPARE = 4  # what hangs on rows that go is looked up for a hundred at a time


def book(parts: int, word: str = "zebra") -> str:
    return "".join(f"## Part {n}\n\nThe {word} of enclosure {n} eats.\n\n" for n in range(parts))


def add(cast: Cast, parts: int, word: str = "zebra", **options: object) -> str:
    given = {"text": book(parts, word), "title": "Zoo", "source_uri": f"x:{parts}", **options}
    made = cast.agent.do("add_document", domain_id=TEAM, options=given)
    assert made["section_count"] == parts
    return str(made["document_id"])


def add_shared(cast: Cast, parts: int) -> None:
    cast.agent.do("add_document", domain_id=TEAM, options={"text": book(parts)}, scopes=[PROJECT])


def add_before(cast: Cast, parts: int) -> None:
    given = {"text": f"## 0\n\nOkapi.\n\n{book(parts)}", "title": "Zoo", "source_uri": f"x:{parts}"}
    made = cast.agent.do("add_document", domain_id=TEAM, options=given)
    assert made["section_count"] == parts + 1


CALLS = {
    "import": lambda cast, parts: add(cast, parts, "okapi", source_uri=f"y:{parts}"),
    "import into a scope": add_shared,
    "import again": add,
    "import again with another title": lambda cast, parts: add(cast, parts, title="Savanna"),
    "import another text of a source": lambda cast, parts: add(cast, parts, "gnu"),
    "put a section before all others": add_before,
    "share": lambda cast, parts: cast.agent.do("share_document", document_id=add(cast, parts), scope=PROJECT),
    "remove": lambda cast, parts: cast.agent.do("remove_document", document_id=add(cast, parts), reason="r"),
}


def statements(cast: Cast, call: str, parts: int) -> int:
    add(cast, parts)
    with CaptureQueriesContext(connection) as captured:
        CALLS[call](cast, parts)
    return len(captured)


@pytest.mark.parametrize("call", CALLS)
def test_it_works(cast, call, no_folding):
    statements(cast, call, 1)  # the first call of all makes scopes besides
    assert statements(cast, call, MANY) - statements(cast, call, FEW) in range(SPARE)


@pytest.mark.parametrize("call", CALLS)
def test_no_words_are_counted_in_the_transaction(cast, call, monkeypatch):
    add(cast, 3)
    asked, terms = list[bool](), tokens.terms

    def count(text: str) -> Counter[str]:
        asked.append(is_open())
        return terms(text)

    monkeypatch.setattr(tokens, "terms", count)
    CALLS[call](cast, 3)
    assert True not in asked
    assert asked


def test_what_was_counted_before_is_indexed_as_it_would_be_now(cast):
    """By a text that changed between reading and storing too."""
    row = SourceDocument.objects.get(pk=add(cast, 5))
    before = index_digest(TEAM)
    sections = list(row.sections.all())
    keys = list(IndexEntry.objects.values_list("scope_id", flat=True).distinct())
    for known in (counted(row), {}, dict(list(counted(row).items())[:2])):
        with unguarded():
            services.remove(Kind.SECTION, [each.pk for each in sections])
            assert not Posting.objects.exists()
            index_sections(row, sections, keys, known)
        assert index_digest(TEAM) == before
    assert sum(ScopeSize.objects.values_list("entries", flat=True)) == 5
