"""What a conversion gives, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one conversion may cost; over a limit it is refused, never cut. `expanded` is how many bytes an archive may
    unfold to, `chars` how long the text may become."""

    seconds: float = 60.0
    memory: int = 1_073_741_824
    pages: int = 2_000
    chars: int = 10_000_000
    expanded: int = 268_435_456


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as Markdown. `pages` are the places in `text` at which its pages begin, empty where it has none.

    Title, author and description are what the document says of itself, empty where it says nothing. `language` is
    guessed from its script. `warnings` name what was lost or guessed, each with a reason code.
    """

    text: str
    pages: tuple[int, ...] = ()
    title: str = ""
    author: str = ""
    description: str = ""
    language: str = "en"
    warnings: tuple[str, ...] = ()
