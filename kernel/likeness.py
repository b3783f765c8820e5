"""When two texts say so nearly the same that a person may decide on both alike: they have one likeness.

It looks through letter case, punctuation, a few empty words, plurals, contractions, other names of one thing, the order of
a list, and the number of a run that ended ("build 1234 failed"). Any other number, sign, negation, tense, modal or name
that differs makes two likenesses, and so does word order: rather two groups than one in which facts differ. A text over
4,000 characters is alike to its equals only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kernel.canonical import digest
from kernel.restate import EMPTY_WORDS, PUNCTUATION, pieces

LONGEST = 4000
_EMPTY = EMPTY_WORDS | {"we", "our", "kindly", "fyi", "btw", "already", "simply", "basically"}
_SAME = {
    other: name
    for name, others in {
        "postgres": "postgresql pg",
        "database": "db dbs databases",
        "repository": "repo repos repositories",
        "configuration": "config configs configurations",
        "production": "prod",
        "kubernetes": "k8s",
        "javascript": "js",
        "typescript": "ts",
        "environment": "env",
        "documentation": "docs doc",
        "email": "e-mail e-mails emails",
        "use": "utilize utilise utilizes utilises",
        "canceled": "cancelled",
        "and": "& 和 与 及",
        "or": "或",
    }.items()
    for other in [name, *others.split()]
}
_HAN_SAME = (
    (re.compile("使用|采用"), "用"),
    (re.compile("我们|咱们|已经|已"), " "),
    (re.compile("资料库"), "数据库"),
    (re.compile("以及"), "和"),
    (re.compile("或者"), "或"),
)
_NOT = {"cannot": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not")}
_IS = re.compile(r"^(it|that|there|here|what|who|he|she)'s$")
_NO_PLURAL = re.compile(r"(?:ss|us|is|news)$")

_ENDED = (
    "failed|fails|passed|passes|succeeded|succeeds|crashed|crashes|aborted|timed out|times out|cancell?ed|errored|hung"
)
_RUN = re.compile(
    rf"\b(builds?|runs?|pipelines?|attempts?|executions?)\s*(?:number\s+|no\.\s*|#\s*)?\d+(?=\s+(?:was |has |had )?(?:{_ENDED})\b)"
    r"|(构建|运行|流水线|编译)\s*#?\s*\d+\s*(?=(?:已经|已)?(?:失败|成功|通过|超时|取消|中断|崩溃))"
    r"|第\s*\d+\s*次\s*(?=(?:构建|运行|编译)(?:已经|已)?(?:失败|成功|通过|超时|取消|中断|崩溃))",
    re.IGNORECASE,
)
_TOLD_TO = re.compile(
    r"\b(?:use|deploy|ship|release|promote|pin|revert|roll|keep|merge|block|must|should|shall|needs?|will|do not|don't|never)\b"
    r"|[部发]署|发布|回滚|必须|应|需|要|请|勿|别|采用|使用"
)

_JOINS = frozenset({",", "、", "and", "or"})
_NO_ITEM = frozenset(
    ("not", "no", "nor", "never", "neither", "without", "than", "to", "from", "of", "in", "at", "by", "for", "with", "as",
     "on", "if", "when", "while", "but", "it", "they", "he", "she", "you", "i", "this", "these", "those", "which", "who",
     "must", "should", "shall", "can", "will", "would", "may", "might", "was", "were", "had", "did", "been", "only")
)  # fmt: skip
_DOING = frozenset(
    ("add", "apply", "approve", "archive", "ask", "backup", "build", "call", "check", "clean", "clone", "close", "commit",
     "compile", "copy", "create", "delete", "deploy", "disable", "download", "drain", "drop", "edit", "enable", "encrypt",
     "export", "fetch", "fix", "flush", "format", "import", "index", "install", "lint", "load", "lock", "log", "measure",
     "merge", "migrate", "move", "open", "pause", "plan", "publish", "pull", "push", "read", "rebase", "reboot", "rebuild",
     "release", "reload", "remove", "rename", "replace", "reset", "restart", "restore", "resume", "retry", "revert",
     "review", "rotate", "run", "save", "scan", "seal", "send", "ship", "sign", "squash", "start", "stop", "sync", "tag",
     "test", "train", "unlock", "update", "upgrade", "upload", "validate", "verify", "wait", "warn", "write")
)  # fmt: skip
_ORDERED = re.compile(
    r"\b(?:then|before|after|first|second|third|next|last|finally|orders?|ordered|priority|sequence|ranks?|ranked|prefer|over|"
    r"respectively|followed|steps?|instead|vs|versus|than|beats)\b|->|→|[<>]|先|再|然后|之后|之前|首先|顺序|优先|依次|排名|分别|比"
)
_HAN = re.compile("[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def likeness(text: str) -> tuple[str, ...]:
    """What makes a text like another, piece by piece; equal for texts that say nearly the same."""
    if len(text) > LONGEST:
        return (digest(text),)
    plain = text if _TOLD_TO.search(text.casefold()) else _RUN.sub(_any_run, text)
    for form, name in _HAN_SAME:
        plain = form.sub(name, plain)
    found = [word for piece in pieces(plain) for word in _words(piece)]
    lists = list(_lists(found)) if not _ORDERED.search(plain.casefold()) else []
    if len(lists) == 1:  # with two, which goes with which may rest on their order
        start, end = lists[0]
        items = [word for word in found[start:end] if word not in _JOINS]
        kind = "or" if "or" in found[start:end] else "and"
        found = [*found[:start], "(", kind, *sorted(items), ")", *found[end:]]
    return tuple(word for word in found if word not in PUNCTUATION - {"(", ")"}) or tuple(plain.casefold().split())


def likeness_of(tree: Any) -> Any:
    """The same for a JSON value: each text in it by its likeness, everything else as it is."""
    if isinstance(tree, str):
        return likeness(tree)
    if isinstance(tree, dict):
        return {name: likeness_of(inner) for name, inner in tree.items()}
    return [likeness_of(inner) for inner in tree] if isinstance(tree, list | tuple) else tree


def _any_run(found: re.Match[str]) -> str:
    return f"{found[1] or found[2] or ''} ¤ "


def _words(piece: str) -> Iterator[str]:
    """The words that a piece stands for; none for an empty one."""
    if piece in _NOT:
        yield from _NOT[piece]
        return
    word, denied, _ = piece.partition("n't") if piece.endswith("n't") else (piece, "", "")
    word = _IS.sub(r"\1", word)
    if word and word not in _EMPTY and word not in ("(", ")"):
        yield _SAME.get(word) or _singular(word)
    if denied:
        yield "not"


def _singular(word: str) -> str:
    plural = len(word) > 3 and word.isascii() and word.isalpha() and word.endswith("s")
    return word[:-1] if plural and not _NO_PLURAL.search(word) else word


def _lists(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where lists of single words stand: three with commas, or two with a word that joins them."""
    start = 0
    while start < len(words):
        end, items, joins = start, 0, set()
        while end < len(words) and _is_item(words[end]):
            items += 1
            after = end + 1
            while after < len(words) and words[after] in _JOINS:
                after += 1
            if after == end + 1 or after == len(words) or not _is_item(words[after]):
                end += 1
                break
            joins |= {*words[end + 1 : after]}
            end = after
        joined = joins & {"and", "or"}
        if start and len(joined) < 2 and (items > 2 or (items == 2 and joined)):
            yield start, end
        start = max(end, start + 1)


def _is_item(word: str) -> bool:
    named = word not in _JOINS and word not in PUNCTUATION and word not in _NO_ITEM and word not in _DOING
    return named and word.isprintable() and any(map(str.isalnum, word)) and not _HAN.match(word)
