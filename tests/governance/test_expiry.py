"""Proposals that nobody touches expire, by the policy of their domain."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance import jobs
from governance.models import AuditEntry, ProposalStep
from kernel import clock
from kernel.errors import TransitionError
from tests.conftest import make_agent
from tests.governance.queueing import desk, later, queue_note, review, row_of, set_review

__all__ = ["desk"]

pytestmark = pytest.mark.usefixtures("midday")


class TestExpiry:
    def test_it_works(self, desk):
        cast, _ = desk
        set_review(cast, expire_days=10)
        old = queue_note(cast.agent, "old")
        with later(days=6):
            touched, fresh = queue_note(cast.agent, "touched"), queue_note(cast.agent, "fresh")
            cast.reviewer.do("request_changes", id=touched, reason="which?")
        with later(days=12):
            jobs.expire_proposals()
            assert [row_of(pk).state for pk in (old, touched, fresh)] == ["expired", "changes_requested", "open"]
            assert ProposalStep.objects.get(kind="expired").text == "nobody touched it for 10 days"
            with pytest.raises(TransitionError, match="already expired"):
                cast.reviewer.call("approve_proposal", id=old)
            assert cast.agent.call("note", note="old").status == 202
        entry = AuditEntry.objects.get(action="expire_proposals")
        assert (entry.actor_name, [change["id"] for change in entry.changes]) == ("worker", [old])

    def test_what_sleeps_does_not_expire_and_zero_means_never(self, desk):
        cast, _ = desk
        set_review(cast, expire_days=10)
        asleep = queue_note(cast.agent)
        until = clock.now() + timedelta(days=30)
        cast.reviewer.do("snooze_proposal", id=asleep, until=until.isoformat())
        with later(days=20):
            jobs.expire_proposals()
        set_review(cast, expire_days=0)
        with later(days=400):
            jobs.expire_proposals()
        assert row_of(asleep).state == "open"

    def test_each_domain_by_its_own_policy(self, desk):
        cast, _ = desk
        stranger = make_agent("far", "elsewhere")
        cast.operator.do("set_policy", domain_id="elsewhere", document=review(expire_days=1), reason="r")
        here, there = queue_note(cast.agent), stranger.do("note", note="x", domain_id="elsewhere")["proposal"]["id"]
        with later(days=5):
            assert cast.operator.do("expire_proposals")["expired"] == 1
        assert [row_of(pk).state for pk in (here, there)] == ["open", "expired"]
