"""Whether the words of a memory and its value say the same, as far as that can be told with certainty."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kernel.canonical import canonical_json
from kernel.errors import InvalidInputError
from kernel.text import fold
from memory.conflicts import Rule, Told, judge
from memory.statements import readable, statement, wording_field

# Scripts that put no space between words: Thai to Myanmar, Khmer, Han with kana, hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W{_UNSPACED}]"
# What may not stand before and after a number, and before and after a word.
_NUMBER_ENDS = (r"(?<!\d)(?<!\d[.,])(?<!\s[-−])(?<!^[-−])", r"(?![.,]?\d)")
_WORD_ENDS = (rf"(?<!{_LETTER})", rf"(?!{_LETTER})")
# How two texts that say the same thing otherwise can be at odds beyond doubt.
_AT_ODDS = frozenset({Rule.NUMBER, Rule.DATE, Rule.NEGATION, Rule.OPPOSITE, Rule.OTHER_OBJECT})


def require_agreement(item_type: str, value: Mapping[str, Any], words: str, said: str | None) -> None:
    """Refuse words that contradict the value of a memory: `value` may hold them as its `statement`, and `said` is what the
    item itself gave there, if it did.

    Of a fact the words hold the text or number that is its value. Of anything else the words are compared with those that
    the value makes by itself, and are at odds where these differ in a number, a date, a denial, an opposite or in what
    there is one of; an entity or a profile has no words of its own to hold against others. Raises InvalidInputError that names both.
    """
    if said is not None and fold(said) != fold(words):
        raise disagreement(words, said, "statement")
    if item_type == "facts":
        names_its_value(value.get("value"), None, words, kept=False, field="statement")
        return
    if not wording_field(item_type):
        return
    plain = statement(item_type, {name: told for name, told in value.items() if name != "statement"})
    found = judge(Told("facts", None, plain), Told("facts", None, words))
    if found is not None and found.rule in _AT_ODDS:
        raise disagreement(words, plain, "statement")


def names_its_value(now: Any, before: Any, words: str, *, kept: bool, field: str = "text") -> None:
    """Refuse a fact whose words do not hold the text or number that is its value, and one whose value is anything else
    and changes while its words are `kept`."""
    if isinstance(now, str | int | float) and not isinstance(now, bool):
        agree = _holds(words, readable(now))
    else:
        agree = not kept or now is None or now == before
    if not agree:
        raise disagreement(words, readable(now) or canonical_json(now), field)


def _holds(words: str, value: str) -> bool:
    """Whether words hold a value as whole words and whole numbers: `5` is in “5s” and “v5”, not in “15”, “1.5” or “-5”;
    `main` is not in “maintenance” or “main2”."""
    told = fold(value)
    if not told:
        return True
    before, after = (_ends(char)[side] for side, char in enumerate((told[0], told[-1])))
    return re.search(f"{before}{re.escape(told)}{after}", fold(words)) is not None


def _ends(char: str) -> tuple[str, str]:
    if char.isdecimal():
        return _NUMBER_ENDS
    return _WORD_ENDS if re.match(_LETTER, char) else ("", "")


def disagreement(words: str, fields: str, field: str = "text") -> InvalidInputError:
    """The refusal of words, given as `field`, and of fields that say something else."""
    both = f"the words say {_quoted(words)}, the fields of the value say {_quoted(fields)}"
    message = f"{both}: give one of the two, or let them say the same."
    return InvalidInputError(f"{field}: {message}", errors=[{"loc": [field], "msg": message, "type": "disagreement"}])


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= 120 else text[:119] + '…'}”"
