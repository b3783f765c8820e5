"""Where policies come from: defaults, the file, the installation's versions, the domain's versions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings as django_settings

from governance.models import AuditEntry, PolicyVersion
from governance.policies import ReviewPolicy, ScopesPolicy, effective
from kernel.errors import DomainError, ForbiddenError, InvalidInputError, NotFoundError, UnavailableError
from memory.models import Turn
from tests.conftest import TEAM, a_turn, make_cast
from tests.guards.write_guard import unguarded
from tests.threads import at_once

TYPES = ["global", "project", "expert", "task", "session"]


def types(*names: str) -> dict:
    return {"scopes": {"allowed_types": [*names, "session"]}}


def allowed(domain_id: str | None = TEAM) -> list[str]:
    return effective(domain_id).section(ScopesPolicy).allowed_types


@pytest.fixture
def brain(tmp_path, settings):
    """Write `brain.yml` of an installation of its own."""
    settings.SMARTBRAIN = replace(django_settings.SMARTBRAIN, data_dir=tmp_path)
    return (tmp_path / "brain.yml").write_text


def test_it_works(cast):
    shown = cast.reviewer.do("get_policy", domain_id=TEAM)
    assert (shown["version"], shown["document"]["scopes"]["allowed_types"]) == ("defaults", TYPES)


def test_each_layer_lies_over_the_one_before(cast, brain):
    assert allowed() == TYPES
    brain("policies:\n  scopes:\n    allowed_types: [project, task, session]\n")
    assert allowed() == ["project", "task", "session"]
    cast.operator.do("set_policy", document=types("task"), reason="r")
    assert allowed() == ["task", "session"]
    cast.operator.do("set_policy", domain_id=TEAM, document=types("expert"), reason="r")
    assert allowed() == ["expert", "session"]
    assert allowed("elsewhere") == ["task", "session"]
    assert allowed(None) == ["task", "session"]


def test_only_what_differs_is_overridden(cast, brain):
    brain("policies:\n  review:\n    queue:\n    - {name: wait, actions: ['*']}\n")
    cast.operator.do("set_policy", domain_id=TEAM, document=types("task"), reason="r")
    policies = effective(TEAM)
    assert policies.section(ScopesPolicy).allowed_types == ["task", "session"]
    assert [rule.name for rule in policies.section(ReviewPolicy).queue] == ["wait"]


def test_a_new_version_replaces_the_one_before_and_both_are_kept(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=types("task"), reason="one")
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="two")
    assert allowed() == TYPES
    rows = PolicyVersion.objects.order_by("number").values_list("number", "reason", "author_name")
    assert list(rows) == [(1, "one", "operator"), (2, "two", "operator")]


def test_every_entry_names_the_version_in_force(cast, brain):
    cast.agent.do("commit_turn", a_turn())
    assert AuditEntry.objects.latest("id").policy_version == "defaults"
    brain("policies: {scopes: {allowed_types: [session]}}")
    cast.operator.do("set_policy", document=types("task"), reason="r")
    cast.operator.do("set_policy", domain_id=TEAM, document=types("task"), reason="r")
    cast.agent.do("commit_turn", a_turn())
    version = AuditEntry.objects.latest("id").policy_version
    assert version.startswith("file:")
    assert version.endswith("+v1+team/v1")


def test_a_changed_file_becomes_a_version_before_the_first_write(cast, brain):
    brain("policies: {scopes: {allowed_types: [task, session]}}")
    cast.agent.do("whoami")
    assert not PolicyVersion.objects.exists()
    cast.agent.do("commit_turn", a_turn())
    cast.agent.do("commit_turn", a_turn())
    row = PolicyVersion.objects.get()
    assert (row.source, row.number, row.document) == ("file", 1, {"scopes": {"allowed_types": ["task", "session"]}})
    assert AuditEntry.objects.filter(action="register_policy_file").get().changes[0]["id"] == str(row.id)
    brain("policies: {scopes: {allowed_types: [project, session]}}")
    cast.agent.do("commit_turn", a_turn())
    brain("policies: {scopes: {allowed_types: [task, session]}}")
    cast.agent.do("commit_turn", a_turn())
    assert list(PolicyVersion.objects.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("policies: [", "YAML"),
        ("policies: 5", "one mapping"),
        ("- a", "one mapping"),
        ("scopes: {}", "one mapping"),
        ("policies: {}\nextra: 1", "one mapping"),
        ("policies: {unknown: {}}", "unknown"),
        ("policies: {scopes: 5}", "mapping of fields"),
        ("policies: {scopes: {colour: red}}", "colour"),
        ("policies: {scopes: {allowed_types: []}}", "allowed_types"),
        ("policies: {scopes: {allowed_types: task}}", "allowed_types"),
        ("policies: {review: {queue: [{name: x}]}}", "actions"),
        ("policies: {1: {}}", "1"),
        ("policies: {scopes: {1: 2}}", "scopes"),
        ("policies: !!python/object/apply:os.system ['true']", "YAML"),
        ("\tpolicies: {}", "YAML"),
        ("policies: {review: {guidelines: {'*': 2024-13-01}}}", "YAML: month must be in 1..12"),
        ("policies: {review: {undo_minutes: 2024-01-01 25:00:00}}", "YAML: hour must be in 0..23"),
        ("policies: {review: {bulk_cap: !!int x}}", "YAML"),
        ("policies: {review: {bulk_cap: !!int ''}}", "YAML"),
        ("policies: {review: {bulk_cap: !!bool x}}", "YAML"),
        ("policies: {review: {bulk_cap: !!timestamp x}}", "YAML"),
        (f"policies: {{review: {{bulk_cap: {'1:' * 400}1.5}}}}", "YAML"),
        (f"policies: {'[' * 3000}", "YAML"),
        ("policies: {scopes: {allowed_types: !!set {task, session}}}", "plain values"),
        ("policies: {scopes: {allowed_types: [!!binary dGFzaw==, session]}}", "plain values"),
        ('policies: {review: {guidelines: {"*": "\\ud800"}}}', "surrogate"),
        ('policies: {review: {guidelines: {"*": "\\0"}}}', "NUL"),
    ],
)
def test_a_broken_file_stops_every_call_and_names_the_fault(cast, brain, text, fault):
    brain(text)
    for action, tree in (
        ("commit_turn", a_turn()),
        ("search_memory", {"domain_id": TEAM, "session_id": "s", "query": "q"}),
    ):
        with pytest.raises(UnavailableError) as caught:
            cast.agent.call(action, tree)
        assert "brain.yml" in caught.value.message
        assert fault in caught.value.message
    assert not Turn.objects.exists()
    entry = AuditEntry.objects.latest("id")
    assert (entry.outcome, entry.code, entry.policy_version) == ("failed", "unavailable", "unusable")


def test_a_file_that_is_not_text_is_named(cast, brain, settings):
    (settings.SMARTBRAIN.data_dir / "brain.yml").write_bytes(b"\xff\xfe")
    with pytest.raises(UnavailableError, match=r"brain\.yml"):
        cast.agent.call("commit_turn", a_turn())


@pytest.mark.parametrize("text", ["", "{}", "policies:", "policies: {}", "# nothing\n", "policies: {scopes: {}}"])
def test_a_file_that_says_nothing_changes_nothing(cast, brain, text):
    brain(text)
    assert allowed() == TYPES
    cast.agent.do("commit_turn", a_turn())


@pytest.mark.parametrize(
    "document",
    [
        {"unknown": {}},
        {"scopes": 5},
        {"scopes": {"colour": "red"}},
        {"scopes": {"allowed_types": []}},
        {"review": {"queue": [{}]}},
    ],
)
def test_a_wrong_document_is_refused_and_not_stored(cast, document):
    with pytest.raises(InvalidInputError):
        cast.operator.call("set_policy", domain_id=TEAM, document=document, reason="r")
    assert not PolicyVersion.objects.exists()


def queueing(**rule: object) -> dict:
    return {"review": {"queue": [{"name": "all", "actions": ["commit_turn"], **rule}]}}


@pytest.mark.parametrize(
    ("document", "place", "told"),
    [
        (queueing(actions=["comit_turn"]), "review.queue.0.actions", "did you mean 'commit_turn'?"),
        (queueing(actions=["commit_turn", "zzz_*"]), "review.queue.0.actions", "no action 'zzz_*'"),
        (queueing(scope_types=["planet"]), "review.queue.0.scope_types", "there are global, project"),
        (
            {"review": {"two_person": [{"name": "x", "actions": ["set_policies"]}]}},
            "review.two_person.0.actions",
            "did you mean 'set_policy'?",
        ),
        ({"scopes": {"conflict_priority": ["task", "planet"]}}, "scopes.conflict_priority", "no scope type 'planet'"),
        ({"scopes": {"conflict_priority": ["task", "task"]}}, "scopes.conflict_priority", "named twice"),
    ],
)
def test_a_rule_that_would_guard_nothing_is_refused_set_or_tried(cast, document, place, told):
    for action in ("set_policy", "replay_policy"):
        reason = {"reason": "r"} if action == "set_policy" else {}
        with pytest.raises(InvalidInputError) as refused:
            cast.operator.do(action, domain_id=TEAM, document=document, **reason)
        assert place in refused.value.message
        assert told in refused.value.message
    assert not PolicyVersion.objects.exists()


def test_scope_types_that_the_installation_allows_are_known_to_its_domains(cast):
    scopes = {"scopes": {"allowed_types": ["global", "planet"], "conflict_priority": ["planet", "global"]}}
    cast.operator.do("set_policy", document=scopes, reason="planets too")
    cast.operator.do(
        "set_policy", domain_id=TEAM, document=queueing(actions=["*"], scope_types=["planet"]), reason="r"
    )


def test_the_session_type_always_exists(cast):
    scopes = {"allowed_types": ["project"], "conflict_priority": ["project", "session"]}
    document = {**queueing(actions=["*"], scope_types=["session"]), "scopes": scopes}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    assert cast.agent.call("commit_turn", a_turn()).status == 202
    scopes = {"allowed_types": ["project"], "conflict_priority": ["project", "task"]}
    with pytest.raises(InvalidInputError, match="no scope type 'task'"):
        cast.operator.do("set_policy", domain_id=TEAM, document={"scopes": scopes}, reason="r")


def test_a_rule_that_stands_already_is_no_obstacle_to_another_change(cast):
    with unguarded():
        document = queueing(actions=["gone", "commit_turn"], scope_types=["planet", "session"])
        PolicyVersion.objects.create(domain_id=TEAM, number=1, source="action", document=document, reason="r")
    cast.operator.do("set_policy", domain_id=TEAM, document={**document, "scopes": {}}, reason="something else")
    for rule in ({"actions": ["gone_too"]}, {"actions": ["*"], "scope_types": ["moon"]}):
        new = {"review": {"queue": [*document["review"]["queue"], {"name": "new", **rule}]}}
        with pytest.raises(InvalidInputError, match=r"queue\.1\."):
            cast.operator.do("set_policy", domain_id=TEAM, document=new, reason="r")
    elsewhere = {"review": {"two_person": [{"name": "new", "actions": ["gone"]}]}}
    with pytest.raises(InvalidInputError, match="no action 'gone'"):
        cast.operator.do("set_policy", domain_id=TEAM, document=elsewhere, reason="r")


def test_a_stored_rule_stays_in_force_when_what_it_names_goes_away(cast):
    with unguarded():
        document = queueing(actions=["gone", "commit_turn"])
        PolicyVersion.objects.create(domain_id=TEAM, number=1, source="action", document=document, reason="r")
    assert cast.agent.call("commit_turn", a_turn()).status == 202


def test_only_an_operator_changes_a_policy(cast):
    for player, error in (
        (cast.agent, ForbiddenError),
        (cast.reviewer, ForbiddenError),
        (cast.stranger, NotFoundError),
    ):
        with pytest.raises(error):
            player.call("set_policy", domain_id=TEAM, document={}, reason="r")


def test_a_change_of_policy_needs_a_reason(cast):
    with pytest.raises(InvalidInputError):
        cast.operator.call("set_policy", domain_id=TEAM, document={}, reason=" ")


def test_a_policy_of_an_unknown_domain_is_404(cast):
    for action, more in (("get_policy", {}), ("set_policy", {"document": {}, "reason": "r"})):
        with pytest.raises(NotFoundError):
            cast.operator.call(action, domain_id="nowhere", **more)


@pytest.mark.django_db(transaction=True)
def test_versions_set_at_once_are_numbered_without_gap():
    cast = make_cast()
    outcomes = at_once(
        [lambda n=n: cast.operator.do("set_policy", domain_id=TEAM, document={}, reason=f"r{n}") for n in range(6)]
    )
    done = [outcome for outcome in outcomes if not isinstance(outcome, DomainError)]
    numbers = sorted(PolicyVersion.objects.values_list("number", flat=True))
    assert numbers == list(range(1, len(done) + 1))
    assert all(outcome.code == "conflict" for outcome in outcomes if isinstance(outcome, DomainError))


@pytest.mark.django_db(transaction=True)
def test_a_changed_file_met_by_many_writers_at_once_is_one_version(tmp_path, settings):
    cast = make_cast()
    settings.SMARTBRAIN = replace(django_settings.SMARTBRAIN, data_dir=tmp_path)
    (tmp_path / "brain.yml").write_text("policies: {scopes: {allowed_types: [task, session]}}")
    outcomes = at_once([lambda n=n: cast.agent.do("commit_turn", a_turn(session_id=f"s{n}")) for n in range(6)])
    assert [outcome for outcome in outcomes if isinstance(outcome, DomainError)] == []
    assert PolicyVersion.objects.filter(source="file").count() == 1
