"""One sentence under work: its cues, and what the earlier ones said about the later."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from memory.extraction import corrections, shapes
from memory.extraction.cue import Hit
from memory.extraction.guards import objection
from memory.extraction.reading import Reading, Sentence
from memory.extraction.statuses import Board
from memory.extraction.values import Draft, Rejected
from memory.extraction.words import OPENERS_EN

_CLAUSE_START = re.compile(r"[,;:]\s*(?:and |but |so |then )?|\s(?:and|but|so|because) |,|并且|但是?|所以")
# "From now on things get better" tells a story; it orders nothing.


@dataclass
class Scene:
    """One sentence under work: its cues, how far the work has come, and what the earlier cues said about the later."""

    number: int
    reading: Reading
    sentence: Sentence
    hits: list[Hit]
    board: Board
    subject: str
    antecedent: Callable[[], Draft | None]
    at: int = 0
    explicit: bool = False
    retract: bool = False
    denied: bool = False
    standing: bool = False
    wrapper: Hit | None = None
    lead_rule: Hit | None = None
    cued: str = ""
    swallowed: int = 0
    secret: bool | None = None
    added: list[int] = field(default_factory=list)
    span: tuple[int, int] = field(default=(0, 0))

    @property
    def hit(self) -> Hit:
        return self.hits[self.at]

    def rule(self) -> Hit:
        """The cue that a proposal is credited to."""
        return self.lead_rule or self.hit

    def is_last(self) -> bool:
        return self.at == len(self.hits) - 1

    def content_end(self) -> int:
        end = self.sentence.end if self.is_last() or self.swallowed else self.hits[self.at + 1].start
        asked = self.sentence.asked_from
        return asked if self.hit.end <= asked < end else end

    def content(self) -> str:
        """The words after the cue, as they were written; marks where they stand."""
        whole = self.hit.groups.get("all") or ""
        start, end = (self.hit.end - len(whole), self.hit.end) if whole else (self.hit.end, self.content_end())
        text = shapes.clean(self.reading.text[start:end])
        if self.retract:
            text = corrections.without_tail(text)
        self._mark(self.hit.start, end)
        return text

    def statement(self) -> str:
        """The cue and the words after it."""
        end = self.hit.end if self.hit.groups.get("all") else self.content_end()
        return shapes.clean(self.reading.text[self.hit.start : end])

    def clause_before(self) -> str:
        """The words from the start of the clause to the cue."""
        start = self.hits[self.at - 1].end if self.at else self.sentence.start
        for match in _CLAUSE_START.finditer(self.reading.view, start, self.hit.start):
            if match.end() < self.hit.start:
                start = match.end()
        self._mark(start, self.content_end())
        return shapes.clean(self.reading.text[start : self.hit.start])

    def _mark(self, start: int, end: int) -> None:
        text = self.reading.text
        while end > start and text[end - 1].isspace():
            end -= 1
        self.span = (
            self.wrapper.start if self.wrapper and self.wrapper.end <= start and not self.cued else start,
            end,
        )

    def lead_end(self) -> int:
        return self.hits[0].start if self.hits else self.sentence.end

    def lead(self) -> bool:
        """Whether words of weight stand before the first cue."""
        view = self.reading.view[self.sentence.start : self.lead_end()]
        return any(char.isalnum() for char in view) and not all(
            word in OPENERS_EN for word in re.findall(r"[^\s,]+", view)
        )

    def is_plain(self, following: Hit) -> bool:
        """Whether a clause that reads as a decision by itself is, after "remember", just what is to be remembered."""
        whole = following.cue.kind == "decide" and bool(following.groups.get("all"))
        return whole and self.hit.cue.kind == "remember"

    def wraps(self) -> bool:
        """Whether this cue only says how to take the next one. Raises Rejected where it does not count."""
        reason = objection(self.reading, self.sentence, self.hit, "")
        if reason:
            raise Rejected(reason)
        kind = self.hit.cue.kind
        if self.hit.groups.get("all") or (not self.is_last() and self.is_plain(self.hits[self.at + 1])):
            return False
        gap = self.reading.view[self.hit.end : self.content_end()]
        following = None if self.is_last() else self.hits[self.at + 1]
        joined = (
            following is not None
            and bool(gap.strip())
            and gap.rstrip()[-1] not in ",;:"
            and not following.cue.anchored
        )
        claims = following is not None and following.cue.kind not in {"done", "blocked", "no_longer", "standing"}
        if any(char.isalnum() for char in self.reading.text[self.hit.end : self.content_end()]) and not (
            joined and claims
        ):
            return False
        self.explicit |= kind in {"remember", "standing"} and self.hit.cue.arg not in {"soft", "scoped"}
        self.retract |= kind == "forget"
        self.denied |= kind == "wrong"
        self.standing |= kind == "standing"
        self.wrapper = self.wrapper or self.hit
        return True
