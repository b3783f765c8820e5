"""Quotas: counted for each actor in the database, on every door, and never in silence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from governance.models import AuditEntry, PolicyVersion, Proposal, QuotaCounter
from kernel import clock
from kernel.errors import DomainError, InvalidInputError, NotFoundError, QuotaExceededError, UnavailableError
from memory.models import MemoryItem, Turn
from scopes.selectors import authenticate_key
from tests.asked import texts
from tests.conftest import ELSEWHERE, TEAM, Player, a_turn, make_agent, make_cast
from tests.doors.http import Http
from tests.guards.write_guard import unguarded
from tests.threads import at_once

NOON = datetime(2031, 1, 2, 12, 0, 10, tzinfo=UTC)


def limit(cast, domain_id: str | None = TEAM, **quotas: object) -> None:
    cast.operator.do("set_policy", domain_id=domain_id, document={"quotas": quotas}, reason="enough is enough")


def goals(*names: str) -> dict:
    return {"goals": [{"key": f"goal:shop:{name}", "description": f"Reach {name}"} for name in names]}


@pytest.fixture
def noon():
    """Twelve o'clock and ten seconds, until the test moves it."""
    moment = [NOON]
    with clock.use(lambda: moment[0]):
        yield lambda **later: moment.__setitem__(0, NOON + timedelta(**later))


def test_it_works(cast, noon):
    limit(cast, each={"calls_per_minute": 2})
    cast.agent.do("list_sessions", domain_id=TEAM)
    cast.agent.do("list_sessions", domain_id=TEAM)
    with pytest.raises(QuotaExceededError) as refused:
        cast.agent.do("list_sessions", domain_id=TEAM)
    assert refused.value.message == "Over the quota quotas.calls_per_minute of 2: try again in 50 seconds."
    assert refused.value.retry_after == 50
    entry = AuditEntry.objects.latest("id")
    assert (entry.outcome, entry.code, entry.rule) == ("denied", "quota_exceeded", "quotas")
    assert (entry.domain_id, entry.policy_version) == (TEAM, "team/v1")
    noon(seconds=50)
    cast.agent.do("list_sessions", domain_id=TEAM)


def test_nothing_is_asked_of_the_database_while_no_limit_is_set(cast, django_assert_num_queries):
    cast.agent.do("list_sessions", domain_id=TEAM)
    with django_assert_num_queries(6) as seen:
        cast.agent.do("list_sessions", domain_id=TEAM)
    assert not any("quota" in sql for sql in texts(seen))
    limit(cast, each={"calls_per_minute": 100, "writes_per_minute": 100})
    with django_assert_num_queries(9) as seen:
        cast.agent.do("list_sessions", domain_id=TEAM)
    assert sum("quota_counters" in sql for sql in texts(seen)) == 1


def test_each_actor_has_its_own_count(cast, noon):
    limit(cast, each={"calls_per_minute": 1})
    cast.agent.do("list_sessions", domain_id=TEAM)
    cast.reader.do("list_sessions", domain_id=TEAM)
    with pytest.raises(QuotaExceededError):
        cast.agent.do("list_sessions", domain_id=TEAM)


def test_each_domain_has_its_own_limit_and_count(cast, noon):
    key = make_agent("both", ELSEWHERE).key
    cast.operator.do("grant_access", name="both", domain_id=TEAM, rights=["read"])
    both = Player("both", authenticate_key(key), key)
    limit(cast, each={"calls_per_minute": 1})
    for _ in range(3):
        both.do("list_sessions", domain_id=ELSEWHERE)
    both.do("list_sessions", domain_id=TEAM)
    with pytest.raises(QuotaExceededError):
        both.do("list_sessions", domain_id=TEAM)


def test_one_actor_may_have_limits_of_its_own(cast, noon):
    limit(cast, each={"calls_per_minute": 1}, principals={"agent": {"calls_per_minute": 3}, "reader": {}})
    for _ in range(3):
        cast.agent.do("list_sessions", domain_id=TEAM)
    with pytest.raises(QuotaExceededError, match="of 3"):
        cast.agent.do("list_sessions", domain_id=TEAM)
    for _ in range(5):
        cast.reader.do("list_sessions", domain_id=TEAM)


def test_people_and_the_system_are_not_limited_unless_named(cast, noon):
    limit(cast, each={"calls_per_minute": 0})
    cast.reviewer.do("list_proposals", domain_id=TEAM)
    limit(cast, each={"calls_per_minute": 0}, actor_kinds=["person"])
    with pytest.raises(QuotaExceededError):
        cast.reviewer.do("list_proposals", domain_id=TEAM)
    cast.agent.do("list_sessions", domain_id=TEAM)


def test_writes_have_a_limit_of_their_own(cast, noon):
    limit(cast, each={"writes_per_minute": 1})
    cast.agent.do("commit_turn", a_turn())
    with pytest.raises(QuotaExceededError, match="writes_per_minute of 1"):
        cast.agent.do("commit_turn", a_turn("more"))
    assert Turn.objects.count() == 1
    cast.agent.do("list_sessions", domain_id=TEAM)


def test_refused_calls_count_too(cast, noon):
    limit(cast, each={"calls_per_minute": 3})
    limit(cast, domain_id=None, each={"calls_per_minute": 3})
    for _ in range(3):
        with pytest.raises(InvalidInputError):
            cast.agent.do("list_sessions", domain_id=TEAM, surprise=1)
    with pytest.raises(QuotaExceededError):
        cast.agent.do("list_sessions", domain_id=TEAM, surprise=1)
    for _ in range(3):
        with pytest.raises(NotFoundError):
            cast.stranger.do("list_sessions", domain_id=TEAM)
    with pytest.raises(QuotaExceededError):
        cast.stranger.do("list_sessions", domain_id=TEAM)
    with pytest.raises(QuotaExceededError):
        cast.stranger.do("list_sessions", domain_id="none-such")


def test_items_of_a_day(cast, noon):
    limit(cast, each={"items_per_day": 3})
    cast.agent.do("commit_turn", a_turn(turn_events=goals("a", "b")))
    with pytest.raises(QuotaExceededError, match="items_per_day of 3") as refused:
        cast.agent.do("commit_turn", a_turn(turn_events=goals("c", "d")))
    assert refused.value.retry_after == 43_190
    assert MemoryItem.objects.count() == 2
    cast.agent.do("commit_turn", a_turn(turn_events=goals("c")))  # what was rolled back was not used
    cast.agent.do("commit_turn", a_turn(turn_events=goals("c")))  # nothing is added
    with pytest.raises(QuotaExceededError):
        cast.agent.do("commit_turn", a_turn(turn_events=goals("d")))
    noon(days=1)
    cast.agent.do("commit_turn", a_turn(turn_events=goals("d")))


def test_items_of_a_day_in_the_whole_domain(cast, noon):
    limit(cast, domain_items_per_day=2)
    other = make_agent("other")
    cast.agent.do("commit_turn", a_turn(turn_events=goals("a")))
    other.do("commit_turn", a_turn(session_id="s2", turn_events=goals("b")))
    for player in (cast.agent, other):
        with pytest.raises(QuotaExceededError, match="domain_items_per_day of 2"):
            player.do("commit_turn", a_turn(session_id="s3", turn_events=goals("c")))


def test_open_proposals(cast, noon):
    rule = {"name": "all", "actions": ["commit_turn"]}
    document = {"review": {"queue": [rule]}, "quotas": {"each": {"open_proposals": 2}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    first = cast.agent.do("commit_turn", a_turn("one"))["proposal"]["id"]
    cast.agent.do("commit_turn", a_turn("two"))
    assert cast.agent.do("commit_turn", a_turn("two"))["deduplicated"]
    with pytest.raises(QuotaExceededError, match="withdraw some, or wait for decisions") as refused:
        cast.agent.do("commit_turn", a_turn("three"))
    assert refused.value.retry_after == 3600
    assert Proposal.objects.count() == 2
    cast.agent.do("withdraw_proposal", id=first)
    cast.agent.do("commit_turn", a_turn("three"))


def test_what_a_person_approved_is_counted_and_not_refused(cast, noon):
    rule = {"name": "all", "actions": ["commit_turn"]}
    document = {"review": {"queue": [rule]}, "quotas": {"each": {"items_per_day": 1}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    proposal = cast.agent.do("commit_turn", a_turn(turn_events=goals("a", "b")))["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    assert MemoryItem.objects.count() == 2
    assert QuotaCounter.objects.get(kind="items_per_day").used == 2


def test_over_http_the_header_says_when(cast):
    limit(cast, each={"calls_per_minute": 0})
    response = Http(cast.agent.key).post("list_sessions", {"domain_id": TEAM})
    body = response.json()
    assert (response.status_code, body["code"], body["quota"]) == (429, "quota_exceeded", "calls_per_minute")
    assert response["Retry-After"] == str(body["retry_after"])
    assert 1 <= body["retry_after"] <= 60


def test_where_nothing_can_be_counted_nothing_is_done(cast):
    limit(cast, each={"writes_per_minute": 10})
    with unguarded(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE quota_counters RENAME TO quota_counters_gone")
    try:
        with pytest.raises(UnavailableError, match="Quotas cannot be counted now"):
            cast.agent.do("commit_turn", a_turn())
        assert not Turn.objects.exists()
        cast.agent.do("list_sessions", domain_id=TEAM)
    finally:
        with unguarded(), connection.cursor() as cursor:
            cursor.execute("ALTER TABLE quota_counters_gone RENAME TO quota_counters")


@pytest.mark.django_db(transaction=True)
def test_many_at_once_get_exactly_what_is_allowed():
    cast = make_cast()
    limit(cast, each={"calls_per_minute": 5})

    def work() -> str:
        with clock.use(lambda: NOON):
            cast.agent.do("list_sessions", domain_id=TEAM)
        return "done"

    outcomes = at_once([work] * 12)
    assert outcomes.count("done") == 5
    assert sum(isinstance(each, QuotaExceededError) for each in outcomes) == 7


@pytest.mark.django_db(transaction=True)
def test_many_items_at_once_stay_within_the_day(transactional_db, noon):
    cast = make_cast()
    limit(cast, domain_items_per_day=4)

    def work(number: int):
        return lambda: cast.agent.do("commit_turn", a_turn(session_id=f"s{number}", turn_events=goals(f"g{number}")))

    outcomes = at_once([work(number) for number in range(8)])
    assert sum(isinstance(each, QuotaExceededError) for each in outcomes) == 4
    assert MemoryItem.objects.count() == 4


@pytest.mark.parametrize(
    "quotas",
    [
        {"each": {"calls_per_minute": -1}},
        {"each": {"calls_per_minute": "many"}},
        {"each": {"calls_per_hour": 1}},
        {"calls_per_minute": 1},
        {"actor_kinds": ["robot"]},
        {"domain_items_per_day": 10**9},
    ],
)
def test_a_quota_that_is_none_is_refused(cast, quotas):
    with pytest.raises(InvalidInputError, match="quotas"):
        limit(cast, **quotas)
    assert not PolicyVersion.objects.exists()


def test_an_earlier_span_never_gives_back_what_was_used(cast, noon):
    limit(cast, each={"calls_per_minute": 1})
    cast.agent.do("list_sessions", domain_id=TEAM)
    noon(minutes=-5)
    with pytest.raises(DomainError):
        cast.agent.do("list_sessions", domain_id=TEAM)
