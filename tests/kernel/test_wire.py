"""The reader of strangers' JSON: a tree or a DomainError, and nothing else, whatever arrives."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernel.canonical import canonical_json, digest
from kernel.errors import DomainError, InvalidInputError, InvalidJsonError
from kernel.wire import MAX_DEPTH, check_tree, read_object

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def read(raw: bytes | str) -> dict:
    tree = read_object(raw)
    check_tree(tree)
    return tree


def test_it_works():
    assert read('{"a": [1, "数据库", null, 1.5, true]}') == {"a": [1, "数据库", None, 1.5, True]}
    assert read(b"") == {}
    assert read(b"\xef\xbb\xbf{}") == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"{", b"}", b"{]", b"[}", b"nul", b"{'a': 1}", b"{a: 1}", b'{"a": 1,}', b'{"a": 01}', b'{"a": NaN}', b'{"a": Infinity}',
        b'{"a": -Infinity}', b'{"a": 1} {}', b'{"a": 1, "a": 2}', b'{"a": {"b": 1, "b": 1}}', b"\xff\xfe", b'{"a": "\xff"}',
        b'{"a": "\x01"}', b'{"a": "\n"}', b'{"a": "\\x41"}', b'{"a": 1' + b"0" * 5_000 + b"}", b"[" * 100_000, b'{"a":' * 100_000,
        b"\x00", b"//\n{}", "\ufeff{}", "{\u00a0}",
    ],
)  # fmt: skip
def test_what_is_not_json_is_400(raw):
    with pytest.raises(InvalidJsonError):
        read(raw)


@pytest.mark.parametrize("raw", [b"[]", b"1", b'"a"', b"null", b"true"])
def test_json_that_is_no_object_is_422(raw):
    with pytest.raises(InvalidInputError):
        read(raw)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"a": "\\u0000"}', "nul_character"),
        (b'{"\\u0000": 1}', "nul_character"),
        (b'{"a": "\\ud800"}', "lone_surrogate"),
        (b'{"\\udfff": 1}', "lone_surrogate"),
        (b'{"a": 9223372036854775808}', "integer_too_large"),
        (b'{"a": 1e999}', "not_finite"),
        (b'{"a": ' + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1) + b"}", "too_deep"),
    ],
)
def test_what_no_database_keeps_is_422(raw, kind):
    with pytest.raises(InvalidInputError) as caught:
        read(raw)
    assert caught.value.errors[0]["type"] == kind
    json.dumps(caught.value.problem("r"), ensure_ascii=False).encode("utf-8")


def test_a_tree_that_holds_itself_is_refused():
    tree: dict = {}
    tree["a"] = tree
    with pytest.raises(InvalidInputError):
        check_tree(tree)


@given(st.binary(max_size=200))
@example(b'{"a":"\\ud800\\udc00"}')
def test_any_bytes_give_a_tree_or_a_domain_error(raw):
    try:
        tree = read(raw)
    except DomainError as exc:
        json.dumps(exc.problem("r")).encode("utf-8")
    else:
        assert isinstance(tree, dict)


@given(st.text(alphabet='{}[]":,\\u0d8e1+-.tfn \x00\ud800'))
def test_any_text_gives_a_tree_or_a_domain_error(raw):
    try:
        tree = read(raw)
    except DomainError as exc:
        json.dumps(exc.problem("r")).encode("utf-8")
    else:
        assert isinstance(tree, dict)


@given(st.dictionaries(st.text("abc", max_size=3), json_values, max_size=4))
def test_what_is_good_is_read_as_it_is(tree):
    assert read(json.dumps(tree)) == tree
    assert read(json.dumps(tree, ensure_ascii=False).encode()) == tree


@given(json_values)
def test_canonical_json_is_one_form(value):
    again = json.loads(canonical_json(value))
    assert again == value
    assert canonical_json(again) == canonical_json(value)
    assert digest(again) == digest(value)


def test_canonical_json_forgets_the_order_of_names_and_keeps_that_of_lists():
    assert canonical_json({"b": 1, "a": {"d": 1, "c": 2}}) == '{"a":{"c":2,"d":1},"b":1}'
    assert digest([1, 2]) != digest([2, 1])
    assert canonical_json({"键": "值"}) == '{"键":"值"}'


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_canonical_json_has_no_word_for_what_is_no_number(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(value)
