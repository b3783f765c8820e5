"""Legal holds on documents that are imported again: nothing of what is held gives way."""

from __future__ import annotations

import base64
from io import BytesIO

import pytest
from PIL import Image

from kernel.errors import ConflictError
from media.models import MediaObjectReference, SourceDocument
from tests.conftest import TEAM, Cast

URI = "https://example.org/z"


def bring(cast: Cast, data: bytes, **options: object) -> str:
    sent = {"data": base64.b64encode(data).decode(), "name": "a.png", "source_uri": URI, **options}
    made = cast.agent.do("add_image", domain_id=TEAM, options=sent)
    return str(made["document_id"])


def hold(cast: Cast, document_id: str) -> str:
    named = {"kind": "document", "id": document_id}
    placed = cast.operator.do("place_hold", domain_id=TEAM, object=named, reason="a lawsuit")
    return str(placed["hold"]["id"])


def kept() -> tuple:
    """The document as it is stored, and its bytes."""
    row = SourceDocument.objects.get()
    references = MediaObjectReference.objects.filter(document=row).values_list("media_object__content_hash", flat=True)
    return row.title, row.description, row.content_hash, row.metadata, list(references)


@pytest.fixture
def pictures() -> tuple[bytes, bytes]:
    small, large = BytesIO(), BytesIO()
    Image.new("RGB", (8, 8)).save(small, "PNG")
    Image.new("RGB", (9, 9)).save(large, "PNG")
    return small.getvalue(), large.getvalue()


def test_it_works(cast, pictures):
    """A picture has no sections, and its bytes stay all the same; without the hold they give way."""
    pk = bring(cast, pictures[0])
    held, before = hold(cast, pk), kept()
    with pytest.raises(ConflictError, match="legal hold"):
        bring(cast, pictures[1])
    assert kept() == before
    cast.operator.do("lift_hold", id=held, reason="over")
    assert bring(cast, pictures[1]) == pk
    assert kept() != before


@pytest.mark.parametrize("options", [{"title": "Another"}, {"metadata": {"mine": 1}}, {"tags": ["new"]}])
def test_what_is_known_of_it_stays_too(cast, pictures, options):
    pk = bring(cast, pictures[0])
    hold(cast, pk)
    before = kept()
    with pytest.raises(ConflictError, match="legal hold"):
        bring(cast, pictures[0], **options)
    assert kept() == before


def test_the_same_again_is_no_change(cast, pictures):
    pk = bring(cast, pictures[0])
    hold(cast, pk)
    before = kept()
    assert bring(cast, pictures[0]) == pk
    assert kept() == before
