"""Whether two texts say the same in almost the same words: so strictly that no changed fact is taken for one.

Only letter case, width, punctuation and a few empty words may differ, in place. A number, sign, unit, negation, date,
tense, pronoun, name or word order that differs makes two statements, and so does the A of "plan A", which is no article.
"""

from __future__ import annotations

import re
import unicodedata

EMPTY_WORDS = frozenset(
    ("a", "an", "the", "is", "are", "be", "that", "please", "just", "really", "very", "also", "actually", "remember",
     "note", "so", "now", "currently", "does", "do", "hm", "hmm", "um", "uh", "oh", "ah", "ok", "okay", "hey", "hi",
     "hello", "thanks", "anyway")
)  # fmt: skip
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_EMPTY_HAN = re.compile("请记住|请注意|记住|请|目前|现在|的|呢|吧|啊|嗯|哦|呃|嘛|啦|哎")
_RAISED = re.compile(
    "([\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u218b\u2460-\u249b\u24ea-\u24ff\u2776-\u2793"
    "\u3192-\u3195\u3220-\u3229\u3248-\u324f\u3251-\u325f\u3280-\u3289\u32b1-\u32bf\U0001f100-\U0001f10c]+)"
)  # raised, lowered, circled and fractional numbers
_LONE_A = re.compile(
    r"((?:^|[.!?:;。\n])[^\w.!?:;。\n]*)?(?<!\w)([Aa])(?!\w)"
    rf"(?=(\s+[\"“‘'(\[*_`]*[^\W{_CJK}])?)"
)
_NAMED_A = "\u1d00"  # a small capital, which folding leaves as it is
_NUMBER = rf"(?:(?<![^\W{_CJK}])[-−+])?\d+(?:[.,:/\-]\d+)*%?"
_TOKEN = re.compile(rf"{_NUMBER}|[{_CJK}]|[^\W\d{_CJK}](?:[^\W{_CJK}]|['’.\-/@](?=[^\W{_CJK}]))*[+#]*|\S")
PUNCTUATION = frozenset(".,;:!…\"“”'‘’()[]{}`*_-–—|。，；：！、·「」『』（）【】《》")


def pieces(text: str) -> list[str]:
    """Every word, number, Han character and sign of a text in order, folded."""
    return _TOKEN.findall(_EMPTY_HAN.sub(" ", _normal(text)))


def statement(text: str) -> tuple[str, ...]:
    """What the text says, as the sequence of its telling words and signs; equal ones are restatements."""
    found = tuple(token for token in pieces(text) if token not in EMPTY_WORDS and token not in PUNCTUATION)
    return found or tuple(_EMPTY_HAN.sub(" ", _normal(text)).split())


def restates(first: str, second: str) -> bool:
    """Whether the two texts say the same in almost the same words."""
    return statement(first) == statement(second)


def _normal(text: str) -> str:
    # NFKC would make a plain 2 of a superscript, and so another number.
    kept = "".join(
        part if _RAISED.match(part) else unicodedata.normalize("NFKC", part) for part in _RAISED.split(text)
    )
    return _LONE_A.sub(_article_or_name, kept).casefold().replace("’", "'").replace("−", "-")


def _article_or_name(found: re.Match[str]) -> str:
    """An article goes before a word, and has a capital at the start of a sentence only; any other lone A names something."""
    start, letter, word = found.groups()
    article = word is not None and (letter == "a" or start is not None)
    return found[0] if article else f"{start or ''}{_NAMED_A}"
