"""Editing the input of a proposed call: its texts as fields, and all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from kernel.errors import InvalidInputError

TEXTS = frozenset(
    [
        "answer",
        "content",
        "decision",
        "description",
        "document",
        "key",
        "object",
        "predicate",
        "preference",
        "reason",
        "remember",
        "statement",
        "subject",
        "summary",
        "text",
        "title",
        "value",
    ]
)
MOST_FIELDS = 30
NAME = "field:"


@dataclass(frozen=True, slots=True)
class TextField:
    """One text of the input that can be edited by itself."""

    name: str
    label: str
    text: str
    rows: int


def text_fields(given: Mapping[str, Any]) -> list[TextField]:
    """The texts of an input that people may want to reword, thirty at most."""
    found = []
    for path, text in _texts(given, ()):
        name = NAME + json.dumps(path, ensure_ascii=False)
        label = ".".join(str(part) for part in path)
        found.append(TextField(name, label, text, min(max(2, len(text) // 80 + text.count("\n") + 1), 12)))
        if len(found) == MOST_FIELDS:
            break
    return found


def edited(given: Mapping[str, Any], sent: Mapping[str, str]) -> dict[str, Any]:
    """The input as a form changed it: the whole of it where its JSON was changed, else its texts. Raises
    InvalidInputError where the JSON is none."""
    whole = sent.get("input", "")
    if whole.strip():
        try:
            tree = json.loads(whole)
        except (ValueError, RecursionError) as exc:
            raise InvalidInputError(f"The input is not valid JSON: {exc}") from exc
        if not isinstance(tree, dict):
            raise InvalidInputError("The input must be a JSON object.")
        if tree != given:
            return tree
    tree = deepcopy(dict(given))
    known = {field.name: field.text for field in text_fields(given)}
    for name, text in known.items():
        said = sent.get(name)
        if said is not None and _lines(said) != _lines(text):
            _put(tree, json.loads(name.removeprefix(NAME)), _lines(said))
    return tree


def _texts(tree: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(tree, Mapping):
        for name, inner in tree.items():
            if isinstance(inner, str):
                if name in TEXTS:
                    yield (*path, name), inner
            else:
                yield from _texts(inner, (*path, name))
    elif isinstance(tree, list):
        for place, inner in enumerate(tree):
            yield from _texts(inner, (*path, place))


def _lines(text: str) -> str:
    """The text with each end of a line as a newline: a browser sends every kind as CR and LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _put(tree: Any, path: list[str | int], text: str) -> None:
    for part in path[:-1]:
        tree = tree[part]
    tree[path[-1]] = text
