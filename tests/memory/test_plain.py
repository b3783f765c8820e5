"""What is wrong with a form of an act, by the labels on the form; without a database."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from kernel.errors import InvalidInputError
from memory.admin.deeds import CORRECT, DEMOTE, NARROW, PROMOTE, Deed
from memory.admin.plain import by_labels


def fault(*loc: Any, msg: str = "wrong", kind: str = "") -> dict[str, Any]:
    return {"loc": list(loc), "msg": msg, "type": kind}


@pytest.mark.parametrize(
    ("deed", "faults", "sent", "says"),
    [
        (PROMOTE, [fault("verification_refs", kind="too_short")], "", "What confirms it: at least one is needed."),
        (PROMOTE, [fault("verification_refs", "0", "url")], "refs=x", "What confirms it, line 1: wrong"),
        (PROMOTE, [fault("verification_refs", "1")], "ref=a&refs=x", "What confirms it, line 1: wrong"),
        (PROMOTE, [fault("verification_refs", "0")], "ref=a&refs=x", "What confirms it, choice 1: wrong"),
        (DEMOTE, [fault("evidence_refs", "1")], "refs=%0Ax%0A%0Ay", "What speaks against it, line 4: wrong"),
        (DEMOTE, [fault("evidence_refs", "1")], "refs=https://a.example/x%0Ahttps://A.example/x/%0Ay", "What speaks against it, line 3: wrong"),
        (DEMOTE, [fault("evidence_refs", "1")], "ref=url+https://a.example&refs=https://a.example%0Ay", "What speaks against it, line 2: wrong"),
        (DEMOTE, [fault("evidence_refs", "0")], "ref=url+https://a.example&refs=https://a.example%0Ay", "What speaks against it, choice 1: wrong"),
        (DEMOTE, [fault("evidence_refs", "1")], "refs=y%0Ay", "What speaks against it, line 2: wrong"),
        (DEMOTE, [fault("evidence_refs", "7")], "refs=y", "What speaks against it, number 8: wrong"),
        (NARROW, [fault("target_scope", "id", msg="String should have at most 200 characters")], "", "The narrower scope: it may have at most 200 characters"),
        (CORRECT, [fault("value", "due_date", kind="missing")], "", "Due date: it is missing."),
        (CORRECT, [fault("field.notes", msg="notes is not valid JSON: no")], "", "Notes: is not valid JSON: no"),
        (CORRECT, [fault("reason", kind="string_too_short"), fault("text", msg="too much")], "", "Reason: it must not be empty. (1 more)"),
        (CORRECT, [fault("reason", kind="enum"), fault("reason", kind="enum")], "", "Reason: choose one."),
    ],
)  # fmt: skip
def test_it_works(deed: Deed, faults: list[dict[str, Any]], sent: str, says: str) -> None:
    told = by_labels(InvalidInputError("verification_refs: raw", errors=faults), deed, QueryDict(sent))
    assert told.message == says


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("target_scope: it is there already.", "The scope that gets it: it is there already."),
        ("verification_refs.2: nothing such.", "What confirms it, line 3: nothing such."),
        ("Look at what it would do first.", "Look at what it would do first."),
        ("elsewhere: it is not on the form.", "elsewhere: it is not on the form."),
    ],
)
def test_a_place_that_only_the_text_names(message: str, says: str) -> None:
    assert by_labels(InvalidInputError(message), PROMOTE, QueryDict("refs=a%0Ab%0Ac")).message == says
