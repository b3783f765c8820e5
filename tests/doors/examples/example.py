"""What an example of an action says, and the places that examples speak of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.conftest import TEAM, Cast


@dataclass(frozen=True)
class Example:
    """`who` may do it with the input that `given` makes; `refused` names someone whom the gate refuses the same.
    `model` is true where a language model must be configured."""

    who: str
    given: Callable[[Cast], dict]
    refused: str | None
    model: bool = False


PROJECT = {"type": "project", "id": "shop"}
IN_PROJECT = {"scope_context": {"read": [PROJECT], "default_write": PROJECT}}
SHARED = {"type": "global", "id": "all"}
WHY = {"kind": "url", "id": "https://example.org/why"}


def in_team(made: dict) -> dict:
    """A list of what is in the team, where something was made to be listed."""
    assert made
    return {"domain_id": TEAM}
