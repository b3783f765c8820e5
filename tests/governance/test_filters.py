"""The queue filtered, counted and paged, and filters kept under a name."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection

from governance.models import Proposal, SavedFilter
from kernel import actions
from kernel.canonical import digest
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from scopes.selectors import identify_person
from tests.conftest import ELSEWHERE, TEAM, Player, make_agent, make_person
from tests.governance.made import made
from tests.governance.queueing import later, queue_note, review, row_of, set_review
from tests.guards.write_guard import unguarded

pytestmark = pytest.mark.usefixtures("midday")


@pytest.fixture
def desk(cast, monkeypatch):
    """The cast, with `note` queued by policy, and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    return cast, make_person("ann", TEAM)


def listed(player, **filters) -> list[str]:
    """The ids of every page."""
    ids, cursor = [], None
    while True:
        answer = player.do("list_proposals", limit=2, **filters, **({"cursor": cursor} if cursor else {}))
        ids += [row["id"] for row in answer["proposals"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            return ids


def counts(player, **fields) -> dict[str, int]:
    return {row["queue"]: row["count"] for row in player.do("proposal_counts", **fields)["queues"]}


class TestQueues:
    def some(self, cast) -> list[str]:
        """Something in every queue."""
        ids = [queue_note(cast.agent, f"note {'x' * number}") for number in range(8)]
        cast.reviewer.do("claim_proposal", id=ids[0])
        cast.reviewer.do("snooze_proposal", id=ids[1], seen_again=2)
        cast.reviewer.do("request_changes", id=ids[2], reason="r")
        cast.reviewer.do("reject_proposal", id=ids[3], reason="r")
        cast.reviewer.do("approve_proposal", id=ids[4])
        return ids

    def test_it_works(self, desk):
        cast, ann = desk
        ids = self.some(cast)
        assert listed(cast.reviewer, queue="open") == [ids[0], *ids[5:]]
        assert listed(cast.reviewer, queue="mine") == [ids[0]]
        assert listed(cast.reviewer, queue="snoozed") == [ids[1]]
        assert listed(cast.reviewer, queue="changes_requested") == [ids[2]]
        assert listed(cast.reviewer, queue="rejected") == [ids[3]]
        assert listed(cast.reviewer, queue="approved") == [ids[4]]
        answer = cast.reviewer.do("proposal_counts", domain_id=TEAM)
        assert (answer["decided_today"], answer["remaining"], answer["left_today"]) == (3, 4, None)
        assert ann.do("proposal_counts")["decided_today"] == 0

    def test_counts_equal_the_lists(self, desk):
        cast, ann = desk
        self.some(cast)
        for player in (
            cast.reviewer,
            ann,
            cast.agent,
            cast.operator,
            cast.stranger,
            make_person("p", TEAM, "project:p"),
        ):
            assert counts(player) == {queue: len(listed(player, queue=queue)) for queue in counts(player)}

    def test_high_risk_comes_first_then_the_oldest(self, desk):
        cast, _ = desk
        old = queue_note(cast.agent, "old")
        set_review(cast, high_risk=[{"name": "grave", "actions": ["note"]}])
        risky = [queue_note(cast.agent, word) for word in ("a risk", "another")]
        set_review(cast)
        new = queue_note(cast.agent, "new")
        assert listed(cast.reviewer, queue="open") == [*risky, old, new]
        assert listed(cast.reviewer) == [new, *reversed(risky), old]
        assert listed(cast.reviewer, risk="high") == list(reversed(risky))

    def test_the_daily_cap_says_what_is_left(self, desk):
        cast, _ = desk
        cast.operator.do("set_policy", document={"review": {"daily_cap": 2}}, reason="rest")
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent), reason="r")
        assert cast.reviewer.do("proposal_counts")["left_today"] == 1
        with later(days=1):
            assert cast.reviewer.do("proposal_counts")["left_today"] == 2
        cast.operator.do("set_policy", domain_id=TEAM, document=review(daily_cap=5), reason="own")
        for given in ({}, {"domain_id": TEAM}):
            assert cast.reviewer.do("proposal_counts", given)["left_today"] == 4

    def test_over_several_domains_the_smallest_cap_is_told_with_its_domain(self, desk):
        cast, _ = desk
        make_person("both", TEAM)
        cast.operator.do("assign_reviewer", user="both", domain_id=ELSEWHERE)
        both = Player("both", identify_person(get_user_model().objects.get(username="both")))
        told = ("daily_cap", "daily_cap_domain")
        for team, other, expected in ((5, 3, (3, ELSEWHERE)), (5, 0, (5, TEAM)), (0, 0, (0, ELSEWHERE))):
            cast.operator.do("set_policy", domain_id=TEAM, document=review(daily_cap=team), reason="own")
            cast.operator.do("set_policy", domain_id=ELSEWHERE, document=review(daily_cap=other), reason="own")
            counts = both.do("proposal_counts")
            assert tuple(counts[name] for name in told) == expected
            assert counts["left_today"] == (expected[0] or None)
        assert cast.operator.do("proposal_counts")["daily_cap_domain"] is None


class TestFilters:
    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"action": "note"}, 3),
            ({"action": "commit_turn"}, 0),
            ({"scope": "*"}, 3),
            ({"scope": "project:*"}, 0),
            ({"proposer": "other"}, 1),
            ({"rule": "review.queue:wait"}, 3),
            ({"rule": "none"}, 0),
            ({"text": "STRASSE"}, 1),
            ({"text": "100%"}, 1),
            ({"text": "_"}, 0),
            ({"risk": "normal"}, 3),
            ({"has_conflict": True}, 0),
            ({"min_age_hours": 1}, 0),
            ({"min_age_hours": 0}, 3),
            ({"queue": "open", "proposer": "other", "text": "100"}, 1),
        ],
    )
    def test_it_works(self, desk, filters, expected):
        cast, _ = desk
        (
            queue_note(cast.agent, "Die Straße"),
            queue_note(cast.agent, "默认"),
            queue_note(make_agent("other"), "is 100% sure"),
        )
        assert len(listed(cast.reviewer, **filters)) == expected

    def test_age(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        with later(hours=5):
            queue_note(cast.agent, "young")
            assert listed(cast.reviewer, min_age_hours=4) == [proposal]

    def test_a_cursor_of_other_filters_is_refused(self, desk):
        cast, _ = desk
        for word in ("one", "two", "three"):
            queue_note(cast.agent, word)
        cursor = cast.reviewer.do("list_proposals", queue="open", limit=1)["next_cursor"]
        for filters in ({"queue": "snoozed"}, {}, {"queue": "open", "text": "x"}):
            with pytest.raises(InvalidInputError):
                cast.reviewer.call("list_proposals", cursor=cursor, limit=1, **filters)
        with pytest.raises(InvalidInputError):
            cast.reviewer.call("list_proposals", queue="open", cursor="x" * 50)

    def test_like_a_proposal_that_is_not_in_sight_finds_nothing(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        with pytest.raises(NotFoundError):
            cast.stranger.call("list_proposals", similar_to=proposal)


class TestSaved:
    def save(self, player, name: str, filters: dict | None = None, **fields) -> dict:
        saved: dict = player.do("save_filter", name=name, filters=filters or {"queue": "open"}, **fields)["filter"]
        return saved

    def names(self, player) -> list[str]:
        return [row["name"] for row in player.do("list_filters")["filters"]]

    def test_it_works(self, desk):
        cast, ann = desk
        queue_note(cast.agent)
        self.save(cast.reviewer, "later", {"queue": "snoozed"}, weight=200)
        self.save(cast.reviewer, "now", weight=10, shared=True, is_default=True)
        rows = cast.reviewer.do("list_filters", counts=True)["filters"]
        assert [(row["name"], row["count"], row["is_default"], row["mine"]) for row in rows] == [
            ("now", 1, True, True),
            ("later", 0, False, True),
        ]
        theirs = ann.do("list_filters")["filters"]
        assert [(row["name"], row["owner"], row["is_default"], row["mine"]) for row in theirs] == [
            ("now", "reviewer", False, False)
        ]

    def test_saving_again_replaces_it(self, desk):
        cast, _ = desk
        first = self.save(cast.reviewer, "mine")
        again = self.save(cast.reviewer, "mine", {"risk": "high"})
        assert (again["id"], again["filters"]["risk"], SavedFilter.objects.count()) == (first["id"], "high", 1)

    def test_one_default_for_each(self, desk):
        cast, ann = desk
        self.save(ann, "hers", is_default=True)
        self.save(cast.reviewer, "one", is_default=True)
        self.save(cast.reviewer, "two", is_default=True)
        assert set(SavedFilter.objects.filter(is_default=True).values_list("name", flat=True)) == {"hers", "two"}

    def test_only_its_owner_deletes_it(self, desk):
        cast, ann = desk
        shared, private = self.save(cast.reviewer, "shared", shared=True), self.save(cast.reviewer, "private")
        with pytest.raises(ForbiddenError, match="reviewer, who saved it"):
            ann.call("delete_filter", id=shared["id"])
        with pytest.raises(NotFoundError):
            ann.call("delete_filter", id=private["id"])
        cast.reviewer.do("delete_filter", id=shared["id"])
        assert self.names(ann) == []

    def test_what_tells_of_a_domain_is_shared_in_it_only(self, desk):
        cast, ann = desk
        elsewhere = make_person("elsewhere", "elsewhere")
        for telling in ({"text": "secret"}, {"scope": "project:x"}, {"proposer": "agent"}, {"rule": "r"}):
            with pytest.raises(InvalidInputError, match="must name its"):
                cast.reviewer.call("save_filter", name="f", filters=telling, shared=True)
        self.save(cast.reviewer, "ours", {"domain_id": TEAM, "text": "secret"}, shared=True)
        self.save(cast.reviewer, "all", {"risk": "high"}, shared=True)
        assert self.names(ann) == ["all", "ours"]
        assert self.names(elsewhere) == ["all"]
        assert self.names(make_person("narrow", TEAM, "project:p")) == ["all"]
        assert self.names(cast.agent) == self.names(cast.stranger) == []

    def test_a_foreign_domain_is_unknown(self, desk):
        cast, _ = desk
        with pytest.raises(NotFoundError):
            cast.reviewer.call("save_filter", name="f", filters={"domain_id": "elsewhere"})

    def test_a_key_has_none(self, desk):
        cast, _ = desk
        with pytest.raises(ForbiddenError, match="signed-in person"):
            cast.agent.call("save_filter", name="f", filters={})

    def test_fifty_are_enough(self, desk):
        cast, _ = desk
        for number in range(50):
            self.save(cast.reviewer, f"filter {number}")
        with pytest.raises(ConflictError, match="delete one first"):
            cast.reviewer.call("save_filter", name="one more", filters={})

    def test_one_that_fits_nothing_any_more_counts_nothing(self, desk):
        cast, _ = desk
        self.save(cast.reviewer, "gone", {"similar_to": "01890a5d-ac96-774b-bcce-b302099a8057"})
        assert cast.reviewer.do("list_filters", counts=True)["filters"][0]["count"] == 0


def test_similar_ones_are_counted_and_found(desk):
    cast, _ = desk
    ids = [queue_note(cast.agent, f"Build {number} failed") for number in range(4)]
    queue_note(cast.agent, "something else")
    rows = cast.reviewer.do("list_proposals", queue="open")["proposals"]
    assert [row["similar"] for row in rows] == [3, 3, 3, 3, 0]
    assert listed(cast.reviewer, queue="open", similar_to=ids[0]) == ids
    cast.reviewer.do("reject_proposal", id=ids[0], reason="r")
    assert cast.reviewer.do("list_proposals", queue="rejected")["proposals"][0]["similar"] == 3
    assert row_of(ids[0]).similar_key


def test_what_differs_in_a_number_or_a_place_is_not_similar(desk):
    cast, _ = desk
    ids = [queue_note(cast.agent, note) for note in ("Postgres 15", "postgres 15.", "Postgres 16")]
    assert [row["similar"] for row in cast.reviewer.do("list_proposals", queue="open")["proposals"]] == [1, 1, 0]
    with unguarded():
        Proposal.objects.filter(pk=ids[1]).update(scope="project:shed")
    assert [row["similar"] for row in cast.reviewer.do("list_proposals", queue="open")["proposals"]] == [0, 0, 0]
    assert listed(cast.reviewer, queue="open", similar_to=ids[0]) == ids[:1]


def test_those_of_the_installation_are_alike_among_themselves_and_to_none_of_a_domain(desk):
    cast, _ = desk
    ids = [queue_note(cast.agent, note) for note in ("Postgres 15", "postgres 15.", "Postgres 15!", "Postgres 16")]
    with unguarded():
        Proposal.objects.filter(pk__in=[*ids[:2], ids[3]]).update(domain=None)
    assert [row["similar"] for row in cast.operator.do("list_proposals", queue="open")["proposals"]] == [1, 1, 0, 0]
    assert listed(cast.operator, queue="open", similar_to=ids[0]) == ids[:2]
    assert listed(cast.operator, queue="open", similar_to=ids[2]) == ids[2:3]
    reviewed = [cast.operator.do("review_proposal", id=each)["proposal"]["similar"] for each in ids]
    assert reviewed == [1, 1, 0, 0]


def test_what_waited_under_the_old_rule_is_told_apart_by_its_numbers(desk):
    cast, _ = desk
    ids = [queue_note(cast.agent, note) for note in ("Postgres 15", "Postgres 16", "alone")]
    right = [row_of(each).similar_key for each in ids]
    with unguarded():
        Proposal.objects.filter(pk__in=ids[:2]).update(similar_key=digest(["note", "postgres"]))
        Proposal.objects.filter(pk=ids[2]).update(similar_key="of its app")
        import_module("governance.migrations.0013_alike").rekey(apps, SimpleNamespace(connection=connection))
    assert [row_of(each).similar_key for each in ids] == [*right[:2], "of its app"]
