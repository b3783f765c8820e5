"""On which page of a section words stand, and that every door says so."""

from __future__ import annotations

import base64

import pytest

from kernel.ids import new_id
from media.admin.documents import _place
from media.pages import page_of
from tests.conftest import TEAM
from tests.media import files
from tests.media.shelf import a_plan, retrieve
from tests.memory.talk import compose

PAGES = ("The first page is about melons.", "The second page is about Postgres.", "The third is on zebras.")
TEXT = "\n\n".join(PAGES)
PLACE = {"page": 4, "page_end": 6, "page_starts": [TEXT.index("The second"), TEXT.index("The third")]}
pytestmark = pytest.mark.usefixtures("media_folder")


def test_it_works(cast, tmp_path):
    data = base64.b64encode(files.pdf(tmp_path / "a.pdf", *PAGES).read_bytes()).decode()
    made = cast.agent.do("add_document", domain_id=TEAM, options={"data": data, "name": "a.pdf"})
    for word, page in (("melons", 1), ("Postgres", 2), ("zebras", 3)):
        (evidence,) = retrieve(cast.agent, a_plan(word))["evidences"]
        assert (evidence["metadata"]["page"], made["section_count"]) == (page, 1)
        asked = {"query": word, "kinds": ["section"], "scope_context": {"read": [{"type": "project", "id": "p"}]}}
        (found,) = cast.agent.do("search_memory", domain_id=TEAM, **asked)["results"]
        assert found["ref"]["page"] == page
        package = compose(cast.agent, f"请查资料并给引用：{word}?")
        assert [item["position"]["page"] for item in package["evidence"] if item["source"] == "resource"] == [page]
    (section,) = cast.agent.do("get_document", document_id=made["document_id"])["sections"]
    assert (section["metadata"]["page"], section["metadata"]["page_end"]) == (1, 3)
    assert _place(section["metadata"]).startswith("pages 1–3, ")


@pytest.mark.parametrize(
    ("query", "page"),
    [("melons", 4), ("about Postgres", 5), ("zebras", 6), ("nothing of it", 4), ("page", 4), ("", 4)],
)
def test_the_page_is_the_one_on_which_most_words_stand(query, page):
    assert page_of(PLACE, TEXT, query) == page


@pytest.mark.parametrize(
    ("pages", "query"),
    [
        (("Every category of goods.", "The cat sleeps."), "cat"),
        (("Nothing of it.", "Ｐｏｓｔｇｒｅｓ runs here."), "postgres"),
        (("Nothing of it.", "It is about running."), "runs"),
        (("没有这个。", "斑 马 的条纹。"), "斑马"),
    ],
)
def test_words_stand_where_search_finds_them(pages, query):
    text = "\n\n".join(pages)
    assert page_of({"page": 1, "page_starts": [text.index(pages[1])]}, text, query) == 2


@pytest.mark.parametrize(("first", "end", "page"), [(0, 20, 4), (40, 60, 5), (40, None, 6), (70, 90, 6), (90, 90, 4)])
def test_only_what_is_shown_counts(first, end, page):
    assert page_of(PLACE, TEXT, "zebras", first, end) == page


@pytest.mark.parametrize(
    ("metadata", "page"),
    [
        ({}, None),
        ({"page": "3"}, None),
        ({"page": True}, None),
        ({"page": 3}, 3),
        ({"page": 3, "page_starts": "no"}, 3),
        ({"page": 3, "page_starts": [None, 5]}, 3),
        ({"page": 3, "page_starts": [9_999, 5, -4]}, 3),
    ],
)
def test_metadata_of_any_shape_gives_a_page_or_none(metadata, page):
    assert page_of(metadata, "A text", "no such word") == page


def test_a_snippet_is_on_the_page_it_is_cut_from(cast, tmp_path):
    said = [f"Page of {word}. " + f"Words without sense number {new_id()}. " * 3 for word in ("melons", "zebras")]
    data = base64.b64encode(files.pdf(tmp_path / "a.pdf", *said).read_bytes()).decode()
    cast.agent.do("add_document", domain_id=TEAM, options={"data": data, "name": "a.pdf"})
    plan = a_plan("zebras", output={"max_snippet_chars": 40})
    (evidence,) = retrieve(cast.agent, plan)["evidences"]
    assert ("zebras" in evidence["snippet"], evidence["metadata"]["page"]) == (True, 2)
    head = a_plan("zebras", output={"max_snippet_chars": 40, "snippet_policy": "head"})
    (evidence,) = retrieve(cast.agent, head)["evidences"]
    assert ("melons" in evidence["snippet"], evidence["metadata"]["page"]) == (True, 1)
