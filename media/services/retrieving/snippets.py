"""Cutting a snippet out of a text: just so many characters, around the words that were looked for."""

from __future__ import annotations

from kernel import tokens

_MAX_PLACES = 50  # places of one word that are looked at
_LEAD = 4  # a quarter of the room that is left stands before the words


def snippet(text: str, query: str, length: int, policy: str) -> str:
    """At most `length` characters, and just so many of a longer text; from its start where the policy is `head` or none
    of the words is in it."""
    start, end = window(text, query, length, policy)
    return text[start:end]


def window(text: str, query: str, length: int, policy: str) -> tuple[int, int]:
    """Where the snippet begins and ends in the text."""
    if len(text) <= length:
        return 0, len(text)
    start = 0 if policy == "head" else _start(text, query, length)
    return start, start + length


def _start(text: str, query: str, length: int) -> int:
    """Where the window begins that holds most of the words."""
    lowered = text.lower()
    if len(lowered) != len(text):
        return 0  # a letter that grows when it is made small would shift all places
    places = sorted(place for term in tokens.query_terms(query) for place in _places(lowered, term))
    best, first, last = 0.0, 0, 0
    for at, (place, _, _) in enumerate(places):
        inside = [entry for entry in places[at:] if entry[0] + entry[1] <= place + length]
        worth = sum({term: float(len(term)) for _, _, term in inside}.values())
        if worth > best:
            best, first, last = worth, place, max(entry[0] + entry[1] for entry in inside)
    lead = (length - (last - first)) // _LEAD
    return max(min(first - lead, len(text) - length), 0)


def _places(text: str, term: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    place = text.find(term)
    while place >= 0 and len(found) < _MAX_PLACES:
        found.append((place, len(term), term))
        place = text.find(term, place + 1)
    return found
