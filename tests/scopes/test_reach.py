"""Grants: what Python says a grant covers is what SQL gives, for every pattern and every id."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.models import Proposal
from kernel.context import ANY, KEY_RIGHTS, Actor, ActorKind, Ctx, Door, Reach, Right
from kernel.errors import InvalidInputError
from scopes.models import Domain, MemoryScope
from scopes.selectors import held, visible_domains, visible_scopes, within_reach
from tests.conftest import TEAM, make_agent
from tests.guards.write_guard import unguarded

DOMAINS = ["one", "One", "two"]
IDS = ["a", "A", "a:b", "a:*", "*", "a%", "a_", "ab", "数据", "project:a", ":"]
TYPES = ["project", "task", "session"]
patterns = st.sampled_from([ANY, *(f"{kind}:{id_}" for kind in TYPES for id_ in [ANY, *IDS])])
reaches = st.lists(
    st.builds(Reach, st.sampled_from([ANY, *DOMAINS]), patterns, st.frozensets(st.sampled_from(sorted(Right)))),
    max_size=3,
)


def ctx_of(reach: list[Reach]) -> Ctx:
    return Ctx(Actor(ActorKind.AGENT, "someone", "someone"), Door.PYTHON, tuple(reach))


@pytest.fixture
def many_scopes(db):
    with unguarded():
        Domain.objects.bulk_create(Domain(pk=domain) for domain in DOMAINS)
        MemoryScope.objects.bulk_create(
            MemoryScope(domain_id=domain, scope_type=kind, external_id=id_, owner="another")
            for domain in DOMAINS
            for kind in TYPES
            for id_ in IDS
        )
        for row in MemoryScope.objects.all():
            Proposal.objects.create(
                action="note", input={}, domain_id=row.domain_id, scope=row.name, subject_key=str(row.id), digest="",
                rule="", policy_version="", proposer_kind="agent", proposer_id="x", proposer_name="x", request_id=uuid4(),
            )  # fmt: skip


def test_it_works(many_scopes):
    reach = [Reach("one", "project:*", frozenset({Right.READ}))]
    assert {row.name for row in visible_scopes(ctx_of(reach))} == {f"project:{id_}" for id_ in IDS}
    assert {row.domain_id for row in visible_scopes(ctx_of(reach))} == {"one"}


def test_python_and_sql_agree_on_every_pattern(many_scopes):
    rows = list(MemoryScope.objects.all())

    @given(reaches, st.sampled_from(sorted(Right)))
    def agree(reach: list[Reach], right: Right) -> None:
        ctx = ctx_of(reach)
        expected = {(row.domain_id, row.name) for row in rows if right in held(ctx, row.domain_id, row.name)}
        assert expected == {(row.domain_id, row.name) for row in rows if ctx.may(right, row.domain_id, row.name)}
        assert {(row.domain_id, row.name) for row in visible_scopes(ctx, right)} == expected
        by_name = Proposal.objects.filter(within_reach(ctx, right))
        assert {(row.domain_id, row.scope) for row in by_name} == expected
        wide = {row.pk for row in visible_domains(ctx, right)}
        assert {domain for domain, _ in expected} <= wide
        assert wide == {domain for domain in DOMAINS if ctx.may_somewhere(right, domain)}

    agree()


@given(reaches)
def test_a_grant_without_rights_gives_nothing(reach):
    bare = ctx_of([Reach(grant.domain_id, grant.pattern, frozenset()) for grant in reach])
    assert not any(held(bare, domain, f"{kind}:{id_}") for domain in DOMAINS for kind in TYPES for id_ in IDS)


@pytest.mark.parametrize(
    ("pattern", "scope", "covered"),
    [
        ("*", "project:a", True),
        ("*", "*", True),
        ("project:*", "project:a", True),
        ("project:*", "*", False),
        ("project:*", "projects:a", False),
        ("project:*", "task:a", False),
        ("project:a", "project:a", True),
        ("project:a", "project:ab", False),
        ("project:a", "project:A", False),
        ("project:a:*", "project:a:b", False),
        ("project:a:*", "project:a:*", True),
        ("session:s", "session:s", True),
    ],
)
def test_a_pattern_names_a_scope_a_type_or_all(pattern, scope, covered):
    reach = Reach("one", pattern, frozenset({Right.READ}))
    assert reach.covers("one", scope, Right.READ) is covered
    assert not reach.covers("two", scope, Right.READ)
    assert not reach.covers("one", scope, Right.WRITE)


@pytest.mark.parametrize(
    "pattern", ["", "project", "project:", ":a", "*:*", "Project:a", "project: a", "**", "project:a\nb", 5]
)
def test_a_malformed_pattern_is_refused(cast, pattern):
    with pytest.raises(InvalidInputError):
        cast.operator.call("grant_access", name="agent", domain_id=TEAM, pattern=pattern, rights=["read"])


def test_a_session_of_ones_own_needs_no_grant_that_names_it(cast):
    narrow = make_agent("narrow", pattern="project:p")
    assert narrow.do("list_scopes", domain_id=TEAM)["scopes"] == []
    narrow.do(
        "commit_turn", domain_id=TEAM, session_id="mine", turn_events={"messages": [{"role": "user", "content": "x"}]}
    )
    assert [row["id"] for row in narrow.do("list_scopes", domain_id=TEAM)["scopes"]] == ["mine"]


def test_a_key_holds_only_the_rights_of_keys():
    assert {Right.READ, Right.WRITE, Right.PROMOTE, Right.ERASE} == KEY_RIGHTS
