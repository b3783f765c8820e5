"""Erasing while others write: whoever is first is whole, and who comes second sees it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from django.db import connection
from django_q.models import OrmQ, Schedule

from governance import jobs
from governance.models import AuditEntry, LegalHold, Proposal, Tombstone
from governance.services import erasing as services
from kernel import actions
from kernel.db import is_postgres
from kernel.errors import ConflictError, DomainError, NotFoundError, StaleError, UnavailableError
from media.models import MediaJob, SourceDocument
from media.services import erasing as erasing_documents
from media.services import holding as unheld
from memory.models import Conflict, MemoryItem, Session, Turn
from tests.conftest import TEAM, Cast, Player, make_cast
from tests.governance.erasing import PLAN, SECRET, erase, holding, learned, session_of
from tests.memory.talk import commit, compose, context, decision, only
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

BLOCKED = 0.7  # seconds, on SQLite only, where the outcome does not depend on it


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return make_cast()


def is_waited_for() -> bool:
    """Whether another connection waits for what the present one holds. Of SQLite nobody can tell, and there all come in
    turn."""
    if not is_postgres():
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


def in_the_middle(
    monkeypatch: pytest.MonkeyPatch, where: ModuleType, name: str, first: Callable[[], Any], second: Callable[[], Any]
) -> tuple[Any, Any]:
    """Let `second` begin once `first` has passed through that function and not ended; what came of either. `first` goes
    on when `second` is done, or waits for it."""
    passed, done = Event(), Event()
    real = getattr(where, name)

    @wraps(real)
    def slow(*given: Any, **named: Any) -> Any:
        found = real(*given, **named)
        if not passed.is_set():
            passed.set()
            until = time.monotonic() + (300 if is_postgres() else BLOCKED)
            while not done.wait(0.02) and not is_waited_for() and time.monotonic() < until:
                pass
        return found

    def other() -> Any:
        assert passed.wait(300), f"nothing went through {name}"
        try:
            return second()
        finally:
            done.set()

    monkeypatch.setattr(where, name, slow)
    one, two = at_once([first, other])
    return one, two


def hold_on(player: Player, kind: str, pk: str) -> Callable[[], Any]:
    return partial(player.do, "place_hold", domain_id=TEAM, object={"kind": kind, "id": pk}, reason="a lawsuit")


def removals(cast: Cast, how: str) -> tuple[str, str, Callable[[], Any]]:
    """Something with how it is removed."""
    if how == "memory":
        pk = learned(cast)["id"]
        return "memory", pk, partial(erase, cast.operator, "memory", pk)
    made = cast.agent.do("add_document", domain_id=TEAM, options={"text": "# Zoo\n\nA zebra."})
    pk = made["document_id"]
    if how == "document":
        return "document", pk, partial(erase, cast.operator, "document", pk)
    return "document", pk, partial(cast.agent.do, "remove_document", document_id=pk, reason="old")


@pytest.mark.parametrize("how", ["memory", "document", "removed"])
def test_what_is_being_erased_cannot_be_held_any_more(cast, monkeypatch, how):
    kind, pk, remove = removals(cast, how)
    where = (unheld, "by_law") if how == "removed" else (services, "hold_still")
    removed, placed = in_the_middle(monkeypatch, *where, remove, hold_on(cast.operator, kind, pk))
    assert not isinstance(removed, DomainError)
    assert isinstance(placed, NotFoundError)
    assert not LegalHold.objects.exists()


@pytest.mark.parametrize("how", ["memory", "document", "removed"])
def test_a_hold_that_is_being_placed_holds(cast, monkeypatch, how):
    kind, pk, remove = removals(cast, how)
    placed, removed = in_the_middle(monkeypatch, services, "place_hold", hold_on(cast.operator, kind, pk), remove)
    assert not isinstance(placed, DomainError)
    assert isinstance(removed, ConflictError)
    assert "legal hold" in removed.message
    assert (MemoryItem if kind == "memory" else SourceDocument).objects.filter(pk=pk).exists()


def test_a_hold_that_is_being_placed_holds_the_sections_too(cast, monkeypatch):
    given = {"text": "# Zoo\n\nA zebra.", "source_uri": "https://example.org/z"}
    pk = cast.agent.do("add_document", domain_id=TEAM, options=given)["document_id"]
    again = partial(cast.agent.do, "add_document", domain_id=TEAM, options={**given, "text": "# Zoo\n\nNo more."})
    placed, replaced = in_the_middle(
        monkeypatch, services, "place_hold", hold_on(cast.operator, "document", pk), again
    )
    assert not isinstance(placed, DomainError)
    assert isinstance(replaced, ConflictError)
    shown = cast.agent.do("get_document", document_id=pk)
    assert [each["content"] for each in shown["sections"]] == ["# Zoo\n\nA zebra."]


def test_a_conflict_with_what_vanishes_is_not_found(cast, monkeypatch):
    """A commit to another scope, which looks for what does not go with it."""
    told = {"key": "decision:shop:db", "decision": "The default database is Postgres."}
    other = {"key": "decision:shop:default-db", "decision": "The default database is MySQL."}
    pk = only(commit(cast.agent, "s1", scopes=context("project:p"), decisions=[told]))["id"]
    second = partial(commit, cast.agent, "s2", scopes=context("global:g"), decisions=[other])
    erased, committed = in_the_middle(
        monkeypatch, services, "_require_loose", partial(erase, cast.operator, "memory", pk), second
    )
    assert not isinstance(erased, DomainError)
    assert not isinstance(committed, DomainError)
    assert not Conflict.objects.exists()
    assert MemoryItem.objects.count() == 1


def test_a_turn_of_a_session_that_vanishes_is_sent_again(cast, monkeypatch):
    commit(cast.agent, "s1", say="a", scopes=context("project:p"))
    remove = partial(erase, cast.operator, "session", session_of(cast.agent), along=True)
    turn = partial(commit, cast.agent, "s1", say="b", scopes=context("project:p"), decisions=[PLAN])
    erased, committed = in_the_middle(monkeypatch, services, "_require_loose", remove, turn)
    assert not isinstance(erased, DomainError)
    assert isinstance(committed, StaleError) == is_postgres()
    assert turn()["seq"] == (1 if is_postgres() else 2)


def test_a_session_is_erased_while_it_is_talked_in(cast):
    """A turn is there before, and goes with it, or is the first of a session of that name."""
    for number in range(4):
        name = f"s{number}"
        commit(cast.agent, name, say="a", scopes=context("project:p"), decisions=[decision(f"Use {number}")])
        pk = session_of(cast.agent, name)
        talk = [
            partial(
                commit, cast.agent, name, say=f"b{n}", scopes=context("project:p"), decisions=[decision(f"Use {n}")]
            )
            for n in range(3)
        ]
        outcomes = at_once([partial(erase, cast.operator, "session", pk, along=True), *talk])
        refused = [each for each in outcomes if isinstance(each, DomainError)]
        assert not [each for each in refused if not isinstance(each, StaleError | ConflictError)], refused
        rows = Turn.objects.filter(session__external_id=name)
        assert sorted(rows.values_list("seq", flat=True)) == list(range(1, rows.count() + 1))
        assert Session.objects.filter(pk=pk).exists() != Tombstone.objects.filter(object_id=pk).exists()


def test_a_proposal_is_approved_while_what_it_is_about_is_erased(cast):
    rule = {"name": "r", "actions": ["correct_item"], "scope_types": ["project"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared")
    for number in range(4):
        plan = {**PLAN, "key": f"decision:zoo:{number}", "decision": f"The code of {number} is {SECRET}."}
        pk = only(commit(cast.agent, "s1", scopes=context("project:p"), decisions=[plan]))["id"]
        waiting = cast.agent.do(
            "correct_item", memory_item_id=pk, text=f"It is {SECRET}!", reason="newer", idempotency_key=f"c{number}"
        )["proposal"]["id"]
        erased, approved = at_once(
            [
                partial(erase, cast.operator, "memory", pk),
                partial(cast.reviewer.do, "approve_proposal", id=waiting, revision=1),
            ]
        )
        refused = [each for each in (erased, approved) if isinstance(each, DomainError)]
        assert len(refused) == 1
        assert not isinstance(refused[0], UnavailableError)
        if isinstance(erased, DomainError):
            newest = MemoryItem.objects.filter(scope__external_id="p").latest("id")
            erase(cast.operator, "memory", str(newest.pk))
        assert Proposal.objects.get(pk=waiting).subject == "(erased)"
        assert not MemoryItem.objects.exists()


def test_a_job_that_is_started_meanwhile_keeps_it(cast, monkeypatch):
    uri = "https://example.org/z"
    pk = cast.agent.do("add_document", domain_id=TEAM, options={"text": "Zoo", "source_uri": uri})["document_id"]
    ask = partial(cast.agent.do, "enqueue_media", domain_id=TEAM, operation="add_document", source=uri, options={})
    remove = partial(erase, cast.operator, "document", pk)
    erased, asked = in_the_middle(monkeypatch, erasing_documents, "locked", remove, ask)
    assert not isinstance(asked, DomainError)
    assert isinstance(erased, StaleError) == SourceDocument.objects.exists() == is_postgres()
    assert MediaJob.objects.get().source == uri


def test_the_same_removal_at_once_gives_one_answer(cast):
    """Four at the same moment: one removes, the others are told its answer."""
    pk = cast.agent.do("add_document", domain_id=TEAM, options={"text": "Zoo"})["document_id"]
    press = partial(cast.agent.do, "remove_document", document_id=pk, reason="old", idempotency_key="k")
    answers = [each for each in at_once([press] * 4) if not isinstance(each, DomainError)]
    assert len(answers) == 4
    assert len([each for each in answers if not each["deduplicated"]]) == 1


def before_it_is_stored(monkeypatch: pytest.MonkeyPatch, action: str, meanwhile: Callable[[], Any]) -> None:
    """Let something happen between the two phases of the next calls of an action."""
    own = actions.get(action)

    def prepare(given: Any, ctx: Any) -> Any:
        prepared = own.prepare(given, ctx)
        meanwhile()
        return prepared

    monkeypatch.setitem(actions._registry, action, replace(own, prepare=prepare))


def later() -> None:
    """Run what is queued to be scrubbed again."""
    tasks = [each.task for each in OrmQ.objects.all()]
    for task in tasks:
        if task["func"] == "governance.jobs.scrub_again":
            jobs.scrub_again(*task["args"])


def entries() -> list[tuple[str, str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", "reason", "changes"))


def test_a_context_that_is_stored_afterwards_goes_too(cast, monkeypatch):
    pk = learned(cast)["id"]
    before_it_is_stored(monkeypatch, "compose_context", partial(erase, cast.operator, "memory", pk))
    compose(cast.agent, "What is the code?", "s2", scope_context=context("project:p"))
    assert holding(SECRET)
    later()
    assert holding(SECRET) == set()
    entry = AuditEntry.objects.get(action="scrub_erased")
    assert (entry.actor_kind, entry.door, entry.changes[0]["after"]["contexts"]) == ("system", "job", 1)
    kept = entries()
    assert any("sha256" in str(changes) for action, _, changes in kept if action == "erase")
    later()
    assert entries() == [*kept, ("scrub_erased", "", [])]
    due = Schedule.objects.get(func="governance.jobs.scrub_again")
    assert (due.schedule_type, pk in due.args) == (Schedule.ONCE, True)


def test_a_call_that_is_queued_afterwards_is_scrubbed_too(cast, monkeypatch):
    rule = {"name": "globals", "actions": ["commit_turn"], "scope_types": ["global"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared by all")
    pk = learned(cast)["id"]
    scopes = context("global:all", "project:p", write=("global:all",))
    quoting = {**PLAN, "evidence_refs": [{"kind": "memory", "id": pk}]}
    before_it_is_stored(monkeypatch, "commit_turn", partial(erase, cast.operator, "memory", pk))
    waiting = commit(cast.agent, "s2", scopes=scopes, decisions=[quoting], idempotency_key="k")["proposal"]["id"]
    assert holding(SECRET)
    later()
    assert holding(SECRET) == set()
    assert Proposal.objects.get(pk=waiting).state == "expired"
