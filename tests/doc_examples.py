"""Examples in the documentation as calls: read out of the pages, made in order, and compared with the answers shown.

A block fenced as `json <action>` is the input of that action, and so is the `-d '…'` of a `curl` to `/v1/<action>` in a
`sh` block. A block fenced as `json answer` is what it answers; `json refusal` is the problem body. Both are shortened:
members that a page leaves out may be there, and `…` stands for anything. A text `<name>` in an answer gives the value a
name, and stands for it in later inputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANY = "…"
_FENCE = re.compile(r"^```(?P<kind>\S+)(?: (?P<what>\w+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_CURL = re.compile(r"/v1/(?P<what>\w+)\b[^']*(?:'[^'{][^']*'[^']*)*'(?P<text>\{.*?\})'", re.DOTALL)
_ACT = re.compile(r"manage\.py act (?P<what>\w+) '(?P<text>\{.*?\})'", re.DOTALL)
_NAME = re.compile(r"<\w+>")


@dataclass
class Example:
    """One call and, where the page shows it, what it answers."""

    action: str
    given: dict[str, Any]
    answer: dict[str, Any] | None = None
    refused: bool = False


def calls(path: Path) -> list[Example]:
    """The calls of a page in order, as HTTP and MCP clients make them."""
    found: list[Example] = []
    for block in _FENCE.finditer(path.read_text("utf-8")):
        kind, what, text = block["kind"], block["what"], block["text"]
        if kind == "sh":
            found += [Example(curl["what"], json.loads(curl["text"])) for curl in _CURL.finditer(text)]
        elif kind == "json" and what in ("answer", "refusal"):
            found[-1].answer, found[-1].refused = json.loads(text), what == "refusal"
        elif kind == "json" and what:
            found.append(Example(what, json.loads(text)))
    return found


def commands(path: Path) -> Iterator[Example]:
    """The calls that a page makes with `manage.py act`."""
    for act in _ACT.finditer(path.read_text("utf-8")):
        yield Example(act["what"], json.loads(act["text"]))


def filled(tree: Any, known: dict[str, Any]) -> Any:
    """The input with the values that earlier answers named."""
    if isinstance(tree, dict):
        return {name: filled(value, known) for name, value in tree.items()}
    if isinstance(tree, list):
        return [filled(value, known) for value in tree]
    return known.get(tree, tree) if isinstance(tree, str) else tree


def differences(shown: Any, real: Any, known: dict[str, Any], at: str = "") -> Iterator[str]:
    """Where an answer is not what the page shows."""
    if shown == ANY:
        return
    if isinstance(shown, str) and _NAME.fullmatch(shown):
        known.setdefault(shown, real)
        shown = known[shown]
    if isinstance(shown, dict) and isinstance(real, dict):
        for name, value in shown.items():
            yield from differences(value, real.get(name, f"no {name!r}"), known, f"{at}.{name}")
    elif isinstance(shown, list) and isinstance(real, list):
        yield from _in_order(shown, real, known, at)
    elif isinstance(shown, str) and ANY in shown:
        if not re.fullmatch(".*".join(map(re.escape, shown.split(ANY))), str(real), re.DOTALL):
            yield f"{at}: {real!r}"
    elif shown != real:
        yield f"{at}: {real!r}"


def _in_order(shown: list[Any], real: list[Any], known: dict[str, Any], at: str) -> Iterator[str]:
    """Every entry shown, in order; only an entry `…` lets entries be left out."""
    wanted = [entry for entry in shown if entry != ANY]
    if len(wanted) == len(shown):
        if len(real) != len(shown):
            yield f"{at}: {len(real)} entries"
        for place, (entry, given) in enumerate(zip(wanted, real, strict=False)):
            yield from differences(entry, given, known, f"{at}[{place}]")
        return
    rest = iter(real)
    for place, entry in enumerate(wanted):
        if not any(not list(differences(entry, given, dict(known))) for given in rest):
            yield f"{at}[{place}]: not among {real!r}"
