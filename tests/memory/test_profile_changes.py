"""Changes of a profile as somebody decides them: what they say is written, and only what a text tells is added."""

from __future__ import annotations

from memory.models import MemoryItem
from tests.conftest import Player
from tests.memory.acting import SHOP, TASK, correct
from tests.memory.talk import VERIFIED, commit, context, only, ref

CITY, SPOUSE = {"k": "city", "v": "Berlin"}, {"k": "spouse", "v": "Ann"}


def profile(player: Player, *facts: dict[str, str], scope: str = SHOP) -> str:
    given = [{"key": "profile:ben", "facts": list(facts)}]
    return str(only(commit(player, scopes=context(scope), profile=given))["id"])


def facts(item_id: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = MemoryItem.objects.get(pk=item_id).value["facts"]
    return found


def test_it_works(cast):
    """A correction takes a fact away, wherever it stands in the profile."""
    row = profile(cast.agent, CITY, SPOUSE)
    new = correct(cast.agent, row, value={"facts": [CITY]})["item"]
    assert [(fact["k"], fact["v"]) for fact in facts(new["id"])] == [("city", "Berlin")]
    assert "Ann" not in new["statement"]
    other = profile(cast.agent, CITY, SPOUSE, scope=TASK)
    left = correct(cast.agent, other, value={"facts": [SPOUSE]})["item"]
    assert [fact["k"] for fact in facts(left["id"])] == ["spouse"]


def test_the_words_of_a_promotion_are_kept(cast):
    profile(cast.agent, SPOUSE, scope=SHOP)
    source = profile(cast.agent, CITY, scope=TASK)
    body = {"memory_item_id": source, "target_scope": ref(SHOP), "reason": "for all", "text": "Ben lives in Berlin"}
    assert cast.reviewer.do("promote_to_scope", body | VERIFIED)["item"]["statement"] == "Ben lives in Berlin"


def test_what_a_text_tells_is_added(cast):
    first = commit(cast.agent, scopes=context(SHOP), say="My name is Ann.")
    commit(cast.agent, scopes=context(SHOP), say="I work at Octo.")
    row = MemoryItem.objects.get(key=only(first)["key"], current_until=None)
    assert [fact["k"] for fact in row.value["facts"]] == ["name", "employer"]
