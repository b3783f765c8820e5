"""The address of the queue is its filter: reading it, writing it, and saying it in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import parse_qsl, urlencode

from governance.contracts import QueueName, Risk

QUEUES: tuple[str, ...] = get_args(QueueName)
WORDS = {
    "domain_id": "Domain",
    "scope": "Scope",
    "action": "Action",
    "proposer": "Proposed by",
    "risk": "Risk",
    "min_age_hours": "At least so many hours old",
    "has_conflict": "Touches a contradiction",
    "rule": "Held by rule",
    "text": "Holds the text",
    "similar_to": "Like the proposal",
    "mentions_me": "Names me in a comment",
}
# Fields with the values that occur to choose from, each with a hint where one is typed.
PICKED = {"domain_id": "my-team", "scope": "project:*", "action": "commit_turn", "proposer": "", "rule": ""}
RISKS = [each.value for each in Risk]
AGES = [("1", "an hour"), ("24", "a day"), ("72", "three days"), ("168", "a week"), ("720", "30 days")]


@dataclass(frozen=True, slots=True)
class Address:
    """The filters that an address names, as text: what is empty or unknown is left out."""

    fields: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Address:
        """The filters among parameters of a request."""
        names = ("queue", *WORDS)
        fields = {name: given[name].strip() for name in names if given.get(name, "").strip()}
        return cls({"queue": "open", **fields})

    @classmethod
    def read(cls, query: str) -> Address:
        """The filters in a query string, such as a form carries along."""
        return cls.of(dict(parse_qsl(query[:4000].replace("\x00", ""))))

    @property
    def query(self) -> str:
        """The query string that names them."""
        return urlencode(self.fields)

    @property
    def narrowed(self) -> list[tuple[str, str, str]]:
        """What narrows the queue: its words, its value and the query string without it."""
        return [(WORDS[name], value, self.but(name)) for name, value in self.fields.items() if name in WORDS]

    def but(self, *names: str) -> str:
        """The query string without some of them."""
        return urlencode({name: value for name, value in self.fields.items() if name not in names})

    def into(self, queue: str) -> str:
        """The query string of another queue with the same filters."""
        return urlencode({**self.fields, "queue": queue})

    def given(self) -> dict[str, Any]:
        """The input of an action: numbers and truth values as such, where they are. The contract refuses the rest."""
        found: dict[str, Any] = dict(self.fields)
        for name in ("has_conflict", "mentions_me"):
            if name in found:
                found[name] = {"true": True, "false": False}.get(found[name], found[name])
        if found.get("min_age_hours", "").isascii() and found.get("min_age_hours", "").isdigit():
            found["min_age_hours"] = int(found["min_age_hours"][:9])
        return found
