"""Work around a decision: claims, snoozes, comments and recommendations."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from governance.models import Mention, ProposalStep
from kernel import actions, clock
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, TransitionError
from tests.conftest import TEAM, a_turn, make_agent, make_cast, make_person
from tests.governance.made import made, note_of
from tests.governance.queueing import later, queue_note, set_review
from tests.threads import at_once

pytestmark = pytest.mark.usefixtures("midday")


@pytest.fixture
def desk(cast, monkeypatch):
    """The cast, with `note` queued by policy, and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    return cast, make_person("ann", TEAM)


class TestClaims:
    def test_it_works(self, desk):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        mine = cast.reviewer.do("claim_proposal", id=proposal)["proposal"]["claim"]
        assert (mine["by"], mine["mine"]) == ("reviewer", True)
        seen = ann.do("get_proposal", id=proposal)["claim"]
        assert (seen["by"], seen["mine"]) == ("reviewer", False)
        with pytest.raises(TransitionError, match="reviewer is looking") as refused:
            ann.call("claim_proposal", id=proposal)
        assert refused.value.problem("r")["claim"]["by"] == "reviewer"
        assert [row["id"] for row in cast.reviewer.do("list_proposals", queue="mine")["proposals"]] == [proposal]
        assert ann.do("list_proposals", queue="mine")["proposals"] == []
        cast.reviewer.do("release_proposal", id=proposal)
        assert ann.do("claim_proposal", id=proposal)["proposal"]["claim"]["by"] == "ann"

    def test_an_expired_claim_is_free(self, desk):
        cast, ann = desk
        set_review(cast, claim_minutes=5)
        proposal = queue_note(cast.agent)
        cast.reviewer.do("claim_proposal", id=proposal)
        with later(minutes=6):
            assert cast.reviewer.do("get_proposal", id=proposal)["claim"] is None
            assert ann.do("claim_proposal", id=proposal)["proposal"]["claim"]["by"] == "ann"

    def test_claiming_again_lengthens_it_and_says_nothing_twice(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        until = cast.reviewer.do("claim_proposal", id=proposal)["proposal"]["claim"]["until"]
        with later(minutes=6):
            assert cast.reviewer.do("claim_proposal", id=proposal)["proposal"]["claim"]["until"] > until
        assert ProposalStep.objects.filter(kind="claimed").count() == 1

    def test_deciding_needs_no_claim_and_ends_it(self, desk):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("claim_proposal", id=proposal)
        ann.do("approve_proposal", id=proposal)
        assert cast.reviewer.do("get_proposal", id=proposal)["claim"] is None
        with pytest.raises(TransitionError, match="already approved by ann"):
            cast.reviewer.call("claim_proposal", id=proposal)

    def test_only_its_holder_releases_it(self, desk):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        with pytest.raises(TransitionError, match="claimed by nobody"):
            ann.call("release_proposal", id=proposal)
        cast.reviewer.do("claim_proposal", id=proposal)
        with pytest.raises(TransitionError, match="claimed by reviewer"):
            ann.call("release_proposal", id=proposal)

    @pytest.mark.django_db(transaction=True)
    def test_of_two_who_claim_at_once_one_gets_it(self, monkeypatch):
        cast = make_cast()
        ann = make_person("ann", TEAM)
        monkeypatch.setitem(actions._registry, "note", made())
        set_review(cast)
        proposal = queue_note(cast.agent)
        outcomes = at_once([partial(player.do, "claim_proposal", id=proposal) for player in (cast.reviewer, ann)])
        assert sorted(isinstance(outcome, TransitionError) for outcome in outcomes) == [False, True]
        assert ProposalStep.objects.filter(kind="claimed").count() == 1


class TestSnoozes:
    def test_it_works(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        until = (clock.now() + timedelta(hours=2)).isoformat()
        snoozed = cast.reviewer.do("snooze_proposal", id=proposal, until=until)["proposal"]["snooze"]
        assert (snoozed["by"], snoozed["until_seen"]) == ("reviewer", None)
        assert cast.reviewer.do("list_proposals", queue="open")["proposals"] == []
        assert len(cast.reviewer.do("list_proposals", queue="snoozed")["proposals"]) == 1
        with later(hours=3):
            assert len(cast.reviewer.do("list_proposals", queue="open")["proposals"]) == 1
            assert cast.reviewer.do("list_proposals", queue="snoozed")["proposals"] == []

    def test_until_it_is_seen_again(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("snooze_proposal", id=proposal, seen_again=2)
        cast.agent.do("note", note="first")
        assert cast.reviewer.do("list_proposals", queue="open")["proposals"] == []
        cast.agent.do("note", note="first")
        listed = cast.reviewer.do("list_proposals", queue="open")["proposals"]
        assert [(row["seen"], row["snooze"]) for row in listed] == [(3, None)]

    def test_it_is_woken(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("snooze_proposal", id=proposal, seen_again=2)
        assert cast.reviewer.do("snooze_proposal", id=proposal)["proposal"]["snooze"] is None
        assert [step.kind for step in ProposalStep.objects.all()] == ["snoozed", "woken"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"until": -timedelta(hours=1)},
            {"until": timedelta(days=800)},
            {"until": timedelta(days=1), "seen_again": 1},
            {"seen_again": 0},
            {"until": "tomorrow"},
        ],
        ids=["past", "too far", "both", "never", "words"],
    )
    def test_nonsense_is_refused(self, desk, fields):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        if isinstance(fields.get("until"), timedelta):
            fields = {**fields, "until": (clock.now() + fields["until"]).isoformat()}
        with pytest.raises(InvalidInputError):
            cast.reviewer.call("snooze_proposal", id=proposal, **fields)

    def test_what_is_put_off_can_be_decided(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("snooze_proposal", id=proposal, seen_again=2)
        assert cast.reviewer.do("approve_proposal", id=proposal)["proposal"]["snooze"] is None


class TestComments:
    def test_it_works(self, desk):
        cast, ann = desk
        make_person("outsider", "elsewhere")
        proposal = queue_note(cast.agent)
        said = cast.reviewer.do("comment_on_proposal", id=proposal, text="@ann, @outsider @nobody mail@ann see this.")
        assert said["mentioned"] == ["ann"]
        assert [row["id"] for row in ann.do("list_proposals", mentions_me=True)["proposals"]] == [proposal]
        assert cast.reviewer.do("list_proposals", mentions_me=True)["proposals"] == []
        cast.agent.do("comment_on_proposal", id=proposal, text="It is ours.")
        assert [(step.by_name, step.by_kind) for step in ProposalStep.objects.all()] == [
            ("reviewer", "person"),
            ("agent", "agent"),
        ]
        assert Mention.objects.count() == 1

    @pytest.mark.parametrize("text", ["", " ", None, "x" * 4001])
    def test_an_empty_or_endless_one_is_refused(self, desk, text):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        with pytest.raises(InvalidInputError):
            cast.reviewer.call("comment_on_proposal", id=proposal, text=text)


class TestRecommendations:
    def test_it_works(self, desk):
        cast, _ = desk
        advisor = make_agent("advisor", rights=["read", "promote"])
        proposal = queue_note(cast.agent)
        assert [row["id"] for row in advisor.do("list_proposals")["proposals"]] == [proposal]
        after = advisor.do("recommend", id=proposal, verdict="approve", reason="it is said twice")["proposal"]
        assert (after["state"], after["decisions"], note_of()) == ("open", [], None)
        step = ProposalStep.objects.get()
        assert (step.kind, step.by_name, step.text, step.data) == (
            "recommendation",
            "advisor",
            "it is said twice",
            {"verdict": "approve"},
        )
        with pytest.raises(ForbiddenError):
            advisor.call("approve_proposal", id=proposal)

    def test_nobody_recommends_their_own(self, desk):
        both = make_agent("both", rights=["read", "write", "promote"])
        proposal = queue_note(both)
        with pytest.raises(ForbiddenError, match="their own"):
            both.call("recommend", id=proposal, verdict="approve", reason="mine")

    def test_a_grant_on_part_of_a_domain_shows_nothing(self, desk):
        cast, _ = desk
        narrow = make_agent("narrow", rights=["read", "promote"], pattern="project:p")
        proposal = queue_note(cast.agent)
        with pytest.raises(NotFoundError):
            narrow.call("recommend", id=proposal, verdict="reject", reason="r")

    def test_the_turns_of_others_in_the_legacy_domain_are_shown_to_no_key(self, desk):
        """There a session belongs to its principal, whatever another's grant says."""
        cast, _ = desk
        rule = {"name": "turns", "actions": ["commit_turn"]}
        one = make_agent("one", "legacy")
        advisor = make_agent("legacy-advisor", "legacy", rights=["read", "promote"])
        cast.operator.do("set_policy", domain_id="legacy", document={"review": {"queue": [rule]}}, reason="r")
        proposal = one.do("commit_turn", a_turn("My salary is 100.", domain_id="legacy"))["proposal"]["id"]
        assert advisor.do("list_proposals")["proposals"] == []
        with pytest.raises(NotFoundError):
            advisor.call("get_proposal", id=proposal)
