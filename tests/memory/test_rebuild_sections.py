"""Deriving the index of documents anew: what was lost, outdated or stands where it should not, and what tells of it."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.management import call_command

from kernel import tokens
from kernel.ids import new_id
from media.models import DocumentShare, SourceSection
from search.models import IndexEntry, Posting, ScopeSize
from search.selectors.upkeep import index_digest
from tests.conftest import TEAM, Cast
from tests.guards.write_guard import unguarded
from tests.memory.talk import commit
from tests.memory.test_rebuild_index import NOTHING, rebuild, stale, state, total

PROJECT, TASK = {"type": "project", "id": "p"}, {"type": "task", "id": "t"}
PARTS = 4


def add(cast: Cast, name: str, *scopes: dict) -> str:
    text = "".join(f"## Part {n}\n\nThe {name} zebra {n}, 斑马 {n}.\n\n" for n in range(PARTS))
    given = {"text": text, "title": name, "publication_date": "2020-02-03" if scopes else None}
    made = cast.agent.do("add_document", domain_id=TEAM, options=given, scopes=list(scopes))
    assert made["section_count"] == PARTS
    return str(made["document_id"])


def world(cast: Cast) -> None:
    """Eight sections in two documents, half of them in three scopes, beside a memory."""
    commit(cast.agent, say="Remember: zebras eat grass")
    add(cast, "alone")
    add(cast, "shared", PROJECT, TASK)


def faults(cast: Cast) -> Counter[str]:
    """What a check of the index finds, by kind."""
    done = cast.operator.do("check_media", cursor="rest")
    assert done["fault_count"] == len(done["faults"]), "few enough to be shown"
    return Counter(fault["kind"] for fault in done["faults"])


def lose(rows) -> int:
    """Take entries away, as if they had never been written."""
    entries = list(rows)
    with unguarded():
        for row in entries:
            Posting.objects.filter(entry_id=row.pk).delete()
            ScopeSize.objects.create(scope_id=row.scope_id, entries=-1, length=-row.length)
        rows.delete()
    return len(entries)


def entries_of_sections(**fields):
    return IndexEntry.objects.filter(kind="section", **fields)


def found(cast: Cast, query: str = "zebra 斑马") -> int:
    place = {"domain_id": TEAM, "scope_context": {"read": [PROJECT]}}
    return len(cast.agent.do("search_memory", place, query=query, kinds=["section"])["results"])


def test_it_works(cast):
    world(cast)
    before, seen = state(), found(cast)
    batches = rebuild(cast, full=True)
    assert [batch["phase"] for batch in batches] == ["items", "turns", "sections", "orphans"]
    assert (batches[2]["seen"], batches[2]["total"]) == (2 * PARTS, 2 * PARTS)
    assert total(batches) == NOTHING
    assert [batch["phase"] for batch in rebuild(cast)] == ["stale", "sections"]
    assert (state(), found(cast), faults(cast)) == (before, seen, Counter())


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_lost_entries_come_back(cast, full, limit):
    """Of all scopes of a document, and of one only."""
    world(cast)
    before, seen = state(), found(cast)
    owner = IndexEntry.objects.filter(scope__scope_type="@owner")
    lost = lose(owner) + lose(entries_of_sections(scope__scope_type="project"))
    assert lost == 3 * PARTS
    assert found(cast) < seen
    assert faults(cast) == {"unindexed": 2 * PARTS}
    assert total(rebuild(cast, full=full, limit=limit)) == {**NOTHING, "added": lost}
    assert (state(), found(cast), faults(cast)) == (before, seen, Counter())
    assert total(rebuild(cast, full=full, limit=limit)) == NOTHING


@pytest.mark.parametrize("full", [False, True])
def test_outdated_entries_are_derived_anew(cast, full):
    world(cast)
    before, seen = state(), found(cast)
    with unguarded():
        stale(kind="section")
    assert (found(cast), faults(cast)) == (0, {"outdated_entry": 4 * PARTS})
    assert total(rebuild(cast, full=full, limit=3)) == {**NOTHING, "changed": 4 * PARTS}
    assert (state(), found(cast), faults(cast)) == (before, seen, Counter())
    assert not IndexEntry.objects.exclude(tokeniser=tokens.VERSION).exists()


@pytest.mark.parametrize("full", [False, True])
def test_entries_in_a_scope_that_does_not_read_them_are_removed(cast, full):
    world(cast)
    with unguarded():
        DocumentShare.objects.filter(scope__scope_type="task").delete()
    assert faults(cast) == {"stale_entry": PARTS}
    assert total(rebuild(cast, full=full, limit=2)) == {**NOTHING, "removed": PARTS}
    assert faults(cast) == Counter()
    assert not entries_of_sections(scope__scope_type="task").exists()


def test_entries_of_sections_that_are_gone_are_removed(cast):
    world(cast)
    before = index_digest(TEAM)
    with unguarded():
        row = entries_of_sections().first()
        assert row is not None
        row.pk, row.object_id = None, new_id()
        row.save()
    assert faults(cast) == {"stale_entry": 1}
    assert total(rebuild(cast)) == NOTHING, "going through all entries is for --full"
    assert total(rebuild(cast, full=True, limit=3)) == {**NOTHING, "removed": 1}
    assert (index_digest(TEAM), faults(cast)) == (before, Counter())


def test_what_an_entry_says_is_put_right(cast):
    world(cast)
    before = index_digest(TEAM)
    with unguarded():
        entries_of_sections().update(trust=0.5)
    assert total(rebuild(cast)) == NOTHING
    assert total(rebuild(cast, full=True))["changed"] == 4 * PARTS
    assert index_digest(TEAM) == before


def test_another_domain_is_left_alone(cast):
    world(cast)
    given = {"domain_id": "elsewhere", "options": {"text": "A zebra."}}
    cast.stranger.do("add_document", given)
    elsewhere = SourceSection.objects.filter(domain_id="elsewhere").values("pk")
    lose(entries_of_sections(object_id__in=elsewhere))
    assert total(rebuild(cast, full=True)) == NOTHING
    assert faults(cast) == {"unindexed": 1}


def test_faults_are_counted_beyond_those_that_are_shown(cast, monkeypatch):
    monkeypatch.setattr("media.selectors.checking._SHOWN", 3)
    world(cast)
    lose(entries_of_sections())
    done = cast.operator.do("check_media", cursor="rest")
    assert (len(done["faults"]), done["fault_count"]) == (3, 2 * PARTS)


def test_the_command_mends_what_the_check_finds(cast, capsys):
    world(cast)
    lose(entries_of_sections())
    assert faults(cast) == {"unindexed": 2 * PARTS}
    call_command("rebuild_index", "--domain", TEAM, "--batch", "3")
    told = capsys.readouterr()
    assert f"sections [{'#' * 30}] 100% {2 * PARTS}/{2 * PARTS}" in told.err
    assert f'"added": {4 * PARTS}' in told.out
    assert faults(cast) == Counter()
