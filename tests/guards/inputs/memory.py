"""For every action of memory, an input for each state of a row."""

from __future__ import annotations

from tests.guards.world import KEY, MARK, QUESTION, Ids, Inputs, context, turn


def places(ids: Ids) -> dict[str, dict]:
    """Each row state by which a scoped call can name what is the team's."""
    project = f"project:{ids.project}"
    return {
        "session": {"domain_id": ids.domain, "session_id": ids.session},
        "session scope": {"domain_id": ids.domain, "session_id": "mine", **context(f"session:{ids.session}")},
        "project": {"domain_id": ids.domain, "session_id": "mine", **context(project, write=project)},
        "task": {"domain_id": ids.domain, "session_id": "mine", **context("task:t", write="task:t")},
    }


def _searches(ids: Ids) -> dict[str, dict]:
    """Every kind and mode in every place."""
    everything = {"query": MARK, "kinds": ["memory", "message", "section", "card"], "history": True}
    found = {name: {**tree, **everything} for name, tree in places(ids).items()}
    for mode in ("exact", "relational", "semantic"):
        found |= {f"{name} {mode}": {**tree, **everything, "mode": mode} for name, tree in places(ids).items()}
    return found


def _composes(ids: Ids) -> dict[str, dict]:
    question = {"user_message": QUESTION, "render": True}
    return {name: {**tree, **question} for name, tree in places(ids).items()}


def items(ids: Ids) -> dict[str, dict]:
    return {
        "session": {"id": ids.item},
        "project": {"id": ids.project_item},
        "replaced": {"id": ids.old_item},
        "retracted": {"id": ids.retracted_item},
    }


def _writes(ids: Ids) -> dict[str, dict]:
    """An item for a scope of the team, by itself and as if learned from a turn of the team."""
    goal = {"domain_id": ids.domain, "type": "goals", "item": {"key": "goal:a:b"}, **KEY}
    project = {**goal, "scope": {"type": "project", "id": ids.project}}
    return {
        "project": project,
        "turn": {**project, "turn_id": ids.turn},
        "task": {**goal, "scope": {"type": "task", "id": "t"}},
    }


def _said(**fields: object) -> Inputs:
    """A relation or denial for a scope of the team, by itself and as if learned from a turn of the team."""

    def inputs(ids: Ids) -> dict[str, dict]:
        told = {name: {key: tree[key] for key in ("domain_id", "scope")} for name, tree in _writes(ids).items()}
        told["turn"]["turn_id"] = ids.turn
        return {name: {**place, **KEY, **fields} for name, place in told.items()}

    return inputs


def acts(**fields: object) -> Inputs:
    """An act on an item in each of its states."""

    def inputs(ids: Ids) -> dict[str, dict]:
        given = {**KEY, "reason": "because", **fields}
        return {state: {"memory_item_id": tree["id"], **given} for state, tree in items(ids).items()}

    return inputs


WHY = [{"kind": "url", "id": "https://example.org/why"}]


def _item_lists(ids: Ids) -> dict[str, dict]:
    domain = {"domain_id": ids.domain, "history": True}
    return {
        "domain": domain,
        "project": {**domain, "scope": {"type": "project", "id": ids.project}},
        "session": {**domain, "scope": {"type": "session", "id": ids.session}},
        "key": {**domain, "key": f"goal:{MARK}:g"},
        "retracted": {**domain, "status": "retracted"},
    }


def _conflict_lists(ids: Ids) -> dict[str, dict]:
    domain = {"domain_id": ids.domain, "state": None}
    return {
        "domain": domain,
        "session": {**domain, "scope": {"type": "session", "id": ids.session}},
        "item": {**domain, "memory_item_id": ids.disputed_item},
    }


def _conflicts(ids: Ids) -> dict[str, dict]:
    return {"session": {"id": ids.conflict}, "project": {"id": ids.project_conflict}}


def _of_shadows(place: dict) -> dict:
    """A place as the inspector takes it: it reads, so it needs no conversation beside its scopes."""
    return {name: value for name, value in place.items() if name != "session_id" or "scope_context" not in place}


def _turns(ids: Ids) -> dict[str, dict]:
    return {"session": {"turn_id": ids.turn}, "project": {"turn_id": ids.project_turn}}


def _commits(ids: Ids) -> dict[str, dict]:
    events = turn(ids, "hello")["turn_events"]
    return {name: {**tree, **KEY, "turn_events": events} for name, tree in places(ids).items()}


MEMORY: dict[str, Inputs] = {
    "commit_turn": _commits,
    "compose_context": _composes,
    "correct_item": acts(text="otherwise"),
    "demote": acts(evidence_refs=WHY, reason_type="unsafe"),
    "demote_from_scope": acts(evidence_refs=WHY),
    "diagnostics": lambda ids: {"domain": {"domain_id": ids.domain}},
    "extract_turn": lambda ids: {state: {**tree, **KEY} for state, tree in _turns(ids).items()},
    "get_conflict": _conflicts,
    "show_conflicts": lambda ids: {state: {"ids": [tree["id"]]} for state, tree in _conflicts(ids).items()},
    "get_context": lambda ids: {"session": {"id": ids.context}, "project": {"id": ids.project_context}},
    "get_memory_item": items,
    "show_memory_items": lambda ids: {state: {"ids": [tree["id"]]} for state, tree in items(ids).items()},
    "get_session": lambda ids: {"session": {"id": ids.session_uuid}, "project": {"id": ids.project_session_uuid}},
    "get_turn": _turns,
    "inspect_shadows": lambda ids: {
        name: {**_of_shadows(tree), "key": f"goal:{MARK}:g"} for name, tree in places(ids).items()
    },
    "related_items": lambda ids: {state: {"memory_item_id": tree["id"]} for state, tree in items(ids).items()},
    "lineage": lambda ids: {state: {"memory_item_id": tree["id"]} for state, tree in items(ids).items()},
    "list_conflicts": _conflict_lists,
    "list_extractions": lambda ids: {
        "domain": {"domain_id": ids.domain},
        "failed": {"domain_id": ids.domain, "state": "failed"},
    },
    "list_memory_items": _item_lists,
    "list_sessions": lambda ids: {"domain": {"domain_id": ids.domain}},
    "list_turns": lambda ids: {"session": {"domain_id": ids.domain, "session_id": ids.session}},
    "narrow_item": acts(target_scope={"type": "task", "id": "t"}),
    "promote_to_scope": acts(target_scope={"type": "task", "id": "t"}, verification_refs=WHY),
    "raise_tier": acts(tier="qi", supporting_refs=WHY, verification_refs=WHY),
    "rebuild_index": lambda ids: {"domain": {"domain_id": ids.domain}},
    "reopen_conflict": lambda ids: {
        state: {**tree, **KEY, "reason": "because"} for state, tree in _conflicts(ids).items()
    },
    "resolve_conflict": lambda ids: {
        state: {**tree, **KEY, "reason": "because", "outcome": "not_a_conflict"}
        for state, tree in _conflicts(ids).items()
    },
    "retract_item": acts(also=[]),
    "search_memory": _searches,
    "write_denial": _said(type="facts", key="fact:a:b", reason="never"),
    "write_memory_item": _writes,
    "write_relation": _said(subject="a", predicate="of", object="b"),
}
