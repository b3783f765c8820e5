"""The working summary: when it is made, and its five headings (behavioural specification 2.6)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernel.text import one_line
from kernel.tokens import count_tokens

HEADINGS = ("Goals", "Decisions", "Tasks", "Key References", "Open Questions")
SUMMARISED = ("goals", "decisions", "tasks")
PER_HEADING = 5
MAX_LINE = 200
PRESSURE = 0.7
# An assistant that only puts a question off leaves it open.
_PUT_OFF = re.compile(
    r"(?:(?:sorry|unfortunately|hmm|good question|honestly|抱歉|不好意思|这个|目前|暂时|我)[,，.。!！:]?\s*)*"
    r"(?:i(?:'m| am)? (?:(?:do not|don't) (?:know|have (?:that|this|the answer))|(?:not|un)\s?sure|(?:cannot|can't) (?:say|tell))"
    r"|(?:let me|i(?:'ll| will)) (?:check|ask|find out|look into|get back)|no idea"
    r"|(?:还|暂时|目前|也)*(?:不知道|不清楚|不确定|没有答案)|(?:我|让我)?(?:去|先|会)*(?:问一下|问问|查一下|查查|确认一下))",
    re.IGNORECASE,
)
_TURNS = re.compile(r"\b(?:but|however)\b|但|不过", re.IGNORECASE)
_LONGEST_PUT_OFF = 120  # a longer reply says something after all


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the recent window."""

    role: str
    text: str


def trigger(turns_since: int, threshold: int, window_tokens: int, token_limit: int, staged: bool) -> str:
    """Why a summary is due now, first reason first; `not_triggered` where none is."""
    if turns_since >= threshold:
        return "turn_threshold"
    if window_tokens > PRESSURE * token_limit:
        return "token_pressure"
    return "stage_event" if staged else "not_triggered"


def window_tokens(recent: Sequence[Line]) -> int:
    """Tokens of the recent window."""
    return sum(count_tokens(message.text) for message in recent)


def render(items: Mapping[str, Sequence[str]], references: Sequence[str], recent: Sequence[Line]) -> str:
    """The summary text: five fixed headings with at most five lines each, newest first; `None` where there is none.

    `items` maps `goals`, `decisions` and `tasks` to statements, newest first.
    """
    filled = {
        "Goals": items.get("goals", ()),
        "Decisions": items.get("decisions", ()),
        "Tasks": items.get("tasks", ()),
        "Key References": references,
        "Open Questions": open_questions(recent),
    }
    parts = []
    for heading in HEADINGS:
        lines = [f"- {one_line(text, MAX_LINE)}" for text in list(filled[heading])[:PER_HEADING]] or ["- None"]
        parts.append("\n".join([f"## {heading}", *lines]))
    return "\n\n".join(parts)


def open_questions(recent: Sequence[Line]) -> list[str]:
    """Questions of the user that nobody has answered yet, newest first: no assistant has spoken after them."""
    waiting: list[str] = []
    for message in recent:
        if message.role == "assistant" and message.text.strip() and not _puts_off(message.text):
            waiting = []
        elif message.role == "user":
            waiting += [part for part in sentences(message.text) if part.endswith(("?", "？"))]
    return list(reversed(waiting))


def _puts_off(text: str) -> bool:
    """Whether a reply only says that the answer is not known yet."""
    said = text.strip().replace("’", "'")
    return len(said) <= _LONGEST_PUT_OFF and bool(_PUT_OFF.match(said)) and not _TURNS.search(said)


def sentences(text: str) -> list[str]:
    """The sentences of a text in either language, none of them empty."""
    parts, start = [], 0
    for place, char in enumerate(text):
        if char in "?？!！。\n" or (char == "." and text[place + 1 : place + 2] in ("", " ", "\n")):
            parts.append(text[start : place + 1].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
