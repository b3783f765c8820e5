"""The gate: every call leaves its entry in the same transaction, and a refused one leaves nothing else."""

from __future__ import annotations

import json

import pytest

from governance import gate
from governance.gate import perform
from governance.models import AuditEntry
from kernel.actions import Change
from kernel.context import Right
from kernel.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    InvalidJsonError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
)
from memory.models import Message, Session, Turn
from scopes.models import MemoryScope
from tests.conftest import TEAM, a_turn
from tests.governance.made import NoteInput, failing, made, note_of


def entries(**fields: object) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(**fields).order_by("id"))


def last() -> AuditEntry:
    return AuditEntry.objects.latest("id")


def test_it_works(cast):
    answer = cast.agent.do("commit_turn", a_turn())
    entry = last()
    assert (entry.action, entry.outcome, entry.actor_name, entry.actor_kind) == (
        "commit_turn",
        "allowed",
        "agent",
        "agent",
    )
    assert (entry.domain_id, entry.scope, entry.rule, entry.door) == (TEAM, "session:s1", "right:write", "python")
    assert entry.policy_version == "defaults"
    assert [change["id"] for change in entry.changes if change["table"] == "turns"] == [answer["turn_id"]]
    assert len(entry.input_digest) == 64


def test_the_gate_is_open_only_inside_its_transaction(cast):
    seen = {}

    def prepare(given, ctx):
        seen["prepare"] = gate.is_open()

    def apply(given, prepared, ctx):
        seen["apply"] = gate.is_open()
        raise ConflictError

    with pytest.raises(ConflictError):
        perform(made(apply, prepare), NoteInput(), ctx=cast.agent.ctx())
    assert seen == {"prepare": False, "apply": True}
    assert not gate.is_open()


def test_a_read_is_entered_too(cast):
    cast.agent.do("whoami")
    assert (last().action, last().outcome, last().changes) == ("whoami", "allowed", [])


def test_a_denied_call_is_entered(cast):
    with pytest.raises(ForbiddenError):
        cast.reader.call("commit_turn", a_turn())
    entry = last()
    assert (entry.outcome, entry.code, entry.rule, entry.domain_id) == (
        "denied",
        "forbidden",
        "missing_right:write",
        TEAM,
    )
    assert entry.facts["scopes"][0]["held"] == ["read"]
    assert not MemoryScope.objects.exists()


def test_a_call_to_an_unknown_domain_is_entered_without_it(cast):
    with pytest.raises(NotFoundError):
        cast.stranger.call("commit_turn", a_turn())
    assert (last().outcome, last().code, last().domain_id) == ("denied", "not_found", None)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"{", InvalidJsonError),
        (b"[]", InvalidInputError),
        (b"{}", InvalidInputError),
        ({"session_id": 5}, InvalidInputError),
        ({"session_id": object()}, InvalidInputError),
        (json.dumps(a_turn("x\x00")), InvalidInputError),
        (b" " * 9_000_000, TooLargeError),
    ],
)
def test_an_invalid_call_is_entered_and_stores_nothing(cast, raw, error):
    with pytest.raises(error):
        gate.call("commit_turn", raw, ctx=cast.agent.ctx())
    assert (last().outcome, last().rule, last().actor_name, last().code) == ("invalid", "input", "agent", error.code)
    assert not Turn.objects.exists()


def test_an_unknown_action_is_404(cast):
    with pytest.raises(NotFoundError, match="commit_turn"):
        gate.call("drop_tables", {}, ctx=cast.agent.ctx())


def test_an_apply_that_is_refused_leaves_no_rows_and_one_entry(cast):
    before = AuditEntry.objects.count()
    with pytest.raises(ConflictError):
        perform(made(failing(ConflictError("taken"))), NoteInput(), ctx=cast.agent.ctx())
    assert note_of() is None
    assert AuditEntry.objects.count() == before + 1
    assert (last().outcome, last().code, last().reason, last().changes) == ("failed", "conflict", "taken", [])


def test_an_apply_that_breaks_leaves_no_rows_one_entry_and_no_secret(cast):
    with pytest.raises(ZeroDivisionError):
        perform(made(failing(ZeroDivisionError("my secret"))), NoteInput(), ctx=cast.agent.ctx())
    assert note_of() is None
    assert (last().outcome, last().code) == ("failed", "internal")
    assert "secret" not in last().reason


def test_a_prepare_that_breaks_is_entered(cast):
    def prepare(given, ctx):
        raise UnavailableError("no model")

    with pytest.raises(UnavailableError):
        perform(made(prepare=prepare), NoteInput(), ctx=cast.agent.ctx())
    assert (last().outcome, last().code) == ("failed", "unavailable")


def test_the_failed_hook_writes_with_the_refusal(cast):
    def failed(given, error, ctx):
        return [Change("domains", TEAM, {}, {"error": error.code})]

    with pytest.raises(ConflictError):
        perform(made(failing(ConflictError()), failed=failed), NoteInput(), ctx=cast.agent.ctx())
    assert last().changes == [{"table": "domains", "id": TEAM, "before": {}, "after": {"error": "conflict"}}]


def test_a_right_that_is_missing_is_named(cast):
    with pytest.raises(ForbiddenError, match="note needs the right 'erase'"):
        perform(made(right=Right.ERASE), NoteInput(), ctx=cast.agent.ctx())


def test_the_audit_log_keeps_digests_and_no_text(cast):
    cast.agent.do("commit_turn", a_turn("a very private sentence"))
    assert Message.objects.get().content == "a very private sentence"
    assert "private" not in json.dumps([entry.changes for entry in entries()])


def test_all_entries_of_a_call_share_its_request_id(cast):
    ctx = cast.agent.ctx()
    gate.call("commit_turn", a_turn(), ctx=ctx)
    assert [entry.action for entry in entries(request_id=ctx.request_id)] == ["commit_turn"]


def test_a_second_action_of_the_same_name_is_refused():
    from kernel.actions import get, register

    with pytest.raises(ValueError, match="already registered"):
        register(get("commit_turn"))


def test_nothing_is_opened_by_a_commit_that_is_refused(cast):
    with pytest.raises(InvalidInputError):
        cast.agent.call("commit_turn", a_turn(turn_events={}))
    assert not Session.objects.exists()
    assert not MemoryScope.objects.exists()
