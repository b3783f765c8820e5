"""The token budget: what stays, what goes, and that everything which goes is named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernel.tokens import count_tokens
from memory.compose.budget import fit, without_conflicts
from memory.compose.contracts import DeveloperBlock
from memory.compose.render import chat
from memory.compose.values import Slots
from tests.memory.compose.made import CONTEXT_ID, a_conflict, a_notice, a_policy, block, evidence, turn, uid


def names(entries, slot) -> list[tuple[str, str]]:
    return [(entry.id, entry.reason) for entry in entries if entry.slot == slot]


def tokens(slots: Slots) -> int:
    return sum(count_tokens(message["content"]) for message in chat(slots, CONTEXT_ID))


def test_it_works():
    slots = Slots(
        user_message="Which database?",
        system_blocks=(block("Likes short answers."),),
        developer_blocks=(DeveloperBlock(type="format_rules", text="Answer in JSON."),),
        working_summary="Goals\n- ship it",
        recent_turns=(turn(1), turn(2)),
        evidence=(evidence(1), evidence(2)),
    )
    fitted = fit(slots, 8192, a_policy())
    assert fitted.slots == slots
    assert (fitted.dropped, fitted.truncated, fitted.over_limit) == ((), (), False)
    assert fitted.used == tokens(slots)


def test_case_32_the_newest_eight_turns_stay():
    turns = tuple(turn(n, f"turn {n}", place=place) for n in range(1, 11) for place in (0, 1))
    fitted = fit(Slots("hi", recent_turns=turns), 8192, a_policy())
    assert [message.message_id for message in fitted.slots.recent_turns] == [
        f"m{n}.{place}" for n in range(3, 11) for place in (0, 1)
    ]
    assert names(fitted.dropped, "recent_turns") == [(f"m{n}.{place}", "window") for n in (1, 2) for place in (0, 1)]


def test_case_33_a_long_history_fits():
    turns = tuple(turn(n, f"message {n} " + "word " * 100) for n in range(1, 11))
    fitted = fit(Slots("hi", recent_turns=turns), 500, a_policy(recent_turns_max=10))
    assert fitted.used <= 500
    kept = [message.message_id for message in fitted.slots.recent_turns]
    assert kept == ["m8.0", "m9.0", "m10.0"]
    assert names(fitted.dropped, "recent_turns") == [(f"m{n}.0", "budget") for n in range(1, 8)]
    assert all(entry.tokens > 100 for entry in fitted.dropped)


def test_case_33_one_endless_message_keeps_its_beginning():
    fitted = fit(Slots("hi", recent_turns=(turn(1, "早" * 5000),)), 500, a_policy())
    assert fitted.used <= 500
    assert fitted.slots.recent_turns[0].content.endswith("早...")
    assert names(fitted.truncated, "recent_turns") == [("m1.0", "budget")]
    assert fitted.used + fitted.truncated[0].tokens > 5000


def test_history_has_no_gaps():
    turns = (turn(1, "short"), turn(2, "long " * 500), turn(3, "short"))
    fitted = fit(Slots("hi", recent_turns=turns), 300, a_policy())
    assert [message.message_id for message in fitted.slots.recent_turns] == ["m3.0"]


def test_the_users_message_is_never_cut():
    slots = Slots("问" * 300, working_summary="Goals", evidence=(evidence(1),), recent_turns=(turn(1),))
    fitted = fit(slots, 200, a_policy())
    assert fitted.slots == Slots(slots.user_message)
    assert fitted.over_limit
    assert {(entry.slot, entry.reason) for entry in fitted.dropped} == {
        ("working_summary", "budget"),
        ("evidence", "budget"),
        ("recent_turns", "budget"),
    }
    assert not fit(Slots("问" * 200), 200, a_policy()).over_limit


def test_what_is_given_up_first():
    """System blocks, then the best evidence, the summary, the newest messages, the rest of the evidence."""
    slots = Slots(
        user_message="hi",
        system_blocks=(block("rule " * 30),),
        working_summary="sum " * 60,
        recent_turns=(turn(1, "talk " * 60),),
        evidence=tuple(evidence(n, "fact " * 40) for n in range(1, 7)),
    )
    whole = fit(slots, 8192, a_policy())
    assert whole.dropped == ()
    seen = []
    for limit in range(whole.used, 0, -5):
        fitted = fit(slots, limit, a_policy())
        here = (
            bool(fitted.slots.system_blocks),
            bool(fitted.slots.evidence),
            bool(fitted.slots.working_summary),
            bool(fitted.slots.recent_turns),
            len(fitted.slots.evidence) > 3,
        )
        seen.append(here)
    gone = [next(place for place, state in enumerate(seen) if not state[part]) for part in range(5)]
    assert gone == sorted(gone, reverse=True)
    assert len(set(gone)) == 5


def test_system_blocks_and_summary_have_limits_of_their_own():
    slots = Slots(
        "hi",
        system_blocks=(block("rule " * 30, number=1), block("rule " * 200, number=2), block("short", number=3)),
        working_summary="\n".join(f"- point {n}" for n in range(200)),
    )
    fitted = fit(slots, 8192, a_policy(system_blocks_max_tokens=120, summary_max_tokens=50))
    assert [kept.text for kept in fitted.slots.system_blocks] == ["rule " * 30, "short"]
    assert names(fitted.dropped, "system_blocks") == [(str(uid(2)), "budget")]
    assert count_tokens(fitted.slots.working_summary) <= 50
    assert fitted.slots.working_summary.startswith("- point 0\n")
    assert names(fitted.truncated, "working_summary") == [("working_summary", "budget")]


def test_headings_count_too():
    for slots in (
        Slots("hi", system_blocks=(block("rule " * 30),)),
        Slots("hi", working_summary="sum " * 60),
        Slots("hi", evidence=(evidence(1, "fact " * 30),)),
    ):
        whole = fit(slots, 8192, a_policy()).used
        used = [fit(slots, limit, a_policy()).used for limit in range(1, whole + 10)]
        assert all(count <= limit for limit, count in enumerate(used, start=1))
        assert used[-1] == whole


def test_evidence_of_the_name_that_is_asked_about_stays_before_better_ones():
    ranked = (*(evidence(n, "fact " * 40) for n in range(1, 6)), evidence(9, "fact " * 40, covers=["Zanzibar"]))
    fitted = fit(Slots("hi", evidence=ranked), 240, a_policy())
    assert str(uid(9)) in [item.id for item in fitted.slots.evidence]
    assert fitted.slots.evidence[0].id == str(uid(1))
    assert len(fitted.slots.evidence) + len(fitted.dropped) == 6


def test_conflicts_and_notices_crowd_out_no_evidence():
    slots = Slots(
        "hi",
        evidence=tuple(evidence(n, "fact " * 20) for n in range(1, 9)),
        conflicts=tuple(a_conflict(n) for n in range(1, 21)),
        notices=(a_notice(1), a_notice(2)),
    )
    fitted = fit(slots, 1000, a_policy())
    assert (len(fitted.slots.evidence), len(fitted.slots.notices)) == (8, 2)
    assert 0 < len(fitted.slots.conflicts) < 20
    assert len(names(fitted.dropped, "conflicts")) == 20 - len(fitted.slots.conflicts)


TEXT = st.text(max_size=300)


@given(
    user=st.text(max_size=60),
    summary=TEXT,
    blocks=st.lists(TEXT, max_size=4),
    talk=st.lists(st.tuples(st.integers(1, 5), TEXT, st.sampled_from(["user", "assistant", "tool"])), max_size=8),
    facts=st.lists(TEXT, max_size=8),
    told=st.lists(TEXT, max_size=4),
    limit=st.integers(1, 900),
)
def test_the_budget_holds_and_nothing_vanishes_without_a_reason(user, summary, blocks, talk, facts, told, limit):
    slots = Slots(
        user_message=user,
        system_blocks=tuple(block(text, number=n) for n, text in enumerate(blocks, start=1)),
        working_summary=summary,
        recent_turns=tuple(
            turn(n, text, role, place) for place, (n, text, role) in enumerate(sorted(talk, key=lambda said: said[0]))
        ),
        evidence=tuple(evidence(n, text) for n, text in enumerate(facts, start=1)),
        conflicts=tuple(a_conflict(n, text) for n, text in enumerate(told, start=1)),
        notices=tuple(a_notice(n, text) for n, text in enumerate(told, start=1)),
    )
    fitted = fit(slots, limit, a_policy(recent_turns_max=3))
    assert fitted.used == tokens(fitted.slots)
    assert fitted.used <= max(limit, count_tokens(user))
    assert fitted.over_limit == (count_tokens(user) > limit)
    assert fitted.slots.user_message == user
    for slot, given_ids, kept_ids in (
        ("evidence", [e.id for e in slots.evidence], [e.id for e in fitted.slots.evidence]),
        ("conflicts", [str(c.id) for c in slots.conflicts], [str(c.id) for c in fitted.slots.conflicts]),
        ("notices", [str(n.id) for n in slots.notices], [str(n.id) for n in fitted.slots.notices]),
        (
            "recent_turns",
            [m.message_id for m in slots.recent_turns],
            [m.message_id for m in fitted.slots.recent_turns],
        ),
        (
            "system_blocks",
            [str(b.source.memory_item_id) for b in slots.system_blocks],
            [str(b.source.memory_item_id) for b in fitted.slots.system_blocks],
        ),
    ):
        gone = [entry.id for entry in fitted.dropped if entry.slot == slot]
        assert sorted(kept_ids + gone) == sorted(given_ids)
        assert kept_ids == [given_id for given_id in given_ids if given_id in kept_ids]
    summary_gone = [entry for entry in (*fitted.dropped, *fitted.truncated) if entry.slot == "working_summary"]
    assert (fitted.slots.working_summary == summary) != bool(summary_gone)


def test_conflicts_that_go_with_their_text_are_named_and_cost_nothing():
    slots = Slots(user_message="m", conflicts=(a_conflict(1), a_conflict(2)))
    fitted = fit(slots, 4000, a_policy())
    left = without_conflicts(fitted, fitted.slots.conflicts[:1])
    assert left.slots.conflicts == fitted.slots.conflicts[:1]
    assert names(left.dropped, "conflicts") == [(str(fitted.slots.conflicts[1].id), "budget")]
    assert left.used == tokens(left.slots) < fitted.used
