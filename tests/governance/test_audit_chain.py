"""The chain over the audit log: everything gets its seal once, and every way of tampering is found."""

from __future__ import annotations

from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from governance import jobs
from governance.audit import chain
from governance.contracts.erasing import GONE, mark
from governance.models import AuditEntry, AuditSeal, Proposal, Tombstone
from kernel.db import rolled_back
from kernel.ids import new_id
from tests.conftest import TEAM, a_turn, make_cast
from tests.guards.write_guard import OutsideTheGateError, unguarded
from tests.threads import at_once

STANDS = {"state": "approved", "revision": 1}  # what an erasure leaves of a decision


def verify(*arguments: str) -> tuple[int, str]:
    """Exit code and output of the command."""
    out = StringIO()
    try:
        call_command("verify_audit", *arguments, stdout=out)
    except SystemExit as exc:
        return int(str(exc.code)), out.getvalue()
    return 0, out.getvalue()


def tamper(sql: str, *parameters: str | int) -> None:
    with unguarded(), connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        assert cursor.rowcount > 0


def remove_entry(number: int) -> None:
    entry_id = entry_at(number)
    with unguarded(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_objects WHERE entry_id = %s", [entry_id])
    tamper("DELETE FROM audit_entries WHERE id = %s", entry_id)


def entry_at(number: int) -> str:
    """The id of the entry with that seal, as the database keeps it."""
    found = AuditSeal.objects.get(number=number).entry_id
    return str(found) if connection.vendor == "postgresql" else found.hex


def end() -> str:
    """The end of the chain as `verify_audit` prints it."""
    last = AuditSeal.objects.latest("number")
    return f"{last.number}:{last.hash}"


@pytest.fixture
def sealed(cast):
    """A log of a commit with changes, reads and a refusal, sealed."""
    cast.agent.do("commit_turn", a_turn())
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="free text 自由")
    cast.agent.do("list_domains")
    jobs.seal_audit()
    return cast


def test_it_works(sealed):
    assert not AuditEntry.objects.filter(sealed=False).exists()
    assert [seal.number for seal in AuditSeal.objects.all()] == list(range(1, AuditEntry.objects.count() + 1))
    code, said = verify()
    assert code == 0, said
    assert "Whole" in said
    assert f"End of the chain: {end()}" in said


def test_sealing_goes_on_where_it_ended(sealed):
    before = AuditSeal.objects.count()
    sealed.agent.do("list_domains")
    assert jobs.seal_audit() == 1
    assert AuditSeal.objects.count() == before + 1
    assert jobs.seal_audit() == 0
    assert verify()[0] == 0


def test_batches_make_one_chain(cast):
    for _ in range(5):
        cast.agent.do("list_domains")
    waiting = AuditEntry.objects.count()
    sizes = []
    while size := chain.seal_next(3):
        sizes.append(size)
    assert (sum(sizes), max(sizes)) == (waiting, 3)
    assert verify()[0] == 0


def test_what_is_not_sealed_yet_is_counted_and_no_fault(sealed):
    sealed.agent.do("list_domains")
    code, said = verify()
    assert code == 0
    assert "1 entries are not sealed yet, the oldest since 20" in said


def test_a_sealer_that_is_killed_leaves_nothing_half_done(cast):
    entries = AuditEntry.objects.count()
    with rolled_back():
        assert chain.seal_next() == entries
    assert not AuditSeal.objects.exists()
    assert AuditEntry.objects.filter(sealed=False).count() == entries
    assert jobs.seal_audit() == entries


@pytest.mark.django_db(transaction=True)
def test_two_sealers_at_once_seal_everything_once():
    cast = make_cast()
    for _ in range(8):
        cast.agent.do("list_domains")
    entries = AuditEntry.objects.count()
    at_once([jobs.seal_audit] * 4)
    jobs.seal_audit()
    assert AuditSeal.objects.count() == entries
    assert verify()[0] == 0


@pytest.mark.parametrize(
    ("column", "value", "group"),
    [
        ("outcome", "denied", "record"),
        ("action", "list_domains", "record"),
        ("actor_name", "somebody else", "actor"),
        ("reason", "another reason", "reason"),
        ("scope", "project:other", "place"),
        ("changes", "[]", "changes"),
        ("facts", "{}", "place"),
        ("at", "2020-01-01 00:00:00+00", "record"),
    ],
)
def test_a_changed_entry_is_found_and_named(sealed, column, value, group):
    number = next(
        seal.number
        for seal in AuditSeal.objects.all()
        if AuditEntry.objects.get(pk=seal.entry_id).action == "commit_turn"
    )
    tamper(f"UPDATE audit_entries SET {column} = %s WHERE id = %s", value, entry_at(number))
    code, said = verify()
    assert code == 1
    assert f"Sequence {number}: its entry was changed: {group} (entry " in said
    assert f"BROKEN: 1 faults, the first at sequence {number}." in said


def test_a_removed_entry_is_found(sealed):
    remove_entry(2)
    code, said = verify()
    assert (code, "Sequence 2: its entry is gone" in said) == (1, True)


def test_a_removed_seal_is_found_as_a_gap_and_its_entry_is_named(sealed):
    entry = AuditSeal.objects.get(number=3).entry_id
    tamper("DELETE FROM audit_seals WHERE number = 3")
    code, said = verify()
    assert code == 1
    assert "Sequence 3: no seal 3" in said
    assert f"Outside of the chain: it says that it is sealed, but has no seal (entry {entry})" in said


def test_an_entry_put_in_is_found(sealed):
    with unguarded():
        row = AuditEntry.objects.latest("id")
        row.pk, row.sealed, row._state.adding = "00000000-0000-7000-8000-000000000001", True, True
        row.save(force_insert=True)
    code, said = verify()
    assert (code, "Outside of the chain" in said) == (1, True)


def test_a_seal_made_anew_over_a_changed_entry_breaks_the_link_after_it(sealed):
    tamper("UPDATE audit_entries SET reason = 'forged' WHERE id = %s", entry_at(2))
    seal = AuditSeal.objects.get(number=2)
    digests = chain.field_digests(AuditEntry.objects.get(pk=seal.entry_id), seal.salts)
    forged = chain.chain_hash(2, seal.entry_id, digests, seal.previous)
    with unguarded():
        AuditSeal.objects.filter(number=2).update(digests=digests, hash=forged)
    code, said = verify()
    assert (code, "Sequence 3: does not follow the seal before it" in said) == (1, True)


def test_a_changed_seal_is_found(sealed):
    tamper("UPDATE audit_seals SET hash = %s WHERE number = 2", "0" * 64)
    code, said = verify()
    assert code == 1
    assert "Sequence 2: the seal itself was changed" in said


def test_a_chain_cut_off_at_its_end_is_found_by_the_end_that_was_kept(sealed):
    kept = end()
    assert verify("--expect", kept)[0] == 0
    last = int(kept.split(":")[0])
    remove_entry(last)
    tamper("DELETE FROM audit_seals WHERE number = %s", last)
    code, said = verify("--expect", kept)
    assert (code, "what followed was cut off" in said) == (1, True)


def test_a_chain_that_was_made_anew_is_found_by_the_end_that_was_kept(sealed):
    kept = end()
    with unguarded():
        AuditSeal.objects.all().delete()
        AuditEntry.objects.update(sealed=False)
    jobs.seal_audit()
    assert verify()[0] == 0
    code, said = verify("--expect", kept)
    assert (code, "the chain does not hold the expected seal" in said) == (1, True)


@pytest.mark.parametrize("text", ["", "12", "x:" + "0" * 64, "3:abc"])
def test_an_expected_end_that_is_none_is_refused(db, text):
    with pytest.raises(Exception, match="NUMBER:HASH"):
        call_command("verify_audit", "--expect", text)


def drop_salts(seal: AuditSeal, *groups: str) -> None:
    salts = {group: salt for group, salt in seal.salts.items() if group not in groups}
    with unguarded():
        AuditSeal.objects.filter(pk=seal.pk).update(salts=salts)


def rewrite(seal: AuditSeal, **columns: object) -> None:
    with unguarded():
        AuditEntry.objects.filter(pk=seal.entry_id).update(**columns)


def marked(entry: AuditEntry, receipt: UUID) -> list[dict]:
    return [{**change, "before": None, "after": mark(receipt)} for change in entry.changes]


@pytest.fixture
def of_policy(sealed) -> AuditSeal:
    """The seal of an entry with a reason and a change."""
    found = AuditEntry.objects.get(action="set_policy")
    return AuditSeal.objects.get(entry_id=found.pk)


def test_text_can_be_erased_without_breaking_the_chain(of_policy):
    receipt = new_id()
    with unguarded():
        Tombstone.objects.create(receipt_id=receipt, domain_id=TEAM, kind="memory", object_id=new_id(), scope="*")
    entry = AuditEntry.objects.get(pk=of_policy.entry_id)
    rewrite(of_policy, changes=marked(entry, receipt), reason=GONE)
    drop_salts(of_policy, "changes", "reason")
    code, said = verify()
    assert code == 0, said
    assert "1 of entries whose text was erased" in said
    assert "each bears the mark of an erasure" in said
    tamper("UPDATE audit_entries SET outcome = 'denied' WHERE id = %s", entry_at(of_policy.number))
    assert verify()[0] == 1


@pytest.mark.parametrize(
    ("group", "columns"),
    [
        ("actor", {"actor_name": "innocent"}),
        ("place", {"scope": "project:other"}),
        ("reason", {"reason": "forged"}),
        ("reason", {"reason": ""}),
        ("reason", {"reason": GONE}),
        ("changes", {"changes": []}),
        ("changes", {"changes": [{"table": "domains", "id": TEAM, "before": {"a": 1}, "after": {"a": 2}}]}),
        ("changes", {"changes": [{"table": "domains", "id": TEAM, "before": None, "after": mark(new_id())}]}),
        ("changes", {"changes": [{"table": "proposals", "id": "1", "before": None, "after": {"input": "forged"}}]}),
        ("changes", {"changes": [{"table": "proposals", "id": str(new_id()), "before": None, "after": STANDS}]}),
        ("changes", {"changes": [{"table": "decisions", "id": "1", "before": {}, "after": STANDS}]}),
    ],
)
def test_what_no_erasure_leaves_is_found_though_its_salt_is_gone(of_policy, group, columns):
    rewrite(of_policy, **columns)
    drop_salts(of_policy, group)
    code, said = verify()
    assert code == 1
    assert f"Sequence {of_policy.number}: no erasure leaves its entry as it is: {group} (entry " in said


@pytest.fixture
def of_decision(sealed) -> AuditSeal:
    """The seal of an entry by which a proposal was rejected, with a reason."""
    rule = {"name": "turns", "actions": ["commit_turn"]}
    sealed.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="r")
    proposal = sealed.agent.do("commit_turn", a_turn(session_id="other"))["proposal"]["id"]
    sealed.reviewer.do("reject_proposal", id=proposal, reason="a secret")
    jobs.seal_audit()
    return AuditSeal.objects.get(entry_id=AuditEntry.objects.get(action="reject_proposal").pk)


def scrubbed(seal: AuditSeal, receipt: UUID) -> None:
    """Its entry and its proposal, as an erasure leaves both."""
    entry = AuditEntry.objects.get(pk=seal.entry_id)
    rewrite(seal, changes=[{**change, "before": STANDS, "after": STANDS} for change in entry.changes], reason=GONE)
    drop_salts(seal, "changes", "reason")
    with unguarded():
        Proposal.objects.filter(pk=str(entry.proposal_id)).update(subject_key=f"erased:{receipt}")


def test_what_stays_of_a_decision_is_an_erasure_where_its_proposal_was_scrubbed(of_decision):
    receipt = new_id()
    with unguarded():
        Tombstone.objects.create(receipt_id=receipt, domain_id=TEAM, kind="memory", object_id=new_id(), scope="*")
    scrubbed(of_decision, receipt)
    code, said = verify()
    assert code == 0, said


@pytest.mark.parametrize("subject", ["erased:{}", "erased:", "erased:x", "a subject {}"])
def test_a_decision_taken_out_without_an_erasure_is_found(of_decision, subject):
    scrubbed(of_decision, new_id())
    with unguarded():
        entry = AuditEntry.objects.get(pk=of_decision.entry_id)
        Proposal.objects.filter(pk=str(entry.proposal_id)).update(subject_key=subject.format(new_id()))
    code, said = verify()
    assert code == 1
    assert f"Sequence {of_decision.number}: no erasure leaves its entry as it is: changes, reason (entry " in said


def test_an_entry_that_denies_its_seal_is_found_and_stops_no_sealing(sealed):
    tamper("UPDATE audit_entries SET sealed = %s WHERE id = %s", False, entry_at(2))
    code, said = verify()
    assert (code, "it has a seal, but says that it has none" in said) == (1, True)
    sealed.agent.do("list_domains")
    assert jobs.seal_audit() >= 1
    assert chain.waiting()[0] == 0


def test_equal_entries_have_unequal_digests(sealed):
    reasons = [seal.digests["reason"] for seal in AuditSeal.objects.all()]
    assert len(set(reasons)) == len(reasons)


def test_nobody_but_the_sealer_writes_seals(sealed):
    with pytest.raises(OutsideTheGateError, match="audit_seals"), transaction.atomic():
        AuditSeal.objects.all().delete()
    with pytest.raises(OutsideTheGateError, match="audit_entries"), transaction.atomic():
        AuditEntry.objects.update(reason="")


def test_only_who_operates_the_installation_verifies(cast):
    for player in (cast.agent, cast.reviewer):
        with pytest.raises(Exception, match="over the installation"):
            player.do("verify_audit")


def test_an_end_that_is_not_there_is_a_gap(sealed):
    answer = sealed.operator.do("verify_audit", after=10**9)
    assert [fault["kind"] for fault in answer["faults"]] == ["gap"]


def test_checking_takes_few_statements(sealed, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        assert sealed.operator.do("verify_audit", limit=5000)["complete"]
