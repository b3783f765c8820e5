"""Deriving the index anew: the same index where nothing was wrong, the right one where something was."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from kernel import tokens
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from memory.models import ConflictSignature, MemoryChunk
from search.models import IndexEntry, Posting, ScopeSize
from search.selectors.upkeep import index_digest
from search.terms import pack
from tests.conftest import TEAM, Cast
from tests.guards.write_guard import unguarded
from tests.memory.talk import commit, context, decision, entity, gone, memories, pref, search, task

SHOP = context("project:shop")


def rebuild(cast: Cast, **fields: Any) -> list[dict]:
    """Every batch of a run."""
    batches, cursor = [], None
    while True:
        done = cast.operator.do("rebuild_index", {"domain_id": TEAM, **fields}, cursor=cursor)
        batches.append(done)
        cursor = done["next_cursor"]
        if cursor is None:
            return batches


def total(batches: list[dict]) -> dict[str, int]:
    return {name: sum(batch[name] for batch in batches) for name in ("changed", "added", "removed")}


NOTHING = {"changed": 0, "added": 0, "removed": 0}


def world(cast: Cast) -> None:
    """Items in every state, messages, a tool call and a reference."""
    for text in ("concise", "detailed"):
        commit(cast.agent, say=f"Be {text}, 请.", scopes=SHOP, preferences=[pref(text)], tasks=[task()])
    commit(
        cast.agent, scopes=SHOP, decisions=[decision()], entities=[entity(remember=True)],
        retractions=[gone("tasks", "task:shop:parser"), gone("goals", "goal:shop:never")],
        tool_calls=[{"name": "grep", "args": {"q": 1}, "result": "none"}],
        refs=[{"ref_type": "file", "ref_uri": "file:///a.txt"}],
    )  # fmt: skip
    commit(cast.agent, say="Remember: the port is 7443")


def state() -> tuple[str, set, int]:
    sizes = ScopeSize.objects.values_list("scope_id", "entries", "length")
    summed: dict[int, tuple[int, int]] = {}
    for scope, entries, length in sizes:
        known = summed.get(scope, (0, 0))
        summed[scope] = (known[0] + entries, known[1] + length)
    postings = Posting.objects.count()
    return index_digest(TEAM), set(summed.items()), postings


def test_it_works(cast):
    world(cast)
    before = state()
    batches = rebuild(cast, full=True)
    assert total(batches) == NOTHING
    assert [batch["phase"] for batch in batches] == ["items", "turns", "sections", "orphans"]
    assert state() == before
    assert total(rebuild(cast)) == NOTHING


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_the_size_of_a_batch_makes_no_difference(cast, limit):
    world(cast)
    before = state()
    with unguarded():
        IndexEntry.objects.all().delete()
        Posting.objects.all().delete()
        ScopeSize.objects.all().delete()
        MemoryChunk.objects.all().delete()
    assert memories(cast.agent, "tone", scope_context=SHOP) == []
    assert total(rebuild(cast, full=True, limit=limit))["added"] == IndexEntry.objects.count()
    after = state()
    assert after[1:] == before[1:]
    assert memories(cast.agent, "tone", scope_context=SHOP) == ["writing tone: detailed"]
    assert total(rebuild(cast, full=True)) == NOTHING


def stale(**fields: Any) -> None:
    """Entries as an earlier tokeniser would have made them."""
    rows = IndexEntry.objects.filter(**fields)
    for row in rows:
        Posting.objects.filter(entry_id=row.pk).delete()
        ScopeSize.objects.create(scope_id=row.scope_id, entries=0, length=-row.length)
    rows.update(tokeniser=0, terms=pack({}), length=0)


def test_only_what_an_earlier_tokeniser_made_is_derived_anew(cast):
    world(cast)
    before = state()[0]
    with unguarded():
        stale(kind="memory", label="preferences")
        IndexEntry.objects.filter(label="decisions").update(label="wrong")
    number = IndexEntry.objects.filter(tokeniser=0).count()
    told = cast.agent.do("diagnostics", domain_id=TEAM)
    assert (told["stale_index_entries"], told["index_entries"]) == (number, IndexEntry.objects.count())
    assert memories(cast.agent, "tone", scope_context=SHOP) == []
    assert total(rebuild(cast, limit=2)) == {"changed": number, "added": 0, "removed": 0}
    assert memories(cast.agent, "tone", scope_context=SHOP) == ["writing tone: detailed"]
    assert not IndexEntry.objects.exclude(tokeniser=tokens.VERSION).exists()
    assert index_digest(TEAM) != before, "what is not stale is left alone"
    assert total(rebuild(cast, full=True))["changed"] == 1
    assert index_digest(TEAM) == before


def test_stale_messages_too(cast):
    world(cast)
    before = state()
    with unguarded():
        stale(kind="message")
    assert search(cast.agent, "7443", kinds=["message"]) == []
    rebuild(cast)
    assert search(cast.agent, "7443", kinds=["message"])[0]["text"] == "Remember: the port is 7443"
    assert state() == before


def test_entries_of_what_is_gone_are_removed(cast):
    world(cast)
    with unguarded():
        row = IndexEntry.objects.filter(kind="memory").first()
        assert row is not None
        row.pk, row.object_id = None, "01938000-0000-7000-8000-0000000000aa"
        row.save()
    assert total(rebuild(cast, full=True, limit=4)) == {"changed": 0, "added": 0, "removed": 1}


def test_another_domain_is_left_alone(cast):
    commit(cast.stranger, say="The port is 1", domain_id="elsewhere")
    with unguarded():
        stale(domain_id="elsewhere")
    world(cast)
    assert total(rebuild(cast, full=True)) == NOTHING
    assert IndexEntry.objects.filter(tokeniser=0).exists()


def test_only_an_operator_rebuilds(cast):
    world(cast)
    for player in (cast.agent, cast.reviewer):
        with pytest.raises(ForbiddenError):
            player.do("rebuild_index", domain_id=TEAM)
    with pytest.raises(NotFoundError):
        cast.operator.do("rebuild_index", domain_id="nowhere")


@pytest.mark.parametrize(
    "cursor", ["", "x", "items:x", "stale:-1", "stale:x", "turns:", "orphans:1", "stale:" + "9" * 30]
)
def test_a_cursor_of_something_else_is_refused(cast, cursor):
    world(cast)
    with pytest.raises(InvalidInputError, match="cursor"):
        cast.operator.do("rebuild_index", domain_id=TEAM, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 1001, "7"])
def test_a_batch_has_a_size(cast, limit):
    with pytest.raises(InvalidInputError):
        cast.operator.do("rebuild_index", domain_id=TEAM, limit=limit)


def test_the_command_runs_to_the_end_and_shows_how_far_it_is(cast):
    world(cast)
    with unguarded():
        stale(kind="memory")
    out, err = StringIO(), StringIO()
    call_command("rebuild_index", "--domain", TEAM, "--batch", "5", stdout=out, stderr=err)
    assert json.loads(out.getvalue())["changed"] > 0
    assert "100%" in err.getvalue()
    out = StringIO()
    call_command("rebuild_index", "--domain", TEAM, "--full", stdout=out, stderr=StringIO())
    assert json.loads(out.getvalue())["changed"] == 0


def test_the_command_says_why_it_cannot(cast):
    err = StringIO()
    with pytest.raises(SystemExit) as left:
        call_command("rebuild_index", "--domain", "nowhere", stdout=StringIO(), stderr=err)
    assert left.value.code == 1
    assert json.loads(err.getvalue())["code"] == "not_found"


@pytest.mark.parametrize("limit", [1, 1000])
def test_older_memories_are_found_from_other_scopes_again(cast, limit):
    """Those that were written before memories were compared between scopes have no signatures for it."""
    commit(cast.agent, scopes=SHOP, decisions=[decision("The default database is Postgres.", "decision:shop:db")])
    before = set(ConflictSignature.objects.values_list("signature", "item_id"))
    with unguarded():
        ConflictSignature.objects.all().delete()
    assert total(rebuild(cast, full=True, limit=limit)) == NOTHING
    assert set(ConflictSignature.objects.values_list("signature", "item_id")) == before
    rebuild(cast, full=True)
    assert ConflictSignature.objects.count() == len(before)
    wide = context("global:g")
    told = commit(
        cast.agent, "s2", scopes=wide, decisions=[decision("The default database is MySQL.", "decision:x:db")]
    )
    assert [each["rule"] for each in told["memory_written"]["found"]] == ["other_object"]
