"""A team with something in every row state, each of its words marked, and everyone who must not see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

from django.apps import apps

from governance import gate
from governance.gate import system_ctx
from kernel.context import Door
from memory.models import ExtractionRun, Turn
from tests.conftest import Player, make_agent, make_person
from tests.guards.write_guard import guarded_tables, unguarded
from tests.media.jobbing import a_job
from tests.media.shelf import put

MARK = "quokka"  # in every text, id and name of the team
QUESTION = "What does Planboard use in the plan?"  # finds all of it and says nothing of it itself
DOMAIN = f"team-{MARK}"
PROJECT = f"project-{MARK}"
OTHER = "other"
THEIR_OWN = frozenset({"preferences", "saved_filters"})  # what a person chose for themselves
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
KEY = {"idempotency_key": "k"}


@dataclass
class Ids:
    """Everything that an input can name. A ghost has the same shape, and nothing in it exists."""

    domain: str = DOMAIN
    session: str = f"session-{MARK}"
    project: str = PROJECT
    queued: str = field(default_factory=lambda: str(uuid4()))
    approved: str = field(default_factory=lambda: str(uuid4()))
    rejected: str = field(default_factory=lambda: str(uuid4()))
    session_uuid: str = field(default_factory=lambda: str(uuid4()))
    project_session_uuid: str = field(default_factory=lambda: str(uuid4()))
    turn: str = field(default_factory=lambda: str(uuid4()))
    project_turn: str = field(default_factory=lambda: str(uuid4()))
    item: str = field(default_factory=lambda: str(uuid4()))
    project_item: str = field(default_factory=lambda: str(uuid4()))
    old_item: str = field(default_factory=lambda: str(uuid4()))
    retracted_item: str = field(default_factory=lambda: str(uuid4()))
    disputed_item: str = field(default_factory=lambda: str(uuid4()))
    conflict: str = field(default_factory=lambda: str(uuid4()))
    project_conflict: str = field(default_factory=lambda: str(uuid4()))
    document: str = field(default_factory=lambda: str(uuid4()))
    tag: str = field(default_factory=lambda: str(uuid4()))
    topic: str = field(default_factory=lambda: str(uuid4()))
    context: str = field(default_factory=lambda: str(uuid4()))
    project_context: str = field(default_factory=lambda: str(uuid4()))
    principal: str = f"agent-{MARK}"
    person: str = f"owner-{MARK}"
    key_prefix: str = "0123456789ab"
    request: str = field(default_factory=lambda: str(uuid4()))
    entry: str = field(default_factory=lambda: str(uuid4()))
    filter: str = field(default_factory=lambda: str(uuid4()))
    job: str = field(default_factory=lambda: str(uuid4()))
    project_job: str = field(default_factory=lambda: str(uuid4()))
    hold: str = field(default_factory=lambda: str(uuid4()))

    @classmethod
    def ghost(cls, domain: str = "ghost-domain") -> Ids:
        return cls(
            domain, "ghost-session", "ghost-project", principal="ghost", person="ghost", key_prefix="ffffffffffff"
        )


@dataclass
class World:
    ids: Ids
    legacy: Ids  # what one principal of the legacy domain keeps from the others
    agent: Player
    legacy_agent: Player
    operator: Player
    outsiders: dict[str, Player]
    insiders: dict[str, Player]
    secrets: frozenset[str]


def turn(ids: Ids, text: str = f"The {MARK} plan", **fields: object) -> dict:
    """A commit of everything that can be committed, marked all over."""
    return {
        "domain_id": ids.domain,
        "session_id": ids.session,
        "turn_events": {
            "messages": [{"role": "user", "content": text, "name": f"name-{MARK}", "meta": {"k": MARK}}],
            "tool_calls": [{"name": f"tool-{MARK}", "args": {"q": MARK}, "result": MARK}],
            "refs": [{"ref_type": "file", "ref_uri": f"file:///{MARK}.txt"}],
            **learned(text),
        },
        **fields,
    }


def learned(text: str) -> dict:
    """An item of every type, each of its fields marked, and a relation."""
    return {
        "tasks": [{"key": f"task:{MARK}:t", "title": text, "notes": [MARK]}],
        "decisions": [
            {"key": f"decision:{MARK}:d", "decision": text, "rationale": MARK},
            {"key": f"decision:{MARK}:owner", "decision": f"The owner of {MARK} is Ann."},
            {"key": f"decision:{MARK}:lead", "decision": f"The owner of {MARK} is Bea."},
        ],
        "goals": [{"key": f"goal:{MARK}:g", "description": text}],
        "events": [{"key": f"event:{MARK}:2026-01-02:e", "title": text}],
        "preferences": [{"key": f"pref:ui:{MARK}", "value": {"like": text}, "confirmed": True}],
        "profile": [{"key": f"profile:{MARK}", "facts": [{"k": MARK, "v": text}]}],
        "cases": [{"key": f"case:{MARK}:c", "problem": text, "solution": MARK}],
        "patterns": [{"key": f"pattern:{MARK}:p", "rule": text}],
        "entities": [{"key": f"entity:repo:{MARK}", "name": MARK, "aliases": ["Planboard"], "remember": True}],
        "edges": [{"subject": "Planboard", "predicate": f"uses-{MARK}", "object": f"tool-{MARK}"}],
    }


def context(*names: str, write: str | None = None) -> dict:
    """A scope context from written forms."""
    refs = [dict(zip(("type", "id"), name.split(":", 1), strict=True)) for name in names]
    given: dict = {"read": refs}
    if write is not None:
        given["default_write"] = dict(zip(("type", "id"), write.split(":", 1), strict=True))
    return {"scope_context": given}


def build() -> World:
    """Make the team through the gate, with a turn of its session, of a project and of a queue of proposals."""
    operator = make_person(f"operator-{MARK}", is_superuser=True)
    owner = make_person(f"owner-{MARK}")
    ids = Ids()
    agent = make_agent(ids.principal, DOMAIN, owner=owner.name)
    reviewer = make_person(f"reviewer-{MARK}", DOMAIN)
    ids.key_prefix = agent.key.split("_")[1]
    gate.call("grant_access", {"name": agent.name, "domain_id": DOMAIN, "pattern": "task:t", "rights": ["read"]},
              ctx=system_ctx("tests", Door.PYTHON))  # fmt: skip
    _remember(agent, ids)
    sessions = {row["session_id"]: row["id"] for row in agent.do("list_sessions", domain_id=DOMAIN)["sessions"]}
    ids.session_uuid, ids.project_session_uuid = sessions[ids.session], sessions[f"in-project-{MARK}"]
    legacy, legacy_agent = Ids(domain="legacy"), make_agent(f"legacy-{MARK}", "legacy")
    _remember(legacy_agent, legacy, in_project=False)
    legacy.session_uuid = legacy_agent.do("list_sessions")["sessions"][0]["id"]
    rule = {"name": f"rule-{MARK}", "actions": ["commit_turn"], "scope_types": ["global"]}
    operator.do("set_policy", domain_id=DOMAIN, document={"review": {"queue": [rule]}}, reason=f"because {MARK}")
    queued = [_queue(agent, ids, n) for n in range(3)]
    ids.queued, ids.approved, ids.rejected = queued
    reviewer.do("reject_proposal", id=ids.rejected, reason=f"no {MARK}")
    reviewer.do("approve_proposal", id=ids.approved, reason=f"yes {MARK}")
    saved = {"domain_id": DOMAIN, "text": MARK, "scope": f"project:{PROJECT}"}
    ids.filter = reviewer.do("save_filter", name=f"filter-{MARK}", filters=saved, shared=True)["filter"]["id"]
    job = {"domain_id": DOMAIN, "source": f"https://example.org/{MARK}", "options": {"title": MARK}, "error": MARK}
    ids.job = str(a_job(agent, "failed", **job).pk)
    legacy.job = str(a_job(legacy_agent, "failed", **job | {"domain_id": "legacy"}).pk)
    shared = {"scopes": [f"project:{PROJECT}"], "place": f"project:{PROJECT}"}
    ids.project_job = str(a_job(agent, "queued", **job, **shared).pk)
    held = {"scope": f"project:{PROJECT}", "reason": f"because {MARK}"}
    ids.hold = operator.do("place_hold", held, domain_id=DOMAIN)["hold"]["id"]
    newest = operator.do("list_audit", domain_id=DOMAIN, limit=1)["entries"][0]
    ids.request, ids.entry = newest["request_id"], newest["id"]
    secrets = frozenset(_secrets())
    outsiders = {
        "stranger": make_agent("stranger", "elsewhere", rights=["read", "write", "promote", "erase"]),
        "legacy_guest": make_agent("legacy-guest", "legacy"),
        "reviewer_elsewhere": make_person("reviewer-elsewhere", "elsewhere"),
        "nobody": make_person("nobody"),
        "switched_off": make_person("switched-off", is_superuser=True, is_active=False),
    }
    insiders = {
        "reader": make_agent("reader", DOMAIN, rights=["read"]),
        "neighbour": make_agent("neighbour", DOMAIN, pattern=f"project:{OTHER}"),
        "other_reviewer": make_person("other-reviewer", DOMAIN, f"project:{OTHER}"),
    }
    return World(ids, legacy, agent, legacy_agent, operator, outsiders, insiders, secrets)


def _remember(agent: Player, ids: Ids, *, in_project: bool = True) -> None:
    """A turn of the session and, where wanted, of a project, with items in every state, a summary, a recorded context
    and two extractions of a model, one of them failed."""
    own = f"session:{ids.session}"
    shared = (f"project:{ids.project}", own) if in_project else ()
    put(agent, f"Planboard and {MARK}", domain=ids.domain, shared=shared, title=MARK, metadata={"speaker": MARK})
    first = agent.do("commit_turn", turn(ids, **context(own, write=own)))
    assert first["summary"]["triggered"]
    ids.turn, ids.item = first["turn_id"], _item(first, "goals")
    ids.disputed_item, ids.conflict = _dispute(first)
    ids.context = agent.do("compose_context", _asked(ids, own))["context_id"]
    ids.document = _import(agent, ids, in_project=in_project)
    ids.tag = agent.do("list_tags", domain_id=ids.domain)["tags"][0]["id"]
    for number in range(2):
        topic = {"title": f"Topic {MARK} {number}", "description": f"About {MARK}", "tags": [f"tag-{MARK}"]}
        made = agent.do("create_topic", topic, domain_id=ids.domain, document_ids=[ids.document])
        ids.topic = made["topic"]["id"]
    _extracted(ids.turn, "failed", error=f"error {MARK}", raw_reply=f"reply {MARK}")
    if in_project:
        project = f"project:{ids.project}"
        place = {"session_id": f"in-project-{MARK}", **context(project, write=project)}
        second = agent.do("commit_turn", turn(ids, **place))
        ids.project_turn, ids.project_item = second["turn_id"], _item(second, "goals")
        ids.project_conflict = _dispute(second)[1]
        ids.old_item, ids.retracted_item = _item(second, "decisions"), _item(second, "tasks")
        changed = {
            "decisions": [{"key": f"decision:{MARK}:d", "decision": f"Changed {MARK}"}],
            "retractions": [{"type": "tasks", "key": f"task:{MARK}:t", "reason": f"wrong {MARK}"}],
        }
        agent.do("commit_turn", {**turn(ids, **place), "turn_events": changed})
        agent.do("commit_turn", turn(ids, session_id=f"in-task-{MARK}", **context("task:t", write="task:t")))
        ids.project_context = agent.do("compose_context", _asked(ids, project))["context_id"]
        _extracted(ids.project_turn, "done")


def _import(agent: Player, ids: Ids, *, in_project: bool) -> str:
    """A document, marked all over, shared to the project where there is one."""
    options = {
        "text": f"# The {MARK} plan\n\nWords of {MARK}.\n",
        "name": f"{MARK}.md",
        "title": f"Title {MARK}",
        "author": f"Author {MARK}",
        "description": f"About {MARK}",
        "tags": [f"tag-{MARK}"],
        "source_uri": f"https://example.org/{MARK}",
        "metadata": {MARK: MARK},
    }
    scopes = [{"type": "project", "id": ids.project}] if in_project else []
    made = agent.do("add_document", domain_id=ids.domain, options=options, scopes=scopes)
    return str(made["document_id"])


def _asked(ids: Ids, *names: str) -> dict:
    return {"domain_id": ids.domain, "session_id": ids.session, "user_message": QUESTION, **context(*names)}


def _item(answer: dict, item_type: str) -> str:
    return next(str(item["id"]) for item in answer["memory_written"]["items"] if item["type"] == item_type)


def _dispute(answer: dict) -> tuple[str, str]:
    """A memory of the turn that contradicts another, and the conflict."""
    found = next(each for each in answer["memory_written"]["found"] if each["rule"] == "other_object")
    return found["b_id"], found["id"]


def _extracted(turn_id: str, state: str, **fields: str) -> None:
    with unguarded():
        row = Turn.objects.get(pk=turn_id)
        ExtractionRun.objects.create(domain_id=row.domain_id, turn=row, state=state, model=f"model-{MARK}", **fields)


def _queue(agent: Player, ids: Ids, number: int) -> str:
    fields = context("global:all", write="global:all")
    answer = agent.call(
        "commit_turn", turn(ids, f"Queued {MARK} {number}", session_id=f"queued-{number}-{MARK}", **fields)
    )
    assert answer.status == 202
    return str(answer.body()["proposal"]["id"])


def _secrets() -> Iterator[str]:
    """Every id of every row there is before the strangers come, the audit log's too."""
    for table in rows():
        for row in table.values():
            yield from UUID.findall(repr(row))


def rows(without: frozenset[str] = frozenset()) -> Iterator[dict[str, str]]:
    """Every row of every domain-owned table, as text, by table and key."""
    for model in sorted(apps.get_models(), key=lambda model: model._meta.db_table):
        if model._meta.db_table in guarded_tables() - without:
            yield {f"{model._meta.db_table} {row}": repr(row) for row in model._base_manager.values_list()}


RECORDS = frozenset({"audit_entries", "context_records", "context_shown"})  # of what was done and shown


def stored(
    without: frozenset[str] = frozenset({"audit_entries", "audit_objects", "preferences", "saved_filters"}),
) -> dict[str, str]:
    """Every row but the audit log's and what a person chose for themselves, to be compared before and after."""
    return {key: row for table in rows(without) for key, row in table.items()}


Inputs = Callable[[Ids], dict[str, dict]]
