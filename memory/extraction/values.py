"""What extraction works on: things said, proposals, and cues that were rejected with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import JsonValue

Kind = Literal["write", "retract", "task_status"]
Value = dict[str, JsonValue]

USER_ASSERTED = 0.8
INFERRED = 0.6


@dataclass(frozen=True)
class Said:
    """One message. Text that came out of memory never becomes evidence: all of it (`recalled`), or these `spans`."""

    role: str
    name: str
    text: str
    recalled: bool = False
    spans: tuple[tuple[int, int], ...] = ()

    @cached_property
    def own_words(self) -> str:
        """The text, of the same length, with line ends in the place of the spans that came out of memory."""
        kept, done = [], 0
        for start, end in self.spans:
            kept += [self.text[done:start], "\n" * (end - start)]
            done = end
        return "".join([*kept, self.text[done:]])

    @cached_property
    def recalled_words(self) -> str:
        """What came out of memory, at its place, with line ends in the place of everything else."""
        if self.recalled:
            return self.text
        kept, done = [], 0
        for start, end in self.spans:
            kept += ["\n" * (start - done), self.text[start:end]]
            done = end
        return "".join(kept)


@dataclass(frozen=True)
class Proposed:
    """A change that the words ask for: `span` is its place in the message of that number.

    `explicit`: the user asked for it to be remembered or forgotten. A retraction's value names the reason; a retraction
    of a profile also names the facts to take out, because other facts stand under the same key.
    """

    kind: Kind
    type: str
    key: str
    value: Value
    statement: str
    confidence: float
    explicit: bool
    rule: str
    message: int
    span: tuple[int, int]


@dataclass(frozen=True)
class Skipped:
    """A cue that fired and was rejected; secrets in the text are blotted out."""

    message: int
    reason: str
    text: str


@dataclass(frozen=True)
class Draft:
    """A typed statement before it is known who said it and how."""

    type: str
    key: str
    value: Value
    statement: str
    kind: Kind = "write"


class Rejected(Exception):
    """A cue led to nothing; `reason` is the code that the answer shows."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
