"""Rows of every kind in two domains, the lists of the admin, and who is signed in to look at them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.test import Client
from django.urls import reverse

from governance.adminbase import ReadOnlyAdmin
from governance.models import LegalHold, Tombstone
from kernel.ids import new_id
from memory.models import ExtractionRun, Turn
from scopes.contracts import OWNER
from scopes.models import ApiKey, MemoryScope, Principal
from tests.conftest import ELSEWHERE, TEAM, Cast, a_turn, make_cast, make_person
from tests.guards.write_guard import unguarded
from tests.media.jobbing import a_job

READ_ONLY: list[Any] = [
    model
    for model in admin.site._registry
    if isinstance(admin.site.get_model_admin(model), ReadOnlyAdmin) and model._meta.app_label != "legacy"
]  # what was moved in is for operators of the installation only: tests/legacy/test_migration_page.py
LISTS = [f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist" for model in READ_ONLY]
QUEUE_ALL = {"review": {"queue": [{"name": "all", "actions": ["commit_turn"], "actor_kinds": ["agent"]}]}}


def address(row) -> str:
    """The address of a row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def make_house() -> Cast:
    """Rows of every kind in two domains, and three members of staff."""
    cast = make_cast()
    make_person("team-reviewer", TEAM, is_staff=True)
    make_person("other-reviewer", ELSEWHERE, is_staff=True)
    make_person("newcomer", is_staff=True)
    for agent, domain, word in ((cast.agent, TEAM, "apple"), (cast.stranger, ELSEWHERE, "banana")):
        agent.do("commit_turn", a_turn(domain_id=domain, session_id=f"{word}-session", turn_events=learned(word)))
        agent.do("compose_context", domain_id=domain, session_id=f"{word}-session", user_message=f"{word}?")
        _extracted(word)
        _erased_and_held(domain, word)
        shared = [{"type": "global", "id": word}]
        agent.do("add_document", domain_id=domain, options={"text": f"# {word}", "title": word}, scopes=shared)
        a_job(agent, "failed", domain_id=domain, source=f"https://example.org/{word}", error=word)
        cast.operator.do("set_policy", domain_id=domain, document=QUEUE_ALL, reason=f"{word} needs review")
        agent.do("commit_turn", a_turn(word, domain_id=domain, session_id=f"{word}-held"))
    return cast


def learned(word: str) -> dict:
    """A message and what can be learned from it."""
    return {
        "messages": [{"role": "user", "content": word}],
        "goals": [{"key": f"goal:shop:{word}", "description": word}],
        "entities": [{"key": f"entity:topic:{word}", "aliases": [f"{word}s"], "remember": True}],
        "edges": [
            {"subject": word, "predicate": "grows on", "object": f"{word} tree"},
            {"subject": word, "predicate": "reports_to", "object": "Ann"},
            {"subject": word, "predicate": "reports_to", "object": "Bob"},
        ],
    }


def _extracted(word: str) -> None:
    turn = Turn.objects.get(session__external_id=f"{word}-session")
    with unguarded():
        ExtractionRun.objects.create(domain_id=turn.domain_id, turn=turn, state="failed", raw_reply=word, error=word)


def _erased_and_held(domain: str, word: str) -> None:
    """The receipt of something that was erased, and a hold on the rest."""
    by = {"domain_id": domain, "scope": f"global:{word}", "reason": word, "by_id": "user:0", "by_name": word}
    with unguarded():
        Tombstone.objects.create(
            receipt_id=new_id(), kind="document", object_id=new_id(), scopes=[f"global:{word}"], sha256="0" * 64, **by
        )
        LegalHold.objects.create(**by)


def shown(model) -> list:
    """The rows that anybody is shown: a scope of one actor for itself is nobody's to look at."""
    rows = model._default_manager.all()
    return list(rows.exclude(scope_type=OWNER) if model is MemoryScope else rows)


def rows_of(model, domain: str) -> list:
    """The rows of a table that belong to a domain."""
    names = {"agent": TEAM, "reader": TEAM, "stranger": ELSEWHERE}
    found = []
    for row in shown(model):
        if model is Principal:
            where = names[row.name]
        elif model is ApiKey:
            where = names[row.principal.name]
        else:
            where = row.pk if model._meta.model_name == "domain" else row.domain_id
        if where == domain:
            found.append(row)
    return found


def listed(client: Client, name: str, query: str = "") -> set:
    """The keys of the rows that a list shows."""
    answer = client.get(reverse(name) + query)
    assert answer.status_code == 200, name
    return {row.pk for row in answer.context["cl"].result_list}
