"""Documents that an agent imports, what of them is found, and with what the rest is refused."""

from __future__ import annotations

import pytest

from kernel.errors import DomainError
from tests.conftest import TEAM, Cast, Player, make_agent

PROJECT = {"type": "project", "id": "shop"}
TEXT = "# Plan\n\nAn introduction.\n\n## Database\n\nThe default database is Postgres.\n\n## 水果\n\n我们喜欢西瓜。\n"


def add(player: Player, text: str = TEXT, /, scopes: tuple = (), source: str = "", **options: object) -> dict:
    """Import a text, or what `source` or `data` names; the answer."""
    inline = {} if source or "data" in options else {"text": text}
    return player.do("add_document", domain_id=TEAM, source=source, options={**inline, **options}, scopes=list(scopes))


def refused(player: Player, action: str, /, **fields: object) -> tuple[int, str]:
    """The status and code with which a call is refused."""
    with pytest.raises(DomainError) as told:
        player.do(action, **fields)
    return told.value.status, told.value.code


def found(player: Player, query: str, scope: dict = PROJECT) -> list[str]:
    """The texts of the sections that a search of that scope finds."""
    place = {"domain_id": TEAM, "scope_context": {"read": [scope]}}
    return [each["text"] for each in player.do("search_memory", place, query=query, kinds=["section"])["results"]]


def sections(player: Player, document_id: str) -> list[dict]:
    """The sections of a document, in order."""
    found: list[dict] = player.do("get_document", document_id=document_id)["sections"]
    return found


@pytest.fixture
def peer(cast: Cast) -> Player:
    """Another agent of the team, who owns nothing."""
    return make_agent("peer", TEAM)
