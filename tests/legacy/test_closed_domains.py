"""A domain of 0.2 in which the owner may not reach its own sessions is named with the command that opens it; nothing is
opened unless the operator says so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command

from kernel.errors import NotFoundError
from legacy.contracts.validating import Check
from legacy.management.report import as_text
from legacy.services.validating import validate
from legacy.source import opened
from scopes.models import Grant
from scopes.selectors import authenticate_key
from tests.conftest import Player, make_agent
from tests.legacy.judging import OWNER, move
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows

SESSION = "会话-3"
ROWS = """
INSERT INTO domains VALUES ('team-a', '{}', now(), now()), ('empty', '{}', now(), now());
INSERT INTO sessions (id, created_at, domain_id) VALUES ('会话-3', now(), 'team-a'), ('s1', now(), NULL);
INSERT INTO turns VALUES ('t1', '会话-3', 1, now()), ('t2', 's1', 1, now());
INSERT INTO messages VALUES ('m1', 't1', 'user', 'Otters', NULL, now(), '{}');
"""


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1 + schema.BRAIN_0_2) as there:
        with there.connect() as connection:
            connection.execute(ROWS)
        yield there


def check(made: Source) -> Check:
    with opened(made.url) as snapshot:
        report = validate(snapshot, lambda *told: None)
    found = next(each for each in report.checks if each.code == "closed_to_owner")
    assert report.whole
    assert all(each.what in as_text(report) for each in found.findings)
    return found


def recalled(older: Player) -> list[str]:
    now = Player(older.name, authenticate_key(older.key), older.key)
    return [
        each["content"]
        for each in now.do("compose_context", domain_id="team-a", session_id=SESSION, user_message="?")["recent_turns"]
    ]


def command_in(told: str) -> list[str]:
    """The arguments of the command that is told."""
    return shlex.split(told.rpartition("manage.py ")[2])


def test_it_works(made: Source, older: Player) -> None:
    """A dry run and the run name the domain, with a command that opens it; a domain without sessions is none of them."""
    (tried,) = move(made, "--dry-run")["closed_domains"]
    (closed,) = move(made)["closed_domains"]
    assert closed == tried
    assert closed["domain_id"] == "team-a"
    call_command(*command_in(closed["what"]), stdout=StringIO())
    assert move(made)["closed_domains"] == []
    assert recalled(older) == ["Otters"]


def test_validation_names_it_until_it_is_open(made: Source, older: Player) -> None:
    move(made)
    with pytest.raises(NotFoundError):
        recalled(older)
    (finding,) = check(made).findings
    assert (finding.target_table, finding.target_id) == ("domains", "team-a")
    call_command(*command_in(finding.what), stdout=StringIO())
    assert check(made).count == 0


def test_the_text_of_a_run_names_it(made: Source) -> None:
    out = StringIO()
    call_command("migrate_legacy", "--from", made.url, "--owner", OWNER, stdout=out, stderr=StringIO())
    assert "grant_access older-app --domain team-a --rights read,write" in out.getvalue()


def test_the_operator_may_have_it_opened(made: Source, older: Player) -> None:
    assert move(made, "--grant-owner", "--dry-run")["closed_domains"] == []
    assert not Grant.objects.filter(domain_id="team-a").exists(), "a dry run opens nothing"
    assert move(made, "--grant-owner")["closed_domains"] == []
    assert set(Grant.objects.values_list("domain_id", flat=True)) == {"legacy", "team-a"}, "nothing for `empty`"
    assert recalled(older) == ["Otters"]


@pytest.mark.parametrize(
    ("pattern", "rights", "wanted"),
    [
        ("*", "read,promote", "read,write,promote"),
        ("session:*", "read", "read,write"),
        ("session:*", "read,write", None),
    ],
)
def test_what_is_granted_there_already_counts_and_is_kept(
    made: Source, pattern: str, rights: str, wanted: str | None
) -> None:
    make_agent("another", "team-a")
    call_command(
        "grant_access", OWNER, "--domain", "team-a", "--pattern", pattern, "--rights", rights, stdout=StringIO()
    )
    closed = move(made, "--join-domains", "team-a")["closed_domains"]
    assert [command_in(each["what"])[-1] for each in closed] == [wanted] * (wanted is not None)
