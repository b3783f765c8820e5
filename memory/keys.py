"""The grammar of memory keys: what the key of each type looks like, and how one is made from any text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from typing import Literal

from kernel.text import is_invisible

KEY_MAX = 300
SLUG_MAX = 60
PREF_SCOPES = ("writing", "coding", "tools", "ui", "other")
ENTITY_KINDS = ("person", "org", "repo", "file", "url", "topic", "other")

# Persian and Indic scripts spell with these two; every other invisible character would make look-alike keys.
_JOINERS = "\u200c\u200d"
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_CJK_MEETS_ASCII = re.compile(rf"(?<=[{_CJK}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{_CJK}])")


@dataclass(frozen=True)
class Grammar:
    """How the key of one type is built: a prefix, then named segments; only the last may hold a colon."""

    prefix: str
    segments: tuple[str, ...]
    example: str
    conflict: Literal["overwrite", "versioned"]

    @property
    def shape(self) -> str:
        return ":".join([self.prefix, *(f"<{name}>" for name in self.segments)])


GRAMMARS: dict[str, Grammar] = {
    "profile": Grammar("profile", ("subject",), "profile:user", "versioned"),
    "preferences": Grammar("pref", ("scope", "name"), "pref:writing:tone", "overwrite"),
    "goals": Grammar("goal", ("project", "name"), "goal:smartbrain:local-first", "overwrite"),
    "tasks": Grammar("task", ("project", "task_id"), "task:smartbot:brain-runtime", "overwrite"),
    "decisions": Grammar("decision", ("project", "topic"), "decision:smartrag:default-database", "versioned"),
    "entities": Grammar("entity", ("kind", "canonical"), "entity:repo:octo/smart_rag", "versioned"),
    "events": Grammar("event", ("project", "date", "slug"), "event:smartbrain:2026-02-20:first-release", "versioned"),
    "cases": Grammar("case", ("domain", "slug"), "case:rag-debug:empty-index", "versioned"),
    "patterns": Grammar("pattern", ("domain", "name"), "pattern:composing:slots-in-order", "versioned"),
    "facts": Grammar("fact", ("subject", "slug"), "fact:default-database:is", "overwrite"),
}
TYPES = tuple(GRAMMARS)


def grammar(type_: str) -> Grammar:
    """The key grammar of a type. Raises ValueError for a type that does not exist."""
    try:
        return GRAMMARS[type_]
    except KeyError:
        raise ValueError(f"unknown memory type {type_!r}; the types are {', '.join(TYPES)}") from None


def conflict_class(type_: str) -> Literal["overwrite", "versioned"]:
    """What a new value does to the old one under the same key: replaces it, or stands beside it as a newer version."""
    return grammar(type_).conflict


def check_key(type_: str, key: str) -> str:
    """The key in NFKC, checked against its type's grammar.

    Raises ValueError whose message says what is wrong and shows a right key.
    """
    rule = grammar(type_)
    normal = unicodedata.normalize("NFKC", key)
    fault = _fault(type_, rule, normal)
    if fault:
        raise ValueError(f"{fault}; a key of type {type_} looks like `{rule.shape}`, for example `{rule.example}`")
    return normal


def _fault(type_: str, rule: Grammar, key: str) -> str:
    if len(key) > KEY_MAX:
        return f"the key has {len(key)} characters, at most {KEY_MAX} are allowed"
    unseen = next((char for char in key if _unseen(char)), "")
    if unseen:
        return f"the key holds the invisible character U+{ord(unseen):04X}"
    prefix, *rest = key.split(":", len(rule.segments))
    if prefix != rule.prefix:
        return f"the key must start with `{rule.prefix}:`"
    if len(rest) < len(rule.segments):
        return f"the key lacks `<{rule.segments[len(rest)]}>`"
    for name, segment in zip(rule.segments, rest, strict=True):
        if not segment.strip():
            return f"`<{name}>` is empty"
        if segment != segment.strip():
            return f"`<{name}>` starts or ends with white space"
    return _closed_lists(type_, rest)


def _closed_lists(type_: str, segments: list[str]) -> str:
    if type_ == "preferences" and segments[0] not in PREF_SCOPES:
        return f"the scope {segments[0]!r} is not one of {', '.join(PREF_SCOPES)}"
    if type_ == "entities" and segments[0] not in ENTITY_KINDS:
        return f"the kind {segments[0]!r} is not one of {', '.join(ENTITY_KINDS)}"
    if type_ == "events" and not _is_date(segments[1]):
        return f"the date {segments[1]!r} is not a day written YYYY-MM-DD"
    return ""


def _is_date(text: str) -> bool:
    if not _ISO_DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _unseen(char: str) -> bool:
    if char in _JOINERS:
        return False
    return char in "\n\t\r" or unicodedata.category(char) == "Cs" or is_invisible(char)


def slug(text: str) -> str:
    """A short, readable, stable name for a text in any script: `The default DB` gives `the-default-db`.

    A text that is cut, or that holds no letter or digit, gets a digest so that two texts do not share a name by accident.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = "".join(char if _spells(char) else " " for char in folded)
    name = "-".join(_CJK_MEETS_ASCII.sub(" ", words).split())
    if name and len(name) <= SLUG_MAX:
        return name
    digest = hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: SLUG_MAX - 9].rstrip('-')}-{digest}" if name else f"x-{digest}"


def _spells(char: str) -> bool:
    return char in _JOINERS or (unicodedata.category(char)[0] in "LNM" and not is_invisible(char))
